//! Shortest paths from one source over weighted edges: distances and parents.
//!
//! *Idea.* Delta-stepping: vertices whose distance fell wait, and those within `delta` of the nearest one that waits
//! are relaxed together, again and again until none of them waits. A waiting vertex is a bit, and a bit per 4096
//! vertices says where to look, so that a step over few vertices costs little and one over many reads each page once.
//! Distances fall only, and where none can fall any more they are what they are whatever the order was, to the last
//! bit: for real weights too, since a sum along a path is rounded the same way by everybody and rounding keeps order.
//!
//! *Long searches.* Where so few vertices are relaxed for so many steps that pages hold one each ([`Thin`]), as on
//! grids and roads, the rest is relaxed without steps ([`Relaxer`]). Where memory has room for all lists, vertices are
//! relaxed by distance in ranks of `delta`; elsewhere page by page, a page as far as eight mean weights beyond its
//! nearest waiting vertex, since what is farther is likely to come nearer still.
//!
//! *Predecessors* depend on the distances alone. One pass over the in-lists gives every vertex the first in-neighbour
//! that explains its distance and is nearer to the source. Vertices that only edges of length zero lead to get theirs
//! in further rounds, from those that have one already, so that parents never run in a circle.
//!
//! *Encoding.* A distance is the complement of its 64 bits, of an integer or of a real number that is not negative,
//! whose bits rise with it. So fresh memory says "no path", and a shorter distance is a greater number.
//!
//! *Cost.* 12.5 bytes per vertex, and what reading weights takes. Pages are read as often as vertices in them wait:
//! about one to three passes over lists and weights on graphs with hubs, and the pass for the parents. Lists that are
//! held are read once, and parents of undirected graphs are found in them.
//!
//! Meyer and Sanders, *Delta-stepping: a parallelizable shortest path algorithm*, J. Algorithms 2003.

use crate::estimate::{Bound, Cost, Estimate};
use crate::sources::check_vertices;
use crate::state::{Layout, array, bitmap};
use crate::weights::{Refused, note};
use outcore_format::WeightKind;
use outcore_graph::{
    Bitmap, Direction, Edges, Frontier, Graph, HeldLists, Labels, ListFold, ListPart, Relaxer, SPARSE_SHARE, Thin,
    fold, scan, vertex_map,
};
use outcore_image::{Error, Result, Stats, StatsBuilder, SweepStats};
use outcore_io::buffer::{prefetch, prefetched};
use outcore_io::{Array, into_inner, lock};
use outcore_table::{ColumnKind, distance_bits};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// From where, and how.
#[derive(Clone, Copy, Debug)]
pub struct SsspOptions {
    /// The vertex to start from, as numbered in the image.
    pub source: u32,
    /// Whether the length of an edge is its weight; otherwise it is 1.
    pub weights: bool,
    /// How much farther than the nearest waiting vertex others may be that are relaxed with it; `None` chooses by the
    /// weights that were seen. The result does not depend on it.
    pub delta: Option<f64>,
}

/// Distances and parents.
#[derive(Debug)]
pub struct Sssp {
    /// Per vertex: the complement of its distance's bits; 0 where there is no path.
    pub distances: Array<u64>,
    /// The kind of distances.
    pub kind: WeightKind,
    /// Per vertex: the complement of the vertex before it on a shortest path; 0 where there is no path. The source is
    /// its own.
    pub parents: Array<u32>,
    /// How many vertices have a path, the source included.
    pub reached: u64,
    /// Statistics of the run.
    pub stats: Stats,
}

impl Sssp {
    /// The distance of a vertex from the source, if there is a path. Integers beyond 2^53 are rounded.
    pub fn distance(&self, vertex: u32) -> Option<f64> {
        distance_bits(self.distances[vertex as usize]).map(|bits| match self.kind {
            WeightKind::I64 => bits as f64,
            WeightKind::F64 => f64::from_bits(bits),
        })
    }

    /// The vertex before this one on a shortest path, if there is a path.
    pub fn parent(&self, vertex: u32) -> Option<u32> {
        let stored = self.parents[vertex as usize];
        (stored != 0).then_some(!stored)
    }

