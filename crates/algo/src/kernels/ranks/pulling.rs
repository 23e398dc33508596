//! PageRank by power iteration, pulling: the method "power". `pushing.rs` has the other one.
//!
//! *Idea.* Each iteration makes one pass over the in-lists and sums, for every vertex, what its in-neighbours
//! contribute: their rank over their out-degree. Lists are folded page by page in a fixed order, so the ranks have the
//! same bits for every number of workers. Images in degree order keep the contributions of hubs close together, which
//! is most of what is gathered.
//!
//! *Dangling vertices*, those without out-edges, keep the rank they would pass on. By NetworkX's rule it is spread
//! evenly over all vertices, so ranks sum to 1; by the GAP benchmark's rule it is dropped. Dropped or spread, ranks
//! are the same but for a factor: spread rank comes from the same jumps, of which there are more. With direction,
//! iterations towards a tolerance therefore spread it under both rules, and GAP's ranks are made in the end. Where rank
//! is dropped in each iteration, the sum of all ranks itself has to converge, by the factor `alpha` at best: 77
//! iterations to 1e-8 of a directed Kronecker graph, 19 where it is spread.
//!
//! *Weights*, where they are used, are the shares by which a vertex divides its rank among its out-edges; without them,
//! shares are equal.
//!
//! *Extrapolation.* What is left to converge late lies near the eigenvalues `alpha` and `-alpha`, for communities and
//! bipartite parts hardly mix. Where the residual of an iteration is above 0.9 `alpha` times the one before, the next
//! iteration makes `(x'' - alpha^2 x) / (1 - alpha^2)` of its ranks `x''` and those of two iterations before, `x`,
//! which its place still holds; that cancels both. It takes neither memory nor a pass. Ranks below the least that a
//! vertex can have are raised to it, and the next iteration divides by the sum. If an extrapolation did not pay, as on
//! graphs with many directed circles of three, there is no further one. NetworkX's rule and `max_iterations` iterations
//! without a tolerance mean plain iterations, and have none.
//!
//! *Convergence.* The residual, which is the sum over all vertices of the absolute change, falls below `tol`. All ranks
//! together are then at most `alpha / (1 - alpha) * tol` away from exact ones. NetworkX compares it with `tol` times
//! the number of vertices, which [`Stop::Networkx`] does too. The default of 200 iterations is enough for the default
//! tolerance on every graph up to an `alpha` of 0.89: each brings the residual, at most 2 at first, down by the factor
//! `alpha`, and an extrapolation that does not pay costs some twenty.
//!
//! *Precision.* Sums are of double precision. On graphs whose contributions do not fit the processor's cache, the first
//! iterations store and gather them in single precision, which halves the fetched bytes. They change ranks by more
//! than their rounding, which is less than one part in ten million. The last iterations are of double precision, so
//! the ranks converge to the same fixed point.
//!
//! *Cost.* One pass over the in-lists per iteration and nothing else: a vertex's next contribution is made where its
//! sum ends. 20 bytes per vertex: contribution and next contribution as f64, out-degree. The rank is not stored: it is
//! the contribution times the degree. With weights 24 bytes, for the strength replaces the degree (`strengths.rs`).
//! A dangling vertex contributes to no vertex, so its place among the contributions holds its rank. Vertices without
//! any edge all have the same rank, which is kept once; their memory is not touched.
//!
//! Page, Brin, Motwani, Winograd, *The PageRank citation ranking*, 1999; Haveliwala, Kamvar, Klein, Manning, Golub,
//! *Computing PageRank using power extrapolation*, 2003; Beamer, Asanović, Patterson, *The GAP
//! benchmark suite*, 2015.

