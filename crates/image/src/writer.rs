//! Writing the page files of an image sequentially.
//!
//! The index of a file is written when all its keys are known. Until then they are in a temporary file: their number,
//! which is unknown before the lists are encoded, takes no memory.

use crate::Result;
use crate::workspace::Workspace;
use outcore_format::{ImageFile, Origin, PageBytes, write_index};
use outcore_io::{Runtime, Spill, SpillReader, SpillWriter, Writer};
use std::path::{Path, PathBuf};

/// Memory of a writer for keys, beside its buffer of pages.
pub const KEYS_BYTES: usize = 16 << 10;

/// Writes a file of pages and its index.
pub struct PageWriter<'a> {
    runtime: &'a Runtime,
    origin: Origin,
    writer: Writer,
    pages: u64,
    /// If the file has an index.
    index: Option<IndexWriter>,
}

impl<'a> PageWriter<'a> {
    /// Creates a file of the image that is being made in a workspace.
    pub fn create(
        runtime: &'a Runtime,
        workspace: &Workspace,
        file: ImageFile,
        image_id: u64,
        buffer_bytes: usize,
    ) -> Result<Self> {
        let path = file.path(workspace.partial());
        let index = match file.index_name() {
            Some(_) => Some(IndexWriter::create(runtime, workspace, file, image_id)?),
            None => None,
        };
        Ok(PageWriter {
            runtime,
            origin: file.origin(image_id),
            writer: Writer::create(runtime, "writing pages", &path, buffer_bytes)?,
            pages: 0,
            index,
        })
    }

    /// The seed of the checksums of this file's pages.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Seals a page for the next place of the file and appends it.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn place(&mut self, key: u64, add_first: u64, page: &mut PageBytes) -> Result<()> {
        self.origin.place(self.pages, add_first, page);
        self.append(key + add_first, page)
    }

    /// Appends a page that is already sealed for its place. `key` goes to the index, if the file has one.
    pub fn append(&mut self, key: u64, page: &PageBytes) -> Result<()> {
        self.writer.put(page)?;
        self.pages += 1;
        self.index.as_mut().map_or(Ok(()), |index| index.push(key))
    }

    /// Writes the remaining pages and the index, makes both durable, and returns the number of pages.
    pub fn finish(self) -> Result<u64> {
        self.writer.finish()?;
        if let Some(index) = self.index {
            index.finish(self.runtime)?;
        }
        Ok(self.pages)
    }
}

/// Writes an index, one key per page of some file.
pub struct IndexWriter {
    origin: Origin,
    path: PathBuf,
    spill: Spill,
    keys: SpillWriter,
    count: u64,
    last: u64,
}

impl IndexWriter {
    /// Begins the index of a file of the image that is being made in a workspace.
    ///
    /// # Errors
    /// A temporary file that cannot be created, or no memory.
    pub fn create(runtime: &Runtime, workspace: &Workspace, file: ImageFile, image_id: u64) -> Result<Self> {
        let path = workspace.temporary(&format!("keys-{}", file.number()));
        let spill = Spill::create(runtime.backend(), &path)?;
        Ok(IndexWriter {
            origin: file.origin(image_id),
            path: workspace.partial().join(file.index_name().unwrap_or_default()),
            keys: SpillWriter::new(runtime, &spill, 0, KEYS_BYTES)?,
            spill,
            count: 0,
            last: 0,
        })
    }

    /// Appends a key that is at least as great as the one before.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn push(&mut self, key: u64) -> Result<()> {
        self.keys.word(key)?;
        self.count += 1;
        self.last = key;
        Ok(())
    }

    /// Writes the index of all keys and makes it durable.
    ///
    /// # Errors
    /// Errors of the operating system, or a request to stop.
    pub fn finish(self, runtime: &Runtime) -> Result<()> {
        let IndexWriter { origin, path, spill, keys, count, last } = self;
        keys.finish()?;
        let mut output = Writer::create(runtime, "the page index", &path, KEYS_BYTES)?;
        write_index::<crate::Error>(
            &origin,
            (count, last),
            |visit| {
                runtime.cancel().check()?;
                let mut keys = SpillReader::new(&spill, runtime.budget(), KEYS_BYTES)?;
                (0..count).try_for_each(|_| visit(keys.word()?))
            },
            |bytes| output.put(bytes),
        )?;
        output.finish()
    }
}

/// Writes a small file of an image that is being made, and makes it durable.
pub fn write_member(runtime: &Runtime, path: &Path, bytes: &[u8]) -> Result<()> {
    let mut output = Writer::create(runtime, "a small file", path, 0)?;
    output.put(bytes)?;
    output.finish()
}
