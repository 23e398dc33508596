//! Ranks compared with the model's.

use super::engine::{iterations, seeded};
use super::model::Model;
use outcore_algo::verify::{verify_pagerank, verify_personalized_pagerank};
use outcore_algo::{
    Dangling, PageRankMethod, PageRankOptions, PersonalizedPageRankOptions, StoppedBy, pagerank, personalized_pagerank,
};
use outcore_graph::Graph;
use outcore_image::Error;

/// Full iterations, and pushes.
pub fn check_pagerank(graph: &Graph, model: &Model) {
    for dangling in [Dangling::Networkx, Dangling::Gap] {
        let options = PageRankOptions { dangling, ..iterations(12) };
        let found = pagerank(graph, &options).unwrap();
        let expected = model.ranks(options.alpha, 12, dangling == Dangling::Networkx);
        for (vertex, (expected, found)) in expected.iter().zip(found.ranks.to_vec()).enumerate() {
            // Written so that a NaN fails.
            assert!(
                (expected - found).abs() <= 1e-12,
                "{dangling:?}: rank of {vertex} is {found}, expected {expected}"
            );
        }
        verify_pagerank(graph, &options, &found).unwrap();
        check_pushed_pagerank(graph, model, dangling);
    }
}

/// Checks that pushed ranks converge to those of the model, and are as near to them as the residual says.
fn check_pushed_pagerank(graph: &Graph, model: &Model, dangling: Dangling) {
    let expected = model.ranks(0.85, 250, dangling == Dangling::Networkx);
    for tol in [1e-3, 1e-9] {
        let method = PageRankMethod::Delta;
        let options = PageRankOptions { dangling, method, tol, max_iterations: 1000, ..PageRankOptions::default() };
        let found = pagerank(graph, &options).unwrap();
        assert!(
            found.stopped_by.converged(),
            "{dangling:?}: the residual is {} after {} rounds",
            found.residual,
            found.iterations
        );
        let error: f64 =
            expected.iter().zip(found.ranks.to_vec()).map(|(expected, found)| (expected - found).abs()).sum();
        assert!(
            error <= 0.85 / 0.15 * found.residual + 1e-11,
            "{dangling:?}: {error:e} is too much for {:e}",
            found.residual
        );
        verify_pagerank(graph, &options, &found).unwrap();
    }
}

/// Five iterations from three sets of seeds.
pub fn check_personalized_pagerank(graph: &Graph, model: &Model) {
    let options = PersonalizedPageRankOptions { weights: false, ..seeded(graph, graph.vertices() as u32 / 2) };
    let mut found = personalized_pagerank(graph, &options).unwrap();
    assert_eq!((found.ranks.len(), found.iterations, found.stopped_by), (3, 5, StoppedBy::Iterations));
    for (set, ranks_found) in options.seeds.iter().zip(&found.ranks) {
        let expected = model.personalized_ranks(set, options.alpha, 5);
        for (vertex, (expected, found)) in expected.iter().zip(ranks_found.to_vec()).enumerate() {
            assert!((expected - found).abs() <= 1e-11, "{set:?}: rank of {vertex} is {found}, expected {expected}");
        }
    }
    verify_personalized_pagerank(graph, &options, &found).unwrap();
    found.ranks[1][graph.vertices() as usize - 1] += 0.5;
    let wrong = verify_personalized_pagerank(graph, &options, &found).unwrap_err();
    assert!(matches!(wrong, Error::Verification { .. }), "{wrong}");
}
