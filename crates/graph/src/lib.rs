//! Graphs larger than memory: import, and the ways to read them.

mod columns;
pub mod decode;
mod edge_map;
mod error;
mod gather;
mod graph;
mod image;
pub mod import;
mod scan;
mod stats;
mod sweep;
mod vertex_map;
mod vertex_set;

pub use edge_map::{Decision, EdgeMap, EdgeMapper, Stepped, Way};
pub use error::{Error, Result};
pub use gather::gather_sum;
pub use graph::{Direction, Graph, GraphOptions, read_manifest};
pub use image::{ImageFile, MANIFEST};
pub use scan::{Frontier, List, ListFold, fold, scan};
pub use stats::{Stats, StatsBuilder, Step, SweepStats};
pub use vertex_map::{vertex_map, vertex_sum};
pub use vertex_set::Bitmap;

/// The size of a page in bytes.
pub const PAGE_BYTES: u64 = outcore_format::PAGE_BYTES as u64;
