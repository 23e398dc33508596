//! Sums, products, extremes and the like along axes: of vectors as they are computed, or of all rows of a pass.

use super::distances;
use super::elementwise::{Elementwise, Function};
use crate::array::{Array, Long, Operation, no_function};
use crate::block::{Block, Register, for_each_index, register, unravel};
use crate::kernel::{self, Argument, Binary, Fold, Scalar, Unary, Values, ValuesMut};
use crate::memory::{InMemory, strides};
use crate::plan::{Known, Plan, Request, Step, StepOperation, VectorPlace, View, Visits};
use crate::sink::{Partial, Sink, for_each_vector, result, same};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use outcore_io::Budget;

/// Elements along some axes, folded into one.
struct FoldAxes {
    fold: Fold,
    /// The axes that are folded; in a plan their sizes, for which the view has strides behind those of the step's axes.
    over: Vec<usize>,
}

impl Operation for FoldAxes {
    fn over(&self) -> &[usize] {
        &self.over
    }

    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        let (views, over) = plan.folded(array, &self.over, request, known)?;
        Ok(plan.push(array, request, views, FoldAxes { fold: self.fold, over }))
    }

    fn sink(&self, array: &Array, plan: &mut Plan, axis: usize, known: &Known) -> Result<Sink> {
        let (wanted, fold) = (plan.wanted(&array.operands()[0], &self.over, axis, known)?, self.fold);
        let begin = move |sink: &Sink| Folded::new(fold, sink.element, sink.vectors());
        Ok(Sink::folded(array, fold.name(), wanted, |sink, _| 16 * sink.vectors() as u64, begin))
    }
}

/// Adds a function of two operands to sums.
type Adder = fn(Argument<'_>, Argument<'_>, ValuesMut<'_>);
/// A function of two operands, the step that it stands for, and the operands.
type Pair<'a> = (Adder, &'a Step, &'a View, &'a View);

impl FoldAxes {
    /// The operands of a sum of products, or of squared or absolute differences, which are added up in one sweep each
    /// if no other step uses the intermediate vectors.
    fn pair<'a>(&self, plan: &'a Plan, input: &View) -> Option<Pair<'a>> {
        let fused = |view: &View| {
            let step = &plan.steps[view.step];
            let Elementwise(function) = step.kind.get()?;
            (!step.is_buffered && step.element.is_real()).then_some((step, function, &step.views[..]))
        };
        if self.fold != Fold::Sum {
            return None;
        }
        let (step, function, operands) = fused(input)?;
        let add = match (function, operands) {
            (Function::Binary(Binary::Multiply), [left, right]) => {
                return Some((kernel::accumulate_product, step, left, right));
            }
            (Function::Unary(Unary::Square), _) => kernel::accumulate_squared_difference as Adder,
            (Function::Unary(Unary::Abs), _) => kernel::accumulate_absolute_difference,
            _ => return None,
        };
        // The two steps have the same vectors under the same indices, which a reshape would change.
        let view = &operands[0];
        let is_same = view.offset == 0 && view.strides == strides(&step.shape);
        match fused(view)? {
            (difference, Function::Binary(Binary::Subtract), [left, right])
                if is_same && difference.shape == step.shape =>
            {
                Some((add, step, left, right))
            }
            _ => None,
        }
    }
}

impl FoldAxes {
    /// Adds up or multiplies vectors of float32 in float64, and rounds at the end.
    fn compute_wide(&self, at: VectorPlace<'_>, to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let VectorPlace { block, step, index } = at;
        let (slot, rest) = register(registers);
        let (mut own, mut all, mut one) = (index.to_vec(), vec![0.0; block.rows], vec![0.0; block.rows]);
        ValuesMut::Float64(&mut all).fill(kernel::identity(self.fold, ElementType::Float64));
        for_each_index(&self.over, |folded| {
            own.truncate(index.len());
            own.extend(folded);
            let value = block.fetch_vector(&step.views[0], &own, slot, rest)?;
            kernel::cast(value, ValuesMut::Float64(&mut one));
            kernel::accumulate(self.fold, Values::Float64(&one), ValuesMut::Float64(&mut all));
            Ok(())
        })?;
        kernel::cast(Values::Float64(&all), to);
        Ok(())
    }
}

