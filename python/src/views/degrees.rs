//! The degrees of a graph.

use crate::convert::{id_set, id_text};
use crate::graph::PyGraph;
use outcore::Direction;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// The degrees of a graph: `g.degree(vertex)`, or `g.degree[vertex]`, is the number of a vertex's edges. An edge from a
/// vertex to itself counts twice, as in NetworkX. Where edges have a direction, `g.degree` counts those from the vertex
/// and those to it, `g.in_degree` and `g.out_degree` one of both.
///
/// `g.degree(vertices)` is a list of pairs, and `for vertex, degree in g.degree` goes through all, so that
/// `dict(g.degree)` has them.
///
/// The degree of one vertex reads the pages of one list; the first look reads the ids, see `Graph.neighbors`. All
/// degrees take what `degree_centrality` takes.
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
    /// The edges that count; all if none.
    pub direction: Option<Direction>,
}

#[pymethods]
impl PyDegrees {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)
    }

    /// See the class.
    #[pyo3(signature = (vertices=None))]
    fn __call__<'py>(&self, py: Python<'py>, vertices: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let Some(given) = vertices else {
            let view = PyDegrees { graph: self.graph.clone_ref(py), direction: self.direction };
            return Ok(view.into_pyobject(py)?.into_any());
        };
        if id_text(given).is_ok() {
            return Ok(self.__getitem__(py, given)?.into_pyobject(py)?.into_any());
        }
        let list = PyList::empty(py);
        for vertex in id_set(given)? {
            let vertex = vertex?;
            let degree = self.__getitem__(py, &vertex)?;
            list.append((vertex, degree))?;
        }
        Ok(list.into_any())
    }

    fn __getitem__(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<u64> {
        let degree = self.graph.get().degree_of(py, vertex)?;
        Ok(match self.direction {
            None => degree.all,
            Some(Direction::In) => degree.into,
            Some(Direction::Out) => degree.from,
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.graph.get().open(py)?.vertices() as usize)
    }

    fn __contains__(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.graph.get().contains(py, vertex)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let edges = match self.direction {
            None => "both",
            Some(Direction::In) => "in",
            Some(Direction::Out) => "out",
        };
        py.import("outcore._graphs.degrees")?.call_method1("pairs", (self.graph.clone_ref(py), edges))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<outcore.Degrees of {} vertices>", self.graph.get().open(py)?.vertices()))
    }
}
