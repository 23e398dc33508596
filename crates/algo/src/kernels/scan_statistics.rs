//! Scan statistics: the vertices whose neighbourhoods have the most edges.
//!
//! The *locality statistic* of a vertex is the number of edges among itself and its neighbours; the greatest of all is
//! the scan statistic of the graph (Priebe, Conroy, Marchette, Park, *Scan statistics on Enron graphs*, Computational
//! and Mathematical Organization Theory 2005).
//!
//! *Idea.* Vertices of great degree are examined first (Zheng et al., *FlashGraph*, FAST 2015, section 4): the edges of
//! their neighbourhoods are counted. A neighbourhood of n vertices has no more edges than half of the sum of the n
//! greatest degrees, each counted up to n. After a few vertices this bound rules out most others by their degrees
//! alone. The lists of the candidates are read, so that the degrees of their own neighbours give a tighter bound. They
//! are examined by falling bounds until none can be among the greatest.
//!
//! *Groups.* The edges of eight neighbourhoods are counted together, by a vertex program (`triads/edges_among.rs`).
//!
//! *Without useful bounds*, as where all degrees are equal, more than 256 vertices would have to be examined. Then all
//! are, by the triangles at every vertex (`triads/corners.rs`): a neighbourhood has the vertex's own edges, and those
//! opposite to it in its triangles.
//!
//! *Loops* are left out, and parallel edges count once, as in the other kernels about triangles.
//!
//! *Cost.* At most one pass over the lists per eight examined vertices, and one over the lists of the candidates; 5.4
//! bytes per vertex, and 4 for every degree up to the greatest. Without useful bounds, the passes and the memory of
//! triangles, and 8 bytes per vertex more.

use crate::estimate::{Estimate, Reads, degree_pages, longest_lists};
use crate::kernels::core_number::count_edges;
use crate::kernels::triads::block::{One, Opposite};
use crate::kernels::triads::corners::{self, Triads};
use crate::kernels::triads::edges_among::{self, GROUP, count_edges_among};
use crate::sources::{Smallest, check_vertices};
use crate::state::{Layout, array, reservation};
use crate::stored::Stored;
use crate::visit::for_each_list;
use outcore_graph::{Frontier, Graph};
use outcore_image::{Error, Result, Stats, StatsBuilder};
use outcore_io::{Buffer, Reservation};
use outcore_table::ColumnKind;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

const NAME: &str = "scan statistics";
/// The greatest number of vertices that are examined in groups; beyond it all vertices are examined.
const MOST_EXAMINED: usize = 256;
/// The greatest number of candidates, whose lists are read for tighter bounds.
const MOST_BOUNDED: usize = 1 << 16;
/// The memory of the candidates, in bytes: their numbers, in a vector that may have twice the room, sums, and sums with
/// numbers.
const BOUNDS_BYTES: u64 = (2 * 4 + 8 + 16) * MOST_BOUNDED as u64;

/// Options of the search for the greatest locality statistics.
#[derive(Clone, Copy, Debug)]
pub struct ScanStatisticsOptions {
    /// The number of vertices to find. Default: 1.
    pub top: u64,
}

impl Default for ScanStatisticsOptions {
    fn default() -> Self {
        ScanStatisticsOptions { top: 1 }
    }
}

/// The vertices with the greatest locality statistics.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct ScanStatistics {
    /// The vertices as numbered in the image, by falling statistics; those of smaller numbers first among equals.
    pub vertices: Vec<u32>,
    /// For each of them the number of edges among itself and its neighbours.
    pub statistics: Vec<u64>,
    /// How many vertices were examined to find them.
    pub looked_at: u64,
    /// Statistics of the run.
    pub stats: Stats,
}

/// The statistics of some vertices as one number per vertex, which others do not have.
pub(crate) fn spread(graph: &Graph, found: &ScanStatistics) -> Result<Buffer<u64>> {
    check_vertices(graph, &found.vertices)?;
    let values = Stored::<AtomicU64>::layout(graph, NAME);
    graph.make_room(NAME, values.bytes())?;
    let values = values.make()?;
    found.vertices.iter().zip(&found.statistics).for_each(|(&vertex, &edges)| values.set(vertex, edges));
    Ok(values.into_values())
}

/// For examining few vertices: degrees, how many vertices have each, marks, and room for bounds.
type State = (Buffer<AtomicU32>, Buffer<AtomicU32>, Buffer<AtomicU8>, Reservation);

fn state(graph: &Graph) -> impl Layout<Made = State> {
    // Degrees beyond those that neighbours give make no difference.
    let counted = longest_lists(graph).min(graph.directions().len() as u64 * graph.vertices()) + 1;
    (
        array(graph, "degrees", graph.vertices()),
        array(graph, "degrees", counted),
        array(graph, "marks", graph.vertices()),
        reservation(graph, "bounds", BOUNDS_BYTES),
    )
}

