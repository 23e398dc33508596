//! Lanes: asynchronous, block-wise output to one file.
//!
//! This is the counterpart of the [`Reader`](crate::Reader), on the same queues and by the same rule; every file,
//! temporary ones included, is written by lanes. They own memory in blocks of one size, and a queue of the back end.
//! Each lane gathers bytes in a block of its own; [`write`](Lanes::write) makes a request of it and gives the lane a
//! spare block, so that as many blocks as there are spare ones are under way while lanes are filled. Without spare
//! blocks it writes the block synchronously. Short writes are completed, failed ones end all lanes.
//!
//! **Invariant:** memory of a block between its request and the completion belongs to the queue: nothing here reads or
//! writes it. Dropping lanes waits for what is in flight; where waiting fails, the memory is never given back.
#![allow(unsafe_code)]

use crate::backend::{Completion, Queue, Region, Request, Transfer};
use crate::buffer::{Buffer, PAGE_BYTES};
use crate::directory::DataFile;
use crate::error::{Error, Result};
use crate::process::check_process;
use crate::runtime::Runtime;
use std::io::ErrorKind;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// Number of lanes and size of their memory.
pub(crate) struct LanesOptions {
    /// Lanes that are filled in turn.
    pub lanes: usize,
    /// Blocks beyond one per lane: as many may be under way while all lanes are filled. Zero writes each full block
    /// synchronously. Temporary files are written so: in a container whose limit is that of the run, the kernel killed
    /// processes because of the page cache of requests under way.
    pub spare_blocks: usize,
    /// Bytes that a lane gathers before it must be written.
    pub block_bytes: usize,
    /// Room of a block behind these.
    pub tail_bytes: usize,
}

/// Writes blocks of bytes to any offsets of a file.
pub(crate) struct Lanes {
    /// `None` without spare blocks. Not dropped after a fork, which has a copy of it, but neither its threads nor its
    /// requests.
    queue: ManuallyDrop<Option<Box<dyn Queue>>>,
    process: u32,
    file: Arc<DataFile>,
    /// `None` only after the drop.
    memory: Option<Buffer<u8>>,
    region: Region,
    block_bytes: usize,
    tail_bytes: usize,
    lanes: Vec<Lane>,
    blocks: Vec<Block>,
    free: Vec<usize>,
    under_way: usize,
    completions: Vec<Completion>,
    /// Waiting failed: the queue may read the memory forever.
    lost: bool,
    /// A write failed: the contents of the file are not as expected.
    failed: bool,
    /// The error of the operating system at the first write that failed.
    cause: Option<(ErrorKind, String)>,
    /// The refusal of memory, if the file is in memory and has no room.
    refused: Option<Error>,
}

/// A lane's block, and its range of memory to be filled. After a failure it has neither block nor room.
#[derive(Clone, Copy)]
struct Lane {
    block: usize,
    next: usize,
    end: usize,
}

/// A block under way: its offset in the file, and how many of its bytes are written.
#[derive(Clone, Copy, Default)]
struct Block {
    offset_bytes: u64,
    done_bytes: usize,
    len_bytes: usize,
}

impl Lanes {
    /// Lanes to a file, whose queue has at most as many threads as the runtime.
    ///
    /// # Errors
    /// Too little memory under the budget, or a queue that the operating system refuses.
    pub fn new(runtime: &Runtime, purpose: &str, file: Arc<DataFile>, options: &LanesOptions) -> Result<Self> {
        let &LanesOptions { lanes, spare_blocks, block_bytes, tail_bytes } = options;
        assert!(block_bytes > 0, "a block needs room");
        let (stride_bytes, blocks) = (block_bytes + tail_bytes, lanes + spare_blocks);
        let memory = Buffer::<u8>::zeroed(runtime.budget(), purpose, blocks * stride_bytes)?;
        let region = Region { start: memory.start(), len_bytes: blocks * stride_bytes };
        let queue = || runtime.backend().queue(&[Arc::clone(&file)], region, spare_blocks + 1, runtime.threads());
        let queue = (spare_blocks > 0).then(queue).transpose()?;
        Ok(Lanes {
            queue: ManuallyDrop::new(queue),
            process: std::process::id(),
            file,
            memory: Some(memory),
            region,
            block_bytes,
            tail_bytes,
            lanes: (0..lanes).map(|block| Lane::filling(block, block_bytes, tail_bytes)).collect(),
            blocks: vec![Block::default(); blocks],
            free: (lanes..blocks).rev().collect(),
            under_way: 0,
            completions: Vec::new(),
            lost: false,
            failed: false,
            cause: None,
            refused: None,
        })
    }

