//! Results of a pass: sums, extremes, products, groups, and arrays as a whole.
//!
//! *Order.* Every partition of rows has a partial result of its own, whose blocks are added in their order; partial
//! results are merged in the order of the partitions (`pass.rs`). Partitions do not depend on the number of workers or
//! the memory, so neither do the bits of a result.

use crate::block::{Block, Register, for_each_index};
use crate::kernel::{self, Fold, Moments, RowMajor, Scalar, Values, ValuesMut};
use crate::memory::{Memory, count};
use crate::plan::{BLOCK_ROWS, Wanted};
use crate::product::{Real, add_transposed_product, packed};
use crate::row_fold::{AnyRowFold, RowBlock};
use outcore_format::ElementType;
use outcore_format::dense::rows_per_page;
use outcore_image::{DenseWriteWorker, Result};
use outcore_io::{Array as Large, Budget, Spill, lock};
use std::sync::{Arc, Mutex};

/// Results up to this size live on the heap and are not charged to the budget.
const SMALL_BYTES: usize = 4096;

/// A result of a pass.
pub(crate) struct Sink {
    pub kind: SinkKind,
    /// Its vectors: for the axes of the result, except for that of the pass, and then for the folded ones.
    pub wanted: Wanted,
    /// Number of axes of the result.
    pub kept: usize,
    /// The result.
    pub shape: Vec<u64>,
    pub element: ElementType,
    /// Whether it is written to an image. Also true if the pass is only explained.
    pub is_image: bool,
}

/// The kind of a result.
pub(crate) enum SinkKind {
    Fold(Fold),
    Arg {
        is_max: bool,
    },
    SquaredDeviations,
    /// The transpose of the vectors times others.
    Product(Wanted),
    Group {
        fold: Fold,
        labels: Wanted,
        groups: usize,
    },
    /// Rows of several operands, folded by a user's function.
    Rows {
        fold: Arc<dyn AnyRowFold>,
        others: Vec<Wanted>,
    },
    /// All elements, of which those along this axis are the rows.
    Collect {
        axis: usize,
    },
    /// All rows, into an image.
    Store(Box<Mutex<DenseWriteWorker>>),
    /// All rows, by columns into a temporary file.
    Spill(Spill),
}

impl SinkKind {
    /// The name in plans.
    pub fn name(&self) -> &'static str {
        match self {
            SinkKind::Fold(fold) => fold.name(),
            SinkKind::Arg { is_max: true } => "argmax",
            SinkKind::Arg { is_max: false } => "argmin",
            SinkKind::SquaredDeviations => "squared deviations",
            SinkKind::Product(_) => "product",
            SinkKind::Group { .. } => "groups",
            SinkKind::Rows { .. } => "fold of rows",
            SinkKind::Collect { .. } => "array",
            SinkKind::Store(_) => "image",
            SinkKind::Spill(_) => "temporary file",
        }
    }
}

impl Sink {
    /// All views that it uses.
    pub fn wanted(&self) -> Vec<&Wanted> {
        match &self.kind {
            SinkKind::Product(other) | SinkKind::Group { labels: other, .. } => vec![&self.wanted, other],
            SinkKind::Rows { others, .. } => std::iter::once(&self.wanted).chain(others).collect(),
            _ => vec![&self.wanted],
        }
    }

    fn vectors(&self) -> usize {
        self.wanted.sizes[..self.kept].iter().product()
    }

    /// Rows are processed in multiples of this number.
    pub fn unit_rows(&self) -> u64 {
        if self.is_image { rows_per_page(self.element) as u64 } else { BLOCK_ROWS as u64 }
    }

    /// Bytes that a row of the pass adds to the result; 0 if the result has no row for each row of the pass.
    pub fn row_bytes(&self) -> u64 {
        match self.kind {
            SinkKind::Collect { .. } | SinkKind::Store(_) | SinkKind::Spill(_) => {
                self.vectors() as u64 * self.element.bytes() as u64
            }
            _ => 0,
        }
    }

