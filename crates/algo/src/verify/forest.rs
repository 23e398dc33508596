//! A forest of vertices that edges join: each tree becomes a weakly connected component.
//!
//! *Encoding.* A vertex names the one that it hangs under, which is smaller; a root names itself.

use crate::state::{Layout, array};
use crate::visit::{for_each_list, for_each_vertex};
use outcore_graph::{Direction, Frontier, Graph};
use outcore_image::Result;
use outcore_io::Array;
use std::sync::atomic::{AtomicU32, Ordering};

/// The vertex that every vertex hangs under.
pub(crate) fn trees(graph: &Graph) -> impl Layout<Made = Array<AtomicU32>> {
    array(graph, "trees", graph.vertices())
}

/// Joins vertices over every edge; the root of every tree is the smallest vertex of its weakly connected component.
pub(crate) fn forest(graph: &Graph, visit: impl Fn(u32, u32) + Sync) -> Result<Array<AtomicU32>> {
    let roots = trees(graph).make()?;
    for_each_vertex(graph, |v| roots[v as usize].store(v, Ordering::Relaxed))?;
    for_each_list(graph, Direction::Out, Frontier::All, |list| {
        for &neighbour in list.neighbours {
            visit(list.vertex, neighbour);
            union(&roots, list.vertex, neighbour);
        }
    })?;
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
