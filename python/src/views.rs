//! Views of a graph: its vertices, its edges and its degrees, as NetworkX has them, but streamed: batches of Arrow, or
//! ids and tuples of Python's one batch after the other.

use crate::convert::{id_object, id_text, no_column, tuples, value};
use crate::graph::PyGraph;
use crate::runtime::run;
use outcore::arrow::array::{RecordBatch, RecordBatchReader};
use outcore::io::lock;
use outcore::{Degree, EdgeBatches, Edges, Graph, Runtime, Table, TableReader};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyIterator, PyList, PyTuple};
use std::sync::{Arc, Mutex};

/// The vertices of a graph, in the order in which results have them: `for vertex in g.nodes`, `vertex in g.nodes`,
/// `len(g.nodes)`; and an Arrow stream with a column `vertex`, so that `polars.DataFrame(g.nodes)` and
/// `pyarrow.table(g.nodes)` have all ids. `g.nodes()` is the same.
///
/// One pass over the ids, in bounded memory.
///
/// >>> list(g.nodes), len(g.nodes), "home" in g.nodes
/// (['about', 'home', 'news', 'lone'], 4, True)
#[pyclass(frozen, name = "Nodes", module = "outcore")]
pub struct PyNodes {
    pub graph: Py<PyGraph>,
}

#[pymethods]
impl PyNodes {
    fn __call__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.graph.get().open(py)?.vertices() as usize)
    }

    fn __contains__(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.graph.get().contains(py, vertex)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Rows> {
        Rows::of_nodes(py, self.graph.get().open(py)?)
    }

    /// The ids as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let graph = self.graph.get().open(py)?;
        let reader = run(py, graph.runtime(), || graph.table(Vec::new()).reader())?;
        crate::stream::export(py, Box::new(reader))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<outcore.Nodes: {} vertices>", self.graph.get().open(py)?.vertices()))
    }
}

/// The edges of a graph: `for source, target in g.edges`, `(source, target) in g.edges`, `len(g.edges)`; and an Arrow
/// stream with columns `source` and `target`, so that `polars.DataFrame(g.edges)` and `pyarrow.table(g.edges)` have all
/// of them. An edge without direction comes once, from the end with the smaller id.
///
/// `g.edges(weights=True)` has the weights too, under their name. `g.edges(vertices)` is a list of the edges that lead
/// from these vertices.
///
/// One pass over the edges, in order; memory for the ids (8 bytes per vertex, strings beside that) and a batch.
///
/// Raises:
///     UsageError: Weights that there are none of, or that are complex.
///     MemoryLimitError: No room for the ids.
///
/// >>> list(g.edges)[:2], len(g.edges), ("home", "about") in g.edges
/// ([('about', 'about'), ('about', 'home')], 5, True)
/// >>> g.edges(["home"])
/// [('home', 'about'), ('home', 'news')]
#[pyclass(frozen, name = "Edges", module = "outcore")]
pub struct PyEdges {
    pub graph: Py<PyGraph>,
    pub weights: bool,
}

impl PyEdges {
    fn batches(&self, py: Python<'_>) -> PyResult<EdgeBatches<Arc<Graph>>> {
        let (graph, weights) = (self.graph.get().open(py)?, self.weights);
        run(py, graph.runtime(), || EdgeBatches::new(Arc::clone(&graph), weights, 0))
    }
}

#[pymethods]
impl PyEdges {
    /// See the class.
    #[pyo3(signature = (vertices=None, *, weights=false))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        vertices: Option<&Bound<'py, PyAny>>,
        weights: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(vertices) = vertices else {
            let view = PyEdges { graph: self.graph.clone_ref(py), weights };
            return Ok(view.into_pyobject(py)?.into_any());
        };
        let list = PyList::empty(py);
        // A single id is a list of one, as in NetworkX.
        let one = id_text(vertices).is_ok().then(|| PyTuple::new(py, [vertices])).transpose()?;
        for vertex in one.as_ref().map_or(vertices, |one| one.as_any()).try_iter()? {
            let vertex = vertex?;
            for (neighbour, weight) in self.graph.get().neighbours(py, &vertex, outcore::Direction::Out, weights)? {
                match weight {
                    Some(weight) => list.append((&vertex, neighbour, weight))?,
                    None => list.append((&vertex, neighbour))?,
                }
            }
        }
        Ok(list.into_any())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.graph.get().open(py)?.edges() as usize)
    }

    fn __contains__(&self, py: Python<'_>, edge: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok((source, target)) = edge.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else { return Ok(false) };
        match (id_text(&source), id_text(&target)) {
            (Ok(_), Ok(_)) => self.graph.get().has_edge(py, &source, &target),
            _ => Ok(false),
        }
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Rows> {
        Ok(Rows::new(Reader::Edges(Box::new(self.batches(py)?)), self.graph.get().open(py)?.runtime()))
    }

    /// The edges as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(self.batches(py)?);
        crate::stream::export(py, reader)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let weights = if self.weights { ", with weights" } else { "" };
        Ok(format!("<outcore.Edges: {} edges{weights}>", self.graph.get().open(py)?.edges()))
    }
}

