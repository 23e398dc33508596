//! Columns of results as NumPy arrays.
//!
//! NumPy has no missing values. A column of whole numbers that may have some is a `numpy.ma.MaskedArray`, real numbers
//! are NaN, strings `None`. The memory of an array is set aside in the graph's budget for as long as the array lives.

use crate::convert::{id_list, no_column};
use crate::errors::raise;
use crate::runtime::run;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array as _, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::DataType;
use numpy::{Element, PyArray1, PyUntypedArray};
use outcore::data::ids_of;
use outcore::format::{IdColumn, Image};
use outcore::front_ends::{distance_bits, signed_count};
use outcore::io::{Buffer, Reservation};
use outcore::{Column, Runtime, Table, WeightKind};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;

/// Bytes of a string as a Python object, beside its text.
const STRING_BYTES: u64 = 64;

/// Number of values between two looks for a request to stop.
const CHECKED_VALUES: usize = 1 << 18;

/// Number of ids of a path that are looked up together.
const PATH_PART: usize = 1 << 16;

/// Gives back memory that was set aside, when Python drops it.
#[pyclass(frozen, module = "outcore._outcore")]
struct SetAside {
    _reservation: Reservation,
}

#[pymethods]
impl SetAside {
    /// The callback of `weakref.finalize`; dropping is all there is to do.
    fn __call__(&self) {}
}

/// A column as a NumPy array.
pub fn to_numpy<'py>(py: Python<'py>, table: &Table, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let schema = table.schema();
    let Ok(field) = schema.field_with_name(name) else { return Err(no_column(table, name)) };
    let rows = table.rows();
    let image = table.image();
    let bytes = match (&image.manifest().ids, field.data_type()) {
        (IdColumn::String { text_bytes, .. }, DataType::Utf8) => (STRING_BYTES + 8) * rows + text_bytes,
        _ => (8 + u64::from(field.is_nullable())) * rows,
    };
    let purpose = format!("column {name} as a NumPy array");
    let reservation = set_aside(py, image, &purpose, bytes)?;
    let column = table.columns().iter().find(|(own, _)| own == name).map(|(_, column)| column.clone());
    let order = table.order().map(|order| &order[..]);
    let operation = &image.for_operation(None);
    let runtime = operation.runtime();
    // Columns of values that need no ids.
    let of_ids = |columns: Vec<(String, Column)>| {
        let alone = Table::new(image.clone(), columns);
        table.order().map_or(alone.clone(), |order| alone.in_order(order.clone()))
    };
    let distance = |stored: u64| distance_bits(stored).map_or(f64::NAN, f64::from_bits);
    let array = match &column {
        Some(Column::Real(values)) => array(py, in_order(py, runtime, (order, values), |value| value)?),
        Some(Column::Number(values)) => array(py, in_order(py, runtime, (order, values), i64::from)?),
        Some(Column::Count(values)) => array(py, in_order(py, runtime, (order, values), signed_count)?),
        Some(Column::Unsigned(values)) => array(py, in_order(py, runtime, (order, values), |value| value)?),
        Some(Column::Signed(values)) => array(py, in_order(py, runtime, (order, values), |value| value)?),
        Some(Column::Level(values)) => masked(py, runtime, (order, values), level)?,
        Some(Column::Distance(values, WeightKind::I64)) => {
            let whole = |stored| distance_bits(stored).map(|bits| bits as i64);
            masked(py, runtime, (order, values), whole)?
        }
        Some(Column::Distance(values, WeightKind::F64)) => array(py, in_order(py, runtime, (order, values), distance)?),
        None => ids(py, &of_ids(Vec::new()), 0)?,
        Some(column) => ids(py, &of_ids(vec![(name.to_owned(), column.clone())]), 1)?,
    };
    keep(&array, reservation)?;
    Ok(array)
}

/// Sets memory aside for something that is made of a result.
pub fn set_aside(py: Python<'_>, image: &Image, purpose: &str, bytes: u64) -> PyResult<Reservation> {
    image.reserve(purpose, bytes).map_err(|error| raise(py, error))
}

/// Sets memory aside for as long as an array, its mask or a view of either lives.
pub fn keep(array: &Bound<'_, PyAny>, reservation: Reservation) -> PyResult<()> {
    let memory = Bound::new(array.py(), SetAside { _reservation: reservation })?;
    let finalize = array.py().import("weakref")?.getattr("finalize")?;
    finalize.call1((owner(array.clone())?, &memory))?;
    if let Some(mask) = array.getattr_opt("mask")? {
        finalize.call1((owner(mask)?, &memory))?;
    }
    Ok(())
}

