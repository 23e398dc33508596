//! Spectral embeddings of graphs: eigenvectors of a Laplacian matrix.
//!
//! *Idea.* With the weights W without loops, their row sums d and D = diag(d), the least eigenvalues of the normalised
//! Laplacian `I - D^-1/2 W D^-1/2` are the greatest of `D^-1/2 W D^-1/2`, and those of the Laplacian `D - W` the
//! greatest of `W - D`. Neither is stored: both are `S A S - C` with the given matrix A and diagonal matrices S and C.
//! Eigenvectors are divided by the roots of d, as scikit-learn has it. A vertex without edges has an eigenvalue of its
//! own, 1 of the normalised Laplacian and 0 of the other.
//!
//! Shi and Malik, *Normalized cuts and image segmentation*, IEEE PAMI 2000; Belkin and Niyogi, *Laplacian eigenmaps for
//! dimensionality reduction and data representation*, Neural Computation 2003; von Luxburg, *A tutorial on spectral
//! clustering*, Statistics and Computing 2007.

use crate::eigsh::{EigshOptions, Solved, Which, check_options, check_symmetric, solve};
use crate::operator::{Costs, Counted, Operator, space, square_rows};
use crate::tall::Space;
use crate::vectors::Vectors;
use outcore_graph::{Error, Result, Stats};
use outcore_io::Array;
use outcore_matrix::{Operand, SparseMatrix};
use std::cell::RefCell;
use std::path::PathBuf;

const PURPOSE: &str = "degrees of a spectral embedding";
/// What is left of a row's sum without its loop, in units of that sum, and is nothing but rounding.
const ROUNDING: f64 = 1e-14;

/// How a spectral embedding is computed.
#[derive(Clone, Debug)]
pub struct SpectralEmbeddingOptions {
    /// How many columns.
    pub n_components: usize,
    /// Whether the Laplacian is normalised.
    pub norm_laplacian: bool,
    /// Whether the first eigenvector, which is the same everywhere in a connected graph, is left out.
    pub drop_first: bool,
    /// The greatest residual, in units of the operator's norm; 0 for what rounding allows.
    pub tol: f64,
    /// As with [`EigshOptions`].
    pub ncv: Option<usize>,
    /// As with [`EigshOptions`].
    pub block: usize,
    /// As with [`EigshOptions`].
    pub max_iter: u64,
    /// Where random numbers begin.
    pub seed: u64,
    /// As with [`EigshOptions`].
    pub checkpoint: Option<PathBuf>,
}

impl Default for SpectralEmbeddingOptions {
    fn default() -> Self {
        let EigshOptions { tol, ncv, block, max_iter, seed, checkpoint, .. } = EigshOptions::default();
        let (n_components, norm_laplacian, drop_first) = (8, true, true);
        SpectralEmbeddingOptions {
            n_components,
            norm_laplacian,
            drop_first,
            tol,
            ncv,
            block,
            max_iter,
            seed,
            checkpoint,
        }
    }
}

/// A spectral embedding.
#[derive(Debug)]
pub struct SpectralEmbedding<'a> {
    /// Eigenvectors of length 1, the last one first.
    vectors: Vectors<'a>,
    /// What rows are multiplied by, in the order of the image; none if the Laplacian is not normalised.
    scale: Option<Array<f64>>,
    matrix: &'a SparseMatrix,
    /// The Laplacian's eigenvalues, one for each column, in ascending order.
    pub eigenvalues: Vec<f64>,
    /// The residual of each pair, before rows are scaled.
    pub residuals: Vec<f64>,
    /// How many of the pairs that were computed have converged; with `drop_first` that is one more than columns.
    pub converged: usize,
    /// The greatest residual that counts as converged.
    pub residual_bound: f64,
    /// How many vectors were multiplied.
    pub products: u64,
    /// How often a full subspace was begun again.
    pub restarts: u64,
    /// What it cost.
    pub stats: Stats,
}

