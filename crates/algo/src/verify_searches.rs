//! Verifiers of searches from many sources: each source searches once more, alone.

use crate::all_pairs::{AllPairs, AllPairsOptions, diameter};
use crate::betweenness::{Betweenness, BetweennessOptions, Scale};
use crate::multi_source_bfs::{MultiSourceBfs, MultiSourceBfsOptions, Reach};
use outcore_graph::{Direction, EdgeMapper, Error, Frontier, Graph, List, Result, StatsBuilder, scan, vertex_map};
use outcore_io::{Array, AtomicF64};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Checks searches from many sources by searching from one after the other, pushing only.
///
/// # Errors
/// The first source or vertex of which that finds something else, too little memory (16.5 bytes per vertex), or a page that cannot be read.
pub fn verify_multi_source_bfs(graph: &Graph, options: &MultiSourceBfsOptions, found: &MultiSourceBfs) -> Result<()> {
    let vertices = graph.vertices();
    let bytes = 16 * vertices + EdgeMapper::bytes(vertices);
    graph.make_room("verification of searches", bytes)?;
    let budget = graph.runtime().budget();
    let reached_by = Array::<AtomicU32>::zeroed(budget, "sources that reach a vertex", vertices as usize)?;
    let sums = Array::<AtomicU64>::zeroed(budget, "sums of distances", vertices as usize)?;
    let limit = options.max_depth.unwrap_or(u32::MAX);
    let mut levels = Array::<AtomicU32>::zeroed(budget, "levels", vertices as usize)?;
    for (i, &source) in options.sources.iter().enumerate() {
        let reach = search(graph, Direction::Out, source, limit, &mut levels, |_, _| ())?;
        let said = found.reach.get(i).copied().unwrap_or_default();
        if reach != said {
            let expected = format!("{reach:?} of the search from vertex {source} of the image");
            return Err(Error::verification(expected, format!("{said:?}")));
        }
        for (j, &target) in options.targets.iter().enumerate() {
            let level = levels[target as usize].load(Relaxed).checked_sub(1);
            if found.level(i, j) != level {
                let expected = format!("distance {level:?} from vertex {source} of the image to vertex {target}");
                return Err(Error::verification(expected, format!("{:?}", found.level(i, j))));
            }
        }
        vertex_map(graph.runtime(), vertices, |range| {
            for v in range {
                if let Some(level) = levels[v].load(Relaxed).checked_sub(1) {
                    reached_by[v].fetch_add(1, Relaxed);
                    sums[v].fetch_add(level.into(), Relaxed);
                }
            }
            Ok(())
        })?;
    }
    for v in 0..vertices as usize {
        let values = |counts: &[AtomicU32], sums: &[AtomicU64]| (counts[v].load(Relaxed), sums[v].load(Relaxed));
        let (expected, said) = (values(&reached_by, &sums), values(&found.reached_by, &found.distance_sums));
        if expected != said {
            let text =
                |(count, sum)| format!("vertex {v} of the image reached by {count} sources, distances {sum} in all");
            return Err(Error::verification(text(expected), text(said)));
        }
    }
    Ok(())
}

/// Checks distances between chosen sources, as [`verify_multi_source_bfs`] does, and the bounds by searches of every source alone.
///
/// # Errors
/// As with [`verify_multi_source_bfs`].
pub fn verify_all_pairs(graph: &Graph, options: &AllPairsOptions, found: &AllPairs) -> Result<()> {
    let sources = options.sources.vertices(graph)?;
    if sources != found.sources {
        return Err(Error::verification(format!("sources {sources:?}"), format!("{:?}", found.sources)));
    }
    let searches = MultiSourceBfsOptions { sources: sources.clone(), targets: sources.clone(), max_depth: None };
    verify_multi_source_bfs(graph, &searches, &found.search)?;
    graph.make_room("verification of searches", 4 * graph.vertices() + EdgeMapper::bytes(graph.vertices()))?;
    let mut against = Vec::with_capacity(sources.len());
    if graph.is_directed() {
        let mut levels = Array::zeroed(graph.runtime().budget(), "levels", graph.vertices() as usize)?;
        for &source in &sources {
            against.push(search(graph, Direction::In, source, u32::MAX, &mut levels, |_, _| ())?);
        }
    } else {
        against.clone_from(&found.search.reach);
    }
    let bounds = diameter(graph, &sources, &found.search.reach, &against, &mut StatsBuilder::start())?;
    let said = (found.diameter_least, found.diameter_most);
    if bounds != said {
        let text = |(least, most)| format!("a diameter from {least} to {most}");
        return Err(Error::verification(text(bounds), text(said)));
    }
    Ok(())
}

