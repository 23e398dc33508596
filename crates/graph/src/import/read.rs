//! Reading: blocks of the input become edges in locals, in temporary files, and dictionaries become runs.
//!
//! Every worker takes a block, parses it, maps its ids by its own dictionary and writes the edges to its own files.
//! The chunks differ with the number of workers; results that are computed from all of them do not.

use super::attributes::{Attributes, AttributesWriter};
use super::edges::{EdgeFile, Segment, check_finite};
use super::ids::dictionary::{Dictionary, Direct, GROUP_EDGES, Group, Hashed};
use super::ids::runs::{Run, RunWriter};
use super::job::Job;
use super::options::{OrderChoice, SelfLoops};
use super::sample::Sample;
use outcore_format::ValueType;
use outcore_image::{Error, Result};
use outcore_ingest::{BatchWeights, Block, EdgeBatch, Facts, Ids, Parser, Plan, Source, mixed_ids};
use outcore_io::{Reservation, Spill, Task, Unit, into_inner, lock};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Number of edges after which a chunk ends, so that its counts fit 32 bits.
const MOST_EDGES: u64 = 1 << 31;
/// Memory of a chunk in bytes, its file of edges and its place among the runs that are merged included.
const CHUNK_BYTES: u64 = 512;
const CHUNKS_PURPOSE: &str = "chunks of edges whose ids a dictionary holds";
/// Fractions (1/n) of a plan's memory that direct dictionaries take beyond the plan: half of what it leaves free, and
/// three quarters where the format declares the ids, for then nothing larger than what was planned comes later.
const BESIDE_SHARE: u64 = 32;
const DECLARED_BESIDE_SHARE: u64 = 20;
/// A range of ids is direct if it is at most this many times larger than the ids of the first block.
const SPARSEST: u64 = 512;
/// Number of the first file with rows of vertices; the one of a worker is at the worker's number from here on.
const VERTEX_ROWS: usize = 1 << 16;
/// The buffer of such a file.
const VERTEX_ROWS_BYTES: usize = 16 << 10;
/// Whole numbers up to this size are exact in both kinds of weights.
pub(super) const EXACT: u64 = 1 << 53;
/// Whole numbers below this, and down to its negative, are integers of 64 bits.
const INTEGERS_END: f64 = (1u64 << 63) as f64;

/// The input that was read, by a worker or by all of them: its chunks, and facts about it.
#[derive(Default)]
pub(super) struct Input {
    pub chunks: Vec<Chunk>,
    /// The memory that chunks take, their runs while these are merged included.
    _chunks_memory: Vec<Reservation>,
    pub sample: Sample,
    pub edges: u64,
    pub self_loops: u64,
    /// Ids are integers of either sign; some are above `i64::MAX`.
    pub signed: bool,
    huge: bool,
    pub weights: WeightFacts,
    /// Integers that are vertices whether or not an edge names them.
    pub declared: Option<(u64, u64)>,
    /// Edges of the input: those that go back are not counted where edges are mirrored.
    pub edges_read: u64,
    /// Number of skipped comments, and the first of them.
    pub comments: (u64, Option<String>),
    pub late_notes: Vec<String>,
    /// Rows that were left out since an end has no value.
    pub rows_left_out: u64,
    /// The number of the first block with edges, and its first edges as they were understood.
    pub first_edges: Option<(u64, Vec<ReadEdge>)>,
}

impl Input {
    /// Adds the blocks that another worker read.
    fn merge(mut self, other: Input) -> Self {
        let earlier = |&(block, _): &(u64, _)| self.first_edges.as_ref().is_none_or(|&(first, _)| block < first);
        self.first_edges = other.first_edges.filter(earlier).or(self.first_edges);
        self.chunks.extend(other.chunks);
        self._chunks_memory.extend(other._chunks_memory);
        self.sample.merge(other.sample);
        self.edges += other.edges;
        self.edges_read += other.edges_read;
        self.self_loops += other.self_loops;
        self.signed |= other.signed;
        self.huge |= other.huge;
        self.weights.merge(other.weights);
        self
    }
}

