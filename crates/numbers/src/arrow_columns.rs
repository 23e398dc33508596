//! Columns of numbers in Arrow files and streams, of which any rows are read.
//!
//! *Idea.* When a file is opened, the headers of all messages are read: they say where the buffers of every column lie.
//! Of a column in a batch two buffers are read then, and become a batch of one column. Buffers that are not compressed
//! are read as far as rows are wanted; compressed ones as a whole, so that a column of one batch has to fit into
//! memory.
//!
//! *Cost.* One small read per batch when the file is opened, and one of every dictionary of numbers; 56 bytes of memory
//! for a column in a batch.

use crate::placed_table::{Packing, PlacedColumns};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{
    BodyCompression, BodyCompressionArgs, BodyCompressionMethod, Buffer as Place, CompressionType, FieldNode,
    MetadataVersion, RecordBatchArgs,
};
use arrow_schema::{DataType, Schema, SchemaRef, UnionMode};
use flatbuffers::FlatBufferBuilder;
use outcore_image::{Error, Result};
use outcore_ingest::parts::{
    CONTINUATION, CountedFile, FILE_END_BYTES, FILE_MAGIC, MOST_BARE_SCHEMA_BYTES, MOST_PADDING_BYTES, Message,
    bare_schema, batches_listed, check_end, damaged, guarded, header_bytes, schema_of, shared, start_bytes,
    unpacked_len,
};
use outcore_io::{Budget, Buffer as Memory, Reservation};
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a message that are read at first, enough for most headers.
const HEAD_BYTES: usize = 4096;
/// Rows decoded at a time: buffers of more bytes stay with the allocator of every thread that frees them.
const DECODED_ROWS: u64 = 1 << 14;
/// Buffers in memory begin at multiples of this.
const ALIGNED_BYTES: u64 = 64;

pub(crate) struct ArrowColumns {
    path: PathBuf,
    /// The fields of the columns that are read.
    fields: Vec<SchemaRef>,
    batches: Vec<BatchPlace>,
    /// The columns that are read, of every batch.
    columns: Vec<ColumnPlace>,
    rows: u64,
    _reservation: Reservation,
}

struct BatchPlace {
    first_row: u64,
    version: MetadataVersion,
    codec: Option<CompressionType>,
    dictionaries: Arc<HashMap<i64, ArrayRef>>,
}

/// A column of a batch: how many rows have no value, and where the bits that say which, and the values, lie in the
/// file.
#[derive(Clone, Copy)]
struct ColumnPlace {
    nulls: i64,
    validity: (u64, u64),
    values: (u64, u64),
}

/// A reader of the messages of a file, one after the other.
struct Walk<'a> {
    path: &'a Path,
    file: &'a CountedFile,
    budget: &'a Budget,
    at: u64,
    is_file: bool,
    /// Starts of the batches so far.
    batches: Vec<u64>,
}

