"""What users hand over, as tables: Arrow streams as they are, all else as generators of pieces, so nothing is copied as
a whole."""

import contextlib
import importlib
import numbers
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from outcore._errors import UsageError
from outcore._parts import Streams, as_stream, columns_of, first_of, is_frame, of_igraph, pieces_of

# How many rows a piece has.
PIECE_ROWS = 1 << 16

Vertices = tuple[Any, int | None]


class Chunks(NamedTuple):
    """Columns piece by piece; the types are i8, u8, f8, c16 and str, and other for columns that can be no ids and no
    weights."""

    columns: list[tuple[str, str]]
    pieces: Iterator[tuple[Any, ...]]


class Tables(NamedTuple):
    """A graph in memory."""

    edges: Any
    name: str
    weights: str | None
    directed: bool | None = None
    vertices: Vertices | None = None
    # Whether the first two columns are the ends, whatever the others are called.
    fixed: bool = True
    duplicates: str = "first"
    note: str | None = None
    # How many vertices are the rows of a rectangular matrix.
    rows: int | None = None


def tables(
    given: Any,
    weights: str | int | None,
    directed: bool | None = None,
    is_matrix: bool = False,
    attributes: bool | str | list[str | int] = False,
    sides: tuple[str, str] | None = None,
    has_conditions: bool = False,
) -> list[str] | Tables:
    """The paths of files, or tables."""
    attribute = weights
    weights = None if weights is None else str(weights)
    if isinstance(given, (str, os.PathLike)):
        return [os.fspath(given)]
    if isinstance(given, (list, tuple)) and given and all(isinstance(path, (str, os.PathLike)) for path in given):
        return [os.fspath(path) for path in given]
    # Only who has imported a library can hand over its objects.
    networkx, pandas, polars = (sys.modules.get(name) for name in ("networkx", "pandas", "polars"))
    scipy = sys.modules.get("scipy.sparse")
    if networkx is not None and isinstance(given, networkx.Graph):
        if sides is not None:
            raise TypeError("expected bipartite= with edges, found a NetworkX graph, whose nodes are of one kind")
        return _networkx(given, attribute, directed, attributes, has_conditions)
    if scipy is not None and scipy.issparse(given):
        return _scipy(given, weights, is_matrix, sides)
    igraph = sys.modules.get("igraph")
    if igraph is not None and isinstance(given, igraph.Graph):
        if attributes or sides is not None:
            raise TypeError(
                "expected attributes and sides only with files and tables, found an igraph graph; hand over "
                "graph.get_edge_dataframe() with source= and target=, and graph.get_vertex_dataframe() as vertices="
            )
        return _igraph(given, weights)
    # What is compared is read as attributes are.
    has_attributes = bool(attributes) or has_conditions
    if pandas is not None and isinstance(given, pandas.Series):
        advice = "reset_index() makes a frame of it and of its index"
        raise TypeError(f"expected a frame with a row per edge, found a pandas Series; {advice}")
    if pandas is not None and isinstance(given, pandas.DataFrame):
        _check_index(given)
        return Tables(pandas_table(given, has_attributes), "the pandas frame", weights, fixed=False)
    if polars is not None and isinstance(given, polars.Series) and given.dtype != polars.Struct:
        raise TypeError("expected a frame with a row per edge, found a polars Series; put two into a frame")
    if (stream := as_stream(given)) is not None:
        return Tables(stream, f"the {type(given).__name__}", weights, fixed=False)
    if hasattr(given, "__arrow_c_stream__"):
        return Tables(_without_nulls(given), f"the {type(given).__name__}", weights, fixed=False)
    if isinstance(given, np.ndarray) and given.ndim == 2:
        given = columns_of(given)
    if isinstance(given, tuple) and len(given) in (2, 3):
        if any(isinstance(column, (tuple, str)) for column in given):
            raise TypeError(
                "expected a tuple (source, target[, weight]) of NumPy arrays, found one of tuples; "
                "give edges as a list: [(source, target), ...]"
            )
        arrays = list(zip(("source", "target", "weight"), map(_unmasked, given)))
        return Tables(_arrays(arrays, is_matrix), "the NumPy arrays", weights)
    if isinstance(given, list) and given and all(isinstance(edge, (tuple, list)) for edge in given):
        return _list(given, weights)
    if isinstance(given, Iterator) or (isinstance(given, list) and given and all(map(is_frame, given))):
        return _parts(given, weights, has_attributes)
    if isinstance(given, list) and not given:
        raise TypeError(
            "expected edges, found an empty list; give (np.array([], int), np.array([], int)), or a frame without rows"
        )
    raise TypeError(
        "expected a path, a list of paths, a list of edges as tuples or lists, an Arrow stream, a frame, a list of "
        "frames, a tuple (source, target[, weight]) of NumPy arrays, a SciPy sparse matrix, a graph of NetworkX or "
        "igraph, or a generator of edges or frames, "
        f"found {type(given).__name__}"
    )


