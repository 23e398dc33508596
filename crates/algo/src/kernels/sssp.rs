//! Shortest paths from one source over weighted edges: distances and parents.
//!
//! *Idea.* Delta-stepping: vertices whose distance fell wait (`searches/waiting.rs`). Those within `delta` of the
//! nearest waiting vertex are relaxed together, again and again until none of them waits. Distances only fall, and
//! their final bits do not depend on the order of relaxations. This holds for real weights too: the sum along a path is
//! always rounded in the same way, and rounding keeps the order of numbers.
//!
//! *Long searches.* On grids and roads few vertices are relaxed for many steps, until every page that is read holds
//! only one of them ([`Thin`]). The remaining vertices are then relaxed without steps ([`Relaxer`]). Where memory has
//! room for all lists, vertices are relaxed by distance in ranks of `delta`. Elsewhere they are relaxed page by page,
//! up to eight median weights beyond the nearest waiting vertex of the page, since distances beyond are likely to fall
//! again.
//!
//! *Parents* depend on the distances alone and are chosen afterwards (`shortest_parents.rs`).
//!
//! *Encoding.* A distance is 64 bits whose order is that of the distances (`lengths.rs`), stored as their complement
//! (`stored.rs`): zeroed memory says "no path", and a shorter distance has a greater stored value.
//!
//! *Cost.* 12.5 bytes per vertex, and what reading weights takes. Pages are read as often as vertices in them wait:
//! about one to three passes over lists and weights on graphs with hubs, and the pass for the parents. Lists that stay
//! in memory are read once, and give the parents of undirected graphs.
//!
//! Meyer and Sanders, *Delta-stepping: a parallelizable shortest path algorithm*, J. Algorithms 2003.

use crate::estimate::{Bound, Estimate, Reads};
use crate::kernels::searches::lengths::{Integer, Length, NO_PATH, Real, length};
use crate::kernels::searches::shortest_parents::ShortestPaths;
use crate::kernels::searches::waiting::{Batch, Waiting};
use crate::sources::check_vertices;
use crate::state::Layout;
use crate::stored::{self, Stored};
use crate::weights::{Refused, note};
use outcore_format::WeightKind;
use outcore_graph::{Direction, Edges, Graph, Labels, ListPart, Relaxer, Thin};
use outcore_image::{Error, Result, Stats, StatsBuilder};
use outcore_io::Buffer;
use outcore_io::buffer::{prefetch, prefetched};
use outcore_table::{ColumnKind, distance_number};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Options of shortest paths.
#[derive(Clone, Copy, Debug)]
pub struct SsspOptions {
    /// The vertex to start from, as numbered in the image. Default: 0.
    pub source: u32,
    /// Whether the length of an edge is its weight; otherwise it is 1. Default: true, which edges without weights
    /// refuse.
    pub weights: bool,
    /// Vertices at most this much farther than the nearest waiting vertex are relaxed with it; `None`, the default,
    /// chooses by the weights of the relaxed edges. The result does not depend on it.
    pub delta: Option<f64>,
}

impl Default for SsspOptions {
    fn default() -> Self {
        SsspOptions { source: 0, weights: true, delta: None }
    }
}

/// The distances and parents of shortest paths.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Sssp {
    /// Per vertex: the complement of its distance's bits; 0 where there is no path.
    pub(crate) distances: Buffer<u64>,
    /// The kind of distances.
    pub kind: WeightKind,
    /// Per vertex: the complement of the vertex before it on a shortest path; 0 where there is no path. The source is
    /// its own.
    pub(crate) parents: Buffer<u32>,
    /// How many vertices have a path, the source included.
    pub reached: u64,
    /// Statistics of the run.
    pub stats: Stats,
}

impl Sssp {
    /// The distance of a vertex from the source, if there are such a vertex and a path. Integers beyond 2^53 are
    /// rounded.
    pub fn distance(&self, vertex: u32) -> Option<f64> {
        distance_number(*self.distances.get(vertex as usize)?, self.kind)
    }

    /// The distance of every vertex from the source, in the order of vertices; none where there is no path. Integers
    /// beyond 2^53 are rounded.
    pub fn distances(&self) -> impl ExactSizeIterator<Item = Option<f64>> {
        self.distances.iter().map(|&stored| distance_number(stored, self.kind))
    }

