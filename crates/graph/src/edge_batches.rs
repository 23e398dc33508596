//! Edges as Arrow batches: columns `source`, `target` and maybe the weights under their name. The metadata of the
//! schema say what columns cannot.
//!
//! *Cost.* One pass over the out-lists and their weights, in order; the ids in memory, and a batch of edges.

use crate::edge_stream::{Entry, EntryPages, edge_stream_bytes, stands_for_edge};
use crate::export::weight_column;
use crate::graph::Graph;
use crate::vertex_set::Bitmap;
use crate::weights::Weight;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use outcore_image::{Error, Result};
use outcore_ingest::{DIRECTED_KEY, WEIGHT_KEY};
use outcore_io::Reservation;
use outcore_table::{BATCH_IDS, BATCH_TEXT_BYTES, Id, IdLookup, IdStream, id_array, id_type};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

/// What a batch of edges takes, as entries and as arrays.
const BATCH_BYTES: u64 = 64 * BATCH_IDS as u64 + 4 * BATCH_TEXT_BYTES as u64;

/// The edges of a graph, batch by batch: each edge once, by the lists in the order of their vertices; those without
/// direction from the end whose id is smaller.
pub struct EdgeBatches<G> {
    graph: G,
    lookup: IdLookup,
    pages: EntryPages,
    schema: SchemaRef,
    /// The vertices whose edges with each other are wanted; all if there is none.
    wanted: Option<Arc<Bitmap>>,
    /// Edges that were read; those before `start` were handed on.
    pending: Vec<Entry>,
    start: usize,
    is_over: bool,
    _reservation: Reservation,
}

impl<G> std::fmt::Debug for EdgeBatches<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EdgeBatches").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl<G: Deref<Target = Graph>> EdgeBatches<G> {
    /// All edges, from the first on, perhaps with their weights. `more_bytes` is what the caller takes meanwhile.
    ///
    /// # Errors
    /// Weights that there are none of, or that are complex, which no column holds; no memory.
    pub fn new(graph: G, weights: bool, more_bytes: u64) -> Result<Self> {
        if weights {
            graph.weight_kind()?;
        }
        if weights && graph.is_complex() {
            let text = "expected weights that are real numbers, found complex ones, which no Arrow column holds; export \
                        the graph to .mtx";
            return Err(Error::Usage(text.into()));
        }
        let stream_bytes = IdLookup::bytes(&graph) + IdStream::bytes(&graph) + edge_stream_bytes(&graph);
        graph.make_room("reading edges", stream_bytes + BATCH_BYTES + more_bytes)?;
        let reservation = graph.runtime().budget().reserve("a batch of edges", BATCH_BYTES)?;
        let (lookup, pages, schema) =
            (IdLookup::new(&graph)?, EntryPages::new(&graph, weights)?, schema(&graph, weights));
        let pending = Vec::with_capacity(BATCH_IDS);
        let is_over = false;
        Ok(EdgeBatches {
            graph,
            lookup,
            pages,
            schema,
            wanted: None,
            pending,
            start: 0,
            is_over,
            _reservation: reservation,
        })
    }

    /// Only the edges between vertices of a set.
    #[must_use]
    pub fn within(self, vertices: Arc<Bitmap>) -> Self {
        EdgeBatches { wanted: Some(vertices), ..self }
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next edges; none behind the last.
    ///
    /// # Errors
    /// A page or column that cannot be read or is damaged; a request to stop.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let EdgeBatches { graph, lookup, pages, pending, wanted, .. } = self;
        let is_wanted = |entry: &Entry| {
            let both = |set: &Arc<Bitmap>| set.contains(entry.vertex) && set.contains(entry.neighbour);
            wanted.as_ref().is_none_or(both) && stands_for_edge(graph, lookup, entry)
        };
        pending.drain(..std::mem::take(&mut self.start));
        while !self.is_over && pending.len() < BATCH_IDS {
            self.is_over = !pages.next(graph, &mut |_, entry| {
                pending.extend(entry.filter(is_wanted));
                Ok(())
            })?;
        }
        let count = fitting(lookup, &pending[..pending.len().min(BATCH_IDS)]);
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
        let ids =
            |end: fn(&Entry) -> u32| id_array(&self.graph, edges.iter().map(|edge| Some(self.lookup.id(end(edge)))));
        let mut arrays: Vec<ArrayRef> = vec![ids(|edge| edge.vertex), ids(|edge| edge.neighbour)];
        match self.schema.fields().get(2).map(|field| field.data_type()) {
            Some(DataType::Int64) => arrays.push(Arc::new(Int64Array::from_iter_values(
                edges.iter().map(|edge| if let Weight::Integer(value) = edge.weight { value } else { 0 }),
            ))),
            Some(_) => arrays.push(Arc::new(Float64Array::from_iter_values(
                edges.iter().map(|edge| if let Weight::Real(value) = edge.weight { value } else { 0.0 }),
            ))),
            None => {}
        }
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }
}

impl Iterator for EdgeBatches<Arc<Graph>> {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for EdgeBatches<Arc<Graph>> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// How many of the edges have ids that fit the text of a batch: one at least.
fn fitting(lookup: &IdLookup, edges: &[Entry]) -> usize {
    let len = |vertex| if let Id::Text(text) = lookup.id(vertex) { text.len() } else { 0 };
    let mut text_bytes = 0;
    let crowded = |edge: &Entry| {
        text_bytes += len(edge.vertex) + len(edge.neighbour);
        text_bytes >= BATCH_TEXT_BYTES
    };
    edges.iter().position(crowded).map_or(edges.len(), |last| last + 1)
}

fn schema(graph: &Graph, weights: bool) -> SchemaRef {
    let kind = graph.manifest().weights().filter(|_| weights).map(|weights| weights.kind);
    let weight = weight_column(graph).unwrap_or_default();
    let mut fields = vec![Field::new("source", id_type(graph), false), Field::new("target", id_type(graph), false)];
    fields.extend(kind.map(|kind| {
        let kind = if kind.is_real() { DataType::Float64 } else { DataType::Int64 };
        Field::new(weight, kind, false)
    }));
    let mut metadata = HashMap::from([(DIRECTED_KEY.to_owned(), graph.is_directed().to_string())]);
    metadata.extend(kind.map(|_| (WEIGHT_KEY.to_owned(), weight.to_owned())));
    Arc::new(Schema::new_with_metadata(fields, metadata))
}
