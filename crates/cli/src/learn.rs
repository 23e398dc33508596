//! `outcore run` and a statistic or a model: a command for each, made of the declarations, what it finds of an array,
//! and what it cost.

use crate::answer::{SUCCESS, say};
use crate::common::{Common, Limits, OfArray, report};
use crate::image::array_id;
use crate::object::{Call, Found, image_of, members};
use crate::options::{allow_unconverged, allows_unconverged, arg_of, values_of};
use crate::plan::{OutputPlan, RunPlan};
use crate::progress::runtime;
use crate::report::{About, End, Page, failure};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use outcore::front_ends::{OUTPUT_ENDINGS, OptionValues, Origin, Value, named};
use outcore::io::backend::FileKind;
use outcore::io::{bytes_text, let_go_of_code, limit_text};
use outcore::learn::{Data, NAMES, STATISTICS, StatisticDeclaration, StatisticPlan, StatisticTable};
use outcore::report::{OptionText, Planned, SomeRows};
use outcore::{Error, Result, Runtime};
use serde_json::json;

/// `outcore run` and a statistic or a model.
pub struct LearnArgs {
    statistic: &'static StatisticDeclaration,
    given: Vec<(&'static str, Value)>,
    allow_unconverged: bool,
    columns: Option<Vec<String>>,
    common: Common,
}

/// The command with the options of its statistic or model.
pub fn with_options(mut command: Command) -> Command {
    let Some(statistic) = named(STATISTICS, command.get_name()) else { return command };
    for option in statistic.options {
        command = command.arg(arg_of(option));
    }
    command = command.args(allow_unconverged(statistic, "what there is where it has not converged"));
    let written = format!(
        "Write {}: {OUTPUT_ENDINGS}. A .npy file has the numbers alone; others a first column that names the rows",
        statistic.output
    );
    OfArray::augment_args(command).about(statistic.summary).mut_arg("output", |arg| arg.help(written))
}

impl LearnArgs {
    pub fn of(
        statistic: &'static StatisticDeclaration,
        matches: &ArgMatches,
    ) -> std::result::Result<Self, clap::Error> {
        let OfArray { array, columns, output, json, stats, report, explain, limits } =
            OfArray::from_arg_matches(matches)?;
        let (verify, cache, answer, has_result_there) = (false, None, Default::default(), false);
        let image = array;
        Ok(LearnArgs {
            statistic,
            given: values_of(statistic.options, matches),
            allow_unconverged: allows_unconverged(statistic, matches),
            columns,
            common: Common {
                image,
                output,
                json,
                stats,
                report,
                verify,
                explain,
                cache,
                answer,
                has_result_there,
                limits,
            },
        })
    }
}

/// `outcore run` and a statistic or a model. The exit code is 4 if it did not converge.
pub fn learn(args: &LearnArgs, call: &Call) -> Result<u8> {
    run(args, call).map_err(|error| match error {
        // A plan under a greater limit would hold the names, which do not fit this one.
        Error::Memory { ref purpose, .. } if purpose == NAMES => error,
        error => args.common.limits.advise(error, |limits| plan(args, limits, call).and_then(|it| check(args, &it))),
    })
}

/// A run that can be planned.
struct Prepared {
    runtime: Runtime,
    data: Data,
    plan: StatisticPlan,
}

/// Refuses what cannot be planned.
fn plan(args: &LearnArgs, limits: &Limits, call: &Call) -> Result<Prepared> {
    let LearnArgs { statistic, given, common, .. } = args;
    let runtime = runtime(limits, None)?;
    if runtime.backend().named(&common.image).is_some_and(|found| found.kind == FileKind::File) {
        // Decoders allocate on their own.
        outcore::io::give_back_freed_memory();
    }
    let mut data = Data::open(&runtime, &common.image)?;
    call.known().image = image_of(&common.image, array_id(&runtime, &common.image));
    // Plans under other limits are quiet.
    if !limits.quiet {
        call.tell_notes(&runtime, common);
    }
    if let Some(columns) = &args.columns {
        data = data.select(columns)?;
    }
    let values = OptionValues::new(*statistic, given.clone())?;
    let plan = (statistic.plan)(&data, values)?;
    Ok(Prepared { runtime, data, plan })
}

/// Refuses a run for which there is too little memory, and files that cannot be written.
fn check(args: &LearnArgs, prepared: &Prepared) -> Result<()> {
    let (LearnArgs { statistic, common, .. }, Prepared { runtime, plan, .. }) = (args, prepared);
    let outputs = common.outputs(&[]);
    common.check_different(runtime, &[("the array".to_owned(), &common.image)], &outputs)?;
    for (option, file) in outputs {
        plan.check_file(runtime, file, option == "--output")?;
    }
    plan.require(runtime, statistic.name, common.output.as_deref())
}

fn run(args: &LearnArgs, call: &Call) -> Result<u8> {
    let common = &args.common;
    let prepared = plan(args, &common.limits, call)?;
    let run_plan = match prepared.run_plan(common) {
        Ok(plan) => plan,
        // The check has better words, if it refuses the run, too.
        Err(error) => return Err(check(args, &prepared).err().unwrap_or(error)),
    };
    call.known().plan = members(&run_plan).into();
    call.tell_notes(&prepared.runtime, common);
    if common.explain {
        explain(common, &run_plan)?;
        check(args, &prepared)?;
        return call.say().map(|()| SUCCESS);
    }
    check(args, &prepared)?;
    let Prepared { runtime, data, mut plan, .. } = prepared;
    let given = OptionValues::new(args.statistic, args.given.clone())?;
    plan.output.origin = Origin::new(args.statistic.name, given, &common.image, array_id(&runtime, &common.image));
    let page = Page::begin(common, &runtime, || about(args, &data, &run_plan));
    // The run needs nothing of the code that read the options and planned.
    let_go_of_code();
    let results = plan.find(&runtime);
    call.tell_notes(&runtime, common);
    let mut results = results?;
    let _result = runtime.budget().reserve("the result", plan.result_bytes)?;
    let mut page = page.map(Page::end);
    if let Some(page) = &mut page {
        page.result.lines.clone_from(&results.lines);
        page.result.tables.extend(first_rows(&results.table));
    }
    let facts = Found::Facts(std::mem::take(&mut results.facts), Vec::new());
    let end = End::new(call, common, &runtime, page, (Some(facts), &results.stats));
    if let Some(unconverged) = results.unconverged.take().filter(|_| !args.allow_unconverged) {
        return end.not_converged(failure("it did not converge", &unconverged), &results.stats);
    }
    results.lines.iter().for_each(|line| common.say(line));
    results.table.lines().iter().for_each(|line| common.say(line));
    if let Some(output) = &common.output {
        results.write(&runtime, &plan.output, output)?;
        call.wrote("--output", output);
    }
    report(&results.stats, common);
    end.account(&results.stats)?;
    common.answer.heard()?;
    Ok(SUCCESS)
}

/// The rows of a table that the page shows; nothing of an empty one.
fn first_rows(table: &StatisticTable) -> Option<SomeRows> {
    let (columns, rows) = table.shown();
    let more = table.more().map_or(String::new(), |more| format!(" (and {more})"));
    (!rows.is_empty()).then(|| SomeRows { title: format!("By {}{more}", table.labels.0), columns, rows })
}

impl Prepared {
    fn run_plan(&self, common: &Common) -> Result<RunPlan> {
        let Prepared { runtime, data, plan } = self;
        let output_bytes = common.output.as_ref().map(|output| plan.output_bytes(runtime, output)).transpose()?;
        let outputs = common.output.iter().map(|output| OutputPlan {
            option: "output",
            path: output.display().to_string(),
            rows: plan.output.rows,
            columns: plan.output.names.len(),
            memory_bytes: output_bytes,
        });
        let (state_bytes, budget) = (plan.needed_bytes(runtime, common.output.as_deref())?, runtime.budget());
        Ok(RunPlan {
            memory_bytes: budget.limit_for(state_bytes, budget.available_bytes()),
            state_bytes,
            rows: Some(data.rows()),
            columns: Some(data.names.len() as u64),
            outputs: outputs.collect(),
            passes_text: Some(plan.passes.clone()),
            bytes_per_pass: vec![plan.read_bytes(runtime)?],
            ..RunPlan::default()
        })
    }
}

fn about(args: &LearnArgs, data: &Data, plan: &RunPlan) -> About {
    let options = OptionText::all(args.statistic.options, &args.given);
    let facts = [("rows", json!(data.rows())), ("columns", json!(data.names.len()))];
    let facts = facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect();
    let notes = plan.passes_text.iter().map(|passes| format!("Planned passes: {passes}.")).collect();
    let plan = Planned { memory_bytes: Some(plan.memory_bytes), notes, ..Planned::default() };
    About { name: args.statistic.name, options, facts, plan }
}

fn explain(common: &Common, plan: &RunPlan) -> Result<()> {
    if common.object_option().is_some() {
        return Ok(());
    }
    let (rows, columns) = (plan.rows.unwrap_or_default(), plan.columns.unwrap_or_default());
    say(format_args!("array    {rows} rows of {columns} columns"))?;
    let (limit, bytes) = (limit_text(plan.memory_bytes), bytes_text(plan.state_bytes));
    say(format_args!("memory   {limit} ({bytes} beside the process)"))?;
    for OutputPlan { path, rows, memory_bytes, .. } in &plan.outputs {
        let bytes = bytes_text(memory_bytes.unwrap_or_default());
        say(format_args!("output   {rows} rows, in {bytes} of memory, to {path}"))?;
    }
    plan.passes_text.iter().try_for_each(|passes| say(format_args!("passes   {passes}")))?;
    plan.bytes_per_pass.iter().try_for_each(|&bytes| say(format_args!("reads    about {} per pass", bytes_text(bytes))))
}
