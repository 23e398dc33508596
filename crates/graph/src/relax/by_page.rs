//! Relaxing edges page by page, the page with the least label first.
//!
//! *Idea.* Vertices whose label fell are active. The page that holds the active vertex with the least label is taken
//! next, and is used until no vertex in it is active: labels that fall within the page are worked off at once, least
//! first, and only those that fall in other pages make these wait. On a grid in the order of its rows every page is
//! visited about once, where steps visit it once per level. Workers take pages from one queue. While some pages are
//! being read, others that are in memory are worked off.
//!
//! *Encoding.* A bit per vertex says that it is active. The list of a vertex may span pages: its bit stands for the
//! first of them, and each of the others has a bit of its own. Of every page its first vertex is stored, and of every
//! 64 vertices the page of the first, so that the page of a vertex is found without the index.
//!
//! *Ordering.* A worker that lowers a label writes it first, then sets the vertex's bit, then lets the page wait. One
//! that visits a page first marks it as not waiting, then takes the bits, then reads the labels. So no label that fell
//! is missed, and a page that was taken but not visited yet need not wait once more.
//!
//! *Decoded pages.* Where the order of vertices does not suit the search, a page is visited many times for a few lists.
//! From its second visit on it is cached in decoded form, as far as memory goes (`decoded_cache.rs`): then a visit
//! costs what the few lists cost.
//!
//! *Cost.* Half a bit per vertex for finding pages, 40 bytes per page, and 44 bytes per list of the page with the most
//! lists for each worker; decoded pages take what is free. Pages are read as often as they are visited, but for those
//! in a cache; where the page cache has room for all pages, the 64 around a page are read with it.
//!
//! Pearce, Gokhale, Amato, *Multithreaded asynchronous graph traversal for in-memory and semi-external memory*, SC
//! 2010; *ACGraph*, SIGMOD 2026, works off blocks by priority.

use crate::PAGE_BYTES;
use crate::engine::graph::{DirectionLists, Edges, Graph};
use crate::engine::sweep::{ListPages, ListVisitor, Swept, Wanted};
use crate::engine::vertex_set::Bitmap;
use crate::engine::weights::Weights;
use crate::relax::decoded_cache::{CachedPage, DecodedCache, DecodedPage, MAX_CACHED_PAGE_BYTES, PageHead, PageLists};
use crate::relax::least_first::LeastFirst;
use crate::relax::near_first::NearFirst;
use crate::relax::relaxer::{Labels, MANY_VISITS, NO_LABEL, OnDrop, Relaxed};
use outcore_format::Lists;
use outcore_image::{Pass, Result, Selection};
use outcore_io::plan::UNIT_PAGES;
use outcore_io::{Reservation, lock};
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Number of vertices in a group: the page of the first vertex of each group is known.
const GROUP: u64 = 64;
/// Decoded pages may take this share of a part of the page cache that does not have room for all pages.
const CACHED_SHARE: u64 = 4;
/// Number of cached pages that a worker visits before it looks again at its reads.
const CACHED_IN_A_ROW: usize = 64;
/// Number of lists that a worker works off between looks for a request to stop.
const LISTS_BETWEEN_CHECKS: u64 = 1 << 12;
/// The narrowest range in which a page is worked off: further narrowing makes no difference.
const MOST_NARROWING: u64 = 45;
/// Number of pages that wait because of one visit and are collected before the queue learns of them.
const MOST_TOUCHED: usize = 256;

/// Works off the active vertices of a graph until none is left.
pub(crate) struct ByPage<'a> {
    graph: &'a Graph,
    edges: Edges,
    map: PageMap,
    most_lists: usize,
    /// Number of lists that a worker works off before it narrows the range in which pages are worked off.
    many: u64,
    queue: Queue,
    /// Pages whose first list began in an earlier page and is to be worked off.
    parts: Bitmap,
    _reservations: [Reservation; 2],
}

