//! The page cache: set-associative, with one short lock per set and no list over all pages.
//!
//! Page `p` belongs to set `p mod sets`, so a run of adjacent pages as long as the cache fills it evenly. Within a set
//! the victim is chosen by second chance. Two rules keep scans from spoiling the cache:
//!
//! * A pass over a file larger than the cache keeps a *fixed part* resident, the file's first pages, and inserts
//!   nothing else: every pass then hits as much as any policy could, where least-recently-used would hit nothing.
//! * A selective sweep inserts the pages that it reads.
//!
//! A cache is reclaimable memory: it shrinks by closing frames, and grows again by opening them. A *way* is a frame of
//! every set, and the frames lie way by way: those that are open are the first ones. The pages in them stay. The memory
//! of a closed frame is *withheld*, and stays reserved, while the frame is pinned, and where the system's pages are
//! larger than a frame and hold others that are not closed.
//!
//! A cache that becomes too small moves into a larger one, while both are in use: each looks into the other where it
//! does not find a page itself.
//!
//! A page that is found is pinned until its guard is dropped: its frame is not reused meanwhile. Pages are verified
//! before they are inserted, so pages that are found need not be. (Zheng, *FlashX*, 2016, section 2.4; scan resistance
//! as in Chou and DeWitt, *An evaluation of buffer management strategies*, VLDB 1985.)
#![allow(unsafe_code)]

mod moving;

use crate::budget::{Budget, CACHE_PURPOSE, Reservation};
use crate::buffer::{Buffer, PAGE_BYTES, system_page_bytes};
use crate::error::Result;
use crate::lock::lock;
use std::cell::UnsafeCell;
use std::ops::{Deref, Index, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// The frames of a set.
const WAYS: usize = 8;
/// Overhead of a frame, its page excluded.
const FRAME_BYTES: u64 = 32;
/// The least part of a cache that it gives back, as a fraction (1/n), and the largest such number of frames: a cache
/// that is full is asked for memory often.
const LEAST_PART: usize = 64;
const MOST_LEAST_FRAMES: usize = 256;
const _: () = assert!(size_of::<Mutex<Set>>() <= WAYS * FRAME_BYTES as usize);

/// Key of a page: image, file and page number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageKey {
    /// The image: a number that no other image, and no other state of this one, ever has.
    pub image: u32,
    /// The file.
    pub file: u32,
    /// The page.
    pub page: u64,
}

/// A set-associative cache of pages.
pub struct PageCache {
    sets: Box<[Mutex<Set>]>,
    /// The frames of way 0, those of way 1, and so on.
    frames: Frames,
    /// The number of open frames. It changes only under the lock `resizing`.
    open: AtomicUsize,
    resizing: Mutex<()>,
    /// The larger cache that the pages move into.
    larger: OnceLock<Arc<PageCache>>,
    /// The smaller cache whose pages move into this one, until none is left in it.
    smaller: Mutex<Option<Arc<PageCache>>>,
    has_smaller: AtomicBool,
    _headers: Reservation,
}

struct Frames {
    array: UnsafeCell<Buffer<[u8; PAGE_BYTES]>>,
    /// Number of frames in the unit in which the system takes memory: one of its pages.
    of_page: usize,
}

// SAFETY: a frame is written only under its set's lock while it is not pinned, and read only while pinned.
unsafe impl Sync for Frames {}

impl Frames {
    fn array(&self) -> &Buffer<[u8; PAGE_BYTES]> {
        // SAFETY: only the array's address, length and reservation are used, none of which lies in the frames.
        unsafe { &*self.array.get() }
    }

    fn at(&self, frame: usize) -> *mut [u8; PAGE_BYTES] {
        let array = self.array();
        assert!(frame < array.len());
        array.start().wrapping_add(frame)
    }

    /// Frees the memory of frames, as far as they are whole pages of the system; returns the frames that are free.
    ///
    /// # Safety
    /// The frames are not pinned, and no set hands them out.
    unsafe fn give_back(&self, frames: Range<usize>) -> Range<usize> {
        // SAFETY: the caller guarantees that no thread reads or writes them.
        let free = unsafe { self.array().discard(frames, self.of_page * PAGE_BYTES) };
        self.array().reservation().shrink((free.len() * PAGE_BYTES) as u64);
        free
    }
}

