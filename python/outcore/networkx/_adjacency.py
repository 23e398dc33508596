"""The nodes and edges of a graph of NetworkX as arrays, in its own order.

A row is the neighbours of a node, in the order in which they were added; rows are in the order of the nodes. Beside
the nodes and their places, arrays have 8 bytes per entry of a row, 1 more where edges have no direction, and 8 per such
or parallel edge; weights have 16 per edge, and searches by them 16 per entry. That is little beside the dict that each
edge is in NetworkX. No budget reserves it. Rows of views are copied as dicts.
"""

import operator
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np

from outcore._inputs.tables import PIECE_ROWS, weight_kind


class Rows(NamedTuple):
    """The neighbours of vertices as arrays."""

    # Where each row begins among the entries, and the number of all.
    starts: np.ndarray
    # The neighbour that each entry names.
    targets: np.ndarray
    # The edge of each entry.
    edges: np.ndarray


def rows_of(count: int, sources: np.ndarray, targets: np.ndarray, is_directed: bool) -> Rows:
    """The rows of so many vertices, of the ends of their edges."""
    edges = np.arange(len(sources))
    if not is_directed:
        is_double = sources != targets
        edges = np.concatenate([edges, edges[is_double]])
        sources, targets = np.concatenate([sources, targets[is_double]]), np.concatenate([targets, sources[is_double]])
    order = np.argsort(sources, kind="stable")
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=count), out=starts[1:])
    return Rows(starts, targets[order], edges[order])


