//! A meter of the disk space of files: a back end that passes everything on to another one and counts.
//!
//! It counts the blocks that the file system has given to the files that were created through it, after every change of
//! one: holes and punched ranges take none, and a removed file none any more. A file without a name goes when it is
//! closed. Files in memory take no disk; what is written to them counts as written.

use super::{
    Backend, Change, Completion, FileStatus, Handle, Location, Lock, Open, Queue, Region, Request, Transfer, What,
};
use crate::directory::{DataFile, folder};
use crate::error::Result;
use crate::lock::lock;
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Size of the blocks that the operating system counts in.
const BLOCK_BYTES: u64 = 512;

/// Disk space of the files that were created through a back end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskUse {
    /// Most space of all files at a time, in bytes.
    pub peak_bytes: u64,
    /// Most space of temporary files at a time, in bytes.
    pub peak_temporary_bytes: u64,
    /// Bytes that were written to temporary files, whether or not these still exist.
    pub written_temporary_bytes: u64,
}

/// A back end that counts the disk space of the files that are created through it.
pub struct Metered {
    inner: Arc<dyn Backend>,
    meter: Arc<Meter>,
}

impl Metered {
    /// A meter of files of another back end; those in folders of this name are temporary.
    pub fn new(inner: &Arc<dyn Backend>, temporary: &'static str) -> Self {
        Metered { inner: Arc::clone(inner), meter: Arc::new(Meter { temporary, ledger: Mutex::default() }) }
    }

    /// The disk space until now.
    pub fn disk_use(&self) -> DiskUse {
        lock(&self.meter.ledger).disk_use
    }
}

struct Meter {
    /// The name of folders of temporary files.
    temporary: &'static str,
    ledger: Mutex<Ledger>,
}

#[derive(Default)]
struct Ledger {
    files: HashMap<(u64, u64), Entry>,
    /// Space of all files, and of temporary ones.
    bytes: u64,
    temporary_bytes: u64,
    disk_use: DiskUse,
}

#[derive(Default)]
struct Entry {
    bytes: u64,
    is_temporary: bool,
    has_name: bool,
}

impl Ledger {
    fn set(&mut self, identity: (u64, u64), bytes: u64) {
        let Some(entry) = self.files.get_mut(&identity) else { return };
        self.bytes = self.bytes - entry.bytes + bytes;
        if entry.is_temporary {
            self.temporary_bytes = self.temporary_bytes - entry.bytes + bytes;
        }
        entry.bytes = bytes;
        let DiskUse { peak_bytes, peak_temporary_bytes, .. } = &mut self.disk_use;
        *peak_bytes = self.bytes.max(*peak_bytes);
        *peak_temporary_bytes = self.temporary_bytes.max(*peak_temporary_bytes);
    }

    fn remove(&mut self, identity: (u64, u64)) {
        self.set(identity, 0);
        self.files.remove(&identity);
    }
}

/// The identity of an open file and its space in bytes.
fn space_of(file: &Handle) -> Option<((u64, u64), u64)> {
    match file {
        Handle::System(file) => {
            file.metadata().ok().map(|file| ((file.dev(), file.ino()), file.blocks() * BLOCK_BYTES))
        }
        Handle::Memory(file) => {
            let [device, number, ..] = file.identity();
            Some(((device, number), 0))
        }
    }
}

impl Meter {
    fn created(&self, file: &Handle, path: &Path, how: Open) {
        let has_name = how == Open::Create;
        let directory = if has_name { folder(path) } else { path };
        let is_temporary = directory.file_name().is_some_and(|name| name == self.temporary);
        if let Some((identity, bytes)) = space_of(file) {
            let mut ledger = lock(&self.ledger);
            ledger.remove(identity);
            ledger.files.insert(identity, Entry { bytes: 0, is_temporary, has_name });
            ledger.set(identity, bytes);
        }
    }

    /// Some bytes of a file were written, or its space changed.
    fn changed(&self, file: &Handle, written_bytes: u64) {
        let mut ledger = lock(&self.ledger);
        // Under the lock: of two changes at once the later one counts.
        let Some((identity, bytes)) = space_of(file) else { return };
        ledger.set(identity, bytes);
        if ledger.files.get(&identity).is_some_and(|entry| entry.is_temporary) {
            ledger.disk_use.written_temporary_bytes += written_bytes;
        }
    }
}

impl Backend for Metered {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn queue(&self, files: &[Arc<DataFile>], memory: Region, depth: usize, threads: usize) -> Result<Box<dyn Queue>> {
        let inner = self.inner.queue(files, memory, depth, threads)?;
        Ok(Box::new(MeteredQueue {
            inner,
            meter: Arc::clone(&self.meter),
            files: files.to_vec(),
            writes: HashMap::new(),
        }))
    }

    fn open(&self, place: Location<'_>, how: Open) -> std::io::Result<Handle> {
        let file = self.inner.open(place, how)?;
        if matches!(how, Open::Create | Open::Nameless) {
            self.meter.created(&file, &place.path(), how);
        }
        Ok(file)
    }

    fn close(&self, file: &Handle) {
        if let Some((identity, _)) = space_of(file) {
            let mut ledger = lock(&self.meter.ledger);
            if ledger.files.get(&identity).is_some_and(|entry| !entry.has_name) {
                ledger.remove(identity);
            }
        }
        self.inner.close(file);
    }

    fn read(&self, file: &Handle, bytes: &mut [u8], offset_bytes: u64) -> std::io::Result<usize> {
        self.inner.read(file, bytes, offset_bytes)
    }

