//! `Expression`: a lazy array of the engine.

use super::memory::borrowed;
use crate::errors::{raise, usage};
use crate::matrix::PyMatrix;
use crate::progress::Wanted;
use crate::runtime::{Limits, run, settings};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use outcore::array::kernel::{Binary, Fold, Scalar, Unary};
use outcore::array::{self, Array, AxisPart, Distribution, ElementType, ImageSource, MOST_AXES, NpySource, Random};
use outcore::learn::{self, QuantilesOptions};
use outcore::matrix::DenseLayout;
use outcore::{Result, Runtime};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};
use std::path::PathBuf;
use std::sync::Arc;

/// A lazy array.
#[pyclass(frozen, name = "Expression", module = "outcore._outcore", from_py_object)]
#[derive(Clone)]
pub struct PyExpression {
    pub(crate) array: Array,
}

/// The runtime that an array of a file keeps. It has no progress: opening shows none, and its function may refer to the
/// array, which no collector would see.
fn source_runtime(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Runtime> {
    Limits { progress: Wanted::Nothing, ..settings(options)? }.runtime(py)
}

impl PyExpression {
    pub(crate) fn of(py: Python<'_>, made: Result<Array>) -> PyResult<Self> {
        made.map(|array| PyExpression { array }).map_err(|error| raise(py, error))
    }

    fn axes(&self, py: Python<'_>, axes: Option<&[i64]>) -> PyResult<Vec<usize>> {
        self.array.axes_of(axes).map_err(|error| raise(py, error))
    }
}

#[pymethods]
impl PyExpression {
    /// An array of NumPy's, which is looked at in place.
    #[staticmethod]
    fn of_numpy(given: &Bound<'_, PyUntypedArray>) -> PyResult<Self> {
        let py = given.py();
        let name: String = given.dtype().as_any().getattr("name")?.extract()?;
        let element = element(py, &name)?;
        if given.ndim() > MOST_AXES {
            return Err(usage(py, format!("expected an array of at most {MOST_AXES} axes, found {}", given.ndim())));
        }
        let memory = borrowed(given, element)?;
        Ok(PyExpression { array: Array::from_memory(memory) })
    }

    /// An image of an array.
    #[staticmethod]
    fn of_image(py: Python<'_>, path: PathBuf, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let runtime = source_runtime(py, options)?;
        let opened = run(py, &runtime, || ImageSource::open(&runtime, &path));
        PyExpression::of(py, Array::from_source(Arc::new(opened?)))
    }

    /// An array in a file, whatever it is.
    #[staticmethod]
    fn of_file(py: Python<'_>, path: PathBuf, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let runtime = source_runtime(py, options)?;
        let opened = run(py, &runtime, || array::open(&runtime, &path));
        PyExpression::of(py, Array::from_source(opened?))
    }

    /// A part of a file that is laid out as arrays of NumPy are; with the CRC-32 and length of a head before it, and
    /// the CRC-32 of both.
    #[staticmethod]
    #[pyo3(signature = (path, offset_bytes, shape, strides, dtype, options, checksum=None))]
    #[allow(clippy::too_many_arguments)]
    fn of_part(
        py: Python<'_>,
        path: PathBuf,
        offset_bytes: u64,
        shape: Vec<u64>,
        strides: Vec<u64>,
        dtype: String,
        options: &Bound<'_, PyDict>,
        checksum: Option<(u32, u64, u32)>,
    ) -> PyResult<Self> {
        let runtime = source_runtime(py, options)?;
        let (rows, columns) = (shape[0], shape.get(1).copied().unwrap_or(1));
        let (row_bytes, column_bytes) = (strides[0], strides.get(1).copied().unwrap_or(strides[0]));
        let layout = DenseLayout { offset_bytes, rows, columns, row_bytes, column_bytes, element: dtype };
        let opened = run(py, &runtime, || NpySource::open_part(&runtime, &path, layout, shape.len() == 1))?;
        let source = match checksum {
            Some((crc, len_bytes, expected)) => opened.with_checksum((crc, len_bytes), expected),
            None => opened,
        };
        PyExpression::of(py, Array::from_source(Arc::new(source)))
    }

    /// The product of a sparse matrix, or of its transpose, with an array.
    #[staticmethod]
    fn sparse(py: Python<'_>, matrix: &PyMatrix, operand: &str, factor: &PyExpression) -> PyResult<Self> {
        PyExpression::of(py, Array::sparse_product(&matrix.matrix, crate::matrix::operand(operand)?, &factor.array))
    }

    #[staticmethod]
    fn full(py: Python<'_>, shape: Vec<u64>, value: &Bound<'_, PyAny>, dtype: &str) -> PyResult<Self> {
        let value = scalar(value, element(py, dtype)?)?;
        PyExpression::of(py, Array::full(shape, value))
    }

    #[staticmethod]
    fn range(start: &Bound<'_, PyAny>, step: &Bound<'_, PyAny>, count: u64, dtype: &str) -> PyResult<Self> {
        let (py, element) = (start.py(), element(start.py(), dtype)?);
        PyExpression::of(py, Array::range(scalar(start, element)?, scalar(step, element)?, count))
    }

    #[staticmethod]
    fn eye(py: Python<'_>, rows: u64, columns: u64, diagonal: i64, dtype: &str) -> PyResult<Self> {
        PyExpression::of(py, Array::eye(rows, columns, diagonal, element(py, dtype)?))
    }

    #[staticmethod]
    #[pyo3(signature = (distribution, shape, seed, low=0, high=0, probability=0.0))]
    fn random(
        py: Python<'_>,
        distribution: &str,
        shape: Vec<u64>,
        seed: u64,
        low: i64,
        high: i64,
        probability: f64,
    ) -> PyResult<Self> {
        let distribution = match distribution {
            "uniform" => Distribution::Uniform,
            "normal" => Distribution::Normal,
            "exponential" => Distribution::Exponential,
            "integers" => Distribution::Integers { low, high },
            "bernoulli" => Distribution::Bernoulli { probability },
            other => return Err(usage(py, format!("expected a distribution, found {other}"))),
        };
        PyExpression::of(py, Array::random(shape, Random { distribution, seed }))
    }

    #[getter]
    fn shape(&self) -> Vec<u64> {
        self.array.shape().to_vec()
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        self.array.element().name()
    }

    #[getter]
    fn long_axis(&self) -> Option<usize> {
        self.array.long_axis()
    }

    /// The names of the columns of an array in a file.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.array.names().map(<[String]>::to_vec)
    }

    /// The operation that computes the array, or the file that holds it.
    #[getter]
    fn operation(&self) -> String {
        self.array.describe()
    }

    fn cast(&self, py: Python<'_>, dtype: &str) -> PyResult<Self> {
        PyExpression::of(py, self.array.cast(element(py, dtype)?))
    }

    fn unary(&self, py: Python<'_>, name: &str) -> PyResult<Self> {
        let function = function(py, Unary::from_name, name)?;
        PyExpression::of(py, self.array.unary(function))
    }

    fn binary(&self, py: Python<'_>, name: &str, other: &PyExpression) -> PyResult<Self> {
        let function = function(py, Binary::from_name, name)?;
        PyExpression::of(py, self.array.binary(function, &other.array))
    }

    fn select(&self, py: Python<'_>, left: &PyExpression, right: &PyExpression) -> PyResult<Self> {
        PyExpression::of(py, self.array.select(&left.array, &right.array))
    }

    #[pyo3(signature = (name, axes, keep))]
    fn fold(&self, py: Python<'_>, name: &str, axes: Option<Vec<i64>>, keep: bool) -> PyResult<Self> {
        let axes = self.axes(py, axes.as_deref())?;
        PyExpression::of(py, self.array.fold(fold(py, name)?, &axes, keep))
    }

    fn mean(&self, py: Python<'_>, axes: Option<Vec<i64>>, keep: bool) -> PyResult<Self> {
        let axes = self.axes(py, axes.as_deref())?;
        PyExpression::of(py, self.array.mean(&axes, keep))
    }

    fn variance(&self, py: Python<'_>, axes: Option<Vec<i64>>, correction: f64, keep: bool) -> PyResult<Self> {
        let axes = self.axes(py, axes.as_deref())?;
        PyExpression::of(py, self.array.variance(&axes, correction, keep))
    }

    fn arg(&self, py: Python<'_>, is_max: bool, axis: Option<i64>, keep: bool) -> PyResult<Self> {
        let axis = axis.map(|axis| Ok::<_, PyErr>(self.axes(py, Some(&[axis]))?[0])).transpose()?;
        PyExpression::of(py, self.array.arg(is_max, axis, keep))
    }

    fn cumulative(&self, py: Python<'_>, name: &str, axis: i64) -> PyResult<Self> {
        let axes = self.axes(py, Some(&[axis]))?;
        PyExpression::of(py, self.array.cumulative(fold(py, name)?, axes[0]))
    }

    fn matmul(&self, py: Python<'_>, other: &PyExpression) -> PyResult<Self> {
        PyExpression::of(py, self.array.matmul(&other.array))
    }

    fn inner(&self, py: Python<'_>, other: &PyExpression, pair: &str, name: &str) -> PyResult<Self> {
        let function = function(py, Binary::from_name, pair)?;
        PyExpression::of(py, self.array.inner(&other.array, function, fold(py, name)?))
    }

    /// A matrix as float64, of which NaN and infinities are an error when it is computed.
    fn finite_rows(&self, py: Python<'_>) -> PyResult<Self> {
        PyExpression::of(py, learn::finite_rows(&self.array))
    }

    fn co_moments(&self, py: Python<'_>) -> PyResult<Self> {
        PyExpression::of(py, learn::co_moments(&self.array))
    }

    /// The counts of bins of every column, `(p, b)`.
    fn bins(&self, py: Python<'_>, edges: Vec<f64>) -> PyResult<Self> {
        PyExpression::of(py, learn::bins(&self.array, &edges))
    }

    /// For every probability the quantiles of all columns, and then by how much ranks may be wrong.
    fn quantiles(&self, py: Python<'_>, probabilities: Vec<f64>, error: f64) -> PyResult<Self> {
        PyExpression::of(py, learn::sketched(&self.array, &probabilities, &QuantilesOptions { error }))
    }

    /// Statistics of every column: extremes, means, deviations, norms, counts of non-zeros.
    fn figures(&self, py: Python<'_>) -> PyResult<Vec<Self>> {
        let all = learn::figures(&self.array).map_err(|error| raise(py, error))?;
        Ok(all.into_iter().map(|array| PyExpression { array }).collect())
    }

    fn group_fold(&self, py: Python<'_>, name: &str, labels: &PyExpression, groups: u64) -> PyResult<Self> {
        PyExpression::of(py, self.array.group_fold(fold(py, name)?, &labels.array, groups))
    }

    fn indices(&self, py: Python<'_>, size: u64, axis: usize) -> PyResult<Self> {
        PyExpression::of(py, self.array.indices(size, axis))
    }

    fn gather(&self, py: Python<'_>, index: &PyExpression) -> PyResult<Self> {
        PyExpression::of(py, self.array.gather(&index.array))
    }

    fn permute(&self, py: Python<'_>, order: Vec<usize>) -> PyResult<Self> {
        PyExpression::of(py, self.array.permute(&order))
    }

    /// An index, or a start, a step and a count, of every axis; `None` for a new axis.
    fn slice(&self, py: Python<'_>, parts: Vec<Option<(i64, Option<i64>, u64)>>) -> PyResult<Self> {
        let part = |part: Option<(i64, Option<i64>, u64)>| {
            part.map(|(start, step, count)| match step {
                None => AxisPart::Index(start),
                Some(step) => AxisPart::Range { start, step, count },
            })
        };
        PyExpression::of(py, self.array.slice(&parts.into_iter().map(part).collect::<Vec<_>>()))
    }

    fn broadcast_to(&self, py: Python<'_>, shape: Vec<u64>) -> PyResult<Self> {
        PyExpression::of(py, self.array.broadcast_to(&shape))
    }

    fn reshape(&self, py: Python<'_>, shape: Vec<u64>) -> PyResult<Self> {
        PyExpression::of(py, self.array.reshape(&shape))
    }

    #[staticmethod]
    fn join(py: Python<'_>, inputs: Vec<PyExpression>, axis: usize) -> PyResult<Self> {
        let inputs: Vec<Array> = inputs.into_iter().map(|input| input.array).collect();
        PyExpression::of(py, Array::join(&inputs, axis))
    }
}

