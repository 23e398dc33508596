//! The page cache: set-associative, with one short lock per set and no list over all pages.
//!
//! Page `p` belongs to set `p mod sets`, so a run of adjacent pages as long as the cache fills it evenly. Within a set
//! the victim is chosen by second chance. Two rules keep scans from spoiling the cache:
//!
//! * A pass over a file larger than the cache keeps a *fixed part* resident, the file's first pages, and inserts
//!   nothing else: every pass then hits as much as any policy could, where least-recently-used would hit nothing.
//! * A selective sweep inserts the pages that it reads.
//!
//! A cache is reclaimable memory: it shrinks by closing ways, each of which is one piece of memory with a frame of
//! every set, and grows again by opening them. The pages in the other ways stay.
//!
//! A page that is found is pinned until its guard is dropped: its frame is not reused meanwhile. Pages are verified
//! before they are inserted, so pages that are found need not be. (Zheng, *FlashX*, 2016, section 2.4; scan resistance
//! as in Chou and DeWitt, *An evaluation of buffer management strategies*, VLDB 1985.)
#![allow(unsafe_code)]

use crate::budget::{Budget, CACHE_PURPOSE, Reservation};
use crate::buffer::{Array, PAGE_BYTES};
use crate::error::Result;
use crate::lock::lock;
use std::cell::UnsafeCell;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The frames of a set.
const WAYS: usize = 8;
/// Overhead of a frame, its page excluded.
const FRAME_BYTES: u64 = 32;
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
    /// The number of open ways. It changes only under the lock `resizing`.
    open_ways: AtomicUsize,
    resizing: Mutex<()>,
    _headers: Reservation,
}

struct Frames(UnsafeCell<Array<[u8; PAGE_BYTES]>>);

// SAFETY: a frame is written only under its set's lock while it is not pinned, and read only while pinned.
unsafe impl Sync for Frames {}

impl Frames {
    fn array(&self) -> &Array<[u8; PAGE_BYTES]> {
        // SAFETY: only the array's address, length and reservation are used, none of which lies in the frames.
        unsafe { &*self.0.get() }
    }

    fn at(&self, frame: usize) -> *mut [u8; PAGE_BYTES] {
        let array = self.array();
        assert!(frame < array.len());
        array.start().wrapping_add(frame)
    }

    /// Frees the memory of frames.
    ///
    /// # Safety
    /// The frames are not pinned, and no set hands them out.
    unsafe fn give_back(&self, frames: Range<usize>) {
        let bytes = frames.len() * PAGE_BYTES;
        // SAFETY: the caller guarantees that no thread reads or writes them, and a frame is a page.
        unsafe { self.array().discard(frames) };
        self.array().reservation().shrink(bytes as u64);
    }
}

/// The frames of a set. Frames of closed ways have no key, but may still be pinned.
struct Set {
    keys: [Option<PageKey>; WAYS],
    pins: [u16; WAYS],
    used: [bool; WAYS],
    hand: u8,
    open: u8,
}

/// A pinned page of the cache; its frame is not reused until this is dropped.
pub struct Pinned {
    cache: Arc<PageCache>,
    set: usize,
    way: usize,
}

impl PageCache {
    /// A cache of at most `bytes`; `None` if that is too little for one.
    ///
    /// # Errors
    /// Too little memory under the budget.
    pub fn new(budget: &Budget, bytes: u64) -> Result<Option<Arc<Self>>> {
        PageCache::new_in_part(budget, bytes, bytes)
    }

