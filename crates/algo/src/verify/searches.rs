//! Verifiers of searches from many sources: each source searches once more, alone.

use crate::kernels::all_pairs::{AllPairs, AllPairsOptions};
use crate::kernels::betweenness_centrality::{Betweenness, BetweennessOptions};
use crate::kernels::searches::reach::{MultiSourceBfs, MultiSourceBfsOptions, Reach};
use crate::sources::{Sources, check_vertices};
use crate::state::{Layout, array};
use crate::verify::components::{find, forest, trees};
use crate::visit::{for_each_list, for_each_vertex};
use outcore_graph::{Direction, EdgeMapper, Frontier, Graph};
use outcore_image::{Error, Result};
use outcore_io::{AtomicF64, Buffer};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The divisor of numbers of paths that would overflow: a power of two, so that scaling is exact.
const SCALE: f64 = f64::from_bits((1023 + 900) << 52);

/// Checks searches from many sources by searching from one after the other, pushing only.
///
/// # Errors
/// The first source or vertex with another result, too little memory (16.5 bytes per vertex), or a page
/// that cannot be read.
pub fn verify_multi_source_bfs(graph: &Graph, options: &MultiSourceBfsOptions, result: &MultiSourceBfs) -> Result<()> {
    result.stats.check_image(graph.image())?;
    check_vertices(graph, &options.sources)?;
    check_vertices(graph, &options.targets)?;
    graph.make_room("verification of searches", searches_bytes(graph))?;
    let (reached_by, sums, mut levels) = counts(graph).make()?;
    let limit = options.depth_limit.unwrap_or(u32::MAX);
    if result.reach.len() != options.sources.len() {
        let expected = format!("searches from {} sources", options.sources.len());
        return Err(Error::verification(expected, result.reach.len().to_string()));
    }
    for (i, &source) in options.sources.iter().enumerate() {
        let reach = search(graph, Direction::Out, source, limit, &mut levels)?;
        let claimed = result.reach.get(i).copied().unwrap_or_default();
        if reach != claimed {
            let expected = format!("{reach:?} of the search from vertex {source} of the image");
            return Err(Error::verification(expected, format!("{claimed:?}")));
        }
        for (j, &target) in options.targets.iter().enumerate() {
            let level = levels[target as usize].load(Relaxed).checked_sub(1);
            if result.level(i, j) != level {
                let expected = format!("distance {level:?} from vertex {source} of the image to vertex {target}");
                return Err(Error::verification(expected, format!("{:?}", result.level(i, j))));
            }
        }
        for_each_vertex(graph, |v| {
            if let Some(level) = levels[v as usize].load(Relaxed).checked_sub(1) {
                reached_by[v as usize].fetch_add(1, Relaxed);
                sums[v as usize].fetch_add(level.into(), Relaxed);
            }
        })?;
    }
    for v in 0..graph.vertices() as usize {
        let expected = (reached_by[v].load(Relaxed), sums[v].load(Relaxed));
        let claimed = (result.reached_by[v], result.distance_sums[v]);
        if expected != claimed {
            let text =
                |(count, sum)| format!("vertex {v} of the image reached by {count} sources, distances {sum} in all");
            return Err(Error::verification(text(expected), text(claimed)));
        }
    }
    Ok(())
}

pub(crate) fn searches_bytes(graph: &Graph) -> u64 {
    counts(graph).bytes() + EdgeMapper::bytes(graph.vertices())
}

/// By how many sources vertices are reached, the sums of their distances, and the levels of a search.
fn counts(graph: &Graph) -> impl Layout<Made = (Buffer<AtomicU32>, Buffer<AtomicU64>, Buffer<AtomicU32>)> {
    let vertices = graph.vertices();
    (array(graph, "sources that reach a vertex", vertices), array(graph, "sums of distances", vertices), levels(graph))
}

fn levels(graph: &Graph) -> impl Layout<Made = Buffer<AtomicU32>> {
    array(graph, "levels", graph.vertices())
}

