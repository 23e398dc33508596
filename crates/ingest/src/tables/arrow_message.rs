//! Messages of Arrow files and streams: where they begin and end, and what their headers say.
//!
//! A file is a stream between a magic number and a table of contents, which is not needed. A message is a length, a
//! header, and the buffers of columns.

use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use outcore_io::Buffer as Memory;

/// The magic number at both ends of an Arrow file.
pub const FILE_MAGIC: &[u8] = b"ARROW1";
/// The length of the table of contents, and what the file began with: the last bytes of a file.
pub const FILE_END_BYTES: usize = 4 + FILE_MAGIC.len();
/// Largest length of a schema that does not state its own length.
pub const MOST_BARE_SCHEMA_BYTES: usize = 1 << 20;
/// The mark that a message begins with.
pub const CONTINUATION: [u8; 4] = [0xff; 4];
/// Largest distance of the first message of an Arrow file from the start.
pub const MOST_PADDING_BYTES: usize = 4096;
/// Headers of messages name the buffers of columns; larger ones are damaged.
const MOST_METADATA_BYTES: usize = 16 << 20;

/// A message as it lies in the file.
pub struct Message {
    /// Length of the message with its body, in bytes.
    pub len_bytes: usize,
    /// Neither the batch nor any of its columns has rows.
    pub is_empty: bool,
    /// Starts of the buffers that get memory of their own when they are unpacked; each begins with its unpacked length.
    pub compressed: Vec<usize>,
    /// The dictionary in it, if it has one.
    pub dictionary: Option<DictionaryMessage>,
    /// Number of rows, if the message is a batch.
    pub rows: Option<i64>,
}

/// A message with values of a dictionary, instead of the ones before or behind them.
pub struct DictionaryMessage {
    /// Number of the dictionary, by which columns name it.
    pub id: i64,
    /// Its values are appended to those of an earlier message.
    pub is_delta: bool,
}

/// Number of bytes of an Arrow file before its first message: the magic number is padded with zeros to 8 bytes, or to
/// the alignment of the writer, and no message begins with a zero.
pub fn start_bytes(start: &[u8]) -> usize {
    let zeros = start[FILE_MAGIC.len().min(start.len())..].iter().take_while(|&&byte| byte == 0).count();
    (FILE_MAGIC.len() + zeros) / 8 * 8
}

/// The schema at the beginning of `head`, as a message, if it has no mark and length in front, as polars 2 begins its
/// files, whose readers take that of the table of contents; and how long it is in the file. It ends where the next
/// message begins.
pub fn bare_schema(head: &[u8]) -> Option<(Vec<u8>, usize)> {
    if head.starts_with(&CONTINUATION) {
        return None;
    }
    let mut starts = memchr::memmem::find_iter(head, &CONTINUATION).filter(|start| start % 8 == 0);
    // Flatbuffers are verified where they lie, so they have to be aligned.
    let whole = Buffer::from(head);
    let is_schema =
        |bytes: &[u8]| arrow_ipc::root_as_message(bytes).is_ok_and(|message| message.header_as_schema().is_some());
    let end = starts.find(|&end| is_schema(&whole[..end]))?;
    let mut message = [&CONTINUATION[..], &(end as u32).to_le_bytes()].concat();
    message.extend_from_slice(&whole[..end]);
    Some((message, end))
}

/// The schema of a message.
pub fn schema_of(message: &[u8]) -> Result<Option<SchemaRef>, String> {
    let mut decoder = StreamDecoder::new();
    // The decoder looks at a schema only with what is behind it: here the mark of the end.
    let mut bytes = Buffer::from([message, &CONTINUATION, &[0; 4]].concat());
    decoder.decode(&mut bytes).map_err(|error| error.to_string())?;
    Ok(decoder.schema())
}

/// The lengths of what is before a message's header, and of both together; the second one is 0 at the mark of the end.
/// Fewer than 8 bytes are those at the end of the input.
pub fn header_bytes(start: &[u8], is_file: bool) -> Result<(usize, usize), String> {
    // Old writers leave out the mark before the length.
    let prefix = if start.starts_with(&CONTINUATION) { 8 } else { 4 };
    let len = start.get(prefix - 4..prefix).and_then(|len| len.first_chunk()).map(|len| u32::from_le_bytes(*len));
    match len {
        None if start.is_empty() && !is_file => Err("it ends without the mark of its end".to_owned()),
        None if start.is_empty() => Err("it ends before its table of contents".to_owned()),
        None => Err("it ends inside a message".to_owned()),
        Some(0) => Ok((prefix, 0)),
        Some(len) if prefix + len as usize > MOST_METADATA_BYTES => {
            Err(format!("a message whose header has {} bytes", prefix + len as usize))
        }
        Some(len) => Ok((prefix, prefix + len as usize)),
    }
}

