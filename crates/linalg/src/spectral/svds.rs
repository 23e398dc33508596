//! Singular values and vectors.
//!
//! *Idea.* The eigenvectors of `A^T A` are the right singular vectors of `A`; of `A A^T`, if that is smaller, the left
//! ones. The Lanczos method for these is that of Golub and Kahan with one of its two bases. What it finds is multiplied
//! by the matrix itself once more, and the small factor of the product gives singular values that are not roots of
//! anything.
//!
//! Golub and Kahan, *Calculating the singular values and pseudo-inverse of a matrix*, SIAM J. Numer. Anal. 1965.

use crate::declare::{
    self, BLOCK, Declaration, Found, Given, K, MAXITER, NCV, Needs, SEED, SolverPlan, StoredVectors, TOL, pass_bytes,
    values_bytes,
};
use crate::operator::{Costs, Counted, Operator, Squared, require_real, rounding, space};
use crate::spectral::lanczos::Goal;
use crate::spectral::small::{SMALL_COPIES, dense_bytes, padded, small_svd};
use crate::spectral::symmetric::{Subspace, Which, goal, is_small, most_blocks, orthonormal, subspace};
use crate::spectral::{Ending, SpectralOptions, SpectralPairs, steps_text};
use crate::tall::basis::{Basis, Room};
use crate::tall::orthonormal::{ROUNDING, orthonormalize};
use crate::tall::vectors::Vectors;
use crate::tall::{Space, ZERO, added, set_square};
use crate::verify::{check_orthonormal, check_singular, vectors_bytes};
use faer::Mat;
use outcore_image::Result;
use outcore_io::Array;
use outcore_matrix::{Operand, SparseMatrix};
use std::cell::RefCell;

/// By how much rounding of the squared matrix may raise the residual of a value that is small beside the greatest.
const MOST_ROUNDING_GROWTH: f64 = 1e6;

/// Declaration for the shell.
pub(crate) static SVDS: Declaration = Declaration {
    options: &[K, TOL, NCV, BLOCK, MAXITER, SEED],
    right: Some("the right singular vectors, one row per column of the matrix"),
    values: Some("the singular values and residuals, in the order of the vectors: the greatest first"),
    has_checkpoints: true,
    must_converge: true,
    ..Declaration::new(
        "svds",
        "The greatest singular values of a matrix, and their vectors",
        "the left singular vectors, one row per row of the matrix",
        plan,
    )
};

fn plan(matrix: &SparseMatrix, given: Given) -> Result<Box<dyn SolverPlan>> {
    let options = SvdsOptions::given(given, "k", ());
    require_real(matrix)?;
    options.check(matrix.shape().0.min(matrix.shape().1) as usize)?;
    Ok(Box::new(options))
}

impl SvdsOptions {
    /// The goal of the iteration with the product of the matrix and its transpose, of `least` rows.
    fn goal(&self, least: usize) -> Goal {
        Goal { is_of_squares: true, ..goal(least, &self.of(self.k, Which::LargestAlgebraic)) }
    }
}

impl SolverPlan for SvdsOptions {
    fn needs(&self, matrix: &SparseMatrix) -> Result<Needs> {
        let (rows, columns) = (matrix.shape().0 as usize, matrix.shape().1 as usize);
        let (least, most) = (rows.min(columns), rows.max(columns));
        let goal = self.goal(least);
        let is_small = is_small(least, &goal);
        let width = if is_small { 1 } else { self.block };
        let space = Space { runtime: matrix.graph().runtime(), rows: least, width, is_complex: false };
        let (count, bytes) = most_blocks(&space, &goal);
        let far = Space { rows: most, ..space };
        // Behind the subspace, the vectors of the other side.
        let last_bytes = 2 * space.block_bytes() + Basis::least_bytes(&far, self.k.div_ceil(width));
        let last_bytes = last_bytes + dense_bytes(SMALL_COPIES, self.k.next_multiple_of(width));
        Ok(Needs {
            least_bytes: (bytes + far.block_bytes()).max(last_bytes) + values_bytes(matrix),
            verify_bytes: vectors_bytes(matrix, self.k),
            vectors: (!is_small).then(|| StoredVectors::new(matrix, count * width, count as u64 * space.block_bytes())),
            columns_per_pass: width,
            passes: format!("over rows and over columns: {}", steps_text(is_small, least, width)),
            bytes_per_pass: vec![pass_bytes(matrix, Operand::Matrix), pass_bytes(matrix, Operand::Transpose)],
            files: None,
            shapes: declare::both_shapes(matrix, self.k),
        })
    }

