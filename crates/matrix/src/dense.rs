//! Dense matrices in files: .npy files, and parts of files that are laid out as NumPy's arrays are.
//!
//! *Encoding.* Rows or columns of adjacent elements, with the same distance from each to the next. Elements become
//! float64, or two of them, the real and the imaginary part. Files are read in pieces of some hundred KiB, by all
//! workers; those that lie together are read together.

use crate::npy::{Element, Head, Kind, refusal};
use outcore_image::{Error, Result};
use outcore_io::buffer::{raw_bytes_mut, shared};
use outcore_io::{AtomicF64, Buffer, DataFile, Input, Runtime, Spill, lock};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Layout of the elements of a dense matrix in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseLayout {
    /// Offset of the first element in bytes.
    pub offset_bytes: u64,
    /// Number of rows.
    pub rows: u64,
    /// Number of columns.
    pub columns: u64,
    /// Distance in bytes between adjacent elements of a column.
    pub row_bytes: u64,
    /// Distance in bytes between adjacent elements of a row.
    pub column_bytes: u64,
    /// Element type in NumPy's notation, such as `<f8`.
    pub element: String,
}

impl DenseLayout {
    /// Element type, and whether columns are contiguous instead of rows.
    pub(crate) fn check(&self, path: &Path) -> Result<(Element, bool)> {
        let Some(element) = Element::from_name(&self.element) else {
            return Err(refusal(path, "a type of numbers".to_owned(), format!("the type {}", self.element)));
        };
        let (size, DenseLayout { rows, columns, row_bytes, column_bytes, .. }) = (element.bytes as u64, self);
        // Checked for empty matrices too, so that products of sizes cannot overflow anywhere.
        if rows.max(&1).checked_mul(*columns.max(&1)).is_none_or(|count| count > MOST_ELEMENTS) {
            return Err(refusal(path, "an array that fits a file".to_owned(), format!("one of {rows} x {columns}")));
        }
        let by_rows = (*columns <= 1 || *column_bytes == size) && (*rows <= 1 || *row_bytes >= columns * size);
        let by_columns = (*rows <= 1 || *row_bytes == size) && (*columns <= 1 || *column_bytes >= rows * size);
        match by_rows || by_columns {
            true => Ok((element, by_columns)),
            false => {
                let found = format!("elements {row_bytes} and {column_bytes} bytes behind each other");
                Err(refusal(path, "rows or columns of adjacent elements".to_owned(), found))
            }
        }
    }

    /// Offset of the end of the last element.
    pub(crate) fn end_bytes(&self, element: Element) -> u64 {
        if self.rows == 0 || self.columns == 0 {
            return self.offset_bytes;
        }
        let last = |count: u64, bytes: u64| (count - 1).saturating_mul(bytes);
        let before_last = last(self.rows, self.row_bytes).saturating_add(last(self.columns, self.column_bytes));
        self.offset_bytes.saturating_add(before_last).saturating_add(element.bytes as u64)
    }
}

/// Largest number of elements: complex ones beyond it have no place in a file.
const MOST_ELEMENTS: u64 = i64::MAX as u64 / 16;
/// A piece of a file that is read as a whole.
const READ_BYTES: usize = 128 << 10;

/// Storage of the bytes.
enum Store {
    File(Input),
    Spill(Spill),
}

/// A dense matrix, or a vector, in a file that is only read.
pub struct DenseFile {
    path: PathBuf,
    store: Store,
    layout: DenseLayout,
    element: Element,
    by_columns: bool,
    is_vector: bool,
    read_bytes: AtomicU64,
}

