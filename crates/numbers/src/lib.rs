//! Tables of numbers for dense arrays: chosen columns of text, Parquet, Arrow and record batches.
//!
//! A [`NumberTable`] is read once, from its first row to its last: [`NumberBlocks`] come from one worker at a time, and
//! a [`NumberParser`] turns them into elements on any. A [`PlacedTable`] stays in its Parquet or Arrow file, of which
//! any rows are read. Both convert columns to the one element type of the array. Files are opened, recognized and cut
//! by [`parts`](outcore_ingest::parts).
#![forbid(unsafe_code)]

mod arrow_columns;
mod number_columns;
mod number_table;
mod number_text;
mod parquet_columns;
mod placed_table;

pub use number_columns::NumberValues;
pub use number_table::{NumberBlock, NumberBlocks, NumberFacts, NumberOptions, NumberParser, NumberTable, Refused};
pub use placed_table::{Misplaced, Packing, PlacedTable};
