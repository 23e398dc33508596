//! Compiled functions as a vertex program of the engine.
#![allow(unsafe_code)]

use super::Settings;
use crate::exit::attached;
use outcore::engine::{Events, List, Vertex, VertexProgram};
use outcore::io::lock;
use outcore::{Error, Graph, WeightKind};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::mem::transmute;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

type State = *mut c_void;
type Turn = unsafe extern "C" fn(u32, State, u64, *mut c_void);
type OnList = unsafe extern "C" fn(u32, State, u64, *const u32, *const f64, usize, *mut c_void);
type OnMessage = unsafe extern "C" fn(u32, State, u64, u64, *mut c_void);
type Combine = unsafe extern "C" fn(u64, u64) -> u64;
type Priority = unsafe extern "C" fn(u32, State, u64) -> u64;

/// The compiled functions of a program, and its first error.
pub struct Functions {
    run: Turn,
    on_list: Option<OnList>,
    on_message: Option<OnMessage>,
    on_iteration_end: Option<Turn>,
    pub combine: Option<Combine>,
    pub priority: Option<Priority>,
    end_iteration: Option<Py<PyAny>>,
    /// The states, one per vertex.
    state: State,
    pub vertices: u64,
    /// The first error: it ends the program.
    pub error: Mutex<Option<PyErr>>,
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
pub struct Program<'a, const COMBINES: bool, const ORDERED: bool, const WEIGHTS: bool>(pub &'a Functions);

/// The vertex that a user's function is called for; the function hands it back to the entry points in `calls.rs`.
pub struct Handle<'h, 'v> {
    pub happening: Happening<'h, 'v>,
    pub functions: &'h Functions,
    pub list_of: u32,
}

pub enum Happening<'h, 'v> {
    /// Its turn, or a list.
    Turn(&'h mut Vertex<'v, u64>),
    /// A message, or the end of the iteration.
    Event(&'h mut Events<'v, u64>),
}

impl Functions {
    /// The functions at these addresses.
    pub fn of(py: Python<'_>, given: &Settings, vertices: u64) -> Functions {
        // SAFETY: the invariant of `program`; addresses of functions are not zero.
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

    pub fn fail(&self, error: PyErr) {
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
        // SAFETY: the invariant of `program`.
        self.0.lend(Happening::Turn(vertex), id, |handle| unsafe { run(id, state, count, handle) });
    }

    fn on_list(&self, vertex: &mut Vertex<'_, u64>, _state: &mut (), list: List<'_>) {
        let (id, Some(on_list)) = (vertex.id(), self.0.on_list) else { return };
        let weights = list.weights;
        let mut reals = REALS.take();
        let weights = if weights.kind() == WeightKind::F64 {
            // The bits are those of the numbers.
            weights.bits().as_ptr().cast::<f64>()
        } else {
            reals.clear();
            reals.extend((0..weights.bits().len()).map(|i| weights.real(i)));
            reals.as_ptr()
        };
        let Functions { state, vertices, .. } = *self.0;
        let (neighbours, count) = (list.neighbours.as_ptr(), list.neighbours.len());
        self.0.lend(Happening::Turn(vertex), list.vertex, |handle| {
            // SAFETY: the invariant of `program`.
            unsafe { on_list(id, state, vertices, neighbours, weights, count, handle) }
        });
        REALS.set(reals);
    }

    fn on_message(&self, events: &mut Events<'_, u64>, _state: &mut (), message: u64) {
        let (id, Some(on_message)) = (events.id(), self.0.on_message) else { return };
        let Functions { state, vertices: count, .. } = *self.0;
        // SAFETY: the invariant of `program`.
        self.0.lend(Happening::Event(events), id, |handle| unsafe { on_message(id, state, count, message, handle) });
    }

    fn on_iteration_end(&self, events: &mut Events<'_, u64>, _state: &mut ()) {
        let (id, Some(end)) = (events.id(), self.0.on_iteration_end) else { return };
        let Functions { state, vertices: count, .. } = *self.0;
        // SAFETY: the invariant of `program`.
        self.0.lend(Happening::Event(events), id, |handle| unsafe { end(id, state, count, handle) });
    }

    #[inline]
    fn combine(&self, before: u64, after: u64) -> u64 {
        // SAFETY: the invariant of `program`.
        self.0.combine.and_then(|combine| self.0.call(|| unsafe { combine(before, after) })).unwrap_or(after)
    }

    fn priority(&self, vertex: u32, _state: &()) -> u64 {
        let Functions { state, vertices: count, .. } = *self.0;
        // SAFETY: the invariant of `program`.
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

thread_local! {
    /// Whole-number weights of a list as real numbers: memory that a worker uses again. [`reals_bytes`] is its size.
    static REALS: Cell<Vec<f64>> = const { Cell::new(Vec::new()) };
}

/// The memory of the workers for whole-number weights of the longest list as real numbers.
pub fn reals_bytes(graph: &Graph) -> outcore::Result<u64> {
    let is_whole = graph.weight_kind()? == WeightKind::I64;
    let longest = graph
        .manifest()
        .out_lists
        .max_degree
        .max(graph.manifest().in_lists.as_ref().map_or(0, |lists| lists.max_degree));
    // A vector grows to less than twice what it has to hold.
    Ok(if is_whole { 16 * longest * graph.runtime().threads() as u64 } else { 0 })
}
