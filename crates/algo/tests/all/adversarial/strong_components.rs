//! Strongly connected components.

use super::{check, others, tampering};
use crate::engine::{Given, open, same};
use crate::model::Model;
use outcore_algo::verify::verify_strong_components;
use outcore_algo::{Components, StrongComponentsOptions, strong_components};
use outcore_graph::import::OrderChoice;
use outcore_graph::{Direction, Graph};

/// In memory, with room for some edges, and without.
pub fn check_strong_components(graph: &Graph, model: &Model) {
    let labels = model.strong_labels();
    for in_memory_bytes in [None, Some(4096), Some(0)] {
        let found = strong_components(graph, &StrongComponentsOptions { in_memory_bytes }).unwrap();
        same(&labels, &found.labels, &format!("strong components, {in_memory_bytes:?} in memory"));
        let count = labels.iter().enumerate().filter(|&(vertex, &label)| vertex as u32 == label).count();
        assert_eq!(found.count, count as u64);
        if in_memory_bytes.is_none() {
            verify_strong_components(graph, &found).unwrap();
        }
    }
}

#[test]
fn chains_of_small_rings_either_way() {
    for backwards in [false, true] {
        // A thousand rings of three, each with an edge to the next one, and to one much later.
        let ring = |r: u32| (0..3).map(move |i| (3 * r + i, 3 * r + (i + 1) % 3));
        let chain = (0..900u32).flat_map(|r| [(3 * r, 3 * r + 4), (3 * r + 1, 3 * r + 290)]);
        let edges = (0..1000).flat_map(ring).chain(chain);
        let edges = edges.map(|(a, b)| if backwards { (b, a) } else { (a, b) }).collect();
        let given = Given { parallel: true, ..Given::new(3000, edges, true) };
        check(&given, &[0, 1500]);
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&given.image(directory.path(), OrderChoice::Input), 2, None, None);
        let found = strong_components(&graph, &StrongComponentsOptions { in_memory_bytes: Some(0) }).unwrap();
        let rounds = found.stats.steps.iter().filter(|step| step.name == "count degrees").count();
        assert!((2..40).contains(&rounds), "{rounds} rounds of colouring for a chain of 1000");
    }
}

#[test]
fn a_cycle_of_a_million_vertices_is_finished_in_memory() {
    let vertices = 1_000_000;
    let directory = tempfile::tempdir().unwrap();
    let edges = (0..vertices).map(|v| (v, (v + 1) % vertices)).collect();
    let image = Given::new(vertices, edges, true).image(directory.path(), OrderChoice::Input);
    let graph = open(&image, 2, None, Some(1 << 18));
    let found = strong_components(&graph, &StrongComponentsOptions::default()).unwrap();
    assert!(found.count == 1 && found.labels.to_vec().iter().all(|&label| label == 0));
    // A search in steps of one edge would take a million of them.
    let pages = graph.pages(Direction::Out) + graph.pages(Direction::In);
    assert!(found.stats.steps.len() < 100 && found.stats.total.pages_wanted < 2 * pages);
}

#[test]
fn every_changed_strong_label_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let mut found = strong_components(&graph, &StrongComponentsOptions::default()).unwrap();
        verify_strong_components(&graph, &found).unwrap();
        assert!(found.count > 3);
        let refused = |found: &Components, what: &str| {
            let error = verify_strong_components(&graph, found).expect_err(what).to_string();
            assert!(error.contains("verification failed"), "{what}: {error}");
            error
        };
        let labels = found.labels.to_vec();
        for (vertex, &label) in labels.iter().enumerate() {
            for wrong in others(vertex).chain([u32::MAX]) {
                if wrong != label {
                    found.labels[vertex] = wrong;
                    refused(&found, "a wrong label");
                }
            }
            found.labels[vertex] = label;
        }
        let count = found.count;
        found.count += 1;
        refused(&found, "another number of components");
        // Every vertex for itself, and all as one.
        (0..).zip(found.labels.iter_mut()).for_each(|(v, label)| *label = v);
        found.count = graph.vertices();
        let error = refused(&found, "nothing joined");
        assert!(error.contains("and back"), "{error}");
        let mut found = strong_components(&graph, &StrongComponentsOptions::default()).unwrap();
        assert_eq!(found.count, count);
        found.labels.fill(0);
        found.count = 1;
        let error = refused(&found, "all joined");
        assert!(error.contains("expected a path"), "{error}");
    }
}