def vertex_ids(given: Any) -> Vertices:
    """Further vertices: a table of ids, or how many integers from 0 on."""
    if given is None:
        return None, None
    wanted = "expected vertices= as a whole number from 0 to 2^64-1, a list of ids, a table or the path of one"
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given), None
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(given, pandas.DataFrame):
        return pandas_table(given, has_attributes=True), None
    if isinstance(given, numbers.Integral) and not isinstance(given, bool):
        if not 0 <= int(given) < 1 << 64:
            raise UsageError(f"{wanted}, found {given}")
        return None, int(given)
    # NumPy would look at all values of a frame to count its dimensions.
    if not hasattr(given, "__arrow_c_stream__") and np.ndim(given) == 0:
        raise TypeError(f"{wanted}, found {given!r}")
    if isinstance(given, (list, tuple)) and given:
        # NumPy would make real numbers of large integers beside small ones.
        return Chunks([("vertex", _id_kind("vertices", given))], transposed((one,) for one in given)), None
    is_series = hasattr(given, "to_numpy") and not hasattr(given, "columns")
    if hasattr(given, "__arrow_c_stream__") and not is_series:
        return _without_nulls(given), None
    ids = given.to_numpy() if is_series else _unmasked(given)
    # An empty list says nothing of the kind of ids.
    return (None, None) if ids.size == 0 else (_arrays([("vertex", ids)]), None)


def _unmasked(column: Any) -> np.ndarray:
    if np.ma.is_masked(column):
        raise ValueError("expected an array without missing values, found a masked one; take the masked edges out")
    return np.asarray(column)


def _arrays(columns: list[tuple[str, np.ndarray]], is_matrix: bool = False) -> Chunks:
    for name, array in columns:
        if array.shape != columns[0][1].shape or array.ndim != 1:
            raise ValueError(f"expected arrays of one dimension and one length, found {name} of shape {array.shape}")
    kinds = [(name, _kind(name, array, is_matrix)) for name, array in columns]
    arrays = [array for _, array in columns]
    steps = range(0, len(arrays[0]), PIECE_ROWS)
    return Chunks(kinds, (tuple(array[start : start + PIECE_ROWS] for array in arrays) for start in steps))


def _kind(name: str, array: np.ndarray, is_matrix: bool) -> str:
    kinds = {"i": "i8", "u": "u8", "U": "str", "T": "str"} | ({"f": "f8"} if name == "weight" else {})
    if is_matrix and name == "weight":
        kinds["c"] = "c16"
    kind = kinds.get(array.dtype.kind)
    if kind is None and array.dtype.kind == "O" and all(isinstance(value, str) for value in array):
        kind = "str"
    if kind is None or (name == "weight" and kind == "str"):
        expected = "numbers" if name == "weight" else "integers or strings"
        advice = "convert them first, for example with astype()"
        raise TypeError(f"expected {expected} in {name}, found {array.dtype}; {advice}")
    return kind


def _without_nulls(table: Any) -> Any:
    """A frame of polars without columns that hold nothing: it hands them over in a way that no other library reads."""
    polars = sys.modules.get("polars")
    if polars is None or not isinstance(table, polars.DataFrame):
        return table
    return table.drop([name for name, kind in table.schema.items() if kind == polars.Null])


