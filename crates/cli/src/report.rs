//! `--report` of `outcore run` and `outcore import`: the run as a page. While it goes on, a thread takes samples of
//! what it uses; without the option there is none.

use crate::common::{Common, report};
use crate::object::{Call, Found, error_of, members};
use crate::options::in_shell;
use outcore::front_ends::NotConverged;
use outcore::import::{ImportEstimate, ImportSummary};
use outcore::io::{Sample, Watch};
use outcore::report::{OptionText, Planned, Report, Summary, now, of_import, page, shell_text};
use outcore::{ErrorKind, Graph, Result, Runtime, Stats};
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
    pub options: Vec<OptionText>,
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

/// The facts of `outcore info`.
pub fn graph_facts(graph: &Graph) -> Map<String, Value> {
    members(graph.info())
}

/// The end of a run.
pub struct End<'a> {
    call: &'a Call,
    common: &'a Common,
    runtime: &'a Runtime,
    /// The page, if one was asked for.
    pub page: Option<Page>,
}

impl<'a> End<'a> {
    /// The end of a run whose page ended with it. Its result and its cost are known from now on, also if they cannot be
    /// written.
    pub fn new(
        call: &'a Call,
        common: &'a Common,
        runtime: &'a Runtime,
        page: Option<Page>,
        (result, stats): (Option<Found>, &Stats),
    ) -> Self {
        call.known().result = result;
        let end = End { call, common, runtime, page };
        end.cost(stats);
        end
    }

    /// The cost by now.
    fn cost(&self, stats: &Stats) -> Stats {
        let mut stats = stats.clone();
        stats.memory_peak_bytes = outcore::io::peak_memory_bytes();
        self.call.known().stats = members(&stats).into();
        self.call.tell_notes(self.runtime, self.common);
        stats
    }

    /// Writes the page and the object where they are wanted.
    pub fn account(self, stats: &Stats) -> Result<()> {
        let stats = self.cost(stats);
        let End { call, common, runtime, page } = self;
        if let Some(page) = page {
            page.write(runtime, stats)?;
            common.report.iter().for_each(|file| call.wrote("--report", file));
        }
        call.account(runtime, &common.answer)
    }

    /// Writes no result, but the cost of the run, and returns the exit code of a run that did not converge. `failure`
    /// says what did not, and how to mend that.
    pub fn not_converged(self, failure: impl Display, stats: &Stats) -> Result<u8> {
        report(stats, self.common);
        let (kind, message) = (ErrorKind::NotConverged, format!("{failure} by --allow-unconverged"));
        note!("outcore: {message}");
        self.call.known().error = error_of(kind, &message);
        self.account(stats)?;
        Ok(kind.exit_code())
    }
}

/// The failure of a solver or a model, which `clause` names, for [`End::not_converged`].
pub fn failure(clause: &str, NotConverged { text, raise }: &NotConverged) -> String {
    let options: Vec<_> = raise.iter().map(|name| format!("--{}", in_shell(name))).collect();
    let raise = options.join(" or ");
    format!("{clause}: {text}; no result was written. To mend it, raise {raise}; or take what there is")
}
