//! Output of results: one row per vertex, under the users' ids.
//!
//! [`Table`] names the result arrays of an algorithm and makes rows of them in bounded memory; it writes Parquet, CSV,
//! NumPy and Arrow files, and selects its greatest rows. Users' ids come from an image: in order ([`IdStream`]), all at
//! once ([`IdLookup`]), or a few of them ([`ids_of`], [`vertices_of`]). [`TextFile`] writes text, compressed or not.
#![forbid(unsafe_code)]

mod dense;
mod groups;
mod ids;
mod names;
mod numbers;
mod origin;
mod output;
mod parquet_file;
mod sorted;
mod table;
mod text_file;
mod top;

pub use dense::{DenseHeader, DenseRows, SWEPT_NUMBERS, check_columns, is_array_file, write_columns, write_dense};
pub use ids::{
    BATCH_IDS, BATCH_TEXT_BYTES, Id, IdBatch, IdLookup, IdStream, by_id, by_id_bytes, ids_of, parse_id, string_ids,
    vertices_of,
};
pub use names::shown_members;
pub use numbers::{NumbersShape, PutRows, RowLabels, write_numbers};
pub use origin::{NamedImage, Origin};
pub use output::{
    ENCODER_BYTES, OUTPUT_ENDINGS, cell_text, check_output, finish, output_bytes, push_json, push_json_value,
    push_quoted, push_value, refuse,
};
pub use parquet_file::parquet_writer;
pub use table::{
    Column, ColumnKind, Table, TableReader, arrow_item, distance_bits, distance_number, from_arrow, id_array, id_type,
    signed_count,
};
pub use text_file::{Compression, TextFile};
