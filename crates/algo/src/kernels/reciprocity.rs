//! Reciprocity: of a vertex's neighbours, how many edges lead to that also lead back.
//!
//! *Idea.* A chunk of vertices at a time has its lists of both directions in memory (`triads/neighbourhoods.rs`), where
//! they are merged. An edge from a vertex to itself leads back, and is noted in a pass before, where there may be some.
//!
//! *Encoding.* `reciprocities[v]` is the complement of the bits of a real number from 0 to 1 (`stored.rs`); 0 is none,
//! for vertices without edges.
//!
//! *Cost.* 8 bytes and a bit per vertex; the lists of a chunk, at 8 bytes per entry, and per thread 5 bytes per
//! neighbour of the largest neighbourhood. One pass over the lists of both directions, and one for edges from a vertex
//! to itself. In graphs without directions, where every edge leads back, the degree column only.
//!
//! Garlaschelli, Loffredo, *Patterns of link reciprocity in directed networks*, Physical Review Letters 93, 2004.

use crate::estimate::{Bound, Estimate, Reads, all_entries, degree_pages, longest_lists};
use crate::kernels::triads::neighbourhoods::{Neighbourhoods, Neighbours};
use crate::state::{Layout, bitmap, degrees};
use crate::stored::Stored;
use crate::visit::{for_each_list, may_have_loops};
use outcore_graph::{Bitmap, Direction, Frontier, Graph};
use outcore_image::{Error, Result, Stats, StatsBuilder};
use outcore_io::{Buffer, lock};
use outcore_table::{ColumnKind, distance_bits};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// Options of reciprocity: there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReciprocityOptions {}

/// The reciprocity of every vertex, and of the graph.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Reciprocity {
    /// Per vertex: the complement of its reciprocity's bits; 0 if it has no edges.
    pub(crate) reciprocities: Buffer<u64>,
    /// The share of all edges that have an opposite one, those from a vertex to itself left out above the line; not a
    /// number if there are no edges.
    pub overall: f64,
    /// Statistics of the run.
    pub stats: Stats,
}

impl Reciprocity {
    /// The reciprocity of a vertex, if there is such a vertex and it has edges.
    pub fn reciprocity(&self, vertex: u32) -> Option<f64> {
        distance_bits(*self.reciprocities.get(vertex as usize)?).map(f64::from_bits)
    }

    /// The reciprocity of every vertex, in the order of vertices; none where a vertex has no edges.
    pub fn reciprocities(&self) -> impl ExactSizeIterator<Item = Option<f64>> {
        self.reciprocities.iter().map(|&stored| distance_bits(stored).map(f64::from_bits))
    }

    /// Reciprocities as they are stored, for tests that change them.
    #[doc(hidden)]
    pub fn stored(&mut self) -> &mut [u64] {
        &mut self.reciprocities
    }
}

/// Entries that a chunk has room for, or more if the longest lists have more.
const CHUNK_ENTRIES: u64 = 1 << 20;
/// Number of vertices that a worker takes at a time.
const STEP: usize = 1 << 12;

fn entries(graph: &Graph) -> u64 {
    longest_lists(graph).max(CHUNK_ENTRIES.min(all_entries(graph)))
}

/// The result, and the vertices with an edge to themselves.
fn state(graph: &Graph) -> impl Layout<Made = (Stored<AtomicU64>, Bitmap)> {
    let vertices = graph.vertices();
    (Stored::<AtomicU64>::layout(graph, "reciprocities"), bitmap(graph, "edges from a vertex to itself", vertices))
}

/// Memory of looking at chunks, in bytes: their lists; and degrees while chunks are cut, or later the workers' state,
/// whichever is more.
fn chunk_bytes(graph: &Graph) -> u64 {
    let degrees: u64 = graph.directions().iter().map(|&direction| degrees(graph, direction).bytes()).sum();
    let workers = graph.runtime().threads() as u64 * Neighbours::layout(graph).bytes();
    Neighbourhoods::bytes(graph, entries(graph)) + Neighbourhoods::split_bytes(graph) + degrees.max(workers)
}

