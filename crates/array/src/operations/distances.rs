//! Squared distances of rows to points in memory, which are computed in registers.

use super::elementwise::{Elementwise, Function};
use crate::block::{Block, Buffer, Register};
use crate::kernel::{self, Binary, Unary, Values};
use crate::memory::{InMemory, strides};
use crate::plan::{Kind, Plan, Step, StepOperation, View, Visits};
use outcore_format::ElementType;
use outcore_image::Result;

/// Squared distances of rows, whose coordinates are the vectors of a view, to the rows of a matrix in memory.
struct Distances(InMemory);

/// Recognizes a sum of squared differences over one axis, of rows and points in memory that are broadcast to each
/// other. The intermediate steps stay in the plan, possibly without a consumer.
pub(super) fn recognized(plan: &Plan, step: &Step, over: &[usize]) -> Option<(View, Box<dyn StepOperation>)> {
    let (&[count], &[width], [input]) = (&step.shape[..], over, &step.views[..]) else { return None };
    let (square, size) = (&plan.steps[input.step], step.element.bytes());
    let (Elementwise(Function::Unary(Unary::Square)), [inner]) = (square.kind.get()?, &square.views[..]) else {
        return None;
    };
    let difference = &plan.steps[inner.step];
    let (Elementwise(Function::Binary(Binary::Subtract)), [left, right]) =
        (difference.kind.get()?, &difference.views[..])
    else {
        return None;
    };
    let is_whole = |view: &View, shape: &[usize]| view.offset == 0 && view.strides == strides(shape);
    let shapes_fit = square.shape == [count, width] && difference.shape == [count, width];
    if !shapes_fit || !is_whole(input, &square.shape) || !is_whole(inner, &square.shape) || count * width == 0 {
        return None;
    }
    let small = |view: &View| match &plan.steps[view.step].kind {
        Kind::Small(memory) => Some(memory),
        _ => None,
    };
    let (rows, points, memory) = match (small(left), small(right)) {
        (None, Some(memory)) => (left, right, memory),
        (Some(memory), None) => (right, left, memory),
        _ => return None,
    };
    if !step.element.is_real() || count > 1 && rows.strides[0] != 0 {
        return None;
    }
    let shape = vec![count as u64, width as u64];
    let points = if is_whole(points, &[count, width]) && memory.shape().iter().product::<u64>() == shape[0] * shape[1] {
        memory.reshaped(shape)
    } else {
        let element = |i: usize| memory.at((points.at(&[i / width, i % width]) * size) as isize);
        let bytes: Vec<u8> = (0..count * width).flat_map(|i| element(i).to_vec()).collect();
        InMemory::of_bytes(&bytes, step.element, shape)
    };
    let input = View { step: rows.step, offset: rows.offset, strides: vec![rows.strides[1]] };
    Some((input, Box::new(Distances(points))))
}

impl StepOperation for Distances {
    fn visits<'a>(&self, step: &'a Step) -> Visits<'a> {
        vec![(&step.views[0], vec![self.0.shape()[1] as usize])]
    }

    fn needs_buffer(&self) -> bool {
        true
    }

    fn fill(&self, block: &Block<'_>, step: &Step, buffer: &mut Buffer, _registers: &mut [Register]) -> Result<()> {
        let vectors = block.vectors(&step.views[0], self.0.shape()[1] as usize);
        match step.element {
            ElementType::Float32 => self.compute_in::<f32>(&vectors, buffer),
            _ => self.compute_in::<f64>(&vectors, buffer),
        }
        Ok(())
    }
}

impl Distances {
    fn compute_in<T: kernel::Real>(&self, vectors: &[Values<'_>], to: &mut Buffer) {
        let columns: Vec<&[T]> = vectors.iter().map(|&values| T::slice(values)).collect();
        let width = to.width;
        kernel::squared_distances(&columns, self.0.slice(), bytemuck::cast_slice_mut(to.bytes_mut()), width);
    }
}
