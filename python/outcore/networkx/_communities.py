"""Communities."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from networkx.algorithms.community.quality import NotAPartition  # type: ignore[import-untyped]

from outcore.networkx._adjacency import Adjacency, entries_of
from outcore.networkx._graph import Conversion, Converted, adapt
from outcore.networkx._registry import VERSION, Call, implements, named, undirected

# Sums of whole numbers stay below this, so that they are exact in 64 bits.
_GREATEST_SUM = 2**62


def _colour_classes(rows: Adjacency) -> list[np.ndarray]:
    """The vertices by their colours: each vertex, those of many edges first, has the first colour that none of its
    neighbours has, as in NetworkX's `greedy_color`."""
    count = len(rows.nodes)
    source, target = rows.edges
    degrees = np.bincount(source, minlength=count) + np.bincount(target, minlength=count)
    bounds, targets = rows.starts.tolist(), rows.targets.tolist()
    colours = [-1] * count
    for vertex in np.argsort(-degrees, kind="stable").tolist():
        used = {colours[target] for target in targets[bounds[vertex] : bounds[vertex + 1]]}
        colour = 0
        while colour in used:
            colour += 1
        colours[vertex] = colour
    found = np.array(colours, np.int64)
    order = np.argsort(found, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(found[order])) + 1) if count else []


def _frequent_labels(rows: Adjacency, labels: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """The label that most neighbours of each vertex have: of several its own, or else the greatest."""
    entries, counts = entries_of(rows.starts, vertices)
    pairs = np.repeat(np.arange(len(vertices)), counts) * len(labels) + labels[rows.targets[entries]]
    found, frequencies = np.unique(pairs, return_counts=True)
    owners, frequent = found // len(labels), found % len(labels)
    most = np.zeros(len(vertices), np.int64)
    np.maximum.at(most, owners, frequencies)
    is_most = frequencies == most[owners]
    owners, frequent = owners[is_most], frequent[is_most]
    own = labels[vertices]
    chosen, has_own = own.copy(), np.zeros(len(vertices), bool)
    # The labels of an owner ascend: the greatest is assigned last.
    chosen[owners] = frequent
    has_own[owners[frequent == own[owners]]] = True
    most_frequent: np.ndarray = np.where(has_own, own, chosen)
    return most_frequent


@implements(undirected)
def label_propagation_communities(G: Any) -> Any:
    G = adapt(G)
    if not isinstance(G, Conversion):
        raise NotImplementedError("communities of an image are found by outcore.label_propagation")
    rows, every = G.adjacency, np.arange(len(G))
    if np.equal(*rows.edges).any():
        # NetworkX itself may go on for ever: a node whose label is its own neighbour changes after its colour's turn.
        raise NotImplementedError("edges from a node to itself are not supported")
    labels, classes = every.copy(), _colour_classes(rows)
    # Cordasco and Gargano: Community detection via semi-synchronous label propagation algorithms. BASNA 2010.
    while (_frequent_labels(rows, labels, every) != labels).any():
        for vertices in classes:
            labels[vertices] = _frequent_labels(rows, labels, vertices)
    communities: dict[int, set[Any]] = {}
    for node, label in zip(G.nodes, labels.tolist()):
        communities.setdefault(label, set()).add(node)
    return communities.values()


def _labels_of(graph: Converted, communities: list[Any]) -> np.ndarray:
    """The number of the community of each vertex; an error if not every one is in exactly one."""
    places = graph.places
    known = {node for community in communities for node in community if node in places}
    if not len(graph) == len(known) == sum(len(community) for community in communities):
        raise NotAPartition(graph.original if isinstance(graph, Conversion) else graph.graph, communities)
    labels = np.empty(len(graph), np.int64)
    for number, community in enumerate(communities):
        labels[[places[node] for node in community]] = number
    return labels


def _weight_sums(graph: Converted, weight: Any, labels: np.ndarray, count: int) -> Iterable[list[Any]]:
    """For each class the weight of edges within it, of those that leave its vertices, and of those that lead there."""
    kind = np.int64 if graph.number_type(weight) is int else np.float64
    within, leaving, entering = (np.zeros(count, kind) for _ in range(3))
    total = 0.0
    for sources, targets, values in graph.edge_pieces(weight):
        weights = np.array(values, kind)
        total += float(np.abs(weights.astype(np.float64)).sum())
        if kind is np.int64 and total >= _GREATEST_SUM:
            raise NotImplementedError("whole weights whose sum has more than 62 bits are not supported")
        one, other = labels[sources], labels[targets]
        is_within = one == other
        with np.errstate(invalid="ignore", over="ignore"):
            np.add.at(within, one[is_within], weights[is_within])
            np.add.at(leaving, one, weights)
            np.add.at(entering, other, weights)
    return within.tolist(), leaving.tolist(), entering.tolist()


def _repeatable(given: Call) -> str | None:
    return "communities as an iterator are not supported" if hasattr(given["communities"], "__next__") else None


@implements(named("weight"), _repeatable, quick=True)
def modularity(G: Any, communities: Any, weight: Any = "weight", resolution: float = 1) -> Any:
    G = adapt(G)
    if not isinstance(communities, list):
        communities = list(communities)
    if G.number_type(weight) not in (int, float):
        raise NotImplementedError("weights that are not all of type int or all of type float are not supported")
    labels = _labels_of(G, communities)
    within, out, into = _weight_sums(G, weight, labels, len(communities))
    if not G.is_directed():
        out = into = [one + other for one, other in zip(out, into)]
    total = sum(out)
    if total == 0 and VERSION >= (3, 7):
        return 0
    # The number of edges, and the factor of the products of degrees.
    edges, factor = total if G.is_directed() else total / 2, 1 / total**2
    return sum(
        inner / edges - resolution * leaving * entering * factor for inner, leaving, entering in zip(within, out, into)
    )
