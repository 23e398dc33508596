"""Graphs of NetworkX and igraph, as tables."""

import importlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from outcore._errors import UsageError
from outcore._inputs.tables import Chunks, Request, Tables, id_kind, transposed, weight_kind


def of_networkx(graph: Any, request: Request) -> Tables:
    """Tables of a NetworkX graph: its edges, and all nodes as vertices."""
    weights, attributes = request.weight, request.attributes
    if request.sides is not None:
        raise TypeError("expected bipartite= with edges, found a NetworkX graph, whose nodes are of one kind")
    if request.directed and not graph.is_directed():
        # An edge without direction is an arc each way, as in NetworkX.
        graph = graph.to_directed(as_view=True)
    kind = id_kind("nodes", graph)
    attribute = "weight" if weights is None else weights
    missing = 0
    others: dict[Any, None] = {}

    def values() -> Iterator[Any]:
        nonlocal missing
        if attribute == "none" and not request.has_attributes:
            return
        for _, _, data in graph.edges(data=True):
            if len(data) > (attribute in data):
                others.update(dict.fromkeys(data))
            if attribute == "none":
                continue
            if attribute in data:
                yield data[attribute]
            else:
                missing += 1

    kind_of_weight = weight_kind(attribute, values())
    if kind_of_weight is None and weights not in (None, "none"):
        raise UsageError(f"expected edges with the attribute {weights!r}, found none")
    if kind_of_weight is not None:
        others.pop(attribute, None)
    # By number, as the attribute may be called as an end is.
    wanted = None if kind_of_weight is None else "3"
    notes = []
    nodes: Any
    edges: Any
    if request.has_attributes:
        weight = None if kind_of_weight is None else attribute
        edges, nodes = _with_attributes(graph, kind, weight, list(others), attributes)
    else:
        columns = [("source", kind), ("target", kind)]
        rows: Iterable[tuple[Any, ...]] = graph.edges()
        if kind_of_weight is not None:
            columns.append((str(attribute), kind_of_weight))
            rows = graph.edges(data=attribute, default=1)
        nodes = Chunks([("vertex", kind)], transposed((node,) for node in graph))
        edges = Chunks(columns, transposed(row[: len(columns)] for row in rows))
        if others:
            names = ", ".join(map(str, islice(others, 10)))
            notes.append(f"Attributes of edges that are not kept: {names}; attributes=True keeps them.")
    given = Tables(edges, "the NetworkX graph", wanted, directed=graph.is_directed(), vertices=(nodes, None))
    if kind_of_weight is not None and missing > 0:
        notes.append(f"{missing} edges have no attribute {attribute!r}: their weight is 1, as in NetworkX.")
    if graph.is_multigraph():
        notes.append("The graph is a multigraph: its parallel edges are kept, unless duplicates= says otherwise.")
        given = given._replace(duplicates="keep")
    return given._replace(note=" ".join(notes) or None)


def _with_attributes(
    graph: Any, kind: str, weight: str | int | None, names: list[Any], asked: bool | list[str]
) -> tuple[Any, Any]:
    """Tables of the edges and of the nodes of a NetworkX graph, with their attributes: of edges those that are asked
    for, or if none are, those that conditions may compare; of nodes all, if all are asked for."""
    try:
        pyarrow = importlib.import_module("pyarrow")
    except ImportError:
        raise TypeError("expected pyarrow for the attributes of a NetworkX graph; pip install pyarrow") from None
    type_of = {"str": pyarrow.string(), "i8": pyarrow.int64(), "u8": pyarrow.uint64()}[kind]

    def column(of: str, name: Any, values: list[Any]) -> Any:
        try:
            return pyarrow.array(values)
        except (pyarrow.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise TypeError(f"expected values of one type as {name!r} of {of}, found others ({error})") from None

    data = [values for *_, values in graph.edges(data=True)]
    columns = {"source": pyarrow.array([edge[0] for edge in graph.edges], type_of)}
    columns["target"] = pyarrow.array([edge[1] for edge in graph.edges], type_of)
    if weight is not None:
        columns[_free(str(weight), columns)] = column("edges", weight, [values.get(weight, 1) for values in data])
    for name in names:
        if isinstance(asked, list) and str(name) not in asked:
            continue
        try:
            found = column("edges", name, [values.get(name) for values in data])
        except TypeError:
            if asked:
                raise
            continue
        columns[_free(str(name), columns)] = found
    nodes = {"vertex": pyarrow.array(list(graph), type_of)}
    data = [values for _, values in graph.nodes(data=True)] if asked is True else []
    for name in dict.fromkeys(key for values in data for key in values):
        nodes[_free(str(name), nodes)] = column("nodes", name, [values.get(name) for values in data])
    return pyarrow.table(columns), pyarrow.table(nodes)


def _free(name: str, taken: Iterable[str]) -> str:
    """The name, or if another column has it, one like it."""
    while name in taken:
        name += "_"
    return name


def of_igraph(graph: Any, request: Request) -> Tables:
    """Tables of a graph of igraph. Vertices are called by their attribute `name`, or by their numbers."""
    if request.attributes or request.sides is not None:
        raise TypeError(
            "expected attributes and sides only with files and tables, found an igraph graph; hand over "
            "graph.get_edge_dataframe() with source= and target=, and graph.get_vertex_dataframe() as vertices="
        )
    weights = request.weights
    attribute = "weight" if weights is None else weights
    ids, ends, values = _parts_of_igraph(graph, attribute)
    if values is None and weights not in (None, "none"):
        raise UsageError(f"expected edges with the attribute {weights!r}, found none")
    kind = id_kind("names", ids)
    columns = [("source", kind), ("target", kind)]
    rows: Iterable[tuple[Any, ...]] = ends
    if values is not None and weights != "none" and values:
        columns.append((attribute, weight_kind(attribute, values) or "i8"))
        rows = ((*pair, value) for pair, value in zip(ends, values))
    nodes = Chunks([("vertex", kind)], transposed((node,) for node in ids))
    duplicates = "keep" if graph.has_multiple() else "first"
    wanted = "3" if len(columns) == 3 else None
    edges = Chunks(columns, transposed(rows))
    vertices = (nodes, None) if ids else None
    directed = bool(graph.is_directed())
    return Tables(edges, "the igraph graph", wanted, directed=directed, vertices=vertices, duplicates=duplicates)


def _parts_of_igraph(graph: Any, attribute: str) -> tuple[list[Any], list[Any], list[Any] | None]:
    """The ids, the edges and perhaps the weights of a graph of igraph: vertices are called by their names if they have
    any."""
    ids: list[Any] = list(graph.vs["name"]) if "name" in graph.vs.attributes() else list(range(graph.vcount()))
    if len(set(ids)) < len(ids):
        raise UsageError('expected names that are unique in vs["name"] of the igraph graph, found some twice')
    weights = list(graph.es[attribute]) if attribute in graph.es.attributes() else None
    return ids, [(ids[source], ids[target]) for source, target in graph.get_edgelist()], weights
