//! Classes of vertices whose strongly connected component is not known yet, and a round of colouring, which settles
//! components without memory for edges.
//!
//! *Idea.* Labels travel forward and the smallest wins, so every vertex gets the colour of a root that reaches it. The
//! component of the root is the set of vertices that reach the root within its colour. Edges between colours join no
//! components, so the colours of the other vertices become their classes. Labels are in a new random order every round,
//! so that a chain of components takes a number of rounds that is the logarithm of its length.
//!
//! *Encoding.* `labels[v]` is the component of a settled vertex and the class of an unsettled one. Components lie
//! within classes.
//!
//! Slota, Rajamanickam, Madduri, *BFS and coloring-based parallel algorithms for strongly connected components and
//! related problems*, IPDPS 2014.

use outcore_graph::{Bitmap, Direction, EdgeMapper, Graph, Next, vertex_map};
use outcore_image::{Result, StatsBuilder};
use outcore_ingest::mix_32;
use outcore_io::Buffer;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The component or the class of every vertex.
pub(crate) struct Classes {
    pub labels: Buffer<AtomicU32>,
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

/// A round, with scratch space of two numbers and a bit per vertex.
pub(crate) struct Colouring<'a> {
    pub graph: &'a Graph,
    /// The number of the round, which chooses the order of the labels.
    pub number: u32,
    pub classes: &'a Classes,
    pub colours: &'a [AtomicU32],
    pub roots: &'a [AtomicU32],
    pub settled: &'a Bitmap,
}

impl Colouring<'_> {
    /// Settles the component of every root of a colour, and makes colours classes.
    ///
    /// # Errors
    /// A page that cannot be read or is damaged, a request to stop.
    pub fn settle_roots(self, mapper: &mut EdgeMapper<'_>, stats: &mut StatsBuilder) -> Result<()> {
        let Colouring { graph, number, classes, colours, roots, settled } = self;
        let colour_of = |v: u32| mix_32(v ^ number);
        classes.for_each(graph, |v| store(colours, v, colour_of(v)))?;
        mapper.restart_with(Direction::Out, &classes.unsettled)?;
        spread(mapper, stats, "colour", |vertex, other, next| {
            let colour = load(colours, vertex);
            if classes.join(vertex, other)
                && load(colours, other) > colour
                && colours[other as usize].fetch_min(colour, Relaxed) > colour
            {
                next.activate(other);
            }
        })?;
        settled.clear();
        classes.for_each(graph, |v| {
            if load(colours, v) == colour_of(v) {
                store(roots, v, v);
                settled.insert(v);
            }
        })?;
        mapper.restart_with(Direction::In, settled)?;
        spread(mapper, stats, "lead back", |vertex, other, next| {
            if classes.join(vertex, other) && load(colours, vertex) == load(colours, other) && settled.insert(other) {
                store(roots, other, load(roots, vertex));
                next.activate(other);
            }
        })?;
        // Colours of settled vertices are no longer needed: those of the roots become their smallest members.
        classes.for_each(graph, |v| match settled.contains(v) {
            true => store(colours, v, u32::MAX),
            false => store(&classes.labels, v, load(colours, v)),
        })?;
        classes.for_each(graph, |v| {
            if settled.contains(v) {
                colours[load(roots, v) as usize].fetch_min(v, Relaxed);
            }
        })?;
        classes.for_each(graph, |v| {
            if settled.contains(v) {
                classes.settle(v, load(colours, load(roots, v)));
            }
        })
    }
}
