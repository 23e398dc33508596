//! The writer: sequential output to a file, asynchronous with its producer.
//!
//! Bytes are gathered in one block of a lane (`lanes.rs`); a full block becomes a request, and the other one is filled
//! while it is written. Temporary files are written block by block, synchronously.

use crate::backend::{Backend, Location, Open};
use crate::buffer::PAGE_BYTES;
use crate::directory::DataFile;
use crate::error::{Error, Result};
use crate::lanes::{Lanes, LanesOptions};
use crate::runtime::Runtime;
use std::path::Path;
use std::sync::Arc;

/// Blocks of a writer: one is filled while the other is under way. That of a temporary file has one.
const BLOCKS: usize = 2;

/// Writes a file from its start to its end.
pub struct Writer {
    lanes: Lanes,
    /// Offset in the file of the block that is being filled.
    offset_bytes: u64,
}

impl Writer {
    /// Creates a new file, with a buffer of about `buffer_bytes`, at least two pages.
    ///
    /// # Errors
    /// Errors of the operating system, `AlreadyExists` if anything has the name; too little memory under the budget.
    pub fn create(runtime: &Runtime, purpose: &str, path: &Path, buffer_bytes: usize) -> Result<Self> {
        Writer::create_with(runtime, purpose, path, buffer_bytes, BLOCKS)
    }

    /// Creates a temporary file, whose blocks are written synchronously.
    ///
    /// # Errors
    /// As for [`create`](Writer::create).
    pub fn create_temporary(runtime: &Runtime, purpose: &str, path: &Path, buffer_bytes: usize) -> Result<Self> {
        Writer::create_with(runtime, purpose, path, buffer_bytes, 1)
    }

    fn create_with(runtime: &Runtime, purpose: &str, path: &Path, buffer_bytes: usize, blocks: usize) -> Result<Self> {
        let backend: &Arc<dyn Backend> = runtime.backend();
        let file = Arc::new(DataFile::open_as(backend, Location::at(path), Open::Create)?);
        Writer::with_blocks(runtime, purpose, file, buffer_bytes, blocks).inspect_err(|_| {
            // After an error the caller does not know of the file.
            let _ = backend.remove(path);
        })
    }

    /// Writes a temporary file that is open, from an offset on.
    pub(crate) fn temporary_at(
        runtime: &Runtime,
        purpose: &str,
        file: Arc<DataFile>,
        offset_bytes: u64,
        buffer_bytes: usize,
    ) -> Result<Self> {
        Ok(Writer { offset_bytes, ..Writer::with_blocks(runtime, purpose, file, buffer_bytes, 1)? })
    }

    fn with_blocks(
        runtime: &Runtime,
        purpose: &str,
        file: Arc<DataFile>,
        buffer_bytes: usize,
        blocks: usize,
    ) -> Result<Self> {
        let block_bytes = (buffer_bytes / blocks / PAGE_BYTES).max(1) * PAGE_BYTES;
        let options = LanesOptions { lanes: 1, spare_blocks: blocks - 1, block_bytes, tail_bytes: 0 };
        Ok(Writer { lanes: Lanes::new(runtime, purpose, file, &options)?, offset_bytes: 0 })
    }

    /// Offset in the file of the next byte.
    pub fn position_bytes(&self) -> u64 {
        self.offset_bytes + self.lanes.used_bytes(0) as u64
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// A write that failed, this one or an earlier one: a full disk, most likely.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let mut put = self.lanes.put_some(0, bytes);
        while put < bytes.len() {
            self.flush()?;
            put += self.lanes.put_some(0, &bytes[put..]);
        }
        Ok(())
    }

    /// Appends a few bytes whose number is known to the compiler.
    ///
    /// # Errors
    /// As for [`put`](Writer::put).
    #[inline(always)]
    pub fn put_array<const N: usize>(&mut self, bytes: &[u8; N]) -> Result<()> {
        if self.lanes.put(0, bytes) { Ok(()) } else { self.put(bytes) }
    }

    /// Appends a number that is mostly small, in LEB128.
    #[inline]
    pub(crate) fn put_number(&mut self, mut value: u64) -> Result<()> {
        let (mut bytes, mut len) = ([0; 10], 0);
        while value >= 0x80 {
            bytes[len] = value as u8 | 0x80;
            len += 1;
            value >>= 7;
        }
        bytes[len] = value as u8;
        if self.lanes.put_first(0, &bytes, len + 1) { Ok(()) } else { self.put(&bytes[..=len]) }
    }

