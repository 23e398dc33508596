//! xz streams, one after the other: every dictionary is counted in the budget before its block is decoded.
//!
//! The header of a block says how large its dictionary is, up to 4 GiB. The decoder stops at a header that needs more
//! than it was allowed, and goes on once the budget has set so much aside. Between streams, and behind the last one,
//! there may be zeros, a multiple of four. Bytes behind that are told from a stream that is cut.
//!
//! Format: "The .xz File Format", version 1.2.1.

use crate::input::coding::XZ_MAGIC;
use crate::input::context::{InputContext, Window};
use crate::input::gzip_members::BytesBehind;
use lzma_rust2::{Action, Status, XzStream};
use std::io::{BufRead, Error, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Memory of a decoder beside that in the header: its tables, and the compressed bytes read at once.
const DECODER_BYTES: u64 = 256 << 10;

pub(crate) struct XzStreams<R> {
    reader: R,
    path: PathBuf,
    /// Nothing between two streams.
    decoder: Option<XzStream>,
    context: Arc<InputContext>,
    window: Option<Window>,
    /// Memory limit of the decoder, as the decoder counts it.
    limit_kib: u32,
    position_bytes: u64,
    /// Number of zeros after the last stream so far.
    padding_bytes: u64,
}

impl<R: BufRead> XzStreams<R> {
    pub(crate) fn new(reader: R, path: &Path, context: &Arc<InputContext>) -> Self {
        XzStreams {
            reader,
            path: path.to_owned(),
            decoder: None,
            context: Arc::clone(context),
            window: None,
            limit_kib: 0,
            position_bytes: 0,
            padding_bytes: 0,
        }
    }

    /// Between two streams: passes over zeros, and begins the next stream. False at the end.
    fn advance(&mut self) -> Result<bool> {
        loop {
            let input = self.reader.fill_buf()?;
            let zeros = input.iter().take_while(|&&byte| byte == 0).count();
            let next = input.get(zeros).copied();
            self.reader.consume(zeros);
            self.padding_bytes += zeros as u64;
            let is_whole = self.padding_bytes.is_multiple_of(4);
            match next {
                None if zeros > 0 => continue,
                None if is_whole => return Ok(false),
                Some(byte) if is_whole && byte == XZ_MAGIC[0] => {
                    self.position_bytes += std::mem::take(&mut self.padding_bytes);
                    self.decoder = Some(XzStream::new_mem_limit(false, self.limit_kib));
                    return Ok(true);
                }
                _ => return Err(BytesBehind::error(self.position_bytes)),
            }
        }
    }

    /// Reserves the memory that the next block needs; false if the decoder did not stop for lack of memory.
    fn allow(&mut self) -> Result<bool> {
        let Some(decoder) = &mut self.decoder else { return Ok(false) };
        let needed_kib = decoder.memory_usage().unwrap_or(0);
        if needed_kib <= self.limit_kib {
            return Ok(false);
        }
        let len_bytes = (u64::from(needed_kib) << 10) + DECODER_BYTES;
        self.window = None;
        self.window = Some(self.context.open(&self.path, len_bytes).map_err(Error::other)?);
        self.limit_kib = needed_kib;
        decoder.set_mem_limit(needed_kib);
        Ok(true)
    }
}

impl<R: BufRead> Read for XzStreams<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while !buffer.is_empty() {
            if self.decoder.is_none() && !self.advance()? {
                break;
            }
            let Some(decoder) = &mut self.decoder else { continue };
            let input = self.reader.fill_buf()?;
            let action = if input.is_empty() { Action::Finish } else { Action::Run };
            let consumed_before = decoder.total_in();
            let outcome = decoder.process(input, buffer, action);
            let consumed = decoder.total_in() - consumed_before;
            self.reader.consume(consumed as usize);
            self.position_bytes += consumed;
            match outcome {
                Ok(result) => {
                    if result.status == Status::StreamEnd {
                        self.decoder = None;
                    }
                    if result.bytes_produced > 0 {
                        return Ok(result.bytes_produced);
                    }
                    if action == Action::Finish && self.decoder.is_some() {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) if !self.allow()? => return Err(error),
                Err(_) => {}
            }
        }
        Ok(0)
    }
}
