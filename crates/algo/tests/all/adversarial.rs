//! Graphs at the edges of what graphs can be, against the obvious way in memory; and tampered answers, which verifiers
//! refuse.

#[path = "../engine/ranking.rs"]
mod ranking;
#[path = "../engine/searches.rs"]
mod searches;

use crate::engine::{self, *};
use crate::model::{self, Model, Triads};
use outcore_algo::verify::{
    verify_all_pairs, verify_betweenness_centrality, verify_bfs, verify_clustering, verify_components,
    verify_core_number, verify_label_propagation, verify_lcc, verify_pagerank, verify_personalized_pagerank,
    verify_sssp, verify_strong_components, verify_triangles,
};
use outcore_algo::{
    AllPairsOptions, BetweennessOptions, BfsOptions, Clustering, ClusteringOptions, Components, ComponentsOptions,
    CoreNumbers, CoreNumbersOptions, Dangling, DegreeCentralityOptions, DegreeEdges, LabelPropagation,
    LabelPropagationOptions, Lcc, LccOptions, PageRankOptions, PersonalizedPageRankOptions, ReciprocityOptions,
    Sources, SsspOptions, StrongComponentsOptions, Triangles, TrianglesOptions, all_pairs, betweenness_centrality, bfs,
    clustering, components, core_number, degree_centrality, label_propagation, lcc, pagerank, personalized_pagerank,
    reciprocity, sssp, strong_components, triangles, verify_degree_centrality, verify_reciprocity,
};
use outcore_graph::import::{Duplicates, InputOptions, OrderChoice, open as read_input};
use outcore_graph::{Direction, Graph};
use outcore_image::Error;
use outcore_ingest::Choice;
use ranking::{check_pagerank, check_personalized_pagerank};
use searches::{check_betweenness, check_searches, some};
use std::collections::BTreeSet;

/// Imports a graph, runs everything and compares it with the model, from some sources.
fn check(given: &Given, sources: &[u32]) {
    for directed in [true, false] {
        let given = Given { directed, ..given.clone() };
        let model = Model::new(&given);
        let triads = model.triads();
        let directory = tempfile::tempdir().unwrap();
        let image = given.image(directory.path(), OrderChoice::Input);
        for threads in [1, 3] {
            // All pages cached, and 64 of them.
            let graph = open(&image, threads, None, if threads == 1 { None } else { Some(1 << 18) });
            assert_eq!(graph.vertices(), u64::from(given.vertices));
            for &source in sources {
                check_bfs(&graph, &model, source);
                check_sssp(&graph, &model, source, given.weighted);
            }
            check_pagerank(&graph, &model);
            check_personalized_pagerank(&graph, &model);
            let found = components(&graph, &ComponentsOptions::default()).unwrap();
            let labels = model.labels();
            same(&labels, &found.labels, "labels");
            let count = labels.iter().enumerate().filter(|&(vertex, &label)| vertex as u32 == label).count();
            assert_eq!(found.count, count as u64);
            verify_components(&graph, &found).unwrap();
            check_core_number(&graph, &model);
            check_label_propagation(&graph, &model);
            check_strong_components(&graph, &model);
            check_triads(&graph, &triads);
            // Far apart on a long path, every source takes a page per step.
            let deep = model.levels(sources[0]).iter().flatten().any(|&level| level > 10_000);
            for count in if deep { [1].as_slice() } else { &[3, 70] } {
                check_searches(&graph, &model, &some(&graph, sources[0], *count));
            }
            check_betweenness(&graph, &model, Sources::Given(some(&graph, sources[0], if deep { 1 } else { 10 })), 10);
            if given.vertices <= 100 {
                check_betweenness(&graph, &model, Sources::All, given.vertices);
            }
        }
        // The one image has degrees in memory, in the other the numbers of vertices say enough.
        let image = given.image(directory.path(), OrderChoice::Degree);
        let graph = open(&image, 2, None, None);
        check_triads(&graph, &ids(&graph).iter().map(|&id| triads[id as usize]).collect::<Vec<_>>());
    }
}

