//! Singular values and vectors by a random projection, in a number of passes that is known beforehand.
//!
//! *Idea.* The products of a matrix with random vectors span nearly what its first singular vectors span; multiplying
//! by the transpose and the matrix again makes that better, and all such products together span more than the last
//! ones: a block Krylov space. The matrix is projected on it. The products with the transpose that this takes are known
//! by then, so what is kept costs room, but no pass. Column means are taken away from products, never from the matrix.
//!
//! Halko, Martinsson and Tropp, *Finding structure with randomness*, SIAM Review 2011; Musco and Musco, *Randomized
//! block Krylov methods for stronger and faster approximate singular value decomposition*, NIPS 2015.

use crate::declare::{
    Needs, RANDOM_STATE, SolverDeclaration, SolverFinding, SolverInput, SolverPlan, StoredVectors, both_shapes,
    both_sides, pass_bytes, table_lines, values_bytes,
};
use crate::operator::{Costs, Counted, LEAST_SCALE, Operator, check_entries, require_real, space};
use crate::spectral::check_wanted;
use crate::spectral::small::{SMALL_COPIES, dense_bytes, greatest, padded, small_svd};
use crate::spectral::svds::append_orthonormal;
use crate::tall::basis::{Basis, Room};
use crate::tall::panels::copy_columns;
use crate::tall::vectors::Vectors;
use crate::tall::{Space, ZERO};
use crate::verify::{check_orthonormal, check_singular, vectors_bytes};
use faer::Mat;
use outcore_declare::{Fact, Kind, Parameter};
use outcore_image::{Error, Result, Stats};
use outcore_io::{Budget, Buffer};
use outcore_matrix::{MOST_COLUMNS, Operand, SparseMatrix};
use std::cell::RefCell;

/// Rounds whose vectors are kept, the last ones: more would take more room than they are worth.
const MOST_RETAINED: usize = 8;

/// Declaration for the shell.
pub(crate) static RANDOMIZED_SVD: SolverDeclaration = SolverDeclaration {
    options: &[
        Parameter::required("k", Kind::WHOLE, "How many"),
        Parameter::whole("passes", 4, "Passes over the matrix: 2, 4, 6 and so on. One more is for residuals"),
        Parameter::whole("n_oversamples", 10, "How many random vectors beyond those that are wanted")
            .with_aliases(&["oversamples"]),
        Parameter::flag(
            "center",
            false,
            "Take the mean of every column away from it: principal components. A pass more",
        ),
        RANDOM_STATE,
    ],
    right: Some("the right singular vectors, one row per column of the matrix"),
    values: Some("the singular values and residuals, in the order of the vectors: the greatest first"),
    ..SolverDeclaration::new(
        "randomized_svd",
        "The greatest singular values and their vectors, approximately, in a number of passes that is known",
        "the left singular vectors, one row per row of the matrix",
        plan,
    )
};

fn plan(matrix: &SparseMatrix, SolverInput { values, .. }: SolverInput) -> Result<Box<dyn SolverPlan>> {
    let options = RandomizedSvdOptions {
        k: values.size("k"),
        oversamples: values.size("n_oversamples"),
        passes: values.size("passes"),
        center: values.flag("center"),
        seed: values.whole("random_state"),
    };
    require_real(matrix)?;
    check_options(matrix, &options)?;
    Ok(Box::new(options))
}

