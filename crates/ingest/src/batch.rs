//! Batches of edges under the user's own ids: the data that passes from a parser to the importer.
//!
//! A [`Source`] cuts its input into blocks, one after the other (that is cheap); a [`Parser`] turns a block into an
//! [`EdgeBatch`], on any worker and in any order (that is where the time is spent). The sequence number of a block
//! carries the input order, so the result does not depend on which worker parsed which block.

use crate::column_names::Unread;
use crate::condition::Condition;
use crate::given::Given;
use crate::input::folders::Files;
use crate::input_sample::SampledFiles;
use crate::mapped::mapping;
use crate::tables::attributes::{AttributeColumn, AttributeField, Attributes, retain, retain_text};
use arrow_array::RecordBatch;
use outcore_declare::Choice;
use outcore_format::{AttributeKind, IdType};
use outcore_image::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The kind of the user's ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdKind {
    /// Integers if the beginning of the input holds only integers, else strings; some words among integers are refused.
    #[default]
    Auto,
    /// Integers: any `u64`, or any `i64`, but not both in one graph.
    Integer,
    /// Integers of one type, whatever that of the input is.
    Type(IdType),
    /// Strings, compared byte by byte.
    String,
}

impl Choice for IdKind {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (
            IdKind::Auto,
            "auto",
            "Integers if the beginning of the input holds only integers, else strings; a few words among integers are refused",
        ),
        (
            IdKind::Integer,
            "integer",
            "Integers, of the type of the input: of text int64, or uint64 if one is beyond that",
        ),
        (IdKind::Type(IdType::Int32), "int32", "Integers that come back as int32"),
        (IdKind::Type(IdType::Int64), "int64", "Integers that come back as int64"),
        (IdKind::Type(IdType::UInt32), "uint32", "Integers that come back as uint32"),
        (IdKind::Type(IdType::UInt64), "uint64", "Integers that come back as uint64"),
        (IdKind::String, "string", "Strings"),
    ];
}

impl IdKind {
    /// Whether ids are to be strings, where the user says so.
    pub(crate) fn wants_strings(self) -> Option<bool> {
        (self != IdKind::Auto).then_some(self == IdKind::String)
    }
}

/// Treatment of rows whose source or target has no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Nulls {
    /// The first one is an error.
    #[default]
    Error,
    /// Rows with nulls are left out.
    Skip,
}

impl Choice for Nulls {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Nulls::Error, "error", "The first one is an error"), (Nulls::Skip, "skip", "They are left out and counted")];
}

outcore_declare::from_names!(IdKind, Nulls);

#[derive(Debug)]
pub(crate) struct LeftOut {
    nulls: Nulls,
    count: AtomicU64,
}

impl LeftOut {
    pub(crate) fn new(nulls: Nulls) -> Self {
        LeftOut { nulls, count: AtomicU64::new(0) }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.nulls == Nulls::Skip
    }

