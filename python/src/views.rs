//! Views of a graph: its vertices, its edges and its degrees, as NetworkX has them, but streamed: batches of Arrow, or
//! ids and tuples of Python's one batch after the other.

use crate::convert::{id_object, id_text, no_column, tuples, value};
use crate::errors::usage;
use crate::graph::PyGraph;
use crate::runtime::run;
use outcore::arrow::array::{Array, RecordBatch, RecordBatchReader};
use outcore::arrow::schema::{ArrowError, Schema, SchemaRef};
use outcore::io::lock;
use outcore::{
    Degree, EdgeBatches, EdgeData, Edges, EdgesFrom, Graph, Runtime, Table, TableReader, VertexBatches, VertexData,
};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList, PySet, PyTuple};
use std::sync::{Arc, Mutex};

/// The vertices of a graph, in the order in which results have them: `for vertex in g.nodes`, `vertex in g.nodes`,
/// `len(g.nodes)`; and an Arrow stream with a column `vertex`, so that `polars.DataFrame(g.nodes)` and
/// `pyarrow.table(g.nodes)` have all ids. `g.nodes()` is the same.
///
/// `g.nodes(data=True)` has the attributes of the vertices too: pairs of a vertex and a dict, without what is missing,
/// or columns under their names. `g.nodes(data="name")` has one of them, and `default` where it is missing.
/// `g.nodes[vertex]` is the dict of one vertex, and `g.nodes.items()` has pairs as a dict has.
///
/// One pass over the ids, and over the attributes that are asked for, in bounded memory; of one vertex, a page of each
/// attribute, and all strings of the attributes in memory.
///
/// Raises:
///     UsageError: An attribute that there is none of.
///     NoVertexError: No vertex of that id.
///
/// >>> list(g.nodes), len(g.nodes), "home" in g.nodes
/// (['about', 'home', 'news', 'lone'], 4, True)
#[pyclass(frozen, name = "Nodes", module = "outcore")]
pub struct PyNodes {
    pub graph: Py<PyGraph>,
    pub data: Data,
    /// The value that stands for a missing one, if not `None`.
    pub default: Option<Py<PyAny>>,
}

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
    fn of(given: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
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
    fn columns(&self, py: Python<'_>, schema: &Schema, ends: usize) -> PyResult<Vec<usize>> {
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
    fn rows<'py>(
        &self,
        py: Python<'py>,
        batch: &RecordBatch,
        ends: usize,
        default: Option<&Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        if *self != Data::All && default.is_none() {
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
fn dict_of<'py>(py: Python<'py>, batch: &RecordBatch, row: usize, ends: usize) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()).skip(ends) {
        if column.is_valid(row) {
            dict.set_item(field.name(), value(py, column, row)?)?;
        }
    }
    Ok(dict)
}

impl PyNodes {
    fn batches(&self, py: Python<'_>) -> PyResult<Chosen<VertexBatches>> {
        let graph = self.graph.get().open(py)?;
        let runtime = Arc::clone(graph.runtime());
        let batches = run(py, &runtime, || VertexBatches::new(graph, None))?;
        let columns = self.data.columns(py, &batches.schema(), 1)?;
        Chosen::new(batches, columns)
    }
}

/// Some columns of batches.
struct Chosen<R> {
    batches: R,
    columns: Vec<usize>,
    schema: SchemaRef,
}

impl<R: RecordBatchReader> Chosen<R> {
    fn new(batches: R, columns: Vec<usize>) -> PyResult<Self> {
        let schema = Arc::new(batches.schema().project(&columns).map_err(invalid)?);
        Ok(Chosen { batches, columns, schema })
    }
}

impl<R: RecordBatchReader> Iterator for Chosen<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.next().map(|batch| batch?.project(&self.columns))
    }
}

impl<R: RecordBatchReader> RecordBatchReader for Chosen<R> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

#[pymethods]
impl PyNodes {
    /// See the class.
    #[pyo3(signature = (data=None, default=None))]
    fn __call__(&self, py: Python<'_>, data: Option<&Bound<'_, PyAny>>, default: Option<Py<PyAny>>) -> PyResult<Self> {
        Ok(PyNodes { graph: self.graph.clone_ref(py), data: Data::of(data)?, default })
    }

