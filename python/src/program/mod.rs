//! Vertex programs whose functions Numba compiled: they are called as C functions, without the interpreter's lock.
//!
//! **Invariant:** the addresses that `vertex_program` is given are those of functions with the signatures that
//! `python/outcore/_graphs/program.py` compiles them with; it keeps them, and the states that they know of, alive until
//! `vertex_program` returns. A handle is alive while the function runs that it was given to.

mod calls;
mod functions;

use crate::convert::id_text;
use crate::errors::raise;
use crate::graph::PyGraph;
use crate::result::{PyTable, report_of};
use crate::runtime::{run_sampled, settings};
use functions::{Functions, Program, reals_bytes};
use numpy::{Element, PyReadonlyArray1};
use outcore::engine::{Frontier, ProgramOptions, run_program};
use outcore::io::{Buffer, Raw, into_inner};
use outcore::report::{Planned, Summary};
use outcore::{Column, Graph};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};
use serde_json::json;
use std::sync::Arc;

pub use calls::program_symbols;
pub use functions::program_raised;

/// The result of `vertex_program`: columns `vertex` and the fields of the states.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct ProgramResult {
    /// The number of iterations.
    #[pyo3(get)]
    iterations: u32,
    /// Whether it ended because no vertex was active and no message under way.
    #[pyo3(get)]
    finished: bool,
    /// The number of messages, those to many vertices counted once.
    #[pyo3(get)]
    messages: u64,
    /// The bytes of messages that went to temporary files.
    #[pyo3(get)]
    spilled_bytes: u64,
}

/// The compiled functions, by their addresses, and how the program is run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Settings {
    run: usize,
    on_list: Option<usize>,
    on_message: Option<usize>,
    on_iteration_end: Option<usize>,
    combine: Option<usize>,
    priority: Option<usize>,
    weights: bool,
    state: usize,
    state_bytes: u64,
    /// Number of columns of the result.
    columns: u64,
    max_iter: Option<u32>,
    asynchronous: bool,
    message_memory: Option<u64>,
    start: Option<Vec<Py<PyAny>>>,
    end_iteration: Option<Py<PyAny>>,
}

/// See `outcore.vertex_program`. `columns` returns an iterator over the names and the values of the columns of the
/// result, once the program has ended.
#[pyfunction]
pub fn vertex_program(
    py: Python<'_>,
    graph: &PyGraph,
    given: &Bound<'_, PyDict>,
    columns: &Bound<'_, PyAny>,
) -> PyResult<Py<ProgramResult>> {
    let (graph, mut given) = (graph.open(py)?, settings::<Settings>(given)?);
    let start: Option<Vec<String>> =
        given.start.take().map(|ids| ids.iter().map(|id| id_text(id.bind(py))).collect()).transpose()?;
    let functions = Functions::of(py, &given, graph.vertices());
    let found = run_sampled(py, graph.runtime(), || {
        let mut start = start.map(|ids| graph.vertices_of(&ids)).transpose()?;
        if let Some(vertices) = &mut start {
            vertices.sort_unstable();
            vertices.dedup();
        }
        // The states are Python's when the program has ended; what the result takes must be there then.
        graph.make_room("the result of a vertex program", 8 * graph.vertices() * given.columns)?;
        let purpose = "the states of a vertex program";
        graph.make_room(purpose, given.state_bytes)?;
        let _states = graph.runtime().budget().reserve(purpose, given.state_bytes)?;
        let reals_bytes = if given.weights { reals_bytes(&graph)? } else { 0 };
        let _reals = graph.reserve("weights of lists as real numbers", reals_bytes)?;
        let options = ProgramOptions {
            start: start.as_deref().map_or(Frontier::All, Frontier::List),
            max_iterations: given.max_iter,
            asynchronous: given.asynchronous,
            message_bytes: given.message_memory,
        };
        let run = match (functions.combine.is_some(), functions.priority.is_some(), given.weights) {
            (false, false, false) => run_as::<false, false, false>,
            (false, false, true) => run_as::<false, false, true>,
            (false, true, false) => run_as::<false, true, false>,
            (false, true, true) => run_as::<false, true, true>,
            (true, false, false) => run_as::<true, false, false>,
            (true, false, true) => run_as::<true, false, true>,
            (true, true, false) => run_as::<true, true, false>,
            (true, true, true) => run_as::<true, true, true>,
        };
        run(&graph, &functions, &options)
    });
    if let Some(error) = into_inner(functions.error) {
        return Err(error);
    }
    let (found, samples) = found?;
    let columns = columns.call0()?.try_iter()?.map(|named| {
        let (name, values): (String, Bound<'_, PyAny>) = named?.extract()?;
        Ok((name, column(py, &graph, &values)?))
    });
    let columns = columns.collect::<PyResult<_>>()?;
    // The options are functions.
    let facts = json!({
        "iterations": found.iterations, "finished": found.finished, "messages": found.messages,
        "spilled_bytes": found.spilled_bytes,
    });
    let attributes = facts.as_object().cloned().unwrap_or_default();
    let run = (Planned::default(), found.stats, samples);
    let report = report_of(&graph, "vertex_program", Vec::new(), run, Summary { attributes, ..Summary::default() });
    let base = PyTable::new(graph.table(columns), Arc::new(report), None);
    let result = ProgramResult {
        iterations: found.iterations,
        finished: found.finished,
        messages: found.messages,
        spilled_bytes: found.spilled_bytes,
    };
    Py::new(py, PyClassInitializer::from(base).add_subclass(result))
}

fn run_as<const COMBINES: bool, const ORDERED: bool, const WEIGHTS: bool>(
    graph: &Graph,
    functions: &Functions,
    options: &ProgramOptions<'_>,
) -> outcore::Result<outcore::engine::ProgramRun> {
    let mut states = vec![(); graph.vertices() as usize];
    run_program(graph, &Program::<COMBINES, ORDERED, WEIGHTS>(functions), &mut states, options)
}

/// A column of a result, of the values of a field.
fn column(py: Python<'_>, graph: &Graph, values: &Bound<'_, PyAny>) -> PyResult<Column> {
    if let Ok(values) = values.extract::<PyReadonlyArray1<'_, f64>>() {
        return Ok(Column::Real(copied(py, graph, &values)?));
    }
    if let Ok(values) = values.extract::<PyReadonlyArray1<'_, i64>>() {
        return Ok(Column::Signed(copied(py, graph, &values)?));
    }
    Ok(Column::Unsigned(copied(py, graph, &values.extract()?)?))
}

/// The values of an array, in memory that counts.
fn copied<T: Raw + Element>(
    py: Python<'_>,
    graph: &Graph,
    values: &PyReadonlyArray1<'_, T>,
) -> PyResult<Arc<Buffer<T>>> {
    let (budget, vertices) = (graph.runtime().budget(), graph.vertices());
    graph.make_room("results", 8 * vertices).map_err(|error| raise(py, error))?;
    let column = Buffer::<T>::zeroed(budget, "results", vertices as usize);
    let mut column = column.map_err(|error| raise(py, error))?;
    column.iter_mut().zip(values.as_array()).for_each(|(slot, &value)| *slot = value);
    Ok(Arc::new(column))
}