impl SpectralEmbedding<'_> {
    /// How many rows and columns there are.
    pub fn shape(&self) -> (usize, usize) {
        self.vectors.shape()
    }

    /// Makes this much memory free, if it can, by moving vectors to the temporary file.
    ///
    /// # Errors
    /// A full disk.
    pub fn leave(&mut self, bytes: u64) -> Result<()> {
        self.vectors.leave(bytes)
    }

    /// Writes the embedding row by row, with rows in the order of ids and columns in that of eigenvalues. The entry of
    /// greatest magnitude of a column, the first of several, is positive.
    ///
    /// # Errors
    /// Too few or too many numbers, a temporary file that cannot be read.
    pub fn write(&self, numbers: &mut [f64]) -> Result<()> {
        let (rows, count) = self.shape();
        self.vectors.write(numbers)?;
        for place in 0..rows {
            let factor = self.scale.as_ref().map_or(1.0, |scale| scale[place]);
            let row = &mut numbers[self.matrix.row_at(place) * count..][..count];
            row.reverse();
            row.iter_mut().for_each(|number| *number *= factor);
        }
        let mut extremes = vec![0.0f64; count];
        for row in numbers.chunks_exact(count) {
            for (extreme, &number) in extremes.iter_mut().zip(row) {
                *extreme = if number.abs() > extreme.abs() { number } else { *extreme };
            }
        }
        for row in numbers.chunks_exact_mut(count) {
            row.iter_mut()
                .zip(&extremes)
                .filter(|(_, extreme)| **extreme < 0.0)
                .for_each(|(number, _)| *number *= -1.0);
        }
        Ok(())
    }
}

/// Embeds the vertices of a graph, whose matrix is symmetric and without negative weights, by the eigenvectors for the
/// least eigenvalues of its Laplacian. Definitions are those of scikit-learn's `spectral_embedding`.
///
/// As many eigenvalues are 0 as the graph has components, but for single vertices if the Laplacian is normalised; their
/// vectors may be any that span the same space.
///
/// *Cost.* As with [`eigsh`](crate::eigsh), and `16 n` bytes for degrees, with `norm_laplacian` `8 n` per column of a
/// block besides; up to three passes in the beginning, for row sums, the diagonal and the least weight.
///
/// # Errors
/// As with [`eigsh`](crate::eigsh); a negative weight; a sum of weights that is no finite number.
pub fn spectral_embedding<'a>(
    matrix: &'a SparseMatrix,
    options: &SpectralEmbeddingOptions,
) -> Result<SpectralEmbedding<'a>> {
    let &SpectralEmbeddingOptions { n_components, norm_laplacian, drop_first, tol, ncv, block, max_iter, seed, .. } =
        options;
    let rows = square_rows(matrix)?;
    let dropped = usize::from(drop_first);
    if n_components == 0 || n_components.saturating_add(dropped) > rows {
        let beside = if drop_first { " beside the first eigenvector" } else { "" };
        let text = format!("expected n_components from 1 to {}{beside}", rows.saturating_sub(dropped));
        return Err(Error::Usage(format!("{text}, found {n_components}")));
    }
    let k = n_components + dropped;
    let options = EigshOptions {
        k,
        which: Which::LargestAlgebraic,
        tol,
        ncv,
        block,
        max_iter,
        seed,
        checkpoint: options.checkpoint.clone(),
    };
    check_options(rows, &options)?;
    let costs = RefCell::new(Costs::new(matrix, "spectral_embedding"));
    let (solved, scale) = {
        let operator = Counted::new(matrix, Operand::Matrix, &costs)?;
        check_symmetric(&operator)?;
        let laplacian = Laplacian::new(operator, norm_laplacian, block)?;
        let solved = solve(&laplacian, &options, "spectral_embedding")?;
        (solved, laplacian.scale)
    };
    let costs = costs.into_inner();
    let Solved { values, basis, mut residuals, converged, residual_bound, restarts } = solved;
    let one = if norm_laplacian { 1.0 } else { 0.0 };
    let eigenvalues = values.iter().rev().skip(dropped).map(|value| one - value).collect();
    residuals.truncate(n_components);
    residuals.reverse();
    Ok(SpectralEmbedding {
        // The first is the last of those in ascending order.
        vectors: Vectors::new(basis, matrix, n_components, Operand::Matrix),
        scale,
        matrix,
        eigenvalues,
        residuals,
        converged,
        residual_bound,
        products: costs.products,
        restarts,
        stats: costs.stats.finish(matrix.graph().runtime(), matrix.pages_per_pass(Operand::Matrix)),
    })
}

