//! `outcore run` and a solver: a command for each, made of the declarations, what it finds, and what it cost.

use crate::answer::{SUCCESS, say};
use crate::common::{Common, Limits, report};
use crate::object::{Call, Found, members};
use crate::options::{UNWEIGHTED, allow_unconverged, allows_unconverged, arg_of, in_shell, values_of};
use crate::plan::{FilesPlan, OutputPlan, RunPlan, VectorsPlan};
use crate::progress::open;
use crate::report::{About, End, Page, failure, graph_facts};
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use outcore::data::DenseHeader;
use outcore::front_ends::{
    OUTPUT_ENDINGS, OptionValues, Origin, Value, check_columns, is_standard_output, least_limit, named, write_columns,
};
use outcore::io::{bytes_text, folder, let_go_of_code, limit_text};
use outcore::linalg::{Dense, Needs, SOLVERS, SolverDeclaration, SolverFinding, SolverInput, SolverPlan};
use outcore::matrix::SparseMatrix;
use outcore::report::{self, Planned};
use outcore::{Error, Result};
use std::path::{Path, PathBuf};

/// The option for what has a row per column of the matrix.
const RIGHT: &str = "right";
const VALUES: &str = "values";
/// The option for the folder that a run is kept in.
const CHECKPOINT: &str = "checkpoint";
const TEMPORARY: &str = "temporary";

/// `outcore run` and a solver.
pub struct SolverArgs {
    solver: &'static SolverDeclaration,
    given: Vec<(&'static str, Value)>,
    /// The files that are read, in the order of the declaration.
    inputs: Vec<Option<PathBuf>>,
    /// The file of the result of columns.
    right: Option<PathBuf>,
    values: Option<PathBuf>,
    temporary: Option<PathBuf>,
    checkpoint: Option<PathBuf>,
    /// Entries are 1, whatever their values.
    unweighted: bool,
    allow_unconverged: bool,
    common: Common,
}

/// The command with the options of its solver.
pub fn with_options(mut command: Command) -> Command {
    let Some(solver) = named(SOLVERS, command.get_name()) else { return command };
    let file = |name: &'static str| {
        Arg::new(name).long(in_shell(name)).value_name("FILE").value_parser(ValueParser::path_buf())
    };
    for input in solver.inputs {
        command = command.arg(file(input.name).required(input.is_required).help(input.help));
    }
    for option in solver.options {
        command = command.arg(arg_of(option));
    }
    let flag = |name: &'static str| Arg::new(name).long(in_shell(name)).action(ArgAction::SetTrue);
    command = command.arg(flag(UNWEIGHTED).help("Every entry is 1, whatever its value"));
    if let Some(right) = solver.right {
        command = command.arg(file(RIGHT).allow_hyphen_values(true).help(format!("Write {right}: {OUTPUT_ENDINGS}")));
    }
    if let Some(values) = solver.values {
        command = command.arg(file(VALUES).allow_hyphen_values(true).help(format!("Write {values}: {OUTPUT_ENDINGS}")));
    }
    command = command.args(allow_unconverged(solver, "what there is where not all has converged"));
    if solver.has_checkpoints {
        command = command.arg(file(CHECKPOINT).value_name("DIR").help(
            "Keep the run in a folder while it goes on: the same command goes on from there, with the same bits",
        ));
    }
    let temporary = file(TEMPORARY).value_name("DIR");
    command = command.arg(temporary.help("Where temporary files of vectors go; beside the image if not given"));
    let command = Common::augment_args(command).about(solver.summary);
    let written = format!(
        "Write {}: {OUTPUT_ENDINGS}. A .npy file has the numbers alone, in the order of ids; others a column of ids",
        solver.output
    );
    let verified = "Verify the result by products that are computed in another way; a wrong one is an error with exit \
                    code 3";
    command.mut_arg("output", |arg| arg.help(written)).mut_arg("verify", |arg| arg.help(verified))
}

