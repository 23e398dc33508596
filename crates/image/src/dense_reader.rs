//! One worker's reads of an image of an array: from runs of pages to their elements, without a copy.
//!
//! A run of adjacent pages that are all in the page cache is pinned there; any other is read as one extent, into the
//! worker's ring. Runs are returned in the order in which they were pushed, each when it is complete. Pages that were
//! read are verified before they are returned, so the elements of a page are a slice of the ring or of the cache.
//!
//! The cache keeps a fixed part of the image, its first pages, and inserts no other page: every pass over all pages
//! then has as many hits as under any policy (`io/src/cache.rs`).

use crate::Result;
use crate::dense::DenseImage;
use crate::stats::SweepStats;
use outcore_format::{PAGE_BYTES, PageBytes, dense};
use outcore_io::{PinnedRun, Reader, Task, Unit};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of pages of one read of a check, and number of such reads that are under way.
const CHECKED_PAGES: u64 = 256;
const CHECKED_DEPTH: usize = 2;

/// One worker's reads of an image of an array.
pub struct DenseReader {
    image: Arc<DenseImage>,
    reader: Reader,
    ring_pages: u64,
    /// Runs that were pushed, the oldest first.
    runs: VecDeque<Run>,
    /// Number of pages of runs that are pinned in the cache.
    pinned_pages: u64,
    /// The pages of the run that was returned last, if they are in the cache.
    returned: Option<PinnedRun>,
    /// A read failed: all pushed runs are abandoned.
    failed: bool,
    pages_wanted: u64,
    cache_hits: u64,
}

/// Adjacent pages that were pushed.
struct Run {
    pages: Range<u64>,
    tag: u64,
    /// The pages, if all of them are in the cache; otherwise they are read.
    pinned: Option<PinnedRun>,
}

/// Adjacent pages in memory.
#[derive(Clone)]
pub struct DensePages<'a> {
    pages: Range<u64>,
    tag: u64,
    bytes: PagePlace<'a>,
}

