//! Output of dense matrices: one row per vertex of a range, as a table under the users' ids or as a plain array.
//!
//! Rows are requested a few at a time, so that a matrix that is larger than memory can be written. A `.npy` file holds
//! the numbers alone, in the order of the ids; other files are tables with a column of ids, in the order of the
//! vertices.

use crate::ids::{BATCH_IDS, BATCH_TEXT_BYTES, Id, IdStream, string_ids};
use crate::origin::Origin;
use crate::output::{Format, Owner, PutBatch, Rows, npy_start};
use crate::table::{array_of, data_type, from_arrow};
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use outcore_format::IdType;
use outcore_image::{AtomicFile, Error, Image, Result, check_file, require_disk};
use outcore_io::buffer::raw_bytes;
use outcore_io::{Buffer, Unit, folder};
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Number of values of a table that are converted together.
const BATCH_NUMBERS: usize = 1 << 17;
/// Memory of an id of a batch as users see it.
const ID_BYTES: usize = size_of::<Option<Id<&str>>>();
/// Most numbers of rows that a [`DenseRows`] holds in memory while it gives some of them, or one row.
pub const SWEPT_NUMBERS: usize = 1 << 16;

/// Rows and column names of a dense matrix.
#[derive(Clone, Debug)]
pub struct DenseHeader {
    /// The vertices that have a row.
    pub vertices: Range<u64>,
    /// The name of the column of ids.
    pub id_name: &'static str,
    /// Subtracted from ids that are numbers: columns of rectangular matrices are numbered after the rows.
    pub id_base: u64,
    /// The prefix of ids that are strings: rows and columns of rectangular matrices are shown without it.
    pub id_prefix: &'static str,
    /// The names of the columns.
    pub names: Vec<String>,
    /// Whether columns are alternately real and imaginary parts.
    pub is_complex: bool,
    /// Whether it is a vector: a plain array then has one dimension.
    pub is_vector: bool,
    /// Origin of the numbers.
    pub origin: Origin,
}

/// Storage of the numbers of a dense matrix. While it gives rows it takes memory for as many numbers, or for
/// [`SWEPT_NUMBERS`], at most.
pub trait DenseRows {
    /// Writes some rows to `numbers`, row by row; rows are numbered in the order of the vertices.
    ///
    /// # Errors
    /// A temporary file that cannot be read.
    fn by_vertex(&self, rows: Range<usize>, numbers: &mut [f64]) -> Result<()>;

    /// [`by_vertex`](DenseRows::by_vertex) with rows numbered in the order of the ids.
    ///
    /// # Errors
    /// As with [`DenseRows::by_vertex`].
    fn by_id(&self, rows: Range<usize>, numbers: &mut [f64]) -> Result<()>;

    /// Whether both orders are the same.
    fn is_in_order(&self) -> bool;
}

impl DenseHeader {
    fn rows(&self) -> usize {
        (self.vertices.end - self.vertices.start) as usize
    }

    /// Number of rows of a table that are converted together.
    fn batch_rows(&self) -> usize {
        (BATCH_NUMBERS / self.names.len().max(1)).clamp(1, BATCH_IDS).min(self.rows().max(1))
    }

    /// Upper bound of the memory that a [`DenseRows`] takes while it gives a batch of rows, or searches all for them.
    pub fn giving_bytes(&self) -> u64 {
        let (rows, columns) = (self.rows(), self.names.len());
        let swept_rows = (SWEPT_NUMBERS / columns.max(1)).max(1).min(rows);
        8 * (self.batch_rows().max(swept_rows) * columns) as u64
    }

    /// The type of ids as users see them, unless they are strings.
    fn integer_ids(&self, image: &Image) -> Option<IdType> {
        let behind_prefix = image.manifest().id_type.filter(|_| !self.id_prefix.is_empty());
        image.manifest().integer_ids().or(behind_prefix)
    }

