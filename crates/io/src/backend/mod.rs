//! Back ends: the ways to reach files. Whatever touches a file goes through one.
//!
//! A [`Backend`] opens files, looks at what there is and changes it, and makes [`Queue`]s of asynchronous reads and
//! writes. There are four: `uring` (the default where the kernel allows it), `posix` (pread and pwrite on threads),
//! `memory` (a folder of its own in memory, beside another back end) and `sim` (a device that fails on purpose and
//! loses what was not synced, for tests).

mod crash;
mod ledger;
mod memory;
mod posix;
mod record;
mod sim;
pub(crate) mod system;
#[cfg(target_os = "linux")]
mod uring;

pub use crash::{CrashStates, State};
pub use memory::{Memory, MemoryFile};
pub use posix::Posix;
pub use record::{Entry, Node, Operation, Trace};
pub use sim::{Faults, Sim};
#[cfg(target_os = "linux")]
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
/// 1. Nothing else opens, reads, changes, names or removes a file, or lists a directory. Whoever uses files has a
///    back end from its runtime, or [`Posix`] where it has none.
/// 2. Whatever changes a file or a directory is a [`Change`], an [`Open::Create`] or a write of a [`Queue`]; so a
///    recorder of these has all of it.
/// 3. What a file holds outlasts a power failure from the return of a [`Change::Sync`] of it on, and not before. What
///    names a directory holds does so from the return of a [`Change::SyncDirectory`] on: creating, renaming,
///    exchanging, linking and removing are not durable by themselves, and a synced file has no durable name for it.
/// 4. Changes that were not synced may become durable in any order, each alone, and a write in parts of 512 bytes. A
///    change of names is durable whole or not at all.
/// 5. A change that fails may have been done in part, but for a change of names. After a sync that failed nothing is
///    known of what was not durable before; trying again proves nothing.
/// 6. Offsets and lengths are any, where a file was not made [`direct`](DataFile::direct).
/// 7. All methods may be called by several threads at once.
///
/// All methods but [`name`](Backend::name) and [`queue`](Backend::queue) ask the operating system; only a simulation
/// has a reason to replace them.
pub trait Backend: Send + Sync {
    /// The name, as statistics report it.
    fn name(&self) -> &'static str;

    /// A queue for at most `depth` reads and writes of `files` from and into memory that the caller keeps alive and
    /// alone until each completes. It is one of about `queues` that are in use at once: what they share is divided by
    /// that number.
    ///
    /// # Errors
    /// What the operating system refuses.
    fn queue(&self, files: &[Arc<DataFile>], memory: Region, depth: usize, queues: usize) -> Result<Box<dyn Queue>>;

    /// Opens or creates a file, or opens a directory, without waiting for anybody.
    ///
    /// # Errors
    /// What the operating system refuses; see [`Open`].
    fn open(&self, place: Location<'_>, how: Open) -> std::io::Result<Handle> {
        system::open(place, how).map(Handle::System)
    }

    /// Reads from an offset on, as many bytes as there are, most often; none at the end of the file.
    ///
    /// # Errors
    /// What the operating system refuses.
    fn read(&self, file: &Handle, bytes: &mut [u8], offset_bytes: u64) -> std::io::Result<usize> {
        system::read(file.system()?, bytes, offset_bytes)
    }

    /// Changes a file or a directory.
    ///
    /// # Errors
    /// What the operating system refuses; see [`Change`].
    fn change(&self, change: &Change<'_>) -> std::io::Result<()> {
        system::change(change)
    }

    /// Looks at what there is, without opening it.
    ///
    /// # Errors
    /// `NotFound` if there is nothing; what the operating system refuses.
    fn look(&self, what: What<'_>) -> std::io::Result<Found> {
        system::look(what)
    }

    /// The names in a directory, in no order.
    ///
    /// # Errors
    /// What the operating system refuses.
    fn list(&self, directory: Location<'_>) -> std::io::Result<Vec<OsString>> {
        system::list(directory)
    }

    /// Takes the lock of a file or directory, which the operating system gives back when it is dropped or the process
    /// ends, however it ends; nothing if somebody else has it, or if the path names something else meanwhile.
    ///
    /// # Errors
    /// What the operating system refuses: a path that is not there, a link, a file system without locks.
    fn lock(&self, path: &Path) -> std::io::Result<Option<Lock>> {
        system::lock(path)
    }

    /// The space that the file system of a path has left for this user, in bytes.
    ///
    /// # Errors
    /// What the operating system refuses.
    fn free_bytes(&self, path: &Path) -> std::io::Result<u64> {
        system::free_bytes(path)
    }

    /// The path that a path leads to when all links are followed.
    ///
    /// # Errors
    /// `NotFound` if there is nothing; what the operating system refuses.
    fn resolve(&self, path: &Path) -> std::io::Result<PathBuf> {
        system::resolve(path)
    }
}

/// An open file or directory, as its back end has it.
#[derive(Debug)]
pub enum Handle {
    /// One of the operating system's.
    System(File),
    /// One in memory.
    Memory(Arc<MemoryFile>),
}

impl Handle {
    /// The operating system's file.
    pub(crate) fn system(&self) -> std::io::Result<&File> {
        match self {
            Handle::System(file) => Ok(file),
            Handle::Memory(_) => Err(std::io::Error::new(ErrorKind::Unsupported, "the file is in memory")),
        }
    }
}

/// Where a file is: a path, or a name below an open directory.
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

    /// A name below a directory that is open, which may lead through directories below it (`columns/id.pages`); an
    /// empty name is the directory itself. No link on the way is followed, and it does not matter which directory has
    /// the path meanwhile.
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

