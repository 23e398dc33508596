//! Scan and fold: the lists of a frontier, visited on all workers.
//!
//! [`scan`] hands out lists as the pages hold them: a list that spans pages comes in parts, perhaps to several workers.
//! [`fold`] hides that: every part is folded to a value, values of one list are merged in page order, within units
//! first and then over units, and each vertex is finished once. So the same sums come out for every number of workers.
//! Units are merged while the sweep goes on, as soon as no earlier one is under way: few of them wait.

use crate::engine::graph::{Direction, Edges, Graph};
use crate::engine::sweep::{ListVisitor, Wanted, count_pages, pages_of_range, pages_of_set, sweep};
use crate::engine::vertex_set::Bitmap;
use crate::engine::weights::Weights;
use outcore_format::Lists;
use outcore_image::{Error, Outcome, Result, Selection, SweepStats};
use outcore_io::{Budget, ReservedVec, into_inner, lock};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Number of ended units per worker that wait for earlier ones in memory that small allocations have anyway.
const FEW_WAITING: usize = 64;

/// The vertices whose lists are visited.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Frontier<'a> {
    /// The lists of all vertices: one pass.
    All,
    /// The lists of the vertices in a slice, which rises and has each of them once.
    List(&'a [u32]),
    /// The lists of adjacent vertices.
    Range {
        /// The first of them.
        first: u32,
        /// The one behind the last.
        end: u32,
    },
    /// The lists of the vertices in a set.
    Set(&'a Bitmap),
    /// The lists of the vertices in a set that lie in a range too.
    Part {
        /// The set.
        set: &'a Bitmap,
        /// The first vertex that may be one of them.
        first: u32,
        /// The one behind the last.
        end: u32,
    },
}

/// A whole list.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct List<'a> {
    /// The vertex of the list.
    pub vertex: u32,
    /// The neighbours in rising order.
    pub neighbours: &'a [u32],
    /// The weights of the edges to them, if they were asked for.
    pub weights: Weights<'a>,
}

/// The part of a list that one page holds: all of it, but for lists that span pages.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ListPart<'a> {
    /// The vertex of the list.
    pub vertex: u32,
    /// The neighbours in rising order.
    pub neighbours: &'a [u32],
    /// The weights of the edges to them, if they were asked for.
    pub weights: Weights<'a>,
    /// Number of neighbours of the list in earlier pages.
    pub offset: u64,
    /// The list began in an earlier page.
    pub begins_earlier: bool,
    /// The list goes on in a later page.
    pub ends_later: bool,
}

impl<'a> ListPart<'a> {
    /// The list, if the page holds all of it.
    #[inline]
    pub fn whole(self) -> Option<List<'a>> {
        (!self.begins_earlier && !self.ends_later).then_some(self.alone())
    }

    /// The part as if it were all of the list.
    #[inline]
    pub(crate) fn alone(self) -> List<'a> {
        let ListPart { vertex, neighbours, weights, .. } = self;
        List { vertex, neighbours, weights }
    }
}

