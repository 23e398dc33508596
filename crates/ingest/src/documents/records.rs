//! Edges and vertices of formats that one thread reads from the beginning to the end: XML and other trees.
//!
//! A reader appends records to a block, and workers turn blocks into edges. The first block with an edge tells whether
//! ids are integers: if all of its ids are written as integers are printed, unless the user says otherwise. Whether
//! there are weights is known by then, too. Where more than a block of vertices comes before the first edge, those
//! vertices are read twice.

use crate::batch::{
    Block, BlockData, EdgeBatch, Facts, IdKind, Ids, InputOptions, Parser, ReadBlocks, Source, TakeBatch, Unweighted,
    bad_record,
};
use crate::input::file::{Input, Stream};
use crate::tables::attributes::{AttributeColumn, AttributeField, expected_form};
use crate::text::number::{integer, is_padded, is_whole, weight};
use crate::text::sample::{other_direction, padded_id};
use crate::text::source::{begin, begin_weights, text_of};
use outcore_image::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Size at which a block is handed over.
const BLOCK_BYTES: usize = 256 << 10;

const VERTEX: u8 = 0;
const EDGE: u8 = 1;
const WEIGHTED_EDGE: u8 = 2;

/// The length that marks a missing value.
const MISSING: u32 = u32::MAX;

/// Records, one after the other: the kind of each, its line, its ids with their lengths before them, and its values.
#[derive(Default)]
pub(crate) struct Records {
    bytes: Vec<u8>,
    edges: u64,
    /// All ids are written as integers are printed.
    integers: Option<bool>,
}

impl Records {
    fn begin(&mut self, kind: u8, line: u64) {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(&line.to_le_bytes());
    }

    fn text(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(text);
    }

    fn id(&mut self, id: &[u8]) {
        self.integers = Some(self.integers.unwrap_or(true) && is_printed_integer(id));
        self.text(id);
    }

    /// A vertex, whether or not an edge names it, with the values of its attributes.
    pub(crate) fn vertex(&mut self, line: u64, id: &[u8], values: &[Option<String>]) {
        self.begin(VERTEX, line);
        self.id(id);
        self.values(values);
    }

    /// An edge, with its weight as it is written, if it has one, and the values of its attributes.
    pub(crate) fn edge(&mut self, line: u64, ends: [&[u8]; 2], weight: Option<&[u8]>, values: &[Option<String>]) {
        self.begin(if weight.is_some() { WEIGHTED_EDGE } else { EDGE }, line);
        ends.into_iter().for_each(|end| self.id(end));
        weight.into_iter().for_each(|weight| self.text(weight));
        self.values(values);
        self.edges += 1;
    }

    fn values(&mut self, values: &[Option<String>]) {
        for value in values {
            match value {
                Some(value) => self.text(value.as_bytes()),
                None => self.bytes.extend_from_slice(&MISSING.to_le_bytes()),
            }
        }
    }
}

/// The records of a block; `values` are the numbers of values of an edge and of a vertex.
struct RecordIter<'a> {
    bytes: &'a [u8],
    values: [usize; 2],
}

/// A record: its line, its ids, its weight, and its values.
enum Record<'a> {
    Vertex(u64, &'a [u8], Vec<Option<&'a str>>),
    Edge(u64, [&'a [u8]; 2], Option<&'a [u8]>, Vec<Option<&'a str>>),
}

impl<'a> RecordIter<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(front)
    }

    fn len(&mut self) -> Option<u32> {
        self.take(4)?.try_into().map(u32::from_le_bytes).ok()
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let len = self.len()?;
        self.take(len as usize)
    }

    fn values(&mut self, count: usize) -> Option<Vec<Option<&'a str>>> {
        let value = |_| match self.len()? {
            MISSING => Some(None),
            len => std::str::from_utf8(self.take(len as usize)?).ok().map(Some),
        };
        (0..count).map(value).collect()
    }
}

