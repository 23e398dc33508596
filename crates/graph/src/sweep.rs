//! The sweep: one visit of chosen pages, read, verified, decoded and handed to a visitor. Nobody else reads lists.
//!
//! Pages come in units of 64, the same units whatever the number of workers and the size of the cache. Workers take the
//! next unit as they become free, plan its reads (one word of page bitmap becomes merged extents), and keep a ring full of
//! reads under way. A unit's pages reach the visitor in order, on one worker, whether they come from the device or the cache. What depends
//! on an order of pages can therefore be combined first within units and then over units, always in the same way.

use crate::decode::Decoder;
use crate::error::{Error, Result};
use crate::graph::{Direction, Graph, Lists, Worker};
use crate::stats::SweepStats;
use crate::vertex_set::Bitmap;
use outcore_format::{Lists as DecodedLists, PAGE_BYTES, PageBytes};
use outcore_io::plan::{Span, UNIT_PAGES, USUAL_GAP_PAGES, extents};
use outcore_io::{PageCache, PageKey, Pinned};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// What happens to the pages of a sweep.
pub(crate) trait PageVisitor: Send {
    /// The next page of the unit that this worker is at.
    fn page(&mut self, lists: &DecodedLists) -> Result<()>;
    /// The unit's wanted pages have all been visited.
    fn end_unit(&mut self, unit: u64) -> Result<()>;
}

/// Which pages a sweep visits.
pub(crate) enum Selection<'a> {
    /// All of them.
    All,
    /// Units and the pages wanted of each, in rising order.
    Units(Vec<(u64, u64)>),
    /// Pages with a list of a vertex in the set, found while the sweep goes on.
    Set(&'a Bitmap),
}

/// The units and pages that hold the lists of vertices in rising order.
pub(crate) fn units_of(lists: &Lists, vertices: &[u32]) -> Vec<(u64, u64)> {
    let mut units: Vec<(u64, u64)> = Vec::new();
    for &vertex in vertices {
        let Some(begin) = lists.index.last_at_most(2 * u64::from(vertex)) else { continue };
        let mut page = begin;
        loop {
            let (unit, bit) = (page / UNIT_PAGES, 1u64 << (page % UNIT_PAGES));
            match units.last_mut() {
                Some((last, mask)) if *last == unit => *mask |= bit,
                _ => units.push((unit, bit)),
            }
            page += 1;
            if page >= lists.pages || lists.index.get(page) != 2 * u64::from(vertex) + 1 {
                break;
            }
        }
    }
    units
}

/// The pages of a unit that hold a list of a vertex in the set.
fn pages_of_set(lists: &Lists, vertices: u64, set: &Bitmap, unit: u64) -> u64 {
    let first_page = unit * UNIT_PAGES;
    let mut keys = lists.index.iter_from(first_page);
    let mut wanted = 0;
    let Some(mut key) = keys.next() else { return 0 };
    for bit in 0..UNIT_PAGES.min(lists.pages - first_page) {
        let next = keys.next().unwrap_or(2 * vertices);
        // The page ends before the next one's first vertex, or with it where the list goes on.
        if set.any_in(key / 2..next.div_ceil(2)) {
            wanted |= 1 << bit;
        }
        key = next;
    }
    wanted
}

/// How many pages a sweep over the set would visit.
pub(crate) fn count_pages(graph: &Graph, direction: Direction, set: &Bitmap) -> u64 {
    let lists = graph.lists(direction);
    let count = |unit| u64::from(pages_of_set(lists, graph.vertices(), set, unit).count_ones());
    (0..lists.pages.div_ceil(UNIT_PAGES)).map(count).sum()
}

/// A sweep under way: what its workers share.
struct Sweep<'a> {
    graph: &'a Graph,
    lists: &'a Lists,
    selection: &'a Selection<'a>,
    cache: Option<Arc<PageCache>>,
    /// Pages from here on are not kept: a pass over more than the cache holds keeps a fixed part.
    keep_below: u64,
    /// The longest gap that is read over.
    gap_pages: u32,
    next: AtomicUsize,
}

