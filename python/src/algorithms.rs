//! The algorithms, and the tables that they return.

use crate::columns::{Distances, Path};
use crate::convert::{id_list, id_text};
use crate::errors::{exception, raise, usage};
use crate::graph::{Opened, PyGraph};
use crate::import::choose;
use crate::result::PyTable;
use crate::runtime::{Bytes, Whole, settings};
use outcore::{
    AllPairsOptions, BetweennessOptions, BfsOptions, ClusteringOptions, Column, ComponentsOptions, CoreNumbersOptions,
    Estimate, LabelPropagationOptions, LccOptions, MultiSourceBfsOptions, PageRankOptions, PersonalizedPageRankOptions,
    Reach, ScanStatisticsOptions, Sources, SsspOptions, Stats, StoppedBy, StrongComponentsOptions, TrianglesOptions,
    verify,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Arc;

/// What `bfs` found: columns `vertex`, `level` and `parent`.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct Bfs {
    /// How many vertices were reached, the source included.
    #[pyo3(get)]
    reached: u64,
    /// The greatest level that was found.
    #[pyo3(get)]
    depth: u32,
    path: Option<Path>,
}

#[pymethods]
impl Bfs {
    /// The ids of the vertices on a shortest path from the source to the target, if there is one. They are looked up
    /// when they are first asked for.
    #[getter]
    fn path(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyList>>> {
        let path = slf.get().path.as_ref();
        path.map(|path| path.list(slf.py(), slf.as_super().get().table.image())).transpose()
    }
}

/// What `multi_source_bfs` found: columns `vertex`, `reached_by` and `distance_sum`.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct MultiSourceBfs {
    /// Per source, how many vertices were reached, itself included.
    #[pyo3(get)]
    reached: Vec<u64>,
    /// Per source, the greatest distance of a vertex that was reached.
    #[pyo3(get)]
    depths: Vec<u32>,
    distances: Distances,
}

#[pymethods]
impl MultiSourceBfs {
    /// A row per source and a column per target: the distance, masked where there is no path. The array is made when it
    /// is first asked for; it takes 9 bytes per source and target.
    #[getter]
    fn distances(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        slf.get().distances.array(slf.py(), slf.as_super().get().table.image())
    }
}

/// What `all_pairs` found: columns `vertex`, `reached_by` and `distance_sum`.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct AllPairs {
    /// The ids of the sources.
    #[pyo3(get)]
    sources: Py<PyList>,
    /// Per source, the greatest distance of a vertex with a path from it.
    #[pyo3(get)]
    eccentricities: Vec<u32>,
    distances: Distances,
    /// The greatest distance between two vertices with a path: at least and at most.
    #[pyo3(get)]
    diameter: (u32, u32),
}

#[pymethods]
impl AllPairs {
    /// A row and a column per source: the distance, masked where there is no path. The array is made when it is first
    /// asked for; it takes 9 bytes per pair of sources.
    #[getter]
    fn distances(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        slf.get().distances.array(slf.py(), slf.as_super().get().table.image())
    }
}

/// What `betweenness_centrality` found: columns `vertex` and `betweenness`.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct Betweenness {
    /// The ids of the sources, if they were not all vertices.
    #[pyo3(get)]
    sources: Option<Py<PyList>>,
    /// How far an estimate may be off; infinite where nothing is known of that.
    #[pyo3(get)]
    error_bound: f64,
}

/// What `sssp` found: columns `vertex`, `distance` and `parent`.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct Sssp {
    /// How many vertices have a path from the source, itself included.
    #[pyo3(get)]
    reached: u64,
}

/// What `pagerank` found: columns `vertex` and `pagerank`.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct PageRank {
    /// How many iterations were made.
    #[pyo3(get)]
    iterations: u32,
    /// The sum over all vertices of the absolute change in the last iteration.
    #[pyo3(get)]
    residual: f64,
    /// Whether the ranks converged.
    #[pyo3(get)]
    converged: bool,
    /// What ended the iterations: "residual" or "networkx", the rule by which the ranks converged, or "iterations".
    #[pyo3(get)]
    stopped_by: &'static str,
}

impl PageRank {
    fn new(iterations: u32, residual: f64, stopped_by: StoppedBy) -> Self {
        PageRank { iterations, residual, converged: stopped_by.converged(), stopped_by: stopped_by.name() }
    }
}

