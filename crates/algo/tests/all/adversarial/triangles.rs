//! Triangles and clustering coefficients.

use super::tampering;
use crate::engine::{open, same};
use crate::model::Triads;
use outcore_algo::verify::{verify_clustering, verify_lcc, verify_triangles};
use outcore_algo::{ClusteringOptions, LccOptions, TrianglesOptions, clustering, lcc, triangles};
use outcore_graph::Graph;
use outcore_graph::import::OrderChoice;

pub fn check_triads(graph: &Graph, expected: &[Triads]) {
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
        found.total += 1;
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
        local.average += 1e-6;
        refused(verify_lcc(&graph, &local), "another average");
        clustered.transitivity = f64::NAN;
        refused(verify_clustering(&graph, &clustered), "another transitivity");
        (clustered.transitivity, clustered.average) = (0.0, clustered.average + 1e-6);
        refused(verify_clustering(&graph, &clustered), "another average");
    }
}
