//! Eigenpairs of a symmetric or Hermitian operator: the wanted subspace, and the pairs in it.

use crate::checkpoint::Checkpoint;
use crate::operator::{LEAST_SCALE, Operator, rounding, space, too_small};
use crate::spectral::lanczos::{Goal, Lanczos};
use crate::spectral::small::{
    DENSE_COPIES, DENSE_ROWS, SMALL_COPIES, dense, dense_bytes, greatest, padded, small_eigen,
};
use crate::spectral::{Ending, Limit, SpectralOptions};
use crate::tall::basis::{Basis, Room};
use crate::tall::kernels::Square;
use crate::tall::{Space, ZERO, entries, magnitude, set_square};
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{Mat, Par, Side, c64};
use outcore_image::Result;
use outcore_ingest::Choice;
use outcore_io::trim_freed_memory;

/// Columns of a basis beyond two for each wanted vector. Disk is cheap, and a restart costs what it forgets.
const MORE_COLUMNS: usize = 96;
/// The least number of columns of a basis, as SciPy has it.
const LEAST_COLUMNS: usize = 20;
/// A basis takes no more of the disk than this, unless more columns are asked for or needed.
const MOST_BASIS_BYTES: u64 = 64 << 30;
/// Copies of the projection on a subspace: it is solved repeatedly, and the allocator keeps some of its memory.
const PROJECTION_COPIES: u64 = 26;

/// The part of the spectrum of a symmetric matrix that is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Which {
    /// The eigenvalues of greatest magnitude.
    #[default]
    LargestMagnitude,
    /// The greatest.
    LargestAlgebraic,
    /// The least.
    SmallestAlgebraic,
    /// The eigenvalues of least magnitude.
    SmallestMagnitude,
}

impl Choice for Which {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Which::LargestMagnitude, "LM", "Those of greatest magnitude"),
        (Which::LargestAlgebraic, "LA", "The greatest"),
        (Which::SmallestAlgebraic, "SA", "The least"),
        (Which::SmallestMagnitude, "SM", "Those of least magnitude"),
    ];
}

outcore_declare::from_names!(Which);

impl Which {
    /// Sort key of an eigenvalue: the most wanted one has the greatest.
    pub(crate) fn key(self, value: f64) -> f64 {
        match self {
            Which::LargestMagnitude => value.abs(),
            Which::LargestAlgebraic => value,
            Which::SmallestAlgebraic => -value,
            Which::SmallestMagnitude => -value.abs(),
        }
    }

    /// The name in checkpoints.
    pub(crate) fn checkpoint_name(self) -> &'static str {
        match self {
            Which::LargestMagnitude => "Magnitude",
            Which::LargestAlgebraic => "Largest",
            Which::SmallestAlgebraic => "Smallest",
            Which::SmallestMagnitude => "Nearest",
        }
    }
}

/// Options of the computation of eigenvalues of a symmetric or Hermitian matrix.
pub type EigshOptions = SpectralOptions<Which>;

impl Default for EigshOptions {
    fn default() -> Self {
        Self::usual(6, Which::default(), 2)
    }
}

/// Eigenpairs of a symmetric operator.
pub(crate) struct Solved {
    /// In ascending order.
    pub values: Vec<f64>,
    /// The vectors, then zeros up to a whole block.
    pub basis: Basis,
    pub residuals: Vec<f64>,
    pub limit: Limit,
    pub ending: Ending,
}

impl Solved {
    /// Sorts the pairs by value: rounding may exchange those that are nearly equal.
    fn sorted(self) -> Result<Self> {
        if self.values.is_sorted() {
            return Ok(self);
        }
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_by(|&a, &b| self.values[a].total_cmp(&self.values[b]));
        self.pick(&order)
    }

    pub fn pick(mut self, order: &[usize]) -> Result<Self> {
        let (count, width) = (self.values.len(), self.basis.space.width);
        let is_at = |row: usize, column: usize| order.get(column) == Some(&row);
        let turn = Mat::from_fn(count, count, |row, column| if is_at(row, column) { 1.0 } else { 0.0 });
        self.basis.rotate(&padded(&turn, self.basis.len() * width))?;
        self.basis.truncate(order.len().div_ceil(width));
        self.values = order.iter().map(|&i| self.values[i]).collect();
        self.residuals = order.iter().map(|&i| self.residuals[i]).collect();
        self.ending = Ending { converged: self.converged().count(), ..self.ending };
        Ok(self)
    }

    /// Indices of the pairs that converged.
    pub fn converged(&self) -> impl Iterator<Item = usize> {
        (0..self.values.len()).filter(|&i| self.residuals[i] <= self.limit.of(self.values[i].abs()))
    }
}

