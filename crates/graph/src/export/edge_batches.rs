//! Edges as Arrow batches: columns `source`, `target` and maybe the weights and the attributes under their names. The
//! metadata of the schema say what columns cannot.
//!
//! *Cost.* One pass over the out-lists, their weights and attributes, in order; the ids in memory, a batch of edges,
//! and the strings of attributes.

use crate::engine::graph::Graph;
use crate::engine::scan::Frontier;
use crate::engine::vertex_set::Bitmap;
use crate::engine::weights::Weight;
use crate::export::edge_stream::{Entry, EntryPages, edge_stream_bytes, stands_for_edge};
use crate::look::attributes::{Attributes, Owner, attribute_bytes, attribute_width};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use outcore_image::{Error, Result};
use outcore_ingest::{DIRECTED_KEY, PARALLEL_KEY, WEIGHT_KEY};
use outcore_io::{Fuse, Reservation};
use outcore_table::{BATCH_IDS, BATCH_TEXT_BYTES, Id, IdLookup, IdStream, arrow_item, id_array, id_type};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The fewest edges that a batch has room for, however many attributes they have.
const LEAST_ROWS: usize = 1 << 12;
/// Memory of a batch of edges without attributes, as entries and as arrays.
const BATCH_BYTES: u64 = 64 * BATCH_IDS as u64 + 4 * BATCH_TEXT_BYTES as u64;

/// Name of the column of the weights in a file: that of the weights, unless another column could be meant by it.
pub(crate) fn weight_column(graph: &Graph) -> Option<&str> {
    let name = graph.manifest().weights()?.name.as_str();
    let is_other = ["source", "target", "type"].iter().any(|other| name.eq_ignore_ascii_case(other));
    let is_odd = name.is_empty() || name.contains(char::is_control) || name.parse::<u64>().is_ok();
    Some(if is_other || is_odd { "weight" } else { name })
}

/// The columns of edges that are requested beside their ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeData {
    /// The weights.
    pub weights: bool,
    /// The attributes.
    pub attributes: bool,
}

impl EdgeData {
    /// Everything that a graph has.
    pub fn all(graph: &Graph) -> Self {
        EdgeData { weights: graph.manifest().weights().is_some(), attributes: true }
    }
}

/// Number of rows of a batch with so many columns of values, and its memory.
fn batch_of(width: usize) -> (usize, u64) {
    // Values wait as entries do, and leave as those.
    let rows = (BATCH_IDS / (1 + width)).max(LEAST_ROWS);
    (rows, BATCH_BYTES + (24 * rows * width) as u64)
}

/// The number of edges that are left out, among those between vertices of a set.
pub(crate) struct LeftOut {
    /// These vertices; all if there is no set.
    pub within: Option<Arc<Bitmap>>,
    /// Their number.
    pub count: Arc<AtomicU64>,
}

