//! A pass: all rows, once, on all workers, and every result that they go into.
//!
//! Rows are processed in *partitions*, whose size depends only on the inputs and results; they begin at page
//! boundaries. Workers take the next partition as they become free, and have several under way: while one is computed,
//! the next ones are read. A partition is computed in blocks that fit the cache (`block.rs`), into partial results of
//! its own. Partial results are merged in the order of the partitions as soon as that is possible; a worker that is too
//! far ahead waits, so that only a few exist at once. If a partition fails, those before it are still computed, and the
//! error is that of the first one.
//!
//! If a source is computed before it is read (`operations/sparse.rs`), a pass covers *stretches* of partitions: as many
//! adjacent ones as fit the memory. Each stretch is computed on all workers, and then its partitions. Partitions, and
//! the order in which they are merged, are those of a pass without stretches.

use crate::block::{Block, BlockMemory};
use crate::plan::{BLOCK_ROWS, Kind, PassSource, Plan};
use crate::sink::{Partial, Sink};
use crate::source::{Landed, MemoryReader, NoRows, SourceReader};
use outcore_image::{Error, Result, SweepStats};
use outcore_io::{Runtime, Unit, lock};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Approximate size of a partition in all files together.
const PARTITION_BYTES: u64 = 1 << 20;
/// Approximate upper bound of the size of a partition in a result that has a row for each row of the pass.
const MOST_RESULT_BYTES: u64 = 4 << 20;
/// Approximate upper bound of the size of a partition whose partial results are worth their cost for many rows only.
const MOST_PARTITION_BYTES: u64 = 8 << 20;
/// Number of blocks of a partition of arrays in memory: whole pages, for all types.
const MEMORY_BLOCKS: u64 = 64;
/// Largest number of partitions that a worker has under way; fewer if they are large enough to keep a device busy.
const DEPTH: usize = 4;
const UNDER_WAY_BYTES: u64 = 16 << 20;
/// Largest number of partial results per worker that wait to be merged.
const WAITING: u64 = 2;
/// Upper bound of the memory for sources that are computed before they are read, and fraction (1/n) of the free memory
/// for them.
const MOST_COMPUTED_BYTES: u64 = 256 << 20;
const COMPUTED_PART: u64 = 4;
/// The fraction if the memory of the workers that compute such sources is known.
const COMPUTED_PART_BESIDE_KNOWN: u64 = 2;
/// The cost of computing another stretch, as the number of bytes that are read in the same time.
const STRETCH_BYTES: u64 = 128 << 10;
/// Rows over which sources are compared by their bytes: those of a page of the smallest elements, so that no type is
/// rounded to 0.
const COMPARED_ROWS: u64 = 4064;
/// Interval at which a wait checks for a request to stop.
const CANCEL_CHECK: Duration = Duration::from_millis(50);

/// The source rows that a plan reads for rows of the pass; a source may be read at several places.
fn source_rows(plan: &Plan, source: usize, rows: &Range<u64>) -> Option<Range<u64>> {
    let of_steps = plan.steps.iter().filter_map(|step| match step.kind {
        Kind::Source { source: own, rows: along } if own == source => {
            let (start, end) = (rows.start.max(step.active.start), rows.end.min(step.active.end));
            let (first, last) = (along.at(start), along.at(end.max(start + 1) - 1));
            (start < end).then(|| first.min(last)..first.max(last) + 1)
        }
        _ => None,
    });
    of_steps.reduce(|all, own| all.start.min(own.start)..all.end.max(own.end))
}

/// Number of rows of a partition: about a MiB of input, in whole blocks and whole units of every source with at least a
/// quarter of the bytes; fewer if results are wide or rows lie far apart; more if partial results are worth their cost
/// for many rows only.
pub(crate) fn partition_rows(plan: &Plan, sinks: &[Sink]) -> u64 {
    let block = sinks.iter().map(Sink::unit_rows).max().unwrap_or(BLOCK_ROWS as u64);
    let result_bytes = |rows: u64| sinks.iter().map(|sink| sink.row_bytes() * rows).max().unwrap_or(0);
    if plan.sources.is_empty() {
        let mut rows = MEMORY_BLOCKS * BLOCK_ROWS as u64;
        while rows > block && result_bytes(rows) > MOST_RESULT_BYTES {
            rows /= 2;
        }
        return rows;
    }
    let bytes = |rows: u64| rows_bytes(plan, rows);
    let unit = plan.sources.iter().filter(|source| 4 * source.source.bytes_of(COMPARED_ROWS) >= bytes(COMPARED_ROWS));
    let mut rows = unit.map(|source| source.source.unit_rows()).max().unwrap_or(block).next_multiple_of(block);
    while bytes(2 * rows) <= PARTITION_BYTES && result_bytes(2 * rows) <= MOST_RESULT_BYTES && rows < 1 << 30 {
        rows *= 2;
    }
    let least = sinks.iter().map(|sink| sink.least_rows).max().unwrap_or(0);
    while rows < least && bytes(2 * rows) <= MOST_PARTITION_BYTES && result_bytes(2 * rows) <= MOST_RESULT_BYTES {
        rows *= 2;
    }
    // Rows that lie between wanted ones are read, too.
    let spread = widest_step(plan);
    let is_stored = sinks.iter().any(|sink| sink.is_image);
    while spread > 1 && !is_stored && rows > 1 && bytes(rows.saturating_mul(spread)) > PARTITION_BYTES {
        rows = rows.div_ceil(2);
    }
    rows
}