impl std::fmt::Debug for DenseFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DenseFile").field("path", &self.path).field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl DenseFile {
    /// Opens a .npy file of a matrix, or of a vector, which is one of one column. Elements are bool, integers of up to
    /// 8 bytes, float32, float64, complex64 or complex128, in either order of bytes, in rows or in columns.
    ///
    /// # Errors
    /// Errors of the operating system; a file that is not such a file, or is truncated.
    pub fn open(runtime: &Runtime, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let input = runtime.backend().input(path)?;
        let head = Head::read(path, &input)?;
        let (rows, columns) = (head.shape[0], head.shape.get(1).copied().unwrap_or(1));
        let size = head.element.bytes as u64;
        let beyond = || refusal(path, "an array that fits a file".to_owned(), format!("one of {rows} x {columns}"));
        let bytes = |count: u64| count.max(1).checked_mul(size).ok_or_else(beyond);
        let (row_bytes, column_bytes) = match head.by_columns {
            true => (size, bytes(rows)?),
            false => (bytes(columns)?, size),
        };
        let element = head.element;
        let layout = DenseLayout {
            offset_bytes: head.len_bytes,
            rows,
            columns,
            row_bytes,
            column_bytes,
            element: element.name(),
        };
        DenseFile::new(path, Store::File(input), layout, head.shape.len() == 1)
    }

    /// Opens the part of a file that has this layout.
    ///
    /// # Errors
    /// Errors of the operating system; elements of which neither rows nor columns are adjacent; a file that is
    /// shorter.
    pub fn open_part(runtime: &Runtime, path: impl AsRef<Path>, layout: DenseLayout) -> Result<Self> {
        let path = path.as_ref();
        DenseFile::new(path, Store::File(runtime.backend().input(path)?), layout, false)
    }

    /// Numbers in rows in a temporary file.
    pub(crate) fn temporary(spill: &Spill, offset_bytes: u64, rows: usize, columns: usize) -> Result<Self> {
        let (element, rows, columns) = (Element::computed(false).name(), rows as u64, columns as u64);
        let layout = DenseLayout { offset_bytes, rows, columns, row_bytes: 8 * columns, column_bytes: 8, element };
        DenseFile::of_spill(spill, layout)
    }

    /// Opens a temporary file with this layout.
    ///
    /// # Errors
    /// Elements of which neither rows nor columns are adjacent.
    #[doc(hidden)]
    pub fn of_spill(spill: &Spill, layout: DenseLayout) -> Result<Self> {
        DenseFile::new(Path::new("a temporary file"), Store::Spill(spill.clone()), layout, false)
    }

    /// The numbers of a table, in a temporary file.
    pub(crate) fn of_table(path: &Path, spill: &Spill, layout: DenseLayout) -> Result<Self> {
        let is_vector = layout.columns == 1;
        DenseFile::new(path, Store::Spill(spill.clone()), layout, is_vector)
    }

    fn new(path: &Path, store: Store, layout: DenseLayout, is_vector: bool) -> Result<Self> {
        let (element, by_columns) = layout.check(path)?;
        let (end_bytes, read_bytes) = (layout.end_bytes(element), AtomicU64::new(0));
        if let Store::File(input) = &store
            && input.len_bytes() < end_bytes
        {
            let expected = format!("{end_bytes} bytes for {} x {} elements", layout.rows, layout.columns);
            return Err(refusal(path, expected, format!("{}", input.len_bytes())));
        }
        Ok(DenseFile { path: path.to_owned(), store, layout, element, by_columns, is_vector, read_bytes })
    }

    /// The file, for other ways to read it.
    pub fn file(&self) -> &Arc<DataFile> {
        match &self.store {
            Store::File(input) => input.file(),
            Store::Spill(spill) => spill.file(),
        }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads all numbers, row by row; where complex ones are wanted, each is two: the real and the imaginary part. 8
    /// bytes of memory for each, under the name `purpose`, and half a MiB per worker meanwhile.
    ///
    /// # Errors
    /// Complex numbers where real ones are wanted; a file that cannot be read; no memory; a request to stop.
    pub fn read(&self, runtime: &Runtime, purpose: &str, as_complex: bool) -> Result<Buffer<f64>> {
        if self.is_complex() && !as_complex {
            return Err(refusal(&self.path, "real numbers".to_owned(), "complex ones".to_owned()));
        }
        let parts = if as_complex { 2 } else { 1 };
        let (rows, width) = (self.layout.rows as usize, self.layout.columns as usize * parts);
        let mut numbers = Buffer::zeroed(runtime.budget(), purpose, rows * width)?;
        let all: &[AtomicF64] = shared(&mut numbers);
        self.scan(runtime, 0..width, as_complex, |rows, columns, found| {
            for (row, found) in rows.zip(found.chunks_exact(columns.len())) {
                let places = &all[row * width + columns.start..row * width + columns.end];
                places.iter().zip(found).for_each(|(place, &number)| place.store(number));
            }
            Ok(())
        })?;
        Ok(numbers)
    }

    /// Calls `work`, on all workers, with pieces of some columns of numbers, in any order: the rows, the columns, at
    /// least those that are wanted, and the numbers, row by row. Where complex numbers are wanted, each is two columns.
    /// The wanted columns are read once, or whole rows where rows lie together. [`DenseFile::scan_bytes`] of memory.
    ///
    /// # Errors
    /// A file that cannot be read; no memory; a request to stop; what `work` refuses.
    pub fn scan(
        &self,
        runtime: &Runtime,
        wanted: Range<usize>,
        as_complex: bool,
        work: impl Fn(Range<usize>, Range<usize>, &[f64]) -> Result<()> + Sync,
    ) -> Result<()> {
        let buffers = PieceBuffers::new(runtime, READ_BYTES)?;
        let parts = if as_complex { 2 } else { 1 };
        self.for_each_piece(runtime, &buffers, wanted, parts, |rows, columns, found, _| work(rows, columns, found))
    }

    /// The memory that [`DenseFile::scan`] takes.
    pub fn scan_bytes(runtime: &Runtime) -> u64 {
        PieceBuffers::bytes(runtime, READ_BYTES)
    }

    /// Number of rows and columns.
    pub fn shape(&self) -> (u64, u64) {
        (self.layout.rows, self.layout.columns)
    }

    /// Layout of its elements.
    pub fn layout(&self) -> &DenseLayout {
        &self.layout
    }

    /// Whether it is a vector, and not a matrix of one column.
    pub fn is_vector(&self) -> bool {
        self.is_vector
    }

    /// Whether elements are complex numbers.
    pub fn is_complex(&self) -> bool {
        self.element.kind == Kind::Complex
    }

    /// Whether columns lie together, and not rows: some of them are read without the others.
    pub(crate) fn by_columns(&self) -> bool {
        self.by_columns
    }

    /// The bytes between the first element and the end of the last one.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.layout.end_bytes(self.element) - self.layout.offset_bytes
    }

    /// Number of bytes read so far.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Ordering::Relaxed)
    }

    /// Calls `work`, on all workers, with pieces of some columns of numbers: the rows, the columns, at least those that
    /// were asked for, the numbers in rows, and a buffer of equal length. An element is `parts` numbers: one, or two.
    pub(crate) fn for_each_piece(
        &self,
        runtime: &Runtime,
        buffers: &PieceBuffers,
        wanted: Range<usize>,
        parts: usize,
        work: impl Fn(Range<usize>, Range<usize>, &[f64], &mut [f64]) -> Result<()> + Sync,
    ) -> Result<()> {
        let elements = wanted.start / parts..wanted.end.div_ceil(parts);
        let pieces = Pieces::new(self, elements, parts, buffers.piece_bytes);
        let next = AtomicUsize::new(0);
        runtime.run_on(pieces.count(), |worker| {
            let PieceBuffer { bytes, numbers, room } = &mut *lock(&buffers.of_workers[worker]);
            loop {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                if piece >= pieces.count() {
                    return Ok::<_, Error>(());
                }
                runtime.cancel().check()?;
                let (rows, columns) = pieces.get(piece);
                let count = rows.len() * columns.len() * parts;
                self.read_piece(&rows, &columns, parts, bytes, &mut numbers[..count])?;
                let columns = columns.start * parts..columns.end * parts;
                work(rows, columns, &numbers[..count], &mut room[..count])?;
            }
        })?;
        Ok(())
    }

    fn read_piece(
        &self,
        rows: &Range<usize>,
        columns: &Range<usize>,
        parts: usize,
        bytes: &mut [u8],
        numbers: &mut [f64],
    ) -> Result<()> {
        let (layout, size) = (&self.layout, self.element.bytes);
        let (row_bytes, column_bytes) = (layout.row_bytes as usize, layout.column_bytes);
        let at = rows.start as u64 * layout.row_bytes + columns.start as u64 * column_bytes;
        let offset_bytes = layout.offset_bytes + at;
        let line_bytes = if self.by_columns { rows.len() * size } else { columns.len() * size };
        let span = if self.by_columns { line_bytes } else { (rows.len() - 1) * row_bytes + line_bytes };
        let bytes = &mut bytes[..span];
        match &self.store {
            Store::File(input) => input
                .read_at(bytes, offset_bytes)
                .map_err(|error| Error::file_at(&self.path, "read", offset_bytes, error))?,
            Store::Spill(spill) => spill.read(bytes, offset_bytes)?,
        }
        self.read_bytes.fetch_add(span as u64, Ordering::Relaxed);
        if self.by_columns {
            self.element.decode(bytes, parts, numbers);
            return Ok(());
        }
        let line_numbers = columns.len() * parts;
        for (row, numbers) in numbers.chunks_exact_mut(line_numbers).enumerate() {
            self.element.decode(&bytes[row * row_bytes..][..line_bytes], parts, numbers);
        }
        Ok(())
    }
}

