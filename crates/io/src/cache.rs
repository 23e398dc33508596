//! The page cache: set-associative, with one short lock per set and no list over all pages.
//!
//! Page `p` belongs to set `p mod sets`, so any run of as many adjacent pages as the cache has frames fills it evenly.
//! Within a set the frame to give up is found by second chance. Two rules keep scans from spoiling the cache:
//!
//! * A pass over a file larger than the cache keeps a *fixed part* resident, the file's first pages, and inserts nothing
//!   else: every pass then hits as much as any policy could, where least-recently-used would hit nothing.
//! * A selective sweep inserts what it reads.
//!
//! A page that is found is pinned until its guard is dropped: its frame is not reused meanwhile. What is inserted has been
//! verified, so what is found need not be. (Zheng, *FlashX*, 2016, section 2.4; scan resistance as in Chou and DeWitt,
//! *An evaluation of buffer management strategies*, VLDB 1985.)
#![allow(unsafe_code)]

use crate::buffer::Array;
use crate::error::Result;
use crate::runtime::Budget;
use std::cell::UnsafeCell;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

const PAGE_BYTES: usize = 4096;
/// The frames of a set.
const WAYS: usize = 8;
/// What a frame costs besides its page.
const FRAME_BYTES: u64 = 32;

/// A page of one of several files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageKey {
    /// The file.
    pub file: u32,
    /// The page.
    pub page: u64,
}

/// A set-associative cache of pages.
pub struct PageCache {
    sets: Box<[Mutex<Set>]>,
    frames: Frames,
}

struct Frames(UnsafeCell<Array<[u8; PAGE_BYTES]>>);

// SAFETY: a frame is written only under its set's lock while nobody has it pinned, and read only while pinned.
unsafe impl Sync for Frames {}

impl Frames {
    fn at(&self, frame: usize) -> *mut [u8; PAGE_BYTES] {
        // SAFETY: only the array's address and length are read, which never change.
        let array: &Array<[u8; PAGE_BYTES]> = unsafe { &*self.0.get() };
        assert!(frame < array.len());
        array.start().wrapping_add(frame)
    }
}

#[derive(Default)]
struct Set {
    keys: [Option<PageKey>; WAYS],
    pins: [u16; WAYS],
    used: [bool; WAYS],
    hand: usize,
}

/// A cached page; it stays where it is until this is dropped.
pub struct Pinned {
    cache: Arc<PageCache>,
    frame: usize,
}

impl PageCache {
    /// A cache of at most `bytes`, or `None` if that is too little for one.
    ///
    /// # Errors
    /// No memory under the budget.
    pub fn new(budget: &Arc<Budget>, bytes: u64) -> Result<Option<Self>> {
        let sets = (bytes / (WAYS as u64 * (PAGE_BYTES as u64 + FRAME_BYTES))) as usize;
        if sets == 0 {
            return Ok(None);
        }
        let frames = Array::zeroed(budget, "the page cache", sets * WAYS)?;
        let sets = (0..sets).map(|_| Mutex::new(Set::default())).collect();
        Ok(Some(PageCache { sets, frames: Frames(UnsafeCell::new(frames)) }))
    }

    /// How many pages the cache has room for.
    pub fn capacity_pages(&self) -> u64 {
        (self.sets.len() * WAYS) as u64
    }

    /// The memory that the pages take.
    pub fn memory_bytes(&self) -> u64 {
        self.capacity_pages() * PAGE_BYTES as u64
    }

    fn set_of(&self, key: PageKey) -> usize {
        // The files of an image begin at different sets, so that their first pages do not meet.
        ((key.page + u64::from(key.file) * (self.sets.len() as u64 / 2)) % self.sets.len() as u64) as usize
    }

    /// The page, pinned, if it is here.
    pub fn get(self: &Arc<Self>, key: PageKey) -> Option<Pinned> {
        let number = self.set_of(key);
        let mut set = self.sets[number].lock().unwrap_or_else(PoisonError::into_inner);
        let way = set.keys.iter().position(|&there| there == Some(key))?;
        set.pins[way] = set.pins[way].checked_add(1)?;
        set.used[way] = true;
        Some(Pinned { cache: Arc::clone(self), frame: number * WAYS + way })
    }

    /// Keeps a verified page, if a frame of its set can be given up.
    pub fn insert(&self, key: PageKey, bytes: &[u8; PAGE_BYTES]) {
        let number = self.set_of(key);
        let mut set = self.sets[number].lock().unwrap_or_else(PoisonError::into_inner);
        if set.keys.contains(&Some(key)) {
            return;
        }
        let Some(way) = set.victim() else { return };
        set.keys[way] = Some(key);
        set.used[way] = false;
        // SAFETY: the lock is held and nobody has the frame pinned, so nobody reads or writes it.
        unsafe { self.frames.at(number * WAYS + way).write(*bytes) };
    }

    fn unpin(&self, frame: usize) {
        let mut set = self.sets[frame / WAYS].lock().unwrap_or_else(PoisonError::into_inner);
        set.pins[frame % WAYS] -= 1;
    }
}

impl Set {
    /// The way to give up: a free one, or the first that was not used since the hand last passed.
    fn victim(&mut self) -> Option<usize> {
        if let Some(free) = self.keys.iter().position(|key| key.is_none()) {
            return Some(free);
        }
        for _ in 0..2 * WAYS {
            let way = self.hand;
            self.hand = (self.hand + 1) % WAYS;
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
        // SAFETY: the frame is pinned, so nobody writes it.
        unsafe { &*self.cache.frames.at(self.frame) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.cache.unpin(self.frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(pages: u64) -> Arc<PageCache> {
        let budget = Arc::new(Budget::new(1 << 30, 0).unwrap());
        Arc::new(PageCache::new(&budget, pages * (PAGE_BYTES as u64 + FRAME_BYTES)).unwrap().unwrap())
    }

    fn key(page: u64) -> PageKey {
        PageKey { file: 0, page }
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
        assert!(cache.get(key(99)).is_none() && cache.get(PageKey { file: 1, page: 100 }).is_none());
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
    fn workers_see_whole_pages() {
        let cache = cache(16);
        std::thread::scope(|scope| {
            for worker in 0..3u64 {
                let cache = &cache;
                scope.spawn(move || {
                    for i in 0..20_000u64 {
                        let page = (i * 7 + worker * 13) % 40;
                        match cache.get(key(page)) {
                            Some(found) => assert!(found.iter().all(|&byte| byte == page as u8)),
                            None => cache.insert(key(page), &[page as u8; PAGE_BYTES]),
                        }
                    }
                });
            }
        });
    }
}
