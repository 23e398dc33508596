//! Arrays in files: the sources of a pass, read sequentially, ahead of the computation.

use crate::kernel::{self, RowMajor, ValuesMut};
use bytemuck::Pod;
use outcore_format::ElementType;
use outcore_image::{Result, SweepStats};
use outcore_io::Runtime;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A source of some columns of another one, and these columns, as rising runs.
pub type Narrow = (Arc<dyn ArraySource>, Vec<Range<usize>>);

/// Memory whose size depends on properties of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purpose {
    /// Its use, as the end of a sentence.
    pub of: String,
    /// The condition under which less of it is needed.
    pub less_if: String,
}

impl std::fmt::Display for Purpose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.of, less_if([self.less_if.as_str()]))
    }
}

/// The conditions under which less memory is needed, as words behind its purpose; none if there are none.
pub(crate) fn less_if<'a>(conditions: impl IntoIterator<Item = &'a str>) -> String {
    let conditions: Vec<&str> = conditions.into_iter().collect();
    if conditions.is_empty() { String::new() } else { format!(" (less, if {})", conditions.join(", and ")) }
}

/// An array in a file, or one that is computed as it is read, whose first axis is the long one.
pub trait ArraySource: Send + Sync {
    /// The sizes of the axes: one or two.
    fn shape(&self) -> &[u64];

    /// The type of the elements.
    fn element(&self) -> ElementType;

    /// A description for plans and errors.
    fn describe(&self) -> String;

    /// The names of the columns, if they have any.
    fn names(&self) -> Option<&[String]> {
        None
    }

    /// The names of all columns of the file, and the numbers of those that are read, if these are not all.
    fn columns_of_file(&self) -> Option<(&[String], &[usize])> {
        None
    }

    /// Smallest number of rows that are read together; a part of them costs the same.
    fn unit_rows(&self) -> u64;

    /// Size of `rows` rows on the device in bytes.
    fn bytes_of(&self, rows: u64) -> u64;

    /// The bytes that are read for adjacent rows; not [`ArraySource::bytes_of`] if rows are computed from other data.
    fn read_bytes(&self, rows: Range<u64>) -> u64 {
        self.bytes_of(rows.end - rows.start)
    }

    /// The rows that a reader of at most `most_rows` rows at a time will read for adjacent rows: these, unless it reads
    /// whole groups.
    fn rows_to_read(&self, rows: Range<u64>, _most_rows: u64) -> Range<u64> {
        rows
    }

    /// The bytes that are read for a single row, if rows that are `step` apart are read faster one by one than with all
    /// rows between; otherwise `None`.
    fn row_alone_bytes(&self, _step: u64) -> Option<u64> {
        None
    }

    /// The purpose of memory whose size depends on properties of the file, for refusals to the user.
    fn purpose(&self) -> Option<Purpose> {
        None
    }

    /// A note to the user about the input, available after a pass.
    fn take_note(&self) -> Option<String> {
        None
    }

    /// A source of some columns alone, and their numbers as rising runs: at least the `wanted` ones. `None` if reading
    /// them costs as much as reading all.
    fn of_columns(&self, _wanted: Vec<Range<usize>>) -> Option<Narrow> {
        None
    }

    /// Memory of `rows` rows if they are computed before they are read, otherwise 0.
    fn computed_bytes(&self, _rows: u64) -> u64 {
        0
    }

    /// Largest memory of a worker that computes such rows.
    fn computing_bytes(&self) -> u64 {
        0
    }

    /// Computes rows on all workers, if they are computed before they are read: these rows, in memory, and the cost of
    /// computing them.
    ///
    /// # Errors
    /// Too little memory, a read that failed, a request to stop.
    fn compute_rows(&self, _runtime: &Runtime, _rows: Range<u64>) -> Result<Option<(Box<dyn Landed>, SweepStats)>> {
        Ok(None)
    }

    /// A worker's reader of ranges of at most `most_rows` rows, of which at most `depth` are under way.
    ///
    /// # Errors
    /// Too little memory, or errors of the operating system.
    fn reader<'a>(&'a self, runtime: &Runtime, most_rows: u64, depth: usize) -> Result<Box<dyn SourceReader + 'a>>;

    /// Memory of a reader with these limits.
    fn reader_bytes(&self, most_rows: u64, depth: usize) -> u64;

    /// Allows the cache to keep the pages that a pass reads, up to `most_bytes`, and shrinks a larger one.
    ///
    /// # Errors
    /// The machine has less memory than the limit says.
    fn use_cache(&self, _most_bytes: u64) -> Result<()> {
        Ok(())
    }
}

/// One worker's reads of a source.
pub trait SourceReader: Send {
    /// Begins to read rows; `false` if there is no room for them yet.
    ///
    /// # Errors
    /// Errors of the operating system.
    fn push(&mut self, rows: Range<u64>) -> Result<bool>;

    /// Waits for the oldest rows that were pushed.
    ///
    /// # Errors
    /// A read that failed, or damaged bytes.
    fn next(&mut self) -> Result<Box<dyn Landed + '_>>;

    /// Statistics since the last call.
    fn take_stats(&mut self) -> SweepStats;
}

