//! Vertices as Arrow batches: a column `vertex` with their ids, and their attributes under their names.
//!
//! *Cost.* One pass over the ids and the attributes, in the order of results; a batch of vertices, whose text is that
//! of one row or [`BATCH_TEXT_BYTES`], and the strings of attributes.

use crate::engine::graph::Graph;
use crate::engine::vertex_set::Bitmap;
use crate::look::attributes::{Attributes, Owner, attribute_bytes, attribute_width};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use outcore_image::{Error, Result};
use outcore_io::{Fuse, Reservation};
use outcore_table::{
    BATCH_IDS, BATCH_TEXT_BYTES, IdStream, Table, arrow_item, from_arrow, id_array, id_type, string_ids,
};
use std::sync::Arc;

/// The vertices of a graph, batch by batch.
pub struct VertexBatches {
    graph: Graph,
    ids: IdStream,
    attributes: Attributes,
    schema: SchemaRef,
    /// The vertices that are wanted; all if there is none.
    wanted: Option<Arc<Bitmap>>,
    /// The first vertex whose id was read last, and how many of these were handed on.
    first: u64,
    place: usize,
    /// The values of the vertices that are next, and how many these are.
    words: Vec<Vec<u64>>,
    pending: usize,
    /// Greatest number of vertices of a batch.
    rows: usize,
    fuse: Fuse,
    _reservation: Reservation,
}

/// The fewest vertices that a batch has room for, however many attributes they have.
const LEAST_ROWS: usize = 1 << 12;

/// Number of rows of a batch, and its memory: values, columns that grow, and the text of ids and attributes.
fn batch_of(graph: &Graph) -> (usize, u64) {
    let width = attribute_width(graph, Owner::Vertices);
    let rows = (BATCH_IDS / (1 + width)).max(LEAST_ROWS).min(graph.vertices().max(1) as usize);
    let has_text = string_ids(graph.image())
        || graph.manifest().vertex_attributes.iter().any(|attribute| attribute.strings.is_some());
    let text_bytes = if has_text { 4 * BATCH_TEXT_BYTES as u64 } else { 0 };
    (rows, (rows * (32 + 24 * width)) as u64 + text_bytes)
}

