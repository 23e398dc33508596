//! Products of matrices, of stacks of them, and of vectors.
//!
//! Blocks of rows of real matrices are multiplied by `faer`, a library of the kind of BLAS, on one thread. A block of a
//! tall matrix is vectors of adjacent elements, one per column, so it is a matrix in columns.

use crate::array::{Along, Array, Long, Operation, Requests, cannot_stream, no_function, two_long_axes};
use crate::block::{Block, Buffer, Register};
use crate::kernel::{self, Binary, Element, Fold, Scalar, Values, ValuesMut};
use crate::memory::InMemory;
use crate::plan::{BLOCK_ROWS, Known, Plan, Request, Step, StepOperation, View, Visits};
use crate::sink::{Partial, Sink, result, same};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use outcore_io::Budget;

/// The product of two matrices.
struct MatMul;

impl Operation for MatMul {
    fn pass_axis(&self, array: &Array) -> Option<Along> {
        Some(array.long_axis().map_or(Along::Folded(1), Along::Own))
    }

    fn requests<'a>(&self, array: &'a Array, axis: usize) -> Requests<'a> {
        let (left, right) = if axis == 0 { (Some(0), None) } else { (None, Some(1)) };
        vec![(&array.operands()[0], left), (&array.operands()[1], right)]
    }

    fn folded_requests<'a>(&self, array: &'a Array, _axis: usize) -> Requests<'a> {
        vec![(&array.operands()[0], Some(1)), (&array.operands()[1], Some(0))]
    }

    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        let [left, right] = array.operands() else { unreachable!("two matrices") };
        let (vectors, matrix) = match request.axis {
            Some(0) => (plan.add(left, request.at(Some(0)), known)?, known.operand(right)?.packed()),
            Some(_) => (plan.add(right, request.at(Some(1)), known)?, known.operand(left)?.transposed().packed()),
            None => return Err(cannot_stream(array)),
        };
        Ok(plan.push(array, request, vec![vectors], TallBySmall(matrix)))
    }

    fn sink(&self, array: &Array, plan: &mut Plan, _axis: usize, known: &Known) -> Result<Sink> {
        let left = plan.wanted(&array.operands()[0], &[], 1, known)?;
        let (right, _) = plan.wanted(&array.operands()[1], &[], 0, known)?;
        let sums_bytes = |sink: &Sink| 8 * sink.shape.iter().product::<u64>();
        // With packed vectors of a block, and their product.
        let bytes = move |sink: &Sink, _: u64| {
            let (vectors, others) = (sink.wanted.sizes[0] as u64, sink.others[0].sizes[0] as u64);
            let numbers = BLOCK_ROWS as u64 * (vectors + others) + vectors * others;
            sums_bytes(sink) + sink.element.bytes() as u64 * numbers
        };
        let sink = match array.element() {
            ElementType::Float32 => Sink::folded(array, "product", left, bytes, Product::<f32>::new),
            _ => Sink::folded(array, "product", left, bytes, Product::<f64>::new),
        };
        Ok(sink.with_waiting_bytes(move |sink, _| sums_bytes(sink)).with_others(vec![right], true))
    }
}

/// Products of vectors with a matrix in memory of as many rows.
struct TallBySmall(InMemory);

impl StepOperation for TallBySmall {
    fn visits<'a>(&self, step: &'a Step) -> Visits<'a> {
        vec![(&step.views[0], vec![self.0.shape()[0] as usize])]
    }

    fn needs_buffer(&self) -> bool {
        true
    }

    fn fill(&self, block: &Block<'_>, step: &Step, buffer: &mut Buffer, _registers: &mut [Register]) -> Result<()> {
        let vectors = block.vectors(&step.views[0], self.0.shape()[0] as usize);
        let (shape, width) = ((block.rows, step.vectors()), buffer.width);
        tall_by_small(step.element, &vectors, &self.0, shape, buffer.bytes_mut(), width);
        Ok(())
    }
}

/// Sums of products of the rows so far: the product of the transpose of the sink's vectors with others.
struct Product<T> {
    sums: Vec<f64>,
    left: Vec<T>,
    right: Vec<T>,
    room: Vec<T>,
}

impl<T: Real> Product<T> {
    fn new(sink: &Sink) -> Self {
        let sums = vec![0.0; sink.wanted.sizes[0] * sink.others[0].sizes[0]];
        Product { sums, left: Vec::new(), right: Vec::new(), room: Vec::new() }
    }
}

