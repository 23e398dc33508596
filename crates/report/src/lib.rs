//! A run as one HTML page: options, estimate, and measured cost.
//!
//! The page needs nothing beside itself: no network, no file, and for its tables no JavaScript. Its numbers stand in it
//! as JSON, too, under the keys that `docs/reports.md` lists ([`data`]); the charts are drawn from them by uPlot, which
//! is part of the page (`vendor/uplot`). The shell (`--report` of `outcore run` and `outcore import`) and Python
//! (`report()` of results, models and imports) give this crate the same [`Report`], and it makes the same page for
//! both.
//!
//! Text of users (ids, paths, names of weights) goes through [`escape`], and JSON through a function that leaves
//! nothing which could end the script. A page is bounded: there are at most 4096 steps and 512 samples, JSON has a list
//! per field instead of an object per step, and the table of steps sums adjacent ones up beyond 200.
//!
//! There is no template engine: the page has seven parts, each a function that returns text.
#![forbid(unsafe_code)]

mod data;
mod escape;
mod import;
mod options;
mod page;
mod steps;
mod summary;
mod timeline;

pub use data::{SCHEMA, data};
pub use escape::escape;
pub use import::of_import;
pub use options::{OptionText, call_text, cut, shell_text};
pub use page::page;
pub use summary::{SomeRows, Summary};

use outcore_algo::Estimate;
use outcore_image::Stats;
use outcore_io::Sample;
use serde::Serialize;
use serde_json::{Map, Value};
use std::time::SystemTime;

/// The content of a page.
#[derive(Clone, Debug)]
pub struct Report {
    /// Name of the algorithm, such as `pagerank`, of the solver or model, or `import`.
    pub name: String,
    /// Path of the image or file, or words for what has none.
    pub input: String,
    /// The call: a command, or an expression in Python.
    pub call: String,
    /// The options.
    pub options: Vec<OptionText>,
    /// Facts of the input: those of `outcore info`, as far as they are known.
    pub facts: Map<String, Value>,
    /// The estimate before the run.
    pub plan: Planned,
    /// The result, in short.
    pub result: Summary,
    /// When the run ended, in seconds since 1970 began in UTC; `None` if the clock says less.
    pub ended: Option<u64>,
    /// The cost of the run.
    pub stats: Stats,
    /// Resource samples over the run; may be empty.
    pub samples: Vec<Sample>,
}

/// The time, for [`Report::ended`].
pub fn now() -> Option<u64> {
    Some(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs())
}

/// The estimate of a run before it began.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Planned {
    /// A memory limit that works, in bytes.
    pub memory_bytes: Option<u64>,
    /// The memory of its state, in bytes.
    pub state_bytes: Option<u64>,
    /// Passes over the lists.
    pub passes: Option<f64>,
    /// Bytes to read.
    pub read_bytes: Option<u64>,
    /// The meaning of passes and bytes: "at most", "at least", or that no bound is known.
    pub bound: Option<&'static str>,
    /// Further notes, in lines.
    pub notes: Vec<String>,
}

impl Planned {
    /// The estimate of a solver: a limit that works, the memory of its state, its passes in words, and how many columns
    /// are multiplied in one.
    pub fn of_solver(memory_bytes: u64, state_bytes: u64, passes: &str, columns_per_pass: usize) -> Self {
        Planned {
            memory_bytes: Some(memory_bytes),
            state_bytes: Some(state_bytes),
            notes: vec![format!("Planned passes: {passes}; {columns_per_pass} columns are multiplied in one.")],
            ..Planned::default()
        }
    }
}

impl From<&Estimate> for Planned {
    fn from(estimate: &Estimate) -> Self {
        Planned {
            memory_bytes: Some(estimate.memory_bytes),
            state_bytes: Some(estimate.state_bytes),
            passes: Some(estimate.passes),
            read_bytes: Some(estimate.read_bytes),
            bound: Some(estimate.bound.words()),
            notes: Vec::new(),
        }
    }
}