/// The type of elements that is called so.
pub fn element(py: Python<'_>, name: &str) -> PyResult<ElementType> {
    ElementType::from_name(name).ok_or_else(|| usage(py, format!("expected a type of numbers, found {name}")))
}

/// A value of Python's as one of the type.
pub fn scalar(value: &Bound<'_, PyAny>, element: ElementType) -> PyResult<Scalar> {
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Scalar::Bool(u8::from(value.is_true())).cast(element));
    }
    if value.is_instance_of::<PyInt>() {
        let out = |_| {
            let text = format!("expected a number that {} holds, found {value}", element.name());
            PyOverflowError::new_err(text)
        };
        return match element {
            ElementType::UInt64 => Ok(Scalar::UInt64(value.extract::<u64>().map_err(out)?)),
            ElementType::Float32 | ElementType::Float64 => Ok(Scalar::Float64(value.extract::<f64>()?).cast(element)),
            _ => {
                let wide = Scalar::Int64(value.extract::<i64>().map_err(out)?);
                let narrow = wide.cast(element);
                match element == ElementType::Bool || narrow.cast(ElementType::Int64) == wide {
                    true => Ok(narrow),
                    false => Err(out(PyOverflowError::new_err(""))),
                }
            }
        };
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Scalar::Float64(value.extract::<f64>()?).cast(element));
    }
    Err(usage(value.py(), format!("expected a number, found {value}")))
}

/// The fold that is called so.
pub fn fold(py: Python<'_>, name: &str) -> PyResult<Fold> {
    Fold::from_name(name).ok_or_else(|| usage(py, format!("expected sum, prod, min, max, any or all, found {name}")))
}

/// The function of elements that is called so.
fn function<T>(py: Python<'_>, from_name: impl FnOnce(&str) -> Option<T>, name: &str) -> PyResult<T> {
    from_name(name).ok_or_else(|| usage(py, format!("expected a function, found {name}")))
}
