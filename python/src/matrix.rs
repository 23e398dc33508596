//! The engine's part of `outcore.SparseMatrix`, which is a class of Python's.

use crate::columns::{keep, set_aside};
use crate::errors::raise;
use crate::graph::PyGraph;
use crate::import::choose;
use crate::runtime::run;
use numpy::{PyReadonlyArray2, PyReadwriteArray1, PyReadwriteArray2, PyUntypedArrayMethods};
use outcore::Stats;
use outcore::matrix::{MultiplyPlan, Operand, SparseMatrix};
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// An image, opened, as a sparse matrix.
#[pyclass(frozen, name = "Matrix", module = "outcore._outcore")]
pub struct PyMatrix {
    /// Without progress, as the graph of [`PyGraph`].
    pub(crate) matrix: Arc<SparseMatrix>,
    graph: Py<PyGraph>,
}

impl PyMatrix {
    /// The matrix for one operation.
    pub(crate) fn for_operation(&self, py: Python<'_>) -> SparseMatrix {
        self.matrix.for_operation(self.graph.get().progress(py).progress(py))
    }
}

/// The plan of a product that goes to memory.
fn planned(matrix: &SparseMatrix, operand: Operand, columns: usize) -> outcore::Result<MultiplyPlan> {
    let (rows, _) = matrix.shape_of(operand);
    let product_bytes = (columns as u64).saturating_mul(rows as u64 * if matrix.is_complex() { 16 } else { 8 });
    matrix.plan(operand, columns, product_bytes)
}

/// The operand that is called so, in `outcore._linalg.matrix`.
pub fn operand(name: &str) -> PyResult<Operand> {
    match name {
        "matrix" => Ok(Operand::Matrix),
        "transpose" => Ok(Operand::Transpose),
        "adjoint" => Ok(Operand::Adjoint),
        other => Err(PyValueError::new_err(format!("expected matrix, transpose or adjoint, found {other}"))),
    }
}

#[pymethods]
impl PyMatrix {
    #[new]
    fn new(py: Python<'_>, graph: Py<PyGraph>, values: bool) -> PyResult<Self> {
        let opened = graph.get().open_for_rows(py)?;
        let matrix = run(py, opened.clone().runtime(), || SparseMatrix::new(&opened, values))?;
        Ok(PyMatrix { matrix: Arc::new(matrix), graph })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)
    }

    #[getter]
    fn shape(&self) -> (u64, u64) {
        self.matrix.shape()
    }

    #[getter]
    fn entries(&self) -> u64 {
        self.matrix.entries()
    }

    #[getter]
    fn symmetric(&self) -> bool {
        self.matrix.is_symmetric()
    }

    #[getter]
    fn has_values(&self) -> bool {
        self.matrix.has_values()
    }

    /// Whether ids behind the prefixes of rows and columns are integers.
    #[getter]
    fn sides_are_integers(&self) -> bool {
        let manifest = self.matrix.graph().manifest();
        manifest.integer_ids().is_none() && manifest.id_type.is_some()
    }

    #[getter]
    fn is_rectangular(&self) -> bool {
        !self.matrix.is_square()
    }

    #[getter]
    fn is_complex(&self) -> bool {
        self.matrix.is_complex()
    }

    /// Columns per pass, passes, bytes of memory and bytes read per pass, of factors and products in memory.
    fn plan(&self, py: Python<'_>, columns: usize, transposed: bool) -> PyResult<(usize, u64, u64, u64)> {
        let operand = if transposed { Operand::Transpose } else { Operand::Matrix };
        let plan = planned(&self.matrix, operand, columns).map_err(|error| raise(py, error))?;
        Ok((plan.columns_per_pass, plan.passes, plan.state_bytes, plan.bytes_per_pass))
    }

    /// Writes the product to an array of numbers (two for each complex one, if the matrix is complex), whose memory is
    /// set aside for as long as it lives, and says what it cost.
    fn multiply<'py>(
        &self,
        py: Python<'py>,
        factor: PyReadonlyArray2<'py, f64>,
        mut product: PyReadwriteArray2<'py, f64>,
        semiring: &str,
        operand: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (semiring, operand) = (choose(py, "semiring", semiring)?, self::operand(operand)?);
        let matrix = self.for_operation(py);
        let graph = matrix.graph();
        let columns = factor.shape()[1] / if self.matrix.is_complex() { 2 } else { 1 };
        // A refusal is of the product and what it takes to compute it, together.
        planned(&matrix, operand, columns).map_err(|error| raise(py, error))?;
        let reservation = set_aside(py, graph.image(), "a product as a NumPy array", 8 * product.len() as u64)?;
        keep(product.as_any(), reservation)?;
        let (factor, product) = (factor.as_slice()?, product.as_slice_mut()?);
        let multiply = || matrix.multiply(semiring, operand, factor, columns, product);
        costs(py, &run(py, graph.runtime(), multiply)?)
    }

    /// Fills an array with the diagonal.
    fn diagonal<'py>(&self, py: Python<'py>, mut diagonal: PyReadwriteArray1<'py, f64>) -> PyResult<Bound<'py, PyAny>> {
        let matrix = self.for_operation(py);
        let graph = matrix.graph();
        let reservation = set_aside(py, graph.image(), "a diagonal as a NumPy array", 8 * diagonal.len() as u64)?;
        keep(diagonal.as_any(), reservation)?;
        let diagonal = diagonal.as_slice_mut()?;
        costs(py, &run(py, graph.runtime(), || matrix.write_diagonal(diagonal))?)
    }
}

/// The cost of products, without their steps.
pub(crate) fn costs<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyAny>> {
    let stats = crate::to_dict(py, stats)?;
    stats.cast::<PyDict>()?.del_item("steps")?;
    Ok(stats)
}
