"""Tables of edges and vertices as the engine reads them, column types, and the checks of ids and weights."""

import numbers
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from outcore._errors import UsageError

# Number of rows of a piece.
PIECE_ROWS = 1 << 16

Vertices = tuple[Any, int | None]


class Chunks(NamedTuple):
    """Columns piece by piece. Their types are NumPy's i1 to i8, u1 to u8, f8 and c16, str, and other for columns that
    can be no ids and no weights; behind i8, u8 and str a question mark says that values may be None. Ids come back as
    the type of their columns."""

    columns: list[tuple[str, str]]
    pieces: Iterator[tuple[Any, ...]]


class Streams(NamedTuple):
    """Tables with the same columns, one after the other: objects with `__arrow_c_stream__`."""

    streams: Iterator[Any]


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
    # Number of rows of a rectangular matrix, which are the first vertices.
    rows: int | None = None


class Several(NamedTuple):
    """Paths, graphs and tables, each with its name in messages."""

    inputs: list[tuple[Any, str]]


class Request(NamedTuple):
    """The options of an import that decide how an object becomes tables."""

    weight: str | int | None
    """The column or attribute of weights, "none" for none."""
    directed: bool | None = None
    is_matrix: bool = False
    attributes: bool | list[str] = False
    sides: tuple[str, str] | None = None
    """Prefixes of the ids of both sides of a bipartite graph."""
    has_conditions: bool = False
    skips_nulls: bool = False
    """Whether rows whose source or target has no value are left out."""

    @property
    def weights(self) -> str | None:
        return None if self.weight is None else str(self.weight)

    @property
    def has_attributes(self) -> bool:
        """Whether further columns are read: as attributes, or since conditions compare them."""
        return bool(self.attributes) or self.has_conditions


def unmasked(given: Any, advice: str = "fill it first: array.filled(0)") -> np.ndarray:
    """An array of NumPy's, in which no value may be masked: arrays of the engine have no masks.

    Raises:
        UsageError: A masked value.
    """
    refuse_masked(given, advice=advice)
    return np.asarray(given)


def refuse_masked(*arrays: Any, advice: str = "fill it first: array.filled(0)") -> None:
    """An error if a value of these arrays is masked.

    Raises:
        UsageError: A masked value.
    """
    if any(isinstance(given, np.ndarray) and np.ma.is_masked(given) for given in arrays):
        raise UsageError(f"expected an array without missing values, found a masked one; {advice}")


def pieces_of_arrays(columns: list[tuple[str, np.ndarray]], is_matrix: bool = False) -> Chunks:
    """Arrays of one length in pieces."""
    for name, array in columns:
        if array.shape != columns[0][1].shape or array.ndim != 1:
            raise UsageError(f"expected arrays of one dimension and one length, found {name} of shape {array.shape}")
    kinds = [(name, _column_kind(name, array, is_matrix)) for name, array in columns]
    arrays = [array for _, array in columns]
    steps = range(0, len(arrays[0]), PIECE_ROWS)
    return Chunks(kinds, (tuple(array[start : start + PIECE_ROWS] for array in arrays) for start in steps))


def _column_kind(name: str, array: np.ndarray, is_matrix: bool) -> str:
    kinds = {"U": "str", "T": "str", "i": f"i{array.itemsize}", "u": f"u{array.itemsize}"}
    if name == "weight":
        kinds["f"] = "f8"
    if is_matrix and name == "weight":
        kinds["c"] = "c16"
    kind = kinds.get(array.dtype.kind)
    if kind is None and array.dtype.kind == "O" and all(isinstance(value, str) for value in array):
        kind = "str"
    if kind is None or (name == "weight" and kind == "str"):
        if not array.size:
            # Nothing in it is of the wrong type.
            return "i8"
        expected = "numbers" if name == "weight" else "integers or strings"
        advice = "convert them first, for example with astype()"
        raise TypeError(f"expected {expected} in {name}, found {array.dtype}; {advice}")
    return kind


def is_missing(id: Any) -> bool:
    """Whether an id is no value."""
    return id is None or (isinstance(id, float) and id != id)


def id_kind(what: str, ids: Iterable[Any]) -> str:
    """The type of all ids; other types, or several, are refused."""
    kinds = set()
    least, greatest = 0, 0
    for id in ids:
        if isinstance(id, str):
            kinds.add("strings")
        elif isinstance(id, numbers.Integral) and not isinstance(id, (bool, np.bool_)):
            kinds.add("integers")
            least, greatest = min(least, int(id)), max(greatest, int(id))
        elif is_missing(id):
            advice = {"nodes": "rename it", "ids": "leave it out, or say nulls='skip'"}.get(what, "leave it out")
            raise UsageError(f"expected {what} that are integers or strings, found {id!r}, which is no value; {advice}")
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
        raise UsageError(f"expected integers of 64 bits as {what}, found {' and '.join(wrong)}")
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
            raise UsageError(f"expected whole numbers of 64 bits as {attribute!r} of edges, found {value!r}")
        if int(float(value)) != int(value):
            rounded = value
    if kind == "f8" and rounded is not None:
        raise UsageError(
            f"expected real numbers as {attribute!r} of edges, found {rounded!r} among them, which none of 64 bits "
            "equals; round it first, or make whole numbers of all"
        )
    return kind


def transposed(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[list[Any], ...]]:
    """Rows as pieces of columns."""
    rows = iter(rows)
    while piece := list(islice(rows, PIECE_ROWS)):
        yield tuple(map(list, zip(*piece)))


def first_of(parts: Iterable[Any]) -> tuple[Any, Iterator[Any]]:
    """The first part and all of them; nothing and nothing if there are none."""
    rest = iter(parts)
    for first in rest:
        return first, chain([first], rest)
    return None, iter(())
