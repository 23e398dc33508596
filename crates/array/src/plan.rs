//! From lazy arrays to steps: the plan of one pass, computed block by block of rows along the long axis.
//!
//! *Vectors.* A block has up to [`BLOCK_ROWS`] rows. Every step has vectors of that many elements, one for each index
//! of the other axes, the *outer* ones. A [`View`] maps an index of a consumer to a vector: transposing, slicing,
//! broadcasting and new axes are views, and cost nothing.
//!
//! *Fusion.* A step whose vectors are used once each has no buffer: its consumer computes a vector on demand, in the
//! cache (`block.rs`). Vectors that are used more than once are computed for the whole block.

use crate::array::{Array, ElementFunction, Op};
use crate::check::Check;
use crate::elementwise::kept_axis;
use crate::kernel::{self, Binary, Fold, Scalar, Unary};
use crate::memory::Memory;
use crate::random::Random;
use crate::source::Source;
use outcore_format::ElementType;
use outcore_image::{Error, Result};
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

/// The operation of a step.
pub(crate) enum Kind {
    /// Rows of a file, by its place among the plan's sources.
    Source {
        source: usize,
        rows: Rows,
    },
    /// Rows along an axis of an array in memory; the distances between vectors of the outer axes.
    Memory {
        memory: Memory,
        axis: usize,
        rows: Rows,
        strides_bytes: Vec<isize>,
    },
    /// Values that do not depend on the row, packed.
    Small(Memory),
    Full(Scalar),
    /// `start + step i`, along the rows or an outer axis.
    Range {
        start: Scalar,
        step: Scalar,
        is_along: bool,
        rows: Rows,
    },
    Eye {
        diagonal: i64,
        axis: Option<usize>,
        rows: Rows,
    },
    Random {
        random: Random,
        axis: Option<usize>,
        rows: Rows,
        shape: Vec<u64>,
    },
    Cast(View),
    Unary(Unary, View),
    Check(Check, View),
    Binary(Binary, View, View),
    Select(View, View, View),
    User(Arc<dyn ElementFunction>, Vec<View>),
    /// The operand's view has strides for this step's axes, then for those that are folded.
    Fold {
        fold: Fold,
        input: View,
        over: Vec<usize>,
    },
    Arg {
        is_max: bool,
        input: View,
        over: usize,
    },
    SquaredDeviations {
        input: View,
        over: Vec<usize>,
    },
    /// Vectors of the left matrix, times a matrix in memory of `inner x columns` elements.
    MatMul {
        left: View,
        inner: usize,
        right: Memory,
    },
    Gather {
        table: Memory,
        index: View,
        index_axes: usize,
    },
    /// Squared distances of the rows, whose coordinates are the vectors of a view, to points in memory.
    Distances {
        input: View,
        width: usize,
        points: Memory,
    },
    Cumulative {
        fold: Fold,
        input: View,
        axis: usize,
    },
    /// Copies of the vectors of a view, in the order of its indices.
    Copy(View),
    /// Vectors of several, along an outer axis.
    Join {
        inputs: Vec<(View, usize)>,
        axis: usize,
    },
    /// Rows of several, each of which has rows of the pass of its own.
    Append(Vec<(View, Range<u64>)>),
}

impl Kind {
    /// The views of its operands.
    pub fn views(&self) -> Vec<&View> {
        match self {
            Kind::Source { .. } | Kind::Memory { .. } | Kind::Small(_) | Kind::Full(_) => vec![],
            Kind::Range { .. } | Kind::Eye { .. } | Kind::Random { .. } => vec![],
            Kind::Cast(view) | Kind::Unary(_, view) | Kind::Check(_, view) | Kind::Copy(view) => vec![view],
            Kind::Fold { input, .. } | Kind::Arg { input, .. } | Kind::SquaredDeviations { input, .. } => vec![input],
            Kind::Cumulative { input, .. } | Kind::MatMul { left: input, .. } => vec![input],
            Kind::Distances { input, .. } => vec![input],
            Kind::Gather { index, .. } => vec![index],
            Kind::Binary(_, left, right) => vec![left, right],
            Kind::Select(condition, left, right) => vec![condition, left, right],
            Kind::User(_, views) => views.iter().collect(),
            Kind::Join { inputs, .. } => inputs.iter().map(|(view, _)| view).collect(),
            Kind::Append(parts) => parts.iter().map(|(view, _)| view).collect(),
        }
    }