    /// The vertex before this one on a shortest path, if there are such a vertex and a path.
    pub fn parent(&self, vertex: u32) -> Option<u32> {
        stored::parent(&self.parents, vertex)
    }

    /// The vertex before each on a shortest path, in the order of vertices; none where there is no path. The source is
    /// its own.
    pub fn parents(&self) -> impl ExactSizeIterator<Item = Option<u32>> {
        stored::numbers(&self.parents)
    }

    /// Distances and parents as they are stored, for tests that change them.
    #[doc(hidden)]
    pub fn stored(&mut self) -> (&mut [u64], &mut [u32]) {
        (&mut self.distances, &mut self.parents)
    }

    /// The vertices on the path from the source to a vertex that the parents make, both ends included, if there is one.
    ///
    /// # Errors
    /// Another graph; a vertex that the graph does not have; no room for the path: 4 bytes per vertex on it.
    pub fn path(&self, graph: &Graph, target: u32) -> Result<Option<Vec<u32>>> {
        self.stats.check_image(graph.image())?;
        stored::path(graph, &self.parents, target)
    }
}

/// The `delta` that is chosen, in median weights.
const DELTA_WEIGHTS: f64 = 0.5;
/// The `delta` that is chosen for relaxing page by page, in median weights: pages are visited more often if it is
/// smaller, and vertices are relaxed more often if it is greater.
const HORIZON_WEIGHTS: f64 = 8.0;
/// Every so many edges of a list one weight is looked at, and at most so many in a step by a worker.
const EDGES_PER_SAMPLE: usize = 16;
const SAMPLE_OF_STEP: usize = 256;
/// A rank that sums with numbers of ranks do not exceed 64 bits.
const GREATEST_RANK: u64 = u64::MAX / 2;

/// Distances, parents, and the vertices that wait.
fn state(graph: &Graph) -> impl Layout<Made = (Stored<AtomicU64>, Stored<AtomicU32>, Waiting)> {
    (
        Stored::<AtomicU64>::layout(graph, "distances"),
        Stored::<AtomicU32>::layout(graph, "parents"),
        Waiting::layout(graph),
    )
}

/// The estimate for a search over this graph; how many passes it makes depends on the weights.
pub(crate) fn estimate(graph: &Graph, options: &SsspOptions) -> Estimate {
    let state = state(graph).bytes() + ShortestPaths::<Integer>::bytes(graph) + Waiting::list_bytes(graph);
    let weight_pages = if options.weights { graph.weight_pages(Direction::Out) } else { 0 };
    let pages_per_pass = graph.pages(Direction::Out) + weight_pages;
    let reads = Reads { passes: 3.0, bound: Bound::Usual, pages_per_pass, column_pages: 0 };
    reads.estimate(graph, state + weight_bytes(graph, options), vec![ColumnKind::Distance, ColumnKind::Vertex])
}

pub(crate) fn weight_bytes(graph: &Graph, options: &SsspOptions) -> u64 {
    match options.weights {
        true => graph.directions().iter().map(|&direction| graph.weight_bytes(direction)).sum(),
        false => 0,
    }
}

/// Finds shortest paths from a source along the direction of the edges.
///
/// # Errors
/// A source that the graph does not have, edges without weights where `weights` is true, a negative weight or one that
/// is not a number on an edge that a path leads to, a vertex whose distance is beyond 2^63 - 1 or the greatest real
/// number, too little memory (12.5 bytes per vertex), a page that cannot be read or is damaged, a request to stop.
pub fn sssp(graph: &Graph, options: &SsspOptions) -> Result<Sssp> {
    check_vertices(graph, &[options.source])?;
    if let Some(delta) = options.delta.filter(|delta| delta.is_nan() || *delta <= 0.0) {
        return Err(Error::Usage(format!("expected a delta above 0, found {delta}")));
    }
    if options.weights && graph.manifest().weights().is_none() {
        return Err(Error::Unsuitable(format!(
            "expected edges with weights, found none in {}; with the option `weights` false each has the length 1",
            graph.path().display()
        )));
    }
    graph.make_room("shortest paths", estimate(graph, options).state_bytes)?;
    let _weights = graph.keep_weights(if options.weights { graph.directions() } else { &[] })?;
    let kind = if options.weights { graph.weight_kind()? } else { WeightKind::I64 };
    match kind {
        WeightKind::I64 => Search::<Integer>::run(graph, options),
        WeightKind::F64 => Search::<Real>::run(graph, options),
    }
}

