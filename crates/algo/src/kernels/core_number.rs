//! Core numbers: for every vertex, the greatest k such that it is in the k-core, the largest part of the graph in which
//! all degrees are at least k.
//!
//! *Idea.* Peeling (Matula and Beck, JACM 1983; Batagelj and Zaveršnik, 2003), level by level (Dasari, Ranjan, Zubair,
//! *ParK*, 2014): at level k, remove all vertices of which no more than k edges remain, take each of them off its
//! neighbours' degrees, and go on with those that fall to k. Each list is needed once, in parts and in no order. A
//! vertex whose page is in memory is removed at once, and in a large round one whose page is yet to come; small rounds
//! look up their few pages. A small round lists the vertices that fell, so that a path, which loses a vertex or two in
//! a round, is peeled without a look at the others. Degrees never fall below k, so in the end they are the core
//! numbers.
//!
//! *Self-loops* are left out; where the image may have some, a pass counts them first. In a directed graph the degree
//! of a vertex is its in-degree plus its out-degree, and both of its lists are visited when it is removed.
//!
//! *Encoding.* `degrees[v]` is the number of remaining edges; at most k means removed. `soon` holds the vertices that
//! remain with a degree below a horizon, so that a level begins without a look at all vertices.
//!
//! *Cost.* 4 bytes and 3 bits per vertex, 5 in directed graphs. Every list is visited once; a page is read as often as
//! there are rounds that remove vertices of it.

use crate::estimate::{Bound, Estimate, Reads, degree_pages};
use crate::state::{Layout, array, bitmap};
use crate::visit::{for_each_list, for_each_vertex, loops_in, may_have_loops};
use outcore_format::Lists;
use outcore_graph::{Bitmap, Direction, Frontier, Graph, Weights, scan_pages, vertex_map};
use outcore_image::{Error, Result, Stats, StatsBuilder, SweepStats};
use outcore_io::Buffer;
use outcore_io::buffer::prefetched;
use outcore_table::ColumnKind;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Options of core numbers: there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct CoreNumbersOptions {}

/// The core number of every vertex.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct CoreNumbers {
    /// Per vertex: its core number.
    pub cores: Buffer<u32>,
    /// The greatest core number.
    pub max_core: u32,
    /// Statistics of the run.
    pub stats: Stats,
}

/// Degrees, vertices of the next levels, and per direction those removed, and those of them that a sweep visits.
type State = (Buffer<AtomicU32>, Bitmap, Vec<(Bitmap, Bitmap)>);

fn state(graph: &Graph) -> impl Layout<Made = State> {
    let set = || bitmap(graph, "removed vertices", graph.vertices());
    let removed: Vec<_> = graph.directions().iter().map(|_| (set(), set())).collect();
    (array(graph, "degrees", graph.vertices()), set(), removed)
}

pub(crate) fn estimate(graph: &Graph) -> Estimate {
    let (pages_per_pass, column_pages) = (graph.all_pages(), degree_pages(graph));
    let reads = Reads { passes: 1.0, bound: Bound::AtLeast, pages_per_pass, column_pages };
    reads.estimate(graph, state(graph).bytes(), vec![ColumnKind::Number])
}

/// Finds the core number of every vertex.
///
/// # Errors
/// Too little memory (4.6 bytes per vertex), a vertex of more than 2^32 - 1 edges, a page that cannot be read or is
/// damaged, a request to stop.
pub fn core_number(graph: &Graph, _options: &CoreNumbersOptions) -> Result<CoreNumbers> {
    let mut stats = StatsBuilder::of_image(graph.image());
    graph.make_room("core numbers", estimate(graph).state_bytes)?;
    let mut peel = Peel::new(graph)?;
    graph.fill_cache()?;
    peel.count_edges(&mut stats)?;
    while let Some(mut removed) = peel.next_level()? {
        let mut total = SweepStats::default();
        while let Some((fallen, sweep)) = peel.round()? {
            removed += fallen;
            total.add(&sweep);
        }
        stats.step("level", removed, total);
    }
    let stats = stats.finish(graph.runtime(), graph.all_pages());
    Ok(CoreNumbers { cores: peel.degrees.into_values(), max_core: peel.k, stats })
}

