//! Tampered answers of searches from many sources, which verifiers refuse, and what betweenness refuses.

mod engine;

use engine::*;
use outcore_algo::verify::{verify_all_pairs, verify_betweenness_centrality};
use outcore_algo::{AllPairs, AllPairsOptions, BetweennessOptions, Sources, all_pairs, betweenness_centrality};
use outcore_graph::Error;
use outcore_graph::import::OrderChoice;

#[test]
fn every_changed_search_from_many_sources_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let options = AllPairsOptions { sources: Sources::Given(vec![3, 77, 210]) };
        let mut found = all_pairs(&graph, &options).unwrap();
        verify_all_pairs(&graph, &options, &found).unwrap();
        let refused = |found: &AllPairs| {
            let error = verify_all_pairs(&graph, &options, found).expect_err("a wrong answer");
            assert!(matches!(error, Error::Verification { .. }), "{error}");
        };
        for vertex in 0..found.search.reached_by.len() {
            found.search.reached_by[vertex] += 1;
            refused(&found);
            found.search.reached_by[vertex] -= 1;
        }
        for place in 0..found.search.levels.len() {
            found.search.levels[place] += 1;
            refused(&found);
            found.search.levels[place] -= 1;
        }
        for vertex in 0..found.search.distance_sums.len() {
            found.search.distance_sums[vertex] ^= 4;
            refused(&found);
            found.search.distance_sums[vertex] ^= 4;
        }
        verify_all_pairs(&graph, &options, &found).unwrap();
        let found = AllPairs { diameter_least: found.diameter_least + 1, ..found };
        refused(&found);
        let mut found =
            AllPairs { diameter_least: found.diameter_least - 1, diameter_most: found.diameter_most - 1, ..found };
        refused(&found);
        (found.diameter_most, found.search.reach[1].depth) = (found.diameter_most + 1, found.search.reach[1].depth + 1);
        refused(&found);
    }
}

#[test]
fn every_changed_centrality_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let options = BetweennessOptions { sources: Sources::Given(vec![3, 77, 210]), ..BetweennessOptions::default() };
        let mut found = betweenness_centrality(&graph, &options).unwrap();
        verify_betweenness_centrality(&graph, &options, &found).unwrap();
        for vertex in 0..found.scores.len() {
            let score = found.scores[vertex];
            for wrong in [score + 1e-7, score * 0.999, -score, f64::NAN].into_iter().filter(|&wrong| wrong != score) {
                found.scores[vertex] = wrong;
                let error = verify_betweenness_centrality(&graph, &options, &found).expect_err("a wrong centrality");
                assert!(matches!(error, Error::Verification { .. }) && error.to_string().contains("vertex"), "{error}");
            }
            found.scores[vertex] = score;
        }
        verify_betweenness_centrality(&graph, &options, &found).unwrap();
    }
}

#[test]
fn more_paths_than_a_number_holds_are_refused() {
    // Every diamond doubles the number of paths.
    let edges = (0..1100).flat_map(|i| [1, 2].map(|side| [(3 * i, 3 * i + side), (3 * i + side, 3 * i + 3)])).flatten();
    let directory = tempfile::tempdir().unwrap();
    let image = Given::new(3301, edges.collect(), true).image(directory.path(), OrderChoice::Input);
    let graph = open(&image, 2, None, None);
    let from = |source| BetweennessOptions { sources: Sources::Given(vec![source]), ..BetweennessOptions::default() };
    let error = betweenness_centrality(&graph, &from(0)).map(drop).unwrap_err().to_string();
    assert!(error.contains("shortest paths from vertex 0 of the image to vertex 3072"), "{error}");
    let options = from(300);
    verify_betweenness_centrality(&graph, &options, &betweenness_centrality(&graph, &options).unwrap()).unwrap();
    let twice = BetweennessOptions { sources: Sources::Given(vec![7, 8, 7]), ..BetweennessOptions::default() };
    let error = betweenness_centrality(&graph, &twice).map(drop).unwrap_err().to_string();
    assert!(error.contains("found 7 twice"), "{error}");
}
