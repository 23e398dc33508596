//! File operations as callers need them: open, replace, sync a folder, remove. Every function is one or a few
//! operations of a [`Backend`], and its errors name the path.

use crate::backend::{Backend, Change, FileKind, FileStatus, Location, Open, What};
use crate::directory::{DataFile, Directory};
use crate::error::{Error, Result};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl dyn Backend {
    /// Opens a file that a user named for reading; links are followed.
    ///
    /// # Errors
    /// Errors of the operating system; anything but a plain file.
    pub fn input(self: &Arc<Self>, path: &Path) -> Result<Input> {
        Ok(Input { file: Arc::new(DataFile::open_as(self, Location::at(path), Open::Input)?), offset_bytes: 0 })
    }

    /// Creates a temporary file that any worker writes and reads at any offset. It has no name, so it vanishes with the
    /// process; the path determines the file system, and names the file in messages.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn scratch(self: &Arc<Self>, path: &Path) -> Result<DataFile> {
        let created = DataFile::open_as(self, Location::at(crate::folder(path)), Open::Nameless);
        created.map(|file| file.known_as(path)).map_err(|error| match error {
            Error::File { source, operation, .. } => Error::file(path, operation, source),
            other => other,
        })
    }

    /// Creates an empty directory.
    ///
    /// # Errors
    /// Errors of the operating system; `AlreadyExists` if anything has the name.
    pub fn create_directory(&self, path: &Path) -> Result<()> {
        let created = self.change(&Change::CreateDirectory { directory: path });
        created.map_err(|error| Error::file(path, "create", error))
    }

    /// Renames a file or directory, replacing a file that has the new name.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.change(&Change::Rename { from, to }).map_err(|error| Error::file(from, "rename", error))
    }

    /// Exchanges the names of two files or directories atomically: neither name is ever missing.
    ///
    /// # Errors
    /// Errors of the operating system; `Unsupported` where it cannot exchange names.
    pub fn exchange(&self, one: &Path, other: &Path) -> Result<()> {
        self.change(&Change::Exchange { one, other }).map_err(|error| Error::file(one, "exchange", error))
    }

    /// Fails if a file or directory could not be renamed, in its folder or to another one. `obstacle` is a directory
    /// with an entry: nothing can take its name, so the trial changes nothing, whoever may do what.
    ///
    /// # Errors
    /// The error that renaming it would end with.
    pub fn try_rename(&self, path: &Path, obstacle: &Path) -> Result<()> {
        match self.change(&Change::Rename { from: path, to: obstacle }) {
            // A file system that lets it happen all the same.
            Ok(()) => self.rename(obstacle, path),
            Err(error) => match error.kind() {
                ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists | ErrorKind::IsADirectory => Ok(()),
                _ => Err(Error::file(path, "rename", error)),
            },
        }
    }

    /// Gives a file or directory the mode of another one, and its owner and group where this user may do that.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn permit_as(&self, path: &Path, like: &Path) -> Result<()> {
        let status =
            |path| self.look(What::Itself(Location::at(path))).map_err(|error| Error::file(path, "look at", error));
        let (own, other) = (status(path)?.access, status(like)?.access);
        if own == other {
            return Ok(());
        }
        let permitted = self.change(&Change::Permit { path, access: other });
        permitted.map_err(|error| Error::file(path, "set the mode of", error))
    }

    /// Makes all changes of names in a directory durable.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn sync_directory(&self, path: &Path) -> Result<()> {
        self.change(&Change::SyncDirectory { directory: path }).map_err(|error| Error::file(path, "sync", error))
    }

    /// Removes a file, or a link itself.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn remove(&self, path: &Path) -> Result<()> {
        let removed = self.change(&Change::Remove { place: Location::at(path) });
        removed.map_err(|error| Error::file(path, "remove", error))
    }

    /// Removes a file, a link itself, or a directory with everything in it. Nothing is removed through a link, even if
    /// the path changes meanwhile.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn remove_all(self: &Arc<Self>, path: &Path) -> Result<()> {
        self.remove_tree(Location::at(path))
    }

    fn remove_tree(self: &Arc<Self>, place: Location<'_>) -> Result<()> {
        let failed = |error| Error::file(&*place.path(), "remove", error);
        if self.look(What::Itself(place)).map_err(failed)?.kind == FileKind::Directory {
            let directory = Directory::open_as(self, place, Open::OwnDirectory)?;
            for name in directory.names("")? {
                self.remove_tree(Location::within(&directory, name.as_ref()))?;
            }
        }
        self.change(&Change::Remove { place }).map_err(failed)
    }

    /// Facts about the target of a path, links followed; `None` if nothing has the path.
    pub fn named(&self, path: &Path) -> Option<FileStatus> {
        self.look(What::Named(path)).ok()
    }

    /// Facts about a path itself, even if it is a link; `None` if nothing has the path.
    pub fn named_itself(&self, path: &Path) -> Option<FileStatus> {
        self.look(What::Itself(Location::at(path))).ok()
    }

    /// Resolves all links of a path.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn resolved(&self, path: &Path) -> Result<PathBuf> {
        self.resolve(path).map_err(|error| Error::file(path, "follow", error))
    }
}

/// An input file, read from its start or from any offset. A clone reads the same file, at a position of its own.
#[derive(Clone, Debug)]
pub struct Input {
    file: Arc<DataFile>,
    offset_bytes: u64,
}

impl Input {
    /// The open file.
    pub fn file(&self) -> &Arc<DataFile> {
        &self.file
    }

    /// The file's size when it was opened.
    pub fn len_bytes(&self) -> u64 {
        self.file.len_bytes()
    }

    /// Fills `bytes` from an offset, independent of the position.
    ///
    /// # Errors
    /// A read that fails, or `UnexpectedEof` where the file ends too early.
    pub fn read_at(&self, bytes: &mut [u8], offset_bytes: u64) -> std::io::Result<()> {
        self.file.read_at(bytes, offset_bytes)
    }

    /// Reads from an offset on, independent of the position. The number of bytes may be smaller than requested.
    ///
    /// # Errors
    /// A read that fails.
    pub fn read_some(&self, bytes: &mut [u8], offset_bytes: u64) -> std::io::Result<usize> {
        self.file.read_some(bytes, offset_bytes)
    }
}

impl Read for Input {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_some(bytes, self.offset_bytes)?;
        self.offset_bytes += read as u64;
        Ok(read)
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let place = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => self.offset_bytes.checked_add_signed(by),
            SeekFrom::End(by) => self.file.len_bytes().checked_add_signed(by),
        };
        self.offset_bytes = place.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.offset_bytes)
    }
}
