//! Outcore's graph algorithms: `kernels` computes, [`verify`] checks, and `declared` describes them to users.
//!
//! Every algorithm takes a graph and plain options and returns a named result with its statistics. Each estimates its
//! memory and passes before it starts ([`Estimate`]), refuses with the numbers if they do not fit, and gives the same
//! bits for every number of workers, back end and cache size.
#![forbid(unsafe_code)]

mod convergence;
mod declare;
mod declared;
mod estimate;
pub mod graph500;
mod graph_values;
pub mod graphalytics;
mod kernels;
mod sources;
mod state;
mod stored;
pub mod verify;
mod weights;

pub use api::*;
pub use declare::{
    Algorithm, Attribute, AttributeKind, Datum, Doc, Finding, Graphalytics, Kernel, Oracle, Outcome, Plan, Remedy,
    ReportNeeds, Say, Typed, Unconverged, say_ids,
};
pub use declared::ALGORITHMS;
pub use estimate::{Bound, Estimate, least_limit};
pub use graph_values::GraphValues;
pub use outcore_declare::{Declared, DefaultValue, Kind, Parameter, Value, Values};
pub use outcore_image::{Error, Result};

/// The public functions with their options, results and estimates. The facade re-exports this list as it is.
pub mod api {
    pub use crate::convergence::{Stop, StoppedBy};
    pub use crate::declared::all_pairs::estimate_all_pairs;
    pub use crate::declared::betweenness_centrality::estimate_betweenness_centrality;
    pub use crate::declared::bfs::estimate_bfs;
    pub use crate::declared::clustering::estimate_clustering;
    pub use crate::declared::components::estimate_components;
    pub use crate::declared::core_number::estimate_core_number;
    pub use crate::declared::degree_centrality::estimate_degree_centrality;
    pub use crate::declared::label_propagation::estimate_label_propagation;
    pub use crate::declared::lcc::estimate_lcc;
    pub use crate::declared::multi_source_bfs::estimate_multi_source_bfs;
    pub use crate::declared::pagerank::{estimate_pagerank, pagerank};
    pub use crate::declared::personalized_pagerank::estimate_personalized_pagerank;
    pub use crate::declared::reciprocity::estimate_reciprocity;
    pub use crate::declared::scan_statistics::estimate_scan_statistics;
    pub use crate::declared::sssp::estimate_sssp;
    pub use crate::declared::strong_components::estimate_strong_components;
    pub use crate::declared::triangles::estimate_triangles;
    pub use crate::kernels::all_pairs::{AllPairs, AllPairsOptions, all_pairs};
    pub use crate::kernels::betweenness_centrality::{Betweenness, BetweennessOptions, betweenness_centrality};
    pub use crate::kernels::bfs::{Bfs, BfsOptions, bfs};
    pub use crate::kernels::clustering::{Clustering, ClusteringOptions, clustering};
    pub use crate::kernels::components::{
        Components, ComponentsOptions, components, components as connected_components,
    };
    pub use crate::kernels::core_number::{CoreNumbers, CoreNumbersOptions, core_number};
    pub use crate::kernels::degree_centrality::{
        DegreeCentrality, DegreeCentralityOptions, DegreeEdges, degree_centrality,
    };
    pub use crate::kernels::label_propagation::{LabelPropagation, LabelPropagationOptions, label_propagation};
    pub use crate::kernels::lcc::{Lcc, LccOptions, lcc};
    pub use crate::kernels::multi_source_bfs::multi_source_bfs;
    pub use crate::kernels::pagerank_options::{Dangling, PageRank, PageRankMethod, PageRankOptions};
    pub use crate::kernels::personalized_pagerank::{
        PersonalizedPageRank, PersonalizedPageRankOptions, personalized_pagerank, seeds_of_ids,
    };
    pub use crate::kernels::reach::{MultiSourceBfs, MultiSourceBfsOptions, Reach};
    pub use crate::kernels::reciprocity::{Reciprocity, ReciprocityOptions, reciprocity};
    pub use crate::kernels::scan_statistics::{ScanStatistics, ScanStatisticsOptions, scan_statistics};
    pub use crate::kernels::sssp::{Sssp, SsspOptions, sssp};
    pub use crate::kernels::strong_components::{
        StrongComponentsOptions, strong_components, strong_components as strongly_connected_components,
    };
    pub use crate::kernels::triangles::{Triangles, TrianglesOptions, triangles};
    pub use crate::sources::Sources;
    pub use crate::verify::verify_degree_centrality;
    pub use crate::verify::verify_reciprocity;
    pub use crate::weights::has_lengths;
}

/// Items for tests only; they change without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::kernels::label_propagation::{COUNTED, Counter, by_counting, by_sorting};
}
