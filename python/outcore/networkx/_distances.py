"""Distances and shortest paths."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from outcore.networkx._components import is_one
from outcore.networkx._graph import Converted, adapt, implements, named, part_of, without
from outcore.networkx._searches import (
    NODE,
    SOURCE,
    TARGET,
    distances_from_all,
    distances_from_nearest,
    distances_of,
    reached_within,
    search,
)


def _level(cutoff: float | None) -> int | None:
    """The last level that a search of numbers of edges reaches: NetworkX begins another one while it is below the
    cutoff."""
    if cutoff is None or cutoff == math.inf:
        return None
    return math.ceil(cutoff) if cutoff > 0 else 0


def _from_zero(given: dict[str, Any]) -> str | None:
    cutoff = given["cutoff"]
    return None if cutoff is None or cutoff >= 0 else "a cutoff= below 0 is not supported"


def _lengths(graph: Converted, distances: np.ndarray, cutoff: float | None = None) -> dict[Any, Any]:
    """Distances by nodes, near ones first."""
    places = reached_within(distances, cutoff)
    values = np.ma.getdata(distances)[places].tolist()
    return {graph.nodes[place]: value for place, value in zip(places.tolist(), values)}


def _paths(graph: Converted, found: Any, cutoff: float | None = None) -> dict[Any, list[Any]]:
    """Paths by nodes, short ones first."""
    parents = found["parent"].tolist()
    nodes, paths = graph.nodes, dict[Any, list[Any]]()
    if graph.has_own_ids:
        parents = [None if parent is None else graph.places[parent] for parent in parents]
    for place in reached_within(distances_of(found), cutoff).tolist():
        parent = parents[place]
        # A parent may come later only where an edge of weight 0 leads from it.
        chain = [place]
        while parent != chain[-1] and nodes[chain[-1]] not in paths:
            chain.append(parent)
            parent = parents[parent]
        path = paths.get(nodes[chain[-1]])
        if path is None:
            path = paths[nodes[chain[-1]]] = [nodes[chain[-1]]]
        for step in reversed(chain[:-1]):
            path = paths[nodes[step]] = [*path, nodes[step]]
    return paths


def _path(graph: Converted, source: Any, target: Any, weight: Any, texts: tuple[str, str]) -> tuple[Any, list[Any]]:
    """The distance and a shortest path between two nodes; `None` where there is no path."""
    start, end = graph.id(source, texts[0]), graph.id(target, texts[1])
    if start == end:
        return 0, [source]
    if graph.weight(weight) is None:
        found: Any = graph.run("bfs", start, target=end)
        ids = found.path
        path = ids if ids is None or graph.has_own_ids else [graph.nodes[place] for place in ids]
        return (None, []) if path is None else (len(path) - 1, path)
    found = search(graph, source, weight)
    parents = found["parent"].tolist()
    step, path = graph.places[target], [target]
    distance = distances_of(found)[step]
    if np.ma.is_masked(distance) or parents[step] is None:
        return None, []
    while path[-1] != source:
        parent = parents[step]
        step = graph.places[parent] if graph.has_own_ids else parent
        path.append(graph.nodes[step])
    return distance.item(), path[::-1]


@implements(quick=True)
def single_source_shortest_path_length(G: Any, source: Any, cutoff: Any = None) -> dict[Any, Any]:
    G = adapt(G)
    return _lengths(G, distances_of(search(G, source, None)), _level(cutoff))


@implements(quick=True)
def single_target_shortest_path_length(G: Any, target: Any, cutoff: Any = None) -> dict[Any, Any]:
    G = adapt(G).reversed
    return _lengths(G, distances_of(search(G, target, None, TARGET)), _level(cutoff))


@implements()
def all_pairs_shortest_path_length(G: Any, cutoff: Any = None) -> Iterator[tuple[Any, dict[Any, Any]]]:
    G = adapt(G)
    for node, distances in distances_from_all(G, None):
        yield node, _lengths(G, distances, _level(cutoff))


@implements(quick=True)
def single_source_shortest_path(G: Any, source: Any, cutoff: Any = None) -> dict[Any, list[Any]]:
    G = adapt(G)
    return _paths(G, search(G, source, None, "Source {} not in G"), _level(cutoff))


@implements(quick=True)
def single_target_shortest_path(G: Any, target: Any, cutoff: Any = None) -> dict[Any, list[Any]]:
    G = adapt(G).reversed
    found = _paths(G, search(G, target, None, "Target {} not in G"), _level(cutoff))
    return {node: path[::-1] for node, path in found.items()}


@implements()
def all_pairs_shortest_path(G: Any, cutoff: Any = None) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    G = adapt(G)
    for node in G.nodes:
        yield node, single_source_shortest_path(G, node, cutoff)


@implements(quick=True)
def bidirectional_shortest_path(G: Any, source: Any, target: Any) -> list[Any]:
    distance, path = _path(adapt(G), source, target, None, (SOURCE, TARGET))
    if distance is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return path


@implements(quick=True)
def has_path(G: Any, source: Any, target: Any) -> bool:
    return _path(adapt(G), source, target, None, (SOURCE, TARGET))[0] is not None


def _check_method(method: str) -> None:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")


@implements(named("weight"))
def shortest_path(G: Any, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra") -> Any:
    _check_method(method)
    G = adapt(G)
    if source is None and target is None:
        return ((node, _paths(G, search(G, node, weight))) for node in G.nodes)
    if source is None:
        G = G.reversed
        return {node: path[::-1] for node, path in _paths(G, search(G, target, weight)).items()}
    if target is None:
        return _paths(G, search(G, source, weight))
    if weight is not None and method == "bellman-ford":
        return bellman_ford_path(G, source, target, weight)
    distance, path = _path(G, source, target, weight, (SOURCE, TARGET))
    if distance is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return path


@implements(named("weight"))
def shortest_path_length(
    G: Any, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    _check_method(method)
    G = adapt(G)
    if source is None and target is None:
        return ((node, _lengths(G, distances)) for node, distances in distances_from_all(G, weight))
    if source is None:
        return _lengths(G.reversed, distances_of(search(G.reversed, target, weight)))
    if target is None:
        return _lengths(G, distances_of(search(G, source, weight)))
    if weight is not None:
        return _length_to(G, source, target, weight, _FAR if method == "dijkstra" else _FAR.lower())
    distance, _ = _path(G, source, target, None, (SOURCE, TARGET))
    if distance is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return distance


def _reach_all(graph: Converted) -> bool:
    return is_one(graph, strong=graph.is_directed())


@implements(named("weight"))
def average_shortest_path_length(G: Any, weight: Any = None, method: str | None = None) -> float:
    known = ("unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy", None)
    if method not in known:
        raise ValueError(f"method not supported: {method}")
    G = adapt(G)
    if len(G) == 0:
        text = "the null graph has no paths, thus there is no average shortest path length"
        raise nx.NetworkXPointlessConcept(text)
    if len(G) == 1:
        return 0
    if not _reach_all(G):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.is_directed() else ''}connected.")
    total = sum(
        distances.sum().item() for _, distances in distances_from_all(G, None if method == "unweighted" else weight)
    )
    average: float = total / (len(G) * (len(G) - 1))
    return average


_FAR = "Node {} not reachable from {}"


@implements(named("weight"), _from_zero)
def single_source_dijkstra(
    G: Any, source: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    G = adapt(G)
    found = search(G, source, weight, NODE)
    if target is None:
        return _lengths(G, distances_of(found), cutoff), _paths(G, found, cutoff)
    if target == source:
        return 0, [target]
    lengths = _lengths(G, distances_of(found), cutoff)
    if target not in lengths:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return lengths[target], _paths(G, found, cutoff)[target]


@implements(named("weight"), _from_zero)
def single_source_dijkstra_path(
    G: Any, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, list[Any]]:
    G = adapt(G)
    return _paths(G, search(G, source, weight, NODE), cutoff)


@implements(named("weight"), _from_zero)
def single_source_dijkstra_path_length(
    G: Any, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, Any]:
    G = adapt(G)
    return _lengths(G, distances_of(search(G, source, weight, NODE)), cutoff)


@implements(named("weight"), _from_zero)
def multi_source_dijkstra_path_length(
    G: Any, sources: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, Any]:
    if not sources:
        raise ValueError("sources must not be empty")
    G = adapt(G)
    return _lengths(G, distances_from_nearest(G, sources, weight), cutoff)


def _length_to(G: Any, source: Any, target: Any, weight: Any, text: str) -> Any:
    G = adapt(G)
    lengths = distances_of(search(G, source, weight, NODE))
    if source == target:
        return 0
    # A target that is no node is far from all, too.
    distance = lengths[G.places[target]] if target in G.places else np.ma.masked
    if distance is np.ma.masked:
        raise nx.NetworkXNoPath(text.format(target, source))
    return distance.item()


@implements(named("weight"))
def dijkstra_path(G: Any, source: Any, target: Any, weight: Any = "weight") -> list[Any]:
    return single_source_dijkstra(G, source, target, weight=weight)[1]  # type: ignore[no-any-return]


@implements(named("weight"))
def dijkstra_path_length(G: Any, source: Any, target: Any, weight: Any = "weight") -> Any:
    return _length_to(G, source, target, weight, _FAR)


@implements(named("weight"))
def bidirectional_dijkstra(G: Any, source: Any, target: Any, weight: Any = "weight") -> tuple[Any, list[Any]]:
    distance, path = _path(adapt(G), source, target, weight, (SOURCE, TARGET))
    if distance is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return distance, path


@implements(named("weight"), _from_zero)
def all_pairs_dijkstra(G: Any, cutoff: Any = None, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    G = adapt(G)
    for node in G.nodes:
        yield node, single_source_dijkstra(G, node, cutoff=cutoff, weight=weight)


@implements(named("weight"), _from_zero)
def all_pairs_dijkstra_path(G: Any, cutoff: Any = None, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    G = adapt(G)
    for node in G.nodes:
        yield node, single_source_dijkstra_path(G, node, cutoff, weight)


@implements(named("weight"), _from_zero)
def all_pairs_dijkstra_path_length(G: Any, cutoff: Any = None, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    G = adapt(G)
    for node, distances in distances_from_all(G, weight):
        yield node, _lengths(G, distances, cutoff)


@implements(named("weight"))
def single_source_bellman_ford(G: Any, source: Any, target: Any = None, weight: Any = "weight") -> tuple[Any, Any]:
    G = adapt(G)
    found = search(G, source, weight, "Node {} is not found in the graph")
    if target is None:
        return _lengths(G, distances_of(found)), _paths(G, found)
    if target == source:
        return 0, [source]
    lengths = _lengths(G, distances_of(found))
    if target not in lengths:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return lengths[target], _paths(G, found)[target]


@implements(named("weight"))
def single_source_bellman_ford_path(G: Any, source: Any, weight: Any = "weight") -> dict[Any, list[Any]]:
    return single_source_bellman_ford(G, source, weight=weight)[1]  # type: ignore[no-any-return]


@implements(named("weight"))
def single_source_bellman_ford_path_length(G: Any, source: Any, weight: Any = "weight") -> dict[Any, Any]:
    return single_source_dijkstra_path_length(G, source, weight=weight)  # type: ignore[no-any-return]


@implements(named("weight"))
def bellman_ford_path(G: Any, source: Any, target: Any, weight: Any = "weight") -> list[Any]:
    return single_source_bellman_ford(G, source, target, weight)[1]  # type: ignore[no-any-return]


@implements(named("weight"))
def bellman_ford_path_length(G: Any, source: Any, target: Any, weight: Any = "weight") -> Any:
    return _length_to(G, source, target, weight, _FAR.lower())


@implements(named("weight"))
def all_pairs_bellman_ford_path(G: Any, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    yield from all_pairs_dijkstra_path(G, weight=weight)


@implements(named("weight"))
def all_pairs_bellman_ford_path_length(G: Any, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    yield from all_pairs_dijkstra_path_length(G, weight=weight)


@implements(named("weight"))
def floyd_warshall(G: Any, weight: Any = "weight") -> dict[Any, dict[Any, Any]]:
    G = adapt(G)
    rows = {}
    for node, distances in distances_from_all(G, weight):
        row = dict.fromkeys(G.nodes, math.inf)
        rows[node] = row | _lengths(G, distances)
    return rows


def _eccentricities(graph: Converted, nodes: Iterable[Any] | None, weight: Any) -> dict[Any, Any]:
    if len(graph) == 0:
        # NetworkX 3.6 has no eccentricities of it, later versions an error.
        raise NotImplementedError("a graph without nodes is not supported")
    if nodes is None:
        every = distances_from_all(graph, weight)
    else:
        every = ((node, distances_of(search(graph, node, weight))) for node in nodes)
    found = {}
    for node, distances in every:
        if len(reached_within(distances, None)) < len(graph):
            kind = "digraph is not strongly connected" if graph.is_directed() else "graph is not connected"
            raise nx.NetworkXError(f"Found infinite path length because the {kind}")
        found[node] = distances.max().item()
    return found


@implements(without("sp"), named("weight"))
def eccentricity(G: Any, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    G = adapt(G)
    if v is None:
        return _eccentricities(G, None, weight)
    if v in G:
        return _eccentricities(G, [v], weight)[v]
    return _eccentricities(G, G.bunch(v), weight)


@implements(named("weight"))
def diameter(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return max((_eccentricities(adapt(G), None, weight) if e is None else e).values())


@implements(named("weight"))
def radius(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return min((_eccentricities(adapt(G), None, weight) if e is None else e).values())


@implements(named("weight"))
def center(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    G = adapt(G)
    if e is None and len(G) == 0 and not G.is_directed() and weight is None:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    found = _eccentricities(G, None, weight) if e is None else e
    least = min(found.values())
    return [node for node, value in found.items() if value == least]


@implements(named("weight"))
def periphery(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    found = _eccentricities(adapt(G), None, weight) if e is None else e
    greatest = max(found.values())
    return [node for node, value in found.items() if value == greatest]


@implements(without("attr", "sp"), named("weight"))
def centroid(G: Any, weight: Any = None, attr: Any = None, sp: Any = None) -> list[Any]:
    G, sums = adapt(G), []
    if len(G) == 0:
        raise NotImplementedError("a graph without nodes is not supported")
    for _, distances in distances_from_all(G, weight):
        places = reached_within(distances, None)
        if len(places) < len(G):
            raise nx.NetworkXNoPath("the graph is disconnected, so every node is infinitely far from another")
        # Near ones first, as NetworkX adds them up, so that sums of real numbers are equal where NetworkX's are.
        sums.append(sum(np.ma.getdata(distances)[places].tolist()))
    least = min(sums)
    return [node for node, total in zip(G.nodes, sums) if total == least]


@implements(without("attr", "sp"), named("weight"))
def barycenter(G: Any, weight: Any = None, attr: Any = None, sp: Any = None) -> list[Any]:
    return centroid(G, weight)  # type: ignore[no-any-return]


def inverse_sum(distances: np.ndarray) -> float:
    """The sum of the inverses of the distances that are not 0."""
    values = np.ma.getdata(distances)[reached_within(distances, None)]
    return math.fsum((1 / values[values != 0]).tolist())


@implements(without("sp"), named("weight"))
def harmonic_diameter(G: Any, sp: Any = None, *, weight: Any = None) -> float:
    G = adapt(G)
    total = math.fsum(inverse_sum(distances) for _, distances in distances_from_all(G, weight))
    if total != 0:
        return len(G) * (len(G) - 1) / total
    return math.inf if len(G) > 1 else math.nan


@implements()
def global_efficiency(G: Any) -> float:
    G = adapt(G)
    pairs = len(G) * (len(G) - 1)
    return math.fsum(inverse_sum(distances) for _, distances in distances_from_all(G, None)) / pairs if pairs else 0


@implements(named("weight"))
def wiener_index(G: Any, weight: Any = None) -> float:
    G = adapt(G)
    if not _reach_all(G):
        return math.inf
    total: float = sum(distances.sum().item() for _, distances in distances_from_all(G, weight))
    return total if G.is_directed() else total / 2


def _reached(graph: Converted, source: Any) -> set[Any]:
    if source not in graph:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return set(_lengths(graph, distances_of(search(graph, source, None)))) - {source}


@implements(quick=True)
def descendants(G: Any, source: Any) -> set[Any]:
    return _reached(adapt(G), source)


@implements(quick=True)
def ancestors(G: Any, source: Any) -> set[Any]:
    return _reached(adapt(G).reversed, source)


@implements(quick=True)
def descendants_at_distance(G: Any, source: Any, distance: Any) -> set[Any]:
    G = adapt(G)
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    lengths = _lengths(G, distances_of(search(G, source, None)))
    return {node for node, length in lengths.items() if length == distance}


@implements(quick=True)
def bfs_layers(G: Any, sources: Any) -> Iterator[list[Any]]:
    G = adapt(G)
    given = [sources] if sources in G else list(sources)
    missing = next((source for source in given if source not in G), None)
    if missing is not None:
        raise nx.NetworkXError(f"The node {missing} is not in the graph.")
    lengths = _lengths(G, distances_from_nearest(G, given, None)) if given else {}
    layers: dict[Any, list[Any]] = {}
    for node, level in lengths.items():
        layers.setdefault(level, []).append(node)
    yield from layers.values()


def _one_way(given: dict[str, Any]) -> str | None:
    """Searches along the direction of edges."""
    is_both = given["undirected"] and given["G"].is_directed()
    return "undirected=True of a graph whose edges have a direction is not supported" if is_both else None


@implements(_one_way, named("distance"))
def ego_graph(
    G: Any, n: Any, radius: Any = 1, center: bool = True, undirected: bool = False, distance: Any = None
) -> Any:
    G = adapt(G)
    is_near = np.zeros(len(G), dtype=bool)
    distances = distances_of(search(G, n, distance))
    is_near[reached_within(distances, _level(radius) if G.weight(distance) is None else radius)] = True
    is_near[G.places[n]] = center
    return part_of(G, is_near)
