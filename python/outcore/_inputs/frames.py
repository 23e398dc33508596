"""Frames of pandas and polars, datasets of pyarrow and Arrow streams, as tables."""

import contextlib
import importlib
import sys
from typing import Any

from outcore._inputs.tables import PIECE_ROWS, Chunks, Request, Streams, Tables, first_of


def of_stream(given: Any, request: Request) -> Tables:
    """Tables of an object with `__arrow_c_stream__`."""
    return Tables(without_null_columns(given), f"the {type(given).__name__}", request.weights, fixed=False)


def of_pandas(frame: Any, request: Request) -> Tables:
    _check_index(frame)
    return Tables(pandas_table(frame, request.has_attributes), "the pandas frame", request.weights, fixed=False)


def of_pandas_series(series: Any, request: Request) -> Tables:
    advice = "reset_index() makes a frame of it and of its index"
    raise TypeError(f"expected a frame with a row per edge, found a pandas Series; {advice}")


def of_polars_series(series: Any, request: Request) -> Tables:
    if series.dtype != sys.modules["polars"].Struct:
        raise TypeError("expected a frame with a row per edge, found a polars Series; put two into a frame")
    return of_stream(series, request)


def of_lazy_frame(frame: Any, request: Request) -> Tables:
    """Tables of a lazy frame of polars, which is read batch by batch."""
    nulls = sys.modules["polars"].Null
    selected = frame.drop([name for name, kind in frame.collect_schema().items() if kind == nulls])
    first, batches = first_of(selected.collect_batches())
    stream = Streams(batches if first is not None else iter([without_null_columns(frame.head(0).collect())]))
    return Tables(stream, f"the {type(frame).__name__}", request.weights, fixed=False)


def of_dataset(dataset: Any, request: Request) -> Tables:
    reader = dataset.scanner().to_reader()
    return Tables(reader, f"the {type(dataset).__name__}", request.weights, fixed=False)


def of_scanner(scanner: Any, request: Request) -> Tables:
    return Tables(scanner.to_reader(), f"the {type(scanner).__name__}", request.weights, fixed=False)


def without_null_columns(table: Any) -> Any:
    """A frame of polars without columns of nulls, which it hands over in a way that no other library reads. Where there
    are no rows, they are columns of integers: as good as any, and the ends of edges may be among them."""
    polars = sys.modules.get("polars")
    if polars is None or not isinstance(table, polars.DataFrame):
        return table
    nulls = [name for name, kind in table.schema.items() if kind == polars.Null]
    return table.drop(nulls) if len(table) else table.with_columns(polars.col(nulls).cast(polars.Int64))


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
        integers = f"{array.dtype.kind}{array.itemsize}"
        kind = {"i": integers, "u": integers, "f": "f8", "U": "str", "T": "str"}.get(array.dtype.kind, "other")
        if array.dtype.kind == "O" and all(isinstance(value, str) for value in array):
            kind = "str"
        columns.append((str(label), kind, array))
    steps = range(0, len(frame), PIECE_ROWS)
    pieces = (tuple(array[start : start + PIECE_ROWS] for _, _, array in columns) for start in steps)
    return Chunks([(label, kind) for label, kind, _ in columns], pieces)


def arrow_table(frame: Any, has_attributes: bool) -> Any:
    """A frame as an object with `__arrow_c_stream__`."""
    if not is_frame(frame):
        raise TypeError(f"expected frames only behind the first one, found {frame!r}")
    if hasattr(frame, "columns") and "pandas" in sys.modules and isinstance(frame, sys.modules["pandas"].DataFrame):
        _check_index(frame)
        frame = pandas_table(frame, has_attributes)
        if isinstance(frame, Chunks):
            raise TypeError("expected pyarrow beside a list of pandas frames, found none; make one by pandas.concat")
    return frame


def is_frame(given: Any) -> bool:
    pandas = sys.modules.get("pandas")
    is_series = hasattr(given, "to_numpy") and not hasattr(given, "columns")
    is_stream = hasattr(given, "__arrow_c_stream__") and not is_series
    return is_stream or (pandas is not None and isinstance(given, pandas.DataFrame))
