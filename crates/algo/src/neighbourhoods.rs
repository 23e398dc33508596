//! Neighbourhoods: the neighbours of adjacent vertices in memory, as sets, whatever direction their edges have.
//!
//! The vertices are cut into chunks of which one is in memory at a time. Loading one copies its lists, one direction
//! after the other; a vertex's set is put together from both when it is asked for, without the vertex itself and
//! without parallel edges.
//!
//! *Cost.* 4 bytes per entry of a chunk's lists and per vertex of it, in each direction; every page is read once for
//! all chunks that follow one another, and those on which two chunks border twice.

use crate::estimate::longest_lists;
use outcore_graph::{Direction, Error, Frontier, Graph, ListPart, Result, StatsBuilder, SweepStats, scan};
use outcore_io::{Array, Reservation};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// The neighbours of one vertex.
pub(crate) struct Neighbours {
    /// In rising order.
    pub vertices: Vec<u32>,
    /// For each of them 1 if edges lead both ways, else 0.
    pub both: Vec<u8>,
    _reservation: Reservation,
}

impl Neighbours {
    /// The memory of neighbours of a graph, in bytes.
    pub fn bytes(graph: &Graph) -> u64 {
        5 * longest_lists(graph)
    }

    /// Room for those of any vertex.
    pub fn new(graph: &Graph) -> Result<Self> {
        let reservation = graph.runtime().budget().reserve("neighbours", Neighbours::bytes(graph))?;
        let most = longest_lists(graph) as usize;
        Ok(Neighbours { vertices: Vec::with_capacity(most), both: Vec::with_capacity(most), _reservation: reservation })
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
    loaded: Option<usize>,
}

struct Cut {
    vertex: u32,
    /// The ordinal of its first edge in each direction.
    first_edges: Vec<u64>,
}

/// The lists of one direction.
struct Side {
    direction: Direction,
    /// Where the list of every vertex of the chunk begins.
    starts: Array<AtomicU32>,
    entries: Array<AtomicU32>,
}

impl<'g> Neighbourhoods<'g> {
    /// The most memory that chunks of so many entries take, in bytes.
    pub fn bytes(graph: &Graph, entries: u64) -> u64 {
        graph.directions().len() as u64 * 4 * (2 * entries + 1)
    }

    /// Cuts the vertices into chunks of at most so many entries; none is loaded yet.
    pub fn new(graph: &'g Graph, entries: u64, stats: &mut StatsBuilder) -> Result<Self> {
        let degrees = graph.directions().iter().map(|&direction| {
            let (degrees, read) = graph.degrees(direction)?;
            stats.other(read);
            Ok(degrees)
        });
        let cuts = cuts(graph.vertices() as u32, &degrees.collect::<Result<Vec<_>>>()?, entries);
        let most = |value: &dyn Fn(&Cut) -> u64| {
            cuts.windows(2).map(|pair| value(&pair[1]) - value(&pair[0])).max().unwrap_or(0) as usize
        };
        let most_vertices = most(&|cut| u64::from(cut.vertex));
        let budget = graph.runtime().budget();
        let side = |(place, &direction): (usize, &Direction)| {
            let starts = Array::zeroed(budget, "where lists begin", most_vertices + 1)?;
            let entries = Array::zeroed(budget, "lists", most(&|cut| cut.first_edges[place]))?;
            Ok(Side { direction, starts, entries })
        };
        let sides = graph.directions().iter().enumerate().map(side).collect::<Result<_>>()?;
        Ok(Neighbourhoods { graph, cuts, sides, loaded: None })
    }

    /// How many chunks there are.
    pub fn chunks(&self) -> usize {
        self.cuts.len() - 1
    }

    /// The vertices of a chunk.
    pub fn range(&self, chunk: usize) -> Range<u32> {
        self.cuts[chunk].vertex..self.cuts[chunk + 1].vertex
    }

