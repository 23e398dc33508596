//! Singular values and vectors.
//!
//! *Idea.* The eigenvectors of `A^T A` are the right singular vectors of `A`; of `A A^T`, if that is smaller, the left
//! ones. The Lanczos method for these is that of Golub and Kahan with one of its two bases. What it finds is multiplied
//! by the matrix itself once more, and the small factor of the product gives singular values that are not roots of
//! anything.
//!
//! *Small values.* The square of a value that is less than a part of 10^4 of the greatest has lost too many digits. So
//! pairs that are known are taken out of the matrix (`deflated.rs`) and the method begins again for those behind them,
//! until all are known. The matrix is projected on all vectors together in the end, as before.
//!
//! Golub and Kahan, *Calculating the singular values and pseudo-inverse of a matrix*, SIAM J. Numer. Anal. 1965.

use crate::declare::{
    self, BLOCK, K, MAXITER, NCV, Needs, SEED, SolverDeclaration, SolverFinding, SolverInput, SolverPlan,
    StoredVectors, TOL, pass_bytes, values_bytes,
};
use crate::operator::{Costs, Counted, Operator, Squared, require_real, rounding, space};
use crate::spectral::deflated::Deflated;
use crate::spectral::lanczos::Goal;
use crate::spectral::small::{SMALL_COPIES, dense_bytes, greatest, padded, small_svd};
use crate::spectral::symmetric::{Subspace, Which, check_scale, goal, is_small, most_blocks, orthonormal, subspace};
use crate::spectral::{Ending, Limit, SpectralOptions, SpectralPairs, steps_text};
use crate::tall::basis::{Basis, Room};
use crate::tall::orthonormal::{ROUNDING, orthonormalize};
use crate::tall::vectors::Vectors;
use crate::tall::{Space, ZERO, added, set_square};
use crate::verify::{check_orthonormal, check_singular, vectors_bytes};
use faer::Mat;
use outcore_image::Result;
use outcore_io::Buffer;
use outcore_matrix::{Operand, SparseMatrix};
use std::cell::RefCell;
use std::path::Path;

/// By how much rounding of the squared matrix may raise the residual of a value that is small beside the greatest, and
/// how small that is. Residuals of yet smaller values, which are found without the greater ones, are a part of them.
const MOST_ROUNDING_GROWTH: f64 = 1e4;

/// Declaration for the shell.
pub(crate) static SVDS: SolverDeclaration = SolverDeclaration {
    options: &[K, TOL, NCV, BLOCK, MAXITER, SEED],
    right: Some("the right singular vectors, one row per column of the matrix"),
    values: Some("the singular values and residuals, in the order of the vectors: the greatest first"),
    has_checkpoints: true,
    must_converge: true,
    ..SolverDeclaration::new(
        "svds",
        "The greatest singular values of a matrix, and their vectors",
        "the left singular vectors, one row per row of the matrix",
        plan,
    )
};

