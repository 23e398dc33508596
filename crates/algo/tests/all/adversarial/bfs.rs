//! Breadth-first search.

use super::{is_refusal, others, tampering};
use crate::engine::{open, same};
use crate::model::Model;
use outcore_algo::verify::verify_bfs;
use outcore_algo::{Bfs, BfsOptions, bfs};
use outcore_graph::Graph;
use outcore_graph::import::OrderChoice;

pub fn check_bfs(graph: &Graph, model: &Model, source: u32) {
    let options = BfsOptions { source, ..BfsOptions::default() };
    let found = bfs(graph, &options).unwrap();
    let vertices = 0..graph.vertices() as u32;
    let levels = model.levels(source);
    let found_levels: Vec<_> = vertices.clone().map(|vertex| found.level(vertex)).collect();
    same(&levels, &found_levels, &format!("levels from {source}"));
    let parents: Vec<_> = vertices.map(|vertex| found.parent(vertex)).collect();
    let expected_parents = model.parents(source, &levels);
    same(&expected_parents, &parents, &format!("parents from {source}"));
    assert_eq!(found.reached, levels.iter().flatten().count() as u64);
    assert_eq!(Some(found.depth), levels.iter().flatten().copied().max());
    let sizes = found.level_sizes(graph, usize::MAX).unwrap();
    assert_eq!(sizes.iter().sum::<u64>(), found.reached);
    assert_eq!(found.level_sizes(graph, 2).unwrap(), sizes[..sizes.len().min(2)]);
    verify_bfs(graph, &options, &found).unwrap();
    if found.depth > 10_000 {
        return;
    }
    let (near, end) = (found.depth / 2, graph.vertices() as u32);
    for (depth_limit, target) in [
        (None, Some(end - 1)),
        (Some(2), None),
        (Some(near), Some(end / 3)),
        (Some(0), Some(source)),
        (Some(u32::MAX), None),
    ] {
        check_limited(graph, &BfsOptions { source, depth_limit, target }, &levels, &expected_parents);
    }
}

/// A search that ends early has the levels and parents of the whole one as far as it went, which is far enough and no
/// further.
fn check_limited(graph: &Graph, options: &BfsOptions, levels: &[Option<u32>], parents: &[Option<u32>]) {
    let found = bfs(graph, options).unwrap();
    let level_of = |vertex: u32| levels[vertex as usize];
    let last = options.target.and_then(level_of).into_iter().chain(options.depth_limit).min().unwrap_or(u32::MAX);
    let near = |vertex: &usize| levels[*vertex].filter(|&level| level <= last);
    let found_levels: Vec<_> = found.levels().collect();
    let found_parents: Vec<_> = found.parents().collect();
    same(&(0..levels.len()).map(|v| near(&v)).collect::<Vec<_>>(), &found_levels, &format!("levels of {options:?}"));
    let near_parents: Vec<_> = (0..levels.len()).map(|v| near(&v).and(parents[v])).collect();
    same(&near_parents, &found_parents, &format!("parents of {options:?}"));
    assert_eq!(found.reached, found_levels.iter().flatten().count() as u64);
    assert_eq!(Some(found.depth), found_levels.iter().flatten().copied().max());
    verify_bfs(graph, options, &found).unwrap();
    let Some(target) = options.target else { return };
    let path = found.path(graph, target).unwrap();
    assert_eq!(path.as_ref().map(|path| path.len() as u32 - 1), level_of(target).filter(|&level| level <= last));
    for (level, &vertex) in path.iter().flatten().enumerate() {
        assert_eq!(level_of(vertex), Some(level as u32));
    }
    assert!(path.iter().flat_map(|path| path.windows(2)).all(|pair| parents[pair[1] as usize] == Some(pair[0])));
    assert_eq!(path.map(|path| (path[0], path[path.len() - 1])), found.level(target).map(|_| (options.source, target)));
}

#[test]
fn every_changed_level_and_parent_is_refused() {
    let limits = [(None, None), (Some(2), Some(229)), (None, Some(199))];
    for (directed, (depth_limit, target)) in [true, false].into_iter().flat_map(|way| limits.map(|limit| (way, limit)))
    {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let options = BfsOptions { source: 3, depth_limit, target };
        let mut found = bfs(&graph, &options).unwrap();
        verify_bfs(&graph, &options, &found).unwrap();
        let refused = |found: &Bfs, what: String| {
            let error = verify_bfs(&graph, &options, found).expect_err(&what);
            assert!(is_refusal(&error) && error.to_string().contains("vertex"), "{what}: {error}");
        };
        for vertex in 0..graph.vertices() as usize {
            let (levels, parents) = found.stored();
            let (level, parent) = (levels[vertex], parents[vertex]);
            for wrong in [0, 1, level.wrapping_sub(1), level + 1, level + 7, u32::MAX] {
                if wrong != level {
                    found.stored().0[vertex] = wrong;
                    refused(&found, format!("level {wrong} of {vertex}, which is {level}"));
                }
            }
            found.stored().0[vertex] = level;
            for wrong in others(vertex).map(|parent| !parent).chain([0, 1]) {
                if wrong != parent {
                    found.stored().1[vertex] = wrong;
                    refused(&found, format!("parent {} of {vertex}, which is {}", !wrong, !parent));
                }
            }
            found.stored().1[vertex] = parent;
        }
        verify_bfs(&graph, &options, &found).unwrap();
        let other = BfsOptions { source: 4, ..options };
        assert!(verify_bfs(&graph, &other, &found).is_err(), "another source");
        let further = BfsOptions { depth_limit: Some(found.depth + 1), target: None, ..options };
        let whole = bfs(&graph, &BfsOptions { source: 3, ..BfsOptions::default() }).unwrap();
        assert_eq!(verify_bfs(&graph, &further, &found).is_err(), found.reached < whole.reached, "not far enough");
        let nearer = BfsOptions { depth_limit: Some(found.depth - 1), ..options };
        assert!(verify_bfs(&graph, &nearer, &found).is_err(), "further than it should go");
        found.reached -= 1;
        assert!(verify_bfs(&graph, &options, &found).is_err(), "another number of vertices");
        (found.reached, found.depth) = (found.reached + 1, found.depth + 1);
        assert!(verify_bfs(&graph, &options, &found).is_err(), "another depth");
    }
}
