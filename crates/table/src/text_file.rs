//! Output of text to a file, compressed or not.

use crate::output::Owner;
use outcore_image::{AtomicFile, BUFFER_BYTES, Error, Image, Result};
use outcore_io::Reservation;
use std::io::Write;
use std::path::Path;

/// Upper bound of the memory of a compressor.
const COMPRESSOR_BYTES: u64 = 8 << 20;

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// None.
    None,
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
}

impl Compression {
    /// Upper bound of the memory of a file while it is written.
    pub fn file_bytes(self) -> u64 {
        BUFFER_BYTES as u64 + if self == Compression::None { 0 } else { COMPRESSOR_BYTES }
    }

    /// The compression of a name's ending, and the name without it.
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

/// A file of text that is being written.
pub struct TextFile {
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
    pub fn create(image: &Image, target: &Path, compression: Compression) -> Result<Self> {
        TextFile::of(Owner::Image(image), target, compression)
    }

    /// [`create`](TextFile::create) for any owner.
    pub(crate) fn of(owner: Owner<'_>, target: &Path, compression: Compression) -> Result<Self> {
        let file = owner.file(target)?;
        let mut reservation = None;
        if compression != Compression::None {
            reservation = Some(owner.reserve("compressing the output", COMPRESSOR_BYTES)?);
        }
        let encoder = match compression {
            Compression::None => Encoder::Plain(file),
            Compression::Gzip => Encoder::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
            Compression::Zstd => {
                Encoder::Zstd(zstd::Encoder::new(file, 3).map_err(|error| Error::file(target, "compress", error))?)
            }
        };
        Ok(TextFile { encoder, _reservation: reservation })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// Errors of the operating system, or a request to stop.
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

    /// Ends the text: the file is on the disk, but has no final name yet.
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

    /// Renames the file to its target; it is complete from now on.
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
