//! Computing lazy arrays: which passes it takes, and their results.
//!
//! What an array needs as a whole (sums over the long axis, products that sum over it, tables that indices pick from)
//! is known before the pass that uses it. So passes come in rounds: in each, everything that depends on nothing unknown
//! is computed, and all of it that has the same number of rows in the same pass.

use crate::array::{Array, Op};
use crate::elementwise::kept_axis;
use crate::memory::Memory;
use crate::pass::{pass_needs, run};
use crate::plan::{Known, Plan, Request, Wanted, cannot_stream, outer};
use crate::sink::{Sink, SinkKind};
use outcore_image::{DenseHead, DenseWriter, Error, Result, Stats, StatsBuilder};
use outcore_io::Runtime;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What is to become of an array.
#[derive(Clone, Debug)]
pub enum Goal {
    /// Its value, in memory.
    Value(Array),
    /// An image.
    Image(ImageGoal),
}

/// An image that an array is to become.
#[derive(Clone, Debug)]
pub struct ImageGoal {
    /// A vector or a matrix.
    pub array: Array,
    /// Where the image goes.
    pub path: PathBuf,
    /// Whether it may replace an image that is there.
    pub replace: bool,
    /// The names of the columns.
    pub names: Option<Vec<String>>,
    /// What makes it: "persist", "import".
    pub made_by: &'static str,
}

/// Results of a computation, and what it cost.
#[derive(Debug)]
pub struct Computed {
    /// The values, in the order of the goals that are values.
    pub values: Vec<Memory>,
    /// Passes, bytes, seconds.
    pub stats: Stats,
}

/// Reaches goals together: one pass for all that can share it. Images appear when all goals are reached.
///
/// # Errors
/// Too little memory, files that cannot be read, operations that cannot be streamed, a full disk, a request to stop, an
/// error of a user's function. Then there are no images.
pub fn compute(runtime: &Arc<Runtime>, goals: &[Goal]) -> Result<Computed> {
    let mut stats = StatsBuilder::start();
    let mut writers = Vec::new();
    for goal in goals {
        writers.push(match goal {
            Goal::Value(_) => None,
            Goal::Image(image) => Some(writer(runtime, image)?),
        });
    }
    let mut computation = Computation::new(runtime);
    let mut reached = reached_at_once(goals);
    while let Some(round) = computation.round(goals, &reached)? {
        for targets in round {
            computation.pass(&targets, &writers, &mut stats)?;
            let images = targets.iter().filter_map(|target| target.image);
            images.for_each(|place| reached[place] = true);
        }
    }
    let mut values = Vec::new();
    for goal in goals {
        if let Goal::Value(array) = goal {
            values.push(computation.value(array)?);
        }
    }
    writers.into_iter().flatten().try_for_each(DenseWriter::commit)?;
    Ok(Computed { values, stats: stats.finish(runtime, computation.device_pages.max(1)) })
}

/// The goals that need no pass: an image without elements has no pages.
pub(crate) fn reached_at_once(goals: &[Goal]) -> Vec<bool> {
    goals.iter().map(|goal| matches!(goal, Goal::Image(image) if image.array.count() == 0)).collect()
}

/// What writes an image.
fn writer(runtime: &Arc<Runtime>, goal: &ImageGoal) -> Result<DenseWriter> {
    let (rows, columns) = match *goal.array.shape() {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => {
            let found = goal.array.axes();
            return Err(Error::Usage(format!("expected a vector or a matrix to store, found {found} axes")));
        }
    };
    let head = DenseHead {
        element: goal.array.element(),
        rows,
        columns,
        dimensions: goal.array.axes() as u32,
        names: goal.names.clone(),
        made_by: Some(goal.made_by.to_owned()),
    };
    DenseWriter::create(runtime, &goal.path, head, goal.replace)
}

/// A computation under way.
pub(crate) struct Computation<'a> {
    runtime: &'a Runtime,
    pub known: Known,
    can_stream: HashMap<(u64, usize), bool>,
    /// The pages that one pass over all files reads.
    device_pages: u64,
}

