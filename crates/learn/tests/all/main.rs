//! Integration tests of statistics and models, one module each, in one binary.

mod common;
mod folds;
mod memory;
mod models;
mod separation;
mod statistics;