def entries_of(starts: np.ndarray, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The entries of the rows of some vertices, row by row, and the length of each row."""
    counts = starts[vertices + 1] - starts[vertices]
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts[vertices] - ends + counts, counts), counts


class Adjacency:
    """The rows of a graph; with `is_reversed` those against the direction of its edges."""

    def __init__(self, graph: Any, is_reversed: bool = False) -> None:
        self.nodes: list[Any] = list(graph)
        self.is_directed, self.is_multigraph = graph.is_directed(), graph.is_multigraph()
        rows = (graph._pred if is_reversed and self.is_directed else graph._adj).values()
        # Rows of views are no dicts, and ask a filter at every step.
        self._rows = [row if type(row) is dict else dict(row.items()) for row in rows]
        self._weights: dict[Any, Weights | None] = {}
        self._entry_weights: dict[Any, Weights] = {}

    @cached_property
    def places(self) -> dict[Any, int]:
        """The place of each node."""
        return {node: place for place, node in enumerate(self.nodes)}

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each row begins among the entries, and the number of all."""
        starts = np.zeros(len(self._rows) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, self._rows), np.int64, len(self._rows)), out=starts[1:])
        return starts

    @cached_property
    def targets(self) -> np.ndarray:
        """The place of the neighbour that each entry names."""
        neighbours = map(self.places.__getitem__, chain.from_iterable(self._rows))
        return np.fromiter(neighbours, np.int32, int(self.starts[-1]))

    @cached_property
    def sources(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(len(self._rows), dtype=np.int32), np.diff(self.starts))

    @cached_property
    def _is_first(self) -> np.ndarray | None:
        """Which entries stand for edges: where these have no direction, each is in two rows."""
        return None if self.is_directed else self.sources <= self.targets

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of edges of each entry."""
        if not self.is_multigraph:
            return np.ones(int(self.starts[-1]), np.int64)
        return np.fromiter(map(len, self._entries()), np.int64, int(self.starts[-1]))

    @cached_property
    def _parallel(self) -> np.ndarray | None:
        """The number of edges of each entry that stands for some."""
        if not self.is_multigraph:
            return None
        return self.sizes if self._is_first is None else self.sizes[self._is_first]

    def _entries(self) -> Iterator[Any]:
        """The value of each entry: the data of an edge, or those of parallel ones by their keys."""
        return chain.from_iterable(row.values() for row in self._rows)

    @cached_property
    def data(self) -> list[Any]:
        """The data of each edge."""
        entries: Iterator[Any] = self._entries()
        if self._is_first is not None:
            entries = compress(entries, self._is_first.tolist())
        return list(chain.from_iterable(keys.values() for keys in entries) if self.is_multigraph else entries)

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """The places of both ends of each edge."""
        ends = self.sources, self.targets
        if self._is_first is not None:
            ends = ends[0][self._is_first], ends[1][self._is_first]
        if self._parallel is not None:
            ends = np.repeat(ends[0], self._parallel), np.repeat(ends[1], self._parallel)
        return ends

    def pieces(self, weights: "Weights | None") -> Iterator[tuple[np.ndarray, ...]]:
        """The edges piece by piece, and perhaps their weights."""
        sources, targets = self.edges
        for start in range(0, len(sources), PIECE_ROWS):
            chosen = slice(start, start + PIECE_ROWS)
            ends = sources[chosen].astype(np.int64), targets[chosen].astype(np.int64)
            yield ends if weights is None else (*ends, np.array(weights.values[chosen], weights.kind))

    def weights(self, attribute: Any) -> "Weights | None":
        """An attribute of edges as their weights, as it was read last: none if no edge has it, and each counts 1."""
        if attribute not in self._weights:
            self._weights[attribute] = self._read(attribute)
        return self._weights[attribute]

    def refresh(self, attribute: Any) -> bool:
        """Reads weights again that were read before; returns whether they are others."""
        if attribute not in self._weights:
            return False
        found, known = self._read(attribute), self._weights[attribute]
        if found is None or known is None:
            is_same = found is known
        else:
            # Numbers do not change, and equal ones of another kind count as others.
            is_same = all(map(operator.is_, found.values, known.values))
        if not is_same:
            self._weights[attribute] = found
            self._entry_weights.pop(attribute, None)
        return not is_same

    @cached_property
    def rows(self) -> Rows:
        """The rows, of which each entry knows its edge. There are no parallel edges."""
        if self._is_first is None:
            return Rows(self.starts, self.targets, np.arange(len(self.targets)))
        least, greatest = np.minimum(self.sources, self.targets), np.maximum(self.sources, self.targets)
        pairs = least.astype(np.int64) * len(self.nodes) + greatest
        known = pairs[self._is_first]
        order = np.argsort(known)
        return Rows(self.starts, self.targets, order[np.searchsorted(known, pairs, sorter=order)])

    @property
    def keys(self) -> list[Any]:
        """The key of each of the parallel edges."""
        entries: Iterator[Any] = self._entries()
        if self._is_first is not None:
            entries = compress(entries, self._is_first.tolist())
        return list(chain.from_iterable(entries))

    @property
    def attributes(self) -> list[Any]:
        """The attributes that weights were read from."""
        return list(self._weights)

    def _read(self, attribute: Any) -> "Weights | None":
        # Most graphs without weights have no data at all.
        if not any(self.data) or not any(attribute in data for data in self.data):
            return None
        return Weights(attribute, [data.get(attribute, 1) for data in self.data])

    def entry_weights(self, attribute: Any) -> "Weights":
        """The weight of each entry: of parallel edges the least."""
        if attribute not in self._entry_weights:
            if self.is_multigraph:
                values = [min(data.get(attribute, 1) for data in keys.values()) for keys in self._entries()]
            else:
                values = [data.get(attribute, 1) for data in self._entries()]
            self._entry_weights[attribute] = Weights(attribute, values)
        return self._entry_weights[attribute]


class Weights:
    """Weights of edges as NetworkX has them, and what kind of numbers they are."""

    def __init__(self, attribute: Any, values: list[Any]) -> None:
        self.values = values
        kinds = set(map(type, values))
        # Sums of numbers of one type have that type.
        self.type: Any = next(iter(kinds)) if len(kinds) == 1 else None
        # A type whose sums are neither int nor float, such as Fraction or a type of NumPy.
        self.other: Any = next(iter(kinds - {int, float}), None)
        self._attribute = attribute

    @cached_property
    def kind(self) -> str:
        """Their type in an image; an error if they are no numbers of 64 bits."""
        if self.type is float:
            return "f8"
        return weight_kind(str(self._attribute), self.values) or "i8"

    @cached_property
    def array(self) -> np.ndarray:
        return np.array(self.values, self.kind)
