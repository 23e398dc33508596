//! Devices, memory budget and workers. This crate knows no format.
#![deny(unsafe_code)]

mod error;

pub use error::{Error, Result, bytes_text};
