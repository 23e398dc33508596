//! Edges on their way through temporary files, in locals of the chunk that they belong to.
//!
//! ```text
//!   without weights    source | target << 32                              8 bytes
//!   with weights       source | target << 32, weight, place in the input  24 bytes
//! ```
//!
//! A chunk's edges are in files of 64 MiB, *segments*, which are removed one by one as they are used up.

use super::read::Reading;
use outcore_image::Result;
use outcore_io::buffer::{raw_bytes, raw_bytes_mut};
use outcore_io::{Array, Error, Output, Runtime};
use std::io::{Read, Write};
use std::path::PathBuf;

const SEGMENT_BYTES: u64 = 64 << 20;
/// What is read of a segment at a time.
pub(super) const READ_BYTES: usize = 192 << 10;

/// A file of edges.
pub(super) struct Segment {
    path: PathBuf,
    pub words: u64,
    /// Weights are real numbers.
    pub real: bool,
}

impl Segment {
    /// Calls `visit` with all words, in runs of whole edges, and removes the file.
    pub(super) fn consume(&self, runtime: &Runtime, visit: impl FnMut(&[u64]) -> Result<()>) -> Result<()> {
        self.read(runtime, visit)?;
        Ok(runtime.backend().remove(&self.path)?)
    }

    /// Calls `visit` with all words, in runs of whole edges.
    pub(super) fn read(&self, runtime: &Runtime, mut visit: impl FnMut(&[u64]) -> Result<()>) -> Result<()> {
        let mut buffer: Array<u64> = Array::zeroed(runtime.budget(), "reading edges", READ_BYTES / 8)?;
        let mut input = runtime.backend().input(&self.path)?;
        let mut left = self.words;
        while left > 0 {
            runtime.cancel().check()?;
            let take = left.min(buffer.len() as u64) as usize;
            let read = input.read_exact(raw_bytes_mut(&mut buffer[..take]));
            read.map_err(|error| Error::file(&self.path, "read", error))?;
            visit(&buffer[..take])?;
            left -= take as u64;
        }
        Ok(())
    }
}

/// Writes one worker's edges.
pub(super) struct EdgeFile<'a> {
    reading: &'a Reading<'a>,
    worker: usize,
    buffer: Array<u64>,
    used: usize,
    real: bool,
    segment: Option<OpenSegment>,
    closed: Vec<Segment>,
    count: u64,
    pub written_bytes: u64,
}

struct OpenSegment {
    output: Output,
    path: PathBuf,
    words: u64,
}

impl<'a> EdgeFile<'a> {
    pub(super) fn new(reading: &'a Reading<'a>, worker: usize, buffer_bytes: usize) -> Result<Self> {
        // A multiple of three words: edges with weights are not torn.
        let words = buffer_bytes / 24 * 3;
        Ok(EdgeFile {
            reading,
            worker,
            buffer: Array::zeroed(reading.runtime.budget(), "writing edges", words)?,
            used: 0,
            real: false,
            segment: None,
            closed: Vec::new(),
            count: 0,
            written_bytes: 0,
        })
    }

    /// Says of what kind the weights of the following edges are.
    pub(super) fn set_real(&mut self, real: bool) -> Result<()> {
        if self.real != real {
            self.close()?;
            self.real = real;
        }
        Ok(())
    }

    /// Appends the words of edges.
    #[inline]
    pub(super) fn write_all(&mut self, words: impl Iterator<Item = u64>) -> Result<()> {
        for word in words {
            self.buffer[self.used] = word;
            self.used += 1;
            if self.used == self.buffer.len() {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let backend = self.reading.runtime.backend();
        let segment = match &mut self.segment {
            Some(segment) => segment,
            none => {
                let path = self.reading.workspace.temporary(&format!("edges-{}-{}", self.worker, self.count));
                self.count += 1;
                none.insert(OpenSegment { output: backend.create(&path)?, path, words: 0 })
            }
        };
        let bytes = raw_bytes(&self.buffer[..self.used]);
        let written = segment.output.write_all(bytes);
        written.map_err(|error| Error::file_at(&segment.path, "write", 8 * segment.words, error))?;
        segment.words += self.used as u64;
        self.written_bytes += bytes.len() as u64;
        self.used = 0;
        if 8 * segment.words >= SEGMENT_BYTES {
            self.close_segment();
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        if self.used > 0 {
            self.flush()?;
        }
        self.close_segment();
        Ok(())
    }

    fn close_segment(&mut self) {
        if let Some(OpenSegment { path, words, .. }) = self.segment.take() {
            self.closed.push(Segment { path, words, real: self.real });
        }
    }

    /// Ends the chunk: returns its segments.
    pub(super) fn finish_chunk(&mut self) -> Result<Vec<Segment>> {
        self.close()?;
        Ok(std::mem::take(&mut self.closed))
    }
}
