//! The `sim` back end: real files behind a device that misbehaves by a plan.
//!
//! Requests of a queue complete in a seeded random order, some reads and writes short. By the plan, the k-th operation
//! fails, a read returns a flipped bit or a torn page, or the disk is full after a number of bytes. Operations are
//! counted over files opened, reads, changes and requests alike, so *fail the k-th for k = 0, 1, 2, ...* covers them
//! all. Looks, lists and locks are not counted: for them a failure means the same as finding nothing. A ledger holds
//! unsynced changes: renaming an unsynced file or directory panics. An optional recorder keeps the trace of all
//! changes, from which [`CrashStates`](super::CrashStates) derives the states that a power failure may leave.
#![allow(unsafe_code)]

use super::ledger::Ledger;
use super::posix::bytes_of;
use super::record::{Operation, Recorder, Trace};
use super::{Backend, Change, Completion, Handle, Location, Open, Queue, Region, Request, Transfer, What, system};
use crate::directory::DataFile;
use crate::error::Result;
use crate::lock::lock;
use crate::mix::split_mix;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The plan of faults.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Seeds the order of completions and the lengths of short reads.
    pub seed: u64,
    /// Every read has this chance, in percent, to be cut short at a multiple of 512 bytes.
    pub short_reads_percent: u64,
    /// Every write of a queue has this chance, in percent, to be cut short at a multiple of 512 bytes, and not below a
    /// page, the unit of direct writes.
    pub short_writes_percent: u64,
    /// The operation with this number (from 0) fails with an input/output error.
    pub fail_at: Option<u64>,
    /// The read with this number returns one flipped bit.
    pub flip_at: Option<u64>,
    /// The read with this number returns zeros from the middle of its first page on.
    pub tear_at: Option<u64>,
    /// The disk is full after this number of written bytes.
    pub full_after_bytes: Option<u64>,
    /// The operation with this number (from 0) and all later ones fail, as if the process were killed there.
    pub dead_from: Option<u64>,
    /// The sync with this number (from 0, of files and directories alike) reports success without being done.
    pub forget_sync: Option<u64>,
    /// Names cannot be exchanged.
    pub no_exchange: bool,
}

/// Real files behind a device that misbehaves by a plan.
pub struct Sim {
    state: Arc<State>,
}

struct State {
    faults: Faults,
    /// While set, no operation, read or written byte is counted, and none fails by its number. Syncs still count.
    is_asleep: AtomicBool,
    operations: AtomicU64,
    reads: AtomicU64,
    syncs: AtomicU64,
    written_bytes: AtomicU64,
    ledger: Ledger,
    recorder: Option<Arc<Mutex<Recorder>>>,
}

impl Sim {
    /// A device with these faults.
    pub fn new(faults: Faults) -> Self {
        Sim::with(faults, None)
    }

    /// A device with these faults that keeps the trace of operations below a directory.
    ///
    /// # Errors
    /// A directory whose contents cannot be read.
    pub fn recording(faults: Faults, directory: &Path) -> std::io::Result<Self> {
        Ok(Sim::with(faults, Some(Arc::new(Mutex::new(Recorder::new(directory)?)))))
    }

    /// This device with other faults, as another process finds it: the trace continues.
    #[must_use]
    pub fn again(&self, faults: Faults) -> Self {
        Sim::with(faults, self.state.recorder.clone())
    }

    fn with(faults: Faults, recorder: Option<Arc<Mutex<Recorder>>>) -> Self {
        Sim {
            state: Arc::new(State {
                faults,
                is_asleep: AtomicBool::new(false),
                operations: AtomicU64::new(0),
                reads: AtomicU64::new(0),
                syncs: AtomicU64::new(0),
                written_bytes: AtomicU64::new(0),
                ledger: Ledger::default(),
                recorder,
            }),
        }
    }

    /// The operations so far below the recorded directory, if there is one.
    pub fn trace(&self) -> Option<Trace> {
        self.state.recorder.as_ref().map(|recorder| lock(recorder).trace().clone())
    }

    /// The number of syncs of files and directories so far.
    pub fn syncs(&self) -> u64 {
        self.state.syncs.load(Ordering::Relaxed)
    }

    /// Disables the counting of operations, reads and written bytes, and the faults that depend on it, until
    /// [`wake`](Sim::wake) is called: for tests that open an image first.
    #[must_use]
    pub fn asleep(self) -> Self {
        self.state.is_asleep.store(true, Ordering::Relaxed);
        self
    }

    /// Enables the counting and the faults again.
    pub fn wake(&self) {
        self.state.is_asleep.store(false, Ordering::Relaxed);
    }

    /// The number of operations so far.
    pub fn operations(&self) -> u64 {
        self.state.operations.load(Ordering::Relaxed)
    }