fn plan(matrix: &SparseMatrix, given: SolverInput) -> Result<Box<dyn SolverPlan>> {
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
        let space = Space { runtime: matrix.graph().runtime().clone(), rows: least, width, is_complex: false };
        let (count, bytes) = most_blocks(&space, &goal);
        let far = Space { rows: most, ..space.clone() };
        let bytes = bytes + behind_bytes(&space, &far);
        // Behind the subspace, the vectors of the other side.
        let last_bytes = 2 * space.block_bytes() + Basis::least_bytes(&far, self.k.div_ceil(width));
        let last_bytes = last_bytes + dense_bytes(SMALL_COPIES, self.k.next_multiple_of(width));
        let results_bytes = Basis::piece_bytes(&space) + Basis::piece_bytes(&far);
        Ok(Needs {
            least_bytes: (bytes + far.block_bytes()).max(last_bytes) + values_bytes(matrix),
            verify_bytes: vectors_bytes(matrix, self.k) + results_bytes,
            results_bytes,
            vectors: (!is_small).then(|| StoredVectors::new(matrix, count * width, count as u64 * space.block_bytes())),
            columns_per_pass: width,
            passes: format!("over rows and over columns: {}", steps_text(is_small, least, width)),
            bytes_per_pass: vec![pass_bytes(matrix, Operand::Matrix), pass_bytes(matrix, Operand::Transpose)],
            files: None,
            shapes: declare::both_shapes(matrix, self.k),
        })
    }

    fn run(&self, matrix: &SparseMatrix, verify: bool) -> Result<SolverFinding> {
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
fn verify_svds(matrix: &SparseMatrix, k: usize, pairs: &mut Svd) -> Result<()> {
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
#[non_exhaustive]
pub struct SingularVectors {
    /// Left singular vectors, one for each row.
    pub left: Vectors,
    /// Right singular vectors, one for each column.
    pub right: Vectors,
}

/// Singular values, in descending order, and vectors.
pub type Svd = SpectralPairs<SingularVectors>;

/// Finds the greatest singular values of a matrix, and their vectors.
///
/// Values of all magnitudes are right to the rounding of the greatest. Those that are less than a part of 10^4 of the
/// greatest are found behind the greater ones, by a further run.
///
/// *Cost.* Three blocks of `8 min(m, n)` bytes per column in memory, and one of `8 max(m, n)`; otherwise as
/// [`eigsh`](crate::eigsh), with two passes per step, one over the rows and one over the columns.
///
/// # Errors
/// Those of [`eigsh`](crate::eigsh), except for matrices that are not square or not symmetric.
pub fn svds(matrix: &SparseMatrix, options: &SvdsOptions) -> Result<Svd> {
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
    let (pairs, ending) = {
        let operators = [first, second].map(|operand| Counted::new(matrix, operand, &costs));
        let [forward, backward] = operators;
        let mut search = Search { forward: forward?, backward: backward?, goal, block, restarts: 0, is_complete: true };
        let pairs = search.run(options.checkpoint.as_deref())?;
        let ending = search.ending(&pairs);
        (pairs, ending)
    };
    let Pairs { near, far, values, residuals } = pairs;
    let pages = matrix.pages_per_pass(first) + matrix.pages_per_pass(second);
    let (near, far) = (Vectors::new(near, matrix, k, second), Vectors::new(far, matrix, k, first));
    let (left, right) = if first == Operand::Matrix { (far, near) } else { (near, far) };
    let (costs, vectors) = ((costs.into_inner(), pages), SingularVectors { left, right });
    Ok(Svd::new(matrix, costs, (values, vectors, residuals), ending))
}

/// Singular vectors of both sides, with values in descending order.
pub(crate) struct Pairs {
    pub near: Basis,
    pub far: Basis,
    pub values: Vec<f64>,
    pub residuals: Vec<f64>,
}

/// The search for singular pairs of the operator `forward`, whose transpose is `backward`.
struct Search<'a, 'c> {
    forward: Counted<'a, 'c>,
    backward: Counted<'a, 'c>,
    goal: Goal,
    block: usize,
    restarts: u64,
    is_complete: bool,
}

impl<'a> Search<'a, '_> {
    /// Finds all wanted pairs: those that squares tell, then those behind them, as long as there are more.
    fn run(&mut self, folder: Option<&Path>) -> Result<Pairs> {
        let (near, far) = (space(&self.forward, self.block), space(&self.backward, self.block));
        let bytes = most_blocks(&near, &self.goal).1 + behind_bytes(&near, &far) + far.block_bytes();
        self.forward.matrix.graph().make_room("singular vectors", bytes)?;
        let subspace = {
            let squared = self.squared()?;
            let checkpoint = self.goal.checkpoint(&squared, folder, "svds", self.block)?;
            let mut subspace = subspace(&squared, &self.goal, self.block, checkpoint)?;
            // Squares may all vanish where the matrix is not 0.
            check_scale(&self.forward, subspace.scale, &mut subspace.basis)?;
            subspace
        };
        let mut pairs = self.refined(subspace)?;
        let mut known = 0;
        loop {
            let more = self.converged(&pairs).take_while(|&is_converged| is_converged).count();
            if more == self.goal.count || more <= known || !self.is_complete {
                return Ok(pairs);
            }
            known = more;
            let subspace = self.behind(pairs, known, folder)?;
            pairs = self.refined(subspace)?;
        }
    }

    fn squared(&self) -> Result<Squared<'a, '_>> {
        Squared::new(self.forward.matrix, self.forward.operand, self.block, self.forward.costs)
    }

    fn refined(&mut self, subspace: Subspace) -> Result<Pairs> {
        self.restarts += subspace.restarts;
        self.is_complete &= subspace.is_complete;
        refine(&self.forward, &self.backward, subspace.basis, self.goal.count)
    }

    /// The space of the first pairs, which are known, and of those behind them.
    fn behind(&self, pairs: Pairs, known: usize, folder: Option<&Path>) -> Result<Subspace> {
        let (width, count) = (self.block, self.goal.count);
        let Pairs { mut near, mut far, values, .. } = pairs;
        let first = |vectors: &Basis| {
            let is_known = |row: usize, column: usize| row == column && row < known;
            let columns = known.next_multiple_of(width);
            Mat::from_fn(vectors.len() * width, columns, |i, k| if is_known(i, k) { 1.0 } else { 0.0 })
        };
        far.leave_to_turn(&near)?;
        near.rotate(&first(&near))?;
        near.leave_to_turn(&far)?;
        far.rotate(&first(&far))?;
        let goal = Goal { count: count - known, ..self.goal };
        let bytes = most_blocks(&near.space, &goal).1 + near.space.block_bytes() + far.space.block_bytes();
        near.leave(bytes)?;
        far.leave(bytes)?;
        let unit = values[known].max(ROUNDING * values[0]);
        let more = {
            let squared = self.squared()?;
            let folder = folder.map(|folder| folder.join(format!("behind-{known}")));
            let solver = format!("svds behind {known}");
            let checkpoint = goal.checkpoint(&squared, folder.as_deref(), &solver, width)?;
            subspace(&Deflated::new(&squared, &near, &far, unit)?, &goal, width, checkpoint)?
        };
        drop(far);
        let blocks = near.len();
        for block in 0..more.basis.len() {
            let mut vectors = near.fresh()?;
            more.basis.copy(block, &mut vectors)?;
            near.push(vectors);
        }
        // The known ones may end within a block.
        let from = |column: usize| if column < known { column } else { blocks * width + column - known };
        let columns = count.next_multiple_of(width);
        let is_at = |row: usize, column: usize| column < count && row == from(column);
        let together = Mat::from_fn(near.len() * width, columns, |i, k| if is_at(i, k) { 1.0 } else { 0.0 });
        let Subspace { basis, scale, restarts, is_complete } = more;
        drop(basis);
        near.rotate(&together)?;
        Ok(Subspace { basis: near, scale, restarts, is_complete })
    }

    /// The greatest residual of a value that counts as converged.
    fn limit(&self, greatest: f64, value: f64) -> f64 {
        let part = greatest / value;
        let growth = part.min(MOST_ROUNDING_GROWTH.powi(2) / part).max(1.0);
        let rounding = rounding(self.forward.matrix) * greatest * growth;
        Limit { relative: self.goal.tolerance, rounding }.of(value)
    }

    /// Whether each pair has converged.
    fn converged(&self, pairs: &Pairs) -> impl Iterator<Item = bool> {
        let both = pairs.values.iter().zip(&pairs.residuals);
        both.map(|(&value, &residual)| residual <= self.limit(pairs.values[0], value))
    }

    fn ending(&self, pairs: &Pairs) -> Ending {
        let greatest = pairs.values.first().copied().unwrap_or(0.0);
        Ending {
            converged: self.converged(pairs).filter(|&is_converged| is_converged).count(),
            residual_bound: pairs.values.iter().map(|&value| self.limit(greatest, value)).fold(0.0, f64::max),
            restarts: self.restarts,
            is_complete: self.is_complete,
        }
    }
}

/// Bytes of memory for the known vectors of both sides, which are in the file, and of the factors without them.
fn behind_bytes(near: &Space, far: &Space) -> u64 {
    Basis::pieces_bytes(near) + Basis::pieces_bytes(far) + near.block_bytes()
}

/// Singular pairs of the operator `first` in the space of some vectors, `near`; `second` is its transpose.
fn refine(first: &Counted<'_, '_>, second: &Counted<'_, '_>, mut near: Basis, count: usize) -> Result<Pairs> {
    let width = near.space.width;
    let (near_space, far_space) = (near.space.clone(), space(second, width));
    let small_bytes = dense_bytes(SMALL_COPIES, near.len() * width);
    near.leave(near_space.block_bytes() + Basis::least_bytes(&far_space, near.len()) + small_bytes)?;
    let _reservation = near_space.runtime.budget().reserve("small dense matrices", small_bytes)?;
    orthonormal(first, &mut near, count)?;
    near.leave(near_space.block_bytes() + Basis::least_bytes(&far_space, near.len()))?;
    let mut factor = near_space.zeros("singular vectors")?;
    let mut far = Basis::new(far_space.clone(), Room::of(first), near.len())?;
    let mut upper = Mat::zeros(near.len() * width, near.len() * width);
    for block in 0..near.len() {
        near.copy(block, &mut factor)?;
        let mut product = far.fresh()?;
        first.apply(&factor, width, &mut product)?;
        append_orthonormal(first, &mut far, product, &mut upper, block as u64)?;
    }
    let size = upper.nrows();
    let small = upper.submatrix(0, 0, count, count).to_owned();
    let (left, values, right) = small_svd(&small).ok_or_else(|| first.breakdown(greatest(&small)))?;
    drop(factor);
    far.leave_to_turn(&near)?;
    near.rotate(&padded(&right, size))?;
    near.leave_to_turn(&far)?;
    far.rotate(&padded(&left, size))?;
    for vectors in [&mut near, &mut far] {
        vectors.leave(near_space.block_bytes() + far_space.block_bytes())?;
    }
    let (mut factor, mut other) = (near_space.zeros("singular vectors")?, far.fresh()?);
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
pub(crate) fn append_orthonormal(
    operator: &dyn Operator<'_>,
    basis: &mut Basis,
    mut block: Buffer<f64>,
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
