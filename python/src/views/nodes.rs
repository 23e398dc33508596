//! The vertices of a graph.

use super::data::{Data, chosen, dict_of};
use super::rows::Rows;
use crate::convert::id_text;
use crate::graph::PyGraph;
use crate::runtime::run;
use arrow_array::RecordBatchReader;
use outcore::Graph;
use outcore::data::{VertexBatches, VertexData};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

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

impl PyNodes {
    /// The batches, and the runtime of the operation that reads them.
    fn batches(&self, py: Python<'_>) -> PyResult<(Box<dyn RecordBatchReader + Send>, Graph)> {
        let graph = self.graph.get().open_for_rows(py)?;
        let batches = run(py, graph.runtime(), || VertexBatches::new(&graph, None))?;
        let columns = self.data.columns(py, batches.schema(), 1)?;
        Ok((chosen(batches, columns)?, graph))
    }
}

#[pymethods]
impl PyNodes {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)?;
        visit.call(&self.default)
    }

    /// See the class.
    #[pyo3(signature = (data=None, default=None))]
    fn __call__(&self, py: Python<'_>, data: Option<&Bound<'_, PyAny>>, default: Option<Py<PyAny>>) -> PyResult<Self> {
        Ok(PyNodes { graph: self.graph.clone_ref(py), data: Data::of(data)?, default })
    }

    /// The attributes of a vertex.
    fn __getitem__<'py>(&self, py: Python<'py>, vertex: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let (graph, id) = (self.graph.get().open(py)?, id_text(vertex)?);
        let row = run(py, graph.runtime(), || {
            let vertex = graph.vertex(&id)?;
            VertexData::new(&graph)?.of(vertex)
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
            return Rows::of_nodes(py, self.graph.clone_ref(py));
        }
        let default = self.default.as_ref().map(|default| default.clone_ref(py));
        let (batches, graph) = self.batches(py)?;
        Ok(Rows::of_graph(batches, (graph, self.graph.clone_ref(py)), (1, self.data.clone(), default)))
    }

    /// The ids as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        if self.data != Data::None {
            let (batches, graph) = self.batches(py)?;
            return crate::stream::export(py, (batches, graph.runtime().clone()), requested_schema);
        }
        let graph = self.graph.get().open_for_rows(py)?;
        let table = graph.table(Vec::new());
        let runtime = table.image().runtime().clone();
        let reader = run(py, &runtime, || table.reader())?;
        crate::stream::export(py, (reader, runtime), requested_schema)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<outcore.Nodes: {} vertices>", self.graph.get().open(py)?.vertices()))
    }
}
