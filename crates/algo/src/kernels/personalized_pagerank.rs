//! Personalised PageRank by power iteration, of several sets of seeds in one pass.
//!
//! *Idea.* Jumps lead back to the seeds instead of anywhere, so ranks measure how near a vertex is to them. An
//! iteration sums the contributions of every vertex's in-neighbours, as in `ranks/pulling.rs`, with up to eight sets of
//! seeds side by side: their contributions lie next to each other, so one list that is read and one cache line that is
//! fetched serve all of them. More sets are done eight by eight.
//!
//! *Dangling vertices*, those without out-edges, pass their rank to the seeds, as in NetworkX. *Weights* and
//! *convergence* are those of `ranks/pulling.rs`; of sets that are done together the slowest decides. Sums are of
//! double precision and in an order of their own, so the ranks have the same bits for every number of workers.
//!
//! *Cost.* One pass over the in-lists per iteration and eight sets. Per vertex 16 bytes for each set of those that are
//! done together, 8 for the result of each set, and 4 for its degree; with weights 8 for the sum of its out-edges'
//! weights instead, and one pass over the out-lists.
//!
//! Haveliwala, *Topic-sensitive PageRank*, WWW 2002.

use crate::convergence::{Stop, StoppedBy};
use crate::estimate::{Bound, Estimate, Reads};
use crate::kernels::pagerank::{PageRankOptions, check, finish, pages_per_pass};
use crate::kernels::ranks::strengths::{Divisors, RankDivisors, divisor_bytes, weight_passes};
use crate::kernels::searches::rows::{Rows, add};
use crate::sources::check_vertices;
use crate::state::{Layout, array, bitmap, reservation};
use crate::visit::for_each_vertex;
use outcore_declare::real_text;
use outcore_graph::{Bitmap, Direction, Edges, Frontier, Graph, ListFold, ListPart, fold, vertex_sum};
use outcore_image::{Error, Result, Stats, StatsBuilder};
use outcore_io::buffer::prefetched;
use outcore_io::{AtomicF64, Buffer, Reservation};
use outcore_table::ColumnKind;

/// The most sets of seeds that are done together.
const MOST_TOGETHER: usize = 8;

/// The sets of seeds and the options of the iteration.
#[derive(Clone, Debug)]
pub struct PersonalizedPageRankOptions {
    /// Sets of seeds: vertices, and what share of the jumps leads to them. Shares of a set need not sum to 1. Default:
    /// no set.
    pub seeds: Vec<Vec<(u32, f64)>>,
    /// The probability of following an edge rather than jumping to a seed, from 0 to 1. Default: 0.85.
    pub alpha: f64,
    /// Stop when the residual, the sum of absolute changes, is below this for every set; 0 makes exactly
    /// `max_iterations` iterations. Default: 1e-8.
    pub tol: f64,
    /// The quantity that the residual is compared with. Default: the tolerance alone, [`Stop::Residual`].
    pub stop: Stop,
    /// The most iterations. Default: 200.
    pub max_iterations: u32,
    /// Whether edges count by their weights. Default: false.
    pub weights: bool,
}

impl Default for PersonalizedPageRankOptions {
    fn default() -> Self {
        let PageRankOptions { alpha, tol, stop, max_iterations, weights, .. } = PageRankOptions::default();
        PersonalizedPageRankOptions { seeds: Vec::new(), alpha, tol, stop, max_iterations, weights }
    }
}

impl PersonalizedPageRankOptions {
    /// The options shared with PageRank.
    pub(crate) fn common(&self) -> PageRankOptions {
        let PersonalizedPageRankOptions { alpha, tol, stop, max_iterations, weights, .. } = *self;
        PageRankOptions { alpha, tol, stop, max_iterations, weights, ..PageRankOptions::default() }
    }
}

/// Ranks, and how they converged.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct PersonalizedPageRank {
    /// Per set of seeds, and per vertex: its rank.
    pub ranks: Vec<Buffer<f64>>,
    /// How many iterations were made, of the sets with the most.
    pub iterations: u32,
    /// The sum over all vertices of the absolute change in the last iteration, of the set with the greatest.
    pub residual: f64,
    /// Reason that the iterations ended: whether the ranks of all sets converged, and by which rule.
    pub stopped_by: StoppedBy,
    /// Statistics of the run.
    pub stats: Stats,
}

