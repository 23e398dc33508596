//! Looks at single vertices of a graph.

use crate::convert::{id_object, id_text};
use crate::errors::usage;
use crate::graph::PyGraph;
use crate::runtime::run;
use outcore::{Degree, Direction, Edges};
use pyo3::prelude::*;

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
        direction: Direction,
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

/// The direction that is called so.
pub fn direction_of(py: Python<'_>, name: &str) -> PyResult<Direction> {
    match name {
        "out" => Ok(Direction::Out),
        "in" => Ok(Direction::In),
        other => Err(usage(py, format!("expected direction \"out\" or \"in\", found \"{other}\""))),
    }
}
