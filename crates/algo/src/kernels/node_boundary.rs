//! Node boundary: the vertices outside a given set to which edges lead from the set.
//!
//! *Idea.* Only the out-lists of the set are read. Every edge counts at its target; the counts of the set itself are
//! dropped in the end. Counts are integers, so the order of the workers does not matter.
//!
//! *Encoding.* `edges[v]` is the complement of the number of edges; 0 is none, for vertices that are not in the
//! boundary.
//!
//! *Cost.* 8 bytes per vertex, and 8 per vertex of the set. The pages of the set's out-lists, each once: at most one
//! pass.
//!
//! Hoory, Linial, Wigderson, *Expander graphs and their applications*, Bulletin of the AMS 43, 2006.

use crate::estimate::{Bound, Estimate, Reads};
use crate::sources::check_vertices;
use crate::state::{Layout, array, reservation};
use crate::visit::{count_vertices, for_each_list};
use outcore_graph::{Direction, Frontier, Graph};
use outcore_image::{Result, Stats, StatsBuilder};
use outcore_io::buffer::prefetched;
use outcore_io::{Buffer, Reservation};
use outcore_table::{ColumnKind, distance_bits};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Options of the node boundary.
#[derive(Clone, Debug, Default)]
pub struct NodeBoundaryOptions {
    /// The set, as vertices numbered in the image. Repetitions do not matter. Default: none.
    pub vertices: Vec<u32>,
}

/// The node boundary of a set of vertices.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct NodeBoundary {
    /// Per vertex: the complement of the number of edges that lead to it from the set; 0 if it is not in the boundary.
    pub(crate) edges: Buffer<u64>,
    /// How many vertices are in the boundary.
    pub count: u64,
    /// Statistics of the run.
    pub stats: Stats,
}

impl NodeBoundary {
    /// The number of edges that lead from the set to a vertex, if there is such a vertex in the boundary.
    pub fn edges_to(&self, vertex: u32) -> Option<u64> {
        distance_bits(*self.edges.get(vertex as usize)?)
    }

    /// The number of edges that lead from the set to every vertex, in the order of vertices; none where a vertex is not
    /// in the boundary.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = Option<u64>> {
        self.edges.iter().map(|&stored| distance_bits(stored))
    }

    /// Numbers of edges as they are stored, for tests that change them.
    #[doc(hidden)]
    pub fn stored(&mut self) -> &mut [u64] {
        &mut self.edges
    }
}

/// The counts of edges, and the set in rising order.
fn state(graph: &Graph, options: &NodeBoundaryOptions) -> impl Layout<Made = (Buffer<AtomicU64>, Reservation)> {
    let set_bytes = 8 * options.vertices.len() as u64;
    (array(graph, "edges from the set", graph.vertices()), reservation(graph, "the set in rising order", set_bytes))
}

pub(crate) fn estimate(graph: &Graph, options: &NodeBoundaryOptions) -> Estimate {
    let pages_per_pass = graph.pages(Direction::Out);
    let reads = Reads { passes: 1.0, bound: Bound::AtMost, pages_per_pass, column_pages: 0 };
    reads.estimate(graph, state(graph, options).bytes(), vec![ColumnKind::Distance])
}

/// Finds the vertices outside a set to which edges lead from the set, and counts these edges.
///
/// Parallel edges count as often as they are stored. Edges without direction lead both ways.
///
/// # Errors
/// A vertex that the graph does not have, too little memory (8 bytes per vertex, and 8 per vertex of the set), a page
/// that cannot be read or is damaged, a request to stop.
pub fn node_boundary(graph: &Graph, options: &NodeBoundaryOptions) -> Result<NodeBoundary> {
    let mut stats = StatsBuilder::of_image(graph.image());
    check_vertices(graph, &options.vertices)?;
    graph.make_room("node boundary", estimate(graph, options).state_bytes)?;
    let (edges, _set) = state(graph, options).make()?;
    let mut set = options.vertices.clone();
    set.sort_unstable();
    set.dedup();
    graph.fill_cache()?;
    let sweep = for_each_list(graph, Direction::Out, Frontier::List(&set), |list| {
        for target in prefetched(&edges, list.neighbours) {
            edges[target as usize].fetch_add(1, Relaxed);
        }
    })?;
    stats.step("count edges", set.len() as u64, sweep);
    for &vertex in &set {
        edges[vertex as usize].store(0, Relaxed);
    }
    let count = count_vertices(graph, |vertex| {
        let edges = &edges[vertex as usize];
        let is_boundary = edges.load(Relaxed) != 0;
        if is_boundary {
            edges.store(!edges.load(Relaxed), Relaxed);
        }
        is_boundary
    })?;
    let stats = stats.finish(graph.runtime(), graph.pages(Direction::Out));
    Ok(NodeBoundary { edges: edges.into_values(), count, stats })
}
