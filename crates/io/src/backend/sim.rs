//! The `sim` back end: real files behind a device that misbehaves by a plan.
//!
//! Reads complete in a seeded random order, some of them short. By the plan, the k-th operation fails, a read returns a
//! flipped bit or a torn page, or the disk is full after so many bytes. Operations are counted over reads, writes,
//! syncs, creations and renames alike, so *fail the k-th for k = 0, 1, 2, ... until success* covers them all. A ledger
//! notes what is not synced: giving such a file or directory another name panics.
#![allow(unsafe_code)]

use super::ledger::Ledger;
use super::posix::read;
use super::{Backend, Completion, Output, OutputFile, Queue, Region, Request, Scratch, ScratchFile, create_scratch};
use crate::directory::DataFile;
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What goes wrong, and when.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Seeds the order of completions and the lengths of short reads.
    pub seed: u64,
    /// Every read has this chance, in percent, to be cut short at a multiple of 512 bytes.
    pub short_reads_percent: u64,
    /// The operation with this number (from 0) fails with an input/output error.
    pub fail_at: Option<u64>,
    /// The read with this number returns one flipped bit.
    pub flip_at: Option<u64>,
    /// The read with this number returns zeros from the middle of its first page on.
    pub tear_at: Option<u64>,
    /// The disk is full after so many written bytes.
    pub full_after_bytes: Option<u64>,
}

/// Real files behind a device that misbehaves by a plan.
pub struct Sim {
    state: Arc<State>,
}

struct State {
    faults: Faults,
    operations: AtomicU64,
    reads: AtomicU64,
    written_bytes: AtomicU64,
    ledger: Ledger,
}

impl Sim {
    /// A device with these faults.
    pub fn new(faults: Faults) -> Self {
        Sim {
            state: Arc::new(State {
                faults,
                operations: AtomicU64::new(0),
                reads: AtomicU64::new(0),
                written_bytes: AtomicU64::new(0),
                ledger: Ledger::default(),
            }),
        }
    }

    /// How many operations there were so far.
    pub fn operations(&self) -> u64 {
        self.state.operations.load(Ordering::Relaxed)
    }

    /// The files and directories that were changed, are still there and were not synced: a power failure could take the
    /// change back.
    pub fn unsynced(&self) -> Vec<PathBuf> {
        self.state.ledger.unsynced()
    }
}

impl State {
    /// Counts an operation; fails it if the plan says so.
    fn operate(&self) -> std::io::Result<()> {
        let number = self.operations.fetch_add(1, Ordering::Relaxed);
        if self.faults.fail_at == Some(number) {
            return Err(std::io::Error::from_raw_os_error(libc::EIO));
        }
        Ok(())
    }

    fn on_file(&self, path: &Path, operation: &'static str) -> Result<()> {
        self.operate().map_err(|error| Error::file(path, operation, error))
    }

    /// Takes disk space; none is left if the plan says so.
    fn take_space(&self, len_bytes: usize) -> std::io::Result<()> {
        let before = self.written_bytes.fetch_add(len_bytes as u64, Ordering::Relaxed);
        match self.faults.full_after_bytes {
            Some(most) if before + len_bytes as u64 > most => Err(std::io::Error::from_raw_os_error(libc::ENOSPC)),
            _ => Ok(()),
        }
    }

