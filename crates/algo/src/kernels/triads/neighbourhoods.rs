//! Neighbourhoods: the neighbours of adjacent vertices in memory, as sets, whatever direction their edges have.
//!
//! The vertices are cut into chunks of which one is in memory at a time. Loading one copies its lists, one direction
//! after the other. [`Neighbourhoods::of`] merges a vertex's lists into a set, without the vertex itself and without
//! parallel edges.
//!
//! *Cost.* 4 bytes per entry of a chunk's lists and 8 per vertex of it, in each direction, and 32 per list that spans
//! pages; every page is read once for all chunks that follow one another, and those on which two chunks border twice.

use crate::estimate::{all_entries, longest_lists};
use crate::state::{Layout, array, reservation};
use outcore_graph::{Direction, Frontier, Graph, ListPart, scan};
use outcore_image::{Error, Result, StatsBuilder, SweepStats};
use outcore_io::{Buffer, Reservation};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Words for where a list begins and ends.
const STARTS: u64 = 2;
/// Memory of the record of a list that spans pages, in bytes.
const SPLIT_BYTES: u64 = 32;

pub(crate) struct Neighbours {
    /// In rising order.
    pub vertices: Vec<u32>,
    /// For each of them 1 if edges lead both ways, else 0.
    pub both: Vec<u8>,
    _reservation: Reservation,
}

impl Neighbours {
    /// Room for those of any vertex.
    pub fn layout(graph: &Graph) -> impl Layout<Made = Self> {
        let most = longest_lists(graph);
        reservation(graph, "neighbours", 5 * most).then(move |_reservation| {
            let (vertices, both) = (Vec::with_capacity(most as usize), Vec::with_capacity(most as usize));
            Ok(Neighbours { vertices, both, _reservation })
        })
    }

    fn push(&mut self, vertex: u32, both: bool) {
        self.vertices.push(vertex);
        self.both.push(u8::from(both));
    }
}

/// The chunk of vertices whose neighbours are in memory.
pub(crate) struct Neighbourhoods<'g> {
    pub graph: &'g Graph,
    /// Where chunks begin, and where the last one ends.
    cuts: Vec<Cut>,
    sides: Vec<Side>,
    /// The lists of the chunk, one direction after the other.
    entries: Buffer<AtomicU32>,
    loaded: Option<usize>,
}

struct Cut {
    vertex: u32,
    /// How many entries lie before its list in each direction.
    entries: Vec<u64>,
}

/// The lists of one direction.
struct Side {
    direction: Direction,
    /// Where the list of every vertex of the chunk begins and ends.
    starts: Buffer<AtomicU32>,
    ends: Buffer<AtomicU32>,
    /// Where the entries begin of which these are the places.
    first_entry: usize,
    /// The lists that span pages: the vertex, and how many entries it has.
    split: Vec<(u32, u32)>,
    _split: Reservation,
}

/// The places of a chunk's lists, which are assigned as the lists come.
struct Slots<'a> {
    side: &'a Side,
    entries: &'a [AtomicU32],
    first_vertex: u32,
    /// The places of lists that span pages, assigned when the first part comes.
    split: (&'a [(u32, u32)], Vec<OnceLock<usize>>),
    /// The first free place.
    next: AtomicUsize,
}

impl<'g> Neighbourhoods<'g> {
    /// The greatest memory of a chunk of `entries` entries, in bytes, beside [`Neighbourhoods::split_bytes`].
    pub fn bytes(graph: &Graph, entries: u64) -> u64 {
        4 * (2 * entries + STARTS * graph.directions().len() as u64)
    }

    /// Memory of the records of lists that span pages, in bytes: 32 for each list, at most one list per page.
    pub fn split_bytes(graph: &Graph) -> u64 {
        SPLIT_BYTES * graph.all_pages()
    }

    /// The greatest number of cuts between chunks of at most `entries` entries: two chunks have more entries than one
    /// has room for, or one has as many starts and ends of lists.
    pub fn most_cuts(graph: &Graph, entries: u64) -> u64 {
        let places = STARTS * graph.directions().len() as u64 * graph.vertices();
        (2 * all_entries(graph) + places) / entries
    }

