//! The `uring` back end: one io_uring per queue, its memory and files registered.
//!
//! Axboe, *Efficient IO with io_uring*, 2019. A worker submits and reaps on its own ring, so neither a lock nor another
//! thread stands between it and its reads.
#![allow(unsafe_code)]

use super::{Backend, Completion, Queue, Region, Request, Transfer};
use crate::directory::DataFile;
use crate::error::{Error, Result};
use io_uring::{IoUring, opcode, types};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Reads and writes by io_uring.
#[derive(Debug)]
pub struct Uring;

impl Uring {
    /// Whether the kernel, and the container around this process, allow io_uring.
    pub fn works() -> bool {
        // Tested once: the permissions of a container do not change.
        static WORKS: OnceLock<bool> = OnceLock::new();
        *WORKS.get_or_init(|| {
            IoUring::new(2).is_ok_and(|ring| {
                let mut probe = io_uring::Probe::new();
                ring.submitter().register_probe(&mut probe).is_ok() && {
                    [opcode::Read::CODE, opcode::Write::CODE].into_iter().all(|code| probe.is_supported(code))
                }
            })
        })
    }
}

impl Backend for Uring {
    fn name(&self) -> &'static str {
        "uring"
    }

    fn queue(&self, files: &[Arc<DataFile>], memory: Region, depth: usize, _: usize) -> Result<Box<dyn Queue>> {
        let entries = depth.next_power_of_two().clamp(2, 4096) as u32;
        let failed = |error| {
            Error::file(files.first().map_or(Path::new(""), |file| file.path()), "queue reads and writes of", error)
        };
        // Completions are posted when a worker next enters the kernel, without interrupting it (Linux 5.19). The ring
        // cannot be bound to one thread, for workers are new threads in every sweep.
        let ring = IoUring::builder()
            .setup_coop_taskrun()
            .build(entries)
            .or_else(|_| IoUring::new(entries))
            .map_err(failed)?;
        let descriptor = |file: &Arc<DataFile>| file.file().system().map(AsRawFd::as_raw_fd);
        let descriptors = files.iter().map(descriptor).collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
        ring.submitter().register_files(&descriptors).map_err(failed)?;
        let whole = libc::iovec { iov_base: memory.start.cast(), iov_len: memory.len_bytes };
        // SAFETY: the memory outlives the queue, by the contract of `Queue::push` and its owners, readers and lanes.
        let registered = unsafe { ring.submitter().register_buffers(&[whole]) }.is_ok();
        Ok(Box::new(UringQueue { ring, memory, registered, in_flight: 0, _files: files.to_vec() }))
    }
}

struct UringQueue {
    ring: IoUring,
    memory: Region,
    /// Whether the memory is registered. Locked memory may be limited; requests work without registration, only slower.
    registered: bool,
    in_flight: usize,
    _files: Vec<Arc<DataFile>>,
}

// SAFETY: the ring is used by one thread at a time, and the kernel's side of it belongs to no thread. It may move to
// another thread with requests under way: those of a thread that ends are cancelled, complete as interrupted, and are
// begun anew by readers and lanes.
unsafe impl Send for UringQueue {}

impl UringQueue {
    fn failed(error: std::io::Error) -> Error {
        Error::file("the io_uring", "use", error)
    }
}

impl Queue for UringQueue {
    unsafe fn push(&mut self, request: Request) -> Result<()> {
        debug_assert!(request.memory_bytes + request.len_bytes <= self.memory.len_bytes);
        let file = types::Fixed(request.file as u32);
        // SAFETY: the request lies within the region.
        let target = unsafe { self.memory.start.add(request.memory_bytes) };
        let len = request.len_bytes as u32;
        let offset = request.offset_bytes;
        let entry = match (request.transfer, self.registered) {
            (Transfer::Read, true) => opcode::ReadFixed::new(file, target, len, 0).offset(offset).build(),
            (Transfer::Read, false) => opcode::Read::new(file, target, len).offset(offset).build(),
            (Transfer::Write, true) => opcode::WriteFixed::new(file, target, len, 0).offset(offset).build(),
            (Transfer::Write, false) => opcode::Write::new(file, target, len).offset(offset).build(),
        };
        let entry = entry.user_data(u64::from(request.tag));
        // SAFETY: the caller keeps the memory alive until the completion.
        while unsafe { self.ring.submission().push(&entry) }.is_err() {
            self.submit()?;
        }
        self.in_flight += 1;
        Ok(())
    }

    fn submit(&mut self) -> Result<()> {
        if self.ring.submission().is_empty() {
            return Ok(());
        }
        loop {
            match self.ring.submit() {
                Ok(_) => return Ok(()),
                Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)) => {}
                Err(error) => return Err(Self::failed(error)),
            }
        }
    }

    fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        let before = completions.len();
        loop {
            for entry in self.ring.completion() {
                let result = match entry.result() {
                    // When a thread ends, its unfinished requests are cancelled.
                    code if code == -libc::ECANCELED => Err(std::io::ErrorKind::Interrupted.into()),
                    code if code < 0 => Err(std::io::Error::from_raw_os_error(-code)),
                    bytes => Ok(bytes as usize),
                };
                completions.push(Completion { tag: entry.user_data() as u32, result });
                self.in_flight -= 1;
            }
            if completions.len() > before || self.in_flight == 0 {
                return Ok(());
            }
            match self.ring.submit_and_wait(1) {
                Ok(_) => {}
                Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)) => {}
                Err(error) => return Err(Self::failed(error)),
            }
        }
    }
}
