//! The order `near`: vertices that are near in the graph get near numbers, so that lists point into their own page.
//!
//! Clusters of vertices, at first single ones, grow in rounds. Every cluster chooses, among the edges that leave it,
//! the one with the least hash; clusters that chosen edges join become one. No two edges have the same hash, so the
//! chosen edges of a round make trees, but for pairs that chose each other (O. Borůvka, *O jistém problému
//! minimálním*, 1926; here hashes are the weights). A joined cluster has the vertices of its clusters one after the
//! other, as a walk over the tree meets them, which begins at the lesser end of such a pair. When no edge leaves any
//! cluster, each is a component. Components follow each other by their labels, the number by id of the vertex that each
//! begins with; vertices without neighbours come last, by id.
//!
//! So the order depends on the ids and the set of edges alone: not on the edges' order, direction or number, nor on
//! memory or workers. A round reads the edges that left their clusters in the round before, about 3.5 times all edges
//! in sum on a grid, where 13 % of the edges end up between blocks of 500 vertices. Choosing small clusters first, or
//! joining pairs only, was no better (`docs/decisions/0014-asynchronous.md`).
//!
//! Memory: 24 bytes per vertex. Disk: 8 bytes per edge, before any entry of a list is written.

use super::edges::{READ_BYTES, Segment};
use super::ids::runs::{Numbers, RunId, Vertices};
use super::job::Job;
use super::order::{Classes, Cutter, class};
use super::read::Chunk;
use super::translate::{AHEAD, groups, locals};
use outcore_image::Result;
use outcore_ingest::mix;
use outcore_io::buffer::{prefetch, raw_bytes, raw_bytes_mut};
use outcore_io::{Buffer, Runtime, Spill, SpillWriter, SpillWriters, Unit};
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) const PURPOSE: &str = "the order near";
const VERTEX_BYTES: u64 = 24;
/// Memory of buffers beside the vertices, in bytes.
const BUFFERS_BYTES: u64 = 1 << 20;
/// A vertex with as many edges is a hub. Vertices of road networks, grids and meshes have fewer, 52 in a mesh of cubes
/// whose edges go both ways; a graph with hubs has no order in which most edges are short.
const HUB_DEGREE: u64 = 64;
/// With fewer vertices all lists are in a few pages, in any order.
const LEAST_VERTICES: u64 = 1 << 13;
const NONE: u32 = u32::MAX;

pub(super) fn needed_bytes(vertices: u64) -> u64 {
    VERTEX_BYTES * vertices + BUFFERS_BYTES
}

/// Whether the order may make an image smaller, by what is known before its edges are looked at.
pub(super) fn may_suit(classes: &Classes, vertices: u64) -> bool {
    vertices >= LEAST_VERTICES && classes.greatest().is_some_and(|greatest| greatest < class(HUB_DEGREE))
}

/// Writes all edges that were read, but loops, to an empty file: the lesser number by id, the greater one << 32.
pub(super) fn write_pairs(job: &Job<'_>, chunks: &[Chunk], numbers: &Numbers, file: &Spill) -> Result<()> {
    let Job { runtime, .. } = *job;
    for group in groups(chunks) {
        let mut ids: Buffer<u32> = Buffer::zeroed(runtime.budget(), "translating ids", locals(&group))?;
        for &(index, chunk) in &group {
            let visit = |local: u64, _, id| ids[local as usize] = id;
            numbers.for_each_local(runtime, &chunk.run, index, job.facts.string_ids, visit)?;
        }
        let segments: Vec<&Segment> = group.iter().flat_map(|(_, chunk)| &chunk.segments).collect();
        let next = AtomicUsize::new(0);
        runtime.run_on(job.plan.workers, |_| {
            let mut pairs = SpillWriters::appending(runtime, file, READ_BYTES)?;
            while let Some(segment) = segments.get(next.fetch_add(1, Ordering::Relaxed)) {
                segment
                    .read(job, |words| append_pairs(words, job.edge_words(), &ids, &mut pairs))
                    .inspect_err(|_| next.store(segments.len(), Ordering::Relaxed))?;
            }
            pairs.finish()
        })?;
    }
    Ok(())
}