/// Checks distances between chosen sources, as [`verify_multi_source_bfs`] does, and the bounds by searches of every
/// source alone and by joining vertices over every edge in a forest of its own.
///
/// # Errors
/// As with [`verify_multi_source_bfs`].
pub fn verify_all_pairs(graph: &Graph, options: &AllPairsOptions, result: &AllPairs) -> Result<()> {
    result.search.stats.check_image(graph.image())?;
    let sources = checked_sources(graph, &options.sources, &result.sources)?;
    let searches = MultiSourceBfsOptions { sources: sources.to_vec(), targets: sources.to_vec(), depth_limit: None };
    verify_multi_source_bfs(graph, &searches, &result.search)?;
    let arrays = (levels(graph), trees(graph), sizes(graph)).bytes();
    graph.make_room("verification of searches", arrays + EdgeMapper::bytes(graph.vertices()))?;
    let mut levels = levels(graph).make()?;
    let mut searches = Vec::with_capacity(sources.len());
    for &source in sources.iter() {
        let along = search(graph, Direction::Out, source, u32::MAX, &mut levels)?;
        let against = match graph.is_directed() {
            true => search(graph, Direction::In, source, u32::MAX, &mut levels)?,
            false => along,
        };
        searches.push((source, along, against));
    }
    drop(levels);
    let bounds = diameter_bounds(graph, &searches)?;
    let claimed = (result.diameter_least, result.diameter_most);
    if bounds != claimed {
        let text = |(least, most)| format!("a diameter from {least} to {most}");
        return Err(Error::verification(text(bounds), text(claimed)));
    }
    Ok(())
}

/// The sources that the options name, which the result must have.
fn checked_sources(graph: &Graph, options: &Sources, claimed: &[u32]) -> Result<Buffer<u32>> {
    let sources = options.vertices(graph)?;
    match sources[..] == *claimed {
        true => Ok(sources),
        false => Err(Error::verification(format!("sources {:?}", &sources[..]), format!("{claimed:?}"))),
    }
}

/// Bounds on the greatest distance between two vertices with a path, from sources and how far searches along the edges
/// and against them came.
///
/// In every component a path has at most one edge less than there are vertices; and if a source there reaches all
/// others and is reached by all, at most as many as lead to the farthest in both directions. Where all vertices of a
/// component are sources, the greatest distance from any of them is that between any two.
fn diameter_bounds(graph: &Graph, searches: &[(u32, Reach, Reach)]) -> Result<(u32, u32)> {
    let roots = forest(graph, |_, _| ())?;
    let sizes = sizes(graph).make()?;
    (0..roots.len() as u32).for_each(|v| _ = sizes[find(&roots, v) as usize].fetch_add(1, Relaxed));
    let least = searches.iter().map(|(_, along, against)| along.depth.max(against.depth)).max().unwrap_or(0);
    let mut bounds = HashMap::<u32, u64>::new();
    let mut searched = HashMap::<u32, BTreeMap<u32, u64>>::new();
    for (source, along, against) in searches {
        let root = find(&roots, *source);
        let size = u64::from(sizes[root as usize].load(Relaxed));
        searched.entry(root).or_default().insert(*source, along.depth.into());
        let bound = bounds.entry(root).or_insert(size - 1);
        if (along.reached, against.reached) == (size, size) {
            *bound = (*bound).min(u64::from(along.depth) + u64::from(against.depth));
        }
    }
    for (root, depths) in searched {
        if depths.len() as u64 == u64::from(sizes[root as usize].load(Relaxed)) {
            bounds.insert(root, depths.into_values().max().unwrap_or(0));
        }
    }
    let without = (0..sizes.len()).filter(|&v| !bounds.contains_key(&(v as u32)));
    let without = without.map(|v| u64::from(sizes[v].load(Relaxed).saturating_sub(1))).max();
    let most = bounds.values().copied().chain(without).max().unwrap_or(0);
    Ok((least, most as u32))
}