impl Walk<'_> {
    fn damaged(&self, error: &str) -> Error {
        damaged(self.path, "an Arrow file or stream", error)
    }

    /// The bytes from here on, at most so many.
    fn peek(&self, most: usize) -> Result<Vec<u8>> {
        let left = self.file.len_bytes().saturating_sub(self.at);
        let mut bytes = vec![0; left.min(most as u64) as usize];
        self.file.read_at(&mut bytes, self.at).map_err(|error| self.damaged(&error.to_string()))?;
        Ok(bytes)
    }

    /// Goes to the first message, and takes the schema.
    fn schema(&mut self) -> Result<SchemaRef> {
        let start = self.peek(MOST_PADDING_BYTES)?;
        self.is_file = start.starts_with(FILE_MAGIC);
        if start.starts_with(b"FEA1") {
            return Err(Error::input(self.path, None, "an Arrow file or stream", "a file of Feather version 1")
                .advise("write it again with version 2"));
        }
        if self.is_file {
            self.at = start_bytes(&start) as u64;
            if !self.peek(CONTINUATION.len())?.starts_with(&CONTINUATION) {
                let head = self.peek(MOST_BARE_SCHEMA_BYTES)?;
                if let Ok(Some((message, end))) = guarded(|| Ok(bare_schema(&head))) {
                    self.at += end as u64;
                    return self.decoded(&message);
                }
            }
        }
        let (head, _, len) = self.head()?.ok_or_else(|| self.damaged("it ends before its schema"))?;
        self.at += len as u64;
        self.decoded(&head[..len])
    }

    fn decoded(&self, message: &[u8]) -> Result<SchemaRef> {
        let schema = guarded(|| schema_of(message)).map_err(|error| self.damaged(&error))?;
        schema.ok_or_else(|| self.damaged("it ends before its schema"))
    }

    /// The beginning of the next message with its whole header, and the lengths of what is before the header and of
    /// both; nothing at the end.
    fn head(&mut self) -> Result<Option<(Vec<u8>, usize, usize)>> {
        let head = self.peek(HEAD_BYTES)?;
        let (prefix, len) =
            header_bytes(&head[..head.len().min(8)], self.is_file).map_err(|error| self.damaged(&error))?;
        if len == 0 {
            self.at += prefix as u64;
            self.check_end()?;
            return Ok(None);
        }
        let head = if len > head.len() { self.peek(len)? } else { head };
        if head.len() < len {
            return Err(self.damaged("it ends inside a message"));
        }
        Ok(Some((head, prefix, len)))
    }

    fn check_end(&mut self) -> Result<()> {
        let rest_bytes = self.file.len_bytes() - self.at;
        self.at += rest_bytes - rest_bytes.min(FILE_END_BYTES as u64);
        let tail = self.peek(FILE_END_BYTES)?;
        check_end(&tail, rest_bytes, self.is_file).map_err(|error| self.damaged(&error))?;
        if !self.is_file {
            return Ok(());
        }
        // The table of contents ends where the mark of the end begins.
        let contents_bytes = tail.first_chunk().map_or(0, |len| u64::from(u32::from_le_bytes(*len)));
        let _held = self.budget.reserve(&format!("the contents of {}", self.path.display()), contents_bytes)?;
        self.at -= contents_bytes;
        let contents = self.peek(contents_bytes as usize)?;
        self.at += contents_bytes;
        let listed = guarded(|| batches_listed(&contents)).map_err(|error| self.damaged(&error))?;
        match listed == self.batches {
            true => Ok(()),
            false => Err(self.damaged("a table of contents that lists other batches, or in another order")),
        }
    }

    /// All of a message, in memory that the budget counts, and with it what its buffers take when they are unpacked.
    fn whole(&self, message: &Message) -> Result<(Buffer, Reservation)> {
        let purpose = format!("a dictionary of {}", self.path.display());
        let mut memory = Memory::zeroed(self.budget, &purpose, message.len_bytes)?;
        self.file.read_at(&mut memory, self.at).map_err(|error| self.damaged(&error.to_string()))?;
        let unpacked = self.budget.reserve(&purpose, message.unpacked_bytes(&memory))?;
        Ok((shared(memory), unpacked))
    }
}