    /// Whether a vector can be computed without the step's others.
    fn is_by_vector(&self) -> bool {
        let together = matches!(self, Kind::MatMul { .. } | Kind::Cumulative { .. } | Kind::Distances { .. });
        !together && !matches!(self, Kind::Source { .. } | Kind::Small(_))
    }
}

/// A step of a pass.
pub(crate) struct Step {
    pub kind: Kind,
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

    /// The views that it looks at other steps' vectors by, with the sizes of the axes that they have strides for.
    pub fn looks(&self) -> Vec<(&View, Vec<usize>)> {
        let with = |over: &[usize]| self.shape.iter().chain(over).copied().collect::<Vec<_>>();
        match &self.kind {
            Kind::Fold { input, over, .. } | Kind::SquaredDeviations { input, over } => vec![(input, with(over))],
            Kind::Arg { input, over, .. } => vec![(input, with(&[*over]))],
            Kind::MatMul { left: input, inner: width, .. } | Kind::Distances { input, width, .. } => {
                vec![(input, vec![*width])]
            }
            Kind::Gather { index, index_axes, .. } => vec![(index, self.shape[..*index_axes].to_vec())],
            Kind::Join { inputs, axis } => {
                let sizes = |size: usize| {
                    let mut sizes = self.shape.clone();
                    sizes[*axis] = size;
                    sizes
                };
                inputs.iter().map(|(view, size)| (view, sizes(*size))).collect()
            }
            kind => kind.views().into_iter().map(|view| (view, self.shape.clone())).collect(),
        }
    }

    /// Counts the uses of vectors of other steps by this one.
    fn note_uses(&self, uses: &mut [usize]) {
        match &self.kind {
            // They are visited twice, or together.
            Kind::SquaredDeviations { input, .. } | Kind::MatMul { left: input, .. } => uses[input.step] += 2,
            Kind::Distances { input, .. } => uses[input.step] += 2,
            kind => {
                self.looks().iter().for_each(|(view, sizes)| note(uses, view, sizes));
                if let Kind::Gather { index, index_axes, .. } = kind {
                    let columns: usize = self.shape[*index_axes..].iter().product();
                    uses[index.step] += usize::from(columns > 1);
                }
            }
        }
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
    pub source: Arc<dyn Source>,
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
    active: Range<u64>,
    pub steps: Vec<Step>,
    pub sources: Vec<PassSource>,
    made: HashMap<(u64, Request, u64, u64), View>,
}

impl Plan {
    /// The purpose of a pass's memory.
    pub fn purpose(&self) -> String {
        let mut of: Vec<String> = self.sources.iter().filter_map(|own| own.source.purpose()).collect();
        of.sort_unstable();
        of.dedup();
        if of.is_empty() { "computing arrays".to_owned() } else { format!("computing arrays {}", of.join(" and ")) }
    }
}

/// The distances between vectors of outer axes, in rows of the last one.
pub(crate) fn strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    let mut stride = 1;
    for (axis, &size) in shape.iter().enumerate().rev() {
        strides[axis] = stride;
        stride *= size.max(1) as isize;
    }
    strides
}

/// The sizes of all axes but that of the pass.
pub(crate) fn outer(shape: &[u64], axis: Option<usize>) -> Vec<usize> {
    let kept = shape.iter().enumerate().filter(|&(own, _)| Some(own) != axis);
    kept.map(|(_, &size)| size as usize).collect()
}

/// Arrays that are known before a pass: results of earlier ones, by the id of the array.
#[derive(Default)]
pub(crate) struct Known {
    pub values: HashMap<u64, Memory>,
    /// Sources for products of sparse matrices.
    pub products: HashMap<u64, Arc<dyn Source>>,
}

impl Plan {
    pub fn new(rows: u64) -> Self {
        let (steps, sources, made) = (Vec::new(), Vec::new(), HashMap::new());
        Plan { rows, cuts: BTreeSet::new(), active: 0..rows, steps, sources, made }
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
        if let Some(view) = self.made.get(&key) {
            return Ok(view.clone());
        }
        let view = self.make(array, request, known)?;
        self.made.insert(key, view.clone());
        Ok(view)
    }

