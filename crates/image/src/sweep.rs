//! The sweep: one visit of selected pages of a file, read or cached, and passed to a visitor.
//!
//! Pages are grouped in units of 64, the same units for any number of workers and size of the cache. Workers take the
//! next unit as they become free, plan its reads (one word of page bitmap becomes merged extents), and keep a ring full
//! of reads under way. A unit's pages reach the visitor in order, on one worker, from the device or the cache. Results
//! that depend on an order of pages can therefore be combined first within units and then over units, always in the
//! same order. If pages of other files are needed beside some of these ([`Besides`]), they arrive first.

use crate::Result;
use crate::image::{Image, Worker};
use crate::stats::SweepStats;
use outcore_format::{PAGE_BYTES, PageBytes};
use outcore_io::plan::{Span, UNIT_PAGES, USUAL_GAP_PAGES, extents};
use outcore_io::{PageCache, Pinned, Reader};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// The pages of a file that a sweep visits.
pub enum Selection<'a> {
    /// Adjacent ones.
    Pages(Range<u64>),
    /// Units and bitmaps of their wanted pages, in rising order.
    Units(Vec<(u64, u64)>),
    /// Pages of a range that a function of the unit selects during the sweep.
    Chosen(Box<dyn Fn(u64) -> u64 + Sync + 'a>, Range<u64>),
    /// One page after the other, as a function returns them during the sweep; it may return more after it has returned
    /// none.
    Requested(&'a (dyn Fn() -> Option<u64> + Sync)),
}

/// Largest number of pages of a [`Requested`](Selection::Requested) selection that a worker reads at
/// once: the next ones may change meanwhile.
const MOST_REQUESTED: usize = 8;

/// Wanted pages of a unit of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitPages {
    /// The place of the file among the image's files.
    pub file: usize,
    /// The unit.
    pub unit: u64,
    /// A bit per wanted page.
    pub wanted: u64,
}

/// A relation from pages of the swept file to pages of other files.
pub trait Besides: Send + Sync {
    /// The places of the other files among the image's files.
    fn files(&self) -> Vec<usize>;

    /// As many of the wanted pages of a unit, from the first on, as are visited at once, and the pages of other files
    /// that must arrive before them.
    fn batch(&self, unit: u64, wanted: u64) -> (u64, Vec<UnitPages>);
}

/// A page in memory.
#[derive(Clone, Copy)]
pub struct Arrived<'a> {
    /// The place of its file.
    pub file: usize,
    /// Its number.
    pub number: u64,
    /// Its bytes.
    pub bytes: &'a PageBytes,
    /// Whether it comes from the cache, and was therefore verified before.
    pub verified: bool,
}

/// A worker's callback for the pages of a sweep. The visitor verifies pages itself.
pub trait PageVisitor: Send {
    /// Announces the next pages of a unit, a bitmap. Pages of other files that belong to them arrive first, after this
    /// call.
    fn begin(&mut self, unit: u64, pages: u64);
    /// The next page: first those of other files, then the swept ones, in order. The cache keeps pages without an
    /// error.
    ///
    /// # Errors
    /// Any error ends the sweep.
    fn page(&mut self, page: Arrived<'_>) -> Result<()>;
    /// The unit's wanted pages have all been visited.
    ///
    /// # Errors
    /// Any error ends the sweep.
    fn end_unit(&mut self, unit: u64) -> Result<()>;
}

/// The shared state of a running sweep.
pub struct Sweep<'a> {
    image: &'a Image,
    file: usize,
    selection: Selection<'a>,
    besides: Option<Arc<dyn Besides>>,
    cache: Option<Arc<PageCache>>,
    /// The number of pages of the cache that this sweep may count on.
    cache_pages: u64,
    /// Pages from this number on are not cached: a pass over more than the cache holds keeps a fixed part. Pages of the
    /// swept file are kept before those of other files.
    keep_below: u64,
    keep_besides_below: u64,
    /// The longest gap that is read over, in pages.
    gap_pages: u32,
    /// Largest number of pages that are visited at once.
    batch_pages: u32,
    /// `Some` if a missing page is read with the others of its unit, once per unit: a bit per unit of each file marks
    /// that as done.
    around: Option<Vec<Vec<AtomicU64>>>,
    next: AtomicUsize,
    prepared: SweepStats,
}

