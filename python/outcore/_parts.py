"""Inputs that come part by part, and objects of other libraries that become tables: lists and generators of frames,
generators of edges, lazy frames, datasets, arrays of two dimensions and graphs of igraph."""

import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np


class Streams(NamedTuple):
    """Tables with the same columns, one after the other: objects with `__arrow_c_stream__`."""

    streams: Iterator[Any]


def as_stream(given: Any) -> Any:
    """An object with `__arrow_c_stream__` of a lazy frame of polars, or a dataset or scanner of pyarrow; `None` of
    anything else. They are read batch by batch."""
    polars, dataset = sys.modules.get("polars"), sys.modules.get("pyarrow.dataset")
    if polars is not None and isinstance(given, polars.LazyFrame):
        # Columns that hold nothing polars hands over in a way that no other library reads.
        nothing = [name for name, kind in given.collect_schema().items() if kind == polars.Null]
        frame = given.drop(nothing)
        first, batches = first_of(frame.collect_batches())
        return Streams(batches if first is not None else iter([frame.head(0).collect()]))
    if dataset is not None and isinstance(given, dataset.Dataset):
        return given.scanner().to_reader()
    if dataset is not None and isinstance(given, dataset.Scanner):
        return given.to_reader()
    return None


def is_frame(given: Any) -> bool:
    pandas = sys.modules.get("pandas")
    is_series = hasattr(given, "to_numpy") and not hasattr(given, "columns")
    is_stream = hasattr(given, "__arrow_c_stream__") and not is_series
    return is_stream or (pandas is not None and isinstance(given, pandas.DataFrame))


def first_of(parts: Iterable[Any]) -> tuple[Any, Iterator[Any]]:
    """The first part and all of them; nothing and nothing if there are none."""
    rest = iter(parts)
    for first in rest:
        return first, chain([first], rest)
    return None, iter(())


def columns_of(array: np.ndarray) -> tuple[np.ndarray, ...]:
    """The columns of an array of two dimensions: source, target and perhaps weight."""
    if array.shape[1] not in (2, 3):
        raise ValueError(
            f"expected an array of shape (edges, 2), or (edges, 3) with weights, found one of shape {array.shape}"
        )
    if array.dtype.kind == "f":
        raise TypeError(
            "expected whole numbers or strings in an array of edges, found real numbers; give a tuple of arrays, "
            "(source, target, weight), or a frame; of an adjacency matrix scipy.sparse.csr_array(matrix)"
        )
    return tuple(array.T)


def pieces_of(edges: Iterable[Any], rows: int) -> Iterator[list[Any]]:
    """Edges in pieces, each checked to be tuples or lists of one length."""
    edges = iter(edges)
    width = None
    while piece := list(islice(edges, rows)):
        width = width or len(piece[0])
        if width not in (2, 3) or any(not isinstance(edge, (tuple, list)) or len(edge) != width for edge in piece):
            raise ValueError("expected edges as tuples (source, target) or (source, target, weight), all of one length")
        yield piece


def of_igraph(graph: Any, attribute: str) -> tuple[list[Any], list[Any], list[Any] | None]:
    """The ids, the edges and perhaps the weights of a graph of igraph: vertices are called by their names if they have
    any."""
    ids: list[Any] = list(graph.vs["name"]) if "name" in graph.vs.attributes() else list(range(graph.vcount()))
    if len(set(ids)) < len(ids):
        raise ValueError('expected names that are unique in vs["name"] of the igraph graph, found some twice')
    weights = list(graph.es[attribute]) if attribute in graph.es.attributes() else None
    return ids, [(ids[source], ids[target]) for source, target in graph.get_edgelist()], weights
