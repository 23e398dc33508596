//! Triangles, counted at their corners: the computation of `triangles`, `clustering` and `lcc`.
//!
//! *Idea.* Put the vertices in an order, those of great degree first. A triangle has a first corner, a middle one and a
//! last one. The neighbours before a vertex are few, even where there are hubs: at most sqrt(2 E). A *block* holds them
//! in memory for as many adjacent vertices as the limit allows. For every vertex as the middle corner, those before it
//! are marked in a bitmap; for each neighbour of the block that comes after it, the list in the block is looked up in
//! the marks: every hit is a triangle. So a list is gone over once for every pair of its vertices, which is the least
//! for any order of loops: on a Kronecker graph of scale 20 a third of the look-ups are hits, where intersecting the
//! lists of the ends of every edge takes four times as many look-ups. (Schank and Wagner, *Finding, counting and
//! listing all triangles in large graphs*, WEA 2005, which orders by degree; Latapy, *Main-memory triangle computations
//! for very large (sparse (power-law)) graphs*, TCS 2008; blocks in memory as in Hu, Tao, Chung, *Massive graph
//! triangulation*, SIGMOD 2013.)
//!
//! *Order.* In images in degree order it is that of the vertices' numbers, so look-ups end at the middle corner. In
//! other images degrees are in memory, and ties go to the smaller number.
//!
//! *Counting.* Middle and last corner are counted per list. In degree order most first corners are of the smallest
//! numbers: each worker counts these for itself, others are counted in the shared array. Counts are integers, so
//! the order of additions does not matter.
//!
//! *Cost.* One pass to make the blocks, and one per block, in images of degree order only over the vertices up to the
//! block's end; no second pass if the lists fit memory as a whole. 12 bytes per vertex, 4 more for degrees where they
//! are needed, 8 more for the numbers of pairs where they are needed; per worker an eighth of a byte per vertex and
//! 5 bytes per neighbour of the largest neighbourhood; in the block 4 bytes per edge, 5 where it matters which edges go
//! both ways.

use crate::estimate::{Bound, Estimate, Reads, all_entries, degree_pages, longest_lists};
use crate::kernels::core_number::count_edges;
use crate::kernels::triads::block::{Block, HUBS, Lookup, Share, lists};
use crate::kernels::triads::neighbourhoods::{Neighbourhoods, Neighbours};
use crate::state::{Layout, array};
use outcore_format::Order;
use outcore_graph::Graph;
use outcore_image::{Error, Result, Stats, StatsBuilder, SweepStats};
use outcore_io::buffer::prefetch;
use outcore_io::{AtomicF64, Buffer, Task, Unit, lock};
use outcore_table::ColumnKind;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bounds of the entries of a chunk: some dozens of pages, or all lists if they have fewer.
const CHUNK_ENTRIES: u64 = 4 << 20;
const LEAST_CHUNK_ENTRIES: u64 = 1 << 16;
/// A block ends where its entries can no longer be numbered.
const BLOCK_ENTRIES: u64 = u32::MAX as u64;
/// The distance of prefetching, in lists.
const AHEAD: usize = 16;
/// Workers process the vertices of a chunk in `PORTIONS` portions, of at most `PORTION_VERTICES` vertices.
const PORTIONS: u64 = 4096;
const PORTION_VERTICES: u64 = 1024;

/// The greatest sum of a vertex's shares, given the number of its neighbours and of those joined both ways.
pub(crate) type Possible = fn(neighbours: u64, both: u64) -> f64;

pub(crate) struct Triads {
    /// Per vertex: the sum of its shares.
    pub closed: Buffer<AtomicU64>,
    /// Per vertex: how many there could be; empty unless requested.
    pub possible: Buffer<AtomicF64>,
    pub stats: Stats,
}

/// Degrees, if the order needs them; the state of the workers, triangles per vertex, how many there could be, if
/// requested, and where lists begin.
type State = (Buffer<AtomicU32>, Vec<Mutex<Worker>>, Buffer<AtomicU64>, Buffer<AtomicF64>, Buffer<AtomicU32>);

