//! Counts over all blocks of an input, compared with what its header promised.
//!
//! Parsing is spread over workers and no block is the last one in time, so each worker adds what it found, and whoever
//! completes the last block gets the sums. The source makes that possible by ending every counted input with
//! an empty block, before which it says how many blocks there are. Cost: four additions per block.

use crate::mix::mix;
use std::cmp::Ordering::{Equal, Greater, Less};
use std::sync::atomic::{AtomicU64, Ordering};

/// Sums over one block, or over the whole input; the format defines the meaning of each number.
pub(crate) type Sums = [u64; 4];

/// Sums over all blocks.
pub(crate) struct Tally {
    sums: [AtomicU64; 4],
    parsed_blocks: AtomicU64,
    /// `u64::MAX` until the source has reached the end.
    total_blocks: AtomicU64,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Tally {
            sums: [const { AtomicU64::new(0) }; 4],
            parsed_blocks: AtomicU64::new(0),
            total_blocks: AtomicU64::new(u64::MAX),
        }
    }

    /// The source has cut the whole input into this many blocks; called before it hands out the last of them.
    pub(crate) fn end(&self, total_blocks: u64) {
        self.total_blocks.store(total_blocks, Ordering::SeqCst);
    }

    /// Adds what one block holds; the sums come back from the call that completes the input.
    pub(crate) fn add(&self, block: Sums) -> Option<Sums> {
        for (sum, found) in self.sums.iter().zip(block) {
            sum.fetch_add(found, Ordering::SeqCst);
        }
        let parsed = self.parsed_blocks.fetch_add(1, Ordering::SeqCst) + 1;
        let is_complete = parsed == self.total_blocks.load(Ordering::SeqCst);
        is_complete.then(|| [0, 1, 2, 3].map(|i: usize| self.sums[i].load(Ordering::SeqCst)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_in_time_gets_the_sums() {
        let tally = Tally::new();
        let one = [3, 1, 0, 1 << 63];
        assert_eq!(tally.add(one), None);
        assert_eq!(tally.add(one), None);
        tally.end(3);
        assert_eq!(tally.add(one), Some([9, 3, 0, 1 << 63]));
    }
}

/// Counts an undirected edge at one of its ends, `vertex`: arcs to larger vertices, to smaller ones, self-loops, and the
/// difference between the sums of the hashes of the first two, with a random key. False at the larger end of an edge,
/// which is handed on from the smaller one.
#[inline]
pub(crate) fn see_end(sums: &mut Sums, key: u64, [vertex, neighbour]: [u64; 2], weight_bits: u64) -> bool {
    let hash = |one, other| mix(mix(mix(key ^ one).wrapping_add(other)).wrapping_add(weight_bits));
    match neighbour.cmp(&vertex) {
        Less => (sums[1], sums[3]) = (sums[1] + 1, sums[3].wrapping_sub(hash(neighbour, vertex))),
        Equal => sums[2] += 1,
        Greater => (sums[0], sums[3]) = (sums[0] + 1, sums[3].wrapping_add(hash(vertex, neighbour))),
    }
    neighbour >= vertex
}
