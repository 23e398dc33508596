//! Parents of shortest paths, which depend on the distances alone.
//!
//! *Idea.* One pass over the in-lists gives every vertex the first in-neighbour that explains its distance and is
//! nearer to the source. Vertices that only edges of length zero lead to get their parents in further rounds, from
//! vertices that have one already, so that parents never run in a circle.
//!
//! *Cost.* One pass over the in-lists and their weights, and a bit per vertex. Rounds for edges of length zero read the
//! out-lists of all reached vertices once more.

use crate::kernels::searches::lengths::{Length, NO_PATH, length};
use crate::kernels::searches::waiting::Waiting;
use crate::stored::Stored;
use outcore_graph::{Bitmap, CachedLists, Direction, Edges, Frontier, Graph, ListFold, ListPart, fold, vertex_map};
use outcore_image::{Error, Result, StatsBuilder, SweepStats};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// The shortest paths from a source: distances, which are known, and parents, which are chosen.
pub(crate) struct ShortestPaths<'a, L> {
    pub graph: &'a Graph,
    pub source: u32,
    /// Whether the length of an edge is its weight.
    pub weights: bool,
    pub distances: &'a Stored<AtomicU64>,
    pub parents: &'a Stored<AtomicU32>,
    pub length: PhantomData<L>,
}

impl<L: Length> ShortestPaths<'_, L> {
    /// The memory beside distances, parents and waiting vertices, in bytes.
    pub fn bytes(graph: &Graph) -> u64 {
        Bitmap::bytes(graph.vertices())
    }

    /// Gives every vertex with a path its parent; returns how many there are. Reads the in-lists, unless they are in
    /// memory. No vertex waits before and after.
    ///
    /// # Errors
    /// A vertex whose distance is out of range, in-lists that do not have the edges of the out-lists, too little
    /// memory, a page that cannot be read.
    pub fn choose_parents(
        &self,
        lists: Option<&CachedLists>,
        waiting: &Waiting,
        stats: &mut StatsBuilder,
    ) -> Result<u64> {
        let graph = self.graph;
        let unexplained = Bitmap::new(graph.runtime().budget(), "frontiers", graph.vertices())?;
        let too_far = AtomicU64::new(NO_PATH);
        let explain = Explain { paths: self, unexplained: &unexplained, too_far: &too_far };
        let (reached, sweep) = match lists {
            Some(lists) => explain.in_memory(lists)?,
            None => fold(graph, Edges::new(Direction::In, self.weights), Frontier::All, &explain)?,
        };
        stats.step("parents", graph.vertices(), sweep);
        if let Ok(vertex) = u32::try_from(too_far.into_inner()) {
            let (most, id) = (L::MOST, graph.id(vertex)?);
            let text =
                format!("expected distances {most}, found none but longer paths to {id}; make the weights smaller");
            return Err(Error::Unsuitable(text));
        }
        if unexplained.count() > 0 {
            self.explain_over_zeros(&unexplained, waiting, stats)?;
        }
        Ok(reached)
    }

    /// Searches breadth-first, over edges that explain distances, from all vertices that have a parent.
    fn explain_over_zeros(&self, unexplained: &Bitmap, waiting: &Waiting, stats: &mut StatsBuilder) -> Result<()> {
        let graph = self.graph;
        let edges = Edges::new(Direction::Out, self.weights);
        let explained = (0..graph.vertices() as u32).filter(|&vertex| self.parents.has(vertex));
        explained.for_each(|vertex| waiting.insert(vertex));
        loop {
            let batch = waiting.choose(graph, NO_PATH, |vertex| self.distances.or_greatest(vertex))?;
            if batch.count == 0 {
                break;
            }
            waiting.vertices_of(&batch).for_each(|vertex| unexplained.remove(vertex));
            let explain = |(): &mut (), list: &ListPart<'_>| {
                let from = self.distances.or_greatest(list.vertex);
                for (i, &target) in list.neighbours.iter().enumerate() {
                    if unexplained.contains(target)
                        && L::add(from, length::<L>(list, i)) == Some(self.distances.or_greatest(target))
                    {
                        self.parents.lower(target, list.vertex);
                        waiting.insert(target);
                    }
                }
            };
            let (_, sweep) = waiting.visit(graph, edges, &batch, || (), explain)?;
            stats.step("parents", batch.count, sweep);
            waiting.clear(&batch);
        }
        if let Some(vertex) = unexplained.iter(0..unexplained.words()).next() {
            let (id, image) = (graph.id(vertex)?, graph.path().display());
            let text = format!(
                "expected in-lists with the edges of the out-lists, found none on a shortest path to {id} in {image}; \
                 run `outcore check` on it"
            );
            return Err(Error::Unsuitable(text));
        }
        Ok(())
    }
}

