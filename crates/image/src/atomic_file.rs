//! Output files that are complete or absent.
//!
//! A file is written under a temporary name beside its target (`partial.rs`), synced, and gets its name. Dropped before
//! that, it vanishes, and if the process is killed before that, the next file that is made in the same folder removes
//! it. Errors of the operating system are remembered, because encoders on top wrap errors beyond recognition.

use crate::image::Image;
use crate::partial::Partial;
use crate::{Error, Result};
use outcore_io::{Runtime, Writer};
use std::io::{BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

/// Size of a file's buffer: the block that is filled and the one that is being written, together.
pub const BUFFER_BYTES: usize = 256 << 10;
/// Size of the buffer of the standard output.
const STANDARD_BYTES: usize = 64 << 10;

/// A file that is being written under a temporary name; or the standard output, which receives the bytes as they are
/// written.
pub struct AtomicFile {
    runtime: Runtime,
    target: PathBuf,
    place: Place,
    failure: Option<Error>,
}

impl std::fmt::Debug for AtomicFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AtomicFile").field("target", &self.target).finish_non_exhaustive()
    }
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
    pub fn within(runtime: &Runtime, target: &Path) -> Result<Self> {
        if is_standard_output(target) {
            let place = Place::Standard(BufWriter::with_capacity(STANDARD_BYTES, std::io::stdout()));
            let target = PathBuf::from("the standard output");
            return Ok(AtomicFile { runtime: runtime.clone(), target, place, failure: None });
        }
        let create = |path: &Path| Writer::create(runtime, "an output buffer", path, BUFFER_BYTES);
        let (temporary, writer) = Partial::file(runtime.backend(), target, create)?;
        let (runtime, target) = (runtime.clone(), target.to_owned());
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
            Place::Standard(writer) => writer.flush().map_err(|error| Error::file(&self.target, "write to", error)),
        };
        done.map_err(|error| self.named(error))
    }

    /// Gives the file the name of its target; it is complete from now on.
    ///
    /// # Errors
    /// Errors of the operating system. There is no new file then, and an older one of that name is unchanged, except
    /// where only the sync of the folder failed in a file system that cannot exchange names.
    pub fn commit(mut self) -> Result<()> {
        self.finish()?;
        match &mut self.place {
            Place::File { temporary, .. } => temporary.take_name(&self.target),
            Place::Standard(_) => Ok(()),
        }
    }

    /// The reason why writing failed; `what` describes it if it was not an error of the operating system.
    pub fn error(&mut self, what: impl std::fmt::Display) -> Error {
        match self.failure.take() {
            Some(failure) => failure,
            None => Error::file(&self.target, "write", std::io::Error::other(what.to_string())),
        }
    }

    /// Puts the target's name into an error: users do not know the temporary one.
    fn named(&self, error: Error) -> Error {
        match error {
            Error::File { source, .. } if matches!(self.place, Place::File { .. }) => {
                Error::file(&self.target, "write", source)
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
                writer.write_all(bytes).map_err(|error| Error::file(&self.target, "write to", error))
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
pub fn write_file(runtime: &Runtime, target: &Path, bytes: &[u8]) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placed_file::PlacedFile;
    use outcore_io::RuntimeOptions;
    use outcore_io::backend::{Faults, Sim};
    use std::sync::Arc;

    fn write_placed(runtime: &Runtime, target: &Path, bytes: &[u8]) -> Result<()> {
        let file = PlacedFile::create(runtime, target)?;
        file.write(bytes, 0)?;
        file.commit()
    }

    #[test]
    fn a_failure_of_any_operation_leaves_the_older_file_or_none() {
        for write in [write_file as fn(&Runtime, &Path, &[u8]) -> Result<()>, write_placed] {
            for (older, no_exchange) in [(Some("old"), false), (None, false), (None, true)] {
                let mut failures = 0;
                loop {
                    let directory = tempfile::tempdir().unwrap();
                    let target = directory.path().join("file");
                    older.iter().for_each(|text| std::fs::write(&target, text).unwrap());
                    let faults = Faults { fail_at: Some(failures), no_exchange, ..Faults::default() };
                    let backend: Option<Arc<dyn outcore_io::Backend>> = Some(Arc::new(Sim::new(faults)));
                    let runtime = Runtime::new(RuntimeOptions { backend, ..RuntimeOptions::default() }).unwrap();
                    let written = write(&runtime, &target, b"new");
                    let text = std::fs::read_to_string(&target).ok();
                    if written.is_ok() {
                        assert_eq!(text.as_deref(), Some("new"));
                        break;
                    }
                    assert_eq!(text.as_deref(), older, "operation {failures}");
                    failures += 1;
                }
                // Creation, write, sync, rename, and the sync of the folder.
                assert!(failures >= 5, "{failures} operations");
            }
        }
    }

    #[test]
    fn a_directory_that_takes_the_name_meanwhile_stays() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("file");
        std::fs::write(&target, "old").unwrap();
        let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
        let mut file = AtomicFile::within(&runtime, &target).unwrap();
        file.write_all(b"new").unwrap();
        std::fs::remove_file(&target).unwrap();
        std::fs::create_dir_all(target.join("below")).unwrap();
        assert!(file.commit().is_err());
        assert!(target.join("below").is_dir());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
