//! Decoded pages that are cached because they are visited again and again, within a fixed amount of memory.
//!
//! Where all of it is in use, a page that was not visited since the last look at it makes room (second chance).

use crate::engine::graph::{Edges, Graph};
use crate::engine::weights::Weights;
use outcore_format::Lists;
use outcore_io::buffer::prefetch;
use std::sync::Arc;

/// A larger page is not cached.
pub(crate) const MAX_CACHED_PAGE_BYTES: u64 = 1 << 18;
/// Number of visits from which on a page is cached: most pages of a graph in a good order have fewer.
const CACHED_FROM_VISITS: u8 = 2;

/// The lists of a page, as they are worked off.
pub(crate) trait PageLists {
    /// Where the lists begin and end.
    fn head(&self) -> PageHead;
    /// The targets of a list, and the bits of their weights, or 0 where there are none.
    fn edges(&self, list: u32) -> impl Iterator<Item = (u32, u64)>;
    /// Asks the processor to bring near where a list lies.
    fn prefetch_place(&self, _list: u32) {}
    /// Asks the processor to bring near the beginning of a list.
    fn prefetch_edges(&self, _list: u32) {}
}

/// The place of a page's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageHead {
    /// The vertex of the first list.
    pub first_vertex: u32,
    /// Number of lists.
    pub count: u32,
    /// The first list began in an earlier page.
    pub begins_earlier: bool,
    /// The last list goes on in the next page.
    pub ends_later: bool,
}

impl PageHead {
    fn of(lists: &Lists) -> Self {
        let (first_vertex, count) = (lists.first_vertex as u32, lists.count as u32);
        PageHead { first_vertex, count, begins_earlier: lists.begins_earlier, ends_later: lists.ends_later }
    }
}

/// Lists that were just decoded, and the weights beside them.
pub(crate) struct DecodedPage<'a>(pub &'a Lists, pub Weights<'a>);

impl PageLists for DecodedPage<'_> {
    #[inline]
    fn head(&self) -> PageHead {
        PageHead::of(self.0)
    }

    #[inline]
    fn edges(&self, list: u32) -> impl Iterator<Item = (u32, u64)> {
        let edges = self.0.ends[list as usize] as usize..self.0.ends[list as usize + 1] as usize;
        let weights = self.1.part(edges.clone()).bits();
        self.0.neighbours[edges].iter().enumerate().map(|(i, &target)| (target, weights.get(i).copied().unwrap_or(0)))
    }
}

/// Layout of the weight behind the target of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Absent,
    /// The lower half of its bits; the upper ones are 0, as in small integers.
    Low,
    /// The upper half of its bits; the lower ones are 0, as in real numbers with few digits.
    High,
    Whole,
}

impl Form {
    /// The smallest layout that holds every weight of a page.
    fn of(weights: Weights<'_>) -> Self {
        let all = weights.bits().iter().fold(0, |all, bits| all | bits);
        match (weights.is_empty(), all >> 32, all as u32) {
            (true, ..) => Form::Absent,
            (_, 0, _) => Form::Low,
            (_, _, 0) => Form::High,
            _ => Form::Whole,
        }
    }

    fn words(self) -> usize {
        match self {
            Form::Absent => 1,
            Form::Low | Form::High => 2,
            Form::Whole => 3,
        }
    }
}

pub(crate) struct CachedPage {
    head: PageHead,
    form: Form,
    /// Ends of lists, the first being 0, and their entries: each a target and, right behind it, its weight.
    words: Vec<u32>,
}

impl CachedPage {
    fn new(lists: &Lists, weights: Weights<'_>, form: Form) -> Self {
        let mut words = Vec::with_capacity(lists.count + 1 + form.words() * lists.edges());
        words.extend_from_slice(&lists.ends[..=lists.count]);
        let targets = &lists.neighbours[..lists.edges()];
        let entries = targets.iter().zip(weights.bits());
        match form {
            Form::Absent => words.extend_from_slice(targets),
            Form::Low => words.extend(entries.flat_map(|(&target, &bits)| [target, bits as u32])),
            Form::High => words.extend(entries.flat_map(|(&target, &bits)| [target, (bits >> 32) as u32])),
            Form::Whole => {
                words.extend(entries.flat_map(|(&target, &bits)| [target, bits as u32, (bits >> 32) as u32]))
            }
        }
        CachedPage { head: PageHead::of(lists), form, words }
    }

