//! Arrays in images of Outcore's own: columns in pages of groups of rows, which are vectors where they lie.
//!
//! A group of rows has a page of every column, one behind the other. Where all columns are read, pages of adjacent
//! groups are read at once and looked at in place. Where few are, the pages of each run of columns are read, and copied
//! out of the ring, for the pages of a partition do not lie together in it.
//!
//! The page cache keeps pages from the second pass on. The first may be the only one, and to keep a page takes longer
//! than to read it, for the system clears memory before it hands it out.

use crate::columns::joined;
use crate::plan::BLOCK_ROWS;
use crate::source::{ArraySource, Landed, Narrow, SourceReader};
use crate::spaced::is_worth;
use outcore_format::{ElementType, GROUP_BYTES, PAGE_BYTES};
use outcore_image::{DenseImage, DensePages, DenseReader, Result, SweepStats};
use outcore_io::Runtime;
use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Columns with at most this number of others between them are read together with these.
const MOST_SKIPPED: usize = 8;

/// A vector or matrix in an image, or some of its columns.
pub struct ImageSource {
    image: Arc<DenseImage>,
    shape: Vec<u64>,
    /// Number of rows of a page.
    page_rows: u64,
    /// The columns that are read, if not all are: runs of them, which rise.
    columns: Vec<Range<u64>>,
    /// Whether a pass has begun to read the image, or some of its columns.
    was_read: Arc<AtomicBool>,
}

impl std::fmt::Debug for ImageSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageSource").field("image", &self.image).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl ImageSource {
    /// Opens an image of an array.
    ///
    /// # Errors
    /// A path that is no image of an array, a damaged manifest, or a file of the wrong size.
    pub fn open(runtime: &Runtime, path: impl AsRef<Path>) -> Result<Self> {
        let image = DenseImage::open(runtime, path)?;
        let (rows, columns) = (image.shape().rows, image.shape().columns);
        let shape = if image.manifest().dimensions == 1 { vec![rows] } else { vec![rows, columns] };
        let page_rows = image.shape().rows_per_page();
        Ok(ImageSource { image, shape, page_rows, columns: Vec::new(), was_read: Arc::default() })
    }

    /// The image.
    #[doc(hidden)]
    pub fn image(&self) -> &Arc<DenseImage> {
        &self.image
    }

    /// The groups that hold rows.
    fn groups(&self, rows: &Range<u64>) -> Range<u64> {
        rows.start / self.page_rows..rows.end.div_ceil(self.page_rows)
    }

    /// The runs of pages that hold rows, in order.
    fn pages(&self, rows: &Range<u64>) -> Vec<Range<u64>> {
        let (groups, all) = (self.groups(rows), self.image.shape().columns);
        if self.columns.is_empty() {
            let pages = groups.start * all..groups.end * all;
            return if pages.is_empty() { vec![] } else { vec![pages] };
        }
        let of_group = |group| self.columns.iter().map(move |run| group * all + run.start..group * all + run.end);
        groups.flat_map(of_group).collect()
    }

    /// Number of columns that are read.
    fn read_columns(&self) -> u64 {
        self.shape.get(1).copied().unwrap_or(1)
    }

    fn most_groups(&self, most_rows: u64) -> u64 {
        // Rows may begin anywhere in a page.
        (most_rows.saturating_sub(1).div_ceil(self.page_rows) + 1).min(self.shape[0].div_ceil(self.page_rows))
    }

    fn ring_bytes(&self, most_rows: u64, depth: usize) -> u64 {
        (depth as u64 * self.most_groups(most_rows) * self.read_columns()).max(1) * PAGE_BYTES as u64
    }
}

