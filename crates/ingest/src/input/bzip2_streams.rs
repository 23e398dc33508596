//! bzip2 streams, one after the other, as parallel compressors write them.
//!
//! A stream of blocks of 900 kB takes 3.6 MB to be decoded, which is counted whatever the size of its blocks. Bytes
//! behind the last stream are told from a stream that is cut.

use crate::input::context::{InputContext, Window};
use crate::input::gzip_members::BytesBehind;
use bzip2::{Decompress, Status};
use std::io::{BufRead, Error, ErrorKind, Read, Result};
use std::path::Path;
use std::sync::Arc;

/// Memory of the decoder: four bytes for every byte of the largest block, its tables, and the bytes read at once.
const DECODER_BYTES: u64 = 4 << 20;

const MAGIC: &[u8] = b"BZh";

pub(crate) struct Bzip2Streams<R> {
    reader: R,
    /// Nothing between two streams.
    decoder: Option<Decompress>,
    position_bytes: u64,
    _window: Window,
}

impl<R: BufRead> Bzip2Streams<R> {
    pub(crate) fn new(reader: R, path: &Path, context: &Arc<InputContext>) -> Result<Self> {
        let window = context.open(path, DECODER_BYTES).map_err(Error::other)?;
        Ok(Bzip2Streams { reader, decoder: None, position_bytes: 0, _window: window })
    }
}

impl<R: BufRead> Read for Bzip2Streams<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while !buffer.is_empty() {
            let input = self.reader.fill_buf()?;
            let is_end = input.is_empty();
            let Some(decoder) = &mut self.decoder else {
                if is_end {
                    break;
                }
                if !MAGIC.starts_with(&input[..input.len().min(MAGIC.len())]) {
                    return Err(BytesBehind::error(self.position_bytes));
                }
                self.decoder = Some(Decompress::new(false));
                continue;
            };
            let before = (decoder.total_in(), decoder.total_out());
            let status =
                decoder.decompress(input, buffer).map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
            let (consumed, produced) = (decoder.total_in() - before.0, decoder.total_out() - before.1);
            self.reader.consume(consumed as usize);
            self.position_bytes += consumed;
            if status == Status::StreamEnd {
                self.decoder = None;
            }
            if produced > 0 {
                return Ok(produced as usize);
            }
            if is_end && self.decoder.is_some() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}
