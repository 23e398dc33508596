//! Arrays in .npy files, read in place.
//!
//! A layout by rows is read on demand and transposed into vectors block by block; from the second pass on, the page
//! cache keeps the vectors (`turned.rs`). A layout by columns is read column by column, and consists of vectors
//! already.

use crate::checksum::Checksum;
use crate::kernel::{self, RowMajor, ValuesMut};
use crate::plan::BLOCK_ROWS;
use crate::source::{ArraySource, ColumnsInMemory, Landed, Narrow, RowsInMemory, SourceReader};
use crate::spaced::is_worth;
use crate::turned::TurnedPages;
use outcore_format::ElementType;
use outcore_format::dense::rows_per_page;
use outcore_image::{Error, Result, SweepStats};
use outcore_io::{DataFile, PinnedRun, Reader, Reservation, Runtime};
use outcore_matrix::{DenseFile, DenseLayout};
use std::collections::VecDeque;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most columns of elements below 64 bits of which a partition has whole groups of rows.
const MOST_NARROW_COLUMNS: u64 = 256;
/// Rings are whole pages of this size.
const PAGE_BYTES: u64 = 4096;

/// A vector or matrix in a .npy file, or in a part of a file that is laid out as one.
pub struct NpySource {
    path: PathBuf,
    file: Arc<DataFile>,
    layout: DenseLayout,
    element: ElementType,
    is_big_endian: bool,
    by_columns: bool,
    shape: Vec<u64>,
    checksum: Option<Checksum>,
    /// The cache of turned rows, unless others may write to the file.
    turned: Option<TurnedPages>,
}

impl std::fmt::Debug for NpySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NpySource").field("path", &self.path).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl NpySource {
    /// Opens a .npy file of bool, integers, float32 or float64.
    ///
    /// # Errors
    /// Errors of the operating system; anything but such a file.
    pub fn open(runtime: &Runtime, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = DenseFile::open(runtime, path)?;
        let (layout, is_vector) = (file.layout().clone(), file.is_vector());
        let source = NpySource::new(&file, layout, is_vector)?;
        let (rows, columns) = (source.layout.rows, source.layout.columns);
        // Partitions of wider rows of narrow elements are no whole groups.
        let is_narrow = rows_per_page(source.element) > BLOCK_ROWS;
        let has_groups = !is_narrow || columns <= MOST_NARROW_COLUMNS;
        let is_turned = !source.by_columns && rows > 0 && columns > 1 && has_groups;
        let turned = is_turned.then(|| TurnedPages::new(runtime, &source.file, (rows, columns), source.element));
        Ok(NpySource { turned: turned.transpose()?, ..source })
    }

    /// Opens a part of a file whose elements lie as `layout` says, such as the file of a `numpy.memmap`. Nothing of it
    /// is cached, for a memory map may be written to.
    ///
    /// # Errors
    /// Errors of the operating system; a file that is too short; other elements.
    pub fn open_part(runtime: &Runtime, path: impl AsRef<Path>, layout: DenseLayout, is_vector: bool) -> Result<Self> {
        let path = path.as_ref();
        let file = DenseFile::open_part(runtime, path, layout)?;
        let layout = file.layout().clone();
        NpySource::new(&file, layout, is_vector)
    }

    /// A part of a matrix in a file that is open.
    pub(crate) fn of_part(file: &DenseFile, layout: DenseLayout) -> Result<Self> {
        NpySource::new(file, layout, false)
    }

    fn new(file: &DenseFile, layout: DenseLayout, is_vector: bool) -> Result<Self> {
        let (order, kind) = layout.element.split_at(1);
        // The first letter of a type's name, and the bytes of an element.
        let is_kind = |own: &ElementType| kind == format!("{}{}", &own.name()[..1], own.bytes());
        let Some(element) = ElementType::ALL.into_iter().find(is_kind) else {
            return Err(Error::input(file.path(), None, "bool, integers or real numbers", layout.element.clone()));
        };
        let size = element.bytes() as u64;
        let shape = if is_vector { vec![layout.rows] } else { vec![layout.rows, layout.columns] };
        Ok(NpySource {
            path: file.path().to_owned(),
            file: Arc::clone(file.file()),
            is_big_endian: order == ">",
            by_columns: layout.columns > 1 && layout.row_bytes == size,
            layout,
            element,
            shape,
            checksum: None,
            turned: None,
        })
    }

    /// Adds the expected CRC-32 of the bytes, together with a header before them, whose CRC-32 and length are given.
    /// Passes that read all rows compare it, unless the layout is by columns.
    pub fn with_checksum(self, head: (u32, u64), expected: u32) -> Self {
        let checksum = Some(Checksum::new(head, expected, self.layout.rows));
        // Rows that are not read would not be checked.
        NpySource { checksum, turned: None, ..self }
    }

    /// Whether the elements of a column are adjacent; otherwise those of a row are.
    pub fn is_by_columns(&self) -> bool {
        self.by_columns
    }

    /// Offset and length of rows in the file, in bytes, if the layout is by rows.
    fn span(&self, rows: &Range<u64>) -> (u64, usize) {
        let start = self.layout.offset_bytes + rows.start * self.layout.row_bytes;
        let last = self.layout.columns.saturating_sub(1) * self.layout.column_bytes + self.element.bytes() as u64;
        let len = (rows.end - rows.start - 1) * self.layout.row_bytes + last;
        (start, if self.layout.columns == 0 { 0 } else { len as usize })
    }
}

