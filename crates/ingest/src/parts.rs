//! Parts of the readers, for other readers of the same files: `outcore-numbers` makes tables of numbers of them.
//!
//! Inputs are opened and recognized, text is cut into lines and fields, tables are decoded in batches with bounded
//! memory. Nothing here knows edges.

pub use crate::batch::{BLOCK_BYTES, bad_record};
pub use crate::column_names::listed;
pub use crate::input::context::InputContext;
pub use crate::input::counted_file::CountedFile;
pub use crate::input::file::{Input, Stream};
pub use crate::recognise::{Kind, LOOKED_AT_BYTES, by_magic, by_start};
pub use crate::tables::arrow_message::{
    CONTINUATION, DictionaryMessage, FILE_END_BYTES, FILE_MAGIC, MOST_BARE_SCHEMA_BYTES, MOST_PADDING_BYTES, Message,
    bare_schema, batches_listed, check_end, header_bytes, schema_of, shared, start_bytes, unpacked_len,
};
pub use crate::tables::arrow_stream::whole as arrow_batches;
pub use crate::tables::batches::{Batch, Batches, checked_batches};
pub use crate::tables::guarded::{damaged, guarded};
#[cfg(feature = "parquet")]
pub use crate::tables::parquet::{Chunks, VALUE_BYTES, chosen as parquet_batches, load as load_parquet};
#[cfg(feature = "parquet")]
pub use crate::tables::parquet_pages::placed_pages;
pub use crate::tables::values::{each_integer, each_real, is_integer, is_real};
pub use crate::text::blocks::{LineBlocks, Lines};
pub use crate::text::columns::{Comments, Cut, Field, Separator};
pub use crate::text::number::{Integer, LineIter, integer, is_blank, is_exactly, is_missing, lines, real, trim};
pub use crate::text::sample::{
    Sample, end_of_line, first_comments, first_lines, has_columns, is_called_csv, is_separator_line, name_of,
    settled_comments,
};
pub use crate::text::separator::separator_of as separator_of_rows;
