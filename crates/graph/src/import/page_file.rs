//! A file of the image, and the writer of its format that fills its pages.

use super::job::Job;
use outcore_format::values::ValueWriter;
use outcore_format::{ImageFile, Origin, PageBytes};
use outcore_image::{Error, PageWriter, Result};

/// Takes a full page, with its key.
pub(super) type Emit<'a> = &'a mut dyn FnMut(u64, &PageBytes);

pub(super) struct PageFile<'a, W> {
    file: PageWriter<'a>,
    writer: W,
    full: Vec<(u64, Box<PageBytes>)>,
}

impl<'a, W> PageFile<'a, W> {
    /// Creates a file, and its writer with the seed of its checksums.
    pub fn create(
        job: &Job<'a>,
        file: ImageFile,
        buffer_bytes: usize,
        writer: impl FnOnce(Origin) -> W,
    ) -> Result<Self> {
        let file = PageWriter::create(job.runtime, &job.workspace, file, job.image_id, buffer_bytes)?;
        Ok(PageFile { writer: writer(file.origin()), file, full: Vec::new() })
    }

    /// Appends what `push` gives the writer.
    #[inline]
    pub fn put(&mut self, push: impl FnOnce(&mut W, Emit<'_>)) -> Result<()> {
        let full = &mut self.full;
        push(&mut self.writer, &mut |key, page| full.push((key, Box::new(*page))));
        if self.full.is_empty() { Ok(()) } else { self.append() }
    }

    #[cold]
    fn append(&mut self) -> Result<()> {
        self.full.drain(..).try_for_each(|(key, page)| self.file.append(key, &page))
    }

    /// Writes the last pages, which `finish` takes from the writer; returns the number of all.
    pub fn finish(self, finish: impl FnOnce(W, Emit<'_>)) -> Result<u64> {
        let PageFile { mut file, writer, mut full } = self;
        finish(writer, &mut |key, page| full.push((key, Box::new(*page))));
        full.into_iter().try_for_each(|(key, page)| file.append(key, &page))?;
        file.finish()
    }
}

impl PageFile<'_, ValueWriter> {
    /// Appends a value.
    #[inline]
    pub fn put_value(&mut self, value: u64) -> Result<()> {
        let mut pushed = Ok(());
        self.put(|writer, emit| pushed = writer.push(value, emit))?;
        pushed.map_err(wrong_value)
    }
}

/// The error for a value that is not one of its column's type, which the import chose: a defect.
pub(super) fn wrong_value(error: outcore_format::Error) -> Error {
    Error::Verification { expected: error.expected, found: error.found }
}
