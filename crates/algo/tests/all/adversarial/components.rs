//! Weakly connected components.

use super::{is_refusal, others, tampering};
use crate::engine::{open, same};
use crate::model::Model;
use outcore_algo::verify::verify_components;
use outcore_algo::{ComponentsOptions, components};
use outcore_graph::Graph;
use outcore_graph::import::OrderChoice;

pub fn check_components(graph: &Graph, model: &Model) {
    let found = components(graph, &ComponentsOptions::default()).unwrap();
    let labels = model.labels();
    same(&labels, &found.labels, "labels");
    let count = labels.iter().enumerate().filter(|&(vertex, &label)| vertex as u32 == label).count();
    assert_eq!(found.count, count as u64);
    verify_components(graph, &found).unwrap();
}

#[test]
fn every_changed_label_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let mut found = components(&graph, &ComponentsOptions::default()).unwrap();
        verify_components(&graph, &found).unwrap();
        assert!(found.count > 3);
        for vertex in 0..graph.vertices() as usize {
            let label = found.labels[vertex];
            for wrong in others(vertex).chain([u32::MAX]) {
                if wrong != label {
                    found.labels[vertex] = wrong;
                    let error = verify_components(&graph, &found).expect_err("a wrong label");
                    assert!(is_refusal(&error) && error.to_string().contains("vertex"), "{error}");
                }
            }
            found.labels[vertex] = label;
        }
        found.count += 1;
        assert!(verify_components(&graph, &found).is_err(), "another number of components");
    }
}
