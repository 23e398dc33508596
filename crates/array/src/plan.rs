//! From lazy arrays to steps: the plan of one pass, computed block by block of rows along the long axis.
//!
//! *Vectors.* A block has up to [`BLOCK_ROWS`] rows. Every step has vectors of that many elements, one for each index
//! of the other axes, the *outer* ones. A [`View`] maps an index of a consumer to a vector: transposing, slicing,
//! broadcasting and new axes are views, and cost nothing.
//!
//! *Fusion.* A step whose vectors are used once each has no buffer: its consumer computes a vector on demand, in the
//! cache (`block.rs`). Vectors that are used more than once are computed for the whole block.

use crate::array::{Array, Op, cannot_stream};
use crate::block::{Block, Buffer, Register};
use crate::kernel::{Scalar, ValuesMut};
use crate::memory::{InMemory, strides};
use crate::source::ArraySource;
use outcore_format::ElementType;
use outcore_image::Result;
use std::any::Any;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// The rows of a block: as many elements of 8 bytes as a page holds.
pub(crate) const BLOCK_ROWS: usize = 508;
/// Largest number of registers of a step without a buffer: longer chains of steps are cut by one.
const MOST_FUSED: usize = 24;

/// Largest distance of rows of one file at which steps share its reads.
const MOST_SHIFT: u64 = 1024;

/// Rows of an operand in a pass: row `i` of the pass is row `start + step i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Rows {
    pub start: i64,
    pub step: i64,
}

impl Rows {
    pub const ALL: Rows = Rows { start: 0, step: 1 };

    pub fn at(self, row: u64) -> u64 {
        (self.start + self.step * row as i64) as u64
    }
}

/// A request for an array: the axis of the pass, if the array has it, and the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Request {
    pub axis: Option<usize>,
    pub rows: Rows,
}

impl Request {
    pub const WHOLE: Request = Request { axis: None, rows: Rows::ALL };

    pub fn along(axis: usize) -> Self {
        Request { axis: Some(axis), rows: Rows::ALL }
    }

    /// These rows along another axis.
    pub fn at(self, axis: Option<usize>) -> Self {
        match axis {
            Some(_) => Request { axis, ..self },
            None => Request::WHOLE,
        }
    }
}

/// Mapping from an index of a consumer to a vector of a step: `offset` plus the sum of indices times strides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub step: usize,
    pub offset: isize,
    pub strides: Vec<isize>,
}

impl View {
    #[inline]
    pub fn at(&self, index: &[usize]) -> usize {
        let place = self.offset + index.iter().zip(&self.strides).map(|(&i, &s)| i as isize * s).sum::<isize>();
        place as usize
    }

    /// Whether no vector is led to twice by indices below these sizes.
    fn is_injective(&self, sizes: &[usize]) -> bool {
        // Strides of views are those of distinct axes, so that only broadcasting leads to one vector twice.
        sizes.iter().zip(&self.strides).all(|(&size, &stride)| size <= 1 || stride != 0)
    }
}

/// The source of the vectors of a step: a file, memory, or an operation on vectors of other steps.
pub(crate) enum Kind {
    /// Rows of a file, by its place among the plan's sources.
    Source {
        source: usize,
        rows: Rows,
    },
    /// Rows along an axis of an array in memory; the distances between vectors of the outer axes.
    Memory {
        memory: InMemory,
        axis: usize,
        rows: Rows,
        strides_bytes: Vec<isize>,
    },
    /// Values that do not depend on the row, packed.
    Small(InMemory),
    Full(Scalar),
    Computed(Box<dyn StepOperation>),
}

/// Views, with the sizes of the axes that they have strides for.
pub(crate) type Visits<'a> = Vec<(&'a View, Vec<usize>)>;

/// A vector of a step: the one at an index of its shape, in a block of rows.
#[derive(Clone, Copy)]
pub(crate) struct VectorPlace<'a> {
    pub block: &'a Block<'a>,
    pub step: &'a Step,
    pub index: &'a [usize],
}

