//! Parquet files: row groups, which any worker may decode.
//!
//! A block is a row group, of which a worker decodes some rows at a time. What that takes is known beforehand from the
//! headers of the pages ([`decoding`]), so that the plan of an import sets it aside for every worker that reads, and
//! refuses a file whose pages do not fit. Strings are decoded as views, which lie in the pages: a dictionary of few
//! bytes may hold long strings many times. Cost: one small read per page when the file is opened.

use crate::batch::LeftOut;
use crate::batch::{Block, BlockData, Facts, InputOptions, ReadBlocks, Rows, Source};
use crate::input::counted_file::CountedFile;
use crate::input::file::Input;
use crate::tables::batches::{Batch, Batches};
use crate::tables::guarded::{damaged, guarded};
use crate::tables::parquet_pages::{decoded_metadata_bytes, decoding, encoded_metadata_bytes};
use crate::tables::table::{BLOCK_ROWS, FIRST_ROWS, STRING_ROWS, TableColumns, TableParser, places_in_file};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use outcore_image::Result;
use outcore_io::Reservation;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetStatisticsPolicy;
use parquet::file::reader::{ChunkReader, Length};
use std::io::{BufReader, Seek, SeekFrom};
use std::sync::Arc;

/// About the most values that are decoded together of tables with all their columns.
const DECODED_VALUES: usize = 1 << 17;
/// Memory limit of a value, except strings: the value, and the decoder's data about it.
pub const VALUE_BYTES: usize = 32;
/// Strings that are unpacked from the beginnings of others may take this part of what is left.
const ROOM_SHARE: u64 = 16;
/// Memory for decoding while it is unknown, since the metadata do not fit.
const USUAL_BLOCK_BYTES: u64 = 16 << 20;
/// Largest ratio of decoded to encoded metadata.
const DECODED_FACTOR: u64 = 16;

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    match input.bytes() {
        Some(bytes) => open_with(&bytes, input, options),
        None => open_with(&Chunks::of(input)?, input, options),
    }
}

/// A file, read in chunks, each from a place of its own.
#[derive(Clone)]
pub struct Chunks(pub CountedFile);

impl Chunks {
    fn of(input: &Input) -> Result<Self> {
        Ok(Chunks(CountedFile::new(input.open_file()?, &Arc::default())))
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.len_bytes()
    }
}

impl ChunkReader for Chunks {
    type T = BufReader<CountedFile>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let mut file = self.0.clone();
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(file))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let left = self.len().saturating_sub(start);
        if left < length as u64 {
            return Err(ParquetError::EOF(format!("Expected to read {length} bytes, read only {left}")));
        }
        let mut bytes = vec![0; length];
        self.0.read_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

fn open_with<R: ChunkReader>(reader: &R, input: &Input, options: &InputOptions) -> Result<Source> {
    let path = input.path();
    let failed = |error: String| damaged(path, "a Parquet file", &error);
    let (mut metadata, options_of_reader, reservation) = load(reader, input)?;
    let rows = u64::try_from(metadata.metadata().file_metadata().num_rows()).ok();
    let mut columns = match rows {
        Some(0) => TableColumns::without_rows(metadata.schema(), path, options)?,
        _ => TableColumns::find(metadata.schema(), path, options, false)?,
    };
    if columns.has_text() {
        metadata = with_views(&metadata, options_of_reader, |column| columns.is_view(column)).map_err(failed)?;
    }
    if let Some(kind) = columns.kind() {
        let mask = ProjectionMask::roots(metadata.parquet_schema(), [kind.column]);
        let first = first_rows(reader, input, &metadata, mask)?;
        columns.set_direction(first.as_ref().map(|rows| rows.column(0)));
    }
    let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.chosen());
    let room_bytes = input.budget().available_bytes() / ROOM_SHARE;
    let decoding =
        guarded(|| decoding(reader, metadata.metadata(), &mask, columns.block_rows(), room_bytes)).map_err(failed)?;
    let longest_id_bytes = input.longest_line_bytes();
    let facts = Facts {
        input_bytes: input.size_bytes(),
        edges: rows,
        block_bytes: decoding.len_bytes,
        longest_line_bytes: if columns.strings { longest_id_bytes as u64 } else { 0 },
        ..columns.facts("parquet")
    };
    let file = Arc::new(ParquetFile {
        input: input.clone(),
        metadata,
        mask,
        order: columns.order_in_file(),
        rows: decoding.rows,
        _reservation: reservation,
    });
    let parser = Arc::new(TableParser {
        path: path.to_owned(),
        columns,
        longest_id_bytes,
        left_out: LeftOut::new(options.nulls),
    });
    let blocks = ParquetBlocks {
        file,
        all_rows: facts.edges.unwrap_or(0),
        input_bytes: facts.input_bytes.unwrap_or(0),
        block_bytes: facts.block_bytes,
        next_group: 0,
        next_row: 0,
        sequence: 0,
    };
    Ok(Source::new(facts, parser, blocks))
}

