//! Imported graphs are the graphs that were given, whatever the options, the memory and the number of workers.

use crate::given;

use given::*;
use outcore_format::{IdColumn, Order};
use outcore_graph::generate::{GenerateOptions, Shape, source};
use outcore_graph::import::{Duplicates, ImportOptions, OrderChoice, SelfLoops, import};
use outcore_io::{Runtime, RuntimeOptions};
use outcore_testkit::random;
use std::collections::BTreeMap;
use std::path::Path;

fn runtime(threads: usize, free_mib: u64) -> Runtime {
    let options = RuntimeOptions {
        threads: Some(threads),
        memory_bytes: Some(free_mib << 20),
        beside_process: true,
        ..RuntimeOptions::default()
    };
    Runtime::new(options).unwrap()
}

fn options(directed: bool, duplicates: Duplicates, order: OrderChoice) -> ImportOptions {
    ImportOptions {
        directed: Some(directed),
        duplicates,
        self_loops: SelfLoops::Keep,
        order,
        replace: true,
        ..ImportOptions::default()
    }
}

/// The obvious importer.
fn expected(given: &Given, options: &ImportOptions) -> (Entries, u64, u64) {
    let directed = options.directed.unwrap();
    let mut all = Entries::new();
    let mut loops = 0;
    for (i, (source, target)) in given.edges.iter().enumerate() {
        let weight = given.weights.as_ref().map_or(1.0, |weights| weights[i]);
        loops += u64::from(source == target);
        if source == target && options.self_loops == SelfLoops::Drop {
            continue;
        }
        all.entry((source.clone(), target.clone())).or_default().push(weight);
        if !directed && source != target {
            all.entry((target.clone(), source.clone())).or_default().push(weight);
        }
    }
    let mut duplicates = 0;
    for ((source, target), weights) in &mut all {
        if directed || source <= target {
            duplicates += weights.len() as u64 - 1;
        }
        if options.duplicates == Duplicates::Keep {
            continue;
        }
        let combined = match options.duplicates {
            _ if given.weights.is_none() => 1.0,
            Duplicates::Sum => weights.iter().sum(),
            Duplicates::Min => weights.iter().copied().reduce(f64::min).unwrap(),
            Duplicates::Max => weights.iter().copied().reduce(f64::max).unwrap(),
            Duplicates::Last => weights[weights.len() - 1],
            _ => weights[0],
        };
        *weights = vec![combined];
    }
    (all, duplicates, loops)
}

/// Degrees, in and out together, by which vertices are classed: before duplicates are removed.
fn degrees(given: &Given, options: &ImportOptions) -> BTreeMap<Id, u64> {
    let mut degrees = BTreeMap::new();
    for (source, target) in &given.edges {
        if source != target || options.self_loops == SelfLoops::Keep {
            *degrees.entry(source.clone()).or_insert(0) += 1;
            *degrees.entry(target.clone()).or_insert(0) += 1;
        }
    }
    degrees
}

fn check_hubs(image: &Image, lists: &[Vec<u32>], hubs: &[u64], degrees: &BTreeMap<Id, u64>) {
    let class_of = |vertex: u32| class(degrees.get(&image.ids[vertex as usize]).copied().unwrap_or(0));
    assert_eq!(hubs.len(), lists.len());
    for (vertex, list) in lists.iter().enumerate() {
        let others = list.iter().copied().filter(|&neighbour| neighbour as usize != vertex);
        let hub = others.max_by_key(|&neighbour| (class_of(neighbour), std::cmp::Reverse(neighbour)));
        assert_eq!(hubs[vertex], hub.map_or(vertex as u64, u64::from), "hub of vertex {vertex}");
    }
}

