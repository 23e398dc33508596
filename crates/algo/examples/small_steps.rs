//! Cost of small steps: microseconds for scans of 1, 10, 100 and 1000 vertices whose pages are cached, and seconds of
//! algorithms that take many small steps.
//!
//! `cargo run --release -p outcore-algo --example small_steps -- IMAGE... [--only ALGORITHM] [--threads N]`
//!
//! `--only scan100` repeats scans of 100 vertices alone, for `valgrind --tool=callgrind`.

use outcore_algo::{
    BetweennessOptions, BfsOptions, CoreNumbersOptions, MultiSourceBfsOptions, Sources, betweenness_centrality, bfs,
    core_number, multi_source_bfs,
};
use outcore_graph::{Direction, Frontier, Graph, scan};
use outcore_image::{ImageOptions, Result};
use outcore_io::{Runtime, RuntimeOptions};
use std::time::Instant;

fn main() -> Result<()> {
    let (mut images, mut only, mut threads) = (Vec::new(), None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--only" => only = arguments.next(),
            "--threads" => threads = arguments.next().and_then(|count| count.parse().ok()),
            _ => images.push(argument),
        }
    }
    for image in images {
        let options = RuntimeOptions { memory_bytes: Some(256 << 20), threads, ..RuntimeOptions::default() };
        let graph = Graph::open(&Runtime::new(options)?, &image, ImageOptions::default())?;
        println!("{image}: {} vertices, {} pages", graph.vertices(), graph.pages(Direction::Out));
        graph.fill_cache()?;
        scan(&graph, Direction::Out, Frontier::All, || (), |(), _| ())?;
        for count in [1, 10, 100, 1000] {
            if only.as_ref().is_none_or(|only| *only == format!("scan{count}")) {
                scans(&graph, count)?;
            }
        }
        let wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
        let source = (graph.vertices() / 2) as u32;
        if wanted("bfs") {
            let found = time("bfs", || bfs(&graph, &BfsOptions { source, ..BfsOptions::default() }))?;
            println!("    {} levels, {} visits of pages", found.depth, found.stats.total.pages_wanted);
        }
        if wanted("multi_source_bfs") {
            let options = MultiSourceBfsOptions { sources: vec![0, source], ..MultiSourceBfsOptions::default() };
            drop(time("multi_source_bfs", || multi_source_bfs(&graph, &options))?);
        }
        if wanted("core_number") {
            drop(time("core_number", || core_number(&graph, &CoreNumbersOptions::default()))?);
        }
        if wanted("betweenness") {
            let options = BetweennessOptions { sources: Sources::Given(vec![source]), ..BetweennessOptions::default() };
            drop(time("betweenness", || betweenness_centrality(&graph, &options))?);
        }
    }
    Ok(())
}

/// Scans lists of so many vertices, spread over the graph, again and again.
fn scans(graph: &Graph, count: u64) -> Result<()> {
    const FRONTIERS: u64 = 64;
    let step = graph.vertices() / count;
    let frontier = |i: u64| (0..count).map(|k| (k * step + (i * 7919 + k * 31) % step) as u32).collect::<Vec<_>>();
    let frontiers: Vec<_> = (0..FRONTIERS).map(frontier).collect();
    let (rounds, mut edges) = (100_000 / count / FRONTIERS + 1, 0);
    let start = Instant::now();
    for frontier in (0..rounds).flat_map(|_| &frontiers) {
        let (found, _) =
            scan(graph, Direction::Out, Frontier::List(frontier), || 0, |sum, list| *sum += list.neighbours.len())?;
        edges += found.iter().sum::<usize>();
    }
    let micros = start.elapsed().as_secs_f64() * 1e6 / (rounds * FRONTIERS) as f64;
    println!("    scan of {count:5}: {micros:8.2} us, {:.3} per vertex ({edges} edges)", micros / count as f64);
    Ok(())
}

fn time<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let value = work()?;
    println!("    {name:16} {:.3} s", start.elapsed().as_secs_f64());
    Ok(value)
}
