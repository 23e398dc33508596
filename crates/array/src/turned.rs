//! Pages of columns of an array that lies by rows in a file, in the page cache of its runtime: rows that were turned
//! once need neither be read nor turned again.
//!
//! *Encoding.* Rows make groups, and a group has a page of every column, as in an image: page `group * columns +
//! column` begins with the elements of that column in that group, and has no head. Rows that begin or end within a
//! group, such as those of a slice, are read with the rest of it where partitions have many groups; otherwise they
//! have no pages.
//!
//! As for an image, the cache keeps the first pages, from the second pass on, and inserts no others. A file that has
//! changed since it was opened is not cached.

use crate::kernel::{self, RowMajor, ValuesMut};
use crate::source::Landed;
use outcore_format::dense::rows_per_page;
use outcore_format::{ElementType, PAGE_BYTES};
use outcore_image::Result;
use outcore_io::{CacheShare, DataFile, PageCache, PageKey, PinnedRun, Runtime};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Age of the last write from which on a further one has another time, whatever the clock of the file system is.
const SETTLED: Duration = Duration::from_secs(1);

/// Least number of groups of a partition that is read with the rest of those groups that it begins and ends within.
const LEAST_GROUPS: u64 = 8;

/// Memory of a page in the cache.
const CACHED_PAGE_BYTES: u64 = PAGE_BYTES as u64 + 64;

/// The share of a file's turned rows in the page cache.
pub(crate) struct TurnedPages {
    share: CacheShare,
    runtime: Runtime,
    file: Arc<DataFile>,
    identity: [u64; 5],
    /// The file was written to so short a time before it was opened that another write may have the same time.
    may_change_unseen: bool,
    groups: Groups,
    /// Whether a pass has begun to read the file.
    was_read: AtomicBool,
}

/// The groups of rows.
#[derive(Clone, Copy)]
struct Groups {
    rows: u64,
    columns: u64,
    element: ElementType,
    /// Number of rows of a group.
    group_rows: u64,
}

impl Groups {
    fn pages(self) -> u64 {
        self.rows.div_ceil(self.group_rows) * self.columns
    }

    /// The pages of rows, if these are whole groups.
    fn pages_of(self, rows: &Range<u64>) -> Option<Range<u64>> {
        let is_end = |row: u64| row.is_multiple_of(self.group_rows) || row == self.rows;
        let is_whole = rows.start.is_multiple_of(self.group_rows) && is_end(rows.end) && !rows.is_empty();
        let page = |row: u64| row.div_ceil(self.group_rows) * self.columns;
        is_whole.then(|| page(rows.start)..page(rows.end))
    }

    /// The rows of all groups that rows lie in.
    fn whole(self, rows: &Range<u64>) -> Range<u64> {
        let end = rows.end.next_multiple_of(self.group_rows).min(self.rows);
        rows.start - rows.start % self.group_rows..end
    }
}