impl std::fmt::Debug for VertexBatches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VertexBatches").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl VertexBatches {
    /// All vertices, or those that are wanted.
    ///
    /// # Errors
    /// No memory; strings of attributes that cannot be read or are damaged.
    pub fn new(graph: &Graph, wanted: Option<Arc<Bitmap>>) -> Result<Self> {
        graph.make_room("reading vertices", Self::bytes(graph))?;
        let (rows, batch_bytes) = batch_of(graph);
        let _reservation = graph.runtime().budget().reserve("a batch of vertices", batch_bytes)?;
        let (ids, attributes) = (IdStream::new(graph.image())?, Attributes::new(graph, Owner::Vertices)?);
        let id = Field::new("vertex", id_type(graph.image()), false);
        // The column of ids has that name.
        let renamed = |field: Field| if field.name() == "vertex" { field.with_name("vertex.vertex") } else { field };
        let fields = [id].into_iter().chain(attributes.fields().map(renamed));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let words = vec![Vec::new(); attributes.width()];
        let (first, place, pending, fuse) = (0, 0, 0, Fuse::default());
        Ok(VertexBatches {
            graph: graph.clone(),
            ids,
            attributes,
            schema,
            wanted,
            first,
            place,
            words,
            pending,
            rows,
            fuse,
            _reservation,
        })
    }

    /// The memory that this takes.
    pub(crate) fn bytes(graph: &Graph) -> u64 {
        IdStream::bytes(graph.image())
            .saturating_add(attribute_bytes(graph, Owner::Vertices))
            .saturating_add(batch_of(graph).1)
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next vertices; none behind the last.
    ///
    /// # Errors
    /// A page or column that cannot be read or is damaged; a request to stop; an earlier error.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.fuse.check()?;
        let batch = self.read_batch();
        self.fuse.after(batch)
    }

    fn read_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if self.place == self.ids.batch().len() {
                let Some((first, _)) = self.ids.next()? else { return Ok(None) };
                (self.first, self.place) = (first, 0);
            }
            if self.pending == 0 {
                self.pending = self.rows.min(self.ids.batch().len() - self.place);
                self.words.iter_mut().for_each(Vec::clear);
                self.attributes.take(self.pending, &mut self.words)?;
            }
            let (count, batch) = self.record()?;
            self.place += count;
            self.pending -= count;
            self.words.iter_mut().for_each(|words| drop(words.drain(..count)));
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
    }

    /// As many of the pending vertices as fit a batch, and those among them that are wanted.
    fn record(&mut self) -> Result<(usize, RecordBatch)> {
        let VertexBatches { first, place, attributes, words, .. } = self;
        let start = *first + *place as u64;
        let is_wanted =
            |row: usize| self.wanted.as_ref().is_none_or(|wanted| wanted.contains((start + row as u64) as u32));
        let mut text_bytes = 0;
        let crowded = |row: usize| {
            if is_wanted(row) {
                text_bytes += attributes.text_bytes(|column| words[column][row]);
            }
            text_bytes >= BATCH_TEXT_BYTES
        };
        let count = (0..self.pending).position(crowded).map_or(self.pending, |last| last + 1);
        let rows: Vec<usize> = (0..count).filter(|&row| is_wanted(row)).collect();
        if rows.len() < count {
            for words in &mut *words {
                rows.iter().enumerate().for_each(|(to, &from)| words[to] = words[from]);
            }
        }
        let ids = id_array(self.graph.image(), rows.iter().map(|&row| Some(self.ids.batch().get(*place + row))));
        let words: Vec<&[u64]> = words.iter().map(|words| &words[..rows.len()]).collect();
        let columns = [ids].into_iter().chain(attributes.arrays(&words)).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        Ok((count, batch.map_err(|error| Error::Usage(format!("vertices as an Arrow batch: {error}")))?))
    }
}

/// Returns the next batch; nothing behind the last.
pub(crate) type NextBatch<'a> = Box<dyn FnMut() -> Result<Option<RecordBatch>> + 'a>;

/// All vertices and their attributes, and behind these the columns of results, batch by batch.
pub(crate) fn vertices_with<'a>(graph: &'a Graph, results: Option<&Table>) -> Result<(SchemaRef, NextBatch<'a>)> {
    let mut vertices = VertexBatches::new(graph, None)?;
    let schema = Arc::clone(vertices.schema());
    let Some(results) = results else { return Ok((schema, Box::new(move || vertices.next_batch()))) };
    let mut rows = results.reader()?;
    let of_results = results.schema();
    let fields = schema.fields().iter().chain(of_results.fields().iter().skip(1)).cloned();
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let (joined, mut waiting) = (Arc::clone(&schema), [None, None]);
    let next_batch = move || {
        let [one, other] = &mut waiting;
        let one = match one.take() {
            Some(batch) => Some(batch),
            None => vertices.next_batch()?,
        };
        let other = match other.take() {
            Some(batch) => Some(batch),
            None => rows.next_batch()?,
        };
        let (Some(one), Some(other)) = (one, other) else { return Ok(None) };
        // Batches of the two may end at different vertices.
        let count = one.num_rows().min(other.num_rows());
        let columns = one.columns().iter().chain(&other.columns()[1..]).map(|column| column.slice(0, count));
        let batch = RecordBatch::try_new(Arc::clone(&joined), columns.collect()).map_err(from_arrow)?;
        waiting = [one, other].map(|batch| {
            let more = batch.num_rows() - count;
            (more > 0).then(|| batch.slice(count, more))
        });
        Ok(Some(batch))
    };
    Ok((schema, Box::new(next_batch)))
}

impl Iterator for VertexBatches {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        arrow_item(self.next_batch())
    }
}

impl RecordBatchReader for VertexBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
