//! The solvers of `outcore.linalg`, which is a module of Python's.

use crate::columns::{keep, set_aside};
use crate::errors::raise;
use crate::import::choose;
use crate::matrix::{PyMatrix, costs};
use crate::runtime::run;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadwriteArray2};
use outcore::linalg::{
    self, ComplexVectors, EigsOptions, EigshOptions, NmfOptions, RandomizedSvdOptions, Spectrum, SvdsOptions, Vectors,
    c64,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

const VECTORS: &str = "vectors as a NumPy array";

/// An error, before hours of work, if the result will have no room.
pub(crate) fn require_room(py: Python<'_>, matrix: &PyMatrix, rows: u64, count: usize) -> PyResult<()> {
    let bytes = rows.saturating_mul(8 * count as u64);
    matrix.matrix.graph().make_room(VECTORS, bytes).map_err(|error| raise(py, error))
}

/// An array whose memory is set aside for as long as it lives.
pub(crate) fn new_array<'py, T: Element>(
    py: Python<'py>,
    matrix: &PyMatrix,
    shape: [usize; 2],
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let bytes = (shape[0] * shape[1] * size_of::<T>()) as u64;
    let reservation = set_aside(py, matrix.matrix.graph().image(), VECTORS, bytes)?;
    let array = PyArray2::zeros(py, shape, false);
    keep(array.as_any(), reservation)?;
    Ok(array)
}

/// An array of Python's that `write` fills: the one that was given, or a new one whose memory is set aside.
fn filled<'py, T: Element>(
    py: Python<'py>,
    matrix: &PyMatrix,
    (rows, columns): (usize, usize),
    out: Option<PyReadwriteArray2<'py, T>>,
    write: impl FnOnce(&mut [T]) -> outcore::Result<()> + Send,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let mut out = match out {
        Some(out) => out,
        None => new_array(py, matrix, [rows, columns])?.readwrite(),
    };
    let numbers = out.as_slice_mut()?;
    run(py, matrix.matrix.graph().runtime(), || write(numbers))?;
    Ok((**out).clone())
}

/// Vectors as an array of Python's: the one that was given, or a new one.
pub(crate) fn delivered<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    vectors: &mut Vectors<'_>,
    out: Option<PyReadwriteArray2<'py, f64>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (rows, count) = vectors.shape();
    if out.is_none() {
        vectors.leave(8 * (rows * count) as u64).map_err(|error| raise(py, error))?;
    }
    filled(py, matrix, (rows, count), out, |numbers| vectors.write(numbers))
}

/// Complex vectors as a NumPy array: `out` if it is given.
fn delivered_complex<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    vectors: &mut ComplexVectors<'_>,
    out: Option<PyReadwriteArray2<'py, c64>>,
) -> PyResult<Bound<'py, PyArray2<c64>>> {
    let (rows, count) = vectors.shape();
    if out.is_none() {
        vectors.leave(16 * (rows * count) as u64).map_err(|error| raise(py, error))?;
    }
    filled(py, matrix, (rows, count), out, |numbers| vectors.write(numbers))
}

/// See `outcore.linalg.eigsh`: values, vectors if they are wanted, and their residuals and convergence.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (matrix, *, k, which, tol, ncv, block, max_iter, seed, checkpoint, vectors, out))]
pub fn eigsh<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    k: usize,
    which: &str,
    tol: f64,
    ncv: Option<usize>,
    block: usize,
    max_iter: u64,
    seed: u64,
    checkpoint: Option<PathBuf>,
    vectors: bool,
    out: Option<PyReadwriteArray2<'py, f64>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = EigshOptions { k, which: choose(py, "which", which)?, tol, ncv, block, max_iter, seed, checkpoint };
    let graph = matrix.matrix.graph();
    if vectors && out.is_none() {
        require_room(py, matrix, matrix.matrix.shape().0, k)?;
    }
    let mut found = run(py, graph.runtime(), || linalg::eigsh(&matrix.matrix, &options))?;
    let facts = facts(py, found.products, &found.stats)?;
    facts.set_item("values", &found.values)?;
    set_pairs(&facts, &found.residuals, found.residual_bound, found.converged, found.restarts)?;
    if vectors {
        facts.set_item("vectors", delivered(py, matrix, &mut found.vectors, out)?)?;
    }
    Ok(facts)
}

/// Eigenpairs of a complex Hermitian matrix.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (matrix, *, k, which, tol, ncv, block, max_iter, seed, checkpoint, vectors, out))]
pub fn eigsh_complex<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    k: usize,
    which: &str,
    tol: f64,
    ncv: Option<usize>,
    block: usize,
    max_iter: u64,
    seed: u64,
    checkpoint: Option<PathBuf>,
    vectors: bool,
    out: Option<PyReadwriteArray2<'py, c64>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = EigshOptions { k, which: choose(py, "which", which)?, tol, ncv, block, max_iter, seed, checkpoint };
    let graph = matrix.matrix.graph();
    if vectors && out.is_none() {
        require_room(py, matrix, 2 * matrix.matrix.shape().0, k)?;
    }
    let mut found = run(py, graph.runtime(), || linalg::eigsh_complex(&matrix.matrix, &options))?;
    let facts = facts(py, found.products, &found.stats)?;
    facts.set_item("values", &found.values)?;
    set_pairs(&facts, &found.residuals, found.residual_bound, found.converged, found.restarts)?;
    if vectors {
        facts.set_item("vectors", delivered_complex(py, matrix, &mut found.vectors, out)?)?;
    }
    Ok(facts)
}