    /// The vertices on the path from the source to a vertex that the parents make, both ends included, if there is one.
    ///
    /// # Errors
    /// No room for it: 4 bytes per vertex on the path.
    pub fn path(&self, graph: &Graph, target: u32) -> Result<Option<Vec<u32>>> {
        if self.parent(target).is_none() {
            return Ok(None);
        }
        // The source is its own parent, and parents never run in a circle.
        let before = |&vertex: &u32| self.parent(vertex).filter(|&parent| parent != vertex);
        let steps = || std::iter::successors(Some(target), before);
        graph.make_room("a path", 4 * steps().count() as u64)?;
        let mut path: Vec<u32> = steps().collect();
        path.reverse();
        Ok(Some(path))
    }
}

/// The bits of the distance of a vertex without a path.
const NONE: u64 = u64::MAX;
/// A bit of the upper level says whether any of so many vertices waits.
const BLOCK: usize = 4096;
/// So few blocks are searched by one worker.
const FEW_BLOCKS: u64 = 16;
/// The `delta` that is chosen, in mean weights.
const DELTA_WEIGHTS: f64 = 0.5;
/// The `delta` that is chosen where pages are worked off one by one, in mean weights: pages are visited more often if
/// it is smaller, and vertices are relaxed more often if it is greater.
const HORIZON_WEIGHTS: f64 = 8.0;

/// Distances, parents, vertices that wait, blocks that have some, and the frontier.
type State = (Array<AtomicU64>, Array<AtomicU32>, Bitmap, Bitmap, Bitmap);

fn state(graph: &Graph) -> impl Layout<Made = State> {
    let vertices = graph.vertices();
    let set = |most| bitmap(graph, "frontiers", most);
    (
        array(graph, "distances", vertices),
        array(graph, "parents", vertices),
        set(vertices),
        set(vertices.div_ceil(BLOCK as u64)),
        set(vertices),
    )
}

/// The estimate for a search over this graph; how many passes it makes depends on the weights.
pub(crate) fn estimate_sssp(graph: &Graph, options: &SsspOptions) -> Estimate {
    let vertices = graph.vertices();
    // Few vertices of a frontier are a list, and those without a parent yet a set.
    let later = Bitmap::bytes(vertices) + 4 * (vertices / SPARSE_SHARE);
    let state = state(graph).bytes() + later;
    let weight_pages = if options.weights { graph.weight_pages(Direction::Out) } else { 0 };
    Cost {
        state_bytes: state + weight_bytes(graph, options),
        passes: 3.0,
        bound: Bound::Usual,
        pages_per_pass: graph.pages(Direction::Out) + weight_pages,
        more_pages: 0,
        columns: vec![ColumnKind::Distance, ColumnKind::Vertex],
        more_result_bytes: 0,
    }
    .estimate(graph)
}

/// The memory that reading the weights takes.
pub(crate) fn weight_bytes(graph: &Graph, options: &SsspOptions) -> u64 {
    match options.weights {
        true => graph.directions().iter().map(|&direction| graph.weight_bytes(direction)).sum(),
        false => 0,
    }
}

/// Finds shortest paths from a source along the direction of the edges.
///
/// # Errors
/// A source that the graph does not have, a negative weight or one that is not a number on an edge that a path leads
/// to, a vertex whose distance is beyond 2^63 - 1 or the greatest real number, too little memory (12.5 bytes per
/// vertex), a page that cannot be read or is damaged, a request to stop.
pub fn sssp(graph: &Graph, options: &SsspOptions) -> Result<Sssp> {
    check_vertices(graph, &[options.source])?;
    if let Some(delta) = options.delta.filter(|delta| delta.is_nan() || *delta <= 0.0) {
        return Err(Error::Usage(format!("expected a delta above 0, found {delta}")));
    }
    graph.make_room("shortest paths", estimate_sssp(graph, options).state_bytes)?;
    let _kept = graph.keep_weights(if options.weights { graph.directions() } else { &[] })?;
    let kind = if options.weights { graph.weight_kind()? } else { WeightKind::I64 };
    match kind {
        WeightKind::I64 => Search::<Integer>::run(graph, options),
        WeightKind::F64 => Search::<Real>::run(graph, options),
    }
}

/// The kind of distances.
pub(crate) trait Length: Sync {
    const KIND: WeightKind;
    /// An edge's length where it has no weight.
    const ONE: u64;
    /// The valid distances, in words.
    const MOST: &'static str;
    /// The distance over one more edge, if that is a distance.
    fn add(distance: u64, weight: u64) -> Option<u64>;
    /// A distance as a real number.
    fn real(distance: u64) -> f64;
    /// The least distance that is greater than `distance + delta`, or the greatest of all.
    fn beyond(distance: u64, delta: f64) -> u64;
}

