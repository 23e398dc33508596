//! The memory plan: how many workers, and what each may use in every step.

use crate::batch::{BLOCK_BYTES, Facts};
use outcore_image::Result;
use outcore_io::{Runtime, bytes_text};

const MIB: u64 = 1 << 20;
/// Memory of a worker's block of input and the edges parsed from it.
const PARSE_BYTES: u64 = 5 * MIB;
/// Memory of a reader beside blocks, buffers and its dictionary.
const READER_BYTES: u64 = PARSE_BYTES + SAMPLE_BYTES;
/// Memory limit of a reader's sample of its records.
pub const SAMPLE_BYTES: u64 = MIB;
/// The longest line of text, whatever the memory.
pub(crate) const MOST_LINE_BYTES: usize = 64 << 20;
/// Ratio of the memory of a line longer than a block to its length: the line, and its ids in a list that grows.
const LINE_FACTOR: u64 = 4;
/// Long lines may take this part of a reader's share.
const LINES_SHARE: u64 = 8;
/// The least memory with which a second worker is worth its share.
const WORKER_BYTES: u64 = 14 * MIB;
/// The part of the memory that no plan has: one of so many.
pub(crate) const PLAN_SHARE: u64 = 16;
const READ_BYTES: u64 = 256 << 10;
/// Blocks of partitions are of about this size where there is little memory.
const SMALL_BLOCK_BYTES: u64 = 16 << 10;
/// And of about this size where there is enough.
pub const LARGE_BLOCK_BYTES: u64 = 64 << 10;
/// Memory limit for the attributes of a block: eight bytes for each number of a block of text, or of rows of a table.
pub(crate) const ATTRIBUTES_BYTES: u64 = 4 << 20;
/// Memory of the ids of a batch with prefixes, beside those from the parser, in a graph with two sides.
const SIDES_BYTES: u64 = 8 << 20;
/// More partitions than this would not fit the cache's places for their ends.
const MOST_PARTITIONS: u64 = 1024;
/// The least memory for a dictionary: it must hold a few groups of ids.
const LEAST_DICTIONARY_BYTES: u64 = MIB;
/// The least buffer of a file of pages.
pub const LEAST_PAGE_BUFFER_BYTES: usize = 64 << 10;

/// The least memory of a reader in every plan. An import whose later steps need no more ends if it begins.
pub const LEAST_BYTES: u64 = READER_BYTES + LEAST_DICTIONARY_BYTES;

/// Number of workers, and the memory of each.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Workers that take part; the others have nothing to do.
    pub workers: usize,
    /// Workers that read the input: fewer where its blocks are large.
    pub readers: usize,
    /// All memory of a step.
    pub memory_bytes: u64,
    /// A reader's block of input and the edges parsed from it.
    pub parse_bytes: u64,
    /// A worker's buffer of edges on their way to the disk.
    pub edge_buffer_bytes: usize,
    /// A worker's buffer for writing a run.
    pub run_buffer_bytes: usize,
    /// A reader's dictionary.
    pub dictionary_bytes: u64,
    /// The buffer of each file of pages.
    pub page_buffer_bytes: usize,
}

impl Plan {
    /// A plan for what the budget has left, and for the blocks of an input that says `facts` of itself.
    pub fn new(runtime: &Runtime, facts: &Facts) -> Result<Self> {
        let budget = runtime.budget();
        let available_bytes = budget.available_bytes();
        let block_bytes = facts.block_bytes;
        let line_bytes = line_bytes(facts.longest_line_bytes) + beside_bytes(facts);
        Plan::within(available_bytes, runtime.threads(), block_bytes, line_bytes).ok_or_else(|| {
            let purpose = match block_bytes {
                0 => "an import".to_owned(),
                bytes => format!(
                    "an import of a table of which {} are decoded at a time (less, if it is written with smaller row groups or batches)",
                    bytes_text(bytes)
                ),
            };
            budget.refusal(&purpose, needed_bytes(runtime, facts), available_bytes)
        })
    }

    /// The plan for so much memory, if it is enough. Blocks set `block_bytes` aside themselves; long lines take
    /// `line_bytes` more of every reader.
    fn within(available_bytes: u64, threads: usize, block_bytes: u64, line_bytes: u64) -> Option<Self> {
        let (memory_bytes, workers) = shares(available_bytes, threads);
        let readers = memory_bytes / WORKER_BYTES.saturating_add(block_bytes).saturating_add(line_bytes);
        let readers = usize::try_from(readers).unwrap_or(usize::MAX).clamp(1, workers);
        let share = memory_bytes / workers as u64;
        let [edge_buffer_bytes, run_buffer_bytes] = buffers_bytes(share);
        let fixed = block_bytes.saturating_add(READER_BYTES + line_bytes + edge_buffer_bytes + run_buffer_bytes);
        let dictionary_bytes = (memory_bytes / readers as u64).checked_sub(fixed)?;
        (dictionary_bytes >= LEAST_DICTIONARY_BYTES).then_some(Plan {
            workers,
            readers,
            memory_bytes,
            parse_bytes: PARSE_BYTES + line_bytes,
            edge_buffer_bytes: edge_buffer_bytes as usize,
            run_buffer_bytes: run_buffer_bytes as usize,
            dictionary_bytes,
            page_buffer_bytes: (memory_bytes / 64).clamp(LEAST_PAGE_BUFFER_BYTES as u64, MIB) as usize,
        })
    }

