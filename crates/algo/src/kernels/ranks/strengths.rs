//! Divisors of ranks, by which PageRank divides a vertex's rank among its out-edges: out-degrees, or *strengths*, the
//! sums of the weights of out-edges. A *contribution* is a rank over its divisor.
//!
//! *Cost.* Out-degrees are read from their column: 4 bytes per vertex. Strengths take one pass over the out-lists with
//! their weights: 8 bytes per vertex.

use crate::kernels::pagerank::{PageRankMethod, PageRankOptions, pages_per_pass};
use crate::state::{Layout, array, degrees};
use crate::weights::{Refused, note};
use outcore_graph::{Direction, Edges, Frontier, Gathered, Graph, KeptWeights, ListFold, ListPart, fold};
use outcore_image::{Result, StatsBuilder, SweepStats};
use outcore_io::buffer::Plain;
use outcore_io::{AtomicF32, AtomicF64, Buffer};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) trait Divisors: Sync {
    /// The number of a vertex's out-edges, or the sum of their weights; 0 if it has none.
    fn of(&self, v: usize) -> f64;

    /// The number that a rank is divided by to make a contribution: 1 for a vertex without out-edges.
    #[inline]
    fn divisor(&self, v: usize) -> f64 {
        match self.of(v) {
            0.0 => 1.0,
            divisor => divisor,
        }
    }
}

impl Divisors for Buffer<AtomicU32> {
    #[inline]
    fn of(&self, v: usize) -> f64 {
        f64::from(self[v].load(Ordering::Relaxed))
    }
}

impl Divisors for Buffer<AtomicF64> {
    #[inline]
    fn of(&self, v: usize) -> f64 {
        self[v].load()
    }
}

/// The number type of stored contributions.
pub(crate) trait Contribution: Gathered + Plain {
    /// The distance from 1 to the next greater number.
    const EPSILON: f64;
    fn set(&self, value: f64);
}

impl Contribution for AtomicF32 {
    const EPSILON: f64 = f32::EPSILON as f64;

    #[inline]
    fn set(&self, value: f64) {
        self.store(value as f32);
    }
}

impl Contribution for AtomicF64 {
    const EPSILON: f64 = f64::EPSILON;

    #[inline]
    fn set(&self, value: f64) {
        self.store(value);
    }
}

pub(crate) enum RankDivisors {
    Degrees(Buffer<AtomicU32>),
    Strengths(Buffer<AtomicF64>),
}

impl RankDivisors {
    /// Makes the divisors that the options need, and caches the places of the weights until the second value is
    /// dropped.
    ///
    /// # Errors
    /// Weights that are negative or out of range, too little memory, a page that cannot be read.
    pub fn new(graph: &Graph, options: &PageRankOptions, stats: &mut StatsBuilder) -> Result<(Self, KeptWeights)> {
        note(stats, graph, options.weights);
        let weights = graph.keep_weights(weight_directions(graph, options))?;
        if options.weights {
            let (strengths, sweep) = strengths(graph).make()?;
            stats.step("strengths", graph.vertices(), sweep);
            return Ok((RankDivisors::Strengths(strengths), weights));
        }
        let (degrees, sweep) = degrees(graph, Direction::Out).make()?;
        stats.other(sweep);
        Ok((RankDivisors::Degrees(degrees), weights))
    }
}

/// The memory of the divisors, and of reading weights, in bytes.
pub(crate) fn divisor_bytes(graph: &Graph, options: &PageRankOptions) -> u64 {
    match options.weights {
        true => strengths(graph).bytes() + weight_bytes(graph, options),
        false => degrees(graph, Direction::Out).bytes(),
    }
}

pub(crate) fn weight_bytes(graph: &Graph, options: &PageRankOptions) -> u64 {
    weight_directions(graph, options).iter().map(|&direction| graph.weight_bytes(direction)).sum()
}

/// The directions whose weights are read: out-edges for the strengths, and in-edges where ranks are pulled.
fn weight_directions(graph: &Graph, options: &PageRankOptions) -> &'static [Direction] {
    match (options.weights, options.method) {
        (false, _) => &[],
        (true, PageRankMethod::Power) => graph.directions(),
        (true, PageRankMethod::Delta) => &[Direction::Out],
    }
}

/// The passes that weights take before the first iteration: one for the strengths, and one over the lists of each
/// direction to locate the weights of every page.
pub(crate) fn weight_passes(graph: &Graph, options: &PageRankOptions) -> f64 {
    if !options.weights {
        return 0.0;
    }
    let sums = graph.pages(Direction::Out) + graph.weight_pages(Direction::Out);
    (sums + graph.all_pages()) as f64 / pages_per_pass(graph, options).max(1) as f64
}

/// The sum of the weights of every vertex's out-edges.
fn strengths(graph: &Graph) -> impl Layout<Made = (Buffer<AtomicF64>, SweepStats)> {
    array(graph, "sums of weights", graph.vertices()).then(|strengths| {
        let accepts =
            |weight: f64| (0.0..=LARGEST_WEIGHT).contains(&weight) && (weight == 0.0 || weight >= SMALLEST_WEIGHT);
        let refused = Refused::new("weights for PageRank from 1e-200 to 1e200, or 0", accepts);
        let edges = Edges::new(Direction::Out, true);
        let strengths = Strengths { strengths, refused };
        let (_, sweep) = fold(graph, edges, Frontier::All, &strengths)?;
        strengths.refused.check(graph, edges)?;
        Ok((strengths.strengths, sweep))
    })
}

/// Bounds of weights above 0. Between them sums of weights, and ranks divided by these, are finite.
const LARGEST_WEIGHT: f64 = 1e200;
const SMALLEST_WEIGHT: f64 = 1e-200;

struct Strengths {
    strengths: Buffer<AtomicF64>,
    refused: Refused,
}

impl ListFold for Strengths {
    type Value = f64;
    type Total = ();

    fn part(&self, list: ListPart<'_>) -> f64 {
        (0..list.neighbours.len())
            .map(|i| {
                let weight = list.weights.real(i);
                self.refused.look(list.vertex, weight);
                weight
            })
            .sum()
    }

    fn merge(&self, before: f64, after: f64) -> f64 {
        before + after
    }

    fn finish(&self, vertex: u32, sum: Option<f64>, (): &mut ()) {
        self.strengths[vertex as usize].store(sum.unwrap_or(0.0));
    }
}