impl ArraySource for NpySource {
    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn element(&self) -> ElementType {
        self.element
    }

    fn describe(&self) -> String {
        format!("{} (.npy, {})", self.path.display(), if self.by_columns { "by columns" } else { "by rows" })
    }

    fn unit_rows(&self) -> u64 {
        BLOCK_ROWS as u64
    }

    fn bytes_of(&self, rows: u64) -> u64 {
        match self.by_columns {
            true => rows * self.layout.columns * self.element.bytes() as u64,
            false => rows * self.layout.row_bytes,
        }
    }

    fn rows_to_read(&self, rows: Range<u64>, most_rows: u64) -> Range<u64> {
        match &self.turned {
            Some(turned) if turned.completes_groups(most_rows) => turned.will_complete(rows),
            _ => rows,
        }
    }

    fn row_alone_bytes(&self, step: u64) -> Option<u64> {
        let requests = if self.by_columns { self.layout.columns } else { 1 };
        let row_bytes = (self.bytes_of(1) / requests.max(1)).next_multiple_of(PAGE_BYTES) * requests;
        is_worth(requests, self.bytes_of(step).saturating_sub(row_bytes)).then(|| self.bytes_of(1))
    }

    fn of_columns(&self, wanted: Vec<Range<usize>>) -> Option<Narrow> {
        let (start, end) = (wanted.iter().map(|run| run.start).min()?, wanted.iter().map(|run| run.end).max()?);
        if !self.by_columns || end - start == self.layout.columns as usize {
            return None;
        }
        let (columns, skipped) = ((end - start) as u64, start as u64 * self.layout.column_bytes);
        let offset_bytes = self.layout.offset_bytes + skipped;
        let narrow = NpySource {
            path: self.path.clone(),
            file: Arc::clone(&self.file),
            layout: DenseLayout { offset_bytes, columns, ..self.layout.clone() },
            shape: vec![self.shape[0], columns],
            checksum: None,
            turned: None,
            ..*self
        };
        let run = start..end;
        Some((Arc::new(narrow), vec![run]))
    }

    fn reader<'a>(&'a self, runtime: &Runtime, most_rows: u64, depth: usize) -> Result<Box<dyn SourceReader + 'a>> {
        let ring_bytes = self.ring_bytes(most_rows, depth);
        let reader = Reader::new(runtime, &[Arc::clone(&self.file)], ring_bytes as usize)?;
        let under_way = VecDeque::new();
        let columns = Vec::new();
        let turned = self.turned.as_ref().filter(|turned| turned.has_groups(most_rows));
        let completes_groups = turned.is_some_and(|turned| turned.completes_groups(most_rows));
        let room_bytes = self.reader_bytes(most_rows, depth) - ring_bytes;
        let _room = runtime.budget().reserve("columns of rows", room_bytes)?;
        Ok(Box::new(NpyReader {
            source: self,
            turned,
            completes_groups,
            _room,
            reader,
            under_way,
            begun: (0, 0),
            columns,
            wanted: 0,
            cache_hits: 0,
        }))
    }

    fn reader_bytes(&self, most_rows: u64, depth: usize) -> u64 {
        let columns = if self.by_columns { self.bytes_of(most_rows) } else { 0 };
        let turned = self.turned.as_ref().map_or(0, |turned| turned.len_bytes(most_rows));
        self.ring_bytes(most_rows, depth) + columns + turned
    }

    fn use_cache(&self, most_bytes: u64) -> Result<()> {
        self.turned.as_ref().map_or(Ok(()), |turned| turned.begin_pass(most_bytes))
    }
}

impl NpySource {
    fn ring_bytes(&self, most_rows: u64, depth: usize) -> u64 {
        let most = self.bytes_of(most_rows.min(self.shape[0]).max(1)).max(1);
        let beside = self.turned.as_ref().map_or(0, |turned| self.bytes_of(turned.rows_beside(most_rows)));
        (depth as u64 * most.next_multiple_of(PAGE_BYTES) + beside).next_multiple_of(PAGE_BYTES)
    }
}

struct NpyReader<'a> {
    source: &'a NpySource,
    /// The cache of turned rows, if the rows of the pass can be whole groups.
    turned: Option<&'a TurnedPages>,
    /// Whether rows that begin or end within a group are read with the rest of it.
    completes_groups: bool,
    /// Memory of `columns`.
    _room: Reservation,
    reader: Reader,
    /// Rows under way, the oldest first, with their pages, if these are in the cache.
    under_way: VecDeque<(Range<u64>, Option<PinnedRun>)>,
    /// Number of ranges that are being read completely, and number of columns of the next one.
    begun: (usize, u64),
    /// The columns of the rows that landed last, in words.
    columns: Vec<u64>,
    wanted: u64,
    cache_hits: u64,
}