fn check(runtime: &Runtime, given: &Given, options: &ImportOptions, path: &Path) -> Image {
    let allowed = ImportOptions { allow_empty: true, ..options.clone() };
    let report = import(runtime, given.source(), path, &allowed).unwrap();
    let image = open(path);
    assert_eq!(image.manifest, report.manifest);
    let (entries_expected, duplicates, loops) = expected(given, options);
    let directed = options.directed.unwrap();
    assert!(entries(&image, false) == entries_expected, "out-lists");
    if directed {
        let reversed: Entries =
            entries_expected.iter().map(|((s, t), weights)| ((t.clone(), s.clone()), weights.clone())).collect();
        assert!(entries(&image, true) == reversed, "in-lists");
    }
    let all: Vec<Id> = vertices(given).into_iter().collect();
    let mut sorted = image.ids.clone();
    sorted.sort();
    assert_eq!(sorted, all);
    let degrees = degrees(given, options);
    match image.manifest.order {
        Order::Input => assert_eq!(image.ids, all),
        Order::Degree => assert!(is_by_degree(&image, &degrees)),
        // The tests of `near.rs` compare this order.
        Order::Near => {}
    }
    check_hubs(&image, &image.out, &image.out_hubs, &degrees);
    if let (Some(into), Some(hubs)) = (&image.into, &image.in_hubs) {
        check_hubs(&image, into, hubs, &degrees);
    }
    let facts = &image.manifest.import;
    assert_eq!(facts.edges_read, given.edges.len() as u64);
    assert_eq!((facts.duplicates, facts.self_loops), (duplicates, loops));
    let stored = entries_expected.iter().filter(|((s, t), _)| s == t).map(|(_, weights)| weights.len() as u64).sum();
    assert_eq!(facts.self_loops_stored, Some(stored));
    let isolated = all.iter().filter(|&id| !degrees.contains_key(id)).count();
    assert_eq!(facts.isolated_vertices, isolated as u64);
    let edges: usize = entries_expected
        .iter()
        .filter(|((source, target), _)| directed || source <= target)
        .map(|(_, weights)| weights.len())
        .sum();
    assert_eq!(image.manifest.edges, edges as u64);
    image
}

/// A random graph of some kind.
fn random_graph(state: &mut u64, kind: u64) -> Given {
    let edges = random(state) % 3000;
    let vertices = 1 + random(state) % 400;
    let id = |number: u64| match kind {
        0 => Id::Integer(i128::from(number)),
        1 => Id::Integer(i128::from(number * number) * 1_000_003 - 5_000_000),
        2 => Id::Integer(i128::from(u64::MAX - number * 977)),
        _ => Id::Text(format!("{}{}", ["a", "", "vertex ", "é"][number as usize % 4], number * 31)),
    };
    // Squares of fractions: some vertices have far more edges than others.
    let mut end = || {
        let fraction = random(state) % 1000 * (random(state) % 1000);
        id(fraction * vertices / 1_000_000)
    };
    let pairs: Vec<(Id, Id)> = (0..edges).map(|_| (end(), end())).collect();
    let integer_weights = random(state).is_multiple_of(3);
    let weights = random(state).is_multiple_of(2).then(|| {
        let fraction = if integer_weights || random(state).is_multiple_of(2) { 1.0 } else { 0.5 };
        (0..edges).map(|_| (random(state) % 100) as f64 * fraction - 30.0).collect()
    });
    Given {
        edges: pairs,
        weights,
        integer_weights,
        vertices: (0..random(state) % 5).map(|i| id(10_000 + i)).collect(),
        declared: (kind == 0 && random(state).is_multiple_of(2)).then_some((3, 450)),
        strings: kind == 3,
        directed: None,
        block_edges: 1 + random(state) as usize % 700,
        bad_block: None,
    }
}

#[test]
fn random_graphs_come_back_under_all_options() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let policies =
        [Duplicates::First, Duplicates::Last, Duplicates::Sum, Duplicates::Min, Duplicates::Max, Duplicates::Keep];
    let orders = [OrderChoice::Auto, OrderChoice::Input, OrderChoice::Degree, OrderChoice::Near];
    let mut state = 20;
    for round in 0..240usize {
        let given = random_graph(&mut state, round as u64 % 4);
        let options = ImportOptions {
            directed: Some(round % 2 == 0),
            duplicates: policies[round / 2 % 6],
            self_loops: if round % 7 < 3 { SelfLoops::Drop } else { SelfLoops::Keep },
            order: orders[round / 12 % 4],
            replace: true,
            ..ImportOptions::default()
        };
        println!("round {round}: {options:?}");
        check(&runtime(1 + round % 3, 200), &given, &options, &path);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "something was left behind");
    }
}

#[test]
fn empty_and_extreme_graphs_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let one = |a: i128, b: i128| vec![(Id::Integer(a), Id::Integer(b))];
    let graphs = [
        Given::default(),
        Given { strings: true, ..Given::default() },
        Given { declared: Some((5, 70_000)), ..Given::default() },
        Given { edges: one(7, 7), ..Given::default() },
        Given { edges: one(i128::from(u64::MAX), 0), ..Given::default() },
        Given { edges: one(i128::from(i64::MIN), i128::from(i64::MAX)), ..Given::default() },
        Given { edges: vec![(Id::Text(String::new()), Id::Text("x".repeat(9000)))], strings: true, ..Given::default() },
        Given { edges: one(0, 1), weights: Some(vec![f64::MAX]), ..Given::default() },
        Given { edges: one(0, 1), weights: Some(vec![-3.0]), ..Given::default() },
        Given { vertices: vec![Id::Integer(9), Id::Integer(1 << 40)], ..Given::default() },
    ];
    for given in &graphs {
        for order in [OrderChoice::Auto, OrderChoice::Input, OrderChoice::Degree, OrderChoice::Near] {
            for directed in [false, true] {
                check(&runtime(2, 100), given, &options(directed, Duplicates::First, order), &path);
            }
        }
    }
}