impl<T: Real> Partial for Product<T> {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, _registers: &mut [Register]) -> Result<()> {
        let right = &sink.others[0];
        packed(&block.vectors(&sink.wanted.view, sink.wanted.sizes[0]), block.rows, &mut self.left);
        // A matrix of sums of squares has the same vectors on both sides.
        if right.view == sink.wanted.view && right.sizes == sink.wanted.sizes {
            add_transposed_product(&self.left, &self.left, block.rows, &mut self.sums, &mut self.room);
            return Ok(());
        }
        packed(&block.vectors(&right.view, right.sizes[0]), block.rows, &mut self.right);
        add_transposed_product(&self.left, &self.right, block.rows, &mut self.sums, &mut self.room);
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        (self.left, self.right, self.room) = Default::default();
        Ok(())
    }

    fn merge(&mut self, _sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let next: Product<T> = same(next);
        self.sums.iter_mut().zip(&next.sums).for_each(|(sum, next)| *sum += next);
        Ok(())
    }

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<InMemory> {
        result(budget, sink.element, &sink.shape, |bytes| {
            kernel::cast(Values::Float64(&self.sums), ValuesMut::from_bytes(sink.element, bytes));
        })
    }
}

/// Real numbers that `faer` multiplies, and whose sums are computed in float64.
trait Real: faer::traits::ComplexField + Element + Into<f64> {}

impl Real for f32 {}
impl Real for f64 {}

