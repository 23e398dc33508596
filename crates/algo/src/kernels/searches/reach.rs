//! Options and result of searches from many sources, and the result while it grows.
//!
//! *Cost.* 12 bytes per vertex, and 4 per source and target.

use crate::state::{Layout, array, reservation};
use outcore_graph::Graph;
use outcore_image::{Stats, StatsBuilder};
use outcore_io::{Buffer, Reservation};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Options of searches from many sources.
#[derive(Clone, Debug, Default)]
pub struct MultiSourceBfsOptions {
    /// The vertices to start from, as numbered in the image. Default: none.
    pub sources: Vec<u32>,
    /// The vertices whose distances from every source are part of the result. Default: none.
    pub targets: Vec<u32>,
    /// The greatest level that is searched for; `None`, the default, is no limit.
    pub depth_limit: Option<u32>,
}

/// The result of searches from many sources.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct MultiSourceBfs {
    /// Per vertex: how many of the sources have a path to it.
    pub reached_by: Buffer<u32>,
    /// Per vertex: the sum of its distances from those.
    pub distance_sums: Buffer<u64>,
    /// Per source, in the order of the options: the extent of its search.
    pub reach: Vec<Reach>,
    /// Per source and target, source by source: the distance plus one; 0 where there is no path.
    pub(crate) levels: Buffer<u32>,
    /// Statistics of the run.
    pub stats: Stats,
}

/// The extent of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reach {
    /// How many vertices were reached, the source included.
    pub reached: u64,
    /// The greatest distance of any of them: the eccentricity of the source, if the search had no limit.
    pub depth: u32,
}

impl MultiSourceBfs {
    /// The distance from a source to a target, by their places in the options, if there are such places and a path.
    pub fn level(&self, source: usize, target: usize) -> Option<u32> {
        let targets = self.levels.len().checked_div(self.reach.len())?;
        let is_there = source < self.reach.len() && target < targets;
        is_there.then(|| self.levels[source * targets + target])?.checked_sub(1)
    }

    /// Distances as they are stored, for tests that change them.
    #[doc(hidden)]
    pub fn stored(&mut self) -> &mut [u32] {
        &mut self.levels
    }
}

/// The number of sources that reach each vertex, the sums of its distances, distances of targets, and the targets.
type Results = (Buffer<AtomicU32>, Buffer<AtomicU64>, Buffer<AtomicU32>, Reservation);

pub(crate) fn results(graph: &Graph, options: &MultiSourceBfsOptions) -> impl Layout<Made = Results> {
    (
        array(graph, "sources that reach a vertex", graph.vertices()),
        array(graph, "sums of distances", graph.vertices()),
        levels(graph, options),
        reservation(graph, "targets", size_of::<(u32, usize)>() as u64 * options.targets.len() as u64),
    )
}

pub(crate) fn levels(graph: &Graph, options: &MultiSourceBfsOptions) -> impl Layout<Made = Buffer<AtomicU32>> {
    array(graph, "distances", (options.sources.len() as u64).saturating_mul(options.targets.len() as u64))
}

/// The results up to the current level.
pub(crate) struct Reached {
    pub reached_by: Buffer<AtomicU32>,
    pub distance_sums: Buffer<AtomicU64>,
    pub levels: Buffer<AtomicU32>,
    pub reach: Vec<Reach>,
    /// The targets in rising order, each with its place.
    pub targets: Vec<(u32, usize)>,
}

impl Reached {
    pub fn finish(self, graph: &Graph, stats: StatsBuilder) -> MultiSourceBfs {
        let Reached { reached_by, distance_sums, levels, reach, .. } = self;
        let stats = stats.finish(graph.runtime(), graph.all_pages());
        MultiSourceBfs {
            reached_by: reached_by.into_values(),
            distance_sums: distance_sums.into_values(),
            levels: levels.into_values(),
            reach,
            stats,
        }
    }
}
