//! Spill files: temporary files that vanish when they are dropped, and buffered writing and reading of them in order.
//!
//! Numbers in them are in LEB128 where they are mostly small, and in native byte order otherwise: only the process that
//! wrote a spill file reads it.

use crate::backend::Backend;
use crate::budget::Budget;
use crate::buffer::Buffer;
use crate::directory::DataFile;
use crate::error::{Error, Result};
use crate::lanes::{Lanes, LanesOptions};
use crate::runtime::Runtime;
use crate::writer::Writer;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const WRITING: &str = "writing a temporary file";

/// A temporary file that any worker may write and read. It has no name; clones share it, and it vanishes with the last
/// one.
#[derive(Clone)]
pub struct Spill {
    scratch: Arc<DataFile>,
    len_bytes: Arc<AtomicU64>,
}

impl Spill {
    /// An empty file.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn create(backend: &Arc<dyn Backend>, path: &Path) -> Result<Self> {
        Ok(Spill { scratch: Arc::new(backend.scratch(path)?), len_bytes: Arc::default() })
    }

    /// The file, for other kinds of readers.
    pub fn file(&self) -> &Arc<DataFile> {
        &self.scratch
    }

    /// The file's size so far: data that is written in order counts when its writer ends.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes.load(Ordering::Relaxed)
    }

    /// Writes bytes into an allocated range, synchronously.
    ///
    /// # Errors
    /// Errors of the operating system: a full disk, most likely.
    pub fn write(&self, bytes: &[u8], offset_bytes: u64) -> Result<()> {
        let written = self.scratch.write_at(bytes, offset_bytes);
        written.map_err(|error| Error::file_at(self.scratch.path(), "write", offset_bytes, error))
    }

    /// Allocates a range behind all data that was written or allocated before; returns its offset.
    pub fn take(&self, len_bytes: u64) -> u64 {
        self.len_bytes.fetch_add(len_bytes, Ordering::Relaxed)
    }

    /// Reads bytes that were written before.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn read(&self, bytes: &mut [u8], offset_bytes: u64) -> Result<()> {
        let read = self.scratch.read_at(bytes, offset_bytes);
        read.map_err(|error| Error::file_at(self.scratch.path(), "read", offset_bytes, error))
    }

    pub(crate) fn lanes(&self, runtime: &Runtime, purpose: &str, options: &LanesOptions) -> Result<Lanes> {
        Lanes::new(runtime, purpose, Arc::clone(&self.scratch), options)
    }
}

/// Writes a part of a spill file in order.
pub struct SpillWriter {
    spill: Spill,
    writer: Writer,
}

impl SpillWriter {
    /// A writer that begins at an offset, with a buffer of about `buffer_bytes`, at least a page.
    ///
    /// # Errors
    /// Too little memory under the budget, or errors of the operating system.
    pub fn new(runtime: &Runtime, spill: &Spill, offset_bytes: u64, buffer_bytes: usize) -> Result<Self> {
        let writer = Writer::temporary_at(runtime, WRITING, Arc::clone(&spill.scratch), offset_bytes, buffer_bytes)?;
        Ok(SpillWriter { spill: spill.clone(), writer })
    }

    /// Offset in the file of the next byte.
    pub fn position_bytes(&self) -> u64 {
        self.writer.position_bytes()
    }

    /// Appends a number that is mostly small.
    ///
    /// # Errors
    /// A full disk.
    #[inline]
    pub fn number(&mut self, value: u64) -> Result<()> {
        self.writer.put_number(value)
    }

    /// Appends a word of eight bytes.
    ///
    /// # Errors
    /// A full disk.
    #[inline]
    pub fn word(&mut self, value: u64) -> Result<()> {
        self.writer.put_array(&value.to_ne_bytes())
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// A full disk.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.put(bytes)
    }

