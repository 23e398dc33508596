//! Verifiers of ranks: another iteration, pushed along the out-lists instead of pulled, and what it changes.
//!
//! An iteration brings ranks closer to the fixed point by the factor `alpha`. So ranks whose last iteration changed
//! them by less than a threshold are changed by less than `alpha` times that by another one; and those after `k`
//! iterations, which began no further than 2 apart, by at most `2 alpha^k`. The residual that a result claims is
//! compared with these bounds, and not trusted.

use crate::convergence::StoppedBy;
use crate::estimate::longest_lists;
use crate::kernels::pagerank::{Dangling, PageRank, PageRankMethod, PageRankOptions};
use crate::kernels::personalized_pagerank::{PersonalizedPageRank, PersonalizedPageRankOptions};
use crate::sources::check_vertices;
use crate::state::{Layout, array, degrees};
use crate::visit::for_each_list;
use outcore_graph::{Direction, Edges, Frontier, Graph, ListPart, vertex_sum};
use outcore_image::{Error, Result};
use outcore_io::{AtomicF64, Buffer};
use std::collections::HashMap;
use std::sync::atomic::Ordering;

/// Bound of the change of ranks by rounding in double precision, in all. The residual of pushed ranks includes their
/// rounding to whole multiples of 2^-60.
const ROUNDING: f64 = 1e-12;
/// Bound of the change of the sum of ranks by rounding, over all iterations. Pushed ranks sum to 1 but for what another
/// iteration changes.
const SUM_ROUNDING: f64 = 1e-9;

/// Checks ranks with one pass over the out-lists: pushes them along the edges once more, and bounds the change.
///
/// Ranks that converged, as the result claims, are changed by less than `alpha` times the tolerance. Others are changed
/// by no more than the claimed number of iterations allows. Residual, iterations and the reason that they ended agree
/// with that and with the options. Ranks are not below zero, and by NetworkX's rule they sum to 1. With weights it
/// takes one more pass, for their sums.
///
/// # Errors
/// Ranks that contradict this, too little memory (12 bytes per vertex, 16 with weights), or a page that cannot be read.
pub fn verify_pagerank(graph: &Graph, options: &PageRankOptions, result: &PageRank) -> Result<()> {
    result.stats.check_image(graph.image())?;
    let claim = Claim { iterations: result.iterations, residual: result.residual, stopped_by: result.stopped_by };
    claim.check(options, graph.vertices())?;
    let share = 1.0 / graph.vertices() as f64;
    verify_ranks(graph, options, &result.ranks, &claim, &|_| share)
}

/// Checks personalised PageRank as [`verify_pagerank`] does, one set of seeds after the other.
///
/// # Errors
/// Ranks that contradict this, too little memory (12 bytes per vertex, 16 with weights), or a page that cannot be read.
pub fn verify_personalized_pagerank(
    graph: &Graph,
    options: &PersonalizedPageRankOptions,
    result: &PersonalizedPageRank,
) -> Result<()> {
    result.stats.check_image(graph.image())?;
    options.seeds.iter().flatten().try_for_each(|seed| check_vertices(graph, &[seed.0]))?;
    if result.ranks.len() != options.seeds.len() {
        let expected = format!("ranks for {} sets of seeds", options.seeds.len());
        return Err(Error::verification(expected, result.ranks.len().to_string()));
    }
    if options.seeds.is_empty() {
        return Ok(());
    }
    let common = options.common();
    let claim = Claim { iterations: result.iterations, residual: result.residual, stopped_by: result.stopped_by };
    claim.check(&common, graph.vertices())?;
    for (set, ranks) in options.seeds.iter().zip(&result.ranks) {
        let sum: f64 = set.iter().map(|seed| seed.1).sum();
        let mut shares = HashMap::<u32, f64>::new();
        set.iter().for_each(|&(vertex, share)| *shares.entry(vertex).or_default() += share / sum);
        let share = |v: usize| shares.get(&(v as u32)).copied().unwrap_or(0.0);
        verify_ranks(graph, &common, ranks, &claim, &share)?;
    }
    Ok(())
}

pub(crate) fn ranks_bytes(graph: &Graph, options: &PageRankOptions) -> u64 {
    let strengths = if options.weights { sums(graph).bytes() } else { degrees(graph, Direction::Out).bytes() };
    strengths + incoming(graph).bytes()
}

fn sums(graph: &Graph) -> impl Layout<Made = Buffer<AtomicF64>> {
    array(graph, "sums of weights", graph.vertices())
}

fn incoming(graph: &Graph) -> impl Layout<Made = Buffer<AtomicF64>> {
    array(graph, "incoming ranks", graph.vertices())
}

/// The convergence that a result reports.
struct Claim {
    iterations: u32,
    residual: f64,
    stopped_by: StoppedBy,
}

