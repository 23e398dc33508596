//! Spectral embeddings, for `outcore.linalg`.

use crate::errors::raise;
use crate::linalg::{facts, new_array, require_room, set_pairs};
use crate::matrix::PyMatrix;
use crate::runtime::run;
use numpy::PyArrayMethods;
use outcore::linalg::{self, SpectralEmbeddingOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// See `outcore.linalg.spectral_embedding`: the columns, and the facts of the run.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (matrix, *, n_components, norm_laplacian, drop_first, tol, ncv, block, max_iter, seed, checkpoint))]
pub fn spectral_embedding<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    n_components: usize,
    norm_laplacian: bool,
    drop_first: bool,
    tol: f64,
    ncv: Option<usize>,
    block: usize,
    max_iter: u64,
    seed: u64,
    checkpoint: Option<PathBuf>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = SpectralEmbeddingOptions {
        n_components,
        norm_laplacian,
        drop_first,
        tol,
        ncv,
        block,
        max_iter,
        seed,
        checkpoint,
    };
    require_room(py, matrix, matrix.matrix.shape().0, n_components)?;
    let runtime = matrix.matrix.graph().runtime();
    let mut found = run(py, runtime, || linalg::spectral_embedding(&matrix.matrix, &options))?;
    let facts = facts(py, found.products, &found.stats)?;
    facts.set_item("eigenvalues", &found.eigenvalues)?;
    set_pairs(&facts, &found.residuals, found.residual_bound, found.converged, found.restarts)?;
    let (rows, count) = found.shape();
    found.leave(8 * (rows * count) as u64).map_err(|error| raise(py, error))?;
    let array = new_array::<f64>(py, matrix, [rows, count])?;
    let mut out = array.readwrite();
    let numbers = out.as_slice_mut()?;
    run(py, runtime, || found.write(numbers))?;
    drop(out);
    facts.set_item("embedding", array)?;
    Ok(facts)
}
