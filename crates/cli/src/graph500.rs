//! `outcore graph500`: the benchmark's graph, searches from its roots, their validation, and its block of results.
//!
//! Times, edges and rates are summed up as the reference code does: quartiles between the values that they fall
//! between, rates by the harmonic mean, with its standard error (Norris, *The standard errors of the geometric and
//! harmonic means*, Ann. Math. Stat. 1940).

use crate::answer::say;
use crate::args::Graph500Args;
use crate::progress::{note_memory, runtime, scratch};
use outcore::front_ends::graph500::{roots, validation_bytes, verify_bfs, verify_sssp};
use outcore::generate::{self, GenerateOptions, GeneratedWeights, Shape};
use outcore::import::{self, Duplicates, ImportOptions, SelfLoops};
use outcore::{BfsOptions, Error, Graph, GraphOptions, Result, SsspOptions, Unit};
use std::time::Instant;

/// The distance, the parent and the number of a vertex: the least that a search and its validation take, in bytes.
const VERTEX_BYTES: u64 = 16;

pub fn graph500(args: &Graph500Args) -> Result<()> {
    let runtime = runtime(&args.limits, args.temporary.clone())?;
    let options = GenerateOptions {
        shape: Shape::Kronecker,
        scale: args.scale,
        edge_factor: args.edge_factor,
        seed: args.seed,
        weights: Some(GeneratedWeights::Unit),
    };
    // Refusals come before the work: the import itself examines the disk and its memory.
    let room = "a search's result and its validation";
    runtime.budget().require(room, VERTEX_BYTES << args.scale)?;
    let place = scratch(&runtime)?;
    let image = place.path().join("graph.oc");
    // Loops and all but the least of multiple edges lead nowhere that others do not; validation has them all.
    let how = ImportOptions {
        directed: Some(false),
        duplicates: Duplicates::Min,
        self_loops: SelfLoops::Drop,
        ..ImportOptions::default()
    };
    let (import_seconds, imported) = timed(|| import::import(&runtime, generate::source(&options)?, &image, &how));
    imported?;
    let (generation_seconds, made) = timed(|| generate::for_each_edges(&runtime, &options, |_, _| {}));
    made?;
    let (open_seconds, graph) = timed(|| Graph::open(&runtime.renewed()?, &image, GraphOptions::default()));
    let graph = graph?;
    let roots = roots(&graph, args.seed, args.roots as usize)?;
    if roots.is_empty() {
        return Err(Error::Usage("expected a vertex with an edge to another, found none; raise --scale".into()));
    }
    graph.make_room(room, validation_bytes(&graph))?;
    let bfs = searches("bfs", &graph, &roots, |source| {
        let (seconds, result) = timed(|| outcore::bfs(&graph, &BfsOptions { source, ..BfsOptions::default() }));
        let result = result?;
        Ok((seconds, timed(|| verify_bfs(&graph, &options, source, &result))))
    })?;
    let sssp = searches("sssp", &graph, &roots, |source| {
        let search = SsspOptions { source, weights: true, delta: None };
        let (seconds, result) = timed(|| outcore::sssp(&graph, &search));
        let result = result?;
        Ok((seconds, timed(|| verify_sssp(&graph, &options, &search, &result))))
    })?;
    let line = |name: &str, value: String| say(format_args!("{:32}{value}", format!("{name}:")));
    line("SCALE", args.scale.to_string())?;
    line("edgefactor", args.edge_factor.to_string())?;
    line("NBFS", roots.len().to_string())?;
    line("graph_generation", format!("{generation_seconds:.6}"))?;
    line("num_mpi_processes", "1".to_owned())?;
    line("construction_time", format!("{:.6}", import_seconds + open_seconds))?;
    let both = [("bfs  ", &bfs), ("sssp ", &sssp)];
    for (kernel, searches) in both {
        say_summary(kernel, "time", 6, &Summary::of(searches.iter().map(|search| search.seconds)))?;
    }
    say_summary("", "nedge", 1, &Summary::of(bfs.iter().map(|search| search.edges)))?;
    for (kernel, searches) in both {
        say_rates(kernel, &Summary::of(searches.iter().map(|search| search.seconds / search.edges)), searches.len())?;
    }
    for (kernel, searches) in both {
        say_summary(kernel, "validate", 6, &Summary::of(searches.iter().map(|search| search.validation_seconds)))?;
    }
    note_memory(&runtime, &args.limits);
    Ok(())
}