    fn change(&self, change: &Change<'_>) -> std::io::Result<()> {
        if let Change::Remove { place } = change {
            // Under the lock: the number of a removed file may be that of the next one at once.
            let mut ledger = lock(&self.meter.ledger);
            let removed = self.inner.look(What::Itself(*place)).ok();
            self.inner.change(change)?;
            removed.iter().for_each(|removed| ledger.remove(removed.identity));
            return Ok(());
        }
        let result = self.inner.change(change);
        match *change {
            Change::Write { file, bytes, .. } => {
                self.meter.changed(file, if result.is_ok() { bytes.len() as u64 } else { 0 });
            }
            Change::Truncate { file, .. } | Change::Allocate { file, .. } | Change::Punch { file, .. } => {
                self.meter.changed(file, 0);
            }
            Change::Link { file, .. } => {
                if let (Some((identity, _)), true) = (space_of(file), result.is_ok()) {
                    lock(&self.meter.ledger).files.entry(identity).and_modify(|entry| entry.has_name = true);
                }
            }
            _ => {}
        }
        result
    }

    fn look(&self, what: What<'_>) -> std::io::Result<FileStatus> {
        self.inner.look(what)
    }

    fn list(&self, directory: Location<'_>) -> std::io::Result<Vec<OsString>> {
        self.inner.list(directory)
    }

    fn lock(&self, path: &Path) -> std::io::Result<Option<Lock>> {
        self.inner.lock(path)
    }

    fn free_bytes(&self, path: &Path) -> std::io::Result<u64> {
        self.inner.free_bytes(path)
    }

    fn resolve(&self, path: &Path) -> std::io::Result<PathBuf> {
        self.inner.resolve(path)
    }
}

/// A queue whose writes are counted once they have ended.
struct MeteredQueue {
    inner: Box<dyn Queue>,
    meter: Arc<Meter>,
    files: Vec<Arc<DataFile>>,
    /// The files of writes under way, by their tags.
    writes: HashMap<u32, usize>,
}

impl Queue for MeteredQueue {
    #[allow(unsafe_code)]
    unsafe fn push(&mut self, request: Request) -> Result<()> {
        if request.transfer == Transfer::Write {
            self.writes.insert(request.tag, request.file);
        }
        // SAFETY: the contract is that of the queue behind this one.
        unsafe { self.inner.push(request) }
    }

    fn submit(&mut self) -> Result<()> {
        self.inner.submit()
    }

    fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        let before = completions.len();
        let waited = self.inner.wait(completions);
        for Completion { tag, result } in &completions[before..] {
            if let Some(file) = self.writes.remove(tag) {
                self.meter.changed(self.files[file].file(), *result.as_ref().unwrap_or(&0) as u64);
            }
        }
        waited
    }
}

#[cfg(test)]
mod tests {
    use super::super::Posix;
    use super::*;
    use crate::{Runtime, RuntimeOptions, Spill, SpillWriter, Writer};

    #[test]
    fn space_goes_with_files_and_punched_ranges_and_the_peak_stays() {
        let directory = tempfile::tempdir().unwrap();
        let temporary = directory.path().join("temporary");
        std::fs::create_dir(&temporary).unwrap();
        for inner in [Arc::new(Posix) as Arc<dyn Backend>, super::super::best()] {
            let metered = Arc::new(Metered::new(&inner, "temporary"));
            let backend: Arc<dyn Backend> = metered.clone();
            let options = RuntimeOptions { backend: Some(Arc::clone(&backend)), ..RuntimeOptions::default() };
            let runtime = Runtime::new(options).unwrap();
            let megabytes = |count: usize| vec![7; count << 20];
            let expect = |peak: u64, peak_temporary: u64, written: u64| {
                let found = metered.disk_use();
                let pairs = [
                    (found.peak_bytes, peak),
                    (found.peak_temporary_bytes, peak_temporary),
                    (found.written_temporary_bytes, written),
                ];
                // A file system may add blocks of its own.
                assert!(pairs.iter().all(|&(found, expected)| found.abs_diff(expected << 20) < 1 << 17), "{found:?}");
            };
            let spill = Spill::create(&backend, &temporary.join("spill")).unwrap();
            let mut writer = SpillWriter::new(&runtime, &spill, 1 << 30, 1 << 16).unwrap();
            writer.bytes(&megabytes(3)).unwrap();
            writer.finish().unwrap();
            // All before it is a hole.
            expect(3, 3, 3);
            // Written again it takes no more space.
            spill.write(&megabytes(2), 1 << 30).unwrap();
            expect(3, 3, 5);
            drop(spill);
            let image = directory.path().join("image");
            let mut writer = Writer::create(&runtime, "a test", &image, 1 << 18).unwrap();
            writer.put(&megabytes(2)).unwrap();
            writer.finish().unwrap();
            expect(3, 3, 5);
            let segment = temporary.join("segment");
            let mut writer = Writer::create_temporary(&runtime, "a test", &segment, 1 << 16).unwrap();
            writer.put(&megabytes(2)).unwrap();
            writer.close().unwrap();
            expect(4, 3, 7);
            let file = DataFile::open_as(&backend, Location::at(&segment), Open::Write).unwrap();
            backend.change(&Change::Punch { file: file.file(), offset_bytes: 0, len_bytes: 1 << 20 }).unwrap();
            drop(file);
            let spill = Spill::create(&backend, &temporary.join("spill")).unwrap();
            spill.write(&megabytes(2), 0).unwrap();
            expect(5, 3, 9);
            backend.remove(&segment).unwrap();
            spill.write(&megabytes(2), 2 << 20).unwrap();
            expect(6, 4, 11);
            backend.remove(&image).unwrap();
            drop(spill);
            assert!(lock(&metered.meter.ledger).files.is_empty());
            assert_eq!(lock(&metered.meter.ledger).bytes, 0);
        }
    }
}