def _check_index(frame: Any) -> None:
    """An error if what should be columns is in the index, as after a `groupby`."""
    levels = [str(name) for name in frame.index.names if name is not None]
    if levels and len(frame.columns) < 2:
        found = f"{', '.join(map(str, frame.columns))} beside an index of {', '.join(levels)}"
        raise TypeError(f"expected columns with the ends of edges, found {found}; reset_index() makes columns of it")


def pandas_table(frame: Any, has_attributes: bool = False) -> Any:
    """The columns of a frame, without its index. Without pyarrow, only numbers and strings are attributes, and none of
    them may be missing."""
    if has_attributes:
        with contextlib.suppress(ImportError):
            importlib.import_module("pyarrow")
    if not isinstance(frame.index, sys.modules["pandas"].RangeIndex):
        # In Arrow it would be one more column.
        frame = frame.reset_index(drop=True)
    if "pyarrow" in sys.modules and hasattr(frame, "__arrow_c_stream__"):
        return frame
    columns = []
    for place, label in enumerate(frame.columns):
        array = frame.iloc[:, place].to_numpy()
        kind = {"i": "i8", "u": "u8", "f": "f8", "U": "str", "T": "str"}.get(array.dtype.kind, "other")
        if array.dtype.kind == "O" and all(isinstance(value, str) for value in array):
            kind = "str"
        columns.append((str(label), kind, array))
    steps = range(0, len(frame), PIECE_ROWS)
    pieces = (tuple(array[start : start + PIECE_ROWS] for _, _, array in columns) for start in steps)
    return Chunks([(label, kind) for label, kind, _ in columns], pieces)


def _scipy(matrix: Any, weights: str | None, is_matrix: bool, sides: tuple[str, str] | None) -> Tables:
    if matrix.ndim != 2:
        raise ValueError(f"expected a matrix of two dimensions, found {matrix.ndim}")
    if matrix.shape[0] != matrix.shape[1] and not is_matrix and sides is None:
        raise ValueError(
            f"expected a square matrix, vertices by vertices, found one of shape {matrix.shape}; if rows are one side "
            "of the graph and columns the other, say bipartite=True"
        )
    height, width = matrix.shape
    rows = None if height == width or sides is not None else height
    if hasattr(matrix, "check_format"):
        # SciPy writes beyond its arrays where the parts of a matrix contradict each other.
        matrix.check_format(full_check=True)
    entries = matrix.tocoo()
    for name, places, most in (("row", entries.row, height), ("column", entries.col, width)):
        if places.size and not 0 <= places.min() <= places.max() < most:
            wrong = next(int(place) for place in places if not 0 <= place < most)
            raise ValueError(f"expected a {name} from 0 to below {most} in every entry, found {wrong}")
    if entries.data.dtype.kind == "b" and not entries.data.all():
        # What is stored as false is no entry.
        stored = entries.data
        entries = type(entries)((stored[stored], (entries.row[stored], entries.col[stored])), matrix.shape)
    # The columns of a rectangular matrix are vertices behind its rows.
    targets = entries.col if rows is None else entries.col.astype(np.int64) + rows
    columns = [("source", entries.row), ("target", targets)]
    if weights != "none" and entries.data.dtype.kind != "b":
        columns.append(("weight", entries.data))
        weights = None
    # Entries at one place add up, as in SciPy; the import does it, which refuses sums beyond the range.
    n = height if rows is None else height + width
    edges = _arrays(columns, is_matrix)
    vertices = (None, n) if sides is None else (_sides(sides, matrix.shape), None)
    return Tables(edges, "the SciPy matrix", weights, vertices=vertices, duplicates="sum", rows=rows)


def _sides(prefixes: tuple[str, str], shape: tuple[int, int]) -> Chunks:
    """The ids of all rows and columns of a matrix, as the vertices of a graph with two sides."""

    def pieces() -> Iterator[tuple[Any, ...]]:
        for prefix, count in zip(prefixes, shape, strict=True):
            for first in range(0, count, PIECE_ROWS):
                numbers = np.arange(first, min(count, first + PIECE_ROWS)).astype(str)
                yield (np.char.add(prefix, numbers),)

    return Chunks([("vertex", "str")], pieces())


