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
mod declare;
mod degree_centrality;
mod estimate;
pub mod graph500;
mod graph_values;
pub mod graphalytics;
mod label_propagation;
mod lcc;
mod multi_source_bfs;
mod neighbourhoods;
mod pagerank;
mod pagerank_delta;
mod personalized_pagerank;
mod reciprocity;
mod scan_statistics;
mod sources;
mod sssp;
mod state;
mod strong_components;
mod tarjan;
mod triads;
mod triangles;
pub mod verify;
mod verify_ranks;
mod verify_searches;
mod verify_triangles;
mod weights;

pub use declare::{
    Algorithm, Attribute, AttributeKind, Datum, Doc, Finding, Graphalytics, Kernel, Oracle, Plan, Remedy, ReportNeeds,
    Say, Told, Typed, Unconverged, say_ids,
};
pub use estimate::{Bound, Estimate, least_limit};
pub use graph_values::GraphValues;
pub use kernels::*;
pub use outcore_declare::{Declared, DefaultValue, Kind, Parameter, Value, Values};
pub use outcore_image::{Error, Result};

/// What users call: functions, their options, results and estimates. The facade re-exports this list as it is.
pub mod kernels {
    pub use crate::all_pairs::{AllPairs, AllPairsOptions, all_pairs, estimate_all_pairs};
    pub use crate::betweenness_centrality::{
        Betweenness, BetweennessOptions, betweenness_centrality, estimate_betweenness_centrality,
    };
    pub use crate::bfs::{Bfs, BfsOptions, bfs, estimate_bfs};
    pub use crate::clustering::{Clustering, ClusteringOptions, clustering, estimate_clustering};
    pub use crate::components::{
        Components, ComponentsOptions, components, components as connected_components, estimate_components,
    };
    pub use crate::convergence::{Stop, StoppedBy};
    pub use crate::core_number::{CoreNumbers, CoreNumbersOptions, core_number, estimate_core_number};
    pub use crate::degree_centrality::{
        DegreeCentrality, DegreeCentralityOptions, DegreeEdges, degree_centrality, estimate_degree_centrality,
        verify_degree_centrality,
    };
    pub use crate::label_propagation::{
        LabelPropagation, LabelPropagationOptions, estimate_label_propagation, label_propagation,
    };
    pub use crate::lcc::{Lcc, LccOptions, estimate_lcc, lcc};
    pub use crate::multi_source_bfs::{
        MultiSourceBfs, MultiSourceBfsOptions, Reach, estimate_multi_source_bfs, multi_source_bfs,
    };
    pub use crate::pagerank::{Dangling, PageRank, PageRankMethod, PageRankOptions, estimate_pagerank, pagerank};
    pub use crate::personalized_pagerank::{
        PersonalizedPageRank, PersonalizedPageRankOptions, estimate_personalized_pagerank, personalized_pagerank,
        seeds_of_ids,
    };
    pub use crate::reciprocity::{
        Reciprocity, ReciprocityOptions, estimate_reciprocity, reciprocity, verify_reciprocity,
    };
    pub use crate::scan_statistics::{
        ScanStatistics, ScanStatisticsOptions, estimate_scan_statistics, scan_statistics,
    };
    pub use crate::sources::Sources;
    pub use crate::sssp::{Sssp, SsspOptions, estimate_sssp, sssp};
    pub use crate::strong_components::{
        StrongComponentsOptions, estimate_strong_components, strong_components,
        strong_components as strongly_connected_components,
    };
    pub use crate::triangles::{Triangles, TrianglesOptions, estimate_triangles, triangles};
    pub use crate::weights::has_lengths;
}

/// What tests look at from outside; not for users, and changed without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::label_propagation::{COUNTED, Counter, by_counting, by_sorting};
}

/// All algorithms.
pub static ALGORITHMS: &[&Algorithm] = &[
    &bfs::BFS,
    &multi_source_bfs::MULTI_SOURCE_BFS,
    &all_pairs::ALL_PAIRS,
    &betweenness_centrality::BETWEENNESS_CENTRALITY,
    &degree_centrality::DEGREE_CENTRALITY,
    &sssp::SSSP,
    &pagerank::PAGERANK,
    &personalized_pagerank::PERSONALIZED_PAGERANK,
    &components::CONNECTED_COMPONENTS,
    &strong_components::STRONGLY_CONNECTED_COMPONENTS,
    &core_number::CORE_NUMBER,
    &label_propagation::LABEL_PROPAGATION,
    &triangles::TRIANGLES,
    &clustering::CLUSTERING,
    &lcc::LCC,
    &reciprocity::RECIPROCITY,
    &scan_statistics::SCAN_STATISTICS,
];