/// The memory of the seeds: a copy of them, and the record of each.
fn seeds(graph: &Graph, options: &PersonalizedPageRankOptions) -> impl Layout<Made = Reservation> {
    reservation(graph, "seeds", 64 * options.seeds.iter().map(|set| set.len() as u64).sum::<u64>())
}

/// Contributions and next ones, side by side; the ranks of every set; and the vertices that are seeds.
type State = (Buffer<AtomicF64>, Buffer<AtomicF64>, Vec<Buffer<AtomicF64>>, Bitmap);

fn state(graph: &Graph, together: usize, sets: usize) -> impl Layout<Made = State> {
    let vertices = graph.vertices();
    let contributions = || array(graph, "contributions", together as u64 * vertices);
    let ranks = (0..sets).map(|_| array(graph, "ranks", vertices)).collect::<Vec<_>>();
    (contributions(), contributions(), ranks, bitmap(graph, "seeds", vertices))
}

/// The estimate for personalised PageRank over this graph; passes are those of `max_iterations` iterations.
pub(crate) fn estimate(graph: &Graph, options: &PersonalizedPageRankOptions) -> Estimate {
    let (common, sets) = (options.common(), options.seeds.len());
    let together = sets.next_power_of_two().min(MOST_TOGETHER);
    let state = (seeds(graph, options), state(graph, together, sets)).bytes() + divisor_bytes(graph, &common);
    let iterations = f64::from(options.max_iterations) * sets.div_ceil(MOST_TOGETHER) as f64;
    let (passes, pages_per_pass) = (iterations + weight_passes(graph, &common), pages_per_pass(graph, &common));
    let column_pages = if options.weights { 0 } else { graph.degree_pages(Direction::Out) };
    let reads = Reads { passes, bound: Bound::AtMost, pages_per_pass, column_pages };
    reads.estimate(graph, state, vec![ColumnKind::Real; sets])
}

/// Computes the PageRank of every vertex for every set of seeds.
///
/// A result that did not converge within `max_iterations` iterations says so in `stopped_by`.
///
/// # Errors
/// Options out of range, a set without seeds or with shares that are negative or infinite, weights that are negative or
/// infinite, too little memory, a page that cannot be read or is damaged, a request to stop.
pub fn personalized_pagerank(graph: &Graph, options: &PersonalizedPageRankOptions) -> Result<PersonalizedPageRank> {
    check(&options.common())?;
    graph.make_room("personalised PageRank", estimate(graph, options).state_bytes)?;
    let _seeds = seeds(graph, options).make()?;
    let sets = options.seeds.iter().map(|set| normalized(graph, set)).collect::<Result<Vec<_>>>()?;
    let (ranks, mut stats) = (Vec::with_capacity(sets.len()), StatsBuilder::of_image(graph.image()));
    let (divisors, _weights) = RankDivisors::new(graph, &options.common(), &mut stats)?;
    let mut run = Run { graph, options, ranks, iterations: 0, residual: 0.0, stats };
    match divisors {
        RankDivisors::Degrees(degrees) => run.all(&sets, &degrees)?,
        RankDivisors::Strengths(strengths) => run.all(&sets, &strengths)?,
    }
    let Run { ranks, iterations, residual, stats, .. } = run;
    // Without seeds nothing was to converge.
    let vertices = if options.seeds.is_empty() { 0 } else { graph.vertices() };
    let stopped_by = options.stop.outcome(options.tol, vertices, residual);
    let stats = finish(graph, &options.common(), stats, stopped_by);
    let ranks = ranks.into_iter().map(Buffer::into_values).collect();
    Ok(PersonalizedPageRank { ranks, iterations, residual, stopped_by, stats })
}

/// Sets of seeds with vertices in the place of their ids, in the order of the sets.
pub(crate) fn seeds_with(sets: &[Vec<(String, f64)>], vertices: Vec<u32>) -> Vec<Vec<(u32, f64)>> {
    let mut vertices = vertices.into_iter();
    // Seeds first: a set that ends must not take a vertex more.
    let set =
        |set: &Vec<(String, f64)>| set.iter().zip(vertices.by_ref()).map(|(seed, vertex)| (vertex, seed.1)).collect();
    sets.iter().map(set).collect()
}

