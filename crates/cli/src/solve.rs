//! `outcore run` and a solver: a command for each, made of the declarations, what it finds, and what it cost.

use crate::answer::{SUCCESS, check_different, say};
use crate::common::{Common, Limits, report};
use crate::object::{Call, Done, Found, image_of, members};
use crate::options::{UNWEIGHTED, allow_unconverged, allows_unconverged, arg_of, in_shell, values_of};
use crate::progress::open;
use crate::report::{About, End, Page, failure, graph_facts};
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use outcore::front_ends::{
    OUTPUT_ENDINGS, OptionValues, Origin, Value, check_columns, least_limit, named, write_columns,
};
use outcore::io::{bytes_text, folder, limit_text};
use outcore::linalg::{Dense, Needs, SOLVERS, SolverDeclaration, SolverFinding, SolverInput, SolverPlan, Traffic};
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
        command = command.arg(file(RIGHT).help(format!("Write {right}: {OUTPUT_ENDINGS}")));
    }
    if let Some(values) = solver.values {
        command = command.arg(file(VALUES).help(format!("Write {values}: {OUTPUT_ENDINGS}")));
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
        Ok(SolverArgs {
            solver,
            given: values_of(solver.options, matches),
            inputs: solver.inputs.iter().map(|input| path(input.name)).collect(),
            right: solver.right.and_then(|_| path(RIGHT)),
            values: solver.values.and_then(|_| path(VALUES)),
            temporary: path(TEMPORARY),
            checkpoint: if solver.has_checkpoints { path(CHECKPOINT) } else { None },
            unweighted: matches.get_flag(UNWEIGHTED),
            allow_unconverged: allows_unconverged(solver, matches),
            common: Common::from_arg_matches(matches)?,
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
    let solved = plan(args, &common.limits).and_then(|Prepared { matrix, plan, needs }| {
        let About { plan: planned, .. } = about(args, &matrix, &needs)?;
        let image = image_of(&common.image, Some(matrix.graph().manifest().image_id));
        let done = Done { image, plan: members(planned).into(), ..Done::default() };
        if common.explain {
            explain(args, &matrix, &needs)?;
            check(args, &matrix, &needs)?;
            return call.say(&done).map(|()| SUCCESS);
        }
        check(args, &matrix, &needs)?;
        run(args, &matrix, &*plan, &needs, (call, done))
    });
    let plan_again =
        |limits: &Limits| plan(args, limits).and_then(|Prepared { matrix, needs, .. }| check(args, &matrix, &needs));
    solved.map_err(|error| common.limits.advise(error, plan_again))
}

/// A run that can be planned, and what it needs.
struct Prepared {
    matrix: SparseMatrix,
    plan: Box<dyn SolverPlan>,
    needs: Needs,
}

/// Refuses what cannot be planned.
fn plan(args: &SolverArgs, limits: &Limits) -> Result<Prepared> {
    let SolverArgs { solver, given, inputs, unweighted, common, .. } = args;
    let graph = open(common, limits, args.temporary.clone())?;
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
fn check(args: &SolverArgs, matrix: &SparseMatrix, needs: &Needs) -> Result<()> {
    let (purpose, bytes) = needs.most_memory(matrix.graph(), &args.results(), args.common.verify)?;
    matrix.graph().make_room(purpose, bytes)?;
    check_files(args, matrix, needs)
}

/// Runs a solver, and says and writes what it found.
fn run<'a>(
    args: &'a SolverArgs,
    matrix: &SparseMatrix,
    plan: &dyn SolverPlan,
    needs: &Needs,
    (call, mut done): (&Call, Done<'a>),
) -> Result<u8> {
    let (common, image) = (&args.common, matrix.graph().image());
    let about = common.report.as_ref().map(|_| about(args, matrix, needs)).transpose()?;
    let page = about.and_then(|about| Page::begin(common, image.runtime(), || about));
    let SolverFinding { lines, values, facts, mut dense, unconverged, stats } = plan.run(matrix, common.verify)?;
    let mut page = page.map(Page::end);
    if let Some(page) = &mut page {
        page.result.lines.clone_from(&lines);
    }
    let end = End { call, common, runtime: image.runtime(), page };
    done.files = args.outputs();
    if let Some(unconverged) = unconverged.filter(|_| !args.allow_unconverged) {
        let failure = failure("not all has converged", &unconverged);
        return end.not_converged(failure, &stats, Done { result: Some(Found::Facts(&facts, &[])), ..done });
    }
    lines.iter().for_each(|line| common.say(line));
    report(&stats, common);
    let given = OptionValues::new(args.solver, args.given.clone())?;
    let origin = Origin::new(args.solver.name, given, &common.image, Some(image.manifest().image_id));
    dense.iter_mut().for_each(|dense| dense.shape.origin = origin.clone());
    let results = dense.into_iter().zip(args.results());
    Dense::write_all(results.filter_map(|(dense, output)| Some((dense, output?.to_owned()))))?;
    if let Some(output) = &args.values {
        write_columns(image, &values, &origin, output)?;
    }
    end.account(&stats, Done { result: Some(Found::Facts(&facts, &values)), ..done })?;
    common.answer.heard()?;
    Ok(SUCCESS)
}

fn about(args: &SolverArgs, matrix: &SparseMatrix, needs: &Needs) -> Result<About> {
    let mut options = report::OptionText::all(args.solver.options, &args.given);
    for (input, file) in args.solver.inputs.iter().zip(&args.inputs) {
        let file = file.iter().map(|file| report::OptionText::new(input.name, file.display().to_string()));
        options.splice(0..0, file);
    }
    let graph = matrix.graph();
    let (_, most_bytes) = needs.most_memory(graph, &args.results(), args.common.verify)?;
    let memory_bytes = least_limit(graph, most_bytes);
    let plan = Planned::of_solver(memory_bytes, needs.least_bytes, &needs.passes, needs.columns_per_pass);
    Ok(About { name: args.solver.name, options, facts: graph_facts(graph), plan })
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
    check_different(graph.runtime(), &inputs.collect::<Vec<_>>(), &outputs)?;
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

fn explain(args: &SolverArgs, matrix: &SparseMatrix, needs: &Needs) -> Result<()> {
    if args.common.json {
        return Ok(());
    }
    let graph = matrix.graph();
    let (_, least_bytes) = needs.most_memory(graph, &args.results(), args.common.verify)?;
    let mut lines = Vec::new();
    let (rows, columns) = matrix.shape();
    lines.push(format!("matrix   {rows} x {columns}, {} entries", matrix.entries()));
    if let Some(vectors) = &needs.vectors {
        let mut place = "in memory".to_owned();
        if !vectors.in_memory {
            let folder = vectors.folder.display();
            place += &format!(" as far as it has room, and otherwise in a temporary file in {folder}");
        }
        lines.push(format!("vectors  up to {}, {}, {place}", vectors.count, bytes_text(vectors.bytes)));
    }
    for (shape, output) in needs.shapes.iter().zip(args.results()) {
        if let Some(output) = output {
            let mut how = "while the product goes on".to_owned();
            if !needs.is_written_at_once() {
                how = format!("in {} of memory", bytes_text(shape.output_bytes(graph.image(), output)?));
            }
            let (count, columns, output) =
                (shape.vertices.end - shape.vertices.start, shape.names.len(), output.display());
            lines.push(format!("output   {count} rows of {columns} numbers, {how}, to {output}"));
        }
    }
    if args.common.verify {
        let bytes = bytes_text(needs.verify_bytes);
        lines.push(format!("verify   at least {bytes} of memory; its reads are not counted"));
    }
    lines.push(format!("multiply {} columns per pass", needs.columns_per_pass));
    lines.push(format!("passes   {}", needs.passes));
    let reads: Vec<_> = needs.bytes_per_pass.iter().map(|&bytes| bytes_text(bytes)).collect();
    lines.push(match &reads[..] {
        [rows, columns] => format!("reads    at most {rows} per pass over rows, {columns} per pass over columns"),
        _ => format!("reads    at most {} per pass", reads.concat()),
    });
    if let Some(Traffic { factor_bytes, product_bytes, temporary_bytes, folder }) = &needs.files {
        let [factor, product, temporary] =
            [factor_bytes, product_bytes, temporary_bytes].map(|&bytes| bytes_text(bytes));
        let folder = folder.display();
        lines.push(format!(
            "files    {factor} read of the factor, {product} written to the product's file, {temporary} written to \
             temporary files in {folder} and read again"
        ));
    }
    let (all, least) = (limit_text(least_limit(graph, least_bytes)), bytes_text(needs.least_bytes));
    say(format_args!("memory   {all} ({least} for the run)"))?;
    lines.iter().try_for_each(say)
}