def _list(edges: list[Any], weights: str | None) -> Tables:
    width = len(edges[0])
    if width not in (2, 3) or any(len(edge) != width for edge in edges):
        raise ValueError("expected edges as tuples (source, target) or (source, target, weight), all of one length")
    columns = list(zip(("source", "target", "weight"), _edge_kinds(edges, weights)))
    return Tables(Chunks(columns, transposed(edge[: len(columns)] for edge in edges)), "the list of edges", weights)


def _parts(given: Iterable[Any], weights: str | None, has_attributes: bool) -> Tables:
    """Frames, or edges, of which there may be any number."""
    first, parts = first_of(given)
    if first is None:
        raise TypeError("expected edges or frames, found a generator of nothing; give a frame without rows")
    if is_frame(first):
        frames = (_without_nulls(_arrow_table(part, has_attributes)) for part in parts)
        return Tables(Streams(frames), f"the {type(given).__name__} of frames", weights, fixed=False)
    if not isinstance(first, (tuple, list)):
        raise TypeError(f"expected a generator of edges as tuples or lists, or of frames, found one of {first!r}")
    pieces = pieces_of(parts, PIECE_ROWS)
    start = next(pieces)
    kinds = _edge_kinds(start, weights)
    columns = list(zip(("source", "target", "weight"), kinds))

    def checked() -> Iterator[tuple[list[Any], ...]]:
        for piece in chain([start], pieces):
            found = _edge_kinds(piece, weights)
            # Whole numbers may stand among real ones.
            if found[0] != kinds[0] or (len(kinds) == 3 and found[2] == "f8" != kinds[2]):
                raise ValueError(
                    f"expected edges of one kind, found {_KINDS[found[0]]} as ids and {_KINDS[found[-1]]} as weights "
                    f"behind the first {PIECE_ROWS} edges; make real numbers of all weights, or give all ids one type"
                )
            yield tuple(map(list, zip(*(edge[: len(kinds)] for edge in piece))))

    return Tables(Chunks(columns, checked()), "the generator of edges", weights)


_KINDS = {"i8": "integers", "u8": "integers beyond 2^63", "f8": "real numbers", "str": "strings"}


def _edge_kinds(edges: list[Any], weights: str | None) -> list[str]:
    """The types of the ends of edges, and of their weights."""
    kind = _id_kind("ids", (id for edge in edges for id in edge[:2]))
    kinds = [kind, kind]
    if len(edges[0]) == 3 and weights != "none":
        kinds.append(weight_kind("weight", (edge[2] for edge in edges)) or "i8")
    return kinds


def _arrow_table(frame: Any, has_attributes: bool) -> Any:
    if not is_frame(frame):
        raise TypeError(f"expected frames only behind the first one, found {frame!r}")
    if hasattr(frame, "columns") and "pandas" in sys.modules and isinstance(frame, sys.modules["pandas"].DataFrame):
        _check_index(frame)
        frame = pandas_table(frame, has_attributes)
        if isinstance(frame, Chunks):
            raise TypeError("expected pyarrow beside a list of pandas frames, found none; make one by pandas.concat")
    return frame


def _igraph(graph: Any, weights: str | None) -> Tables:
    attribute = "weight" if weights is None else weights
    ids, ends, values = of_igraph(graph, attribute)
    if values is None and weights not in (None, "none"):
        raise ValueError(f"expected edges with the attribute {weights!r}, found none")
    kind = _id_kind("names", ids)
    columns = [("source", kind), ("target", kind)]
    rows: Iterable[tuple[Any, ...]] = ends
    if values is not None and weights != "none" and values:
        columns.append((attribute, weight_kind(attribute, values) or "i8"))
        rows = ((*pair, value) for pair, value in zip(ends, values))
    nodes = Chunks([("vertex", kind)], transposed(((node,) for node in ids)))
    duplicates = "keep" if graph.has_multiple() else "first"
    wanted = "3" if len(columns) == 3 else None
    edges = Chunks(columns, transposed(rows))
    vertices = (nodes, None) if ids else None
    directed = bool(graph.is_directed())
    return Tables(edges, "the igraph graph", wanted, directed=directed, vertices=vertices, duplicates=duplicates)


