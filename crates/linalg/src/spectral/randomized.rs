//! Singular values and vectors by a random projection, in a number of passes that is known beforehand.
//!
//! *Idea.* The products of a matrix with random vectors span nearly what its first singular vectors span; multiplying
//! by the transpose and the matrix again makes that better. The matrix is projected on this space, and what is left is
//! small. Column means are taken away from products, never from the matrix.
//!
//! Halko, Martinsson and Tropp, *Finding structure with randomness*, SIAM Review 2011.

use crate::declare::{
    Declaration, Found, Given, Needs, RANDOM_STATE, SolverPlan, StoredVectors, both_shapes, both_sides, pass_bytes,
    table_lines, values_bytes,
};
use crate::operator::{Costs, Counted, LEAST_SCALE, Operator, check_entries, require_real, space};
use crate::spectral::check_wanted;
use crate::spectral::small::{SMALL_COPIES, dense_bytes, greatest, padded, small_svd};
use crate::spectral::svds::append_orthonormal;
use crate::tall::Space;
use crate::tall::basis::{Basis, Room};
use crate::tall::panels::copy_columns;
use crate::tall::vectors::Vectors;
use crate::verify::{check_orthonormal, check_singular, vectors_bytes};
use faer::Mat;
use outcore_declare::{Fact, Kind, Parameter};
use outcore_image::{Error, Result, Stats};
use outcore_io::Array;
use outcore_matrix::{MOST_COLUMNS, Operand, SparseMatrix};
use std::cell::RefCell;

