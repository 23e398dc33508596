//! Lists as a whole: a loop over them, and the same on all workers.
//!
//! `for (vertex, neighbours) in graph.lists(...)` is Graphene's IO iterator: which pages are read, when, and in what
//! extents is planned behind it, and reads run ahead of the loop. [`ListsOf::par_for_each`] is the parallel form. Both
//! put the parts of a list that spans pages together; [`scan`](crate::scan()) hands out the parts as they are, without
//! a copy.
//!
//! Liu and Huang, *Graphene: fine-grained IO management for graph computing*, FAST 2017, section 3.

use crate::engine::decode::DECODER_BYTES;
use crate::engine::graph::{Edges, Graph};
use crate::engine::scan::{Frontier, List, ListPart, list_at};
use crate::engine::sweep::{ListPages, ListVisitor, Swept, Wanted, sweep};
use crate::engine::weights::Weights;
use outcore_format::list::MAX_NEIGHBOURS;
use outcore_format::{Lists, WeightKind};
use outcore_image::{Outcome, Pass, Result, Sweep, SweepStats, Worker};
use outcore_io::plan::UNIT_PAGES;
use outcore_io::{Reservation, ReservedVec, lock};
use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, OnceLock};

/// Number of pages of lists that the loop reads at once.
const LOOP_PAGES: u32 = 16;
/// The ring of read buffers of the loop.
const LOOP_RING_BYTES: u64 = 1 << 20;
/// The purpose of the memory of lists that a loop handed out and that are still in use.
const HANDED_OUT: &str = "lists of a loop";
/// The purpose of the memory of lists until they are complete.
const PARTS: &str = "lists that span pages";

/// The lists of a frontier, to be visited.
#[derive(Clone, Copy, Debug)]
#[must_use = "lists are read when they are looped over"]
pub struct ListsOf<'g> {
    graph: &'g Graph,
    edges: Edges,
    frontier: Frontier<'g>,
}

impl Graph {
    /// The lists of a frontier: loop over them with `for`, or visit them on all workers with [`ListsOf::par_for_each`].
    ///
    /// Lists come in the order of their vertices, each as a whole, empty ones too. Reads each wanted page once, ahead
    /// of the loop.
    ///
    /// ```no_run
    /// # use outcore_io::Runtime;
    /// # mod outcore {
    /// #     pub use {outcore_graph::*, outcore_image::ImageOptions as GraphOptions, outcore_image::Result};
    /// #     pub mod engine { pub use outcore_graph::*; }
    /// # }
    /// use outcore::{Direction, Graph, GraphOptions};
    /// use outcore::engine::Frontier;
    ///
    /// # fn main() -> outcore::Result<()> {
    /// # let runtime = Runtime::new(Default::default())?;
    /// let graph = Graph::open(&runtime, "web.oc", GraphOptions::default())?;
    /// let mut longest = 0;
    /// for list in graph.lists(Direction::Out, Frontier::All) {
    ///     let (_vertex, neighbours) = list?;
    ///     longest = longest.max(neighbours.len());
    /// }
    /// # Ok(()) }
    /// ```
    pub fn lists<'g>(&'g self, edges: impl Into<Edges>, frontier: Frontier<'g>) -> ListsOf<'g> {
        ListsOf { graph: self, edges: edges.into(), frontier }
    }
}

impl<'g> IntoIterator for ListsOf<'g> {
    type Item = Result<(u32, Neighbours)>;
    type IntoIter = ListLoop<'g>;

    fn into_iter(self) -> ListLoop<'g> {
        ListLoop { lists: self, reading: None, collected: Arc::default(), next: 0, ended: false }
    }
}

