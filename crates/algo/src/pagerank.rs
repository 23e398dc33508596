//! PageRank by power iteration, pulling.
//!
//! *Idea.* Each iteration makes one pass over the in-lists and sums, for every vertex, what its in-neighbours contribute: their rank
//! over their out-degree. Lists are folded page by page in a fixed order, so the ranks have the same bits for every number
//! of workers. Images in degree order keep the contributions of hubs close together, which is most of what is gathered.
//!
//! *Dangling vertices*, those without out-edges, keep the rank they would pass on. By NetworkX's rule it is spread evenly over all
//! vertices, so ranks sum to 1; by the GAP benchmark's rule it is dropped.
//!
//! *Convergence.* As in NetworkX: the sum over all vertices of the absolute change falls below `tol` times the number of vertices.
//!
//! *Precision.* Sums are of double precision. On graphs whose contributions do not fit the processor's cache, iterations gather them in single
//! precision, which halves what they have to fetch, as long as so much rank still moves that their rounding, less than
//! one part in ten million, does not matter; then in double precision, so the ranks converge to the same fixed point.
//!
//! *Cost.* One pass over the in-lists per iteration; 20 bytes per vertex: contribution and next rank as f64, out-degree. The old
//! rank is not stored: it is the contribution times the degree. (A dangling vertex contributes to nobody, so its
//! place among the contributions holds its rank.)
//!
//! Page, Brin, Motwani, Winograd, *The PageRank citation ranking*, 1999; Beamer, Asanović, Patterson, *The GAP benchmark suite*, 2015.

use crate::estimate::Estimate;
use outcore_graph::{
    Direction, Error, Frontier, Gathered, Graph, ListFold, Result, Stats, StatsBuilder, SweepStats, fold, gather_sum,
    vertex_map, vertex_sum,
};
use outcore_io::buffer::prefetch;
use outcore_io::{Array, AtomicF32, AtomicF64, Unit};
use std::sync::atomic::{AtomicU32, Ordering};

/// What becomes of the rank of vertices without out-edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dangling {
    /// It is spread evenly over all vertices, as NetworkX does.
    #[default]
    Networkx,
    /// It is dropped, as the GAP benchmark does.
    Gap,
}

/// How ranks are computed.
#[derive(Clone, Copy, Debug)]
pub struct PageRankOptions {
    /// The probability of following an edge rather than jumping anywhere.
    pub alpha: f64,
    /// Stop when the sum of absolute changes is below this times the number of vertices.
    pub tol: f64,
    /// The most iterations.
    pub max_iter: u32,
    /// What becomes of the rank of vertices without out-edges.
    pub dangling: Dangling,
}

impl Default for PageRankOptions {
    fn default() -> Self {
        PageRankOptions { alpha: 0.85, tol: 1e-6, max_iter: 100, dangling: Dangling::Networkx }
    }
}

/// Ranks, and how they converged.
pub struct PageRank {
    /// Per vertex: its rank.
    pub ranks: Array<AtomicF64>,
    /// How many iterations were made.
    pub iterations: u32,
    /// The sum over all vertices of the absolute change in the last iteration.
    pub residual: f64,
    /// Whether the residual fell below the tolerance.
    pub converged: bool,
    /// What it cost.
    pub stats: Stats,
}

/// From so many vertices on, early iterations gather contributions of single precision.
const SINGLE_FROM_VERTICES: u64 = 1 << 22;
/// Single precision is enough while the ranks change by more than this in all: a thousand times what its rounding can.
const SINGLE_ABOVE_RESIDUAL: f64 = 1e-4;

/// What PageRank over this graph will need; passes are those of `max_iter` iterations.
pub fn estimate_pagerank(graph: &Graph, options: &PageRankOptions) -> Estimate {
    Estimate::new(graph, 20 * graph.vertices(), f64::from(options.max_iter), graph.pages(Direction::In))
}

/// Computes the PageRank of every vertex.
///
/// A result that did not converge within `max_iter` iterations says so in `converged`.
///
/// # Errors
/// Options out of range, too little memory (20 bytes per vertex), a page that cannot be read or is damaged, a request to stop.
pub fn pagerank(graph: &Graph, options: &PageRankOptions) -> Result<PageRank> {
    check(options)?;
    iterate(graph, options, graph.vertices() >= SINGLE_FROM_VERTICES)
}