impl Message {
    /// Parses the header of a message, whose first `prefix` bytes are its length.
    pub fn parse(head: &[u8], prefix: usize, len: usize) -> Result<Message, String> {
        let header = head.get(prefix..len).ok_or("it ends inside a message")?;
        let message = arrow_ipc::root_as_message(header).map_err(|error| error.to_string())?;
        let dictionary = message.header_as_dictionary_batch();
        let rows = message.header_as_record_batch().map(|batch| batch.length());
        if rows.is_none() && dictionary.is_none() && message.header_as_schema().is_none() {
            return Err("a message that is no schema, no dictionary and no batch".to_owned());
        }
        let batch = dictionary.and_then(|dictionary| dictionary.data()).or(message.header_as_record_batch());
        let buffers = batch.filter(|batch| batch.compression().is_some()).and_then(|batch| batch.buffers());
        let starts = buffers.iter().flatten().filter(|buffer| buffer.length() > 0);
        let starts = starts.filter_map(|buffer| usize::try_from(buffer.offset()).ok()?.checked_add(len));
        // A damaged header that loses the number of rows loses those of the columns too, or contradicts them.
        let nodes = batch.and_then(|batch| batch.nodes()).filter(|nodes| !nodes.is_empty());
        let are_empty = nodes.is_some_and(|nodes| nodes.iter().all(|node| node.length() == 0));
        let is_empty = rows == Some(0) && (are_empty || message.bodyLength() == 0);
        let body = usize::try_from(message.bodyLength()).ok().and_then(|body| body.checked_add(len));
        Ok(Message {
            len_bytes: body.ok_or_else(|| format!("a message of {} bytes", message.bodyLength()))?,
            is_empty,
            compressed: starts.collect(),
            rows,
            dictionary: dictionary.map(|batch| DictionaryMessage { id: batch.id(), is_delta: batch.isDelta() }),
        })
    }

    /// Total unpacked size of the compressed buffers, as they state it themselves; negative sizes mark buffers that are
    /// not compressed.
    pub fn unpacked_bytes(&self, bytes: &[u8]) -> u64 {
        let starts = self.compressed.iter().filter_map(|&start| bytes.get(start..)?.first_chunk());
        starts.map(|len| unpacked_len(*len)).fold(0, u64::saturating_add)
    }
}

/// A buffer in memory that is given back with the last array in it.
pub fn shared(memory: Memory<u8>) -> Buffer {
    struct Shared(Memory<u8>);
    impl AsRef<[u8]> for Shared {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    Buffer::from(Bytes::from_owner(Shared(memory)))
}

/// Unpacked length of a buffer, from its first bytes.
pub fn unpacked_len(first: [u8; 8]) -> u64 {
    u64::try_from(i64::from_le_bytes(first)).unwrap_or(0)
}

/// Starts of the batches that the table of contents of a file lists.
pub fn batches_listed(contents: &[u8]) -> Result<Vec<u64>, String> {
    let footer = arrow_ipc::root_as_footer(contents).map_err(|error| format!("its table of contents: {error}"))?;
    Ok(footer.recordBatches().iter().flatten().map(|block| block.offset() as u64).collect())
}

/// Whether a file may end so behind the mark of its end: with `rest_bytes`, of which `tail` are the last. There is the
/// table of contents, its length, and what the file began with; nothing else but padding.
pub fn check_end(tail: &[u8], rest_bytes: u64, is_file: bool) -> Result<(), String> {
    if !is_file {
        return if rest_bytes == 0 { Ok(()) } else { Err("bytes after the end of the stream".to_owned()) };
    }
    let contents_bytes = tail.strip_suffix(FILE_MAGIC).and_then(|len| len.last_chunk().copied());
    match contents_bytes.map(|len| u64::from(u32::from_le_bytes(len)) + FILE_END_BYTES as u64) {
        None => Err("it ends inside its table of contents".to_owned()),
        Some(end_bytes) if (end_bytes..end_bytes + 8).contains(&rest_bytes) => Ok(()),
        Some(_) => Err("a mark of its end before its last batch".to_owned()),
    }
}
