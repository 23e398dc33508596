//! Graphs larger than memory: made of records, read list by list, and written back.
//!
//! A [`Graph`] is an image whose pages hold lists. [`scan()`] and [`fold()`] visit the lists of a frontier on all
//! workers, [`Graph::lists`] loops over them, an [`EdgeMapper`] moves a frontier along them, and [`run_program`] runs a
//! [`VertexProgram`]. [`import`] makes an image of the records that `outcore-ingest` reads, [`export()`] writes one
//! back, [`check()`] verifies every byte. What else is public are the parts of the crates below that a user of graphs
//! needs: results and ids, errors, statistics.

mod check;
mod engine;
mod export;
pub mod generate;
pub mod import;
mod look;
mod program;
mod relax;
mod steps;

pub use check::image::{CheckReport, check};
pub use engine::decode;
pub use engine::gather::{
    Gathered, Loaded, gather, gather_sum, gather_sums, gather_weighted_sum, gather_weighted_sums,
};
pub use engine::graph::{Direction, Edges, Graph};
pub use engine::lists::{ListLoop, ListsOf, Neighbours};
pub use engine::scan::{Frontier, List, ListFold, ListPart, fold, scan, scan_pages};
pub use engine::vertex_set::Bitmap;
pub use engine::weights::{KeptWeights, Weight, Weights};
pub use export::edge_batches::{EdgeBatches, EdgeData, first_edges};
pub use export::file::{EXPORT_ENDINGS, check_export_memory, export, export_with, takes_results};
pub use export::job::ExportReport;
pub use export::table::{VERTEX_ENDINGS, check_vertex_table, export_vertices};
pub use export::vertex_batches::VertexBatches;
pub use look::data_of::{EdgesFrom, VertexData};
pub use look::id_cache::GraphIds;
pub use look::info::GraphInfo;
pub use look::neighbours::{Degree, Neighbour};
pub use program::engine::{program_bytes, run_program};
pub use program::vertex_program::{Events, ProgramOptions, ProgramRun, Vertex, VertexProgram};
pub use relax::cached_lists::CachedLists;
pub use relax::relaxer::{Labels, NO_LABEL, Relaxed, Relaxer, Thin};
pub use steps::active::SPARSE_SHARE;
pub use steps::edge_map::{Decision, EdgeMap, EdgeMapper, Next, Stepped, Way, is_small_push};
pub use steps::{RANGE, vertex_map, vertex_sum};

/// The size of a page in bytes.
pub const PAGE_BYTES: u64 = outcore_format::PAGE_BYTES as u64;
