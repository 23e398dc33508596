//! Core numbers.

use super::tampering;
use crate::engine::{open, same};
use crate::model::Model;
use outcore_algo::verify::verify_core_number;
use outcore_algo::{CoreNumbersOptions, core_number};
use outcore_graph::Graph;
use outcore_graph::import::OrderChoice;

pub fn check_core_number(graph: &Graph, model: &Model) {
    let found = core_number(graph, &CoreNumbersOptions::default()).unwrap();
    let cores = model.cores(graph.is_directed());
    same(&cores, &found.cores, "core numbers");
    assert_eq!(Some(&found.max_core), cores.iter().max());
    verify_core_number(graph, &found).unwrap();
}

#[test]
fn every_changed_core_number_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let mut found = core_number(&graph, &CoreNumbersOptions::default()).unwrap();
        verify_core_number(&graph, &found).unwrap();
        assert!(found.max_core > 7);
        for vertex in 0..graph.vertices() as usize {
            let core = found.cores[vertex];
            for wrong in (0..=found.max_core + 1).chain([u32::MAX]).filter(|&wrong| wrong != core) {
                found.cores[vertex] = wrong;
                let error = verify_core_number(&graph, &found).expect_err("a wrong core number").to_string();
                assert!(error.contains("verification failed") && error.contains("vertex"), "{error}");
            }
            found.cores[vertex] = core;
        }
        // A whole level too low contradicts itself nowhere but in that it could be higher.
        let (max_core, cores) = (found.max_core, found.cores.to_vec());
        let lowered = |core: u32| if core == max_core { core - 1 } else { core };
        cores.iter().zip(found.cores.iter_mut()).for_each(|(&core, slot)| *slot = lowered(core));
        let error = verify_core_number(&graph, &found).expect_err("a level too low").to_string();
        assert!(error.contains("expected the highest core"), "{error}");
        cores.iter().zip(found.cores.iter_mut()).for_each(|(&core, slot)| *slot = core);
        found.max_core = max_core + 1;
        assert!(verify_core_number(&graph, &found).is_err(), "another greatest core number");
    }
}
