//! Ranks of a run with default options are right, the result says what ended it, and what it says is believed in
//! nothing.

use crate::engine::*;
use outcore_algo::verify::{verify_betweenness_centrality, verify_pagerank, verify_personalized_pagerank};
use outcore_algo::{
    BetweennessOptions, Dangling, PageRank, PageRankMethod, PageRankOptions, PersonalizedPageRank,
    PersonalizedPageRankOptions, Sources, Stop, StoppedBy, betweenness_centrality, pagerank, personalized_pagerank,
};
use outcore_graph::Graph;
use outcore_graph::generate::{GenerateOptions, Shape, source};
use outcore_graph::import::{Duplicates, ImportOptions, InputOptions, OrderChoice, import, open as read_input};
use outcore_image::Error;
use std::path::{Path, PathBuf};

/// Ranks of the first thousand that differ by less than this, relative to them, are ties.
const TIE: f64 = 1e-6;
/// Bound of the distance of ranks from exact ones, summed over all vertices.
const ERROR: f64 = 1e-5;

/// Checks the ranks of a default run against those at a tolerance of 1e-14.
fn check_default(graph: &Graph) {
    let exact = PageRankOptions { tol: 1e-14, max_iterations: 1000, ..PageRankOptions::default() };
    let exact = pagerank(graph, &exact).unwrap().ranks.to_vec();
    for method in [PageRankMethod::Power, PageRankMethod::Delta] {
        let options = PageRankOptions { method, ..PageRankOptions::default() };
        let found = pagerank(graph, &options).unwrap();
        assert_eq!((found.stopped_by, found.stats.stopped_by), (StoppedBy::Residual, Some("residual")));
        assert!(found.residual < options.tol && found.iterations > 10, "{} iterations", found.iterations);
        verify_pagerank(graph, &options, &found).unwrap();
        let found = found.ranks.to_vec();
        let error: f64 = found.iter().zip(&exact).map(|(a, b)| (a - b).abs()).sum();
        assert!(error < ERROR, "{method:?}: {error:e}");
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|&a, &b| found[b].total_cmp(&found[a]));
        // The greatest exact rank among the later ones is no greater than the exact rank at any place.
        let mut later = order.iter().skip(1000).map(|&v| exact[v]).fold(0.0, f64::max);
        for (place, &v) in order.iter().enumerate().take(1000).rev() {
            assert!(
                later <= exact[v] * (1.0 + TIE),
                "{method:?}: place {place} is off by {:e}",
                later / exact[v] - 1.0
            );
            assert!((found[v] / exact[v] - 1.0).abs() < 1e-4, "{method:?}: place {place} has four right digits");
            later = later.max(exact[v]);
        }
    }
}

#[test]
fn a_default_run_gives_the_right_order_and_digits() {
    let directory = tempfile::tempdir().unwrap();
    check_default(&open(&kronecker(directory.path(), 14, 16, true, OrderChoice::Degree), 2, None, None));
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("OUTCORE_DATA").map_or_else(beside, PathBuf::from);
    let file = data.join("graphs/web-NotreDame.txt.gz");
    if !file.exists() {
        return println!("skipped: {} is not here; set OUTCORE_DATA", file.display());
    }
    let source = read_input(&runtime(2, None), &[file], &InputOptions::default()).unwrap();
    let image = import_source(source, directory.path(), true, Duplicates::First, OrderChoice::Auto);
    check_default(&open(&image, 2, None, None));
}

#[test]
fn networkx_rule_ends_earlier_the_larger_the_graph() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&kronecker(directory.path(), 14, 16, true, OrderChoice::Degree), 2, None, None);
    let run = |stop, tol, max_iterations| {
        let options = PageRankOptions { stop, tol, max_iterations, ..PageRankOptions::default() };
        let found = pagerank(&graph, &options).unwrap();
        verify_pagerank(&graph, &options, &found).unwrap();
        found
    };
    let (loose, strict) = (run(Stop::Networkx, 1e-6, 100), run(Stop::Residual, 1e-6, 100));
    assert_eq!((loose.stopped_by, strict.stopped_by), (StoppedBy::Networkx, StoppedBy::Residual));
    assert!(loose.iterations < strict.iterations && loose.residual < 1e-6 * graph.vertices() as f64);
    // The rules are the same where tolerances are.
    let same = run(Stop::Networkx, 1e-6 / graph.vertices() as f64, 100);
    assert_eq!((same.iterations, same.ranks.to_vec()), (strict.iterations, strict.ranks.to_vec()));
    assert_eq!(run(Stop::Residual, 1e-6, 3).stopped_by, StoppedBy::Iterations);
    assert_eq!(run(Stop::Residual, 0.0, 3).stats.stopped_by, Some("iterations"));
}

