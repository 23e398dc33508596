//! Weakly connected components.
//!
//! *Idea.* Link every vertex to its hub, its neighbour of the greatest degree, which takes one look at the hub column
//! and no list. On graphs with hubs that already joins the giant component. Then find that component, and read the
//! lists of only those vertices outside it: an edge that still joins two trees has an end outside of the giant one, so
//! its list is read. What is left is exact for any graph. (Sutton, Ben-Nun, Barak, *Optimizing parallel graph
//! connectivity computation via subgraph sampling*, IPDPS 2018, whose Afforest samples neighbours and skips the largest
//! component; the hub in place of a sample is Outcore's.)
//!
//! *Encoding.* A forest over the vertices: `parent[v] <= v`, trees are joined by hanging the larger root under the
//! smaller. Which links win depends on chance, the trees in the end do not, and every root is the smallest vertex of
//! its component.
//!
//! *Cost.* 4 bytes and one bit per vertex, the hub columns once, and the lists of the vertices outside the giant
//! component once: a few per cent of the pages on graphs with hubs, at most one pass per direction on any graph.

use crate::estimate::{Bound, Estimate, Reads};
use crate::state::{Layout, array, bitmap};
use crate::visit::{count_vertices, for_each_list, for_each_vertex};
use outcore_graph::{Bitmap, Frontier, Graph, vertex_map};
use outcore_image::{Result, Stats, StatsBuilder};
use outcore_io::Buffer;
use outcore_table::ColumnKind;
use std::sync::atomic::{AtomicU32, Ordering};

/// Options of weakly connected components: there are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComponentsOptions {}

/// The component of every vertex.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Components {
    /// Per vertex: the smallest vertex of its component, as numbered in the image.
    pub labels: Buffer<u32>,
    /// How many components there are.
    pub count: u64,
    /// Statistics of the run.
    pub stats: Stats,
}

/// Parents, and the vertices outside the giant component.
fn state(graph: &Graph) -> impl Layout<Made = (Buffer<AtomicU32>, Bitmap)> {
    let vertices = graph.vertices();
    (array(graph, "components", vertices), bitmap(graph, "vertices outside the giant component", vertices))
}

pub(crate) fn sizes(graph: &Graph) -> impl Layout<Made = Buffer<AtomicU32>> {
    array(graph, "component sizes", graph.vertices())
}

pub(crate) fn estimate(graph: &Graph) -> Estimate {
    let pages_per_pass = graph.all_pages();
    let hub_pages: u64 = graph.directions().iter().map(|&direction| graph.hub_pages(direction)).sum();
    let passes = 1.0 + hub_pages as f64 / pages_per_pass.max(1) as f64;
    let reads = Reads { passes, bound: Bound::AtMost, pages_per_pass, column_pages: 0 };
    reads.estimate(graph, state(graph).bytes(), vec![ColumnKind::Component])
}

/// Finds the weakly connected components: those that remain when edges lose their direction.
///
/// # Errors
/// Too little memory (4.2 bytes per vertex), a page that cannot be read or is damaged, a request to stop.
pub fn components(graph: &Graph, _options: &ComponentsOptions) -> Result<Components> {
    let mut stats = StatsBuilder::of_image(graph.image());
    let vertices = graph.vertices();
    let estimate = estimate(graph);
    graph.make_room("components", estimate.state_bytes)?;
    let (parents, pending) = state(graph).make()?;
    let forest = Forest { parents };
    graph.fill_cache()?;
    for_each_vertex(graph, |v| forest.parents[v as usize].store(v, Ordering::Relaxed))?;
    for &direction in graph.directions() {
        let sweep = graph.for_each_hub(direction, |vertex, hub| forest.link(vertex, hub))?;
        stats.step("link hubs", vertices, sweep);
    }
    forest.flatten(graph)?;
    let giant = forest.giant();
    forest.mark_outside(graph, giant, &pending)?;
    let outside = pending.count();
    for &direction in graph.directions() {
        let sweep = for_each_list(graph, direction, Frontier::Set(&pending), |list| {
            list.neighbours.iter().for_each(|&neighbour| forest.link(list.vertex, neighbour));
        })?;
        stats.step("link lists", outside, sweep);
    }
    forest.flatten(graph)?;
    Components::new(graph, forest.parents, stats)
}

