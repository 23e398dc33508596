//! All lists of a graph and their weights, decoded and cached in memory, where the limit has room for that.
//!
//! *Cost.* Four bytes per vertex, and per entry four and what a weight takes; one pass over lists and weights.

use crate::engine::graph::{Direction, Edges, Graph};
use crate::engine::sweep::{ListVisitor, Wanted, sweep};
use crate::engine::weights::{WeightColumn, Weights};
use outcore_format::{Lists, ValueType};
use outcore_image::{Result, Selection, SweepStats};
use outcore_io::buffer::prefetch;
use outcore_io::{Budget, Buffer};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

const PURPOSE: &str = "decoded lists";

/// Lists with weights, in the order of their vertices.
pub struct CachedLists {
    /// Ends of lists among the entries; the first is 0, and that of vertex `v` comes `v + 1`st.
    ends: Buffer<AtomicU32>,
    targets: Buffer<AtomicU32>,
    weights: Packed,
    kind: ValueType,
}

impl CachedLists {
    /// The memory that the lists of a direction take, or nothing if they cannot be cached: without weights, and beyond
    /// 2^32 entries.
    pub(crate) fn bytes(graph: &Graph, direction: Direction) -> Option<u64> {
        let kind = graph.manifest().weights()?.kind;
        let entries = graph.list_facts(direction).entries;
        (entries < u64::from(u32::MAX)).then(|| 4 * (graph.vertices() + 1) + (4 + kind.bytes() as u64) * entries)
    }

    /// Decodes all lists of a direction.
    ///
    /// # Errors
    /// Too little memory, a page that cannot be read or is damaged, a request to stop.
    pub(crate) fn load(graph: &Graph, direction: Direction) -> Result<(Self, SweepStats)> {
        let (budget, facts) = (graph.runtime().budget(), graph.list_facts(direction));
        let kind = graph.manifest().weights().map_or(ValueType::I64, |column| column.kind);
        let entries = facts.entries as usize;
        let cached = CachedLists {
            ends: Buffer::zeroed(budget, PURPOSE, graph.vertices() as usize + 1)?,
            targets: Buffer::zeroed(budget, PURPOSE, entries)?,
            weights: Packed::new(budget, kind, entries)?,
            kind,
        };
        let column = graph.weight_column(Edges::new(direction, true))?;
        let wanted = Wanted::Pages(Selection::Pages(0..graph.pages(direction)));
        let edges = Edges::new(direction, true);
        let (_, stats) = sweep(graph, edges, wanted, || Filler { cached: &cached, column: &column })?;
        Ok((cached, stats))
    }

    #[inline]
    fn places(&self, vertex: u32) -> Range<usize> {
        let end = |i: usize| self.ends[i].load(Ordering::Relaxed) as usize;
        end(vertex as usize)..end(vertex as usize + 1)
    }

    /// The targets of a vertex's list, and the bits of their weights.
    #[inline]
    pub fn edges(&self, vertex: u32) -> impl Iterator<Item = (u32, u64)> {
        let places = self.places(vertex);
        let targets = self.targets[places.clone()].iter().map(|target| target.load(Ordering::Relaxed));
        targets.zip(places.map(|place| widen(self.kind, self.weights.get(place))))
    }

    /// Asks the processor to bring near where a list lies.
    #[inline]
    pub(crate) fn prefetch_place(&self, vertex: u32) {
        prefetch(&self.ends, vertex as usize);
    }

    /// Asks the processor to bring near the beginning of a list.
    #[inline]
    pub(crate) fn prefetch_edges(&self, vertex: u32) {
        let place = self.ends[vertex as usize].load(Ordering::Relaxed) as usize;
        prefetch(&self.targets, place);
        self.weights.prefetch(place);
    }
}

/// Weights, each in the bytes that its type has.
enum Packed {
    Bytes(Buffer<AtomicU8>),
    Halves(Buffer<AtomicU16>),
    Words(Buffer<AtomicU32>),
    Whole(Buffer<AtomicU64>),
}

impl Packed {
    fn new(budget: &Arc<Budget>, kind: ValueType, len: usize) -> Result<Self> {
        Ok(match kind.bytes() {
            1 => Packed::Bytes(Buffer::zeroed(budget, PURPOSE, len)?),
            2 => Packed::Halves(Buffer::zeroed(budget, PURPOSE, len)?),
            4 => Packed::Words(Buffer::zeroed(budget, PURPOSE, len)?),
            _ => Packed::Whole(Buffer::zeroed(budget, PURPOSE, len)?),
        })
    }

    fn set(&self, from: usize, bits: impl Iterator<Item = u64>) {
        match self {
            Packed::Bytes(all) => bits.zip(&all[from..]).for_each(|(bits, at)| at.store(bits as u8, Ordering::Relaxed)),
            Packed::Halves(all) => {
                bits.zip(&all[from..]).for_each(|(bits, at)| at.store(bits as u16, Ordering::Relaxed))
            }
            Packed::Words(all) => {
                bits.zip(&all[from..]).for_each(|(bits, at)| at.store(bits as u32, Ordering::Relaxed))
            }
            Packed::Whole(all) => bits.zip(&all[from..]).for_each(|(bits, at)| at.store(bits, Ordering::Relaxed)),
        }
    }