impl<'a> ByPage<'a> {
    /// Prepares for a graph, unless it has too few or too many pages.
    ///
    /// # Errors
    /// Too little memory, a closed graph.
    pub fn new(graph: &'a Graph, edges: Edges) -> Result<Option<Self>> {
        let lists = graph.open_lists(edges.direction)?;
        if lists.pages == 0 || lists.pages >= u64::from(u32::MAX) {
            return Ok(None);
        }
        let (budget, vertices, purpose) = (graph.runtime().budget(), graph.vertices(), "pages by priority");
        let most_lists = most_lists(&lists, vertices);
        let worker = most_lists * Work::LIST_BYTES + Work::BYTES;
        let bytes = PageMap::bytes(lists.pages, vertices)
            + LeastFirst::bytes(lists.pages)
            + DecodedCache::bytes(lists.pages)
            + graph.runtime().threads() as u64 * worker;
        let reservation = budget.reserve(purpose, bytes)?;
        let bits = || Bitmap::new(budget, purpose, lists.pages);
        let (claimed, parts, begins_earlier) = (bits()?, bits()?, bits()?);
        let decoded_bytes = DecodedCache::decoded_bytes(graph, edges);
        let cached_bytes = decoded_bytes.min(free_for_decoded(graph, lists.pages));
        let cached = budget.reserve(purpose, cached_bytes)?;
        // A visitor of a page that has just made room holds it a little longer.
        let evicted_bytes =
            if cached_bytes < decoded_bytes { graph.runtime().threads() as u64 * MAX_CACHED_PAGE_BYTES } else { 0 };
        Ok(Some(ByPage {
            graph,
            edges,
            most_lists: most_lists as usize,
            many: (MANY_VISITS * vertices / graph.runtime().threads() as u64).max(1),
            queue: Queue::new(lists.pages as usize, claimed, cached_bytes.saturating_sub(evicted_bytes)),
            parts,
            map: PageMap::new(&lists, vertices, begins_earlier),
            _reservations: [reservation, cached],
        }))
    }

    /// Lowers labels along edges until none can fall any more, beginning with those edges that lead from the active
    /// vertices. Takes them out of the set.
    ///
    /// # Errors
    /// A page that cannot be read or is damaged, another operation on the graph, a request to stop. Then labels and set
    /// are somewhere on the way.
    pub fn run<L: Labels>(&mut self, labels: &L, active: &Bitmap) -> Result<Relaxed> {
        let (start, relaxer) = (Instant::now(), &*self);
        relaxer.begin(labels, active);
        let next = || relaxer.queue.take();
        let wanted = Wanted::Pages(Selection::Requested(&next));
        let (swept, selection) = Swept::new(relaxer.graph, relaxer.edges, wanted)?;
        let mut sweep = swept.sweep(relaxer.graph, selection, UNIT_PAGES as u32)?;
        sweep.read_around();
        let (outcome, mut total) = relaxer.graph.image().with_workers(usize::MAX, |worker, stop| {
            // The others wait for this one: they are told whatever ends it.
            let _stop = OnDrop(|| {
                lock(&relaxer.queue.pages).stopped = true;
                relaxer.queue.changed.notify_all();
            });
            let visitor = Visitor { relaxer, labels, active, work: Work::new(relaxer.most_lists), page: 0, horizon: 0 };
            let (mut pass, mut pages) = (Pass::default(), ListPages::new(relaxer.graph, &swept, visitor));
            while !stop.load(Ordering::Relaxed) {
                pages.visitor.visit_cached()?;
                if !pages.step(&mut pass, &sweep, worker)? && !relaxer.queue.wait() {
                    break;
                }
            }
            let (mut stats, work) = (pass.stats, &pages.visitor.work);
            stats.pages_wanted += work.cached_visits;
            stats.cache_hits += work.cached_visits;
            Ok((work.relaxed, stats))
        })?;
        total.add(sweep.prepared());
        let mut relaxed = Relaxed::default();
        for (part, stats) in outcome {
            relaxed.vertices += part.vertices;
            relaxed.visits += part.visits;
            total.add(&stats);
        }
        total.seconds = start.elapsed().as_secs_f64();
        relaxed.sweep = total;
        Ok(relaxed)
    }

    /// Lets the pages of the active vertices wait.
    fn begin<L: Labels>(&self, labels: &L, active: &Bitmap) {
        self.queue.restart();
        self.parts.clear();
        let mut touched = Vec::with_capacity(MOST_TOUCHED);
        for vertex in active.iter(0..active.words()) {
            let page = self.map.page(vertex);
            self.touch_list(vertex, page, labels.get(vertex), &mut touched);
        }
        self.queue.lower(&mut touched);
    }

    /// Lets the pages wait that a vertex's list lies in.
    fn touch_list(&self, vertex: u32, page: u32, label: u64, touched: &mut Vec<(u32, u64)>) {
        self.touch(page, label, touched);
        if self.map.begins[page as usize + 1] == vertex + 1 {
            self.touch_parts(vertex, page, label, touched);
        }
    }