    /// Appends bytes to a lane; returns false and does nothing if they do not all fit.
    #[inline(always)]
    pub fn put<const N: usize>(&mut self, lane: usize, bytes: &[u8; N]) -> bool {
        self.put_first(lane, bytes, N)
    }

    /// Appends words to a lane; returns false and does nothing if they do not all fit.
    #[inline(always)]
    pub fn put_words<const N: usize>(&mut self, lane: usize, words: [u64; N]) -> bool {
        let lane = &mut self.lanes[lane];
        let has_room = lane.next + 8 * N <= lane.end;
        if has_room {
            // SAFETY: as in `put_first`.
            unsafe { self.region.start.add(lane.next).cast::<[u64; N]>().write_unaligned(words) };
            lane.next += 8 * N;
        }
        has_room
    }

    /// Appends the first `len` of some bytes to a lane; returns false and does nothing if there is no room for all `N`.
    #[inline(always)]
    pub fn put_first<const N: usize>(&mut self, lane: usize, bytes: &[u8; N], len: usize) -> bool {
        let lane = &mut self.lanes[lane];
        if lane.next + N > lane.end {
            return false;
        }
        // SAFETY: the bytes lie within the lane's block, which is not under way, so no other access to them exists.
        unsafe { self.region.start.add(lane.next).cast::<[u8; N]>().write_unaligned(*bytes) };
        lane.next += len.min(N);
        true
    }

    /// Appends as many bytes to a lane as fit; returns their number.
    #[inline]
    pub fn put_some(&mut self, lane: usize, bytes: &[u8]) -> usize {
        let lane = &mut self.lanes[lane];
        let take = bytes.len().min(lane.end - lane.next);
        // SAFETY: as in `put_first`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.region.start.add(lane.next), take) };
        lane.next += take;
        take
    }

    /// Whether a number of bytes fits into a lane. After a failure none do.
    #[inline]
    pub fn has_room(&self, lane: usize, len_bytes: usize) -> bool {
        self.lanes[lane].next + len_bytes <= self.lanes[lane].end
    }

    /// Bytes that a lane gathers before it must be written.
    #[inline]
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// The next `N` bytes of a lane, with arbitrary contents, to be filled by the caller; `None` if they do not fit.
    #[inline]
    pub fn room<const N: usize>(&mut self, lane: usize) -> Option<&mut [u8; N]> {
        let lane = &mut self.lanes[lane];
        if lane.next + N > lane.end {
            return None;
        }
        let start = lane.next;
        lane.next += N;
        // SAFETY: as in `put_first`, and neither the block nor the lane is written while the bytes are borrowed from
        // these lanes.
        Some(unsafe { &mut *self.region.start.add(start).cast::<[u8; N]>() })
    }

    /// Number of bytes that a lane has gathered.
    #[inline]
    pub fn used_bytes(&self, lane: usize) -> usize {
        let Lane { next, end, .. } = self.lanes[lane];
        if end == 0 { 0 } else { next + self.block_bytes - end }
    }

