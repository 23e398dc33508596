//! Relaxing edges asynchronously where memory caches all lists: vertices whose label fell are worked off by rank, the
//! least first, and those of one rank in any order.
//!
//! *Idea.* Delta-stepping without steps. Every worker has bins of its own, one per rank; a vertex whose label falls
//! goes into a bin of the worker that lowered it. A worker with empty bins, or some ranks ahead of another, waits for a
//! donation: half of what another worker has in each bin. So workers seldom meet, and none waits for all others.
//!
//! *Encoding.* A bit per vertex says that its list is to be worked off. Bins hold hints where to look for bits: a
//! vertex may be in several, and the first worker that finds it takes the bit. Bins have room for a fixed number of
//! hints and for 64 ranks. What does not fit stays a bit without a hint; once all bins are empty, the bits are
//! searched.
//!
//! *Ordering.* A worker that lowers a label writes it first, then sets the bit; one that takes the bit reads the label
//! after that. So no label that fell is missed.
//!
//! *Order within a rank.* Where ranks turn out too wide, since weights differ by orders of magnitude, labels fall again
//! and again. A worker that has worked off four times its share of all lists takes hints of a rank by a heap from then
//! on, the least label first.
//!
//! *Cost.* One and a half bytes per vertex for hints beside the cached lists, and half a MiB per worker.
//!
//! Meyer and Sanders, *Delta-stepping*, J. Algorithms 2003; Nguyen, Lenharth, Pingali, *A lightweight infrastructure
//! for graph analytics*, SOSP 2013, keeps work in bags by priority.

use crate::engine::vertex_set::Bitmap;
use crate::relax::cached_lists::CachedLists;
use crate::relax::relaxer::{Labels, MANY_VISITS, OnDrop};
use outcore_image::Result;
use outcore_io::{Runtime, lock};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Number of ranks that have bins at the same time: bits of a word.
const RANKS: u64 = 64;
/// Number of ranks that a worker may be ahead of another.
const AHEAD: u64 = 8;
/// Number of vertices that are relaxed together.
const BATCH: usize = 32;
/// Least number of hints of a worker that donates half of them.
const LEAST_TO_DONATE: usize = 64;
/// Number of targets of a list that are prefetched.
const NEAR_TARGETS: usize = 8;
const NONE: u32 = u32::MAX;
/// Number of batches between looks for a request to stop.
const BETWEEN_CHECKS: u64 = 64;
/// The most hints of a rank that are ordered by label. Half of them are taken at once: others come meanwhile.
const ORDERED: usize = 1 << 15;

/// Hints of a rank, the least label first.
type ByLabel = BinaryHeap<Reverse<(u64, u32)>>;

/// Hints of one rank, which worker and worker hand on.
type Donation = Vec<(u64, Vec<u32>)>;

struct Bins {
    chunks: Vec<Chunk>,
    /// The first chunk that is not in use.
    free: u32,
    /// The first chunk of every rank, modulo their number.
    heads: [u32; RANKS as usize],
    filled: u64,
    /// The least rank that has a bin.
    first: u64,
    hints: usize,
}

/// A block of hints that fills four cache lines.
struct Chunk {
    vertices: [u32; Chunk::ROOM],
    len: u32,
    next: u32,
}

impl Chunk {
    const ROOM: usize = 62;
}

impl Bins {
    fn new(chunks: usize) -> Self {
        let next = |i: usize| if i + 1 < chunks { i as u32 + 1 } else { NONE };
        let chunk = |i| Chunk { vertices: [0; Chunk::ROOM], len: 0, next: next(i) };
        Bins {
            chunks: (0..chunks).map(chunk).collect(),
            free: if chunks == 0 { NONE } else { 0 },
            heads: [NONE; RANKS as usize],
            filled: 0,
            first: 0,
            hints: 0,
        }
    }

    /// The least rank of which there are hints.
    fn least(&self) -> Option<u64> {
        (self.filled != 0)
            .then(|| self.first + u64::from(self.filled.rotate_right((self.first % RANKS) as u32).trailing_zeros()))
    }