/// The array whose memory an array shows: every view of it keeps that one, and none keeps the other views.
fn owner(array: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let base = array.getattr("base")?;
    if base.is_instance_of::<PyUntypedArray>() { owner(base) } else { Ok(array) }
}

/// The order of rows, unless it is that of the values, and the values.
type Ordered<'a, T> = (Option<&'a [u32]>, &'a [T]);

/// Number of rows.
fn rows<T>((order, values): Ordered<'_, T>) -> usize {
    order.map_or(values.len(), <[u32]>::len)
}

/// Calls `take` with the value of every row, on a worker, without the interpreter's lock. A signal stops it.
fn each_row<T: Copy + Sync>(
    py: Python<'_>,
    runtime: &Runtime,
    (order, values): Ordered<'_, T>,
    mut take: impl FnMut(T) + Send,
) -> PyResult<()> {
    let rows = rows((order, values));
    run(py, runtime, || {
        for first in (0..rows).step_by(CHECKED_VALUES) {
            runtime.cancel().check()?;
            let part = first..rows.min(first + CHECKED_VALUES);
            match order {
                None => values[part].iter().for_each(|&value| take(value)),
                Some(order) => order[part].iter().for_each(|&row| take(values[row as usize])),
            }
        }
        Ok(())
    })
}

/// The values of a column, in the order of the rows.
fn in_order<T: Copy + Sync, U: Send>(
    py: Python<'_>,
    runtime: &Runtime,
    ordered: Ordered<'_, T>,
    of: impl Fn(T) -> U + Sync,
) -> PyResult<Vec<U>> {
    let mut all = Vec::with_capacity(rows(ordered));
    each_row(py, runtime, ordered, |value| all.push(of(value)))?;
    Ok(all)
}

fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyAny> {
    PyArray1::from_vec(py, values).into_any()
}

/// A level, of its value plus one; 0 is none.
fn level(stored: u32) -> Option<i64> {
    stored.checked_sub(1).map(i64::from)
}

/// Values, of which some may be missing.
struct Maybe<T> {
    values: Vec<T>,
    /// Shorter, if none behind it are missing.
    missing: Vec<bool>,
}

impl<T: Element + ArrowNativeTypeOp> Maybe<T> {
    fn with_capacity(rows: usize) -> Self {
        Maybe { values: Vec::with_capacity(rows), missing: Vec::new() }
    }

    fn extend(&mut self, values: impl Iterator<Item = Option<T>>) {
        self.missing.resize(self.values.len(), false);
        values.for_each(|value| self.push(value));
    }

    /// Appends a value, where a mask is there for all before it.
    fn push(&mut self, value: Option<T>) {
        self.missing.push(value.is_none());
        self.values.push(value.unwrap_or_else(loud));
    }

    /// Appends the values of a column, as they are where none is missing.
    fn append<A: ArrowPrimitiveType<Native = T>>(&mut self, column: &PrimitiveArray<A>) {
        if column.null_count() > 0 {
            return self.extend(column.iter());
        }
        self.values.extend_from_slice(column.values());
    }

    /// A masked array, or a plain one of a column that has no missing values.
    fn into_array(mut self, py: Python<'_>, is_nullable: bool) -> PyResult<Bound<'_, PyAny>> {
        self.missing.resize(if is_nullable { self.values.len() } else { 0 }, false);
        let values = array(py, self.values);
        if !is_nullable {
            return Ok(values);
        }
        py.import("numpy.ma")?.getattr("MaskedArray")?.call1((values, array(py, self.missing)))
    }
}

/// A masked array of the values of a column, in the order of the rows.
fn masked<'py, T: Copy + Sync, U: Element + ArrowNativeTypeOp>(
    py: Python<'py>,
    runtime: &Runtime,
    ordered: Ordered<'_, T>,
    of: impl Fn(T) -> Option<U> + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let mut column = Maybe::with_capacity(rows(ordered));
    each_row(py, runtime, ordered, |value| column.push(of(value)))?;
    column.into_array(py, true)
}

/// The value under a mask: a number that no calculation that overlooks the mask can hide.
fn loud<T: ArrowNativeTypeOp>() -> T {
    if T::MIN_TOTAL_ORDER.is_zero() { T::MAX_TOTAL_ORDER } else { T::MIN_TOTAL_ORDER }
}

/// Distances between sources and targets, which become a NumPy array on first request.
pub struct Distances {
    /// Distances plus one, 0 where there is no path; source by source.
    levels: Buffer<u32>,
    /// Numbers of sources and of targets.
    shape: (usize, usize),
    array: PyOnceLock<Py<PyAny>>,
}