pub(crate) struct Integer;

impl Length for Integer {
    const KIND: WeightKind = WeightKind::I64;
    const ONE: u64 = 1;
    const MOST: &'static str = "below 2^63";

    #[inline]
    fn add(distance: u64, weight: u64) -> Option<u64> {
        // Neither is negative as an i64, so the sum fits 64 bits.
        Some(distance + weight).filter(|&sum| sum <= i64::MAX as u64)
    }

    fn real(distance: u64) -> f64 {
        distance as f64
    }

    fn beyond(distance: u64, delta: f64) -> u64 {
        distance.saturating_add(delta as u64).saturating_add(1)
    }
}

pub(crate) struct Real;

impl Length for Real {
    const KIND: WeightKind = WeightKind::F64;
    const ONE: u64 = 1f64.to_bits();
    const MOST: &'static str = "up to 1.7e308";

    #[inline]
    fn add(distance: u64, weight: u64) -> Option<u64> {
        let sum = f64::from_bits(distance) + f64::from_bits(weight);
        (sum < f64::INFINITY).then_some(sum.to_bits())
    }

    fn real(distance: u64) -> f64 {
        f64::from_bits(distance)
    }

    fn beyond(distance: u64, delta: f64) -> u64 {
        (f64::from_bits(distance) + delta).to_bits() + 1
    }
}

/// The length of an edge of a list.
#[inline]
fn length<L: Length>(list: &ListPart<'_>, i: usize) -> u64 {
    list.weights.bits().get(i).copied().unwrap_or(L::ONE)
}

struct Search<'a, L> {
    graph: &'a Graph,
    options: &'a SsspOptions,
    distances: Array<AtomicU64>,
    /// Vertices whose distance fell since their list was last read, and the blocks in which there are any.
    waiting: Bitmap,
    blocks: Bitmap,
    frontier: Bitmap,
    refused: Refused,
    /// The weights of relaxed edges, for choosing `delta`: their sum and number.
    weight_sum: f64,
    weight_count: u64,
    stats: StatsBuilder,
    length: std::marker::PhantomData<L>,
}

/// The vertices that are relaxed next.
struct Taken {
    count: u64,
    /// The blocks that they are in.
    blocks: Vec<u32>,
    /// The least distance of those that wait on.
    nearest: u64,
}

impl<'a, L: Length> Search<'a, L> {
    fn new(graph: &'a Graph, options: &'a SsspOptions) -> Result<(Self, Array<AtomicU32>)> {
        let (distances, parents, waiting, blocks, frontier) = state(graph).make()?;
        let mut stats = StatsBuilder::of(graph.runtime());
        note(&mut stats, graph, options.weights);
        let search = Search {
            graph,
            options,
            distances,
            waiting,
            blocks,
            frontier,
            refused: Refused::new("weights for shortest paths that are not negative", |weight| weight >= 0.0),
            weight_sum: 0.0,
            weight_count: 0,
            stats,
            length: std::marker::PhantomData,
        };
        Ok((search, parents))
    }

    fn run(graph: &'a Graph, options: &'a SsspOptions) -> Result<Sssp> {
        let (search, parents) = Self::new(graph, options)?;
        search.find(parents)
    }

