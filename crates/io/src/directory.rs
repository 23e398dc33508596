//! A directory that is opened once, and its files: plain files of one directory only.
//!
//! A directory of another user may contain anything. A file is opened relative to the open directory, so renaming the
//! directory meanwhile has no effect; links are not followed, a FIFO or a device does not block the caller, and a file
//! that is not plain is refused before a byte is read.

use crate::backend::system::{BY_PATH, set_flags};
use crate::backend::{Backend, Change, Handle, Location, Open, Posix, What};
use crate::error::{Error, Result};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The directory that a path is in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// An open directory.
#[derive(Debug)]
pub struct Directory {
    backend: Arc<dyn Backend>,
    path: PathBuf,
    file: Handle,
}

impl Directory {
    /// Opens the directory that a path names now; the path itself may be a link.
    ///
    /// # Errors
    /// Errors of the operating system: no such path, not a directory, no permission.
    pub fn open(backend: &Arc<dyn Backend>, path: &Path) -> Result<Self> {
        Directory::open_as(backend, Location::at(path), Open::Directory)
    }

    pub(crate) fn open_as(backend: &Arc<dyn Backend>, place: Location<'_>, how: Open) -> Result<Self> {
        let path = place.path().into_owned();
        let file = backend.open(place, how).map_err(|error| Error::file(&path, "open", error))?;
        Ok(Directory { backend: Arc::clone(backend), path, file })
    }

    /// The back end that the directory was opened with.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// The path that the directory was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path still names this directory.
    pub fn is_current(&self) -> bool {
        match (self.backend.look(What::Open(&self.file)), self.backend.look(What::Named(&self.path))) {
            (Ok(own), Ok(named)) => own.identity == named.identity,
            _ => false,
        }
    }

    /// Opens a plain file by its name in this directory, which may lead through directories below it
    /// (`columns/id.pages`).
    ///
    /// # Errors
    /// Errors of the operating system; anything but a plain file: a link, a FIFO, a device, a socket, a directory.
    pub fn file(&self, name: &str) -> Result<DataFile> {
        DataFile::open_as(&self.backend, Location::within(self, name.as_ref()), Open::Read)
    }

    /// The names in a directory below this one, or in this one if `below` is empty; sorted.
    ///
    /// # Errors
    /// Errors of the operating system; a link is not followed.
    pub fn names(&self, below: &str) -> Result<Vec<OsString>> {
        let place = Location::within(self, below.as_ref());
        let listed = self.backend.list(place).map_err(|error| Error::file(&*place.path(), "list", error));
        listed.map(|mut names| {
            names.sort();
            names
        })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.file
    }
}

/// A plain file, open for reading, or for reading and writing.
#[derive(Debug)]
pub struct DataFile {
    backend: Arc<dyn Backend>,
    path: PathBuf,
    file: Handle,
    len_bytes: u64,
    /// Whether offsets, sizes and memory must be whole pages.
    is_direct: bool,
}

impl DataFile {
    /// Opens a file outside of any [`Directory`] for reading, through the operating system.
    ///
    /// # Errors
    /// As for [`Directory::file`].
    pub fn open(path: &Path) -> Result<Self> {
        let backend: Arc<dyn Backend> = Arc::new(Posix);
        DataFile::open_as(&backend, Location::at(path), Open::Read)
    }

    /// Opens or creates a file.
    ///
    /// # Errors
    /// Errors of the operating system; see [`Open`].
    pub fn open_as(backend: &Arc<dyn Backend>, place: Location<'_>, how: Open) -> Result<Self> {
        let path = place.path().into_owned();
        let operation = if matches!(how, Open::Create | Open::Nameless) { "create" } else { "open" };
        let opened = backend.open(place, how).and_then(|file| {
            let len_bytes = backend.look(What::Open(&file))?.len_bytes;
            Ok(DataFile { backend: Arc::clone(backend), path: path.clone(), file, len_bytes, is_direct: false })
        });
        opened.map_err(|error| Error::file(path, operation, error))
    }

    /// The file under another path in messages.
    pub(crate) fn known_as(mut self, path: &Path) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    /// Bypasses the operating system's cache where that is possible: offsets, sizes and memory are then whole pages.
    pub fn direct(mut self) -> Self {
        // Some file systems accept the flag and refuse the reads, or need more than page alignment: try one.
        if let (Handle::System(file), false) = (&self.file, BY_PATH) {
            self.is_direct = set_flags(file, libc::O_DIRECT).is_ok() && aligned_reads_work(file);
            if !self.is_direct {
                // A flag that was never set need not be cleared, and one that cannot be cleared fails at the first
                // read.
                let _ = set_flags(file, 0);
            }
        }
        self
    }

    /// Whether reads and writes bypass the operating system's cache.
    pub(crate) fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Sets the size of a new file, and reserves its space where the file system can: then no later write finds the
    /// disk full, or lets the file grow.
    ///
    /// # Errors
    /// Errors of the operating system: a full disk, most likely.
    pub fn allocate(&self, len_bytes: u64) -> std::io::Result<()> {
        if len_bytes == 0 {
            return Ok(());
        }
        match self.backend.change(&Change::Allocate { file: &self.file, offset_bytes: 0, len_bytes }) {
            Err(error) if is_unsupported(&error) => {
                self.backend.change(&Change::Truncate { file: &self.file, len_bytes })
            }
            other => other,
        }
    }