    fn run<'a>(&self, matrix: &'a SparseMatrix, verify: bool) -> Result<Found<'a>> {
        let mut pairs = svds(matrix, self)?;
        if verify {
            verify_svds(matrix, self.k, &mut pairs)?;
        }
        let columns = |values| vec![("singular_value", values)];
        pairs
            .into_found(self.k, columns, |SingularVectors { left, right }| Ok(declare::both_sides(matrix, left, right)))
    }
}

/// Checks both residuals of every pair, and that vectors are orthonormal.
fn verify_svds(matrix: &SparseMatrix, k: usize, pairs: &mut Svd<'_>) -> Result<()> {
    let Svd { vectors: SingularVectors { left, right }, values, residuals, .. } = pairs;
    left.leave(vectors_bytes(matrix, k))?;
    right.leave(vectors_bytes(matrix, k))?;
    let most = |i: usize| residuals[i];
    check_singular(matrix, Operand::Transpose, values, [left, right], most, None)?;
    check_singular(matrix, Operand::Matrix, values, [right, left], most, None)?;
    check_orthonormal(left, matrix)?;
    check_orthonormal(right, matrix)
}

/// Options of the computation of the greatest singular values.
pub type SvdsOptions = SpectralOptions<()>;

impl Default for SvdsOptions {
    fn default() -> Self {
        Self::usual(6, (), 2)
    }
}

/// Singular vectors of both sides.
#[derive(Debug)]
pub struct SingularVectors<'a> {
    /// Left singular vectors, one for each row.
    pub left: Vectors<'a>,
    /// Right singular vectors, one for each column.
    pub right: Vectors<'a>,
}

/// Singular values, in descending order, and vectors.
pub type Svd<'a> = SpectralPairs<SingularVectors<'a>>;

/// Finds the greatest singular values of a matrix, and their vectors.
///
/// Values that are less than 10^-7 of the greatest have only as many right digits as the square of that leaves.
///
/// *Cost.* Two blocks of `8 min(m, n)` bytes per column in memory, and one of `8 max(m, n)`; otherwise as
/// [`eigsh`](crate::eigsh), with two passes per step, one over the rows and one over the columns.
///
/// # Errors
/// Those of [`eigsh`](crate::eigsh), except for matrices that are not square or not symmetric.
pub fn svds<'a>(matrix: &'a SparseMatrix, options: &SvdsOptions) -> Result<Svd<'a>> {
    let (rows, columns) = matrix.shape();
    let &SvdsOptions { k, block, .. } = options;
    let least = rows.min(columns) as usize;
    options.check(least)?;
    let goal = options.goal(least);
    // Whole blocks must not have more columns than there are rows.
    let block = if is_small(least, &goal) { 1 } else { block };
    // The vectors of the smaller side are those of the basis.
    let (first, second) = match columns <= rows {
        true => (Operand::Matrix, Operand::Transpose),
        false => (Operand::Transpose, Operand::Matrix),
    };
    let costs = RefCell::new(Costs::new(matrix, "svds"));
    let Subspace { basis: near, restarts, is_complete, .. } = {
        let operator = Squared::new(matrix, first, block, &costs)?;
        let checkpoint = goal.checkpoint(&operator, options.checkpoint.as_deref(), "svds", block)?;
        subspace(&operator, &goal, block, checkpoint)?
    };
    let operators = (Counted::new(matrix, first, &costs)?, Counted::new(matrix, second, &costs)?);
    let Pairs { near, far, values, residuals } = refine(&operators.0, &operators.1, near, k)?;
    drop(operators);
    let greatest = values.first().copied().unwrap_or(0.0);
    let rounding = rounding(matrix) * greatest;
    let bound = |value: f64| (goal.tolerance * value).max(rounding * (greatest / value).min(MOST_ROUNDING_GROWTH));
    let converged = residuals.iter().zip(&values).filter(|&(&residual, &value)| residual <= bound(value)).count();
    let residual_bound = values.last().map_or(0.0, |&least| if greatest > 0.0 { bound(least) } else { 0.0 });
    let pages = matrix.pages_per_pass(first) + matrix.pages_per_pass(second);
    let (near, far) = (Vectors::new(near, matrix, k, second), Vectors::new(far, matrix, k, first));
    let (left, right) = if first == Operand::Matrix { (far, near) } else { (near, far) };
    let (costs, vectors) = ((costs.into_inner(), pages), SingularVectors { left, right });
    let ending = Ending { converged, residual_bound, restarts, is_complete };
    Ok(Svd::new(matrix, costs, (values, vectors, residuals), ending))
}

