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

/// A chain of so many diamonds, each of which doubles the number of paths, with its first vertex at `first`.
fn diamonds(count: u32, first: u32) -> Vec<(u32, u32)> {
    let edges = |i: u32| [1, 2].map(|side| [(3 * i, 3 * i + side), (3 * i + side, 3 * i + 3)]);
    (0..count).flat_map(edges).flatten().map(|(a, b)| (first + a, first + b)).collect()
}

#[test]
fn paths_are_counted_beyond_what_a_number_holds() {
    const COUNT: u32 = 3000;
    let directory = tempfile::tempdir().unwrap();
    let image = Given::new(3 * COUNT + 1, diamonds(COUNT, 0), true).image(directory.path(), OrderChoice::Input);
    let graph = open(&image, 2, None, None);
    // Several sources, whose levels are divided at different places.
    for sources in [vec![0], vec![0, 300, 4500]] {
        let options = BetweennessOptions {
            sources: Sources::Given(sources.clone()),
            normalized: false,
            ..BetweennessOptions::default()
        };
        let found = betweenness_centrality(&graph, &options).unwrap();
        verify_betweenness_centrality(&graph, &options, &found).unwrap();
        if sources.len() > 1 {
            continue;
        }
        // All that lies behind a vertex depends on it, and half of it on a side of a diamond.
        let pairs = f64::from(3 * COUNT);
        for vertex in 1..=3 * COUNT {
            let behind = f64::from(3 * COUNT - vertex.div_ceil(3) * 3);
            let expected = if vertex % 3 == 0 { behind } else { (1.0 + behind) / 2.0 };
            let score = found.scores[vertex as usize];
            assert!((score - expected * pairs).abs() <= 1e-12 * expected * pairs, "vertex {vertex}: {score}");
        }
    }
}

#[test]
fn numbers_of_paths_that_differ_too_much_are_refused() {
    // Beside the diamonds, a chain of the same length with a single path.
    const COUNT: u32 = 1900;
    let (mut edges, chain) = (diamonds(COUNT, 0), 3 * COUNT + 1);
    edges.push((0, chain));
    edges.extend((chain..chain + 2 * COUNT).map(|v| (v, v + 1)));
    let directory = tempfile::tempdir().unwrap();
    let image = Given::new(chain + 2 * COUNT + 1, edges, true).image(directory.path(), OrderChoice::Input);
    let graph = open(&image, 2, None, None);
    let from = |source| BetweennessOptions { sources: Sources::Given(vec![source]), ..BetweennessOptions::default() };
    let error = betweenness_centrality(&graph, &from(0)).map(drop).unwrap_err().to_string();
    assert!(error.contains("shortest paths from 0 ") && error.contains("at distance 3602,"), "{error}");
    let options = from(300);
    verify_betweenness_centrality(&graph, &options, &betweenness_centrality(&graph, &options).unwrap()).unwrap();
    let twice = BetweennessOptions { sources: Sources::Given(vec![7, 8, 7]), ..BetweennessOptions::default() };
    let error = betweenness_centrality(&graph, &twice).map(drop).unwrap_err().to_string();
    assert!(error.contains("found 7 twice"), "{error}");
}