use crate::convergence::Stop;
use crate::estimate::{Bound, Estimate, Reads};
use crate::kernels::pagerank::{PageRank, PageRankOptions, check, finish, pages_per_pass};
use crate::kernels::ranks::strengths::{Contribution, Divisors, RankDivisors, divisor_bytes, weight_passes};
use crate::state::{Layout, array};
use crate::visit::for_each_vertex;
use outcore_format::Lists;
use outcore_graph::{
    Direction, Edges, Frontier, Gathered, Graph, ListFold, ListPart, Weights, fold, gather_sum, gather_sums,
    gather_weighted_sum, gather_weighted_sums, vertex_sum,
};
use outcore_image::{Result, StatsBuilder};
use outcore_io::{AtomicF32, AtomicF64, Buffer, Task, Unit};
use outcore_table::ColumnKind;
use std::ops::Range;

/// Least number of vertices with which early iterations gather contributions of single precision.
const SINGLE_FROM_VERTICES: u64 = 1 << 22;
/// Single precision is enough while the ranks change by more than this in all: ten times what its rounding can.
const SINGLE_ABOVE_RESIDUAL: f64 = 1e-6;
/// Ranks are extrapolated where an iteration leaves more than this share of the slowest decay, `alpha`.
const SLOW: f64 = 0.9;
/// Plain iterations from one extrapolation to the next, which tell whether it paid.
const BETWEEN: u32 = 4;
/// Changes are extrapolated while they exceed the rounding of contributions, as extrapolation enlarges it, this often.
const ABOVE_ROUNDING: f64 = 2.0;

/// One array of the contributions of all vertices. An iteration reads one and writes another. In single precision an
/// array takes half the memory.
fn contributions<T: Contribution>(graph: &Graph) -> impl Layout<Made = Buffer<T>> {
    array(graph, "contributions", graph.vertices())
}

/// The estimate for PageRank over this graph; passes are those of `max_iterations` iterations.
pub(crate) fn estimate(graph: &Graph, options: &PageRankOptions) -> Estimate {
    let contributions = (contributions::<AtomicF64>(graph), contributions::<AtomicF64>(graph));
    let passes = f64::from(options.max_iterations) + weight_passes(graph, options);
    let column_pages = if options.weights { 0 } else { graph.degree_pages(Direction::Out) };
    let reads = Reads { passes, bound: Bound::AtMost, pages_per_pass: pages_per_pass(graph, options), column_pages };
    reads.estimate(graph, contributions.bytes() + divisor_bytes(graph, options), vec![ColumnKind::Real])
}

/// Computes ranks by power iteration.
///
/// # Errors
/// Options out of range, refused weights, too little memory, a page that cannot be read or is damaged, a request to
/// stop.
pub(crate) fn pagerank_by_pulling(graph: &Graph, options: &PageRankOptions) -> Result<PageRank> {
    check(options)?;
    graph.make_room("PageRank", estimate(graph, options).state_bytes)?;
    let mut stats = StatsBuilder::of_image(graph.image());
    let (divisors, _weights) = RankDivisors::new(graph, options, &mut stats)?;
    match divisors {
        RankDivisors::Degrees(degrees) => {
            iterate(graph, options, degrees, stats, graph.vertices() >= SINGLE_FROM_VERTICES)
        }
        // Weights may be of any size, so their contributions do not fit single precision.
        RankDivisors::Strengths(strengths) => iterate(graph, options, strengths, stats, false),
    }
}

/// Iterates, at first with contributions of single precision if `single`.
fn iterate<D: Divisors>(
    graph: &Graph,
    options: &PageRankOptions,
    divisors: D,
    stats: StatsBuilder,
    single: bool,
) -> Result<PageRank> {
    let vertices = graph.vertices();
    let mut iteration = Iteration::new(graph, options, divisors, stats)?;
    let enough = options.stop.threshold(options.tol, vertices);
    let ranks = if single && options.max_iterations > 1 {
        let first = iteration.start::<AtomicF32>()?;
        // The last iterations are of double precision, and so is the residual that the result has.
        let most = options.max_iterations - 1;
        let last = iteration.repeat(first, SINGLE_ABOVE_RESIDUAL.max(2.0 * enough), most, 8 * vertices)?;
        let scale = iteration.rescale(&last)?;
        iteration.each(|v| f64::from(last[v].loaded()) * scale)?
    } else {
        iteration.start::<AtomicF64>()?
    };
    let last = iteration.repeat(ranks, enough, options.max_iterations, 0)?;
    let residual = iteration.residual();
    let stopped_by = options.stop.outcome(options.tol, vertices, residual);
    let ranks = iteration.ranks(last)?;
    let Iteration { stats, made, .. } = iteration;
    let stats = finish(graph, options, stats, stopped_by);
    Ok(PageRank { ranks: ranks.into_values(), iterations: made, residual, stopped_by, stats })
}

