//! Indices of the least or greatest elements along an axis, or of all elements, row by row.

use crate::array::{Array, Operation, no_function};
use crate::block::{Block, Register, for_each_index, register, unravel};
use crate::kernel::{self, Scalar, Values, ValuesMut};
use crate::memory::{InMemory, strides};
use crate::plan::{Known, Plan, Request, Step, StepOperation, VectorPlace, View, Visits};
use crate::sink::{Partial, Sink, for_each_vector, result, same};
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use outcore_io::Budget;

/// The index of the least or greatest element along some axes: one, or all.
struct Arg {
    is_max: bool,
    /// The axes; in a plan their sizes, for which the view has the last strides.
    over: Vec<usize>,
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
        Ok(plan.push(array, request, views, Arg { is_max: self.is_max, over }))
    }

    fn sink(&self, array: &Array, plan: &mut Plan, axis: usize, known: &Known) -> Result<Sink> {
        let input = &array.operands()[0];
        let (wanted, is_max) = (plan.wanted(input, &self.over, axis, known)?, self.is_max);
        // An element is numbered by its indices along the axes in question, of which the last varies fastest.
        let sizes: Vec<usize> = self.over.iter().map(|&own| input.shape()[own] as usize).collect();
        let (mut others, mut row_stride) = (Vec::new(), 1);
        for (&own, stride) in self.over.iter().zip(strides(&sizes)) {
            if own == axis { row_stride = stride as i64 } else { others.push(stride as i64) }
        }
        let begin = move |sink: &Sink| {
            let (best, places) = (vec![0; sink.vectors()], vec![-1; sink.vectors()]);
            let others = others.clone();
            Best { is_max, element: sink.wanted.element, others, row_stride, best, places }
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
        let (mut own, mut place) = (index.to_vec(), 0);
        for_each_index(&self.over, |folded| {
            own.truncate(index.len());
            own.extend(folded);
            let value = block.fetch_vector(input, &own, slot, rest)?;
            let best = best.values_mut(element, block.rows);
            if place == 0 {
                kernel::cast(value, best);
                places.fill(0);
            } else {
                kernel::arg_accumulate(self.is_max, place, value, best, places);
            }
            place += 1;
            Ok(())
        })
    }
}

/// The best values of the rows so far.
struct Best {
    is_max: bool,
    element: ElementType,
    /// The distances between numbers of elements along the axes in question without that of the rows, and along that.
    others: Vec<i64>,
    row_stride: i64,
    /// The best value so far, in a word each.
    best: Vec<u64>,
    /// Its number; -1 if there is none.
    places: Vec<i64>,
}

impl Best {
    /// Takes a value if it is better, or equal and its number is less.
    fn offer(&mut self, number: usize, value: Scalar, place: i64) {
        let (size, own) = (self.element.bytes(), self.places[number]);
        let mut words = [0u64; 3];
        let bytes: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut words)[..3 * size];
        bytes[size..2 * size].copy_from_slice(&bytemuck::cast_slice::<u64, u8>(&self.best[number..=number])[..size]);
        for i in [0, 2] {
            ValuesMut::from_bytes(self.element, &mut bytes[i * size..][..size]).fill(value);
        }
        // The value before the best one, and behind it: of equal ones the first is found.
        let is_first = |pair: &[u8]| kernel::arg_reduce(self.is_max, Values::from_bytes(self.element, pair)).1 == 0;
        let is_better = || !is_first(&bytes[size..]);
        if own < 0 || is_better() || place < own && is_first(&bytes[..2 * size]) {
            bytemuck::cast_slice_mut(&mut self.best[number..=number])[..size].copy_from_slice(&bytes[..size]);
            self.places[number] = place;
        }
    }
}

impl Partial for Best {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()> {
        let (is_max, first, folded) = (self.is_max, block.first_row as i64, &sink.wanted.sizes[sink.outer_axes..]);
        let (count, mut vectors) = (folded.iter().product::<usize>(), 0);
        for_each_vector(sink, block, registers, |number, vector| {
            let (value, row) = kernel::arg_reduce(is_max, vector);
            let index = unravel(vectors % count, folded);
            let others: i64 = index.iter().zip(&self.others).map(|(&i, stride)| i as i64 * stride).sum();
            self.offer(number, value, others + (first + row as i64) * self.row_stride);
            vectors += 1;
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

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<InMemory> {
        result(budget, ElementType::Int64, &sink.shape, |bytes| {
            bytes.copy_from_slice(bytemuck::cast_slice(&self.places))
        })
    }
}

impl Array {
    /// The index of the largest (or smallest) element along an axis, or without an axis its number among all elements,
    /// row by row: of equal ones the first, and the first NaN if any.
    ///
    /// # Errors
    /// An axis that is not there; no element; elements of bool.
    pub fn arg(&self, is_max: bool, axis: Option<usize>, keep_axis: bool) -> Result<Self> {
        let name = name(is_max);
        if self.element() == ElementType::Bool {
            return Err(no_function(name, ElementType::Bool));
        }
        let over = axis.map_or_else(|| (0..self.axes()).collect(), |axis| vec![axis]);
        self.check_axes(&over)?;
        if over.iter().any(|&axis| self.shape()[axis] == 0) {
            let along = axis.map_or(String::new(), |axis| format!(" along axis {axis}"));
            let shape = self.shape();
            return Err(Error::Usage(format!("expected elements for {name}, found none{along} of shape {shape:?}")));
        }
        if over.is_empty() {
            return Array::full(vec![], Scalar::Int64(0));
        }
        let (shape, long) = (self.shape_without(&over), self.long_without(&over));
        let operation = (name, Arg { is_max, over: over.clone() });
        Array::computed(operation, vec![self.clone()], shape, ElementType::Int64, long)?.with_axes(&over, keep_axis)
    }
}
