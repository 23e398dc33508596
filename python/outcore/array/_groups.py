"""Rows folded by labels, histograms, quantiles and summaries of columns."""

from typing import Any, NamedTuple

import numpy as np

from outcore._errors import UsageError
from outcore._outcore import Expression
from outcore.array import _array as core
from outcore.array import _compute, _manipulation
from outcore.array._array import Array, Operand


def _grouped(fold: str, X: Operand, labels: Operand, k: int) -> Array:
    rows, names, k = core.as_array(X), core.as_array(labels), core.whole_number("k", k)
    if k < 0:
        raise UsageError(f"expected how many groups, from 0 on, found {k}")
    if names.dtype.kind == "b":
        names = core.made(names._expression.cast("uint8"), names)
    return core.made(rows._expression.group_fold(fold, names._expression, k), rows, names)


def groupby_sum(X: Operand, labels: Operand, k: int) -> Array:
    """Sums of the rows of an array by their labels: row `i` of the result is the sum of those whose label is `i`.

    Args:
        X: An array with a row, or an element, for every label.
        labels: Whole numbers from 0 to `k - 1`, or truth values.
        k: How many groups there are.

    Cost: one pass; memory for `k` rows of every worker.

    Raises:
        UsageError: Labels that are no whole numbers, or not one for every row. When it is computed, a label out of
            range: the first one is named. `where(is_known, labels, k)` and a group more leave rows out.

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
        edges = np.histogram_bin_edges(np.empty(0), core.whole_number("bins", bins), range)
    else:
        edges = np.asarray(bins, np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) >= 0).all():
        raise UsageError("expected at least two edges of bins, rising")
    if array.ndim not in (1, 2):
        raise UsageError(f"expected a vector or a matrix, found {array.ndim} axes")
    if not array.size:
        return core.of_numpy(np.zeros((len(edges) - 1, *array.shape[1:]), np.int64)), edges
    matrix = array if array.ndim == 2 else array[:, None]
    counts = core.made(matrix._expression.bins(edges.tolist()).cast("int64"), array)
    return (_manipulation.transpose(counts) if array.ndim == 2 else counts[0]), edges


def quantile(
    X: Operand, q: Any, *, axis: int = 0, error: float = 0.005, return_error: bool = False
) -> Array | tuple[Array, Array]:
    """Quantiles of the columns of a matrix, or of a vector, by a sketch of sorted samples, in one pass.

    The rank of a result is wrong by no more than `error` times the number of rows: it lies between the quantiles of the
    probabilities `q - error` and `q + error`. Few rows, such as 500 by the default error, fit the sketch as they
    are: then results are exact. They have the same bits for all numbers of threads and limits.

    Args:
        q: A probability from 0 to 1, or a list of them.
        axis: The first axis, along which a file is read.
        error: By how much ranks may be wrong, as a part of all rows: from 1e-6 to 1.
        return_error: Whether by how many rows ranks are wrong at most, as it was proven while sorting, is returned too.

    Returns:
        Quantiles of float64, to be computed: of shape `(p,)`, or `(len(q), p)` for a list; a vector has no `p`. Between
        adjacent values of the sketch they are interpolated, as NumPy does by default. With `return_error` a pair of
        that and a whole number.

    Cost: one pass, in which all values are sorted by partition; `c log(n / c)` numbers per column, where `c` is about
    `log2(n) / error`.

    Raises:
        UsageError: Another axis, no rows, probabilities or an error out of range; when it is computed, NaN or
            infinities.

    Manku, Rajagopalan, Lindsay, Approximate medians and other quantiles in one pass, SIGMOD 1998.

    >>> x = oc.array.asarray([[1.0, 10.0], [2.0, 30.0], [4.0, 20.0]])
    >>> oc.array.quantile(x, [0.5, 1.0]).compute()
    array([[ 2., 20.],
           [ 4., 30.]])
    """
    array = core.as_array(X)
    if array.ndim not in (1, 2) or core.own_axis(axis, array.ndim) != 0:
        text = "expected a vector or a matrix, and axis=0: quantiles are of columns"
        raise UsageError(f"{text}, found shape {array.shape} and axis={axis}")
    places = np.asarray(q, np.float64)
    if places.ndim > 1:
        raise UsageError(f"expected q as a probability or a list of them, found shape {places.shape}")
    found = core.made(array._expression.quantiles(places.reshape(-1).tolist(), float(error)), array)
    values = _manipulation.reshape(found[:-1], (*places.shape, *array.shape[1:]))
    if not return_error:
        return values
    return values, core.made(found[-1]._expression.cast("int64"), array)


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
    figures = [core.made(figure, array) for figure in array._expression.figures()]
    return Description(array.shape[0], *_compute.compute(*figures, **limits))
