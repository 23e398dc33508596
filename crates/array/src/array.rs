//! Lazy arrays: an expression is a graph of operations that share their operands.
//!
//! Making an [`Array`] computes nothing. It is checked at once: shapes, types, and that it can be streamed. An array
//! larger than memory has one *long axis*, along which it is read and computed block by block; the long axis of an
//! array in a file is its first one. Operations keep the long axis (functions of elements, sums over other axes) or
//! sum over it (the results of a pass). Arrays in memory may be streamed along any axis; large ones have the longest
//! as the one that is preferred.

use crate::kernel::{Element, Scalar};
use crate::memory::InMemory;
use crate::plan::{Known, Plan, Request, View};
use crate::sink::Sink;
use crate::source::{ArraySource, less_if};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use std::any::Any;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest number of axes of an array.
pub const MOST_AXES: usize = 16;
/// Largest depth of an expression. Plans are made by recursion: a deeper expression would overflow the stack.
const MOST_DEPTH: u32 = 500;
/// Arrays in memory of more elements are processed block by block, on all workers.
const STREAMED_FROM: u64 = 512;
/// An array of at most this number of elements can be computed as a whole before it is used.
const MOST_WHOLE: u64 = 1 << 16;

/// A lazy array: an expression that is evaluated by [`compute`](crate::compute). Clones share the expression.
#[derive(Clone)]
#[must_use = "arrays are lazy: nothing is read before `compute`"]
pub struct Array(Arc<Node>);

/// An operation and its operands.
pub(crate) struct Node {
    id: u64,
    shape: Vec<u64>,
    element: ElementType,
    long: Option<Long>,
    /// Depth of the expression.
    depth: u32,
    op: Op,
}

/// The axis along which an array is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Long {
    pub axis: usize,
    /// Whether it can be streamed along no other axis: it lies in a file, and is too large to be read as a whole first.
    pub is_fixed: bool,
}

/// The source of the elements of an array: memory, a file, one value, or an operation on other arrays.
pub(crate) enum Op {
    Memory(InMemory),
    Source(Arc<dyn ArraySource>),
    /// One value for all elements.
    Full(Scalar),
    Computed {
        /// The name of the operation in plans.
        name: String,
        operation: Box<dyn Operation>,
        operands: Vec<Array>,
    },
}

/// The axis of the pass that computes an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// One of the array's own.
    Own(usize),
    /// One of its operand's, over which it is folded.
    Folded(usize),
}

/// Operands, each with its axis along which a pass reads it; without one it is needed as a whole.
pub(crate) type Requests<'a> = Vec<(&'a Array, Option<usize>)>;

/// An operation on arrays. `array` is always the array that it computes.
pub(crate) trait Operation: Any + Send + Sync {
    /// The axes of the only operand that are folded.
    fn over(&self) -> &[usize] {
        &[]
    }

    /// The axis of the pass that computes the array as a whole; `None` if it needs none. By default the operand's long
    /// axis if that is folded.
    fn pass_axis(&self, array: &Array) -> Option<Along> {
        let folded = array.operands().first().and_then(Array::long_axis).filter(|axis| self.over().contains(axis));
        folded.map(Along::Folded).or_else(|| array.long_axis().map(Along::Own))
    }

    /// Whether rows along an axis can be computed without all of them at once, if those of the operands can.
    fn can_stream(&self, _array: &Array, _axis: usize) -> bool {
        true
    }

    /// The operands of rows along an axis. By default these are broadcast to each other, or folded.
    fn requests<'a>(&self, array: &'a Array, axis: usize) -> Requests<'a> {
        let own = |operand: &Array| match self.over() {
            [] => (axis + operand.axes()).checked_sub(array.axes()),
            over => (0..operand.axes()).filter(|own| !over.contains(own)).nth(axis),
        };
        array.operands().iter().map(|operand| (operand, own(operand))).collect()
    }

    /// The operands of a pass along an axis over which they are folded.
    fn folded_requests<'a>(&self, array: &'a Array, axis: usize) -> Requests<'a> {
        array.operands().iter().map(|operand| (operand, Some(axis))).collect()
    }

    /// Whether the first operand must be in memory before any row is computed.
    fn has_table(&self) -> bool {
        false
    }

    /// Adds the steps that compute rows to a plan, and returns the view of their vectors.
    ///
    /// # Errors
    /// Rows along this axis need all others at once.
    fn plan(&self, array: &Array, _plan: &mut Plan, _request: Request, _known: &Known) -> Result<View> {
        Err(cannot_stream(array))
    }

    /// The result of a pass along an axis over which operands are folded.
    ///
    /// # Errors
    /// The operation does not fold them; operands that cannot be streamed.
    fn sink(&self, array: &Array, _plan: &mut Plan, _axis: usize, _known: &Known) -> Result<Sink> {
        Err(cannot_stream(array))
    }
}

impl Op {
    /// The operation, if it is one of type `T`.
    pub fn get<T: Operation>(&self) -> Option<&T> {
        match self {
            Op::Computed { operation, .. } => (operation.as_ref() as &dyn Any).downcast_ref(),
            _ => None,
        }
    }

