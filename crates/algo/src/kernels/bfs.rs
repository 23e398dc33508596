//! Breadth-first search: levels and parents from one source.
//!
//! *Idea.* Direction-optimising (Beamer, Asanović, Patterson, SC 2012), with the direction chosen by bytes. Before a
//! step reads anything, the hub column decides what it can: a vertex whose hub, its neighbour of the greatest degree,
//! is on the last level gets that as its parent. On graphs with hubs this settles nearly all vertices, and only the
//! lists of the others are read.
//!
//! *Long searches.* On grids, roads and paths few vertices are active for many steps, until every page that is read
//! holds only one of them ([`Thin`]). The remaining vertices are then searched page by page ([`Relaxer`]): levels only
//! fall, and the final levels do not depend on the order. Parents follow from the levels: the hub column first, then
//! one visit of the in-lists of the vertices that it does not decide.
//!
//! *Choice of parents.* The hub where it is on the level before; else the first such neighbour in list order. That
//! depends on the levels alone and not on the order of the workers, and the search of a list may still end at the first
//! hit.
//!
//! *Limits.* A search with a greatest depth ends there, and one with a target after the level on which it is found;
//! levels and parents are then those of the whole search as far as it went.
//!
//! *Encoding.* `levels[v]` is the level plus one, and `parents[v]` the complement of the parent (`stored.rs`); zero is
//! "none" in both, so zeroed memory is the initial state, and the smallest parent has the greatest stored value.
//!
//! *Cost.* 12 bytes and 3 bits per vertex. Every step reads each page it needs once. The search page by page takes
//! further memory, and is skipped if there is none.

use crate::estimate::{Bound, Estimate, Reads};
use crate::sources::check_vertices;
use crate::state::{Layout, array, hubs, part};
use crate::stored::{self, Stored};
use crate::visit::{for_each_list, for_each_vertex};
use outcore_graph::{
    Bitmap, Decision, Direction, EdgeMap, EdgeMapper, Frontier, Graph, Labels, ListPart, NO_LABEL, Relaxer, Thin,
    vertex_map,
};
use outcore_image::{Error, Result, Stats, StatsBuilder, SweepStats};
use outcore_io::Buffer;
use outcore_io::buffer::prefetch;
use outcore_table::ColumnKind;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Options of a breadth-first search: source and limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct BfsOptions {
    /// The vertex to start from, as numbered in the image. Default: 0.
    pub source: u32,
    /// The greatest level that is searched for; `None`, the default, is no limit.
    pub depth_limit: Option<u32>,
    /// A vertex on whose level the search ends, if there is a path to it. Default: none.
    pub target: Option<u32>,
}

/// The levels and parents of a breadth-first search.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Bfs {
    /// Per vertex: its distance from the source plus one; 0 where there is no path.
    pub(crate) levels: Buffer<u32>,
    /// Per vertex: the complement of its parent; 0 where there is no path. The source is its own parent.
    pub(crate) parents: Buffer<u32>,
    /// How many vertices were reached, the source included.
    pub reached: u64,
    /// The greatest level that was found.
    pub depth: u32,
    /// Statistics of the run.
    pub stats: Stats,
}

impl Bfs {
    /// The distance of a vertex from the source, if there are such a vertex and a path.
    pub fn level(&self, vertex: u32) -> Option<u32> {
        self.levels.get(vertex as usize)?.checked_sub(1)
    }

    /// The vertex before this one on a shortest path from the source, if there are such a vertex and a path.
    pub fn parent(&self, vertex: u32) -> Option<u32> {
        stored::parent(&self.parents, vertex)
    }

    /// The distance of every vertex from the source, in the order of vertices; none where there is no path.
    pub fn levels(&self) -> impl ExactSizeIterator<Item = Option<u32>> {
        self.levels.iter().map(|level| level.checked_sub(1))
    }

    /// The vertex before each on a shortest path from the source, in the order of vertices; none where there is no
    /// path. The source is its own.
    pub fn parents(&self) -> impl ExactSizeIterator<Item = Option<u32>> {
        stored::numbers(&self.parents)
    }

    /// The vertices on the path from the source to a vertex that the parents make, both ends included, if there is one.
    ///
    /// # Errors
    /// Another graph; a vertex that the graph does not have; no room for the path: 4 bytes per vertex on it.
    pub fn path(&self, graph: &Graph, target: u32) -> Result<Option<Vec<u32>>> {
        self.stats.check_image(graph.image())?;
        stored::path(graph, &self.parents, target)
    }
}

/// Levels, parents, hubs, and the frontier.
type State<'g> = (Buffer<AtomicU32>, Stored<AtomicU32>, (Buffer<AtomicU32>, SweepStats), EdgeMapper<'g>);

fn state(graph: &Graph, source: u32) -> impl Layout<Made = State<'_>> {
    let vertices = graph.vertices();
    let mapper = part(EdgeMapper::bytes(vertices), move || EdgeMapper::new(graph, source));
    (
        array(graph, "levels", vertices),
        Stored::<AtomicU32>::layout(graph, "parents"),
        hubs(graph, Direction::In),
        mapper,
    )
}

