//! The algorithms, as the engine declares them: what Python makes functions and classes of, and their runs.

use crate::columns::{Distances, Path};
use crate::convert::{id_list, id_text};
use crate::errors::{exception, raise, usage};
use crate::graph::PyGraph;
use crate::result::{PyTable, report_of};
use crate::runtime::{log_and_warn, run, run_sampled};
use outcore::front_ends::{
    ALGORITHMS, Algorithm, Datum, Declared, DefaultValue, GraphValues, Kind, OptionValues, Parameter, Unconverged,
    Value, option_of,
};
use outcore::report::{OptionText, Planned, Summary};
use outcore::{Graph, Id, Result};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};
use std::path;
use std::sync::{Arc, Mutex};

/// The declarations of all algorithms, as dicts.
#[pyfunction]
pub fn algorithms(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let declared = |algorithm: &&Algorithm| {
        let dict = PyDict::new(py);
        dict.set_item("name", algorithm.name)?;
        dict.set_item("aliases", algorithm.aliases)?;
        dict.set_item("class", algorithm.class)?;
        dict.set_item("summary", algorithm.summary)?;
        dict.set_item("counted", algorithm.counted)?;
        dict.set_item("must_converge", algorithm.must_converge)?;
        let doc = &algorithm.doc;
        dict.set_item("about", doc.about)?;
        dict.set_item("returns", doc.returns)?;
        dict.set_item("cost", doc.cost)?;
        dict.set_item("refuses", doc.refuses)?;
        dict.set_item("differences", doc.differences)?;
        dict.set_item("networkx", doc.networkx.map(|oracle| (oracle.options, oracle.expression)))?;
        dict.set_item("references", doc.references)?;
        dict.set_item("example", doc.example)?;
        let options = algorithm.options.iter().map(|option| described(py, option)).collect::<PyResult<Vec<_>>>()?;
        dict.set_item("options", options)?;
        let attributes = algorithm.attributes.iter().map(|a| (a.name, format!("{:?}", a.kind).to_lowercase(), a.help));
        dict.set_item("attributes", attributes.collect::<Vec<_>>())?;
        Ok(dict)
    };
    PyList::new(py, ALGORITHMS.iter().map(declared).collect::<PyResult<Vec<_>>>()?)
}

/// An option as a dict.
pub fn described<'py>(py: Python<'py>, option: &Parameter) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let mut choices = Vec::new();
    let (kind, bits) = match option.kind {
        Kind::Whole { bits, .. } => ("whole", bits),
        Kind::Real => ("real", 0),
        Kind::Reals => ("reals", 0),
        Kind::Column => ("column", 0),
        Kind::Flag => ("flag", 0),
        Kind::Choice(names) => {
            choices = names();
            ("choice", 0)
        }
        Kind::Vertex => ("vertex", 0),
        Kind::Vertices => ("vertices", 0),
        Kind::Seeds => ("seeds", 0),
        Kind::Weight { .. } => ("weight", 0),
    };
    dict.set_item("name", option.name)?;
    dict.set_item("aliases", option.aliases)?;
    dict.set_item("kind", kind)?;
    dict.set_item("bits", bits)?;
    dict.set_item("choices", choices)?;
    dict.set_item("help", option.help)?;
    dict.set_item("is_required", option.default == DefaultValue::Required)?;
    dict.set_item("is_positional", option.is_positional || option.default == DefaultValue::Required)?;
    match option.default {
        DefaultValue::Required | DefaultValue::None => dict.set_item("default", py.None())?,
        DefaultValue::Whole(value) => dict.set_item("default", value)?,
        DefaultValue::Real(value) => dict.set_item("default", value)?,
        DefaultValue::Flag(value) => dict.set_item("default", value)?,
        DefaultValue::Name(value) => dict.set_item("default", value)?,
    }
    Ok(dict)
}