/// Appends the pairs of some edges of `edge_words` words each.
fn append_pairs(words: &[u64], edge_words: usize, ids: &[u32], pairs: &mut SpillWriters) -> Result<()> {
    for (i, &edge) in words.iter().enumerate().step_by(edge_words) {
        if let Some(&ahead) = words.get(i + AHEAD * edge_words) {
            prefetch(ids, ahead as u32 as usize);
            prefetch(ids, (ahead >> 32) as usize);
        }
        let (source, target) = (ids[edge as u32 as usize], ids[(edge >> 32) as usize]);
        if source != target {
            pairs.word(0, u64::from(source.min(target)) | u64::from(source.max(target)) << 32)?;
        }
    }
    Ok(())
}

/// The place of every vertex in the order, by its number by id. `pairs` holds the edges; it is overwritten.
pub(super) fn near_numbers(runtime: &Runtime, pairs: &Spill, vertices: u64) -> Result<Buffer<u32>> {
    let mut clusters = Clusters::new(runtime, vertices as usize)?;
    let mut buffer: Buffer<u64> = Buffer::zeroed(runtime.budget(), PURPOSE, READ_BYTES / 8)?;
    let progress = runtime.task("ordering vertices", Unit::Bytes, None);
    let mut len_bytes = pairs.len_bytes();
    while len_bytes > 0 {
        let mut read_bytes = 0;
        // Pairs that are kept overwrite pairs that were read before, which are at least as many.
        let mut writer = SpillWriter::new(runtime, pairs, 0, 2 * READ_BYTES)?;
        while read_bytes < len_bytes {
            runtime.cancel().check()?;
            let count = ((len_bytes - read_bytes) / 8).min(buffer.len() as u64) as usize;
            pairs.read(raw_bytes_mut(&mut buffer[..count]), read_bytes)?;
            read_bytes += 8 * count as u64;
            let outgoing = clusters.choose(&mut buffer[..count]);
            writer.bytes(raw_bytes(&buffer[..outgoing]))?;
            progress.advance(8 * count as u64);
        }
        clusters.join();
        len_bytes = writer.finish()?;
    }
    Ok(clusters.into_numbers())
}

/// Cuts vertices into buckets, by their out-lists and by their in-lists where edges have a direction. Writes `near`,
/// their numbers in the order of their ids, to an empty file.
pub(super) fn cut<K: RunId>(
    runtime: &Runtime,
    vertices: &Vertices,
    directed: bool,
    near: &[u32],
    file: &Spill,
) -> Result<[Cutter; 2]> {
    let budget = runtime.budget();
    let mut entries: Buffer<u64> = Buffer::zeroed(budget, PURPOSE, 2 * near.len())?;
    let mut writer = SpillWriter::new(runtime, file, 0, READ_BYTES)?;
    let mut reader = vertices.reader::<K>(runtime)?;
    for &number in near {
        reader.advance()?;
        writer.word(u64::from(number))?;
        let (sources, targets) = (reader.sources, reader.targets);
        let both = if directed { [sources, targets] } else { [sources + targets, 0] };
        entries[2 * number as usize..][..2].copy_from_slice(&both);
    }
    writer.finish()?;
    let mut cutters = [Cutter::default(), Cutter::default()];
    for both in entries.chunks_exact(2) {
        cutters.iter_mut().zip(both).for_each(|(cutter, &entries)| cutter.add(1, entries));
    }
    Ok(cutters)
}

/// Clusters of vertices. A cluster is called by its first vertex, its *label*, and has an entry there.
struct Clusters {
    /// A vertex of the same cluster, the label in the end; a label has itself.
    nearer: Buffer<u32>,
    /// The vertex after this one in its cluster.
    next: Buffer<u32>,
    /// The last vertex of a cluster.
    last: Buffer<u32>,
    /// The least hash of an edge that leaves a cluster. While clusters join: how many have to join this one first.
    least: Buffer<u64>,
    /// The label that the edge leads to. While clusters join: the cluster to join, unless that is done.
    chosen: Buffer<u32>,
}

