//! The runtime of a command: its limits, its progress bar, and Ctrl-C.

use crate::args::Limits;
use indicatif::{ProgressBar, ProgressStyle};
use outcore::io::bytes_text;
use outcore::io::lock;
use outcore::{Error, Progress, Result, Runtime, RuntimeOptions, Unit};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// The signal that asked to stop.
static SIGNAL: AtomicI32 = AtomicI32::new(signal_hook::consts::SIGINT);

/// The exit code of a command that was asked to stop, as shells have it: 128 and the number of the signal.
pub fn stop_code() -> u8 {
    128 + SIGNAL.load(Ordering::SeqCst) as u8
}

/// The runtime that the limits ask for. Ctrl-C asks its work to stop; a second one ends the process.
pub fn runtime(limits: &Limits, temporary: Option<PathBuf>) -> Result<Arc<Runtime>> {
    runtime_or(limits, temporary, |error, _| error)
}

/// The runtime that the limits ask for, or what is made of the error where there can be none.
pub fn runtime_or(
    limits: &Limits,
    temporary: Option<PathBuf>,
    refused: impl FnOnce(Error, &RuntimeOptions) -> Error,
) -> Result<Arc<Runtime>> {
    let backend = outcore::io::backend::by_name(&limits.backend).map_err(Error::Usage)?;
    let bar: Option<Arc<dyn Progress>> =
        (!limits.quiet && std::io::stderr().is_terminal()).then(|| Arc::new(Bar::default()) as Arc<dyn Progress>);
    let options = RuntimeOptions {
        memory_bytes: limits.memory,
        threads: limits.threads.map(usize::from),
        backend: Some(backend),
        temporary,
        progress: bar,
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::new(options.clone()).map_err(|error| refused(error.into(), &options))?;
    if runtime.backend().name() == "posix" {
        outcore::io::limit_arenas(runtime.threads() + 2);
    }
    let cancel = runtime.cancel().clone();
    let mut signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM])
        .map_err(|error| outcore::io::Error::file("signals", "listen to", error))?;
    let listen = move || {
        for signal in signals.forever() {
            SIGNAL.store(signal, Ordering::SeqCst);
            if cancel.is_cancelled() {
                std::process::exit(i32::from(stop_code()));
            }
            cancel.cancel();
        }
    };
    std::thread::Builder::new().spawn(listen).map_err(|source| outcore::io::Error::ThreadRefused { source })?;
    Ok(Arc::new(runtime))
}

/// A directory for an image that is not kept: it vanishes when this is dropped.
pub fn scratch(runtime: &Runtime) -> Result<TempDir> {
    let place = runtime.temporary().cloned().unwrap_or_else(std::env::temp_dir);
    let made = tempfile::Builder::new().prefix("outcore-").tempdir_in(&place);
    made.map_err(|error| outcore::io::Error::file(place, "create a directory in", error).into())
}

/// Says what a benchmark was run with, and the most memory that it held.
pub fn note_memory(runtime: &Runtime, limits: &Limits) {
    if !limits.quiet {
        let (peak, limit) = (outcore::io::peak_memory_bytes(), runtime.budget().limit_bytes());
        let (peak, limit) = (bytes_text(peak), bytes_text(limit));
        note!("one process, {} threads, peak memory {peak} of {limit}", runtime.threads());
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
