"""Neighbours and edges of single vertices as NetworkX has them: mappings, edges by their targets, ego nets.

Each look reads a few lists, and nothing stays in memory.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral
from typing import Any, final

from outcore._options import ids_of
from outcore._outcore import Graph

# The most neighbours that a representation names.
_SHOWN = 10


@final
class Adjacency(Mapping[Any, "Neighbours"]):
    """All vertices of a graph, and the neighbours of each: `g.adj`."""

    __slots__ = ("_graph",)

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __getitem__(self, vertex: Any) -> "Neighbours":
        return neighbours(self._graph, vertex)

    def __contains__(self, vertex: object) -> bool:
        return vertex in self._graph

    def __iter__(self) -> Iterator[Any]:
        return iter(self._graph)

    def __len__(self) -> int:
        return len(self._graph)

    def __repr__(self) -> str:
        return f"<outcore.Adjacency of {self._graph!r}>"


@final
class Neighbours(Mapping[Any, dict[str, Any]]):
    """The neighbours of a vertex, and the attributes of the edges to them: `g[vertex]`.

    Of parallel edges it has the attributes of the first.
    """

    __slots__ = ("_graph", "_vertex")

    def __init__(self, graph: Graph, vertex: Any) -> None:
        self._graph, self._vertex = graph, vertex

    def __getitem__(self, neighbour: Any) -> dict[str, Any]:
        try:
            return self._graph.edges[self._vertex, neighbour]
        except KeyError:
            raise KeyError(neighbour) from None

    def __contains__(self, neighbour: object) -> bool:
        return (self._vertex, neighbour) in self._graph.edges

    def __iter__(self) -> Iterator[Any]:
        return iter(self._graph.successors(self._vertex))

    def __len__(self) -> int:
        return len(self._graph.successors(self._vertex))

    def __repr__(self) -> str:
        ids = self._graph.successors(self._vertex)
        more = ", ..." if len(ids) > _SHOWN else ""
        return f"<outcore.Neighbours of {self._vertex!r}: {', '.join(map(repr, ids[:_SHOWN]))}{more}>"


def neighbours(graph: Graph, vertex: Any) -> Neighbours:
    """The neighbours of a vertex; an id that no vertex has is refused."""
    if vertex not in graph:
        # Its error describes the ids of the graph.
        graph.neighbors(vertex)
    return Neighbours(graph, vertex)


@final
class InEdges:
    """The edges by their targets: `g.in_edges`."""

    __slots__ = ("_graph",)

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __call__(
        self, vertices: Any = None, data: bool | str | None = None, default: Any = None, *, weights: bool = False
    ) -> Any:
        """All edges, as `g.edges` has them, or a list of those that lead to some vertices."""
        graph = self._graph
        if vertices is None:
            return graph.edges(data=data, default=default, weights=weights)
        is_one = isinstance(vertices, str | Integral)
        found: list[tuple[Any, ...]] = []
        for target in dict.fromkeys([vertices] if is_one else ids_of(vertices)):
            if not data and weights:
                pairs = graph.neighbors(target, direction="in", weights=True)
                found += ((source, target, weight) for source, weight in pairs)
                continue
            if not data:
                found += ((source, target) for source in graph.neighbors(target, direction="in"))
                continue
            for source in graph.predecessors(target):
                # An id may be given as text.
                found += (row for row in graph.edges([source], data, default) if str(row[1]) == str(target))
        return found

    def __getitem__(self, edge: tuple[Any, Any]) -> dict[str, Any]:
        return self._graph.edges[edge]

    def __contains__(self, edge: object) -> bool:
        return edge in self._graph.edges

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._graph.edges)

    def __len__(self) -> int:
        return len(self._graph.edges)

    def __repr__(self) -> str:
        return f"<outcore.InEdges: {len(self)} edges>"


def distinct(ids: Iterable[Any]) -> list[Any]:
    """Sorted ids, each once."""
    return [vertex for vertex, _ in itertools.groupby(ids)]


def get_edge_data(graph: Graph, source: Any, target: Any, default: Any) -> Any:
    """See `Graph.get_edge_data`."""
    try:
        return graph.edges[source, target]
    except KeyError:
        return default


def ego_graph(graph: Graph, vertex: Any, radius: int, undirected: bool, image: Any, options: dict[str, Any]) -> Graph:
    """See `Graph.ego_graph`."""
    return graph.subgraph(within(graph, vertex, radius, undirected), image, **options)


def within(graph: Graph, vertex: Any, radius: int, undirected: bool) -> list[Any]:
    """The vertices within so many hops of one, near ones first."""
    looks = [graph.successors, graph.predecessors] if undirected and graph.is_directed() else [graph.successors]
    neighbours(graph, vertex)
    near = dict.fromkeys([vertex])
    frontier = [vertex]
    for _ in range(radius):
        if not frontier:
            break
        ends = dict.fromkeys(end for vertex in frontier for look in looks for end in look(vertex))
        frontier = [end for end in ends if end not in near]
        near.update(dict.fromkeys(frontier))
    return list(near)
