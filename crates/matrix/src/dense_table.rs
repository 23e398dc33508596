//! Dense matrices in tables, as users have them and as results are written: brought to rows in a temporary file.
//!
//! A table whose first column is `vertex`, `row` or `column` has its rows under the ids of the image, in the order of
//! the image, as every table of results has; any other has a column of numbers for each column, with rows in the order
//! of ids. Columns whose names end in `_real` and `_imag` by turns are parts of complex numbers.
//!
//! *Cost.* A pass over the table and one over the ids; 8 bytes of a temporary file for each number, which are written
//! row by row where the image is not in the order of its ids. Memory for a few rows.

use crate::dense::{DenseFile, DenseLayout};
use crate::npy::{Element, refusal};
use crate::sparse::{Operand, Side, SparseMatrix};
use outcore_image::{Error, Result};
use outcore_ingest::{RowIds, SIDES, TableFile};
use outcore_io::Spill;
use outcore_io::buffer::raw_bytes;
use outcore_table::{Id, IdBatch, IdStream};
use std::path::Path;

/// Names of columns of ids in results.
const ID_NAMES: [&str; 3] = ["vertex", "row", "column"];

impl SparseMatrix {
    /// Opens a dense matrix with a row for each row of an operand: a .npy file, as [`DenseFile::open`] does, or a table
    /// (.parquet, .arrow, .feather), which goes to a temporary file first. How many rows and columns there are is not
    /// checked, but for ids.
    ///
    /// # Errors
    /// Errors of the operating system; another kind of file, or a damaged one; a column without numbers; a null; ids
    /// that are not those of the image in its order; a full disk.
    pub fn open_dense(&self, operand: Operand, path: &Path) -> Result<DenseFile> {
        let runtime = self.graph().runtime();
        if !TableFile::is_named(path) {
            return DenseFile::open(runtime, path).map_err(|error| match (error, path.extension()) {
                (Error::Input { path, found, .. }, ending) if ending.is_none_or(|ending| ending != "npy") => {
                    refusal(&path, "a .npy file, or one that ends in .parquet, .arrow or .feather".to_owned(), found)
                }
                (error, _) => error,
            });
        }
        let table = TableFile::open(runtime, path)?;
        let names = table.names();
        let has_ids = names.first().is_some_and(|name| ID_NAMES.contains(&name.as_str()));
        let numbers = &names[usize::from(has_ids)..];
        // The index that pandas writes would be read as a column of numbers.
        let is_index = |name: &&String| ID_NAMES.contains(&name.as_str()) || name.starts_with("__index_level_");
        if let Some(name) = numbers.iter().find(is_index) {
            let expected = "columns of numbers, behind ids in the first column or without ids".to_owned();
            let found = format!("the column `{name}` behind others; pandas leaves its index out with index=False");
            return Err(refusal(path, expected, found));
        }
        let is_complex = !numbers.is_empty() && numbers.len() % 2 == 0 && numbers.as_chunks().0.iter().all(are_parts);
        let (width, element) = (numbers.len(), Element::computed(is_complex));
        let spill = Spill::create(runtime.backend(), &self.graph().image().temporary_path("table"))?;
        let row_bytes = 8 * width as u64;
        let mut ids = if has_ids { Some(Ids::new(self, operand, path)?) } else { None };
        let mut rows = 0;
        table.for_each_part(has_ids, |row_ids, numbers| {
            runtime.cancel().check()?;
            let count = numbers.len() / width.max(1);
            if let Some(ids) = &mut ids {
                ids.check(row_ids)?;
            }
            match ids.is_some() && !self.is_in_order() {
                true => {
                    for (row, numbers) in (rows..).zip(numbers.chunks_exact(width.max(1))) {
                        spill.write(raw_bytes(numbers), self.row_of(operand, row) as u64 * row_bytes)?;
                    }
                }
                false => spill.write(raw_bytes(numbers), rows as u64 * row_bytes)?,
            }
            rows += count;
            Ok(())
        })?;
        // The product runs without the code that read the table.
        outcore_io::let_go_of_code();
        let (columns, column_bytes) = (row_bytes / element.bytes as u64, element.bytes as u64);
        let layout = DenseLayout {
            offset_bytes: 0,
            rows: rows as u64,
            columns,
            row_bytes,
            column_bytes,
            element: element.name(),
        };
        DenseFile::of_table(path, &spill, layout)
    }
}

