//! Label propagation: communities, as the benchmark Graphalytics defines them (CDLP).
//!
//! *Idea.* Every vertex starts with its own id as its label. In every iteration all vertices at the same time take the
//! label that most of their neighbours have, the smallest of those if there are several. In a directed graph in- and
//! out-neighbours count, twice if they are both. A vertex without neighbours keeps its label.
//!
//! *Blocks.* A vertex needs the labels of both of its lists together. So vertices are processed in blocks of adjacent
//! ones whose labels fit a buffer. Sweeps over the lists of the block write the labels there; then every vertex finds
//! its most frequent label by counting, or by sorting if there are many.
//!
//! *Marks.* A vertex whose neighbours all have the labels of two iterations ago gets the label that it had one
//! iteration ago. So the lists of the vertices whose labels are not those of two iterations ago are read to mark their
//! neighbours, and only marked vertices are processed: labels that stay, or swap for ever, cost nothing. As long as too
//! many labels change for marks to pay, all vertices are processed.
//!
//! *Encoding.* A label is the rank of an id among all ids, so that the smaller label is the smaller id in an image of
//! any order; in the end it becomes the vertex of that id.
//!
//! *Cost.* At most one pass per iteration over the lists, in directed graphs over those of both directions, and less
//! than one more for marks that do not pay. 12 bytes and 2 bits per vertex: label, next label, degree, change and mark;
//! in images in degree order 4 more, for the vertices by id. And the buffer: 5 bytes for each of at least 2^16 labels,
//! or as many as the longest lists of a vertex have.
//!
//! Raghavan, Albert, Kumara, *Near linear time algorithm to detect community structures in large-scale networks*,
//! Physical Review E, 2007; Iosup et al., *LDBC Graphalytics*, VLDB 2016.

use crate::estimate::{Bound, Estimate, LEAST_LABELS, Reads, all_entries, degree_pages, least_labels};
use crate::kernels::core_number::count_edges;
use crate::state::{Layout, array, bitmap, part};
use crate::visit::{count_vertices, for_each_list, for_each_vertex};
use outcore_graph::{Bitmap, Frontier, Graph, ListPart};
use outcore_image::{Error, Result, Stats, StatsBuilder, SweepStats};
use outcore_io::buffer::prefetched;
use outcore_io::{Buffer, Unit, lock};
use outcore_table::ColumnKind;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// Options of label propagation.
#[derive(Clone, Copy, Debug)]
pub struct LabelPropagationOptions {
    /// The most iterations. Default: 10.
    pub max_iterations: u32,
}

impl Default for LabelPropagationOptions {
    fn default() -> Self {
        LabelPropagationOptions { max_iterations: 10 }
    }
}

/// Labels after the last iteration.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct LabelPropagation {
    /// Per vertex: the vertex whose id is its label.
    pub labels: Buffer<u32>,
    /// The number of different labels.
    pub count: u64,
    /// How many iterations were made.
    pub iterations: u32,
    /// Whether another iteration would change nothing.
    pub converged: bool,
    /// Statistics of the run.
    pub stats: Stats,
}

/// The capacity of the buffer if memory allows, in labels.
const USUAL_LABELS: u64 = 1 << 22;
/// A block has at most one vertex per this number of labels of the buffer, or of its least capacity.
const LABELS_PER_VERTEX: u64 = 4;
/// The number of first iterations that process all vertices, since there are no labels of two iterations ago.
const WHOLE_ITERATIONS: u32 = 2;
/// The greatest number of labels of a vertex that are counted in a table; more are sorted.
pub const COUNTED: usize = 1 << 15;

/// Vertices by id, labels, next labels, degrees, and the vertices that changed and that are marked.
type State = (Option<Buffer<u32>>, Buffer<AtomicU32>, Buffer<AtomicU32>, Buffer<AtomicU32>, (Bitmap, Bitmap));

fn state(graph: &Graph) -> impl Layout<Made = State> {
    let vertices = graph.vertices();
    let set = || bitmap(graph, "changed labels", vertices);
    (
        part(if graph.by_id_bytes() > 0 { 4 * vertices } else { 0 }, || graph.by_id()),
        array(graph, "labels", vertices),
        array(graph, "labels", vertices),
        array(graph, "degrees", vertices),
        (set(), set()),
    )
}

