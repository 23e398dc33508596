//! PageRank by pushing: the method "delta", whose frontier narrows. `pulling.rs` has the other one, and
//! `pagerank.rs` the choice.
//!
//! *Idea.* Every vertex has a rank so far and a *rest*: by how much another iteration would change the rank. Pushing a
//! vertex adds its rest to its rank and a share of it to the rest of every out-neighbour. A round pushes the vertices
//! whose lists begin in the blocks of eight pages with most rest per page, as many blocks as hold a third of it. So
//! pages of vertices that are nearly done are left alone, and to the same residual far fewer pages are read than by
//! full iterations.
//!
//! *Balance.* Before a round all ranks are multiplied by what makes them sum to 1. Otherwise the sum would approach 1
//! by the factor `alpha` only, which full iterations do not have to wait for. By the GAP benchmark's rule they sum to
//! less if there are dangling vertices; there they are multiplied by what makes the rests sum to 0, which is the same
//! without rounding. A factor and an offset that all vertices have in common stand for that; nothing is rewritten.
//!
//! *Progress.* If a pass's worth of rounds did not bring the residual down by the factor `alpha`, the next round pushes
//! everything, which does: that is a full iteration.
//!
//! *The same bits.* Rests are whole multiples of 2^-60, to which workers add in any order. The share that a vertex
//! gives is rounded to one that single precision holds, and what it gives in all is taken off its rest: what rounding
//! leaves stays there. A push is off by at most half a unit, with weights half a unit per edge, and by what double
//! precision rounds ranks by.
//!
//! *Rounding.* So a rest differs a little from the change by another iteration. The errors of the pushes are summed up
//! as `lost`, in units of rank: rests are off by at most `alpha * lost` in all. The residual is the sum of
//! the absolute rests and of what is lost, so what holds of an exact residual holds of it, too: another iteration
//! changes ranks by at most `alpha * residual`, and they are at most `alpha / (1 - alpha) * residual` away from exact
//! ones. There are residuals that it does not fall below: a vertex cannot push a rest below its out-degree over `alpha`
//! units, and what is lost is not found again. When nothing can be pushed, or more is lost than the tolerance
//! and than what is left to push, rounds end ([`StoppedBy::Rounding`]).
//!
//! *Start.* Ranks by in-degree, which in undirected graphs are those that there are without jumps, so that their rests
//! are known. In directed ones a pass finds them.
//!
//! *Cost.* Per round the pages of the pushed vertices' out-lists, and two looks at all rests in memory. 24 bytes per
//! vertex: rank, rest, share, out-degree; with weights 32; and 4 per block. A push costs several times what a pull
//! does, so where all pages are in memory full iterations are faster.
//!
//! McSherry, *A uniform approach to accelerated PageRank computation*, WWW 2005; Zhang, Gao, Gao, Wang, *Maiter: an
//! asynchronous graph processing framework for delta-based accumulative iterative computation*, TPDS 2014.

use crate::convergence::StoppedBy;
use crate::estimate::{Bound, Estimate, Reads};
use crate::kernels::pagerank::{Dangling, PageRank, PageRankOptions, check, finish, pages_per_pass};
use crate::kernels::ranks::strengths::{Contribution, Divisors, RankDivisors, divisor_bytes, weight_passes};
use crate::state::{Layout, array, bitmap};
use crate::visit::for_each_vertex;
use outcore_graph::{Bitmap, Direction, Edges, Frontier, Graph, ListPart, scan, vertex_map, vertex_sum};
use outcore_image::{Error, Result, StatsBuilder, SweepStats};
use outcore_io::buffer::prefetched;
use outcore_io::{AtomicF32, AtomicF64, Buffer, Unit};
use outcore_table::ColumnKind;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A rank of 1, in the units of rests.
const ONE: f64 = (1u64 << 60) as f64;
/// Parts per unit in which the loss on edges with weights is counted.
const UNIT_PARTS: f64 = 1024.0;
/// Bound of the rounding of ranks in double precision between rounds and in the end, in units: 2^-49 of a rank of 1.
const REAL_ROUNDING: f64 = (1u64 << 11) as f64;
/// The pages of a block. Smaller ones share more pages with their neighbours, where lists go on.
const BLOCK_PAGES: u64 = 8;
/// The number of blocks that a worker weighs at a time.
const BLOCKS: usize = 16;
/// Rest per page falls into classes by the upper bits of its single precision: eight for every power of two.
const CLASS_SHIFT: u32 = 20;
/// A round counts as at least one `LEAST_SHARE`-th of all pages.
const LEAST_SHARE: u64 = 32;