#[test]
fn consecutive_ids_in_their_own_order_need_no_column() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let edges: Vec<(Id, Id)> = (-50..50).map(|i| (Id::Integer(i), Id::Integer(i + 1))).collect();
    let given = Given { edges, block_edges: 7, ..Given::default() };
    let image = check(&runtime(2, 100), &given, &options(true, Duplicates::First, OrderChoice::Input), &path);
    assert_eq!(image.manifest.ids, IdColumn::Range { first: -50 });
    let image = check(&runtime(2, 100), &given, &options(true, Duplicates::First, OrderChoice::Degree), &path);
    assert!(matches!(image.manifest.ids, IdColumn::I64 { .. }));
    let image = check(&runtime(2, 100), &given, &options(true, Duplicates::First, OrderChoice::Near), &path);
    assert!(matches!(image.manifest.ids, IdColumn::I64 { .. }));
}

/// A grid whose vertices are numbered at random.
fn shuffled_grid(side: usize) -> Given {
    let (mut names, mut state) = ((0..(side * side) as i128).collect::<Vec<_>>(), 5);
    for i in (1..names.len()).rev() {
        names.swap(i, random(&mut state) as usize % (i + 1));
    }
    let edge = |one: usize, other: usize| (Id::Integer(names[one]), Id::Integer(names[other]));
    let along = (0..names.len()).filter(|place| (place + 1) % side > 0).map(|place| edge(place, place + 1));
    let down = (side..names.len()).map(|place| edge(place, place - side));
    Given { edges: along.chain(down).collect(), block_edges: 1000, ..Given::default() }
}

#[test]
fn auto_chooses_the_order_with_the_smaller_lists() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let path_graph = Given {
        edges: (0..20_000).map(|i| (Id::Integer(i), Id::Integer(i + 1))).collect(),
        block_edges: 1000,
        ..Given::default()
    };
    let grid = shuffled_grid(120);
    let auto = options(false, Duplicates::First, OrderChoice::Auto);
    // By id and by degree it is as small, near it is not.
    assert_eq!(check(&runtime(2, 100), &path_graph, &auto, &path).manifest.order, Order::Degree);
    let near = check(&runtime(2, 100), &grid, &auto, &path);
    assert_eq!(near.manifest.order, Order::Near);
    let shuffled = check(&runtime(2, 100), &grid, &options(false, Duplicates::First, OrderChoice::Input), &path);
    assert!(10 * near.manifest.out_lists.pages < 8 * shuffled.manifest.out_lists.pages);
    // By rows its lists would be smaller near too, but not by as much as its ids would be larger.
    let rows = GenerateOptions { shape: Shape::Grid, scale: 14, ..GenerateOptions::default() };
    let report = import(&runtime(2, 100), source(&rows).unwrap(), &path, &auto).unwrap();
    assert_ne!(report.manifest.order, Order::Near);
    // A hub, or too few vertices.
    let mut starred = shuffled_grid(120);
    starred.edges.extend((0..70).map(|i| (Id::Integer(0), Id::Integer(100 * i + 7))));
    assert_ne!(check(&runtime(2, 100), &starred, &auto, &path).manifest.order, Order::Near);
    assert_ne!(check(&runtime(2, 100), &shuffled_grid(60), &auto, &path).manifest.order, Order::Near);
    let kronecker = GenerateOptions { shape: Shape::Kronecker, scale: 14, ..GenerateOptions::default() };
    let report = import(&runtime(2, 100), source(&kronecker).unwrap(), &path, &auto).unwrap();
    assert_ne!(report.manifest.order, Order::Near);
}

#[test]
fn refused_duplicates_are_named_by_their_ids_in_every_order() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.oc");
    let mut given = shuffled_grid(20);
    given.edges.push((Id::Integer(1 << 40), Id::Integer(1 << 41)));
    given.edges.push((Id::Integer(1 << 40), Id::Integer(1 << 41)));
    for order in [OrderChoice::Input, OrderChoice::Degree, OrderChoice::Near] {
        let options = options(true, Duplicates::Error, order);
        let error = import(&runtime(2, 100), given.source(), &path, &options).unwrap_err().to_string();
        assert!(error.contains("between 1099511627776 and 2199023255552"), "{error}");
    }
}