impl<'a> Frontier<'a> {
    pub(crate) fn wanted_pages(self, graph: &Graph, direction: Direction) -> Wanted<'a> {
        match self {
            Frontier::All => Wanted::Pages(Selection::Pages(0..graph.pages(direction))),
            Frontier::List(vertices) => Wanted::Lists(vertices),
            Frontier::Range { first, end } => {
                Wanted::Pages(Selection::Pages(pages_of_range(&graph.list_pages(direction), first, end)))
            }
            Frontier::Set(set) => Wanted::Pages(pages_of_set(graph, direction, set, 0..graph.pages(direction))),
            Frontier::Part { set, first, end } => {
                let pages = pages_of_range(&graph.list_pages(direction), first, end);
                Wanted::Pages(pages_of_set(graph, direction, set, pages))
            }
        }
    }

    /// Whether the graph has these vertices, and a list of them rises.
    ///
    /// # Errors
    /// [`Error::NoVertex`], or [`Error::NotRising`].
    pub fn check(&self, graph: &Graph) -> Result<()> {
        let vertices = graph.vertices();
        let beyond = |vertex: u64| Err(Error::NoVertex { vertex, vertices });
        if let Frontier::Set(set) | Frontier::Part { set, .. } = self
            && let Some(vertex) = set.any_beyond(vertices)
        {
            return beyond(vertex);
        }
        match *self {
            Frontier::List(list) => {
                if let Some(pair) = list.windows(2).find(|pair| pair[0] >= pair[1]) {
                    return Err(Error::NotRising { before: pair[0], after: pair[1] });
                }
                match list.last() {
                    Some(&last) if u64::from(last) >= vertices => beyond(last.into()),
                    _ => Ok(()),
                }
            }
            Frontier::Range { first, end } | Frontier::Part { first, end, .. } => match () {
                () if first > end => Err(Error::NotRising { before: first, after: end }),
                () if u64::from(end) > vertices => beyond(u64::from(end) - 1),
                () => Ok(()),
            },
            Frontier::All | Frontier::Set(_) => Ok(()),
        }
    }

    /// Number of pages that hold lists of the frontier.
    pub fn pages(&self, graph: &Graph, direction: Direction) -> u64 {
        count_pages(graph, direction, &self.wanted_pages(graph, direction))
    }

    /// Calls `visit` with the places of the page's lists that are the frontier's, in order.
    #[inline]
    pub fn wanted(&self, lists: &Lists, mut visit: impl FnMut(usize)) {
        let first = lists.first_vertex;
        let end = first + lists.count as u64;
        match self {
            Frontier::All => (0..lists.count).for_each(visit),
            Frontier::List(vertices) => {
                let from = vertices.partition_point(|&vertex| u64::from(vertex) < first);
                let there = vertices[from..].iter().take_while(|&&vertex| u64::from(vertex) < end);
                there.for_each(|&vertex| visit((u64::from(vertex) - first) as usize));
            }
            Frontier::Range { first: from, end: to } => {
                let (from, to) = (first.max(u64::from(*from)), end.min(u64::from(*to)));
                (from..to).for_each(|vertex| visit((vertex - first) as usize));
            }
            Frontier::Set(set) => members(set, first..end).for_each(|vertex| visit((vertex - first) as usize)),
            Frontier::Part { set, first: from, end: to } => {
                let range = first.max(u64::from(*from))..end.min(u64::from(*to));
                members(set, range).for_each(|vertex| visit((vertex - first) as usize));
            }
        }
    }
}

/// The vertices of a range that are in a set, in rising order.
#[inline]
fn members(set: &Bitmap, range: Range<u64>) -> impl Iterator<Item = u64> {
    let words = (range.start / 64) as usize..range.end.div_ceil(64) as usize;
    set.iter(words).map(u64::from).filter(move |vertex| range.contains(vertex))
}

#[inline]
pub(crate) fn list_at<'a>(lists: &'a Lists, weights: Weights<'a>, i: usize) -> ListPart<'a> {
    ListPart {
        vertex: lists.first_vertex as u32 + i as u32,
        neighbours: lists.list(i),
        weights: weights.part(lists.ends[i] as usize..lists.ends[i + 1] as usize),
        offset: if i == 0 { lists.offset } else { 0 },
        begins_earlier: i == 0 && lists.begins_earlier,
        ends_later: i + 1 == lists.count && lists.ends_later,
    }
}

/// Visits the lists of a frontier, part by part.
///
/// Every worker gets a state from `make`; the states are returned in the order of the workers. Lists are assigned to
/// workers nondeterministically: combine the states with an associative, commutative operation. Reads each wanted page
/// once.
///
/// `visit` returns nothing, or a `Result` whose error ends the scan. It may start other operations on the same graph.
///
/// # Errors
/// A frontier that [`Frontier::check`] refuses, the first error of `visit`, a page that cannot be read or is damaged,
/// or a request to stop.
pub fn scan<S: Send, R: Outcome>(
    graph: &Graph,
    edges: impl Into<Edges>,
    frontier: Frontier<'_>,
    make: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, ListPart<'_>) -> R + Sync,
) -> Result<(Vec<S>, SweepStats)> {
    scan_pages(graph, edges, frontier, make, |state, lists, weights| {
        let mut outcome = Ok(());
        frontier.wanted(lists, |i| {
            if outcome.is_ok() {
                outcome = visit(state, list_at(lists, weights, i)).outcome();
            }
        });
        outcome
    })
}

