//! Export to Parquet: columns `source`, `target` and maybe the weights under their name. The metadata say what columns
//! cannot.

use crate::edge_stream::{Entry, edge_stream_bytes, for_each_edge};
use crate::export::weight_column;
use crate::graph::Graph;
use crate::weights::Weight;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use outcore_image::AtomicFile;
use outcore_image::Result;
use outcore_ingest::{DIRECTED_KEY, WEIGHT_KEY};
use outcore_io::Unit;
use outcore_table::{
    BATCH_IDS, BATCH_TEXT_BYTES, ENCODER_BYTES, Id, IdLookup, IdStream, finish, id_array, id_type, parquet_writer,
    refuse,
};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// What a batch of edges takes, as entries and as arrays.
const BATCH_BYTES: u64 = 64 * BATCH_IDS as u64 + 4 * BATCH_TEXT_BYTES as u64;

/// Writes all edges and returns how many there are.
pub(crate) fn write(graph: &Graph, output: &Path) -> Result<u64> {
    let bytes = BATCH_BYTES + ENCODER_BYTES;
    graph.make_room("exporting", IdLookup::bytes(graph) + IdStream::bytes(graph) + edge_stream_bytes(graph) + bytes)?;
    let _reservation = graph.runtime().budget().reserve("encoding the output", bytes)?;
    let lookup = IdLookup::new(graph)?;
    let mut file = AtomicFile::create(graph, output)?;
    let (mut refused, mut edges) = (None, 0);
    let outcome = encode(graph, &lookup, &mut file, &mut refused, &mut edges);
    finish(file, outcome, refused)?;
    Ok(edges)
}

fn encode(
    graph: &Graph,
    lookup: &IdLookup,
    file: &mut AtomicFile,
    refused: &mut Option<String>,
    edges: &mut u64,
) -> Result<()> {
    let kind = graph.manifest().weights().map(|weights| weights.kind);
    let weight = weight_column(graph).unwrap_or_default();
    let mut fields = vec![Field::new("source", id_type(graph), false), Field::new("target", id_type(graph), false)];
    fields.extend(kind.map(|kind| {
        let kind = if kind.is_real() { DataType::Float64 } else { DataType::Int64 };
        Field::new(weight, kind, false)
    }));
    let mut metadata = HashMap::from([(DIRECTED_KEY.to_owned(), graph.is_directed().to_string())]);
    metadata.extend(kind.map(|_| (WEIGHT_KEY.to_owned(), weight.to_owned())));
    let schema: SchemaRef = Arc::new(Schema::new_with_metadata(fields, metadata));
    let mut writer = parquet_writer(file, Arc::clone(&schema), refused)?;
    let task = graph.runtime().task("exporting", Unit::Edges, Some(graph.edges()));
    let mut batch: Vec<Entry> = Vec::with_capacity(BATCH_IDS);
    let mut text_bytes = 0;
    let mut put = |batch: &mut Vec<Entry>, refused: &mut Option<String>| {
        let record = record(graph, lookup, &schema, batch).map_err(|error| refuse(refused, error))?;
        *edges += batch.len() as u64;
        task.advance(batch.len() as u64);
        batch.clear();
        writer.put(&record).map_err(|error| refuse(refused, error))
    };
    for_each_edge(graph, lookup, |edge| {
        for vertex in [edge.vertex, edge.neighbour] {
            if let Id::Text(text) = lookup.id(vertex) {
                text_bytes += text.len();
            }
        }
        batch.push(edge);
        if batch.len() < BATCH_IDS && text_bytes < BATCH_TEXT_BYTES {
            return Ok(());
        }
        text_bytes = 0;
        put(&mut batch, refused)
    })?;
    put(&mut batch, refused)?;
    writer.finish().map_err(|error| refuse(refused, error))
}

fn record(
    graph: &Graph,
    lookup: &IdLookup,
    schema: &SchemaRef,
    batch: &[Entry],
) -> std::result::Result<RecordBatch, arrow_schema::ArrowError> {
    let ids = |end: fn(&Entry) -> u32| id_array(graph, batch.iter().map(|edge| Some(lookup.id(end(edge)))));
    let mut arrays: Vec<ArrayRef> = vec![ids(|edge| edge.vertex), ids(|edge| edge.neighbour)];
    match schema.fields().get(2).map(|field| field.data_type()) {
        Some(DataType::Int64) => arrays.push(Arc::new(Int64Array::from_iter_values(
            batch.iter().map(|edge| if let Weight::Integer(value) = edge.weight { value } else { 0 }),
        ))),
        Some(_) => arrays.push(Arc::new(Float64Array::from_iter_values(
            batch.iter().map(|edge| if let Weight::Real(value) = edge.weight { value } else { 0.0 }),
        ))),
        None => {}
    }
    RecordBatch::try_new(Arc::clone(schema), arrays)
}