/// An array that a pass computes.
#[derive(Clone)]
pub(crate) struct Target {
    pub array: Array,
    /// The goal that it is an image of.
    pub image: Option<usize>,
}

impl Target {
    /// How many rows the pass has.
    pub fn rows(&self) -> u64 {
        if self.image.is_some() { self.array.shape()[0] } else { pass_rows(&self.array) }
    }
}

impl<'a> Computation<'a> {
    pub fn new(runtime: &'a Runtime) -> Self {
        Computation { runtime, known: Known::new(), can_stream: HashMap::new(), device_pages: 0 }
    }

    /// What can be computed next, by passes; nothing if all goals that need one are reached.
    pub fn round(&mut self, goals: &[Goal], reached: &[bool]) -> Result<Option<Vec<Vec<Target>>>> {
        let (mut ready, mut seen, mut targets) = (Vec::new(), HashMap::new(), Vec::new());
        // What is known by now can be streamed.
        self.can_stream.clear();
        for (place, goal) in goals.iter().enumerate().filter(|&(place, _)| !reached[place]) {
            match goal {
                Goal::Value(array) => drop(self.find(array, None, &mut ready, &mut seen)?),
                Goal::Image(image) => {
                    if !self.find(&image.array, Some(0), &mut ready, &mut seen)? {
                        if image.array.shape()[0] == 1 {
                            // What has one row is not streamed, and need not be such that it could be.
                            self.value(&image.array)?;
                        }
                        targets.push(Target { array: image.array.clone(), image: Some(place) });
                    }
                }
            }
        }
        targets.extend(ready.into_iter().map(|array| Target { array, image: None }));
        let mut passes: Vec<Vec<Target>> = Vec::new();
        for target in targets {
            match passes.iter_mut().find(|pass| pass[0].rows() == target.rows()) {
                Some(pass) => pass.push(target),
                None => passes.push(vec![target]),
            }
        }
        Ok(Some(passes).filter(|passes| !passes.is_empty()))
    }

    /// Adds what must be computed for an array, asked for as a whole or along an axis, and depends on nothing unknown;
    /// returns whether anything must.
    fn find(
        &mut self,
        array: &Array,
        axis: Option<usize>,
        ready: &mut Vec<Array>,
        seen: &mut HashMap<(u64, Option<usize>), bool>,
    ) -> Result<bool> {
        if self.known.contains_key(&array.id()) || matches!(array.op(), Op::Memory(_)) {
            return Ok(false);
        }
        let axis = axis.filter(|&axis| array.shape()[axis] > 1);
        let is_target = match axis {
            None => needs_pass(array),
            Some(axis) => !self.can_stream(array, axis),
        };
        if let Some(&must) = seen.get(&(array.id(), axis)) {
            return Ok(must);
        }
        let along = if is_target { pass_axis(array) } else { axis.map(Along::Own) };
        let mut is_waiting = false;
        for (operand, axis) in requests(array, along) {
            let must_wait = self.find(operand, axis, ready, seen)?;
            let is_table = matches!(array.op(), Op::Gather { table, .. } if table.id() == operand.id());
            let is_whole = is_table || along.is_some() && axis.is_none_or(|axis| operand.shape()[axis] <= 1);
            if is_whole && !must_wait && !matches!(operand.op(), Op::Full(_)) {
                // What is the same for all rows is computed before the pass.
                self.value(operand)?;
            }
            is_waiting |= must_wait;
        }
        if is_target && !is_waiting && pass_axis(array).is_none() {
            // It takes no pass.
            self.value(array)?;
            return Ok(false);
        }
        if is_target && !is_waiting && !ready.iter().any(|there| there.id() == array.id()) {
            ready.push(array.clone());
        }
        seen.insert((array.id(), axis), is_target || is_waiting);
        Ok(is_target || is_waiting)
    }