/// Visits the selected pages. `make` gives every worker its visitor, and what became of them is returned.
pub(crate) fn sweep<V: PageVisitor>(
    graph: &Graph,
    direction: Direction,
    selection: &Selection<'_>,
    make: impl Fn() -> V + Sync,
) -> Result<(Vec<V>, SweepStats)> {
    let start = Instant::now();
    let lists = graph.lists(direction);
    let cache = graph.cache();
    let keep_below = match (&cache, selection) {
        (Some(cache), Selection::All) => cache.capacity_pages(),
        _ => u64::MAX,
    };
    // All pages have no gaps but those of what is cached, which ends the extents anyway.
    let (gap_pages, measured) = match selection {
        Selection::All => (USUAL_GAP_PAGES, SweepStats::default()),
        _ => graph.merge_gap(direction)?,
    };
    let sweep = Sweep { graph, lists, selection, cache, keep_below, gap_pages, next: AtomicUsize::new(0) };
    let units = match selection {
        Selection::Units(units) => units.len(),
        _ => lists.pages.div_ceil(UNIT_PAGES) as usize,
    };
    let (outcome, mut total) = graph.with_workers(units, |worker, stop| {
        let mut visitor = make();
        let stats = Pass::new(&sweep, worker, stop).run(&mut visitor)?;
        Ok((visitor, stats))
    })?;
    let mut visitors = Vec::new();
    for (visitor, stats) in outcome {
        visitors.push(visitor);
        total.add(&stats);
    }
    total.add(&measured);
    total.seconds = start.elapsed().as_secs_f64();
    Ok((visitors, total))
}

/// A unit whose reads are under way.
struct Flight {
    unit: u64,
    wanted: u64,
    cached: Vec<(u32, Pinned)>,
    spans: Vec<Span>,
    pushed: usize,
}

/// One worker's part of a sweep.
struct Pass<'a> {
    sweep: &'a Sweep<'a>,
    worker: &'a mut Worker,
    stop: &'a AtomicBool,
    flights: VecDeque<Flight>,
    exhausted: bool,
    stats: SweepStats,
}

impl<'a> Pass<'a> {
    fn new(sweep: &'a Sweep<'a>, worker: &'a mut Worker, stop: &'a AtomicBool) -> Self {
        Pass { sweep, worker, stop, flights: VecDeque::new(), exhausted: false, stats: SweepStats::default() }
    }

    fn run(mut self, visitor: &mut impl PageVisitor) -> Result<SweepStats> {
        loop {
            self.sweep.graph.runtime().cancel().check()?;
            if self.stop.load(Ordering::Relaxed) {
                return Ok(self.stats);
            }
            self.push()?;
            let Some(flight) = self.flights.pop_front() else { break };
            self.land(flight, visitor)?;
        }
        Ok(self.stats)
    }

    /// Takes units and starts their reads until the ring is full.
    fn push(&mut self) -> Result<()> {
        loop {
            if let Some(last) = self.flights.back_mut() {
                while last.pushed < last.spans.len() {
                    let span = last.spans[last.pushed];
                    let page = last.unit * UNIT_PAGES + u64::from(span.start);
                    let (offset, len) = (page * PAGE_BYTES as u64, span.len as usize * PAGE_BYTES);
                    if !self.worker.reader.push(self.sweep.lists.file, offset, len, page)? {
                        return Ok(self.worker.reader.submit()?);
                    }
                    last.pushed += 1;
                }
            }
            // Units that are all in the cache need no reads: do not run ahead with them.
            let reading = self.flights.back().is_none_or(|last| !last.spans.is_empty());
            if self.exhausted || !reading {
                return Ok(self.worker.reader.submit()?);
            }
            match self.take_unit() {
                Some(flight) => self.flights.push_back(flight),
                None => self.exhausted = true,
            }
        }
    }