/// Iterations of the rule itself, without extrapolation, in a program of its own: how many there are until ranks
/// change by less than `tol`, and the ranks after `many`.
fn plain(given: &Given, spread: bool, tol: f64, many: u32) -> (u32, Vec<f64>) {
    let count = given.vertices as usize;
    let mut degrees = vec![0.0; count];
    given.edges.iter().for_each(|&(source, _)| degrees[source as usize] += 1.0);
    let (mut ranks, mut needed) = (vec![1.0 / count as f64; count], None);
    for iteration in 1..=many {
        let dangling: f64 = (0..count).filter(|&v| spread && degrees[v] == 0.0).map(|v| ranks[v]).sum();
        let mut next = vec![(0.15 + 0.85 * dangling) / count as f64; count];
        for &(source, target) in &given.edges {
            next[target as usize] += 0.85 * ranks[source as usize] / degrees[source as usize];
        }
        let change: f64 = next.iter().zip(&ranks).map(|(next, rank)| (next - rank).abs()).sum();
        needed = needed.or((change < tol).then_some(iteration));
        ranks = next;
    }
    (needed.unwrap(), ranks)
}

#[test]
fn what_converges_slowly_is_extrapolated_and_dropped_rank_is_a_factor() {
    // Two cliques that one edge joins, a star, which is bipartite, and a vertex without edges.
    let clique = |first: u32| (0..30).flat_map(move |u| (0..u).map(move |v| (first + u, first + v)));
    let star = (0..40).map(|leaf| (60, 61 + leaf));
    let both = clique(0).chain(clique(30)).chain([(0, 30)]).chain(star).flat_map(|(u, v)| [(u, v), (v, u)]);
    let slow = Given::new(102, both.collect(), true);
    // A long path away from a circle, which loses rank at its end.
    let path = Given::new(200, (0..199).map(|v| (v, v + 1)).chain([(20, 0)]).collect(), true);
    // Circles of three, into each of which a hub leads: the eigenvalues are others than those that are cancelled.
    let circle = |c: u32| [(3 * c + 1, 3 * c + 2), (3 * c + 2, 3 * c + 3), (3 * c + 3, 3 * c + 1), (0, 3 * c + 1)];
    let circles = Given::new(301, (0..100).flat_map(circle).collect(), true);
    // Without direction, where only vertices without edges drop their rank.
    let both =
        Given { directed: false, edges: slow.edges.iter().copied().filter(|(u, v)| u < v).collect(), ..slow.clone() };
    for (name, given, model, share) in [
        ("slow", &slow, &slow, 0.75),
        ("slow, undirected", &both, &slow, 0.75),
        ("path", &path, &path, 1.3),
        ("circles", &circles, &circles, 1.3),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&given.image(directory.path(), OrderChoice::Input), 1, None, None);
        for dangling in [Dangling::Networkx, Dangling::Gap] {
            let options = PageRankOptions { dangling, tol: 1e-10, ..PageRankOptions::default() };
            let found = pagerank(&graph, &options).unwrap();
            verify_pagerank(&graph, &options, &found).unwrap();
            let (needed, exact) = plain(model, dangling == Dangling::Networkx, options.tol, 400);
            let error: f64 = found.ranks.iter().zip(&exact).map(|(found, exact)| (found - exact).abs()).sum();
            assert!(error <= 0.85 / 0.15 * found.residual + 1e-14, "{name}, {dangling:?}: {error:e}");
            let most = share * f64::from(needed);
            assert!(f64::from(found.iterations) <= most, "{name}, {dangling:?}: {} of {needed}", found.iterations);
            // Without a tolerance, iterations are those of the rule.
            let options = PageRankOptions { tol: 0.0, max_iterations: 25, ..options };
            let (_, expected) = plain(model, dangling == Dangling::Networkx, f64::INFINITY, 25);
            let found = pagerank(&graph, &options).unwrap();
            let error: f64 = found.ranks.iter().zip(&expected).map(|(found, exact)| (found - exact).abs()).sum();
            assert!(error < 1e-14, "{name}, {dangling:?}: {error:e}");
        }
    }
}

fn refused(outcome: outcore_algo::Result<()>, what: &str) {
    let error = outcome.expect_err(what);
    assert!(matches!(error, Error::Verification { .. }), "{what}: {error}");
}