/// A round over fewer vertices than this share of all looks up their pages.
const FEW_SHARE: u64 = 1 << 12;
/// A round over at most this number of vertices looks up their pages on any graph.
const LEAST_FEW: u64 = 64;
/// The number of levels whose vertices are marked at once.
const HORIZON_LEVELS: u32 = 64;

/// The part of the graph that remains.
struct Peel<'a> {
    graph: &'a Graph,
    /// The edges of a vertex that remain, at least k.
    degrees: Buffer<AtomicU32>,
    /// The level.
    k: u32,
    /// The vertices that remain with degrees below the horizon, and perhaps some that do not.
    soon: Bitmap,
    horizon: u32,
    /// Per direction, the removed vertices whose lists are yet to be visited.
    removed: Vec<Removed>,
}

/// Removed vertices whose lists of one direction are yet to be visited.
struct Removed {
    direction: Direction,
    set: Bitmap,
    /// The vertices that were there when the sweep began: their lists of several pages are visited in full.
    begun: Bitmap,
    /// The vertices of `set`, if it is known which they are; then `begun` is empty.
    list: Option<Vec<u32>>,
}

/// Vertices that fell to k.
#[derive(Default)]
struct Fallen {
    /// The places of vertices whose lists are in the page at hand.
    here: Vec<usize>,
    /// How many there were in all.
    count: u64,
    /// Vertices that joined the sets of removed ones, with the places of the sets, while they are few.
    joined: Vec<(usize, u32)>,
    /// Whether they are no longer few.
    many: bool,
}

impl Fallen {
    /// Notes that a vertex joined a set.
    fn join(&mut self, set: usize, vertex: u32, most: u64) {
        if self.joined.len() as u64 >= most {
            self.many = true;
        } else {
            self.joined.push((set, vertex));
        }
    }
}

impl<'a> Peel<'a> {
    fn new(graph: &'a Graph) -> Result<Self> {
        let (degrees, soon, sets) = state(graph).make()?;
        let removed = |(&direction, (set, begun))| Removed { direction, set, begun, list: None };
        let removed = graph.directions().iter().zip(sets).map(removed).collect();
        Ok(Peel { graph, degrees, k: 0, soon, horizon: 0, removed })
    }

    #[inline]
    fn degree(&self, vertex: u32) -> u32 {
        self.degrees[vertex as usize].load(Ordering::Relaxed)
    }

    /// Counts the edges of every vertex, self-loops left out.
    fn count_edges(&self, stats: &mut StatsBuilder) -> Result<()> {
        count_edges(self.graph, &self.degrees, stats)?;
        if !may_have_loops(self.graph) {
            return Ok(());
        }
        let times = self.graph.directions().len() as u32;
        let sweep = for_each_list(self.graph, Direction::Out, Frontier::All, |list| {
            let loops = loops_in(&list);
            if loops > 0 {
                self.degrees[list.vertex as usize].fetch_sub(times * loops, Ordering::Relaxed);
            }
        })?;
        stats.step("self-loops", self.graph.vertices(), sweep);
        Ok(())
    }

    /// Goes to the next level that has vertices and removes them; returns how many, or `None` behind the last one.
    fn next_level(&mut self) -> Result<Option<u64>> {
        let mut k = self.least(Some(&self.soon))?;
        if k == u32::MAX {
            k = self.least(None)?;
            if k == u32::MAX {
                return Ok(None);
            }
            self.horizon = k.saturating_add(HORIZON_LEVELS);
            self.mark_soon()?;
        }
        self.k = k;
        self.removed.iter_mut().for_each(|removed| removed.list = None);
        let count = AtomicU64::new(0);
        vertex_map(self.graph.runtime(), self.graph.vertices(), |range| {
            for vertex in self.soon.iter(Bitmap::words_of(&range)) {
                let degree = self.degree(vertex);
                if degree <= k {
                    self.soon.remove(vertex);
                }
                if degree == k {
                    count.fetch_add(1, Ordering::Relaxed);
                    self.removed.iter().for_each(|removed| _ = removed.set.insert(vertex));
                }
            }
            Ok(())
        })?;
        Ok(Some(count.into_inner()))
    }