    /// Writes the remaining bytes; returns the end offset.
    ///
    /// # Errors
    /// A full disk.
    pub fn finish(self) -> Result<u64> {
        let end_bytes = self.writer.close()?;
        self.spill.len_bytes.fetch_max(end_bytes, Ordering::Relaxed);
        Ok(end_bytes)
    }
}

/// Writes words to several parts of a spill file, to each in order; or to its end, as several writers at once may.
pub struct SpillWriters {
    spill: Spill,
    lanes: Lanes,
    /// Offset in the file of the next block of each part; empty for a writer that appends blocks to the file.
    offsets_bytes: Vec<u64>,
}

impl SpillWriters {
    /// Writers of parts that begin at these offsets, in allocated ranges, with a buffer of `buffer_bytes` each, at
    /// least 64.
    ///
    /// # Errors
    /// Too little memory under the budget, or errors of the operating system.
    pub fn new(runtime: &Runtime, spill: &Spill, offsets_bytes: Vec<u64>, buffer_bytes: usize) -> Result<Self> {
        let (lanes, block_bytes) = (offsets_bytes.len().max(1), buffer_bytes.max(64));
        let options = LanesOptions { lanes, spare_blocks: 0, block_bytes, tail_bytes: 0 };
        Ok(SpillWriters { spill: spill.clone(), lanes: spill.lanes(runtime, WRITING, &options)?, offsets_bytes })
    }

    /// A writer of one part, 0, whose blocks are appended to the file, beside those of other writers.
    ///
    /// # Errors
    /// As for [`new`](SpillWriters::new).
    pub fn appending(runtime: &Runtime, spill: &Spill, buffer_bytes: usize) -> Result<Self> {
        SpillWriters::new(runtime, spill, Vec::new(), buffer_bytes)
    }

    /// Appends a word to a part.
    ///
    /// # Errors
    /// A full disk.
    #[inline]
    pub fn word(&mut self, part: usize, value: u64) -> Result<()> {
        while !self.lanes.put(part, &value.to_ne_bytes()) {
            self.flush(part)?;
        }
        Ok(())
    }

    #[cold]
    fn flush(&mut self, part: usize) -> Result<()> {
        let used_bytes = self.lanes.used_bytes(part) as u64;
        let start_bytes = match self.offsets_bytes.get_mut(part) {
            Some(offset_bytes) => std::mem::replace(offset_bytes, *offset_bytes + used_bytes),
            None => self.spill.take(used_bytes),
        };
        self.lanes.write(part, start_bytes, &[])
    }

    /// Writes the remaining words.
    ///
    /// # Errors
    /// A full disk.
    pub fn finish(mut self) -> Result<()> {
        (0..self.offsets_bytes.len().max(1)).try_for_each(|part| self.flush(part))?;
        self.lanes.finish()
    }
}

/// Reads a part of a spill file in order.
pub struct SpillReader<'a> {
    spill: &'a Spill,
    buffer: Buffer<u8>,
    next: usize,
    filled: usize,
    /// Offset in the file of the bytes after the buffer, and the end.
    offset_bytes: u64,
    end_bytes: u64,
}

impl<'a> SpillReader<'a> {
    /// A reader of a whole file, with a buffer of `buffer_bytes`, at least 64.
    ///
    /// # Errors
    /// Too little memory under the budget.
    pub fn new(spill: &'a Spill, budget: &Arc<Budget>, buffer_bytes: usize) -> Result<Self> {
        let buffer = Buffer::zeroed(budget, "reading a temporary file", buffer_bytes.max(64))?;
        let end_bytes = spill.len_bytes();
        Ok(SpillReader { spill, buffer, next: 0, filled: 0, offset_bytes: 0, end_bytes })
    }

    /// Continues at `start_bytes` and stops at `end_bytes`.
    pub fn seek(&mut self, start_bytes: u64, end_bytes: u64) {
        self.next = 0;
        self.filled = 0;
        self.offset_bytes = start_bytes;
        self.end_bytes = end_bytes;
    }

