//! A sweep over lists: pages verified, decoded, and handed to a visitor with the weights beside them.
//!
//! The index turns vertices into wanted pages; `outcore-image` reads them, in units of 64 and in page order within each
//! unit.

use crate::engine::few::{Few, PageAt, are_some, pages_of_list, sweep_few};
use crate::engine::graph::{Decoding, Direction, DirectionLists, Edges, Graph, LentDecoder};
use crate::engine::guides::Slots;
use crate::engine::vertex_set::Bitmap;
use crate::engine::weights::{BatchWeights, WeightColumn, Weights};
use outcore_format::Lists;
use outcore_image::{Arrived, PageVisitor, Result, Selection, SweepStats, UnitPages, Worker, pages_within};
use outcore_image::{Besides, Pass, Sweep, sweep as sweep_pages};
use outcore_io::plan::UNIT_PAGES;
use std::ops::Range;
use std::sync::Arc;

pub(crate) trait ListVisitor: Send {
    /// The lists of page `number`, which lies in the unit that this worker is at, and the weights of its edges if they
    /// are wanted.
    fn page(&mut self, number: u64, lists: &Lists, weights: Weights<'_>) -> Result<()>;
    /// The unit's wanted pages have all been visited.
    fn end_unit(&mut self, _unit: u64) -> Result<()> {
        Ok(())
    }
}

/// The lists that a sweep visits.
pub(crate) enum Wanted<'a> {
    /// All lists of some pages.
    Pages(Selection<'a>),
    /// The lists of vertices in rising order, and perhaps others of their pages.
    Lists(&'a [u32]),
}

/// The units and pages that hold the lists of vertices in rising order.
fn units_of(lists: &DirectionLists, vertices: &[u32]) -> Vec<(u64, u64)> {
    let mut units: Vec<(u64, u64)> = Vec::new();
    pages_of_list(lists, vertices, |page| {
        push_page(&mut units, page.number);
        true
    });
    units
}

/// Adds a page to the units and their pages, which rise.
pub(crate) fn push_page(units: &mut Vec<(u64, u64)>, page: u64) {
    let (unit, bit) = (page / UNIT_PAGES, 1 << (page % UNIT_PAGES));
    match units.last_mut() {
        Some((last, mask)) if *last == unit => *mask |= bit,
        _ => units.push((unit, bit)),
    }
}

/// The pages that hold the lists of the vertices `first..end`.
pub(crate) fn pages_of_range(lists: &DirectionLists, first: u32, end: u32) -> Range<u64> {
    let page = |key| lists.index.last_at_most(key);
    match (page(2 * u64::from(first)), page((2 * u64::from(end)).saturating_sub(1))) {
        (Some(from), Some(to)) if first < end => from..to + 1,
        _ => 0..0,
    }
}

/// The pages among these that hold a list of a vertex in a set.
pub(crate) fn pages_of_set<'a>(
    graph: &Graph,
    direction: Direction,
    set: &'a Bitmap,
    pages: Range<u64>,
) -> Selection<'a> {
    let (lists, vertices) = (graph.list_pages(direction), graph.vertices());
    Selection::Chosen(Box::new(move |unit| unit_of_set(&lists, vertices, set, unit)), pages)
}

/// The pages of a unit that hold a list of a vertex in the set.
fn unit_of_set(lists: &DirectionLists, vertices: u64, set: &Bitmap, unit: u64) -> u64 {
    let first_page = unit * UNIT_PAGES;
    let mut keys = lists.index.iter_from(first_page);
    let mut wanted = 0;
    let Some(mut key) = keys.next() else { return 0 };
    for bit in 0..UNIT_PAGES.min(lists.pages - first_page) {
        let next = keys.next().unwrap_or(2 * vertices);
        // The page ends before the next one's first vertex, or with it where the list goes on.
        if set.any_in(key / 2..next.div_ceil(2)) {
            wanted |= 1 << bit;
        }
        key = next;
    }
    wanted
}

