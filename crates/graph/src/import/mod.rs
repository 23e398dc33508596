//! From an edge list to an image, in bounded memory.
//!
//! ```text
//!   read.rs       blocks -> edges in worker-local numbers (edges.rs),
//!                 dictionaries (dictionary.rs) -> sorted runs of ids
//!   runs.rs       runs -> all vertices in the order of their ids; back again with their numbers
//!   order.rs      numbers by id or by degree class, chosen by a sample of the lists (sample.rs)
//!   translate.rs  edges -> records in vertex numbers, distributed to partitions (partition.rs)
//!   lists.rs      partitions -> sorted -> pages (encode.rs, pages.rs)
//!   ids.rs        the id column; then the manifest; then the directory takes its name (workspace.rs)
//! ```
//!
//! An edge is written and read three times (8 bytes each time, 24 with weights): as it was read, and once per
//! direction. The memory is bounded whatever the graph is like (`plan.rs`); the image does not depend on the memory,
//! nor on the number of workers.
//!
//! [`open`] finds out what an input is and gives a [`Source`], which is asked for blocks by one worker at a time while
//! all others let its [`Parser`] turn blocks into edges. One file here is one format; [`formats`] lists them.
//! [`from_batches`] takes tables from memory, and [`crate::generate`] makes graphs without any input.

mod adjacency;
mod arrow_stream;
mod ascii_graph;
mod batch;
mod binary;
mod blocks;
mod chain;
mod column_names;
mod columns;
mod detect;
mod dictionary;
mod dimacs;
mod edge_list;
mod edges;
mod encode;
mod estimate;
mod graphalytics;
mod gzip_members;
mod heap;
mod ids;
mod input;
mod job;
mod konect;
mod lists;
mod matrix_header;
mod matrix_market;
mod metis;
mod number;
mod open;
mod options;
mod order;
pub(crate) mod own_comment;
mod pages;
mod parquet;
mod parquet_pages;
mod partition;
mod plan;
mod read;
mod recognise;
mod rows;
mod runs;
mod sample;
mod size_line;
mod table;
mod tally;
#[cfg(test)]
mod testing;
mod text_source;
mod tntp;
mod translate;
mod values;
mod vertex_lines;
mod vertices;
mod workspace;
mod zstd_frames;

pub(crate) use number::is_whole;

pub use batch::{
    Block, BlockData, EdgeBatch, Facts, IdKind, Ids, InputOptions, Parser, Rows, Source, TakeBatch, TextFacts, Weights,
};
pub use estimate::{ImportEstimate, advise, estimate};
pub use graphalytics::GraphalyticsProperties;
pub use open::{formats, open, parse_bytes};
pub use options::{Duplicates, ImportOptions, ImportReport, ImportStats, OrderChoice, SelfLoops};
pub use read::ReadEdge;
pub use table::from_batches;
pub use vertices::{with_vertex_range, with_vertices};

use crate::error::Result;
use outcore_io::Runtime;
use std::path::Path;

/// Imports the edges of a source as the image `image`, a directory, which appears only when it is complete.
///
/// An image of that name is replaced if the options say so; anything else of that name is an error. Memory stays under
/// the runtime's limit; edges go to temporary files, see [`estimate`].
///
/// # Errors
/// Something that has the name already, bad input, a full disk, too little memory, a request to stop. Nothing is left
/// behind then, and an older image stays.
pub fn import(
    runtime: &Runtime,
    source: Box<dyn Source>,
    image: &Path,
    options: &ImportOptions,
) -> Result<ImportReport> {
    job::Job::new(runtime, source.facts().clone(), image, options)?.run(source)
}
