//! Products with dense matrices in files: what `outcore._linalg.dense_operands` makes of arrays, memory maps and paths.

use crate::columns::{keep, set_aside};
use crate::errors::raise;
use crate::import::choose;
use crate::matrix::{PyMatrix, costs};
use crate::runtime::run;
use numpy::{PyReadonlyArray2, PyReadwriteArray2, PyUntypedArrayMethods};
use outcore::Runtime;
use outcore::matrix::{DenseFactor, DenseFile, DenseLayout, DenseProduct, ProductFile};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// A part of a file: its path, where elements begin, rows and columns, the bytes between them, and what they are.
#[derive(FromPyObject)]
pub struct Part(PathBuf, u64, (u64, u64), (u64, u64), String);

impl Part {
    fn split(&self) -> (PathBuf, DenseLayout) {
        let Part(path, offset_bytes, (rows, columns), (row_bytes, column_bytes), element) = self;
        let (offset_bytes, rows, columns) = (*offset_bytes, *rows, *columns);
        let element = element.clone();
        let layout =
            DenseLayout { offset_bytes, rows, columns, row_bytes: *row_bytes, column_bytes: *column_bytes, element };
        (path.clone(), layout)
    }
}

/// A factor: a part of a file, the path of a .npy file, or an array of numbers and whether they are complex.
#[derive(FromPyObject)]
pub enum Factor<'py> {
    Part(Part),
    Array(PyReadonlyArray2<'py, f64>, bool),
    Path(PathBuf),
}

/// A place for a product: a part of a file, the path of a .npy file to be and whether it holds a vector, or an array of
/// numbers, whose memory is set aside if it is new.
#[derive(FromPyObject)]
pub enum Output<'py> {
    Part(Part),
    Array(PyReadwriteArray2<'py, f64>, bool),
    New(PathBuf, bool),
}

impl Factor<'_> {
    fn open(&self, py: Python<'_>, runtime: &Runtime) -> PyResult<Option<DenseFile>> {
        let opened = match self {
            Factor::Array(..) => return Ok(None),
            Factor::Path(path) => py.detach(|| DenseFile::open(runtime, path)),
            Factor::Part(part) => {
                let (path, layout) = part.split();
                py.detach(|| DenseFile::open_part(runtime, path, layout))
            }
        };
        opened.map(Some).map_err(|error| raise(py, error))
    }

    fn given<'a>(&'a self, file: Option<&'a DenseFile>) -> PyResult<DenseFactor<'a>> {
        Ok(match (self, file) {
            (_, Some(file)) => DenseFactor::File(file),
            (Factor::Array(array, is_complex), None) => DenseFactor::Numbers {
                numbers: array.as_slice()?,
                columns: array.shape()[1] / if *is_complex { 2 } else { 1 },
                is_complex: *is_complex,
            },
            (_, None) => unreachable!("what is no array is a file"),
        })
    }
}

impl Output<'_> {
    fn file(&self) -> Option<ProductFile> {
        match self {
            Output::Array(..) => None,
            Output::New(path, is_vector) => Some(ProductFile::New { path: path.clone(), is_vector: *is_vector }),
            Output::Part(part) => {
                let (path, layout) = part.split();
                Some(ProductFile::Part { path, layout })
            }
        }
    }
}

/// Rows and columns of a .npy file, whether it is a vector, and whether its numbers are complex.
#[pyfunction]
pub fn dense_shape(py: Python<'_>, matrix: &PyMatrix, path: PathBuf) -> PyResult<(u64, u64, bool, bool)> {
    let runtime = matrix.matrix.graph().runtime();
    let file = py.detach(|| DenseFile::open(runtime, path)).map_err(|error| raise(py, error))?;
    let (rows, columns) = file.shape();
    Ok((rows, columns, file.is_vector(), file.is_complex()))
}

/// Multiplies, and returns the statistics.
#[pyfunction]
pub fn multiply_streamed<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    factor: Factor<'py>,
    mut product: Output<'py>,
    semiring: &str,
    operand: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (semiring, operand) = (choose(py, "semiring", semiring)?, crate::matrix::operand(operand)?);
    let matrix = matrix.for_operation(py);
    let graph = matrix.graph();
    let runtime = graph.runtime();
    let file = factor.open(py, runtime)?;
    let (given, output) = (factor.given(file.as_ref())?, product.file());
    if let Output::Array(array, true) = &product {
        let product_bytes = 8 * array.len() as u64;
        // A refusal is of the product and what it takes to compute it, together.
        matrix.plan_streamed(operand, given, None, product_bytes).map_err(|error| raise(py, error))?;
        let reservation = set_aside(py, graph.image(), "a product as a NumPy array", product_bytes)?;
        keep(array.as_any(), reservation)?;
    }
    let product = match (&mut product, &output) {
        (_, Some(file)) => DenseProduct::File(file),
        (Output::Array(array, _), None) => DenseProduct::Numbers(array.as_slice_mut()?),
        (_, None) => unreachable!("what is no array is a file"),
    };
    let cost = run(py, runtime, || matrix.multiply_streamed(semiring, operand, given, product))?;
    let stats = costs(py, &cost.stats)?;
    let dict = stats.cast::<PyDict>()?;
    dict.set_item("factor_bytes_read", cost.factor_bytes_read)?;
    dict.set_item("product_bytes_written", cost.product_bytes_written)?;
    dict.set_item("temporary_bytes_written", cost.temporary_bytes_written)?;
    Ok(stats)
}

/// The plan of a product with files: columns per pass, passes, bytes of memory, bytes read per pass, and those read and
/// written of the factor, the product and temporary files. `taken_bytes` are for a product in memory.
#[pyfunction]
pub fn plan_streamed<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    factor: Factor<'py>,
    product: Option<Output<'py>>,
    taken_bytes: u64,
    operand: &str,
) -> PyResult<(usize, u64, u64, u64, u64, u64, u64)> {
    let (operand, runtime) = (crate::matrix::operand(operand)?, matrix.matrix.graph().runtime());
    let file = factor.open(py, runtime)?;
    let (given, output) = (factor.given(file.as_ref())?, product.and_then(|product| product.file()));
    let plan = matrix.matrix.plan_streamed(operand, given, output.as_ref(), taken_bytes);
    let plan = plan.map_err(|error| raise(py, error))?;
    let traffic = (plan.factor_bytes, plan.product_bytes, plan.temporary_bytes);
    let of_matrix = (plan.columns_per_pass, plan.passes, plan.state_bytes, plan.bytes_per_pass);
    Ok((of_matrix.0, of_matrix.1, of_matrix.2, of_matrix.3, traffic.0, traffic.1, traffic.2))
}
