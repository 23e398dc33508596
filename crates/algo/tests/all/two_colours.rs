//! Two colours of the vertices, against searches in memory, and in many components.

use crate::engine::*;
use outcore_algo::{TwoColours, two_colours};
use outcore_graph::Direction;
use outcore_graph::import::OrderChoice;
use outcore_testkit::random_below;

/// Whether a graph is bipartite, by one search after the other.
fn is_bipartite(vertices: u32, edges: &[(u32, u32)]) -> bool {
    let mut colours = vec![0; vertices as usize];
    for first in 0..vertices as usize {
        let mut waiting = if colours[first] == 0 { vec![first as u32] } else { Vec::new() };
        waiting.iter().for_each(|&vertex| colours[vertex as usize] = 1);
        while let Some(vertex) = waiting.pop() {
            for &(one, other) in edges.iter().filter(|(one, other)| *one == vertex || *other == vertex) {
                let neighbour = if one == vertex { other } else { one };
                if colours[neighbour as usize] == 0 {
                    colours[neighbour as usize] = 3 - colours[vertex as usize];
                    waiting.push(neighbour);
                } else if colours[neighbour as usize] == colours[vertex as usize] {
                    return false;
                }
            }
        }
    }
    true
}

fn coloured(given: &Given, threads: usize) -> TwoColours {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(&given.image(directory.path(), OrderChoice::Degree), threads, None, None);
    two_colours(&graph).unwrap()
}

#[test]
fn colours_are_those_of_searches() {
    let (mut state, mut counts) = (1, [0; 2]);
    for round in 0..60 {
        let vertices = 2 + random_below(&mut state, 40) as u32;
        let mut draw = || random_below(&mut state, vertices.into()) as u32;
        let mut edges: Vec<(u32, u32)> = (0..vertices).map(|_| (draw(), draw())).collect();
        if round % 2 == 0 {
            // Edges between even and odd numbers alone.
            edges.retain(|(one, other)| (one + other) % 2 == 1);
        }
        let expected = is_bipartite(vertices, &edges);
        let found = coloured(&Given::new(vertices, edges.clone(), false), 1 + round % 3);
        assert_eq!(found.is_bipartite, expected, "{vertices} vertices, {edges:?}");
        counts[usize::from(expected)] += 1;
        if expected {
            assert!(found.colours().all(|colour| matches!(colour, Some(0 | 1))));
        }
    }
    assert!(counts[0] > 10 && counts[1] > 10, "{counts:?}");
}

#[test]
fn as_many_components_as_there_are_take_as_few_steps_as_one() {
    // Circles of four vertices: no tree, so each has to be searched.
    let circles = 100_000;
    let circle = |first: u32| (0..4).map(move |i| (first + i, first + (i + 1) % 4));
    let edges: Vec<(u32, u32)> = (0..circles).flat_map(|i| circle(4 * i)).collect();
    let directory = tempfile::tempdir().unwrap();
    let image = Given::new(4 * circles, edges, false).image(directory.path(), OrderChoice::Input);
    let graph = open(&image, 2, None, None);
    let found = two_colours(&graph).unwrap();
    assert!(found.is_bipartite && found.stats.steps.len() <= 3, "{} steps", found.stats.steps.len());
    let pages = found.stats.total.pages_wanted;
    assert!(pages <= 4 * graph.pages(Direction::Out), "{pages} pages of {}", graph.pages(Direction::Out));
}