    #[inline]
    fn get(&self, i: usize) -> u64 {
        match self {
            Packed::Bytes(all) => all[i].load(Ordering::Relaxed).into(),
            Packed::Halves(all) => all[i].load(Ordering::Relaxed).into(),
            Packed::Words(all) => all[i].load(Ordering::Relaxed).into(),
            Packed::Whole(all) => all[i].load(Ordering::Relaxed),
        }
    }

    #[inline]
    fn prefetch(&self, i: usize) {
        match self {
            Packed::Bytes(all) => prefetch(all, i),
            Packed::Halves(all) => prefetch(all, i),
            Packed::Words(all) => prefetch(all, i),
            Packed::Whole(all) => prefetch(all, i),
        }
    }
}

/// The bits that a weight of this type is stored as, in its lowest bytes.
fn narrow(kind: ValueType, bits: u64) -> u64 {
    match kind {
        ValueType::F32 => (f64::from_bits(bits) as f32).to_bits().into(),
        _ => bits,
    }
}

/// The weight, in 64 bits, that was stored so.
#[inline]
fn widen(kind: ValueType, stored: u64) -> u64 {
    match kind {
        ValueType::I8 => i64::from(stored as i8) as u64,
        ValueType::I16 => i64::from(stored as i16) as u64,
        ValueType::I32 => i64::from(stored as i32) as u64,
        ValueType::F32 => f64::from(f32::from_bits(stored as u32)).to_bits(),
        _ => stored,
    }
}

struct Filler<'a> {
    cached: &'a CachedLists,
    column: &'a WeightColumn,
}

impl ListVisitor for Filler<'_> {
    fn page(&mut self, number: u64, lists: &Lists, weights: Weights<'_>) -> Result<()> {
        let (cached, first, before) = (self.cached, lists.first_vertex as usize, self.column.edges(number).start);
        let targets = &lists.neighbours[..lists.edges()];
        for (target, at) in targets.iter().zip(&cached.targets[before as usize..]) {
            at.store(*target, Ordering::Relaxed);
        }
        cached.weights.set(before as usize, weights.bits().iter().map(|&bits| narrow(cached.kind, bits)));
        // The page in which a list ends says where.
        let ended = lists.count - usize::from(lists.ends_later);
        for (end, at) in lists.ends[1..=ended].iter().zip(&cached.ends[first + 1..]) {
            at.store(before as u32 + end, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
impl CachedLists {
    /// The lists of some edges in the order of their sources, with whole weights.
    pub fn of(budget: &Arc<Budget>, vertices: u32, edges: &[(u32, u32, u64)]) -> Self {
        let cached = CachedLists {
            ends: Buffer::zeroed(budget, PURPOSE, vertices as usize + 1).unwrap(),
            targets: Buffer::zeroed(budget, PURPOSE, edges.len()).unwrap(),
            weights: Packed::new(budget, ValueType::U32, edges.len()).unwrap(),
            kind: ValueType::U32,
        };
        for vertex in 0..vertices {
            let end = edges.partition_point(|edge| edge.0 <= vertex);
            cached.ends[vertex as usize + 1].store(end as u32, Ordering::Relaxed);
        }
        edges.iter().zip(&*cached.targets).for_each(|(edge, target)| target.store(edge.1, Ordering::Relaxed));
        cached.weights.set(0, edges.iter().map(|edge| edge.2));
        cached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_every_type_come_back() {
        let budget = Arc::new(Budget::new(1 << 30, 0).unwrap());
        for kind in ValueType::ALL {
            let real = |value: f64| value.to_bits();
            let all = [0, 1, 127, 200, 60_000, 1 << 31, 1 << 40, u64::MAX, -3i64 as u64, -300i64 as u64, real(0.5)];
            let values: Vec<u64> = match kind.is_real() {
                true => [0.0, 1.5, -2.0, 1e300, 0.1].map(real).into_iter().filter(|&bits| kind.holds(bits)).collect(),
                false => all.into_iter().filter(|&bits| kind.holds(bits)).collect(),
            };
            assert!(values.len() > 2);
            let packed = Packed::new(&budget, kind, values.len() + 2).unwrap();
            packed.set(1, values.iter().map(|&bits| narrow(kind, bits)));
            let unpacked: Vec<u64> = (0..values.len() + 2).map(|i| widen(kind, packed.get(i))).collect();
            assert_eq!(
                (unpacked[0], &unpacked[1..=values.len()], unpacked[values.len() + 1]),
                (0, &values[..], 0),
                "{kind:?}"
            );
        }
    }
}