/// Singular vectors of both sides, with values in descending order.
pub(crate) struct Pairs<'a> {
    pub near: Basis<'a>,
    pub far: Basis<'a>,
    pub values: Vec<f64>,
    pub residuals: Vec<f64>,
}

/// Singular pairs of the operator `first` in the space of some vectors, `near`; `second` is its transpose.
fn refine<'a>(
    first: &Counted<'a, '_>,
    second: &Counted<'a, '_>,
    mut near: Basis<'a>,
    count: usize,
) -> Result<Pairs<'a>> {
    let width = near.space.width;
    let (near_space, far_space) = (near.space, space(second, width));
    let small_bytes = dense_bytes(SMALL_COPIES, near.len() * width);
    near.leave(near_space.block_bytes() + Basis::least_bytes(&far_space, near.len()) + small_bytes)?;
    let _reservation = near_space.runtime.budget().reserve("small dense matrices", small_bytes)?;
    let mut factor = near_space.zeros("singular vectors")?;
    orthonormal(first, &mut near, count, &mut factor)?;
    let mut far = Basis::new(far_space, Room::of(first), near.len())?;
    let mut upper = Mat::zeros(near.len() * width, near.len() * width);
    for block in 0..near.len() {
        near.copy(block, &mut factor)?;
        let mut product = far.fresh()?;
        first.apply(&factor, width, &mut product)?;
        append_orthonormal(first, &mut far, product, &mut upper, block as u64)?;
    }
    let size = upper.nrows();
    let small = upper.submatrix(0, 0, count, count).to_owned();
    let (left, values, right) = small_svd(&small).ok_or_else(|| first.too_large())?;
    near.rotate(&padded(&right, size))?;
    far.rotate(&padded(&left, size))?;
    near.leave(near_space.block_bytes() + far_space.block_bytes())?;
    let mut other = far.fresh()?;
    let mut residuals = Vec::new();
    for block in 0..far.len() {
        far.copy(block, &mut other)?;
        second.apply(&other, width, &mut factor)?;
        let columns = block * width..count.min((block + 1) * width);
        let mut scale = vec![ZERO];
        columns.clone().for_each(|column| scale[0][column % width][column % width] = values[column]);
        near.subtract(block..block + 1, &scale, &mut factor)?;
        let squares = near_space.dots(&factor, &factor)?;
        residuals.extend(columns.map(|column| squares[column % width][column % width].sqrt()));
    }
    far.give_back(other);
    Ok(Pairs { near, far, values, residuals })
}

/// Makes a block orthonormal and orthogonal to all blocks of a basis, and appends it. The coefficients of the old block
/// in the new basis go to columns of the upper triangular matrix `upper`.
pub(crate) fn append_orthonormal<'a>(
    operator: &dyn Operator<'a>,
    basis: &mut Basis<'_>,
    mut block: Array<f64>,
    upper: &mut Mat<f64>,
    seed: u64,
) -> Result<()> {
    let (known, width) = (basis.len(), basis.space.width);
    let before = basis.space.dots(&block, &block)?;
    let longest = (0..width).map(|column| before[column][column].sqrt()).fold(0.0, f64::max);
    let mut shares = basis.project_out(0..known, &mut block)?;
    for (share, again) in shares.iter_mut().zip(basis.project_out(0..known, &mut block)?) {
        *share = added(share, &again);
    }
    let norm = (0..known * width).map(|at| upper[(at, at)].abs()).fold(longest, f64::max);
    let factor = orthonormalize(basis, known, &mut block, ROUNDING * norm, seed)?;
    if !factor.finite {
        return Err(operator.too_large());
    }
    for (of, square) in shares.iter().chain([&factor.upper]).enumerate() {
        set_square(upper, width, of, known, square);
    }
    basis.push(block);
    Ok(())
}