    /// Begins to write the bytes of a lane to an offset of the file, followed by `tail`; the lane is empty afterwards.
    /// Waits until a block is free.
    ///
    /// # Errors
    /// A write that failed, this one or an earlier one: a full disk, most likely.
    #[cold]
    #[inline(never)]
    pub fn write(&mut self, lane: usize, offset_bytes: u64, tail: &[u8]) -> Result<()> {
        check_process(self.process, "a writer of a file")?;
        if self.failed || self.lost {
            return Err(self.failed_before(offset_bytes));
        }
        let len_bytes = self.used_bytes(lane) + tail.len();
        if len_bytes == 0 {
            return Ok(());
        }
        assert!(tail.len() <= self.tail_bytes, "a tail of {} bytes, room for {}", tail.len(), self.tail_bytes);
        let Lane { block, next, .. } = self.lanes[lane];
        // SAFETY: as in `put_first`; a block has room for the tail behind the bytes of its lane.
        unsafe { std::ptr::copy_nonoverlapping(tail.as_ptr(), self.region.start.add(next), tail.len()) };
        if self.queue.is_none() {
            let start = block * (self.block_bytes + self.tail_bytes);
            // SAFETY: as in `put_first`.
            let bytes = unsafe { std::slice::from_raw_parts(self.region.start.add(start), len_bytes) };
            let written = self.file.write_at(bytes, offset_bytes);
            self.lanes[lane] = match written {
                Ok(()) => Lane::filling(block, self.block_bytes, self.tail_bytes),
                Err(_) => Lane { block, next: 0, end: 0 },
            };
            let written = written.map_err(|error| self.failure(offset_bytes, error));
            written.as_ref().inspect_err(|error| self.fail(error)).ok();
            self.refused = written.as_ref().err().and_then(Error::refused_again);
            return written;
        }
        self.lanes[lane] = Lane { block, next: 0, end: 0 };
        self.blocks[block] = Block { offset_bytes, done_bytes: 0, len_bytes };
        self.under_way += 1;
        self.start(block)?;
        while self.free.is_empty() {
            self.reap()?;
        }
        if let Some(block) = self.free.pop() {
            self.lanes[lane] = Lane::filling(block, self.block_bytes, self.tail_bytes);
        }
        Ok(())
    }

    /// Waits until nothing is under way: all bytes are in the file, but not durable.
    ///
    /// # Errors
    /// A write that failed, this one or an earlier one.
    pub fn finish(&mut self) -> Result<()> {
        check_process(self.process, "a writer of a file")?;
        while self.under_way > 0 && !self.lost {
            self.reap()?;
        }
        match self.failed || self.lost {
            true => Err(self.failed_before(0)),
            false => Ok(()),
        }
    }

    /// The file.
    pub fn file(&self) -> &DataFile {
        &self.file
    }

    /// The queue. Called only with requests under way, so there is one.
    fn queue(&mut self) -> &mut dyn Queue {
        self.queue.as_mut().expect("there are spare blocks").as_mut()
    }

    fn start(&mut self, place: usize) -> Result<()> {
        let Block { offset_bytes, done_bytes, len_bytes } = self.blocks[place];
        let request = Request {
            transfer: Transfer::Write,
            file: 0,
            offset_bytes: offset_bytes + done_bytes as u64,
            memory_bytes: place * (self.block_bytes + self.tail_bytes) + done_bytes,
            len_bytes: len_bytes - done_bytes,
            tag: place as u32,
        };
        // SAFETY: no lane has a block that is under way, and `drop` waits.
        if let Err(error) = unsafe { self.queue().push(request) } {
            self.end(place);
            self.fail(&error);
            return Err(error);
        }
        self.queue().submit().inspect_err(|error| self.fail(error))
    }

    /// A write has failed.
    fn fail(&mut self, error: &Error) {
        self.failed = true;
        if let (None, Error::File { source, .. }) = (&self.cause, error) {
            self.cause = Some((source.kind(), source.to_string()));
        }
    }

    /// Ends a block: no request of it is under way any more.
    fn end(&mut self, place: usize) {
        self.free.push(place);
        self.under_way -= 1;
    }

    /// Waits for completions and records them.
    fn reap(&mut self) -> Result<()> {
        let mut completions = std::mem::take(&mut self.completions);
        let waited = self.queue().wait(&mut completions);
        if waited.is_err() || completions.is_empty() {
            self.lost = true;
            return waited.and_then(|()| Err(self.failure(0, std::io::Error::other("a write never ends"))));
        }
        let mut outcome = Ok(());
        for Completion { tag, result } in completions.drain(..) {
            if let Err(error) = self.complete(tag as usize, result) {
                self.fail(&error);
                outcome = outcome.and(Err(error));
            }
        }
        self.completions = completions;
        outcome
    }

