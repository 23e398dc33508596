//! Betweenness centrality: for every vertex, which share of the shortest paths between others leads through it.
//!
//! *Idea.* Brandes: from each source, count the shortest paths to every vertex level by level; then, from the deepest
//! level back, sum up for every vertex what depends on it. Searches ([`bfs`](crate::bfs())) find the levels and read
//! little. Counts are pulled over in-lists and dependencies over out-lists, so every list is read once in each
//! direction, by the owner of the sum.
//!
//! *No look at levels.* Sums gather all neighbours, since those on other levels add zero: an in-neighbour that is not
//! on the level before has no count yet, and an out-neighbour that is not on the level behind has no contribution yet.
//! The values that a level computes are stored apart until the level ends.
//!
//! *Columns.* Up to eight sources go together, with their values side by side (`searches/rows.rs`). Neighbours are
//! added in one order and sources one after the other, so the bits do not depend on how many sources go together.
//!
//! *Scale.* Numbers of paths double with every few levels of a grid, and soon exceed the range of real numbers. Only
//! their ratios on adjacent levels matter, so all numbers of a level are divided by 2^900 when one of them exceeds
//! that, which changes no bit of a ratio.
//!
//! *Cost.* 13.3 bytes per vertex, and the greater of 12.4, which a search takes, and 24 for every source that goes
//! along; 4.1 for every such source but the first. Every list of a vertex that a source reaches is read once per
//! direction; a page as often as its vertices are on different levels.
//!
//! Brandes, *A faster algorithm for betweenness centrality*, J. Mathematical Sociology 2001; Brandes and Pich,
//! *Centrality estimation in large networks*, Int. J. Bifurcation and Chaos 2007; Hoeffding, *Probability inequalities
//! for sums of bounded random variables*, J. American Statistical Association 1963.

use crate::estimate::{Bound, Estimate, Reads};
use crate::kernels::bfs::{self, BfsOptions, bfs};
use crate::kernels::searches::by_level::ByLevel;
use crate::kernels::searches::rows::{RowSums, Rows};
use crate::sources::Sources;
use crate::state::{Layout, array, bitmap, reservation};
use crate::visit::for_each_vertex;
use outcore_declare::real_text;
use outcore_graph::{Bitmap, Direction, Frontier, Graph, RANGE, SPARSE_SHARE, fold};
use outcore_image::{Error, Result, Stats, StatsBuilder, SweepStats};
use outcore_io::{AtomicF64, Buffer, Reservation, Unit};
use outcore_table::ColumnKind;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Options of betweenness centrality.
#[derive(Clone, Debug)]
pub struct BetweennessOptions {
    /// The vertices whose paths count, each once; if they are not all, they stand for the others. Default: all.
    pub sources: Sources,
    /// Whether numbers are divided by that of the pairs of vertices between which a vertex can be. Default: true.
    pub normalized: bool,
    /// Whether a vertex is between others if it is one of the ends. Default: false.
    pub endpoints: bool,
    /// The probability that the error of some vertex may exceed [`Betweenness::error_bound`], between 0 and 1. Default:
    /// 0.1.
    pub failure: f64,
}

impl Default for BetweennessOptions {
    fn default() -> Self {
        BetweennessOptions { sources: Sources::All, normalized: true, endpoints: false, failure: 0.1 }
    }
}

/// Betweenness centralities.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Betweenness {
    /// Per vertex: its centrality, or an estimate of it.
    pub scores: Buffer<f64>,
    /// The sources, as numbered in the image.
    pub sources: Buffer<u32>,
    /// If the sources were drawn: with the chosen probability, no estimate is farther than this from the centrality. 0
    /// if all vertices are sources; infinite if the sources were given, for which no bound is known. At most the
    /// greatest possible value, which it is for a single source.
    pub error_bound: f64,
    /// Statistics of the run.
    pub stats: Stats,
}

