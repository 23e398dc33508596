//! The `memory` back end: a folder in memory, beside the files of another back end.
//!
//! It is for small graphs, and for graphs that are rebuilt so often that files are not worth it. A file in
//! [`Memory::folder`] has no name outside of its back end, takes no descriptor, counts in the budget, and is freed with
//! its last user. Readers copy from it as from a device, so no page is in memory twice. The list of a file's pages
//! counts too, and what the allocator adds to each page.
#![allow(unsafe_code)]

use super::posix::bytes_of;
use super::{
    Access, Backend, Change, Completion, FileKind, FileStatus, Handle, Location, Lock, Open, Queue, Region, Request,
    Transfer, What,
};
use crate::budget::{Budget, Reservation};
use crate::buffer::PAGE_BYTES;
use crate::directory::{DataFile, folder};
use crate::error::Result;
use crate::lock::lock;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The folder. No name of a user's file begins like this.
const FOLDER: &str = "<memory>";
const PURPOSE: &str = "files in memory";
/// Memory of a page: the allocator adds two words.
const STORED_PAGE_BYTES: u64 = PAGE_BYTES as u64 + 16;
/// Memory of a page in the list of a file's pages.
const LISTED_PAGE_BYTES: u64 = size_of::<Option<Box<[u8; PAGE_BYTES]>>>() as u64;

/// A folder in memory, beside another back end.
pub struct Memory {
    outer: Arc<dyn Backend>,
    account: Arc<Account>,
    /// Files and folders by their paths.
    nodes: Mutex<BTreeMap<PathBuf, Arc<MemoryFile>>>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

/// The memory that the files of a back end hold.
struct Account {
    budget: Arc<Budget>,
    reservation: Reservation,
}

impl Account {
    /// Reserves more memory; caches shrink first if they must.
    fn take(&self, bytes: u64) -> std::io::Result<()> {
        while !self.reservation.grow(bytes) {
            let free = self.budget.reserve(PURPOSE, bytes);
            drop(free.map_err(|error| std::io::Error::new(ErrorKind::OutOfMemory, error))?);
        }
        Ok(())
    }

    fn give_back(&self, bytes: u64) {
        self.reservation.shrink(bytes);
    }
}

/// A file, or a folder, in memory.
pub struct MemoryFile {
    account: Arc<Account>,
    is_folder: bool,
    /// A number that no other file of the process has or had.
    number: u64,
    content: RwLock<Content>,
}

#[derive(Default)]
struct Content {
    len_bytes: u64,
    /// The pages; `None` for pages without memory, which read as zeros.
    pages: Vec<Option<Box<[u8; PAGE_BYTES]>>>,
    changes: u64,
}

impl std::fmt::Debug for MemoryFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryFile").field("number", &self.number).finish_non_exhaustive()
    }
}