    /// The operands.
    pub fn operands(&self) -> &[Array] {
        if let Op::Computed { operands, .. } = self { operands } else { &[] }
    }

    /// The name in plans.
    pub fn name(&self) -> String {
        match self {
            Op::Memory(_) => "memory".to_owned(),
            Op::Source(source) => source.describe(),
            Op::Full(value) => format!("full {value}"),
            Op::Computed { name, .. } => name.clone(),
        }
    }
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Array")
            .field("op", &self.0.op.name())
            .field("shape", &self.0.shape)
            .field("element", &self.0.element)
            .finish_non_exhaustive()
    }
}

impl Array {
    fn of(op: Op, shape: Vec<u64>, element: ElementType, long: Option<Long>) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if shape.len() > MOST_AXES {
            return Err(Error::Usage(format!("expected an array of at most {MOST_AXES} axes, found {}", shape.len())));
        }
        let most = i64::MAX as u64 / 8;
        if shape.iter().try_fold(1u64, |all, &size| all.checked_mul(size.max(1))).is_none_or(|count| count > most) {
            return Err(Error::Usage(format!("expected an array of at most {most} elements, found shape {shape:?}")));
        }
        // Arrays of one row are not streamed.
        let is_small = shape.iter().product::<u64>() <= MOST_WHOLE;
        let long = long.filter(|long| shape[long.axis] > 1);
        let long = long.map(|long| Long { is_fixed: long.is_fixed && !is_small, ..long });
        let depth = 1 + op.operands().iter().map(|operand| operand.0.depth).max().unwrap_or(0);
        if depth > MOST_DEPTH {
            let advice = "compute or persist an array in between";
            return Err(Error::Usage(format!(
                "expected at most {MOST_DEPTH} operations that use each other's results, found {depth}; {advice}"
            )));
        }
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Array(Arc::new(Node { id, shape, element, long, depth, op })))
    }

    /// The result of an operation with this name in plans, whose shape, type and long axis are known.
    pub(crate) fn computed(
        (name, operation): (impl Into<String>, impl Operation),
        operands: Vec<Array>,
        shape: Vec<u64>,
        element: ElementType,
        long: Option<Long>,
    ) -> Result<Self> {
        Array::of(Op::Computed { name: name.into(), operation: Box::new(operation), operands }, shape, element, long)
    }

    /// An array in memory.
    pub fn from_memory(memory: InMemory) -> Self {
        let (shape, element) = (memory.shape().to_vec(), memory.element());
        let long = Array::preferred(&shape);
        Array::of(Op::Memory(memory), shape, element, long).expect("an array in memory has a shape that fits")
    }

    /// An array of the elements of a vector, row by row. The type of the elements is the vector's.
    ///
    /// ```
    /// # mod outcore {
    /// #     pub use {outcore_image::Result, outcore_io::Runtime};
    /// #     pub mod array { pub use outcore_array::*; }
    /// # }
    /// use outcore::Runtime;
    /// use outcore::array::{Array, Goal, compute};
    ///
    /// # fn main() -> outcore::Result<()> {
    /// let x = Array::from_vec(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![3, 2])?;
    /// let means = x.mean(&[0], false)?;
    /// let computed = compute(&Runtime::new(Default::default())?, &[Goal::Value(means)])?;
    /// assert_eq!(computed.values[0].elements::<f64>()?, [3.0, 4.0]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// A shape of another number of elements.
    pub fn from_vec<T: Element>(elements: Vec<T>, shape: Vec<u64>) -> Result<Self> {
        let array = Array::full(shape.clone(), T::default().scalar())?;
        if array.count() != elements.len() as u64 {
            let count = elements.len();
            return Err(Error::Usage(format!("expected a shape of {count} elements, found {shape:?}")));
        }
        if elements.is_empty() {
            return Ok(array);
        }
        Ok(Array::from_memory(InMemory::new(Arc::new(elements), T::TYPE, shape)))
    }

    /// An array in a file, whose long axis is the first one.
    ///
    /// # Errors
    /// More elements than there can be.
    pub fn from_source(source: Arc<dyn ArraySource>) -> Result<Self> {
        let (shape, element) = (source.shape().to_vec(), source.element());
        if shape.contains(&0) {
            // There is nothing to read, however many rows a file without columns says that it has.
            return Array::full(shape, Scalar::zero(element));
        }
        Array::of(Op::Source(source), shape, element, Some(Long { axis: 0, is_fixed: true }))
    }

    /// An array without axes: a single value.
    pub fn scalar(value: Scalar) -> Self {
        Array::full(Vec::new(), value).expect("a single value has a shape that fits")
    }

    /// An array with one value everywhere; takes no memory.
    ///
    /// # Errors
    /// More elements than there can be.
    pub fn full(shape: Vec<u64>, value: Scalar) -> Result<Self> {
        let long = Array::preferred(&shape);
        Array::of(Op::Full(value), shape, value.element(), long)
    }

    /// The long axis of an array that is in no file: the longest one; `None` for an array of at
    /// most [`STREAMED_FROM`] elements.
    pub(crate) fn preferred(shape: &[u64]) -> Option<Long> {
        let longest = (0..shape.len()).rev().max_by_key(|&axis| shape[axis])?;
        let count = shape.iter().fold(1u64, |count, &size| count.saturating_mul(size));
        (count > STREAMED_FROM).then_some(Long { axis: longest, is_fixed: false })
    }

    /// The sizes of the axes.
    pub fn shape(&self) -> &[u64] {
        &self.0.shape
    }

    /// Number of axes.
    pub fn axes(&self) -> usize {
        self.0.shape.len()
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.0.element
    }

    /// Number of elements.
    pub fn count(&self) -> u64 {
        self.0.shape.iter().product()
    }

    /// The axis along which it is streamed, if it is too large to be computed as a whole.
    pub fn long_axis(&self) -> Option<usize> {
        self.0.long.map(|long| long.axis)
    }

    /// The names of the columns of an array in a file, if they have any; computed arrays have none.
    pub fn names(&self) -> Option<&[String]> {
        match &self.0.op {
            Op::Source(source) => source.names(),
            _ => None,
        }
    }

    /// The name of the operation that computes the array, or its file.
    pub fn describe(&self) -> String {
        self.0.op.name()
    }

    pub(crate) fn id(&self) -> u64 {
        self.0.id
    }

    pub(crate) fn op(&self) -> &Op {
        &self.0.op
    }

    pub(crate) fn long(&self) -> Option<Long> {
        self.0.long
    }

    pub(crate) fn operands(&self) -> &[Array] {
        self.0.op.operands()
    }

    /// The axis of the pass that computes the array as a whole; `None` if it needs none.
    pub(crate) fn pass_axis(&self) -> Option<Along> {
        match self.op() {
            Op::Source(_) => Some(Along::Own(0)),
            Op::Memory(_) | Op::Full(_) => self.long_axis().map(Along::Own),
            Op::Computed { operation, .. } => operation.pass_axis(self),
        }
    }

    /// Number of rows of the pass that computes the array as a whole.
    pub(crate) fn pass_rows(&self) -> u64 {
        match self.pass_axis() {
            Some(Along::Folded(axis)) => self.operands()[0].shape()[axis],
            Some(Along::Own(axis)) => self.shape()[axis],
            None => 1,
        }
    }

    /// Whether rows along an axis can be computed without all of them at once, if those of the operands can.
    pub(crate) fn can_stream(&self, axis: usize) -> bool {
        match self.op() {
            Op::Source(_) => axis == 0,
            Op::Memory(_) | Op::Full(_) => true,
            // Sums over a streamed axis are results of passes.
            Op::Computed { operation, .. } => {
                operation.can_stream(self, axis) && !matches!(operation.pass_axis(self), Some(Along::Folded(_)))
            }
        }
    }

    /// The operands of a pass along an axis; without one all of them, as a whole.
    pub(crate) fn requests(&self, along: Option<Along>) -> Requests<'_> {
        let Op::Computed { operation, operands, .. } = self.op() else { return Vec::new() };
        match along {
            None => operands.iter().map(|operand| (operand, None)).collect(),
            Some(Along::Own(axis)) => operation.requests(self, axis),
            Some(Along::Folded(axis)) => operation.folded_requests(self, axis),
        }
    }

    /// Whether the first operand must be in memory before any row is computed.
    pub(crate) fn has_table(&self) -> bool {
        matches!(self.op(), Op::Computed { operation, .. } if operation.has_table())
    }
}

