//! Rows of results as Python has them: tuples, dicts, frames. And ids of the user as text.

pub use crate::columns::to_numpy;
use crate::runtime::run;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use outcore::{Id, Table};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyIterator, PyList, PyTuple};

/// Rows as tuples.
pub fn tuples<'py>(py: Python<'py>, rows: &RecordBatch) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for row in 0..rows.num_rows() {
        let cells = rows.columns().iter().map(|column| value(py, column, row)).collect::<PyResult<Vec<_>>>()?;
        list.append(PyTuple::new(py, cells)?)?;
    }
    Ok(list)
}

/// The first row as a dict.
pub fn named<'py>(py: Python<'py>, rows: &RecordBatch) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (field, column) in rows.schema().fields().iter().zip(rows.columns()) {
        dict.set_item(field.name(), value(py, column, 0)?)?;
    }
    Ok(dict)
}

/// A dict from every vertex to its value of a column.
pub fn to_dict<'py>(py: Python<'py>, table: &Table, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let Ok(place) = table.schema().index_of(name) else { return Err(no_column(table, name)) };
    let (table, dict) = (table.for_operation(), PyDict::new(py));
    let runtime = table.image().runtime();
    let mut reader = run(py, runtime, || table.reader())?;
    while let Some(batch) = run(py, runtime, || reader.next_batch())? {
        py.check_signals()?;
        for row in 0..batch.num_rows() {
            dict.set_item(value(py, batch.column(0), row)?, value(py, batch.column(place), row)?)?;
        }
    }
    Ok(dict)
}

/// A `pandas.DataFrame`.
pub fn to_pandas<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyAny>> {
    let (pandas, columns) = (py.import("pandas")?, PyDict::new(py));
    let nullable = pandas.getattr("arrays")?.getattr("IntegerArray")?;
    for field in table.schema().fields() {
        let mut array = to_numpy(py, table, field.name())?;
        // Real numbers and strings have missing values of their own in pandas.
        if field.is_nullable() && field.data_type().is_integer() {
            array = nullable.call1((array.getattr("data")?, array.getattr("mask")?))?;
        }
        columns.set_item(field.name(), array)?;
    }
    // The columns are nobody else's.
    let options = PyDict::new(py);
    options.set_item("copy", false)?;
    pandas.call_method("DataFrame", (columns,), Some(&options))
}

/// The error for a column that a table has not.
pub fn no_column(table: &Table, name: &str) -> PyErr {
    let schema = table.schema();
    let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    PyKeyError::new_err(format!("there is no column '{name}'; there are {}", names.join(", ")))
}

/// A single value; `None` where it is missing.
pub fn value<'py>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    macro_rules! number {
        ($type:ty) => {
            column.as_primitive::<$type>().value(row).into_pyobject(py)?.into_any()
        };
    }
    Ok(match column.data_type() {
        DataType::Float64 => number!(Float64Type),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Boolean => PyBool::new(py, column.as_boolean().value(row)).to_owned().into_any(),
        DataType::Date32 => date(py, column.as_primitive::<Date32Type>().value(row))?,
        DataType::Timestamp(unit, zone) => time(py, *unit, zone.as_deref(), column, row)?,
        _ => column.as_string::<i32>().value(row).into_pyobject(py)?.into_any(),
    })
}

/// The ordinal of 1 January 1970 among Python's dates.
const FIRST_DAY: i64 = 719_163;

/// A `datetime.date`.
fn date(py: Python<'_>, day: i32) -> PyResult<Bound<'_, PyAny>> {
    let date = py.import("datetime")?.getattr("date")?;
    date.call_method1("fromordinal", (FIRST_DAY + i64::from(day),))
}

/// A `datetime.datetime`, in UTC if times have a zone. Python's have microseconds: what is finer is cut off.
fn time<'py>(
    py: Python<'py>,
    unit: TimeUnit,
    zone: Option<&str>,
    column: &ArrayRef,
    row: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let micros = match unit {
        TimeUnit::Second => i128::from(column.as_primitive::<TimestampSecondType>().value(row)) * 1_000_000,
        TimeUnit::Millisecond => i128::from(column.as_primitive::<TimestampMillisecondType>().value(row)) * 1000,
        TimeUnit::Microsecond => i128::from(column.as_primitive::<TimestampMicrosecondType>().value(row)),
        TimeUnit::Nanosecond => {
            i128::from(column.as_primitive::<TimestampNanosecondType>().value(row)).div_euclid(1000)
        }
    };
    let datetime = py.import("datetime")?;
    let zone = match zone {
        Some(_) => datetime.getattr("timezone")?.getattr("utc")?,
        None => py.None().into_bound(py),
    };
    let options = PyDict::new(py);
    options.set_item("microseconds", micros)?;
    let since = datetime.getattr("timedelta")?.call((), Some(&options))?;
    let epoch = datetime.getattr("datetime")?.call1((1970, 1, 1, 0, 0, 0, 0, zone))?;
    epoch.add(since)
}

/// Ids as Python has them.
pub fn id_list(py: Python<'_>, ids: &[Id<String>]) -> PyResult<Py<PyList>> {
    let list = PyList::empty(py);
    for id in ids {
        list.append(id_object(py, id)?)?;
    }
    Ok(list.unbind())
}

/// An id as Python has it.
pub fn id_object<'py>(py: Python<'py>, id: &Id<String>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match id {
        Id::Unsigned(value) => value.into_pyobject(py)?.into_any(),
        Id::Signed(value) => value.into_pyobject(py)?.into_any(),
        Id::Text(text) => text.into_pyobject(py)?.into_any(),
    })
}

/// A set of vertices as ids: `outcore._options` reads it for all functions.
pub fn id_set<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    // A value that is neither an id nor a list of ids is no id.
    if let (Err(_), Err(no_id)) = (given.try_iter(), id_text(given)) {
        return Err(no_id);
    }
    given.py().import("outcore._options")?.call_method1("ids_of", (given,))?.try_iter()
}

/// An id as text: strings as they are, integers (NumPy's too) in decimal.
pub fn id_text(id: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = id.extract::<String>() {
        return Ok(text);
    }
    let integer = id.py().import("operator")?.call_method1("index", (id,));
    match integer {
        Ok(integer) if !id.is_instance_of::<PyBool>() => Ok(integer.str()?.to_string()),
        _ => Err(PyTypeError::new_err(format!("expected an id as an integer or a string, found {}", id.repr()?))),
    }
}
