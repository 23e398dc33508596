//! Searches of graphs of large diameter, which go page by page, the least label first, or over lists in memory: the
//! answers of the steps, to the last bit, and few visits of pages.

use crate::engine::*;
use crate::model::Model;
use outcore_algo::verify::{verify_bfs, verify_sssp};
use outcore_algo::{Bfs, BfsOptions, Sssp, SsspOptions, bfs, estimate_bfs, estimate_sssp, sssp};
use outcore_graph::import::OrderChoice;
use outcore_graph::{Direction, Frontier, Graph, Neighbours, PAGE_BYTES};
use outcore_image::{Stats, Step};
use outcore_io::backend::{self, Backend, Faults, Posix, Sim};
use std::path::Path;
use std::sync::Arc;

/// Workers, back end, and the share of the pages that is cached.
const CASES: [(usize, &str, u64); 6] =
    [(1, "posix", 0), (2, "best", 1), (3, "sim", 3), (8, "best", 0), (8, "sim", 1), (2, "posix", 5)];

fn open_case(image: &Path, (threads, name, share): (usize, &str, u64)) -> Graph {
    let backend: Arc<dyn Backend> = match name {
        "sim" => Arc::new(Sim::new(Faults { seed: threads as u64, short_reads_percent: 30, ..Faults::default() })),
        "posix" => Arc::new(Posix),
        _ => backend::best(),
    };
    let pages = open(image, 1, None, Some(0)).all_pages();
    let cache_bytes = match share {
        0 => Some(0),
        1 => None,
        share => Some(pages * PAGE_BYTES / share),
    };
    open(image, threads, Some(backend), cache_bytes)
}

/// The step that goes page by page, if there was one.
fn asynchronous(stats: &Stats) -> Option<&Step> {
    stats.steps.iter().find(|step| step.name == "asynchronous")
}

/// Whether parents were found without reading, in lists that are held in memory.
fn reads_no_parents(stats: &Stats) -> bool {
    let parents = stats.steps.iter().find(|step| step.name == "parents");
    parents.is_some_and(|parents| parents.sweep.pages_wanted == 0)
}

/// Takes all memory but this, so that there is none for more than the steps.
fn leave_only(graph: &Graph, bytes: u64) -> outcore_io::Reservation {
    let budget = graph.runtime().budget();
    budget.reserve("a test", budget.available_bytes() - bytes).unwrap()
}

fn bfs_numbers(found: &Bfs) -> Vec<u64> {
    let values = found.levels().chain(found.parents()).map(|value| value.map_or(u64::MAX, u64::from));
    values.chain([found.reached, found.depth.into()]).collect()
}

fn sssp_numbers(found: &Sssp) -> Vec<u64> {
    let parents = found.parents().map(|parent| parent.map_or(u64::MAX, u64::from));
    found
        .distances()
        .map(|distance| distance.map_or(u64::MAX, f64::to_bits))
        .chain(parents)
        .chain([found.reached])
        .collect()
}

/// A rectangle whose vertices are numbered by rows.
fn grid(rows: u32, columns: u32) -> Vec<(u32, u32)> {
    let vertices = 0..rows * columns;
    let right = vertices.clone().filter(|v| v % columns + 1 < columns).map(|v| (v, v + 1));
    right.chain(vertices.filter(|v| v + columns < rows * columns).map(|v| (v, v + columns))).collect()
}

/// The edges of a graph, with its vertices numbered anew.
fn shuffled(vertices: u32, edges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut numbers: Vec<u32> = (0..vertices).collect();
    numbers.sort_unstable_by_key(|&v| mix(v.into()));
    edges.iter().map(|&(one, other)| (numbers[one as usize], numbers[other as usize])).collect()
}

/// Long graphs, and such as have everything that may be special about one, with a source each.
fn shapes() -> Vec<(&'static str, Given, u32)> {
    let path: Vec<_> = (1..9000).map(|v| (v - 1, v)).collect();
    // Every vertex of a path has leaves, loops and parallel edges.
    let spine = (0..3000u32).flat_map(|v| [(v, v), (v, v + 1), (v, v + 1), (v, 3001 + 2 * v), (3002 + 2 * v, v)]);
    // A path between stars whose lists take many pages: forty thousand leaves with numbers far apart.
    let leaves = (0..40_000).map(|i| (if i % 2 == 0 { 0 } else { 900 }, 2000 + 7 * (i * 9973 % 40_000)));
    let stars: Vec<_> = (1..=900).map(|v| (v - 1, v)).chain(leaves).collect();
    let back: Vec<_> = path.iter().chain(&[(8999, 0), (7000, 3000)]).copied().collect();
    let mut many = grid(60, 61);
    many.extend(grid(300, 41).iter().map(|&(one, other)| (one + 3700, other + 3700)));
    let mixed = shuffled(25_600, &grid(160, 160));
    vec![
        ("grid by rows", Given::new(150 * 160, grid(150, 160), false), 0),
        ("grid from the middle", Given::new(150 * 160, grid(150, 160), false), 12_000),
        ("shuffled grid", Given::new(25_600, mixed.clone(), false), mixed[0].0),
        ("directed grid", Given::new(150 * 160, grid(150, 160), true), 3),
        ("path", Given::new(9000, path.clone(), true), 0),
        ("shuffled path", Given::new(9000, shuffled(9000, &path), false), 5),
        ("path with ways back", Given::new(9000, back, true), 2),
        ("caterpillar", Given { parallel: true, ..Given::new(9003, spine.clone().collect(), true) }, 0),
        ("undirected caterpillar", Given::new(9003, spine.collect(), false), 1500),
        ("path between stars", Given::new(282_000, stars, false), 450),
        ("two grids", Given::new(40_000, many, false), 4000),
    ]
}

