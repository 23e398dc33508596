//! Spill files: temporary files that vanish when they are dropped, and buffered writing and reading of them in order.
//!
//! Numbers in them are in LEB128 where they are mostly small, and in the machine's own order otherwise: nobody but the
//! process that wrote a spill file reads it.

use crate::backend::Backend;
use crate::budget::Budget;
use crate::buffer::Array;
use crate::directory::DataFile;
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A temporary file that any worker may append to and read; it has no name, and vanishes when it is dropped.
pub struct Spill {
    path: PathBuf,
    scratch: DataFile,
    len_bytes: AtomicU64,
}

impl Spill {
    /// An empty file.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn create(backend: &Arc<dyn Backend>, path: &Path) -> Result<Self> {
        let scratch = backend.scratch(path)?;
        Ok(Spill { path: path.to_owned(), scratch, len_bytes: AtomicU64::new(0) })
    }

    /// The file's size so far.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes.load(Ordering::Relaxed)
    }

    /// Writes bytes into a place that the caller owns.
    ///
    /// # Errors
    /// What the operating system refuses: a full disk, most likely.
    pub fn write(&self, bytes: &[u8], offset_bytes: u64) -> Result<()> {
        let written = self.scratch.write_at(bytes, offset_bytes);
        written.map_err(|error| Error::file_at(&self.path, "write", offset_bytes, error))?;
        self.len_bytes.fetch_max(offset_bytes + bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Writes bytes behind everything that was written or taken before; returns where they begin.
    ///
    /// # Errors
    /// What the operating system refuses: a full disk, most likely.
    pub fn append(&self, bytes: &[u8]) -> Result<u64> {
        let offset = self.take(bytes.len() as u64);
        self.write(bytes, offset)?;
        Ok(offset)
    }

    /// Takes a place for so many bytes behind everything that was written or taken before; returns where it begins.
    pub fn take(&self, len_bytes: u64) -> u64 {
        self.len_bytes.fetch_add(len_bytes, Ordering::Relaxed)
    }

    /// Reads bytes that were written before.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn read(&self, bytes: &mut [u8], offset_bytes: u64) -> Result<()> {
        let read = self.scratch.read_at(bytes, offset_bytes);
        read.map_err(|error| Error::file_at(&self.path, "read", offset_bytes, error))
    }
}

/// Writes a part of a spill file in order.
pub struct SpillWriter<'a> {
    spill: &'a Spill,
    buffer: Array<u8>,
    used: usize,
    /// Where in the file the buffer goes.
    offset_bytes: u64,
}

impl<'a> SpillWriter<'a> {
    /// A writer that begins at an offset, with a buffer of so many bytes, at least 64.
    ///
    /// # Errors
    /// No memory under the budget.
    pub fn new(spill: &'a Spill, budget: &Arc<Budget>, offset_bytes: u64, buffer_bytes: usize) -> Result<Self> {
        let buffer = Array::zeroed(budget, "writing a temporary file", buffer_bytes.max(64))?;
        Ok(SpillWriter { spill, buffer, used: 0, offset_bytes })
    }

    /// Where in the file the next byte will be.
    pub fn position_bytes(&self) -> u64 {
        self.offset_bytes + self.used as u64
    }

    /// Appends a number that is mostly small.
    ///
    /// # Errors
    /// A full disk.
    #[inline]
    pub fn number(&mut self, mut value: u64) -> Result<()> {
        self.room(10)?;
        while value >= 0x80 {
            self.buffer[self.used] = value as u8 | 0x80;
            self.used += 1;
            value >>= 7;
        }
        self.buffer[self.used] = value as u8;
        self.used += 1;
        Ok(())
    }