/// Location of pages in memory.
#[derive(Clone, Copy)]
enum PagePlace<'a> {
    Ring(&'a [PageBytes]),
    Cache(&'a PinnedRun),
}

impl DenseImage {
    /// Reads every page from the device and verifies it, on all workers. Returns the statistics of the reads.
    ///
    /// # Errors
    /// The first page that is damaged, or cannot be read.
    pub fn check(self: &Arc<Self>) -> Result<SweepStats> {
        let (runtime, pages) = (self.runtime(), self.pages());
        let next = AtomicU64::new(0);
        let task = runtime.task("checking", Unit::Bytes, Some(pages * PAGE_BYTES as u64));
        // No worker begins another read once one has failed.
        let check = |_| self.check_from(&next, &task).inspect_err(|_| next.store(pages, Ordering::Relaxed));
        let read = runtime.run(check)?;
        let mut stats = SweepStats::default();
        read.iter().for_each(|own| stats.add(own));
        Ok(stats)
    }

    /// One worker's part of a check: the pages from `next` on, as far as other workers do not take them.
    fn check_from(self: &Arc<Self>, next: &AtomicU64, task: &Task) -> Result<SweepStats> {
        let pages = self.pages();
        let mut reader = DenseReader::new(self, CHECKED_PAGES as usize * CHECKED_DEPTH * PAGE_BYTES)?;
        let (mut waiting, mut is_at_end) = (0, false);
        loop {
            while !is_at_end && waiting < CHECKED_DEPTH {
                let first = next.fetch_add(CHECKED_PAGES, Ordering::Relaxed);
                is_at_end = first >= pages;
                if !is_at_end {
                    assert!(reader.push(first..(first + CHECKED_PAGES).min(pages), 0)?, "there is room");
                    waiting += 1;
                }
            }
            reader.submit()?;
            let Some(unit) = reader.next()? else { return Ok(reader.take_stats()) };
            waiting -= 1;
            task.advance((unit.pages().end - unit.pages().start) * PAGE_BYTES as u64);
        }
    }
}

impl DenseReader {
    /// A reader with a ring of `ring_bytes`, which is rounded up to whole pages: no run may be longer.
    ///
    /// # Errors
    /// Too little memory under the budget, or a queue that the operating system refuses.
    pub fn new(image: &Arc<DenseImage>, ring_bytes: usize) -> Result<Self> {
        image.check_process()?;
        let ring_bytes = ring_bytes.max(1).next_multiple_of(PAGE_BYTES);
        let reader = Reader::new(image.runtime(), &[Arc::clone(image.data_file())], ring_bytes)?;
        Ok(DenseReader {
            image: Arc::clone(image),
            reader,
            ring_pages: (ring_bytes / PAGE_BYTES) as u64,
            runs: VecDeque::new(),
            pinned_pages: 0,
            returned: None,
            failed: false,
            pages_wanted: 0,
            cache_hits: 0,
        })
    }

    /// The image.
    pub fn image(&self) -> &Arc<DenseImage> {
        &self.image
    }

    /// Largest number of pages of a run.
    pub fn ring_pages(&self) -> u64 {
        self.ring_pages
    }

    /// Requests adjacent pages, which [`next`](DenseReader::next) returns with `tag`: pins them in the cache, or begins
    /// to read them. `false` means that there is no room, and `next` must be called first. Releases the pages that
    /// `next` returned before.
    ///
    /// # Panics
    /// If the range is empty, or the pages do not exist or exceed the ring.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn push(&mut self, pages: Range<u64>, tag: u64) -> Result<bool> {
        let count = pages.end.saturating_sub(pages.start);
        assert!(count > 0 && pages.end <= self.image.pages(), "pages {pages:?} of {}", self.image.pages());
        assert!(count <= self.ring_pages, "pages {pages:?} in a ring of {} pages", self.ring_pages);
        self.begin()?;
        // Pinned frames of the cache cannot be replaced: pin at most as many as the ring has pages.
        if self.pinned_pages + count > self.ring_pages {
            return Ok(false);
        }
        let cache = self.image.cache_part();
        let pinned = cache.and_then(|(cache, _)| cache.get_run(self.image.page_key(pages.start), count));
        if pinned.is_none() {
            let (offset_bytes, len_bytes) = (pages.start * PAGE_BYTES as u64, count as usize * PAGE_BYTES);
            if !self.reader.push(0, offset_bytes, len_bytes, tag)? {
                return Ok(false);
            }
        } else {
            self.pinned_pages += count;
            self.cache_hits += count;
        }
        self.pages_wanted += count;
        self.runs.push_back(Run { pages, tag, pinned });
        Ok(true)
    }

    /// Begins all reads that were pushed.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn submit(&mut self) -> Result<()> {
        self.image.check_process()?;
        self.reader.submit()
    }

    /// The oldest pushed pages, as soon as they are complete; `None` if there are none.
    ///
    /// # Errors
    /// A read that failed, a page that is damaged or misplaced, or a request to stop. Then all pushed runs are
    /// abandoned.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<DensePages<'_>>> {
        self.begin()?;
        self.image.runtime().cancel().check()?;
        let Some(Run { pages, tag, pinned }) = self.runs.pop_front() else { return Ok(None) };
        if let Some(pinned) = pinned {
            self.pinned_pages -= pinned.len() as u64;
            return Ok(Some(DensePages { pages, tag, bytes: PagePlace::Cache(self.returned.insert(pinned)) }));
        }
        // Reset on success.
        self.failed = true;
        let extent = self.reader.next()?.expect("the run was pushed");
        let (bytes, _) = extent.bytes.as_chunks::<PAGE_BYTES>();
        let cache = self.image.cache_part();
        for (number, bytes) in pages.clone().zip(bytes) {
            self.image.verify(&self.image.shape().place(number), bytes)?;
            if let Some((cache, keep_below)) = &cache
                && number < *keep_below
            {
                cache.insert(self.image.page_key(number), bytes);
            }
        }
        self.failed = false;
        Ok(Some(DensePages { pages, tag, bytes: PagePlace::Ring(bytes) }))
    }

    /// First step of every call: releases the returned run, and runs that were pushed before a failure.
    fn begin(&mut self) -> Result<()> {
        self.image.check_process()?;
        self.returned = None;
        if self.failed {
            self.clear();
        }
        Ok(())
    }

    /// Abandons all pushed runs: waits for reads that are under way and discards their bytes.
    pub fn clear(&mut self) {
        self.reader.clear();
        self.returned = None;
        self.runs.clear();
        self.pinned_pages = 0;
        self.failed = false;
    }

    /// Statistics since the last call.
    pub fn take_stats(&mut self) -> SweepStats {
        let mut stats = SweepStats::of_reads(self.reader.take_stats());
        stats.pages_wanted = std::mem::take(&mut self.pages_wanted);
        stats.cache_hits = std::mem::take(&mut self.cache_hits);
        stats
    }
}

impl<'a> DensePages<'a> {
    /// The tag of their `push`.
    pub fn tag(&self) -> u64 {
        self.tag
    }

    /// Their numbers.
    pub fn pages(&self) -> Range<u64> {
        self.pages.clone()
    }

    /// The elements of one of these pages, in place: of its column, in the rows of its group.
    ///
    /// # Panics
    /// If the page is not among these.
    #[inline]
    pub fn values(&self, page_number: u64) -> &'a [u8] {
        dense::trusted(self.page(page_number))
    }

    /// All bytes of one of these pages.
    ///
    /// # Panics
    /// If the page is not among these.
    #[inline]
    pub fn page(&self, page_number: u64) -> &'a PageBytes {
        assert!(self.pages.contains(&page_number), "page {page_number} among {:?}", self.pages);
        let place = (page_number - self.pages.start) as usize;
        match self.bytes {
            PagePlace::Ring(bytes) => &bytes[place],
            PagePlace::Cache(pinned) => &pinned[place],
        }
    }

    /// The pages as one slice, if they are contiguous in memory: elements begin at byte 32 of each.
    #[inline]
    pub fn contiguous(&self) -> Option<&'a [PageBytes]> {
        match self.bytes {
            PagePlace::Ring(bytes) => Some(bytes),
            PagePlace::Cache(_) => None,
        }
    }
}
