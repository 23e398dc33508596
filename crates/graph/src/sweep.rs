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
use crate::few::{Few, PageAt, are_some, pages_of_list, sweep_few};
use crate::graph::{Direction, Edges, Graph, Lists, Worker};
use crate::guides::Slots;
use crate::stats::SweepStats;
use crate::vertex_set::Bitmap;
use crate::weights::{Batch, WeightColumn, Weights};
use outcore_format::{Lists as DecodedLists, PAGE_BYTES, PageBytes};
use outcore_io::plan::{Span, UNIT_PAGES, USUAL_GAP_PAGES, extents};
use outcore_io::{PageCache, PageKey, Pinned, Reader};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// What happens to the pages of a sweep.
pub(crate) trait PageVisitor: Send {
    /// The next page of the unit that this worker is at, and the weights of its edges if they are wanted.
    fn page(&mut self, lists: &DecodedLists, weights: Weights<'_>) -> Result<()>;
    /// The unit's wanted pages have all been visited.
    fn end_unit(&mut self, unit: u64) -> Result<()>;
}

/// Which pages a sweep visits.
pub(crate) enum Selection<'a> {
    /// Adjacent ones.
    Pages(Range<u64>),
    /// Those that hold the lists of vertices in rising order.
    List(&'a [u32]),
    /// Those of adjacent pages that have a list of a vertex in the set, found while the sweep goes on.
    Set(&'a Bitmap, Range<u64>),
}

/// The units and pages that hold the lists of vertices in rising order.
fn units_of(lists: &Lists, vertices: &[u32]) -> Vec<(u64, u64)> {
    let mut units: Vec<(u64, u64)> = Vec::new();
    pages_of_list(lists, vertices, |page| {
        let (unit, bit) = (page.number / UNIT_PAGES, 1u64 << (page.number % UNIT_PAGES));
        match units.last_mut() {
            Some((last, mask)) if *last == unit => *mask |= bit,
            _ => units.push((unit, bit)),
        }
        true
    });
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
    /// The units and pages of a list of vertices.
    units: Vec<(u64, u64)>,
    weights: Option<Arc<WeightColumn>>,
    cache: Option<Arc<PageCache>>,
    guides: Option<Arc<Slots>>,
    /// Pages from here on are not kept: a pass over more than the cache holds keeps a fixed part. Lists come before
    /// weights.
    keep_below: u64,
    keep_weights_below: u64,
    /// The longest gap that is read over.
    gap_pages: u32,
    /// The most pages of lists that are visited at once.
    batch_pages: u32,
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
            Selection::Pages(_) => (USUAL_GAP_PAGES, SweepStats::default()),
            _ => graph.merge_gap(direction)?,
        };
        prepared.add(&measured);
        let lists = graph.list_pages(direction);
        let units = match selection {
            Selection::List(vertices) => units_of(&lists, vertices),
            _ => Vec::new(),
        };
        let cache = graph.cache();
        let keep_below = match (&cache, &selection) {
            (Some(cache), Selection::Pages(pages)) => kept_pages(graph, cache.capacity_pages(), pages, lists.pages),
            _ => u64::MAX,
        };
        let keep_weights_below = keep_below.saturating_sub(lists.pages);
        let next = AtomicUsize::new(0);
        Ok(Sweep {
            graph,
            lists,
            selection,
            units,
            weights,
            cache,
            guides: graph.guides().slots(),
            keep_below,
            keep_weights_below,
            gap_pages,
            batch_pages,
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
            Selection::List(_) => self.units.len(),
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
    let few = match selection {
        Selection::List(vertices) => sweep_few(graph, edges, vertices, &make)?,
        _ => Few::Many,
    };
    let alone = match few {
        Few::Done(done) => return Ok(done),
        Few::Alone => true,
        Few::Many => false,
    };
    let sweep = Sweep::new(graph, edges, selection, UNIT_PAGES as u32)?;
    let most_workers = if alone { 1 } else { sweep.units() };
    let (outcome, mut total) = graph.with_workers(most_workers, |worker, stop| {
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
                reading = last.reads.iter().any(|reads| !reads.spans.is_empty());
            }
            if self.exhausted || !reading {
                return Ok(reader.submit()?);
            }
            match self.take_unit(sweep) {
                Some((unit, wanted)) => self.plan(sweep, unit, wanted),
                None => self.exhausted = true,
            }
        }
    }

    /// The next unit with wanted pages, or what is left of one.
    fn take_unit(&mut self, sweep: &Sweep<'_>) -> Option<(u64, u64)> {
        if let Some(rest) = self.rest.take() {
            return Some(rest);
        }
        loop {
            let place = sweep.next.fetch_add(1, Ordering::Relaxed);
            let (unit, wanted) = match &sweep.selection {
                Selection::List(_) => *sweep.units.get(place)?,
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
        let spans = extents(missing, sweep.gap_pages).collect();
        Reads { file, unit, wanted: missing, cached, spans, pushed: 0 }
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
        let Worker { reader, decoder, decoded, .. } = worker;
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
                self.lists(number, bytes, cached, visitor)?;
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
}

impl Arrival<'_> {
    /// Visits the lists of a page, or the wanted ones alone where these are few.
    fn lists(&mut self, number: u64, bytes: &PageBytes, cached: bool, visitor: &mut impl PageVisitor) -> Result<()> {
        let at = PageAt { graph: self.sweep.graph, file: self.reads.file, number };
        let key = Some((at.file, number));
        // Small steps come back to the same page again and again.
        if !(cached && *self.decoded == key) {
            *self.decoded = None;
            let origin = self.sweep.lists.origin;
            let page = if cached { origin.trust(bytes) } else { origin.verify(number, bytes) };
            let page = page.map_err(|error| at.corrupt(error))?;
            if let (Selection::List(vertices), None) = (&self.sweep.selection, &self.sweep.weights) {
                let first = |end: u64| vertices.partition_point(|&vertex| u64::from(vertex) < end);
                let vertices = &vertices[first(page.first())..first(page.first().saturating_add(page.count() as u64))];
                if are_some(vertices.len(), &page) {
                    let guides = self.sweep.guides.as_deref();
                    return at.visit_some(&page, self.decoder, guides, vertices, visitor);
                }
            }
            self.decoder.decode(&page, self.sweep.graph.shape()).map_err(|error| at.corrupt(error))?;
            *self.decoded = key;
        }
        let lists = self.decoder.last();
        let weights = match &self.sweep.weights {
            Some(column) => self.weights.next(column, number, lists).map_err(|error| at.corrupt(error))?,
            None => Weights::NONE,
        };
        visitor.page(lists, weights)
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