    /// Whether all bytes were read.
    pub fn is_at_end(&self) -> bool {
        self.next == self.filled && self.offset_bytes >= self.end_bytes
    }

    /// The next number that was written by `number`.
    ///
    /// # Errors
    /// Errors of the operating system, or the end of the file.
    #[inline]
    pub fn number(&mut self) -> Result<u64> {
        if self.filled - self.next < 10 {
            self.fill()?;
        }
        let (mut value, mut shift) = (0, 0);
        for (i, &byte) in self.buffer[self.next..self.filled].iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                self.next += i + 1;
                return Ok(value);
            }
        }
        Err(self.early())
    }

    /// The next word that was written by `word`.
    ///
    /// # Errors
    /// Errors of the operating system, or the end of the file.
    #[inline]
    pub fn word(&mut self) -> Result<u64> {
        if self.filled - self.next < 8 {
            self.fill()?;
        }
        match self.buffer[self.next..self.filled].first_chunk::<8>() {
            Some(bytes) => {
                self.next += 8;
                Ok(u64::from_ne_bytes(*bytes))
            }
            None => Err(self.early()),
        }
    }

    /// Appends the next `len_bytes` bytes to `out`.
    ///
    /// # Errors
    /// Errors of the operating system, or the end of the file.
    pub fn bytes(&mut self, mut len_bytes: usize, out: &mut Vec<u8>) -> Result<()> {
        while len_bytes > 0 {
            if self.next == self.filled {
                self.fill()?;
            }
            let take = len_bytes.min(self.filled - self.next);
            if take == 0 {
                return Err(self.early());
            }
            out.extend_from_slice(&self.buffer[self.next..self.next + take]);
            self.next += take;
            len_bytes -= take;
        }
        Ok(())
    }

    /// Moves the unread bytes to the front of the buffer and fills the rest.
    #[cold]
    fn fill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.next..self.filled, 0);
        self.filled -= self.next;
        self.next = 0;
        let room = (self.buffer.len() - self.filled) as u64;
        let take = room.min(self.end_bytes.saturating_sub(self.offset_bytes)) as usize;
        if take > 0 {
            self.spill.read(&mut self.buffer[self.filled..self.filled + take], self.offset_bytes)?;
            self.filled += take;
            self.offset_bytes += take as u64;
        }
        Ok(())
    }

    fn early(&self) -> Error {
        let error = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the temporary file ends too early");
        Error::file_at(self.spill.scratch.path(), "read", self.offset_bytes, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::RuntimeOptions;

    #[test]
    fn what_was_written_comes_back_and_the_file_vanishes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("spill");
        let victim = directory.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
        let numbers: Vec<u64> = (0..2000).map(|i| (1u64 << (i % 64)).wrapping_mul(i)).collect();
        let spill = Spill::create(runtime.backend(), &path).unwrap();
        let mut writer = SpillWriter::new(&runtime, &spill, 0, 1).unwrap();
        for &value in &numbers {
            writer.number(value).unwrap();
            writer.word(!value).unwrap();
            writer.bytes(&vec![7; value as usize % 200]).unwrap();
        }
        let end = writer.position_bytes();
        assert_eq!(writer.finish().unwrap(), end);
        assert_eq!(spill.len_bytes(), end);
        let mut reader = SpillReader::new(&spill, runtime.budget(), 1).unwrap();
        for &value in &numbers {
            assert_eq!(reader.number().unwrap(), value);
            assert_eq!(reader.word().unwrap(), !value);
            let mut bytes = Vec::new();
            reader.bytes(value as usize % 200, &mut bytes).unwrap();
            assert_eq!(bytes, vec![7; value as usize % 200]);
        }
        assert!(reader.is_at_end());
        assert!(reader.number().is_err() && reader.word().is_err() && reader.bytes(1, &mut Vec::new()).is_err());
        drop(reader);
        // It can neither be opened by a name, nor redirected by a link.
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        drop(spill);
    }
}
