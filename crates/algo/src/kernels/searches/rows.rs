//! Rows: `N` values side by side for every vertex, one for each of the searches that run together.
//!
//! One list that is read, and one cache line that is fetched, then serve all searches. [`Tally`] counts the vertices
//! that have each of the bits of a row.

use outcore_format::Lists;
use outcore_graph::{ListFold, ListPart, RANGE, Weights, gather_sum, gather_sums};
use outcore_io::buffer::{Plain, prefetch};
use outcore_io::{AtomicF64, Buffer};
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// `N` values of every vertex.
pub(crate) struct Rows<T: Plain, const N: usize>(pub Buffer<T>);

impl<T: Plain, const N: usize> Rows<T, N> {
    #[inline(always)]
    pub fn all(&self) -> &[[T; N]] {
        self.0.as_chunks().0
    }

    #[inline(always)]
    pub fn of(&self, vertex: u32) -> &[T; N] {
        &self.all()[vertex as usize]
    }
}

/// One bit for each of `64 W` searches.
pub(crate) type BitRow<const W: usize> = [u64; W];

pub(crate) fn any<const W: usize>(row: &BitRow<W>) -> bool {
    row.iter().any(|&word| word != 0)
}

impl<const W: usize> Rows<AtomicU64, W> {
    #[inline(always)]
    pub fn load(&self, vertex: u32) -> BitRow<W> {
        self.of(vertex).each_ref().map(|word| word.load(Relaxed))
    }

    #[inline(always)]
    pub fn store(&self, vertex: u32, row: &BitRow<W>) {
        self.of(vertex).iter().zip(row).for_each(|(word, &bits)| word.store(bits, Relaxed));
    }

    /// Sets bits. Other workers may set others.
    #[inline(always)]
    pub fn set(&self, vertex: u32, row: &BitRow<W>) {
        for (word, &bits) in self.of(vertex).iter().zip(row) {
            if bits != 0 {
                word.fetch_or(bits, Relaxed);
            }
        }
    }
}

/// Distance of prefetching in [`Rows::sums`], in neighbours.
const AHEAD: usize = 64;

impl<const B: usize> Rows<AtomicF64, B> {
    /// The sum of the rows of neighbours: in the order of [`gather_sum`], column by column.
    fn sum(&self, neighbours: &[u32]) -> [f64; B] {
        if B == 1 {
            return [gather_sum(&self.0, neighbours); B];
        }
        let mut lanes = [[0.0; B]; 8];
        for block in neighbours.chunks(8) {
            for (lane, &neighbour) in lanes.iter_mut().zip(block) {
                lane.iter_mut().zip(self.of(neighbour)).for_each(|(sum, value)| *sum += value.load());
            }
        }
        let pairs: [[f64; B]; 4] = std::array::from_fn(|i| add(&lanes[i], &lanes[i + 4]));
        add(&add(&pairs[0], &pairs[2]), &add(&pairs[1], &pairs[3]))
    }

    /// Calls `take` with the place and the sum of each of some adjacent lists of a page.
    fn sums(&self, lists: &Lists, range: Range<usize>, mut take: impl FnMut(usize, [f64; B])) {
        if B == 1 {
            let sums = gather_sums(&self.0, lists, range.clone());
            return range.zip(sums).for_each(|(i, sum)| take(i, [sum; B]));
        }
        let mut requested = lists.ends[range.start] as usize;
        for i in range {
            let until = (lists.ends[i + 1] as usize + AHEAD).min(lists.neighbours.len()).max(requested);
            lists.neighbours[requested..until].iter().for_each(|&v| prefetch(&self.0, B * v as usize));
            requested = until;
            take(i, self.sum(lists.list(i)));
        }
    }
}

#[inline]
pub(crate) fn add<const B: usize>(a: &[f64; B], b: &[f64; B]) -> [f64; B] {
    std::array::from_fn(|i| a[i] + b[i])
}

/// Sums the rows of every vertex's neighbours, for some of its columns.
pub(crate) struct RowSums<'a, const B: usize, F> {
    pub rows: &'a Rows<AtomicF64, B>,
    /// Per vertex, a bit for each column whose sum is taken.
    pub columns: &'a [AtomicU8],
    /// Takes a vertex, a column and the sum.
    pub take: F,
}

impl<const B: usize, F: Fn(u32, usize, f64) + Sync> ListFold for RowSums<'_, B, F> {
    type Value = [f64; B];
    type Total = ();

    fn part(&self, list: ListPart<'_>) -> [f64; B] {
        self.rows.sum(list.neighbours)
    }

    fn merge(&self, before: [f64; B], after: [f64; B]) -> [f64; B] {
        add(&before, &after)
    }

    fn finish(&self, vertex: u32, sum: Option<[f64; B]>, (): &mut ()) {
        let (sum, mut columns) = (sum.unwrap_or([0.0; B]), self.columns[vertex as usize].load(Relaxed));
        while columns != 0 {
            let b = columns.trailing_zeros() as usize;
            (self.take)(vertex, b, sum[b]);
            columns &= columns - 1;
        }
    }

    fn whole(&self, lists: &Lists, _weights: Weights<'_>, range: Range<usize>, (): &mut ()) {
        self.rows.sums(lists, range, |i, sum| self.finish(lists.first_vertex as u32 + i as u32, Some(sum), &mut ()));
    }
}

/// Counts the vertices that have each of the bits, in numbers whose digits lie in different words.
#[derive(Clone, Copy)]
pub(crate) struct Tally<const W: usize> {
    digits: [BitRow<W>; RANGE.ilog2() as usize + 1],
}

impl<const W: usize> Default for Tally<W> {
    fn default() -> Self {
        Tally { digits: [[0; W]; RANGE.ilog2() as usize + 1] }
    }
}

impl<const W: usize> Tally<W> {
    /// Counts a row; there are at most [`RANGE`].
    #[inline(always)]
    pub fn count(&mut self, row: &BitRow<W>) {
        for (w, &bits) in row.iter().enumerate() {
            let mut carry = bits;
            for digit in &mut self.digits {
                if carry == 0 {
                    break;
                }
                (digit[w], carry) = (digit[w] ^ carry, digit[w] & carry);
            }
        }
    }

    /// Adds the number of rows that have each bit to `counts`.
    pub fn add_to(&self, counts: &[AtomicU64]) {
        // Few vertices make few digits, and often few searches.
        for (place, row) in self.digits.iter().enumerate().filter(|(_, row)| any(row)) {
            for (word, counts) in row.iter().zip(counts.chunks(64)) {
                let mut bits = *word;
                while bits != 0 {
                    counts[bits.trailing_zeros() as usize].fetch_add(1 << place, Relaxed);
                    bits &= bits - 1;
                }
            }
        }
    }
}
