//! Edges that Python hands over piece by piece, as Arrow batches: NumPy arrays, SciPy matrices, NetworkX graphs.
//!
//! `outcore._inputs` makes generators that yield tuples of arrays or lists, some ten thousand values each; so a large
//! array is never copied as a whole. The generators run on a worker, which takes the interpreter's lock for each piece.

use crate::errors::raise;
use crate::exit;
use arrow_array::{
    ArrayRef, FixedSizeListArray, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, NullArray, RecordBatch,
    RecordBatchIterator, RecordBatchReader, StringArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use numpy::{Element, PyArray1, PyArrayMethods};
use outcore::Error;
use outcore::io::lock;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyTuple};
use std::cell::Cell;
use std::iter;
use std::sync::{Arc, Mutex};

/// State of a generator of rows while workers draw from it.
#[derive(Default)]
pub struct Making {
    /// The exception of the generator, for the caller; the layers in between carry only text.
    pub raised: Option<PyErr>,
    /// The thread that waits for rows, as Python numbers it, and how often it was interrupted.
    waiting: Option<(u64, u64)>,
    /// A signal has ended the work.
    is_interrupted: bool,
}

/// The state of a generator, shared with the worker that draws rows from it.
pub type Raised = Arc<Mutex<Making>>;

/// The outcome of work that drew rows from a generator, whose exception says more than the error that it led to.
pub fn or_raised<T>(outcome: PyResult<T>, raised: &Raised) -> PyResult<T> {
    let mut making = lock(raised);
    match making.raised.take() {
        // The outcome is the exception of the handler of the signal.
        Some(error) if outcome.is_err() && !making.is_interrupted && !exit::is_ending() => Err(error),
        _ => outcome,
    }
}

/// Number of calls of [`interrupt`] between two interruptions.
const LOOKS_BETWEEN: u64 = 20;

/// Raises `KeyboardInterrupt` in Python's code that a worker waits for: called twenty times a second once a signal has
/// arrived. Code that is no Python's hears it when it returns.
pub fn interrupt(raised: &Raised) {
    let waiting = {
        let mut making = lock(raised);
        // An exception of the generator before the signal stays the reason.
        making.is_interrupted |= making.raised.is_none();
        making.waiting.as_mut().map(|(thread, looks)| {
            *looks += 1;
            (*thread, *looks)
        })
    };
    let Some((thread, _)) = waiting.filter(|(_, looks)| looks % LOOKS_BETWEEN == 1) else { return };
    // Where that cannot be, the import ends with the next rows.
    let _ = Python::try_attach(|py| py.import("outcore._errors")?.call_method1("interrupt", (thread,)).map(drop));
}

/// The number that Python has for this thread.
fn this_thread() -> Option<u64> {
    thread_local! {
        static NUMBER: Cell<Option<u64>> = const { Cell::new(None) };
    }
    let ask = |py: Python<'_>| py.import("threading")?.call_method0("get_ident")?.extract::<u64>();
    NUMBER.get().or_else(|| {
        NUMBER.set(Python::try_attach(|py| ask(py).ok()).flatten());
        NUMBER.get()
    })
}

/// Columns from a generator: their names and types (`i8`, `u8`, `f8`, `c16` or `str`, with `?` if values may be
/// missing; `other` for what nobody can use), and the pieces.
#[derive(FromPyObject)]
struct Chunks {
    columns: Vec<(String, String)>,
    pieces: Py<PyIterator>,
}

/// Batches, one after the other.
type Batches = Box<dyn RecordBatchReader + Send>;

/// Rows that Python may make while they are asked for.
fn making_rows(mut rows: Batches, raised: &Raised) -> Batches {
    let (schema, raised) = (rows.schema(), Arc::clone(raised));
    let next = move || {
        lock(&raised).waiting = this_thread().map(|thread| (thread, 0));
        // The stream of another library may panic on what it holds.
        let batch = outcore::front_ends::guarded(|| Ok(rows.next()));
        lock(&raised).waiting = None;
        let batch = batch.unwrap_or_else(|error| Some(Err(ArrowError::CDataInterface(error))));
        Some(batch?.map_err(|error| match error {
            ArrowError::ExternalError(_) | ArrowError::CDataInterface(_) => error,
            // The import of what the stream holds.
            invalid => ArrowError::CDataInterface(invalid.to_string()),
        }))
    };
    Box::new(RecordBatchIterator::new(iter::from_fn(next), schema))
}

