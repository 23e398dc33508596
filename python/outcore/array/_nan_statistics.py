"""Statistics of the elements that are numbers, as NumPy has them."""

from typing import Any

from outcore.array import _array as core
from outcore.array import _elementwise, _statistics
from outcore.array._array import Array, Axis, Operand


def _numbers(x: Operand, instead: float) -> tuple[Array, Array]:
    """The elements, with something else instead of NaN, and which are numbers."""
    array = core.as_array(x)
    is_number = _elementwise.logical_not(_elementwise.isnan(array))
    return (_elementwise.where(is_number, array, instead) if array.dtype.kind == "f" else array), is_number


def nansum(x: Operand, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Sums along some axes, by default along all, without NaN; 0 where there is nothing else. Types are those of `sum`.

    >>> oc.array.nansum(oc.array.asarray([1.0, np.nan, 2.0])).compute()
    array(3.)
    """
    return _statistics.sum(_numbers(x, 0.0)[0], axis=axis, dtype=dtype, keepdims=keepdims)


def nanmin(x: Operand, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The least elements along some axes, by default along all, without NaN; NaN where there is nothing else.

    Raises:
        UsageError: No elements.
    """
    array = core.as_array(x)
    if array.dtype.kind != "f":
        return _statistics.min(array, axis=axis, keepdims=keepdims)
    numbers, is_number = _numbers(array, float("inf"))
    least = _statistics.min(numbers, axis=axis, keepdims=keepdims)
    return _elementwise.where(_statistics.any(is_number, axis=axis, keepdims=keepdims), least, float("nan"))


def nanmax(x: Operand, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The greatest elements along some axes, by default along all, without NaN; NaN where there is nothing else.

    Raises:
        UsageError: No elements.
    """
    array = core.as_array(x)
    if array.dtype.kind != "f":
        return _statistics.max(array, axis=axis, keepdims=keepdims)
    return _elementwise.negative(nanmin(_elementwise.negative(array), axis=axis, keepdims=keepdims))


def nanmean(x: Operand, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Means along some axes, by default along all, without NaN; NaN where there is nothing else. One pass.

    >>> oc.array.nanmean(oc.array.asarray([[1.0, np.nan], [3.0, np.nan]]), axis=0).compute()
    array([ 2., nan])
    """
    array = core.as_array(x)
    if array.dtype.kind != "f":
        return _statistics.mean(array, axis=axis, keepdims=keepdims)
    numbers, is_number = _numbers(array.astype("float64"), 0.0)
    total = _statistics.sum(numbers, axis=axis, keepdims=keepdims)
    return (total / _statistics.sum(is_number, axis=axis, keepdims=keepdims)).astype(array.dtype)


def nanvar(x: Operand, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Variances along some axes, by default along all, without NaN: sums of squared distances from the mean, by the
    number of elements less `correction`; NaN where that is not above 0. Two passes where it is along the long axis: the
    mean is found first, so that one far from 0 does no harm."""
    array = core.as_array(x)
    if array.dtype.kind != "f":
        return _statistics.var(array, axis=axis, correction=correction, keepdims=keepdims)
    wide = array.astype("float64")
    is_number = _elementwise.logical_not(_elementwise.isnan(wide))
    distances = _elementwise.where(is_number, wide - nanmean(wide, axis=axis, keepdims=True), 0.0)
    squares = _statistics.sum(distances * distances, axis=axis, keepdims=keepdims)
    rest = _statistics.sum(is_number, axis=axis, keepdims=keepdims) - correction
    return _elementwise.where(rest > 0, squares / rest, float("nan")).astype(array.dtype)


def nanstd(x: Operand, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Standard deviations: the square roots of what `nanvar` gives."""
    return _elementwise.sqrt(nanvar(x, axis=axis, correction=correction, keepdims=keepdims))