#[test]
fn a_claimed_convergence_that_ranks_contradict_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&tampering(true).image(directory.path(), OrderChoice::Input), 1, None, None);
    for method in [PageRankMethod::Power, PageRankMethod::Delta] {
        let options = PageRankOptions { method, ..PageRankOptions::default() };
        let check = |found: &PageRank| verify_pagerank(&graph, &options, found);
        let mut found = pagerank(&graph, &options).unwrap();
        check(&found).unwrap();
        let (right, exact) = (found.residual, found.ranks.to_vec());
        found.residual = 2.0;
        refused(check(&found), "a residual above the tolerance, converged");
        found.stopped_by = StoppedBy::Iterations;
        if method == PageRankMethod::Power {
            refused(check(&found), "all iterations, of which there were fewer");
        }
        (found.stopped_by, found.residual) = (StoppedBy::Iterations, right);
        refused(check(&found), "not converged, below the tolerance");
        found.stopped_by = StoppedBy::Networkx;
        refused(check(&found), "converged by another rule");
        (found.stopped_by, found.residual) = (StoppedBy::Residual, f64::NAN);
        refused(check(&found), "no residual");
        found.residual = right;
        check(&found).unwrap();
        // One rank for all vertices, whatever is said of it.
        let even = 1.0 / graph.vertices() as f64;
        found.ranks.fill(even);
        for (residual, stopped_by) in
            [(right, StoppedBy::Residual), (2.0, StoppedBy::Residual), (0.0, StoppedBy::Residual)]
        {
            let mut found = pagerank(&graph, &options).unwrap();
            (found.residual, found.stopped_by) = (residual, stopped_by);
            found.ranks.fill(even);
            refused(check(&found), "the same rank everywhere");
        }
        // Ranks of a run that was cut short, as if it had not been.
        let early = PageRankOptions { tol: 1e-3, ..options };
        let mut early = pagerank(&graph, &early).unwrap();
        early.residual = right;
        assert_ne!(early.ranks.to_vec(), exact);
        refused(check(&early), "ranks of a looser tolerance");
        if method == PageRankMethod::Power {
            let few = PageRankOptions { max_iterations: 40, tol: 0.0, ..options };
            let found = pagerank(&graph, &few).unwrap();
            verify_pagerank(&graph, &few, &found).unwrap();
            let mut fewer = pagerank(&graph, &PageRankOptions { max_iterations: 4, ..few }).unwrap();
            refused(verify_pagerank(&graph, &few, &fewer), "fewer iterations");
            (fewer.iterations, fewer.residual) = (40, 1e-3);
            refused(verify_pagerank(&graph, &few, &fewer), "ranks of fewer iterations");
        }
    }
}

#[test]
fn every_set_of_seeds_is_checked() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&tampering(false).image(directory.path(), OrderChoice::Input), 1, None, None);
    let seeds = vec![vec![(3, 1.0)], vec![(210, 2.0), (3, 0.5), (210, 1.0)], vec![(77, 3.0)]];
    let options = PersonalizedPageRankOptions { seeds, ..PersonalizedPageRankOptions::default() };
    let mut found = personalized_pagerank(&graph, &options).unwrap();
    assert_eq!((found.stopped_by, found.stats.stopped_by), (StoppedBy::Residual, Some("residual")));
    let check = |found: &PersonalizedPageRank| verify_personalized_pagerank(&graph, &options, found);
    check(&found).unwrap();
    let last = found.ranks.pop().unwrap();
    refused(check(&found), "a set without ranks");
    found.ranks.insert(0, last);
    refused(check(&found), "ranks of other sets");
    let first = found.ranks.remove(0);
    found.ranks.push(first);
    check(&found).unwrap();
    found.residual = 1e-3;
    refused(check(&found), "converged at a residual above the tolerance");
}

#[test]
fn centralities_and_their_bound_are_scaled_by_a_rule_of_the_verifier() {
    let directory = tempfile::tempdir().unwrap();
    for directed in [true, false] {
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        for sources in [Sources::All, Sources::Given(vec![5]), Sources::Drawn { k: 40, seed: 2 }] {
            for (normalized, endpoints) in [(true, false), (true, true), (false, false), (false, true)] {
                let options =
                    BetweennessOptions { sources: sources.clone(), normalized, endpoints, ..Default::default() };
                let mut found = betweenness_centrality(&graph, &options).unwrap();
                verify_betweenness_centrality(&graph, &options, &found).unwrap();
                found.error_bound = if found.error_bound == 0.0 { 0.1 } else { 0.5 * found.error_bound.min(1.0) };
                refused(verify_betweenness_centrality(&graph, &options, &found), "another bound");
                found_twice(&graph, &options);
            }
        }
    }
}

