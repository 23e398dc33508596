//! `outcore.Graph`: an image, opened.

use crate::convert::{id_object, id_text};
use crate::errors::{raise, usage};
use crate::progress::Wanted;
use crate::result::PyTable;
use crate::runtime::{Limits, checked_options, run, settings, warn_of};
use crate::views::{Data, PyDegrees, PyEdges, PyNodes, Rows};
use outcore::engine::Weight;
use outcore::front_ends::enough_bytes;
use outcore::io::backend::Memory;
use outcore::io::{escaped, lock};
use outcore::{Degree, Direction, Edges, Error, Graph, GraphOptions, Neighbour, Runtime, RuntimeOptions, Table};
use pyo3::exceptions::{PyNotImplementedError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The neighbours of a vertex with the weights of the edges, if they are wanted.
pub type Neighbours<'py> = Vec<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)>;

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
    /// Without progress: the function of it may refer to this object, and only Python's collector ends such a circle.
    graph: Mutex<Option<Graph>>,
    path: PathBuf,
    progress: Mutex<Wanted>,
}

impl PyGraph {
    /// The graph for one operation, unless it was closed, or opened by another process.
    pub fn open(&self, py: Python<'_>) -> PyResult<Graph> {
        self.for_operation(py, self.progress(py))
    }

    /// [`PyGraph::open`] for an operation that objects of Python's hold, such as an iterator: it shows no progress.
    pub fn open_for_rows(&self, py: Python<'_>) -> PyResult<Graph> {
        self.for_operation(py, Wanted::Nothing)
    }

    fn for_operation(&self, py: Python<'_>, progress: Wanted) -> PyResult<Graph> {
        let opened = lock(&self.graph).as_ref().map(|graph| graph.for_operation(progress.progress(py)));
        let closed = || usage(py, format!("the graph {} was closed; open it again", self.path.display()));
        let graph = opened.ok_or_else(closed)?;
        graph.runtime().budget().check_process().map_err(|error| raise(py, error))?;
        Ok(graph)
    }

    /// The progress that its operations show.
    pub fn progress(&self, py: Python<'_>) -> Wanted {
        lock(&self.progress).clone_ref(py)
    }

    /// A graph that was opened elsewhere.
    pub fn of(graph: &Graph, progress: Wanted) -> Self {
        let (path, graph) = (graph.path().to_owned(), Mutex::new(Some(graph.for_operation(None))));
        PyGraph { graph, path, progress: Mutex::new(progress) }
    }

    /// Where the image lies, for people.
    fn place(&self) -> String {
        match self.path.starts_with(Memory::folder()) {
            true => "in memory".to_owned(),
            false => format!("'{}'", escaped(self.path.display())),
        }
    }

    pub fn contains(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<bool> {
        let graph = self.open(py)?;
        let Ok(id) = id_text(vertex) else { return Ok(false) };
        Ok(run(py, graph.runtime(), || graph.find(&id))?.is_some())
    }

    pub fn degree_of(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<Degree> {
        let (graph, id) = (self.open(py)?, id_text(vertex)?);
        run(py, graph.runtime(), || graph.degree(graph.vertex(&id)?))
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
            graph.neighbours(graph.vertex(&id)?, Edges::new(direction, weights))
        })?;
        let object = |found: Neighbour| {
            let weight = match found.weight {
                Weight::Integer(weight) => Some(weight.into_pyobject(py)?.into_any()),
                Weight::Real(weight) => Some(weight.into_pyobject(py)?.into_any()),
                _ => None,
            };
            Ok((id_object(py, &found.id)?, weight))
        };
        found.into_iter().map(object).collect()
    }
}

/// The neighbours of single vertices as Python has them.
fn adjacency(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("outcore._graphs.adjacency")
}

/// The direction that is called so.
pub fn direction_of(py: Python<'_>, name: &str) -> PyResult<Direction> {
    match name {
        "out" => Ok(Direction::Out),
        "in" => Ok(Direction::In),
        other => Err(usage(py, format!("expected direction \"out\" or \"in\", found \"{other}\""))),
    }
}

/// The wanted part of a graph: all of it by default.
#[derive(Default)]
struct PartOf<'a, 'py> {
    vertices: Option<&'a Bound<'py, PyAny>>,
    /// All vertices but these.
    excluded: bool,
    reversed: bool,
    directed: Option<bool>,
}

