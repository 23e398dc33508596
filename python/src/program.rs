//! Vertex programs whose functions Numba compiled: they are called as C functions, without the interpreter's lock.
//!
//! **Invariant:** the addresses that `vertex_program` is given are those of functions with the signatures that
//! `python/outcore/_graphs/program.py` compiles them with; it keeps them, and the states that they know of, alive until
//! `vertex_program` returns. A handle is alive while the function runs that it was given to.

#![allow(unsafe_code)]

use crate::convert::id_text;
use crate::errors::raise;
use crate::exit::attached;
use crate::graph::PyGraph;
use crate::result::{About, PyTable};
use crate::runtime::{run, settings};
use numpy::{Element, PyReadonlyArray1};
use outcore::io::{Array, Raw, into_inner, lock};
use outcore::{
    Column, Direction, Error, Events, Frontier, Graph, List, ProgramOptions, Vertex, VertexProgram, Weights,
    run_program,
};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::fmt::Display;
use std::mem::transmute;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The result of `vertex_program`: columns `vertex` and the fields of the states.
#[pyclass(frozen, extends = PyTable, module = "outcore")]
pub struct ProgramResult {
    /// How many iterations were made.
    #[pyo3(get)]
    iterations: u32,
    /// Whether it ended because no vertex was active and no message under way.
    #[pyo3(get)]
    finished: bool,
    /// How many messages were sent, those to many vertices counted once.
    #[pyo3(get)]
    messages: u64,
    /// How much of the messages went to temporary files, in bytes.
    #[pyo3(get)]
    spilled_bytes: u64,
}

type State = *mut c_void;
type Turn = unsafe extern "C" fn(u32, State, u64, *mut c_void);
type OnList = unsafe extern "C" fn(u32, State, u64, *const u32, *const f64, usize, *mut c_void);
type OnMessage = unsafe extern "C" fn(u32, State, u64, u64, *mut c_void);
type Combine = unsafe extern "C" fn(u64, u64) -> u64;
type Priority = unsafe extern "C" fn(u32, State, u64) -> u64;

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

struct Functions {
    run: Turn,
    on_list: Option<OnList>,
    on_message: Option<OnMessage>,
    on_iteration_end: Option<Turn>,
    combine: Option<Combine>,
    priority: Option<Priority>,
    end_iteration: Option<Py<PyAny>>,
    /// The states, one per vertex.
    state: State,
    vertices: u64,
    /// The first error: it ends the program.
    error: Mutex<Option<PyErr>>,
    failed: AtomicBool,
}

thread_local! {
    /// Whether this thread calls a compiled function, and the exception that it ended with.
    static CALLING: Cell<bool> = const { Cell::new(false) };
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Takes an exception that nobody catches, if a compiled function of a program raised it on this thread.
#[pyfunction]
pub fn program_raised(error: Bound<'_, PyAny>) -> bool {
    let calling = CALLING.get();
    if calling {
        RAISED.with_borrow_mut(|raised| _ = raised.get_or_insert(PyErr::from_value(error)));
    }
    calling
}

// SAFETY: functions touch the state of the vertex that they are called for, which one worker has at a time.
unsafe impl Send for Functions {}
// SAFETY: as above.
unsafe impl Sync for Functions {}

/// A program; whether messages combine, turns are ordered and weights are read is known when it is compiled.
struct Program<'a, const COMBINES: bool, const ORDERED: bool, const WEIGHTS: bool>(&'a Functions);

/// The vertex that a user's function is called for; the function hands it back to the calls of [`calls`].
struct Handle<'h, 'v> {
    happening: Happening<'h, 'v>,
    functions: &'h Functions,
    list_of: u32,
}

enum Happening<'h, 'v> {
    /// Its turn, or a list.
    Turn(&'h mut Vertex<'v, u64>),
    /// A message, or the end of the iteration.
    Event(&'h mut Events<'v, u64>),
}