/// Number of edges in a report that show how an input was read.
const FIRST_EDGES: usize = 3;
/// Most characters of their ids.
const MOST_CHARACTERS: usize = 1000;

/// An edge as it was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadEdge {
    /// The id of its source, as text: of a longer one the first 1,000 characters.
    pub source: String,
    /// The id of its target.
    pub target: String,
    /// Its weight, if it has one.
    pub weight: Option<String>,
}

impl ReadEdge {
    /// Counts the columns of a rectangular matrix, which are vertices behind its rows, from 0.
    pub fn count_column_from(&mut self, rows: u64) {
        let column = self.target.parse::<u64>().ok().and_then(|vertex| vertex.checked_sub(rows));
        if let Some(column) = column {
            self.target = column.to_string();
        }
    }

    /// The first edges of a batch.
    fn first_of(batch: &EdgeBatch) -> Vec<Self> {
        let id = |place: usize| match &batch.ids {
            Ids::Integer { values, huge, .. } if *huge => values[place].to_string(),
            Ids::Integer { values, .. } => (values[place] as i64).to_string(),
            Ids::Text { bytes, ends } => {
                let start = if place == 0 { 0 } else { ends[place - 1] as usize };
                let text = String::from_utf8_lossy(&bytes[start..ends[place] as usize]);
                text.chars().take(MOST_CHARACTERS).collect()
            }
        };
        let weight = |edge: usize| match &batch.weights {
            BatchWeights::None => None,
            BatchWeights::Integer(values) => values.get(edge).map(i64::to_string),
            BatchWeights::Real(values) => values.get(edge).map(f64::to_string),
            BatchWeights::Complex(values) => values.get(edge).map(|[real, imaginary]| format!("{real}{imaginary:+}i")),
        };
        let count = (batch.ids.len() / 2).min(FIRST_EDGES);
        (0..count).map(|i| ReadEdge { source: id(2 * i), target: id(2 * i + 1), weight: weight(i) }).collect()
    }
}

/// Adds the other direction of every edge between two vertices, for a loop has only one; returns which those are.
fn mirror(batch: &mut EdgeBatch) -> Vec<usize> {
    let edges = batch.ids.len() / 2;
    let mut mirrored: Vec<usize> = Vec::new();
    match &mut batch.ids {
        Ids::Integer { values, .. } => {
            for edge in 0..edges {
                let (source, target) = (values[2 * edge], values[2 * edge + 1]);
                if source != target {
                    values.extend([target, source]);
                    mirrored.push(edge);
                }
            }
        }
        Ids::Text { bytes, ends } => {
            let start = |ends: &[u32], place: usize| if place == 0 { 0 } else { ends[place - 1] as usize };
            for edge in 0..edges {
                let [from, middle, to] = [start(ends, 2 * edge), ends[2 * edge] as usize, ends[2 * edge + 1] as usize];
                if bytes[from..middle] != bytes[middle..to] {
                    bytes.extend_from_within(middle..to);
                    ends.push(bytes.len() as u32);
                    bytes.extend_from_within(from..middle);
                    ends.push(bytes.len() as u32);
                    mirrored.push(edge);
                }
            }
        }
    }
    match &mut batch.weights {
        BatchWeights::None => {}
        BatchWeights::Integer(values) => mirrored.iter().for_each(|&edge| values.push(values[edge])),
        BatchWeights::Real(values) => mirrored.iter().for_each(|&edge| values.push(values[edge])),
        BatchWeights::Complex(values) => mirrored.iter().for_each(|&edge| values.push(values[edge])),
    }
    mirrored
}

/// The edges that were mapped by one dictionary.
pub(super) struct Chunk {
    /// Number of the chunk among those of all workers.
    number: u32,
    pub run: Run,
    pub segments: Vec<Segment>,
    /// The rows of attributes of vertices: two words each, the local and the row's place in the input.
    pub vertex_rows: Vec<Segment>,
}

