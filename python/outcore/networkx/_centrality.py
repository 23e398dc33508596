"""Ranks and centralities."""

import inspect
import math
from numbers import Integral
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from outcore._errors import ConvergenceError, UsageError
from outcore.networkx._graph import Converted, adapt
from outcore.networkx._registry import Call, implements, named, simple, undirected, without
from outcore.networkx._searches import (
    distances_from_all,
    distances_of,
    neighbours,
    ordered_from_nearest,
    ordered_search,
    reached_within,
    search,
    sum_of,
)

# The least tolerance of power iteration: below it the last bits of sums decide whether NetworkX has an answer.
_LEAST_TOLERANCE = 1e-14


def _converges(given: Call) -> str | None:
    """Limits of iterations to which there may be no answer."""
    tol, max_iter = given["tol"], given["max_iter"]
    if not isinstance(tol, (int, float)) or not tol >= _LEAST_TOLERANCE:
        return f"expected tol= of at least {_LEAST_TOLERANCE:g}, found {tol!r}"
    if not isinstance(max_iter, Integral) or max_iter < 1:
        return f"expected a whole number above 0 as max_iter=, found {max_iter!r}"
    return None


@implements(without("nstart", "dangling"), _converges)
def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: dict[Any, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Any = None,
    weight: Any = "weight",
    dangling: Any = None,
) -> Any:
    G = adapt(G)
    if len(G) == 0:
        return {}
    name = G.weight(weight)
    options: dict[str, Any] = {"alpha": alpha, "max_iter": max_iter, "tol": tol, "stop": "networkx", "weight": name}
    try:
        if personalization is None:
            return G.by_node(G.run("pagerank", **options)["pagerank"])
        shares = {G.id(node): share for node, share in personalization.items() if node in G}
        if sum(shares.values()) == 0:
            raise ZeroDivisionError
        return G.by_node(G.run("personalized_pagerank", shares, **options)["pagerank"])
    except ConvergenceError:
        raise nx.PowerIterationFailedConvergence(max_iter) from None
    except UsageError as error:
        # Options that NetworkX takes: a damping beyond 1, negative weights.
        raise NotImplementedError(str(error)) from None


def _power_iteration(given: Call) -> str | None:
    return None if given["method"] == "power_iteration" else "another method than power iteration is not supported"


# NetworkX 3.6 takes the singular vector from ARPACK, which converges where as many steps of power iteration do not.
_HITS_ITERATES = "method" in inspect.signature(nx.hits).parameters


@implements(without("nstart"), _converges, _power_iteration)
def hits(
    G: Any,
    max_iter: int = 100,
    tol: float = 1.0e-8,
    nstart: Any = None,
    normalized: bool = True,
    *,
    method: str = "power_iteration",
) -> tuple[dict[Any, float], dict[Any, float]]:
    G = adapt(G)
    if len(G) == 0:
        return {}, {}
    # The greatest singular vectors of the adjacency matrix, as in Kleinberg: Authoritative sources in a hyperlinked
    # environment. JACM 1999. Power iteration ends when the vector of hubs stays the same.
    hubs = np.ones(len(G)) / len(G)
    most, change = (max_iter, tol) if _HITS_ITERATES else (max(1000, max_iter), min(tol, 1e-10))
    for _ in range(most):
        last = hubs
        authorities = G.times(last, "weight", transposed=True)
        hubs = G.times(authorities, "weight")
        greatest = hubs.max()
        if not 0 < greatest < math.inf:
            raise NotImplementedError("hubs that are all 0, or beyond 10^308, are not supported")
        hubs = hubs / greatest
        if np.abs(hubs - last).sum() < change:
            break
    else:
        raise nx.PowerIterationFailedConvergence(max_iter)
    if normalized:
        hubs, authorities = hubs / hubs.sum(), authorities / authorities.sum()
    elif _HITS_ITERATES:
        authorities = authorities / authorities.max()
    else:
        authorities = authorities / np.linalg.norm(authorities)
        hubs = G.times(authorities, "weight")
    return G.by_node(hubs), G.by_node(authorities)