/// Which degree.
#[derive(Clone, Copy)]
pub enum Which {
    All,
    In,
    Out,
}

impl Which {
    fn of(self, degree: Degree) -> u64 {
        match self {
            Which::All => degree.all,
            Which::In => degree.into,
            Which::Out => degree.from,
        }
    }
}

/// The degrees of a graph: `g.degree(vertex)`, or `g.degree[vertex]`, is the number of a vertex's edges. An edge from a
/// vertex to itself counts twice, as in NetworkX. Where edges have a direction, `g.degree` counts those from the vertex
/// and those to it, `g.in_degree` and `g.out_degree` one of both.
///
/// Reads the pages of one list. The first look reads the ids, see `Graph.neighbors`. `degree_centrality` has the
/// degrees of all vertices.
///
/// Raises:
///     NoVertexError: No vertex of that id.
///
/// >>> g.degree("home"), g.in_degree("home"), g.out_degree["home"]
/// (4, 2, 2)
#[pyclass(frozen, name = "Degrees", module = "outcore")]
pub struct PyDegrees {
    pub graph: Py<PyGraph>,
    pub which: Which,
}

#[pymethods]
impl PyDegrees {
    /// See the class.
    fn __call__(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.which.of(self.graph.get().degree_of(py, vertex)?))
    }

    fn __getitem__(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.__call__(py, vertex)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<outcore.Degrees of {} vertices>", self.graph.get().open(py)?.vertices()))
    }
}

enum Reader {
    /// Rows of which the first column is wanted.
    Nodes(Box<TableReader>),
    /// Rows of which the first column and another one are wanted.
    Items(Box<TableReader>, usize),
    Edges(Box<EdgeBatches<Arc<Graph>>>),
}

impl Reader {
    fn next_batch(&mut self) -> outcore::Result<Option<RecordBatch>> {
        match self {
            Reader::Nodes(reader) | Reader::Items(reader, _) => reader.next_batch(),
            Reader::Edges(reader) => reader.next_batch(),
        }
    }
}

/// Rows as Python's objects, one batch after the other.
#[pyclass(frozen, module = "outcore")]
pub struct Rows {
    runtime: Arc<Runtime>,
    /// Away while somebody reads a batch, for that goes on without the interpreter's lock.
    state: Mutex<Option<State>>,
}

struct State {
    reader: Reader,
    /// The rows of the last batch that were not handed out yet.
    rows: Option<Py<PyIterator>>,
}

impl Rows {
    fn new(reader: Reader, runtime: &Arc<Runtime>) -> Self {
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

fn invalid(error: outcore::arrow::schema::ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
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
            let rows = match state.reader {
                Reader::Edges(_) => tuples(py, &batch)?,
                Reader::Items(_, place) => tuples(py, &batch.project(&[0, place]).map_err(invalid)?)?,
                Reader::Nodes(_) => {
                    let ids = (0..batch.num_rows()).map(|row| value(py, batch.column(0), row));
                    PyList::new(py, ids.collect::<PyResult<Vec<_>>>()?)?
                }
            };
            state.rows = Some(rows.try_iter()?.unbind());
        }
    }
}

/// The neighbours of a vertex with the weights of the edges, if they are wanted.
pub type Neighbours<'py> = Vec<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)>;

impl PyGraph {
    pub fn contains(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<bool> {
        let graph = self.open(py)?;
        let Ok(id) = id_text(vertex) else { return Ok(false) };
        Ok(run(py, graph.runtime(), || graph.find(&id))?.is_some())
    }

    pub fn degree_of(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<Degree> {
        let (graph, id) = (self.open(py)?, id_text(vertex)?);
        run(py, graph.runtime(), || graph.degree(graph.found(&id)?))
    }

    pub fn neighbours<'py>(
        &self,
        py: Python<'py>,
        vertex: &Bound<'py, PyAny>,
        direction: outcore::Direction,
        weights: bool,
    ) -> PyResult<Neighbours<'py>> {
        let (graph, id) = (self.open(py)?, id_text(vertex)?);
        let found = run(py, graph.runtime(), || {
            if weights {
                graph.weight_kind()?;
            }
            graph.neighbours(graph.found(&id)?, Edges::new(direction, weights))
        })?;
        let object = |found: outcore::Neighbour| {
            let weight = match found.weight {
                outcore::Weight::Integer(weight) => Some(weight.into_pyobject(py)?.into_any()),
                outcore::Weight::Real(weight) => Some(weight.into_pyobject(py)?.into_any()),
                outcore::Weight::None | outcore::Weight::Complex(..) => None,
            };
            Ok((id_object(py, &found.id)?, weight))
        };
        found.into_iter().map(object).collect()
    }
}