    /// Memory that suffices for a plan, for any number of workers. Long lines count as part of a block.
    fn least_bytes(block_bytes: u64) -> u64 {
        let least_bytes = block_bytes.saturating_add(LEAST_BYTES);
        // Buffers grow with the memory, but much slower.
        let [edge_buffer_bytes, run_buffer_bytes] = buffers_bytes(least_bytes.saturating_add(least_bytes / 16));
        let memory_bytes = least_bytes.saturating_add(edge_buffer_bytes + run_buffer_bytes);
        memory_bytes.div_ceil(PLAN_SHARE - 1).saturating_mul(PLAN_SHARE)
    }

    /// An error unless a step may take so much.
    pub fn require(&self, runtime: &Runtime, purpose: &str, bytes: u64) -> Result<()> {
        if bytes <= self.memory_bytes {
            return Ok(());
        }
        let with_rest = |bytes: u64| bytes.div_ceil(PLAN_SHARE - 1).saturating_mul(PLAN_SHARE);
        Err(runtime.budget().refusal(purpose, with_rest(bytes), with_rest(self.memory_bytes)))
    }

    /// All memory of a step, where earlier ones may hold some of it: rows of vertices, for instance.
    pub fn step_bytes(&self, runtime: &Runtime) -> u64 {
        self.memory_bytes.min(runtime.budget().available_bytes() / PLAN_SHARE * (PLAN_SHARE - 1))
    }

    /// Memory for distributing to partitions beside a table of `table_bytes`.
    pub fn partitions(&self, table_bytes: u64, directions: u64) -> PartitionPlan {
        let left = self.memory_bytes.saturating_sub(table_bytes + self.workers as u64 * READ_BYTES);
        let sink_bytes = left / 4 * 3 / self.workers as u64;
        let most_partitions = (sink_bytes / (directions * SMALL_BLOCK_BYTES)).clamp(1, MOST_PARTITIONS);
        PartitionPlan { sink_bytes, most_partitions }
    }
}

/// Memory of a reader for the attributes of a block, and for its ids where they get prefixes.
fn beside_bytes(facts: &Facts) -> u64 {
    let attributes_bytes = if has_attributes(facts) { ATTRIBUTES_BYTES } else { 0 };
    attributes_bytes + if facts.sides.is_some() { SIDES_BYTES } else { 0 }
}

fn has_attributes(facts: &Facts) -> bool {
    !facts.attributes.is_empty() || !facts.vertex_attributes.is_empty()
}

fn line_bytes(longest_line_bytes: u64) -> u64 {
    LINE_FACTOR * longest_line_bytes.saturating_sub(BLOCK_BYTES as u64)
}

/// Memory in bytes that suffices for an import whose blocks reserve `block_bytes`, beside the `held_bytes` of its open
/// input. With more memory longer lines are read, which take more: the longest are as long as both amounts together
/// allow. `held_bytes` is `None` for inputs without lines and strings.
pub fn enough_bytes(block_bytes: u64, threads: usize, held_bytes: Option<u64>) -> u64 {
    let mut enough_bytes = Plan::least_bytes(block_bytes);
    while let Some(held_bytes) = held_bytes {
        let longest_bytes = longest_line_bytes(enough_bytes.saturating_add(held_bytes), threads) as u64;
        let needed_bytes = Plan::least_bytes(block_bytes.saturating_add(line_bytes(longest_bytes)));
        if needed_bytes <= enough_bytes {
            break;
        }
        enough_bytes = needed_bytes;
    }
    enough_bytes
}

/// Memory that an import needs beside the memory that its open input holds already.
pub fn needed_bytes(runtime: &Runtime, facts: &Facts) -> u64 {
    let held_bytes = (facts.longest_line_bytes > 0).then(|| runtime.budget().reserved_bytes());
    let enough_bytes = enough_bytes(facts.block_bytes + beside_bytes(facts), runtime.threads(), held_bytes);
    // Strings of attributes have a share of the memory.
    if has_attributes(facts) { enough_bytes / 2 * 3 } else { enough_bytes }
}

/// The memory of an import that has so much available, and how many workers share it.
fn shares(available_bytes: u64, threads: usize) -> (u64, usize) {
    // The remaining memory is for small things: lists of blocks, paths, stacks, and bytes read after a long line.
    let memory_bytes = available_bytes / PLAN_SHARE * (PLAN_SHARE - 1);
    let workers = usize::try_from(memory_bytes / WORKER_BYTES).unwrap_or(usize::MAX).clamp(1, threads);
    (memory_bytes, workers)
}