/// The frames of a set. Closed frames have no key, but may still be pinned.
struct Set {
    keys: [Option<PageKey>; WAYS],
    pins: [u16; WAYS],
    used: [bool; WAYS],
    /// Closed frames whose memory is still reserved.
    withheld: [bool; WAYS],
    hand: u8,
    open: u8,
}

/// A pinned page of the cache; its frame is not reused until this is dropped.
pub struct Pinned {
    cache: Arc<PageCache>,
    set: usize,
    way: usize,
}

/// Adjacent pages of the cache, pinned together until this is dropped: one count of references for all of them, which
/// workers would otherwise take turns to change for every page.
pub struct PinnedRun {
    cache: Arc<PageCache>,
    /// The cache that it moves into or replaces, if pages were missing.
    other: Option<Arc<PageCache>>,
    places: Vec<RunPlace>,
}

/// The frame of a page of a run.
struct RunPlace {
    set: usize,
    way: usize,
    is_in_other: bool,
}

impl PageCache {
    /// A cache of at most `bytes`, as far as memory is free; `None` if that is too little for one.
    ///
    /// # Errors
    /// Too little memory under the budget for what describes its pages, or on the machine.
    pub fn new(budget: &Budget, bytes: u64) -> Result<Option<Arc<Self>>> {
        PageCache::new_in_part(budget, bytes, bytes)
    }

    /// A cache that may grow to `bytes`, with as many ways open as fit `open_bytes`, and as memory is free for; `None`
    /// if not even one fits.
    ///
    /// # Errors
    /// As for [`PageCache::new`].
    pub(crate) fn new_in_part(budget: &Budget, bytes: u64, open_bytes: u64) -> Result<Option<Arc<Self>>> {
        PageCache::with_pages_of(system_page_bytes(), budget, bytes, open_bytes)
    }

    /// A cache whose memory the system takes in units of `system_bytes`.
    fn with_pages_of(system_bytes: usize, budget: &Budget, bytes: u64, open_bytes: u64) -> Result<Option<Arc<Self>>> {
        let sets = (bytes / (WAYS as u64 * (PAGE_BYTES as u64 + FRAME_BYTES))) as usize;
        let headers_bytes = (sets * size_of::<Mutex<Set>>()) as u64;
        let open = open_bytes.saturating_sub(headers_bytes) / (sets * PAGE_BYTES).max(1) as u64;
        let open = if open_bytes >= bytes { WAYS } else { open.min(WAYS as u64) as usize };
        if sets == 0 || open == 0 {
            return Ok(None);
        }
        let headers = budget.reserve("the headers of the page cache", headers_bytes)?;
        // It opens its frames once the ledger knows it: their memory counts as free or as that of a cache at any time.
        let frames = Buffer::zeroed_in_part(budget, CACHE_PURPOSE, sets * WAYS, 0, open == WAYS)?;
        let cache = Arc::new(PageCache {
            sets: (0..sets).map(|_| Mutex::new(Set::empty())).collect(),
            frames: Frames { array: UnsafeCell::new(frames), of_page: system_bytes / PAGE_BYTES },
            open: AtomicUsize::new(0),
            resizing: Mutex::default(),
            larger: OnceLock::new(),
            smaller: Mutex::default(),
            has_smaller: AtomicBool::new(false),
            _headers: headers,
        });
        budget.add_cache(&cache);
        cache.grow((open * sets * PAGE_BYTES) as u64);
        Ok((cache.capacity_pages() > 0).then_some(cache))
    }

    /// Gives back all memory, also that of a smaller cache whose pages have not moved yet.
    pub(crate) fn clear(&self) {
        if let Some(smaller) = lock(&self.smaller).as_ref() {
            smaller.give_back(smaller.most_bytes());
        }
        self.forget_smaller();
        self.give_back(self.most_bytes());
    }

    /// Capacity with the frames that are open, in pages.
    pub fn capacity_pages(&self) -> u64 {
        self.open.load(Ordering::Relaxed) as u64
    }

    /// Memory of the open frames.
    pub fn memory_bytes(&self) -> u64 {
        self.capacity_pages() * PAGE_BYTES as u64
    }

