//! Decoded pages that are kept because they are visited again and again, within a fixed amount of memory.
//!
//! Where all of it is in use, a page that was not visited since the last look at it makes room (second chance).

use crate::graph::{Edges, Graph};
use crate::weights::Weights;
use outcore_format::{Lists, WeightKind};
use std::sync::Arc;

/// A larger page is not kept.
pub(crate) const MOST_KEPT_BYTES: u64 = 1 << 18;
/// A page is kept from so many visits on: most pages of a graph in a good order have fewer.
const KEPT_FROM: u8 = 2;

/// The lists of a page, and the weights beside them.
pub(crate) struct KeptPage {
    pub lists: Lists,
    weights: Vec<u64>,
    kind: WeightKind,
}

impl KeptPage {
    fn new(lists: &Lists, weights: Weights<'_>) -> Self {
        let lists = Lists {
            ends: lists.ends[..=lists.count].to_vec(),
            neighbours: lists.neighbours[..lists.edges()].to_vec(),
            ..*lists
        };
        KeptPage { lists, weights: weights.bits().to_vec(), kind: weights.kind() }
    }

    fn bytes(lists: &Lists, weights: Weights<'_>) -> usize {
        size_of::<Self>() + 4 * (lists.count + 1 + lists.edges()) + 8 * weights.bits().len()
    }

    pub fn weights(&self) -> Weights<'_> {
        Weights::new(&self.weights, self.kind)
    }
}

/// The pages that are kept.
pub(crate) struct KeptPages {
    pages: Vec<Slot>,
    /// The pages that are kept, in no order, and which of them is looked at next.
    ring: Vec<u32>,
    hand: usize,
    free_bytes: usize,
}

#[derive(Clone, Default)]
struct Slot {
    page: Option<Arc<KeptPage>>,
    bytes: u32,
    visits: u8,
    used: bool,
}

impl KeptPages {
    /// The memory that it takes beside the pages.
    pub fn bytes(pages: u64) -> u64 {
        pages * (size_of::<Slot>() + size_of::<u32>()) as u64
    }

    /// What all pages of one direction take decoded, or a little more.
    pub fn decoded_bytes(graph: &Graph, edges: Edges) -> u64 {
        let lists = graph.list_facts(edges.direction);
        let page_bytes = 2 * size_of::<KeptPage>() as u64;
        lists.entries * if edges.weights { 12 } else { 4 } + 4 * graph.vertices() + page_bytes * lists.pages
    }

    /// Room for `free_bytes` of decoded pages.
    pub fn new(pages: usize, free_bytes: u64) -> Self {
        let free_bytes = usize::try_from(free_bytes).unwrap_or(usize::MAX);
        KeptPages { pages: vec![Slot::default(); pages], ring: Vec::with_capacity(pages), hand: 0, free_bytes }
    }

    /// Whether a page is kept.
    pub fn has(&self, page: u32) -> bool {
        self.pages[page as usize].page.is_some()
    }

    /// The page, if it is kept.
    pub fn get(&mut self, page: u32) -> Option<Arc<KeptPage>> {
        let slot = &mut self.pages[page as usize];
        slot.used = true;
        slot.page.clone()
    }

    /// Counts a visit of a page that is not kept; returns whether it is to be.
    pub fn visit(&mut self, page: u32, lists: &Lists, weights: Weights<'_>) -> bool {
        let slot = &mut self.pages[page as usize];
        slot.visits = slot.visits.saturating_add(1);
        slot.page.is_none() && slot.visits >= KEPT_FROM && KeptPage::bytes(lists, weights) as u64 <= MOST_KEPT_BYTES
    }

    /// Copies a page, to be kept.
    pub fn copy(lists: &Lists, weights: Weights<'_>) -> (Arc<KeptPage>, u32) {
        (Arc::new(KeptPage::new(lists, weights)), KeptPage::bytes(lists, weights) as u32)
    }

    /// Keeps a page, if there is room for it or can be made.
    pub fn keep(&mut self, page: u32, (copy, bytes): (Arc<KeptPage>, u32)) {
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

    fn lists(first_vertex: u64, edges: u32) -> Lists {
        let neighbours = (0..edges).collect();
        Lists { first_vertex, ends: vec![0, edges], neighbours, count: 1, ..Lists::default() }
    }

    #[test]
    fn pages_are_kept_from_some_visits_on_and_those_in_use_stay() {
        let size = KeptPage::bytes(&lists(0, 100), Weights::NONE) as u64;
        let mut kept = KeptPages::new(10, 3 * size + 1);
        for page in 0..3 {
            let lists = lists(page.into(), 100);
            let wanted: Vec<bool> = (0..4).map(|_| kept.visit(page, &lists, Weights::NONE)).collect();
            assert_eq!(wanted, [false, true, true, true]);
            kept.keep(page, KeptPages::copy(&lists, Weights::NONE));
            assert!(!kept.visit(page, &lists, Weights::NONE), "it is kept already");
        }
        assert!((0..3).all(|page| kept.has(page)) && !kept.has(3));
        assert_eq!(kept.get(0).unwrap().lists.first_vertex, 0);
        assert_eq!(kept.get(2).unwrap().lists.list(0).len(), 100);
        kept.keep(5, KeptPages::copy(&lists(5, 100), Weights::NONE));
        assert_eq!([0, 1, 2, 5].map(|page| kept.has(page)), [true, false, true, true]);
        assert!(!kept.visit(7, &lists(7, 1 << 20), Weights::NONE), "too large to be kept");
        // More than there is room for: everything goes, and nothing is kept.
        kept.keep(8, KeptPages::copy(&lists(8, 1000), Weights::NONE));
        assert!((0..10).all(|page| !kept.has(page)));
        assert_eq!(kept.free_bytes as u64, 3 * size + 1);
    }
}
