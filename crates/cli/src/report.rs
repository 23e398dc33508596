//! `outcore run --report`: the run as a page. While it goes on, a thread takes samples of what it uses; without the
//! option there is none.

use crate::answer::UNCONVERGED;
use crate::common::{Common, report, write_stats};
use crate::options::in_shell;
use outcore::io::Watch;
use outcore::report::{Given, Planned, Report, page, shell_text};
use outcore::{Estimate, Graph, NotConverged, Result, Runtime, Stats};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// A page that is written when the run has ended.
pub struct Page {
    file: PathBuf,
    about: About,
    watch: Option<Watch>,
    samples: Vec<outcore::io::Sample>,
}

/// Facts before the run.
pub struct About {
    /// Name of the algorithm.
    pub name: String,
    /// The options.
    pub options: Vec<Given>,
    /// Facts of the input.
    pub facts: Map<String, Value>,
    /// The estimate.
    pub plan: Planned,
    input: String,
}

impl About {
    /// Facts of any run.
    pub fn new(name: &str, options: Vec<Given>, facts: Map<String, Value>, plan: Planned) -> Self {
        About { name: in_shell(name), options, facts, plan, input: String::new() }
    }
}

impl Page {
    /// The run begins; nothing if no page was asked for.
    pub fn begin(common: &Common, runtime: &Arc<Runtime>, about: impl FnOnce() -> About) -> Option<Self> {
        let file = common.report.clone()?;
        let about = About { input: common.image.display().to_string(), ..about() };
        Some(Page { file, about, watch: Some(Watch::start(runtime)), samples: Vec::new() })
    }

    /// Facts of the run of an algorithm.
    pub fn of_graph(name: &str, options: Vec<Given>, estimate: &Estimate, graph: &Graph) -> About {
        About::new(name, options, graph_facts(graph), Planned::from(estimate))
    }

    /// The run has ended.
    #[must_use]
    pub fn end(mut self) -> Self {
        self.samples = self.watch.take().map(Watch::finish).unwrap_or_default();
        self
    }

    /// Writes the page.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(self, runtime: &Arc<Runtime>, stats: &Stats) -> Result<()> {
        let Page { file, about, samples, .. } = self;
        let About { name, options, facts, plan, input } = about;
        let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
        let call = shell_text(std::iter::once("outcore".to_owned()).chain(words));
        let stats = Stats { memory_peak_bytes: outcore::io::peak_memory_bytes(), ..stats.clone() };
        let html = page(&Report { name, input, call, options, facts, plan, stats, samples });
        outcore::write_file(runtime, &file, html.as_bytes())
    }
}

/// The facts of `outcore info --json`.
pub fn graph_facts(graph: &Graph) -> Map<String, Value> {
    match serde_json::to_value(graph.info()) {
        Ok(Value::Object(facts)) => facts,
        _ => Map::new(),
    }
}

/// Writes statistics and the page where they are wanted.
pub fn account(runtime: &Arc<Runtime>, stats: &Stats, page: Option<Page>, common: &Common) -> Result<()> {
    write_stats(runtime, stats, common)?;
    page.map_or(Ok(()), |page| page.write(runtime, stats))
}

/// Writes no result of a solver or a model, but what it cost, and says so in the exit code. `failure` is a clause.
pub fn not_converged(
    failure: &str,
    NotConverged { text, raise }: &NotConverged,
    runtime: &Arc<Runtime>,
    stats: &Stats,
    page: Option<Page>,
    common: &Common,
) -> Result<u8> {
    report(stats, common);
    let options: Vec<_> = raise.iter().map(|name| format!("--{}", in_shell(name))).collect();
    note!(
        "outcore: {failure}: {text}; no result was written. To mend it, raise {}; or take what there is by \
         --allow-unconverged",
        options.join(" or ")
    );
    account(runtime, stats, page, common)?;
    Ok(UNCONVERGED)
}