/// Seeds by their vertices, each once, with shares that sum to 1.
pub(crate) fn normalized(graph: &Graph, set: &[(u32, f64)]) -> Result<Vec<(u32, f64)>> {
    let mut seeds = set.to_vec();
    seeds.sort_by_key(|seed| seed.0);
    let sum: f64 = seeds.iter().map(|seed| seed.1).sum();
    let refused = |what: String| Err(Error::Usage(format!("expected seeds {what}")));
    seeds.iter().try_for_each(|seed| check_vertices(graph, &[seed.0]))?;
    if let Some((_, share)) = seeds.iter().find(|seed| !(seed.1 >= 0.0 && seed.1.is_finite())) {
        return refused(format!("with finite shares of at least 0, found {}", real_text(*share)));
    }
    match seeds.len() {
        0 => return Err(Error::Usage("expected at least one seed in every set, found none".into())),
        _ if sum.is_infinite() => {
            return refused(
                "whose shares sum to at most 1.7e308, found an infinite sum; divide them all by one number".into(),
            );
        }
        count if sum == 0.0 => return refused(format!("of which one has a share above 0, found {count} of 0")),
        _ => {}
    }
    let same = seeds.chunk_by(|a, b| a.0 == b.0);
    Ok(same.map(|same| (same[0].0, same.iter().map(|seed| seed.1 / sum).sum())).collect())
}

struct Run<'a> {
    graph: &'a Graph,
    options: &'a PersonalizedPageRankOptions,
    ranks: Vec<Buffer<AtomicF64>>,
    iterations: u32,
    residual: f64,
    stats: StatsBuilder,
}

impl Run<'_> {
    fn all<D: Divisors>(&mut self, sets: &[Vec<(u32, f64)>], divisors: &D) -> Result<()> {
        for sets in sets.chunks(MOST_TOGETHER) {
            match sets.len().next_power_of_two() {
                1 => self.some::<D, 1>(sets, divisors)?,
                2 => self.some::<D, 2>(sets, divisors)?,
                4 => self.some::<D, 4>(sets, divisors)?,
                _ => self.some::<D, 8>(sets, divisors)?,
            }
        }
        Ok(())
    }

    fn some<D: Divisors, const K: usize>(&mut self, sets: &[Vec<(u32, f64)>], divisors: &D) -> Result<()> {
        let (graph, options) = (self.graph, self.options);
        let vertices = graph.vertices();
        let (now, next, results, marked) = state(graph, K, sets.len()).make()?;
        let (mut now, mut next) = (Rows::<_, K>(now), Rows(next));
        let seeds = seeds_of(sets);
        seeds.iter().for_each(|seed| _ = marked.insert(seed.vertex));
        graph.fill_cache()?;
        let setting = Setting { options, divisors, seeds, marked, sets: sets.len() };
        let mut dangling = setting.start(graph, &now)?;
        let edges = Edges::new(Direction::In, options.weights);
        let enough = options.stop.threshold(options.tol, vertices);
        let (mut made, mut residual) = (0, if vertices == 0 { 0.0 } else { f64::INFINITY });
        while made < options.max_iterations && residual >= enough {
            let pull = Pull { setting: &setting, dangling, now: &now, next: &next };
            let (total, sweep) = fold::<Pull<'_, D, K>>(graph, edges, Frontier::All, &pull)?;
            self.stats.step("iteration", vertices, sweep);
            residual = total.change.into_iter().fold(0.0, f64::max);
            dangling = total.dangling;
            made += 1;
            std::mem::swap(&mut now, &mut next);
        }
        for_each_vertex(graph, |v| {
            let divisor = divisors.divisor(v as usize);
            let values = results.iter().zip(now.of(v));
            values.for_each(|(ranks, value)| ranks[v as usize].store(value.load() * divisor));
        })?;
        self.ranks.extend(results);
        self.iterations = self.iterations.max(made);
        self.residual = self.residual.max(residual);
        Ok(())
    }
}

/// A seed of one of the sets that are done together.
struct Seed {
    vertex: u32,
    set: usize,
    share: f64,
}

