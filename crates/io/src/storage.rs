//! What is done with files above this crate, in the words of their users: every function is one or a few operations of
//! a [`Backend`], and its errors name the path.

use crate::backend::{Backend, Change, FileKind, Found, Location, Open, What};
use crate::directory::{DataFile, Directory};
use crate::error::{Error, Result};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl dyn Backend {
    /// Opens a file that a user named, to be read; links are followed.
    ///
    /// # Errors
    /// What the operating system refuses; anything that is no plain file.
    pub fn input(self: &Arc<Self>, path: &Path) -> Result<Input> {
        Ok(Input { file: Arc::new(DataFile::open_as(self, Location::at(path), Open::Input)?), offset_bytes: 0 })
    }

    /// Creates a temporary file that any worker writes and reads at any place. It has no name that others could open,
    /// so it vanishes with the process; the path says where it takes space, and names it in messages.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn scratch(self: &Arc<Self>, path: &Path) -> Result<DataFile> {
        let created = DataFile::open_as(self, Location::at(crate::folder(path)), Open::Nameless);
        created.map(|file| file.known_as(path)).map_err(|error| match error {
            Error::File { source, operation, .. } => Error::file(path, operation, source),
            other => other,
        })
    }

    /// Makes an empty directory.
    ///
    /// # Errors
    /// What the operating system refuses; `AlreadyExists` if anything has the name.
    pub fn create_directory(&self, path: &Path) -> Result<()> {
        let created = self.change(&Change::CreateDirectory { directory: path });
        created.map_err(|error| Error::file(path, "create", error))
    }

    /// Gives a file or directory another name, replacing a file of that name.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.change(&Change::Rename { from, to }).map_err(|error| Error::file(from, "rename", error))
    }

    /// Lets two files or directories exchange their names, so that at no moment either name is missing.
    ///
    /// # Errors
    /// What the operating system refuses; `Unsupported` where it cannot exchange names.
    pub fn exchange(&self, one: &Path, other: &Path) -> Result<()> {
        self.change(&Change::Exchange { one, other }).map_err(|error| Error::file(one, "exchange", error))
    }

    /// Makes what was created, renamed or removed in a directory last.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn sync_directory(&self, path: &Path) -> Result<()> {
        self.change(&Change::SyncDirectory { directory: path }).map_err(|error| Error::file(path, "sync", error))
    }

    /// Removes a file, or a link itself.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn remove(&self, path: &Path) -> Result<()> {
        let removed = self.change(&Change::Remove { place: Location::at(path) });
        removed.map_err(|error| Error::file(path, "remove", error))
    }

    /// Removes a file, a link itself, or a directory with all that is in it. Nothing is removed through a link,
    /// whatever becomes of the path meanwhile.
    ///
    /// # Errors
    /// What the operating system refuses.
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

    /// What a path leads to when links are followed, if there is anything.
    pub fn named(&self, path: &Path) -> Option<Found> {
        self.look(What::Named(path)).ok()
    }

    /// What a path itself names, though it may be a link, if there is anything.
    pub fn named_itself(&self, path: &Path) -> Option<Found> {
        self.look(What::Itself(Location::at(path))).ok()
    }

    /// The path that a path leads to when all links are followed.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn resolved(&self, path: &Path) -> Result<PathBuf> {
        self.resolve(path).map_err(|error| Error::file(path, "follow", error))
    }
}

/// A file that is being read, from its start or from any place. A clone reads the same file, from a place of its own.
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

    /// Fills `bytes` from an offset, wherever the reading stands.
    ///
    /// # Errors
    /// A read that fails, or `UnexpectedEof` where the file ends too early.
    pub fn read_at(&self, bytes: &mut [u8], offset_bytes: u64) -> std::io::Result<()> {
        self.file.read_at(bytes, offset_bytes)
    }

    /// Reads from an offset on, wherever the reading stands, as many bytes as there are, most often.
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