/// An operation of a step: which vectors of other steps it needs, and how a block computes its own.
pub(crate) trait StepOperation: Any + Send + Sync {
    /// The views of the step's operands, with the sizes of the axes that they have strides for: by default those of the
    /// step. A view that is visited twice is there twice.
    fn visits<'a>(&self, step: &'a Step) -> Visits<'a> {
        step.views.iter().map(|view| (view, step.shape.clone())).collect()
    }

    /// Whether all vectors of the operand are needed at once, so that they must lie in a buffer.
    fn needs_buffer(&self) -> bool {
        false
    }

    /// Whether a vector can be computed without the step's others.
    fn is_by_vector(&self) -> bool {
        !self.needs_buffer()
    }

    /// An operation on another view with the same results that takes less time, if the steps of the operands allow it.
    fn fused(&self, _plan: &Plan, _step: &Step) -> Option<(View, Box<dyn StepOperation>)> {
        None
    }

    /// Computes the vector at a place, if [`StepOperation::is_by_vector`].
    ///
    /// # Errors
    /// Elements that are out of range; errors of a user's function.
    fn compute(&self, at: VectorPlace<'_>, _to: ValuesMut<'_>, _registers: &mut [Register]) -> Result<()> {
        unreachable!("{} has a buffer", at.step.name)
    }

    /// Computes all vectors of the step.
    ///
    /// # Errors
    /// Those of [`StepOperation::compute`].
    fn fill(&self, block: &Block<'_>, step: &Step, buffer: &mut Buffer, registers: &mut [Register]) -> Result<()> {
        block.by_vector(step, buffer, registers)
    }
}

impl Kind {
    /// The operation, if it is one of type `T`.
    pub fn get<T: StepOperation>(&self) -> Option<&T> {
        match self {
            Kind::Computed(operation) => (operation.as_ref() as &dyn Any).downcast_ref(),
            _ => None,
        }
    }

    fn is_by_vector(&self) -> bool {
        match self {
            Kind::Source { .. } | Kind::Small(_) => false,
            Kind::Memory { .. } | Kind::Full(_) => true,
            Kind::Computed(operation) => operation.is_by_vector(),
        }
    }
}

/// A step of a pass.
pub(crate) struct Step {
    pub kind: Kind,
    /// The views of its operands.
    pub views: Vec<View>,
    /// The sizes of the outer axes.
    pub shape: Vec<usize>,
    pub element: ElementType,
    /// Whether all its vectors are computed at once for a block.
    pub is_buffered: bool,
    /// Number of registers for computing one of its vectors.
    pub registers: usize,
    /// The rows of the pass that it has.
    pub active: Range<u64>,
    pub name: String,
}

impl Step {
    pub fn vectors(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it is rows of adjacent elements in memory, which become vectors together.
    pub fn is_transposed(&self) -> bool {
        match &self.kind {
            Kind::Memory { memory, axis, rows, strides_bytes } => {
                let size = self.element.bytes() as isize;
                memory.stride_bytes(*axis) != size
                    && rows.step == 1
                    && strides_bytes[..] == [size]
                    && self.vectors() > 1
            }
            _ => false,
        }
    }

    /// The views of its operands, with the sizes of the axes that they have strides for.
    pub fn visits(&self) -> Visits<'_> {
        if let Kind::Computed(operation) = &self.kind { operation.visits(self) } else { vec![] }
    }

    /// Whether all vectors of its operand must lie in a buffer.
    fn needs_buffer(&self) -> bool {
        matches!(&self.kind, Kind::Computed(operation) if operation.needs_buffer())
    }
}

/// Counts a use of vectors: more than one if a vector is led to more than once by indices below these sizes.
fn note(uses: &mut [usize], view: &View, sizes: &[usize]) {
    uses[view.step] += if view.is_injective(sizes) { 1 } else { 2 };
}

/// A use of vectors at the end of a plan.
pub(crate) struct Wanted {
    pub view: View,
    /// The sizes of the axes that the view has strides for.
    pub sizes: Vec<usize>,
    pub element: ElementType,
}

