//! `outcore.Graph`: an image, opened.

use crate::convert::{id_object, id_text};
use crate::errors::{raise, usage};
use crate::runtime::{Bytes, Limits, checked_options, run, settings};
use outcore::io::escaped;
use outcore::io::lock;
use outcore::{Degree, Direction, Edges, Graph, GraphOptions, Neighbour, Weight};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// An imported graph, opened: what algorithms work on.
///
/// Opening reads the page indexes, about nine bits per page of 4 KiB; the edges stay on the disk. The memory that a
/// limit leaves is a page cache, which algorithms take for their state when they need it.
///
/// Args:
///     image: The path of the image, a directory that `import_graph` or `generate` made.
///     runtime: The memory and workers to use, an `outcore.Runtime`; by default those of the process, which all graphs
///         share.
///     memory: A limit for this graph and its results alone, in bytes or as text such as "1GiB": it gets a runtime of
///         its own.
///     threads: The number of workers; by default those of the runtime. Results do not depend on it.
///     backend: How files are read: "uring", "posix", or "auto" for the best that works here.
///     cache: The most memory for the page cache; by default all that the limit leaves.
///     progress: Whether to show progress on the standard error output, if that is a terminal or a notebook.
///
/// Raises:
///     UsageError: No image of that name, or an option that cannot be.
///     CorruptImageError: An image with damaged parts.
///     MemoryLimitError: Too little memory for indexes and buffers.
///
/// Several operations may run at the same time, from several threads or within one another: they share workers and
/// memory. What daemon threads have under way when the interpreter ends is stopped, as by Ctrl-C.
/// It can be used in a `with` statement. It cannot be pickled, and a fork cannot use it: pass the path to other
/// processes, and open it there.
///
/// >>> with oc.Graph("web.oc", memory="1GiB") as g:
/// ...     g
/// <outcore.Graph 'web.oc': 4 vertices, 5 directed edges>
#[pyclass(frozen, name = "Graph", module = "outcore")]
pub struct PyGraph {
    graph: Mutex<Option<Arc<Graph>>>,
    path: PathBuf,
}

impl PyGraph {
    /// The graph, unless it was closed, or opened by another process.
    pub fn open(&self, py: Python<'_>) -> PyResult<Arc<Graph>> {
        let graph = lock(&self.graph).clone();
        let graph =
            graph.ok_or_else(|| usage(py, format!("the graph {} was closed; open it again", self.path.display())))?;
        graph.runtime().budget().check_process().map_err(|error| raise(py, error))?;
        Ok(graph)
    }
}

impl PyGraph {
    fn degree_of(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<Degree> {
        let (graph, id) = (self.open(py)?, id_text(vertex)?);
        run(py, graph.runtime(), || graph.degree(graph.found(&id)?))
    }
}

fn direction_of(py: Python<'_>, name: &str) -> PyResult<Direction> {
    match name {
        "out" => Ok(Direction::Out),
        "in" => Ok(Direction::In),
        other => Err(usage(py, format!("expected direction \"out\" or \"in\", found \"{other}\""))),
    }
}

impl Drop for PyGraph {
    fn drop(&mut self) {
        self.close();
    }
}

/// The arguments of `outcore.Graph`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Settings {
    image: PathBuf,
    cache: Option<Bytes>,
    limits: Limits,
}