impl SolverPlan for RandomizedSvdOptions {
    fn needs(&self, matrix: &SparseMatrix) -> Result<Needs> {
        let runtime = matrix.graph().runtime();
        let Sizes { blocks, width, rounds, retained } = Sizes::of(matrix, self);
        let total = retained * blocks;
        let (rows, columns) = (matrix.shape().0 as usize, matrix.shape().1 as usize);
        let sides = [rows, columns].map(|rows| Space { runtime: runtime.clone(), rows, width, is_complex: false });
        let means_bytes = if self.center { 8 * columns as u64 } else { 0 };
        let bytes = |together| {
            product_bytes(&sides[0], &sides[1], total, together)
                .max(product_bytes(&sides[1], &sides[0], total, together))
        };
        let small_bytes = dense_bytes(SMALL_COPIES, total * width);
        let mut together = blocks.min(MOST_COLUMNS / width);
        while together > 1 && bytes(together) + small_bytes > runtime.budget().available_bytes() {
            together -= 1;
        }
        let pieces_bytes = sides.iter().map(Basis::pieces_bytes).sum::<u64>();
        let results_bytes = sides.iter().map(Basis::piece_bytes).sum::<u64>();
        let of_residuals = self.k.div_ceil(width).div_ceil(together);
        let passes = (2 * rounds).saturating_mul(blocks.div_ceil(together)) + of_residuals + usize::from(self.center);
        Ok(Needs {
            least_bytes: bytes(1) + small_bytes + pieces_bytes + means_bytes + values_bytes(matrix),
            verify_bytes: vectors_bytes(matrix, self.k) + means_bytes + results_bytes,
            results_bytes,
            vectors: Some(StoredVectors::new(
                matrix,
                total * width,
                total as u64 * (sides[0].block_bytes() + sides[1].block_bytes()),
            )),
            columns_per_pass: together * width,
            passes: format!("{passes}, by turns over rows and columns"),
            bytes_per_pass: vec![pass_bytes(matrix, Operand::Matrix), pass_bytes(matrix, Operand::Transpose)],
            files: None,
            shapes: both_shapes(matrix, self.k),
        })
    }

    fn run(&self, matrix: &SparseMatrix, verify: bool) -> Result<SolverFinding> {
        let mut svd = randomized_svd(matrix, self)?;
        if verify {
            verify_randomized(matrix, self.k, &mut svd)?;
        }
        let RandomizedSvd { left, values, right, residuals, means, products, stats } = svd;
        let values = vec![("singular_value", values), ("residual", residuals)];
        let mut facts = vec![("products", Fact::Whole(products))];
        facts.extend(means.map(|means| ("means", Fact::vector(&means))));
        Ok(SolverFinding {
            lines: [table_lines(&values), vec![format!("{products} products")]].concat(),
            values,
            facts,
            dense: both_sides(matrix, left, right),
            unconverged: None,
            stats,
        })
    }
}

/// Checks that the projection on the left vectors is the product of values and right vectors, and that both are
/// orthonormal. How near the matrix is to its projection is not known.
fn verify_randomized(matrix: &SparseMatrix, k: usize, svd: &mut RandomizedSvd) -> Result<()> {
    svd.left.leave(vectors_bytes(matrix, k))?;
    svd.right.leave(vectors_bytes(matrix, k))?;
    let RandomizedSvd { left, right, values, means, .. } = svd;
    // Means are in the order of ids, products in that of the image.
    let ordered = |means: &Vec<f64>| (0..means.len()).map(|place| means[matrix.column_at(place)]).collect::<Vec<_>>();
    let means = means.as_ref().map(ordered);
    check_singular(matrix, Operand::Transpose, values, [left, right], |_| 0.0, means.as_deref())?;
    check_orthonormal(left, matrix)?;
    check_orthonormal(right, matrix)
}

