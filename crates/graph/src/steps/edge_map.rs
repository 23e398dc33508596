//! Edge map: from the active vertices over their edges to the next ones, by pushing or by pulling.
//!
//! A push reads the lists of the active vertices and updates their neighbours. A pull reads the lists of the vertices
//! that may still become active and looks for active neighbours in them. Which of the two is done is decided here and
//! nowhere else, by what the pages that each would read cost, after everything that memory alone can decide has been
//! decided ([`EdgeMap::decide`]). (Beamer, Asanović, Patterson, *Direction-optimizing breadth-first search*, SC 2012;
//! Shun and Blelloch, *Ligra*, PPoPP 2013. Choosing by bytes instead of edges, and deciding before reading, are
//! Outcore's.)

use crate::engine::graph::{Direction, Edges, Graph};
use crate::engine::scan::{Frontier, ListPart, scan};
use crate::engine::vertex_set::Bitmap;
use crate::steps::active::{Activated, Active};
use crate::steps::vertex_map;
use outcore_image::{Error, Outcome, Result, SweepStats};
use std::sync::atomic::{AtomicU64, Ordering};

/// The decision about a vertex that is made before its list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The vertex does not become active, in this step or any later one.
    Never,
    /// The vertex becomes active, and has been updated.
    Now,
    /// Its list must be read.
    Read,
}

/// The operations of an edge map on vertices and edges, where a vertex becomes active at most once. Workers call all of
/// it at the same time.
pub trait EdgeMap: Sync {
    /// Decides about a vertex by what is in memory. `active` holds the active vertices.
    fn decide(&self, target: u32, active: &Bitmap) -> Decision;

    /// Updates `target` over the edge from the active vertex `source`; `true` if that makes it active in this step. It
    /// may return `true` for a target several times in a step, but not for one that was active in an earlier step.
    fn update(&self, source: u32, target: u32) -> bool;
}

/// Takes the vertices that an edge of a push makes active.
pub struct Next<'a> {
    active: &'a Active,
    activated: &'a mut Activated,
}

impl std::fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Next").finish_non_exhaustive()
    }
}

impl Next<'_> {
    /// Makes a vertex active in the next step. It may be called several times for a vertex, also for one that was
    /// active before. A vertex that the graph does not have makes the step fail with [`Error::NoVertex`].
    #[inline]
    pub fn activate(&mut self, vertex: u32) {
        if u64::from(vertex) >= self.active.vertices {
            self.activated.beyond = Some(vertex);
            return;
        }
        self.active.activate(vertex, true, self.activated);
    }
}

/// Direction of a step: push or pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// From active vertices along their edges.
    Push,
    /// From undecided vertices back along theirs.
    Pull,
}

impl Way {
    /// The name, as statistics report it.
    pub fn name(self) -> &'static str {
        match self {
            Way::Push => "push",
            Way::Pull => "pull",
        }
    }
}

/// Report of a step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Stepped {
    /// Push or pull.
    pub way: Way,
    /// Number of active vertices.
    pub active: u64,
    /// Statistics of its reads.
    pub sweep: SweepStats,
}

/// A frontier, and the steps that lead from it to the next one. Takes three bits per vertex.
///
/// After a step that failed, or whose function panicked, steps fail with [`Error::Restart`] until the mapper is
/// restarted.
pub struct EdgeMapper<'a> {
    graph: &'a Graph,
    /// The lists that lead onwards: those of out-neighbours along the direction of the edges.
    onwards: Direction,
    active: Active,
    /// The vertices that may still become active, as far as the last pull knew.
    undecided: Bitmap,
    /// A step began and did not end.
    failed: bool,
}

/// Cost of a page whose edges are all pushed, in pulled pages: they are random updates, where a pull decodes and
/// looks for one bit.
///
/// Measured on a Kronecker graph of scale 24: 57 microseconds of a worker for a pushed page, 6 for a pulled one
/// (`docs/decisions/0003-direction.md`).
const PUSH_COST: u64 = 8;
/// Number of lists that are found and decoded alone in the time of one pulled page: 0.15 microseconds for each
/// (`docs/decisions/0013-small-steps.md`).
const LISTS_PER_PAGE: u64 = 32;
/// Number of vertices that are looked at for the cost of one pulled page.
const VERTICES_PER_PAGE: u64 = 1 << 11;

/// Whether a push along all edges of `active` vertices in a list costs less than a look at all vertices, whatever pages
/// they lie in. Where all lists are short, as on grids and roads, that is so until a frontier is wide.
pub fn is_small_push(graph: &Graph, direction: Direction, active: u64) -> bool {
    let lists = graph.list_facts(direction);
    let edges = active.saturating_mul(lists.max_degree);
    let full_pages = edges / (lists.entries / lists.pages.max(1)).max(1);
    full_pages.saturating_mul(PUSH_COST).saturating_add(active / LISTS_PER_PAGE) < look_cost(graph)
}

