"""Graphs of the backend.

A graph of NetworkX is converted once into an image in memory, whose vertices are numbered as its nodes are ordered, so
that values of vertices are values of nodes in their order. An `outcore.Graph` is taken as it is, on the disk or not:
its nodes are its ids.
"""

import os
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from outcore import _algorithms, _outcore
from outcore._errors import InputError, UsageError
from outcore._graphs.importing import part
from outcore._inputs.tables import PIECE_ROWS, Chunks
from outcore._linalg.matrix import SparseMatrix
from outcore._outcore import AlgorithmResult, Graph, Runtime
from outcore.networkx._adjacency import Adjacency, Rows, rows_of


class Converted:
    """A graph as the functions of the backend see it: an `outcore.Graph`, whose nodes are its ids."""

    __networkx_backend__ = "outcore"
    # Whether nodes are the ids of the graph, rather than at these places.
    has_own_ids = True
    # The graph of NetworkX that it is made of.
    original: Any = None

    def __init__(self, graph: Graph, forward: "Converted | None" = None) -> None:
        self.graph = graph
        # The graph whose edges lead the other way, from which this one was made.
        self._forward = forward
        # The adjacency matrices that were asked for: by their weights, or `None` where each entry is 1.
        self._matrices: dict[Any, SparseMatrix] = {}
        info = graph.info()
        self._vertices, self._edges = info["vertices"], info["edges"]
        self._directed, self._multigraph = info["directed"], info["parallel_edges"]
        # The images by their weights; none for an attribute that no edge has, so that every edge counts 1.
        self._images: dict[Any, Graph | None] = {} if info["weights"] is None else {info["weights"]: graph}

    def is_directed(self) -> bool:
        return bool(self._directed)

    def is_multigraph(self) -> bool:
        return bool(self._multigraph)

    def __len__(self) -> int:
        return int(self._vertices)

    def number_of_nodes(self) -> int:
        return len(self)

    def number_of_edges(self) -> int:
        return int(self._edges)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        return node in self.graph

    @cached_property
    def nodes(self) -> list[Any]:
        """The nodes in the order of the vertices."""
        return list(self.graph)

    @cached_property
    def places(self) -> dict[Any, int]:
        """The place of each node in the order of the vertices."""
        return {node: place for place, node in enumerate(self.nodes)}

    @property
    def ids(self) -> list[Any]:
        """The ids of the nodes in the graph."""
        return self.nodes

    def id(self, node: Any, text: str = "Node {} not found in graph") -> Any:
        """The id of a node in the graph."""
        if node not in self:
            raise nx.NodeNotFound(text.format(node))
        return node

    def by_node(self, values: np.ndarray) -> dict[Any, Any]:
        """Nodes with their values."""
        return dict(zip(self.nodes, values.tolist()))

    def bunch(self, nodes: Any) -> list[Any]:
        """The nodes of a bunch, as NetworkX takes them: all, one, or those of an iterable that are there."""
        if nodes is None:
            return self.nodes
        if nodes in self:
            return [nodes]
        try:
            every = list(nodes)
        except TypeError:
            raise nx.NetworkXError(f"Node {nodes} is not in the graph.") from None
        wrong = next((node for node in every if not _is_hashable(node)), None)
        if wrong is not None:
            raise nx.NetworkXError(f"Node {wrong} in sequence nbunch is not a valid node.")
        return [node for node in every if node in self]

    def several(self, nodes: Any) -> list[Any]:
        """The nodes of a bunch for functions that take no single node."""
        if nodes is not None and nodes in self:
            raise nx.NetworkXError(f"expected nodes, found the single node {nodes!r}")
        return self.bunch(nodes)

    def run(self, name: str, *args: Any, **options: Any) -> AlgorithmResult:
        """The result of an algorithm."""
        function: Callable[..., AlgorithmResult] = getattr(_algorithms, name)
        return function(self.image(options.get("weight")), *args, **options)

    def weight(self, attribute: Any) -> Any:
        """The weights that an attribute of edges stands for: none, so that every edge counts 1, where it is missing."""
        if attribute is None:
            return None
        name = str(attribute)
        if name not in self._images:
            if self._forward is None:
                self._images[name] = self.graph._weighing(name)
            else:
                known = self._forward.weight(attribute)
                self._images[name] = None if known is None else self._forward.image(known).reverse()
        return None if self._images[name] is None else name

    def number_type(self, attribute: Any) -> Any:
        """The type of all weights, or nothing if there are several."""
        name = self.weight(attribute)
        if name is None:
            return int
        return float if self.image(name).info()["weight_type"].startswith("f") else int

    def check_numbers(self, attribute: Any) -> None:
        """An error if weights have types whose sums are neither int nor float."""

    def image(self, weights: str | None) -> Graph:
        """The image with these weights; without them any will do."""
        found = None if weights is None else self._images[weights]
        return self.graph if found is None else found

    @cached_property
    def _rows(self) -> np.ndarray | None:
        """The vertex of each row, where rows are not in the order of the vertices: they are in that of the ids."""
        if self.graph.order == "input":
            return None
        return np.array(sorted(range(len(self)), key=self.nodes.__getitem__), np.int64)

    def _matrix(self, attribute: Any) -> SparseMatrix:
        name = self.weight(attribute)
        if name not in self._matrices:
            self._matrices[name] = SparseMatrix(self.image(name), values=name is not None)
        return self._matrices[name]

    def times(self, values: np.ndarray, attribute: Any = None, **options: Any) -> np.ndarray:
        """The product of the adjacency matrix with values of vertices, by `SparseMatrix.multiply`."""
        matrix, rows = self._matrix(attribute), self._rows
        if rows is None:
            return matrix.multiply(values, **options)
        product = np.empty(len(self))
        product[rows] = matrix.multiply(values[rows], **options)
        return product

    @cached_property
    def loops(self) -> np.ndarray:
        """The numbers of edges from each vertex to itself."""
        diagonal = self._matrix(None).diagonal()
        if self._rows is None:
            return diagonal
        loops = np.empty(len(self))
        loops[self._rows] = diagonal
        return loops

    @cached_property
    def out_degrees(self) -> np.ndarray:
        """An edge from a vertex to itself counts twice where edges have no direction."""
        ones = self.times(np.ones(len(self)))
        return (ones if self.is_directed() else ones + self.loops).astype(np.int64)

    @cached_property
    def in_degrees(self) -> np.ndarray:
        if not self.is_directed():
            return self.out_degrees
        return self.times(np.ones(len(self)), transposed=True).astype(np.int64)

    @property
    def degrees(self) -> np.ndarray:
        return self.out_degrees + self.in_degrees if self.is_directed() else self.out_degrees

    @cached_property
    def reversed(self) -> "Converted":
        """The graph with every edge the other way: a copy in memory, but of an image on the disk its incoming edges."""
        if not self.is_directed():
            return self
        return Converted(self.graph.reverse(), self) if self.graph.path is None else Against(self)

    def edge_pieces(self, attribute: Any) -> Iterator[tuple[np.ndarray, np.ndarray, list[Any]]]:
        """The places of both ends of each edge, and its weight as a number of Python's, some edges at a time."""
        name = self.weight(attribute)
        rows = iter(self.image(name).edges(weights=name is not None))
        while batch := list(islice(rows, PIECE_ROWS)):
            source, target, *weights = zip(*batch)
            ends = (np.array([self.places[node] for node in column]) for column in (source, target))
            yield (*ends, list(weights[0]) if weights else [1] * len(batch))  # type: ignore[misc]

    def edge_arrays(self, attribute: Any) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        """The places of both ends of each edge, and its weight as a number of Python's."""
        pieces = list(self.edge_pieces(attribute))
        if len(pieces) == 1:
            return pieces[0]
        if not pieces:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), []
        sources, targets, values = zip(*pieces)
        return np.concatenate(sources), np.concatenate(targets), list(chain.from_iterable(values))

    def rows(self, sources: np.ndarray, targets: np.ndarray) -> Rows:
        """The neighbours of the vertices as arrays, of the edges that `edge_arrays` has, none of them parallel."""
        return rows_of(len(self), sources, targets, self.is_directed())

    def part(self, is_chosen: np.ndarray) -> Any:
        """The subgraph of some vertices: a graph in memory."""
        return part(self.graph, None, False, None, None, None, np.flatnonzero(is_chosen).astype(np.uint32))


