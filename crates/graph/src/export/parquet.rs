//! Export to Parquet, in the columns of [`EdgeBatches`].

use crate::engine::graph::Graph;
use crate::export::edge_batches::{EdgeBatches, EdgeData};
use outcore_image::{AtomicFile, Result};
use outcore_io::Unit;
use outcore_table::{ENCODER_BYTES, finish, parquet_writer, refuse};
use std::path::Path;
use std::sync::Arc;

/// Writes all edges and returns how many there are.
pub(crate) fn write(graph: &Graph, output: &Path) -> Result<u64> {
    let mut batches = EdgeBatches::new(graph, EdgeData::all(graph), ENCODER_BYTES)?;
    let _reservation = graph.runtime().budget().reserve("encoding the output", ENCODER_BYTES)?;
    let mut file = AtomicFile::create(graph, output)?;
    let (mut refused, mut edges) = (None, 0);
    let outcome = encode(graph, &mut batches, &mut file, &mut refused, &mut edges);
    finish(file, outcome, refused)?;
    Ok(edges)
}

fn encode(
    graph: &Graph,
    batches: &mut EdgeBatches<&Graph>,
    file: &mut AtomicFile,
    refused: &mut Option<String>,
    edges: &mut u64,
) -> Result<()> {
    let mut writer = parquet_writer(file, Arc::clone(batches.schema()), refused)?;
    let task = graph.runtime().task("exporting", Unit::Edges, Some(graph.edges()));
    while let Some(batch) = batches.next_batch()? {
        writer.put(&batch).map_err(|error| refuse(refused, error))?;
        *edges += batch.num_rows() as u64;
        task.advance(batch.num_rows() as u64);
    }
    writer.finish().map_err(|error| refuse(refused, error))
}
