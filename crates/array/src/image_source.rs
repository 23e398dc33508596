//! Arrays in images of Outcore's own: columns in pages of groups of rows, which are vectors where they lie.

use crate::plan::BLOCK_ROWS;
use crate::source::{Landed, Source, SourceReader};
use outcore_format::{ElementType, PAGE_BYTES};
use outcore_image::{DenseImage, DensePages, DenseReader, Result, SweepStats};
use outcore_io::Runtime;
use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A vector or matrix in an image.
pub struct ImageSource {
    image: Arc<DenseImage>,
    shape: Vec<u64>,
    /// How many rows a page has.
    page_rows: u64,
}

impl ImageSource {
    /// Opens an image of an array.
    ///
    /// # Errors
    /// A path that is no image of an array, a damaged manifest, or a file of the wrong size.
    pub fn open(runtime: &Arc<Runtime>, path: impl AsRef<Path>) -> Result<Self> {
        let image = DenseImage::open(runtime, path)?;
        let (rows, columns) = (image.shape().rows, image.shape().columns);
        let shape = if image.manifest().dimensions == 1 { vec![rows] } else { vec![rows, columns] };
        let page_rows = image.shape().rows_per_page();
        Ok(ImageSource { image, shape, page_rows })
    }

    /// The image.
    pub fn image(&self) -> &Arc<DenseImage> {
        &self.image
    }

    /// The pages that hold rows.
    fn pages(&self, rows: &Range<u64>) -> Range<u64> {
        let columns = self.image.shape().columns;
        rows.start / self.page_rows * columns..rows.end.div_ceil(self.page_rows) * columns
    }

    fn ring_bytes(&self, most_rows: u64, depth: usize) -> u64 {
        // Rows may begin anywhere in a page.
        let groups = (most_rows.div_ceil(self.page_rows) + 1).min(self.shape[0].div_ceil(self.page_rows));
        (depth as u64 * groups * self.image.shape().columns).max(1) * PAGE_BYTES as u64
    }
}

impl Source for ImageSource {
    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn names(&self) -> Option<&[String]> {
        self.image.manifest().names.as_deref()
    }

    fn element(&self) -> ElementType {
        self.image.shape().element
    }

    fn describe(&self) -> String {
        self.image.path().display().to_string()
    }

    fn unit_rows(&self) -> u64 {
        self.page_rows
    }

    fn bytes_of(&self, rows: u64) -> u64 {
        rows.div_ceil(self.page_rows) * self.image.shape().columns * PAGE_BYTES as u64
    }

    fn reader<'a>(&'a self, _runtime: &Runtime, most_rows: u64, depth: usize) -> Result<Box<dyn SourceReader + 'a>> {
        let reader = DenseReader::new(&self.image, self.ring_bytes(most_rows, depth) as usize)?;
        Ok(Box::new(ImageReader { source: self, reader, under_way: VecDeque::new() }))
    }

    fn reader_bytes(&self, most_rows: u64, depth: usize) -> u64 {
        self.ring_bytes(most_rows, depth)
    }

    fn use_cache(&self, most_bytes: u64) -> Result<()> {
        // The cache is that of the runtime which opened the image; a pass may run under a smaller limit.
        let runtime = self.image.runtime();
        self.image.use_cache(runtime.budget().available_bytes().min(most_bytes))?;
        limit_cache(runtime, most_bytes)
    }
}

/// Has the page cache of a runtime give back what it holds beyond `most_bytes`, whatever images wanted it.
fn limit_cache(runtime: &Runtime, most_bytes: u64) -> Result<()> {
    // A share of next to nothing leads to the cache.
    let share = runtime.cache_share(0);
    share.fill(runtime.budget(), 1)?;
    if let Some(cache) = share.cache() {
        let excess_bytes = cache.memory_bytes().saturating_sub(most_bytes);
        if excess_bytes > 0 {
            cache.give_back(excess_bytes);
        }
    }
    share.clear();
    Ok(())
}

struct ImageReader<'a> {
    source: &'a ImageSource,
    reader: DenseReader,
    under_way: VecDeque<Range<u64>>,
}

impl SourceReader for ImageReader<'_> {
    fn push(&mut self, rows: Range<u64>) -> Result<bool> {
        let pages = self.source.pages(&rows);
        if !pages.is_empty() && !self.reader.push(pages, 0)? {
            return Ok(false);
        }
        self.reader.submit()?;
        self.under_way.push_back(rows);
        Ok(true)
    }

    fn next(&mut self) -> Result<Box<dyn Landed + '_>> {
        let rows = self.under_way.pop_front().expect("rows were pushed");
        let pages = match self.source.pages(&rows).is_empty() {
            true => None,
            false => Some(self.reader.next()?.expect("rows were pushed")),
        };
        Ok(Box::new(PagesLanded { source: self.source, pages }))
    }

    fn take_stats(&mut self) -> SweepStats {
        self.reader.take_stats()
    }
}

/// Pages that were read.
struct PagesLanded<'a> {
    source: &'a ImageSource,
    /// None of an array without columns.
    pages: Option<DensePages<'a>>,
}

impl PagesLanded<'_> {
    /// The elements of a column from a row on, to the end of their page.
    fn from(&self, column: usize, row: u64) -> &[u8] {
        let Some(pages) = &self.pages else { return &[] };
        let (group, within) = (row / self.source.page_rows, (row % self.source.page_rows) as usize);
        let page = group * self.source.image.shape().columns + column as u64;
        &pages.values(page)[within * self.source.element().bytes()..]
    }
}

impl Landed for PagesLanded<'_> {
    fn vector(&self, column: usize, rows: Range<u64>) -> Option<&[u8]> {
        let page_rows = self.source.page_rows;
        let is_one_page = rows.start / page_rows == rows.end.saturating_sub(1) / page_rows;
        let len = (rows.end - rows.start) as usize * self.source.element().bytes();
        is_one_page.then(|| &self.from(column, rows.start)[..len])
    }

    fn copy(&self, first: u64, step: i64, count: usize, to: &mut [u8], stride_bytes: usize) -> Result<()> {
        let size = self.source.element().bytes();
        for column in 0..self.source.image.shape().columns as usize {
            let to = &mut to[column * stride_bytes..][..count * size];
            let mut done = 0;
            while done < count {
                let from = self.from(column, first.wrapping_add_signed(step * done as i64));
                let some = if step == 1 { (from.len() / size).min(count - done) } else { 1 };
                to[done * size..(done + some) * size].copy_from_slice(&from[..some * size]);
                done += some;
            }
        }
        Ok(())
    }
}

const _: () = assert!(BLOCK_ROWS * 8 == outcore_format::GROUP_BYTES);