class Against(Converted):
    """An image on the disk whose edges are followed against their direction, by the lists of incoming edges: searches
    by numbers of edges alone."""

    def __init__(self, forward: Converted) -> None:
        super().__init__(forward.graph, forward)

    def weight(self, attribute: Any) -> Any:
        return self._forward.weight(attribute)  # type: ignore[union-attr]

    def run(self, name: str, *args: Any, **options: Any) -> AlgorithmResult:
        raise NotImplementedError("searches by weights against the direction of edges need a reversed image")


# A search of NetworkX takes as long per vertex that it reaches as one of Outcore for so many vertices.
_PIECES = 40


class Calls:
    """The number of calls that a conversion served, which outlives it."""

    number = 0


class Conversion(Converted):
    """A graph of NetworkX, whose nodes are vertices in their order. It is read once, when a function needs it: never
    where NetworkX answers."""

    has_own_ids = False
    # Rows are in the order of the vertices.
    _rows = None

    def __init__(self, origin: Any, is_reversed: bool = False) -> None:
        # Weak, for the graph of NetworkX holds this conversion in its cache.
        self._origin = weakref.ref(origin)
        self._is_reversed = is_reversed
        self._directed, self._multigraph = origin.is_directed(), origin.is_multigraph()
        self._matrices, self._images = {}, {}
        self._process = os.getpid()
        # The state of the graph behind a view that was converted.
        self.state: object = None
        self.calls = Calls()
        # The size of the graph when it was read.
        self._size = (0, 0)
        # The attributes that the next call needs; all if it may need any.
        self.doubtful: Iterable[Any] | None = ()

    @property
    def original(self) -> Any:
        """The graph of NetworkX that it is made of."""
        found = self._origin()
        if found is None:
            raise NotImplementedError("the graph of NetworkX is gone that is asked for")
        return found

    @cached_property
    def adjacency(self) -> Adjacency:
        self._size = _size(self.original)
        return Adjacency(self.original, self._is_reversed)

    @property
    def is_read(self) -> bool:
        """Whether anything of it has been made."""
        return "adjacency" in self.__dict__

    def is_of(self, graph: Any) -> bool:
        """Whether it is made of this graph of NetworkX."""
        return self._origin() is graph

    @property
    def is_current(self) -> bool:
        """Whether the graph keeps it: edits by NetworkX's methods drop it."""
        graph: Any = self._origin()
        known = getattr(graph, "__networkx_cache__", None)
        if known is None or known.get(_KEY) is not self:
            return False
        return self.state is None or self.state is state_behind(graph)

    @property
    def is_of_this_process(self) -> bool:
        """A fork has the conversions of its parent, which it cannot use."""
        return self._process == os.getpid()

    def refresh(self) -> None:
        """Drops weights that have changed behind NetworkX's back, of those that the next call needs, and everything if
        the size of the graph has: `add_edges_from` and its like clear the cache behind their loop, and not if it
        fails."""
        against = self.__dict__.get("reversed", self)
        if against is not self:
            against.doubtful = self.doubtful
            against.refresh()
        if not self.is_read:
            return
        if self._size != _size(self.original):
            for name in list(self.__dict__):
                if isinstance(getattr(type(self), name, None), cached_property):
                    del self.__dict__[name]
            self._images, self._matrices = {}, {}
            return
        rows = self.adjacency
        for attribute in rows.attributes if self.doubtful is None else self.doubtful:
            if rows.refresh(attribute):
                self._images.pop(attribute, None)
                self._matrices.pop(attribute, None)

    def __len__(self) -> int:
        return len(self.adjacency.nodes)

    def number_of_edges(self) -> int:
        return len(self.adjacency.edges[0])

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.places
        except TypeError:
            # Values that cannot be hashed are no nodes.
            return False

    @property
    def nodes(self) -> list[Any]:
        return self.adjacency.nodes

    @property
    def places(self) -> dict[Any, int]:
        return self.adjacency.places

    @property
    def ids(self) -> list[Any]:
        return list(range(len(self)))

    def id(self, node: Any, text: str = "Node {} not found in graph") -> Any:
        super().id(node, text)
        return self.places[node]

    @property
    def graph(self) -> Graph:  # type: ignore[override]
        """An image of it, with any weights or without."""
        found = next((image for image in self._images.values() if image is not None), None)
        if found is None:
            found = self._images[_NO_WEIGHTS] = self._import(None)
        return found

    def weight(self, attribute: Any) -> Any:
        if attribute is None or self.adjacency.weights(attribute) is None:
            return None
        return attribute

    def number_type(self, attribute: Any) -> Any:
        weights = None if attribute is None else self.adjacency.weights(attribute)
        return int if weights is None else weights.type

    def check_numbers(self, attribute: Any) -> None:
        weights = None if attribute is None else self.adjacency.weights(attribute)
        if weights is not None and weights.other is not None:
            text = "weights of other types than int and float are not supported"
            raise NotImplementedError(f"{text}, found {weights.other.__qualname__}")

    def run(self, name: str, *args: Any, **options: Any) -> AlgorithmResult:
        image = self.image(options.get("weight"))
        if options.get("weight") is not None:
            options["weight"] = str(options["weight"])
        function: Callable[..., AlgorithmResult] = getattr(_algorithms, name)
        return function(image, *args, **options)

    def image(self, weights: Any) -> Graph:
        if weights is None:
            return self.graph
        if weights not in self._images:
            self._images[weights] = self._import(weights)
            self._images.pop(_NO_WEIGHTS, None)
        return self._images[weights]  # type: ignore[return-value]

    def _import(self, attribute: Any) -> Graph:
        """An image in memory, with an attribute of edges as weights."""
        columns, weights = [("source", "i8"), ("target", "i8")], None
        try:
            if attribute is not None:
                weights = self.adjacency.weights(attribute)
                columns.append((str(attribute), weights.kind))  # type: ignore[union-attr]
            edges = Chunks(columns, self.adjacency.pieces(weights))
            return _import(edges, len(self), self.is_directed(), self.is_multigraph(), attribute is not None)
        except (InputError, UsageError, TypeError, ValueError, OverflowError) as error:
            # Weights that are no numbers, or infinite.
            raise NotImplementedError(str(error)) from None

    @cached_property
    def is_in_pieces(self) -> bool:
        """Whether so few pairs of nodes are in one component that searches of NetworkX, which see no other, are shorter
        than arrays with a value per vertex."""
        sizes = np.unique(self.run("connected_components")["component"], return_counts=True)[1]
        return len(self) > 0 and int((sizes**2).sum()) * _PIECES < len(self) ** 2

    @cached_property
    def reversed(self) -> "Converted":
        return Conversion(self.original, is_reversed=True) if self.is_directed() else self

    def edge_pieces(self, attribute: Any) -> Iterator[tuple[np.ndarray, np.ndarray, list[Any]]]:
        weights = None if attribute is None else self.adjacency.weights(attribute)
        source, target = self.adjacency.edges
        yield source, target, [1] * len(source) if weights is None else weights.values

    def rows(self, sources: np.ndarray, targets: np.ndarray) -> Rows:
        return self.adjacency.rows

    def part(self, is_chosen: np.ndarray) -> Any:
        """The subgraph of some vertices: a graph of NetworkX with its attributes."""
        nodes = [self.nodes[place] for place in np.flatnonzero(is_chosen).tolist()]
        return self.original.subgraph(nodes).copy()

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy of a graph of NetworkX, in another process or here, is converted anew.
        return _no_conversion, ()


