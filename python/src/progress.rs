//! A line that says how far long work has come, on the terminal or in a notebook. Tasks may nest: the innermost one is
//! shown.

use crate::exit::attached;
use outcore::io::bytes_text;
use outcore::io::lock;
use outcore::{Progress, Unit};
use pyo3::prelude::*;
use std::io::{IsTerminal, Write, stderr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often the line is written anew.
const REDRAW: Duration = Duration::from_millis(200);

/// Shows tasks on the standard error output.
pub struct Bar {
    state: Mutex<State>,
    place: Place,
}

/// Where the line is written.
enum Place {
    /// The process's standard error output.
    Terminal,
    /// What `sys.stderr` was: a notebook shows it below the cell.
    Notebook(Py<PyAny>),
}

struct State {
    tasks: Vec<Shown>,
    drawn: Option<Instant>,
    /// How many characters the line has that is shown.
    shown: usize,
}

struct Shown {
    name: String,
    unit: Unit,
    total: Option<u64>,
    done: u64,
}

impl Bar {
    /// A bar, if somebody sees it: on a terminal, or in a notebook.
    pub fn new(py: Python<'_>) -> Option<Arc<Self>> {
        let place = match stderr().is_terminal() {
            true => Place::Terminal,
            false => Place::Notebook(notebook(py)?),
        };
        let state = State { tasks: Vec::new(), drawn: None, shown: 0 };
        Some(Arc::new(Bar { state: Mutex::new(state), place }))
    }

    /// Changes the state, and replaces the line by the text that `change` returns. The state is not locked while it is
    /// written: that can wait for the interpreter's lock.
    fn draw(&self, change: impl FnOnce(&mut State) -> Option<String>) {
        let mut state = lock(&self.state);
        let Some(line) = change(&mut state) else { return };
        let width = state.shown;
        state.shown = line.chars().count();
        drop(state);
        let mut text = format!("\r{line:width$}");
        if line.is_empty() {
            text.push('\r');
        }
        // Whoever does not see the line any more does not miss it.
        match &self.place {
            Place::Terminal => _ = write!(stderr(), "{text}").and_then(|()| stderr().flush()),
            Place::Notebook(stream) => {
                _ = attached(|py| {
                    stream.call_method1(py, "write", (text,))?;
                    stream.call_method0(py, "flush")
                });
            }
        }
    }
}

/// The stream that a notebook shows, if Python runs in one: IPython has a kernel there.
fn notebook(py: Python<'_>) -> Option<Py<PyAny>> {
    let modules = py.import("sys").ok()?;
    let ipython = modules.getattr("modules").ok()?.get_item("IPython").ok()?;
    let shell = ipython.call_method0("get_ipython").ok()?;
    let has_kernel = shell.getattr("kernel").is_ok_and(|kernel| !kernel.is_none());
    has_kernel.then(|| modules.getattr("stderr").ok()).flatten().map(Bound::unbind)
}

impl State {
    /// The line of the innermost task, if it is time to show it.
    fn line(&mut self) -> Option<String> {
        let task = self.tasks.last()?;
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAW) {
            return None;
        }
        self.drawn = Some(Instant::now());
        Some(task.line())
    }
}

impl Progress for Bar {
    fn start(&self, name: &str, unit: Unit, total: Option<u64>) {
        self.draw(|state| {
            state.tasks.push(Shown { name: name.to_owned(), unit, total, done: 0 });
            state.line()
        });
    }

    fn advance(&self, amount: u64) {
        self.draw(|state| {
            state.tasks.last_mut()?.done += amount;
            state.line()
        });
    }

    fn finish(&self) {
        self.draw(|state| {
            state.tasks.pop();
            (state.tasks.is_empty() && state.shown > 0).then(String::new)
        });
    }
}

impl Shown {
    fn line(&self) -> String {
        let amount = |count: u64| match self.unit {
            Unit::Bytes => bytes_text(count),
            Unit::Edges => format!("{count} edges"),
            Unit::Vertices => format!("{count} vertices"),
            Unit::Steps => format!("{count} steps"),
            Unit::Products => format!("{count} products"),
            Unit::Rows => format!("{count} rows"),
        };
        let total = self.total.map_or_else(String::new, |total| format!(" of {}", amount(total)));
        format!("{}: {}{total}", self.name, amount(self.done))
    }
}
