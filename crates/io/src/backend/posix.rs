//! The `posix` back end: pread and pwrite on a few threads per queue, for kernels and containers that refuse io_uring.
//!
//! The threads of all queues of the process are counted. A queue that gets none of them performs its requests on the
//! thread that waits for them.
#![allow(unsafe_code)]

use super::{Backend, Change, Completion, Queue, Region, Request, Transfer, system};
use crate::directory::DataFile;
use crate::error::{Error, Result};
use crate::lock::lock;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// Most threads of one queue: the depth that the device sees.
const QUEUE_THREADS: usize = 16;
/// Most threads of all queues of the process together.
const ALL_THREADS: usize = 256;

/// The threads of all queues of the process.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Reads and writes by pread and pwrite on threads.
#[derive(Debug)]
pub struct Posix;

impl Backend for Posix {
    fn name(&self) -> &'static str {
        "posix"
    }

    fn queue(&self, files: &[Arc<DataFile>], memory: Region, depth: usize, threads: usize) -> Result<Box<dyn Queue>> {
        let (requests, inbox) = channel::<Request>();
        let (outbox, completions) = channel();
        let inbox = Arc::new(Mutex::new(inbox));
        let claim = Claim::new(depth.min(threads));
        // If a thread is refused, the queue is dropped, which ends the threads started before.
        let mut queue = PosixQueue {
            files: files.to_vec(),
            memory,
            waiting: VecDeque::new(),
            requests: Some(requests),
            completions,
            in_flight: 0,
            threads: Vec::new(),
            claim,
        };
        for _ in 0..queue.claim.0 {
            let (inbox, outbox, files) = (Arc::clone(&inbox), outbox.clone(), files.to_vec());
            let started = std::thread::Builder::new().spawn(move || serve(&inbox, &outbox, &files, memory));
            queue.threads.push(started.map_err(|source| Error::ThreadRefused { source })?);
        }
        Ok(Box::new(queue))
    }
}

/// A number of threads out of those that all queues may have.
struct Claim(usize);

impl Claim {
    /// At most `most` threads, as far as other queues have left some.
    fn new(most: usize) -> Self {
        let of = |threads| most.min(QUEUE_THREADS).min(ALL_THREADS.saturating_sub(threads));
        let claim = |threads| Some(threads + of(threads));
        let before = THREADS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim);
        Claim(before.map_or(0, of))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        THREADS.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// Most threads for the queue of each of `workers` workers that read at the same time.
pub(crate) fn threads_of_worker(workers: usize) -> usize {
    (ALL_THREADS / workers.max(1)).clamp(1, QUEUE_THREADS)
}

fn serve(inbox: &Mutex<Receiver<Request>>, outbox: &Sender<Completion>, files: &[Arc<DataFile>], memory: Region) {
    loop {
        let request = lock(inbox).recv();
        let Ok(request) = request else { return };
        let result = perform(&files[request.file], memory, &request);
        if outbox.send(Completion { tag: request.tag, result }).is_err() {
            return;
        }
    }
}

/// Performs a request, as far as the file has the bytes.
fn perform(file: &DataFile, memory: Region, request: &Request) -> std::io::Result<usize> {
    // SAFETY: by the contract of `Queue::push` these bytes are the request's until it completes.
    let bytes = unsafe { bytes_of(memory, request) };
    match request.transfer {
        Transfer::Read => system::read(file.file().system()?, bytes, request.offset_bytes),
        Transfer::Write => {
            let (file, offset_bytes) = (file.file(), request.offset_bytes);
            system::change(&Change::Write { file, offset_bytes, bytes }).map(|()| request.len_bytes)
        }
    }
}

/// The bytes of memory that a request owns.
///
/// # Safety
/// The request is under way, and no other reference to its bytes exists.
pub(super) unsafe fn bytes_of<'a>(memory: Region, request: &Request) -> &'a mut [u8] {
    assert!(request.memory_bytes.checked_add(request.len_bytes).is_some_and(|end| end <= memory.len_bytes));
    // SAFETY: the bytes lie within the region, and the caller guarantees exclusive access.
    unsafe { std::slice::from_raw_parts_mut(memory.start.add(request.memory_bytes), request.len_bytes) }
}

struct PosixQueue {
    files: Vec<Arc<DataFile>>,
    memory: Region,
    /// Requests that `wait` performs, in a queue without threads.
    waiting: VecDeque<Request>,
    requests: Option<Sender<Request>>,
    completions: Receiver<Completion>,
    in_flight: usize,
    threads: Vec<std::thread::JoinHandle<()>>,
    /// Given back after the threads have ended.
    claim: Claim,
}

impl Queue for PosixQueue {
    unsafe fn push(&mut self, request: Request) -> Result<()> {
        if self.threads.is_empty() {
            self.waiting.push_back(request);
        } else if let Some(requests) = &self.requests {
            requests.send(request).expect("the threads live as long as the queue");
            self.in_flight += 1;
        }
        Ok(())
    }

    fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        if let Some(request) = self.waiting.pop_front() {
            let result = perform(&self.files[request.file], self.memory, &request);
            completions.push(Completion { tag: request.tag, result });
            return Ok(());
        }
        if self.in_flight == 0 {
            return Ok(());
        }
        let first = self.completions.recv().expect("the threads live as long as the queue");
        completions.push(first);
        self.in_flight -= 1;
        while let Ok(completion) = self.completions.try_recv() {
            completions.push(completion);
            self.in_flight -= 1;
        }
        Ok(())
    }
}

impl Drop for PosixQueue {
    fn drop(&mut self) {
        self.requests = None;
        for thread in self.threads.drain(..) {
            // A panic of a reading thread has been reported; there is nothing to add to it here.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::MOST_THREADS;

    #[test]
    fn workers_share_the_threads_of_all_queues() {
        assert_eq!([1, 2, 16].map(threads_of_worker), [16; 3]);
        assert_eq!([17, 64, MOST_THREADS].map(threads_of_worker), [15, 4, 1]);
        assert!((1..=ALL_THREADS).all(|workers| workers * threads_of_worker(workers) <= ALL_THREADS));
    }
}
