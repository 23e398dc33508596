"""Topological orders."""

from collections.abc import Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from outcore.networkx._adjacency import Adjacency, entries_of
from outcore.networkx._graph import Conversion, Converted, adapt
from outcore.networkx._registry import implements
from outcore.networkx._searches import FEW


def _generations(rows: Adjacency) -> Iterator[list[int]]:
    """Vertices whose predecessors are all in lists before, by Kahn: Topological sorting of large networks. CACM 1962.
    As in NetworkX, a vertex follows the last of the edges that lead to it."""
    starts, targets = rows.starts, rows.targets
    missing = np.bincount(targets, minlength=len(rows.nodes))
    generation = np.flatnonzero(missing == 0)
    while len(generation):
        yield generation.tolist()
        if len(generation) <= FEW:
            found = []
            for vertex in generation.tolist():
                for target in targets[starts[vertex] : starts[vertex + 1]].tolist():
                    missing[target] -= 1
                    if missing[target] == 0:
                        found.append(target)
            generation = np.array(found, np.int64)
        else:
            reached = targets[entries_of(starts, generation)[0]]
            np.subtract.at(missing, reached, 1)
            backwards = reached[missing[reached] == 0][::-1]
            _, last = np.unique(backwards, return_index=True)
            generation = backwards[np.sort(last)][::-1].astype(np.int64)


def _generations_of_image(graph: Converted) -> Iterator[list[int]]:
    """The generations, for which each list of an image is read once."""
    missing = graph.in_degrees.tolist()
    generation = [place for place, count in enumerate(missing) if count == 0]
    while generation:
        yield generation
        found = []
        for place in generation:
            for target in map(graph.places.__getitem__, graph.graph.neighbors(graph.nodes[place])):
                missing[target] -= 1
                if missing[target] == 0:
                    found.append(target)
        generation = found


@implements(quick=True)
def topological_generations(G: Any) -> Iterator[list[Any]]:
    G = adapt(G)
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    generations = _generations(G.adjacency) if isinstance(G, Conversion) else _generations_of_image(G)
    count = 0
    for generation in generations:
        count += len(generation)
        yield [G.nodes[place] for place in generation]
    if count < len(G):
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


@implements(quick=True)
def topological_sort(G: Any) -> Iterator[Any]:
    for generation in topological_generations(G):
        yield from generation
