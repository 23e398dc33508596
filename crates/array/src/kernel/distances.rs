//! Squared distances of rows to several points, whose coordinates are the columns.

use super::simd::{Loop, widest};
use super::values::Element;
use std::ops::{Mul, Sub};

/// Rows that are computed together, in registers.
const ROWS: usize = 16;
/// Points that are computed together.
const POINTS: usize = 4;

/// Real numbers.
pub trait Real: Element + Into<f64> + Sub<Output = Self> + Mul<Output = Self> {
    /// The nearest number of this type.
    fn nearest(number: f64) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn nearest(number: f64) -> Self {
        number as f32
    }
}

impl Real for f64 {
    #[inline(always)]
    fn nearest(number: f64) -> Self {
        number
    }
}

struct Distances<'a, T> {
    columns: &'a [&'a [T]],
    points: &'a [T],
    to: &'a mut [T],
    stride: usize,
}

impl<T: Real> Distances<'_, T> {
    /// The distances of some rows to some points.
    #[inline(always)]
    fn square<const R: usize, const P: usize>(&mut self, row: usize, point: usize) {
        let width = self.columns.len();
        let mut sums = [[0.0; R]; P];
        for (column, values) in self.columns.iter().enumerate() {
            let values: &[T; R] = values[row..row + R].try_into().expect("as many rows");
            for (p, sums) in sums.iter_mut().enumerate() {
                let coordinate = self.points[(point + p) * width + column];
                for i in 0..R {
                    let distance = values[i] - coordinate;
                    sums[i] += (distance * distance).into();
                }
            }
        }
        for (p, sums) in sums.iter().enumerate() {
            let to = &mut self.to[(point + p) * self.stride + row..][..R];
            for i in 0..R {
                to[i] = T::nearest(sums[i]);
            }
        }
    }

    #[inline(always)]
    fn points<const R: usize>(&mut self, row: usize, count: usize) {
        let whole = count / POINTS * POINTS;
        for point in (0..whole).step_by(POINTS) {
            self.square::<R, POINTS>(row, point);
        }
        for point in whole..count {
            self.square::<R, 1>(row, point);
        }
    }
}

impl<T: Real> Loop for Distances<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let rows = self.columns[0].len();
        let count = self.points.len() / self.columns.len();
        let whole = rows / ROWS * ROWS;
        for row in (0..whole).step_by(ROWS) {
            self.points::<ROWS>(row, count);
        }
        for row in whole..rows {
            self.points::<1>(row, count);
        }
    }
}

/// Writes the squared distances of rows, given by columns, to points, given one after the other: of each point a vector
/// that begins `stride` behind the one before. Squares are of this type, and are added up in float64, in the order of
/// the columns.
///
/// # Panics
/// If there is no column, or columns are shorter than the first one.
pub fn squared_distances<T: Real>(columns: &[&[T]], points: &[T], to: &mut [T], stride: usize) {
    widest(Distances { columns, points, to, stride });
}
