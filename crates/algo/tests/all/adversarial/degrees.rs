//! Degree centrality and reciprocity.

use crate::engine::{kronecker, open};
use outcore_algo::verify::{verify_degree_centrality, verify_reciprocity};
use outcore_algo::{DegreeCentralityOptions, DegreeEdges, ReciprocityOptions, degree_centrality, reciprocity};
use outcore_graph::import::OrderChoice;
use outcore_ingest::Choice;

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
            let right = found.stored()[vertex];
            for wrong in [0.015625f64, 2.0, -1.0] {
                found.stored()[vertex] = !wrong.to_bits();
                let error = verify_reciprocity(&graph, &found).unwrap_err().to_string();
                assert!(error.contains(&format!("at vertex {vertex} of the image")), "{error}");
            }
            found.stored()[vertex] = right;
        }
        found.overall *= 0.5;
        assert!(verify_reciprocity(&graph, &found).is_err(), "another overall reciprocity");
    }
}