/// Options of approximate singular values.
#[derive(Clone, Copy, Debug)]
pub struct RandomizedSvdOptions {
    /// Number of singular values.
    pub k: usize,
    /// Number of random vectors beyond these.
    pub oversamples: usize,
    /// Passes over the matrix: 2, 4, 6 and so on, and one more for residuals. More make it more exact.
    pub passes: usize,
    /// Whether the mean of every column is taken away from it: principal components. A pass more.
    pub center: bool,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for RandomizedSvdOptions {
    fn default() -> Self {
        RandomizedSvdOptions { k: 6, oversamples: 10, passes: 4, center: false, seed: 0 }
    }
}

/// Approximate singular values and vectors.
#[derive(Debug)]
#[non_exhaustive]
pub struct RandomizedSvd {
    /// Left singular vectors, one for each row.
    pub left: Vectors,
    /// The singular values, in descending order.
    pub values: Vec<f64>,
    /// Right singular vectors, one for each column.
    pub right: Vectors,
    /// The length of `A v - s u` for each, from a product with the vector that is returned: how far the pair is from
    /// one of the matrix. That of `A^T u - s v` is rounding.
    pub residuals: Vec<f64>,
    /// The mean of every column, in the order of ids, if it was taken away.
    pub means: Option<Vec<f64>>,
    /// Number of vectors multiplied by the matrix or its transpose.
    pub products: u64,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Approximates the greatest singular values of a matrix, and their vectors.
///
/// *Cost.* As many passes as are asked for, by turns over rows and columns, one for residuals, and one for means. Fewer
/// where the vectors of all passes would be as many as the smaller side has rows. Memory for two times `k +
/// oversamples` vectors of both sides while they are multiplied, and for those of every second pass, sixteen passes at
/// most. Where there is less, vectors go to a temporary file, and fewer are multiplied at once, in more passes.
///
/// # Errors
/// Options that cannot be; entries so small that their squares vanish; too little memory for a block of eight vectors
/// of each side; a page that cannot be read or is damaged; a full disk; a request to stop.
pub fn randomized_svd(matrix: &SparseMatrix, options: &RandomizedSvdOptions) -> Result<RandomizedSvd> {
    let &RandomizedSvdOptions { k, center, seed, .. } = options;
    check_options(matrix, options)?;
    let Sizes { blocks, width, rounds, retained } = Sizes::of(matrix, options);
    let costs = RefCell::new(Costs::new(matrix, "randomized_svd"));
    let run = Run {
        matrix,
        total: retained * blocks,
        width,
        forward: Counted::new(matrix, Operand::Matrix, &costs)?,
        backward: Counted::new(matrix, Operand::Transpose, &costs)?,
        means: if center { Some(means(matrix, &costs)?) } else { None },
        idle: RefCell::new(None),
    };
    let size = retained * blocks * width;
    let _reservation = matrix.graph().reserve("small dense matrices", dense_bytes(SMALL_COPIES, size))?;
    let (mut left, mut right) = (run.basis(Operand::Matrix)?, run.basis(Operand::Transpose)?);
    let (mut of_products, mut upper) = (Mat::zeros(size, size), Mat::zeros(size, size));
    for round in 0..rounds {
        // The first round that is kept begins anew, as those before it.
        let begins = round + retained <= rounds;
        if begins {
            left.truncate(0);
            of_products.fill(0.0);
        }
        let source = match round {
            0 => Source::Random(seed),
            _ => Source::Basis(&mut right),
        };
        run.extend(source, blocks, Operand::Matrix, &mut left, &mut of_products)?;
        if begins {
            right.truncate(0);
            upper.fill(0.0);
        }
        run.extend(Source::Basis(&mut left), blocks, Operand::Transpose, &mut right, &mut upper)?;
    }
    let transposed = upper.transpose().to_owned();
    let (of_left, mut values, of_right) =
        small_svd(&transposed).ok_or_else(|| run.forward.breakdown(greatest(&transposed)))?;
    if values.first().is_some_and(|&greatest| greatest < LEAST_SCALE) {
        check_entries(matrix, &matrix.entry_sums(&mut costs.borrow_mut().stats)?)?;
    }
    right.leave_to_turn(&left)?;
    left.rotate(&padded(&of_left, size))?;
    left.leave_to_turn(&right)?;
    right.rotate(&padded(&of_right, size))?;
    left.truncate(k.div_ceil(width));
    right.truncate(k.div_ceil(width));
    values.truncate(k);
    let residuals = run.residuals(&mut left, &mut right, &values)?;
    let means = run.means.as_ref().map(|means| {
        let mut ordered = vec![0.0; means.len()];
        means.iter().enumerate().for_each(|(place, &mean)| ordered[matrix.column_at(place)] = mean);
        ordered
    });
    drop(run);
    let costs = costs.into_inner();
    let pages = (matrix.pages_per_pass(Operand::Matrix) + matrix.pages_per_pass(Operand::Transpose)) / 2;
    let stats = costs.stats.finish(matrix.graph().runtime(), pages);
    let (left, right) =
        (Vectors::new(left, matrix, k, Operand::Matrix), Vectors::new(right, matrix, k, Operand::Transpose));
    Ok(RandomizedSvd { left, values, right, residuals, means, products: costs.products, stats })
}

fn check_options(matrix: &SparseMatrix, options: &RandomizedSvdOptions) -> Result<()> {
    let &RandomizedSvdOptions { k, passes, .. } = options;
    let least = matrix.shape().0.min(matrix.shape().1) as usize;
    check_wanted(least, k, 0.0)?;
    if passes < 2 || passes % 2 == 1 {
        return Err(Error::Usage(format!("expected an even number of passes, at least 2, found {passes}")));
    }
    Ok(())
}

struct Sizes {
    /// Blocks of vectors of a round, and vectors of a block.
    blocks: usize,
    width: usize,
    /// Products with the matrix, each with one with the transpose behind it; the vectors of the last `retained` stay.
    rounds: usize,
    retained: usize,
}

impl Sizes {
    fn of(matrix: &SparseMatrix, options: &RandomizedSvdOptions) -> Self {
        let least = matrix.shape().0.min(matrix.shape().1) as usize;
        let (mut count, mut rounds) = (options.k.saturating_add(options.oversamples).min(least), options.passes / 2);
        if count * rounds.min(MOST_RETAINED) >= least {
            // A single round with that many vectors finds all.
            (count, rounds) = (least, 1);
        }
        let retained = rounds.min(MOST_RETAINED);
        let fits = |width: &usize| retained * count.next_multiple_of(*width) <= least;
        let Some(width) = [8, 4, 2, 1].into_iter().find(fits) else { unreachable!("every number is a multiple of 1") };
        Sizes { blocks: count.div_ceil(width), width, rounds, retained }
    }
}

/// The bytes of memory for a product that multiplies `together` of all blocks at once.
fn product_bytes(from: &Space, to: &Space, blocks: usize, together: usize) -> u64 {
    let columns = (together * from.width).next_power_of_two();
    8 * (columns * (from.rows + to.rows)) as u64 + from.block_bytes() + Basis::least_bytes(to, blocks)
}

/// The mean of every column, in the order of the image.
fn means(matrix: &SparseMatrix, costs: &RefCell<Costs>) -> Result<Buffer<f64>> {
    let operator = Counted::new(matrix, Operand::Transpose, costs)?;
    let (columns, rows) = operator.shape();
    let budget = matrix.graph().runtime().budget();
    let mut ones = Buffer::zeroed(budget, "ones", rows)?;
    ones.fill(1.0 / rows as f64);
    let mut means = Buffer::zeroed(budget, "means of columns", columns)?;
    operator.apply(&ones, 1, &mut means)?;
    Ok(means)
}

enum Source<'s> {
    /// Random vectors of this seed.
    Random(u64),
    Basis(&'s mut Basis),
}

struct Run<'a, 'c> {
    matrix: &'a SparseMatrix,
    /// Blocks of all rounds whose vectors are kept.
    total: usize,
    width: usize,
    forward: Counted<'a, 'c>,
    backward: Counted<'a, 'c>,
    means: Option<Buffer<f64>>,
    /// The factor and the product of the last product, for their memory.
    idle: RefCell<Option<[Buffer<f64>; 2]>>,
}

impl<'a> Run<'a, '_> {
    /// The operator of an operand, and that of its transpose.
    fn operators(&self, operand: Operand) -> (&Counted<'a, '_>, &Counted<'a, '_>) {
        match operand == Operand::Matrix {
            true => (&self.forward, &self.backward),
            false => (&self.backward, &self.forward),
        }
    }

