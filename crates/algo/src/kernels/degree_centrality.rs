//! Degree centrality: the number of a vertex's edges, over the most that it could have in a simple graph.
//!
//! *Idea.* Degrees have columns of their own, so no list is read. An edge from a vertex to itself counts twice, as in
//! NetworkX: in directed graphs it is in both lists, in others a pass over the lists adds it where there may be some.
//!
//! *Cost.* 8 bytes per vertex; the degree columns, and a pass in graphs without directions whose import kept edges from
//! a vertex to itself.
//!
//! Freeman, *Centrality in social networks: conceptual clarification*, Social Networks 1978.

use crate::estimate::{Bound, Estimate, Reads};
use crate::state::{Layout, array};
use crate::visit::{for_each_list, for_each_vertex, loops_in, may_have_loops};
use outcore_graph::{Direction, Frontier, Graph, ListPart};
use outcore_image::{Result, Stats, StatsBuilder};
use outcore_ingest::Choice;
use outcore_io::{AtomicF64, Buffer};
use outcore_table::ColumnKind;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The edges of a vertex that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DegreeEdges {
    /// All.
    #[default]
    Both,
    /// Edges that lead to the vertex.
    In,
    /// Edges that lead from the vertex.
    Out,
}

impl Choice for DegreeEdges {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (DegreeEdges::Both, "both", "All edges, as `networkx.degree_centrality`"),
        (DegreeEdges::In, "in", "Those that lead to a vertex, as `networkx.in_degree_centrality`"),
        (DegreeEdges::Out, "out", "Those that lead from it, as `networkx.out_degree_centrality`"),
    ];
}

outcore_declare::from_names!(DegreeEdges);

impl DegreeEdges {
    /// The lists that hold these edges.
    pub(crate) fn directions(self, graph: &Graph) -> &'static [Direction] {
        match self {
            _ if !graph.is_directed() => &[Direction::Out],
            DegreeEdges::Both => &[Direction::Out, Direction::In],
            DegreeEdges::In => &[Direction::In],
            DegreeEdges::Out => &[Direction::Out],
        }
    }
}

/// Options of degree centrality.
#[derive(Clone, Copy, Debug, Default)]
pub struct DegreeCentralityOptions {
    /// The edges of a vertex that count. Edges without direction all do. Default: all.
    pub edges: DegreeEdges,
}

/// Degree centralities.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct DegreeCentrality {
    /// Per vertex: the number of its edges over that of the other vertices; 1 if there are none.
    pub centralities: Buffer<f64>,
    /// The greatest number of edges of a vertex.
    pub max_degree: u64,
    /// Statistics of the run.
    pub stats: Stats,
}

fn state(graph: &Graph) -> impl Layout<Made = Buffer<AtomicF64>> {
    array(graph, "degree centralities", graph.vertices())
}

/// Whether the lists have to be read for edges from a vertex to itself.
fn counts_loops(graph: &Graph) -> bool {
    !graph.is_directed() && may_have_loops(graph)
}

pub(crate) fn estimate(graph: &Graph, options: &DegreeCentralityOptions) -> Estimate {
    let directions = options.edges.directions(graph);
    let column_pages = directions.iter().map(|&direction| graph.degree_pages(direction)).sum();
    let (passes, pages_per_pass) = (f64::from(u8::from(counts_loops(graph))), graph.pages(Direction::Out));
    let reads = Reads { passes, bound: Bound::AtMost, pages_per_pass, column_pages };
    reads.estimate(graph, state(graph).bytes(), vec![ColumnKind::Real])
}

/// Computes the degree centrality of every vertex.
///
/// # Errors
/// Too little memory (8 bytes per vertex), a column or page that cannot be read or is damaged, a request to stop.
pub fn degree_centrality(graph: &Graph, options: &DegreeCentralityOptions) -> Result<DegreeCentrality> {
    let mut stats = StatsBuilder::of_image(graph.image());
    let vertices = graph.vertices();
    graph.make_room("degree centrality", estimate(graph, options).state_bytes)?;
    let degrees = state(graph).make()?;
    graph.fill_cache()?;
    // Whole numbers, whose sum does not depend on its order.
    for &direction in options.edges.directions(graph) {
        stats.other(graph.for_each_degree(direction, |vertex, degree| degrees[vertex as usize].add(degree.into()))?);
    }
    if counts_loops(graph) {
        let again = |list: ListPart<'_>| degrees[list.vertex as usize].add(loops_in(&list).into());
        let sweep = for_each_list(graph, Direction::Out, Frontier::All, again)?;
        stats.step("self-loops", vertices, sweep);
    }
    let (others, max_degree) = (vertices.saturating_sub(1) as f64, AtomicU64::new(0));
    for_each_vertex(graph, |vertex| {
        let slot = &degrees[vertex as usize];
        max_degree.fetch_max(slot.load() as u64, Relaxed);
        slot.store(if others == 0.0 { 1.0 } else { slot.load() / others });
    })?;
    let stats = stats.finish(graph.runtime(), graph.pages(Direction::Out));
    Ok(DegreeCentrality { centralities: degrees.into_values(), max_degree: max_degree.into_inner(), stats })
}
