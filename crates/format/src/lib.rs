//! The bytes of an Outcore image: pages, lists, indexes, columns, the manifest.
//!
//! The specification is `docs/format.md`. This crate opens no file, starts no thread and has no unsafe code: it encodes
//! and decodes values, and refuses bytes that violate the format.
#![forbid(unsafe_code)]

mod attribute;
pub mod block;
pub mod column;
pub mod dense;
mod dense_manifest;
mod element;
mod error;
mod files;
pub mod flags;
pub mod guide;
mod id_type;
mod index;
pub mod list;
mod manifest;
mod page;
mod sealed;
mod series;
pub mod text;
pub mod values;

pub use attribute::{
    Attribute, AttributeKind, MAX_ATTRIBUTES, MAX_STRING_BYTES, Strings, TimeUnit, check_attribute_names,
};
pub use dense::{DensePlace, DenseShape, GROUP_BYTES};
pub use dense_manifest::DenseManifest;
pub use element::ElementType;
pub use error::{Error, Result};
pub use files::ImageFile;
pub use id_type::IdType;
pub use index::{Index, Keys, index_bytes, write_index};
pub use list::{ListWriter, Lists, PageStart, Shape};
pub use manifest::{IdColumn, ImportFacts, ListFile, MAX_VERTICES, Manifest, Order};
pub use page::{HEADER_BYTES, Kind, Origin, PAGE_BYTES, Page, PageBytes};
pub use sealed::{COMMIT, Claim, DENSE_FORMAT_NAME, FORMAT_NAME, FORMAT_VERSION, version_text};
pub use values::{MAX_VALUE_COLUMNS, ValueColumn, ValueDomain, ValueRule, ValueType, WeightKind};
