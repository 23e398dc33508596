//! The runtime that keyword arguments ask for, and work that Ctrl-C stops.

use crate::errors::{raise, usage};
use crate::exit::{self, UnderWay};
use crate::progress::{Wanted, tell, tell_from_outside};
use outcore::io::{self, Holder, Sample, Sampler, backend, differing_texts, lock};
use outcore::{Error, Result, Runtime, RuntimeOptions};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Time between two checks for signals.
const SIGNAL_CHECK: Duration = Duration::from_millis(50);

/// The resources that operations share: the memory under one limit, the number of workers, and how files are reached.
///
/// The limit is for Outcore alone, whatever else the process holds. Graphs, results, imports and page caches of one
/// runtime draw on the same memory: caches shrink when something else needs it, and an error about missing memory says
/// who holds the rest. There is one runtime per process, made when it is first needed, with half of the memory that is
/// free then; make others to set limits.
///
/// Args:
///     memory: The limit, in bytes or as text such as "1GiB"; by default half of what the machine, its cgroup or
///         `ulimit` has left.
///     threads: The number of workers of an operation, from 1 to 1024; by default one per processor. Results do not
///         depend on it.
///     temporary: Where temporary files go; by default beside the image.
///     backend: How files are read: "uring", "posix", or "auto" for the best that works here.
///
/// Raises:
///     UsageError: An option that cannot be.
///     MemoryLimitError: A limit of 9 MiB or less, which code and small things take.
///
/// >>> runtime = oc.Runtime(memory="512MiB")
/// >>> with oc.Graph("web.oc", runtime=runtime) as one, oc.Graph("web.oc", runtime=runtime) as other:
/// ...     oc.pagerank(one).converged, oc.components(other).count
/// (True, 2)
#[pyclass(frozen, name = "Runtime", module = "outcore")]
pub struct PyRuntime {
    runtime: Runtime,
    /// The process that made it.
    process: u32,
}

impl PyRuntime {
    /// An error behind a fork: the workers and the memory are those of another process.
    fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        let (maker, process) = (self.process, std::process::id());
        if maker == process {
            return Ok(());
        }
        let text = format!(
            "the runtime was made by process {maker}, and this is process {process}: a fork has neither its workers \
             nor its buffers; make a Runtime in this process"
        );
        Err(usage(py, text))
    }
}

#[pymethods]
impl PyRuntime {
    #[new]
    #[pyo3(signature = (**options), text_signature = "(*, memory=None, threads=None, temporary=None, backend='auto')")]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let limits: Limits = settings(&checked_options(py, "runtime_options", (), options)?)?;
        let runtime = Runtime::new(limits.options(py)?).map_err(|error| raise(py, error))?;
        Ok(PyRuntime { runtime, process: std::process::id() })
    }

    /// The limit, in bytes.
    #[getter]
    fn memory(&self) -> u64 {
        self.runtime.budget().limit_bytes()
    }

    /// The available memory, in bytes. Memory of page caches counts, since they give it back.
    #[getter]
    fn available(&self) -> u64 {
        self.runtime.budget().available_bytes()
    }

    /// The number of workers of an operation.
    #[getter]
    fn threads(&self) -> usize {
        self.runtime.threads()
    }

    /// The owners of memory that is held until they end, with its bytes, as a dict; the largest first.
    fn holders<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        holders_dict(py, &self.runtime.budget().holders())
    }

    fn __repr__(&self) -> String {
        let (budget, threads) = (self.runtime.budget(), self.runtime.threads());
        let [available, limit] = differing_texts(budget.available_bytes(), budget.limit_bytes());
        format!("<outcore.Runtime: {available} of {limit} available, {threads} threads>")
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a Runtime cannot be pickled; make one in every process"))
    }
}

/// Holders of memory as a dict.
pub fn holders_dict<'py>(py: Python<'py>, holders: &[Holder]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    holders.iter().try_for_each(|holder| dict.set_item(&holder.name, holder.bytes))?;
    Ok(dict)
}

/// The runtime of a process, and the process: a fork makes one of its own. The lock is taken with the interpreter's
/// lock held, so no fork finds it taken.
static OF_PROCESS: Mutex<Option<(u32, Runtime)>> = Mutex::new(None);

/// The runtime of this process. Python must not run under the lock, not even for an exception: it may switch threads.
fn of_process() -> Result<Runtime> {
    let mut slot = lock(&OF_PROCESS);
    match &*slot {
        Some((process, runtime)) if *process == std::process::id() => Ok(runtime.clone()),
        _ => {
            let options = RuntimeOptions { beside_process: true, ..RuntimeOptions::default() };
            let runtime = Runtime::new(options)?;
            // An inherited runtime is not dropped in a fork: it belongs to the other process.
            std::mem::forget(slot.replace((std::process::id(), runtime.clone())));
            Ok(runtime)
        }
    }
}

/// The keyword arguments that every operation which needs a runtime has; `outcore._options` has checked them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Limits {
    pub runtime: Option<Py<PyRuntime>>,
    pub memory: Option<u64>,
    pub threads: Option<u32>,
    pub backend: String,
    pub temporary: Option<PathBuf>,
    pub progress: Wanted,
}

impl Limits {
    /// The runtime within these limits: the given one or that of the process, with threads and such as they are given;
    /// one of its own if there is a limit.
    pub fn runtime(self, py: Python<'_>) -> PyResult<Runtime> {
        self.runtime_or(py, |error, _| error)
    }