/// Largest length of a line of text in an import with so much available memory: at least a block, at most 64 MiB.
pub(crate) fn longest_line_bytes(available_bytes: u64, threads: usize) -> usize {
    let (memory_bytes, workers) = shares(available_bytes, threads);
    let longest_bytes = memory_bytes / workers as u64 / (LINES_SHARE * LINE_FACTOR);
    usize::try_from(longest_bytes).unwrap_or(usize::MAX).clamp(BLOCK_BYTES, MOST_LINE_BYTES)
}

/// A worker's buffers of edges and of a run, where it has a share of so much memory.
fn buffers_bytes(share: u64) -> [u64; 2] {
    [(share / 32).clamp(96 << 10, MIB), (share / 64).clamp(32 << 10, MIB)]
}

/// Memory for distributing to partitions.
#[derive(Clone, Copy, Debug)]
pub struct PartitionPlan {
    /// One worker's blocks.
    sink_bytes: u64,
    /// About how many partitions each direction may have.
    pub most_partitions: u64,
}

impl PartitionPlan {
    /// Number of words of a block for that many partitions in all: always whole edges, of one, three or four words.
    pub fn block_words(&self, partitions: usize) -> usize {
        let bytes = (self.sink_bytes / partitions.max(1) as u64).clamp(4 << 10, LARGE_BLOCK_BYTES);
        (bytes / 96 * 12) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_refusal_asks_for_is_enough_and_not_much_more() {
        for block_bytes in [0, 1, 3 * MIB, 10 * MIB, 47 * MIB, 300 * MIB, 5000 * MIB] {
            for threads in [1, 2, 3, 64] {
                let enough_bytes = enough_bytes(block_bytes, threads, None);
                let within = |bytes| Plan::within(bytes, threads, block_bytes, 0);
                assert!(within(enough_bytes).is_some(), "{block_bytes}, {threads} threads");
                assert!(within(enough_bytes / 100 * 95).is_none(), "{block_bytes}, {threads} threads");
                // More is never too little.
                let mut more_bytes = enough_bytes;
                while more_bytes < 40 * enough_bytes {
                    more_bytes += more_bytes / 50;
                    let plan = within(more_bytes).expect("more than enough");
                    let reader_bytes = READER_BYTES + block_bytes + plan.dictionary_bytes;
                    let buffers_bytes = (plan.edge_buffer_bytes + plan.run_buffer_bytes) as u64;
                    assert!(plan.readers as u64 * (reader_bytes + buffers_bytes) <= more_bytes / 16 * 15);
                }
            }
        }
        assert!(Plan::within(u64::MAX, 8, u64::MAX, 0).is_none());
        enough_bytes(u64::MAX, 8, Some(u64::MAX));
    }

    #[test]
    fn what_is_asked_for_is_enough_where_it_allows_longer_lines() {
        for block_bytes in [0, 3 * MIB, 47 * MIB, 100 * MIB, 300 * MIB, 5000 * MIB] {
            for (threads, held_bytes) in [(1, 0), (2, 7 * MIB), (3, 200 * MIB), (64, 0)] {
                let enough_bytes = enough_bytes(block_bytes, threads, Some(held_bytes));
                let mut more_bytes = enough_bytes;
                while more_bytes < 40 * enough_bytes {
                    let longest_bytes = longest_line_bytes(more_bytes + held_bytes, threads) as u64;
                    let plan = Plan::within(more_bytes, threads, block_bytes, line_bytes(longest_bytes));
                    assert!(plan.is_some(), "{block_bytes}, {threads} threads, {more_bytes} of {enough_bytes}");
                    more_bytes += more_bytes / 50;
                }
            }
        }
    }

    #[test]
    fn long_lines_take_a_part_of_what_there_is_and_no_reader() {
        for threads in [1, 2, 3, 64] {
            let mut longest_before = 0;
            for available_mib in [14, 20, 64, 100, 1000, 1 << 13, 1 << 20] {
                let available_bytes = available_mib * MIB;
                let longest_bytes = longest_line_bytes(available_bytes, threads);
                assert!(longest_bytes >= longest_before.max(BLOCK_BYTES) && longest_bytes <= MOST_LINE_BYTES);
                // Bytes read after a long line are not in the plan.
                assert!(longest_bytes as u64 <= (available_bytes / 16).max(MIB));
                longest_before = longest_bytes;
                let line_bytes = LINE_FACTOR * (longest_bytes - BLOCK_BYTES) as u64;
                let plan = Plan::within(available_bytes, threads, 0, line_bytes).expect("enough");
                let without = Plan::within(available_bytes, threads, 0, 0).expect("enough");
                assert_eq!((plan.readers, plan.workers), (without.readers, without.workers));
                assert!(
                    plan.dictionary_bytes >= without.dictionary_bytes / 3 * 2,
                    "{available_mib} MiB, {threads} threads"
                );
            }
            assert_eq!(longest_before, MOST_LINE_BYTES);
        }
    }
}