    /// Memory of a partial result of a partition with this number of rows.
    pub fn partial_bytes(&self, partition_rows: u64) -> u64 {
        let (vectors, size) = (self.vectors() as u64, self.element.bytes() as u64);
        match &self.kind {
            SinkKind::Fold(_) | SinkKind::Arg { .. } => 16 * vectors,
            SinkKind::SquaredDeviations => 24 * vectors,
            SinkKind::Product(_) => 8 * self.shape.iter().product::<u64>(),
            SinkKind::Group { groups, .. } => *groups as u64 * vectors * size,
            SinkKind::Rows { fold, .. } => fold.state_bytes(partition_rows),
            SinkKind::Collect { .. } | SinkKind::Store(_) | SinkKind::Spill(_) => partition_rows * self.row_bytes(),
        }
    }

    /// The merged partial results, from the first partition on.
    ///
    /// # Errors
    /// No memory for an array as a whole.
    pub fn begin_total(&self, budget: &Budget) -> Result<Box<dyn Partial>> {
        match self.kind {
            SinkKind::Collect { .. } => Ok(Box::new(Whole { room: Room::new(budget, self.element, &self.shape)? })),
            _ => Ok(self.begin()),
        }
    }

    /// The beginning of a partial result.
    pub fn begin(&self) -> Box<dyn Partial> {
        let vectors = self.vectors();
        match &self.kind {
            SinkKind::Fold(fold) => Box::new(Folded::new(*fold, self.element, vectors)),
            SinkKind::Arg { is_max } => Box::new(Best {
                is_max: *is_max,
                element: self.wanted.element,
                best: vec![0; vectors],
                places: vec![-1; vectors],
            }),
            SinkKind::SquaredDeviations => Box::new(Spread { moments: vec![Moments::default(); vectors] }),
            SinkKind::Product(right) => {
                let (p, q) = (self.wanted.sizes[0], right.sizes[0]);
                match self.element {
                    ElementType::Float32 => Box::new(Product::<f32>::new(p, q)),
                    _ => Box::new(Product::<f64>::new(p, q)),
                }
            }
            SinkKind::Group { fold, groups, .. } => Box::new(Groups::new(*fold, self.element, vectors, *groups)),
            SinkKind::Rows { fold, .. } => Box::new(FoldedRows { state: fold.begin() }),
            SinkKind::Collect { .. } => Box::new(Collected::default()),
            SinkKind::Store(_) | SinkKind::Spill(_) => Box::new(Stored::default()),
        }
    }
}

/// A partial result.
pub(crate) trait Partial: Send {
    /// Adds a block.
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()>;

    /// Makes it ready to be merged, once all blocks of its partition were added.
    fn close(&mut self, _sink: &Sink) -> Result<()> {
        Ok(())
    }

    /// Adds the partial result of the next partition.
    fn merge(&mut self, sink: &Sink, next: Box<dyn Partial>) -> Result<()>;

    /// The partial result of a type that is known.
    fn as_any(self: Box<Self>) -> Box<dyn std::any::Any>;

    /// The result.
    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<Memory>;
}

/// The next partial result, which is one of the same kind.
fn same<T: 'static>(next: Box<dyn Partial>) -> T {
    *next.as_any().downcast().expect("partial results of one sink are of one kind")
}

/// Memory for a result, all zeros.
enum Room {
    Small(Vec<u64>, usize),
    Large(Large<u8>),
}

impl Room {
    fn new(budget: &Budget, element: ElementType, shape: &[u64]) -> Result<Self> {
        let len = count(shape).map_or(usize::MAX, |count| count * element.bytes());
        // Words, for the elements must be aligned.
        Ok(match len <= SMALL_BYTES {
            true => Room::Small(vec![0; len.div_ceil(8)], len),
            false => Room::Large(Large::zeroed(budget, "a result", len)?),
        })
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Room::Small(words, len) => &mut bytemuck::cast_slice_mut(words)[..*len],
            Room::Large(bytes) => bytes,
        }
    }

    fn into_memory(self, element: ElementType, shape: &[u64]) -> Memory {
        match self {
            Room::Small(words, _) => Memory::new(Arc::new(words), element, shape.to_vec()),
            Room::Large(bytes) => Memory::new(Arc::new(bytes), element, shape.to_vec()),
        }
    }
}

/// An array of values that are written at once.
fn result(budget: &Budget, element: ElementType, shape: &[u64], write: impl FnOnce(&mut [u8])) -> Result<Memory> {
    let mut room = Room::new(budget, element, shape)?;
    write(room.bytes_mut());
    Ok(room.into_memory(element, shape))
}

