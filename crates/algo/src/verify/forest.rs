//! A forest of vertices that edges join: each tree becomes a weakly connected component.
//!
//! *Encoding.* A vertex names the one that it hangs under, which is smaller; a root names itself.

use crate::state::{Layout, array};
use outcore_graph::{Direction, Frontier, Graph, ListPart, scan, vertex_map};
use outcore_image::Result;
use outcore_io::Array;
use std::sync::atomic::{AtomicU32, Ordering};

/// The vertex that every vertex hangs under.
pub(crate) fn trees(graph: &Graph) -> impl Layout<Made = Array<AtomicU32>> {
    array(graph, "trees", graph.vertices())
}

/// Joins vertices over every edge; the root of every tree is the smallest vertex of its weakly connected component.
pub(crate) fn forest(graph: &Graph, visit: impl Fn(u32, u32) + Sync) -> Result<Array<AtomicU32>> {
    let vertices = graph.vertices();
    let roots = trees(graph).make()?;
    vertex_map(graph.runtime(), vertices, |range| {
        range.for_each(|v| roots[v].store(v as u32, Ordering::Relaxed));
        Ok(())
    })?;
    let join = |(): &mut (), list: ListPart<'_>| {
        for &neighbour in list.neighbours {
            visit(list.vertex, neighbour);
            union(&roots, list.vertex, neighbour);
        }
    };
    scan(graph, Direction::Out, Frontier::All, || (), join)?;
    Ok(roots)
}

/// The root of a vertex's tree, whose path is halved on the way.
pub(crate) fn find(roots: &[AtomicU32], mut vertex: u32) -> u32 {
    loop {
        let above = roots[vertex as usize].load(Ordering::Relaxed);
        if above == vertex {
            return vertex;
        }
        let higher = roots[above as usize].load(Ordering::Relaxed);
        roots[vertex as usize].fetch_min(higher, Ordering::Relaxed);
        vertex = higher;
    }
}

fn union(roots: &[AtomicU32], a: u32, b: u32) {
    loop {
        let (a, b) = (find(roots, a), find(roots, b));
        if a == b {
            return;
        }
        let (low, high) = (a.min(b), a.max(b));
        let hung = roots[high as usize].compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed);
        if hung.is_ok() {
            return;
        }
    }
}