    /// Whether an array can be computed along an axis, without all rows at once.
    fn can_stream(&mut self, array: &Array, axis: usize) -> bool {
        if self.known.contains_key(&array.id()) {
            return true;
        }
        if let Some(&can) = self.can_stream.get(&(array.id(), axis)) {
            return can;
        }
        let can = match array.op() {
            Op::Source(_) => axis == 0,
            Op::GroupFold { .. } | Op::RowFold(..) => false,
            Op::Cumulative { axis: along, .. } if *along == axis => false,
            Op::Gather { index, .. } if axis >= index.axes() => false,
            Op::Reshape(input) if kept_axis(array.shape(), axis, input.shape()).is_none() => false,
            _ => requests(array, Some(Along::Own(axis))).into_iter().all(|(operand, axis)| match axis {
                Some(axis) if operand.shape()[axis] > 1 => self.can_stream(operand, axis),
                _ => true,
            }),
        };
        // Sums over what is streamed are results of passes.
        let can = can && !is_over_long_axis(array);
        self.can_stream.insert((array.id(), axis), can);
        can
    }

    /// Computes targets in one pass.
    fn pass(&mut self, targets: &[Target], writers: &[Option<DenseWriter>], stats: &mut StatsBuilder) -> Result<()> {
        let (plan, sinks) = self.plan(targets, writers)?;
        let needs = pass_needs(&plan, &sinks, self.runtime);
        let values = targets.iter().filter(|target| target.image.is_none());
        let results: u64 = values.map(|target| target.array.count() * target.array.element().bytes() as u64).sum();
        let budget = self.runtime.budget();
        budget.require("computing arrays", needs.readers_bytes + needs.other_bytes + results)?;
        let reservation = budget.reserve("computing arrays", needs.other_bytes)?;
        {
            // The cache gets what is left beside readers and results.
            let _set_aside = budget.reserve("computing arrays", needs.readers_bytes + results)?;
            let most_bytes = budget.available_bytes();
            plan.sources.iter().try_for_each(|own| own.source.use_cache(most_bytes))?;
        }
        let (partials, sweep) = run(&plan, &sinks, self.runtime)?;
        self.device_pages = self.device_pages.max(sweep.pages_wanted);
        stats.step("pass", plan.rows, sweep);
        for ((target, sink), partial) in targets.iter().zip(sinks).zip(partials) {
            match sink.kind {
                SinkKind::Store(worker) => outcore_io::into_inner(*worker).finish()?,
                _ => drop(self.known.insert(target.array.id(), partial.finish(&sink, budget)?)),
            }
        }
        drop(reservation);
        Ok(())
    }

    /// The plan of a pass that computes targets. Without writers images are only planned.
    pub fn plan(&self, targets: &[Target], writers: &[Option<DenseWriter>]) -> Result<(Plan, Vec<Sink>)> {
        let mut plan = Plan::new(targets[0].rows());
        let mut sinks = Vec::new();
        for target in targets {
            sinks.push(match target.image {
                None => self.sink(&target.array, &mut plan)?,
                Some(place) => {
                    let mut sink = self.collect(&target.array, 0, &mut plan)?;
                    if let Some(writer) = writers.get(place).and_then(Option::as_ref) {
                        sink.kind = SinkKind::Store(Box::new(Mutex::new(writer.worker()?)));
                    }
                    sink
                }
            });
        }
        let wanted: Vec<&Wanted> = sinks.iter().flat_map(Sink::wanted).collect();
        let together: Vec<usize> = sinks
            .iter()
            .filter(|sink| matches!(sink.kind, SinkKind::Product(_) | SinkKind::Rows { .. }))
            .flat_map(Sink::wanted)
            .map(|wanted| wanted.view.step)
            .collect();
        plan.finish(&wanted, &together);
        Ok((plan, sinks))
    }

