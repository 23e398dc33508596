//! Output files that are complete or absent, compressed or not.
//!
//! A file is written under a temporary name beside its place (`partial.rs`), synced, and renamed onto it. Dropped
//! before that, it vanishes, and if the process is killed before that, the next file that is made in the same folder
//! removes it. What the operating system refuses is remembered, for the encoders on top wrap errors beyond recognition.

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::partial::Partial;
use outcore_io::{Error as IoError, Reservation, Runtime, Writer, folder};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is gathered and what is being written, together.
const BUFFER_BYTES: usize = 256 << 10;
/// What a compressor takes, at most.
const COMPRESSOR_BYTES: u64 = 8 << 20;

/// What a file takes at most while it is written.
pub(crate) const FILE_BYTES: u64 = BUFFER_BYTES as u64 + COMPRESSOR_BYTES;

/// A file that is being written under a temporary name.
pub(crate) struct AtomicFile {
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
    pub fn create(graph: &Graph, target: &Path) -> Result<Self> {
        graph.make_room("an output buffer", BUFFER_BYTES as u64)?;
        AtomicFile::within(graph.runtime(), target)
    }

    fn within(runtime: &Arc<Runtime>, target: &Path) -> Result<Self> {
        let create = |path: &Path| Writer::create(runtime, "an output buffer", path, BUFFER_BYTES);
        let (temporary, writer) = Partial::file_by(runtime.backend(), target, create)?;
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
pub fn check_file(graph: &Graph, target: &Path) -> Result<()> {
    // The file itself, under its temporary name: nothing else tells all that may be in its way.
    AtomicFile::create(graph, target).map(drop)
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    /// Not at all.
    None,
    /// As gzip does.
    Gzip,
    /// As zstd does.
    Zstd,
}

impl Compression {
    /// What the end of a name says, and the name without it.
    pub fn of(name: &str) -> (Self, &str) {
        if let Some(rest) = name.strip_suffix(".gz") {
            return (Compression::Gzip, rest);
        }
        match name.strip_suffix(".zst") {
            Some(rest) => (Compression::Zstd, rest),
            None => (Compression::None, name),
        }
    }
}

/// Text on its way into a file.
pub(crate) struct TextFile {
    encoder: Encoder,
    _reservation: Option<Reservation>,
}

enum Encoder {
    Plain(AtomicFile),
    Gzip(flate2::write::GzEncoder<AtomicFile>),
    Zstd(zstd::Encoder<'static, AtomicFile>),
}

impl TextFile {
    /// Begins a file of text that will be named `target`.
    ///
    /// # Errors
    /// As for [`AtomicFile::create`].
    pub fn create(graph: &Graph, target: &Path, compression: Compression) -> Result<Self> {
        let file = AtomicFile::create(graph, target)?;
        let mut reservation = None;
        if compression != Compression::None {
            graph.make_room("compressing the output", COMPRESSOR_BYTES)?;
            reservation = Some(graph.runtime().budget().reserve("compressing the output", COMPRESSOR_BYTES)?);
        }
        let encoder = match compression {
            Compression::None => Encoder::Plain(file),
            Compression::Gzip => Encoder::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
            Compression::Zstd => {
                Encoder::Zstd(zstd::Encoder::new(file, 3).map_err(|error| IoError::file(target, "compress", error))?)
            }
        };
        Ok(TextFile { encoder, _reservation: reservation })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// What the operating system refuses, or a request to stop.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let outcome = match &mut self.encoder {
            Encoder::Plain(file) => file.write_all(bytes),
            Encoder::Gzip(encoder) => encoder.write_all(bytes),
            Encoder::Zstd(encoder) => encoder.write_all(bytes),
        };
        outcome.map_err(|error| match &mut self.encoder {
            Encoder::Plain(file) => file.error(error),
            Encoder::Gzip(encoder) => encoder.get_mut().error(error),
            Encoder::Zstd(encoder) => encoder.get_mut().error(error),
        })
    }

    /// Ends the text: the file is on the disk, but has not got its name yet.
    ///
    /// # Errors
    /// As for [`AtomicFile::finish`].
    pub fn finish(self) -> Result<AtomicFile> {
        let mut file = match self.encoder {
            Encoder::Plain(file) => file,
            Encoder::Gzip(mut encoder) => match encoder.try_finish() {
                Ok(()) => finished(encoder.finish())?,
                Err(error) => return Err(encoder.get_mut().error(error)),
            },
            Encoder::Zstd(encoder) => match encoder.try_finish() {
                Ok(file) => file,
                Err((mut encoder, error)) => return Err(encoder.get_mut().error(error)),
            },
        };
        file.finish()?;
        Ok(file)
    }

    /// Gives the file its name; now it is complete.
    ///
    /// # Errors
    /// As for [`AtomicFile::commit`].
    pub fn commit(self) -> Result<()> {
        self.finish()?.commit()
    }
}

fn finished(file: std::io::Result<AtomicFile>) -> Result<AtomicFile> {
    file.map_err(|error| Error::custom(format!("cannot end a compressed file: {error}")))
}
