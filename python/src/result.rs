//! `outcore.Table`: the result of an algorithm, one row per vertex.

use crate::convert::{id_object, id_text, named, to_dict, to_numpy, to_pandas, tuples};
use crate::errors::usage;
use crate::runtime::{checked_options, run, settings};
use crate::views::Rows;
use numpy::{PyArray1, PyArrayMethods};
use outcore::format::Image;
use outcore::io::backend::Memory;
use outcore::io::{Sample, escaped};
use outcore::report::{self, OptionText, Planned, Report, Summary};
use outcore::{Column, Graph, Stats, Table};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// The result of an algorithm: one row per vertex, isolated ones included, under the user's own ids.
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
    run: Arc<Report>,
    /// The column by whose greatest values rows are shown, if it is not the first rows that are.
    ranked: Option<String>,
    /// The cost as a dict, once it was asked for.
    stats: PyOnceLock<Py<PyAny>>,
}

/// The number of rows that a notebook and `print` show.
const SHOWN_ROWS: usize = 10;
/// The name of a graph: its path, if it has one.
fn called(image: &Image) -> String {
    match image.path().starts_with(Memory::folder()) {
        true => "a graph in memory".to_owned(),
        false => format!("'{}'", image.path().display()),
    }
}

/// The arguments of `Table.top`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Top {
    k: usize,
    column: Option<String>,
}

impl PyTable {
    /// A table of a run. It outlives the operation that made it, and shows no progress of that.
    pub fn new(table: Table, run: Arc<Report>, ranked: Option<String>) -> Self {
        PyTable { table: table.for_operation(), run, ranked, stats: PyOnceLock::new() }
    }

    /// Another table of this run.
    fn with(&self, table: Table) -> Self {
        PyTable::new(table, Arc::clone(&self.run), self.ranked.clone())
    }