/// How a file is opened. What is no plain file is refused before a byte is read, unless a directory is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// To be read, and not through a link.
    Read,
    /// To be read; links are followed, for the user named the path.
    Input,
    /// To be read and written, and not through a link.
    Write,
    /// To be read and written. It is created: anything that has the name is an error, a link too.
    Create,
    /// A new file that has no name, in the directory of the place. Others cannot open it, and it vanishes with the
    /// process, unless [`Change::Link`] gives it a name.
    Nameless,
    /// A directory, or what a link to one leads to.
    Directory,
    /// A directory, and not through a link.
    OwnDirectory,
}

/// Whatever changes a file or a directory that is there.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// Writes all bytes at an offset; the file grows if it must. Appending is writing at its end.
    Write {
        /// The file.
        file: &'a Handle,
        /// Where.
        offset_bytes: u64,
        /// What.
        bytes: &'a [u8],
    },
    /// Gives a file a size. What is beyond is gone; what is new is zero.
    Truncate {
        /// The file.
        file: &'a Handle,
        /// Its size.
        len_bytes: u64,
    },
    /// Takes space, so that later writes there neither find the disk full nor let the file grow. What is new is zero.
    Allocate {
        /// The file.
        file: &'a Handle,
        /// Where.
        offset_bytes: u64,
        /// How much.
        len_bytes: u64,
    },
    /// Gives space back: zeros are read there, and the size stays. `Unsupported` where the file system cannot.
    Punch {
        /// The file.
        file: &'a Handle,
        /// Where.
        offset_bytes: u64,
        /// How much.
        len_bytes: u64,
    },
    /// Waits until what a file holds, and its size, would outlast a power failure.
    Sync {
        /// The file.
        file: &'a Handle,
    },
    /// Waits until the names in a directory would.
    SyncDirectory {
        /// The directory.
        directory: &'a Path,
    },
    /// Makes an empty directory.
    CreateDirectory {
        /// The directory.
        directory: &'a Path,
    },
    /// Gives a file or directory another name, in one step; a file of that name is replaced.
    Rename {
        /// Its name.
        from: &'a Path,
        /// The new name.
        to: &'a Path,
    },
    /// Lets two files or directories exchange their names, so that at no moment either name is missing. `Unsupported`
    /// where the file system cannot.
    Exchange {
        /// One of them.
        one: &'a Path,
        /// The other.
        other: &'a Path,
    },
    /// Gives a file that has no name one, which must be free.
    Link {
        /// The file.
        file: &'a Handle,
        /// The name.
        path: &'a Path,
    },
    /// Removes a file, a link itself, or an empty directory.
    Remove {
        /// Where it is.
        place: Location<'a>,
    },
}

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// What a path leads to when links are followed.
    Named(&'a Path),
    /// What is there itself, though it may be a link.
    Itself(Location<'a>),
    /// A file that is open.
    Open(&'a Handle),
}

/// What there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// What it is.
    pub kind: FileKind,
    /// A file's size.
    pub len_bytes: u64,
    /// Two paths of equal identity name the same, while it is there.
    pub identity: (u64, u64),
}

/// What something with a name is.
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
    /// What is in memory is nobody else's.
    _file: Option<File>,
}

/// A number that nobody foresees.
pub fn random() -> u64 {
    // What the standard library seeds its tables with is random, and another at every call.
    RandomState::new().hash_one(std::process::id())
}

/// Memory that reads go to and writes come from.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Its first byte, aligned to 4096.
    pub start: *mut u8,
    /// Its size.
    pub len_bytes: usize,
}

// SAFETY: a region is an address; who may use the memory is the business of `Queue::push`.
#[allow(unsafe_code)]
unsafe impl Send for Region {}

/// Which way bytes go.
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
    /// Which way.
    pub transfer: Transfer,
    /// Which of the queue's files.
    pub file: usize,
    /// Where in the file.
    pub offset_bytes: u64,
    /// Where in the queue's memory.
    pub memory_bytes: usize,
    /// How much.
    pub len_bytes: usize,
    /// Comes back with the completion.
    pub tag: u32,
}

/// A read or write that ended.
#[derive(Debug)]
pub struct Completion {
    /// The request's tag.
    pub tag: u32,
    /// How many bytes were read or written (fewer than asked for is possible), or what went wrong.
    pub result: std::io::Result<usize>,
}

/// A queue of asynchronous reads and writes. They may be done in any order.
pub trait Queue: Send {
    /// Adds a request; it may begin at once or with [`submit`](Queue::submit).
    ///
    /// # Safety
    /// The request owns the bytes of memory that it names until its completion: they must stay valid, nobody may write
    /// them, and nobody may read what a read goes to.
    #[allow(unsafe_code)]
    unsafe fn push(&mut self, request: Request) -> Result<()>;

    /// Begins all added requests.
    fn submit(&mut self) -> Result<()>;

    /// Waits for at least one request to end and appends all that have ended.
    fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<()>;
}

/// The best back end that works on this machine.
pub fn best() -> Arc<dyn Backend> {
    #[cfg(target_os = "linux")]
    if !cfg!(miri) && Uring::works() {
        return Arc::new(Uring);
    }
    Arc::new(Posix)
}

/// The names of back ends, and what they mean.
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
        #[cfg(target_os = "linux")]
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
            // Where io_uring is not allowed, that is what is said.
            assert!(by_name(name).err().is_none_or(|text| !text.contains("expected a backend")), "{name}");
        }
    }
}
