//! Outcore's graph algorithms: `kernels` computes, [`verify`] checks, and `declared` describes them to users.
//!
//! Every algorithm takes a graph and plain options and returns a named result with its statistics. Each estimates its
//! memory and passes before it starts ([`Estimate`]), refuses with the numbers if they do not fit, and gives the same
//! bits for every number of workers, back end and cache size.
//!
//! This file lists all of them: the modules, [`ALGORITHMS`] and the public names in [`api`].
#![forbid(unsafe_code)]

mod convergence;
mod declare;
mod estimate;
pub mod graph500;
mod graph_values;
pub mod graphalytics;
mod results;
mod sources;
mod state;
mod stored;
mod visit;
mod weights;

pub use api::*;
pub use declare::{
    Algorithm, Datum, DatumKind, Doc, Finding, Graphalytics, Kernel, Oracle, Outcome, Plan, Remedy, ReportNeeds,
    ResultAttribute, Say, Typed, Unconverged, say_ids,
};
pub use estimate::{Bound, Estimate, least_limit};
pub use graph_values::GraphValues;
pub use outcore_declare::{Declared, DefaultValue, Kind, OptionValues, Parameter, Value};
pub use outcore_image::{Error, Result};

/// The computations: options, result, function and memory estimate of each, and in folders what several share. They
/// know neither verifiers nor declarations.
mod kernels {
    pub(crate) mod all_pairs;
    pub(crate) mod betweenness_centrality;
    pub(crate) mod bfs;
    pub(crate) mod clustering;
    pub(crate) mod colouring;
    pub(crate) mod components;
    pub(crate) mod core_number;
    pub(crate) mod degree_centrality;
    pub(crate) mod label_propagation;
    pub(crate) mod multi_source_bfs;
    pub(crate) mod node_boundary;
    pub(crate) mod pagerank;
    pub(crate) mod personalized_pagerank;
    pub(crate) mod reciprocity;
    pub(crate) mod scan_statistics;
    pub(crate) mod sssp;
    pub(crate) mod strong_components;
    pub(crate) mod tarjan;
    pub(crate) mod triangles;
    pub(crate) mod two_colours;

    /// Steps of PageRank, from whole sets or from one.
    pub(crate) mod ranks {
        pub(crate) mod pulling;
        pub(crate) mod pushing;
        pub(crate) mod strengths;
    }

    /// Levels, lengths and rows that searches and shortest paths share.
    pub(crate) mod searches {
        pub(crate) mod by_level;
        pub(crate) mod lengths;
        pub(crate) mod reach;
        pub(crate) mod rows;
        pub(crate) mod shortest_parents;
        pub(crate) mod waiting;
    }

    /// Triangles and neighbourhoods: the computation of `triangles`, `clustering`, `lcc` and `scan_statistics`.
    pub(crate) mod triads {
        pub(crate) mod block;
        pub(crate) mod corners;
        pub(crate) mod edges_among;
        pub(crate) mod neighbourhoods;
    }
}

/// Verifiers: each checks that a result has the properties that make it right, with another algorithm than computed it.
///
/// Verifiers work out of core like the algorithms: state per vertex in memory, edges by sweeps. An error names the
/// vertex and the values that contradict each other. The result of another graph is a usage error, and so are options
/// with vertices that the graph does not have.
pub mod verify {
    // A function `.._bytes` returns the memory that a verifier takes beside the result.
    pub(crate) mod bfs;
    mod checks;
    pub(crate) mod components;
    pub(crate) mod core_number;
    pub(crate) mod degree_centrality;
    pub(crate) mod label_propagation;
    pub(crate) mod node_boundary;
    pub(crate) mod ranks;
    pub(crate) mod reciprocity;
    pub(crate) mod searches;
    pub(crate) mod sssp;
    pub(crate) mod strong_components;
    pub(crate) mod triangles;

    pub(crate) use checks::{Contradiction, check_equal, follow_parents, lists_of_all, loops_bytes, ways};

    pub use bfs::verify_bfs;
    pub use components::verify_components;
    pub use core_number::verify_core_number;
    pub use degree_centrality::verify_degree_centrality;
    pub use label_propagation::verify_label_propagation;
    pub use node_boundary::verify_node_boundary;
    pub use ranks::{verify_pagerank, verify_personalized_pagerank};
    pub use reciprocity::verify_reciprocity;
    pub use searches::{verify_all_pairs, verify_betweenness_centrality, verify_multi_source_bfs};
    pub use sssp::verify_sssp;
    pub use strong_components::verify_strong_components;
    pub use triangles::{verify_clustering, verify_lcc, verify_scan_statistics, verify_triangles};
}

/// The declarations: names, options and texts that the shell, Python and documents show.
mod declared {
    /// Names that most declarations use.
    mod prelude {
        pub(crate) use crate::declare::*;
        pub(crate) use crate::estimate::Estimate;
        pub(crate) use crate::graph_values::GraphValues;
        pub(crate) use crate::{kernels, verify};
        pub(crate) use outcore_declare::{DefaultValue, Kind, Parameter};
        pub(crate) use outcore_graph::Graph;
        pub(crate) use outcore_image::Result;
    }