impl ArrowColumns {
    /// Opens a file or stream, of which `choose` takes columns that hold numbers, by its schema.
    pub(crate) fn open(
        path: &Path,
        file: &CountedFile,
        budget: &Arc<Budget>,
        choose: impl FnOnce(&Schema) -> Result<Vec<usize>>,
    ) -> Result<(Self, Schema)> {
        let mut walk = Walk { path, file, budget, at: 0, is_file: false, batches: Vec::new() };
        let schema = walk.schema()?;
        let chosen = choose(&schema)?;
        let damaged = |error: String| damaged(path, "an Arrow file or stream", &error);
        let project = |column: usize| schema.project(&[column]).map(Arc::new).map_err(|error| error.to_string());
        let fields = chosen.iter().map(|&column| project(column)).collect::<std::result::Result<Vec<_>, _>>();
        let fields = fields.map_err(damaged)?;
        let own = schema.project(&chosen).map_err(|error| damaged(error.to_string()))?;
        let (mut batches, mut columns, mut rows) = (Vec::new(), Vec::new(), 0u64);
        let purpose =
            format!("the places of columns of {} (less, if it is written with larger batches)", path.display());
        let reservation = budget.reserve(&purpose, 0)?;
        let mut dictionaries = Arc::new(HashMap::<i64, ArrayRef>::new());
        while let Some((head, prefix, len)) = walk.head()? {
            let message = Message::parse(&head, prefix, len).map_err(damaged)?;
            let end = walk.at.checked_add(message.len_bytes as u64).filter(|&end| end <= file.len_bytes());
            let end = end.ok_or_else(|| damaged("it ends inside a message".to_owned()))?;
            if let Some(dictionary) = &message.dictionary {
                #[allow(deprecated)]
                let is_wanted = fields.iter().any(|field| !field.fields_with_dict_id(dictionary.id).is_empty());
                if is_wanted {
                    let (bytes, unpacked) = walk.whole(&message)?;
                    // As long as the file is open; a delta makes a copy of what it adds to.
                    let before = Arc::make_mut(&mut dictionaries);
                    let held_bytes = before.get(&dictionary.id).map_or(0, |values| values.get_array_memory_size());
                    let copied_bytes = if dictionary.is_delta { held_bytes + message.len_bytes } else { 0 };
                    keep(budget, &purpose, &reservation, unpacked.bytes() + copied_bytes as u64)?;
                    let add = || add_dictionary(&bytes, (prefix, len), &own, before).map_err(|error| error.to_string());
                    guarded(add).map_err(damaged)?;
                }
            } else if let Some(batch_rows) = message.rows {
                walk.batches.push(walk.at);
                let bytes = size_of::<BatchPlace>() + chosen.len() * size_of::<ColumnPlace>();
                keep(budget, &purpose, &reservation, bytes as u64)?;
                let body = (walk.at + len as u64, end);
                let place = || batch_place(&head[prefix..len], &schema, &chosen, body, batch_rows);
                let (version, codec, own) = guarded(place).map_err(damaged)?;
                if batch_rows > 0 {
                    let dictionaries = Arc::clone(&dictionaries);
                    batches.push(BatchPlace { first_row: rows, version, codec, dictionaries });
                    columns.extend(own);
                    rows = rows.saturating_add(batch_rows as u64);
                }
            }
            walk.at = end;
        }
        let path = path.to_owned();
        Ok((ArrowColumns { path, fields, batches, columns, rows, _reservation: reservation }, own))
    }

    fn range(&self, batch: usize) -> Range<u64> {
        let end = self.batches.get(batch + 1).map_or(self.rows, |next| next.first_row);
        self.batches[batch].first_row..end
    }

    fn batch_of(&self, row: u64) -> usize {
        self.batches.partition_point(|batch| batch.first_row <= row) - 1
    }

    fn place(&self, batch: usize, column: usize) -> ColumnPlace {
        self.columns[batch * self.fields.len() + column]
    }

    /// All rows of a column in a batch whose buffers are compressed.
    fn compressed(&self, file: &CountedFile, budget: &Budget, (batch, column): (usize, usize)) -> Result<RecordBatch> {
        let (place, range) = (self.place(batch, column), self.range(batch));
        let bits = value_bits(self.fields[column].field(0).data_type());
        let rows = range.end - range.start;
        let buffers = self.buffers(file, &place)?;
        // Larger ones than their rows need are counted beside what all take.
        let expect = |at: u64, len: u64| {
            let first = buffers.get(at as usize..).filter(|_| len > 0).and_then(|bytes| bytes.first_chunk());
            first.map_or(0, |first| unpacked_len(*first))
        };
        let unpacked = expect(0, place.validity.1).saturating_add(expect(second(&place), place.values.1));
        let purpose = format!("a batch of {} (less, if it is written with smaller batches)", self.path.display());
        let _excess = budget.reserve(&purpose, unpacked.saturating_sub(unpacked_bytes(rows, bits)))?;
        self.decode((batch, column), buffers, &place, rows)
    }

    /// The buffers of a column, as they lie in the file. What decoding takes has been set aside.
    fn buffers(&self, file: &CountedFile, place: &ColumnPlace) -> Result<Buffer> {
        let mut bytes = MutableBuffer::from_len_zeroed((second(place) + place.values.1) as usize);
        for ((offset, len), at) in [(place.validity, 0), (place.values, second(place))] {
            let to = &mut bytes[at as usize..][..len as usize];
            file.read_at(to, offset).map_err(|error| self.damaged(&error.to_string()))?;
        }
        Ok(bytes.into())
    }

