//! Rows of tables and views as Python's objects, one batch after the other.

use super::data::{Data, chosen};
use crate::convert::{no_column, value};
use crate::errors::{raise, usage};
use crate::graph::PyGraph;
use crate::runtime::run;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ArrowError;
use outcore::io::{Fuse, lock};
use outcore::{Error, Graph, Runtime, Table};
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use std::sync::Mutex;

/// Rows as Python's objects, one batch after the other: tuples, or the values of a single column.
#[pyclass(frozen, module = "outcore")]
pub struct Rows {
    runtime: Runtime,
    /// The graph, if it must be open as long as there are rows, and its owner, which closes it when it ends; results
    /// stay usable.
    graph: Option<(Graph, Py<PyGraph>)>,
    /// The number of ids in each row, the values that are requested beside them, and what stands for a missing one.
    ends: usize,
    data: Data,
    default: Option<Py<PyAny>>,
    /// `None` while a thread reads a batch, which it does without the interpreter's lock.
    batches: Mutex<Option<Batches>>,
}

struct Batches {
    reader: Box<dyn RecordBatchReader + Send>,
    /// The rows of the last batch that were not handed out yet.
    rows: Option<Py<PyIterator>>,
    /// After an error rows may be lost.
    fuse: Fuse,
}

impl Batches {
    fn next_batch(&mut self) -> outcore::Result<Option<RecordBatch>> {
        // Errors of the engine come wrapped into those of Arrow.
        let own = |error: ArrowError| match error {
            ArrowError::ExternalError(error) => match error.downcast::<Error>() {
                Ok(own) => *own,
                Err(other) => Error::Usage(other.to_string()),
            },
            other => Error::Usage(other.to_string()),
        };
        self.reader.next().transpose().map_err(own)
    }
}

impl Rows {
    /// Rows that begin with `ends` ids.
    fn new(
        reader: Box<dyn RecordBatchReader + Send>,
        runtime: &Runtime,
        (ends, data, default): (usize, Data, Option<Py<PyAny>>),
    ) -> Self {
        let batches = Mutex::new(Some(Batches { reader, rows: None, fuse: Fuse::default() }));
        Rows { runtime: runtime.clone(), graph: None, ends, data, default, batches }
    }

    /// Rows of a graph, until it is closed.
    pub fn of_graph(
        reader: Box<dyn RecordBatchReader + Send>,
        graph: (Graph, Py<PyGraph>),
        row: (usize, Data, Option<Py<PyAny>>),
    ) -> Self {
        let rows = Rows::new(reader, graph.0.runtime(), row);
        Rows { graph: Some(graph), ..rows }
    }

    pub fn of_nodes(py: Python<'_>, owner: Py<PyGraph>) -> PyResult<Self> {
        let graph = owner.get().open_for_rows(py)?;
        let table = graph.table(Vec::new());
        let runtime = table.image().runtime();
        let reader = run(py, runtime, || table.reader())?;
        Ok(Rows { graph: Some((graph, owner)), ..Rows::new(Box::new(reader), runtime, (1, Data::None, None)) })
    }

    /// Pairs of vertices and values of a column.
    pub fn of_column(py: Python<'_>, table: &Table, name: &str) -> PyResult<Self> {
        let place = table.schema().index_of(name).map_err(|_| no_column(table, name))?;
        let table = table.for_operation();
        let runtime = table.image().runtime();
        let reader = run(py, runtime, || table.reader())?;
        Ok(Rows::new(chosen(reader, vec![0, place])?, runtime, (1, Data::None, None)))
    }

    fn next_row<'py>(&self, py: Python<'py>, batches: &mut Batches) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            if let Some(row) = batches.rows.as_ref().and_then(|rows| rows.bind(py).clone().next()) {
                return row.map(Some);
            }
            batches.fuse.check().map_err(|error| raise(py, error))?;
            let read = self.next_rows(py, batches);
            let Some(rows) = batches.fuse.after(read)? else { return Ok(None) };
            batches.rows = Some(rows.try_iter()?.unbind());
        }
    }

    /// The rows of the next batch.
    fn next_rows<'py>(&self, py: Python<'py>, batches: &mut Batches) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(batch) = run(py, &self.runtime, || batches.next_batch())? else { return Ok(None) };
        match batch.columns() {
            [ids] if self.data == Data::None => {
                let values = (0..ids.len()).map(|row| value(py, ids, row)).collect::<PyResult<Vec<_>>>()?;
                PyList::new(py, values).map(Some)
            }
            _ => self.data.rows(py, &batch, self.ends, self.default.as_ref()).map(Some),
        }
    }
}

#[pymethods]
impl Rows {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some((_, owner)) = &self.graph {
            visit.call(owner)?;
        }
        visit.call(&self.default)
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some((graph, _)) = self.graph.as_ref().filter(|(graph, _)| graph.is_closed()) {
            let text = format!("the graph {} was closed while its rows were read", graph.path().display());
            return Err(usage(py, text));
        }
        let batches = lock(&self.batches).take();
        let Some(mut batches) = batches else { return Err(PyValueError::new_err("another thread is at the next row")) };
        let row = self.next_row(py, &mut batches);
        *lock(&self.batches) = Some(batches);
        row
    }
}