/// Finds the first in-neighbour that is nearer to the source and explains a vertex's distance. The total is the number
/// of vertices with a path.
struct Explain<'a, L> {
    paths: &'a ShortestPaths<'a, L>,
    unexplained: &'a Bitmap,
    /// The first vertex with in-edges from reached vertices, all of whose paths are too long; [`NO_PATH`] if there is
    /// none.
    too_far: &'a AtomicU64,
}

impl<L: Length> Explain<'_, L> {
    /// The first of some in-neighbours that explains a vertex's distance, or `u32::MAX`.
    #[inline]
    fn source(&self, vertex: u32, mut edges: impl Iterator<Item = (u32, u64)>) -> u32 {
        let distances = self.paths.distances;
        let distance = distances.or_greatest(vertex);
        if distance == NO_PATH && edges.any(|(source, _)| distances.has(source)) {
            self.too_far.fetch_min(vertex.into(), Ordering::Relaxed);
        }
        if distance == 0 || distance == NO_PATH {
            return u32::MAX;
        }
        let explains = |&(source, length): &(u32, u64)| {
            let before = distances.or_greatest(source);
            before < distance && L::add(before, length) == Some(distance)
        };
        edges.find(explains).map_or(u32::MAX, |(source, _)| source)
    }

    /// Folds lists that are in memory.
    fn in_memory(&self, lists: &CachedLists) -> Result<(u64, SweepStats)> {
        let (start, graph, total) = (Instant::now(), self.paths.graph, AtomicU64::new(0));
        vertex_map(graph.runtime(), graph.vertices(), |range| {
            let mut reached = 0;
            for vertex in range.start as u32..range.end as u32 {
                self.finish(vertex, Some(self.source(vertex, lists.edges(vertex))), &mut reached);
            }
            total.fetch_add(reached, Ordering::Relaxed);
            Ok(())
        })?;
        let mut sweep = SweepStats::default();
        sweep.seconds = start.elapsed().as_secs_f64();
        Ok((total.into_inner(), sweep))
    }
}

impl<L: Length> ListFold for Explain<'_, L> {
    /// The in-neighbour, or `u32::MAX`.
    type Value = u32;
    type Total = u64;

    fn part(&self, list: ListPart<'_>) -> u32 {
        let edges = list.neighbours.iter().enumerate().map(|(i, &source)| (source, length::<L>(&list, i)));
        self.source(list.vertex, edges)
    }

    fn merge(&self, before: u32, after: u32) -> u32 {
        before.min(after)
    }

    fn finish(&self, vertex: u32, source: Option<u32>, reached: &mut u64) {
        if !self.paths.distances.has(vertex) {
            return;
        }
        *reached += 1;
        let parent = if vertex == self.paths.source { vertex } else { source.unwrap_or(u32::MAX) };
        match parent {
            u32::MAX => drop(self.unexplained.insert(vertex)),
            parent => self.paths.parents.set(vertex, parent),
        }
    }

    fn add(&self, reached: &mut u64, later: u64) {
        *reached += later;
    }
}