    /// Memory of the pages once all frames are open.
    pub fn most_bytes(&self) -> u64 {
        (self.sets.len() * WAYS * PAGE_BYTES) as u64
    }

    /// Keeps the size as it is until the guard is dropped.
    pub(crate) fn lock_size(&self) -> MutexGuard<'_, ()> {
        lock(&self.resizing)
    }

    /// Number of frames of a set among the first `frames` of all.
    fn frames_of_set(&self, set: usize, frames: usize) -> usize {
        frames.saturating_sub(set).div_ceil(self.sets.len())
    }

    /// The most frames, up to `frames`, whose memory is whole pages of the system.
    fn whole_pages(&self, frames: usize) -> usize {
        let of_page = self.frames.of_page;
        if frames == self.frames.array().len() { frames } else { frames / of_page * of_page }
    }

    /// The sets that some frames belong to, each once.
    fn sets_of(&self, frames: Range<usize>) -> impl Iterator<Item = usize> {
        let (sets, count) = (self.sets.len(), frames.len());
        (0..count.min(sets)).map(move |i| (frames.start + i) % sets)
    }

    /// Shrinks by at least `bytes`, as far as it has them, and returns by how much. Memory of frames that are pinned is
    /// freed when they are unpinned; if pages of the system are larger than a frame, when these are closed once more.
    pub fn give_back(&self, bytes: u64) -> u64 {
        if bytes == 0 {
            return 0;
        }
        let resizing = self.lock_size();
        let least = (self.sets.len() * WAYS / LEAST_PART).min(MOST_LEAST_FRAMES) as u64;
        let frames = bytes.div_ceil(PAGE_BYTES as u64).max(least);
        self.close(&resizing, self.open.load(Ordering::Relaxed).saturating_sub(frames as usize))
    }

    /// Closes frames until only the first `left` are open, or fewer, so that those that are lie in whole pages of the
    /// system; returns the size of the closed ones.
    fn close(&self, _resizing: &MutexGuard<'_, ()>, left: usize) -> u64 {
        let open = self.open.load(Ordering::Relaxed);
        let closed = self.whole_pages(left.min(open))..open;
        self.open.store(closed.start, Ordering::Relaxed);
        let mut pinned = Vec::new();
        for number in self.sets_of(closed.clone()) {
            let mut set = lock(&self.sets[number]);
            let ways = self.frames_of_set(number, closed.start)..usize::from(set.open);
            set.open = ways.start as u8;
            for way in ways {
                set.keys[way] = None;
                if set.pins[way] > 0 {
                    set.withheld[way] = true;
                    pinned.push(way * self.sets.len() + number);
                }
            }
        }
        pinned.sort_unstable();
        let mut start = closed.start;
        for end in pinned.into_iter().chain([closed.end]) {
            // SAFETY: these frames were not pinned when their sets closed them, and a closed frame is not handed out.
            let free = unsafe { self.frames.give_back(start..end) };
            (start..end).filter(|frame| !free.contains(frame)).for_each(|frame| self.withhold(frame));
            start = end + 1;
        }
        (closed.len() * PAGE_BYTES) as u64
    }

    /// The memory of a closed frame stays reserved.
    fn withhold(&self, frame: usize) {
        lock(&self.sets[frame % self.sets.len()]).withheld[frame / self.sets.len()] = true;
    }

    /// Opens frames again, up to `bytes` and as far as memory is free: whole pages of the system.
    pub fn grow(&self, bytes: u64) {
        let _resizing = self.lock_size();
        let open = self.open.load(Ordering::Relaxed);
        let most = (bytes / PAGE_BYTES as u64).min((self.sets.len() * WAYS - open) as u64) as usize;
        let most_bytes = ((self.whole_pages(open + most) - open) * PAGE_BYTES) as u64;
        let reservation = self.frames.array().reservation();
        let more_bytes = reservation.grow_up_to(most_bytes, (self.frames.of_page * PAGE_BYTES) as u64);
        let opened = open..open + more_bytes as usize / PAGE_BYTES;
        for number in self.sets_of(opened.clone()) {
            let mut set = lock(&self.sets[number]);
            let ways = usize::from(set.open)..self.frames_of_set(number, opened.end);
            set.open = ways.end as u8;
            let withheld = set.withheld[ways].iter_mut().filter_map(|withheld| std::mem::take(withheld).then_some(()));
            reservation.shrink((withheld.count() * PAGE_BYTES) as u64);
        }
        self.open.store(opened.end, Ordering::Relaxed);
    }

    fn set_of(&self, key: PageKey) -> usize {
        // Files begin at different sets, so that the first pages of many do not collide. Multiples of an irrational
        // number are spread evenly between whole ones: images by the golden ratio, their files by the root of 2 (Knuth,
        // volume 3, section 6.4).
        let sets = self.sets.len() as u64;
        let image = u64::from(key.image).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let fraction = image.wrapping_add(u64::from(key.file).wrapping_mul(0x6a09_e667_f3bc_c909));
        let start = ((fraction >> 32) * sets) >> 32;
        ((key.page + start) % sets) as usize
    }

    /// The page, pinned, if it is cached.
    pub fn get(self: &Arc<Self>, key: PageKey) -> Option<Pinned> {
        self.get_own(key).or_else(|| self.get_elsewhere(key))
    }

    /// Adjacent pages, pinned, if all of them are cached.
    pub fn get_run(self: &Arc<Self>, first: PageKey, pages: u64) -> Option<PinnedRun> {
        let places = Vec::with_capacity(pages as usize);
        let mut run = PinnedRun { cache: Arc::clone(self), other: None, places };
        for page in first.page..first.page + pages {
            let key = PageKey { page, ..first };
            let (is_in_other, place) = match self.pin(key) {
                Some(place) => (false, place),
                None => {
                    run.other = run.other.take().or_else(|| self.elsewhere());
                    (true, run.other.as_ref()?.pin(key)?)
                }
            };
            run.places.push(RunPlace { set: place.0, way: place.1, is_in_other });
        }
        Some(run)
    }

    fn get_own(self: &Arc<Self>, key: PageKey) -> Option<Pinned> {
        let (set, way) = self.pin(key)?;
        Some(Pinned { cache: Arc::clone(self), set, way })
    }

    /// Pins a page, and returns its set and its way.
    fn pin(&self, key: PageKey) -> Option<(usize, usize)> {
        let number = self.set_of(key);
        let mut set = lock(&self.sets[number]);
        let way = set.keys.iter().position(|&there| there == Some(key))?;
        set.pins[way] = set.pins[way].checked_add(1)?;
        set.used[way] = true;
        Some((number, way))
    }

    /// Inserts a verified page, if a frame of its set can be replaced.
    pub fn insert(&self, key: PageKey, bytes: &[u8; PAGE_BYTES]) {
        if let Some(larger) = self.larger.get() {
            return larger.insert(key, bytes);
        }
        let number = self.set_of(key);
        let mut set = lock(&self.sets[number]);
        if set.keys.contains(&Some(key)) {
            return;
        }
        let Some(way) = set.victim() else { return };
        set.keys[way] = Some(key);
        set.used[way] = false;
        // SAFETY: the lock is held and the frame is not pinned, so no other thread reads or writes it.
        unsafe { self.frames.at(way * self.sets.len() + number).write(*bytes) };
    }

    fn unpin(&self, number: usize, way: usize) {
        let mut set = lock(&self.sets[number]);
        set.pins[way] -= 1;
        if way >= usize::from(set.open) && set.pins[way] == 0 {
            let frame = way * self.sets.len() + number;
            // SAFETY: it is not pinned any more, and it cannot be opened while the lock is held.
            set.withheld[way] = unsafe { self.frames.give_back(frame..frame + 1) }.is_empty();
        }
    }
}