/// What `components` or `strong_components` found: columns `vertex` and `component`, the smallest id of each component.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct Components {
    /// How many components there are.
    #[pyo3(get)]
    count: u64,
}

/// What `core_number` found: columns `vertex` and `core`.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct CoreNumbers {
    /// The greatest core number.
    #[pyo3(get)]
    max_core: u32,
}

/// What `label_propagation` found: columns `vertex` and `label`.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct LabelPropagation {
    /// How many labels there are.
    #[pyo3(get)]
    count: u64,
    /// How many iterations were made.
    #[pyo3(get)]
    iterations: u32,
    /// Whether another iteration would change nothing.
    #[pyo3(get)]
    converged: bool,
}

/// What `triangles` found: columns `vertex` and `triangles`.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct Triangles {
    /// How many triangles there are.
    #[pyo3(get)]
    total: u64,
}

/// What `scan_statistics` found: columns `vertex` and `edges`.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct ScanStatistics {
    /// The ids of the vertices that were found, by falling statistics.
    #[pyo3(get)]
    vertices: Py<PyList>,
    /// For each of them the number of edges among itself and its neighbours.
    #[pyo3(get)]
    statistics: Vec<u64>,
    /// How many vertices were looked at to find them.
    #[pyo3(get)]
    looked_at: u64,
}

/// What `clustering` found: columns `vertex` and `clustering`.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct Clustering {
    /// The mean of the coefficients.
    #[pyo3(get)]
    average: f64,
    /// The triangles of all vertices over those that all could have.
    #[pyo3(get)]
    transitivity: f64,
}

/// What `lcc` found: columns `vertex` and `lcc`.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct Lcc {
    /// The mean of the coefficients.
    #[pyo3(get)]
    average: f64,
}