impl ArraySource for ImageSource {
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
        rows.div_ceil(self.page_rows) * self.read_columns() * PAGE_BYTES as u64
    }

    fn read_bytes(&self, rows: Range<u64>) -> u64 {
        let groups = self.groups(&rows);
        (groups.end - groups.start) * self.read_columns() * PAGE_BYTES as u64
    }

    fn row_alone_bytes(&self, step: u64) -> Option<u64> {
        let pages_between = (step / self.page_rows).saturating_sub(1) * self.read_columns();
        // Runs of columns are read apart anyway.
        let requests = u64::from(self.columns.is_empty());
        is_worth(requests, pages_between * PAGE_BYTES as u64).then(|| self.bytes_of(1))
    }

    fn of_columns(&self, wanted: Vec<Range<usize>>) -> Option<Narrow> {
        let (all, runs) = (self.read_columns() as usize, joined(wanted, MOST_SKIPPED));
        let count: usize = runs.iter().map(Range::len).sum();
        // A request costs as much as some pages.
        if runs.is_empty() || count + MOST_SKIPPED * runs.len() > all {
            return None;
        }
        let narrow = ImageSource {
            image: Arc::clone(&self.image),
            shape: vec![self.shape[0], count as u64],
            page_rows: self.page_rows,
            columns: runs.iter().map(|run| run.start as u64..run.end as u64).collect(),
            was_read: Arc::clone(&self.was_read),
        };
        Some((Arc::new(narrow), runs))
    }

    fn reader<'a>(&'a self, _runtime: &Runtime, most_rows: u64, depth: usize) -> Result<Box<dyn SourceReader + 'a>> {
        let reader = DenseReader::new(&self.image, self.ring_bytes(most_rows, depth) as usize)?;
        Ok(Box::new(ImageReader {
            source: self,
            reader,
            under_way: VecDeque::new(),
            begun: (0, 0),
            copied: Vec::new(),
        }))
    }

    fn reader_bytes(&self, most_rows: u64, depth: usize) -> u64 {
        let copied = if self.columns.is_empty() { 0 } else { self.most_groups(most_rows) * self.read_columns() };
        self.ring_bytes(most_rows, depth) + copied * GROUP_BYTES as u64
    }

    fn use_cache(&self, most_bytes: u64) -> Result<()> {
        // The cache is that of the runtime which opened the image; a pass may run under a smaller limit.
        let runtime = self.image.runtime();
        if self.was_read.swap(true, Ordering::Relaxed) {
            self.image.use_cache(runtime.budget().available_bytes().min(most_bytes))?;
        }
        limit_cache(runtime, most_bytes)
    }
}

/// Shrinks the page cache of a runtime to at most `most_bytes`, for all of its images.
fn limit_cache(runtime: &Runtime, most_bytes: u64) -> Result<()> {
    // A share of next to nothing leads to the cache.
    let share = runtime.cache_share(0);
    share.fill(runtime, 1)?;
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
    /// Rows under way, the oldest first.
    under_way: VecDeque<Range<u64>>,
    /// Number of ranges that are being read completely, and number of runs of pages of the next one.
    begun: (usize, usize),
    /// The pages of some columns that landed last, without their heads, in words.
    copied: Vec<u64>,
}

impl ImageReader<'_> {
    /// Begins to read as many of the pending rows as fit.
    fn begin(&mut self) -> Result<()> {
        let source = self.source;
        while let Some(rows) = self.under_way.get(self.begun.0) {
            for pages in source.pages(rows).into_iter().skip(self.begun.1) {
                if !self.reader.push(pages, 0)? {
                    return self.reader.submit();
                }
                self.begun.1 += 1;
            }
            self.begun = (self.begun.0 + 1, 0);
        }
        self.reader.submit()
    }

    /// Copies the pages of some columns out of the ring as they land.
    fn copy(&mut self, rows: &Range<u64>) -> Result<()> {
        let groups = self.source.groups(rows);
        let pages = (groups.end - groups.start) * self.source.read_columns();
        self.copied.resize(pages as usize * GROUP_BYTES / 8, 0);
        let mut place = 0;
        for _ in 0..self.source.pages(rows).len() {
            self.begin()?;
            let landed = self.reader.next()?.expect("what lands next was begun");
            let all: &mut [u8] = bytemuck::cast_slice_mut(&mut self.copied);
            for page in landed.pages() {
                let values = landed.values(page);
                all[place..place + values.len()].copy_from_slice(values);
                place += GROUP_BYTES;
            }
        }
        Ok(())
    }
}

