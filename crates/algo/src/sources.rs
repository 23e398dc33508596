//! The sources of searches: given vertices, vertices that are drawn, or all.

use crate::state::{Layout, array, reservation};
use outcore_graph::Graph;
use outcore_image::{Error, Result};
use outcore_io::{Buffer, Reservation, split_mix};
use outcore_table::{Id, IdStream};
use std::collections::BinaryHeap;

/// The sources of searches.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Sources {
    /// From every vertex.
    All,
    /// From these vertices, as numbered in the image.
    Given(Vec<u32>),
    /// From `k` vertices, or all if there are fewer, drawn evenly and without repetition. The same seed draws the same
    /// ids, whatever the order of the image.
    Drawn {
        /// The number of vertices.
        k: u64,
        /// Other seeds draw others.
        seed: u64,
    },
}

impl Sources {
    /// The number of sources.
    pub fn count(&self, graph: &Graph) -> u64 {
        match self {
            Sources::All => graph.vertices(),
            Sources::Given(vertices) => vertices.len() as u64,
            Sources::Drawn { k, .. } => graph.vertices().min(*k),
        }
    }

    fn layout(&self, graph: &Graph) -> impl Layout<Made = Buffer<u32>> {
        array(graph, "sources", self.count(graph))
    }

    /// The memory of the sources and of drawing them, in bytes.
    pub(crate) fn bytes(&self, graph: &Graph) -> u64 {
        let sources = self.layout(graph);
        match self {
            Sources::Drawn { .. } => {
                (sources, drawing(graph, self.count(graph))).bytes().saturating_add(IdStream::bytes(graph.image()))
            }
            // A copy is sorted, to find one that is given twice.
            Sources::Given(_) => (sources, self.layout(graph)).bytes(),
            Sources::All => sources.bytes(),
        }
    }

    /// The vertices, as numbered in the image.
    pub(crate) fn vertices(&self, graph: &Graph) -> Result<Buffer<u32>> {
        let mut sources = self.layout(graph).make()?;
        match self {
            Sources::All => sources.iter_mut().zip(0..).for_each(|(slot, vertex)| *slot = vertex),
            Sources::Given(vertices) => {
                check_vertices(graph, vertices)?;
                sources.copy_from_slice(vertices);
            }
            Sources::Drawn { seed, .. } => sources.copy_from_slice(&draw(graph, self.count(graph), *seed)?),
        }
        Ok(sources)
    }

    /// An error if a source is given twice.
    pub(crate) fn check_once(&self, graph: &Graph) -> Result<()> {
        let Sources::Given(vertices) = self else { return Ok(()) };
        let mut sorted = self.layout(graph).make()?;
        sorted.copy_from_slice(vertices);
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => {
                let id = graph.id(pair[0])?;
                Err(Error::Usage(format!("expected every source once, found {id} twice; leave one out")))
            }
            None => Ok(()),
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

/// The memory that drawing `count` sources takes.
fn drawing(graph: &Graph, count: u64) -> impl Layout<Made = Reservation> {
    reservation(graph, "drawing sources", 16 * count)
}

/// The vertices whose ids have the smallest hashes, which depend on the seed.
fn draw(graph: &Graph, count: u64, seed: u64) -> Result<Vec<u32>> {
    let _reservation = drawing(graph, count).make()?;
    let mixed = |state: u64, value: u64| split_mix(state.wrapping_add(value));
    let start = mixed(seed, 0);
    let mut smallest = Smallest::new(count as usize);
    let mut ids = IdStream::new(graph.image())?;
    while let Some((first, batch)) = ids.next()? {
        for (vertex, id) in (first as u32..).zip(batch.iter()) {
            let hash = match id {
                Id::Unsigned(id) => mixed(start, id),
                Id::Signed(id) => mixed(start, id as u64),
                Id::Text(text) => text.bytes().fold(start, |state, byte| mixed(state, byte.into())),
            };
            smallest.offer((hash, vertex));
        }
    }
    Ok(smallest.into_sorted().map(|(_, vertex)| vertex).collect())
}

/// The smallest of the values that were offered, at most `most` of them; the greatest of these is on top of the heap.
pub(crate) struct Smallest<T> {
    pub most: usize,
    pub heap: BinaryHeap<T>,
}

impl<T: Ord> Smallest<T> {
    pub fn new(most: usize) -> Self {
        Smallest { most, heap: BinaryHeap::with_capacity(most) }
    }

    /// Whether a value would be among the smallest.
    pub fn admits(&self, value: &T) -> bool {
        self.heap.len() < self.most || self.heap.peek().is_some_and(|greatest| value < greatest)
    }

    pub fn offer(&mut self, value: T) {
        if self.admits(&value) {
            if self.heap.len() == self.most {
                self.heap.pop();
            }
            self.heap.push(value);
        }
    }

    /// The values in rising order.
    pub fn into_sorted(self) -> impl Iterator<Item = T> {
        self.heap.into_sorted_vec().into_iter()
    }
}
