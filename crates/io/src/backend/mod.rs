//! Back ends: the ways to reach files. Every access to a file uses one.
//!
//! A [`Backend`] opens, inspects and changes files, and makes [`Queue`]s of asynchronous reads and writes. There are
//! four: `uring` (the default where the kernel allows it), `posix` (pread and pwrite on threads), `memory` (a folder of
//! its own in memory, beside another back end) and `sim` (a device that fails on purpose and loses unsynced changes,
//! for tests). A meter (`metered.rs`) before any of them counts the disk space of files.

mod calendar;
mod crash;
mod ledger;
mod memory;
mod metered;
mod posix;
mod record;
mod sim;
pub(crate) mod system;
mod uring;

pub use calendar::calendar_text;
pub use crash::{CrashStates, State};
pub use memory::{Memory, MemoryFile};
pub use metered::{DiskUse, Metered};
pub use posix::Posix;
pub(crate) use posix::threads_of_worker;
pub use record::{Entry, Node, Operation, Trace};
pub use sim::{Faults, Sim};
pub use uring::Uring;

use crate::directory::{DataFile, Directory};
use crate::error::Result;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A way to reach files: the storage of everything above this crate.
///
/// 1. Nothing else opens, reads, changes, names or removes a file, or lists a directory. Code that uses files has a
///    back end from its runtime, or [`Posix`] where it has none.
/// 2. Every change of a file or directory is a [`Change`], an [`Open::Create`] or a write of a [`Queue`]; a recorder of
///    these three is therefore complete.
/// 3. The contents of a file outlast a power failure once a [`Change::Sync`] of it has returned, and not before. The
///    names in a directory do once a [`Change::SyncDirectory`] of it has returned: creating, renaming, exchanging,
///    linking and removing are not durable by themselves, and a synced file has no durable name for it.
/// 4. Unsynced changes may become durable in any order, each alone, and a write in parts of 512 bytes. A change of
///    names is durable whole or not at all.
/// 5. A change that fails may have been done in part, except for a change of names. After a failed sync nothing is
///    known of the changes that were not durable before; a retry proves nothing.
/// 6. Offsets and lengths are arbitrary, unless a file was made [`direct`](DataFile::direct).
/// 7. All methods may be called by several threads at once.
///
/// All methods but [`name`](Backend::name) and [`queue`](Backend::queue) have defaults that call the operating system;
/// only a simulation has a reason to replace them.
pub trait Backend: Send + Sync {
    /// The name in statistics.
    fn name(&self) -> &'static str;

    /// A queue for at most `depth` reads and writes of `files` from and into memory that the caller keeps alive and
    /// alone until each completes. A back end that performs them on threads of its own starts at most `threads` for it.
    ///
    /// # Errors
    /// Errors of the operating system.
    fn queue(&self, files: &[Arc<DataFile>], memory: Region, depth: usize, threads: usize) -> Result<Box<dyn Queue>>;

    /// Opens or creates a file, or opens a directory. Never blocks.
    ///
    /// # Errors
    /// Errors of the operating system; see [`Open`].
    fn open(&self, place: Location<'_>, how: Open) -> std::io::Result<Handle> {
        system::open(place, how).map(Handle::System)
    }

    /// Takes note that a file is about to be closed.
    fn close(&self, _: &Handle) {}

    /// Reads from an offset on. The number of bytes may be smaller than requested, and is zero at the end of the file.
    ///
    /// # Errors
    /// Errors of the operating system.
    fn read(&self, file: &Handle, bytes: &mut [u8], offset_bytes: u64) -> std::io::Result<usize> {
        system::read(file.system()?, bytes, offset_bytes)
    }

    /// Changes a file or a directory.
    ///
    /// # Errors
    /// Errors of the operating system; see [`Change`].
    fn change(&self, change: &Change<'_>) -> std::io::Result<()> {
        system::change(change)
    }

    /// Kind, size and identity of a path or open file, without opening it.
    ///
    /// # Errors
    /// `NotFound` if nothing has the path; errors of the operating system.
    fn look(&self, what: What<'_>) -> std::io::Result<FileStatus> {
        system::look(what)
    }

    /// The names in a directory, in no particular order.
    ///
    /// # Errors
    /// Errors of the operating system.
    fn list(&self, directory: Location<'_>) -> std::io::Result<Vec<OsString>> {
        system::list(directory)
    }

    /// Takes the lock of a file or directory. The operating system releases it when the lock is dropped or the process
    /// ends, however it ends. `None` if it is taken, also within this process, or if the path names another file
    /// meanwhile.
    ///
    /// # Errors
    /// Errors of the operating system: a missing path, a link, a file system without locks.
    fn lock(&self, path: &Path) -> std::io::Result<Option<Lock>> {
        system::lock(path)
    }