impl LeftOut {
    fn add(&self, entry: &Entry, stands: impl FnOnce() -> bool) {
        let is_within = |end| self.within.as_ref().is_none_or(|within| within.contains(end));
        if is_within(entry.vertex) && is_within(entry.neighbour) && stands() {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The edges of a graph, batch by batch, with attributes under their names, `edge.` before those that a column of the
/// ends or weights has already: each edge once, by the lists in the order of their vertices; those without
/// direction from the end whose id is smaller.
pub struct EdgeBatches {
    graph: Graph,
    lookup: IdLookup,
    pages: EntryPages,
    schema: SchemaRef,
    /// The vertices from which edges are wanted, and those to which; all if there is none.
    wanted: [Option<Arc<Bitmap>>; 2],
    /// Counts edges that are left out, if they are to be counted.
    left_out: Option<LeftOut>,
    /// Edges that were read; those before `start` were handed on.
    pending: Vec<Entry>,
    /// Their attributes, if those are wanted: the values of each column, and those of the page that was read last.
    attributes: Option<Attributes>,
    words: Vec<Vec<u64>>,
    page_words: Vec<Vec<u64>>,
    start: usize,
    is_over: bool,
    has_weights: bool,
    /// Greatest number of edges of a batch.
    rows: usize,
    fuse: Fuse,
    _reservation: Reservation,
}

impl std::fmt::Debug for EdgeBatches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EdgeBatches").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl EdgeBatches {
    /// All edges, from the first on, with what is wanted of them. `more_bytes` is what the caller takes meanwhile.
    ///
    /// # Errors
    /// Weights that there are none of, or that are complex, which no column holds; no memory.
    pub fn new(graph: &Graph, data: EdgeData, more_bytes: u64) -> Result<Self> {
        let weights = data.weights;
        if weights {
            graph.weight_kind()?;
        }
        if weights && graph.is_complex() {
            let text = "expected weights that are real numbers, found complex ones, which no Arrow column holds; export \
                        the graph to .mtx";
            return Err(Error::Usage(text.into()));
        }
        let has_attributes = data.attributes && !graph.manifest().attributes.is_empty();
        graph.make_room("reading edges", Self::bytes(graph, data).saturating_add(more_bytes))?;
        let attributes = has_attributes.then(|| Attributes::new(graph, Owner::Edges)).transpose()?;
        let width = attributes.as_ref().map_or(0, Attributes::width);
        let (rows, batch_bytes) = batch_of(width);
        let reservation = graph.runtime().budget().reserve("a batch of edges", batch_bytes)?;
        let (lookup, pages) = (IdLookup::new(graph.image())?, EntryPages::new(graph, weights)?);
        let schema = schema(graph, weights, attributes.iter().flat_map(Attributes::fields));
        let pending = Vec::with_capacity(BATCH_IDS);
        let is_over = false;
        Ok(EdgeBatches {
            graph: graph.clone(),
            lookup,
            pages,
            schema,
            wanted: [None, None],
            left_out: None,
            pending,
            attributes,
            words: vec![Vec::new(); width],
            page_words: vec![Vec::new(); width],
            start: 0,
            is_over,
            has_weights: weights,
            rows,
            fuse: Fuse::default(),
            _reservation: reservation,
        })
    }

    /// The memory that all of this takes.
    pub(crate) fn bytes(graph: &Graph, data: EdgeData) -> u64 {
        let has_attributes = data.attributes && !graph.manifest().attributes.is_empty();
        let stream_bytes = IdLookup::bytes(graph.image()) + IdStream::bytes(graph.image()) + edge_stream_bytes(graph);
        let width = if has_attributes { attribute_width(graph, Owner::Edges) } else { 0 };
        let attribute_bytes = if has_attributes { attribute_bytes(graph, Owner::Edges) } else { 0 };
        stream_bytes.saturating_add(attribute_bytes).saturating_add(batch_of(width).1)
    }

    /// Only the edges between vertices of a set.
    ///
    /// # Errors
    /// A vertex that the graph does not have, or a set for another number of vertices.
    pub fn within(self, vertices: Arc<Bitmap>) -> Result<Self> {
        self.between([Some(Arc::clone(&vertices)), Some(vertices)])
    }

    /// Only the edges from vertices of one set to those of another, where there is one.
    pub(crate) fn between(self, wanted: [Option<Arc<Bitmap>>; 2]) -> Result<Self> {
        wanted.iter().flatten().try_for_each(|set| Frontier::Set(set).check(&self.graph))?;
        Ok(EdgeBatches { wanted, ..self })
    }

    /// Counts the edges that are left out.
    pub(crate) fn counting(self, left_out: LeftOut) -> Self {
        EdgeBatches { left_out: Some(left_out), ..self }
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next edges; none behind the last.
    ///
    /// # Errors
    /// A page or column that cannot be read or is damaged; a request to stop; an earlier error.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.fuse.check()?;
        let batch = self.read_batch();
        self.fuse.after(batch)
    }

    fn read_batch(&mut self) -> Result<Option<RecordBatch>> {
        let EdgeBatches { graph, lookup, pages, pending, wanted, attributes, words, page_words, left_out, .. } = self;
        let is_wanted = |entry: &Entry| {
            let mut sets = wanted.iter().zip([entry.vertex, entry.neighbour]);
            let is_between = sets.all(|(set, end)| set.as_ref().is_none_or(|set| set.contains(end)));
            if let Some(left_out) = left_out.as_ref().filter(|_| !is_between) {
                left_out.add(entry, || stands_for_edge(graph, lookup, entry));
            }
            is_between && stands_for_edge(graph, lookup, entry)
        };
        let start = std::mem::take(&mut self.start);
        pending.drain(..start);
        words.iter_mut().for_each(|words| drop(words.drain(..start)));
        while !self.is_over && pending.len() < self.rows {
            let before = pending.len();
            let entries = pages.next(graph, &mut |_, entry| {
                pending.extend(entry.filter(is_wanted));
                Ok(())
            })?;
            self.is_over = entries.is_none();
            if let (Some(attributes), Some(entries)) = (&mut *attributes, entries) {
                page_words.iter_mut().for_each(Vec::clear);
                attributes.take(entries, page_words)?;
                for (words, page_words) in words.iter_mut().zip(&*page_words) {
                    words.extend(pending[before..].iter().map(|entry| page_words[entry.place as usize]));
                }
            }
        }
        let text_bytes = |row: usize| {
            attributes.as_ref().map_or(0, |attributes| attributes.text_bytes(|column| words[column][row])) //
        };
        let count = fitting(lookup, &pending[..pending.len().min(self.rows)], text_bytes);
        self.start = count;
        if count == 0 {
            return Ok(None);
        }
        let batch = self.record(count);
        batch.map(Some).map_err(|error| Error::Usage(format!("edges as an Arrow batch: {error}")))
    }

    /// The first of the pending edges, as a batch.
    fn record(&self, count: usize) -> std::result::Result<RecordBatch, ArrowError> {
        let edges = &self.pending[..count];
        let ids = |end: fn(&Entry) -> u32| {
            id_array(self.graph.image(), edges.iter().map(|edge| Some(self.lookup.id(end(edge)))))
        };
        let ends = [ids(|edge| edge.vertex), ids(|edge| edge.neighbour)];
        let words: Vec<&[u64]> = self.words.iter().map(|words| &words[..count]).collect();
        record(&self.schema, ends, edges, self.has_weights, self.attributes.as_ref().map(|all| (all, &words[..])))
    }
}

/// Edges as a batch: the ids of their ends, and what else is wanted of them.
pub(crate) fn record(
    schema: &SchemaRef,
    ends: [ArrayRef; 2],
    edges: &[Entry],
    has_weights: bool,
    attributes: Option<(&Attributes, &[&[u64]])>,
) -> std::result::Result<RecordBatch, ArrowError> {
    let mut arrays = Vec::from(ends);
    let weight = schema.fields().get(2).filter(|_| has_weights);
    match weight.map(|field| field.data_type()) {
        Some(DataType::Int64) => arrays.push(Arc::new(Int64Array::from_iter_values(
            edges.iter().map(|edge| if let Weight::Integer(value) = edge.weight { value } else { 0 }),
        ))),
        Some(_) => arrays.push(Arc::new(Float64Array::from_iter_values(
            edges.iter().map(|edge| if let Weight::Real(value) = edge.weight { value } else { 0.0 }),
        ))),
        None => {}
    }
    arrays.extend(attributes.into_iter().flat_map(|(attributes, words)| attributes.arrays(words)));
    RecordBatch::try_new(Arc::clone(schema), arrays)
}

/// The first edges of a graph, as [`EdgeBatches`] has them; those without direction from the end that comes first in
/// the image. Reads a few pages of lists, weights and attributes, and the ids of the ends.
///
/// # Errors
/// As for [`EdgeBatches::new`] and [`Graph::ids_of`].
pub fn first_edges(graph: &Graph, most: usize) -> Result<RecordBatch> {
    let has_weights = graph.weight_name().is_some();
    let mut attributes = Attributes::new(graph, Owner::Edges)?;
    let mut pages = EntryPages::new(graph, has_weights)?;
    let (mut edges, mut page_words) = (Vec::<Entry>::new(), vec![Vec::new(); attributes.width()]);
    let mut words = page_words.clone();
    while edges.len() < most {
        let before = edges.len();
        let entries = pages.next(graph, &mut |_, entry| {
            let counts = |entry: &Entry| graph.is_directed() || entry.vertex <= entry.neighbour;
            edges.extend(entry.filter(counts).filter(|_| edges.len() < most));
            Ok(())
        })?;
        let Some(entries) = entries else { break };
        page_words.iter_mut().for_each(Vec::clear);
        attributes.take(entries, &mut page_words)?;
        for (words, page_words) in words.iter_mut().zip(&page_words) {
            words.extend(edges[before..].iter().map(|edge| page_words[edge.place as usize]));
        }
    }
    let ids = |end: fn(&Entry) -> u32| -> Result<ArrayRef> {
        let ids = graph.ids_of(&edges.iter().map(end).collect::<Vec<_>>())?;
        Ok(id_array(graph.image(), ids.iter().map(|id| Some(id.as_ref()))))
    };
    let ends = [ids(|edge| edge.vertex)?, ids(|edge| edge.neighbour)?];
    let schema = schema(graph, has_weights, attributes.fields());
    let words: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
    let batch = record(&schema, ends, &edges, has_weights, Some((&attributes, &words)));
    batch.map_err(|error| Error::Usage(format!("edges as an Arrow batch: {error}")))
}

impl Iterator for EdgeBatches {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        arrow_item(self.next_batch())
    }
}

impl RecordBatchReader for EdgeBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Number of the edges whose ids fit the text of a batch, with the strings of their attributes: one at least.
fn fitting(lookup: &IdLookup, edges: &[Entry], more_bytes: impl Fn(usize) -> usize) -> usize {
    let len = |vertex| if let Id::Text(text) = lookup.id(vertex) { text.len() } else { 0 };
    let mut text_bytes = 0;
    let crowded = |(row, edge): (usize, &Entry)| {
        text_bytes += len(edge.vertex) + len(edge.neighbour) + more_bytes(row);
        text_bytes >= BATCH_TEXT_BYTES
    };
    edges.iter().enumerate().position(crowded).map_or(edges.len(), |last| last + 1)
}

pub(crate) fn schema(graph: &Graph, weights: bool, attributes: impl Iterator<Item = Field>) -> SchemaRef {
    let kind = graph.manifest().weights().filter(|_| weights).map(|weights| weights.kind);
    let weight = weight_column(graph).unwrap_or_default();
    let mut fields =
        vec![Field::new("source", id_type(graph.image()), false), Field::new("target", id_type(graph.image()), false)];
    fields.extend(kind.map(|kind| {
        let kind = if kind.is_real() { DataType::Float64 } else { DataType::Int64 };
        Field::new(weight, kind, false)
    }));
    for attribute in attributes {
        // A name that stands for something else already would hide it.
        let is_duplicate = fields.iter().any(|field| field.name().eq_ignore_ascii_case(attribute.name()));
        let name = if is_duplicate { format!("edge.{}", attribute.name()) } else { attribute.name().clone() };
        fields.push(attribute.with_name(name));
    }
    let mut metadata = HashMap::from([(DIRECTED_KEY.to_owned(), graph.is_directed().to_string())]);
    metadata.extend(graph.manifest().parallel_edges.then(|| (PARALLEL_KEY.to_owned(), true.to_string())));
    // No name says that there are none.
    let weight = if kind.is_some() { weight } else { "" };
    metadata.insert(WEIGHT_KEY.to_owned(), weight.to_owned());
    Arc::new(Schema::new_with_metadata(fields, metadata))
}
