//! The page cache of a runtime, which all its images share.
//!
//! An image states the size that it could use; the cache grows to the sum over all images, as far as memory is free,
//! and shrinks for reservations. Pages stay when it grows or shrinks. Closing an image removes its share, and closing
//! the last one the cache: that is how users give memory back. The pages of a changed file are never found again,
//! because its image has another number.
//!
//! A full pass keeps pages in its image's part of the cache ([`CacheShare::part`]), so that images which are read in
//! turn do not replace each other's pages. Parts are those of images that asked for the cache lately.

use crate::budget::Budget;
use crate::cache::PageCache;
use crate::error::Result;
use crate::lock::lock;
use crate::runtime::Runtime;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A share has a part of the cache until this number of other fills have come since its last one.
const RECENT_FILLS: u64 = 32;

/// The cache of a runtime, and its shares.
#[derive(Default)]
pub(crate) struct SharedCache {
    state: Mutex<Shares>,
    /// Taken while pages move to a larger cache.
    moving: Mutex<()>,
}

#[derive(Default)]
struct Shares {
    cache: Option<Arc<PageCache>>,
    wanted: BTreeMap<u64, Wanted>,
    shares: u64,
    /// The number of fills so far.
    fills: u64,
    /// The size that every image with a part could use, and their sum.
    parts: BTreeMap<u32, u64>,
    all_parts: u64,
    /// The numbers of images, by their identity.
    images: BTreeMap<u64, u32>,
}

