//! Eigenvalues of Hermitian matrices, which are complex, by the block Lanczos method of `lanczos.rs`.
//!
//! *Encoding.* A block of c complex columns is one of 2c real columns, their parts side by side: that is what products
//! take. A complex number `a + ib` of a small matrix is the square `[[a, b], [-b, a]]`, so a row of parts times the
//! square are the parts of the product, a product of squares is the square of a product, and the transpose is that of
//! the conjugate. What is done with blocks and small matrices of real numbers (products, Gram-Schmidt, the three-term
//! recurrence) is thus right for complex ones as it is. Three things know better: dot products become squares
//! ([`complex_dots`]), a Cholesky factor keeps them ([`second_half`]), and a small Hermitian matrix, which has each
//! eigenvalue twice in real numbers, is solved as a complex one ([`small_eigen`]).
//!
//! *Cost.* A real symmetric operator of 2n rows has each eigenvalue twice; a Krylov method for it has to find, hold and
//! multiply both vectors of each. Here the second one, `iv`, is neither held nor multiplied. Products are as many as
//! with a real matrix of the same spectrum, and vectors take twice the memory.

use crate::basis::Basis;
use crate::eigsh::{
    DENSE_COPIES, EigshOptions, Solved, Subspace, Which, check_symmetric, goal as real_goal, is_small, refine, subspace,
};
use crate::kernels::Square;
use crate::lanczos::{Goal, magnitude, near_one, symmetric_eigen};
use crate::operator::{Costs, Counted, Operator, square_rows};
use crate::spectral::HermitianPairs;
use crate::tall::{Space, ZERO};
use crate::vectors::{ComplexVectors, Parts, Vectors};
use faer::{Mat, Side, c64};
use outcore_image::{Error, Result};
use outcore_matrix::{Operand, SparseMatrix};
use std::cell::RefCell;

/// Vectors of a block at most: their parts fill the widest block of real ones.
const MOST_BLOCK: usize = 4;

/// Finds some eigenvalues of a matrix of complex numbers that is Hermitian, and their vectors: what
/// [`eigsh`](crate::eigsh) is for a real one. Blocks have at most 4 columns.
///
/// *Cost.* As with `eigsh`, but for 16 bytes a number: at least two blocks of `16 n` bytes per column in memory, and as
/// many passes and products as with a real matrix of the same spectrum. Two products say that it is Hermitian.
///
/// # Errors
/// Those of `eigsh`; a matrix of real numbers, or one that is not Hermitian.
pub fn eigsh_complex<'a>(matrix: &'a SparseMatrix, options: &EigshOptions) -> Result<HermitianPairs<'a>> {
    check(matrix, options)?;
    let costs = RefCell::new(Costs::new(matrix, "eigsh"));
    let solved = {
        let operator = Counted::of_any(matrix, Operand::Matrix, &costs)?;
        check_symmetric(&operator)?;
        let (goal, width) = (goal(operator.shape().1, options), 2 * options.block);
        let (folder, solver) = (options.checkpoint.as_deref(), "eigsh of complex numbers");
        let checkpoint = goal.checkpoint(&operator, folder, solver, options.block)?;
        refine(&operator, subspace(&operator, &goal, width, checkpoint)?, &goal)?
    };
    let Solved { values, basis, residuals, converged, residual_bound, restarts } = solved;
    // Of each pair of columns, the parts of a vector, both have its value and its residual.
    let once = |numbers: Vec<f64>| numbers.into_iter().step_by(2).collect();
    let parts = Vectors::new(basis, matrix, 2 * options.k, Operand::Matrix);
    let columns = (0..options.k).map(|i| Parts { re: 2 * i, sign: 1.0 }).collect();
    let pairs = (once(values), ComplexVectors::new(parts, columns), once(residuals));
    let costs = (costs.into_inner(), matrix.pages_per_pass(Operand::Matrix));
    Ok(HermitianPairs::new(matrix, costs, pairs, (converged / 2, residual_bound, restarts)))
}

/// Refuses a matrix of real numbers, and options that are impossible for a complex one.
pub(crate) fn check(matrix: &SparseMatrix, options: &EigshOptions) -> Result<()> {
    if !matrix.is_complex() {
        let image = matrix.graph().path().display();
        return Err(Error::Unsuitable(format!("expected complex values in {image}, found real ones")));
    }
    options.check(square_rows(matrix)?)?;
    if options.block > MOST_BLOCK {
        let block = options.block;
        return Err(Error::Usage(format!("expected a block of 1, 2 or 4 complex columns, found {block}")));
    }
    let rows = matrix.shape().0 as usize;
    if options.which == Which::SmallestMagnitude && !is_small(rows, &goal(rows, options)) {
        return Err(Error::Usage(format!("expected LM, LA or SA for a complex matrix of {rows} rows, found SM")));
    }
    Ok(())
}

/// The goal of the iteration for some options, in columns of parts.
pub(crate) fn goal(rows: usize, options: &EigshOptions) -> Goal {
    // A number takes as much of the disk as two real ones.
    let goal = real_goal(2 * rows, options);
    Goal { parts: 2, count: 2 * goal.count, most_columns: 2 * goal.most_columns, ..goal }
}

