//! Vertices as a table of their own, with their attributes and with results.

use crate::engine::graph::Graph;
use crate::export::cells::joined;
use crate::export::file::{ending_of, small_name};
use crate::export::vertex_batches::{VertexBatches, vertices_with};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use outcore_image::{AtomicFile, BUFFER_BYTES, Error, Result};
use outcore_table::{
    Compression, ENCODER_BYTES, Table, TextFile, finish, parquet_writer, push_quoted, push_value, refuse,
};
use std::path::{Component, Path, PathBuf};

/// Endings of the formats of a table of vertices.
pub const VERTEX_ENDINGS: &str = if cfg!(feature = "parquet") {
    ".csv, .tsv (each maybe with .gz or .zst), .parquet"
} else {
    ".csv, .tsv (each maybe with .gz or .zst)"
};

/// Refuses a table of vertices that would take the place of the edges.
///
/// # Errors
/// Both paths name one file.
pub fn check_vertex_table(edges: &Path, vertices: &Path) -> Result<()> {
    let whole = |path: &Path| {
        let mut whole = PathBuf::new();
        for part in std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).components() {
            match part {
                Component::ParentDir => _ = whole.pop(),
                part => whole.push(part),
            }
        }
        whole
    };
    if whole(edges) == whole(vertices) {
        let table = vertices.display();
        return Err(Error::Usage(format!("expected another file for vertices than for edges, found {table} for both")));
    }
    form_of(vertices).map(drop)
}

/// The compression of a table of vertices, and the separator of its columns, if it is text.
fn form_of(output: &Path) -> Result<(Compression, Option<u8>)> {
    let name = small_name(output);
    match ending_of(&name) {
        (compression, "csv") => Ok((compression, Some(b','))),
        (compression, "tsv") => Ok((compression, Some(b'\t'))),
        (Compression::None, "parquet") if cfg!(feature = "parquet") => Ok((Compression::None, None)),
        _ => {
            let text = format!("expected a table of vertices that ends in one of {VERTEX_ENDINGS}, found ");
            Err(Error::Usage(format!("{text}{}", output.display())))
        }
    }
}

/// Writes all vertices and their attributes to a file, in the format that its name ends in (see [`VERTEX_ENDINGS`]),
/// with the columns of results behind them; returns how many there are.
///
/// # Errors
/// An unknown ending, results of another graph or of some vertices, a full disk, no memory, a request to stop. Then
/// there is no new file, and an old one of that name is as it was.
pub fn export_vertices(graph: &Graph, output: impl AsRef<Path>, results: Option<&Table>) -> Result<u64> {
    let output = output.as_ref();
    let (compression, separator) = form_of(output)?;
    let results = results.map(|results| joined(graph, results)).transpose()?;
    let (schema, mut next_batch) = vertices_with(graph, results.as_ref())?;
    match separator {
        Some(separator) => {
            let mut file = TextFile::create(graph.image(), output, compression)?;
            let mut line = Vec::new();
            for (place, field) in schema.fields().iter().enumerate() {
                line.extend((place > 0).then_some(separator));
                push_quoted(&mut line, field.name());
            }
            line.push(b'\n');
            file.put(&line)?;
            while let Some(batch) = next_batch()? {
                for row in 0..batch.num_rows() {
                    line.clear();
                    for (place, column) in batch.columns().iter().enumerate() {
                        line.extend((place > 0).then_some(separator));
                        push_value(&mut line, column, row);
                    }
                    line.push(b'\n');
                    file.put(&line)?;
                }
            }
            file.finish()?.commit()?;
        }
        None => drop(write_parquet(graph, output, schema, next_batch)?),
    }
    Ok(graph.vertices())
}

/// Memory of a Parquet file while it is written.
pub(crate) fn parquet_file_bytes() -> u64 {
    ENCODER_BYTES + BUFFER_BYTES as u64
}

/// Memory of a table of vertices with this ending while it is written.
pub(crate) fn vertex_table_bytes(graph: &Graph, compression: Compression, ending: &str) -> u64 {
    let file_bytes = if ending == "parquet" { parquet_file_bytes() } else { compression.file_bytes() };
    VertexBatches::bytes(graph).saturating_add(file_bytes)
}

/// Writes batches as a Parquet file; returns the number of their rows.
pub(crate) fn write_parquet(
    graph: &Graph,
    output: &Path,
    schema: SchemaRef,
    mut next_batch: impl FnMut() -> Result<Option<RecordBatch>>,
) -> Result<u64> {
    let _reservation = graph.runtime().budget().reserve("encoding the output", ENCODER_BYTES)?;
    let mut file = AtomicFile::create(graph.image(), output)?;
    let (mut refused, mut rows) = (None, 0);
    let encode = || {
        let mut writer = parquet_writer(&mut file, schema, &mut refused)?;
        while let Some(batch) = next_batch()? {
            writer.put(&batch).map_err(|error| refuse(&mut refused, error))?;
            rows += batch.num_rows() as u64;
        }
        writer.finish().map_err(|error| refuse(&mut refused, error))
    };
    let outcome = encode();
    finish(file, outcome, refused)?;
    Ok(rows)
}
