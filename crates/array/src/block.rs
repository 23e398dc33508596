//! A block of rows: the vectors of a plan's steps, computed on demand.
//!
//! *Order.* Buffered steps are computed in the order of the plan, which is that of their operands; all other steps when
//! a consumer needs a vector, into a register. A vector is at most 4 KiB, so a chain of functions of elements runs in
//! the first-level cache, for any number of columns.

use crate::kernel::{self, Binary, Fold, Operand, RowMajor, Scalar, Unary, Values, ValuesMut};
use crate::memory::Memory;
use crate::plan::{BLOCK_ROWS, Kind, Plan, Rows, Step, View, strides};
use crate::source::Landed;
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Memory for a vector.
#[derive(Clone)]
pub(crate) struct Register(Box<[u64; BLOCK_ROWS]>);

impl Register {
    pub fn new() -> Self {
        Register(Box::new([0; BLOCK_ROWS]))
    }

    fn values_mut(&mut self, element: ElementType, rows: usize) -> ValuesMut<'_> {
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
    width: usize,
}

impl Buffer {
    /// Size of the vectors of a step in bytes.
    pub fn len_bytes(step: &Step, width: usize) -> usize {
        (step.vectors() * Buffer::width(step, width) * step.element.bytes()).next_multiple_of(8)
    }

    /// A step that has few rows of the pass has no more of them in a block.
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

    fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words)
    }

    fn values(&self, element: ElementType, vector: usize, rows: usize) -> Values<'_> {
        let start = vector * self.width * element.bytes();
        Values::from_bytes(element, &self.bytes()[start..start + rows * element.bytes()])
    }

    fn values_mut(&mut self, element: ElementType, vector: usize, rows: usize) -> ValuesMut<'_> {
        let start = vector * self.width * element.bytes();
        ValuesMut::from_bytes(element, &mut self.bytes_mut()[start..start + rows * element.bytes()])
    }
}

/// A worker's memory for blocks.
pub(crate) struct BlockMemory {
    buffers: Vec<Buffer>,
    registers: Vec<Register>,
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

    /// The registers, on loan while a block is borrowed.
    pub fn take_registers(&mut self) -> Vec<Register> {
        std::mem::take(&mut self.registers)
    }

    pub fn give_registers(&mut self, registers: Vec<Register>) {
        self.registers = registers;
    }
}

/// Adds a function of two operands to sums.
type Adder = fn(Operand<'_>, Operand<'_>, ValuesMut<'_>);
/// Such a function, the step that it stands for, and its operands.
type Pair<'a> = (Adder, &'a Step, &'a View, &'a View);

/// Rows of a pass, with the bytes that were read for them.
pub(crate) struct Block<'a> {
    pub plan: &'a Plan,
    pub landed: &'a [Box<dyn Landed + 'a>],
    pub memory: &'a mut BlockMemory,
    pub first_row: u64,
    pub rows: usize,
}

/// All indices below some sizes, in order.
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

fn unravel(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (place, &size) in index.iter_mut().zip(shape).rev() {
        *place = flat % size;
        flat /= size;
    }
    index
}