/// The columns of a file that are chosen by its schema, row group by row group: how many rows there are, what the
/// columns are, and batches of them.
pub fn chosen(input: &Input, choose: impl FnOnce(&Schema) -> Result<Vec<usize>>) -> Result<(u64, SchemaRef, Batches)> {
    let (path, reader) = (input.path(), Chunks::of(input)?);
    let failed = |error: String| damaged(path, "a Parquet file", &error);
    let (mut metadata, options, reservation) = load(&reader, input)?;
    let chosen = choose(metadata.schema())?;
    let is_text = |kind: &DataType| matches!(kind, DataType::Utf8 | DataType::LargeUtf8);
    let has_text = chosen.iter().any(|&column| is_text(metadata.schema().field(column).data_type()));
    if has_text {
        let schema = Arc::clone(metadata.schema());
        let is_view = |column: usize| is_text(schema.field(column).data_type());
        metadata = with_views(&metadata, options, is_view).map_err(failed)?;
    }
    let schema = metadata.schema().project(&chosen).map_err(|error| failed(error.to_string()))?;
    let mask = ProjectionMask::roots(metadata.parquet_schema(), chosen.iter().copied());
    let columns = chosen.len().max(1);
    let most_rows = if has_text { STRING_ROWS } else { BLOCK_ROWS }.min((DECODED_VALUES / columns).max(1));
    let room_bytes = input.budget().available_bytes() / ROOM_SHARE;
    let decoding = guarded(|| decoding(&reader, metadata.metadata(), &mask, most_rows, room_bytes)).map_err(failed)?;
    let order = places_in_file(&chosen);
    let groups = metadata.metadata().row_groups().iter();
    let all_rows = groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).fold(0, u64::saturating_add);
    let (input, rows) = (input.clone(), decoding.rows);
    let block_bytes = decoding.len_bytes + (VALUE_BYTES * rows * columns) as u64;
    let file = Arc::new(ParquetFile { input, metadata, mask, order, rows, _reservation: reservation });
    let batches = (0..file.metadata.metadata().num_row_groups()).flat_map(move |group| {
        let rows_left = u64::try_from(file.metadata.metadata().row_group(group).num_rows()).unwrap_or(0);
        RowGroup { file: Arc::clone(&file), group, reader: None, rows_left, block_bytes, reservation: None }
    });
    let batches = batches.map(move |rows| {
        rows.map(|rows| Batch { rows, unpacked: Vec::new(), len_bytes: block_bytes, position_bytes: 0 })
    });
    Ok((all_rows, Arc::new(schema), Box::new(batches)))
}

