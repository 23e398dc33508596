//! Scan statistics against the definition, in memory, on graphs where bounds help and where they do not; with little
//! memory; and tampered answers.

use crate::engine::*;
use outcore_algo::verify::verify_scan_statistics;
use outcore_algo::{ScanStatistics, ScanStatisticsOptions, estimate_scan_statistics, scan_statistics};
use outcore_graph::import::OrderChoice;
use outcore_graph::{Direction, Graph};
use outcore_image::{Error, ImageOptions};
use outcore_table::{Column, distance_bits};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// For every vertex the edges among itself and its neighbours.
fn localities(given: &Given) -> Vec<u64> {
    let mut out = vec![BTreeSet::new(); given.vertices as usize];
    let mut all = out.clone();
    for &(source, target) in given.edges.iter().filter(|(source, target)| source != target) {
        let (from, to) = if given.directed { (source, target) } else { (source.min(target), source.max(target)) };
        out[from as usize].insert(to);
        all[source as usize].insert(target);
        all[target as usize].insert(source);
    }
    let locality = |vertex: u32| {
        let mut members = all[vertex as usize].clone();
        members.insert(vertex);
        let among = |list: &BTreeSet<u32>| match list.len() < members.len() {
            true => list.iter().filter(|other| members.contains(other)).count(),
            false => members.iter().filter(|other| list.contains(other)).count(),
        };
        members.iter().map(|&member| among(&out[member as usize]) as u64).sum()
    };
    (0..given.vertices).map(locality).collect()
}

fn rows(found: &ScanStatistics) -> Vec<(u32, u64)> {
    found.vertices.iter().copied().zip(found.statistics.iter().copied()).collect()
}

/// Compares what is found with the definition, with directions and without, in both orders; returns at how many
/// vertices it looked for the greatest one.
fn check(given: &Given) -> Vec<u64> {
    let mut looked_at = Vec::new();
    for directed in [true, false] {
        let given = Given { directed, ..given.clone() };
        let expected = localities(&given);
        let directory = tempfile::tempdir().unwrap();
        for (order, threads) in [(OrderChoice::Input, 1), (OrderChoice::Degree, 3)] {
            let graph = open(&given.image(directory.path(), order), threads, None, Some(1 << 18));
            let ids = ids(&graph);
            let mut sorted: Vec<(Reverse<u64>, u32)> =
                (0..given.vertices).map(|v| (Reverse(expected[ids[v as usize] as usize]), v)).collect();
            sorted.sort_unstable();
            for top in [1, 9, 300, u64::from(given.vertices) + 1] {
                let options = ScanStatisticsOptions { top };
                let found = scan_statistics(&graph, &options).unwrap();
                let expected: Vec<_> = sorted.iter().take(top as usize).map(|&(Reverse(s), v)| (v, s)).collect();
                same(&expected, &rows(&found), &format!("{top} statistics, {directed}, {order:?}"));
                verify_scan_statistics(&graph, &options, &found).unwrap();
                assert!((expected.len() as u64..=graph.vertices()).contains(&found.looked_at));
                if top == 1 {
                    looked_at.push(found.looked_at);
                }
            }
        }
    }
    looked_at
}

#[test]
fn empty_complete_and_parallel_graphs_have_the_statistics_of_the_model() {
    let new = |vertices, edges: Vec<_>| Given::new(vertices, edges, true);
    check(&new(0, vec![]));
    check(&new(1, vec![]));
    check(&new(1, vec![(0, 0)]));
    check(&new(2, vec![(0, 1), (1, 0)]));
    check(&new(3000, vec![]));
    check(&new(3000, (0..3000).map(|v| (v, v)).collect()));
    check(&new(1 << 14, (0..(1 << 14) - 1).map(|v| (v, v + 1)).collect()));
    let complete = |n: u32| (0..n).flat_map(|v| (0..v).map(move |w| (w, v)));
    let looked_at = check(&new(120, complete(120).collect()));
    assert_eq!(looked_at, [8; 4], "of equal vertices only the first");
    check(&Given { parallel: true, ..new(6, vec![(3, 4); 10_000]) });
    let many = (0..6000u64).map(|i| ((mix(i) % 80) as u32, (mix(!i) % 80) as u32)).collect();
    check(&Given { parallel: true, ..new(90, many) });
    let grid = (0..10_000).flat_map(|v| [(v, v + 1), (v, v + 100)]).filter(|&(_, w)| w < 10_000).collect();
    check(&new(10_000, grid));
}

#[test]
fn in_a_star_only_the_group_of_the_hub_is_examined() {
    // Its list is longer than a unit of pages, so it comes in parts.
    let leaves = 300_000;
    let star: Vec<_> = (1..=leaves).map(|leaf| (0, leaf)).chain([(5, 6), (6, 5), (7, 7)]).collect();
    let directory = tempfile::tempdir().unwrap();
    for (parallel, directed) in [(false, true), (false, false), (true, true)] {
        let given = Given { parallel, ..Given::new(leaves + 1, star.clone(), directed) };
        let graph = open(&given.image(directory.path(), OrderChoice::Input), 2, None, Some(0));
        let found = scan_statistics(&graph, &ScanStatisticsOptions::default()).unwrap();
        assert_eq!(rows(&found), [(0, u64::from(leaves) + 1 + u64::from(directed))]);
        assert_eq!(found.looked_at, 8);
        verify_scan_statistics(&graph, &ScanStatisticsOptions::default(), &found).unwrap();
    }
}