impl SolverArgs {
    pub fn of(solver: &'static SolverDeclaration, matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let path = |name: &str| matches.get_one::<PathBuf>(name).cloned();
        let right = solver.right.and_then(|_| path(RIGHT));
        let values = solver.values.and_then(|_| path(VALUES));
        let mut common = Common::from_arg_matches(matches)?;
        common.has_result_there = right.iter().chain(&values).any(|file| is_standard_output(file));
        Ok(SolverArgs {
            solver,
            given: values_of(solver.options, matches),
            inputs: solver.inputs.iter().map(|input| path(input.name)).collect(),
            right,
            values,
            temporary: path(TEMPORARY),
            checkpoint: if solver.has_checkpoints { path(CHECKPOINT) } else { None },
            unweighted: matches.get_flag(UNWEIGHTED),
            allow_unconverged: allows_unconverged(solver, matches),
            common,
        })
    }

    fn outputs(&self) -> Vec<(&'static str, &Path)> {
        self.common.outputs(&[("--right", self.right.as_deref()), ("--values", self.values.as_deref())])
    }

    /// The files of the results: of rows, of columns.
    fn results(&self) -> [Option<&Path>; 2] {
        [self.common.output.as_deref(), self.right.as_deref()]
    }
}

/// `outcore run` and a solver. The exit code is 4 if values did not converge.
pub fn solve(args: &SolverArgs, call: &Call) -> Result<u8> {
    let common = &args.common;
    let solved = plan(args, &common.limits, call).and_then(|prepared| {
        let run_plan = run_plan(args, &prepared)?;
        call.known().plan = members(&run_plan).into();
        if common.explain {
            explain(common, &run_plan)?;
        }
        check(args, &prepared)?;
        match common.explain {
            true => call.say().map(|()| SUCCESS),
            false => run(args, &prepared, &run_plan, call),
        }
    });
    let plan_again = |limits: &Limits| plan(args, limits, call).and_then(|prepared| check(args, &prepared));
    solved.map_err(|error| common.limits.advise(error, plan_again))
}

/// A run that can be planned, and what it needs.
struct Prepared {
    matrix: SparseMatrix,
    plan: Box<dyn SolverPlan>,
    needs: Needs,
}

/// Refuses what cannot be planned.
fn plan(args: &SolverArgs, limits: &Limits, call: &Call) -> Result<Prepared> {
    let SolverArgs { solver, given, inputs, unweighted, common, .. } = args;
    let graph = open(common, limits, args.temporary.clone(), call)?;
    let has_values = graph.manifest().weights().is_some() && !unweighted;
    let matrix = SparseMatrix::new(&graph, has_values)?;
    let values = OptionValues::new(*solver, given.clone())?;
    let (inputs, output, checkpoint) = (inputs.clone(), common.output.clone(), args.checkpoint.clone());
    let given = SolverInput { values, inputs, output, checkpoint };
    let plan = (solver.plan)(&matrix, given)?;
    let needs = plan.needs(&matrix)?;
    Ok(Prepared { matrix, plan, needs })
}

/// Refuses a run for which there is too little memory, and files that cannot be written.
fn check(args: &SolverArgs, Prepared { matrix, needs, .. }: &Prepared) -> Result<()> {
    let (purpose, bytes) = needs.most_memory(matrix.graph(), &args.results(), args.common.verify)?;
    matrix.graph().make_room(purpose, bytes)?;
    check_files(args, matrix, needs)
}