impl Components {
    /// Components with these labels, which are counted.
    pub(crate) fn new(graph: &Graph, labels: Buffer<AtomicU32>, stats: StatsBuilder) -> Result<Self> {
        let count = count_vertices(graph, |v| labels[v as usize].load(Ordering::Relaxed) == v)?;
        let labels = labels.into_values();
        Ok(Components { labels, count, stats: stats.finish(graph.runtime(), graph.all_pages()) })
    }

    /// How many vertices every component has, at the place of its smallest vertex; 0 at all other places. Takes 4 bytes
    /// per vertex.
    ///
    /// # Errors
    /// Another graph, no memory, or a request to stop.
    pub fn sizes(&self, graph: &Graph) -> Result<Buffer<u32>> {
        self.stats.check_image(graph.image())?;
        let sizes = sizes(graph);
        graph.make_room("component sizes", sizes.bytes())?;
        let sizes = sizes.make()?;
        vertex_map(graph.runtime(), graph.vertices(), |range| {
            // Most neighbours in a range share a component: count runs, not vertices.
            for run in self.labels[range].chunk_by(|a, b| a == b) {
                sizes[run[0] as usize].fetch_add(run.len() as u32, Ordering::Relaxed);
            }
            Ok(())
        })?;
        Ok(sizes.into_values())
    }
}

/// The number of vertices that are sampled to find the giant component.
const SAMPLES: usize = 4096;

/// Trees over the vertices, in which parents are smaller than their children.
struct Forest {
    parents: Buffer<AtomicU32>,
}

impl Forest {
    #[inline]
    fn parent(&self, vertex: u32) -> u32 {
        self.parents[vertex as usize].load(Ordering::Relaxed)
    }

    /// Joins the trees of two vertices.
    #[inline]
    fn link(&self, a: u32, b: u32) {
        let (mut a, mut b) = (self.parent(a), self.parent(b));
        while a != b {
            let (low, high) = (a.min(b), a.max(b));
            let above = self.parent(high);
            if above == low {
                return;
            }
            // Only a root is hung under another tree, and only while it is one.
            let slot = &self.parents[high as usize];
            if above == high && slot.compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                return;
            }
            a = self.parent(self.parent(high));
            b = self.parent(low);
        }
    }

    /// Hangs every vertex directly under its root.
    fn flatten(&self, graph: &Graph) -> Result<()> {
        for_each_vertex(graph, |v| {
            let first = self.parent(v);
            let mut root = first;
            while self.parent(root) != root {
                root = self.parent(root);
            }
            if root != first {
                self.parents[v as usize].store(root, Ordering::Relaxed);
            }
        })
    }

    /// The root that most of some vertices spread over the graph have, those without neighbours left out.
    fn giant(&self) -> u32 {
        let vertices = self.parents.len();
        let step = (vertices / SAMPLES).max(1);
        let sample = (0..vertices as u32).step_by(step).map(|v| (v, self.parent(v)));
        let mut roots: Vec<u32> = sample.filter(|(v, root)| root != v).map(|(_, root)| root).collect();
        roots.sort_unstable();
        let most = roots.chunk_by(|a, b| a == b).max_by_key(|run| run.len());
        most.map_or(u32::MAX, |run| run[0])
    }

    /// Marks the vertices of all trees but one, and leaves out trees of a single vertex: it has no neighbours.
    fn mark_outside(&self, graph: &Graph, giant: u32, outside: &Bitmap) -> Result<()> {
        for_each_vertex(graph, |v| {
            let root = self.parent(v);
            if root != v && root != giant {
                outside.insert(v);
                outside.insert(root);
            }
        })
    }
}