/// The division of the rows of a pass into partitions.
#[derive(Clone, Copy)]
struct Partitions {
    rows: u64,
    partition_rows: u64,
    /// Number of rows by which the first partition is shorter, so that the others begin at units of the sources.
    lead: u64,
}

impl Partitions {
    fn new(plan: &Plan, sinks: &[Sink]) -> Self {
        let partition_rows = partition_rows(plan, sinks);
        let most = plan.sources.iter().max_by_key(|own| own.source.bytes_of(COMPARED_ROWS));
        let lead = most.filter(|_| !sinks.iter().any(|sink| sink.is_image)).map_or(0, |own| {
            let unit = own.source.unit_rows() as i64;
            match own.rows.step {
                _ if !partition_rows.is_multiple_of(unit as u64) => 0,
                1 => own.rows.start.rem_euclid(unit),
                -1 => (-own.rows.start - 1).rem_euclid(unit),
                _ => 0,
            }
        });
        Partitions { rows: plan.rows, partition_rows, lead: lead as u64 }
    }

    fn count(self) -> u64 {
        (self.rows + self.lead).div_ceil(self.partition_rows)
    }

    fn start(self, number: u64) -> u64 {
        (number * self.partition_rows).saturating_sub(self.lead).min(self.rows)
    }

    /// The rows of adjacent partitions.
    fn rows(self, numbers: Range<u64>) -> Range<u64> {
        self.start(numbers.start)..self.start(numbers.end)
    }

    /// End of the block that begins with a row: blocks begin with partitions.
    fn block_end(self, first_row: u64) -> u64 {
        ((first_row + self.lead) / BLOCK_ROWS as u64 + 1) * BLOCK_ROWS as u64 - self.lead
    }
}

/// Largest distance of successive rows of a source.
fn widest_step(plan: &Plan) -> u64 {
    let steps = plan.steps.iter().filter_map(|step| match step.kind {
        Kind::Source { rows, .. } => Some(rows.step.unsigned_abs()),
        _ => None,
    });
    steps.max().unwrap_or(1)
}

/// Size of `rows` rows of all sources in bytes.
fn rows_bytes(plan: &Plan, rows: u64) -> u64 {
    plan.sources.iter().map(|own| own.source.bytes_of(rows)).sum()
}

/// Number of partitions that a worker has under way.
fn depth(plan: &Plan, partition_rows: u64) -> usize {
    let spread_bytes = rows_bytes(plan, partition_rows.saturating_mul(widest_step(plan)));
    (UNDER_WAY_BYTES / spread_bytes.max(1)).clamp(2, DEPTH as u64) as usize
}

/// The most rows of a source that a partition needs: those between the first and the last one.
fn most_rows(plan: &Plan, source: usize, rows: u64) -> u64 {
    let (mut most, mut ranges) = (0, Vec::<(u64, i64, i64)>::new());
    for step in &plan.steps {
        if let Kind::Source { source: own, rows: along } = step.kind
            && own == source
        {
            ranges.push((rows.min(step.active.end - step.active.start), along.start, along.step));
        }
    }
    // Several steps may read at several places; where they overlap, less is read.
    let least = ranges.iter().map(|range| range.1).min().unwrap_or(0);
    for (count, start, step) in ranges {
        most = most.max((start - least) as u64 + count.saturating_sub(1) * step.unsigned_abs() + 1);
    }
    most
}

/// Memory for `rows` rows of the pass in sources that are computed before they are read.
fn computed_bytes(plan: &Plan, rows: u64) -> u64 {
    let sources = plan.sources.iter().enumerate();
    sources.map(|(place, own)| own.source.computed_bytes(most_rows(plan, place, rows))).sum()
}