impl StepOperation for FoldAxes {
    fn visits<'a>(&self, step: &'a Step) -> Visits<'a> {
        vec![(&step.views[0], [&step.shape[..], &self.over].concat())]
    }

    fn fused(&self, plan: &Plan, step: &Step) -> Option<(View, Box<dyn StepOperation>)> {
        if self.fold == Fold::Sum { distances::recognized(plan, step, &self.over) } else { None }
    }

    fn compute(&self, at: VectorPlace<'_>, mut to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let VectorPlace { block, step, index } = at;
        if is_wide(self.fold, step.element) {
            return self.compute_wide(at, to, registers);
        }
        let (slot, rest) = register(registers);
        let input = &step.views[0];
        let (mut own, pair) = (index.to_vec(), self.pair(block.plan, input));
        to.fill(kernel::identity(self.fold, step.element));
        for_each_index(&self.over, |folded| {
            own.truncate(index.len());
            own.extend(folded);
            match pair {
                None => {
                    let value = block.fetch_vector(input, &own, slot, rest)?;
                    kernel::accumulate(self.fold, value, to.reborrow());
                }
                Some((add, step, left, right)) => {
                    let own = unravel(input.at(&own), &step.shape);
                    let left = block.fetch(left, &own, slot, rest)?;
                    let (slot, rest) = register(rest);
                    add(left, block.fetch(right, &own, slot, rest)?, to.reborrow());
                }
            }
            Ok(())
        })
    }
}

/// Whether elements are folded in a wider type than theirs: sums and products of float32, in float64.
fn is_wide(fold: Fold, element: ElementType) -> bool {
    element == ElementType::Float32 && matches!(fold, Fold::Sum | Fold::Product)
}

/// The partial result of a fold of all rows: of every vector a value.
struct Folded {
    fold: Fold,
    values: Vec<Scalar>,
}

impl Folded {
    /// The results of no elements. Sums and products of float32 are computed in float64.
    fn new(fold: Fold, element: ElementType, count: usize) -> Self {
        let element = if is_wide(fold, element) { ElementType::Float64 } else { element };
        Folded { fold, values: vec![kernel::identity(fold, element); count] }
    }
}

/// Two values folded into one.
fn combined(fold: Fold, left: Scalar, right: Scalar) -> Scalar {
    let mut word = [0u64; 1];
    let bytes: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut word)[..right.element().bytes()];
    ValuesMut::from_bytes(right.element(), bytes).fill(right);
    kernel::reduce(fold, Values::from_bytes(right.element(), bytes), left)
}

impl Partial for Folded {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()> {
        for_each_vector(sink, block, registers, |number, vector| {
            let value = &mut self.values[number];
            *value = if vector.element() == value.element() {
                kernel::reduce(self.fold, vector, *value)
            } else {
                let own = kernel::reduce(self.fold, vector, kernel::identity(self.fold, vector.element()));
                combined(self.fold, *value, own.cast(value.element()))
            };
        })
    }

    fn merge(&mut self, _sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let next: Folded = same(next);
        let pairs = self.values.iter_mut().zip(next.values);
        pairs.for_each(|(value, next)| *value = combined(self.fold, *value, next));
        Ok(())
    }

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<InMemory> {
        result(budget, sink.element, &sink.shape, |bytes| {
            let to = ValuesMut::from_bytes(sink.element, bytes);
            kernel::set_each(to, |i| self.values[i]);
        })
    }
}

impl Array {
    /// Some axes, where negative ones are counted from the end, each once and in order; without `axes` all of them.
    ///
    /// # Errors
    /// An axis that is not there, or twice.
    pub fn axes_of(&self, axes: Option<&[i64]>) -> Result<Vec<usize>> {
        let Some(axes) = axes else { return Ok((0..self.axes()).collect()) };
        let all = self.axes() as i64;
        let own = |&axis: &i64| match axis {
            0.. if axis < all => Ok(axis as usize),
            ..0 if axis >= -all => Ok((axis + all) as usize),
            _ => Err(Error::Usage(format!("expected an axis of an array of {all} axes, found {axis}"))),
        };
        let mut own_axes = axes.iter().map(own).collect::<Result<Vec<_>>>()?;
        own_axes.sort_unstable();
        self.check_axes(&own_axes)?;
        Ok(own_axes)
    }