/// The state, whatever the size of chunks and blocks.
fn state(graph: &Graph, both: bool, possible: bool) -> impl Layout<Made = State> {
    let vertices = graph.vertices();
    (
        array(graph, "degrees", if graph.manifest().order == Order::Degree { 0 } else { vertices }),
        (0..graph.runtime().threads()).map(|_| Worker::layout(graph, both)).collect::<Vec<_>>(),
        array(graph, "triangles", vertices),
        array(graph, "possible triangles", if possible { vertices } else { 0 }),
        array(graph, "where lists begin", vertices + 1),
    )
}

struct Needs {
    /// The state, whatever the size of chunks and blocks.
    fixed_bytes: u64,
    /// An entry of a block.
    entry_bytes: u64,
    /// The least that chunks and blocks have room for.
    least_entries: u64,
}

impl Needs {
    fn new(graph: &Graph, both: bool, possible: bool) -> Self {
        Needs {
            fixed_bytes: state(graph, both, possible).bytes() + Neighbourhoods::split_bytes(graph),
            entry_bytes: lists(graph, both, 1).bytes(),
            least_entries: longest_lists(graph).max(all_entries(graph).min(LEAST_CHUNK_ENTRIES)).max(1),
        }
    }

    fn least_bytes(&self, graph: &Graph) -> u64 {
        self.fixed_bytes + Neighbourhoods::bytes(graph, self.least_entries) + self.entry_bytes * self.least_entries
    }

    fn most_bytes(&self, graph: &Graph) -> u64 {
        let chunk = Neighbourhoods::bytes(graph, CHUNK_ENTRIES.max(self.least_entries));
        self.fixed_bytes + chunk + self.entry_bytes * graph.edges().min(BLOCK_ENTRIES).max(self.least_entries)
    }

    /// The entries of a chunk, which takes at most an eighth of the memory beside the fixed part.
    fn chunk_entries(&self, graph: &Graph, available_bytes: u64) -> u64 {
        let most = available_bytes / 8 / Neighbourhoods::bytes(graph, 1);
        most.min(CHUNK_ENTRIES).max(self.least_entries)
    }

    /// The entries of a block: all edges, or as many as fit the memory beside the chunk.
    fn block_entries(&self, graph: &Graph, available_bytes: u64) -> u64 {
        (available_bytes / self.entry_bytes).min(graph.edges()).min(BLOCK_ENTRIES)
    }
}

/// The estimate for counting with shares, which depend on edges that go `both` ways or not; the passes are what the
/// limit leaves room for.
pub(crate) fn estimate(graph: &Graph, both: bool, possible: bool) -> Estimate {
    let (state_bytes, reads) = cost(graph, both, possible);
    reads.estimate(graph, state_bytes, vec![if possible { ColumnKind::Real } else { ColumnKind::Count }])
}

/// The memory of counting with shares, in bytes, and its reads.
pub(crate) fn cost(graph: &Graph, both: bool, possible: bool) -> (u64, Reads) {
    let needs = Needs::new(graph, both, possible);
    let least = needs.least_bytes(graph);
    let available = graph.runtime().budget().available_bytes();
    let available = available.max(least) - needs.fixed_bytes;
    let chunk = needs.chunk_entries(graph, available);
    let block = needs.block_entries(graph, available - Neighbourhoods::bytes(graph, chunk)).max(1);
    let edges = graph.edges();
    // A block ends before a chunk that does not fit, so less than a chunk of it is unused, and two blocks have more
    // entries than one has room for.
    let blocks = match block.checked_sub(chunk) {
        _ if block >= edges => 1,
        Some(filled @ 1..) => edges.div_ceil(filled).min(2 * edges / block + 1),
        _ => 2 * edges / block + 1,
    };
    // The chunk that did not fit is read again, and so is the page on which two chunks border; two chunks have more
    // than one holds.
    let again = (blocks - 1) as f64 * chunk as f64 / all_entries(graph).max(1) as f64;
    let pages_per_pass = graph.all_pages();
    let borders = Neighbourhoods::most_cuts(graph, chunk) * graph.directions().len() as u64;
    let passes = ((1 + blocks) as f64 + again) * (1.0 + borders as f64 / pages_per_pass.max(1) as f64);
    (least, Reads { passes, bound: Bound::AtMost, pages_per_pass, column_pages: 2 * degree_pages(graph) })
}

