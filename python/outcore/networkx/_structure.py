"""Triangles, cores, degrees, and what a graph as a whole is like."""

from collections.abc import Callable, Iterable, Iterator
from itertools import compress
from math import log
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from outcore.networkx._graph import Converted, adapt
from outcore.networkx._registry import implements, named, simple, undirected, without
from outcore.networkx._searches import neighbours


def _chosen(graph: Converted, values: dict[Any, Any], nodes: Any) -> Any:
    """The values of all nodes, of one, or of some."""
    if nodes is None:
        return values
    if nodes in graph:
        return values[nodes]
    return {node: values[node] for node in graph.bunch(nodes)}


@implements(simple, local=("nodes",))
def triangles(G: Any, nodes: Any = None) -> Any:
    G = adapt(G)
    return _chosen(G, G.by_node(G.run("triangles")["triangles"]), nodes)


def _clustering(graph: Converted) -> dict[Any, Any]:
    values = graph.by_node(graph.run("clustering")["clustering"])
    # NetworkX has a whole 0 where there are no triangles.
    return {node: value or 0 for node, value in values.items()}


@implements(without("weight"), simple, local=("nodes",))
def clustering(G: Any, nodes: Any = None, weight: Any = None) -> Any:
    G = adapt(G)
    return _chosen(G, _clustering(G), nodes)


@implements(without("weight"), simple, local=("nodes",))
def average_clustering(G: Any, nodes: Any = None, weight: Any = None, count_zeros: bool = True) -> Any:
    G = adapt(G)
    found = _clustering(G)
    # A node counts once, however often it was named.
    values = [found[node] for node in dict.fromkeys(G.several(nodes))]
    counted = values if count_zeros else [value for value in values if value > 0]
    return sum(counted) / len(counted)


# About the number of paths of two edges that are held at once.
_PATHS = 2**18


def _square_clustering(degrees: np.ndarray, around: Any, adjacency: Any, first: int) -> list[Any]:
    """The values of the vertices from the first one on, of their rows of the adjacency matrix, and of all degrees."""
    # For each vertex and the end of a path of two edges, the number of such paths between them.
    paths = around @ adjacency
    vertices = np.repeat(np.arange(paths.shape[0]), np.diff(paths.indptr))
    counts = np.where(paths.indices == vertices + first, 0, paths.data)
    squares = np.zeros(paths.shape[0], np.int64)
    np.add.at(squares, vertices, counts * (counts - 1))
    squares //= 2
    own = degrees[first : first + paths.shape[0]]
    between = (own - 1) * (around @ degrees) - own * (own - 1) - paths.multiply(around).sum(axis=1)
    possible = between - squares
    return [one / other if other > 0 else 0 for one, other in zip(squares.tolist(), possible.tolist())]


@implements(undirected, local=("nodes",))
def square_clustering(G: Any, nodes: Any = None) -> Any:
    import scipy.sparse  # type: ignore[import-untyped]

    G = adapt(G)
    source, target, _ = G.edge_arrays(None)
    # Neither loops nor parallel edges count.
    source, target = source[source != target], target[source != target]
    if len(source) == 0:
        return _chosen(G, dict.fromkeys(G.nodes, 0), nodes)
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    adjacency = scipy.sparse.coo_array((np.ones(len(ends[0]), np.int64), ends), shape=(len(G), len(G))).tocsr()
    adjacency.data[:] = 1
    degrees = np.diff(adjacency.indptr).astype(np.int64)
    sizes = np.cumsum(adjacency @ degrees)
    values: list[Any] = []
    while len(values) < len(G):
        first = len(values)
        before = sizes[first - 1] if first else 0
        end = max(first + 1, int(np.searchsorted(sizes, before + _PATHS, side="right")))
        values += _square_clustering(degrees, adjacency[first:end], adjacency, first)
    return _chosen(G, dict(zip(G.nodes, values)), nodes)


@implements(undirected, simple)
def transitivity(G: Any) -> Any:
    found: Any = adapt(G).run("clustering")
    return found.transitivity or 0


def _cores(graph: Converted, known: dict[Any, int] | None = None) -> np.ndarray:
    """The core numbers of the vertices, or those that are known of the nodes."""
    if known is not None:
        return np.array([known[node] for node in graph.nodes])
    if graph.loops.any():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return graph.run("core_number")["core"]


@implements()
def core_number(G: Any) -> dict[Any, int]:
    graph = adapt(G)
    return graph.by_node(_cores(graph))


@implements()
def k_core(G: Any, k: Any = None, core_number: dict[Any, int] | None = None) -> Any:
    cores = _cores(G := adapt(G), core_number)
    return G.part(cores >= (cores.max() if k is None else k))


