//! Verifies weakly connected components with a forest of its own.

use crate::kernels::components::Components;
use crate::state::Layout;
use crate::verify::Contradiction;
use crate::verify::forest::{find, forest, trees};
use outcore_graph::{Graph, vertex_map};
use outcore_image::{Error, Result};
use std::sync::atomic::{AtomicU64, Ordering};

/// Checks components with one pass over the out-lists, joining vertices over every edge in a forest of its own.
///
/// No edge leads from one component to another, every component is connected, and its label is its smallest vertex.
///
/// # Errors
/// The first vertex that contradicts this, too little memory (4 bytes per vertex), or a page that cannot be read.
pub fn verify_components(graph: &Graph, result: &Components) -> Result<()> {
    let vertices = graph.vertices();
    graph.make_room("verification of components", components_bytes(graph))?;
    let label = |v: u32| result.labels[v as usize];
    let wrong = Contradiction::none();
    let roots = forest(graph, |vertex, neighbour| {
        if label(neighbour) != label(vertex) {
            wrong.at(vertex);
        }
    })?;
    let count = AtomicU64::new(0);
    vertex_map(graph.runtime(), vertices, |range| {
        for v in range {
            let v = v as u32;
            let root = find(&roots, v);
            count.fetch_add(u64::from(root == v), Ordering::Relaxed);
            // Trees hang under their smallest vertex, so the root is what the label must be.
            if label(v) != root {
                wrong.at(v);
            }
        }
        Ok(())
    })?;
    wrong.check(|vertex| {
        let (label, root) = (label(vertex), find(&roots, vertex));
        let expected = format!("label {root} of vertex {vertex} of the image, where its edges lead");
        Error::verification(expected, label.to_string())
    })?;
    let count = count.into_inner();
    if count != result.count {
        return Err(Error::verification(format!("{count} components"), result.count.to_string()));
    }
    Ok(())
}

/// The memory that verification takes beside the result, in bytes.
pub(crate) fn components_bytes(graph: &Graph) -> u64 {
    trees(graph).bytes()
}