pub fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let value = work();
    (start.elapsed().as_secs_f64(), value)
}

/// A search from one root.
struct Search {
    seconds: f64,
    /// Edges of the input in the component that was traversed.
    edges: f64,
    validation_seconds: f64,
}

/// Searches from every root. `search` returns the time it took, that of the validation, and what that found.
fn searches(
    name: &str,
    graph: &Graph,
    roots: &[u32],
    search: impl Fn(u32) -> Result<(f64, (f64, Result<u64>))>,
) -> Result<Vec<Search>> {
    let progress = graph.runtime().task(name, Unit::Steps, Some(roots.len() as u64));
    let one = |&root: &u32| {
        let (seconds, (validation_seconds, edges)) = search(root)?;
        progress.advance(1);
        Ok(Search { seconds, edges: edges? as f64, validation_seconds })
    };
    roots.iter().map(one).collect()
}

/// The least, the quartiles and the greatest of some values, their mean and their standard deviation.
struct Summary {
    quartiles: [f64; 5],
    mean: f64,
    deviation: f64,
}

impl Summary {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let between = |low: usize, high: usize| (values[low] + values[high]) / 2.0;
        let quartiles = [
            values[0],
            between((count - 1) / 4, count / 4),
            between((count - 1) / 2, count / 2),
            between(count - 1 - (count - 1) / 4, count - 1 - count / 4),
            values[count - 1],
        ];
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        Summary { quartiles, mean, deviation: (squares / (count - 1).max(1) as f64).sqrt() }
    }
}

/// Names of the summary's numbers in the block.
const QUARTILES: [&str; 5] = ["min", "firstquartile", "median", "thirdquartile", "max"];

fn say_summary(kernel: &str, what: &str, decimals: usize, summary: &Summary) -> Result<()> {
    let values = summary.quartiles.into_iter().chain([summary.mean, summary.deviation]);
    let names = QUARTILES.into_iter().chain(["mean", "stddev"]);
    names
        .zip(values)
        .try_for_each(|(name, value)| say(format_args!("{:32}{value:.decimals$}", format!("{kernel}{name}_{what}:"))))
}

/// Edges per second, from a summary of seconds per edge: the slowest search is the least.
fn say_rates(kernel: &str, summary: &Summary, count: usize) -> Result<()> {
    let line = |name: &str, rate: f64| say(format_args!("{:32}{rate:.0}", format!("{kernel}{name}_TEPS:")));
    QUARTILES
        .into_iter()
        .zip(summary.quartiles.into_iter().rev())
        .try_for_each(|(name, cost)| line(name, 1.0 / cost))?;
    say(format_args!("{:32}{:.0}", format!("{kernel}harmonic_mean_TEPS:     !"), 1.0 / summary.mean))?;
    let error = summary.deviation / (summary.mean * summary.mean * (count.max(2) as f64 - 1.0).sqrt());
    line("harmonic_stddev", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_those_of_the_reference_code() {
        let summary = Summary::of([4.0, 1.0, 3.0, 2.0].into_iter());
        assert_eq!(summary.quartiles, [1.0, 1.5, 2.5, 3.5, 4.0]);
        assert_eq!((summary.mean, summary.deviation), (2.5, (5.0f64 / 3.0).sqrt()));
        let one = Summary::of([7.0].into_iter());
        assert_eq!((one.quartiles, one.mean, one.deviation), ([7.0; 5], 7.0, 0.0));
    }
}