/// Visits the pages that hold lists of a frontier, each with all lists that it holds: [`Frontier::wanted`] says which
/// are the frontier's.
///
/// Everything else is as with [`scan`].
///
/// # Errors
/// As with [`scan`].
pub fn scan_pages<S: Send, R: Outcome>(
    graph: &Graph,
    edges: impl Into<Edges>,
    frontier: Frontier<'_>,
    make: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, &Lists, Weights<'_>) -> R + Sync,
) -> Result<(Vec<S>, SweepStats)> {
    frontier.check(graph)?;
    let edges = edges.into();
    let wanted = frontier.wanted_pages(graph, edges.direction);
    let visit = &visit;
    let (visitors, stats) = sweep(graph, edges, wanted, || ScanVisitor { state: make(), visit })?;
    Ok((visitors.into_iter().map(|visitor| visitor.state).collect(), stats))
}

struct ScanVisitor<'a, S, V> {
    state: S,
    visit: &'a V,
}

// Visitors are shared, states are sent.
impl<S: Send, R: Outcome, V: Fn(&mut S, &Lists, Weights<'_>) -> R + Sync> ListVisitor for ScanVisitor<'_, S, V> {
    #[inline]
    fn page(&mut self, _number: u64, lists: &Lists, weights: Weights<'_>) -> Result<()> {
        (self.visit)(&mut self.state, lists, weights).outcome()
    }
}

/// The operations of [`fold`] on lists.
pub trait ListFold: Sync {
    /// The value folded from one list, or from the part of it that one page holds.
    type Value: Copy + Send;
    /// The total of all lists, summed in an order that does not depend on the workers; `()` if it is not needed.
    type Total: Default + Send;

    /// The value of a list, or of a part of one, which is not empty.
    fn part(&self, list: ListPart<'_>) -> Self::Value;

    /// The value of two adjacent parts.
    fn merge(&self, before: Self::Value, after: Self::Value) -> Self::Value;

    /// Takes the value of the whole list, `None` if it is empty, and counts it in the total. Called once per vertex of
    /// the frontier, by any worker.
    fn finish(&self, vertex: u32, value: Option<Self::Value>, total: &mut Self::Total);

    /// Adds the total of later lists to that of earlier ones.
    #[inline]
    fn add(&self, _total: &mut Self::Total, _later: Self::Total) {}

    /// Whether the fold can go on: asked after every unit of 64 pages, and at the end. An error ends the fold, which
    /// returns it.
    ///
    /// # Errors
    /// An error that an earlier call to another of these functions stored, where the implementation stores errors.
    #[inline]
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Folds and finishes adjacent lists that the page holds from their beginning to their end: a chance to go over
    /// them faster than list by list.
    #[inline]
    fn whole(&self, lists: &Lists, weights: Weights<'_>, range: Range<usize>, total: &mut Self::Total) {
        for list in range.map(|i| list_at(lists, weights, i)) {
            let value = (!list.neighbours.is_empty()).then(|| self.part(list));
            self.finish(list.vertex, value, total);
        }
    }
}

/// Folds the list of every vertex of a frontier to a value, and all of them to a total.
///
/// # Errors
/// A frontier that [`Frontier::check`] refuses, the error of [`ListFold::check`], a page that cannot be read or is
/// damaged, or a request to stop.
pub fn fold<F: ListFold>(
    graph: &Graph,
    edges: impl Into<Edges>,
    frontier: Frontier<'_>,
    folder: &F,
) -> Result<(F::Total, SweepStats)> {
    frontier.check(graph)?;
    let edges = edges.into();
    let wanted = frontier.wanted_pages(graph, edges.direction);
    let merger = Merger::new(folder, graph.runtime().budget(), graph.runtime().threads())?;
    let make = || FoldVisitor {
        frontier,
        folder,
        merger: &merger,
        worker: merger.join(),
        open: None,
        head: None,
        total: F::Total::default(),
    };
    let (_, stats) = sweep(graph, edges, wanted, make)?;
    let total = merger.finish();
    folder.check()?;
    Ok((total, stats))
}

/// Merges units in their order, whichever workers have them, and finishes the lists that span units.
///
/// Workers take units in rising order, and each ends its units in that order. So no unit below the last one that every
/// worker has ended is under way: those are merged at once.
struct Merger<'a, F: ListFold> {
    folder: &'a F,
    merging: Mutex<Merging<F>>,
}

struct Merging<F: ListFold> {
    /// The last unit that each worker has ended, or that any had ended before its first.
    ended: Vec<Option<u64>>,
    /// Ended units that an earlier one may precede, in their order.
    waiting: ReservedVec<Unit<F>>,
    /// The total of all merged units, and the list that goes on behind them.
    total: F::Total,
    open: Option<Part<F>>,
}

/// A list, and the value of a part of it.
type Part<F> = (u32, <F as ListFold>::Value);

/// The values of an ended unit.
struct Unit<F: ListFold> {
    number: u64,
    /// The list that began in an earlier unit and ended in this one.
    head: Option<Part<F>>,
    /// The total of the lists that both began and ended in it.
    total: F::Total,
    /// The list that goes on in a later unit.
    tail: Option<Part<F>>,
}

impl<'a, F: ListFold> Merger<'a, F> {
    fn new(folder: &'a F, budget: &Arc<Budget>, workers: usize) -> Result<Self> {
        let waiting = ReservedVec::beside(budget, "units of a fold that wait for earlier ones", FEW_WAITING * workers)?;
        let merging = Merging { ended: Vec::new(), waiting, total: F::Total::default(), open: None };
        Ok(Merger { folder, merging: Mutex::new(merging) })
    }

    /// Adds a worker, before it takes its first unit; returns its number.
    fn join(&self) -> usize {
        let Merging { ended, .. } = &mut *lock(&self.merging);
        // Later units than all that were taken so far are left to it.
        ended.push(ended.iter().copied().max().flatten());
        ended.len() - 1
    }

    /// A worker has ended a unit.
    fn end(&self, worker: usize, unit: Unit<F>) -> Result<()> {
        let Merging { ended, waiting, total, open } = &mut *lock(&self.merging);
        ended[worker] = Some(unit.number);
        waiting.make_room(1)?;
        let place = waiting.partition_point(|other| other.number < unit.number);
        waiting.as_mut_vec().insert(place, unit);
        // A worker that has ended none so far may have taken any.
        let Some(last) = ended.iter().copied().min().flatten() else { return Ok(()) };
        let complete = waiting.partition_point(|unit| unit.number <= last);
        waiting.as_mut_vec().drain(..complete).for_each(|unit| merge(self.folder, total, open, unit));
        Ok(())
    }

    /// The total, once all workers have ended.
    fn finish(self) -> F::Total {
        let Merging { mut waiting, mut total, mut open, .. } = into_inner(self.merging);
        waiting.as_mut_vec().drain(..).for_each(|unit| merge(self.folder, &mut total, &mut open, unit));
        if let Some((vertex, value)) = open {
            self.folder.finish(vertex, Some(value), &mut total);
        }
        total
    }
}

/// Adds the next unit to a total; `open` is the list that goes on behind the units before it.
fn merge<F: ListFold>(folder: &F, total: &mut F::Total, open: &mut Option<Part<F>>, unit: Unit<F>) {
    let mut go_on = |(vertex, value): Part<F>, total: &mut F::Total| match open.take() {
        Some((before, first)) if before == vertex => *open = Some((vertex, folder.merge(first, value))),
        ended => {
            *open = Some((vertex, value));
            ended.into_iter().for_each(|(vertex, value)| folder.finish(vertex, Some(value), total));
        }
    };
    unit.head.into_iter().for_each(|part| go_on(part, total));
    folder.add(total, unit.total);
    unit.tail.into_iter().for_each(|part| go_on(part, total));
}

/// A list that is not finished at the end of a page.
struct Open<A> {
    vertex: u32,
    value: A,
    /// It began in an earlier unit.
    headless: bool,
}

struct FoldVisitor<'a, F: ListFold> {
    frontier: Frontier<'a>,
    folder: &'a F,
    merger: &'a Merger<'a, F>,
    worker: usize,
    open: Option<Open<F::Value>>,
    /// The list that ended in the unit under way, and began in an earlier one.
    head: Option<Part<F>>,
    /// The total of the lists that began and ended in the unit under way.
    total: F::Total,
}

