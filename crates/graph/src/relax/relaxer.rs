//! Relaxing edges asynchronously: labels that only fall, worked off until none can fall any more.
//!
//! Where the final labels are unique (levels, distances), no steps are needed, and a search of a graph of large
//! diameter is better off without them ([`Thin`]). Where memory has room for all lists, decoded, with their weights,
//! they are cached, and vertices are worked off by rank (`by_rank.rs`). Otherwise pages are (`by_page.rs`).

use crate::engine::graph::{Edges, Graph};
use crate::engine::vertex_set::Bitmap;
use crate::relax::by_page::ByPage;
use crate::relax::by_rank::{ByRank, hint_bytes};
use crate::relax::cached_lists::CachedLists;
use outcore_image::{Result, SweepStats};
use outcore_io::Reservation;
use std::time::Instant;

/// Cached lists leave at least one in `FREE_SHARE` bytes of the available memory free.
const FREE_SHARE: u64 = 8;
/// Number of visits per vertex after which labels are taken to fall too often: then work goes in narrower ranges.
pub(crate) const MANY_VISITS: u64 = 4;
/// The label of a vertex that has none.
pub const NO_LABEL: u64 = u64::MAX;

/// Labels of vertices, which only fall. Workers call all of it at the same time.
pub trait Labels: Sync {
    /// Whether greater labels give greater or equal ones along every edge, whatever the edge is.
    const EVEN: bool;

    /// The greatest label up to which a page is worked off, for the least label of the page: greater labels are likely
    /// to fall again. Both are the closer to each other the greater `narrowing` is: it grows by 1 whenever labels fell
    /// too often.
    fn horizon(&self, _least: u64, _narrowing: u32) -> u64 {
        NO_LABEL
    }

    /// Rank of a label: labels of one rank are worked off in any order. Greater labels do not have lesser ranks.
    fn rank(&self, label: u64) -> u64 {
        label
    }

    /// The label of a vertex, or [`NO_LABEL`].
    fn get(&self, vertex: u32) -> u64;

    /// Replaces a label by a smaller one; returns whether it was smaller.
    fn lower(&self, vertex: u32, label: u64) -> bool;

    /// The label that an edge offers its target, if any, from the `label` of its source. It is at least `label`. The
    /// weight is given by its bits, and is 0 where the search reads none.
    fn along(&self, source: u32, label: u64, weight: u64) -> Option<u64>;

    /// Asks the processor to bring a vertex's label near.
    fn prefetch(&self, _vertex: u32) {}
}

/// Report of a relaxation that ran until no label could fall.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Relaxed {
    /// Number of visits of a vertex's list, or of a part of one.
    pub vertices: u64,
    /// Number of visits of pages.
    pub visits: u64,
    /// Statistics of the reads. A visit of a cached page counts as a cache hit.
    pub sweep: SweepStats,
}

/// Says when a search that goes in steps turned out long and thin, so that [`Relaxer`] is the better way.
///
/// The rule is for all searches the same (`docs/decisions/0014-asynchronous.md`): of the last 32 steps, all together
/// had fewer active vertices than one in sixteen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Thin {
    steps: u64,
    active: u64,
    reported: bool,
}

impl Thin {
    const STEPS: u64 = 32;
    const SHARE: u64 = 16;

    /// Counts a step; returns `true` once, when the rule is met first. A caller that has no memory for a [`Relaxer`]
    /// continues in steps.
    pub fn step(&mut self, graph: &Graph, active: u64) -> bool {
        self.steps += 1;
        self.active += active;
        if self.steps < Self::STEPS {
            return false;
        }
        let thin = !self.reported && self.active < graph.vertices() / Self::SHARE;
        *self = Thin { reported: self.reported || thin, ..Thin::default() };
        thin
    }
}

/// Works off the active vertices of a graph until none is left.
pub struct Relaxer<'a> {
    graph: &'a Graph,
    method: Method<'a>,
}

enum Method<'a> {
    /// The lists, what it took to read them, and the memory for hints.
    Cached(Box<(CachedLists, SweepStats, Reservation)>),
    ByPage(Box<ByPage<'a>>),
}

impl<'a> Relaxer<'a> {
    /// Prepares for a graph, if there is memory for that. Reads all lists and weights, if there is memory for them.
    ///
    /// # Errors
    /// Any but too little memory.
    pub fn new(graph: &'a Graph, edges: Edges) -> Result<Option<Self>> {
        if let Some(method) = none_if_out_of_memory(Self::hold(graph, edges))?.flatten() {
            return Ok(Some(Relaxer { graph, method }));
        }
        let by_page = none_if_out_of_memory(ByPage::new(graph, edges))?.flatten();
        Ok(by_page.map(|by_page| Relaxer { graph, method: Method::ByPage(Box::new(by_page)) }))
    }

    /// Holds all lists, if that leaves something free.
    fn hold(graph: &'a Graph, edges: Edges) -> Result<Option<Method<'a>>> {
        let (budget, vertices) = (graph.runtime().budget(), graph.vertices());
        let Some(bytes) = CachedLists::bytes(graph, edges.direction).filter(|_| edges.weights) else { return Ok(None) };
        let (hints, available) = (hint_bytes(vertices, graph.runtime().threads()), budget.available_bytes());
        if bytes + hints > available - available / FREE_SHARE {
            return Ok(None);
        }
        let hints = budget.reserve("hints of vertices", hints)?;
        let (lists, loaded) = CachedLists::load(graph, edges.direction)?;
        Ok(Some(Method::Cached(Box::new((lists, loaded, hints)))))
    }

    /// The lists with their weights, if they are cached.
    pub fn cached_lists(&self) -> Option<&CachedLists> {
        match &self.method {
            Method::Cached(cached) => Some(&cached.0),
            Method::ByPage(_) => None,
        }
    }

    /// Lowers labels along edges until none can fall any more, beginning with those edges that lead from the active
    /// vertices. Takes them out of the set.
    ///
    /// # Errors
    /// A page that cannot be read or is damaged, another operation on the graph, a request to stop. Then labels and set
    /// are somewhere on the way.
    pub fn run<L: Labels>(&mut self, labels: &L, active: &Bitmap) -> Result<Relaxed> {
        match &mut self.method {
            Method::ByPage(by_page) => by_page.run(labels, active),
            Method::Cached(cached) => {
                let (lists, loaded, _) = &mut **cached;
                let (start, graph) = (Instant::now(), self.graph);
                let by_rank = ByRank::new(labels, lists, active, graph.vertices(), graph.runtime().threads());
                let (counts, _) =
                    graph.image().with_workers(usize::MAX, |_, stop| by_rank.work(graph.runtime(), stop))?;
                let mut sweep = std::mem::take(loaded);
                sweep.seconds += start.elapsed().as_secs_f64();
                Ok(Relaxed { vertices: counts.into_iter().sum(), visits: 0, sweep })
            }
        }
    }
}

/// Guard of a worker: calls a function when it is dropped, by a return, an error or a panic.
pub(crate) struct OnDrop<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Turns an out-of-memory error into `None`.
fn none_if_out_of_memory<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.is_out_of_memory() => Ok(None),
        result => result.map(Some),
    }
}