impl ListsOf<'_> {
    /// The memory that the longest list takes, with its weights, in bytes.
    pub(crate) fn longest_bytes(&self) -> u64 {
        self.graph.list_facts(self.edges.direction).max_degree * self.bytes_per_edge()
    }

    /// The memory that a loop over the lists takes, in bytes.
    pub fn loop_bytes(&self) -> u64 {
        let once = u64::from(LOOP_PAGES) * MAX_NEIGHBOURS as u64 * self.bytes_per_edge();
        let once = once.min(self.graph.list_facts(self.edges.direction).entries * self.bytes_per_edge());
        once + self.longest_bytes() + DECODER_BYTES + LOOP_RING_BYTES
    }

    fn bytes_per_edge(&self) -> u64 {
        if self.edges.weights { 12 } else { 4 }
    }

    /// Visits the lists on all workers, in no order. Every worker gets a state from `make`; the states are returned.
    ///
    /// Lists are assigned to workers nondeterministically: combine the states with an associative, commutative
    /// operation. A list of a single page is visited where it was decoded; those that span pages take memory until they
    /// are complete, twice their size where they span more than 64. `visit` returns nothing, or a `Result` whose error
    /// ends the visit.
    ///
    /// # Errors
    /// As with [`scan`](crate::scan()), and too little memory for the longest list.
    pub fn par_for_each<S: Send, R: Outcome>(
        self,
        make: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, List<'_>) -> R + Sync,
    ) -> Result<(Vec<S>, SweepStats)> {
        let ListsOf { graph, edges, frontier } = self;
        frontier.check(graph)?;
        // One that is put together, and one under way at every worker: each is reserved while it grows.
        graph.make_room(PARTS, (graph.runtime().threads() as u64 + 1) * self.longest_bytes())?;
        let wanted = frontier.wanted_pages(graph, edges.direction);
        let (joiner, visit) = (Joiner::default(), &visit);
        let make =
            || WholeVisitor { graph, frontier, state: make(), visit, joiner: &joiner, open: None, ended: Vec::new() };
        let (visitors, stats) = sweep(graph, edges, wanted, make)?;
        Ok((visitors.into_iter().map(|visitor| visitor.state).collect(), stats))
    }
}

/// A loop over lists.
///
/// Lists that are kept when the loop goes on stay in memory with those that were read with them, which is reserved:
/// the loop ends with an error where there is no room.
#[must_use = "lists are read when they are looped over"]
pub struct ListLoop<'g> {
    lists: ListsOf<'g>,
    reading: Option<Reading<'g>>,
    collected: Arc<Collected>,
    next: usize,
    ended: bool,
}

/// The reader of a loop and its buffers.
struct Reading<'g> {
    pages: ListPages<'g, Collector<'g>>,
    sweep: Sweep<'g>,
    pass: Pass,
    worker: Worker,
    _reservation: Reservation,
}

/// Lists one behind the other.
#[derive(Default)]
struct Collected {
    vertices: Vec<u32>,
    /// The beginning of each of them.
    starts: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<u64>,
    kind: Option<WeightKind>,
    /// The last list goes on.
    open: bool,
    /// The memory of lists that are still in use while the loop is elsewhere, or has ended.
    reservation: OnceLock<Reservation>,
}

impl Collected {
    fn bytes(&self) -> u64 {
        let [vertices, starts] = [4 * self.vertices.capacity(), 8 * self.starts.capacity()];
        (vertices + starts + 4 * self.neighbours.capacity() + 8 * self.weights.capacity()) as u64
    }

    /// The beginning of the list that goes on, if there is one, for lists that come next.
    fn rest(&self) -> Self {
        let range = if self.open { self.range(self.complete()) } else { 0..0 };
        let some = |values: &[u64]| values.get(range.clone()).unwrap_or_default().to_vec();
        Collected {
            vertices: if self.open { self.vertices[self.complete()..].to_vec() } else { Vec::new() },
            starts: if self.open { vec![0] } else { Vec::new() },
            neighbours: self.neighbours[range.clone()].to_vec(),
            weights: some(&self.weights),
            kind: self.kind,
            open: self.open,
            reservation: OnceLock::new(),
        }
    }

    fn complete(&self) -> usize {
        self.vertices.len() - usize::from(self.open)
    }

    fn range(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts.get(i + 1).copied().unwrap_or(self.neighbours.len())
    }

    /// Forgets all lists but the one that goes on.
    fn forget(&mut self) {
        let complete = self.complete();
        let start = if self.open { self.starts[complete] } else { self.neighbours.len() };
        self.neighbours.drain(..start);
        self.weights.drain(..start.min(self.weights.len()));
        self.vertices.drain(..complete);
        self.starts.clear();
        self.starts.extend(self.open.then_some(0));
    }