/// Checks betweenness centrality by computing it once more: source by source, pushing path counts along the edges and dependencies against them.
///
/// # Errors
/// The first vertex whose number differs by more than rounding, too little memory (32.5 bytes per vertex), or a page that cannot be read.
pub fn verify_betweenness(graph: &Graph, options: &BetweennessOptions, found: &Betweenness) -> Result<()> {
    let sources = options.sources.vertices(graph)?;
    if sources != found.sources {
        return Err(Error::verification(format!("sources {sources:?}"), format!("{:?}", found.sources)));
    }
    let (budget, vertices) = (graph.runtime().budget(), graph.vertices());
    graph.make_room("verification of betweenness", 32 * vertices + EdgeMapper::bytes(vertices))?;
    let numbers = |purpose| Array::<AtomicF64>::zeroed(budget, purpose, vertices as usize);
    let (mut sums, mut paths, mut depends) =
        (numbers("centralities")?, numbers("path counts")?, numbers("dependencies")?);
    let mut levels = Array::zeroed(budget, "levels", vertices as usize)?;
    let mut order = Array::<u32>::zeroed(budget, "vertices by level", vertices as usize)?;
    let ends = f64::from(u8::from(options.endpoints));
    for &source in &sources {
        paths.iter_mut().chain(depends.iter_mut()).for_each(|number| number.store(0.0));
        paths[source as usize].store(1.0);
        let reach = search(graph, Direction::Out, source, u32::MAX, &mut levels, |vertex, target| {
            paths[target as usize].add(paths[vertex as usize].load());
        })?;
        let level = |v: u32| levels[v as usize].load(Relaxed);
        order.iter_mut().zip(0..).for_each(|(slot, v)| *slot = v);
        order.sort_unstable_by_key(|&v| (level(v), v));
        for same in order.chunk_by(|&a, &b| level(a) == level(b)).rev().take(reach.depth as usize) {
            let push = |(): &mut (), list: List<'_>| {
                let v = list.vertex as usize;
                let share = (1.0 + depends[v].load()) / paths[v].load();
                for &before in list.neighbours.iter().filter(|&&before| level(before) + 1 == level(list.vertex)) {
                    depends[before as usize].add(paths[before as usize].load() * share);
                }
            };
            scan(graph, Direction::In, Frontier::List(same), || (), push)?;
            same.iter().for_each(|&v| sums[v as usize].add(ends + depends[v as usize].load()));
        }
        sums[source as usize].add(ends * (reach.reached - 1) as f64);
    }
    let scale = Scale::new(graph, options, sources.len() as u64);
    for &source in &sources {
        let sum = &mut sums[source as usize];
        sum.store(sum.load() * scale.sources);
    }
    for (v, sum) in sums.iter().enumerate() {
        let (expected, said) = (sum.load() * scale.others, found.scores[v].load());
        // Written so that a NaN is refused.
        let near = (expected - said).abs() <= 1e-9 * expected.abs();
        if !near {
            let expected = format!("betweenness {expected:e} of vertex {v} of the image");
            return Err(Error::verification(expected, format!("{said:e}")));
        }
    }
    Ok(())
}

/// The levels of a search, plus one, and how far it came. `follow` is called with every edge from one level to the next.
fn search(
    graph: &Graph,
    onwards: Direction,
    source: u32,
    limit: u32,
    levels: &mut [AtomicU32],
    follow: impl Fn(u32, u32) + Sync,
) -> Result<Reach> {
    levels.iter_mut().for_each(|level| *level.get_mut() = 0);
    let levels = &*levels;
    levels[source as usize].store(1, Relaxed);
    let mut mapper = EdgeMapper::new(graph, source)?;
    mapper.restart(onwards, source);
    let mut reach = Reach { reached: 1, depth: 0 };
    while reach.depth < limit {
        let next_level = reach.depth + 2;
        mapper.push_step(|vertex, target, next| {
            let level = levels[target as usize].compare_exchange(0, next_level, Relaxed, Relaxed);
            if level.is_ok() {
                next.activate(target);
            }
            if level.is_ok() || level == Err(next_level) {
                follow(vertex, target);
            }
        })?;
        if mapper.active() == 0 {
            break;
        }
        reach = Reach { reached: reach.reached + mapper.active(), depth: reach.depth + 1 };
    }
    Ok(reach)
}
