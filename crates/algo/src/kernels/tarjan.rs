//! Tarjan's algorithm: the strongly connected components of edges that are in memory.
//!
//! *Encoding.* The edges of a vertex are a chain: its head names the first edge, every edge holds its target and the
//! next edge, counted from 1, and 0 ends the chain. Lists are added part by part, by all workers and without an order,
//! and what is added at once lies together. The two stacks of the algorithm share one array, the path from the front
//! and the vertices that wait for their root from the back, for no vertex is on both. (Tarjan, *Depth-first search and
//! linear graph algorithms*, SIAM J. Comput. 1, 1972; Pearce, *A space-efficient algorithm for finding strongly
//! connected components*, IPL 116, 2016.)
//!
//! *Cost.* 8 bytes per edge and 4 per vertex, besides two numbers and a bit per vertex of the caller. One worker.

use crate::state::{Layout, array};
use outcore_graph::{Bitmap, Graph};
use outcore_image::Result;
use outcore_io::{Buffer, Runtime};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The number of edges between two checks of the request to stop.
const CANCEL_CHECK: u64 = 1 << 20;

/// The remaining part of a graph, in memory.
pub(crate) struct Remainder<'a> {
    heads: &'a [AtomicU32],
    /// A target, and in the lower half the next edge.
    edges: Buffer<AtomicU64>,
    added: AtomicU64,
    stacks: Buffer<AtomicU32>,
}

/// Places for edges and for stacks.
pub(crate) type Room = (Buffer<AtomicU64>, Buffer<AtomicU32>);

impl<'a> Remainder<'a> {
    /// More edges than this have no numbers.
    pub const MOST_EDGES: u64 = u32::MAX as u64;

    pub fn room(graph: &Graph, vertices: u64, edges: u64) -> impl Layout<Made = Room> {
        (array(graph, "remaining edges", edges), array(graph, "remaining vertices", vertices))
    }

    /// No edges yet. `heads` are 0, one for each vertex of the graph.
    pub fn new((edges, stacks): Room, heads: &'a [AtomicU32]) -> Self {
        Remainder { heads, edges, added: AtomicU64::new(0), stacks }
    }

    /// Adds edges of a vertex; edges without room are only counted.
    pub fn add(&self, vertex: u32, targets: &[u32]) {
        let place = self.added.fetch_add(targets.len() as u64, Relaxed) as usize;
        let (Some(slots), Some((&last, others))) = (self.edges.get(place..place + targets.len()), targets.split_last())
        else {
            return;
        };
        let put = |i: usize, target: u32, next: u32| slots[i].store(u64::from(target) << 32 | u64::from(next), Relaxed);
        others.iter().enumerate().for_each(|(i, &target)| put(i, target, (place + i) as u32 + 2));
        put(others.len(), last, self.heads[vertex as usize].swap(place as u32 + 1, Relaxed));
    }

    /// Whether more edges were added than there was room for.
    pub fn is_overfull(&self) -> bool {
        self.added.load(Relaxed) > self.edges.len() as u64
    }

    /// Writes for each of the vertices the smallest of its component to `labels`. Edges lead from `vertices` to
    /// `vertices`; `lows` are 0, and `below` is empty.
    pub fn solve(
        self,
        runtime: &Runtime,
        vertices: &Bitmap,
        lows: &[AtomicU32],
        below: &Bitmap,
        labels: &[AtomicU32],
    ) -> Result<()> {
        let waiting = self.stacks.len();
        let mut visit = Visit { remainder: &self, lows, below, labels, index: 0, path: 0, waiting, looked_at: 0 };
        for start in vertices.iter(0..vertices.words()) {
            if lows[start as usize].load(Relaxed) == 0 {
                visit.from(start, runtime)?;
            }
        }
        Ok(())
    }
}

struct Visit<'a> {
    remainder: &'a Remainder<'a>,
    /// The least index that a vertex leads to, as far as it is known; the greatest number once its component is.
    lows: &'a [AtomicU32],
    /// Vertices that lead to one of a lower index, so they are not the first of their component.
    below: &'a Bitmap,
    labels: &'a [AtomicU32],
    index: u32,
    /// The number of vertices on the path.
    path: usize,
    /// Where the vertices begin that wait.
    waiting: usize,
    looked_at: u64,
}

/// The `low` of a vertex whose component is known.
const DONE: u32 = u32::MAX;

impl Visit<'_> {
    fn low(&self, vertex: u32) -> u32 {
        self.lows[vertex as usize].load(Relaxed)
    }

    fn on_stack(&self, place: usize) -> u32 {
        self.remainder.stacks[place].load(Relaxed)
    }

    fn enter(&mut self, vertex: u32) {
        self.index += 1;
        self.lows[vertex as usize].store(self.index, Relaxed);
        self.remainder.stacks[self.path].store(vertex, Relaxed);
        self.path += 1;
    }

    /// Visits all that a vertex leads to.
    fn from(&mut self, start: u32, runtime: &Runtime) -> Result<()> {
        self.enter(start);
        while self.path > 0 {
            let vertex = self.on_stack(self.path - 1);
            match self.follow(vertex) {
                Some(target) => self.enter(target),
                None => self.leave(vertex),
            }
            if self.looked_at >= CANCEL_CHECK {
                self.looked_at = 0;
                runtime.cancel().check()?;
            }
        }
        Ok(())
    }

    /// Goes over the edges of a vertex until one leads to an unvisited vertex. That edge is looked at again on the way
    /// back.
    fn follow(&mut self, vertex: u32) -> Option<u32> {
        let head = &self.remainder.heads[vertex as usize];
        let mut low = self.low(vertex);
        let mut edge = head.load(Relaxed);
        let mut unvisited = None;
        while edge != 0 {
            self.looked_at += 1;
            let stored = self.remainder.edges[edge as usize - 1].load(Relaxed);
            let (target, next) = ((stored >> 32) as u32, stored as u32);
            match self.low(target) {
                0 => {
                    unvisited = Some(target);
                    break;
                }
                other if other < low => {
                    low = other;
                    self.below.insert(vertex);
                }
                _ => {}
            }
            edge = next;
        }
        head.store(edge, Relaxed);
        self.lows[vertex as usize].store(low, Relaxed);
        unvisited
    }

    /// Takes a vertex off the path: it is the first of a component, or it waits for the one that is.
    fn leave(&mut self, vertex: u32) {
        self.path -= 1;
        let low = self.low(vertex);
        if self.below.contains(vertex) {
            self.waiting -= 1;
            self.remainder.stacks[self.waiting].store(vertex, Relaxed);
            return;
        }
        let end = self.remainder.stacks.len();
        let members =
            (self.waiting..end).map(|place| self.on_stack(place)).take_while(|&member| self.low(member) >= low);
        let (count, smallest) = members.fold((0, vertex), |(count, least), member| (count + 1, least.min(member)));
        let settle = |member: u32| {
            self.labels[member as usize].store(smallest, Relaxed);
            self.lows[member as usize].store(DONE, Relaxed);
        };
        settle(vertex);
        (self.waiting..self.waiting + count).for_each(|place| settle(self.on_stack(place)));
        self.waiting += count;
    }
}