/// The state between two iterations.
struct Iteration<'a, D> {
    graph: &'a Graph,
    options: &'a PageRankOptions,
    divisors: D,
    stats: StatsBuilder,
    task: Task,
    /// Whether iterations spread the rank of dangling vertices.
    spread: bool,
    /// The number of iterations, and the sum of absolute changes of the last one, before they are scaled. It is
    /// infinite where it says nothing of the ranks that there are: before the first, and after an extrapolation.
    made: u32,
    change: f64,
    /// The number of iterations and the change at the last extrapolation; `None` before the first.
    extrapolated: Option<(u32, f64)>,
    /// Whether ranks may be extrapolated again.
    may_extrapolate: bool,
    /// The factor with which the ranks that there are sum to 1, after an extrapolation.
    scale: f64,
    /// The rank of all vertices without out-edges together, and of every vertex without any edge.
    dangling: f64,
    isolated: f64,
}

impl<'a, D: Divisors> Iteration<'a, D> {
    /// The state before the first iteration, when all ranks are the same.
    fn new(graph: &'a Graph, options: &'a PageRankOptions, divisors: D, stats: StatsBuilder) -> Result<Self> {
        let count = graph.vertices() as f64;
        let dangling = vertex_sum(graph.runtime(), graph.vertices(), |range| {
            range.filter(|&v| divisors.of(v) == 0.0).count() as f64 / count
        })?;
        let task = graph.runtime().task("PageRank", Unit::Steps, Some(u64::from(options.max_iterations)));
        let change = if count == 0.0 { 0.0 } else { f64::INFINITY };
        let spread = options.dangling.spreads(options.alpha, options.tol, graph.is_directed());
        Ok(Iteration {
            graph,
            options,
            divisors,
            stats,
            task,
            spread,
            made: 0,
            change,
            extrapolated: None,
            may_extrapolate: options.tol > 0.0 && options.stop == Stop::Residual,
            scale: 1.0,
            dangling,
            isolated: 1.0 / count,
        })
    }

    /// Whether the next iteration extrapolates, after changes of the last two, whose contributions have this precision.
    fn extrapolates(&mut self, before: f64, epsilon: f64) -> bool {
        let (alpha, change) = (self.options.alpha, self.change);
        let slow = change.is_finite() && before.is_finite() && change > SLOW * alpha * before;
        let rounding = epsilon / (1.0 - alpha * alpha);
        if !self.may_extrapolate || !slow || change < ABOVE_ROUNDING * rounding {
            return false;
        }
        if let Some((made, least)) = self.extrapolated {
            let since = self.made - made;
            if since < BETWEEN {
                return false;
            }
            self.may_extrapolate = change <= least * alpha.powi(since as i32);
        }
        self.may_extrapolate
    }

    /// The factor from the ranks of the iterations to those of the rule.
    fn factor(&self) -> f64 {
        if self.spread { self.options.dangling.factor(self.options.alpha, self.dangling) } else { 1.0 }
    }

    /// The sum of absolute changes of ranks in the last iteration.
    fn residual(&self) -> f64 {
        self.change * self.factor()
    }

    /// A new array of numbers, one per vertex. Memory of zeros only is never touched.
    fn each<T: Contribution>(&self, value: impl Fn(usize) -> f64 + Sync) -> Result<Buffer<T>> {
        let values = contributions::<T>(self.graph).make()?;
        for_each_vertex(self.graph, |v| {
            let value = value(v as usize);
            if value != 0.0 {
                values[v as usize].set(value);
            }
        })?;
        Ok(values)
    }

