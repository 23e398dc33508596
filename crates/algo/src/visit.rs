//! Visits of vertices and lists by all workers, where no worker needs a state of its own.

use outcore_graph::{Edges, Frontier, Graph, ListPart, scan, vertex_map};
use outcore_image::{Result, SweepStats};
use std::sync::atomic::{AtomicU64, Ordering};

/// Calls `visit` with every vertex.
pub(crate) fn for_each_vertex(graph: &Graph, visit: impl Fn(u32) + Sync) -> Result<()> {
    vertex_map(graph.runtime(), graph.vertices(), |range| {
        (range.start as u32..range.end as u32).for_each(&visit);
        Ok(())
    })
}

/// Calls `counts` with every vertex, and returns for how many it holds.
pub(crate) fn count_vertices(graph: &Graph, counts: impl Fn(u32) -> bool + Sync) -> Result<u64> {
    let count = AtomicU64::new(0);
    vertex_map(graph.runtime(), graph.vertices(), |range| {
        let here = (range.start as u32..range.end as u32).filter(|&vertex| counts(vertex)).count();
        count.fetch_add(here as u64, Ordering::Relaxed);
        Ok(())
    })?;
    Ok(count.into_inner())
}

/// Whether the lists may have edges from a vertex to itself.
pub(crate) fn may_have_loops(graph: &Graph) -> bool {
    let import = &graph.manifest().import;
    import.self_loops > 0 && import.self_loops_kept
}

/// How often the vertex of a list, or of a part of one, is its own neighbour.
pub(crate) fn loops_in(list: &ListPart<'_>) -> u32 {
    let from = list.neighbours.partition_point(|&neighbour| neighbour < list.vertex);
    list.neighbours[from..].iter().take_while(|&&neighbour| neighbour == list.vertex).count() as u32
}

/// Calls `visit` with every list of a frontier, or with its parts one by one; returns statistics of the sweep.
pub(crate) fn for_each_list(
    graph: &Graph,
    edges: impl Into<Edges>,
    frontier: Frontier<'_>,
    visit: impl Fn(ListPart<'_>) + Sync,
) -> Result<SweepStats> {
    Ok(scan(graph, edges, frontier, || (), |(), list| visit(list))?.1)
}