    pub(crate) mod all_pairs;
    pub(crate) mod betweenness_centrality;
    pub(crate) mod bfs;
    pub(crate) mod clustering;
    pub(crate) mod components;
    pub(crate) mod core_number;
    pub(crate) mod degree_centrality;
    pub(crate) mod label_propagation;
    pub(crate) mod lcc;
    pub(crate) mod multi_source_bfs;
    pub(crate) mod node_boundary;
    pub(crate) mod pagerank;
    pub(crate) mod personalized_pagerank;
    pub(crate) mod reciprocity;
    pub(crate) mod scan_statistics;
    pub(crate) mod sssp;
    pub(crate) mod strong_components;
    pub(crate) mod triangles;
}

/// All algorithms.
pub static ALGORITHMS: &[&Algorithm] = &[
    &declared::bfs::BFS,
    &declared::multi_source_bfs::MULTI_SOURCE_BFS,
    &declared::all_pairs::ALL_PAIRS,
    &declared::betweenness_centrality::BETWEENNESS_CENTRALITY,
    &declared::degree_centrality::DEGREE_CENTRALITY,
    &declared::sssp::SSSP,
    &declared::pagerank::PAGERANK,
    &declared::personalized_pagerank::PERSONALIZED_PAGERANK,
    &declared::components::CONNECTED_COMPONENTS,
    &declared::strong_components::STRONGLY_CONNECTED_COMPONENTS,
    &declared::core_number::CORE_NUMBER,
    &declared::label_propagation::LABEL_PROPAGATION,
    &declared::triangles::TRIANGLES,
    &declared::clustering::CLUSTERING,
    &declared::lcc::LCC,
    &declared::reciprocity::RECIPROCITY,
    &declared::scan_statistics::SCAN_STATISTICS,
    &declared::node_boundary::NODE_BOUNDARY,
];

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
    pub use crate::declared::node_boundary::estimate_node_boundary;
    pub use crate::declared::pagerank::estimate_pagerank;
    pub use crate::declared::personalized_pagerank::estimate_personalized_pagerank;
    pub use crate::declared::reciprocity::estimate_reciprocity;
    pub use crate::declared::scan_statistics::estimate_scan_statistics;
    pub use crate::declared::sssp::estimate_sssp;
    pub use crate::declared::strong_components::estimate_strong_components;
    pub use crate::declared::triangles::estimate_triangles;
    pub use crate::kernels::all_pairs::{AllPairs, AllPairsOptions, all_pairs};
    pub use crate::kernels::betweenness_centrality::{Betweenness, BetweennessOptions, betweenness_centrality};
    pub use crate::kernels::bfs::{Bfs, BfsOptions, bfs};
    pub use crate::kernels::clustering::{Clustering, ClusteringOptions, Lcc, LccOptions, clustering, lcc};
    pub use crate::kernels::components::{
        Components, ComponentsOptions, components, components as connected_components,
    };
    pub use crate::kernels::core_number::{CoreNumbers, CoreNumbersOptions, core_number};
    pub use crate::kernels::degree_centrality::{
        DegreeCentrality, DegreeCentralityOptions, DegreeEdges, degree_centrality,
    };
    pub use crate::kernels::label_propagation::{LabelPropagation, LabelPropagationOptions, label_propagation};
    pub use crate::kernels::multi_source_bfs::multi_source_bfs;
    pub use crate::kernels::node_boundary::{NodeBoundary, NodeBoundaryOptions, node_boundary};
    pub use crate::kernels::pagerank::{Dangling, PageRank, PageRankMethod, PageRankOptions, pagerank};
    pub use crate::kernels::personalized_pagerank::{
        PersonalizedPageRank, PersonalizedPageRankOptions, personalized_pagerank,
    };
    pub use crate::kernels::reciprocity::{Reciprocity, ReciprocityOptions, reciprocity};
    pub use crate::kernels::scan_statistics::{ScanStatistics, ScanStatisticsOptions, scan_statistics};
    pub use crate::kernels::searches::reach::{MultiSourceBfs, MultiSourceBfsOptions, Reach};
    pub use crate::kernels::sssp::{Sssp, SsspOptions, sssp};
    pub use crate::kernels::strong_components::{
        StrongComponentsOptions, strong_components, strong_components as strongly_connected_components,
    };
    pub use crate::kernels::triangles::{Triangles, TrianglesOptions, triangles};
    pub use crate::kernels::two_colours::{TwoColours, two_colours};
    pub use crate::sources::Sources;
    pub use crate::weights::has_lengths;
}

/// Items for tests only; they change without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::kernels::label_propagation::{COUNTED, Counter, by_counting, by_sorting};
}