/// Facts about the weights that were read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WeightFacts {
    /// The first block with a weight that is a whole number by its type, and beyond 2^53.
    large: Option<u64>,
    /// The first with a real number that is not whole, or beyond 64 bits, or beyond 2^53 and real by its type.
    fractions: Option<u64>,
    /// Some weight is no real number of 32 bits.
    wide: bool,
    /// The least and the greatest weight, without fractions.
    range: Option<(i64, i64)>,
}

impl WeightFacts {
    fn note_range(&mut self, values: impl Iterator<Item = i64>) {
        self.range = widened(self.range, values);
    }

    fn merge(&mut self, other: WeightFacts) {
        self.note_range(other.range.into_iter().flat_map(<[i64; 2]>::from));
        self.wide |= other.wide;
        self.large = first(self.large, other.large);
        self.fractions = first(self.fractions, other.fractions);
    }

    /// Refuses whole numbers beyond 2^53 beside fractions: no type holds both exactly.
    fn check(&self, parser: &dyn Parser) -> Result<()> {
        let (Some(large), Some(fractions)) = (self.large, self.fractions) else { return Ok(()) };
        let [first, path] = [large.min(fractions), large.max(fractions)].map(|block| parser.path_of(block));
        let expected = "weights of one kind";
        let expected = if first == path { expected.into() } else { format!("{expected}, as in {}", first.display()) };
        Err(Error::input(
            path,
            None,
            expected,
            "whole numbers beyond 2^53 beside fractions, which no type holds exactly",
        )
        .advise("import the inputs apart, or leave the weights out"))
    }

    /// The narrowest type that holds all of them, and their sums if those are stored.
    pub(super) fn value_type(&self, sums: bool) -> ValueType {
        let (least, most) = self.range.unwrap_or_default();
        match (self.fractions.is_some(), sums) {
            (false, false) => ValueType::of_range(least, most),
            (false, true) => ValueType::I64,
            (true, false) if !self.wide => ValueType::F32,
            (true, _) => ValueType::F64,
        }
    }
}

/// The first of two blocks of which each may be none.
fn first(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// The least and the greatest of some values and those of a range.
pub(super) fn widened(range: Option<(i64, i64)>, values: impl Iterator<Item = i64>) -> Option<(i64, i64)> {
    values.fold(range, |range, value| {
        let (least, most) = range.unwrap_or((value, value));
        Some((least.min(value), most.max(value)))
    })
}

/// The source, and where in it reading stands.
struct Queue {
    source: Source,
    next: u64,
    ended: bool,
}

struct Shared<'a> {
    job: &'a Job<'a>,
    queue: Mutex<Queue>,
    parser: Arc<dyn Parser>,
    stop: AtomicBool,
    failure: Mutex<Option<(u64, Error)>>,
    /// The base and number of ids of direct dictionaries, once the first block has told.
    direct: OnceLock<Option<(u64, usize)>>,
    chunks: AtomicU32,
    /// Bytes of the input that were parsed.
    position_bytes: AtomicU64,
    progress: Task,
}

pub(super) fn read(job: &Job<'_>, source: Source) -> Result<Input> {
    let parser = source.parser();
    let path = parser.path().to_owned();
    let shared = Shared {
        job,
        queue: Mutex::new(Queue { source, next: 0, ended: false }),
        parser,
        stop: AtomicBool::new(false),
        failure: Mutex::new(None),
        direct: OnceLock::new(),
        chunks: AtomicU32::new(0),
        position_bytes: AtomicU64::new(0),
        progress: job.runtime.task("reading", Unit::Bytes, job.facts.input_bytes),
    };
    let parts = job.runtime.run_on(job.plan.readers, |worker| {
        Worker::new(&shared, worker).and_then(Worker::run).inspect_err(|_| shared.stop.store(true, Ordering::Relaxed))
    })?;
    if let Some((_, error)) = lock(&shared.failure).take() {
        return Err(error);
    }
    let queue = into_inner(shared.queue);
    let parser = queue.source.parser();
    let mut input = parts.into_iter().fold(Input::default(), Input::merge);
    input.declared = queue.source.declared().filter(|&(_, count)| count > 0);
    parser.check()?;
    input.weights.check(&*parser)?;
    input.comments = parser.comments();
    input.late_notes = queue.source.late_notes();
    input.rows_left_out = parser.left_out();
    if let left_out @ 1.. = input.rows_left_out {
        input.late_notes.push(format!("Rows without a source or a target that were left out: {left_out}."));
    }
    input.chunks.sort_unstable_by_key(|chunk| chunk.number);
    // Numbers without a gap: the sample refers to chunks by them.
    debug_assert!(input.chunks.iter().enumerate().all(|(i, chunk)| chunk.number as usize == i));
    if input.signed && input.huge {
        return Err(
            mixed_ids(&path, None).advise("read them as strings: --ids string, or columns of strings in a table")
        );
    }
    Ok(input)
}