/// A file that a pass reads.
pub(crate) struct PassSource {
    pub source: Arc<dyn ArraySource>,
    /// The rows of its first step.
    pub rows: Rows,
    /// The rows of the pass for which it is read.
    pub active: Range<u64>,
    /// The columns that are read, if not all are: runs of them, which rise.
    pub columns: Vec<Range<usize>>,
}

/// The steps of a pass.
pub(crate) struct Plan {
    pub rows: u64,
    /// Rows at which a block ends, because the following ones come from other arrays.
    pub cuts: BTreeSet<u64>,
    /// The rows of the pass for which steps are being added.
    pub active: Range<u64>,
    pub steps: Vec<Step>,
    pub sources: Vec<PassSource>,
    /// The views of the arrays that have steps, by their ids, requests and rows.
    views: HashMap<(u64, Request, u64, u64), View>,
}

impl Plan {
    /// The purpose of a pass's memory.
    pub fn purpose(&self) -> String {
        let purposes = self.sources.iter().filter_map(|own| own.source.purpose());
        let mut of: Vec<String> = purposes.map(|purpose| purpose.to_string()).collect();
        of.sort_unstable();
        of.dedup();
        if of.is_empty() { "computing arrays".to_owned() } else { format!("computing arrays {}", of.join(" and ")) }
    }
}

/// The sizes of all axes but that of the pass.
pub(crate) fn outer(shape: &[u64], axis: Option<usize>) -> Vec<usize> {
    let others = shape.iter().enumerate().filter(|&(own, _)| Some(own) != axis);
    others.map(|(_, &size)| size as usize).collect()
}

/// Arrays that are known before a pass: results of earlier ones, by the id of the array.
#[derive(Default)]
pub(crate) struct Known {
    pub values: HashMap<u64, InMemory>,
    /// Sources for products of sparse matrices.
    pub products: HashMap<u64, Arc<dyn ArraySource>>,
}

impl Known {
    /// The value of an array, if it is in memory.
    pub fn get(&self, array: &Array) -> Option<InMemory> {
        match (self.values.get(&array.id()), array.op()) {
            (Some(memory), _) | (None, Op::Memory(memory)) => Some(memory.clone()),
            _ => None,
        }
    }

    /// The value of an operand that must be in memory.
    ///
    /// # Errors
    /// It is not.
    pub fn operand(&self, array: &Array) -> Result<InMemory> {
        match (self.get(array), array.op()) {
            (Some(memory), _) => Ok(memory),
            (None, Op::Full(value)) => Ok(InMemory::full(*value, array.shape().to_vec())),
            _ => Err(cannot_stream(array)),
        }
    }
}

impl Plan {
    pub fn new(rows: u64) -> Self {
        let (steps, sources, views) = (Vec::new(), Vec::new(), HashMap::new());
        Plan { rows, cuts: BTreeSet::new(), active: 0..rows, steps, sources, views }
    }

    /// The most rows of a block.
    pub fn block_rows(&self) -> usize {
        self.rows.clamp(1, BLOCK_ROWS as u64) as usize
    }

    /// Adds the steps of an array, and returns the view of its vectors.
    pub fn add(&mut self, array: &Array, request: Request, known: &Known) -> Result<View> {
        let request = match request.axis {
            Some(axis) if array.shape()[axis] != 1 || self.rows == 1 => request,
            _ => request.at(None),
        };
        let key = (array.id(), request, self.active.start, self.active.end);
        if let Some(view) = self.views.get(&key) {
            return Ok(view.clone());
        }
        let view = self.make(array, request, known)?;
        self.views.insert(key, view.clone());
        Ok(view)
    }

    /// Adds the steps of an array, and returns a view of its vectors with strides for all axes: 0 for that of the pass.
    pub fn add_all(&mut self, array: &Array, request: Request, known: &Known) -> Result<View> {
        let mut view = self.add(array, request, known)?;
        if view.strides.len() < array.axes() {
            view.strides.insert(request.axis.expect("the axis of the pass has no stride"), 0);
        }
        Ok(view)
    }