/// The options that differ from their defaults, as the engine takes them. Their types have been checked.
pub fn values_of(declared: &impl Declared, given: &Bound<'_, PyDict>) -> PyResult<Vec<(&'static str, Value)>> {
    let (mut values, signature) = (Vec::new(), declared.signature());
    for (name, found) in given {
        let option = option_of(signature.name, signature.options, &name.extract::<String>()?);
        let option = option.map_err(|error| raise(given.py(), error))?;
        let value = match option.kind {
            Kind::Weight { .. } if found.is_none() => Value::Unweighted,
            _ if found.is_none() => continue,
            Kind::Whole { .. } => Value::Whole(found.extract()?),
            Kind::Real => Value::Real(found.extract()?),
            Kind::Reals => Value::Reals(found.extract()?),
            Kind::Flag => Value::Flag(found.extract()?),
            Kind::Choice(_) | Kind::Column | Kind::Weight { .. } => Value::Name(found.extract()?),
            Kind::Vertex => Value::Vertex(id_text(&found)?),
            Kind::Vertices => Value::Vertices(found.try_iter()?.map(|id| id_text(&id?)).collect::<PyResult<_>>()?),
            Kind::Seeds => {
                let sets: Vec<Vec<(Bound<'_, PyAny>, f64)>> = found.extract()?;
                let seed = |(id, share): &(Bound<'_, PyAny>, f64)| Ok((id_text(id)?, *share));
                let sets = sets.iter().map(|set| set.iter().map(seed).collect());
                Value::Seeds(sets.collect::<PyResult<_>>()?)
            }
        };
        values.push((option.name, value));
    }
    Ok(values)
}

fn named(py: Python<'_>, name: &str) -> PyResult<&'static Algorithm> {
    Algorithm::named(name).ok_or_else(|| usage(py, format!("expected an algorithm, found '{name}'")))
}

/// The value of an attribute of a result.
enum Slot {
    Object(Py<PyAny>),
    Path(Option<Path>),
    Distances(Distances),
}

/// The result of an algorithm: a table, and attributes of its own.
#[pyclass(frozen, subclass, extends = PyTable, module = "outcore")]
pub struct AlgorithmResult {
    attributes: Vec<Slot>,
}

/// A result before it has its class.
#[pyclass(frozen, module = "outcore._outcore")]
pub struct Raw(Mutex<Option<(PyTable, Vec<Slot>)>>);

#[pymethods]
impl AlgorithmResult {
    #[new]
    fn new(py: Python<'_>, raw: &Bound<'_, Raw>) -> PyResult<PyClassInitializer<Self>> {
        let Some((table, attributes)) = outcore::io::lock(&raw.get().0).take() else {
            return Err(usage(py, "expected a new result, found one that was taken"));
        };
        Ok(PyClassInitializer::from(table).add_subclass(AlgorithmResult { attributes }))
    }

    /// The attribute at this place of the declaration.
    fn _attribute(slf: &Bound<'_, Self>, place: usize) -> PyResult<Py<PyAny>> {
        let (py, graph) = (slf.py(), slf.as_super().get().table.image());
        match &slf.get().attributes[place] {
            Slot::Object(value) => Ok(value.clone_ref(py)),
            Slot::Path(None) => Ok(py.None()),
            Slot::Path(Some(path)) => path.list(py, graph).map(Py::into_any),
            Slot::Distances(distances) => distances.array(py, graph),
        }
    }
}

/// An attribute of the result of a run over this graph; `ids` has those of the vertices of each that names some.
fn slot(
    py: Python<'_>,
    graph: &Graph,
    datum: Datum,
    ids: &mut impl Iterator<Item = Vec<Id<String>>>,
) -> PyResult<Slot> {
    let object = match datum {
        Datum::Path(path) => {
            let path = path.map(|vertices| Path::new(graph.image(), vertices)).transpose();
            return Ok(Slot::Path(path.map_err(|error| raise(py, error))?));
        }
        Datum::Distances { levels, sources, targets } => {
            return Ok(Slot::Distances(Distances::new(levels, (sources, targets))));
        }
        Datum::Vertices(vertices) => {
            let ids = vertices.and_then(|_| ids.next());
            ids.map(|ids| id_list(py, &ids)).transpose()?.into_py_any(py)?
        }
        Datum::Whole(value) => value.into_py_any(py)?,
        Datum::Wholes(values) => PyList::new(py, values)?.into_py_any(py)?,
        Datum::Bounds(least, most) => (least, most).into_py_any(py)?,
        Datum::Real(value) => value.into_py_any(py)?,
        Datum::Flag(value) => value.into_py_any(py)?,
        Datum::Text(value) => value.into_py_any(py)?,
    };
    Ok(Slot::Object(object))
}

/// A warning at the line that calls a function of the module: behind it are the check of its options, the function
/// itself, and what all of them share.
fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    const CALLERS: i32 = 4;
    log_and_warn(py, text, CALLERS)
}

/// Runs an algorithm with the options that differ from their defaults; `class_` is that of its result.
#[pyfunction]
pub fn run_algorithm(
    py: Python<'_>,
    name: &str,
    class_: &Bound<'_, PyType>,
    graph: &PyGraph,
    options: &Bound<'_, PyDict>,
    verify: bool,
) -> PyResult<Py<PyAny>> {
    let (algorithm, graph) = (named(py, name)?, graph.open(py)?);
    let given = values_of(algorithm, options)?;
    let options = OptionText::all(algorithm.options, &given);
    let values = OptionValues::new(algorithm, given).map_err(|error| raise(py, error))?;
    let graph = run(py, &graph.runtime().clone(), || values.weighing(graph))?;
    if let Some(note) = values.unused_weights(algorithm, &graph) {
        warn(py, &note)?;
    }
    let ((found, table, plan), samples) = run_sampled(py, graph.runtime(), || {
        let plan = algorithm.plan(&graph, values)?;
        let estimate = plan.estimate(&graph);
        estimate.check_result(&graph, verify, None)?;
        let mut found = plan.run(&graph, verify, None)?;
        let table = graph.table(std::mem::take(&mut found.columns)).made_by(algorithm.name, plan.values());
        Ok((found, table, Planned::from(&estimate)))
    })?;
    let ids = run(py, graph.runtime(), || {
        let named = found.attributes.iter().filter_map(|datum| match datum {
            Datum::Vertices(vertices) => vertices.as_ref(),
            _ => None,
        });
        named.map(|vertices| graph.ids_of(vertices)).collect::<Result<Vec<_>>>()
    })?;
    let mut lists = ids.iter();
    let first = |vertices: &[u32]| Ok(lists.next().map_or(Vec::new(), |ids| ids[..vertices.len()].to_vec()));
    let summary = Summary::of_attributes(algorithm, &found.attributes, first).map_err(|error| raise(py, error))?;
    let ranked = found.shown.first().map(|(_, column)| table.columns()[*column].0.clone());
    let mut ids = ids.into_iter();
    let attributes = found.attributes.into_iter().map(|datum| slot(py, &graph, datum, &mut ids));
    let attributes = attributes.collect::<PyResult<Vec<_>>>()?;
    let report = report_of(&graph, algorithm.name, options, (plan, found.stats, samples), summary);
    let table = PyTable::new(table, Arc::new(report), ranked);
    let result = class_.call1((Raw(Mutex::new(Some((table, attributes)))),))?.unbind();
    match found.unconverged {
        None => Ok(result),
        Some(unconverged) => Err(not_converged(py, result, unconverged)?),
    }
}

/// The error that has ranks which did not converge.
fn not_converged(py: Python<'_>, result: Py<PyAny>, found: Unconverged) -> PyResult<PyErr> {
    let Unconverged { tol, residual, iterations, remedy } = found;
    let advice = remedy.advice(str::to_owned);
    let last = match iterations {
        0 => "the ranks are those that it starts with".to_owned(),
        _ => format!("the last one changed them by {residual:e} in all"),
    };
    let text = format!(
        "the ranks did not converge to a tolerance of {tol:e} within {iterations} iterations ({last}); \
         {advice}, or take this error's `result`"
    );
    let error = exception(py, "ConvergenceError", &text)?;
    error.setattr("result", result)?;
    Ok(PyErr::from_value(error))
}

/// See `outcore.estimate`: memory and state in bytes, passes, bytes read, and what is known of the passes.
#[pyfunction]
pub fn estimate(
    py: Python<'_>,
    name: &str,
    graph: &PyGraph,
    options: &Bound<'_, PyDict>,
    k: Option<u64>,
    output: bool,
    verify: bool,
) -> PyResult<(u64, u64, f64, u64, &'static str)> {
    let (algorithm, graph) = (named(py, name)?, graph.open(py)?);
    let values =
        OptionValues::of_estimate(algorithm, values_of(algorithm, options)?, k).map_err(|error| raise(py, error))?;
    let found = run(py, &graph.runtime().clone(), || {
        let graph = values.weighing(graph)?;
        let mut found = algorithm.plan(&graph, values)?.estimate(&graph);
        if output {
            // No other format takes more.
            let output_bytes = graph.output_bytes(path::Path::new("result.parquet"), &found.columns)?;
            found = found.with_output(&graph, output_bytes);
        }
        Ok(if verify { found.with_verification(&graph) } else { found })
    })?;
    Ok((found.memory_bytes, found.state_bytes, found.passes, found.read_bytes, found.bound.words()))
}

/// The number of bytes that a text such as `512MiB` means.
#[pyfunction]
pub fn parse_bytes(py: Python<'_>, text: &str) -> PyResult<u64> {
    outcore::io::parse_bytes(text).map_err(|error| usage(py, error))
}

/// Whether the edges of a graph, which have no direction, join two sets of vertices.
#[pyfunction]
pub fn is_bipartite(py: Python<'_>, graph: &PyGraph) -> PyResult<bool> {
    let graph = graph.open(py)?;
    run(py, &graph.runtime().clone(), || Ok(outcore::two_colours(&graph)?.is_bipartite))
}

/// A number of bytes as people read it.
#[pyfunction]
pub fn bytes_text(bytes: u64) -> String {
    outcore::io::bytes_text(bytes)
}
