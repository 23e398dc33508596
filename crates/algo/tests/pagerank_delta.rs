//! PageRank by pushing reads less than full iterations do to the same error, and says how near it is.

mod engine;

use engine::*;
use outcore_algo::verify::verify_pagerank;
use outcore_algo::{PageRank, PageRankMethod, PageRankOptions, pagerank};
use outcore_graph::import::OrderChoice;
use outcore_graph::{Error, Graph};

/// What ranks may be away from the exact ones, all together.
const ERROR: f64 = 1e-6;

fn run(graph: &Graph, method: PageRankMethod, tol: f64) -> PageRank {
    pagerank(graph, &PageRankOptions { method, tol, ..PageRankOptions::default() }).unwrap()
}

/// The list pages that a run visits until its ranks are near enough, which is found by trying ever smaller residuals.
fn pages_until_near(graph: &Graph, method: PageRankMethod, exact: &[f64]) -> u64 {
    for step in 0..80 {
        let residual = 1e-5 * 0.9f64.powi(step);
        let found = run(graph, method, residual);
        assert!(found.stopped_by.converged() && found.residual < residual);
        let error: f64 = found.ranks.to_vec().iter().zip(exact).map(|(found, exact)| (found - exact).abs()).sum();
        assert!(error <= found.residual * 0.85 / 0.15 + 1e-12, "error {error:e}, residual {:e}", found.residual);
        if error <= ERROR {
            return found.stats.steps.iter().map(|step| step.sweep.pages_wanted).sum();
        }
    }
    panic!("{method:?} does not come near the exact ranks");
}

#[test]
fn to_the_same_error_at_most_half_of_the_pages_are_read() {
    let directory = tempfile::tempdir().unwrap();
    for directed in [false, true] {
        let image = kronecker(directory.path(), 16, 16, directed, OrderChoice::Degree);
        let graph = open(&image, 2, None, None);
        let exact = run(&graph, PageRankMethod::Power, 1e-14).ranks.to_vec();
        let [full, pushed] =
            [PageRankMethod::Power, PageRankMethod::Delta].map(|method| pages_until_near(&graph, method, &exact));
        println!("directed: {directed}; {full} pages by full iterations, {pushed} by pushing");
        assert!(2 * pushed <= full, "directed: {directed}; {pushed} pages instead of {full}");
    }
}

#[test]
fn work_is_bounded_and_what_cannot_be_pushed_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&kronecker(directory.path(), 12, 16, true, OrderChoice::Degree), 2, None, None);
    let options =
        PageRankOptions { method: PageRankMethod::Delta, tol: 0.0, max_iter: 7, ..PageRankOptions::default() };
    let mut found = pagerank(&graph, &options).unwrap();
    let rounds = &found.stats.steps;
    let all_pages = graph.pages(outcore_graph::Direction::Out);
    let pages: u64 = rounds.iter().map(|round| round.sweep.pages_wanted).sum();
    assert!(!found.stopped_by.converged() && rounds.len() == found.iterations as usize);
    assert!(pages < 8 * all_pages, "{pages} of {all_pages} pages");
    // A pass's worth of pages brings the residual down by alpha at least.
    assert!(found.residual < 0.85f64.powi(6), "{}", found.residual);
    verify_pagerank(&graph, &options, &found).unwrap();
    found.ranks[3] += 0.1;
    let wrong = verify_pagerank(&graph, &options, &found).unwrap_err();
    assert!(matches!(wrong, Error::Verification { .. }), "{wrong}");
    let weighted = pagerank(&graph, &PageRankOptions { weights: true, ..options }).unwrap();
    let read: u64 = weighted.stats.steps.iter().map(|step| step.sweep.pages_wanted).sum();
    let pass = all_pages + graph.weight_pages(outcore_graph::Direction::Out);
    assert!(read >= 7 * pass && read < 10 * pass, "{read} pages of weights and lists, {pass} in a pass");
    for alpha in [0.0, 1.0, f64::NAN] {
        let options = PageRankOptions { alpha, ..options };
        let refused = pagerank(&graph, &options).map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains("alpha"), "{refused}");
    }
}
