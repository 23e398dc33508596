//! Validators of the benchmarks accept every right output, and refuse every wrong one.

use crate::engine::{Given, open, runtime};
use outcore_algo::graph500::{roots, verify_bfs, verify_sssp};
use outcore_algo::graphalytics::verify_output;
use outcore_algo::{BfsOptions, ComponentsOptions, Error, SsspOptions, bfs, components, sssp};
use outcore_format::Order;
use outcore_graph::Graph;
use outcore_graph::generate::{GenerateOptions, GeneratedWeights, for_each_edges, source};
use outcore_graph::import::{BatchWeights, Duplicates, ImportOptions, OrderChoice, SelfLoops, import};
use outcore_io::Buffer;
use outcore_table::{Column, distance_bits};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const OPTIONS: GenerateOptions = GenerateOptions {
    shape: outcore_graph::generate::Shape::Kronecker,
    scale: 6,
    edge_factor: 3,
    seed: 5,
    weights: Some(GeneratedWeights::Unit),
};

/// The image that Graph500's searches run over.
fn graph500(directory: &std::path::Path, order: OrderChoice) -> Graph {
    let image = directory.join(format!("{order:?}.oc"));
    let how = ImportOptions {
        directed: Some(false),
        duplicates: Duplicates::Min,
        self_loops: SelfLoops::Drop,
        order,
        replace: true,
        ..ImportOptions::default()
    };
    import(&runtime(2, None), source(&OPTIONS).unwrap(), &image, &how).unwrap();
    open(&image, 1, None, None)
}

fn ids(graph: &Graph) -> Vec<u32> {
    let all: Vec<u32> = (0..graph.vertices() as u32).collect();
    graph.ids_of(&all).unwrap().iter().map(|id| id.to_string().parse().unwrap()).collect()
}

/// The edges of the input between vertices of the image, in both directions, with their weights; and how often vertices
/// have one.
fn edges(graph: &Graph) -> Vec<(u32, u32, f64)> {
    let mut vertices = vec![0; graph.vertices() as usize];
    (0..).zip(ids(graph)).for_each(|(vertex, id)| vertices[id as usize] = vertex);
    let found = Mutex::new(Vec::new());
    for_each_edges(graph.runtime(), &OPTIONS, |ids, weights| {
        let BatchWeights::Real(weights) = weights else { panic!("weights are real") };
        let edges = ids.chunks_exact(2).zip(weights).map(|(ends, &weight)| (ends[0], ends[1], weight));
        let numbered = |(one, other, weight)| (vertices[one as usize], vertices[other as usize], weight);
        found.lock().unwrap().extend(edges.map(numbered));
    })
    .unwrap();
    found.into_inner().unwrap()
}

#[test]
fn roots_have_edges_and_depend_on_ids_alone() {
    let directory = tempfile::tempdir().unwrap();
    let graphs = [OrderChoice::Input, OrderChoice::Degree].map(|order| graph500(directory.path(), order));
    let chosen = graphs.each_ref().map(|graph| {
        let ids = ids(graph);
        roots(graph, 3, 20).unwrap().into_iter().map(|root| ids[root as usize]).collect::<Vec<_>>()
    });
    assert_eq!(chosen[0], chosen[1]);
    let edges = edges(&graphs[0]);
    let with_edges: BTreeSet<u32> =
        edges.iter().filter(|(one, other, _)| one != other).flat_map(|&(one, other, _)| [one, other]).collect();
    assert!(with_edges.len() < 1 << OPTIONS.scale, "some vertices are isolated");
    let all: BTreeSet<u32> = roots(&graphs[0], 3, 1000).unwrap().into_iter().collect();
    assert_eq!(all, with_edges);
    assert_eq!(chosen[0].iter().collect::<BTreeSet<_>>().len(), 20);
    assert_ne!(roots(&graphs[0], 4, 20).unwrap(), roots(&graphs[0], 3, 20).unwrap());
}

