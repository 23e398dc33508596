//! Scan and fold: the lists of a frontier, visited on all workers.
//!
//! [`scan`] hands out lists as the pages hold them: a list that spans pages comes in parts, perhaps to several workers. [`fold`]
//! hides that: every part is folded to a value, values of one list are merged in page order, within units
//! first and then over units, and each vertex is finished once. So the same sums come out for every number of workers.

use crate::error::Result;
use crate::graph::{Direction, Graph};
use crate::stats::SweepStats;
use crate::sweep::{PageVisitor, Selection, count_pages, sweep, units_of};
use crate::vertex_set::Bitmap;
use outcore_format::Lists;

/// Whose lists are visited.
#[derive(Clone, Copy)]
pub enum Frontier<'a> {
    /// Those of all vertices: one pass.
    All,
    /// Those of the vertices in a list, which rises.
    List(&'a [u32]),
    /// Those of the vertices in a set.
    Set(&'a Bitmap),
}

/// A list, or the part of it that one page holds.
#[derive(Clone, Copy, Debug)]
pub struct List<'a> {
    /// Whose list it is.
    pub vertex: u32,
    /// The neighbours in rising order.
    pub neighbours: &'a [u32],
    /// The ordinal of the first of these edges: their place in edge columns.
    pub first_edge: u64,
    /// The list began in an earlier page.
    pub continues: bool,
    /// The list goes on in a later page.
    pub continued: bool,
}

impl Frontier<'_> {
    pub(crate) fn selection(&self, graph: &Graph, direction: Direction) -> Selection<'_> {
        match self {
            Frontier::All => Selection::All,
            Frontier::List(vertices) => Selection::Units(units_of(graph.lists(direction), vertices)),
            Frontier::Set(set) => Selection::Set(set),
        }
    }

    /// How many pages hold lists of the frontier.
    pub fn pages(&self, graph: &Graph, direction: Direction) -> u64 {
        match self.selection(graph, direction) {
            Selection::All => graph.pages(direction),
            Selection::Units(units) => units.iter().map(|(_, pages)| u64::from(pages.count_ones())).sum(),
            Selection::Set(set) => count_pages(graph, direction, set),
        }
    }

    /// Calls `visit` with the places of the page's wanted lists, in order.
    #[inline]
    fn wanted(&self, lists: &Lists, mut visit: impl FnMut(usize)) {
        let first = lists.first_vertex;
        let end = first + lists.count as u64;
        match self {
            Frontier::All => (0..lists.count).for_each(visit),
            Frontier::List(vertices) => {
                let from = vertices.partition_point(|&vertex| u64::from(vertex) < first);
                let there = vertices[from..].iter().take_while(|&&vertex| u64::from(vertex) < end);
                there.for_each(|&vertex| visit((u64::from(vertex) - first) as usize));
            }
            Frontier::Set(set) => {
                let words = (first / 64) as usize..end.div_ceil(64) as usize;
                let there = set.iter(words).map(u64::from);
                there
                    .filter(|vertex| (first..end).contains(vertex))
                    .for_each(|vertex| visit((vertex - first) as usize));
            }
        }
    }
}

/// The list at a place of a page.
#[inline]
fn list_at(lists: &Lists, i: usize) -> List<'_> {
    List {
        vertex: lists.first_vertex as u32 + i as u32,
        neighbours: lists.list(i),
        first_edge: lists.first_edge + u64::from(lists.ends[i]),
        continues: i == 0 && lists.continues,
        continued: i + 1 == lists.count && lists.continued,
    }
}

/// Visits the lists of a frontier, part by part.
///
/// Every worker gets a state from `make`; the states are returned in the order of the workers. Which lists a worker
/// gets is a matter of chance, so what is made of the states must not depend on it. Reads each wanted page once.
///
/// # Errors
/// A page that cannot be read or is damaged, or a request to stop.
pub fn scan<S: Send>(
    graph: &Graph,
    direction: Direction,
    frontier: Frontier<'_>,
    make: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, List<'_>) + Sync,
) -> Result<(Vec<S>, SweepStats)> {
    let selection = frontier.selection(graph, direction);
    let visit = &visit;
    let (visitors, stats) = sweep(graph, direction, &selection, || ScanVisitor { frontier, state: make(), visit })?;
    Ok((visitors.into_iter().map(|visitor| visitor.state).collect(), stats))
}

struct ScanVisitor<'a, S, V> {
    frontier: Frontier<'a>,
    state: S,
    visit: &'a V,
}