impl Distances {
    pub fn new(levels: Buffer<u32>, shape: (usize, usize)) -> Self {
        levels.reservation().rename("the distances of a result");
        Distances { levels, shape, array: PyOnceLock::new() }
    }

    /// A masked array with a row per source and a column per target, always the same one.
    pub fn array(&self, py: Python<'_>, image: &Image) -> PyResult<Py<PyAny>> {
        let make = || -> PyResult<_> {
            let (bytes, purpose) = (9 * self.levels.len() as u64, "distances as a NumPy array");
            let reservation = set_aside(py, image, purpose, bytes)?;
            let operation = image.for_operation(None);
            let array = masked(py, operation.runtime(), (None, &self.levels), level)?;
            let array = array.call_method1("reshape", (self.shape,))?;
            keep(&array, reservation)?;
            Ok(array.unbind())
        };
        Ok(self.array.get_or_try_init(py, make)?.clone_ref(py))
    }
}

/// A path, whose ids are looked up on first request.
pub struct Path {
    vertices: Vec<u32>,
    _reservation: Reservation,
    ids: PyOnceLock<(Py<PyList>, Reservation)>,
}

impl Path {
    /// # Errors
    /// No room for the vertices, 4 bytes each.
    pub fn new(image: &Image, vertices: Vec<u32>) -> outcore::Result<Self> {
        let bytes = size_of_val(&*vertices) as u64;
        let reservation = image.runtime().budget().reserve("the path of a result", bytes)?;
        Ok(Path { vertices, _reservation: reservation, ids: PyOnceLock::new() })
    }

    /// The ids, always the same list. Its memory is set aside for as long as the result lives.
    pub fn list(&self, py: Python<'_>, image: &Image) -> PyResult<Py<PyList>> {
        let make = || -> PyResult<_> {
            let count = self.vertices.len() as u64;
            let text = match image.manifest().ids {
                IdColumn::String { text_bytes, .. } => text_bytes / image.manifest().vertices.max(1) * count,
                _ => 0,
            };
            let bytes = (STRING_BYTES + 8) * count + text;
            let reservation = set_aside(py, image, "the path of a result as a list", bytes)?;
            let (list, image) = (PyList::empty(py), &image.for_operation(None));
            for part in self.vertices.chunks(PATH_PART) {
                let ids = run(py, image.runtime(), || ids_of(image, part))?;
                list.call_method1("extend", (id_list(py, &ids)?,))?;
            }
            Ok((list.unbind(), reservation))
        };
        Ok(self.ids.get_or_try_init(py, make)?.0.clone_ref(py))
    }
}

/// A column of ids, in their type: the one at this place among the table's.
fn ids<'py>(py: Python<'py>, table: &Table, place: usize) -> PyResult<Bound<'py, PyAny>> {
    match table.schema().field(place).data_type() {
        DataType::Int8 => integers::<Int8Type>(py, table, place),
        DataType::Int16 => integers::<Int16Type>(py, table, place),
        DataType::Int32 => integers::<Int32Type>(py, table, place),
        DataType::Int64 => integers::<Int64Type>(py, table, place),
        DataType::UInt8 => integers::<UInt8Type>(py, table, place),
        DataType::UInt16 => integers::<UInt16Type>(py, table, place),
        DataType::UInt32 => integers::<UInt32Type>(py, table, place),
        DataType::UInt64 => integers::<UInt64Type>(py, table, place),
        _ => {
            let strings = PyList::empty(py);
            let push = |column: &ArrayRef| column.as_string::<i32>().iter().try_for_each(|id| strings.append(id));
            each_part(py, table, place, push)?;
            py.import("numpy")?.call_method1("array", (strings, "O"))
        }
    }
}

fn integers<'py, A: ArrowPrimitiveType>(py: Python<'py>, table: &Table, place: usize) -> PyResult<Bound<'py, PyAny>>
where
    A::Native: Element + ArrowNativeTypeOp,
{
    let mut values: Maybe<A::Native> = Maybe::with_capacity(table.rows() as usize);
    each_part(py, table, place, |column| {
        values.append(column.as_primitive::<A>());
        Ok(())
    })?;
    values.into_array(py, table.schema().field(place).is_nullable())
}

/// Calls `visit` with the parts of a column, in the order of the rows.
fn each_part(
    py: Python<'_>,
    table: &Table,
    place: usize,
    mut visit: impl FnMut(&ArrayRef) -> PyResult<()>,
) -> PyResult<()> {
    let table = table.for_operation();
    let runtime = table.image().runtime();
    let mut reader = run(py, runtime, || table.reader())?;
    while let Some(batch) = run(py, runtime, || reader.next_batch())? {
        py.check_signals()?;
        visit(batch.column(place))?;
    }
    Ok(())
}
