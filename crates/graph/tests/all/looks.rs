//! Looks at single vertices and edges: what they read, and the memory that they reserve.

use crate::common;

use common::{Model, ModelIds, open};
use outcore_format::Order;
use outcore_graph::Direction;

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
