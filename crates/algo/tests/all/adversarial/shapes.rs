//! Graphs of every shape: whatever it is, all algorithms give the answers of the model.

use super::check;
use crate::engine::{Given, mix, open};
use outcore_algo::verify::{
    verify_all_pairs, verify_betweenness_centrality, verify_clustering, verify_components, verify_core_number,
    verify_label_propagation, verify_lcc, verify_pagerank, verify_strong_components, verify_triangles,
};
use outcore_algo::{
    AllPairsOptions, BetweennessOptions, BfsOptions, ClusteringOptions, ComponentsOptions, CoreNumbersOptions,
    LabelPropagationOptions, LccOptions, PageRankOptions, StrongComponentsOptions, TrianglesOptions, all_pairs,
    betweenness_centrality, bfs, clustering, components, core_number, label_propagation, lcc, pagerank,
    strong_components, triangles,
};
use outcore_graph::import::OrderChoice;

#[test]
fn an_empty_graph_has_no_answers_and_no_sources() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let image = Given::new(0, Vec::new(), directed).image(directory.path(), OrderChoice::Auto);
        let graph = open(&image, 2, None, None);
        let refused =
            bfs(&graph, &BfsOptions { source: 0, ..BfsOptions::default() }).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains("a graph with vertices, found none"), "{refused}");
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
fn parallel_edges_stored_and_merged() {
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