/// Vectors as a matrix in columns, one behind the other.
fn packed<T: Real>(vectors: &[Values<'_>], rows: usize, room: &mut Vec<T>) {
    room.clear();
    for &vector in vectors {
        room.extend_from_slice(&T::slice(vector)[..rows]);
    }
}

/// The product of vectors with a matrix that lies row by row in memory. It has `shape.0` rows and `shape.1` columns,
/// which begin `width` elements behind each other.
fn tall_by_small(
    element: ElementType,
    left: &[Values<'_>],
    right: &InMemory,
    shape: (usize, usize),
    to: &mut [u8],
    width: usize,
) {
    match element {
        ElementType::Float64 => tall_by_small_of::<f64>(left, right, shape, to, width),
        ElementType::Float32 => tall_by_small_of::<f32>(left, right, shape, to, width),
        _ => unreachable!("matrices of real numbers are multiplied"),
    }
}

fn tall_by_small_of<T: Real>(
    left: &[Values<'_>],
    right: &InMemory,
    (rows, columns): (usize, usize),
    to: &mut [u8],
    width: usize,
) {
    let (inner, mut room) = (left.len(), Vec::new());
    packed::<T>(left, rows, &mut room);
    let left = MatRef::from_column_major_slice(&room, rows, inner);
    let right = MatRef::from_row_major_slice(right.slice::<T>(), inner, columns);
    let to: &mut [T] = bytemuck::cast_slice_mut(&mut to[..columns * width * size_of::<T>()]);
    let to = MatMut::from_column_major_slice_with_stride_mut(to, rows, columns, width);
    matmul(to, Accum::Replace, left, right, T::from_scalar(Scalar::UInt8(1)), Par::Seq);
}

/// Adds the product of the transpose of some vectors with others to sums, row by row.
fn add_transposed_product<T: Real>(left: &[T], right: &[T], rows: usize, sums: &mut [f64], room: &mut Vec<T>) {
    let (p, q) = (left.len() / rows, right.len() / rows);
    room.resize(p * q, T::zeroed());
    let left = MatRef::from_column_major_slice(left, rows, p);
    let right = MatRef::from_column_major_slice(right, rows, q);
    let product = MatMut::from_row_major_slice_mut(room, p, q);
    matmul(product, Accum::Replace, left.transpose(), right, T::from_scalar(Scalar::UInt8(1)), Par::Seq);
    sums.iter_mut().zip(room.iter()).for_each(|(sum, term)| *sum += (*term).into());
}

impl Array {
    /// The product of two matrices, of two stacks of them, or of vectors, as NumPy's `matmul` has it. Real matrices are
    /// multiplied by a library of the kind of BLAS.
    ///
    /// # Errors
    /// Shapes that do not fit; arrays in files that are streamed along axes that do not meet.
    pub fn matmul(&self, other: &Array) -> Result<Self> {
        if self.axes() == 0 || other.axes() == 0 {
            let (left, right) = (self.shape(), other.shape());
            return Err(Error::Usage(format!(
                "expected arrays with axes to multiply, found shapes {left:?} and {right:?}"
            )));
        }
        let both = self.promoted(other);
        if both == ElementType::Bool {
            return Err(no_function("matmul", both));
        }
        let (mut left, mut right) = (self.cast(both)?, other.cast(both)?);
        let (is_row, is_column) = (left.axes() == 1, right.axes() == 1);
        if is_row {
            left = left.with_axes(&[0], true)?;
        }
        if is_column {
            right = right.with_axes(&[1], true)?;
        }
        let (inner, rows) = (left.shape()[left.axes() - 1], right.shape()[right.axes() - 2]);
        if inner != rows {
            let (left, right) = (self.shape(), other.shape());
            return Err(Error::Usage(format!(
                "expected matrices that can be multiplied, found shapes {left:?} and {right:?}"
            )));
        }
        let product = match (left.axes(), right.axes()) {
            (2, 2) if both.is_real() => left.matrix_product(&right)?,
            _ => left.stack_product(&right)?,
        };
        let last = product.axes();
        match (is_row, is_column) {
            (false, false) => Ok(product),
            (true, true) => product.without_axis(last - 2)?.without_axis(last - 2),
            (true, false) => product.without_axis(last - 2),
            (false, true) => product.without_axis(last - 1),
        }
    }

    /// The product of two real matrices.
    fn matrix_product(&self, other: &Array) -> Result<Self> {
        let shape = vec![self.shape()[0], other.shape()[1]];
        let is_inner = |array: &Array, inner: usize| array.long().filter(|long| long.axis == inner);
        let is_outer = |array: &Array, inner: usize| array.long().filter(|long| long.axis != inner);
        let long = match (is_outer(self, 1), is_outer(other, 0), is_inner(self, 1), is_inner(other, 0)) {
            // The sum runs over the long axis of one of them, and the other one is in memory or streamed as well.
            (left, right, inner_left, inner_right) if inner_left.or(inner_right).is_some() => {
                let is_fixed = |long: Option<Long>| long.is_some_and(|long| long.is_fixed);
                match (is_fixed(left) || is_fixed(right), is_fixed(inner_left) || is_fixed(inner_right)) {
                    (true, true) => return Err(two_long_axes(&[self.clone(), other.clone()])),
                    (true, false) => left.or(right),
                    // Both in memory: what is longer is streamed, so that a tall matrix times a small one stays lazy.
                    (false, false) => [(left, self.shape()[0]), (right, other.shape()[1])]
                        .into_iter()
                        .find_map(|(long, size)| long.filter(|_| size >= self.shape()[1])),
                    (false, true) => None,
                }
            }
            (Some(left), Some(right), ..) if left.is_fixed && right.is_fixed => {
                return Err(two_long_axes(&[self.clone(), other.clone()]));
            }
            (Some(left), Some(right), ..) => Some(if right.is_fixed { right } else { left }),
            (left, right, ..) => left.or(right),
        };
        Array::computed(("matmul", MatMul), vec![self.clone(), other.clone()], shape, self.element(), long)
    }

    /// The products of stacks of matrices, or of matrices of whole numbers: sums of products of elements.
    fn stack_product(&self, other: &Array) -> Result<Self> {
        let left = self.with_axis(self.axes())?;
        let right = other.with_axis(other.axes() - 2)?;
        let products = left.binary(Binary::Multiply, &right)?;
        let inner = products.axes() - 2;
        let sum = products.fold(Fold::Sum, &[inner], false)?;
        sum.cast(self.element())
    }

    /// The generalised product of a matrix of `n x p` with one of `p x q`: elements of rows and columns go into pairs
    /// by `pair`, and these are folded. One of the two is in memory.
    ///
    /// # Errors
    /// Shapes that do not fit.
    pub fn inner(&self, other: &Array, pair: Binary, fold: Fold) -> Result<Self> {
        if self.axes() != 2 || other.axes() != 2 || self.shape()[1] != other.shape()[0] {
            let (left, right) = (self.shape(), other.shape());
            return Err(Error::Usage(format!(
                "expected matrices that can be multiplied, found shapes {left:?} and {right:?}"
            )));
        }
        self.with_axis(2)?.binary(pair, &other.with_axis(0)?)?.fold(fold, &[1], false)
    }
}