/// Numbers of paths of a level are divided by this when one of them exceeds it.
pub(crate) const SCALE: f64 = f64::from_bits((1023 + 900) << 52);
/// The most sources that go together.
const MOST_COLUMNS: u64 = 8;

/// The estimate for betweenness centrality, with the least state that works: one source at a time.
pub(crate) fn estimate(graph: &Graph, options: &BetweennessOptions) -> Estimate {
    let count = options.sources.count(graph);
    let pages_per_pass = graph.pages(Direction::In) + graph.pages(Direction::Out);
    Reads { passes: count as f64, bound: Bound::Usual, pages_per_pass, column_pages: 0 }
        .estimate(graph, bytes(graph, options, 1), vec![ColumnKind::Real])
        .with_more_result(graph, count.saturating_mul(4))
}

/// Centralities; per column, the vertices by level; the sources of a level, its vertices, and room for either a search
/// or the values of the columns.
type State = (Buffer<AtomicF64>, Vec<ByLevel>, Buffer<AtomicU8>, Bitmap, Reservation);

fn state(graph: &Graph, columns: u64) -> impl Layout<Made = State> {
    let vertices = graph.vertices();
    let spare_bytes = bfs::estimate(graph).state_bytes.max(values(graph, columns).bytes());
    (
        array(graph, "centralities", vertices),
        (0..columns).map(|_| ByLevel::layout(graph)).collect::<Vec<_>>(),
        array(graph, "sources of a level", vertices),
        bitmap(graph, "vertices of a level", vertices),
        reservation(graph, "searches and path counts", spare_bytes),
    )
}

/// Path counts, dependencies, and what a level finds.
fn values(
    graph: &Graph,
    columns: u64,
) -> impl Layout<Made = (Buffer<AtomicF64>, Buffer<AtomicF64>, Buffer<AtomicF64>)> {
    let rows = |purpose| array(graph, purpose, columns * graph.vertices());
    (rows("path counts"), rows("dependencies"), rows("values of a level"))
}

fn bytes(graph: &Graph, options: &BetweennessOptions, columns: u64) -> u64 {
    let list = 4 * (graph.vertices() / SPARSE_SHARE + 1);
    state(graph, columns).bytes() + list + options.sources.bytes(graph)
}

/// Computes betweenness centrality over shortest paths along the direction of the edges, each of which has length 1.
///
/// # Errors
/// A source that the graph does not have or that is given twice, numbers of shortest paths to vertices at the same
/// distance that differ by more than 2^900 (not all, but all that differ by more than 2^1800), too little memory (37.3
/// bytes per vertex), a page that cannot be read or is damaged, a request to stop.
pub fn betweenness_centrality(graph: &Graph, options: &BetweennessOptions) -> Result<Betweenness> {
    let mut stats = StatsBuilder::of_image(graph.image());
    check(options)?;
    let available = graph.runtime().budget().available_bytes();
    let mut columns = options.sources.count(graph).max(1).next_power_of_two().min(MOST_COLUMNS);
    while columns > 1 && bytes(graph, options, columns) > available {
        columns /= 2;
    }
    graph.make_room("betweenness centrality", bytes(graph, options, columns))?;
    let sources = options.sources.vertices(graph)?;
    options.sources.check_once(graph)?;
    let scores = match columns {
        1 => Columns::<1>::run(graph, options, &sources, &mut stats)?,
        2 => Columns::<2>::run(graph, options, &sources, &mut stats)?,
        4 => Columns::<4>::run(graph, options, &sources, &mut stats)?,
        _ => Columns::<8>::run(graph, options, &sources, &mut stats)?,
    };
    let scale = Scale::new(graph, options, sources.len() as u64);
    let multiply = |vertex: u32, factor: f64| scores[vertex as usize].store(scores[vertex as usize].load() * factor);
    for_each_vertex(graph, |vertex| multiply(vertex, scale.others))?;
    sources.iter().for_each(|&source| multiply(source, scale.sources));
    let stats = stats.finish(graph.runtime(), graph.all_pages());
    Ok(Betweenness { scores: scores.into_values(), sources, error_bound: scale.error_bound(options), stats })
}