fn check_triads(graph: &Graph, expected: &[Triads]) {
    let close = |expected: f64, found: f64, what: &str| {
        // Written so that a NaN fails.
        assert!((expected - found).abs() <= 1e-12, "{what} is {found}, expected {expected}");
    };
    let mean = |values: f64| values / (expected.len() as f64).max(1.0);
    let found = triangles(graph, &TrianglesOptions::default()).unwrap();
    same(&expected.iter().map(|triads| triads.triangles).collect::<Vec<_>>(), &found.counts, "triangles");
    assert_eq!(3 * found.total, expected.iter().map(|triads| triads.triangles).sum::<u64>());
    verify_triangles(graph, &found).unwrap();
    let found = clustering(graph, &ClusteringOptions::default()).unwrap();
    for (vertex, (expected, found)) in expected.iter().zip(found.coefficients.to_vec()).enumerate() {
        close(expected.clustering, found, &format!("clustering of {vertex}"));
    }
    close(mean(expected.iter().map(|triads| triads.clustering).sum()), found.average, "average clustering");
    let sum = |value: fn(&Triads) -> u64| expected.iter().map(value).sum::<u64>() as f64;
    let possible = sum(|triads| triads.possible);
    let transitivity = if possible == 0.0 { 0.0 } else { sum(|triads| triads.choices) / possible };
    close(transitivity, found.transitivity, "transitivity");
    verify_clustering(graph, &found).unwrap();
    let found = lcc(graph, &LccOptions::default()).unwrap();
    for (vertex, (expected, found)) in expected.iter().zip(found.coefficients.to_vec()).enumerate() {
        close(expected.lcc, found, &format!("lcc of {vertex}"));
    }
    close(mean(expected.iter().map(|triads| triads.lcc).sum()), found.average, "average lcc");
    verify_lcc(graph, &found).unwrap();
}

/// In memory, with room for some edges, and without.
fn check_strong_components(graph: &Graph, model: &Model) {
    let labels = model.strong_labels();
    for in_memory_bytes in [None, Some(4096), Some(0)] {
        let found = strong_components(graph, &StrongComponentsOptions { in_memory_bytes }).unwrap();
        same(&labels, &found.labels, &format!("strong components, {in_memory_bytes:?} in memory"));
        let count = labels.iter().enumerate().filter(|&(vertex, &label)| vertex as u32 == label).count();
        assert_eq!(found.count, count as u64);
        if in_memory_bytes.is_none() {
            verify_strong_components(graph, &found).unwrap();
        }
    }
}