pub(crate) fn estimate(graph: &Graph) -> Estimate {
    let room = entries(graph).max(1);
    // Where two chunks meet, both read a page of each direction.
    let chunks = Neighbourhoods::most_cuts(graph, room) + 2;
    let borders = 2.0 * chunks as f64 / graph.all_pages().max(1) as f64;
    let (passes, chunk_bytes) = if graph.is_directed() { (2.0 + borders, chunk_bytes(graph)) } else { (0.0, 0) };
    let (pages_per_pass, column_pages) = (graph.all_pages(), degree_pages(graph));
    let reads = Reads { passes, bound: Bound::AtMost, pages_per_pass, column_pages };
    reads.estimate(graph, state(graph).bytes() + chunk_bytes, vec![ColumnKind::Distance])
}

/// Sums over all vertices: edges that lead back, and ends of edges, those from a vertex to itself left out; and
/// vertices with such edges.
#[derive(Default)]
struct Sums {
    both: u64,
    ends: u64,
    loops: u64,
}

impl Sums {
    /// The overall reciprocity: no edge from a vertex to itself counts as one that leads back.
    fn overall(&self) -> f64 {
        self.both as f64 / (self.ends / 2 + self.loops) as f64
    }

    /// Adds a vertex with `neighbours` neighbours, `both` of which edges join with it both ways; returns its
    /// reciprocity.
    fn add(&mut self, neighbours: u64, both: u64, has_loop: bool) -> Option<f64> {
        let own = u64::from(has_loop);
        self.both += both;
        self.ends += neighbours + both;
        self.loops += own;
        let ends = neighbours + both + 2 * own;
        (ends > 0).then(|| (2 * (both + own)) as f64 / ends as f64)
    }
}

/// Computes the reciprocity of every vertex: the share of its edges whose opposite edge is there, too.
///
/// Parallel edges count once. Where edges have no direction, all lead back.
///
/// # Errors
/// Too little memory (8.2 bytes per vertex, 8 more while chunks are cut, and a chunk), a page that cannot be read or
/// is damaged, a request to stop.
pub fn reciprocity(graph: &Graph, _options: &ReciprocityOptions) -> Result<Reciprocity> {
    let mut stats = StatsBuilder::of_image(graph.image());
    graph.make_room("reciprocity", estimate(graph).state_bytes)?;
    let (reciprocities, loops) = state(graph).make()?;
    let overall = match graph.is_directed() {
        true => of_directed(graph, &reciprocities, &loops, &mut stats)?,
        false => {
            let set = |vertex: u32, degree: u32| {
                if degree > 0 {
                    reciprocities.set(vertex, 1f64.to_bits());
                }
            };
            stats.other(graph.for_each_degree(Direction::Out, set)?);
            if graph.edges() == 0 { f64::NAN } else { 1.0 }
        }
    };
    let stats = stats.finish(graph.runtime(), graph.all_pages());
    Ok(Reciprocity { reciprocities: reciprocities.into_values(), overall, stats })
}

fn of_directed(
    graph: &Graph,
    reciprocities: &Stored<AtomicU64>,
    loops: &Bitmap,
    stats: &mut StatsBuilder,
) -> Result<f64> {
    let mut chunks = Neighbourhoods::new(graph, entries(graph), stats)?;
    graph.fill_cache()?;
    if may_have_loops(graph) {
        let sweep = for_each_list(graph, Direction::Out, Frontier::All, |list| {
            if list.neighbours.binary_search(&list.vertex).is_ok() {
                loops.insert(list.vertex);
            }
        })?;
        stats.step("self-loops", graph.vertices(), sweep);
    }
    let all = Mutex::new(Sums::default());
    for chunk in 0..chunks.chunks() {
        let sweep = chunks.load(chunk)?;
        let (vertices, chunks) = (chunks.range(chunk), &chunks);
        graph.runtime().for_each_range::<Error>(vertices.len(), STEP, |range| {
            let (mut neighbours, mut sums) = (Neighbours::layout(graph).make()?, Sums::default());
            for vertex in range.map(|place| vertices.start + place as u32) {
                chunks.of(vertex, &mut neighbours);
                let both = neighbours.both.iter().map(|&both| u64::from(both)).sum();
                let share = sums.add(neighbours.vertices.len() as u64, both, loops.contains(vertex));
                if let Some(share) = share {
                    reciprocities.set(vertex, share.to_bits());
                }
            }
            let mut all = lock(&all);
            *all = Sums { both: all.both + sums.both, ends: all.ends + sums.ends, loops: all.loops + sums.loops };
            Ok(())
        })?;
        stats.step("chunk", vertices.len() as u64, sweep);
    }
    Ok(outcore_io::into_inner(all).overall())
}
