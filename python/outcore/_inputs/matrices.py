"""Sparse matrices of SciPy, as tables."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from outcore._errors import UsageError
from outcore._inputs.tables import PIECE_ROWS, Chunks, Request, Tables, pieces_of_arrays


def of_scipy(matrix: Any, request: Request) -> Tables:
    """Tables of the entries of a sparse matrix."""
    weights, is_matrix, sides = request.weights, request.is_matrix, request.sides
    if matrix.ndim != 2:
        raise UsageError(f"expected a matrix of two dimensions, found {matrix.ndim}")
    if is_matrix and sides is not None:
        raise TypeError(
            "expected bipartite= with a list or a table of entries, found a SciPy matrix, whose rows and columns are "
            "apart already"
        )
    if matrix.shape[0] != matrix.shape[1] and not is_matrix and sides is None:
        raise UsageError(
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
            raise UsageError(f"expected a {name} from 0 to below {most} in every entry, found {wrong}")
    if entries.data.dtype.kind == "b" and not entries.data.all():
        # A stored false is no entry.
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
    edges = pieces_of_arrays(columns, is_matrix)
    # Places are integers of Python's: the type of indices is SciPy's choice by the size of the matrix.
    edges = edges._replace(columns=[("source", "i8"), ("target", "i8"), *edges.columns[2:]])
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