impl MemoryFile {
    fn new(account: &Arc<Account>, is_folder: bool) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (account, number) = (Arc::clone(account), NEXT.fetch_add(1, Ordering::Relaxed));
        Arc::new(MemoryFile { account, is_folder, number, content: RwLock::default() })
    }

    fn content(&self) -> RwLockReadGuard<'_, Content> {
        self.content.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn content_mut(&self) -> RwLockWriteGuard<'_, Content> {
        self.content.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`DataFile::identity`].
    pub(crate) fn identity(&self) -> [u64; 5] {
        let content = self.content();
        // No device of the operating system has this number.
        [u64::MAX, self.number, content.len_bytes, content.changes, 0]
    }

    fn status(&self) -> FileStatus {
        let kind = if self.is_folder { FileKind::Directory } else { FileKind::File };
        FileStatus {
            kind,
            len_bytes: self.content().len_bytes,
            identity: (u64::MAX, self.number),
            access: Access::default(),
            modified: None,
        }
    }

    /// Reads from an offset on, as many bytes as there are.
    fn read(&self, bytes: &mut [u8], offset_bytes: u64) -> usize {
        let content = self.content();
        let remaining = content.len_bytes.saturating_sub(offset_bytes);
        let len = bytes.len().min(usize::try_from(remaining).unwrap_or(usize::MAX));
        for (page, within, place) in pieces(offset_bytes, len) {
            let part = &mut bytes[place];
            match content.pages.get(page).and_then(Option::as_ref) {
                Some(page) => part.copy_from_slice(&page[within..within + part.len()]),
                None => part.fill(0),
            }
        }
        len
    }

    fn write(&self, bytes: &[u8], offset_bytes: u64) -> std::io::Result<()> {
        let mut content = self.content_mut();
        let end = offset_bytes.checked_add(bytes.len() as u64).ok_or(ErrorKind::FileTooLarge)?;
        let last = usize::try_from(end.div_ceil(PAGE_BYTES as u64)).map_err(|_| ErrorKind::FileTooLarge)?;
        let is_new = |page: usize| content.pages.get(page).is_none_or(Option::is_none);
        let new = pieces(offset_bytes, bytes.len()).filter(|&(page, ..)| is_new(page)).count();
        self.list(&mut content, last)?;
        self.account.take(new as u64 * STORED_PAGE_BYTES)?;
        if content.pages.len() < last {
            content.pages.resize_with(last, || None);
        }
        for (page, within, place) in pieces(offset_bytes, bytes.len()) {
            let page = content.pages[page].get_or_insert_with(|| Box::new([0; PAGE_BYTES]));
            let part = &bytes[place];
            page[within..within + part.len()].copy_from_slice(part);
        }
        content.len_bytes = content.len_bytes.max(end);
        content.changes += 1;
        Ok(())
    }

    /// Makes room for a number of pages in their list.
    fn list(&self, content: &mut Content, pages: usize) -> std::io::Result<()> {
        let before = content.pages.capacity();
        if pages <= before {
            return Ok(());
        }
        // The old and the new list are there together for a moment.
        let take = |capacity: usize| self.account.take(capacity as u64 * LISTED_PAGE_BYTES).map(|()| capacity);
        let capacity = take(pages.max(2 * before)).or_else(|_| take(pages))?;
        content.pages.reserve_exact(capacity - content.pages.len());
        self.account.give_back(before as u64 * LISTED_PAGE_BYTES);
        Ok(())
    }

    fn truncate(&self, len_bytes: u64) {
        let mut content = self.content_mut();
        if len_bytes < content.len_bytes {
            self.clear(&mut content, len_bytes, u64::MAX);
        }
        content.len_bytes = len_bytes;
        content.changes += 1;
    }

    /// Zeroes the bytes, and frees the pages that hold nothing else.
    fn clear(&self, content: &mut Content, from: u64, to: u64) {
        let to = to.min((content.pages.len() * PAGE_BYTES) as u64);
        let mut freed = 0;
        for (page, within, place) in pieces(from, to.saturating_sub(from) as usize) {
            let slot = &mut content.pages[page];
            if place.len() == PAGE_BYTES {
                freed += u64::from(slot.take().is_some());
            } else if let Some(page) = slot {
                page[within..within + place.len()].fill(0);
            }
        }
        self.account.give_back(freed * STORED_PAGE_BYTES);
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        let content = self.content.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (pages, listed) = (content.pages.iter().flatten().count() as u64, content.pages.capacity() as u64);
        self.account.give_back(pages * STORED_PAGE_BYTES + listed * LISTED_PAGE_BYTES);
    }
}

/// The pages that `len` bytes from an offset on occupy: page number, offset within the page, and range of the bytes.
fn pieces(offset_bytes: u64, len: usize) -> impl Iterator<Item = (usize, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset_bytes + done as u64;
        let within = (at % PAGE_BYTES as u64) as usize;
        let size = (PAGE_BYTES - within).min(len - done);
        let place = done..done + size;
        done += size;
        (size > 0).then(|| ((at / PAGE_BYTES as u64) as usize, within, place))
    })
}

fn memory_of(file: &Handle) -> Option<&MemoryFile> {
    match file {
        Handle::Memory(file) => Some(file),
        Handle::System(_) => None,
    }
}