impl<'a> Sweep<'a> {
    /// A sweep over the selected pages of a file, of which a worker visits at most `batch_pages` at once. `all_pages`
    /// is the number of pages of all files of that kind, which share the cache.
    ///
    /// # Errors
    /// The device's gap cannot be measured.
    pub fn new(
        image: &'a Image,
        file: usize,
        selection: Selection<'a>,
        besides: Option<Arc<dyn Besides>>,
        (batch_pages, all_pages): (u32, u64),
    ) -> Result<Self> {
        // A full selection has gaps only at cached pages, which end the extents anyway.
        let (gap_pages, prepared) = match selection {
            Selection::Pages(_) | Selection::Requested(_) => (USUAL_GAP_PAGES, SweepStats::default()),
            _ => image.merge_gap(file)?,
        };
        let pages_of_file = image.data_file(file).len_bytes() / PAGE_BYTES as u64;
        let (cache, cache_pages) = image.cache_part().map_or((None, 0), |(cache, pages)| (Some(cache), pages));
        let keep_below = match (&cache, &selection) {
            (Some(_), Selection::Pages(pages)) => cached_pages(cache_pages, pages, pages_of_file, all_pages),
            _ => u64::MAX,
        };
        // The other files share the rest.
        let others = besides.as_ref().map_or(1, |besides| besides.files().len().max(1) as u64);
        let keep_besides_below = keep_below.saturating_sub(pages_of_file) / others;
        let (next, around) = (AtomicUsize::new(0), None);
        Ok(Sweep {
            image,
            file,
            selection,
            besides,
            cache,
            cache_pages,
            keep_below,
            keep_besides_below,
            gap_pages,
            batch_pages,
            around,
            next,
            prepared,
        })
    }

    /// Reads the pages around a missing one with it, if the cache has room for all pages: for pages that are requested
    /// one by one, in large numbers.
    pub fn read_around(&mut self) {
        self.around = units_around(self);
    }

    /// The reads before the first unit.
    pub fn prepared(&self) -> &SweepStats {
        &self.prepared
    }

    /// Largest number of units to visit.
    fn units(&self) -> usize {
        match &self.selection {
            Selection::Units(units) => units.len(),
            Selection::Requested(_) => usize::MAX,
            Selection::Pages(pages) | Selection::Chosen(_, pages) => {
                (pages.end.div_ceil(UNIT_PAGES) - pages.start / UNIT_PAGES) as usize
            }
        }
    }
}

/// A bit for every unit of the files that a sweep reads, if the cache has room for all their pages.
fn units_around(sweep: &Sweep<'_>) -> Option<Vec<Vec<AtomicU64>>> {
    let mut files = sweep.besides.as_ref().map_or(Vec::new(), |besides| besides.files());
    files.push(sweep.file);
    let pages = |place: usize| sweep.image.data_file(place).len_bytes() / PAGE_BYTES as u64;
    let all: u64 = files.iter().map(|&place| pages(place)).sum();
    // Sets of the cache do not fill evenly.
    if sweep.cache_pages < all + all / 8 {
        return None;
    }
    let bits = |place| (0..pages(place) / (64 * UNIT_PAGES) + 1).map(|_| AtomicU64::new(0)).collect();
    Some((0..=files.iter().copied().max().unwrap_or(0)).map(bits).collect())
}

