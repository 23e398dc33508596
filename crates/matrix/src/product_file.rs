//! Rows of a product on their way to a file.
//!
//! A pass finishes rows on all workers, in the order of the image, and knows some columns of each. Every worker gathers
//! adjacent rows in a *run*. If rows are in the order of ids and one pass has all columns, runs go straight to their
//! places in the file. Otherwise they go to a temporary file, distributed over *bands* of adjacent rows (the first half
//! of an external sort); when all passes are done, one band after the other is put together in memory and written. So
//! every byte of the product is written once, and once more to the temporary file, in blocks of some dozen KiB, however
//! the image is ordered and however few columns a pass has.
//!
//! *Encoding* of a run in the temporary file: a word with the first row (32 bits), the number of rows (12) and the
//! pass (20), and its numbers row by row.

use crate::dense::{DenseFile, DenseLayout};
use crate::npy::{Element, Head, refusal};
use outcore_graph::Graph;
use outcore_image::{Error, PlacedFile, Result};
use outcore_io::buffer::{raw_bytes, raw_bytes_mut, shared};
use outcore_io::{AtomicF64, Buffer, Chain, Runtime, Sink, Spill, Streams, into_inner, lock};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Numbers of a run.
const RUN_NUMBERS: usize = 1 << 13;
/// Upper bound of the rows of a run, exclusive.
const RUN_ROWS: usize = 1 << 12;
/// Largest number of passes that the head of a run can number.
pub(crate) const MOST_PASSES: usize = 1 << 20;
/// The least and the most bytes of a block of the temporary file.
const BLOCK_BYTES: Range<u64> = 4 << 10..256 << 10;
/// Bytes that are written at once.
const PIECE_BYTES: usize = 4 << 20;

/// A file for a product.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ProductFile {
    /// A .npy file, which is complete or absent, in the place of any file of that name.
    New {
        /// Its path.
        path: PathBuf,
        /// Whether its array has one dimension: then the product has one column.
        is_vector: bool,
    },
    /// A part of an existing file. It is unfinished if the product fails.
    Part {
        /// Its path.
        path: PathBuf,
        /// Destination of the elements: float64, or complex128.
        layout: DenseLayout,
    },
    /// A temporary file without a name.
    Temporary {
        /// Whether rows are in the order of the image, as what becomes a table is read, and not in that of ids.
        as_stored: bool,
    },
}

/// Layout of a product in its file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Placing {
    /// Whether columns lie together, and not rows.
    pub by_columns: bool,
    /// Whether rows are in the order of the image, and not in that of ids.
    pub as_stored: bool,
}

impl ProductFile {
    /// The layout of a product in the file.
    pub(crate) fn placing(&self) -> Result<Placing> {
        Ok(match self {
            ProductFile::Part { path, layout } => {
                Placing { by_columns: layout.check(path)?.1 && layout.columns > 1, as_stored: false }
            }
            &ProductFile::Temporary { as_stored } => Placing { by_columns: false, as_stored },
            ProductFile::New { .. } => Placing::default(),
        })
    }
}

/// Storage of the bytes of a product.
enum Store {
    Placed(PlacedFile),
    Spill(Spill),
}

/// A product's file, open.
pub(crate) struct Output {
    store: Store,
    layout: DenseLayout,
    placing: Placing,
    parts: usize,
    written_bytes: AtomicU64,
}

impl Output {
    /// Opens or creates the file of a product with these rows and columns of numbers; an element has `parts` numbers.
    pub fn open(graph: &Graph, given: &ProductFile, rows: usize, numbers: usize, parts: usize) -> Result<Self> {
        let runtime = graph.runtime();
        let (element, rows, columns) = (Element::computed(parts == 2), rows as u64, (numbers / parts) as u64);
        let by_rows = |offset_bytes: u64| {
            let column_bytes = element.bytes as u64;
            let (row_bytes, element) = (column_bytes * columns, element.name());
            DenseLayout { offset_bytes, rows, columns, row_bytes, column_bytes, element }
        };
        let (store, layout, placing) = match given {
            ProductFile::New { path, is_vector } => {
                let shape = [rows, columns];
                let head = Head::bytes(element, if *is_vector { &shape[..1] } else { &shape });
                let file = PlacedFile::create(runtime, path)?;
                file.write(&head, 0)?;
                (Store::Placed(file), by_rows(head.len() as u64), Placing::default())
            }
            ProductFile::Part { path, layout } => {
                let (found, by_columns) = layout.check(path)?;
                if (layout.rows, layout.columns, found) != (rows, columns, element) {
                    let found = format!("{} x {} of {}", layout.rows, layout.columns, layout.element);
                    let expected = format!("room for {rows} x {columns} elements of {}", element.name());
                    return Err(refusal(path, expected, found));
                }
                let file = PlacedFile::open(runtime, path)?;
                if file.len_bytes() < layout.end_bytes(element) {
                    let expected = format!("{} bytes for the product", layout.end_bytes(element));
                    return Err(refusal(path, expected, file.len_bytes().to_string()));
                }
                (
                    Store::Placed(file),
                    layout.clone(),
                    Placing { by_columns: by_columns && columns > 1, as_stored: false },
                )
            }
            &ProductFile::Temporary { as_stored } => {
                let path = graph.image().temporary_path("result");
                let placing = Placing { by_columns: false, as_stored };
                (Store::Spill(Spill::create(runtime.backend(), &path)?), by_rows(0), placing)
            }
        };
        Ok(Output { store, layout, placing, parts, written_bytes: AtomicU64::new(0) })
    }