impl<'a> Iterator for RecordIter<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let kind = self.take(1)?[0];
        let line = self.take(8)?.try_into().map(u64::from_le_bytes).ok()?;
        let [of_edges, of_vertices] = self.values;
        if kind == VERTEX {
            return Some(Record::Vertex(line, self.text()?, self.values(of_vertices)?));
        }
        let ends = [self.text()?, self.text()?];
        let weight = if kind == WEIGHTED_EDGE { Some(self.text()?) } else { None };
        Some(Record::Edge(line, ends, weight, self.values(of_edges)?))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WeightRule {
    pub(crate) name: String,
    pub(crate) default: Option<f64>,
}

/// Facts that a reader knows once it has seen an edge, or the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) directed: Option<bool>,
    pub(crate) weights: Option<WeightRule>,
    pub(crate) notes: Vec<String>,
    pub(crate) strings: Option<bool>,
    pub(crate) keeps_parallel: bool,
    /// Attributes to keep, of edges and of vertices: every record has a value for each.
    pub(crate) attributes: [Vec<AttributeField>; 2],
    /// All integer ids in this range (first, count) are vertices.
    pub(crate) declared: Option<(u64, u64)>,
    /// Largest length of a line, where the input is read line by line.
    pub(crate) longest_line_bytes: u64,
}

/// Name under which exports note that ids are strings, although some look like numbers.
pub const STRING_IDS: &str = "outcoreStringIds";

pub(crate) trait ReadRecords: Send {
    /// Appends one record or a few; false at the end.
    fn read(&mut self, records: &mut Records) -> Result<bool>;

    fn known(&self) -> Result<Known>;

    fn stream(&self) -> &Stream;
}

/// Directions of edges, where each may say its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Directions {
    /// The direction of edges that do not state their own.
    pub(crate) usual: bool,
    pub(crate) requested: Option<bool>,
}

impl Directions {
    /// Whether the graph has a direction: the option decides where edges differ.
    pub(crate) fn of_graph(self) -> bool {
        self.requested.unwrap_or(self.usual)
    }

    /// Appends an edge with its weight and its values; `own` is the direction that it states. An edge without a
    /// direction goes in both if the user requests directed edges.
    pub(crate) fn push(
        self,
        own: Option<bool>,
        (path, line): (&Path, u64),
        ends: [&[u8]; 2],
        weight: Option<&[u8]>,
        values: &[Option<String>],
        records: &mut Records,
    ) -> Result<()> {
        let directed = own.unwrap_or(self.usual);
        if self.requested.is_none() && directed != self.usual {
            let found = if directed { b"Directed".as_slice() } else { b"Undirected" };
            return Err(other_direction(path, line, self.usual, "all edges", found).advise(
                "a graph has edges of one kind: with --undirected none has a direction, with --directed those that have \
                 none go in both",
            ));
        }
        records.edge(line, ends, weight, values);
        if self.requested == Some(true) && !directed && ends[0] != ends[1] {
            records.edge(line, [ends[1], ends[0]], weight, values);
        }
        Ok(())
    }
}

/// Opens an input with the reader that `open` makes.
pub(crate) fn open<R: ReadRecords + 'static>(
    format: &'static str,
    input: &Input,
    options: &InputOptions,
    open: impl Fn(Stream) -> Result<R>,
) -> Result<Source> {
    let mut reader = open(input.stream()?)?;
    let mut first = Records::default();
    let mut ended = fill(&mut reader, &mut first)?;
    let mut known = reader.known()?;
    let (mut integers, is_pipe) = (first.integers, reader.stream().size_bytes().is_none());
    if first.edges == 0 && !ended && !is_pipe {
        // Only vertices so far: the facts of edges are known further down.
        while first.edges == 0 && !ended {
            first = Records { integers: first.integers, ..Records::default() };
            ended = fill(&mut reader, &mut first)?;
        }
        (known, integers) = (reader.known()?, first.integers);
        drop(reader);
        reader = open(input.stream()?)?;
        first = Records::default();
        ended = fill(&mut reader, &mut first)?;
    }
    let guessed_strings = || known.strings.unwrap_or(integers == Some(false));
    let strings = options.ids.wants_strings().unwrap_or_else(guessed_strings);
    let stream = reader.stream();
    let facts = Facts {
        format,
        directed: known.directed,
        keeps_parallel: known.keeps_parallel,
        declared: known.declared,
        attributes: known.attributes[0].clone(),
        vertex_attributes: known.attributes[1].clone(),
        string_ids: strings,
        weights: known.weights.as_ref().map(|weights| weights.name.clone()),
        input_bytes: stream.size_bytes(),
        is_pipe,
        compression: stream.compression(),
        longest_line_bytes: known.longest_line_bytes,
        notes: known.notes.clone(),
        ..Facts::default()
    };
    let guessed = options.ids == IdKind::Auto;
    let ids = IdTaker { path: input.path().to_owned(), strings, guessed };
    let has_conditions = !options.conditions.is_empty();
    let parser = Arc::new(RecordParser { ids, weights: known.weights, attributes: known.attributes, has_conditions });
    Ok(Source::new(facts, parser, RecordBlocks { reader, first: Some(first), ended, sequence: 0 }))
}

