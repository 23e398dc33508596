//! From where searches start: given vertices, some that are drawn, or all.

use outcore_graph::generate::mix;
use outcore_graph::{Error, Graph, Id, IdStream, Result};
use std::collections::BinaryHeap;

/// From where searches start.
#[derive(Clone, Debug)]
pub enum Sources {
    /// From every vertex.
    All,
    /// From these vertices, as numbered in the image.
    Given(Vec<u32>),
    /// From so many vertices, or all if there are fewer, drawn evenly and without repetition. The same seed draws the
    /// same ids, whatever the order of the image.
    Drawn {
        /// How many.
        k: u64,
        /// Other seeds draw others.
        seed: u64,
    },
}

impl Sources {
    /// How many they are.
    pub fn count(&self, graph: &Graph) -> u64 {
        match self {
            Sources::All => graph.vertices(),
            Sources::Given(vertices) => vertices.len() as u64,
            Sources::Drawn { k, .. } => graph.vertices().min(*k),
        }
    }

    /// The memory that finding them takes, in bytes.
    pub(crate) fn bytes(&self, graph: &Graph) -> u64 {
        match self {
            Sources::Drawn { .. } => 20 * self.count(graph) + IdStream::bytes(graph),
            _ => 4 * self.count(graph),
        }
    }

    /// The vertices, as numbered in the image.
    pub(crate) fn vertices(&self, graph: &Graph) -> Result<Vec<u32>> {
        match self {
            Sources::All => Ok((0..graph.vertices() as u32).collect()),
            Sources::Given(vertices) => {
                check_vertices(graph, vertices)?;
                Ok(vertices.clone())
            }
            Sources::Drawn { seed, .. } => draw(graph, self.count(graph) as usize, *seed),
        }
    }
}

/// An error unless the graph has all of these vertices.
pub(crate) fn check_vertices(graph: &Graph, vertices: &[u32]) -> Result<()> {
    match vertices.iter().find(|&&vertex| u64::from(vertex) >= graph.vertices()) {
        Some(&vertex) => Err(Error::NoVertex { vertex: vertex.into(), vertices: graph.vertices() }),
        None => Ok(()),
    }
}

/// The vertices whose ids, mixed with the seed, come to the least numbers.
fn draw(graph: &Graph, count: usize, seed: u64) -> Result<Vec<u32>> {
    let mixed = |state: u64, value: u64| mix(state.wrapping_add(value));
    let start = mixed(seed, 0);
    let mut least = Least::new(count);
    let mut ids = IdStream::new(graph)?;
    while let Some((first, batch)) = ids.next()? {
        for (vertex, id) in (first as u32..).zip(batch.iter()) {
            least.offer(
                vertex,
                match id {
                    Id::Unsigned(id) => mixed(start, id),
                    Id::Signed(id) => mixed(start, id as u64),
                    Id::Text(text) => text.bytes().fold(start, |state, byte| mixed(state, byte.into())),
                },
            );
        }
    }
    Ok(least.vertices())
}

/// The vertices that draw the least numbers.
pub(crate) struct Least {
    count: usize,
    drawn: BinaryHeap<(u64, u32)>,
}

impl Least {
    /// None yet, and so many at most.
    pub fn new(count: usize) -> Self {
        Least { count, drawn: BinaryHeap::with_capacity(count + 1) }
    }

    /// A vertex draws a number.
    pub fn offer(&mut self, vertex: u32, number: u64) {
        let drawn = (number, vertex);
        if self.drawn.len() < self.count || self.drawn.peek().is_some_and(|&most| drawn < most) {
            self.drawn.push(drawn);
            if self.drawn.len() > self.count {
                self.drawn.pop();
            }
        }
    }

    /// Those with the least numbers, by these.
    pub fn vertices(self) -> Vec<u32> {
        self.drawn.into_sorted_vec().into_iter().map(|(_, vertex)| vertex).collect()
    }
}