fn check_bfs(graph: &Graph, model: &Model, source: u32) {
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
    let found_levels: Vec<_> = (0..levels.len() as u32).map(|vertex| found.level(vertex)).collect();
    let found_parents: Vec<_> = (0..levels.len() as u32).map(|vertex| found.parent(vertex)).collect();
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

fn check_sssp(graph: &Graph, model: &Model, source: u32, weights: bool) {
    let expected = model.distances(source, weights);
    for delta in [None, Some(0.01), Some(1.5), Some(f64::INFINITY)] {
        let options = SsspOptions { source, weights, delta };
        let found = sssp(graph, &options).unwrap();
        let distances: Vec<_> = (0..graph.vertices() as u32).map(|vertex| found.distance(vertex)).collect();
        same(&expected, &distances, &format!("distances from {source}, delta {delta:?}"));
        assert_eq!(found.reached, expected.iter().flatten().count() as u64);
        verify_sssp(graph, &options, &found).unwrap();
    }
}

#[test]
fn seeds_that_cannot_be_are_refused_and_more_sets_than_fit_together_are_done_in_turns() {
    let directory = tempfile::tempdir().unwrap();
    let edges = (0..3000u64).map(|i| ((mix(i) % 500) as u32, (mix(!i) % 500) as u32)).collect();
    let graph = open(&Given::new(500, edges, true).image(directory.path(), OrderChoice::Auto), 2, None, None);
    let run = |seeds: Vec<Vec<(u32, f64)>>| {
        let options = PersonalizedPageRankOptions { seeds, tol: 1e-13, ..PersonalizedPageRankOptions::default() };
        personalized_pagerank(&graph, &options).map(|found| (options, found))
    };
    for (seeds, text) in [
        (vec![], "at least one seed"),
        (vec![(3, 0.0), (4, 0.0)], "of which one has a share above 0, found 2 of 0"),
        (vec![(3, 1e308), (4, 1e308)], "divide them all"),
        (vec![(3, -1.0), (4, 2.0)], "at least 0"),
        (vec![(3, f64::NAN)], "at least 0"),
        (vec![(3, f64::INFINITY)], "at least 0"),
        (vec![(500, 1.0)], "below 500"),
    ] {
        let error = run(vec![seeds]).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    let none = run(Vec::new()).unwrap().1;
    assert!(none.ranks.is_empty() && none.stopped_by.converged());
    let sets: Vec<_> = (0..11).map(|set| vec![(set * 40, 1.0), (set + 7, f64::from(set))]).collect();
    let (options, all) = run(sets.clone()).unwrap();
    assert!(all.stopped_by.converged() && all.ranks.len() == 11);
    verify_personalized_pagerank(&graph, &options, &all).unwrap();
    for (set, together) in sets.into_iter().zip(&all.ranks) {
        let alone = run(vec![set]).unwrap().1;
        let difference = together.to_vec().iter().zip(alone.ranks[0].to_vec()).map(|(a, b)| (a - b).abs()).sum::<f64>();
        assert!(difference < 1e-11, "{difference}");
    }
}

fn check_core_number(graph: &Graph, model: &Model) {
    let found = core_number(graph, &CoreNumbersOptions::default()).unwrap();
    let cores = model.cores(graph.is_directed());
    same(&cores, &found.cores, "core numbers");
    assert_eq!(Some(&found.max_core), cores.iter().max());
    verify_core_number(graph, &found).unwrap();
}

fn check_label_propagation(graph: &Graph, model: &Model) {
    for max_iter in [0, 1, 6] {
        let options = LabelPropagationOptions { max_iter };
        let found = label_propagation(graph, &options).unwrap();
        let (labels, iterations, converged) = model.propagated(graph.is_directed(), max_iter);
        same(&labels, &found.labels, &format!("labels after {max_iter} iterations"));
        assert_eq!((found.iterations, found.converged), (iterations, converged));
        assert_eq!(found.count, labels.iter().collect::<BTreeSet<_>>().len() as u64);
        verify_label_propagation(graph, &options, &found).unwrap();
    }
}

#[test]
fn an_empty_graph_has_no_answers_and_no_sources() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let image = Given::new(0, Vec::new(), directed).image(directory.path(), OrderChoice::Auto);
        let graph = open(&image, 2, None, None);
        let refused =
            bfs(&graph, &BfsOptions { source: 0, ..BfsOptions::default() }).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains("vertex below 0"), "{refused}");
        let found = pagerank(&graph, &PageRankOptions::default()).unwrap();
        assert!(found.ranks.is_empty() && found.stopped_by.converged());
        verify_pagerank(&graph, &PageRankOptions::default(), &found).unwrap();
        let found = components(&graph, &ComponentsOptions::default()).unwrap();
        assert!(found.labels.is_empty());
        assert_eq!(found.count, 0);
        verify_components(&graph, &found).unwrap();
        let found = strong_components(&graph, &StrongComponentsOptions::default()).unwrap();
        assert!(found.labels.is_empty() && found.count == 0);
        verify_strong_components(&graph, &found).unwrap();
        let found = core_number(&graph, &CoreNumbersOptions::default()).unwrap();
        assert!(found.cores.is_empty() && found.max_core == 0);
        verify_core_number(&graph, &found).unwrap();
        let options = LabelPropagationOptions::default();
        let found = label_propagation(&graph, &options).unwrap();
        assert!(found.labels.is_empty() && found.converged && found.iterations == 0);
        verify_label_propagation(&graph, &options, &found).unwrap();
        let found = triangles(&graph, &TrianglesOptions::default()).unwrap();
        assert!(found.counts.is_empty() && found.total == 0);
        verify_triangles(&graph, &found).unwrap();
        let found = clustering(&graph, &ClusteringOptions::default()).unwrap();
        assert!(found.coefficients.is_empty() && found.average == 0.0 && found.transitivity == 0.0);
        verify_clustering(&graph, &found).unwrap();
        let found = lcc(&graph, &LccOptions::default()).unwrap();
        assert!(found.coefficients.is_empty() && found.average == 0.0);
        verify_lcc(&graph, &found).unwrap();
        let found = all_pairs(&graph, &AllPairsOptions::default()).unwrap();
        assert!(found.sources.is_empty() && found.search.reached_by.is_empty() && found.diameter_most == 0);
        verify_all_pairs(&graph, &AllPairsOptions::default(), &found).unwrap();
        let found = betweenness_centrality(&graph, &BetweennessOptions::default()).unwrap();
        assert!(found.scores.is_empty() && found.sources.is_empty());
        verify_betweenness_centrality(&graph, &BetweennessOptions::default(), &found).unwrap();
    }
}

#[test]
fn one_vertex_with_and_without_a_loop() {
    check(&Given::new(1, vec![], true), &[0]);
    check(&Given::new(1, vec![(0, 0)], true), &[0]);
}

#[test]
fn isolated_vertices_and_loops_alone() {
    check(&Given::new(70_000, vec![], true), &[0, 69_999]);
    check(&Given::new(5000, (0..5000).map(|v| (v, v)).collect(), true), &[0, 4999]);
}

