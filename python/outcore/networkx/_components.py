"""Components, and what follows from them."""

from collections.abc import Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from outcore._outcore import is_bipartite as is_bipartite_image
from outcore.networkx._adjacency import Adjacency
from outcore.networkx._graph import Conversion, Converted, adapt
from outcore.networkx._registry import implements, without
from outcore.networkx._searches import by_levels


def _labels(graph: Converted, name: str) -> np.ndarray:
    """For every vertex the number of its component: components are numbered by their first vertices."""
    found = graph.run(name)["component"]
    _, first, labels = np.unique(found, return_index=True, return_inverse=True)
    ranks = np.empty(len(first), np.int64)
    ranks[np.argsort(first)] = np.arange(len(first))
    numbers: np.ndarray = ranks[labels]
    return numbers


def _sets(graph: Converted, labels: np.ndarray) -> Iterator[set[Any]]:
    """The components as sets of nodes, in the order of their numbers; those numbered -1 are none."""
    order = np.argsort(labels, kind="stable")
    order = order[labels[order] >= 0]
    if len(order) == 0:
        return
    ends = np.flatnonzero(np.diff(labels[order])) + 1
    for members in np.split(order, ends):
        yield {graph.nodes[place] for place in members.tolist()}


def _all(graph: Any, name: str) -> Iterator[set[Any]]:
    return _sets(adapted := adapt(graph), _labels(adapted, name))


def _strong_labels(graph: Converted, is_reversed: bool = False) -> np.ndarray:
    """For every vertex the number of its strong component, in the order of Tarjan's algorithm: a component comes behind
    those that its edges lead to, for it ends with the vertex that a depth-first search leaves last. With `is_reversed`
    in the order of Kosaraju's, whose search goes against the direction of edges and is read backwards. An image, whose
    rows are in another order, has its components in the order of their first vertices."""
    labels = _labels(graph, "strongly_connected_components")
    if not isinstance(graph, Conversion) or len(labels) == 0:
        return labels
    searched: Any = graph.reversed if is_reversed else graph
    last = np.empty(labels.max() + 1, np.int64)
    left = np.array(_leaving_order(searched.adjacency))
    last[labels[left]] = np.arange(len(left))
    ranks = np.empty(len(last), np.int64)
    ranks[np.argsort(-last if is_reversed else last)] = np.arange(len(last))
    numbers: np.ndarray = ranks[labels]
    return numbers


def _leaving_order(rows: Adjacency) -> list[int]:
    """The vertices in the order in which a depth-first search leaves them."""
    bounds, targets = rows.starts.tolist(), rows.targets.tolist()
    unread, seen, order = bounds[:-1], bytearray(len(rows.nodes)), list[int]()
    for source in range(len(rows.nodes)):
        if seen[source]:
            continue
        seen[source] = 1
        stack = [source]
        while stack:
            vertex = stack[-1]
            end = bounds[vertex + 1]
            for place in range(unread[vertex], end):
                target = targets[place]
                if not seen[target]:
                    seen[target] = 1
                    unread[vertex] = place + 1
                    stack.append(target)
                    break
            else:
                order.append(vertex)
                stack.pop()
    return order


def count(graph: Converted, strong: bool = False) -> int:
    """The number of components, weak ones where edges have a direction."""
    found: Any = graph.run("strongly_connected_components" if strong else "connected_components")
    return int(found.count)


def is_one(graph: Any, strong: bool = False) -> bool:
    """Whether there is one component."""
    graph = adapt(graph)
    if len(graph) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return count(graph, strong) == 1


@implements(quick=True)
def connected_components(G: Any) -> Iterator[set[Any]]:
    return _all(G, "connected_components")


@implements(quick=True)
def weakly_connected_components(G: Any) -> Iterator[set[Any]]:
    return _all(G, "connected_components")


@implements(quick=True)
def strongly_connected_components(G: Any) -> Iterator[set[Any]]:
    return _sets(graph := adapt(G), _strong_labels(graph))


@implements(without("source"), quick=True)
def kosaraju_strongly_connected_components(G: Any, source: Any = None) -> Iterator[set[Any]]:
    return _sets(graph := adapt(G), _strong_labels(graph, is_reversed=True))


@implements(quick=True)
def number_connected_components(G: Any) -> int:
    return count(adapt(G))


@implements(quick=True)
def number_weakly_connected_components(G: Any) -> int:
    return count(adapt(G))


@implements(quick=True)
def number_strongly_connected_components(G: Any) -> int:
    return count(adapt(G), strong=True)


@implements(quick=True)
def is_connected(G: Any) -> bool:
    return is_one(G)


