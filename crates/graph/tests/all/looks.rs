//! Looks at single vertices and edges: what they read, and the memory that they reserve.

use crate::common;

use common::{Model, ModelIds, Random, open, open_under};
use outcore_format::Order;
use outcore_format::WeightKind;
use outcore_graph::{Direction, EdgesFrom, Graph};
use outcore_image::{Error, ImageOptions};
use outcore_io::{Runtime, RuntimeOptions};
use outcore_testkit::Hooked;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A vertex with edges to all others, which fit few pages, and a path through them.
fn hub(vertices: u32) -> Model {
    let edges = (1..vertices).map(|v| (0, v, 1.0)).chain((2..vertices).map(|v| (v - 1, v, 1.0))).collect();
    let (ids, order) = (ModelIds::Range(0), Order::Input);
    Model { ids, vertices: vertices as usize, edges, directed: true, weights: None, order }
}

#[test]
fn the_second_look_reads_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let image = hub(30_000).write(directory.path());
    type Look = fn(&outcore_graph::Graph, u32) -> u64;
    let looks: [Look; 3] = [
        |graph, v| graph.degree(v).unwrap().all,
        |graph, v| graph.neighbours(v, Direction::Out).unwrap().len() as u64,
        |graph, v| graph.edges_between(v, v + 1).unwrap(),
    ];
    for look in looks {
        let graph = open(&image, 2);
        let (first, bytes) = (look(&graph, 777), graph.runtime().bytes_read());
        assert!(bytes > 0 && first > 0);
        assert_eq!(look(&graph, 777), first);
        assert_eq!(look(&graph, 778), first, "in the same page");
        assert_eq!(graph.runtime().bytes_read(), bytes, "pages are in the cache");
    }
}

#[test]
fn the_edges_of_a_vertex_are_reserved_however_many_a_page_holds() {
    let directory = tempfile::tempdir().unwrap();
    let vertices = 60_000;
    let image = hub(vertices).write(directory.path());
    // A page that few neighbours could fill is enough for all of them.
    let graph = open(&image, 1);
    assert!(graph.pages(Direction::Out) * 2048 < u64::from(vertices), "{} pages", graph.pages(Direction::Out));
    let edges = EdgesFrom::new(&graph).unwrap();
    assert_eq!(edges.of(0).unwrap().num_rows(), vertices as usize - 1);
    assert_eq!(edges.between(0, 59_999).unwrap().unwrap().num_rows(), 1);
    assert!(edges.between(59_999, 0).unwrap().is_none());

    let graph = open_under(&image, 1, 32 << 20);
    let edges = EdgesFrom::new(&graph).unwrap();
    let budget = graph.runtime().budget();
    let _others = budget.reserve("others", budget.available_bytes() - (12 << 20)).unwrap();
    match edges.of(0) {
        Err(Error::Memory { purpose, needed_bytes, .. }) => {
            assert_eq!(purpose, "the edges from a vertex");
            assert!(needed_bytes > 250 * u64::from(vertices), "{needed_bytes} bytes");
        }
        other => panic!("expected a refusal, found {:?}", other.map(|rows| rows.num_rows())),
    }
    assert_eq!(edges.of(5).unwrap().num_rows(), 1, "of few edges few are reserved");
    assert_eq!(edges.between(0, 7).unwrap().unwrap().num_rows(), 1);
}

#[test]
fn files_are_opened_once_however_many_vertices_are_looked_at() {
    let directory = tempfile::tempdir().unwrap();
    let model = Model::random(5, 20_000, 60_000, true, true).with_weights(WeightKind::I64);
    let image = model.with_ids(Model::text_ids(20_000)).write(directory.path());
    let queues_of = |vertices: u32| {
        // One for every ring that is set up.
        let queues = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&queues);
        let count = move || _ = counted.fetch_add(1, Ordering::Relaxed);
        let backend = Hooked { queue: Some(Box::new(count)), ..Hooked::default() };
        let options = RuntimeOptions { threads: Some(2), backend: Some(Arc::new(backend)), ..Default::default() };
        let graph = Graph::open(&Runtime::new(options).unwrap(), &image, ImageOptions::default()).unwrap();
        let graph = graph;
        let edges = EdgesFrom::new(&graph).unwrap();
        let mut random = Random(9);
        for _ in 0..vertices {
            let vertex = random.below(20_000) as u32;
            let rows = edges.of(vertex).unwrap();
            let neighbours = graph.neighbours(vertex, Direction::Out).unwrap();
            assert_eq!(rows.num_rows(), neighbours.len());
            for neighbour in neighbours {
                assert!(edges.between(vertex, neighbour.vertex).unwrap().is_some());
            }
        }
        queues.load(Ordering::Relaxed)
    };
    assert_eq!(queues_of(1), queues_of(200));
}