/// See `outcore.linalg.eigs`: values, vectors if they are wanted, and their residuals and convergence.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (matrix, *, k, which, tol, ncv, max_iter, seed, checkpoint, vectors))]
pub fn eigs<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    k: usize,
    which: &str,
    tol: f64,
    ncv: Option<usize>,
    max_iter: u64,
    seed: u64,
    checkpoint: Option<PathBuf>,
    vectors: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let which = Spectrum::from_name(which).map_err(|error| raise(py, error))?;
    let options = EigsOptions { k, which, tol, ncv, max_iter, seed, checkpoint };
    let graph = matrix.matrix.graph();
    if vectors {
        require_room(py, matrix, 2 * matrix.matrix.shape().0, k)?;
    }
    let mut found = run(py, graph.runtime(), || linalg::eigs(&matrix.matrix, &options))?;
    let facts = facts(py, found.products, &found.stats)?;
    facts.set_item("values", PyArray1::from_slice(py, &found.values))?;
    set_pairs(&facts, &found.residuals, found.residual_bound, found.converged, found.restarts)?;
    if vectors {
        facts.set_item("vectors", delivered_complex(py, matrix, &mut found.vectors, None)?)?;
    }
    Ok(facts)
}

/// See `outcore.linalg.svds`: values in descending order, vectors of both sides if they are wanted.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (matrix, *, k, tol, ncv, block, max_iter, seed, checkpoint, vectors))]
pub fn svds<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    k: usize,
    tol: f64,
    ncv: Option<usize>,
    block: usize,
    max_iter: u64,
    seed: u64,
    checkpoint: Option<PathBuf>,
    vectors: bool,
) -> PyResult<Bound<'py, PyDict>> {
    if vectors {
        let (rows, columns) = matrix.matrix.shape();
        require_room(py, matrix, rows + columns, k)?;
    }
    let options = SvdsOptions { k, tol, ncv, block, max_iter, seed, checkpoint };
    let mut found = run(py, matrix.matrix.graph().runtime(), || linalg::svds(&matrix.matrix, &options))?;
    let facts = facts(py, found.products, &found.stats)?;
    facts.set_item("values", &found.values)?;
    set_pairs(&facts, &found.residuals, found.residual_bound, found.converged, found.restarts)?;
    if vectors {
        facts.set_item("left", delivered(py, matrix, &mut found.left, None)?)?;
        facts.set_item("right", delivered(py, matrix, &mut found.right, None)?)?;
    }
    Ok(facts)
}

/// See `outcore.linalg.randomized_svd`: values in descending order, vectors of both sides, means of columns.
#[pyfunction]
#[pyo3(signature = (matrix, *, k, oversamples, passes, center, seed))]
pub fn randomized_svd<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    k: usize,
    oversamples: usize,
    passes: usize,
    center: bool,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let (rows, columns) = matrix.matrix.shape();
    require_room(py, matrix, rows + columns, k)?;
    let options = RandomizedSvdOptions { k, oversamples, passes, center, seed };
    let mut found = run(py, matrix.matrix.graph().runtime(), || linalg::randomized_svd(&matrix.matrix, &options))?;
    let facts = facts(py, found.products, &found.stats)?;
    facts.set_item("values", &found.values)?;
    facts.set_item("means", found.means.as_ref().map(|means| PyArray1::from_slice(py, means)))?;
    facts.set_item("left", delivered(py, matrix, &mut found.left, None)?)?;
    facts.set_item("right", delivered(py, matrix, &mut found.right, None)?)?;
    Ok(facts)
}

/// See `outcore.linalg.nmf`: both factors, and the facts of the run.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (matrix, *, n_components, solver, tol, max_iter, alpha_w, alpha_h, l1_ratio, seed, checkpoint))]
pub fn nmf<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    n_components: usize,
    solver: &str,
    tol: f64,
    max_iter: u64,
    alpha_w: f64,
    alpha_h: f64,
    l1_ratio: f64,
    seed: u64,
    checkpoint: Option<PathBuf>,
) -> PyResult<Bound<'py, PyDict>> {
    let (rows, columns) = matrix.matrix.shape();
    require_room(py, matrix, rows + columns, n_components)?;
    let solver = choose(py, "solver", solver)?;
    let options = NmfOptions { n_components, solver, tol, max_iter, alpha_w, alpha_h, l1_ratio, seed, checkpoint };
    let mut found = run(py, matrix.matrix.graph().runtime(), || linalg::nmf(&matrix.matrix, &options))?;
    let facts = facts(py, found.products, &found.stats)?;
    facts.set_item("losses", PyArray1::from_slice(py, &found.losses))?;
    facts.set_item("iterations", found.iterations)?;
    facts.set_item("converged", found.converged)?;
    facts.set_item("w", delivered(py, matrix, &mut found.w, None)?)?;
    facts.set_item("h_transposed", delivered(py, matrix, &mut found.h_transposed, None)?)?;
    Ok(facts)
}

/// Facts of every result: the number of vectors multiplied, and the statistics.
pub(crate) fn facts<'py>(py: Python<'py>, products: u64, stats: &outcore::Stats) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("products", products)?;
    facts.set_item("stats", costs(py, stats)?)?;
    Ok(facts)
}

/// Adds residuals and convergence of eigenpairs or singular pairs.
pub(crate) fn set_pairs(
    facts: &Bound<'_, PyDict>,
    residuals: &[f64],
    residual_bound: f64,
    converged: usize,
    restarts: u64,
) -> PyResult<()> {
    facts.set_item("residuals", residuals)?;
    facts.set_item("residual_bound", residual_bound)?;
    facts.set_item("converged", converged)?;
    facts.set_item("restarts", restarts)
}
