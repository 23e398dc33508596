//! Sets of vertices as bitmaps: frontiers, and vertices that are still to be processed.

use outcore_io::{Budget, Buffer, Result};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One bit per vertex, which workers set and read together. All accesses are relaxed.
pub struct Bitmap {
    words: Buffer<AtomicU64>,
}

impl std::fmt::Debug for Bitmap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bitmap").field("words", &self.words()).field("count", &self.count()).finish()
    }
}

impl Bitmap {
    /// No vertex of `0..vertices`, reserved under the name `purpose`.
    ///
    /// # Errors
    /// No memory under the budget.
    pub fn new(budget: &Arc<Budget>, purpose: &str, vertices: u64) -> Result<Self> {
        Ok(Bitmap { words: Buffer::zeroed(budget, purpose, vertices.div_ceil(64) as usize)? })
    }

    /// The memory of a bitmap of `vertices` vertices, in bytes.
    pub fn bytes(vertices: u64) -> u64 {
        vertices.div_ceil(64) * 8
    }

    /// The words that hold a range of vertices which begins at a multiple of 64, as those of
    /// [`vertex_map`](crate::vertex_map()) do.
    #[inline]
    pub fn words_of(vertices: &Range<usize>) -> Range<usize> {
        vertices.start / 64..vertices.end.div_ceil(64)
    }

    /// Whether the vertex is in the set.
    #[inline]
    pub fn contains(&self, vertex: u32) -> bool {
        self.word(vertex as usize / 64) >> (vertex % 64) & 1 == 1
    }

    /// Adds a vertex; `true` if it was not there before. Only one of several workers that add it is told so.
    #[inline]
    pub fn insert(&self, vertex: u32) -> bool {
        let bit = 1u64 << (vertex % 64);
        let word = &self.words[vertex as usize / 64];
        word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Vertices `64 i .. 64 i + 64` as a word.
    #[inline]
    pub fn word(&self, i: usize) -> u64 {
        self.words[i].load(Ordering::Relaxed)
    }

    /// Removes a vertex.
    #[inline]
    pub fn remove(&self, vertex: u32) {
        self.words[vertex as usize / 64].fetch_and(!(1 << (vertex % 64)), Ordering::Relaxed);
    }

    /// Adds a vertex. The worker that takes it with [`Bitmap::take`] sees all earlier writes.
    #[inline]
    pub(crate) fn announce(&self, vertex: u32) {
        self.words[vertex as usize / 64].fetch_or(1 << (vertex % 64), Ordering::Release);
    }

    /// Removes those of the vertices `64 i .. 64 i + 64` that are in a word, and returns which of them were there.
    #[inline]
    pub(crate) fn take(&self, i: usize, word: u64) -> u64 {
        if self.word(i) & word == 0 {
            return 0;
        }
        self.words[i].fetch_and(!word, Ordering::AcqRel) & word
    }

    /// Replaces vertices `64 i .. 64 i + 64`.
    #[inline]
    pub fn set_word(&self, i: usize, word: u64) {
        self.words[i].store(word, Ordering::Relaxed);
    }

    /// Adds the vertices `0..vertices`, which is all of them.
    pub fn insert_all(&self, vertices: u64) {
        for i in 0..self.words() {
            let rest = vertices - 64 * i as u64;
            self.set_word(i, if rest >= 64 { u64::MAX } else { (1 << rest) - 1 });
        }
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Number of vertices in the set.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum()
    }

    /// A vertex of the set that a graph of `vertices` vertices does not have, or `vertices` if the set is of another
    /// size.
    pub(crate) fn any_beyond(&self, vertices: u64) -> Option<u64> {
        let words = vertices.div_ceil(64);
        if self.words() as u64 != words {
            return Some(64 * self.words() as u64).map(|size| size.max(vertices));
        }
        let rest = vertices % 64;
        let last = if rest == 0 { 0 } else { self.word(words as usize - 1) >> rest };
        (last != 0).then(|| vertices + u64::from(last.trailing_zeros()))
    }

    /// Removes all vertices.
    pub fn clear(&self) {
        self.words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Whether any vertex of a range is in the set.
    #[inline]
    pub fn any_in(&self, range: Range<u64>) -> bool {
        if range.is_empty() {
            return false;
        }
        let (first, last) = ((range.start / 64) as usize, ((range.end - 1) / 64) as usize);
        let head = u64::MAX << (range.start % 64);
        let tail = u64::MAX >> (63 - (range.end - 1) % 64);
        if first == last {
            return self.word(first) & head & tail != 0;
        }
        self.word(first) & head != 0 || (first + 1..last).any(|i| self.word(i) != 0) || self.word(last) & tail != 0
    }

    /// The vertices of a range of words, in rising order.
    pub fn iter(&self, words: Range<usize>) -> impl Iterator<Item = u32> + '_ {
        words.flat_map(move |i| {
            let mut word = self.word(i);
            std::iter::from_fn(move || {
                if word == 0 {
                    return None;
                }
                let bit = word.trailing_zeros();
                word &= word - 1;
                Some(i as u32 * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmaps_are_sets() {
        let budget = Arc::new(Budget::new(1 << 30, 0).unwrap());
        let set = Bitmap::new(&budget, "test", 1000).unwrap();
        let members = [0u32, 5, 63, 64, 200, 511, 999];
        for &vertex in &members {
            assert!(set.insert(vertex) && !set.insert(vertex) && set.contains(vertex));
        }
        assert_eq!(set.iter(0..set.words()).collect::<Vec<_>>(), members);
        assert_eq!(set.count(), 7);
        for start in 0..300u64 {
            for end in start..300 {
                let expected = members.iter().any(|&m| (start..end).contains(&u64::from(m)));
                assert_eq!(set.any_in(start..end), expected, "{start}..{end}");
            }
        }
        set.clear();
        assert_eq!(set.count(), 0);
    }
}
