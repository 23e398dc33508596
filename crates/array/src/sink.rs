//! Results of a pass: folds of all rows, whose shapes are in `operations/`, and arrays as a whole.
//!
//! *Order.* Every partition of rows has a partial result of its own, whose blocks are added in their order; partial
//! results are merged in the order of the partitions (`pass.rs`). Partitions do not depend on the number of workers or
//! the memory, so neither do the bits of a result.

use crate::array::Array;
use crate::block::{Block, Register, for_each_index, register};
use crate::kernel::{self, RowMajor, Values};
use crate::memory::{InMemory, count};
use crate::plan::{BLOCK_ROWS, Wanted};
use outcore_format::ElementType;
use outcore_format::dense::rows_per_page;
use outcore_image::{DenseWriteWorker, Result};
use outcore_io::{Budget, Buffer as Large, Spill, lock};
use std::any::Any;
use std::sync::{Arc, Mutex};

/// Results up to this size live on the heap and are not charged to the budget.
const SMALL_BYTES: usize = 4096;

/// A result of a pass.
pub(crate) struct Sink {
    /// The name in plans.
    pub name: String,
    pub kind: SinkKind,
    /// Its vectors: for the axes of the result, except for that of the pass, and then for the folded ones.
    pub wanted: Wanted,
    /// The vectors that it uses beside its own.
    pub others: Vec<Wanted>,
    /// Whether all vectors that it uses must lie in buffers, as they are needed at once.
    pub needs_buffers: bool,
    /// Number of the axes of its vectors that are axes of the result; the others are folded.
    pub outer_axes: usize,
    /// Number of rows of a partition from which on a partial result is worth its cost.
    pub least_rows: u64,
    /// The result.
    pub shape: Vec<u64>,
    pub element: ElementType,
    /// Whether it is written to an image. Also true if the pass is only explained.
    pub is_image: bool,
}

/// The kind of a result.
pub(crate) enum SinkKind {
    /// A fold of all rows. Without `waiting_bytes` a closed partial result has the memory of any other.
    Folded { partial_bytes: PartialBytes, waiting_bytes: Option<PartialBytes>, begin: Begin },
    /// All elements, of which those along this axis are the rows.
    Collect { axis: usize },
    /// All rows, into an image.
    Store(Box<Mutex<DenseWriteWorker>>),
    /// All rows, by columns into a temporary file.
    Spill(Spill),
}

/// Memory of a partial result of a partition with this number of rows.
type PartialBytes = Box<dyn Fn(&Sink, u64) -> u64 + Send + Sync>;
/// The partial result of no rows.
type Begin = Box<dyn Fn(&Sink) -> Box<dyn Partial> + Send + Sync>;

impl Sink {
    /// The sink of an array as a whole, of whose axes `axis` is that of the pass.
    pub fn collect(wanted: Wanted, axis: usize, shape: Vec<u64>) -> Self {
        Sink {
            name: "array".to_owned(),
            kind: SinkKind::Collect { axis },
            others: vec![],
            needs_buffers: false,
            outer_axes: wanted.sizes.len(),
            least_rows: 0,
            shape,
            element: wanted.element,
            wanted,
            is_image: false,
        }
    }

    /// The sink of a fold of the vectors `wanted`, of whose axes the first `outer_axes` are axes of the result. The
    /// functions give the memory of the partial result of a partition with some rows, and that of no rows.
    pub fn folded<P: Partial>(
        array: &Array,
        name: &str,
        (wanted, outer_axes): (Wanted, usize),
        partial_bytes: impl Fn(&Sink, u64) -> u64 + Send + Sync + 'static,
        begin: impl Fn(&Sink) -> P + Send + Sync + 'static,
    ) -> Self {
        let begin = Box::new(move |sink: &Sink| Box::new(begin(sink)) as Box<dyn Partial>);
        let kind = SinkKind::Folded { partial_bytes: Box::new(partial_bytes), waiting_bytes: None, begin };
        let (shape, element, name) = (array.shape().to_vec(), array.element(), name.to_owned());
        Sink { name, kind, outer_axes, element, ..Sink::collect(wanted, 0, shape) }
    }

    /// The sink with further vectors, which must all lie in buffers or not.
    pub fn with_others(self, others: Vec<Wanted>, needs_buffers: bool) -> Self {
        Sink { others, needs_buffers, ..self }
    }

    /// All vectors that it uses.
    pub fn wanted(&self) -> impl Iterator<Item = &Wanted> {
        std::iter::once(&self.wanted).chain(&self.others)
    }

