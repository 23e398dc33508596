//! Trees of searches, as the parent of every vertex: the vertex before it on a path from the source.
//!
//! *Encoding.* A parent is stored as its complement; 0 is none (`stored.rs`). The source is its own parent.

use outcore_graph::Graph;
use outcore_image::Result;

/// The parent of a vertex, if it has one.
pub(crate) fn parent(parents: &[u32], vertex: u32) -> Option<u32> {
    let stored = parents[vertex as usize];
    (stored != 0).then_some(!stored)
}

/// The vertices on the path from the source to a vertex, both ends included, if there is one.
///
/// # Errors
/// No room for it: 4 bytes per vertex on the path.
pub(crate) fn path(graph: &Graph, parents: &[u32], target: u32) -> Result<Option<Vec<u32>>> {
    if parent(parents, target).is_none() {
        return Ok(None);
    }
    // Parents never run in a circle, except that the source is its own.
    let before = |&vertex: &u32| parent(parents, vertex).filter(|&parent| parent != vertex);
    let steps = || std::iter::successors(Some(target), before);
    graph.make_room("a path", 4 * steps().count() as u64)?;
    let mut path: Vec<u32> = steps().collect();
    path.reverse();
    Ok(Some(path))
}
