//! Files that any worker writes at any offset: new ones, complete or absent, and parts of the users' own.
//!
//! A new file has a temporary name in the same folder (`partial.rs`) until it is complete and synced, as those that are
//! written sequentially (`atomic_file.rs`).

use crate::partial::Partial;
use crate::{Error, Result};
use outcore_io::backend::{Location, Open};
use outcore_io::{DataFile, Runtime};
use std::path::{Path, PathBuf};

/// A file that is being written.
pub struct PlacedFile {
    target: PathBuf,
    file: DataFile,
    /// The temporary name of a new file.
    temporary: Option<Partial>,
}

impl PlacedFile {
    /// Begins a file that will be named `target`, and replaces any file of that name.
    ///
    /// # Errors
    /// A target that is a directory or no name, or a file that cannot be created.
    pub fn create(runtime: &Runtime, target: &Path) -> Result<Self> {
        let create = |path: &Path| DataFile::open_as(runtime.backend(), Location::at(path), Open::Create);
        let (temporary, file) = Partial::file(runtime.backend(), target, create)?;
        Ok(PlacedFile { target: target.to_owned(), file, temporary: Some(temporary) })
    }

    /// Opens an existing file, which keeps all bytes that are not written.
    ///
    /// # Errors
    /// Errors of the operating system; a link, or anything but a plain file.
    pub fn open(runtime: &Runtime, target: &Path) -> Result<Self> {
        let file = DataFile::open_as(runtime.backend(), Location::at(target), Open::Write)?;
        Ok(PlacedFile { target: target.to_owned(), file, temporary: None })
    }

    /// The size of the file when it was opened.
    pub fn len_bytes(&self) -> u64 {
        self.file.len_bytes()
    }

    /// The path for reading it now: a new file has a temporary name.
    pub fn path(&self) -> &Path {
        self.temporary.as_ref().map_or(&self.target, Partial::path)
    }

    /// Writes bytes at an offset.
    ///
    /// # Errors
    /// Errors of the operating system: a full disk, most likely.
    pub fn write(&self, bytes: &[u8], offset_bytes: u64) -> Result<()> {
        let written = self.file.write_at(bytes, offset_bytes);
        written.map_err(|error| Error::file_at(&self.target, "write", offset_bytes, error))
    }

    /// Waits until the file would outlast a power failure, and gives a new one its name; it is complete from now on.
    ///
    /// # Errors
    /// Errors of the operating system. There is no new file then, and an older one of that name is unchanged, except
    /// where only the sync of the folder failed in a file system that cannot exchange names. Bytes written to an
    /// existing file stay.
    pub fn commit(mut self) -> Result<()> {
        self.file.sync().map_err(|error| Error::file(&self.target, "sync", error))?;
        self.temporary.as_mut().map_or(Ok(()), |temporary| temporary.take_name(&self.target))
    }
}