    /// A view that has strides for the axes of a result that an operand is broadcast to.
    fn operand(&mut self, array: &Array, axes: usize, request: Request, known: &Known) -> Result<View> {
        let own = request.axis.and_then(|axis| (axis + array.axes()).checked_sub(axes));
        let own = own.filter(|&own| array.shape()[own] > 1);
        let view = self.add(array, request.at(own), known)?;
        let mut own_strides = view.strides.iter().zip(outer(array.shape(), own));
        let mut strides = Vec::new();
        for axis in 0..axes {
            let place = (axis + array.axes()).checked_sub(axes);
            // The operand's axis along the pass has no stride; a broadcast axis has stride 0.
            let stride = match place {
                Some(place) if Some(place) != own => {
                    let (&stride, size) = own_strides.next().expect("a stride for every outer axis");
                    if size == 1 { 0 } else { stride }
                }
                _ => 0,
            };
            if Some(axis) != request.axis {
                strides.push(stride);
            }
        }
        Ok(View { strides, ..view })
    }

    fn step(&mut self, kind: Kind, shape: Vec<usize>, element: ElementType, name: &str) -> View {
        let strides = strides(&shape);
        let name = name.to_owned();
        let active = self.active.clone();
        self.steps.push(Step { kind, shape, element, is_buffered: false, registers: 0, active, name });
        View { step: self.steps.len() - 1, offset: 0, strides }
    }

    fn make(&mut self, array: &Array, request: Request, known: &Known) -> Result<View> {
        let shape = outer(array.shape(), request.axis);
        if let Some(memory) = known.values.get(&array.id()) {
            return Ok(self.memory(memory, request, shape));
        }
        let (element, axis, rows) = (array.element(), request.axis, request.rows);
        let axes = array.axes();
        let kind = match array.op() {
            Op::Memory(memory) => return Ok(self.memory(memory, request, shape)),
            Op::Source(source) => {
                if axis != Some(0) {
                    return Err(cannot_stream(array));
                }
                Kind::Source { source: self.source(source, rows), rows }
            }
            Op::Sparse(_) => match known.products.get(&array.id()) {
                Some(source) if axis == Some(0) => Kind::Source { source: self.source(source, rows), rows },
                _ => return Err(cannot_stream(array)),
            },
            Op::Full(value) => Kind::Full(*value),
            Op::Range { start, step } => Kind::Range { start: *start, step: *step, is_along: axis.is_some(), rows },
            Op::Eye { diagonal } => Kind::Eye { diagonal: *diagonal, axis, rows },
            Op::Random(random) => Kind::Random { random: *random, axis, rows, shape: array.shape().to_vec() },
            Op::Cast(input) => Kind::Cast(self.operand(input, axes, request, known)?),
            Op::Unary(function, input) => Kind::Unary(*function, self.operand(input, axes, request, known)?),
            Op::Check(check, input) => Kind::Check(*check, self.operand(input, axes, request, known)?),
            Op::Binary(function, left, right) => {
                let left = self.operand(left, axes, request, known)?;
                Kind::Binary(*function, left, self.operand(right, axes, request, known)?)
            }
            Op::Select(condition, left, right) => {
                let condition = self.operand(condition, axes, request, known)?;
                let left = self.operand(left, axes, request, known)?;
                Kind::Select(condition, left, self.operand(right, axes, request, known)?)
            }
            Op::User(function, inputs) => {
                let views = inputs.iter().map(|input| self.operand(input, axes, request, known));
                Kind::User(Arc::clone(function), views.collect::<Result<_>>()?)
            }
            Op::View { .. } => return self.view(array, request, known),
            Op::Reshape(input) => return self.reshape(array, input, request, known),
            Op::Fold { fold, input, axes: over } => {
                let (input, over) = self.folded(input, over, request, known)?;
                Kind::Fold { fold: *fold, input, over }
            }
            Op::SquaredDeviations { input, axes: over } => {
                let (input, over) = self.folded(input, over, request, known)?;
                Kind::SquaredDeviations { input, over }
            }
            Op::Arg { is_max, input, axis: over } => {
                let (input, over) = self.folded(input, &[*over], request, known)?;
                Kind::Arg { is_max: *is_max, input, over: over[0] }
            }
            Op::MatMul(left, right) => return self.mat_mul(array, left, right, request, known),
            Op::Gather { .. } | Op::Cumulative { .. } | Op::Join { .. } => {
                return self.arranged(array, request, known);
            }
            Op::GroupFold { .. } | Op::RowFold(..) => return Err(cannot_stream(array)),
        };
        Ok(self.step(kind, shape, element, &array.op().name()))
    }