    /// A few rows as text or HTML: `outcore._graphs.previews` makes it.
    fn preview<'py>(slf: &Bound<'py, Self>, form: &str) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let rows = this.run(py, |table| table.preview(SHOWN_ROWS, this.ranked.as_deref()))?;
        let names: Vec<String> = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
        let arguments = (slf, names, tuples(py, &rows)?, this.ranked.as_deref());
        py.import("outcore._graphs.previews")?.call_method1(form, arguments)
    }

    /// Runs an operation on the table.
    fn run<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Table) -> outcore::Result<T> + Send) -> PyResult<T> {
        let table = self.table.for_operation();
        run(py, table.image().runtime(), || work(&table))
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

    /// The cost of the operation, as a dict: the keys of `stats` in what `outcore run --json` writes.
    ///
    /// Among them `seconds`, `seconds_io_wait`, `seconds_cpu` (of the whole process meanwhile), `passes`,
    /// `bytes_read`, `pages_wanted`, `pages_read`, `requests`, `cache_hits`, `memory_limit_bytes`, `memory_peak_bytes`
    /// (of the whole process so far), `threads`, `backend`, and `steps`, one entry per step or iteration, which say
    /// when they ended (`seconds_end`) and what memory was taken then (`memory_bytes`), too; if there are more than
    /// 4096, the last entry is the sum of the rest.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let make = || Ok::<_, PyErr>(crate::to_dict(py, &self.run.stats)?.unbind());
        Ok(self.stats.get_or_try_init(py, make)?.bind(py).clone())
    }

    /// The run as a page in HTML, an `outcore.Report`: what was asked, planned and done, with charts. A notebook shows
    /// it; with a path it is written there, too. It needs no network. `docs/reports.md` lists the numbers that are in
    /// it as JSON.
    ///
    /// Raises:
    ///     OSError: The file cannot be written.
    ///
    /// >>> page = ranks.report("run.html")
    /// >>> page.data["stats"]["threads"] == ranks.stats["threads"], page.data["facts"]["vertices"]
    /// (True, 4)
    #[pyo3(signature = (path=None))]
    fn report<'py>(&self, py: Python<'py>, path: Option<PathBuf>) -> PyResult<Bound<'py, PyAny>> {
        let result = self.run(py, |table| {
            let mut result = self.run.result.clone();
            result.add_rows(table, self.ranked.as_deref())?;
            Ok(result)
        })?;
        let html = py.detach(|| report::page(&Report { result, ..Report::clone(&self.run) }));
        if let Some(path) = path {
            self.run(py, |table| outcore::front_ends::write_file(table.image().runtime(), &path, html.as_bytes()))?;
        }
        py.import("outcore._graphs.report")?.getattr("Report")?.call1((html,))
    }

    /// Draws the result with Matplotlib, and returns the `matplotlib.axes.Axes`.
    ///
    /// Args:
    ///     ax: The axes to draw on; by default those of a new figure.
    ///     kind: "distribution" (how many vertices have which value, in bins whose widths grow), "rank" (the values
    ///         from the greatest on), "sizes" (how large components or communities are), "profile" (how many vertices
    ///         have a value of at least so much), or "counts" (how many have each whole number). By default what fits
    ///         the result.
    ///     column: The column; by default the first beside `vertex`.
    ///
    /// A column takes 8 bytes of memory per vertex while it is counted; what is drawn is bounded.
    ///
    /// Raises:
    ///     ImportError: Matplotlib is not installed.
    ///     UsageError: A kind that does not fit the column.
    #[pyo3(signature = (ax=None, kind=None, column=None))]
    fn plot<'py>(
        slf: &Bound<'py, Self>,
        ax: Option<Bound<'py, PyAny>>,
        kind: Option<&str>,
        column: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("outcore._graphs.plot")?.call_method1("plot", (slf, ax, kind, column))
    }

    /// The data that `plot` draws: the name of a column, and its values; or, of one that names vertices, the sizes of
    /// the groups of rows that name the same one, and the number of groups of each size.
    fn _counted<'py>(
        &self,
        py: Python<'py>,
        column: Option<&str>,
    ) -> PyResult<(String, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let name = self.column(py, column)?;
        let found = self.table.columns().iter().find(|(own, _)| *own == name).map(|(_, column)| column);
        match found {
            Some(column) if column.names_vertices() => {
                let sizes = self.run(py, |table| table.group_sizes(column))?;
                let (sizes, counts): (Vec<u64>, Vec<u64>) =
                    sizes.into_iter().map(|(size, count)| (u64::from(size), count)).unzip();
                let array = |values| PyArray1::from_vec(py, values).into_any();
                Ok((name, array(sizes), Some(array(counts))))
            }
            _ => Ok((name.clone(), to_numpy(py, &self.table, &name)?, None)),
        }
    }

    /// A few rows as tables of a notebook.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        PyTable::preview(slf, "table")
    }

    /// A few rows as `print` shows them.
    fn __str__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        PyTable::preview(slf, "plain")
    }

    /// A column as a NumPy array, a copy that counts in the memory limit while it lives; or some rows as a table, by a
    /// mask: an array, a list or a Series of bool with a value for each row, such as `ranks["pagerank"] > 0.01`. What
    /// is missing in a mask is false. `g.subgraph` takes such a table for its vertices.
    ///
    /// NumPy has no missing values, such as the level of a vertex that was not reached. A column of whole numbers that
    /// may have some is a `numpy.ma.MaskedArray`, which leaves them out of sums, means and comparisons; real numbers
    /// are NaN, strings `None`.
    ///
    /// Raises:
    ///     KeyError: No such column.
    ///     UsageError: A mask of another length.
    ///     MemoryLimitError: No room for 8 bytes per vertex (more for strings); for 4 per row that a mask keeps.
    ///
    /// >>> float(ranks["pagerank"].sum().round(9)), list(ranks["vertex"][:2])
    /// (1.0, ['about', 'home'])
    /// >>> ranks[ranks["pagerank"] > 0.3].to_dict("pagerank").keys()
    /// dict_keys(['about', 'home'])
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if let Ok(name) = key.extract::<String>() {
            return to_numpy(py, &this.table, &name);
        }
        let mask = py.import("outcore._graphs.masks")?.call_method1("mask", (key, this.columns()))?;
        let mask = mask.cast::<PyArray1<bool>>()?.readonly().as_array().to_vec();
        let table = this.run(py, |table| table.filtered(&mask))?;
        Ok(Bound::new(py, this.with(table))?.into_any())
    }

    /// NumPy and pandas would take a table for a list of the names of its columns.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__(&self, dtype: Option<&Bound<'_, PyAny>>, copy: Option<bool>) -> PyResult<()> {
        let _ = (dtype, copy);
        let columns = self.columns();
        let first = columns.iter().find(|name| *name != "vertex").or(columns.first()).map_or("vertex", String::as_str);
        Err(PyTypeError::new_err(format!(
            "expected an array or a frame, found a result; result['{first}'] is a column as an array, and \
             result.to_pandas() a frame"
        )))
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
        tuples(py, &self.run(py, |table| table.top(k, &name))?)
    }

    /// The first `k` rows, as tuples.
    ///
    /// >>> ranks.columns, [(vertex, round(rank, 4)) for vertex, rank in ranks.head(2)]
    /// (['vertex', 'pagerank'], [('about', 0.3635), ('home', 0.3798)])
    #[pyo3(name = "head", signature = (k=5))]
    fn first<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let table = self.table.for_operation();
        let mut reader = run(py, table.image().runtime(), || table.reader())?;
        while list.len() < k
            && let Some(batch) = run(py, table.image().runtime(), || reader.next_batch())?
        {
            let rows = tuples(py, &batch.slice(0, batch.num_rows().min(k - list.len())))?;
            list.call_method1("extend", (rows,))?;
        }
        Ok(list)
    }

    /// The groups of rows that name the same vertex, such as components and communities, with their sizes: pairs of
    /// that vertex and the number of rows, the largest group first; smaller ids first among equals.
    ///
    /// Args:
    ///     k: How many of the largest are wanted; all by default.
    ///     column: The column; the first one that names vertices if none is given.
    ///
    /// Cost: 8 bytes per row meanwhile, and some 60 for each group that is returned.
    ///
    /// `g.subgraph(found[found["component"] == found.sizes(1)[0][0]])` is the largest component as a graph.
    ///
    /// Raises:
    ///     UsageError: No column that names vertices.
    ///
    /// >>> oc.connected_components(g).sizes()
    /// [('about', 3), ('lone', 1)]
    #[pyo3(signature = (k=None, column=None))]
    fn sizes<'py>(&self, py: Python<'py>, k: Option<usize>, column: Option<&str>) -> PyResult<Bound<'py, PyList>> {
        let is_meant =
            |(name, found): &&(String, Column)| found.names_vertices() && column.is_none_or(|column| column == name);
        let Some((_, found)) = self.table.columns().iter().find(is_meant) else {
            let text = "expected a column that names vertices, such as those of components and communities, found none";
            return Err(usage(py, text));
        };
        let list = PyList::empty(py);
        for (id, size) in self.run(py, |table| table.largest_groups(found, k.unwrap_or(usize::MAX)))? {
            list.append((id_object(py, &id)?, size))?;
        }
        Ok(list)
    }

    /// The rows of this table in the order of a column, as a table: of `vertex`, or of numbers.
    ///
    /// Rows without a value come last; among equals the smaller id comes first. The values are shared with this table.
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
        let table = this.run(py, |table| table.sorted(&name, descending))?;
        Ok(PyTable::new(table, Arc::clone(&this.run), None))
    }

    /// The columns of this result and of others of the same graph beside each other, by id, in the order of this one's
    /// rows. A further column of a name has a number behind it: the second `parent` is `parent_2`. Nothing is copied.
    ///
    /// Raises:
    ///     UsageError: A result of another graph.
    ///
    /// >>> both = ranks.join(levels)
    /// >>> both.columns, both.row("lone")["level"]
    /// (['vertex', 'pagerank', 'level', 'parent'], None)
    #[pyo3(signature = (*others))]
    fn join(slf: &Bound<'_, Self>, others: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let (py, this) = (slf.py(), slf.get());
        let id = |table: &Self| (table.table.image().manifest().image_id, table.table.image().manifest().vertices);
        let mut columns = this.table.columns().to_vec();
        for other in &others {
            if id(other) != id(this) {
                let (own, other) = (called(this.table.image()), called(other.table.image()));
                return Err(usage(py, format!("expected results of one graph, found some of {own} and of {other}")));
            }
            if other.table.rows() < id(other).1 {
                let text =
                    "expected tables with a row for each vertex to be joined, found one of some rows; join first";
                return Err(usage(py, text));
            }
            for (name, column) in other.table.columns() {
                let is_free = |name: &String| columns.iter().all(|(own, _)| own != name);
                let numbered = (2..).map(|number| format!("{name}_{number}"));
                let free = std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or_default();
                columns.push((free, column.clone()));
            }
        }
        Ok(this.with(this.table.with_columns(columns)))
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
        named(py, &self.run(py, |table| table.row(&id))?)
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
        crate::stream::into_frame(slf, "pyarrow", "table")
    }

    /// A `polars.DataFrame`; missing values are nulls.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        crate::stream::into_frame(slf, "polars", "DataFrame")
    }

    /// A `pandas.DataFrame`; integers that may be missing are of nullable types, real numbers NaN.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_pandas(py, &self.table)
    }

    /// Writes all rows to a file: .parquet, .csv, .jsonl (also with .gz or .zst), .npy or .arrow, by its name.
    ///
    /// The file appears complete or not at all. Memory does not grow with the table, apart from the ids of columns of
    /// vertices.
    ///
    /// Raises:
    ///     UsageError: Another ending, or strings in a .npy file.
    ///     OSError: The file cannot be written.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.run(py, |table| table.write(path))
    }

    /// The rows as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let table = self.table.for_operation();
        let runtime = table.image().runtime().clone();
        let reader = run(py, &runtime, || table.reader())?;
        crate::stream::export(py, (reader, runtime), requested_schema)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("results cannot be pickled; write() them to a file, or convert them first"))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (table, name) = (slf.get(), slf.get_type().name()?);
        let (graph, columns) = (called(table.table.image()), table.columns().join(", "));
        let text = format!("<outcore.{name} of {graph}: {} rows, columns {columns}>", table.table.rows());
        Ok(escaped(text).to_string())
    }
}

/// The report of a run over a graph.
pub fn report_of(
    graph: &Graph,
    name: &str,
    options: Vec<OptionText>,
    (plan, stats, samples): (Planned, Stats, Vec<Sample>),
    result: Summary,
) -> Report {
    let (name, input) = (name.to_owned(), graph.path().display().to_string());
    let call = report::call_text(&name, &input, &options);
    let facts = json!(graph.info()).as_object().cloned().unwrap_or_default();
    Report { name, input, call, options, facts, plan, result, ended: report::now(), stats, samples }
}
