//! Tables in Parquet and Arrow files, read in place.
//!
//! *Idea.* Rows are packed in such files, so a pass decodes a stretch of them into memory, column by column, and
//! computes with it before it continues (`pass.rs`). Workers take one column of a row group or batch after the other.
//! Only columns that are used are read. Elements are those that an import of the file would store, and the partitions
//! of a pass over all columns are those of the image.
//!
//! *Cost.* Every pass decodes its input. Memory for a stretch, and for every worker the pages or the batch of one
//! column.

use crate::columns::joined;
use crate::import::common_element;
use crate::source::{ArraySource, ColumnsInMemory, Landed, MemoryReader, Narrow, NoRows, Purpose, SourceReader};
use outcore_format::dense::rows_per_page;
use outcore_format::{ElementType, PAGE_BYTES};
use outcore_image::{Result, SweepStats};
use outcore_ingest::Reads;
use outcore_io::{Buffer, Runtime, into_inner, lock};
use outcore_numbers::{Misplaced, NumberOptions, PlacedTable};
use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A table in a file, or some of its columns.
pub struct TableSource {
    table: Arc<PlacedTable>,
    element: ElementType,
    /// The columns of the table that are read.
    columns: Vec<usize>,
    shape: [u64; 2],
}

impl std::fmt::Debug for TableSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableSource").field("table", &self.table).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl TableSource {
    /// Opens a Parquet or Arrow file. Columns that do not hold numbers are skipped, and reported by a note of the
    /// runtime.
    ///
    /// # Errors
    /// Errors of the operating system; another kind of file, or a damaged one; no columns of numbers; no memory.
    pub fn open(runtime: &Runtime, path: impl AsRef<Path>) -> Result<Self> {
        let table = Arc::new(PlacedTable::open(runtime, path.as_ref(), &NumberOptions::default())?);
        table.facts().notes.iter().for_each(|note| runtime.note(note.clone()));
        let (element, columns) = (common_element(&table.facts().kinds), table.facts().kinds.len());
        let shape = [table.rows(), columns as u64];
        Ok(TableSource { table, element, columns: (0..columns).collect(), shape })
    }

    /// The table.
    pub fn table(&self) -> &PlacedTable {
        &self.table
    }

    /// Decodes rows into vectors of one column after the other.
    fn decode(&self, runtime: &Runtime, rows: &Range<u64>, reads: &Arc<Reads>, to: &mut [u8]) -> Result<()> {
        let size = self.element.bytes();
        let mut columns: Vec<&mut [u8]> =
            to.chunks_exact_mut(((rows.end - rows.start) as usize * size).max(1)).collect();
        // All columns of some rows, then those of the next ones, as they lie in the file.
        let mut units = VecDeque::new();
        for run in self.table.runs(rows) {
            for (rest, &column) in columns.iter_mut().zip(&self.columns) {
                let (own, others) = std::mem::take(rest).split_at_mut((run.end - run.start) as usize * size);
                *rest = others;
                units.push_back((column, run.clone(), own));
            }
        }
        let decoding_bytes = self.computing_bytes().max(1);
        let most = (runtime.budget().available_bytes() / decoding_bytes).clamp(1, runtime.threads() as u64);
        let workers = most.min(units.len() as u64) as usize;
        let _decoding = runtime.budget().reserve(&self.decoding_purpose(), workers as u64 * decoding_bytes)?;
        // The first mistake of the table is reported, by its row and column, for any worker that finds it.
        let (units, first) = (Mutex::new(units), Mutex::new(None::<(u64, usize, outcore_image::Error)>));
        let work = |_: usize| -> outcore_io::Result<()> {
            loop {
                runtime.cancel().check()?;
                let Some((column, run, own)) = lock(&units).pop_front() else { return Ok(()) };
                if lock(&first).as_ref().is_some_and(|(row, ..)| *row < run.start) {
                    return Ok(());
                }
                let unit = (column, run);
                if let Err(Misplaced { row, error }) = self.table.read(runtime.budget(), reads, unit, self.element, own)
                {
                    let mut first = lock(&first);
                    if first.as_ref().is_none_or(|(least, before, _)| (row, column) < (*least, *before)) {
                        *first = Some((row, column, error));
                    }
                }
            }
        };
        runtime.run_on(workers, work)?;
        self.table.check_unchanged()?;
        into_inner(first).map_or(Ok(()), |(.., error)| Err(error))
    }

    fn decoding_purpose(&self) -> String {
        format!("decoding columns of {}", self.table.path().display())
    }
}