    /// Elements that are picked, added up or put behind each other.
    fn arranged(&mut self, array: &Array, request: Request, known: &Known) -> Result<View> {
        let (axis, axes) = (request.axis, array.axes());
        let kind = match array.op() {
            Op::Gather { table, index } => {
                let own = axis.filter(|&axis| axis < index.axes());
                if axis.is_some() && own.is_none() {
                    return Err(cannot_stream(array));
                }
                let index_view = self.add(index, request.at(own), known)?;
                let index_axes = index_view.strides.len();
                Kind::Gather { table: known_value(table, known)?.packed(), index: index_view, index_axes }
            }
            Op::Cumulative { fold, input, axis: along } => {
                if axis == Some(*along) {
                    return Err(cannot_stream(array));
                }
                let input = self.operand(input, axes, request, known)?;
                let before = axis.is_some_and(|axis| axis < *along);
                Kind::Cumulative { fold: *fold, input, axis: along - usize::from(before) }
            }
            Op::Join { inputs, axis: along } => {
                if axis == Some(*along) {
                    return self.append(array, inputs, request, known);
                }
                let own = along - usize::from(axis.is_some_and(|axis| axis < *along));
                let mut views = Vec::new();
                for input in inputs {
                    views.push((self.operand(input, axes, request, known)?, input.shape()[*along] as usize));
                }
                Kind::Join { inputs: views, axis: own }
            }
            _ => return Err(cannot_stream(array)),
        };
        let shape = outer(array.shape(), request.axis);
        Ok(self.step(kind, shape, array.element(), &array.op().name()))
    }

