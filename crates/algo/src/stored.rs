//! An optional number per vertex, which workers set at the same time.
//!
//! *Encoding.* A number is stored as its bitwise complement, and 0 is none. So zeroed memory holds no numbers, and the
//! smallest number has the greatest stored value, which wins a `fetch_max`. The greatest number of the type cannot be
//! stored: it would be none.

use crate::state::{Layout, array};
use outcore_graph::Graph;
use outcore_io::Array;
use outcore_io::buffer::Plain;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// One optional number per vertex, in memory of the atomic type `T`.
pub(crate) struct Stored<T: Plain>(Array<T>);

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

            /// Whether a vertex has a number.
            #[inline]
            pub fn has(&self, vertex: u32) -> bool {
                self.or_greatest(vertex) != <$number>::MAX
            }

            /// Sets the number of a vertex.
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
            pub fn into_values(self) -> Array<$number> {
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
