//! Counters of bits: the number of vertices that have each of the bits of a row.

use crate::kernels::rows::{BitRow, any};
use outcore_graph::RANGE;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

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
