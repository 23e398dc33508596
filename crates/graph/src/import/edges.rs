//! Edges on their way through temporary files, in locals of the chunk that they belong to.
//!
//! ```text
//!   without weights    source | target << 32                                                  8 bytes
//!   with weights       source | target << 32, weight                                         16 bytes
//!   in order           source | target << 32, weight, place in the input                     24 bytes
//!   complex ones       source | target << 32, real part, place in the input, imaginary part  32 bytes
//! ```
//!
//! Edges are in order if duplicates are treated by their order in the input, and if there are attributes, with 0 as the
//! weight where edges have none. Sums are added in the order of the weights.
//!
//! A chunk's edges are in files of 64 MiB, *segments*, whose space is freed while they are used up.

use super::job::Job;
use super::options::Duplicates;
use outcore_image::Result;
use outcore_ingest::{BatchWeights, Facts};
use outcore_io::backend::{Location, Memory, Open};
use outcore_io::buffer::raw_bytes_mut;
use outcore_io::{Buffer, DataFile, Error, Writer, bytes_text};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

pub(super) const SEGMENT_BYTES: u64 = 64 << 20;
/// Bytes of a segment that are read at a time: whole edges of one to four words.
pub(super) const READ_BYTES: usize = 192 << 10;
const _: () = assert!((READ_BYTES / 8).is_multiple_of(12));
/// Space is freed in about so many parts of all edges, which are not larger than this: some file systems take some
/// milliseconds for a part.
const FREED_PARTS: u64 = 16;
const MOST_FREED_BYTES: u64 = 16 << 20;

/// Size of the parts of edges of so many bytes whose space is freed.
pub(super) fn freed_bytes(edges_bytes: u64) -> u64 {
    (edges_bytes / FREED_PARTS).clamp(READ_BYTES as u64, MOST_FREED_BYTES)
}

pub(super) fn edge_words(facts: &Facts, duplicates: Duplicates) -> usize {
    let has_place = match duplicates {
        Duplicates::First | Duplicates::Last | Duplicates::Keep => true,
        Duplicates::Sum | Duplicates::Min | Duplicates::Max | Duplicates::Error => facts.is_complex,
    };
    match facts.weights {
        _ if !facts.attributes.is_empty() => 3,
        None => 1,
        Some(_) => 2 + usize::from(has_place) + usize::from(facts.is_complex),
    }
}

/// Refuses weights that are not finite numbers: a parser of the user's own may find such. `path` is the input.
pub(super) fn check_finite(weights: &BatchWeights, path: &Path) -> Result<()> {
    let found = match weights {
        BatchWeights::None | BatchWeights::Integer(_) => None,
        BatchWeights::Real(weights) => weights.iter().find(|weight| !weight.is_finite()),
        BatchWeights::Complex(weights) => weights.as_flattened().iter().find(|part| !part.is_finite()),
    };
    match found {
        Some(weight) => Err(Error::input(path, None, "weights that are finite numbers", weight.to_string())),
        None => Ok(()),
    }
}

/// A file of edges. There may be thousands, so that it is no longer than it must be.
pub(super) struct Segment {
    /// The worker that wrote it, and which of that worker's segments it is.
    name: (u32, u32),
    pub words: u64,
    /// Weights are real numbers.
    pub real: bool,
}

impl Segment {
    /// Calls `visit` with all words, in runs of whole edges. Frees their space meanwhile, so many bytes at once, and
    /// removes the file.
    pub(super) fn consume(
        &self,
        job: &Job<'_>,
        freed_bytes: u64,
        visit: impl FnMut(&[u64]) -> Result<()>,
    ) -> Result<()> {
        self.visit(job, Some(freed_bytes), visit)?;
        job.runtime.backend().remove(&path(job, self.name))
    }

    /// Calls `visit` with all words, in runs of whole edges.
    pub(super) fn read(&self, job: &Job<'_>, visit: impl FnMut(&[u64]) -> Result<()>) -> Result<()> {
        self.visit(job, None, visit)
    }

