//! Lengths of edges and paths, whole or real, as 64 bits whose order is that of the lengths.
//!
//! Lengths are not negative, so the bits of real numbers rise with the numbers, as those of integers do.

use outcore_format::WeightKind;
use outcore_graph::ListPart;

/// The bits of the distance of a vertex without a path.
pub(crate) const NO_PATH: u64 = u64::MAX;

pub(crate) trait Length: Sync {
    const KIND: WeightKind;
    /// An edge's length where it has no weight.
    const ONE: u64;
    /// The range of distances, in words.
    const MOST: &'static str;
    /// The distance over one more edge, unless it is out of range.
    fn add(distance: u64, weight: u64) -> Option<u64>;
    fn real(distance: u64) -> f64;
    /// The least distance that is greater than `distance + delta`, or the greatest of all.
    fn beyond(distance: u64, delta: f64) -> u64;
}

/// Whole lengths, as signed numbers.
pub(crate) struct Integer;

impl Length for Integer {
    const KIND: WeightKind = WeightKind::I64;
    const ONE: u64 = 1;
    const MOST: &'static str = "below 2^63";

    #[inline]
    fn add(distance: u64, weight: u64) -> Option<u64> {
        // Neither is negative as an i64, so the sum fits 64 bits.
        Some(distance + weight).filter(|&sum| sum <= i64::MAX as u64)
    }

    fn real(distance: u64) -> f64 {
        distance as f64
    }

    fn beyond(distance: u64, delta: f64) -> u64 {
        distance.saturating_add(delta as u64).saturating_add(1)
    }
}

/// Real lengths, of double precision.
pub(crate) struct Real;

impl Length for Real {
    const KIND: WeightKind = WeightKind::F64;
    const ONE: u64 = 1f64.to_bits();
    const MOST: &'static str = "up to 1.7e308";

    #[inline]
    fn add(distance: u64, weight: u64) -> Option<u64> {
        let sum = f64::from_bits(distance) + f64::from_bits(weight);
        (sum < f64::INFINITY).then_some(sum.to_bits())
    }

    fn real(distance: u64) -> f64 {
        f64::from_bits(distance)
    }

    fn beyond(distance: u64, delta: f64) -> u64 {
        (f64::from_bits(distance) + delta).to_bits() + 1
    }
}

/// The length of the `i`-th edge of a list: its weight, or 1 where edges have none.
#[inline]
pub(crate) fn length<L: Length>(list: &ListPart<'_>, i: usize) -> u64 {
    list.weights.bits().get(i).copied().unwrap_or(L::ONE)
}