    /// The runtime within these limits; `refused` makes what is raised of the error where there can be none, without
    /// the interpreter's lock: it may plan whole operations.
    pub fn runtime_or(
        self,
        py: Python<'_>,
        refused: impl FnOnce(Error, &RuntimeOptions) -> Error + Send,
    ) -> PyResult<Runtime> {
        let (given, has_limit) = (self.runtime.as_ref().map(|given| given.clone_ref(py)), self.memory.is_some());
        let options = self.options(py)?;
        let made = match given {
            Some(_) if has_limit => {
                let text = "expected runtime= or memory=, found both; the limit of a runtime is given when it is made";
                return Err(usage(py, text));
            }
            Some(given) => {
                given.get().check_process(py)?;
                given.get().runtime.for_work(options)
            }
            None if has_limit => {
                let made = py.detach(|| Runtime::new(options.clone()).map_err(|error| refused(error, &options)));
                return made.map_err(|error| raise(py, error));
            }
            None => of_process().map_err(|error| raise(py, error))?.for_work(options),
        };
        made.map_err(|error| raise(py, error))
    }

    /// The runtime within these limits for work on what has one already, which it is unless another one, or a limit, is
    /// given. `refused` is as in [`Limits::runtime_or`].
    pub fn runtime_beside_or(
        self,
        py: Python<'_>,
        base: &Runtime,
        refused: impl FnOnce(Error, &RuntimeOptions) -> Error + Send,
    ) -> PyResult<Runtime> {
        if self.runtime.is_some() || self.memory.is_some() {
            return self.runtime_or(py, refused);
        }
        let is_auto = self.backend == "auto";
        let mut options = self.options(py)?;
        if is_auto {
            options.backend = None;
        }
        base.for_work(options).map_err(|error| raise(py, error))
    }

    fn options(self, py: Python<'_>) -> PyResult<RuntimeOptions> {
        let backend = backend::by_name(&self.backend).map_err(|error| usage(py, error))?;
        Ok(RuntimeOptions {
            memory_bytes: self.memory,
            beside_process: true,
            threads: self.threads.map(|threads| threads as usize),
            backend: (self.runtime.is_none() || self.backend != "auto").then_some(backend),
            temporary: self.temporary,
            progress: self.progress.progress(py),
        })
    }
}

/// The arguments of a class, as a function of `outcore._options` checks them and adds defaults.
pub fn checked_options<'py>(
    py: Python<'py>,
    function: &str,
    arguments: impl PyCallArgs<'py>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let checked = py.import("outcore._options")?.getattr(function)?.call(arguments, options)?;
    Ok(checked.cast_into::<PyDict>()?)
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

/// Runs an operation on a thread of its own, without the interpreter's lock, shows its progress, and asks it to stop
/// when a signal arrives or the interpreter ends. The runtime is that of the operation alone: a request to stop stays.
pub fn run<T: Send>(py: Python<'_>, runtime: &Runtime, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    run_watched(py, runtime, || {}, work)
}

/// [`run`], which takes samples of the resources meanwhile.
pub fn run_sampled<T: Send>(
    py: Python<'_>,
    runtime: &Runtime,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<(T, Vec<Sample>)> {
    let mut sampler = Sampler::start(runtime);
    let found = run_watched(py, runtime, || sampler.look(runtime), work)?;
    Ok((found, sampler.finish(runtime)))
}

/// [`run`], which calls `look` twenty times a second meanwhile.
pub fn run_watched<T: Send>(
    py: Python<'_>,
    runtime: &Runtime,
    mut look: impl FnMut() + Send,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let _under_way = UnderWay::enter()?;
    let (interrupted, outcome) = py.detach(|| {
        std::thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            let is_making_rows = io::is_making_rows();
            let work = move || {
                // Dropped at the end, be it a panic: that wakes up the waiting thread.
                let _done = done;
                if is_making_rows { io::making_rows(work) } else { work() }
            };
            let worker = match std::thread::Builder::new().spawn_scoped(scope, work) {
                Ok(worker) => worker,
                Err(source) => return (None, Err(Error::ThreadRefused { source })),
            };
            let mut interrupted = None;
            while is_done.recv_timeout(SIGNAL_CHECK) == Err(RecvTimeoutError::Timeout) {
                look();
                if interrupted.is_none()
                    && let Err(signal) = exit::attached(|py| py.check_signals().and_then(|()| tell(py, runtime)))
                {
                    runtime.cancel().cancel();
                    interrupted = Some(signal);
                }
            }
            let outcome = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            if interrupted.is_none() {
                // The events since the last look, and the end.
                interrupted = tell_from_outside(runtime).err();
            }
            (interrupted, outcome)
        })
    });
    match interrupted {
        Some(signal) => Err(signal),
        // From here on Python runs, which must not be in the middle of something when the interpreter ends.
        None if exit::is_ending() => Err(exit::error()),
        None => {
            let value = outcome.map_err(|error| raise(py, error))?;
            warn(py, runtime)?;
            Ok(value)
        }
    }
}

/// Warns of what the user should know about what was read.
fn warn(py: Python<'_>, runtime: &Runtime) -> PyResult<()> {
    // The caller is behind a function of Python's and what checks its arguments.
    runtime.take_notes().iter().try_for_each(|note| log_and_warn(py, note, 3))
}

/// A record of the logger of the package, and a warning so many callers behind this.
pub fn log_and_warn(py: Python<'_>, note: &str, callers: i32) -> PyResult<()> {
    let text = io::escaped(note).to_string();
    py.import("outcore._errors")?.getattr("LOGGER")?.call_method1("warning", (&text,))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &std::ffi::CString::new(text)?, callers)
}

/// Warns the caller of a method of something that the shell says in a note.
pub fn warn_of(py: Python<'_>, note: String) -> PyResult<()> {
    let note: String = py.import("outcore._errors")?.call_method1("in_python", (note,))?.extract()?;
    log_and_warn(py, &note, 1)
}