@implements(quick=True)
def is_weakly_connected(G: Any) -> bool:
    return is_one(G)


@implements(quick=True)
def is_strongly_connected(G: Any) -> bool:
    return is_one(G, strong=True)


@implements(local=True)
def node_connected_component(G: Any, n: Any) -> set[Any]:
    G = adapt(G)
    if n not in G:
        raise KeyError(n)
    levels = G.run("bfs", G.id(n))["level"]
    places = np.flatnonzero(~np.ma.getmaskarray(levels)).tolist()
    return {G.nodes[place] for place in places}


def _attracting(graph: Converted) -> np.ndarray:
    """The numbers of the strong components that no edge leads out of, as labels; the others have -1."""
    labels = _strong_labels(graph)
    if len(labels) == 0:
        return labels
    # Counted from 1, for a vertex without edges comes to 0 in the product.
    own = labels + 1.0
    has_edges = graph.times(np.ones(len(graph))) > 0
    greatest = graph.times(own, semiring="max-times")
    least = graph.times(own, semiring="min-plus") - 1
    leaves = has_edges & ((greatest != own) | (least != own))
    is_left = np.zeros(labels.max() + 1, bool)
    is_left[labels[leaves]] = True
    return np.where(is_left[labels], -1, labels)


@implements(quick=True)
def attracting_components(G: Any) -> Iterator[set[Any]]:
    G = adapt(G)
    return _sets(G, _attracting(G))


@implements(quick=True)
def number_attracting_components(G: Any) -> int:
    labels = _attracting(adapt(G))
    return len(np.unique(labels[labels >= 0]))


@implements(quick=True)
def is_attracting_component(G: Any) -> bool:
    G = adapt(G)
    # An attracting component that is all of the graph is a strong component that is.
    return len(G) > 0 and count(G, strong=True) == 1


@implements(quick=True)
def is_directed_acyclic_graph(G: Any) -> Any:
    G = adapt(G)
    return G.is_directed() and count(G, strong=True) == len(G) and not G.loops.any()


@implements(quick=True)
def is_tree(G: Any) -> bool:
    G = adapt(G)
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return len(G) - 1 == G.number_of_edges() and count(G) == 1


@implements(quick=True)
def is_forest(G: Any) -> Any:
    G = adapt(G)
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    # Every component has at least one edge fewer than nodes.
    return len(G) - count(G) == G.number_of_edges()


@implements(quick=True)
def is_arborescence(G: Any) -> bool:
    G = adapt(G)
    return bool(is_tree(G) and G.in_degrees.max() <= 1)


@implements(quick=True)
def is_branching(G: Any) -> bool:
    G = adapt(G)
    return bool(is_forest(G) and G.in_degrees.max() <= 1)


@implements(local=True)
def is_eulerian(G: Any) -> bool:
    G = adapt(G)
    if G.is_directed():
        return bool((G.in_degrees == G.out_degrees).all()) and is_one(G, strong=True)
    return bool((G.degrees % 2 == 0).all()) and is_one(G)


@implements(quick=True)
def has_eulerian_path(G: Any, source: Any = None) -> bool:
    G = adapt(G)
    if is_eulerian(G):
        return True
    # From here on the graph has a source and an end, if it has a path.
    surplus = G.out_degrees - G.in_degrees if G.is_directed() else G.degrees % 2
    if source is not None and surplus[G.places[source]] != 1:
        return False
    if G.is_directed():
        within = (np.abs(surplus) <= 1).all() and (surplus == -1).sum() <= 1 and (surplus == 1).sum() <= 1
        return bool(within) and is_one(G)
    return int(surplus.sum()) == 2 and is_one(G)


@implements(quick=True)
def is_semieulerian(G: Any) -> bool:
    return has_eulerian_path(G := adapt(G)) and not is_eulerian(G)


@implements(quick=True)
def is_bipartite(G: Any) -> bool:
    G = adapt(G)
    if G.is_directed():
        # Directions do not matter: both parts are those of the graph without them.
        raise NotImplementedError("directed graphs are not supported")
    if G.loops.any():
        return False
    if not isinstance(G, Conversion):
        return is_bipartite_image(G.graph)
    labels = _labels(G, "connected_components")
    if len(labels) == 0:
        return True
    firsts = np.unique(labels, return_index=True)[1]
    rows, found = G.adjacency, by_levels(G.adjacency, firsts.tolist())
    is_odd = np.empty(len(G), bool)
    is_odd[found.places] = np.array(found.distances) % 2 == 1
    return not (is_odd[rows.sources] == is_odd[rows.targets]).any()
