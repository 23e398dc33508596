//! PageRank by pushing reads less than full iterations do to the same error, and says how near it is.

use crate::engine::*;
use outcore_algo::verify::verify_pagerank;
use outcore_algo::{PageRank, PageRankMethod, PageRankOptions, StoppedBy, pagerank};
use outcore_graph::Graph;
use outcore_graph::import::OrderChoice;
use outcore_image::Error;

/// Bound of the distance of ranks from exact ones, summed over all vertices.
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
fn work_is_bounded_by_max_iter_and_alpha_must_lie_between_0_and_1() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&kronecker(directory.path(), 12, 16, true, OrderChoice::Degree), 2, None, None);
    let options =
        PageRankOptions { method: PageRankMethod::Delta, tol: 0.0, max_iterations: 7, ..PageRankOptions::default() };
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

/// By how much another iteration changes ranks, computed apart from the engine: the sum of the absolute changes. Sums
/// are exact.
fn change(given: &Given, alpha: f64, ranks: &[f64]) -> f64 {
    const ONE: f64 = (1u128 << 110) as f64;
    let count = ranks.len();
    let mut degrees = vec![0.0; count];
    given.edges.iter().for_each(|&(source, _)| degrees[source as usize] += 1.0);
    let dangling: i128 = (0..count).filter(|&v| degrees[v] == 0.0).map(|v| (ranks[v] * ONE) as i128).sum();
    let base = ((1.0 - alpha) + alpha * (dangling as f64 / ONE)) / count as f64;
    let mut next = vec![(base * ONE) as i128; count];
    for &(source, target) in &given.edges {
        next[target as usize] += (alpha * ranks[source as usize] / degrees[source as usize] * ONE) as i128;
    }
    let changes = next.iter().zip(ranks).map(|(next, rank)| (next - (rank * ONE) as i128).abs());
    changes.sum::<i128>() as f64 / ONE
}

/// Every leaf points at vertex 0, so what rounding takes from each adds up there.
fn star(leaves: u32) -> Given {
    Given::new(leaves + 1, (1..=leaves).map(|leaf| (leaf, 0)).collect(), true)
}

/// A wheel: a ring of vertices, all of which point at a hub, which points back.
fn wheel(ring: u32) -> Given {
    let edges = (1..=ring).flat_map(|v| [(v, v % ring + 1), (v, 0), (0, v)]).collect();
    Given::new(ring + 1, edges, true)
}

#[test]
fn the_residual_counts_what_rounding_loses() {
    let directory = tempfile::tempdir().unwrap();
    for (place, given) in [star(100_000), wheel(20_000)].into_iter().enumerate() {
        let folder = directory.path().join(place.to_string());
        std::fs::create_dir(&folder).unwrap();
        let graph = open(&given.image(&folder, OrderChoice::Input), 2, None, None);
        for (alpha, tol) in [(0.85, 1e-15), (0.85, 1e-11), (0.1, 1e-14), (1e-9, 1e-8), (0.999_999_999, 1e-8)] {
            let options = PageRankOptions { method: PageRankMethod::Delta, alpha, tol, ..PageRankOptions::default() };
            let found = pagerank(&graph, &options).unwrap();
            verify_pagerank(&graph, &options, &found).unwrap();
            let changed = change(&given, alpha, &found.ranks);
            let double = 2e-15;
            let text = format!("graph {place}, alpha {alpha}: {:e}, changed {changed:e}", found.residual);
            assert!(changed <= alpha * found.residual + double, "{text}");
            assert!(found.stopped_by.converged() == (found.residual < tol), "{text}");
            // It is a bound, not any number: what rounding may lose is a few units per edge and vertex.
            let units = (given.edges.len() as f64 / alpha + 64.0 * f64::from(given.vertices)) / (1u64 << 60) as f64;
            // Where walks hardly jump, ranks start small and are multiplied, and so is what was lost of them.
            assert!(alpha > 0.99 || found.residual < tol.max(units) + 1e-14, "{text}, {units:e}");
            let sum: f64 = found.ranks.iter().sum();
            // Sums of so many equal numbers are rounded the same way again and again, here too.
            assert!((sum - 1.0).abs() < found.residual + 1e-11, "{text}, sum {sum}");
        }
    }
}

#[test]
fn rounds_end_when_rounding_exceeds_the_remaining_rest() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&kronecker(directory.path(), 8, 16, false, OrderChoice::Degree), 2, None, None);
    let options = PageRankOptions {
        method: PageRankMethod::Delta,
        alpha: 1e-9,
        max_iterations: 1000,
        ..PageRankOptions::default()
    };
    let strict = PageRankOptions { tol: 1e-12, ..options };
    let mut found = pagerank(&graph, &strict).unwrap();
    assert_eq!((found.stopped_by, found.stats.stopped_by), (StoppedBy::Rounding, Some("rounding")));
    assert!(found.iterations < 50, "{} rounds", found.iterations);
    verify_pagerank(&graph, &strict, &found).unwrap();
    found.residual = 1e-13;
    assert!(verify_pagerank(&graph, &strict, &found).is_err(), "below the tolerance, but not converged");
    // Only pushes are rounded.
    let power = PageRankOptions { method: PageRankMethod::Power, ..strict };
    let mut found = pagerank(&graph, &power).unwrap();
    assert_eq!(found.stopped_by, StoppedBy::Residual);
    (found.stopped_by, found.residual) = (StoppedBy::Rounding, 1.0);
    assert!(verify_pagerank(&graph, &power, &found).is_err(), "stopped by what does not happen");
}

#[test]
fn ranks_sum_to_1_however_seldom_walks_jump() {
    let directory = tempfile::tempdir().unwrap();
    for (directed, scale) in [(false, 8), (true, 8), (false, 10), (true, 10)] {
        let graph = open(&kronecker(directory.path(), scale, 16, directed, OrderChoice::Degree), 2, None, None);
        for (alpha, weights) in [(0.999_999_999, false), (0.999_999_999_999_999_9, false), (0.999_999_999, true)] {
            let method = PageRankMethod::Delta;
            let options = PageRankOptions { method, alpha, weights, ..PageRankOptions::default() };
            let found = pagerank(&graph, &options).unwrap();
            let sum: f64 = found.ranks.iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "alpha {alpha}: {sum}");
            verify_pagerank(&graph, &options, &found).unwrap();
        }
    }
}
