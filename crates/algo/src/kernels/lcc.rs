//! The local clustering coefficient, as the Graphalytics benchmark defines it.
//!
//! The neighbours of a vertex are those that an edge of any direction joins with it. Its coefficient is the number of
//! edges from one of its d neighbours to another, over d (d - 1); 0 if d < 2. An edge without direction counts as one
//! in each, so in graphs without directions this is the clustering coefficient; in others it is not (`clustering.rs`).
//! Loops and parallel edges are ignored.
//!
//! *Cost.* That of `triads.rs`, with the numbers of pairs: 20 bytes per vertex, 24 in images that are not in degree
//! order.
//!
//! Iosup et al., *LDBC Graphalytics: a benchmark for large-scale graph analysis on parallel and distributed platforms*,
//! VLDB 2016.

use crate::estimate::Estimate;
use crate::kernels::clustering::{Clustering, coefficients, pairs};
use crate::kernels::shares::{One, Opposite};
use crate::kernels::triads;
use outcore_graph::Graph;
use outcore_image::{Result, Stats};
use outcore_io::Array;

/// Options of local clustering coefficients: there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct LccOptions {}

/// The local clustering coefficient of every vertex.
#[derive(Debug)]
pub struct Lcc {
    /// Per vertex: its coefficient.
    pub coefficients: Array<f64>,
    /// The mean of the coefficients; 0 if there are no vertices.
    pub average: f64,
    /// Statistics of the run.
    pub stats: Stats,
}

/// The estimate for computing the local clustering coefficients of this graph; the passes are what the memory limit
/// leaves room for.
pub(crate) fn estimate_lcc(graph: &Graph) -> Estimate {
    match graph.is_directed() {
        true => triads::estimate::<Opposite>(graph, true),
        false => triads::estimate::<One>(graph, true),
    }
}

/// Computes the local clustering coefficient of every vertex.
///
/// # Errors
/// Too little memory (20 to 24 bytes per vertex, and the longest list), a page that cannot be read or is damaged, a
/// request to stop.
pub fn lcc(graph: &Graph, _options: &LccOptions) -> Result<Lcc> {
    let Clustering { coefficients, average, stats, .. } = match graph.is_directed() {
        true => coefficients(graph, triads::count::<Opposite>(graph, "lcc", Some(pairs))?, 1.0)?,
        false => coefficients(graph, triads::count::<One>(graph, "lcc", Some(pairs))?, 2.0)?,
    };
    Ok(Lcc { coefficients, average, stats })
}
