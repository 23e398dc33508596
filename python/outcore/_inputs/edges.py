"""Edges in lists, generators and NumPy arrays, as tables."""

import reprlib
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

from outcore._errors import UsageError
from outcore._inputs.frames import arrow_table, is_frame, without_null_columns
from outcore._inputs.tables import (
    PIECE_ROWS,
    Chunks,
    Request,
    Streams,
    Tables,
    first_of,
    id_kind,
    is_missing,
    pieces_of_arrays,
    transposed,
    unmasked,
    weight_kind,
)


def of_columns(columns: tuple[Any, ...], request: Request) -> Tables:
    """Tables of arrays of sources, targets and perhaps weights."""
    if any(isinstance(column, (tuple, str)) for column in columns):
        raise TypeError(
            "expected a tuple (source, target[, weight]) of NumPy arrays, found one of tuples; "
            "give edges as a list: [(source, target), ...]"
        )
    advice = "take the masked edges out"
    arrays = list(zip(("source", "target", "weight"), (unmasked(column, advice) for column in columns)))
    return Tables(pieces_of_arrays(arrays, request.is_matrix), "the NumPy arrays", request.weights)


def of_none(name: str, request: Request) -> Tables:
    """A table without rows."""
    return of_columns((np.array([], np.int64),) * 2, request)._replace(name=name)


def of_list(edges: list[Any], request: Request) -> Tables:
    """Tables of a list of edges."""
    _check_lengths(edges, len(edges[0]), 0)
    edges = _without_missing_ends(edges, request)
    columns = list(zip(("source", "target", "weight"), _edge_kinds(edges, request)))
    pieces = transposed(edge[: len(columns)] for edge in edges)
    return Tables(Chunks(columns, pieces), "the list of edges", request.weights)


def of_iterable(given: Iterable[Any], request: Request) -> Tables:
    """Tables of frames, or of edges, that come one after the other."""
    first, parts = first_of(given)
    if first is None:
        return of_none("the generator of nothing", request)
    if is_frame(first):
        frames = (without_null_columns(arrow_table(part, request.has_attributes)) for part in parts)
        return Tables(Streams(frames), f"the {type(given).__name__} of frames", request.weights, fixed=False)
    if not isinstance(first, (tuple, list)):
        raise TypeError(f"expected a generator of edges as tuples or lists, or of frames, found one of {first!r}")
    pieces = (_without_missing_ends(piece, request) for piece in pieces_of(parts, PIECE_ROWS))
    start = next(pieces)
    kinds = _edge_kinds(start, request)
    columns = list(zip(("source", "target", "weight"), kinds))

    def checked() -> Iterator[tuple[list[Any], ...]]:
        place = 0
        for piece in chain([start], pieces):
            found = _edge_kinds(piece, request, kinds[0])
            # Whole numbers may stand among real ones.
            if found[0] != kinds[0] or (len(kinds) == 3 and found[2] == "f8" != kinds[2]):
                weights_found = f" and {_KINDS[found[2]]} as weights" if len(found) == 3 else ""
                ids_found = _KINDS[found[0].removesuffix("?")]
                raise UsageError(
                    f"expected edges of one kind, found {ids_found} as ids{weights_found} in the edges from index "
                    f"{place} on; make real numbers of all weights, or give all ids one type"
                )
            yield tuple(map(list, zip(*(edge[: len(kinds)] for edge in piece))))
            place += len(piece)

    return Tables(Chunks(columns, checked()), "the generator of edges", request.weights)


_KINDS = {"i8": "integers", "u8": "integers beyond 2^63", "f8": "real numbers", "str": "strings"}


def _without_missing_ends(edges: list[Any], request: Request) -> list[Any]:
    """The edges, of which those without a value at an end have none at both, for the engine to leave out and count."""
    if not request.skips_nulls:
        return edges
    nothing = (None, None, 0)[: len(edges[0])]
    return [nothing if is_missing(edge[0]) or is_missing(edge[1]) else edge for edge in edges]


def _edge_kinds(edges: list[Any], request: Request, usual: str = "i8?") -> list[str]:
    """The types of the ends of edges, and of their weights; `usual` is that of ends without a value."""
    if request.skips_nulls:
        there = [edge for edge in edges if edge[0] is not None]
        kind = id_kind("ids", (id for edge in there for id in edge[:2])) + "?" if there else usual
    else:
        kind = id_kind("ids", (id for edge in edges for id in edge[:2]))
    kinds = [kind, kind]
    if len(edges[0]) == 3 and request.weights != "none":
        kinds.append(weight_kind("weight", (edge[2] for edge in edges)) or "i8")
    return kinds


def columns_of(array: np.ndarray) -> tuple[np.ndarray, ...]:
    """The columns of an array of two dimensions: source, target and perhaps weight."""
    if array.shape[1] not in (2, 3):
        raise UsageError(
            f"expected an array of shape (edges, 2), or (edges, 3) with weights, found one of shape {array.shape}"
        )
    if array.dtype.kind == "f" and array.size:
        raise TypeError(
            "expected whole numbers or strings in an array of edges, found real numbers; give a tuple of arrays, "
            "(source, target, weight), or a frame; of an adjacency matrix scipy.sparse.csr_array(matrix)"
        )
    return tuple(array.T)


def pieces_of(edges: Iterable[Any], rows: int) -> Iterator[list[Any]]:
    """Edges in pieces, each checked to be tuples or lists of one length."""
    edges = iter(edges)
    width, place = None, 0
    while piece := list(islice(edges, rows)):
        width = width or _length(piece[0])
        _check_lengths(piece, width, place)
        yield piece
        place += len(piece)


def _check_lengths(edges: list[Any], width: int, place: int) -> None:
    """Refuses edges that are not all of 2 or of 3 members, as the first of them all; `place` is that of these edges."""
    if width in (2, 3) and all(_length(edge) == width for edge in edges):
        return
    place, wrong = next(
        (place + i, edge) for i, edge in enumerate(edges) if width not in (2, 3) or _length(edge) != width
    )
    raise UsageError(
        "expected edges as tuples (source, target) or (source, target, weight), all of one length, found "
        f"{reprlib.repr(wrong)} at index {place}"
    )


def _length(edge: Any) -> int:
    """How many members an edge has: none if it is no tuple or list."""
    return len(edge) if isinstance(edge, (tuple, list)) else 0
