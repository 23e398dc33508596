"""Least and greatest spanning trees."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from outcore.networkx._graph import Conversion, Converted, adapt
from outcore.networkx._registry import Call, implements, undirected


def _kruskal(given: Call) -> str | None:
    return None if given["algorithm"] == "kruskal" else "another algorithm than Kruskal's is not supported"


def _merged(labels: np.ndarray, ones: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Labels of vertices after the classes of each pair became one. Each class is in at most one pair as the first."""
    above = np.arange(len(labels))
    above[ones] = others
    # Two classes that name each other: the smaller one stays.
    is_mutual = above[above] == np.arange(len(labels))
    above = np.where(is_mutual, np.minimum(above, np.arange(len(labels))), above)
    while not np.array_equal(above, farther := above[above]):
        above = farther
    merged: np.ndarray = above[labels]
    return merged


def _forest(count: int, sources: np.ndarray, targets: np.ndarray, weights: np.ndarray, is_least: bool) -> np.ndarray:
    """The places of the edges of a spanning forest, in the order of Kruskal's algorithm: by their weights, and of one
    weight as they are given. With such ranks there is one forest only, and Boruvka's algorithm, whose rounds are few,
    finds it: Nesetril, Milkova, Nesetrilova: Otakar Boruvka on minimum spanning tree problem. Discrete Math. 2001."""
    order = np.argsort(weights, kind="stable")
    if not is_least:
        # Stable in the other direction: backwards over what was ordered backwards.
        order = len(weights) - 1 - np.argsort(weights[::-1], kind="stable")[::-1]
    sources, targets = sources[order], targets[order]
    labels, ranks = np.arange(count), np.arange(len(order))
    is_chosen = np.zeros(len(order), bool)
    while True:
        one, other = labels[sources[ranks]], labels[targets[ranks]]
        is_between = one != other
        ranks, one, other = ranks[is_between], one[is_between], other[is_between]
        if len(ranks) == 0:
            return order[is_chosen]
        # The first edge of each class: in reverse, it is assigned last.
        first = np.full((2, count), len(ranks))
        first[0][one[::-1]] = first[1][other[::-1]] = np.arange(len(ranks))[::-1]
        least = first.min(axis=0)
        classes = np.flatnonzero(least < len(ranks))
        edges = least[classes]
        is_chosen[ranks[edges]] = True
        labels = _merged(labels, classes, np.where(one[edges] == classes, other[edges], one[edges]))


def _numbers(values: list[Any], ignore_nan: bool) -> np.ndarray:
    """Weights as an array that is ordered as they are; NaN stays only if it is ignored."""
    kinds = set(map(type, values))
    if not kinds <= {int, float}:
        raise NotImplementedError("weights that are not all of type int or float are not supported")
    if kinds == {int}:
        return np.array(values, np.int64)
    if int in kinds and any(type(value) is int and abs(value) > 2**53 for value in values):
        raise NotImplementedError("whole weights of more than 53 bits beside real ones are not supported")
    numbers = np.array(values, np.float64)
    if not ignore_nan and np.isnan(numbers).any():
        raise ValueError("NaN found as an edge weight.")
    return numbers


def _spanning_edges(graph: Converted, weight: Any, is_least: bool, ignore_nan: bool) -> Iterator[tuple[Any, ...]]:
    """The edges of a spanning forest: their places, the places of their ends, and their weights. Of an image no more
    edges are held than a forest and a piece have: what the forest of some edges leaves out is in no forest of more."""
    held, count = [np.zeros(0, np.int64)] * 4, 0
    for sources, targets, values in graph.edge_pieces(weight):
        piece = np.arange(count, count + len(values)), sources, targets, _numbers(values, ignore_nan)
        order = np.argsort(held[0])
        edges = [np.concatenate([one[order], other]) for one, other in zip(held, piece)]
        edges = [one[~np.isnan(edges[3])] for one in edges]
        _, ones, others, weights = edges
        chosen = _forest(len(graph), ones, others, weights, is_least)
        held, count = [one[chosen] for one in edges], count + len(values)
    yield from zip(*(one.tolist() for one in held))


def _edges(G: Any, weight: Any, keys: bool, data: bool, ignore_nan: bool, is_least: bool) -> Iterator[tuple[Any, ...]]:
    graph = adapt(G)
    edges = _spanning_edges(graph, weight, is_least, ignore_nan)
    known, names = None, None
    if isinstance(graph, Conversion):
        known = graph.adjacency.data if data else None
        names = graph.adjacency.keys if keys and graph.is_multigraph() else None
    attribute = graph.weight(weight)
    for place, source, target, value in edges:
        edge: tuple[Any, ...] = graph.nodes[source], graph.nodes[target]
        if names is not None:
            edge = (*edge, names[place])
        if known is not None:
            edge = (*edge, known[place])
        elif data:
            edge = (*edge, {} if attribute is None else {attribute: value})
        yield edge


@implements(_kruskal, undirected)
def minimum_spanning_edges(
    G: Any,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    return _edges(G, weight, keys, data, ignore_nan, True)


@implements(_kruskal, undirected)
def maximum_spanning_edges(
    G: Any,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    return _edges(G, weight, keys, data, ignore_nan, False)


def _tree(graph: Any, weight: Any, ignore_nan: bool, is_least: bool) -> Any:
    if not isinstance(graph, Conversion):
        raise NotImplementedError("the tree of an image as a graph is not supported; spanning_edges has its edges")
    original = graph.original
    tree = original.__class__()
    tree.graph.update(original.graph)
    tree.add_nodes_from(original.nodes.items())
    tree.add_edges_from(_edges(graph, weight, True, True, ignore_nan, is_least))
    return tree


@implements(_kruskal, undirected)
def minimum_spanning_tree(G: Any, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False) -> Any:
    return _tree(G, weight, ignore_nan, True)


@implements(_kruskal, undirected)
def maximum_spanning_tree(G: Any, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False) -> Any:
    return _tree(G, weight, ignore_nan, False)