    /// The attributes of a vertex.
    fn __getitem__<'py>(&self, py: Python<'py>, vertex: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let (graph, id) = (self.graph.get().open(py)?, id_text(vertex)?);
        let row = run(py, graph.runtime(), || {
            let vertex = graph.find_or_refuse(&id)?;
            VertexData::new(Arc::clone(&graph))?.of(vertex)
        })?;
        dict_of(py, &row, 0, 0)
    }

    /// Pairs of a vertex and its attributes.
    fn items(&self, py: Python<'_>) -> PyResult<Rows> {
        PyNodes { graph: self.graph.clone_ref(py), data: Data::All, default: None }.__iter__(py)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.graph.get().open(py)?.vertices() as usize)
    }

    fn __contains__(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.graph.get().contains(py, vertex)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Rows> {
        if self.data == Data::None {
            return Rows::of_nodes(py, self.graph.get().open(py)?);
        }
        let default = self.default.as_ref().map(|default| default.clone_ref(py));
        let reader = Reader::Data(Box::new(self.batches(py)?), 1, self.data.clone(), default);
        Ok(Rows::new(reader, self.graph.get().open(py)?.runtime()))
    }

    /// The ids as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        if self.data != Data::None {
            return crate::stream::export(py, Box::new(self.batches(py)?));
        }
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
/// `g.edges(weights=True)` has the weights too, under their name. `g.edges(data=True)` has the weights and all
/// attributes: a dict behind the ends, without what is missing, or columns under their names; `g.edges(data="kind")`
/// has one of them.
/// `g.edges(vertices)` is a list of the edges that lead from these vertices, with the same behind them if it is asked
/// for, and `g.edges[source, target]` a dict of what an edge has; of parallel edges, the first.
///
/// One pass over the edges, and over what else is asked for, in order; memory for the ids (8 bytes per vertex, strings
/// beside that), the strings of attributes, and a batch.
///
/// Raises:
///     UsageError: Weights that there are none of, or that are complex; an attribute that there is none of.
///     KeyError: No such edge.
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
    pub data: Data,
    /// The value that stands for a missing one, if not `None`.
    pub default: Option<Py<PyAny>>,
}

impl PyEdges {
    fn batches(&self, py: Python<'_>) -> PyResult<EdgeBatches<Arc<Graph>>> {
        let graph = self.graph.get().open(py)?;
        let data = match self.data {
            Data::None => EdgeData { weights: self.weights, attributes: false },
            _ => EdgeData { weights: graph.manifest().weights().is_some(), attributes: true },
        };
        run(py, graph.runtime(), || EdgeBatches::new(Arc::clone(&graph), data, 0))
    }

    fn chosen(&self, py: Python<'_>) -> PyResult<Chosen<EdgeBatches<Arc<Graph>>>> {
        let batches = self.batches(py)?;
        let schema = Arc::clone(batches.schema());
        let columns = match self.data {
            Data::None => (0..schema.fields().len()).collect(),
            _ => self.data.columns(py, &schema, 2)?,
        };
        Chosen::new(batches, columns)
    }
}

