//! Tables as files: Parquet, CSV, NumPy and Arrow, chosen by the name's ending.
//!
//! A file appears complete or not at all, and memory does not grow with the table. Missing values (the level of a
//! vertex that was not reached) are nulls in Parquet and Arrow and empty in CSV. NumPy files have neither nulls nor
//! strings of any length: there a column that may have missing values is of real numbers, with NaN for a missing one,
//! and refused if it holds an integer beyond 2^53; ids must be integers, and the array is structured, with a field per
//! column.

use crate::ids::string_ids;
use crate::parquet_file::parquet_writer;
use crate::table::{ColumnKind, Table, reader_bytes};
use crate::text_file::{Compression, TextFile};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTimestampType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Schema, SchemaRef, TimeUnit};
use outcore_image::{AtomicFile, Error, Image, Result, check_file, require_disk};
use outcore_io::{Reservation, Runtime, Unit, escaped, folder};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

/// The formats of tables: `--help` and errors list them.
pub const OUTPUT_ENDINGS: &str = if cfg!(feature = "parquet") {
    ".parquet, .csv, .jsonl (each maybe with .gz or .zst), .npy, .arrow"
} else {
    ".csv, .jsonl (each maybe with .gz or .zst), .npy, .arrow"
};

/// Memory limit of a row group of a Parquet file before it is written.
pub(crate) const GROUP_BYTES: usize = 8 << 20;
/// Upper bound of the memory of the Parquet and Arrow encoders beside a batch.
pub const ENCODER_BYTES: u64 = 2 * GROUP_BYTES as u64;
/// Their memory for a table of few rows, and the memory of every cell beyond that.
const LEAST_ENCODER_BYTES: u64 = 4 << 20;
const CELL_BYTES: u64 = 64;
/// Measured memory of a column while a Parquet file is written: of few columns, and of many.
const PARQUET_COLUMN_BYTES: [u64; 2] = [28 << 10, 80 << 10];
const MANY_COLUMNS: usize = 1000;
/// Memory of a column in other tables.
const COLUMN_BYTES: u64 = 2 << 10;

/// The format of a name's ending.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Csv(Compression),
    JsonLines(Compression),
    Parquet,
    Npy,
    Arrow,
}

impl Format {
    /// Lower bound of the size of a file with `rows` rows, ids beside `columns` columns, as far as it is known:
    /// compression may shrink rows to nothing.
    pub(crate) fn least_bytes(self, rows: u64, columns: u64) -> u64 {
        let row = match self {
            Format::Npy | Format::Arrow => 8 * columns,
            // An id, the separators, the end of the line.
            Format::Csv(Compression::None) => columns + 2,
            // Braces, and for each column quotes around a name, a colon, a value and what comes behind it.
            Format::JsonLines(Compression::None) => 6 * columns + 3,
            Format::Csv(_) | Format::JsonLines(_) | Format::Parquet => 0,
        };
        row.saturating_mul(rows)
    }

    /// Memory for writing a file of this many rows and columns, beside a batch of rows.
    pub(crate) fn encoder_bytes(self, rows: u64, columns: usize) -> u64 {
        let of_columns = |each: u64| each * columns as u64;
        match self {
            Format::Parquet => encoder_bytes(rows, columns)
                .max(LEAST_ENCODER_BYTES + of_columns(PARQUET_COLUMN_BYTES[usize::from(columns > MANY_COLUMNS)])),
            Format::Arrow => encoder_bytes(rows, columns).max(LEAST_ENCODER_BYTES + of_columns(COLUMN_BYTES)),
            Format::Csv(_) | Format::JsonLines(_) => of_columns(COLUMN_BYTES),
            Format::Npy => 0,
        }
    }

    /// Memory for writing a file of this many rows and columns, beside a batch of rows: the encoder, the compressor and
    /// the buffer.
    pub(crate) fn writer_bytes(self, rows: u64, columns: usize) -> u64 {
        let compression = match self {
            Format::Csv(compression) | Format::JsonLines(compression) => compression,
            Format::Parquet | Format::Npy | Format::Arrow => Compression::None,
        };
        self.encoder_bytes(rows, columns) + compression.file_bytes()
    }

