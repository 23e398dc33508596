//! Options and results that the spectral solvers share: `eigsh`, `eigsh_complex`, `eigs`, `svds`, `spectral_embedding`.

pub(crate) mod deflated;
pub(crate) mod eigs;
pub(crate) mod eigsh;
pub(crate) mod embedding;
pub(crate) mod hermitian;
pub(crate) mod iteration;
pub(crate) mod krylov_schur;
pub(crate) mod lanczos;
pub(crate) mod nearest;
pub(crate) mod randomized;
pub(crate) mod schur;
pub(crate) mod small;
pub(crate) mod svds;
pub(crate) mod symmetric;

use crate::declare::{SolverFinding, SolverInput, table_lines};
use crate::dense::Dense;
use crate::operator::Costs;
use crate::tall::vectors::{ComplexVectors, Vectors};
use faer::c64;
use outcore_declare::{Fact, NotConverged};
use outcore_image::{Error, Result, Stats};
use outcore_matrix::SparseMatrix;
use std::path::PathBuf;

/// Options of the computation of eigenvalues or singular values; `W` says which are wanted.
#[derive(Clone, Debug)]
pub struct SpectralOptions<W> {
    /// Number of values. Of a conjugate pair that does not fit only the one with the positive imaginary part is
    /// returned.
    pub k: usize,
    /// The wanted part of the spectrum.
    pub which: W,
    /// The greatest residual of a pair, in units of its value's magnitude; never less than rounding leaves.
    pub tol: f64,
    /// The most columns of the subspace; by default `2 k + 96`, if 64 GiB of disk hold so many.
    pub ncv: Option<usize>,
    /// Columns that are multiplied together: 1, 2, 4 or 8. Complex ones are at most 4, and [`eigs`](crate::eigs)
    /// multiplies a single one.
    pub block: usize,
    /// The most restarts of a full subspace.
    pub max_iterations: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Folder of a checkpoint, which is written during the run. The same call, also with more restarts, resumes from it
    /// with the same bits.
    pub checkpoint: Option<PathBuf>,
}

impl<W> SpectralOptions<W> {
    /// The defaults for these values.
    pub(crate) fn usual(k: usize, which: W, block: usize) -> Self {
        SpectralOptions { k, which, tol: 0.0, ncv: None, block, max_iterations: 1000, seed: 0, checkpoint: None }
    }

    /// The options of a declared solver; `k` is the name of the number of values.
    pub(crate) fn given(SolverInput { values, checkpoint, .. }: SolverInput, k: &str, which: W) -> Self {
        SpectralOptions {
            k: values.size(k),
            which,
            tol: values.real("tol"),
            ncv: values.some_size("ncv"),
            block: values.some_size("block").unwrap_or(1),
            max_iterations: values.whole("maxiter"),
            seed: values.whole("seed"),
            checkpoint,
        }
    }

    /// Options for `k` values of another part of the spectrum.
    pub(crate) fn of<V>(&self, k: usize, which: V) -> SpectralOptions<V> {
        let &SpectralOptions { tol, ncv, block, max_iterations, seed, ref checkpoint, .. } = self;
        SpectralOptions { k, which, tol, ncv, block, max_iterations, seed, checkpoint: checkpoint.clone() }
    }

    /// Refuses options that are impossible for this number of rows.
    pub(crate) fn check(&self, rows: usize) -> Result<()> {
        let &SpectralOptions { k, tol, ncv, block, .. } = self;
        check_wanted(rows, k, tol)?;
        if ![1, 2, 4, 8].contains(&block) {
            return Err(Error::Usage(format!("expected a block of 1, 2, 4 or 8 columns, found {block}")));
        }
        let least = k + 3 * block;
        match ncv {
            Some(ncv) if ncv > MOST_COLUMNS.max(least) => {
                Err(Error::Usage(format!("expected ncv of at most {MOST_COLUMNS}, found {ncv}")))
            }
            Some(ncv) if ncv < least => {
                Err(Error::Usage(format!("expected ncv of at least {least}, which is k and three blocks, found {ncv}")))
            }
            _ => Ok(()),
        }
    }
}

/// The most columns of a basis that are asked for: sizes of more than these may not fit 64 bits.
const MOST_COLUMNS: usize = 1 << 20;

/// Refuses an impossible tolerance, and a number of vectors that is 0 or greater than `most`.
pub(crate) fn check_wanted(most: usize, k: usize, tol: f64) -> Result<()> {
    if most == 0 {
        return Err(Error::Usage("expected a matrix with rows and columns, found one without".to_owned()));
    }
    if k == 0 || k > most {
        return Err(Error::Usage(format!("expected k from 1 to {most}, found {k}")));
    }
    if !(0.0..=1.0).contains(&tol) {
        return Err(Error::Usage(format!("expected tol from 0 to 1, found {tol}")));
    }
    Ok(())
}

/// Number of passes, as text, of a method that iterates until values have converged.
pub(crate) fn steps_text(is_small: bool, rows: usize, width: usize) -> String {
    match is_small {
        true => format!("one for every {width} rows, as a matrix of so few is solved as a dense one: {rows} rows"),
        false => format!("one per step of {width} vectors; no bound is known beforehand, often 30 to 300"),
    }
}