    pub(crate) fn add(&self, rows: u64) {
        self.count.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

/// Ids of one kind. Edge `i` of a batch runs from id `2 i` to id `2 i + 1`.
#[derive(Clone, Debug, PartialEq)]
pub enum Ids {
    /// Integers in two's complement.
    Integer {
        /// The low 64 bits of each.
        values: Vec<u64>,
        /// Some are below zero: the values are `i64`.
        negative: bool,
        /// Some are above `i64::MAX`: the values are `u64`.
        huge: bool,
    },
    /// Strings, one after the other: string `i` ends at `ends[i]`.
    Text {
        /// All strings without separators.
        bytes: Vec<u8>,
        /// End of each string, in bytes.
        ends: Vec<u32>,
    },
}

/// Size of the ids of a batch at which a parser that can stop hands the batch over.
pub const FULL_BYTES: usize = 1 << 20;

impl Ids {
    /// Visits one end of every edge, as text: of edges that are loops.
    pub(crate) fn each_loop(&self, mut visit: impl FnMut(&str) -> Result<()>) -> Result<()> {
        match self {
            Ids::Integer { values, negative, .. } => values.iter().step_by(2).try_for_each(|&value| {
                visit(&if *negative { (value as i64).to_string() } else { value.to_string() }) //
            }),
            Ids::Text { bytes, ends } => ends.chunks(2).enumerate().try_for_each(|(edge, pair)| {
                let start = edge.checked_sub(1).map_or(0, |before| ends[2 * before + 1]);
                visit(&String::from_utf8_lossy(&bytes[start as usize..pair[0] as usize]))
            }),
        }
    }

    /// No integers.
    pub fn integers() -> Self {
        Ids::Integer { values: Vec::new(), negative: false, huge: false }
    }

    /// No strings.
    pub fn strings() -> Self {
        Ids::Text { bytes: Vec::new(), ends: Vec::new() }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            Ids::Integer { values, .. } => values.len(),
            Ids::Text { ends, .. } => ends.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all ids and keeps the kind and the memory, unless that is much.
    pub fn clear(&mut self) {
        match self {
            Ids::Integer { values, negative, huge } => {
                values.clear();
                *negative = false;
                *huge = false;
            }
            Ids::Text { bytes, ends } => {
                bytes.clear();
                bytes.shrink_to(2 * FULL_BYTES);
                ends.clear();
            }
        }
    }

    fn len_bytes(&self) -> usize {
        match self {
            Ids::Integer { values, .. } => size_of_val(&values[..]),
            Ids::Text { bytes, ends } => bytes.len() + size_of_val(&ends[..]),
        }
    }

    /// Whether there are ids below zero beside ids above `i64::MAX`, which no type holds together.
    pub(crate) fn is_mixed(&self) -> bool {
        matches!(self, Ids::Integer { negative: true, huge: true, .. })
    }

    /// Refuses ids that are mixed, in or behind this line or record; `advice` is how to read them as strings.
    pub(crate) fn check_one_kind(&self, path: &Path, record: u64, advice: &str) -> Result<()> {
        if self.is_mixed() { Err(mixed_ids(path, Some(record)).advise(advice)) } else { Ok(()) }
    }
}

/// The error for ids below zero beside ids above `i64::MAX`.
pub fn mixed_ids(path: &Path, record: Option<u64>) -> Error {
    let expected = "ids that all fit one kind, from -2^63 up or up to 2^64 - 1";
    Error::input(path, record, expected, format!("ids below zero beside ids above {}", i64::MAX))
}

/// The weights of a batch, one per edge, or none at all.
#[derive(Clone, Debug, PartialEq)]
pub enum BatchWeights {
    /// The input has no weights, or they are not wanted.
    None,
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Finite real numbers.
    Real(Vec<f64>),
    /// Complex numbers, of which both parts are finite: the values of a matrix.
    Complex(Vec<[f64; 2]>),
}

impl BatchWeights {
    /// Forgets all weights and keeps the kind and the memory.
    pub fn clear(&mut self) {
        match self {
            BatchWeights::None => {}
            BatchWeights::Integer(weights) => weights.clear(),
            BatchWeights::Real(weights) => weights.clear(),
            BatchWeights::Complex(weights) => weights.clear(),
        }
    }

    /// Number of weights, if there are weights.
    pub fn count(&self) -> Option<usize> {
        match self {
            BatchWeights::None => None,
            BatchWeights::Integer(weights) => Some(weights.len()),
            BatchWeights::Real(weights) => Some(weights.len()),
            BatchWeights::Complex(weights) => Some(weights.len()),
        }
    }

    /// Whole numbers to add to: none if there were others.
    pub fn integers(&mut self) -> &mut Vec<i64> {
        if !matches!(self, BatchWeights::Integer(_)) {
            *self = BatchWeights::Integer(Vec::new());
        }
        let BatchWeights::Integer(weights) = self else { unreachable!("they were made so") };
        weights
    }

    /// Real numbers to add to: none if there were others.
    pub fn reals(&mut self) -> &mut Vec<f64> {
        if !matches!(self, BatchWeights::Real(_)) {
            *self = BatchWeights::Real(Vec::new());
        }
        let BatchWeights::Real(weights) = self else { unreachable!("they were made so") };
        weights
    }
}

/// An edge of a batch without a weight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unweighted {
    /// Its place in the batch.
    pub(crate) edge: usize,
    /// The number of its line or row.
    pub(crate) record: u64,
}

/// Edges as they stand in one block of the input.
#[derive(Clone, Debug)]
pub struct EdgeBatch {
    /// The block's place in the input, from 0, without gaps.
    pub sequence: u64,
    /// Both ends of every edge: source, target, source, target, ...
    pub ids: Ids,
    /// One weight per edge, if the input has them.
    pub weights: BatchWeights,
    /// Edges without a weight, which is 0 here, in their order: only where conditions may leave them out.
    pub(crate) unweighted: Vec<Unweighted>,
    /// Attributes of every edge: a column for each of [`Facts::attributes`].
    pub attributes: Vec<AttributeColumn>,
    /// Vertices that the input names outside of edges (a `.v` file, a METIS line).
    pub vertices: Ids,
    /// Attributes of every listed vertex: none, or a column for each of [`Facts::vertex_attributes`].
    pub vertex_attributes: Vec<AttributeColumn>,
}

impl EdgeBatch {
    /// No edges, with ids that are strings or integers.
    pub fn new(strings: bool) -> Self {
        let empty = || if strings { Ids::strings() } else { Ids::integers() };
        EdgeBatch {
            sequence: 0,
            ids: empty(),
            weights: BatchWeights::None,
            unweighted: Vec::new(),
            attributes: Vec::new(),
            vertices: empty(),
            vertex_attributes: Vec::new(),
        }
    }

    /// Forgets all edges and vertices and keeps the kinds and the memory.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.weights.clear();
        self.unweighted.clear();
        self.attributes.clear();
        self.vertices.clear();
        self.vertex_attributes.clear();
    }

    /// Forgets the edges that are not kept.
    pub(crate) fn retain(&mut self, kept: &[bool]) {
        if kept.iter().all(|&kept| kept) {
            return;
        }
        match &mut self.ids {
            Ids::Integer { values, .. } => {
                let mut place = 0;
                values.retain(|_| {
                    place += 1;
                    kept[(place - 1) / 2]
                });
            }
            Ids::Text { bytes, ends } => retain_text(bytes, ends, kept, 2),
        }
        match &mut self.weights {
            BatchWeights::None => {}
            BatchWeights::Integer(values) => retain(values, kept),
            BatchWeights::Real(values) => retain(values, kept),
            BatchWeights::Complex(values) => retain(values, kept),
        }
        self.attributes.iter_mut().for_each(|column| column.retain(kept));
    }

    /// Whether a parser that can stop should hand the batch over.
    pub(crate) fn is_full(&self) -> bool {
        self.ids.len_bytes().max(self.vertices.len_bytes()) >= FULL_BYTES
    }
}

/// Facts of an input that are known before its edges are read.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The name of the format, as `--format` has it.
    pub format: &'static str,
    /// Whether edges have a direction, where the format says so.
    pub directed: Option<bool>,
    /// The part of the input that decides the direction, for messages; `None` if the format itself decides.
    pub directed_by: Option<String>,
    /// Whether ids are strings (true) or integers (false); decided by the time the source is open.
    pub string_ids: bool,
    /// No row that was looked at tells whether they are.
    pub are_ids_open: bool,
    /// The type of ids that are integers: that of the columns of ids, the narrowest of all if these differ, and `Int64`
    /// where the input has no types. Ids may be beyond it, in inputs without types or of several.
    pub id_type: IdType,
    /// The user says the type of ids that are integers: an id beyond it is refused.
    pub is_id_type_fixed: bool,
    /// Names of the source and target columns; `None` where the format has no columns.
    pub ends: Option<[String; 2]>,
    /// The name of the weights, if there are any.
    pub weights: Option<String>,
    /// Weights are real numbers by their type: whole ones beyond 2^53 may be rounded ones, and stay real.
    pub has_real_weights: bool,
    /// Weights are complex numbers, as a matrix may have them.
    pub is_complex: bool,
    /// Attributes that are kept of every edge beside its weight.
    pub attributes: Vec<AttributeField>,
    /// Attributes have their own names: an export may have put `edge.` before those in a file.
    pub has_own_names: bool,
    /// Names of those of which the first rows have no value, whose kind nobody knows.
    pub untyped: Vec<String>,
    /// Attributes that are kept of listed vertices.
    pub vertex_attributes: Vec<AttributeField>,
    /// Parallel edges are meant to be kept, unless the user says otherwise.
    pub keeps_parallel: bool,
    /// All integer ids in this range (first, count) are vertices, whether or not an edge names them.
    pub declared: Option<(u64, u64)>,
    /// Number of rows of a rectangular matrix: the first vertices, as their ids sort. The others are its columns.
    pub rows: Option<u64>,
    /// Prefixes of the ids of sources and of targets, in a graph with two sides.
    pub sides: Option<[String; 2]>,
    /// The sides are the rows and the columns of a matrix.
    pub sides_are_matrix: bool,
    /// Behind the prefixes of sides stand integers.
    pub sides_are_integers: bool,
    /// The size of the input in bytes as it lies on disk, where it is known.
    pub input_bytes: Option<u64>,
    /// The input is a pipe, a device or the standard input: it may end early because what writes it failed.
    pub is_pipe: bool,
    /// The number of edges, where the format says so.
    pub edges: Option<u64>,
    /// The files from which [`Facts::sizes`] takes a sample.
    pub sampled: SampledFiles,
    /// Memory in bytes that decoding a block reserves in the budget, as far as it is known beforehand.
    pub block_bytes: u64,
    /// Largest length of a line of text, or of a string in a table, in bytes; 0 where there are none.
    pub longest_line_bytes: u64,
    /// Compression of the input, if there is any: `gzip`, `zstd`, `bzip2`, `xz` or `zip`.
    pub compression: Option<&'static str>,
    /// The columns of the lines, where the input is a list of edges in text.
    pub text: Option<TextFacts>,
    /// The files that are read, where the input is files, and those in their folders that are not.
    pub files: Files,
    /// Counts of each of the files that are read; none where they are not told apart.
    pub counts: Vec<Arc<FileCounts>>,
    /// The columns that are not read.
    pub unread: Unread,
    /// Numbers of edges that did not meet conditions, while the input is read.
    pub unmet: Vec<Arc<AtomicU64>>,
    /// Number of vertices of images none of whose vertices meets conditions.
    pub unmet_vertices: u64,
    /// The request of the import.
    pub given: Given,
    /// Notes for the import report, in whole sentences.
    pub notes: Vec<String>,
}

