//! The end of the interpreter, which no work may outlive.
//!
//! Python ends while daemon threads run. A thread of the engine that attaches behind it takes the process down. So a
//! hook stops all work, and waits until the threads that asked for it are attached again.

use outcore::io::lock;
use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use std::sync::{Mutex, OnceLock};
use std::thread::{ThreadId, current, sleep};
use std::time::{Duration, Instant};

/// Longest time that the end waits for work, which may itself wait for a generator of the user.
const MOST_WAIT: Duration = Duration::from_secs(10);

/// The thread that ends the interpreter. Hooks on it may still work.
static ENDED_BY: OnceLock<ThreadId> = OnceLock::new();

/// A process, and how much work is under way in it: a fork has none. The lock is taken with the interpreter's lock
/// held, so no fork finds it taken.
static COUNT: Mutex<(u32, usize)> = Mutex::new((0, 0));

/// Work that is under way until this is dropped, which an attached thread does.
pub struct UnderWay(());

impl UnderWay {
    /// # Errors
    /// The interpreter is ending.
    pub fn enter() -> PyResult<Self> {
        if is_ending() {
            return Err(error());
        }
        count(|work| *work += 1);
        Ok(UnderWay(()))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        count(|work| *work = work.saturating_sub(1));
    }
}

/// Changes or reads how much work this process has under way.
fn count(change: impl FnOnce(&mut usize)) -> usize {
    let (mut slot, process) = (lock(&COUNT), std::process::id());
    if slot.0 != process {
        *slot = (process, 0);
    }
    change(&mut slot.1);
    slot.1
}

/// Whether the interpreter is ending, and not by this thread.
pub fn is_ending() -> bool {
    ENDED_BY.get().is_some_and(|thread| *thread != current().id())
}

/// `SystemExit`: the exception that ends a thread without a message.
pub fn error() -> PyErr {
    PySystemExit::new_err(())
}

/// Calls Python from a thread of the engine, unless the interpreter is ending.
pub fn attached<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
    let ended = || Err(error());
    if is_ending() { ended() } else { Python::try_attach(call).unwrap_or_else(ended) }
}

/// Stops what is under way, and waits until it has ended.
#[pyfunction]
fn end_work(py: Python<'_>) {
    ENDED_BY.get_or_init(|| current().id());
    let begin = Instant::now();
    while count(|_| {}) > 0 && begin.elapsed() < MOST_WAIT {
        py.detach(|| sleep(Duration::from_millis(5)));
    }
}

/// Has `end_work` called when the interpreter ends.
///
/// # Errors
/// The exception that Python raises.
pub fn register(py: Python<'_>) -> PyResult<()> {
    py.import("atexit")?.call_method1("register", (wrap_pyfunction!(end_work, py)?,))?;
    Ok(())
}
