//! Outcore's graph algorithms: one file each, with its verifier in [`verify`].
//!
//! Every algorithm takes a graph and plain options and returns a named result with its statistics. Each says what
//! memory and how many passes it needs before it starts ([`Estimate`]), refuses with the numbers if that does not fit,
//! and gives the same bits for every number of workers, back end and cache size.
#![forbid(unsafe_code)]

mod all_pairs;
mod betweenness_centrality;
mod bfs;
mod clustering;
mod components;
mod convergence;
mod core_number;
mod estimate;
pub mod graph500;
pub mod graphalytics;
mod label_propagation;
mod lcc;
mod multi_source_bfs;
mod neighbourhoods;
mod pagerank;
mod pagerank_delta;
mod personalized_pagerank;
mod scan_statistics;
mod sources;
mod sssp;
mod strong_components;
mod tarjan;
mod triads;
mod triangles;
pub mod verify;
mod verify_ranks;
mod verify_searches;
mod verify_triangles;
mod weights;

pub use all_pairs::{AllPairs, AllPairsOptions, all_pairs, estimate_all_pairs};
pub use betweenness_centrality::{
    Betweenness, BetweennessOptions, betweenness_centrality, estimate_betweenness_centrality,
};
pub use bfs::{Bfs, BfsOptions, bfs, estimate_bfs};
pub use clustering::{Clustering, ClusteringOptions, clustering, estimate_clustering};
pub use components::{Components, ComponentsOptions, components, estimate_components};
pub use convergence::{Stop, StoppedBy};
pub use core_number::{CoreNumbers, CoreNumbersOptions, core_number, estimate_core_number};
pub use estimate::{Bound, Estimate};
pub use label_propagation::{LabelPropagation, LabelPropagationOptions, estimate_label_propagation, label_propagation};
pub use lcc::{Lcc, LccOptions, estimate_lcc, lcc};
pub use multi_source_bfs::{MultiSourceBfs, MultiSourceBfsOptions, Reach, estimate_multi_source_bfs, multi_source_bfs};
pub use outcore_graph::{Error, Result};
pub use pagerank::{Dangling, PageRank, PageRankMethod, PageRankOptions, estimate_pagerank, pagerank};
pub use personalized_pagerank::{
    PersonalizedPageRank, PersonalizedPageRankOptions, estimate_personalized_pagerank, personalized_pagerank,
    seeds_of_ids,
};
pub use scan_statistics::{ScanStatistics, ScanStatisticsOptions, estimate_scan_statistics, scan_statistics};
pub use sources::Sources;
pub use sssp::{Sssp, SsspOptions, estimate_sssp, sssp};
pub use strong_components::{StrongComponentsOptions, estimate_strong_components, strong_components};
pub use triangles::{Triangles, TrianglesOptions, estimate_triangles, triangles};
pub use weights::has_lengths;