impl Block<'_> {
    /// Computes all steps that have buffers.
    pub fn fill(&mut self) -> Result<()> {
        let mut registers = self.memory.take_registers();
        let outcome = (0..self.plan.steps.len()).try_for_each(|place| {
            let step = &self.plan.steps[place];
            if !step.is_buffered || !step.active.contains(&self.first_row) || self.lies_in_place(step) {
                return Ok(());
            }
            let mut buffer = std::mem::take(&mut self.memory.buffers[place]);
            let outcome = self.fill_buffer(step, &mut buffer, &mut registers);
            self.memory.buffers[place] = buffer;
            outcome
        });
        self.memory.give_registers(registers);
        outcome
    }

    /// The rows of a source or an array in memory that this block covers, if they are adjacent.
    fn adjacent(&self, rows: Rows) -> Option<std::ops::Range<u64>> {
        let first = rows.at(self.first_row);
        (rows.step == 1 || self.rows == 1).then(|| first..first + self.rows as u64)
    }

    /// Whether the vectors lie where they were read to, or in an array of the caller's.
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
                    let shape = RowMajor {
                        rows,
                        columns: step.vectors(),
                        row_stride_bytes: row_bytes as usize,
                        is_big_endian: cfg!(target_endian = "big"),
                    };
                    kernel::transpose(from, shape, ValuesMut::from_bytes(element, buffer.bytes_mut()), width);
                    return Ok(());
                }
                self.by_vector(step, buffer, registers)
            }
            Kind::MatMul { left, inner, right } => {
                let (vectors, shape) = (self.vectors(left, *inner), (rows, step.vectors()));
                crate::product::tall_by_small(element, &vectors, right, shape, buffer.bytes_mut(), width);
                Ok(())
            }
            Kind::Distances { input, width, points } => {
                let vectors = self.vectors(input, *width);
                match element {
                    ElementType::Float32 => distances::<f32>(&vectors, points, buffer),
                    _ => distances::<f64>(&vectors, points, buffer),
                }
                Ok(())
            }
            Kind::Cumulative { fold, input, axis } => {
                let before: usize = step.shape[*axis + 1..].iter().product();
                let mut flat = 0;
                for_each_index(&step.shape, |index| {
                    let (slot, rest) = registers.split_first_mut().expect("a register");
                    let value = self.fetch_vector(input, index, slot, rest)?;
                    if index[*axis] == 0 {
                        kernel::cast(value, buffer.values_mut(element, flat, rows));
                    } else {
                        buffer.copy_vector(element, flat - before, flat, rows);
                        kernel::accumulate(*fold, value, buffer.values_mut(element, flat, rows));
                    }
                    flat += 1;
                    Ok(())
                })
            }
            _ => self.by_vector(step, buffer, registers),
        }
    }

    /// Computes one vector after the other.
    fn by_vector(&self, step: &Step, buffer: &mut Buffer, registers: &mut [Register]) -> Result<()> {
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

    /// A vector that is there already.
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
        step.is_buffered.then(|| self.memory.buffers[place].values(element, flat, self.rows))
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
            Operand::Vector(values) => Ok(values),
            Operand::Scalar(_) => unreachable!("a value that is the same for all rows"),
        }
    }

    /// The vector that a view leads to: where it lies, or computed into a register.
    pub fn fetch<'s>(
        &'s self,
        view: &View,
        index: &[usize],
        slot: &'s mut Register,
        rest: &mut [Register],
    ) -> Result<Operand<'s>> {
        if let Some(value) = self.constant(view, index) {
            return Ok(Operand::Scalar(value));
        }
        let (step, flat) = (&self.plan.steps[view.step], view.at(index));
        if let Some(values) = self.stored(view.step, flat) {
            return Ok(Operand::Vector(values));
        }
        let own = unravel(flat, &step.shape);
        self.compute(step, &own, slot.values_mut(step.element, self.rows), rest)?;
        Ok(Operand::Vector(slot.values(step.element, self.rows)))
    }

    /// Computes a vector of a step.
    fn compute(&self, step: &Step, index: &[usize], mut to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let (slot, rest) = registers.split_first_mut().expect("as many registers as the plan says");
        match &step.kind {
            Kind::Cast(view) => match self.fetch(view, index, slot, rest)? {
                Operand::Vector(values) => kernel::cast(values, to),
                Operand::Scalar(value) => to.fill(value.cast(step.element)),
            },
            Kind::Copy(view) => assign(self.fetch(view, index, slot, rest)?, to),
            Kind::Unary(function, view) => {
                kernel::unary(*function, self.fetch_vector(view, index, slot, rest)?, to);
            }
            Kind::Check(check, view) => {
                check.vector(self.fetch_vector(view, index, slot, rest)?, to, self.first_row)?;
            }
            Kind::Binary(function, left, right) => {
                let left = self.fetch(left, index, slot, rest)?;
                let (slot, rest) = rest.split_first_mut().expect("as many registers as the plan says");
                kernel::binary(*function, left, self.fetch(right, index, slot, rest)?, to);
            }
            Kind::Select(condition, left, right) => {
                let condition = self.fetch(condition, index, slot, rest)?;
                let (slot, rest) = rest.split_first_mut().expect("as many registers as the plan says");
                let left = self.fetch(left, index, slot, rest)?;
                let (slot, rest) = rest.split_first_mut().expect("as many registers as the plan says");
                kernel::select(condition, left, self.fetch(right, index, slot, rest)?, to);
            }
            Kind::Fold { .. } | Kind::Arg { .. } | Kind::SquaredDeviations { .. } => {
                self.fold(step, index, to, registers)?;
            }
            Kind::User(function, views) => self.user(function.as_ref(), views, index, to, registers)?,
            Kind::Gather { table, index: of, index_axes } => {
                let values = self.fetch(of, &index[..*index_axes], slot, rest)?;
                gather(table, values, &index[*index_axes..], to)?;
            }
            Kind::Join { inputs, axis } => {
                let (mut place, mut own) = (index[*axis], index.to_vec());
                for (view, size) in inputs {
                    if place < *size {
                        own[*axis] = place;
                        assign(self.fetch(view, &own, slot, rest)?, to);
                        break;
                    }
                    place -= size;
                }
            }
            Kind::Append(parts) => {
                let part = parts.iter().find(|(_, rows)| rows.contains(&self.first_row));
                let (view, _) = part.expect("every row is in a part");
                assign(self.fetch(view, index, slot, rest)?, to);
            }
            _ => self.generate(step, index, to),
        }
        Ok(())
    }

    /// Makes a vector that is computed of nothing, or lies in memory otherwise.
    fn generate(&self, step: &Step, index: &[usize], mut to: ValuesMut<'_>) {
        match &step.kind {
            Kind::Memory { memory, axis, rows, strides_bytes } => {
                let places = index.iter().zip(strides_bytes).map(|(&i, &stride)| i as isize * stride);
                let (outer, stride) = (places.sum::<isize>(), memory.stride_bytes(*axis));
                let (first, size) = (self.first_row, step.element.bytes());
                let bytes = to.into_bytes();
                for (i, to) in bytes.chunks_exact_mut(size).enumerate() {
                    to.copy_from_slice(memory.at(outer + rows.at(first + i as u64) as isize * stride));
                }
            }
            Kind::Range { start, step: by, is_along, rows } => {
                if *is_along {
                    kernel::set_each(to, |i| start.plus_times(rows.at(self.first_row + i as u64), *by));
                } else {
                    to.fill(start.plus_times(index[0] as u64, *by));
                }
            }
            Kind::Eye { diagonal, axis, rows } => kernel::set_each(to, |i| {
                let along = rows.at(self.first_row + i as u64) as i64;
                let (row, column) = match axis {
                    Some(0) => (along, index[0] as i64),
                    Some(_) => (index[0] as i64, along),
                    None => (index[0] as i64, index[1] as i64),
                };
                Scalar::Bool(u8::from(column == row + diagonal)).cast(step.element)
            }),
            Kind::Random { random, axis, rows, shape } => {
                self.random(*random, *axis, *rows, shape, index, to);
            }
            Kind::Small(memory) => to.fill(element_of(memory, flat_of(index, &step.shape))),
            Kind::Full(value) => to.fill(*value),
            _ => unreachable!("{} has a buffer", step.name),
        }
    }

    /// The operands of a sum of products, or of squared or absolute differences, which are added up in one sweep each
    /// if no other step uses the intermediate vectors.
    fn pair(&self, fold: Fold, input: &View) -> Option<Pair<'_>> {
        let fused = |view: &View| {
            let step = &self.plan.steps[view.step];
            (!step.is_buffered && step.element.is_real()).then_some(step)
        };
        let step = fused(input).filter(|_| fold == Fold::Sum)?;
        let of_difference = |view: &View, add: Adder| match &fused(view)?.kind {
            // The two steps have the same vectors under the same indices, which a reshape would change.
            Kind::Binary(Binary::Subtract, left, right)
                if view.offset == 0
                    && *view.strides == strides(&step.shape)
                    && self.plan.steps[view.step].shape == step.shape =>
            {
                Some((add, left, right))
            }
            _ => None,
        };
        let (add, left, right) = match &step.kind {
            Kind::Binary(Binary::Multiply, left, right) => Some((kernel::accumulate_product as Adder, left, right)),
            Kind::Unary(Unary::Square, view) => of_difference(view, kernel::accumulate_squared_difference),
            Kind::Unary(Unary::Abs, view) => of_difference(view, kernel::accumulate_absolute_difference),
            _ => None,
        }?;
        Some((add, step, left, right))
    }

    /// Vectors folded into one.
    fn fold(&self, step: &Step, index: &[usize], mut to: ValuesMut<'_>, registers: &mut [Register]) -> Result<()> {
        let (slot, rest) = registers.split_first_mut().expect("as many registers as the plan says");
        let (mut own, kept, rows) = (index.to_vec(), index.len(), self.rows);
        match &step.kind {
            Kind::Fold { fold, input, over } => {
                to.fill(kernel::identity(*fold, step.element));
                let pair = self.pair(*fold, input);
                for_each_index(over, |folded| {
                    own.truncate(kept);
                    own.extend(folded);
                    match pair {
                        None => {
                            kernel::accumulate(*fold, self.fetch_vector(input, &own, slot, rest)?, to.reborrow());
                        }
                        Some((add, step, left, right)) => {
                            let own = unravel(input.at(&own), &step.shape);
                            let left = self.fetch(left, &own, slot, rest)?;
                            let (slot, rest) = rest.split_first_mut().expect("as many registers as the plan says");
                            add(left, self.fetch(right, &own, slot, rest)?, to.reborrow());
                        }
                    }
                    Ok(())
                })
            }
            Kind::Arg { is_max, input, over } => {
                let element = self.plan.steps[input.step].element;
                let ValuesMut::Int64(places) = to else { unreachable!("places are int64") };
                let (best, rest) = rest.split_first_mut().expect("as many registers as the plan says");
                for folded in 0..*over {
                    own.truncate(kept);
                    own.push(folded);
                    let value = self.fetch_vector(input, &own, slot, rest)?;
                    if folded == 0 {
                        kernel::cast(value, best.values_mut(element, rows));
                        places.fill(0);
                    } else {
                        let best = best.values_mut(element, rows);
                        kernel::arg_accumulate(*is_max, folded as i64, value, best, places);
                    }
                }
                Ok(())
            }
            Kind::SquaredDeviations { input, over } => self.squared_deviations(input, over, index, to, registers),
            _ => unreachable!("a fold"),
        }
    }

    fn squared_deviations(
        &self,
        input: &View,
        over: &[usize],
        index: &[usize],
        to: ValuesMut<'_>,
        registers: &mut [Register],
    ) -> Result<()> {
        let (slot, rest) = registers.split_first_mut().expect("as many registers as the plan says");
        let ValuesMut::Float64(sums) = to else { unreachable!("squared deviations are float64") };
        let (mut own, rows) = (index.to_vec(), self.rows);
        let (mut means, mut wide) = (vec![0.0; rows], vec![0.0; rows]);
        let count: usize = over.iter().product();
        for is_second in [false, true] {
            if is_second {
                means.iter_mut().for_each(|mean| *mean /= count as f64);
                sums.fill(0.0);
            }
            for_each_index(over, |folded| {
                own.truncate(index.len());
                own.extend(folded);
                kernel::cast(self.fetch_vector(input, &own, slot, rest)?, ValuesMut::Float64(&mut wide));
                let pairs = wide.iter().zip(&mut means);
                match is_second {
                    false => pairs.for_each(|(value, mean)| *mean += value),
                    true => sums.iter_mut().zip(pairs).for_each(|(sum, (value, mean))| {
                        let distance = value - *mean;
                        *sum += distance * distance;
                    }),
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn user(
        &self,
        function: &dyn crate::array::ElementFunction,
        views: &[View],
        index: &[usize],
        to: ValuesMut<'_>,
        registers: &mut [Register],
    ) -> Result<()> {
        // Every operand has a register of its own.
        let (mut operands, mut rest) = (Vec::with_capacity(views.len()), registers);
        for view in views {
            let (slot, more) = rest.split_first_mut().expect("as many registers as the plan says");
            operands.push(self.fetch_vector(view, index, slot, more)?);
            rest = more;
        }
        caught(function.name(), || function.call(&operands, to))
    }

    /// Random elements are numbered along the first axis first.
    fn random(
        &self,
        random: crate::random::Random,
        axis: Option<usize>,
        rows: Rows,
        shape: &[u64],
        index: &[usize],
        mut to: ValuesMut<'_>,
    ) {
        let number = |along: u64| {
            let (mut number, mut size, mut own) = (0u64, 1u64, index.iter());
            for (place, &axis_size) in shape.iter().enumerate() {
                let i = if Some(place) == axis { along } else { own.next().map_or(0, |&i| i as u64) };
                number = number.wrapping_add(i.wrapping_mul(size));
                size = size.wrapping_mul(axis_size);
            }
            number
        };
        if axis == Some(0) && rows.step == 1 {
            return random.fill(number(rows.at(self.first_row)), to);
        }
        for i in 0..to.len() {
            random.fill(number(rows.at(self.first_row + i as u64)), to.reborrow().slice(i, 1));
        }
    }
}

/// Calls a function of the user's. If it panics, that is an error with its name.
pub(crate) fn caught(name: &str, call: impl FnOnce() -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        Err(Error::Usage(format!("expected {name} to return, found that it panicked: {text}")))
    })
}

impl Buffer {
    fn copy_vector(&mut self, element: ElementType, from: usize, to: usize, rows: usize) {
        let (width, bytes) = (self.width * element.bytes(), rows * element.bytes());
        self.bytes_mut().copy_within(from * width..from * width + bytes, to * width);
    }
}

fn distances<T: kernel::Real>(vectors: &[Values<'_>], points: &Memory, to: &mut Buffer) {
    let columns: Vec<&[T]> = vectors.iter().map(|&values| T::slice(values)).collect();
    let width = to.width;
    kernel::squared_distances(&columns, points.slice(), bytemuck::cast_slice_mut(to.bytes_mut()), width);
}

fn flat_of(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |flat, (&i, &size)| flat * size + i)
}

/// Offset in bytes of a vector from the first one.
fn distance(flat: usize, shape: &[usize], strides_bytes: &[isize]) -> isize {
    unravel(flat, shape).iter().zip(strides_bytes).map(|(&i, &stride)| i as isize * stride).sum()
}

/// An element of packed values, by its number.
fn element_of(memory: &Memory, flat: usize) -> Scalar {
    let size = memory.element().bytes();
    Scalar::from_bytes(memory.element(), memory.at((flat * size) as isize))
}

fn assign(from: Operand<'_>, mut to: ValuesMut<'_>) {
    match from {
        Operand::Vector(values) => kernel::cast(values, to),
        Operand::Scalar(value) => to.fill(value),
    }
}

/// Elements of a column of a table, in the rows that indices pick.
fn gather(table: &Memory, index: Operand<'_>, column: &[usize], to: ValuesMut<'_>) -> Result<()> {
    let rows = table.shape()[0];
    let sizes: Vec<usize> = table.shape()[1..].iter().map(|&size| size as usize).collect();
    let (width, column) = (sizes.iter().product::<usize>(), flat_of(column, &sizes));
    let size = table.element().bytes();
    let pick = |place: i64| match place >= 0 && (place as u64) < rows {
        true => Ok(table.at(((place as usize * width + column) * size) as isize)),
        false => Err(Error::Index(format!("expected an index below {rows} of axis 0, found {place}"))),
    };
    let bytes = to.into_bytes();
    match index {
        Operand::Scalar(Scalar::Int64(place)) => {
            let picked = pick(place)?;
            bytes.chunks_exact_mut(size).for_each(|to| to.copy_from_slice(picked));
        }
        Operand::Vector(Values::Int64(places)) => {
            for (&place, to) in places.iter().zip(bytes.chunks_exact_mut(size)) {
                to.copy_from_slice(pick(place)?);
            }
        }
        _ => unreachable!("indices are int64"),
    }
    Ok(())
}
