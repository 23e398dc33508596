//! Arrays behind each other along an axis.

use super::elementwise::long_of;
use crate::array::{Array, Operation};
use crate::block::{Register, assign, register};
use crate::kernel::{ValuesMut, promote_mixed};
use crate::plan::{Known, Plan, Request, Rows, Step, StepOperation, VectorPlace, View, Visits};
use outcore_image::{Error, Result};
use std::ops::Range;

/// Operands behind each other along an axis, along which they have these sizes; in a plan, an outer axis.
struct Join {
    sizes: Vec<usize>,
    axis: usize,
}

/// Rows of several operands, of which each has rows of the pass of its own.
struct Append(Vec<Range<u64>>);

impl Operation for Join {
    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        if request.axis == Some(self.axis) {
            return append(array, plan, request, known);
        }
        let views = array.operands().iter().map(|input| plan.operand(input, array.axes(), request, known));
        let views = views.collect::<Result<_>>()?;
        let axis = self.axis - usize::from(request.axis.is_some_and(|axis| axis < self.axis));
        Ok(plan.push(array, request, views, Join { sizes: self.sizes.clone(), axis }))
    }
}

/// Plans arrays behind each other along the axis of the pass.
fn append(array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
    let axis = request.axis.expect("the pass goes along an axis");
    let (Rows { start, step }, whole) = (request.rows, plan.active.clone());
    // The first row of the pass at or behind a row of the array, in the direction of the pass.
    let reach = |row: i64| {
        let (ahead, step) = if step < 0 { (start - row, -step) } else { (row - start, step) };
        (ahead + step - 1).div_euclid(step)
    };
    let (mut views, mut ranges, mut first) = (Vec::new(), Vec::new(), 0i64);
    for input in array.operands() {
        let count = input.shape()[axis] as i64;
        let (own_first, own_end) = if step < 0 { (first + count - 1, first - 1) } else { (first, first + count) };
        let from = reach(own_first).max(whole.start as i64);
        let to = reach(own_end).min(whole.end as i64);
        if from < to {
            plan.active = from as u64..to as u64;
            let rows = Rows { start: start - first, step };
            views.push(match count {
                // A single row is the same for all of its part.
                1 => only_row(plan, input, axis, known)?,
                _ => plan.add(input, Request { axis: Some(axis), rows }, known)?,
            });
            ranges.push(plan.active.clone());
            plan.cuts.extend([from as u64, to as u64]);
        }
        first += count;
    }
    plan.active = whole;
    Ok(plan.push(array, request, views, Append(ranges)))
}

/// The only row of an array, as a whole, without the axis of rows.
fn only_row(plan: &mut Plan, input: &Array, axis: usize, known: &Known) -> Result<View> {
    let mut view = plan.add(input, Request::WHOLE, known)?;
    view.strides.remove(axis);
    Ok(view)
}

impl StepOperation for Join {
    fn visits<'a>(&self, step: &'a Step) -> Visits<'a> {
        let sizes = |size: usize| {
            let mut sizes = step.shape.clone();
            sizes[self.axis] = size;
            sizes
        };
        step.views.iter().zip(&self.sizes).map(|(view, &size)| (view, sizes(size))).collect()
    }

    fn compute(&self, at: VectorPlace<'_>, to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let VectorPlace { block, step, index } = at;
        let (slot, rest) = register(registers);
        let mut own = index.to_vec();
        for (view, size) in step.views.iter().zip(&self.sizes) {
            if own[self.axis] < *size {
                assign(block.fetch(view, &own, slot, rest)?, to);
                break;
            }
            own[self.axis] -= size;
        }
        Ok(())
    }
}

impl StepOperation for Append {
    fn compute(&self, at: VectorPlace<'_>, to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let VectorPlace { block, step, index } = at;
        let (slot, rest) = register(registers);
        let place = self.0.iter().position(|rows| rows.contains(&block.first_row)).expect("every row is in a part");
        assign(block.fetch(&step.views[place], index, slot, rest)?, to);
        Ok(())
    }
}

impl Array {
    /// Arrays behind each other along an axis.
    ///
    /// # Errors
    /// No array; shapes that differ in other axes; long axes that differ.
    pub fn join(inputs: &[Array], axis: usize) -> Result<Self> {
        let Some(first) = inputs.first() else {
            return Err(Error::Usage("expected arrays to join, found an empty list".to_owned()));
        };
        let mut element = first.element();
        for other in inputs {
            let others =
                |shape: &[u64]| shape.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, &s)| s).collect();
            let (first_others, own_others): (Vec<u64>, Vec<u64>) = (others(first.shape()), others(other.shape()));
            if first_others != own_others || axis >= first.axes() || first.axes() != other.axes() {
                let (first, other) = (first.shape(), other.shape());
                return Err(Error::Usage(format!(
                    "expected shapes that differ in no axis but {axis}, found {first:?} and {other:?}"
                )));
            }
            element = promote_mixed(element, other.element());
        }
        let inputs = inputs.iter().map(|input| input.cast(element)).collect::<Result<Vec<_>>>()?;
        let mut shape = first.shape().to_vec();
        let sizes = inputs.iter().map(|input| input.shape()[axis] as usize).collect();
        shape[axis] = inputs.iter().fold(0, |size, input| size.saturating_add(input.shape()[axis]));
        let long = long_of(&inputs, shape.len())?;
        Array::computed(("concat", Join { sizes, axis }), inputs, shape, element, long)
    }
}