    /// Lets the pages wait in which the list goes on that begins last in a page.
    fn touch_parts(&self, vertex: u32, page: u32, label: u64, touched: &mut Vec<(u32, u64)>) {
        for page in page + 1..self.map.pages() {
            if !self.map.begins_earlier.contains(page) || self.map.begins[page as usize] != vertex + 1 {
                break;
            }
            self.parts.announce(page);
            self.touch(page, label, touched);
        }
    }

    #[inline]
    fn touch(&self, page: u32, label: u64, touched: &mut Vec<(u32, u64)>) {
        match touched.last_mut() {
            Some((last, least)) if *last == page => *least = label.min(*least),
            _ => {
                if touched.len() == MOST_TOUCHED {
                    self.queue.lower(touched);
                }
                touched.push((page, label));
            }
        }
    }
}

/// The memory that decoded pages may take: most of what is free, and a share of the graph's part of the page cache, if
/// that does not have room for all pages.
fn free_for_decoded(graph: &Graph, pages: u64) -> u64 {
    let (free_bytes, cache_pages) = (graph.runtime().budget().free_bytes(), graph.image().cache_pages());
    let share_bytes = if cache_pages > pages { 0 } else { cache_pages * PAGE_BYTES / CACHED_SHARE };
    free_bytes - free_bytes / 8 + share_bytes
}

/// The most lists that a page has.
fn most_lists(lists: &DirectionLists, vertices: u64) -> u64 {
    let (mut most, mut before) = (0, 0);
    for key in lists.index.iter_from(0).take(lists.pages as usize).chain([2 * vertices]) {
        // The last list may go on in the next page.
        most = most.max(key.div_ceil(2) - before / 2);
        before = key;
    }
    most
}

/// The page in which a vertex's list begins.
struct PageMap {
    /// The first vertex whose list begins in a page or a later one; behind the last page, the number of vertices.
    begins: Vec<u32>,
    /// The pages whose first list began in an earlier page.
    begins_earlier: Bitmap,
    /// The page of every vertex whose number is a multiple of [`GROUP`], and the last page.
    groups: Vec<u32>,
}

impl PageMap {
    /// The memory that it takes beside the bitmap.
    fn bytes(pages: u64, vertices: u64) -> u64 {
        4 * (pages + 1) + 4 * (vertices / GROUP + 2)
    }

    fn new(lists: &DirectionLists, vertices: u64, begins_earlier: Bitmap) -> Self {
        let mut begins = Vec::with_capacity(lists.pages as usize + 1);
        for (page, key) in lists.index.iter_from(0).take(lists.pages as usize).enumerate() {
            begins.push(key.div_ceil(2) as u32);
            if key % 2 == 1 {
                begins_earlier.insert(page as u32);
            }
        }
        begins.push(vertices as u32);
        let mut groups = Vec::with_capacity((vertices / GROUP) as usize + 2);
        let mut page = 0;
        for first in (0..vertices).step_by(GROUP as usize) {
            while page + 1 < lists.pages as usize && u64::from(begins[page + 1]) <= first {
                page += 1;
            }
            groups.push(page as u32);
        }
        groups.push(lists.pages.saturating_sub(1) as u32);
        PageMap { begins, begins_earlier, groups }
    }

    fn pages(&self) -> u32 {
        self.begins.len() as u32 - 1
    }

    #[inline]
    fn page(&self, vertex: u32) -> u32 {
        let group = vertex as usize / GROUP as usize;
        let (first, last) = (self.groups[group], self.groups[group + 1]);
        if first == last {
            return first;
        }
        let later = &self.begins[first as usize + 1..=last as usize];
        first + later.partition_point(|&begin| begin <= vertex) as u32
    }
}

/// The pages that wait, which workers share.
struct Queue {
    pages: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    queue: LeastFirst,
    cached: DecodedCache,
    /// Pages that were taken and whose visit has not begun.
    claimed: Bitmap,
    /// Pages that were taken and whose visit has not ended.
    under_way: usize,
    sleepers: usize,
    stopped: bool,
}

impl Queue {
    fn new(pages: usize, claimed: Bitmap, cached_bytes: u64) -> Self {
        let (queue, cached) = (LeastFirst::new(pages), DecodedCache::new(pages, cached_bytes));
        let waiting = Waiting { queue, cached, claimed, under_way: 0, sleepers: 0, stopped: false };
        Queue { pages: Mutex::new(waiting), changed: Condvar::new() }
    }

    fn restart(&self) {
        let mut waiting = lock(&self.pages);
        while waiting.queue.take().is_some() {}
        waiting.claimed.clear();
        (waiting.under_way, waiting.stopped) = (0, false);
    }