/// Finds eigenpairs of a symmetric operator. `solver` is its name in a checkpoint.
pub(crate) fn solve(operator: &dyn Operator<'_>, options: &EigshOptions, solver: &str) -> Result<Solved> {
    let goal = goal(operator.shape().1, options);
    let checkpoint = goal.checkpoint(operator, options.checkpoint.as_deref(), solver, options.block)?;
    refine(operator, subspace(operator, &goal, options.block, checkpoint)?, &goal)
}

pub(crate) fn goal(rows: usize, options: &EigshOptions) -> Goal {
    let &EigshOptions { k, block, .. } = options;
    let columns = options.ncv.unwrap_or_else(|| usual_columns(rows, k));
    Goal {
        parts: 1,
        count: k,
        which: options.which,
        tolerance: options.tol,
        is_of_squares: false,
        most_columns: columns.max(k.next_multiple_of(block) + 3 * block),
        most_restarts: options.max_iterations,
        seed: options.seed,
    }
}

/// A basis of the wanted vectors.
pub(crate) struct Subspace {
    /// The vectors, in the order of ascending eigenvalues, orthonormal but for the tolerance; then zeros up to a whole
    /// block.
    pub basis: Basis,
    /// The greatest magnitude of an eigenvalue.
    pub scale: f64,
    pub restarts: u64,
    /// Whether the iteration made sure that no wanted pair is missing.
    pub is_complete: bool,
}

/// Finds the wanted vectors, in blocks of this width.
pub(crate) fn subspace<'a>(
    operator: &dyn Operator<'a>,
    goal: &Goal,
    width: usize,
    checkpoint: Option<Checkpoint<'a>>,
) -> Result<Subspace> {
    let (space, graph, count) = (space(operator, width), operator.matrix().graph(), goal.count);
    let is_small = is_small(space.rows, goal);
    let (most_blocks, least_bytes) = most_blocks(&space, goal);
    graph.make_room("singular vectors and eigenvectors", least_bytes)?;
    let small_bytes = if is_small { 0 } else { dense_bytes(PROJECTION_COPIES, goal.most_columns) };
    let _reservation = graph.runtime().budget().reserve("small dense matrices", small_bytes)?;
    let is_complex = space.is_complex;
    let basis = Basis::new(space, Room::of(operator), most_blocks)?;
    if is_small {
        let solve = if is_complex { dense::<c64> } else { dense::<f64> };
        let mut subspace = solve(operator, basis, goal)?;
        check_scale(operator, subspace.scale, &mut subspace.basis)?;
        return Ok(subspace);
    }
    let mut run = Lanczos::new(operator, basis, *goal);
    let ritz = run.run(checkpoint)?;
    let (scale, mut basis, restarts) = (run.scale(&ritz), run.basis, run.iteration.restarts);
    check_scale(operator, scale, &mut basis)?;
    basis.truncate(basis.len() - 1);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| ritz.values[a].total_cmp(&ritz.values[b]));
    let vectors = Mat::from_fn(ritz.vectors.nrows(), count.next_multiple_of(width), |row, column| {
        order.get(column).map_or(0.0, |&from| ritz.vectors[(row, from)])
    });
    basis.rotate(&vectors)?;
    trim_freed_memory();
    Ok(Subspace { basis, scale, restarts, is_complete: ritz.is_complete })
}

/// Refuses an operator whose numbers are so small that squares of them vanish, unless all are 0. `basis` is of its
/// factors.
pub(crate) fn check_scale(operator: &dyn Operator<'_>, scale: f64, basis: &mut Basis) -> Result<()> {
    if scale >= LEAST_SCALE {
        return Ok(());
    }
    let space = basis.space.clone();
    let products = Space { rows: operator.shape().0, ..space.clone() };
    basis.leave_beside(1, space.block_bytes() + products.block_bytes())?;
    let block = |space: &Space| space.zeros("a product with large numbers");
    let (mut factor, mut product) = (block(&space)?, block(&products)?);
    space.randomize(&mut factor, |_| true, 1)?;
    space.update([&mut *factor], |_, [numbers], []| numbers.iter_mut().for_each(|number| *number /= LEAST_SCALE))?;
    operator.apply(&factor, space.width, &mut product)?;
    if product.iter().all(|&number| number == 0.0) {
        return Ok(());
    }
    Err(too_small(operator.matrix()))
}

/// Largest number of blocks of a subspace, and the least memory that it needs.
pub(crate) fn most_blocks(space: &Space, goal: &Goal) -> (usize, u64) {
    let (is_small, width) = (is_small(space.rows, goal), space.width);
    let most_blocks = if is_small { goal.count.div_ceil(width) } else { goal.most_columns / width + 2 };
    let small_bytes = match is_small {
        true => dense_bytes(DENSE_COPIES * goal.parts as u64, space.rows),
        false => dense_bytes(PROJECTION_COPIES, goal.most_columns),
    };
    let small_bytes = small_bytes.max(dense_bytes(SMALL_COPIES, goal.count));
    // By squares, with vectors between two products, and a few more than are wanted.
    let between_bytes = if goal.which == Which::SmallestMagnitude { 2 * space.block_bytes() } else { 0 };
    (most_blocks, Basis::least_bytes(space, most_blocks).saturating_add(small_bytes + between_bytes))
}

