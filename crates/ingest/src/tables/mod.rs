//! Tables with typed columns: Arrow and Parquet files, and record batches from memory.
//!
//! A table has columns for the ends of edges and perhaps for a weight; further columns are attributes. Every buffer is
//! charged to the budget before it is decoded.

pub(crate) mod arrow_message;
pub(crate) mod arrow_stream;
pub(crate) mod attribute_columns;
pub(crate) mod attributes;
pub(crate) mod batches;
pub(crate) mod guarded;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
#[cfg(feature = "parquet")]
pub(crate) mod parquet_pages;
pub(crate) mod shape;
pub(crate) mod table;
pub(crate) mod table_file;
pub(crate) mod values;