/// Checks betweenness centrality by computing it once more: source by source, pushing path counts along the edges and
/// dependencies against them.
///
/// # Errors
/// The first vertex whose number differs by more than rounding, too little memory (32.5 bytes per vertex), or a page
/// that cannot be read.
pub fn verify_betweenness_centrality(graph: &Graph, options: &BetweennessOptions, result: &Betweenness) -> Result<()> {
    result.stats.check_image(graph.image())?;
    let sources = checked_sources(graph, &options.sources, &result.sources)?;
    graph.make_room("verification of betweenness", betweenness_bytes(graph))?;
    let (sums, mut paths, mut depends, mut levels, mut order) = paths(graph).make()?;
    let ends = f64::from(u8::from(options.endpoints));
    for &source in sources.iter() {
        paths.iter_mut().chain(depends.iter_mut()).for_each(|number| number.store(0.0));
        paths[source as usize].store(1.0);
        let reach = search(graph, Direction::Out, source, u32::MAX, &mut levels)?;
        let level = |v: u32| levels[v as usize].load(Relaxed);
        order.iter_mut().zip(0..).for_each(|(slot, v)| *slot = v);
        order.sort_unstable_by_key(|&v| (level(v), v));
        let by_level = || order.chunk_by(|&a, &b| level(a) == level(b)).filter(|same| level(same[0]) > 0);
        // Levels whose numbers of paths have been divided.
        let mut scaled = Vec::new();
        for (same, next) in by_level().zip(by_level().skip(1)) {
            for_each_list(graph, Direction::Out, Frontier::List(same), |list| {
                let (behind, number) = (level(list.vertex) + 1, paths[list.vertex as usize].load());
                let targets = list.neighbours.iter().filter(|&&target| level(target) == behind);
                targets.for_each(|&target| paths[target as usize].add(number));
            })?;
            if next.iter().any(|&v| paths[v as usize].load() > SCALE) {
                next.iter().map(|&v| &paths[v as usize]).for_each(|number| number.store(number.load() / SCALE));
                scaled.push(level(next[0]));
            }
        }
        for same in by_level().rev().take(reach.depth as usize) {
            let scale = if scaled.contains(&level(same[0])) { SCALE } else { 1.0 };
            for_each_list(graph, Direction::In, Frontier::List(same), |list| {
                let v = list.vertex as usize;
                let share = (1.0 + depends[v].load()) / paths[v].load();
                for &before in list.neighbours.iter().filter(|&&before| level(before) + 1 == level(list.vertex)) {
                    depends[before as usize].add(paths[before as usize].load() * share / scale);
                }
            })?;
            same.iter().for_each(|&v| sums[v as usize].add(ends + depends[v as usize].load()));
        }
        sums[source as usize].add(ends * (reach.reached - 1) as f64);
    }
    let rule = Rule::new(graph, options, sources);
    let bound = rule.error_bound(options);
    if (bound - result.error_bound).abs() > 1e-9 * bound.min(f64::MAX)
        || bound.is_finite() != result.error_bound.is_finite()
    {
        return Err(Error::verification(
            format!("{bound:e} as the bound of errors"),
            format!("{:e}", result.error_bound),
        ));
    }
    for (v, sum) in sums.iter().enumerate() {
        let (expected, claimed) = (rule.score(v as u32, sum.load()), result.scores[v]);
        // Written so that a NaN is refused.
        let near = (expected - claimed).abs() <= 1e-9 * expected.abs();
        if !near {
            let expected = format!("betweenness {expected:e} of vertex {v} of the image");
            return Err(Error::verification(expected, format!("{claimed:e}")));
        }
    }
    Ok(())
}

pub(crate) fn betweenness_bytes(graph: &Graph) -> u64 {
    paths(graph).bytes() + EdgeMapper::bytes(graph.vertices())
}