impl Clusters {
    /// Every vertex is a cluster.
    fn new(runtime: &Runtime, vertices: usize) -> Result<Self> {
        let array = || Buffer::<u32>::zeroed(runtime.budget(), PURPOSE, vertices);
        let least = Buffer::zeroed(runtime.budget(), PURPOSE, vertices)?;
        let mut clusters = Clusters { nearer: array()?, next: array()?, last: array()?, least, chosen: array()? };
        for vertex in 0..vertices {
            (clusters.nearer[vertex], clusters.last[vertex]) = (vertex as u32, vertex as u32);
        }
        clusters.next.fill(NONE);
        clusters.chosen.fill(NONE);
        clusters.least.fill(u64::MAX);
        Ok(clusters)
    }

    /// The label of a vertex's cluster. Halves the way there for the next time.
    #[inline]
    fn label(&mut self, mut vertex: u32) -> u32 {
        loop {
            let nearer = self.nearer[vertex as usize];
            if nearer == vertex {
                return vertex;
            }
            let after = self.nearer[nearer as usize];
            self.nearer[vertex as usize] = after;
            vertex = after;
        }
    }

    /// Offers edges to the clusters at their ends; those that leave a cluster go to the front, and are counted.
    fn choose(&mut self, pairs: &mut [u64]) -> usize {
        let mut outgoing = 0;
        for i in 0..pairs.len() {
            if let Some(&ahead) = pairs.get(i + AHEAD) {
                prefetch(&self.nearer, ahead as u32 as usize);
                prefetch(&self.nearer, (ahead >> 32) as usize);
            }
            let pair = pairs[i];
            let (one, other) = (self.label(pair as u32), self.label((pair >> 32) as u32));
            if one == other {
                continue;
            }
            // A permutation of words: different edges have different hashes.
            let hash = mix(pair);
            for (from, to) in [(one as usize, other), (other as usize, one)] {
                if hash <= self.least[from] {
                    (self.least[from], self.chosen[from]) = (hash, to);
                }
            }
            pairs[outgoing] = pair;
            outgoing += 1;
        }
        outgoing
    }

    /// Joins clusters to those that they chose, each behind what the other has by then.
    fn join(&mut self) {
        let count = self.chosen.len();
        self.least.fill(0);
        for cluster in 0..count {
            let chosen = self.chosen[cluster];
            if chosen == NONE {
                continue;
            }
            if self.chosen[chosen as usize] == cluster as u32 && cluster < chosen as usize {
                // The root of a tree.
                self.chosen[cluster] = NONE;
            } else {
                self.least[chosen as usize] += 1;
            }
        }
        // A cluster joins when all that chose it have joined it. Those that must wait are met again by the last of
        // them, unless they are still to come.
        for start in 0..count {
            let mut cluster = start;
            while self.least[cluster] == 0 && self.chosen[cluster] != NONE {
                let into = std::mem::replace(&mut self.chosen[cluster], NONE) as usize;
                self.next[self.last[into] as usize] = cluster as u32;
                self.last[into] = self.last[cluster];
                self.nearer[cluster] = into as u32;
                self.least[into] -= 1;
                if into > start {
                    break;
                }
                cluster = into;
            }
        }
        self.least.fill(u64::MAX);
    }

    fn into_numbers(self) -> Buffer<u32> {
        let Clusters { nearer, next, last: mut numbers, .. } = self;
        let mut number = 0;
        for alone in [false, true] {
            for label in 0..nearer.len() {
                if nearer[label] != label as u32 || (next[label] == NONE) != alone {
                    continue;
                }
                let mut vertex = label as u32;
                while vertex != NONE {
                    numbers[vertex as usize] = number;
                    number += 1;
                    vertex = next[vertex as usize];
                }
            }
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::RuntimeOptions;

    /// The place of every vertex of a graph in the order; a permutation.
    fn order(vertices: u64, edges: &[(u32, u32)]) -> Vec<u32> {
        let directory = tempfile::tempdir().unwrap();
        let runtime = Runtime::new(RuntimeOptions::default()).unwrap();
        let file = Spill::create(runtime.backend(), &directory.path().join("pairs")).unwrap();
        let pair = |&(one, other): &(u32, u32)| u64::from(one.min(other)) | u64::from(one.max(other)) << 32;
        let pairs: Vec<u64> = edges.iter().filter(|(one, other)| one != other).map(pair).collect();
        let mut writer = SpillWriter::new(&runtime, &file, 0, READ_BYTES).unwrap();
        writer.bytes(raw_bytes(&pairs)).unwrap();
        writer.finish().unwrap();
        let numbers = near_numbers(&runtime, &file, vertices).unwrap().to_vec();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..vertices as u32));
        numbers
    }