/// Number of pages that a sweep would visit.
pub(crate) fn count_pages(graph: &Graph, direction: Direction, wanted: &Wanted<'_>) -> u64 {
    match wanted {
        Wanted::Lists(vertices) => {
            let mut count = 0;
            pages_of_list(&graph.list_pages(direction), vertices, |_| {
                count += 1;
                true
            });
            count
        }
        // No frontier is asked for page by page.
        Wanted::Pages(Selection::Requested(_)) => 0,
        Wanted::Pages(Selection::Pages(pages)) => pages.end - pages.start,
        Wanted::Pages(Selection::Units(units)) => units.iter().map(|(_, pages)| u64::from(pages.count_ones())).sum(),
        Wanted::Pages(Selection::Chosen(wanted, pages)) => {
            let count = |unit| u64::from((wanted(unit) & pages_within(pages, unit)).count_ones());
            (pages.start / UNIT_PAGES..pages.end.div_ceil(UNIT_PAGES)).map(count).sum()
        }
    }
}

/// The content that a sweep visits: lists, and weights if they are requested.
#[derive(Clone)]
pub(crate) struct Swept<'a> {
    pub lists: Arc<DirectionLists>,
    pub weights: Option<Arc<WeightColumn>>,
    /// The vertices whose lists are wanted alone.
    vertices: Option<&'a [u32]>,
    slots: Option<Arc<Slots>>,
}

impl<'a> Swept<'a> {
    /// The content that a sweep visits, and the pages that hold it.
    pub fn new(graph: &Graph, edges: Edges, wanted: Wanted<'a>) -> Result<(Self, Selection<'a>)> {
        let weights = edges.weights.then(|| graph.weight_column(edges)).transpose()?;
        let (lists, slots) = (graph.open_lists(edges.direction)?, graph.guides());
        let (vertices, selection) = match wanted {
            Wanted::Pages(selection) => (None, selection),
            Wanted::Lists(vertices) => (Some(vertices), Selection::Units(units_of(&lists, vertices))),
        };
        Ok((Swept { lists, weights, vertices, slots }, selection))
    }

    /// A sweep over selected pages of the lists, of which a worker visits at most `batch_pages` at once.
    pub fn sweep<'g>(&self, graph: &'g Graph, selection: Selection<'g>, batch_pages: u32) -> Result<Sweep<'g>> {
        let besides = self.weights.clone().map(|column| column as Arc<dyn Besides>);
        Sweep::new(graph.image(), self.lists.file, selection, besides, (batch_pages, graph.all_pages()))
    }
}

impl Besides for WeightColumn {
    fn files(&self) -> Vec<usize> {
        WeightColumn::files(self)
    }

    fn batch(&self, unit: u64, wanted: u64) -> (u64, Vec<UnitPages>) {
        let (pages, edges) = self.edges_of(unit, wanted);
        (pages, self.units(&edges))
    }
}

/// Visits lists on all workers, or on the thread that calls if they are few. `make` gives every worker its visitor, and
/// what became of them is returned.
pub(crate) fn sweep<V: ListVisitor>(
    graph: &Graph,
    edges: Edges,
    wanted: Wanted<'_>,
    make: impl Fn() -> V + Sync,
) -> Result<(Vec<V>, SweepStats)> {
    let mut visitors = Vec::new();
    let few = match wanted {
        Wanted::Lists(vertices) => sweep_few(graph, edges, vertices, &mut |pages| {
            let mut visitor = make();
            pages.visit(&mut visitor)?;
            visitors.push(visitor);
            Ok(())
        })?,
        Wanted::Pages(_) => Few::Many,
    };
    let most_workers = match few {
        Few::Done(stats) => return Ok((visitors, stats)),
        Few::Alone => 1,
        Few::Many => usize::MAX,
    };
    let (swept, selection) = Swept::new(graph, edges, wanted)?;
    let mut pages = swept.sweep(graph, selection, UNIT_PAGES as u32)?;
    if most_workers == 1 && graph.reads_again() {
        pages.read_around();
    }
    let (workers, total) = sweep_pages(&pages, most_workers, || ListPages::new(graph, &swept, make()))?;
    Ok((workers.into_iter().map(|worker| worker.visitor).collect(), total))
}

