//! Output of numbers that belong to no graph: a row for each row of an array, or a small table of statistics.
//!
//! The caller supplies rows block by block, column by column, so that only one block is in memory. All numbers are of
//! one type, which the file keeps. A `.npy` file holds the numbers alone; other files are tables, whose first column
//! may name the rows.

use crate::origin::Origin;
use crate::output::{Format, Owner, PutBatch, Rows, check_names, npy_start};
use crate::table::from_arrow;
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, RecordBatch,
    StringArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use outcore_format::ElementType;
use outcore_image::{AtomicFile, Result, require_disk};
use outcore_io::{Runtime, Unit, folder};
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Number of rows of a block that are converted together.
const BATCH_ROWS: usize = 1 << 12;

/// Size, names and type of rows of numbers.
#[derive(Clone, Debug)]
pub struct NumbersShape {
    /// Number of rows.
    pub rows: u64,
    /// The names of the columns.
    pub names: Vec<String>,
    /// The names of the rows of a table.
    pub labels: RowLabels,
    /// The type of the numbers.
    pub element: ElementType,
    /// The shape of a plain array, whose elements are those of the rows, row by row.
    pub axes: Vec<u64>,
    /// Whether its axes are reversed: rows are along the last one, and the layout is by columns.
    pub is_transposed: bool,
    /// Origin of the numbers.
    pub origin: Origin,
}

/// The names of the rows of a table.
#[derive(Clone, Debug)]
pub enum RowLabels {
    /// No names: there is no such column.
    None,
    /// Numbers from 0 on, in a column `row`.
    Counted,
    /// Given names, under the name of the column.
    Names(&'static str, Vec<String>),
}

/// Takes adjacent rows, column by column: the bytes of the numbers, in the byte order of the processor.
pub type PutRows<'a> = &'a mut dyn FnMut(&[&[u8]]) -> Result<()>;

impl NumbersShape {
    /// Refuses a file that cannot be written, before its rows are computed: an unknown ending, two columns of one name,
    /// a folder in which nothing can be made, a disk without room for the smallest possible file.
    ///
    /// # Errors
    /// The errors of [`write_numbers`].
    pub fn check(&self, runtime: &Runtime, output: &Path) -> Result<()> {
        let format = Format::of(output)?;
        if format != Format::Npy {
            check_names(&self.schema())?;
        }
        AtomicFile::within(runtime, output)?;
        let least_bytes = match format {
            Format::Npy => (self.element.bytes() as u64 * self.names.len() as u64).saturating_mul(self.rows),
            Format::Arrow => self.rows.saturating_mul(self.names.len() as u64) / 8 * self.element.bytes() as u64,
            _ => format.least_bytes(self.rows, self.names.len() as u64),
        };
        require_disk(runtime.backend(), &output.display().to_string(), least_bytes, least_bytes, folder(output))
    }

    /// Lower bound of the memory for writing, beside the blocks.
    ///
    /// # Errors
    /// A name whose ending is not that of a format.
    pub fn output_bytes(&self, output: &Path) -> Result<u64> {
        let batch_bytes = 16 * (self.rows.min(BATCH_ROWS as u64) * (self.names.len() as u64 + 1));
        // Beside the labels of rows, where there are any.
        Ok(batch_bytes + Format::of(output)?.writer_bytes(self.rows, self.names.len() + 1))
    }
}

/// Writes rows to a file, in the format of its ending. `blocks` passes all of them in order.
///
/// # Errors
/// An unknown ending, two columns of one name, the errors of `blocks`, a full disk, a request to stop. Then there is no
/// new file, and an old one of that name is unchanged.
pub fn write_numbers(
    runtime: &Runtime,
    shape: &NumbersShape,
    output: &Path,
    blocks: &dyn Fn(PutRows<'_>) -> Result<()>,
) -> Result<()> {
    match Format::of(output)? {
        Format::Npy => write_array(runtime, shape, output, blocks),
        _ => {
            let schema = shape.schema();
            let batches = |put: PutBatch<'_>| {
                let mut first = 0;
                blocks(&mut |block| {
                    let rows = shape.rows_of(block);
                    for start in (0..rows).step_by(BATCH_ROWS) {
                        put(&shape.batch(&schema, first, block, start..rows.min(start + BATCH_ROWS))?)?;
                    }
                    first += rows as u64;
                    Ok(())
                })
            };
            let (owner, schema) = (Owner::Runtime(runtime), Arc::clone(&schema));
            Rows { owner, unit: Unit::Rows, schema, count: shape.rows, batches: &batches }.write(output)
        }
    }
}

impl NumbersShape {
    fn schema(&self) -> SchemaRef {
        let mut fields = match &self.labels {
            RowLabels::Names(name, _) => vec![Field::new(*name, DataType::Utf8, false)],
            RowLabels::Counted => vec![Field::new("row", DataType::UInt64, false)],
            RowLabels::None => vec![],
        };
        let kind = arrow_array(self.element, &[]).data_type().clone();
        fields.extend(self.names.iter().map(|name| Field::new(name, kind.clone(), false)));
        Arc::new(Schema::new(fields).with_metadata(self.origin.metadata()))
    }

