"""Searches: indices of elements."""

from typing import Any, Literal

import numpy as np

from outcore._errors import UsageError
from outcore._inputs.tables import unmasked
from outcore.array import _array as core
from outcore.array import _elementwise, _indexing, _manipulation
from outcore.array._array import Array, Operand


def argmax(x: Operand, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The index of the greatest element along an axis, the first of equal ones and of NaN; without an axis among all
    elements, row by row.

    >>> oc.array.argmax(oc.array.asarray([[1, 5], [7, 3]]), axis=1).compute()
    array([1, 0])
    """
    return _arg(True, x, axis, keepdims)


def argmin(x: Operand, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The index of the least element along an axis, the first of equal ones and of NaN; without an axis among all
    elements, row by row."""
    return _arg(False, x, axis, keepdims)


def _arg(is_max: bool, x: Operand, axis: int | None, keepdims: bool) -> Array:
    array = core.as_array(x)
    if array.dtype.kind == "b":
        array = core.made(array._expression.cast("uint8"), array)
    if array.size == 0 and axis is None:
        raise UsageError("expected elements to compare, found none")
    place = None if axis is None else core.own_axis(axis, array.ndim)
    return core.made(array._expression.arg(is_max, place, bool(keepdims)), array)


def searchsorted(
    x1: Operand, x2: Operand, /, *, side: Literal["left", "right"] = "left", sorter: Operand | None = None
) -> Array:
    """The places of elements of `x2` in the sorted `x1`, in front of equal ones or, with side "right", behind
    them.

    Cost: `x1` is held in memory; every element of `x2` is compared with about `log2(len(x1))` of it.

    >>> oc.array.searchsorted(oc.array.asarray([1.0, 2.0, 4.0]), oc.array.asarray([2.0, 5.0])).compute()
    array([1, 3])
    """
    if side not in ("left", "right"):
        raise UsageError(f"expected side 'left' or 'right', found {side!r}")
    table, values = core.together(x1, x2)
    if table.ndim != 1:
        raise UsageError(f"expected a sorted array of one axis, found shape {table.shape}")
    if sorter is not None:
        table = _indexing.take(table, sorter, axis=0)
    count = table.shape[0]
    place = core.made(_zero_like(values)._expression, values)
    step = 1 << max(count.bit_length() - 1, 0)
    while count and step:
        # All up to `place` are before; it goes on by `step` if the last one of these is before, too.
        next_place = place + step
        last = _indexing.take(table, _elementwise.minimum(next_place, count) - 1, axis=0)
        is_before = _is_before(last, values) if side == "left" else ~_is_before(values, last)
        place = _elementwise.where((next_place <= count) & is_before, next_place, place)
        step >>= 1
    return place


def _zero_like(x: Array) -> Array:
    zero = core.number(0, np.dtype("int64"))
    return _manipulation.broadcast_to(zero, x.shape)


def _is_before(x: Array, y: Array) -> Array:
    """Whether elements are less, where NaN is behind all numbers."""
    if x.dtype.kind == y.dtype.kind == "b":
        return ~x & y
    is_less = x < y
    if y.dtype.kind == "f":
        is_less = is_less | (_elementwise.isnan(y) & ~_elementwise.isnan(x))
    return is_less


def isin(x1: Operand, x2: Operand, /, *, assume_unique: bool = False, invert: bool = False) -> Array:
    """Whether elements of `x1` are among those of `x2`, which is computed at once and held in memory.

    >>> oc.array.isin(oc.array.arange(4), [1, 3]).compute()
    array([False,  True, False,  True])
    """
    table: Any = x2.compute() if isinstance(x2, Array) else x2
    table = np.unique(unmasked(table))
    array, known = core.together(x1, core.of_numpy(table[table == table]))
    if not known.size:
        return _elementwise.not_equal(array, array) & False | invert
    place = _elementwise.minimum(searchsorted(known, array), known.shape[0] - 1)
    found = _indexing.take(known, place, axis=0) == array
    return ~found if invert else found
