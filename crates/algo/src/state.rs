//! The state of a kernel, declared once: its parts, their memory and how they are made.
//!
//! A layout is a tuple of parts. An estimate takes its bytes and drops it; the kernel makes it. So the estimate equals
//! the allocation.

use outcore_graph::{Bitmap, Direction, Graph};
use outcore_image::{Result, SweepStats};
use outcore_io::buffer::Plain;
use outcore_io::{Buffer, Reservation};
use std::sync::atomic::AtomicU32;

/// The state of a kernel: its parts with their memory.
pub(crate) trait Layout {
    /// The arrays and sets that the parts become.
    type Made;

    /// The memory of all parts, in bytes.
    fn bytes(&self) -> u64;

    /// Makes the parts, one after the other.
    fn make(self) -> Result<Self::Made>;

    /// A layout that builds another value from the parts, without further memory.
    fn then<T>(self, make: impl FnOnce(Self::Made) -> Result<T>) -> impl Layout<Made = T>
    where
        Self: Sized,
    {
        part(self.bytes(), move || make(self.make()?))
    }
}

struct Part<F> {
    bytes: u64,
    make: F,
}

/// A part of `bytes` bytes that something else makes.
pub(crate) fn part<T>(bytes: u64, make: impl FnOnce() -> Result<T>) -> impl Layout<Made = T> {
    Part { bytes, make }
}

/// An array of `len` zeroed values.
pub(crate) fn array<T: Plain>(graph: &Graph, name: &'static str, len: u64) -> impl Layout<Made = Buffer<T>> {
    let bytes = len.saturating_mul(size_of::<T>() as u64);
    part(bytes, move || Buffer::zeroed(graph.runtime().budget(), name, len as usize))
}

/// An empty set of numbers below `most`.
pub(crate) fn bitmap(graph: &Graph, name: &'static str, most: u64) -> impl Layout<Made = Bitmap> {
    part(Bitmap::bytes(most), move || Bitmap::new(graph.runtime().budget(), name, most))
}

/// Memory that is reserved for something that does not reserve its own.
pub(crate) fn reservation(graph: &Graph, purpose: &'static str, bytes: u64) -> impl Layout<Made = Reservation> {
    part(bytes, move || graph.runtime().budget().reserve(purpose, bytes))
}

/// The length of every list of a direction, read from its column.
pub(crate) fn degrees(graph: &Graph, direction: Direction) -> impl Layout<Made = (Buffer<AtomicU32>, SweepStats)> {
    part(4 * graph.vertices(), move || graph.degrees(direction))
}

/// The hub of every list of a direction, read from its column.
pub(crate) fn hubs(graph: &Graph, direction: Direction) -> impl Layout<Made = (Buffer<AtomicU32>, SweepStats)> {
    part(4 * graph.vertices(), move || graph.hubs(direction))
}

impl<T, F: FnOnce() -> Result<T>> Layout for Part<F> {
    type Made = T;

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn make(self) -> Result<T> {
        (self.make)()
    }
}

impl<L: Layout> Layout for Vec<L> {
    type Made = Vec<L::Made>;

    fn bytes(&self) -> u64 {
        self.iter().map(Layout::bytes).sum()
    }

    fn make(self) -> Result<Vec<L::Made>> {
        self.into_iter().map(Layout::make).collect()
    }
}

macro_rules! layout_of_parts {
    ($($part:ident),*) => {
        impl<$($part: Layout),*> Layout for ($($part,)*) {
            type Made = ($($part::Made,)*);

            fn bytes(&self) -> u64 {
                #[allow(non_snake_case)]
                let ($($part,)*) = self;
                0u64 $(.saturating_add($part.bytes()))*
            }

            fn make(self) -> Result<Self::Made> {
                #[allow(non_snake_case)]
                let ($($part,)*) = self;
                Ok(($($part.make()?,)*))
            }
        }
    };
}

layout_of_parts!(A, B);
layout_of_parts!(A, B, C);
layout_of_parts!(A, B, C, D);
layout_of_parts!(A, B, C, D, E);
