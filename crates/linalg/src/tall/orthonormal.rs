//! Blocks of orthonormal columns: QR factors of tall matrices by Cholesky factors of their small Gram matrices.
//!
//! A round computes the Gram matrix and multiplies by the inverse of its factor; that of well-conditioned columns needs
//! two rounds, others more. Columns that are nothing but rounding are replaced by random ones.
//!
//! Yamamoto, Nakatsukasa, Yanagisawa and Fukaya, *Roundoff error analysis of the CholeskyQR2 algorithm*, ETNA 2015.

use crate::tall::basis::Basis;
use crate::tall::complex::second_half;
use crate::tall::kernels::{MOST_WIDTH, Square};
use crate::tall::{ZERO, entries};
use outcore_image::Result;

/// Columns of a product that are shorter than this, in lengths of the longest, are nothing but rounding.
pub(crate) const ROUNDING: f64 = 1e-14;
/// Below this a pivot of a Gram matrix with ones on its diagonal has lost too many digits.
const GOOD_PIVOT: f64 = 1e-8;
/// A round that begins this near to orthonormal columns ends with such.
const NEAR: f64 = 1e-6;
/// More rounds than any block needs.
const MOST_ROUNDS: usize = 12;

/// Result of orthonormalizing the columns of a block.
pub(crate) struct Factor {
    /// Upper triangular factor: the old columns are the new ones times it, replaced columns excepted.
    pub upper: Square,
    /// Whether any were replaced by random ones.
    pub replaced: bool,
    /// Whether all numbers were finite; if not, the rest means nothing.
    pub finite: bool,
}

/// Makes the columns of a block orthonormal; those that are not longer than `floor` become random ones, orthogonal to
/// the first `known` blocks of a basis. `seed` says which.
pub(crate) fn orthonormalize(basis: &Basis, known: usize, block: &mut [f64], floor: f64, seed: u64) -> Result<Factor> {
    let space = &basis.space;
    let width = space.width;
    let mut result = Factor { upper: identity(width), replaced: false, finite: true };
    let mut is_random = [false; MOST_WIDTH];
    for round in 0..MOST_ROUNDS {
        let gram = space.dots(block, block)?;
        if !gram.iter().flatten().all(|number| number.is_finite()) {
            return Ok(Factor { finite: false, ..result });
        }
        let lost =
            |column: usize| !is_random[column] && gram[column][column].sqrt() * result.upper[column][column] <= floor;
        let lost: Vec<usize> = (0..width).filter(|&column| lost(column)).collect();
        if !lost.is_empty() {
            for &column in &lost {
                is_random[column] = true;
                result.upper[column] = [0.0; MOST_WIDTH];
            }
            result.replaced = true;
            space.randomize(block, |column| lost.contains(&column), seed.wrapping_add(round as u64))?;
            basis.project_out(0..known, block)?;
            basis.project_out(0..known, block)?;
            continue;
        }
        let is_near = deviation(&gram, width) < NEAR;
        let (factor, is_good) = upper_factor(&gram, width, space.is_complex);
        space.transform(block, &inverse(&factor, width))?;
        result.upper = product(&factor, &result.upper, width);
        if is_near && is_good {
            break;
        }
    }
    Ok(result)
}

fn identity(width: usize) -> Square {
    let mut square = ZERO;
    (0..width).for_each(|i| square[i][i] = 1.0);
    square
}

/// Largest deviation of a small matrix from the unit matrix.
fn deviation(square: &Square, width: usize) -> f64 {
    let unit = identity(width);
    entries(width).map(|(i, k)| (square[i][k] - unit[i][k]).abs()).fold(0.0, f64::max)
}

/// The upper Cholesky factor, and whether all pivots are good; columns with other ones are not scaled to length 1.
/// Numbers may be complex, encoded as in `complex.rs`.
fn upper_factor(gram: &Square, width: usize, is_complex: bool) -> (Square, bool) {
    let lengths: Vec<f64> = (0..width).map(|i| gram[i][i].sqrt()).collect();
    let (mut factor, mut is_good) = (ZERO, true);
    for column in 0..width {
        if is_complex && column % 2 == 1 {
            second_half(&mut factor, column);
            continue;
        }
        for row in 0..=column {
            let known: f64 = (0..row).map(|i| factor[i][row] * factor[i][column]).sum();
            let remainder = gram[row][column] / (lengths[row] * lengths[column]) - known;
            factor[row][column] = match row == column {
                true if remainder < GOOD_PIVOT => {
                    is_good = false;
                    1.0
                }
                true => remainder.sqrt(),
                false => remainder / factor[row][row],
            };
        }
    }
    entries(width).for_each(|(i, k)| factor[i][k] *= lengths[k]);
    (factor, is_good)
}

pub(crate) fn inverse(upper: &Square, width: usize) -> Square {
    let mut inverse = ZERO;
    for (column, row) in (0..width).flat_map(|column| (0..=column).rev().map(move |row| (column, row))) {
        let unit = if row == column { 1.0 } else { 0.0 };
        let known: f64 = (row + 1..=column).map(|i| upper[row][i] * inverse[i][column]).sum();
        inverse[row][column] = (unit - known) / upper[row][row];
    }
    inverse
}

pub(crate) fn product(one: &Square, other: &Square, width: usize) -> Square {
    let mut product = ZERO;
    entries(width).for_each(|(i, k)| product[i][k] = (0..width).map(|at| one[i][at] * other[at][k]).sum());
    product
}

/// A random block of orthonormal columns, orthogonal to all blocks of a basis.
pub(crate) fn random(basis: &Basis, block: &mut [f64], seed: u64) -> Result<()> {
    block.fill(0.0);
    orthonormalize(basis, basis.len(), block, 0.0, seed)?;
    Ok(())
}
