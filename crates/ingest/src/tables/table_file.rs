//! Tables of numbers in files, Parquet or Arrow, of which all columns are read, a few rows at a time.
//!
//! The first column may hold ids; all others are numbers without nulls. What decoding takes is set aside as it is for
//! imports (`parquet.rs`, `arrow_stream.rs`).

use crate::format::{Format, is_table};
use crate::input::context::InputContext;
use crate::input::file::Input;
use crate::tables::arrow_stream;
use crate::tables::batches::Batches;
#[cfg(feature = "parquet")]
use crate::tables::parquet;
use crate::tables::values::{column_names, each_integer, each_real, is_integer, is_real, texts_of};
use arrow_array::{Array, RecordBatch};
use arrow_schema::SchemaRef;
use outcore_image::{Error, Result};
use outcore_io::{Budget, Runtime, trim_freed_memory};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows are handed over so many numbers at a time, at most, unless one alone has more.
const PART_NUMBERS: usize = 1 << 16;

/// A table of numbers in a file.
pub struct TableFile {
    path: PathBuf,
    schema: SchemaRef,
    batches: Batches,
    budget: Arc<Budget>,
}

/// The ids of adjacent rows.
#[derive(Debug)]
pub enum RowIds {
    /// There are none.
    None,
    /// Whole numbers.
    Integers(Vec<i128>),
    /// Strings.
    Texts(Vec<String>),
}

impl RowIds {
    /// The id of a row, if there are ids.
    pub fn get(&self, row: usize) -> Option<String> {
        match self {
            RowIds::None => None,
            RowIds::Integers(ids) => ids.get(row).map(i128::to_string),
            RowIds::Texts(ids) => ids.get(row).cloned(),
        }
    }
}

impl std::fmt::Debug for TableFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl TableFile {
    /// Whether a file is taken for a table, by what its name ends in.
    pub fn is_named(path: &Path) -> bool {
        table_format(path).is_some()
    }

    /// Opens a table; its rows are not read yet.
    ///
    /// # Errors
    /// Errors of the operating system; a damaged file; no memory.
    pub fn open(runtime: &Runtime, path: &Path) -> Result<Self> {
        let input = Input::file(path, &InputContext::of(runtime))?;
        let (schema, batches) = match table_format(path) {
            #[cfg(feature = "parquet")]
            Some("parquet") => {
                let (_, schema, batches) = parquet::chosen(&input, |schema| Ok((0..schema.fields().len()).collect()))?;
                (schema, batches)
            }
            _ => arrow_stream::whole(&input)?,
        };
        let budget = Arc::clone(runtime.budget());
        Ok(TableFile { path: path.to_owned(), schema, batches, budget })
    }

    /// The names of the columns.
    pub fn names(&self) -> Vec<String> {
        column_names(&self.schema).into_iter().map(str::to_owned).collect()
    }

    /// Calls `work` with all rows in their order, some at a time: their ids, if the first column has them, and the
    /// numbers of all other columns, row by row.
    ///
    /// # Errors
    /// A damaged file; a column of anything else than numbers; a null; no memory; what `work` refuses.
    pub fn for_each_part(self, has_ids: bool, mut work: impl FnMut(&RowIds, &[f64]) -> Result<()>) -> Result<()> {
        let first = usize::from(has_ids);
        for field in &self.schema.fields()[first.min(self.schema.fields().len())..] {
            let kind = field.data_type();
            if !is_real(kind) && !is_integer(kind) {
                let expected = format!("numbers in column `{}`", field.name());
                return Err(Error::input(&self.path, None, expected, kind.to_string())
                    .advise("leave the column out, or cast it to float64"));
            }
        }
        if has_ids && is_real(self.schema.field(0).data_type()) {
            let (name, kind) = (self.schema.field(0).name(), self.schema.field(0).data_type());
            return Err(Error::input(&self.path, None, format!("ids in column `{name}`"), kind.to_string())
                .advise("ids are whole numbers or strings; leave the column out if rows are in the order of ids"));
        }
        let columns = self.schema.fields().len() - first;
        let most = (PART_NUMBERS / (columns + 4)).max(1);
        // Ids take up to four numbers each.
        let _part = self.budget.reserve("rows of a table", 8 * (most * (columns + 4)) as u64)?;
        let (mut next_row, mut numbers) = (0, Vec::new());
        for batch in self.batches {
            let batch = batch?;
            for start in (0..batch.rows.num_rows()).step_by(most) {
                let part = batch.rows.slice(start, most.min(batch.rows.num_rows() - start));
                check_nulls(&self.path, &part, next_row)?;
                numbers.clear();
                numbers.resize(part.num_rows() * columns, 0.0);
                for (place, column) in part.columns()[first..].iter().enumerate() {
                    put_column(column, place, columns, &mut numbers);
                }
                let ids = if has_ids { ids_of(part.column(0)) } else { RowIds::None };
                work(&ids, &numbers)?;
                next_row += part.num_rows() as u64;
            }
        }
        trim_freed_memory();
        Ok(())
    }
}

/// The name of the format, if the ending of the file's name is that of tables.
fn table_format(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    Format::by_ending(&name).map(|format| format.name).filter(|name| is_table(name))
}

fn ids_of(column: &dyn Array) -> RowIds {
    let mut ids = Vec::new();
    match each_integer(column, |id| ids.push(id)) {
        true => RowIds::Integers(ids),
        false => RowIds::Texts(texts_of(column).into_iter().map(ToOwned::to_owned).collect()),
    }
}

fn put_column(column: &dyn Array, place: usize, columns: usize, numbers: &mut [f64]) {
    let mut places = numbers[place..].iter_mut().step_by(columns);
    let mut put = |number: f64| places.next().into_iter().for_each(|place| *place = number);
    if !each_integer(column, |number| put(number as f64)) {
        each_real(column, put);
    }
}

fn check_nulls(path: &Path, part: &RecordBatch, first_row: u64) -> Result<()> {
    for (column, field) in part.columns().iter().zip(part.schema_ref().fields()) {
        // Nulls may be in a dictionary's values, hence the logical ones.
        if let Some(nulls) = column.logical_nulls()
            && nulls.null_count() > 0
        {
            let row = first_row + nulls.iter().position(|is_valid| !is_valid).unwrap_or(0) as u64;
            let expected = format!("a value in column `{}`", field.name());
            return Err(Error::input(path, Some(row), expected, format!("null in row {row}"))
                .advise("fill such values in first; rows count from 0"));
        }
    }
    Ok(())
}
