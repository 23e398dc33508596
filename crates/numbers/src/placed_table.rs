//! Tables of numbers whose rows have places: columns of Parquet and Arrow files, of which any rows are read, on any
//! worker, without an import.
//!
//! The columns that are read, what becomes of their numbers, and what is refused or noted are the same as when the file
//! is imported (`number_table.rs`, `number_columns.rs`).

use crate::arrow_columns::ArrowColumns;
use crate::number_columns::{Rounded, fill, refused, see_rounded};
use crate::number_table::{Chosen, NumberFacts, NumberOptions};
use crate::parquet_columns::ParquetColumns;
use arrow_array::Array;
use arrow_schema::Schema;
use outcore_format::ElementType;
use outcore_image::{Error, Result};
use outcore_ingest::Reads;
use outcore_ingest::parts::{CountedFile, Input, InputContext, Kind, by_magic};
use outcore_io::{Budget, Input as InputFile, Runtime};
use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows are decoded at most so many at a time, unless they are compressed together.
const MOST_RUN_ROWS: u64 = 1 << 20;
/// The magic number of old files of Arrow.
const FEATHER_1: &[u8] = b"FEA1";

/// A table in a file, opened.
pub struct PlacedTable {
    path: PathBuf,
    file: InputFile,
    identity: [u64; 5],
    facts: NumberFacts,
    /// The names of all columns of the file, and which of them are taken.
    all_names: Vec<String>,
    places: Vec<usize>,
    rows: u64,
    columns: Box<dyn PlacedColumns>,
    rounded: Rounded,
}

impl std::fmt::Debug for PlacedTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlacedTable").field("path", &self.path).field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// The columns that are taken of a file.
pub(crate) trait PlacedColumns: Send + Sync {
    /// Number of rows.
    fn rows(&self) -> u64;

    /// The layout of the rows in the file.
    fn packing(&self) -> Packing;

    /// End of the run that begins at a row: rows that are decoded together, `most_rows` if they need not be more.
    fn run_end(&self, row: u64, most_rows: u64) -> u64;

    /// The bytes of the file that are read for a run of rows of a column.
    fn read_bytes(&self, column: usize, run: Range<u64>) -> u64;

    /// The memory that reading rows of a column takes, at most.
    fn decoding_bytes(&self, column: usize) -> u64;

    /// Decodes a run of rows of a column, and hands them over in order, some at a time.
    fn read(
        &self,
        file: &CountedFile,
        budget: &Budget,
        column_and_rows: (usize, Range<u64>),
        take: &mut dyn FnMut(&dyn Array) -> Result<()>,
    ) -> Result<()>;
}

/// The layout of the rows of a table in its file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Packing {
    /// Number of row groups or batches.
    pub groups: usize,
    /// Name of a group: row group or batch.
    pub group_name: &'static str,
    /// Compressions of columns: "none", "zstd" and so on.
    pub codecs: Vec<String>,
    /// Encodings of numbers, in Parquet.
    pub encodings: Vec<String>,
}

/// An error at a row of a table.
#[derive(Debug)]
pub struct Misplaced {
    /// The first row without elements.
    pub row: u64,
    /// The error.
    pub error: Error,
}

impl PlacedTable {
    /// Whether a file that begins so may be such a table.
    pub fn begins_so(start: &[u8]) -> bool {
        let kind = by_magic(start);
        matches!(kind, Some(Kind::Read("parquet" | "arrow"))) || start.starts_with(FEATHER_1)
    }