/// Number of first pages of a file of `of_file` pages that a sweep over adjacent pages keeps in the cache.
///
/// A pass has its image's part of the cache for itself. A caller that sweeps a part of the pages sweeps the other parts
/// too, and other files of the kind, which have `all` pages together: each has its share.
fn cached_pages(capacity: u64, pages: &Range<u64>, of_file: u64, all: u64) -> u64 {
    if pages.end - pages.start == of_file {
        return capacity;
    }
    (u128::from(capacity) * u128::from(of_file) / u128::from(all.max(1))) as u64
}

/// Visits the selected pages on at most `most` workers. `make` makes a visitor for every worker; the visitors are
/// returned in the order of the workers.
///
/// # Errors
/// The error of the first worker whose visitor failed or whose page cannot be read; a request to stop; as with
/// [`Image::with_workers`].
pub fn sweep<V: PageVisitor>(
    sweep: &Sweep<'_>,
    most_workers: usize,
    make: impl Fn() -> V + Sync,
) -> Result<(Vec<V>, SweepStats)> {
    let start = Instant::now();
    let (outcome, mut total) = sweep.image.with_workers(sweep.units().min(most_workers), |worker, stop| {
        let (mut visitor, mut pass) = (make(), Pass::default());
        while !stop.load(Ordering::Relaxed) && pass.step(sweep, worker, &mut visitor)? {}
        Ok((visitor, pass.stats))
    })?;
    let mut visitors = Vec::new();
    for (visitor, stats) in outcome {
        visitors.push(visitor);
        total.add(&stats);
    }
    total.add(&sweep.prepared);
    total.seconds = start.elapsed().as_secs_f64();
    Ok((visitors, total))
}

/// The pages wanted of one unit of a file, whose reads are under way.
struct Reads {
    file: usize,
    unit: u64,
    /// The pages that are not cached.
    wanted: u64,
    /// The pages that are read for the cache alone.
    around: u64,
    cached: Vec<(u32, Pinned)>,
    spans: Vec<Span>,
    pushed: usize,
}

/// A unit of the swept file, or some of its pages, and the pages of other files that belong to them.
struct Flight {
    unit: u64,
    pages: u64,
    /// First those of other files, last the one of the swept file.
    reads: Vec<Reads>,
    ends_unit: bool,
}

impl Flight {
    /// Whether no page of it is read.
    fn is_cached(&self) -> bool {
        self.reads.iter().all(|reads| reads.spans.is_empty())
    }
}

/// One worker's part of a sweep.
#[derive(Default)]
pub struct Pass {
    flights: VecDeque<Flight>,
    /// The remaining pages of a unit that is not visited at once.
    rest: Option<(u64, u64)>,
    exhausted: bool,
    /// Wanted and cached pages; the reader counts the others.
    pub stats: SweepStats,
}

impl Pass {
    /// Visits the next pages; `false` if there are none. Every call must have the same worker.
    ///
    /// # Errors
    /// As with [`sweep()`].
    pub fn step(&mut self, sweep: &Sweep<'_>, worker: &mut Worker, visitor: &mut dyn PageVisitor) -> Result<bool> {
        sweep.image.runtime().cancel().check()?;
        self.push(sweep, &mut worker.reader)?;
        // Cached pages are visited before pending reads complete.
        if matches!(sweep.selection, Selection::Requested(_)) && self.flights.back().is_some_and(Flight::is_cached) {
            self.flights.rotate_right(1);
        }
        if self.flights.is_empty() {
            return Ok(false);
        }
        self.land(sweep, &mut worker.reader, visitor)?;
        Ok(true)
    }

