//! `outcore run` and a statistic or a model: a command for each, made of the declarations, what it finds of an array,
//! and what it cost.

use crate::answer::{SUCCESS, check_different, say};
use crate::common::{Common, Limits, OfArray, report};
use crate::image::array_id;
use crate::object::{Call, Done, Found, image_of, members};
use crate::options::{allow_unconverged, allows_unconverged, arg_of, values_of};
use crate::progress::runtime;
use crate::report::{About, End, Page, failure};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use outcore::front_ends::{OUTPUT_ENDINGS, OptionValues, Origin, Value, named};
use outcore::io::backend::FileKind;
use outcore::io::{bytes_text, escaped, limit_text};
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
        let (verify, cache, answer) = (false, None, Default::default());
        Ok(LearnArgs {
            statistic,
            given: values_of(statistic.options, matches),
            allow_unconverged: allows_unconverged(statistic, matches),
            columns,
            common: Common { image: array, output, json, stats, report, verify, explain, cache, answer, limits },
        })
    }
}

/// `outcore run` and a statistic or a model. The exit code is 4 if it did not converge.
pub fn learn(args: &LearnArgs, call: &Call) -> Result<u8> {
    run(args, call).map_err(|error| match error {
        // A plan under a greater limit would hold the names, which do not fit this one.
        Error::Memory { ref purpose, .. } if purpose == NAMES => error,
        error => {
            args.common.limits.advise(error, |limits| plan(args, limits).and_then(|prepared| check(args, &prepared)))
        }
    })
}

/// A run that can be planned.
struct Prepared {
    runtime: Runtime,
    data: Data,
    plan: StatisticPlan,
    /// Notes on opening the array, unless nothing is said.
    notes: Vec<String>,
}

/// Refuses what cannot be planned.
fn plan(args: &LearnArgs, limits: &Limits) -> Result<Prepared> {
    let LearnArgs { statistic, given, common, .. } = args;
    let runtime = runtime(limits, None)?;
    if runtime.backend().named(&common.image).is_some_and(|found| found.kind == FileKind::File) {
        // Decoders allocate on their own.
        outcore::io::give_back_freed_memory();
    }
    let mut data = Data::open(&runtime, &common.image)?;
    let notes = if limits.quiet { Vec::new() } else { tell_notes(&runtime, common) };
    if let Some(columns) = &args.columns {
        data = data.select(columns)?;
    }
    let values = OptionValues::new(*statistic, given.clone())?;
    let plan = (statistic.plan)(&data, values)?;
    Ok(Prepared { runtime, data, plan, notes })
}

/// Refuses a run for which there is too little memory, and files that cannot be written.
fn check(args: &LearnArgs, prepared: &Prepared) -> Result<()> {
    let (LearnArgs { statistic, common, .. }, Prepared { runtime, plan, .. }) = (args, prepared);
    let outputs = common.outputs(&[]);
    check_different(runtime, &[("the array".to_owned(), &common.image)], &outputs)?;
    for (option, file) in outputs {
        plan.check_file(runtime, file, option == "--output")?;
    }
    plan.require(runtime, statistic.name, common.output.as_deref())
}

