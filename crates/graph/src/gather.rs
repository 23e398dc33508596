//! Gathering: the sum of the values that a list's neighbours point at, the inner loop of PageRank.
//!
//! Neighbour `i` goes to lane `i mod 8`; then lanes are added pairwise. Eight independent sums keep as many loads under way as the
//! processor can, and their fixed order gives the same bits everywhere.
#![allow(unsafe_code)]

use outcore_io::{AtomicF32, AtomicF64};

/// A number that sums gather.
pub trait Gathered: Sync {
    /// The number, in full precision.
    fn value(&self) -> f64;
}

impl Gathered for AtomicF64 {
    #[inline(always)]
    fn value(&self) -> f64 {
        self.load()
    }
}

impl Gathered for AtomicF32 {
    #[inline(always)]
    fn value(&self) -> f64 {
        f64::from(self.load())
    }
}

/// The lanes that sums are spread over.
const LANES: usize = 8;

/// The sum of `values[neighbour]` over a list.
///
/// # Panics
/// If a neighbour is beyond `values`.
#[inline]
pub fn gather_sum<T: Gathered>(values: &[T], neighbours: &[u32]) -> f64 {
    let largest = neighbours.iter().fold(0, |largest, &neighbour| largest.max(neighbour));
    assert!(neighbours.is_empty() || (largest as usize) < values.len(), "neighbour {largest} of {}", values.len());
    let mut lanes = [0.0f64; LANES];
    let (blocks, rest) = neighbours.as_chunks::<LANES>();
    for block in blocks {
        for (lane, &neighbour) in lanes.iter_mut().zip(block) {
            // SAFETY: no neighbour is above `largest`, which was checked.
            *lane += unsafe { values.get_unchecked(neighbour as usize) }.value();
        }
    }
    for (lane, &neighbour) in lanes.iter_mut().zip(rest) {
        // SAFETY: as above.
        *lane += unsafe { values.get_unchecked(neighbour as usize) }.value();
    }
    let pairs = [lanes[0] + lanes[4], lanes[1] + lanes[5], lanes[2] + lanes[6], lanes[3] + lanes[7]];
    (pairs[0] + pairs[2]) + (pairs[1] + pairs[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_right_for_every_length() {
        let values: Vec<AtomicF64> = (0..1000).map(|i| AtomicF64::from(f64::from(i * i % 71))).collect();
        for length in 0..100u32 {
            let neighbours: Vec<u32> = (0..length).map(|i| (i * 37 + length) % 1000).collect();
            let expected: f64 = neighbours.iter().map(|&neighbour| values[neighbour as usize].load()).sum();
            assert_eq!(gather_sum(&values, &neighbours), expected);
        }
    }

    #[test]
    #[should_panic(expected = "neighbour 5 of 5")]
    fn a_neighbour_beyond_the_values_is_refused() {
        let values: Vec<AtomicF64> = (0..5).map(|_| AtomicF64::default()).collect();
        gather_sum(&values, &[1, 5, 2]);
    }
}