#[test]
fn parallel_edges_that_stay() {
    let edges: Vec<_> = (0..3000u64).map(|i| ((mix(i) % 60) as u32, (mix(!i) % 60) as u32)).collect();
    check(&Given { parallel: true, ..Given::new(64, edges.clone(), true) }, &[0, 59, 63]);
    check(&Given::new(64, edges, true), &[0, 59, 63]);
    let one_pair = vec![(3, 4); 100_000];
    check(&Given { parallel: true, ..Given::new(6, one_pair, true) }, &[3, 4, 5]);
}

#[test]
fn stars_out_and_in() {
    let leaves = 60_000;
    check(&Given::new(leaves + 1, (1..=leaves).map(|leaf| (0, leaf)).collect(), true), &[0, 1, leaves]);
    check(&Given::new(leaves + 1, (0..leaves).map(|leaf| (leaf, leaves)).collect(), true), &[0, leaves]);
}

#[test]
fn a_long_path() {
    // Deeper than what is searched from many sources.
    let length = 11_000;
    check(&Given::new(length, (1..length).map(|v| (v - 1, v)).collect(), true), &[0, length / 2]);
}

#[test]
fn two_hubs_and_several_components() {
    // Hubs 0 and 1 share half of their leaves; behind them chains, cycles, a loop and lonely vertices.
    let mut edges: Vec<(u32, u32)> = (2..20_000).map(|v| (0, v)).collect();
    edges.extend((10_000..30_000).map(|v| (v, 1)));
    edges.extend((30_001..30_100).map(|v| (v, v - 1)));
    edges.extend((30_200..30_300).map(|v| (v, 30_200 + (v + 1) % 100)));
    edges.push((30_500, 30_500));
    check(&Given::new(30_600, edges, true), &[0, 1, 2, 15_000, 30_099, 30_200, 30_500, 30_599]);
}

#[test]
fn components_whose_hubs_are_far_from_their_smallest_vertices() {
    // Many small stars: the giant component is no larger than the others.
    let edges: Vec<_> = (0..2000).flat_map(|star| (0..9).map(move |leaf| (10 * star + 9, 10 * star + leaf))).collect();
    check(&Given::new(20_000, edges, true), &[9, 0, 19_999]);
    // A cycle whose neighbours in it are far apart in number.
    let cycle = (0..2003u32).map(|v| (v, (v + 801) % 2003)).collect();
    check(&Given::new(2003, cycle, true), &[0, 77]);
}

#[test]
fn two_giant_components_and_a_bridge_with_small_ones_on_it() {
    let mut edges = Vec::new();
    for giant in [0, 12_000] {
        edges.extend((0..30_000u64).map(|i| (giant + (mix(i) % 3000) as u32, giant + (mix(!i) % 3000) as u32)));
        edges.extend((0..3000).map(|v| (giant + v, giant + (v + 1) % 3000)));
    }
    // The bridge: rings of two, three and four, a loop, and a chord that skips some of them, all one way.
    edges.extend([(2999, 5000), (5000, 5001), (5001, 5000), (5001, 7003), (7003, 7002), (7002, 7001), (7001, 7003)]);
    edges.extend([(7001, 6000), (6000, 6000), (6000, 4000), (4000, 4010), (4010, 4020), (4020, 4030), (4030, 4000)]);
    edges.extend([(4020, 12_000), (5000, 4010), (5001, 12_500), (17, 4030), (17, 12_017)]);
    check(&Given::new(15_001, edges.clone(), true), &[0, 5001, 12_000]);
    check(&Given::new(15_001, edges.into_iter().map(|(a, b)| (b, a)).collect(), true), &[12_000]);
}

#[test]
fn chains_of_small_rings_either_way() {
    for backwards in [false, true] {
        // A thousand rings of three, each with an edge to the next one, and to one much later.
        let ring = |r: u32| (0..3).map(move |i| (3 * r + i, 3 * r + (i + 1) % 3));
        let chain = (0..900u32).flat_map(|r| [(3 * r, 3 * r + 4), (3 * r + 1, 3 * r + 290)]);
        let edges = (0..1000).flat_map(ring).chain(chain);
        let edges = edges.map(|(a, b)| if backwards { (b, a) } else { (a, b) }).collect();
        let given = Given { parallel: true, ..Given::new(3000, edges, true) };
        check(&given, &[0, 1500]);
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&given.image(directory.path(), OrderChoice::Input), 2, None, None);
        let found = strong_components(&graph, &StrongComponentsOptions { in_memory_bytes: Some(0) }).unwrap();
        let rounds = found.stats.steps.iter().filter(|step| step.name == "count degrees").count();
        assert!((2..40).contains(&rounds), "{rounds} rounds of colouring for a chain of 1000");
    }
}

