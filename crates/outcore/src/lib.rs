//! Analyse graphs many times larger than memory, on one machine with an SSD, at the speed of in-memory engines.
//!
//! This crate re-exports what users need and holds no code of its own: [`import`] makes an image of an edge list, [`Graph`] opens
//! one, [`bfs`], [`pagerank`] and others compute on it, [`Table`] holds what they found under the users' ids, and [`scan`], [`fold()`] and
//! [`EdgeMapper`] are what new algorithms are made of.
#![forbid(unsafe_code)]

pub use outcore_algo::{
    AllPairs, AllPairsOptions, Betweenness, BetweennessOptions, Bfs, BfsOptions, Clustering, ClusteringOptions,
    Components, ComponentsOptions, CoreNumbers, CoreNumbersOptions, Dangling, Estimate, LabelPropagation,
    LabelPropagationOptions, Lcc, LccOptions, MultiSourceBfs, MultiSourceBfsOptions, PageRank, PageRankMethod,
    PageRankOptions, PersonalizedPageRank, PersonalizedPageRankOptions, Reach, ScanStatistics, ScanStatisticsOptions,
    Sources, Sssp, SsspOptions, StrongComponentsOptions, Triangles, TrianglesOptions, all_pairs, betweenness, bfs,
    clustering, components, core_numbers, estimate_all_pairs, estimate_betweenness, estimate_bfs, estimate_clustering,
    estimate_components, estimate_core_numbers, estimate_label_propagation, estimate_lcc, estimate_multi_source_bfs,
    estimate_pagerank, estimate_personalized_pagerank, estimate_scan_statistics, estimate_sssp,
    estimate_strong_components, estimate_triangles, has_lengths, label_propagation, lcc, multi_source_bfs, pagerank,
    personalized_pagerank, scan_statistics, seeds_of_ids, sssp, strong_components, triangles, verify,
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
