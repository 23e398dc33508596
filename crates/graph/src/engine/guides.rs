//! Guides of pages that small steps come back to again and again.
//!
//! A search on a grid or a road network visits a page some hundred times, for a list or two each time. Making the
//! page's guide (`outcore_format::guide`) takes most of the time of such a visit, so the marks of guides are kept: in a
//! table of slots, one slot for each page or, if there is less memory, for all pages that share it.
//!
//! *Memory.* 520 bytes per slot, at most half a MiB, set aside when the graph is opened, so that what an algorithm
//! finds available stays so. Only graphs with many lists in a page have such a table: in others a guide is made in
//! little time.
//!
//! *Sharing.* All workers read and write slots without locks. A slot begins with the key of its page. A writer claims
//! the slot by another key, writes the marks and then the key of the page; a reader looks at the key before and behind
//! what it reads. (Lameter, *Effective synchronization on Linux/NUMA systems*, Gelato 2005: sequence locks.) A page
//! always has the same marks, so it does no harm if a slot was given away and came back in between.

use outcore_format::guide::{Guide, MOST_MARKS, Mark};
use outcore_image::Image;
use outcore_io::Buffer;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// The words of a slot: the key and the marks.
const SLOT_WORDS: usize = 1 + MOST_MARKS;
/// Largest number of slots of a table.
const MOST_SLOTS: u64 = 1024;
/// Graphs with fewer lists per page have no table.
const LEAST_LISTS: u64 = 128;
/// The key of a slot that is being written.
const CLAIMED: u64 = u64::MAX;

pub(crate) struct Slots {
    words: Buffer<AtomicU64>,
    count: u64,
}

impl Slots {
    /// A table for lists in `pages` pages; none if pages hold few lists, where it would help little.
    ///
    /// # Errors
    /// Too little memory.
    pub fn new(image: &Image, pages: u64) -> outcore_image::Result<Option<Arc<Self>>> {
        let manifest = image.manifest();
        let lists = manifest.vertices * if manifest.directed { 2 } else { 1 };
        if pages == 0 || lists < LEAST_LISTS * pages {
            return Ok(None);
        }
        let count = pages.min(MOST_SLOTS);
        let budget = image.runtime().budget();
        let words = Buffer::zeroed(budget, "places of lists in pages", count as usize * SLOT_WORDS)?;
        Ok(Some(Arc::new(Slots { words, count })))
    }

    fn slot(&self, file: usize, page: u64) -> (&[AtomicU64], u64) {
        // The files of an image begin at different slots, so that their first pages do not meet.
        let place = page + file as u64 * (self.count / 2);
        let place = if place < self.count { place } else { place % self.count };
        let slot = &self.words[place as usize * SLOT_WORDS..][..SLOT_WORDS];
        (slot, (page << 8 | file as u64) + 1)
    }

    /// A mark of a page, if the table has it.
    #[inline]
    pub fn mark(&self, file: usize, page: u64, mark: usize) -> Option<Mark> {
        let (slot, key) = self.slot(file, page);
        if slot[0].load(Ordering::Acquire) != key {
            return None;
        }
        let word = slot[1 + mark].load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        (slot[0].load(Ordering::Relaxed) == key).then(|| Mark::of_word(word))
    }

    /// Keeps the guide of a page, unless another worker writes to its slot.
    pub fn keep(&self, file: usize, page: u64, guide: &Guide) {
        let (slot, key) = self.slot(file, page);
        let before = slot[0].load(Ordering::Relaxed);
        if before == CLAIMED || slot[0].compare_exchange(before, CLAIMED, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return;
        }
        fence(Ordering::Release);
        for (slot, mark) in slot[1..].iter().zip(&guide.marks[..guide.count]) {
            slot.store(mark.word(), Ordering::Relaxed);
        }
        slot[0].store(key, Ordering::Release);
    }

    /// Asks the processor to bring the beginning of a page's slot near.
    #[inline]
    pub fn prefetch(&self, file: usize, page: u64) {
        let (slot, _) = self.slot(file, page);
        outcore_io::buffer::prefetch(slot, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::Budget;
    use std::sync::atomic::AtomicUsize;

    /// A guide whose marks all tell the page.
    fn guide(page: u64) -> Guide {
        let mark = Mark::of_word(page | page << 13 | page << 26 | page << 39);
        Guide { stride: 16, marks: [mark; MOST_MARKS], count: MOST_MARKS }
    }

    #[test]
    fn workers_read_marks_of_the_page_that_they_ask_for() {
        const PAGES: u64 = 40;
        let budget = Budget::new(1 << 30, 0).unwrap();
        let slots = Slots { words: Buffer::zeroed(&budget, "test", 7 * SLOT_WORDS).unwrap(), count: 7 };
        let hits = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for worker in 0..3u64 {
                let (slots, hits) = (&slots, &hits);
                scope.spawn(move || {
                    for i in 0..if cfg!(miri) { 300 } else { 300_000u64 } {
                        let page = (i / 2 * 7 + worker * 13) % PAGES;
                        match slots.mark(0, page, (i % 31) as usize) {
                            Some(mark) => {
                                assert_eq!(mark, guide(page).marks[0]);
                                hits.fetch_add(1, Ordering::Relaxed);
                            }
                            None => slots.keep(0, page, &guide(page)),
                        }
                    }
                });
            }
        });
        slots.keep(1, 5, &guide(5));
        assert_eq!(slots.mark(1, 5, 31), Some(guide(5).marks[31]));
        assert!(slots.mark(0, 5, 31).is_none() && slots.mark(1, 12, 31).is_none());
        assert!(hits.into_inner() > 0);
    }
}
