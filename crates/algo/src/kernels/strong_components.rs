//! Strongly connected components.
//!
//! *Idea.* Four ways, each for the part of the graph that it is good at, by what they read:
//!
//! 1. *Trim.* A vertex without an in-neighbour or without an out-neighbour is a component of its own. The hub columns
//!    say who has none but itself, without a list.
//! 2. *Forward-backward.* The vertices that a pivot of great degree reaches and that reach it are the giant component,
//!    or another pivot is tried: two searches among the vertices left, the second among what the first found. A vertex
//!    whose hub is found is found, without its list.
//! 3. *In memory.* The edges among the vertices left are read once, if there is room for them, and Tarjan's algorithm
//!    finishes.
//! 4. *Colouring*, where there is no room. Degrees among the vertices left are counted, and who has none is trimmed,
//!    then whom that leaves without, from a worklist. Labels then travel forward, the smallest wins, and each vertex
//!    has the label of a root: its component is what reaches the root within its colour. Edges between colours join no
//!    components, so colours become the classes within which it goes on. Labels are in a new random order every time,
//!    so that a chain of components takes a number of rounds that is the logarithm of its length.
//!
//! Searches that come to cost half of what reading all lists left would, as on a long cycle, are given up where there
//! is room for the third way.
//!
//! Fleischer, Hendrickson, Pinar, *On identifying strongly connected components in parallel*, IPDPS workshops 2000;
//! McLendon, Hendrickson, Plimpton, Rauchwerger, *Finding strongly connected components in distributed graphs*, JPDC
//! 65, 2005; Slota, Rajamanickam, Madduri, *BFS and coloring-based parallel algorithms for strongly connected
//! components and related problems*, IPDPS 2014; Pearce, *A space-efficient algorithm for finding strongly connected
//! components*, IPL 116, 2016. Hubs in the place of lists, and choosing by bytes, are Outcore's.
//!
//! *Encoding.* `labels[v]` is the component of a settled vertex and the class of one that is left. Which representative
//! a component had on the way depends on chance, the partition does not, and the label is the smallest member.
//!
//! *Cost.* 12 bytes and 6 bits per vertex, and 8 bytes per edge that is finished in memory. On graphs with hubs about a
//! tenth of the pages; on others up to two passes, and more where colouring has to do it.

use crate::estimate::{Bound, Cost, Estimate};
use crate::kernels::components::{self, Components, ComponentsOptions, components};
use crate::kernels::tarjan::Remainder;
use crate::state::{Layout, array, bitmap, part};
use outcore_graph::{
    Bitmap, Decision, Direction, EdgeMap, EdgeMapper, Frontier, Graph, ListPart, Next, scan, vertex_map,
};
use outcore_image::{Result, StatsBuilder};
use outcore_io::Array;
use outcore_table::ColumnKind;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// How strongly connected components are computed.
#[derive(Clone, Copy, Debug, Default)]
pub struct StrongComponentsOptions {
    /// The most memory for edges that are finished in memory; `None` takes what the limit leaves.
    pub in_memory_bytes: Option<u64>,
}

/// Labels and the vertices left, two numbers per vertex, vertices that searches found, and the frontier.
type State<'g> = ((Array<AtomicU32>, Bitmap), (Array<AtomicU32>, Array<AtomicU32>), (Bitmap, Bitmap), EdgeMapper<'g>);

fn state(graph: &Graph) -> impl Layout<Made = State<'_>> {
    let (numbers, set) = (|name| array(graph, name, graph.vertices()), |name| bitmap(graph, name, graph.vertices()));
    (
        (numbers("strong components"), set("vertices left")),
        (numbers("hubs, degrees and colours"), numbers("hubs, degrees and roots")),
        (set("vertices found"), set("vertices that lead back")),
        part(EdgeMapper::bytes(graph.vertices()), || EdgeMapper::idle(graph)),
    )
}