struct Worker<'a> {
    shared: &'a Shared<'a>,
    dictionary: Option<Dictionary>,
    /// The chunk's number, from when its dictionary is first begun.
    chunk: Option<u32>,
    chunk_edges: u64,
    /// Number of edges taken from the block, or the part of one, that is being parsed.
    block_edges: u64,
    /// Whether an id was read that no direct dictionary takes.
    beyond: bool,
    group: Group,
    /// Number of rows of vertices taken from it.
    block_vertices: u64,
    edges: EdgeFile<'a>,
    vertex_rows: EdgeFile<'a>,
    runs: Arc<Spill>,
    /// The attributes of edges and of vertices.
    attributes: [Option<AttributesWriter<'a>>; 2],
    chunks_memory: Reservation,
    input: Input,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>, worker: usize) -> Result<Self> {
        let Job { runtime, workspace, plan, facts, .. } = shared.job;
        let runs = Spill::create(runtime.backend(), &workspace.temporary(&format!("runs-{worker}")))?;
        let [edges, vertices] = &shared.job.attributes;
        let writer = |all: &'a Option<Attributes>| all.as_ref().map(|all| all.writer(shared.job, worker)).transpose();
        Ok(Worker {
            shared,
            dictionary: None,
            chunk: None,
            chunk_edges: 0,
            block_edges: 0,
            beyond: facts.string_ids,
            group: Group::new(),
            block_vertices: 0,
            edges: EdgeFile::new(shared.job, worker, plan.edge_buffer_bytes),
            vertex_rows: EdgeFile::new(shared.job, VERTEX_ROWS + worker, VERTEX_ROWS_BYTES),
            runs: Arc::new(runs),
            attributes: [writer(edges)?, writer(vertices)?],
            chunks_memory: runtime.budget().reserve(CHUNKS_PURPOSE, 0)?,
            input: Input::default(),
        })
    }

    fn run(mut self) -> Result<Input> {
        let Job { runtime, plan, facts, .. } = self.shared.job;
        let _parse = runtime.budget().reserve("parsing", plan.parse_bytes)?;
        let mut batch = EdgeBatch::new(facts.string_ids);
        while let Some((place, block)) = self.next_block()? {
            let position_bytes = block.input_bytes;
            if let Err(error) = block.parts().try_for_each(|part| self.parse(&part?, &mut batch)) {
                self.fail(place, error);
                break;
            }
            let before = self.shared.position_bytes.fetch_max(position_bytes, Ordering::Relaxed);
            self.shared.progress.advance(position_bytes.saturating_sub(before));
        }
        self.end_chunk()?;
        self.attributes.into_iter().flatten().try_for_each(AttributesWriter::finish)?;
        self.input._chunks_memory.push(self.chunks_memory);
        Ok(self.input)
    }

    /// Parses a block, or a part of one, and takes its edges.
    fn parse(&mut self, block: &Block, batch: &mut EdgeBatch) -> Result<()> {
        batch.sequence = block.sequence;
        batch.clear();
        self.block_edges = 0;
        self.block_vertices = 0;
        let parser = Arc::clone(&self.shared.parser);
        parser.parse(block, batch, &mut |batch| self.take_batch(batch))
    }

    /// Takes the edges of a block, or some of them, and empties the batch.
    fn take_batch(&mut self, batch: &mut EdgeBatch) -> Result<()> {
        self.shared.job.runtime.cancel().check()?;
        self.input.edges_read += batch.ids.len() as u64 / 2;
        if !batch.ids.is_empty() && self.input.first_edges.as_ref().is_none_or(|&(first, _)| batch.sequence < first) {
            self.input.first_edges = Some((batch.sequence, ReadEdge::first_of(batch)));
        }
        let again = if self.shared.job.mirrored { mirror(batch) } else { Vec::new() };
        self.take_attributes(batch, &again)?;
        self.take(batch)?;
        self.block_edges += batch.ids.len() as u64 / 2;
        self.block_vertices += batch.vertices.len() as u64;
        batch.clear();
        Ok(())
    }

    /// Takes what the rows of a batch say beside edges and vertices.
    fn take_attributes(&mut self, batch: &EdgeBatch, again: &[usize]) -> Result<()> {
        let [edges, vertices] = &mut self.attributes;
        if let Some(edges) = edges.as_mut().filter(|_| !batch.ids.is_empty()) {
            edges.take(&batch.attributes, again, batch.sequence << 32 | self.block_edges)?;
        }
        if let Some(vertices) = vertices.as_mut().filter(|_| !batch.vertex_attributes.is_empty()) {
            vertices.take(&batch.vertex_attributes, &[], batch.sequence << 32 | self.block_vertices)?;
        }
        Ok(())
    }

    /// The next block and its place in the input; nothing at the end, or when a worker has failed.
    fn next_block(&self) -> Result<Option<(u64, Block)>> {
        self.shared.job.runtime.cancel().check()?;
        let mut queue = lock(&self.shared.queue);
        if queue.ended || self.shared.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let place = queue.next;
        queue.next += 1;
        match queue.source.next_block() {
            Ok(Some(block)) => Ok(Some((place, block))),
            Ok(None) => {
                queue.ended = true;
                Ok(None)
            }
            Err(error) => {
                queue.ended = true;
                self.fail(place, error);
                Ok(None)
            }
        }
    }

    /// Notes a failure. Blocks before it are still being read, so the first one in the input wins.
    fn fail(&self, place: u64, error: Error) {
        let mut failure = lock(&self.shared.failure);
        if failure.as_ref().is_none_or(|&(before, _)| place < before) {
            *failure = Some((place, error));
        }
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    fn take(&mut self, batch: &EdgeBatch) -> Result<()> {
        let edges = batch.ids.len() / 2;
        let strings = self.shared.job.facts.string_ids;
        let weights = batch.weights.count();
        let is_complex = matches!(batch.weights, BatchWeights::Complex(_));
        let weighted = self.shared.job.facts.weights.is_some();
        let fits = batch.ids.len().is_multiple_of(2)
            && (edges == 0 || weights.is_some() == weighted && weights.is_none_or(|count| count == edges))
            && (edges == 0 || is_complex == self.shared.job.facts.is_complex)
            && [&batch.ids, &batch.vertices].iter().all(|ids| matches!(ids, Ids::Text { .. }) == strings);
        if !fits {
            return Err(Error::custom(format!(
                "expected a batch of {} with {} weights, found {} ids and {} weights; this is a defect of the parser",
                if strings { "string ids" } else { "integer ids" },
                if weighted { edges } else { 0 },
                batch.ids.len(),
                weights.unwrap_or(0),
            )));
        }
        for ids in [&batch.ids, &batch.vertices] {
            if let Ids::Integer { negative, huge, .. } = ids {
                self.input.signed |= negative;
                self.input.huge |= huge;
            }
        }
        check_finite(&batch.weights, self.shared.parser.path())?;
        self.note_weights(&batch.weights, batch.sequence);
        self.edges.set_real(matches!(batch.weights, BatchWeights::Real(_) | BatchWeights::Complex(_)))?;
        let mut at = 0;
        while at < edges {
            at += self.take_group(batch, at, (edges - at).min(GROUP_EDGES))?;
        }
        let mut at = 0;
        while at < batch.vertices.len() {
            let mapped = self.map(&batch.vertices, at, (batch.vertices.len() - at).min(2 * GROUP_EDGES))?;
            if let Some(dictionary) = &mut self.dictionary {
                dictionary.mark(&self.group, mapped);
            }
            if !batch.vertex_attributes.is_empty() {
                let first = batch.sequence << 32 | (self.block_vertices + at as u64);
                let rows = self.group.locals[..mapped].iter().zip(first..);
                self.vertex_rows.write_all(rows.map(|(&local, place)| [u64::from(local), place]))?;
            }
            at += mapped;
        }
        Ok(())
    }

    fn note_weights(&mut self, weights: &BatchWeights, block: u64) {
        let facts = &mut self.input.weights;
        let noted = |found: bool, before| if found { first(before, Some(block)) } else { before };
        match weights {
            // Complex numbers have one type only.
            BatchWeights::None | BatchWeights::Complex(_) => {}
            BatchWeights::Integer(values) => {
                facts.large = noted(values.iter().any(|value| value.unsigned_abs() > EXACT), facts.large);
                facts.note_range(values.iter().copied());
                facts.wide |= values.iter().any(|&value| f64::from(value as f32) != value as f64);
            }
            BatchWeights::Real(values) => {
                facts.note_range(values.iter().map(|&value| value as i64));
                facts.wide |= values.iter().any(|&value| f64::from(value as f32) != value);
                // In text nothing but the number tells its type: whole ones that 64 bits hold are whole there.
                let is_exact = |value: f64| match self.shared.job.facts.has_real_weights {
                    true => value.abs() <= EXACT as f64,
                    false => (-INTEGERS_END..INTEGERS_END).contains(&value),
                };
                // Comparisons are false for what is not finite.
                let are_whole = values.iter().all(|&value| value.trunc() == value && is_exact(value));
                facts.fractions = noted(!are_whole, facts.fractions);
            }
        }
    }

    /// Maps and writes edges from place `at` on; returns of how many.
    fn take_group(&mut self, batch: &EdgeBatch, at: usize, most: usize) -> Result<usize> {
        let edges = self.map(&batch.ids, 2 * at, 2 * most)? / 2;
        let Job { options, .. } = self.shared.job;
        let (edge_words, drop_loops) = (self.shared.job.edge_words(), options.self_loops == SelfLoops::Drop);
        if let Some(dictionary) = &mut self.dictionary {
            dictionary.count(&self.group, edges, drop_loops);
        }
        if let Some(chunk) = self.chunk.filter(|_| options.order == OrderChoice::Auto) {
            self.input.sample.take(&self.group, edges, chunk);
        }
        let locals = &self.group.locals[..2 * edges];
        let loops = locals.chunks_exact(2).filter(|edge| edge[0] == edge[1]).count();
        self.input.edges += edges as u64;
        self.input.self_loops += loops as u64;
        self.chunk_edges += edges as u64;
        let is_stored = |edge: &[u32]| !(drop_loops && edge[0] == edge[1]);
        let pack = |edge: &[u32]| u64::from(edge[0]) | u64::from(edge[1]) << 32;
        let pairs = locals.chunks_exact(2);
        match &batch.weights {
            BatchWeights::None if edge_words == 1 && (loops == 0 || !drop_loops) => {
                self.edges.write_all(pairs.map(|edge| [pack(edge)]))?
            }
            BatchWeights::None if edge_words == 1 => {
                self.edges.write_all(pairs.filter(|edge| is_stored(edge)).map(|edge| [pack(edge)]))?
            }
            weights => {
                let first = batch.sequence << 32 | (self.block_edges + at as u64);
                let weighted = pairs.enumerate().filter(|(_, edge)| is_stored(edge)).map(|(i, edge)| {
                    let [weight, imaginary] = match weights {
                        BatchWeights::Integer(values) => [values[at + i] as u64, 0],
                        BatchWeights::Real(values) => [values[at + i].to_bits(), 0],
                        BatchWeights::Complex(values) => values[at + i].map(f64::to_bits),
                        BatchWeights::None => [0; 2],
                    };
                    [pack(edge), weight, first + i as u64, imaginary]
                });
                match edge_words {
                    2 => self.edges.write_all(weighted.map(|[ends, weight, ..]| [ends, weight]))?,
                    3 => self.edges.write_all(weighted.map(|[ends, weight, place, _]| [ends, weight, place]))?,
                    _ => self.edges.write_all(weighted)?,
                }
            }
        }
        if self.chunk_edges >= MOST_EDGES {
            self.end_chunk()?;
        }
        Ok(edges)
    }

    /// Maps ids to the group, at least one (or both ends of an edge); ends chunks and begins new ones where needed.
    fn map(&mut self, ids: &Ids, from: usize, count: usize) -> Result<usize> {
        loop {
            if self.dictionary.is_none() {
                self.begin_chunk(ids)?;
            }
            let Some(dictionary) = &mut self.dictionary else { continue };
            let mapped = dictionary.map(ids, from, count, &mut self.group)?;
            if mapped > 0 {
                return Ok(mapped);
            }
            if let Dictionary::Direct(_) = dictionary {
                self.beyond = true;
            } else if dictionary.is_empty() {
                let Job { runtime, plan, .. } = self.shared.job;
                let bytes = plan.dictionary_bytes;
                return Err(runtime.budget().refusal("the longest id", 2 * bytes, bytes));
            }
            self.end_chunk()?;
        }
    }

    fn begin_chunk(&mut self, ids: &Ids) -> Result<()> {
        let Job { runtime, plan, facts, .. } = self.shared.job;
        let budget = runtime.budget();
        self.chunk.get_or_insert_with(|| self.shared.chunks.fetch_add(1, Ordering::Relaxed));
        let direct = *self.shared.direct.get_or_init(|| direct_range(ids, facts, plan));
        self.dictionary = Some(match direct {
            Some((base, count)) if !self.beyond => Dictionary::Direct(Direct::new(budget, base, count)?),
            _ => Dictionary::Hashed(Hashed::new(budget, facts.string_ids, plan.dictionary_bytes)?),
        });
        Ok(())
    }

    /// Writes the dictionary as a run and takes the edges that it mapped together.
    fn end_chunk(&mut self) -> Result<()> {
        let Some(dictionary) = self.dictionary.take().filter(|dictionary| !dictionary.is_empty()) else {
            return Ok(());
        };
        let Job { runtime, plan, .. } = self.shared.job;
        if !self.chunks_memory.grow(CHUNK_BYTES) {
            let found_bytes = self.chunks_memory.bytes();
            return Err(runtime.budget().refusal(CHUNKS_PURPOSE, plan.memory_bytes, found_bytes));
        }
        let writer = RunWriter::new(runtime, &self.runs, plan.run_buffer_bytes)?;
        let run = dictionary.finish(writer)?;
        let (segments, vertex_rows) = (self.edges.finish_chunk()?, self.vertex_rows.finish_chunk()?);
        if let Some(number) = self.chunk.take() {
            self.input.chunks.push(Chunk { number, run, segments, vertex_rows });
        }
        self.chunk_edges = 0;
        Ok(())
    }
}

/// The range of direct dictionaries: what the format declares, or what the first ids suggest; none if that is too
/// large.
fn direct_range(ids: &Ids, facts: &Facts, plan: &Plan) -> Option<(u64, usize)> {
    let Ids::Integer { values, .. } = ids else { return None };
    let per_id = Direct::needed_bytes(1 << 20);
    // A little of what no plan has may go to it, for without it there are many chunks, which need more.
    let most = |beside_share| {
        let bytes = plan.dictionary_bytes + plan.memory_bytes / beside_share / plan.readers as u64;
        ((u128::from(bytes) << 20) / u128::from(per_id)).min(u128::from(u32::MAX)) as u64
    };
    if let Some((first, count)) = facts.declared
        && count <= most(DECLARED_BESIDE_SHARE)
    {
        return Some((first, count.max(1) as usize));
    }
    let most = most(BESIDE_SHARE);
    let (least, greatest) = (values.iter().min()?, values.iter().max()?);
    let base = if *greatest < most { 0 } else { least.saturating_sub(most / 4) };
    let dense = greatest - base < SPARSEST * values.len() as u64 && greatest - base < most;
    dense.then_some((base, most as usize))
}
