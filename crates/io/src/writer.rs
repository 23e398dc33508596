//! The writer: from bytes in order to the device, while more bytes come.
//!
//! The counterpart of the [`Reader`](crate::Reader), on the same queues and by the same rule. The writer owns a file,
//! a ring of memory in [`PARTS`] parts, and a queue of the back end. Bytes are gathered in one part; a full part
//! becomes a request, and the next part is filled while it is written. Short writes are completed, failed ones end the
//! file.
//!
//! **Invariant:** memory of a part between its request and the completion belongs to the queue: nothing here reads or
//! writes it. Dropping a writer waits for what is in flight; where waiting fails, the memory is never given back.
#![allow(unsafe_code)]

use crate::backend::{Backend, Completion, Location, Open, Queue, Region, Request, Transfer};
use crate::buffer::Array;
use crate::directory::DataFile;
use crate::error::{Error, Result};
use crate::process::check_process;
use crate::runtime::Runtime;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;

/// In so many parts a ring is written: one is filled while the other is under way.
pub const PARTS: usize = 2;
/// Parts begin at whole pages.
const PAGE_BYTES: usize = 4096;

/// Writes a file from its start to its end.
pub struct Writer {
    /// Left alone behind a fork, which has a copy of it, but neither its threads nor its requests.
    queue: ManuallyDrop<Box<dyn Queue>>,
    process: u32,
    file: Arc<DataFile>,
    /// Always there, until it is dropped.
    memory: Option<Array<u8>>,
    region: Region,
    parts: [Part; PARTS],
    /// The part that is being filled, and how much of it is.
    filling: usize,
    used_bytes: usize,
    /// Where in the file that part goes.
    offset_bytes: u64,
    completions: Vec<Completion>,
    /// Waiting failed: the queue may read the memory for ever.
    lost: bool,
    /// A write failed: the file is not what it should be.
    failed: bool,
}

/// A part of the ring under way: where in the file it goes, and how much of it is left.
#[derive(Clone, Copy, Default)]
struct Part {
    offset_bytes: u64,
    done_bytes: usize,
    len_bytes: usize,
}

impl Part {
    fn is_under_way(&self) -> bool {
        self.done_bytes < self.len_bytes
    }
}

impl Writer {
    /// Creates a file that is not there yet, with a ring of about `ring_bytes`, of [`PARTS`] pages at least.
    ///
    /// # Errors
    /// What the operating system refuses, `AlreadyExists` if anything has the name; no memory under the budget.
    pub fn create(runtime: &Runtime, purpose: &str, path: &Path, ring_bytes: usize) -> Result<Self> {
        let part_bytes = (ring_bytes / PARTS / PAGE_BYTES).max(1) * PAGE_BYTES;
        let mut memory = Array::<u8>::zeroed(runtime.budget(), purpose, PARTS * part_bytes)?;
        let region = Region { start: memory.as_mut_ptr(), len_bytes: PARTS * part_bytes };
        let backend: &Arc<dyn Backend> = runtime.backend();
        let file = Arc::new(DataFile::open_as(backend, Location::at(path), Open::Create)?);
        let queue = backend.queue(&[Arc::clone(&file)], region, PARTS, runtime.threads()).inspect_err(|_| {
            // Nobody would know of it.
            let _ = backend.remove(path);
        })?;
        Ok(Writer {
            queue: ManuallyDrop::new(queue),
            process: std::process::id(),
            file,
            memory: Some(memory),
            region,
            parts: [Part::default(); PARTS],
            filling: 0,
            used_bytes: 0,
            offset_bytes: 0,
            completions: Vec::new(),
            lost: false,
            failed: false,
        })
    }