    /// Refuses axes that are not there, or not once.
    pub(crate) fn check_axes(&self, axes: &[usize]) -> Result<()> {
        let all = self.axes();
        if let Some(axis) = axes.iter().find(|&&axis| axis >= all) {
            return Err(Error::Usage(format!("expected an axis of an array of {all} axes, found {axis}")));
        }
        if axes.iter().enumerate().any(|(i, axis)| axes[..i].contains(axis)) {
            return Err(Error::Usage(format!("expected every axis once, found {axes:?}")));
        }
        Ok(())
    }

    /// The long axis after some axes are removed.
    pub(crate) fn long_without(&self, axes: &[usize]) -> Option<Long> {
        let long = self.long().filter(|long| !axes.contains(&long.axis))?;
        let before = axes.iter().filter(|&&axis| axis < long.axis).count();
        Some(Long { axis: long.axis - before, ..long })
    }

    /// The sizes of the axes without some of them.
    pub(crate) fn shape_without(&self, axes: &[usize]) -> Vec<u64> {
        let others = (0..self.axes()).filter(|axis| !axes.contains(axis));
        others.map(|axis| self.shape()[axis]).collect()
    }

    /// The elements in the type of the results of a fold.
    pub(crate) fn to_fold(&self, fold: Fold) -> Result<Self> {
        match (fold, self.element()) {
            (Fold::Sum | Fold::Product, kind) if kind.is_signed() || kind == ElementType::Bool => {
                self.cast(ElementType::Int64)
            }
            (Fold::Sum | Fold::Product, kind) if kind.is_unsigned() => self.cast(ElementType::UInt64),
            (Fold::Any | Fold::All, kind) if kind != ElementType::Bool => self.cast(ElementType::Bool),
            (Fold::Min | Fold::Max, ElementType::Bool) => Err(no_function(fold.name(), ElementType::Bool)),
            _ => Ok(self.clone()),
        }
    }

    /// Elements along some axes, folded into one: sums of whole numbers are of 64 bits, all others keep their type.
    ///
    /// # Errors
    /// An axis that is not there, or not once; a fold that elements of this type do not have; the minimum of no
    /// elements.
    pub fn fold(&self, fold: Fold, axes: &[usize], keep_axes: bool) -> Result<Self> {
        self.check_axes(axes)?;
        let input = self.to_fold(fold)?;
        let folded: u64 = axes.iter().map(|&axis| self.shape()[axis]).product();
        if folded == 0 && matches!(fold, Fold::Min | Fold::Max) {
            return Err(Error::Usage(format!(
                "expected elements for {}, found none along axes {axes:?} of shape {:?}",
                fold.name(),
                self.shape()
            )));
        }
        let (shape, long, element) = (input.shape_without(axes), input.long_without(axes), input.element());
        let result = match axes.is_empty() {
            true => input,
            false => {
                let operation = (fold.name(), FoldAxes { fold, over: axes.to_vec() });
                Array::computed(operation, vec![input], shape, element, long)?
            }
        };
        result.with_axes(axes, keep_axes)
    }

    /// The mean along some axes, of real numbers; whole ones become float64.
    ///
    /// # Errors
    /// An axis that is not there, or not once.
    pub fn mean(&self, axes: &[usize], keep_axes: bool) -> Result<Self> {
        self.check_axes(axes)?;
        let real = self.to_real()?;
        let count: u64 = axes.iter().map(|&axis| self.shape()[axis]).product();
        let count = Array::scalar(Scalar::Float64(count as f64).cast(real.element()));
        real.fold(Fold::Sum, axes, keep_axes)?.binary(Binary::Divide, &count)
    }

    /// The elements as real numbers: as they are, or whole ones as float64.
    pub(crate) fn to_real(&self) -> Result<Self> {
        if self.element().is_real() { Ok(self.clone()) } else { self.cast(ElementType::Float64) }
    }
}