    /// Lets a lesser rank be the first, or any if there are no hints; `false` if hints of great ranks had to go.
    fn begin_at(&mut self, rank: u64) -> bool {
        let mut keeps_hints = true;
        for beyond in (rank + RANKS).max(self.first)..self.first + RANKS {
            while self.filled >> (beyond % RANKS) & 1 == 1 {
                self.take(beyond, &mut [0; Chunk::ROOM]);
                keeps_hints = false;
            }
        }
        if rank < self.first || self.hints == 0 {
            self.first = rank;
        }
        keeps_hints
    }

    /// Adds a hint, unless there is no room for it. What has a lesser rank than any bin goes into the first.
    #[inline]
    fn push(&mut self, rank: u64, vertex: u32) -> bool {
        let ahead = rank.saturating_sub(self.first);
        if ahead >= RANKS {
            return false;
        }
        let bin = ((self.first + ahead) % RANKS) as usize;
        let mut head = self.heads[bin];
        if head == NONE || self.chunks[head as usize].len as usize == Chunk::ROOM {
            if self.free == NONE {
                return false;
            }
            let fresh = self.free;
            let chunk = &mut self.chunks[fresh as usize];
            self.free = std::mem::replace(&mut chunk.next, head);
            chunk.len = 0;
            self.heads[bin] = fresh;
            self.filled |= 1 << bin;
            head = fresh;
        }
        let chunk = &mut self.chunks[head as usize];
        chunk.vertices[chunk.len as usize] = vertex;
        chunk.len += 1;
        self.hints += 1;
        true
    }

    /// Takes some hints of a rank that has some; returns how many.
    fn take(&mut self, rank: u64, into: &mut [u32]) -> usize {
        let bin = (rank % RANKS) as usize;
        let head = self.heads[bin];
        let chunk = &mut self.chunks[head as usize];
        let count = into.len().min(chunk.len as usize);
        let rest = chunk.len as usize - count;
        into[..count].copy_from_slice(&chunk.vertices[rest..rest + count]);
        chunk.len = rest as u32;
        self.hints -= count;
        if rest == 0 {
            self.heads[bin] = std::mem::replace(&mut chunk.next, self.free);
            self.free = head;
            self.filled ^= u64::from(self.heads[bin] == NONE) << bin;
        }
        count
    }

    /// Takes half of the hints of every rank, or one less.
    fn half(&mut self) -> Donation {
        let mut donation = Vec::new();
        for rank in self.first..self.first + RANKS {
            let (mut len, mut chunk) = (0, self.heads[(rank % RANKS) as usize]);
            while chunk != NONE {
                len += self.chunks[chunk as usize].len as usize;
                chunk = self.chunks[chunk as usize].next;
            }
            let mut vertices = vec![0; len / 2];
            let mut count = 0;
            while count < vertices.len() {
                count += self.take(rank, &mut vertices[count..]);
            }
            if count > 0 {
                donation.push((rank, vertices));
            }
        }
        donation
    }
}

/// Data that the workers share.
pub(crate) struct ByRank<'a, L> {
    labels: &'a L,
    lists: &'a CachedLists,
    /// The vertices whose lists are to be worked off.
    active: &'a Bitmap,
    /// The rank that every worker is at, or the greatest of all.
    places: Vec<AtomicU64>,
    waiting: AtomicUsize,
    /// Whether there may be bits without hints.
    unhinted: AtomicBool,
    pool: Mutex<Pool>,
    changed: Condvar,
    chunks: usize,
    /// Number of lists after which a worker orders the hints of a rank.
    many: u64,
}

#[derive(Default)]
struct Pool {
    /// One for each worker that waits, at most.
    donations: Vec<Donation>,
    workers: usize,
    /// Number of workers without hints.
    empty: usize,
    stopped: bool,
}

/// The memory that the hints of all workers take, and half of them once more where they are donations.
pub(crate) fn hint_bytes(vertices: u64, workers: usize) -> u64 {
    let by_label = workers * ORDERED * size_of::<Reverse<(u64, u32)>>();
    (chunks(vertices, workers) * workers * size_of::<Chunk>()) as u64 * 3 / 2 + by_label as u64
}

fn chunks(vertices: u64, workers: usize) -> usize {
    (vertices as usize / size_of::<Chunk>() / workers).max(2 * RANKS as usize)
}