    /// An empty basis for products with the operand.
    fn basis(&self, operand: Operand) -> Result<Basis> {
        let (operator, other) = self.operators(operand);
        Basis::new(space(other, self.width), Room::of(operator), self.total)
    }

    /// Multiplies the operand by the last vectors of `source`, and appends the products, made orthonormal, to a basis.
    /// Their coefficients in it go to columns of the triangular matrix `upper`.
    fn extend(
        &self,
        source: Source<'_>,
        blocks: usize,
        operand: Operand,
        products: &mut Basis,
        upper: &mut Mat<f64>,
    ) -> Result<()> {
        let operator = self.operators(operand).0;
        self.multiply(source, blocks, operand, products, |products, product| {
            let seed = products.len() as u64;
            append_orthonormal(operator, products, product, upper, seed)
        })
    }

    /// The lengths of `A v - s u`.
    fn residuals(&self, left: &mut Basis, right: &mut Basis, values: &[f64]) -> Result<Vec<f64>> {
        let (mut residuals, mut block, width) = (Vec::new(), 0, self.width);
        let blocks = right.len();
        self.multiply(Source::Basis(right), blocks, Operand::Matrix, left, |left, mut product| {
            let columns = block * width..values.len().min((block + 1) * width);
            let mut scale = vec![ZERO];
            columns.clone().for_each(|column| scale[0][column % width][column % width] = values[column]);
            left.subtract(block..block + 1, &scale, &mut product)?;
            let squares = left.space.dots(&product, &product)?;
            residuals.extend(columns.map(|column| squares[column % width][column % width].sqrt()));
            left.give_back(product);
            block += 1;
            Ok(())
        })?;
        self.idle.take();
        Ok(residuals)
    }

