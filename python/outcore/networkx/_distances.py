"""Distances and shortest paths."""

import math
from collections.abc import Iterable, Iterator, Sized
from heapq import heappop, heappush
from itertools import count
from typing import Any, Literal

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from outcore._graphs.adjacency import within
from outcore._outcore import Graph
from outcore.networkx._components import is_one
from outcore.networkx._graph import Converted, adapt
from outcore.networkx._registry import VERSION, Call, implements, named, without
from outcore.networkx._searches import (
    NODE,
    SOURCE,
    TARGET,
    distances_from_all,
    distances_of,
    lengths,
    number,
    ordered_from_nearest,
    ordered_search,
    paths,
    reached_within,
    search,
    sum_of,
)


def _level(cutoff: float | None) -> int | None:
    """The last level that a search of numbers of edges reaches: NetworkX begins another one while it is below the
    cutoff."""
    if cutoff is None or cutoff == math.inf:
        return None
    return math.ceil(cutoff) if cutoff > 0 else 0


def _from_zero(given: Call) -> str | None:
    cutoff = given["cutoff"]
    return None if cutoff is None or cutoff >= 0 else "a cutoff= below 0 is not supported"


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
    return number(graph, distance.item(), weight), path[::-1]


@implements(local=True)
def single_source_shortest_path_length(G: Any, source: Any, cutoff: Any = None) -> dict[Any, Any]:
    G = adapt(G)
    return lengths(G, ordered_search(G, source, None, SOURCE, _level(cutoff)))


@implements(local=True)
def single_target_shortest_path_length(G: Any, target: Any, cutoff: Any = None) -> dict[Any, Any]:
    G = adapt(G).reversed
    return lengths(G, ordered_search(G, target, None, TARGET, _level(cutoff)))


@implements(long=True, local=("cutoff",))
def all_pairs_shortest_path_length(G: Any, cutoff: Any = None) -> Iterator[tuple[Any, dict[Any, Any]]]:
    G = adapt(G)
    for node in G.nodes:
        yield node, lengths(G, ordered_search(G, node, None, SOURCE, _level(cutoff)))


@implements(local=True)
def single_source_shortest_path(G: Any, source: Any, cutoff: Any = None) -> dict[Any, list[Any]]:
    G = adapt(G)
    return paths(G, ordered_search(G, source, None, SOURCE, _level(cutoff)))


@implements(local=True)
def single_target_shortest_path(G: Any, target: Any, cutoff: Any = None) -> dict[Any, list[Any]]:
    G = adapt(G).reversed
    found = paths(G, ordered_search(G, target, None, TARGET, _level(cutoff)))
    return {node: path[::-1] for node, path in found.items()}


@implements(long=True, local=("cutoff",))
def all_pairs_shortest_path(G: Any, cutoff: Any = None) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    G = adapt(G)
    for node in G.nodes:
        yield node, single_source_shortest_path(G, node, cutoff)


@implements(local=True)
def bidirectional_shortest_path(G: Any, source: Any, target: Any) -> list[Any]:
    distance, path = _path(adapt(G), source, target, None, (SOURCE, TARGET))
    if distance is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return path


@implements(local=True)
def has_path(G: Any, source: Any, target: Any) -> bool:
    return _path(adapt(G), source, target, None, (SOURCE, TARGET))[0] is not None


def _check_method(method: str) -> None:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")


def _from_one_node(given: Call) -> bool:
    """Whether a search is one between two nodes, or one of NetworkX's breadth-first searches."""
    if given["weight"] is None:
        return given["source"] is not None or given["target"] is not None
    return given["source"] is not None and given["target"] is not None and given["method"] == "dijkstra"