#[test]
fn a_cycle_of_a_million_vertices_is_finished_in_memory() {
    let vertices = 1_000_000;
    let directory = tempfile::tempdir().unwrap();
    let edges = (0..vertices).map(|v| (v, (v + 1) % vertices)).collect();
    let image = Given::new(vertices, edges, true).image(directory.path(), OrderChoice::Input);
    let graph = open(&image, 2, None, Some(1 << 18));
    let found = strong_components(&graph, &StrongComponentsOptions::default()).unwrap();
    assert!(found.count == 1 && found.labels.to_vec().iter().all(|&label| label == 0));
    // A search in steps of one edge would take a million of them.
    let pages = graph.pages(Direction::Out) + graph.pages(Direction::In);
    assert!(found.stats.steps.len() < 100 && found.stats.total.pages_wanted < 2 * pages);
}

#[test]
fn a_complete_graph() {
    let edges = (0..300).flat_map(|v| (0..300).map(move |w| (v, w))).filter(|(v, w)| v != w).collect();
    check(&Given::new(300, edges, true), &[0, 299]);
}

#[test]
fn random_graphs_of_every_density() {
    for seed in 0..12u64 {
        let vertices = 1 + mix(seed) % 400;
        let count = mix(seed ^ 99) % (vertices * (1 << (seed % 6)));
        let edges = (0..count)
            .map(|i| ((mix(seed << 32 | i) % vertices) as u32, (mix(seed << 40 | i) % vertices / (1 + i % 3)) as u32))
            .collect();
        let given = Given { parallel: seed % 2 == 0, ..Given::new(vertices as u32, edges, true) };
        check(&given, &[0, vertices as u32 / 2, vertices as u32 - 1]);
    }
}

fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Verification { .. }) && error.to_string().starts_with("verification failed: expected ")
}

/// One in five of the numbers of a tampered graph's vertices and one more; others for the next vertex.
fn others(vertex: usize) -> impl Iterator<Item = u32> {
    (vertex as u32 % 5..=235).step_by(5)
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
        let refused = |found: &outcore_algo::Bfs, what: String| {
            let error = verify_bfs(&graph, &options, found).expect_err(&what);
            assert!(is_refusal(&error) && error.to_string().contains("vertex"), "{what}: {error}");
        };
        for vertex in 0..graph.vertices() as usize {
            let (level, parent) = (found.levels[vertex], found.parents[vertex]);
            for wrong in [0, 1, level.wrapping_sub(1), level + 1, level + 7, u32::MAX] {
                if wrong != level {
                    found.levels[vertex] = wrong;
                    refused(&found, format!("level {wrong} of {vertex}, which is {level}"));
                }
            }
            found.levels[vertex] = level;
            for wrong in others(vertex).map(|parent| !parent).chain([0, 1]) {
                if wrong != parent {
                    found.parents[vertex] = wrong;
                    refused(&found, format!("parent {} of {vertex}, which is {}", !wrong, !parent));
                }
            }
            found.parents[vertex] = parent;
        }
        verify_bfs(&graph, &options, &found).unwrap();
        let other = BfsOptions { source: 4, ..options };
        assert!(verify_bfs(&graph, &other, &found).is_err(), "another source");
        let further = BfsOptions { depth_limit: Some(found.depth + 1), target: None, ..options };
        let whole = bfs(&graph, &BfsOptions { source: 3, ..BfsOptions::default() }).unwrap();
        assert_eq!(verify_bfs(&graph, &further, &found).is_err(), found.reached < whole.reached, "not far enough");
        let nearer = BfsOptions { depth_limit: Some(found.depth - 1), ..options };
        assert!(verify_bfs(&graph, &nearer, &found).is_err(), "further than it should go");
        let found = outcore_algo::Bfs { reached: found.reached - 1, ..found };
        assert!(verify_bfs(&graph, &options, &found).is_err(), "another number of vertices");
        let found = outcore_algo::Bfs { reached: found.reached + 1, depth: found.depth + 1, ..found };
        assert!(verify_bfs(&graph, &options, &found).is_err(), "another depth");
    }
}

#[test]
fn every_changed_rank_is_refused() {
    for (directed, weights) in [(true, false), (false, false), (true, true), (false, true)] {
        for dangling in [Dangling::Networkx, Dangling::Gap] {
            let directory = tempfile::tempdir().unwrap();
            let given = Given { weighted: weights, ..tampering(directed) };
            let graph = open(&given.image(directory.path(), OrderChoice::Input), 1, None, None);
            let options =
                PageRankOptions { tol: 1e-12, max_iter: 500, dangling, weights, ..PageRankOptions::default() };
            let mut found = pagerank(&graph, &options).unwrap();
            assert!(found.stopped_by.converged());
            verify_pagerank(&graph, &options, &found).unwrap();
            for vertex in 0..graph.vertices() as usize {
                let rank = found.ranks[vertex];
                for wrong in [rank * 1.001, rank * 0.999, 0.0, -rank, 1.0, f64::NAN, f64::INFINITY] {
                    found.ranks[vertex] = wrong;
                    let error = verify_pagerank(&graph, &options, &found).expect_err("a wrong rank");
                    assert!(is_refusal(&error), "{error}");
                }
                found.ranks[vertex] = rank;
            }
            verify_pagerank(&graph, &options, &found).unwrap();
        }
    }
}

