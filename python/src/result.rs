//! `outcore.Table`: what an algorithm found, one row per vertex; and its subclasses with what each algorithm adds.

use crate::convert::{id_text, named, to_dict, to_numpy, to_pandas, tuples};
use crate::errors::{raise, usage};
use crate::runtime::{checked_options, run, settings};
use crate::views::Rows;
use outcore::io::escaped;
use outcore::{Stats, Table};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};
use std::path::PathBuf;

/// What an algorithm found: one row per vertex, isolated ones included, under the user's own ids.
///
/// The column `vertex` holds the ids, the others what was found. Rows come in the order of the image: sorted by id in
/// images of order "input", by degree class first in those of order "degree", neighbours together in those of order
/// "near". A table holds only the arrays that the algorithm left; every conversion makes its rows anew, in bounded
/// memory where its target allows. As in pandas, `len(table)` counts rows, while `in` and iteration are over the names
/// of the columns, whose values `table[name]` has. It implements the Arrow PyCapsule interface, so
/// `polars.DataFrame(table)`, `pyarrow.table(table)` and DuckDB take it as it is.
#[pyclass(frozen, subclass, name = "Table", module = "outcore")]
pub struct PyTable {
    pub table: Table,
    stats: Py<PyAny>,
}

/// The arguments of `Table.top`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Top {
    k: usize,
    column: Option<String>,
}

impl PyTable {
    pub fn new(py: Python<'_>, table: Table, stats: &Stats) -> PyResult<Self> {
        Ok(PyTable { table, stats: crate::to_dict(py, stats)?.unbind() })
    }

    /// The name of a column that may be left out: then it is the first one beside `vertex`.
    fn column(&self, py: Python<'_>, name: Option<&str>) -> PyResult<String> {
        let first = || self.table.columns().first().map(|(name, _)| name.clone());
        let name = name.map(str::to_owned).or_else(first);
        name.ok_or_else(|| usage(py, "expected a table with a column beside vertex, found one of ids only"))
    }
}