@implements(named("weight"), local=_from_one_node)
def shortest_path(G: Any, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra") -> Any:
    _check_method(method)
    G = adapt(G)
    if source is None and target is None:
        return ((node, paths(G, ordered_search(G, node, weight))) for node in G.nodes)
    if source is None:
        G = G.reversed
        return {node: path[::-1] for node, path in paths(G, ordered_search(G, target, weight)).items()}
    if target is None:
        return paths(G, ordered_search(G, source, weight))
    if weight is not None and method == "bellman-ford":
        return bellman_ford_path(G, source, target, weight)
    distance, path = _path(G, source, target, weight, (SOURCE, TARGET))
    if distance is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return path


@implements(named("weight"), local=_from_one_node)
def shortest_path_length(
    G: Any, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    _check_method(method)
    G = adapt(G)
    if source is None and target is None:
        return ((node, lengths(G, ordered_search(G, node, weight))) for node in G.nodes)
    if source is None:
        return lengths(G.reversed, ordered_search(G.reversed, target, weight))
    if target is None:
        return lengths(G, ordered_search(G, source, weight))
    if weight is not None:
        return _length_to(G, source, target, weight, _FAR if method == "dijkstra" else _FAR.lower())
    distance, _ = _path(G, source, target, None, (SOURCE, TARGET))
    if distance is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return distance


def _reach_all(graph: Converted) -> bool:
    return is_one(graph, strong=graph.is_directed())


@implements(named("weight"), long=True)
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
    total = sum(sum_of(distances) for _, distances in distances_from_all(G, None if method == "unweighted" else weight))
    average: float = total / (len(G) * (len(G) - 1))
    return average


_FAR = "Node {} not reachable from {}"


@implements(named("weight"), _from_zero, local=("target", "cutoff"))
def single_source_dijkstra(
    G: Any, source: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    G = adapt(G)
    found = ordered_search(G, source, weight, NODE, cutoff)
    if target is None:
        return lengths(G, found), paths(G, found)
    if target == source:
        return 0, [target]
    known = lengths(G, found)
    if target not in known:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return known[target], paths(G, found)[target]


@implements(named("weight"), _from_zero, local=("cutoff",))
def single_source_dijkstra_path(
    G: Any, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, list[Any]]:
    G = adapt(G)
    return paths(G, ordered_search(G, source, weight, NODE, cutoff))


@implements(named("weight"), _from_zero, local=("cutoff",))
def single_source_dijkstra_path_length(
    G: Any, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, Any]:
    G = adapt(G)
    return lengths(G, ordered_search(G, source, weight, NODE, cutoff))


# Each source is a search of its own, where NetworkX has one for all.
_SOURCES = 4


def _from_many(given: Call) -> bool:
    sources = given["sources"]
    return given["cutoff"] is not None or not isinstance(sources, Sized) or len(sources) > _SOURCES


@implements(named("weight"), _from_zero, local=_from_many)
def multi_source_dijkstra_path_length(
    G: Any, sources: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, Any]:
    if not sources:
        raise ValueError("sources must not be empty")
    G = adapt(G)
    return lengths(G, ordered_from_nearest(G, sources, weight, cutoff))


def _length_to(G: Any, source: Any, target: Any, weight: Any, text: str) -> Any:
    G = adapt(G)
    distances = distances_of(search(G, source, weight, NODE))
    if source == target:
        return 0
    # A target that is no node is far from all, too.
    distance = distances[G.places[target]] if target in G.places else np.ma.masked
    if distance is np.ma.masked:
        raise nx.NetworkXNoPath(text.format(target, source))
    return number(G, distance.item(), weight)


@implements(named("weight"), local=True)
def dijkstra_path(G: Any, source: Any, target: Any, weight: Any = "weight") -> list[Any]:
    return single_source_dijkstra(G, source, target, weight=weight)[1]  # type: ignore[no-any-return]


@implements(named("weight"), local=True)
def dijkstra_path_length(G: Any, source: Any, target: Any, weight: Any = "weight") -> Any:
    return _length_to(G, source, target, weight, _FAR)


@implements(named("weight"), local=True)
def bidirectional_dijkstra(G: Any, source: Any, target: Any, weight: Any = "weight") -> tuple[Any, list[Any]]:
    distance, path = _path(adapt(G), source, target, weight, (SOURCE, TARGET))
    if distance is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return distance, path


@implements(named("weight"), _from_zero, long=True, local=("cutoff",))
def all_pairs_dijkstra(G: Any, cutoff: Any = None, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    G = adapt(G)
    for node in G.nodes:
        yield node, single_source_dijkstra(G, node, cutoff=cutoff, weight=weight)


@implements(named("weight"), _from_zero, long=True, local=("cutoff",))
def all_pairs_dijkstra_path(G: Any, cutoff: Any = None, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    G = adapt(G)
    for node in G.nodes:
        yield node, single_source_dijkstra_path(G, node, cutoff, weight)


@implements(named("weight"), _from_zero, long=True, local=("cutoff",))
def all_pairs_dijkstra_path_length(G: Any, cutoff: Any = None, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    G = adapt(G)
    for node in G.nodes:
        yield node, lengths(G, ordered_search(G, node, weight, NODE, cutoff))


@implements(named("weight"))
def single_source_bellman_ford(G: Any, source: Any, target: Any = None, weight: Any = "weight") -> tuple[Any, Any]:
    G = adapt(G)
    found = ordered_search(G, source, weight, "Node {} is not found in the graph")
    if target is None:
        return lengths(G, found), paths(G, found)
    if target == source:
        return 0, [source]
    known = lengths(G, found)
    if target not in known:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return known[target], paths(G, found)[target]


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


@implements(named("weight"), long=True)
def all_pairs_bellman_ford_path(G: Any, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    yield from all_pairs_dijkstra_path(G, weight=weight)


@implements(named("weight"), long=True)
def all_pairs_bellman_ford_path_length(G: Any, weight: Any = "weight") -> Iterator[tuple[Any, Any]]:
    yield from all_pairs_dijkstra_path_length(G, weight=weight)


@implements(named("weight"), long=True)
def floyd_warshall(G: Any, weight: Any = "weight") -> dict[Any, dict[Any, Any]]:
    G = adapt(G)
    # Edges without the attribute count 1, and 1.0 in an older NetworkX.
    is_missing = G.weight(weight) is None
    kind = float if is_missing and VERSION < (3, 7) else G.number_type(weight)
    if kind not in (int, float):
        raise NotImplementedError("weights of which some are whole and some are real are not supported")
    rows = {}
    for node in G.nodes:
        found = ordered_search(G, node, weight)
        row = dict.fromkeys(G.nodes, math.inf)
        row |= {G.nodes[place]: kind(value) for place, value in zip(found.places, found.distances)}
        rows[node] = row | {node: 0}
    return rows


def _eccentricities(graph: Converted, nodes: Iterable[Any] | None, weight: Any) -> dict[Any, Any]:
    if len(graph) == 0:
        # NetworkX 3.6 has no eccentricities of it, later versions an error.
        raise NotImplementedError("a graph without nodes is not supported")
    found = {}
    for node, reached, distance in _farthest(graph, nodes, weight):
        if reached < len(graph):
            kind = "digraph is not strongly connected" if graph.is_directed() else "graph is not connected"
            raise nx.NetworkXError(f"Found infinite path length because the {kind}")
        found[node] = distance
    return found


def _farthest(graph: Converted, nodes: Iterable[Any] | None, weight: Any) -> Iterator[tuple[Any, int, Any]]:
    """From each node the number of nodes that are reached, and the distance of the farthest one."""
    if graph.number_type(weight) not in (int, float):
        # Only sums in the order of NetworkX have its kinds of numbers.
        for node in graph.nodes if nodes is None else nodes:
            found = ordered_search(graph, node, weight)
            yield node, len(found.places), max(found.distances)
        return
    if nodes is None:
        every = distances_from_all(graph, weight)
    else:
        every = ((node, distances_of(search(graph, node, weight))) for node in nodes)
    for node, distances in every:
        # The distance of the node itself, a whole 0, comes first.
        distance = number(graph, distances.max().item(), weight) or 0
        yield node, len(reached_within(distances, None)), distance


@implements(without("sp"), named("weight"), long=True, local=("v",))
def eccentricity(G: Any, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    G = adapt(G)
    if v is None:
        return _eccentricities(G, None, weight)
    if v in G:
        return _eccentricities(G, [v], weight)[v]
    return _eccentricities(G, G.bunch(v), weight)


def _by_bounds(given: Call) -> bool:
    """Whether a few searches will do, from nodes that NetworkX picks by bounds."""
    return given["usebounds"] is True and not given["G"].is_directed()


@implements(named("weight"), long=True, local=_by_bounds)
def diameter(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return max((_eccentricities(adapt(G), None, weight) if e is None else e).values())


@implements(named("weight"), long=True, local=_by_bounds)
def radius(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return min((_eccentricities(adapt(G), None, weight) if e is None else e).values())


@implements(named("weight"), long=True, local=_by_bounds)
def center(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    G = adapt(G)
    if e is None and len(G) == 0 and not G.is_directed() and weight is None:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    found = _eccentricities(G, None, weight) if e is None else e
    least = min(found.values())
    return [node for node, value in found.items() if value == least]


@implements(named("weight"), long=True, local=_by_bounds)
def periphery(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    found = _eccentricities(adapt(G), None, weight) if e is None else e
    greatest = max(found.values())
    return [node for node, value in found.items() if value == greatest]


@implements(without("attr", "sp"), named("weight"), long=True)
def barycenter(G: Any, weight: Any = None, attr: Any = None, sp: Any = None) -> list[Any]:
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


def centroid(G: Any, weight: Any = None, attr: Any = None, sp: Any = None) -> list[Any]:
    return barycenter(G, weight)  # type: ignore[no-any-return]


# An older NetworkX has another function of this name, which is for trees.
if VERSION >= (3, 7):
    implements(without("attr", "sp"), named("weight"), long=True)(centroid)


def inverse_sum(distances: np.ndarray) -> float:
    """The sum of the inverses of the distances that are not 0."""
    values = np.ma.getdata(distances)[reached_within(distances, None)]
    return math.fsum((1 / values[values != 0]).tolist())


@implements(without("sp"), named("weight"), long=True)
def harmonic_diameter(G: Any, sp: Any = None, *, weight: Any = None) -> float:
    G = adapt(G)
    total = math.fsum(inverse_sum(distances) for _, distances in distances_from_all(G, weight))
    if total != 0:
        return len(G) * (len(G) - 1) / total
    return math.inf if len(G) > 1 else math.nan


@implements(long=True)
def global_efficiency(G: Any) -> float:
    G = adapt(G)
    pairs = len(G) * (len(G) - 1)
    return math.fsum(inverse_sum(distances) for _, distances in distances_from_all(G, None)) / pairs if pairs else 0


@implements(named("weight"), long=True)
def wiener_index(G: Any, weight: Any = None) -> float:
    G = adapt(G)
    if not _reach_all(G):
        return math.inf
    total: float = number(G, sum(sum_of(distances) for _, distances in distances_from_all(G, weight)), weight)
    return total if G.is_directed() else total / 2


def _reached(graph: Converted, source: Any) -> set[Any]:
    if source not in graph:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return set(lengths(graph, ordered_search(graph, source, None))) - {source}


@implements(local=True)
def descendants(G: Any, source: Any) -> set[Any]:
    return _reached(adapt(G), source)


@implements(local=True)
def ancestors(G: Any, source: Any) -> set[Any]:
    return _reached(adapt(G).reversed, source)


@implements(local=True)
def descendants_at_distance(G: Any, source: Any, distance: Any) -> set[Any]:
    G = adapt(G)
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    known = lengths(G, ordered_search(G, source, None, SOURCE, distance))
    return {node for node, length in known.items() if length == distance}


@implements(local=True)
def bfs_edges(
    G: Any, source: Any, reverse: bool = False, depth_limit: Any = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    if sort_neighbors is not None:
        raise NotImplementedError("sort_neighbors= is not supported")
    G = adapt(G)
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    searched = G.reversed if reverse else G
    found = ordered_search(searched, source, None, cutoff=_level(depth_limit))
    for place, parent in zip(found.places, found.parents):
        if place != parent:
            yield searched.nodes[parent], searched.nodes[place]


@implements(local=True)
def bfs_layers(G: Any, sources: Any) -> Iterator[list[Any]]:
    G = adapt(G)
    given = [sources] if sources in G else list(sources)
    missing = next((source for source in given if source not in G), None)
    if missing is not None:
        raise nx.NetworkXError(f"The node {missing} is not in the graph.")
    known = lengths(G, ordered_from_nearest(G, given, None)) if given else {}
    layers: dict[Any, list[Any]] = {}
    for node, level in known.items():
        layers.setdefault(level, []).append(node)
    yield from layers.values()


def _near(graph: Graph, source: Any, radius: float, undirected: bool) -> list[Any]:
    """The vertices that a path no longer than the radius leads to, by weights: Dijkstra, A note on two problems in
    connexion with graphs. 1959. With `undirected` edges lead both ways."""
    ways: tuple[Literal["out", "in"], ...] = ("out", "in") if undirected and graph.is_directed() else ("out",)
    near, places = set[Any](), count()
    fringe: list[tuple[float, int, Any]] = [(0, next(places), source)]
    while fringe:
        distance, _, vertex = heappop(fringe)
        if vertex in near:
            continue
        near.add(vertex)
        for way in ways:
            for end, weight in graph.neighbors(vertex, direction=way, weights=True):
                if weight < 0:
                    raise NotImplementedError("negative weights are not supported")
                if end not in near and distance + weight <= radius:
                    heappush(fringe, (distance + weight, next(places), end))
    return list(near)


@implements(named("distance"), local=True)
def ego_graph(
    G: Any, n: Any, radius: Any = 1, center: bool = True, undirected: bool = False, distance: Any = None
) -> Any:
    # NetworkX answers for its own graphs: this one is an image.
    G = adapt(G)
    source, weight = G.id(n, SOURCE), G.weight(distance)
    if weight is None:
        # Of a weight that no edge has, which counts 1, paths are searched by lengths.
        hops = _level(radius) if distance is None else radius
        near = within(G.graph, source, len(G) if hops is None else int(min(hops, len(G))), undirected)
    else:
        near = _near(G.image(weight), source, math.inf if radius is None else radius, undirected)
    found = G.graph.subgraph(near)
    return found if center else found.without([n])
