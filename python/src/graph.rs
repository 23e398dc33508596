//! `outcore.Graph`: an image, opened.

use crate::errors::{raise, usage};
use crate::runtime::{Bytes, Limits, checked_options, run, settings};
use outcore::io::escaped;
use outcore::io::lock;
use outcore::{Graph, GraphOptions};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
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
