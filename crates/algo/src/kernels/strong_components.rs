//! Strongly connected components.
//!
//! *Idea.* Four methods, each for the part of the graph for which it reads least. A vertex is *unsettled* as long as
//! its component is not known.
//!
//! 1. *Trim.* A vertex without an in-neighbour or without an out-neighbour is a component of its own. The hub columns
//!    name the vertices that have no neighbour but themselves, without a list.
//! 2. *Forward-backward.* The vertices that a pivot of great degree reaches and that reach it are the giant component,
//!    or another pivot is tried: two searches among unsettled vertices, the second among those that the first reached.
//!    A vertex whose hub is reached is reached, without its list.
//! 3. *In memory.* The edges among unsettled vertices are read once, if there is room for them, and Tarjan's algorithm
//!    finishes (`tarjan.rs`).
//! 4. *Colouring* (`colouring.rs`), where there is no room. Degrees among unsettled vertices are counted, and vertices
//!    without edges are trimmed, then those that this leaves without edges, from a worklist. Each round of colouring
//!    then settles the component of every root, and parts the unsettled vertices into classes within which it goes on.
//!
//! Where there is room for the third method, searches are given up that cost half of a pass over the lists of the
//! unsettled vertices, as on a long cycle.
//!
//! Fleischer, Hendrickson, Pinar, *On identifying strongly connected components in parallel*, IPDPS workshops 2000;
//! McLendon, Hendrickson, Plimpton, Rauchwerger, *Finding strongly connected components in distributed graphs*, JPDC
//! 65, 2005; Slota, Rajamanickam, Madduri, *BFS and coloring-based parallel algorithms for strongly connected
//! components and related problems*, IPDPS 2014; Pearce, *A space-efficient algorithm for finding strongly connected
//! components*, IPL 116, 2016. Hubs in the place of lists, and choosing by bytes, are Outcore's.
//!
//! *Encoding.* `colouring.rs`. The representative of a component depends on the order of the workers until the end; the
//! partition does not, and the final label is the smallest member.
//!
//! *Cost.* 12 bytes and 6 bits per vertex, and 8 bytes per edge that is finished in memory. On graphs with hubs about a
//! tenth of the pages; on others up to two passes, and more where colouring has to do it.

use crate::estimate::{Bound, Estimate, Reads};
use crate::kernels::colouring::{Classes, Colouring, load, spread, store};
use crate::kernels::components::{self, Components, ComponentsOptions, components};
use crate::kernels::tarjan::Remainder;
use crate::state::{Layout, array, bitmap, part};
use crate::visit::{for_each_list, for_each_vertex};
use outcore_graph::{Bitmap, Decision, Direction, EdgeMap, EdgeMapper, Frontier, Graph, ListPart, scan};
use outcore_image::{Result, StatsBuilder};
use outcore_io::Buffer;
use outcore_table::ColumnKind;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Options of strongly connected components.
#[derive(Clone, Copy, Debug, Default)]
pub struct StrongComponentsOptions {
    /// The most memory for edges that are finished in memory; `None`, the default, takes what the limit leaves.
    pub in_memory_bytes: Option<u64>,
}

/// Labels and unsettled vertices, two numbers per vertex, the vertices that searches reached, and the frontier.
type State<'g> =
    ((Buffer<AtomicU32>, Bitmap), (Buffer<AtomicU32>, Buffer<AtomicU32>), (Bitmap, Bitmap), EdgeMapper<'g>);

fn state(graph: &Graph) -> impl Layout<Made = State<'_>> {
    let (numbers, set) = (|name| array(graph, name, graph.vertices()), |name| bitmap(graph, name, graph.vertices()));
    (
        (numbers("strong components"), set("unsettled vertices")),
        (numbers("hubs, degrees and colours"), numbers("hubs, degrees and roots")),
        (set("vertices reached"), set("vertices that lead back")),
        part(EdgeMapper::bytes(graph.vertices()), || EdgeMapper::idle(graph)),
    )
}

/// The estimate for finding strongly connected components of this graph; the passes are those of most graphs.
pub(crate) fn estimate(graph: &Graph) -> Estimate {
    if !graph.is_directed() {
        return components::estimate(graph);
    }
    let reads = Reads { passes: 1.0, bound: Bound::Usual, pages_per_pass: graph.all_pages(), column_pages: 0 };
    reads.estimate(graph, state(graph).bytes(), vec![ColumnKind::Component])
}

