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

use crate::declare::{
    BLOCK, MAXITER, NCV, Needs, SEED, SolverDeclaration, SolverFinding, SolverInput, SolverPlan, TOL, shape_of,
    vector_names,
};
use crate::dense::{Dense, Store};
use crate::operator::{Costs, Counted, Operator, check_symmetric, require_real, space, square_rows};
use crate::spectral::symmetric::{EigshOptions, Solved, Which, solve};
use crate::spectral::{SpectralOptions, SpectralPairs};
use crate::tall::vectors::Vectors;
use crate::tall::{Space, check_room, for_each_row};
use crate::verify::{LONE, check_laplacian, vectors_bytes};
use outcore_declare::Parameter;
use outcore_image::{Error, Result};
use outcore_io::Buffer;
use outcore_matrix::{Operand, SparseMatrix};
use std::cell::RefCell;
use std::ops::Range;

const PURPOSE: &str = "degrees of a spectral embedding";

/// Declaration for the shell.
pub(crate) static SPECTRAL_EMBEDDING: SolverDeclaration = SolverDeclaration {
    options: &[
        Parameter::whole("n_components", 8, "How many columns"),
        Parameter::flag(
            "norm_laplacian",
            true,
            "Whether the Laplacian is normalised: I - D^-1/2 W D^-1/2 rather than D - W",
        ),
        Parameter::flag(
            "drop_first",
            true,
            "Whether the first eigenvector, which is the same everywhere in a connected graph, is left out",
        ),
        Parameter {
            help: "The greatest residual of a pair with the eigenvalue w, in units of |1 - w| if the Laplacian is \
                   normalised, otherwise of w; 0 for what rounding allows",
            ..TOL
        },
        NCV,
        BLOCK,
        MAXITER,
        SEED,
    ],
    values: Some("the Laplacian's eigenvalues and residuals, in the order of the columns: the least first"),
    has_checkpoints: true,
    must_converge: true,
    ..SolverDeclaration::new(
        "spectral_embedding",
        "The vertices of an undirected graph embedded by eigenvectors of its Laplacian",
        "the embedding, one row per vertex",
        plan,
    )
};

fn plan(matrix: &SparseMatrix, given: SolverInput) -> Result<Box<dyn SolverPlan>> {
    let [norm_laplacian, drop_first] = ["norm_laplacian", "drop_first"].map(|name| given.values.flag(name));
    let options = SpectralEmbeddingOptions::given(given, "n_components", Laplacian { norm_laplacian, drop_first });
    require_real(matrix)?;
    options.eigsh(square_rows(matrix)?)?;
    Ok(Box::new(options))
}

impl SolverPlan for SpectralEmbeddingOptions {
    fn needs(&self, matrix: &SparseMatrix) -> Result<Needs> {
        let rows = matrix.shape().0;
        let needs = self.eigsh(rows as usize)?.needs(matrix)?;
        // Degrees, and a block that they scale.
        let scaled = if self.which.norm_laplacian { 8 * self.block as u64 } else { 0 };
        let results_bytes = needs.results_bytes + if self.which.norm_laplacian { 8 * rows } else { 0 };
        let shape = shape_of(matrix, Operand::Matrix, vector_names(self.k));
        let signs_bytes = results_bytes + shape.giving_bytes();
        Ok(Needs {
            least_bytes: (needs.least_bytes + (16 + scaled) * rows).max(signs_bytes),
            verify_bytes: vectors_bytes(matrix, self.k) + 16 * rows + results_bytes,
            results_bytes,
            passes: format!("{}, and up to three for degrees", needs.passes),
            shapes: vec![shape],
            ..needs
        })
    }

    fn run(&self, matrix: &SparseMatrix, verify: bool) -> Result<SolverFinding> {
        let mut pairs = spectral_embedding(matrix, self)?;
        if verify {
            let SpectralEmbedding { vectors, values, residuals, .. } = &mut pairs;
            check_laplacian(matrix, self.which.norm_laplacian, values, &mut vectors.vectors, residuals)?;
        }
        let shape = shape_of(matrix, Operand::Matrix, vector_names(self.k));
        let count = self.k + usize::from(self.which.drop_first);
        let columns = |values| vec![("eigenvalue", values)];
        pairs.into_found(count, columns, |mut embedding| {
            embedding.leave(shape.giving_bytes())?;
            let signs = embedding.signs()?;
            Ok(vec![Dense::new(matrix, Operand::Matrix, shape, Store::Embedding(Box::new(embedding), signs))])
        })
    }
}