pub(crate) fn estimate(graph: &Graph) -> Estimate {
    let pages_per_pass = graph.pages(Direction::Out) + graph.pages(Direction::In);
    let column_pages = graph.hub_pages(Direction::In);
    let reads = Reads { passes: 1.0, bound: Bound::Usual, pages_per_pass, column_pages };
    reads.estimate(graph, state(graph, 0).bytes(), vec![ColumnKind::Level, ColumnKind::Vertex])
}

/// Searches breadth-first from a source along the direction of the edges.
///
/// # Errors
/// A source or target that the graph does not have, too little memory (12.4 bytes per vertex), a page that cannot be
/// read or is damaged, a request to stop.
pub fn bfs(graph: &Graph, options: &BfsOptions) -> Result<Bfs> {
    let mut stats = StatsBuilder::of_image(graph.image());
    check_vertices(graph, &[options.source])?;
    check_vertices(graph, options.target.as_slice())?;
    graph.make_room("breadth-first search", estimate(graph).state_bytes)?;
    let (levels, parents, (hubs, read), mut mapper) = state(graph, options.source).make()?;
    stats.other(read);
    let mut search = Search { levels, parents, hubs, level: AtomicU32::new(1) };
    graph.fill_cache()?;
    search.set(options.source, options.source, 1);
    let (mut reached, mut depth, mut thin) = (1, 0, Thin::default());
    while options.depth_limit.is_none_or(|most| depth < most)
        && !options.target.is_some_and(|vertex| search.has(vertex))
    {
        *search.level.get_mut() += 1;
        let step = mapper.step(&search)?;
        stats.step(step.way.name(), step.active, step.sweep);
        if mapper.active() == 0 {
            break;
        }
        reached += mapper.active();
        depth += 1;
        if thin.step(graph, mapper.active())
            && let Some(mut relaxer) = Relaxer::new(graph, Direction::Out.into())?
        {
            // Its bitmaps make room for those of the rest.
            drop(mapper);
            let rest = Rest { search: &search, depth, depth_limit: options.depth_limit, target: options.target };
            (reached, depth) = rest.search(graph, &mut relaxer, &mut stats)?;
            break;
        }
    }
    let pages = graph.pages(if graph.is_directed() { Direction::In } else { Direction::Out });
    let stats = stats.finish(graph.runtime(), pages);
    Ok(Bfs { levels: search.levels.into_values(), parents: search.parents.into_values(), reached, depth, stats })
}

struct Search {
    levels: Buffer<AtomicU32>,
    parents: Stored<AtomicU32>,
    hubs: Buffer<AtomicU32>,
    /// The level of the vertices that the current step reaches, plus one: in `levels`, 0 is a vertex that is not
    /// reached.
    level: AtomicU32,
}

impl Search {
    fn has(&self, vertex: u32) -> bool {
        self.levels[vertex as usize].load(Ordering::Relaxed) != 0
    }

    fn set(&self, vertex: u32, parent: u32, level: u32) {
        self.levels[vertex as usize].store(level, Ordering::Relaxed);
        self.parents.set(vertex, parent);
    }
}

impl EdgeMap for Search {
    #[inline]
    fn decide(&self, target: u32, active: &Bitmap) -> Decision {
        if self.has(target) {
            return Decision::Never;
        }
        let hub = self.hubs[target as usize].load(Ordering::Relaxed);
        if hub == target {
            // It has no in-neighbour but perhaps itself.
            return Decision::Never;
        }
        if !active.contains(hub) {
            return Decision::Read;
        }
        self.set(target, hub, self.level.load(Ordering::Relaxed));
        Decision::Now
    }

    #[inline]
    fn update(&self, source: u32, target: u32) -> bool {
        let level = self.level.load(Ordering::Relaxed);
        let known = self.levels[target as usize].load(Ordering::Relaxed);
        if known != 0 && known != level {
            return false;
        }
        if known == 0 {
            self.levels[target as usize].store(level, Ordering::Relaxed);
        }
        let hub = self.hubs[target as usize].load(Ordering::Relaxed);
        let hub_before = self.levels[hub as usize].load(Ordering::Relaxed) == level - 1;
        // Most sources are not the smallest: a load is cheaper than a write that changes nothing.
        let parent = if hub_before { hub } else { source };
        if self.parents.or_greatest(target) > parent {
            self.parents.lower(target, parent);
        }
        true
    }
}

/// The rest of a long search, which goes page by page instead of level by level.
struct Rest<'a> {
    search: &'a Search,
    /// The level that was searched last.
    depth: u32,
    depth_limit: Option<u32>,
    target: Option<u32>,
}

