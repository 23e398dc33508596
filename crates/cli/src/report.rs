//! `--report` of `outcore run` and `outcore import`: the run as a page. While it goes on, a thread takes samples of
//! what it uses; without the option there is none.

use crate::answer::write_json;
use crate::common::{Common, report};
use crate::options::in_shell;
use outcore::front_ends::NotConverged;
use outcore::import::{ImportEstimate, ImportSummary};
use outcore::io::{Sample, Watch};
use outcore::report::{Given, Planned, Report, Summary, now, of_import, page, shell_text};
use outcore::{Error, ErrorKind, Graph, Result, Runtime, Stats};
use serde_json::{Map, Value};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// A page that is written when the run has ended.
pub struct Page {
    file: PathBuf,
    about: About,
    input: String,
    watch: Option<Watch>,
    samples: Vec<Sample>,
    ended: Option<u64>,
    /// The result, in short.
    pub result: Summary,
}

pub struct About {
    /// Name of the algorithm.
    pub name: &'static str,
    pub options: Vec<Given>,
    /// Facts of the input.
    pub facts: Map<String, Value>,
    pub plan: Planned,
}

impl Page {
    /// The run begins; nothing if no page was asked for.
    pub fn begin(common: &Common, runtime: &Runtime, about: impl FnOnce() -> About) -> Option<Self> {
        let file = common.report.clone()?;
        let (about, input) = (about(), common.image.display().to_string());
        let (watch, result) = (Some(Watch::start(runtime)), Summary::default());
        Some(Page { file, about, input, watch, samples: Vec::new(), ended: None, result })
    }

    /// The run has ended.
    #[must_use]
    pub fn end(mut self) -> Self {
        self.samples = self.watch.take().map(Watch::finish).unwrap_or_default();
        self.ended = now();
        self
    }

    fn write(self, runtime: &Runtime, stats: Stats) -> Result<()> {
        let Page { file, about: About { name, options, facts, plan }, input, samples, ended, result, .. } = self;
        let (name, call) = (in_shell(name), command());
        let html = page(&Report { name, input, call, options, facts, plan, result, ended, stats, samples });
        outcore::front_ends::write_file(runtime, &file, html.as_bytes())
    }
}

/// Writes the page of an import.
pub fn write_import(
    runtime: &Runtime,
    file: &Path,
    summary: &ImportSummary,
    needs: &ImportEstimate,
    samples: Vec<Sample>,
) -> Result<()> {
    let report = Report { call: command(), ..of_import(runtime, summary, needs, samples) };
    outcore::front_ends::write_file(runtime, file, page(&report).as_bytes())
}

/// The command as it can be typed again.
fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    shell_text(std::iter::once("outcore".to_owned()).chain(words))
}

/// The facts of `outcore info --json`.
pub fn graph_facts(graph: &Graph) -> Map<String, Value> {
    match serde_json::to_value(graph.info()) {
        Ok(Value::Object(facts)) => facts,
        _ => Map::new(),
    }
}

/// Writes statistics and the page where they are wanted.
pub fn account(runtime: &Runtime, stats: &Stats, page: Option<Page>, common: &Common) -> Result<()> {
    let stats = Stats { memory_peak_bytes: outcore::io::peak_memory_bytes(), ..stats.clone() };
    if let Some(file) = &common.stats {
        write_json(runtime, &serde_json::to_value(&stats).map_err(Error::custom)?, file, &common.answer)?;
    }
    page.map_or(Ok(()), |page| page.write(runtime, stats))
}

/// Writes no result, but the cost of the run, and returns the exit code of a run that did not converge. `failure` says
/// what did not, and how to mend that.
pub fn not_converged(
    failure: impl Display,
    runtime: &Runtime,
    stats: &Stats,
    page: Option<Page>,
    common: &Common,
) -> Result<u8> {
    report(stats, common);
    note!("outcore: {failure} by --allow-unconverged");
    account(runtime, stats, page, common)?;
    Ok(ErrorKind::NotConverged.exit_code())
}

/// The failure of a solver or a model, which `clause` names, for [`not_converged`].
pub fn failure(clause: &str, NotConverged { text, raise }: &NotConverged) -> String {
    let options: Vec<_> = raise.iter().map(|name| format!("--{}", in_shell(name))).collect();
    let raise = options.join(" or ");
    format!("{clause}: {text}; no result was written. To mend it, raise {raise}; or take what there is")
}