    /// The page with the least label, unless it is cached.
    fn take(&self) -> Option<u64> {
        let mut waiting = lock(&self.pages);
        let page = waiting.queue.first()?;
        if waiting.stopped || waiting.cached.has(page) {
            return None;
        }
        waiting.queue.take();
        waiting.claimed.insert(page);
        waiting.under_way += 1;
        Some(page.into())
    }

    /// The page with the least label, if it is cached. Its visit begins.
    fn take_cached(&self) -> Option<(u32, Arc<CachedPage>)> {
        let mut waiting = lock(&self.pages);
        let page = waiting.queue.first()?;
        if waiting.stopped {
            return None;
        }
        let cached = waiting.cached.get(page)?;
        waiting.queue.take();
        waiting.under_way += 1;
        Some((page, cached))
    }

    /// A page was visited that is not cached, and may be from now on.
    fn cache(&self, page: u32, lists: &Lists, weights: Weights<'_>) {
        if !lock(&self.pages).cached.visit(page) {
            return;
        }
        if let Some(copy) = DecodedCache::copy(lists, weights) {
            lock(&self.pages).cached.insert(page, copy);
        }
    }

    /// The visit of a page begins: what becomes active in it from now on may be too late for that.
    fn begin(&self, page: u32) {
        lock(&self.pages).claimed.remove(page);
    }

    /// Lets pages wait, by these labels.
    fn lower(&self, touched: &mut Vec<(u32, u64)>) {
        self.lower_in(lock(&self.pages), touched);
    }

    /// The visit of a page has ended, because of which others wait.
    fn end(&self, touched: &mut Vec<(u32, u64)>) {
        let mut waiting = lock(&self.pages);
        waiting.under_way -= 1;
        self.lower_in(waiting, touched);
    }

    fn lower_in(&self, mut waiting: MutexGuard<'_, Waiting>, touched: &mut Vec<(u32, u64)>) {
        for (page, label) in touched.drain(..) {
            if !waiting.claimed.contains(page) {
                waiting.queue.lower(page, label);
            }
        }
        if waiting.sleepers > 0 && (waiting.under_way == 0 || !waiting.queue.is_empty()) {
            self.changed.notify_all();
        }
    }

    /// Waits until there is a page to take; `false` if there will be none.
    fn wait(&self) -> bool {
        let mut waiting = lock(&self.pages);
        loop {
            if waiting.stopped || (waiting.queue.is_empty() && waiting.under_way == 0) {
                self.changed.notify_all();
                return false;
            }
            if !waiting.queue.is_empty() {
                return true;
            }
            waiting.sleepers += 1;
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            waiting.sleepers -= 1;
        }
    }
}

/// Buffers of a worker for the page that it visits.
struct Work {
    /// Lists that were active when the visit began, by rising label, where labels are even.
    seeds: Vec<(u64, u32)>,
    /// Lists whose vertices' labels fell since, by rising label, where labels are even.
    fallen: Vec<u32>,
    /// The label with which a list was worked off last in this visit, where labels are even.
    done: Vec<u64>,
    /// The active lists, where labels are not even.
    waiting: NearFirst,
    touched: Vec<(u32, u64)>,
    relaxed: Relaxed,
    /// Visits of decoded pages in memory, which were neither read nor decoded.
    cached_visits: u64,
}

impl Work {
    const LIST_BYTES: u64 = 16 + 2 * 4 + 8 + NearFirst::ITEM_BYTES;
    const BYTES: u64 = 16 * MOST_TOUCHED as u64;

    fn new(lists: usize) -> Self {
        Work {
            seeds: Vec::with_capacity(lists),
            fallen: Vec::with_capacity(2 * lists),
            done: vec![NO_LABEL; lists],
            waiting: NearFirst::new(lists),
            touched: Vec::with_capacity(MOST_TOUCHED),
            relaxed: Relaxed::default(),
            cached_visits: 0,
        }
    }
}

struct Visitor<'a, L> {
    relaxer: &'a ByPage<'a>,
    labels: &'a L,
    active: &'a Bitmap,
    work: Work,
    page: u32,
    /// Up to which label the page is worked off.
    horizon: u64,
}

impl<L: Labels> ListVisitor for Visitor<'_, L> {
    fn page(&mut self, number: u64, lists: &Lists, weights: Weights<'_>) -> Result<()> {
        self.page = number as u32;
        self.relaxer.queue.begin(self.page);
        self.relaxer.queue.cache(self.page, lists, weights);
        self.visit(&DecodedPage(lists, weights))
    }
}

