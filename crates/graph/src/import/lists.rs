//! Lists: the records of every partition are sorted, encoded, and written in the order of the partitions.
//!
//! Workers take partitions one after the other and sort and encode them at the same time; the pages of a partition wait
//! in memory until those of the partitions before it are written. A partition that does not fit a worker's memory, that
//! of a great hub for one, is sorted in runs that are merged, in as many levels as it takes.

use super::encode::{Encoder, Encoding, Entry, LEAST_PAGES, ListStats, Pages, Tag, Target, WRITERS_BYTES};
use super::ids::heap::Heap;
use super::job::Job;
use super::partition::{Layout, NEIGHBOUR_SHIFT};
use outcore_format::PAGE_BYTES;
use outcore_image::{Error, ImageFile, IndexWriter, KEYS_BYTES, PageWriter, Result};
use outcore_ingest::{LARGE_BLOCK_BYTES, LEAST_BYTES, LEAST_PAGE_BUFFER_BYTES};
use outcore_io::buffer::{raw_bytes, raw_bytes_mut};
use outcore_io::sort::radix_sort;
use outcore_io::{Buffer, Chain, Runtime, Spill, SpillWriter, Streams, Task, Unit, into_inner, lock};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The fewest records that a run is read back by.
const LEAST_READ: usize = 64;
/// The buffer for writing runs of a partition that is larger than the memory.
const RUN_BUFFER_BYTES: usize = 128 << 10;
/// Bytes of full pages per entry of a partition that an encoder holds: with more it waits for the partition's turn.
const PAGES_BYTES_PER_ENTRY: u64 = 6;

// Memory that is enough for reading is enough for all that follows: no import that begins ends for want of memory.
// The step that needs most is this one: an encoder, five files, and room to sort the largest blocks of a partition.
const _: () = assert!(
    WRITERS_BYTES
        + ((LEAST_PAGES * PAGE_BYTES + 5 * (LEAST_PAGE_BUFFER_BYTES + KEYS_BYTES) + KEYS_BYTES) as u64)
        + 4 * LARGE_BLOCK_BYTES
        + RUN_BUFFER_BYTES as u64
        <= LEAST_BYTES
);

pub(super) struct Writing<'a> {
    pub job: &'a Job<'a>,
    pub encoding: Encoding,
    pub layout: &'a Layout,
    pub streams: &'a Streams,
    /// For each partition, what every worker put into it.
    pub chains: &'a [Vec<Chain>],
    /// Lists, degrees, hubs, weights if there are any, and what is written beside those.
    pub files: Vec<ImageFile>,
    /// The index of how many entries lie before each page of lists, if there are weights or attributes.
    pub entries: Option<ImageFile>,
}

/// Counts and sizes of the lists that were written.
pub(super) struct Written {
    pub stats: ListStats,
    /// The pages of each file.
    pub pages: Vec<u64>,
}

/// The files of a direction, and whose turn it is to write to them.
struct Turn<'a> {
    partition: usize,
    files: Vec<PageWriter<'a>>,
    entries: Option<IndexWriter>,
    stats: ListStats,
    /// Why the first worker that failed did so.
    failure: Option<Error>,
}

struct Shared<'a> {
    /// Memory of all workers.
    memory_bytes: u64,
    turn: Mutex<Turn<'a>>,
    passed: Condvar,
    next: AtomicUsize,
    progress: Task,
}

