"""Rows folded by labels, histograms and summaries of columns."""

from typing import Any, NamedTuple

import numpy as np

from outcore._errors import UsageError
from outcore._outcore import Expression
from outcore.array import _array as core
from outcore.array import _compute, _elementwise, _manipulation, _searching, _statistics
from outcore.array._array import Array, Operand


def _grouped(fold: str, X: Operand, labels: Operand, k: int) -> Array:
    rows, names = core.as_array(X), core.as_array(labels)
    if names.dtype.kind == "b":
        names = core.made(names._expression.cast("uint8"), names)
    return core.made(rows._expression.group_fold(fold, names._expression, k), rows, names)


def groupby_sum(X: Operand, labels: Operand, k: int) -> Array:
    """Sums of the rows of an array by their labels: row `i` of the result is the sum of those whose label is `i`.

    Args:
        X: An array with a row, or an element, for every label.
        labels: Whole numbers or truth values. Rows whose label is not from 0 to `k - 1` are left out.
        k: How many groups there are.

    Cost: one pass; memory for `k` rows of every worker.

    >>> X = oc.array.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> oc.array.groupby_sum(X, np.array([1, 0, 1]), 2).compute()
    array([[3., 4.],
           [6., 8.]])
    """
    return _grouped("sum", X, labels, k)


def groupby_min(X: Operand, labels: Operand, k: int) -> Array:
    """The least of the rows with each label, column by column; of no rows infinity, or the greatest whole number. See
    `groupby_sum`."""
    return _grouped("min", X, labels, k)


def groupby_max(X: Operand, labels: Operand, k: int) -> Array:
    """The greatest of the rows with each label, column by column; of no rows minus infinity, or the least whole number.
    See `groupby_sum`."""
    return _grouped("max", X, labels, k)


def groupby_count(labels: Operand, k: int) -> Array:
    """How many rows have each label from 0 to `k - 1`.

    >>> oc.array.groupby_count(np.array([1, 0, 1]), 2).compute()
    array([1, 2])
    """
    names = core.as_array(labels)
    return _grouped("sum", core.made(Expression.full(list(names.shape), 1, "int64")), names, k)


def groupby_mean(X: Operand, labels: Operand, k: int) -> Array:
    """The means of the rows with each label, in float64 unless they are float32; NaN of no rows. See `groupby_sum`."""
    rows = core.as_array(X)
    if rows.dtype.kind != "f":
        rows = core.made(rows._expression.cast("float64"), rows)
    counts = core.made(groupby_count(labels, k)._expression.cast(rows.dtype.name), rows)
    return groupby_sum(rows, labels, k) / _manipulation.reshape(counts, (k,) + (1,) * (rows.ndim - 1))


def bincount(x: Operand, k: int, weights: Operand | None = None) -> Array:
    """How often each whole number from 0 to `k - 1` occurs, or the sums of the weights there."""
    return groupby_count(x, k) if weights is None else groupby_sum(weights, x, k)


def histogram(X: Operand, bins: Any = 10, range: tuple[float, float] | None = None) -> tuple[Array, np.ndarray]:
    """How many elements of a vector, or of every column of a matrix, are in each of several bins.

    Args:
        bins: The edges of the bins, rising, or their number between the ends of `range`.
        range: The ends of the first and last bin; needed if `bins` is a number, for they are to be known before a pass.

    Returns:
        The counts, of shape `(bins,)` or `(bins, p)`, to be computed in one pass; and the edges. Bins are half-open but
        for the last one, as NumPy's.

    Raises:
        UsageError: No range, or edges that do not rise.

    >>> counts, edges = oc.array.histogram(oc.array.asarray([0.1, 0.2, 0.9, 1.0]), 2, (0, 1))
    >>> counts.compute(), edges
    (array([2, 2]), array([0. , 0.5, 1. ]))
    """
    array = core.as_array(X)
    if np.ndim(bins) == 0:
        if range is None:
            raise UsageError("expected range= with a number of bins; compute(X.min(), X.max()) finds one in a pass")
        edges = np.histogram_bin_edges(np.empty(0), int(bins), range)
    else:
        edges = np.asarray(bins, np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) >= 0).all():
        raise UsageError("expected at least two edges of bins, rising")
    if array.ndim not in (1, 2):
        raise UsageError(f"expected a vector or a matrix, found {array.ndim} axes")
    count = len(edges) - 1
    values = core.made(array._expression.cast("float64"), array)
    place = _searching.searchsorted(core.of_numpy(edges), values, side="right") - 1
    place = _elementwise.where(values == float(edges[-1]), count - 1, place)
    if array.ndim == 1:
        return groupby_count(place, count), edges
    columns = [groupby_count(column, count) for column in _manipulation.unstack(place, axis=1)]
    if not columns:
        return core.of_numpy(np.zeros((count, 0), np.int64)), edges
    return _manipulation.stack(columns, axis=1), edges


class Description(NamedTuple):
    """Figures of every column of a matrix, as arrays of NumPy's."""

    rows: int
    """How many rows there are."""
    min: np.ndarray
    """The least elements."""
    max: np.ndarray
    """The greatest elements."""
    mean: np.ndarray
    """The means."""
    std: np.ndarray
    """The standard deviations, with a correction of 1."""
    l1: np.ndarray
    """The sums of absolute values."""
    l2: np.ndarray
    """The square roots of the sums of squares."""
    nonzeros: np.ndarray
    """How many elements are not 0."""


def describe(X: Operand, **limits: Any) -> Description:
    """Figures of every column of a matrix, or of a vector, computed at once in one pass.

    Args:
        limits: `runtime`, `memory`, `threads`, `backend`, `temporary` and `progress`, as `compute` has them.

    Raises:
        UsageError: No rows, or truth values.

    >>> found = oc.array.describe(oc.array.asarray([[1.0, 0.0], [3.0, -4.0]]))
    >>> found.mean, found.l2, found.nonzeros
    (array([ 2., -2.]), array([3.16227766, 4.        ]), array([2, 1]))
    """
    array = core.as_array(X)
    if array.ndim not in (1, 2) or array.dtype.kind == "b":
        raise UsageError(f"expected a vector or a matrix of numbers, found shape {array.shape} of {array.dtype}")
    real = array if array.dtype.kind == "f" else core.made(array._expression.cast("float64"), array)
    figures = _compute.compute(
        _statistics.min(array, axis=0),
        _statistics.max(array, axis=0),
        _statistics.mean(array, axis=0),
        _statistics.std(array, axis=0, correction=1),
        _statistics.sum(_elementwise.abs(real), axis=0),
        _elementwise.sqrt(_statistics.sum(_elementwise.square(real), axis=0)),
        _statistics.count_nonzero(array, axis=0),
        **limits,
    )
    return Description(array.shape[0], *figures)