    /// Calls `visit` with all words, and frees the space of those that were visited if `freed_bytes` says how much at
    /// once.
    fn visit(
        &self,
        job: &Job<'_>,
        freed_bytes: Option<u64>,
        mut visit: impl FnMut(&[u64]) -> Result<()>,
    ) -> Result<()> {
        let path = path(job, self.name);
        let how = if freed_bytes.is_some() { Open::Write } else { Open::Read };
        let file = DataFile::open_as(job.runtime.backend(), Location::at(&path), how)?;
        let mut buffer: Buffer<u64> = Buffer::zeroed(job.runtime.budget(), "reading edges", READ_BYTES / 8)?;
        let len_bytes = 8 * self.words;
        let (mut at_bytes, mut freed_to) = (0, 0);
        while at_bytes < len_bytes {
            job.runtime.cancel().check()?;
            let take = (len_bytes - at_bytes).min(READ_BYTES as u64) as usize;
            let words = &mut buffer[..take / 8];
            let read = file.read_at(raw_bytes_mut(words), at_bytes);
            read.map_err(|error| Error::file(&path, "read", error))?;
            visit(words)?;
            at_bytes += take as u64;
            // The rest goes with the file.
            if at_bytes < len_bytes && freed_bytes.is_some_and(|bytes| at_bytes - freed_to >= bytes) {
                let freed = file.free(freed_to..at_bytes);
                freed.map_err(|error| Error::file(&path, "free the space of", error))?;
                freed_to = at_bytes;
            }
        }
        Ok(())
    }
}

fn path(job: &Job<'_>, (worker, number): (u32, u32)) -> PathBuf {
    job.workspace.temporary(&format!("edges-{worker}-{number}"))
}

/// Refuses more edges where the disk could not hold those that were written once more, in the order of the lists. What
/// an input holds may be far more than its size suggests.
fn check_space(job: &Job<'_>) -> Result<()> {
    let directory = job.workspace.temporary_directory();
    if directory.starts_with(Memory::folder()) {
        return Ok(());
    }
    let written_bytes = job.edge_bytes.load(Ordering::Relaxed);
    // A file system that does not report its free space may have enough.
    let free_bytes = job.runtime.backend().free_bytes(directory).unwrap_or(u64::MAX);
    if written_bytes <= free_bytes {
        return Ok(());
    }
    let purpose = format!("temporary files of an import, {} of which are written,", bytes_text(written_bytes));
    let (needed_bytes, directory) = (written_bytes, directory.to_owned());
    Err(outcore_image::Error::DiskSpace { purpose, needed_bytes, free_bytes, directory })
}

pub(super) struct EdgeFile<'a> {
    job: &'a Job<'a>,
    buffer_bytes: usize,
    real: bool,
    segment: Option<Writer>,
    closed: Vec<Segment>,
    /// The name of the segment that is written, or of the next one.
    name: (u32, u32),
}

impl<'a> EdgeFile<'a> {
    /// The edges of a worker; one that writes to several files passes a number for each.
    pub(super) fn new(job: &'a Job<'a>, worker: usize, buffer_bytes: usize) -> Self {
        let (segment, closed) = (None, Vec::new());
        EdgeFile { job, buffer_bytes, real: false, segment, closed, name: (worker as u32, 0) }
    }

    /// Says of what kind the weights of the following edges are.
    pub(super) fn set_real(&mut self, real: bool) -> Result<()> {
        if self.real != real {
            self.close()?;
            self.real = real;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn write_all<const WORDS: usize>(&mut self, edges: impl Iterator<Item = [u64; WORDS]>) -> Result<()> {
        let segment = match &mut self.segment {
            Some(segment) => segment,
            None => self.open()?,
        };
        for word in edges.flatten() {
            segment.put_array(&word.to_ne_bytes())?;
        }
        if segment.position_bytes() >= SEGMENT_BYTES { self.close() } else { Ok(()) }
    }

    #[cold]
    fn open(&mut self) -> Result<&mut Writer> {
        check_space(self.job)?;
        let path = path(self.job, self.name);
        let writer = Writer::create_temporary(self.job.runtime, "writing edges", &path, self.buffer_bytes)?;
        Ok(self.segment.insert(writer))
    }

    fn close(&mut self) -> Result<()> {
        if let Some(writer) = self.segment.take() {
            let len_bytes = writer.close()?;
            self.job.edge_bytes.fetch_add(len_bytes, Ordering::Relaxed);
            self.closed.push(Segment { name: self.name, words: len_bytes / 8, real: self.real });
            self.name.1 += 1;
        }
        Ok(())
    }

    /// Ends the chunk: returns its segments.
    pub(super) fn finish_chunk(&mut self) -> Result<Vec<Segment>> {
        self.close()?;
        Ok(std::mem::take(&mut self.closed))
    }
}