/// Visits the vectors of a sink: the number of the result's element, and the vector.
fn for_each_vector(
    sink: &Sink,
    block: &Block<'_>,
    registers: &mut [Register],
    mut visit: impl FnMut(usize, Values<'_>),
) -> Result<()> {
    let sizes = &sink.wanted.sizes;
    let folded: usize = sizes[sink.kept..].iter().product();
    let mut number = 0;
    for_each_index(sizes, |index| {
        let (slot, rest) = registers.split_first_mut().expect("a register");
        visit(number / folded, block.fetch_vector(&sink.wanted.view, index, slot, rest)?);
        number += 1;
        Ok(())
    })
}

struct Folded {
    fold: Fold,
    values: Vec<Scalar>,
}

impl Folded {
    /// Sums of float32 are added in float64.
    fn new(fold: Fold, element: ElementType, count: usize) -> Self {
        let is_wide = element == ElementType::Float32 && matches!(fold, Fold::Sum | Fold::Product);
        let element = if is_wide { ElementType::Float64 } else { element };
        Folded { fold, values: vec![kernel::identity(fold, element); count] }
    }
}

/// Two values folded into one.
fn combined(fold: Fold, left: Scalar, right: Scalar) -> Scalar {
    let mut word = [0u64; 1];
    let bytes: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut word)[..right.element().bytes()];
    ValuesMut::from_bytes(right.element(), bytes).fill(right);
    kernel::reduce(fold, Values::from_bytes(right.element(), bytes), left)
}

impl Partial for Folded {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()> {
        for_each_vector(sink, block, registers, |number, vector| {
            let value = &mut self.values[number];
            *value = if vector.element() == value.element() {
                kernel::reduce(self.fold, vector, *value)
            } else {
                let own = kernel::reduce(self.fold, vector, kernel::identity(self.fold, vector.element()));
                combined(self.fold, *value, own.cast(value.element()))
            };
        })
    }

    fn merge(&mut self, _sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let next: Folded = same(next);
        let pairs = self.values.iter_mut().zip(next.values);
        pairs.for_each(|(value, next)| *value = combined(self.fold, *value, next));
        Ok(())
    }

    fn as_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<Memory> {
        result(budget, sink.element, &sink.shape, |bytes| {
            let to = ValuesMut::from_bytes(sink.element, bytes);
            kernel::set_each(to, |i| self.values[i]);
        })
    }
}

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

    fn as_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<Memory> {
        result(budget, ElementType::Int64, &sink.shape, |bytes| {
            bytes.copy_from_slice(bytemuck::cast_slice(&self.places))
        })
    }
}

struct Spread {
    moments: Vec<Moments>,
}

impl Partial for Spread {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()> {
        for_each_vector(sink, block, registers, |number, vector| {
            self.moments[number] = self.moments[number].merge(kernel::moments(vector));
        })
    }

    fn merge(&mut self, _sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let next: Spread = same(next);
        self.moments.iter_mut().zip(next.moments).for_each(|(own, next)| *own = own.merge(next));
        Ok(())
    }

    fn as_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<Memory> {
        result(budget, ElementType::Float64, &sink.shape, |bytes| {
            let to = bytes.chunks_exact_mut(8).zip(&self.moments);
            to.for_each(|(to, moments)| to.copy_from_slice(&moments.m2.to_ne_bytes()));
        })
    }
}

struct Product<T> {
    sums: Vec<f64>,
    left: Vec<T>,
    right: Vec<T>,
    room: Vec<T>,
}

impl<T: Real> Product<T> {
    fn new(p: usize, q: usize) -> Self {
        Product { sums: vec![0.0; p * q], left: Vec::new(), right: Vec::new(), room: Vec::new() }
    }
}

