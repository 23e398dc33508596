//! PageRank, shortest paths and products of matrix exponentials, for `outcore.linalg`.

use crate::columns::{keep, set_aside};
use crate::import::choose;
use crate::linalg::{delivered, facts, require_room};
use crate::matrix::{PyMatrix, costs};
use crate::runtime::{run, run_sampled};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray2, PyReadwriteArray3, PyUntypedArrayMethods};
use outcore::linalg::{self, BellmanFordOptions, RankOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// See `outcore.linalg.pagerank`: the ranks as a column, and the facts of the run.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (
    matrix, *, alpha, tol, stop, max_iter, dangling, weights, personalization, vectors, out
))]
pub fn rank_rows<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    alpha: f64,
    tol: f64,
    stop: &str,
    max_iter: u32,
    dangling: &str,
    weights: bool,
    personalization: Option<PyReadonlyArray1<'py, f64>>,
    vectors: Option<usize>,
    out: Option<PyReadwriteArray2<'py, f64>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (stop, dangling) = (choose(py, "stop", stop)?, choose(py, "dangling", dangling)?);
    let personalization = personalization.as_ref().map(|numbers| numbers.as_slice()).transpose()?;
    let options =
        RankOptions { alpha, tol, stop, max_iterations: max_iter, dangling, weights, personalization, vectors };
    if out.is_none() {
        require_room(py, matrix, matrix.matrix.shape().0, 1)?;
    }
    let sparse = matrix.for_operation(py);
    let graph = sparse.graph();
    let (mut found, samples) = run_sampled(py, graph.runtime(), || linalg::pagerank(&sparse, &options))?;
    let facts = facts(py, graph, found.products, (&found.stats, samples))?;
    facts.set_item("iterations", found.iterations)?;
    facts.set_item("residual", found.residual)?;
    facts.set_item("converged", found.stopped_by.converged())?;
    facts.set_item("stopped_by", found.stopped_by.name())?;
    facts.set_item("vectors", found.vectors)?;
    facts.set_item("temporary_bytes_written", found.temporary_bytes_written)?;
    facts.set_item("temporary_bytes_read", found.temporary_bytes_read)?;
    facts.set_item("ranks", delivered(py, matrix, &mut found.ranks, out)?)?;
    Ok(facts)
}

/// Writes the lengths of shortest paths from some rows to an array, whose memory is set aside for as long as it lives,
/// and returns the statistics.
#[pyfunction]
pub fn shortest_paths<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    sources: PyReadonlyArray1<'py, u64>,
    directed: bool,
    unweighted: bool,
    mut results: PyReadwriteArray2<'py, f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let (matrix, options) = (matrix.for_operation(py), BellmanFordOptions { directed, unweighted });
    let graph = matrix.graph();
    let purpose = "distances of shortest paths as a NumPy array";
    keep(results.as_any(), set_aside(py, graph.image(), purpose, 8 * results.len() as u64)?)?;
    let (sources, results) = (sources.as_slice()?, results.as_slice_mut()?);
    let search = || linalg::bellman_ford(&matrix, sources, &options, results);
    costs(py, &run(py, graph.runtime(), search)?.stats)
}

/// Writes `exp(t A) B` for every time to an array, whose memory is set aside for as long as it lives. Returns
/// the statistics.
#[pyfunction]
pub fn expm_multiply<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    b: PyReadonlyArray2<'py, f64>,
    times: Vec<f64>,
    mut results: PyReadwriteArray3<'py, f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let (matrix, columns) = (matrix.for_operation(py), b.shape()[1]);
    let graph = matrix.graph();
    let purpose = "products of a matrix exponential as a NumPy array";
    keep(results.as_any(), set_aside(py, graph.image(), purpose, 8 * results.len() as u64)?)?;
    let (b, results) = (b.as_slice()?, results.as_slice_mut()?);
    let multiply = || linalg::expm_multiply(&matrix, b, columns, &times, results);
    costs(py, &run(py, graph.runtime(), multiply)?.stats)
}