/// The estimate for finding strongly connected components of this graph; the passes are those of most graphs.
pub(crate) fn estimate_strong_components(graph: &Graph) -> Estimate {
    if !graph.is_directed() {
        return components::estimate_components(graph);
    }
    Cost {
        state_bytes: state(graph).bytes(),
        passes: 1.0,
        bound: Bound::Usual,
        pages_per_pass: graph.all_pages(),
        more_pages: 0,
        columns: vec![ColumnKind::Component],
        more_result_bytes: 0,
    }
    .estimate(graph)
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
    let stats = StatsBuilder::of(graph.runtime());
    graph.make_room("strong components", estimate_strong_components(graph).state_bytes)?;
    let ((labels, left), (first, second), (found, returned), mapper) = state(graph).make()?;
    let mut work = Work {
        graph,
        options: *options,
        classes: Classes { labels, left },
        first,
        second,
        found,
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
    while work.classes.left.count() > 0 && !work.finish_in_memory()? {
        work.count_degrees()?;
        work.trim()?;
        if !work.fits(work.edges) {
            work.colour()?;
        }
    }
    Components::new(graph, work.classes.labels, work.stats)
}

/// How many vertices are asked for their hubs to find pivots, and how many of these are tried at most.
const SAMPLES: usize = 4096;
const PIVOTS: usize = 4;
/// A component is the giant one if it has one of so many vertices that are left.
const GIANT_SHARE: u64 = 16;
/// The fixed cost of a step of a search, in pages.
const STEP_PAGES: u64 = 16;

/// The components found so far.
struct Classes {
    /// The component of a settled vertex, the class of one that is left. Components lie within classes.
    labels: Array<AtomicU32>,
    /// The vertices whose component is not known.
    left: Bitmap,
}

impl Classes {
    /// Whether an edge between these vertices matters, the first of which is left: both are, and they are of one class.
    #[inline]
    fn join(&self, vertex: u32, other: u32) -> bool {
        self.left.contains(other) && vertex != other && load(&self.labels, vertex) == load(&self.labels, other)
    }

    fn settle(&self, vertex: u32, label: u32) {
        store(&self.labels, vertex, label);
        self.left.remove(vertex);
    }

    /// Calls `visit` with every vertex that is left, on all workers.
    fn for_each_left(&self, graph: &Graph, visit: impl Fn(u32) + Sync) -> Result<()> {
        vertex_map(graph.runtime(), graph.vertices(), |range| {
            self.left.iter(Bitmap::words_of(&range)).for_each(&visit);
            Ok(())
        })
    }
}

#[inline]
fn load(values: &[AtomicU32], vertex: u32) -> u32 {
    values[vertex as usize].load(Relaxed)
}

#[inline]
fn store(values: &[AtomicU32], vertex: u32, value: u32) {
    values[vertex as usize].store(value, Relaxed);
}

/// The search, under way.
struct Work<'a> {
    graph: &'a Graph,
    options: StrongComponentsOptions,
    classes: Classes,
    first: Array<AtomicU32>,
    second: Array<AtomicU32>,
    found: Bitmap,
    returned: Bitmap,
    mapper: EdgeMapper<'a>,
    /// The cost of all searches so far, in pages.
    searched_pages: u64,
    /// How many edges matter, once they have been counted.
    edges: Option<u64>,
    /// How many rounds of colouring there were.
    rounds: u32,
    stats: StatsBuilder,
}

