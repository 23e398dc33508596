//! Complex numbers in blocks and small matrices of real ones.
//!
//! *Encoding.* A block of c complex columns is one of 2c real columns, their parts side by side: that is what products
//! take. A complex number `a + ib` of a small matrix is the square `[[a, b], [-b, a]]`, so a row of parts times the
//! square are the parts of the product, a product of squares is the square of a product, and the transpose is that of
//! the conjugate. Operations on blocks and small matrices of real numbers (products, Gram-Schmidt, the three-term
//! recurrence) are thus right for complex ones as they are. There are three exceptions: dot products become squares
//! ([`complex_dots`]), a Cholesky factor keeps them ([`second_half`]), and a small Hermitian matrix, which has each
//! eigenvalue twice in real numbers, is solved as a complex one (`small_eigen`).

use crate::tall::ZERO;
use crate::tall::kernels::Square;

/// Vectors of a block at most: their parts fill the widest block of real ones.
pub(crate) const MOST_BLOCK: usize = 4;

/// The dot products of complex columns, each a square, from those of their parts.
pub fn complex_dots(dots: &Square) -> Square {
    let mut squares = ZERO;
    for (i, k) in (0..MOST_BLOCK * MOST_BLOCK).map(|at| (2 * (at / MOST_BLOCK), 2 * (at % MOST_BLOCK))) {
        let (re, im) = (dots[i][k] + dots[i + 1][k + 1], dots[i][k + 1] - dots[i + 1][k]);
        [squares[i][k], squares[i][k + 1], squares[i + 1][k], squares[i + 1][k + 1]] = [re, im, -im, re];
    }
    squares
}

/// Writes the second column of the squares of a column of complex numbers whose first one is there: of a triangular
/// matrix with a real diagonal.
pub(crate) fn second_half(upper: &mut Square, column: usize) {
    for row in (0..column).step_by(2) {
        let (re, minus_im) = (upper[row][column - 1], upper[row + 1][column - 1]);
        (upper[row][column], upper[row + 1][column]) = (-minus_im, re);
    }
}
