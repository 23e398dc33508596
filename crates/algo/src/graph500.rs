//! Graph500: the roots of its searches, and the validation of the trees that they find.
//!
//! A tree is compared with the edges of the input, multiple ones and loops included, as the generator makes them; the
//! image is not read. The five rules of the specification:
//!
//! 1. It is a tree: every vertex's parents lead to the root.
//! 2. A vertex is one level below its parent, or farther by the weight of an edge between the two.
//! 3. The ends of every edge are at most one level apart, or at most the edge's weight.
//! 4. No edge leads out of the tree, so it spans a whole component.
//! 5. A vertex and its parent are joined by an edge.
//!
//! Distances are compared to the last bit, with the rounding of the search.
//!
//! *Cost.* The edges are generated once more, a block per worker at a time, and not stored. 4 bytes and 3 bits per
//! vertex.
//!
//! Murphy, Wheeler, Barrett, Ang, *Introducing the Graph 500*, Cray Users Group 2010; the specification is of 2017.

use crate::kernels::bfs::Bfs;
use crate::kernels::searches::lengths::{Integer, Length, Real};
use crate::kernels::sssp::{Sssp, SsspOptions};
use crate::sources::Smallest;
use crate::state::{Layout, array, bitmap, degrees};
use crate::verify::{Contradiction, follow_parents, ways};
use crate::visit::for_each_vertex;
use outcore_format::WeightKind;
use outcore_graph::generate::{GenerateOptions, for_each_edges};
use outcore_graph::import::BatchWeights;
use outcore_graph::{Bitmap, Direction, Graph};
use outcore_image::{Error, Result};
use outcore_io::{Buffer, split_mix};
use outcore_table::{Id, IdStream, distance_bits};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many ends of edges are looked up together.
const ENDS: usize = 2048;

/// Chooses `count` vertices to search from, with equal probability, among those that have an edge; all if there are
/// fewer.
///
/// The sources depend on the ids and the seed alone. Self-loops are edges here; images of Graph500 have none. One pass
/// over the ids; 4 bytes per vertex.
///
/// # Errors
/// Ids that are strings, a column that cannot be read or is damaged, or no memory.
pub fn roots(graph: &Graph, seed: u64, count: usize) -> Result<Vec<u32>> {
    let degrees = degrees(graph, Direction::Out);
    graph.make_room("the degrees", degrees.bytes() + IdStream::bytes(graph.image()))?;
    let (degrees, _) = degrees.make()?;
    // Every vertex draws a number; those with the least are chosen.
    let mut smallest = Smallest::new(count);
    for_each_id(graph, |vertex, id| {
        if degrees[vertex as usize].load(Ordering::Relaxed) > 0 {
            smallest.offer((split_mix(split_mix(seed) ^ split_mix(id)), vertex));
        }
    })?;
    Ok(smallest.into_sorted().map(|(_, vertex)| vertex).collect())
}

/// The memory of a search's result and of its validation: distances are of 8 bytes, parents of 4.
pub fn validation_bytes(graph: &Graph) -> u64 {
    12 * graph.vertices() + checking_bytes(graph)
}

fn checking_bytes(graph: &Graph) -> u64 {
    (state(graph), ways(graph)).bytes() + IdStream::bytes(graph.image())
}

/// The vertices that are joined with their parents, and the vertex of every id.
fn state(graph: &Graph) -> impl Layout<Made = (Bitmap, Buffer<u32>)> {
    let vertices = graph.vertices();
    (bitmap(graph, "validation of a search", vertices), array(graph, "vertices of ids", vertices))
}

/// Validates a breadth-first search of a whole component by the five rules; `options` are what the image was generated
/// with, without directions.
///
/// Returns how many edges of the input, multiple ones and loops included, the search traversed.
///
/// # Errors
/// The first vertex that contradicts a rule, a graph that was not generated with the options, too little memory (4.4
/// bytes per vertex), or a request to stop.
pub fn verify_bfs(graph: &Graph, options: &GenerateOptions, root: u32, result: &Bfs) -> Result<u64> {
    result.stats.check_image(graph.image())?;
    let distance = |vertex| result.level(vertex).map(u64::from);
    verify::<Integer>(graph, options, &Tree { root, weights: false, distance, parent: |vertex| result.parent(vertex) })
}

/// Validates shortest paths by the five rules, and counts edges, as [`verify_bfs`] does. Among multiple edges the image
/// has the one of least weight.
///
/// # Errors
/// As those of [`verify_bfs`].
pub fn verify_sssp(graph: &Graph, options: &GenerateOptions, search: &SsspOptions, result: &Sssp) -> Result<u64> {
    result.stats.check_image(graph.image())?;
    let distance = |vertex: u32| distance_bits(result.distances[vertex as usize]);
    let parent = |vertex| result.parent(vertex);
    let tree = Tree { root: search.source, weights: search.weights, distance, parent };
    match result.kind {
        WeightKind::I64 => verify::<Integer>(graph, options, &tree),
        WeightKind::F64 => verify::<Real>(graph, options, &tree),
    }
}

struct Tree<D, P> {
    root: u32,
    /// Whether distances are sums of weights.
    weights: bool,
    /// A vertex's distance from the root, in the bits of its kind.
    distance: D,
    parent: P,
}