    /// The least degree of the vertices that remain, of all or of a set.
    fn least(&self, set: Option<&Bitmap>) -> Result<u32> {
        let least = AtomicU32::new(u32::MAX);
        vertex_map(self.graph.runtime(), self.graph.vertices(), |range| {
            let remaining = |degree: &u32| *degree > self.k;
            let own = match set {
                Some(set) => {
                    set.iter(Bitmap::words_of(&range)).map(|vertex| self.degree(vertex)).filter(remaining).min()
                }
                None => range.map(|v| self.degree(v as u32)).filter(remaining).min(),
            };
            least.fetch_min(own.unwrap_or(u32::MAX), Ordering::Relaxed);
            Ok(())
        })?;
        Ok(least.into_inner())
    }

    /// Marks the vertices that remain with degrees below the horizon.
    fn mark_soon(&self) -> Result<()> {
        for_each_vertex(self.graph, |v| {
            if (self.k + 1..self.horizon).contains(&self.degree(v)) {
                self.soon.insert(v);
            }
        })
    }

    /// Visits lists of removed vertices; returns how many other vertices fell to k, and what was read, or nothing if
    /// there are none.
    fn round(&mut self) -> Result<Option<(u64, SweepStats)>> {
        let (mut begun, mut count, mut total) = (0, 0, SweepStats::default());
        for place in 0..self.removed.len() {
            let most = self.most_listed();
            let (here, few) = self.removed[place].begin(self.graph, most)?;
            if here == 0 {
                continue;
            }
            let removed = &self.removed[place];
            let frontier = few.as_deref().map_or(Frontier::Set(&removed.set), Frontier::List);
            let visit = |fallen: &mut Fallen, lists: &Lists, _: Weights<'_>| {
                frontier.wanted(lists, |i| {
                    if few.is_some() || removed.wants(lists, i) {
                        self.remove(removed, lists, i, fallen);
                    }
                    while let Some(place) = fallen.here.pop() {
                        self.remove(removed, lists, place, fallen);
                    }
                });
            };
            let (fallen, sweep) = scan_pages(self.graph, removed.direction, frontier, Fallen::default, visit)?;
            count += fallen.iter().map(|fallen| fallen.count).sum::<u64>();
            begun += here;
            total.add(&sweep);
            self.note_joined(&fallen, few.is_some());
        }
        Ok((begun > 0).then_some((count, total)))
    }

    /// The most vertices whose pages are looked up.
    fn most_listed(&self) -> u64 {
        (self.graph.vertices() / FEW_SHARE).max(LEAST_FEW)
    }

    /// Notes the vertices that joined the sets in a sweep; `few` if the set of the sweep has lost all that it had.
    fn note_joined(&mut self, fallen: &[Fallen], few: bool) {
        let known = few && !fallen.iter().any(|fallen| fallen.many);
        for removed in &mut self.removed {
            removed.list = removed.list.take().filter(|_| known);
        }
        for &(set, vertex) in fallen.iter().flat_map(|fallen| &fallen.joined) {
            if let Some(list) = &mut self.removed[set].list {
                list.push(vertex);
            }
        }
    }

    /// Takes the edges of a removed vertex, or those in a part of its list, off its neighbours.
    #[inline]
    fn remove(&self, removed: &Removed, lists: &Lists, place: usize, fallen: &mut Fallen) {
        let neighbours = lists.list(place);
        for vertex in prefetched(&self.degrees, neighbours) {
            if !self.lower(vertex) {
                continue;
            }
            let here = u64::from(vertex).checked_sub(lists.first_vertex).map(|place| place as usize);
            let here = here.filter(|&place| place < lists.count && !is_part(lists, place));
            fallen.count += 1;
            fallen.here.extend(here);
            for (place, other) in self.removed.iter().enumerate() {
                if (here.is_none() || other.direction != removed.direction) && other.set.insert(vertex) {
                    fallen.join(place, vertex, self.most_listed());
                }
            }
        }
    }

    /// Takes an edge off a vertex that remains; returns whether it falls to k, which removes it.
    #[inline]
    fn lower(&self, vertex: u32) -> bool {
        let lower = |degree: u32| (degree > self.k).then(|| degree - 1);
        let slot = &self.degrees[vertex as usize];
        let Ok(before) = slot.fetch_update(Ordering::Relaxed, Ordering::Relaxed, lower) else { return false };
        if before == self.k + 1 {
            self.soon.remove(vertex);
        } else if before == self.horizon {
            // If it falls to k before it is marked, the mark stays; the next level finds its degree too small.
            self.soon.insert(vertex);
        }
        before == self.k + 1
    }
}