impl Memory {
    /// An empty folder, whose files are counted in the budget, beside what another back end reaches.
    ///
    /// # Errors
    /// [`Error::OtherProcess`](crate::Error::OtherProcess).
    pub fn new(budget: &Arc<Budget>, outer: Arc<dyn Backend>) -> Result<Self> {
        let account = Arc::new(Account { budget: Arc::clone(budget), reservation: budget.reserve(PURPOSE, 0)? });
        let folder = MemoryFile::new(&account, true);
        Ok(Memory { outer, account, nodes: Mutex::new(BTreeMap::from([(PathBuf::from(FOLDER), folder)])) })
    }

    /// The folder.
    pub fn folder() -> &'static Path {
        Path::new(FOLDER)
    }

    /// Whether a path leads into the folder.
    fn has(path: &Path) -> bool {
        path.starts_with(FOLDER)
    }

    fn node(&self, path: &Path) -> std::io::Result<Arc<MemoryFile>> {
        Ok(Arc::clone(lock(&self.nodes).get(path).ok_or(ErrorKind::NotFound)?))
    }

    /// Adds a node at a free path, in a folder that exists.
    fn add(&self, path: &Path, node: Arc<MemoryFile>) -> std::io::Result<()> {
        let mut nodes = lock(&self.nodes);
        if !nodes.get(folder(path)).is_some_and(|parent| parent.is_folder) {
            return Err(ErrorKind::NotFound.into());
        }
        if nodes.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        nodes.insert(path.to_owned(), node);
        Ok(())
    }

    /// Renames a file, or a folder with everything in it.
    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        let mut nodes = lock(&self.nodes);
        if !nodes.contains_key(from) {
            return Err(ErrorKind::NotFound.into());
        }
        if nodes.get(to).is_some_and(|there| there.is_folder) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let moved: Vec<PathBuf> = nodes.keys().filter(|path| path.starts_with(from)).cloned().collect();
        for path in moved {
            let node = nodes.remove(&path).expect("it was there");
            // Joining an empty path would add a slash.
            let below = path.strip_prefix(from).expect("it begins so");
            nodes.insert(to.components().chain(below.components()).collect(), node);
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> std::io::Result<()> {
        let mut nodes = lock(&self.nodes);
        if nodes.keys().any(|other| folder(other) == path) {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        nodes.remove(path).map(drop).ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl Backend for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn queue(&self, files: &[Arc<DataFile>], memory: Region, depth: usize, threads: usize) -> Result<Box<dyn Queue>> {
        if files.iter().any(|file| memory_of(file.file()).is_none()) {
            return self.outer.queue(files, memory, depth, threads);
        }
        Ok(Box::new(MemoryQueue { files: files.to_vec(), memory, done: Vec::new() }))
    }

    fn open(&self, place: Location<'_>, how: Open) -> std::io::Result<Handle> {
        let path = place.path();
        if !Memory::has(&path) {
            return self.outer.open(place, how);
        }
        let node = match how {
            Open::Create => {
                let node = MemoryFile::new(&self.account, false);
                self.add(&path, Arc::clone(&node))?;
                node
            }
            Open::Nameless => MemoryFile::new(&self.account, false),
            _ => self.node(&path)?,
        };
        if node.is_folder != matches!(how, Open::Directory | Open::OwnDirectory) {
            let kind = if node.is_folder { ErrorKind::IsADirectory } else { ErrorKind::NotADirectory };
            return Err(kind.into());
        }
        Ok(Handle::Memory(node))
    }

    fn read(&self, file: &Handle, bytes: &mut [u8], offset_bytes: u64) -> std::io::Result<usize> {
        match memory_of(file) {
            Some(file) => Ok(file.read(bytes, offset_bytes)),
            None => self.outer.read(file, bytes, offset_bytes),
        }
    }

    fn change(&self, change: &Change<'_>) -> std::io::Result<()> {
        match *change {
            Change::Write { file: Handle::Memory(file), offset_bytes, bytes } => file.write(bytes, offset_bytes),
            Change::Truncate { file: Handle::Memory(file), len_bytes } => {
                file.truncate(len_bytes);
                Ok(())
            }
            // Memory is reserved at the write.
            Change::Allocate { file: Handle::Memory(file), offset_bytes, len_bytes } => {
                let end = offset_bytes.saturating_add(len_bytes);
                let mut content = file.content_mut();
                content.len_bytes = content.len_bytes.max(end);
                Ok(())
            }
            Change::Punch { file: Handle::Memory(file), offset_bytes, len_bytes } => {
                file.clear(&mut file.content_mut(), offset_bytes, offset_bytes.saturating_add(len_bytes));
                Ok(())
            }
            Change::Sync { file: Handle::Memory(_) } => Ok(()),
            Change::SyncDirectory { directory } if Memory::has(directory) => Ok(()),
            Change::CreateDirectory { directory } if Memory::has(directory) => {
                self.add(directory, MemoryFile::new(&self.account, true))
            }
            Change::Rename { from, to } if Memory::has(from) && Memory::has(to) => self.rename(from, to),
            Change::Exchange { one, other } if Memory::has(one) || Memory::has(other) => {
                Err(ErrorKind::Unsupported.into())
            }
            Change::Link { file: Handle::Memory(file), path } => self.add(path, Arc::clone(file)),
            Change::Permit { path, .. } if Memory::has(path) => Ok(()),
            Change::Remove { place } if Memory::has(&place.path()) => self.remove(&place.path()),
            _ => self.outer.change(change),
        }
    }

    fn look(&self, what: What<'_>) -> std::io::Result<FileStatus> {
        match what {
            What::Named(path) if Memory::has(path) => Ok(self.node(path)?.status()),
            What::Itself(place) if Memory::has(&place.path()) => Ok(self.node(&place.path())?.status()),
            What::Open(Handle::Memory(file)) => Ok(file.status()),
            _ => self.outer.look(what),
        }
    }

    fn list(&self, directory: Location<'_>) -> std::io::Result<Vec<OsString>> {
        let path = directory.path();
        if !Memory::has(&path) {
            return self.outer.list(directory);
        }
        // Joining an empty name leaves a slash, which is no part of the path.
        let path: PathBuf = path.components().collect();
        self.node(&path)?;
        let nodes = lock(&self.nodes);
        let within = nodes.keys().filter(|other| folder(other) == path);
        Ok(within.filter_map(|path| path.file_name()).map(OsString::from).collect())
    }

    fn lock(&self, path: &Path) -> std::io::Result<Option<Lock>> {
        if !Memory::has(path) {
            return self.outer.lock(path);
        }
        self.node(path)?;
        // No other process can reach it.
        Ok(Some(Lock { _file: None }))
    }

    fn free_bytes(&self, path: &Path) -> std::io::Result<u64> {
        if Memory::has(path) { Ok(self.account.budget.available_bytes()) } else { self.outer.free_bytes(path) }
    }

    fn resolve(&self, path: &Path) -> std::io::Result<PathBuf> {
        if !Memory::has(path) {
            return self.outer.resolve(path);
        }
        self.node(path).map(|_| path.to_owned())
    }
}

/// A queue that completes requests at once.
struct MemoryQueue {
    files: Vec<Arc<DataFile>>,
    memory: Region,
    done: Vec<Completion>,
}

impl Queue for MemoryQueue {
    unsafe fn push(&mut self, request: Request) -> Result<()> {
        // SAFETY: by the contract of `Queue::push` these bytes are the request's until it completes.
        let bytes = unsafe { bytes_of(self.memory, &request) };
        let file = memory_of(self.files[request.file].file());
        let result = match (file, request.transfer) {
            (Some(file), Transfer::Read) => Ok(file.read(bytes, request.offset_bytes)),
            (Some(file), Transfer::Write) => file.write(bytes, request.offset_bytes).map(|()| request.len_bytes),
            (None, _) => Err(ErrorKind::Unsupported.into()),
        };
        self.done.push(Completion { tag: request.tag, result });
        Ok(())
    }

    fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        completions.append(&mut self.done);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn memory(usable_bytes: u64) -> (Arc<Budget>, Arc<dyn Backend>) {
        let budget = Arc::new(Budget::new(crate::budget::SLACK_BYTES + usable_bytes, 0).unwrap());
        let backend = Arc::new(Memory::new(&budget, Arc::new(crate::backend::Posix)).unwrap());
        (budget, backend)
    }

    #[test]
    fn files_are_read_as_they_were_written_and_give_their_memory_back() {
        let (budget, backend) = memory(1 << 20);
        let path = Memory::folder().join("file");
        let file = DataFile::open_as(&backend, Location::at(&path), Open::Create).unwrap();
        let bytes: Vec<u8> = (0..10_000_u32).map(|place| (place % 251) as u8).collect();
        file.write_at(&bytes, 5000).unwrap();
        assert_eq!(file.len_bytes_now().unwrap(), 15_000);
        // The first page was never written.
        assert_eq!(budget.reserved_bytes(), 3 * STORED_PAGE_BYTES + 4 * 8);
        let mut read = vec![1; 15_000];
        file.read_at(&mut read, 0).unwrap();
        assert!(read[..5000].iter().all(|&byte| byte == 0) && read[5000..] == bytes);
        assert_eq!(file.read_some(&mut read, 15_000).unwrap(), 0);
        let handle = file.file();
        backend.change(&Change::Punch { file: handle, offset_bytes: 6000, len_bytes: 2192 + 4096 + 1 }).unwrap();
        assert_eq!(budget.reserved_bytes(), 2 * STORED_PAGE_BYTES + 4 * 8);
        file.read_at(&mut read, 0).unwrap();
        assert!(read[5000..6000] == bytes[..1000] && read[12_289..] == bytes[7289..]);
        assert!(read[6000..12_289].iter().all(|&byte| byte == 0));
        backend.change(&Change::Truncate { file: handle, len_bytes: 5001 }).unwrap();
        backend.change(&Change::Truncate { file: handle, len_bytes: 6000 }).unwrap();
        file.read_at(&mut read[..6000], 0).unwrap();
        assert!(read[5001..6000].iter().all(|&byte| byte == 0));
        let before = file.identity().unwrap();
        file.write_at(&[7], 0).unwrap();
        assert_ne!(file.identity().unwrap(), before);
        backend.remove(&path).unwrap();
        assert!(budget.reserved_bytes() > 0, "whoever has it open keeps it");
        drop(file);
        assert_eq!(budget.reserved_bytes(), 0);
    }

    #[test]
    fn a_list_of_pages_is_reserved_before_it_grows() {
        let (budget, backend) = memory(20 << 20);
        let path = Memory::folder().join("file");
        let file = DataFile::open_as(&backend, Location::at(&path), Open::Create).unwrap();
        // A page far behind the others has a long list before it.
        file.write_at(&[7], 4 << 30).unwrap();
        assert_eq!(budget.reserved_bytes(), STORED_PAGE_BYTES + ((1 << 20) + 1) * 8);
        let refused = Error::file(&path, "write", file.write_at(&[7], 16 << 30).unwrap_err());
        assert!(
            matches!(refused, Error::Memory { needed_bytes, .. } if needed_bytes == ((4 << 20) + 1) * 8),
            "{refused}"
        );
        drop(file);
        backend.remove(&path).unwrap();
        assert_eq!(budget.reserved_bytes(), 0);
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    #[allow(unsafe_code)]
    fn files_are_dropped_in_a_fork_while_the_ledger_is_locked() {
        let (budget, backend) = memory(1 << 20);
        let path = Memory::folder().join("file");
        let file = DataFile::open_as(&backend, Location::at(&path), Open::Create).unwrap();
        file.write_at(&[7; 5000], 0).unwrap();
        let reservation = budget.reserve("a test", 100).unwrap();
        let child = budget.with_locked_ledger(|| {
            // SAFETY: the child calls nothing but drops, and ends.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let before = reservation.bytes();
                reservation.shrink(10);
                reservation.rename("another");
                let is_same = !reservation.grow(10) && reservation.bytes() == before;
                backend.change(&Change::Truncate { file: file.file(), len_bytes: 0 }).unwrap();
                // SAFETY: the process ends at once, without the destructors of the parent's threads.
                unsafe { libc::_exit(if is_same { 7 } else { 8 }) };
            }
            child
        });
        let mut status = 0;
        // SAFETY: the child exists, and the status may be written.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(libc::WEXITSTATUS(status), 7);
    }

    #[test]
    fn names_are_those_of_a_file_system() {
        let (_, backend) = memory(1 << 20);
        let [folder, file, moved] = ["a", "a/file", "b"].map(|name| Memory::folder().join(name));
        let kind = |error: crate::Error| match error {
            Error::File { source, .. } => source.kind(),
            other => panic!("{other}"),
        };
        let create = |path: &Path| DataFile::open_as(&backend, Location::at(path), Open::Create);
        assert_eq!(kind(create(&file).unwrap_err()), ErrorKind::NotFound);
        backend.create_directory(&folder).unwrap();
        assert_eq!(kind(backend.create_directory(&folder).unwrap_err()), ErrorKind::AlreadyExists);
        create(&file).unwrap().write_at(b"text", 0).unwrap();
        assert_eq!(kind(create(&file).unwrap_err()), ErrorKind::AlreadyExists);
        assert_eq!(kind(backend.remove(&folder).unwrap_err()), ErrorKind::DirectoryNotEmpty);
        let directory = crate::Directory::open(&backend, &folder).unwrap();
        assert!(directory.is_current());
        backend.rename(&folder, &moved).unwrap();
        assert!(!directory.is_current());
        let directory = crate::Directory::open(&backend, &moved).unwrap();
        assert_eq!(directory.names("").unwrap(), ["file"]);
        assert_eq!(directory.file("file").unwrap().read_whole().unwrap(), b"text");
        assert_eq!(kind(directory.file("none").unwrap_err()), ErrorKind::NotFound);
        assert_eq!(kind(crate::Directory::open(&backend, &moved.join("file")).unwrap_err()), ErrorKind::NotADirectory);
        assert!(backend.lock(&moved).unwrap().is_some());
        assert!(backend.lock(&folder).is_err());
        assert_eq!(kind(backend.exchange(&moved, &folder).unwrap_err()), ErrorKind::Unsupported);
        assert!(create(&folder).is_ok());
        assert_eq!(kind(backend.rename(&folder, &moved).unwrap_err()), ErrorKind::AlreadyExists);
        let scratch = backend.scratch(&moved.join("scratch")).unwrap();
        assert_eq!(directory.names("").unwrap(), ["file"]);
        let named = moved.join("named");
        backend.change(&Change::Link { file: scratch.file(), path: &named }).unwrap();
        assert_eq!(backend.named(&named).unwrap().kind, FileKind::File);
        backend.remove_all(&moved).unwrap();
        assert!(backend.named(&moved).is_none() && backend.named(&folder).is_some());
        assert_eq!(backend.resolved(&folder).unwrap(), folder);
    }

    #[test]
    fn other_paths_are_those_of_the_other_back_end() {
        let (budget, backend) = memory(1 << 20);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let file = DataFile::open_as(&backend, Location::at(&path), Open::Create).unwrap();
        file.write_at(&[1; 5000], 0).unwrap();
        file.sync().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), [1; 5000]);
        assert_eq!(budget.reserved_bytes(), 0);
        assert_eq!(crate::Directory::open(&backend, directory.path()).unwrap().names("").unwrap(), ["file"]);
        assert!(backend.lock(&path).unwrap().is_some());
        backend.remove(&path).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn too_little_memory_is_said_as_such() {
        let (budget, backend) = memory(100_000);
        let path = Memory::folder().join("file");
        let file = DataFile::open_as(&backend, Location::at(&path), Open::Create).unwrap();
        file.write_at(&[1; 40_000], 0).unwrap();
        let failed = Error::file(&path, "write", file.write_at(&[1; 70_000], 40_000).unwrap_err());
        assert!(matches!(failed, Error::Memory { needed_bytes: 69_904, .. }), "{failed}");
        assert_eq!(file.len_bytes_now().unwrap(), 40_000);
        assert_eq!(budget.reserved_bytes(), 10 * STORED_PAGE_BYTES + 27 * 8);
    }
}