/// Runs a solver, and says and writes what it found.
fn run(args: &SolverArgs, prepared: &Prepared, run_plan: &RunPlan, call: &Call) -> Result<u8> {
    let Prepared { matrix, plan, needs } = prepared;
    let (common, image) = (&args.common, matrix.graph().image());
    let page = Page::begin(common, image.runtime(), || about(args, matrix, needs, run_plan.memory_bytes));
    // The run needs nothing of the code that read the options and planned.
    let_go_of_code();
    let SolverFinding { lines, values, facts, mut dense, unconverged, stats } = plan.run(matrix, common.verify)?;
    let mut page = page.map(Page::end);
    if let Some(page) = &mut page {
        page.result.lines.clone_from(&lines);
    }
    let found = (Some(Found::Facts(facts, Vec::new())), &stats);
    let end = End::new(call, common, image.runtime(), page, found);
    if let Some(unconverged) = unconverged.filter(|_| !args.allow_unconverged) {
        return end.not_converged(failure("not all has converged", &unconverged), &stats);
    }
    lines.iter().for_each(|line| common.say(line));
    report(&stats, common);
    let given = OptionValues::new(args.solver, args.given.clone())?;
    let origin = Origin::new(args.solver.name, given, &common.image, Some(image.manifest().image_id));
    dense.iter_mut().for_each(|dense| dense.shape.origin = origin.clone());
    let results = dense.into_iter().zip(args.results());
    Dense::write_all(results.filter_map(|(dense, output)| Some((dense, output?.to_owned()))))?;
    let options = ["--output", "--right"].into_iter().zip(args.results());
    options.filter_map(|(option, file)| Some((option, file?))).for_each(|(option, file)| call.wrote(option, file));
    if let Some(output) = &args.values {
        write_columns(image, &values, &origin, output)?;
        call.wrote("--values", output);
    }
    if let Some(Found::Facts(_, of_columns)) = &mut call.known().result {
        *of_columns = values;
    }
    end.account(&stats)?;
    common.answer.heard()?;
    Ok(SUCCESS)
}

fn about(args: &SolverArgs, matrix: &SparseMatrix, needs: &Needs, memory_bytes: u64) -> About {
    let mut options = report::OptionText::all(args.solver.options, &args.given);
    for (input, file) in args.solver.inputs.iter().zip(&args.inputs) {
        let file = file.iter().map(|file| report::OptionText::new(input.name, file.display().to_string()));
        options.splice(0..0, file);
    }
    let plan = Planned::of_solver(memory_bytes, needs.least_bytes, &needs.passes, needs.columns_per_pass);
    About { name: args.solver.name, options, facts: graph_facts(matrix.graph()), plan }
}

/// Refuses files that cannot be written before the work is done.
fn check_files(args: &SolverArgs, matrix: &SparseMatrix, needs: &Needs) -> Result<()> {
    let (outputs, graph) = (args.outputs(), matrix.graph());
    if let Some(checkpoint) = &args.checkpoint {
        let place = |folder: &Path| graph.runtime().backend().resolve(folder).ok();
        let inside =
            |file: &Path| file == checkpoint || place(checkpoint).is_some_and(|own| place(folder(file)) == Some(own));
        if let Some((option, file)) = outputs.iter().find(|(_, file)| inside(file)) {
            let (checkpoint, file) = (checkpoint.display(), file.display());
            let text = format!("expected a file outside of --checkpoint {checkpoint} for {option}, found {file}");
            return Err(Error::Usage(text));
        }
    }
    let inputs = args.solver.inputs.iter().zip(&args.inputs);
    let inputs = inputs.filter_map(|(input, file)| Some((format!("--{}", in_shell(input.name)), file.as_deref()?)));
    args.common.check_different(graph.runtime(), &inputs.collect::<Vec<_>>(), &outputs)?;
    for (shape, output) in needs.shapes.iter().zip(args.results()) {
        match output {
            // Nothing is made of it any more: it is written while the product goes on.
            Some(output) if needs.is_written_at_once() => check_columns(graph.image(), output)?,
            Some(output) => shape.check(graph.image(), output)?,
            None => {}
        }
    }
    args.values.as_ref().map_or(Ok(()), |values| check_columns(graph.image(), values))?;
    let mut small = outputs.iter().filter(|(option, _)| ["--stats", "--report"].contains(option));
    small.try_for_each(|(_, file)| outcore::front_ends::check_file(graph.image(), file))
}