    /// An array as a whole, by a pass along an axis of its own.
    fn collect(&self, array: &Array, axis: usize, plan: &mut Plan) -> Result<Sink> {
        let (view, _) = plan.split(array, &[], Request::along(axis), &self.known)?;
        let sizes = outer(array.shape(), Some(axis));
        let (kept, element) = (sizes.len(), array.element());
        let wanted = Wanted { view, sizes, element };
        Ok(Sink { kind: SinkKind::Collect { axis }, wanted, kept, shape: array.shape().to_vec(), element })
    }

    fn sink(&self, array: &Array, plan: &mut Plan) -> Result<Sink> {
        let (shape, element) = (array.shape().to_vec(), array.element());
        let mut wanted = |input: &Array, over: &[usize], axis: usize| -> Result<(Wanted, usize)> {
            let (view, folded) = plan.split(input, over, Request::along(axis), &self.known)?;
            let kept = (0..input.axes()).filter(|own| !over.contains(own) && *own != axis);
            let mut sizes: Vec<usize> = kept.map(|own| input.shape()[own] as usize).collect();
            let kept = sizes.len();
            sizes.extend(folded);
            Ok((Wanted { view, sizes, element: input.element() }, kept))
        };
        let Some(along) = pass_axis(array) else { return Err(cannot_stream(array)) };
        let (kind, (wanted, kept)) = match (array.op(), along) {
            (Op::Fold { fold, input, axes }, Along::Folded(axis)) => {
                (SinkKind::Fold(*fold), wanted(input, axes, axis)?)
            }
            // Moments are merged over all folded axes.
            (Op::SquaredDeviations { input, axes }, Along::Folded(axis)) => {
                (SinkKind::SquaredDeviations, wanted(input, axes, axis)?)
            }
            (Op::Arg { is_max, input, axis }, Along::Folded(_)) => {
                (SinkKind::Arg { is_max: *is_max }, wanted(input, &[*axis], *axis)?)
            }
            (Op::MatMul(left, right), Along::Folded(_)) => {
                let left = wanted(left, &[], 1)?;
                let (right, _) = wanted(right, &[], 0)?;
                (SinkKind::Product(right), left)
            }
            (Op::GroupFold { fold, input, labels, groups }, _) => {
                let (labels, _) = wanted(labels, &[], 0)?;
                (SinkKind::Group { fold: *fold, labels, groups: *groups as usize }, wanted(input, &[], 0)?)
            }
            (Op::RowFold(fold, inputs), _) => {
                let first = wanted(&inputs[0], &[], 0)?;
                let others = inputs[1..].iter().map(|input| Ok(wanted(input, &[], 0)?.0)).collect::<Result<_>>()?;
                (SinkKind::Rows { fold: Arc::clone(fold), others }, first)
            }
            (_, Along::Own(axis)) => return self.collect(array, axis, plan),
            _ => return Err(cannot_stream(array)),
        };
        Ok(Sink { kind, wanted, kept, shape, element })
    }

    /// The value of an array that needs no pass any more.
    pub fn value(&mut self, array: &Array) -> Result<Memory> {
        if let Some(memory) = self.known.get(&array.id()) {
            return Ok(memory.clone());
        }
        if let Op::Memory(memory) = array.op() {
            return Ok(memory.clone());
        }
        // Every element is a vector of one row.
        let mut plan = Plan::new(1);
        let view = plan.add(array, Request::WHOLE, &self.known)?;
        let sizes: Vec<usize> = array.shape().iter().map(|&size| size as usize).collect();
        let kept = sizes.len();
        let wanted = Wanted { view, sizes, element: array.element() };
        let mut shape = array.shape().to_vec();
        shape.push(1);
        let kind = SinkKind::Collect { axis: kept };
        let sink = Sink { kind, wanted, kept, shape, element: array.element() };
        plan.finish(&[&sink.wanted], &[]);
        let sinks = [sink];
        let budget = self.runtime.budget();
        let needs = pass_needs(&plan, &sinks, self.runtime);
        let reservation = budget.reserve("computing arrays", needs.other_bytes)?;
        let (mut partials, _) = run(&plan, &sinks, self.runtime)?;
        let value = partials.remove(0).finish(&sinks[0], budget)?.reshaped(array.shape().to_vec());
        drop(reservation);
        self.known.insert(array.id(), value.clone());
        Ok(value)
    }
}

