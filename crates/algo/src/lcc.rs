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

use crate::clustering::{Clustering, coefficients, pairs};
use crate::declare::{Algorithm, Attribute, AttributeKind, Datum, Doc, Finding, Graphalytics, Typed};
use crate::estimate::Estimate;
use crate::triads::{self, One, Opposite};
use crate::verify_triangles;
use outcore_graph::Graph;
use outcore_image::{Result, Stats};
use outcore_io::Array;
use outcore_table::Column;
use std::sync::Arc;

/// How local clustering coefficients are computed: there is nothing to choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct LccOptions {}

/// The local clustering coefficient of every vertex.
#[derive(Debug)]
pub struct Lcc {
    /// Per vertex: its coefficient.
    pub coefficients: Array<f64>,
    /// The mean of the coefficients; 0 if there are no vertices.
    pub average: f64,
    /// What it cost.
    pub stats: Stats,
}

/// What computing the local clustering coefficients of this graph will need; the passes are what the memory limit
/// leaves room for.
pub fn estimate_lcc(graph: &Graph) -> Estimate {
    match graph.is_directed() {
        true => triads::cost::<Opposite>(graph, true).estimate(graph),
        false => triads::cost::<One>(graph, true).estimate(graph),
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

/// Its declaration.
pub static LCC: Algorithm = Algorithm {
    attributes: &[Attribute::new("average", AttributeKind::Real, "The mean of the coefficients")],
    doc: Doc {
        about: "The neighbours of a vertex are those that an edge of any direction joins with it. The coefficient is the \
                number of edges from one of its d neighbours to another, over d (d - 1); 0 if d is below 2. Parallel \
                edges and loops are ignored.",
        returns: "`vertex` and `lcc`, from 0 to 1.",
        cost: "that of `clustering`.",
        differences: "Without directions it is the same as `clustering`; with them, `clustering` also counts which way \
                      the edges of the vertex itself lead.",
        references: "Iosup et al.: LDBC Graphalytics: a benchmark for large-scale graph analysis on parallel and \
                     distributed platforms. VLDB 2016.",
        example: ">>> oc.lcc(g, verify=True).row('home')\n\
                  {'vertex': 'home', 'lcc': 0.0}",
        ..Doc::NONE
    },
    graphalytics: Some(Graphalytics { name: "LCC", place: 4, properties: &[], fixed: &[] }),
    ..Algorithm::new("lcc", "Lcc", "Local clustering coefficients as Graphalytics defines them", &KERNEL)
};

static KERNEL: Typed<LccOptions, Lcc> = Typed {
    options: |_, _| Ok(LccOptions {}),
    estimate: |graph, _| estimate_lcc(graph),
    run: lcc,
    verify: |graph, _, found| verify_triangles::verify_lcc(graph, found),
    report: |told, say| {
        say(format_args!("average {}", told.found.average));
        Ok(())
    },
    found: |_, _, _, found| {
        let coefficients = vec![("lcc", Column::Real(Arc::new(found.coefficients)))];
        Ok(Finding::new(coefficients, vec![Datum::Real(found.average)], found.stats).shown(""))
    },
};