impl Writing<'_> {
    pub(super) fn run<E: Entry>(&self) -> Result<Written> {
        let words = self.chains.iter().flatten().map(|chain| chain.words).sum::<u64>();
        let count = words * 8 / size_of::<E>() as u64;
        let buffer_bytes = self.job.plan.page_buffer_bytes;
        let memory_bytes = self.job.plan.step_bytes(self.job.runtime);
        let create = |&file: &ImageFile| {
            PageWriter::create(self.job.runtime, &self.job.workspace, file, self.job.image_id, buffer_bytes)
        };
        let files = self.files.iter().map(create).collect::<Result<Vec<_>>>()?;
        let index = |file| IndexWriter::create(self.job.runtime, &self.job.workspace, file, self.job.image_id);
        let entries = self.entries.map(index).transpose()?;
        let turn = Turn { partition: 0, files, entries, stats: ListStats::default(), failure: None };
        let shared = Shared {
            memory_bytes,
            turn: Mutex::new(turn),
            passed: Condvar::new(),
            next: AtomicUsize::new(0),
            progress: self.job.runtime.task("sorting lists", Unit::Edges, Some(count)),
        };
        self.job.runtime.run_on(self.job.plan.workers, |worker| {
            if let Err(error) = self.work::<E>(&shared, worker) {
                lock(&shared.turn).failure.get_or_insert(error);
                shared.passed.notify_all();
            }
            Ok::<(), Error>(())
        })?;
        let turn = into_inner(shared.turn);
        if let Some(failure) = turn.failure {
            return Err(failure);
        }
        turn.entries.map_or(Ok(()), |index| index.finish(self.job.runtime))?;
        let pages = turn.files.into_iter().map(PageWriter::finish).collect::<Result<Vec<_>>>()?;
        Ok(Written { stats: turn.stats, pages })
    }

    fn work<E: Entry>(&self, shared: &Shared<'_>, worker: usize) -> Result<()> {
        let files_bytes = ((self.job.plan.page_buffer_bytes + KEYS_BYTES) * self.files.len() + KEYS_BYTES) as u64;
        let share = shared.memory_bytes.saturating_sub(files_bytes) / self.job.plan.workers as u64;
        let _writers = self.job.runtime.budget().reserve("encoding lists", WRITERS_BYTES)?;
        let share = share.saturating_sub(WRITERS_BYTES);
        let largest = self.chains.iter().map(|chains| entries_in::<E>(chains)).max().unwrap_or(0);
        let block_entries = self.streams.block_words() * 8 / size_of::<E>();
        let pages = (largest as u64 * PAGES_BYTES_PER_ENTRY).min(share / 4) / PAGE_BYTES as u64;
        let pages = (pages as usize + LEAST_PAGES).min((share / 2) as usize / PAGE_BYTES).max(LEAST_PAGES);
        let sort_bytes = share.saturating_sub((pages * PAGE_BYTES) as u64 + RUN_BUFFER_BYTES as u64);
        let room = (sort_bytes / (2 * size_of::<E>() as u64)) as usize;
        // Behind a block its successor's place is read.
        let room = room.min(largest).max(block_entries) + 1;
        let mut sorter = Sorter::<E> {
            runtime: self.job.runtime,
            streams: self.streams,
            spill: self.job.workspace.temporary(&format!("sort-{worker}")),
            records: Buffer::zeroed(self.job.runtime.budget(), "sorting lists", room)?,
            helper: Buffer::zeroed(self.job.runtime.budget(), "sorting lists", room)?,
        };
        let mut encoder = Encoder::new(self.job.runtime, &self.encoding, pages)?;
        loop {
            let partition = shared.next.fetch_add(1, Ordering::Relaxed);
            let Some(range) = self.layout.partitions.get(partition) else { break };
            self.job.runtime.cancel().check()?;
            encoder.begin(range.first_vertex, &self.layout.buckets[range.buckets.clone()]);
            let mut flush = |pages: &mut Pages| self.flush(shared, partition, pages);
            sorter.sort(&self.chains[partition], |entries| encoder.feed(entries, &mut flush))?;
            encoder.end::<E>(self.layout.end_vertex(partition), &mut flush)?;
            self.pass(shared, partition, encoder.stats)?;
            shared.progress.advance(entries_in::<E>(&self.chains[partition]) as u64);
        }
        Ok(())
    }

    /// Waits for the partition's turn and writes its pages.
    fn flush(&self, shared: &Shared<'_>, partition: usize, pages: &mut Pages) -> Result<()> {
        let mut turn = lock(&shared.turn);
        while turn.partition != partition {
            self.job.runtime.cancel().check()?;
            if turn.failure.is_some() {
                // The other worker's failure was noted first, so this one is never reported.
                return Err(Error::Cancelled);
            }
            let wait = shared.passed.wait_timeout(turn, Duration::from_millis(100));
            turn = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
        let turn = &mut *turn;
        let before = turn.stats.entries;
        pages.drain(|Tag { target, key, first_entry }, page| {
            // There may be no weights.
            let place = if target == Target::Beside { turn.files.len() - 1 } else { target as usize };
            let file = &mut turn.files[place];
            match target {
                Target::Lists => {
                    turn.entries.as_mut().map_or(Ok(()), |index| index.push(before + first_entry))?;
                    file.place(key, 0, page)
                }
                Target::Weight | Target::Beside => file.place(key, before, page),
                Target::Degree | Target::Hub => file.place(key, 0, page),
            }
        })
    }

    /// Passes the turn on to the next partition.
    fn pass(&self, shared: &Shared<'_>, partition: usize, stats: ListStats) -> Result<()> {
        let mut turn = lock(&shared.turn);
        debug_assert_eq!(turn.partition, partition);
        let all = &mut turn.stats;
        all.entries += stats.entries;
        all.edges += stats.edges;
        all.duplicates += stats.duplicates;
        all.differing += stats.differing;
        all.max_degree = all.max_degree.max(stats.max_degree);
        all.forbidden = all.forbidden.or(stats.forbidden);
        all.overflow = all.overflow.or(stats.overflow);
        all.self_loops += stats.self_loops;
        turn.partition += 1;
        shared.passed.notify_all();
        Ok(())
    }
}