impl<L: Labels> Visitor<'_, L> {
    /// Visits cached pages as long as they have the least labels, but not for ever.
    fn visit_cached(&mut self) -> Result<()> {
        for _ in 0..CACHED_IN_A_ROW {
            let Some((page, cached)) = self.relaxer.queue.take_cached() else { break };
            self.page = page;
            self.work.cached_visits += 1;
            self.visit(&*cached)?;
        }
        Ok(())
    }

    /// Works off a page, and lets others wait because of that.
    fn visit(&mut self, lists: &impl PageLists) -> Result<()> {
        self.work.relaxed.visits += 1;
        self.take_active(lists);
        let least = self.work.seeds.iter().map(|seed| seed.0).min();
        let narrowing = (self.work.relaxed.vertices / self.relaxer.many).min(MOST_NARROWING) as u32;
        self.horizon = least.map_or(NO_LABEL, |least| self.labels.horizon(least, narrowing));
        self.bring_near(lists);
        if L::EVEN {
            self.work_off_even(lists)?;
        } else {
            self.work.waiting.restart(least.unwrap_or(NO_LABEL), self.horizon);
            self.work_off(lists)?;
        }
        self.relaxer.queue.end(&mut self.work.touched);
        Ok(())
    }

    /// Takes the page's active vertices.
    fn take_active(&mut self, lists: &impl PageLists) {
        let (labels, work) = (self.labels, &mut self.work);
        let PageHead { first_vertex: first, count, begins_earlier, .. } = lists.head();
        work.seeds.clear();
        let mut seed = |vertex: u32| {
            lists.prefetch_place(vertex - first);
            let label = labels.get(vertex);
            work.seeds.push((label, vertex - first));
        };
        let page = self.page;
        if begins_earlier && self.relaxer.parts.take(page as usize / 64, 1 << (page % 64)) != 0 {
            seed(first);
        }
        let begun = u64::from(first) + u64::from(begins_earlier)..u64::from(first) + u64::from(count);
        for i in (begun.start / 64) as usize..begun.end.div_ceil(64) as usize {
            let mut remaining = self.active.take(i, word_within(&begun, i as u64));
            while remaining != 0 {
                seed(64 * i as u32 + remaining.trailing_zeros());
                remaining &= remaining - 1;
            }
        }
    }

    /// Asks the processor for what the first lists need, all at once: one by one, each would wait for memory.
    fn bring_near(&self, lists: &impl PageLists) {
        let near = || self.work.seeds.iter().filter(|seed| seed.0 <= self.horizon).map(|seed| seed.1);
        near().for_each(|i| lists.prefetch_edges(i));
        near().flat_map(|i| lists.edges(i)).for_each(|(target, _)| self.labels.prefetch(target));
    }

    /// Works off active lists, those with the least labels first.
    fn work_off(&mut self, lists: &impl PageLists) -> Result<()> {
        let (horizon, head) = (self.horizon, lists.head());
        for place in 0..self.work.seeds.len() {
            let (label, i) = self.work.seeds[place];
            if label <= horizon {
                self.work.waiting.lower(i, label);
            } else {
                if i == 0 && head.begins_earlier {
                    self.relaxer.parts.announce(self.page);
                } else {
                    self.active.announce(head.first_vertex + i);
                }
                self.relaxer.touch(self.page, label, &mut self.work.touched);
            }
        }
        while let Some(i) = self.work.waiting.take() {
            self.check_stop()?;
            let label = self.labels.get(head.first_vertex + i);
            self.relax(lists, i, label, |work, i, label| {
                let near = label <= horizon;
                if near {
                    work.waiting.lower(i, label);
                }
                near
            });
        }
        Ok(())
    }

    /// Works off active lists where edges keep the order of labels: those that fell are in order without sorting.
    fn work_off_even(&mut self, lists: &impl PageLists) -> Result<()> {
        if !self.work.seeds.is_sorted() {
            self.work.seeds.sort_unstable();
        }
        self.work.fallen.clear();
        let first = lists.head().first_vertex;
        let (mut next_seed, mut next_fallen) = (0, 0);
        loop {
            let seed = self.work.seeds.get(next_seed).copied();
            let fallen = self.work.fallen.get(next_fallen).map(|&i| (self.labels.get(first + i), i));
            let (label, i) = match (seed, fallen) {
                (Some(seed), Some(fallen)) if seed.0 > fallen.0 => {
                    next_fallen += 1;
                    fallen
                }
                (Some(seed), _) => {
                    next_seed += 1;
                    seed
                }
                (None, Some(fallen)) => {
                    next_fallen += 1;
                    fallen
                }
                (None, None) => break,
            };
            // Meanwhile the label may have fallen further, or the list have been worked off.
            let label = label.min(self.labels.get(first + i));
            if label >= self.work.done[i as usize] {
                continue;
            }
            self.work.done[i as usize] = label;
            self.check_stop()?;
            self.relax(lists, i, label, |work, i, _| {
                let room = work.fallen.len() < work.fallen.capacity();
                if room {
                    work.fallen.push(i);
                }
                room
            });
        }
        let Work { seeds, fallen, done, .. } = &mut self.work;
        seeds.iter().map(|seed| &seed.1).chain(fallen.iter()).for_each(|&i| done[i as usize] = NO_LABEL);
        Ok(())
    }

    /// Hears a request to stop, every so many lists.
    #[inline]
    fn check_stop(&self) -> Result<()> {
        let is_due = self.work.relaxed.vertices.is_multiple_of(LISTS_BETWEEN_CHECKS);
        if is_due { Ok(self.relaxer.graph.runtime().cancel().check()?) } else { Ok(()) }
    }

    /// Offers labels along the edges of a list. `wait` lets a list of the page wait, if it can.
    #[inline(always)]
    fn relax(&mut self, lists: &impl PageLists, i: u32, label: u64, wait: impl Fn(&mut Work, u32, u64) -> bool) {
        self.work.relaxed.vertices += 1;
        let PageHead { first_vertex: first, count, begins_earlier, ends_later } = lists.head();
        let begun = u32::from(begins_earlier)..count;
        for (target, weight) in lists.edges(i) {
            let Some(offered) = self.labels.along(first + i, label, weight) else { continue };
            if offered >= self.labels.get(target) || !self.labels.lower(target, offered) {
                continue;
            }
            let place = target.wrapping_sub(first);
            if begun.contains(&place) && wait(&mut self.work, place, offered) {
                if ends_later && place + 1 == begun.end {
                    self.relaxer.touch_parts(target, self.page, offered, &mut self.work.touched);
                }
                continue;
            }
            self.active.announce(target);
            let page = self.relaxer.map.page(target);
            self.relaxer.touch_list(target, page, offered, &mut self.work.touched);
        }
    }
}

