//! Progress of long work: a bar as tqdm draws it, or events for a function of the user's.
//!
//! Workers only count. The thread that asked for the work tells: it waits anyway, and looks for signals twenty times a
//! second (`runtime.rs`). So a notebook shows the bar below the cell that it belongs to, for kernels go by the thread
//! that writes; and what a function raises ends the work. Tasks may nest: the innermost one is shown.

use crate::exit::attached;
use outcore::io::{bytes_text, lock};
use outcore::{Progress, Runtime, Unit};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Time between two drawings of the bar: on a terminal or in a notebook, and elsewhere, such as in a file; as in tqdm.
const REDRAW: Duration = Duration::from_millis(100);
const REDRAW_UNSEEN: Duration = Duration::from_secs(10);
/// Number of waiting events beyond which inner tasks that begin are not shown.
const MOST_WAITING: usize = 1000;
/// Width of the bar in characters.
const BAR_WIDTH: u64 = 10;

/// The value of `progress=`.
#[derive(Debug, Default)]
pub enum Wanted {
    #[default]
    Nothing,
    Bar,
    Function(Py<PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Wanted {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match given.cast::<PyBool>() {
            Ok(flag) if flag.is_true() => Ok(Wanted::Bar),
            Ok(_) => Ok(Wanted::Nothing),
            Err(_) if given.is_callable() => Ok(Wanted::Function(given.to_owned().unbind())),
            Err(_) => Err(PyTypeError::new_err("expected progress= as True, False or a function")),
        }
    }
}

impl Wanted {
    /// Shows the collector the function.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Wanted::Function(function) = self { visit.call(function) } else { Ok(()) }
    }

    pub fn clone_ref(&self, py: Python<'_>) -> Self {
        match self {
            Wanted::Nothing => Wanted::Nothing,
            Wanted::Bar => Wanted::Bar,
            Wanted::Function(function) => Wanted::Function(function.clone_ref(py)),
        }
    }

    /// A receiver of the events of an operation, if one is wanted.
    pub fn progress(&self, py: Python<'_>) -> Option<Arc<dyn Progress>> {
        let function = match self {
            Wanted::Nothing => return None,
            Wanted::Bar => None,
            Wanted::Function(function) => Some(function.clone_ref(py)),
        };
        Some(Arc::new(Display { state: Mutex::default(), function }))
    }
}

/// Receiver of progress: the tasks under way, and the events that wait to be shown.
struct Display {
    state: Mutex<State>,
    /// Instead of a bar.
    function: Option<Py<PyAny>>,
}

#[derive(Default)]
struct State {
    tasks: Vec<Task>,
    waiting: VecDeque<Event>,
    /// When the bar was drawn.
    drawn: Option<Instant>,
    /// Number of characters in the line that is shown.
    width: usize,
}

#[derive(Clone)]
struct Task {
    name: String,
    unit: Unit,
    total: Option<u64>,
    done: u64,
    /// The progress that was shown last; `None` for a task that is not shown.
    shown: Option<u64>,
    begin: Instant,
}

/// Something that happened to a task.
struct Event {
    kind: &'static str,
    task: Task,
    seconds: f64,
    is_outermost: bool,
}

impl Event {
    fn of(kind: &'static str, task: &Task, is_outermost: bool) -> Self {
        Event { kind, task: task.clone(), seconds: task.begin.elapsed().as_secs_f64(), is_outermost }
    }
}

impl Progress for Display {
    fn start(&self, name: &str, unit: Unit, total: Option<u64>) {
        let state = &mut *lock(&self.state);
        let is_shown = state.tasks.is_empty() || state.waiting.len() < MOST_WAITING;
        let (shown, begin) = (is_shown.then_some(0), Instant::now());
        let task = Task { name: name.to_owned(), unit, total, done: 0, shown, begin };
        if is_shown {
            state.waiting.push_back(Event::of("start", &task, state.tasks.is_empty()));
        }
        state.tasks.push(task);
    }

    fn advance(&self, amount: u64) {
        if let Some(task) = lock(&self.state).tasks.last_mut() {
            task.done += amount;
        }
    }

    fn finish(&self) {
        let state = &mut *lock(&self.state);
        let Some(task) = state.tasks.pop() else { return };
        if task.shown.is_some() {
            state.waiting.push_back(Event::of("finish", &task, state.tasks.is_empty()));
        }
    }
}

/// Shows the events since the last call: passes them to the user's function, or draws the bar.
///
/// # Errors
/// The exception of the user's function.
pub fn tell(py: Python<'_>, runtime: &Runtime) -> PyResult<()> {
    match runtime.progress().and_then(|progress| (progress.as_ref() as &dyn Any).downcast_ref::<Display>()) {
        Some(display) => display.tell(py),
        None => Ok(()),
    }
}

/// Calls [`tell`] from a thread without the interpreter's lock.
///
/// # Errors
/// The exception of the user's function, or the end of the interpreter.
pub fn tell_from_outside(runtime: &Runtime) -> PyResult<()> {
    if runtime.progress().is_none() { Ok(()) } else { attached(|py| tell(py, runtime)) }
}