    fn bytes(lists: &Lists, form: Form) -> usize {
        size_of::<Self>() + 4 * (lists.count + 1 + form.words() * lists.edges())
    }

    /// Index of an entry among the words.
    #[inline]
    fn place(&self, entry: u32) -> usize {
        self.head.count as usize + 1 + self.form.words() * entry as usize
    }
}

impl PageLists for CachedPage {
    #[inline]
    fn head(&self) -> PageHead {
        self.head
    }

    #[inline]
    fn edges(&self, list: u32) -> impl Iterator<Item = (u32, u64)> {
        let (form, i) = (self.form, list as usize);
        let entries = &self.words[self.place(self.words[i])..self.place(self.words[i + 1])];
        entries.chunks_exact(form.words()).map(move |entry| {
            let weight = match form {
                Form::Absent => 0,
                Form::Low => entry[1].into(),
                Form::High => u64::from(entry[1]) << 32,
                Form::Whole => u64::from(entry[1]) | u64::from(entry[2]) << 32,
            };
            (entry[0], weight)
        })
    }

    #[inline]
    fn prefetch_place(&self, list: u32) {
        prefetch(&self.words, list as usize);
    }

    #[inline]
    fn prefetch_edges(&self, list: u32) {
        prefetch(&self.words, self.place(self.words[list as usize]));
    }
}

/// The pages that are cached.
pub(crate) struct DecodedCache {
    pages: Vec<Slot>,
    /// The pages that are cached, in no order, and which of them is looked at next.
    ring: Vec<u32>,
    hand: usize,
    free_bytes: usize,
}

#[derive(Clone, Default)]
struct Slot {
    page: Option<Arc<CachedPage>>,
    bytes: u32,
    visits: u8,
    used: bool,
}

impl DecodedCache {
    /// The memory that it takes beside the pages.
    pub fn bytes(pages: u64) -> u64 {
        pages * (size_of::<Slot>() + size_of::<u32>()) as u64
    }

    /// Upper bound of the memory of all decoded pages of one direction.
    pub fn decoded_bytes(graph: &Graph, edges: Edges) -> u64 {
        let lists = graph.list_facts(edges.direction);
        let page_bytes = 2 * size_of::<CachedPage>() as u64;
        lists.entries * if edges.weights { 12 } else { 4 } + 4 * graph.vertices() + page_bytes * lists.pages
    }

    /// Room for `free_bytes` of decoded pages.
    pub fn new(pages: usize, free_bytes: u64) -> Self {
        let free_bytes = usize::try_from(free_bytes).unwrap_or(usize::MAX);
        DecodedCache { pages: vec![Slot::default(); pages], ring: Vec::with_capacity(pages), hand: 0, free_bytes }
    }

    /// Whether a page is cached.
    pub fn has(&self, page: u32) -> bool {
        self.pages[page as usize].page.is_some()
    }

    /// The page, if it is cached.
    pub fn get(&mut self, page: u32) -> Option<Arc<CachedPage>> {
        let slot = &mut self.pages[page as usize];
        slot.used = true;
        slot.page.clone()
    }

    /// Counts a visit of a page that is not cached; returns whether it is to be, unless it is too large.
    pub fn visit(&mut self, page: u32) -> bool {
        let slot = &mut self.pages[page as usize];
        slot.visits = slot.visits.saturating_add(1);
        slot.page.is_none() && slot.visits >= CACHED_FROM_VISITS
    }

    /// Copies a page, to be cached, unless it is too large. Goes over all of its weights: no lock may be held.
    pub fn copy(lists: &Lists, weights: Weights<'_>) -> Option<(Arc<CachedPage>, u32)> {
        let is_small = |form| CachedPage::bytes(lists, form) as u64 <= MAX_CACHED_PAGE_BYTES;
        if !is_small(Form::Absent) {
            return None;
        }
        let form = Form::of(weights);
        is_small(form).then(|| (Arc::new(CachedPage::new(lists, weights, form)), CachedPage::bytes(lists, form) as u32))
    }