/// The Laplacian whose eigenvectors for the least eigenvalues are the columns of an embedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Laplacian {
    /// Whether it is normalised.
    pub norm_laplacian: bool,
    /// Whether the first eigenvector, which is the same everywhere in a connected graph, is left out.
    pub drop_first: bool,
}

/// Options of a spectral embedding of `k` columns.
pub type SpectralEmbeddingOptions = SpectralOptions<Laplacian>;

impl Default for SpectralEmbeddingOptions {
    fn default() -> Self {
        Self::usual(8, Laplacian { norm_laplacian: true, drop_first: true }, 2)
    }
}

/// A spectral embedding: the Laplacian's eigenvalues, one for each column, in ascending order, and its rows.
pub type SpectralEmbedding = SpectralPairs<Embedding>;

impl SpectralEmbeddingOptions {
    /// Options for the eigenvectors of a matrix with this number of rows.
    ///
    /// # Errors
    /// Options that cannot be.
    fn eigsh(&self, rows: usize) -> Result<EigshOptions> {
        let &SpectralEmbeddingOptions { k, which: Laplacian { drop_first, .. }, .. } = self;
        let dropped = usize::from(drop_first);
        let Some(most) = rows.checked_sub(dropped).filter(|&most| most > 0) else {
            let text = format!("expected a graph of {} vertices or more to embed, found {rows}", 1 + dropped);
            return Err(Error::Usage(text));
        };
        if !(1..=most).contains(&k) {
            let beside = if drop_first { " beside the first eigenvector" } else { "" };
            return Err(Error::Usage(format!("expected from 1 to {most} columns{beside}, found {k}")));
        }
        let options = self.of(k + dropped, Which::LargestAlgebraic);
        options.check(rows)?;
        Ok(options)
    }
}

/// Embeds the vertices of a graph, whose matrix is symmetric and without negative weights, by the eigenvectors for the
/// least eigenvalues of its Laplacian. Definitions are those of scikit-learn's `spectral_embedding`.
///
/// The eigenvalue 0 occurs once per component of the graph, single vertices excepted if the Laplacian is normalised;
/// its vectors may be any that span the same space.
///
/// *Cost.* As with [`eigsh`](crate::eigsh), and `16 n` bytes for degrees, with `norm_laplacian` `8 n` per column of a
/// block besides; up to three passes in the beginning, for row sums, the diagonal and the least weight.
///
/// # Errors
/// Those of [`eigsh`](crate::eigsh); a negative weight; a sum of weights that is no finite number.
pub fn spectral_embedding(matrix: &SparseMatrix, options: &SpectralEmbeddingOptions) -> Result<SpectralEmbedding> {
    let &SpectralEmbeddingOptions { k, which: Laplacian { norm_laplacian, drop_first }, block, .. } = options;
    let dropped = usize::from(drop_first);
    let options = options.eigsh(square_rows(matrix)?)?;
    let costs = RefCell::new(Costs::new(matrix, "spectral_embedding"));
    let (solved, scale) = {
        let operator = Counted::new(matrix, Operand::Matrix, &costs)?;
        check_symmetric(&operator)?;
        let laplacian = ShiftedLaplacian::new(operator, norm_laplacian, block)?;
        let solved = solve(&laplacian, &options, "spectral_embedding")?;
        (solved, laplacian.scale)
    };
    let Solved { values, basis, mut residuals, ending, .. } = solved;
    let one = if norm_laplacian { 1.0 } else { 0.0 };
    // The first is the last of those in ascending order.
    let eigenvalues = values.iter().rev().skip(dropped).map(|value| one - value).collect();
    residuals.truncate(k);
    residuals.reverse();
    let embedding =
        Embedding { vectors: Vectors::new(basis, matrix, k, Operand::Matrix), scale, matrix: matrix.clone() };
    let costs = (costs.into_inner(), matrix.pages_per_pass(Operand::Matrix));
    Ok(SpectralEmbedding::new(matrix, costs, (eigenvalues, embedding, residuals), ending))
}