impl Rest<'_> {
    /// Returns how many vertices are reached in all, and the greatest level.
    fn search(&self, graph: &Graph, relaxer: &mut Relaxer<'_>, stats: &mut StatsBuilder) -> Result<(u64, u32)> {
        let levels = &self.search.levels;
        let set = Bitmap::new(graph.runtime().budget(), "frontiers", graph.vertices())?;
        for_each_vertex(graph, |vertex| {
            if levels[vertex as usize].load(Ordering::Relaxed) == self.depth + 1 {
                set.insert(vertex);
            }
        })?;
        let relaxed = relaxer.run(self, &set)?;
        stats.step("asynchronous", relaxed.vertices, relaxed.sweep);
        let reached_and_depth = self.choose_hubs(graph, &set)?;
        let undecided = set.count();
        if undecided > 0 {
            let sweep = for_each_list(graph, Direction::In, Frontier::Set(&set), |list| self.choose_first(&list))?;
            stats.step("parents", undecided, sweep);
        }
        if let Some(vertex) = set.iter(0..set.words()).find(|&vertex| !self.search.parents.has(vertex)) {
            let (id, image) = (graph.id(vertex)?, graph.path().display());
            let text = format!(
                "expected in-lists with the edges of the out-lists, found none that leads to {id} in {image}; run \
                 `outcore check` on it"
            );
            return Err(Error::Unsuitable(text));
        }
        Ok(reached_and_depth)
    }

    /// Gives vertices their hub as parent, where it is on the level before, and puts the others into the set. Vertices
    /// beyond the level of the target become unreached. Returns how many are reached, and the greatest level.
    fn choose_hubs(&self, graph: &Graph, undecided: &Bitmap) -> Result<(u64, u32)> {
        let Search { levels, parents, hubs, .. } = self.search;
        let level = |vertex: u32| levels[vertex as usize].load(Ordering::Relaxed);
        let last = self.target.map(level).filter(|&level| level != 0).unwrap_or(u32::MAX);
        let (reached, depth) = (AtomicU64::new(0), AtomicU32::new(0));
        vertex_map(graph.runtime(), graph.vertices(), |range| {
            let (mut count, mut greatest) = (0, 0);
            for vertex in range {
                let own = level(vertex as u32);
                if own > last {
                    levels[vertex].store(0, Ordering::Relaxed);
                }
                if own == 0 || own > last {
                    continue;
                }
                count += 1;
                greatest = own.max(greatest);
                if own > self.depth + 1 {
                    let hub = hubs[vertex].load(Ordering::Relaxed);
                    match level(hub) == own - 1 {
                        true => parents.set(vertex as u32, hub),
                        false => drop(undecided.insert(vertex as u32)),
                    }
                }
            }
            reached.fetch_add(count, Ordering::Relaxed);
            depth.fetch_max(greatest, Ordering::Relaxed);
            Ok(())
        })?;
        Ok((reached.into_inner(), depth.into_inner() - 1))
    }

    /// Gives a vertex its first in-neighbour on the level before.
    fn choose_first(&self, list: &ListPart<'_>) {
        let Search { levels, parents, .. } = self.search;
        let before = levels[list.vertex as usize].load(Ordering::Relaxed) - 1;
        let first = list.neighbours.iter().find(|&&source| levels[source as usize].load(Ordering::Relaxed) == before);
        if let Some(&source) = first {
            parents.lower(list.vertex, source);
        }
    }
}

impl Labels for Rest<'_> {
    const EVEN: bool = true;

    #[inline]
    fn get(&self, vertex: u32) -> u64 {
        match self.search.levels[vertex as usize].load(Ordering::Relaxed) {
            0 => NO_LABEL,
            level => level.into(),
        }
    }

    #[inline]
    fn lower(&self, vertex: u32, label: u64) -> bool {
        // Minus one, zero for "no level" becomes the greatest number.
        let rank = (label as u32).wrapping_sub(1);
        let lowered = |level: u32| (rank < level.wrapping_sub(1)).then_some(label as u32);
        self.search.levels[vertex as usize].fetch_update(Ordering::Relaxed, Ordering::Relaxed, lowered).is_ok()
    }

    #[inline]
    fn along(&self, _source: u32, label: u64, _weight: u64) -> Option<u64> {
        let most = self.depth_limit.map_or(u32::MAX.into(), |limit| u64::from(limit) + 1);
        // Vertices beyond the level of the target are not needed; those on its level are.
        let most = self.target.map_or(most, |target| most.min(self.get(target)));
        Some(label + 1).filter(|&next| next <= most)
    }

    #[inline]
    fn prefetch(&self, vertex: u32) {
        prefetch(&self.search.levels, vertex as usize);
    }
}

impl Bfs {
    /// Levels and parents as they are stored, for tests that change them.
    #[doc(hidden)]
    pub fn stored(&mut self) -> (&mut [u32], &mut [u32]) {
        (&mut self.levels, &mut self.parents)
    }

    /// How many vertices are on every level, for the first `most` levels. Takes 8 bytes for each of them.
    ///
    /// # Errors
    /// Another graph, or a request to stop.
    pub fn level_sizes(&self, graph: &Graph, most: usize) -> Result<Vec<u64>> {
        self.stats.check_image(graph.image())?;
        let count = most.min(self.depth as usize + 1);
        let sizes: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
        for_each_vertex(graph, |vertex| {
            if let Some(size) = self.level(vertex).and_then(|level| sizes.get(level as usize)) {
                size.fetch_add(1, Ordering::Relaxed);
            }
        })?;
        Ok(sizes.into_iter().map(AtomicU64::into_inner).collect())
    }
}
