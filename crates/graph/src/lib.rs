//! Graphs larger than memory: import, and the ways to read them.

mod atomic_file;
mod check;
mod check_ids;
mod check_lists;
mod choice;
mod columns;
pub mod decode;
mod degree_class;
mod edge_map;
mod edge_stream;
mod error;
mod export;
mod export_parquet;
mod gather;
pub mod generate;
mod graph;
mod ids;
mod image;
pub mod import;
mod info;
mod lists;
mod ordered;
mod output;
mod scan;
mod stats;
mod stream;
mod sweep;
mod table;
mod top;
mod vertex_map;
mod vertex_set;
mod weights;

pub use check::{CheckReport, check};
pub use choice::Choice;
pub use edge_map::{Decision, EdgeMap, EdgeMapper, Next, Stepped, Way};
pub use error::{Error, Result};
pub use export::{EXPORT_ENDINGS, ExportReport, export};
pub use gather::{Gathered, gather_sum, gather_sums, gather_weighted_sum, gather_weighted_sums};
pub use graph::{Direction, Edges, Graph, GraphOptions, read_manifest};
pub use ids::{BATCH_IDS, Id, IdBatch, IdLookup, IdStream};
pub use image::{ImageFile, MANIFEST};
pub use info::GraphInfo;
pub use lists::{ListLoop, ListsOf, Neighbours};
pub use outcore_format::{Lists, WeightKind};
pub use output::OUTPUT_ENDINGS;
pub use scan::{Frontier, List, ListFold, fold, scan, scan_pages};
pub use stats::{Stats, StatsBuilder, Step, SweepStats};
pub use table::{Column, Table, TableReader, distance_bits};
pub use vertex_map::{vertex_map, vertex_sum};
pub use vertex_set::Bitmap;
pub use weights::Weights;

/// The size of a page in bytes.
pub const PAGE_BYTES: u64 = outcore_format::PAGE_BYTES as u64;
