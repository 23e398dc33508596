//! `outcore gap`: the six kernels of the GAP benchmark suite over an image, by the suite's rules.
//!
//! Beamer, Asanović, Patterson, *The GAP benchmark suite*, arXiv:1508.03619, 2015.

use crate::answer::say;
use crate::args::GapArgs;
use crate::graph500::timed;
use crate::progress::{note_memory, runtime};
use outcore::front_ends::graph500::roots;
use outcore::{
    BetweennessOptions, BfsOptions, ComponentsOptions, Dangling, Error, Graph, GraphOptions, PageRankOptions, Result,
    Sources, SsspOptions, Stats, TrianglesOptions, Unit, verify,
};

/// Number of sources, and number of sources of one trial of betweenness.
const SOURCES: usize = 64;
const SOURCES_AT_ONCE: usize = 4;
/// Number of trials of the ranks, the components and the triangles.
const TRIALS: usize = 16;
const TRIANGLE_TRIALS: usize = 3;
/// Ranks are iterated until the sum of changes is below `TOLERANCE`, at most `ITERATIONS` times.
const TOLERANCE: f64 = 1e-4;
const ITERATIONS: u32 = 20;

pub fn gap(args: &GapArgs) -> Result<()> {
    let runtime = runtime(&args.limits, None)?;
    let graph = Graph::open(&runtime, &args.image, GraphOptions::default())?;
    let sources = roots(&graph, args.seed, SOURCES)?;
    if sources.is_empty() {
        return Err(Error::Unsuitable(format!("expected an edge, found none in {}", args.image.display())));
    }
    check_room(&graph, &sources)?;
    say(format_args!(
        "{:16}{:>8}{:>12}{:>12}{:>12}{:>12}",
        "kernel", "trials", "average s", "least", "greatest", "MiB read"
    ))?;
    let most = args.trials.unwrap_or(u32::MAX) as usize;
    let (singly, together) = (sources.iter().take(most), sources.chunks(SOURCES_AT_ONCE).take(most));
    let searches: Vec<_> = singly.map(|&source| BfsOptions { source, ..BfsOptions::default() }).collect();
    kernel(&graph, "bfs", &searches, outcore::bfs, verify::verify_bfs, |result| &result.stats)?;
    let paths: Vec<_> = searches.iter().map(|search| path_options(search.source)).collect();
    match graph.weight_name() {
        None => say(format_args!("{:16}{:>8}  the image has no weights", "sssp", 0))?,
        Some(_) => kernel(&graph, "sssp", &paths, outcore::sssp, verify::verify_sssp, |result| &result.stats)?,
    }
    let ranks = vec![rank_options(); TRIALS.min(most)];
    kernel(&graph, "pagerank", &ranks, outcore::pagerank, verify::verify_pagerank, |result| &result.stats)?;
    let components = vec![ComponentsOptions::default(); TRIALS.min(most)];
    let verify_components = |graph: &_, _: &_, result: &_| verify::verify_components(graph, result);
    kernel(&graph, "components", &components, outcore::components, verify_components, |result| &result.stats)?;
    let between: Vec<_> = together.map(between_options).collect();
    kernel(
        &graph,
        "betweenness",
        &between,
        outcore::betweenness_centrality,
        verify::verify_betweenness_centrality,
        |result| &result.stats,
    )?;
    let triangles = vec![TrianglesOptions::default(); TRIANGLE_TRIALS.min(most)];
    let verify_triangles = |graph: &_, _: &_, result: &_| verify::verify_triangles(graph, result);
    kernel(&graph, "triangles", &triangles, outcore::triangles, verify_triangles, |result| &result.stats)?;
    note_memory(&runtime, &args.limits);
    Ok(())
}

/// Refuses what a kernel or the verification of its result will have no memory for, before the first one begins.
fn check_room(graph: &Graph, sources: &[u32]) -> Result<()> {
    let between = between_options(&sources[..sources.len().min(SOURCES_AT_ONCE)]);
    let mut needs = vec![
        outcore::estimate_bfs(graph, &Default::default()),
        outcore::estimate_pagerank(graph, &rank_options()),
        outcore::estimate_components(graph, &Default::default()),
        outcore::estimate_betweenness_centrality(graph, &between),
        outcore::estimate_triangles(graph, &Default::default()),
    ];
    if graph.weight_name().is_some() {
        needs.push(outcore::estimate_sssp(graph, &path_options(sources[0])));
    }
    for needed in needs {
        graph.make_room("the state of a kernel", needed.state_bytes)?;
        needed.check_result(graph, true, None)?;
    }
    Ok(())
}

fn rank_options() -> PageRankOptions {
    PageRankOptions {
        tol: TOLERANCE,
        max_iterations: ITERATIONS,
        dangling: Dangling::Gap,
        ..PageRankOptions::default()
    }
}

fn path_options(source: u32) -> SsspOptions {
    SsspOptions { source, weights: true, delta: None }
}

fn between_options(sources: &[u32]) -> BetweennessOptions {
    BetweennessOptions { sources: Sources::Given(sources.to_vec()), ..BetweennessOptions::default() }
}

/// Runs a kernel once with each of the options, verifies what it finds, and says how long it took.
fn kernel<O, R>(
    graph: &Graph,
    name: &str,
    trials: &[O],
    find: impl Fn(&Graph, &O) -> Result<R>,
    verify: impl Fn(&Graph, &O, &R) -> Result<()>,
    stats: impl Fn(&R) -> &Stats,
) -> Result<()> {
    let progress = graph.runtime().task(name, Unit::Steps, Some(trials.len() as u64));
    let (mut seconds, mut bytes) = (Vec::new(), 0);
    for options in trials {
        let (took, result) = timed(|| find(graph, options));
        let result = result?;
        verify(graph, options, &result)?;
        seconds.push(took);
        bytes += stats(&result).total.bytes_read;
        progress.advance(1);
    }
    drop(progress);
    let count = seconds.len() as f64;
    let average = seconds.iter().sum::<f64>() / count;
    let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = seconds.iter().copied().fold(0.0, f64::max);
    let read = bytes as f64 / count / f64::from(1 << 20);
    say(format_args!("{name:16}{count:>8}{average:>12.5}{least:>12.5}{greatest:>12.5}{read:>12.1}"))
}