/// Ranks, rests, shares, the rests of pages, and the vertices that are pushed.
type State<S> = (Buffer<AtomicF64>, Buffer<AtomicU64>, Buffer<S>, Buffer<AtomicU32>, Bitmap);

fn state<S: Contribution>(graph: &Graph) -> impl Layout<Made = State<S>> {
    (
        array(graph, "ranks", graph.vertices()),
        array(graph, "rests", graph.vertices()),
        array(graph, "shares", graph.vertices()),
        array(graph, "rests of pages", blocks(graph)),
        bitmap(graph, "pushed vertices", graph.vertices()),
    )
}

pub(crate) fn estimate(graph: &Graph, options: &PageRankOptions) -> Estimate {
    let state = if options.weights { state::<AtomicF64>(graph).bytes() } else { state::<AtomicF32>(graph).bytes() };
    // The last round may be a full one.
    let passes = f64::from(options.max_iterations) + 1.0 + weight_passes(graph, options);
    let column_pages = graph.degree_pages(Direction::Out) + graph.degree_pages(Direction::In);
    let reads = Reads { passes, bound: Bound::AtMost, pages_per_pass: pages_per_pass(graph, options), column_pages };
    reads.estimate(graph, state + divisor_bytes(graph, options), vec![ColumnKind::Real])
}

/// The number of blocks of the out-lists.
fn blocks(graph: &Graph) -> u64 {
    graph.pages(Direction::Out).div_ceil(BLOCK_PAGES)
}

/// Computes ranks by pushes, until the residual is below the threshold of the options.
///
/// # Errors
/// Options out of range, an `alpha` of 0 or 1, refused weights, too little memory, a page that cannot be read or is
/// damaged, a request to stop.
pub(crate) fn pagerank_by_pushing(graph: &Graph, options: &PageRankOptions) -> Result<PageRank> {
    check(options)?;
    graph.make_room("PageRank", estimate(graph, options).state_bytes)?;
    let mut stats = StatsBuilder::of_image(graph.image());
    let (divisors, _weights) = RankDivisors::new(graph, options, &mut stats)?;
    match divisors {
        RankDivisors::Degrees(degrees) => Delta::<_, AtomicF32>::new(graph, options, degrees, &mut stats)?.run(stats),
        // Weights may be of any size, so shares do not fit single precision.
        RankDivisors::Strengths(strengths) => {
            Delta::<_, AtomicF64>::new(graph, options, strengths, &mut stats)?.run(stats)
        }
    }
}

/// The state between two rounds.
///
/// With `scale`, the rank of a vertex is `scale * ranks`, and its rest `scale * (rests + offset)` units. A vertex
/// without out-edges cannot push: its rest is the sum of all that it has received, its rank.
struct Delta<'a, D, S: Contribution> {
    graph: &'a Graph,
    options: &'a PageRankOptions,
    divisors: D,
    ranks: Buffer<AtomicF64>,
    /// Signed numbers.
    rests: Buffer<AtomicU64>,
    /// Per vertex pushed in a round: the share that every out-neighbour, or weight of 1, gets from it.
    shares: Buffer<S>,
    /// Per block: the rest of the vertices whose lists begin there, over the pages that these lie in, in single
    /// precision.
    densities: Buffer<AtomicU32>,
    chosen: Bitmap,
    scale: f64,
    offset: f64,
    /// How much pushes may have been off in all, in units of rank, without the factor.
    lost: f64,
    /// How many vertices have no out-edges.
    dangling: u64,
}

/// The rests of all vertices, summed by classes of blocks.
struct Weighed {
    /// The sum of their absolute values, in units.
    rest: u64,
    /// The part of it in every class of blocks.
    classes: Vec<u64>,
}