impl Facts {
    /// Number of edges that did not meet conditions, so far.
    pub fn edges_unmet(&self) -> u64 {
        self.unmet.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }
}

/// Counts of a file, while it is read.
#[derive(Debug, Default)]
pub struct FileCounts {
    /// Its edges, before conditions.
    pub(crate) edges: AtomicU64,
    /// It is text whose last line has no end of line.
    pub(crate) lacks_end: AtomicBool,
}

impl FileCounts {
    /// Number of its edges that were read, before conditions.
    pub fn edges(&self) -> u64 {
        self.edges.load(Ordering::Relaxed)
    }
}

/// The cut of the lines of a text file into columns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextFacts {
    /// The name of the separator, or the character.
    pub separator: String,
    /// Whether the first line names the columns.
    pub header: bool,
    /// The column of the weights, from 1.
    pub weight_column: Option<usize>,
    /// Number of columns.
    pub columns: usize,
    /// There is a line with an edge.
    pub has_rows: bool,
}

/// Size of a block of text or of binary records, unless its lines are longer.
pub const BLOCK_BYTES: usize = 1 << 20;

/// A piece of the input that a parser can work on alone.
#[derive(Debug)]
pub struct Block {
    /// The block's place in the input, from 0, without gaps but those of [`Block::parts`].
    pub sequence: u64,
    /// The number of the block's first line (from 1) or record (from 0).
    pub first_record: u64,
    /// The vertex of the first adjacency line of the block, in formats that count lines.
    pub first_vertex: u64,
    /// Bytes of the input up to the end of this block, as they lie on disk: for the progress bar.
    pub input_bytes: u64,
    /// The content.
    pub data: BlockData,
}