impl Set {
    fn empty() -> Self {
        let (pins, flags) = ([0; WAYS], [false; WAYS]);
        Set { keys: [None; WAYS], pins, used: flags, withheld: flags, hand: 0, open: 0 }
    }

    /// The way to replace: a free one, or the first that was not used since the hand last passed.
    fn victim(&mut self) -> Option<usize> {
        let open = self.open;
        if let Some(free) = (0..usize::from(open)).find(|&way| self.keys[way].is_none() && self.pins[way] == 0) {
            return Some(free);
        }
        for _ in 0..2 * open {
            let way = usize::from(self.hand % open);
            self.hand = (self.hand + 1) % open;
            if self.pins[way] == 0 && !std::mem::take(&mut self.used[way]) {
                return Some(way);
            }
        }
        None
    }
}

impl Deref for Pinned {
    type Target = [u8; PAGE_BYTES];

    fn deref(&self) -> &[u8; PAGE_BYTES] {
        // SAFETY: the frame is pinned, so no thread writes it.
        unsafe { &*self.cache.frames.at(self.way * self.cache.sets.len() + self.set) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.cache.unpin(self.set, self.way);
    }
}

impl PinnedRun {
    /// Number of pages.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    fn cache(&self, place: &RunPlace) -> &PageCache {
        match &self.other {
            Some(other) if place.is_in_other => other,
            _ => &self.cache,
        }
    }
}

