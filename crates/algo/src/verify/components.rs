//! Verifies weakly connected components with a forest of its own: vertices that edges join, as trees.
//!
//! *Encoding.* A vertex names the one that it hangs under, which is smaller; a root names itself.

use crate::kernels::components::Components;
use crate::state::{Layout, array};
use crate::verify::{Contradiction, check_equal};
use crate::visit::{count_vertices, for_each_list, for_each_vertex};
use outcore_graph::{Direction, Frontier, Graph};
use outcore_image::{Error, Result};
use outcore_io::Buffer;
use std::sync::atomic::{AtomicU32, Ordering};

/// Checks components with one pass over the out-lists, joining vertices over every edge in a forest of its own.
///
/// No edge leads from one component to another, every component is connected, and its label is its smallest vertex.
///
/// # Errors
/// The first vertex that contradicts this, too little memory (4 bytes per vertex), or a page that cannot be read.
pub fn verify_components(graph: &Graph, result: &Components) -> Result<()> {
    result.stats.check_image(graph.image())?;
    graph.make_room("verification of components", components_bytes(graph))?;
    let label = |v: u32| result.labels[v as usize];
    let wrong = Contradiction::none();
    let roots = forest(graph, |vertex, neighbour| {
        if label(neighbour) != label(vertex) {
            wrong.at(vertex);
        }
    })?;
    let count = count_vertices(graph, |v| {
        let root = find(&roots, v);
        // Trees hang under their smallest vertex, so the root is what the label must be.
        if label(v) != root {
            wrong.at(v);
        }
        root == v
    })?;
    wrong.check(|vertex| {
        let (label, root) = (label(vertex), find(&roots, vertex));
        let expected = format!("label {root} of vertex {vertex} of the image, where its edges lead");
        Error::verification(expected, label.to_string())
    })?;
    check_equal(count, result.count, |count| format!("{count} components"))
}

pub(crate) fn components_bytes(graph: &Graph) -> u64 {
    trees(graph).bytes()
}

/// The vertex that every vertex hangs under.
pub(crate) fn trees(graph: &Graph) -> impl Layout<Made = Buffer<AtomicU32>> {
    array(graph, "trees", graph.vertices())
}

/// Joins vertices over every edge; the root of every tree is the smallest vertex of its weakly connected component.
pub(crate) fn forest(graph: &Graph, visit: impl Fn(u32, u32) + Sync) -> Result<Buffer<AtomicU32>> {
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