@implements(without("weight"), simple, long=True)
def betweenness_centrality(
    G: Any,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> Any:
    G = adapt(G)
    options: dict[str, Any] = {"normalized": normalized, "endpoints": endpoints}
    if k is not None and k != len(G):
        # Before a node is drawn: NetworkX goes on with the same seed.
        if not 1 < k < len(G):
            raise NotImplementedError("fewer than two nodes as a sample are not supported")
        options["sources"] = [G.id(node) for node in seed.sample(G.nodes, k)]
    if len(G) == 0:
        return {}
    return G.by_node(G.run("betweenness_centrality", **options)["betweenness"])


@implements(without("sp"), named("distance"), long=True, local=("u",))
def closeness_centrality(
    G: Any, u: Any = None, distance: Any = None, wf_improved: bool = True, *, sp: Any = None
) -> Any:
    G = adapt(G)

    def closeness(total: float, reached: int) -> float:
        if total <= 0 or len(G) <= 1:
            return 0.0
        value = (reached - 1) / total
        return value * ((reached - 1) / (len(G) - 1)) if wf_improved else value

    def of(distances: np.ndarray) -> float:
        return closeness(sum_of(distances), int(np.ma.count(distances)))

    G.check_numbers(distance)
    # Distances to a node count, not from it.
    if u is not None:
        found = ordered_search(G.reversed, u, distance).distances
        return closeness(sum(found), len(found))
    if G.weight(distance) is None:
        if len(G) == 0:
            return {}
        # Not `all_pairs`, which holds a distance for every pair.
        found = G.run("multi_source_bfs", G.ids)
        sums, reached = found["distance_sum"].tolist(), found["reached_by"].tolist()
        return {node: closeness(*pair) for node, pair in zip(G.nodes, zip(sums, reached))}
    return {node: of(distances) for node, distances in distances_from_all(G.reversed, distance)}


@implements(named("distance"), long=True, local=("nbunch", "sources"))
def harmonic_centrality(G: Any, nbunch: Any = None, distance: Any = None, sources: Any = None) -> dict[Any, float]:
    G = adapt(G)
    G.check_numbers(distance)
    nodes, starts = G.bunch(nbunch), G.bunch(sources)
    every = (
        distances_from_all(G, distance)
        if sources is None
        else ((s, distances_of(search(G, s, distance))) for s in set(starts))
    )
    sums = np.zeros(len(G))
    for _, distances in every:
        places = reached_within(distances, None)
        values = np.ma.getdata(distances)[places]
        sums[places[values != 0]] += 1 / values[values != 0]
    # NetworkX has a whole 0 where there is nothing to add up, and its nodes in the order of a set.
    found = G.by_node(sums)
    return {node: found[node] or 0 for node in set(nodes)}


def _shares(graph: Converted, degrees: np.ndarray) -> dict[Any, float]:
    if len(graph) <= 1:
        return dict.fromkeys(graph, 1)
    return graph.by_node(degrees * (1.0 / (len(graph) - 1.0)))


@implements(quick=True)
def degree_centrality(G: Any) -> dict[Any, float]:
    return _shares(G := adapt(G), G.degrees)


@implements(quick=True)
def in_degree_centrality(G: Any) -> dict[Any, float]:
    return _shares(G := adapt(G), G.in_degrees)


@implements(quick=True)
def out_degree_centrality(G: Any) -> dict[Any, float]:
    return _shares(G := adapt(G), G.out_degrees)


def _start(graph: Converted, given: dict[Any, float], text: str) -> np.ndarray:
    try:
        return np.array([given[node] for node in graph.nodes], np.float64)
    except KeyError:
        raise nx.NetworkXError(text) from None


def _norm(values: np.ndarray) -> float:
    """The length of a vector; 1 if it is 0."""
    norm = float(np.linalg.norm(values))
    if not norm < math.inf:
        raise NotImplementedError("values whose squares are beyond 10^308 are not supported")
    return norm or 1


@implements(named("weight"), _converges)
def eigenvector_centrality(
    G: Any, max_iter: int = 100, tol: float = 1.0e-6, nstart: dict[Any, float] | None = None, weight: Any = None
) -> Any:
    G = adapt(G)
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    G.check_numbers(weight)
    x = np.ones(len(G)) if nstart is None else _start(G, nstart, "expected a value of nstart for every node")
    if not x.any():
        raise nx.NetworkXError("initial vector cannot have all zero values")
    x = x / x.sum()
    for _ in range(max_iter):
        last = x
        # The identity keeps bipartite graphs from oscillating.
        x = last + G.times(last, weight, transposed=True)
        x = x / _norm(x)
        if np.abs(x - last).sum() < len(G) * tol:
            return G.by_node(x)
    raise nx.PowerIterationFailedConvergence(max_iter)


@implements(named("weight"), _converges)
def katz_centrality(
    G: Any,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: dict[Any, float] | None = None,
    normalized: bool = True,
    weight: Any = None,
) -> Any:
    G = adapt(G)
    if len(G) == 0:
        return {}
    G.check_numbers(weight)
    x = np.zeros(len(G)) if nstart is None else _start(G, nstart, "expected a value of nstart for every node")
    try:
        added: Any = float(beta)
    except (TypeError, ValueError):
        text = "beta dictionary must have a value for every node"
        if set(beta) != set(G.nodes):
            raise nx.NetworkXError(text) from None
        added = _start(G, beta, text)
    for _ in range(max_iter):
        last = x
        x = alpha * G.times(last, weight, transposed=True) + added
        if np.abs(x - last).sum() < len(G) * tol:
            return G.by_node(x / _norm(x) if normalized else x)
    raise nx.PowerIterationFailedConvergence(max_iter)


def _group(graph: Converted, group: Any, direction: str) -> float:
    members = list(group)
    around = set().union(*(neighbours(graph, node, direction) for node in members)) - set(members)
    return len(around) / (len(graph) - len(members))


@implements(local=True)
def group_degree_centrality(G: Any, S: Any) -> float:
    return _group(adapt(G), S, "out")


@implements(local=True)
def group_in_degree_centrality(G: Any, S: Any) -> float:
    return _group(adapt(G), S, "in")


@implements(local=True)
def group_out_degree_centrality(G: Any, S: Any) -> float:
    return _group(adapt(G), S, "out")


@implements(without("weight"), undirected)
def group_closeness_centrality(G: Any, S: Any, weight: Any = None) -> float:
    G, members = adapt(G), set(S)
    if not members:
        raise ValueError("sources must not be empty")
    total = sum(ordered_from_nearest(G, members, None).distances)
    return (len(G) - len(members & set(G.nodes))) / total if total else 0
