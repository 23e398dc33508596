//! The engine's part of `outcore.array`, whose arrays are classes of Python's.
#![allow(unsafe_code)]

use crate::chunks::{Raised, reader};
use crate::errors::{raise, usage};
use crate::matrix::PyMatrix;
use crate::runtime::{Limits, run, settings};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use outcore::array::kernel::{Binary, Fold, Scalar, Unary};
use outcore::array::{
    self, Array, ArrayImportOptions, Bytes, Distribution, ElementType, Goal, ImageGoal, ImageSource, MOST_AXES, Memory,
    NpySource, NumberOptions, NumberTable, Part, Random, compute, explain,
};
use outcore::io::lock;
use outcore::learn::{self, QuantilesOptions};
use outcore::{DenseLayout, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};
use std::path::PathBuf;
use std::sync::Arc;

/// Largest result, in bytes, that is copied into an array of Python's own.
const SMALL_BYTES: usize = 1 << 16;

/// A lazy array.
#[pyclass(frozen, name = "Expression", module = "outcore._outcore", from_py_object)]
#[derive(Clone)]
pub struct PyExpression {
    pub(crate) array: Array,
}

/// The memory of a NumPy array, which is kept as long as an expression refers to it.
struct Borrowed {
    start: *const u8,
    len: usize,
    _owner: Py<PyAny>,
}

// SAFETY: the memory is only read, and the owner is only dropped, which pyo3 allows from any thread.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl Bytes for Borrowed {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the owner keeps the memory. That nobody writes it while results are computed is what the
        // documentation asks of users, as NumPy does of whoever releases the interpreter's lock.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// A result in the engine's memory, as NumPy asks for it.
#[pyclass(frozen, module = "outcore._outcore")]
struct Held {
    memory: Memory,
}

#[pymethods]
impl Held {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        let shape = pyo3::types::PyTuple::new(py, self.memory.shape())?;
        interface.set_item("shape", shape)?;
        interface.set_item("typestr", numpy_name(self.memory.element()))?;
        interface.set_item("data", (self.memory.address(), false))?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }
}

fn numpy_name(element: ElementType) -> &'static str {
    match element {
        ElementType::Bool => "|b1",
        ElementType::Int8 => "|i1",
        ElementType::Int16 => "=i2",
        ElementType::Int32 => "=i4",
        ElementType::Int64 => "=i8",
        ElementType::UInt8 => "|u1",
        ElementType::UInt16 => "=u2",
        ElementType::UInt32 => "=u4",
        ElementType::UInt64 => "=u8",
        ElementType::Float32 => "=f4",
        ElementType::Float64 => "=f8",
    }
}

pub(crate) fn element(py: Python<'_>, name: &str) -> PyResult<ElementType> {
    ElementType::from_name(name).ok_or_else(|| usage(py, format!("expected a type of numbers, found {name}")))
}

/// A value of Python's as one of the type.
pub(crate) fn scalar(value: &Bound<'_, PyAny>, element: ElementType) -> PyResult<Scalar> {
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Scalar::Bool(u8::from(value.is_true())).cast(element));
    }
    if value.is_instance_of::<PyInt>() {
        let out = |_| {
            let text = format!("expected a number that {} holds, found {value}", element.name());
            pyo3::exceptions::PyOverflowError::new_err(text)
        };
        return match element {
            ElementType::UInt64 => Ok(Scalar::UInt64(value.extract::<u64>().map_err(out)?)),
            ElementType::Float32 | ElementType::Float64 => Ok(Scalar::Float64(value.extract::<f64>()?).cast(element)),
            _ => {
                let wide = Scalar::Int64(value.extract::<i64>().map_err(out)?);
                let narrow = wide.cast(element);
                match element == ElementType::Bool || narrow.cast(ElementType::Int64) == wide {
                    true => Ok(narrow),
                    false => Err(out(pyo3::exceptions::PyOverflowError::new_err(""))),
                }
            }
        };
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Scalar::Float64(value.extract::<f64>()?).cast(element));
    }
    Err(usage(value.py(), format!("expected a number, found {value}")))
}

fn fold(py: Python<'_>, name: &str) -> PyResult<Fold> {
    Fold::from_name(name).ok_or_else(|| usage(py, format!("expected sum, prod, min, max, any or all, found {name}")))
}

impl PyExpression {
    pub(crate) fn of(py: Python<'_>, made: Result<Array>) -> PyResult<Self> {
        made.map(|array| PyExpression { array }).map_err(|error| raise(py, error))
    }
}