    /// Takes units and starts their reads until the ring is full.
    fn push(&mut self, sweep: &Sweep<'_>, reader: &mut Reader) -> Result<()> {
        loop {
            let mut reading = true;
            if let Some(last) = self.flights.back_mut() {
                for reads in &mut last.reads {
                    while let Some(span) = reads.spans.get(reads.pushed) {
                        let page = reads.unit * UNIT_PAGES + u64::from(span.start);
                        let (offset, len) = (page * PAGE_BYTES as u64, span.len as usize * PAGE_BYTES);
                        if !reader.push(reads.file, offset, len, page)? {
                            return reader.submit();
                        }
                        reads.pushed += 1;
                    }
                }
                // Units that are entirely cached need no reads: do not run ahead with them.
                reading = !last.is_cached();
            }
            let is_requested = matches!(sweep.selection, Selection::Requested(_));
            if self.exhausted || !reading || is_requested && self.flights.len() >= MOST_REQUESTED {
                return reader.submit();
            }
            match self.take_unit(sweep) {
                Some((unit, wanted)) => self.plan(sweep, unit, wanted),
                // More pages may be requested later.
                None if is_requested => return reader.submit(),
                None => self.exhausted = true,
            }
        }
    }

    /// The next unit with wanted pages, or the remaining part of one.
    fn take_unit(&mut self, sweep: &Sweep<'_>) -> Option<(u64, u64)> {
        if let Some(rest) = self.rest.take() {
            return Some(rest);
        }
        if let Selection::Requested(next) = &sweep.selection {
            return next().map(|page| (page / UNIT_PAGES, 1 << (page % UNIT_PAGES)));
        }
        loop {
            let place = sweep.next.fetch_add(1, Ordering::Relaxed);
            let (unit, wanted) = match &sweep.selection {
                Selection::Requested(_) => return None,
                Selection::Units(units) => *units.get(place)?,
                Selection::Pages(pages) | Selection::Chosen(_, pages) => {
                    let unit = pages.start / UNIT_PAGES + place as u64;
                    if unit * UNIT_PAGES >= pages.end {
                        return None;
                    }
                    let wanted = match &sweep.selection {
                        Selection::Chosen(wanted, _) => wanted(unit),
                        _ => u64::MAX,
                    };
                    (unit, wanted & pages_within(pages, unit))
                }
            };
            if wanted != 0 {
                return Some((unit, wanted));
            }
        }
    }

    /// Plans the reads of a unit, or of as many of its pages as may be visited at once.
    fn plan(&mut self, sweep: &Sweep<'_>, unit: u64, wanted: u64) {
        let mut batch = wanted;
        while batch.count_ones() > sweep.batch_pages {
            batch &= !(1 << (63 - batch.leading_zeros()));
        }
        let mut reads = Vec::new();
        if let Some(besides) = &sweep.besides {
            let pages;
            (batch, pages) = besides.batch(unit, batch);
            reads.extend(pages.into_iter().map(|pages| self.plan_reads(sweep, pages)));
        }
        reads.push(self.plan_reads(sweep, UnitPages { file: sweep.file, unit, wanted: batch }));
        self.rest = Some((unit, wanted & !batch)).filter(|&(_, rest)| rest != 0);
        self.flights.push_back(Flight { unit, pages: batch, reads, ends_unit: self.rest.is_none() });
    }

    fn plan_reads(&mut self, sweep: &Sweep<'_>, UnitPages { file, unit, wanted }: UnitPages) -> Reads {
        let mut missing = wanted;
        let mut cached = Vec::new();
        if let Some(cache) = &sweep.cache {
            for bit in bits(wanted) {
                let key = sweep.image.page_key(file, unit * UNIT_PAGES + u64::from(bit));
                if let Some(page) = cache.get(key) {
                    missing &= !(1 << bit);
                    cached.push((bit, page));
                }
            }
        }
        self.stats.pages_wanted += u64::from(wanted.count_ones());
        self.stats.cache_hits += cached.len() as u64;
        let around = if missing != 0 { sweep.pages_around(file, unit) & !wanted } else { 0 };
        let spans = extents(missing | around, sweep.gap_pages).collect();
        Reads { file, unit, wanted: missing, around, cached, spans, pushed: 0 }
    }

