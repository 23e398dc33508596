//! A directory, opened once, and its files: all of one directory, and nothing but plain files.
//!
//! What lies in a directory that somebody else made may be anything. A file is opened relative to the open directory,
//! so that it does not matter which directory has the path meanwhile; links are not followed, a FIFO or a device does
//! not keep the caller waiting, and what is no plain file is refused before a byte is read.
#![allow(unsafe_code)]

use crate::error::{Error, Result};
use std::ffi::CString;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The directory that a path is in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// An open directory.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    file: File,
}

impl Directory {
    /// Opens the directory that a path names now; the path itself may be a link.
    ///
    /// # Errors
    /// What the operating system refuses: no such path, no directory, no permission.
    pub fn open(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        let flags = if BY_PATH { 0 } else { libc::O_DIRECTORY | libc::O_NONBLOCK };
        let opened = options.read(true).custom_flags(flags).open(path);
        let file = opened.map_err(|error| Error::file(path, "open", error))?;
        Ok(Directory { path: path.to_owned(), file })
    }

    /// The path that the directory was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path still names this directory.
    pub fn is_current(&self) -> bool {
        let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
        match (self.file.metadata(), std::fs::metadata(&self.path)) {
            (Ok(own), Ok(named)) => identity(own) == identity(named),
            _ => false,
        }
    }

    /// Opens a plain file by its name in this directory, which may lead through directories below it
    /// (`columns/id.pages`).
    ///
    /// # Errors
    /// What the operating system refuses; anything that is no plain file: a link, a FIFO, a device, a socket, a
    /// directory.
    pub fn file(&self, name: &str) -> Result<DataFile> {
        let path = self.path.join(name);
        let opened = match name.rsplit_once('/') {
            _ if BY_PATH => File::open(&path),
            None => open_at(self.file.as_raw_fd(), name.as_ref(), 0),
            Some((directory, name)) => open_at(self.file.as_raw_fd(), directory.as_ref(), libc::O_DIRECTORY)
                .and_then(|directory| open_at(directory.as_raw_fd(), name.as_ref(), 0)),
        };
        DataFile::new(path, opened)
    }
}

/// Whether files are opened by their paths alone: Miri knows neither `openat` nor flags, and no test that it runs
/// replaces a directory.
const BY_PATH: bool = cfg!(miri);