    fn rows_of(&self, block: &[&[u8]]) -> usize {
        block.first().map_or(0, |column| column.len() / self.element.bytes())
    }

    /// Some rows of a block, whose first row is `first`.
    fn batch(&self, schema: &SchemaRef, first: u64, block: &[&[u8]], rows: Range<usize>) -> Result<RecordBatch> {
        let (places, size) = (first + rows.start as u64..first + rows.end as u64, self.element.bytes());
        let mut arrays: Vec<ArrayRef> = match &self.labels {
            RowLabels::Names(_, names) => {
                let names = &names[places.start as usize..places.end as usize];
                vec![Arc::new(StringArray::from_iter_values(names))]
            }
            RowLabels::Counted => vec![Arc::new(UInt64Array::from_iter_values(places))],
            RowLabels::None => vec![],
        };
        arrays
            .extend(block.iter().map(|column| arrow_array(self.element, &column[rows.start * size..rows.end * size])));
        RecordBatch::try_new(Arc::clone(schema), arrays).map_err(from_arrow)
    }
}

/// Numbers of some bytes.
fn arrow_array(element: ElementType, bytes: &[u8]) -> ArrayRef {
    macro_rules! of {
        ($array:ident, $type:ty) => {
            Arc::new($array::from_iter_values(bytes.as_chunks().0.iter().map(|&bytes| <$type>::from_ne_bytes(bytes))))
        };
    }
    match element {
        ElementType::Bool => Arc::new(BooleanArray::from_iter(bytes.iter().map(|&byte| Some(byte != 0)))),
        ElementType::Int8 => of!(Int8Array, i8),
        ElementType::Int16 => of!(Int16Array, i16),
        ElementType::Int32 => of!(Int32Array, i32),
        ElementType::Int64 => of!(Int64Array, i64),
        ElementType::UInt8 => of!(UInt8Array, u8),
        ElementType::UInt16 => of!(UInt16Array, u16),
        ElementType::UInt32 => of!(UInt32Array, u32),
        ElementType::UInt64 => of!(UInt64Array, u64),
        ElementType::Float32 => of!(Float32Array, f32),
        ElementType::Float64 => of!(Float64Array, f64),
    }
}

fn write_array(
    runtime: &Runtime,
    shape: &NumbersShape,
    output: &Path,
    blocks: &dyn Fn(PutRows<'_>) -> Result<()>,
) -> Result<()> {
    let mut file = AtomicFile::within(runtime, output)?;
    let sizes: Vec<String> = shape.axes.iter().map(u64::to_string).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    let start = npy_start(&npy_type(shape.element), &format!("({}{comma})", sizes.join(", ")), shape.is_transposed);
    file.write_all(&start).map_err(|error| file.error(error))?;
    let task = runtime.task("writing", Unit::Rows, Some(shape.rows));
    let mut bytes = Vec::new();
    blocks(&mut |block| {
        let (rows, size) = (shape.rows_of(block), shape.element.bytes());
        for start in (0..rows).step_by(BATCH_ROWS) {
            runtime.cancel().check()?;
            let range = start * size..rows.min(start + BATCH_ROWS) * size;
            let part: Vec<&[u8]> = block.iter().map(|column| &column[range.clone()]).collect();
            bytes.resize(part.len() * range.len(), 0);
            match size {
                1 => by_rows::<1>(&part, &mut bytes),
                2 => by_rows::<2>(&part, &mut bytes),
                4 => by_rows::<4>(&part, &mut bytes),
                _ => by_rows::<8>(&part, &mut bytes),
            }
            file.write_all(&bytes).map_err(|error| file.error(error))?;
        }
        task.advance(rows as u64);
        Ok(())
    })?;
    file.commit()
}

/// Columns of elements of `N` bytes, row by row.
fn by_rows<const N: usize>(columns: &[&[u8]], to: &mut [u8]) {
    for (place, column) in columns.iter().enumerate() {
        let to = to.as_chunks_mut::<N>().0.iter_mut().skip(place).step_by(columns.len());
        to.zip(column.as_chunks::<N>().0).for_each(|(to, from)| *to = *from);
    }
}

/// NumPy's name of a type: byte order, the first letter of its name, and size.
fn npy_type(element: ElementType) -> String {
    let order = if element.bytes() == 1 { '|' } else { '<' };
    format!("'{order}{}{}'", &element.name()[..1], element.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_that_numpy_gives_them() {
        let names = ["|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8"];
        assert_eq!(ElementType::ALL.map(npy_type), names.map(|name| format!("'{name}'")));
    }
}