    /// The next unit with wanted pages.
    fn take_unit(&mut self) -> Option<Flight> {
        let sweep = self.sweep;
        let units = sweep.lists.pages.div_ceil(UNIT_PAGES);
        loop {
            let place = sweep.next.fetch_add(1, Ordering::Relaxed);
            let (unit, wanted) = match sweep.selection {
                Selection::Units(chosen) => *chosen.get(place)?,
                _ if place as u64 >= units => return None,
                Selection::All => (place as u64, all_pages(sweep.lists.pages, place as u64)),
                Selection::Set(set) => {
                    (place as u64, pages_of_set(sweep.lists, sweep.graph.vertices(), set, place as u64))
                }
            };
            if wanted != 0 {
                return Some(self.plan(unit, wanted));
            }
        }
    }

    fn plan(&mut self, unit: u64, wanted: u64) -> Flight {
        let mut missing = wanted;
        let mut cached = Vec::new();
        if let Some(cache) = &self.sweep.cache {
            for bit in bits(wanted) {
                let key = PageKey { file: self.sweep.lists.file as u32, page: unit * UNIT_PAGES + u64::from(bit) };
                if let Some(page) = cache.get(key) {
                    missing &= !(1 << bit);
                    cached.push((bit, page));
                }
            }
        }
        self.stats.pages_wanted += u64::from(wanted.count_ones());
        self.stats.cache_hits += cached.len() as u64;
        let spans = extents(missing, self.sweep.gap_pages).collect();
        Flight { unit, wanted: missing, cached, spans, pushed: 0 }
    }

    /// Visits the pages of the oldest unit, as its extents arrive.
    fn land(&mut self, mut flight: Flight, visitor: &mut impl PageVisitor) -> Result<()> {
        let mut cached = std::mem::take(&mut flight.cached).into_iter().peekable();
        let unit = flight.unit;
        let mut done = 0;
        while done < flight.spans.len() {
            if done == flight.pushed {
                // The ring was too full for this unit's other extents; what was visited has made room.
                self.flights.push_front(flight);
                self.push()?;
                flight = self.flights.pop_front().expect("it was just put there");
                continue;
            }
            let span = flight.spans[done];
            let extent = self.worker.reader.next()?.expect("the extent was pushed");
            let (pages, _) = extent.bytes.as_chunks::<PAGE_BYTES>();
            for (bit, bytes) in (span.start..).zip(pages) {
                while let Some((bit, page)) = cached.next_if(|(cached, _)| *cached < bit) {
                    visit(self.sweep, &mut self.worker.decoder, unit, bit, &page, true, visitor)?;
                }
                if flight.wanted >> bit & 1 == 1 {
                    visit(self.sweep, &mut self.worker.decoder, unit, bit, bytes, false, visitor)?;
                }
            }
            done += 1;
        }
        for (bit, page) in cached {
            visit(self.sweep, &mut self.worker.decoder, unit, bit, &page, true, visitor)?;
        }
        visitor.end_unit(unit)
    }
}

/// Verifies, decodes and visits one page, and keeps it if the cache wants it. Cached pages have been verified.
fn visit(
    sweep: &Sweep<'_>,
    decoder: &mut Decoder,
    unit: u64,
    bit: u32,
    bytes: &PageBytes,
    cached: bool,
    visitor: &mut impl PageVisitor,
) -> Result<()> {
    let lists = sweep.lists;
    let number = unit * UNIT_PAGES + u64::from(bit);
    let page = if cached { lists.origin.trust(bytes) } else { lists.origin.verify(number, bytes) };
    let decoded = page
        .and_then(|page| decoder.decode(&page, sweep.graph.shape()))
        .map_err(|error| Error::corrupt(sweep.graph.data_file(lists.file).path(), number * PAGE_BYTES as u64, error))?;
    visitor.page(decoded)?;
    if let (false, Some(cache)) = (cached, &sweep.cache)
        && number < sweep.keep_below
    {
        cache.insert(PageKey { file: lists.file as u32, page: number }, bytes);
    }
    Ok(())
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

/// All pages of a unit; the last unit may be short.
fn all_pages(pages: u64, unit: u64) -> u64 {
    u64::MAX >> (UNIT_PAGES - UNIT_PAGES.min(pages - unit * UNIT_PAGES))
}