/// The content of a block.
#[derive(Debug)]
pub enum BlockData {
    /// Whole lines or whole binary records.
    Bytes(Vec<u8>),
    /// Rows of a table.
    Table(RecordBatch),
    /// Rows of a table that are still to be decoded.
    Rows(Rows),
}

/// Rows of a table, decoded by whoever takes them, some at a time.
pub struct Rows {
    /// The rows, batch by batch.
    pub batches: Box<dyn Iterator<Item = Result<RecordBatch>> + Send>,
    /// Number of batches.
    pub parts: u64,
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("parts", &self.parts).finish_non_exhaustive()
    }
}

impl Block {
    /// Number of sequence numbers that the block takes: one for each of its batches.
    pub fn parts_count(&self) -> u64 {
        match &self.data {
            BlockData::Rows(rows) => rows.parts,
            _ => 1,
        }
    }

    /// The parts that a parser takes one by one: most blocks are one, others are decoded here.
    pub fn parts(self) -> impl Iterator<Item = Result<Block>> {
        let Block { sequence, mut first_record, first_vertex, input_bytes, data } = self;
        let (whole, rows) = match data {
            BlockData::Rows(rows) => (None, Some(rows)),
            data => (Some(Ok(Block { sequence, first_record, first_vertex, input_bytes, data })), None),
        };
        let batches = rows.into_iter().flat_map(|rows| rows.batches);
        whole.into_iter().chain((sequence..).zip(batches).map(move |(sequence, batch)| {
            let batch = batch?;
            let first = first_record;
            first_record += batch.num_rows() as u64;
            let data = BlockData::Table(batch);
            Ok(Block { sequence, first_record: first, first_vertex, input_bytes, data })
        }))
    }
}