fn check(options: &BetweennessOptions) -> Result<()> {
    if !(options.failure > 0.0 && options.failure < 1.0) {
        let found = real_text(options.failure);
        return Err(Error::Usage(format!("expected a probability between 0 and 1, found {found}")));
    }
    if matches!(&options.sources, Sources::Drawn { k: 0, .. }) {
        return Err(Error::Usage("expected k of at least 1, found 0".into()));
    }
    if matches!(&options.sources, Sources::Given(given) if given.is_empty()) {
        return Err(Error::Usage("expected at least one source, found none".into()));
    }
    Ok(())
}

/// The factors of sums over sources, as in NetworkX since version 3.6.
struct Scale {
    /// For vertices that are no sources.
    others: f64,
    /// The further factor for sources: no path from a vertex leads through itself, so it has been seen by one source
    /// less.
    sources: f64,
    vertices: u64,
    count: u64,
    /// The largest possible value: 1 if normalized, else the number of pairs.
    unit: f64,
}

impl Scale {
    fn new(graph: &Graph, options: &BetweennessOptions, count: u64) -> Self {
        let vertices = graph.vertices();
        // Number of vertices that can be the start of a path; one less can be its end.
        let starts = if options.endpoints { vertices } else { vertices.saturating_sub(1) };
        let unit = match options.normalized {
            true => 1.0,
            false => starts as f64 * starts.saturating_sub(1) as f64 / if graph.is_directed() { 1.0 } else { 2.0 },
        };
        if starts < 2 || count == 0 {
            return Scale { others: 1.0, sources: 1.0, vertices, count, unit };
        }
        let (whole, share) = (count == vertices, unit / (starts - 1) as f64);
        let seen = if whole { starts } else { count };
        let sources = match () {
            () if whole || options.endpoints => 1.0,
            // No other source has seen the only one.
            () if count == 1 => 0.0,
            () => count as f64 / (count - 1) as f64,
        };
        Scale { others: share / seen as f64, sources, vertices, count, unit }
    }

    /// The error bound of a mean of numbers from 0 to 1, independent or drawn without repetition (Hoeffding), for all
    /// vertices at once.
    fn error_bound(&self, options: &BetweennessOptions) -> f64 {
        let drawn = if options.endpoints { self.count } else { self.count.saturating_sub(1) };
        match options.sources {
            _ if self.count == self.vertices => 0.0,
            // A number over 0 is infinite: then the greatest possible value is the bound.
            Sources::Drawn { .. } => {
                self.unit * ((2.0 * self.vertices as f64 / options.failure).ln() / (2.0 * drawn as f64)).sqrt().min(1.0)
            }
            _ => f64::INFINITY,
        }
    }
}

/// `B` sources that go together.
struct Columns<'a, const B: usize> {
    graph: &'a Graph,
    endpoints: f64,
    scores: Buffer<AtomicF64>,
    reached: Vec<ByLevel>,
    /// Per source: the levels, in rising order, whose numbers of paths are less than those of the level before by
    /// another [`SCALE`].
    scaled: [Vec<u32>; B],
    /// Per vertex, the sources for which it is on the current level.
    here: Buffer<AtomicU8>,
    /// The vertices of the level, if they are many.
    set: Bitmap,
}

/// The values of one batch of sources.
struct Values<const B: usize> {
    /// The number of shortest paths to a vertex; on the way back, its dependency.
    paths: Rows<AtomicF64, B>,
    /// Contribution of a vertex to each one before it: one plus its dependency, divided by its number of paths.
    given: Rows<AtomicF64, B>,
    /// The values that the current level computes for its vertices; they are copied when the level ends.
    current: Rows<AtomicF64, B>,
}