/// Memory for pieces.
pub(crate) struct PieceBuffers {
    piece_bytes: usize,
    of_workers: Vec<Mutex<PieceBuffer>>,
}

/// Memory of a worker: the bytes of a piece, its numbers, and a buffer of the same length.
struct PieceBuffer {
    bytes: Buffer<u8>,
    numbers: Buffer<f64>,
    room: Buffer<f64>,
}

impl PieceBuffers {
    pub fn new(runtime: &Runtime, piece_bytes: usize) -> Result<Self> {
        let (budget, purpose) = (runtime.budget(), "reading a dense matrix");
        let array = || Buffer::zeroed(budget, purpose, piece_bytes / 8);
        let of_worker = |_| {
            let bytes = Buffer::zeroed(budget, purpose, piece_bytes)?;
            Ok(Mutex::new(PieceBuffer { bytes, numbers: array()?, room: array()? }))
        };
        Ok(PieceBuffers { piece_bytes, of_workers: (0..runtime.threads()).map(of_worker).collect::<Result<_>>()? })
    }

    /// The memory that they take.
    pub fn bytes(runtime: &Runtime, piece_bytes: usize) -> u64 {
        3 * (runtime.threads() * piece_bytes) as u64
    }
}

/// Division of a matrix into pieces.
struct Pieces {
    rows: usize,
    piece_rows: usize,
    columns: Range<usize>,
    piece_columns: usize,
    by_columns: bool,
}