    #[cold]
    fn flush(&mut self) -> Result<()> {
        let offset_bytes = self.offset_bytes;
        self.offset_bytes += self.lanes.used_bytes(0) as u64;
        self.lanes.write(0, offset_bytes, &[])
    }

    /// Writes the remaining bytes, and waits until they are in the file; they are not durable. Returns the end offset.
    ///
    /// # Errors
    /// A write that failed, this one or an earlier one.
    pub fn close(mut self) -> Result<u64> {
        self.end()
    }

    fn end(&mut self) -> Result<u64> {
        self.flush()?;
        self.lanes.finish()?;
        Ok(self.offset_bytes)
    }

    /// Writes the remaining bytes, and waits until the file would outlast a power failure.
    ///
    /// # Errors
    /// A write that failed, this one or an earlier one, or errors of the operating system.
    pub fn finish(mut self) -> Result<()> {
        self.end()?;
        let file = self.lanes.file();
        file.sync().map_err(|error| Error::file(file.path(), "sync", error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Faults, Posix, Sim};
    use crate::runtime::RuntimeOptions;

    fn runtime(backend: Arc<dyn Backend>) -> Runtime {
        let memory_bytes = Some(1 << 30);
        Runtime::new(RuntimeOptions { memory_bytes, backend: Some(backend), ..Default::default() }).unwrap()
    }

    fn backends() -> Vec<Arc<dyn Backend>> {
        let mut backends: Vec<Arc<dyn Backend>> = vec![Arc::new(Posix), Arc::new(Sim::new(Faults::default()))];
        if !cfg!(miri) && crate::backend::Uring::works() {
            backends.push(Arc::new(crate::backend::Uring));
        }
        backends
    }

    fn bytes(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 31 % 251) as u8).collect()
    }

    /// Writes bytes in pieces of many sizes.
    fn write(runtime: &Runtime, path: &Path, buffer_bytes: usize, bytes: &[u8]) -> Result<()> {
        let mut writer = Writer::create(runtime, "a test", path, buffer_bytes)?;
        let (mut at, mut step) = (0, 0);
        while at < bytes.len() {
            step = (step * 7 + 1) % 20_011;
            let end = bytes.len().min(at + step);
            writer.put(&bytes[at..end])?;
            at = end;
            assert_eq!(writer.position_bytes(), at as u64);
        }
        writer.finish()
    }

    #[test]
    fn every_back_end_writes_what_it_was_given() {
        let directory = tempfile::tempdir().unwrap();
        for backend in backends() {
            let runtime = runtime(backend);
            let available_bytes = runtime.budget().available_bytes();
            // Miri takes a second for a few thousand bytes.
            let (lens, rings) = match cfg!(miri) {
                true => (&[0, 1, 13_000][..], &[8192][..]),
                false => (&[0, 1, 4096, 8191, 8192, 8193, 100_001][..], &[0, 8192, 40_000][..]),
            };
            for &len in lens {
                for &buffer_bytes in rings {
                    let path = directory.path().join("file");
                    write(&runtime, &path, buffer_bytes, &bytes(len)).unwrap();
                    assert!(std::fs::read(&path).unwrap() == bytes(len), "{} {len}", runtime.backend().name());
                    std::fs::remove_file(&path).unwrap();
                }
            }
            assert_eq!(runtime.budget().available_bytes(), available_bytes);
        }
    }

    #[test]
    fn every_failure_is_reported_and_no_later_write_is_done() {
        let directory = tempfile::tempdir().unwrap();
        for k in 0.. {
            let sim = Arc::new(Sim::new(Faults { seed: k, fail_at: Some(k), ..Faults::default() }));
            let path = directory.path().join(k.to_string());
            match write(&runtime(sim.clone()), &path, 8192, &bytes(50_000)) {
                Ok(()) => {
                    assert_eq!((sim.operations(), k), (15, 15), "create, thirteen parts, sync");
                    break;
                }
                Err(Error::File { path: found, .. }) => assert_eq!(found, path),
                Err(other) => panic!("{other}"),
            }
        }
        let full = Arc::new(Sim::new(Faults { full_after_bytes: Some(20_000), ..Faults::default() }));
        let runtime = runtime(full);
        let mut writer = Writer::create(&runtime, "a test", &directory.path().join("full"), 8192).unwrap();
        assert!((0..10).any(|_| writer.put(&bytes(4096)).is_err()));
        assert!(writer.put(&bytes(4096)).unwrap_err().to_string().contains("earlier write failed"));
        assert!(writer.finish().is_err());
    }
}
