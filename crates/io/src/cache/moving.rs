//! The move of a cache into a larger one, while both are in use.

use super::{PageCache, PageKey, Pinned};
use crate::buffer::PAGE_BYTES;
use crate::error::Result;
use crate::lock::lock;
use crate::runtime::Runtime;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Number of frames of a way that a worker moves at once.
const MOVED_FRAMES: usize = 256;

impl PageCache {
    /// Lets the pages of a smaller cache move into this one. Until they have, both find the pages of each other.
    pub(crate) fn begin_to_replace(self: &Arc<Self>, smaller: &Arc<Self>) {
        let is_first = smaller.larger.set(Arc::clone(self)).is_ok();
        assert!(is_first, "a cache moves into one other");
        *lock(&self.smaller) = Some(Arc::clone(smaller));
        self.has_smaller.store(true, Ordering::Release);
    }

    /// Whether there is a smaller cache whose pages have not all moved.
    pub(crate) fn is_replacing(&self) -> bool {
        self.has_smaller.load(Ordering::Acquire)
    }

    /// Moves the pages of the smaller cache into this one on all workers, way by way; this cache grows by each way that
    /// the smaller one gives back.
    ///
    /// # Errors
    /// A request to stop. The remaining pages stay where they are, and can be moved later.
    pub(crate) fn replace(&self, runtime: &Runtime) -> Result<()> {
        let Some(smaller) = lock(&self.smaller).clone() else { return Ok(()) };
        loop {
            let (end, sets) = (smaller.open.load(Ordering::Relaxed), smaller.sets.len());
            if end == 0 {
                break;
            }
            let start = smaller.whole_pages((end - 1) / sets * sets);
            runtime.for_each_range::<crate::Error>(end - start, MOVED_FRAMES, |frames| {
                frames.for_each(|frame| smaller.copy_into(start + frame, self));
                Ok(())
            })?;
            smaller.close(&smaller.lock_size(), start);
            self.grow(self.most_bytes());
        }
        self.forget_smaller();
        Ok(())
    }

    /// Inserts the page of a frame into another cache.
    fn copy_into(&self, frame: usize, other: &Self) {
        let (way, number) = (frame / self.sets.len(), frame % self.sets.len());
        let mut page = [0; PAGE_BYTES];
        let key = {
            let set = lock(&self.sets[number]);
            // SAFETY: frames are written under the lock of their set only, and this thread holds it.
            set.keys[way].inspect(|_| unsafe { page = *self.frames.at(frame) })
        };
        if let Some(key) = key {
            other.insert(key, &page);
        }
    }

    pub(super) fn forget_smaller(&self) {
        self.has_smaller.store(false, Ordering::Release);
        *lock(&self.smaller) = None;
    }

    /// The page, pinned, if the cache that this one moves into or replaces has it.
    pub(super) fn get_elsewhere(&self, key: PageKey) -> Option<Pinned> {
        self.elsewhere()?.get_own(key)
    }

    /// The cache that this one moves into or replaces.
    pub(super) fn elsewhere(&self) -> Option<Arc<PageCache>> {
        match self.larger.get() {
            Some(larger) => Some(Arc::clone(larger)),
            None if self.is_replacing() => lock(&self.smaller).clone(),
            None => None,
        }
    }
}
