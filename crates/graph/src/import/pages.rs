//! Writing the page files of an image, each from its start to its end.

use crate::error::Result;
use crate::image::ImageFile;
use outcore_format::{Index, Origin, PAGE_BYTES, PageBytes};
use outcore_io::backend::Output;
use outcore_io::{Array, Error, Reservation, Runtime};
use std::io::Write;
use std::path::{Path, PathBuf};

/// For how many more keys memory is reserved at a time.
const KEYS: usize = 1 << 14;

/// Writes a file of pages and its index.
pub(super) struct PageWriter<'a> {
    runtime: &'a Runtime,
    file: ImageFile,
    image: PathBuf,
    origin: Origin,
    path: PathBuf,
    output: Box<dyn Output>,
    buffer: Array<u8>,
    used: usize,
    pages: u64,
    keys: Vec<u64>,
    reservations: Vec<Reservation>,
}

impl<'a> PageWriter<'a> {
    /// Creates a file of the image that is written in directory `image`.
    pub(super) fn create(
        runtime: &'a Runtime,
        image: &Path,
        file: ImageFile,
        image_id: u64,
        buffer_bytes: usize,
    ) -> Result<Self> {
        let path = file.path(image);
        Ok(PageWriter {
            runtime,
            file,
            image: image.to_owned(),
            origin: file.origin(image_id),
            output: runtime.backend().create(&path)?,
            path,
            buffer: Array::zeroed(runtime.budget(), "writing pages", buffer_bytes / PAGE_BYTES * PAGE_BYTES)?,
            used: 0,
            pages: 0,
            keys: Vec::new(),
            reservations: Vec::new(),
        })
    }

    /// What pages of this file are sealed with.
    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    /// Puts a page at its place behind the others and appends it.
    pub(super) fn place(&mut self, key: u64, add_first: u64, add_base: u64, page: &mut PageBytes) -> Result<()> {
        self.origin.place(self.pages, add_first, add_base, page);
        self.append(key + add_first, page)
    }

    /// Appends a page that is already sealed for its place. `key` goes to the index, if the file has one.
    pub(super) fn append(&mut self, key: u64, page: &PageBytes) -> Result<()> {
        if self.used == self.buffer.len() {
            self.flush()?;
        }
        self.buffer[self.used..self.used + PAGE_BYTES].copy_from_slice(page);
        self.used += PAGE_BYTES;
        self.pages += 1;
        if self.file.index_name().is_some() {
            if self.keys.len().is_multiple_of(KEYS) {
                // Growing doubles the list: old and new take three times its size.
                let bytes = 24 * KEYS as u64;
                self.reservations.push(self.runtime.budget().reserve("the page index", bytes)?);
            }
            self.keys.push(key);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let written = self.output.write_all(&self.buffer[..self.used]);
        let offset = self.pages * PAGE_BYTES as u64 - self.used as u64;
        written.map_err(|error| Error::file_at(&self.path, "write", offset, error))?;
        self.used = 0;
        Ok(())
    }

    /// Writes what is left and the index, makes both last, and returns the number of pages.
    pub(super) fn finish(mut self) -> Result<u64> {
        self.flush()?;
        self.output.sync().map_err(|error| Error::file(&self.path, "sync", error))?;
        if let Some(path) = self.file.index_name().map(|name| self.image.join(name)) {
            let index = Index::new(&self.keys).to_bytes(&self.origin);
            write_file(self.runtime, &path, &index)?;
        }
        Ok(self.pages)
    }
}

/// Writes a small file and makes it last.
pub(super) fn write_file(runtime: &Runtime, path: &Path, bytes: &[u8]) -> Result<()> {
    let mut output = runtime.backend().create(path)?;
    output.write_all(bytes).map_err(|error| Error::file(path, "write", error))?;
    Ok(output.sync().map_err(|error| Error::file(path, "sync", error))?)
}