impl<'a, D: Divisors, S: Contribution> Delta<'a, D, S> {
    fn new(graph: &'a Graph, options: &'a PageRankOptions, divisors: D, stats: &mut StatsBuilder) -> Result<Self> {
        if options.alpha <= 0.0 || options.alpha >= 1.0 {
            let alpha = options.alpha;
            return Err(Error::Usage(format!("expected alpha above 0 and below 1 to push ranks, found {alpha}")));
        }
        let (runtime, vertices) = (graph.runtime(), graph.vertices());
        let (ranks, rests, shares, densities, chosen) = state(graph).make()?;
        if graph.is_directed() {
            let set = |vertex: u32, degree: u32| ranks[vertex as usize].store(degree.into());
            stats.other(graph.for_each_degree(Direction::In, set)?);
        }
        let dangling = |range: Range<usize>| range.filter(|&v| divisors.of(v) == 0.0).count() as f64;
        let dangling = vertex_sum(runtime, vertices, dangling)? as u64;
        let (scale, offset, lost) = (1.0, 0.0, 0.0);
        Ok(Delta { graph, options, divisors, ranks, rests, shares, densities, chosen, scale, offset, lost, dangling })
    }

    /// Gives vertices the ranks that they start with, and pushes these. Returns what that read: a pass in directed
    /// graphs, whose in-degrees stand where ranks will.
    fn start(&mut self) -> Result<SweepStats> {
        let (runtime, vertices) = (self.graph.runtime(), self.graph.vertices());
        let (directed, alpha) = (self.graph.is_directed(), self.options.alpha);
        let edges = self.graph.edges() as f64;
        let all = vertex_sum(runtime, vertices, |range| range.map(|v| self.divisors.of(v)).sum())?;
        let give = |v: usize| {
            let (divisor, degree) = (self.divisors.of(v), self.ranks[v].load());
            self.ranks[v].store(0.0);
            if divisor == 0.0 {
                return 0.0;
            }
            if directed {
                return self.give(v, (alpha * degree / edges + (1.0 - alpha) / vertices as f64) * ONE).1;
            }
            // All shares are the same, so what comes back is known.
            let (share, lost) = self.give_share(v, alpha * ONE / all);
            let back = share * divisor;
            self.add(v, back.round() as i64);
            lost + ((back.round() - back).abs() + f64::EPSILON * back) / alpha
        };
        self.lost += vertex_sum(runtime, vertices, |range| range.map(give).sum())?;
        if !directed {
            return Ok(SweepStats::default());
        }
        let (sweep, lost) = self.push(Frontier::All)?;
        self.lost += lost;
        Ok(sweep)
    }

    /// Adds something to the rank of a vertex with out-edges, in units, and notes the share of each; returns that, and
    /// by how much the rest is off then.
    #[inline]
    fn give(&self, v: usize, units: f64) -> (f64, f64) {
        self.give_share(v, self.options.alpha * units / self.divisors.of(v))
    }

    /// Does what [`Self::give`] does, for a given share of every out-edge.
    #[inline]
    fn give_share(&self, v: usize, share: f64) -> (f64, f64) {
        self.shares[v].set(if self.options.weights { share } else { share.trunc() });
        let share: f64 = self.shares[v].loaded().into();
        let shared = share * self.divisors.of(v) / self.options.alpha;
        let given = shared.round();
        if given == 0.0 {
            self.shares[v].set(0.0);
            return (0.0, 0.0);
        }
        let rank = self.ranks[v].load() + given / ONE;
        self.ranks[v].store(rank);
        self.add(v, -(given as i64));
        // Two operations made what is shared, one the rank; each rounds by half an epsilon.
        (share, (shared - given).abs() + f64::EPSILON * (given.abs() + rank.abs() * ONE / 2.0))
    }

