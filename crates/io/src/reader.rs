//! A reader: one worker's reads, from the plan to the bytes.
//!
//! The reader owns a ring of memory and a queue of the back end. Extents are pushed at one end and returned at the
//! other in the same order, each when it is complete; in between up to a ring full of them is in flight. Short reads
//! are completed as long as the file has the bytes, failed ones end the sweep. Memory is handed out and taken back in
//! order, so the ring never fragments.
//!
//! **Invariant:** memory between an extent's `push` and its return by `next` belongs to the queue: nothing here reads
//! or writes it. Dropping a reader waits for what is in flight; where waiting fails, the memory is never given back.
#![allow(unsafe_code)]

use crate::backend::{Completion, Queue, Region, Request, Transfer};
use crate::buffer::Array;
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

/// One worker's reads.
pub struct Reader {
    /// Not dropped after a fork, which has a copy of it, but neither its threads nor its requests.
    queue: ManuallyDrop<Box<dyn Queue>>,
    process: u32,
    files: Vec<Arc<DataFile>>,
    cancel: CancelFlag,
    /// `None` only after the drop.
    memory: Option<Array<u8>>,
    region: Region,
    /// Extents in order; the front one is returned next.
    extents: VecDeque<Pending>,
    /// The number of the front extent: tags count from it.
    front: u32,
    /// Offsets of the beginning and end of free memory in the ring.
    head: usize,
    completions: Vec<Completion>,
    /// Whether `next` returned an extent, whose memory is free from the following call on.
    returned: bool,
    /// Waiting failed: the queue may write into the memory forever.
    lost: bool,
    /// After an error nothing is returned until [`Reader::clear`].
    fuse: Fuse,
    wait_ns: u64,
    requests: u64,
    read_bytes: u64,
    /// Bytes read by all readers of the operation.
    read_by_all: Arc<AtomicU64>,
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
    /// A reader of these files with a ring of `ring_bytes`, a multiple of 4096.
    ///
    /// # Errors
    /// Too little memory under the budget, or a queue that the operating system refuses.
    pub fn new(runtime: &Runtime, files: &[Arc<DataFile>], ring_bytes: usize) -> Result<Self> {
        let mut memory = Array::<u8>::zeroed(runtime.budget(), "a ring of read buffers", ring_bytes)?;
        let region = Region { start: memory.as_mut_ptr(), len_bytes: ring_bytes };
        let queue = runtime.backend().queue(files, region, MAX_DEPTH, runtime.threads())?;
        Ok(Reader {
            queue: ManuallyDrop::new(queue),
            process: std::process::id(),
            files: files.to_vec(),
            cancel: runtime.cancel().clone(),
            memory: Some(memory),
            region,
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
    /// Errors of the operating system; an earlier error, until [`Reader::clear`].
    pub fn push(&mut self, file: usize, offset_bytes: u64, len_bytes: usize, tag: u64) -> Result<bool> {
        assert!(len_bytes <= self.region.len_bytes, "an extent of {len_bytes} bytes does not fit the ring");
        self.check_process()?;
        self.fuse.check()?;
        self.release();
        if self.lost {
            let error = std::io::Error::other("an earlier wait for reads failed");
            return Err(Error::file_at(self.files[file].path(), "read", offset_bytes, error));
        }
        if self.extents.len() >= MAX_DEPTH {
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
            if self.head + len_bytes <= self.region.len_bytes {
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
        unsafe { self.queue.push(request) }
    }

    /// Begins all pushed reads.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn submit(&mut self) -> Result<()> {
        let submitted = self.queue.submit();
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
        let bytes = unsafe { std::slice::from_raw_parts(self.region.start.add(memory_bytes), len_bytes) };
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
        self.queue.wait(&mut completions)?;
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
                self.queue.submit()
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
                self.cancel.check()?;
                self.start(completion.tag)?;
                self.queue.submit()
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

    /// Abandons all reads: waits for those in flight and discards their bytes.
    pub fn clear(&mut self) {
        self.release();
        let mut completions = Vec::new();
        loop {
            completions.clear();
            match self.queue.wait(&mut completions) {
                Ok(()) if completions.is_empty() => break,
                Ok(()) => {}
                Err(_) => {
                    // Requests in flight still write: this memory must not be used again.
                    self.lost = true;
                    break;
                }
            }
        }
        self.extents.clear();
        self.head = 0;
        self.fuse.renew();
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
    use crate::backend::Backend;
    use crate::runtime::RuntimeOptions;
    use std::io::Write;

    /// A back end whose queues accept reads and then fail.
    struct Failing;

    impl Backend for Failing {
        fn name(&self) -> &'static str {
            "failing"
        }

        fn queue(&self, _: &[Arc<DataFile>], _: Region, _: usize, _: usize) -> Result<Box<dyn Queue>> {
            Ok(Box::new(FailingQueue))
        }
    }

    struct FailingQueue;

    impl Queue for FailingQueue {
        unsafe fn push(&mut self, _: Request) -> Result<()> {
            Ok(())
        }

        fn wait(&mut self, _: &mut Vec<Completion>) -> Result<()> {
            Err(Error::file("a queue", "wait for", std::io::Error::other("no answer")))
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

    #[test]
    fn memory_that_a_failed_queue_may_still_write_is_never_used_again() {
        let (runtime, mut reader) = reader_of(Failing);
        let before_bytes = runtime.budget().available_bytes();
        assert!(reader.push(0, 0, 4096, 0).unwrap());
        assert!(reader.next().is_err());
        reader.clear();
        assert!(reader.push(0, 0, 4096, 0).is_err());
        drop(reader);
        assert_eq!(runtime.budget().available_bytes(), before_bytes);
    }
}