    /// Number of vectors of the result.
    pub fn vectors(&self) -> usize {
        self.wanted.sizes[..self.outer_axes].iter().product()
    }

    /// Rows are processed in multiples of this number.
    pub fn unit_rows(&self) -> u64 {
        if self.is_image { rows_per_page(self.element) as u64 } else { BLOCK_ROWS as u64 }
    }

    /// Bytes that a row of the pass adds to the result; 0 if the result has no row for each row of the pass.
    pub fn row_bytes(&self) -> u64 {
        match self.kind {
            SinkKind::Folded { .. } => 0,
            _ => (self.vectors() * self.element.bytes()) as u64,
        }
    }

    /// Memory of a partial result of a partition with this number of rows.
    pub fn partial_bytes(&self, partition_rows: u64) -> u64 {
        match &self.kind {
            SinkKind::Folded { partial_bytes, .. } => partial_bytes(self, partition_rows),
            _ => partition_rows * self.row_bytes(),
        }
    }

    /// The sink of a fold whose partial results give memory back when they are closed.
    pub fn with_waiting_bytes(mut self, bytes: impl Fn(&Sink, u64) -> u64 + Send + Sync + 'static) -> Self {
        if let SinkKind::Folded { waiting_bytes, .. } = &mut self.kind {
            *waiting_bytes = Some(Box::new(bytes));
        }
        self
    }

    /// Memory of a partial result of a partition with this number of rows while it waits to be merged.
    pub fn waiting_bytes(&self, partition_rows: u64) -> u64 {
        match &self.kind {
            SinkKind::Folded { waiting_bytes: Some(bytes), .. } => bytes(self, partition_rows),
            _ => self.partial_bytes(partition_rows),
        }
    }

    /// Memory of the merged partial results, beside the result.
    pub fn total_bytes(&self, partition_rows: u64) -> u64 {
        match &self.kind {
            SinkKind::Folded { .. } => self.partial_bytes(partition_rows),
            // Rows go to their places at once.
            _ => 0,
        }
    }

    /// The merged partial results, from the first partition on.
    ///
    /// # Errors
    /// No memory for an array as a whole.
    pub fn begin_total(&self, budget: &Budget) -> Result<Box<dyn Partial>> {
        match self.kind {
            SinkKind::Collect { .. } => {
                let whole = Some(Room::new(budget, self.element, &self.shape)?);
                Ok(Box::new(Collected { blocks: vec![], whole }))
            }
            _ => Ok(self.begin()),
        }
    }

    /// The partial result of no rows.
    pub fn begin(&self) -> Box<dyn Partial> {
        match &self.kind {
            SinkKind::Folded { begin, .. } => begin(self),
            _ => Box::new(Collected::default()),
        }
    }
}

/// A partial result.
pub(crate) trait Partial: Any + Send {
    /// Adds a block.
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()>;

    /// Makes it ready to be merged, once all blocks of its partition were added.
    fn close(&mut self) -> Result<()> {
        Ok(())
    }

    /// Adds the partial result of the next partition.
    fn merge(&mut self, sink: &Sink, next: Box<dyn Partial>) -> Result<()>;

    /// Computes the result from all rows.
    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<InMemory>;
}

/// The next partial result, which is one of the same kind.
pub(crate) fn same<T: Partial>(next: Box<dyn Partial>) -> T {
    let next: Box<dyn Any> = next;
    *next.downcast().expect("partial results of one sink are of one kind")
}

/// Memory for a result, all zeros.
pub(crate) enum Room {
    Small(Vec<u64>, usize),
    Large(Large<u8>),
}

impl Room {
    pub fn new(budget: &Budget, element: ElementType, shape: &[u64]) -> Result<Self> {
        let len = count(shape).map_or(usize::MAX, |count| count * element.bytes());
        // Words, for the elements must be aligned.
        Ok(match len <= SMALL_BYTES {
            true => Room::Small(vec![0; len.div_ceil(8)], len),
            false => Room::Large(Large::zeroed(budget, "a result", len)?),
        })
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Room::Small(words, len) => &mut bytemuck::cast_slice_mut(words)[..*len],
            Room::Large(bytes) => bytes,
        }
    }

    pub fn into_memory(self, element: ElementType, shape: &[u64]) -> InMemory {
        match self {
            Room::Small(words, _) => InMemory::new(Arc::new(words), element, shape.to_vec()),
            Room::Large(bytes) => InMemory::new(Arc::new(bytes), element, shape.to_vec()),
        }
    }
}