impl Functions {
    fn fail(&self, error: PyErr) {
        lock(&self.error).get_or_insert(error);
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Lends a handle to a function. Once one has failed, none is called any more, and the program ends.
    fn lend(&self, happening: Happening<'_, '_>, list_of: u32, call: impl FnOnce(*mut c_void)) {
        let mut handle = Handle { happening, functions: self, list_of };
        self.call(|| call((&raw mut handle).cast()));
        if self.failed.load(Ordering::Relaxed) {
            handle.events().fail(Error::custom("a function of the program failed"));
        }
    }

    /// Calls a function, unless one has failed, and keeps its exception.
    #[inline]
    fn call<T>(&self, function: impl FnOnce() -> T) -> Option<T> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        CALLING.set(true);
        let value = function();
        CALLING.set(false);
        if let Some(error) = RAISED.take() {
            self.fail(error);
        }
        Some(value)
    }
}

impl<const COMBINES: bool, const ORDERED: bool, const WEIGHTS: bool> VertexProgram
    for Program<'_, COMBINES, ORDERED, WEIGHTS>
{
    /// States are Python's; the functions know where they are.
    type State = ();
    type Message = u64;
    const COMBINES: bool = COMBINES;
    const ORDERED: bool = ORDERED;
    const WEIGHTS: bool = WEIGHTS;

    fn run(&self, vertex: &mut Vertex<'_, u64>, _state: &mut ()) {
        let (id, run) = (vertex.id(), self.0.run);
        let Functions { state, vertices: count, .. } = *self.0;
        // SAFETY: this module's invariant.
        self.0.lend(Happening::Turn(vertex), id, |handle| unsafe { run(id, state, count, handle) });
    }

    fn on_list(&self, vertex: &mut Vertex<'_, u64>, _state: &mut (), list: List<'_>) {
        let (id, Some(on_list)) = (vertex.id(), self.0.on_list) else { return };
        let weights = real(list.weights);
        let Functions { state, vertices, .. } = *self.0;
        let (neighbours, count) = (list.neighbours.as_ptr(), list.neighbours.len());
        self.0.lend(Happening::Turn(vertex), list.vertex, |handle| {
            // SAFETY: this module's invariant.
            unsafe { on_list(id, state, vertices, neighbours, weights.as_ptr(), count, handle) }
        });
    }

    fn on_message(&self, events: &mut Events<'_, u64>, _state: &mut (), message: u64) {
        let (id, Some(on_message)) = (events.id(), self.0.on_message) else { return };
        let Functions { state, vertices: count, .. } = *self.0;
        // SAFETY: this module's invariant.
        self.0.lend(Happening::Event(events), id, |handle| unsafe { on_message(id, state, count, message, handle) });
    }

    fn on_iteration_end(&self, events: &mut Events<'_, u64>, _state: &mut ()) {
        let (id, Some(end)) = (events.id(), self.0.on_iteration_end) else { return };
        let Functions { state, vertices: count, .. } = *self.0;
        // SAFETY: this module's invariant.
        self.0.lend(Happening::Event(events), id, |handle| unsafe { end(id, state, count, handle) });
    }

    #[inline]
    fn combine(&self, before: u64, after: u64) -> u64 {
        // SAFETY: this module's invariant.
        self.0.combine.and_then(|combine| self.0.call(|| unsafe { combine(before, after) })).unwrap_or(after)
    }

    fn priority(&self, vertex: u32, _state: &()) -> u64 {
        let Functions { state, vertices: count, .. } = *self.0;
        // SAFETY: this module's invariant.
        self.0.priority.and_then(|priority| self.0.call(|| unsafe { priority(vertex, state, count) })).unwrap_or(0)
    }

    fn end_iteration(&self, iteration: u32, _states: &[()]) -> bool {
        if let Some(end) = &self.0.end_iteration {
            match attached(|py| end.call1(py, (iteration,))?.is_truthy(py)) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => self.0.fail(error),
            }
        }
        !self.0.failed.load(Ordering::Relaxed)
    }
}