    /// Multiplies the operand by the last `count` blocks of `source`, and hands each product to `each`, in memory of
    /// the basis `products`.
    fn multiply(
        &self,
        mut source: Source<'_>,
        count: usize,
        operand: Operand,
        products: &mut Basis,
        mut each: impl FnMut(&mut Basis, Buffer<f64>) -> Result<()>,
    ) -> Result<()> {
        let (operator, other) = self.operators(operand);
        let (from, to) = (space(operator, self.width), space(other, self.width));
        let budget = from.runtime.budget();
        let bytes_of = |together| product_bytes(&from, &to, self.total, together);
        let mut together = count.min(MOST_COLUMNS / self.width);
        let numbers =
            |together: usize| [&from, &to].map(|side| (together * self.width).next_power_of_two() * side.rows);
        // The last product is as large as the next factor, if as many columns are multiplied at once.
        let idle = self.idle.take().map(|[factor, product]| [product, factor]);
        let mut idle = idle.filter(|idle| [0, 1].map(|at| idle[at].len()) == numbers(together));
        let idle_bytes = 8 * idle.iter().flatten().map(|array| array.len() as u64).sum::<u64>();
        let bytes = bytes_of(together).saturating_sub(idle_bytes);
        products.leave(bytes)?;
        let mut first_block = 0;
        if let Source::Basis(basis) = &mut source {
            basis.leave(bytes)?;
            first_block = basis.len() - count;
        }
        if bytes_of(together) > idle_bytes + budget.available_bytes() {
            idle = None;
        }
        let reused_bytes = if idle.is_some() { idle_bytes } else { 0 };
        while together > 1 && bytes_of(together) > reused_bytes + budget.available_bytes() {
            together -= 1;
        }
        let more_bytes = bytes_of(together).saturating_sub(reused_bytes);
        self.matrix.graph().make_room("vectors of a random projection", more_bytes)?;
        let columns = (together * self.width).next_power_of_two();
        let mut part = Buffer::zeroed(budget, "vectors of a random projection", from.numbers())?;
        let [mut factor, mut product] = arrays(budget, idle, numbers(together))?;
        for first in (0..count).step_by(together) {
            let blocks = first..count.min(first + together);
            let mut sums = Vec::new();
            for block in blocks.clone() {
                match &source {
                    Source::Random(seed) => from.randomize(&mut part, |_| true, seed.wrapping_add(block as u64))?,
                    Source::Basis(basis) => basis.copy(first_block + block, &mut part)?,
                }
                sums.push(self.weighted_sums(&from, operand, &part)?);
                spread(&from, &part, &mut factor, columns, (block - first) * self.width)?;
            }
            operator.apply(&factor, columns, &mut product)?;
            for (block, sums) in blocks.zip(sums) {
                let mut part = products.fresh()?;
                gather(&to, &product, &mut part, columns, (block - first) * self.width)?;
                self.take_means(&to, operand, &sums, &mut part)?;
                each(products, part)?;
            }
        }
        self.idle.replace(Some([factor, product]));
        Ok(())
    }

