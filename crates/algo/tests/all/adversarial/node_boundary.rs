//! Node boundaries.

use super::{is_refusal, tampering};
use crate::engine::{open, same};
use crate::model::Model;
use outcore_algo::verify::verify_node_boundary;
use outcore_algo::{NodeBoundaryOptions, node_boundary};
use outcore_graph::Graph;
use outcore_graph::import::OrderChoice;
use std::collections::BTreeSet;

/// The boundary of a set, whose vertices may repeat.
pub fn check_node_boundary(graph: &Graph, model: &Model, set: Vec<u32>) {
    let members: BTreeSet<u32> = set.iter().copied().collect();
    let mut expected = vec![0; model.out.len()];
    for &target in members.iter().flat_map(|&source| &model.out[source as usize]) {
        expected[target as usize] += 1;
    }
    let expected: Vec<Option<u64>> = (0..)
        .zip(expected)
        .map(|(vertex, edges)| Some(edges).filter(|&edges| edges > 0 && !members.contains(&vertex)))
        .collect();
    let options = NodeBoundaryOptions { vertices: set };
    let found = node_boundary(graph, &options).unwrap();
    let edges: Vec<_> = found.edges().collect();
    same(&expected, &edges, "edges from a set");
    assert_eq!(found.count, expected.iter().flatten().count() as u64);
    verify_node_boundary(graph, &options, &found).unwrap();
}

#[test]
fn every_changed_number_of_edges_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let options = NodeBoundaryOptions { vertices: vec![3, 229, 0, 3] };
        let mut found = node_boundary(&graph, &options).unwrap();
        verify_node_boundary(&graph, &options, &found).unwrap();
        assert!(found.count > 3);
        for vertex in 0..graph.vertices() as usize {
            let right = found.stored()[vertex];
            for wrong in [0, !0, !1, !2, right.wrapping_sub(1), 1] {
                if wrong != right {
                    found.stored()[vertex] = wrong;
                    let error = verify_node_boundary(&graph, &options, &found).expect_err("a wrong number of edges");
                    assert!(is_refusal(&error) && error.to_string().contains("vertex"), "{error}");
                }
            }
            found.stored()[vertex] = right;
        }
        let other = NodeBoundaryOptions { vertices: vec![3, 229] };
        assert!(verify_node_boundary(&graph, &other, &found).is_err(), "another set");
        found.count += 1;
        assert!(verify_node_boundary(&graph, &options, &found).is_err(), "another size of the boundary");
    }
}

#[test]
fn an_empty_set_has_no_boundary_and_unknown_vertices_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&tampering(true).image(directory.path(), OrderChoice::Input), 1, None, None);
    let found = node_boundary(&graph, &NodeBoundaryOptions::default()).unwrap();
    assert!(found.count == 0 && found.edges().all(|edges| edges.is_none()));
    let error = node_boundary(&graph, &NodeBoundaryOptions { vertices: vec![235] }).unwrap_err().to_string();
    assert!(error.contains("below 235"), "{error}");
}
