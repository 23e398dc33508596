//! The `posix` back end: pread and pwrite on a few threads per queue, for kernels and containers that refuse io_uring.
#![allow(unsafe_code)]

use super::{Backend, Change, Completion, Queue, Region, Request, Transfer, system};
use crate::directory::DataFile;
use crate::error::{Error, Result};
use crate::lock::lock;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Most threads of one queue: the depth that the device sees.
const QUEUE_THREADS: usize = 16;
/// Most threads of all queues together. Every queue has at least one.
const ALL_THREADS: usize = 256;

/// Reads and writes by pread and pwrite on threads.
pub struct Posix;

impl Backend for Posix {
    fn name(&self) -> &'static str {
        "posix"
    }

    fn queue(&self, files: &[Arc<DataFile>], memory: Region, depth: usize, queues: usize) -> Result<Box<dyn Queue>> {
        let (requests, inbox) = channel::<Request>();
        let (outbox, completions) = channel();
        let inbox = Arc::new(Mutex::new(inbox));
        // If a thread is refused, the queue is dropped, which ends the threads started before.
        let mut queue = PosixQueue { requests: Some(requests), completions, in_flight: 0, threads: Vec::new() };
        for _ in 0..threads_of_queue(depth, queues) {
            let (inbox, outbox, files) = (Arc::clone(&inbox), outbox.clone(), files.to_vec());
            let started = std::thread::Builder::new().spawn(move || serve(&inbox, &outbox, &files, memory));
            queue.threads.push(started.map_err(|source| Error::ThreadRefused { source })?);
        }
        Ok(Box::new(queue))
    }
}

/// Number of threads of one of `queues` queues.
fn threads_of_queue(depth: usize, queues: usize) -> usize {
    (ALL_THREADS / queues.max(1)).clamp(1, QUEUE_THREADS).min(depth.max(1))
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
    requests: Option<Sender<Request>>,
    completions: Receiver<Completion>,
    in_flight: usize,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Queue for PosixQueue {
    unsafe fn push(&mut self, request: Request) -> Result<()> {
        if let Some(requests) = &self.requests {
            requests.send(request).expect("the threads live as long as the queue");
            self.in_flight += 1;
        }
        Ok(())
    }

    fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
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
    fn the_threads_of_all_queues_are_bounded() {
        assert_eq!([1, 2, 16].map(|queues| threads_of_queue(256, queues)), [16; 3]);
        assert_eq!([17, 64, MOST_THREADS].map(|queues| threads_of_queue(256, queues)), [15, 4, 1]);
        assert_eq!(threads_of_queue(3, 1), 3);
        assert!((1..=MOST_THREADS).all(|queues| queues * threads_of_queue(256, queues) <= MOST_THREADS));
    }
}
