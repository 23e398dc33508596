//! Arrays behind each other along an axis.

use super::elementwise::long_of;
use crate::array::{Array, Operation};
use crate::block::{Register, assign, register};
use crate::kernel::{ValuesMut, promote_mixed};
use crate::plan::{Compute, Known, Plan, Request, Rows, VectorPlace, View, outer};
use outcore_image::{Error, Result};
use std::ops::Range;

/// Arrays behind each other along an axis; in a plan, the vectors of several views along an outer axis, of which each
/// has its number of indices.
struct Join<O> {
    inputs: Vec<O>,
    axis: usize,
}

/// Rows of several arrays, of which each has rows of the pass of its own.
struct Append(Vec<(View, Range<u64>)>);

impl Operation for Join<Array> {
    fn name(&self) -> String {
        "concat".to_owned()
    }

    fn operands(&self) -> Vec<&Array> {
        self.inputs.iter().collect()
    }

    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        if request.axis == Some(self.axis) {
            return self.append(array, plan, request, known);
        }
        let mut inputs = Vec::new();
        for input in &self.inputs {
            let view = plan.operand(input, array.axes(), request, known)?;
            inputs.push((view, input.shape()[self.axis] as usize));
        }
        let axis = self.axis - usize::from(request.axis.is_some_and(|axis| axis < self.axis));
        Ok(plan.push(array, outer(array.shape(), request.axis), Join { inputs, axis }))
    }
}

impl Join<Array> {
    /// Plans arrays behind each other along the axis of the pass.
    fn append(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        let axis = request.axis.expect("the pass goes along an axis");
        let (Rows { start, step }, whole) = (request.rows, plan.active.clone());
        // The first row of the pass at or behind a row of the array, in the direction of the pass.
        let reach = |row: i64| {
            let (ahead, step) = if step < 0 { (start - row, -step) } else { (row - start, step) };
            (ahead + step - 1).div_euclid(step)
        };
        let (mut parts, mut first) = (Vec::new(), 0i64);
        for input in &self.inputs {
            let count = input.shape()[axis] as i64;
            let (own_first, own_end) = if step < 0 { (first + count - 1, first - 1) } else { (first, first + count) };
            let from = reach(own_first).max(whole.start as i64);
            let to = reach(own_end).min(whole.end as i64);
            if from < to {
                plan.active = from as u64..to as u64;
                let rows = Rows { start: start - first, step };
                let view = match count {
                    // A single row is the same for all of its part.
                    1 => only_row(plan, input, axis, known)?,
                    _ => plan.add(input, Request { axis: Some(axis), rows }, known)?,
                };
                parts.push((view, plan.active.clone()));
                plan.cuts.extend([from as u64, to as u64]);
            }
            first += count;
        }
        plan.active = whole;
        Ok(plan.push(array, outer(array.shape(), request.axis), Append(parts)))
    }
}

/// The only row of an array, as a whole, without the axis of rows.
fn only_row(plan: &mut Plan, input: &Array, axis: usize, known: &Known) -> Result<View> {
    let mut view = plan.add(input, Request::WHOLE, known)?;
    view.strides.remove(axis);
    Ok(view)
}

impl Compute for Join<(View, usize)> {
    fn views(&self) -> Vec<&View> {
        self.inputs.iter().map(|(view, _)| view).collect()
    }

    fn visits(&self, shape: &[usize]) -> Vec<(&View, Vec<usize>)> {
        let sizes = |size: usize| {
            let mut sizes = shape.to_vec();
            sizes[self.axis] = size;
            sizes
        };
        self.inputs.iter().map(|(view, size)| (view, sizes(*size))).collect()
    }

    fn compute(&self, at: VectorPlace<'_>, to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let VectorPlace { block, index, .. } = at;
        let (slot, rest) = register(registers);
        let mut own = index.to_vec();
        for (view, size) in &self.inputs {
            if own[self.axis] < *size {
                assign(block.fetch(view, &own, slot, rest)?, to);
                break;
            }
            own[self.axis] -= size;
        }
        Ok(())
    }
}

impl Compute for Append {
    fn views(&self) -> Vec<&View> {
        self.0.iter().map(|(view, _)| view).collect()
    }

    fn compute(&self, at: VectorPlace<'_>, to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let VectorPlace { block, index, .. } = at;
        let (slot, rest) = register(registers);
        let part = self.0.iter().find(|(_, rows)| rows.contains(&block.first_row));
        let (view, _) = part.expect("every row is in a part");
        assign(block.fetch(view, index, slot, rest)?, to);
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
        shape[axis] = inputs.iter().map(|input| input.shape()[axis]).sum();
        let long = long_of(&inputs, shape.len())?;
        Array::computed(Join { inputs, axis }, shape, element, long)
    }
}
