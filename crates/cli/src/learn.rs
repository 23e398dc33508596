//! `outcore run` and a statistic or a model: a command for each, made of the declarations, what it finds of an array,
//! and what it cost.

use crate::answer::{SUCCESS, check_different, say, write_text};
use crate::common::{Common, Limits, OfArray, report};
use crate::options::{allow_unconverged, allows_unconverged, arg_of, values_of};
use crate::progress::runtime;
use crate::report::{About, Page, account, failure, not_converged};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use outcore::front_ends::{Fact, OUTPUT_ENDINGS, Value, Values, named};
use outcore::io::backend::FileKind;
use outcore::io::{bytes_text, escaped, limit_text};
use outcore::learn::{Data, Declaration, NAMES, Plan, STATISTICS, Table};
use outcore::report::{Given, Planned, SomeRows};
use outcore::{Error, Result, Runtime};
use serde_json::json;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// `outcore run` and a statistic or a model.
pub struct LearnArgs {
    statistic: &'static Declaration,
    given: Vec<(&'static str, Value)>,
    allow_unconverged: bool,
    columns: Option<Vec<String>>,
    /// The file of all results.
    json: Option<PathBuf>,
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
    pub fn of(statistic: &'static Declaration, matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let OfArray { array, columns, output, json, stats, report, explain, limits } =
            OfArray::from_arg_matches(matches)?;
        let aside = json.as_deref() == Some(Path::new("-"));
        let (verify, cache, answer) = (false, None, Default::default());
        Ok(LearnArgs {
            statistic,
            given: values_of(statistic.options, matches),
            allow_unconverged: allows_unconverged(statistic, matches),
            columns,
            json,
            common: Common { image: array, output, stats, report, verify, explain, cache, answer, aside, limits },
        })
    }

    fn outputs(&self) -> Vec<(&'static str, &Path)> {
        self.common.outputs(&[("--json", self.json.as_deref().filter(|file| *file != Path::new("-")))])
    }
}

/// `outcore run` and a statistic or a model. The exit code is 4 if it did not converge.
pub fn learn(args: &LearnArgs) -> Result<u8> {
    run(args).map_err(|error| match error {
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
    plan: Plan,
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
    if !limits.quiet {
        tell_notes(&runtime, common);
    }
    if let Some(columns) = &args.columns {
        data = data.select(columns)?;
    }
    let values = Values::new(*statistic, given.clone())?;
    let plan = (statistic.plan)(&data, values)?;
    Ok(Prepared { runtime, data, plan })
}

/// Refuses a run for which there is too little memory, and files that cannot be written.
fn check(args: &LearnArgs, prepared: &Prepared) -> Result<()> {
    let (LearnArgs { statistic, common, .. }, Prepared { runtime, plan, .. }) = (args, prepared);
    let outputs = args.outputs();
    check_different(runtime, &[("the array".to_owned(), &common.image)], &outputs)?;
    for (option, file) in outputs {
        plan.check_file(runtime, file, option == "--output")?;
    }
    plan.require(runtime, statistic.name, common.output.as_deref())
}

fn run(args: &LearnArgs) -> Result<u8> {
    let common = &args.common;
    let prepared = plan(args, &common.limits)?;
    tell_notes(&prepared.runtime, common);
    if common.explain {
        explain(args, &prepared.runtime, &prepared.data, &prepared.plan)?;
        return check(args, &prepared).map(|()| SUCCESS);
    }
    check(args, &prepared)?;
    let Prepared { runtime, data, plan } = prepared;
    let page = Page::begin(common, &runtime, || about(args, &runtime, &data, &plan));
    let mut results = plan.find(&runtime)?;
    let _result = runtime.budget().reserve("the result", plan.result_bytes)?;
    let mut page = page.map(Page::end);
    if let Some(page) = &mut page {
        page.result.lines.clone_from(&results.lines);
        page.result.tables.extend(first_rows(&results.table));
    }
    tell_notes(&runtime, common);
    if let Some(unconverged) = results.unconverged.take().filter(|_| !args.allow_unconverged) {
        return not_converged(failure("it did not converge", &unconverged), &runtime, &results.stats, page, common);
    }
    results.lines.iter().for_each(|line| common.say(line));
    results.table.lines().iter().for_each(|line| common.say(line));
    // Results are kept if writing all rows fails.
    if let Some(file) = &args.json {
        write_text(&runtime, Object(&results.facts), file, &common.answer)?;
    }
    if let Some(output) = &common.output {
        results.write(&runtime, &plan.output, output)?;
    }
    report(&results.stats, common);
    account(&runtime, &results.stats, page, common)?;
    common.answer.heard()?;
    Ok(SUCCESS)
}

/// The rows of a table that the page shows; nothing of an empty one.
fn first_rows(table: &Table) -> Option<SomeRows> {
    let (columns, rows) = table.shown();
    let more = table.more().map_or(String::new(), |more| format!(" (and {more})"));
    (!rows.is_empty()).then(|| SomeRows { title: format!("By {}{more}", table.labels.0), columns, rows })
}

/// The memory of a run: all that it needs, and a limit that is enough for it.
fn needs(args: &LearnArgs, runtime: &Runtime, plan: &Plan) -> Result<(u64, u64)> {
    let needed_bytes = plan.needed_bytes(runtime, args.common.output.as_deref())?;
    let budget = runtime.budget();
    Ok((needed_bytes, budget.limit_for(needed_bytes, budget.available_bytes())))
}

fn about(args: &LearnArgs, runtime: &Runtime, data: &Data, plan: &Plan) -> About {
    let options = Given::all(args.statistic.options, &args.given);
    let facts = [("rows", json!(data.rows())), ("columns", json!(data.names.len()))];
    let facts = facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect();
    let memory_bytes = needs(args, runtime, plan).ok().map(|(_, limit_bytes)| limit_bytes);
    let notes = vec![format!("Planned passes: {}.", plan.passes)];
    let plan = Planned { memory_bytes, notes, ..Planned::default() };
    About { name: args.statistic.name, options, facts, plan }
}

/// Says what the user should know about what was read.
fn tell_notes(runtime: &Runtime, common: &Common) {
    let notes = runtime.take_notes();
    notes.iter().filter(|_| !common.limits.quiet).for_each(|note| note!("note: {}", escaped(note)));
}

/// All that was found, as JSON, which is written number by number: a tree of them would take ten times their memory.
/// Infinite numbers and NaN are null, as JSON has neither.
struct Object<'a>(&'a [(&'static str, Fact)]);

impl Display for Object<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (place, (name, fact)) in self.0.iter().enumerate() {
            write!(f, "{}\n  {}: ", if place > 0 { "," } else { "" }, json!(name))?;
            match fact {
                Fact::Whole(number) => write!(f, "{number}"),
                Fact::Real(number) => write_number(f, *number),
                Fact::Flag(flag) => write!(f, "{flag}"),
                Fact::Names(names) => write_list(f, "", names, |f, name| write!(f, "{}", json!(name))),
                Fact::Array(numbers, shape) => write_array(f, "\n    ", numbers, shape),
            }?;
        }
        f.write_str("\n}\n")
    }
}

fn write_number(f: &mut Formatter<'_>, number: f64) -> fmt::Result {
    if number.is_finite() { write!(f, "{number:?}") } else { f.write_str("null") }
}

/// A list whose items begin with `before`.
fn write_list<T>(
    f: &mut Formatter<'_>,
    before: &str,
    items: impl IntoIterator<Item = T>,
    mut write_item: impl FnMut(&mut Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    let separator = if before.is_empty() { ", " } else { "," };
    f.write_str("[")?;
    for (place, item) in items.into_iter().enumerate() {
        f.write_str(if place > 0 { separator } else { "" })?;
        f.write_str(before)?;
        write_item(f, item)?;
    }
    f.write_str("]")
}

/// An array of this shape: vectors along the last axis lie on lines of their own.
fn write_array(f: &mut Formatter<'_>, before: &str, numbers: &[f64], shape: &[usize]) -> fmt::Result {
    match shape {
        [] | [_] => write_list(f, "", numbers, |f, number| write_number(f, *number)),
        [_, rest @ ..] => {
            let size = rest.iter().product::<usize>().max(1);
            write_list(f, before, numbers.chunks_exact(size), |f, part| write_array(f, before, part, rest))
        }
    }
}

fn explain(args: &LearnArgs, runtime: &Runtime, data: &Data, plan: &Plan) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    #[test]
    fn facts_are_valid_json() {
        let facts = vec![
            ("rows", Fact::Whole(u64::MAX)),
            ("share", Fact::Real(1e-300)),
            ("none", Fact::Real(f64::NAN)),
            ("converged", Fact::Flag(true)),
            ("columns", Fact::Names(vec!["a \"b\"\n".to_owned(), "é".to_owned()])),
            ("empty", Fact::Names(Vec::new())),
            ("vector", Fact::vector(&[0.1, -1e300, f64::INFINITY, 3.0])),
            ("cube", Fact::Array((0..12).map(f64::from).collect(), vec![2, 3, 2])),
        ];
        let text = Object(&facts).to_string();
        let expected = json!({
            "rows": u64::MAX, "share": 1e-300, "none": null, "converged": true, "columns": ["a \"b\"\n", "é"],
            "empty": [], "vector": [0.1, -1e300, null, 3.0],
            "cube": [[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [[6.0, 7.0], [8.0, 9.0], [10.0, 11.0]]],
        });
        assert_eq!(serde_json::from_str::<Json>(&text).unwrap(), expected, "{text}");
    }
}
