//! Translating: edges in locals become records in vertex numbers, in partitions.
//!
//! Chunk by chunk a table from locals to numbers is loaded (chunks with direct dictionaries share one); workers take
//! the chunk's segments, look both ends of every edge up, and append a record to the partition of its out-list and of
//! its in-list, or, where edges have no direction, to those of both lists.

use super::attributes::NO_PLACE;
use super::edges::Segment;
use super::ids::runs::{Locals, Numbers};
use super::job::Job;
use super::partition::Layout;
use super::read::Chunk;
use outcore_format::Order;
use outcore_image::{Error, Result};
use outcore_ingest::mix;
use outcore_io::buffer::prefetch;
use outcore_io::{Buffer, Chain, Sink, Streams, Task, Unit, into_inner, lock};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of edges ahead for which the table is prefetched.
pub(super) const AHEAD: usize = 24;

pub(super) struct Translation<'a> {
    pub job: &'a Job<'a>,
    pub order: Order,
    /// Where degree classes begin in the order by degree.
    pub slot_starts: Vec<(usize, u64)>,
    pub numbers: &'a Numbers,
    /// Weights are stored as whole numbers; `None` without weights.
    pub whole_weights: Option<bool>,
    /// Out-lists, and in-lists where edges have a direction.
    pub layouts: &'a [Layout],
    /// Size of the parts whose space is freed.
    pub freed_bytes: u64,
}

/// The location of the records.
pub(super) struct Partitioned {
    /// The file of each direction, and for each of its partitions what every worker put into it.
    pub directions: Vec<(Streams, Vec<Vec<Chain>>)>,
    /// A number that depends on all edges and on nothing else.
    pub fingerprint: u64,
    /// The first row of attributes of every vertex, if vertices have some.
    pub vertex_places: Option<Buffer<u64>>,
}

/// The most memory that the tables of all chunks need.
pub(super) fn table_bytes(chunks: &[Chunk]) -> u64 {
    let most = groups(chunks).iter().map(|group| locals(group)).max().unwrap_or(0);
    5 * most as u64 + (64 << 10)
}

/// A chunk and its number.
pub(super) type NumberedChunk<'a> = (usize, &'a Chunk);

/// Chunks that share a table: those with direct dictionaries; each of the others has its own.
pub(super) fn groups(chunks: &[Chunk]) -> Vec<Vec<NumberedChunk<'_>>> {
    let is_direct = |(_, chunk): &NumberedChunk<'_>| matches!(chunk.run.locals, Locals::Direct { .. });
    let (direct, stored): (Vec<_>, Vec<_>) = chunks.iter().enumerate().partition(is_direct);
    let groups = std::iter::once(direct).chain(stored.into_iter().map(|chunk| vec![chunk]));
    groups.filter(|group| !group.is_empty()).collect()
}