/// One worker's pages of lists on their way to a visitor.
pub(crate) struct ListPages<'a, V> {
    decoding: PageDecoding<'a>,
    pub visitor: V,
}

impl<'a, V: ListVisitor> ListPages<'a, V> {
    pub fn new(graph: &'a Graph, swept: &Swept<'a>, visitor: V) -> Self {
        let weights = BatchWeights::new(swept.weights.as_deref());
        let decoding = PageDecoding { graph, swept: swept.clone(), decoding: graph.decoder(), weights };
        ListPages { decoding, visitor }
    }

    /// Visits the next pages; `false` if there are none.
    pub fn step(&mut self, pass: &mut Pass, sweep: &Sweep<'_>, worker: &mut Worker) -> Result<bool> {
        pass.step(sweep, worker, self)
    }
}

impl<V: ListVisitor> PageVisitor for ListPages<'_, V> {
    fn begin(&mut self, unit: u64, pages: u64) {
        self.decoding.begin(unit, pages);
    }

    fn page(&mut self, page: Arrived<'_>) -> Result<()> {
        self.decoding.page(page, &mut self.visitor)
    }

    fn end_unit(&mut self, unit: u64) -> Result<()> {
        self.visitor.end_unit(unit)
    }
}

/// Turns the pages that arrive at one worker into lists with weights. It is not generic over the visitor, so it is
/// compiled once; the cost is two virtual calls per page, or one per run of wanted lists.
struct PageDecoding<'a> {
    graph: &'a Graph,
    swept: Swept<'a>,
    decoding: LentDecoder<'a>,
    weights: BatchWeights,
}

impl PageDecoding<'_> {
    fn begin(&mut self, unit: u64, pages: u64) {
        if let Some(column) = &self.swept.weights {
            self.weights.begin(column, unit, pages);
        }
    }

    fn page(&mut self, page: Arrived<'_>, visitor: &mut dyn ListVisitor) -> Result<()> {
        let Arrived { file, number, .. } = page;
        let column = self.swept.weights.as_deref().and_then(|weights| Some((weights, weights.column_of(file)?)));
        match column {
            Some((weights, column)) => {
                let at = PageAt { graph: self.graph, file, number };
                self.weights.take_page(weights, column, page).map_err(|error| at.corrupt(error))
            }
            None => self.lists(page, visitor),
        }
    }

    /// Visits the lists of a page, or the wanted ones alone where these are few.
    fn lists(
        &mut self,
        Arrived { file, number, bytes, verified }: Arrived<'_>,
        visitor: &mut dyn ListVisitor,
    ) -> Result<()> {
        let at = PageAt { graph: self.graph, file, number };
        let Decoding { decoder, decoded, .. } = &mut self.decoding.decoding;
        // Small steps come back to the same page again and again.
        if !(verified && *decoded == Some((file, number))) {
            *decoded = None;
            let origin = self.swept.lists.origin;
            let page = if verified { origin.trust(bytes) } else { origin.verify(number, bytes) };
            let page = page.map_err(|error| at.corrupt(error))?;
            if let (Some(vertices), None) = (self.swept.vertices, &self.swept.weights) {
                let first = |end: u64| vertices.partition_point(|&vertex| u64::from(vertex) < end);
                let vertices = &vertices[first(page.first())..first(page.first().saturating_add(page.count() as u64))];
                if are_some(vertices.len(), &page) {
                    return at.visit_some(&page, decoder, self.swept.slots.as_deref(), vertices, visitor);
                }
            }
            decoder.decode(&page, self.graph.shape()).map_err(|error| at.corrupt(error))?;
            *decoded = Some((file, number));
        }
        let lists = decoder.last();
        let weights = match &self.swept.weights {
            Some(column) => self.weights.next(column, number, lists).map_err(|error| at.corrupt(error))?,
            None => Weights::NONE,
        };
        visitor.page(number, lists, weights)
    }
}
