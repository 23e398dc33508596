//! Partitions: edges, translated to vertex numbers, distributed by the vertex whose list they belong to.
//!
//! A partition is a range of whole buckets (`order.rs`), few enough that every worker has a block of memory for each.
//! An entry of a list is one record, which sorts as its first word does:
//!
//! ```text
//!   vertex less the partition's first (24 bits) | neighbour (32 bits) | degree class of the neighbour (8 bits)
//!   with weights: another word, and in order (`edges.rs`) a third, the edge's place in the input
//!   with complex ones: the real part, the place, the imaginary part
//! ```
//!
//! The class finds the hub column; in the order by degree it is left out, since it follows from the number.

use super::order::{Bucket, VERTEX_BITS};

const VERTEX_SHIFT: u32 = 64 - VERTEX_BITS;
pub(super) const NEIGHBOUR_SHIFT: u32 = 8;
/// How many leading bits of a number tell about where its partition is.
const GUESS_BITS: u32 = 10;

/// A range of vertices whose entries are sorted together.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    pub first_vertex: u64,
    pub buckets: std::ops::Range<usize>,
}

/// The buckets and partitions of one direction.
pub(super) struct Layout {
    pub buckets: Vec<Bucket>,
    pub partitions: Vec<Partition>,
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// For numbers by their leading bits: the partition of the first such number.
    guesses: Vec<u32>,
}

impl Layout {
    /// Partitions of about `target_entries` entries or one bucket.
    pub(super) fn new(buckets: Vec<Bucket>, target_entries: u64) -> Self {
        let mut partitions = Vec::new();
        let (mut first_vertex, mut first_bucket, mut entries) = (0, 0, 0);
        for (i, bucket) in buckets.iter().enumerate() {
            entries += bucket.entries;
            let closes = buckets.get(i + 1).is_none_or(|next| {
                entries + next.entries > target_entries || next.end_vertex - first_vertex > 1 << VERTEX_BITS
            });
            if closes {
                partitions.push(Partition { first_vertex, buckets: first_bucket..i + 1 });
                (first_vertex, first_bucket, entries) = (bucket.end_vertex, i + 1, 0);
            }
        }
        let starts: Vec<u64> = partitions.iter().map(|partition| partition.first_vertex).collect();
        let ends: Vec<u64> = partitions.iter().map(|part| buckets[part.buckets.end - 1].end_vertex).collect();
        let guess = |slot| ends.partition_point(|&end| end <= first_in_slot(slot)) as u32;
        let guesses = (0..=slot(u32::MAX)).map(guess).collect();
        Layout { buckets, partitions, starts, ends, guesses }
    }

    /// The partition of a vertex, and the first word of a record of its list.
    #[inline(always)]
    pub(super) fn record(&self, vertex: u32, neighbour: u32, class: u8) -> (usize, u64) {
        let mut partition = self.guesses[slot(vertex)] as usize;
        while u64::from(vertex) >= self.ends[partition] {
            partition += 1;
        }
        let offset = u64::from(vertex) - self.starts[partition];
        (partition, offset << VERTEX_SHIFT | u64::from(neighbour) << NEIGHBOUR_SHIFT | u64::from(class))
    }

    /// The vertex after a partition's last one.
    pub(super) fn end_vertex(&self, partition: usize) -> u64 {
        self.ends[partition]
    }
}

/// Fields of a record: vertex less the partition's first, neighbour, class.
#[inline(always)]
pub(super) fn parts(record: u64) -> (u64, u32, u8) {
    (record >> VERTEX_SHIFT, (record >> NEIGHBOUR_SHIFT) as u32, record as u8)
}

/// A number's leading bits and how many bits follow, as one number that rises with it.
#[inline(always)]
fn slot(vertex: u32) -> usize {
    let rest_bits = (u32::BITS - vertex.leading_zeros()).saturating_sub(GUESS_BITS);
    ((rest_bits << (GUESS_BITS - 1)) + (vertex >> rest_bits)) as usize
}

/// The least number of a slot.
fn first_in_slot(slot: usize) -> u64 {
    let half = 1 << (GUESS_BITS - 1);
    let rest_bits = (slot / half).saturating_sub(1);
    ((slot - rest_bits * half) as u64) << rest_bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_testkit::random_word;

    #[test]
    fn slots_rise_with_numbers_and_begin_at_their_least_number() {
        for slot_number in 0..=slot(u32::MAX) {
            let first = first_in_slot(slot_number) as u32;
            assert_eq!(slot(first), slot_number);
            assert!(first == 0 || slot(first - 1) == slot_number - 1);
        }
    }

    #[test]
    fn every_vertex_finds_its_partition() {
        let mut state = 1u64;
        for target_entries in [1, 100, 1 << 40] {
            let mut end_vertex = 0;
            let buckets: Vec<Bucket> = (0..500)
                .map(|i| {
                    let word = random_word(&mut state);
                    end_vertex += 1 + (word >> 40) % (1 << (i / 25));
                    Bucket { end_vertex, entries: word >> 58 }
                })
                .collect();
            let layout = Layout::new(buckets, target_entries);
            for (i, partition) in layout.partitions.iter().enumerate() {
                let last = layout.end_vertex(i) - 1;
                for vertex in [partition.first_vertex, last] {
                    let (found, word) = layout.record(vertex as u32, 0xdead_beef, 7);
                    assert_eq!(found, i);
                    assert_eq!(parts(word), (vertex - partition.first_vertex, 0xdead_beef, 7));
                }
            }
            assert_eq!(layout.end_vertex(layout.partitions.len() - 1), end_vertex);
        }
    }
}
