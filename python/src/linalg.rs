//! The solvers of `outcore.linalg`, which is a module of Python's.

use crate::algorithms::{described, values_of};
use crate::columns::{keep, set_aside};
use crate::errors::{raise, usage};
use crate::matrix::{PyMatrix, costs};
use crate::page::PyRun;
use crate::runtime::{run, run_sampled};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadwriteArray2};
use outcore::data::DenseHeader;
use outcore::front_ends::{Fact, OptionValues, least_limit, named};
use outcore::io::Sample;
use outcore::linalg::{self, SOLVERS, SolverInput, Vectors};
use outcore::report::Planned;
use outcore::{Graph, Stats};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

const VECTORS: &str = "vectors as a NumPy array";

/// An error, before hours of work, if the result will have no room.
pub(crate) fn require_room(py: Python<'_>, matrix: &PyMatrix, rows: u64, count: usize) -> PyResult<()> {
    let bytes = rows.saturating_mul(8 * count as u64);
    matrix.matrix.graph().make_room(VECTORS, bytes).map_err(|error| raise(py, error))
}

/// An array of Python's that `write` fills: the one that was given, or a new one whose memory is set aside for as long
/// as it lives.
fn filled<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    shape: [usize; 2],
    out: Option<PyReadwriteArray2<'py, f64>>,
    write: impl FnOnce(&mut [f64]) -> outcore::Result<()> + Send,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let graph = matrix.matrix.graph().for_operation(None);
    let mut out = match out {
        Some(out) => out,
        None => {
            let reservation = set_aside(py, graph.image(), VECTORS, 8 * (shape[0] * shape[1]) as u64)?;
            let array = PyArray2::zeros(py, shape, false);
            keep(array.as_any(), reservation)?;
            array.readwrite()
        }
    };
    let numbers = out.as_slice_mut()?;
    run(py, graph.runtime(), || write(numbers))?;
    Ok((**out).clone())
}

/// Vectors as an array of Python's: the one that was given, or a new one.
pub(crate) fn delivered<'py>(
    py: Python<'py>,
    matrix: &PyMatrix,
    vectors: &mut Vectors,
    out: Option<PyReadwriteArray2<'py, f64>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (rows, count) = vectors.shape();
    if out.is_none() {
        vectors.leave(8 * (rows * count) as u64).map_err(|error| raise(py, error))?;
    }
    filled(py, matrix, [rows, count], out, |numbers| vectors.write(numbers))
}

/// The declarations of all solvers, as dicts.
#[pyfunction]
pub fn solvers(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let declared = |solver: &&linalg::SolverDeclaration| {
        let dict = PyDict::new(py);
        dict.set_item("name", solver.name)?;
        dict.set_item("has_checkpoints", solver.has_checkpoints)?;
        let options = solver.options.iter().map(|option| described(py, option)).collect::<PyResult<Vec<_>>>()?;
        dict.set_item("options", options)?;
        Ok(dict)
    };
    SOLVERS.iter().map(declared).collect()
}

/// Runs a solver that needs no files beside its matrix: the facts of the run; its values as columns, by their names;
/// and, unless they are not wanted, the result of rows as `vectors`, and that of columns as `right`. The parts of
/// complex vectors are side by side. `out` takes the result of rows.
#[pyfunction]
#[pyo3(signature = (name, matrix, options, *, checkpoint=None, vectors=true, out=None))]
pub fn run_solver<'py>(
    py: Python<'py>,
    name: &str,
    matrix: &PyMatrix,
    options: &Bound<'py, PyDict>,
    checkpoint: Option<PathBuf>,
    vectors: bool,
    out: Option<PyReadwriteArray2<'py, f64>>,
) -> PyResult<Bound<'py, PyDict>> {
    let solver = named(SOLVERS, name).ok_or_else(|| usage(py, format!("expected a solver, found '{name}'")))?;
    let values = OptionValues::new(solver, values_of(solver, options)?).map_err(|error| raise(py, error))?;
    let given = SolverInput { values, inputs: Vec::new(), output: None, checkpoint };
    let (has_out, sparse) = (out.is_some(), &matrix.for_operation(py));
    let graph = sparse.graph();
    let ((found, planned), samples) = run_sampled(py, graph.runtime(), || {
        let plan = (solver.plan)(sparse, given)?;
        let needs = plan.needs(sparse)?;
        let mut all = ("the run", needs.least_bytes);
        if vectors {
            let arrays = needs.shapes.iter().skip(usize::from(has_out)).map(numbers_bytes);
            let giving_bytes = needs.shapes.iter().map(DenseHeader::giving_bytes).max().unwrap_or(0);
            let bytes = arrays.fold(needs.results_bytes + giving_bytes, u64::saturating_add);
            all = if bytes > all.1 { (VECTORS, bytes) } else { all };
        }
        graph.make_room(all.0, all.1)?;
        let memory_bytes = least_limit(graph, all.1);
        let planned = Planned::of_solver(memory_bytes, needs.least_bytes, &needs.passes, needs.columns_per_pass);
        Ok((plan.run(sparse, false)?, planned))
    })?;
    let facts = PyDict::new(py);
    facts.set_item("stats", costs(py, &found.stats)?)?;
    facts.set_item("run", PyRun::of_graph(graph, (planned, found.stats.clone(), samples)))?;
    found.facts.iter().try_for_each(|(name, fact)| set_fact(&facts, name, fact))?;
    for (name, numbers) in &found.values {
        facts.set_item(name, PyArray1::from_slice(py, numbers))?;
    }
    let mut results = if vectors { found.dense } else { Vec::new() };
    for (name, out) in ["vectors", "right"].into_iter().zip([out, None]) {
        let Some(shape) = results.first().map(|dense| dense.shape.clone()) else { break };
        let bytes = shape.giving_bytes() + if out.is_none() { numbers_bytes(&shape) } else { 0 };
        results.iter_mut().try_for_each(|dense| dense.leave(bytes)).map_err(|error| raise(py, error))?;
        let (dense, shape) = (results.remove(0), [shape.vertices.clone().count(), shape.names.len()]);
        facts.set_item(name, filled(py, matrix, shape, out, |numbers| dense.copy_to(numbers))?)?;
    }
    Ok(facts)
}

/// Bytes of the numbers of a dense matrix.
fn numbers_bytes(shape: &DenseHeader) -> u64 {
    (shape.vertices.end - shape.vertices.start).saturating_mul(8 * shape.names.len() as u64)
}

/// Sets a fact of a result.
fn set_fact(facts: &Bound<'_, PyDict>, name: &str, fact: &Fact) -> PyResult<()> {
    match fact {
        Fact::Whole(number) => facts.set_item(name, number),
        Fact::Real(number) => facts.set_item(name, number),
        Fact::Flag(flag) => facts.set_item(name, flag),
        Fact::Text(text) => facts.set_item(name, text),
        Fact::Names(names) => facts.set_item(name, names),
        Fact::Array(numbers, shape) => {
            facts.set_item(name, PyArray1::from_slice(facts.py(), numbers).reshape(&**shape)?)
        }
    }
}

/// Facts of every result: the number of vectors multiplied, the statistics, and the run for its page.
pub(crate) fn facts<'py>(
    py: Python<'py>,
    graph: &Graph,
    products: u64,
    (stats, samples): (&Stats, Vec<Sample>),
) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("products", products)?;
    facts.set_item("stats", costs(py, stats)?)?;
    facts.set_item("run", PyRun::of_graph(graph, (Planned::default(), stats.clone(), samples)))?;
    Ok(facts)
}
