//! The edges of a graph.

use super::data::{Data, chosen, dict_of, invalid};
use super::rows::Rows;
use crate::convert::{id_set, id_text};
use crate::graph::PyGraph;
use crate::runtime::run;
use arrow_array::RecordBatchReader;
use outcore::data::{EdgeBatches, EdgeData, EdgesFrom};
use outcore::{Direction, Graph};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList, PySet, PyTuple};

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
    /// The batches, and the graph of the operation that reads them.
    fn batches(&self, py: Python<'_>) -> PyResult<(Box<dyn RecordBatchReader + Send>, Graph)> {
        let graph = self.graph.get().open_for_rows(py)?;
        let (weights, attributes) = match self.data {
            Data::None => (self.weights, false),
            _ => (graph.manifest().weights().is_some(), true),
        };
        let data = EdgeData { weights, attributes };
        let batches = run(py, graph.runtime(), || EdgeBatches::new(&graph, data, 0))?;
        let batches: Box<dyn RecordBatchReader + Send> = match self.data {
            Data::None => Box::new(batches),
            _ => {
                let columns = self.data.columns(py, batches.schema(), 2)?;
                chosen(batches, columns)?
            }
        };
        Ok((batches, graph))
    }

    /// The edges from some vertices, as tuples that begin with two ids; `rows_of` gives those of one. Each vertex is
    /// visited once, and so is an edge without direction between two of them.
    fn from<'py>(
        &self,
        py: Python<'py>,
        vertices: Bound<'py, PyIterator>,
        rows_of: impl Fn(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (list, seen) = (PyList::empty(py), PySet::empty(py)?);
        let is_directed = self.graph.get().open(py)?.is_directed();
        for vertex in vertices {
            let vertex = vertex?;
            if seen.contains(&vertex)? {
                continue;
            }
            for row in rows_of(&vertex)? {
                if is_directed || !seen.contains(row.get_item(1)?)? {
                    list.append(row)?;
                }
            }
            seen.add(&vertex)?;
        }
        Ok(list)
    }
}

#[pymethods]
impl PyEdges {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)?;
        visit.call(&self.default)
    }

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
        // A single id is a list of one, as in NetworkX.
        let vertices = match id_text(vertices) {
            Ok(_) => PyTuple::new(py, [vertices])?.try_iter()?,
            Err(_) => id_set(vertices)?,
        };
        if data == Data::None {
            let rows_of = |vertex: &Bound<'py, PyAny>| {
                let row = |(neighbour, weight)| match weight {
                    Some(weight) => (vertex, neighbour, weight).into_pyobject(py),
                    None => (vertex, neighbour).into_pyobject(py),
                };
                let edges = self.graph.get().neighbours(py, vertex, Direction::Out, weights)?;
                PyList::new(py, edges.into_iter().map(row).collect::<PyResult<Vec<_>>>()?)
            };
            return Ok(self.from(py, vertices, rows_of)?.into_any());
        }
        let graph = self.graph.get().open(py)?;
        let edges = run(py, graph.runtime(), || EdgesFrom::new(&graph))?;
        let rows_of = |vertex: &Bound<'py, PyAny>| {
            let id = id_text(vertex)?;
            let batch = run(py, graph.runtime(), || edges.of(graph.vertex(&id)?))?;
            let columns = data.columns(py, &batch.schema(), 2)?;
            data.rows(py, &batch.project(&columns).map_err(invalid)?, 2, default.as_ref())
        };
        Ok(self.from(py, vertices, rows_of)?.into_any())
    }

    /// The values of an edge.
    fn __getitem__<'py>(&self, py: Python<'py>, edge: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let Ok((source, target)) = edge.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
            let text = format!("expected two ids of an edge, g.edges[source, target], found {}", edge.repr()?);
            return Err(PyTypeError::new_err(text));
        };
        let (graph, from, to) = (self.graph.get().open(py)?, id_text(&source)?, id_text(&target)?);
        let found = run(py, graph.runtime(), || {
            let (source, target) = (graph.vertex(&from)?, graph.vertex(&to)?);
            EdgesFrom::new(&graph)?.between(source, target)
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
        let default = self.default.as_ref().map(|default| default.clone_ref(py));
        let (batches, graph) = self.batches(py)?;
        Ok(Rows::of_graph(batches, (graph, self.graph.clone_ref(py)), (2, self.data.clone(), default)))
    }

    /// The edges as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let (batches, graph) = self.batches(py)?;
        crate::stream::export(py, (batches, graph.runtime().clone()), requested_schema)
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