/// `I` minus the normalised Laplacian, or minus the Laplacian: `S A S - C`.
struct ShiftedLaplacian<'a, 'c> {
    operator: Counted<'a, 'c>,
    /// S, where it is not 1, and room for a block that it multiplies.
    scale: Option<Buffer<f64>>,
    scaled: RefCell<Buffer<f64>>,
    /// C.
    shift: Buffer<f64>,
}

impl<'a, 'c> ShiftedLaplacian<'a, 'c> {
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
        let mut sums = Buffer::zeroed(budget, PURPOSE, space.numbers())?;
        {
            let mut ones = Buffer::zeroed(budget, PURPOSE, space.numbers())?;
            ones.fill(1.0);
            operator.apply(&ones, 1, &mut sums)?;
        }
        let mut loops = matrix.diagonal(&mut operator.costs.borrow_mut().stats)?;
        let [total] = space.update([&mut sums, &mut loops], |_, [sums, loops], [total]| {
            for (sum, own) in sums.iter_mut().zip(loops) {
                *total += *sum;
                let rest = *sum - *own;
                let degree = if rest > LONE * *sum { rest } else { 0.0 };
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
        let scaled = Buffer::zeroed(budget, "a block that is scaled by degrees", space.rows * width)?;
        Ok(ShiftedLaplacian { operator, scale, scaled: RefCell::new(scaled), shift: loops })
    }
}

impl<'a> Operator<'a> for ShiftedLaplacian<'a, '_> {
    fn counted(&self) -> &Counted<'a, '_> {
        &self.operator
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
}

impl ShiftedLaplacian<'_, '_> {
    /// Scales the rows of a product, and applies the shift by the factor.
    fn shift(
        &self,
        space: &Space,
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

/// The rows of a spectral embedding.
#[derive(Debug)]
pub struct Embedding {
    /// Eigenvectors of length 1, the last one first.
    #[doc(hidden)]
    pub vectors: Vectors,
    /// Factor of each row, in the order of the image; none if the Laplacian is not normalised.
    pub(crate) scale: Option<Buffer<f64>>,
    pub(crate) matrix: SparseMatrix,
}

impl Embedding {
    /// Number of rows and columns.
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
        let count = self.shape().1;
        check_room(self.shape(), numbers.len())?;
        let signs = self.signs()?;
        self.for_each_row(&signs, |row, values| numbers[row * count..][..count].copy_from_slice(values))
    }

    /// Copies adjacent rows, in the order of the image, row by row.
    pub(crate) fn copy_rows(&self, signs: &[f64], rows: Range<usize>, numbers: &mut [f64]) -> Result<()> {
        let count = signs.len();
        self.vectors.copy_rows(rows.clone(), 0..count, numbers)?;
        for (place, row) in rows.zip(numbers.chunks_exact_mut(count)) {
            let factor = self.scale.as_ref().map_or(1.0, |scale| scale[place]);
            row.reverse();
            row.iter_mut().zip(signs).for_each(|(number, sign)| *number *= factor * sign);
        }
        Ok(())
    }

    /// Sign of each column, 1 or -1, that makes its entry of greatest magnitude positive; of several such entries the
    /// first row in the order of ids counts.
    pub(crate) fn signs(&self) -> Result<Vec<f64>> {
        let mut extremes = vec![(0.0f64, usize::MAX); self.shape().1];
        self.for_each_row(&vec![1.0; extremes.len()], |row, values| {
            for (extreme, &number) in extremes.iter_mut().zip(values) {
                let (most, first) = (extreme.0.abs(), extreme.1);
                if number.abs() > most || number.abs() == most && row < first {
                    *extreme = (number, row);
                }
            }
        })?;
        Ok(extremes.iter().map(|(extreme, _)| if *extreme < 0.0 { -1.0 } else { 1.0 }).collect())
    }

    /// Calls `work` with every row: its place in the order of ids, and its numbers.
    fn for_each_row(&self, signs: &[f64], mut work: impl FnMut(usize, &[f64])) -> Result<()> {
        let copy = |rows, part: &mut [f64]| self.copy_rows(signs, rows, part);
        for_each_row(self.matrix.graph().runtime(), "rows of an embedding", self.shape(), copy, |place, row| {
            work(self.matrix.row_at(place), row);
            Ok(())
        })
    }
}