/// Eigenvalues or singular values of type `T`, and their vectors in a container `V`.
#[derive(Debug)]
#[non_exhaustive]
pub struct SpectralPairs<V, T = f64> {
    /// The values: real eigenvalues in ascending order, singular values in descending order; complex eigenvalues with
    /// the most wanted first, and of a conjugate pair that with the positive imaginary part first.
    pub values: Vec<T>,
    /// A vector of length 1 for each. Of complex eigenvalues of a real matrix: a real one for a real eigenvalue,
    /// conjugate ones for a pair.
    pub vectors: V,
    /// The length of `A v - w v` for each pair, from a product with the vector that is returned. Of singular values
    /// that of `A^T u - s v`, or of `A v - s u` if there are more columns than rows; the other one is rounding. Of an
    /// embedding, before rows are scaled.
    pub residuals: Vec<f64>,
    /// Number of wanted pairs that converged; the others are the best approximations. An embedding that drops the first
    /// pair counts it, too.
    pub converged: usize,
    /// The greatest residual that counts as converged, of the value of greatest magnitude; a smaller value has a
    /// smaller one, but no less than rounding leaves. Of singular values the greatest of all: a small one may have
    /// more.
    pub residual_bound: f64,
    /// Number of vectors multiplied by the matrix or its transpose, complex ones if the matrix is complex.
    pub products: u64,
    /// Number of restarts: of a full subspace, or because more eigenvalues had appeared.
    pub restarts: u64,
    /// Whether the iteration made sure that no wanted pair is missing. If not, the restarts ended it before, and a pair
    /// that is wanted more than one of these may exist.
    pub is_complete: bool,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Eigenpairs of a symmetric matrix.
pub type Eigenpairs = SpectralPairs<Vectors>;
/// Eigenpairs of a Hermitian matrix: real values, complex vectors.
pub type HermitianPairs = SpectralPairs<ComplexVectors>;
/// Eigenpairs of an unsymmetric matrix: complex values and vectors.
pub type ComplexPairs = SpectralPairs<ComplexVectors, c64>;

/// The greatest residual of a pair that counts as converged.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    /// In units of the value's magnitude.
    pub relative: f64,
    /// The residual that rounding leaves.
    pub rounding: f64,
}

impl Limit {
    /// The limit for a value of this magnitude.
    pub fn of(&self, magnitude: f64) -> f64 {
        (self.relative * magnitude).max(self.rounding)
    }
}

/// How an iteration ended.
#[derive(Clone, Copy)]
pub(crate) struct Ending {
    /// Number of pairs that converged.
    pub converged: usize,
    pub residual_bound: f64,
    pub restarts: u64,
    pub is_complete: bool,
}

impl<V, T> SpectralPairs<V, T> {
    /// Pairs of a run whose products cost `costs`, and read this number of pages each.
    pub(crate) fn new(
        matrix: &SparseMatrix,
        (costs, pages): (Costs, u64),
        (values, vectors, residuals): (Vec<T>, V, Vec<f64>),
        Ending { converged, residual_bound, restarts, is_complete }: Ending,
    ) -> Self {
        let products = costs.products;
        let stats = costs.stats.finish(matrix.graph().runtime(), pages);
        SpectralPairs { values, vectors, residuals, converged, residual_bound, products, restarts, is_complete, stats }
    }

    /// The result as a declared solver returns it; `count` pairs were computed.
    pub(crate) fn into_found(
        self,
        count: usize,
        columns: impl FnOnce(Vec<T>) -> Vec<(&'static str, Vec<f64>)>,
        dense: impl FnOnce(V) -> Result<Vec<Dense>>,
    ) -> Result<SolverFinding> {
        let (line, unconverged) = (self.line(count), self.unconverged(count));
        let facts = vec![
            ("converged", Fact::Whole(self.converged as u64)),
            ("residual_bound", Fact::Real(self.residual_bound)),
            ("restarts", Fact::Whole(self.restarts)),
            ("complete", Fact::Flag(self.is_complete)),
            ("products", Fact::Whole(self.products)),
        ];
        let mut values = columns(self.values);
        values.push(("residual", self.residuals));
        let lines = [table_lines(&values), vec![line]].concat();
        Ok(SolverFinding { lines, values, facts, dense: dense(self.vectors)?, unconverged, stats: self.stats })
    }

    /// A line about all pairs.
    fn line(&self, count: usize) -> String {
        let SpectralPairs { converged, residual_bound, products, restarts, .. } = self;
        format!(
            "{converged} of {count} pairs converged to a residual of {residual_bound:e}; {products} products, \
             {restarts} restarts"
        )
    }

    /// The error, if too few have converged, or the run ended before it was known that none is missing.
    fn unconverged(&self, count: usize) -> Option<NotConverged> {
        let SpectralPairs { converged, residual_bound, restarts, is_complete, .. } = self;
        let text = match *converged < count {
            true => format!(
                "expected {count} pairs with a residual of at most {residual_bound:e}, found {converged} within \
                 {restarts} restarts"
            ),
            false if !is_complete => format!(
                "expected to know that no wanted pair is missing, found {count} pairs that converged, and others that \
                 may be wanted more, within {restarts} restarts"
            ),
            false => return None,
        };
        // A complete iteration ended by itself: more restarts leave the residuals as they are.
        let raise: &[_] = if *is_complete { &["ncv", "tol"] } else { &["maxiter", "ncv", "tol"] };
        Some(NotConverged { text, raise })
    }
}
