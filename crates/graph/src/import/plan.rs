//! The memory plan: how many workers, and what each may use in every step.

use super::encode::{LEAST_PAGES, WRITERS_BYTES};
use super::pages::KEYS_BYTES;
use crate::error::Result;
use outcore_format::PAGE_BYTES;
use outcore_io::{Error, Runtime, bytes_text};

const MIB: u64 = 1 << 20;
/// What a worker's block of input and the edges parsed from it take.
const PARSE_BYTES: u64 = 5 * MIB;
/// The least memory with which a second worker is worth its share.
const WORKER_BYTES: u64 = 14 * MIB;
/// What a worker reads of a file of edges at a time.
const READ_BYTES: u64 = 256 << 10;
/// Blocks of partitions are of about this size where there is little memory, and of the other one where there is enough.
const SMALL_BLOCK_BYTES: u64 = 16 << 10;
const LARGE_BLOCK_BYTES: u64 = 64 << 10;
/// More partitions than this would not fit the cache's places for their ends.
const MOST_PARTITIONS: u64 = 1024;
/// The least memory for a dictionary: it must hold a few groups of ids.
const LEAST_DICTIONARY_BYTES: u64 = MIB;
/// The least buffer of a file of pages.
const LEAST_PAGE_BUFFER_BYTES: usize = 64 << 10;

// What is enough for reading is enough for all that follows, so an import that begins does not end for want of memory. The step
// that needs most is the last but one: an encoder, four files, and room to sort the largest blocks of a partition.
const _: () = assert!(
    WRITERS_BYTES
        + ((LEAST_PAGES * PAGE_BYTES + 4 * (LEAST_PAGE_BUFFER_BYTES + KEYS_BYTES)) as u64)
        + 4 * LARGE_BLOCK_BYTES
        <= PARSE_BYTES + super::sample::BYTES + LEAST_DICTIONARY_BYTES
);

/// How many workers, and what each may use.
#[derive(Clone, Debug)]
pub(super) struct Plan {
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
    /// A plan for what the budget has left, where blocks of the input set `block_bytes` aside themselves.
    pub(super) fn new(runtime: &Runtime, block_bytes: u64) -> Result<Self> {
        let available = runtime.budget().available_bytes();
        // What is left over goes to small things: lists of blocks, paths, stacks.
        let memory_bytes = available / 16 * 15;
        let workers = usize::try_from(memory_bytes / WORKER_BYTES).unwrap_or(usize::MAX).clamp(1, runtime.threads());
        let readers = memory_bytes / WORKER_BYTES.saturating_add(block_bytes);
        let readers = usize::try_from(readers).unwrap_or(usize::MAX).clamp(1, workers);
        let share = memory_bytes / workers as u64;
        let edge_buffer_bytes = (share / 32).clamp(96 << 10, MIB) as usize;
        let run_buffer_bytes = (share / 64).clamp(32 << 10, MIB) as usize;
        let buffers_bytes = super::sample::BYTES + (edge_buffer_bytes + run_buffer_bytes) as u64;
        let fixed = block_bytes.saturating_add(PARSE_BYTES + buffers_bytes);
        let dictionary_bytes = (memory_bytes / readers as u64).saturating_sub(fixed);
        if dictionary_bytes < LEAST_DICTIONARY_BYTES {
            let purpose = match block_bytes {
                0 => "an import".to_owned(),
                bytes => format!(
                    "an import of a table of which {} are decoded at a time (less, if it is written with smaller row groups or batches)",
                    bytes_text(bytes)
                ),
            };
            return Err(Error::Memory {
                purpose,
                needed_bytes: (fixed.saturating_add(LEAST_DICTIONARY_BYTES) / 15).saturating_mul(16) + 16,
                available_bytes: available,
                limit_bytes: runtime.budget().limit_bytes(),
            }
            .into());
        }
        Ok(Plan {
            workers,
            readers,
            memory_bytes,
            parse_bytes: PARSE_BYTES,
            edge_buffer_bytes,
            run_buffer_bytes,
            dictionary_bytes,
            page_buffer_bytes: (memory_bytes / 64).clamp(LEAST_PAGE_BUFFER_BYTES as u64, MIB) as usize,
        })
    }

    /// What distributing to partitions may use beside a table of `table_bytes`.
    pub(super) fn partitions(&self, table_bytes: u64, directions: u64) -> PartitionPlan {
        let left = self.memory_bytes.saturating_sub(table_bytes + self.workers as u64 * READ_BYTES);
        let sink_bytes = left / 4 * 3 / self.workers as u64;
        let most_partitions = (sink_bytes / (directions * SMALL_BLOCK_BYTES)).clamp(1, MOST_PARTITIONS);
        PartitionPlan { sink_bytes, most_partitions }
    }
}

/// What distributing to partitions may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartitionPlan {
    /// One worker's blocks.
    sink_bytes: u64,
    /// About how many partitions each direction may have.
    pub most_partitions: u64,
}

impl PartitionPlan {
    /// How many words a block has when there are that many partitions in all: always whole edges.
    pub(super) fn block_words(&self, partitions: usize) -> usize {
        let bytes = (self.sink_bytes / partitions.max(1) as u64).clamp(4 << 10, LARGE_BLOCK_BYTES);
        (bytes / 24 * 3) as usize
    }
}