/// An input: its facts, its blocks, and the parser that turns the blocks into edges.
pub struct Source {
    pub(crate) facts: Facts,
    pub(crate) parser: Arc<dyn Parser>,
    blocks: Box<dyn ReadBlocks>,
    /// Whether vertices that the blocks declare at the end count.
    pub(crate) declares_late: bool,
    late_notes: Vec<LateNote>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// A note that exists only once all batches are parsed.
pub(crate) type LateNote = Box<dyn Fn() -> Option<String> + Send>;

impl Source {
    /// An input that `blocks` cuts into blocks, which `parser` understands.
    pub fn new(facts: Facts, parser: Arc<dyn Parser>, blocks: impl ReadBlocks + 'static) -> Self {
        Source { facts, parser, blocks: Box::new(blocks), declares_late: true, late_notes: Vec::new() }
    }

    /// The facts of the input.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The facts of the input, to be changed.
    pub fn facts_mut(&mut self) -> &mut Facts {
        &mut self.facts
    }

    /// The source with the type of ids that the user says, if any.
    ///
    /// # Errors
    /// A type of integers for ids that are strings.
    pub fn with_id_type(mut self, ids: IdKind) -> Result<Self> {
        let IdKind::Type(kind) = ids else { return Ok(self) };
        if self.facts.string_ids && !self.facts.sides_are_matrix {
            let expected = format!("ids that are integers, as --ids {} says", kind.name());
            return Err(Error::input(self.parser.path(), None, expected, "strings").advise("leave --ids out"));
        }
        (self.facts.id_type, self.facts.is_id_type_fixed) = (kind, true);
        Ok(self)
    }

    /// The parser of the blocks.
    pub fn parser(&self) -> Arc<dyn Parser> {
        Arc::clone(&self.parser)
    }