    fn complete(&mut self, place: usize, result: std::io::Result<usize>) -> Result<()> {
        let least_bytes = if self.file.is_direct() { PAGE_BYTES } else { 1 };
        let block = &mut self.blocks[place];
        let at = block.offset_bytes + block.done_bytes as u64;
        let error = match result {
            Ok(written) if block.done_bytes + written == block.len_bytes => {
                self.end(place);
                return Ok(());
            }
            // Direct writes begin at whole pages: the written part of a broken page is written again.
            Ok(written) if written >= least_bytes => {
                block.done_bytes += written / least_bytes * least_bytes;
                return self.start(place);
            }
            Ok(_) => ErrorKind::WriteZero.into(),
            Err(error) if error.kind() == ErrorKind::Interrupted => return self.start(place),
            Err(error) => error,
        };
        self.end(place);
        Err(self.failure(at, error))
    }

    fn failed_before(&self, offset_bytes: u64) -> Error {
        let refused = self.refused.as_ref().and_then(Error::refused_again);
        let (kind, cause) = match &self.cause {
            Some((kind, cause)) => (*kind, format!("an earlier write failed: {cause}")),
            None => (ErrorKind::Other, "an earlier write failed".to_owned()),
        };
        refused.unwrap_or_else(|| self.failure(offset_bytes, std::io::Error::new(kind, cause)))
    }

    fn failure(&self, offset_bytes: u64, error: std::io::Error) -> Error {
        Error::file_at(self.file.path(), "write", offset_bytes, error)
    }
}

impl Lane {
    fn filling(block: usize, block_bytes: usize, tail_bytes: usize) -> Self {
        let start = block * (block_bytes + tail_bytes);
        Lane { block, next: start, end: start + block_bytes }
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        if check_process(self.process, "a writer of a file").is_err() {
            // After a fork the memory is a copy, to which no request of the kernel refers.
            return;
        }
        while !self.lost && self.under_way > 0 {
            // Errors of a file that is abandoned are of no use; waiting continues unless it fails itself.
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
    use crate::backend::{Backend, Change, Faults, Location, Open, Posix, Sim};
    use crate::runtime::RuntimeOptions;
    use std::path::Path;

    fn runtime(backend: Arc<dyn Backend>) -> Runtime {
        let memory_bytes = Some(1 << 30);
        Runtime::new(RuntimeOptions { memory_bytes, backend: Some(backend), ..Default::default() }).unwrap()
    }

    fn lanes(runtime: &Runtime, path: &Path, options: &LanesOptions) -> Lanes {
        let file = DataFile::open_as(runtime.backend(), Location::at(path), Open::Create).unwrap();
        Lanes::new(runtime, "a test", Arc::new(file), options).unwrap()
    }

    /// The byte at an offset of a file of several lanes, whose blocks alternate.
    fn byte(place: usize) -> u8 {
        (place * 31 % 251) as u8
    }

    /// Fills the lanes in turn and begins to write each, so that blocks of all are under way at once.
    fn fill(lanes: &mut Lanes, options: &LanesOptions, blocks: std::ops::Range<usize>) -> Result<()> {
        let bytes = options.block_bytes + options.tail_bytes;
        for block in blocks {
            let start = block * bytes;
            let whole: Vec<u8> = (start..start + bytes).map(byte).collect();
            let (body, tail) = whole.split_at(options.block_bytes);
            let lane = block % options.lanes;
            let (first, rest) = body.split_first_chunk::<8>().unwrap();
            assert!(lanes.put(lane, first) || lanes.failed);
            assert_eq!(lanes.put_some(lane, rest), if lanes.failed { 0 } else { rest.len() });
            assert!(!lanes.put(lane, &[0; 1]), "there is no room");
            lanes.write(lane, start as u64, tail)?;
            assert_eq!(lanes.used_bytes(lane), 0);
        }
        Ok(())
    }

    fn expected(options: &LanesOptions, blocks: usize) -> Vec<u8> {
        (0..blocks * (options.block_bytes + options.tail_bytes)).map(byte).collect()
    }

    #[test]
    fn every_block_gets_to_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let mut backends: Vec<Arc<dyn Backend>> = vec![Arc::new(Posix), Arc::new(Sim::new(Faults::default()))];
        if !cfg!(miri) && crate::backend::Uring::works() {
            backends.push(Arc::new(crate::backend::Uring));
        }
        for backend in backends {
            let runtime = runtime(backend);
            let available_bytes = runtime.budget().available_bytes();
            for (count, spare_blocks, tail_bytes) in [(1, 1, 0), (3, 1, 8), (5, 4, 0), (2, 7, 8), (3, 0, 8), (1, 0, 0)]
            {
                let options = LanesOptions { lanes: count, spare_blocks, block_bytes: 1001, tail_bytes };
                let path = directory.path().join("file");
                let mut lanes = lanes(&runtime, &path, &options);
                fill(&mut lanes, &options, 0..40).unwrap();
                lanes.finish().unwrap();
                assert!(std::fs::read(&path).unwrap() == expected(&options, 40), "{}", runtime.backend().name());
                // These are not waited for.
                fill(&mut lanes, &options, 0..10).unwrap();
                drop(lanes);
                std::fs::remove_file(&path).unwrap();
            }
            assert_eq!(runtime.budget().available_bytes(), available_bytes);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "threads that write files")]
    fn what_a_thread_began_that_ends_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let runtime = runtime(crate::backend::best());
        let options = LanesOptions { lanes: 1, spare_blocks: 30, block_bytes: 1 << 20, tail_bytes: 0 };
        let path = directory.path().join("file");
        let mut lanes = lanes(&runtime, &path, &options);
        for thread in 0..4 {
            let fill = || fill(&mut lanes, &options, 10 * thread..10 * thread + 10);
            std::thread::scope(|scope| scope.spawn(fill).join()).unwrap().unwrap();
        }
        lanes.finish().unwrap();
        assert!(std::fs::read(&path).unwrap() == expected(&options, 40));
    }