/// Which axis a pass goes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// One of the array's own.
    Own(usize),
    /// One of its operand's, over which it is folded.
    Folded(usize),
}

/// Whether an array that is asked for as a whole is the result of a pass.
fn needs_pass(array: &Array) -> bool {
    pass_axis(array).is_some()
}

/// Whether it is a sum, or the like, over the axis along which its operand is streamed.
fn is_over_long_axis(array: &Array) -> bool {
    matches!(pass_axis(array), Some(Along::Folded(_)))
}

/// The axis that the pass goes along that computes an array as a whole; nothing if it takes none.
pub(crate) fn pass_axis(array: &Array) -> Option<Along> {
    let over_long =
        |input: &Array, axes: &[usize]| input.long_axis().filter(|axis| axes.contains(axis)).map(Along::Folded);
    let folded = match array.op() {
        Op::Fold { input, axes, .. } | Op::SquaredDeviations { input, axes } => over_long(input, axes),
        Op::Arg { input, axis, .. } => over_long(input, &[*axis]),
        Op::MatMul(..) if array.long_axis().is_none() => Some(Along::Folded(1)),
        Op::GroupFold { .. } | Op::RowFold(..) => Some(Along::Folded(0)),
        Op::Source(_) => return Some(Along::Own(0)),
        _ => None,
    };
    folded.or_else(|| array.long_axis().map(Along::Own))
}

/// How many rows the pass has that computes an array.
fn pass_rows(array: &Array) -> u64 {
    match (array.op(), pass_axis(array)) {
        (Op::MatMul(left, _), Some(Along::Folded(_))) => left.shape()[1],
        (op, Some(Along::Folded(axis))) => op.operands()[0].shape()[axis],
        (_, Some(Along::Own(axis))) => array.shape()[axis],
        (_, None) => 1,
    }
}

/// How an array asks for its operands: each along an axis, or as a whole.
fn requests(array: &Array, along: Option<Along>) -> Vec<(&Array, Option<usize>)> {
    let operands = array.op().operands();
    let Some(along) = along else {
        return operands.into_iter().map(|operand| (operand, None)).collect();
    };
    let axis = match along {
        Along::Own(axis) => axis,
        Along::Folded(axis) => {
            return match array.op() {
                Op::MatMul(left, right) => vec![(left, Some(1)), (right, Some(0))],
                Op::GroupFold { input, labels, .. } => vec![(input, Some(0)), (labels, Some(0))],
                Op::RowFold(_, inputs) => inputs.iter().map(|input| (input, Some(0))).collect(),
                _ => vec![(operands[0], Some(axis))],
            };
        }
    };
    match array.op() {
        Op::View { input, axes, .. } => vec![(input, axes[axis].axis)],
        Op::Reshape(input) => vec![(input, kept_axis(array.shape(), axis, input.shape()))],
        Op::Fold { input, axes, .. } | Op::SquaredDeviations { input, axes } => {
            vec![(input, (0..input.axes()).filter(|own| !axes.contains(own)).nth(axis))]
        }
        Op::Arg { input, axis: over, .. } => vec![(input, Some(if axis < *over { axis } else { axis + 1 }))],
        Op::MatMul(left, right) => match axis {
            0 => vec![(left, Some(0)), (right, None)],
            _ => vec![(left, None), (right, Some(1))],
        },
        Op::Gather { table, index } => vec![(table, None), (index, Some(axis).filter(|&axis| axis < index.axes()))],
        _ => {
            let own = |operand: &Array| (axis + operand.axes()).checked_sub(array.axes());
            operands.into_iter().map(|operand| (operand, own(operand))).collect()
        }
    }
}