    pub(crate) fn of(output: &Path) -> Result<Self> {
        // Endings are ASCII, whatever comes before them.
        let name = output.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if name == "-" {
            return Ok(Format::Csv(Compression::None));
        }
        let (compression, bare) = Compression::of(&name);
        match bare.rsplit_once('.').map(|(_, ending)| (ending, compression)) {
            Some(("csv", _)) => Ok(Format::Csv(compression)),
            Some(("jsonl" | "ndjson", _)) => Ok(Format::JsonLines(compression)),
            Some(("parquet", Compression::None)) if cfg!(feature = "parquet") => Ok(Format::Parquet),
            Some(("npy", Compression::None)) => Ok(Format::Npy),
            Some(("arrow", Compression::None)) => Ok(Format::Arrow),
            _ => Err(Error::Usage(format!(
                "expected an output file that ends in one of {OUTPUT_ENDINGS}, found {}",
                output.display()
            ))),
        }
    }
}

/// Refuses a file of results that cannot be written, before they are computed: an unknown ending, a folder that does
/// not exist or in which nothing can be made, ids that the format cannot hold, too little memory for the result, the
/// ids and the encoder, a disk without room for the smallest possible file.
///
/// # Errors
/// The errors of [`Table::write`], with an older file left in place.
pub fn check_output(image: &Image, output: &Path, columns: &[ColumnKind]) -> Result<()> {
    let format = Format::of(output)?;
    if format == Format::Npy && string_ids(image) {
        return Err(no_strings(output));
    }
    check_file(image, output)?;
    // Columns of ids may be narrow.
    let wide = columns.iter().filter(|column| !column.names_vertices()).count();
    let least_bytes = format.least_bytes(image.manifest().vertices, wide as u64);
    require_disk(image.runtime().backend(), &output.display().to_string(), least_bytes, least_bytes, folder(output))?;
    image.make_room("the result and what writes it", output_bytes(image, output, columns)?)
}

/// Memory of a result with such columns while it is written to this file: its values, ids where columns name vertices,
/// and what its format takes for so many rows.
///
/// # Errors
/// An unknown ending.
pub fn output_bytes(image: &Image, output: &Path, columns: &[ColumnKind]) -> Result<u64> {
    let rows = image.manifest().vertices;
    let values = columns.iter().map(|column| column.bytes()).sum::<u64>().saturating_mul(rows);
    let writer_bytes = Format::of(output)?.writer_bytes(rows, columns.len() + 1);
    Ok(values.saturating_add(reader_bytes(image, columns)).saturating_add(writer_bytes))
}

/// Memory of the encoders for a table of this many rows, and few columns.
fn encoder_bytes(rows: u64, columns: usize) -> u64 {
    let cells_bytes = rows.saturating_mul(CELL_BYTES * (columns as u64 + 1));
    cells_bytes.saturating_add(LEAST_ENCODER_BYTES).min(ENCODER_BYTES)
}

fn no_strings(output: &Path) -> Error {
    Error::Unsuitable(format!(
        "NumPy files hold numbers, but the ids of this graph are strings; write {} as .parquet, .csv or .arrow instead",
        output.display()
    ))
}

/// All integers up to this are exact as real numbers.
const MOST_EXACT_INTEGER: u128 = 1 << 53;

/// The owner of the limits for a file.
#[derive(Clone, Copy)]
pub(crate) enum Owner<'a> {
    /// An image of a graph, which knows the advice for raising them.
    Image(&'a Image),
    /// A process.
    Runtime(&'a Runtime),
}

impl<'a> Owner<'a> {
    pub(crate) fn runtime(self) -> &'a Runtime {
        match self {
            Owner::Image(image) => image.runtime(),
            Owner::Runtime(runtime) => runtime,
        }
    }

    pub(crate) fn file(self, target: &Path) -> Result<AtomicFile> {
        match self {
            Owner::Image(image) => AtomicFile::create(image, target),
            Owner::Runtime(runtime) => AtomicFile::within(runtime, target),
        }
    }

    pub(crate) fn reserve(self, purpose: &str, bytes: u64) -> Result<Reservation> {
        match self {
            Owner::Image(image) => image.reserve(purpose, bytes),
            Owner::Runtime(runtime) => Ok(runtime.budget().reserve(purpose, bytes)?),
        }
    }
}