fn run_plan(args: &SolverArgs, Prepared { matrix, needs, .. }: &Prepared) -> Result<RunPlan> {
    let graph = matrix.graph();
    let (_, most_bytes) = needs.most_memory(graph, &args.results(), args.common.verify)?;
    let results = ["output", "right"].into_iter().zip(args.results());
    let output = |(shape, (option, output)): (&DenseHeader, (&'static str, Option<&Path>))| {
        let output = output?;
        let memory_bytes = (!needs.is_written_at_once()).then(|| shape.output_bytes(graph.image(), output));
        let (rows, columns) = (shape.vertices.end - shape.vertices.start, shape.names.len());
        let path = output.display().to_string();
        Some(memory_bytes.transpose().map(|memory_bytes| OutputPlan { option, path, rows, columns, memory_bytes }))
    };
    let (rows, columns) = matrix.shape();
    Ok(RunPlan {
        memory_bytes: least_limit(graph, most_bytes),
        state_bytes: needs.least_bytes,
        rows: Some(rows),
        columns: Some(columns),
        entries: Some(matrix.entries()),
        vectors: needs.vectors.as_ref().map(|vectors| VectorsPlan {
            count: vectors.count,
            bytes: vectors.bytes,
            in_memory: vectors.in_memory,
            folder: vectors.folder.display().to_string(),
        }),
        outputs: needs.shapes.iter().zip(results).filter_map(output).collect::<Result<_>>()?,
        verify_bytes: args.common.verify.then_some(needs.verify_bytes),
        columns_per_pass: Some(needs.columns_per_pass),
        passes_text: Some(needs.passes.clone()),
        bytes_per_pass: needs.bytes_per_pass.clone(),
        files: needs.files.as_ref().map(|files| FilesPlan {
            factor_bytes: files.factor_bytes,
            product_bytes: files.product_bytes,
            temporary_bytes: files.temporary_bytes,
            folder: files.folder.display().to_string(),
        }),
        ..RunPlan::default()
    })
}

fn explain(common: &Common, plan: &RunPlan) -> Result<()> {
    if common.object_option().is_some() {
        return Ok(());
    }
    let mut lines = Vec::new();
    let (limit, bytes) = (limit_text(plan.memory_bytes), bytes_text(plan.state_bytes));
    lines.push(format!("memory   {limit} ({bytes} for the run)"));
    let [rows, columns, entries] = [plan.rows, plan.columns, plan.entries].map(Option::unwrap_or_default);
    lines.push(format!("matrix   {rows} x {columns}, {entries} entries"));
    if let Some(VectorsPlan { count, bytes, in_memory, folder }) = &plan.vectors {
        let mut place = "in memory".to_owned();
        if !in_memory {
            place += &format!(" as far as it has room, and otherwise in a temporary file in {folder}");
        }
        lines.push(format!("vectors  up to {count}, {}, {place}", bytes_text(*bytes)));
    }
    for OutputPlan { path, rows, columns, memory_bytes, .. } in &plan.outputs {
        let how = match memory_bytes {
            Some(bytes) => format!("in {} of memory", bytes_text(*bytes)),
            None => "while the product goes on".to_owned(),
        };
        lines.push(format!("output   {rows} rows of {columns} numbers, {how}, to {path}"));
    }
    if let Some(bytes) = plan.verify_bytes.map(bytes_text) {
        lines.push(format!("verify   at least {bytes} of memory; its reads are not counted"));
    }
    lines.push(format!("multiply {} columns per pass", plan.columns_per_pass.unwrap_or_default()));
    lines.push(format!("passes   {}", plan.passes_text.as_deref().unwrap_or_default()));
    let reads: Vec<_> = plan.bytes_per_pass.iter().map(|&bytes| bytes_text(bytes)).collect();
    lines.push(match &reads[..] {
        [rows, columns] => format!("reads    at most {rows} per pass over rows, {columns} per pass over columns"),
        _ => format!("reads    at most {} per pass", reads.concat()),
    });
    if let Some(FilesPlan { factor_bytes, product_bytes, temporary_bytes, folder }) = &plan.files {
        let [factor, product, temporary] =
            [factor_bytes, product_bytes, temporary_bytes].map(|&bytes| bytes_text(bytes));
        lines.push(format!(
            "files    {factor} read of the factor, {product} written to the product's file, {temporary} written to \
             temporary files in {folder} and read again"
        ));
    }
    lines.iter().try_for_each(say)
}