/// The metadata of a file, how they were read, and memory for them.
pub fn load(
    reader: &impl ChunkReader,
    input: &Input,
) -> Result<(ArrowReaderMetadata, ArrowReaderOptions, Reservation)> {
    let reservation = reserve_metadata(reader, input)?;
    // Statistics would be kept for every column of every row group.
    let skip = ParquetStatisticsPolicy::SkipAll;
    let options = ArrowReaderOptions::default()
        .with_column_stats_policy(skip.clone())
        .with_encoding_stats_policy(skip.clone())
        .with_size_stats_policy(skip);
    let load = || ArrowReaderMetadata::load(reader, options.clone()).map_err(|error| error.to_string());
    let metadata = guarded(load).map_err(|error| damaged(input.path(), "a Parquet file", &error))?;
    Ok((metadata, options, reservation))
}

/// The metadata of a file some of whose columns are read as views of strings.
fn with_views(
    metadata: &ArrowReaderMetadata,
    options: ArrowReaderOptions,
    is_view: impl Fn(usize) -> bool,
) -> std::result::Result<ArrowReaderMetadata, String> {
    let schema = metadata.schema();
    let view = |(column, field): (usize, &Arc<Field>)| match is_view(column) {
        true => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
        false => Arc::clone(field),
    };
    let fields: Vec<_> = schema.fields().iter().enumerate().map(view).collect();
    let options = options.with_schema(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())));
    guarded(|| ArrowReaderMetadata::try_new(metadata.metadata().clone(), options).map_err(|error| error.to_string()))
}

/// Sets memory aside for the metadata, encoded and decoded. Of a damaged file the decoder says what is wrong.
fn reserve_metadata<R: ChunkReader>(reader: &R, input: &Input) -> Result<Reservation> {
    let purpose = format!("the metadata of {}", input.path().display());
    let encoded_bytes = encoded_metadata_bytes(reader).unwrap_or(0);
    let reserve = |bytes: u64, later_bytes: u64| {
        // The advice is for who is refused these bytes; beside another refusal there may be other advice.
        let advised = format!("{purpose} (less, if it is written with larger row groups)");
        let advising = |refusal: outcore_io::Error| {
            input.advising(refusal.called(&advised).advising(later_bytes), USUAL_BLOCK_BYTES, bytes + later_bytes)
        };
        input.budget().reserve(&purpose, bytes).map_err(advising)
    };
    let encoded = reserve(encoded_bytes, DECODED_FACTOR * encoded_bytes)?;
    let decoded_bytes = decoded_metadata_bytes(reader, encoded_bytes).unwrap_or(0);
    drop(encoded);
    reserve(encoded_bytes + decoded_bytes, 0)
}

struct ParquetFile {
    input: Input,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    /// Places of source, target and weight among the columns that are read.
    order: Vec<usize>,
    rows: usize,
    _reservation: Reservation,
}

impl ParquetFile {
    fn row_group(&self, group: usize) -> std::result::Result<ParquetRecordBatchReader, String> {
        rows_of(&self.input, &self.metadata, &self.mask, group, self.rows)
    }
}

fn rows_of(
    input: &Input,
    metadata: &ArrowReaderMetadata,
    mask: &ProjectionMask,
    group: usize,
    rows: usize,
) -> std::result::Result<ParquetRecordBatchReader, String> {
    fn build<R: ChunkReader + 'static>(
        builder: ParquetRecordBatchReaderBuilder<R>,
        (mask, group, rows): (&ProjectionMask, usize, usize),
    ) -> std::result::Result<ParquetRecordBatchReader, String> {
        let builder = builder.with_row_groups(vec![group]).with_projection(mask.clone()).with_batch_size(rows);
        builder.build().map_err(|error| error.to_string())
    }
    let metadata = metadata.clone();
    match input.bytes() {
        Some(bytes) => build(ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata), (mask, group, rows)),
        None => {
            let file = Chunks::of(input).map_err(|error| error.to_string())?;
            build(ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata), (mask, group, rows))
        }
    }
}

