//! Graphs larger than memory: made of records, read list by list, and written back.
//!
//! A [`Graph`] is an image whose pages hold lists. [`scan()`] and [`fold()`] visit the lists of a frontier on all
//! workers, [`Graph::lists`] loops over them, an [`EdgeMapper`] moves a frontier along them, and [`run_program`] runs a
//! [`VertexProgram`]. [`import`] makes an image of the records that `outcore-ingest` reads, [`export()`] writes one
//! back, [`check()`] verifies every byte. What else is public are the parts of the crates below that a user of graphs
//! needs: results and ids, errors, statistics.

mod active;
mod attributes;
mod by_page;
mod by_rank;
mod check;
mod check_ids;
mod check_lists;
mod columns;
mod data_of;
pub mod decode;
mod degree_class;
mod edge_batches;
mod edge_map;
mod edge_stream;
mod export;
mod export_parquet;
mod export_records;
mod export_table;
mod few;
mod gather;
pub mod generate;
mod graph;
mod guides;
mod held;
pub mod import;
mod info;
mod kept_pages;
mod least_first;
mod lists;
mod look;
mod messages;
mod near_first;
mod ordered;
mod program;
mod program_engine;
mod relax;
mod scan;
mod sweep;
mod vertex_batches;
mod vertex_map;
mod vertex_set;
mod weights;

pub use active::SPARSE_SHARE;
pub use check::{CheckReport, check};
pub use data_of::{EdgesFrom, VertexData};
pub use edge_batches::{EdgeBatches, EdgeData, first_edges};
pub use edge_map::{Decision, EdgeMap, EdgeMapper, Next, Stepped, Way, is_small_push};
pub use export::{EXPORT_ENDINGS, ExportReport, export};
pub use export_table::{VERTEX_ENDINGS, check_vertex_table, export_vertices};
pub use gather::{Gathered, gather, gather_sum, gather_sums, gather_weighted_sum, gather_weighted_sums};
pub use graph::{Direction, Edges, Graph};
pub use held::HeldLists;
pub use info::GraphInfo;
pub use lists::{ListLoop, ListsOf, Neighbours};
pub use look::{Degree, Neighbour};
pub use program::{Events, ProgramOptions, ProgramRun, Vertex, VertexProgram};
pub use program_engine::{program_bytes, run_program};
pub use relax::{Labels, NO_LABEL, Relaxed, Relaxer, Thin};
pub use scan::{Frontier, List, ListFold, ListPart, fold, scan, scan_pages};
pub use vertex_batches::VertexBatches;
pub use vertex_map::{RANGE, vertex_map, vertex_sum};
pub use vertex_set::Bitmap;
pub use weights::{KeptWeights, Weight, Weights};

/// The size of a page in bytes.
pub const PAGE_BYTES: u64 = outcore_format::PAGE_BYTES as u64;