/// `I` minus the normalised Laplacian, or minus the Laplacian: `S A S - C`.
struct Laplacian<'a, 'c> {
    operator: Counted<'a, 'c>,
    /// S, where it is not 1, and room for a block that it multiplies.
    scale: Option<Array<f64>>,
    scaled: RefCell<Array<f64>>,
    /// C.
    shift: Array<f64>,
}

impl<'a, 'c> Laplacian<'a, 'c> {
    fn new(operator: Counted<'a, 'c>, is_normalised: bool, width: usize) -> Result<Self> {
        let (matrix, space) = (operator.matrix, space(&operator, 1));
        if matrix.has_values() {
            let least = matrix.entry_sums(&mut operator.costs.borrow_mut().stats)?.least;
            if least < 0.0 {
                let image = matrix.graph().path().display();
                let text = format!("expected weights of 0 or more in {image} for a spectral embedding, found {least}");
                return Err(Error::Unsuitable(text));
            }
        }
        let budget = space.runtime.budget();
        let mut sums = Array::zeroed(budget, PURPOSE, space.numbers())?;
        {
            let mut ones = Array::zeroed(budget, PURPOSE, space.numbers())?;
            ones.fill(1.0);
            operator.apply(&ones, 1, &mut sums)?;
        }
        let mut loops = matrix.diagonal(&mut operator.costs.borrow_mut().stats)?;
        let [total] = space.update([&mut sums, &mut loops], |_, [sums, loops], [total]| {
            for (sum, own) in sums.iter_mut().zip(loops) {
                *total += *sum;
                let rest = *sum - *own;
                let degree = if rest > ROUNDING * *sum { rest } else { 0.0 };
                (*sum, *own) = match is_normalised {
                    false => (1.0, degree + *own),
                    true if degree == 0.0 => (1.0, *own),
                    true => (1.0 / degree.sqrt(), *own / degree),
                };
            }
        })?;
        if !total.is_finite() {
            return Err(operator.too_large());
        }
        let (scale, width) = if is_normalised { (Some(sums), width) } else { (None, 0) };
        let scaled = Array::zeroed(budget, "a block that is scaled by degrees", space.rows * width)?;
        Ok(Laplacian { operator, scale, scaled: RefCell::new(scaled), shift: loops })
    }
}

impl<'a> Operator<'a> for Laplacian<'a, '_> {
    fn shape(&self) -> (usize, usize) {
        self.operator.shape()
    }

    fn pages(&self) -> u64 {
        self.operator.pages()
    }

    fn apply(&self, factor: &[f64], columns: usize, product: &mut [f64]) -> Result<()> {
        let space = Space { width: columns, ..space(&self.operator, 1) };
        let Some(scale) = &self.scale else {
            self.operator.apply(factor, columns, product)?;
            return self.shift(&space, factor, product, |_| 1.0);
        };
        let scaled = &mut self.scaled.borrow_mut()[..space.numbers()];
        space.update([&mut *scaled], |rows, [scaled], []| {
            let factor = factor[space.place(&rows)].chunks_exact(columns);
            for ((row, to), numbers) in rows.zip(scaled.chunks_exact_mut(columns)).zip(factor) {
                to.iter_mut().zip(numbers).for_each(|(to, number)| *to = scale[row] * number);
            }
        })?;
        self.operator.apply(scaled, columns, product)?;
        self.shift(&space, factor, product, |row| scale[row])
    }

    fn matrix(&self) -> &'a SparseMatrix {
        self.operator.matrix
    }

    fn costs(&self) -> &RefCell<Costs> {
        self.operator.costs
    }
}

impl Laplacian<'_, '_> {
    /// Multiplies the rows of a product, and takes what the shift makes of the factor away.
    fn shift(
        &self,
        space: &Space<'_>,
        factor: &[f64],
        product: &mut [f64],
        scale: impl Fn(usize) -> f64 + Sync,
    ) -> Result<()> {
        let (columns, shifts) = (space.width, &self.shift);
        space.update([product], |rows, [product], []| {
            let factor = factor[space.place(&rows)].chunks_exact(columns);
            for ((row, to), numbers) in rows.zip(product.chunks_exact_mut(columns)).zip(factor) {
                let (scale, shift) = (scale(row), shifts[row]);
                to.iter_mut().zip(numbers).for_each(|(to, number)| *to = scale * *to - shift * number);
            }
        })?;
        Ok(())
    }
}
