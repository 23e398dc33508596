//! A reader: one worker's reads, from the plan to the bytes.
//!
//! The reader owns a ring of memory and a queue of the back end. Extents are pushed at one end and returned at the
//! other in the same order, each when it is complete; in between up to a ring full of them is in flight. Short reads
//! are completed as long as the file has the bytes, failed ones end the sweep. Memory is handed out and taken back in
//! order, so the ring never fragments.
//!
//! **Invariant:** memory between an extent's `push` and its return by `next` belongs to the queue: nothing here reads
//! or writes it. Dropping a reader waits for what is in flight. Where waiting fails twice, the ring and its queue are
//! replaced, and the memory of the old ring is never given back.
#![allow(unsafe_code)]

use crate::backend::{Backend, Completion, Queue, Region, Request, Transfer, threads_of_worker};
use crate::budget::Budget;
use crate::buffer::{Buffer, PAGE_BYTES};
use crate::directory::DataFile;
use crate::error::{Error, Fuse, Result};
use crate::process::check_process;
use crate::runtime::{CancelFlag, Runtime};
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The most reads that a reader has in flight.
pub const MAX_DEPTH: usize = 256;
/// Limit of consecutive reads of one page that end inside it, though the file does not; beyond it the device is at
/// fault.
const MOST_BROKEN_READS: u32 = 1000;

/// The ring of a reader that reads one file ahead.
#[derive(Clone, Copy, Debug)]
pub struct ReadAhead {
    /// The number of extents that are in flight.
    pub extents: usize,
    /// The size of an extent, a multiple of 4096.
    pub extent_bytes: usize,
}

/// One worker's reads.
pub struct Reader {
    ring: Ring,
    process: u32,
    files: Vec<Arc<DataFile>>,
    cancel: CancelFlag,
    /// Extents in order; the front one is returned next.
    extents: VecDeque<Pending>,
    /// The number of the front extent: tags count from it.
    front: u32,
    /// Offsets of the beginning and end of free memory in the ring.
    head: usize,
    completions: Vec<Completion>,
    /// Whether `next` returned an extent, whose memory is free from the following call on.
    returned: bool,
    /// Waiting failed: the queue may still write into the ring.
    lost: bool,
    /// After an error nothing is returned until [`Reader::clear`].
    fuse: Fuse,
    wait_ns: u64,
    requests: u64,
    read_bytes: u64,
    /// Bytes read by all readers of the operation.
    read_by_all: Arc<AtomicU64>,
}

/// The memory of the extents, and the queue that fills it.
struct Ring {
    /// Not dropped after a fork, which has a copy of it, but neither its threads nor its requests.
    queue: ManuallyDrop<Box<dyn Queue>>,
    /// Not dropped after a fork, and not while requests may still write into it.
    memory: ManuallyDrop<Buffer<u8>>,
    region: Region,
    options: RingOptions,
}

#[derive(Clone)]
struct RingOptions {
    budget: Arc<Budget>,
    backend: Arc<dyn Backend>,
    ring_bytes: usize,
    depth: usize,
    threads: usize,
}

impl Ring {
    fn new(files: &[Arc<DataFile>], options: RingOptions) -> Result<Self> {
        let RingOptions { budget, backend, ring_bytes, depth, threads } = &options;
        let memory = Buffer::<u8>::zeroed(budget, "a ring of read buffers", *ring_bytes)?;
        let region = Region { start: memory.start(), len_bytes: *ring_bytes };
        let queue = ManuallyDrop::new(backend.queue(files, region, *depth, *threads)?);
        Ok(Ring { queue, memory: ManuallyDrop::new(memory), region, options })
    }

    /// Ends the queue, and frees the memory unless requests may still write into it.
    ///
    /// # Safety
    /// The ring is not used afterwards.
    unsafe fn end(&mut self, is_lost: bool) {
        // SAFETY: the caller does not use the ring afterwards, and so neither part is dropped twice.
        unsafe {
            ManuallyDrop::drop(&mut self.queue);
            if !is_lost {
                ManuallyDrop::drop(&mut self.memory);
            }
        }
    }
}

