//! A block of rows: the vectors of a plan's steps, computed on demand.
//!
//! *Order.* Buffered steps are computed in the order of the plan, which is that of their operands; all other steps when
//! a consumer needs a vector, into a register. A vector is at most 4 KiB, so a chain of functions of elements runs in
//! the first-level cache, for any number of columns.

use crate::kernel::{self, Argument, RowMajor, Scalar, Values, ValuesMut};
use crate::memory::InMemory;
use crate::plan::{BLOCK_ROWS, Kind, Plan, Rows, Step, VectorPlace, View};
use crate::source::Landed;
use outcore_format::ElementType;
use outcore_image::Result;

/// Memory for a vector.
#[derive(Clone)]
pub(crate) struct Register(Box<[u64; BLOCK_ROWS]>);

impl Register {
    pub fn new() -> Self {
        Register(Box::new([0; BLOCK_ROWS]))
    }

    pub fn values_mut(&mut self, element: ElementType, rows: usize) -> ValuesMut<'_> {
        ValuesMut::from_bytes(element, &mut bytemuck::cast_slice_mut(&mut self.0[..])[..rows * element.bytes()])
    }

    fn values(&self, element: ElementType, rows: usize) -> Values<'_> {
        Values::from_bytes(element, &bytemuck::cast_slice(&self.0[..])[..rows * element.bytes()])
    }
}

/// The vectors of a buffered step, each of the width of the plan's blocks.
#[derive(Default)]
pub(crate) struct Buffer {
    words: Vec<u64>,
    /// Elements from the beginning of a vector to that of the next one.
    pub width: usize,
}

impl Buffer {
    /// Size of the vectors of a step in bytes.
    pub fn len_bytes(step: &Step, width: usize) -> usize {
        (step.vectors() * Buffer::width(step, width) * step.element.bytes()).next_multiple_of(8)
    }

    /// Number of elements of a vector in a buffer: fewer than the rows of a block if the step has fewer rows.
    fn width(step: &Step, width: usize) -> usize {
        width.min((step.active.end - step.active.start) as usize)
    }

    fn new(step: &Step, width: usize) -> Self {
        let width = Buffer::width(step, width);
        Buffer { words: vec![0; Buffer::len_bytes(step, width) / 8], width }
    }

    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words)
    }

    fn values(&self, element: ElementType, vector: usize, rows: usize) -> Values<'_> {
        let start = vector * self.width * element.bytes();
        Values::from_bytes(element, &self.bytes()[start..start + rows * element.bytes()])
    }

    pub fn values_mut(&mut self, element: ElementType, vector: usize, rows: usize) -> ValuesMut<'_> {
        let start = vector * self.width * element.bytes();
        ValuesMut::from_bytes(element, &mut self.bytes_mut()[start..start + rows * element.bytes()])
    }

    /// Copies a vector over another one.
    pub fn copy_vector(&mut self, element: ElementType, from: usize, to: usize, rows: usize) {
        let (width, bytes) = (self.width * element.bytes(), rows * element.bytes());
        self.bytes_mut().copy_within(from * width..from * width + bytes, to * width);
    }
}

/// A worker's memory for blocks.
pub(crate) struct BlockMemory {
    pub buffers: Vec<Buffer>,
    pub registers: Vec<Register>,
}

impl BlockMemory {
    pub fn new(plan: &Plan) -> Self {
        let width = plan.block_rows();
        let buffer = |step: &Step| if step.is_buffered { Buffer::new(step, width) } else { Buffer::default() };
        let registers = vec![Register::new(); BlockMemory::registers(plan)];
        BlockMemory { buffers: plan.steps.iter().map(buffer).collect(), registers }
    }

    fn registers(plan: &Plan) -> usize {
        plan.steps.iter().map(|step| step.registers).max().unwrap_or(0) + 4
    }

    /// The memory that a worker takes.
    pub fn len_bytes(plan: &Plan) -> u64 {
        let buffered = plan.steps.iter().filter(|step| step.is_buffered);
        let buffers: usize = buffered.map(|step| Buffer::len_bytes(step, plan.block_rows())).sum();
        (buffers + BlockMemory::registers(plan) * BLOCK_ROWS * 8) as u64
    }
}

/// Rows of a pass, with the bytes that were read for them.
pub(crate) struct Block<'a> {
    pub plan: &'a Plan,
    pub landed: &'a [Box<dyn Landed + 'a>],
    pub buffers: &'a mut [Buffer],
    pub first_row: u64,
    pub rows: usize,
}