impl Pieces {
    fn new(file: &DenseFile, columns: Range<usize>, parts: usize, piece_bytes: usize) -> Self {
        let (rows, by_columns, layout) = (file.layout.rows as usize, file.by_columns, &file.layout);
        let most = piece_bytes / file.element.bytes.max(8 * parts);
        let (piece_rows, piece_columns) = match by_columns {
            true => (most, 1),
            false => match (piece_bytes / layout.row_bytes.max(1) as usize).min(most / columns.len().max(1)) {
                0 => (1, most),
                rows => (rows, columns.len()),
            },
        };
        Pieces { rows, piece_rows, columns, piece_columns: piece_columns.max(1), by_columns }
    }

    /// Number of pieces in each direction.
    fn counts(&self) -> (usize, usize) {
        (self.rows.div_ceil(self.piece_rows), self.columns.len().div_ceil(self.piece_columns))
    }

    fn count(&self) -> usize {
        let (down, across) = self.counts();
        down * across
    }

    /// The rows and columns of a piece; pieces are in the order of the file.
    fn get(&self, piece: usize) -> (Range<usize>, Range<usize>) {
        let (down, across) = self.counts();
        let (row, column) = match self.by_columns {
            true => (piece % down, piece / down),
            false => (piece / across, piece % across),
        };
        let (row, column) = (row * self.piece_rows, self.columns.start + column * self.piece_columns);
        (row..self.rows.min(row + self.piece_rows), column..self.columns.end.min(column + self.piece_columns))
    }
}

impl Element {
    /// Adjacent elements as numbers, `parts` for each: real elements have an imaginary part of 0.
    fn decode(self, bytes: &[u8], parts: usize, numbers: &mut [f64]) {
        let big = self.is_big_endian;
        macro_rules! integers {
            ($kind:ty) => {
                fill(bytes, parts, numbers, |bytes| match big {
                    true => <$kind>::from_be_bytes(bytes) as f64,
                    false => <$kind>::from_le_bytes(bytes) as f64,
                })
            };
        }
        // A complex element is two numbers already.
        let parts = if self.kind == Kind::Complex { 1 } else { parts };
        match (self.kind, self.bytes) {
            (Kind::Real, 8) | (Kind::Complex, 16) if big == cfg!(target_endian = "big") && parts == 1 => {
                raw_bytes_mut(numbers).copy_from_slice(bytes);
            }
            (Kind::Real, 4) | (Kind::Complex, 8) => fill(bytes, parts, numbers, |bytes| match big {
                true => f32::from_be_bytes(bytes).into(),
                false => f32::from_le_bytes(bytes).into(),
            }),
            (Kind::Real | Kind::Complex, _) => fill(bytes, parts, numbers, |bytes| match big {
                true => f64::from_be_bytes(bytes),
                false => f64::from_le_bytes(bytes),
            }),
            (Kind::Bool, _) => fill(bytes, parts, numbers, |[byte]| f64::from(u8::from(byte != 0))),
            (Kind::Signed, 1) => integers!(i8),
            (Kind::Signed, 2) => integers!(i16),
            (Kind::Signed, 4) => integers!(i32),
            (Kind::Signed, _) => integers!(i64),
            (Kind::Unsigned, 1) => integers!(u8),
            (Kind::Unsigned, 2) => integers!(u16),
            (Kind::Unsigned, 4) => integers!(u32),
            (Kind::Unsigned, _) => integers!(u64),
        }
    }
}

fn fill<const N: usize>(bytes: &[u8], parts: usize, numbers: &mut [f64], number: impl Fn([u8; N]) -> f64) {
    for (bytes, numbers) in bytes.as_chunks().0.iter().zip(numbers.chunks_exact_mut(parts)) {
        numbers[0] = number(*bytes);
        numbers[1..].fill(0.0);
    }
}