/// The memory of a worker that computes rows before they are read, of one source after the other.
fn computing_bytes(plan: &Plan) -> u64 {
    plan.sources.iter().map(|own| own.source.computing_bytes()).max().unwrap_or(0)
}

/// Memory for rows that are computed before they are read, beside the workers that compute them: all workers, if these
/// take at most half of the free memory, otherwise as many as fit that half.
fn room_to_compute(plan: &Plan, runtime: &Runtime) -> u64 {
    let (available, computing) = (runtime.budget().available_bytes(), computing_bytes(plan));
    let workers = (available / 2 / computing.max(1)).clamp(1, runtime.threads() as u64);
    let part = if computing == 0 { COMPUTED_PART } else { COMPUTED_PART_BESIDE_KNOWN };
    (available.saturating_sub(workers.saturating_mul(computing)) / part).min(MOST_COMPUTED_BYTES)
}

/// Number of partitions that are computed at a time: all, unless a source is computed before it is read.
fn stretch_partitions(plan: &Plan, all: Partitions, room_bytes: u64) -> u64 {
    let mut partitions = all.count().max(1);
    let rows = |partitions: u64| partitions.saturating_mul(all.partition_rows).min(plan.rows);
    while partitions > 1 && computed_bytes(plan, rows(partitions)) > room_bytes {
        partitions = partitions.div_ceil(2);
    }
    if widest_step(plan) == 1 {
        return partitions;
    }
    // Partitions whose rows lie far apart are computed one by one.
    let computed = || plan.sources.iter().enumerate().filter(|(_, own)| own.source.computed_bytes(1) > 0);
    let read = |partitions: u64| -> u64 {
        let rows = 0..rows(partitions);
        computed().filter_map(|(place, own)| Some(own.source.read_bytes(source_rows(plan, place, &rows)?))).sum()
    };
    if partitions > 1 && (read(1) + STRETCH_BYTES) * partitions < read(partitions) { 1 } else { partitions }
}

/// Bytes of each source that a pass reads without a cache.
pub(crate) fn read_bytes(plan: &Plan, sinks: &[Sink], runtime: &Runtime) -> Vec<u64> {
    let partitions = Partitions::new(plan, sinks);
    let stretch = stretch_partitions(plan, partitions, room_to_compute(plan, runtime));
    let bytes = |(place, own): (usize, &PassSource)| -> u64 {
        let together = if own.source.computed_bytes(1) > 0 { stretch } else { 1 };
        let starts = (0..partitions.count()).step_by(together as usize);
        let rows = starts.map(|first| partitions.rows(first..first + together));
        let most = most_rows(plan, place, partitions.partition_rows);
        let rows = rows.filter_map(|rows| source_rows(plan, place, &rows));
        rows.map(|rows| own.source.read_bytes(own.source.rows_to_read(rows, most))).sum()
    };
    plan.sources.iter().enumerate().map(bytes).collect()
}

/// Partial results of partitions, which are merged in the order of the partitions.
struct Merger {
    state: Mutex<Merging>,
    merged: Condvar,
    window: u64,
}

struct Merging {
    next: u64,
    total: Vec<Box<dyn Partial>>,
    waiting: BTreeMap<u64, Vec<Box<dyn Partial>>>,
}

impl Merger {
    /// Adds the partial results of a partition; waits while the one that is next to be merged is too far behind.
    fn add(&self, pass: &Pass<'_>, partition: u64, partials: Vec<Box<dyn Partial>>) -> Result<()> {
        let mut state = lock(&self.state);
        while partition >= state.next + self.window && pass.is_wanted(partition) {
            pass.runtime.cancel().check()?;
            state = self.merged.wait_timeout(state, CANCEL_CHECK).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.waiting.insert(partition, partials);
        let state = &mut *state;
        while let Some(partials) = state.waiting.remove(&state.next) {
            for ((sink, total), next) in pass.sinks.iter().zip(&mut state.total).zip(partials) {
                total.merge(sink, next)?;
            }
            state.next += 1;
        }
        self.merged.notify_all();
        Ok(())
    }
}

/// One worker's readers, and the partitions that they read.
struct Flights<'a> {
    readers: Vec<Box<dyn SourceReader + 'a>>,
    /// The number and the rows of every partition under way, and how many readers have begun with it.
    under_way: VecDeque<(u64, Range<u64>, usize)>,
}

