//! The runtime that keyword arguments ask for, and work that Ctrl-C stops.

use crate::errors::{raise, usage};
use crate::progress::Bar;
use outcore::io::{backend, parse_bytes};
use outcore::{Progress, Result, Runtime, RuntimeOptions};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often it is looked whether a signal has arrived.
const SIGNAL_CHECK: Duration = Duration::from_millis(50);

/// A number of bytes: an integer, or text such as `512MiB`.
pub struct Bytes(pub u64);

impl<'py> FromPyObject<'_, 'py> for Bytes {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = given.py();
        if let Ok(text) = given.extract::<String>() {
            return parse_bytes(&text).map(Bytes).map_err(|error| usage(py, error));
        }
        given.extract::<u64>().map(Bytes).map_err(|_| {
            let shown = given.repr().map_or_else(|_| String::new(), |text| text.to_string());
            usage(py, format!("expected bytes as an integer or text such as '512MiB', found {shown}"))
        })
    }
}

/// A whole number that must fit the type.
pub struct Whole<T>(pub T);

impl<'py, T: TryFrom<u64>> FromPyObject<'_, 'py> for Whole<T> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let number = given.extract::<u64>().ok().and_then(|number| T::try_from(number).ok());
        number.map(Whole).ok_or_else(|| {
            let shown = given.repr().map_or_else(|_| String::new(), |text| text.to_string());
            let bits = 8 * size_of::<T>();
            usage(given.py(), format!("expected a whole number from 0 to 2^{bits}-1, found {shown}"))
        })
    }
}

/// The keyword arguments that every operation which makes a runtime has.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Limits {
    pub memory: Option<Bytes>,
    pub threads: Option<Whole<u32>>,
    pub backend: String,
    pub temporary: Option<PathBuf>,
    pub progress: bool,
}

impl Limits {
    /// The runtime within these limits.
    pub fn runtime(self, py: Python<'_>) -> PyResult<Arc<Runtime>> {
        let threads = match self.threads {
            None => None,
            Some(Whole(threads @ 1..=1024)) => Some(threads as usize),
            Some(Whole(threads)) => return Err(usage(py, format!("expected threads from 1 to 1024, found {threads}"))),
        };
        let backend = backend::by_name(&self.backend).map_err(|error| usage(py, error))?;
        let options = RuntimeOptions {
            memory_bytes: self.memory.map(|bytes| bytes.0),
            threads,
            backend: Some(backend),
            temporary: self.temporary,
            progress: self.progress.then(Bar::on_terminal).flatten().map(|bar| bar as Arc<dyn Progress>),
        };
        Runtime::new(options).map(Arc::new).map_err(|error| raise(py, error))
    }
}

/// Keyword arguments from a dict. An option that cannot be raises what it raised itself, not that a dict does not fit.
pub fn settings<'py, T>(given: &Bound<'py, PyDict>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    given.extract().map_err(|error: PyErr| {
        let py = given.py();
        let causes = std::iter::successors(error.cause(py), |cause| cause.cause(py));
        causes.last().filter(|root| !root.is_instance_of::<PyTypeError>(py)).unwrap_or(error)
    })
}

/// Runs work on a thread of its own, without the interpreter's lock, and asks it to stop when a signal arrives.
pub fn run<T: Send>(py: Python<'_>, runtime: &Runtime, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let (interrupted, outcome) = py.detach(|| {
        std::thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            let worker = scope.spawn(move || {
                // Dropped at the end, be it a panic: that wakes up the waiting thread.
                let _done = done;
                work()
            });
            let mut interrupted = None;
            while is_done.recv_timeout(SIGNAL_CHECK) == Err(RecvTimeoutError::Timeout) {
                if interrupted.is_none()
                    && let Err(signal) = Python::attach(|py| py.check_signals())
                {
                    runtime.cancel().cancel();
                    interrupted = Some(signal);
                }
            }
            let outcome = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            if interrupted.is_some() {
                runtime.cancel().reset();
            }
            (interrupted, outcome)
        })
    });
    match interrupted {
        Some(signal) => Err(signal),
        None => outcome.map_err(|error| raise(py, error)),
    }
}
