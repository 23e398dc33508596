//! The edges among a vertex and its neighbours, counted for eight vertices at a time by a vertex program.
//!
//! *Idea.* The program has two iterations. In the first one the vertices of the group request their lists, and give all
//! vertices on them their mark, a bit of a byte. In the second one every marked vertex requests its own list and counts
//! the neighbours that share marks with it, for all eight at once. So a list is read once for eight vertices, and hubs
//! cost no more memory than others.
//!
//! *Cost.* At most one pass over the lists per group; a byte per vertex, and the state of the program.

use crate::visit::for_each_vertex;
use outcore_graph::{
    Direction, Frontier, Graph, List, ProgramOptions, Vertex, VertexProgram, program_bytes, run_program,
};
use outcore_image::{Result, SweepStats};
use outcore_io::Buffer;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Number of vertices of a group: each has a bit of a byte as its mark.
pub(crate) const GROUP: usize = 8;

/// The memory of the program beside the marks, in bytes.
pub(crate) fn bytes(graph: &Graph) -> u64 {
    program_bytes::<Look<'_>>(graph)
}

/// Counts, for each vertex of a group in rising order, the edges among itself and its neighbours. `marks` is scratch
/// space of a byte per vertex.
///
/// # Errors
/// Too little memory, a page that cannot be read or is damaged, a request to stop.
pub(crate) fn count_edges_among(
    graph: &Graph,
    marks: &Buffer<AtomicU8>,
    group: &[u32],
) -> Result<([u64; GROUP], SweepStats)> {
    for_each_vertex(graph, |vertex| marks[vertex as usize].store(0, Ordering::Relaxed))?;
    let look = Look { graph, group, marks, edges: Default::default() };
    let options = ProgramOptions {
        start: Frontier::List(group),
        max_iterations: Some(2),
        message_bytes: Some(0),
        ..ProgramOptions::default()
    };
    // States without a size take no memory.
    let run = run_program(graph, &look, &mut vec![(); graph.vertices() as usize], &options)?;
    Ok((look.edges.map(AtomicU64::into_inner), run.stats.total))
}

/// The program: a group marks its neighbourhoods, and the marked count the edges among them.
struct Look<'a> {
    graph: &'a Graph,
    group: &'a [u32],
    /// Per vertex a bit for each vertex of the group in whose neighbourhood it is.
    marks: &'a [AtomicU8],
    edges: [AtomicU64; GROUP],
}

impl VertexProgram for Look<'_> {
    type State = ();
    type Message = ();

    fn run(&self, vertex: &mut Vertex<'_, ()>, (): &mut ()) {
        if vertex.iteration() > 0 {
            return vertex.request(Direction::Out);
        }
        self.mark(vertex, &[vertex.id()]);
        self.graph.directions().iter().for_each(|&direction| vertex.request(direction));
    }

    fn on_list(&self, vertex: &mut Vertex<'_, ()>, (): &mut (), list: List<'_>) {
        match vertex.iteration() {
            0 => self.mark(vertex, list.neighbours),
            _ => self.count(list),
        }
    }

    /// Parts may be counted one by one unless parallel edges span them.
    fn part(&self, (): &()) -> Option<()> {
        (!self.graph.manifest().parallel_edges).then_some(())
    }
}

impl Look<'_> {
    fn mark(&self, vertex: &mut Vertex<'_, ()>, others: &[u32]) {
        let place = self.group.binary_search(&vertex.id()).expect("a vertex of the group");
        for &other in others {
            self.marks[other as usize].fetch_or(1 << place, Ordering::Relaxed);
        }
        vertex.activate(others);
    }

    /// Counts the edges of a list, those without direction only if they lead to a smaller number.
    fn count(&self, list: List<'_>) {
        let mark = |vertex: u32| self.marks[vertex as usize].load(Ordering::Relaxed);
        let behind = |list: List<'_>| list.neighbours.partition_point(|&other| other < list.vertex);
        let end = if self.graph.is_directed() { list.neighbours.len() } else { behind(list) };
        let (own, mut before, mut sums) = (mark(list.vertex), list.vertex, [0; GROUP]);
        // A byte of a word counts up to 255.
        for some in list.neighbours[..end].chunks(255) {
            let mut counts = 0;
            for &other in some {
                let is_new = other != before && other != list.vertex;
                counts += BYTES[usize::from(mark(other) & own)] * u64::from(is_new);
                before = other;
            }
            for (sum, count) in sums.iter_mut().zip(counts.to_le_bytes()) {
                *sum += u64::from(count);
            }
        }
        for (edges, sum) in self.edges.iter().zip(sums).filter(|(_, sum)| *sum > 0) {
            edges.fetch_add(sum, Ordering::Relaxed);
        }
    }
}

/// For every mark a word that has 1 in the bytes whose bits are set.
const BYTES: [u64; 256] = {
    let mut words = [0; 256];
    let mut i = 0;
    while i < 256 * GROUP {
        let (mark, bit) = (i / GROUP, i % GROUP);
        words[mark] |= (mark as u64 >> bit & 1) << (8 * bit);
        i += 1;
    }
    words
};