    /// Damages what a read brought, if the plan says so.
    fn damage(&self, bytes: &mut [u8]) {
        let number = self.reads.fetch_add(1, Ordering::Relaxed);
        if bytes.is_empty() {
            return;
        }
        if self.faults.flip_at == Some(number) {
            let bit = mix(self.faults.seed ^ number) as usize % (8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        if self.faults.tear_at == Some(number) {
            let end = bytes.len().min(4096);
            bytes[end / 2..end].fill(0);
        }
    }
}

impl Backend for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn queue(&self, files: &[Arc<DataFile>], memory: Region, _depth: usize, _: usize) -> Result<Box<dyn Queue>> {
        Ok(Box::new(SimQueue {
            state: Arc::clone(&self.state),
            files: files.to_vec(),
            memory,
            waiting: Vec::new(),
            draws: 0,
        }))
    }

    fn create(&self, path: &Path) -> Result<Box<dyn Output>> {
        self.state.on_file(path, "create")?;
        let file = File::create_new(path).map_err(|error| Error::file(path, "create", error))?;
        self.state.ledger.created(path);
        Ok(Box::new(SimOutput { state: Arc::clone(&self.state), path: path.to_owned(), inner: OutputFile { file } }))
    }

    fn input(&self, path: &Path) -> Result<Box<dyn Read + Send>> {
        self.state.on_file(path, "open")?;
        let file = File::open(path).map_err(|error| Error::file(path, "open", error))?;
        Ok(Box::new(SimInput { state: Arc::clone(&self.state), file }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.state.on_file(from, "rename")?;
        self.state.ledger.assert_synced(from);
        std::fs::rename(from, to).map_err(|error| Error::file(from, "rename", error))?;
        self.state.ledger.renamed(from, to);
        Ok(())
    }

    fn exchange(&self, one: &Path, other: &Path) -> Result<()> {
        self.state.on_file(one, "exchange")?;
        self.state.ledger.assert_synced(one);
        crate::process::exchange(one, other).map_err(|error| Error::file(one, "exchange", error))?;
        self.state.ledger.exchanged(one, other);
        Ok(())
    }

    fn scratch(&self, path: &Path) -> Result<Box<dyn Scratch>> {
        self.state.on_file(path, "create")?;
        Ok(Box::new(SimScratch { state: Arc::clone(&self.state), inner: ScratchFile { file: create_scratch(path)? } }))
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        self.state.on_file(path, "sync")?;
        self.state.ledger.synced(path);
        Ok(())
    }
}

struct SimOutput {
    state: Arc<State>,
    path: PathBuf,
    inner: OutputFile,
}

impl Write for SimOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.state.operate()?;
        self.state.take_space(bytes.len())?;
        self.state.ledger.changed(&self.path);
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Output for SimOutput {
    fn sync(&mut self) -> std::io::Result<()> {
        self.state.operate()?;
        self.state.ledger.synced(&self.path);
        Ok(())
    }
}

struct SimScratch {
    state: Arc<State>,
    inner: ScratchFile,
}

impl Scratch for SimScratch {
    fn write_at(&self, bytes: &[u8], offset_bytes: u64) -> std::io::Result<()> {
        self.state.operate()?;
        self.state.take_space(bytes.len())?;
        self.inner.write_at(bytes, offset_bytes)
    }

    fn read_at(&self, bytes: &mut [u8], offset_bytes: u64) -> std::io::Result<()> {
        self.state.operate()?;
        self.inner.read_at(bytes, offset_bytes)
    }
}

struct SimInput {
    state: Arc<State>,
    file: File,
}

impl Read for SimInput {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.state.operate()?;
        self.file.read(bytes)
    }
}

struct SimQueue {
    state: Arc<State>,
    files: Vec<Arc<DataFile>>,
    memory: Region,
    waiting: Vec<Request>,
    draws: u64,
}

impl SimQueue {
    fn draw(&mut self, below: u64) -> u64 {
        self.draws += 1;
        mix(self.state.faults.seed.wrapping_mul(31).wrapping_add(self.draws)) % below.max(1)
    }

    fn perform(&mut self, mut request: Request) -> std::io::Result<usize> {
        self.state.operate()?;
        if request.len_bytes > 512 && self.draw(100) < self.state.faults.short_reads_percent {
            request.len_bytes = 512 * (1 + self.draw(request.len_bytes as u64 / 512 - 1) as usize);
        }
        let file = &self.files[request.file];
        // Direct reads want whole pages: read all of it and hand out a part.
        let whole = Request { len_bytes: request.len_bytes.next_multiple_of(4096), ..request };
        let got = read(file, self.memory, &whole)?.min(request.len_bytes);
        // SAFETY: these bytes belong to the request until it completes.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.memory.start.add(request.memory_bytes), got) };
        self.state.damage(bytes);
        Ok(got)
    }
}

impl Queue for SimQueue {
    unsafe fn push(&mut self, request: Request) -> Result<()> {
        self.waiting.push(request);
        Ok(())
    }

    fn submit(&mut self) -> Result<()> {
        Ok(())
    }

    fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let chosen = self.draw(self.waiting.len() as u64) as usize;
        let request = self.waiting.swap_remove(chosen);
        let result = self.perform(request);
        completions.push(Completion { tag: request.tag, result });
        Ok(())
    }
}

/// A well-mixed number of a number (SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