    /// A cache that may grow to `bytes`, with as many ways open as fit `open_bytes`; `None` if not even one fits.
    ///
    /// # Errors
    /// Too little memory under the budget.
    pub(crate) fn new_in_part(budget: &Budget, bytes: u64, open_bytes: u64) -> Result<Option<Arc<Self>>> {
        let sets = (bytes / (WAYS as u64 * (PAGE_BYTES as u64 + FRAME_BYTES))) as usize;
        let headers_bytes = (sets * size_of::<Mutex<Set>>()) as u64;
        let open = open_bytes.saturating_sub(headers_bytes) / (sets * PAGE_BYTES).max(1) as u64;
        let open = if open_bytes >= bytes { WAYS } else { open.min(WAYS as u64) as usize };
        if sets == 0 || open == 0 {
            return Ok(None);
        }
        let headers = budget.reserve("the headers of the page cache", headers_bytes)?;
        let frames = Array::zeroed_in_part(budget, CACHE_PURPOSE, sets * WAYS, sets * open)?;
        let empty =
            || Mutex::new(Set { keys: [None; WAYS], pins: [0; WAYS], used: [false; WAYS], hand: 0, open: open as u8 });
        let cache = Arc::new(PageCache {
            sets: (0..sets).map(|_| empty()).collect(),
            frames: Frames(UnsafeCell::new(frames)),
            open_ways: AtomicUsize::new(open),
            resizing: Mutex::default(),
            _headers: headers,
        });
        budget.add_cache(&cache);
        Ok(Some(cache))
    }

    /// Moves all pages to another cache, way by way; each way is freed before the other cache grows.
    pub(crate) fn move_into(&self, other: &Self) {
        let mut page = Box::new([0; PAGE_BYTES]);
        while let Some(way) = self.open_ways.load(Ordering::Relaxed).checked_sub(1) {
            for (number, set) in self.sets.iter().enumerate() {
                let key = {
                    let set = lock(set);
                    // SAFETY: frames are written under the lock of their set only, and this thread holds it.
                    set.keys[way].inspect(|_| unsafe { *page = *self.frames.at(way * self.sets.len() + number) })
                };
                if let Some(key) = key {
                    other.insert(key, &page);
                }
            }
            self.give_back(self.way_bytes());
            other.grow(other.most_bytes());
        }
    }

    /// Capacity with the ways that are open, in pages.
    pub fn capacity_pages(&self) -> u64 {
        (self.sets.len() * self.open_ways.load(Ordering::Relaxed)) as u64
    }

    /// Memory of the open ways.
    pub fn memory_bytes(&self) -> u64 {
        self.capacity_pages() * PAGE_BYTES as u64
    }

    /// Memory of the pages once all ways are open.
    pub fn most_bytes(&self) -> u64 {
        (self.sets.len() * WAYS * PAGE_BYTES) as u64
    }

    /// Keeps the size as it is until the guard is dropped.
    pub(crate) fn lock_size(&self) -> MutexGuard<'_, ()> {
        lock(&self.resizing)
    }

    fn way_bytes(&self) -> u64 {
        (self.sets.len() * PAGE_BYTES) as u64
    }

    /// Shrinks by at least `bytes`, as far as it has them, and returns by how much. Pinned pages are freed when they
    /// are unpinned.
    pub fn give_back(&self, bytes: u64) -> u64 {
        let _resizing = self.lock_size();
        let open = self.open_ways.load(Ordering::Relaxed);
        let close = (bytes.div_ceil(self.way_bytes()) as usize).min(open);
        let ways = open - close..open;
        self.open_ways.store(ways.start, Ordering::Relaxed);
        let mut pinned = Vec::new();
        for (number, set) in self.sets.iter().enumerate() {
            let mut set = lock(set);
            set.open = ways.start as u8;
            for way in ways.clone() {
                set.keys[way] = None;
                if set.pins[way] > 0 {
                    pinned.push(way * self.sets.len() + number);
                }
            }
        }
        pinned.sort_unstable();
        let mut start = ways.start * self.sets.len();
        for end in pinned.into_iter().chain([ways.end * self.sets.len()]) {
            // SAFETY: these frames were not pinned when their sets closed them, and a closed frame is not handed out.
            unsafe { self.frames.give_back(start..end) };
            start = end + 1;
        }
        close as u64 * self.way_bytes()
    }

    /// Opens ways again, up to `bytes` and as far as memory is free.
    pub fn grow(&self, bytes: u64) {
        let _resizing = self.lock_size();
        for _ in 0..bytes / self.way_bytes() {
            let way = self.open_ways.load(Ordering::Relaxed);
            let reservation = self.frames.array().reservation();
            if way == WAYS || !reservation.grow(self.way_bytes()) {
                break;
            }
            for set in &self.sets {
                let mut set = lock(set);
                set.open += 1;
                if set.pins[way] > 0 {
                    // Its memory was still reserved.
                    reservation.shrink(PAGE_BYTES as u64);
                }
            }
            self.open_ways.store(way + 1, Ordering::Relaxed);
        }
    }

    fn set_of(&self, key: PageKey) -> usize {
        // The files of an image begin at different sets, so that their first pages do not collide; so do images.
        let sets = self.sets.len() as u64;
        let start = u64::from(key.file) * (sets / 2) + u64::from(key.image.wrapping_mul(0x9e37_79b9)) % sets;
        ((key.page + start) % sets) as usize
    }

    /// The page, pinned, if it is cached.
    pub fn get(self: &Arc<Self>, key: PageKey) -> Option<Pinned> {
        let number = self.set_of(key);
        let mut set = lock(&self.sets[number]);
        let way = set.keys.iter().position(|&there| there == Some(key))?;
        set.pins[way] = set.pins[way].checked_add(1)?;
        set.used[way] = true;
        Some(Pinned { cache: Arc::clone(self), set: number, way })
    }

    /// Inserts a verified page, if a frame of its set can be replaced.
    pub fn insert(&self, key: PageKey, bytes: &[u8; PAGE_BYTES]) {
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
            unsafe { self.frames.give_back(frame..frame + 1) };
        }
    }
}

