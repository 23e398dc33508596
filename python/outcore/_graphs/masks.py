"""Masks: which rows of a table are wanted."""

import reprlib
from typing import Any

import numpy as np


def mask(given: Any, columns: list[str]) -> np.ndarray:
    """Truth values as an array, false where one is missing."""
    kind = str(getattr(given, "dtype", "")).lower()
    if hasattr(given, "iloc") and kind in ("bool", "boolean"):
        if not given.index.equals(type(given)(range(len(given))).index):
            raise TypeError(
                "expected a mask with a value for each row, in their order, found a Series with an index of its own; "
                "take .to_numpy() of one in that order"
            )
        return np.asarray(given.to_numpy(dtype=bool, na_value=False))
    if hasattr(given, "fill_null") and kind == "boolean":
        return np.asarray(given.fill_null(False).to_numpy())
    if isinstance(given, list) and all(isinstance(value, bool | np.bool) for value in given):
        return np.array(given, dtype=bool)
    if isinstance(given, np.ndarray) and given.ndim == 1 and given.dtype == bool:
        return given.filled(False) if isinstance(given, np.ma.MaskedArray) else given
    names = ", ".join(columns)
    raise TypeError(
        f"expected the name of a column ({names}) or a mask of rows with true and false, found {reprlib.repr(given)}"
    )