    fn find(mut self, parents: Array<AtomicU32>) -> Result<Sssp> {
        let (graph, source) = (self.graph, self.options.source);
        graph.fill_cache()?;
        self.distances[source as usize].store(!0, Ordering::Relaxed);
        self.wait(source);
        let (mut limit, mut thin, mut relaxer) = (L::beyond(0, 0.0), Thin::default(), None);
        loop {
            let taken = self.take(limit)?;
            if taken.count > 0 {
                self.relax(&taken)?;
                if thin.step(graph, taken.count) {
                    relaxer = self.relax_rest()?;
                    if relaxer.is_some() {
                        break;
                    }
                }
            } else if taken.nearest == NONE {
                break;
            } else {
                limit = L::beyond(taken.nearest, self.delta());
            }
        }
        let held = relaxer.as_ref().and_then(Relaxer::held).filter(|_| !graph.is_directed());
        let reached = self.explain(&parents, held)?;
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

    fn distance(&self, vertex: u32) -> u64 {
        !self.distances[vertex as usize].load(Ordering::Relaxed)
    }

    #[inline]
    fn wait(&self, vertex: u32) {
        if self.waiting.insert(vertex) {
            self.blocks.insert(vertex / BLOCK as u32);
        }
    }

    fn delta(&self) -> f64 {
        let mean = self.weight_sum / self.weight_count.max(1) as f64;
        self.options.delta.unwrap_or(mean * DELTA_WEIGHTS)
    }

    /// Moves the waiting vertices with distances below the limit into the frontier.
    fn take(&self, limit: u64) -> Result<Taken> {
        let (count, nearest) = (AtomicU64::new(0), AtomicU64::new(NONE));
        let touched = Mutex::new(Vec::new());
        let words = self.blocks.words();
        let step = if self.blocks.count() <= FEW_BLOCKS { words } else { 1 };
        self.graph.runtime().for_each_range::<Error>(words, step, |range| {
            let mut own = Vec::new();
            for block in self.blocks.iter(range) {
                let (mut taken, mut rest, mut least) = (0, 0, NONE);
                for i in self.words_of(block) {
                    let (mut left, mut word) = (self.waiting.word(i), 0);
                    while left != 0 {
                        let bit = left & left.wrapping_neg();
                        left ^= bit;
                        let distance = self.distance(64 * i as u32 + bit.trailing_zeros());
                        if distance < limit {
                            word |= bit;
                        } else {
                            least = least.min(distance);
                            rest += 1;
                        }
                    }
                    if word != 0 {
                        taken += u64::from(word.count_ones());
                        self.waiting.set_word(i, self.waiting.word(i) & !word);
                        self.frontier.set_word(i, word);
                    }
                }
                if rest == 0 {
                    self.blocks.remove(block);
                }
                if taken > 0 {
                    own.push(block);
                }
                count.fetch_add(taken, Ordering::Relaxed);
                nearest.fetch_min(least, Ordering::Relaxed);
            }
            lock(&touched).extend(own);
            Ok(())
        })?;
        let mut blocks = into_inner(touched);
        blocks.sort_unstable();
        Ok(Taken { count: count.into_inner(), blocks, nearest: nearest.into_inner() })
    }

    /// The words of the frontier, or of those that wait, that a block has.
    fn words_of(&self, block: u32) -> Range<usize> {
        let first = block as usize * (BLOCK / 64);
        first..(first + BLOCK / 64).min(self.frontier.words())
    }

    fn taken_vertices(&self, taken: &Taken) -> impl Iterator<Item = u32> {
        taken.blocks.iter().flat_map(|&block| self.frontier.iter(self.words_of(block)))
    }

    /// Visits the out-lists of the frontier.
    fn visit<S: Send>(
        &self,
        taken: &Taken,
        make: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, &ListPart<'_>) + Sync,
    ) -> Result<(Vec<S>, SweepStats)> {
        let (graph, edges) = (self.graph, Edges::new(Direction::Out, self.options.weights));
        let list: Vec<u32>;
        let frontier = if taken.count <= graph.vertices() / SPARSE_SHARE {
            list = self.taken_vertices(taken).collect();
            Frontier::List(&list)
        } else {
            Frontier::Set(&self.frontier)
        };
        scan(graph, edges, frontier, make, |state, list| visit(state, &list))
    }

    fn empty_frontier(&self, taken: &Taken) {
        let words = taken.blocks.iter().flat_map(|&block| self.words_of(block));
        words.for_each(|i| self.frontier.set_word(i, 0));
    }

    /// Relaxes all edges of the frontier, and empties it.
    fn relax(&mut self, taken: &Taken) -> Result<()> {
        let (seen, sweep) = self.visit(taken, || (0.0, 0), |seen, list| self.relax_list(seen, list))?;
        for (sum, count) in seen {
            self.weight_sum += sum;
            self.weight_count += count;
        }
        self.stats.step("relax", taken.count, sweep);
        self.empty_frontier(taken);
        self.refused.check(self.graph, Edges::new(Direction::Out, self.options.weights))
    }

    /// Relaxes all edges of vertices that wait, and of those whose distance falls because of that, without steps;
    /// returns what did it, unless there is no memory for it.
    fn relax_rest(&mut self) -> Result<Option<Relaxer<'a>>> {
        let edges = Edges::new(Direction::Out, self.options.weights);
        let Some(mut relaxer) = Relaxer::new(self.graph, edges)? else { return Ok(None) };
        let mean = self.weight_sum / self.weight_count.max(1) as f64;
        let horizon = self.options.delta.unwrap_or(mean * HORIZON_WEIGHTS);
        let ranks = 1.0 / self.delta();
        let relaxed = match self.options.weights {
            true => relaxer.run(&Distances::<L, false> { search: self, horizon, ranks }, &self.waiting)?,
            false => relaxer.run(&Distances::<L, true> { search: self, horizon, ranks }, &self.waiting)?,
        };
        self.blocks.clear();
        self.stats.step("asynchronous", relaxed.vertices, relaxed.sweep);
        self.refused.check(self.graph, edges)?;
        Ok(Some(relaxer))
    }