/// The length of a table for chunks.
pub(super) fn locals(chunks: &[NumberedChunk<'_>]) -> usize {
    let locals = chunks.iter().map(|(_, chunk)| match chunk.run.locals {
        Locals::Direct { count, .. } | Locals::Stored { count } => count as usize,
        Locals::None => 0,
    });
    locals.max().unwrap_or(0)
}

impl Translation<'_> {
    /// Translates all chunks. Streams are made at `paths`, one per layout, with blocks of `block_words`.
    pub(super) fn run(&self, chunks: &[Chunk], paths: &[&Path], block_words: usize) -> Result<Partitioned> {
        let backend = self.job.runtime.backend();
        let streams = paths.iter().map(|path| Streams::create(backend, path, block_words));
        let streams = streams.collect::<Result<Vec<_>>>()?;
        let mut distributors = Vec::new();
        for _ in 0..self.job.plan.workers {
            let sinks = streams.iter().zip(self.layouts);
            let sinks = sinks.map(|(streams, layout)| streams.sink(self.job.runtime, layout.partitions.len().max(1)));
            let sinks = sinks.collect::<Result<_>>()?;
            distributors.push(Mutex::new(Distributor { sinks, sides: self.sides(), fingerprint: 0 }));
        }
        let edges = chunks.iter().flat_map(|chunk| &chunk.segments).map(|segment| segment.words * 8).sum();
        let progress = self.job.runtime.task("distributing", Unit::Bytes, Some(edges));
        for group in groups(chunks) {
            let table = Table::load(self, &group)?;
            let segments: Vec<&Segment> = group.iter().flat_map(|(_, chunk)| &chunk.segments).collect();
            self.translate(&table, &segments, &distributors, &progress)?;
        }
        let mut directions: Vec<Vec<Vec<Chain>>> =
            self.layouts.iter().map(|layout| vec![Vec::new(); layout.partitions.len().max(1)]).collect();
        let mut fingerprint = 0u64;
        for distributor in distributors {
            let distributor = into_inner(distributor);
            fingerprint = fingerprint.wrapping_add(distributor.fingerprint);
            for (sink, direction) in distributor.sinks.into_iter().zip(&mut directions) {
                for (chain, partition) in sink.finish()?.into_iter().zip(direction) {
                    partition.push(chain);
                }
            }
        }
        Ok(Partitioned { directions: streams.into_iter().zip(directions).collect(), fingerprint, vertex_places: None })
    }

    /// The first row of attributes of every vertex, by its place in the input; [`NO_PLACE`] where there is none.
    /// Returns the number of further rows.
    pub(super) fn vertex_places(&self, chunks: &[Chunk], places: &mut Buffer<u64>) -> Result<u64> {
        places.fill(NO_PLACE);
        let mut repeated = 0;
        for group in groups(chunks) {
            let segments: Vec<&Segment> = group.iter().flat_map(|(_, chunk)| &chunk.vertex_rows).collect();
            if segments.is_empty() {
                continue;
            }
            let table = Table::load(self, &group)?;
            for segment in segments {
                segment.consume(self.job, self.freed_bytes, |words| {
                    for &[local, place] in words.as_chunks::<2>().0 {
                        let (vertex, _) = table.get(local as u32);
                        let first = &mut places[vertex as usize];
                        repeated += u64::from(*first != NO_PLACE);
                        *first = place.min(*first);
                    }
                    Ok(())
                })?;
            }
        }
        Ok(repeated)
    }

    fn sides(&self) -> Sides {
        // In every order rows come first.
        let rows = self.job.rows.map(|rows| u32::try_from(rows).unwrap_or(u32::MAX));
        Sides { sources_end: rows.unwrap_or(u32::MAX), first_target: rows.unwrap_or(0) }
    }

    fn translate(
        &self,
        table: &Table,
        segments: &[&Segment],
        distributors: &[Mutex<Distributor<'_>>],
        progress: &Task,
    ) -> Result<()> {
        let (next, edge_words) = (AtomicUsize::new(0), self.job.edge_words());
        self.job.runtime.run_on(self.job.plan.workers, |worker| {
            let Some(distributor) = distributors.get(worker) else { return Ok(()) };
            let mut distributor = lock(distributor);
            while let Some(segment) = segments.get(next.fetch_add(1, Ordering::Relaxed)) {
                segment
                    .consume(self.job, self.freed_bytes, |words| {
                        progress.advance(8 * words.len() as u64);
                        match (self.whole_weights, self.layouts) {
                            (None, [both]) if edge_words == 1 => distributor.edges::<false>(table, both, both, words),
                            (None, layouts) if edge_words == 1 => {
                                distributor.edges::<true>(table, &layouts[0], &layouts[1], words)
                            }
                            _ if self.job.facts.is_complex => {
                                distributor.weighted::<4>(table, self.layouts, words, |real| real)
                            }
                            (whole, _) => {
                                let whole = whole.unwrap_or(true);
                                let store = |weight| match (segment.real, whole) {
                                    (true, true) => f64::from_bits(weight) as i64 as u64,
                                    (false, false) => (weight as i64 as f64).to_bits(),
                                    _ => weight,
                                };
                                match edge_words {
                                    2 => distributor.weighted::<2>(table, self.layouts, words, store),
                                    _ => distributor.weighted::<3>(table, self.layouts, words, store),
                                }
                            }
                        }
                    })
                    .inspect_err(|_| next.store(segments.len(), Ordering::Relaxed))?;
            }
            Ok::<(), Error>(())
        })?;
        Ok(())
    }
}

/// The vertices from which edges may lead, and those to which they may: all, but in a rectangular matrix.
#[derive(Clone, Copy)]
struct Sides {
    sources_end: u32,
    first_target: u32,
}

struct Distributor<'a> {
    sinks: Vec<Sink<'a>>,
    sides: Sides,
    fingerprint: u64,
}

impl Sides {
    #[inline(always)]
    fn check(self, source: u32, target: u32) -> Result<()> {
        if source < self.sources_end && target >= self.first_target { Ok(()) } else { Err(self.refusal(source)) }
    }

