//! Products of matrix exponentials, for `outcore.linalg`.

use crate::columns::{keep, set_aside};
use crate::matrix::{PyMatrix, costs};
use crate::runtime::run;
use numpy::{PyReadonlyArray2, PyReadwriteArray3, PyUntypedArrayMethods};
use outcore::linalg;
use pyo3::prelude::*;

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
    let (graph, columns) = (matrix.matrix.graph(), b.shape()[1]);
    let purpose = "products of a matrix exponential as a NumPy array";
    keep(results.as_any(), set_aside(py, graph.image(), purpose, 8 * results.len() as u64)?)?;
    let (b, results) = (b.as_slice()?, results.as_slice_mut()?);
    let multiply = || linalg::expm_multiply(&matrix.matrix, b, columns, &times, results);
    costs(py, &run(py, graph.runtime(), multiply)?.stats)
}