/// The estimate for propagating labels over this graph; passes are those of `max_iterations` iterations.
pub(crate) fn estimate(graph: &Graph, options: &LabelPropagationOptions) -> Estimate {
    let state = (state(graph), BlockLabels::layout(graph, least_labels(graph))).bytes();
    // Where two blocks meet, both read a page of each direction. Two blocks have more labels or vertices than one has
    // room for.
    let (entries, room) = (all_entries(graph), least_labels(graph));
    let borders = if entries > room { 2 * entries / room } else { 0 };
    let borders = borders + LABELS_PER_VERTEX * graph.vertices() / room.max(LEAST_LABELS);
    let again = (borders * graph.directions().len() as u64) as f64 / graph.all_pages().max(1) as f64;
    let marks = u32::from(options.max_iterations > WHOLE_ITERATIONS);
    let passes = f64::from(options.max_iterations) * (1.0 + again) + f64::from(marks);
    let (pages_per_pass, column_pages) = (graph.all_pages(), degree_pages(graph));
    let reads = Reads { passes, bound: Bound::AtMost, pages_per_pass, column_pages };
    // Vertices are put in the order of their ids before anything else is there.
    reads.estimate(graph, state.max(graph.by_id_bytes()), vec![ColumnKind::Label])
}

/// Propagates labels.
///
/// # Errors
/// Too little memory (12.3 bytes per vertex, 16.3 in degree order, and the buffer), a vertex of more than 2^32 - 1
/// edges, a page that cannot be read or is damaged, a request to stop.
pub fn label_propagation(graph: &Graph, options: &LabelPropagationOptions) -> Result<LabelPropagation> {
    let mut stats = StatsBuilder::of_image(graph.image());
    graph.make_room("label propagation", estimate(graph, options).state_bytes)?;
    let mut propagation = Propagation::new(graph, &mut stats)?;
    let mut buffer = BlockLabels::new(graph)?;
    graph.fill_cache()?;
    let task = graph.runtime().task("label propagation", Unit::Steps, Some(u64::from(options.max_iterations)));
    let (mut iterations, mut converged) = (0, graph.vertices() == 0);
    while iterations < options.max_iterations && !converged {
        let mut total = propagation.mark(iterations)?;
        let mut block = 0..0;
        while let Some(next) = propagation.next_block(block.end, &mut buffer) {
            block = next;
            total.add(&propagation.gather(&block, &buffer)?);
            propagation.settle(&block, &mut buffer)?;
        }
        let changed = propagation.advance()?;
        stats.step("iteration", changed, total);
        task.advance(1);
        iterations += 1;
        converged = changed == 0;
    }
    let count = propagation.finish()?;
    let stats = stats.finish(graph.runtime(), graph.all_pages());
    Ok(LabelPropagation { labels: propagation.labels.into_values(), count, iterations, converged, stats })
}

/// Labels before and after an iteration.
struct Propagation<'a> {
    graph: &'a Graph,
    /// The vertices in the order of their ids, if their numbers are not.
    by_id: Option<Buffer<u32>>,
    labels: Buffer<AtomicU32>,
    /// The next labels of processed vertices; the labels of one iteration ago of the others.
    next: Buffer<AtomicU32>,
    degrees: Buffer<AtomicU32>,
    /// The vertices whose labels are not those of two iterations ago.
    changed: Bitmap,
    /// The vertices to process.
    marked: Bitmap,
    /// Whether all vertices are marked.
    whole: bool,
    /// The greatest number of pages of the lists of changed vertices for which marks pay.
    most_pages: u64,
}

/// Adjacent vertices, of which the marked ones are processed.
type Block = Range<u32>;

impl<'a> Propagation<'a> {
    /// Before the first iteration: every vertex has its own label.
    fn new(graph: &'a Graph, stats: &mut StatsBuilder) -> Result<Self> {
        let (by_id, labels, next, degrees, (changed, marked)) = state(graph).make()?;
        for_each_vertex(graph, |rank| {
            let vertex = by_id.as_ref().map_or(rank, |by_id| by_id[rank as usize]);
            labels[vertex as usize].store(rank, Ordering::Relaxed);
        })?;
        count_edges(graph, &degrees, stats)?;
        let most_pages = graph.all_pages() / 2;
        Ok(Propagation { graph, by_id, labels, next, degrees, changed, marked, whole: true, most_pages })
    }

    /// Marks the vertices to process after `iterations` iterations: the neighbours of changed ones if that is likely to
    /// pay, or else all.
    fn mark(&mut self, iterations: u32) -> Result<SweepStats> {
        let pages = |set: &Bitmap| {
            let directions = self.graph.directions().iter();
            directions.map(|&direction| Frontier::Set(set).pages(self.graph, direction)).sum::<u64>()
        };
        let changed_pages = pages(&self.changed);
        let mut total = SweepStats::default();
        self.whole = iterations < WHOLE_ITERATIONS || changed_pages > self.most_pages;
        if self.whole {
            self.marked.insert_all(self.graph.vertices());
        } else {
            self.marked.clear();
            for &direction in self.graph.directions() {
                let sweep = for_each_list(self.graph, direction, Frontier::Set(&self.changed), |list| {
                    list.neighbours.iter().for_each(|&neighbour| _ = self.marked.insert(neighbour));
                })?;
                total.add(&sweep);
            }
            if changed_pages + pages(&self.marked) > self.graph.all_pages() {
                // Halved every time, so marks that do not pay cost less than one pass in all.
                self.most_pages = changed_pages / 2;
            }
        }
        self.changed.clear();
        Ok(total)
    }