    fn relax_list(&self, (sum, count): &mut (f64, u64), list: &ListPart<'_>) {
        let from = self.distance(list.vertex);
        for (i, target) in prefetched(&self.distances, list.neighbours).enumerate() {
            let weight = length::<L>(list, i);
            let real = L::real(weight);
            // As bits, a negative weight is greater than any other.
            if weight > MOST_BITS && self.refused.look(list.vertex, list.weights.real(i)) {
                continue;
            }
            *sum += real;
            // A path that is too long may be the only one; that is seen in the end.
            let Some(distance) = L::add(from, weight) else { continue };
            let slot = &self.distances[target as usize];
            if slot.load(Ordering::Relaxed) < !distance && slot.fetch_max(!distance, Ordering::Relaxed) < !distance {
                self.wait(target);
            }
        }
        *count += list.neighbours.len() as u64;
    }
}

/// Distances as labels; `EVEN` says that all edges have the same length.
struct Distances<'a, L, const EVEN: bool> {
    search: &'a Search<'a, L>,
    /// How much farther than a page's nearest active vertex others may be that are worked off with it.
    horizon: f64,
    /// How many ranks there are per unit of length.
    ranks: f64,
}

impl<L: Length, const EVEN: bool> Labels for Distances<'_, L, EVEN> {
    const EVEN: bool = EVEN;

    fn horizon(&self, least: u64) -> u64 {
        L::beyond(least, self.horizon)
    }

    #[inline]
    fn rank(&self, label: u64) -> u64 {
        (L::real(label) * self.ranks) as u64
    }

    #[inline]
    fn get(&self, vertex: u32) -> u64 {
        self.search.distance(vertex)
    }

    #[inline]
    fn lower(&self, vertex: u32, label: u64) -> bool {
        self.search.distances[vertex as usize].fetch_max(!label, Ordering::Relaxed) < !label
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
        prefetch(&self.search.distances, vertex as usize);
    }
}

/// The greatest bits of a length: those of infinity as a real number; integers may be greater, but not negative.
const MOST_BITS: u64 = f64::INFINITY.to_bits();

impl<L: Length> Search<'_, L> {
    /// Gives every vertex with a path its parent; returns how many there are. Reads the in-lists, unless they are held.
    fn explain(&mut self, parents: &Array<AtomicU32>, held: Option<&HeldLists>) -> Result<u64> {
        let graph = self.graph;
        let unexplained = Bitmap::new(graph.runtime().budget(), "frontiers", graph.vertices())?;
        let too_far = AtomicU64::new(NONE);
        let explain = Explain { search: self, parents, unexplained: &unexplained, too_far: &too_far };
        let edges = Edges::new(Direction::In, self.options.weights);
        let (reached, sweep) = match held {
            Some(lists) => explain.held(lists)?,
            None => fold(graph, edges, Frontier::All, &explain)?,
        };
        self.stats.step("parents", graph.vertices(), sweep);
        if let Ok(vertex) = u32::try_from(too_far.into_inner()) {
            let (most, id) = (L::MOST, graph.id(vertex)?);
            let text =
                format!("expected distances {most}, found none but longer paths to {id}; make the weights smaller");
            return Err(Error::Unsuitable(text));
        }
        if unexplained.count() > 0 {
            self.explain_rest(parents, &unexplained)?;
        }
        Ok(reached)
    }

    /// Searches breadth-first, over edges that explain distances, from all vertices that have a parent.
    fn explain_rest(&mut self, parents: &Array<AtomicU32>, unexplained: &Bitmap) -> Result<()> {
        let graph = self.graph;
        let mut left = unexplained.count();
        (0..graph.vertices() as u32)
            .filter(|&vertex| parents[vertex as usize].load(Ordering::Relaxed) != 0)
            .for_each(|vertex| self.wait(vertex));
        loop {
            let taken = self.take(NONE)?;
            if taken.count == 0 {
                break;
            }
            for vertex in self.taken_vertices(&taken).filter(|&vertex| unexplained.contains(vertex)) {
                unexplained.remove(vertex);
                left -= 1;
            }
            let sweep = self.visit(
                &taken,
                || (),
                |(), list| {
                    let from = self.distance(list.vertex);
                    for (i, &target) in list.neighbours.iter().enumerate() {
                        if unexplained.contains(target)
                            && L::add(from, length::<L>(list, i)) == Some(self.distance(target))
                        {
                            parents[target as usize].fetch_max(!list.vertex, Ordering::Relaxed);
                            self.wait(target);
                        }
                    }
                },
            );
            self.stats.step("parents", taken.count, sweep?.1);
            self.empty_frontier(&taken);
        }
        if left > 0 {
            let image = graph.path().display();
            let text = format!(
                "expected in-lists with the edges of the out-lists, found others in {image}; run `outcore check` on it"
            );
            return Err(Error::Unsuitable(text));
        }
        Ok(())
    }
}