def _networkx(
    graph: Any,
    weights: str | int | None,
    directed: bool | None,
    attributes: bool | str | list[str | int],
    has_conditions: bool,
) -> Tables:
    if directed and not graph.is_directed():
        # An edge without direction is an arc each way, as in NetworkX.
        graph = graph.to_directed(as_view=True)
    kind = _id_kind("nodes", graph)
    attribute = "weight" if weights is None else weights
    missing = 0
    others: dict[Any, None] = {}

    def values() -> Iterator[Any]:
        nonlocal missing
        if attribute == "none" and not (attributes or has_conditions):
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
        raise ValueError(f"expected edges with the attribute {weights!r}, found none")
    if kind_of_weight is not None:
        others.pop(attribute, None)
    # By number, as the attribute may be called as an end is.
    wanted = None if kind_of_weight is None else "3"
    notes = []
    nodes: Any
    edges: Any
    if attributes or has_conditions:
        weight = None if kind_of_weight is None else attribute
        edges, nodes = _with_attributes(graph, kind, weight, list(others), attributes)
    else:
        columns = [("source", kind), ("target", kind)]
        rows: Iterable[tuple[Any, ...]] = graph.edges()
        if kind_of_weight is not None:
            columns.append((str(attribute), kind_of_weight))
            rows = graph.edges(data=attribute, default=1)
        nodes = Chunks([("vertex", kind)], transposed(((node,) for node in graph)))
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
    graph: Any, kind: str, weight: str | int | None, names: list[Any], attributes: bool | str | list[str | int]
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
    asked = [attributes] if isinstance(attributes, str) else attributes
    for name in names:
        if isinstance(asked, list) and name not in asked and str(name) not in asked:
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


def _id_kind(what: str, ids: Iterable[Any]) -> str:
    """The type of all ids; other types, or several, are refused."""
    kinds = set()
    least, greatest = 0, 0
    for id in ids:
        if isinstance(id, str):
            kinds.add("strings")
        elif isinstance(id, numbers.Integral) and not isinstance(id, (bool, np.bool_)):
            kinds.add("integers")
            least, greatest = min(least, int(id)), max(greatest, int(id))
        else:
            advice = "rename them first, for example with networkx.convert_node_labels_to_integers"
            if what != "nodes":
                advice = "convert them first, for example with str()"
            raise TypeError(f"expected {what} that are integers or strings, found {id!r}; {advice}")
    if len(kinds) > 1:
        advice = "make strings of all, for example with str()"
        raise TypeError(f"expected {what} of one type, found integers and strings; {advice}")
    wrong = [str(one) for one in (least, greatest) if not -(2**63) <= one < 2**64]
    if not wrong and least < 0 and greatest >= 2**63:
        wrong = [f"{least} beside {greatest}"]
    if wrong:
        raise ValueError(f"expected integers of 64 bits as {what}, found {' and '.join(wrong)}")
    if kinds == {"strings"}:
        return "str"
    return "u8" if greatest >= 2**63 else "i8"


def weight_kind(attribute: str | int, values: Iterable[Any]) -> str | None:
    """The type of all weights; none if there are none. Whole ones beyond 64 bits are refused, and those that would be
    rounded beside real ones."""
    kind, rounded = None, None
    for value in values:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
            advice = "weight='none' leaves them out"
            raise TypeError(f"expected numbers as {attribute!r} of edges, found {value!r}; {advice}")
        if not isinstance(value, numbers.Integral):
            kind = "f8"
            continue
        kind = kind or "i8"
        if not -(2**63) <= int(value) < 2**63:
            raise ValueError(f"expected whole numbers of 64 bits as {attribute!r} of edges, found {value!r}")
        if int(float(value)) != int(value):
            rounded = value
    if kind == "f8" and rounded is not None:
        raise ValueError(
            f"expected real numbers as {attribute!r} of edges, found {rounded!r} among them, which none of 64 bits "
            "equals; round it first, or make whole numbers of all"
        )
    return kind


def transposed(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[list[Any], ...]]:
    """Rows as pieces of columns."""
    rows = iter(rows)
    while piece := list(islice(rows, PIECE_ROWS)):
        yield tuple(map(list, zip(*piece)))