    #[test]
    fn a_failure_is_reported_and_nothing_is_written_behind_it() {
        let directory = tempfile::tempdir().unwrap();
        for (full, spare_blocks) in (0..20).flat_map(|full| [(full, 2), (full, 0)]) {
            let options = LanesOptions { lanes: 3, spare_blocks, block_bytes: 1000, tail_bytes: 0 };
            let faults = Faults { full_after_bytes: Some(1000 * full), seed: full, ..Faults::default() };
            let runtime = runtime(Arc::new(Sim::new(faults)));
            let mut lanes = lanes(&runtime, &directory.path().join(format!("{full}-{spare_blocks}")), &options);
            let failed = fill(&mut lanes, &options, 0..20).and_then(|()| lanes.finish()).unwrap_err();
            assert!(failed.to_string().contains("No space"), "{failed}");
            for lane in 0..3 {
                assert!(lanes.write(lane, 0, &[]).unwrap_err().to_string().contains("an earlier write failed"));
            }
            assert!(lanes.finish().is_err());
        }
    }

    /// A back end whose queues write a few bytes of each request, or accept requests and then fail.
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

        fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
            if self.fails {
                return Err(Error::file("a queue", "wait for", std::io::Error::other("no answer")));
            }
            for Request { offset_bytes, memory_bytes, len_bytes, tag, .. } in self.waiting.drain(..) {
                let len = len_bytes.min(1000);
                // SAFETY: the request owns these bytes.
                let bytes = unsafe { std::slice::from_raw_parts(self.memory.start.add(memory_bytes), len) };
                let file = self.file.file();
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
        let options = LanesOptions { lanes: 2, spare_blocks: 2, block_bytes: 4096, tail_bytes: 0 };
        let mut odd = lanes(&runtime(Arc::new(Odd { fails: false })), &short, &options);
        fill(&mut odd, &options, 0..20).unwrap();
        odd.finish().unwrap();
        assert!(std::fs::read(&short).unwrap() == expected(&options, 20));
        let runtime = runtime(Arc::new(Odd { fails: true }));
        let before_bytes = runtime.budget().available_bytes();
        let mut odd = lanes(&runtime, &lost, &options);
        assert!(fill(&mut odd, &options, 0..20).is_err() && odd.finish().is_err());
        drop(odd);
        assert!(runtime.budget().available_bytes() <= before_bytes - (1 << 14));
    }
}