/// Cost of a look at all vertices, in pulled pages, with a margin: a push that costs less is made without such a look.
fn look_cost(graph: &Graph) -> u64 {
    4 * PUSH_COST + graph.vertices() / VERTICES_PER_PAGE
}

impl std::fmt::Debug for EdgeMapper<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut mapper = f.debug_struct("EdgeMapper");
        mapper.field("onwards", &self.onwards).field("active", &self.active()).field("failed", &self.failed);
        mapper.finish_non_exhaustive()
    }
}

impl<'a> EdgeMapper<'a> {
    /// The memory that an edge mapper takes.
    pub fn bytes(vertices: u64) -> u64 {
        Active::bytes(vertices) + Bitmap::bytes(vertices)
    }

    /// Starts with one active vertex, along the direction of the edges.
    ///
    /// # Errors
    /// A vertex that the graph does not have ([`Error::NoVertex`]), or no memory under the budget.
    pub fn new(graph: &'a Graph, start: u32) -> Result<Self> {
        let mut mapper = Self::idle(graph)?;
        mapper.restart(Direction::Out, start)?;
        Ok(mapper)
    }

    /// Starts with no active vertex: [`EdgeMapper::restart`] or [`EdgeMapper::restart_with`] names the first ones.
    ///
    /// # Errors
    /// No memory under the budget.
    pub fn idle(graph: &'a Graph) -> Result<Self> {
        let undecided = Bitmap::new(graph.runtime().budget(), "frontiers", graph.vertices())?;
        Ok(EdgeMapper { graph, onwards: Direction::Out, active: Active::new(graph)?, undecided, failed: false })
    }

    /// Forgets the frontier and starts with one active vertex; `onwards` says whether steps go along the direction of
    /// the edges or against it.
    ///
    /// # Errors
    /// A vertex that the graph does not have: [`Error::NoVertex`].
    pub fn restart(&mut self, onwards: Direction, start: u32) -> Result<()> {
        Frontier::List(&[start]).check(self.graph)?;
        self.begin(onwards);
        self.active.start(start);
        Ok(())
    }

    /// As [`EdgeMapper::restart`], with the vertices of a set.
    ///
    /// # Errors
    /// A vertex that the graph does not have: [`Error::NoVertex`].
    pub fn restart_with(&mut self, onwards: Direction, starts: &Bitmap) -> Result<()> {
        Frontier::Set(starts).check(self.graph)?;
        self.begin(onwards);
        self.active.start_with(starts);
        Ok(())
    }

    fn begin(&mut self, onwards: Direction) {
        if std::mem::take(&mut self.failed) {
            self.active.reset();
        }
        self.onwards = onwards;
        self.undecided.insert_all(self.graph.vertices());
    }

    /// Number of active vertices.
    pub fn active(&self) -> u64 {
        self.active.count
    }

    /// One step from the active vertices to the next ones.
    ///
    /// # Errors
    /// An earlier step that failed ([`Error::Restart`]), a page that cannot be read or is damaged, or a request to
    /// stop.
    pub fn step(&mut self, map: &impl EdgeMap) -> Result<Stepped> {
        self.start_step()?;
        let active = self.active();
        if matches!(self.active.frontier(), Frontier::List(_)) && is_small_push(self.graph, self.onwards, active) {
            return self.push_lists(false, update(map));
        }
        let push_cost = self.push_cost();
        if push_cost < look_cost(self.graph) {
            return self.push_lists(false, update(map));
        }
        self.active.mark();
        let decided = self.decide(map)?;
        let pull_pages = Frontier::Set(&self.undecided).pages(self.graph, self.onwards.reversed());
        let way = if push_cost < pull_pages { Way::Push } else { Way::Pull };
        let (activated, sweep) = match way {
            Way::Push => self.push(false, update(map))?,
            Way::Pull => self.pull(map)?,
        };
        self.active.advance(decided + activated.iter().map(|part| part.count).sum::<u64>());
        self.failed = false;
        Ok(Stepped { way, active, sweep })
    }