impl NpyReader<'_> {
    /// Begins to read as many of the pending rows as fit: all columns at once, or column by column.
    fn begin(&mut self) -> Result<()> {
        let (source, size) = (self.source, self.source.element.bytes() as u64);
        while let Some((rows, pinned)) = self.under_way.get(self.begun.0) {
            let parts = if source.by_columns { source.layout.columns } else { u64::from(pinned.is_none()) };
            while self.begun.1 < parts {
                let (offset, len) = match source.by_columns {
                    true => {
                        let start = source.layout.offset_bytes + self.begun.1 * source.layout.column_bytes;
                        (start + rows.start * size, ((rows.end - rows.start) * size) as usize)
                    }
                    false => source.span(rows),
                };
                if len > 0 && !self.reader.push(0, offset, len, 0)? {
                    return self.reader.submit();
                }
                self.wanted += len as u64 / PAGE_BYTES;
                self.begun.1 += 1;
            }
            self.begun = (self.begun.0 + 1, 0);
        }
        self.reader.submit()
    }
}

impl SourceReader for NpyReader<'_> {
    fn push(&mut self, rows: Range<u64>) -> Result<bool> {
        // Pending rows may not fit the ring or the queue of requests: the rest is read when other rows have landed.
        let rows = match self.turned {
            Some(turned) if self.completes_groups => turned.completed(rows),
            _ => rows,
        };
        let pinned = self.turned.and_then(|turned| turned.pinned(&rows));
        let hits = pinned.as_ref().map_or(0, |pinned| pinned.len() as u64);
        self.cache_hits += hits;
        self.wanted += hits;
        self.under_way.push_back((rows, pinned));
        self.begin()?;
        Ok(true)
    }

    fn next(&mut self) -> Result<Box<dyn Landed + '_>> {
        let source = self.source;
        if !source.by_columns {
            self.begin()?;
            let (rows, pinned) = self.under_way.pop_front().expect("rows were pushed");
            self.begun.0 -= 1;
            if let (Some(turned), Some(pinned)) = (self.turned, pinned) {
                return Ok(Box::new(turned.landed(&rows, pinned)));
            }
            let (_, len) = source.span(&rows);
            let bytes = match len {
                0 => &[],
                _ => self.reader.next()?.expect("rows were pushed").bytes,
            };
            // Rows that are read one by one are not all of them.
            let is_part = rows.end - rows.start >= BLOCK_ROWS as u64 || rows.end == source.shape[0];
            if let Some(checksum) = source.checksum.as_ref().filter(|_| is_part)
                && let Err((expected, computed)) = checksum.add(&rows, &bytes[..len])
            {
                let expected = format!("an array whose CRC-32 is {expected:08x}, as the archive says");
                return Err(Error::input(
                    &source.path,
                    None,
                    expected,
                    format!("an array whose CRC-32 is {computed:08x}"),
                )
                .advise("the file is damaged: write it again"));
            }
            let NpySource { element, is_big_endian, .. } = *source;
            let (columns, row_bytes) = (source.layout.columns as usize, source.layout.row_bytes as usize);
            let turned = self.turned;
            let layout = (row_bytes, is_big_endian);
            if let Some(landed) = turned.and_then(|turned| turned.turned(&rows, bytes, layout, &mut self.columns)) {
                return Ok(Box::new(landed));
            }
            let (first, is_vector, numbers) = (rows.start, false, bytes);
            let rows = RowsInMemory { first, element, columns, row_bytes, is_big_endian, is_vector, numbers };
            return Ok(Box::new(rows));
        }
        let rows = self.under_way.front().expect("rows were pushed").0.clone();
        let (count, size, columns) = (rows.end - rows.start, source.element.bytes(), source.layout.columns as usize);
        let count = count as usize;
        self.columns.resize((count * size * columns).div_ceil(8), 0);
        for column in 0..columns {
            self.begin()?;
            let extent = self.reader.next()?.expect("what lands next was begun");
            let all: &mut [u8] = bytemuck::cast_slice_mut(&mut self.columns);
            let to = &mut all[column * count * size..][..count * size];
            let shape =
                RowMajor { rows: count, columns: 1, row_stride_bytes: size, is_big_endian: source.is_big_endian };
            kernel::transpose(extent.bytes, shape, ValuesMut::from_bytes(source.element, to), count);
        }
        self.begin()?;
        self.under_way.pop_front();
        self.begun.0 -= 1;
        Ok(Box::new(ColumnsInMemory { rows, columns, size, bytes: bytemuck::cast_slice(&self.columns) }))
    }

    fn take_stats(&mut self) -> SweepStats {
        let mut stats = SweepStats::of_reads(self.reader.take_stats());
        stats.pages_wanted = std::mem::take(&mut self.wanted);
        stats.cache_hits = std::mem::take(&mut self.cache_hits);
        stats
    }
}
