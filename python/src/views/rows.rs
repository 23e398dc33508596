//! Rows of tables and views as Python's objects, one batch after the other.

use super::data::{Data, invalid};
use crate::convert::{no_column, tuples, value};
use crate::runtime::run;
use outcore::arrow::array::{RecordBatch, RecordBatchReader};
use outcore::arrow::schema::ArrowError;
use outcore::io::lock;
use outcore::{EdgeBatches, Graph, Runtime, Table, TableReader};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use std::sync::{Arc, Mutex};

/// The source of rows.
pub enum Reader {
    /// Rows of which the first column is wanted.
    Nodes(Box<TableReader>),
    /// Rows of which the first column and another one are wanted.
    Items(Box<TableReader>, usize),
    Edges(Box<EdgeBatches<Arc<Graph>>>),
    /// Batches of ids with data beside them; the number of ids in each row; the requested values; the value that stands
    /// for a missing one.
    Data(Box<dyn RecordBatchReader + Send>, usize, Data, Option<Py<PyAny>>),
}

impl Reader {
    fn next_batch(&mut self) -> outcore::Result<Option<RecordBatch>> {
        match self {
            Reader::Nodes(reader) | Reader::Items(reader, _) => reader.next_batch(),
            Reader::Edges(reader) => reader.next_batch(),
            Reader::Data(reader, ..) => {
                // Errors of the engine come wrapped into those of Arrow.
                let own = |error: ArrowError| match error {
                    ArrowError::ExternalError(error) => match error.downcast::<outcore::Error>() {
                        Ok(own) => *own,
                        Err(other) => outcore::Error::Usage(other.to_string()),
                    },
                    other => outcore::Error::Usage(other.to_string()),
                };
                reader.next().transpose().map_err(own)
            }
        }
    }
}

/// Rows as Python's objects, one batch after the other.
#[pyclass(frozen, module = "outcore")]
pub struct Rows {
    runtime: Arc<Runtime>,
    /// `None` while a thread reads a batch, which it does without the interpreter's lock.
    state: Mutex<Option<State>>,
}

struct State {
    reader: Reader,
    /// The rows of the last batch that were not handed out yet.
    rows: Option<Py<PyIterator>>,
}

impl Rows {
    pub fn new(reader: Reader, runtime: &Arc<Runtime>) -> Self {
        let runtime = Arc::clone(runtime);
        Rows { runtime, state: Mutex::new(Some(State { reader, rows: None })) }
    }

    pub fn of_nodes(py: Python<'_>, graph: Arc<Graph>) -> PyResult<Self> {
        let reader = run(py, graph.runtime(), || graph.table(Vec::new()).reader())?;
        Ok(Rows::new(Reader::Nodes(Box::new(reader)), graph.runtime()))
    }

    /// Pairs of vertices and values of a column.
    pub fn of_column(py: Python<'_>, table: &Table, name: &str) -> PyResult<Self> {
        let place = table.schema().index_of(name).map_err(|_| no_column(table, name))?;
        let runtime = table.image().runtime();
        let reader = run(py, runtime, || table.reader())?;
        Ok(Rows::new(Reader::Items(Box::new(reader), place), runtime))
    }
}

#[pymethods]
impl Rows {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let taken = lock(&self.state).take();
        let Some(mut state) = taken else { return Err(PyValueError::new_err("another thread is at the next row")) };
        let row = self.next_row(py, &mut state);
        *lock(&self.state) = Some(state);
        row
    }
}

impl Rows {
    fn next_row<'py>(&self, py: Python<'py>, state: &mut State) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            if let Some(row) = state.rows.as_ref().and_then(|rows| rows.bind(py).clone().next()) {
                return row.map(Some);
            }
            let reader = &mut state.reader;
            let Some(batch) = run(py, &self.runtime, || reader.next_batch())? else { return Ok(None) };
            let rows = match &state.reader {
                Reader::Data(_, ends, data, default) => data.rows(py, &batch, *ends, default.as_ref())?,
                Reader::Edges(_) => tuples(py, &batch)?,
                Reader::Items(_, place) => tuples(py, &batch.project(&[0, *place]).map_err(invalid)?)?,
                Reader::Nodes(_) => {
                    let ids = (0..batch.num_rows()).map(|row| value(py, batch.column(0), row));
                    PyList::new(py, ids.collect::<PyResult<Vec<_>>>()?)?
                }
            };
            state.rows = Some(rows.try_iter()?.unbind());
        }
    }
}