    fn marked_in(&self, block: &Block) -> impl Iterator<Item = u32> {
        let words = Bitmap::words_of(&(block.start as usize / 64 * 64..block.end as usize));
        self.marked.iter(words).filter(|vertex| block.contains(vertex))
    }

    /// The next block of marked vertices whose labels fit the buffer, where each of them gets its place.
    fn next_block(&self, from: u32, buffer: &mut BlockLabels) -> Option<Block> {
        let rest = from..self.graph.vertices() as u32;
        let first = self.marked_in(&rest).next()?;
        let most = rest.end.min(first.saturating_add(buffer.ends.len() as u32));
        let mut labels = 0;
        for v in self.marked_in(&(first..most)) {
            let degree = self.degrees[v as usize].load(Ordering::Relaxed);
            if labels as usize + degree as usize > buffer.labels.len() {
                return Some(first..v);
            }
            *buffer.ends[(v - first) as usize].get_mut() = labels;
            labels += degree;
        }
        Some(first..most)
    }

    /// Puts the labels of the neighbours of a block's vertices into the buffer.
    fn gather(&self, block: &Block, buffer: &BlockLabels) -> Result<SweepStats> {
        let put = |list: ListPart<'_>| {
            let count = list.neighbours.len();
            let start = buffer.ends[(list.vertex - block.start) as usize].fetch_add(count as u32, Ordering::Relaxed);
            // Labels without a place are noticed when the ends are compared with the degrees.
            let slots = buffer.labels.get(start as usize..start as usize + count).unwrap_or_default();
            for (slot, neighbour) in slots.iter().zip(prefetched(&self.labels, list.neighbours)) {
                slot.store(self.labels[neighbour as usize].load(Ordering::Relaxed), Ordering::Relaxed);
            }
        };
        let mut total = SweepStats::default();
        let Range { start: first, end } = *block;
        let frontier = match self.whole {
            true => Frontier::Range { first, end },
            false => Frontier::Part { set: &self.marked, first, end },
        };
        for &direction in self.graph.directions() {
            total.add(&for_each_list(self.graph, direction, frontier, put)?);
        }
        let mut expected = 0;
        for v in self.marked_in(block) {
            let degree = self.degrees[v as usize].load(Ordering::Relaxed);
            expected += degree;
            let end = buffer.ends[(v - first) as usize].load(Ordering::Relaxed);
            if end != expected {
                let expected = format!("{degree} neighbours of vertex {v}, as its degrees say");
                return Err(Error::damaged(self.graph.path(), 0, expected, "lists of another length"));
            }
        }
        Ok(total)
    }

    /// Gives the marked vertices of a block their next labels.
    fn settle(&self, block: &Block, buffer: &mut BlockLabels) -> Result<()> {
        let runtime = self.graph.runtime();
        let BlockLabels { labels, ends, counters } = buffer;
        let pieces = Mutex::new(self.pieces(block, labels, ends).into_iter());
        runtime.run(|worker| -> Result<()> {
            let mut counter = lock(&counters[worker]);
            loop {
                let piece = lock(&pieces).next();
                let Some((vertices, mut labels)) = piece else { return Ok(()) };
                runtime.cancel().check()?;
                for v in self.marked_in(&vertices) {
                    let (own, rest) = labels.split_at_mut(self.degrees[v as usize].load(Ordering::Relaxed) as usize);
                    labels = rest;
                    let before = self.labels[v as usize].load(Ordering::Relaxed);
                    let label = most_frequent(own, &mut counter).unwrap_or(before);
                    if self.next[v as usize].load(Ordering::Relaxed) != label {
                        self.next[v as usize].store(label, Ordering::Relaxed);
                        self.changed.insert(v);
                    }
                }
            }
        })?;
        Ok(())
    }

    /// Cuts a block and its labels into pieces for the workers.
    fn pieces<'b>(
        &self,
        block: &Block,
        mut labels: &'b mut [AtomicU32],
        ends: &[AtomicU32],
    ) -> Vec<(Block, &'b mut [AtomicU32])> {
        let (mut pieces, mut first, mut start, mut last) = (Vec::new(), block.start, 0, 0);
        for v in self.marked_in(block) {
            last = ends[(v - block.start) as usize].load(Ordering::Relaxed) as usize;
            if last - start >= PIECE || (v - first) as usize >= PIECE {
                let (piece, rest) = labels.split_at_mut(last - start);
                pieces.push((first..v + 1, piece));
                (labels, first, start) = (rest, v + 1, last);
            }
        }
        pieces.push((first..block.end, &mut labels[..last - start]));
        pieces
    }

    /// Makes the next labels the labels; returns how many changed.
    fn advance(&mut self) -> Result<u64> {
        std::mem::swap(&mut self.labels, &mut self.next);
        let label = |labels: &[AtomicU32], v: u32| labels[v as usize].load(Ordering::Relaxed);
        count_vertices(self.graph, |v| label(&self.labels, v) != label(&self.next, v))
    }

    /// Turns labels into the vertices of their ids; returns how many there are.
    fn finish(&self) -> Result<u64> {
        let seen = &self.marked;
        seen.clear();
        count_vertices(self.graph, |v| {
            let slot = &self.labels[v as usize];
            let rank = slot.load(Ordering::Relaxed);
            slot.store(self.by_id.as_ref().map_or(rank, |by_id| by_id[rank as usize]), Ordering::Relaxed);
            seen.insert(rank)
        })
    }
}

