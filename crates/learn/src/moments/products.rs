//! Sums of products of pairs of columns, in squares that are computed in registers.
//!
//! *Idea.* A square of 4 by 4 columns takes 8 loads for 16 products and sums, of 8 rows at a time. Its sums stay in
//! lanes, which are added up once at the end, however many blocks there are. *Encoding.* Columns lie one behind the
//! other, each of `stride` numbers, a multiple of [`ROWS`], with zeros behind the last row; squares lie row by row.
#![allow(clippy::needless_range_loop)] // why: lanes of several arrays are indexed together

use outcore_array::kernel::{Loop, widest};

/// Rows that are multiplied side by side, each in a lane.
pub(crate) const ROWS: usize = 8;
/// Columns of a side of a square.
const SIDE: usize = 4;

/// The sums of a square, in lanes.
pub(crate) type Square = [[[f64; ROWS]; SIDE]; SIDE];

/// Number of squares of as many columns on the left and on the right, or of the lower half of those.
pub(crate) fn squares(left: usize, right: usize, is_half: bool) -> usize {
    let (rows, columns) = (left.div_ceil(SIDE), right.div_ceil(SIDE));
    if is_half { rows * (rows + 1) / 2 } else { rows * columns }
}

/// Numbers of the packed columns of `columns` columns: zeros fill the last square.
pub(crate) fn packed_columns(columns: usize) -> usize {
    columns.next_multiple_of(SIDE)
}

struct Products<'a> {
    left: &'a [f64],
    right: &'a [f64],
    stride: usize,
    is_half: bool,
    sums: &'a mut [Square],
}

/// The columns of a side.
#[inline(always)]
fn side(columns: &[f64], stride: usize, number: usize) -> [&[[f64; ROWS]]; SIDE] {
    std::array::from_fn(|i| columns[(number * SIDE + i) * stride..][..stride].as_chunks().0)
}

/// Adds the products of the columns of two sides.
#[inline(always)]
fn add(left: [&[[f64; ROWS]]; SIDE], right: [&[[f64; ROWS]]; SIDE], to: &mut Square) {
    let (mut sums, count) = (*to, left[0].len());
    // Lengths that are known to be equal are not checked in the loop.
    let ([a, b, c, d], [e, f, g, h]) = (left, right);
    let (a, b, c, d) = (&a[..count], &b[..count], &c[..count], &d[..count]);
    let (e, f, g, h) = (&e[..count], &f[..count], &g[..count], &h[..count]);
    for at in 0..count {
        let (left, right) = ([a[at], b[at], c[at], d[at]], [e[at], f[at], g[at], h[at]]);
        for i in 0..SIDE {
            for k in 0..SIDE {
                for lane in 0..ROWS {
                    sums[i][k][lane] = left[i][lane].mul_add(right[k][lane], sums[i][k][lane]);
                }
            }
        }
    }
    *to = sums;
}

impl Loop for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Products { left, right, stride, is_half, sums } = self;
        let (rows, columns) = (left.len() / (stride * SIDE), right.len() / (stride * SIDE));
        let mut sums = sums.iter_mut();
        for row in 0..rows {
            let own = side(left, stride, row);
            for column in 0..if is_half { row + 1 } else { columns } {
                add(own, side(right, stride, column), sums.next().expect("as many squares"));
            }
        }
    }
}

/// Adds the products of columns on the left with columns on the right; with `is_half` only those of the lower half, if
/// they are symmetric.
pub(crate) fn add_products(left: &[f64], right: &[f64], stride: usize, is_half: bool, sums: &mut [Square]) {
    widest(Products { left, right, stride, is_half, sums });
}

/// Calls `put` with the sums of all pairs: the column on the left, that on the right, and the sum. Of the lower half
/// only pairs are visited of which the right column is not behind the left one.
pub(crate) fn for_each_sum(
    sums: &[Square],
    left: usize,
    right: usize,
    is_half: bool,
    mut put: impl FnMut(usize, usize, f64),
) {
    let mut sums = sums.iter();
    for row in 0..left.div_ceil(SIDE) {
        for column in 0..if is_half { row + 1 } else { right.div_ceil(SIDE) } {
            let square = sums.next().expect("as many squares");
            for (i, own) in square.iter().enumerate() {
                for (k, lanes) in own.iter().enumerate() {
                    let (i, k) = (row * SIDE + i, column * SIDE + k);
                    if i < left && k < right && (k <= i || !is_half) {
                        put(i, k, lanes.iter().sum());
                    }
                }
            }
        }
    }
}