    /// The place of a file among those that are read. What lies far apart in one file is read apart.
    fn source(&mut self, source: &Arc<dyn Source>, rows: Rows) -> usize {
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

    /// Arrays concatenated along the axis of the pass.
    fn append(&mut self, array: &Array, inputs: &[Array], request: Request, known: &Known) -> Result<View> {
        let axis = request.axis.expect("the pass goes along an axis");
        let (Rows { start, step }, whole) = (request.rows, self.active.clone());
        // The first row of the pass at or behind a row of the array, in the direction of the pass.
        let reach = |row: i64| {
            let (ahead, step) = if step < 0 { (start - row, -step) } else { (row - start, step) };
            (ahead + step - 1).div_euclid(step)
        };
        let (mut parts, mut first) = (Vec::new(), 0i64);
        for input in inputs {
            let count = input.shape()[axis] as i64;
            let (own_first, own_end) = if step < 0 { (first + count - 1, first - 1) } else { (first, first + count) };
            let from = reach(own_first).max(whole.start as i64);
            let to = reach(own_end).min(whole.end as i64);
            if from < to {
                self.active = from as u64..to as u64;
                let rows = Rows { start: start - first, step };
                let view = match count {
                    // A single row is the same for all of its part.
                    1 => self.single(input, axis, known)?,
                    _ => self.add(input, Request { axis: Some(axis), rows }, known)?,
                };
                parts.push((view, self.active.clone()));
                self.cuts.extend([from as u64, to as u64]);
            }
            first += count;
        }
        self.active = whole;
        let shape = outer(array.shape(), request.axis);
        Ok(self.step(Kind::Append(parts), shape, array.element(), "concat"))
    }

    /// The only row of an array, as a whole, without the axis of rows.
    fn single(&mut self, input: &Array, axis: usize, known: &Known) -> Result<View> {
        let mut view = self.add(input, Request::WHOLE, known)?;
        view.strides.remove(axis);
        Ok(view)
    }

    /// Values in memory: streamed along an axis, or the same for all rows.
    fn memory(&mut self, memory: &Memory, request: Request, shape: Vec<usize>) -> View {
        let element = memory.element();
        match request.axis {
            None => self.step(Kind::Small(memory.packed()), shape, element, "memory"),
            Some(axis) => {
                let others = (0..memory.shape().len()).filter(|&own| own != axis);
                let strides_bytes = others.map(|own| memory.stride_bytes(own)).collect();
                let kind = Kind::Memory { memory: memory.clone(), axis, rows: request.rows, strides_bytes };
                self.step(kind, shape, element, "memory")
            }
        }
    }

    fn view(&mut self, array: &Array, request: Request, known: &Known) -> Result<View> {
        let Op::View { input, axes, fixed } = array.op() else { unreachable!("a view") };
        let own = request.axis.map(|axis| &axes[axis]);
        let inner = match own {
            None => Request::WHOLE,
            Some(own) => match own.axis {
                // All rows are the same.
                None => Request::WHOLE,
                // One row, which is the same for all.
                Some(axis) if input.shape()[axis] == 1 => Request::WHOLE,
                Some(axis) => {
                    let rows = request.rows;
                    let rows = Rows { start: own.start + own.step * rows.start, step: own.step * rows.step };
                    Request { axis: Some(axis), rows }
                }
            },
        };
        let view = self.add(input, inner, known)?;
        // The stride of every axis of the operand, except for that of the pass.
        let mut strides = view.strides.iter().copied();
        let streamed = if view.strides.len() < input.axes() { inner.axis } else { None };
        let of_input: Vec<isize> = (0..input.axes())
            .map(|axis| if Some(axis) == streamed { 0 } else { strides.next().unwrap_or(0) })
            .collect();
        let mut offset = view.offset;
        for (axis, &index) in fixed.iter().enumerate() {
            if !axes.iter().any(|view| view.axis == Some(axis)) {
                offset += index as isize * of_input[axis];
            }
        }
        let mut own_strides = Vec::new();
        for (axis, view_axis) in axes.iter().enumerate() {
            let stride = view_axis.axis.map_or(0, |axis| of_input[axis]);
            if Some(axis) == request.axis {
                continue;
            }
            offset += view_axis.start as isize * stride;
            own_strides.push(view_axis.step as isize * stride);
        }
        Ok(View { step: view.step, offset, strides: own_strides })
    }

    fn reshape(&mut self, array: &Array, input: &Array, request: Request, known: &Known) -> Result<View> {
        let own = match request.axis {
            None => None,
            Some(axis) => {
                let kept = kept_axis(array.shape(), axis, input.shape());
                Some(kept.ok_or_else(|| cannot_stream(array))?)
            }
        };
        let view = self.add(input, request.at(own), known)?;
        let sizes = outer(input.shape(), own);
        let shape = outer(array.shape(), request.axis);
        if view.offset == 0 && view.strides == strides(&sizes) && self.steps[view.step].shape == sizes {
            // The vectors are in this order already.
            return Ok(View { strides: strides(&shape), ..view });
        }
        let element = array.element();
        let copy = self.step(Kind::Copy(view), sizes, element, "reshape");
        // Indices of the copy are those of the operand's axes: a consumer with other axes needs all of it.
        self.steps[copy.step].is_buffered = true;
        Ok(View { strides: strides(&shape), ..copy })
    }

    /// The view of an operand of which some axes are folded: with strides for the axes that are left, and then for the
    /// folded ones, and their sizes.
    fn folded(&mut self, input: &Array, over: &[usize], request: Request, known: &Known) -> Result<(View, Vec<usize>)> {
        let kept: Vec<usize> = (0..input.axes()).filter(|axis| !over.contains(axis)).collect();
        let own = request.axis.map(|axis| kept[axis]);
        self.split(input, over, request.at(own), known)
    }

    /// Implements `folded`, for a pass that may go along a folded axis.
    pub fn split(
        &mut self,
        input: &Array,
        over: &[usize],
        request: Request,
        known: &Known,
    ) -> Result<(View, Vec<usize>)> {
        let view = self.add(input, request, known)?;
        let streamed = if view.strides.len() < input.axes() { request.axis } else { None };
        let mut strides = view.strides.iter().copied();
        let all: Vec<isize> = (0..input.axes())
            .map(|axis| if Some(axis) == streamed { 0 } else { strides.next().unwrap_or(0) })
            .collect();
        let kept = (0..input.axes()).filter(|axis| !over.contains(axis) && Some(*axis) != request.axis);
        let folded: Vec<usize> = over.iter().copied().filter(|&axis| Some(axis) != request.axis).collect();
        let sizes = folded.iter().map(|&axis| input.shape()[axis] as usize).collect();
        let strides = kept.chain(folded.iter().copied()).map(|axis| all[axis]).collect();
        Ok((View { strides, ..view }, sizes))
    }

    fn mat_mul(&mut self, array: &Array, left: &Array, right: &Array, request: Request, known: &Known) -> Result<View> {
        let element = array.element();
        let inner = left.shape()[1] as usize;
        let (streamed, is_left) = match request.axis {
            Some(0) => (left, true),
            Some(_) => (right, false),
            None => return Err(cannot_stream(array)),
        };
        let (other, axis) = if is_left { (right, 0) } else { (left, 1) };
        let view = self.add(streamed, request.at(Some(axis)), known)?;
        let memory = known_value(other, known)?;
        let memory = if is_left { memory.packed() } else { memory.transposed().packed() };
        let columns = memory.shape()[1] as usize;
        let kind = Kind::MatMul { left: view, inner, right: memory };
        Ok(self.step(kind, vec![columns], element, "matmul"))
    }

    /// Recognizes a sum of squared differences over one axis, of rows and points in memory that are broadcast to each
    /// other: these are distances, which are computed in registers. The intermediate steps stay in the plan, possibly
    /// without a consumer.
    fn distances(&self, step: &Step) -> Option<Kind> {
        let Kind::Fold { fold: Fold::Sum, input, over } = &step.kind else { return None };
        let (&[count], &[width]) = (&step.shape[..], &over[..]) else { return None };
        let square = &self.steps[input.step];
        let Kind::Unary(Unary::Square, inner) = &square.kind else { return None };
        let Kind::Binary(Binary::Subtract, left, right) = &self.steps[inner.step].kind else { return None };
        let is_whole = |view: &View, shape: &[usize]| view.offset == 0 && view.strides == strides(shape);
        let shapes_fit = square.shape == [count, width] && self.steps[inner.step].shape == [count, width];
        if !shapes_fit || !is_whole(input, &square.shape) || !is_whole(inner, &square.shape) || count * width == 0 {
            return None;
        }
        let is_small = |view: &View| matches!(self.steps[view.step].kind, Kind::Small(_));
        let (rows, points) = match (is_small(left), is_small(right)) {
            (false, true) => (left, right),
            (true, false) => (right, left),
            _ => return None,
        };
        let Kind::Small(memory) = &self.steps[points.step].kind else { return None };
        if !step.element.is_real() || count > 1 && rows.strides[0] != 0 {
            return None;
        }
        let size = step.element.bytes();
        let element = |i: usize| memory.at((points.at(&[i / width, i % width]) * size) as isize);
        let bytes: Vec<u8> = (0..count * width).flat_map(|i| element(i).to_vec()).collect();
        let points = Memory::of_bytes(&bytes, step.element, vec![count as u64, width as u64]);
        let input = View { step: rows.step, offset: rows.offset, strides: vec![rows.strides[1]] };
        Some(Kind::Distances { input, width, points })
    }

    /// Decides which steps have buffers, and how many registers each takes, once all uses are known. Vectors of the
    /// steps `together` are used at the same time.
    pub fn finish(&mut self, wanted: &[&Wanted], together: &[usize]) {
        for place in 0..self.steps.len() {
            if let Some(kind) = self.distances(&self.steps[place]) {
                self.steps[place].kind = kind;
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
            if let Kind::MatMul { left, .. } = &step.kind {
                is_together[left.step] = true;
            }
        }
        for step in &self.steps {
            step.note_uses(&mut uses);
        }
        for place in 0..self.steps.len() {
            let step = &self.steps[place];
            let below = step.kind.views().into_iter().map(|view| match self.steps[view.step].is_buffered {
                true => 0,
                false => self.steps[view.step].registers,
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

/// The value of an operand that must be in memory.
fn known_value(array: &Array, known: &Known) -> Result<Memory> {
    match (known.values.get(&array.id()), array.op()) {
        (Some(memory), _) | (None, Op::Memory(memory)) => Ok(memory.clone()),
        (None, Op::Full(value)) => {
            let mut word = vec![0u64];
            let bytes = bytemuck::cast_slice_mut(&mut word[..]);
            kernel::ValuesMut::from_bytes(value.element(), &mut bytes[..value.element().bytes()]).fill(*value);
            let shape = array.shape().to_vec();
            let strides_bytes = vec![0; shape.len()];
            Ok(Memory::strided(Arc::new(word), 0, value.element(), shape, strides_bytes))
        }
        _ => Err(cannot_stream(array)),
    }
}

/// The error for an operation that cannot be computed along the axis that another one needs.
pub(crate) fn cannot_stream(array: &Array) -> Error {
    Error::Usage(format!(
        "expected operations along the long axis of arrays in files, found {} of shape {:?}, which needs all rows at \
         once; compute its operand first, if it fits into memory, or persist it",
        array.op().name(),
        array.shape()
    ))
}
