//! PageRank and personalised PageRank.

use super::{is_refusal, tampering};
use crate::engine::{Given, import_source, iterations, mix, open, runtime};
use outcore_algo::verify::{verify_pagerank, verify_personalized_pagerank};
use outcore_algo::{Dangling, PageRankOptions, PersonalizedPageRankOptions, pagerank, personalized_pagerank};
use outcore_graph::import::{Duplicates, InputOptions, OrderChoice, open as read_input};

#[test]
fn invalid_seeds_are_refused_and_many_sets_are_done_in_batches() {
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

#[test]
fn every_changed_rank_is_refused() {
    for (directed, weights) in [(true, false), (false, false), (true, true), (false, true)] {
        for dangling in [Dangling::Networkx, Dangling::Gap] {
            let directory = tempfile::tempdir().unwrap();
            let given = Given { weighted: weights, ..tampering(directed) };
            let graph = open(&given.image(directory.path(), OrderChoice::Input), 1, None, None);
            let options =
                PageRankOptions { tol: 1e-12, max_iterations: 500, dangling, weights, ..PageRankOptions::default() };
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
fn weights_out_of_range_are_refused_with_their_edge() {
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
