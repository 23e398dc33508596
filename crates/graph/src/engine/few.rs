//! Small sweeps: the lists of a few vertices, visited by the thread that calls.
//!
//! A search over a road network or a grid takes thousands of steps, each over some hundred vertices whose pages are all
//! in the cache. Such a step costs what these lists cost: no thread is started, nothing is asked of the operating
//! system, and of a page of hundreds of lists those that are wanted are decoded (`outcore_format::guide`). Steps over
//! more vertices go the way of all sweeps, and decode lists alone where a page is wanted for a few of them.
//!
//! Lists reach the visitor in the same order as in other sweeps, in pages that seem to hold no others.

use crate::engine::decode::Decoder;
use crate::engine::graph::{Decoding, DirectionLists, Edges, Graph};
use crate::engine::guides::Slots;
use crate::engine::sweep::ListVisitor;
use crate::engine::weights::Weights;
use outcore_format::guide::Guide;
use outcore_format::{PAGE_BYTES, Page};
use outcore_image::{Error, Result, SweepStats, corrupt};
use outcore_io::Pinned;
use outcore_io::buffer::prefetch;
use outcore_io::plan::UNIT_PAGES;
use std::ops::Range;
use std::time::Instant;

/// The most vertices and pages of a small sweep.
const FEW_PAGES: usize = 1024;
/// The most edges of a small sweep, as far as they are known beforehand.
const FEW_EDGES: u64 = 1 << 15;
/// All lists of a page are decoded if more than one in `SOME_SHARE` is wanted.
const SOME_SHARE: usize = 8;
/// Estimated distance in pages up to which the next wanted page is searched page by page; a farther one is found
/// through the index.
const NEAR_PAGES: u64 = 3;
/// Number of unwanted pages after which a search page by page ends.
const MOST_PASSED: u64 = 16;

/// A page with wanted lists: its number, and the places in the list of vertices of those whose lists it holds.
pub(crate) struct WantedPage {
    pub number: u64,
    pub vertices: Range<usize>,
}

/// Calls `visit` with the pages that hold lists of `vertices`, which rise, until it returns `false`.
pub(crate) fn pages_of_list(lists: &DirectionLists, vertices: &[u32], mut visit: impl FnMut(WantedPage) -> bool) {
    let near_keys = NEAR_PAGES * (lists.index.last() / lists.pages.max(1) + 1);
    let mut next_vertex = 0;
    while let Some(&vertex) = vertices.get(next_vertex) {
        let Some((mut number, mut keys)) = lists.index.seek(2 * u64::from(vertex)) else { return };
        let mut passed_over = 0;
        loop {
            let end = keys.next().unwrap_or(u64::MAX);
            let first = next_vertex;
            let here = vertices[first..].iter().take_while(|&&vertex| 2 * u64::from(vertex) < end);
            next_vertex += here.count();
            let mut goes_on = false;
            if next_vertex > first {
                if !visit(WantedPage { number, vertices: first..next_vertex }) {
                    return;
                }
                // A list that goes on in the next page is wanted there too.
                goes_on = end == 2 * u64::from(vertices[next_vertex - 1]) + 1;
                next_vertex -= usize::from(goes_on);
            } else {
                passed_over += 1;
            }
            let is_near = |&vertex: &u32| 2 * u64::from(vertex) <= end.saturating_add(near_keys);
            if !goes_on && (passed_over == MOST_PASSED || !vertices.get(next_vertex).is_some_and(is_near)) {
                break;
            }
            number += 1;
        }
    }
}

/// The outcome of a small sweep that was tried: done, or left to the usual sweep.
pub(crate) enum Few {
    /// The sweep was small, and is done.
    Done(SweepStats),
    /// The sweep is small, but must read pages or weights: one worker is enough.
    Alone,
    /// The sweep is large enough for all workers.
    Many,
}

