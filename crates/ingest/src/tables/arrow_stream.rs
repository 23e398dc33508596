//! Arrow files and streams, message by message (`arrow_message.rs`), each in memory of its own that the budget counts
//! until the last of its rows is parsed.
//!
//! The size of a batch is known only when it arrives. The first one is read when the input is opened, and the plan of
//! an import reserves as much for every worker that reads; a larger one later takes free memory, or is refused.

use crate::batch::LeftOut;
use crate::batch::{Facts, InputOptions, Source};
use crate::input::file::{Input, Stream};
use crate::plan::PLAN_SHARE;
use crate::tables::arrow_message::{
    CONTINUATION, DictionaryMessage, FILE_END_BYTES, FILE_MAGIC, MOST_BARE_SCHEMA_BYTES, MOST_PADDING_BYTES, Message,
    bare_schema, check_end, header_bytes, shared, start_bytes, unpacked_len,
};
use crate::tables::batches::{Batch, Batches};
use crate::tables::guarded::{damaged, guarded};
use crate::tables::table::{TableBlocks, TableColumns, TableParser};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::SchemaRef;
use outcore_image::{Error, Result};
use outcore_io::{Buffer as Memory, Reservation};
use std::collections::HashMap;
use std::sync::Arc;

const READ_BYTES: usize = 1 << 20;

/// Bytes read at once of data that is skipped.
const PIECE_BYTES: usize = 64 << 10;

pub(crate) fn open(input: &Input, options: &InputOptions) -> Result<Source> {
    let (schema, reader) = begin(input)?;
    let block_bytes = reader.first_bytes.unwrap_or(0);
    let has_rows = reader.first.is_some();
    let mut columns = match has_rows {
        true => TableColumns::find(&schema, input.path(), options, false)?,
        false => TableColumns::without_rows(&schema, input.path(), options)?,
    };
    let longest_id_bytes = input.longest_line_bytes();
    let longest_line_bytes = if columns.strings { longest_id_bytes as u64 } else { 0 };
    let chosen = columns.chosen();
    let path = input.path().to_owned();
    let batches = reader.map(move |batch| {
        let batch = batch?;
        let rows = batch.rows.project(&chosen);
        let rows = rows.map_err(|error| damaged(&path, "rows of a table", &error.to_string()))?;
        Ok(Batch { rows, ..batch })
    });
    let batches = columns.see_direction(Box::new(batches))?;
    let (input_bytes, is_pipe) = (input.size_bytes(), input.size_bytes().is_none());
    let edges = (!has_rows).then_some(0);
    let facts = Facts { input_bytes, is_pipe, edges, block_bytes, longest_line_bytes, ..columns.facts("arrow") };
    let parser =
        TableParser { path: input.path().to_owned(), columns, longest_id_bytes, left_out: LeftOut::new(options.nulls) };
    Ok(TableBlocks::source(facts, parser, batches))
}

/// All columns of a file or stream.
pub fn whole(input: &Input) -> Result<(SchemaRef, Batches)> {
    let (schema, reader) = begin(input)?;
    Ok((schema, Box::new(reader)))
}

fn begin(input: &Input) -> Result<(SchemaRef, ArrowStream)> {
    let mut stream = input.stream()?;
    let start = stream.peek(8)?;
    if start.starts_with(b"FEA1") {
        return Err(Error::input(input.path(), None, "an Arrow file or stream", "a file of Feather version 1")
            .advise("write it again with version 2"));
    }
    let is_file = start.starts_with(FILE_MAGIC);
    if is_file {
        let padded = start_bytes(stream.peek(MOST_PADDING_BYTES)?);
        stream.skip(padded);
    }
    let mut reader = ArrowStream {
        input: input.clone(),
        stream,
        decoder: StreamDecoder::new(),
        dictionaries: HashMap::new(),
        first: None,
        is_file,
        first_bytes: None,
        ended: false,
    };
    if is_file {
        reader.decode_bare_schema()?;
    }
    while reader.first.as_ref().is_none_or(|first| first.rows.num_rows() == 0) && !reader.ended {
        reader.first = reader.next_batch().transpose()?;
    }
    if reader.first.is_none() && reader.decoder.schema().is_none() {
        // The decoder looks at a schema only with what is behind it: here the mark of the end.
        let mut end = Buffer::from([CONTINUATION, [0; 4]].concat());
        let decoder = &mut reader.decoder;
        let decoded = guarded(|| decoder.decode(&mut end).map_err(|error| error.to_string()));
        decoded.map_err(|error| reader.damaged(&error))?;
    }
    reader.first_bytes = Some(reader.first.as_ref().map_or(0, |batch| batch.len_bytes));
    let schema = reader.decoder.schema();
    let schema = schema.ok_or_else(|| reader.damaged("it ends before its schema"))?;
    Ok((schema, reader))
}