/// The dot products of complex columns, each a square, from those of their parts.
pub fn complex_dots(dots: &Square) -> Square {
    let mut found = ZERO;
    for (i, k) in (0..MOST_BLOCK * MOST_BLOCK).map(|at| (2 * (at / MOST_BLOCK), 2 * (at % MOST_BLOCK))) {
        let (re, im) = (dots[i][k] + dots[i + 1][k + 1], dots[i][k + 1] - dots[i + 1][k]);
        [found[i][k], found[i][k + 1], found[i + 1][k], found[i + 1][k + 1]] = [re, im, -im, re];
    }
    found
}

/// Writes the second column of the squares of a column of complex numbers whose first one is there: of a triangular
/// matrix with a real diagonal.
pub(crate) fn second_half(upper: &mut Square, column: usize) {
    for row in (0..column).step_by(2) {
        let (re, minus_im) = (upper[row][column - 1], upper[row + 1][column - 1]);
        (upper[row][column], upper[row + 1][column]) = (-minus_im, re);
    }
}

/// Eigenvalues and eigenvectors of a small matrix that belongs to a space. If that is complex, so is the matrix: then
/// each value is there twice, and the vectors are squares.
pub(crate) fn small_eigen(space: &Space<'_>, small: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    if !space.is_complex {
        return symmetric_eigen(small);
    }
    let count = small.nrows() / 2;
    let complex = Mat::from_fn(count, count, |i, k| c64::new(small[(2 * i, 2 * k)], small[(2 * i, 2 * k + 1)]));
    let (values, vectors) = hermitian_eigen(&complex)?;
    let squares = Mat::from_fn(2 * count, 2 * count, |i, k| {
        let number = vectors[(i / 2, k / 2)];
        match (i % 2, k % 2) {
            (0, 1) => number.im,
            (1, 0) => -number.im,
            _ => number.re,
        }
    });
    Some((values.into_iter().flat_map(|value| [value; 2]).collect(), squares))
}

/// Eigenvalues and eigenvectors of a small Hermitian matrix, or nothing if they are too large for numbers.
fn hermitian_eigen(small: &Mat<c64>) -> Option<(Vec<f64>, Mat<c64>)> {
    let (scaled, unit) = near_one(small, c64::norm);
    let found = scaled.self_adjoint_eigen(Side::Lower).ok()?;
    let values: Vec<f64> = found.S().column_vector().iter().map(|value| value.re * unit).collect();
    values.iter().all(|value| value.is_finite()).then(|| (values, found.U().to_owned()))
}

/// The wanted eigenvectors of an operator with few rows.
pub(crate) fn dense<'a>(operator: &dyn Operator<'a>, mut basis: Basis<'a>, goal: &Goal) -> Result<Subspace<'a>> {
    let Space { rows, width, runtime, .. } = basis.space;
    let _held = runtime.budget().reserve("a dense matrix", DENSE_COPIES * 16 * (rows * rows) as u64)?;
    let matrix = entries(operator, &mut basis)?;
    let hermitian = Mat::from_fn(rows, rows, |i, k| matrix[(i, k)] / 2.0 + matrix[(k, i)].conj() / 2.0);
    let (values, vectors) = hermitian_eigen(&hermitian).ok_or_else(|| operator.too_large())?;
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by(|&a, &b| goal.end.key(values[b]).total_cmp(&goal.end.key(values[a])));
    order.truncate(goal.count / 2);
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    for columns in order.chunks(width / 2) {
        let mut block = basis.fresh()?;
        block.fill(0.0);
        for (row, numbers) in block.chunks_exact_mut(width).enumerate() {
            for (number, &column) in numbers.chunks_exact_mut(2).zip(columns) {
                let c64 { re, im } = vectors[(row, column)];
                number.copy_from_slice(&[re, im]);
            }
        }
        basis.push(block);
    }
    Ok(Subspace { basis, scale: magnitude(&values), restarts: 0 })
}

/// The entries of an operator with few rows.
fn entries<'a>(operator: &dyn Operator<'a>, basis: &mut Basis<'a>) -> Result<Mat<c64>> {
    let Space { rows, width, .. } = basis.space;
    let (mut unit, mut product) = (basis.fresh()?, basis.fresh()?);
    let mut matrix = Mat::zeros(rows, rows);
    for first in (0..rows).step_by(width / 2) {
        unit.fill(0.0);
        let columns = first..rows.min(first + width / 2);
        columns.clone().enumerate().for_each(|(i, column)| unit[column * width + 2 * i] = 1.0);
        operator.apply(&unit, width, &mut product)?;
        for (row, numbers) in product.chunks_exact(width).enumerate() {
            for (column, number) in columns.clone().zip(numbers.chunks_exact(2)) {
                matrix[(row, column)] = c64::new(number[0], number[1]);
            }
        }
    }
    basis.give_back(unit);
    basis.give_back(product);
    Ok(matrix)
}