    #[cold]
    fn refusal(self, source: u32) -> Error {
        let found = if source < self.sources_end { "to a row" } else { "from a column" };
        Error::Usage(format!(
            "expected edges from rows to columns, since the first {} vertices as their ids sort are to be rows, found \
             an edge {found}",
            self.sources_end
        ))
    }
}

impl Distributor<'_> {
    fn edges<const DIRECTED: bool>(&mut self, table: &Table, out: &Layout, into: &Layout, words: &[u64]) -> Result<()> {
        let last = self.sinks.len() - 1;
        for (i, &word) in words.iter().enumerate() {
            if let Some(&ahead) = words.get(i + AHEAD) {
                table.ask(ahead);
            }
            let (source, source_class) = table.get(word as u32);
            let (target, target_class) = table.get((word >> 32) as u32);
            self.sides.check(source, target)?;
            self.fingerprint = self.fingerprint.wrapping_add(mix(u64::from(source) << 32 | u64::from(target)));
            let (partition, record) = out.record(source, target, target_class);
            self.sinks[0].push(partition, record)?;
            if DIRECTED || source != target {
                let (partition, record) = into.record(target, source, source_class);
                self.sinks[last].push(partition, record)?;
            }
        }
        Ok(())
    }

    /// Edges of `WORDS` words, whose weights are stored as `store` makes them.
    fn weighted<const WORDS: usize>(
        &mut self,
        table: &Table,
        layouts: &[Layout],
        words: &[u64],
        store: impl Fn(u64) -> u64,
    ) -> Result<()> {
        let last = self.sinks.len() - 1;
        let edges = words.as_chunks::<WORDS>().0;
        for (i, edge) in edges.iter().enumerate() {
            if let Some(ahead) = edges.get(i + AHEAD) {
                table.ask(ahead[0]);
            }
            let mut record = *edge;
            let weight = store(edge[1]);
            record[1] = weight;
            let (source, source_class) = table.get(edge[0] as u32);
            let (target, target_class) = table.get((edge[0] >> 32) as u32);
            self.sides.check(source, target)?;
            let ends = u64::from(source) << 32 | u64::from(target);
            let hash = mix(mix(ends).wrapping_add(weight));
            let hash = edge.get(3).map_or(hash, |&imaginary| mix(hash.wrapping_add(imaginary)));
            self.fingerprint = self.fingerprint.wrapping_add(hash);
            let partition;
            (partition, record[0]) = layouts[0].record(source, target, target_class);
            self.sinks[0].push_all(partition, record)?;
            if last > 0 || source != target {
                let partition;
                (partition, record[0]) = layouts[last].record(target, source, source_class);
                self.sinks[last].push_all(partition, record)?;
            }
        }
        Ok(())
    }
}

/// From a chunk's locals to vertex numbers.
struct Table {
    numbers: Buffer<u32>,
    /// Degree classes, where the hub column needs them.
    classes: Buffer<u8>,
}

impl Table {
    fn load(translation: &Translation<'_>, chunks: &[NumberedChunk<'_>]) -> Result<Self> {
        let job = translation.job;
        let budget = job.runtime.budget();
        let len = locals(chunks);
        // Numbers by degree tell the class; the others do not.
        let by_degree = translation.order == Order::Degree;
        let mut numbers: Buffer<u32> = Buffer::zeroed(budget, "translating ids", len)?;
        let mut classes: Buffer<u8> = Buffer::zeroed(budget, "translating ids", if by_degree { 0 } else { len })?;
        let starts = &translation.slot_starts;
        for (index, chunk) in chunks {
            let run = &chunk.run;
            let strings = job.facts.string_ids;
            translation.numbers.for_each_local(job.runtime, run, *index, strings, |local, degree, other| {
                let local = local as usize;
                if by_degree {
                    numbers[local] = degree;
                } else {
                    numbers[local] = other;
                    let after = starts.partition_point(|&(_, start)| start <= u64::from(degree));
                    classes[local] = starts[after - 1].0 as u8;
                }
            })?;
        }
        Ok(Table { numbers, classes })
    }

    /// Has the numbers of both ends of an edge brought near.
    #[inline(always)]
    fn ask(&self, ends: u64) {
        prefetch(&self.numbers, ends as u32 as usize);
        prefetch(&self.numbers, (ends >> 32) as usize);
    }

    #[inline(always)]
    fn get(&self, local: u32) -> (u32, u8) {
        let class = self.classes.get(local as usize).copied().unwrap_or(0);
        (self.numbers[local as usize], class)
    }
}