/// Visits all indices below some sizes; the last axis varies fastest.
pub(crate) fn for_each_index(sizes: &[usize], mut visit: impl FnMut(&[usize]) -> Result<()>) -> Result<()> {
    if sizes.contains(&0) {
        return Ok(());
    }
    let mut index = vec![0; sizes.len()];
    loop {
        visit(&index)?;
        let mut axis = sizes.len();
        loop {
            let Some(before) = axis.checked_sub(1) else { return Ok(()) };
            axis = before;
            index[axis] += 1;
            if index[axis] < sizes[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// The index of a vector by its number.
pub(crate) fn unravel(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (place, &size) in index.iter_mut().zip(shape).rev() {
        *place = flat % size;
        flat /= size;
    }
    index
}

impl Block<'_> {
    /// Computes all steps that have buffers.
    pub fn fill(&mut self, registers: &mut [Register]) -> Result<()> {
        (0..self.plan.steps.len()).try_for_each(|place| {
            let step = &self.plan.steps[place];
            if !step.is_buffered || !step.active.contains(&self.first_row) || self.lies_in_place(step) {
                return Ok(());
            }
            let mut buffer = std::mem::take(&mut self.buffers[place]);
            let outcome = self.fill_buffer(step, &mut buffer, registers);
            self.buffers[place] = buffer;
            outcome
        })
    }

    /// The rows of a source or an array in memory that this block covers, if they are adjacent.
    fn adjacent(&self, rows: Rows) -> Option<std::ops::Range<u64>> {
        let first = rows.at(self.first_row);
        (rows.step == 1 || self.rows == 1).then(|| first..first + self.rows as u64)
    }

    /// Whether the vectors of a step are used where they were read to, or in the caller's memory.
    fn lies_in_place(&self, step: &Step) -> bool {
        match &step.kind {
            Kind::Source { source, rows } => {
                let vectors = step.vectors();
                vectors > 0
                    && self.adjacent(*rows).is_some_and(|rows| self.landed[*source].vector(vectors - 1, rows).is_some())
            }
            Kind::Memory { memory, axis, rows, .. } => {
                let is_dense = memory.stride_bytes(*axis) == step.element.bytes() as isize || self.rows == 1;
                is_dense && self.adjacent(*rows).is_some()
            }
            _ => false,
        }
    }

    fn fill_buffer(&self, step: &Step, buffer: &mut Buffer, registers: &mut [Register]) -> Result<()> {
        let (element, rows, width) = (step.element, self.rows, buffer.width);
        match &step.kind {
            Kind::Source { source, rows: along } => {
                let stride_bytes = width * element.bytes();
                self.landed[*source].copy(along.at(self.first_row), along.step, rows, buffer.bytes_mut(), stride_bytes)
            }
            Kind::Memory { memory, axis, rows: along, .. } if step.is_transposed() => {
                let row_bytes = memory.stride_bytes(*axis);
                let from = memory.from(along.at(self.first_row) as isize * row_bytes);
                if row_bytes > 0 {
                    let shape = RowMajor::native(rows, step.vectors(), row_bytes as usize);
                    kernel::transpose(from, shape, ValuesMut::from_bytes(element, buffer.bytes_mut()), width);
                    return Ok(());
                }
                self.by_vector(step, buffer, registers)
            }
            Kind::Computed(operation) => operation.fill(self, step, buffer, registers),
            _ => self.by_vector(step, buffer, registers),
        }
    }

    /// Computes one vector after the other.
    pub fn by_vector(&self, step: &Step, buffer: &mut Buffer, registers: &mut [Register]) -> Result<()> {
        let mut flat = 0;
        for_each_index(&step.shape, |index| {
            self.compute(step, index, buffer.values_mut(step.element, flat, self.rows), registers)?;
            flat += 1;
            Ok(())
        })
    }

    /// The vectors that a view with one stride leads to; of a step that has a buffer, or is in place.
    pub fn vectors(&self, view: &View, count: usize) -> Vec<Values<'_>> {
        (0..count).map(|i| self.stored(view.step, view.at(&[i])).expect("a step with a buffer")).collect()
    }

    /// A vector that need not be computed: it was read, lies in a caller's memory, or is in a buffer.
    fn stored(&self, place: usize, flat: usize) -> Option<Values<'_>> {
        let step = &self.plan.steps[place];
        let element = step.element;
        let flat = match step.kind {
            Kind::Source { source, .. } => self.plan.sources[source].place(flat),
            _ => flat,
        };
        match &step.kind {
            Kind::Source { source, rows } => {
                if let Some(bytes) = self.adjacent(*rows).and_then(|rows| self.landed[*source].vector(flat, rows)) {
                    return Some(Values::from_bytes(element, bytes));
                }
            }
            Kind::Memory { memory, axis, rows, strides_bytes } if self.lies_in_place(step) => {
                let first = rows.at(self.first_row) as isize * memory.stride_bytes(*axis);
                let bytes = memory.from(first + distance(flat, &step.shape, strides_bytes));
                return Some(Values::from_bytes(element, &bytes[..self.rows * element.bytes()]));
            }
            _ => {}
        }
        step.is_buffered.then(|| self.buffers[place].values(element, flat, self.rows))
    }

    /// The value that a view leads to, if it is the same for all rows.
    fn constant(&self, view: &View, index: &[usize]) -> Option<Scalar> {
        match &self.plan.steps[view.step].kind {
            Kind::Full(value) => Some(*value),
            Kind::Small(memory) => Some(element_of(memory, view.at(index))),
            _ => None,
        }
    }

    /// The vector that a view leads to; a value that is the same for all rows is repeated.
    pub fn fetch_vector<'s>(
        &'s self,
        view: &View,
        index: &[usize],
        slot: &'s mut Register,
        rest: &mut [Register],
    ) -> Result<Values<'s>> {
        if let Some(value) = self.constant(view, index) {
            let element = self.plan.steps[view.step].element;
            slot.values_mut(element, self.rows).fill(value);
            return Ok(slot.values(element, self.rows));
        }
        match self.fetch(view, index, slot, rest)? {
            Argument::Vector(values) => Ok(values),
            Argument::Scalar(_) => unreachable!("a value that is the same for all rows"),
        }
    }

    /// The vector that a view leads to: where it lies, or computed into a register.
    pub fn fetch<'s>(
        &'s self,
        view: &View,
        index: &[usize],
        slot: &'s mut Register,
        rest: &mut [Register],
    ) -> Result<Argument<'s>> {
        if let Some(value) = self.constant(view, index) {
            return Ok(Argument::Scalar(value));
        }
        let (step, flat) = (&self.plan.steps[view.step], view.at(index));
        if let Some(values) = self.stored(view.step, flat) {
            return Ok(Argument::Vector(values));
        }
        let own = unravel(flat, &step.shape);
        self.compute(step, &own, slot.values_mut(step.element, self.rows), rest)?;
        Ok(Argument::Vector(slot.values(step.element, self.rows)))
    }

    /// Computes a vector of a step.
    fn compute(&self, step: &Step, index: &[usize], mut to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        match &step.kind {
            Kind::Computed(operation) => {
                return operation.compute(VectorPlace { block: self, step, index }, to, registers);
            }
            Kind::Memory { memory, axis, rows, strides_bytes } => {
                let places = index.iter().zip(strides_bytes).map(|(&i, &stride)| i as isize * stride);
                let (outer, stride) = (places.sum::<isize>(), memory.stride_bytes(*axis));
                let bytes = to.into_bytes();
                for (i, to) in bytes.chunks_exact_mut(step.element.bytes()).enumerate() {
                    let row = rows.at(self.first_row + i as u64) as isize;
                    to.copy_from_slice(memory.at(outer + row * stride));
                }
            }
            Kind::Small(memory) => to.fill(element_of(memory, flat_of(index, &step.shape))),
            Kind::Full(value) => to.fill(*value),
            Kind::Source { .. } => unreachable!("rows of a file have a buffer"),
        }
        Ok(())
    }
}

/// The number of a vector by its index.
pub(crate) fn flat_of(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |flat, (&i, &size)| flat * size + i)
}

/// Distance of a vector in memory from the first one, in bytes.
fn distance(flat: usize, shape: &[usize], strides_bytes: &[isize]) -> isize {
    unravel(flat, shape).iter().zip(strides_bytes).map(|(&i, &stride)| i as isize * stride).sum()
}

/// An element of packed values, by its number.
fn element_of(memory: &InMemory, flat: usize) -> Scalar {
    let size = memory.element().bytes();
    Scalar::from_bytes(memory.element(), memory.at((flat * size) as isize))
}

/// Writes an operand to a vector.
pub(crate) fn assign(from: Argument<'_>, mut to: ValuesMut<'_>) {
    match from {
        Argument::Vector(values) => kernel::cast(values, to),
        Argument::Scalar(value) => to.fill(value),
    }
}

/// The first register, and the others.
pub(crate) fn register(registers: &mut [Register]) -> (&mut Register, &mut [Register]) {
    registers.split_first_mut().expect("as many registers as the plan says")
}