    fn run(mut self, mut stats: StatsBuilder) -> Result<PageRank> {
        let (graph, options) = (self.graph, self.options);
        graph.fill_cache()?;
        let pages = pages_per_pass(graph, options);
        let task = graph.runtime().task("PageRank", Unit::Steps, None);
        let enough = options.stop.threshold(options.tol, graph.vertices());
        let most = u64::from(options.max_iterations).saturating_mul(pages.max(1));
        if graph.vertices() == 0 {
            return self.result(0, (0.0, false), stats);
        }
        let start = self.start()?;
        let (mut rounds, mut pushed, mut full) = (0, start.pages_wanted, false);
        if graph.is_directed() {
            stats.step("start", graph.vertices(), start);
            rounds += 1;
        }
        // Pages pushed by then, and the residual then.
        let mut milestone = (pushed, f64::INFINITY);
        let outcome = loop {
            self.balance()?;
            let weighed = self.weigh()?;
            let lost = self.scale * (self.lost + REAL_ROUNDING) / ONE;
            let rest = self.scale * weighed.rest as f64 / ONE;
            let residual = rest + lost;
            if residual < enough || pushed >= most {
                break (residual, false);
            }
            if enough > 0.0 && lost >= enough && rest <= lost {
                break (residual, true);
            }
            if pushed >= milestone.0 + pages {
                full |= residual > options.alpha * milestone.1;
                milestone = (pushed, residual);
            }
            let least = if full { 0 } else { weighed.third() };
            let active = self.choose(least)?;
            if active == 0 && full {
                break (residual, true);
            }
            if active == 0 {
                full = true;
                continue;
            }
            let (sweep, lost) = self.push(if full { Frontier::All } else { Frontier::Set(&self.chosen) })?;
            self.lost += lost;
            pushed += sweep.pages_wanted.max(pages / LEAST_SHARE + 1);
            stats.step("round", active, sweep);
            task.advance(1);
            (rounds, full) = (rounds + 1, false);
        };
        self.result(rounds, outcome, stats)
    }

    /// The ranks as they are, with their residual, and whether rounding keeps it from falling.
    fn result(self, rounds: u32, (residual, is_least): (f64, bool), stats: StatsBuilder) -> Result<PageRank> {
        let (graph, options) = (self.graph, self.options);
        let stopped_by = match options.stop.outcome(options.tol, graph.vertices(), residual) {
            StoppedBy::Iterations if is_least => StoppedBy::Rounding,
            outcome => outcome,
        };
        let ranks = self.finish()?;
        let stats = finish(graph, options, stats, stopped_by);
        Ok(PageRank { ranks: ranks.into_values(), iterations: rounds, residual, stopped_by, stats })
    }

    #[inline]
    fn add(&self, v: usize, rest: i64) {
        self.rests[v].fetch_add(rest as u64, Ordering::Relaxed);
    }

    /// The rest of a vertex without its factor, in units.
    #[inline]
    fn rest(&self, v: usize) -> f64 {
        self.rests[v].load(Ordering::Relaxed) as i64 as f64 + self.offset
    }

    /// Finds the factor with which ranks sum to 1, or rests to 0, if there is any, and the offset for it.
    fn balance(&mut self) -> Result<()> {
        let (runtime, vertices) = (self.graph.runtime(), self.graph.vertices());
        let (given, received) = (AtomicU64::new(0), AtomicU64::new(0));
        vertex_map(runtime, vertices, |range| {
            let (mut pushing, mut dangling) = (0i64, 0i64);
            for v in range {
                let rest = self.rests[v].load(Ordering::Relaxed) as i64;
                let sum = if self.divisors.of(v) == 0.0 { &mut dangling } else { &mut pushing };
                *sum = sum.wrapping_add(rest);
            }
            given.fetch_add(pushing as u64, Ordering::Relaxed);
            received.fetch_add(dangling as u64, Ordering::Relaxed);
            Ok(())
        })?;
        let alpha = self.options.alpha;
        let (given, received) = (given.into_inner() as i64 as f64, received.into_inner() as i64 as f64);
        let (all, dangling) = (vertices as f64, self.dangling as f64);
        let is_spread = self.options.dangling == Dangling::Networkx;
        // Part of the rank of a vertex without out-edges that every vertex gets.
        let spread = if is_spread { alpha / all } else { 0.0 };
        let jump = (1.0 - alpha) / all * ONE;
        let scale = if is_spread || dangling == 0.0 {
            let ranks = vertex_sum(runtime, vertices, |range| range.map(|v| self.ranks[v].load()).sum())?;
            (all - dangling) / ((all - alpha * dangling) * ranks + all * received / ONE)
        } else {
            jump * (dangling - all) / given
        };
        if dangling < all && scale > 0.0 && scale <= self.scale * 4.0 / (1.0 - alpha) {
            self.scale = scale;
        }
        self.offset = (jump / self.scale + spread * received) / (1.0 - spread * dangling);
        Ok(())
    }

    /// The vertices whose lists begin in a block, and the pages that these lie in.
    fn block(&self, block: usize) -> (Range<usize>, u64) {
        let first = block as u64 * BLOCK_PAGES;
        let behind = (first + BLOCK_PAGES).min(self.graph.pages(Direction::Out));
        let (vertices, pages) = self.graph.begun_in(Direction::Out, first..behind);
        (vertices.start as usize..vertices.end as usize, pages)
    }