/// Finds the strongly connected components: vertices are together if there are paths between them both ways, along the
/// direction of the edges.
///
/// Where edges have no direction these are what [`components`] finds.
///
/// # Errors
/// Too little memory (12.8 bytes per vertex), a page that cannot be read or is damaged, a request to stop.
pub fn strong_components(graph: &Graph, options: &StrongComponentsOptions) -> Result<Components> {
    if !graph.is_directed() {
        return components(graph, &ComponentsOptions::default());
    }
    let stats = StatsBuilder::of_image(graph.image());
    graph.make_room("strong components", estimate(graph).state_bytes)?;
    let ((labels, unsettled), (first, second), (reached, returned), mapper) = state(graph).make()?;
    let mut work = Work {
        graph,
        options: *options,
        classes: Classes { labels, unsettled },
        first,
        second,
        reached,
        returned,
        mapper,
        searched_pages: 0,
        edges: None,
        rounds: 0,
        stats,
    };
    graph.fill_cache()?;
    work.trim_by_hubs()?;
    work.giant()?;
    while work.classes.unsettled.count() > 0 && !work.finish_in_memory()? {
        work.count_degrees()?;
        work.trim()?;
        if !work.fits(work.edges) {
            work.colour()?;
        }
    }
    Components::new(graph, work.classes.labels, work.stats)
}

/// The number of vertices whose hubs are looked at to find pivots, and the greatest number of pivots.
const SAMPLES: usize = 4096;
const PIVOTS: usize = 4;
/// A component is the giant one if it has at least one in `GIANT_SHARE` of the unsettled vertices.
const GIANT_SHARE: u64 = 16;
/// The fixed cost of a step of a search, in pages.
const STEP_PAGES: u64 = 16;

struct Work<'a> {
    graph: &'a Graph,
    options: StrongComponentsOptions,
    classes: Classes,
    first: Buffer<AtomicU32>,
    second: Buffer<AtomicU32>,
    reached: Bitmap,
    returned: Bitmap,
    mapper: EdgeMapper<'a>,
    /// The cost of all searches so far, in pages.
    searched_pages: u64,
    /// The number of edges within classes of unsettled vertices, once they have been counted.
    edges: Option<u64>,
    /// The number of rounds of colouring so far.
    rounds: u32,
    stats: StatsBuilder,
}

