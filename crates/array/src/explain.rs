//! The plan of a computation: its passes, with the inputs, steps and memory of each. Nothing is read.

use crate::array::Array;
use crate::compute::{Computation, Goal, Place, Target, image_shape, reached_at_once};
use crate::operations::sparse::SparseProduct;
use crate::pass::{partition_rows, pass_needs, read_bytes};
use crate::plan::Plan;
use crate::sink::Sink;
use outcore_format::ElementType;
use outcore_image::{DenseWriter, Error, Result};
use outcore_io::{Runtime, bytes_text};
use outcore_matrix::SparseMatrix;
use std::collections::HashSet;
use std::fmt::Write as _;

/// The passes of a computation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The passes, in the order in which they run.
    pub passes: Vec<ExplainedPass>,
}

/// The plan of one pass over the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedPass {
    /// Number of rows of the pass.
    pub rows: u64,
    /// Number of rows of a partition.
    pub partition_rows: u64,
    /// The files, and the bytes that are read of each if none is cached.
    pub reads: Vec<(String, u64)>,
    /// The steps, operands first.
    pub steps: Vec<ExplainedStep>,
    /// The results, and the steps of each.
    pub results: Vec<(String, Vec<usize>)>,
    /// The memory that the pass takes beside its results, in bytes.
    pub memory_bytes: u64,
    /// The memory that the results take, in bytes.
    pub result_bytes: u64,
}

/// One operation of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedStep {
    /// The name of the operation.
    pub name: String,
    /// The sizes of the axes beside the rows.
    pub shape: Vec<usize>,
    /// The type of its elements.
    pub element: ElementType,
    /// Whether all its vectors are computed and stored for a block; otherwise each is computed when it is used.
    pub is_kept: bool,
    /// The numbers of the steps that compute its operands.
    pub operands: Vec<usize>,
}

/// Plans a computation without doing it.
///
/// # Errors
/// The errors of [`compute`](crate::compute) before a pass; also too little memory for the pass, beside the results of
/// earlier passes.
pub fn explain(runtime: &Runtime, goals: &[Goal]) -> Result<Explanation> {
    explain_once(runtime, goals).map_err(|error| planned_again(error, runtime, goals))
}

/// A page cache that has given back its pages still has headers, of less than one part in this number of its memory.
const CACHE_HEADERS_PART: u64 = 100;

/// A refusal of memory with a limit that is enough for all passes. Any other error is unchanged.
pub(crate) fn planned_again(error: Error, runtime: &Runtime, goals: &[Goal]) -> Error {
    let error = error.planned_again(|bytes| explain_once(&runtime.within(bytes)?, goals));
    let Some(advised_bytes) = error.advised_bytes() else { return error };
    // Under a greater limit images of matrices have larger buffers.
    let more_bytes = advised_bytes.saturating_sub(runtime.budget().limit_bytes());
    let grown_bytes = |matrix: &&SparseMatrix| matrix.graph().image().more_bytes(more_bytes) - more_bytes;
    let grown_bytes: u64 = matrices(goals).iter().map(grown_bytes).sum();
    let headers_bytes = advised_bytes / CACHE_HEADERS_PART;
    error.advising_at_least(advised_bytes.saturating_add(grown_bytes).saturating_add(headers_bytes))
}

/// The sparse matrices that goals are computed from.
fn matrices(goals: &[Goal]) -> Vec<&SparseMatrix> {
    let (mut seen, mut found) = (HashSet::new(), Vec::<&SparseMatrix>::new());
    let mut left: Vec<&Array> = goals.iter().map(Goal::array).collect();
    while let Some(array) = left.pop() {
        if !seen.insert(array.id()) {
            continue;
        }
        if let Some(product) = array.op().get::<SparseProduct>()
            && !found.iter().any(|other| std::ptr::eq(*other, product.matrix()))
        {
            found.push(product.matrix());
        }
        left.extend(array.operands());
    }
    found
}