    /// Contributions where all ranks are the same; vertices without out-edges have none yet.
    fn start<T: Contribution>(&self) -> Result<Buffer<T>> {
        self.each(|v| match self.divisors.of(v) {
            0.0 => 0.0,
            divisor => self.isolated / divisor,
        })
    }

    /// Iterates until ranks change by less than `enough` in all, or `most` iterations were made, and returns the
    /// contributions then. The page cache leaves `spare_bytes` of memory free.
    fn repeat<T: Contribution>(
        &mut self,
        first: Buffer<T>,
        enough: f64,
        most: u32,
        spare_bytes: u64,
    ) -> Result<Buffer<T>> {
        let (graph, options) = (self.graph, self.options);
        let budget = graph.runtime().budget();
        let (mut contributions, mut next) = (first, contributions::<T>(graph).make()?);
        let spare = budget.reserve("contributions in double precision", spare_bytes)?;
        graph.fill_cache()?;
        drop(spare);
        let count = graph.vertices() as f64;
        let edges = Edges::new(Direction::In, options.weights);
        let least = (1.0 - options.alpha) / count;
        // The change of the iteration before the last one, and the rank that isolated vertices had before it.
        let (mut change_before, mut isolated_before) = (f64::INFINITY, self.isolated);
        while count > 0.0 && self.made < most && self.residual() >= enough {
            let dangling = if self.spread { self.dangling } else { 0.0 };
            let base = least + options.alpha * dangling / count;
            // The last iteration is a plain one, which says how far the ranks have converged.
            let extrapolates = self.made + 1 < most && self.extrapolates(change_before, T::EPSILON);
            let extrapolation = extrapolates.then(|| Extrapolation::new(options.alpha, least));
            let pull = Pull { before: self, base, extrapolation, contributions: &contributions, next: &next };
            let (total, sweep) = fold(graph, edges, Frontier::All, &pull)?;
            let change = total.change + total.isolated as f64 * (base - self.isolated).abs();
            let isolated = extrapolation.map_or(base, |by| by.of(isolated_before, base));
            (change_before, isolated_before) = (self.change, self.isolated);
            (self.change, self.isolated, self.scale) = (change, isolated, 1.0);
            self.dangling = total.dangling + total.isolated as f64 * isolated;
            if extrapolates {
                self.extrapolated = Some((self.made + 1, change));
                if self.spread {
                    self.scale = 1.0 / (total.extrapolated + total.isolated as f64 * isolated);
                }
                self.change = f64::INFINITY;
                self.isolated *= self.scale;
                self.dangling *= self.scale;
            }
            self.made += 1;
            self.stats.step("iteration", graph.vertices(), sweep);
            self.task.advance(1);
            std::mem::swap(&mut contributions, &mut next);
        }
        Ok(contributions)
    }

    /// Prepares the change to double precision. Returns the factor of the contributions with which ranks sum to 1
    /// again, if they should, since iterations keep the sum.
    fn rescale(&mut self, contributions: &[AtomicF32]) -> Result<f64> {
        let (runtime, vertices) = (self.graph.runtime(), self.graph.vertices());
        if vertices == 0 {
            return Ok(1.0);
        }
        let rank = |v: usize| self.rank(v, contributions[v].loaded().into());
        let dangling = |v: usize| if self.divisors.of(v) == 0.0 { rank(v) } else { 0.0 };
        let dangling = vertex_sum(runtime, vertices, |range| range.map(dangling).sum())?;
        let scale = match self.spread {
            true => 1.0 / vertex_sum(runtime, vertices, |range| range.map(rank).sum())?,
            false => 1.0,
        };
        self.dangling = dangling * scale;
        self.isolated *= scale;
        // The change of ranks by the factor is not known.
        self.change = f64::INFINITY;
        Ok(scale)
    }

    #[inline]
    fn rank(&self, v: usize, contribution: f64) -> f64 {
        // Only an isolated vertex has neither out-edges nor a stored rank.
        let isolated = contribution == 0.0 && self.divisors.of(v) == 0.0;
        if isolated { self.isolated } else { contribution * self.divisors.divisor(v) }
    }

