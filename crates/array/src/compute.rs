//! Computing lazy arrays: which passes it takes, and their results.
//!
//! Values that an array needs as a whole (sums over the long axis, products that sum over it, tables that indices pick
//! from) are computed before the pass that uses them. Passes are therefore arranged in rounds: each computes everything
//! that depends on no unknown value, and arrays with the same number of rows share a pass.

use crate::array::{Along, Array, Op, cannot_stream};
use crate::explain::{ExplainedPass, planned_again};
use crate::memory::InMemory;
use crate::operations::sparse::{Factor, SparseProduct};
use crate::pass::{pass_needs, run};
use crate::plan::{Known, Plan, Request, Wanted};
use crate::sink::{Sink, SinkKind};
use outcore_format::DenseShape;
use outcore_image::{DenseHead, DenseWriter, Error, Result, Stats, StatsBuilder};
use outcore_io::{Runtime, Spill};
use outcore_matrix::{DenseFile, DenseLayout};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// An array to compute, and the destination of its elements.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Goal {
    /// Its value, in memory.
    Value(Array),
    /// An image.
    Image(ImageGoal),
}

/// An array to store as an image.
#[derive(Clone, Debug)]
pub struct ImageGoal {
    /// A vector or a matrix.
    pub array: Array,
    /// Path of the image.
    pub path: PathBuf,
    /// Whether an existing image may be replaced.
    pub replace: bool,
    /// The names of the columns.
    pub names: Option<Vec<String>>,
    /// The operation that makes the image: "persist", "import".
    pub made_by: &'static str,
}

/// Values up to this size are computed where they are planned.
const MOST_PLANNED_BYTES: u64 = 64 << 10;

/// Results and cost of a computation.
#[derive(Debug)]
#[non_exhaustive]
pub struct Computed {
    /// The elements of the arrays of all [`Goal::Value`], in the order of the goals.
    pub values: Vec<InMemory>,
    /// Number of passes, bytes that were read, and seconds.
    pub stats: Stats,
}

/// Computes several goals together, in as few passes as possible. Images appear when all goals are reached.
///
/// # Errors
/// Too little memory, files that cannot be read, operations that cannot be streamed, a full disk, a request to stop, an
/// error of a user's function. Then there are no images.
pub fn compute(runtime: &Runtime, goals: &[Goal]) -> Result<Computed> {
    compute_once(runtime, goals).map_err(|error| planned_again(error, runtime, goals))
}