/// Weights as real numbers.
fn real(weights: Weights<'_>) -> Vec<f64> {
    (0..weights.bits().len()).map(|i| weights.real(i)).collect()
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
    let functions = functions_of(py, &given, graph.vertices());
    let found = run(py, graph.runtime(), || {
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
    let found = found?;
    let columns = columns.call0()?.try_iter()?.map(|named| {
        let (name, values): (String, Bound<'_, PyAny>) = named?.extract()?;
        Ok((name, column(py, &graph, &values)?))
    });
    let columns = columns.collect::<PyResult<_>>()?;
    let base = PyTable::new(graph.table(columns), found.stats, About::of_program(&graph));
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
) -> outcore::Result<outcore::ProgramRun> {
    let mut states = vec![(); graph.vertices() as usize];
    run_program(graph, &Program::<COMBINES, ORDERED, WEIGHTS>(functions), &mut states, options)
}

/// The functions at these addresses.
fn functions_of(py: Python<'_>, given: &Settings, vertices: u64) -> Functions {
    // SAFETY: this module's invariant; addresses of functions are not zero.
    unsafe {
        Functions {
            run: transmute::<usize, Turn>(given.run),
            on_list: given.on_list.map(|at| transmute::<usize, OnList>(at)),
            on_message: given.on_message.map(|at| transmute::<usize, OnMessage>(at)),
            on_iteration_end: given.on_iteration_end.map(|at| transmute::<usize, Turn>(at)),
            combine: given.combine.map(|at| transmute::<usize, Combine>(at)),
            priority: given.priority.map(|at| transmute::<usize, Priority>(at)),
            end_iteration: given.end_iteration.as_ref().map(|end| end.clone_ref(py)),
            state: given.state as State,
            vertices,
            error: Mutex::default(),
            failed: AtomicBool::new(false),
        }
    }
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
) -> PyResult<Arc<Array<T>>> {
    let (budget, vertices) = (graph.runtime().budget(), graph.vertices());
    graph.make_room("results", 8 * vertices).map_err(|error| raise(py, error))?;
    let column = Array::<T>::zeroed(budget, "results", vertices as usize);
    let mut column = column.map_err(|error| raise(py, error))?;
    column.iter_mut().zip(values.as_array()).for_each(|(slot, &value)| *slot = value);
    Ok(Arc::new(column))
}

/// The functions that compiled code calls, with their addresses.
#[pyfunction]
pub fn program_symbols() -> Vec<(&'static str, usize)> {
    vec![
        ("outcore_iteration", calls::iteration as *const () as usize),
        ("outcore_list_of", calls::list_of as *const () as usize),
        ("outcore_is_in", calls::is_in as *const () as usize),
        ("outcore_send", calls::send as *const () as usize),
        ("outcore_send_one", calls::send_one as *const () as usize),
        ("outcore_activate", calls::activate as *const () as usize),
        ("outcore_activate_one", calls::activate_one as *const () as usize),
        ("outcore_request", calls::request as *const () as usize),
        ("outcore_request_one", calls::request_one as *const () as usize),
        ("outcore_request_end", calls::request_end as *const () as usize),
    ]
}

impl<'v> Handle<'_, 'v> {
    /// # Safety
    /// The pointer is one that [`Functions::lend`] gave to the function that calls now.
    unsafe fn of<'a>(handle: *mut c_void) -> &'a mut Handle<'a, 'a> {
        // SAFETY: as the caller says.
        unsafe { &mut *handle.cast() }
    }

    fn events(&mut self) -> &mut Events<'v, u64> {
        match &mut self.happening {
            Happening::Turn(vertex) => vertex,
            Happening::Event(events) => events,
        }
    }

    /// The vertices at an address, if all of them exist.
    ///
    /// # Safety
    /// `first` points to `count` numbers, unless `count` is 0.
    unsafe fn vertices<'a>(&self, first: *const u32, count: usize) -> &'a [u32] {
        // SAFETY: as the caller says; empty arrays may be anywhere.
        let vertices = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(first, count) } };
        match vertices.iter().find(|&&vertex| u64::from(vertex) >= self.functions.vertices) {
            Some(vertex) => {
                self.functions.fail(self.no_vertex(vertex));
                &[]
            }
            None => vertices,
        }
    }

    /// The vertex of a number, given by its 64 bits, if it exists.
    fn vertex(&self, bits: u64, has_sign: u8) -> Option<u32> {
        let vertex = u32::try_from(bits).ok().filter(|&vertex| u64::from(vertex) < self.functions.vertices);
        if vertex.is_none() {
            let error = if has_sign == 0 { self.no_vertex(bits) } else { self.no_vertex(bits as i64) };
            self.functions.fail(error);
        }
        vertex
    }

    fn no_vertex(&self, found: impl Display) -> PyErr {
        PyIndexError::new_err(format!("vertex {found} of a graph of {} vertices", self.functions.vertices))
    }
}