impl SourceReader for ImageReader<'_> {
    fn push(&mut self, rows: Range<u64>) -> Result<bool> {
        // All pending rows fit the ring, but perhaps not the queue of requests: the rest is read when other rows have
        // landed.
        self.under_way.push_back(rows);
        self.begin()?;
        Ok(true)
    }

    fn next(&mut self) -> Result<Box<dyn Landed + '_>> {
        let rows = self.under_way.front().expect("rows were pushed").clone();
        if !self.source.columns.is_empty() {
            self.copy(&rows)?;
        }
        self.begin()?;
        self.under_way.pop_front();
        self.begun.0 -= 1;
        let source = self.source;
        if !source.columns.is_empty() {
            let first_group = source.groups(&rows).start;
            let bytes = bytemuck::cast_slice(&self.copied);
            return Ok(Box::new(PagesLanded { source, pages: Lying::Copied { first_group, bytes } }));
        }
        let pages = match source.pages(&rows).is_empty() {
            true => Lying::Nowhere,
            false => Lying::Read(self.reader.next()?.expect("rows were pushed")),
        };
        Ok(Box::new(PagesLanded { source, pages }))
    }

    fn take_stats(&mut self) -> SweepStats {
        self.reader.take_stats()
    }
}

/// Pages that were read.
struct PagesLanded<'a> {
    source: &'a ImageSource,
    pages: Lying<'a>,
}

/// Location of pages in memory.
enum Lying<'a> {
    /// An array without columns has none.
    Nowhere,
    Read(DensePages<'a>),
    Copied {
        first_group: u64,
        bytes: &'a [u8],
    },
}

impl PagesLanded<'_> {
    /// The elements of a column in a group of rows, from one of its rows on.
    #[inline]
    fn from(&self, column: usize, (group, within): (u64, usize)) -> &[u8] {
        let columns = self.source.read_columns();
        let values = match &self.pages {
            Lying::Nowhere => return &[],
            Lying::Read(pages) => pages.values(group * columns + column as u64),
            Lying::Copied { first_group, bytes } => {
                let place = ((group - first_group) * columns) as usize + column;
                &bytes[place * GROUP_BYTES..][..GROUP_BYTES]
            }
        };
        &values[within * self.source.element().bytes()..]
    }

    /// The group of a row, and its place there.
    #[inline]
    fn place(&self, row: u64) -> (u64, usize) {
        let page_rows = self.source.page_rows;
        let group = row / page_rows;
        (group, (row - group * page_rows) as usize)
    }
}

impl Landed for PagesLanded<'_> {
    fn vector(&self, column: usize, rows: Range<u64>) -> Option<&[u8]> {
        let (place, count) = (self.place(rows.start), (rows.end - rows.start) as usize);
        let is_one_page = place.1 + count <= self.source.page_rows as usize;
        is_one_page.then(|| &self.from(column, place)[..count * self.source.element().bytes()])
    }

    fn copy(&self, first: u64, step: i64, count: usize, to: &mut [u8], stride_bytes: usize) -> Result<()> {
        let size = self.source.element().bytes();
        for column in 0..self.source.read_columns() as usize {
            let to = &mut to[column * stride_bytes..][..count * size];
            let mut done = 0;
            while done < count {
                let from = self.from(column, self.place(first.wrapping_add_signed(step * done as i64)));
                let some = if step == 1 { (from.len() / size).min(count - done) } else { 1 };
                to[done * size..(done + some) * size].copy_from_slice(&from[..some * size]);
                done += some;
            }
        }
        Ok(())
    }
}

const _: () = assert!(BLOCK_ROWS * 8 == outcore_format::GROUP_BYTES);