impl ArraySource for TableSource {
    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn element(&self) -> ElementType {
        self.element
    }

    fn describe(&self) -> String {
        let kind = if self.table.facts().format == "parquet" { "Parquet" } else { "Arrow" };
        format!("{} ({kind}, decoded in every pass)", self.table.path().display())
    }

    fn names(&self) -> Option<&[String]> {
        self.table.facts().names.as_deref()
    }

    fn columns_of_file(&self) -> Option<(&[String], &[usize])> {
        Some(self.table.columns_of_file()).filter(|(names, places)| names.len() > places.len())
    }

    fn unit_rows(&self) -> u64 {
        rows_per_page(self.element) as u64
    }

    fn bytes_of(&self, rows: u64) -> u64 {
        rows.div_ceil(self.unit_rows()) * self.shape[1] * PAGE_BYTES as u64
    }

    fn read_bytes(&self, rows: Range<u64>) -> u64 {
        let runs = self.table.runs(&rows);
        let of_run = |run: &Range<u64>| -> u64 {
            self.columns.iter().map(|&column| self.table.read_bytes(column, run.clone())).sum()
        };
        runs.iter().map(of_run).sum()
    }

    fn purpose(&self) -> Option<Purpose> {
        let packing = self.table.packing();
        let path = self.table.path().display();
        let groups = if packing.group_name == "batches" { "batches" } else { "pages" };
        let of = format!("of {path}, a column of which is decoded");
        Some(Purpose { of, less_if: format!("it is written with smaller {groups}") })
    }

    fn take_note(&self) -> Option<String> {
        self.table.take_note()
    }

    fn of_columns(&self, mut wanted: Vec<Range<usize>>) -> Option<Narrow> {
        wanted.retain(|run| !run.is_empty());
        let runs = joined(wanted, 0);
        let columns: Vec<usize> = runs.iter().flat_map(|run| self.columns[run.clone()].to_vec()).collect();
        if columns.is_empty() || columns.len() == self.columns.len() {
            return None;
        }
        let shape = [self.shape[0], columns.len() as u64];
        let narrow = TableSource { table: Arc::clone(&self.table), element: self.element, columns, shape };
        Some((Arc::new(narrow), runs))
    }

    fn computed_bytes(&self, rows: u64) -> u64 {
        rows.min(self.shape[0]).saturating_mul(self.shape[1]).saturating_mul(self.element.bytes() as u64)
    }

    fn computing_bytes(&self) -> u64 {
        self.columns.iter().map(|&column| self.table.decoding_bytes(column)).max().unwrap_or(0)
    }

    fn compute_rows(&self, runtime: &Runtime, rows: Range<u64>) -> Result<Option<(Box<dyn Landed>, SweepStats)>> {
        let (start, count) = (Instant::now(), (rows.end - rows.start) as usize);
        let len = self.columns.len().saturating_mul(count).saturating_mul(self.element.bytes());
        let mut bytes = Buffer::zeroed(runtime.budget(), "rows of a table", len)?;
        let reads: Arc<Reads> = Arc::default();
        self.decode(runtime, &rows, &reads, &mut bytes)?;
        let mut stats = SweepStats::of_reads(reads.stats());
        (stats.seconds, stats.pages_wanted) = (start.elapsed().as_secs_f64(), stats.pages_read);
        let decoded = ColumnsInMemory { rows, columns: self.columns.len(), size: self.element.bytes(), bytes };
        Ok(Some((Box::new(decoded), stats)))
    }

    fn reader<'a>(&'a self, _runtime: &Runtime, _most_rows: u64, _depth: usize) -> Result<Box<dyn SourceReader + 'a>> {
        // Rows are decoded before they are read: a stretch needs none of these.
        Ok(Box::new(MemoryReader(&NoRows)))
    }

    fn reader_bytes(&self, _most_rows: u64, _depth: usize) -> u64 {
        0
    }
}