    /// Free space of a path's file system for this user, in bytes.
    ///
    /// # Errors
    /// Errors of the operating system.
    fn free_bytes(&self, path: &Path) -> std::io::Result<u64> {
        system::free_bytes(path)
    }

    /// Resolves all links of a path.
    ///
    /// # Errors
    /// `NotFound` if nothing has the path; errors of the operating system.
    fn resolve(&self, path: &Path) -> std::io::Result<PathBuf> {
        system::resolve(path)
    }
}

impl std::fmt::Debug for dyn Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// An open file or directory of a back end.
#[derive(Debug)]
pub enum Handle {
    /// A file of the operating system.
    System(File),
    /// A file in memory.
    Memory(Arc<MemoryFile>),
}

impl Handle {
    pub(crate) fn system(&self) -> std::io::Result<&File> {
        match self {
            Handle::System(file) => Ok(file),
            Handle::Memory(_) => Err(std::io::Error::new(ErrorKind::Unsupported, "the file is in memory")),
        }
    }
}

/// Location of a file: a path, or a name below an open directory.
#[derive(Clone, Copy, Debug)]
pub struct Location<'a> {
    pub(crate) directory: Option<&'a Directory>,
    pub(crate) name: &'a Path,
}

impl<'a> Location<'a> {
    /// A path.
    pub fn at(path: &'a Path) -> Self {
        Location { directory: None, name: path }
    }

    /// A name below an open directory, which may lead through directories below it (`columns/id.pages`); an empty name
    /// is the directory itself. Links on the way are not followed, and the directory may have been renamed meanwhile.
    pub fn within(directory: &'a Directory, name: &'a Path) -> Self {
        Location { directory: Some(directory), name }
    }

    /// The path, for messages.
    pub fn path(&self) -> Cow<'a, Path> {
        match self.directory {
            Some(directory) => Cow::Owned(directory.path().join(self.name)),
            None => Cow::Borrowed(self.name),
        }
    }
}

/// Mode of opening. Anything but a plain file is refused before a byte is read, unless a directory is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// For reading; links are refused.
    Read,
    /// For reading; links are followed, because the user named the path.
    Input,
    /// For reading and writing; links are refused.
    Write,
    /// Creates a file for reading and writing. Anything that has the name is an error, even a link.
    Create,
    /// Creates a file without a name, in the directory of the location. Other processes cannot open it, and it vanishes
    /// with this one, unless [`Change::Link`] gives it a name.
    Nameless,
    /// A directory, possibly through a link.
    Directory,
    /// A directory, and not through a link.
    OwnDirectory,
}

/// A change of an existing file or directory.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// Writes all bytes at an offset; the file grows if it must. Appending is a write at its end.
    Write {
        /// The file.
        file: &'a Handle,
        /// Offset in the file.
        offset_bytes: u64,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// Sets the size of a file. Bytes beyond it are lost; new ones are zero.
    Truncate {
        /// The file.
        file: &'a Handle,
        /// Its size.
        len_bytes: u64,
    },
    /// Reserves space, so that later writes there neither find the disk full nor let the file grow. New bytes are zero.
    Allocate {
        /// The file.
        file: &'a Handle,
        /// Offset in the file.
        offset_bytes: u64,
        /// Length of the range.
        len_bytes: u64,
    },
    /// Frees space: the range reads as zeros, and the size stays. `Unsupported` where the file system cannot.
    Punch {
        /// The file.
        file: &'a Handle,
        /// Offset in the file.
        offset_bytes: u64,
        /// Length of the range.
        len_bytes: u64,
    },
    /// Waits until the contents and size of a file would outlast a power failure.
    Sync {
        /// The file.
        file: &'a Handle,
    },
    /// Waits until the names in a directory would outlast a power failure.
    SyncDirectory {
        /// The directory.
        directory: &'a Path,
    },
    /// Makes an empty directory.
    CreateDirectory {
        /// The directory.
        directory: &'a Path,
    },
    /// Renames a file or directory in one step; a file that has the new name is replaced.
    Rename {
        /// Its name.
        from: &'a Path,
        /// The new name.
        to: &'a Path,
    },
    /// Exchanges the names of two files or directories atomically: neither name is ever missing. `Unsupported` where
    /// the file system cannot.
    Exchange {
        /// One of them.
        one: &'a Path,
        /// The other.
        other: &'a Path,
    },
    /// Gives a name to a file that has none. The name must be free.
    Link {
        /// The file.
        file: &'a Handle,
        /// The name.
        path: &'a Path,
    },
    /// Gives a file or directory a mode, and an owner and a group where this user may do that.
    Permit {
        /// The file or directory.
        path: &'a Path,
        /// Its mode, owner and group.
        access: Access,
    },
    /// Removes a file, a link itself, or an empty directory.
    Remove {
        /// Its location.
        place: Location<'a>,
    },
}

