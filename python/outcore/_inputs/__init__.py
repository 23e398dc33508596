"""Inputs of imports: paths of files, or objects in memory that become tables.

Arrow streams stay as they are, all else becomes generators of pieces, so that nothing is copied as a whole.
"""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from outcore._inputs import edges, frames, graphs, matrices
from outcore._inputs.tables import Request, Several, Tables
from outcore._outcore import Graph

# Adapters by the class of the objects that they take: its module and its name. Objects of a library exist only where
# it was imported, so classes are looked up in `sys.modules`, and nothing is imported. The first that fits is called.
_ADAPTERS: list[tuple[str, str, Callable[[Any, Request], Tables]]] = [
    ("networkx", "Graph", graphs.of_networkx),
    ("scipy.sparse", "sparray", matrices.of_scipy),
    ("scipy.sparse", "spmatrix", matrices.of_scipy),
    ("igraph", "Graph", graphs.of_igraph),
    ("pandas", "Series", frames.of_pandas_series),
    ("pandas", "DataFrame", frames.of_pandas),
    ("polars", "Series", frames.of_polars_series),
    ("polars", "LazyFrame", frames.of_lazy_frame),
    ("pyarrow.dataset", "Dataset", frames.of_dataset),
    ("pyarrow.dataset", "Scanner", frames.of_scanner),
]


def tables(given: Any, request: Request) -> list[str] | Several | Tables:
    """The paths of files, or tables, or a list of both and of graphs."""
    if isinstance(given, (str, os.PathLike)):
        return [os.fspath(given)]
    if isinstance(given, (list, tuple)) and given and all(isinstance(path, (str, os.PathLike)) for path in given):
        return [os.fspath(path) for path in given]
    if isinstance(given, (list, tuple)) and any(isinstance(part, (str, os.PathLike, Graph)) for part in given):
        return _several(given, request)
    for module, name, adapter in _ADAPTERS:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(given, kind):
            return adapter(given, request)
    if hasattr(given, "__arrow_c_stream__"):
        return frames.of_stream(given, request)
    if isinstance(given, np.ndarray) and given.ndim == 2:
        given = edges.columns_of(given)
    if isinstance(given, tuple) and len(given) in (2, 3):
        return edges.of_columns(given, request)
    if isinstance(given, list) and given and all(isinstance(edge, (tuple, list)) for edge in given):
        return edges.of_list(given, request)
    if isinstance(given, Iterator) or (isinstance(given, list) and given and all(map(frames.is_frame, given))):
        return edges.of_iterable(given, request)
    if isinstance(given, list) and not given:
        return edges.of_none("the empty list", request)
    raise TypeError(
        "expected a path, a list of paths, of graphs and of frames, a list of edges as tuples or lists, an Arrow "
        "stream, a frame, a tuple (source, target[, weight]) of NumPy arrays, a SciPy sparse matrix, a graph of "
        "NetworkX or igraph, or a generator of edges or frames, "
        f"found {type(given).__name__}"
    )


def _several(given: list[Any] | tuple[Any, ...], request: Request) -> Several:
    """Paths, graphs and frames, which together are one graph."""
    parts: list[tuple[Any, str]] = []
    for place, part in enumerate(given):
        if isinstance(part, (str, os.PathLike)):
            parts.append((os.fspath(part), os.fspath(part)))
        elif isinstance(part, Graph):
            parts.append((part, "the graph"))
        elif frames.is_frame(part):
            found = tables(part, request)
            assert isinstance(found, Tables), "a frame becomes tables"
            parts.append((found.edges, f"{found.name} at index {place}"))
        else:
            raise TypeError(
                f"expected paths, graphs and frames together, found {type(part).__name__} at index {place}; give edges "
                "as a frame"
            )
    return Several(parts)