/// The bits of word `i` that are those of a range.
fn word_within(range: &Range<u64>, i: u64) -> u64 {
    let (head, tail) = (range.start.saturating_sub(64 * i), (64 * i + 64).saturating_sub(range.end));
    u64::MAX << head & u64::MAX >> tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{ImportOptions, InputOptions, import, open};
    use outcore_image::ImageOptions;
    use outcore_io::Runtime;
    use std::path::Path;

    fn graph(runtime: &Runtime, folder: &Path, vertices: u32) -> Graph {
        let line = |v: u32, i: u32| format!("{v} {}\n", (v * 7 + i * i * 101) % vertices);
        let text: String = (0..vertices).flat_map(|v| (1..9).map(move |i| line(v, i))).collect();
        let [edges, image] = ["txt", "oc"].map(|name| folder.join(format!("{vertices}.{name}")));
        std::fs::write(&edges, text).unwrap();
        let source = open(runtime, &[edges], &InputOptions::default()).unwrap();
        import(runtime, source, &image, &ImportOptions::default()).unwrap();
        Graph::open(runtime, &image, ImageOptions::default()).unwrap()
    }

    #[test]
    fn decoded_pages_take_a_share_of_the_part_of_their_graph() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = outcore_testkit::runtime_under(1, 128 << 20, None);
        let [small, large] = [2000, 20_000].map(|vertices| graph(&runtime, folder.path(), vertices));
        [&small, &large].into_iter().for_each(|graph| graph.fill_cache().unwrap());
        let (part, whole) = (small.image().cache_pages(), small.image().cache().unwrap().capacity_pages());
        assert!(0 < part && part < large.image().cache_pages() && part + large.image().cache_pages() <= whole);
        let free_bytes = runtime.budget().free_bytes();
        let all_free = free_bytes - free_bytes / 8;
        assert_eq!(free_for_decoded(&small, part - 1), all_free, "its part has room for all pages");
        assert_eq!(free_for_decoded(&small, part), all_free + part * PAGE_BYTES / CACHED_SHARE);
    }
}
