//! `outcore run`: an algorithm over an image, its answer, and what it cost.

use crate::args::Common;
use crate::convert::output_error;
use crate::learn::learn;
use crate::options::{AlgorithmArgs, RunArgs, in_shell};
use crate::progress::runtime;
use crate::report::Page;
use crate::solve::solve;
use outcore::io::{bytes_text, escaped, folder};
use outcore::report::Given;
use outcore::{
    Column, Error, Estimate, Graph, GraphOptions, GraphValues, NotConverged, Result, Runtime, Say, Stats, Table,
    Unconverged, Values, cell_text, is_standard_output,
};
use std::cell::RefCell;
use std::fmt::{Arguments, Display};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// The exit code of a run whose ranks did not converge.
const UNCONVERGED: u8 = 4;

/// `outcore run`. The exit code is 4 if ranks, or values, did not converge.
pub fn run(args: &RunArgs) -> Result<ExitCode> {
    match args {
        RunArgs::Algorithm(args) => run_algorithm(args),
        RunArgs::Solver(args) => solve(args),
        RunArgs::Learn(args) => learn(args),
    }
}

fn run_algorithm(args: &AlgorithmArgs) -> Result<ExitCode> {
    let AlgorithmArgs { algorithm, given, allow_unconverged, top, common } = args;
    let graph = open(common)?;
    let values = Values::new(*algorithm, given.clone())?;
    let graph = values.weighing(graph)?;
    let plan = algorithm.plan(&graph, values)?;
    let is_told = !common.limits.quiet;
    let report = algorithm.report_needs.filter(|_| is_told);
    let estimate = plan.estimate(&graph);
    let estimate = match report {
        Some(needs) => estimate.with_state(&graph, (needs.bytes)(&graph)),
        None => estimate,
    };
    if planned(&graph, common, &estimate)? {
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(needs) = report {
        graph.make_room(needs.purpose, estimate.state_bytes)?;
    }
    let options = Given::all(algorithm.options, given);
    let page = Page::begin(common, graph.runtime(), || Page::of_graph(algorithm.name, options, &estimate, &graph));
    let mut say = |line: Arguments<'_>| common.say(line);
    let found = plan.run(&graph, common.verify, is_told.then_some(&mut say as Say<'_>))?;
    let page = page.map(Page::end);
    if let Some(unconverged) = found.unconverged.filter(|_| !allow_unconverged) {
        return ranks_not_converged(&graph, unconverged, &found.stats, page, common);
    }
    let table = graph.table(found.columns);
    for (heading, column) in &found.shown {
        if !heading.is_empty() {
            common.say(heading);
        }
        show_top(&graph, &table.columns()[*column], *top, common)?;
    }
    finish(&table, &found.stats, page, common)?;
    Ok(ExitCode::SUCCESS)
}

fn open(common: &Common) -> Result<Arc<Graph>> {
    let runtime = runtime(&common.limits, None)?;
    Ok(Arc::new(Graph::open(
        &runtime,
        &common.image,
        GraphOptions { cache_bytes: common.cache, ..GraphOptions::default() },
    )?))
}

/// Writes no ranks, but what they cost, and says so in the exit code.
fn ranks_not_converged(
    graph: &Graph,
    Unconverged { tol, residual, remedy, .. }: Unconverged,
    stats: &Stats,
    page: Option<Page>,
    common: &Common,
) -> Result<ExitCode> {
    report(stats, common);
    let advice = remedy.advice(|name| format!("--{}", in_shell(name)));
    note!(
        "outcore: the ranks did not converge: expected a tolerance of {tol:e}, found a residual of {residual:e}; no \
         ranks were written. To mend it, {advice}; or take them as they are by --allow-unconverged"
    );
    account(graph.runtime(), stats, page, common)?;
    Ok(ExitCode::from(UNCONVERGED))
}

/// Writes no result of a solver or a model, but what it cost, and says so in the exit code. `failure` is a clause.
pub fn not_converged(
    failure: &str,
    NotConverged { text, raise }: &NotConverged,
    runtime: &Arc<Runtime>,
    stats: &Stats,
    page: Option<Page>,
    common: &Common,
) -> Result<ExitCode> {
    report(stats, common);
    let options: Vec<_> = raise.iter().map(|name| format!("--{}", in_shell(name))).collect();
    note!(
        "outcore: {failure}: {text}; no result was written. To mend it, raise {}; or take what there is by \
         --allow-unconverged",
        options.join(" or ")
    );
    account(runtime, stats, page, common)?;
    Ok(ExitCode::from(UNCONVERGED))
}

/// Says a line of an answer. Ids and names are part of some: their control characters are escaped.
pub fn say(line: impl Display) -> Result<()> {
    writeln!(std::io::stdout(), "{}", escaped(line)).map_err(output_error)
}

/// An answer on the standard output. One that nobody takes, as in `outcore run ... | head`, stops no work and loses no
/// other result: see [`Answer::heard`].
#[derive(Default)]
pub struct Answer {
    /// Why the first part that nobody took could not be written.
    unheard: RefCell<Option<std::io::Error>>,
}

impl Answer {
    /// Says a line, as [`say`] does.
    pub fn say(&self, line: impl Display) {
        self.write(format_args!("{}\n", escaped(line)));
    }

    /// Writes lines as they are.
    pub fn write(&self, lines: impl Display) {
        if self.unheard.borrow().is_none() {
            self.unheard.replace(write!(std::io::stdout(), "{lines}").err());
        }
    }

    /// An error if a part could not be written; asked when all else is done.
    pub fn heard(&self) -> Result<()> {
        self.unheard.take().map_or(Ok(()), |error| Err(output_error(error)))
    }
}

impl Common {
    /// Says a line of the report: where the statistics do not go, and nowhere if nothing is to be said.
    pub fn say(&self, line: impl Display) {
        match &self.stats {
            _ if self.limits.quiet => {}
            Some(file) if file == Path::new("-") => note!("{}", escaped(line)),
            _ if self.aside || self.output.as_deref().is_some_and(is_standard_output) => note!("{}", escaped(line)),
            _ => self.answer.say(line),
        }
    }
}

/// Refuses what can be refused before the run, and explains what it needs if that is what was asked for: then nothing
/// is left to do.
fn planned(graph: &Graph, common: &Common, estimate: &Estimate) -> Result<bool> {
    if !common.explain {
        estimate.check_result(graph, common.verify, common.output.is_some())?;
    }
    if let Some(output) = &common.output {
        graph.check_output(output, &estimate.columns)?;
    }
    let stats = common.stats.as_deref().filter(|file| *file != Path::new("-"));
    let files = [("--output", common.output.as_deref()), ("--stats", stats), ("--report", common.report.as_deref())];
    let files: Vec<_> = files.into_iter().filter_map(|(option, file)| Some((option, file?))).collect();
    check_different(graph.runtime(), &[], &files)?;
    if common.stats.as_deref() == Some(Path::new("-")) && common.output.as_deref().is_some_and(is_standard_output) {
        let text = "expected different places for --output and --stats, found the standard output for both";
        return Err(Error::Usage(text.to_owned()));
    }
    [stats, common.report.as_deref()].into_iter().flatten().try_for_each(|file| outcore::check_file(graph, file))?;
    if !common.explain {
        return Ok(false);
    }
    let mut needs = estimate.clone();
    if common.output.is_some() {
        needs = needs.with_output(graph);
    }
    if common.verify {
        needs = needs.with_verification(graph);
    }
    say(format_args!("memory   {} ({} of state)", bytes_text(needs.memory_bytes), bytes_text(needs.state_bytes)))?;
    if common.output.is_some() {
        let bytes = bytes_text(graph.output_bytes(&needs.columns));
        say(format_args!("output   {bytes} of memory for values, ids and encoding"))?;
    }
    if common.verify {
        let bytes = bytes_text(needs.verify_bytes);
        say(format_args!("verify   {bytes} of memory for the result and its verification; its reads are not counted"))?;
    }
    let (bound, passes) = (needs.bound.words(), (1000.0 * needs.passes).ceil() / 1000.0);
    say(format_args!("passes   {bound} {passes}"))?;
    say(format_args!("reads    {bound} {}", bytes_text(needs.read_bytes)))?;
    Ok(true)
}

/// Shows the greatest values of a column.
fn show_top(graph: &Arc<Graph>, (name, column): &(String, Column), most: usize, common: &Common) -> Result<()> {
    if common.limits.quiet || most == 0 {
        return Ok(());
    }
    // Alone, for the ids in other columns need not be read.
    let rows = graph.table(vec![(name.clone(), column.clone())]).top(most, name)?;
    let text = |column: usize, row| cell_text(rows.column(column), row);
    (0..rows.num_rows()).for_each(|row| common.say(format_args!("  {:24} {}", text(0, row), text(1, row))));
    Ok(())
}

/// Writes the result and the statistics where they are wanted.
fn finish(table: &Table, stats: &Stats, page: Option<Page>, common: &Common) -> Result<()> {
    report(stats, common);
    if let Some(output) = &common.output {
        table.write(output)?;
    }
    account(table.image().runtime(), stats, page, common)?;
    common.answer.heard()
}

/// Says what a run cost.
pub fn report(stats: &Stats, common: &Common) {
    if common.verify {
        common.say("verified");
    }
    if let Some(name) = &stats.weights {
        common.say(format_args!("edges count by their weights, `{name}`"));
    }
    let total = &stats.total;
    common.say(format_args!(
        "{:.3} s ({:.3} s waiting for reads), {:.3} passes, {} in {} requests, {} cache hits, peak memory {} of {}",
        total.seconds,
        total.seconds_io_wait / stats.threads as f64,
        stats.passes,
        bytes_text(total.bytes_read),
        total.requests,
        total.cache_hits,
        bytes_text(outcore::io::peak_memory_bytes()),
        bytes_text(stats.memory_limit_bytes),
    ))
}

/// Writes statistics and the page where they are wanted.
pub fn account(runtime: &Arc<Runtime>, stats: &Stats, page: Option<Page>, common: &Common) -> Result<()> {
    if let Some(file) = &common.stats {
        let stats = Stats { memory_peak_bytes: outcore::io::peak_memory_bytes(), ..stats.clone() };
        write_json(runtime, &serde_json::to_value(&stats).map_err(Error::custom)?, file, &common.answer)?;
    }
    page.map_or(Ok(()), |page| page.write(runtime, stats))
}

/// Writes an object as JSON, to a file or, for `-`, to the standard output.
pub fn write_json(runtime: &Arc<Runtime>, object: &serde_json::Value, file: &Path, answer: &Answer) -> Result<()> {
    let text = serde_json::to_string_pretty(object).map_err(Error::custom)? + "\n";
    match file == Path::new("-") {
        true => {
            answer.write(text);
            Ok(())
        }
        false => outcore::write_file(runtime, file, text.as_bytes()),
    }
}

/// Refuses files that are written, in the place of an input or of one another. Inputs may be one file.
pub fn check_different(runtime: &Runtime, inputs: &[(String, &Path)], outputs: &[(&str, &Path)]) -> Result<()> {
    let backend = runtime.backend();
    let place = |file: &Path| (backend.resolve(folder(file)).ok(), file.file_name().map(ToOwned::to_owned));
    let mut known: Vec<_> = inputs.iter().map(|(option, file)| (&**option, place(file))).collect();
    for &(option, file) in outputs {
        let here = place(file);
        if let Some((other, _)) = known.iter().find(|(_, other)| *other == here) {
            let text = format!("expected different files for {other} and {option}, found {} for both", file.display());
            return Err(Error::Usage(text));
        }
        known.push((option, here));
    }
    Ok(())
}