/// The shared state of all workers of a pass.
struct Pass<'a> {
    plan: &'a Plan,
    sinks: &'a [Sink],
    runtime: &'a Runtime,
    /// The rows of the stretch, per source of the plan, if they are computed before they are read.
    computed: Vec<Option<Box<dyn Landed>>>,
    partitions: Partitions,
    depth: usize,
    /// The next partition, and the one before which the stretch ends: the first one that failed, if one did.
    next: AtomicU64,
    end: AtomicU64,
    failed: Mutex<Option<(u64, Error)>>,
    stop: AtomicBool,
    merger: &'a Merger,
}

impl Pass<'_> {
    /// Whether a partition is still to be computed.
    fn is_wanted(&self, number: u64) -> bool {
        number < self.end.load(Ordering::Relaxed) && !self.stop.load(Ordering::Relaxed)
    }

    /// Ends the stretch before a partition that failed.
    fn fail(&self, number: u64, error: Error) {
        let mut failed = lock(&self.failed);
        if failed.as_ref().is_none_or(|(first, _)| number < *first) {
            *failed = Some((number, error));
            self.end.store(number, Ordering::Relaxed);
        }
        self.merger.merged.notify_all();
    }

    /// Assigns partitions to the worker and begins to read them, as far as there is room.
    fn push(&self, flights: &mut Flights<'_>) -> Result<()> {
        let depth = if flights.readers.is_empty() { 1 } else { self.depth };
        loop {
            if let Some((_, rows, begun)) = flights.under_way.back_mut() {
                while *begun < flights.readers.len() {
                    if let Some(own) = source_rows(self.plan, *begun, rows)
                        && !flights.readers[*begun].push(own)?
                    {
                        return Ok(());
                    }
                    *begun += 1;
                }
            }
            if flights.under_way.len() >= depth {
                return Ok(());
            }
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.end.load(Ordering::Relaxed) {
                return Ok(());
            }
            flights.under_way.push_back((number, self.partitions.rows(number..number + 1), 0));
        }
    }

    /// A worker's part of a stretch; if it fails, the others stop.
    fn work_or_stop(&self, task: &outcore_io::Task) -> Result<SweepStats> {
        // A worker that failed or panicked would leave the others waiting for its partition.
        let outcome = catch_unwind(AssertUnwindSafe(|| self.work(task)));
        if !matches!(outcome, Ok(Ok(_))) {
            self.stop.store(true, Ordering::Relaxed);
            self.merger.merged.notify_all();
        }
        // A panic that gets here is not one of a user's function, so it is resumed.
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// A worker's part of a stretch.
    fn work(&self, task: &outcore_io::Task) -> Result<SweepStats> {
        let most = |source| most_rows(self.plan, source, self.partitions.partition_rows);
        let readers = self.plan.sources.iter().zip(&self.computed).enumerate();
        let readers = readers.map(|(place, (own, computed))| match computed {
            Some(rows) => Ok(Box::new(MemoryReader(&**rows)) as Box<dyn SourceReader>),
            None => own.source.reader(self.runtime, most(place), self.depth),
        });
        let mut flights = Flights { readers: readers.collect::<Result<_>>()?, under_way: VecDeque::new() };
        let mut memory = BlockMemory::new(self.plan);
        while !self.stop.load(Ordering::Relaxed) {
            self.runtime.cancel().check()?;
            self.push(&mut flights)?;
            let Some((number, rows, begun)) = flights.under_way.pop_front() else { break };
            assert_eq!(begun, flights.readers.len(), "the oldest partition is under way in all readers");
            if !self.is_wanted(number) {
                break;
            }
            let count = rows.end - rows.start;
            if let Err(error) = self.compute(&mut flights, &mut memory, number, rows) {
                self.fail(number, error);
                break;
            }
            task.advance(count);
        }
        let mut stats = SweepStats::default();
        flights.readers.iter_mut().for_each(|reader| stats.add(&reader.take_stats()));
        Ok(stats)
    }

    /// Computes the oldest pending partition, and passes its results on.
    fn compute(
        &self,
        flights: &mut Flights<'_>,
        memory: &mut BlockMemory,
        number: u64,
        rows: Range<u64>,
    ) -> Result<()> {
        let landed =
            flights.readers.iter_mut().enumerate().map(|(place, reader)| match source_rows(self.plan, place, &rows) {
                Some(_) => reader.next(),
                None => Ok(Box::new(NoRows) as Box<dyn Landed>),
            });
        let landed = landed.collect::<Result<Vec<_>>>()?;
        let mut partials: Vec<_> = self.sinks.iter().map(Sink::begin).collect();
        let mut first_row = rows.start;
        while first_row < rows.end {
            // A function of the user's may take long for a block.
            self.runtime.cancel().check()?;
            // Blocks end where the rows of arrays that are joined do, and at multiples of their size.
            let whole = self.partitions.block_end(first_row);
            let cut = self.plan.cuts.range(first_row + 1..).next().copied().unwrap_or(u64::MAX);
            let count = (rows.end.min(whole).min(cut) - first_row) as usize;
            let BlockMemory { buffers, registers } = &mut *memory;
            let mut block = Block { plan: self.plan, landed: &landed, buffers, first_row, rows: count };
            block.fill(registers)?;
            for (sink, partial) in self.sinks.iter().zip(&mut partials) {
                partial.add(sink, &block, registers)?;
            }
            first_row += count as u64;
        }
        partials.iter_mut().try_for_each(|partial| partial.close())?;
        drop(landed);
        self.merger.add(self, number, partials)
    }
}