/// Takes the next rows.
pub(crate) type PutBatch<'a> = &'a mut dyn FnMut(&RecordBatch) -> Result<()>;

/// Rows to be written to a file.
pub(crate) struct Rows<'a> {
    /// The owner of the limits.
    pub owner: Owner<'a>,
    /// The unit of progress.
    pub unit: Unit,
    /// The names and types of the columns.
    pub schema: SchemaRef,
    /// Number of rows.
    pub count: u64,
    /// Passes all rows in their order, batch by batch.
    pub batches: &'a dyn Fn(PutBatch<'_>) -> Result<()>,
}

impl Table {
    /// Writes all rows to a file, in the format of its ending (see [`OUTPUT_ENDINGS`]).
    ///
    /// # Errors
    /// An unknown ending, two columns of one name, ids that the format cannot hold, a full disk, a request to stop.
    /// Then there is no new file, and an old one of that name is unchanged.
    pub fn write(&self, output: impl AsRef<Path>) -> Result<()> {
        let (owner, unit, schema) = (Owner::Image(self.image()), Unit::Vertices, self.schema());
        // All of it at once, so that the advice of a refusal is enough for all.
        let writer_bytes = Format::of(output.as_ref())?.writer_bytes(self.rows(), self.columns().len() + 1);
        self.image().make_room("writing a table", self.reader_bytes().saturating_add(writer_bytes))?;
        let batches = |put: PutBatch<'_>| {
            let mut reader = self.reader()?;
            while let Some(batch) = reader.next_batch()? {
                put(&batch)?;
            }
            Ok(())
        };
        Rows { owner, unit, schema, count: self.rows(), batches: &batches }.write(output.as_ref())
    }
}

/// Refuses columns of one name.
pub(crate) fn check_names(schema: &Schema) -> Result<()> {
    let mut names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Error::Usage(format!("expected columns of different names, found two called `{}`", pair[0]))),
    }
}

