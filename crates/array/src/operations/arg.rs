//! Indices of the least or greatest elements along an axis.

use crate::array::{Array, Operation, no_function};
use crate::block::{Block, Register, register};
use crate::kernel::{self, Scalar, Values, ValuesMut};
use crate::memory::Memory;
use crate::plan::{Known, Plan, Request, Step, StepOperation, VectorPlace, View, Visits};
use crate::sink::{Partial, Sink, for_each_vector, result, same};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use outcore_io::Budget;

/// The index of the least or greatest element along an axis.
struct Arg {
    is_max: bool,
    /// The axis; in a plan its size, for which the view has the last stride.
    over: [usize; 1],
}

fn name(is_max: bool) -> &'static str {
    if is_max { "argmax" } else { "argmin" }
}

impl Operation for Arg {
    fn over(&self) -> &[usize] {
        &self.over
    }

    fn plan(&self, array: &Array, plan: &mut Plan, request: Request, known: &Known) -> Result<View> {
        let (views, over) = plan.folded(array, &self.over, request, known)?;
        Ok(plan.push(array, request, views, Arg { is_max: self.is_max, over: [over[0]] }))
    }

    fn sink(&self, array: &Array, plan: &mut Plan, axis: usize, known: &Known) -> Result<Sink> {
        let (wanted, is_max) = (plan.wanted(&array.operands()[0], &self.over, axis, known)?, self.is_max);
        let begin = move |sink: &Sink| {
            let (best, places) = (vec![0; sink.vectors()], vec![-1; sink.vectors()]);
            Best { is_max, element: sink.wanted.element, best, places }
        };
        Ok(Sink::folded(array, name(is_max), wanted, |sink, _| 16 * sink.vectors() as u64, begin))
    }
}

impl StepOperation for Arg {
    fn visits<'a>(&self, step: &'a Step) -> Visits<'a> {
        vec![(&step.views[0], [&step.shape[..], &self.over].concat())]
    }

    fn compute(&self, at: VectorPlace<'_>, to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let VectorPlace { block, step, index } = at;
        let input = &step.views[0];
        let element = block.plan.steps[input.step].element;
        let ValuesMut::Int64(places) = to else { unreachable!("places are int64") };
        let (slot, rest) = register(registers);
        let (best, rest) = register(rest);
        let mut own = [index, &[0]].concat();
        for place in 0..self.over[0] {
            own[index.len()] = place;
            let value = block.fetch_vector(input, &own, slot, rest)?;
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
        let operation = (name, Arg { is_max, over: [axis] });
        Array::computed(operation, vec![self.clone()], shape, ElementType::Int64, long)?.with_axes(&[axis], keep_axis)
    }
}