#[pymethods]
impl PyGraph {
    #[new]
    #[pyo3(
        signature = (image, **options),
        text_signature = "(image, *, runtime=None, memory=None, threads=None, backend='auto', cache=None, progress=False)"
    )]
    fn new(py: Python<'_>, image: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = checked_options(py, "graph_options", (image,), options)?;
        let Settings { image, cache, limits } = settings(&options)?;
        let runtime = limits.runtime(py)?;
        let options = GraphOptions { cache_bytes: cache.map(|bytes| bytes.0) };
        let graph = run(py, &runtime, || Graph::open(&runtime, &image, options))?;
        Ok(PyGraph { graph: Mutex::new(Some(Arc::new(graph))), path: image })
    }

    /// The path of the image.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// The number of vertices.
    #[getter]
    fn vertices(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.open(py)?.vertices())
    }

    /// The number of edges; one without direction counts once.
    #[getter]
    fn edges(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.open(py)?.edges())
    }

    /// Whether edges have a direction.
    #[getter]
    fn directed(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.open(py)?.is_directed())
    }

    /// How vertices are numbered inside: "input", as their ids sort, "degree", hubs first, or "near", neighbours
    /// together. Results come in this order.
    #[getter]
    fn order(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.open(py)?.info().order)
    }

    /// What the image is, as a dict: the same facts as `outcore info --json`.
    ///
    /// >>> g.info()["bytes_per_edge"] > 0, g.info()["ids"], g.info()["format_version"]
    /// (True, 'string', 2)
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::to_dict(py, &self.open(py)?.info())
    }

    /// Verifies every byte of the image, and returns what was gone through as a dict.
    ///
    /// One pass over every file, and 5 bytes of memory per vertex.
    ///
    /// Raises:
    ///     CorruptImageError: The first damage, with its file and byte.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let graph = self.open(py)?;
        let report = run(py, graph.runtime(), || outcore::check(&graph))?;
        crate::to_dict(py, &report)
    }

    /// Writes all edges to a file, in the user's ids, and returns the paths of what was written, as a list.
    ///
    /// The name decides the format: .txt, .edges, .tsv, .csv, .el, .wel, .mtx, .graph (METIS), each maybe with .gz or
    /// .zst, .e (Graphalytics) or .parquet. What a format cannot say of vertices goes to a file beside it.
    fn export(&self, py: Python<'_>, path: PathBuf) -> PyResult<Vec<PathBuf>> {
        let graph = self.open(py)?;
        Ok(run(py, graph.runtime(), || outcore::export(&graph, &path))?.files)
    }

    /// The number of vertices.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.open(py)?.vertices() as usize)
    }

    /// Whether a vertex has this id.
    fn __contains__(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<bool> {
        let graph = self.open(py)?;
        let Ok(id) = id_text(vertex) else { return Ok(false) };
        Ok(run(py, graph.runtime(), || graph.find(&id))?.is_some())
    }

    /// The neighbours of a vertex, as a list of ids in their order: those that its edges lead to, if edges have a
    /// direction. An edge that is there several times has its neighbour as often.
    ///
    /// Args:
    ///     vertex: An id.
    ///     direction: "out" for where edges lead to, "in" for where they come from; the same without directions.
    ///     weights: Whether pairs of neighbour and weight are wanted.
    ///
    /// Reads the pages of one list, and takes 192 bytes for each neighbour meanwhile. The first look reads all ids and
    /// keeps them, 8 bytes per vertex and the text of strings, and 4 for their order unless the image is in it; memory
    /// that somebody else needs is given back. Where there is no room for them, every look passes over the ids twice.
    ///
    /// Raises:
    ///     UsageError: No vertex of that id, no weights.
    ///     MemoryLimitError: Too many neighbours.
    ///
    /// >>> g.neighbors("home"), g.neighbors("home", direction="in")
    /// (['about', 'news'], ['about', 'news'])
    #[pyo3(signature = (vertex, *, direction="out", weights=false))]
    fn neighbors<'py>(
        &self,
        py: Python<'py>,
        vertex: &Bound<'py, PyAny>,
        direction: &str,
        weights: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let (graph, id) = (self.open(py)?, id_text(vertex)?);
        let edges = Edges::new(direction_of(py, direction)?, weights);
        let found = run(py, graph.runtime(), || {
            if weights {
                graph.weight_kind()?;
            }
            graph.neighbours(graph.found(&id)?, edges)
        })?;
        let list = PyList::empty(py);
        for Neighbour { id, weight } in found {
            let id = id_object(py, &id)?;
            match weight {
                Weight::Integer(weight) => list.append((id, weight))?,
                Weight::Real(weight) => list.append((id, weight))?,
                Weight::None | Weight::Complex(..) => list.append(id)?,
            }
        }
        Ok(list)
    }

    /// The number of a vertex's edges: those from it and those to it, where edges have a direction. An edge from a
    /// vertex to itself counts twice, as in NetworkX.
    ///
    /// Cost as of `neighbors`. `degree_centrality` has those of all vertices.
    ///
    /// >>> g.degree("home"), g.in_degree("home"), g.out_degree("home")
    /// (4, 2, 2)
    fn degree(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.degree_of(py, vertex)?.all)
    }

    /// The number of edges that lead to a vertex; all of its edges where these have no direction.
    fn in_degree(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.degree_of(py, vertex)?.into)
    }

    /// The number of edges that lead from a vertex; all of its edges where these have no direction.
    fn out_degree(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.degree_of(py, vertex)?.from)
    }

    /// Whether an edge leads from one vertex to another; `False` too where there is no such vertex.
    ///
    /// >>> g.has_edge("home", "about"), g.has_edge("about", "news")
    /// (True, False)
    fn has_edge(&self, py: Python<'_>, source: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (graph, source, target) = (self.open(py)?, id_text(source)?, id_text(target)?);
        run(py, graph.runtime(), || match (graph.find(&source)?, graph.find(&target)?) {
            (Some(source), Some(target)) => Ok(graph.edges_between(source, target)? > 0),
            _ => Ok(false),
        })
    }

    /// Closes the graph: gives back its page cache and buffers. Results stay usable, and hold only what they are made
    /// of.
    fn close(&self) {
        if let Some(graph) = lock(&self.graph).take() {
            graph.close();
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(&self, _kind: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>, _trace: &Bound<'_, PyAny>) {
        self.close();
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a Graph cannot be pickled; pass its path and open it there"))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("outcore._html")?.call_method1("graph", (slf,))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let Ok(graph) = self.open(py) else {
            let state = if lock(&self.graph).is_none() { "closed" } else { "opened by another process" };
            return format!("<outcore.Graph '{}': {state}>", escaped(self.path.display()));
        };
        let kind = if graph.is_directed() { "directed" } else { "undirected" };
        let (path, vertices, edges) = (escaped(self.path.display()), graph.vertices(), graph.edges());
        format!("<outcore.Graph '{path}': {vertices} vertices, {edges} {kind} edges>")
    }
}
