//! All-pairs shortest paths from chosen sources: their distances to each other, their eccentricities, and bounds on the
//! diameter.
//!
//! *Idea.* The sources search together ([`multi_source_bfs`](crate::multi_source_bfs())); in directed graphs they
//! search against the edges as well. The greatest distance from or to a source is a lower bound of the diameter. If a
//! source reaches all of its component and is reached from there, a walk through it joins any two vertices, so the sum
//! of its two eccentricities is an upper bound for the component. Without such a source, no shortest path has more
//! edges than the component has other vertices. Where all vertices of a component are sources, its greatest distance is
//! known.
//!
//! *Cost.* The searches: 40.4 bytes per vertex; then the components, beside the result of the searches: 20.2.
//!
//! Liu and Huang, *Graphene: fine-grained IO management for graph computing*, FAST 2017, section 5; Magnien, Latapy,
//! Habib, *Fast computation of empirically tight bounds for the diameter of massive graphs*, J. Experimental
//! Algorithmics 2009.

use crate::estimate::{Bound, Estimate, Reads};
use crate::kernels::components::{self, ComponentsOptions, components};
use crate::kernels::multi_source_bfs::{self, search};
use crate::kernels::searches::reach::{MultiSourceBfs, MultiSourceBfsOptions, Reach, results};
use crate::sources::Sources;
use crate::state::Layout;
use outcore_graph::{Direction, Graph};
use outcore_image::{Error, Result, StatsBuilder};
use outcore_io::Buffer;

/// Options of all-pairs shortest paths.
#[derive(Clone, Debug)]
pub struct AllPairsOptions {
    /// The vertices to start from. Default: 32 that are drawn with seed 1.
    pub sources: Sources,
}

impl Default for AllPairsOptions {
    fn default() -> Self {
        AllPairsOptions { sources: Sources::Drawn { k: 32, seed: 1 } }
    }
}

/// Distances from chosen sources.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct AllPairs {
    /// The sources, as numbered in the image.
    pub sources: Buffer<u32>,
    /// The result of the searches along the edges; the targets are the sources.
    pub search: MultiSourceBfs,
    /// Lower bound of the diameter: the greatest distance between two vertices with a path.
    pub diameter_least: u32,
    /// Upper bound of the diameter.
    pub diameter_most: u32,
}

pub(crate) fn estimate(graph: &Graph, options: &AllPairsOptions) -> Estimate {
    let count = options.sources.count(graph);
    let chosen = vec![0; count as usize];
    let chosen = MultiSourceBfsOptions { sources: chosen.clone(), targets: chosen, depth_limit: None };
    let (search, components) = (multi_source_bfs::estimate(graph, &chosen), components::estimate(graph));
    // Results stay in memory while components are counted.
    let later = (results(graph, &chosen), components::sizes(graph)).bytes().saturating_add(components.state_bytes);
    let state = search.state_bytes.max(later).saturating_add(32 * count);
    let state = state.saturating_add(options.sources.bytes(graph));
    let passes = search.passes * graph.directions().len() as f64 + components.passes;
    Reads { passes, bound: Bound::Usual, pages_per_pass: graph.all_pages(), column_pages: 0 }
        .estimate(graph, state, search.columns)
        .with_more_result(graph, count.saturating_mul(count).saturating_mul(4).saturating_add(4 * count))
}

/// Searches from chosen sources.
///
/// # Errors
/// A source that the graph does not have, none to draw, too little memory (40.4 bytes per vertex, and 4 for every two
/// sources), a page that cannot be read or is damaged, a request to stop.
pub fn all_pairs(graph: &Graph, options: &AllPairsOptions) -> Result<AllPairs> {
    if matches!(options.sources, Sources::Drawn { k: 0, .. }) {
        return Err(Error::Usage("expected k of at least 1, found 0".into()));
    }
    let mut stats = StatsBuilder::of_image(graph.image());
    graph.make_room("all-pairs shortest paths", estimate(graph, options).state_bytes)?;
    let sources = options.sources.vertices(graph)?;
    let _copies = graph.runtime().budget().reserve("sources", 8 * sources.len() as u64)?;
    let mut chosen = MultiSourceBfsOptions { sources: sources.to_vec(), ..MultiSourceBfsOptions::default() };
    let against = match graph.is_directed() {
        true => Some(search(graph, &chosen, Direction::In, &mut stats)?.reach),
        false => None,
    };
    chosen.targets = sources.to_vec();
    let along = search(graph, &chosen, Direction::Out, &mut stats)?;
    let against = against.as_deref().unwrap_or(&along.reach);
    let (diameter_least, diameter_most) = diameter(graph, &sources, &along.reach, against, &mut stats)?;
    Ok(AllPairs { sources, search: along.finish(graph, stats), diameter_least, diameter_most })
}

/// Bounds on the diameter, by the extents of the searches from the sources along the edges and against them.
fn diameter(
    graph: &Graph,
    sources: &[u32],
    along: &[Reach],
    against: &[Reach],
    stats: &mut StatsBuilder,
) -> Result<(u32, u32)> {
    let (components, without) = sizes(graph, sources, stats)?;
    let least = along.iter().chain(against).map(|reach| reach.depth).max().unwrap_or(0);
    let bound = |i: &usize| {
        let (size, along, against) = (components[*i].size, along[*i], against[*i]);
        let whole = along.reached == size && against.reached == size;
        let through = u64::from(along.depth) + u64::from(against.depth);
        if whole { through.min(size - 1) } else { size - 1 }
    };
    // Sources of one component side by side.
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_unstable_by_key(|&i| (components[i].label, sources[i]));
    // A source that is given twice is one.
    order.dedup_by_key(|i| sources[*i]);
    let groups = order.chunk_by(|&a, &b| components[a].label == components[b].label);
    let with = groups.filter_map(|same| {
        // Where all vertices of a component are sources, the greatest distance is exact.
        let is_complete = same.first().is_some_and(|&i| components[i].size == same.len() as u64);
        match is_complete {
            true => same.iter().map(|&i| u64::from(along[i].depth)).max(),
            false => same.iter().map(bound).min(),
        }
    });
    let with = with.max().unwrap_or(0);
    Ok((least, with.max(without.saturating_sub(1)) as u32))
}

struct SourceComponent {
    label: u32,
    size: u64,
}

/// The components of the sources, and how many vertices the largest of the others has.
fn sizes(graph: &Graph, sources: &[u32], stats: &mut StatsBuilder) -> Result<(Vec<SourceComponent>, u64)> {
    let all = components(graph, &ComponentsOptions::default())?;
    all.stats.steps.iter().for_each(|step| stats.step(step.name, step.active, step.sweep));
    let mut sizes = all.sizes(graph)?;
    let component = |&source: &u32| {
        let label = all.labels[source as usize];
        SourceComponent { label, size: sizes[label as usize].into() }
    };
    let components: Vec<SourceComponent> = sources.iter().map(component).collect();
    components.iter().for_each(|component| sizes[component.label as usize] = 0);
    let without = sizes.iter().copied().max().unwrap_or(0);
    Ok((components, without.into()))
}
