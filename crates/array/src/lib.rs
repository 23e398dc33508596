//! Dense arrays larger than memory: lazy expressions, evaluated in one pass.
//!
//! An [`Array`] is a lazy expression; [`compute`] computes several of them together, in as few passes over their files
//! as possible.
#![deny(unsafe_code)]

mod array;
mod block;
mod checksum;
mod columns;
mod compute;
mod explain;
mod image_source;
mod import;
pub mod kernel;
mod memory;
mod npy;
mod open;
mod operations;
mod pass;
mod plan;
mod sink;
mod source;
mod spaced;
mod table;
mod turned;

/// Internals for tests; not for users, and changed without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::checksum::Checksum;
    pub use crate::kernel::random::philox;
}

pub use array::{Array, MOST_AXES, less_memory_if};
pub use compute::{Computed, Goal, ImageGoal, compute};
pub use explain::{ExplainedPass, ExplainedStep, Explanation, explain};
pub use image_source::ImageSource;
pub use import::{ArrayImportOptions, ArrayImportReport, import_array, import_array_file};
pub use memory::{Bytes, InMemory};
pub use npy::NpySource;
pub use open::open;
pub use operations::element_fold::{ElementFold, element_fold};
pub use operations::elementwise::ElementFunction;
pub use operations::generated::{Distribution, Random};
pub use operations::row_fold::{RowBlock, RowFold};
pub use operations::view::AxisPart;
pub use outcore_format::ElementType;
pub use outcore_image::{AnyManifest, read_any_manifest};
pub use outcore_ingest::column_called;
pub use outcore_numbers::{NumberFacts, NumberOptions, NumberTable, Packing, PlacedTable};
pub use source::{ArraySource, Landed, Narrow, Purpose, SourceReader};
pub use table::TableSource;
