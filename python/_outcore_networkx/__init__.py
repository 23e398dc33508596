"""What NetworkX asks of the backend when it is imported. Nothing native is imported here, and no NumPy."""

import re
from typing import Any

_PATHS = "Of several shortest paths another one may be named."
_PATHS_OF_IMAGES = "Of several shortest paths of an image another one may be named."
_BELLMAN = "Not with negative weights. Nodes are in the order of their distances. "
_FIRST = "Of an image in the order of their first nodes."
_PART = "Returns a graph of NetworkX with all attributes; of an image a graph in memory."
_EDGE_ORDER = "Sums are added up in another order, so that the last bits differ."
_SPANNING = "Kruskal's algorithm."

# The functions that the backend has, with what users should know beside the documentation of NetworkX.
FUNCTIONS: dict[str, str] = {
    # Centrality and ranks.
    "pagerank": "Stops by NetworkX's rule; `nstart` is not taken.",
    "hits": _EDGE_ORDER,
    "betweenness_centrality": "Without `weight`; with `k` NetworkX's own sample of nodes.",
    "edge_betweenness_centrality": "Without `weight` and parallel edges; with `k` NetworkX's own sample of nodes.",
    "closeness_centrality": "",
    "harmonic_centrality": _EDGE_ORDER,
    "degree_centrality": "",
    "in_degree_centrality": "",
    "out_degree_centrality": "",
    "eigenvector_centrality": _EDGE_ORDER,
    "katz_centrality": _EDGE_ORDER,
    "group_degree_centrality": "",
    "group_in_degree_centrality": "",
    "group_out_degree_centrality": "",
    "group_closeness_centrality": "Without `weight`.",
    # Components.
    "connected_components": "",
    "number_connected_components": "",
    "is_connected": "",
    "node_connected_component": "",
    "weakly_connected_components": "",
    "number_weakly_connected_components": "",
    "is_weakly_connected": "",
    "strongly_connected_components": _FIRST,
    "kosaraju_strongly_connected_components": "Without `source`. " + _FIRST,
    "number_strongly_connected_components": "",
    "is_strongly_connected": "",
    "attracting_components": _FIRST,
    "number_attracting_components": "",
    "is_attracting_component": "",
    "is_directed_acyclic_graph": "",
    "topological_generations": "Of an image in the order of the image.",
    "topological_sort": "Of an image in the order of the image.",
    # Distances and paths.
    "single_source_shortest_path_length": "",
    "single_target_shortest_path_length": "",
    "all_pairs_shortest_path_length": "",
    "single_source_shortest_path": _PATHS_OF_IMAGES,
    "single_target_shortest_path": _PATHS_OF_IMAGES,
    "all_pairs_shortest_path": _PATHS_OF_IMAGES,
    "bidirectional_shortest_path": _PATHS_OF_IMAGES,
    "shortest_path": _PATHS_OF_IMAGES,
    "shortest_path_length": "",
    "has_path": "",
    "average_shortest_path_length": "",
    "single_source_dijkstra": _PATHS_OF_IMAGES,
    "single_source_dijkstra_path": _PATHS_OF_IMAGES,
    "single_source_dijkstra_path_length": "",
    "multi_source_dijkstra_path_length": "",
    "dijkstra_path": _PATHS_OF_IMAGES,
    "dijkstra_path_length": "",
    "bidirectional_dijkstra": _PATHS_OF_IMAGES,
    "all_pairs_dijkstra": _PATHS_OF_IMAGES,
    "all_pairs_dijkstra_path": _PATHS_OF_IMAGES,
    "all_pairs_dijkstra_path_length": "",
    "single_source_bellman_ford": _BELLMAN + _PATHS,
    "single_source_bellman_ford_path": _BELLMAN + _PATHS,
    "single_source_bellman_ford_path_length": _BELLMAN[:-1],
    "bellman_ford_path": "Not with negative weights. " + _PATHS,
    "bellman_ford_path_length": "Not with negative weights.",
    "all_pairs_bellman_ford_path": _BELLMAN + _PATHS,
    "all_pairs_bellman_ford_path_length": _BELLMAN[:-1],
    "floyd_warshall": "Not with negative weights. Rows are in the order of the graph.",
    "eccentricity": "",
    "diameter": "",
    "radius": "",
    "center": "",
    "periphery": "",
    "centroid": "From NetworkX 3.7 on, where it is what older ones call `barycenter`.",
    "barycenter": "In NetworkX 3.7 the old name of `centroid`.",
    "harmonic_diameter": _EDGE_ORDER,
    "wiener_index": "",
    "global_efficiency": _EDGE_ORDER,
    "descendants": "",
    "ancestors": "",
    "descendants_at_distance": "",
    "bfs_edges": "Of an image in the order of the image, and without `sort_neighbors`.",
    "bfs_layers": "Nodes of a layer of an image are in the order of the image.",
    # Structure.
    "core_number": "",
    "ego_graph": _PART,
    "k_core": _PART,
    "k_shell": _PART,
    "k_crust": _PART,
    "k_corona": _PART,
    "triangles": "",
    "clustering": "Without `weight`.",
    "average_clustering": "Without `weight`.",
    "square_clustering": "Of undirected graphs.",
    "transitivity": "Of undirected graphs.",
    "reciprocity": "",
    "overall_reciprocity": "",
    "average_neighbor_degree": "Without `weight`.",
    "degree_assortativity_coefficient": "Without `weight` and `nodes`. " + _EDGE_ORDER,
    "degree_pearson_correlation_coefficient": "Without `weight` and `nodes`. " + _EDGE_ORDER,
    "isolates": "",
    "is_isolate": "",
    "number_of_isolates": "",
    "number_of_selfloops": "",
    "is_empty": "",
    "is_weighted": "",
    "is_bipartite": "",
    "is_tree": "",
    "is_forest": "",
    "is_arborescence": "",
    "is_branching": "",
    "is_regular": "",
    "is_k_regular": "",
    "is_eulerian": "",
    "is_semieulerian": "",
    "has_eulerian_path": "",
    "get_node_attributes": "Of images.",
    "get_edge_attributes": "Of images; without parallel edges.",
    # Communities and trees.
    "label_propagation_communities": "Without loops. Of an image `outcore.label_propagation` finds others.",
    "modularity": "Of real weights " + _EDGE_ORDER[0].lower() + _EDGE_ORDER[1:],
    "minimum_spanning_edges": _SPANNING + " Of an image the data of an edge are its weight.",
    "maximum_spanning_edges": _SPANNING + " Of an image the data of an edge are its weight.",
    "minimum_spanning_tree": _SPANNING + " Not of an image.",
    "maximum_spanning_tree": _SPANNING + " Not of an image.",
    # Link prediction.
    "jaccard_coefficient": "",
    "adamic_adar_index": "",
    "resource_allocation_index": "",
    "preferential_attachment": "",
    # Matrices.
    "adjacency_matrix": "",
    "to_scipy_sparse_array": "",
    "to_numpy_array": "Parallel edges are added up.",
    "laplacian_matrix": "",
    "normalized_laplacian_matrix": "",
}

# The oldest NetworkX whose results the backend has, in their order: an older one lists paths as it finds them.
OLDEST = (3, 6)

# The version of NetworkX from which on it has a function that means this.
SINCE = {"centroid": (3, 7)}


def networkx_version() -> tuple[int, ...]:
    """The version of NetworkX that is installed, of a release or of one that is being made."""
    # NetworkX is needed only here.
    import networkx  # type: ignore[import-untyped]

    return tuple(int(part) for part in re.findall(r"\d+", networkx.__version__)[:2])


def get_info() -> dict[str, Any]:
    """The backend as NetworkX lists it."""
    from _outcore_networkx._config import OutcoreConfig

    version = networkx_version()
    functions = {name: text for name, text in FUNCTIONS.items() if version >= SINCE.get(name, version)}

    return {
        "backend_name": "outcore",
        "project": "outcore",
        "package": "outcore",
        "short_summary": "Graphs larger than memory, from an SSD; `outcore.Graph` objects are graphs of this backend.",
        "default_config": OutcoreConfig(memory=None, threads=None, min_edges=10_000),
        "functions": {name: {"additional_docs": text} if text else {} for name, text in functions.items()},
    }