/// One worker's reads of rows that are in memory: all of them land at once.
#[derive(Clone, Copy)]
pub(crate) struct MemoryReader<'a>(pub &'a dyn Landed);

impl SourceReader for MemoryReader<'_> {
    fn push(&mut self, _rows: Range<u64>) -> Result<bool> {
        Ok(true)
    }

    fn next(&mut self) -> Result<Box<dyn Landed + '_>> {
        Ok(Box::new(*self))
    }

    fn take_stats(&mut self) -> SweepStats {
        SweepStats::default()
    }
}

impl Landed for MemoryReader<'_> {
    fn vector(&self, column: usize, rows: Range<u64>) -> Option<&[u8]> {
        self.0.vector(column, rows)
    }

    fn copy(&self, first: u64, step: i64, count: usize, to: &mut [u8], stride_bytes: usize) -> Result<()> {
        self.0.copy(first, step, count, to, stride_bytes)
    }
}

/// The rows of a source that were read last, in memory.
pub trait Landed: Sync {
    /// The elements of a column in adjacent rows, where they lie together; for all columns of these rows, or none.
    fn vector(&self, column: usize, rows: Range<u64>) -> Option<&[u8]>;

    /// Copies `count` rows, `step` apart, into vectors that begin `stride_bytes` behind each other.
    ///
    /// # Errors
    /// Bytes that are no such elements.
    fn copy(&self, first: u64, step: i64, count: usize, to: &mut [u8], stride_bytes: usize) -> Result<()>;
}

/// No rows: those of a source that a partition does not need, or that is computed before it is read.
pub(crate) struct NoRows;

impl Landed for NoRows {
    fn vector(&self, _column: usize, _rows: Range<u64>) -> Option<&[u8]> {
        None
    }

    fn copy(&self, _first: u64, _step: i64, _count: usize, _to: &mut [u8], _stride_bytes: usize) -> Result<()> {
        Ok(())
    }
}

/// Adjacent rows in memory, as vectors of one column after the other.
pub(crate) struct ColumnsInMemory<B> {
    pub rows: Range<u64>,
    pub columns: usize,
    /// Size of an element in bytes.
    pub size: usize,
    pub bytes: B,
}

impl<B: Deref<Target = [u8]> + Sync> Landed for ColumnsInMemory<B> {
    fn vector(&self, column: usize, rows: Range<u64>) -> Option<&[u8]> {
        let first = column * (self.rows.end - self.rows.start) as usize + (rows.start - self.rows.start) as usize;
        Some(&self.bytes[first * self.size..][..(rows.end - rows.start) as usize * self.size])
    }

    fn copy(&self, first: u64, step: i64, count: usize, to: &mut [u8], stride_bytes: usize) -> Result<()> {
        let (size, all) = (self.size, (self.rows.end - self.rows.start) as usize);
        for column in 0..self.columns {
            let from = &self.bytes[column * all * size..][..all * size];
            for i in 0..count {
                let row = first.wrapping_add_signed(step * i as i64) - self.rows.start;
                let to = &mut to[column * stride_bytes + i * size..][..size];
                to.copy_from_slice(&from[row as usize * size..][..size]);
            }
        }
        Ok(())
    }
}

/// Adjacent rows in memory, one after the other.
pub(crate) struct RowsInMemory<B> {
    pub first: u64,
    pub element: ElementType,
    pub columns: usize,
    pub row_bytes: usize,
    pub is_big_endian: bool,
    /// Whether the rows of a single column are a vector: aligned, adjacent, and in the byte order of the processor.
    pub is_vector: bool,
    pub numbers: B,
}

impl<T: Pod, B: Deref<Target = [T]> + Sync> RowsInMemory<B> {
    /// The bytes from a row on.
    fn from(&self, row: u64) -> &[u8] {
        &bytemuck::cast_slice(&self.numbers)[(row - self.first) as usize * self.row_bytes..]
    }
}

impl<T: Pod, B: Deref<Target = [T]> + Sync> Landed for RowsInMemory<B> {
    fn vector(&self, _column: usize, rows: Range<u64>) -> Option<&[u8]> {
        let len = (rows.end - rows.start) as usize * self.row_bytes;
        self.is_vector.then(|| &self.from(rows.start)[..len])
    }

    fn copy(&self, first: u64, step: i64, count: usize, to: &mut [u8], stride_bytes: usize) -> Result<()> {
        let &RowsInMemory { element, columns, row_bytes: row_stride_bytes, is_big_endian, .. } = self;
        if columns == 0 {
            return Ok(());
        }
        // Adjacent rows are transposed at once.
        let at_once = if step == 1 { count } else { 1 };
        for i in (0..count).step_by(at_once.max(1)) {
            let row = first.wrapping_add_signed(step * i as i64);
            let shape = RowMajor { rows: at_once, columns, row_stride_bytes, is_big_endian };
            let to = ValuesMut::from_bytes(element, &mut to[i * element.bytes()..]);
            kernel::transpose(self.from(row), shape, to, stride_bytes / element.bytes());
        }
        Ok(())
    }
}