    /// A view that has strides for the axes of a result that an operand is broadcast to.
    pub fn operand(&mut self, array: &Array, axes: usize, request: Request, known: &Known) -> Result<View> {
        let place = |axis: usize| (axis + array.axes()).checked_sub(axes);
        let own = request.axis.and_then(place).filter(|&own| array.shape()[own] > 1);
        let mut view = self.add_all(array, request.at(own), known)?;
        // A broadcast axis has stride 0.
        let stride =
            |axis: usize| place(axis).filter(|&own| array.shape()[own] != 1).map_or(0, |own| view.strides[own]);
        view.strides = (0..axes).filter(|&axis| Some(axis) != request.axis).map(stride).collect();
        Ok(view)
    }

    fn step(&mut self, kind: Kind, shape: Vec<usize>, element: ElementType, name: String) -> View {
        let (strides, active) = (strides(&shape), self.active.clone());
        self.steps.push(Step { kind, views: vec![], shape, element, is_buffered: false, registers: 0, active, name });
        View { step: self.steps.len() - 1, offset: 0, strides }
    }

    /// Adds a step of an operation on the vectors of views, for the rows of an array that are requested.
    pub fn push(&mut self, array: &Array, request: Request, views: Vec<View>, operation: impl StepOperation) -> View {
        let shape = outer(array.shape(), request.axis);
        let view = self.step(Kind::Computed(Box::new(operation)), shape, array.element(), array.op().name());
        self.steps[view.step].views = views;
        view
    }

    fn make(&mut self, array: &Array, request: Request, known: &Known) -> Result<View> {
        let shape = outer(array.shape(), request.axis);
        if let Some(memory) = known.values.get(&array.id()) {
            return Ok(self.memory(memory, request, shape));
        }
        match array.op() {
            Op::Memory(memory) => Ok(self.memory(memory, request, shape)),
            Op::Source(source) => self.rows_of(array, source, request),
            Op::Full(value) => Ok(self.step(Kind::Full(*value), shape, array.element(), array.op().name())),
            Op::Computed { operation, .. } => operation.plan(array, self, request, known),
        }
    }

    /// Adds a step of rows that are read for an array.
    ///
    /// # Errors
    /// A request along another axis than the first one.
    pub fn rows_of(&mut self, array: &Array, source: &Arc<dyn ArraySource>, request: Request) -> Result<View> {
        if request.axis != Some(0) {
            return Err(cannot_stream(array));
        }
        let kind = Kind::Source { source: self.source(source, request.rows), rows: request.rows };
        Ok(self.step(kind, outer(array.shape(), Some(0)), array.element(), array.op().name()))
    }

    /// The place of a file among those that are read. What lies far apart in one file is read apart.
    fn source(&mut self, source: &Arc<dyn ArraySource>, rows: Rows) -> usize {
        let is_same = |there: &PassSource| {
            Arc::ptr_eq(&there.source, source)
                && there.active == self.active
                && there.rows.step == rows.step
                && there.rows.start.abs_diff(rows.start) <= MOST_SHIFT
        };
        self.sources.iter().position(is_same).unwrap_or_else(|| {
            self.sources.push(PassSource {
                source: Arc::clone(source),
                rows,
                active: self.active.clone(),
                columns: vec![],
            });
            self.sources.len() - 1
        })
    }

    /// Values in memory: streamed along an axis, or the same for all rows.
    fn memory(&mut self, memory: &InMemory, request: Request, shape: Vec<usize>) -> View {
        let element = memory.element();
        match request.axis {
            None => self.step(Kind::Small(memory.packed()), shape, element, "memory".to_owned()),
            Some(axis) => {
                let others = (0..memory.shape().len()).filter(|&own| own != axis);
                let strides_bytes = others.map(|own| memory.stride_bytes(own)).collect();
                let kind = Kind::Memory { memory: memory.clone(), axis, rows: request.rows, strides_bytes };
                self.step(kind, shape, element, "memory".to_owned())
            }
        }
    }