pub(crate) fn estimate(graph: &Graph, options: &ScanStatisticsOptions) -> Estimate {
    let top = options.top.min(graph.vertices());
    let best = Best::layout(graph, top);
    let (all_bytes, all) = corners::cost(graph, graph.is_directed(), true);
    let few = state(graph).bytes() + edges_among::bytes(graph);
    let groups = |vertices: u64| vertices.div_ceil(GROUP as u64) as f64;
    let passes = match top <= MOST_EXAMINED as u64 {
        true => groups(top) + 1.0 + all.passes.max(groups(MOST_EXAMINED as u64)),
        false => all.passes,
    };
    let reads = Reads { passes, column_pages: all.column_pages + degree_pages(graph), ..all };
    reads.estimate(graph, few.max(all_bytes) + best.bytes(), vec![ColumnKind::Count])
}

/// Finds the vertices with the greatest locality statistics.
///
/// # Errors
/// `top` is 0, too little memory (20 to 24 bytes per vertex, and the longest list), a page that cannot be read or is
/// damaged, a request to stop.
pub fn scan_statistics(graph: &Graph, options: &ScanStatisticsOptions) -> Result<ScanStatistics> {
    if options.top == 0 {
        return Err(Error::Usage("expected at least 1 vertex to look for, found 0".into()));
    }
    let mut stats = StatsBuilder::of_image(graph.image());
    graph.make_room(NAME, estimate(graph, options).state_bytes)?;
    let mut best = Best::layout(graph, options.top.min(graph.vertices())).make()?;
    let looked_at = match examine_few(graph, &mut best, &mut stats)? {
        Some(looked_at) => looked_at,
        None => examine_all(graph, &mut best, &mut stats)?,
    };
    let (vertices, statistics) =
        best.rows.into_sorted().map(|(Reverse(statistic), vertex)| (vertex, statistic)).unzip();
    Ok(ScanStatistics { vertices, statistics, looked_at, stats: stats.finish(graph.runtime(), graph.all_pages()) })
}

/// The greatest statistics so far, each with its vertex; of equal ones those of the smaller vertices.
pub(crate) struct Best {
    rows: Smallest<(Reverse<u64>, u32)>,
    _reservation: Reservation,
}

impl Best {
    pub(crate) fn layout(graph: &Graph, most: u64) -> impl Layout<Made = Self> {
        // The heap, and the sorted rows of the result.
        let room = reservation(graph, "the greatest statistics", (16 + 12) * most);
        room.then(move |_reservation| Ok(Best { rows: Smallest::new(most as usize), _reservation }))
    }
}

/// Examines vertices as long as there are some that may be among the greatest; returns how many, or `None` if there are
/// too many.
fn examine_few(graph: &Graph, best: &mut Best, stats: &mut StatsBuilder) -> Result<Option<u64>> {
    if best.rows.most > MOST_EXAMINED {
        return Ok(None);
    }
    let (degrees, counts, marks, _bounds) = state(graph).make()?;
    let degrees = Degrees::new(graph, degrees, counts, stats)?;
    let first = degrees.greatest(best.rows.most.next_multiple_of(GROUP) as u64);
    for group in first.chunks(GROUP) {
        examine(graph, &marks, group, best, stats)?;
    }
    let Some(candidates) = degrees.candidates(best, &first) else { return Ok(None) };
    let candidates = degrees.bounds(graph, candidates, best, stats)?;
    if candidates.len() > MOST_EXAMINED {
        return Ok(None);
    }
    let mut looked_at = first.len();
    for group in candidates.chunks(GROUP) {
        let may = group.iter().filter(|row| best.rows.admits(row));
        let mut group: Vec<u32> = may.map(|&(_, vertex)| vertex).collect();
        if group.is_empty() {
            break;
        }
        group.sort_unstable();
        looked_at += group.len();
        examine(graph, &marks, &group, best, stats)?;
    }
    Ok(Some(looked_at as u64))
}

/// Examines all vertices; returns how many there are.
fn examine_all(graph: &Graph, best: &mut Best, stats: &mut StatsBuilder) -> Result<u64> {
    let own = |neighbours: u64, both: u64| (neighbours + both) as f64;
    let Triads { closed, possible, stats: counted } = match graph.is_directed() {
        true => corners::count::<Opposite>(graph, NAME, Some(own))?,
        false => corners::count::<One>(graph, NAME, Some(own))?,
    };
    // The vertices that were examined before come again.
    best.rows.heap.clear();
    counted.steps.iter().for_each(|step| stats.step(step.name, step.active, step.sweep));
    for (vertex, (closed, own)) in closed.iter().zip(possible.iter()).enumerate() {
        best.rows.offer((Reverse(closed.load(Ordering::Relaxed) + own.load() as u64), vertex as u32));
    }
    Ok(graph.vertices())
}

/// The degrees of all vertices, and the bounds that they give for neighbourhoods.
struct Degrees {
    /// Per vertex: the lengths of its lists together.
    of: Buffer<AtomicU32>,
    /// How many vertices have each degree, the last one or a greater one.
    counts: Buffer<AtomicU32>,
    /// The greatest number of edges that can join two vertices.
    ways: u64,
}