/// Iterates, at first with contributions of single precision if `single`.
fn iterate(graph: &Graph, options: &PageRankOptions, single: bool) -> Result<PageRank> {
    let mut stats = StatsBuilder::start();
    let vertices = graph.vertices();
    graph.make_room("PageRank", estimate_pagerank(graph, options).state_bytes)?;
    let budget = graph.runtime().budget();
    let next = Array::zeroed(budget, "ranks", vertices as usize)?;
    let (degrees, read) = graph.degrees(Direction::Out)?;
    stats.other(read);
    let mut contributions = Contributions::new(graph, single)?;
    let state = State { next, degrees };
    if contributions.is_single() {
        // Double precision will need its room: the cache must not take it.
        let room = budget.reserve("contributions in double precision", 4 * vertices)?;
        graph.fill_cache()?;
        drop(room);
    } else {
        graph.fill_cache()?;
    }
    let count = vertices as f64;
    let mut iterations = 0;
    let mut residual = if vertices == 0 { 0.0 } else { f64::INFINITY };
    let task = graph.runtime().task("PageRank", Unit::Steps, Some(u64::from(options.max_iter)));
    state.start(graph, &contributions, 1.0 / count)?;
    while iterations < options.max_iter && residual >= options.tol * count {
        if contributions.is_single() && residual < SINGLE_ABOVE_RESIDUAL {
            drop(contributions);
            contributions = Contributions::new(graph, false)?;
            state.contribute(graph, &contributions)?;
        }
        let dangling = match options.dangling {
            Dangling::Networkx => state.dangling_sum(graph, &contributions)?,
            Dangling::Gap => 0.0,
        };
        let sweep = match &contributions {
            Contributions::Single(values) => pull(graph, &state, values)?,
            Contributions::Double(values) => pull(graph, &state, values)?,
        };
        let base = (1.0 - options.alpha) / count + options.alpha * dangling / count;
        residual = state.advance(graph, &contributions, options.alpha, base)?;
        iterations += 1;
        stats.step("iteration", vertices, sweep);
        task.advance(1);
    }
    if iterations == 0 {
        state.next.iter().for_each(|rank| rank.store(1.0 / count));
    }
    let converged = residual < options.tol * count || vertices == 0;
    let stats = stats.finish(graph.runtime(), graph.pages(Direction::In));
    Ok(PageRank { ranks: state.next, iterations, residual, converged, stats })
}

fn check(options: &PageRankOptions) -> Result<()> {
    if !(0.0..=1.0).contains(&options.alpha) {
        return Err(Error::Usage(format!("expected alpha between 0 and 1, found {}", options.alpha)));
    }
    if options.tol.is_nan() || options.tol < 0.0 {
        return Err(Error::Usage(format!("expected a tolerance of at least 0, found {}", options.tol)));
    }
    Ok(())
}

/// Rank over out-degree per vertex; the rank itself where there are no out-edges.
enum Contributions {
    Single(Array<AtomicF32>),
    Double(Array<AtomicF64>),
}

impl Contributions {
    fn new(graph: &Graph, single: bool) -> Result<Self> {
        let (budget, vertices) = (graph.runtime().budget(), graph.vertices() as usize);
        Ok(if single {
            Contributions::Single(Array::zeroed(budget, "contributions", vertices)?)
        } else {
            Contributions::Double(Array::zeroed(budget, "contributions", vertices)?)
        })
    }

    fn is_single(&self) -> bool {
        matches!(self, Contributions::Single(_))
    }

    #[inline]
    fn get(&self, v: usize) -> f64 {
        match self {
            Contributions::Single(values) => f64::from(values[v].load()),
            Contributions::Double(values) => values[v].load(),
        }
    }

    #[inline]
    fn set(&self, v: usize, value: f64) {
        match self {
            Contributions::Single(values) => values[v].store(value as f32),
            Contributions::Double(values) => values[v].store(value),
        }
    }
}

/// Sums the contributions of every vertex's in-neighbours into `next`.
fn pull<T: Gathered>(graph: &Graph, state: &State, contributions: &[T]) -> Result<SweepStats> {
    fold(graph, Direction::In, Frontier::All, &Pull { contributions, next: &state.next })
}

