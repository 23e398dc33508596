//! Tables of numbers for dense arrays: chosen columns of text, Parquet, Arrow and record batches.
//!
//! Columns are converted to the one element type of the array. Parquet and Arrow files can also be read in place, any
//! rows of them at a time.

pub(crate) mod arrow_columns;
pub(crate) mod number_columns;
pub(crate) mod number_table;
pub(crate) mod number_text;
pub(crate) mod parquet_columns;
pub(crate) mod placed_table;