#[test]
fn random_graphs_of_every_density() {
    for seed in 0..24u64 {
        let vertices = 1 + mix(seed) % 600;
        let edges = mix(seed + 1000) % (vertices * 12);
        let skew = 1 + seed % 7;
        let one = |i: u64| (mix(seed * 1_000_003 + i) % vertices / (1 + i % skew)) as u32;
        let edges = (0..edges).map(|i| (one(2 * i), one(2 * i + 1))).collect();
        check(&Given { parallel: seed % 3 == 0, ..Given::new(vertices as u32, edges, true) });
    }
}

#[test]
fn few_vertices_are_examined_and_every_run_wants_the_same_pages() {
    let directory = tempfile::tempdir().unwrap();
    for directed in [true, false] {
        for order in [OrderChoice::Input, OrderChoice::Degree] {
            let image = kronecker(directory.path(), 15, 16, directed, order);
            let mut all = Vec::new();
            for (threads, cache_bytes) in [(1, Some(0)), (2, None), (8, Some(1 << 17))] {
                let graph = open(&image, threads, None, cache_bytes);
                let found = scan_statistics(&graph, &ScanStatisticsOptions { top: 3 }).unwrap();
                let pages = graph.pages(Direction::Out) + graph.pages(Direction::In);
                assert!(found.looked_at * 100 < graph.vertices(), "looked at {}", found.looked_at);
                let steps: Vec<_> =
                    found.stats.steps.iter().map(|step| (step.name, step.active, step.sweep.pages_wanted)).collect();
                assert!(steps.iter().all(|step| step.2 <= pages + pages / 4), "{steps:?} of {pages} pages");
                let looked_at: u64 = steps.iter().filter(|step| step.0 == "group").map(|step| step.1).sum();
                assert_eq!(looked_at, found.looked_at);
                all.push((rows(&found), steps));
            }
            assert_eq!(all[0], all[1]);
            assert_eq!(all[0], all[2]);
        }
    }
}

#[test]
fn the_memory_that_the_estimate_says_is_enough_beside_a_page_cache() {
    let directory = tempfile::tempdir().unwrap();
    for directed in [true, false] {
        // More vertices than a batch of a program has, and pages of many vertices.
        let image = kronecker(directory.path(), 18, 4, directed, OrderChoice::Degree);
        for top in [1, 300] {
            let options = ScanStatisticsOptions { top };
            let runtime = runtime_under(2, 256 << 20, None);
            let graph = Graph::open(&runtime, &image, ImageOptions::default()).unwrap();
            let needs = estimate_scan_statistics(&graph, &options);
            let budget = graph.runtime().budget();
            let hold = |bytes: u64| budget.reserve("a test", budget.available_bytes() - bytes).unwrap();
            let reservation = hold(needs.state_bytes - 1);
            let error = scan_statistics(&graph, &options).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("scan statistics") && error.contains("raise the limit"), "{error}");
            drop(reservation);
            let reservation = hold(needs.state_bytes);
            let (said, least) =
                (estimate_scan_statistics(&graph, &options), scan_statistics(&graph, &options).unwrap());
            assert!(least.stats.passes <= said.passes, "{} passes, {} said", least.stats.passes, said.passes);
            assert_eq!(least.looked_at == graph.vertices(), top == 300);
            drop(reservation);
            assert_eq!(rows(&least), rows(&scan_statistics(&graph, &options).unwrap()));
        }
    }
}

#[test]
fn the_column_has_values_for_the_reported_vertices_only() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&tampering(true).image(directory.path(), OrderChoice::Input), 1, None, None);
    let found = scan_statistics(&graph, &ScanStatisticsOptions { top: 5 }).unwrap();
    let rows = rows(&found);
    let table = found.into_table(&graph).unwrap();
    let Column::Distance(values, _) = &table.columns()[0].1 else { panic!("another column") };
    let mut there: Vec<_> =
        values.iter().zip(0..).filter_map(|(&value, v)| distance_bits(value).map(|edges| (v, edges))).collect();
    there.sort_by_key(|&(v, edges)| (Reverse(edges), v));
    assert_eq!(there, rows);
    let error = scan_statistics(&graph, &ScanStatisticsOptions { top: 0 }).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Usage(_)), "{error}");
}

#[test]
fn every_changed_statistic_or_vertex_is_refused() {
    for directed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let graph = open(&tampering(directed).image(directory.path(), OrderChoice::Input), 1, None, None);
        let options = ScanStatisticsOptions { top: 4 };
        let mut found = scan_statistics(&graph, &options).unwrap();
        verify_scan_statistics(&graph, &options, &found).unwrap();
        let refused = |found: &ScanStatistics, what: &str| {
            let error = verify_scan_statistics(&graph, &options, found).expect_err(what).to_string();
            assert!(error.contains("verification failed"), "{error}");
        };
        for place in 0..4 {
            let (vertex, edges) = (found.vertices[place], found.statistics[place]);
            for wrong in [0, edges - 1, edges + 1, u64::MAX] {
                found.statistics[place] = wrong;
                refused(&found, "another statistic");
            }
            found.statistics[place] = edges;
            for wrong in (0..graph.vertices() as u32).chain([u32::MAX]).filter(|&wrong| wrong != vertex) {
                found.vertices[place] = wrong;
                refused(&found, "another vertex");
            }
            found.vertices[place] = vertex;
        }
        // The vertex in place 0 is taken out: all that is left is right, but a vertex of a greater statistic is
        // missing.
        let mut longer = scan_statistics(&graph, &ScanStatisticsOptions { top: 5 }).unwrap();
        longer.vertices.remove(0);
        longer.statistics.remove(0);
        refused(&longer, "the greatest is left out");
        found.vertices.swap(0, 3);
        found.statistics.swap(0, 3);
        refused(&found, "rising");
        found.vertices.swap(0, 3);
        found.statistics.swap(0, 3);
        found.vertices.pop();
        found.statistics.pop();
        refused(&found, "one less");
    }
}