struct Search<'a, L> {
    graph: &'a Graph,
    options: &'a SsspOptions,
    distances: Stored<AtomicU64>,
    /// Vertices whose distance fell since their list was last read.
    waiting: Waiting,
    refused: Refused,
    weights: WeightSample,
    stats: StatsBuilder,
    length: PhantomData<L>,
}

impl<'a, L: Length> Search<'a, L> {
    fn new(graph: &'a Graph, options: &'a SsspOptions) -> Result<(Self, Stored<AtomicU32>)> {
        let (distances, parents, waiting) = state(graph).make()?;
        let mut stats = StatsBuilder::of_image(graph.image());
        note(&mut stats, graph, options.weights);
        let search = Search {
            graph,
            options,
            distances,
            waiting,
            refused: Refused::new("weights for shortest paths that are not negative", |weight| weight >= 0.0),
            weights: WeightSample::default(),
            stats,
            length: PhantomData,
        };
        Ok((search, parents))
    }

    fn run(graph: &'a Graph, options: &'a SsspOptions) -> Result<Sssp> {
        let (search, parents) = Self::new(graph, options)?;
        search.find(parents)
    }

    fn find(mut self, parents: Stored<AtomicU32>) -> Result<Sssp> {
        let (graph, source) = (self.graph, self.options.source);
        graph.fill_cache()?;
        self.distances.set(source, 0);
        self.waiting.insert(source);
        let (mut limit, mut thin, mut relaxer) = (L::beyond(0, 0.0), Thin::default(), None);
        loop {
            let batch = self.waiting.choose(graph, limit, |vertex| self.distances.or_greatest(vertex))?;
            if batch.count > 0 {
                self.relax(&batch)?;
                if thin.step(graph, batch.count) {
                    relaxer = self.relax_rest()?;
                    if relaxer.is_some() {
                        break;
                    }
                }
            } else if batch.nearest == NO_PATH {
                break;
            } else {
                limit = L::beyond(batch.nearest, self.delta());
            }
        }
        let lists = relaxer.as_ref().and_then(Relaxer::cached_lists).filter(|_| !graph.is_directed());
        let (distances, weights) = (&self.distances, self.options.weights);
        let paths = ShortestPaths::<L> { graph, source, weights, distances, parents: &parents, length: PhantomData };
        let reached = paths.choose_parents(lists, &self.waiting, &mut self.stats)?;
        drop(relaxer);
        let pages = if self.options.weights { graph.weight_pages(Direction::Out) } else { 0 };
        let stats = self.stats.finish(graph.runtime(), graph.pages(Direction::Out) + pages);
        Ok(Sssp {
            distances: self.distances.into_values(),
            kind: L::KIND,
            parents: parents.into_values(),
            reached,
            stats,
        })
    }

    fn delta(&mut self) -> f64 {
        self.options.delta.unwrap_or_else(|| self.weights.median() * DELTA_WEIGHTS)
    }

    /// Relaxes all edges of the batch, and empties it.
    fn relax(&mut self, batch: &Batch) -> Result<()> {
        let edges = Edges::new(Direction::Out, self.options.weights);
        let relax = |weights: &mut Vec<f64>, list: &ListPart<'_>| self.relax_list(weights, list);
        let (weights, sweep) = self.waiting.visit(self.graph, edges, batch, Vec::new, relax)?;
        weights.into_iter().for_each(|weights| self.weights.add(weights));
        self.stats.step("relax", batch.count, sweep);
        self.waiting.clear(batch);
        self.refused.check(self.graph, edges)
    }