/// Centralities, path counts, dependencies, the levels of a search, and the vertices by level.
type Paths = (Buffer<AtomicF64>, Buffer<AtomicF64>, Buffer<AtomicF64>, Buffer<AtomicU32>, Buffer<u32>);

fn paths(graph: &Graph) -> impl Layout<Made = Paths> {
    let numbers = |purpose| array(graph, purpose, graph.vertices());
    let order = array(graph, "vertices by level", graph.vertices());
    (numbers("centralities"), numbers("path counts"), numbers("dependencies"), levels(graph), order)
}

/// The rule that turns the sum of a vertex's dependencies over all sources into its centrality: the mean over the
/// sources that can see the vertex, as a share of all paths.
struct Rule {
    /// In rising order.
    sources: Buffer<u32>,
    vertices: u64,
    endpoints: bool,
    /// The number of vertices at which a path through a vertex may start.
    starts: u64,
    /// The number of pairs of vertices that a vertex may be between, or 1 if it is divided by.
    pairs: f64,
}

impl Rule {
    fn new(graph: &Graph, options: &BetweennessOptions, mut sources: Buffer<u32>) -> Self {
        sources.sort_unstable();
        // Without its ends, a path through a vertex starts and ends at others.
        let starts = if options.endpoints { graph.vertices() } else { graph.vertices().saturating_sub(1) };
        let ordered = starts as f64 * starts.saturating_sub(1) as f64;
        let pairs = match (options.normalized, graph.is_directed()) {
            (true, _) => 1.0,
            (false, true) => ordered,
            (false, false) => ordered / 2.0,
        };
        Rule { sources, vertices: graph.vertices(), endpoints: options.endpoints, starts, pairs }
    }

    fn score(&self, vertex: u32, sum: f64) -> f64 {
        let own = !self.endpoints && self.sources.binary_search(&vertex).is_ok();
        let seen = self.sources.len() - usize::from(own);
        if seen == 0 || self.starts < 2 {
            return 0.0;
        }
        sum / seen as f64 / (self.starts - 1) as f64 * self.pairs
    }

    /// Hoeffding's bound of a mean of numbers from 0 to 1, for all vertices at once.
    fn error_bound(&self, options: &BetweennessOptions) -> f64 {
        let count = self.sources.len() as u64;
        let vertices = self.vertices;
        if count == vertices {
            return 0.0;
        }
        let seen = if self.endpoints { count } else { count.saturating_sub(1) };
        if !matches!(options.sources, Sources::Drawn { .. }) {
            return f64::INFINITY;
        }
        // Where none is seen it is infinite, and the greatest value is the bound.
        let exponent = (2.0 * vertices as f64 / options.failure).ln() / (2.0 * seen as f64);
        self.pairs * exponent.sqrt().min(1.0)
    }
}

/// The levels of a search, plus one, and how far it came.
fn search(graph: &Graph, onwards: Direction, source: u32, limit: u32, levels: &mut [AtomicU32]) -> Result<Reach> {
    levels.iter_mut().for_each(|level| *level.get_mut() = 0);
    let levels = &*levels;
    levels[source as usize].store(1, Relaxed);
    let mut mapper = EdgeMapper::idle(graph)?;
    mapper.restart(onwards, source)?;
    let mut reach = Reach { reached: 1, depth: 0 };
    while reach.depth < limit {
        let next_level = reach.depth + 2;
        mapper.push_step(|_, target, next| {
            if levels[target as usize].compare_exchange(0, next_level, Relaxed, Relaxed).is_ok() {
                next.activate(target);
            }
        })?;
        if mapper.active() == 0 {
            break;
        }
        reach = Reach { reached: reach.reached + mapper.active(), depth: reach.depth + 1 };
    }
    Ok(reach)
}

fn sizes(graph: &Graph) -> impl Layout<Made = Buffer<AtomicU32>> {
    array(graph, "component sizes", graph.vertices())
}