/// Counts the shares of every vertex, and, if requested, how many there could be.
pub(crate) fn count<S: Share>(graph: &Graph, name: &'static str, possible: Option<Possible>) -> Result<Triads> {
    let needs = Needs::new(graph, S::BOTH, possible.is_some());
    // Room for everything if there is, which may take the page cache.
    graph.make_room(name, needs.most_bytes(graph)).or_else(|_| graph.make_room(name, needs.least_bytes(graph)))?;
    let mut counting = Counting::<S>::new(graph, name, &needs, possible)?;
    let mut chunk = 0;
    while chunk < counting.neighbourhoods.chunks() {
        chunk = counting.fill(chunk)?;
        counting.close()?;
    }
    for worker in &counting.workers {
        let worker = lock(worker);
        for (count, hub) in counting.closed.iter().zip(worker.hubs.iter()) {
            count.fetch_add(*hub, Ordering::Relaxed);
        }
    }
    let Counting { closed, possible, stats, .. } = counting;
    Ok(Triads { closed, possible, stats: stats.finish(graph.runtime(), graph.all_pages()) })
}

enum Rank {
    /// Vertices of smaller numbers.
    Number,
    /// Vertices of greater degree, and of equal ones those of smaller numbers.
    Degree(Buffer<AtomicU32>),
}

impl Rank {
    #[inline(always)]
    fn is_before(&self, one: u32, other: u32) -> bool {
        match self {
            Rank::Number => one < other,
            Rank::Degree(degrees) => {
                let degree = |vertex: u32| degrees[vertex as usize].load(Ordering::Relaxed);
                let (a, b) = (degree(one), degree(other));
                a > b || a == b && one < other
            }
        }
    }
}

struct Worker {
    neighbours: Neighbours,
    /// A bit for every vertex before the middle corner, and for those of them that are joined with it both ways.
    marks: Buffer<u64>,
    marks_both: Buffer<u64>,
    /// The shares of the first vertices.
    hubs: Buffer<u64>,
}

impl Worker {
    fn layout(graph: &Graph, both: bool) -> impl Layout<Made = Mutex<Self>> {
        let words = graph.vertices().max(HUBS as u64).div_ceil(64);
        let marks = |wanted| array(graph, "marks", if wanted { words } else { 0 });
        let parts = (Neighbours::layout(graph), marks(true), marks(both), array(graph, "hubs", HUBS as u64));
        parts.then(|(neighbours, marks, marks_both, hubs)| {
            Ok(Mutex::new(Worker { neighbours, marks, marks_both, hubs }))
        })
    }
}

struct Counting<'g, S> {
    graph: &'g Graph,
    rank: Rank,
    neighbourhoods: Neighbourhoods<'g>,
    block: Block,
    workers: Vec<Mutex<Worker>>,
    closed: Buffer<AtomicU64>,
    possible: Buffer<AtomicF64>,
    possible_of: Option<Possible>,
    stats: StatsBuilder,
    task: Task,
    share: PhantomData<S>,
}

impl<'g, S: Share> Counting<'g, S> {
    /// Allocates all state; the block gets the memory that there is, up to that of all edges.
    fn new(graph: &'g Graph, name: &'static str, needs: &Needs, possible_of: Option<Possible>) -> Result<Self> {
        let mut stats = StatsBuilder::of_image(graph.image());
        let budget = graph.runtime().budget();
        let chunk_entries = needs.chunk_entries(graph, budget.available_bytes().saturating_sub(needs.fixed_bytes));
        let neighbourhoods = Neighbourhoods::new(graph, chunk_entries, &mut stats)?;
        let (degrees, workers, closed, possible, starts) = state(graph, S::BOTH, possible_of.is_some()).make()?;
        let rank = match graph.manifest().order {
            Order::Degree => Rank::Number,
            Order::Input | Order::Near => {
                count_edges(graph, &degrees, &mut stats)?;
                Rank::Degree(degrees)
            }
        };
        let (entries, both) = lists(graph, S::BOTH, needs.block_entries(graph, budget.available_bytes())).make()?;
        let block = Block { vertices: 0..0, starts, entries, both };
        graph.fill_cache()?;
        let task = graph.runtime().task(name, Unit::Vertices, None);
        let share = PhantomData;
        Ok(Counting { graph, rank, neighbourhoods, block, workers, closed, possible, possible_of, stats, task, share })
    }