impl Display {
    fn tell(&self, py: Python<'_>) -> PyResult<()> {
        // Python may run something else while it is called: the state is not locked then.
        let events: Vec<Event> = {
            let state = &mut *lock(&self.state);
            let mut events: Vec<Event> = state.waiting.drain(..).collect();
            let is_outermost = state.tasks.len() == 1;
            if let Some(task) = state.tasks.last_mut()
                && task.shown.is_some_and(|shown| shown < task.done)
            {
                task.shown = Some(task.done);
                events.push(Event::of("advance", task, is_outermost));
            }
            events
        };
        match &self.function {
            Some(function) => events.iter().try_for_each(|event| call(py, function, event)),
            // A bar that can no longer be drawn is given up without an error; an interruption meanwhile is none of it.
            None if !events.is_empty() => match self.draw(py, &events) {
                Err(raised) if !raised.is_instance_of::<PyException>(py) => Err(raised),
                _ => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// Draws the bar of the innermost task; that of an outermost one stays when it ends.
    fn draw(&self, py: Python<'_>, events: &[Event]) -> PyResult<()> {
        let stream = py.import("sys")?.getattr("stderr")?;
        let every = if is_seen(py, &stream) { REDRAW } else { REDRAW_UNSEEN };
        let mut text = String::new();
        {
            let state = &mut *lock(&self.state);
            for (place, event) in events.iter().enumerate() {
                let ends = event.kind == "finish" && event.is_outermost;
                let is_due = state.drawn.is_none_or(|drawn| drawn.elapsed() >= every) && place + 1 == events.len();
                if !ends && !is_due {
                    continue;
                }
                let line = event.line();
                let width = state.width;
                text += &format!("\r{line:width$}");
                (state.drawn, state.width) = (Some(Instant::now()), line.chars().count());
                if ends {
                    text.push('\n');
                    (state.drawn, state.width) = (None, 0);
                }
            }
        }
        if text.is_empty() {
            return Ok(());
        }
        stream.call_method1("write", (text,))?;
        stream.call_method0("flush")?;
        Ok(())
    }
}

/// Whether a stream is shown live: on a terminal, or in a notebook.
fn is_seen(py: Python<'_>, stream: &Bound<'_, PyAny>) -> bool {
    let is_terminal = || stream.call_method0("isatty")?.is_truthy();
    let has_kernel = || -> PyResult<bool> {
        let ipython = py.import("sys")?.getattr("modules")?.get_item("IPython")?;
        let shell = ipython.call_method0("get_ipython")?;
        Ok(!shell.getattr("kernel")?.is_none())
    };
    is_terminal().unwrap_or(false) || has_kernel().unwrap_or(false)
}

/// Calls a function of the user's with an event, a dict.
fn call(py: Python<'_>, function: &Py<PyAny>, event: &Event) -> PyResult<()> {
    let dict = PyDict::new(py);
    dict.set_item("event", event.kind)?;
    dict.set_item("name", &event.task.name)?;
    dict.set_item("unit", event.task.unit.name())?;
    dict.set_item("done", event.task.done)?;
    dict.set_item("total", event.task.total)?;
    dict.set_item("seconds", event.seconds)?;
    function.call1(py, (dict,)).map(drop)
}

impl Event {
    /// `name:  45%|####6     | 45/100 [00:02<00:03, 20.1steps/s]`, as tqdm has it.
    fn line(&self) -> String {
        let Task { name, unit, total, done, .. } = &self.task;
        let (rate, elapsed) = (*done as f64 / self.seconds.max(1e-9), clock(self.seconds));
        let amount = |count: u64| if *unit == Unit::Bytes { bytes_text(count) } else { count.to_string() };
        let speed = match unit {
            _ if *done == 0 => format!("?{}/s", unit.name()),
            Unit::Bytes => format!("{}/s", bytes_text(rate as u64)),
            unit if rate >= 1e6 => format!("{:.1}M{}/s", rate / 1e6, unit.name()),
            unit if rate >= 1e4 => format!("{:.1}k{}/s", rate / 1e3, unit.name()),
            unit => format!("{rate:.1}{}/s", unit.name()),
        };
        match *total {
            Some(total) if total > 0 => {
                let share = (*done as f64 / total as f64).min(1.0);
                let left = match *done {
                    0 => "?".to_owned(),
                    done => clock(total.saturating_sub(done) as f64 / rate),
                };
                let (percent, bar) = (share * 100.0, bar(share));
                let (done, total) = (amount(*done), amount(total));
                format!("{name}: {percent:3.0}%|{bar}| {done}/{total} [{elapsed}<{left}, {speed}]")
            }
            _ if *unit == Unit::Bytes => format!("{name}: {} [{elapsed}, {speed}]", amount(*done)),
            _ => format!("{name}: {done}{} [{elapsed}, {speed}]", unit.name()),
        }
    }
}

/// A bar of blocks, whose last one has eighths.
fn bar(share: f64) -> String {
    let eighths = (share * (8 * BAR_WIDTH) as f64) as u64;
    let mut text = "█".repeat((eighths / 8) as usize);
    if !eighths.is_multiple_of(8) {
        text.extend(char::from_u32(0x2590 - (eighths % 8) as u32));
    }
    format!("{text:width$}", width = BAR_WIDTH as usize)
}

/// Minutes and seconds, and hours if there are any.
fn clock(seconds: f64) -> String {
    let whole = seconds as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes:02}:{seconds:02}") }
}