impl Rows<'_> {
    /// Writes the rows to a file, in the format of its ending.
    pub(crate) fn write(&self, output: &Path) -> Result<()> {
        check_names(&self.schema)?;
        match Format::of(output)? {
            Format::Csv(compression) => self.write_csv(output, compression),
            Format::JsonLines(compression) => self.write_json_lines(output, compression),
            Format::Parquet => self.encode(Format::Parquet, output, |file, refused| {
                let mut writer = parquet_writer(file, Arc::clone(&self.schema), refused)?;
                self.for_each_batch(|batch| writer.put(batch).map_err(|error| refuse(refused, error)))?;
                writer.finish().map_err(|error| refuse(refused, error))
            }),
            Format::Npy => self.write_npy(output),
            Format::Arrow => self.encode(Format::Arrow, output, |file, refused| {
                let mut writer = FileWriter::try_new(file, &self.schema).map_err(|error| refuse(refused, error))?;
                self.for_each_batch(|batch| writer.write(batch).map_err(|error| refuse(refused, error)))?;
                writer.finish().map_err(|error| refuse(refused, error))
            }),
        }
    }

    fn for_each_batch(&self, mut put: impl FnMut(&RecordBatch) -> Result<()>) -> Result<()> {
        let runtime = self.owner.runtime();
        let task = runtime.task("writing", self.unit, Some(self.count));
        (self.batches)(&mut |batch| {
            runtime.cancel().check()?;
            put(batch)?;
            task.advance(batch.num_rows() as u64);
            Ok(())
        })
    }

    fn write_csv(&self, output: &Path, compression: Compression) -> Result<()> {
        let mut file = TextFile::of(self.owner, output, compression)?;
        let mut line = Vec::new();
        for (i, field) in self.schema.fields().iter().enumerate() {
            push_separator(&mut line, i);
            push_quoted(&mut line, field.name());
        }
        line.push(b'\n');
        file.put(&line)?;
        self.for_each_batch(|batch| {
            for row in 0..batch.num_rows() {
                line.clear();
                for (i, column) in batch.columns().iter().enumerate() {
                    push_separator(&mut line, i);
                    push_value(&mut line, column, row);
                }
                line.push(b'\n');
                file.put(&line)?;
            }
            Ok(())
        })?;
        file.commit()
    }

    fn write_json_lines(&self, output: &Path, compression: Compression) -> Result<()> {
        let mut file = TextFile::of(self.owner, output, compression)?;
        let mut names: Vec<Vec<u8>> = Vec::new();
        for (place, field) in self.schema.fields().iter().enumerate() {
            let mut name = if place == 0 { b"{".to_vec() } else { b", ".to_vec() };
            push_json(&mut name, field.name());
            name.extend_from_slice(b": ");
            names.push(name);
        }
        let mut line = Vec::new();
        self.for_each_batch(|batch| {
            for row in 0..batch.num_rows() {
                line.clear();
                for (name, column) in names.iter().zip(batch.columns()) {
                    line.extend_from_slice(name);
                    push_json_value(&mut line, column, row);
                }
                line.extend_from_slice(if names.is_empty() { b"{}\n" } else { b"}\n" });
                file.put(&line)?;
            }
            Ok(())
        })?;
        file.commit()
    }

    /// Writes a file by an encoder whose memory is reserved; `encode` records its error.
    fn encode(
        &self,
        format: Format,
        output: &Path,
        encode: impl FnOnce(&mut AtomicFile, &mut Option<String>) -> Result<()>,
    ) -> Result<()> {
        let bytes = format.encoder_bytes(self.count, self.schema.fields().len());
        let _reservation = self.owner.reserve("encoding the output", bytes)?;
        let (mut file, mut refused) = (self.owner.file(output)?, None);
        let outcome = encode(&mut file, &mut refused);
        finish(file, outcome, refused)
    }

    fn write_npy(&self, output: &Path) -> Result<()> {
        let header = self.npy_header(output)?;
        let mut file = self.owner.file(output)?;
        let mut outcome = file.write_all(&header).map_err(|error| file.error(error));
        if outcome.is_ok() {
            let (mut rows, schema) = (Vec::new(), &self.schema);
            outcome = self.for_each_batch(|batch| {
                rows.clear();
                for row in 0..batch.num_rows() {
                    for (column, field) in batch.columns().iter().zip(schema.fields()) {
                        if !push_binary(&mut rows, column, row, field.is_nullable()) {
                            return Err(Error::Unsuitable(format!(
                                "NumPy files hold columns with missing values as real numbers, but column {} has {}, beyond \
                                 2^53; write {} as .parquet, .csv or .arrow instead",
                                field.name(),
                                cell_text(column, row),
                                output.display()
                            )));
                        }
                    }
                }
                file.write_all(&rows).map_err(|error| file.error(error))
            });
        }
        outcome.and_then(|()| file.commit())
    }

    fn npy_header(&self, output: &Path) -> Result<Vec<u8>> {
        let mut fields = String::new();
        for field in self.schema.fields() {
            let kind = match (field.data_type(), field.is_nullable()) {
                (DataType::Float64, _) => "<f8",
                (kind, true) if kind.is_integer() => "<f8",
                (DataType::Int8, false) => "|i1",
                (DataType::Int16, false) => "<i2",
                (DataType::Int32, false) => "<i4",
                (DataType::Int64, false) => "<i8",
                (DataType::UInt8, false) => "|u1",
                (DataType::UInt16, false) => "<u2",
                (DataType::UInt32, false) => "<u4",
                (DataType::UInt64, false) => "<u8",
                _ => return Err(no_strings(output)),
            };
            let name = field.name().replace('\\', "\\\\").replace('\'', "\\'");
            fields.push_str(&format!("('{name}', '{kind}'), "));
        }
        Ok(npy_start(&format!("[{fields}]"), &format!("({},)", self.count), false))
    }
}