    /// Visits the pages of the oldest flight, as its extents arrive.
    fn land(&mut self, sweep: &Sweep<'_>, reader: &mut Reader, visitor: &mut dyn PageVisitor) -> Result<()> {
        visitor.begin(self.flights[0].unit, self.flights[0].pages);
        for i in 0..self.flights[0].reads.len() {
            self.land_reads(sweep, reader, i, visitor)?;
        }
        match self.flights.pop_front() {
            Some(flight) if flight.ends_unit => visitor.end_unit(flight.unit),
            _ => Ok(()),
        }
    }

    fn land_reads(
        &mut self,
        sweep: &Sweep<'_>,
        reader: &mut Reader,
        i: usize,
        visitor: &mut dyn PageVisitor,
    ) -> Result<()> {
        let Reads { file, unit, wanted, around, .. } = self.flights[0].reads[i];
        let mut cached = std::mem::take(&mut self.flights[0].reads[i].cached).into_iter().peekable();
        let mut visit = |bit: u32, bytes: &PageBytes, verified| {
            let number = unit * UNIT_PAGES + u64::from(bit);
            visitor.page(Arrived { file, number, bytes, verified })?;
            sweep.keep(file, number, bytes, verified);
            Ok(())
        };
        let mut done = 0;
        while let Some(&span) = self.flights[0].reads[i].spans.get(done) {
            if done == self.flights[0].reads[i].pushed {
                // The ring had no room for this flight's other extents; visiting has freed some.
                self.push(sweep, reader)?;
                continue;
            }
            let extent = reader.next()?.expect("the extent was pushed");
            let (pages, _) = extent.bytes.as_chunks::<PAGE_BYTES>();
            for (bit, bytes) in (span.start..).zip(pages) {
                while let Some((bit, page)) = cached.next_if(|(cached, _)| *cached < bit) {
                    visit(bit, &page, true)?;
                }
                if wanted >> bit & 1 == 1 {
                    visit(bit, bytes, false)?;
                } else if around >> bit & 1 == 1 {
                    sweep.keep_unasked(file, unit * UNIT_PAGES + u64::from(bit), bytes);
                }
            }
            done += 1;
        }
        cached.try_for_each(|(bit, page)| visit(bit, &page, true))
    }
}

impl Sweep<'_> {
    /// The pages of a unit that are read with one of them, for the cache.
    fn pages_around(&self, file: usize, unit: u64) -> u64 {
        let (Some(cache), Some(around)) = (&self.cache, &self.around) else { return 0 };
        let bit = 1 << (unit % 64);
        if around[file][unit as usize / 64].fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            return 0;
        }
        let pages = self.image.data_file(file).len_bytes() / PAGE_BYTES as u64;
        let missing = |&bit: &u32| cache.get(self.image.page_key(file, unit * UNIT_PAGES + u64::from(bit))).is_none();
        bits(pages_within(&(0..pages), unit)).filter(missing).map(|bit| 1 << bit).sum()
    }

    /// Caches a page that was read around another. A damaged one is left to its first visitor.
    fn keep_unasked(&self, file: usize, number: u64, bytes: &PageBytes) {
        if let Some(cache) = &self.cache
            && self.image.origin(file).verify(number, bytes).is_ok()
        {
            cache.insert(self.image.page_key(file, number), bytes);
        }
    }

    /// Caches a page that was read and is intact.
    fn keep(&self, file: usize, number: u64, bytes: &PageBytes, cached: bool) {
        let keep_below = if file == self.file { self.keep_below } else { self.keep_besides_below };
        if let (false, Some(cache)) = (cached, &self.cache)
            && number < keep_below
        {
            cache.insert(self.image.page_key(file, number), bytes);
        }
    }
}

fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let bit = word.trailing_zeros();
        word &= word - 1;
        Some(bit)
    })
}

/// The pages of a unit that are in a range, as a bitmap.
pub fn pages_within(pages: &Range<u64>, unit: u64) -> u64 {
    let first = unit * UNIT_PAGES;
    let (head, tail) = (pages.start.saturating_sub(first), (first + UNIT_PAGES).saturating_sub(pages.end));
    u64::MAX << head & u64::MAX >> tail
}
