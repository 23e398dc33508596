//! Label propagation.

use super::tampering;
use crate::engine::{open, same};
use crate::model::Model;
use outcore_algo::verify::verify_label_propagation;
use outcore_algo::{LabelPropagationOptions, label_propagation};
use outcore_graph::Graph;
use outcore_graph::import::OrderChoice;
use std::collections::BTreeSet;

pub fn check_label_propagation(graph: &Graph, model: &Model) {
    for max_iterations in [0, 1, 6] {
        let options = LabelPropagationOptions { max_iterations };
        let found = label_propagation(graph, &options).unwrap();
        let (labels, iterations, converged) = model.propagated(graph.is_directed(), max_iterations);
        same(&labels, &found.labels, &format!("labels after {max_iterations} iterations"));
        assert_eq!((found.iterations, found.converged), (iterations, converged));
        assert_eq!(found.count, labels.iter().collect::<BTreeSet<_>>().len() as u64);
        verify_label_propagation(graph, &options, &found).unwrap();
    }
}

#[test]
fn every_changed_propagated_label_is_refused() {
    let options = LabelPropagationOptions { max_iterations: 2 };
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
        found.count += 1;
        assert!(verify_label_propagation(&graph, &options, &found).is_err(), "another number of labels");
        (found.count, found.converged) = (found.count - 1, true);
        assert!(verify_label_propagation(&graph, &options, &found).is_err(), "not converged");
    }
}
