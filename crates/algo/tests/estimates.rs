//! Estimates are enough: runs within exactly the memory that they say read no more than they say.

mod engine;

use engine::*;
use outcore_algo::{Bound, Estimate};
use outcore_graph::Graph;
use outcore_graph::import::OrderChoice;
use outcore_image::{Error, Stats};
use std::path::Path;

/// Graphs with hubs and without, with long paths, cliques, and vertices without edges.
fn shapes() -> Vec<(&'static str, Given)> {
    let random = |count: u64, vertices: u64| -> Vec<(u32, u32)> {
        (0..count).map(|i| ((mix(i) % vertices) as u32, (mix(!i) % vertices / (1 + i % 7)) as u32)).collect()
    };
    let shuffled = |v: u32| (u64::from(v) * 7919 % 5003) as u32;
    let cliques = (0..600).flat_map(|c| (0..16).flat_map(move |a| (0..a).map(move |b| (16 * c + b, 16 * c + a))));
    let grid =
        (0..3600u32).flat_map(|v| [(v, v + 1), (v, v + 60)]).filter(|&(a, b)| b < 3600 && (b > a + 1 || b % 60 > 0));
    // Some chunks have out-lists only, others in-lists only.
    let sides = (0..200_000u32).map(|i| (i / 40, 5000 + (mix(u64::from(i)) % 20_000) as u32));
    let mut weighted = Given::new(5000, random(60_000, 5000), true);
    weighted.weighted = true;
    let mut parallel = Given::new(3000, random(30_000, 1500), false);
    parallel.parallel = true;
    vec![
        ("hubs", Given::new(20_000, random(200_000, 20_000), true)),
        ("hubs without directions", Given::new(20_000, random(200_000, 20_000), false)),
        ("weights", weighted),
        ("parallel edges", parallel),
        ("star", Given::new(30_000, (1..30_000).map(|v| (0, v)).collect(), true)),
        ("path at the end", Given::new(20_000, (19_400..20_000).map(|v| (v - 1, v)).collect(), true)),
        ("shuffled path", Given::new(5003, (1..600).map(|v| (shuffled(v - 1), shuffled(v))).collect(), false)),
        ("cliques", Given::new(9600, cliques.collect(), false)),
        ("grid", Given::new(3600, grid.collect(), false)),
        ("no edges", Given::new(1000, Vec::new(), true)),
        ("two sides", Given::new(25_000, sides.collect(), true)),
    ]
}

/// Runs every algorithm over every graph within exactly the memory that `memory` says of its estimate.
fn within(
    orders: &[OrderChoice],
    memory: impl Fn(&Estimate) -> u64,
    verified: bool,
    check: impl Fn(&str, Sample, &Graph, &Estimate, &Stats),
) {
    for (name, given) in shapes() {
        for &order in orders {
            let directory = tempfile::tempdir().unwrap();
            let image = given.image(directory.path(), order);
            for sample in Sample::all() {
                let graph = open(&image, 2, None, Some(0));
                let estimate = sample.plan(&graph, 0).unwrap().estimate(&graph);
                let budget = graph.runtime().budget();
                let _reservation = budget.reserve("a test", budget.available_bytes() - memory(&estimate)).unwrap();
                // Triangles are counted in as many passes as the memory asks for.
                let plan = sample.plan(&graph, 0).unwrap();
                let (estimate, what) = (plan.estimate(&graph), format!("{name}, order {order:?}, {sample:?}"));
                let found = plan.run(&graph, verified, None).unwrap_or_else(|error| panic!("{what}: {error}"));
                check(&what, sample, &graph, &estimate, &found.stats);
            }
        }
    }
}

#[test]
fn the_memory_that_estimates_say_is_enough_and_passes_and_bytes_are_bounds() {
    within(
        &[OrderChoice::Input, OrderChoice::Degree, OrderChoice::Near],
        |estimate| estimate.state_bytes,
        false,
        |what, sample, graph, estimate, stats| {
            let (passes, read) = (stats.passes, stats.total.bytes_read);
            let expected = match sample.algorithm.name {
                // As many passes as levels or distances at worst.
                "bfs" | "sssp" | "multi_source_bfs" | "all_pairs" | "betweenness_centrality" => Bound::Usual,
                "strongly_connected_components" if graph.is_directed() => Bound::Usual,
                "core_number" => Bound::AtLeast,
                _ => Bound::AtMost,
            };
            assert_eq!(estimate.bound, expected, "{what}");
            if estimate.bound == Bound::AtMost {
                assert!(passes <= estimate.passes, "{what}: {passes} passes, {} estimated", estimate.passes);
                assert!(read <= estimate.read_bytes, "{what}: {read} bytes read, {} estimated", estimate.read_bytes);
            }
        },
    );
}

#[test]
fn verification_fits_the_memory_that_estimates_say() {
    // Verifiers know vertices in the order of ids, and in another one.
    let orders = [OrderChoice::Input, OrderChoice::Degree];
    within(&orders, |estimate| estimate.state_bytes.max(estimate.verify_bytes), true, |_, _, _, _, _| ());
}

#[test]
fn a_refusal_names_a_limit_that_is_enough() {
    let directory = tempfile::tempdir().unwrap();
    let image = shapes().swap_remove(0).1.image(directory.path(), OrderChoice::Input);
    for sample in Sample::all() {
        for (verified, written) in [(false, false), (true, false), (false, true)] {
            let graph = open(&image, 2, None, Some(0));
            let estimate = sample.plan(&graph, 0).unwrap().estimate(&graph);
            let verify_bytes = if verified { estimate.verify_bytes } else { 0 };
            let output = Path::new("result.parquet");
            let output_bytes = written.then(|| graph.output_bytes(output, &estimate.columns).unwrap());
            let most = estimate.state_bytes.max(estimate.result_bytes).max(verify_bytes).max(output_bytes.unwrap_or(0));
            let budget = graph.runtime().budget();
            let _reservation = budget.reserve("a test", budget.available_bytes() - estimate.result_bytes + 1).unwrap();
            let error = estimate.check_result(&graph, verified, output_bytes).unwrap_err();
            let Error::Memory { needed_bytes, .. } = error else { panic!("{error}") };
            assert_eq!(needed_bytes, most, "{sample:?}, verified: {verified}, written: {written}");
        }
    }
}

#[test]
fn a_run_whose_result_cannot_be_verified_is_refused_beforehand() {
    let directory = tempfile::tempdir().unwrap();
    let image = shapes().swap_remove(0).1.image(directory.path(), OrderChoice::Input);
    let mut larger = 0;
    for sample in Sample::all() {
        let graph = open(&image, 2, None, Some(0));
        let plan = sample.plan(&graph, 0).unwrap();
        let estimate = plan.estimate(&graph);
        let enough = estimate.state_bytes.max(estimate.result_bytes);
        if estimate.verify_bytes <= enough {
            continue;
        }
        larger += 1;
        let budget = graph.runtime().budget();
        let _reservation = budget.reserve("a test", budget.available_bytes() - enough).unwrap();
        estimate.check_result(&graph, false, None).unwrap();
        plan.run(&graph, false, None).unwrap();
        assert!(
            plan.run(&graph, true, None).is_err(),
            "{sample:?} is verified with less than {} bytes",
            estimate.verify_bytes
        );
        let error = estimate.check_result(&graph, true, None).unwrap_err().to_string();
        assert!(error.contains("the result and its verification") && error.contains("raise the limit"), "{error}");
    }
    assert!(larger > 3, "{larger} algorithms need more memory for verification");
}
