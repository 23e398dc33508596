//! Blocks of triangle counting: the lists of neighbours before some adjacent vertices, and their lookup among the marks
//! of a middle corner (`corners.rs`). Shares are how much a triangle counts at each of its corners, by which
//! `triangles`, `clustering` and `lcc` differ.

use crate::state::{Layout, array};
use outcore_graph::Graph;
use outcore_io::Buffer;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Number of hubs, the vertices of the smallest numbers, whose shares every worker counts for itself: a core's cache
/// holds them.
pub(crate) const HUBS: usize = 1 << 14;

/// The `entries` entries of a block, and for each whether edges lead both ways, if shares depend on that: `both`.
pub(crate) fn lists(
    graph: &Graph,
    both: bool,
    entries: u64,
) -> impl Layout<Made = (Buffer<AtomicU32>, Buffer<AtomicU8>)> {
    (array(graph, "lists", entries), array(graph, "edges both ways", if both { entries } else { 0 }))
}

/// Adjacent vertices, and for each the list of the neighbours before it, in rising order. A list of a single neighbour
/// is left out: a triangle takes two.
pub(crate) struct Block {
    pub vertices: Range<u32>,
    /// Where the list of a vertex begins, up to the block's end.
    pub starts: Buffer<AtomicU32>,
    pub entries: Buffer<AtomicU32>,
    /// For every entry 1 if edges lead both ways, where that matters.
    pub both: Buffer<AtomicU8>,
}

impl Block {
    pub fn list(&self, vertex: u32) -> Range<usize> {
        let at = |place: usize| self.starts[place].load(Ordering::Relaxed) as usize;
        at(vertex as usize)..at(vertex as usize + 1)
    }
}

/// Looks up lists of last corners among the marks of a middle one.
pub(crate) struct Lookup<'a, S> {
    pub block: &'a Block,
    /// Per vertex: the sum of its shares so far.
    pub closed: &'a [AtomicU64],
    /// The neighbours before the middle corner, and those of them that are joined with it both ways.
    pub marks: &'a [u64],
    pub marks_both: &'a [u64],
    /// The shares of the hubs, which this worker adds up for itself.
    pub hubs: &'a mut [u64; HUBS],
    /// First corners are below this.
    pub end: u32,
    /// The share of the middle corner.
    pub share: u64,
    pub kind: PhantomData<S>,
}

impl<S: Share> Lookup<'_, S> {
    /// Counts the triangles with a last corner, which `edges` edges join with the middle one.
    #[inline]
    pub fn look(&mut self, last: u32, edges: u64) {
        let (block, closed) = (self.block, self.closed);
        let places = block.list(last);
        let (list, both) = (&block.entries[places.clone()], if S::BOTH { &block.both[places] } else { &[] });
        let (hubs, mut shares) = self.look_at_hubs(list, both, edges);
        for (place, entry) in list.iter().enumerate().skip(hubs) {
            let first = entry.load(Ordering::Relaxed);
            if first >= self.end {
                break;
            }
            if bit(self.marks, first) == 1 {
                let near = if S::BOTH { 1 + bit(self.marks_both, first) } else { 1 };
                let far = edges_at::<S>(both, place);
                closed[first as usize].fetch_add(S::of(edges, near * far), Ordering::Relaxed);
                shares.middle += S::of(far, near * edges);
                shares.last += S::of(near, far * edges);
            }
        }
        self.share += shares.middle;
        if shares.last > 0 {
            closed[last as usize].fetch_add(shares.last, Ordering::Relaxed);
        }
    }

    /// Counts the triangles whose first corners are hubs; returns how many of the list are, and the shares of the other
    /// corners. There is no branch on hits: one look in three is a hit, which no processor predicts.
    #[inline]
    fn look_at_hubs(&mut self, list: &[AtomicU32], both: &[AtomicU8], edges: u64) -> (usize, Shares) {
        let marks: &[u64; HUBS / 64] = self.marks.first_chunk().expect("bitmaps have a bit for every hub");
        let marks_both = if S::BOTH { self.marks_both } else { self.marks };
        let marks_both: &[u64; HUBS / 64] = marks_both.first_chunk().expect("bitmaps have a bit for every hub");
        let (end, hubs) = (self.end.min(HUBS as u32), &mut *self.hubs);
        let mut shares = Shares::default();
        for (place, entry) in list.iter().enumerate() {
            let first = entry.load(Ordering::Relaxed);
            if first >= end {
                return (place, shares);
            }
            let hub = first % HUBS as u32;
            let hit = bit(marks, hub);
            let near = if S::BOTH { hit + bit(marks_both, hub) } else { 1 };
            let far = edges_at::<S>(both, place);
            hubs[hub as usize] += hit * S::of(edges, near * far);
            shares.middle += hit * S::of(far, near * edges);
            shares.last += hit * S::of(near, far * edges);
        }
        (list.len(), shares)
    }
}

#[derive(Default)]
struct Shares {
    middle: u64,
    last: u64,
}

#[inline(always)]
fn bit(words: &[u64], vertex: u32) -> u64 {
    words[vertex as usize / 64] >> (vertex % 64) & 1
}

/// The number of edges that an entry stands for.
#[inline(always)]
fn edges_at<S: Share>(both: &[AtomicU8], place: usize) -> u64 {
    if S::BOTH { 1 + u64::from(both[place].load(Ordering::Relaxed)) } else { 1 }
}

/// The contribution of a triangle to one of its corners.
pub(crate) trait Share: Sync {
    /// Whether shares depend on which edges go both ways.
    const BOTH: bool;

    /// The share of a corner. `opposite` is the number of edges that join the two other corners, and `beside` the
    /// product of the numbers of edges that join the corner with either of them.
    fn of(opposite: u64, beside: u64) -> u64;
}

/// Every triangle counts 1, whatever the direction of its edges.
pub(crate) struct One;

impl Share for One {
    const BOTH: bool = false;

    #[inline(always)]
    fn of(_opposite: u64, _beside: u64) -> u64 {
        1
    }
}

/// A triangle counts the edges between the two other corners.
pub(crate) struct Opposite;

impl Share for Opposite {
    const BOTH: bool = true;

    #[inline(always)]
    fn of(opposite: u64, _beside: u64) -> u64 {
        opposite
    }
}

/// A triangle counts the ways to choose one edge on each of its sides.
pub(crate) struct Choices;

impl Share for Choices {
    const BOTH: bool = true;

    #[inline(always)]
    fn of(opposite: u64, beside: u64) -> u64 {
        opposite * beside
    }
}