/// Whether columns of these names are the parts of a complex one.
fn are_parts([re, im]: &[String; 2]) -> bool {
    re.strip_suffix("_real").is_some_and(|name| im.strip_suffix("_imag") == Some(name))
}

/// The ids that rows must have, one after the other.
struct Ids<'a> {
    path: &'a Path,
    stream: IdStream,
    batch: IdBatch,
    /// The vertex of the first id in the batch.
    first: u64,
    /// The next vertex, and the end.
    next: u64,
    end: u64,
    start: u64,
    /// Number subtracted from numeric ids of the image: the first vertex of the side if the matrix is rectangular, 0 if
    /// it is square.
    base: u64,
    /// The prefix of strings of the side if the matrix is rectangular: results have them without it.
    prefix: Option<&'static str>,
}

impl<'a> Ids<'a> {
    fn new(matrix: &SparseMatrix, operand: Operand, path: &'a Path) -> Result<Self> {
        let (_, Side { first, count }, _) = matrix.rows_of(operand);
        let start = first as u64;
        let base = if matrix.is_square() { 0 } else { start };
        let prefix = (!matrix.is_square()).then_some(SIDES[usize::from(first > 0)]);
        let stream = IdStream::new(matrix.graph().image())?;
        let (batch, end) = (IdBatch::Unsigned(Vec::new()), start + count as u64);
        Ok(Ids { path, stream, batch, first: 0, next: start, end, start, base, prefix })
    }

    /// Refuses ids that are not the next ones.
    fn check(&mut self, found: &RowIds) -> Result<()> {
        let count = match found {
            RowIds::None => 0,
            RowIds::Integers(ids) => ids.len(),
            RowIds::Texts(ids) => ids.len(),
        };
        for row in 0..count {
            if self.next == self.end {
                return Err(refusal(
                    self.path,
                    format!("{} rows", self.end - self.start),
                    "a row behind the last one".to_owned(),
                ));
            }
            while self.next >= self.first + self.batch.len() as u64 {
                let Some((first, batch)) = self.stream.next()? else {
                    return Err(refusal(self.path, "an id for every row".to_owned(), "fewer in the image".to_owned()));
                };
                (self.first, self.batch) = (first, batch.clone());
            }
            let expected = self.batch.get((self.next - self.first) as usize);
            let is_same = match (expected, found) {
                (Id::Unsigned(id), RowIds::Integers(ids)) => ids[row] == i128::from(id) - i128::from(self.base),
                (Id::Signed(id), RowIds::Integers(ids)) => ids[row] == i128::from(id) - i128::from(self.base),
                (Id::Text(id), RowIds::Texts(ids)) => ids[row] == id || Some(&*ids[row]) == self.own(id),
                (Id::Text(id), RowIds::Integers(ids)) => {
                    self.own(id).and_then(|id| id.parse::<i128>().ok()) == Some(ids[row]) //
                }
                _ => false,
            };
            if !is_same {
                return Err(self.other(expected, found.get(row).unwrap_or_default()));
            }
            self.next += 1;
        }
        Ok(())
    }

    /// A string without the prefix of its side, if it has one.
    fn own<'s>(&self, id: &'s str) -> Option<&'s str> {
        self.prefix.and_then(|prefix| id.strip_prefix(prefix))
    }

    fn other(&self, expected: Id<&str>, found: String) -> Error {
        let order = if matches!(expected, Id::Text(_)) { "the ids as text" } else { "ids" };
        let expected = match expected {
            Id::Unsigned(id) => (i128::from(id) - i128::from(self.base)).to_string(),
            Id::Signed(id) => (i128::from(id) - i128::from(self.base)).to_string(),
            Id::Text(id) => self.own(id).unwrap_or(id).to_owned(),
        };
        let row = self.next - self.start;
        let advice = format!(
            "rows under ids are in the order in which results of this image are written; if rows are in the order of \
             {order}, leave the column of ids out"
        );
        Error::input(self.path, None, format!("the id {expected} in row {row}"), found).advise(advice)
    }
}