impl<'a, L: Labels> ByRank<'a, L> {
    pub fn new(labels: &'a L, lists: &'a CachedLists, active: &'a Bitmap, vertices: u64, workers: usize) -> Self {
        ByRank {
            labels,
            lists,
            active,
            places: (0..workers).map(|_| AtomicU64::new(u64::MAX)).collect(),
            waiting: AtomicUsize::new(0),
            unhinted: AtomicBool::new(true),
            pool: Mutex::default(),
            changed: Condvar::new(),
            chunks: chunks(vertices, workers),
            many: MANY_VISITS * vertices / workers as u64,
        }
    }

    /// Works until nothing is left to do; returns how many lists were worked off.
    ///
    /// # Errors
    /// A request to stop.
    pub fn work(&self, runtime: &Runtime, stop: &AtomicBool) -> Result<u64> {
        let worker = {
            let mut pool = lock(&self.pool);
            pool.workers += 1;
            pool.workers - 1
        };
        let _stop = OnDrop(|| {
            lock(&self.pool).stopped = true;
            self.changed.notify_all();
        });
        let (mut bins, mut batch, mut count) = (Bins::new(self.chunks), [0; BATCH], 0);
        let (mut by_label, mut batches) = (ByLabel::new(), 0u64);
        while !stop.load(Ordering::Relaxed) {
            batches += 1;
            if batches.is_multiple_of(BETWEEN_CHECKS) {
                runtime.cancel().check()?;
            }
            let Some(rank) = bins.least() else {
                if self.wait(worker, None, &mut bins) {
                    continue;
                }
                break;
            };
            bins.first = rank;
            let place = &self.places[worker];
            if place.load(Ordering::Relaxed) != rank {
                runtime.cancel().check()?;
                // Waiters raise `waiting` before they load `place` (both SeqCst): no wake-up is lost.
                place.store(rank, Ordering::SeqCst);
                if self.waiting.load(Ordering::SeqCst) > 0 {
                    drop(lock(&self.pool));
                    self.changed.notify_all();
                }
            }
            if self.waiting.load(Ordering::Relaxed) > 0 && bins.hints >= LEAST_TO_DONATE {
                self.donate(&mut bins);
            }
            if self.is_ahead(worker, rank) {
                if self.wait(worker, Some(rank), &mut bins) {
                    continue;
                }
                break;
            }
            if bins.least() == Some(rank) {
                if count > self.many {
                    count += self.relax_by_label(rank, &mut by_label, &mut bins, || {
                        if stop.load(Ordering::Relaxed) { Ok(true) } else { runtime.cancel().check().map(|()| false) }
                    })?;
                    continue;
                }
                let len = bins.take(rank, &mut batch);
                count += self.relax(&batch[..len], &mut bins);
            }
        }
        Ok(count)
    }

    fn is_ahead(&self, worker: usize, rank: u64) -> bool {
        let others = self.places.iter().enumerate().filter(|&(other, _)| other != worker);
        others.map(|(_, place)| place.load(Ordering::SeqCst)).any(|other| rank > other.saturating_add(AHEAD))
    }

    /// Donates half of the hints to a waiting worker.
    fn donate(&self, bins: &mut Bins) {
        let mut pool = lock(&self.pool);
        if self.waiting.load(Ordering::Relaxed) > pool.donations.len() {
            pool.donations.push(bins.half());
            self.changed.notify_all();
        }
    }

    /// Waits for a donation or, with a rank, until no worker is too far behind; `false` if no work remains.
    fn wait(&self, worker: usize, rank: Option<u64>, bins: &mut Bins) -> bool {
        let mut pool = lock(&self.pool);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.places[worker].store(rank.unwrap_or(u64::MAX), Ordering::SeqCst);
        if rank.is_none() {
            pool.empty += 1;
            self.changed.notify_all();
        }
        let goes_on = loop {
            if pool.stopped {
                break false;
            }
            if let Some(donation) = pool.donations.pop() {
                self.take_donation(donation, bins);
                break true;
            }
            match rank {
                Some(rank) if !self.is_ahead(worker, rank) => break true,
                None if pool.empty == pool.workers => {
                    if self.unhinted.swap(false, Ordering::Relaxed) && self.search(bins) {
                        break true;
                    }
                    pool.stopped = true;
                    self.changed.notify_all();
                    break false;
                }
                _ => pool = self.changed.wait(pool).unwrap_or_else(PoisonError::into_inner),
            }
        };
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        if rank.is_none() {
            pool.empty -= 1;
        }
        goes_on
    }