/// The size that a share could use, the number of its last fill, and its image.
struct Wanted {
    bytes: u64,
    last_fill: u64,
    image: u32,
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
        self.wanted.values().fold(0, |all, wanted| all.saturating_add(wanted.bytes))
    }

    /// Finds the images that have a part of the cache. Shares of one image have one part, for its pages are the same.
    fn divide(&mut self) {
        self.parts.clear();
        for wanted in self.wanted.values().filter(|wanted| wanted.last_fill + RECENT_FILLS > self.fills) {
            let bytes = self.parts.entry(wanted.image).or_default();
            *bytes = wanted.bytes.max(*bytes);
        }
        self.all_parts = self.parts.values().fold(0, |all, &bytes| all.saturating_add(bytes));
    }

    /// Grows the cache to the size that all shares could use, as far as memory is free. It may have to
    /// [replace](PageCache::replace) a smaller one then.
    fn grow(&mut self, budget: &Budget) -> Result<()> {
        let wanted = self.wanted_bytes();
        let Some(cache) = &self.cache else {
            self.cache = PageCache::new(budget, wanted.min(budget.free_bytes()))?;
            return Ok(());
        };
        if cache.is_replacing() {
            return Ok(());
        }
        cache.grow(wanted.saturating_sub(cache.memory_bytes()));
        let (has, free) = (cache.memory_bytes(), budget.free_bytes());
        // A cache that was made with little memory, or for few pages, moves to one that is at least twice as large.
        if has < cache.most_bytes() || wanted < 2 * has || free < has {
            return Ok(());
        }
        if let Some(larger) = PageCache::new_in_part(budget, wanted.min(has + free), free)? {
            larger.begin_to_replace(cache);
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
        let uses = state.wanted.get(&self.number).is_some_and(|wanted| wanted.bytes > 0);
        state.cache.clone().filter(|_| uses)
    }

    /// The cache, if the image uses it, and the image's part of its capacity: all of it, unless other images that
    /// filled it lately could use some too.
    pub fn part(&self) -> Option<(Arc<PageCache>, u64)> {
        let state = lock(&self.shared.state);
        let own = state.wanted.get(&self.number).filter(|wanted| wanted.bytes > 0)?;
        let cache = state.cache.clone()?;
        let (bytes, all_bytes) = match state.parts.get(&self.image) {
            Some(&bytes) => (bytes, state.all_parts),
            // An image that filled it long ago is one more.
            None => (own.bytes, state.all_parts.saturating_add(own.bytes)),
        };
        let pages = u128::from(cache.capacity_pages()) * u128::from(bytes) / u128::from(all_bytes.max(1));
        Some((cache, pages as u64))
    }

    /// Sets the size that the image could use, and lets the cache grow. If pages have to move to a larger cache, they
    /// do so on all workers, beside operations that use either.
    ///
    /// # Errors
    /// The machine has less memory than the limit allows; a request to stop.
    pub fn fill(&self, runtime: &Runtime, wanted_bytes: u64) -> Result<()> {
        let cache = {
            let mut state = lock(&self.shared.state);
            state.fills += 1;
            let last_fill = state.fills;
            state.wanted.insert(self.number, Wanted { bytes: wanted_bytes, last_fill, image: self.image });
            state.divide();
            if wanted_bytes == 0 {
                return Ok(());
            }
            state.grow(runtime.budget())?;
            state.cache.clone()
        };
        match (cache.filter(|cache| cache.is_replacing()), self.shared.moving.try_lock()) {
            (Some(cache), Ok(_moving)) => cache.replace(runtime),
            // There is nothing to move, or another operation moves it.
            _ => Ok(()),
        }
    }

    /// Removes the image's share.
    pub fn clear(&self) {
        let mut state = lock(&self.shared.state);
        state.wanted.remove(&self.number);
        state.divide();
        let wanted = state.wanted_bytes();
        match state.cache.take() {
            Some(cache) if wanted > 0 => {
                cache.give_back(cache.memory_bytes().saturating_sub(wanted));
                state.cache = Some(cache);
            }
            // Its memory is free before it is dropped, and the ledger does not know it any more.
            Some(cache) => cache.clear(),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::PageKey;
    use crate::runtime::RuntimeOptions;

    const MIB: u64 = 1 << 20;

    fn runtime() -> Runtime {
        let memory_bytes = Some(40 * MIB);
        Runtime::new(RuntimeOptions { memory_bytes, beside_process: true, ..Default::default() }).unwrap()
    }

    #[test]
    fn an_image_that_has_not_filled_the_cache_lately_leaves_it_to_others() {
        let runtime = runtime();
        let [web, roads] = [1, 2].map(|identity| runtime.cache_share(identity));
        let halves = |share: &CacheShare| {
            let (cache, pages) = share.part().unwrap();
            2 * pages / cache.capacity_pages()
        };
        for _ in 0..RECENT_FILLS {
            [&web, &roads].iter().for_each(|share| share.fill(&runtime, 4 * MIB).unwrap());
            assert_eq!([&web, &roads].map(halves), [1; 2], "in turn");
        }
        for _ in 0..RECENT_FILLS {
            assert_eq!(halves(&web), 1);
            web.fill(&runtime, 4 * MIB).unwrap();
        }
        assert_eq!([&web, &roads].map(halves), [2, 1]);
        roads.fill(&runtime, 4 * MIB).unwrap();
        assert_eq!([&web, &roads].map(halves), [1; 2]);
        // An image that is open twice has its pages once.
        let again = runtime.cache_share(1);
        again.fill(&runtime, 4 * MIB).unwrap();
        assert_eq!([&web, &again, &roads].map(halves), [1; 3]);
        roads.clear();
        assert_eq!([&web, &again].map(halves), [2; 2]);
    }

    #[test]
    fn images_share_a_cache_and_pages_stay_while_it_grows() {
        let runtime = runtime();
        let budget = runtime.budget();
        let shared = Arc::new(SharedCache::default());
        let [web, roads, again, changed] = [1, 2, 1, 3].map(|identity| shared.share(identity));
        assert_eq!(web.image(), again.image());
        assert_ne!(web.image(), changed.image());
        assert!(web.cache().is_none());
        web.fill(&runtime, 4 * MIB).unwrap();
        let key = |share: &CacheShare, page| PageKey { image: share.image(), file: 0, page };
        let pages = web.cache().unwrap().capacity_pages();
        (0..pages).for_each(|page| web.cache().unwrap().insert(key(&web, page), &[page as u8; 4096]));
        assert!(roads.cache().is_none(), "who wants nothing gets nothing");
        assert_eq!(web.part().unwrap().1, pages);
        roads.fill(&runtime, 12 * MIB).unwrap();
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
        again.fill(&runtime, 0).unwrap();
        roads.fill(&runtime, 12 * MIB).unwrap();
        assert!(cache.memory_bytes() > 15 * MIB);
        drop(cache);
        roads.clear();
        assert!(web.cache().is_some_and(|cache| (2 * MIB..=4 * MIB).contains(&cache.memory_bytes())));
        web.clear();
        assert_eq!(budget.free_bytes(), budget.available_bytes());
        assert!(web.cache().is_none());
    }
}