/// The seeds of all sets, by their vertices.
fn seeds_of(sets: &[Vec<(u32, f64)>]) -> Vec<Seed> {
    let of = |(set, seeds): (usize, &Vec<(u32, f64)>)| {
        seeds.iter().map(move |&(vertex, share)| Seed { vertex, set, share }).collect::<Vec<_>>()
    };
    let mut all: Vec<Seed> = sets.iter().enumerate().flat_map(of).collect();
    all.sort_by_key(|seed| (seed.vertex, seed.set));
    all
}

/// The constants of all iterations.
struct Setting<'a, D> {
    options: &'a PersonalizedPageRankOptions,
    divisors: &'a D,
    seeds: Vec<Seed>,
    /// The vertices that are seeds of any set.
    marked: Bitmap,
    sets: usize,
}

impl<D: Divisors> Setting<'_, D> {
    /// Contributions where all ranks are the same, and the rank of all dangling vertices.
    fn start<const K: usize>(&self, graph: &Graph, now: &Rows<AtomicF64, K>) -> Result<[f64; K]> {
        let vertices = graph.vertices();
        let rank = 1.0 / vertices as f64;
        for_each_vertex(graph, |v| {
            let contribution = rank / self.divisors.divisor(v as usize);
            now.of(v)[..self.sets].iter().for_each(|value| value.store(contribution));
        })?;
        let dangling = vertex_sum(graph.runtime(), vertices, |range| {
            range.filter(|&v| self.divisors.of(v) == 0.0).count() as f64 * rank
        })?;
        Ok([dangling; K])
    }
}

/// One iteration: sums the contributions of every vertex's in-neighbours and makes its next contributions of them.
struct Pull<'a, D, const K: usize> {
    setting: &'a Setting<'a, D>,
    /// Per set: the rank of all vertices without out-edges.
    dangling: [f64; K],
    now: &'a Rows<AtomicF64, K>,
    next: &'a Rows<AtomicF64, K>,
}

/// Sums of one iteration, per set of seeds.
struct Total<const K: usize> {
    change: [f64; K],
    dangling: [f64; K],
}

impl<const K: usize> Default for Total<K> {
    fn default() -> Self {
        Total { change: [0.0; K], dangling: [0.0; K] }
    }
}

impl<D: Divisors, const K: usize> ListFold for Pull<'_, D, K> {
    type Value = [f64; K];
    type Total = Total<K>;

    fn part(&self, list: ListPart<'_>) -> [f64; K] {
        let mut sums = [0.0; K];
        let rows = self.now.all();
        for (i, neighbour) in prefetched(rows, list.neighbours).enumerate() {
            let row = &rows[neighbour as usize];
            let weight = if self.setting.options.weights { list.weights.real(i) } else { 1.0 };
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value.load() * weight);
        }
        sums
    }

    fn merge(&self, before: [f64; K], after: [f64; K]) -> [f64; K] {
        add(&before, &after)
    }

    fn finish(&self, vertex: u32, sums: Option<[f64; K]>, total: &mut Total<K>) {
        let Setting { options, divisors, seeds, marked, sets } = self.setting;
        let mut ranks = sums.unwrap_or([0.0; K]).map(|sum| options.alpha * sum);
        if marked.contains(vertex) {
            let first = seeds.partition_point(|seed| seed.vertex < vertex);
            for seed in seeds[first..].iter().take_while(|seed| seed.vertex == vertex) {
                ranks[seed.set] += seed.share * (1.0 - options.alpha + options.alpha * self.dangling[seed.set]);
            }
        }
        let divisor = divisors.divisor(vertex as usize);
        let (now, next) = (self.now.of(vertex), self.next.of(vertex));
        for set in 0..*sets {
            total.change[set] += (ranks[set] - now[set].load() * divisor).abs();
            next[set].store(ranks[set] / divisor);
        }
        if divisors.of(vertex as usize) == 0.0 {
            total.dangling = add(&total.dangling, &ranks);
        }
    }

    fn add(&self, total: &mut Total<K>, later: Total<K>) {
        total.change = add(&total.change, &later.change);
        total.dangling = add(&total.dangling, &later.dangling);
    }
}
