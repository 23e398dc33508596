//! gzip streams, member by member, so that bytes behind the last one are told from a member that is cut.
//!
//! Format: RFC 1952, "GZIP file format specification version 4.3".

use flate2::bufread::GzDecoder;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Bytes after the end of compressed data that are not compressed data.
#[derive(Debug)]
pub(crate) struct BytesBehind {
    pub(crate) start_bytes: u64,
}

impl BytesBehind {
    pub(crate) fn error(start_bytes: u64) -> Error {
        Error::new(ErrorKind::InvalidData, BytesBehind { start_bytes })
    }
}

impl std::fmt::Display for BytesBehind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "bytes that are no compressed data from byte {} on", self.start_bytes)
    }
}

impl std::error::Error for BytesBehind {}

/// The plain bytes of a gzip stream of any number of members.
pub(crate) struct GzipMembers<R> {
    /// Nothing at the end.
    member: Option<GzDecoder<BufReader<R>>>,
    /// Number of bytes taken from below the buffer.
    position_bytes: Arc<AtomicU64>,
    /// Start of the member, if another one ended there.
    start_bytes: Option<u64>,
}

impl<R: Read> GzipMembers<R> {
    /// The members of a stream, of which `position_bytes` says how much was read.
    pub(crate) fn new(reader: BufReader<R>, position_bytes: Arc<AtomicU64>) -> Self {
        GzipMembers { member: Some(GzDecoder::new(reader)), position_bytes, start_bytes: None }
    }

    /// Goes on to the next member, if there is one.
    fn advance(&mut self) -> Result<()> {
        let Some(member) = self.member.take() else { return Ok(()) };
        let mut reader = member.into_inner();
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let is_member = MAGIC.starts_with(&buffer[..buffer.len().min(MAGIC.len())]);
        let start_bytes = self.position_bytes.load(Ordering::Relaxed) - reader.buffer().len() as u64;
        if !is_member {
            return Err(BytesBehind::error(start_bytes));
        }
        self.start_bytes = Some(start_bytes);
        self.member = Some(GzDecoder::new(reader));
        Ok(())
    }
}

impl<R: Read> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while let Some(member) = self.member.as_mut().filter(|_| !buffer.is_empty()) {
            match (member.read(buffer), self.start_bytes) {
                (Ok(0), _) => self.advance()?,
                (Err(error), Some(start_bytes))
                    if error.kind() == ErrorKind::InvalidInput && member.header().is_none() =>
                {
                    return Err(BytesBehind::error(start_bytes));
                }
                (outcome, _) => return outcome,
            }
        }
        Ok(0)
    }
}