/// Reads a block of records; true at the end.
fn fill(reader: &mut impl ReadRecords, records: &mut Records) -> Result<bool> {
    while records.bytes.len() < BLOCK_BYTES {
        if !reader.read(records)? {
            return Ok(true);
        }
    }
    Ok(false)
}

struct RecordBlocks<R> {
    reader: R,
    /// The first records, which were read to learn the facts of the input.
    first: Option<Records>,
    ended: bool,
    sequence: u64,
}

impl<R: ReadRecords> ReadBlocks for RecordBlocks<R> {
    fn next_block(&mut self) -> Result<Option<Block>> {
        let records = match self.first.take() {
            Some(first) => first,
            None if self.ended => return Ok(None),
            None => {
                let mut records = Records::default();
                self.ended = fill(&mut self.reader, &mut records)?;
                records
            }
        };
        if records.bytes.is_empty() {
            return Ok(None);
        }
        self.sequence += 1;
        Ok(Some(Block {
            sequence: self.sequence - 1,
            first_record: 0,
            first_vertex: 0,
            input_bytes: self.reader.stream().position_bytes(),
            data: BlockData::Bytes(records.bytes),
        }))
    }
}

pub(crate) struct IdTaker {
    pub(crate) path: PathBuf,
    pub(crate) strings: bool,
    /// Ids are integers because the first ones looked so.
    pub(crate) guessed: bool,
}

/// Whether an id is an integer as it would be printed: `007` is a word.
pub(crate) fn is_printed_integer(id: &[u8]) -> bool {
    is_whole(id) && !is_padded(id) && integer(id).is_some()
}

impl IdTaker {
    pub(crate) fn push(&self, id: &[u8], line: u64, ids: &mut Ids) -> Result<()> {
        match ids {
            Ids::Integer { values, negative, huge } => {
                if self.guessed && is_padded(id) && integer(id).is_some() {
                    return Err(padded_id(&self.path, line, id));
                }
                let id = integer(id).ok_or_else(|| self.no_integer(id, line))?;
                values.push(id.bits);
                *negative |= id.negative;
                *huge |= !id.negative && id.bits >> 63 != 0;
            }
            Ids::Text { bytes, ends } => {
                if id.is_empty() {
                    return Err(bad_record(&self.path, line, "an id that is not empty", id));
                }
                bytes.extend_from_slice(id);
                let end = u32::try_from(bytes.len());
                ends.push(end.map_err(|_| bad_record(&self.path, line, "shorter ids", id))?);
            }
        }
        Ok(())
    }

    fn no_integer(&self, id: &[u8], line: u64) -> Error {
        let is_long = is_whole(id) && id.len() > 18;
        let expected = if is_long { "an integer id of 64 bits" } else { "an integer id" };
        let error = bad_record(&self.path, line, expected, id);
        if self.guessed || is_long { error.advise("if ids are names, say --ids string") } else { error }
    }
}