impl<T: Real> Partial for Product<T> {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, _registers: &mut [Register]) -> Result<()> {
        let SinkKind::Product(right) = &sink.kind else { unreachable!("a product") };
        packed(&block.vectors(&sink.wanted.view, sink.wanted.sizes[0]), block.rows, &mut self.left);
        // A matrix of sums of squares has the same vectors on both sides.
        if right.view == sink.wanted.view && right.sizes == sink.wanted.sizes {
            add_transposed_product(&self.left, &self.left, block.rows, &mut self.sums, &mut self.room);
            return Ok(());
        }
        packed(&block.vectors(&right.view, right.sizes[0]), block.rows, &mut self.right);
        add_transposed_product(&self.left, &self.right, block.rows, &mut self.sums, &mut self.room);
        Ok(())
    }

    fn merge(&mut self, _sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let next: Product<T> = same(next);
        self.sums.iter_mut().zip(&next.sums).for_each(|(sum, next)| *sum += next);
        Ok(())
    }

    fn as_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<Memory> {
        result(budget, sink.element, &sink.shape, |bytes| {
            kernel::cast(Values::Float64(&self.sums), ValuesMut::from_bytes(sink.element, bytes));
        })
    }
}

struct Groups {
    fold: Fold,
    element: ElementType,
    groups: usize,
    /// Of every vector, the values of all groups.
    words: Vec<u64>,
}

impl Groups {
    fn new(fold: Fold, element: ElementType, vectors: usize, groups: usize) -> Self {
        let count = vectors * groups;
        let mut own = Groups { fold, element, groups, words: vec![0; (count * element.bytes()).div_ceil(8)] };
        own.values(0, count).fill(kernel::identity(fold, element));
        own
    }

    fn values(&mut self, from: usize, count: usize) -> ValuesMut<'_> {
        let size = self.element.bytes();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        ValuesMut::from_bytes(self.element, &mut bytes[from * size..(from + count) * size])
    }
}

impl Partial for Groups {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()> {
        let SinkKind::Group { labels, .. } = &sink.kind else { unreachable!("groups") };
        let (slot, rest) = registers.split_first_mut().expect("a register");
        let labels = block.fetch_vector(&labels.view, &[], slot, rest)?;
        let Values::Int64(labels) = labels else { unreachable!("labels are int64") };
        let (fold, groups) = (self.fold, self.groups);
        for_each_vector(sink, block, rest, |number, vector| {
            kernel::group_accumulate(fold, vector, labels, self.values(number * groups, groups));
        })
    }

    fn merge(&mut self, _sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let mut next: Groups = same(next);
        let count = self.words.len() * 8 / self.element.bytes();
        let fold = self.fold;
        kernel::accumulate(fold, next.values(0, count).as_values(), self.values(0, count));
        Ok(())
    }

    fn as_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }

    fn finish(mut self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<Memory> {
        let (groups, vectors, size) = (self.groups, sink.vectors(), self.element.bytes());
        let bytes = self.values(0, groups * vectors).into_bytes();
        result(budget, sink.element, &sink.shape, |to| {
            for (place, to) in to.chunks_exact_mut(size).enumerate() {
                let from = (place % vectors) * groups + place / vectors;
                to.copy_from_slice(&bytes[from * size..][..size]);
            }
        })
    }
}

/// Rows that a user's function folds.
struct FoldedRows {
    state: Box<dyn std::any::Any + Send>,
}

impl FoldedRows {
    fn fold(sink: &Sink) -> (&dyn AnyRowFold, &[Wanted]) {
        let SinkKind::Rows { fold, others } = &sink.kind else { unreachable!("a fold of rows") };
        (fold.as_ref(), others)
    }
}

impl Partial for FoldedRows {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, _registers: &mut [Register]) -> Result<()> {
        let (fold, others) = FoldedRows::fold(sink);
        let columns = |wanted: &Wanted| block.vectors(&wanted.view, wanted.sizes.iter().product());
        let operands = std::iter::once(&sink.wanted).chain(others).map(columns).collect();
        fold.add(self.state.as_mut(), &RowBlock { first_row: block.first_row, rows: block.rows, operands })
    }

    fn close(&mut self, sink: &Sink) -> Result<()> {
        FoldedRows::fold(sink).0.close(self.state.as_mut())
    }

    fn merge(&mut self, sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        FoldedRows::fold(sink).0.merge(self.state.as_mut(), same::<FoldedRows>(next).state)
    }

    fn as_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }

    fn finish(self: Box<Self>, sink: &Sink, budget: &Budget) -> Result<Memory> {
        let mut room = Room::new(budget, sink.element, &sink.shape)?;
        let to = ValuesMut::from_bytes(sink.element, room.bytes_mut());
        FoldedRows::fold(sink).0.finish(self.state, to)?;
        Ok(room.into_memory(sink.element, &sink.shape))
    }
}

