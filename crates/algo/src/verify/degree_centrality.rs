//! Verifies degree centralities.

use crate::kernels::degree_centrality::{DegreeCentrality, DegreeCentralityOptions};
use crate::state::{Layout, array};
use crate::verify::check_equal;
use crate::visit::for_each_list;
use outcore_graph::{Frontier, Graph};
use outcore_image::{Error, Result};
use outcore_io::Buffer;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

fn counts(graph: &Graph) -> impl Layout<Made = Buffer<AtomicU64>> {
    array(graph, "edges of vertices", graph.vertices())
}

/// Checks degree centralities by counting every edge at its other end, in the lists and not in the degree columns.
///
/// # Errors
/// A vertex that has another centrality, too little memory (8 bytes per vertex), or a page that cannot be read.
pub fn verify_degree_centrality(
    graph: &Graph,
    options: &DegreeCentralityOptions,
    result: &DegreeCentrality,
) -> Result<()> {
    result.stats.check_image(graph.image())?;
    graph.make_room("verification of degree centrality", counts(graph).bytes())?;
    let counts = counts(graph).make()?;
    for &direction in options.edges.directions(graph) {
        for_each_list(graph, direction.reversed(), Frontier::All, |list| {
            for &neighbour in list.neighbours {
                let times = if neighbour == list.vertex && !graph.is_directed() { 2 } else { 1 };
                counts[neighbour as usize].fetch_add(times, Relaxed);
            }
        })?;
    }
    let others = graph.vertices().saturating_sub(1);
    for (vertex, (count, &claimed)) in counts.iter().zip(result.centralities.iter()).enumerate() {
        let count = count.load(Relaxed) as f64;
        let expected = if others == 0 { 1.0 } else { count / others as f64 };
        if expected.to_bits() != claimed.to_bits() {
            let claimed = format!("{claimed} at vertex {vertex} of the image");
            return Err(Error::verification(format!("a degree centrality of {expected}"), claimed));
        }
    }
    let most = counts.iter().map(|count| count.load(Relaxed)).max().unwrap_or(0);
    check_equal(most, result.max_degree, |most| format!("a greatest degree of {most}"))
}

pub(crate) fn counts_bytes(graph: &Graph) -> u64 {
    counts(graph).bytes()
}
