//! Clustering coefficients: the share of the pairs of a vertex's neighbours that an edge joins, and the *local*
//! clustering coefficient of the benchmark Graphalytics.
//!
//! *Without directions* it is 2 T / (d (d - 1)), where T is the number of its triangles and d that of its neighbours.
//! *With directions* it is Fagiolo's: a triangle counts once for every choice of an edge on each side, and the vertex
//! with t edges, of which b pairs go both ways, could have t (t - 1) - 2 b. Both are 0 where nothing is possible, and
//! where every edge goes both ways they are the same. Loops and parallel edges are ignored.
//!
//! *Local.* The number of edges from one of a vertex's d neighbours, those that an edge of any direction joins with it,
//! to another, over d (d - 1). An edge without direction counts as one in each, so in graphs without directions both
//! coefficients are the same; in others they are not.
//!
//! *Cost.* That of `triads/corners.rs`, with the numbers of pairs: 20 bytes per vertex, 24 in images that are not in
//! degree order.
//!
//! Watts and Strogatz, *Collective dynamics of small-world networks*, Nature 1998; Fagiolo, *Clustering in complex
//! directed networks*, Physical Review E 2007; Iosup et al., *LDBC Graphalytics: a benchmark for large-scale graph
//! analysis on parallel and distributed platforms*, VLDB 2016.

use crate::estimate::Estimate;
use crate::kernels::triads::block::{Choices, One, Opposite};
use crate::kernels::triads::corners::{self, Triads};
use crate::visit::for_each_vertex;
use outcore_graph::{Graph, vertex_sum};
use outcore_image::{Result, Stats};
use outcore_io::Buffer;
use std::sync::atomic::Ordering;

/// Options of clustering coefficients: there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusteringOptions {}

/// The clustering coefficient of every vertex, and of the graph.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Clustering {
    /// Per vertex: its coefficient.
    pub coefficients: Buffer<f64>,
    /// The mean of the coefficients; 0 if there are no vertices.
    pub average: f64,
    /// The triangles of all vertices over those that all could have; 0 if they could have none.
    pub transitivity: f64,
    /// Statistics of the run.
    pub stats: Stats,
}

/// The estimate for the clustering coefficients of this graph, or the local ones; the passes are what the memory limit
/// leaves room for.
pub(crate) fn estimate(graph: &Graph) -> Estimate {
    corners::estimate(graph, graph.is_directed(), true)
}

/// Computes the clustering coefficient of every vertex.
///
/// # Errors
/// Too little memory (20 to 24 bytes per vertex, and the longest list), a page that cannot be read or is damaged, a
/// request to stop.
pub fn clustering(graph: &Graph, _options: &ClusteringOptions) -> Result<Clustering> {
    match graph.is_directed() {
        true => coefficients(graph, corners::count::<Choices>(graph, "clustering", Some(choices))?, 1.0),
        false => coefficients(graph, corners::count::<One>(graph, "clustering", Some(pairs))?, 2.0),
    }
}

/// Options of local clustering coefficients: there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct LccOptions {}

/// The local clustering coefficient of every vertex.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Lcc {
    /// Per vertex: its coefficient.
    pub coefficients: Buffer<f64>,
    /// The mean of the coefficients; 0 if there are no vertices.
    pub average: f64,
    /// Statistics of the run.
    pub stats: Stats,
}

/// Computes the local clustering coefficient of every vertex.
///
/// # Errors
/// Too little memory (20 to 24 bytes per vertex, and the longest list), a page that cannot be read or is damaged, a
/// request to stop.
pub fn lcc(graph: &Graph, _options: &LccOptions) -> Result<Lcc> {
    let Clustering { coefficients, average, stats, .. } = match graph.is_directed() {
        true => coefficients(graph, corners::count::<Opposite>(graph, "lcc", Some(pairs))?, 1.0)?,
        false => coefficients(graph, corners::count::<One>(graph, "lcc", Some(pairs))?, 2.0)?,
    };
    Ok(Lcc { coefficients, average, stats })
}

/// The ordered pairs of a vertex's neighbours.
fn pairs(neighbours: u64, _both: u64) -> f64 {
    neighbours as f64 * neighbours.saturating_sub(1) as f64
}

/// The ordered pairs of a vertex's edges that do not lead to the same neighbour.
fn choices(neighbours: u64, both: u64) -> f64 {
    let edges = neighbours + both;
    edges as f64 * edges.saturating_sub(1) as f64 - 2.0 * both as f64
}

/// Coefficients, their average and the transitivity: closed triads, each counted `times` times, over possible ones.
fn coefficients(graph: &Graph, counted: Triads, times: f64) -> Result<Clustering> {
    let Triads { closed, possible, stats } = counted;
    let closed_at = |v: usize| times * closed[v].load(Ordering::Relaxed) as f64;
    let sum = |value: &(dyn Fn(usize) -> f64 + Sync)| {
        vertex_sum(graph.runtime(), graph.vertices(), |range| range.map(value).sum())
    };
    let (all_closed, all_possible) = (sum(&closed_at)?, sum(&|v| possible[v].load())?);
    for_each_vertex(graph, |v| {
        let possible = &possible[v as usize];
        possible.store(ratio(closed_at(v as usize), possible.load()));
    })?;
    let average = ratio(sum(&|v| possible[v].load())?, graph.vertices() as f64);
    let transitivity = ratio(all_closed, all_possible);
    Ok(Clustering { coefficients: possible.into_values(), average, transitivity, stats })
}

/// A part of a whole; 0 of nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}