fn explain_once(runtime: &Runtime, goals: &[Goal]) -> Result<Explanation> {
    for goal in goals {
        if let Goal::Image(image) = goal {
            image_shape(&image.array)?;
        }
    }
    let mut computation = Computation::planned(runtime);
    let (mut reached, mut passes) = (reached_at_once(goals), Vec::new());
    while let Some(round) = computation.round(goals, &reached)? {
        for targets in round {
            if let [Target { array, place: Place::Product }] = &targets[..] {
                passes.push(computation.explain_product(array)?);
                continue;
            }
            let (plan, sinks) = computation.plan(&targets, &[])?;
            let held_bytes = computation.planned_bytes.unwrap_or(0);
            let pass = explained(&plan, &sinks, &targets, (runtime, held_bytes))?;
            computation.planned_bytes = Some(held_bytes + pass.result_bytes);
            passes.push(pass);
            for Target { array, place } in &targets {
                match place {
                    Place::Image(goal) => reached[*goal] = true,
                    Place::Spill => computation.explain_file(array),
                    Place::Memory | Place::Product => drop(computation.stand_in(array)),
                }
            }
        }
    }
    for goal in goals {
        if let Goal::Value(array) = goal {
            computation.plan_value(array)?;
        }
    }
    Ok(Explanation { passes })
}

/// The explanation of a pass after earlier ones with results of this size.
fn explained(
    plan: &Plan,
    sinks: &[Sink],
    targets: &[Target],
    (runtime, before_bytes): (&Runtime, u64),
) -> Result<ExplainedPass> {
    let steps = plan.steps.iter().map(|step| ExplainedStep {
        name: step.name.clone(),
        shape: step.shape.clone(),
        element: step.element,
        is_kept: step.is_buffered,
        operands: step.views.iter().map(|view| view.step).collect(),
    });
    let result = |(target, sink): (&Target, &Sink)| {
        let kind = match target.place {
            Place::Image(_) => "image",
            Place::Spill => "temporary file",
            Place::Memory | Place::Product => &sink.name,
        };
        let text = format!("{kind} {} {:?}", sink.element.name(), sink.shape);
        (text, sink.wanted().map(|wanted| wanted.view.step).collect())
    };
    let needs = pass_needs(plan, sinks, runtime);
    let images = targets.iter().filter(|target| target.image().is_some());
    let shapes = images.map(|target| image_shape(&target.array)).collect::<Result<Vec<_>>>()?;
    let writer_bytes: u64 = shapes.into_iter().map(|shape| DenseWriter::worker_bytes(runtime, shape)).sum();
    let memory_bytes = needs.readers_bytes + needs.other_bytes + writer_bytes;
    let result_bytes: u64 = targets.iter().map(Target::result_bytes).sum();
    runtime.budget().require(&plan.purpose(), memory_bytes + before_bytes + result_bytes)?;
    // The number of rows that are decoded at once depends on the remaining memory.
    let _set_aside = runtime.budget().reserve("computing arrays", needs.other_bytes + before_bytes + result_bytes)?;
    let read = read_bytes(plan, sinks, runtime);
    Ok(ExplainedPass {
        rows: plan.rows,
        partition_rows: partition_rows(plan, sinks),
        reads: plan.sources.iter().map(|own| own.source.describe()).zip(read).collect(),
        steps: steps.collect(),
        results: targets.iter().zip(sinks).map(result).collect(),
        memory_bytes,
        result_bytes,
    })
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let numbers = |steps: &[usize]| steps.iter().map(|step| format!("#{step}")).collect::<Vec<_>>().join(", ");
        let count = self.passes.len();
        writeln!(f, "{count} {}", if count == 1 { "pass" } else { "passes" })?;
        for (number, pass) in self.passes.iter().enumerate() {
            let (memory, results) = (bytes_text(pass.memory_bytes), bytes_text(pass.result_bytes));
            let rows = pass.rows;
            writeln!(f, "pass {}: {rows} rows, {memory} of memory, {results} of results", number + 1)?;
            for (file, bytes) in &pass.reads {
                writeln!(f, "  reads {file}: {}", bytes_text(*bytes))?;
            }
            for (place, step) in pass.steps.iter().enumerate() {
                let buffered = if step.is_kept { ", kept for a block" } else { "" };
                let (name, element, operands) = (&step.name, step.element.name(), numbers(&step.operands));
                writeln!(f, "  #{place} {name}({operands}): {element} {:?}{buffered}", step.shape)?;
            }
            for (result, operands) in &pass.results {
                let of = if operands.is_empty() { "" } else { " of " };
                writeln!(f, "  = {result}{of}{}", numbers(operands))?;
            }
        }
        Ok(())
    }
}