    fn push(&mut self, list: ListPart<'_>) {
        if !(list.begins_earlier && self.open) {
            self.vertices.push(list.vertex);
            self.starts.push(self.neighbours.len());
        }
        self.neighbours.extend_from_slice(list.neighbours);
        self.weights.extend_from_slice(list.weights.bits());
        self.kind = Some(list.weights.kind());
        self.open = list.ends_later;
    }

    fn weights(&self, range: Range<usize>) -> Weights<'_> {
        let bits = if self.weights.is_empty() { &[] } else { &self.weights[range] };
        Weights::new(bits, self.kind.unwrap_or(WeightKind::I64))
    }
}

/// The neighbours of a vertex, in rising order, and the weights of the edges to them.
#[derive(Clone)]
pub struct Neighbours {
    collected: Arc<Collected>,
    place: usize,
}

impl Deref for Neighbours {
    type Target = [u32];

    #[inline]
    fn deref(&self) -> &[u32] {
        &self.collected.neighbours[self.collected.range(self.place)]
    }
}

impl Neighbours {
    /// The weights of the edges, if they were asked for.
    pub fn weights(&self) -> Weights<'_> {
        self.collected.weights(self.collected.range(self.place))
    }
}

impl std::fmt::Debug for ListLoop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ListLoop").field("lists", &self.lists).field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Neighbours {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl ListLoop<'_> {
    /// Statistics of the pages read so far.
    pub fn stats(&mut self) -> SweepStats {
        self.reading.as_mut().map_or(SweepStats::default(), |reading| {
            reading.pass.stats.add(&reading.worker.take_stats());
            let mut stats = reading.pass.stats;
            stats.add(reading.sweep.prepared());
            stats
        })
    }

    fn start(&mut self) -> Result<()> {
        let ListsOf { graph, edges, frontier } = self.lists;
        frontier.check(graph)?;
        let bytes = self.lists.loop_bytes();
        graph.make_room("a loop over lists", bytes)?;
        let reservation = graph.runtime().budget().reserve("a loop over lists", bytes - LOOP_RING_BYTES)?;
        let (swept, selection) = Swept::new(graph, edges, frontier.wanted_pages(graph, edges.direction))?;
        let sweep = swept.sweep(graph, selection, LOOP_PAGES)?;
        let worker = graph.image().new_worker(LOOP_RING_BYTES)?;
        let pages = ListPages::new(graph, &swept, Collector { frontier, collected: Collected::default() });
        self.reading = Some(Reading { pages, sweep, pass: Pass::default(), worker, _reservation: reservation });
        Ok(())
    }

    /// Reads on until a list is complete; `false` at the end.
    fn read(&mut self) -> Result<bool> {
        if self.reading.is_none() {
            self.start()?;
        }
        let Some(Reading { pages, sweep, pass, worker, .. }) = &mut self.reading else { return Ok(false) };
        self.next = 0;
        pages.visitor.collected = match Arc::get_mut(&mut self.collected) {
            Some(collected) => {
                let mut collected = std::mem::take(collected);
                collected.forget();
                collected
            }
            // Some of the lists are still in use.
            None => {
                let reservation = self.lists.graph.reserve(HANDED_OUT, self.collected.bytes())?;
                _ = self.collected.reservation.set(reservation);
                self.collected.rest()
            }
        };
        let mut outcome = Ok(true);
        while pages.visitor.collected.complete() == 0 && matches!(outcome, Ok(true)) {
            outcome = pages.step(pass, sweep, worker);
        }
        self.collected = Arc::new(std::mem::take(&mut pages.visitor.collected));
        outcome
    }
}

impl Iterator for ListLoop<'_> {
    type Item = Result<(u32, Neighbours)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        if self.next == self.collected.complete() {
            match self.read() {
                Ok(true) => {}
                end => {
                    self.ended = true;
                    return end.err().map(Err);
                }
            }
        }
        let place = self.next;
        self.next += 1;
        let vertex = self.collected.vertices[place];
        Some(Ok((vertex, Neighbours { collected: Arc::clone(&self.collected), place })))
    }
}

