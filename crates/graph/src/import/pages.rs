//! Writing the page files of an image, each from its start to its end.
//!
//! The index of a file is written when all its keys are known. Until then they are in a temporary file: their number,
//! which nobody knows before the lists are encoded, takes no memory.

use super::workspace::Workspace;
use crate::error::Result;
use crate::image::ImageFile;
use outcore_format::{Origin, PageBytes, write_index};
use outcore_io::buffer::raw_bytes;
use outcore_io::{Array, Error, Runtime, Spill, SpillReader, Writer};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What a writer takes for keys beside its buffer of pages.
pub(super) const KEYS_BYTES: usize = 16 << 10;

/// Writes a file of pages and its index.
pub(super) struct PageWriter<'a> {
    runtime: &'a Runtime,
    origin: Origin,
    writer: Writer,
    pages: u64,
    /// If the file has an index.
    keys: Option<Keys>,
}

impl<'a> PageWriter<'a> {
    /// Creates a file of the image that is being made in a workspace.
    pub(super) fn create(
        runtime: &'a Runtime,
        workspace: &Workspace,
        file: ImageFile,
        image_id: u64,
        buffer_bytes: usize,
    ) -> Result<Self> {
        let path = file.path(workspace.partial());
        let keys = match file.index_name() {
            Some(name) => Some(Keys::create(runtime, workspace, file, name)?),
            None => None,
        };
        Ok(PageWriter {
            runtime,
            origin: file.origin(image_id),
            writer: Writer::create(runtime, "writing pages", &path, buffer_bytes)?,
            pages: 0,
            keys,
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
        self.writer.put(page)?;
        self.pages += 1;
        self.keys.as_mut().map_or(Ok(()), |keys| keys.push(key))
    }

    /// Writes what is left and the index, makes both last, and returns the number of pages.
    pub(super) fn finish(self) -> Result<u64> {
        self.writer.finish()?;
        if let Some(keys) = self.keys {
            keys.write_index(self.runtime, &self.origin, self.pages)?;
        }
        Ok(self.pages)
    }
}

/// The keys of an index that is to be written, one per page.
struct Keys {
    index: PathBuf,
    spill: Spill,
    buffer: Array<u64>,
    used: usize,
    last: u64,
}

impl Keys {
    fn create(runtime: &Runtime, workspace: &Workspace, file: ImageFile, index_name: &str) -> Result<Self> {
        let path = workspace.temporary(&format!("keys-{}", file as u16));
        Ok(Keys {
            index: workspace.partial().join(index_name),
            spill: Spill::create(runtime.backend(), &path)?,
            buffer: Array::zeroed(runtime.budget(), "the page index", KEYS_BYTES / 8)?,
            used: 0,
            last: 0,
        })
    }

    fn push(&mut self, key: u64) -> Result<()> {
        if self.used == self.buffer.len() {
            self.flush()?;
        }
        self.buffer[self.used] = key;
        self.used += 1;
        self.last = key;
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.spill.append(raw_bytes(&self.buffer[..self.used]))?;
        self.used = 0;
        Ok(())
    }

    /// Writes the index of all keys, of which there are `count`, and makes it last.
    fn write_index(mut self, runtime: &Runtime, origin: &Origin, count: u64) -> Result<()> {
        self.flush()?;
        let failed = |error| Error::file(&self.index, "write", error);
        let mut output = BufWriter::new(runtime.backend().create(&self.index)?);
        write_index::<crate::error::Error>(
            origin,
            (count, self.last),
            |visit| {
                runtime.cancel().check()?;
                let mut keys = SpillReader::new(&self.spill, runtime.budget(), KEYS_BYTES)?;
                (0..count).try_for_each(|_| visit(keys.word()?))
            },
            |bytes| Ok(output.write_all(bytes).map_err(failed)?),
        )?;
        let mut output = output.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok(output.sync().map_err(|error| Error::file(&self.index, "sync", error))?)
    }
}

/// Writes a small file and makes it last.
pub(super) fn write_file(runtime: &Runtime, path: &Path, bytes: &[u8]) -> Result<()> {
    let mut output = runtime.backend().create(path)?;
    output.write_all(bytes).map_err(|error| Error::file(path, "write", error))?;
    Ok(output.sync().map_err(|error| Error::file(path, "sync", error))?)
}