    /// Leaves a hint of a bit, or a note that there is one without.
    #[inline]
    fn hint(&self, bins: &mut Bins, rank: u64, vertex: u32) {
        if !bins.push(rank, vertex) {
            self.unhinted.store(true, Ordering::Relaxed);
        }
    }

    fn take_donation(&self, donation: Donation, bins: &mut Bins) {
        if let Some(&(least, _)) = donation.first()
            && !bins.begin_at(least)
        {
            self.unhinted.store(true, Ordering::Relaxed);
        }
        for (rank, vertices) in donation {
            for vertex in vertices {
                self.hint(bins, rank, vertex);
            }
        }
    }

    /// Makes hints of bits, while no worker has any; returns whether there are some.
    fn search(&self, bins: &mut Bins) -> bool {
        let active = || self.active.iter(0..self.active.words()).map(|v| (self.labels.rank(self.labels.get(v)), v));
        let Some(least) = active().map(|(rank, _)| rank).min() else { return false };
        bins.begin_at(least);
        for (rank, vertex) in active() {
            self.hint(bins, rank, vertex);
        }
        true
    }

    /// Works off the lists of those vertices whose bits no other worker has taken; returns how many.
    fn relax(&self, vertices: &[u32], bins: &mut Bins) -> u64 {
        let (labels, lists) = (self.labels, self.lists);
        for &vertex in vertices {
            lists.prefetch_place(vertex);
            labels.prefetch(vertex);
        }
        vertices.iter().for_each(|&vertex| lists.prefetch_edges(vertex));
        for &vertex in vertices {
            lists.edges(vertex).take(NEAR_TARGETS).for_each(|(target, _)| labels.prefetch(target));
        }
        let mut count = 0;
        for &vertex in vertices {
            if self.active.take(vertex as usize / 64, 1 << (vertex % 64)) == 0 {
                continue;
            }
            count += 1;
            self.relax_list(vertex, |offered, target| self.hint(bins, labels.rank(offered), target));
        }
        count
    }

    /// Offers labels along the edges of a vertex; `hint` gets those that fell, and their vertices.
    #[inline(always)]
    fn relax_list(&self, vertex: u32, mut hint: impl FnMut(u64, u32)) {
        let label = self.labels.get(vertex);
        for (target, weight) in self.lists.edges(vertex) {
            let Some(offered) = self.labels.along(vertex, label, weight) else { continue };
            if offered < self.labels.get(target) && self.labels.lower(target, offered) {
                self.active.announce(target);
                hint(offered, target);
            }
        }
    }