fn entries_in<E: Entry>(chains: &[Chain]) -> usize {
    chains.iter().map(|chain| chain.words as usize).sum::<usize>() * 8 / size_of::<E>()
}

/// Sorts the records of a partition in a worker's memory.
struct Sorter<'a, E: Entry> {
    runtime: &'a Runtime,
    streams: &'a Streams,
    /// Where runs go.
    spill: PathBuf,
    records: Buffer<E>,
    helper: Buffer<E>,
}

impl<E: Entry> Sorter<'_, E> {
    /// Calls `take` with all records of the blocks, sorted, in one run or many.
    fn sort(&mut self, chains: &[Chain], mut take: impl FnMut(&[E]) -> Result<()>) -> Result<()> {
        let mut rest = chains.to_vec();
        let count = self.fill(&mut rest)?;
        if rest.is_empty() {
            return take(self.sorted(count));
        }
        let spill = Spill::create(self.runtime.backend(), &self.spill)?;
        let mut runs = Vec::new();
        let mut count = count;
        let mut writer = SpillWriter::new(self.runtime, &spill, 0, RUN_BUFFER_BYTES)?;
        while count > 0 {
            self.runtime.cancel().check()?;
            runs.push((writer.position_bytes(), count as u64));
            writer.bytes(raw_bytes(self.sorted(count)))?;
            count = self.fill(&mut rest)?;
        }
        writer.finish()?;
        // A worker has room for a block at least, which is that of two runs and more.
        let most = self.records.len() / LEAST_READ;
        while runs.len() > most {
            let mut merged = Vec::new();
            let mut writer = SpillWriter::new(self.runtime, &spill, spill.len_bytes(), RUN_BUFFER_BYTES)?;
            for some in runs.chunks(most) {
                merged.push((writer.position_bytes(), some.iter().map(|run| run.1).sum()));
                self.merge(&spill, some, |entries| writer.bytes(raw_bytes(entries)))?;
            }
            writer.finish()?;
            runs = merged;
        }
        self.merge(&spill, &runs, take)
    }

    /// Reads as many blocks as fit; returns the number of records.
    fn fill(&mut self, rest: &mut Vec<Chain>) -> Result<usize> {
        let words = E::words(&mut self.records);
        let mut used = 0;
        while let Some(chain) = rest.last_mut() {
            if chain.words == 0 {
                rest.pop();
            } else if used + self.streams.block_words().min(chain.words as usize) < words.len() {
                used += self.streams.read(chain, &mut words[used..])?;
            } else {
                break;
            }
        }
        Ok(used * 8 / size_of::<E>())
    }

    fn sorted(&mut self, count: usize) -> &mut [E] {
        // The class says nothing that the neighbour does not.
        let (sorted, _) = radix_sort(&mut self.records[..count], &mut self.helper[..count], NEIGHBOUR_SHIFT);
        E::order_equals(sorted);
        sorted
    }

    fn merge(&mut self, spill: &Spill, runs: &[(u64, u64)], mut take: impl FnMut(&[E]) -> Result<()>) -> Result<()> {
        let part = self.records.len() / runs.len();
        let mut readers: Vec<RunPart<'_, E>> = Vec::new();
        for (buffer, &(offset_bytes, remaining_bytes)) in self.records.chunks_exact_mut(part).zip(runs) {
            let mut reader = RunPart { spill, buffer, next: 0, filled: 0, offset_bytes, remaining_bytes };
            reader.fill()?;
            readers.push(reader);
        }
        let mut heap = Heap::new(readers.len(), |one, other| readers[one].head().before(readers[other].head()));
        let mut used = 0;
        while let Some(top) = heap.top() {
            self.helper[used] = *readers[top].head();
            used += 1;
            let more = readers[top].advance()?;
            heap.settle(more, |one, other| readers[one].head().before(readers[other].head()));
            if used == self.helper.len().min(1 << 16) || heap.is_empty() {
                self.runtime.cancel().check()?;
                take(&self.helper[..used])?;
                used = 0;
            }
        }
        Ok(())
    }
}