/// Whether a matrix of this number of rows is solved as a dense one.
pub(crate) fn is_small(rows: usize, goal: &Goal) -> bool {
    rows <= DENSE_ROWS.max(2 * goal.most_columns / goal.parts)
}

/// Default number of columns of a basis.
pub(crate) fn usual_columns(rows: usize, k: usize) -> usize {
    let most = MOST_BASIS_BYTES / (8 * rows as u64).max(1);
    (2 * k + MORE_COLUMNS).min((most as usize).max(LEAST_COLUMNS).max(2 * k + 1))
}

/// Makes vectors orthonormal to the last bit and eigenvalues of them, and computes the residuals.
pub(crate) fn refine(operator: &dyn Operator<'_>, subspace: Subspace, goal: &Goal) -> Result<Solved> {
    let Subspace { mut basis, scale, restarts, is_complete } = subspace;
    let (space, width, count) = (basis.space.clone(), basis.space.width, goal.count);
    let small_bytes = dense_bytes(SMALL_COPIES, count);
    basis.leave(2 * space.block_bytes() + small_bytes)?;
    let _reservation = space.runtime.budget().reserve("small dense matrices", small_bytes)?;
    let block = || space.zeros("eigenvectors");
    orthonormal(operator, &mut basis, count)?;
    let limit = Limit { relative: goal.tolerance, rounding: rounding(operator.matrix()) * scale };
    for round in 0.. {
        basis.leave(2 * space.block_bytes())?;
        let (mut factor, mut product) = (block()?, block()?);
        let mut small = Mat::zeros(count, count);
        let mut residuals = Vec::new();
        for at in 0..basis.len() {
            basis.copy(at, &mut factor)?;
            operator.apply(&factor, width, &mut product)?;
            set_columns(&mut small, at, &basis.dots(0..basis.len(), &product)?, width);
            let mut values = ZERO;
            let columns = at * width..count.min((at + 1) * width);
            columns
                .clone()
                .for_each(|column| values[column - at * width][column - at * width] = -small[(column, column)]);
            space.add_product(&factor, &values, &mut product)?;
            let squares = space.dots(&product, &product)?;
            residuals.extend(columns.map(|column| squares[column % width][column % width].sqrt()));
        }
        let values: Vec<f64> = (0..count).map(|i| small[(i, i)]).collect();
        let beside = entries(count).filter(|(i, k)| i != k);
        let is_diagonal =
            beside.map(|(i, k)| (small[(i, k)].abs(), i)).all(|(entry, i)| entry <= limit.of(values[i].abs()));
        if is_diagonal || round == 2 {
            let residual_bound = limit.of(magnitude(&values));
            let ending = Ending { converged: 0, residual_bound, restarts, is_complete };
            let mut solved = Solved { values, basis, residuals, limit, ending };
            solved.ending.converged = solved.converged().count();
            return solved.sorted();
        }
        let symmetric = Mat::from_fn(count, count, |i, k| (small[(i, k)] + small[(k, i)]) / 2.0);
        // Their memory is needed while the basis is multiplied.
        drop((factor, product));
        let (_, turn) = small_eigen(&space, &symmetric).ok_or_else(|| operator.breakdown(greatest(&symmetric)))?;
        basis.rotate(&padded(&turn, basis.len() * width))?;
    }
    unreachable!("rounds end")
}

/// Makes the first vectors of a basis orthonormal; they nearly are.
pub(crate) fn orthonormal(operator: &dyn Operator<'_>, basis: &mut Basis, count: usize) -> Result<()> {
    let width = basis.space.width;
    let mut gram = Mat::zeros(count, count);
    {
        let mut factor = basis.space.zeros("eigenvectors")?;
        for at in 0..basis.len() {
            basis.copy(at, &mut factor)?;
            set_columns(&mut gram, at, &basis.dots(0..basis.len(), &factor)?, width);
        }
    }
    // The product with the inverse of the Gram matrix's upper Cholesky factor is orthonormal.
    let factor = gram.llt(Side::Lower).map_err(|_| operator.breakdown(greatest(&gram)))?;
    let mut inverse = Mat::<f64>::identity(count, count);
    solve_upper_triangular_in_place(factor.L().transpose(), inverse.as_mut(), Par::Seq);
    basis.rotate(&padded(&inverse, basis.len() * width))
}

/// Writes dot products with a block to the columns of a small matrix that belong to it.
fn set_columns(small: &mut Mat<f64>, block: usize, dots: &[Square], width: usize) {
    dots.iter().enumerate().for_each(|(of, square)| set_square(small, width, of, block, square));
}
