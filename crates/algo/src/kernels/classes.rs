//! Classes of vertices whose strongly connected component is not known yet, and the components that are.
//!
//! *Encoding.* `labels[v]` is the component of a settled vertex and the class of an unsettled one. Components lie
//! within classes.

use outcore_graph::{Bitmap, EdgeMapper, Graph, Next, vertex_map};
use outcore_image::{Result, StatsBuilder};
use outcore_io::Array;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Components and classes.
pub(crate) struct Classes {
    pub labels: Array<AtomicU32>,
    /// The vertices whose component is not known.
    pub unsettled: Bitmap,
}

impl Classes {
    /// Whether an edge from an unsettled vertex may join its component: both ends are unsettled and of one class.
    #[inline]
    pub fn join(&self, vertex: u32, other: u32) -> bool {
        self.unsettled.contains(other) && vertex != other && load(&self.labels, vertex) == load(&self.labels, other)
    }

    /// Notes the component of a vertex.
    pub fn settle(&self, vertex: u32, label: u32) {
        store(&self.labels, vertex, label);
        self.unsettled.remove(vertex);
    }

    /// Calls `visit` with every unsettled vertex, on all workers.
    pub fn for_each(&self, graph: &Graph, visit: impl Fn(u32) + Sync) -> Result<()> {
        vertex_map(graph.runtime(), graph.vertices(), |range| {
            self.unsettled.iter(Bitmap::words_of(&range)).for_each(&visit);
            Ok(())
        })
    }
}

#[inline]
pub(crate) fn load(values: &[AtomicU32], vertex: u32) -> u32 {
    values[vertex as usize].load(Relaxed)
}

#[inline]
pub(crate) fn store(values: &[AtomicU32], vertex: u32, value: u32) {
    values[vertex as usize].store(value, Relaxed);
}

/// Takes push steps until no vertex is active.
pub(crate) fn spread(
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