/// The first rows of some columns, of the first row group that has any.
fn first_rows<R: ChunkReader>(
    reader: &R,
    input: &Input,
    metadata: &ArrowReaderMetadata,
    mask: ProjectionMask,
) -> Result<Option<RecordBatch>> {
    let failed = |error: String| damaged(input.path(), "rows of a table", &error);
    let groups = metadata.metadata().row_groups();
    let Some(group) = groups.iter().position(|group| group.num_rows() > 0) else { return Ok(None) };
    let decoding = guarded(|| decoding(reader, metadata.metadata(), &mask, FIRST_ROWS, 0)).map_err(failed)?;
    let reservation = input.budget().reserve("decoding a row group", decoding.len_bytes);
    let _decoding = reservation.map_err(|refusal| input.advising(refusal, decoding.len_bytes, 0))?;
    let decode = || {
        let mut rows = rows_of(input, metadata, &mask, group, decoding.rows)?;
        rows.next().transpose().map_err(|error| error.to_string())
    };
    guarded(decode).map_err(failed)
}

struct ParquetBlocks {
    file: Arc<ParquetFile>,
    all_rows: u64,
    input_bytes: u64,
    block_bytes: u64,
    next_group: usize,
    next_row: u64,
    sequence: u64,
}

impl ReadBlocks for ParquetBlocks {
    fn next_block(&mut self) -> Result<Option<Block>> {
        let groups = self.file.metadata.metadata().row_groups();
        let Some(group) = groups.get(self.next_group) else { return Ok(None) };
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        let (sequence, first_record) = (self.sequence, self.next_row);
        let parts = rows.div_ceil(self.file.rows as u64);
        let batches = RowGroup {
            file: Arc::clone(&self.file),
            group: self.next_group,
            reader: None,
            rows_left: rows,
            block_bytes: self.block_bytes,
            reservation: None,
        };
        self.next_group += 1;
        self.next_row = self.next_row.saturating_add(rows);
        self.sequence += parts;
        // Bytes are reckoned as if all rows were equally long.
        let all_rows = self.all_rows.max(1);
        let input_bytes = u128::from(self.input_bytes) * u128::from(self.next_row.min(all_rows)) / u128::from(all_rows);
        let data = BlockData::Rows(Rows { batches: Box::new(batches), parts });
        Ok(Some(Block { sequence, first_record, first_vertex: 0, input_bytes: input_bytes as u64, data }))
    }
}

/// The rows of a group, decoded as they are asked for.
struct RowGroup {
    file: Arc<ParquetFile>,
    group: usize,
    reader: Option<ParquetRecordBatchReader>,
    rows_left: u64,
    block_bytes: u64,
    /// Memory for decoding, from the first rows on.
    reservation: Option<Reservation>,
}

impl RowGroup {
    fn decode_next(&mut self) -> std::result::Result<Option<RecordBatch>, String> {
        let RowGroup { file, group, reader, rows_left, .. } = self;
        guarded(|| {
            let reader = match reader {
                Some(reader) => reader,
                none => none.insert(file.row_group(*group)?),
            };
            // The reader keeps the order of the file; the parser wants source, target, weight.
            let batch = reader.next().transpose().map_err(|error| error.to_string())?;
            // The numbers of all that follows were told by how many rows there should be.
            let found = batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
            if found != (*rows_left).min(file.rows as u64) {
                return Err(format!("{found} rows where {rows_left} of row group {group} are left"));
            }
            *rows_left -= found;
            batch.map(|batch| batch.project(&file.order).map_err(|error| error.to_string())).transpose()
        })
    }
}

impl Iterator for RowGroup {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.reservation.is_none() {
            let budget = self.file.input.budget();
            match budget.reserve("decoding a row group", self.block_bytes) {
                Ok(reservation) => self.reservation = Some(reservation),
                Err(error) => return Some(Err(error)),
            }
        }
        let decoded = self.decode_next();
        decoded.map_err(|error| damaged(self.file.input.path(), "rows of a table", &error)).transpose()
    }
}
