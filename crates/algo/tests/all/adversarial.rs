//! Graphs at the edges of what graphs can be, against the obvious way in memory; and tampered answers, which verifiers
//! refuse.

#[path = "../engine/ranking.rs"]
mod ranking;
#[path = "../engine/searches.rs"]
mod searches;

mod bfs;
mod components;
mod core_number;
mod degrees;
mod label_propagation;
mod node_boundary;
mod ranks;
mod shapes;
mod sssp;
mod strong_components;
mod triangles;

use crate::engine::{self, Given, ids, open, tampering};
use crate::model::{self, Model};
use bfs::check_bfs;
use components::check_components;
use core_number::check_core_number;
use label_propagation::check_label_propagation;
use node_boundary::check_node_boundary;
use outcore_algo::Sources;
use outcore_graph::import::OrderChoice;
use outcore_image::Error;
use ranking::{check_pagerank, check_personalized_pagerank};
use searches::{check_betweenness, check_searches, some};
use sssp::check_sssp;
use strong_components::check_strong_components;
use triangles::check_triads;

/// Imports a graph, runs everything and compares it with the model, from some sources.
fn check(given: &Given, sources: &[u32]) {
    for directed in [true, false] {
        let given = Given { directed, ..given.clone() };
        let model = Model::new(&given);
        let triads = model.triads();
        let directory = tempfile::tempdir().unwrap();
        let image = given.image(directory.path(), OrderChoice::Input);
        for threads in [1, 3] {
            // All pages cached, and 64 of them.
            let graph = open(&image, threads, None, if threads == 1 { None } else { Some(1 << 18) });
            assert_eq!(graph.vertices(), u64::from(given.vertices));
            for &source in sources {
                check_bfs(&graph, &model, source);
                check_sssp(&graph, &model, source, given.weighted);
            }
            check_pagerank(&graph, &model);
            check_personalized_pagerank(&graph, &model);
            check_components(&graph, &model);
            check_core_number(&graph, &model);
            check_label_propagation(&graph, &model);
            check_strong_components(&graph, &model);
            check_node_boundary(&graph, &model, [sources, sources].concat());
            check_triads(&graph, &triads);
            // Far apart on a long path, every source takes a page per step.
            let deep = model.levels(sources[0]).iter().flatten().any(|&level| level > 10_000);
            for count in if deep { [1].as_slice() } else { &[3, 70] } {
                check_searches(&graph, &model, &some(&graph, sources[0], *count));
            }
            check_betweenness(&graph, &model, Sources::Given(some(&graph, sources[0], if deep { 1 } else { 10 })), 10);
            if given.vertices <= 100 {
                check_betweenness(&graph, &model, Sources::All, given.vertices);
            }
        }
        // The one image has degrees in memory, in the other the numbers of vertices say enough.
        let image = given.image(directory.path(), OrderChoice::Degree);
        let graph = open(&image, 2, None, None);
        check_triads(&graph, &ids(&graph).iter().map(|&id| triads[id as usize]).collect::<Vec<_>>());
    }
}

fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Verification { .. }) && error.to_string().starts_with("verification failed: expected ")
}

/// One in five of the numbers of a tampered graph's vertices and one more; others for the next vertex.
fn others(vertex: usize) -> impl Iterator<Item = u32> {
    (vertex as u32 % 5..=235).step_by(5)
}
