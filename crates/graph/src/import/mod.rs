//! From an edge list to an image, in bounded memory.
//!
//! ```text
//!   job.rs        an import from its first block to its report: calls all of the following, in this order
//!   read.rs       blocks -> edges in worker-local numbers (edges.rs),
//!                 dictionaries (ids/dictionary.rs) -> sorted runs of ids
//!   ids/runs.rs   runs -> all vertices in the order of their ids; back again with their numbers
//!   order.rs      numbers by id, by degree class, or near ones for neighbours (near.rs); a sample of the lists tells
//!                 which order makes them smallest (sample.rs)
//!   translate.rs  edges -> records in vertex numbers, distributed to partitions (partition.rs)
//!   lists.rs      partitions -> sorted -> pages (encode.rs)
//!   attributes.rs columns of the input's rows -> columns beside lists and vertices, by the places (places.rs) that the
//!                 lists leave behind; their strings as numbers (strings.rs)
//!   id_column.rs  the id column (page_file.rs); then the manifest; then the directory takes its name
//!                 (image/src/workspace.rs)
//! ```
//!
//! An edge is written and read three times (8 bytes each time, 16 or 24 with weights, 32 with complex ones): as it was
//! read, and once per direction. For the order near it is written once more, and read about four times. The memory is
//! bounded whatever the graph is like (`ingest/src/plan.rs`); the image does not depend on the number of workers, nor
//! on the memory, but that `auto` does not try the order near without 24 bytes per vertex.
//!
//! The input is a [`Source`] of the crate `outcore-ingest`, which reads all formats; [`open_inputs`] takes images too
//! (`images.rs`). [`crate::generate`] makes graphs without any input.

mod attributes;
mod edges;
mod encode;
mod estimate;
mod id_column;
mod ids;
mod images;
mod iterator;
mod job;
mod lists;
mod names;
mod near;
mod options;
mod order;
mod page_file;
mod partition;
mod places;
mod read;
mod sample;
mod sides;
mod strings;
mod summary;
mod translate;

pub use estimate::{ImportEstimate, advise, check_memory, check_memory_of_graph, estimate, opens_again};
pub use images::{Input, Part, is_image, of_graph, open_inputs, open_several};
pub use iterator::{Cell, EdgeId, EdgeTuple, EdgeWeight, from_edges};
pub use options::{Duplicates, ImportOptions, ImportReport, ImportStats, OrderChoice, SelfLoops};
pub use outcore_ingest::{
    AttributeColumn, AttributeField, AttributeValues, Attributes, BatchWeights, Block, BlockData, Comparison,
    Condition, Different, EdgeBatch, Facts, FileCounts, Files, Given, GraphalyticsProperties, IdKind, Ids,
    InputOptions, InputSample, Literal, Nulls, Parser, ReadBlocks, Rows, SIDES, SampledFiles, Source, TakeBatch,
    TextFacts, Unread, WhichVertices, count_edges, each_vertex_id, formats, from_batches, open, with_shape,
    with_vertex_range, with_vertex_table, with_vertices,
};
pub use read::ReadEdge;
pub use summary::ImportSummary;

use crate::engine::graph::Graph;
use outcore_image::{ImageOptions, Result, TEMPORARY_FOLDER};
use outcore_io::Runtime;
use outcore_io::backend::{DiskUse, Memory, Metered};
use std::path::Path;
use std::sync::Arc;

/// Most edges of a graph that one thread works on alone: others would begin when it is done.
const ONE_THREAD_EDGES: u64 = 1 << 14;

/// Imports the edges of a source as the image `image`, a directory, which appears only when it is complete.
///
/// An image of that name is replaced if the options say so; anything else of that name is an error. Memory stays under
/// the runtime's limit; edges go to temporary files, see [`estimate`]. Imports of one runtime run one at a time, for
/// each sizes itself by the free memory; one that begins while another waits for its rows does not wait.
///
/// # Errors
/// Something that has the name already, bad input, a full disk, too little memory, a request to stop. Nothing is left
/// behind then, and an older image stays.
pub fn import(runtime: &Runtime, source: Source, image: &Path, options: &ImportOptions) -> Result<ImportReport> {
    let _turn = runtime.turn()?;
    let meter = Arc::new(Metered::new(runtime.backend(), TEMPORARY_FOLDER));
    let runtime = &runtime.with_backend(Arc::clone(&meter) as Arc<_>, usize::MAX);
    let mut report = job::Job::new(runtime, source.facts().clone(), image, options)?.run(source)?;
    let DiskUse { peak_bytes, peak_temporary_bytes, written_temporary_bytes, .. } = meter.disk_use();
    let stats = &mut report.stats;
    (stats.peak_disk_bytes, stats.peak_temporary_bytes) = (peak_bytes, peak_temporary_bytes);
    stats.temporary_bytes = written_temporary_bytes;
    Ok(report)
}

/// Refuses an import that [`import`] would refuse before it reads the input. What it needs is made and removed again.
///
/// # Errors
/// Something that has the name already, too little memory, or too small a disk; a folder in which nothing can be made.
pub fn check(runtime: &Runtime, source: &Source, image: &Path, options: &ImportOptions) -> Result<()> {
    job::Job::new(runtime, source.facts().clone(), image, options).map(drop)
}

/// [`Graph::in_memory`] with the report of the import. The files without names are in [`Memory`]; what an operation
/// spills goes there too, unless the runtime says where temporary files go.
///
/// # Errors
/// As for [`Graph::in_memory`].
pub fn import_into_memory(runtime: &Runtime, source: Source, options: &ImportOptions) -> Result<(Graph, ImportReport)> {
    let _turn = runtime.turn()?;
    let memory = Arc::new(Memory::new(runtime.budget(), Arc::clone(runtime.backend()))?);
    let image = Memory::folder().join("graph");
    let within = |edges: Option<u64>| {
        let most_threads = if edges.is_some_and(|edges| edges <= ONE_THREAD_EDGES) { 1 } else { usize::MAX };
        runtime.with_backend(Arc::clone(&memory) as Arc<_>, most_threads)
    };
    let within_memory = within(source.facts().edges);
    let (budget, available_bytes) = (runtime.budget(), runtime.budget().available_bytes());
    let announced = estimate::Announced::new(&within_memory, source.facts(), options);
    let (least_bytes, enough_bytes) = announced.in_memory_bytes(&within_memory);
    let is_large = source.facts().edges.is_some_and(|edges| edges > ONE_THREAD_EDGES);
    if is_large && least_bytes > available_bytes {
        return Err(budget.refusal("making a graph in memory", enough_bytes, available_bytes));
    }
    // A later refusal advises a limit that is enough; without a known number of edges, one that is half as large again.
    let limit_bytes = match source.facts().edges {
        Some(_) => budget.limit_for(enough_bytes, available_bytes),
        None => (budget.limit_bytes() / 2).saturating_mul(3),
    };
    let report =
        import(&within_memory, source, &image, options).map_err(|error| error.advising_at_least(limit_bytes))?;
    let opened = Arc::new(within(Some(report.manifest.edges)));
    Ok((Graph::open(&opened, image, ImageOptions::default())?, report))
}