#[test]
fn weights_of_all_kinds_give_shortest_paths() {
    let random: Vec<(u32, u32)> = (0..4000).map(|i| ((mix(i) % 700) as u32, (mix(!i) % 700) as u32)).collect();
    let path: Vec<(u32, u32)> = (0..1000).map(|v| (v, v + 1)).collect();
    // One edge in eight weighs nothing, so among these there are cycles that weigh nothing.
    let dense: Vec<(u32, u32)> = (0..60).flat_map(|a| (0..60).map(move |b| (a, b))).collect();
    let star: Vec<(u32, u32)> = (1..20_000).map(|leaf| (0, leaf)).collect();
    for (vertices, edges) in [(800, random), (1001, path), (60, dense), (20_000, star)] {
        check(&Given { weighted: true, ..Given::new(vertices, edges, true) }, &[0, 1, vertices - 1]);
    }
}

#[test]
fn every_changed_distance_or_parent_is_refused() {
    for (directed, weighted) in [(true, false), (false, false), (true, true), (false, true)] {
        let directory = tempfile::tempdir().unwrap();
        let given = Given { weighted, ..tampering(directed) };
        let graph = open(&given.image(directory.path(), OrderChoice::Input), 1, None, None);
        let options = SsspOptions { source: 3, weights: weighted, delta: None };
        let mut found = sssp(&graph, &options).unwrap();
        verify_sssp(&graph, &options, &found).unwrap();
        for vertex in 0..graph.vertices() as usize {
            let distance = found.distances[vertex];
            let longer = if weighted { !2000.5f64.to_bits() } else { !2000 };
            for wrong in [0, !0, distance.wrapping_sub(1), longer] {
                if wrong != distance {
                    found.distances[vertex] = wrong;
                    let error = verify_sssp(&graph, &options, &found).expect_err("a wrong distance");
                    assert!(matches!(error, Error::Verification { .. }), "{error}");
                }
            }
            found.distances[vertex] = distance;
            let parent = found.parents[vertex];
            for wrong in (0..236u32).map(|other| !other).chain([0]) {
                found.parents[vertex] = wrong;
                let explains = wrong == parent || verify_sssp(&graph, &options, &found).is_ok();
                // Another parent may explain the distance too, but no vertex explains its own.
                assert!(!explains || wrong == parent || wrong != 0 && !wrong != vertex as u32);
            }
            found.parents[vertex] = parent;
        }
        verify_sssp(&graph, &options, &found).unwrap();
    }
}

#[test]
fn weights_that_are_no_shares_are_refused_with_their_edge() {
    for (weight, refused) in [("0", false), ("1e-200", false), ("1e200", false), ("-1", true), ("1e-300", true)] {
        let directory = tempfile::tempdir().unwrap();
        let input = directory.path().join("edges.txt");
        std::fs::write(&input, format!("ann bob 2\nbob cat {weight}\nbob eve 1\ncat bob 1\n")).unwrap();
        let runtime = runtime(2, None);
        let columns = InputOptions { weight: Some("3".into()), ..InputOptions::default() };
        let source = read_input(&runtime, &[input], &columns).unwrap();
        let image = import_source(source, directory.path(), true, Duplicates::First, OrderChoice::Input);
        let graph = open(&image, 2, None, None);
        let options = PageRankOptions { weights: true, ..iterations(20) };
        match pagerank(&graph, &options) {
            Ok(found) => {
                assert!(!refused, "{weight}");
                verify_pagerank(&graph, &options, &found).unwrap();
            }
            Err(error) => {
                let text = error.to_string();
                assert!(refused && text.contains("at the edge between bob and cat"), "{weight}: {text}");
            }
        }
    }
}

#[test]
fn every_changed_label_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let mut found = components(&graph, &ComponentsOptions::default()).unwrap();
        verify_components(&graph, &found).unwrap();
        assert!(found.count > 3);
        for vertex in 0..graph.vertices() as usize {
            let label = found.labels[vertex];
            for wrong in others(vertex).chain([u32::MAX]) {
                if wrong != label {
                    found.labels[vertex] = wrong;
                    let error = verify_components(&graph, &found).expect_err("a wrong label");
                    assert!(is_refusal(&error) && error.to_string().contains("vertex"), "{error}");
                }
            }
            found.labels[vertex] = label;
        }
        let found = outcore_algo::Components { count: found.count + 1, ..found };
        assert!(verify_components(&graph, &found).is_err(), "another number of components");
    }
}