/// A table of a subclass.
fn made<T>(py: Python<'_>, graph: Opened, columns: Vec<(&str, Column)>, stats: &Stats, found: T) -> PyResult<Py<T>>
where
    T: pyo3::PyClass<BaseType = PyTable, Frozen = pyo3::pyclass::boolean_struct::True>,
{
    let columns = columns.into_iter().map(|(name, column)| (name.to_owned(), column)).collect();
    let base = PyTable::new(py, graph.graph.table(columns), stats)?;
    Py::new(py, PyClassInitializer::from(base).add_subclass(found))
}

/// See `outcore.bfs`.
#[pyfunction]
pub fn bfs(
    py: Python<'_>,
    graph: &PyGraph,
    source: &Bound<'_, PyAny>,
    depth_limit: Option<Whole<u32>>,
    target: Option<&Bound<'_, PyAny>>,
    verify: bool,
) -> PyResult<Py<Bfs>> {
    let (graph, id, target_id) = (graph.open(py)?, id_text(source)?, target.map(id_text).transpose()?);
    let depth_limit = depth_limit.map(|limit| limit.0);
    let (found, path) = graph.run(py, || {
        let target = target_id.map(|id| graph.vertex(&id)).transpose()?;
        let options = BfsOptions { source: graph.vertex(&id)?, depth_limit, target };
        outcore::estimate_bfs(&graph).check_result(&graph, verify)?;
        let found = outcore::bfs(&graph, &options)?;
        if verify {
            verify::verify_bfs(&graph, &options, &found)?;
        }
        let path = target.map(|target| found.path(&graph, target)).transpose()?.flatten();
        let path = path.map(|vertices| Path::new(&graph, vertices)).transpose()?;
        Ok((found, path))
    })?;
    let columns =
        vec![("level", Column::Level(Arc::new(found.levels))), ("parent", Column::Vertex(Arc::new(found.parents)))];
    made(py, graph, columns, &found.stats, Bfs { reached: found.reached, depth: found.depth, path })
}

/// Ids as text.
fn texts(ids: &[Bound<'_, PyAny>]) -> PyResult<Vec<String>> {
    ids.iter().map(id_text).collect()
}

/// The columns of searches from many sources.
fn search_columns(
    reached_by: outcore::io::Array<u32>,
    distance_sums: outcore::io::Array<u64>,
) -> Vec<(&'static str, Column)> {
    let (counts, sums) = (Column::Number(Arc::new(reached_by)), Column::Count(Arc::new(distance_sums)));
    vec![("reached_by", counts), ("distance_sum", sums)]
}

/// See `outcore.multi_source_bfs`.
#[pyfunction]
pub fn multi_source_bfs(
    py: Python<'_>,
    graph: &PyGraph,
    sources: Vec<Bound<'_, PyAny>>,
    targets: Vec<Bound<'_, PyAny>>,
    depth_limit: Option<Whole<u32>>,
    verify: bool,
) -> PyResult<Py<MultiSourceBfs>> {
    let (graph, source_ids, target_ids) = (graph.open(py)?, texts(&sources)?, texts(&targets)?);
    let depth_limit = depth_limit.map(|limit| limit.0);
    let found = graph.run(py, || {
        let (sources, targets) = (graph.vertices_of(&source_ids)?, graph.vertices_of(&target_ids)?);
        let options = MultiSourceBfsOptions { sources, targets, depth_limit };
        outcore::estimate_multi_source_bfs(&graph, &options).check_result(&graph, verify)?;
        let found = outcore::multi_source_bfs(&graph, &options)?;
        if verify {
            verify::verify_multi_source_bfs(&graph, &options, &found)?;
        }
        Ok(found)
    })?;
    let distances = Distances::new(found.levels, (source_ids.len(), target_ids.len()));
    let reached = found.reach.iter().map(|reach| reach.reached).collect();
    let added = MultiSourceBfs { reached, depths: depths(&found.reach), distances };
    made(py, graph, search_columns(found.reached_by, found.distance_sums), &found.stats, added)
}

fn depths(reach: &[Reach]) -> Vec<u32> {
    reach.iter().map(|reach| reach.depth).collect()
}

/// See `outcore.all_pairs`.
#[pyfunction]
pub fn all_pairs(
    py: Python<'_>,
    graph: &PyGraph,
    sources: Option<Vec<Bound<'_, PyAny>>>,
    k: Whole<u64>,
    seed: Whole<u64>,
    verify: bool,
) -> PyResult<Py<AllPairs>> {
    let graph = graph.open(py)?;
    let given = sources.map(|ids| texts(&ids)).transpose()?;
    let (found, ids) = graph.run(py, || {
        let drawn = Sources::Drawn { k: k.0, seed: seed.0 };
        let given = given.map(|ids| graph.vertices_of(&ids)).transpose()?;
        let options = AllPairsOptions { sources: given.map_or(drawn, Sources::Given) };
        outcore::estimate_all_pairs(&graph, &options).check_result(&graph, verify)?;
        let found = outcore::all_pairs(&graph, &options)?;
        if verify {
            verify::verify_all_pairs(&graph, &options, &found)?;
        }
        let ids = graph.ids(&found.sources)?;
        Ok((found, ids))
    })?;
    let (search, diameter) = (found.search, (found.diameter_least, found.diameter_most));
    let distances = Distances::new(search.levels, (ids.len(), ids.len()));
    let added = AllPairs { sources: id_list(py, &ids)?, eccentricities: depths(&search.reach), distances, diameter };
    made(py, graph, search_columns(search.reached_by, search.distance_sums), &search.stats, added)
}

/// See `outcore.betweenness_centrality`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "those of the Python function")]
pub fn betweenness_centrality(
    py: Python<'_>,
    graph: &PyGraph,
    k: Option<Whole<u64>>,
    sources: Option<Vec<Bound<'_, PyAny>>>,
    normalized: bool,
    endpoints: bool,
    seed: Whole<u64>,
    failure: f64,
    verify: bool,
) -> PyResult<Py<Betweenness>> {
    let graph = graph.open(py)?;
    let given = sources.map(|ids| texts(&ids)).transpose()?;
    let some = given.is_some() || k.is_some();
    let (found, ids) = graph.run(py, || {
        let drawn = k.map_or(Sources::All, |k| Sources::Drawn { k: k.0, seed: seed.0 });
        let given = given.map(|ids| graph.vertices_of(&ids)).transpose()?;
        let options =
            BetweennessOptions { sources: given.map_or(drawn, Sources::Given), normalized, endpoints, failure };
        outcore::estimate_betweenness_centrality(&graph, &options).check_result(&graph, verify)?;
        let found = outcore::betweenness_centrality(&graph, &options)?;
        if verify {
            verify::verify_betweenness_centrality(&graph, &options, &found)?;
        }
        let ids = some.then(|| graph.ids(&found.sources)).transpose()?;
        Ok((found, ids))
    })?;
    let sources = ids.map(|ids| id_list(py, &ids)).transpose()?;
    let scores = vec![("betweenness", Column::Real(Arc::new(found.scores)))];
    made(py, graph, scores, &found.stats, Betweenness { sources, error_bound: found.error_bound })
}

/// See `outcore.sssp`.
#[pyfunction]
pub fn sssp(
    py: Python<'_>,
    graph: &PyGraph,
    source: &Bound<'_, PyAny>,
    weight: Option<&str>,
    delta: Option<f64>,
    verify: bool,
) -> PyResult<Py<Sssp>> {
    let (graph, id) = (graph.open(py)?, id_text(source)?);
    let weights = has_lengths(py, &graph, weight)?;
    let found = graph.run(py, || {
        let options = SsspOptions { source: graph.vertex(&id)?, weights, delta };
        outcore::estimate_sssp(&graph, &options).check_result(&graph, verify)?;
        let found = outcore::sssp(&graph, &options)?;
        if verify {
            verify::verify_sssp(&graph, &options, &found)?;
        }
        Ok(found)
    })?;
    let columns = vec![
        ("distance", Column::Distance(Arc::new(found.distances), found.kind)),
        ("parent", Column::Vertex(Arc::new(found.parents))),
    ];
    made(py, graph, columns, &found.stats, Sssp { reached: found.reached })
}

/// Whether weights are to be used: those of a name, `weight` only if there are any.
fn has_weights(py: Python<'_>, graph: &outcore::Graph, name: Option<&str>) -> PyResult<bool> {
    let Some(name) = name else { return Ok(false) };
    graph.has_weights(Some(name).filter(|&name| name != "weight")).map_err(|error| raise(py, error))
}

/// Whether weights are to be used as lengths: those of a name, or by default the only ones that there are.
fn has_lengths(py: Python<'_>, graph: &outcore::Graph, name: Option<&str>) -> PyResult<bool> {
    let Some(name) = name else { return Ok(false) };
    outcore::has_lengths(graph, Some(name).filter(|&name| name != "weight")).map_err(|error| raise(py, error))
}

/// See `outcore.pagerank`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "those of the Python function")]
pub fn pagerank(
    py: Python<'_>,
    graph: &PyGraph,
    alpha: f64,
    tol: f64,
    stop: &str,
    max_iter: Whole<u32>,
    method: &str,
    weight: Option<&str>,
    dangling: &str,
    verify: bool,
) -> PyResult<Py<PageRank>> {
    let graph = graph.open(py)?;
    let stop = choose(py, "stop", stop)?;
    let method = choose(py, "method", method)?;
    let dangling = choose(py, "dangling", dangling)?;
    let weights = has_weights(py, &graph, weight)?;
    let options = PageRankOptions { alpha, tol, stop, max_iter: max_iter.0, method, dangling, weights };
    let found = graph.run(py, || {
        outcore::estimate_pagerank(&graph, &options).check_result(&graph, verify)?;
        let found = outcore::pagerank(&graph, &options)?;
        if verify {
            verify::verify_pagerank(&graph, &options, &found)?;
        }
        Ok(found)
    })?;
    let ranks = vec![("pagerank", Column::Real(Arc::new(found.ranks)))];
    let convergence = PageRank::new(found.iterations, found.residual, found.stopped_by);
    let table = made(py, graph, ranks, &found.stats, convergence)?;
    converged_or_error(py, table, tol)
}

/// See `outcore.personalized_pagerank`: seeds are the ids of each set with their shares.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "those of the Python function")]
pub fn personalized_pagerank(
    py: Python<'_>,
    graph: &PyGraph,
    seeds: Vec<Vec<(Bound<'_, PyAny>, f64)>>,
    alpha: f64,
    tol: f64,
    stop: &str,
    max_iter: Whole<u32>,
    weight: Option<&str>,
    verify: bool,
) -> PyResult<Py<PageRank>> {
    let graph = graph.open(py)?;
    let stop = choose(py, "stop", stop)?;
    let set = |set: &Vec<(Bound<'_, PyAny>, f64)>| set.iter().map(|(id, share)| Ok((id_text(id)?, *share))).collect();
    let sets: Vec<Vec<(String, f64)>> = seeds.iter().map(set).collect::<PyResult<_>>()?;
    let weights = has_weights(py, &graph, weight)?;
    let mut found = graph.run(py, || {
        let seeds = outcore::seeds_of_ids(&graph, &sets)?;
        let options = PersonalizedPageRankOptions { seeds, alpha, tol, stop, max_iter: max_iter.0, weights };
        outcore::estimate_personalized_pagerank(&graph, &options).check_result(&graph, verify)?;
        let found = outcore::personalized_pagerank(&graph, &options)?;
        if verify {
            verify::verify_personalized_pagerank(&graph, &options, &found)?;
        }
        Ok(found)
    })?;
    let convergence = PageRank::new(found.iterations, found.residual, found.stopped_by);
    let columns = found.take_columns();
    let columns = columns.iter().map(|(name, column)| (name.as_str(), column.clone())).collect();
    let table = made(py, graph, columns, &found.stats, convergence)?;
    converged_or_error(py, table, tol)
}

/// The ranks, or an error that has them.
fn converged_or_error(py: Python<'_>, table: Py<PageRank>, tol: f64) -> PyResult<Py<PageRank>> {
    let PageRank { iterations, residual, converged, .. } = *table.get();
    // A tolerance of 0 asks for so many iterations, not for convergence.
    if converged || tol == 0.0 {
        return Ok(table);
    }
    let last = match iterations {
        0 => "the ranks are those that it starts with".to_owned(),
        _ => format!("the last one changed them by {residual:e} in all"),
    };
    let text = format!(
        "the ranks did not converge to a tolerance of {tol:e} within {iterations} iterations ({last}); raise \
         max_iter or tol, or take this error's `result`"
    );
    let error = exception(py, "ConvergenceError", &text)?;
    error.setattr("result", table)?;
    Err(PyErr::from_value(error))
}

/// See `outcore.components`.
#[pyfunction]
pub fn components(py: Python<'_>, graph: &PyGraph, verify: bool) -> PyResult<Py<Components>> {
    let graph = graph.open(py)?;
    let found = graph.run(py, || {
        outcore::estimate_components(&graph).check_result(&graph, verify)?;
        let found = outcore::components(&graph, &ComponentsOptions::default())?;
        if verify {
            verify::verify_components(&graph, &found)?;
        }
        Ok(found)
    })?;
    labelled(py, graph, found)
}

/// See `outcore.strong_components`.
#[pyfunction]
pub fn strong_components(py: Python<'_>, graph: &PyGraph, verify: bool) -> PyResult<Py<Components>> {
    let graph = graph.open(py)?;
    let found = graph.run(py, || {
        outcore::estimate_strong_components(&graph).check_result(&graph, verify)?;
        let found = outcore::strong_components(&graph, &StrongComponentsOptions::default())?;
        if verify {
            verify::verify_strong_components(&graph, &found)?;
        }
        Ok(found)
    })?;
    labelled(py, graph, found)
}

fn labelled(py: Python<'_>, graph: Opened, found: outcore::Components) -> PyResult<Py<Components>> {
    let labels = vec![("component", Column::Component(Arc::new(found.labels)))];
    made(py, graph, labels, &found.stats, Components { count: found.count })
}

/// See `outcore.core_number`.
#[pyfunction]
pub fn core_number(py: Python<'_>, graph: &PyGraph, verify: bool) -> PyResult<Py<CoreNumbers>> {
    let graph = graph.open(py)?;
    let found = graph.run(py, || {
        outcore::estimate_core_number(&graph).check_result(&graph, verify)?;
        let found = outcore::core_number(&graph, &CoreNumbersOptions::default())?;
        if verify {
            verify::verify_core_number(&graph, &found)?;
        }
        Ok(found)
    })?;
    let cores = vec![("core", Column::Number(Arc::new(found.cores)))];
    made(py, graph, cores, &found.stats, CoreNumbers { max_core: found.max_core })
}

/// See `outcore.label_propagation`.
#[pyfunction]
pub fn label_propagation(
    py: Python<'_>,
    graph: &PyGraph,
    max_iter: Whole<u32>,
    verify: bool,
) -> PyResult<Py<LabelPropagation>> {
    let graph = graph.open(py)?;
    let options = LabelPropagationOptions { max_iter: max_iter.0 };
    let found = graph.run(py, || {
        outcore::estimate_label_propagation(&graph, &options).check_result(&graph, verify)?;
        let found = outcore::label_propagation(&graph, &options)?;
        if verify {
            verify::verify_label_propagation(&graph, &options, &found)?;
        }
        Ok(found)
    })?;
    let labels = vec![("label", Column::Label(Arc::new(found.labels)))];
    let (count, iterations, converged) = (found.count, found.iterations, found.converged);
    made(py, graph, labels, &found.stats, LabelPropagation { count, iterations, converged })
}

/// See `outcore.triangles`.
#[pyfunction]
pub fn triangles(py: Python<'_>, graph: &PyGraph, verify: bool) -> PyResult<Py<Triangles>> {
    let graph = graph.open(py)?;
    let found = graph.run(py, || {
        outcore::estimate_triangles(&graph).check_result(&graph, verify)?;
        let found = outcore::triangles(&graph, &TrianglesOptions::default())?;
        if verify {
            verify::verify_triangles(&graph, &found)?;
        }
        Ok(found)
    })?;
    let counts = vec![("triangles", Column::Count(Arc::new(found.counts)))];
    made(py, graph, counts, &found.stats, Triangles { total: found.total })
}

/// See `outcore.clustering`.
#[pyfunction]
pub fn clustering(py: Python<'_>, graph: &PyGraph, verify: bool) -> PyResult<Py<Clustering>> {
    let graph = graph.open(py)?;
    let found = graph.run(py, || {
        outcore::estimate_clustering(&graph).check_result(&graph, verify)?;
        let found = outcore::clustering(&graph, &ClusteringOptions::default())?;
        if verify {
            verify::verify_clustering(&graph, &found)?;
        }
        Ok(found)
    })?;
    let coefficients = vec![("clustering", Column::Real(Arc::new(found.coefficients)))];
    let (average, transitivity) = (found.average, found.transitivity);
    made(py, graph, coefficients, &found.stats, Clustering { average, transitivity })
}

/// See `outcore.scan_statistics`.
#[pyfunction]
pub fn scan_statistics(py: Python<'_>, graph: &PyGraph, top: Whole<u64>, verify: bool) -> PyResult<Py<ScanStatistics>> {
    let graph = graph.open(py)?;
    let options = ScanStatisticsOptions { top: top.0 };
    let (found, column, ids) = graph.run(py, || {
        outcore::estimate_scan_statistics(&graph, &options).check_result(&graph, verify)?;
        let found = outcore::scan_statistics(&graph, &options)?;
        if verify {
            verify::verify_scan_statistics(&graph, &options, &found)?;
        }
        let ids = graph.ids(&found.vertices)?;
        let column = found.column(&graph)?;
        Ok((found, column, ids))
    })?;
    let added =
        ScanStatistics { vertices: id_list(py, &ids)?, statistics: found.statistics, looked_at: found.looked_at };
    made(py, graph, vec![("edges", column)], &found.stats, added)
}

/// See `outcore.lcc`.
#[pyfunction]
pub fn lcc(py: Python<'_>, graph: &PyGraph, verify: bool) -> PyResult<Py<Lcc>> {
    let graph = graph.open(py)?;
    let found = graph.run(py, || {
        outcore::estimate_lcc(&graph).check_result(&graph, verify)?;
        let found = outcore::lcc(&graph, &LccOptions::default())?;
        if verify {
            verify::verify_lcc(&graph, &found)?;
        }
        Ok(found)
    })?;
    let coefficients = vec![("lcc", Column::Real(Arc::new(found.coefficients)))];
    made(py, graph, coefficients, &found.stats, Lcc { average: found.average })
}

/// The most sources and sets of seeds that an estimate is made of: a run of so many would take years.
const MOST_SOURCES: u64 = 1 << 28;
const MOST_SETS: u64 = 1 << 20;

/// What `outcore.estimate` is told of the options of an algorithm.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct EstimateSettings {
    max_iter: Option<Whole<u32>>,
    method: String,
    weight: Option<String>,
    k: Option<Whole<u64>>,
    targets: u64,
    output: bool,
    verify: bool,
}

/// See `outcore.estimate`: memory and state in bytes, passes, bytes read, and what is known of the passes.
#[pyfunction]
pub fn estimate(
    py: Python<'_>,
    algorithm: &str,
    graph: &PyGraph,
    options: &Bound<'_, PyDict>,
) -> PyResult<(u64, u64, f64, u64, &'static str)> {
    let graph = graph.open(py)?;
    let settings: EstimateSettings = settings(options)?;
    let mut found = estimate_of(py, algorithm, &graph, &settings)?;
    if settings.output {
        found = found.with_output(&graph);
    }
    if settings.verify {
        found = found.with_verification(&graph);
    }
    Ok((found.memory_bytes, found.state_bytes, found.passes, found.read_bytes, found.bound.words()))
}

/// How many sources or sets of seeds there will be, which an estimate makes a list of.
fn counted(py: Python<'_>, algorithm: &str, k: Option<u64>) -> PyResult<Option<u64>> {
    let most = match algorithm {
        "multi_source_bfs" => MOST_SOURCES,
        "personalized_pagerank" => MOST_SETS,
        _ => u64::MAX,
    };
    match k {
        Some(k) if k > most => Err(usage(py, format!("expected k from 1 to {most}, found {k}"))),
        k => Ok(k),
    }
}

fn estimate_of(
    py: Python<'_>,
    algorithm: &str,
    graph: &outcore::Graph,
    settings: &EstimateSettings,
) -> PyResult<Estimate> {
    let k = counted(py, algorithm, settings.k.as_ref().map(|k| k.0))?;
    let (weight, max_iter) = (settings.weight.as_deref(), settings.max_iter.as_ref().map(|most| most.0));
    let drawn = k.map(|k| Sources::Drawn { k, seed: 0 });
    let some = |count: u64| vec![0; count as usize];
    Ok(match algorithm {
        "bfs" => outcore::estimate_bfs(graph),
        "multi_source_bfs" => {
            let (sources, targets) = (some(k.unwrap_or(1)), some(settings.targets));
            let options = MultiSourceBfsOptions { sources, targets, ..MultiSourceBfsOptions::default() };
            outcore::estimate_multi_source_bfs(graph, &options)
        }
        "all_pairs" => {
            let options = drawn.map_or_else(AllPairsOptions::default, |sources| AllPairsOptions { sources });
            outcore::estimate_all_pairs(graph, &options)
        }
        "betweenness_centrality" => {
            let sources = drawn.unwrap_or(Sources::All);
            let options = BetweennessOptions { sources, ..BetweennessOptions::default() };
            outcore::estimate_betweenness_centrality(graph, &options)
        }
        "sssp" => {
            let weights = has_lengths(py, graph, weight)?;
            outcore::estimate_sssp(graph, &SsspOptions { source: 0, weights, delta: None })
        }
        "pagerank" => {
            let method = choose(py, "method", &settings.method)?;
            let weights = has_weights(py, graph, weight)?;
            let options = PageRankOptions { method, weights, ..PageRankOptions::default() };
            let max_iter = max_iter.unwrap_or(options.max_iter);
            outcore::estimate_pagerank(graph, &PageRankOptions { max_iter, ..options })
        }
        "personalized_pagerank" => {
            let weights = has_weights(py, graph, weight)?;
            let seeds = vec![Vec::new(); k.unwrap_or(1) as usize];
            let options = PersonalizedPageRankOptions { seeds, weights, ..PersonalizedPageRankOptions::default() };
            let max_iter = max_iter.unwrap_or(options.max_iter);
            outcore::estimate_personalized_pagerank(graph, &PersonalizedPageRankOptions { max_iter, ..options })
        }
        "components" => outcore::estimate_components(graph),
        "strong_components" => outcore::estimate_strong_components(graph),
        "core_number" => outcore::estimate_core_number(graph),
        "label_propagation" => {
            let max_iter = max_iter.unwrap_or(LabelPropagationOptions::default().max_iter);
            outcore::estimate_label_propagation(graph, &LabelPropagationOptions { max_iter })
        }
        "triangles" => outcore::estimate_triangles(graph),
        "clustering" => outcore::estimate_clustering(graph),
        "scan_statistics" => {
            let options = k.map_or_else(ScanStatisticsOptions::default, |top| ScanStatisticsOptions { top });
            outcore::estimate_scan_statistics(graph, &options)
        }
        "lcc" => outcore::estimate_lcc(graph),
        other => return Err(raise(py, outcore::Error::Usage(format!("expected an algorithm, found '{other}'")))),
    })
}

/// The number of bytes that a number or a text is.
#[pyfunction]
pub fn parse_bytes(given: Bytes) -> u64 {
    given.0
}

/// A number of bytes as people read it.
#[pyfunction]
pub fn bytes_text(bytes: u64) -> String {
    outcore::io::bytes_text(bytes)
}