    /// An id as users see it.
    fn shown<'a>(&self, id: Id<&'a str>, kind: Option<IdType>) -> Result<Id<&'a str>> {
        Ok(match id {
            Id::Unsigned(value) => Id::Unsigned(value.wrapping_sub(self.id_base)),
            Id::Signed(value) => Id::Signed(value.wrapping_sub_unsigned(self.id_base)),
            Id::Text(text) => {
                let own = text.strip_prefix(self.id_prefix);
                let shown = match (kind, own) {
                    (None, own) => Some(Id::Text(own.unwrap_or(text))),
                    (Some(kind), Some(own)) if kind.is_signed() => own.parse().ok().map(Id::Signed),
                    (Some(_), own) => own.and_then(|own| own.parse().ok()).map(Id::Unsigned),
                };
                shown.ok_or_else(|| {
                    let expected = format!("expected an integer behind `{}` in ids of rows or columns", self.id_prefix);
                    Error::custom(format!("{expected}, found `{text}`"))
                })?
            }
        })
    }

    /// Lower bound of the memory for writing to a file, beside the numbers.
    ///
    /// # Errors
    /// A name whose ending is not that of a format.
    pub fn output_bytes(&self, image: &Image, output: &Path) -> Result<u64> {
        let format = Format::of(output)?;
        let (columns, batch) = (self.names.len(), self.batch_rows() as u64);
        let texts = if string_ids(image) { 4 * BATCH_TEXT_BYTES as u64 } else { 0 };
        let batch_bytes = batch * (8 * (3 * columns as u64 + 2) + ID_BYTES as u64) + texts;
        // Beside the ids, where there are any.
        let writer_bytes = format.writer_bytes(self.rows() as u64, columns + 1);
        Ok(batch_bytes + self.giving_bytes() + IdStream::bytes(image) + writer_bytes)
    }

    /// Refuses a file that cannot be written, before the results are computed: an unknown ending, a folder in which
    /// nothing can be made, a disk without room for the smallest possible file, too little memory.
    ///
    /// # Errors
    /// The errors of [`write_dense`].
    pub fn check(&self, image: &Image, output: &Path) -> Result<()> {
        let format = Format::of(output)?;
        check_file(image, output)?;
        let least_bytes = format.least_bytes(self.rows() as u64, self.names.len() as u64);
        require_disk(
            image.runtime().backend(),
            &output.display().to_string(),
            least_bytes,
            least_bytes,
            folder(output),
        )?;
        image.make_room("what writes the result", self.output_bytes(image, output)?)
    }
}

/// Writes a dense matrix to a file, in the format of its ending.
///
/// Takes memory for a few rows, see [`DenseHeader::output_bytes`]. A `.npy` file of a matrix whose image is not in the
/// order of its ids takes half of the free memory, and reads all rows once for each part that fits.
///
/// # Errors
/// An unknown ending, ids that cannot be read, numbers that cannot be read, a full disk, a request to stop. Then there
/// is no new file, and an old one of that name is unchanged.
pub fn write_dense(image: &Arc<Image>, shape: &DenseHeader, rows: &dyn DenseRows, output: &Path) -> Result<()> {
    match Format::of(output)? {
        Format::Npy => write_array(image, shape, rows, output),
        _ => write_table(image, shape, rows, output),
    }
}

/// Whether a file of this name holds a plain array, and not a table under the ids.
pub fn is_array_file(output: &Path) -> bool {
    matches!(Format::of(output), Ok(Format::Npy))
}

/// Writes columns of equal length to a file; rows do not belong to vertices.
///
/// # Errors
/// As with [`write_dense`].
pub fn write_columns(image: &Arc<Image>, columns: &[(&str, Vec<f64>)], origin: &Origin, output: &Path) -> Result<()> {
    let fields: Vec<_> = columns.iter().map(|(name, _)| Field::new(*name, DataType::Float64, false)).collect();
    let schema = Arc::new(Schema::new(fields).with_metadata(origin.metadata()));
    let arrays = columns.iter().map(|(_, numbers)| Arc::new(Float64Array::from(numbers.clone())) as ArrayRef);
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays.collect()).map_err(from_arrow)?;
    let (owner, count) = (Owner::Image(image), batch.num_rows() as u64);
    Rows { owner, unit: Unit::Vertices, schema, count, batches: &|put| put(&batch) }.write(output)
}