impl Index<usize> for PinnedRun {
    type Output = [u8; PAGE_BYTES];

    #[inline]
    fn index(&self, page: usize) -> &[u8; PAGE_BYTES] {
        let place = &self.places[page];
        let cache = self.cache(place);
        // SAFETY: the frame is pinned, so no thread writes it.
        unsafe { &*cache.frames.at(place.way * cache.sets.len() + place.set) }
    }
}

impl Drop for PinnedRun {
    fn drop(&mut self) {
        self.places.iter().for_each(|place| self.cache(place).unpin(place.set, place.way));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{Runtime, RuntimeOptions};

    /// Distance of the bytes of a page that are compared: Miri takes a thousand times as long.
    const STEP: usize = if cfg!(miri) { 256 } else { 1 };

    fn cache(pages: u64) -> Arc<PageCache> {
        let budget = Budget::new(1 << 30, 0).unwrap();
        PageCache::new(&budget, pages * (PAGE_BYTES as u64 + FRAME_BYTES)).unwrap().unwrap()
    }

    fn runtime(memory_bytes: u64) -> Runtime {
        let memory_bytes = Some(memory_bytes);
        let options = RuntimeOptions { memory_bytes, beside_process: true, threads: Some(3), ..Default::default() };
        Runtime::new(options).unwrap()
    }

    fn key(page: u64) -> PageKey {
        PageKey { image: 0, file: 0, page }
    }

    /// Calls a function at the end of a scope, also that of a test that fails: no thread waits for it for ever.
    struct OnDrop<F: FnMut()>(F);

    impl<F: FnMut()> Drop for OnDrop<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }

    #[test]
    fn as_many_adjacent_pages_fit_as_there_are_frames() {
        let cache = cache(800);
        assert_eq!(cache.capacity_pages(), 800);
        for page in 100..900 {
            cache.insert(key(page), &[page as u8; PAGE_BYTES]);
        }
        for page in 100..900 {
            assert_eq!(cache.get(key(page)).expect("all fit")[17], page as u8);
        }
        assert!(
            cache.get(key(99)).is_none()
                && cache.get(PageKey { image: 1, ..key(100) }).is_none()
                && cache.get(PageKey { image: 0, file: 1, page: 100 }).is_none()
        );
    }

