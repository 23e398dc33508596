//! `outcore run` and an algorithm: its options, the computation over an image, its answer, and what it cost.

use crate::answer::{SUCCESS, say};
use crate::common::{Common, Limits, count, report};
use crate::id_lists::{IdList, joined};
use crate::object::{Call, Found, members};
use crate::options::{UNWEIGHTED, allow_unconverged, allows_unconverged, arg_of, in_shell, lists_of, values_of};
use crate::plan::{OutputPlan, RunPlan};
use crate::progress::open;
use crate::report::{About, End, Page, graph_facts};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use outcore::front_ends::{Algorithm, GraphValues, Kind, OptionValues, Parameter, Say, Unconverged, Value, cell_text};
use outcore::io::{Reservation, bytes_text, let_go_of_code, limit_text};
use outcore::report::{OptionText, Planned, Summary};
use outcore::{Column, Estimate, Graph, Result, Table};
use std::fmt::Arguments;

/// The option that says how many rows are shown, and how many that are if it is not given.
const TOP: &str = "top";
const SHOWN: usize = 10;

/// Whether an algorithm itself looks for so many.
fn has_own_top(algorithm: &Algorithm) -> bool {
    algorithm.options.iter().any(|option| option.name == TOP)
}

/// `outcore run` and an algorithm.
pub struct AlgorithmArgs {
    pub algorithm: &'static Algorithm,
    pub given: Vec<(&'static str, Value)>,
    /// The options that are lists of ids, which stand in files perhaps.
    pub lists: Vec<(&'static Parameter, Vec<IdList>)>,
    /// Ranks that have not converged are taken.
    pub allow_unconverged: bool,
    /// Number of the first rows that are shown.
    pub top: usize,
    pub common: Common,
}

impl AlgorithmArgs {
    /// The arguments of this algorithm.
    ///
    /// # Errors
    /// Arguments that are not of their type.
    pub fn of(algorithm: &'static Algorithm, matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let given = values_of(algorithm.options, matches);
        let lists = lists_of(algorithm.options, matches);
        let allow_unconverged = allows_unconverged(algorithm, matches);
        let common = Common::from_arg_matches(matches)?;
        let top =
            if has_own_top(algorithm) { SHOWN } else { matches.get_one(TOP).map_or(SHOWN, |&top: &u64| top as usize) };
        Ok(AlgorithmArgs { algorithm, given, lists, allow_unconverged, top, common })
    }
}

/// The command with the options of its algorithm.
pub fn with_options(mut command: Command) -> Command {
    let Some(algorithm) = Algorithm::named(command.get_name()) else { return command };
    for option in algorithm.options {
        command = command.arg(arg_of(option));
        if let Kind::Weight { .. } = option.kind {
            let unweighted =
                Arg::new(UNWEIGHTED).long(UNWEIGHTED).action(ArgAction::SetTrue).conflicts_with(option.name);
            command = command.arg(unweighted.help("Every edge counts 1, whatever its weight"));
        }
    }
    let accepted = "ranks that have not converged within so many iterations";
    command = command.args(allow_unconverged(algorithm, accepted));
    if !has_own_top(algorithm) {
        let top = Arg::new(TOP).long(TOP).value_name("N").allow_negative_numbers(true).value_parser(count);
        command = command.arg(top.default_value(SHOWN.to_string()).help("How many of the first rows are shown"));
    }
    // The shared options would set the description.
    Common::augment_args(command).about(algorithm.summary)
}

/// Runs an algorithm. The exit code is 4 if its values did not converge.
pub fn run(args: &AlgorithmArgs, call: &Call) -> Result<u8> {
    let plan_again = |limits: &Limits| {
        let prepared = plan_algorithm(args, limits, call)?;
        check_with_state(args, &prepared)
    };
    run_algorithm(args, call).map_err(|error| args.common.limits.advise(error, plan_again))
}

/// A run that can be planned, and what it needs.
struct Prepared {
    graph: Graph,
    options: Vec<OptionText>,
    plan: Box<dyn outcore::front_ends::Plan>,
    estimate: Estimate,
    /// Memory of writing the result, if it is written.
    output_bytes: Option<u64>,
    /// Purpose of the memory of the report, if it takes any.
    report: Option<&'static str>,
    /// Memory of the ids that were read from files.
    _ids: Vec<Reservation>,
}

/// Refuses what cannot be planned.
fn plan_algorithm(args: &AlgorithmArgs, limits: &Limits, call: &Call) -> Result<Prepared> {
    let AlgorithmArgs { algorithm, given, lists, common, .. } = args;
    let graph = open(common, limits, None, call)?;
    let (mut given, mut ids) = (given.clone(), Vec::new());
    for (option, parts) in lists {
        let (value, memory) = joined(graph.runtime(), option, parts)?;
        given.push((option.name, value));
        ids.extend(memory);
    }
    let options = OptionText::all(algorithm.options, &given);
    let values = OptionValues::new(*algorithm, given)?;
    let graph = values.weighing(graph)?;
    if let Some(note) = values.unused_weights(algorithm, &graph) {
        graph.runtime().note(note);
    }
    let plan = algorithm.plan(&graph, values)?;
    let report = algorithm.report_needs.filter(|_| !common.limits.quiet);
    let report = report.map(|needs| (needs.purpose, (needs.bytes)(&graph)));
    let mut estimate = plan.estimate(&graph);
    let report = match common.report {
        Some(_) => Summary::needs(&graph, &estimate.columns).or(report),
        None => report,
    };
    if let Some((_, bytes)) = report {
        estimate = estimate.with_state(&graph, bytes);
    }
    let report = report.map(|(purpose, _)| purpose);
    let output_bytes =
        common.output.as_ref().map(|output| graph.output_bytes(output, &estimate.columns)).transpose()?;
    if let Some(bytes) = output_bytes {
        estimate = estimate.with_output(&graph, bytes);
    }
    if common.verify {
        estimate = estimate.with_verification(&graph);
    }
    Ok(Prepared { graph, options, plan, estimate, output_bytes, report, _ids: ids })
}

impl Prepared {
    fn run_plan(&self, common: &Common) -> RunPlan {
        let Prepared { graph, estimate, output_bytes, .. } = self;
        let outputs = common.output.iter().map(|output| OutputPlan {
            option: "output",
            path: output.display().to_string(),
            rows: graph.vertices(),
            columns: estimate.columns.len(),
            memory_bytes: *output_bytes,
        });
        RunPlan {
            memory_bytes: estimate.memory_bytes,
            state_bytes: estimate.state_bytes,
            outputs: outputs.collect(),
            verify_bytes: common.verify.then_some(estimate.verify_bytes),
            passes: Some(estimate.passes),
            read_bytes: Some(estimate.read_bytes),
            bound: Some(estimate.bound.words()),
            ..RunPlan::default()
        }
    }
}

fn run_algorithm(args: &AlgorithmArgs, call: &Call) -> Result<u8> {
    let AlgorithmArgs { algorithm, allow_unconverged, top, common, .. } = args;
    let prepared = plan_algorithm(args, &common.limits, call)?;
    call.tell_notes(prepared.graph.runtime(), common);
    let run_plan = prepared.run_plan(common);
    call.known().plan = members(&run_plan).into();
    if common.explain {
        explain(common, &run_plan)?;
        check_with_state(args, &prepared)?;
        call.say()?;
        return Ok(SUCCESS);
    }
    check(args, &prepared)?;
    let Prepared { graph, options, plan, estimate, .. } = prepared;
    let shows_report = !common.limits.quiet;
    let page = Page::begin(common, graph.runtime(), || {
        let (facts, plan) = (graph_facts(&graph), Planned::from(&estimate));
        About { name: algorithm.name, options, facts, plan }
    });
    let mut say = |line: Arguments<'_>| common.say(line);
    // The run needs nothing of the code that read the options and planned.
    let_go_of_code();
    let outcome = plan.run(&graph, common.verify, shows_report.then_some(&mut say as Say<'_>))?;
    let page = page.map(Page::end);
    let is_wanted = common.json || common.stats.is_some();
    // Attributes that name vertices are read by a pass over the ids.
    let mut result = match is_wanted || page.is_some() {
        true => Summary::of_attributes(algorithm, &outcome.attributes, |vertices| graph.ids_of(vertices))?,
        false => Summary::default(),
    };
    let values = Some(Found::Values(result.attributes.clone()));
    let mut end = End::new(call, common, graph.runtime(), page, (values, &outcome.stats));
    if let Some(Unconverged { tol, residual, remedy, .. }) = outcome.unconverged.filter(|_| !allow_unconverged) {
        let advice = remedy.advice(|name| format!("--{}", in_shell(name)));
        let failure = format_args!(
            "the ranks did not converge: expected a tolerance of {tol:e}, found a residual of {residual:e}; no ranks \
             were written. To mend it, {advice}; or take them as they are"
        );
        if let Some(page) = &mut end.page {
            page.result = result;
        }
        return end.not_converged(failure, &outcome.stats);
    }
    let table = graph.table(outcome.columns).made_by(algorithm.name, plan.values());
    let ranked = outcome.shown.first().map(|(_, column)| table.columns()[*column].0.clone());
    for (heading, column) in &outcome.shown {
        if !heading.is_empty() {
            common.say(heading);
        }
        show_top(&graph, &table.columns()[*column], *top, common)?;
    }
    report(&outcome.stats, common);
    if let Some(output) = &common.output {
        table.write(output)?;
        call.wrote("--output", output);
    }
    if is_wanted && let Some((name, size)) = largest(&table)? {
        let mut values = result.attributes.clone();
        values.insert(name, size);
        call.known().result = Some(Found::Values(values));
    }
    if let Some(page) = &mut end.page {
        // The page does without rows whose ids are too many.
        without_memory(result.add_rows(&table, ranked.as_deref()))?;
        page.result = result;
    }
    end.account(&outcome.stats)?;
    common.answer.heard()?;
    Ok(SUCCESS)
}

/// Nothing where there is too little memory, for parts that may be left out.
fn without_memory<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.is_out_of_memory() => Ok(None),
        result => result.map(Some),
    }
}

/// The size of the largest group, where there are groups; null where there is no memory for counting them.
fn largest(table: &Table) -> Result<Option<(String, serde_json::Value)>> {
    let Some((_, groups)) = table.columns().iter().find(|(_, column)| column.names_groups()) else { return Ok(None) };
    let largest = without_memory(table.largest_groups(groups, 1))?;
    let vertices = largest.and_then(|groups| Some(groups.first()?.1));
    Ok(Some(("largest".to_owned(), vertices.into())))
}

/// Refuses runs and results for which there is too little memory, and files that cannot be written.
fn check(AlgorithmArgs { common, .. }: &AlgorithmArgs, prepared: &Prepared) -> Result<()> {
    let Prepared { graph, estimate, output_bytes, report, .. } = prepared;
    estimate.check_result(graph, common.verify, *output_bytes)?;
    if let Some(output) = &common.output {
        graph.check_output(output, &estimate.columns)?;
    }
    let files = common.outputs(&[]);
    common.check_different(graph.runtime(), &[], &files)?;
    let mut small = files.iter().filter(|(option, _)| *option != "--output");
    small.try_for_each(|(_, file)| outcore::front_ends::check_file(graph.image(), file))?;
    report.map_or(Ok(()), |purpose| graph.make_room(purpose, estimate.state_bytes))
}

/// [`check`], and refuses what the run itself would refuse: a state for which there is too little memory.
fn check_with_state(args: &AlgorithmArgs, prepared: &Prepared) -> Result<()> {
    check(args, prepared)?;
    prepared.graph.make_room(args.algorithm.name, prepared.estimate.state_bytes)
}

/// Says what a run needs.
fn explain(common: &Common, plan: &RunPlan) -> Result<()> {
    if common.object_option().is_some() {
        return Ok(());
    }
    say(format_args!("memory   {} ({} of state)", limit_text(plan.memory_bytes), bytes_text(plan.state_bytes)))?;
    for bytes in plan.outputs.iter().filter_map(|output| output.memory_bytes).map(bytes_text) {
        say(format_args!("output   {bytes} of memory for values, ids and encoding"))?;
    }
    if let Some(bytes) = plan.verify_bytes.map(bytes_text) {
        say(format_args!("verify   {bytes} of memory for the result and its verification; its reads are not counted"))?;
    }
    let (bound, passes) = (plan.bound.unwrap_or_default(), plan.passes.unwrap_or_default());
    say(format_args!("passes   {bound} {}", (1000.0 * passes).ceil() / 1000.0))?;
    say(format_args!("reads    {bound} {}", bytes_text(plan.read_bytes.unwrap_or_default())))
}

/// Shows the greatest values of a column.
fn show_top(graph: &Graph, (name, column): &(String, Column), most: usize, common: &Common) -> Result<()> {
    if common.limits.quiet || most == 0 {
        return Ok(());
    }
    // Alone, for the ids in other columns need not be read.
    let rows = graph.table(vec![(name.clone(), column.clone())]).top(most, name)?;
    let text = |column: usize, row| cell_text(rows.column(column), row);
    (0..rows.num_rows()).for_each(|row| common.say(format_args!("  {:24} {}", text(0, row), text(1, row))));
    Ok(())
}