/// Pins the pages that hold the lists of vertices in rising order and calls `visit` with them, if they are few and
/// cached. It is not generic over the visitor, so it is compiled once.
pub(crate) fn sweep_few(
    graph: &Graph,
    Edges { direction, weights, .. }: Edges,
    vertices: &[u32],
    visit: &mut dyn FnMut(FewPages<'_>) -> Result<()>,
) -> Result<Few> {
    if vertices.len() > FEW_PAGES {
        return Ok(Few::Many);
    }
    let start = Instant::now();
    let (lists, facts) = (graph.open_lists(direction)?, graph.list_facts(direction));
    let page_edges = facts.entries / facts.pages.max(1) + 1;
    let edges = vertices.len() as u64 * facts.max_degree.min(page_edges);
    let cache = graph.image().cache().filter(|_| !weights);
    let Some(cache) = cache.filter(|_| edges <= FEW_EDGES) else {
        return Ok(if edges > FEW_EDGES { Few::Many } else { Few::Alone });
    };
    let slots = graph.guides();
    graph.check_process()?;
    graph.runtime().cancel().check()?;
    let mut lent = graph.decoder();
    let pinned = &mut lent.decoding.pinned;
    pinned.clear();
    let (mut count, mut cached) = (0, true);
    pages_of_list(&lists, vertices, |wanted| {
        count += 1;
        match cache.get(graph.image().page_key(lists.file, wanted.number)) {
            Some(page) if cached => {
                prefetch(page.as_slice(), 0);
                if let Some(slots) = &slots {
                    slots.prefetch(lists.file, wanted.number);
                }
                pinned.push((wanted, page));
            }
            _ => cached = false,
        }
        count <= FEW_PAGES
    });
    let edges = edges.max(if count > vertices.len() { (count - vertices.len()) as u64 * page_edges } else { 0 });
    if count > FEW_PAGES || edges > FEW_EDGES || !cached {
        pinned.clear();
        return Ok(if count > FEW_PAGES || edges > FEW_EDGES { Few::Many } else { Few::Alone });
    }
    visit(FewPages { graph, lists: &lists, slots: slots.as_deref(), decoding: &mut lent.decoding, vertices })?;
    let mut stats = SweepStats::default();
    (stats.seconds, stats.pages_wanted, stats.cache_hits) = (start.elapsed().as_secs_f64(), count as u64, count as u64);
    Ok(Few::Done(stats))
}

/// The pinned pages of a small sweep, with the vertices whose lists are wanted.
pub(crate) struct FewPages<'a> {
    graph: &'a Graph,
    lists: &'a DirectionLists,
    slots: Option<&'a Slots>,
    decoding: &'a mut Decoding,
    vertices: &'a [u32],
}

impl FewPages<'_> {
    /// Visits the wanted lists of all pages, in order.
    pub fn visit(self, visitor: &mut dyn ListVisitor) -> Result<()> {
        let Decoding { decoder, decoded, pinned } = self.decoding;
        let mut unit = None;
        for (WantedPage { number, vertices: places }, bytes) in pinned.drain(..) {
            if let Some(before) = unit.replace(number / UNIT_PAGES)
                && before != number / UNIT_PAGES
            {
                visitor.end_unit(before)?;
            }
            let at = PageAt { graph: self.graph, file: self.lists.file, number };
            let page = self.lists.origin.trust(&bytes).map_err(|error| at.corrupt(error))?;
            at.visit(&page, decoder, decoded, self.slots, &self.vertices[places], visitor)?;
        }
        unit.map_or(Ok(()), |last| visitor.end_unit(last))
    }
}

/// Pages that a worker has pinned for a small sweep.
pub(crate) type PinnedPages = Vec<(WantedPage, Pinned)>;

/// A page of lists, by its place.
pub(crate) struct PageAt<'a> {
    pub graph: &'a Graph,
    pub file: usize,
    pub number: u64,
}

