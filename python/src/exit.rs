//! The end of the interpreter, which no work may outlive.
//!
//! Python ends while daemon threads run. A thread of the engine that attaches behind it takes the process down. So a
//! hook stops all work, and waits until the threads that asked for it are attached again.

use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::thread::{ThreadId, current, sleep};
use std::time::{Duration, Instant};

/// Longest time that the end waits for work, which may itself wait for a generator of the user.
const MOST_WAIT: Duration = Duration::from_secs(10);

/// The thread that ends the interpreter. Hooks on it may still work.
static ENDED_BY: OnceLock<ThreadId> = OnceLock::new();

/// A process, in the upper half, and how much work is under way in it: a fork has none. A fork might find a lock locked
/// for ever, so there is none.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Work that is under way until this is dropped: meanwhile the interpreter does not end, so a thread that enters may
/// attach.
pub struct UnderWay(());

impl UnderWay {
    /// # Errors
    /// The interpreter is ending.
    pub fn enter() -> PyResult<Self> {
        // Counts first: `end_work` sets `ENDED_BY` before it reads the count, so one of the two sees the other.
        count(|work| work + 1);
        let entered = UnderWay(());
        fence(Ordering::SeqCst);
        if is_ending() { Err(error()) } else { Ok(entered) }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        count(|work| work.saturating_sub(1));
    }
}

/// Changes how much work this process has under way, and returns it.
fn count(change: impl Fn(u32) -> u32) -> u32 {
    let process = std::process::id();
    let counted = |word: u64| if (word >> 32) as u32 == process { word as u32 } else { 0 };
    let changed = |word: u64| u64::from(process) << 32 | u64::from(change(counted(word)));
    let mut word = COUNT.load(Ordering::SeqCst);
    loop {
        match COUNT.compare_exchange_weak(word, changed(word), Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => return change(counted(word)),
            Err(now) => word = now,
        }
    }
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
    fence(Ordering::SeqCst);
    let begin = Instant::now();
    while count(|work| work) > 0 && begin.elapsed() < MOST_WAIT {
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