    /// Layout of the product in the file.
    pub fn placing(&self) -> Placing {
        self.placing
    }

    /// The bytes written so far, for reading.
    pub fn numbers(&self, runtime: &Runtime) -> Result<DenseFile> {
        match &self.store {
            Store::Placed(file) => DenseFile::open_part(runtime, file.path(), self.layout.clone()),
            Store::Spill(spill) => DenseFile::of_spill(spill, self.layout.clone()),
        }
    }

    /// Copies adjacent rows from a temporary file.
    pub fn copy_rows(&self, rows: Range<usize>, numbers: &mut [f64]) -> Result<()> {
        let Store::Spill(spill) = &self.store else { unreachable!("only tables are made of rows, of temporary files") };
        assert_eq!(8 * numbers.len() as u64, rows.len() as u64 * self.layout.row_bytes, "whole rows");
        spill.read(raw_bytes_mut(numbers), rows.start as u64 * self.layout.row_bytes)
    }

    /// Writes adjacent rows from `first` on, with all their numbers.
    fn write(&self, runtime: &Runtime, first: usize, numbers: &[f64]) -> Result<()> {
        let (width, size) = (self.layout.columns as usize * self.parts, 8 * self.parts);
        if numbers.is_empty() {
            return Ok(());
        }
        let at = self.layout.offset_bytes + first as u64 * self.layout.row_bytes;
        if !self.placing.by_columns {
            let adjacent = self.layout.row_bytes == 8 * width as u64;
            let rows = if adjacent { (PIECE_BYTES / (8 * width)).max(1) } else { 1 };
            for (i, piece) in numbers.chunks(rows * width).enumerate() {
                runtime.cancel().check()?;
                self.put(raw_bytes(piece), at + (i * rows) as u64 * self.layout.row_bytes)?;
            }
            return Ok(());
        }
        let rows = numbers.len() / width;
        let mut column = Buffer::<f64>::zeroed(runtime.budget(), "a column of a product", rows.min(RUN_NUMBERS) * 2)?;
        for i in 0..width / self.parts {
            runtime.cancel().check()?;
            let at = at + i as u64 * self.layout.column_bytes;
            for (piece, rows) in numbers.chunks(RUN_NUMBERS * width).enumerate() {
                let places = column.chunks_exact_mut(self.parts).zip(rows.chunks_exact(width));
                places.for_each(|(to, row)| to.copy_from_slice(&row[i * self.parts..][..self.parts]));
                let count = rows.len() / width * self.parts;
                self.put(raw_bytes(&column[..count]), at + (piece * RUN_NUMBERS * size) as u64)?;
            }
        }
        Ok(())
    }

    fn put(&self, bytes: &[u8], offset_bytes: u64) -> Result<()> {
        self.written_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        match &self.store {
            Store::Placed(file) => file.write(bytes, offset_bytes),
            Store::Spill(spill) => Ok(spill.write(bytes, offset_bytes)?),
        }
    }

    /// Number of bytes of elements written.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes.load(Ordering::Relaxed)
    }

    /// Gives a new file its name. A temporary one has none, and vanishes.
    pub fn commit(self) -> Result<()> {
        match self.store {
            Store::Placed(file) => file.commit(),
            Store::Spill(_) => Ok(()),
        }
    }
}

/// Partition of rows into bands on their way to the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bands {
    /// Whether they go straight to their places.
    pub is_direct: bool,
    /// Rows and columns of numbers of the product.
    pub rows: usize,
    pub columns: usize,
    /// Columns of numbers of a pass; the last pass may have fewer.
    pub pass_columns: usize,
    /// Adjacent rows that are put together in memory.
    pub band_rows: usize,
    /// Number of runs that are gathered at the same time.
    pub slots: usize,
    /// The words of a block of the temporary file.
    pub block_words: usize,
}