#[pymethods]
impl PyExpression {
    /// An array of NumPy's, which is looked at in place.
    #[staticmethod]
    fn of_numpy(given: &Bound<'_, PyUntypedArray>) -> PyResult<Self> {
        let py = given.py();
        let name: String = given.dtype().as_any().getattr("name")?.extract()?;
        let element = self::element(py, &name)?;
        if given.ndim() > MOST_AXES {
            return Err(usage(py, format!("expected an array of at most {MOST_AXES} axes, found {}", given.ndim())));
        }
        let shape: Vec<u64> = given.shape().iter().map(|&size| size as u64).collect();
        let strides = given.strides().to_vec();
        let address: usize = given.as_any().getattr("ctypes")?.getattr("data")?.extract()?;
        // Where the first and the last element are, whatever the signs of the distances.
        let (mut least, mut most) = (0isize, 0isize);
        if given.len() > 0 {
            for (&size, &stride) in given.shape().iter().zip(&strides) {
                let reach = (size as isize - 1) * stride;
                (least, most) = (least + reach.min(0), most + reach.max(0));
            }
        }
        let len = if given.len() == 0 { 0 } else { (most - least) as usize + element.bytes() };
        if !address.is_multiple_of(element.bytes())
            || strides.iter().any(|stride| stride % element.bytes() as isize != 0)
        {
            return Err(usage(py, "expected an array whose elements are aligned"));
        }
        let start = address.wrapping_add_signed(least) as *const u8;
        let start = if len == 0 { std::ptr::NonNull::<u64>::dangling().as_ptr().cast() } else { start };
        let bytes = Arc::new(Borrowed { start, len, _owner: given.as_any().clone().unbind() });
        let memory = Memory::strided(bytes, -least as usize, element, shape, strides);
        Ok(PyExpression { array: Array::from_memory(memory) })
    }

    /// An image of an array.
    #[staticmethod]
    fn of_image(py: Python<'_>, path: PathBuf, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let runtime = settings::<Limits>(options)?.runtime(py)?;
        let opened = run(py, &runtime, || ImageSource::open(&runtime, &path));
        PyExpression::of(py, Array::from_source(Arc::new(opened?)))
    }

    /// An array in a file, whatever it is.
    #[staticmethod]
    fn of_file(py: Python<'_>, path: PathBuf, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let runtime = settings::<Limits>(options)?.runtime(py)?;
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
        let runtime = settings::<Limits>(options)?.runtime(py)?;
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
            "integers" if low < high => Distribution::Integers { low, high },
            "integers" => return Err(usage(py, format!("expected low below high, found {low} and {high}"))),
            "bernoulli" if (0.0..=1.0).contains(&probability) => Distribution::Bernoulli { probability },
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
        let function = Unary::from_name(name).ok_or_else(|| usage(py, format!("expected a function, found {name}")))?;
        PyExpression::of(py, self.array.unary(function))
    }

    fn binary(&self, py: Python<'_>, name: &str, other: &PyExpression) -> PyResult<Self> {
        let function =
            Binary::from_name(name).ok_or_else(|| usage(py, format!("expected a function, found {name}")))?;
        PyExpression::of(py, self.array.binary(function, &other.array))
    }

    fn select(&self, py: Python<'_>, left: &PyExpression, right: &PyExpression) -> PyResult<Self> {
        PyExpression::of(py, self.array.select(&left.array, &right.array))
    }

    #[pyo3(signature = (name, axes, keep))]
    fn fold(&self, py: Python<'_>, name: &str, axes: Option<Vec<i64>>, keep: bool) -> PyResult<Self> {
        let axes = self.array.axes_of(axes.as_deref()).map_err(|error| raise(py, error))?;
        PyExpression::of(py, self.array.fold(fold(py, name)?, &axes, keep))
    }

    fn mean(&self, py: Python<'_>, axes: Option<Vec<i64>>, keep: bool) -> PyResult<Self> {
        let axes = self.array.axes_of(axes.as_deref()).map_err(|error| raise(py, error))?;
        PyExpression::of(py, self.array.mean(&axes, keep))
    }

    fn variance(&self, py: Python<'_>, axes: Option<Vec<i64>>, correction: f64, keep: bool) -> PyResult<Self> {
        let axes = self.array.axes_of(axes.as_deref()).map_err(|error| raise(py, error))?;
        PyExpression::of(py, self.array.variance(&axes, correction, keep))
    }

    fn arg(&self, py: Python<'_>, is_max: bool, axis: i64, keep: bool) -> PyResult<Self> {
        let axes = self.array.axes_of(Some(&[axis])).map_err(|error| raise(py, error))?;
        PyExpression::of(py, self.array.arg(is_max, axes[0], keep))
    }

    fn cumulative(&self, py: Python<'_>, name: &str, axis: i64) -> PyResult<Self> {
        let axes = self.array.axes_of(Some(&[axis])).map_err(|error| raise(py, error))?;
        PyExpression::of(py, self.array.cumulative(fold(py, name)?, axes[0]))
    }

    fn matmul(&self, py: Python<'_>, other: &PyExpression) -> PyResult<Self> {
        PyExpression::of(py, self.array.matmul(&other.array))
    }

