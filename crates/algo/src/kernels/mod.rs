//! The computations: options, result, function and memory estimate of each. They know neither verifiers nor
//! declarations.

pub(crate) mod all_pairs;
pub(crate) mod betweenness_centrality;
pub(crate) mod bfs;
pub(crate) mod clustering;
pub(crate) mod components;
pub(crate) mod core_number;
pub(crate) mod degree_centrality;
pub(crate) mod label_propagation;
pub(crate) mod lcc;
pub(crate) mod lengths;
pub(crate) mod multi_source_bfs;
pub(crate) mod neighbourhoods;
pub(crate) mod pagerank;
pub(crate) mod pagerank_delta;
pub(crate) mod pagerank_options;
pub(crate) mod parents;
pub(crate) mod personalized_pagerank;
pub(crate) mod reciprocity;
pub(crate) mod scan_statistics;
pub(crate) mod shortest_parents;
pub(crate) mod sssp;
pub(crate) mod strengths;
pub(crate) mod strong_components;
pub(crate) mod tally;
pub(crate) mod tarjan;
pub(crate) mod triads;
pub(crate) mod triangles;
pub(crate) mod waiting;
