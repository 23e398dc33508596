//! `outcore gap`: the six kernels of the GAP benchmark suite over an image, by the suite's rules.
//!
//! Beamer, Asanović, Patterson, *The GAP benchmark suite*, arXiv:1508.03619, 2015.

use crate::args::GapArgs;
use crate::graph500::timed;
use crate::progress::{note_memory, runtime};
use crate::run::say;
use outcore::graph500::roots;
use outcore::{
    BetweennessOptions, BfsOptions, ComponentsOptions, Dangling, Error, Graph, GraphOptions, PageRankOptions, Result,
    Sources, SsspOptions, Stats, TrianglesOptions, Unit, verify,
};
use std::sync::Arc;

/// How many sources there are, and from how many of them a trial of betweenness starts.
const SOURCES: usize = 64;
const SOURCES_AT_ONCE: usize = 4;
/// How often the ranks, the components and the triangles are computed.
const TRIALS: usize = 16;
const TRIANGLE_TRIALS: usize = 3;
/// Ranks are iterated until the sum of changes is below this, or so many times.
const TOLERANCE: f64 = 1e-4;
const ITERATIONS: u32 = 20;

/// `outcore gap`.
pub fn gap(args: &GapArgs) -> Result<()> {
    let runtime = Arc::new(runtime(&args.limits, None)?);
    let graph = Graph::open(&runtime, &args.image, GraphOptions::default())?;
    let sources = roots(&graph, args.seed, SOURCES)?;
    if sources.is_empty() {
        return Err(Error::Usage(format!("expected an edge, found none in {}", args.image.display())));
    }
    say(format_args!(
        "{:16}{:>8}{:>12}{:>12}{:>12}{:>12}",
        "kernel", "trials", "average s", "least", "greatest", "MiB read"
    ))?;
    let most = args.trials.unwrap_or(u32::MAX) as usize;
    let once = |count: usize| vec![(); count.min(most)];
    let singly = &sources[..sources.len().min(most)];
    kernel(&graph, "bfs", singly, |&source| {
        let options = BfsOptions { source, ..BfsOptions::default() };
        let (seconds, found) = timed(|| outcore::bfs(&graph, &options));
        let found = found?;
        verify::verify_bfs(&graph, &options, &found)?;
        Ok((seconds, found.stats))
    })?;
    match graph.weight_name() {
        None => say(format_args!("{:16}{:>8}  the image has no weights", "sssp", 0))?,
        Some(_) => kernel(&graph, "sssp", singly, |&source| {
            let options = SsspOptions { source, weights: true, delta: None };
            let (seconds, found) = timed(|| outcore::sssp(&graph, &options));
            let found = found?;
            verify::verify_sssp(&graph, &options, &found)?;
            Ok((seconds, found.stats))
        })?,
    }
    kernel(&graph, "pagerank", &once(TRIALS), |()| {
        let tol = TOLERANCE / graph.vertices() as f64;
        let options =
            PageRankOptions { tol, max_iter: ITERATIONS, dangling: Dangling::Gap, ..PageRankOptions::default() };
        let (seconds, found) = timed(|| outcore::pagerank(&graph, &options));
        let found = found?;
        verify::verify_pagerank(&graph, &options, &found)?;
        Ok((seconds, found.stats))
    })?;
    kernel(&graph, "components", &once(TRIALS), |()| {
        let (seconds, found) = timed(|| outcore::components(&graph, &ComponentsOptions::default()));
        let found = found?;
        verify::verify_components(&graph, &found)?;
        Ok((seconds, found.stats))
    })?;
    let together: Vec<_> = sources.chunks(SOURCES_AT_ONCE).take(most).collect();
    kernel(&graph, "betweenness", &together, |&sources| {
        let options = BetweennessOptions { sources: Sources::Given(sources.to_vec()), ..BetweennessOptions::default() };
        let (seconds, found) = timed(|| outcore::betweenness(&graph, &options));
        let found = found?;
        verify::verify_betweenness(&graph, &options, &found)?;
        Ok((seconds, found.stats))
    })?;
    kernel(&graph, "triangles", &once(TRIANGLE_TRIALS), |()| {
        let (seconds, found) = timed(|| outcore::triangles(&graph, &TrianglesOptions::default()));
        let found = found?;
        verify::verify_triangles(&graph, &found)?;
        Ok((seconds, found.stats))
    })?;
    note_memory(&runtime, &args.limits);
    Ok(())
}

/// Runs the trials of a kernel, each of which verifies what it found, and says how long they took.
fn kernel<T>(graph: &Graph, name: &str, trials: &[T], trial: impl Fn(&T) -> Result<(f64, Stats)>) -> Result<()> {
    let progress = graph.runtime().task(name, Unit::Steps, Some(trials.len() as u64));
    let (mut seconds, mut bytes) = (Vec::new(), 0);
    for given in trials {
        let (took, stats) = trial(given)?;
        seconds.push(took);
        bytes += stats.total.bytes_read;
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
