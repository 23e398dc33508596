//! An open file whose reads are counted.

use outcore_io::{Input as InputFile, ReaderStats};
use std::io::{Read, Result, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Reads of all workers: their number, their bytes, and the time that they took.
#[derive(Debug, Default)]
pub struct Reads {
    requests: AtomicU64,
    bytes: AtomicU64,
    wait_ns: AtomicU64,
}

impl Reads {
    fn count(&self, bytes: usize, since: Instant) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.wait_ns.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    /// Their number, their bytes, and the time that they took, summed over the workers.
    pub fn stats(&self) -> ReaderStats {
        let [requests, read_bytes, wait_ns] =
            [&self.requests, &self.bytes, &self.wait_ns].map(|count| count.load(Ordering::Relaxed));
        ReaderStats { wait_ns, requests, read_bytes }
    }
}

/// A file that is being read, and where that is counted. A clone reads the same file, from a place of its own.
#[derive(Clone)]
pub struct CountedFile {
    file: InputFile,
    reads: Arc<Reads>,
}

impl CountedFile {
    /// A file whose reads are added to `reads`.
    pub fn new(file: InputFile, reads: &Arc<Reads>) -> Self {
        CountedFile { file, reads: Arc::clone(reads) }
    }

    /// The file's size when it was opened.
    pub fn len_bytes(&self) -> u64 {
        self.file.len_bytes()
    }

    /// Fills `bytes` from an offset, wherever the reading stands.
    pub fn read_at(&self, bytes: &mut [u8], offset_bytes: u64) -> Result<()> {
        let start = Instant::now();
        self.file.read_at(bytes, offset_bytes)?;
        self.reads.count(bytes.len(), start);
        Ok(())
    }
}

impl Read for CountedFile {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let start = Instant::now();
        let read = self.file.read(bytes)?;
        self.reads.count(read, start);
        Ok(read)
    }
}

impl Seek for CountedFile {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.file.seek(to)
    }
}