fn run(args: &LearnArgs, call: &Call) -> Result<u8> {
    let common = &args.common;
    let mut prepared = plan(args, &common.limits)?;
    let About { plan: planned, .. } = about(args, &prepared.runtime, &prepared.data, &prepared.plan);
    let image = image_of(&common.image, array_id(&prepared.runtime, &common.image));
    let mut done = Done { image, plan: members(planned).into(), ..Done::default() };
    done.notes = [std::mem::take(&mut prepared.notes), tell_notes(&prepared.runtime, common)].concat();
    if common.explain {
        explain(args, &prepared.runtime, &prepared.data, &prepared.plan)?;
        check(args, &prepared)?;
        return call.say(&done).map(|()| SUCCESS);
    }
    check(args, &prepared)?;
    let Prepared { runtime, data, mut plan, .. } = prepared;
    let given = OptionValues::new(args.statistic, args.given.clone())?;
    plan.output.origin = Origin::new(args.statistic.name, given, &common.image, array_id(&runtime, &common.image));
    let page = Page::begin(common, &runtime, || about(args, &runtime, &data, &plan));
    let mut results = plan.find(&runtime)?;
    let _result = runtime.budget().reserve("the result", plan.result_bytes)?;
    let mut page = page.map(Page::end);
    if let Some(page) = &mut page {
        page.result.lines.clone_from(&results.lines);
        page.result.tables.extend(first_rows(&results.table));
    }
    done.notes.extend(tell_notes(&runtime, common));
    done.files = common.outputs(&[]);
    let end = End { call, common, runtime: &runtime, page };
    if let Some(unconverged) = results.unconverged.take().filter(|_| !args.allow_unconverged) {
        let result = Some(Found::Facts(&results.facts, &[]));
        return end.not_converged(
            failure("it did not converge", &unconverged),
            &results.stats,
            Done { result, ..done },
        );
    }
    results.lines.iter().for_each(|line| common.say(line));
    results.table.lines().iter().for_each(|line| common.say(line));
    let written = common.output.as_ref().map_or(Ok(()), |output| results.write(&runtime, &plan.output, output));
    if let Err(error) = &written {
        // The object has the result nevertheless.
        done.error = members(error).into();
        done.files.retain(|(option, _)| *option != "--output");
    }
    report(&results.stats, common);
    end.account(&results.stats, Done { result: Some(Found::Facts(&results.facts, &[])), ..done })?;
    written?;
    common.answer.heard()?;
    Ok(SUCCESS)
}

/// The rows of a table that the page shows; nothing of an empty one.
fn first_rows(table: &StatisticTable) -> Option<SomeRows> {
    let (columns, rows) = table.shown();
    let more = table.more().map_or(String::new(), |more| format!(" (and {more})"));
    (!rows.is_empty()).then(|| SomeRows { title: format!("By {}{more}", table.labels.0), columns, rows })
}

/// The memory of a run: all that it needs, and a limit that is enough for it.
fn needs(args: &LearnArgs, runtime: &Runtime, plan: &StatisticPlan) -> Result<(u64, u64)> {
    let needed_bytes = plan.needed_bytes(runtime, args.common.output.as_deref())?;
    let budget = runtime.budget();
    Ok((needed_bytes, budget.limit_for(needed_bytes, budget.available_bytes())))
}

fn about(args: &LearnArgs, runtime: &Runtime, data: &Data, plan: &StatisticPlan) -> About {
    let options = OptionText::all(args.statistic.options, &args.given);
    let facts = [("rows", json!(data.rows())), ("columns", json!(data.names.len()))];
    let facts = facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect();
    let memory_bytes = needs(args, runtime, plan).ok().map(|(_, limit_bytes)| limit_bytes);
    let notes = vec![format!("Planned passes: {}.", plan.passes)];
    let plan = Planned { memory_bytes, notes, ..Planned::default() };
    About { name: args.statistic.name, options, facts, plan }
}

/// Says what the user should know about what was read, and returns it.
fn tell_notes(runtime: &Runtime, common: &Common) -> Vec<String> {
    let notes = runtime.take_notes();
    notes.iter().filter(|_| !common.limits.quiet).for_each(|note| note!("note: {}", escaped(note)));
    notes
}

fn explain(args: &LearnArgs, runtime: &Runtime, data: &Data, plan: &StatisticPlan) -> Result<()> {
    if args.common.json {
        return Ok(());
    }
    let ((memory_bytes, limit_bytes), read_bytes) = (needs(args, runtime, plan)?, plan.read_bytes(runtime)?);
    let limit = limit_text(limit_bytes);
    say(format_args!("array    {} rows of {} columns", data.rows(), data.names.len()))?;
    say(format_args!("memory   {limit} ({} beside the process)", bytes_text(memory_bytes)))?;
    if let Some(output) = &args.common.output {
        let (rows, bytes) = (plan.output.rows, bytes_text(plan.output_bytes(runtime, output)?));
        say(format_args!("output   {rows} rows, in {bytes} of memory, to {}", output.display()))?;
    }
    say(format_args!("passes   {}", plan.passes))?;
    say(format_args!("reads    about {} per pass", bytes_text(read_bytes)))
}