    /// Fills the block with a chunk and as many after it as fit; returns the first that does not.
    fn fill(&mut self, first: usize) -> Result<usize> {
        let (mut sweep, mut used, mut chunk, mut wanted) = (SweepStats::default(), 0, first, 0);
        while chunk < self.neighbourhoods.chunks() {
            sweep.add(&self.neighbourhoods.load(chunk)?);
            let vertices = self.neighbourhoods.range(chunk);
            self.measure(vertices.clone())?;
            let mut end = used;
            for start in &self.block.starts[vertices.start as usize..vertices.end as usize] {
                let len = start.swap(end as u32, Ordering::Relaxed);
                end += u64::from(len);
            }
            if end > self.block.entries.len() as u64 {
                wanted = end;
                break;
            }
            self.block.starts[vertices.end as usize].store(end as u32, Ordering::Relaxed);
            self.task.advance(vertices.len() as u64);
            self.copy(vertices)?;
            (used, chunk) = (end, chunk + 1);
        }
        if chunk == first {
            let graph = self.neighbourhoods.graph;
            if wanted <= self.neighbourhoods.entries(chunk) {
                // Another operation took memory after this one had made sure of it.
                let available_bytes = 4 * self.block.entries.len() as u64;
                return Err(graph.runtime().budget().refusal("lists", 4 * wanted, available_bytes));
            }
            let (image, vertices) = (graph.path().display(), self.neighbourhoods.range(chunk));
            let entries = self.neighbourhoods.entries(chunk);
            let text = format!(
                "expected {entries} entries in the lists of the vertices {vertices:?}, as their degrees say, found \
                 {wanted} in {image}; run `outcore check` on it"
            );
            return Err(Error::Unsuitable(text));
        }
        self.block.vertices = self.neighbourhoods.range(first).start..self.neighbourhoods.range(chunk - 1).end;
        self.stats.step("block", self.block.vertices.len() as u64, sweep);
        Ok(chunk)
    }

    /// Counts the neighbours before every vertex, where there is more than one, and the possible shares.
    fn measure(&self, vertices: Range<u32>) -> Result<()> {
        self.on_all(vertices, |worker, vertex| {
            self.neighbourhoods.of(vertex, &mut worker.neighbours);
            let Neighbours { vertices, both, .. } = &worker.neighbours;
            let before = vertices.iter().filter(|&&other| self.rank.is_before(other, vertex)).count();
            self.block.starts[vertex as usize].store(if before > 1 { before as u32 } else { 0 }, Ordering::Relaxed);
            if let Some(possible) = self.possible_of {
                let both = both.iter().map(|&both| u64::from(both)).sum();
                self.possible[vertex as usize].store(possible(vertices.len() as u64, both));
            }
        })
    }

    /// Copies the neighbours before every vertex into the block.
    fn copy(&self, vertices: Range<u32>) -> Result<()> {
        self.on_all(vertices, |worker, vertex| {
            let places = self.block.list(vertex);
            if places.is_empty() {
                return;
            }
            self.neighbourhoods.of(vertex, &mut worker.neighbours);
            let Neighbours { vertices, both, .. } = &worker.neighbours;
            let before = vertices.iter().zip(both).filter(|&(&other, _)| self.rank.is_before(other, vertex));
            for (place, (&other, &both)) in places.zip(before) {
                self.block.entries[place].store(other, Ordering::Relaxed);
                if S::BOTH {
                    self.block.both[place].store(both, Ordering::Relaxed);
                }
            }
        })
    }