    /// Where in the file the next byte will be.
    pub fn position_bytes(&self) -> u64 {
        self.offset_bytes + self.used_bytes as u64
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// A write that failed, now or before: a full disk, most likely.
    #[inline]
    pub fn put(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            if self.used_bytes == 0 {
                self.claim()?;
            }
            let part_bytes = self.region.len_bytes / PARTS;
            let take = bytes.len().min(part_bytes - self.used_bytes);
            let start = self.filling * part_bytes + self.used_bytes;
            // SAFETY: the part lies within the region and is not under way, so that its bytes are ours.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.region.start.add(start), take) };
            self.used_bytes += take;
            bytes = &bytes[take..];
            if self.used_bytes == part_bytes {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Makes the part that is to be filled ours.
    #[cold]
    fn claim(&mut self) -> Result<()> {
        check_process(self.process, "a writer of a file")?;
        if self.failed || self.lost {
            return Err(self.failure(self.offset_bytes, std::io::Error::other("an earlier write failed")));
        }
        while self.parts[self.filling].is_under_way() {
            self.reap()?;
        }
        Ok(())
    }

    /// Begins to write what was gathered.
    fn flush(&mut self) -> Result<()> {
        if self.used_bytes == 0 {
            return Ok(());
        }
        let len_bytes = std::mem::take(&mut self.used_bytes);
        self.parts[self.filling] = Part { offset_bytes: self.offset_bytes, done_bytes: 0, len_bytes };
        self.offset_bytes += len_bytes as u64;
        let part = self.filling;
        self.filling = (part + 1) % PARTS;
        self.start(part)
    }

    fn start(&mut self, part: usize) -> Result<()> {
        let Part { offset_bytes, done_bytes, len_bytes } = self.parts[part];
        let request = Request {
            transfer: Transfer::Write,
            file: 0,
            offset_bytes: offset_bytes + done_bytes as u64,
            memory_bytes: part * (self.region.len_bytes / PARTS) + done_bytes,
            len_bytes: len_bytes - done_bytes,
            tag: part as u32,
        };
        // SAFETY: nobody touches a part that is under way, and `drop` waits.
        if let Err(error) = unsafe { self.queue.push(request) } {
            self.parts[part].done_bytes = len_bytes;
            self.failed = true;
            return Err(error);
        }
        self.queue.submit()
    }

    /// Waits for completions and takes note of them.
    fn reap(&mut self) -> Result<()> {
        let mut completions = std::mem::take(&mut self.completions);
        let waited = self.queue.wait(&mut completions);
        if waited.is_err() || completions.is_empty() {
            self.lost = true;
            let silent = || self.failure(self.offset_bytes, std::io::Error::other("a write never ends"));
            return waited.and_then(|()| Err(silent()));
        }
        let mut outcome = Ok(());
        for Completion { tag, result } in completions.drain(..) {
            if let Err(error) = self.complete(tag as usize, result) {
                self.failed = true;
                outcome = outcome.and(Err(error));
            }
        }
        self.completions = completions;
        outcome
    }

    fn complete(&mut self, place: usize, result: std::io::Result<usize>) -> Result<()> {
        let part = &mut self.parts[place];
        let at = part.offset_bytes + part.done_bytes as u64;
        let error = match result {
            Ok(0) => std::io::ErrorKind::WriteZero.into(),
            Ok(written) => {
                part.done_bytes += written;
                return if part.is_under_way() { self.start(place) } else { Ok(()) };
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return self.start(place),
            Err(error) => error,
        };
        // Nothing of it is under way any more.
        part.done_bytes = part.len_bytes;
        Err(self.failure(at, error))
    }

    fn failure(&self, offset_bytes: u64, error: std::io::Error) -> Error {
        Error::file_at(self.file.path(), "write", offset_bytes, error)
    }

    /// Writes what is left, and waits until the file would outlast a power failure.
    ///
    /// # Errors
    /// A write that failed, now or before, or what the operating system refuses.
    pub fn finish(mut self) -> Result<()> {
        self.claim()?;
        self.flush()?;
        while self.parts.iter().any(Part::is_under_way) {
            self.reap()?;
        }
        self.file.sync().map_err(|error| Error::file(self.file.path(), "sync", error))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if check_process(self.process, "a writer of a file").is_err() {
            // Behind a fork the memory is a copy of its own, which no request of the kernel names.
            return;
        }
        while !self.lost && self.parts.iter().any(Part::is_under_way) {
            // What a write of a file that nobody finishes says is of no use; waiting goes on unless it fails itself.
            let _ = self.reap();
        }
        // SAFETY: the queue is dropped here only, and not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.queue) };
        if self.lost {
            std::mem::forget(self.memory.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Change, Faults, Posix, Sim};
    use crate::runtime::RuntimeOptions;
    use std::fs::File;

    fn runtime(backend: Arc<dyn Backend>) -> Runtime {
        let memory_bytes = Some(1 << 30);
        Runtime::new(RuntimeOptions { memory_bytes, backend: Some(backend), ..Default::default() }).unwrap()
    }

    fn backends() -> Vec<Arc<dyn Backend>> {
        let mut backends: Vec<Arc<dyn Backend>> = vec![Arc::new(Posix), Arc::new(Sim::new(Faults::default()))];
        #[cfg(target_os = "linux")]
        if !cfg!(miri) && crate::backend::Uring::works() {
            backends.push(Arc::new(crate::backend::Uring));
        }
        backends
    }

    fn bytes(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 31 % 251) as u8).collect()
    }

    /// Writes bytes in pieces of many sizes.
    fn write(runtime: &Runtime, path: &Path, ring_bytes: usize, bytes: &[u8]) -> Result<()> {
        let mut writer = Writer::create(runtime, "a test", path, ring_bytes)?;
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
            // Miri takes a second for some thousand bytes.
            let (lens, rings) = match cfg!(miri) {
                true => (&[0, 1, 13_000][..], &[8192][..]),
                false => (&[0, 1, 4096, 8191, 8192, 8193, 100_001][..], &[0, 8192, 40_000][..]),
            };
            for &len in lens {
                for &ring_bytes in rings {
                    let path = directory.path().join("file");
                    write(&runtime, &path, ring_bytes, &bytes(len)).unwrap();
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

    /// A back end whose queues write a few bytes of each request, or take requests and then fail.
    struct Odd {
        fails: bool,
    }

    impl Backend for Odd {
        fn name(&self) -> &'static str {
            "odd"
        }

        fn queue(&self, files: &[Arc<DataFile>], memory: Region, _: usize, _: usize) -> Result<Box<dyn Queue>> {
            Ok(Box::new(OddQueue { fails: self.fails, file: Arc::clone(&files[0]), memory, waiting: Vec::new() }))
        }
    }

    struct OddQueue {
        fails: bool,
        file: Arc<DataFile>,
        memory: Region,
        waiting: Vec<Request>,
    }

    impl Queue for OddQueue {
        unsafe fn push(&mut self, request: Request) -> Result<()> {
            self.waiting.push(request);
            Ok(())
        }

        fn submit(&mut self) -> Result<()> {
            Ok(())
        }

        fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
            if self.fails {
                return Err(Error::file("a queue", "wait for", std::io::Error::other("no answer")));
            }
            for Request { offset_bytes, memory_bytes, len_bytes, tag, .. } in self.waiting.drain(..) {
                let len = len_bytes.min(1000);
                // SAFETY: the request owns these bytes.
                let bytes = unsafe { std::slice::from_raw_parts(self.memory.start.add(memory_bytes), len) };
                let file: &File = self.file.file();
                let written = Posix.change(&Change::Write { file, offset_bytes, bytes });
                completions.push(Completion { tag, result: written.map(|()| len) });
            }
            Ok(())
        }
    }

    #[test]
    fn short_writes_are_completed_and_memory_of_a_failed_queue_is_never_used_again() {
        let directory = tempfile::tempdir().unwrap();
        let (short, lost) = (directory.path().join("short"), directory.path().join("lost"));
        write(&runtime(Arc::new(Odd { fails: false })), &short, 8192, &bytes(20_000)).unwrap();
        assert!(std::fs::read(&short).unwrap() == bytes(20_000));
        let runtime = runtime(Arc::new(Odd { fails: true }));
        let before_bytes = runtime.budget().available_bytes();
        let mut writer = Writer::create(&runtime, "a test", &lost, 1 << 14).unwrap();
        assert!(writer.put(&bytes(3 << 14)).is_err() && writer.put(&bytes(1)).is_err());
        drop(writer);
        assert!(runtime.budget().available_bytes() <= before_bytes - (1 << 14));
    }
}
