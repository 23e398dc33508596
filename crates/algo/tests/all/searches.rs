//! Tampered answers of searches from many sources, which verifiers refuse, and what shortest paths and betweenness
//! refuse.

use crate::engine::*;
use outcore_algo::verify::{verify_all_pairs, verify_betweenness_centrality, verify_sssp};
use outcore_algo::{
    AllPairs, AllPairsOptions, BetweennessOptions, Sources, SsspOptions, all_pairs, betweenness_centrality, sssp,
};
use outcore_graph::import::{Duplicates, InputOptions, OrderChoice, open as read_input};
use outcore_image::Error;
use std::path::{Path, PathBuf};

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
        for place in 0..found.search.stored().len() {
            found.search.stored()[place] += 1;
            refused(&found);
            found.search.stored()[place] -= 1;
        }
        for vertex in 0..found.search.distance_sums.len() {
            found.search.distance_sums[vertex] ^= 4;
            refused(&found);
            found.search.distance_sums[vertex] ^= 4;
        }
        verify_all_pairs(&graph, &options, &found).unwrap();
        found.diameter_least += 1;
        refused(&found);
        (found.diameter_least, found.diameter_most) = (found.diameter_least - 1, found.diameter_most - 1);
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
fn path_counts_beyond_the_range_of_doubles_are_scaled() {
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
fn numbers_of_paths_may_differ_by_more_than_one_scale() {
    for count in [905, 1100] {
        let (mut edges, chain) = (diamonds(count, 0), 3 * count + 1);
        edges.push((0, chain));
        edges.extend((chain..chain + 2 * count).map(|v| (v, v + 1)));
        let directory = tempfile::tempdir().unwrap();
        let image = Given::new(chain + 2 * count + 1, edges, true).image(directory.path(), OrderChoice::Input);
        let graph = open(&image, 2, None, None);
        let options = BetweennessOptions {
            sources: Sources::Given(vec![0]),
            normalized: false,
            endpoints: true,
            ..BetweennessOptions::default()
        };
        let found = betweenness_centrality(&graph, &options).unwrap();
        verify_betweenness_centrality(&graph, &options, &found).unwrap();
    }
}

#[test]
fn one_drawn_source_bounds_errors_by_the_greatest_value() {
    let directory = tempfile::tempdir().unwrap();
    let image = Given::new(9, (0..8).map(|v| (v, v + 1)).collect(), true).image(directory.path(), OrderChoice::Input);
    let graph = open(&image, 2, None, None);
    for (normalized, most) in [(true, 1.0), (false, 56.0)] {
        let sources = Sources::Drawn { k: 1, seed: 3 };
        let options = BetweennessOptions { sources, normalized, ..BetweennessOptions::default() };
        let mut found = betweenness_centrality(&graph, &options).unwrap();
        assert_eq!(found.error_bound, most);
        verify_betweenness_centrality(&graph, &options, &found).unwrap();
        found.error_bound = f64::INFINITY;
        assert!(verify_betweenness_centrality(&graph, &options, &found).is_err());
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
    assert!(error.contains("from 0 ") && error.contains("found a factor of 2^1801 at distance 3602;"), "{error}");
    let options = from(300);
    verify_betweenness_centrality(&graph, &options, &betweenness_centrality(&graph, &options).unwrap()).unwrap();
    let twice = BetweennessOptions { sources: Sources::Given(vec![7, 8, 7]), ..BetweennessOptions::default() };
    let error = betweenness_centrality(&graph, &twice).map(drop).unwrap_err().to_string();
    assert!(error.contains("found 7 twice"), "{error}");
}

/// An image of edges with weights, in text.
fn lengths(directory: &Path, edges: &str) -> PathBuf {
    let input = directory.join("edges.txt");
    std::fs::write(&input, edges).unwrap();
    let columns = InputOptions { weight: Some("3".into()), ..InputOptions::default() };
    let source = read_input(&runtime(2, None), &[input], &columns).unwrap();
    import_source(source, directory, true, Duplicates::First, OrderChoice::Input)
}

#[test]
fn negative_lengths_are_refused_with_their_edge() {
    for (weight, refused) in [
        ("0", false),
        ("9223372036854774784", false),
        ("-1", true),
        ("-0.5", true),
        // As they were given, to the last digit and no longer.
        ("-9007199254740994", true),
        ("-9223372036854774784", true),
        ("-1e308", true),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let image = lengths(directory.path(), &format!("ann bob 1\nbob cat {weight}\ncat bob 1\n"));
        let graph = open(&image, 2, None, None);
        let options = SsspOptions { source: graph.vertex("ann").unwrap(), weights: true, delta: None };
        match sssp(&graph, &options) {
            Ok(found) => {
                assert!(!refused, "{weight}");
                verify_sssp(&graph, &options, &found).unwrap();
                assert_eq!(found.reached, 3);
            }
            Err(error) => {
                let text = error.to_string();
                let expected = format!("not negative, found {weight} at the edge between bob and cat");
                assert!(refused && text.contains(&expected), "{weight}: {text}");
            }
        }
    }
}

#[test]
fn distances_that_are_too_great_are_refused_whatever_the_order_of_the_search() {
    let whole = 1u64 << 53;
    let chain: String = (0..1024).map(|v| format!("{v} {} {whole}\n", v + 1)).collect();
    for (edges, farthest) in [
        (chain.clone(), Err("below 2^63, found none but longer paths to 1024")),
        (format!("{chain}0 1024 5\n"), Ok(1023 * whole)),
        // A long way to a vertex that a short one leads to as well, seen first or last.
        (format!("{chain}0 2000 1\n2000 1023 2\n"), Ok(1022 * whole)),
        ("0 1 1e308\n1 2 1e308\n2 3 0.5\n".into(), Err("up to 1.7e308, found none but longer paths to 2")),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let image = lengths(directory.path(), &edges);
        for (threads, delta) in [None, Some(1.0), Some(100.0), Some(1e300)].into_iter().flat_map(|d| [(1, d), (3, d)]) {
            let graph = open(&image, threads, None, None);
            let options = SsspOptions { source: graph.vertex("0").unwrap(), weights: true, delta };
            match (sssp(&graph, &options), farthest) {
                (Ok(mut found), Ok(farthest)) => {
                    verify_sssp(&graph, &options, &found).unwrap();
                    let distances = found.stored().0.iter().map(|&stored| !stored);
                    assert_eq!(distances.max(), Some(farthest), "delta {delta:?}");
                }
                (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
                (found, _) => panic!("delta {delta:?}, {farthest:?}: {:?}", found.map(|found| found.reached)),
            }
        }
    }
}

#[test]
fn vertices_without_a_path_have_no_parent() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&lengths(directory.path(), "0 1 1\n2 3 1\n"), 1, None, None);
    let options = SsspOptions { source: graph.vertex("0").unwrap(), weights: true, delta: None };
    let mut found = sssp(&graph, &options).unwrap();
    verify_sssp(&graph, &options, &found).unwrap();
    let (from, to) = (graph.vertex("2").unwrap(), graph.vertex("3").unwrap());
    assert_eq!(found.path(&graph, to).unwrap(), None);
    assert_eq!(found.path(&graph, options.source).unwrap(), Some(vec![options.source]));
    let near = graph.vertex("1").unwrap();
    assert_eq!(found.path(&graph, near).unwrap(), Some(vec![options.source, near]));
    found.stored().1[to as usize] = !from;
    found.reached += 1;
    assert!(verify_sssp(&graph, &options, &found).is_err(), "vertex 3 has a parent and no distance");
}