struct ArrowStream {
    input: Input,
    stream: Stream,
    decoder: StreamDecoder,
    /// Dictionaries that the decoder keeps, by their number in the schema.
    dictionaries: HashMap<i64, Dictionary>,
    first: Option<Batch>,
    is_file: bool,
    /// Size of the first batch, once it was read: the import may have begun.
    first_bytes: Option<u64>,
    ended: bool,
}

struct Dictionary {
    len_bytes: u64,
    /// For what is not in the memory of a message.
    unpacked: Arc<Reservation>,
}

impl ArrowStream {
    fn damaged(&self, error: &str) -> Error {
        damaged(self.input.path(), "an Arrow file or stream", error)
    }

    fn purpose(&self) -> String {
        format!("a batch of {} (less, if it is written with smaller batches)", self.input.path().display())
    }

    fn next_batch(&mut self) -> Option<Result<Batch>> {
        if self.ended {
            return None;
        }
        let next = self.decode_next();
        self.ended = !matches!(next, Ok(Some(_)));
        next.transpose()
    }

    /// Gives the decoder a schema without mark and length in front, if the file begins with one.
    fn decode_bare_schema(&mut self) -> Result<()> {
        if self.stream.peek(CONTINUATION.len())?.starts_with(&CONTINUATION) {
            return Ok(());
        }
        let head = self.stream.peek(MOST_BARE_SCHEMA_BYTES)?;
        let Ok(Some((message, end))) = guarded(|| Ok(bare_schema(head))) else { return Ok(()) };
        let decoder = &mut self.decoder;
        let decoded = guarded(|| decoder.decode(&mut Buffer::from(message)).map_err(|error| error.to_string()));
        decoded.map_err(|error| self.damaged(&error))?;
        self.stream.skip(end);
        Ok(())
    }

    /// The next batch; messages without one are schemas and dictionaries, which the decoder keeps.
    fn decode_next(&mut self) -> Result<Option<Batch>> {
        while let Some(message) = self.next_message()? {
            let mut memory = match Memory::zeroed(self.input.budget(), &self.purpose(), message.len_bytes) {
                Ok(memory) => memory,
                Err(refusal) => {
                    // Reads the unpacked size from the stream, which is not needed any more.
                    let unpacked_bytes = self.unpacked_ahead(&message).unwrap_or(0);
                    let block_bytes = (message.len_bytes as u64).saturating_add(unpacked_bytes);
                    return Err(self.refused(refusal.advising(unpacked_bytes), block_bytes, block_bytes));
                }
            };
            self.stream.read_exact(&mut memory)?;
            if message.is_empty {
                // The decoder gives it out only with the next message, and refuses one that is a part of another.
                continue;
            }
            let unpacked_bytes = message.unpacked_bytes(&memory);
            let block_bytes = (message.len_bytes as u64).saturating_add(unpacked_bytes);
            let unpacked = self.input.budget().reserve(&self.purpose(), unpacked_bytes);
            let unpacked = Arc::new(unpacked.map_err(|refusal| self.refused(refusal, block_bytes, unpacked_bytes))?);
            if let Some(dictionary) = &message.dictionary {
                self.keep(dictionary, message.len_bytes as u64, unpacked.clone())?;
            }
            let mut buffer = shared(memory);
            let decoder = &mut self.decoder;
            let decoded = guarded(|| decoder.decode(&mut buffer).map_err(|error| error.to_string()));
            let decoded = decoded.map_err(|error| self.damaged(&error))?;
            let found = decoded.as_ref().map(|rows| rows.num_rows() as i64);
            if found != message.rows {
                let [expected, found] = [message.rows, found].map(|rows| rows.map_or("no".into(), |n| n.to_string()));
                return Err(self.damaged(&format!("a batch of {expected} rows that has {found} rows")));
            }
            let Some(rows) = decoded else { continue };
            let dictionaries = self.dictionaries.values().map(|dictionary| &dictionary.unpacked);
            let unpacked = dictionaries.chain([&unpacked]).filter(|unpacked| unpacked.bytes() > 0).cloned().collect();
            let position_bytes = self.stream.position_bytes();
            return Ok(Some(Batch { rows, unpacked, len_bytes: block_bytes, position_bytes }));
        }
        Ok(None)
    }