#[pymethods]
impl PyTable {
    /// The names of the columns, `vertex` first.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.table.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// What the operation cost, as a dict: the same keys as `outcore run --stats`.
    ///
    /// Among them `seconds`, `seconds_io_wait`, `passes`, `bytes_read`, `pages_wanted`, `pages_read`, `requests`,
    /// `cache_hits`, `memory_limit_bytes`, `memory_peak_bytes` (of the whole process so far), `threads`, `backend`, and
    /// `steps`, one entry per step or iteration; if there are more than 4096, the last entry is the sum of the rest.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.stats.bind(py).clone()
    }

    /// A column as a NumPy array, a copy that counts in the memory limit while it lives.
    ///
    /// NumPy has no missing values, such as the level of a vertex that was not reached. A column of whole numbers that
    /// may have some is a `numpy.ma.MaskedArray`, which leaves them out of sums, means and comparisons; real numbers
    /// are NaN, strings `None`.
    ///
    /// Raises:
    ///     KeyError: No such column.
    ///     MemoryLimitError: No room for 8 bytes per vertex (more for strings).
    ///
    /// >>> float(ranks["pagerank"].sum().round(9)), list(ranks["vertex"][:2])
    /// (1.0, ['about', 'home'])
    fn __getitem__<'py>(&self, py: Python<'py>, column: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(name) = column.extract::<String>() else {
            let (names, found) = (self.columns().join(", "), column.repr()?);
            return Err(PyTypeError::new_err(format!("expected the name of a column ({names}), found {found}")));
        };
        to_numpy(py, &self.table, &name)
    }

    fn __len__(&self) -> usize {
        self.table.rows() as usize
    }

    /// The names of the columns, so that `dict(table)` has all of them as arrays.
    fn keys(&self) -> Vec<String> {
        self.columns()
    }

    fn _ipython_key_completions_(&self) -> Vec<String> {
        self.columns()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.columns().into_pyobject(py)?.try_iter()?.into_any())
    }

    fn __contains__(&self, column: &Bound<'_, PyAny>) -> bool {
        column.extract::<String>().is_ok_and(|name| self.table.schema().field_with_name(&name).is_ok())
    }

    /// The `k` rows with the greatest values of a column (by default the first beside `vertex`), as tuples; smaller ids
    /// first among equals. One pass over the ids, and memory for `k` rows.
    ///
    /// >>> [(vertex, round(rank, 4)) for vertex, rank in ranks.top(2)]
    /// [('home', 0.3798), ('about', 0.3635)]
    #[pyo3(signature = (*arguments, **options), text_signature = "($self, k=10, column=None)")]
    fn top<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let Top { k, column } = settings(&checked_options(py, "top_options", arguments, options)?)?;
        let name = self.column(py, column.as_deref())?;
        tuples(py, &run(py, self.table.image().runtime(), || self.table.top(k, &name))?)
    }

    /// The same rows in the order of a column, as a table: of `vertex`, or of numbers.
    ///
    /// Rows without a value come last; among equals the smaller id comes first. The table shares the values of this one.
    ///
    /// Args:
    ///     column: The name of a column; by default the first one beside `vertex`.
    ///     descending: Whether the greatest values come first.
    ///
    /// Cost: 4 bytes per vertex, and 12 more while rows are sorted; where vertices are not numbered as their ids sort,
    /// and whenever rows are read, 8 bytes per vertex and the text of strings.
    ///
    /// Raises:
    ///     UsageError: No such column, or one of ids other than `vertex`.
    ///     MemoryLimitError: Too little memory.
    ///
    /// >>> ranks.sort_by("pagerank", descending=True)["vertex"].tolist()
    /// ['home', 'about', 'news', 'lone']
    #[pyo3(signature = (column=None, *, descending=false))]
    fn sort_by(slf: &Bound<'_, Self>, column: Option<&str>, descending: bool) -> PyResult<Self> {
        let (py, this) = (slf.py(), slf.get());
        let name = this.column(py, column)?;
        let table = run(py, this.table.image().runtime(), || this.table.sorted(&name, descending))?;
        Ok(PyTable { table, stats: this.stats.clone_ref(py) })
    }

    /// Pairs of every vertex and its value of a column (by default the first beside `vertex`), one after the other:
    /// `for vertex, rank in ranks.items()`. `None` where a value is missing. A batch of rows at a time.
    ///
    /// >>> [vertex for vertex, level in levels.items() if level is None]
    /// ['lone']
    #[pyo3(signature = (column=None))]
    fn items(&self, py: Python<'_>, column: Option<&str>) -> PyResult<Rows> {
        let name = self.column(py, column)?;
        Rows::of_column(py, &self.table, &name)
    }

    /// A column as a NumPy array (by default the first beside `vertex`), as `table[column]` is.
    ///
    /// >>> levels.to_numpy().tolist()
    /// [1, 0, 1, None]
    #[pyo3(signature = (column=None))]
    fn to_numpy<'py>(&self, py: Python<'py>, column: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        to_numpy(py, &self.table, &self.column(py, column)?)
    }

    /// The row of one vertex, as a dict. One pass over the ids, unless they are a range of integers.
    ///
    /// Raises:
    ///     UsageError: No vertex of that id.
    ///
    /// >>> levels.row("about")
    /// {'vertex': 'about', 'level': 1, 'parent': 'home'}
    fn row<'py>(&self, py: Python<'py>, vertex: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let id = id_text(vertex)?;
        named(py, &run(py, self.table.image().runtime(), || self.table.row(&id))?)
    }

    /// A dict from every vertex to its value of a column (by default the first beside `vertex`); `None` where it is
    /// missing. About 150 bytes per vertex, outside of the memory limit: for small graphs.
    ///
    /// >>> levels.to_dict()
    /// {'about': 1, 'home': 0, 'news': 1, 'lone': None}
    #[pyo3(signature = (column=None))]
    fn to_dict<'py>(&self, py: Python<'py>, column: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
        let name = self.column(py, column)?;
        to_dict(py, &self.table, &name)
    }

    /// A `pyarrow.Table`; missing values are nulls.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// A `polars.DataFrame`; missing values are nulls.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// A `pandas.DataFrame`; integers that may be missing are of nullable types, real numbers NaN.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_pandas(py, &self.table)
    }

    /// Writes all rows to a file: .parquet, .csv (also .csv.gz and .csv.zst), .npy or .arrow, by its name.
    ///
    /// The file appears complete or not at all. Memory does not grow with the table, apart from the ids of columns of
    /// vertices.
    ///
    /// Raises:
    ///     UsageError: Another ending, or strings in a .npy file.
    ///     OSError: The file cannot be written.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        run(py, self.table.image().runtime(), || self.table.write(path))
    }

    /// The rows as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let reader = self.table.reader().map_err(|error| raise(py, error))?;
        // A consumer that wants another schema converts what it gets, as the interface allows.
        let _ = requested_schema;
        crate::stream::export(py, Box::new(reader))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("results cannot be pickled; write() them to a file, or convert them first"))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (table, name) = (slf.get(), slf.get_type().name()?);
        let (path, columns) = (table.table.image().path().display(), table.columns().join(", "));
        let text = format!("<outcore.{name} of '{path}': {} rows, columns {columns}>", table.table.rows());
        Ok(escaped(text).to_string())
    }
}
