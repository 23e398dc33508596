//! Graphs larger than memory: import, and the ways to read them.

mod error;
pub mod import;

pub use error::{Error, Result};