    /// The vertices, as they are ordered.
    fn ordered(vertices: u64, edges: &[(u32, u32)]) -> Vec<u32> {
        let numbers = order(vertices, edges);
        let mut vertices: Vec<u32> = (0..vertices as u32).collect();
        vertices.sort_unstable_by_key(|&vertex| numbers[vertex as usize]);
        vertices
    }

    /// A grid whose vertices are numbered at random.
    fn shuffled_grid(side: u32) -> Vec<(u32, u32)> {
        let mut names: Vec<u32> = (0..side * side).collect();
        names.sort_by_key(|&name| mix(u64::from(name) + 1));
        let mut edges = Vec::new();
        for place in 0..side * side {
            let name = names[place as usize];
            if (place + 1) % side > 0 {
                edges.push((name, names[place as usize + 1]));
            }
            if place + side < side * side {
                edges.push((names[(place + side) as usize], name));
            }
        }
        edges
    }

    /// How many of a thousand edges lead to another block of 500 vertices.
    fn leaving_per_mille(numbers: &[u32], edges: &[(u32, u32)]) -> usize {
        let block = |vertex: u32| numbers[vertex as usize] / 500;
        1000 * edges.iter().filter(|&&(one, other)| block(one) != block(other)).count() / edges.len()
    }

    #[test]
    fn most_edges_of_a_shuffled_grid_stay_in_their_block() {
        let edges = shuffled_grid(400);
        let as_they_are: Vec<u32> = (0..400 * 400).collect();
        assert!(leaving_per_mille(&as_they_are, &edges) > 990);
        assert!(leaving_per_mille(&order(400 * 400, &edges), &edges) < 140);
    }

    #[test]
    fn order_direction_and_number_of_edges_and_loops_do_not_matter() {
        let edges = shuffled_grid(40);
        let expected = order(1600, &edges);
        let mut others: Vec<(u32, u32)> = edges.iter().rev().map(|&(one, other)| (other, one)).collect();
        others.extend(edges.iter().step_by(3));
        others.extend((0..1600).step_by(7).map(|vertex| (vertex, vertex)));
        assert_eq!(order(1600, &others), expected);
        // But the edges do.
        assert_ne!(order(1600, &edges[1..]), expected);
    }

    #[test]
    fn components_stay_together_and_single_vertices_come_last() {
        // Two paths of even and of odd vertices, and what has no edge but a loop.
        let edges: Vec<(u32, u32)> = (0..998).map(|v| (v, v + 2)).chain([(1003, 1003)]).collect();
        let vertices = ordered(1005, &edges);
        assert_eq!(vertices[1000..], [1000, 1001, 1002, 1003, 1004]);
        let (one, other) = vertices[..1000].split_at(500);
        assert!(one.iter().all(|v| v % 2 == one[0] % 2) && other.iter().all(|v| v % 2 == other[0] % 2));
    }

    #[test]
    fn paths_are_cut_seldom_and_stars_lie_around_their_centre() {
        let mut names: Vec<u32> = (0..100_000).collect();
        names.sort_by_key(|&name| mix(u64::from(name) + 1));
        let path: Vec<(u32, u32)> = names.windows(2).map(|pair| (pair[0], pair[1])).collect();
        assert!(leaving_per_mille(&order(100_000, &path), &path) < 30);
        let star: Vec<(u32, u32)> = (1..1000).map(|leaf| (leaf, 0)).collect();
        let vertices = ordered(1000, &star);
        // One round: the tree's root is the centre, the lesser end of the edge with the least hash.
        assert_eq!(vertices[..2], [0, 1]);
        assert!(vertices.is_sorted());
    }

    #[test]
    fn tiny_graphs_have_an_order() {
        assert!(order(0, &[]).is_empty());
        assert_eq!(order(1, &[]), [0]);
        assert_eq!(order(1, &[(0, 0)]), [0]);
        assert_eq!(ordered(3, &[]), [0, 1, 2]);
        assert_eq!(ordered(3, &[(2, 1)]), [1, 2, 0]);
        assert_eq!(ordered(3, &[(2, 1), (1, 2), (2, 1)]), [1, 2, 0]);
    }
}
