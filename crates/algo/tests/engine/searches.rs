//! Searches from many sources and betweenness, compared with the obvious way.

use super::engine::*;
use super::model::Model;
use outcore_algo::verify::{verify_all_pairs, verify_betweenness_centrality, verify_multi_source_bfs};
use outcore_algo::{
    AllPairsOptions, BetweennessOptions, MultiSourceBfsOptions, Sources, all_pairs, betweenness_centrality,
    multi_source_bfs,
};
use outcore_graph::Graph;

/// The source and others far apart, or all vertices if there are no more.
pub fn some(graph: &Graph, source: u32, count: u32) -> Vec<u32> {
    let vertices = graph.vertices() as u32;
    let count = count.min(vertices);
    (0..count).map(|i| (source + i * (vertices / count)) % vertices).collect()
}

/// Searches from sources together, and what all pairs make of them.
pub fn check_searches(graph: &Graph, model: &Model, sources: &[u32]) {
    let targets = sources[sources.len() / 2..].to_vec();
    let all: Vec<_> = sources.iter().map(|&source| model.levels(source)).collect();
    let depth = |levels: &[Option<u32>]| levels.iter().flatten().copied().max().unwrap_or(0);
    let deepest = all.iter().map(|levels| depth(levels)).max().unwrap_or(0);
    for depth_limit in if sources.len() > 10 { [None].as_slice() } else { &[None, Some(0), Some(2)] } {
        let depth_limit = *depth_limit;
        let options = MultiSourceBfsOptions { sources: sources.to_vec(), targets: targets.clone(), depth_limit };
        let found = multi_source_bfs(graph, &options).unwrap();
        let near = |level: &Option<u32>| level.filter(|&level| depth_limit.is_none_or(|most| level <= most));
        let limited: Vec<Vec<_>> = all.iter().map(|levels| levels.iter().map(near).collect()).collect();
        for (i, levels) in limited.iter().enumerate() {
            let expected = (levels.iter().flatten().count() as u64, depth(levels));
            assert_eq!((found.reach[i].reached, found.reach[i].depth), expected, "from {}", sources[i]);
            for (j, &target) in targets.iter().enumerate() {
                assert_eq!(found.level(i, j), levels[target as usize], "from {} to {target}", sources[i]);
            }
        }
        let values = |v: usize| limited.iter().filter_map(move |levels| levels[v]);
        let counts: Vec<_> = (0..model.out.len()).map(|v| values(v).count() as u32).collect();
        same(&counts, &found.reached_by, "sources that reach a vertex");
        for (v, sum) in found.distance_sums.iter().enumerate() {
            assert_eq!(*sum, values(v).map(u64::from).sum::<u64>(), "distances of {v}");
        }
        if deepest < 10_000 {
            verify_multi_source_bfs(graph, &options, &found).unwrap();
        }
    }
    if sources.len() > 10 || deepest > 10_000 {
        return;
    }
    let options = AllPairsOptions { sources: Sources::Given(sources.to_vec()) };
    let found = all_pairs(graph, &options).unwrap();
    assert!(deepest <= found.diameter_least && found.diameter_least <= found.diameter_most);
    if model.out.len() <= 400 {
        let diameter = (0..model.out.len() as u32).map(|v| depth(&model.levels(v))).max().unwrap_or(0);
        assert!((found.diameter_least..=found.diameter_most).contains(&diameter), "diameter {diameter}");
    }
    verify_all_pairs(graph, &options, &found).unwrap();
}

/// Betweenness from these sources, so many of the first if they are all.
pub fn check_betweenness(graph: &Graph, model: &Model, sources: Sources, count: u32) {
    let vertices: Vec<u32> = match &sources {
        Sources::Given(given) => given.clone(),
        _ => (0..count).collect(),
    };
    let (n, k) = (graph.vertices() as f64, vertices.len() as f64);
    for (normalized, endpoints) in [(false, false), (true, true), (true, false)] {
        if !normalized && model.out.len() > 5000 {
            continue;
        }
        let options = BetweennessOptions { sources: sources.clone(), normalized, endpoints, ..Default::default() };
        let found = betweenness_centrality(graph, &options).unwrap();
        let sums = model.betweenness(&vertices, endpoints);
        let pairs = if endpoints { n - 1.0 } else { n - 2.0 };
        let whole = if graph.is_directed() { n - 1.0 } else { (n - 1.0) / 2.0 };
        for (v, (sum, found)) in sums.iter().zip(found.scores.to_vec()).enumerate() {
            let is_source = vertices.contains(&(v as u32));
            // The mean over those sources of which it is not one.
            let seen = if k == n && !endpoints {
                n - 1.0
            } else if is_source && !endpoints {
                k - 1.0
            } else {
                k
            };
            let expected = match () {
                () if pairs < 1.0 => *sum,
                () if normalized => sum / seen / pairs,
                () => sum / seen * whole,
            };
            let expected = if is_source && k == 1.0 && n > 2.0 && !endpoints { 0.0 } else { expected };
            assert!((expected - found).abs() <= 1e-9 * (1.0 + expected), "{v}: expected {expected}, found {found}");
        }
        assert_eq!(found.error_bound == 0.0, k == n);
        if model.out.len() < 40_000 {
            verify_betweenness_centrality(graph, &options, &found).unwrap();
        }
    }
}