impl Removed {
    /// Begins a sweep; returns how many vertices there are, and takes them out, in rising order, if they are not more
    /// than `most`.
    fn begin(&mut self, graph: &Graph, most: u64) -> Result<(u64, Option<Vec<u32>>)> {
        if let Some(mut list) = self.list.take() {
            let few = list.len() as u64 <= most;
            if few {
                list.iter().for_each(|&vertex| self.set.remove(vertex));
                list.sort_unstable();
                self.list = Some(Vec::new());
                return Ok((list.len() as u64, Some(list)));
            }
        }
        let here = self.begin_all(graph)?;
        if here > most {
            return Ok((here, None));
        }
        let list: Vec<u32> = self.set.iter(0..self.set.words()).collect();
        for &vertex in &list {
            self.set.remove(vertex);
            self.begun.remove(vertex);
        }
        self.list = Some(Vec::new());
        Ok((here, Some(list)))
    }

    /// Begins a sweep over the whole set; returns how many vertices there are.
    fn begin_all(&self, graph: &Graph) -> Result<u64> {
        let count = AtomicU64::new(0);
        vertex_map(graph.runtime(), graph.vertices(), |range| {
            let mut here = 0;
            for i in Bitmap::words_of(&range) {
                let (set, begun) = (self.set.word(i), self.begun.word(i));
                if set | begun != 0 {
                    // Lists of several pages that were visited are still in the set.
                    self.set.set_word(i, set & !begun);
                    self.begun.set_word(i, set & !begun);
                    here += u64::from((set & !begun).count_ones());
                }
            }
            count.fetch_add(here, Ordering::Relaxed);
            Ok(())
        })?;
        Ok(count.into_inner())
    }

    /// Whether a list of a vertex in the set is to be visited now. One of several pages waits for the next sweep unless
    /// it was there when this one began; others leave the set here.
    #[inline]
    fn wants(&self, lists: &Lists, place: usize) -> bool {
        let vertex = lists.first_vertex as u32 + place as u32;
        if is_part(lists, place) {
            return self.begun.contains(vertex);
        }
        self.set.remove(vertex);
        true
    }
}

/// Whether the list at a place of a page is only a part of one.
#[inline]
fn is_part(lists: &Lists, place: usize) -> bool {
    place == 0 && lists.begins_earlier || place + 1 == lists.count && lists.ends_later
}

/// Adds the lengths of every vertex's lists up in `degrees`, which are zero before.
pub(crate) fn count_edges(graph: &Graph, degrees: &[AtomicU32], stats: &mut StatsBuilder) -> Result<()> {
    let too_many = AtomicU64::new(u64::MAX);
    for &direction in graph.directions() {
        stats.other(graph.for_each_degree(direction, |vertex, degree| {
            let slot = &degrees[vertex as usize];
            match slot.load(Ordering::Relaxed).checked_add(degree) {
                Some(sum) => slot.store(sum, Ordering::Relaxed),
                None => _ = too_many.fetch_min(u64::from(vertex), Ordering::Relaxed),
            }
        })?);
    }
    let Ok(vertex) = u32::try_from(too_many.into_inner()) else { return Ok(()) };
    let id = graph.id(vertex)?;
    Err(Error::Unsuitable(format!("expected vertices of at most {} edges, found more at {id}", u32::MAX)))
}
