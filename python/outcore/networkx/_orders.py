"""Topological orders."""

from collections.abc import Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from outcore.networkx._graph import Conversion, Converted, adapt
from outcore.networkx._registry import implements

_CYCLE = "Graph contains a cycle or graph changed during iteration"
_CHANGED = "Graph changed during iteration"


def _generations(graph: Conversion) -> Iterator[list[Any]]:
    """Nodes whose predecessors are all in lists before, by Kahn: Topological sorting of large networks. CACM 1962. A
    node follows the last of the edges that lead to it, as in NetworkX."""
    rows, nodes = graph.adjacency, graph.nodes
    # A row names the end of each of the parallel edges.
    targets = np.repeat(rows.targets, rows.sizes) if graph.is_multigraph() else rows.targets
    bounds = np.append(0, np.cumsum(rows.sizes))[rows.starts].tolist()
    missing, ends = np.bincount(targets, minlength=len(nodes)).tolist(), targets.tolist()
    generation = [place for place, count in enumerate(missing) if count == 0]
    while generation:
        names = [nodes[place] for place in generation]
        if not graph.is_current:
            left = {node: count for node, count in zip(nodes, missing) if count}
            yield from _generations_now(graph.original, left, names)
            return
        following = []
        for vertex in generation:
            for target in ends[bounds[vertex] : bounds[vertex + 1]]:
                missing[target] -= 1
                if missing[target] == 0:
                    following.append(target)
        yield names
        generation = following
    if any(missing):
        raise nx.NetworkXUnfeasible(_CYCLE)


def _generations_now(graph: Any, missing: dict[Any, int], generation: list[Any]) -> Iterator[list[Any]]:
    """The generations from one on, of a graph of NetworkX that has changed since the search began, or may have: nodes
    are looked at as they are now, which finds the changes that NetworkX finds."""
    while generation:
        following = []
        for node in generation:
            if node not in graph:
                raise RuntimeError(_CHANGED)
            for child in graph.neighbors(node):
                if child not in missing:
                    raise RuntimeError(_CHANGED)
                missing[child] -= len(graph[node][child]) if graph.is_multigraph() else 1
                if missing[child] == 0:
                    following.append(child)
                    del missing[child]
        yield generation
        generation = following
    if missing:
        raise nx.NetworkXUnfeasible(_CYCLE)


def _generations_of_image(graph: Converted) -> Iterator[list[Any]]:
    """The generations, for which each list of an image is read once."""
    missing = dict(zip(graph.nodes, graph.in_degrees.tolist()))
    generation = [node for node, count in missing.items() if count == 0]
    while generation:
        yield generation
        found = []
        for node in generation:
            del missing[node]
            for target in graph.graph.neighbors(node):
                missing[target] -= 1
                if missing[target] == 0:
                    found.append(target)
        generation = found
    if missing:
        raise nx.NetworkXUnfeasible(_CYCLE)


@implements(quick=True)
def topological_generations(G: Any) -> Iterator[list[Any]]:
    G = adapt(G)
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    yield from _generations(G) if isinstance(G, Conversion) else _generations_of_image(G)


@implements(quick=True)
def topological_sort(G: Any) -> Iterator[Any]:
    for generation in topological_generations(G):
        yield from generation