fn parents_of(model: &Model, given: &Given, source: u32, distances: &[Option<f64>]) -> Vec<Option<u32>> {
    let length = |one, other| if given.weighted { weight(one, other) } else { 1.0 };
    let nearer = |v: u32| {
        let distance = distances[v as usize]?;
        let explains = |&&u: &&u32| {
            distances[u as usize].is_some_and(|before| before < distance && before + length(u, v) == distance)
        };
        if v == source { Some(v) } else { model.into[v as usize].iter().find(explains).copied() }
    };
    (0..given.vertices).map(nearer).collect()
}

#[test]
fn searches_of_long_graphs_are_those_of_the_model_and_the_same_bits_everywhere() {
    for (name, given, source) in shapes() {
        let directory = tempfile::tempdir().unwrap();
        for order in [OrderChoice::Input, OrderChoice::Degree, OrderChoice::Near] {
            let image = given.image(directory.path(), order);
            let plain = open(&image, 2, None, None);
            let number = ids(&plain).iter().position(|&id| id == source).unwrap() as u32;
            let options = BfsOptions { source: number, ..BfsOptions::default() };
            let found = bfs(&plain, &options).unwrap();
            assert!(asynchronous(&found.stats).is_some(), "{name}: steps alone");
            verify_bfs(&plain, &options, &found).unwrap();
            if order == OrderChoice::Input {
                let model = Model::new(&given);
                let levels = model.levels(source);
                same(&levels, &found.levels().collect::<Vec<_>>(), name);
                let parents = model.parents(source, &levels);
                same(&parents, &found.parents().collect::<Vec<_>>(), name);
            }
            // With no memory for anything else there are steps alone.
            let steps = open(&image, 2, None, Some(0));
            let _reservation = leave_only(&steps, estimate_bfs(&steps, &BfsOptions::default()).state_bytes);
            let expected = bfs(&steps, &options).unwrap();
            assert!(asynchronous(&expected.stats).is_none(), "{name}");
            let expected = bfs_numbers(&expected);
            same(&expected, &bfs_numbers(&found), name);
            for case in CASES {
                let found = bfs(&open_case(&image, case), &options).unwrap();
                assert!(asynchronous(&found.stats).is_some(), "{name}, {case:?}: steps alone");
                same(&expected, &bfs_numbers(&found), &format!("{name}, {case:?}"));
            }
        }
    }
}

#[test]
fn limits_and_targets_are_those_of_the_steps() {
    let directory = tempfile::tempdir().unwrap();
    let edges = shuffled(25_600, &grid(160, 160));
    // A corner.
    let source = edges[0].0;
    let given = Given::new(25_600, edges, false);
    let image = given.image(directory.path(), OrderChoice::Input);
    let (graph, steps) = (open(&image, 2, None, None), open(&image, 2, None, Some(0)));
    let _reservation = leave_only(&steps, estimate_bfs(&steps, &BfsOptions::default()).state_bytes);
    let levels = Model::new(&given).levels(source);
    let at = |level| levels.iter().position(|&there| there == Some(level)).unwrap() as u32;
    for (depth_limit, target) in
        [(Some(33), None), (Some(60), None), (None, Some(at(50))), (Some(40), Some(at(70))), (None, Some(at(5)))]
    {
        let options = BfsOptions { source, depth_limit, target };
        let (found, expected) = (bfs(&graph, &options).unwrap(), bfs(&steps, &options).unwrap());
        assert_eq!(asynchronous(&found.stats).is_some(), target != Some(at(5)), "{options:?}");
        same(&bfs_numbers(&expected), &bfs_numbers(&found), &format!("{options:?}"));
        verify_bfs(&graph, &options, &found).unwrap();
    }
}