    /// The files and directories that were changed, still exist and were not synced: a power failure may undo the
    /// change.
    pub fn unsynced(&self) -> Vec<PathBuf> {
        self.state.ledger.unsynced()
    }
}

impl State {
    /// Counts an operation; fails it if the plan demands it.
    fn operate(&self) -> std::io::Result<()> {
        if self.is_asleep.load(Ordering::Relaxed) {
            return Ok(());
        }
        let number = self.operations.fetch_add(1, Ordering::Relaxed);
        if self.faults.fail_at == Some(number) || self.faults.dead_from.is_some_and(|from| number >= from) {
            return Err(std::io::Error::from_raw_os_error(libc::EIO));
        }
        Ok(())
    }

    /// Takes disk space; fails if the plan says that the disk is full.
    fn take_space(&self, len_bytes: usize) -> std::io::Result<()> {
        if self.is_asleep.load(Ordering::Relaxed) {
            return Ok(());
        }
        let before = self.written_bytes.fetch_add(len_bytes as u64, Ordering::Relaxed);
        match self.faults.full_after_bytes {
            Some(most) if before + len_bytes as u64 > most => Err(std::io::Error::from_raw_os_error(libc::ENOSPC)),
            _ => Ok(()),
        }
    }

    /// Damages the bytes of a read, if the plan demands it.
    fn damage(&self, bytes: &mut [u8]) {
        if self.is_asleep.load(Ordering::Relaxed) {
            return;
        }
        let number = self.reads.fetch_add(1, Ordering::Relaxed);
        if bytes.is_empty() {
            return;
        }
        if self.faults.flip_at == Some(number) {
            let bit = split_mix(self.faults.seed ^ number) as usize % (8 * bytes.len());
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

    fn open(&self, place: Location<'_>, how: Open) -> std::io::Result<Handle> {
        let path = place.path();
        if matches!(how, Open::Directory | Open::OwnDirectory) {
            return system::open(place, how).map(Handle::System);
        }
        self.state.operate()?;
        let mut recorder = self.state.recorder.as_deref().map(lock);
        let file = Handle::System(system::open(place, how)?);
        let identity = system::look(What::Open(&file))?.identity;
        match how {
            Open::Create => {
                self.state.ledger.created(&path);
                self.state.ledger.opened(identity, &path);
                if let Some(recorder) = &mut recorder {
                    recorder.created(identity, &path);
                }
            }
            Open::Write => {
                self.state.ledger.opened(identity, &path);
                if let Some(recorder) = &mut recorder {
                    recorder.opened(identity, &path);
                }
            }
            Open::Nameless => {
                self.state.ledger.nameless(identity);
                if let Some(recorder) = &mut recorder {
                    recorder.created_nameless(identity, &path);
                }
            }
            _ => {}
        }
        Ok(file)
    }

    fn read(&self, file: &Handle, bytes: &mut [u8], offset_bytes: u64) -> std::io::Result<usize> {
        self.state.operate()?;
        system::read(file.system()?, bytes, offset_bytes)
    }

    fn change(&self, change: &Change<'_>) -> std::io::Result<()> {
        self.state.change(change)
    }
}

impl State {
    /// Performs a change, if the plan lets it, and records it.
    fn change(&self, change: &Change<'_>) -> std::io::Result<()> {
        self.operate()?;
        if let Change::Write { bytes, .. } = change {
            self.take_space(bytes.len())?;
        }
        let mut recorder = self.recorder.as_deref().map(lock);
        match *change {
            Change::Sync { .. } | Change::SyncDirectory { .. } => {
                // No power failure happens here: only the request for a sync counts.
                let number = self.syncs.fetch_add(1, Ordering::Relaxed);
                self.note_in_ledger(change)?;
                if self.faults.forget_sync == Some(number) {
                    return Ok(());
                }
            }
            Change::Exchange { .. } if self.faults.no_exchange => return Err(ErrorKind::Unsupported.into()),
            Change::Rename { from, .. } | Change::Exchange { one: from, .. } => {
                self.ledger.assert_synced(from);
                system::change(change)?;
                self.note_in_ledger(change)?;
            }
            _ => {
                system::change(change)?;
                self.note_in_ledger(change)?;
            }
        }
        match &mut recorder {
            Some(recorder) => note_in_trace(recorder, change),
            None => Ok(()),
        }
    }

    fn note_in_ledger(&self, change: &Change<'_>) -> std::io::Result<()> {
        let path_of = |file| Ok::<_, std::io::Error>(self.ledger.path_of(system::look(What::Open(file))?.identity));
        match *change {
            Change::Write { file, .. }
            | Change::Truncate { file, .. }
            | Change::Allocate { file, .. }
            | Change::Punch { file, .. } => path_of(file)?.iter().for_each(|path| self.ledger.changed(path)),
            Change::Sync { file } => path_of(file)?.iter().for_each(|path| self.ledger.synced(path)),
            Change::SyncDirectory { directory } => self.ledger.synced(directory),
            Change::CreateDirectory { directory } => self.ledger.created(directory),
            Change::Rename { from, to } => self.ledger.renamed(from, to),
            Change::Exchange { one, other } => self.ledger.exchanged(one, other),
            Change::Link { file, path } => {
                self.ledger.opened(system::look(What::Open(file))?.identity, path);
                self.ledger.created(path);
            }
            // A file that returns after a power failure is a leftover; its removal was never promised.
            Change::Remove { .. } | Change::Permit { .. } => {}
        }
        Ok(())
    }
}

fn note_in_trace(recorder: &mut Recorder, change: &Change<'_>) -> std::io::Result<()> {
    let identity = |file| Ok::<_, std::io::Error>(system::look(What::Open(file))?.identity);
    match *change {
        Change::Write { file, offset_bytes, bytes } => {
            recorder.changed(identity(file)?, |node| Operation::Write { node, offset_bytes, bytes: bytes.into() });
        }
        Change::Truncate { file, len_bytes } => {
            recorder.changed(identity(file)?, |node| Operation::Truncate { node, len_bytes });
        }
        Change::Allocate { file, offset_bytes, len_bytes } => {
            let end_bytes = offset_bytes + len_bytes;
            recorder.changed(identity(file)?, |node| Operation::Allocate { node, end_bytes });
        }
        Change::Punch { file, offset_bytes, len_bytes } => {
            recorder.changed(identity(file)?, |node| Operation::Punch { node, offset_bytes, len_bytes });
        }
        Change::Sync { file } => recorder.changed(identity(file)?, |node| Operation::Sync { node }),
        Change::SyncDirectory { directory } => recorder.synced_directory(directory),
        Change::CreateDirectory { directory } => recorder.created_directory(directory),
        Change::Rename { from, to } => recorder.renamed(from, to),
        Change::Exchange { one, other } => recorder.exchanged(one, other),
        Change::Link { file, path } => recorder.linked(identity(file)?, path),
        Change::Remove { place } => recorder.removed(&place.path()),
        Change::Permit { .. } => {}
    }
    Ok(())
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
        split_mix(self.state.faults.seed.wrapping_mul(31).wrapping_add(self.draws)) % below.max(1)
    }

    /// Cuts a request short by chance, to a multiple of 512 bytes that is at least `least` of them.
    fn cut(&mut self, request: &mut Request, percent: u64, least: u64) {
        let sectors = request.len_bytes as u64 / 512;
        if percent > 0 && sectors > least && self.draw(100) < percent {
            request.len_bytes = 512 * (least + self.draw(sectors - least)) as usize;
        }
    }

    fn perform(&mut self, mut request: Request) -> std::io::Result<usize> {
        let data = Arc::clone(&self.files[request.file]);
        let file = data.file();
        if request.transfer == Transfer::Write {
            self.cut(&mut request, self.state.faults.short_writes_percent, 8);
            // SAFETY: these bytes belong to the request until it completes.
            let bytes = unsafe { bytes_of(self.memory, &request) };
            self.state.change(&Change::Write { file, offset_bytes: request.offset_bytes, bytes })?;
            return Ok(request.len_bytes);
        }
        self.state.operate()?;
        let most_bytes = request.len_bytes;
        self.cut(&mut request, self.state.faults.short_reads_percent, 1);
        // Direct reads need whole pages: read all of it and return a part.
        let whole = Request { len_bytes: request.len_bytes.next_multiple_of(4096).min(most_bytes), ..request };
        // SAFETY: as above; what is read beyond a request that was cut short is the request's too.
        let bytes = unsafe { bytes_of(self.memory, &whole) };
        let got = system::read(file.system()?, bytes, request.offset_bytes)?.min(request.len_bytes);
        self.state.damage(&mut bytes[..got]);
        Ok(got)
    }
}

impl Queue for SimQueue {
    unsafe fn push(&mut self, request: Request) -> Result<()> {
        self.waiting.push(request);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_sleeps_counts_no_written_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let sim = Sim::new(Faults { full_after_bytes: Some(4), ..Faults::default() }).asleep();
        let file = sim.open(Location::at(&directory.path().join("file")), Open::Create).unwrap();
        let write = |bytes: &[u8]| sim.change(&Change::Write { file: &file, offset_bytes: 0, bytes });
        write(&[1; 100]).unwrap();
        sim.wake();
        write(&[2; 4]).unwrap();
        assert_eq!(write(&[3]).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    }
}
