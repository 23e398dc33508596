//! From an edge list to an image.

mod batch;

pub use batch::{Block, BlockData, EdgeBatch, Facts, IdKind, Ids, InputOptions, Parser, Source, Weights};