#[test]
fn trees_of_searches_are_accepted_with_every_right_parent_and_no_other() {
    let directory = tempfile::tempdir().unwrap();
    for order in [OrderChoice::Input, OrderChoice::Degree] {
        let graph = graph500(directory.path(), order);
        let edges = edges(&graph);
        for root in roots(&graph, 1, 2).unwrap() {
            let mut found = bfs(&graph, &BfsOptions { source: root, ..BfsOptions::default() }).unwrap();
            let traversed = edges.iter().filter(|(one, ..)| found.level(*one).is_some()).count() as u64;
            assert!(traversed > 100);
            assert_eq!(verify_bfs(&graph, &OPTIONS, root, &found).unwrap(), traversed);
            let levels: Vec<_> = found.levels().collect();
            for vertex in 0..graph.vertices() as u32 {
                let v = vertex as usize;
                let (level, parent) = (found.stored().0[v], found.stored().1[v]);
                let joins = |above: u32| {
                    let joins = |one, other| one == above && other == vertex && levels[above as usize].is_some();
                    edges.iter().any(|&(one, other, _)| joins(one, other) || joins(other, one))
                };
                for above in (0..graph.vertices() as u32).filter(|&above| !above != parent) {
                    found.stored().1[v] = !above;
                    let right = level > 1 && found.level(above) == Some(level - 2) && joins(above);
                    let accepted = verify_bfs(&graph, &OPTIONS, root, &found).is_ok();
                    assert_eq!(accepted, right, "vertex {vertex} with parent {above}");
                }
                for (level_, parent_) in [(level + 1, parent), (level.wrapping_sub(1), parent), (0, 0), (1, !vertex)] {
                    if (level_, parent_) != (level, parent) {
                        (found.stored().0[v], found.stored().1[v]) = (level_, parent_);
                        let error = verify_bfs(&graph, &OPTIONS, root, &found).expect_err("another level");
                        assert!(matches!(error, Error::Verification { .. }) && error.to_string().contains("vertex"));
                    }
                }
                (found.stored().0[v], found.stored().1[v]) = (level, parent);
            }
        }
    }
}

#[test]
fn shortest_paths_are_accepted_with_every_right_parent_and_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let graph = graph500(directory.path(), OrderChoice::Degree);
    let edges = edges(&graph);
    let root = roots(&graph, 1, 1).unwrap()[0];
    let search = SsspOptions { source: root, weights: true, delta: None };
    let mut found = sssp(&graph, &search).unwrap();
    let verify = |found: &outcore_algo::Sssp| verify_sssp(&graph, &OPTIONS, &search, found);
    assert_eq!(verify(&found).unwrap(), edges.iter().filter(|(one, ..)| found.distance(*one).is_some()).count() as u64);
    for vertex in 0..graph.vertices() as u32 {
        let v = vertex as usize;
        let before = found.stored().1[v];
        for above in (0..graph.vertices() as u32).filter(|&above| !above != before) {
            found.stored().1[v] = !above;
            let joins = |one, other, weight| {
                let offered = found.distance(above).map(|distance| distance + weight);
                one == above && other == vertex && offered.is_some() && offered == found.distance(vertex)
            };
            let right = edges.iter().any(|&(one, other, w)| joins(one, other, w) || joins(other, one, w));
            assert_eq!(verify(&found).is_ok(), vertex != root && right, "vertex {vertex} with parent {above}");
        }
        found.stored().1[v] = before;
        let before = found.stored().0[v];
        let Some(bits) = distance_bits(before) else { continue };
        for wrong in [bits + 1, bits.wrapping_sub(1), 0f64.to_bits(), 1e9f64.to_bits()] {
            if wrong != bits {
                found.stored().0[v] = !wrong;
                verify(&found).expect_err("another distance");
            }
        }
        found.stored().0[v] = before;
    }
    verify(&found).unwrap();
    let unweighted = SsspOptions { source: root, weights: false, delta: None };
    verify_sssp(&graph, &OPTIONS, &unweighted, &sssp(&graph, &unweighted).unwrap()).unwrap();
    verify_sssp(&graph, &OPTIONS, &unweighted, &found).expect_err("distances of another kind");
    let another = GenerateOptions { seed: 6, ..OPTIONS };
    verify_sssp(&graph, &another, &search, &found).expect_err("edges of another graph");
    let larger = GenerateOptions { scale: 7, ..OPTIONS };
    let error = verify_sssp(&graph, &larger, &search, &found).expect_err("another number of vertices").to_string();
    assert!(error.contains("expected an undirected graph of 128 vertices"), "{error}");
}

/// A graph of 40 vertices whose image does not have them in the order of their ids, or has.
fn small(directory: &std::path::Path, order: OrderChoice) -> Graph {
    let edges = (0..20).map(|i| (39 - i % 7, i)).chain((20..30).map(|i| (i, i + 1)));
    let graph = open(&Given::new(40, edges.collect(), false).image(directory, order), 2, None, None);
    assert_eq!(graph.manifest().order == Order::Input, order == OrderChoice::Input);
    graph
}