@implements()
def k_shell(G: Any, k: Any = None, core_number: dict[Any, int] | None = None) -> Any:
    cores = _cores(G := adapt(G), core_number)
    return G.part(cores == (cores.max() if k is None else k))


@implements()
def k_crust(G: Any, k: Any = None, core_number: dict[Any, int] | None = None) -> Any:
    cores = _cores(G := adapt(G), core_number)
    return G.part(cores <= (cores.max() - 1 if k is None else k))


@implements()
def k_corona(G: Any, k: Any, core_number: dict[Any, int] | None = None) -> Any:
    cores = _cores(G := adapt(G), core_number)
    return G.part((cores == k) & (G.times((cores >= k).astype(np.float64)) == k))


@implements(simple, quick=True)
def overall_reciprocity(G: Any) -> float:
    G = adapt(G)
    if not G.is_directed():
        raise NotImplementedError("undirected graphs are not supported")
    if G.number_of_edges() == 0:
        raise nx.NetworkXError("Not defined for empty graphs")
    found: Any = G.run("reciprocity")
    return float(found.overall)


@implements(simple, quick=True, local=("nodes",))
def reciprocity(G: Any, nodes: Any = None) -> Any:
    G = adapt(G)
    if not G.is_directed():
        raise NotImplementedError("undirected graphs are not supported")
    if nodes is None:
        return overall_reciprocity(G)
    values = [None if value != value else value for value in G.run("reciprocity")["reciprocity"].tolist()]
    found = _chosen(G, dict(zip(G.nodes, values)), nodes)
    if found is None:
        raise nx.NetworkXError("Not defined for isolated nodes.")
    return found


@implements(without("weight"), local=("nodes",))
def average_neighbor_degree(
    G: Any, source: str = "out", target: str = "out", nodes: Any = None, weight: Any = None
) -> dict[Any, float]:
    G = adapt(G)
    if G.is_multigraph():
        raise NotImplementedError("multigraphs are not supported")
    if not G.is_directed() and (source, target) != ("out", "out"):
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    kinds = {"in": "in_degrees", "out": "out_degrees", "in+out": "degrees"}
    for name, kind in (("source", source), ("target", target)):
        if kind not in kinds:
            raise nx.NetworkXError(f"{name} argument {kind} must be 'in', 'out' or 'in+out'")
    counted, own = getattr(G, kinds[target]).astype(np.float64), getattr(G, kinds[source])
    sums = np.zeros(len(G))
    if "out" in source:
        sums += G.times(counted)
    if "in" in source:
        sums += G.times(counted, transposed=True)
    values = G.by_node(np.divide(sums, own, out=np.zeros(len(G)), where=own != 0))
    return values if nodes is None else {node: values[node] for node in G.several(nodes)}


def _degree_correlation(G: Any, x: str, y: str) -> float:
    """Pearson's correlation of the degrees at both ends of edges: Newman, Mixing patterns in networks. 2003."""
    G = adapt(G)
    kinds = {"in": G.in_degrees, "out": G.out_degrees} if G.is_directed() else dict.fromkeys(("in", "out"), G.degrees)
    source, target = kinds[x].astype(np.float64), kinds[y].astype(np.float64)
    ones = np.ones(len(G))
    at_source, at_target = G.times(ones), G.times(ones, transposed=True)
    edges = at_source.sum()
    if edges < 2:
        raise NotImplementedError("fewer than two edges are not supported")
    mean_source, mean_target = (at_source * source).sum() / edges, (at_target * target).sum() / edges
    source, target = source - mean_source, target - mean_target
    # Whether all degrees are the same is decided without rounding, as far as these are whole numbers.
    variances = (at_source * source**2).sum() * (at_target * target**2).sum()
    if variances <= 0:
        return float("nan")
    return float((source * G.times(target)).sum() / np.sqrt(variances))


