"""Searches from nodes, as the functions of the backend share them: distances, and paths in the order of NetworkX.

Results of NetworkX name nodes in the order in which its search reaches them: near ones first, and at one distance those
first whose path comes first. An edge that a shortest path may end with leads from `u` to `v` with
`distance(u) + weight == distance(v)`. NetworkX takes the first such edge: in the order of the `u`, then of their rows.
So distances and rows tell its order and its paths. An image has rows in another order.
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any, NamedTuple

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from outcore._errors import UsageError
from outcore.networkx._adjacency import Adjacency, entries_of
from outcore.networkx._graph import Against, Conversion, Converted

# Errors of NetworkX about nodes that a graph does not have.
SOURCE, TARGET, NODE = "Source {} is not in G", "Target {} is not in G", "Node {} not found in graph"

# The greatest number of vertices of a graph whose distances are all held at once.
_MOST_AT_ONCE = 2048
# Levels of a search with fewer vertices are passed over one vertex after the other.
_FEW = 8


class Search(NamedTuple):
    """The vertices that a search reached, by their places, in its order."""

    places: list[int]
    distances: list[Any]
    # Where the path to each comes from: itself for a source.
    parents: list[int]


def search(graph: Converted, source: Any, weight: Any, text: str = SOURCE) -> Any:
    """A search from a node, as a result with distances and parents: of numbers of edges without a weight."""
    source, weight = graph.id(source, text), graph.weight(weight)
    if weight is None:
        return graph.run("bfs", source)
    try:
        return graph.run("sssp", source, weight=weight)
    except UsageError as error:
        if "negative" not in str(error):
            raise
        raise NotImplementedError(str(error)) from None


def distances_of(found: Any) -> np.ma.MaskedArray:
    """The distances of a search, masked where there is no path."""
    # Real distances are NaN where there is no path.
    values: np.ma.MaskedArray = np.ma.masked_invalid(found["level" if "level" in found else "distance"], copy=False)
    return values


def number(graph: Converted, value: Any, weight: Any) -> Any:
    """A distance as a number of the kind that weights have, if they have one. An image has whole ones as integers."""
    kind = graph.number_type(weight)
    if kind not in (int, float):
        raise NotImplementedError("weights that are not all of type int or all of type float are not supported")
    return float(value) if kind is float else value


def ordered_search(
    graph: Converted, source: Any, weight: Any, text: str = SOURCE, cutoff: float | None = None
) -> Search:
    """A search from a node in the order of NetworkX, as far as the cutoff."""
    if isinstance(graph, Against) and graph.weight(weight) is None:
        return _against(graph, graph.id(source, text), cutoff)
    if isinstance(graph, Conversion) and graph.weight(weight) is None:
        return by_levels(graph.adjacency, [graph.id(source, text)], cutoff)
    if not isinstance(graph, Conversion) and graph.weight(weight) is None and cutoff is not None:
        depth = int(min(max(cutoff, 0), len(graph)))
        found: Any = graph.run("bfs", graph.id(source, text), depth_limit=depth)
    else:
        found = search(graph, source, weight, text)
    distances, start = distances_of(found), graph.places[source]
    if isinstance(graph, Conversion):
        return _by_distance(graph, distances, [start], weight, cutoff)
    places = reached_within(distances, cutoff)
    parents = found["parent"][places].tolist()
    parents = [start if parent is None else graph.places[parent] for parent in parents]
    values = np.ma.getdata(distances)[places].tolist()
    if graph.number_type(weight) is float:
        values = list(map(float, values))
    return Search(places.tolist(), [0, *values[1:]], parents)


def ordered_from_nearest(graph: Converted, sources: Iterable[Any], weight: Any, cutoff: float | None = None) -> Search:
    """A search from several nodes at once, in the order of NetworkX."""
    starts = [graph.places[source] for source in _known(graph, sources)]
    if isinstance(graph, Conversion) and graph.weight(weight) is None:
        return by_levels(graph.adjacency, starts, cutoff)
    distances = distances_from_nearest(graph, [graph.nodes[start] for start in starts], weight)
    if isinstance(graph, Conversion):
        return _by_distance(graph, distances, starts, weight, cutoff)
    places = reached_within(distances, cutoff)
    values = [number(graph, value, weight) for value in np.ma.getdata(distances)[places].tolist()]
    return Search(places.tolist(), [value or 0 for value in values], [])


def _known(graph: Converted, nodes: Iterable[Any]) -> Iterator[Any]:
    for node in nodes:
        if node not in graph:
            raise nx.NodeNotFound(NODE.format(node))
        yield node


def by_levels(rows: Adjacency, sources: list[int], cutoff: float | None = None) -> Search:
    """A breadth-first search, in which each level is in the order of NetworkX."""
    starts, targets = rows.starts, rows.targets
    parents, first = np.full(len(rows.nodes), -1, np.int64), np.empty(len(rows.nodes), np.int64)
    level = np.array(list(dict.fromkeys(sources)), np.int64)
    parents[level] = level
    levels = [level]
    while len(level) and (cutoff is None or len(levels) <= cutoff):
        if len(level) <= _FEW:
            found = []
            for vertex in level.tolist():
                for target in targets[starts[vertex] : starts[vertex + 1]].tolist():
                    if parents[target] < 0:
                        parents[target] = vertex
                        found.append(target)
            level = np.array(found, np.int64)
        else:
            entries, counts = entries_of(starts, level)
            reached = targets[entries]
            is_new = parents[reached] < 0
            reached, origins = reached[is_new], np.repeat(level, counts)[is_new]
            # Of several edges to a vertex the first counts: in reverse, it is assigned last.
            numbers = np.arange(len(reached))
            first[reached[::-1]] = numbers[::-1]
            is_first = first[reached] == numbers
            level = reached[is_first].astype(np.int64)
            parents[level] = origins[is_first]
        levels.append(level)
    places = np.concatenate(levels)
    distances = np.repeat(np.arange(len(levels)), [len(one) for one in levels])
    return Search(places.tolist(), distances.tolist(), parents[places].tolist())


def _against(graph: Against, source: Any, cutoff: float | None) -> Search:
    """A breadth-first search against the direction of edges, which reads the list of each vertex that it reaches."""
    parents, level, distances = {source: source}, [source], [0]
    while level and (cutoff is None or distances[-1] + 1 <= cutoff):
        found = []
        for vertex in level:
            for other in graph.graph.predecessors(vertex):
                if other not in parents:
                    parents[other] = vertex
                    found.append(other)
        distances += [distances[-1] + 1] * len(found)
        level = found
    place = graph.places.__getitem__
    return Search(list(map(place, parents)), distances, list(map(place, parents.values())))


def _by_distance(
    graph: Conversion, distances: np.ma.MaskedArray, sources: list[int], weight: Any, cutoff: float | None
) -> Search:
    """The vertices in the order in which Dijkstra's algorithm takes them from its heap: by their distances, and at one
    distance as they were put there."""
    rows = graph.adjacency
    values, reached = np.ma.getdata(distances), ~np.ma.getmaskarray(distances)
    own = rows.entry_weights(weight)
    is_tight = reached[rows.sources] & (values[rows.sources] + own.array == values[rows.targets])
    entries = np.flatnonzero(is_tight)
    bounds = np.searchsorted(entries, rows.starts).tolist()
    targets, steps = rows.targets[entries].tolist(), entries.tolist()
    lengths: list[Any] = values.tolist()
    is_mixed = graph.number_type(weight) not in (int, float)
    parents = dict.fromkeys(sources, -1)
    totals: dict[int, Any] = dict.fromkeys(sources, 0)
    buckets: dict[Any, list[int]] = {lengths[sources[0]]: list(parents)}
    order: list[int] = []
    for distance in np.unique(values[reached if cutoff is None else reached & (values <= cutoff)]).tolist():
        # Edges of weight 0 lead to vertices of the same distance, at the end of the list.
        for vertex in (bucket := buckets.pop(distance)):
            order.append(vertex)
            for place in range(bounds[vertex], bounds[vertex + 1]):
                target = targets[place]
                if target not in parents:
                    parents[target] = vertex
                    ahead = lengths[target]
                    if ahead == distance:
                        bucket.append(target)
                    else:
                        buckets.setdefault(ahead, []).append(target)
                    if is_mixed:
                        totals[target] = totals[vertex] + own.values[steps[place]]
    if not is_mixed:
        kind = graph.number_type(weight)
        totals.update((vertex, kind(lengths[vertex])) for vertex in order[len(totals) :])
    parents.update((source, source) for source in sources)
    return Search(order, [totals[vertex] for vertex in order], [parents[vertex] for vertex in order])


def lengths(graph: Converted, found: Search) -> dict[Any, Any]:
    """Distances by nodes."""
    return dict(zip(map(graph.nodes.__getitem__, found.places), found.distances))


def paths(graph: Converted, found: Search) -> dict[Any, list[Any]]:
    """Paths by nodes."""
    nodes, known = graph.nodes, dict[int, list[Any]]()
    parents = dict(zip(found.places, found.parents))
    for place, parent in parents.items():
        if parent in known:
            known[place] = [*known[parent], nodes[place]]
            continue
        # A parent comes later only in images, where an edge of weight 0 leads from it.
        chain = [place]
        while parents[chain[-1]] != chain[-1] and chain[-1] not in known:
            chain.append(parents[chain[-1]])
        path = known.setdefault(chain[-1], [nodes[chain[-1]]])
        for step in reversed(chain[:-1]):
            path = known[step] = [*path, nodes[step]]
    return {nodes[place]: known[place] for place in found.places}


def reached_within(distances: np.ndarray, cutoff: float | None) -> np.ndarray:
    """The places of the vertices that were reached, near ones first."""
    data, reached = np.ma.getdata(distances), ~np.ma.getmaskarray(distances)
    places = np.flatnonzero(reached if cutoff is None else reached & (data <= cutoff))
    ordered: np.ndarray = places[np.argsort(data[places], kind="stable")]
    return ordered


def distances_from_all(graph: Converted, weight: Any) -> Iterator[tuple[Any, np.ndarray]]:
    """The distances from every node, source by source, for sums of them as ints or floats."""
    graph.check_numbers(weight)
    if len(graph) == 0:
        return
    if graph.weight(weight) is None and len(graph) <= _MOST_AT_ONCE:
        found: Any = graph.run("all_pairs", sources=graph.ids)
        yield from zip(graph.nodes, found.distances)
        return
    for node in graph.nodes:
        yield node, distances_of(search(graph, node, weight))


def sum_of(distances: np.ndarray) -> Any:
    """The sum of the distances of the vertices that were reached, as a number of Python's; of whole ones exactly."""
    reached = np.ma.compressed(distances)
    if reached.dtype.kind == "f" or len(reached) == 0 or int(reached.max()) * len(reached) < 2**63:
        return reached.sum().item()
    return sum(reached.tolist())


def distances_from_nearest(graph: Converted, sources: Iterable[Any], weight: Any) -> np.ma.MaskedArray:
    """The distance of every vertex from the nearest of some nodes."""
    searches = (distances_of(search(graph, source, weight, NODE)) for source in sources)
    return reduce(lambda least, found: np.ma.stack([least, found]).min(axis=0), searches)


def neighbours(graph: Converted, node: Any, direction: str = "out") -> list[Any]:
    """The nodes that edges of a node lead to, or with "in" those whose edges lead to it."""
    if node not in graph:
        raise nx.NetworkXError(f"The node {node} is not in the graph.")
    found = graph.graph.neighbors(graph.id(node), direction=direction)  # type: ignore[call-overload]
    return found if graph.has_own_ids else [graph.nodes[place] for place in found]
