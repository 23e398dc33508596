"""Betweenness of edges: Brandes, On variants of shortest-path betweenness centrality and their generic computation.
Social Networks 2008.

Searches from several sources at once pass level by level over pairs of a search and a vertex. Paths are counted, and
shares are added up, in the order of NetworkX, so that sums have the same bits: programs take the edge of the greatest
value, and edges of symmetric graphs tie. Beside the graph a batch of searches has about 100 bytes per pair.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from outcore.networkx._adjacency import Rows, entries_of
from outcore.networkx._graph import adapt
from outcore.networkx._registry import implements, simple, without

# About the number of pairs of a search with a vertex or an edge that are held at once.
_PAIRS = 2**18


def _firsts(numbers: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Which numbers were not there before. `first` is as long as numbers are great, and is written."""
    places = np.arange(len(numbers))
    # In reverse, the first one is assigned last.
    first[numbers[::-1]] = places[::-1]
    is_first: np.ndarray = first[numbers] == places
    return is_first


def _shares(rows: Rows, count: int, edges: int, sources: np.ndarray) -> np.ndarray:
    """For each source and edge the sum, over all targets, of the shares of shortest paths that the edge is on."""
    pairs = len(sources) * count
    depths, paths, place = np.full(pairs, -1, np.int32), np.zeros(pairs), np.empty(pairs, np.int64)
    level = np.arange(len(sources)) * count + sources
    depths[level], paths[level] = 0, 1.0
    levels: list[tuple[np.ndarray, ...]] = []
    while len(level):
        vertices = level % count
        entries, counts = entries_of(rows.starts, vertices)
        origins = np.repeat(level, counts)
        reached = origins + rows.targets[entries] - np.repeat(vertices, counts)
        depth = len(levels) + 1
        depths[reached[depths[reached] < 0]] = depth
        is_next = depths[reached] == depth
        origins, reached, entries = origins[is_next], reached[is_next], entries[is_next]
        np.add.at(paths, reached, paths[origins])
        level = reached[_firsts(reached, place)]
        # NetworkX goes back over the vertices of a search in reverse.
        place[level] = np.arange(len(level))
        order = np.argsort(-place[reached], kind="stable")
        levels.append((origins[order], reached[order], rows.edges[entries[order]]))
    dependencies, shares = np.zeros(pairs), np.zeros((len(sources), edges))
    for origins, reached, crossed in reversed(levels):
        parts = paths[origins] * ((1 + dependencies[reached]) / paths[reached])
        np.add.at(dependencies, origins, parts)
        shares[origins // count, crossed] = parts
    return shares


def _totals(rows: Rows, count: int, edges: int, sources: Sequence[int]) -> np.ndarray:
    """The shares of each edge, added up over the sources in their order."""
    totals, batch = np.zeros(edges), max(1, _PAIRS // (count + edges + 1))
    for start in range(0, len(sources), batch):
        for shares in _shares(rows, count, edges, np.array(sources[start : start + batch], np.int64)):
            totals += shares
    return totals


@implements(without("weight"), simple, long=True)
def edge_betweenness_centrality(
    G: Any, k: int | None = None, normalized: bool = True, weight: Any = None, seed: Any = None
) -> Any:
    G = adapt(G)
    sources: Sequence[int] = range(len(G))
    if k is not None:
        if not 1 <= k <= len(G):
            # Before a node is drawn: NetworkX has its own error, with the same seed.
            raise ValueError(f"expected k from 1 to {len(G)}, the number of nodes, found {k}")
        sources = [G.places[node] for node in seed.sample(list(G.nodes), k)]
    one, other, _ = G.edge_arrays(None)
    totals = _totals(G.rows(one, other), len(G), len(one), sources)
    if len(G) >= 2:
        pairs = len(sources) * (len(G) - 1)
        # Without directions each pair of nodes is counted from both.
        scale = 1 / pairs if normalized else len(G) / (len(sources) * (1 if G.is_directed() else 2))
        totals = totals * scale
    names = zip(map(G.nodes.__getitem__, one.tolist()), map(G.nodes.__getitem__, other.tolist()))
    return dict(zip(names, totals.tolist()))