/// The labels of the neighbours of a block's vertices.
struct BlockLabels {
    labels: Buffer<AtomicU32>,
    /// Where the labels of every vertex of the block end.
    ends: Buffer<AtomicU32>,
    counters: Vec<Mutex<Counter>>,
}

/// Labels, and how often each was seen: 0 times where there is none.
pub type Counter = Buffer<[u32; 2]>;

impl BlockLabels {
    /// A buffer of the usual capacity if there is memory for it, else of the least.
    fn new(graph: &Graph) -> Result<Self> {
        let least = least_labels(graph);
        let usual = Self::layout(graph, USUAL_LABELS.min(all_entries(graph)).max(least));
        let fits = 2 * usual.bytes() <= graph.runtime().budget().available_bytes();
        let buffer = if fits { usual } else { Self::layout(graph, least) };
        graph.make_room("labels of neighbours", buffer.bytes())?;
        buffer.make()
    }

    /// A buffer with room for `labels` labels, and for the vertices of a block.
    fn layout(graph: &Graph, labels: u64) -> impl Layout<Made = Self> {
        let counter =
            |_| array(graph, "counters of labels", 2 * COUNTED as u64).then(|counter| Ok(Mutex::new(counter)));
        let parts = (
            array(graph, "labels of neighbours", labels),
            array(graph, "ends of labels", labels.max(LEAST_LABELS) / LABELS_PER_VERTEX),
            (0..graph.runtime().threads()).map(counter).collect::<Vec<_>>(),
        );
        parts.then(|(labels, ends, counters)| Ok(BlockLabels { labels, ends, counters }))
    }
}

/// The least size of a piece of a block for one worker, in labels or vertices.
const PIECE: usize = 1 << 14;

/// The most frequent of labels, the smallest of those if there are several.
fn most_frequent(labels: &mut [AtomicU32], counter: &mut Counter) -> Option<u32> {
    match labels.len() {
        0 | 1 => labels.first_mut().map(|label| *label.get_mut()),
        2..=COUNTED => Some(by_counting(labels, counter)),
        _ => by_sorting(labels),
    }
}

/// Finds the most frequent label, the smallest of those if there are several, in a table of at least twice as many
/// places as labels, which is empty before and after.
pub fn by_counting(labels: &mut [AtomicU32], counter: &mut Counter) -> u32 {
    let size = (2 * labels.len()).next_power_of_two();
    let table = &mut counter[..size];
    let (mut best, mut most) = (u32::MAX, 0);
    for label in labels.iter_mut().map(|label| *label.get_mut()) {
        // Fibonacci hashing: the high bits of the product are well mixed.
        let mut place = (label.wrapping_mul(0x9e37_79b1) >> (32 - size.trailing_zeros())) as usize;
        while table[place][1] != 0 && table[place][0] != label {
            place = (place + 1) & (size - 1);
        }
        let seen = table[place][1] + 1;
        table[place] = [label, seen];
        if seen > most || seen == most && label < best {
            (best, most) = (label, seen);
        }
    }
    table.fill([0; 2]);
    best
}

/// Sorts labels to find the most frequent, the smallest of those if there are several; `None` if there are no labels.
pub fn by_sorting(labels: &mut [AtomicU32]) -> Option<u32> {
    labels.sort_unstable_by_key(|label| label.load(Ordering::Relaxed));
    let runs = labels.chunk_by(|a, b| a.load(Ordering::Relaxed) == b.load(Ordering::Relaxed));
    // The last of the longest in falling order.
    let longest = runs.rev().max_by_key(|run| run.len())?;
    Some(longest[0].load(Ordering::Relaxed))
}