    /// Frees the space of a range that is not read any more, where the file system can.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn free(&self, Range { start, end }: Range<u64>) -> std::io::Result<()> {
        let punched =
            self.backend.change(&Change::Punch { file: &self.file, offset_bytes: start, len_bytes: end - start });
        match punched {
            // Sandboxes answer to a call that they do not know as to one that is not permitted.
            Err(error) if is_unsupported(&error) || error.raw_os_error() == Some(libc::EPERM) => Ok(()),
            other => other,
        }
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Identity and version of the file: numbers that change with the file, and that no other file has at the same
    /// time. They are its device and inode, its size, and the times of its last change and last write.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn identity(&self) -> Result<[u64; 5]> {
        let file = match &self.file {
            Handle::System(file) => file,
            Handle::Memory(file) => return Ok(file.identity()),
        };
        let metadata = file.metadata().map_err(|error| Error::file(&self.path, "look at", error))?;
        let changed = metadata.ctime() as u64 ^ (metadata.ctime_nsec() as u64) << 34;
        let written = metadata.mtime() as u64 ^ (metadata.mtime_nsec() as u64) << 34;
        Ok([metadata.dev(), metadata.ino(), metadata.len(), changed, written])
    }

    /// Whether the file was written to within this time, or at a time that is still to come. A file in memory was not.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn was_written_within(&self, time: Duration) -> Result<bool> {
        let Handle::System(file) = &self.file else { return Ok(false) };
        let written = file.metadata().and_then(|metadata| metadata.modified());
        let written = written.map_err(|error| Error::file(&self.path, "look at", error))?;
        Ok(!written.elapsed().is_ok_and(|age| age >= time))
    }

    /// The file's size when it was opened.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// All bytes of a small file that was not made [`direct`](DataFile::direct). The caller has checked its size.
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
        self.read_at(&mut bytes, 0).map_err(failed)?;
        Ok(bytes)
    }

    /// Fills `bytes` from an offset.
    ///
    /// # Errors
    /// A read that fails, or `UnexpectedEof` where the file ends too early.
    pub fn read_at(&self, mut bytes: &mut [u8], mut offset_bytes: u64) -> std::io::Result<()> {
        while !bytes.is_empty() {
            let read = self.read_some(bytes, offset_bytes)?;
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            bytes = &mut bytes[read..];
            offset_bytes += read as u64;
        }
        Ok(())
    }

    /// Reads from an offset on. The number of bytes may be smaller than requested, and is zero at the end of the file.
    ///
    /// # Errors
    /// A read that fails.
    pub fn read_some(&self, bytes: &mut [u8], offset_bytes: u64) -> std::io::Result<usize> {
        self.backend.read(&self.file, bytes, offset_bytes)
    }

    /// Writes all bytes at an offset.
    ///
    /// # Errors
    /// Errors of the operating system: a full disk, most likely.
    pub fn write_at(&self, bytes: &[u8], offset_bytes: u64) -> std::io::Result<()> {
        self.backend.change(&Change::Write { file: &self.file, offset_bytes, bytes })
    }

    /// Waits until the contents of the file would outlast a power failure.
    ///
    /// # Errors
    /// Errors of the operating system; the durability of the file is unknown then.
    pub fn sync(&self) -> std::io::Result<()> {
        self.backend.change(&Change::Sync { file: &self.file })
    }

    /// The file's current size, which differs if another process changes the file.
    pub(crate) fn len_bytes_now(&self) -> std::io::Result<u64> {
        Ok(self.backend.look(What::Open(&self.file))?.len_bytes)
    }

    pub(crate) fn file(&self) -> &Handle {
        &self.file
    }
}

impl Drop for DataFile {
    fn drop(&mut self) {
        self.backend.close(&self.file);
    }
}

/// Whether the file system cannot make a change of a file, rather than failed to.
fn is_unsupported(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::Unsupported || error.raw_os_error() == Some(libc::EOPNOTSUPP)
}

fn aligned_reads_work(file: &std::fs::File) -> bool {
    #[repr(align(4096))]
    struct Aligned([u8; 4096]);
    let mut buffer = Box::new(Aligned([0; 4096]));
    crate::backend::system::read(file, &mut buffer.0, 0).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_those_of_the_directory_that_was_opened() {
        let system: Arc<dyn Backend> = Arc::new(Posix);
        let parent = tempfile::tempdir().unwrap();
        let (one, other) = (parent.path().join("one"), parent.path().join("other"));
        for (path, text) in [(&one, "1"), (&other, "22")] {
            std::fs::create_dir_all(path.join("below")).unwrap();
            std::fs::write(path.join("below/file"), text).unwrap();
        }
        let directory = Directory::open(&system, &one).unwrap();
        assert!(directory.is_current());
        std::fs::rename(&one, parent.path().join("third")).unwrap();
        assert!(!directory.is_current());
        std::fs::rename(&other, &one).unwrap();
        assert!(!directory.is_current());
        assert_eq!(directory.file("below/file").unwrap().read_whole().unwrap(), b"1");
        assert_eq!(Directory::open(&system, &one).unwrap().file("below/file").unwrap().read_whole().unwrap(), b"22");
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
