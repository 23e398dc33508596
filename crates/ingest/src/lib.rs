//! Inputs on their way in: files, pipes and tables of every format, as batches of records.
//!
//! [`open`] finds out what an input is and gives a [`Source`], which is asked for blocks by one worker at a time while
//! all others let its [`Parser`] turn blocks into records: pairs of users' ids, with weights, and ids that stand alone.
//! One file here is one format; [`formats`] lists them. [`from_batches`] takes tables from memory. A [`Plan`] deals
//! the memory out, [`dictionary`] numbers the ids of a worker, and [`runs`] merges what all workers found, in files
//! where it does not fit into memory. What the records become is for the crates above.
#![forbid(unsafe_code)]

mod adjacency;
mod altered;
mod archive;
mod arrow_columns;
mod arrow_message;
mod arrow_stream;
mod ascii_graph;
mod attributes;
mod batch;
mod binary;
mod bipartite;
mod blocks;
mod bzip2_streams;
mod chain;
mod characters;
mod choice;
mod coding;
mod column_names;
mod columns;
mod conditions;
mod counted_file;
mod declared;
mod detect;
pub mod dictionary;
mod dimacs;
mod dot;
mod edge_list;
mod folders;
mod gexf;
mod gml;
mod graphalytics;
mod graphml;
mod guarded;
mod gzip_members;
mod heap;
mod input;
mod json_lines;
mod konect;
mod matrix_header;
mod matrix_market;
mod metis;
mod nulls;
mod number;
mod number_columns;
mod number_table;
mod number_text;
mod numbered;
mod one_id;
mod open;
mod own_comment;
mod pajek;
mod parquet;
mod parquet_columns;
mod parquet_pages;
mod partitions;
mod placed_table;
mod plan;
mod recognise;
mod record_lines;
mod records;
mod rows;
pub mod runs;
mod shape;
mod sif;
mod size_line;
mod table;
mod table_file;
mod tally;
#[cfg(test)]
mod testing;
mod text_source;
mod tntp;
mod values;
mod vertex_lines;
mod vertices;
mod xml;
mod xz_streams;
mod zip_member;
mod zstd_frames;

pub use altered::{Altered, Declared};
pub use attributes::{AttributeColumn, AttributeField, AttributeValues, Attributes};
pub use batch::{
    Block, BlockData, EdgeBatch, FULL_BYTES, Facts, IdKind, Ids, InputOptions, Parser, Rows, Source, TakeBatch,
    TextFacts, Weights, mixed_ids,
};
pub use bipartite::SIDES;
pub use chain::chained;
pub use choice::Choice;
pub use column_names::column_asked;
pub use conditions::{Comparison, Condition, Literal, narrowed};
pub use counted_file::Reads;
pub use folders::expand;
pub use graphalytics::GraphalyticsProperties;
pub use heap::Heap;
pub use nulls::Nulls;
pub use number::is_whole;
pub use number_columns::NumberValues;
pub use number_table::{NumberBlock, NumberBlocks, NumberFacts, NumberOptions, NumberParser, NumberTable, Refused};
pub use open::{formats, open, parse_bytes};
pub use own_comment::OwnComment;
pub use placed_table::{Misplaced, Packing, PlacedTable};
pub use plan::{
    LARGE_BLOCK_BYTES, LEAST_BYTES, LEAST_PAGE_BUFFER_BYTES, PartitionPlan, Plan, SAMPLE_BYTES, enough_bytes,
    needed_bytes,
};
pub use records::STRING_IDS;
pub use shape::with_shape;
pub use table::{DIRECTED_KEY, PARALLEL_KEY, WEIGHT_KEY, from_batches};
pub use table_file::{RowIds, TableFile};
pub use vertices::{with_vertex_range, with_vertex_table, with_vertices};