#[test]
fn shortest_paths_of_long_graphs_are_those_of_the_model_and_the_same_bits_everywhere() {
    for (name, given, source) in shapes() {
        for weighted in [true, false] {
            let directory = tempfile::tempdir().unwrap();
            let given = Given { weighted, ..given.clone() };
            let image = given.image(directory.path(), OrderChoice::Input);
            let options = SsspOptions { source, weights: weighted, delta: None };
            let graph = open(&image, 2, None, None);
            let found = sssp(&graph, &options).unwrap();
            assert!(asynchronous(&found.stats).is_some(), "{name}: steps alone");
            verify_sssp(&graph, &options, &found).unwrap();
            let model = Model::new(&given);
            let distances = model.distances(source, weighted);
            let there: Vec<_> = (0..given.vertices).map(|vertex| found.distance(vertex)).collect();
            same(&distances, &there, name);
            // Where an edge of length zero leads, the first of all in-neighbours need not be the parent.
            for (vertex, expected) in parents_of(&model, &given, source, &distances).into_iter().enumerate() {
                assert!(expected.is_none() || found.parent(vertex as u32) == expected, "{name}: parent of {vertex}");
            }
            let steps = open(&image, 2, None, Some(0));
            let _reservation = leave_only(&steps, estimate_sssp(&steps, &options).state_bytes);
            let expected = sssp(&steps, &options).unwrap();
            // The memory for the weights of in-lists is free until they are read.
            assert!(asynchronous(&expected.stats).is_none() || (given.directed && weighted), "{name}");
            let expected = sssp_numbers(&expected);
            same(&expected, &sssp_numbers(&found), name);
            for case in CASES {
                let found = sssp(&open_case(&image, case), &options).unwrap();
                assert!(asynchronous(&found.stats).is_some(), "{name}, {case:?}: steps alone");
                same(&expected, &sssp_numbers(&found), &format!("{name}, weights {weighted}, {case:?}"));
                assert_eq!(reads_no_parents(&found.stats), weighted && !given.directed, "{name}, {case:?}: held");
                // There is less memory than all lists take; what page by page takes depends on workers and lists.
                let graph = open_case(&image, case);
                let _reservation = leave_only(&graph, estimate_sssp(&graph, &options).state_bytes + 400_000);
                let found = sssp(&graph, &options).unwrap();
                same(&expected, &sssp_numbers(&found), &format!("{name}, less memory, weights {weighted}, {case:?}"));
                if ["grid by rows", "shuffled grid"].contains(&name) && case.0 < 8 {
                    assert!(asynchronous(&found.stats).is_some(), "{name}, {case:?}: steps alone");
                    assert!(!reads_no_parents(&found.stats), "{name}, {case:?}: held");
                }
            }
        }
    }
}

#[test]
fn pages_in_the_order_of_the_search_are_visited_a_few_times_and_read_once() {
    let path = (1..200_000).map(|v| (v - 1, v)).collect();
    for (name, given, most_visits) in
        [("path", Given::new(200_000, path, false), 3), ("grid", Given::new(400 * 400, grid(400, 400), false), 12)]
    {
        let directory = tempfile::tempdir().unwrap();
        let image = given.image(directory.path(), OrderChoice::Input);
        for threads in [1, 2, 8] {
            let graph = open(&image, threads, None, None);
            let pages = graph.pages(Direction::Out);
            assert!(pages > 60, "{name}: {pages} pages");
            let found = bfs(&graph, &BfsOptions::default()).unwrap();
            let step = asynchronous(&found.stats).unwrap();
            let visits = step.sweep.pages_wanted;
            assert!(visits <= most_visits * pages, "{name}: {visits} visits of {pages} pages, {threads} workers");
            assert!(step.active < 3 * u64::from(given.vertices), "{name}: {} lists", step.active);
            // Some pages are read alone while another worker reads those around them.
            assert!(step.sweep.pages_read <= 2 * pages, "{name}: {} pages read of {pages}", step.sweep.pages_read);
            let again = bfs(&graph, &BfsOptions::default()).unwrap();
            assert_eq!(asynchronous(&again.stats).unwrap().sweep.bytes_read, 0, "{name}: all pages are cached");
        }
        // Without a cache, and with less memory for decoded pages than the pages take, they are read again and again.
        let graph = open(&image, 2, None, Some(0));
        let _reservation = leave_only(&graph, estimate_bfs(&graph, &BfsOptions::default()).state_bytes + 200_000);
        let found = bfs(&graph, &BfsOptions::default()).unwrap();
        let step = asynchronous(&found.stats).unwrap();
        assert!(step.sweep.bytes_read >= graph.pages(Direction::Out) / 2 * PAGE_BYTES, "{name}");
        verify_bfs(&graph, &BfsOptions::default(), &found).unwrap();
    }
}