impl Claim {
    /// Checks that the claim agrees with itself and with the options.
    fn check(&self, options: &PageRankOptions, vertices: u64) -> Result<()> {
        let Claim { iterations, residual, stopped_by } = *self;
        let expected = options.stop.outcome(options.tol, vertices, residual);
        // Pushes may end before the work that they are allowed is done.
        let is_least = stopped_by == StoppedBy::Rounding && options.method == PageRankMethod::Delta;
        let agrees = stopped_by == expected || (is_least && expected == StoppedBy::Iterations);
        if residual.is_nan() || residual < 0.0 || !agrees {
            let expected = format!("iterations stopped by {expected:?} at a residual of {residual:e}");
            return Err(Error::verification(expected, format!("{stopped_by:?}")));
        }
        // Rounds of pushes are bounded by the pages that they read, not by their number.
        let most = if options.method == PageRankMethod::Power { options.max_iterations } else { u32::MAX };
        let all = options.method == PageRankMethod::Power && stopped_by == StoppedBy::Iterations;
        if iterations > most || (all && iterations != most) {
            let expected = format!("{most} iterations{}", if all { "" } else { " at most" });
            return Err(Error::verification(expected, iterations.to_string()));
        }
        Ok(())
    }

    /// The greatest sum of changes of ranks that another iteration may make. `longest` is the greatest number of terms
    /// of a sum over a list.
    fn most_change(&self, options: &PageRankOptions, vertices: u64, longest: u64) -> f64 {
        let power = options.method == PageRankMethod::Power;
        let by_rule = match self.stopped_by {
            StoppedBy::Residual | StoppedBy::Networkx => options.stop.threshold(options.tol, vertices),
            // Ranks that start alike are at most 2 away from what an iteration makes of them. With a tolerance, ranks
            // are extrapolated, after which the change is no longer bounded by their number.
            StoppedBy::Iterations if power && options.tol == 0.0 => {
                2.0 * options.alpha.powf((f64::from(self.iterations) - 1.0).max(0.0))
            }
            StoppedBy::Iterations | StoppedBy::Rounding => 2.0,
        };
        options.alpha * by_rule.min(self.residual) + longest as f64 * f64::EPSILON + ROUNDING
    }
}

/// Makes another iteration, and checks how it changes ranks. `jumps` is the share of all jumps that leads to a vertex.
fn verify_ranks(
    graph: &Graph,
    options: &PageRankOptions,
    ranks: &[f64],
    claim: &Claim,
    jumps: &(dyn Fn(usize) -> f64 + Sync),
) -> Result<()> {
    let vertices = graph.vertices();
    if vertices == 0 {
        return Ok(());
    }
    graph.make_room("verification of PageRank", ranks_bytes(graph, options))?;
    let edges = Edges::new(Direction::Out, options.weights);
    let strength: Box<dyn Fn(usize) -> f64 + Sync> = if options.weights {
        let sums = sums(graph).make()?;
        for_each_list(graph, edges, Frontier::All, |list| {
            sums[list.vertex as usize].add((0..list.neighbours.len()).map(|i| list.weights.real(i)).sum());
        })?;
        Box::new(move |v| sums[v].load())
    } else {
        let (degrees, _) = degrees(graph, Direction::Out).make()?;
        Box::new(move |v| f64::from(degrees[v].load(Ordering::Relaxed)))
    };
    let incoming = incoming(graph).make()?;
    let weight = |list: &ListPart<'_>, i| if options.weights { list.weights.real(i) } else { 1.0 };
    for_each_list(graph, edges, Frontier::All, |list| {
        let v = list.vertex as usize;
        let share = if strength(v) == 0.0 { 0.0 } else { ranks[v] / strength(v) };
        for (i, &neighbour) in list.neighbours.iter().enumerate() {
            incoming[neighbour as usize].add(share * weight(&list, i));
        }
    })?;
    let sum =
        |value: &(dyn Fn(usize) -> f64 + Sync)| vertex_sum(graph.runtime(), vertices, |range| range.map(value).sum());
    let total = sum(&|v| ranks[v])?;
    let dangling = match options.dangling {
        Dangling::Networkx => sum(&|v| if strength(v) == 0.0 { ranks[v] } else { 0.0 })?,
        Dangling::Gap => 0.0,
    };
    let jumping = 1.0 - options.alpha + options.alpha * dangling;
    let rank = |v: usize| jumping * jumps(v) + options.alpha * incoming[v].load();
    let change = sum(&|v| (rank(v) - ranks[v]).abs())?;
    let most = claim.most_change(options, vertices, longest_lists(graph));
    if change.is_nan() || change > most {
        let expected = format!("ranks that another iteration changes by at most {most:e}");
        return Err(Error::verification(expected, format!("{change:e}")));
    }
    let off = SUM_ROUNDING + if options.method == PageRankMethod::Delta { most } else { 0.0 };
    if options.dangling == Dangling::Networkx && (total.is_nan() || (total - 1.0).abs() >= off) {
        return Err(Error::verification(format!("ranks that sum to 1, but for {off:e}"), total.to_string()));
    }
    let negative = sum(&|v| f64::from(u8::from(ranks[v] < 0.0)))?;
    if negative > 0.0 {
        return Err(Error::verification("no rank below zero", negative.to_string()));
    }
    Ok(())
}