impl<F: ListFold> ListVisitor for FoldVisitor<'_, F> {
    #[inline]
    fn page(&mut self, _number: u64, lists: &Lists, weights: Weights<'_>) -> Result<()> {
        let frontier = self.frontier;
        if matches!(frontier, Frontier::All) {
            self.adjacent(lists, weights, 0..lists.count);
            return Ok(());
        }
        let mut run = 0..0;
        frontier.wanted(lists, |i| {
            if i != run.end {
                self.adjacent(lists, weights, run.clone());
                run.start = i;
            }
            run.end = i + 1;
        });
        self.adjacent(lists, weights, run);
        Ok(())
    }

    fn end_unit(&mut self, unit: u64) -> Result<()> {
        let tail = self.open.take().map(|open| (open.vertex, open.value));
        let (head, total) = (self.head.take(), std::mem::take(&mut self.total));
        self.merger.end(self.worker, Unit { number: unit, head, total, tail })?;
        self.folder.check()
    }
}

impl<F: ListFold> FoldVisitor<'_, F> {
    /// Adjacent lists of a page, or the parts of them that are there.
    #[inline]
    fn adjacent(&mut self, lists: &Lists, weights: Weights<'_>, range: Range<usize>) {
        let head = usize::from(lists.begins_earlier).max(range.start);
        let tail = (lists.count - usize::from(lists.ends_later)).min(range.end);
        if head < tail {
            (range.start..head).for_each(|i| self.list(lists, weights, i));
            self.folder.whole(lists, weights, head..tail, &mut self.total);
            (tail..range.end).for_each(|i| self.list(lists, weights, i));
        } else {
            range.for_each(|i| self.list(lists, weights, i));
        }
    }

    /// A list of a page, or the part of it that is there.
    fn list(&mut self, lists: &Lists, weights: Weights<'_>, i: usize) {
        let list = list_at(lists, weights, i);
        let value = (!list.neighbours.is_empty()).then(|| self.folder.part(list));
        match value {
            Some(value) if list.begins_earlier || list.ends_later => {
                self.split(list.vertex, value, list.begins_earlier, list.ends_later);
            }
            value => self.folder.finish(list.vertex, value, &mut self.total),
        }
    }

    /// A part of a list that spans pages.
    fn split(&mut self, vertex: u32, value: F::Value, begins_earlier: bool, ends_later: bool) {
        let open = match self.open.take() {
            Some(open) if begins_earlier => Open { value: self.folder.merge(open.value, value), ..open },
            _ => Open { vertex, value, headless: begins_earlier },
        };
        if ends_later {
            self.open = Some(open);
        } else if open.headless {
            self.head = Some((vertex, open.value));
        } else {
            self.folder.finish(vertex, Some(open.value), &mut self.total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values are digits, written one behind the other.
    struct Digits;

    impl ListFold for Digits {
        type Value = u64;
        type Total = Vec<u64>;

        fn part(&self, _: ListPart<'_>) -> u64 {
            0
        }

        fn merge(&self, before: u64, after: u64) -> u64 {
            10 * before + after
        }

        fn finish(&self, _: u32, value: Option<u64>, total: &mut Vec<u64>) {
            total.extend(value);
        }

        fn add(&self, total: &mut Vec<u64>, later: Vec<u64>) {
            total.extend(later);
        }
    }

    /// One list spans the first three units, another one the last two.
    fn unit(number: u64) -> Unit<Digits> {
        let head = [None, None, Some((7, 3)), Some((9, 5))][number as usize];
        let tail = [Some((7, 1)), Some((7, 2)), Some((9, 4)), None][number as usize];
        Unit { number, head, total: vec![100 + number], tail }
    }

    #[test]
    fn units_merge_in_their_order_whichever_workers_had_them() {
        let budget = Arc::new(Budget::new(64 << 20, 0).unwrap());
        // Every order of ends in which those of a worker rise.
        let orders = [[0, 1, 2, 3], [3, 0, 1, 2], [1, 0, 3, 2], [2, 3, 0, 1], [0, 3, 1, 2]];
        for workers in [[0, 0, 0, 0], [1, 0, 0, 1], [2, 1, 0, 0], [1, 0, 1, 0], [0, 2, 1, 1], [0, 1, 2, 3]] {
            for order in orders {
                let of_worker = |worker| order.iter().filter(move |&&unit| workers[unit as usize] == worker);
                if !(0..4).all(|worker| of_worker(worker).is_sorted()) {
                    continue;
                }
                let merger = Merger::new(&Digits, &budget, 4).unwrap();
                let joined: Vec<usize> = (0..4).map(|_| merger.join()).collect();
                order.iter().for_each(|&number| {
                    merger.end(joined[workers[number as usize]], unit(number)).unwrap();
                });
                let total = merger.finish();
                assert_eq!(total, [100, 101, 102, 123, 103, 45], "units on workers {workers:?}, ended as {order:?}");
            }
        }
    }

    #[test]
    fn a_worker_that_joins_late_is_left_later_units_alone() {
        let budget = Arc::new(Budget::new(64 << 20, 0).unwrap());
        let merger = Merger::new(&Digits, &budget, 3).unwrap();
        let end = |worker, number| {
            merger.end(worker, Unit { number, head: None, total: vec![number], tail: None }).unwrap();
            lock(&merger.merging).waiting.len()
        };
        let (slow, quick) = (merger.join(), merger.join());
        assert_eq!(end(slow, 0), 1);
        (2..99).for_each(|number| _ = end(quick, number));
        assert_eq!(end(quick, 99), 98, "unit 1 is under way");
        // It may take unit 100, but none of those before.
        let late = merger.join();
        assert_eq!(end(slow, 1), 98, "unit 2 might be under way");
        assert_eq!(end(slow, 101), 1);
        // Unit 100 is under way: others wait for it.
        assert_eq!((end(quick, 102), end(slow, 103)), (2, 3));
        assert_eq!(end(late, 100), 3);
        assert_eq!(end(late, 104), 2);
        assert!(merger.finish().into_iter().eq(0..105));
    }

    #[test]
    fn few_units_wait_for_earlier_ones_however_many_there_are() {
        let budget = Arc::new(Budget::new(64 << 20, 0).unwrap());
        let free_bytes = budget.available_bytes();
        let merger = Merger::new(&Digits, &budget, 4).unwrap();
        let mut workers = vec![merger.join()];
        for number in 0..20_000 {
            // Some workers begin late.
            if workers.len() < 4 && number == [0, 3, 5000, 9000][workers.len()] {
                workers.push(merger.join());
            }
            let worker = workers[number as usize % workers.len()];
            let parts = (Some((number as u32, 1)), Some((number as u32 + 1, 1)));
            merger.end(worker, Unit { number, head: parts.0, total: Vec::new(), tail: parts.1 }).unwrap();
            assert!(lock(&merger.merging).waiting.len() <= 4, "at unit {number}");
        }
        assert_eq!(budget.available_bytes(), free_bytes, "nothing had to be reserved");
        assert_eq!(merger.finish().len(), 20_001);
        // One that lags behind lets others wait: they are reserved.
        let merger = Merger::new(&Digits, &budget, 2).unwrap();
        let (slow, quick) = (merger.join(), merger.join());
        (1..10_000).for_each(|number| {
            merger.end(quick, Unit { number, head: None, total: vec![number], tail: None }).unwrap();
        });
        assert!(budget.available_bytes() + 10_000 * size_of::<Unit<Digits>>() as u64 <= free_bytes);
        merger.end(slow, Unit { number: 0, head: None, total: vec![0], tail: None }).unwrap();
        assert!(merger.finish().into_iter().eq(0..10_000));
        assert_eq!(budget.available_bytes(), free_bytes);
    }
}