struct Pending {
    file: usize,
    offset_bytes: u64,
    memory_bytes: usize,
    len_bytes: usize,
    done_bytes: usize,
    /// Number of consecutive reads without a whole page.
    broken_reads: u32,
    tag: u64,
}

/// An extent whose bytes are in memory.
pub struct Extent<'a> {
    /// The tag of its `push`.
    pub tag: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Statistics of a reader since the last [`Reader::take_stats`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ReaderStats {
    /// Time spent waiting for reads, in nanoseconds.
    pub wait_ns: u64,
    /// Reads.
    pub requests: u64,
    /// Bytes read.
    pub read_bytes: u64,
}

impl Reader {
    /// A worker's reader of these files with a ring of `ring_bytes`, a multiple of 4096.
    ///
    /// # Errors
    /// Too little memory under the budget, or a queue that the operating system refuses.
    pub fn new(runtime: &Runtime, files: &[Arc<DataFile>], ring_bytes: usize) -> Result<Self> {
        let depth = (ring_bytes / PAGE_BYTES).clamp(1, MAX_DEPTH);
        Reader::with_depth(runtime, files, ring_bytes, (depth, threads_of_worker(runtime.threads())))
    }

    /// A reader that reads one file ahead. Many of them may be open side by side, so none has more threads than the
    /// runtime.
    ///
    /// # Errors
    /// As for [`Reader::new`].
    pub fn ahead(runtime: &Runtime, file: &Arc<DataFile>, ahead: ReadAhead) -> Result<Self> {
        let (ring_bytes, depth) = (ahead.extents * ahead.extent_bytes, ahead.extents.clamp(1, MAX_DEPTH));
        Reader::with_depth(runtime, std::slice::from_ref(file), ring_bytes, (depth, runtime.threads()))
    }

    fn with_depth(
        runtime: &Runtime,
        files: &[Arc<DataFile>],
        ring_bytes: usize,
        (depth, threads): (usize, usize),
    ) -> Result<Self> {
        let (budget, backend) = (Arc::clone(runtime.budget()), Arc::clone(runtime.backend()));
        Ok(Reader {
            ring: Ring::new(files, RingOptions { budget, backend, ring_bytes, depth, threads })?,
            process: std::process::id(),
            files: files.to_vec(),
            cancel: runtime.cancel().clone(),
            lost: false,
            fuse: Fuse::default(),
            extents: VecDeque::new(),
            front: 0,
            head: 0,
            completions: Vec::new(),
            returned: false,
            wait_ns: 0,
            requests: 0,
            read_bytes: 0,
            read_by_all: runtime.bytes_read_counter(),
        })
    }

    /// Reads for an operation from now on: that of this runtime, which stops the reads and counts their bytes.
    pub fn serve(&mut self, runtime: &Runtime) {
        self.cancel = runtime.cancel().clone();
        self.read_by_all = runtime.bytes_read_counter();
    }

    /// Starts reading an extent, if the ring has room for it: `false` means that `next` must be called first.
    ///
    /// # Panics
    /// If the extent is larger than the ring.
    ///
    /// # Errors
    /// Errors of the operating system; an earlier error, until [`Reader::clear`]; no memory for another ring, if an
    /// earlier wait failed.
    pub fn push(&mut self, file: usize, offset_bytes: u64, len_bytes: usize, tag: u64) -> Result<bool> {
        assert!(len_bytes <= self.ring.region.len_bytes, "an extent of {len_bytes} bytes does not fit the ring");
        self.check_process()?;
        self.fuse.check()?;
        self.release();
        if self.lost {
            self.recover()?;
        }
        if self.extents.len() >= self.ring.options.depth {
            return Ok(false);
        }
        let Some(memory_bytes) = self.room(len_bytes) else { return Ok(false) };
        self.head = memory_bytes + len_bytes;
        let slot = self.front.wrapping_add(self.extents.len() as u32);
        self.extents.push_back(Pending {
            file,
            offset_bytes,
            memory_bytes,
            len_bytes,
            done_bytes: 0,
            broken_reads: 0,
            tag,
        });
        let started = self.start(slot);
        self.fuse.after(started)?;
        Ok(true)
    }

    /// The offset of `len_bytes` of contiguous free memory, if there are that many.
    fn room(&self, len_bytes: usize) -> Option<usize> {
        let Some(oldest) = self.extents.front() else { return Some(0) };
        let tail = oldest.memory_bytes;
        if self.head > tail {
            // Used memory lies between tail and head: continue behind it, or wrap around.
            if self.head + len_bytes <= self.ring.region.len_bytes {
                return Some(self.head);
            }
            return (len_bytes <= tail).then_some(0);
        }
        (self.head + len_bytes <= tail).then_some(self.head)
    }

    fn start(&mut self, slot: u32) -> Result<()> {
        let extent = &self.extents[slot.wrapping_sub(self.front) as usize];
        let request = Request {
            transfer: Transfer::Read,
            file: extent.file,
            offset_bytes: extent.offset_bytes + extent.done_bytes as u64,
            memory_bytes: extent.memory_bytes + extent.done_bytes,
            len_bytes: extent.len_bytes - extent.done_bytes,
            tag: slot,
        };
        self.requests += 1;
        // SAFETY: the ring hands this memory out once until the extent is returned, and `drop` waits.
        unsafe { self.ring.queue.push(request) }
    }

    /// Begins all pushed reads.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn submit(&mut self) -> Result<()> {
        let submitted = self.ring.queue.submit();
        self.fuse.after(submitted)
    }

    /// The oldest extent, as soon as it is complete; `None` if there is none.
    ///
    /// # Errors
    /// A read that failed, or a file that ends too early; an earlier error, until [`Reader::clear`].
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Extent<'_>>> {
        self.check_process()?;
        self.fuse.check()?;
        self.release();
        let Some(oldest) = self.extents.front() else { return Ok(None) };
        if oldest.done_bytes < oldest.len_bytes {
            let start = Instant::now();
            while self.extents.front().is_some_and(|oldest| oldest.done_bytes < oldest.len_bytes) {
                let reaped = self.reap();
                self.fuse.after(reaped)?;
            }
            self.wait_ns += start.elapsed().as_nanos() as u64;
        }
        self.returned = true;
        let Pending { memory_bytes, len_bytes, tag, .. } = self.extents[0];
        // SAFETY: the extent lies in the ring, which lives as long as `self`, and no read of it is in flight any more.
        // A reference to more of the ring would reach memory that other reads write.
        let bytes = unsafe { std::slice::from_raw_parts(self.ring.region.start.add(memory_bytes), len_bytes) };
        Ok(Some(Extent { tag, bytes }))
    }

    fn check_process(&self) -> Result<()> {
        check_process(self.process, "a reader of files")
    }

    /// Takes back the memory of the extent that `next` returned last.
    fn release(&mut self) {
        if std::mem::take(&mut self.returned) {
            self.extents.pop_front();
            self.front = self.front.wrapping_add(1);
        }
    }

    /// Waits for completions and records them.
    fn reap(&mut self) -> Result<()> {
        let mut completions = std::mem::take(&mut self.completions);
        self.ring.queue.wait(&mut completions)?;
        let (mut failure, before) = (None, self.read_bytes);
        for completion in completions.drain(..) {
            if let Err(error) = self.complete(completion) {
                failure.get_or_insert(error);
            }
        }
        // Once for all completions of this wait.
        self.read_by_all.fetch_add(self.read_bytes - before, Ordering::Relaxed);
        self.completions = completions;
        failure.map_or(Ok(()), Err)
    }

    fn complete(&mut self, completion: Completion) -> Result<()> {
        let place = completion.tag.wrapping_sub(self.front) as usize;
        let extent = &mut self.extents[place];
        let path = self.files[extent.file].path();
        let at = extent.offset_bytes + extent.done_bytes as u64;
        match completion.result {
            Ok(read) => {
                self.read_bytes += read as u64;
                let done_bytes = extent.done_bytes + read;
                if done_bytes == extent.len_bytes {
                    extent.done_bytes = done_bytes;
                    return Ok(());
                }
                // Direct reads begin at whole pages: read the broken page again.
                let whole_bytes = done_bytes / 4096 * 4096;
                extent.broken_reads = if whole_bytes > extent.done_bytes { 0 } else { extent.broken_reads + 1 };
                extent.done_bytes = whole_bytes;
                self.check_end(place)?;
                self.start(completion.tag)?;
                self.ring.queue.submit()
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
                self.cancel.check()?;
                self.start(completion.tag)?;
                self.ring.queue.submit()
            }
            Err(error) => Err(Error::file_at(path, "read", at, error)),
        }
    }

    /// Fails if a read that was cut short cannot be completed: the file has become shorter, or ends where the extent
    /// does not, or reads keep being cut short.
    fn check_end(&self, place: usize) -> Result<()> {
        self.cancel.check()?;
        let extent = &self.extents[place];
        let (file, end) = (&self.files[extent.file], extent.offset_bytes + extent.len_bytes as u64);
        let at = extent.offset_bytes + extent.done_bytes as u64;
        let failed = |error| Err(Error::file_at(file.path(), "read", at, error));
        let early = |text| failed(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, text));
        match file.len_bytes_now() {
            Err(error) => failed(error),
            Ok(len_bytes) if len_bytes < end => early(format!("the file ends {} bytes too early", end - len_bytes)),
            Ok(_) if extent.broken_reads >= MOST_BROKEN_READS => early("reads go on to end inside a page".into()),
            Ok(_) => Ok(()),
        }
    }

    /// Abandons all reads: waits for those in flight and discards their bytes. If waiting fails, the next read waits
    /// once more, and has another ring if that fails too.
    pub fn clear(&mut self) {
        self.release();
        // Requests that are still in flight write: this memory must not be used again.
        self.lost = self.drain().is_err();
        self.extents.clear();
        self.head = 0;
        self.fuse.renew();
    }

    /// Waits for everything in flight and discards its bytes.
    fn drain(&mut self) -> Result<()> {
        let mut completions = Vec::new();
        loop {
            completions.clear();
            self.ring.queue.wait(&mut completions)?;
            if completions.is_empty() {
                return Ok(());
            }
        }
    }

    /// Makes the reader usable after a wait that failed: waits once more, or replaces the ring and its queue.
    fn recover(&mut self) -> Result<()> {
        if self.drain().is_err() {
            let ring = Ring::new(&self.files, self.ring.options.clone())?;
            let mut lost = std::mem::replace(&mut self.ring, ring);
            // SAFETY: the ring goes out of scope here.
            unsafe { lost.end(true) };
        }
        self.lost = false;
        Ok(())
    }

    /// Statistics since the last call.
    pub fn take_stats(&mut self) -> ReaderStats {
        ReaderStats {
            wait_ns: std::mem::take(&mut self.wait_ns),
            requests: std::mem::take(&mut self.requests),
            read_bytes: std::mem::take(&mut self.read_bytes),
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.check_process().is_err() {
            // After a fork the memory is a copy, to which no request of the kernel refers.
            return;
        }
        self.clear();
        let is_lost = self.lost;
        // SAFETY: the reader is not used afterwards.
        unsafe { self.ring.end(is_lost) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Backend;
    use crate::runtime::RuntimeOptions;
    use std::io::Write;

    /// A back end whose first queue accepts reads, and fails so many times to wait for them. Later queues work.
    struct Failing(AtomicU64);

    impl Backend for Failing {
        fn name(&self) -> &'static str {
            "failing"
        }

        fn queue(&self, _: &[Arc<DataFile>], _: Region, _: usize, _: usize) -> Result<Box<dyn Queue>> {
            Ok(Box::new(FailingQueue { waits: self.0.swap(0, Ordering::Relaxed), requests: Vec::new() }))
        }
    }

    struct FailingQueue {
        waits: u64,
        requests: Vec<Request>,
    }

    impl Queue for FailingQueue {
        unsafe fn push(&mut self, request: Request) -> Result<()> {
            self.requests.push(request);
            Ok(())
        }

        fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
            if self.waits > 0 {
                self.waits -= 1;
                return Err(Error::file("a queue", "wait for", std::io::Error::other("no answer")));
            }
            let ended = self.requests.drain(..);
            completions.extend(ended.map(|Request { tag, len_bytes, .. }| Completion { tag, result: Ok(len_bytes) }));
            Ok(())
        }
    }

    /// A back end whose reads end together, when they are waited for. Those behind the second page fail.
    struct Together;

    impl Backend for Together {
        fn name(&self) -> &'static str {
            "together"
        }

        fn queue(&self, _: &[Arc<DataFile>], _: Region, _: usize, _: usize) -> Result<Box<dyn Queue>> {
            Ok(Box::new(TogetherQueue(Vec::new())))
        }
    }

    struct TogetherQueue(Vec<Request>);

    impl Queue for TogetherQueue {
        unsafe fn push(&mut self, request: Request) -> Result<()> {
            self.0.push(request);
            Ok(())
        }

        fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
            completions.extend(self.0.drain(..).map(|Request { offset_bytes, len_bytes, tag, .. }| {
                let failed = || std::io::Error::other("broken");
                Completion { tag, result: (offset_bytes < 8192).then_some(len_bytes).ok_or_else(failed) }
            }));
            Ok(())
        }
    }

    fn reader_of(backend: impl Backend + 'static) -> (Runtime, Reader) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[7; 4 * 4096]).unwrap();
        let data = Arc::new(DataFile::open(file.path()).unwrap());
        let options =
            RuntimeOptions { memory_bytes: Some(1 << 30), backend: Some(Arc::new(backend)), ..Default::default() };
        let runtime = Runtime::new(options).unwrap();
        let reader = Reader::new(&runtime, &[data], 1 << 20).unwrap();
        (runtime, reader)
    }

    #[test]
    fn the_first_failure_among_reads_that_end_together_is_reported_with_its_place() {
        let (_runtime, mut reader) = reader_of(Together);
        for page in [0, 2, 1, 3] {
            assert!(reader.push(0, page * 4096, 4096, page).unwrap());
        }
        let error = reader.next().err().expect("the second and the fourth read fail");
        assert!(matches!(error, Error::File { offset_bytes: Some(8192), .. }), "{error}");
    }

    /// Memory that a reader and one read take, of which waiting fails `waits` times; the reads afterwards work.
    fn lost_bytes(waits: u64) -> u64 {
        let (runtime, mut reader) = reader_of(Failing(AtomicU64::new(waits)));
        let before_bytes = runtime.budget().available_bytes();
        assert!(reader.push(0, 0, 4096, 0).unwrap());
        assert!(reader.next().is_err());
        reader.clear();
        for page in 0..2 {
            assert!(reader.push(0, 4096 * page, 4096, page).unwrap());
        }
        for page in 0..2 {
            assert_eq!(reader.next().unwrap().map(|extent| extent.tag), Some(page));
        }
        assert!(reader.next().unwrap().is_none());
        drop(reader);
        before_bytes + (1 << 20) - runtime.budget().available_bytes()
    }

    #[test]
    fn a_reader_goes_on_after_a_wait_that_failed() {
        // The next wait, by `clear`, by a later read, or that of another ring.
        assert_eq!([1, 2].map(lost_bytes), [0; 2]);
        // Memory that a failed queue may still write is never used again.
        assert_eq!(lost_bytes(3), 1 << 20);
    }

    #[test]
    fn a_reader_without_memory_for_another_ring_works_once_there_is_some() {
        let (runtime, mut reader) = reader_of(Failing(AtomicU64::new(3)));
        assert!(reader.push(0, 0, 4096, 0).unwrap());
        assert!(reader.next().is_err());
        reader.clear();
        let all = runtime.budget().reserve("everything", runtime.budget().available_bytes()).unwrap();
        assert!(matches!(reader.push(0, 0, 4096, 0), Err(Error::Memory { .. })));
        drop(all);
        assert!(reader.push(0, 0, 4096, 7).unwrap());
        assert_eq!(reader.next().unwrap().map(|extent| extent.tag), Some(7));
    }
}
