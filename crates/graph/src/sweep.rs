//! The sweep: one visit of chosen pages, read, verified, decoded and handed to a visitor. Nobody else reads lists.
//!
//! Pages come in units of 64, the same units whatever the number of workers and the size of the cache. Workers take the
//! next unit as they become free, plan its reads (one word of page bitmap becomes merged extents), and keep a ring full
//! of reads under way. A unit's pages reach the visitor in order, on one worker, whether they come from the device or
//! the cache. What depends on an order of pages can therefore be combined first within units and then over units,
//! always in the same way. Where weights are wanted, those of some pages of a unit are read before these pages
//! (`weights.rs`).

use crate::decode::Decoder;
use crate::error::{Error, Result};
use crate::graph::{Direction, Edges, Graph, Lists, Worker};
use crate::stats::SweepStats;
use crate::vertex_set::Bitmap;
use crate::weights::{Batch, WeightColumn, Weights};
use outcore_format::{Lists as DecodedLists, PAGE_BYTES, PageBytes};
use outcore_io::plan::{Span, UNIT_PAGES, USUAL_GAP_PAGES, extents};
use outcore_io::{PageCache, PageKey, Pinned, Reader};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// What happens to the pages of a sweep.
pub(crate) trait PageVisitor: Send {
    /// Which page comes next.
    #[inline]
    fn begin(&mut self, _page: u64) {}
    /// The next page of the unit that this worker is at, and the weights of its edges if they are wanted.
    fn page(&mut self, lists: &DecodedLists, weights: Weights<'_>) -> Result<()>;
    /// The unit's wanted pages have all been visited.
    fn end_unit(&mut self, unit: u64) -> Result<()>;
}

/// Which pages a sweep visits.
pub(crate) enum Selection<'a> {
    /// Adjacent ones.
    Pages(Range<u64>),
    /// Units and the pages wanted of each, in rising order.
    Units(Vec<(u64, u64)>),
    /// Those of adjacent pages that have a list of a vertex in the set, found while the sweep goes on.
    Set(&'a Bitmap, Range<u64>),
    /// One page after the other, as somebody asks for them while the sweep goes on.
    Asked(&'a (dyn Fn() -> Option<u64> + Sync)),
}

/// A worker reads at most so many pages at once that were asked for one by one: which are next may change meanwhile.
const MOST_ASKED: usize = 8;

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

/// The pages that hold the lists of the vertices `first..end`.
pub(crate) fn pages_of_range(lists: &Lists, first: u32, end: u32) -> Range<u64> {
    let page = |key| lists.index.last_at_most(key);
    match (page(2 * u64::from(first)), page((2 * u64::from(end)).saturating_sub(1))) {
        (Some(from), Some(to)) if first < end => from..to + 1,
        _ => 0..0,
    }
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

/// How many first pages of a file of `all` a sweep over adjacent pages keeps in the cache.
///
/// A pass has the cache for itself. Who goes over a part of the pages goes over them part by part, and in a directed
/// graph over both files: each has its share.
fn kept_pages(graph: &Graph, capacity: u64, pages: &Range<u64>, all: u64) -> u64 {
    if pages.end - pages.start == all {
        return capacity;
    }
    (u128::from(capacity) * u128::from(all) / u128::from(graph.all_pages().max(1))) as u64
}

/// How many of these pages a sweep over the set would visit.
pub(crate) fn count_pages(graph: &Graph, direction: Direction, set: &Bitmap, pages: &Range<u64>) -> u64 {
    let lists = graph.list_pages(direction);
    let wanted = |unit| pages_of_set(&lists, graph.vertices(), set, unit);
    let count = |unit| u64::from((wanted(unit) & pages_within(pages, unit)).count_ones());
    (pages.start / UNIT_PAGES..pages.end.div_ceil(UNIT_PAGES)).map(count).sum()
}

/// A sweep under way: what its workers share.
pub(crate) struct Sweep<'a> {
    graph: &'a Graph,
    lists: Arc<Lists>,
    selection: Selection<'a>,
    weights: Option<Arc<WeightColumn>>,
    cache: Option<Arc<PageCache>>,
    /// Pages from here on are not kept: a pass over more than the cache holds keeps a fixed part. Lists come before
    /// weights.
    keep_below: u64,
    keep_weights_below: u64,
    /// The longest gap that is read over.
    gap_pages: u32,
    /// The most pages of lists that are visited at once.
    batch_pages: u32,
    /// Where the cache keeps all pages, those around an asked one are read with it, once: a bit per unit of each file
    /// says that this was done.
    around: Option<Vec<Vec<AtomicU64>>>,
    next: AtomicUsize,
    prepared: SweepStats,
}

impl<'a> Sweep<'a> {
    /// A sweep over the selected pages, of which a worker visits at most `batch_pages` at once.
    pub fn new(graph: &'a Graph, edges: Edges, selection: Selection<'a>, batch_pages: u32) -> Result<Self> {
        let Edges { direction, weights } = edges;
        let (weights, mut prepared) = match weights {
            true => graph.weight_column(direction).map(|(column, stats)| (Some(column), stats))?,
            false => (None, SweepStats::default()),
        };
        // All pages have no gaps but those of what is cached, which ends the extents anyway.
        let (gap_pages, measured) = match selection {
            Selection::Pages(_) | Selection::Asked(_) => (USUAL_GAP_PAGES, SweepStats::default()),
            _ => graph.merge_gap(direction)?,
        };
        prepared.add(&measured);
        let lists = graph.list_pages(direction);
        let cache = graph.cache();
        let keep_below = match (&cache, &selection) {
            (Some(cache), Selection::Pages(pages)) => kept_pages(graph, cache.capacity_pages(), pages, lists.pages),
            _ => u64::MAX,
        };
        let keep_weights_below = keep_below.saturating_sub(lists.pages);
        let all_pages = lists.pages + weights.as_ref().map_or(0, |_| graph.weight_pages(direction));
        // Sets of the cache do not fill evenly.
        let holds_all = cache.as_ref().is_some_and(|cache| cache.capacity_pages() >= all_pages + all_pages / 8);
        let units = |place| graph.data_file(place).len_bytes() / (64 * UNIT_PAGES * PAGE_BYTES as u64) + 1;
        let around = (holds_all && matches!(selection, Selection::Asked(_))).then(|| {
            let places = lists.file.max(weights.as_ref().map_or(0, |column| column.file));
            (0..=places).map(|place| (0..units(place)).map(|_| AtomicU64::new(0)).collect()).collect()
        });
        let next = AtomicUsize::new(0);
        Ok(Sweep {
            graph,
            lists,
            selection,
            weights,
            cache,
            keep_below,
            keep_weights_below,
            gap_pages,
            batch_pages,
            around,
            next,
            prepared,
        })
    }

    /// What was read before the first unit.
    pub fn prepared(&self) -> &SweepStats {
        &self.prepared
    }

    /// How many units there are to visit, at most.
    fn units(&self) -> usize {
        match &self.selection {
            Selection::Units(units) => units.len(),
            Selection::Asked(_) => usize::MAX,
            Selection::Pages(pages) | Selection::Set(_, pages) => {
                (pages.end.div_ceil(UNIT_PAGES) - pages.start / UNIT_PAGES) as usize
            }
        }
    }
}

/// Visits the selected pages. `make` gives every worker its visitor, and what became of them is returned.
pub(crate) fn sweep<V: PageVisitor>(
    graph: &Graph,
    edges: Edges,
    selection: Selection<'_>,
    make: impl Fn() -> V + Sync,
) -> Result<(Vec<V>, SweepStats)> {
    let start = Instant::now();
    let sweep = Sweep::new(graph, edges, selection, UNIT_PAGES as u32)?;
    let (outcome, mut total) = graph.with_workers(sweep.units(), |worker, stop| {
        let (mut visitor, mut pass) = (make(), Pass::new(&sweep));
        while !stop.load(Ordering::Relaxed) && pass.step(&sweep, worker, &mut visitor)? {}
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
    /// Those that are read for the cache alone.
    kept: u64,
    cached: Vec<(u32, Pinned)>,
    spans: Vec<Span>,
    pushed: usize,
}

/// A unit of lists, or some of its pages, and the weights beside them.
struct Flight {
    unit: u64,
    /// First those of weights, last the one of lists.
    reads: Vec<Reads>,
    /// The edges whose weights are wanted.
    edges: Vec<Range<u64>>,
    ends_unit: bool,
}

impl Flight {
    /// Nothing of it is read.
    fn is_cached(&self) -> bool {
        self.reads.iter().all(|reads| reads.spans.is_empty())
    }
}

/// One worker's part of a sweep.
pub(crate) struct Pass {
    flights: VecDeque<Flight>,
    /// What is left of a unit of which not all pages are visited at once.
    rest: Option<(u64, u64)>,
    weights: Batch,
    exhausted: bool,
    /// What was wanted, and what of it was cached; the reader knows the rest.
    pub stats: SweepStats,
}

impl Pass {
    pub fn new(sweep: &Sweep<'_>) -> Self {
        Pass {
            flights: VecDeque::new(),
            rest: None,
            weights: Batch::new(sweep.weights.as_deref()),
            exhausted: false,
            stats: SweepStats::default(),
        }
    }

    /// Visits the next pages; `false` if there are none. The same worker must be given every time.
    pub fn step(&mut self, sweep: &Sweep<'_>, worker: &mut Worker, visitor: &mut impl PageVisitor) -> Result<bool> {
        sweep.graph.runtime().cancel().check()?;
        self.push(sweep, &mut worker.reader)?;
        // What was asked for and is in memory does not wait for what is being read.
        if matches!(sweep.selection, Selection::Asked(_)) && self.flights.back().is_some_and(Flight::is_cached) {
            self.flights.rotate_right(1);
        }
        if self.flights.is_empty() {
            return Ok(false);
        }
        self.land(sweep, worker, visitor)?;
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
                            return Ok(reader.submit()?);
                        }
                        reads.pushed += 1;
                    }
                }
                // Units that are all in the cache need no reads: do not run ahead with them.
                reading = !last.is_cached();
            }
            let asked = matches!(sweep.selection, Selection::Asked(_));
            if self.exhausted || !reading || asked && self.flights.len() >= MOST_ASKED {
                return Ok(reader.submit()?);
            }
            match self.take_unit(sweep) {
                Some((unit, wanted)) => self.plan(sweep, unit, wanted),
                // There may be more later.
                None if asked => return Ok(reader.submit()?),
                None => self.exhausted = true,
            }
        }
    }

    /// The next unit with wanted pages, or what is left of one.
    fn take_unit(&mut self, sweep: &Sweep<'_>) -> Option<(u64, u64)> {
        if let Some(rest) = self.rest.take() {
            return Some(rest);
        }
        if let Selection::Asked(next) = &sweep.selection {
            return next().map(|page| (page / UNIT_PAGES, 1 << (page % UNIT_PAGES)));
        }
        loop {
            let place = sweep.next.fetch_add(1, Ordering::Relaxed);
            let (unit, wanted) = match &sweep.selection {
                Selection::Asked(_) => return None,
                Selection::Units(chosen) => *chosen.get(place)?,
                Selection::Pages(pages) | Selection::Set(_, pages) => {
                    let unit = pages.start / UNIT_PAGES + place as u64;
                    if unit * UNIT_PAGES >= pages.end {
                        return None;
                    }
                    let wanted = match &sweep.selection {
                        Selection::Set(set, _) => pages_of_set(&sweep.lists, sweep.graph.vertices(), set, unit),
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
        let (mut reads, mut edges) = (Vec::new(), Vec::new());
        let mut batch = wanted;
        while batch.count_ones() > sweep.batch_pages {
            batch &= !(1 << (63 - batch.leading_zeros()));
        }
        if let Some(column) = &sweep.weights {
            (batch, edges) = column.batch(unit, batch);
            for (unit, wanted) in column.units(&edges) {
                reads.push(self.plan_reads(sweep, column.file, unit, wanted));
            }
        }
        reads.push(self.plan_reads(sweep, sweep.lists.file, unit, batch));
        self.rest = Some((unit, wanted & !batch)).filter(|&(_, rest)| rest != 0);
        self.flights.push_back(Flight { unit, reads, edges, ends_unit: self.rest.is_none() });
    }

    fn plan_reads(&mut self, sweep: &Sweep<'_>, file: usize, unit: u64, wanted: u64) -> Reads {
        let mut missing = wanted;
        let mut cached = Vec::new();
        if let Some(cache) = &sweep.cache {
            for bit in bits(wanted) {
                let key = PageKey { file: file as u32, page: unit * UNIT_PAGES + u64::from(bit) };
                if let Some(page) = cache.get(key) {
                    missing &= !(1 << bit);
                    cached.push((bit, page));
                }
            }
        }
        self.stats.pages_wanted += u64::from(wanted.count_ones());
        self.stats.cache_hits += cached.len() as u64;
        let kept = if missing != 0 { self.around(sweep, file, unit) & !wanted } else { 0 };
        let spans = extents(missing | kept, sweep.gap_pages).collect();
        Reads { file, unit, wanted: missing, kept, cached, spans, pushed: 0 }
    }

    /// The pages of a unit that are read with one of them, for the cache.
    fn around(&self, sweep: &Sweep<'_>, file: usize, unit: u64) -> u64 {
        let (Some(cache), Some(around)) = (&sweep.cache, &sweep.around) else { return 0 };
        let bit = 1 << (unit % 64);
        if around[file][unit as usize / 64].fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            return 0;
        }
        let pages = sweep.graph.data_file(file).len_bytes() / PAGE_BYTES as u64;
        let missing = |&bit: &u32| {
            let key = PageKey { file: file as u32, page: unit * UNIT_PAGES + u64::from(bit) };
            cache.get(key).is_none()
        };
        bits(pages_within(&(0..pages), unit)).filter(missing).map(|bit| 1 << bit).sum()
    }

    /// Visits the pages of the oldest flight, as its extents arrive.
    fn land(&mut self, sweep: &Sweep<'_>, worker: &mut Worker, visitor: &mut impl PageVisitor) -> Result<()> {
        self.weights.begin();
        for i in 0..self.flights[0].reads.len() {
            self.land_reads(sweep, worker, i, visitor)?;
        }
        match self.flights.pop_front() {
            Some(flight) if flight.ends_unit => visitor.end_unit(flight.unit),
            _ => Ok(()),
        }
    }

    fn land_reads(
        &mut self,
        sweep: &Sweep<'_>,
        worker: &mut Worker,
        i: usize,
        visitor: &mut impl PageVisitor,
    ) -> Result<()> {
        let Worker { reader, decoder, decoded } = worker;
        let mut cached = std::mem::take(&mut self.flights[0].reads[i].cached).into_iter().peekable();
        let mut done = 0;
        while let Some(&span) = self.flights[0].reads[i].spans.get(done) {
            if done == self.flights[0].reads[i].pushed {
                // The ring was too full for this flight's other extents; what was visited has made room.
                self.push(sweep, reader)?;
                continue;
            }
            let (flight, reads) = (&self.flights[0], &self.flights[0].reads[i]);
            let weights = &mut self.weights;
            let mut arrival = Arrival { sweep, decoder, decoded, weights, edges: &flight.edges, reads };
            let extent = reader.next()?.expect("the extent was pushed");
            let (pages, _) = extent.bytes.as_chunks::<PAGE_BYTES>();
            for (bit, bytes) in (span.start..).zip(pages) {
                while let Some((bit, page)) = cached.next_if(|(cached, _)| *cached < bit) {
                    arrival.page(bit, &page, true, visitor)?;
                }
                if reads.wanted >> bit & 1 == 1 {
                    arrival.page(bit, bytes, false, visitor)?;
                } else if reads.kept >> bit & 1 == 1 {
                    arrival.keep(bit, bytes);
                }
            }
            done += 1;
        }
        let (edges, reads) = (&self.flights[0].edges, &self.flights[0].reads[i]);
        let mut arrival = Arrival { sweep, decoder, decoded, weights: &mut self.weights, edges, reads };
        cached.try_for_each(|(bit, page)| arrival.page(bit, &page, true, visitor))
    }
}

/// What pages that arrive go through.
struct Arrival<'a> {
    sweep: &'a Sweep<'a>,
    decoder: &'a mut Decoder,
    decoded: &'a mut Option<(usize, u64)>,
    weights: &'a mut Batch,
    edges: &'a [Range<u64>],
    reads: &'a Reads,
}

impl Arrival<'_> {
    /// Takes the weights of a page, or visits its lists, and keeps it if the cache wants it. Cached pages have been
    /// verified.
    fn page(&mut self, bit: u32, bytes: &PageBytes, cached: bool, visitor: &mut impl PageVisitor) -> Result<()> {
        let Reads { file, unit, .. } = *self.reads;
        let number = unit * UNIT_PAGES + u64::from(bit);
        let corrupt =
            |error| Error::corrupt(self.sweep.graph.data_file(file).path(), number * PAGE_BYTES as u64, error);
        let keep_below = match &self.sweep.weights {
            Some(column) if column.file == file => {
                self.weights.take_page(column, self.edges, number, bytes, cached).map_err(corrupt)?;
                self.sweep.keep_weights_below
            }
            _ => {
                // Small steps come back to the same page again and again.
                if !(cached && *self.decoded == Some((file, number))) {
                    *self.decoded = None;
                    let origin = self.sweep.lists.origin;
                    let page = if cached { origin.trust(bytes) } else { origin.verify(number, bytes) };
                    let decoded = page.and_then(|page| self.decoder.decode(&page, self.sweep.graph.shape()));
                    decoded.map_err(corrupt)?;
                    *self.decoded = Some((file, number));
                }
                let lists = self.decoder.last();
                let weights = match &self.sweep.weights {
                    Some(column) => self.weights.next(column, number, lists).map_err(corrupt)?,
                    None => Weights::NONE,
                };
                visitor.begin(number);
                visitor.page(lists, weights)?;
                self.sweep.keep_below
            }
        };
        if let (false, Some(cache)) = (cached, &self.sweep.cache)
            && number < keep_below
        {
            cache.insert(PageKey { file: file as u32, page: number }, bytes);
        }
        Ok(())
    }

    /// Gives a page that was read around another to the cache. One that is damaged is left to whoever wants it.
    fn keep(&mut self, bit: u32, bytes: &PageBytes) {
        let Reads { file, unit, .. } = *self.reads;
        let number = unit * UNIT_PAGES + u64::from(bit);
        let origin = match &self.sweep.weights {
            Some(column) if column.file == file => column.origin,
            _ => self.sweep.lists.origin,
        };
        if let Some(cache) = &self.sweep.cache
            && origin.verify(number, bytes).is_ok()
        {
            cache.insert(PageKey { file: file as u32, page: number }, bytes);
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

/// The pages of a unit that are among these.
fn pages_within(pages: &Range<u64>, unit: u64) -> u64 {
    let first = unit * UNIT_PAGES;
    let (head, tail) = (pages.start.saturating_sub(first), (first + UNIT_PAGES).saturating_sub(pages.end));
    u64::MAX << head & u64::MAX >> tail
}