/// Declaration for the shell.
pub(crate) static RANDOMIZED_SVD: Declaration = Declaration {
    options: &[
        Parameter::required("k", Kind::WHOLE, "How many"),
        Parameter::whole("passes", 4, "Passes over the matrix: 2, 4, 6 and so on"),
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
    values: Some("the singular values, in the order of the vectors: the greatest first"),
    ..Declaration::new(
        "randomized_svd",
        "The greatest singular values and their vectors, approximately, in a number of passes that is known",
        "the left singular vectors, one row per row of the matrix",
        plan,
    )
};

fn plan(matrix: &SparseMatrix, Given { values, .. }: Given) -> Result<Box<dyn SolverPlan>> {
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
        let (blocks, width) = blocks(matrix, self);
        let (rows, columns) = (matrix.shape().0 as usize, matrix.shape().1 as usize);
        let sides = [rows, columns].map(|rows| Space { runtime, rows, width, is_complex: false });
        let means_bytes = if self.center { 8 * columns as u64 } else { 0 };
        let bytes = |together| {
            product_bytes(&sides[0], &sides[1], blocks, together)
                .max(product_bytes(&sides[1], &sides[0], blocks, together))
        };
        let small_bytes = dense_bytes(SMALL_COPIES, blocks * width);
        let mut together = blocks.min(MOST_COLUMNS / width);
        while together > 1 && bytes(together) + small_bytes > runtime.budget().available_bytes() {
            together -= 1;
        }
        let pieces_bytes = sides.iter().map(Basis::pieces_bytes).sum::<u64>();
        let times = blocks.div_ceil(together);
        let passes = self.passes.saturating_mul(times) + usize::from(self.center);
        Ok(Needs {
            least_bytes: bytes(1) + small_bytes + pieces_bytes + means_bytes + values_bytes(matrix),
            verify_bytes: vectors_bytes(matrix, self.k) + means_bytes,
            vectors: Some(StoredVectors::new(
                matrix,
                blocks * width,
                blocks as u64 * (sides[0].block_bytes() + sides[1].block_bytes()),
            )),
            columns_per_pass: together * width,
            passes: format!("{passes}, by turns over rows and columns"),
            bytes_per_pass: vec![pass_bytes(matrix, Operand::Matrix), pass_bytes(matrix, Operand::Transpose)],
            files: None,
            shapes: both_shapes(matrix, self.k),
        })
    }

    fn run<'a>(&self, matrix: &'a SparseMatrix, verify: bool) -> Result<Found<'a>> {
        let mut svd = randomized_svd(matrix, self)?;
        if verify {
            verify_randomized(matrix, self.k, &mut svd)?;
        }
        let RandomizedSvd { left, values, right, means, products, stats } = svd;
        let values = vec![("singular_value", values)];
        let mut facts = vec![("products", Fact::Whole(products))];
        facts.extend(means.map(|means| ("means", Fact::vector(&means))));
        Ok(Found {
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
fn verify_randomized(matrix: &SparseMatrix, k: usize, svd: &mut RandomizedSvd<'_>) -> Result<()> {
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
    /// Passes over the matrix: 2, 4, 6 and so on. More make it more exact.
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
pub struct RandomizedSvd<'a> {
    /// Left singular vectors, one for each row.
    pub left: Vectors<'a>,
    /// The singular values, in descending order.
    pub values: Vec<f64>,
    /// Right singular vectors, one for each column.
    pub right: Vectors<'a>,
    /// The mean of every column, in the order of ids, if it was taken away.
    pub means: Option<Vec<f64>>,
    /// Number of vectors multiplied by the matrix or its transpose.
    pub products: u64,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Approximates the greatest singular values of a matrix, and their vectors.
///
/// *Cost.* As many passes as are asked for, by turns over rows and columns, and one more for means. Memory for `k +
/// oversamples` vectors of both sides, twice while they are multiplied. Where there is less, vectors go to a temporary
/// file, and fewer are multiplied at once, in more passes.
///
/// # Errors
/// Options that cannot be; entries so small that their squares vanish; too little memory for a block of eight vectors
/// of each side; a page that cannot be read or is damaged; a full disk; a request to stop.
pub fn randomized_svd<'a>(matrix: &'a SparseMatrix, options: &RandomizedSvdOptions) -> Result<RandomizedSvd<'a>> {
    let &RandomizedSvdOptions { k, passes, center, seed, .. } = options;
    check_options(matrix, options)?;
    let (blocks, width) = blocks(matrix, options);
    let costs = RefCell::new(Costs::new(matrix, "randomized_svd"));
    let run = Run {
        matrix,
        blocks,
        width,
        forward: Counted::new(matrix, Operand::Matrix, &costs)?,
        backward: Counted::new(matrix, Operand::Transpose, &costs)?,
        means: if center { Some(means(matrix, &costs)?) } else { None },
        idle: RefCell::new(None),
    };
    let size = blocks * width;
    let _reservation = matrix.graph().reserve("small dense matrices", dense_bytes(SMALL_COPIES, size))?;
    let mut upper = Mat::zeros(size, size);
    let mut left = run.multiply(Source::Random(seed), Operand::Matrix, &mut upper)?;
    for _ in 0..passes / 2 - 1 {
        let mut right = run.multiply(Source::Basis(&mut left), Operand::Transpose, &mut upper)?;
        drop(left);
        left = run.multiply(Source::Basis(&mut right), Operand::Matrix, &mut upper)?;
    }
    let mut right = run.multiply(Source::Basis(&mut left), Operand::Transpose, &mut upper)?;
    run.idle.take();
    let transposed = upper.transpose().to_owned();
    let (of_left, mut values, of_right) =
        small_svd(&transposed).ok_or_else(|| run.forward.breakdown(greatest(&transposed)))?;
    if values.first().is_some_and(|&greatest| greatest < LEAST_SCALE) {
        check_entries(matrix, &matrix.entry_sums(&mut costs.borrow_mut().stats)?)?;
    }
    left.rotate(&padded(&of_left, size))?;
    right.rotate(&padded(&of_right, size))?;
    left.truncate(k.div_ceil(width));
    right.truncate(k.div_ceil(width));
    values.truncate(k);
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
    Ok(RandomizedSvd { left, values, right, means, products: costs.products, stats })
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

/// Number of blocks of vectors, and of vectors in each.
fn blocks(matrix: &SparseMatrix, options: &RandomizedSvdOptions) -> (usize, usize) {
    let least = matrix.shape().0.min(matrix.shape().1) as usize;
    let count = options.k.saturating_add(options.oversamples).min(least);
    let Some(width) = [8, 4, 2, 1].into_iter().find(|&width| count.next_multiple_of(width) <= least) else {
        unreachable!("every number is a multiple of 1")
    };
    (count.div_ceil(width), width)
}

/// The bytes of memory for a product that multiplies `together` of all blocks at once.
fn product_bytes(from: &Space<'_>, to: &Space<'_>, blocks: usize, together: usize) -> u64 {
    let columns = (together * from.width).next_power_of_two();
    8 * (columns * (from.rows + to.rows)) as u64 + from.block_bytes() + Basis::least_bytes(to, blocks)
}

/// The mean of every column, in the order of the image.
fn means(matrix: &SparseMatrix, costs: &RefCell<Costs>) -> Result<Array<f64>> {
    let operator = Counted::new(matrix, Operand::Transpose, costs)?;
    let (columns, rows) = operator.shape();
    let budget = matrix.graph().runtime().budget();
    let mut ones = Array::zeroed(budget, "ones", rows)?;
    ones.fill(1.0 / rows as f64);
    let mut means = Array::zeroed(budget, "means of columns", columns)?;
    operator.apply(&ones, 1, &mut means)?;
    Ok(means)
}

enum Source<'s, 'a> {
    /// Random vectors of this seed.
    Random(u64),
    Basis(&'s mut Basis<'a>),
}

struct Run<'a, 'c> {
    matrix: &'a SparseMatrix,
    blocks: usize,
    width: usize,
    forward: Counted<'a, 'c>,
    backward: Counted<'a, 'c>,
    means: Option<Array<f64>>,
    /// The factor and the product of the last product, for their memory.
    idle: RefCell<Option<[Array<f64>; 2]>>,
}

impl<'a> Run<'a, '_> {
    /// Multiplies the operand by all vectors of `source`, and makes the products orthonormal. Returns them as a basis;
    /// the triangular factor goes to `upper`.
    fn multiply(&self, mut source: Source<'_, 'a>, operand: Operand, upper: &mut Mat<f64>) -> Result<Basis<'a>> {
        let (operator, other) = match operand == Operand::Matrix {
            true => (&self.forward, &self.backward),
            false => (&self.backward, &self.forward),
        };
        let (from, to) = (space(operator, self.width), space(other, self.width));
        upper.fill(0.0);
        let budget = from.runtime.budget();
        let bytes_of = |together| product_bytes(&from, &to, self.blocks, together);
        let mut together = self.blocks.min(MOST_COLUMNS / self.width);
        let numbers =
            |together: usize| [&from, &to].map(|side| (together * self.width).next_power_of_two() * side.rows);
        // The last product is as large as the next factor, if as many columns are multiplied at once.
        let idle = self.idle.take().map(|[factor, product]| [product, factor]);
        let mut idle = idle.filter(|idle| [0, 1].map(|at| idle[at].len()) == numbers(together));
        let idle_bytes = 8 * idle.iter().flatten().map(|array| array.len() as u64).sum::<u64>();
        if let Source::Basis(basis) = &mut source {
            basis.leave(bytes_of(together) - idle_bytes)?;
        }
        if bytes_of(together) > idle_bytes + budget.available_bytes() {
            idle = None;
        }
        let reused_bytes = if idle.is_some() { idle_bytes } else { 0 };
        while together > 1 && bytes_of(together) > reused_bytes + budget.available_bytes() {
            together -= 1;
        }
        self.matrix.graph().make_room("vectors of a random projection", bytes_of(together) - reused_bytes)?;
        let mut products = Basis::new(to, Room::of(operator), self.blocks)?;
        let columns = (together * self.width).next_power_of_two();
        let mut part = Array::zeroed(budget, "vectors of a random projection", from.numbers())?;
        let [mut factor, mut product] = match idle {
            Some([mut factor, product]) => {
                // Columns beyond the vectors must be 0.
                factor.fill(0.0);
                [factor, product]
            }
            None => {
                let [factor, product] = numbers(together);
                [
                    Array::zeroed(budget, "vectors that are multiplied", factor)?,
                    Array::zeroed(budget, "their product", product)?,
                ]
            }
        };
        for first in (0..self.blocks).step_by(together) {
            let blocks = first..self.blocks.min(first + together);
            let mut sums = Vec::new();
            for block in blocks.clone() {
                match &source {
                    Source::Random(seed) => from.randomize(&mut part, |_| true, seed.wrapping_add(block as u64))?,
                    Source::Basis(basis) => basis.copy(block, &mut part)?,
                }
                sums.push(self.weighted_sums(&from, operand, &part)?);
                spread(&from, &part, &mut factor, columns, (block - first) * self.width)?;
            }
            operator.apply(&factor, columns, &mut product)?;
            for (block, sums) in blocks.zip(sums) {
                let mut part = products.fresh()?;
                gather(&to, &product, &mut part, columns, (block - first) * self.width)?;
                self.take_means(&to, operand, &sums, &mut part)?;
                append_orthonormal(operator, &mut products, part, upper, block as u64)?;
            }
        }
        self.idle.replace(Some([factor, product]));
        Ok(products)
    }

    /// Factors of the correction by the means: of each vector its product with them, or the sum of its numbers.
    fn weighted_sums(&self, from: &Space<'_>, operand: Operand, block: &[f64]) -> Result<Vec<f64>> {
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
    fn take_means(&self, to: &Space<'_>, operand: Operand, sums: &[f64], block: &mut [f64]) -> Result<()> {
        let Some(means) = &self.means else { return Ok(()) };
        to.change(block, |rows, block| {
            for (row, numbers) in rows.zip(block.chunks_exact_mut(to.width)) {
                let weight = if operand == Operand::Matrix { 1.0 } else { means[row] };
                numbers.iter_mut().zip(sums).for_each(|(number, sum)| *number -= weight * sum);
            }
        })
    }
}

/// Copies a block to columns of a wider matrix.
fn spread(space: &Space<'_>, block: &[f64], wide: &mut [f64], columns: usize, first: usize) -> Result<()> {
    let wider = Space { width: columns, ..*space };
    wider.change(wide, |rows, wide| {
        copy_columns(space.width, (&block[space.place(&rows)], space.width, 0), (wide, columns, first));
    })
}

/// Copies columns of a wider matrix to a block.
fn gather(space: &Space<'_>, wide: &[f64], block: &mut [f64], columns: usize, first: usize) -> Result<()> {
    space.change(block, |rows, block| {
        let wide = &wide[rows.start * columns..rows.end * columns];
        copy_columns(space.width, (wide, columns, first), (block, space.width, 0));
    })
}