    /// The view of the only operand of an array of which some axes are folded, and the sizes of these. It has strides
    /// for the other axes, and then for the folded ones.
    pub fn folded(
        &mut self,
        array: &Array,
        over: &[usize],
        request: Request,
        known: &Known,
    ) -> Result<(Vec<View>, Vec<usize>)> {
        let input = &array.operands()[0];
        let own = request.axis.and_then(|axis| (0..input.axes()).filter(|axis| !over.contains(axis)).nth(axis));
        let (view, sizes) = self.split(input, over, request.at(own), known)?;
        Ok((vec![view], sizes))
    }

    /// Implements `folded`, for a pass that may go along a folded axis.
    fn split(&mut self, input: &Array, over: &[usize], request: Request, known: &Known) -> Result<(View, Vec<usize>)> {
        let mut view = self.add_all(input, request, known)?;
        let others = (0..input.axes()).filter(|axis| !over.contains(axis) && Some(*axis) != request.axis);
        let folded: Vec<usize> = over.iter().copied().filter(|&axis| Some(axis) != request.axis).collect();
        let sizes = folded.iter().map(|&axis| input.shape()[axis] as usize).collect();
        view.strides = others.chain(folded).map(|axis| view.strides[axis]).collect();
        Ok((view, sizes))
    }

    /// The vectors of an operand in a pass along an axis, and the number of its outer axes that are not folded. Indices
    /// are those of these axes, and then those of the axes in `over`, which are folded.
    pub fn wanted(&mut self, input: &Array, over: &[usize], axis: usize, known: &Known) -> Result<(Wanted, usize)> {
        let (view, folded) = self.split(input, over, Request::along(axis), known)?;
        let outer = (0..input.axes()).filter(|own| !over.contains(own) && *own != axis);
        let mut sizes: Vec<usize> = outer.map(|own| input.shape()[own] as usize).collect();
        let count = sizes.len();
        sizes.extend(folded);
        Ok((Wanted { view, sizes, element: input.element() }, count))
    }

    /// Decides which steps have buffers, and how many registers each takes, once all uses are known. Vectors of the
    /// steps `together` are used at the same time.
    pub fn finish(&mut self, wanted: &[&Wanted], together: &[usize]) {
        for place in 0..self.steps.len() {
            let Kind::Computed(operation) = &self.steps[place].kind else { continue };
            if let Some((view, fused)) = operation.fused(self, &self.steps[place]) {
                (self.steps[place].kind, self.steps[place].views) = (Kind::Computed(fused), vec![view]);
            }
        }
        self.narrow(wanted);
        self.space();
        let mut uses = vec![0usize; self.steps.len()];
        for wanted in wanted {
            note(&mut uses, &wanted.view, &wanted.sizes);
        }
        together.iter().for_each(|&step| uses[step] += 2);
        // Vectors that are looked at together are in a buffer, even those of values that are the same for all rows.
        let mut is_together = vec![false; self.steps.len()];
        together.iter().for_each(|&step| is_together[step] = true);
        for step in &self.steps {
            for (view, sizes) in step.visits() {
                note(&mut uses, view, &sizes);
                if step.needs_buffer() {
                    uses[view.step] += 1;
                    is_together[view.step] = true;
                }
            }
        }
        for place in 0..self.steps.len() {
            let step = &self.steps[place];
            let below = step.views.iter().map(|view| match &self.steps[view.step] {
                operand if operand.is_buffered => 0,
                operand => operand.registers,
            });
            // One for each operand and its own registers, one for the result, and one more for the best so far.
            let registers = below.enumerate().map(|(i, below)| i + 1 + below).max().unwrap_or(0) + 2;
            let is_needed = !step.kind.is_by_vector() || step.is_transposed();
            let is_constant = matches!(step.kind, Kind::Small(_) | Kind::Full(_));
            let is_wanted = step.is_buffered || is_needed || uses[place] > 1 || registers > MOST_FUSED;
            let is_buffered = if is_constant { is_together[place] } else { is_wanted };
            self.steps[place].registers = registers;
            self.steps[place].is_buffered = is_buffered;
        }
    }
}
