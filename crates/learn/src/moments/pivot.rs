//! Sums of deviations from a pivot, which one sweep over the rows adds to.
//!
//! *Idea.* The mean of the first rows is the pivot of those that follow, too: of `s`, the sum of deviations from it,
//! and `q`, that of their squares, the squared deviations of `n` rows from their own mean are `q - s^2 / n`.
//! *Cancellation.* If the pivot is the mean of `m` of the `n` rows, `s^2 / n` is at most `n / m - 1` times that
//! difference, whatever the other rows are: they moved the mean only by being spread. So a pivot serves [`MOST_TIMES`]
//! as many rows as it is the mean of, and then sums are closed and joined with those before, as Chan, Golub and LeVeque
//! have it (*Updating formulae and a pairwise algorithm for computing sample variances*, 1979).
#![allow(clippy::needless_range_loop)] // why: lanes of several arrays are indexed together

use crate::common::{reals, total};
use outcore_array::kernel::{Loop, Values, widest};

/// Upper bound of the weight of the rows of a pivot, as a multiple of the weight of those that it is the mean of.
const MOST_TIMES: f64 = 64.0;
/// Numbers that are added side by side.
const LANES: usize = 16;

/// The weight of the rows that were added since there is a pivot.
#[derive(Clone, Copy, Default)]
pub(crate) struct Since {
    /// The weight of the rows whose means are the pivots.
    own: f64,
    /// The weight of these and all later ones.
    pub weight: f64,
}

impl Since {
    /// Adds rows, which are the first ones of new pivots or not.
    pub fn add(&mut self, weight: f64) {
        if self.own == 0.0 {
            self.own = weight;
        }
        self.weight += weight;
    }

    /// Whether further rows need new pivots. `is_exact` says that every block has its own.
    pub fn is_over(&self, is_exact: bool) -> bool {
        self.weight >= if is_exact { self.own } else { MOST_TIMES * self.own }
    }
}

struct Deviations<'a> {
    first: f64,
    values: &'a [f64],
    shares: Option<&'a [f64]>,
}

impl Loop for Deviations<'_> {
    type Output = f64;

    /// The sum of deviations from a value, times weights.
    #[inline(always)]
    fn run(self) -> f64 {
        let (first, mut lanes, mut last) = (self.first, [0.0; LANES], 0.0);
        let (chunks, rest) = self.values.as_chunks::<LANES>();
        match self.shares {
            None => {
                for chunk in chunks {
                    for lane in 0..LANES {
                        lanes[lane] += chunk[lane] - first;
                    }
                }
                for value in rest {
                    last += value - first;
                }
            }
            Some(shares) => {
                let (own, own_rest) = shares.as_chunks::<LANES>();
                for (chunk, own) in chunks.iter().zip(own) {
                    for lane in 0..LANES {
                        lanes[lane] += (chunk[lane] - first) * own[lane];
                    }
                }
                for (value, own) in rest.iter().zip(own_rest) {
                    last += (value - first) * own;
                }
            }
        }
        lanes.iter().sum::<f64>() + last
    }
}

/// The mean of some values with a weight above 0, about the first one that counts, so that it is exact if all
/// are equal; 0 if it is
/// no finite number.
pub(crate) fn pivot(values: &[f64], shares: Option<&[f64]>, weight: f64) -> f64 {
    let first = shares.and_then(|shares| shares.iter().position(|share| *share > 0.0)).unwrap_or(0);
    let first = values[first];
    let mean = first + widest(Deviations { first, values, shares }) / weight;
    if mean.is_finite() { mean } else { 0.0 }
}

/// The pivot of real numbers of either type.
pub(crate) fn pivot_of(values: &Values<'_>, shares: Option<&[f64]>, weight: f64) -> f64 {
    match values {
        Values::Float32(values) => {
            pivot(&values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>(), shares, weight)
        }
        values => pivot(reals(values), shares, weight),
    }
}

/// The mean, and the sum of squared deviations from it, of the rows of a pivot: their weight, and the sums of their
/// deviations from the pivot and of the squares of these.
pub(crate) fn closed(pivot: f64, weight: f64, sum: f64, square: f64) -> (f64, f64) {
    let mean = sum / weight;
    let squares = if square.is_finite() {
        let left = square - sum * mean;
        // By rounding, what is left of a constant column may be below 0.
        if left < 0.0 { 0.0 } else { left }
    } else if mean.is_finite() {
        square
    } else {
        f64::NAN
    };
    (pivot + mean, squares)
}

/// Sums over the rows of a pivot, of a column.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    pub pivot: f64,
    sums: [f64; LANES],
    squares: [f64; LANES],
    /// The sum, and that of squares, of rows behind the last whole chunk of their block. (A lane that is added to by
    /// itself would keep all of them from being one vector.)
    last: [f64; 2],
}

impl Lanes {
    /// Sums of no rows.
    pub fn about(pivot: f64) -> Self {
        Lanes { pivot, sums: [0.0; LANES], squares: [0.0; LANES], last: [0.0; 2] }
    }

    /// The mean and the sum of squared deviations of rows of this weight.
    pub fn closed(&self, weight: f64) -> (f64, f64) {
        let [sum, square] = self.last;
        closed(self.pivot, weight, total(&self.sums) + sum, total(&self.squares) + square)
    }
}

/// Numbers less a pivot.
#[inline(always)]
fn less(mut numbers: [f64; LANES], pivot: f64) -> [f64; LANES] {
    for lane in 0..LANES {
        numbers[lane] -= pivot;
    }
    numbers
}

/// Adds columns of a block to their sums.
pub(crate) struct AddColumns<'a> {
    pub columns: &'a [&'a [f64]],
    /// The weights of the rows, if they have any.
    pub shares: Option<&'a [f64]>,
    pub lanes: &'a mut [Lanes],
}

impl Loop for AddColumns<'_> {
    /// Whether all sums are finite: they are not if an element is not.
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let (mut zeros, mut zero) = ([0.0; LANES], 0.0);
        for (values, to) in self.columns.iter().zip(self.lanes) {
            let Lanes { pivot, mut sums, mut squares, last: [mut sum, mut square] } = *to;
            let (chunks, rest) = values.as_chunks::<LANES>();
            match self.shares {
                None => {
                    for chunk in chunks {
                        let distances = less(*chunk, pivot);
                        for lane in 0..LANES {
                            sums[lane] += distances[lane];
                        }
                        for lane in 0..LANES {
                            squares[lane] += distances[lane] * distances[lane];
                        }
                    }
                    for value in rest {
                        let distance = value - pivot;
                        sum += distance;
                        square += distance * distance;
                    }
                }
                Some(shares) => {
                    let (own, own_rest) = shares.as_chunks::<LANES>();
                    for (chunk, own) in chunks.iter().zip(own) {
                        let distances = less(*chunk, pivot);
                        for lane in 0..LANES {
                            sums[lane] += distances[lane] * own[lane];
                        }
                        for lane in 0..LANES {
                            squares[lane] += distances[lane] * own[lane] * distances[lane];
                        }
                    }
                    for (value, own) in rest.iter().zip(own_rest) {
                        let distance = value - pivot;
                        sum += distance * own;
                        square += distance * own * distance;
                    }
                }
            }
            for lane in 0..LANES {
                zeros[lane] += sums[lane] * 0.0;
            }
            zero += sum * 0.0;
            *to = Lanes { pivot, sums, squares, last: [sum, square] };
        }
        zeros.iter().sum::<f64>() + zero == 0.0
    }
}