/// The size of a box of the drawing, and of the gaps between boxes.
const BOX: (usize, usize) = (220, 40);
const GAP: (usize, usize) = (30, 30);

impl Explanation {
    /// The steps and their operands, drawn: a column for each pass.
    pub fn svg(&self) -> String {
        let mut boxes = String::new();
        let (mut width, mut height) = (0, 0);
        for (number, pass) in self.passes.iter().enumerate() {
            let left = GAP.0 + number * 2 * (BOX.0 + GAP.0);
            let top = |line: usize| GAP.1 + line * (BOX.1 + GAP.1);
            let title = format!("pass {}: {} rows", number + 1, pass.rows);
            draw(&mut boxes, (left, top(0)), &title, &bytes_text(pass.memory_bytes), "none");
            for (place, step) in pass.steps.iter().enumerate() {
                let at = (left, top(place + 1));
                step.operands.iter().for_each(|&operand| line(&mut boxes, (left, top(operand + 1)), at));
                let fill = if step.is_kept { "#cfe3f7" } else { "#f4f4f4" };
                let shape = format!("{} {:?}", step.element.name(), step.shape);
                draw(&mut boxes, at, &format!("#{place} {}", step.name), &shape, fill);
            }
            for (place, (result, operands)) in pass.results.iter().enumerate() {
                let at = (left + BOX.0 + GAP.0, top(place + 1));
                operands.iter().for_each(|&operand| line(&mut boxes, (left, top(operand + 1)), at));
                draw(&mut boxes, at, result, "", "#d8f0d8");
            }
            width = left + 2 * (BOX.0 + GAP.0);
            height = height.max(top(pass.steps.len().max(pass.results.len()) + 1));
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
             font-size=\"12\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>{boxes}</svg>"
        )
    }
}

fn draw(to: &mut String, (x, y): (usize, usize), title: &str, text: &str, fill: &str) {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let short = |text: &str| {
        let text: String =
            if text.chars().count() > 31 { text.chars().take(30).chain(['…']).collect() } else { text.into() };
        escaped(&text)
    };
    let (width, height) = BOX;
    _ = write!(
        to,
        "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\" fill=\"{fill}\" \
         stroke=\"#888\"/><text x=\"{}\" y=\"{}\">{}</text><text x=\"{}\" y=\"{}\" fill=\"#666\">{}</text></g>",
        escaped(title),
        x + 8,
        y + 17,
        short(title),
        x + 8,
        y + 33,
        short(text),
    );
}

/// A line from below one box to another's edge.
fn line(to: &mut String, from: (usize, usize), (x, y): (usize, usize)) {
    let (width, height) = BOX;
    let start = (from.0 + width / 2, from.1 + height);
    let end = if x == from.0 { (x + width / 2, y) } else { (x, y + height / 2) };
    let start = if x == from.0 { start } else { (from.0 + width, from.1 + height / 2) };
    // Steps of one column are further apart than neighbours: bow the line.
    let bow = if x == from.0 { start.0 + (y - from.1) / 4 } else { (start.0 + end.0) / 2 };
    let middle = (start.1 + end.1) / 2;
    _ = write!(
        to,
        "<path d=\"M{} {} Q{bow} {middle} {} {}\" fill=\"none\" stroke=\"#888\"/>",
        start.0, start.1, end.0, end.1
    );
}