#[pymethods]
impl PyEdges {
    /// See the class.
    #[pyo3(signature = (vertices=None, data=None, default=None, *, weights=false))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        vertices: Option<&Bound<'py, PyAny>>,
        data: Option<&Bound<'py, PyAny>>,
        default: Option<Py<PyAny>>,
        weights: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let data = Data::of(data)?;
        let Some(vertices) = vertices else {
            let view = PyEdges { graph: self.graph.clone_ref(py), weights, data, default };
            return Ok(view.into_pyobject(py)?.into_any());
        };
        let list = PyList::empty(py);
        // A single id is a list of one, as in NetworkX.
        let one = id_text(vertices).is_ok().then(|| PyTuple::new(py, [vertices])).transpose()?;
        let vertices = one.as_ref().map_or(vertices, |one| one.as_any()).try_iter()?;
        // Each vertex counts once, and so does an edge without direction between two of them.
        let (seen, is_directed) = (PySet::empty(py)?, self.graph.get().open(py)?.is_directed());
        if data != Data::None {
            let graph = self.graph.get().open(py)?;
            let edges = run(py, graph.runtime(), || EdgesFrom::new(Arc::clone(&graph)))?;
            for vertex in vertices {
                let vertex = vertex?;
                if seen.contains(&vertex)? {
                    continue;
                }
                let id = id_text(&vertex)?;
                let batch = run(py, graph.runtime(), || edges.of(graph.find_or_refuse(&id)?))?;
                let columns = data.columns(py, &batch.schema(), 2)?;
                let rows = data.rows(py, &batch.project(&columns).map_err(invalid)?, 2, default.as_ref())?;
                for row in rows {
                    if is_directed || !seen.contains(row.get_item(1)?)? {
                        list.append(row)?;
                    }
                }
                seen.add(&vertex)?;
            }
            return Ok(list.into_any());
        }
        for vertex in vertices {
            let vertex = vertex?;
            if seen.contains(&vertex)? {
                continue;
            }
            for (neighbour, weight) in self.graph.get().neighbours(py, &vertex, outcore::Direction::Out, weights)? {
                if !is_directed && seen.contains(&neighbour)? {
                    continue;
                }
                match weight {
                    Some(weight) => list.append((&vertex, neighbour, weight))?,
                    None => list.append((&vertex, neighbour))?,
                }
            }
            seen.add(&vertex)?;
        }
        Ok(list.into_any())
    }

    /// The values of an edge.
    fn __getitem__<'py>(&self, py: Python<'py>, edge: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let Ok((source, target)) = edge.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
            let text = format!("expected two ids of an edge, g.edges[source, target], found {}", edge.repr()?);
            return Err(PyTypeError::new_err(text));
        };
        let (graph, from, to) = (self.graph.get().open(py)?, id_text(&source)?, id_text(&target)?);
        let found = run(py, graph.runtime(), || {
            let (source, target) = (graph.find_or_refuse(&from)?, graph.find_or_refuse(&to)?);
            EdgesFrom::new(Arc::clone(&graph))?.between(source, target)
        })?;
        match found {
            Some(row) => dict_of(py, &row, 0, 2),
            None => Err(PyKeyError::new_err((source.unbind(), target.unbind()))),
        }
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
        let reader = match self.data {
            Data::None => Reader::Edges(Box::new(self.batches(py)?)),
            _ => {
                let default = self.default.as_ref().map(|default| default.clone_ref(py));
                Reader::Data(Box::new(self.chosen(py)?), 2, self.data.clone(), default)
            }
        };
        Ok(Rows::new(reader, self.graph.get().open(py)?.runtime()))
    }

    /// The edges as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        crate::stream::export(py, Box::new(self.chosen(py)?))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let more = match self.data {
            Data::None if self.weights => ", with weights",
            Data::None => "",
            _ => ", with data",
        };
        Ok(format!("<outcore.Edges: {} edges{more}>", self.graph.get().open(py)?.edges()))
    }
}

/// The kind of degree.
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
/// `g.degree(vertices)` is a list of pairs, and `for vertex, degree in g.degree` goes through all, so that
/// `dict(g.degree)` has them.
///
/// Of one vertex, reads the pages of one list; the first look reads the ids, see `Graph.neighbors`. Of all, what
/// `degree_centrality` takes.
///
/// Raises:
///     NoVertexError: No vertex of that id.
///
/// >>> g.degree("home"), g.in_degree("home"), g.out_degree["home"]
/// (4, 2, 2)
/// >>> g.in_degree(["home", "lone"]), dict(g.degree)["about"]
/// ([('home', 2), ('lone', 0)], 4)
#[pyclass(frozen, name = "Degrees", module = "outcore")]
pub struct PyDegrees {
    pub graph: Py<PyGraph>,
    pub which: Which,
}

#[pymethods]
impl PyDegrees {
    /// See the class.
    #[pyo3(signature = (vertices=None))]
    fn __call__<'py>(&self, py: Python<'py>, vertices: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let Some(given) = vertices else {
            let view = PyDegrees { graph: self.graph.clone_ref(py), which: self.which };
            return Ok(view.into_pyobject(py)?.into_any());
        };
        if id_text(given).is_ok() {
            return Ok(self.__getitem__(py, given)?.into_pyobject(py)?.into_any());
        }
        let list = PyList::empty(py);
        // A value that is neither an id nor a list of ids is no id.
        let vertices = given.try_iter().map_err(|_| id_text(given).map(drop).unwrap_err())?;
        for vertex in vertices {
            let vertex = vertex?;
            let degree = self.__getitem__(py, &vertex)?;
            list.append((vertex, degree))?;
        }
        Ok(list.into_any())
    }

    fn __getitem__(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.which.of(self.graph.get().degree_of(py, vertex)?))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.graph.get().open(py)?.vertices() as usize)
    }

    fn __contains__(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.graph.get().contains(py, vertex)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let edges = match self.which {
            Which::All => "both",
            Which::In => "in",
            Which::Out => "out",
        };
        py.import("outcore._graphs.degrees")?.call_method1("pairs", (self.graph.clone_ref(py), edges))
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

fn invalid(error: ArrowError) -> PyErr {
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
        run(py, graph.runtime(), || graph.degree(graph.find_or_refuse(&id)?))
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
            graph.neighbours(graph.find_or_refuse(&id)?, Edges::new(direction, weights))
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