    /// Relaxes all edges of vertices that wait, and of those whose distance falls because of that, without steps;
    /// returns the relaxer, whose lists may be of use, unless there is no memory for one.
    fn relax_rest(&mut self) -> Result<Option<Relaxer<'a>>> {
        let edges = Edges::new(Direction::Out, self.options.weights);
        let Some(mut relaxer) = Relaxer::new(self.graph, edges)? else { return Ok(None) };
        let horizon = self.options.delta.unwrap_or_else(|| self.weights.median() * HORIZON_WEIGHTS);
        let ranks = 1.0 / self.delta();
        let relaxed = match self.options.weights {
            true => relaxer.run(&Distances::<L, false> { search: self, horizon, ranks }, self.waiting.vertices())?,
            false => relaxer.run(&Distances::<L, true> { search: self, horizon, ranks }, self.waiting.vertices())?,
        };
        self.waiting.clear_blocks();
        self.stats.step("asynchronous", relaxed.vertices, relaxed.sweep);
        self.refused.check(self.graph, edges)?;
        Ok(Some(relaxer))
    }

    fn relax_list(&self, sample: &mut Vec<f64>, list: &ListPart<'_>) {
        let from = self.distances.or_greatest(list.vertex);
        for (i, target) in prefetched(self.distances.memory(), list.neighbours).enumerate() {
            let weight = length::<L>(list, i);
            // As bits, a negative weight is greater than any other.
            if weight > MOST_BITS && self.refused.look(list.vertex, list.weights.real(i)) {
                continue;
            }
            if i.is_multiple_of(EDGES_PER_SAMPLE) && sample.len() < SAMPLE_OF_STEP {
                sample.push(L::real(weight));
            }
            // If all paths to a vertex are too long, the choice of parents refuses it.
            let Some(distance) = L::add(from, weight) else { continue };
            if self.distances.or_greatest(target) > distance && self.distances.lower(target, distance) {
                self.waiting.insert(target);
            }
        }
    }
}

/// Some weights of relaxed edges, for choosing `delta`. Their median is not moved by a few huge ones, as their mean is.
#[derive(Default)]
struct WeightSample {
    /// Weights above 0: others need no width.
    weights: Vec<f64>,
    /// The median of the first so many weights.
    median: (usize, f64),
}

impl WeightSample {
    const MOST: usize = 1 << 13;

    fn add(&mut self, weights: Vec<f64>) {
        let room = Self::MOST - self.weights.len();
        self.weights.extend(weights.into_iter().filter(|&weight| weight > 0.0).take(room));
    }

    /// The median, or 0 if there is no weight.
    fn median(&mut self) -> f64 {
        let (of, median) = self.median;
        if self.weights.len() <= of + of / 2 {
            return median;
        }
        let middle = self.weights.len() / 2;
        let median = *self.weights.select_nth_unstable_by(middle, f64::total_cmp).1;
        self.median = (self.weights.len(), median);
        median
    }
}

/// Distances as labels; `EVEN` says that all edges have the same length.
struct Distances<'a, L, const EVEN: bool> {
    search: &'a Search<'a, L>,
    /// The distance beyond a page's nearest active vertex up to which its vertices are relaxed in one visit.
    horizon: f64,
    /// Ranks per unit of length.
    ranks: f64,
}

impl<L: Length, const EVEN: bool> Labels for Distances<'_, L, EVEN> {
    const EVEN: bool = EVEN;

    fn horizon(&self, least: u64, narrowing: u32) -> u64 {
        // Soon narrow enough, however wide it was.
        L::beyond(least, self.horizon / f64::from(narrowing * narrowing).exp2())
    }

    #[inline]
    fn rank(&self, label: u64) -> u64 {
        ((L::real(label) * self.ranks) as u64).min(GREATEST_RANK)
    }

    #[inline]
    fn get(&self, vertex: u32) -> u64 {
        self.search.distances.or_greatest(vertex)
    }

    #[inline]
    fn lower(&self, vertex: u32, label: u64) -> bool {
        self.search.distances.lower(vertex, label)
    }

    #[inline]
    fn along(&self, source: u32, label: u64, weight: u64) -> Option<u64> {
        let weight = if EVEN { L::ONE } else { weight };
        if weight > MOST_BITS && self.search.refused.look(source, L::KIND.real(weight)) {
            return None;
        }
        L::add(label, weight)
    }

    #[inline]
    fn prefetch(&self, vertex: u32) {
        prefetch(self.search.distances.memory(), vertex as usize);
    }
}

/// The greatest bits of a length: those of infinity as a real number; integers may be greater, but not negative.
const MOST_BITS: u64 = f64::INFINITY.to_bits();
