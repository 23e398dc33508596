//! Sums or products of an element and all before it along an axis.

use crate::array::{Array, Operation, cannot_stream};
use crate::block::{Block, Buffer, Register, for_each_index, register};
use crate::kernel::{self, Fold};
use crate::plan::{Known, Plan, Request, Step, StepOperation, View};
use outcore_format::ElementType;
use outcore_image::{Error, Result};

/// The fold of every element and all before it along an axis; in a plan, an outer axis.
struct Cumulative {
    fold: Fold,
    axis: usize,
}

impl Operation for Cumulative {
    fn can_stream(&self, _array: &Array, axis: usize) -> bool {
        axis != self.axis
    }

    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        if request.axis == Some(self.axis) {
            return Err(cannot_stream(array));
        }
        let input = plan.operand(&array.operands()[0], array.axes(), request, known)?;
        let axis = self.axis - usize::from(request.axis.is_some_and(|axis| axis < self.axis));
        Ok(plan.push(array, request, vec![input], Cumulative { fold: self.fold, axis }))
    }
}

impl StepOperation for Cumulative {
    fn is_by_vector(&self) -> bool {
        false
    }

    fn fill(&self, block: &Block<'_>, step: &Step, buffer: &mut Buffer, registers: &mut [Register]) -> Result<()> {
        let (element, rows) = (step.element, block.rows);
        let between: usize = step.shape[self.axis + 1..].iter().product();
        let mut flat = 0;
        for_each_index(&step.shape, |index| {
            let (slot, rest) = register(registers);
            let value = block.fetch_vector(&step.views[0], index, slot, rest)?;
            if index[self.axis] == 0 {
                kernel::cast(value, buffer.values_mut(element, flat, rows));
            } else {
                buffer.copy_vector(element, flat - between, flat, rows);
                kernel::accumulate(self.fold, value, buffer.values_mut(element, flat, rows));
            }
            flat += 1;
            Ok(())
        })
    }
}

impl Array {
    /// Sums or products of an element and all before it along an axis.
    ///
    /// # Errors
    /// An axis that is not there; the long axis of an array in a file.
    pub fn cumulative(&self, fold: Fold, axis: usize) -> Result<Self> {
        self.check_axes(&[axis])?;
        let input = match self.element() {
            kind if kind.is_signed() || kind == ElementType::Bool => self.cast(ElementType::Int64)?,
            kind if kind.is_unsigned() => self.cast(ElementType::UInt64)?,
            _ => self.clone(),
        };
        let long = match input.long() {
            Some(long) if long.axis == axis && long.is_fixed => {
                return Err(Error::Usage(format!(
                    "expected another axis than the long one, along which the file is read, for cumulative results, \
                     found axis {axis} of shape {:?}",
                    input.shape()
                )));
            }
            long => long.filter(|long| long.axis != axis),
        };
        let (shape, element, name) = (input.shape().to_vec(), input.element(), format!("cumulative {}", fold.name()));
        Array::computed((name, Cumulative { fold, axis }), vec![input], shape, element, long)
    }
}