/// A sorted run that is being merged.
struct RunPart<'a, E> {
    spill: &'a Spill,
    buffer: &'a mut [E],
    next: usize,
    filled: usize,
    offset_bytes: u64,
    remaining_bytes: u64,
}

impl<E: Entry> RunPart<'_, E> {
    #[inline]
    fn head(&self) -> &E {
        &self.buffer[self.next]
    }

    #[inline]
    fn advance(&mut self) -> Result<bool> {
        self.next += 1;
        if self.next == self.filled { self.fill() } else { Ok(true) }
    }

    fn fill(&mut self) -> Result<bool> {
        let take = self.remaining_bytes.min(self.buffer.len() as u64) as usize;
        if take > 0 {
            let words = E::words(&mut self.buffer[..take]);
            self.spill.read(raw_bytes_mut(words), self.offset_bytes)?;
            self.offset_bytes += (take * size_of::<E>()) as u64;
            self.remaining_bytes -= take as u64;
        }
        self.next = 0;
        self.filled = take;
        Ok(take > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::backend::{self, Metered};
    use outcore_io::{Backend, RuntimeOptions};
    use outcore_testkit::random_word;
    use std::sync::Arc;

    #[test]
    fn a_partition_far_larger_than_the_memory_is_sorted_in_levels() {
        let directory = tempfile::tempdir().unwrap();
        let meter = Arc::new(Metered::new(&backend::best(), "sort"));
        let backend: Option<Arc<dyn Backend>> = Some(meter.clone());
        let runtime = Runtime::new(RuntimeOptions { threads: Some(1), backend, ..RuntimeOptions::default() }).unwrap();
        let streams = Streams::create(runtime.backend(), &directory.path().join("streams"), 90).unwrap();
        let mut sink = streams.sink(&runtime, 1).unwrap();
        let mut state = 5u64;
        let mut expected: Vec<[u64; 3]> = (0..20_000u64)
            .map(|place| {
                let word = random_word(&mut state);
                [(word >> 52) << NEIGHBOUR_SHIFT, word, place]
            })
            .collect();
        expected.iter().flatten().for_each(|&word| sink.push(0, word).unwrap());
        let chain = sink.finish().unwrap().remove(0);
        let room = || Buffer::zeroed(runtime.budget(), "sorting", 3 * LEAST_READ).unwrap();
        std::fs::create_dir(directory.path().join("sort")).unwrap();
        let spill = directory.path().join("sort/runs");
        let mut sorter =
            Sorter::<[u64; 3]> { runtime: &runtime, streams: &streams, spill, records: room(), helper: room() };
        let mut sorted = Vec::new();
        sorter
            .sort(&[chain], |entries| {
                sorted.extend_from_slice(entries);
                Ok(())
            })
            .unwrap();
        expected.sort_by_key(|entry| (entry[0], entry[2]));
        assert!(sorted == expected);
        // 112 runs of six blocks, three at a time: 38, 13, 5, 2.
        assert_eq!(meter.disk_use().written_temporary_bytes, 5 * 24 * 20_000);
    }
}