#[test]
fn every_changed_strong_label_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let mut found = strong_components(&graph, &StrongComponentsOptions::default()).unwrap();
        verify_strong_components(&graph, &found).unwrap();
        assert!(found.count > 3);
        let refused = |found: &Components, what: &str| {
            let error = verify_strong_components(&graph, found).expect_err(what).to_string();
            assert!(error.contains("verification failed"), "{what}: {error}");
            error
        };
        let labels = found.labels.to_vec();
        for (vertex, &label) in labels.iter().enumerate() {
            for wrong in others(vertex).chain([u32::MAX]) {
                if wrong != label {
                    found.labels[vertex] = wrong;
                    refused(&found, "a wrong label");
                }
            }
            found.labels[vertex] = label;
        }
        let (mut found, count) = (Components { count: found.count + 1, ..found }, found.count);
        refused(&found, "another number of components");
        // Every vertex for itself, and all as one.
        (0..).zip(found.labels.iter_mut()).for_each(|(v, label)| *label = v);
        let error = refused(&Components { count: graph.vertices(), ..found }, "nothing joined");
        assert!(error.contains("and back"), "{error}");
        let mut found = strong_components(&graph, &StrongComponentsOptions::default()).unwrap();
        assert_eq!(found.count, count);
        found.labels.fill(0);
        let error = refused(&Components { count: 1, ..found }, "all joined");
        assert!(error.contains("expected a path"), "{error}");
    }
}

#[test]
fn every_changed_core_number_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let mut found = core_number(&graph, &CoreNumbersOptions::default()).unwrap();
        verify_core_number(&graph, &found).unwrap();
        assert!(found.max_core > 7);
        for vertex in 0..graph.vertices() as usize {
            let core = found.cores[vertex];
            for wrong in (0..=found.max_core + 1).chain([u32::MAX]).filter(|&wrong| wrong != core) {
                found.cores[vertex] = wrong;
                let error = verify_core_number(&graph, &found).expect_err("a wrong core number").to_string();
                assert!(error.contains("verification failed") && error.contains("vertex"), "{error}");
            }
            found.cores[vertex] = core;
        }
        // A whole level too low contradicts itself nowhere but in that it could be higher.
        let (max_core, cores) = (found.max_core, found.cores.to_vec());
        let lowered = |core: u32| if core == max_core { core - 1 } else { core };
        cores.iter().zip(found.cores.iter_mut()).for_each(|(&core, slot)| *slot = lowered(core));
        let error = verify_core_number(&graph, &found).expect_err("a level too low").to_string();
        assert!(error.contains("expected the highest core"), "{error}");
        cores.iter().zip(found.cores.iter_mut()).for_each(|(&core, slot)| *slot = core);
        let found = CoreNumbers { max_core: max_core + 1, ..found };
        assert!(verify_core_number(&graph, &found).is_err(), "another greatest core number");
    }
}

#[test]
fn every_changed_propagated_label_is_refused() {
    let options = LabelPropagationOptions { max_iter: 2 };
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let mut found = label_propagation(&graph, &options).unwrap();
        verify_label_propagation(&graph, &options, &found).unwrap();
        assert!(found.count > 9 && !found.converged);
        for vertex in (0..graph.vertices() as usize).step_by(6) {
            let label = found.labels[vertex];
            for wrong in [0, 77, label + 1, u32::MAX].into_iter().filter(|&wrong| wrong != label) {
                found.labels[vertex] = wrong;
                let error = verify_label_propagation(&graph, &options, &found).expect_err("a wrong label").to_string();
                assert!(error.contains("verification failed") && error.contains("vertex"), "{error}");
            }
            found.labels[vertex] = label;
        }
        let found = LabelPropagation { count: found.count + 1, ..found };
        assert!(verify_label_propagation(&graph, &options, &found).is_err(), "another number of labels");
        let found = LabelPropagation { count: found.count - 1, converged: true, ..found };
        assert!(verify_label_propagation(&graph, &options, &found).is_err(), "not converged");
    }
}

