//! Lazy arrays: an expression is a graph of operations that share their operands.
//!
//! Making an [`Array`] computes nothing. It is checked at once: shapes, types, and that it can be streamed. An array
//! larger than memory has one *long axis*, along which it is read and computed block by block; the long axis of an
//! array in a file is its first one. Operations keep the long axis (functions of elements, sums over other axes) or
//! sum over it (the results of a pass). Arrays in memory may be streamed along any axis; large ones have the longest
//! as the one that is preferred.

use crate::check::Check;
use crate::kernel::{Binary, Fold, Scalar, Unary};
use crate::memory::Memory;
use crate::random::Random;
use crate::row_fold::AnyRowFold;
use crate::source::Source;
use crate::sparse::SparseProduct;
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most axes of an array.
pub const MOST_AXES: usize = 16;
/// Plans are made by functions that call themselves: more operations above one another would overflow the stack.
const MOST_DEPTH: u32 = 500;
/// Arrays in memory of more elements are computed with block by block, on all workers.
const STREAMED_FROM: u64 = 512;
/// An array of at most this number of elements can be computed as a whole before it is used.
const MOST_WHOLE: u64 = 1 << 16;

/// A lazily computed array. Clones share it.
#[derive(Clone)]
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

/// A function of several vectors of elements that a user wrote. If it panics, that is an error with its name.
pub trait ElementFunction: Send + Sync {
    /// Its name, for plans and errors.
    fn name(&self) -> &str;

    /// Computes a vector of results from as many elements of every operand.
    ///
    /// # Errors
    /// Any error ends the computation.
    fn call(&self, operands: &[crate::kernel::Values<'_>], results: crate::kernel::ValuesMut<'_>) -> Result<()>;
}

/// An axis of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ViewAxis {
    /// The operand's axis; none for an axis along which all elements are the same.
    pub axis: Option<usize>,
    /// The operand's index for index 0, and how far the next one is.
    pub start: i64,
    pub step: i64,
}

/// The operation of an array.
pub(crate) enum Op {
    Memory(Memory),
    Source(Arc<dyn Source>),
    /// The product of a sparse matrix, which lies in a file, with an array.
    Sparse(SparseProduct),
    /// One value for all elements.
    Full(Scalar),
    /// `start + step i` along the only axis.
    Range {
        start: Scalar,
        step: Scalar,
    },
    /// Ones on a diagonal of a matrix, zeros elsewhere.
    Eye {
        diagonal: i64,
    },
    Random(Random),
    Cast(Array),
    Unary(Unary, Array),
    /// The operand, whose elements must be in a range.
    Check(Check, Array),
    Binary(Binary, Array, Array),
    /// Of the second where the first is true, of the third elsewhere.
    Select(Array, Array, Array),
    User(Arc<dyn ElementFunction>, Vec<Array>),
    /// The operand under other axes; axes of the operand that none leads to have the index `fixed`.
    View {
        input: Array,
        axes: Vec<ViewAxis>,
        fixed: Vec<i64>,
    },
    /// The elements, row by row, in another shape.
    Reshape(Array),
    Fold {
        fold: Fold,
        input: Array,
        axes: Vec<usize>,
    },
    /// Index of the smallest or largest element along an axis.
    Arg {
        is_max: bool,
        input: Array,
        axis: usize,
    },
    /// The sum of squared distances from the mean, over some axes.
    SquaredDeviations {
        input: Array,
        axes: Vec<usize>,
    },
    /// The product of two matrices.
    MatMul(Array, Array),
    /// Rows of a table, which an array of indices picks.
    Gather {
        table: Array,
        index: Array,
    },
    /// Rows folded by their labels into as many groups.
    GroupFold {
        fold: Fold,
        input: Array,
        labels: Array,
        groups: u64,
    },
    /// Rows folded by a user's function.
    RowFold(Arc<dyn AnyRowFold>, Vec<Array>),
    Cumulative {
        fold: Fold,
        input: Array,
        axis: usize,
    },
    /// Arrays behind each other.
    Join {
        inputs: Vec<Array>,
        axis: usize,
    },
}

impl Op {
    /// The arrays that it is computed of.
    pub fn operands(&self) -> Vec<&Array> {
        match self {
            Op::Memory(_) | Op::Source(_) | Op::Full(_) | Op::Range { .. } | Op::Eye { .. } | Op::Random(_) => vec![],
            Op::Sparse(product) => vec![&product.factor],
            Op::Cast(input) | Op::Unary(_, input) | Op::Check(_, input) => vec![input],
            Op::View { input, .. } | Op::Reshape(input) => vec![input],
            Op::Fold { input, .. } | Op::Arg { input, .. } | Op::SquaredDeviations { input, .. } => vec![input],
            Op::Cumulative { input, .. } => vec![input],
            Op::Binary(_, left, right) | Op::MatMul(left, right) => vec![left, right],
            Op::Select(condition, left, right) => vec![condition, left, right],
            Op::User(_, inputs) | Op::RowFold(_, inputs) | Op::Join { inputs, .. } => inputs.iter().collect(),
            Op::Gather { table, index } => vec![table, index],
            Op::GroupFold { input, labels, .. } => vec![input, labels],
        }
    }