    /// Keeps a page, if there is room for it or can be made.
    pub fn insert(&mut self, page: u32, (copy, bytes): (Arc<CachedPage>, u32)) {
        while self.free_bytes < bytes as usize {
            let Some(&last) = self.ring.get(self.hand) else {
                if self.ring.is_empty() {
                    return;
                }
                self.hand = 0;
                continue;
            };
            let slot = &mut self.pages[last as usize];
            if std::mem::take(&mut slot.used) {
                self.hand += 1;
            } else {
                slot.page = None;
                slot.visits = 0;
                self.free_bytes += slot.bytes as usize;
                self.ring.swap_remove(self.hand);
            }
        }
        let slot = &mut self.pages[page as usize];
        if slot.page.is_none() {
            slot.page = Some(copy);
            slot.bytes = bytes;
            self.free_bytes -= bytes as usize;
            self.ring.push(page);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_format::WeightKind;

    fn lists(first_vertex: u64, edges: u32) -> Lists {
        let neighbours = (0..edges).collect();
        Lists { first_vertex, ends: vec![0, edges], neighbours, count: 1, ..Lists::default() }
    }

    #[test]
    fn cached_pages_have_the_lists_and_weights_of_decoded_ones() {
        let lists = Lists {
            first_vertex: 70,
            ends_later: true,
            ends: vec![0, 2, 2, 5, 99],
            neighbours: vec![9, 8, 7, 6, 5, 4],
            count: 3,
            ..Lists::default()
        };
        let reals = [0.5, 1.0, -2.0, 0.0, 1e9].map(f64::to_bits);
        let cases = [[0; 5], [3, 0, 1 << 31, 7, u64::from(u32::MAX)], reals, [1, 1 << 32, 0, u64::MAX, 5]];
        let mut sizes = Vec::new();
        for weights in cases.iter().map(|bits| &bits[..]).chain([&[][..]]) {
            let weights = Weights::new(weights, WeightKind::I64);
            let (copy, bytes) = DecodedCache::copy(&lists, weights).unwrap();
            let decoded = DecodedPage(&lists, weights);
            for i in 0..3 {
                assert!(copy.edges(i).eq(decoded.edges(i)), "{weights:?}");
            }
            assert_eq!(copy.head(), decoded.head());
            assert_eq!(bytes as usize, size_of::<CachedPage>() + 4 * copy.words.len());
            sizes.push(copy.words.len());
        }
        assert_eq!(sizes, [14, 14, 14, 19, 9], "two words for an entry, three, and one");
    }

    #[test]
    fn pages_are_cached_from_some_visits_on_and_those_in_use_stay() {
        let size = CachedPage::bytes(&lists(0, 100), Form::Absent) as u64;
        let mut cached = DecodedCache::new(10, 3 * size + 1);
        let copy = |first, edges| DecodedCache::copy(&lists(first, edges), Weights::NONE).unwrap();
        for page in 0..3 {
            let wanted: Vec<bool> = (0..4).map(|_| cached.visit(page)).collect();
            assert_eq!(wanted, [false, true, true, true]);
            cached.insert(page, copy(page.into(), 100));
            assert!(!cached.visit(page), "it is cached already");
        }
        assert!((0..3).all(|page| cached.has(page)) && !cached.has(3));
        assert_eq!(cached.get(0).unwrap().head.first_vertex, 0);
        assert_eq!(cached.get(2).unwrap().edges(0).count(), 100);
        cached.insert(5, copy(5, 100));
        assert_eq!([0, 1, 2, 5].map(|page| cached.has(page)), [true, false, true, true]);
        assert!(DecodedCache::copy(&lists(7, 1 << 20), Weights::NONE).is_none(), "too large to be cached");
        // Too large with three words for an entry, but not with two.
        let edges = 24_000;
        let copied = |bits: u64| {
            let weights = vec![bits; edges as usize];
            DecodedCache::copy(&lists(7, edges), Weights::new(&weights, WeightKind::I64)).is_some()
        };
        assert_eq!([1, u64::MAX].map(copied), [true, false]);
        // More than there is room for: everything goes, and nothing is cached.
        cached.insert(8, copy(8, 1000));
        assert!((0..10).all(|page| !cached.has(page)));
        assert_eq!(cached.free_bytes as u64, 3 * size + 1);
    }
}