// Frontiers and visitors are shared, states are sent.
impl<S: Send, V: Fn(&mut S, List<'_>) + Sync> PageVisitor for ScanVisitor<'_, S, V> {
    #[inline]
    fn page(&mut self, lists: &Lists) -> Result<()> {
        self.frontier.wanted(lists, |i| (self.visit)(&mut self.state, list_at(lists, i)));
        Ok(())
    }

    fn end_unit(&mut self, _unit: u64) -> Result<()> {
        Ok(())
    }
}

/// How many neighbours ahead of the list that is folded are prepared: few enough to stay in the nearest cache.
const PREPARED_AHEAD: usize = 384;

/// What [`fold`] does with lists.
pub trait ListFold: Sync {
    /// What a list, or a part of one, comes to.
    type Value: Copy + Send;

    /// The value of a part of the vertex's list.
    fn part(&self, vertex: u32, neighbours: &[u32]) -> Self::Value;

    /// The value of two adjacent parts.
    fn merge(&self, before: Self::Value, after: Self::Value) -> Self::Value;

    /// Takes the value of the whole list. Called once per vertex of the frontier, by any worker.
    fn finish(&self, vertex: u32, value: Self::Value);

    /// Called with the neighbours that will be folded soon: a chance to prefetch what they need.
    #[inline]
    fn prepare(&self, _neighbours: &[u32]) {}
}

/// Folds the list of every vertex of a frontier to a value.
///
/// # Errors
/// A page that cannot be read or is damaged, or a request to stop.
pub fn fold<F: ListFold>(
    graph: &Graph,
    direction: Direction,
    frontier: Frontier<'_>,
    folder: &F,
) -> Result<SweepStats> {
    let selection = frontier.selection(graph, direction);
    let make = || FoldVisitor { frontier, folder, open: None, loose: Vec::new() };
    let (visitors, stats) = sweep(graph, direction, &selection, make)?;
    let mut loose: Vec<Loose<F::Value>> = visitors.into_iter().flat_map(|visitor| visitor.loose).collect();
    // A unit has at most two loose ends, of different lists or of one that spans it.
    loose.sort_by_key(|end| (end.vertex, end.unit));
    for list in loose.chunk_by(|a, b| a.vertex == b.vertex) {
        let value = list[1..].iter().fold(list[0].value, |value, end| folder.merge(value, end.value));
        folder.finish(list[0].vertex, value);
    }
    Ok(stats)
}

/// A list that is not finished at the end of a page.
struct Open<A> {
    vertex: u32,
    value: A,
    /// It began in an earlier unit.
    headless: bool,
}

/// What one unit holds of a list that spans units.
struct Loose<A> {
    unit: u64,
    vertex: u32,
    value: A,
}

struct FoldVisitor<'a, F: ListFold> {
    frontier: Frontier<'a>,
    folder: &'a F,
    open: Option<Open<F::Value>>,
    /// Ends of lists; those of the unit under way carry the unit `u64::MAX` until it ends.
    loose: Vec<Loose<F::Value>>,
}

impl<F: ListFold> PageVisitor for FoldVisitor<'_, F> {
    #[inline]
    fn page(&mut self, lists: &Lists) -> Result<()> {
        let (edges, mut prepared) = (lists.edges(), 0);
        let last = lists.count - usize::from(lists.continued);
        let frontier = self.frontier;
        frontier.wanted(lists, |i| {
            let vertex = lists.first_vertex as u32 + i as u32;
            let ahead = (lists.ends[i + 1] as usize + PREPARED_AHEAD).min(edges);
            if ahead > prepared {
                self.folder.prepare(&lists.neighbours[prepared..ahead]);
                prepared = ahead;
            }
            let value = self.folder.part(vertex, lists.list(i));
            if (i > 0 || !lists.continues) && i < last {
                self.folder.finish(vertex, value);
            } else {
                self.split(vertex, value, i == 0 && lists.continues, i >= last);
            }
        });
        Ok(())
    }

    fn end_unit(&mut self, unit: u64) -> Result<()> {
        if let Some(open) = self.open.take() {
            self.loose.push(Loose { unit: u64::MAX, vertex: open.vertex, value: open.value });
        }
        for end in self.loose.iter_mut().rev().take_while(|end| end.unit == u64::MAX) {
            end.unit = unit;
        }
        Ok(())
    }
}

impl<F: ListFold> FoldVisitor<'_, F> {
    /// A part of a list that spans pages.
    fn split(&mut self, vertex: u32, value: F::Value, continues: bool, continued: bool) {
        let open = match self.open.take() {
            Some(open) if continues => Open { value: self.folder.merge(open.value, value), ..open },
            _ => Open { vertex, value, headless: continues },
        };
        if continued {
            self.open = Some(open);
        } else if open.headless {
            self.loose.push(Loose { unit: u64::MAX, vertex, value: open.value });
        } else {
            self.folder.finish(vertex, open.value);
        }
    }
}
