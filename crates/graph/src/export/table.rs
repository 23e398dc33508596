//! Export of attributes: those of edges as further columns of text, and vertices with theirs as a table of their own.

use crate::engine::graph::Graph;
use crate::export::edge_batches::{EdgeBatches, EdgeData};
use crate::export::vertex_batches::VertexBatches;
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;
use outcore_image::{AtomicFile, BUFFER_BYTES, Error, Result};
use outcore_ingest::is_whole;
use outcore_table::{
    Compression, ENCODER_BYTES, FILE_BYTES, TextFile, finish, parquet_writer, push_quoted, push_value, refuse,
};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub(crate) const INTERACTION: &str = "interaction";

/// Endings of the formats of a table of vertices.
pub const VERTEX_ENDINGS: &str = ".csv, .tsv (each maybe with .gz or .zst), .parquet";

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
    Ok(())
}

/// The attributes of edges as cells of lines, in the order in which an export has the edges.
pub(crate) struct Cells<'a> {
    batches: EdgeBatches<&'a Graph>,
    batch: Option<RecordBatch>,
    row: usize,
}

impl<'a> Cells<'a> {
    /// The attributes of all edges; nothing if there are none.
    pub fn new(graph: &'a Graph) -> Result<Option<Self>> {
        if graph.manifest().attributes.is_empty() {
            return Ok(None);
        }
        let batches = EdgeBatches::new(graph, EdgeData { weights: false, attributes: true }, 0)?;
        Ok(Some(Cells { batches, batch: None, row: 0 }))
    }

    pub fn names(&self) -> Vec<String> {
        let has_weights = self.batches.graph().manifest().weights().is_some();
        // In text these names mean the direction, and weights.
        let means =
            |name: &str| name.eq_ignore_ascii_case("type") || !has_weights && name.eq_ignore_ascii_case("weight");
        let called = |name: &str| if means(name) { format!("edge.{name}") } else { name.to_owned() };
        self.batches.schema().fields().iter().skip(2).map(|field| called(field.name())).collect()
    }

    /// Appends the cells of the next edge, each behind a separator.
    pub fn push(&mut self, separator: u8, line: &mut Vec<u8>) -> Result<()> {
        self.advance()?;
        if let Some(batch) = &self.batch {
            push_cells(separator, &batch.columns()[2..], self.row - 1, line);
        }
        Ok(())
    }

    /// Appends what the next edge has as [`INTERACTION`], or `usual`.
    pub fn push_interaction(&mut self, usual: &str, line: &mut Vec<u8>) -> Result<()> {
        self.advance()?;
        let column = self.batch.as_ref().and_then(|batch| batch.column_by_name(INTERACTION));
        let texts = column.and_then(|column| column.as_string_opt::<i32>());
        let own = texts.filter(|texts| texts.is_valid(self.row - 1)).map(|texts| texts.value(self.row - 1).trim());
        let text = own.filter(|text| !text.is_empty()).unwrap_or(usual);
        if text.contains(['\t', '\n', '\r', '\0']) || is_whole(text.as_bytes()) || text.parse::<f64>().is_ok() {
            return Err(Error::Unsuitable(format!(
                "expected interactions that are words without tabs and line ends, found {text:?}; export to .csv instead"
            )));
        }
        line.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn advance(&mut self) -> Result<()> {
        while self.batch.as_ref().is_none_or(|batch| self.row == batch.num_rows()) {
            self.batch = self.batches.next_batch()?;
            self.row = 0;
            if self.batch.is_none() {
                return Err(Error::custom("expected attributes for every edge, found fewer; this is a defect"));
            }
        }
        self.row += 1;
        Ok(())
    }
}

fn push_cells(separator: u8, columns: &[arrow_array::ArrayRef], row: usize, line: &mut Vec<u8>) {
    for column in columns {
        line.push(separator);
        push_value(line, column.as_ref(), row);
    }
}

/// Writes all vertices and their attributes to a file, in the format that its name ends in (see [`VERTEX_ENDINGS`]);
/// returns how many there are.
///
/// # Errors
/// An unknown ending, a full disk, no memory, a request to stop. Then there is no
/// new file, and an old one of that name is as it was.
pub fn export_vertices(graph: &Arc<Graph>, output: impl AsRef<Path>) -> Result<u64> {
    let output = output.as_ref();
    let name = output.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let (compression, bare) = Compression::of(&name);
    let separator = match (bare.rsplit_once('.').map_or("", |(_, ending)| ending), compression) {
        ("csv", _) => Some(b','),
        ("tsv", _) => Some(b'\t'),
        ("parquet", Compression::None) => None,
        _ => {
            let text = format!("expected a table of vertices that ends in one of {VERTEX_ENDINGS}, found ");
            return Err(Error::Usage(format!("{text}{}", output.display())));
        }
    };
    let mut batches = VertexBatches::new(Arc::clone(graph), None)?;
    match separator {
        Some(separator) => {
            let mut file = TextFile::create(graph, output, compression)?;
            let mut line = Vec::new();
            for (place, field) in batches.schema().fields().iter().enumerate() {
                line.extend((place > 0).then_some(separator));
                push_quoted(&mut line, field.name());
            }
            line.push(b'\n');
            file.put(&line)?;
            while let Some(batch) = batches.next_batch()? {
                for row in 0..batch.num_rows() {
                    line.clear();
                    push_cells(separator, batch.columns(), row, &mut line);
                    line.push(b'\n');
                    file.put(&line[1..])?;
                }
            }
            file.finish()?.commit()?;
        }
        None => drop(write_parquet(graph, output, batches.schema(), || batches.next_batch())?),
    }
    Ok(graph.vertices())
}

/// Memory of a Parquet file while it is written.
pub(crate) fn parquet_file_bytes() -> u64 {
    ENCODER_BYTES + BUFFER_BYTES as u64
}

/// Memory of a text file while it is written.
pub(crate) fn text_file_bytes(compression: Compression) -> u64 {
    if compression == Compression::None { BUFFER_BYTES as u64 } else { FILE_BYTES }
}

/// Memory of a table of vertices with this ending while it is written.
pub(crate) fn vertex_table_bytes(graph: &Graph, compression: Compression, ending: &str) -> u64 {
    let file_bytes = if ending == "parquet" { parquet_file_bytes() } else { text_file_bytes(compression) };
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
    let mut file = AtomicFile::create(graph, output)?;
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