/// Finds the first in-neighbour that is nearer to the source and explains a vertex's distance. The total is how many
/// vertices have a path.
struct Explain<'a, L> {
    search: &'a Search<'a, L>,
    parents: &'a Array<AtomicU32>,
    unexplained: &'a Bitmap,
    /// The first vertex that edges lead to, but no path whose length is a distance; [`NONE`] if there is none.
    too_far: &'a AtomicU64,
}

impl<L: Length> Explain<'_, L> {
    /// The first of some in-neighbours that explains a vertex's distance, or `u32::MAX`.
    #[inline]
    fn source(&self, vertex: u32, mut edges: impl Iterator<Item = (u32, u64)>) -> u32 {
        let distance = self.search.distance(vertex);
        if distance == NONE && edges.any(|(source, _)| self.search.distance(source) != NONE) {
            self.too_far.fetch_min(vertex.into(), Ordering::Relaxed);
        }
        if distance == 0 || distance == NONE {
            return u32::MAX;
        }
        let explains = |&(source, length): &(u32, u64)| {
            let before = self.search.distance(source);
            before < distance && L::add(before, length) == Some(distance)
        };
        edges.find(explains).map_or(u32::MAX, |(source, _)| source)
    }

    /// Does the same as a fold.
    fn held(&self, lists: &HeldLists) -> Result<(u64, SweepStats)> {
        let (start, graph, total) = (Instant::now(), self.search.graph, AtomicU64::new(0));
        vertex_map(graph.runtime(), graph.vertices(), |range| {
            let mut reached = 0;
            for vertex in range.start as u32..range.end as u32 {
                self.finish(vertex, Some(self.source(vertex, lists.edges(vertex))), &mut reached);
            }
            total.fetch_add(reached, Ordering::Relaxed);
            Ok(())
        })?;
        Ok((total.into_inner(), SweepStats { seconds: start.elapsed().as_secs_f64(), ..SweepStats::default() }))
    }
}

impl<L: Length> ListFold for Explain<'_, L> {
    /// The in-neighbour, or `u32::MAX`.
    type Value = u32;
    type Total = u64;

    fn part(&self, list: ListPart<'_>) -> u32 {
        let edges = list.neighbours.iter().enumerate().map(|(i, &source)| (source, length::<L>(&list, i)));
        self.source(list.vertex, edges)
    }

    fn merge(&self, before: u32, after: u32) -> u32 {
        before.min(after)
    }

    fn finish(&self, vertex: u32, found: Option<u32>, reached: &mut u64) {
        if self.search.distance(vertex) == NONE {
            return;
        }
        *reached += 1;
        let found = if vertex == self.search.options.source { vertex } else { found.unwrap_or(u32::MAX) };
        match found {
            u32::MAX => drop(self.unexplained.insert(vertex)),
            found => self.parents[vertex as usize].store(!found, Ordering::Relaxed),
        }
    }

    fn add(&self, reached: &mut u64, later: u64) {
        *reached += later;
    }
}