impl PageAt<'_> {
    /// The error for a page that is damaged.
    pub fn corrupt(&self, error: outcore_format::Error) -> Error {
        corrupt(self.graph.image().data_file(self.file).path(), self.number * PAGE_BYTES as u64, error)
    }

    /// Visits the wanted lists of a page, or all, whichever is faster. `decoded` is the page that the decoder holds.
    fn visit(
        &self,
        page: &Page<'_>,
        decoder: &mut Decoder,
        decoded: &mut Option<(usize, u64)>,
        slots: Option<&Slots>,
        vertices: &[u32],
        visitor: &mut dyn ListVisitor,
    ) -> Result<()> {
        if *decoded == Some((self.file, self.number)) {
            return visitor.page(self.number, decoder.last(), Weights::NONE);
        }
        *decoded = None;
        if are_some(vertices.len(), page) {
            return self.visit_some(page, decoder, slots, vertices, visitor);
        }
        decoder.decode(page, self.graph.shape()).map_err(|error| self.corrupt(error))?;
        *decoded = Some((self.file, self.number));
        visitor.page(self.number, decoder.last(), Weights::NONE)
    }

    /// Visits lists of a page, those of adjacent vertices together.
    pub fn visit_some(
        &self,
        page: &Page<'_>,
        decoder: &mut Decoder,
        slots: Option<&Slots>,
        vertices: &[u32],
        visitor: &mut dyn ListVisitor,
    ) -> Result<()> {
        let (shape, stride) = (self.graph.shape(), Guide::stride_of(page.count()));
        let mut guide: Option<Guide> = None;
        let mut remaining = vertices;
        while let Some((&vertex, others)) = remaining.split_first() {
            let more = (1..).zip(others).take_while(|&(i, &next)| next - vertex == i).count();
            remaining = &others[more..];
            let Some(first) = u64::from(vertex).checked_sub(page.first()).map(|place| place as usize) else { continue };
            let places = first..(first + 1 + more).min(page.count());
            if places.is_empty() {
                continue;
            }
            let number = first / stride;
            let known_mark = match &guide {
                Some(guide) => Some(guide.marks[number]),
                None => slots.and_then(|slots| slots.mark(self.file, self.number, number)),
            };
            let mark = match known_mark {
                Some(mark) => mark,
                None => {
                    let made = Guide::of(page, shape).map_err(|error| self.corrupt(error))?;
                    if let Some(slots) = slots {
                        slots.keep(self.file, self.number, &made);
                    }
                    guide.insert(made).marks[number]
                }
            };
            let lists = decoder.decode_some(page, shape, (mark, number * stride), places);
            visitor.page(self.number, lists.map_err(|error| self.corrupt(error))?, Weights::NONE)?;
        }
        Ok(())
    }
}

/// Whether it is faster to decode `wanted` lists of a page alone than all of its lists.
pub(crate) fn are_some(wanted: usize, page: &Page<'_>) -> bool {
    wanted * SOME_SHARE <= page.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_format::{Index, index_bytes};
    use outcore_image::ImageFile;
    use outcore_testkit::random_below;
    use std::sync::Mutex;

    /// Pages that begin with a list of their own, or go on with one of an earlier page, up to dozens of times.
    fn lists(state: &mut u64, vertices: u64) -> (DirectionLists, Vec<u64>) {
        let (mut keys, mut vertex) = (vec![0], 0);
        while vertex + 1 < vertices {
            let pages = if random_below(state, 8) == 0 { random_below(state, 70) } else { 0 };
            keys.extend((0..pages).map(|_| 2 * vertex + 1));
            let far = [1, 10, 300][random_below(state, 3) as usize];
            vertex = (vertex + 1 + random_below(state, far)).min(vertices - 1);
            keys.extend((random_below(state, 3) > 0).then_some(2 * vertex));
        }
        let origin = ImageFile::OUT_LISTS.origin(1);
        let index = Index::from_bytes(&origin, &index_bytes(&origin, &keys)).unwrap();
        let pages = keys.len() as u64;
        (DirectionLists { index, file: 0, origin, pages, weights: Mutex::default(), _reservation: None }, keys)
    }

    #[test]
    fn every_page_with_a_list_of_the_vertices_is_found_once() {
        let mut state = 1;
        for round in 0..if cfg!(miri) { 5 } else { 400 } {
            let vertices = 1 + random_below(&mut state, 5000);
            let (lists, keys) = lists(&mut state, vertices);
            let count = random_below(&mut state, [2, 30, 2000][round % 3]);
            let mut chosen: Vec<u32> = (0..count).map(|_| random_below(&mut state, vertices) as u32).collect();
            chosen.sort_unstable();
            chosen.dedup();
            let mut visited = Vec::new();
            pages_of_list(&lists, &chosen, |page| {
                visited.push((page.number, chosen[page.vertices].to_vec()));
                true
            });
            // A page has the lists from the one that it goes on with, or begins with, to the one before the next key.
            let of_page = |page: usize| {
                let (first, end) = (keys[page] / 2, keys.get(page + 1).map_or(vertices, |key| key.div_ceil(2)));
                let here = chosen.iter().filter(|&&v| (first..end).contains(&u64::from(v)));
                (page as u64, here.copied().collect::<Vec<_>>())
            };
            let expected: Vec<_> = (0..keys.len()).map(of_page).filter(|(_, vertices)| !vertices.is_empty()).collect();
            assert_eq!(visited, expected, "round {round}");
        }
    }
}