impl Degrees {
    fn new(graph: &Graph, of: Buffer<AtomicU32>, counts: Buffer<AtomicU32>, stats: &mut StatsBuilder) -> Result<Self> {
        count_edges(graph, &of, stats)?;
        let degrees = Degrees { of, counts, ways: graph.directions().len() as u64 };
        for vertex in 0..graph.vertices() as u32 {
            degrees.counts[degrees.class(vertex)].fetch_add(1, Ordering::Relaxed);
        }
        Ok(degrees)
    }

    fn degree(&self, vertex: u32) -> u64 {
        self.of[vertex as usize].load(Ordering::Relaxed).into()
    }

    fn class(&self, vertex: u32) -> usize {
        (self.degree(vertex) as usize).min(self.counts.len() - 1)
    }

    fn count(&self, class: usize) -> u64 {
        self.counts[class].load(Ordering::Relaxed).into()
    }

    /// The most edges that can join a vertex with `others` others.
    fn most_joining(&self, others: u64) -> u64 {
        self.ways * others.min(self.of.len().saturating_sub(1) as u64)
    }

    /// The most edges that a neighbourhood can have, by the degree of its vertex; it does not fall as degrees rise.
    fn bound(&self, degree: usize) -> u64 {
        let (mut remaining, most, mut ends) = (degree as u64 + 1, self.most_joining(degree as u64), 0);
        for class in (0..self.counts.len()).rev() {
            let here = self.count(class).min(remaining);
            ends += here * most.min(class as u64);
            remaining -= here;
            if remaining == 0 {
                break;
            }
        }
        ends / 2
    }

    /// The least degree whose bound is at least `bound`.
    fn reaching(&self, bound: u64) -> usize {
        let (mut low, mut high) = (0, self.counts.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.bound(middle) < bound { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The `count` vertices of the greatest degrees, those of smaller numbers first among equals; in rising order.
    fn greatest(&self, count: u64) -> Vec<u32> {
        let (mut class, mut remaining) = (self.counts.len() - 1, count);
        while class > 0 && self.count(class) <= remaining {
            remaining -= self.count(class);
            class -= 1;
        }
        let is_one = |&vertex: &u32| {
            let own = self.class(vertex);
            let last = own == class && remaining > 0;
            remaining -= u64::from(last);
            own > class || last
        };
        (0..self.of.len() as u32).filter(is_one).collect()
    }

    /// The vertices, without the first ones, whose degrees do not rule them out, in rising order; `None` if they are
    /// too many.
    fn candidates(&self, best: &Best, first: &[u32]) -> Option<Vec<u32>> {
        let least = best.rows.heap.peek().map_or(0, |least| least.0.0);
        let (reaching, beyond) = (self.reaching(least), self.reaching(least + 1));
        let may = |&vertex: &u32| {
            let class = self.class(vertex);
            class >= beyond || class >= reaching && best.rows.admits(&(Reverse(least), vertex))
        };
        let candidates = (0..self.of.len() as u32).filter(may).filter(|vertex| first.binary_search(vertex).is_err());
        let candidates: Vec<u32> = candidates.take(MOST_BOUNDED + 1).collect();
        (candidates.len() <= MOST_BOUNDED).then_some(candidates)
    }

    /// The candidates that the degrees of their neighbours do not rule out, by falling bounds.
    fn bounds(
        &self,
        graph: &Graph,
        vertices: Vec<u32>,
        best: &Best,
        stats: &mut StatsBuilder,
    ) -> Result<Vec<(Reverse<u64>, u32)>> {
        let ends: Vec<AtomicU64> = vertices.iter().map(|&vertex| AtomicU64::new(self.degree(vertex))).collect();
        for &direction in graph.directions() {
            let read = for_each_list(graph, direction, Frontier::List(&vertices), |list| {
                let Ok(place) = vertices.binary_search(&list.vertex) else { return };
                let most = self.most_joining(self.degree(list.vertex));
                let here = list.neighbours.iter().map(|&other| self.degree(other).min(most)).sum();
                ends[place].fetch_add(here, Ordering::Relaxed);
            })?;
            stats.step("bounds", vertices.len() as u64, read);
        }
        let bounds = ends.into_iter().map(|ends| Reverse(ends.into_inner() / 2)).zip(vertices);
        let mut candidates: Vec<_> = bounds.filter(|row| best.rows.admits(row)).collect();
        candidates.sort_unstable();
        Ok(candidates)
    }
}

/// Counts the edges of the neighbourhoods of a group of vertices, in rising order, and offers them as the greatest.
fn examine(
    graph: &Graph,
    marks: &Buffer<AtomicU8>,
    group: &[u32],
    best: &mut Best,
    stats: &mut StatsBuilder,
) -> Result<()> {
    let (edges, sweep) = count_edges_among(graph, marks, group)?;
    stats.step("group", group.len() as u64, sweep);
    group.iter().zip(edges).for_each(|(&vertex, edges)| best.rows.offer((Reverse(edges), vertex)));
    Ok(())
}
