//! From where searches start: given vertices, some that are drawn, or all.

use outcore_graph::{Error, Graph, Id, IdStream, Result};
use std::collections::BinaryHeap;

/// From where searches start.
#[derive(Clone, Debug)]
pub enum Sources {
    /// From every vertex.
    All,
    /// From these vertices, as numbered in the image.
    Given(Vec<u32>),
    /// From so many vertices, or all if there are fewer, drawn evenly and without repetition. The same seed draws the same ids, whatever the order of
    /// the image.
    Drawn {
        /// How many.
        count: u64,
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
            Sources::Drawn { count, .. } => graph.vertices().min(*count),
        }
    }

    /// The memory that finding them takes, in bytes.
    pub(crate) fn bytes(&self, graph: &Graph) -> u64 {
        match self {
            Sources::Drawn { .. } => 20 * self.count(graph) + IdStream::bytes(),
            _ => 4 * self.count(graph),
        }
    }

    /// The vertices, as numbered in the image.
    pub(crate) fn vertices(&self, graph: &Graph) -> Result<Vec<u32>> {
        match self {
            Sources::All => Ok((0..graph.vertices() as u32).collect()),
            Sources::Given(vertices) => {
                check_vertices(graph, "source", vertices)?;
                Ok(vertices.clone())
            }
            Sources::Drawn { seed, .. } => draw(graph, self.count(graph) as usize, *seed),
        }
    }
}

/// An error unless the graph has all of these vertices.
pub(crate) fn check_vertices(graph: &Graph, what: &str, vertices: &[u32]) -> Result<()> {
    match vertices.iter().find(|&&vertex| u64::from(vertex) >= graph.vertices()) {
        Some(vertex) => Err(Error::Usage(format!("expected a {what} below {}, found {vertex}", graph.vertices()))),
        None => Ok(()),
    }
}

/// The vertices whose ids, mixed with the seed, come to the least numbers.
fn draw(graph: &Graph, count: usize, seed: u64) -> Result<Vec<u32>> {
    let mut least = BinaryHeap::with_capacity(count + 1);
    let start = mix(seed, 0);
    let mut ids = IdStream::new(graph)?;
    while let Some((first, batch)) = ids.next()? {
        for (vertex, i) in (first as u32..).zip(0..batch.len()) {
            let mixed = match batch.get(i) {
                Id::Unsigned(id) => mix(start, id),
                Id::Signed(id) => mix(start, id as u64),
                Id::Text(text) => text.bytes().fold(start, |state, byte| mix(state, byte.into())),
            };
            if least.len() < count || least.peek().is_some_and(|&most| (mixed, vertex) < most) {
                least.push((mixed, vertex));
                if least.len() > count {
                    least.pop();
                }
            }
        }
    }
    Ok(least.into_sorted_vec().into_iter().map(|(_, vertex)| vertex).collect())
}

/// A well-mixed number of two (Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014).
fn mix(state: u64, value: u64) -> u64 {
    let mut z = state.wrapping_add(value).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
