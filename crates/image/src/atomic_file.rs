//! Output files that are complete or absent.
//!
//! A file is written under a temporary name beside its place (`partial.rs`), synced, and renamed onto it. Dropped
//! before that, it vanishes, and if the process is killed before that, the next file that is made in the same folder
//! removes it. What the operating system refuses is remembered, for the encoders on top wrap errors beyond recognition.

use crate::error::{Error, Result};
use crate::image::Image;
use crate::partial::Partial;
use outcore_io::{Output, Reservation, Runtime, folder};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much is gathered before it is written.
pub const BUFFER_BYTES: usize = 256 << 10;
/// A file that is being written under a temporary name.
pub struct AtomicFile {
    runtime: Arc<Runtime>,
    target: PathBuf,
    temporary: Partial,
    output: Option<Output>,
    buffer: Vec<u8>,
    failure: Option<outcore_io::Error>,
    _reservation: Reservation,
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

    fn within(runtime: &Arc<Runtime>, target: &Path) -> Result<Self> {
        let reservation = runtime.budget().reserve("an output buffer", BUFFER_BYTES as u64)?;
        let (temporary, output) = Partial::file(runtime.backend(), target)?;
        Ok(AtomicFile {
            runtime: Arc::clone(runtime),
            target: target.to_owned(),
            temporary,
            output: Some(output),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            failure: None,
            _reservation: reservation,
        })
    }

    /// Writes all that was put into the file and waits until it would outlast a power failure.
    ///
    /// # Errors
    /// What the operating system refuses, or a request to stop.
    pub fn finish(&mut self) -> Result<()> {
        if self.write_out().is_err() {
            return Err(self.error("the output could not be written"));
        }
        if let Some(mut output) = self.output.take() {
            output.sync().map_err(|error| outcore_io::Error::file(&self.target, "write", error))?;
        }
        Ok(())
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
            None => outcore_io::Error::file(&self.target, "write", std::io::Error::other(what.to_string())).into(),
        }
    }

    fn write_out(&mut self) -> std::io::Result<()> {
        if self.failure.is_some() {
            return Err(std::io::Error::other("an earlier write failed"));
        }
        if let Err(cancelled) = self.runtime.cancel().check() {
            self.failure = Some(cancelled);
            return Err(std::io::Error::other("stopped"));
        }
        let Some(output) = &mut self.output else { return Ok(()) };
        if let Err(error) = output.write_all(&self.buffer) {
            self.failure = Some(outcore_io::Error::file(&self.target, "write", error));
            return Err(std::io::Error::other("writing failed"));
        }
        self.buffer.clear();
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.buffer.len() >= BUFFER_BYTES {
            self.write_out()?;
        }
        let taken = bytes.len().min(BUFFER_BYTES - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        Ok(taken)
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