@implements(without("weight", "nodes"), simple)
def degree_pearson_correlation_coefficient(
    G: Any, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    found = _degree_correlation(G, x, y)
    if np.isnan(found):
        import scipy.stats  # type: ignore[import-untyped]

        # Warns as NetworkX does, which asks SciPy.
        return float(scipy.stats.pearsonr([1.0, 1.0], [1.0, 1.0])[0])
    return found


@implements(without("weight", "nodes"), simple)
def degree_assortativity_coefficient(
    G: Any, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    return _degree_correlation(G, x, y)


@implements(quick=True)
def isolates(G: Any) -> Iterator[Any]:
    G = adapt(G)
    return (G.nodes[place] for place in np.flatnonzero(G.degrees == 0).tolist())


@implements(local=True)
def is_isolate(G: Any, n: Any) -> Any:
    G = adapt(G)
    if n in G:
        return _degree(G, n) == 0
    # As NetworkX does, which takes what is no node for several ones: an error if it is not iterable.
    G.bunch(n)
    return False


@implements(quick=True)
def number_of_isolates(G: Any) -> int:
    return int((adapt(G).degrees == 0).sum())


@implements(quick=True)
def number_of_selfloops(G: Any) -> int:
    return int(adapt(G).loops.sum())


@implements(local=True)
def is_empty(G: Any) -> bool:
    return adapt(G).number_of_edges() == 0


@implements(local=True)
def is_weighted(G: Any, edge: Any = None, weight: Any = "weight") -> bool:
    G = adapt(G)
    # NetworkX answers for its own graphs.
    image: Any = G.graph
    if edge is not None:
        if not image.has_edge(*edge):
            raise nx.NetworkXError(f"Edge {edge!r} does not exist.")
        return weight in image.edges[edge]
    info = image.info()
    if G.number_of_edges() == 0 or weight == info["weights"]:
        return bool(G.number_of_edges() > 0)
    is_attribute = weight in {attribute for attribute, _ in info["attributes"]}
    return is_attribute and all(value is not None for *_, value in image.edges(data=weight))


@implements(local=True)
def is_regular(G: Any) -> bool:
    G = adapt(G)
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    return all(bool((degrees == degrees[0]).all()) for degrees in (G.in_degrees, G.out_degrees))


@implements(local=True)
def is_k_regular(G: Any, k: int) -> bool:
    return bool((adapt(G).degrees == k).all())


def _predictions(G: Any, ebunch: Any, score: Callable[[set[Any], set[Any]], float]) -> Iterator[tuple[Any, ...]]:
    """Pairs of nodes with a score of the neighbours that they have in common, and of all that they have; of all pairs
    without an edge by default."""
    G, known = adapt(G), {}

    def around(node: Any) -> list[Any]:
        if node not in known:
            known[node] = neighbours(G, node)
        return known[node]

    pairs: Iterable[tuple[Any, Any]] = ebunch
    if ebunch is None:
        pairs = ((u, v) for u, v in _pairs(G.nodes) if v not in set(around(u)))
    else:
        pairs = list(ebunch)
        for node in (node for pair in pairs for node in pair):
            if node not in G:
                raise nx.NodeNotFound(f"Node {node} not in G.")

    def scored(u: Any, v: Any) -> float:
        one, other = set(around(u)), set(around(v))
        # A node with an edge to itself is no neighbour that it has in common with another one.
        return score((one & other) - {u, v}, one | other)

    return ((u, v, scored(u, v)) for u, v in pairs)


def _pairs(nodes: list[Any]) -> Iterator[tuple[Any, Any]]:
    for place, node in enumerate(nodes):
        for other in nodes[place + 1 :]:
            yield node, other


@implements(local=True)
def jaccard_coefficient(G: Any, ebunch: Any = None) -> Iterator[tuple[Any, ...]]:
    return _predictions(G, ebunch, lambda common, every: len(common) / len(every) if every else 0)


@implements(local=True)
def adamic_adar_index(G: Any, ebunch: Any = None) -> Iterator[tuple[Any, ...]]:
    G = adapt(G)
    return _predictions(G, ebunch, lambda common, _: sum(1 / log(_degree(G, node)) for node in common))


@implements(local=True)
def resource_allocation_index(G: Any, ebunch: Any = None) -> Iterator[tuple[Any, ...]]:
    G = adapt(G)
    return _predictions(G, ebunch, lambda common, _: sum(1 / _degree(G, node) for node in common))


@implements(local=True)
def preferential_attachment(G: Any, ebunch: Any = None) -> Iterator[tuple[Any, ...]]:
    G = adapt(G)
    pairs = _predictions(G, ebunch, lambda common, _: 0)
    return ((u, v, _degree(G, u) * _degree(G, v)) for u, v, _ in pairs)


def _degree(graph: Converted, node: Any) -> int:
    degree: int = graph.graph.degree[graph.id(node)]
    return degree


@implements(named("weight"), quick=True, local=("nodelist",))
def to_scipy_sparse_array(
    G: Any, nodelist: Any = None, dtype: Any = None, weight: Any = "weight", format: str = "csr"
) -> Any:
    import scipy.sparse

    G = adapt(G)
    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    source, target, weights = G.edge_arrays(weight)
    rows = np.arange(len(G))
    if nodelist is not None:
        nodelist = list(nodelist)
        if len(nodelist) == 0:
            raise nx.NetworkXError("nodelist has no nodes")
        unknown = set(nodelist) - set(G.places)
        if unknown:
            raise nx.NetworkXError(f"Nodes {unknown} in nodelist is not in G")
        if len(set(nodelist)) < len(nodelist):
            raise nx.NetworkXError("nodelist contains duplicates.")
        rows = np.full(len(G), -1)
        rows[[G.places[node] for node in nodelist]] = np.arange(len(nodelist))
        is_within = (rows[source] >= 0) & (rows[target] >= 0)
        source, target, weights = source[is_within], target[is_within], list(compress(weights, is_within.tolist()))
    source, target = rows[source], rows[target]
    # NumPy's type of no numbers, and of those that Python has.
    values = np.array(weights)
    has_flags = not {bool, np.bool_}.isdisjoint(map(type, weights))
    if has_flags or values.dtype.kind not in "if" or not np.isfinite(values).all():
        raise NotImplementedError("weights that are not all finite numbers of 64 bits are not supported")
    if dtype is not None:
        values = np.array(weights, dtype)
    if not G.is_directed():
        # An edge without direction is two entries, one from a vertex to itself only one.
        two = source != target
        source, target = np.concatenate([source, target[two]]), np.concatenate([target, source[two]])
        values = np.concatenate([values, values[two]])
    size = len(G) if nodelist is None else len(nodelist)
    matrix = scipy.sparse.coo_array((values, (source, target)), shape=(size, size)).tocsr()
    try:
        return matrix.asformat(format)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse matrix format: {format}") from error


@implements(named("weight"), quick=True, local=("nodelist",))
def adjacency_matrix(
    G: Any, nodelist: Any = None, dtype: Any = None, weight: Any = "weight", *, format: str = "csr"
) -> Any:
    return to_scipy_sparse_array(G, nodelist=nodelist, dtype=dtype, weight=weight, format=format)


@implements(named("weight"), quick=True, local=("nodelist",))
def to_numpy_array(
    G: Any,
    nodelist: Any = None,
    dtype: Any = None,
    order: Any = None,
    multigraph_weight: Any = sum,
    weight: Any = "weight",
    nonedge: float = 0.0,
) -> np.ndarray:
    if multigraph_weight is not sum or nonedge != 0.0 or (nodelist is not None and len(nodelist) == 0) or len(G) == 0:
        raise NotImplementedError("another value than 0 for no edge, or another than the sum, is not supported")
    if nodelist is not None and G.is_multigraph():
        raise NotImplementedError("rows of some nodes of a multigraph are not supported")
    if dtype is not None and np.dtype(dtype).names is not None:
        raise NotImplementedError("a dtype with fields, one for each attribute, is not supported")
    dense = to_scipy_sparse_array(G, nodelist=nodelist, weight=weight).toarray(order=order)
    array: np.ndarray = dense.astype(np.float64 if dtype is None else dtype)
    return array


@implements(named("weight"), quick=True, local=("nodelist",))
def laplacian_matrix(G: Any, nodelist: Any = None, weight: Any = "weight") -> Any:
    import scipy.sparse

    matrix = to_scipy_sparse_array(G, nodelist=nodelist, weight=weight)
    return scipy.sparse.dia_array((matrix.sum(axis=1), 0), shape=matrix.shape).tocsr() - matrix


@implements(named("weight"), quick=True, local=("nodelist",))
def normalized_laplacian_matrix(G: Any, nodelist: Any = None, weight: Any = "weight") -> Any:
    import scipy.sparse

    matrix = to_scipy_sparse_array(G, nodelist=nodelist, weight=weight)
    sums = matrix.sum(axis=1)
    laplacian = scipy.sparse.dia_array((sums, 0), shape=matrix.shape).tocsr() - matrix
    with np.errstate(divide="ignore"):
        roots = 1.0 / np.sqrt(sums)
    roots[np.isinf(roots)] = 0
    scale = scipy.sparse.dia_array((roots, 0), shape=matrix.shape).tocsr()
    return scale @ (laplacian @ scale)


@implements(local=True)
def get_node_attributes(G: Any, name: Any, default: Any = None) -> dict[Any, Any]:
    G = adapt(G)
    own = {attribute for attribute, _ in G.graph.info()["vertex_attributes"]}
    pairs = G.graph.nodes(data=name, default=default) if name in own else ((node, default) for node in G.graph.nodes)
    return {node: value for node, value in pairs if value is not None}


@implements(simple, local=True)
def get_edge_attributes(G: Any, name: Any, default: Any = None) -> dict[tuple[Any, Any], Any]:
    G = adapt(G)
    info = G.graph.info()
    own = {attribute for attribute, _ in info["attributes"]} | {info["weights"]}
    edges = G.graph.edges(data=name, default=default) if name in own else ((*edge, default) for edge in G.graph.edges)
    return {(source, target): value for source, target, value in edges if value is not None}