    /// Works off hints of a rank by rising label; returns how many lists that were. `is_stopped` is asked now and then.
    fn relax_by_label(
        &self,
        rank: u64,
        by_label: &mut ByLabel,
        bins: &mut Bins,
        is_stopped: impl Fn() -> outcore_io::Result<bool>,
    ) -> Result<u64> {
        by_label.clear();
        by_label.reserve_exact(ORDERED);
        let mut batch = [0; BATCH];
        while bins.least() == Some(rank) && by_label.len() + BATCH <= ORDERED / 2 {
            let len = bins.take(rank, &mut batch);
            by_label.extend(batch[..len].iter().map(|&vertex| Reverse((self.labels.get(vertex), vertex))));
        }
        let (mut count, mut taken) = (0, 0u64);
        while let Some(Reverse((_, vertex))) = by_label.pop() {
            taken += 1;
            if taken.is_multiple_of(BETWEEN_CHECKS * BATCH as u64) && is_stopped()? {
                break;
            }
            if self.active.take(vertex as usize / 64, 1 << (vertex % 64)) == 0 {
                continue;
            }
            count += 1;
            self.relax_list(vertex, |label, target| match self.labels.rank(label) {
                // A label that falls meanwhile is not later than the rank that is being worked off.
                of if of <= rank && by_label.len() < ORDERED => by_label.push(Reverse((label, target))),
                of => self.hint(bins, of, target),
            });
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::RuntimeOptions;
    use outcore_testkit::random_below;
    use std::collections::BTreeMap;

    #[test]
    fn hints_come_by_rank_until_there_is_no_room() {
        let (mut state, mut bins, mut refused) = (1, Bins::new(20), 0);
        let mut model = BTreeMap::<u64, Vec<u32>>::new();
        for i in 0..100_000 {
            let len: usize = model.values().map(Vec::len).sum();
            assert_eq!((bins.least(), bins.hints), (model.keys().next().copied(), len));
            if random_below(&mut state, 40) > 0 && len < 1500 {
                let ahead = random_below(&mut state, RANKS + 2).saturating_sub(1);
                let rank = bins.first + ahead;
                match bins.push(rank, i) {
                    true => model.entry(rank).or_default().push(i),
                    // There is no bin, or a new chunk was wanted, of which the ranks before may have taken all.
                    false => refused += u64::from(ahead < RANKS),
                }
                assert!(ahead < RANKS || !model.contains_key(&rank));
            } else if let Some(rank) = bins.least() {
                bins.first = rank;
                let mut batch = [0; BATCH];
                let count = bins.take(rank, &mut batch);
                let waiting = model.get_mut(&rank).unwrap();
                for vertex in &batch[..count] {
                    let at = waiting.iter().position(|waits| waits == vertex).expect("it waited");
                    waiting.swap_remove(at);
                }
                assert!(count > 0);
                model.retain(|_, waiting| !waiting.is_empty());
            }
        }
        assert!(refused > 0);
    }

    #[test]
    fn hints_take_one_and_a_half_bytes_per_vertex_and_have_room_for_all_ranks() {
        let by_label = |workers: u64| workers * 16 * ORDERED as u64;
        assert_eq!((size_of::<Chunk>(), hint_bytes(1 << 24, 2)), (256, (3 << 23) + by_label(2)));
        assert_eq!((chunks(1 << 24, 2), chunks(1 << 24, 4)), (1 << 15, 1 << 14));
        assert_eq!((chunks(0, 3), hint_bytes(0, 3)), (128, 128 * 3 * 384 + by_label(3)));
        let bins = Bins::new(chunks(1 << 20, 1));
        assert!((bins.chunks.capacity() * size_of::<Chunk>()) as u64 <= hint_bytes(1 << 20, 1));
    }

    #[test]
    fn half_is_given_and_a_lesser_rank_becomes_the_first() {
        let mut bins = Bins::new(100);
        assert!(bins.begin_at(1000) && bins.first == 1000);
        for (rank, hints) in [(1000, 1), (1003, 200), (1063, 7)] {
            (0..hints).for_each(|vertex| assert!(bins.push(rank, vertex)));
        }
        assert!(!bins.push(1064, 0) && bins.push(999, 8), "what has a lesser rank goes into the first bin");
        let donation = bins.half();
        assert_eq!(
            donation.iter().map(|(rank, part)| (*rank, part.len())).collect::<Vec<_>>(),
            [(1000, 1), (1003, 100), (1063, 3)]
        );
        assert_eq!(bins.hints, 1 + 100 + 4);
        // Ranks up to 1061 stay.
        assert!(!bins.begin_at(998) && bins.hints == 101 && bins.first == 998);
        assert!(bins.begin_at(998) && bins.begin_at(1500) && bins.first == 998);
        assert_eq!(bins.least(), Some(1000));
        assert!(bins.push(1061, 3) && !bins.push(1062, 3));
    }

    /// Distances, whose ranks are `1 / width` of them.
    struct Distances {
        labels: Vec<AtomicU64>,
        width: u64,
    }

    impl Labels for Distances {
        const EVEN: bool = false;

        fn rank(&self, label: u64) -> u64 {
            label / self.width
        }

        fn get(&self, vertex: u32) -> u64 {
            self.labels[vertex as usize].load(Ordering::Relaxed)
        }

        fn lower(&self, vertex: u32, label: u64) -> bool {
            self.labels[vertex as usize].fetch_min(label, Ordering::Relaxed) > label
        }

        fn along(&self, _source: u32, label: u64, weight: u64) -> Option<u64> {
            Some(label + weight)
        }
    }

    /// Distances from vertex 0, one edge after the other.
    fn distances(vertices: u32, edges: &[(u32, u32, u64)]) -> Vec<u64> {
        let mut distances = vec![u64::MAX; vertices as usize];
        distances[0] = 0;
        let mut falls = true;
        while falls {
            falls = false;
            for &(source, target, weight) in edges {
                let offered = distances[source as usize].saturating_add(weight);
                if offered < distances[target as usize] {
                    distances[target as usize] = offered;
                    falls = true;
                }
            }
        }
        distances
    }

    #[test]
    fn labels_are_the_least_whatever_the_workers_the_ranks_and_the_room() {
        let mut state = 7;
        let side = 40;
        let mut edges = Vec::new();
        for v in 0..side * side {
            for target in [(v % side + 1 < side).then_some(v + 1), (v + side < side * side).then_some(v + side)] {
                let weight = random_below(&mut state, 200) * random_below(&mut state, 3);
                edges.extend(target.into_iter().flat_map(|target| [(v, target, weight), (target, v, weight)]));
            }
        }
        // A hub, whose edges lead far.
        edges.extend((0..500).map(|i| (777, 3 * i, 100_000 * u64::from(i % 7))));
        edges.sort_unstable();
        let vertices = side * side;
        let expected = distances(vertices, &edges);
        let many = MANY_VISITS * u64::from(vertices);
        for (threads, width, chunks, many) in [
            (1, 100, 128, many),
            (2, 100, 128, many),
            (8, 30, 128, many / 8),
            (3, 1, 128, 0),
            (2, 100, 128, 0),
            (1, u64::MAX, 128, 0),
            (4, u64::MAX, 2, 300),
            (4, 100, 2, many / 4),
            (2, 1_000_000, 1, many / 2),
            (2, 7, 0, many / 2),
        ] {
            let runtime = Runtime::new(RuntimeOptions { threads: Some(threads), ..RuntimeOptions::default() }).unwrap();
            let lists = CachedLists::of(runtime.budget(), vertices, &edges);
            let labels: Vec<_> = (0..vertices).map(|_| AtomicU64::new(u64::MAX)).collect();
            let active = Bitmap::new(runtime.budget(), "a test", vertices.into()).unwrap();
            labels[0].store(0, Ordering::Relaxed);
            active.insert(0);
            let labels = Distances { labels, width };
            let by_rank = ByRank { chunks, many, ..ByRank::new(&labels, &lists, &active, vertices.into(), threads) };
            let stop = AtomicBool::new(false);
            // Without room for hints nothing would ever be done.
            if chunks == 0 {
                stop.store(true, Ordering::Relaxed);
            }
            let counts = runtime.run_on(threads, |_| by_rank.work(&runtime, &stop)).unwrap();
            let distances: Vec<u64> = labels.labels.iter().map(|label| label.load(Ordering::Relaxed)).collect();
            assert_eq!(distances == expected, chunks > 0, "{threads} workers, {width}, {chunks}");
            let count: u64 = counts.iter().sum();
            assert!(count >= u64::from(vertices) || chunks == 0);
            // One worker, and narrow ranks or an order within a rank: nearly as Dijkstra.
            assert!(threads > 1 || count < 2 * u64::from(vertices), "{count} lists, {width}");
            assert!(active.count() == 0 || chunks == 0);
        }
    }

    #[test]
    fn a_request_to_stop_stops_all() {
        let runtime = Runtime::new(RuntimeOptions { threads: Some(3), ..RuntimeOptions::default() }).unwrap();
        let edges = [(0, 1, 1), (1, 0, 1)];
        let lists = CachedLists::of(runtime.budget(), 2, &edges);
        let active = Bitmap::new(runtime.budget(), "a test", 2).unwrap();
        active.insert(0);
        let labels = Distances { labels: vec![AtomicU64::new(0), AtomicU64::new(u64::MAX)], width: 1 };
        let by_rank = ByRank::new(&labels, &lists, &active, 2, 3);
        runtime.cancel().cancel();
        assert!(by_rank.work(&runtime, &AtomicBool::new(false)).is_err());
        // A worker that starts later has no work.
        assert_eq!(by_rank.work(&runtime, &AtomicBool::new(false)).unwrap(), 0);
    }
}