    /// The name in plans.
    pub fn name(&self) -> String {
        match self {
            Op::Memory(_) => "memory".to_owned(),
            Op::Source(source) => source.describe(),
            Op::Sparse(product) => product.name(),
            Op::Full(value) => format!("full {value}"),
            Op::Range { .. } => "arange".to_owned(),
            Op::Eye { .. } => "eye".to_owned(),
            Op::Random(random) => random.name().to_owned(),
            Op::Cast(_) => "astype".to_owned(),
            Op::Unary(function, _) => function.name().to_owned(),
            Op::Check(check, _) => check.name().to_owned(),
            Op::Binary(function, ..) => function.name().to_owned(),
            Op::Select(..) => "where".to_owned(),
            Op::User(function, _) => function.name().to_owned(),
            Op::View { .. } => "view".to_owned(),
            Op::Reshape(_) => "reshape".to_owned(),
            Op::Fold { fold, .. } => fold.name().to_owned(),
            Op::Arg { is_max, .. } => if *is_max { "argmax" } else { "argmin" }.to_owned(),
            Op::SquaredDeviations { .. } => "squared deviations".to_owned(),
            Op::MatMul(..) => "matmul".to_owned(),
            Op::Gather { .. } => "take".to_owned(),
            Op::GroupFold { fold, .. } => format!("groupby {}", fold.name()),
            Op::RowFold(fold, _) => fold.name().to_owned(),
            Op::Cumulative { fold, .. } => format!("cumulative {}", fold.name()),
            Op::Join { .. } => "concat".to_owned(),
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
    /// An operation whose shape, type and long axis are known.
    pub(crate) fn of(op: Op, shape: Vec<u64>, element: ElementType, long: Option<Long>) -> Result<Self> {
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

    /// An array in memory.
    pub fn from_memory(memory: Memory) -> Self {
        let (shape, element) = (memory.shape().to_vec(), memory.element());
        let longest = (0..shape.len()).rev().max_by_key(|&axis| shape[axis]);
        let is_large = shape.iter().product::<u64>() > STREAMED_FROM;
        let long = longest.filter(|_| is_large).map(|axis| Long { axis, is_fixed: false });
        Array::of(Op::Memory(memory), shape, element, long).expect("an array in memory has a shape that fits")
    }

    /// An array in a file, whose long axis is the first one.
    ///
    /// # Errors
    /// More elements than there can be.
    pub fn from_source(source: Arc<dyn Source>) -> Result<Self> {
        let (shape, element) = (source.shape().to_vec(), source.element());
        if shape.contains(&0) {
            // There is nothing to read, however many rows a file without columns says that it has.
            return Array::full(shape, Scalar::zero(element));
        }
        Array::of(Op::Source(source), shape, element, Some(Long { axis: 0, is_fixed: true }))
    }

    /// A single value.
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

    /// `start + step i` for `i` below `count`; takes no memory.
    ///
    /// # Errors
    /// More elements than there can be; two types.
    pub fn range(start: Scalar, step: Scalar, count: u64) -> Result<Self> {
        if start.element() != step.element() {
            return Err(Error::Usage("expected a start and a step of one type".to_owned()));
        }
        let long = Array::preferred(&[count]);
        Array::of(Op::Range { start, step }, vec![count], start.element(), long)
    }

    /// Ones where the column is the row plus `diagonal`, and zeros elsewhere; takes no memory.
    ///
    /// # Errors
    /// More elements than there can be.
    pub fn eye(rows: u64, columns: u64, diagonal: i64, element: ElementType) -> Result<Self> {
        let long = Array::preferred(&[rows, columns]);
        Array::of(Op::Eye { diagonal }, vec![rows, columns], element, long)
    }

    /// Random elements, which depend on the seed and their place alone; takes no memory.
    ///
    /// # Errors
    /// More elements than there can be.
    pub fn random(shape: Vec<u64>, random: Random) -> Result<Self> {
        let long = Array::preferred(&shape);
        Array::of(Op::Random(random), shape, random.element(), long)
    }

    /// The long axis of an array that takes no memory and is in no file: the longest one; `None` for an array of at
    /// most [`STREAMED_FROM`] elements.
    fn preferred(shape: &[u64]) -> Option<Long> {
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

    /// A description: the operation that computes it, or its file.
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
}
