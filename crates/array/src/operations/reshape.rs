//! Arrays in another shape: the vectors of the operand where their order stays, otherwise copies of them.

use crate::array::{Array, Long, Operation, Requests, cannot_stream};
use crate::block::{Register, assign, register};
use crate::kernel::ValuesMut;
use crate::memory::strides;
use crate::plan::{Known, Plan, Request, StepOperation, VectorPlace, View, outer};
use outcore_image::{Error, Result};

/// The elements of an array, row by row, in another shape; in a plan, copies of the vectors of a view in the order of
/// its indices.
struct Reshape;

impl Operation for Reshape {
    fn can_stream(&self, array: &Array, axis: usize) -> bool {
        same_axis(array.shape(), axis, array.operands()[0].shape()).is_some()
    }

    fn requests<'a>(&self, array: &'a Array, axis: usize) -> Requests<'a> {
        let input = &array.operands()[0];
        vec![(input, same_axis(array.shape(), axis, input.shape()))]
    }

    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        let input = &array.operands()[0];
        let own =
            request.axis.map(|axis| same_axis(array.shape(), axis, input.shape()).ok_or_else(|| cannot_stream(array)));
        let own = own.transpose()?;
        let view = plan.add(input, request.at(own), known)?;
        let sizes = outer(input.shape(), own);
        if view.offset == 0 && view.strides == strides(&sizes) && plan.steps[view.step].shape == sizes {
            // The vectors are in this order already.
            return Ok(View { strides: strides(&outer(array.shape(), request.axis)), ..view });
        }
        let copy = plan.push(array, request, vec![view], Reshape);
        let step = &mut plan.steps[copy.step];
        // Indices of the copy are those of the operand's axes: a consumer with other axes needs all of it.
        (step.shape, step.is_buffered) = (sizes, true);
        Ok(copy)
    }
}

impl StepOperation for Reshape {
    fn compute(&self, at: VectorPlace<'_>, to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let (slot, rest) = register(registers);
        assign(at.block.fetch(&at.step.views[0], at.index, slot, rest)?, to);
        Ok(())
    }
}

impl Array {
    /// The elements, row by row, in another shape.
    ///
    /// # Errors
    /// A shape of another count; one in which the long axis of an array in a file is no axis of its own.
    pub fn reshape(&self, shape: &[u64]) -> Result<Self> {
        let count = shape.iter().try_fold(1u64, |count, &size| count.checked_mul(size));
        if count != Some(self.count()) {
            let expected = format!("expected a shape of {} elements", self.count());
            return Err(Error::Usage(format!("{expected}, found {shape:?}")));
        }
        if shape == self.shape() {
            return Ok(self.clone());
        }
        let long = match self.long() {
            None => None,
            Some(long) => {
                let axis = same_axis(self.shape(), long.axis, shape);
                match axis {
                    Some(axis) => Some(Long { axis, ..long }),
                    None if long.is_fixed => {
                        let expected = "expected a shape that keeps the long axis, along which the file is read";
                        return Err(Error::Usage(format!("{expected}, found {shape:?}")));
                    }
                    None => None,
                }
            }
        };
        Array::computed(("reshape", Reshape), vec![self.clone()], shape.to_vec(), self.element(), long)
    }
}

/// The axis of another shape of the same elements that is an axis of this one, element by element: it is as long, and
/// as many elements lie before it.
fn same_axis(shape: &[u64], axis: usize, other: &[u64]) -> Option<usize> {
    let before = |sizes: &[u64]| sizes.iter().product::<u64>();
    let (size, first) = (shape[axis], before(&shape[..axis]));
    (0..other.len()).find(|&own| other[own] == size && before(&other[..own]) == first)
}
