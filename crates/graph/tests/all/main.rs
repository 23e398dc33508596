//! The tests of the crate in one binary, so that the generic code of the engine is compiled for them once.
//!
//! Binaries of their own are tests that measure the peak memory of the process (`image_opening`, `import_out_of_core`,
//! `import_tables`) and those that take long and are scheduled by name (`crash_states`, `programs`, `round_trip`).

#[path = "../common/mod.rs"]
mod common;
#[path = "../given/mod.rs"]
mod given;

mod attributes;
mod check;
mod conditions;
mod daily_files;
mod edge_map;
mod export;
mod generate;
mod ids;
mod image_files;
mod import;
mod import_data;
mod import_faults;
mod import_notes;
mod lists;
mod looks;
mod misuse;
mod parsers;
mod replacing;
mod rules;
mod small_steps;
mod syncs;
mod table;
mod text_imports;
mod weights;
