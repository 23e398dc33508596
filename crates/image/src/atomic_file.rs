//! Output files that are complete or absent.
//!
//! A file is written under a temporary name beside its place (`partial.rs`), synced, and renamed onto it. Dropped
//! before that, it vanishes, and if the process is killed before that, the next file that is made in the same folder
//! removes it. What the operating system refuses is remembered, for the encoders on top wrap errors beyond recognition.

use crate::error::{Error, Result};
use crate::image::Image;
use crate::partial::Partial;
use outcore_io::{Error as IoError, Runtime, Writer, folder};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is gathered and what is being written, together.
pub const BUFFER_BYTES: usize = 256 << 10;

/// A file that is being written under a temporary name.
pub struct AtomicFile {
    runtime: Arc<Runtime>,
    target: PathBuf,
    temporary: Partial,
    writer: Option<Writer>,
    failure: Option<IoError>,
}

impl AtomicFile {
    /// Begins a file that will be named `target`, in the place of any file of that name.
    ///
    /// # Errors
    /// A target that is a directory or no name, a file that cannot be created, or no memory.
    pub fn create(image: &Image, target: &Path) -> Result<Self> {
        image.make_room("an output buffer", BUFFER_BYTES as u64)?;
        AtomicFile::within(image.runtime(), target)
    }

    /// The same for what belongs to no image of a graph.
    ///
    /// # Errors
    /// As with [`AtomicFile::create`].
    pub fn within(runtime: &Arc<Runtime>, target: &Path) -> Result<Self> {
        let create = |path: &Path| Writer::create(runtime, "an output buffer", path, BUFFER_BYTES);
        let (temporary, writer) = Partial::file(runtime.backend(), target, create)?;
        let (runtime, target) = (Arc::clone(runtime), target.to_owned());
        Ok(AtomicFile { runtime, target, temporary, writer: Some(writer), failure: None })
    }

    /// Writes all that was put into the file and waits until it would outlast a power failure.
    ///
    /// # Errors
    /// What the operating system refuses, or a request to stop.
    pub fn finish(&mut self) -> Result<()> {
        if self.attempt(|_| Ok(())).is_err() {
            return Err(self.error("the output could not be written"));
        }
        match self.writer.take() {
            Some(writer) => Ok(writer.finish().map_err(|error| self.named(error))?),
            None => Ok(()),
        }
    }

    /// Gives the file its name; now it is complete.
    ///
    /// # Errors
    /// What the operating system refuses; then there is no file, and what had the name before still has it.
    pub fn commit(mut self) -> Result<()> {
        self.finish()?;
        let backend = self.runtime.backend();
        backend.rename(self.temporary.path(), &self.target)?;
        Ok(backend.sync_directory(folder(&self.target))?)
    }

    /// Why writing failed; `what` says so if it was not the operating system's fault.
    pub fn error(&mut self, what: impl std::fmt::Display) -> Error {
        match self.failure.take() {
            Some(failure) => failure.into(),
            None => IoError::file(&self.target, "write", std::io::Error::other(what.to_string())).into(),
        }
    }

    /// Users know the name that the file is to have, not the one that it has until it is complete.
    fn named(&self, error: IoError) -> IoError {
        match error {
            IoError::File { source, .. } => IoError::file(&self.target, "write", source),
            other => other,
        }
    }

    /// Does something with the writer, unless something failed before or a request to stop came.
    fn attempt(&mut self, act: impl FnOnce(&mut Writer) -> outcore_io::Result<()>) -> std::io::Result<()> {
        if self.failure.is_some() {
            return Err(std::io::Error::other("an earlier write failed"));
        }
        let writer = self.writer.as_mut();
        if let Err(error) = self.runtime.cancel().check().and_then(|()| writer.map_or(Ok(()), act)) {
            self.failure = Some(self.named(error));
            return Err(std::io::Error::other("writing failed"));
        }
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.attempt(|writer| writer.put(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Writes a small file, which is complete or absent, in the place of any file of that name; a link is replaced, not
/// followed.
///
/// # Errors
/// A target that is a directory or no name, what the operating system refuses, or no memory.
pub fn write_file(runtime: &Arc<Runtime>, target: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::within(runtime, target)?;
    match file.write_all(bytes) {
        Ok(()) => file.commit(),
        Err(error) => Err(file.error(error)),
    }
}

/// Refuses a file that [`write_file`] could not write, before the work is done whose results it is for.
///
/// # Errors
/// What [`write_file`] would say, with nothing in the place of an older file.
pub fn check_file(image: &Image, target: &Path) -> Result<()> {
    // The file itself, under its temporary name: nothing else tells all that may be in its way.
    AtomicFile::create(image, target).map(drop)
}