struct RecordParser {
    ids: IdTaker,
    weights: Option<WeightRule>,
    attributes: [Vec<AttributeField>; 2],
    /// Conditions may leave out edges without a weight.
    has_conditions: bool,
}

impl RecordParser {
    /// Appends the values of an edge or a vertex to the columns of its attributes.
    fn take(&self, of: usize, line: u64, values: &[Option<&str>], columns: &mut [AttributeColumn]) -> Result<()> {
        for ((field, value), column) in self.attributes[of].iter().zip(values).zip(columns) {
            if !column.push_value(&field.kind, *value) {
                let found = value.unwrap_or_default().as_bytes();
                let expected = format!("{} as `{}`", expected_form(&field.kind, found), field.name);
                return Err(bad_record(&self.ids.path, line, &expected, found)
                    .advise("mend it, or name the attributes to keep without it"));
            }
        }
        Ok(())
    }

    fn weight(&self, token: Option<&[u8]>, line: u64) -> Result<Option<f64>> {
        let path = &self.ids.path;
        match (&self.weights, token) {
            (None, None) => Ok(None),
            (None, Some(token)) => Err(bad_record(path, line, "no weight, as the first edges have none", token)
                .advise("say --weight with its name, or --weight none")),
            (Some(rule), None) => rule.default.map(Some).ok_or_else(|| self.no_weight(0, line)),
            (Some(rule), Some(token)) => weight(token.trim_ascii()).map(Some).ok_or_else(|| {
                let expected =
                    format!("{} as `{}`", crate::text::number::weight_expected(token.trim_ascii()), rule.name);
                bad_record(path, line, &expected, token).advise("mend it, or leave weights out with --weight none")
            }),
        }
    }
}

impl Parser for RecordParser {
    fn parse(&self, block: &Block, batch: &mut EdgeBatch, take: &mut TakeBatch<'_>) -> Result<()> {
        begin(batch, block, self.ids.strings);
        begin_weights(batch, self.weights.is_some());
        let empty = |fields: &Vec<AttributeField>| -> Vec<AttributeColumn> {
            fields.iter().map(|field| AttributeColumn::new(&field.kind)).collect()
        };
        let mut columns = self.attributes.each_ref().map(empty);
        let mut last = 0;
        let values = self.attributes.each_ref().map(Vec::len);
        for record in (RecordIter { bytes: text_of(block, &self.ids.path)?, values }) {
            match record {
                Record::Vertex(line, id, values) => {
                    self.ids.push(id, line, &mut batch.vertices)?;
                    self.take(1, line, &values, &mut columns[1])?;
                    last = line;
                }
                Record::Edge(line, ends, token, values) => {
                    self.take(0, line, &values, &mut columns[0])?;
                    for id in ends {
                        self.ids.push(id, line, &mut batch.ids)?;
                    }
                    let has_none = token.is_none() && self.weights.as_ref().is_some_and(|rule| rule.default.is_none());
                    if has_none && self.has_conditions {
                        let weights = batch.weights.reals();
                        batch.unweighted.push(Unweighted { edge: weights.len(), record: line });
                        weights.push(0.0);
                    } else if let Some(weight) = self.weight(token, line)? {
                        batch.weights.reals().push(weight);
                    }
                    last = line;
                }
            }
        }
        [batch.attributes, batch.vertex_attributes] = columns;
        check_one_kind(&batch.ids, &self.ids.path, last)?;
        check_one_kind(&batch.vertices, &self.ids.path, last)?;
        take(batch)
    }

    fn path(&self) -> &Path {
        &self.ids.path
    }

    fn no_weight(&self, _: u64, line: u64) -> Error {
        let expected =
            format!("an edge with the weight `{}`", self.weights.as_ref().map_or("weight", |rule| &rule.name));
        Error::input(&self.ids.path, Some(line), expected, "an edge without a weight")
            .advise("give all edges one, or leave weights out with --weight none")
    }
}

fn check_one_kind(ids: &Ids, path: &Path, line: u64) -> Result<()> {
    ids.check_one_kind(path, line, "say --ids string")
}
