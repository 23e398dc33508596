//! Inputs on their way in: files, pipes and tables of every format, as batches of records.
//!
//! [`open`] finds out what an input is and gives a [`Source`], which is asked for blocks by one worker at a time while
//! all others let its [`Parser`] turn blocks into records: pairs of users' ids, with weights, and ids that stand alone.
//! `format.rs` lists the formats; each names the function that opens it. [`from_batches`] takes tables from memory. A
//! [`Plan`] deals the memory out. The crates above decide what becomes of the records.
#![forbid(unsafe_code)]

mod batch;
mod bipartite;
mod chain;
mod column_names;
mod condition;
mod conditions;
mod documents;
mod format;
mod given;
mod input;
mod input_sample;
mod mapped;
mod matrices;
mod mix;
mod open;
pub mod parts;
mod plan;
mod recognise;
mod tables;
#[cfg(test)]
mod testing;
mod text;
mod union;
mod vertices;

pub use batch::{
    BatchWeights, Block, BlockData, EdgeBatch, FULL_BYTES, Facts, FileCounts, IdKind, Ids, InputOptions, Nulls, Parser,
    ReadBlocks, Rows, Source, TakeBatch, TextFacts, mixed_ids,
};
pub use bipartite::SIDES;
pub use chain::chained;
pub use column_names::{Unread, column_asked, column_called};
pub use condition::{Comparison, Condition, Literal, WhichVertices};
pub use conditions::{narrowed, rows_that_meet, with_attributes};
pub use documents::kind_hint::{KIND_HINT, kind_hint};
pub use documents::records::STRING_IDS;
pub use format::{formats, is_document};
pub use given::Given;
pub use input::counted_file::Reads;
pub use input::folders::{Files, check_different, images_of_pattern};
pub use input_sample::{Different, InputSample, SampledFiles};
pub use mix::{mix, mix_32};
pub use open::{count_edges, each_vertex_id, open, with_vertex_table};
pub use outcore_declare::{Choice, from_names};
pub use plan::{
    LARGE_BLOCK_BYTES, LEAST_BYTES, LEAST_PAGE_BUFFER_BYTES, PartitionPlan, Plan, SAMPLE_BYTES, enough_bytes,
    needed_bytes,
};
pub use tables::attribute_columns::kind_of;
pub use tables::attributes::{AttributeColumn, AttributeField, AttributeValues, Attributes};
pub use tables::guarded::{guarded, hide_guarded_panics};
pub use tables::shape::with_shape;
pub use tables::table::{DIRECTED_KEY, PARALLEL_KEY, WEIGHT_KEY, from_batches};
pub use tables::table_file::{RowIds, TableFile};
pub use text::graphalytics::GraphalyticsProperties;
pub use text::number::is_whole;
pub use text::own_comment::OwnComment;
pub use vertices::{with_vertex_range, with_vertices};