impl Work<'_> {
    /// Reads the hubs, those of in-lists into `first` and those of out-lists into `second`, and settles the vertices
    /// that have none.
    fn trim_by_hubs(&mut self) -> Result<()> {
        for (direction, hubs) in [(Direction::In, &self.first), (Direction::Out, &self.second)] {
            let read = self.graph.for_each_hub(direction, |v, hub| store(hubs, v, hub))?;
            self.stats.step("hubs", self.graph.vertices(), read);
        }
        vertex_map(self.graph.runtime(), self.graph.vertices(), |range| {
            for v in range.start as u32..range.end as u32 {
                if load(&self.first, v) == v || load(&self.second, v) == v {
                    store(&self.classes.labels, v, v);
                } else {
                    self.classes.left.insert(v);
                }
            }
            Ok(())
        })
    }

    /// Vertices that are hubs often, of in-lists and of out-lists, among those left: they have great degrees both ways.
    fn pivots(&self) -> Vec<u32> {
        let left = &self.classes.left;
        let step = (left.words() / SAMPLES).max(1);
        let samples = (0..left.words()).step_by(step).filter_map(|i| left.iter(i..i + 1).next());
        let hubs = samples.flat_map(|v| [(load(&self.first, v), true), (load(&self.second, v), false)]);
        let mut hubs: Vec<_> = hubs.filter(|&(hub, _)| left.contains(hub)).collect();
        hubs.sort_unstable();
        let count = |run: &[(u32, bool)]| {
            let incoming = run.iter().filter(|&&(_, is_in)| is_in).count();
            (incoming.min(run.len() - incoming), run.len(), run[0].0)
        };
        let mut counts: Vec<_> = hubs.chunk_by(|a, b| a.0 == b.0).map(count).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts.into_iter().take(PIVOTS).map(|(_, _, hub)| hub).collect()
    }

    /// Settles the components of some pivots until one is the giant, unless that comes to cost half as much as a pass
    /// over the lists that are left.
    fn giant(&mut self) -> Result<()> {
        let most_pages = Frontier::Set(&self.classes.left).pages(self.graph, Direction::Out) / 2;
        for pivot in self.pivots() {
            let left = self.classes.left.count();
            if !self.classes.left.contains(pivot) {
                continue;
            }
            if !self.search(pivot, Direction::Out, most_pages)? || !self.search(pivot, Direction::In, most_pages)? {
                return Ok(());
            }
            self.settle_searched(pivot)?;
            if self.searched_pages > most_pages || (left - self.classes.left.count()) * GIANT_SHARE >= left {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Settles the component of the pivot. Every class is parted into what the pivot reaches and the rest.
    fn settle_searched(&self, pivot: u32) -> Result<()> {
        let smallest = self.returned.iter(0..self.returned.words()).next().unwrap_or(pivot);
        self.classes.for_each_left(self.graph, |v| match self.returned.contains(v) {
            true => self.classes.settle(v, smallest),
            false => {
                let class = 2 * load(&self.classes.labels, v) + u32::from(self.found.contains(v));
                store(&self.classes.labels, v, class);
            }
        })
    }

    /// Finds what the pivot reaches, or, against the direction of the edges, what of that leads back to it. `false` if
    /// it was given up: searches have cost more than `most_pages`, and all edges fit into memory.
    fn search(&mut self, pivot: u32, onwards: Direction, most_pages: u64) -> Result<bool> {
        let all_fit = self.fits(Some(self.graph.manifest().out_lists.entries));
        let (name, reach) = match onwards {
            Direction::Out => ("forward", Reach { among: &self.classes.left, found: &self.found, hubs: &self.first }),
            Direction::In => ("backward", Reach { among: &self.found, found: &self.returned, hubs: &self.second }),
        };
        reach.found.clear();
        reach.found.insert(pivot);
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

    /// The most memory for finishing.
    fn room_bytes(&self) -> u64 {
        let room = self.graph.runtime().budget().available_bytes();
        self.options.in_memory_bytes.map_or(room, |bytes| bytes.min(room))
    }

    /// Whether so many edges, if that is known, can be finished in memory.
    fn fits(&self, edges: Option<u64>) -> bool {
        let bytes = |edges| Remainder::room(self.graph, self.classes.left.count(), edges).bytes();
        edges.is_some_and(|edges| edges <= Remainder::MOST_EDGES && bytes(edges) <= self.room_bytes())
    }

    /// Finishes in memory. `false` if there is no room for the edges, as far as they are known or it turned out.
    fn finish_in_memory(&mut self) -> Result<bool> {
        if !self.fits(self.edges.or(Some(1))) {
            return Ok(false);
        }
        let vertices = self.classes.left.count();
        let edges = match self.edges {
            Some(edges) => edges,
            None => self.most_edges(vertices)?,
        };
        let Classes { labels, left } = &self.classes;
        let room = Remainder::room(self.graph, vertices, edges);
        self.graph.make_room("edges that are left", room.bytes())?;
        self.classes.for_each_left(self.graph, |v| store(&self.first, v, 0))?;
        let remainder = Remainder::new(room.make()?, &self.first);
        let add = |inner: &mut Vec<u32>, list: ListPart<'_>| {
            inner.clear();
            inner.extend(list.neighbours.iter().filter(|&&other| self.classes.join(list.vertex, other)));
            remainder.add(list.vertex, inner);
        };
        let (_, read) = scan(self.graph, Direction::Out, Frontier::Set(left), Vec::new, add)?;
        self.stats.step("read what is left", vertices, read);
        if remainder.is_overfull() {
            return Ok(false);
        }
        self.classes.for_each_left(self.graph, |v| store(&self.second, v, 0))?;
        self.found.clear();
        remainder.solve(self.graph.runtime(), left, &self.second, &self.found, labels)?;
        left.clear();
        Ok(true)
    }

    /// How many edges the vertices that are left have at most, or how many of them there is room for.
    fn most_edges(&mut self, vertices: u64) -> Result<u64> {
        let listed = AtomicU64::new(0);
        let read = self.graph.for_each_degree(Direction::Out, |v, degree| {
            if self.classes.left.contains(v) {
                listed.fetch_add(u64::from(degree), Relaxed);
            }
        })?;
        self.stats.other(read);
        let bytes = |vertices, edges| Remainder::room(self.graph, vertices, edges).bytes();
        let room = self.room_bytes().saturating_sub(bytes(vertices, 0)) / bytes(0, 1);
        Ok(listed.into_inner().min(room).min(Remainder::MOST_EDGES))
    }

    /// Counts the edges that matter of every vertex that is left: the incoming ones in `first`, the outgoing ones in
    /// `second`.
    fn count_degrees(&mut self) -> Result<()> {
        self.graph.fill_cache()?;
        let (classes, incoming, outgoing) = (&self.classes, &self.first, &self.second);
        classes.for_each_left(self.graph, |v| {
            store(incoming, v, 0);
            store(outgoing, v, 0);
        })?;
        let frontier = Frontier::Set(&classes.left);
        let (_, read) = scan(
            self.graph,
            Direction::Out,
            frontier,
            || (),
            |(), list| {
                let mut count = 0;
                for &other in list.neighbours.iter().filter(|&&other| classes.join(list.vertex, other)) {
                    incoming[other as usize].fetch_add(1, Relaxed);
                    count += 1;
                }
                outgoing[list.vertex as usize].fetch_add(count, Relaxed);
            },
        )?;
        self.stats.step("count degrees", classes.left.count(), read);
        Ok(())
    }

    /// Settles the vertices without incoming edges, those whom that leaves without, and so on; then likewise those
    /// without outgoing ones. That makes none without incoming edges again.
    fn trim(&mut self) -> Result<()> {
        for (onwards, degrees) in [(Direction::Out, &self.first), (Direction::In, &self.second)] {
            let (classes, trimmed) = (&self.classes, &self.found);
            trimmed.clear();
            classes.for_each_left(self.graph, |v| {
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
            classes.for_each_left(self.graph, |v| {
                if trimmed.contains(v) {
                    classes.settle(v, v);
                }
            })?;
        }
        let edges = AtomicU64::new(0);
        self.classes.for_each_left(self.graph, |v| {
            edges.fetch_add(u64::from(load(&self.second, v)), Relaxed);
        })?;
        self.edges = Some(edges.into_inner());
        Ok(())
    }

    /// Settles the component of every root of a colour, and makes colours classes.
    fn colour(&mut self) -> Result<()> {
        self.rounds += 1;
        let (classes, colours, roots, settled) = (&self.classes, &self.first, &self.second, &self.found);
        let colour_of = |v: u32| mix(v ^ self.rounds);
        classes.for_each_left(self.graph, |v| store(colours, v, colour_of(v)))?;
        self.mapper.restart_with(Direction::Out, &classes.left)?;
        spread(&mut self.mapper, &mut self.stats, "colour", |vertex, other, next| {
            let colour = load(colours, vertex);
            if classes.join(vertex, other)
                && load(colours, other) > colour
                && colours[other as usize].fetch_min(colour, Relaxed) > colour
            {
                next.activate(other);
            }
        })?;
        settled.clear();
        classes.for_each_left(self.graph, |v| {
            if load(colours, v) == colour_of(v) {
                store(roots, v, v);
                settled.insert(v);
            }
        })?;
        self.mapper.restart_with(Direction::In, settled)?;
        spread(&mut self.mapper, &mut self.stats, "lead back", |vertex, other, next| {
            if classes.join(vertex, other) && load(colours, vertex) == load(colours, other) && settled.insert(other) {
                store(roots, other, load(roots, vertex));
                next.activate(other);
            }
        })?;
        // Colours of settled vertices are of no use any more: the roots' become their smallest members.
        classes.for_each_left(self.graph, |v| match settled.contains(v) {
            true => store(colours, v, u32::MAX),
            false => store(&classes.labels, v, load(colours, v)),
        })?;
        classes.for_each_left(self.graph, |v| {
            if settled.contains(v) {
                colours[load(roots, v) as usize].fetch_min(v, Relaxed);
            }
        })?;
        classes.for_each_left(self.graph, |v| {
            if settled.contains(v) {
                classes.settle(v, load(colours, load(roots, v)));
            }
        })
    }
}

/// Takes steps until no vertex is active.
fn spread(
    mapper: &mut EdgeMapper<'_>,
    stats: &mut StatsBuilder,
    name: &'static str,
    visit: impl Fn(u32, u32, &mut Next<'_>) + Sync,
) -> Result<()> {
    while mapper.active() > 0 {
        let step = mapper.push_step(&visit)?;
        stats.step(name, step.active, step.sweep);
    }
    Ok(())
}

/// Another number for every number, in an order as good as random (Appleby's finalizer of MurmurHash3).
fn mix(mut value: u32) -> u32 {
    value = (value ^ value >> 16).wrapping_mul(0x85eb_ca6b);
    value = (value ^ value >> 13).wrapping_mul(0xc2b2_ae35);
    value ^ value >> 16
}

/// A search for all that can be reached, in no order.
struct Reach<'a> {
    among: &'a Bitmap,
    found: &'a Bitmap,
    hubs: &'a [AtomicU32],
}

impl EdgeMap for Reach<'_> {
    #[inline]
    fn decide(&self, target: u32, _active: &Bitmap) -> Decision {
        if !self.among.contains(target) || self.found.contains(target) {
            return Decision::Never;
        }
        if !self.found.contains(load(self.hubs, target)) {
            return Decision::Read;
        }
        self.found.insert(target);
        Decision::Now
    }

    #[inline]
    fn update(&self, _source: u32, target: u32) -> bool {
        self.among.contains(target) && self.found.insert(target)
    }
}