    /// Brings a chunk into memory, unless it is there.
    pub fn load(&mut self, chunk: usize) -> Result<SweepStats> {
        let mut stats = SweepStats::default();
        if self.loaded == Some(chunk) {
            return Ok(stats);
        }
        self.loaded = None;
        let vertices = self.range(chunk);
        for (place, side) in self.sides.iter().enumerate() {
            let edges = self.cuts[chunk].first_edges[place]..self.cuts[chunk + 1].first_edges[place];
            let frontier = Frontier::Range { first: vertices.start, end: vertices.end };
            let take = |taken: &mut u64, list: ListPart<'_>| *taken += side.take(&vertices, &edges, list);
            let (taken, read) = scan(self.graph, side.direction, frontier, || 0, take)?;
            stats.add(&read);
            let (expected, found) = (edges.end - edges.start, taken.iter().sum::<u64>());
            side.starts[vertices.len()].store(expected as u32, Ordering::Relaxed);
            let starts = side.starts[..=vertices.len()].iter().map(|start| start.load(Ordering::Relaxed));
            if found != expected || !starts.is_sorted() {
                let expected = format!("{expected} edges at vertices {vertices:?}, one list behind the other");
                let path = self.graph.path().to_owned();
                return Err(Error::Corrupt { path, offset_bytes: 0, expected, found: format!("{found} of them") });
            }
        }
        self.loaded = Some(chunk);
        Ok(stats)
    }

    /// Puts the neighbours of a vertex of the loaded chunk together.
    #[inline]
    pub fn of(&self, vertex: u32, found: &mut Neighbours) {
        let chunk = self.loaded.expect("a chunk is loaded");
        let place = (vertex - self.cuts[chunk].vertex) as usize;
        found.vertices.clear();
        found.both.clear();
        match &self.sides[..] {
            [side] => {
                let mut before = vertex;
                for neighbour in side.list(place).iter().map(|entry| entry.load(Ordering::Relaxed)) {
                    if neighbour != before && neighbour != vertex {
                        found.vertices.push(neighbour);
                    }
                    before = neighbour;
                }
                found.both.resize(found.vertices.len(), 0);
            }
            sides => merge(sides[0].list(place), sides[1].list(place), vertex, found),
        }
    }
}

/// Where chunks of at most so many entries, and at most so many vertices, begin and the last one ends.
fn cuts(vertices: u32, degrees: &[Array<AtomicU32>], entries: u64) -> Vec<Cut> {
    let (mut cuts, mut edges, mut here) = (Vec::new(), vec![0; degrees.len()], u64::MAX);
    let mut begun = 0;
    for vertex in 0..vertices {
        let degree = |side: usize| u64::from(degrees[side][vertex as usize].load(Ordering::Relaxed));
        let all: u64 = (0..degrees.len()).map(degree).sum();
        if here.saturating_add(all) > entries || u64::from(vertex - begun) >= entries {
            cuts.push(Cut { vertex, first_edges: edges.clone() });
            (here, begun) = (0, vertex);
        }
        here += all;
        edges.iter_mut().enumerate().for_each(|(side, edges)| *edges += degree(side));
    }
    cuts.push(Cut { vertex: vertices, first_edges: edges });
    cuts
}

impl Side {
    /// Copies a list, or a part of one; returns how many entries there was a place for.
    fn take(&self, vertices: &Range<u32>, edges: &Range<u64>, list: ListPart<'_>) -> u64 {
        let start = list.first_edge.saturating_sub(edges.start) as usize;
        if !list.continues {
            self.starts[(list.vertex - vertices.start) as usize].store(start as u32, Ordering::Relaxed);
        }
        let places = self.entries.get(start..start + list.neighbours.len()).unwrap_or_default();
        places.iter().zip(list.neighbours).for_each(|(place, &neighbour)| place.store(neighbour, Ordering::Relaxed));
        places.len() as u64
    }

    fn list(&self, place: usize) -> &[AtomicU32] {
        let at = |place: usize| self.starts[place].load(Ordering::Relaxed) as usize;
        &self.entries[at(place)..at(place + 1)]
    }
}

/// The union of two lists in rising order, without a vertex.
fn merge(out: &[AtomicU32], into: &[AtomicU32], vertex: u32, found: &mut Neighbours) {
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
            found.push(next as u32, both);
        }
    }
}