/// The memory of the loop becomes that of its last lists, as far as they are still in use.
impl Drop for ListLoop<'_> {
    fn drop(&mut self) {
        if let Some(Reading { _reservation: reservation, .. }) = self.reading.take()
            && Arc::strong_count(&self.collected) > 1
        {
            reservation.shrink(reservation.bytes().saturating_sub(self.collected.bytes()));
            reservation.rename(HANDED_OUT);
            _ = self.collected.reservation.set(reservation);
        }
    }
}

struct Collector<'a> {
    frontier: Frontier<'a>,
    collected: Collected,
}

impl ListVisitor for Collector<'_> {
    fn page(&mut self, _number: u64, lists: &Lists, weights: Weights<'_>) -> Result<()> {
        self.frontier.wanted(lists, |i| self.collected.push(list_at(lists, weights, i)));
        Ok(())
    }
}

/// The part of a list that one unit, or several adjacent ones, hold.
struct Piece {
    vertex: u32,
    units: Range<u64>,
    begins: bool,
    ends: bool,
    neighbours: ReservedVec<u32>,
    weights: ReservedVec<u64>,
    kind: WeightKind,
}

impl Piece {
    /// The beginning of a piece; its owner has reserved memory for its first `owned` entries.
    fn new(graph: &Graph, list: ListPart<'_>, owned: usize) -> Result<Self> {
        let budget = graph.runtime().budget();
        Ok(Piece {
            vertex: list.vertex,
            units: 0..0,
            begins: !list.begins_earlier,
            ends: false,
            neighbours: ReservedVec::beside(budget, PARTS, owned)?,
            weights: ReservedVec::beside(budget, PARTS, owned)?,
            kind: list.weights.kind(),
        })
    }

    /// The open piece with one more part of its list, or a new piece.
    fn with(graph: &Graph, open: &mut Option<Piece>, list: ListPart<'_>, owned: usize) -> Result<Self> {
        let mut piece = match open.take().filter(|_| list.begins_earlier) {
            Some(piece) => piece,
            None => Piece::new(graph, list, owned)?,
        };
        piece.neighbours.extend(list.neighbours.iter().copied())?;
        piece.weights.extend(list.weights.bits().iter().copied())?;
        piece.ends = !list.ends_later;
        Ok(piece)
    }

    /// The list that pieces make in their order. Each is freed once it is copied.
    fn joined(pieces: Vec<Piece>) -> Result<Option<Piece>> {
        let count = |len: fn(&Piece) -> usize| -> usize { pieces.iter().skip(1).map(len).sum() };
        let (neighbours, weights) = (count(|piece| piece.neighbours.len()), count(|piece| piece.weights.len()));
        let mut pieces = pieces.into_iter();
        let Some(mut whole) = pieces.next() else { return Ok(None) };
        whole.neighbours.make_room(neighbours)?;
        whole.weights.make_room(weights)?;
        for next in pieces {
            whole.neighbours.extend(next.neighbours.iter().copied())?;
            whole.weights.extend(next.weights.iter().copied())?;
            (whole.units.end, whole.ends) = (next.units.end, next.ends);
        }
        Ok(Some(whole))
    }

    fn list(&self) -> List<'_> {
        List { vertex: self.vertex, neighbours: &self.neighbours, weights: Weights::new(&self.weights, self.kind) }
    }
}

/// The parts of lists that span units, merged by the workers.
#[derive(Default)]
struct Joiner(Mutex<HashMap<u32, Vec<Piece>>>);

impl Joiner {
    /// Adds a piece; returns the list if it is complete now.
    fn join(&self, piece: Piece) -> Result<Option<Piece>> {
        let mut all = lock(&self.0);
        let vertex = piece.vertex;
        let pieces = all.entry(vertex).or_default();
        let place = pieces.partition_point(|other| other.units.start < piece.units.start);
        pieces.insert(place, piece);
        let joined = pieces.windows(2).all(|pair| pair[0].units.end == pair[1].units.start);
        if !(joined && pieces[0].begins && pieces[pieces.len() - 1].ends) {
            return Ok(None);
        }
        let pieces = all.remove(&vertex).unwrap_or_default();
        drop(all);
        Piece::joined(pieces)
    }
}