fn compute_once(runtime: &Runtime, goals: &[Goal]) -> Result<Computed> {
    let mut stats = StatsBuilder::of(runtime);
    let writers = goals.iter().map(|goal| match goal {
        Goal::Value(_) => Ok(None),
        Goal::Image(image) => writer(runtime, image).map(Some),
    });
    let writers = writers.collect::<Result<Vec<_>>>()?;
    let mut computation = Computation::new(runtime);
    let mut reached = reached_at_once(goals);
    while let Some(round) = computation.round(goals, &reached)? {
        for targets in round {
            computation.pass(&targets, &writers, &mut stats)?;
            let images = targets.iter().filter_map(Target::image);
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

impl Goal {
    /// The array that is to be computed.
    pub(crate) fn array(&self) -> &Array {
        match self {
            Goal::Value(array) => array,
            Goal::Image(image) => &image.array,
        }
    }
}

/// Whether each goal needs no pass: an image without elements has no pages.
pub(crate) fn reached_at_once(goals: &[Goal]) -> Vec<bool> {
    goals.iter().map(|goal| matches!(goal, Goal::Image(image) if image.array.count() == 0)).collect()
}

/// The shape of an array as an image.
pub(crate) fn image_shape(array: &Array) -> Result<DenseShape> {
    let (rows, columns) = match *array.shape() {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => {
            let axes = array.axes();
            return Err(Error::Usage(format!("expected a vector or a matrix to store, found {axes} axes")));
        }
    };
    Ok(DenseShape { element: array.element(), rows, columns })
}

/// The writer of an image.
fn writer(runtime: &Runtime, goal: &ImageGoal) -> Result<DenseWriter> {
    let DenseShape { element, rows, columns } = image_shape(&goal.array)?;
    let head = DenseHead {
        element,
        rows,
        columns,
        dimensions: goal.array.axes() as u32,
        names: goal.names.clone(),
        made_by: Some(goal.made_by.to_owned()),
    };
    DenseWriter::create(runtime, &goal.path, head, goal.replace)
}

/// The state of a computation: the values that are known so far.
pub(crate) struct Computation<'a> {
    runtime: &'a Runtime,
    pub known: Known,
    /// Factors of sparse matrices in temporary files, or where these will be.
    factors: HashMap<u64, FactorFile>,
    can_stream: HashMap<(u64, usize), bool>,
    /// Memory of the results so far, if they are only planned: stand-ins are known in their places.
    pub planned_bytes: Option<u64>,
    /// The pages that one pass over all files reads.
    device_pages: u64,
}

/// A factor of a sparse matrix that is too large for memory.
enum FactorFile {
    Planned(PathBuf),
    /// Nothing, where it is only explained.
    Stored(Option<DenseFile>),
}

/// An array that a pass computes.
#[derive(Clone)]
pub(crate) struct Target {
    pub array: Array,
    pub place: Place,
}

/// Destination of an array that a pass computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Memory,
    /// The image that is this goal.
    Image(usize),
    /// A temporary file: it is the factor of a product with a sparse matrix.
    Spill,
    /// Memory or a temporary file, as there is room: it is the product of a sparse matrix, computed by itself.
    Product,
}

impl Target {
    /// Number of rows of the pass.
    pub fn rows(&self) -> u64 {
        match self.place {
            Place::Memory => self.array.pass_rows(),
            Place::Image(_) | Place::Spill | Place::Product => self.array.shape()[0],
        }
    }

    /// The goal that it is an image of.
    pub fn image(&self) -> Option<usize> {
        if let Place::Image(goal) = self.place { Some(goal) } else { None }
    }

    /// The memory that the result takes.
    pub fn result_bytes(&self) -> u64 {
        let bytes = self.array.count() * self.array.element().bytes() as u64;
        if self.place == Place::Memory { bytes } else { 0 }
    }
}

/// Arrays that must be computed before a requested one.
#[derive(Default)]
struct Prerequisites {
    /// Arrays that depend on no unknown value.
    ready: Vec<Target>,
    /// Whether something must be computed for an array along an axis.
    seen: HashMap<(u64, Option<usize>), bool>,
}

impl Prerequisites {
    fn push(&mut self, array: &Array, place: Place) {
        if !self.ready.iter().any(|there| there.array.id() == array.id() && there.place == place) {
            self.ready.push(Target { array: array.clone(), place });
        }
    }
}

impl<'a> Computation<'a> {
    pub fn new(runtime: &'a Runtime) -> Self {
        let (known, factors, can_stream) = (Known::default(), HashMap::new(), HashMap::new());
        Computation { runtime, known, factors, can_stream, planned_bytes: None, device_pages: 0 }
    }

    /// A computation whose passes are planned, and do not run.
    pub fn planned(runtime: &'a Runtime) -> Self {
        Computation { planned_bytes: Some(0), ..Computation::new(runtime) }
    }

    /// The free memory, less that of planned results.
    fn available_bytes(&self) -> u64 {
        self.runtime.budget().available_bytes().saturating_sub(self.planned_bytes.unwrap_or(0))
    }

    /// The next arrays that passes can compute; `None` if all goals that need a pass are reached.
    pub fn round(&mut self, goals: &[Goal], reached: &[bool]) -> Result<Option<Vec<Vec<Target>>>> {
        let (mut prerequisites, mut targets) = (Prerequisites::default(), Vec::new());
        // Arrays that are known by now can be streamed.
        self.can_stream.clear();
        for (place, goal) in goals.iter().enumerate().filter(|&(place, _)| !reached[place]) {
            match goal {
                Goal::Value(array) => drop(self.add_prerequisites(array, None, &mut prerequisites)?),
                Goal::Image(image) => {
                    if !self.add_prerequisites(&image.array, Some(0), &mut prerequisites)? {
                        if image.array.shape()[0] == 1 {
                            // An array of one row is not streamed, and need not be streamable.
                            self.value(&image.array)?;
                        }
                        targets.push(Target { array: image.array.clone(), place: Place::Image(place) });
                    }
                }
            }
        }
        targets.extend(prerequisites.ready);
        let mut passes: Vec<Vec<Target>> = Vec::new();
        for target in targets {
            // Products are computed by themselves.
            let is_alone = |target: &Target| target.place == Place::Product;
            let same = |pass: &&mut Vec<Target>| pass[0].rows() == target.rows() && !is_alone(&pass[0]);
            match passes.iter_mut().find(same).filter(|_| !is_alone(&target)) {
                Some(pass) => pass.push(target),
                None => passes.push(vec![target]),
            }
        }
        Ok(Some(passes).filter(|passes| !passes.is_empty()))
    }

    /// Adds the arrays that must be computed before an array, requested as a whole or along an axis, and that depend on
    /// no unknown value. Returns whether there are any.
    fn add_prerequisites(
        &mut self,
        array: &Array,
        axis: Option<usize>,
        prerequisites: &mut Prerequisites,
    ) -> Result<bool> {
        if self.known.values.contains_key(&array.id()) || matches!(array.op(), Op::Memory(_)) {
            return Ok(false);
        }
        let axis = axis.filter(|&axis| array.shape()[axis] > 1);
        let is_target = match axis {
            None => array.pass_axis().is_some(),
            Some(axis) => !self.can_stream(array, axis),
        };
        if let Some(&must) = prerequisites.seen.get(&(array.id(), axis)) {
            return Ok(must);
        }
        if self.must_multiply(array, prerequisites)? {
            prerequisites.seen.insert((array.id(), axis), true);
            return Ok(true);
        }
        let along = if is_target { array.pass_axis() } else { axis.map(Along::Own) };
        let mut is_waiting = false;
        for (place, (operand, axis)) in array.requests(along).into_iter().enumerate() {
            let must_wait = self.add_prerequisites(operand, axis, prerequisites)?;
            let is_table = place == 0 && array.has_table();
            let is_whole = is_table || along.is_some() && axis.is_none_or(|axis| operand.shape()[axis] <= 1);
            if is_whole && !must_wait && !matches!(operand.op(), Op::Full(_)) {
                // Values that are equal for all rows are computed before the pass.
                self.value(operand)?;
            }
            is_waiting |= must_wait;
        }
        if is_target && !is_waiting && array.pass_axis().is_none() {
            // It takes no pass.
            self.value(array)?;
            return Ok(false);
        }
        if is_target && !is_waiting {
            prerequisites.push(array, Place::Memory);
        }
        prerequisites.seen.insert((array.id(), axis), is_target || is_waiting);
        Ok(is_target || is_waiting)
    }

    /// Adds the arrays that must be computed before rows of an array can be read, if it is the product of a sparse
    /// matrix: the factor, in memory or in a temporary file, or the product itself. Returns whether there are any.
    fn must_multiply(&mut self, array: &Array, prerequisites: &mut Prerequisites) -> Result<bool> {
        let Some(product) = array.op().get::<SparseProduct>() else { return Ok(false) };
        if self.known.products.contains_key(&array.id()) {
            return Ok(false);
        }
        let factor = &product.factor;
        let is_in_memory = matches!(factor.op(), Op::Memory(_)) || self.known.values.contains_key(&factor.id());
        if !is_in_memory && !matches!(self.factors.get(&factor.id()), Some(FactorFile::Stored(_))) {
            let is_streamed = factor.long_axis() == Some(0) && !product.has_room(self.available_bytes());
            if is_streamed {
                if !self.add_prerequisites(factor, Some(0), prerequisites)? {
                    self.factors.insert(factor.id(), FactorFile::Planned(product.factor_path()));
                    prerequisites.push(factor, Place::Spill);
                }
                return Ok(true);
            }
            if self.add_prerequisites(factor, None, prerequisites)? {
                return Ok(true);
            }
            self.value(factor)?;
        }
        if let Some(factor) = self.known.get(factor)
            && let Some(source) = product.by_rows(factor)
        {
            self.known.products.insert(array.id(), Arc::new(source));
            return Ok(false);
        }
        prerequisites.push(array, Place::Product);
        Ok(true)
    }

    /// Computes a product of a sparse matrix by itself.
    fn multiply(&mut self, array: &Array, stats: &mut StatsBuilder) -> Result<()> {
        let product: &SparseProduct = array.op().get().expect("a product of a sparse matrix");
        let factor = match (self.known.get(&product.factor), self.factors.get(&product.factor.id())) {
            (Some(memory), _) => Factor::Memory(memory),
            (None, Some(FactorFile::Stored(Some(file)))) => Factor::File(file),
            _ => unreachable!("a product comes after its factor"),
        };
        let (source, sweep) = product.store(self.runtime, factor)?;
        self.device_pages = self.device_pages.max(product.pages());
        stats.step("multiply", array.shape()[0], sweep);
        self.known.products.insert(array.id(), Arc::new(source));
        Ok(())
    }

    /// Plans a product of a sparse matrix by itself, and marks it as computed.
    pub fn explain_product(&mut self, array: &Array) -> Result<ExplainedPass> {
        let product: &SparseProduct = array.op().get().expect("a product of a sparse matrix");
        let is_in_file = self.known.get(&product.factor).is_none();
        let held_bytes = self.planned_bytes.unwrap_or(0);
        let (pass, source) = product.explain(self.runtime, is_in_file, held_bytes)?;
        self.known.products.insert(array.id(), Arc::new(source));
        self.planned_bytes = Some(held_bytes + pass.result_bytes);
        Ok(pass)
    }

    /// Marks a factor as stored in its temporary file.
    pub fn explain_file(&mut self, array: &Array) {
        self.factors.insert(array.id(), FactorFile::Stored(None));
    }

    /// Whether an array can be computed along an axis, without all rows at once.
    fn can_stream(&mut self, array: &Array, axis: usize) -> bool {
        if self.known.values.contains_key(&array.id()) {
            return true;
        }
        if let Some(&can) = self.can_stream.get(&(array.id(), axis)) {
            return can;
        }
        let can = array.can_stream(axis)
            && array.requests(Some(Along::Own(axis))).into_iter().all(|(operand, axis)| match axis {
                Some(axis) if operand.shape()[axis] > 1 => self.can_stream(operand, axis),
                _ => true,
            });
        self.can_stream.insert((array.id(), axis), can);
        can
    }

    /// Computes targets in one pass.
    fn pass(&mut self, targets: &[Target], writers: &[Option<DenseWriter>], stats: &mut StatsBuilder) -> Result<()> {
        if let [Target { array, place: Place::Product }] = targets {
            return self.multiply(array, stats);
        }
        let (plan, mut sinks) = self.plan(targets, writers)?;
        self.begin_files(targets, &mut sinks)?;
        let needs = pass_needs(&plan, &sinks, self.runtime);
        let results: u64 = targets.iter().map(Target::result_bytes).sum();
        let budget = self.runtime.budget();
        budget.require(&plan.purpose(), needs.readers_bytes + needs.other_bytes + results)?;
        let reservation = budget.reserve("computing arrays", needs.other_bytes)?;
        {
            // The cache gets the memory that readers and results leave.
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
                SinkKind::Spill(spill) => self.end_file(&target.array, &spill)?,
                _ => drop(self.known.values.insert(target.array.id(), partial.finish(&sink, budget)?)),
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
            sinks.push(match target.place {
                Place::Memory => self.sink(&target.array, &mut plan)?,
                Place::Image(_) | Place::Spill | Place::Product => {
                    let mut sink = self.collect(&target.array, 0, &mut plan)?;
                    sink.is_image = target.image().is_some();
                    let writer = target.image().and_then(|place| writers.get(place));
                    if let Some(writer) = writer.and_then(Option::as_ref) {
                        sink.kind = SinkKind::Store(Box::new(Mutex::new(writer.worker()?)));
                    }
                    sink
                }
            });
        }
        let wanted: Vec<&Wanted> = sinks.iter().flat_map(Sink::wanted).collect();
        let together = sinks.iter().filter(|sink| sink.needs_buffers).flat_map(Sink::wanted);
        let together: Vec<usize> = together.map(|wanted| wanted.view.step).collect();
        plan.finish(&wanted, &together);
        Ok((plan, sinks))
    }

    /// Begins the temporary files of factors.
    fn begin_files(&self, targets: &[Target], sinks: &mut [Sink]) -> Result<()> {
        for (Target { array, .. }, sink) in targets.iter().zip(sinks).filter(|(target, _)| target.place == Place::Spill)
        {
            let Some(FactorFile::Planned(path)) = self.factors.get(&array.id()) else { unreachable!("it was planned") };
            sink.kind = SinkKind::Spill(Spill::create(self.runtime.backend(), path)?);
        }
        Ok(())
    }

    /// Opens the temporary file of a factor, which was written by columns.
    fn end_file(&mut self, array: &Array, spill: &Spill) -> Result<()> {
        let (rows, columns, size) = (array.shape()[0], array.shape()[1], array.element().bytes() as u64);
        let (row_bytes, column_bytes, element) = (size, size * rows, "<f8".to_owned());
        let layout = DenseLayout { offset_bytes: 0, rows, columns, row_bytes, column_bytes, element };
        self.factors.insert(array.id(), FactorFile::Stored(Some(DenseFile::of_spill(spill, layout)?)));
        Ok(())
    }

    /// An array as a whole, by a pass along an axis of its own.
    fn collect(&self, array: &Array, axis: usize, plan: &mut Plan) -> Result<Sink> {
        let (wanted, _) = plan.wanted(array, &[], axis, &self.known)?;
        Ok(Sink::collect(wanted, axis, array.shape().to_vec()))
    }

    fn sink(&self, array: &Array, plan: &mut Plan) -> Result<Sink> {
        match (array.op(), array.pass_axis()) {
            (Op::Computed { operation, .. }, Some(Along::Folded(axis))) => {
                operation.sink(array, plan, axis, &self.known)
            }
            (_, Some(Along::Own(axis))) => self.collect(array, axis, plan),
            _ => Err(cannot_stream(array)),
        }
    }

    /// An array that stands for one whose values are not known: the same element everywhere.
    pub fn stand_in(&mut self, array: &Array) -> InMemory {
        let (element, shape, strides) = (array.element(), array.shape().to_vec(), vec![0; array.axes()]);
        let memory = InMemory::strided(Arc::new(vec![0u64]), 0, element, shape, strides);
        self.known.values.insert(array.id(), memory.clone());
        memory
    }

    /// The value of an array that needs no pass any more. Of a large one that is planned it is a stand-in.
    pub fn value(&mut self, array: &Array) -> Result<InMemory> {
        self.value_within(array, MOST_PLANNED_BYTES)
    }

    /// Plans the value of an array that is a goal: nothing depends on it, so no function of a user is called for it.
    pub fn plan_value(&mut self, array: &Array) -> Result<()> {
        self.value_within(array, 0).map(drop)
    }

    /// The value of an array; where it is planned and takes more than `most_bytes`, a stand-in.
    fn value_within(&mut self, array: &Array, most_bytes: u64) -> Result<InMemory> {
        if let Some(memory) = self.known.get(array) {
            return Ok(memory);
        }
        // Every element is a vector of one row.
        let mut plan = Plan::new(1);
        let view = plan.add(array, Request::WHOLE, &self.known)?;
        let sizes: Vec<usize> = array.shape().iter().map(|&size| size as usize).collect();
        let wanted = Wanted { view, sizes, element: array.element() };
        let sinks = [Sink::collect(wanted, array.axes(), [array.shape(), &[1]].concat())];
        plan.finish(&[&sinks[0].wanted], &[]);
        let budget = self.runtime.budget();
        let needs = pass_needs(&plan, &sinks, self.runtime);
        let result_bytes = array.count() * array.element().bytes() as u64;
        let held_bytes = result_bytes + self.planned_bytes.unwrap_or(0);
        budget.require(&plan.purpose(), needs.readers_bytes + needs.other_bytes + held_bytes)?;
        if self.planned_bytes.is_some() && result_bytes > most_bytes {
            self.planned_bytes = Some(held_bytes);
            return Ok(self.stand_in(array));
        }
        let reservation = budget.reserve("computing arrays", needs.other_bytes)?;
        let (mut partials, _) = run(&plan, &sinks, self.runtime)?;
        let value = partials.remove(0).finish(&sinks[0], budget)?.reshaped(array.shape().to_vec());
        drop(reservation);
        self.known.values.insert(array.id(), value.clone());
        Ok(value)
    }
}
