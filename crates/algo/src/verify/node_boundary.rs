//! Verifies a node boundary by the in-lists of all vertices.

use crate::kernels::node_boundary::{NodeBoundary, NodeBoundaryOptions};
use crate::sources::check_vertices;
use crate::state::{Layout, bitmap};
use crate::verify::{Contradiction, check_equal};
use outcore_graph::{Bitmap, Direction, Frontier, Graph, ListFold, ListPart, fold};
use outcore_image::{Error, Result};
use outcore_table::distance_bits;

/// Checks a node boundary with one pass over the in-lists, which counts the in-neighbours of every vertex that are in
/// the set.
///
/// # Errors
/// The first vertex with another number of edges, too little memory (a bit per vertex), or a page that cannot be read.
pub fn verify_node_boundary(graph: &Graph, options: &NodeBoundaryOptions, result: &NodeBoundary) -> Result<()> {
    result.stats.check_image(graph.image())?;
    check_vertices(graph, &options.vertices)?;
    graph.make_room("verification of a node boundary", node_boundary_bytes(graph))?;
    let set = set(graph).make()?;
    options.vertices.iter().for_each(|&vertex| _ = set.insert(vertex));
    let check = Check { set: &set, result, wrong: Contradiction::none() };
    let (count, _) = fold(graph, Direction::In, Frontier::All, &check)?;
    check.wrong.check(|vertex| {
        let expected = format!("the number of edges from the set to vertex {vertex} of the image, if it is outside");
        Error::verification(expected, format!("{:?}", check.claimed(vertex)))
    })?;
    check_equal(count, result.count, |count| format!("{count} vertices in the boundary"))
}

pub(crate) fn node_boundary_bytes(graph: &Graph) -> u64 {
    set(graph).bytes()
}

fn set(graph: &Graph) -> impl Layout<Made = Bitmap> {
    bitmap(graph, "the set", graph.vertices())
}

struct Check<'a> {
    set: &'a Bitmap,
    result: &'a NodeBoundary,
    wrong: Contradiction,
}

impl Check<'_> {
    fn claimed(&self, vertex: u32) -> Option<u64> {
        distance_bits(self.result.edges[vertex as usize])
    }
}

impl ListFold for Check<'_> {
    /// The number of in-neighbours in the set.
    type Value = u64;
    /// The number of vertices in the boundary.
    type Total = u64;

    fn part(&self, list: ListPart<'_>) -> u64 {
        list.neighbours.iter().filter(|&&source| self.set.contains(source)).count() as u64
    }

    fn merge(&self, before: u64, after: u64) -> u64 {
        before + after
    }

    fn finish(&self, vertex: u32, edges: Option<u64>, count: &mut u64) {
        let edges = edges.filter(|&edges| edges > 0 && !self.set.contains(vertex));
        *count += u64::from(edges.is_some());
        if edges != self.claimed(vertex) {
            self.wrong.at(vertex);
        }
    }

    fn add(&self, count: &mut u64, later: u64) {
        *count += later;
    }
}