struct Pull<'a, T> {
    contributions: &'a [T],
    next: &'a [AtomicF64],
}

impl<T: Gathered> ListFold for Pull<'_, T> {
    type Value = f64;

    #[inline]
    fn prepare(&self, neighbours: &[u32]) {
        for &neighbour in neighbours {
            prefetch(self.contributions, neighbour as usize);
        }
    }

    #[inline]
    fn part(&self, _vertex: u32, neighbours: &[u32]) -> f64 {
        gather_sum(self.contributions, neighbours)
    }

    #[inline]
    fn merge(&self, before: f64, after: f64) -> f64 {
        before + after
    }

    #[inline]
    fn finish(&self, vertex: u32, value: f64) {
        self.next[vertex as usize].store(value);
    }
}

struct State {
    next: Array<AtomicF64>,
    degrees: Array<AtomicU32>,
}

impl State {
    /// Gives every vertex the same rank.
    fn start(&self, graph: &Graph, contributions: &Contributions, rank: f64) -> Result<()> {
        vertex_map(graph.runtime(), graph.vertices(), |range| {
            range.for_each(|v| contributions.set(v, rank / self.divisor(v)));
            Ok(())
        })
    }

    /// Makes contributions of the ranks in `next`.
    fn contribute(&self, graph: &Graph, contributions: &Contributions) -> Result<()> {
        vertex_map(graph.runtime(), graph.vertices(), |range| {
            range.for_each(|v| contributions.set(v, self.next[v].load() / self.divisor(v)));
            Ok(())
        })
    }

    /// What turns a vertex's rank into its contribution.
    #[inline]
    fn divisor(&self, v: usize) -> f64 {
        f64::from(self.degrees[v].load(Ordering::Relaxed).max(1))
    }

    /// The rank of all vertices without out-edges.
    fn dangling_sum(&self, graph: &Graph, contributions: &Contributions) -> Result<f64> {
        vertex_sum(graph.runtime(), graph.vertices(), |range| {
            let dangling = range.filter(|&v| self.degrees[v].load(Ordering::Relaxed) == 0);
            dangling.map(|v| contributions.get(v)).sum()
        })
    }

    /// Turns the sums in `next` into ranks and contributions; returns the sum of absolute changes.
    fn advance(&self, graph: &Graph, contributions: &Contributions, alpha: f64, base: f64) -> Result<f64> {
        vertex_sum(graph.runtime(), graph.vertices(), |range| {
            let mut change = 0.0;
            for v in range {
                let divisor = self.divisor(v);
                let before = contributions.get(v) * divisor;
                let rank = base + alpha * self.next[v].load();
                change += (rank - before).abs();
                self.next[v].store(rank);
                contributions.set(v, rank / divisor);
            }
            change
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_graph::GraphOptions;
    use outcore_graph::generate::{GenerateOptions, source};
    use outcore_graph::import::{ImportOptions, import};
    use outcore_io::{Runtime, RuntimeOptions};
    use std::sync::Arc;

    /// The greatest difference between two results, relative to the ranks.
    fn difference(a: &PageRank, b: &PageRank) -> f64 {
        a.ranks.iter().zip(b.ranks.iter()).map(|(a, b)| (a.load() / b.load() - 1.0).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn single_precision_is_close_at_first_and_gone_in_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("k.oc");
        let runtime = Arc::new(Runtime::new(RuntimeOptions::default()).unwrap());
        let options = GenerateOptions { scale: 12, ..GenerateOptions::default() };
        import(&runtime, source(&options).unwrap(), &image, &ImportOptions::default()).unwrap();
        let graph = Graph::open(&runtime, &image, GraphOptions::default()).unwrap();
        let run = |tol, max_iter, single| {
            iterate(&graph, &PageRankOptions { tol, max_iter, ..PageRankOptions::default() }, single).unwrap()
        };
        let early = difference(&run(0.0, 5, true), &run(0.0, 5, false));
        assert!(early > 0.0 && early < 2e-7, "{early:e}");
        let (single, double) = (run(1e-19, 200, true), run(1e-19, 200, false));
        assert!(single.residual < SINGLE_ABOVE_RESIDUAL && difference(&single, &double) < 1e-12);
    }
}