/// The memory that a pass takes beside its results.
pub(crate) struct Needs {
    /// Memory that readers reserve when they are made, and the smallest memory for computing sources for them.
    pub readers_bytes: u64,
    /// Blocks and partial results.
    pub other_bytes: u64,
}

/// The memory that a pass takes.
pub(crate) fn pass_needs(plan: &Plan, sinks: &[Sink], runtime: &Runtime) -> Needs {
    let (threads, partitions) = (runtime.threads() as u64, Partitions::new(plan, sinks));
    let rows = partitions.partition_rows.min(plan.rows);
    let (most, depth) = (|place| most_rows(plan, place, rows), depth(plan, rows));
    let sources = plan.sources.iter().enumerate();
    let readers: u64 = sources.map(|(place, own)| own.source.reader_bytes(most(place), depth)).sum();
    let sum = |bytes: &dyn Fn(&Sink) -> u64| sinks.iter().map(bytes).sum::<u64>();
    let [partials, waiting] = [sum(&|sink| sink.partial_bytes(rows)), sum(&|sink| sink.waiting_bytes(rows))];
    // There are not more partial results than partitions.
    let workers = threads.min(partitions.count()).max(1);
    let others = (WAITING * threads).min(partitions.count().saturating_sub(workers));
    let other_bytes =
        workers * (BlockMemory::len_bytes(plan) + partials) + others * waiting + sum(&|sink| sink.total_bytes(rows));
    Needs { readers_bytes: workers * readers + computing_bytes(plan) + computed_bytes(plan, rows), other_bytes }
}

/// Runs a pass: returns the results of its sinks, in order, and the cost of its reads.
pub(crate) fn run(plan: &Plan, sinks: &[Sink], runtime: &Runtime) -> Result<(Vec<Box<dyn Partial>>, SweepStats)> {
    let start = Instant::now();
    let partitions = Partitions::new(plan, sinks);
    let threads = runtime.threads();
    let window = WAITING * threads as u64;
    let merging = Merging {
        next: 0,
        total: sinks.iter().map(|sink| sink.begin_total(runtime.budget())).collect::<Result<_>>()?,
        waiting: BTreeMap::new(),
    };
    let merger = Merger { state: Mutex::new(merging), merged: Condvar::new(), window };
    let task = runtime.task("computing", Unit::Rows, Some(plan.rows));
    let mut stats = SweepStats::default();
    let stretch = stretch_partitions(plan, partitions, room_to_compute(plan, runtime));
    for first in (0..partitions.count().max(1)).step_by(stretch as usize) {
        let end = partitions.count().min(first + stretch);
        let rows = partitions.rows(first..end);
        let mut computed = Vec::new();
        for (place, own) in plan.sources.iter().enumerate() {
            let own_rows = source_rows(plan, place, &rows);
            let rows = own_rows.map(|rows| own.source.compute_rows(runtime, rows)).transpose()?.flatten();
            computed.push(rows.map(|(rows, sweep)| {
                stats.add(&sweep);
                rows
            }));
        }
        let pass = Pass {
            plan,
            sinks,
            runtime,
            computed,
            partitions,
            depth: depth(plan, partitions.partition_rows.min(plan.rows)),
            next: AtomicU64::new(first),
            end: AtomicU64::new(end),
            failed: Mutex::new(None),
            stop: AtomicBool::new(false),
            merger: &merger,
        };
        let workers = ((end - first).clamp(1, threads as u64)) as usize;
        runtime.run_on(workers, |_| pass.work_or_stop(&task))?.iter().for_each(|own| stats.add(own));
        if let Some((_, error)) = outcore_io::into_inner(pass.failed) {
            return Err(error);
        }
    }
    plan.sources.iter().filter_map(|own| own.source.take_note()).for_each(|note| runtime.note(note));
    stats.seconds = start.elapsed().as_secs_f64();
    Ok((outcore_io::into_inner(merger.state).total, stats))
}
