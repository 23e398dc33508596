//! Verifies weakly connected components with a forest of its own.

use crate::kernels::components::Components;
use crate::state::Layout;
use crate::verify::forest::{find, forest, trees};
use crate::verify::{Contradiction, check_equal};
use crate::visit::count_vertices;
use outcore_graph::Graph;
use outcore_image::{Error, Result};

/// Checks components with one pass over the out-lists, joining vertices over every edge in a forest of its own.
///
/// No edge leads from one component to another, every component is connected, and its label is its smallest vertex.
///
/// # Errors
/// The first vertex that contradicts this, too little memory (4 bytes per vertex), or a page that cannot be read.
pub fn verify_components(graph: &Graph, result: &Components) -> Result<()> {
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

/// The memory that verification takes beside the result, in bytes.
pub(crate) fn components_bytes(graph: &Graph) -> u64 {
    trees(graph).bytes()
}
