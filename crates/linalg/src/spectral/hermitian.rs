//! Eigenvalues of Hermitian matrices, which are complex, by the block Lanczos method of `lanczos.rs`.
//!
//! Blocks and small matrices are real ones, encoded as `tall/complex.rs` describes.
//!
//! *Cost.* A real symmetric operator of 2n rows has each eigenvalue twice; a Krylov method for it has to find, hold and
//! multiply both vectors of each. Here the second one, `iv`, is neither held nor multiplied. Products are as many as
//! with a real matrix of the same spectrum, and vectors take twice the memory.

use crate::operator::{Costs, Counted, Operator, check_symmetric, square_rows};
use crate::spectral::lanczos::Goal;
use crate::spectral::symmetric::{EigshOptions, Solved, Which, goal as real_goal, is_small, refine, subspace};
use crate::spectral::{Ending, HermitianPairs};
use crate::tall::complex::MOST_BLOCK;
use crate::tall::vectors::{ComplexVectors, Parts, Vectors};
use outcore_image::{Error, Result};
use outcore_matrix::{Operand, SparseMatrix};
use std::cell::RefCell;

/// Finds some eigenvalues of a matrix of complex numbers that is Hermitian, and their vectors: what
/// [`eigsh`](crate::eigsh) is for a real one. Blocks have at most 4 columns.
///
/// *Cost.* As with `eigsh`, but for 16 bytes a number: at least two blocks of `16 n` bytes per column in memory, and as
/// many passes and products as with a real matrix of the same spectrum. Two products say that it is Hermitian.
///
/// # Errors
/// Those of `eigsh`; a matrix of real numbers, or one that is not Hermitian.
pub fn eigsh_complex(matrix: &SparseMatrix, options: &EigshOptions) -> Result<HermitianPairs> {
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
    let Solved { values, basis, residuals, ending, .. } = solved;
    // Both columns of a pair, the parts of a vector, have its value and its residual.
    let once = |numbers: Vec<f64>| numbers.into_iter().step_by(2).collect();
    let parts = Vectors::new(basis, matrix, 2 * options.k, Operand::Matrix);
    let columns = (0..options.k).map(|i| Parts { re: 2 * i, sign: 1.0 }).collect();
    let pairs = (once(values), ComplexVectors::new(parts, columns), once(residuals));
    let costs = (costs.into_inner(), matrix.pages_per_pass(Operand::Matrix));
    let ending = Ending { converged: ending.converged / 2, ..ending };
    Ok(HermitianPairs::new(matrix, costs, pairs, ending))
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
        return Err(Error::Usage(format!(
            "expected LM, LA or SA for a complex matrix of {rows} rows, found SM; those of a positive definite matrix \
             are SA"
        )));
    }
    Ok(())
}

/// The goal of the iteration for some options, in columns of parts.
pub(crate) fn goal(rows: usize, options: &EigshOptions) -> Goal {
    // A number takes as much of the disk as two real ones.
    let goal = real_goal(2 * rows, options);
    Goal { parts: 2, count: 2 * goal.count, most_columns: 2 * goal.most_columns, ..goal }
}
