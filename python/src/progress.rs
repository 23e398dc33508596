//! A line on the terminal that says how far long work has come. Tasks may nest: the innermost one is shown.

use outcore::io::bytes_text;
use outcore::io::lock;
use outcore::{Progress, Unit};
use std::io::{IsTerminal, Write, stderr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often the line is written anew.
const REDRAW: Duration = Duration::from_millis(200);

/// Shows tasks on the standard error output.
pub struct Bar {
    state: Mutex<State>,
}

struct State {
    tasks: Vec<Shown>,
    drawn: Instant,
}

struct Shown {
    name: String,
    unit: Unit,
    total: Option<u64>,
    done: u64,
}

impl Bar {
    /// A bar, if the standard error output is a terminal.
    pub fn on_terminal() -> Option<Arc<Self>> {
        let state = State { tasks: Vec::new(), drawn: Instant::now() };
        stderr().is_terminal().then(|| Arc::new(Bar { state: Mutex::new(state) }))
    }

    fn with(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
    }
}

impl Progress for Bar {
    fn start(&self, name: &str, unit: Unit, total: Option<u64>) {
        self.with(|state| state.tasks.push(Shown { name: name.to_owned(), unit, total, done: 0 }));
    }

    fn advance(&self, amount: u64) {
        self.with(|state| {
            let Some(task) = state.tasks.last_mut() else { return };
            task.done += amount;
            if state.drawn.elapsed() >= REDRAW {
                state.drawn = Instant::now();
                draw(&task.line());
            }
        });
    }

    fn finish(&self) {
        self.with(|state| {
            state.tasks.pop();
            draw("");
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
        };
        let total = self.total.map_or_else(String::new, |total| format!(" of {}", amount(total)));
        format!("{}: {}{total}", self.name, amount(self.done))
    }
}

/// Replaces the line. A terminal that is gone is nobody's concern.
fn draw(line: &str) {
    let _ = write!(stderr(), "\r\x1b[K{line}").and_then(|()| stderr().flush());
}