    /// Cuts the vertices into chunks of at most `entries` entries; none is loaded yet.
    pub fn new(graph: &'g Graph, entries: u64, stats: &mut StatsBuilder) -> Result<Self> {
        let degrees = graph.directions().iter().map(|&direction| {
            let (degrees, sweep) = graph.degrees(direction)?;
            stats.other(sweep);
            Ok(degrees)
        });
        let degrees = degrees.collect::<Result<Vec<_>>>()?;
        let cuts = cuts(graph.vertices() as u32, &degrees, entries);
        let most = |value: &dyn Fn(&Cut) -> u64| {
            cuts.windows(2).map(|pair| value(&pair[1]) - value(&pair[0])).max().unwrap_or(0)
        };
        let most_vertices = most(&|cut| u64::from(cut.vertex));
        let side = |(place, &direction): (usize, &Direction)| {
            let places = || array(graph, "where lists begin", most_vertices);
            let split = reservation(graph, "lists that span pages", SPLIT_BYTES * graph.pages(direction));
            let (starts, ends, _split) = (places(), places(), split).make()?;
            let degree = |vertex: u32| degrees[place][vertex as usize].load(Ordering::Relaxed);
            let split = graph.lists_over_pages(direction).into_iter().map(|vertex| (vertex, degree(vertex))).collect();
            Ok(Side { direction, starts, ends, first_entry: 0, split, _split })
        };
        let sides = graph.directions().iter().enumerate().map(side).collect::<Result<_>>()?;
        // A chunk may have out-lists only, and another in-lists only: both use the same memory.
        let entries = array(graph, "lists", most(&|cut| cut.entries.iter().sum())).make()?;
        Ok(Neighbourhoods { graph, cuts, sides, entries, loaded: None })
    }

    pub fn chunks(&self) -> usize {
        self.cuts.len() - 1
    }

    pub fn range(&self, chunk: usize) -> Range<u32> {
        self.cuts[chunk].vertex..self.cuts[chunk + 1].vertex
    }

    /// The number of entries of a chunk by the degrees, in all directions together.
    pub fn entries(&self, chunk: usize) -> u64 {
        self.cuts[chunk + 1].entries.iter().zip(&self.cuts[chunk].entries).map(|(end, start)| end - start).sum()
    }

    /// Brings a chunk into memory, unless it is there.
    pub fn load(&mut self, chunk: usize) -> Result<SweepStats> {
        let mut stats = SweepStats::default();
        if self.loaded == Some(chunk) {
            return Ok(stats);
        }
        self.loaded = None;
        let vertices = self.range(chunk);
        let mut end_entry = 0;
        for (place, side) in self.sides.iter_mut().enumerate() {
            let expected = self.cuts[chunk + 1].entries[place] - self.cuts[chunk].entries[place];
            let frontier = Frontier::Range { first: vertices.start, end: vertices.end };
            side.first_entry = end_entry;
            end_entry += expected as usize;
            let slots = Slots::new(side, &self.entries[side.first_entry..end_entry], &vertices);
            let copy = |copied: &mut u64, list: ListPart<'_>| *copied += slots.copy(list);
            let (copied, sweep) = scan(self.graph, side.direction, frontier, || 0, copy)?;
            stats.add(&sweep);
            let copied = copied.iter().sum::<u64>();
            if copied != expected {
                let expected = format!("{expected} entries in the lists of the vertices {vertices:?}");
                return Err(Error::damaged(self.graph.path(), 0, expected, format!("{copied} of them")));
            }
        }
        self.loaded = Some(chunk);
        Ok(stats)
    }

    /// Writes the neighbours of a vertex of the loaded chunk to `neighbours`.
    #[inline]
    pub fn of(&self, vertex: u32, neighbours: &mut Neighbours) {
        let chunk = self.loaded.expect("a chunk is loaded");
        let place = (vertex - self.cuts[chunk].vertex) as usize;
        neighbours.vertices.clear();
        neighbours.both.clear();
        match &self.sides[..] {
            [side] => {
                let mut before = vertex;
                for neighbour in side.list(&self.entries, place).iter().map(|entry| entry.load(Ordering::Relaxed)) {
                    if neighbour != before && neighbour != vertex {
                        neighbours.vertices.push(neighbour);
                    }
                    before = neighbour;
                }
                neighbours.both.resize(neighbours.vertices.len(), 0);
            }
            sides => {
                let list = |side: usize| sides[side].list(&self.entries, place);
                merge(list(0), list(1), vertex, neighbours);
            }
        }
    }
}

