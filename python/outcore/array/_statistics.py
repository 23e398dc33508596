"""Sums and other results of many elements."""

from typing import Any

import numpy as np

from outcore._errors import UsageError
from outcore.array import _array as core
from outcore.array import _elementwise, _manipulation
from outcore.array._array import Array, Axis, Operand


def _fold(name: str, x: Operand, axis: Axis, keepdims: bool) -> Array:
    array = core.as_array(x)
    return core.made(array._expression.fold(name, core.own_axes(axis, array.ndim), bool(keepdims)), array)


def _added(name: str, x: Operand, axis: Axis, dtype: Any, keepdims: bool) -> Array:
    array = core.as_array(x)
    if dtype is None:
        return _fold(name, array, axis, keepdims)
    kind = core.type_name(dtype)
    folded = _fold(name, core.made(array._expression.cast(kind), array), axis, keepdims)
    return core.made(folded._expression.cast(kind), folded)


def sum(x: Operand, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Sums along some axes, by default along all. Those of whole numbers and truth values are of 64 bits and wrap;
    those of real numbers have their type. They do not depend on the number of threads.

    >>> oc.array.sum(oc.array.ones((2, 3)), axis=0).compute()
    array([2., 2., 2.])
    """
    return _added("sum", x, axis, dtype, keepdims)


def prod(x: Operand, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Products along some axes, by default along all. Types are those of `sum`."""
    return _added("prod", x, axis, dtype, keepdims)


def min(x: Operand, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The least elements along some axes, by default along all; NaN if there is one.

    Raises:
        UsageError: No elements.
    """
    array = core.as_array(x)
    return _fold("all" if _is_truth(array, axis) else "min", array, axis, keepdims)


def max(x: Operand, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The greatest elements along some axes, by default along all; NaN if there is one.

    Raises:
        UsageError: No elements.
    """
    array = core.as_array(x)
    return _fold("any" if _is_truth(array, axis) else "max", array, axis, keepdims)


def _is_truth(x: Array, axis: Axis) -> bool:
    if x.dtype.kind != "b":
        return False
    axes = core.own_axes(axis, x.ndim)
    folded = range(x.ndim) if axes is None else [core.own_axis(one, x.ndim) for one in axes]
    if 0 in [x.shape[one] for one in folded]:
        raise UsageError("expected elements to compare, found none")
    return True


def any(x: Operand, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether any element along some axes is true, or not 0; false of none."""
    return _fold("any", x, axis, keepdims)


def all(x: Operand, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether all elements along some axes are true, or not 0; true of none."""
    return _fold("all", x, axis, keepdims)


def mean(x: Operand, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Means along some axes, by default along all; those of whole numbers are float64.

    >>> oc.array.mean(oc.array.arange(4)).compute()
    array(1.5)
    """
    array = core.as_array(x)
    return core.made(array._expression.mean(core.own_axes(axis, array.ndim), bool(keepdims)), array)


def var(x: Operand, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Variances along some axes: sums of squared distances from the mean, by the number of elements less `correction`.
    One pass, in float64; a mean far from 0 does no harm."""
    array = core.as_array(x)
    axes = core.own_axes(axis, array.ndim)
    return core.made(array._expression.variance(axes, float(correction), bool(keepdims)), array)


def std(x: Operand, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Standard deviations: the square roots of what `var` gives."""
    return _elementwise.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def count_nonzero(x: Operand, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The number of elements along some axes that are not 0."""
    array = core.as_array(x)
    return sum(core.made(array._expression.cast("bool"), array), axis=axis, keepdims=keepdims)


def _cumulative(name: str, x: Operand, axis: int | None, dtype: Any, include_initial: bool) -> Array:
    array = core.as_array(x)
    if axis is None:
        if array.ndim != 1:
            raise UsageError(f"expected axis= for an array of {array.ndim} axes")
        axis = 0
    place = core.own_axis(axis, array.ndim)
    kind = None if dtype is None else core.type_name(dtype)
    expression = array._expression if kind is None else array._expression.cast(kind)
    expression = expression.cumulative(name, place)
    result = core.made(expression if kind is None else expression.cast(kind), array)
    if not include_initial:
        return result
    shape = [1 if own == place else size for own, size in enumerate(array.shape)]
    first = core.number(0 if name == "sum" else 1, result.dtype)
    return _manipulation.concat([_manipulation.broadcast_to(first, shape), result], axis=place)


def cumulative_sum(
    x: Operand, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Sums of an element and all before it along an axis, and of none first if `include_initial` is true. Types are
    those of `sum`.

    Raises:
        UsageError: The long axis of an array in a file.

    >>> oc.array.cumulative_sum(oc.array.arange(4), include_initial=True).compute()
    array([0, 0, 1, 3, 6])
    """
    return _cumulative("sum", x, axis, dtype, include_initial)


def cumulative_prod(
    x: Operand, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Products of an element and all before it along an axis, and of none first if `include_initial` is true."""
    return _cumulative("prod", x, axis, dtype, include_initial)


def diff(x: Operand, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
    """Differences of neighbours along an axis, `n` times over; with arrays before and behind, if they are given.

    >>> oc.array.diff(oc.array.asarray([1, 4, 9])).compute()
    array([3, 5])
    """
    array = core.as_array(x)
    place = core.own_axis(axis, array.ndim)
    if n < 0:
        raise UsageError(f"expected how often, from 0 on, found {n}")
    around = [None if one is None else core.as_array(one) for one in (prepend, append)]
    if around[0] is not None or around[1] is not None:
        before, behind = ([] if one is None else [one] for one in around)
        array = _manipulation.concat([*before, array, *behind], axis=place)
    for _ in range(n):
        count = np.maximum(array.shape[place] - 1, 0).item()
        ends = []
        for start in (1, 0):
            parts = _manipulation.whole(array)
            parts[place] = (start if count else 0, 1, count)
            ends.append(_manipulation.sliced(array, parts))
        name = "not_equal" if array.dtype.kind == "b" else "subtract"
        array = _elementwise.binary(name, *ends)
    return array


def norm(x: Operand, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Array:
    """Norms of vectors as NumPy's `linalg.norm` has them, and of matrices "fro", 1, -1, inf and -inf.

    Raises:
        UsageError: The nuclear norm and the greatest and least singular values: those are `outcore.linalg`'s.
    """
    # The size of the least whole number is none of its type.
    array = _elementwise.abs(_real(core.as_array(x)))
    axes = core.own_axes(axis, array.ndim)
    if axes is None and ord is None or axes is not None and len(axes) == 2 and ord in (None, "fro"):
        return _elementwise.sqrt(sum(_elementwise.square(array), axis=axis, keepdims=keepdims))
    if axes is None and array.ndim <= 2:
        axes = list(range(array.ndim))
    if axes is not None and len(axes) == 1:
        return _vector_norm(array, ord, axes[0], keepdims)
    if axes is None or len(axes) != 2 or ord not in (1, -1, np.inf, -np.inf, "fro"):
        raise UsageError(f"expected a norm of vectors, or of matrices one of 'fro', 1, -1, inf and -inf, found {ord!r}")
    if ord == "fro":
        return _elementwise.sqrt(sum(_elementwise.square(array), axis=axis, keepdims=keepdims))
    rows, columns = (core.own_axis(one, array.ndim) for one in axes)
    sums = sum(array, axis=rows if ord in (1, -1) else columns, keepdims=True)
    found = (max if ord > 0 else min)(sums, axis=columns if ord in (1, -1) else rows, keepdims=True)
    return found if keepdims else _manipulation.squeeze(found, (rows, columns))


def _vector_norm(x: Array, ord: Any, axis: int, keepdims: bool) -> Array:
    if ord in (None, 2):
        return _elementwise.sqrt(sum(_elementwise.square(x), axis=axis, keepdims=keepdims))
    if ord in (np.inf, -np.inf):
        return (max if ord > 0 else min)(x, axis=axis, keepdims=keepdims)
    if ord == 0:
        return _real(count_nonzero(x, axis=axis, keepdims=keepdims))
    if ord == 1:
        return sum(x, axis=axis, keepdims=keepdims)
    powers = sum(_elementwise.pow(x, float(ord)), axis=axis, keepdims=keepdims)
    return _elementwise.pow(powers, 1.0 / float(ord))


def _real(x: Array) -> Array:
    return x if x.dtype.kind == "f" else core.made(x._expression.cast("float64"), x)