/// Centralities of twice the size are refused, which a common factor of kernel and verifier would not notice.
fn found_twice(graph: &Graph, options: &BetweennessOptions) {
    let mut found = betweenness_centrality(graph, options).unwrap();
    found.scores.iter_mut().for_each(|score| *score *= 2.0);
    refused(verify_betweenness_centrality(graph, options, &found), "twice the centrality");
}

/// From so many vertices on, the first iterations are of single precision; the last one never is.
const LARGE: u32 = 1 << 22;

/// Ranks after some iterations in double precision, by adding up over the edges.
fn plain_ranks(given: &Given, iterations: u32) -> Vec<f64> {
    let (count, alpha) = (f64::from(given.vertices), PageRankOptions::default().alpha);
    let mut degrees = vec![0.0; given.vertices as usize];
    given.edges.iter().for_each(|&(source, _)| degrees[source as usize] += 1.0);
    let mut ranks = vec![1.0 / count; degrees.len()];
    for _ in 0..iterations {
        // Sums of a thousand numbers at a time: one of millions would lose digits.
        let dangling = |(ranks, degrees): (&[f64], &[f64])| -> f64 {
            ranks.iter().zip(degrees).filter(|(_, degree)| **degree == 0.0).map(|(rank, _)| rank).sum()
        };
        let dangling: f64 = ranks.chunks(1000).zip(degrees.chunks(1000)).map(dangling).sum();
        let mut next = vec![(1.0 - alpha + alpha * dangling) / count; ranks.len()];
        given.edges.iter().for_each(|&(source, target)| {
            next[target as usize] += alpha * ranks[source as usize] / degrees[source as usize];
        });
        ranks = next;
    }
    ranks
}

#[test]
fn single_precision_leaves_no_error_in_converged_ranks() {
    // Half of the vertices have no edges that lead from them, the others two each, and some vertices are hubs.
    let target = |i: u32| (mix(i.into()) % u64::from(LARGE)) as u32 / (1 + i % 7 * (i % 1000));
    let edges = (0..LARGE).map(|i| (i / 4 * 2, target(i))).collect();
    let given = Given { parallel: true, ..Given::new(LARGE, edges, true) };
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&given.image(directory.path(), OrderChoice::Input), 2, None, None);
    let run = |tol, max_iterations| {
        let options = PageRankOptions { tol, max_iterations, ..PageRankOptions::default() };
        let found = pagerank(&graph, &options).unwrap();
        verify_pagerank(&graph, &options, &found).unwrap();
        found
    };
    let early = run(0.0, 5);
    let plain = plain_ranks(&given, early.iterations);
    let early = early.ranks.iter().zip(&plain).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
    assert!(early > 1e-9 && early < 2e-7, "{early:e}");
    let late = run(1e-12, 200);
    // The rule converges to double precision within so many iterations on this graph.
    let error: f64 = late.ranks.iter().zip(&plain_ranks(&given, 60)).map(|(a, b)| (a - b).abs()).sum();
    let bound = 0.85 / 0.15 * late.residual + 1e-14;
    assert!(late.stopped_by.converged() && error < bound, "{error:e}, {bound:e} after {} iterations", late.iterations);
    for (tol, max_iterations) in [(1e-2, 200), (1e-5, 200), (0.0, 0), (0.0, 1), (0.0, 3)] {
        drop(run(tol, max_iterations));
    }
}

#[test]
fn ranks_of_large_graphs_are_verified_however_they_end() {
    let directory = tempfile::tempdir().unwrap();
    let options = GenerateOptions { shape: Shape::Path, scale: 22, ..GenerateOptions::default() };
    let (image, how) = (directory.path().join("path.oc"), ImportOptions::default());
    import(&runtime(2, None), source(&options).unwrap(), &image, &how).unwrap();
    let graph = open(&image, 2, None, None);
    let ends = [(1e-6, 200, Stop::Residual), (1e-6, 200, Stop::Networkx), (0.0, 3, Stop::Residual)];
    for (tol, max_iterations, stop) in ends {
        let options = PageRankOptions { tol, max_iterations, stop, ..PageRankOptions::default() };
        let found = pagerank(&graph, &options).unwrap();
        verify_pagerank(&graph, &options, &found).unwrap();
        assert!((found.ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}
