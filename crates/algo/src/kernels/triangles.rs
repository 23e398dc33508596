//! Triangles: how many each vertex is a corner of.
//!
//! *Idea.* Every triangle is found once, from its corner of middle degree, and counted at all three
//! (`triads/corners.rs`, which has the cost and the references).
//!
//! *Directions* of edges, parallel edges and loops are ignored, as in NetworkX, which refuses graphs with directions.

use crate::estimate::Estimate;
use crate::kernels::triads::block::One;
use crate::kernels::triads::corners::{self, Triads};
use outcore_graph::Graph;
use outcore_image::{Result, Stats};
use outcore_io::Buffer;
use std::sync::atomic::Ordering;

/// Options of counting triangles: there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrianglesOptions {}

/// The triangles at every vertex.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Triangles {
    /// Per vertex: how many triangles it is a corner of.
    pub counts: Buffer<u64>,
    /// How many triangles there are.
    pub total: u64,
    /// Statistics of the run.
    pub stats: Stats,
}

/// The estimate for counting the triangles of this graph; the passes are what the memory limit leaves room for.
pub(crate) fn estimate(graph: &Graph) -> Estimate {
    corners::estimate(graph, false, false)
}

/// Counts the triangles: three vertices, each joined with both others by an edge of any direction.
///
/// # Errors
/// Too little memory (12 to 16 bytes per vertex, and the longest list), a page that cannot be read or is damaged, a
/// request to stop.
pub fn triangles(graph: &Graph, _options: &TrianglesOptions) -> Result<Triangles> {
    let Triads { closed, stats, .. } = corners::count::<One>(graph, "triangles", None)?;
    let corners: u64 = closed.iter().map(|count| count.load(Ordering::Relaxed)).sum();
    Ok(Triangles { counts: closed.into_values(), total: corners / 3, stats })
}
