//! Whether the vertices have two colours such that every edge joins both: whether a graph is bipartite.
//!
//! *Idea.* A search from one vertex of every component, all at once, gives each vertex the
//! colour that its neighbour before it has not. An edge between vertices of one colour closes a circle of odd length.
//!
//! *Input.* Edges without direction.
//!
//! *Cost.* Components, and 4 bytes per vertex and the frontiers of a search beside them; every list once, in as many
//! steps as the deepest search takes. The number of components does not matter.

use crate::kernels::components::{self, ComponentsOptions, components};
use crate::state::{Layout, array, bitmap, part};
use outcore_graph::{Bitmap, Direction, EdgeMapper, Graph};
use outcore_image::{Error, Result, Stats, StatsBuilder};
use outcore_io::Buffer;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Whether a graph is bipartite.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct TwoColours {
    /// Whether every edge joins vertices of different colours.
    pub is_bipartite: bool,
    /// Per vertex 1 or 2, as far as the search came: 0 where it ended before.
    pub(crate) colours: Buffer<u32>,
    /// Statistics of the run, without those of the components.
    pub stats: Stats,
}

impl TwoColours {
    /// The colour of a vertex, 0 or 1, if there is such a vertex and the search came to it: to all of a bipartite
    /// graph. The first vertex of a component has 0.
    pub fn colour(&self, vertex: u32) -> Option<u32> {
        self.colours.get(vertex as usize)?.checked_sub(1)
    }

    /// The colour of every vertex, 0 or 1, in the order of vertices; none where the search ended before.
    pub fn colours(&self) -> impl ExactSizeIterator<Item = Option<u32>> {
        self.colours.iter().map(|colour| colour.checked_sub(1))
    }
}

/// Colours, the first vertex of every component, and the frontier.
type State<'g> = (Buffer<AtomicU32>, Bitmap, EdgeMapper<'g>);

fn state(graph: &Graph) -> impl Layout<Made = State<'_>> {
    let vertices = graph.vertices();
    let mapper = part(EdgeMapper::bytes(vertices), move || EdgeMapper::idle(graph));
    (array(graph, "colours", vertices), bitmap(graph, "the first vertices of components", vertices), mapper)
}

/// Finds whether a graph is bipartite, and the colours of its vertices. An edge from a vertex to itself has ends of one
/// colour.
///
/// # Errors
/// Edges with a direction, too little memory (8.6 bytes per vertex), a page that cannot be read or is damaged, a
/// request to stop.
pub fn two_colours(graph: &Graph) -> Result<TwoColours> {
    if graph.is_directed() {
        let text =
            "expected edges without direction to colour their ends, found some with one; import them as undirected";
        return Err(Error::Usage(text.to_owned()));
    }
    let labels_bytes = components::estimate(graph).state_bytes;
    graph.make_room("two colours", labels_bytes.saturating_add(state(graph).bytes()))?;
    let components = components(graph, &ComponentsOptions::default())?;
    let mut stats = StatsBuilder::of_image(graph.image());
    let (colours, firsts, mut mapper) = state(graph).make()?;
    for (vertex, _) in (0..).zip(components.labels.iter()).filter(|&(vertex, &label)| vertex == label) {
        colours[vertex as usize].store(1, Ordering::Relaxed);
        firsts.insert(vertex);
    }
    drop(components);
    mapper.restart_with(Direction::Out, &firsts)?;
    drop(firsts);
    graph.fill_cache()?;
    let is_odd = AtomicBool::new(false);
    // Vertices that are active in one step have one colour within a component, whichever edge led to them.
    while mapper.active() > 0 && !is_odd.load(Ordering::Relaxed) {
        let step = mapper.push_step(|vertex, neighbour, next| {
            let own = colours[vertex as usize].load(Ordering::Relaxed);
            match colours[neighbour as usize].compare_exchange(0, 3 - own, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => next.activate(neighbour),
                Err(other) if other == own => is_odd.store(true, Ordering::Relaxed),
                Err(_) => {}
            }
        })?;
        stats.step(step.way.name(), step.active, step.sweep);
    }
    let stats = stats.finish(graph.runtime(), graph.all_pages());
    Ok(TwoColours { is_bipartite: !is_odd.into_inner(), colours: colours.into_values(), stats })
}