/// Rows from an object with `__arrow_c_stream__`, from one that has `streams` of such, or `columns` and `pieces`.
pub fn reader(rows: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<Batches> {
    if rows.hasattr("__arrow_c_stream__")? {
        return Ok(making_rows(crate::stream::import(rows)?, raised));
    }
    let for_python = Arc::clone(raised);
    if rows.hasattr("streams")? {
        let parts: Bound<'_, PyIterator> = rows.getattr("streams")?.try_iter()?;
        let Some(first) = parts.clone().next() else {
            return Err(PyValueError::new_err("expected tables, found none; give one without rows"));
        };
        let current = crate::stream::import(&first?)?;
        let mut streams = Streams { schema: current.schema(), current, first: None, parts: parts.unbind(), place: 1 };
        streams.find_rows(rows.py())?;
        let schema = Arc::clone(&streams.schema);
        let batches = iter::from_fn(move || streams.next(&for_python));
        return Ok(making_rows(Box::new(RecordBatchIterator::new(batches, schema)), raised));
    }
    let Chunks { columns, pieces } = rows.extract()?;
    let field = |(name, kind): &(String, String)| match kind.as_str() {
        "i1" => Ok(Field::new(name, DataType::Int8, false)),
        "i2" => Ok(Field::new(name, DataType::Int16, false)),
        "i4" => Ok(Field::new(name, DataType::Int32, false)),
        "i8" => Ok(Field::new(name, DataType::Int64, false)),
        "u1" => Ok(Field::new(name, DataType::UInt8, false)),
        "u2" => Ok(Field::new(name, DataType::UInt16, false)),
        "u4" => Ok(Field::new(name, DataType::UInt32, false)),
        "u8" => Ok(Field::new(name, DataType::UInt64, false)),
        "f8" => Ok(Field::new(name, DataType::Float64, false)),
        "c16" => Ok(Field::new(name, DataType::FixedSizeList(Arc::new(part()), 2), false)),
        "str" => Ok(Field::new(name, DataType::Utf8, false)),
        "other" => Ok(Field::new(name, DataType::Null, true)),
        "i8?" => Ok(Field::new(name, DataType::Int64, true)),
        "u8?" => Ok(Field::new(name, DataType::UInt64, true)),
        "str?" => Ok(Field::new(name, DataType::Utf8, true)),
        other => {
            let expected = "expected a column of i1 to i8, u1 to u8, f8, c16, str, i8?, u8?, str? or other";
            Err(PyValueError::new_err(format!("{expected}, found {other}")))
        }
    };
    let fields = columns.iter().map(field).collect::<PyResult<Vec<_>>>()?;
    let schema = Arc::new(Schema::new(fields));
    let of_batches = Arc::clone(&schema);
    let batches = iter::from_fn(move || in_python(&for_python, |py| next_piece(py, &pieces, &schema)).transpose());
    Ok(making_rows(Box::new(RecordBatchIterator::new(batches, of_batches)), raised))
}

/// Tables with the same columns, one after the other. Those without rows have the same names, and any types.
struct Streams {
    schema: SchemaRef,
    current: Batches,
    /// The first rows of the current table, where they were looked for.
    first: Option<Result<RecordBatch, ArrowError>>,
    parts: Py<PyIterator>,
    place: u64,
}

impl Streams {
    /// Moves to the first table with rows, whose types are those of all others; to the last one if there is none.
    fn find_rows(&mut self, py: Python<'_>) -> PyResult<()> {
        loop {
            self.first =
                py.detach(|| self.current.find(|batch| batch.as_ref().map_or(true, |rows| rows.num_rows() > 0)));
            let before = Arc::clone(&self.schema);
            if self.first.is_some() || !self.take_next(py)? {
                return Ok(());
            }
            if names(&before) != names(&self.current.schema()) {
                return Err(self.differing(py, &before));
            }
            self.schema = self.current.schema();
        }
    }

    /// Takes the next table; false if there is none.
    fn take_next(&mut self, py: Python<'_>) -> PyResult<bool> {
        let Some(part) = self.parts.bind(py).clone().next() else { return Ok(false) };
        self.current = crate::stream::import(&part?)?;
        self.place += 1;
        Ok(true)
    }

    /// Moves to the next table that has the columns of the first with rows; false if there is none.
    fn advance(&mut self, py: Python<'_>) -> PyResult<bool> {
        while self.take_next(py)? {
            let own = self.current.schema();
            if columns(&self.schema) == columns(&own) {
                return Ok(true);
            }
            let has_rows = |batch: Result<RecordBatch, _>| batch.map_or(true, |rows| rows.num_rows() > 0);
            if names(&self.schema) != names(&own) || py.detach(|| self.current.any(has_rows)) {
                return Err(self.differing(py, &self.schema));
            }
        }
        Ok(false)
    }

    /// The refusal of the current table, whose columns are not the expected ones.
    fn differing(&self, py: Python<'_>, expected: &SchemaRef) -> PyErr {
        let listed = |schema: &SchemaRef| -> String {
            let all: Vec<_> = columns(schema).iter().map(|(name, kind)| format!("{name} ({kind})")).collect();
            if all.is_empty() { "none".to_owned() } else { all.join(", ") }
        };
        let expected = format!("the columns of the tables before, {}", listed(expected));
        let found = listed(&self.current.schema());
        let error = Error::input(format!("table {}", self.place), None, expected, found);
        raise(py, error.advise("select and cast the columns"))
    }

    fn next(&mut self, raised: &Raised) -> Option<Result<RecordBatch, ArrowError>> {
        loop {
            if let Some(batch) = self.first.take().or_else(|| self.current.next()) {
                return Some(batch);
            }
            match in_python(raised, |py| self.advance(py)) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The names and types of columns.
fn columns(schema: &SchemaRef) -> Vec<(&str, &DataType)> {
    schema.fields().iter().map(|field| (field.name().as_str(), field.data_type())).collect()
}

fn names(schema: &SchemaRef) -> Vec<&str> {
    schema.fields().iter().map(|field| field.name().as_str()).collect()
}

/// Calls Python from a worker; an exception is kept for the caller.
fn in_python<T>(raised: &Raised, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, ArrowError> {
    let outcome = Python::try_attach(|py| {
        call(py).map_err(|error| {
            let text = error.to_string();
            lock(raised).raised.get_or_insert(error);
            ArrowError::ExternalError(text.into())
        })
    });
    outcome.unwrap_or_else(|| Err(ArrowError::ExternalError("the interpreter is ending".into())))
}

/// The next piece of a generator as a batch.
fn next_piece(py: Python<'_>, pieces: &Py<PyIterator>, schema: &SchemaRef) -> PyResult<Option<RecordBatch>> {
    let Some(piece) = pieces.bind(py).clone().next() else { return Ok(None) };
    let piece = piece?.cast_into::<PyTuple>()?;
    let columns = schema.fields().iter().zip(piece.iter());
    let columns = columns.map(|(field, values)| match field.is_nullable() {
        true => column_with_nulls(&values, field.data_type()),
        false => column(&values, field.data_type()),
    });
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    let batch = RecordBatch::try_new(Arc::clone(schema), columns);
    batch.map(Some).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A part of a complex number.
fn part() -> Field {
    Field::new("part", DataType::Float64, false)
}

/// One column of a piece; values that do not fit the type raise.
fn column(values: &Bound<'_, PyAny>, kind: &DataType) -> PyResult<ArrayRef> {
    Ok(match kind {
        DataType::Int8 => Arc::new(Int8Array::from(numbers::<i8>(values, "int8")?)),
        DataType::Int16 => Arc::new(Int16Array::from(numbers::<i16>(values, "int16")?)),
        DataType::Int32 => Arc::new(Int32Array::from(numbers::<i32>(values, "int32")?)),
        DataType::Int64 => Arc::new(Int64Array::from(numbers::<i64>(values, "int64")?)),
        DataType::UInt8 => Arc::new(UInt8Array::from(numbers::<u8>(values, "uint8")?)),
        DataType::UInt16 => Arc::new(UInt16Array::from(numbers::<u16>(values, "uint16")?)),
        DataType::UInt32 => Arc::new(UInt32Array::from(numbers::<u32>(values, "uint32")?)),
        DataType::UInt64 => Arc::new(UInt64Array::from(numbers::<u64>(values, "uint64")?)),
        DataType::Float64 => Arc::new(Float64Array::from(numbers::<f64>(values, "float64")?)),
        DataType::FixedSizeList(..) => {
            let parts = as_array(values, "complex128")?.call_method1("view", ("float64",))?;
            let parts = Arc::new(Float64Array::from(numbers::<f64>(&parts, "float64")?));
            let pairs = FixedSizeListArray::try_new(Arc::new(part()), 2, parts, None);
            Arc::new(pairs.map_err(|error| PyValueError::new_err(error.to_string()))?)
        }
        _ => {
            let list = if values.hasattr("tolist")? { values.call_method0("tolist")? } else { values.clone() };
            Arc::new(StringArray::from(list.extract::<Vec<String>>()?))
        }
    })
}

/// One column of a piece, a list in which None is a missing value.
fn column_with_nulls(values: &Bound<'_, PyAny>, kind: &DataType) -> PyResult<ArrayRef> {
    Ok(match kind {
        DataType::Int64 => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
        DataType::UInt64 => Arc::new(UInt64Array::from(values.extract::<Vec<Option<u64>>>()?)),
        DataType::Utf8 => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
        _ => Arc::new(NullArray::new(values.len()?)),
    })
}

/// A vector of NumPy's of a type.
fn as_array<'py>(values: &Bound<'py, PyAny>, dtype: &str) -> PyResult<Bound<'py, PyAny>> {
    values.py().import("numpy")?.call_method1("asarray", (values, dtype))
}

fn numbers<T: Element + Copy>(values: &Bound<'_, PyAny>, dtype: &str) -> PyResult<Vec<T>> {
    Ok(as_array(values, dtype)?.cast_into::<PyArray1<T>>()?.readonly().as_array().to_vec())
}