/// Visits the lists of a frontier on this worker, in the order of their vertices, each as a whole.
///
/// A list that spans pages takes memory until it is complete, which the caller has reserved.
pub(crate) fn visit_here(
    graph: &Graph,
    worker: &mut Worker,
    edges: Edges,
    frontier: Frontier<'_>,
    mut visit: impl FnMut(List<'_>) + Send,
) -> Result<SweepStats> {
    let mut open: Option<Piece> = None;
    let longest = graph.list_facts(edges.direction).max_degree as usize;
    let wanted = frontier.wanted_pages(graph, edges.direction);
    visit_parts_here(graph, worker, edges, wanted, frontier, |list| {
        if let Some(whole) = list.whole() {
            visit(whole);
            return Ok(());
        }
        let piece = Piece::with(graph, &mut open, list, longest)?;
        match piece.ends {
            true => visit(piece.list()),
            false => open = Some(piece),
        }
        Ok(())
    })
}

/// Visits the lists of a frontier on this worker as the selected pages hold them.
pub(crate) fn visit_parts_here(
    graph: &Graph,
    worker: &mut Worker,
    edges: Edges,
    wanted: Wanted<'_>,
    frontier: Frontier<'_>,
    visit: impl FnMut(ListPart<'_>) -> Result<()> + Send,
) -> Result<SweepStats> {
    let (swept, selection) = Swept::new(graph, edges, wanted)?;
    let sweep = swept.sweep(graph, selection, UNIT_PAGES as u32)?;
    let mut pass = Pass::default();
    let mut pages = ListPages::new(graph, &swept, PartVisitor { frontier, visit });
    while pages.step(&mut pass, &sweep, worker)? {}
    let mut stats = pass.stats;
    stats.add(sweep.prepared());
    Ok(stats)
}

struct PartVisitor<'a, V> {
    frontier: Frontier<'a>,
    visit: V,
}

impl<V: FnMut(ListPart<'_>) -> Result<()> + Send> ListVisitor for PartVisitor<'_, V> {
    #[inline]
    fn page(&mut self, _number: u64, lists: &Lists, weights: Weights<'_>) -> Result<()> {
        let mut outcome = Ok(());
        self.frontier.wanted(lists, |i| {
            if outcome.is_ok() {
                outcome = (self.visit)(list_at(lists, weights, i));
            }
        });
        outcome
    }
}

struct WholeVisitor<'a, S, V> {
    graph: &'a Graph,
    frontier: Frontier<'a>,
    state: S,
    visit: &'a V,
    joiner: &'a Joiner,
    /// The list that goes on in the unit's next page.
    open: Option<Piece>,
    /// The part that ended in the unit and began in an earlier one.
    ended: Vec<Piece>,
}

impl<S: Send, R: Outcome, V: Fn(&mut S, List<'_>) -> R + Sync> ListVisitor for WholeVisitor<'_, S, V> {
    fn page(&mut self, _number: u64, lists: &Lists, weights: Weights<'_>) -> Result<()> {
        let WholeVisitor { graph, frontier, state, visit, open, ended, .. } = self;
        let mut outcome = Ok(());
        frontier.wanted(lists, |i| {
            if outcome.is_err() {
                return;
            }
            let list = list_at(lists, weights, i);
            if let Some(whole) = list.whole() {
                outcome = visit(state, whole).outcome();
                return;
            }
            match Piece::with(graph, open, list, 0) {
                Err(error) => outcome = Err(error),
                Ok(piece) if piece.begins && piece.ends => outcome = visit(state, piece.list()).outcome(),
                Ok(piece) if piece.ends => ended.push(piece),
                Ok(piece) => *open = Some(piece),
            }
        });
        outcome
    }

    fn end_unit(&mut self, unit: u64) -> Result<()> {
        self.ended.extend(self.open.take());
        for mut piece in self.ended.drain(..) {
            piece.units = unit..unit + 1;
            if let Some(whole) = self.joiner.join(piece)? {
                (self.visit)(&mut self.state, whole.list()).outcome()?;
            }
        }
        Ok(())
    }
}
