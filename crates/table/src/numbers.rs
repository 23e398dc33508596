//! Numbers that belong to no graph, on their way out: a row for each row of an array, or a small table of statistics.
//!
//! Whoever computes rows gives them block by block, column by column, so that none but the block is in memory. A `.npy`
//! file holds the numbers alone; other files are tables whose first column names the rows.

use crate::output::{Format, Owner, Rows, npy_start, write_rows};
use crate::table::from_arrow;
use crate::text_file::FILE_BYTES;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use outcore_image::{AtomicFile, Result, require_disk};
use outcore_io::{Runtime, Unit, folder};
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How many rows of a block are converted together.
const BATCH_ROWS: usize = 1 << 12;

/// What rows of numbers are.
#[derive(Clone, Debug)]
pub struct NumbersShape {
    /// How many rows there are.
    pub rows: u64,
    /// The names of the columns.
    pub names: Vec<String>,
    /// What the rows are called, under the name of the column that says so; otherwise they are counted from 0 on.
    pub labels: Option<(&'static str, Vec<String>)>,
    /// Whether all numbers are whole, below 2^53.
    pub is_whole: bool,
    /// Whether it is a vector: a plain array has one dimension then.
    pub is_vector: bool,
}

/// Takes adjacent rows, column by column.
pub type PutRows<'a> = &'a mut dyn FnMut(&[Vec<f64>]) -> Result<()>;

impl NumbersShape {
    /// Refuses a file that cannot be written, before the work is done whose results it is for: an ending that is none,
    /// a folder in which nothing can be made, a disk without room for the least that the file can have.
    ///
    /// # Errors
    /// What [`write_numbers`] would say.
    pub fn check(&self, runtime: &Arc<Runtime>, output: &Path) -> Result<()> {
        let format = Format::of(output)?;
        AtomicFile::within(runtime, output)?;
        let least_bytes = format.least_bytes(self.rows, self.names.len() as u64);
        require_disk(&output.display().to_string(), least_bytes, least_bytes, folder(output))
    }

    /// The memory that writing takes beside the blocks, at least.
    ///
    /// # Errors
    /// A name whose ending says no format.
    pub fn output_bytes(&self, output: &Path) -> Result<u64> {
        let batch_bytes = 16 * (self.rows.min(BATCH_ROWS as u64) * (self.names.len() as u64 + 1));
        Ok(batch_bytes + Format::of(output)?.encoder_bytes(self.rows, self.names.len()) + FILE_BYTES)
    }
}

/// Writes rows to a file, in the format that its name ends in. `blocks` gives all of them in their order.
///
/// # Errors
/// An unknown ending, two columns of one name, what `blocks` returns, a full disk, a request to stop. Then there is no
/// new file, and an old one of that name is as it was.
pub fn write_numbers(
    runtime: &Arc<Runtime>,
    shape: &NumbersShape,
    output: &Path,
    blocks: &dyn Fn(PutRows<'_>) -> Result<()>,
) -> Result<()> {
    match Format::of(output)? {
        Format::Npy => write_array(runtime, shape, output, blocks),
        _ => write_rows(&NumbersTable { runtime, shape, blocks, schema: shape.schema() }, output),
    }
}

impl NumbersShape {
    fn schema(&self) -> SchemaRef {
        let mut fields = vec![match &self.labels {
            Some((name, _)) => Field::new(*name, DataType::Utf8, false),
            None => Field::new("row", DataType::UInt64, false),
        }];
        let kind = if self.is_whole { DataType::Int64 } else { DataType::Float64 };
        fields.extend(self.names.iter().map(|name| Field::new(name, kind.clone(), false)));
        Arc::new(Schema::new(fields))
    }

    /// Some rows of a block, of which the first one is `first`.
    fn batch(&self, schema: &SchemaRef, first: u64, block: &[Vec<f64>], rows: Range<usize>) -> Result<RecordBatch> {
        let places = first + rows.start as u64..first + rows.end as u64;
        let mut arrays: Vec<ArrayRef> = vec![match &self.labels {
            Some((_, labels)) => {
                Arc::new(StringArray::from_iter_values(&labels[places.start as usize..places.end as usize]))
            }
            None => Arc::new(UInt64Array::from_iter_values(places)),
        }];
        for column in block {
            let numbers = column[rows.clone()].iter();
            arrays.push(match self.is_whole {
                true => Arc::new(Int64Array::from_iter_values(numbers.map(|&number| number as i64))),
                false => Arc::new(Float64Array::from_iter_values(numbers.copied())),
            });
        }
        RecordBatch::try_new(Arc::clone(schema), arrays).map_err(from_arrow)
    }
}

/// Rows as a table.
struct NumbersTable<'a> {
    runtime: &'a Arc<Runtime>,
    shape: &'a NumbersShape,
    blocks: &'a dyn Fn(PutRows<'_>) -> Result<()>,
    schema: SchemaRef,
}

impl Rows for NumbersTable<'_> {
    fn owner(&self) -> Owner<'_> {
        Owner::Runtime(self.runtime)
    }

    fn unit(&self) -> Unit {
        Unit::Rows
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn count(&self) -> u64 {
        self.shape.rows
    }

    fn for_each_batch(&self, put: &mut dyn FnMut(&RecordBatch) -> Result<()>) -> Result<()> {
        let mut first = 0;
        (self.blocks)(&mut |block| {
            let rows = block.first().map_or(0, Vec::len);
            for start in (0..rows).step_by(BATCH_ROWS) {
                put(&self.shape.batch(&self.schema, first, block, start..rows.min(start + BATCH_ROWS))?)?;
            }
            first += rows as u64;
            Ok(())
        })
    }
}

fn write_array(
    runtime: &Arc<Runtime>,
    shape: &NumbersShape,
    output: &Path,
    blocks: &dyn Fn(PutRows<'_>) -> Result<()>,
) -> Result<()> {
    let (rows, columns) = (shape.rows, shape.names.len());
    let kind = if shape.is_whole { "'<i8'" } else { "'<f8'" };
    let sizes = if shape.is_vector { format!("({rows},)") } else { format!("({rows}, {columns})") };
    let mut file = AtomicFile::within(runtime, output)?;
    file.write_all(&npy_start(kind, &sizes)).map_err(|error| file.error(error))?;
    let task = runtime.task("writing", Unit::Rows, Some(rows));
    let mut bytes = Vec::new();
    blocks(&mut |block| {
        let rows = block.first().map_or(0, Vec::len);
        for start in (0..rows).step_by(BATCH_ROWS) {
            runtime.cancel().check()?;
            bytes.clear();
            for row in start..rows.min(start + BATCH_ROWS) {
                for column in block {
                    match shape.is_whole {
                        true => bytes.extend((column[row] as i64).to_le_bytes()),
                        false => bytes.extend(column[row].to_le_bytes()),
                    }
                }
            }
            file.write_all(&bytes).map_err(|error| file.error(error))?;
        }
        task.advance(rows as u64);
        Ok(())
    })?;
    file.commit()
}
