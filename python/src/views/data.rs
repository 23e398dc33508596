//! The values beside the ids of vertices and edges: which columns are requested, and rows as Python's objects.

use crate::convert::{tuples, value};
use crate::errors::usage;
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, Schema};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::Arc;

/// The values of vertices or edges that are requested beside their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Data {
    #[default]
    None,
    All,
    /// One attribute.
    Named(String),
}

impl Data {
    pub fn of(given: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(given) = given else { return Ok(Data::None) };
        match (given.extract::<bool>(), given.extract::<String>()) {
            (Ok(data), _) => Ok(if data { Data::All } else { Data::None }),
            (_, Ok(name)) => Ok(Data::Named(name)),
            _ => Err(PyTypeError::new_err(format!(
                "expected data= as True, False or the name of an attribute, found {}",
                given.repr()?
            ))),
        }
    }

    /// The first columns of a schema, and those that are wanted behind them.
    pub fn columns(&self, py: Python<'_>, schema: &Schema, ends: usize) -> PyResult<Vec<usize>> {
        let all = 0..schema.fields().len();
        match self {
            Data::None => Ok((0..ends).collect()),
            Data::All => Ok(all.collect()),
            Data::Named(name) => match all.clone().skip(ends).find(|&column| schema.field(column).name() == name) {
                Some(column) => Ok((0..ends).chain([column]).collect()),
                None => {
                    let names: Vec<&str> = all.skip(ends).map(|column| schema.field(column).name().as_str()).collect();
                    let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                    Err(usage(
                        py,
                        format!("expected data= as the name of an attribute, which are {has}; found {name:?}"),
                    ))
                }
            },
        }
    }

    /// Rows as tuples of ids and what is wanted beside them.
    pub fn rows<'py>(
        &self,
        py: Python<'py>,
        batch: &RecordBatch,
        ends: usize,
        default: Option<&Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        if *self == Data::None || *self != Data::All && default.is_none() {
            return tuples(py, batch);
        }
        let list = PyList::empty(py);
        for row in 0..batch.num_rows() {
            let data = match (self, batch.columns().get(ends)) {
                (Data::All, _) | (_, None) => dict_of(py, batch, row, ends)?.into_any(),
                (_, Some(column)) if column.is_valid(row) => value(py, column, row)?,
                _ => default.map_or_else(|| py.None(), |default| default.clone_ref(py)).into_bound(py),
            };
            let ids = batch.columns()[..ends].iter().map(|column| value(py, column, row));
            list.append(PyTuple::new(py, ids.chain([Ok(data)]).collect::<PyResult<Vec<_>>>()?)?)?;
        }
        Ok(list)
    }
}

/// The values of a row behind the first columns, without missing ones.
pub fn dict_of<'py>(py: Python<'py>, batch: &RecordBatch, row: usize, ends: usize) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()).skip(ends) {
        if column.is_valid(row) {
            dict.set_item(field.name(), value(py, column, row)?)?;
        }
    }
    Ok(dict)
}

/// Some columns of batches.
pub fn chosen<R>(batches: R, columns: Vec<usize>) -> PyResult<Box<dyn RecordBatchReader + Send>>
where
    R: RecordBatchReader + Send + 'static,
{
    let schema = Arc::new(batches.schema().project(&columns).map_err(invalid)?);
    let batches = batches.map(move |batch| batch?.project(&columns));
    Ok(Box::new(RecordBatchIterator::new(batches, schema)))
}

/// The error for columns that a batch does not have.
pub fn invalid(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
