//! An optional number per vertex, which workers set at the same time.
//!
//! *Encoding.* A number is stored as its bitwise complement, and 0 is none. So zeroed memory holds no numbers, and the
//! smallest number has the greatest stored value, which wins a `fetch_max`. The greatest number of the type cannot be
//! stored: it would be none. The parents of a search are stored so, and the source is its own parent.

use crate::state::{Layout, array};
use outcore_graph::Graph;
use outcore_image::Result;
use outcore_io::Buffer;
use outcore_io::buffer::Plain;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// One optional number per vertex, in memory of the atomic type `T`.
pub(crate) struct Stored<T: Plain>(Buffer<T>);

macro_rules! stored {
    ($atomic:ty, $number:ty) => {
        impl Stored<$atomic> {
            /// No number for any vertex.
            pub fn layout(graph: &Graph, name: &'static str) -> impl Layout<Made = Self> {
                array(graph, name, graph.vertices()).then(|values| Ok(Stored(values)))
            }

            /// The number of a vertex, or the greatest number of the type if it has none.
            #[inline]
            pub fn or_greatest(&self, vertex: u32) -> $number {
                !self.0[vertex as usize].load(Relaxed)
            }

            #[inline]
            pub fn has(&self, vertex: u32) -> bool {
                self.or_greatest(vertex) != <$number>::MAX
            }

            #[inline]
            pub fn set(&self, vertex: u32, number: $number) {
                self.0[vertex as usize].store(!number, Relaxed);
            }

            /// Sets a number unless the vertex has one that is at most as great; returns whether it did.
            #[inline]
            pub fn lower(&self, vertex: u32, number: $number) -> bool {
                self.0[vertex as usize].fetch_max(!number, Relaxed) < !number
            }

            /// The stored values: complements of the numbers, and 0 for none.
            pub fn into_values(self) -> Buffer<$number> {
                self.0.into_values()
            }
        }
    };
}

stored!(AtomicU32, u32);
stored!(AtomicU64, u64);

impl Stored<AtomicU64> {
    /// The memory of the numbers, for prefetching.
    #[inline]
    pub fn memory(&self) -> &[AtomicU64] {
        &self.0
    }
}

pub(crate) fn parent(parents: &[u32], vertex: u32) -> Option<u32> {
    number(parents.get(vertex as usize))
}

/// The numbers of all vertices, such as their parents.
pub(crate) fn numbers(stored: &[u32]) -> impl ExactSizeIterator<Item = Option<u32>> {
    stored.iter().map(|stored| number(Some(stored)))
}

fn number(stored: Option<&u32>) -> Option<u32> {
    stored.filter(|&&stored| stored != 0).map(|stored| !stored)
}

/// The vertices on the path from the source to a vertex, both ends included, if there is one.
///
/// # Errors
/// A vertex that the graph does not have; no room for the path: 4 bytes per vertex on it.
pub(crate) fn path(graph: &Graph, parents: &[u32], target: u32) -> Result<Option<Vec<u32>>> {
    graph.check_vertex(target)?;
    if parent(parents, target).is_none() {
        return Ok(None);
    }
    // Parents never run in a circle, except that the source is its own.
    let before = |&vertex: &u32| parent(parents, vertex).filter(|&parent| parent != vertex);
    let steps = || std::iter::successors(Some(target), before);
    graph.make_room("a path", 4 * steps().count() as u64)?;
    let mut path: Vec<u32> = steps().collect();
    path.reverse();
    Ok(Some(path))
}