#[test]
fn references_are_compared_vertex_by_vertex_in_any_order() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("reference");
    for order in [OrderChoice::Input, OrderChoice::Degree] {
        let graph = small(directory.path(), order);
        let ids = ids(&graph);
        let found = bfs(&graph, &BfsOptions::default()).unwrap();
        let levels: Vec<_> = found.levels().collect();
        let level = |v: usize| levels[v].map_or(-1, i64::from);
        let mut lines: Vec<String> =
            (0..40).map(|v| format!("{} {}", ids[v], if level(v) < 0 { i64::MAX } else { level(v) })).collect();
        let column = found.into_table(&graph).unwrap().columns()[0].1.clone();
        let verify = |lines: &[String]| {
            std::fs::write(&file, lines.join("\n")).unwrap();
            verify_output(&graph, &column, &file)
        };
        verify(&lines).unwrap();
        lines.reverse();
        verify(&lines).unwrap();
        lines.sort_by_key(|line| line.split(' ').next().unwrap().parse::<u32>().unwrap());
        verify(&lines).unwrap();
        let refused = |lines: &[String], what: &str| {
            let error = verify(lines).expect_err(what);
            assert!(matches!(error, Error::Verification { .. }), "{error}");
            assert!(error.to_string().contains(what), "{what}: {error}");
        };
        for i in 0..40 {
            let with = |text: String| [&lines[..i], &[text], &lines[i + 1..]].concat();
            refused(&[&lines[..i], &lines[i + 1..]].concat(), &format!("none for {i}"));
            refused(&with(format!("{i} 17")), &format!("expected 17 at vertex {i} ({}:{}", file.display(), i + 1));
            refused(&with(format!("{i} x")), "expected x at vertex");
            refused(&with("40 1".into()), "found 40");
            refused(&with(lines[(i + 1) % 40].clone()), "again");
            for garbage in ["", "7", "1 2 3", "a 1", &"9".repeat(5000)] {
                // The file's last line may be empty.
                if i < 39 || !garbage.is_empty() {
                    refused(&with(garbage.into()), "expected a vertex and a value");
                }
            }
        }
        refused(&[&lines[..], &["0 0".into()]].concat(), "again");
        let missing = verify_output(&graph, &column, &directory.path().join("none")).unwrap_err().to_string();
        assert!(missing.contains("cannot open"), "{missing}");
    }
}

#[test]
fn components_may_have_any_names_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("reference");
    for order in [OrderChoice::Input, OrderChoice::Degree] {
        let graph = small(directory.path(), order);
        let found = components(&graph, &ComponentsOptions::default()).unwrap();
        assert!(found.count > 3);
        let ids = ids(&graph);
        let labels: Vec<i64> = found.labels.iter().map(|&label| label.into()).collect();
        let column = found.into_table(&graph).unwrap().columns()[0].1.clone();
        let verify = |names: &[i64]| {
            let lines = ids.iter().zip(names).map(|(id, name)| format!("{id} {name}\n"));
            std::fs::write(&file, lines.collect::<String>()).unwrap();
            verify_output(&graph, &column, &file)
        };
        verify(&labels).unwrap();
        verify(&labels.iter().map(|label| 20 - label * 7).collect::<Vec<_>>()).unwrap();
        for vertex in 0..40 {
            for other in (0..40).map(|v| labels[v]).chain([-1]) {
                let mut names = labels.clone();
                names[vertex] = other;
                let alone = labels.iter().filter(|&&label| label == labels[vertex]).count() == 1;
                let right = other == labels[vertex] || (alone && other == -1);
                assert_eq!(verify(&names).is_ok(), right, "vertex {vertex} in {other}");
            }
        }
    }
}

#[test]
fn real_numbers_may_be_off_by_a_ten_thousandth() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("reference");
    let graph = open(&Given::new(1, Vec::new(), true).image(directory.path(), OrderChoice::Input), 1, None, None);
    let budget = graph.runtime().budget();
    let real = |value: f64| {
        let mut values = Buffer::<f64>::zeroed(budget, "test", 1).unwrap();
        values[0] = value;
        Column::Real(Arc::new(values))
    };
    let distance = |stored: u64, kind| {
        let mut values = Buffer::<u64>::zeroed(budget, "test", 1).unwrap();
        values[0] = stored;
        Column::Distance(Arc::new(values), kind)
    };
    let label = Column::Label(Arc::new(Buffer::<u32>::zeroed(budget, "test", 1).unwrap()));
    use outcore_format::WeightKind::{F64, I64};
    let unreached = || distance(0, F64);
    for (column, value, right) in [
        (real(2.0), "2.0001", true),
        (real(2.0), "1.9999", true),
        (real(2.0), "2.0003", false),
        (real(2.0), "1.9997", false),
        (real(2.0), "2e0", true),
        (real(2.0), "infinity", false),
        (real(0.0), "0.000000000000000e+00", true),
        (real(1e-9), "0", false),
        (real(2.0), "nan", false),
        (real(f64::NAN), "nan", false),
        (unreached(), "infinity", true),
        (unreached(), "Infinity", true),
        (unreached(), "1e308", false),
        (distance(!2.5f64.to_bits(), F64), "2.5001", true),
        (distance(!2.5f64.to_bits(), F64), "2.6", false),
        (distance(!3, I64), "3", true),
        (distance(!3, I64), "4", false),
        (label.clone(), "0", true),
        (label, "1", false),
    ] {
        std::fs::write(&file, format!("0 {value}\n")).unwrap();
        assert_eq!(verify_output(&graph, &column, &file).is_ok(), right, "{value}");
    }
}
