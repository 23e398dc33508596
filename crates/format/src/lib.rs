//! The bytes of an Outcore image: pages, lists, indexes, columns, the manifest.
//!
//! The specification is `docs/format.md`. This crate opens no file, starts no thread and has no unsafe code: it turns
//! bytes into values and values into bytes, and refuses bytes that are not what they should be.
#![forbid(unsafe_code)]

mod error;

pub use error::{Error, Result};