    /// Opens a table in a file. Reads, of Parquet, the metadata and the headers of the pages of all chosen columns; of
    /// Arrow, the headers of all batches.
    ///
    /// # Errors
    /// Errors of the operating system; another kind of file, or a damaged one; columns that do not exist or hold no
    /// numbers; no memory.
    pub fn open(runtime: &Runtime, path: &Path, options: &NumberOptions) -> Result<Self> {
        let input = Input::file(path, &InputContext::of(runtime))?;
        let file = input.open_file()?;
        let identity = file.file().identity()?;
        let mut start = vec![0; 8.min(file.len_bytes() as usize)];
        file.read_at(&mut start, 0).map_err(|error| Error::file_at(path, "read", 0, error))?;
        let counted = CountedFile::new(file.clone(), &Arc::default());
        let (chosen, all_names) = (RefCell::new(None), RefCell::new(Vec::new()));
        let choose = |schema: &Schema| {
            let found = Chosen::of_schema(path, schema, options)?;
            *all_names.borrow_mut() = schema.fields().iter().map(|field| field.name().clone()).collect();
            let columns = found.columns.clone();
            *chosen.borrow_mut() = Some(found);
            Ok(columns)
        };
        let (format, columns, schema): (_, Box<dyn PlacedColumns>, _) = match start.starts_with(b"PAR1") {
            true => {
                let (columns, schema) = ParquetColumns::open(&input, &counted, choose)?;
                ("parquet", Box::new(columns), schema)
            }
            false => {
                let (columns, schema) = ArrowColumns::open(path, &counted, input.budget(), choose)?;
                ("arrow", Box::new(columns), schema)
            }
        };
        let rows = columns.rows();
        let Chosen { columns: places, kinds, note } = chosen.into_inner().unwrap_or_default();
        let facts = NumberFacts {
            format,
            names: Some(schema.fields().iter().map(|field| field.name().clone()).collect()),
            kinds,
            rows: Some(rows),
            input_bytes: input.size_bytes(),
            notes: note.into_iter().collect(),
            ..NumberFacts::default()
        };
        let (path, all_names, rounded) = (path.to_owned(), all_names.into_inner(), Rounded::default());
        Ok(PlacedTable { path, file, identity, facts, all_names, places, rows, columns, rounded })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The facts of the table.
    pub fn facts(&self) -> &NumberFacts {
        &self.facts
    }

    /// The names of all columns of the file, and which of them are taken.
    pub fn columns_of_file(&self) -> (&[String], &[usize]) {
        (&self.all_names, &self.places)
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The layout of the rows in the file.
    pub fn packing(&self) -> Packing {
        self.columns.packing()
    }

    /// The bytes of the file that are read for a run of rows of a column.
    pub fn read_bytes(&self, column: usize, run: Range<u64>) -> u64 {
        self.columns.read_bytes(column, run)
    }

    /// The memory that a worker takes which reads rows of a column, at most.
    pub fn decoding_bytes(&self, column: usize) -> u64 {
        self.columns.decoding_bytes(column)
    }

    /// Adjacent rows as runs, each of which [`PlacedTable::read`] reads.
    pub fn runs(&self, rows: &Range<u64>) -> Vec<Range<u64>> {
        let (mut runs, mut start) = (Vec::new(), rows.start);
        while start < rows.end {
            let end = self.columns.run_end(start, MOST_RUN_ROWS).min(rows.end);
            runs.push(start..end);
            start = end;
        }
        runs
    }

    /// Reads a run of rows of a column as elements of a type; the caller has set aside what decoding takes.
    ///
    /// # Errors
    /// A damaged file, a number that elements do not hold, a read that failed, no memory.
    #[doc(hidden)]
    pub fn read(
        &self,
        budget: &Budget,
        reads: &Arc<Reads>,
        (column, rows): (usize, Range<u64>),
        element: ElementType,
        to: &mut [u8],
    ) -> std::result::Result<(), Misplaced> {
        let file = CountedFile::new(self.file.clone(), reads);
        let name = self.facts.names.as_ref().map_or("", |names| names[column].as_str());
        let (mut row, mut rest) = (rows.start, to);
        let mut failed_row = None;
        let mut take = |values: &dyn Array| {
            let (own, left) = std::mem::take(&mut rest).split_at_mut(values.len() * element.bytes());
            rest = left;
            if let Err((at, found)) = fill(values, element, own) {
                let at = row + at as u64;
                failed_row = Some(at);
                return Err(refused(&self.path, (name, element), at, found, true));
            }
            if element == ElementType::Float64 {
                see_rounded(values, &self.rounded, (row, column), name);
            }
            row += values.len() as u64;
            Ok(())
        };
        let outcome = self.columns.read(&file, budget, (column, rows), &mut take);
        outcome.map_err(|error| Misplaced { row: failed_row.unwrap_or(row), error })
    }

    /// Refuses a file that has changed since it was opened.
    ///
    /// # Errors
    /// It has, or it cannot be looked at.
    pub fn check_unchanged(&self) -> Result<()> {
        // Another name, or none, changes what is known of a file, but not the file: its size and when it was written.
        let [_, _, len_bytes, _, written] = self.file.file().identity()?;
        if (len_bytes, written) == (self.identity[2], self.identity[4]) {
            return Ok(());
        }
        let found = format!("one that was changed since, and has {len_bytes} bytes");
        Err(Error::input(&self.path, None, format!("the file of {} bytes that was opened", self.identity[2]), found)
            .advise("open it again; nothing that was computed of it is right"))
    }

    /// A note on the elements that were read since the last call.
    pub fn take_note(&self) -> Option<String> {
        self.rounded.take_note()
    }
}