    #[test]
    fn pages_move_to_a_larger_cache() {
        let runtime = runtime((1 << 20) + crate::budget::SLACK_BYTES);
        let budget = runtime.budget();
        let small = PageCache::new(budget, 600 << 10).unwrap().unwrap();
        let pages = small.capacity_pages();
        (0..pages).for_each(|page| small.insert(key(page), &[page as u8; PAGE_BYTES]));
        // There is room for both only while neither has all of its ways, and not for all pages before some have moved.
        let large = PageCache::new_in_part(budget, 900 << 10, budget.free_bytes()).unwrap().unwrap();
        assert!(large.capacity_pages() < pages);
        let found = |cache: &Arc<PageCache>| {
            let there = |&page: &u64| cache.get(key(page)).is_some_and(|bytes| bytes[99] == page as u8);
            (0..pages).filter(there).count() as u64
        };
        large.begin_to_replace(&small);
        assert_eq!([&small, &large].map(found), [pages; 2], "neither has to wait for the other");
        large.insert(key(pages), &[pages as u8; PAGE_BYTES]);
        for cache in [&small, &large] {
            // The last page is in the larger cache alone, the others are in the smaller one.
            let run = cache.get_run(key(0), pages + 1).expect("pages of both");
            assert!(run.len() as u64 == pages + 1 && (0..run.len()).all(|page| run[page][99] == page as u8));
        }
        small.insert(key(pages + 1), &[pages as u8 + 1; PAGE_BYTES]);
        for cache in [&small, &large] {
            assert!((pages..pages + 2).all(|page| cache.get(key(page)).is_some_and(|bytes| bytes[9] == page as u8)));
        }
        large.replace(&runtime).unwrap();
        assert!(!large.is_replacing() && small.capacity_pages() == 0);
        assert_eq!([&small, &large].map(found), [pages; 2], "a sweep with the smaller cache goes on with the larger");
        drop(small);
        large.grow(large.most_bytes());
        assert!(large.capacity_pages() > 210, "{}", large.capacity_pages());
        assert_eq!(found(&large), pages);
        assert!(PageCache::new_in_part(budget, 900 << 10, 0).unwrap().is_none());
        drop(large);
        let _all_but_headers = budget.reserve("a test", budget.free_bytes() - (8 << 10)).unwrap();
        assert!(PageCache::new(budget, 600 << 10).unwrap().is_none(), "there is no memory for a page");
    }

    #[test]
    fn a_move_that_is_stopped_goes_on_later() {
        let runtime = runtime((1 << 20) + crate::budget::SLACK_BYTES);
        let all = runtime.budget().free_bytes();
        let small = PageCache::new(runtime.budget(), 400 << 10).unwrap().unwrap();
        small.insert(key(3), &[3; PAGE_BYTES]);
        let large =
            PageCache::new_in_part(runtime.budget(), 900 << 10, runtime.budget().free_bytes()).unwrap().unwrap();
        large.begin_to_replace(&small);
        runtime.cancel().cancel();
        assert!(large.replace(&runtime).is_err() && large.is_replacing());
        assert!(large.get(key(3)).is_some());
        runtime.cancel().reset();
        large.replace(&runtime).unwrap();
        assert!(!large.is_replacing() && large.get(key(3)).is_some());
        drop(small);
        drop(large);
        assert_eq!(runtime.budget().free_bytes(), all);
    }

    #[test]
    fn pages_stay_while_pages_move_and_workers_read() {
        let runtime = runtime((8 << 20) + crate::budget::SLACK_BYTES);
        let small = PageCache::new(runtime.budget(), 2 << 20).unwrap().unwrap();
        let pages = small.capacity_pages();
        (0..pages).for_each(|page| small.insert(key(page), &[page as u8; PAGE_BYTES]));
        let large = PageCache::new_in_part(runtime.budget(), 7 << 20, runtime.budget().free_bytes()).unwrap().unwrap();
        let at_work = AtomicBool::new(true);
        std::thread::scope(|scope| {
            let _ends = OnDrop(|| at_work.store(false, Ordering::Relaxed));
            for cache in [&small, &large] {
                let at_work = &at_work;
                scope.spawn(move || {
                    while at_work.load(Ordering::Relaxed) {
                        for page in 0..pages {
                            if let Some(bytes) = cache.get(key(page)) {
                                assert!(bytes.iter().step_by(STEP).all(|&byte| byte == page as u8));
                            }
                        }
                    }
                });
            }
            large.begin_to_replace(&small);
            large.replace(&runtime).unwrap();
        });
        assert!((0..pages).all(|page| large.get(key(page)).is_some()));
    }

    #[test]
    fn a_little_memory_takes_few_pages() {
        let cache = cache(8 << 10);
        let pages = cache.capacity_pages();
        (0..pages).for_each(|page| cache.insert(key(page), &[page as u8; PAGE_BYTES]));
        let found = || (0..pages).filter(|&page| cache.get(key(page)).is_some()).count() as u64;
        assert_eq!((cache.give_back(0), found()), (0, pages));
        let given = cache.give_back(1) / PAGE_BYTES as u64;
        assert_eq!(given, pages / 64, "of {pages} pages");
        assert_eq!((found(), cache.capacity_pages()), (pages - given, pages - given));
        cache.grow(10 * PAGE_BYTES as u64);
        assert_eq!(cache.capacity_pages(), pages - given + 10);
        cache.grow(cache.most_bytes());
        (0..pages).for_each(|page| cache.insert(key(page), &[page as u8; PAGE_BYTES]));
        assert_eq!(found(), pages);
    }

