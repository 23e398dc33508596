//! Back ends: the ways to reach files.
//!
//! A [`Backend`] opens, creates, renames and removes files, and makes [`Queue`]s of asynchronous reads. There are
//! three: `uring` (the default where the kernel allows it), `posix` (pread on threads) and `sim` (faults on purpose,
//! for tests).

mod ledger;
mod posix;
mod sim;
#[cfg(target_os = "linux")]
mod uring;

pub use posix::Posix;
pub use sim::{Faults, Sim};
#[cfg(target_os = "linux")]
pub use uring::Uring;

use crate::directory::{DataFile, folder};
use crate::error::{Error, Result};
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

/// A way to reach files.
///
/// The file operations have defaults that ask the operating system; only a simulation has a reason to replace them.
pub trait Backend: Send + Sync {
    /// The name, as statistics report it.
    fn name(&self) -> &'static str;

    /// A queue for at most `depth` reads of `files` into memory that the caller keeps alive and alone until each
    /// completes. It is one of about `queues` that are in use at once: what they share is divided by that number.
    ///
    /// # Errors
    /// What the operating system refuses.
    fn queue(&self, files: &[Arc<DataFile>], memory: Region, depth: usize, queues: usize) -> Result<Box<dyn Queue>>;

    /// Creates a file that is not there yet, to be written from its start to its end.
    ///
    /// # Errors
    /// What the operating system refuses; `AlreadyExists` if anything has the name, a link too.
    fn create(&self, path: &Path) -> Result<Box<dyn Output>> {
        let file = File::create_new(path).map_err(|error| Error::file(path, "create", error))?;
        Ok(Box::new(OutputFile { file }))
    }

    /// Opens a file to be read from its start to its end.
    ///
    /// # Errors
    /// What the operating system refuses.
    fn input(&self, path: &Path) -> Result<Box<dyn Read + Send>> {
        let file = File::open(path).map_err(|error| Error::file(path, "open", error))?;
        Ok(Box::new(file))
    }

    /// Gives a file or directory another name, replacing a file of that name.
    ///
    /// # Errors
    /// What the operating system refuses.
    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        std::fs::rename(from, to).map_err(|error| Error::file(from, "rename", error))
    }

    /// Lets two files or directories exchange their names, so that at no moment either name is missing.
    ///
    /// # Errors
    /// What the operating system refuses; `Unsupported` where it cannot exchange names.
    fn exchange(&self, one: &Path, other: &Path) -> Result<()> {
        crate::process::exchange(one, other).map_err(|error| Error::file(one, "exchange", error))
    }

    /// Creates a temporary file that is written and read at any place, by any worker. It never has a name that others
    /// could open, or has none from then on, so it vanishes with the process; the path says where it takes space, and
    /// names it in messages.
    ///
    /// # Errors
    /// What the operating system refuses.
    fn scratch(&self, path: &Path) -> Result<Box<dyn Scratch>> {
        Ok(Box::new(ScratchFile { file: create_scratch(path)? }))
    }

    /// Makes what was created, renamed or removed in a directory last.
    ///
    /// # Errors
    /// What the operating system refuses.
    fn sync_directory(&self, path: &Path) -> Result<()> {
        let directory = File::open(path).map_err(|error| Error::file(path, "open", error))?;
        directory.sync_all().map_err(|error| Error::file(path, "sync", error))
    }
}

/// A file that is being written.
pub trait Output: Write + Send {
    /// Waits until what was written would outlast a power failure.
    fn sync(&mut self) -> std::io::Result<()>;
}

struct OutputFile {
    file: File,
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Output for OutputFile {
    fn sync(&mut self) -> std::io::Result<()> {
        self.file.sync_all()
    }
}

/// A temporary file.
pub trait Scratch: Send + Sync {
    /// Writes all bytes at an offset.
    fn write_at(&self, bytes: &[u8], offset_bytes: u64) -> std::io::Result<()>;

    /// Fills `bytes` from an offset.
    fn read_at(&self, bytes: &mut [u8], offset_bytes: u64) -> std::io::Result<()>;
}

struct ScratchFile {
    file: File,
}

fn create_scratch(path: &Path) -> Result<File> {
    let failed = |error| Error::file(path, "create", error);
    let directory = folder(path);
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    #[cfg(target_os = "linux")]
    if let Ok(file) = options.clone().custom_flags(libc::O_TMPFILE).open(directory) {
        return Ok(file);
    }
    // A file system without files that have no name: take one that nobody foresees, and give it up at once.
    loop {
        let name = directory.join(format!(".{:016x}.outcore-partial", random()));
        match options.clone().create_new(true).open(&name) {
            Ok(file) => {
                std::fs::remove_file(&name).map_err(failed)?;
                return Ok(file);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

/// A number that nobody foresees.
pub fn random() -> u64 {
    // What the standard library seeds its tables with is random, and another at every call.
    RandomState::new().hash_one(std::process::id())
}

impl Scratch for ScratchFile {
    fn write_at(&self, bytes: &[u8], offset_bytes: u64) -> std::io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, offset_bytes)
    }

    fn read_at(&self, bytes: &mut [u8], offset_bytes: u64) -> std::io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, offset_bytes)
    }
}

/// Memory that reads go to.
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

/// One read.
#[derive(Clone, Copy, Debug)]
pub struct Request {
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

/// A read that ended.
#[derive(Debug)]
pub struct Completion {
    /// The request's tag.
    pub tag: u32,
    /// How many bytes were read (fewer than asked for is possible), or what went wrong.
    pub result: std::io::Result<usize>,
}

/// A queue of asynchronous reads.
pub trait Queue: Send {
    /// Adds a read; it may begin at once or with [`submit`](Queue::submit).
    ///
    /// # Safety
    /// The bytes of memory that the request names must stay valid, and nobody may read or write them, until its
    /// completion.
    #[allow(unsafe_code)]
    unsafe fn push(&mut self, request: Request) -> Result<()>;

    /// Begins all added reads.
    fn submit(&mut self) -> Result<()>;

    /// Waits for at least one read to end and appends all that have ended.
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

    #[test]
    fn syncs_reach_the_kernel() {
        // A device of characters cannot be synced: that the kernel refuses shows that it was asked.
        let null = Path::new("/dev/null");
        let mut output = OutputFile { file: OpenOptions::new().write(true).open(null).unwrap() };
        output.write_all(b"x").unwrap();
        assert_eq!(output.sync().unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
        let error = Posix.sync_directory(null).unwrap_err().to_string();
        assert!(error.contains("cannot sync /dev/null"), "{error}");
        let directory = tempfile::tempdir().unwrap();
        Posix.create(&directory.path().join("file")).unwrap().sync().unwrap();
        Posix.sync_directory(directory.path()).unwrap();
    }
}