impl Bands {
    /// Bands of half of the memory that is there, and a sixteenth of it for blocks on their way to them.
    pub fn new(runtime: &Runtime, rows: usize, columns: usize, available_bytes: u64) -> Self {
        let row_bytes = 8 * columns.max(1) as u64;
        let band_rows = (available_bytes / 2 / row_bytes).clamp(1, rows.max(1) as u64) as usize;
        let (bands, room_bytes) = (rows.div_ceil(band_rows).max(1) as u64, available_bytes / 16);
        let slots = (room_bytes / (bands * BLOCK_BYTES.start)).clamp(1, runtime.threads() as u64);
        let block_bytes = (room_bytes / (slots * bands)).clamp(BLOCK_BYTES.start, BLOCK_BYTES.end);
        let (slots, block_words) = (slots as usize, block_bytes as usize / 8);
        Bands { is_direct: false, rows, columns, pass_columns: columns, band_rows, slots, block_words }
    }

    /// Rows that go straight to their places, in one pass, a run on its way from each worker.
    pub fn direct(runtime: &Runtime, rows: usize, columns: usize) -> Self {
        let (band_rows, slots) = (rows.max(1), runtime.threads());
        Bands { is_direct: true, rows, columns, pass_columns: columns, band_rows, slots, block_words: 0 }
    }

    fn count(&self) -> usize {
        self.rows.div_ceil(self.band_rows)
    }

    /// The memory that rows take on their way, while passes go on.
    pub fn state_bytes(&self) -> u64 {
        let blocks = if self.is_direct { 0 } else { self.count() * (self.block_words + 1) };
        8 * (self.slots * (RUN_NUMBERS + blocks)) as u64
    }

    /// The bytes that go to the temporary file; without those of the heads of runs of many rows.
    pub fn temporary_bytes(&self, as_stored: bool) -> u64 {
        let heads = if as_stored { 0 } else { self.columns.div_ceil(self.pass_columns) };
        if self.is_direct { 0 } else { 8 * self.rows as u64 * (self.columns + heads) as u64 }
    }

    /// The temporary file.
    pub fn streams(&self, graph: &Graph) -> Result<Streams> {
        let path = graph.image().temporary_path("product");
        Streams::create(graph.runtime().backend(), &path, self.block_words)
    }
}

/// Rows of one pass after the other, from all workers.
pub(crate) struct Rows<'a> {
    runtime: &'a Runtime,
    output: &'a Output,
    bands: Bands,
    slots: Vec<Mutex<Slot<'a>>>,
    pass: AtomicUsize,
    failed: Mutex<Option<Error>>,
}

/// A run that grows.
pub(crate) struct Slot<'a> {
    /// The way to the temporary file, if there is one.
    sink: Option<Sink<'a>>,
    numbers: Buffer<f64>,
    first: usize,
    rows: usize,
    width: usize,
}

impl<'a> Rows<'a> {
    pub fn new(runtime: &'a Runtime, output: &'a Output, bands: Bands, streams: Option<&'a Streams>) -> Result<Self> {
        let slot = |_| {
            let sink = streams.map(|streams| streams.sink(runtime, bands.count())).transpose()?;
            let numbers = Buffer::zeroed(runtime.budget(), "rows of a product", RUN_NUMBERS)?;
            Ok(Mutex::new(Slot { sink, numbers, first: 0, rows: 0, width: 1 }))
        };
        let slots = (0..bands.slots).map(slot).collect::<Result<_>>()?;
        Ok(Rows { runtime, output, bands, slots, pass: AtomicUsize::new(0), failed: Mutex::default() })
    }

    /// A run for a row: one that ends directly before it, or any that no other worker has locked.
    pub fn slot(&self, row: usize) -> MutexGuard<'_, Slot<'a>> {
        let mut free = None;
        for slot in &self.slots {
            let slot = match slot.try_lock() {
                Ok(slot) => slot,
                Err(TryLockError::Poisoned(slot)) => slot.into_inner(),
                Err(TryLockError::WouldBlock) => continue,
            };
            if slot.first + slot.rows == row {
                return slot;
            }
            free = Some(slot);
        }
        free.unwrap_or_else(|| lock(&self.slots[row % self.slots.len()]))
    }

    /// Adds a row of the columns of this pass.
    #[inline]
    pub fn put(&self, slot: &mut Slot<'a>, row: usize, numbers: &[f64]) {
        let most = (RUN_NUMBERS / numbers.len().max(1)).min(RUN_ROWS - 1);
        let goes_on = slot.rows > 0 && row == slot.first + slot.rows && !row.is_multiple_of(self.bands.band_rows);
        if !goes_on || slot.rows >= most {
            self.flush(slot);
            slot.first = row;
        }
        slot.width = numbers.len();
        slot.numbers[slot.rows * numbers.len()..][..numbers.len()].copy_from_slice(numbers);
        slot.rows += 1;
    }

