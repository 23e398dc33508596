"""Graphs of the backend, and the functions that it has.

A graph of NetworkX is converted once into an image in memory, whose vertices are numbered as its nodes are ordered, so
that values of vertices are values of nodes in their order. An `outcore.Graph` is taken as it is, on the disk or not:
its nodes are its ids.
"""

import inspect
import os
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from outcore import _algorithms, _outcore
from outcore._errors import InputError, UsageError
from outcore._graphs.importing import part
from outcore._inputs.tables import PIECE_ROWS, Chunks, transposed, weight_kind
from outcore._linalg.matrix import SparseMatrix
from outcore._outcore import AlgorithmResult, Graph, Runtime

# The functions of the backend, by the names of NetworkX.
FUNCTIONS: dict[str, Callable[..., Any]] = {}
_SIGNATURES: dict[str, inspect.Signature] = {}
# Why a function cannot be run with some arguments, and which take no longer than a conversion.
_LIMITS: dict[str, tuple[Callable[[dict[str, Any]], str | None], ...]] = {}
_QUICK: set[str] = set()

Limit = Callable[[dict[str, Any]], str | None]


def implements(*limits: Limit, quick: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function under its name. Each limit says of its arguments why it cannot take them, or nothing.
    What is quick passes over the edges once or twice, which a conversion does too."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS[function.__name__] = function
        _SIGNATURES[function.__name__] = inspect.signature(function)
        _LIMITS[function.__name__] = limits
        if quick:
            _QUICK.add(function.__name__)
        return function

    return register


def without(*names: str) -> Limit:
    """Options that must have their defaults."""

    def limit(given: dict[str, Any]) -> str | None:
        used = next((name for name in names if given[name] is not None), None)
        return None if used is None else f"{used}= is not supported"

    return limit


def named(option: str) -> Limit:
    """A weight that must be the name of an attribute."""

    def limit(given: dict[str, Any]) -> str | None:
        return f"a function as {option}= is not supported" if callable(given[option]) else None

    return limit


def simple(given: dict[str, Any]) -> str | None:
    """Graphs that must have no parallel edges."""
    return "multigraphs are not supported" if given["G"].is_multigraph() else None


def undirected(given: dict[str, Any]) -> str | None:
    """Graphs whose edges must have no direction."""
    return "directed graphs are not supported" if given["G"].is_directed() else None


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a function takes these arguments, or why not."""
    try:
        bound = _SIGNATURES[name].bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    bound.apply_defaults()
    reasons = (limit(bound.arguments) for limit in _LIMITS[name])
    return next((reason for reason in reasons if reason is not None), True)


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a function is worth a conversion, or why not."""
    graph = _SIGNATURES[name].bind(*args, **kwargs).arguments["G"]
    known = getattr(graph, "__networkx_cache__", None) or {}
    if known.get("backends", {}).get("outcore"):
        return True
    least, edges = nx.config.backends.outcore.min_edges, graph.number_of_edges()
    if edges < least:
        return f"the graph has {edges} edges, and NetworkX is quick with fewer than {least} (min_edges)"
    if name in _QUICK:
        return "converting the graph takes as long as NetworkX needs for this"
    return True


class Converted:
    """A graph as the functions of the backend see it."""

    __networkx_backend__ = "outcore"

    def __init__(
        self,
        graph: Graph,
        nodes: list[Any] | None = None,
        origin: Any = None,
        load: Callable[[Any], Graph | None] | None = None,
    ) -> None:
        self.graph = graph
        self._nodes = nodes
        # Weak, for the graph of NetworkX holds this conversion in its cache.
        self._origin = None if origin is None else weakref.ref(origin)
        # A function that makes the image whose weights are another attribute.
        self._load = load
        self._process = os.getpid()
        # The adjacency matrices that were asked for: by their weights, or `None` where each entry is 1.
        self._matrices: dict[str | None, SparseMatrix] = {}
        # Whether nodes are the ids of the graph, rather than at these places.
        self.has_own_ids = nodes is None
        info = graph.info()
        self.vertices, self.edges = info["vertices"], info["edges"]
        # The attribute that the weights of this image are.
        self.weights: str | None = info["weights"]
        # The images by their weights; none for an attribute that no edge has, so that every edge counts 1.
        self.images: dict[str, Graph | None] = {} if self.weights is None else {self.weights: graph}
        self._directed, self._multigraph = info["directed"], info["parallel_edges"]

    def is_directed(self) -> bool:
        return bool(self._directed)

    def is_multigraph(self) -> bool:
        return bool(self._multigraph)

    def __len__(self) -> int:
        return int(self.vertices)

    def number_of_nodes(self) -> int:
        return int(self.vertices)

    def number_of_edges(self) -> int:
        return int(self.edges)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        if self.has_own_ids:
            return node in self.graph
        try:
            return node in self.places
        except TypeError:
            # Values that cannot be hashed are no nodes.
            return False

    @property
    def nodes(self) -> list[Any]:
        """The nodes in the order of the vertices."""
        if self._nodes is None:
            self._nodes = list(self.graph)
        return self._nodes

    @cached_property
    def places(self) -> dict[Any, int]:
        """The place of each node in the order of the vertices."""
        return {node: place for place, node in enumerate(self.nodes)}

    @property
    def ids(self) -> list[Any]:
        """The ids of the nodes in the graph."""
        return self.nodes if self.has_own_ids else list(range(len(self)))

    def id(self, node: Any, text: str = "Node {} not found in graph") -> Any:
        """The id of a node in the graph."""
        if node not in self:
            raise nx.NodeNotFound(text.format(node))
        return node if self.has_own_ids else self.places[node]

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
            return [node for node in nodes if node in self]
        except TypeError:
            raise nx.NetworkXError(f"Node {nodes} is not in the graph.") from None

    def run(self, name: str, *args: Any, **options: Any) -> AlgorithmResult:
        """The result of an algorithm."""
        function: Callable[..., AlgorithmResult] = getattr(_algorithms, name)
        return function(self._image(options.get("weight")), *args, **options)

    def weight(self, attribute: Any) -> str | None:
        """The weights that an attribute of edges stands for: none, so that every edge counts 1, where it is missing."""
        if attribute is None:
            return None
        name = str(attribute)
        if name not in self.images:
            self.images[name] = None if self._load is None else self._load(attribute)
        return None if self.images[name] is None else name

    def _image(self, weights: str | None) -> Graph:
        """The image with these weights; without them any will do."""
        found = None if weights is None else self.images[weights]
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
            self._matrices[name] = SparseMatrix(self._image(name), values=name is not None)
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
        """The graph with every edge the other way: a copy in memory."""
        if not self.is_directed():
            return self
        if self.has_own_ids and self.graph.path is not None:
            raise NotImplementedError("searches against the direction of edges need a reversed image")

        def turn(attribute: Any) -> Graph | None:
            name = self.weight(attribute)
            return None if name is None else self._turned(name)

        return Converted(self._turned(self.weights), self.nodes, load=turn)

    def _turned(self, weights: str | None) -> Graph:
        columns = [("source", "i8"), ("target", "i8")]
        if weights is not None:
            kind = "f8" if self._image(weights).info()["weight_type"].startswith("f") else "i8"
            columns.append((weights, kind))
        pieces = (tuple(arrays) for arrays in self.edge_arrays(weights))
        third = None if weights is None else "3"
        return _import(Chunks(columns, pieces), self.vertices, True, self.is_multigraph(), third, ("2", "1"))

    def edge_arrays(self, weights: str | None) -> Iterator[list[np.ndarray]]:
        """The edges between places of nodes, and perhaps their weights, batch by batch."""
        rows = iter(self._image(weights).edges(weights=weights is not None))
        while batch := list(islice(rows, PIECE_ROWS)):
            columns: list[Any] = list(zip(*batch))
            if self.has_own_ids:
                columns[:2] = [[self.places[node] for node in column] for column in columns[:2]]
            yield [np.array(column) for column in columns]

    def here(self) -> "Converted":
        """The same conversion in this process: a fork has that of its parent, which it cannot use."""
        if self._process == os.getpid() or self.has_own_ids:
            return self
        attributes = {} if self.weights is None else {self.weights: 1}
        again: Converted = convert_from_nx(self.original(), edge_attrs=attributes)
        return again

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy of a graph of NetworkX, in another process or here, is converted anew.
        return _no_conversion, ()

    def original(self) -> Any:
        """The graph of NetworkX that it was made of."""
        found = self._origin and self._origin()
        if found is None:
            raise NotImplementedError("an outcore.Graph is not converted to NetworkX: that would be a dict of dicts")
        return found


def adapt(graph: Any) -> Converted:
    """A graph of the backend as the functions see it."""
    return graph.here() if isinstance(graph, Converted) else Converted(graph, load=_weighing(graph))


def _weighing(graph: Graph) -> Callable[[Any], Graph | None]:
    """A function that makes the graph whose weights are another attribute of its edges, if it has that."""
    return lambda attribute: graph._weighing(str(attribute))


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


def _import(
    edges: Any, count: int, directed: bool, parallel: bool, weights: str | None, columns: tuple[str, str]
) -> Graph:
    """A graph in memory, of edges between the first so many integers. Checks of options are left out."""
    limits = {"memory": None, "threads": None, "backend": "auto", "temporary": None, "progress": False}
    options: dict[str, Any] = {
        "directed": directed, "format": None, "source": columns[0], "target": columns[1], "weight": weights,
        "delimiter": None, "header": None, "comment": None, "ids": "integer", "nulls": "error", "order": "input",
        "attributes": (False, []), "conditions": [], "bipartite": None, "require_edges": 0,
        "duplicates": "keep" if parallel else "first", "self_loops": "keep", "replace": False, "allow_empty": True,
        "explain": False, "is_matrix": False, "rows": None, "shape": None, "limits": limits | {"runtime": _runtime()},
    }
    report = _outcore.import_tables(edges, "the NetworkX graph", None, (None, count), options)
    graph: Graph = report["graph"]
    return graph


def _rows(graph: Any, places: dict[Any, int], attribute: Any, default: Any) -> Iterator[tuple[Any, ...]]:
    if attribute is None:
        for source, target in graph.edges():
            yield places[source], places[target]
        return
    for source, target, data in graph.edges(data=True):
        yield places[source], places[target], data.get(attribute, default)


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
    """A graph of NetworkX as one of the backend, with at most one attribute of edges, as weights."""
    if isinstance(graph, (Graph, Converted)):
        return graph
    if not isinstance(graph, nx.Graph):
        raise NotImplementedError(f"expected a graph, found a {type(graph).__name__}")
    if not _is_plain(type(graph)):
        raise NotImplementedError(f"expected a graph with NetworkX's own edges, found a {type(graph).__name__}")
    if preserve_edge_attrs:
        # For functions that return parts of the graph. Weights that are asked for later are loaded then.
        known = _known(graph)
        if known is not None:
            return known
    attributes = dict(edge_attrs or {})
    if len(attributes) > 1:
        raise NotImplementedError(f"expected one attribute of edges, found {sorted(map(str, attributes))}")
    attribute, default = next(iter(attributes.items()), (None, None))
    nodes = list(graph)
    places = {node: place for place, node in enumerate(nodes)}
    counts_one = attribute is None or _is_missing(graph, attribute, default)
    origin = weakref.ref(graph)

    def load(attribute: Any) -> Graph | None:
        found = origin()
        if found is None:
            raise NotImplementedError("the graph is gone whose weights are asked for")
        return None if _is_missing(found, attribute, 1) else _image_of(found, places, attribute, 1)

    image = _image_of(graph, places, None if counts_one else attribute, default)
    converted = Converted(image, nodes, graph, load)
    if attribute is not None and counts_one:
        converted.images[str(attribute)] = None
    return converted


_CLASSES = (nx.MultiDiGraph, nx.MultiGraph, nx.DiGraph, nx.Graph)
# The parts of a graph that functions of NetworkX read.
_READ = (
    "__getitem__", "__iter__", "adj", "adjacency", "degree", "edges", "is_directed", "is_multigraph", "neighbors",
    "nodes",
)  # fmt: skip


def _is_plain(kind: type) -> bool:
    """Whether graphs of a class are read as NetworkX's are. Others may have neighbours that are no edges, as NetworkX's
    own complement of a graph does, which stores the edges that it has not."""
    base = next(one for one in kind.__mro__ if one in _CLASSES)
    return all(getattr(kind, name) is getattr(base, name) for name in _READ)


def _known(graph: Any) -> Converted | None:
    """A conversion of the graph that NetworkX keeps already, if it keeps them."""
    if not nx.config.cache_converted_graphs:
        return None
    kept = (getattr(graph, "__networkx_cache__", None) or {}).get("backends", {}).get("outcore", {})
    return next((one.here() for one in kept.values() if isinstance(one, Converted)), None)


def _is_missing(graph: Any, attribute: Any, default: Any) -> bool:
    """Whether no edge has an attribute, so that every edge counts 1."""
    return default in (None, 1) and not any(attribute in data for *_, data in graph.edges(data=True))


def _image_of(graph: Any, places: dict[Any, int], attribute: Any, default: Any) -> Graph:
    """An image of a graph of NetworkX with an attribute of edges as weights."""
    columns = [("source", "i8"), ("target", "i8")]
    if attribute is not None:
        try:
            kind = weight_kind(str(attribute), (data.get(attribute, default) for *_, data in graph.edges(data=True)))
        except (TypeError, ValueError) as error:
            raise NotImplementedError(str(error)) from None
        columns.append((str(attribute), kind or "i8"))
    edges = Chunks(columns, transposed(_rows(graph, places, attribute, default)))
    weights = None if attribute is None else "3"
    try:
        return _import(edges, len(places), graph.is_directed(), graph.is_multigraph(), weights, ("1", "2"))
    except (InputError, UsageError) as error:
        # Weights that are no numbers, or infinite.
        raise NotImplementedError(str(error)) from None


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Results as they are; a graph that was converted is the one that it was made of."""
    return adapt(result).original() if isinstance(result, (Graph, Converted)) else result


def part_of(graph: Converted, is_chosen: np.ndarray) -> Any:
    """The subgraph of some vertices: of a graph of NetworkX with its attributes, of an image a graph in memory."""
    if graph.has_own_ids:
        return part(graph.graph, None, False, None, None, None, np.flatnonzero(is_chosen).astype(np.uint32))
    nodes = [graph.nodes[place] for place in np.flatnonzero(is_chosen).tolist()]
    return graph.original().subgraph(nodes).copy()