/// A graph made of a part of another one, which `outcore._graphs.importing` imports.
fn part<'py>(
    graph: &Bound<'py, PyGraph>,
    wanted: PartOf<'_, 'py>,
    image: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let PartOf { vertices, excluded, reversed, directed } = wanted;
    let importing = graph.py().import("outcore._graphs.importing")?;
    importing.call_method1("part", (graph, vertices, reversed, directed, image, options, None::<u8>, excluded))
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
    cache: Option<u64>,
    limits: Limits,
}

/// Memory of an operation, by vertex, that a limit has room for which is advised where a graph cannot be opened:
/// ranks, distances or components, and what becomes of them.
const OPERATION_BYTES: u64 = 40;

/// A refusal of memory for opening a graph, with advice that is enough for operations on it too: see [`enough_bytes`].
/// Any other error stays as it is.
fn advise(error: Error, within: &RuntimeOptions, image: &Path) -> Error {
    let Some(advised_bytes) = error.advised_bytes() else { return error };
    let open = |bytes| {
        let limits = RuntimeOptions { memory_bytes: Some(bytes), progress: None, ..within.clone() };
        let graph = Graph::open(&Runtime::new(limits)?, image, GraphOptions::default())?;
        graph.make_room("an operation", OPERATION_BYTES.saturating_mul(graph.vertices()))
    };
    error.advising_at_least(enough_bytes(advised_bytes, open))
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
        let Settings { image, cache, mut limits } = settings(&options)?;
        let progress = std::mem::take(&mut limits.progress);
        let has_limit = limits.memory.is_some();
        let runtime = limits.runtime_or(py, |error, within| advise(error, within, &image))?;
        let options = GraphOptions { cache_bytes: cache, ..GraphOptions::default() };
        let within = RuntimeOptions {
            beside_process: true,
            threads: Some(runtime.threads()),
            backend: Some(Arc::clone(runtime.backend())),
            ..RuntimeOptions::default()
        };
        let graph = run(py, &runtime, || {
            Graph::open(&runtime, &image, options).map_err(|error| match has_limit {
                true => advise(error, &within, &image),
                false => error,
            })
        })?;
        Ok(PyGraph { graph: Mutex::new(Some(graph)), path: image, progress: Mutex::new(progress) })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // The lock is only taken while the collector cannot run.
        self.progress.try_lock().map_or(Ok(()), |progress| progress.traverse(&visit))
    }

    fn __clear__(&self) {
        *lock(&self.progress) = Wanted::Nothing;
    }

    /// Makes it a graph of NetworkX's backend.
    #[classattr]
    fn __networkx_backend__() -> &'static str {
        "outcore"
    }

    /// The path of the image; `None` if it is in memory.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        (!self.path.starts_with(Memory::folder())).then(|| self.path.clone())
    }

    /// The vertices: a view, as in NetworkX.
    #[getter]
    fn nodes(slf: Py<Self>) -> PyNodes {
        PyNodes { graph: slf, data: Data::None, default: None }
    }

    /// The edges: a view, as in NetworkX. An edge without direction comes once.
    #[getter]
    fn edges(slf: Py<Self>) -> PyEdges {
        PyEdges { graph: slf, weights: false, data: Data::None, default: None }
    }

    /// The number of vertices, which is `len(g)`.
    fn number_of_nodes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.open(py)?.vertices())
    }

    /// The number of edges; one without direction counts once.
    fn number_of_edges(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.open(py)?.edges())
    }

    /// Whether edges have a direction.
    fn is_directed(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.open(py)?.is_directed())
    }

    /// Whether parallel edges were kept.
    fn is_multigraph(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.open(py)?.manifest().parallel_edges)
    }

    /// The numbering of vertices inside: "input", as their ids sort, "degree", hubs first, or "near", neighbours
    /// together. Results come in this order.
    #[getter]
    fn order(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.open(py)?.info().order)
    }

    /// The facts of the image, as a dict: the `result` of `outcore info --json`.
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
    /// The name decides the format: .txt, .edges, .tsv, .csv, .el, .wel, .mtx, .graph (METIS), .jsonl, .graphml, .gexf,
    /// .gml, .net (Pajek), each maybe with .gz or .zst, .e (Graphalytics) or .parquet. What a format cannot say of
    /// vertices goes to a file beside it. A warning says what else it cannot hold.
    ///
    /// Args:
    ///     path: The file. Attributes of edges are columns of .tsv, .csv and .parquet, members of .jsonl, and data of
    ///         .graphml and .gexf; the other formats leave them out.
    ///     vertices: A file for all vertices and their attributes: .csv, .tsv (also with .gz or .zst) or .parquet.
    ///     results: A result of this graph, or several joined with `join`, whose columns are written as attributes of
    ///         the vertices: to .graphml and .gexf, and to the file of `vertices`.
    ///
    /// Raises:
    ///     UsageError: An unknown ending, ids or attributes that the format cannot hold, results of another graph.
    ///     OSError: A file cannot be written.
    ///
    /// >>> [path.name for path in g.export("web.gexf", results=ranks)]
    /// ['web.gexf']
    #[pyo3(signature = (path, vertices=None, results=None))]
    fn export(
        &self,
        py: Python<'_>,
        path: PathBuf,
        vertices: Option<PathBuf>,
        results: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<PathBuf>> {
        let graph = self.open(py)?;
        let results = results.map(result_of).transpose()?;
        if let Some(table) = &vertices {
            outcore::front_ends::check_vertex_table(&path, table).map_err(|error| raise(py, error))?;
        }
        if results.is_some() && vertices.is_none() && !outcore::front_ends::takes_results(&path) {
            let text = format!(
                "expected .graphml or .gexf for results, or a file of vertices= beside the edges, found {}",
                path.display()
            );
            return Err(usage(py, text));
        }
        let joined = results.as_ref();
        let report = run(py, graph.runtime(), || {
            outcore::front_ends::check_export_memory(&graph, &path, vertices.as_deref(), joined)?;
            outcore::front_ends::export_with(&graph, &path, joined)
        })?;
        if let Some(table) = &vertices {
            run(py, graph.runtime(), || outcore::data::export_vertices(&graph, table, joined))?;
        }
        report.notes(vertices.is_some()).into_iter().try_for_each(|note| warn_of(py, note))?;
        Ok(report.files.into_iter().chain(vertices).collect())
    }

    /// The graph with the numbers of an attribute of its edges as weights; `None` if it has no such attribute.
    ///
    /// Raises:
    ///     NotImplementedError: An attribute that is no finite number for every edge.
    fn _weighing(&self, py: Python<'_>, name: &str) -> PyResult<Option<PyGraph>> {
        let graph = self.open(py)?;
        let found = run(py, graph.runtime(), || graph.weighing(name))?;
        if found.is_none() && graph.manifest().attributes.iter().any(|attribute| attribute.name == name) {
            let text = format!("the attribute {name:?} is no finite number for every edge");
            return Err(PyNotImplementedError::new_err(text));
        }
        Ok(found.map(|graph| PyGraph::of(&graph, self.progress(py))))
    }

    /// The number of vertices.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.open(py)?.vertices() as usize)
    }

    /// Whether a vertex has this id.
    fn __contains__(&self, py: Python<'_>, vertex: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.contains(py, vertex)
    }

    /// The ids of all vertices, in the order in which results have them.
    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        Rows::of_nodes(slf.py(), slf.clone().unbind())
    }

    /// The neighbours of a vertex, and the attributes of the edges to them, as a mapping, which reads when it is used.
    ///
    /// >>> list(g["home"]), g["home"]["news"]
    /// (['about', 'news'], {})
    fn __getitem__<'py>(slf: &Bound<'py, Self>, vertex: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        adjacency(slf.py())?.call_method1("neighbours", (slf, vertex))
    }

    /// The vertices and their neighbours, as a mapping: `g.adj[vertex]` is `g[vertex]`.
    #[getter]
    fn adj<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        adjacency(slf.py())?.call_method1("Adjacency", (slf,))
    }

    /// The edges by their targets: `g.in_edges(vertices, data=True)` is a list of those that lead to some vertices,
    /// with their attributes, for which the lists of all predecessors are read; without vertices it is `g.edges`.
    ///
    /// >>> g.in_edges("home"), g.in_edges(["news", "lone"])
    /// ([('about', 'home'), ('news', 'home')], [('home', 'news')])
    #[getter]
    fn in_edges<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        adjacency(slf.py())?.call_method1("InEdges", (slf,))
    }

    /// The attributes of an edge, the first of parallel ones, as a dict; `default` if there is no such edge.
    ///
    /// >>> g.get_edge_data("home", "news"), g.get_edge_data("news", "about", default="none")
    /// ({}, 'none')
    #[pyo3(signature = (source, target, default=None))]
    fn get_edge_data<'py>(
        slf: &Bound<'py, Self>,
        source: &Bound<'py, PyAny>,
        target: &Bound<'py, PyAny>,
        default: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        adjacency(slf.py())?.call_method1("get_edge_data", (slf, source, target, default))
    }

    /// The vertices that edges lead to from a vertex, each once; all neighbours where edges have no direction.
    ///
    /// >>> g.successors("news"), g.predecessors("news")
    /// (['home'], ['home'])
    fn successors<'py>(&self, py: Python<'py>, vertex: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        adjacency(py)?.call_method1("distinct", (self.neighbors(py, vertex, "out", false)?,))
    }

    /// The vertices that edges to a vertex come from, each once; all neighbours where edges have no direction.
    fn predecessors<'py>(&self, py: Python<'py>, vertex: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        adjacency(py)?.call_method1("distinct", (self.neighbors(py, vertex, "in", false)?,))
    }

    /// A vertex, those within some hops of it, and the edges between them, as a graph: in memory, or as the image of
    /// that name.
    ///
    /// Args:
    ///     vertex: An id.
    ///     radius: The number of hops.
    ///     undirected: Whether hops also lead against the direction of edges.
    ///     image: The path of the new image; if not given, it is made in memory.
    ///     options: Those of `subgraph`.
    ///
    /// Cost: the lists of the vertices within `radius - 1` hops, one after the other, and `subgraph`. For a large part
    /// of a graph `bfs` with `depth_limit` and `subgraph` are faster.
    ///
    /// >>> sorted(g.ego_graph("news")), sorted(g.ego_graph("about", radius=2))
    /// (['home', 'news'], ['about', 'home', 'news'])
    #[pyo3(signature = (vertex, radius=1, *, undirected=false, image=None, **options))]
    fn ego_graph<'py>(
        slf: &Bound<'py, Self>,
        vertex: &Bound<'py, PyAny>,
        radius: i64,
        undirected: bool,
        image: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if radius < 0 {
            return Err(usage(py, format!("expected radius as a number of hops from 0 on, found {radius}")));
        }
        let options = options.cloned().unwrap_or_else(|| PyDict::new(py));
        adjacency(py)?.call_method1("ego_graph", (slf, vertex, radius, undirected, image, options))
    }

    /// Some vertices and the edges between them, as a graph: in memory, or as the image of that name.
    ///
    /// Args:
    ///     vertices: Their ids, or the rows of a result that are theirs, such as `cores[cores["core"] >= 3]`.
    ///     image: The path of the new image; if not given, it is made in memory.
    ///     options: Those of `import_graph` that are not for files, such as `memory`, `order` and `replace`. What is in
    ///         memory counts in the limit of this graph, unless another one is given.
    ///
    /// One pass over the edges, and what an import of those that stay takes; the ids are in memory, 8 bytes per vertex
    /// and the text of strings.
    ///
    /// Raises:
    ///     NoVertexError: An id that no vertex has.
    ///     MemoryLimitError: Too little memory.
    ///
    /// >>> sorted(g.subgraph(["home", "news"]).edges)
    /// [('home', 'news'), ('news', 'home')]
    #[pyo3(signature = (vertices, image=None, **options))]
    fn subgraph<'py>(
        slf: &Bound<'py, Self>,
        vertices: &Bound<'py, PyAny>,
        image: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        part(slf, PartOf { vertices: Some(vertices), ..PartOf::default() }, image, options)
    }

    /// All vertices but some, and the edges between them, as a graph: in memory, or as the image of that name.
    ///
    /// Args:
    ///     vertices: The ids that go, or the rows of a result that are theirs.
    ///     image: The path of the new image; if not given, it is made in memory.
    ///     options: Those of `subgraph`.
    ///
    /// Cost: as of `subgraph`.
    ///
    /// Raises:
    ///     NoVertexError: An id that no vertex has.
    ///     MemoryLimitError: Too little memory.
    ///
    /// >>> rest = g.without(["home"])
    /// >>> sorted(rest), sorted(rest.edges)
    /// (['about', 'lone', 'news'], [('about', 'about')])
    #[pyo3(signature = (vertices, image=None, **options))]
    fn without<'py>(
        slf: &Bound<'py, Self>,
        vertices: &Bound<'py, PyAny>,
        image: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        part(slf, PartOf { vertices: Some(vertices), excluded: true, ..PartOf::default() }, image, options)
    }

    /// The edges that meet a condition, with all vertices, or with those that meet conditions on vertices, as a graph:
    /// in memory, or as the image of that name.
    ///
    /// Args:
    ///     condition: Text such as "amount >= 100" or "type in friend,family", a tuple such as
    ///         `("amount", ">=", 100)`, or a list of these, which edges must all meet: see `where` of `import_graph`.
    ///     image: Where the new image goes; in memory if not given.
    ///     options: Those of `import_graph` that are not for files, such as `attributes` (which of them are kept; all
    ///         by default) and `memory`.
    ///
    /// Cost: a pass over the lists and the attributes, and an import of the edges that are left.
    ///
    /// Raises:
    ///     UsageError: No attribute of that name, or a value that it cannot have.
    ///     MemoryLimitError: Too little memory.
    ///
    /// >>> trips = oc.load_graph([("a", "b", 5), ("b", "c", 20), ("c", "a", 30)])
    /// >>> sorted(trips.filter("weight >= 20").edges)
    /// [('b', 'c'), ('c', 'a')]
    #[pyo3(signature = (condition, image=None, **options))]
    fn filter<'py>(
        slf: &Bound<'py, Self>,
        condition: &Bound<'py, PyAny>,
        image: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = options.map_or_else(|| Ok(PyDict::new(slf.py())), |options| options.copy())?;
        if options.contains("where")? {
            return Err(PyTypeError::new_err("expected the condition once, found where= beside it; give a list"));
        }
        options.set_item("where", condition)?;
        part(slf, PartOf::default(), image, Some(&options))
    }

    /// The graph with every edge the other way: in memory, or as the image of that name. See `subgraph`.
    ///
    /// Raises:
    ///     UsageError: Edges without direction.
    ///
    /// >>> ("home", "about") in g.edges, ("about", "home") in g.reverse().edges
    /// (True, True)
    #[pyo3(signature = (image=None, **options))]
    fn reverse<'py>(
        slf: &Bound<'py, Self>,
        image: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if !slf.get().open(py)?.is_directed() {
            return Err(usage(py, "expected edges with a direction to reverse, found a graph whose edges have none"));
        }
        part(slf, PartOf { reversed: true, ..PartOf::default() }, image, options)
    }

    /// The graph without directions: in memory, or as the image of that name. Of two edges that lead one way and the
    /// other one stays, that of the vertex which comes first in the image; `duplicates="sum"` adds their weights, "min"
    /// and "max" choose. See `subgraph`.
    ///
    /// >>> g.to_undirected()
    /// <outcore.Graph in memory: 4 vertices, 3 undirected edges>
    #[pyo3(signature = (image=None, **options))]
    fn to_undirected<'py>(
        slf: &Bound<'py, Self>,
        image: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        part(slf, PartOf { directed: Some(false), ..PartOf::default() }, image, options)
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
        let list = PyList::empty(py);
        for (neighbour, weight) in self.neighbours(py, vertex, direction_of(py, direction)?, weights)? {
            match weight {
                Some(weight) => list.append((neighbour, weight))?,
                None => list.append(neighbour)?,
            }
        }
        Ok(list)
    }

    /// The degrees: `g.degree(vertex)` is the number of a vertex's edges. An edge from a vertex to itself counts twice.
    #[getter]
    fn degree(slf: Py<Self>) -> PyDegrees {
        PyDegrees { graph: slf, direction: None }
    }

    /// The numbers of edges that lead to vertices; of all edges where these have no direction.
    #[getter]
    fn in_degree(slf: Py<Self>) -> PyDegrees {
        PyDegrees { graph: slf, direction: Some(Direction::In) }
    }

    /// The numbers of edges that lead from vertices; of all edges where these have no direction.
    #[getter]
    fn out_degree(slf: Py<Self>) -> PyDegrees {
        PyDegrees { graph: slf, direction: Some(Direction::Out) }
    }

    /// Whether an edge leads from one vertex to another; `False` too where there is no such vertex.
    ///
    /// >>> g.has_edge("home", "about"), g.has_edge("about", "news")
    /// (True, False)
    pub fn has_edge(&self, py: Python<'_>, source: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<bool> {
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
        slf.py().import("outcore._graphs.previews")?.call_method1("graph", (slf,))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let place = self.place();
        let Ok(graph) = self.open(py) else {
            let state = if lock(&self.graph).is_none() { "closed" } else { "opened by another process" };
            return format!("<outcore.Graph {place}: {state}>");
        };
        let kind = if graph.is_directed() { "directed" } else { "undirected" };
        let (vertices, edges) = (graph.vertices(), graph.edges());
        format!("<outcore.Graph {place}: {vertices} vertices, {edges} {kind} edges>")
    }
}

/// The table of a result that an export is to write.
fn result_of(given: &Bound<'_, PyAny>) -> PyResult<Table> {
    match given.cast::<PyTable>() {
        Ok(result) => Ok(result.get().table.clone()),
        Err(_) => Err(PyTypeError::new_err(format!(
            "expected results= to be a result of this graph, found {}; several become one with `a.join(b)`",
            given.get_type().name()?
        ))),
    }
}