/// Target of a [`look`](Backend::look).
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// A path, links followed.
    Named(&'a Path),
    /// A path or name itself, even if it is a link.
    Itself(Location<'a>),
    /// A file that is open.
    Open(&'a Handle),
}

/// Facts about a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStatus {
    /// Its kind.
    pub kind: FileKind,
    /// A file's size.
    pub len_bytes: u64,
    /// Identity: two paths of equal identity name the same file while it exists.
    pub identity: (u64, u64),
    /// Mode, owner and group.
    pub access: Access,
    /// Time of the last write, in seconds since 1970 began in UTC; none of nodes in memory.
    pub modified: Option<u64>,
}

/// Mode, owner and group of a file or directory; those of nodes in memory are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The bits of permissions.
    pub mode: u32,
    /// The user who owns it.
    pub owner: u32,
    /// The group that owns it.
    pub group: u32,
}

/// Kind of a named node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A plain file.
    File,
    /// A directory.
    Directory,
    /// A link.
    Link,
    /// A pipe, a device, a socket.
    Other,
}

/// A lock of a file or directory, until it is dropped or the process ends.
#[derive(Debug)]
pub struct Lock {
    /// `None` for nodes in memory, which no other process can reach.
    _file: Option<File>,
}

/// An unpredictable number.
pub fn random() -> u64 {
    // The standard library seeds its hash tables randomly, and differently at every call.
    RandomState::new().hash_one(std::process::id())
}

/// Memory of a queue's requests: reads fill it, writes empty it.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Its first byte, aligned to 4096.
    pub start: *mut u8,
    /// Its size.
    pub len_bytes: usize,
}

// SAFETY: a region is an address; `Queue::push` says which accesses to the memory are allowed.
#[allow(unsafe_code)]
unsafe impl Send for Region {}

/// Direction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// From the file into memory.
    Read,
    /// From memory into the file.
    Write,
}

/// One read or write.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Direction.
    pub transfer: Transfer,
    /// Index into the queue's files.
    pub file: usize,
    /// Offset in the file.
    pub offset_bytes: u64,
    /// Offset in the queue's memory.
    pub memory_bytes: usize,
    /// Length.
    pub len_bytes: usize,
    /// Returned with the completion.
    pub tag: u32,
}

/// A read or write that ended.
#[derive(Debug)]
pub struct Completion {
    /// The request's tag.
    pub tag: u32,
    /// The number of bytes that were read or written (possibly fewer than requested), or the error.
    pub result: std::io::Result<usize>,
}

/// A queue of asynchronous reads and writes. Their order is not defined.
pub trait Queue: Send {
    /// Adds a request; it may begin at once or with [`submit`](Queue::submit).
    ///
    /// # Safety
    /// The request owns the bytes of memory that it names until its completion: they must stay valid, must not be
    /// written, and, for a read, must not be read.
    #[allow(unsafe_code)]
    unsafe fn push(&mut self, request: Request) -> Result<()>;

    /// Begins all added requests; by default they began when they were added.
    fn submit(&mut self) -> Result<()> {
        Ok(())
    }

    /// Waits for at least one request to end and appends all that have ended.
    fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<()>;
}

/// The best back end that works on this machine.
pub fn best() -> Arc<dyn Backend> {
    if !cfg!(miri) && Uring::works() {
        return Arc::new(Uring);
    }
    Arc::new(Posix)
}

/// The names of back ends, with their descriptions.
pub const NAMES: &[(&str, &str)] = &[
    ("auto", "io_uring where it works, threads elsewhere"),
    ("uring", "io_uring: the kernel reads while workers compute"),
    ("posix", "Threads that read"),
];

/// The back end of that name, one of [`NAMES`].
///
/// # Errors
/// A message for the user if there is none, or if it does not work here.
pub fn by_name(name: &str) -> std::result::Result<Arc<dyn Backend>, String> {
    match name {
        "auto" => Ok(best()),
        "posix" => Ok(Arc::new(Posix)),
        "uring" if Uring::works() => Ok(Arc::new(Uring)),
        "uring" => Err("this kernel or container does not allow io_uring; use --backend posix".into()),
        _ => Err(format!("expected a backend auto, uring or posix, found `{name}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_back_ends() {
        let unknown = by_name("foo").err().unwrap();
        for (name, _) in NAMES {
            assert!(unknown.contains(name), "{unknown}");
            // If io_uring is not allowed, the message says so.
            assert!(by_name(name).err().is_none_or(|text| !text.contains("expected a backend")), "{name}");
        }
    }
}