fn verify<L: Length>(
    graph: &Graph,
    options: &GenerateOptions,
    tree: &Tree<impl Fn(u32) -> Option<u64> + Sync, impl Fn(u32) -> Option<u32> + Sync>,
) -> Result<u64> {
    graph.check_vertex(tree.root)?;
    graph.make_room("validation of a search", checking_bytes(graph))?;
    let (joined, mut numbers) = state(graph).make()?;
    find_ids(graph, options, &mut numbers)?;
    let (apart, outside, unjoined) = (Contradiction::none(), Contradiction::none(), Contradiction::none());
    let check = EdgeCheck { tree, numbers, joined, apart, outside };
    let traversed = AtomicU64::new(0);
    for_each_edges(graph.runtime(), options, |ids, weights| {
        traversed.fetch_add(check.edges::<L>(ids, weights), Ordering::Relaxed);
    })?;
    let wrong = |expected: &str, vertex: u32| {
        let parent = (tree.parent)(vertex);
        let distance = (tree.distance)(vertex).map(L::real);
        Error::verification(expected, format!("vertex {vertex} of the image at {distance:?} with parent {parent:?}"))
    };
    check.apart.check(|vertex| wrong("the ends of every edge no farther apart than it is long", vertex))?;
    check.outside.check(|vertex| wrong("no edge between the tree and other vertices", vertex))?;
    for_each_vertex(graph, |vertex| {
        let result = ((tree.distance)(vertex), (tree.parent)(vertex));
        let right = match vertex == tree.root {
            true => result == (Some(0), Some(vertex)),
            false => result == (None, None) || check.joined.contains(vertex),
        };
        if !right {
            unjoined.at(vertex);
        }
    })?;
    unjoined.check(|vertex| wrong("an edge between every vertex and its parent, as long as they are apart", vertex))?;
    drop(check);
    follow_parents(graph, tree.root, &tree.parent, |vertex| wrong("parents that lead to the root", vertex))?;
    Ok(traversed.into_inner())
}

/// A check of a tree against all edges.
struct EdgeCheck<'a, D, P> {
    tree: &'a Tree<D, P>,
    /// The vertex of every id.
    numbers: Buffer<u32>,
    /// Vertices that an edge, as long as it has to be, joins with their parents.
    joined: Bitmap,
    /// Ends of an edge that are too far apart.
    apart: Contradiction,
    /// Ends of an edge that leads out of the tree.
    outside: Contradiction,
}

impl<D: Fn(u32) -> Option<u64>, P: Fn(u32) -> Option<u32>> EdgeCheck<'_, D, P> {
    /// Looks at some edges; returns how many are in the tree's component.
    fn edges<L: Length>(&self, ids: &[u64], weights: &BatchWeights) -> u64 {
        let length = |i: usize| match weights {
            BatchWeights::Integer(weights) if self.tree.weights => weights[i] as u64,
            BatchWeights::Real(weights) if self.tree.weights => weights[i].to_bits(),
            _ => L::ONE,
        };
        let (mut ends, mut distances) = ([0; ENDS], [None; ENDS]);
        let mut count = 0;
        for (block, ids) in ids.chunks(ENDS).enumerate() {
            // Loops of nothing but look-ups, which the processor makes at the same time.
            ends.iter_mut().zip(ids).for_each(|(end, &id)| *end = self.numbers[id as usize]);
            distances.iter_mut().zip(&ends[..ids.len()]).for_each(|(slot, &end)| *slot = (self.tree.distance)(end));
            for i in 0..ids.len() / 2 {
                let (one, other) = (ends[2 * i], ends[2 * i + 1]);
                match (distances[2 * i], distances[2 * i + 1]) {
                    (None, None) => {}
                    (Some(near), Some(far)) => {
                        count += 1;
                        let length = length(block * ENDS / 2 + i);
                        self.direction(one, (other, far), L::add(near, length));
                        self.direction(other, (one, near), L::add(far, length));
                    }
                    _ => self.outside.at(one.min(other)),
                }
            }
        }
        count
    }

    /// Looks at an edge in one direction: `offered` is the distance at which it puts its target.
    #[inline]
    fn direction(&self, from: u32, (to, distance): (u32, u64), offered: Option<u64>) {
        if offered.is_some_and(|offered| distance > offered) {
            self.apart.at(to);
        }
        if offered == Some(distance) && (self.tree.parent)(to) == Some(from) {
            self.joined.insert(to);
        }
    }
}

/// Finds the vertex of every id of a generated graph.
fn find_ids(graph: &Graph, options: &GenerateOptions, numbers: &mut [u32]) -> Result<()> {
    if graph.is_directed() || graph.vertices() != 1 << options.scale {
        let expected = format!("an undirected graph of {} vertices", 1u64 << options.scale);
        let direction = if graph.is_directed() { "a directed" } else { "an undirected" };
        let found = format!("{direction} one of {} in {}", graph.vertices(), graph.path().display());
        return Err(Error::Unsuitable(format!("expected {expected}, found {found}")));
    }
    let mut strange = None;
    for_each_id(graph, |vertex, id| match numbers.get_mut(id as usize) {
        Some(slot) => *slot = vertex,
        None => strange = Some(id),
    })?;
    match strange {
        None => Ok(()),
        Some(id) => Err(Error::Unsuitable(format!("expected ids below {}, found {id}", graph.vertices()))),
    }
}

/// Calls `visit` with every vertex and its id.
fn for_each_id(graph: &Graph, mut visit: impl FnMut(u32, u64)) -> Result<()> {
    let mut ids = IdStream::new(graph.image())?;
    while let Some((first, batch)) = ids.next()? {
        for (i, id) in batch.iter().enumerate() {
            let id = match id {
                Id::Unsigned(id) => id,
                Id::Signed(id) => id as u64,
                Id::Text(_) => return Err(Error::Unsuitable("expected ids that are numbers, found strings".into())),
            };
            visit((first + i as u64) as u32, id);
        }
    }
    Ok(())
}