    /// Number of frames whose memory is reserved, and of those that are open or withheld: the same.
    fn reserved_frames(cache: &PageCache) -> (usize, usize) {
        let withheld = |set: &Mutex<Set>| lock(set).withheld.iter().filter(|&&withheld| withheld).count();
        let bytes = cache.frames.array().reservation().bytes();
        assert!(bytes.is_multiple_of(PAGE_BYTES as u64), "{bytes} bytes");
        let known = cache.capacity_pages() as usize + cache.sets.iter().map(withheld).sum::<usize>();
        (bytes as usize / PAGE_BYTES, known)
    }

    #[test]
    fn memory_is_given_back_in_whole_pages_of_the_system() {
        let budget = Budget::new(1 << 30, 0).unwrap();
        let bytes = 800 * (PAGE_BYTES as u64 + FRAME_BYTES);
        for of_page in [1, 4, 16] {
            let cache = PageCache::with_pages_of(of_page * PAGE_BYTES, &budget, bytes, bytes).unwrap().unwrap();
            let fill = || (0..800).for_each(|page| cache.insert(key(page), &[page as u8; PAGE_BYTES]));
            let close_one = || cache.give_back(1) as usize / PAGE_BYTES;
            fill();
            assert_eq!(reserved_frames(&cache), (800, 800));
            let mut open = 800;
            while open > 0 {
                open -= close_one();
                assert_eq!(reserved_frames(&cache), (open, open), "{of_page} frames in a page of the system");
                assert!(open.is_multiple_of(of_page));
            }
            cache.grow(bytes);
            fill();
            let pinned: Vec<_> = [100, 101, 500].iter().filter_map(|&page| cache.get(key(page))).collect();
            cache.give_back(bytes);
            assert_eq!(reserved_frames(&cache).0, if of_page == 1 { 3 } else { 2 * of_page });
            // Frames that are opened again have the memory that was withheld.
            cache.grow(300 * PAGE_BYTES as u64);
            let (reserved, known) = reserved_frames(&cache);
            assert!(reserved == known && (300..=300 + 2 * of_page).contains(&reserved), "{reserved}, {known}");
            assert!(pinned.iter().zip([100, 101, 500_u64]).all(|(page, number)| page[77] == number as u8));
            drop(pinned);
            let (reserved, known) = reserved_frames(&cache);
            assert!(reserved == known && (of_page > 1 || reserved == 300), "{reserved}, {known}");
            cache.grow(bytes);
            assert_eq!(reserved_frames(&cache), (800, 800));
            fill();
            assert!((0..800).all(|page| cache.get(key(page)).is_some_and(|bytes| bytes[5] == page as u8)));
            cache.give_back(bytes);
            assert_eq!(reserved_frames(&cache), (0, 0));
            // Whole pages are taken where there is memory for fifty frames and a bit.
            let _rest = budget.reserve("a test", budget.free_bytes() - 50 * PAGE_BYTES as u64 - 1000).unwrap();
            cache.grow(bytes);
            assert_eq!(reserved_frames(&cache), (50 / of_page * of_page, 50 / of_page * of_page));
        }
    }

    #[test]
    fn many_files_and_images_share_the_sets_evenly() {
        for of_images in [false, true] {
            let cache = cache(512);
            let key = |file, page| match of_images {
                true => PageKey { image: file, file: 0, page },
                false => PageKey { image: 0, file, page },
            };
            let all = || (0..32).flat_map(|file| (0..16).map(move |page| key(file, page)));
            all().for_each(|key| cache.insert(key, &[1; PAGE_BYTES]));
            let found = all().filter(|&key| cache.get(key).is_some()).count();
            assert!(found > 512 * 7 / 8, "{found} pages of 512 have room");
        }
    }

