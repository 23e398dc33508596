//! Rows of results as Python has them: tuples, dicts, frames. And ids of the user as text.

pub use crate::columns::to_numpy;
use crate::errors::raise;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use outcore::{Id, Table};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyTuple};

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
    let mut reader = table.reader().map_err(|error| raise(py, error))?;
    let dict = PyDict::new(py);
    while let Some(batch) = py.detach(|| reader.next_batch()).map_err(|error| raise(py, error))? {
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
    pandas.call_method1("DataFrame", (columns,))
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
    Ok(match column.data_type() {
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into_pyobject(py)?.into_any(),
        _ => column.as_string::<i32>().value(row).into_pyobject(py)?.into_any(),
    })
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