/// Refuses a file that [`write_columns`] could not write, before its columns are computed.
///
/// # Errors
/// The errors of [`write_columns`].
pub fn check_columns(image: &Image, output: &Path) -> Result<()> {
    Format::of(output)?;
    check_file(image, output)
}

fn write_array(image: &Arc<Image>, shape: &DenseHeader, rows: &dyn DenseRows, output: &Path) -> Result<()> {
    let (count, numbers) = (shape.rows(), shape.names.len());
    let columns = if shape.is_complex { numbers / 2 } else { numbers };
    let kind = if shape.is_complex { "'<c16'" } else { "'<f8'" };
    let sizes = if shape.is_vector { format!("({count},)") } else { format!("({count}, {columns})") };
    let mut file = AtomicFile::create(image, output)?;
    file.write_all(&npy_start(kind, &sizes, false)).map_err(|error| file.error(error))?;
    let runtime = image.runtime();
    let together = match rows.is_in_order() {
        true => shape.batch_rows(),
        // Each part takes a pass over all rows.
        false => {
            let part_bytes = runtime.budget().available_bytes().saturating_sub(shape.giving_bytes()) / 2;
            (part_bytes / (8 * numbers as u64).max(1)) as usize
        }
    };
    let together = together.clamp(shape.batch_rows(), count.max(1));
    let mut part = Buffer::<f64>::zeroed(runtime.budget(), "rows of a result", together * numbers)?;
    let task = runtime.task("writing", Unit::Vertices, Some(count as u64));
    for first in (0..count).step_by(together) {
        let range = first..count.min(first + together);
        let part = &mut part[..range.len() * numbers];
        rows.by_id(range.clone(), part)?;
        for piece in part.chunks(BATCH_NUMBERS) {
            runtime.cancel().check()?;
            file.write_all(raw_bytes(piece)).map_err(|error| file.error(error))?;
        }
        task.advance(range.len() as u64);
    }
    file.commit()
}

fn write_table(image: &Arc<Image>, shape: &DenseHeader, rows: &dyn DenseRows, output: &Path) -> Result<()> {
    let kind = shape.integer_ids(image);
    let mut fields = vec![Field::new(shape.id_name, data_type(kind), false)];
    fields.extend(shape.names.iter().map(|name| Field::new(name, DataType::Float64, false)));
    let schema = Arc::new(Schema::new(fields).with_metadata(shape.origin.metadata()));
    let (step, columns, wanted) = (shape.batch_rows(), shape.names.len(), &shape.vertices);
    let batches = |put: PutBatch<'_>| {
        let mut numbers = Buffer::<f64>::zeroed(image.runtime().budget(), "rows of a result", step * columns)?;
        // A second copy of the numbers, column by column, and the ids.
        let _batch = image.reserve("a batch of rows", (step * (8 * (2 * columns + 2) + ID_BYTES)) as u64)?;
        let mut stream = IdStream::new(image)?;
        while let Some((first, ids)) = stream.next()? {
            let range = wanted.start.max(first)..wanted.end.min(first + ids.len() as u64);
            for start in range.clone().step_by(step) {
                let vertices = start..range.end.min(start + step as u64);
                let shown = |vertex| shape.shown(ids.get((vertex - first) as usize), kind).map(Some);
                let own = vertices.clone().map(shown).collect::<Result<Vec<_>>>()?;
                let numbers = &mut numbers[..(vertices.end - vertices.start) as usize * columns];
                let of_rows = (vertices.start - wanted.start) as usize..(vertices.end - wanted.start) as usize;
                rows.by_vertex(of_rows, numbers)?;
                let mut arrays = vec![array_of(kind, own.into_iter())];
                for column in 0..columns {
                    let values = numbers.iter().skip(column).step_by(columns.max(1)).copied();
                    arrays.push(Arc::new(Float64Array::from_iter_values(values)));
                }
                put(&RecordBatch::try_new(Arc::clone(&schema) as SchemaRef, arrays).map_err(from_arrow)?)?;
            }
        }
        Ok(())
    };
    let (owner, count, schema) = (Owner::Image(image), shape.rows() as u64, Arc::clone(&schema));
    Rows { owner, unit: Unit::Vertices, schema, count, batches: &batches }.write(output)
}
