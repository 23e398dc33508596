//! The runtime of a command: its limits, its progress, and Ctrl-C.
//!
//! On a terminal progress is a bar (indicatif). Elsewhere it is lines: for people one every two seconds, for programs
//! JSON, whose keys `docs/reports.md` lists.

use crate::common::{Common, Limits, ShowProgress};
use crate::object::{Call, image_of};
use indicatif::{ProgressBar, ProgressStyle};
use outcore::front_ends::calendar_text;
use outcore::io::{bytes_text, differing_texts, escaped, ignores_signal, lock};
use outcore::report::now;
use outcore::{Error, Graph, GraphOptions, Progress, Result, Runtime, RuntimeOptions, Unit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The signal that asked to stop.
static SIGNAL: AtomicI32 = AtomicI32::new(SIGINT);

/// Whether lines on the standard error begin with the time.
pub static LOG_TIMES: AtomicBool = AtomicBool::new(false);

/// The time that a line on the standard error begins with, if such lines do.
pub fn time_of_line() -> String {
    let is_wanted = LOG_TIMES.load(Ordering::Relaxed);
    now().filter(|_| is_wanted).map_or(String::new(), |seconds| calendar_text(seconds) + " ")
}

/// The exit code of a command that a signal ends, as shells have it: 128 and the number of the signal.
pub fn signal_code(signal: i32) -> u8 {
    128 + signal as u8
}

/// The exit code of a command that was asked to stop.
pub fn stop_code() -> u8 {
    signal_code(SIGNAL.load(Ordering::SeqCst))
}

/// The signals that ask to stop. That of a terminal that closes is none under `nohup`, which ignores it.
fn stop_signals() -> Vec<i32> {
    [SIGINT, SIGTERM].into_iter().chain((!ignores_signal(SIGHUP)).then_some(SIGHUP)).collect()
}

/// The runtime that the limits ask for. Ctrl-C asks its work to stop; a second one ends the process.
pub fn runtime(limits: &Limits, temporary: Option<PathBuf>) -> Result<Runtime> {
    runtime_or(limits, temporary, |error, _| error)
}

/// Opens the graph of a run within limits.
pub fn open(common: &Common, limits: &Limits, temporary: Option<PathBuf>, call: &Call) -> Result<Graph> {
    let options = GraphOptions { cache_bytes: common.cache, ..GraphOptions::default() };
    let graph = Graph::open(&runtime(limits, temporary)?, &common.image, options)?;
    call.known().image = image_of(&common.image, Some(graph.manifest().image_id));
    Ok(graph)
}

/// The runtime that the limits ask for, or what is made of the error where there can be none.
pub fn runtime_or(
    limits: &Limits,
    temporary: Option<PathBuf>,
    refused: impl FnOnce(Error, &RuntimeOptions) -> Error,
) -> Result<Runtime> {
    let backend = outcore::io::backend::by_name(&limits.backend).map_err(Error::Usage)?;
    let options = RuntimeOptions {
        memory_bytes: limits.memory,
        threads: limits.threads.map(usize::from),
        backend: Some(backend),
        temporary,
        progress: progress(limits),
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::new(options.clone()).map_err(|error| refused(error, &options))?;
    if runtime.backend().name() == "posix" {
        outcore::io::limit_arenas(runtime.threads() + 2);
    }
    let cancel = runtime.cancel().clone();
    let mut signals = signal_hook::iterator::Signals::new(stop_signals())
        .map_err(|error| Error::file("signals", "listen to", error))?;
    let listen = move || {
        for signal in signals.forever() {
            SIGNAL.store(signal, Ordering::SeqCst);
            if cancel.is_cancelled() {
                std::process::exit(i32::from(stop_code()));
            }
            cancel.cancel();
        }
    };
    std::thread::Builder::new().spawn(listen).map_err(|source| Error::ThreadRefused { source })?;
    Ok(runtime)
}

fn progress(limits: &Limits) -> Option<Arc<dyn Progress>> {
    let is_seen = std::io::stderr().is_terminal();
    match limits.progress {
        ShowProgress::Auto if limits.quiet || !is_seen => None,
        ShowProgress::Never => None,
        ShowProgress::Auto => Some(Arc::new(Bar::default())),
        ShowProgress::Always if is_seen => Some(Arc::new(Bar::default())),
        ShowProgress::Always => Some(Arc::new(Lines::new(LINE_EVERY, false))),
        ShowProgress::Json => Some(Arc::new(Lines::new(EVENT_EVERY, true))),
    }
}

/// A directory for an image that is not kept: it vanishes when this is dropped.
pub fn scratch(runtime: &Runtime) -> Result<TempDir> {
    let place = runtime.temporary().cloned().unwrap_or_else(std::env::temp_dir);
    let made = tempfile::Builder::new().prefix("outcore-").tempdir_in(&place);
    made.map_err(|error| Error::file(place, "create a directory in", error))
}

/// Says what a benchmark was run with, and the most memory that it held.
pub fn note_memory(runtime: &Runtime, limits: &Limits) {
    if !limits.quiet {
        let [peak, limit] = differing_texts(outcore::io::peak_memory_bytes(), runtime.budget().limit_bytes());
        note!("one process, {} threads, peak memory {peak} of {limit}", runtime.threads());
    }
}

/// Interval between lines of progress, for people and programs.
const LINE_EVERY: Duration = Duration::from_secs(2);
const EVENT_EVERY: Duration = Duration::from_millis(200);

/// Lines of text or of JSON on the standard error. Tasks may nest: what advances is the innermost one.
struct Lines {
    every: Duration,
    is_json: bool,
    state: Mutex<LineState>,
}

struct LineState {
    tasks: Vec<Doing>,
    /// When a line was written last.
    last: Instant,
}

/// A task that is under way.
struct Doing {
    name: String,
    unit: Unit,
    total: Option<u64>,
    done: u64,
    begin: Instant,
}

impl Lines {
    fn new(every: Duration, is_json: bool) -> Self {
        Lines { every, is_json, state: Mutex::new(LineState { tasks: Vec::new(), last: Instant::now() }) }
    }

    /// Writes a line about a task. A standard error that cannot be written to changes no outcome.
    fn write(&self, event: &str, task: &Doing) {
        let Doing { name, unit, total, done, begin } = task;
        let seconds = begin.elapsed().as_secs_f64();
        if self.is_json {
            let seconds = (seconds * 1e6).round() / 1e6;
            let line = serde_json::json!({
                "event": event, "name": name, "unit": unit.name(), "done": done, "total": total, "seconds": seconds,
            });
            _ = writeln!(std::io::stderr(), "{line}");
            return;
        }
        let amount = |count: u64| match unit {
            Unit::Bytes => bytes_text(count),
            unit => format!("{count} {}", unit.name()),
        };
        let total = total.map_or_else(String::new, |total| format!(" of {}", amount(total)));
        note!("{}: {}{total}, {seconds:.1} s", escaped(name), amount(*done));
    }
}

impl Progress for Lines {
    fn start(&self, name: &str, unit: Unit, total: Option<u64>) {
        let mut state = lock(&self.state);
        let task = Doing { name: name.to_owned(), unit, total, done: 0, begin: Instant::now() };
        if self.is_json {
            self.write("start", &task);
        }
        state.tasks.push(task);
    }

    fn advance(&self, amount: u64) {
        let mut state = lock(&self.state);
        let is_time = state.last.elapsed() >= self.every;
        let Some(task) = state.tasks.last_mut() else { return };
        task.done += amount;
        if is_time {
            self.write("advance", task);
            state.last = Instant::now();
        }
    }

    fn finish(&self) {
        let mut state = lock(&self.state);
        let Some(task) = state.tasks.pop() else { return };
        // People need not hear of what took no time.
        if self.is_json || task.begin.elapsed() >= self.every {
            self.write("finish", &task);
        }
    }
}

/// A bar on the terminal. Tasks may nest: the innermost one is shown.
#[derive(Default)]
struct Bar {
    tasks: Mutex<Vec<ProgressBar>>,
}

impl Progress for Bar {
    fn start(&self, name: &str, unit: Unit, total: Option<u64>) {
        let amount = match unit {
            Unit::Bytes => "{bytes} of {total_bytes} ({bytes_per_sec})",
            Unit::Edges => "{human_pos} of {human_len} edges ({per_sec})",
            Unit::Vertices => "{human_pos} of {human_len} vertices ({per_sec})",
            Unit::Steps => "{human_pos} of at most {human_len} steps",
            Unit::Products => "{human_pos} of {human_len} products",
            Unit::Rows => "{human_pos} of {human_len} rows",
            _ => "{human_pos} of {human_len}",
        };
        let template = match total {
            Some(_) => format!("{{msg:20}} {{wide_bar}} {amount}"),
            None => format!("{{msg:20}} {{spinner}} {}", amount.split(" of ").next().unwrap_or_default()),
        };
        let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.set_message(name.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        lock(&self.tasks).push(bar);
    }

    fn advance(&self, amount: u64) {
        if let Some(bar) = lock(&self.tasks).last() {
            bar.inc(amount);
        }
    }

    fn finish(&self) {
        if let Some(bar) = lock(&self.tasks).pop() {
            bar.finish_and_clear();
        }
    }
}