    /// The next block, or nothing at the end of the input.
    pub fn next_block(&mut self) -> Result<Option<Block>> {
        self.blocks.next_block()
    }

    /// Says, before the first block, that this is added to the numbers of blocks: the source is one of several.
    pub(crate) fn begin_at(&mut self, sequence: u64) {
        self.blocks.begin_at(sequence);
    }

    /// The integers (first, count) that are vertices whether or not an edge names them, once `next_block` has returned
    /// nothing.
    pub fn declared(&self) -> Option<(u64, u64)> {
        hull(self.facts.declared, self.blocks.declared().filter(|_| self.declares_late))
    }

    /// Notes that only the whole input tells, once `next_block` has returned nothing and all blocks are parsed.
    pub fn late_notes(&self) -> Vec<String> {
        let own = self.late_notes.iter().filter_map(|note| note());
        self.blocks.late_notes().into_iter().chain(own).collect()
    }

    /// The notes of a source that is read to its end and goes, while the last of its blocks may still be parsed.
    pub(crate) fn into_late_notes(self) -> Vec<LateNote> {
        let of_blocks = self.blocks.late_notes().into_iter();
        of_blocks.map(|note| Box::new(move || Some(note.clone())) as LateNote).chain(self.late_notes).collect()
    }

    /// Adds a note that exists only once the whole input is parsed.
    pub(crate) fn note_late(&mut self, note: impl Fn() -> Option<String> + Send + 'static) {
        self.late_notes.push(Box::new(note));
    }

    /// Changes every batch of edges with `map`, which also gets the number of the first edge's row, in tables.
    pub(crate) fn map(&mut self, map: impl Fn(&mut EdgeBatch, Option<u64>) -> Result<()> + Send + Sync + 'static) {
        self.parser = mapping(self.parser(), map);
    }
}

/// The smallest range that holds both ranges (first, count).
pub(crate) fn hull(a: Option<(u64, u64)>, b: Option<(u64, u64)>) -> Option<(u64, u64)> {
    let (Some(a), Some(b)) = (a, b) else {
        return a.or(b);
    };
    let first = a.0.min(b.0);
    let end = a.0.saturating_add(a.1).max(b.0.saturating_add(b.1));
    Some((first, end - first))
}

/// Cuts an input into blocks.
pub trait ReadBlocks: Send {
    /// The next block, or nothing at the end of the input.
    fn next_block(&mut self) -> Result<Option<Block>>;

    /// Adds this to the numbers of blocks, before the first one: readers of several inputs tell these apart by them.
    fn begin_at(&mut self, _sequence: u64) {}

    /// Vertices that only the whole input declares, such as by a header whose meaning was in doubt.
    fn declared(&self) -> Option<(u64, u64)> {
        None
    }

    /// Notes that only the whole input tells.
    fn late_notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Takes the edges of a batch and empties it.
pub type TakeBatch<'a> = dyn FnMut(&mut EdgeBatch) -> Result<()> + 'a;

/// Turns blocks into edges. Any worker may parse any block, in any order, but every block exactly once: formats that
/// state how many edges follow are checked by whoever finishes the last block.
pub trait Parser: Send + Sync {
    /// Appends the edges of a block that is one part to `batch`, whose `ids` and `vertices` are of the right kind and
    /// empty, and hands them to `take`, which empties the batch: once, or, where edges may take far more memory than
    /// the block, in several batches of bounded size, in the order of the block.
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()>;

    /// The input, for messages.
    fn path(&self) -> &Path;

    /// The input that has the block with this number.
    fn path_of(&self, _sequence: u64) -> PathBuf {
        self.path().to_owned()
    }

    /// Number of skipped comments, and the first of them, once all blocks are parsed.
    fn comments(&self) -> (u64, Option<String>) {
        (0, None)
    }

    /// The refusal of an edge without a weight, in this line or row of the block with this number.
    fn no_weight(&self, _sequence: u64, record: u64) -> Error {
        Error::input(self.path(), Some(record), "a weight", "none")
    }