/// Opens a file for reading, relative to a directory, without following a link and without waiting for anybody.
fn open_at(directory: RawFd, name: &Path, flags: i32) -> std::io::Result<File> {
    let name = CString::new(name.as_os_str().as_bytes())?;
    let flags = flags | libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    loop {
        // SAFETY: the name ends in zero and outlives the call.
        let descriptor = unsafe { libc::openat(directory, name.as_ptr(), flags) };
        if descriptor >= 0 {
            // SAFETY: the descriptor is new, and nobody else has it.
            return Ok(unsafe { File::from_raw_fd(descriptor) });
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// A plain file, open for reading.
#[derive(Debug)]
pub struct DataFile {
    path: PathBuf,
    file: File,
    len_bytes: u64,
}

impl DataFile {
    /// Opens a file outside of any [`Directory`].
    ///
    /// # Errors
    /// As for [`Directory::file`].
    pub fn open(path: &Path) -> Result<Self> {
        DataFile::new(path.to_owned(), if BY_PATH { File::open(path) } else { open_at(libc::AT_FDCWD, path, 0) })
    }

    fn new(path: PathBuf, opened: std::io::Result<File>) -> Result<Self> {
        let unlike =
            |found: &str| std::io::Error::new(ErrorKind::InvalidInput, format!("expected a file, found {found}"));
        let opened = opened.map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP) => unlike("a link, which is not followed"),
            Some(libc::ENXIO) => unlike("a socket or a device"),
            _ => error,
        });
        let opened = opened.and_then(|file| {
            let metadata = file.metadata()?;
            if !metadata.is_file() {
                return Err(unlike(kind_text(metadata.file_type())));
            }
            // Waiting is right from here on: io_uring takes the flag to mean that reads must not wait for the device.
            if !BY_PATH {
                set_flags(&file, 0)?;
            }
            Ok((file, metadata.len()))
        });
        let (file, len_bytes) = opened.map_err(|error| Error::file(&path, "open", error))?;
        Ok(DataFile { path, file, len_bytes })
    }

    /// The same file, read past the operating system's cache where that is possible: offsets, sizes and memory are then
    /// whole pages.
    pub fn direct(self) -> Self {
        // Some file systems accept the flag and refuse the reads, or want more than page alignment: try one.
        #[cfg(target_os = "linux")]
        if !BY_PATH && (set_flags(&self.file, libc::O_DIRECT).is_err() || !aligned_reads_work(&self.file)) {
            // What was never set need not be cleared, and what cannot be cleared fails at the first read.
            let _ = set_flags(&self.file, 0);
        }
        self
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Numbers that change when the file does, and that no other file has at the same time: where it lies, its size,
    /// and when it was last changed.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn identity(&self) -> Result<[u64; 5]> {
        let metadata = self.file.metadata().map_err(|error| Error::file(&self.path, "look at", error))?;
        let changed = metadata.ctime() as u64 ^ (metadata.ctime_nsec() as u64) << 34;
        let written = metadata.mtime() as u64 ^ (metadata.mtime_nsec() as u64) << 34;
        Ok([metadata.dev(), metadata.ino(), metadata.len(), changed, written])
    }

    /// The file's size when it was opened.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// All bytes of a small file that was not made [`direct`](DataFile::direct). The caller has looked at its size.
    ///
    /// # Errors
    /// A read that fails, or a file that has become shorter.
    pub fn read_whole(&self) -> Result<Vec<u8>> {
        let failed = |error| Error::file(&self.path, "read", error);
        let too_large = || failed(std::io::Error::from(ErrorKind::OutOfMemory));
        let mut bytes = Vec::new();
        let len = usize::try_from(self.len_bytes).map_err(|_| too_large())?;
        bytes.try_reserve_exact(len).map_err(|_| too_large())?;
        bytes.resize(len, 0);
        self.file.read_exact_at(&mut bytes, 0).map_err(failed)?;
        Ok(bytes)
    }

    /// The file's size now, which is another one if somebody changes the file.
    pub(crate) fn len_bytes_now(&self) -> std::io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// The open file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

fn kind_text(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_block_device() || kind.is_char_device() => "a device",
        _ => "something else",
    }
}

/// Sets the status flags of an open file.
fn set_flags(file: &File, flags: i32) -> std::io::Result<()> {
    // SAFETY: the descriptor is open, and the call touches no memory.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(target_os = "linux")]
fn aligned_reads_work(file: &File) -> bool {
    #[repr(align(4096))]
    struct Aligned([u8; 4096]);
    let mut buffer = Box::new(Aligned([0; 4096]));
    file.read_at(&mut buffer.0, 0).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_those_of_the_directory_that_was_opened() {
        let parent = tempfile::tempdir().unwrap();
        let (one, other) = (parent.path().join("one"), parent.path().join("other"));
        for (path, text) in [(&one, "1"), (&other, "22")] {
            std::fs::create_dir_all(path.join("below")).unwrap();
            std::fs::write(path.join("below/file"), text).unwrap();
        }
        let directory = Directory::open(&one).unwrap();
        assert!(directory.is_current());
        std::fs::rename(&one, parent.path().join("third")).unwrap();
        assert!(!directory.is_current());
        std::fs::rename(&other, &one).unwrap();
        assert!(!directory.is_current());
        assert_eq!(directory.file("below/file").unwrap().read_whole().unwrap(), b"1");
        assert_eq!(Directory::open(&one).unwrap().file("below/file").unwrap().read_whole().unwrap(), b"22");
        let error = directory.file("below/none").unwrap_err().to_string();
        assert!(error.contains("cannot open") && error.contains("one/below/none"), "{error}");
    }

    #[test]
    fn a_file_that_has_become_shorter_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, vec![7; 5000]).unwrap();
        let file = DataFile::open(&path).unwrap();
        std::fs::write(&path, vec![7; 4999]).unwrap();
        assert!(matches!(file.read_whole(), Err(Error::File { operation: "read", .. })));
        assert_eq!((file.len_bytes(), file.len_bytes_now().unwrap()), (5000, 4999));
    }
}