    /// Makes a batch of one column of its buffers.
    fn decode(
        &self,
        (batch, column): (usize, usize),
        buffers: Buffer,
        place: &ColumnPlace,
        rows: u64,
    ) -> Result<RecordBatch> {
        let BatchPlace { version, codec, dictionaries, .. } = &self.batches[batch];
        let field = &self.fields[column];
        let header = header(field.field(0).data_type(), place, rows, *codec);
        let decode = || {
            let batch = flatbuffers::root::<arrow_ipc::RecordBatch<'_>>(&header).map_err(|error| error.to_string())?;
            let found = read_record_batch(&buffers, batch, Arc::clone(field), dictionaries, None, version);
            let found = found.map_err(|error| error.to_string())?;
            match found.num_rows() as u64 == rows {
                true => Ok(found),
                false => Err(format!("a batch of {rows} rows that has {}", found.num_rows())),
            }
        };
        guarded(decode).map_err(|error| self.damaged(&error))
    }

    fn damaged(&self, error: &str) -> Error {
        damaged(&self.path, "an Arrow file or stream", error)
    }
}

impl PlacedColumns for ArrowColumns {
    fn rows(&self) -> u64 {
        self.rows
    }

    fn packing(&self) -> Packing {
        let codec = |batch: &BatchPlace| Some(if batch.codec? == CompressionType::ZSTD { "zstd" } else { "lz4" });
        let codecs = vec![self.batches.iter().find_map(codec).unwrap_or("none").to_owned()];
        Packing { groups: self.batches.len(), group_name: "batches", codecs, encodings: Vec::new() }
    }

    fn run_end(&self, row: u64, most_rows: u64) -> u64 {
        let batch = self.batch_of(row);
        let end = self.range(batch).end;
        if self.batches[batch].codec.is_none() { end.min(row + most_rows) } else { end }
    }

    fn read_bytes(&self, column: usize, run: Range<u64>) -> u64 {
        let batch = self.batch_of(run.start);
        let ColumnPlace { nulls, validity, values } = self.place(batch, column);
        if self.batches[batch].codec.is_some() {
            return values.1 + if nulls == 0 { 0 } else { validity.1 };
        }
        let bits = value_bits(self.fields[column].field(0).data_type()) + u64::from(nulls != 0);
        // Bits are read from the row on that begins a byte.
        let first = run.start - (run.start - self.range(batch).start) % 8;
        ((run.end - first) * bits).div_ceil(8)
    }

    fn decoding_bytes(&self, column: usize) -> u64 {
        let bits = value_bits(self.fields[column].field(0).data_type());
        let bytes = |batch: usize| {
            let (ColumnPlace { validity, values, .. }, range) = (self.place(batch, column), self.range(batch));
            let rows = range.end - range.start;
            match self.batches[batch].codec {
                None => unpacked_bytes(rows.min(DECODED_ROWS), bits),
                Some(_) => (validity.1 + values.1).saturating_add(unpacked_bytes(rows, bits)),
            }
        };
        (0..self.batches.len()).map(bytes).max().unwrap_or(0)
    }

    fn read(
        &self,
        file: &CountedFile,
        budget: &Budget,
        (column, rows): (usize, Range<u64>),
        take: &mut dyn FnMut(&dyn Array) -> Result<()>,
    ) -> Result<()> {
        let batch = self.batch_of(rows.start);
        let (place, range) = (self.place(batch, column), self.range(batch));
        let (mut start, end) = (rows.start - range.start, rows.end - range.start);
        if self.batches[batch].codec.is_some() {
            let all = self.compressed(file, budget, (batch, column))?;
            while start < end {
                let count = (end - start).min(DECODED_ROWS);
                take(&all.column(0).slice(start as usize, count as usize))?;
                start += count;
            }
            return Ok(());
        }
        let bits = value_bits(self.fields[column].field(0).data_type());
        while start < end {
            let count = (end - start).min(DECODED_ROWS);
            // Bits are read from the byte on that has the first one.
            let skipped = start % 8;
            let (from, rows) = (start - skipped, count + skipped);
            let part = |(offset, _): (u64, u64), bits: u64| {
                let (start, end) = (from * bits / 8, ((from + rows) * bits).div_ceil(8));
                (offset + start, end - start)
            };
            let validity = if place.nulls == 0 { (0, 0) } else { part(place.validity, 1) };
            let mut own = ColumnPlace { nulls: place.nulls, validity, values: part(place.values, bits) };
            let buffers = self.buffers(file, &own)?;
            if own.nulls > 0 {
                // The nulls of the batch may be in other rows.
                own.nulls = rows as i64 - buffers.count_set_bits_offset(0, rows as usize) as i64;
            }
            let found = self.decode((batch, column), buffers, &own, rows)?;
            take(&found.column(0).slice(skipped as usize, count as usize))?;
            start += count;
        }
        Ok(())
    }
}

