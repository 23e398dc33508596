//! Integration tests of algorithms, one module each, in one program. Those that measure the memory of their process
//! have programs of their own.

mod adversarial;
mod benchmarks;
mod convergence;
mod declarations;
mod determinism;
#[path = "../engine/mod.rs"]
mod engine;
mod faults;
mod golden;
mod inner;
mod long_searches;
#[path = "../engine/model.rs"]
mod model;
mod pagerank_delta;
mod results;
mod scan_statistics;
mod searches;
mod two_colours;