    /// One step that pushes, whatever that costs: `visit` gets the ends of every edge that leads onwards from an active
    /// vertex, and says which vertices are active next, those that were active before among them.
    ///
    /// `visit` returns nothing, or a `Result` whose error ends the step.
    ///
    /// # Errors
    /// An earlier step that failed ([`Error::Restart`]), the first error of `visit`, an active vertex that the graph
    /// does not have ([`Error::NoVertex`]), a page that cannot be read or is damaged, or a request to stop.
    pub fn push_step<R: Outcome>(&mut self, visit: impl Fn(u32, u32, &mut Next<'_>) -> R + Sync) -> Result<Stepped> {
        self.start_step()?;
        self.push_lists(false, |list, next| {
            list.neighbours.iter().try_for_each(|&target| visit(list.vertex, target, next).outcome())
        })
    }

    /// As [`EdgeMapper::push_step`], with the weight of every edge beside its ends, as a real number.
    ///
    /// # Errors
    /// As with [`EdgeMapper::push_step`], and a graph without weights.
    pub fn weighted_step<R: Outcome>(
        &mut self,
        visit: impl Fn(u32, u32, f64, &mut Next<'_>) -> R + Sync,
    ) -> Result<Stepped> {
        self.start_step()?;
        self.push_lists(true, |list, next| {
            let mut edges = list.neighbours.iter().enumerate();
            edges.try_for_each(|(i, &target)| visit(list.vertex, target, list.weights.real(i), next).outcome())
        })
    }

    /// Until the step ends well, it has failed: by an error or a panic.
    fn start_step(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.failed, true) {
            return Err(Error::Restart);
        }
        Ok(())
    }

    /// One step that pushes along whole lists, or parts of them.
    fn push_lists<R: Outcome>(
        &mut self,
        weights: bool,
        visit: impl Fn(ListPart<'_>, &mut Next<'_>) -> R + Sync,
    ) -> Result<Stepped> {
        let active = self.active();
        let (activated, sweep) = self.push(weights, visit)?;
        if let Some(vertex) = activated.iter().find_map(|part| part.beyond) {
            return Err(Error::NoVertex { vertex: vertex.into(), vertices: self.graph.vertices() });
        }
        self.active.advance_to(activated);
        self.failed = false;
        Ok(Stepped { way: Way::Push, active, sweep })
    }

    /// Upper bound of the cost of a push from the active vertices, in pulled pages.
    fn push_cost(&self) -> u64 {
        let pages = self.active.frontier().pages(self.graph, self.onwards);
        let lists = self.graph.list_facts(self.onwards);
        // Where all lists are short, as on grids and roads, most of what such pages hold is not pushed.
        let edges = self.active().saturating_mul(lists.max_degree);
        let full_pages = edges.div_ceil((lists.entries / lists.pages.max(1)).max(1));
        pages + (PUSH_COST - 1) * pages.min(full_pages)
    }

    /// Lets memory alone decide about the undecided vertices; returns how many became active.
    fn decide(&self, map: &impl EdgeMap) -> Result<u64> {
        let total = AtomicU64::new(0);
        vertex_map(self.graph.runtime(), self.graph.vertices(), |range| {
            let mut count = 0;
            for i in Bitmap::words_of(&range) {
                let before = self.undecided.word(i);
                let (mut unvisited, mut next, mut undecided) = (before, 0, before);
                while unvisited != 0 {
                    let bit = unvisited & unvisited.wrapping_neg();
                    unvisited ^= bit;
                    match map.decide(64 * i as u32 + bit.trailing_zeros(), &self.active.set) {
                        Decision::Never => undecided ^= bit,
                        Decision::Now => {
                            undecided ^= bit;
                            next |= bit;
                        }
                        Decision::Read => {}
                    }
                }
                if undecided != before {
                    self.undecided.set_word(i, undecided);
                }
                if next != 0 {
                    self.active.next.set_word(i, next);
                    count += u64::from(next.count_ones());
                }
            }
            total.fetch_add(count, Ordering::Relaxed);
            Ok(())
        })?;
        Ok(total.into_inner())
    }

    fn push<R: Outcome>(
        &self,
        weights: bool,
        visit: impl Fn(ListPart<'_>, &mut Next<'_>) -> R + Sync,
    ) -> Result<(Vec<Activated>, SweepStats)> {
        let (active, edges) = (&self.active, Edges::new(self.onwards, weights));
        scan(self.graph, edges, active.frontier(), Activated::default, |activated, list| {
            visit(list, &mut Next { active, activated })
        })
    }

    fn pull(&self, map: &impl EdgeMap) -> Result<(Vec<Activated>, SweepStats)> {
        let (active, undecided) = (&self.active, Frontier::Set(&self.undecided));
        scan(self.graph, self.onwards.reversed(), undecided, Activated::default, |activated, list| {
            // Sources come in rising order, so the first active one is the one that counts.
            let source = list.neighbours.iter().find(|&&source| active.set.contains(source));
            if let Some(&source) = source
                && map.update(source, list.vertex)
            {
                active.activate(list.vertex, false, activated);
            }
        })
    }
}

/// Pushes the entries of one list for a map.
fn update(map: &impl EdgeMap) -> impl Fn(ListPart<'_>, &mut Next<'_>) + Sync {
    |list, next| {
        for &target in list.neighbours {
            if map.update(list.vertex, target) {
                next.activate(target);
            }
        }
    }
}
