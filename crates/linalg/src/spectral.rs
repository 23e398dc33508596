//! Results that `eigsh`, `eigsh_complex` and `eigs` share, and the reports that all spectral solvers share.

use crate::declare::{Convergence, Found};
use crate::dense::Dense;
use crate::operator::Costs;
use crate::vectors::{ComplexVectors, Vectors};
use faer::c64;
use outcore_image::Stats;
use outcore_matrix::{Operand, SparseMatrix};

/// Eigenvalues of type `T`, and their vectors in a container `V`.
#[derive(Debug)]
pub struct SpectralPairs<V, T = f64> {
    /// The eigenvalues: real ones in ascending order; complex ones with the most wanted first, and of a conjugate pair
    /// that with the positive imaginary part first.
    pub values: Vec<T>,
    /// An eigenvector of length 1 for each. Of complex eigenvalues of a real matrix: a real one for a real eigenvalue,
    /// conjugate ones for a pair.
    pub vectors: V,
    /// The length of `A v - w v` for each pair, from a product with the vector that is returned.
    pub residuals: Vec<f64>,
    /// Number of wanted pairs that converged; the others are the best approximations.
    pub converged: usize,
    /// The greatest residual that counts as converged.
    pub residual_bound: f64,
    /// Number of vectors multiplied, complex ones if the matrix is complex.
    pub products: u64,
    /// Number of restarts: of a full subspace, or because more eigenvalues had appeared.
    pub restarts: u64,
    /// Statistics of the run: time, reads, memory.
    pub stats: Stats,
}

/// Eigenpairs of a symmetric matrix.
pub type Eigenpairs<'a> = SpectralPairs<Vectors<'a>>;
/// Eigenpairs of a Hermitian matrix: real values, complex vectors.
pub type HermitianPairs<'a> = SpectralPairs<ComplexVectors<'a>>;
/// Eigenpairs of an unsymmetric matrix: complex values and vectors.
pub type ComplexPairs<'a> = SpectralPairs<ComplexVectors<'a>, c64>;

impl<V, T> SpectralPairs<V, T> {
    /// Pairs of a run whose products cost `costs`; `converged`, `residual_bound` and `restarts` are those of the run.
    pub(crate) fn new(
        matrix: &SparseMatrix,
        costs: Costs,
        (values, vectors, residuals): (Vec<T>, V, Vec<f64>),
        (converged, residual_bound, restarts): (usize, f64, u64),
    ) -> Self {
        let products = costs.products;
        let stats = costs.stats.finish(matrix.graph().runtime(), matrix.pages_per_pass(Operand::Matrix));
        SpectralPairs { values, vectors, residuals, converged, residual_bound, products, restarts, stats }
    }

    /// The result as a declared solver returns it.
    pub(crate) fn into_found<'a>(
        self,
        columns: impl FnOnce(Vec<T>) -> Vec<(&'static str, Vec<f64>)>,
        dense: impl FnOnce(V) -> Dense<'a>,
    ) -> Found<'a> {
        let SpectralPairs { values, vectors, residuals, converged, residual_bound, products, restarts, stats } = self;
        let convergence = Convergence { count: residuals.len(), converged, residual_bound, products, restarts };
        let mut values = columns(values);
        values.push(("residual", residuals));
        convergence.found(values, vec![dense(vectors)], stats)
    }
}