    fn weigh(&self) -> Result<Weighed> {
        let classes: Vec<AtomicU64> = (0..1 << (u32::BITS - CLASS_SHIFT)).map(|_| AtomicU64::new(0)).collect();
        self.graph.runtime().for_each_range(self.densities.len(), BLOCKS, |blocks| -> Result<()> {
            for block in blocks {
                let (vertices, pages) = self.block(block);
                let pushing = vertices.filter(|&v| self.divisors.of(v) > 0.0);
                // Rounded up together: one by one, rests of less than a unit would be nothing or all too much.
                let rest = pushing.map(|v| self.rest(v).abs()).sum::<f64>().ceil() as u64;
                let class = (rest as f32 / pages as f32).to_bits();
                self.densities[block].store(class, Ordering::Relaxed);
                classes[(class >> CLASS_SHIFT) as usize].fetch_add(rest, Ordering::Relaxed);
            }
            Ok(())
        })?;
        let classes: Vec<u64> = classes.into_iter().map(AtomicU64::into_inner).collect();
        Ok(Weighed { rest: classes.iter().fold(0, |sum, &rest| sum.wrapping_add(rest)), classes })
    }

    /// Gives the vertices of all blocks from a class on their rest, and notes what it is to bring to others; returns
    /// how many vertices that are.
    fn choose(&mut self, least: u32) -> Result<u64> {
        self.chosen.clear();
        let (active, lost) = (AtomicU64::new(0), AtomicU64::new(0));
        self.graph.runtime().for_each_range(self.densities.len(), BLOCKS, |blocks| -> Result<()> {
            let (mut count, mut off) = (0, 0.0);
            for block in blocks {
                if self.densities[block].load(Ordering::Relaxed) >> CLASS_SHIFT < least {
                    continue;
                }
                for v in self.block(block).0.filter(|&v| self.divisors.of(v) > 0.0) {
                    let (share, off_by) = self.give(v, self.rest(v));
                    if share != 0.0 {
                        self.chosen.insert(v as u32);
                        count += 1;
                        off += off_by;
                    }
                }
            }
            active.fetch_add(count, Ordering::Relaxed);
            lost.fetch_add(f64::ceil(off) as u64, Ordering::Relaxed);
            Ok(())
        })?;
        self.lost += lost.into_inner() as f64;
        Ok(active.into_inner())
    }

    /// Brings the shares of a frontier to its out-neighbours. Returns also how much is lost on weights.
    fn push(&self, frontier: Frontier<'_>) -> Result<(SweepStats, f64)> {
        let weights = self.options.weights;
        let bring = |lost: &mut u64, list: ListPart<'_>| {
            let share: f64 = self.shares[list.vertex as usize].loaded().into();
            for (i, neighbour) in prefetched(&self.rests, list.neighbours).enumerate() {
                let mut rest = share;
                if weights {
                    let exact = share * list.weights.real(i);
                    rest = exact.round();
                    let off = (rest - exact).abs() + f64::EPSILON * exact.abs();
                    *lost = lost.saturating_add((off * UNIT_PARTS).ceil() as u64);
                }
                self.add(neighbour as usize, rest as i64);
            }
        };
        let edges = Edges::new(Direction::Out, weights);
        let (lost, sweep) = scan(self.graph, edges, frontier, || 0u64, bring)?;
        let lost = lost.into_iter().fold(0, u64::saturating_add);
        Ok((sweep, lost as f64 / UNIT_PARTS / self.options.alpha))
    }

    /// Adds every rest to its rank, as another full iteration would. No rank is below 0 but by rounding.
    fn finish(self) -> Result<Buffer<AtomicF64>> {
        for_each_vertex(self.graph, |v| {
            let slot = &self.ranks[v as usize];
            slot.store((self.scale * (slot.load() + self.rest(v as usize) / ONE)).max(0.0));
        })?;
        Ok(self.ranks)
    }
}

impl Weighed {
    /// The class from which on blocks have a third of the rest.
    fn third(&self) -> u32 {
        let mut remaining = self.rest / 3;
        let enough = |&(_, &rest): &(usize, &u64)| {
            remaining = remaining.saturating_sub(rest);
            remaining == 0 && rest > 0
        };
        self.classes.iter().enumerate().rev().find(enough).map_or(0, |(class, _)| class as u32)
    }
}