/// Start of the values in memory, after the validity bits.
fn second(place: &ColumnPlace) -> u64 {
    place.validity.1.next_multiple_of(ALIGNED_BYTES)
}

/// Counts memory for as long as the file is open.
fn keep(budget: &Budget, purpose: &str, reservation: &Reservation, bytes: u64) -> Result<()> {
    match reservation.grow(bytes) {
        true => Ok(()),
        false => Err(budget.refusal(purpose, bytes, budget.available_bytes())),
    }
}

fn add_dictionary(
    bytes: &Buffer,
    (prefix, len): (usize, usize),
    schema: &Schema,
    dictionaries: &mut HashMap<i64, ArrayRef>,
) -> std::result::Result<(), arrow_schema::ArrowError> {
    let failed = |error: String| arrow_schema::ArrowError::IpcError(error);
    let message = arrow_ipc::root_as_message(&bytes[prefix..len]).map_err(|error| failed(error.to_string()))?;
    let batch = message.header_as_dictionary_batch().ok_or_else(|| failed("no dictionary".to_owned()))?;
    read_dictionary(&bytes.slice(len), batch, schema, dictionaries, &message.version())
}

type Placed = (MetadataVersion, Option<CompressionType>, Vec<ColumnPlace>);

/// The places of the buffers of the chosen columns, in a batch whose buffers are in `body`.
fn batch_place(
    header: &[u8],
    schema: &Schema,
    chosen: &[usize],
    body: (u64, u64),
    rows: i64,
) -> std::result::Result<Placed, String> {
    // Flatbuffers are verified where they lie, so they have to be aligned.
    let header = Buffer::from(header);
    let message = arrow_ipc::root_as_message(&header).map_err(|error| error.to_string())?;
    let version = message.version();
    if rows < 0 {
        return Err(format!("a batch of {rows} rows"));
    }
    let batch = message.header_as_record_batch().ok_or("no batch")?;
    let mut variadic = batch.variadicBufferCounts().into_iter().flatten();
    // The places of the first node and buffer of every column.
    let (mut places, mut at) = (Vec::new(), (0, 0));
    for field in schema.fields() {
        places.push(at);
        count(field.data_type(), version, &mut variadic, &mut at).ok_or("too few buffers of a column")?;
    }
    let (nodes, buffers) = (batch.nodes().ok_or("a batch without columns")?, batch.buffers());
    let buffer = |place: usize| {
        let buffer = buffers.filter(|buffers| place < buffers.len()).map(|buffers| *buffers.get(place));
        let buffer = buffer.ok_or("too few buffers of a column")?;
        let numbers = u64::try_from(buffer.offset()).ok().zip(u64::try_from(buffer.length()).ok());
        let (offset, len) = numbers.ok_or("a buffer before its batch")?;
        let start = body.0.checked_add(offset).filter(|start| start.checked_add(len).is_some_and(|end| end <= body.1));
        Ok::<_, String>((start.ok_or("a buffer beyond its batch")?, len))
    };
    let codec = batch.compression().map(|compression| compression.codec());
    let column = |&column: &usize| {
        let (node, first) = places[column];
        let node = if node < nodes.len() { *nodes.get(node) } else { return Err("too few columns".to_owned()) };
        if node.length() != rows {
            return Err(format!("a batch of {rows} rows whose column has {}", node.length()));
        }
        let kind = schema.field(column).data_type();
        if *kind == DataType::Null {
            return Ok(ColumnPlace { nulls: 0, validity: (0, 0), values: (0, 0) });
        }
        let place =
            ColumnPlace { nulls: node.null_count().max(0), validity: buffer(first)?, values: buffer(first + 1)? };
        let is_held = |bytes: u64, bits: u64| 8 * u128::from(bytes) >= u128::from(bits) * rows as u128;
        let are_held = is_held(place.values.1, value_bits(kind)) && (place.nulls == 0 || is_held(place.validity.1, 1));
        if codec.is_none() && !are_held {
            return Err(format!("{} bytes for a column of {rows} rows", place.values.1));
        }
        Ok(place)
    };
    let columns = chosen.iter().map(column).collect::<std::result::Result<Vec<_>, _>>()?;
    Ok((version, codec, columns))
}

