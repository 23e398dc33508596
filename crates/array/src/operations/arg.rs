//! Indices of the least or greatest elements along an axis.

use super::fold;
use crate::array::{Along, Array, Operation, Requests, no_function};
use crate::block::{Block, Register, register};
use crate::kernel::{self, Scalar, Values, ValuesMut};
use crate::memory::Memory;
use crate::plan::{Compute, Known, Plan, Request, VectorPlace, View, outer};
use crate::sink::{Partial, Reduction, Sink, for_each_vector, result, same};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use outcore_io::Budget;

/// The index of the least or greatest element along an axis.
struct Arg<O> {
    is_max: bool,
    input: O,
    /// The axis; in a plan its size, for which the view has the last stride.
    over: usize,
}

fn name(is_max: bool) -> &'static str {
    if is_max { "argmax" } else { "argmin" }
}

impl Operation for Arg<Array> {
    fn name(&self) -> String {
        name(self.is_max).to_owned()
    }

    fn operands(&self) -> Vec<&Array> {
        vec![&self.input]
    }

    fn pass_axis(&self, array: &Array) -> Option<Along> {
        fold::pass_axis(array, &self.input, &[self.over])
    }

    fn requests(&self, _array: &Array, axis: usize) -> Requests<'_> {
        fold::requests(&self.input, &[self.over], axis)
    }

    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        let (input, over) = plan.folded(&self.input, &[self.over], request, known)?;
        let shape = outer(array.shape(), request.axis);
        Ok(plan.push(array, shape, Arg { is_max: self.is_max, input, over: over[0] }))
    }

    fn sink(&self, array: &Array, plan: &mut Plan, axis: usize, known: &Known) -> Result<Sink> {
        let wanted = plan.wanted(&self.input, &[self.over], axis, known)?;
        Ok(Sink::reduced(array, wanted, ArgRows { is_max: self.is_max }))
    }
}

impl Compute for Arg<View> {
    fn views(&self) -> Vec<&View> {
        vec![&self.input]
    }

    fn visits(&self, shape: &[usize]) -> Vec<(&View, Vec<usize>)> {
        vec![(&self.input, [shape, &[self.over]].concat())]
    }

    fn compute(&self, at: VectorPlace<'_>, to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let VectorPlace { block, index, .. } = at;
        let element = block.plan.steps[self.input.step].element;
        let ValuesMut::Int64(places) = to else { unreachable!("places are int64") };
        let (slot, rest) = register(registers);
        let (best, rest) = register(rest);
        let mut own = [index, &[0]].concat();
        for place in 0..self.over {
            own[index.len()] = place;
            let value = block.fetch_vector(&self.input, &own, slot, rest)?;
            let best = best.values_mut(element, block.rows);
            if place == 0 {
                kernel::cast(value, best);
                places.fill(0);
            } else {
                kernel::arg_accumulate(self.is_max, place as i64, value, best, places);
            }
        }
        Ok(())
    }
}

/// The row of the least or greatest element.
struct ArgRows {
    is_max: bool,
}

impl Reduction for ArgRows {
    fn name(&self) -> &str {
        name(self.is_max)
    }

    fn partial_bytes(&self, sink: &Sink, _partition_rows: u64) -> u64 {
        16 * sink.vectors() as u64
    }

    fn begin(&self, sink: &Sink) -> Box<dyn Partial> {
        let vectors = sink.vectors();
        let (best, places) = (vec![0; vectors], vec![-1; vectors]);
        Box::new(Best { is_max: self.is_max, element: sink.wanted.element, best, places })
    }
}

/// The best values of the rows so far.
struct Best {
    is_max: bool,
    element: ElementType,
    /// The best value so far, in a word each.
    best: Vec<u64>,
    /// Its row; -1 if there is none.
    places: Vec<i64>,
}

impl Best {
    fn offer(&mut self, number: usize, value: Scalar, place: i64) {
        let mut word = [0u64; 1];
        let size = self.element.bytes();
        let bytes: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut word)[..size];
        ValuesMut::from_bytes(self.element, bytes).fill(value);
        let best: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut self.best[number..=number])[..size];
        if self.places[number] < 0 {
            best.copy_from_slice(bytes);
            self.places[number] = place;
            return;
        }
        let best = ValuesMut::from_bytes(self.element, best);
        let value = Values::from_bytes(self.element, bytes);
        kernel::arg_accumulate(self.is_max, place, value, best, &mut self.places[number..=number]);
    }
}

impl Partial for Best {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()> {
        let (is_max, first) = (self.is_max, block.first_row as i64);
        for_each_vector(sink, block, registers, |number, vector| {
            let (value, place) = kernel::arg_reduce(is_max, vector);
            self.offer(number, value, first + place as i64);
        })
    }

    fn merge(&mut self, _sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let next: Best = same(next);
        let size = self.element.bytes();
        for (number, &place) in next.places.iter().enumerate().filter(|&(_, &place)| place >= 0) {
            let bytes: &[u8] = bytemuck::cast_slice(&next.best[number..=number]);
            self.offer(number, Scalar::from_bytes(self.element, &bytes[..size]), place);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<Memory> {
        result(budget, ElementType::Int64, &sink.shape, |bytes| {
            bytes.copy_from_slice(bytemuck::cast_slice(&self.places))
        })
    }
}

impl Array {
    /// The index of the largest (or smallest) element along an axis: of equal ones the first, and the first NaN if any.
    ///
    /// # Errors
    /// An axis that is not there, or has no element; elements of bool.
    pub fn arg(&self, is_max: bool, axis: usize, keep_axis: bool) -> Result<Self> {
        let name = name(is_max);
        if self.element() == ElementType::Bool {
            return Err(no_function(name, ElementType::Bool));
        }
        if self.shape()[axis] == 0 {
            return Err(Error::Usage(format!(
                "expected elements for {name}, found none along axis {axis} of shape {:?}",
                self.shape()
            )));
        }
        let (shape, long) = (self.shape_without(&[axis]), self.long_without(&[axis]));
        let operation = Arg { is_max, input: self.clone(), over: axis };
        Array::computed(operation, shape, ElementType::Int64, long)?.with_axes(&[axis], keep_axis)
    }
}
