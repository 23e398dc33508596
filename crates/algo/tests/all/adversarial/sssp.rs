//! Shortest paths.

use super::{check, tampering};
use crate::engine::{Given, mix, open, same};
use crate::model::Model;
use outcore_algo::verify::verify_sssp;
use outcore_algo::{SsspOptions, sssp};
use outcore_graph::Graph;
use outcore_graph::import::OrderChoice;
use outcore_image::Error;

pub fn check_sssp(graph: &Graph, model: &Model, source: u32, weights: bool) {
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
            let distance = found.stored().0[vertex];
            let longer = if weighted { !2000.5f64.to_bits() } else { !2000 };
            for wrong in [0, !0, distance.wrapping_sub(1), longer] {
                if wrong != distance {
                    found.stored().0[vertex] = wrong;
                    let error = verify_sssp(&graph, &options, &found).expect_err("a wrong distance");
                    assert!(matches!(error, Error::Verification { .. }), "{error}");
                }
            }
            found.stored().0[vertex] = distance;
            let parent = found.stored().1[vertex];
            for wrong in (0..236u32).map(|other| !other).chain([0]) {
                found.stored().1[vertex] = wrong;
                let explains = wrong == parent || verify_sssp(&graph, &options, &found).is_ok();
                // Another parent may explain the distance too, but no vertex explains its own.
                assert!(!explains || wrong == parent || wrong != 0 && !wrong != vertex as u32);
            }
            found.stored().1[vertex] = parent;
        }
        verify_sssp(&graph, &options, &found).unwrap();
    }
}