    fn inner(&self, py: Python<'_>, other: &PyExpression, pair: &str, name: &str) -> PyResult<Self> {
        let function =
            Binary::from_name(pair).ok_or_else(|| usage(py, format!("expected a function, found {pair}")))?;
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

    /// Of every axis an index, or a start, a step and a count; `None` for a new axis.
    fn slice(&self, py: Python<'_>, parts: Vec<Option<(i64, Option<i64>, u64)>>) -> PyResult<Self> {
        let part = |part: Option<(i64, Option<i64>, u64)>| {
            part.map(|(start, step, count)| match step {
                None => Part::Index(start),
                Some(step) => Part::Range { start, step, count },
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

/// Options for the import of a table as an image of an array.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct TableSettings {
    columns: Option<Vec<String>>,
    dtype: Option<String>,
    delimiter: Option<String>,
    header: Option<bool>,
    comment: Option<String>,
    replace: bool,
    limits: Limits,
}

/// Makes an image of an array of a file, or of a table that is called `name`.
#[pyfunction]
#[pyo3(signature = (path, table, name, image, options))]
pub fn import_array<'py>(
    py: Python<'py>,
    path: Option<PathBuf>,
    table: Option<Bound<'py, PyAny>>,
    name: &str,
    image: PathBuf,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let TableSettings { columns, dtype, delimiter, header, comment, replace, limits } = settings(options)?;
    let element = dtype.map(|name| element(py, &name)).transpose()?;
    let numbers = NumberOptions { columns, delimiter, header, comment };
    let options = ArrayImportOptions { numbers, element, replace };
    let runtime = limits.runtime(py)?;
    let raised = Raised::default();
    let table = table.map(|table| reader(&table, &raised)).transpose()?;
    let outcome = run(py, &runtime, || match (table, path) {
        (Some(table), _) => {
            let table = NumberTable::from_batches(table, name, &options.numbers)?;
            array::import_array(&runtime, table, &image, &options)
        }
        (None, path) => array::import_array_file(&runtime, &path.unwrap_or_default(), &image, &options),
    });
    // An exception of the user's generator says more than the import that failed for it.
    match lock(&raised).raised.take() {
        Some(error) if outcome.is_err() => Err(error),
        _ => crate::to_dict(py, &outcome?),
    }
}

/// An array, where its image goes, whether it may replace another one, and the names of its columns.
type ImageOf = (PyExpression, PathBuf, bool, Option<Vec<String>>);

fn goals(values: Vec<PyExpression>, images: Vec<ImageOf>) -> Vec<Goal> {
    let values = values.into_iter().map(|value| Goal::Value(value.array));
    let images = images.into_iter().map(|(array, path, replace, names)| {
        Goal::Image(ImageGoal { array: array.array, path, replace, names, made_by: "persist" })
    });
    values.chain(images).collect()
}

/// Of a pass its rows, the files that it reads and how many bytes of each, its memory and that of its results.
type PassOf = (u64, Vec<(String, u64)>, u64, u64);

/// The plan of [`compute_arrays`]: as text, as a drawing, and pass by pass.
#[pyfunction]
pub fn explain_arrays(
    py: Python<'_>,
    values: Vec<PyExpression>,
    images: Vec<ImageOf>,
    options: &Bound<'_, PyDict>,
) -> PyResult<(String, String, Vec<PassOf>)> {
    let runtime = settings::<Limits>(options)?.runtime(py)?;
    let goals = goals(values, images);
    let explained = run(py, &runtime, || explain(&runtime, &goals))?;
    let (text, svg) = (explained.to_string(), explained.svg());
    let passes = explained.passes.into_iter().map(|pass| (pass.rows, pass.reads, pass.memory_bytes, pass.result_bytes));
    Ok((text, svg, passes.collect()))
}

/// Computes arrays together: some as NumPy arrays, others as images. Returns the results and the statistics.
#[pyfunction]
pub fn compute_arrays<'py>(
    py: Python<'py>,
    values: Vec<PyExpression>,
    images: Vec<ImageOf>,
    options: &Bound<'py, PyDict>,
) -> PyResult<(Vec<Bound<'py, PyAny>>, Bound<'py, PyAny>)> {
    let runtime = settings::<Limits>(options)?.runtime(py)?;
    let goals = goals(values, images);
    let computed = run(py, &runtime, || compute(&runtime, &goals))?;
    let numpy = py.import("numpy")?;
    let mut values = Vec::new();
    for (place, value) in computed.values.iter().enumerate() {
        let is_shared = computed.values[..place].iter().any(|other| other.address() == value.address());
        let value = value.clone().owned();
        let own = Bound::new(py, Held { memory: value.clone() })?;
        let array = numpy.call_method1("asarray", (own,))?;
        let is_small = value.len_bytes() <= SMALL_BYTES;
        values.push(if is_small || is_shared { array.call_method0("copy")? } else { array });
    }
    Ok((values, crate::to_dict(py, &computed.stats)?))
}

/// Writes an array to a file, see `outcore.array.save`.
#[pyfunction]
pub fn save_array(
    py: Python<'_>,
    array: &PyExpression,
    path: PathBuf,
    names: Option<Vec<String>>,
    options: &Bound<'_, PyDict>,
) -> PyResult<()> {
    let runtime = settings::<Limits>(options)?.runtime(py)?;
    run(py, &runtime, || learn::save(&runtime, &array.array, names, &path).map(drop))
}
