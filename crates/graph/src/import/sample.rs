//! A sample of lists, to see in which order of the vertices they are smaller.
//!
//! A vertex is in the sample if its hash is below a threshold; then so are all edges of its lists. When the sample gets
//! too large the threshold is halved, so the final sample depends on the edges alone: not on the number of workers, nor
//! on the order in which they met the edges. A hub that is too large for the sample drops out of it.

use super::ids::dictionary::Group;
use super::ids::runs::Numbers;
use super::read::Chunk;
use outcore_format::Order;
use outcore_format::block::sequence_bytes;
use outcore_format::list::fold;
use outcore_image::Result;
use outcore_io::{Buffer, Runtime};

/// The most edges in a sample.
const MOST_EDGES: usize = 1 << 16;
// A reader has the memory for its sample.
const _: () = assert!((MOST_EDGES * size_of::<Edge>()) as u64 <= outcore_ingest::SAMPLE_BYTES);
/// The order by degree is taken unless the one by id saves more than this part, for it makes gathers cheaper; and the
/// better of both unless the order near does.
const WORTH_PERCENT: u64 = 3;

/// An entry of a sampled list, in locals of a chunk.
#[derive(Clone, Copy, Debug)]
struct Edge {
    owner: u32,
    neighbour: u32,
    hash: u32,
    /// Twice the chunk, plus one if the list is one of in-neighbours.
    list: u32,
}

/// Sampled edges.
pub(super) struct Sample {
    edges: Vec<Edge>,
    threshold: u32,
}

impl Default for Sample {
    fn default() -> Self {
        Sample { edges: Vec::with_capacity(MOST_EDGES + 1), threshold: u32::MAX }
    }
}

impl Sample {
    /// Takes what belongs to the sample of the first `edges` edges of a group.
    #[inline]
    pub(super) fn take(&mut self, group: &Group, edges: usize, chunk: u32) {
        let ends = group.hashes[..2 * edges].chunks_exact(2).zip(group.locals[..2 * edges].chunks_exact(2));
        for (hashes, locals) in ends {
            for (side, &hash) in hashes.iter().enumerate() {
                if hash <= self.threshold {
                    let list = 2 * chunk + side as u32;
                    self.add(Edge { owner: locals[side], neighbour: locals[1 - side], hash, list });
                }
            }
        }
    }

    fn add(&mut self, edge: Edge) {
        self.edges.push(edge);
        while self.edges.len() > MOST_EDGES && self.threshold > 0 {
            self.threshold /= 2;
            let threshold = self.threshold;
            self.edges.retain(|edge| edge.hash <= threshold);
        }
        self.edges.truncate(MOST_EDGES);
    }

    /// Takes what another worker sampled.
    pub(super) fn merge(&mut self, other: Sample) {
        self.threshold = self.threshold.min(other.threshold);
        let threshold = self.threshold;
        self.edges.retain(|edge| edge.hash <= threshold);
        for edge in other.edges {
            if edge.hash <= self.threshold {
                self.add(edge);
            }
        }
    }

    /// The sampled lists in the orders by degree and by id.
    pub(super) fn lists(
        mut self,
        runtime: &Runtime,
        chunks: &[Chunk],
        numbers: &Numbers,
        strings: bool,
        directed: bool,
    ) -> Result<SampledLists> {
        self.edges.sort_unstable_by_key(|edge| edge.list / 2);
        let mut by_degree = Vec::with_capacity(self.edges.len());
        let mut by_id = Vec::with_capacity(self.edges.len());
        for edges in self.edges.chunk_by(|one, other| one.list / 2 == other.list / 2) {
            let locals = sampled_locals(runtime, edges, chunks, numbers, strings)?;
            let find = |local: u32| locals.get(locals.partition_point(|entry| entry.0 < local)).copied();
            for edge in edges {
                let [owner, neighbour] = [edge.owner, edge.neighbour].map(|end| find(end).unwrap_or_default());
                let list = if directed { edge.list % 2 } else { 0 };
                by_degree.push((list, owner.1, neighbour.1));
                by_id.push((list, owner.2, neighbour.2));
            }
        }
        let (degree_bytes, id_bytes) = (lists_bytes(&mut by_degree), lists_bytes(&mut by_id));
        Ok(SampledLists { by_id, degree_bytes, id_bytes })
    }
}

/// Sampled lists, and what they take.
pub(super) struct SampledLists {
    by_id: Vec<Entry>,
    degree_bytes: u64,
    id_bytes: u64,
}

impl SampledLists {
    /// The order in which they are smaller: by degree or by id.
    pub(super) fn better_order(&self) -> Order {
        if saves(self.id_bytes, self.degree_bytes) { Order::Input } else { Order::Degree }
    }

    /// Whether they are smaller in the order near, which is given as numbers by those by id, even if the ids of their
    /// owners take `id_bits` more than in their own order.
    pub(super) fn near_saves(&self, near: &[u32], id_bits: u32) -> bool {
        let mut owners: Vec<u32> = self.by_id.iter().map(|&(_, owner, _)| owner).collect();
        owners.sort_unstable();
        owners.dedup();
        let owners_bytes = owners.len() as u64 * u64::from(id_bits) / 8;
        let number = |&(list, owner, neighbour): &Entry| (list, near[owner as usize], near[neighbour as usize]);
        let near_bytes = lists_bytes(&mut self.by_id.iter().map(number).collect());
        let better = self.better_order();
        saves(near_bytes + owners_bytes, if better == Order::Input { self.id_bytes } else { self.degree_bytes })
    }
}

/// Whether `bytes` are fewer than `than_bytes` by more than `WORTH_PERCENT` percent.
fn saves(bytes: u64, than_bytes: u64) -> bool {
    bytes * 100 < than_bytes * (100 - WORTH_PERCENT)
}

/// An entry of a sampled list: file, owner, neighbour.
type Entry = (u32, u32, u32);

/// The locals of a chunk that its sampled edges name, with their numbers by degree and by id, sorted.
fn sampled_locals(
    runtime: &Runtime,
    edges: &[Edge],
    chunks: &[Chunk],
    numbers: &Numbers,
    strings: bool,
) -> Result<Vec<(u32, u32, u32)>> {
    let index = edges[0].list as usize / 2;
    let last = edges.iter().map(|edge| edge.owner.max(edge.neighbour)).max().unwrap_or(0);
    let mut is_sampled: Buffer<u64> = Buffer::zeroed(runtime.budget(), "the sample", last as usize / 64 + 1)?;
    for local in edges.iter().flat_map(|edge| [edge.owner, edge.neighbour]) {
        is_sampled[local as usize / 64] |= 1 << (local % 64);
    }
    let mut locals = Vec::new();
    numbers.for_each_local(runtime, &chunks[index].run, index, strings, |local, by_degree, by_id| {
        if local <= u64::from(last) && is_sampled[local as usize / 64] >> (local % 64) & 1 != 0 {
            locals.push((local as u32, by_degree, by_id));
        }
    })?;
    locals.sort_unstable();
    Ok(locals)
}

/// Size of encoded lists in bytes; sorts their entries and leaves each once.
fn lists_bytes(entries: &mut Vec<Entry>) -> u64 {
    entries.sort_unstable();
    entries.dedup();
    let mut gaps = Vec::new();
    let lists = entries.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1));
    lists
        .map(|list| {
            let (_, owner, first) = list[0];
            gaps.clear();
            gaps.push(first.min(fold(first, owner)));
            gaps.extend(list.windows(2).map(|pair| pair[1].2 - pair[0].2 - 1));
            sequence_bytes(&gaps) as u64
        })
        .sum()
}
