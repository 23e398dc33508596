"""Searches from nodes, as the functions of the backend share them: distances, and the nodes within some distance."""

from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from outcore._errors import UsageError
from outcore.networkx._graph import Converted

# Errors of NetworkX about nodes that a graph does not have.
SOURCE, TARGET, NODE = "Source {} is not in G", "Target {} is not in G", "Node {} not found in graph"

# The greatest number of vertices of a graph whose distances are all held at once.
_MOST_AT_ONCE = 2048


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


def reached_within(distances: np.ndarray, cutoff: float | None) -> np.ndarray:
    """The places of the vertices that were reached, near ones first."""
    data, reached = np.ma.getdata(distances), ~np.ma.getmaskarray(distances)
    places = np.flatnonzero(reached if cutoff is None else reached & (data <= cutoff))
    ordered: np.ndarray = places[np.argsort(data[places], kind="stable")]
    return ordered


def distances_from_all(graph: Converted, weight: Any) -> Iterator[tuple[Any, np.ndarray]]:
    """The distances from every node, source by source."""
    if len(graph) == 0:
        return
    if graph.weight(weight) is None and len(graph) <= _MOST_AT_ONCE:
        found: Any = graph.run("all_pairs", sources=graph.ids)
        yield from zip(graph.nodes, found.distances)
        return
    for node in graph.nodes:
        yield node, distances_of(search(graph, node, weight))


def distances_from_nearest(graph: Converted, sources: Iterable[Any], weight: Any) -> np.ma.MaskedArray:
    """The distance of every vertex from the nearest of some nodes."""
    searches = [distances_of(search(graph, source, weight, NODE)) for source in sources]
    least: np.ma.MaskedArray = np.ma.stack(searches).min(axis=0)
    return least


def neighbours(graph: Converted, node: Any, direction: str = "out") -> list[Any]:
    """The nodes that edges of a node lead to, or with "in" those whose edges lead to it."""
    if node not in graph:
        raise nx.NetworkXError(f"The node {node} is not in the graph.")
    found = graph.graph.neighbors(graph.id(node), direction=direction)  # type: ignore[call-overload]
    return found if graph.has_own_ids else [graph.nodes[place] for place in found]
