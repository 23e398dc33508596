//! Analyse graphs many times larger than memory, on one machine with an SSD, at the speed of in-memory engines.
//!
//! This crate re-exports what users need and holds no code of its own:
//!
//! - *images*: [`import`] makes one of an edge list, [`Graph`] opens one within the limits of a [`Runtime`], [`export()`] writes one back, [`check()`]
//!   verifies its bytes;
//! - *algorithms*: a function, its options and its result each, such as [`pagerank()`], [`PageRankOptions`] and [`PageRank`]; `estimate_` and its name say
//!   what it will need, [`verify`] checks what it found;
//! - *results*: [`Table`] holds columns under the users' ids;
//! - *new algorithms*: [`Graph::lists`], [`scan()`] and [`fold()`] visit lists, [`EdgeMapper`] moves a frontier, [`run_program`] runs a
//!   [`VertexProgram`].
//!
//! ```no_run
//! use outcore::{Column, Graph, GraphOptions, PageRankOptions, Runtime, RuntimeOptions, Table, pagerank};
//! use std::sync::Arc;
//!
//! fn main() -> outcore::Result<()> {
//!     let limits = RuntimeOptions { memory_bytes: Some(256 << 20), ..RuntimeOptions::default() };
//!     let runtime = Arc::new(Runtime::new(limits)?);
//!     let graph = Arc::new(Graph::open(&runtime, "web.oc", GraphOptions::default())?);
//!     let found = pagerank(&graph, &PageRankOptions::default())?;
//!     println!("{} iterations, stopped by {:?}", found.iterations, found.stopped_by);
//!     let ranks = vec![("pagerank".to_owned(), Column::Real(Arc::new(found.ranks)))];
//!     Table::new(graph, ranks).write("ranks.parquet")
//! }
//! ```
//!
//! An operation has the workers of its graph to itself: a second one at the same time fails with [`Error::Busy`].
#![forbid(unsafe_code)]

pub use outcore_algo::{
    AllPairs, AllPairsOptions, Betweenness, BetweennessOptions, Bfs, BfsOptions, Bound, Clustering, ClusteringOptions,
    Components, ComponentsOptions, CoreNumbers, CoreNumbersOptions, Dangling, Estimate, LabelPropagation,
    LabelPropagationOptions, Lcc, LccOptions, MultiSourceBfs, MultiSourceBfsOptions, PageRank, PageRankMethod,
    PageRankOptions, PersonalizedPageRank, PersonalizedPageRankOptions, Reach, ScanStatistics, ScanStatisticsOptions,
    Sources, Sssp, SsspOptions, Stop, StoppedBy, StrongComponentsOptions, Triangles, TrianglesOptions, all_pairs,
    betweenness, bfs, clustering, components, core_numbers, estimate_all_pairs, estimate_betweenness, estimate_bfs,
    estimate_clustering, estimate_components, estimate_core_numbers, estimate_label_propagation, estimate_lcc,
    estimate_multi_source_bfs, estimate_pagerank, estimate_personalized_pagerank, estimate_scan_statistics,
    estimate_sssp, estimate_strong_components, estimate_triangles, has_lengths, label_propagation, lcc,
    multi_source_bfs, pagerank, personalized_pagerank, scan_statistics, seeds_of_ids, sssp, strong_components,
    triangles, verify,
};
pub use outcore_algo::{graph500, graphalytics};
pub use outcore_format as format;
pub use outcore_graph::*;
pub use outcore_io as io;
pub use outcore_io::{Progress, Runtime, RuntimeOptions, Unit};

/// The programs of the documentation are compiled by the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/howto/write-an-algorithm.md")]
mod write_an_algorithm {}
