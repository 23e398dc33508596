//! PageRank by the method that its options name: `ranks/pulling.rs` pulls, `ranks/pushing.rs` pushes. Options, result
//! and checks, which both share.

use crate::convergence::{Stop, StoppedBy};
use crate::estimate::Estimate;
use crate::kernels::ranks::{pulling, pushing};
use outcore_declare::real_text;
use outcore_graph::{Direction, Graph};
use outcore_image::{Error, Result, Stats, StatsBuilder};
use outcore_ingest::Choice;
use outcore_io::Buffer;

/// The treatment of the rank of vertices without out-edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dangling {
    /// It is spread evenly over all vertices, as NetworkX does.
    #[default]
    Networkx,
    /// It is dropped, as the GAP benchmark does.
    Gap,
}

impl Dangling {
    /// Whether iterations spread the rank of dangling vertices. They do so by GAP's rule, too, if they end at a
    /// tolerance and edges are directed: the ranks that they make differ from GAP's by a factor alone, and converge
    /// earlier. Without a tolerance, or without jumps, ranks need not be near the fixed point, where the factor is
    /// known. Without direction, only isolated vertices are dangling, and what they drop is no loss to others.
    pub fn spreads(self, alpha: f64, tol: f64, directed: bool) -> bool {
        self == Dangling::Networkx || (directed && tol > 0.0 && alpha < 1.0)
    }

    /// The factor from ranks that iterations spread to those of the rule, and from changes to changes. `dangling` is
    /// the rank of all dangling vertices. Spread rank comes from the jumps, of which there are the more.
    pub fn factor(self, alpha: f64, dangling: f64) -> f64 {
        match self {
            Dangling::Networkx => 1.0,
            Dangling::Gap => (1.0 - alpha) / (1.0 - alpha + alpha * dangling),
        }
    }
}

impl Choice for Dangling {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Dangling::Networkx, "networkx", "It is spread evenly over all vertices"),
        (Dangling::Gap, "gap", "It is dropped"),
    ];
}

/// The method by which ranks are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageRankMethod {
    /// Power iteration: full passes over the in-lists.
    #[default]
    Power,
    /// Pushes along the out-lists with the greatest changes to come: fewer pages, more work per page.
    Delta,
}

impl Choice for PageRankMethod {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (PageRankMethod::Power, "power", "Full passes over the in-lists"),
        (
            PageRankMethod::Delta,
            "delta",
            "Pushes where most is left to do: fewer pages of the out-lists, more work per page",
        ),
    ];
}

outcore_declare::from_names!(Dangling, PageRankMethod);

/// Options of PageRank.
#[derive(Clone, Copy, Debug)]
pub struct PageRankOptions {
    /// The probability of following an edge rather than jumping anywhere, from 0 to 1. Default: 0.85.
    pub alpha: f64,
    /// Stop when the residual, the sum of absolute changes, is below this; 0 makes exactly `max_iterations` iterations.
    /// Default: 1e-8.
    pub tol: f64,
    /// The quantity that the residual is compared with. Default: the tolerance alone, [`Stop::Residual`].
    pub stop: Stop,
    /// The most iterations. The delta method may read as many pages as these would. Default: 200.
    pub max_iterations: u32,
    /// The method. Default: power iteration.
    pub method: PageRankMethod,
    /// The treatment of the rank of vertices without out-edges. Default: as NetworkX.
    pub dangling: Dangling,
    /// Whether edges count by their weights. Default: false.
    pub weights: bool,
}

impl Default for PageRankOptions {
    fn default() -> Self {
        PageRankOptions {
            alpha: 0.85,
            tol: 1e-8,
            stop: Stop::Residual,
            max_iterations: 200,
            method: PageRankMethod::Power,
            dangling: Dangling::Networkx,
            weights: false,
        }
    }
}

/// Ranks, and how they converged.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct PageRank {
    /// Per vertex: its rank.
    pub ranks: Buffer<f64>,
    /// How many iterations, or rounds of pushes, were made.
    pub iterations: u32,
    /// The sum over all vertices of the absolute change in the last iteration. Ranks are at most alpha / (1 - alpha)
    /// times that away from exact ones, in all.
    pub residual: f64,
    /// Reason that the iterations ended: whether the ranks converged, and by which rule.
    pub stopped_by: StoppedBy,
    /// Statistics of the run.
    pub stats: Stats,
}

/// The estimate for PageRank over this graph; passes are those of `max_iterations` iterations.
pub(crate) fn estimate(graph: &Graph, options: &PageRankOptions) -> Estimate {
    match options.method {
        PageRankMethod::Power => pulling::estimate(graph, options),
        PageRankMethod::Delta => pushing::estimate(graph, options),
    }
}

/// Computes the PageRank of every vertex.
///
/// A result that did not converge within `max_iterations` iterations says so in `stopped_by`.
///
/// # Errors
/// Options out of range, weights that are negative or infinite, too little memory (20 bytes per vertex, 24 with
/// weights; 24 and 32 with the delta method), a page that cannot be read or is damaged, a request to stop.
pub fn pagerank(graph: &Graph, options: &PageRankOptions) -> Result<PageRank> {
    match options.method {
        PageRankMethod::Power => pulling::pagerank_by_pulling(graph, options),
        PageRankMethod::Delta => pushing::pagerank_by_pushing(graph, options),
    }
}

/// Refuses an `alpha` that is no probability and a tolerance that is negative or not a number.
pub(crate) fn check(options: &PageRankOptions) -> Result<()> {
    if !(0.0..=1.0).contains(&options.alpha) {
        return Err(Error::Usage(format!("expected alpha between 0 and 1, found {}", real_text(options.alpha))));
    }
    if options.tol.is_nan() || options.tol < 0.0 {
        let found = real_text(options.tol);
        return Err(Error::Usage(format!("expected a tolerance of at least 0, found {found}")));
    }
    Ok(())
}

/// Statistics of a run, with the reason that it ended.
pub(crate) fn finish(graph: &Graph, options: &PageRankOptions, stats: StatsBuilder, stopped_by: StoppedBy) -> Stats {
    let mut stats = stats.finish(graph.runtime(), pages_per_pass(graph, options));
    stats.stopped_by = Some(stopped_by.name());
    stats
}

/// The pages that a pass of the method reads.
pub(crate) fn pages_per_pass(graph: &Graph, options: &PageRankOptions) -> u64 {
    let direction = match options.method {
        PageRankMethod::Power => Direction::In,
        PageRankMethod::Delta => Direction::Out,
    };
    let weights = if options.weights { graph.weight_pages(direction) } else { 0 };
    graph.pages(direction) + weights
}