/// The start of a `.npy` file: magic, version, length, and a Python dictionary, padded to a multiple of 64 bytes.
pub(crate) fn npy_start(kind: &str, shape: &str, by_columns: bool) -> Vec<u8> {
    let order = if by_columns { "True" } else { "False" };
    let text = format!("{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}, }}");
    // Version 1 has two bytes for the length, version 2 four, and version 3 is UTF-8 instead of Latin-1.
    let (version, length_bytes) = match text.is_ascii() {
        true if text.len() + 64 <= usize::from(u16::MAX) => (1, 2),
        true => (2, 4),
        false => (3, 4),
    };
    let start_bytes = 8 + length_bytes;
    let bytes = (start_bytes + text.len() + 1).next_multiple_of(64);
    let length = (bytes - start_bytes) as u64;
    let mut header = b"\x93NUMPY".to_vec();
    header.extend_from_slice(&[version, 0]);
    header.extend_from_slice(&length.to_le_bytes()[..length_bytes]);
    header.extend_from_slice(text.as_bytes());
    header.resize(bytes - 1, b' ');
    header.push(b'\n');
    header
}

/// Records an encoder's error; the returned error only ends the loop.
pub fn refuse(refused: &mut Option<String>, error: impl std::fmt::Display) -> Error {
    let text = error.to_string();
    *refused = Some(text.clone());
    Error::custom(text)
}

/// Completes a file, or returns the reason why it is incomplete.
pub fn finish(mut file: AtomicFile, outcome: Result<()>, refused: Option<String>) -> Result<()> {
    match (outcome, refused) {
        (Ok(()), _) => file.commit(),
        (Err(_), Some(refused)) => Err(file.error(refused)),
        (Err(error), None) => Err(error),
    }
}

pub fn push_separator(line: &mut Vec<u8>, place: usize) {
    if place > 0 {
        line.push(b',');
    }
}

/// Appends a string as a field of CSV, in quotes if it needs them. Empty strings do, to differ from missing ones.
pub fn push_quoted(line: &mut Vec<u8>, text: &str) {
    let special = |byte: u8| matches!(byte, b',' | b';' | b'"' | b'\n' | b'\r' | b'\t' | b' ' | b'#' | b'%');
    if !text.is_empty() && !text.bytes().any(special) {
        line.extend_from_slice(text.as_bytes());
        return;
    }
    line.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}