    fn ranks(&self, contributions: Buffer<AtomicF64>) -> Result<Buffer<AtomicF64>> {
        let factor = self.factor();
        for_each_vertex(self.graph, |v| {
            let slot = &contributions[v as usize];
            slot.store(factor * self.rank(v as usize, slot.load()));
        })?;
        Ok(contributions)
    }
}

/// An extrapolation from ranks two iterations apart.
#[derive(Clone, Copy)]
struct Extrapolation {
    /// How often the change within two iterations is added.
    times: f64,
    /// The least rank that a vertex can have.
    least: f64,
}

impl Extrapolation {
    fn new(alpha: f64, least: f64) -> Extrapolation {
        Extrapolation { times: alpha * alpha / (1.0 - alpha * alpha), least }
    }

    #[inline]
    fn of(self, before: f64, rank: f64) -> f64 {
        (rank + self.times * (rank - before)).max(self.least)
    }
}

/// One iteration: sums the contributions of every vertex's in-neighbours and makes its next contribution of them.
struct Pull<'a, D, T> {
    before: &'a Iteration<'a, D>,
    base: f64,
    extrapolation: Option<Extrapolation>,
    contributions: &'a [T],
    /// The next contributions take the places of those before the last iteration.
    next: &'a [T],
}

/// Sums of one iteration: rank change, dangling rank, extrapolated rank, isolated vertices.
#[derive(Default)]
struct Total {
    /// The sum of absolute changes, and the rank of vertices without out-edges: both without isolated vertices.
    change: f64,
    dangling: f64,
    /// The sum of all ranks, without isolated vertices, if they were extrapolated.
    extrapolated: f64,
    /// How many vertices have no edges. They have the same rank, which is counted and not stored.
    isolated: u64,
}

impl<D: Divisors, T: Contribution> ListFold for Pull<'_, D, T> {
    type Value = f64;
    type Total = Total;

    fn part(&self, list: ListPart<'_>) -> f64 {
        match self.before.options.weights {
            true => gather_weighted_sum(self.contributions, list.neighbours, list.weights),
            false => gather_sum(self.contributions, list.neighbours),
        }
    }

    #[inline]
    fn merge(&self, before: f64, after: f64) -> f64 {
        before + after
    }

    #[inline]
    fn finish(&self, vertex: u32, sum: Option<f64>, total: &mut Total) {
        let v = vertex as usize;
        let divisor = self.before.divisors.of(v);
        let dangling = divisor == 0.0;
        if dangling && sum.is_none() {
            total.isolated += 1;
            return;
        }
        let divisor = if dangling { 1.0 } else { divisor };
        let before = match self.before.made {
            0 => self.before.isolated,
            _ => self.contributions[v].loaded().into() * divisor * self.before.scale,
        };
        let mut rank = self.base + self.before.options.alpha * self.before.scale * sum.unwrap_or(0.0);
        total.change += (rank - before).abs();
        if let Some(extrapolation) = self.extrapolation {
            rank = extrapolation.of(self.next[v].loaded().into() * divisor, rank);
            total.extrapolated += rank;
        }
        total.dangling += if dangling { rank } else { 0.0 };
        self.next[v].set(rank / divisor);
    }

    fn whole(&self, lists: &Lists, weights: Weights<'_>, range: Range<usize>, total: &mut Total) {
        let sums = match self.before.options.weights {
            true => gather_weighted_sums(self.contributions, lists, weights, range.clone()),
            false => gather_sums(self.contributions, lists, range.clone()),
        };
        for (i, sum) in range.zip(sums) {
            let vertex = lists.first_vertex as u32 + i as u32;
            self.finish(vertex, (lists.ends[i] < lists.ends[i + 1]).then_some(sum), total);
        }
    }

    #[inline]
    fn add(&self, total: &mut Total, later: Total) {
        total.change += later.change;
        total.dangling += later.dangling;
        total.extrapolated += later.extrapolated;
        total.isolated += later.isolated;
    }
}
