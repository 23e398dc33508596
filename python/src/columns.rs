//! Columns of results as NumPy arrays.
//!
//! NumPy has no missing values: there they are -1, infinity among real distances (2^64 - 1 among unsigned ids, `None` among strings), as in `.npy` files. The
//! memory of an array is set aside in the graph's budget for as long as the array lives.

use crate::convert::no_column;
use crate::errors::{raise, usage};
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_schema::DataType;
use numpy::{Element, PyArray1};
use outcore::format::{IdColumn, WeightKind};
use outcore::io::Reservation;
use outcore::{Column, Graph, Table, distance_bits};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// What a string takes as a Python object, beside its text.
const STRING_BYTES: u64 = 64;

/// Gives back memory that was set aside, when Python drops it.
#[pyclass(frozen, module = "outcore._outcore")]
struct Kept {
    _reservation: Reservation,
}

#[pymethods]
impl Kept {
    /// What `weakref.finalize` calls; dropping is all there is to do.
    fn __call__(&self) {}
}

/// A column as a NumPy array.
pub fn to_numpy<'py>(py: Python<'py>, table: &Table, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let schema = table.schema();
    let Ok(field) = schema.field_with_name(name) else { return Err(no_column(table, name)) };
    let rows = table.rows();
    let graph = table.graph();
    let bytes = match (&graph.manifest().ids, field.data_type()) {
        (IdColumn::String { text_bytes, .. }, DataType::Utf8) => (STRING_BYTES + 8) * rows + text_bytes,
        _ => 8 * rows,
    };
    let purpose = format!("column {name} as a NumPy array");
    graph.make_room(&purpose, bytes).map_err(|error| raise(py, error))?;
    let reservation = graph.runtime().budget().reserve(&purpose, bytes).map_err(|error| raise(py, error))?;
    let column = table.columns().iter().find(|(own, _)| own == name).map(|(_, column)| column.clone());
    let array = match &column {
        Some(Column::Real(values)) => array(py, values.iter().map(|value| value.load()).collect()),
        Some(Column::Number(values)) => array(py, values.iter().map(|value| value.load(Relaxed)).collect()),
        Some(Column::Count(values)) => array(py, values.iter().map(|value| value.load(Relaxed)).collect()),
        Some(Column::Level(values)) => {
            array(py, values.iter().map(|value| i64::from(value.load(Relaxed)) - 1).collect())
        }
        Some(Column::Distance(values, WeightKind::I64)) => {
            array(py, values.iter().map(|value| distance_bits(value).map_or(-1, |bits| bits as i64)).collect())
        }
        Some(Column::Distance(values, WeightKind::F64)) => {
            array(py, values.iter().map(|value| distance_bits(value).map_or(f64::INFINITY, f64::from_bits)).collect())
        }
        None => ids(py, &Table::new(graph.clone(), Vec::new()), 0)?,
        Some(column) => ids(py, &Table::new(graph.clone(), vec![(name.to_owned(), column.clone())]), 1)?,
    };
    let kept = Bound::new(py, Kept { _reservation: reservation })?;
    py.import("weakref")?.call_method1("finalize", (&array, kept))?;
    Ok(array)
}

fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyAny> {
    PyArray1::from_vec(py, values).into_any()
}

/// Distances plus one, 0 where there is no path, as a NumPy array with a row per source and a column per target.
pub fn distances(
    py: Python<'_>,
    graph: &Graph,
    levels: &[AtomicU32],
    (sources, targets): (usize, usize),
) -> PyResult<Py<PyAny>> {
    let bytes = 8 * levels.len() as u64;
    graph.make_room("distances as a NumPy array", bytes).map_err(|error| raise(py, error))?;
    let values = levels.iter().map(|level| i64::from(level.load(Relaxed)) - 1).collect();
    Ok(array::<i64>(py, values).call_method1("reshape", ((sources, targets),))?.unbind())
}

/// A column of ids: the one at this place among the table's.
fn ids<'py>(py: Python<'py>, table: &Table, place: usize) -> PyResult<Bound<'py, PyAny>> {
    let (rows, kind) = (table.rows() as usize, table.schema().field(place).data_type().clone());
    let mut signed: Vec<i64> = Vec::with_capacity(if kind == DataType::Int64 { rows } else { 0 });
    let mut unsigned: Vec<u64> = Vec::with_capacity(if kind == DataType::UInt64 { rows } else { 0 });
    let strings = PyList::empty(py);
    let mut reader = table.reader().map_err(|error| raise(py, error))?;
    let (mut missing, mut taken) = (false, false);
    while let Some(batch) = py.detach(|| reader.next_batch()).map_err(|error| raise(py, error))? {
        py.check_signals()?;
        let (own, column) = (batch.column(0), batch.column(place));
        missing |= column.null_count() > 0;
        match kind {
            DataType::Int64 => {
                taken |= own.as_primitive::<Int64Type>().values().contains(&-1);
                signed.extend(column.as_primitive::<Int64Type>().iter().map(|id| id.unwrap_or(-1)));
            }
            DataType::UInt64 => {
                taken |= own.as_primitive::<UInt64Type>().values().contains(&u64::MAX);
                unsigned.extend(column.as_primitive::<UInt64Type>().iter().map(|id| id.unwrap_or(u64::MAX)));
            }
            _ => column.as_string::<i32>().iter().try_for_each(|id| strings.append(id))?,
        }
    }
    if missing && taken {
        let text = "NumPy arrays say -1 (or 2^64-1) for a vertex that is missing, but this graph has a vertex of that id; \
                    use to_arrow() or to_polars() instead";
        return Err(usage(py, text));
    }
    match kind {
        DataType::Int64 => Ok(array(py, signed)),
        DataType::UInt64 => Ok(array(py, unsigned)),
        _ => py.import("numpy")?.call_method1("array", (strings, "O")),
    }
}

/// What stands for a missing value in a NumPy array of this type of column; nothing for strings.
pub fn missing<'py>(py: Python<'py>, kind: &DataType) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(match kind {
        DataType::Utf8 => None,
        DataType::UInt64 => Some(u64::MAX.into_pyobject(py)?.into_any()),
        _ => Some((-1i64).into_pyobject(py)?.into_any()),
    })
}
