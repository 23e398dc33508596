//! Vertices as Arrow batches: a column `vertex` with their ids, and their attributes under their names.
//!
//! *Cost.* One pass over the ids and the attributes, in the order of results; a batch, and the strings of attributes.

use crate::engine::graph::Graph;
use crate::engine::vertex_set::Bitmap;
use crate::look::attributes::{Attributes, Owner, attribute_bytes};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use outcore_image::{Error, Result};
use outcore_io::Fuse;
use outcore_table::{IdStream, Table, arrow_item, from_arrow, id_array, id_type};
use std::ops::Deref;
use std::sync::Arc;

/// The vertices of a graph, batch by batch.
pub struct VertexBatches<G = Arc<Graph>> {
    graph: G,
    ids: IdStream,
    attributes: Attributes,
    schema: SchemaRef,
    /// The vertices that are wanted; all if there is none.
    wanted: Option<Arc<Bitmap>>,
    /// The values of a batch.
    words: Vec<Vec<u64>>,
    fuse: Fuse,
}

impl<G> std::fmt::Debug for VertexBatches<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VertexBatches").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl<G: Deref<Target = Graph>> VertexBatches<G> {
    /// All vertices, or those that are wanted.
    ///
    /// # Errors
    /// No memory; strings of attributes that cannot be read or are damaged.
    pub fn new(graph: G, wanted: Option<Arc<Bitmap>>) -> Result<Self> {
        graph.make_room("reading vertices", Self::bytes(&graph))?;
        let (ids, attributes) = (IdStream::new(&graph)?, Attributes::new(&graph, Owner::Vertices)?);
        let id = Field::new("vertex", id_type(&graph), false);
        // The column of ids has that name.
        let renamed = |field: Field| if field.name() == "vertex" { field.with_name("vertex.vertex") } else { field };
        let fields = [id].into_iter().chain(attributes.fields().map(renamed));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let words = vec![Vec::new(); attributes.width()];
        Ok(VertexBatches { graph, ids, attributes, schema, wanted, words, fuse: Fuse::default() })
    }

    /// The memory that this takes.
    pub(crate) fn bytes(graph: &Graph) -> u64 {
        IdStream::bytes(graph).saturating_add(attribute_bytes(graph, Owner::Vertices))
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
            let Some((first, batch)) = self.ids.next()? else { return Ok(None) };
            let is_wanted = |place: &usize| {
                self.wanted.as_ref().is_none_or(|wanted| wanted.contains((first + *place as u64) as u32))
            };
            let rows: Vec<usize> = (0..batch.len()).filter(is_wanted).collect();
            let ids = id_array(&self.graph, rows.iter().map(|&place| Some(batch.get(place))));
            self.words.iter_mut().for_each(Vec::clear);
            self.attributes.take(batch.len(), &mut self.words)?;
            if rows.len() < batch.len() {
                for words in &mut self.words {
                    rows.iter().enumerate().for_each(|(to, &from)| words[to] = words[from]);
                    words.truncate(rows.len());
                }
            }
            if !ids.is_empty() {
                let words: Vec<&[u64]> = self.words.iter().map(Vec::as_slice).collect();
                let columns = [ids].into_iter().chain(self.attributes.arrays(&words)).collect();
                let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
                return batch.map(Some).map_err(|error| Error::Usage(format!("vertices as an Arrow batch: {error}")));
            }
        }
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