    /// Appends a word of eight bytes.
    ///
    /// # Errors
    /// A full disk.
    #[inline]
    pub fn word(&mut self, value: u64) -> Result<()> {
        self.room(8)?;
        self.buffer[self.used..self.used + 8].copy_from_slice(&value.to_ne_bytes());
        self.used += 8;
        Ok(())
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// A full disk.
    pub fn bytes(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            self.room(1)?;
            let take = bytes.len().min(self.buffer.len() - self.used);
            self.buffer[self.used..self.used + take].copy_from_slice(&bytes[..take]);
            self.used += take;
            bytes = &bytes[take..];
        }
        Ok(())
    }

    #[inline]
    fn room(&mut self, len_bytes: usize) -> Result<()> {
        if self.used + len_bytes > self.buffer.len() { self.flush() } else { Ok(()) }
    }

    #[cold]
    fn flush(&mut self) -> Result<()> {
        self.spill.write(&self.buffer[..self.used], self.offset_bytes)?;
        self.offset_bytes += self.used as u64;
        self.used = 0;
        Ok(())
    }

    /// Writes what is left; returns where it ends.
    ///
    /// # Errors
    /// A full disk.
    pub fn finish(mut self) -> Result<u64> {
        self.flush()?;
        Ok(self.offset_bytes)
    }
}

/// Reads a part of a spill file in order.
pub struct SpillReader<'a> {
    spill: &'a Spill,
    buffer: Array<u8>,
    next: usize,
    filled: usize,
    /// Where in the file the bytes after the buffer begin, and where to stop.
    offset_bytes: u64,
    end_bytes: u64,
}

impl<'a> SpillReader<'a> {
    /// A reader of all that is in a file, with a buffer of so many bytes, at least 64.
    ///
    /// # Errors
    /// No memory under the budget.
    pub fn new(spill: &'a Spill, budget: &Arc<Budget>, buffer_bytes: usize) -> Result<Self> {
        let buffer = Array::zeroed(budget, "reading a temporary file", buffer_bytes.max(64))?;
        let end_bytes = spill.len_bytes();
        Ok(SpillReader { spill, buffer, next: 0, filled: 0, offset_bytes: 0, end_bytes })
    }

    /// Goes on reading at `start_bytes` and stops at `end_bytes`.
    pub fn seek(&mut self, start_bytes: u64, end_bytes: u64) {
        self.next = 0;
        self.filled = 0;
        self.offset_bytes = start_bytes;
        self.end_bytes = end_bytes;
    }

    /// Whether everything was read.
    pub fn is_at_end(&self) -> bool {
        self.next == self.filled && self.offset_bytes >= self.end_bytes
    }

    /// The next number that was written by `number`.
    ///
    /// # Errors
    /// What the operating system refuses, or the end of the file.
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
    /// What the operating system refuses, or the end of the file.
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
    /// What the operating system refuses, or the end of the file.
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

    /// Moves what is left to the front of the buffer and fills the rest.
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
        Error::file_at(&self.spill.path, "read", self.offset_bytes, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Posix;

    #[test]
    fn what_was_written_comes_back_and_the_file_vanishes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("spill");
        let victim = directory.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        let backend: Arc<dyn Backend> = Arc::new(Posix);
        let budget = Arc::new(Budget::new(1 << 30, 0).unwrap());
        let numbers: Vec<u64> = (0..500).map(|i| (1u64 << (i % 64)).wrapping_mul(i)).collect();
        let spill = Spill::create(&backend, &path).unwrap();
        let mut writer = SpillWriter::new(&spill, &budget, 0, 1).unwrap();
        for &value in &numbers {
            writer.number(value).unwrap();
            writer.word(!value).unwrap();
            writer.bytes(&vec![7; value as usize % 200]).unwrap();
        }
        let end = writer.position_bytes();
        assert_eq!(writer.finish().unwrap(), end);
        assert_eq!(spill.len_bytes(), end);
        let mut reader = SpillReader::new(&spill, &budget, 1).unwrap();
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
        // Nobody can open it by a name, nor lead it elsewhere by a link.
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        drop(spill);
    }
}