    /// Factors of the correction by the means: of each vector its product with them, or the sum of its numbers.
    fn weighted_sums(&self, from: &Space, operand: Operand, block: &[f64]) -> Result<Vec<f64>> {
        let Some(means) = &self.means else { return Ok(Vec::new()) };
        let sums = from.stripes(|_, rows| {
            let mut sums = vec![0.0; from.width];
            for (row, numbers) in rows.clone().zip(block[from.place(&rows)].chunks_exact(from.width)) {
                let weight = if operand == Operand::Matrix { means[row] } else { 1.0 };
                sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += weight * number);
            }
            Ok(sums)
        })?;
        let add = |sums: Vec<f64>, part: Vec<f64>| sums.iter().zip(part).map(|(sum, part)| sum + part).collect();
        Ok(sums.into_iter().fold(vec![0.0; from.width], add))
    }

    /// Subtracts the correction by the means from a block of products.
    fn take_means(&self, to: &Space, operand: Operand, sums: &[f64], block: &mut [f64]) -> Result<()> {
        let Some(means) = &self.means else { return Ok(()) };
        to.change(block, |rows, block| {
            for (row, numbers) in rows.zip(block.chunks_exact_mut(to.width)) {
                let weight = if operand == Operand::Matrix { 1.0 } else { means[row] };
                numbers.iter_mut().zip(sums).for_each(|(number, sum)| *number -= weight * sum);
            }
        })
    }
}

/// Memory for vectors that are multiplied, all 0, and for their product: that of another product, if there is any.
fn arrays(budget: &Budget, idle: Option<[Buffer<f64>; 2]>, numbers: [usize; 2]) -> Result<[Buffer<f64>; 2]> {
    let Some([mut factor, product]) = idle else {
        let [factor, product] = numbers;
        let factor = Buffer::zeroed(budget, "vectors that are multiplied", factor)?;
        return Ok([factor, Buffer::zeroed(budget, "their product", product)?]);
    };
    // Columns beyond the vectors must be 0.
    factor.fill(0.0);
    Ok([factor, product])
}

/// Copies a block to columns of a wider matrix.
fn spread(space: &Space, block: &[f64], wide: &mut [f64], columns: usize, first: usize) -> Result<()> {
    let wider = Space { width: columns, ..space.clone() };
    wider.change(wide, |rows, wide| {
        copy_columns(space.width, (&block[space.place(&rows)], space.width, 0), (wide, columns, first));
    })
}

/// Copies columns of a wider matrix to a block.
fn gather(space: &Space, wide: &[f64], block: &mut [f64], columns: usize, first: usize) -> Result<()> {
    space.change(block, |rows, block| {
        let wide = &wide[rows.start * columns..rows.end * columns];
        copy_columns(space.width, (wide, columns, first), (block, space.width, 0));
    })
}
