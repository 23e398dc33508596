//! The page cache of a runtime, which all its images share.
//!
//! An image states the size that it could use; the cache grows to the sum over all images, as far as memory is free,
//! and shrinks for reservations. Pages stay when it grows or shrinks. Closing an image removes its share; the pages of
//! a changed file are never found again, because its image has another number.

use crate::budget::Budget;
use crate::cache::PageCache;
use crate::error::Result;
use crate::lock::lock;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The cache of a runtime, and its shares.
#[derive(Default)]
pub(crate) struct SharedCache {
    state: Mutex<Shares>,
}

#[derive(Default)]
struct Shares {
    cache: Option<Arc<PageCache>>,
    /// The size that every share could use, in bytes.
    wanted: BTreeMap<u64, u64>,
    shares: u64,
    /// The numbers of images, by their identity.
    images: BTreeMap<u64, u32>,
}

/// One image's share in the cache of its runtime.
pub struct CacheShare {
    shared: Arc<SharedCache>,
    number: u64,
    image: u32,
}

impl SharedCache {
    /// A share for an image; `identity` differs for any other image and for this one after a change.
    pub(crate) fn share(self: &Arc<Self>, identity: u64) -> CacheShare {
        let mut state = lock(&self.state);
        let next = state.images.len() as u32;
        let image = *state.images.entry(identity).or_insert(next);
        state.shares += 1;
        CacheShare { shared: Arc::clone(self), number: state.shares, image }
    }
}

impl Shares {
    /// The size that all shares could use together.
    fn wanted_bytes(&self) -> u64 {
        self.wanted.values().fold(0, |all, &bytes| all.saturating_add(bytes))
    }

    /// Grows the cache to the size that all shares could use, as far as memory is free.
    fn grow(&mut self, budget: &Budget) -> Result<()> {
        let wanted = self.wanted_bytes();
        let Some(cache) = &self.cache else {
            // Another operation may reserve memory between the look at what is free and the reservation.
            let free = budget.free_bytes();
            return match PageCache::new(budget, wanted.min(free)) {
                Err(_) if budget.free_bytes() < free => self.grow(budget),
                made => made.map(|cache| self.cache = cache),
            };
        };
        cache.grow(wanted.saturating_sub(cache.memory_bytes()));
        let (has, free) = (cache.memory_bytes(), budget.free_bytes());
        // A cache that was made with little memory, or for few pages, moves to one that is at least twice as large.
        if has < cache.most_bytes() || wanted < 2 * has || free < has {
            return Ok(());
        }
        if let Some(larger) = PageCache::new_in_part(budget, wanted.min(has + free), free)? {
            cache.move_into(&larger);
            larger.grow(larger.most_bytes());
            self.cache = Some(larger);
        }
        Ok(())
    }
}

impl CacheShare {
    /// The number of the image in its page keys.
    pub fn image(&self) -> u32 {
        self.image
    }

    /// The cache, if the image uses it.
    pub fn cache(&self) -> Option<Arc<PageCache>> {
        let state = lock(&self.shared.state);
        let uses = state.wanted.get(&self.number).is_some_and(|&wanted| wanted > 0);
        state.cache.clone().filter(|_| uses)
    }

    /// The cache, if the image uses it, and the image's part of its capacity: all of it, unless other images could use
    /// some too.
    pub fn part(&self) -> Option<(Arc<PageCache>, u64)> {
        let state = lock(&self.shared.state);
        let own = state.wanted.get(&self.number).copied().filter(|&wanted| wanted > 0)?;
        let cache = state.cache.clone()?;
        let pages = u128::from(cache.capacity_pages()) * u128::from(own) / u128::from(state.wanted_bytes());
        Some((cache, pages as u64))
    }

    /// Sets the size that the image could use, and lets the cache grow.
    ///
    /// # Errors
    /// The machine has less memory than the limit allows.
    pub fn fill(&self, budget: &Budget, wanted_bytes: u64) -> Result<()> {
        let mut state = lock(&self.shared.state);
        state.wanted.insert(self.number, wanted_bytes);
        if wanted_bytes == 0 { Ok(()) } else { state.grow(budget) }
    }

    /// Removes the image's share.
    pub fn clear(&self) {
        let mut state = lock(&self.shared.state);
        state.wanted.remove(&self.number);
        let wanted = state.wanted_bytes();
        match state.cache.take() {
            Some(cache) if wanted > 0 => {
                let excess = cache.memory_bytes().saturating_sub(wanted);
                if excess > 0 {
                    cache.give_back(excess);
                }
                state.cache = Some(cache);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::PageKey;

    const MIB: u64 = 1 << 20;

    #[test]
    fn images_share_a_cache_and_pages_stay_while_it_grows() {
        let budget = Budget::new(40 * MIB, 0).unwrap();
        let shared = Arc::new(SharedCache::default());
        let [web, roads, again, changed] = [1, 2, 1, 3].map(|identity| shared.share(identity));
        assert_eq!(web.image(), again.image());
        assert_ne!(web.image(), changed.image());
        assert!(web.cache().is_none());
        web.fill(&budget, 4 * MIB).unwrap();
        let key = |share: &CacheShare, page| PageKey { image: share.image(), file: 0, page };
        let pages = web.cache().unwrap().capacity_pages();
        (0..pages).for_each(|page| web.cache().unwrap().insert(key(&web, page), &[page as u8; 4096]));
        assert!(roads.cache().is_none(), "who wants nothing gets nothing");
        assert_eq!(web.part().unwrap().1, pages);
        roads.fill(&budget, 12 * MIB).unwrap();
        let cache = roads.cache().unwrap();
        let parts = [&web, &roads].map(|share| share.part().unwrap().1);
        assert_eq!(parts, [cache.capacity_pages() / 4, cache.capacity_pages() * 3 / 4]);
        assert!(cache.memory_bytes() > 15 * MIB, "{}", cache.memory_bytes());
        assert!((0..pages).all(|page| cache.get(key(&web, page)).is_some_and(|bytes| bytes[5] == page as u8)));
        assert!(cache.get(key(&roads, 0)).is_none());
        // Reclaimed memory is taken again when it is free.
        let reservation = budget.reserve("a state", budget.free_bytes() + 8 * MIB).unwrap();
        assert!(cache.memory_bytes() < 9 * MIB);
        drop(reservation);
        again.fill(&budget, 0).unwrap();
        roads.fill(&budget, 12 * MIB).unwrap();
        assert!(cache.memory_bytes() > 15 * MIB);
        drop(cache);
        roads.clear();
        assert!(web.cache().is_some_and(|cache| (2 * MIB..=4 * MIB).contains(&cache.memory_bytes())));
        web.clear();
        assert_eq!(budget.free_bytes(), budget.available_bytes());
        assert!(web.cache().is_none());
    }
}