    /// The error for a message that does not fit and takes `block_bytes`, of which `held_bytes` are missing. The limit
    /// that it asks for is enough for all the import, if no larger one follows.
    fn refused(&self, refusal: Error, block_bytes: u64, held_bytes: u64) -> Error {
        let Some(first_bytes) = self.first_bytes else {
            return self.input.advising(refusal, block_bytes, held_bytes);
        };
        // The plan leaves every reader as much as the first batch took, and a sixteenth of all memory for the rest.
        let larger_bytes = block_bytes.saturating_sub(first_bytes).saturating_mul(self.input.threads() as u64);
        refusal.advising(PLAN_SHARE.saturating_mul(block_bytes.saturating_add(larger_bytes)))
    }

    /// Unpacked size of the buffers of the next message; reads them, and keeps nothing.
    fn unpacked_ahead(&mut self, message: &Message) -> Result<u64> {
        let mut starts = message.compressed.clone();
        starts.sort_unstable();
        let (mut at, mut unpacked_bytes) = (0, 0u64);
        let mut piece = vec![0; PIECE_BYTES];
        for start in starts {
            while at < start {
                let len = (start - at).min(PIECE_BYTES);
                self.stream.read_exact(&mut piece[..len])?;
                at += len;
            }
            if at > start {
                continue;
            }
            let mut len = [0; 8];
            self.stream.read_exact(&mut len)?;
            at += len.len();
            unpacked_bytes = unpacked_bytes.saturating_add(unpacked_len(len));
        }
        Ok(unpacked_bytes)
    }

    fn reserve(&self, bytes: u64) -> Result<Arc<Reservation>> {
        Ok(Arc::new(self.input.budget().reserve(&self.purpose(), bytes)?))
    }

    /// Counts the values of a dictionary for as long as the decoder, or a batch, has them.
    fn keep(&mut self, message: &DictionaryMessage, message_bytes: u64, unpacked: Arc<Reservation>) -> Result<()> {
        let mut dictionary = Dictionary { len_bytes: message_bytes.max(unpacked.bytes()), unpacked };
        if let Some(before) = self.dictionaries.get(&message.id).filter(|_| message.is_delta) {
            // Both parts are copied together.
            dictionary.len_bytes += before.len_bytes;
            dictionary.unpacked = self.reserve(dictionary.len_bytes)?;
        }
        self.dictionaries.insert(message.id, dictionary);
        Ok(())
    }

    /// Looks at the next message without taking it; there is none at the end.
    fn next_message(&mut self) -> Result<Option<Message>> {
        let start = self.stream.peek(8)?;
        let (prefix, len) = match header_bytes(start, self.is_file) {
            Ok((prefix, 0)) => {
                self.stream.skip(prefix);
                return self.check_rest().map(|()| None);
            }
            Ok(lens) => lens,
            Err(error) => return Err(self.damaged(&error)),
        };
        let parsed = Message::parse(self.stream.peek(len)?, prefix, len);
        parsed.map(Some).map_err(|error| self.damaged(&error))
    }