def _size(graph: Any) -> tuple[int, int]:
    """The number of nodes and of entries in their rows; of a view those of the graph behind it, which are
    quicker to count."""
    while getattr(graph, "_graph", None) is not None:
        graph = graph._graph
    return len(graph), sum(map(len, graph._adj.values()))


# The key of an image without weights among those by their weights.
_NO_WEIGHTS = object()


def adapt(graph: Any) -> Converted:
    """A graph of the backend as the functions see it."""
    return graph if isinstance(graph, Converted) else Converted(graph)


def _no_conversion() -> None:
    return None


# The runtimes that were asked for, by process and limits of memory and threads.
_RUNTIMES: dict[tuple[int, Any, Any], Runtime] = {}


def _runtime() -> Runtime | None:
    """The runtime of `nx.config.backends.outcore`; without limits that of the process."""
    config = nx.config.backends.outcore
    limits = (os.getpid(), config.memory, config.threads)
    if limits[1:] == (None, None):
        return None
    if limits not in _RUNTIMES:
        _RUNTIMES[limits] = Runtime(memory=config.memory, threads=config.threads)
    return _RUNTIMES[limits]


def _import(edges: Chunks, count: int, directed: bool, parallel: bool, has_weights: bool) -> Graph:
    """A graph in memory, of edges between the first so many integers. Checks of options are left out."""
    limits = {"memory": None, "threads": None, "backend": "auto", "temporary": None, "progress": False}
    options: dict[str, Any] = {
        "directed": directed,
        "format": None,
        "source": "1",
        "target": "2",
        "weight": "3" if has_weights else None,
        "delimiter": None,
        "header": None,
        "comment": None,
        "ids": "integer",
        "nulls": "error",
        "order": "input",
        "attributes": (False, []),
        "conditions": [],
        "bipartite": None,
        "require_edges": 0,
        "refuse_empty_files": False,
        "allow_repeated": False,
        "duplicates": "keep" if parallel else "first",
        "self_loops": "keep",
        "replace": False,
        "allow_empty": True,
        "explain": False,
        "is_matrix": False,
        "rows": None,
        "shape": None,
        "limits": limits | {"runtime": _runtime()},
    }
    report = _outcore.import_tables(edges, "the NetworkX graph", None, (None, count), options)
    graph: Graph = report["graph"]
    return graph