/// All vectors of a partition.
#[derive(Default)]
struct Collected {
    /// Of every block its rows, and its vectors one behind the other, in words.
    blocks: Vec<(u64, usize, Vec<u64>)>,
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

    fn merge(&mut self, _sink: &Sink, _next: Box<dyn Partial>) -> Result<()> {
        unreachable!("parts of an array are merged into the whole")
    }

    fn as_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }

    fn finish(self: Box<Self>, _sink: &Sink, _budget: &Budget) -> Result<Memory> {
        unreachable!("parts of an array are merged into the whole")
    }
}

/// An array as a whole, to which the vectors of partitions go.
struct Whole {
    room: Room,
}

impl Partial for Whole {
    fn add(&mut self, _sink: &Sink, _block: &Block<'_>, _registers: &mut [Register]) -> Result<()> {
        unreachable!("blocks go to parts of an array")
    }

    fn merge(&mut self, sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let SinkKind::Collect { axis } = sink.kind else { unreachable!("an array as a whole") };
        let size = sink.element.bytes();
        // Vectors are numbered by the axes before and behind the one of the rows.
        let behind: usize = sink.shape[axis + 1..].iter().map(|&size| size as usize).product();
        let along = sink.shape[axis] as usize;
        let to = self.room.bytes_mut();
        for (first, rows, words) in same::<Collected>(next).blocks {
            let bytes = &bytemuck::cast_slice::<u64, u8>(&words)[..sink.vectors() * rows * size];
            let shape = |columns| RowMajor {
                rows,
                columns,
                row_stride_bytes: behind * size,
                is_big_endian: cfg!(target_endian = "big"),
            };
            // Vectors of one part of the axes before are rows of adjacent elements.
            for (before, vectors) in bytes.chunks_exact((behind * rows * size).max(1)).enumerate() {
                let start = (before * along + first as usize) * behind * size;
                let vectors = Values::from_bytes(sink.element, vectors);
                kernel::transpose_back(vectors, rows, shape(behind), &mut to[start..]);
            }
        }
        Ok(())
    }

    fn as_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }

    fn finish(self: Box<Self>, sink: &Sink, _budget: &Budget) -> Result<Memory> {
        Ok(self.room.into_memory(sink.element, &sink.shape))
    }
}

/// All vectors of a partition, on their way into an image or a temporary file.
#[derive(Default)]
struct Stored {
    collected: Collected,
}

impl Partial for Stored {
    fn add(&mut self, sink: &Sink, block: &Block<'_>, registers: &mut [Register]) -> Result<()> {
        self.collected.add(sink, block, registers)
    }

    /// Writes the pages of the next partition, whose rows are those of whole pages.
    fn merge(&mut self, sink: &Sink, next: Box<dyn Partial>) -> Result<()> {
        let blocks = same::<Stored>(next).collected.blocks;
        let (size, page_rows) = (sink.element.bytes(), rows_per_page(sink.element) as u64);
        let mut run = Vec::new();
        let mut for_each_run = |group: &[(u64, usize, Vec<u64>)], put: &mut dyn FnMut(u64, &[u8]) -> Result<()>| {
            (0..sink.vectors()).try_for_each(|vector| {
                run.clear();
                for (_, rows, words) in group {
                    let bytes: &[u8] = bytemuck::cast_slice(words);
                    run.extend_from_slice(&bytes[vector * rows * size..][..rows * size]);
                }
                put(vector as u64, &run)
            })
        };
        match &sink.kind {
            SinkKind::Store(worker) => {
                let mut worker = lock(worker);
                // Blocks end where pages do.
                let mut pages = blocks.chunk_by(|(before, ..), (first, ..)| before / page_rows == first / page_rows);
                pages.try_for_each(|page| for_each_run(page, &mut |vector, run| worker.put(page[0].0, vector, run)))
            }
            SinkKind::Spill(spill) => for_each_run(&blocks, &mut |vector, run| {
                Ok(spill.write(run, (vector * sink.shape[0] + blocks[0].0) * size as u64)?)
            }),
            _ => unreachable!("an image or a temporary file"),
        }
    }

    fn as_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }

    fn finish(self: Box<Self>, _sink: &Sink, _budget: &Budget) -> Result<Memory> {
        unreachable!("an image has no value")
    }
}