    /// Looks at what follows the end mark: in a file the table of contents, which ends like the file begins.
    fn check_rest(&mut self) -> Result<()> {
        let mut tail = Vec::new();
        let mut rest_bytes = 0;
        loop {
            let tail_bytes = tail.len();
            self.stream.fill(&mut tail, tail_bytes + READ_BYTES)?;
            if tail.len() == tail_bytes {
                break;
            }
            rest_bytes += (tail.len() - tail_bytes) as u64;
            tail.drain(..tail.len().saturating_sub(FILE_END_BYTES));
            if !self.is_file {
                break;
            }
        }
        check_end(&tail, rest_bytes, self.is_file).map_err(|error| self.damaged(&error))
    }
}

impl Iterator for ArrowStream {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.first.take() {
            Some(batch) => Some(Ok(batch)),
            None => self.next_batch(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::EdgeBatch;
    use crate::batch::IdKind;
    use crate::open::open;
    use crate::tables::attributes::Attributes;
    use arrow_array::{ArrayRef, Float64Array, Int64Array, NullArray, RecordBatch, StringArray};
    use arrow_ipc::writer::FileWriter;
    use outcore_io::{Runtime, RuntimeOptions};

    fn file(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        writer.into_inner().unwrap()
    }

    #[test]
    fn a_file_without_rows_may_have_columns_of_any_type() {
        let folder = tempfile::tempdir().unwrap();
        let ints = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
        let texts = |values: &[&str]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
        let none = || Arc::new(Float64Array::from(Vec::<f64>::new())) as ArrayRef;
        let empty = file(vec![
            ("source", none()),
            ("target", Arc::new(NullArray::new(0)) as ArrayRef),
            ("weight", Arc::new(NullArray::new(0)) as ArrayRef),
            ("kind", none()),
        ]);
        std::fs::write(folder.path().join("b.arrow"), &empty).unwrap();
        let options = InputOptions { attributes: Attributes::All, ..InputOptions::default() };
        let runtime = Runtime::new(RuntimeOptions { threads: Some(1), ..RuntimeOptions::default() }).unwrap();
        for (ends, string_ids) in [([ints(&[1]), ints(&[2])], false), ([texts(&["a"]), texts(&["b"])], true)] {
            let [source, target] = ends;
            let day = vec![("source", source), ("target", target), ("weight", ints(&[5])), ("kind", texts(&["x"]))];
            std::fs::write(folder.path().join("a.arrow"), file(day)).unwrap();
            let paths = ["a.arrow", "b.arrow"].map(|name| folder.path().join(name));
            let mut source = open(&runtime, &paths, &options).unwrap();
            assert_eq!((source.facts().string_ids, source.facts().edges), (string_ids, None));
            let blocks: Vec<_> = std::iter::from_fn(|| source.next_block().unwrap()).collect();
            assert_eq!(blocks.len(), 1);
            let mut batch = EdgeBatch::new(string_ids);
            source.parser().parse(&blocks[0], &mut batch, &mut |_| Ok(())).unwrap();
            assert!(source.late_notes().iter().any(|note| note.contains("Files without edges: 1 of 2")));
        }
        let alone = InputOptions { ids: IdKind::String, ..InputOptions::default() };
        let source = open(&runtime, &[folder.path().join("b.arrow")], &alone).unwrap();
        assert_eq!((source.facts().edges, source.facts().weights.as_deref()), (Some(0), Some("weight")));
        // Names count all the same.
        std::fs::write(folder.path().join("b.arrow"), file(vec![("a", none()), ("b", none()), ("c", none())])).unwrap();
        let error = open(&runtime, &[folder.path().join("b.arrow")], &options).err().unwrap().to_string();
        assert!(error.contains("the columns a, b, c"), "{error}");
    }
}