/// The starts of the chunks, and the end of the last: each has at most `entries` entries, and as many starts and ends
/// of lists.
fn cuts(vertices: u32, degrees: &[Buffer<AtomicU32>], entries: u64) -> Vec<Cut> {
    let (mut cuts, mut edges, mut here) = (Vec::new(), vec![0; degrees.len()], u64::MAX);
    let mut begun = 0;
    for vertex in 0..vertices {
        let degree = |side: usize| u64::from(degrees[side][vertex as usize].load(Ordering::Relaxed));
        let all: u64 = (0..degrees.len()).map(degree).sum();
        let places = STARTS * degrees.len() as u64 * u64::from(vertex - begun);
        if here.saturating_add(all) > entries || places >= entries {
            cuts.push(Cut { vertex, entries: edges.clone() });
            (here, begun) = (0, vertex);
        }
        here += all;
        edges.iter_mut().enumerate().for_each(|(side, edges)| *edges += degree(side));
    }
    cuts.push(Cut { vertex: vertices, entries: edges });
    cuts
}

impl Side {
    fn list<'a>(&self, entries: &'a [AtomicU32], place: usize) -> &'a [AtomicU32] {
        let at = |places: &Buffer<AtomicU32>| self.first_entry + places[place].load(Ordering::Relaxed) as usize;
        // Where damaged pages left a list out, its places are those of another chunk.
        entries.get(at(&self.starts)..at(&self.ends)).unwrap_or_default()
    }
}

impl<'a> Slots<'a> {
    fn new(side: &'a Side, entries: &'a [AtomicU32], vertices: &Range<u32>) -> Self {
        let from = side.split.partition_point(|split| split.0 < vertices.start);
        let to = side.split.partition_point(|split| split.0 < vertices.end);
        let split = &side.split[from..to];
        let places = split.iter().map(|_| OnceLock::new()).collect();
        Slots { side, entries, first_vertex: vertices.start, split: (split, places), next: AtomicUsize::new(0) }
    }

    /// Copies a list, or a part of one; returns how many entries there was a place for.
    fn copy(&self, list: ListPart<'_>) -> u64 {
        let (place, count) = ((list.vertex - self.first_vertex) as usize, list.neighbours.len());
        let (start, degree) = match self.split.0.binary_search_by_key(&list.vertex, |split| split.0) {
            Ok(split) => {
                let degree = self.split.0[split].1 as usize;
                (*self.split.1[split].get_or_init(|| self.next.fetch_add(degree, Ordering::Relaxed)), degree)
            }
            Err(_) => (self.next.fetch_add(count, Ordering::Relaxed), count),
        };
        let (from, end) = (start.saturating_add(list.offset as usize), start + degree);
        if from.saturating_add(count) > end || end > self.entries.len() {
            return 0;
        }
        self.side.starts[place].store(start as u32, Ordering::Relaxed);
        self.side.ends[place].store(end as u32, Ordering::Relaxed);
        let places = &self.entries[from..from + count];
        places.iter().zip(list.neighbours).for_each(|(place, &neighbour)| place.store(neighbour, Ordering::Relaxed));
        count as u64
    }
}

/// The union of two lists in rising order, without a vertex.
fn merge(out: &[AtomicU32], into: &[AtomicU32], vertex: u32, union: &mut Neighbours) {
    let at = |list: &[AtomicU32], place: usize| {
        list.get(place).map_or(u64::MAX, |entry| u64::from(entry.load(Ordering::Relaxed)))
    };
    let (mut i, mut j) = (0, 0);
    loop {
        let (mut one, mut other) = (at(out, i), at(into, j));
        let next = one.min(other);
        if next == u64::MAX {
            return;
        }
        let both = one == other;
        while one == next {
            i += 1;
            one = at(out, i);
        }
        while other == next {
            j += 1;
            other = at(into, j);
        }
        if next != u64::from(vertex) {
            union.push(next as u32, both);
        }
    }
}