impl<'a, const B: usize> Columns<'a, B> {
    fn run(
        graph: &'a Graph,
        options: &BetweennessOptions,
        sources: &[u32],
        stats: &mut StatsBuilder,
    ) -> Result<Buffer<AtomicF64>> {
        let (scores, reached, here, set, spare) = state(graph, B as u64).make()?;
        let endpoints = f64::from(u8::from(options.endpoints));
        let scaled = std::array::from_fn(|_| Vec::new());
        let mut columns = Self { graph, endpoints, scores, reached, scaled, here, set };
        graph.fill_cache()?;
        drop(spare);
        let task = graph.runtime().task("betweenness", Unit::Steps, Some(sources.len() as u64));
        for batch in sources.chunks(B) {
            columns.batch(batch, stats)?;
            task.advance(batch.len() as u64);
        }
        Ok(columns.scores)
    }

    fn batch(&mut self, sources: &[u32], stats: &mut StatsBuilder) -> Result<()> {
        let mut sweep = SweepStats::default();
        for (reached, &source) in self.reached.iter_mut().zip(sources) {
            let search = bfs(self.graph, &BfsOptions { source, ..BfsOptions::default() })?;
            sweep.add(&search.stats.total);
            reached.sort(search);
        }
        self.scaled.iter_mut().for_each(Vec::clear);
        stats.step("search", sources.len() as u64, sweep);
        let (paths, given, current) = values(self.graph, B as u64).make()?;
        let values = Values { paths: Rows(paths), given: Rows(given), current: Rows(current) };
        for (b, &source) in sources.iter().enumerate() {
            values.paths.of(source)[b].store(1.0);
        }
        let deepest = self.reached[..sources.len()].iter().map(|reached| reached.depth).max().unwrap_or(0);
        let mut sweep = SweepStats::default();
        for level in 1..=deepest {
            sweep.add(&self.count_paths(level, sources.len(), &values)?);
        }
        stats.step("count paths", sources.len() as u64, sweep);
        let mut sweep = SweepStats::default();
        for level in (1..=deepest).rev() {
            sweep.add(&self.depend(level, sources.len(), &values)?);
        }
        stats.step("dependencies", sources.len() as u64, sweep);
        for (b, &source) in sources.iter().enumerate() {
            let others = (self.reached[b].count - 1) as f64;
            values.paths.of(source)[b].store(self.endpoints * others);
        }
        for_each_vertex(self.graph, |v| {
            let (score, dependencies) = (&self.scores[v as usize], &values.paths.of(v)[..sources.len()]);
            score.store(dependencies.iter().fold(score.load(), |sum, value| sum + value.load()));
        })
    }

    fn count_paths(&mut self, level: u32, count: usize, values: &Values<B>) -> Result<SweepStats> {
        let here = |reached: &ByLevel| level <= reached.depth;
        self.reached[..count].iter_mut().filter(|reached| here(reached)).for_each(ByLevel::next);
        let store = |vertex: u32, b: usize, sum: f64| values.current.of(vertex)[b].store(sum);
        let sweep = self.sum(Direction::In, &values.paths, count, here, store)?;
        for b in 0..count {
            if !here(&self.reached[b]) {
                continue;
            }
            self.for_each(b, |vertex| values.paths.of(vertex)[b].store(values.current.of(vertex)[b].load()))?;
            self.scale(level, b, &values.paths)?;
        }
        Ok(sweep)
    }

    /// Scales the numbers of paths to the vertices of a source's level, if one of them is too large.
    fn scale(&mut self, level: u32, b: usize, paths: &Rows<AtomicF64, B>) -> Result<()> {
        let vertices = self.reached[b].vertices();
        let numbers = || vertices.iter().map(|&vertex| paths.of(vertex)[b].load());
        if numbers().fold(0.0, f64::max) <= SCALE {
            return Ok(());
        }
        // Every number stays exact, and so does every quotient. So none is below 2^-900, and numbers that are refused
        // here differ by more than 2^900; no numbers pass that differ by more than 2^1800.
        let least = numbers().fold(f64::INFINITY, f64::min);
        if least < 1.0 {
            let source = self.graph.id(self.reached[b].source())?;
            let factor = (numbers().fold(0.0, f64::max).log2() - least.log2()).floor();
            let text = format!(
                "expected shortest paths from {source} whose numbers can be held side by side, as all can that differ by \
                 a factor of at most 2^900 and none by more than 2^1800, found a factor of 2^{factor} at distance \
                 {level}; leave this source out"
            );
            return Err(Error::Unsuitable(text));
        }
        self.for_each(b, |vertex| {
            let number = &paths.of(vertex)[b];
            number.store(number.load() / SCALE);
        })?;
        self.scaled[b].push(level);
        Ok(())
    }