impl Set {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance of the bytes of a page that are compared: Miri takes a thousand times as long.
    const STEP: usize = if cfg!(miri) { 256 } else { 1 };

    fn cache(pages: u64) -> Arc<PageCache> {
        let budget = Budget::new(1 << 30, 0).unwrap();
        PageCache::new(&budget, pages * (PAGE_BYTES as u64 + FRAME_BYTES)).unwrap().unwrap()
    }

    fn key(page: u64) -> PageKey {
        PageKey { image: 0, file: 0, page }
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
        let budget = Budget::new((1 << 20) + crate::budget::SLACK_BYTES, 0).unwrap();
        let small = PageCache::new(&budget, 400 << 10).unwrap().unwrap();
        let pages = small.capacity_pages();
        (0..pages).for_each(|page| small.insert(key(page), &[page as u8; PAGE_BYTES]));
        // There is room for both only while neither has all of its ways.
        let large = PageCache::new_in_part(&budget, 900 << 10, budget.free_bytes()).unwrap().unwrap();
        assert!(large.capacity_pages() < 220);
        small.move_into(&large);
        drop(small);
        large.grow(large.most_bytes());
        assert!(large.capacity_pages() > 210, "{}", large.capacity_pages());
        let there = |&page: &u64| large.get(key(page)).is_some_and(|bytes| bytes[99] == page as u8);
        assert_eq!((0..pages).filter(there).count() as u64, pages);
        assert!(PageCache::new_in_part(&budget, 900 << 10, 0).unwrap().is_none());
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
    fn workers_see_whole_pages_while_the_cache_shrinks_and_grows() {
        let cache = cache(16);
        let at_work = AtomicUsize::new(3);
        std::thread::scope(|scope| {
            for worker in 0..3u64 {
                let (cache, at_work) = (&cache, &at_work);
                scope.spawn(move || {
                    for i in 0..if cfg!(miri) { 200 } else { 20_000u64 } {
                        // Each page twice in a row: a page that was just inserted is found, unless it was replaced.
                        let page = (i / 2 * 7 + worker * 13) % 40;
                        match cache.get(key(page)) {
                            Some(bytes) => assert!(bytes.iter().step_by(STEP).all(|&byte| byte == page as u8)),
                            None => cache.insert(key(page), &[page as u8; PAGE_BYTES]),
                        }
                    }
                    at_work.fetch_sub(1, Ordering::Relaxed);
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
