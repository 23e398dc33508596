"""Topological orders."""

from collections.abc import Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from outcore.networkx._adjacency import entries_of
from outcore.networkx._graph import Conversion, Converted, adapt, cached_conversion
from outcore.networkx._registry import implements
from outcore.networkx._searches import FEW

_CYCLE = "Graph contains a cycle or graph changed during iteration"
_CHANGED = "Graph changed during iteration"


def _generations(graph: Conversion) -> Iterator[list[Any]]:
    """Nodes whose predecessors are all in lists before, by Kahn: Topological sorting of large networks. CACM 1962. A
    node follows the last of the edges that lead to it, as in NetworkX."""
    rows, nodes, original = graph.adjacency, graph.nodes, graph.original
    starts, targets, sizes = rows.starts, rows.targets, rows.sizes
    missing = np.zeros(len(nodes), np.int64)
    np.add.at(missing, targets, sizes)
    generation = np.flatnonzero(missing == 0)
    while len(generation):
        names = [nodes[place] for place in generation.tolist()]
        if cached_conversion(original) is not graph:
            left = {nodes[place]: int(missing[place]) for place in np.flatnonzero(missing).tolist()}
            yield from _generations_now(original, left, names)
            return
        if len(generation) <= FEW:
            found = []
            for vertex in generation.tolist():
                for entry in range(starts[vertex], starts[vertex + 1]):
                    target = targets[entry]
                    missing[target] -= sizes[entry]
                    if missing[target] == 0:
                        found.append(target)
            generation = np.array(found, np.int64)
        else:
            entries, _ = entries_of(starts, generation)
            reached = targets[entries]
            np.subtract.at(missing, reached, sizes[entries])
            backwards = reached[missing[reached] == 0][::-1]
            _, last = np.unique(backwards, return_index=True)
            generation = backwards[np.sort(last)][::-1].astype(np.int64)
        yield names
    if missing.any():
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