/// Counts the nodes and buffers of a column, and of those within it.
fn count(
    kind: &DataType,
    version: MetadataVersion,
    variadic: &mut impl Iterator<Item = i64>,
    at: &mut (usize, usize),
) -> Option<()> {
    at.0 += 1;
    at.1 = at.1.checked_add(match kind {
        DataType::Null | DataType::RunEndEncoded(..) => 0,
        DataType::Struct(_) | DataType::FixedSizeList(..) => 1,
        DataType::Utf8 | DataType::Binary | DataType::LargeUtf8 | DataType::LargeBinary => 3,
        DataType::ListView(_) | DataType::LargeListView(_) => 3,
        DataType::Utf8View | DataType::BinaryView => 2 + usize::try_from(variadic.next()?).ok()?,
        DataType::Union(_, mode) => {
            1 + usize::from(version < MetadataVersion::V5) + usize::from(*mode == UnionMode::Dense)
        }
        _ => 2,
    })?;
    match kind {
        DataType::List(inner) | DataType::LargeList(inner) | DataType::Map(inner, _) => {
            count(inner.data_type(), version, variadic, at)
        }
        DataType::ListView(inner) | DataType::LargeListView(inner) | DataType::FixedSizeList(inner, _) => {
            count(inner.data_type(), version, variadic, at)
        }
        DataType::Struct(inner) => inner.iter().try_for_each(|own| count(own.data_type(), version, variadic, at)),
        DataType::RunEndEncoded(ends, values) => {
            count(ends.data_type(), version, variadic, at)?;
            count(values.data_type(), version, variadic, at)
        }
        DataType::Union(inner, _) => {
            inner.iter().try_for_each(|(_, own)| count(own.data_type(), version, variadic, at))
        }
        _ => Some(()),
    }
}

fn value_bits(kind: &DataType) -> u64 {
    match kind {
        DataType::Boolean => 1,
        DataType::Null => 0,
        DataType::Dictionary(keys, _) => value_bits(keys),
        kind => 8 * kind.primitive_width().unwrap_or(16) as u64,
    }
}

/// Memory of `rows` unpacked values and their validity bits, in bytes.
fn unpacked_bytes(rows: u64, bits: u64) -> u64 {
    rows.saturating_mul(bits + 1).div_ceil(8).saturating_add(4 * ALIGNED_BYTES)
}

/// The header of a batch of one column whose buffers lie one behind the other.
fn header(kind: &DataType, place: &ColumnPlace, rows: u64, codec: Option<CompressionType>) -> Buffer {
    let mut to = FlatBufferBuilder::new();
    let nulls = if *kind == DataType::Null { rows as i64 } else { place.nulls };
    let nodes = to.create_vector(&[FieldNode::new(rows as i64, nulls)]);
    let places = [Place::new(0, place.validity.1 as i64), Place::new(second(place) as i64, place.values.1 as i64)];
    let buffers = to.create_vector(if *kind == DataType::Null { &places[..0] } else { &places[..] });
    let compression = codec.map(|codec| {
        BodyCompression::create(&mut to, &BodyCompressionArgs { codec, method: BodyCompressionMethod::BUFFER })
    });
    let args = RecordBatchArgs {
        length: rows as i64,
        nodes: Some(nodes),
        buffers: Some(buffers),
        compression,
        variadicBufferCounts: None,
    };
    let batch = arrow_ipc::RecordBatch::create(&mut to, &args);
    to.finish(batch, None);
    // Flatbuffers are verified where they lie, so they have to be aligned.
    Buffer::from(to.finished_data())
}