# Where a conversion is among what NetworkX keeps with a graph, and clears when a method changes the graph.
_KEY = "outcore"


def cached_conversion(graph: Any) -> Conversion | None:
    """The conversion that is kept with a graph, if the graph is still the one that was converted."""
    known = getattr(graph, "__networkx_cache__", None)
    found = known.get(_KEY) if known and nx.config.cache_converted_graphs else None
    if not isinstance(found, Conversion) or not found.is_of_this_process:
        return None
    # A shallow copy of a graph shares its cache.
    if not found.is_of(graph):
        return None
    if found.state is not state_behind(graph):
        return None
    return found


def state_behind(graph: Any) -> object:
    """Of a view, an object that stands for the state of the graph behind it: another one after a change, and at every
    call where changes cannot be noticed. Of other graphs nothing, since NetworkX clears their caches."""
    if getattr(graph, "_graph", None) is None:
        return None
    while getattr(graph, "_graph", None) is not None:
        if not all(_is_constant(getattr(graph, name, nx.filters.no_filter)) for name in ("_NODE_OK", "_EDGE_OK")):
            return object()
        graph = graph._graph
    known = getattr(graph, "__networkx_cache__", None)
    return object() if known is None else known.setdefault("outcore state", _State())


class _State:
    """The state of a graph; copies of the graph have none."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _State, ()


def _is_constant(node_filter: Any) -> bool:
    """Whether a filter of NetworkX shows or hides nodes or edges that were named, and no others later."""
    return getattr(node_filter, "__module__", None) == "networkx.classes.filters"


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: dict[Any, Any] | None = None,
    node_attrs: Any = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> Any:
    """A graph of NetworkX as one of the backend. Nothing of it is read before a function needs it."""
    if isinstance(graph, (Graph, Converted)):
        return graph
    if not isinstance(graph, nx.Graph):
        raise NotImplementedError(f"expected a graph, found a {type(graph).__name__}")
    if not _is_plain(graph.__class__):
        raise NotImplementedError(f"expected a graph with NetworkX's own edges, found a {type(graph).__name__}")
    if _is_union(graph):
        raise NotImplementedError("an undirected view of a directed graph is not supported")
    if edge_attrs is not None and len(edge_attrs) > 1:
        raise NotImplementedError(f"expected one attribute of edges, found {sorted(map(str, edge_attrs))}")
    found = cached_conversion(graph)
    if found is not None:
        found.doubtful = None if preserve_edge_attrs else edge_attrs or ()
        return found
    found = Conversion(graph)
    known = getattr(graph, "__networkx_cache__", None)
    if nx.config.cache_converted_graphs and known is not None:
        found.state = state_behind(graph)
        known[_KEY] = found
    return found


def _is_union(graph: Any) -> bool:
    """Whether a graph is an undirected view of a directed one, where an edge has other data in the row of each end."""
    if graph.is_directed():
        return False
    while getattr(graph, "_graph", None) is not None:
        graph = graph._graph
        if graph.is_directed():
            return True
    return False


def _is_hashable(node: object) -> bool:
    """Whether it could be a node. A tuple says that it is hashable, whatever is in it."""
    try:
        hash(node)
    except TypeError:
        return False
    return True


_CLASSES = (nx.MultiDiGraph, nx.MultiGraph, nx.DiGraph, nx.Graph)
# The parts of a graph that functions of NetworkX read.
_READ = (
    "__getitem__", "__iter__", "adj", "adjacency", "degree", "edges", "is_directed", "is_multigraph", "neighbors",
    "nodes",
)  # fmt: skip


_PLAIN: dict[type[Any], bool] = {}


def _is_plain(kind: type[Any]) -> bool:
    """Whether graphs of a class are read as NetworkX's are. Others may have neighbours that are no edges, as NetworkX's
    own complement of a graph does, which stores the edges that it has not."""
    if kind not in _PLAIN:
        base = next(one for one in kind.__mro__ if one in _CLASSES)
        _PLAIN[kind] = all(getattr(kind, name) is getattr(base, name) for name in _READ)
    return _PLAIN[kind]


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Results as they are; a graph that was converted is the one that it was made of."""
    if isinstance(result, Conversion):
        return result.original
    if isinstance(result, (Graph, Converted)):
        raise NotImplementedError("an outcore.Graph is not converted to NetworkX: that would be a dict of dicts")
    return result
