"""The degrees of all vertices, one after the other."""

from collections.abc import Iterator
from typing import Any

import outcore
from outcore._outcore import Graph


def pairs(graph: Graph, edges: str) -> Iterator[tuple[Any, int]]:
    """Every vertex and its degree, in the order of results."""
    others = len(graph) - 1
    if others == 0:
        # A centrality of one vertex says nothing of its degree.
        looks = {"both": graph.degree, "in": graph.in_degree, "out": graph.out_degree}
        yield from ((vertex, looks[edges](vertex)) for vertex in graph)
        return
    found = outcore.degree_centrality(graph, edges=edges)  # type: ignore[arg-type]
    yield from ((vertex, round(share * others)) for vertex, share in found.items())