/// Appends a value as a field of CSV: real numbers in the shortest form that reads back the same, dates and times in
/// ISO 8601, those with a zone in UTC.
pub fn push_value(line: &mut Vec<u8>, column: &dyn arrow_array::Array, row: usize) {
    if column.is_null(row) {
        return;
    }
    macro_rules! number {
        ($type:ty) => {
            write!(line, "{:?}", column.as_primitive::<$type>().value(row))
        };
    }
    // Writing into memory does not fail.
    let _ = match column.data_type() {
        DataType::Float64 => number!(Float64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::Int64 => number!(Int64Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int8 => number!(Int8Type),
        DataType::Boolean => write!(line, "{}", column.as_boolean().value(row)),
        DataType::Date32 => match column.as_primitive::<Date32Type>().value_as_date(row) {
            Some(date) => write!(line, "{date}"),
            None => number!(Date32Type),
        },
        DataType::Timestamp(unit, zone) => match unit {
            TimeUnit::Second => time::<TimestampSecondType>(line, column, row, zone.is_some()),
            TimeUnit::Millisecond => time::<TimestampMillisecondType>(line, column, row, zone.is_some()),
            TimeUnit::Microsecond => time::<TimestampMicrosecondType>(line, column, row, zone.is_some()),
            TimeUnit::Nanosecond => time::<TimestampNanosecondType>(line, column, row, zone.is_some()),
        },
        _ => {
            push_quoted(line, column.as_string::<i32>().value(row));
            Ok(())
        }
    };
}

/// Appends a text as a JSON string, quotes included.
pub fn push_json(line: &mut Vec<u8>, text: &str) {
    // Writing into memory does not fail.
    let _ = serde_json::to_writer(line, text);
}

/// Appends a value as JSON: null for a missing one, and for real numbers that are not finite, which JSON lacks.
pub fn push_json_value(line: &mut Vec<u8>, column: &dyn arrow_array::Array, row: usize) {
    let is_finite = match column.data_type() {
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).is_finite(),
        DataType::Float32 => column.as_primitive::<Float32Type>().value(row).is_finite(),
        _ => true,
    };
    if column.is_null(row) || !is_finite {
        line.extend_from_slice(b"null");
    } else if let Some(texts) = column.as_string_opt::<i32>() {
        push_json(line, texts.value(row));
    } else if matches!(column.data_type(), DataType::Date32 | DataType::Timestamp(..)) {
        line.push(b'"');
        push_value(line, column, row);
        line.push(b'"');
    } else {
        push_value(line, column, row);
    }
}

fn time<T: ArrowTimestampType>(
    line: &mut Vec<u8>,
    column: &dyn arrow_array::Array,
    row: usize,
    has_zone: bool,
) -> std::io::Result<()> {
    let column = column.as_primitive::<T>();
    match column.value_as_datetime(row) {
        Some(time) => write!(line, "{}{}", time.format("%Y-%m-%dT%H:%M:%S%.f"), if has_zone { "Z" } else { "" }),
        // A year outside of the calendar.
        None => write!(line, "{}", column.value(row)),
    }
}

/// A value as a field of a terminal table: control characters of ids are escaped, nothing is quoted, and a missing
/// value is empty.
pub fn cell_text(column: &dyn arrow_array::Array, row: usize) -> String {
    if let Some(text) = column.as_string_opt::<i32>() {
        return if column.is_null(row) { String::new() } else { escaped(text.value(row)).to_string() };
    }
    let mut line = Vec::new();
    push_value(&mut line, column, row);
    String::from_utf8_lossy(&line).into_owned()
}

/// Appends a value in NumPy's encoding: as a real number if the column may have missing values. `false` means that it
/// has no exact encoding.
fn push_binary(rows: &mut Vec<u8>, column: &dyn arrow_array::Array, row: usize, nullable: bool) -> bool {
    if column.is_null(row) {
        rows.extend(f64::NAN.to_le_bytes());
        return true;
    }
    macro_rules! whole {
        ($type:ty) => {
            i128::from(column.as_primitive::<$type>().value(row))
        };
    }
    let (whole, bytes) = match column.data_type() {
        DataType::Float64 => {
            rows.extend(column.as_primitive::<Float64Type>().value(row).to_le_bytes());
            return true;
        }
        DataType::Int8 => (whole!(Int8Type), 1),
        DataType::Int16 => (whole!(Int16Type), 2),
        DataType::Int32 => (whole!(Int32Type), 4),
        DataType::Int64 => (whole!(Int64Type), 8),
        DataType::UInt8 => (whole!(UInt8Type), 1),
        DataType::UInt16 => (whole!(UInt16Type), 2),
        DataType::UInt32 => (whole!(UInt32Type), 4),
        _ => (whole!(UInt64Type), 8),
    };
    if nullable {
        rows.extend((whole as f64).to_le_bytes());
        return whole.unsigned_abs() <= MOST_EXACT_INTEGER;
    }
    // A type of any sign is its low bits.
    rows.extend_from_slice(&whole.to_le_bytes()[..bytes]);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_writer_follows_from_format_and_rows() {
        let writer = |name: &str, rows| Format::of(Path::new(name)).unwrap().writer_bytes(rows, 2);
        let many = 1 << 20;
        assert!(writer("a.csv", many) < 2 << 20 && writer("a.npy", many) < 2 << 20);
        assert_eq!(writer("a.csv", many), writer("a.csv", 1));
        assert!(writer("a.csv.gz", many) > writer("a.csv", many));
        assert!(writer("a.parquet", many) > writer("a.csv.gz", many) && writer("a.parquet", 100) < 6 << 20);
        assert!(writer("a.parquet", many) < 18 << 20);
    }

    #[test]
    fn a_file_that_the_disk_cannot_hold_is_refused() {
        let least = |name: &str| Format::of(Path::new(name)).unwrap().least_bytes(1 << 55, 2);
        assert_eq!([least("a.npy"), least("a.arrow"), least("a.csv")], [16 << 55, 16 << 55, 4 << 55]);
        assert_eq!([least("a.parquet"), least("a.csv.gz"), least("a.csv.zst")], [0; 3]);
        let here = std::env::temp_dir();
        let system = outcore_io::backend::best();
        let error = require_disk(&system, "a.csv", least("a.csv"), least("a.csv"), &here).unwrap_err().to_string();
        assert!(error.starts_with("a.csv needs 128 PiB") && error.contains("left"), "{error}");
        require_disk(&system, "a.csv.gz", 0, 0, &here).unwrap();
    }
}
