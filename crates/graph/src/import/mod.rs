//! From an edge list to an image.
//!
//! [`open`] finds out what an input is and gives a [`Source`], which one thread asks for blocks while all others
//! let its [`Parser`] turn blocks into edges. One file here is one format; [`formats`] lists them.

mod ascii_graph;
mod batch;
mod binary;
mod blocks;
mod chain;
mod columns;
mod dimacs;
mod edge_list;
mod graphalytics;
mod input;
mod matrix_header;
mod matrix_market;
mod metis;
mod number;
mod open;
mod size_line;
mod table;
mod tally;
#[cfg(test)]
mod testing;
mod text_source;

pub use batch::{Block, BlockData, EdgeBatch, Facts, IdKind, Ids, InputOptions, Parser, Source, Weights};
pub use open::{formats, open, parse_bytes};
pub use table::from_batches;