    /// Finds the triangles whose last corner is in the block.
    fn close(&mut self) -> Result<()> {
        // By number, middle corners are before the block's end. The chunk that is in memory comes first.
        let end = if matches!(self.rank, Rank::Number) { self.block.vertices.end } else { u32::MAX };
        let chunks = (0..self.neighbourhoods.chunks()).rev();
        let chunks: Vec<usize> = chunks.filter(|&chunk| self.neighbourhoods.range(chunk).start < end).collect();
        let (mut sweep, mut visited) = (SweepStats::default(), 0);
        for chunk in chunks {
            sweep.add(&self.neighbourhoods.load(chunk)?);
            let vertices = self.neighbourhoods.range(chunk);
            visited += vertices.len() as u64;
            self.on_all(vertices, |worker, middle| {
                self.neighbourhoods.of(middle, &mut worker.neighbours);
                self.close_at(worker, middle);
            })?;
            self.task.advance(self.neighbourhoods.range(chunk).len() as u64);
        }
        self.stats.step("triangles", visited, sweep);
        Ok(())
    }

    /// Finds the triangles with this middle corner, whose neighbours the worker has.
    fn close_at(&self, worker: &mut Worker, middle: u32) {
        let Worker { neighbours: Neighbours { vertices, both, .. }, marks, marks_both, hubs } = worker;
        let from = vertices.partition_point(|&other| other < self.block.vertices.start);
        let to = vertices.partition_point(|&other| other < self.block.vertices.end);
        let is_first = |other: u32| self.rank.is_before(other, middle);
        if from == to || !vertices.iter().any(|&other| is_first(other)) {
            return;
        }
        for (&first, &both) in vertices.iter().zip(&*both).filter(|&(&other, _)| is_first(other)) {
            marks[first as usize / 64] |= 1 << (first % 64);
            if S::BOTH {
                marks_both[first as usize / 64] |= u64::from(both) << (first % 64);
            }
        }
        let end = if matches!(self.rank, Rank::Number) { middle } else { u32::MAX };
        let hubs = hubs.first_chunk_mut().expect("every hub is counted");
        let (block, closed, kind) = (&self.block, &self.closed, PhantomData::<S>);
        let mut lookup = Lookup { block, closed, marks, marks_both, hubs, end, share: 0, kind };
        for place in from..to {
            if let Some(&ahead) = vertices.get(place + 2 * AHEAD) {
                prefetch(&self.block.starts, ahead as usize);
            }
            if let Some(&ahead) = vertices[..to].get(place + AHEAD) {
                let start = self.block.starts[ahead as usize].load(Ordering::Relaxed) as usize;
                prefetch(&self.block.entries, start);
                (1..4).for_each(|line| prefetch(&self.block.entries, start + 16 * line));
                prefetch(&self.closed, ahead as usize);
            }
            if !is_first(vertices[place]) {
                lookup.look(vertices[place], 1 + u64::from(both[place]));
            }
        }
        let share = lookup.share;
        if share > 0 {
            self.closed[middle as usize].fetch_add(share, Ordering::Relaxed);
        }
        for &first in vertices.iter().filter(|&&other| is_first(other)) {
            marks[first as usize / 64] = 0;
            if S::BOTH {
                marks_both[first as usize / 64] = 0;
            }
        }
    }

    /// Calls `work` for every vertex of a range, on all workers, with the worker's state.
    fn on_all(&self, vertices: Range<u32>, work: impl Fn(&mut Worker, u32) + Sync) -> Result<()> {
        let runtime = self.graph.runtime();
        let step = (vertices.len() as u64 / PORTIONS).clamp(1, PORTION_VERTICES);
        let next = AtomicU64::new(u64::from(vertices.start));
        runtime.run_on::<(), Error>((vertices.len() as u64).div_ceil(step) as usize, |number| {
            let mut worker = lock(&self.workers[number]);
            loop {
                let start = next.fetch_add(step, Ordering::Relaxed);
                if start >= u64::from(vertices.end) {
                    return Ok(());
                }
                runtime.cancel().check()?;
                let end = (start + step).min(u64::from(vertices.end));
                (start as u32..end as u32).for_each(|vertex| work(&mut worker, vertex));
            }
        })?;
        Ok(())
    }
}