/// Entry points of compiled functions. They hand on the pointers and lengths of their arrays, and the handle that they
/// were given: so each `unsafe` below rests on this module's invariant.
#[allow(clippy::undocumented_unsafe_blocks)]
mod calls {
    use super::{Direction, Handle, Happening, PyRuntimeError, c_void};

    pub unsafe extern "C" fn iteration(handle: *mut c_void) -> u32 {
        unsafe { Handle::of(handle) }.events().iteration()
    }

    pub unsafe extern "C" fn list_of(handle: *mut c_void) -> u32 {
        unsafe { Handle::of(handle) }.list_of
    }

    pub unsafe extern "C" fn is_in(handle: *mut c_void) -> u8 {
        match &unsafe { Handle::of(handle) }.happening {
            Happening::Turn(vertex) => u8::from(vertex.direction() == Direction::In),
            Happening::Event(_) => 0,
        }
    }

    pub unsafe extern "C" fn send(targets: *const u32, count: usize, message: u64, handle: *mut c_void) {
        let handle = unsafe { Handle::of(handle) };
        let targets = unsafe { handle.vertices(targets, count) };
        handle.events().multicast(targets, message);
    }

    pub unsafe extern "C" fn send_one(target: u64, has_sign: u8, message: u64, handle: *mut c_void) {
        if let Some(target) = unsafe { Handle::of(handle) }.vertex(target, has_sign) {
            unsafe { send(&raw const target, 1, message, handle) }
        }
    }

    pub unsafe extern "C" fn activate(vertices: *const u32, count: usize, handle: *mut c_void) {
        let handle = unsafe { Handle::of(handle) };
        let vertices = unsafe { handle.vertices(vertices, count) };
        handle.events().activate(vertices);
    }

    pub unsafe extern "C" fn activate_one(vertex: u64, has_sign: u8, handle: *mut c_void) {
        if let Some(vertex) = unsafe { Handle::of(handle) }.vertex(vertex, has_sign) {
            unsafe { activate(&raw const vertex, 1, handle) }
        }
    }

    pub unsafe extern "C" fn request_one(vertex: u64, has_sign: u8, in_lists: u8, handle: *mut c_void) {
        if let Some(vertex) = unsafe { Handle::of(handle) }.vertex(vertex, has_sign) {
            unsafe { request(&raw const vertex, 1, in_lists, handle) }
        }
    }

    pub unsafe extern "C" fn request_end(handle: *mut c_void) {
        unsafe { Handle::of(handle) }.events().request_end();
    }

    pub unsafe extern "C" fn request(vertices: *const u32, count: usize, in_lists: u8, handle: *mut c_void) {
        let handle = unsafe { Handle::of(handle) };
        let vertices = unsafe { handle.vertices(vertices, count) };
        let direction = if in_lists == 0 { Direction::Out } else { Direction::In };
        match &mut handle.happening {
            Happening::Turn(vertex) => vertex.request_of(vertices, direction),
            Happening::Event(_) => {
                let text = "lists can be asked for in run and on_list only; activate the vertex instead";
                handle.functions.fail(PyRuntimeError::new_err(text));
            }
        }
    }
}