impl Work<'_> {
    /// Reads the hubs, those of in-lists into `first` and those of out-lists into `second`, and settles the vertices
    /// without in-neighbours or without out-neighbours.
    fn trim_by_hubs(&mut self) -> Result<()> {
        for (direction, hubs) in [(Direction::In, &self.first), (Direction::Out, &self.second)] {
            let read = self.graph.for_each_hub(direction, |v, hub| store(hubs, v, hub))?;
            self.stats.step("hubs", self.graph.vertices(), read);
        }
        for_each_vertex(self.graph, |v| {
            if load(&self.first, v) == v || load(&self.second, v) == v {
                store(&self.classes.labels, v, v);
            } else {
                self.classes.unsettled.insert(v);
            }
        })
    }

    /// Unsettled vertices that are often hubs, of in-lists and of out-lists: they have great degrees both ways.
    fn pivots(&self) -> Vec<u32> {
        let unsettled = &self.classes.unsettled;
        let step = (unsettled.words() / SAMPLES).max(1);
        let samples = (0..unsettled.words()).step_by(step).filter_map(|i| unsettled.iter(i..i + 1).next());
        let hubs = samples.flat_map(|v| [(load(&self.first, v), true), (load(&self.second, v), false)]);
        let mut hubs: Vec<_> = hubs.filter(|&(hub, _)| unsettled.contains(hub)).collect();
        hubs.sort_unstable();
        let count = |run: &[(u32, bool)]| {
            let incoming = run.iter().filter(|&&(_, is_in)| is_in).count();
            (incoming.min(run.len() - incoming), run.len(), run[0].0)
        };
        let mut counts: Vec<_> = hubs.chunk_by(|a, b| a.0 == b.0).map(count).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts.into_iter().take(PIVOTS).map(|(_, _, hub)| hub).collect()
    }

    /// Settles the components of some pivots until one is the giant, unless the searches cost half as much as a pass
    /// over the lists of the unsettled vertices.
    fn giant(&mut self) -> Result<()> {
        let most_pages = Frontier::Set(&self.classes.unsettled).pages(self.graph, Direction::Out) / 2;
        for pivot in self.pivots() {
            let before = self.classes.unsettled.count();
            if !self.classes.unsettled.contains(pivot) {
                continue;
            }
            if !self.search(pivot, Direction::Out, most_pages)? || !self.search(pivot, Direction::In, most_pages)? {
                return Ok(());
            }
            self.settle_searched(pivot)?;
            if self.searched_pages > most_pages || (before - self.classes.unsettled.count()) * GIANT_SHARE >= before {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Settles the component of the pivot. Every class is parted into the vertices that the pivot reaches and the
    /// others.
    fn settle_searched(&self, pivot: u32) -> Result<()> {
        let smallest = self.returned.iter(0..self.returned.words()).next().unwrap_or(pivot);
        self.classes.for_each(self.graph, |v| match self.returned.contains(v) {
            true => self.classes.settle(v, smallest),
            false => {
                let class = 2 * load(&self.classes.labels, v) + u32::from(self.reached.contains(v));
                store(&self.classes.labels, v, class);
            }
        })
    }

    /// Finds the vertices that the pivot reaches, or, against the direction of the edges, those of them that lead back
    /// to it. `false` if it was given up: searches have cost more than `most_pages`, and all edges fit into memory.
    fn search(&mut self, pivot: u32, onwards: Direction, most_pages: u64) -> Result<bool> {
        let all_fit = self.fits(Some(self.graph.manifest().out_lists.entries));
        let (name, reach) = match onwards {
            Direction::Out => {
                ("forward", Reach { among: &self.classes.unsettled, reached: &self.reached, hubs: &self.first })
            }
            Direction::In => ("backward", Reach { among: &self.reached, reached: &self.returned, hubs: &self.second }),
        };
        reach.reached.clear();
        reach.reached.insert(pivot);
        self.mapper.restart(onwards, pivot)?;
        while self.mapper.active() > 0 {
            let step = self.mapper.step(&reach)?;
            self.stats.step(name, step.active, step.sweep);
            self.searched_pages += STEP_PAGES + step.sweep.pages_wanted;
            if all_fit && self.searched_pages > most_pages {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The greatest memory for finishing in memory, in bytes.
    fn room_bytes(&self) -> u64 {
        let room = self.graph.runtime().budget().available_bytes();
        self.options.in_memory_bytes.map_or(room, |bytes| bytes.min(room))
    }

    /// Whether this number of edges is known and can be finished in memory.
    fn fits(&self, edges: Option<u64>) -> bool {
        let bytes = |edges| Remainder::room(self.graph, self.classes.unsettled.count(), edges).bytes();
        edges.is_some_and(|edges| edges <= Remainder::MOST_EDGES && bytes(edges) <= self.room_bytes())
    }

    /// Finishes in memory. `false` if there is no room for the edges.
    fn finish_in_memory(&mut self) -> Result<bool> {
        if !self.fits(self.edges.or(Some(1))) {
            return Ok(false);
        }
        let vertices = self.classes.unsettled.count();
        let edges = match self.edges {
            Some(edges) => edges,
            None => self.most_edges(vertices)?,
        };
        let Classes { labels, unsettled } = &self.classes;
        let room = Remainder::room(self.graph, vertices, edges);
        self.graph.make_room("remaining edges", room.bytes())?;
        self.classes.for_each(self.graph, |v| store(&self.first, v, 0))?;
        let remainder = Remainder::new(room.make()?, &self.first);
        let add = |inner: &mut Vec<u32>, list: ListPart<'_>| {
            inner.clear();
            inner.extend(list.neighbours.iter().filter(|&&other| self.classes.join(list.vertex, other)));
            remainder.add(list.vertex, inner);
        };
        let (_, read) = scan(self.graph, Direction::Out, Frontier::Set(unsettled), Vec::new, add)?;
        self.stats.step("read what is left", vertices, read);
        if remainder.is_overfull() {
            return Ok(false);
        }
        self.classes.for_each(self.graph, |v| store(&self.second, v, 0))?;
        self.reached.clear();
        remainder.solve(self.graph.runtime(), unsettled, &self.second, &self.reached, labels)?;
        unsettled.clear();
        Ok(true)
    }

    /// An upper bound of the number of edges among unsettled vertices, or the number that there is room for if it is
    /// less.
    fn most_edges(&mut self, vertices: u64) -> Result<u64> {
        let listed = AtomicU64::new(0);
        let read = self.graph.for_each_degree(Direction::Out, |v, degree| {
            if self.classes.unsettled.contains(v) {
                listed.fetch_add(u64::from(degree), Relaxed);
            }
        })?;
        self.stats.other(read);
        let bytes = |vertices, edges| Remainder::room(self.graph, vertices, edges).bytes();
        let room = self.room_bytes().saturating_sub(bytes(vertices, 0)) / bytes(0, 1);
        Ok(listed.into_inner().min(room).min(Remainder::MOST_EDGES))
    }

    /// Counts the edges within classes of every unsettled vertex: the incoming ones in `first`, the outgoing ones in
    /// `second`.
    fn count_degrees(&mut self) -> Result<()> {
        self.graph.fill_cache()?;
        let (classes, incoming, outgoing) = (&self.classes, &self.first, &self.second);
        classes.for_each(self.graph, |v| {
            store(incoming, v, 0);
            store(outgoing, v, 0);
        })?;
        let read = for_each_list(self.graph, Direction::Out, Frontier::Set(&classes.unsettled), |list| {
            let mut count = 0;
            for &other in list.neighbours.iter().filter(|&&other| classes.join(list.vertex, other)) {
                incoming[other as usize].fetch_add(1, Relaxed);
                count += 1;
            }
            outgoing[list.vertex as usize].fetch_add(count, Relaxed);
        })?;
        self.stats.step("count degrees", classes.unsettled.count(), read);
        Ok(())
    }

    /// Settles the vertices without incoming edges, then those that this leaves without, and so on; then likewise those
    /// without outgoing ones, which leaves no vertex without incoming edges.
    fn trim(&mut self) -> Result<()> {
        for (onwards, degrees) in [(Direction::Out, &self.first), (Direction::In, &self.second)] {
            let (classes, trimmed) = (&self.classes, &self.reached);
            trimmed.clear();
            classes.for_each(self.graph, |v| {
                if load(degrees, v) == 0 {
                    trimmed.insert(v);
                }
            })?;
            self.mapper.restart_with(onwards, trimmed)?;
            spread(&mut self.mapper, &mut self.stats, "trim", |vertex, other, next| {
                if classes.join(vertex, other) && degrees[other as usize].fetch_sub(1, Relaxed) == 1 {
                    trimmed.insert(other);
                    next.activate(other);
                }
            })?;
            classes.for_each(self.graph, |v| {
                if trimmed.contains(v) {
                    classes.settle(v, v);
                }
            })?;
        }
        let edges = AtomicU64::new(0);
        self.classes.for_each(self.graph, |v| {
            edges.fetch_add(u64::from(load(&self.second, v)), Relaxed);
        })?;
        self.edges = Some(edges.into_inner());
        Ok(())
    }

    fn colour(&mut self) -> Result<()> {
        let Work { graph, classes, first, second, reached, mapper, rounds, stats, .. } = self;
        *rounds += 1;
        let round = Colouring { graph, number: *rounds, classes, colours: first, roots: second, settled: reached };
        round.settle_roots(mapper, stats)
    }
}

/// A search for all vertices of a set that can be reached, in no order.
struct Reach<'a> {
    among: &'a Bitmap,
    reached: &'a Bitmap,
    hubs: &'a [AtomicU32],
}

impl EdgeMap for Reach<'_> {
    #[inline]
    fn decide(&self, target: u32, _active: &Bitmap) -> Decision {
        if !self.among.contains(target) || self.reached.contains(target) {
            return Decision::Never;
        }
        if !self.reached.contains(load(self.hubs, target)) {
            return Decision::Read;
        }
        self.reached.insert(target);
        Decision::Now
    }

    #[inline]
    fn update(&self, _source: u32, target: u32) -> bool {
        self.among.contains(target) && self.reached.insert(target)
    }
}
