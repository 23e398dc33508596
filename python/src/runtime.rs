//! The runtime that keyword arguments ask for, and work that Ctrl-C stops.

use crate::errors::{raise, usage};
use crate::progress::Bar;
use outcore::io::{backend, parse_bytes};
use outcore::{Progress, Result, Runtime, RuntimeOptions};
use pyo3::prelude::*;
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

/// The keyword arguments that every operation which makes a runtime has.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Limits {
    pub memory: Option<Bytes>,
    pub threads: Option<i64>,
    pub backend: String,
    pub temporary: Option<PathBuf>,
    pub progress: bool,
}

impl Limits {
    /// The runtime within these limits.
    pub fn runtime(self, py: Python<'_>) -> PyResult<Arc<Runtime>> {
        let threads = match self.threads {
            None => None,
            Some(threads) => match usize::try_from(threads) {
                Ok(threads @ 1..=1024) => Some(threads),
                _ => return Err(usage(py, format!("expected threads from 1 to 1024, found {threads}"))),
            },
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