/// An array of values that are written at once.
pub(crate) fn result(
    budget: &Budget,
    element: ElementType,
    shape: &[u64],
    write: impl FnOnce(&mut [u8]),
) -> Result<InMemory> {
    let mut room = Room::new(budget, element, shape)?;
    write(room.bytes_mut());
    Ok(room.into_memory(element, shape))
}

/// Visits the vectors of a sink: the number of the result's element, and the vector.
pub(crate) fn for_each_vector(
    sink: &Sink,
    block: &Block<'_>,
    registers: &mut [Register],
    mut visit: impl FnMut(usize, Values<'_>),
) -> Result<()> {
    let sizes = &sink.wanted.sizes;
    let folded: usize = sizes[sink.outer_axes..].iter().product();
    let mut number = 0;
    for_each_index(sizes, |index| {
        let (slot, rest) = register(registers);
        visit(number / folded, block.fetch_vector(&sink.wanted.view, index, slot, rest)?);
        number += 1;
        Ok(())
    })
}

/// A block of vectors: its first row, its rows, and its vectors one behind the other, in words.
type CollectedBlock = (u64, usize, Vec<u64>);

/// All vectors of a partition, which are merged into an array as a whole, an image or a temporary file.
#[derive(Default)]
struct Collected {
    blocks: Vec<CollectedBlock>,
    /// The array, if it is the total of one.
    whole: Option<Room>,
}

impl Partial for Collected {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()> {
        let len = block.rows * sink.element.bytes();
        let mut words = vec![0u64; (sink.vectors() * len).div_ceil(8)];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        for_each_vector(sink, block, registers, |number, vector| {
            bytes[number * len..][..len].copy_from_slice(vector.bytes());
        })?;
        self.blocks.push((block.first_row, block.rows, words));
        Ok(())
    }

    fn merge(&mut self, sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let blocks = same::<Collected>(next).blocks;
        let (size, page_rows) = (sink.element.bytes(), rows_per_page(sink.element) as u64);
        let mut run = Vec::new();
        let mut for_each_run = |group: &[CollectedBlock], put: &mut dyn FnMut(u64, &[u8]) -> Result<()>| {
            (0..sink.vectors()).try_for_each(|vector| {
                run.clear();
                for (_, rows, words) in group {
                    let bytes: &[u8] = bytemuck::cast_slice(words);
                    run.extend_from_slice(&bytes[vector * rows * size..][..rows * size]);
                }
                put(vector as u64, &run)
            })
        };
        match (&sink.kind, &mut self.whole) {
            (&SinkKind::Collect { axis }, Some(whole)) => copy_blocks(sink, axis, &blocks, whole.bytes_mut()),
            (SinkKind::Store(worker), _) => {
                let mut worker = lock(worker);
                // Blocks end where pages do.
                let mut pages = blocks.chunk_by(|(before, ..), (first, ..)| before / page_rows == first / page_rows);
                pages.try_for_each(|page| for_each_run(page, &mut |vector, run| worker.put(page[0].0, vector, run)))?;
            }
            (SinkKind::Spill(spill), _) => for_each_run(&blocks, &mut |vector, run| {
                spill.write(run, (vector * sink.shape[0] + blocks[0].0) * size as u64)
            })?,
            _ => unreachable!("an array, an image or a temporary file"),
        }
        Ok(())
    }

    fn finish(self: Box<Self>, sink: &Sink, _budget: &Budget) -> Result<InMemory> {
        Ok(self.whole.expect("images and files have no value").into_memory(sink.element, &sink.shape))
    }
}

/// Copies the vectors of blocks to an array whose axis `axis` is that of the rows.
fn copy_blocks(sink: &Sink, axis: usize, blocks: &[CollectedBlock], to: &mut [u8]) {
    let size = sink.element.bytes();
    // Vectors are numbered by the axes before and behind the one of the rows.
    let behind: usize = sink.shape[axis + 1..].iter().map(|&size| size as usize).product();
    let along = sink.shape[axis] as usize;
    for (first, rows, words) in blocks {
        let bytes = &bytemuck::cast_slice::<u64, u8>(words)[..sink.vectors() * rows * size];
        let shape = RowMajor::native(*rows, behind, behind * size);
        // Vectors of one part of the axes before are rows of adjacent elements.
        for (before, vectors) in bytes.chunks_exact((behind * rows * size).max(1)).enumerate() {
            let start = (before * along + *first as usize) * behind * size;
            kernel::transpose_back(Values::from_bytes(sink.element, vectors), *rows, shape, &mut to[start..]);
        }
    }
}
