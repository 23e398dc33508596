"""Vertices that are given beside edges: a table of ids, or a number of integers."""

import numbers
import os
import sys
from typing import Any

import numpy as np

from outcore._errors import UsageError
from outcore._inputs.frames import pandas_table, without_null_columns
from outcore._inputs.tables import Chunks, Vertices, id_kind, pieces_of_arrays, transposed, unmasked


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
        return Chunks([("vertex", id_kind("vertices", given))], transposed((one,) for one in given)), None
    is_series = hasattr(given, "to_numpy") and not hasattr(given, "columns")
    if hasattr(given, "__arrow_c_stream__") and not is_series:
        return without_null_columns(given), None
    ids = given.to_numpy() if is_series else unmasked(given, "take the masked vertices out")
    # An empty list says nothing of the kind of ids.
    return (None, None) if ids.size == 0 else (pieces_of_arrays([("vertex", ids)]), None)