    /// Refuses what only the whole input shows, once all blocks are parsed.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Number of rows left out because an end has no value, once all blocks are parsed.
    fn left_out(&self) -> u64 {
        0
    }
}

/// Options for reading an input.
#[derive(Clone, Debug, Default)]
pub struct InputOptions {
    /// The name of the format; `None` decides by the file's name and its first bytes.
    pub format: Option<String>,
    /// The kind of ids.
    pub ids: IdKind,
    /// The column with the sources of edges: a name, or a number from 1. `None` takes the one that the format has.
    pub source: Option<String>,
    /// The column with the targets.
    pub target: Option<String>,
    /// The column with the weights. `None` takes the one that the format has, or one called `weight`; `Some("none")`
    /// leaves them out.
    pub weight: Option<String>,
    /// The other columns that are kept, under their names.
    pub attributes: Attributes,
    /// The input is one of several whose attributes are united by name: it may lack some of those that options name,
    /// and has these kinds where they are known.
    pub united: Option<Vec<AttributeField>>,
    /// Conditions that edges must meet.
    pub conditions: Vec<Condition>,
    /// Separator of the columns of a text file: `tab`, `comma`, ..., or a character. `None`: the first lines decide.
    pub delimiter: Option<String>,
    /// Whether the first line of a text file names the columns. `None` decides by the first lines.
    pub header: Option<bool>,
    /// Sign that begins comments in a text file, or `none`. `None`: `#` and `%`, but nothing in CSV.
    pub comment: Option<String>,
    /// The input is a table of vertices: ids in its first column, attributes in the others. Each id is read as an edge
    /// to itself, for [`with_vertices`](crate::with_vertices).
    pub of_vertices: bool,
    /// Treatment of rows whose source or target has no value.
    pub nulls: Nulls,
    /// Sources are one side of the graph and targets the other, whose ids are two spaces: the prefixes that keep them
    /// apart ([`SIDES`](crate::SIDES)).
    pub bipartite: Option<[String; 2]>,
    /// Whether edges have a direction, where the user says so: it decides where the edges of an input differ in it.
    pub directed: Option<bool>,
    /// A file or an image may be given twice, and its edges count twice then.
    pub allow_repeated: bool,
    /// Whether a matrix is wanted, which may be rectangular and complex.
    pub is_matrix: bool,
}

impl InputOptions {
    /// The kind that an attribute of several inputs has in their union.
    pub(crate) fn united_kind(&self, name: &str) -> Option<&AttributeKind> {
        let mut fields = self.united.iter().flatten();
        fields.find(|field| field.name == name).map(|field| &field.kind)
    }

    /// Refuses options for columns that an input has not; `taken` are those that it has, `what` is what it is.
    pub(crate) fn check_taken(&self, taken: &[&str], path: &Path, what: &str) -> Result<()> {
        let given = [
            ("delimiter", self.delimiter.is_some(), "text"),
            ("header", self.header.is_some(), "text in columns"),
            ("comment", self.comment.is_some(), "text"),
            ("source", self.source.is_some(), "lists of edges and tables"),
            ("target", self.target.is_some(), "lists of edges and tables"),
            ("attributes", matches!(self.attributes, Attributes::Named(_)), "lists of edges and tables"),
            ("nulls", self.nulls != Nulls::default(), "lists of edges and tables"),
            ("bipartite", self.bipartite.is_some(), "lists of edges and tables"),
        ];
        match given.into_iter().find(|(name, is_given, _)| *is_given && !taken.contains(name)) {
            None => Ok(()),
            Some((name, _, inputs)) => Err(Error::Usage(format!(
                "--{name}: expected an input that it is for, {inputs}, found {}, which is {what}; leave the option out",
                path.display()
            ))),
        }
    }
}

/// The error for a record that breaks the format.
pub fn bad_record(path: &Path, line: u64, expected: &str, found: &[u8]) -> Error {
    let shown = String::from_utf8_lossy(&found[..found.len().min(80)]).into_owned();
    Error::input(path, Some(line), expected, format!("`{shown}`"))
}