    fn flush(&self, slot: &mut Slot<'a>) {
        let Slot { sink, numbers, first, rows, width } = slot;
        let numbers = &numbers[..*rows * *width];
        if *rows > 0 {
            let written = match sink {
                None => self.output.write(self.runtime, *first, numbers),
                Some(sink) => {
                    let (band, pass) = (*first / self.bands.band_rows, self.pass.load(Ordering::Relaxed) as u64);
                    let head = *first as u64 | (*rows as u64) << 32 | pass << 44;
                    sink.push(band, head).and_then(|()| sink.numbers(band, numbers))
                }
            };
            self.note(written);
        }
        *rows = 0;
    }

    /// Keeps the first error.
    fn note(&self, written: Result<()>) {
        if let Err(error) = written {
            lock(&self.failed).get_or_insert(error);
        }
    }

    /// The error of a write, if one failed.
    pub fn check(&self) -> Result<()> {
        lock(&self.failed).take().map_or(Ok(()), Err)
    }

    /// Ends a pass: writes the rest of all runs.
    pub fn end_pass(&self) -> Result<()> {
        self.slots.iter().for_each(|slot| self.flush(&mut lock(slot)));
        self.pass.fetch_add(1, Ordering::Relaxed);
        self.check()
    }

    /// Pieces in the temporary file, band by band, from each slot.
    pub fn finish(self) -> Result<Vec<Vec<Chain>>> {
        let sinks = self.slots.into_iter().filter_map(|slot| into_inner(slot).sink);
        sinks.map(|sink| sink.finish()).collect()
    }
}

/// Puts all bands together and writes them; returns how many bytes the temporary file had.
pub(crate) fn write_bands(
    runtime: &Runtime,
    output: &Output,
    bands: Bands,
    streams: &Streams,
    chains: &[Vec<Chain>],
) -> Result<u64> {
    let budget = runtime.budget();
    let most = bands.band_rows.min(bands.rows) * bands.columns;
    let mut numbers = Buffer::<f64>::zeroed(budget, "rows of a product", most)?;
    for band in 0..bands.count() {
        let (start, end) = (band * bands.band_rows, bands.rows.min((band + 1) * bands.band_rows));
        let numbers = &mut numbers[..(end - start) * bands.columns];
        let (places, next, landed) = (shared::<AtomicF64>(numbers), AtomicUsize::new(0), AtomicU64::new(0));
        runtime.run_on(chains.len(), |_| {
            let mut words = Buffer::<u64>::zeroed(budget, "rows of a product", bands.block_words + 1)?;
            while let Some(chains) = chains.get(next.fetch_add(1, Ordering::Relaxed)) {
                let rows = land(runtime, bands, start, streams, chains[band], &mut words, places)?;
                landed.fetch_add(rows, Ordering::Relaxed);
            }
            Ok::<_, Error>(())
        })?;
        let (expected, found) =
            (((end - start) * bands.columns.div_ceil(bands.pass_columns)) as u64, landed.into_inner());
        assert_eq!(found, expected, "every pass has every row once");
        output.write(runtime, start, numbers)?;
    }
    Ok(chains.iter().flatten().map(|chain| 8 * chain.words).sum())
}

/// Brings the runs of a chain to their places in a band that begins at row `start`; returns how many rows they have.
fn land(
    runtime: &Runtime,
    bands: Bands,
    start: usize,
    streams: &Streams,
    mut chain: Chain,
    words: &mut [u64],
    places: &[AtomicF64],
) -> Result<u64> {
    // Destination of the current row, its length, the numbers already there, and the number of remaining rows.
    let (mut place, mut width, mut there, mut left) = (0, 0, 0, 0);
    let mut landed = 0;
    while chain.words > 0 {
        runtime.cancel().check()?;
        let count = streams.read(&mut chain, words)?;
        let mut rest = &words[..count];
        while let Some((&head, behind)) = rest.split_first() {
            if left == 0 {
                let (row, rows, pass) = (head as u32 as usize, (head >> 32) as usize % RUN_ROWS, (head >> 44) as usize);
                let column = pass * bands.pass_columns;
                width = bands.pass_columns.min(bands.columns - column);
                (place, there, left) = ((row - start) * bands.columns + column, 0, rows);
                landed += rows as u64;
                rest = behind;
                continue;
            }
            let (numbers, behind) = rest.split_at(rest.len().min(width - there));
            let to = &places[place + there..];
            to.iter().zip(numbers).for_each(|(to, &bits)| to.store(f64::from_bits(bits)));
            there += numbers.len();
            if there == width {
                (place, there, left) = (place + bands.columns, 0, left - 1);
            }
            rest = behind;
        }
    }
    Ok(landed)
}