/// The error for operands that are streamed along different axes of the result.
pub(crate) fn two_long_axes(operands: &[Array]) -> Error {
    let axes = operands.iter().filter_map(|operand| Some((operand.long()?.axis, operand.shape())));
    let found: Vec<String> = axes.map(|(axis, shape)| format!("axis {axis} of shape {shape:?}")).collect();
    Error::Usage(format!(
        "expected operands whose long axes, along which they are read from files, are the same axis of the result, \
         found {}; compute one of them first, if it fits into memory",
        found.join(" and ")
    ))
}

/// The error for a function that is not defined for a type.
pub(crate) fn no_function(name: &str, element: ElementType) -> Error {
    Error::Usage(format!("expected elements of a type that {name} is for, found {}", element.name()))
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

/// The words behind the purpose of memory that say how the files of arrays would take less; none if nothing is known.
pub fn less_memory_if(arrays: &[Array]) -> String {
    let (mut visited, mut waiting) = (HashSet::new(), arrays.iter().collect::<Vec<_>>());
    let mut conditions = BTreeSet::new();
    while let Some(array) = waiting.pop() {
        if !visited.insert(array.id()) {
            continue;
        }
        if let Op::Source(source) = array.op() {
            conditions.extend(source.purpose().map(|purpose| purpose.less_if));
        }
        waiting.extend(array.op().operands());
    }
    less_if(conditions.iter().map(String::as_str))
}
