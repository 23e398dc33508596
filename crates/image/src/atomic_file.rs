//! Output files that are complete or absent.
//!
//! A file is written under a temporary name beside its target (`partial.rs`), synced, and renamed to it. Dropped before
//! that, it vanishes, and if the process is killed before that, the next file that is made in the same folder removes
//! it. Errors of the operating system are remembered, because encoders on top wrap errors beyond recognition.

use crate::error::{Error, Result};
use crate::image::Image;
use crate::partial::Partial;
use outcore_io::{Error as IoError, Runtime, Writer, folder};
use std::io::{BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Size of a file's buffer: the block that is filled and the one that is being written, together.
pub const BUFFER_BYTES: usize = 256 << 10;
/// Size of the buffer of the standard output.
const STANDARD_BYTES: usize = 64 << 10;

/// A file that is being written under a temporary name; or the standard output, which receives the bytes as they are
/// written.
pub struct AtomicFile {
    runtime: Arc<Runtime>,
    target: PathBuf,
    place: Place,
    failure: Option<IoError>,
}

/// Target of the bytes.
enum Place {
    File {
        temporary: Partial,
        /// `None` once the file is whole.
        writer: Option<Box<Writer>>,
    },
    Standard(BufWriter<Stdout>),
}

/// Whether a target is the standard output: `-`, or `-` with an ending that selects the format, such as `-.jsonl`.
pub fn is_standard_output(target: &Path) -> bool {
    target.to_str().and_then(|name| name.strip_prefix('-')).is_some_and(|ending| {
        ending.is_empty() || ending.starts_with('.') && !ending.contains('/') //
    })
}

impl AtomicFile {
    /// Begins a file that will be named `target`, and replaces any file of that name.
    ///
    /// # Errors
    /// A target that is a directory or no name, a file that cannot be created, or no memory.
    pub fn create(image: &Image, target: &Path) -> Result<Self> {
        image.make_room("an output buffer", BUFFER_BYTES as u64)?;
        AtomicFile::within(image.runtime(), target)
    }

    /// [`AtomicFile::create`] for files that belong to no image of a graph.
    ///
    /// # Errors
    /// As with [`AtomicFile::create`].
    pub fn within(runtime: &Arc<Runtime>, target: &Path) -> Result<Self> {
        if is_standard_output(target) {
            let place = Place::Standard(BufWriter::with_capacity(STANDARD_BYTES, std::io::stdout()));
            let target = PathBuf::from("the standard output");
            return Ok(AtomicFile { runtime: Arc::clone(runtime), target, place, failure: None });
        }
        let create = |path: &Path| Writer::create(runtime, "an output buffer", path, BUFFER_BYTES);
        let (temporary, writer) = Partial::file(runtime.backend(), target, create)?;
        let (runtime, target) = (Arc::clone(runtime), target.to_owned());
        Ok(AtomicFile {
            runtime,
            target,
            place: Place::File { temporary, writer: Some(Box::new(writer)) },
            failure: None,
        })
    }

    /// Writes all bytes to the file and waits until it would outlast a power failure.
    ///
    /// # Errors
    /// Errors of the operating system, or a request to stop.
    pub fn finish(&mut self) -> Result<()> {
        if self.put(&[]).is_err() {
            return Err(self.error("the output could not be written"));
        }
        let done = match &mut self.place {
            Place::File { writer, .. } => writer.take().map_or(Ok(()), |writer| writer.finish()),
            Place::Standard(writer) => writer.flush().map_err(|error| IoError::file(&self.target, "write to", error)),
        };
        Ok(done.map_err(|error| self.named(error))?)
    }

    /// Renames the file to its target; it is complete from now on.
    ///
    /// # Errors
    /// Errors of the operating system. There is no new file then, and an older one of that name is unchanged, unless
    /// only the sync of the folder failed: then the new name may not outlast a power failure.
    pub fn commit(mut self) -> Result<()> {
        self.finish()?;
        let Place::File { temporary, .. } = &self.place else { return Ok(()) };
        let backend = self.runtime.backend();
        backend.rename(temporary.path(), &self.target)?;
        Ok(backend.sync_directory(folder(&self.target))?)
    }

    /// The reason why writing failed; `what` describes it if it was not an error of the operating system.
    pub fn error(&mut self, what: impl std::fmt::Display) -> Error {
        match self.failure.take() {
            Some(failure) => failure.into(),
            None => IoError::file(&self.target, "write", std::io::Error::other(what.to_string())).into(),
        }
    }

    /// Puts the target's name into an error: users do not know the temporary one.
    fn named(&self, error: IoError) -> IoError {
        match error {
            IoError::File { source, .. } if matches!(self.place, Place::File { .. }) => {
                IoError::file(&self.target, "write", source)
            }
            other => other,
        }
    }

    /// Appends bytes, unless an earlier write failed or a stop was requested.
    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if self.failure.is_some() {
            return Err(std::io::Error::other("an earlier write failed"));
        }
        let put = self.runtime.cancel().check().and_then(|()| match &mut self.place {
            Place::File { writer, .. } => writer.as_mut().map_or(Ok(()), |writer| writer.put(bytes)),
            Place::Standard(writer) => {
                writer.write_all(bytes).map_err(|error| IoError::file(&self.target, "write to", error))
            }
        });
        if let Err(error) = put {
            self.failure = Some(self.named(error));
            return Err(std::io::Error::other("writing failed"));
        }
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.put(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Writes a small file, which is complete or absent, and replaces any file of that name; a link is replaced, not
/// followed.
///
/// # Errors
/// A target that is a directory or no name, errors of the operating system, or no memory.
pub fn write_file(runtime: &Arc<Runtime>, target: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::within(runtime, target)?;
    match file.write_all(bytes) {
        Ok(()) => file.commit(),
        Err(error) => Err(file.error(error)),
    }
}

/// Refuses a file that [`write_file`] could not write, before its contents are computed.
///
/// # Errors
/// The errors of [`write_file`], with an older file left in place.
pub fn check_file(image: &Image, target: &Path) -> Result<()> {
    // Creating the file under its temporary name is the only complete test.
    AtomicFile::create(image, target).map(drop)
}