#[test]
fn every_changed_count_of_triangles_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let mut found = triangles(&graph, &TrianglesOptions::default()).unwrap();
        verify_triangles(&graph, &found).unwrap();
        assert!(found.total > 100);
        for vertex in 0..graph.vertices() as usize {
            let count = found.counts[vertex];
            for wrong in [0, 1, 3, count.wrapping_sub(1), count + 1, count + 3, u64::MAX] {
                if wrong != count {
                    found.counts[vertex] = wrong;
                    let error = verify_triangles(&graph, &found).expect_err("a wrong count").to_string();
                    assert!(error.contains("verification failed"), "{error}");
                }
            }
            found.counts[vertex] = count;
        }
        // Two that make up for one another, at the vertex of most triangles.
        let most = (0..graph.vertices() as usize).max_by_key(|&v| found.counts[v]).unwrap();
        found.counts[most] -= 1;
        found.counts[0] += 1;
        assert!(verify_triangles(&graph, &found).is_err(), "a triangle at another vertex");
        found.counts[most] += 1;
        found.counts[0] -= 1;
        verify_triangles(&graph, &found).unwrap();
        let found = Triangles { total: found.total + 1, ..found };
        assert!(verify_triangles(&graph, &found).is_err(), "another total");
    }
}

#[test]
fn every_changed_coefficient_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let mut clustered = clustering(&graph, &ClusteringOptions::default()).unwrap();
        let mut local = lcc(&graph, &LccOptions::default()).unwrap();
        let refused = |outcome: outcore_algo::Result<()>, what: &str| {
            let error = outcome.expect_err(what).to_string();
            assert!(error.contains("verification failed"), "{what}: {error}");
        };
        for vertex in (0..graph.vertices() as usize).step_by(3) {
            for of_lcc in [false, true] {
                let value = if of_lcc { local.coefficients[vertex] } else { clustered.coefficients[vertex] };
                for wrong in
                    [value * 1.001, value * 0.999, 0.0, 0.5, 1.0, -value, value + 1e-6, f64::NAN, f64::INFINITY]
                {
                    if wrong == value {
                        continue;
                    }
                    if of_lcc {
                        local.coefficients[vertex] = wrong;
                        refused(verify_lcc(&graph, &local), "a wrong local coefficient");
                    } else {
                        clustered.coefficients[vertex] = wrong;
                        refused(verify_clustering(&graph, &clustered), "a wrong coefficient");
                    }
                }
                if of_lcc {
                    local.coefficients[vertex] = value
                } else {
                    clustered.coefficients[vertex] = value
                };
            }
        }
        verify_clustering(&graph, &clustered).unwrap();
        verify_lcc(&graph, &local).unwrap();
        let wrong = Lcc { average: local.average + 1e-6, ..local };
        refused(verify_lcc(&graph, &wrong), "another average");
        let wrong = Clustering { transitivity: f64::NAN, ..clustered };
        refused(verify_clustering(&graph, &wrong), "another transitivity");
        let wrong = Clustering { transitivity: 0.0, average: wrong.average + 1e-6, ..wrong };
        refused(verify_clustering(&graph, &wrong), "another average");
    }
}

#[test]
fn every_changed_degree_centrality_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&kronecker(directory.path(), 7, 4, directed, OrderChoice::Input), 1, None, None);
        for &(edges, ..) in DegreeEdges::ALL {
            let options = DegreeCentralityOptions { edges };
            let mut found = degree_centrality(&graph, &options).unwrap();
            verify_degree_centrality(&graph, &options, &found).unwrap();
            for vertex in 0..graph.vertices() as usize {
                let right = found.centralities[vertex];
                found.centralities[vertex] += 1.0 / 127.0;
                let error = verify_degree_centrality(&graph, &options, &found).unwrap_err().to_string();
                assert!(error.contains(&format!("at vertex {vertex} of the image")), "{error}");
                found.centralities[vertex] = right;
            }
            found.max_degree += 1;
            assert!(verify_degree_centrality(&graph, &options, &found).is_err(), "another greatest degree");
        }
    }
}

#[test]
fn every_changed_reciprocity_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&kronecker(directory.path(), 7, 4, directed, OrderChoice::Input), 1, None, None);
        let mut found = reciprocity(&graph, &ReciprocityOptions {}).unwrap();
        verify_reciprocity(&graph, &found).unwrap();
        for vertex in 0..graph.vertices() as usize {
            let right = found.reciprocities[vertex];
            for wrong in [0.015625f64, 2.0, -1.0] {
                found.reciprocities[vertex] = !wrong.to_bits();
                let error = verify_reciprocity(&graph, &found).unwrap_err().to_string();
                assert!(error.contains(&format!("at vertex {vertex} of the image")), "{error}");
            }
            found.reciprocities[vertex] = right;
        }
        found.overall *= 0.5;
        assert!(verify_reciprocity(&graph, &found).is_err(), "another overall reciprocity");
    }
}
