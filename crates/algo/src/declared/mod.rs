//! The list of all algorithms. Each is declared in a file of its own: the names, options and texts that the shell,
//! Python and documents show.

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
pub(crate) mod pagerank;
pub(crate) mod personalized_pagerank;
pub(crate) mod reciprocity;
pub(crate) mod scan_statistics;
pub(crate) mod sssp;
pub(crate) mod strong_components;
pub(crate) mod triangles;

use crate::declare::Algorithm;

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