#[test]
fn pages_that_are_visited_often_are_decoded_once() {
    let directory = tempfile::tempdir().unwrap();
    let given = Given::new(40_000, shuffled(40_000, &grid(200, 200)), false);
    // Without a cache every decoded page is one that was read.
    let graph = open(&given.image(directory.path(), OrderChoice::Input), 2, None, Some(0));
    let found = bfs(&graph, &BfsOptions { source: given.edges[0].0, ..BfsOptions::default() }).unwrap();
    let step = asynchronous(&found.stats).unwrap();
    let pages = graph.pages(Direction::Out);
    assert!(step.sweep.pages_wanted > 40 * pages, "{} visits of {pages} pages", step.sweep.pages_wanted);
    assert!(step.sweep.bytes_read <= 8 * pages * PAGE_BYTES, "{} bytes of {pages} pages", step.sweep.bytes_read);
}

#[test]
fn graphs_with_hubs_are_searched_in_steps() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&kronecker(directory.path(), 13, 16, false, OrderChoice::Auto), 2, None, None);
    let lists = graph.lists(Direction::Out, Frontier::All);
    let (source, _) =
        lists.into_iter().map(Result::unwrap).find(|(_, list): &(u32, Neighbours)| list.len() > 1).unwrap();
    let found = bfs(&graph, &BfsOptions { source, ..BfsOptions::default() }).unwrap();
    assert!(found.reached > 4000 && asynchronous(&found.stats).is_none());
    let found = sssp(&graph, &SsspOptions { source, weights: true, delta: None }).unwrap();
    assert!(found.reached > 4000 && asynchronous(&found.stats).is_none());
}

#[test]
fn a_damaged_page_or_a_request_to_stop_ends_a_long_search() {
    let directory = tempfile::tempdir().unwrap();
    let image = Given::new(150 * 160, grid(150, 160), false).image(directory.path(), OrderChoice::Input);
    let runtime = runtime(2, None);
    let graph = Graph::open(&runtime, &image, Default::default()).unwrap();
    runtime.cancel().cancel();
    assert!(bfs(&graph, &BfsOptions::default()).is_err());
    let pages = image.join("out.pages");
    let mut bytes = std::fs::read(&pages).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle + 100] ^= 1;
    std::fs::write(&pages, &bytes).unwrap();
    for threads in [1, 2, 8] {
        let graph = open(&image, threads, None, None);
        let error = bfs(&graph, &BfsOptions::default()).expect_err("a damaged page").to_string();
        assert!(error.contains("checksum") && error.contains("out.pages"), "{error}");
    }
}

/// One weight in a hundred is a thousand million, the others are small.
fn a_few_huge(source: u32, target: u32) -> f64 {
    let mixed = mix(u64::from(source.min(target)) << 32 | u64::from(source.max(target)));
    if mixed.is_multiple_of(100) { 1e9 } else { (1 + mixed % 255) as f64 }
}

/// Weights of eighteen orders of magnitude.
fn of_all_magnitudes(source: u32, target: u32) -> f64 {
    let mixed = mix(u64::from(source.min(target)) << 32 | u64::from(source.max(target)));
    10f64.powf((mixed % 1800) as f64 / 100.0 - 9.0)
}

#[test]
fn lists_are_worked_off_a_few_times_whatever_the_weights_and_the_delta() {
    let side = 200;
    for (name, weight) in [("few huge", a_few_huge as fn(u32, u32) -> f64), ("all magnitudes", of_all_magnitudes)] {
        for edges in [grid(side, side), shuffled(side * side, &grid(side, side))] {
            let given = Given { weighted: true, weight, ..Given::new(side * side, edges, false) };
            let directory = tempfile::tempdir().unwrap();
            let image = given.image(directory.path(), OrderChoice::Input);
            let find = |memory: Option<u64>, delta| {
                let graph = open_case(&image, (2, "best", 1));
                let _rest = memory.map(|bytes| leave_only(&graph, bytes));
                let found = sssp(&graph, &SsspOptions { source: 5, weights: true, delta }).unwrap();
                verify_sssp(&graph, &SsspOptions { source: 5, weights: true, delta }, &found).unwrap();
                found
            };
            let expected = sssp_numbers(&find(None, None));
            let little = 3 << 20;
            for (memory, delta) in [
                (None, None),
                (None, Some(1e30)),
                (None, Some(1e-30)),
                (Some(little), None),
                (Some(little), Some(1e30)),
            ] {
                let found = find(memory, delta);
                assert!(sssp_numbers(&found) == expected, "{name}, {memory:?}, {delta:?}");
                let lists: u64 =
                    found.stats.steps.iter().filter(|step| step.name != "parents").map(|step| step.active).sum();
                let times = lists as f64 / f64::from(side * side);
                assert!(
                    times < if delta.is_some() { 150.0 } else { 20.0 },
                    "{name}, {memory:?}, {delta:?}: {times} times"
                );
            }
        }
    }
}