    #[test]
    fn pinned_pages_stay_and_used_ones_get_a_second_chance() {
        let cache = cache(8);
        for page in 0..8 {
            cache.insert(key(page), &[page as u8; PAGE_BYTES]);
        }
        let pinned: Vec<_> = (0..7).map(|page| cache.get(key(page)).unwrap()).collect();
        cache.insert(key(50), &[50; PAGE_BYTES]);
        assert!(cache.get(key(7)).is_none() && cache.get(key(50)).is_some());
        let last = cache.get(key(50)).unwrap();
        cache.insert(key(51), &[51; PAGE_BYTES]);
        assert!(cache.get(key(51)).is_none(), "all frames are pinned");
        assert!(pinned.iter().enumerate().all(|(i, page)| page[4095] == i as u8) && last[0] == 50);
        drop((pinned, last));
        cache.insert(key(52), &[52; PAGE_BYTES]);
        assert!(cache.get(key(52)).is_some());
    }

    #[test]
    fn a_run_is_pinned_as_a_whole_or_not_at_all() {
        let cache = cache(64);
        (0..40).for_each(|page| cache.insert(key(page), &[page as u8; PAGE_BYTES]));
        let pins = |cache: &PageCache| -> u32 {
            cache.sets.iter().map(|set| lock(set).pins.iter().map(|&pins| u32::from(pins)).sum::<u32>()).sum()
        };
        let run = cache.get_run(key(5), 30).unwrap();
        assert!(run.len() == 30 && (0..30).all(|page| run[page].iter().all(|&byte| byte == page as u8 + 5)));
        let references = Arc::strong_count(&cache);
        let again = cache.get_run(key(0), 40).unwrap();
        assert_eq!((pins(&cache), Arc::strong_count(&cache)), (70, references + 1), "one reference for all pages");
        assert!(cache.get_run(key(0), 41).is_none() && cache.get_run(key(40), 1).is_none());
        assert_eq!(pins(&cache), 70, "a page is missing: none stays pinned");
        // Pinned frames are closed, and freed with the run.
        cache.give_back(cache.most_bytes());
        drop(again);
        assert!((0..30).all(|page| run[page][4095] == page as u8 + 5));
        assert_eq!(cache.frames.array().reservation().bytes(), 30 * PAGE_BYTES as u64);
        drop(run);
        assert_eq!((pins(&cache), cache.frames.array().reservation().bytes()), (0, 0));
    }

    #[test]
    fn workers_see_whole_pages_while_the_cache_shrinks_and_grows() {
        let cache = cache(16);
        let at_work = AtomicUsize::new(3);
        std::thread::scope(|scope| {
            for worker in 0..3u64 {
                let (cache, at_work) = (&cache, &at_work);
                scope.spawn(move || {
                    let _ends = OnDrop(|| _ = at_work.fetch_sub(1, Ordering::Relaxed));
                    for i in 0..if cfg!(miri) { 200 } else { 20_000u64 } {
                        // Each page twice in a row: a page that was just inserted is found, unless it was replaced.
                        let page = (i / 2 * 7 + worker * 13) % 40;
                        match cache.get(key(page)) {
                            Some(bytes) => assert!(bytes.iter().step_by(STEP).all(|&byte| byte == page as u8)),
                            None => cache.insert(key(page), &[page as u8; PAGE_BYTES]),
                        }
                    }
                });
            }
            let mut round = 0;
            while at_work.load(Ordering::Relaxed) > 0 {
                round += 1;
                cache.give_back(round % 9 * 2 * PAGE_BYTES as u64);
                cache.grow(cache.most_bytes());
            }
        });
        // A cache without any page passes all of this; the number of hits above depends on the schedule of the threads.
        cache.grow(cache.most_bytes());
        cache.insert(key(99), &[99; PAGE_BYTES]);
        assert!(cache.get(key(99)).is_some_and(|bytes| bytes.iter().all(|&byte| byte == 99)));
        cache.give_back(cache.most_bytes());
        assert_eq!(cache.frames.array().reservation().bytes(), 0, "all that was pinned was let go");
        (0..16).for_each(|page| cache.insert(key(page), &[1; PAGE_BYTES]));
        assert!((0..16).all(|page| cache.get(key(page)).is_none()), "nothing is kept where nothing is open");
    }
}