impl TurnedPages {
    /// The share of a file that was just opened.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn new(runtime: &Runtime, file: &Arc<DataFile>, shape: (u64, u64), element: ElementType) -> Result<Self> {
        let identity = file.identity()?;
        let may_change_unseen = file.was_written_within(SETTLED)?;
        let mut hasher = DefaultHasher::new();
        ("rows of an array", identity).hash(&mut hasher);
        Ok(TurnedPages {
            share: runtime.cache_share(hasher.finish()),
            runtime: runtime.stopped_by(runtime.cancel()),
            file: Arc::clone(file),
            identity,
            may_change_unseen,
            groups: Groups { rows: shape.0, columns: shape.1, element, group_rows: rows_per_page(element) as u64 },
            was_read: AtomicBool::new(false),
        })
    }

    /// Begins a pass: from the second one on the cache keeps pages, up to `most_bytes`.
    ///
    /// # Errors
    /// The machine has less memory than the limit says; errors of the operating system.
    pub fn begin_pass(&self, most_bytes: u64) -> Result<()> {
        if self.file.identity()? != self.identity {
            self.share.clear();
        } else if self.may_change_unseen {
            // Every pass reads the file.
        } else if self.was_read.swap(true, Ordering::Relaxed) {
            self.share.fill(&self.runtime, self.cached_bytes().min(most_bytes))?;
        }
        if let Some(cache) = self.share.cache() {
            let excess_bytes = cache.memory_bytes().saturating_sub(most_bytes);
            if excess_bytes > 0 {
                cache.give_back(excess_bytes);
            }
        }
        Ok(())
    }

    /// The memory that the cache could use for the pages, as far as there is any.
    fn cached_bytes(&self) -> u64 {
        let pages = self.groups.pages();
        // Room for some more, because pages do not fill sets evenly.
        let all_bytes = (pages + pages / 8 + 64).saturating_mul(CACHED_PAGE_BYTES);
        all_bytes.min(self.runtime.budget().available_bytes())
    }

    /// The memory of turned rows that are not in the cache.
    pub fn len_bytes(&self, most_rows: u64) -> u64 {
        let Groups { rows, columns, group_rows, .. } = self.groups;
        if self.has_groups(most_rows) {
            let most_rows = most_rows.saturating_add(self.rows_beside(most_rows));
            most_rows.min(rows).div_ceil(group_rows) * columns * PAGE_BYTES as u64
        } else {
            0
        }
    }

    /// Whether so many rows can be a whole group.
    pub fn has_groups(&self, most_rows: u64) -> bool {
        most_rows >= self.groups.group_rows.min(self.groups.rows)
    }

    /// The most rows that are read beside so many others, to complete their groups.
    pub fn rows_beside(&self, most_rows: u64) -> u64 {
        let group_rows = self.groups.group_rows;
        if most_rows / group_rows >= LEAST_GROUPS { 2 * group_rows } else { 0 }
    }

    /// Whether partitions of so many rows are read with the rest of the groups that they begin and end within.
    pub fn completes_groups(&self, most_rows: u64) -> bool {
        self.has_groups(most_rows) && self.rows_beside(most_rows) > 0
    }

    /// [`TurnedPages::completed`] in the next pass, as far as that is known before it begins.
    pub fn will_complete(&self, rows: Range<u64>) -> Range<u64> {
        let whole = self.groups.whole(&rows);
        let keep_below = self.cached_bytes() / CACHED_PAGE_BYTES;
        let is_kept = self.groups.pages_of(&whole).is_some_and(|pages| pages.start < keep_below);
        let is_cached = self.was_read.load(Ordering::Relaxed) && !self.may_change_unseen;
        if is_cached && is_kept { whole } else { rows }
    }

    /// The rows that are read for rows: whole groups, if the cache keeps the pages of these.
    pub fn completed(&self, rows: Range<u64>) -> Range<u64> {
        let whole = self.groups.whole(&rows);
        if self.part_of(&whole).is_some() { whole } else { rows }
    }

    fn key(&self, page: u64) -> PageKey {
        PageKey { image: self.share.image(), file: 0, page }
    }

    /// The cache, if it keeps pages of rows: these, and the number of the first pages that it keeps.
    fn part_of(&self, rows: &Range<u64>) -> Option<(Arc<PageCache>, Range<u64>, u64)> {
        let pages = self.groups.pages_of(rows)?;
        let (cache, keep_below) = self.share.part()?;
        (pages.start < keep_below).then_some((cache, pages, keep_below))
    }

    /// The pages of rows, if all of them are in the cache.
    pub fn pinned(&self, rows: &Range<u64>) -> Option<PinnedRun> {
        let (cache, pages, _) = self.part_of(rows)?;
        cache.get_run(self.key(pages.start), pages.end - pages.start)
    }

    /// Rows that are pinned.
    pub fn landed(&self, rows: &Range<u64>, pinned: PinnedRun) -> TurnedRows<'_> {
        TurnedRows {
            groups: self.groups,
            first_group: rows.start / self.groups.group_rows,
            pages: Pages::Cache(pinned),
        }
    }

    /// Turns rows that were read, and inserts their pages into the cache, if it keeps them; otherwise returns `None`.
    /// `room` is memory for the pages.
    pub fn turned<'a>(
        &self,
        rows: &Range<u64>,
        bytes: &[u8],
        (row_stride_bytes, is_big_endian): (usize, bool),
        room: &'a mut Vec<u64>,
    ) -> Option<TurnedRows<'a>> {
        let (cache, pages, keep_below) = self.part_of(rows)?;
        let Groups { columns, element, group_rows, .. } = self.groups;
        room.resize((pages.end - pages.start) as usize * PAGE_BYTES / 8, 0);
        let (all, columns): (&mut [u8], _) = (bytemuck::cast_slice_mut(room), columns as usize);
        let groups = all.chunks_exact_mut(columns * PAGE_BYTES);
        for (to, first) in groups.zip((rows.start..rows.end).step_by(group_rows as usize)) {
            let count = group_rows.min(rows.end - first) as usize;
            let from = &bytes[(first - rows.start) as usize * row_stride_bytes..];
            let shape = RowMajor { rows: count, columns, row_stride_bytes, is_big_endian };
            kernel::transpose(from, shape, ValuesMut::from_bytes(element, to), PAGE_BYTES / element.bytes());
        }
        let (bytes, _) = all.as_chunks::<PAGE_BYTES>();
        for (page, bytes) in pages.zip(bytes).take_while(|&(page, _)| page < keep_below) {
            cache.insert(self.key(page), bytes);
        }
        let first_group = rows.start / group_rows;
        Some(TurnedRows { groups: self.groups, first_group, pages: Pages::Room(bytes) })
    }
}

impl Drop for TurnedPages {
    fn drop(&mut self) {
        self.share.clear();
    }
}

/// Whole groups of rows, as pages of their columns.
pub(crate) struct TurnedRows<'a> {
    groups: Groups,
    first_group: u64,
    pages: Pages<'a>,
}

enum Pages<'a> {
    Cache(PinnedRun),
    Room(&'a [[u8; PAGE_BYTES]]),
}

impl TurnedRows<'_> {
    /// The elements of a column from a row on, to the end of their page.
    fn from(&self, column: usize, row: u64) -> &[u8] {
        let Groups { columns, element, group_rows, .. } = self.groups;
        let group = row / group_rows;
        let (place, within) = ((group - self.first_group) * columns, (row - group * group_rows) as usize);
        let page: &[u8; PAGE_BYTES] = match &self.pages {
            Pages::Cache(pages) => &pages[place as usize + column],
            Pages::Room(pages) => &pages[place as usize + column],
        };
        &page[within * element.bytes()..group_rows as usize * element.bytes()]
    }
}

impl Landed for TurnedRows<'_> {
    fn vector(&self, column: usize, rows: Range<u64>) -> Option<&[u8]> {
        let bytes = (rows.end - rows.start) as usize * self.groups.element.bytes();
        self.from(column, rows.start).get(..bytes)
    }

    fn copy(&self, first: u64, step: i64, count: usize, to: &mut [u8], stride_bytes: usize) -> Result<()> {
        let size = self.groups.element.bytes();
        for column in 0..self.groups.columns as usize {
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