    fn depend(&mut self, level: u32, count: usize, values: &Values<B>) -> Result<SweepStats> {
        let here = |reached: &ByLevel| level < reached.depth;
        self.reached[..count].iter_mut().filter(|reached| here(reached)).for_each(ByLevel::previous);
        let endpoints = self.endpoints;
        let mut scales = [1.0; B];
        for (scale, scaled) in scales.iter_mut().zip(&self.scaled) {
            if scaled.binary_search(&(level + 1)).is_ok() {
                *scale = SCALE;
            }
        }
        let store = |vertex: u32, b: usize, sum: f64| {
            let paths = &values.paths.of(vertex)[b];
            values.current.of(vertex)[b].store(1.0 / paths.load() + sum / scales[b]);
            paths.store(paths.load() * sum / scales[b] + endpoints);
        };
        let sweep = self.sum(Direction::Out, &values.given, count, here, store)?;
        for b in 0..count {
            if level < self.reached[b].depth {
                self.for_each(b, |vertex| values.given.of(vertex)[b].store(values.current.of(vertex)[b].load()))?;
            } else if level == self.reached[b].depth {
                // Nothing is behind the deepest level.
                self.for_each(b, |vertex| {
                    let paths = &values.paths.of(vertex)[b];
                    values.given.of(vertex)[b].store(1.0 / paths.load());
                    paths.store(endpoints);
                })?;
            }
        }
        Ok(sweep)
    }

    /// Calls `work` with every vertex of a source's level.
    fn for_each(&self, b: usize, work: impl Fn(u32) + Sync) -> Result<()> {
        let vertices = self.reached[b].vertices();
        self.graph.runtime().for_each_range(vertices.len(), RANGE, |range| {
            vertices[range].iter().for_each(|&vertex| work(vertex));
            Ok(())
        })
    }

    /// Calls `store` with the sums of the neighbours' `rows`, for the vertices of the current levels of the sources for
    /// which `here` holds.
    fn sum(
        &self,
        direction: Direction,
        rows: &Rows<AtomicF64, B>,
        count: usize,
        here: impl Fn(&ByLevel) -> bool,
        store: impl Fn(u32, usize, f64) + Sync,
    ) -> Result<SweepStats> {
        let sources: Vec<usize> = (0..count).filter(|&b| here(&self.reached[b])).collect();
        let most: usize = sources.iter().map(|&b| self.reached[b].vertices().len()).sum();
        let listed = most as u64 <= self.graph.vertices() / SPARSE_SHARE;
        let mut list = Vec::new();
        for &b in &sources {
            if listed {
                let new = |vertex: &&u32| self.here[**vertex as usize].fetch_or(1 << b, Relaxed) == 0;
                list.extend(self.reached[b].vertices().iter().filter(new));
            } else {
                self.for_each(b, |vertex| {
                    self.here[vertex as usize].fetch_or(1 << b, Relaxed);
                    self.set.insert(vertex);
                })?;
            }
        }
        list.sort_unstable();
        let frontier = if listed { Frontier::List(&list) } else { Frontier::Set(&self.set) };
        let (_, sweep) = fold(self.graph, direction, frontier, &RowSums { rows, columns: &self.here, take: store })?;
        for &b in &sources {
            self.for_each(b, |vertex| self.here[vertex as usize].store(0, Relaxed))?;
        }
        if !listed {
            self.set.clear();
        }
        Ok(sweep)
    }
}
