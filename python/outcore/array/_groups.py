"""Rows folded by labels, histograms, quantiles and summaries of columns."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from outcore._errors import UsageError
from outcore._graphs import previews
from outcore._inputs.tables import unmasked
from outcore._outcore import Expression
from outcore.array import _array as core
from outcore.array import _compute, _functions, _indexing, _manipulation
from outcore.array._array import Array, Operand


def _grouped(
    X: Operand,
    labels: Operand,
    k: int,
    axis: int,
    by_rows: Callable[[Array, Array, int], Array],
    of_group: Callable[[Array, int], Array],
    small_by_rows: bool = True,
) -> Array:
    """Parts along an axis, folded by labels. `by_rows` folds all groups in a pass: along the long axis, where labels
    are lazy, and, if so wanted, of arrays without a long axis. Otherwise `of_group` folds the parts of each group."""
    array, names, k = core.as_array(X), core.as_array(labels), core.whole_number("k", k)
    if k < 0:
        raise UsageError(f"expected how many groups, from 0 on, found {k}")
    if names.dtype.kind == "b":
        names = core.made(names._expression.cast("uint8"), names)
    place = core.own_axis(axis, array.ndim)
    values = core.as_array(labels)._values
    long_axis = place if array.long_axis is None and small_by_rows else array.long_axis
    if values is None or place == long_axis or k == 0:
        return _manipulation.moveaxis(by_rows(_manipulation.moveaxis(array, place, 0), names, k), 0, place)
    members = _members(values, k, array.shape[place])
    return _manipulation.stack([of_group(_indexing.cut(array, own, place), place) for own in members], axis=place)


def _members(labels: np.ndarray, k: int, count: int) -> list[np.ndarray]:
    """Of each group the places of its labels."""
    if labels.shape != (count,) or labels.dtype.kind not in "biu":
        raise UsageError(f"expected {count} labels of whole numbers, found {labels.shape} of {labels.dtype}")
    wrong = np.flatnonzero((labels < 0) | (labels >= k))
    if wrong.size:
        place = int(wrong[0])
        expected = f"expected labels from 0 on, below the number of groups, which is {k}"
        raise UsageError(f"{expected}, found {labels[place]} at {place}")
    names = labels.astype(np.int64)
    order = np.argsort(names, kind="stable")
    return np.split(order, np.searchsorted(names[order], np.arange(1, k)))


def _folded(fold: str, X: Operand, labels: Operand, k: int, axis: int) -> Array:
    def by_rows(rows: Array, names: Array, k: int) -> Array:
        return core.made(rows._expression.group_fold(fold, names._expression, k), rows, names)

    def of_group(parts: Array, place: int) -> Array:
        if fold != "sum" and not parts.shape[place]:
            parts = core.made(_neutral(fold, parts, place), parts)
        return core.made(parts._expression.fold(fold, [place], False), parts)

    return _grouped(X, labels, k, axis, by_rows, of_group)


def _neutral(fold: str, parts: Array, axis: int) -> Expression:
    """A part that changes no least, or no greatest, element."""
    dtype, shape = parts.dtype, list(parts.shape)
    shape[axis] = 1
    infinity: Any = np.inf if fold == "min" else -np.inf
    if dtype.kind in "iu":
        infinity = int(np.iinfo(dtype).max if fold == "min" else np.iinfo(dtype).min)
    return Expression.full(shape, infinity, dtype.name)


def groupby_sum(X: Operand, labels: Operand, k: int, *, axis: int = 0) -> Array:
    """Sums of the rows of an array by their labels: row `i` of the result is the sum of those whose label is `i`.

    Args:
        X: An array with a row, or an element, for every label.
        labels: Whole numbers from 0 to `k - 1`, or truth values. Along another axis than the long one of an array in a
            file they must be in memory.
        k: How many groups there are.
        axis: The axis that labels are of: 1 for columns, of which those with label `i` become column `i`.

    Cost: one pass; memory for `k` rows of every worker. Labels of columns make a step of the pass for each group and
    each run of columns.

    Raises:
        UsageError: Labels that are no whole numbers, or not one for every row; lazy ones along another axis than the
            long one. A label out of range: the first one is named, at once for labels of columns in memory, otherwise
            when it is computed. `where(is_known, labels, k)` and a group more leave rows out.

    >>> X = oc.array.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> oc.array.groupby_sum(X, np.array([1, 0, 1]), 2).compute()
    array([[3., 4.],
           [6., 8.]])
    >>> oc.array.groupby_sum(X, np.array([0, 0]), 1, axis=1).compute()
    array([[ 3.],
           [ 7.],
           [11.]])
    """
    return _folded("sum", X, labels, k, axis)


def groupby_min(X: Operand, labels: Operand, k: int, *, axis: int = 0) -> Array:
    """The least of the rows with each label, column by column; of no rows infinity, or the greatest whole number. See
    `groupby_sum`."""
    return _folded("min", X, labels, k, axis)


def groupby_max(X: Operand, labels: Operand, k: int, *, axis: int = 0) -> Array:
    """The greatest of the rows with each label, column by column; of no rows minus infinity, or the least whole number.
    See `groupby_sum`."""
    return _folded("max", X, labels, k, axis)


def groupby_count(labels: Operand, k: int) -> Array:
    """The number of rows with each label from 0 to `k - 1`.

    >>> oc.array.groupby_count(np.array([1, 0, 1]), 2).compute()
    array([1, 2])
    """
    names = core.as_array(labels)
    return groupby_sum(core.made(Expression.full(list(names.shape), 1, "int64")), names, k)


def groupby_mean(X: Operand, labels: Operand, k: int, *, axis: int = 0) -> Array:
    """The means of the rows with each label, in float64 unless they are float32; NaN of no rows. See `groupby_sum`."""
    rows = core.as_array(X)
    if rows.dtype.kind != "f":
        rows = core.made(rows._expression.cast("float64"), rows)
    sums = groupby_sum(rows, labels, k, axis=axis)
    counts = core.made(groupby_count(labels, k)._expression.cast(rows.dtype.name), rows)
    return sums / _manipulation.reshape(counts, (k,) + (1,) * (rows.ndim - 1 - core.own_axis(axis, rows.ndim)))


def groupby_reduce(
    f: Callable[..., Any],
    X: Operand,
    labels: Operand,
    k: int,
    initial: float | np.number[Any] | np.bool_,
    merge: Callable[..., Any] | None = None,
    *,
    axis: int = 0,
) -> Array:
    """Rows folded by their labels, column by column, by a function of the user's: row `i` of the result is made of the
    rows whose label is `i`, from the first to the last.

    Args:
        f: A function of the result so far and the next element, which returns the next result; see `apply`.
        X, labels, k, axis: As `groupby_sum` has them.
        initial: The result of a group without rows, a number, see `reduce`.
        merge: A function of two results, which returns one of their type, see `reduce`. It is needed along the long
            axis and called for all groups of all partitions but the first one, whether these have rows of the group or
            not: so `initial` is to be neutral for it.

    Returns:
        An array of `k` rows; along another axis, as long as this axis, of `k`.

    Cost: as with `groupby_sum`.

    Raises:
        UsageError: As with `reduce` and `groupby_sum`.

    >>> def last(before, x):
    ...     return x
    >>> def later(before, behind):
    ...     return behind if behind > -1 else before
    >>> X = oc.array.asarray([[1, 2], [3, 4], [5, 6]])
    >>> oc.array.groupby_reduce(last, X, np.array([1, 0, 1]), 3, -1, merge=later).compute()
    array([[ 3,  4],
           [ 5,  6],
           [-1, -1]])
    """
    _functions.check(f, initial, merge)

    def by_rows(rows: Array, names: Array, k: int) -> Array:
        return _functions.folded(f, merge, rows, initial, None, (names, k))

    def of_group(parts: Array, place: int) -> Array:
        return _functions.reduce(f, parts, place, initial)

    return _grouped(X, labels, k, axis, by_rows, of_group, merge is not None)


def bincount(x: Operand, k: int, weights: Operand | None = None) -> Array:
    """The number of times that each whole number from 0 to `k - 1` occurs, or the sums of the weights there."""
    return groupby_count(x, k) if weights is None else groupby_sum(weights, x, k)


def histogram(X: Operand, bins: Any = 10, range: tuple[float, float] | None = None) -> tuple[Array, np.ndarray]:
    """The number of elements of a vector, or of every column of a matrix, in each of several bins.

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
        edges = unmasked(bins).astype(np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) >= 0).all():
        raise UsageError(f"expected at least two edges of bins, rising, found {np.array2string(edges, threshold=10)}")
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
    places = unmasked(q).astype(np.float64)
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
    """The number of rows."""
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
    """The number of elements other than 0."""
    missing: np.ndarray
    """The number of missing elements, which are NaN. All other figures are of what is there."""
    names: list[str] | None = None
    """The names of the columns, if the array has any."""

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with a row for each column of the array, and the figures as columns."""
        import pandas as pd  # type: ignore[import-untyped]

        figures = {name: np.atleast_1d(getattr(self, name)) for name in _FIGURES}
        return pd.DataFrame(figures, index=self.names)

    def _repr_html_(self) -> str:
        figures = [np.atleast_1d(getattr(self, name)) for name in _FIGURES]
        count = len(figures[0])
        names = self.names or [str(place) for place in range(count)]
        rows = [[names[place], *(figure[place].item() for figure in figures)] for place in range(min(count, _SHOWN))]
        note = f"The first {_SHOWN} of {count} columns." if count > _SHOWN else ""
        return previews.rows(f"outcore.array.Description: {self.rows} rows", ["column", *_FIGURES], rows, note)


# The figures of a description in the order of its tables, and how many columns a notebook shows.
_FIGURES = ("missing", "mean", "std", "min", "max", "l1", "l2", "nonzeros")
_SHOWN = 60


def describe(X: Operand, **limits: Any) -> Description:
    """Figures of every column of a matrix, or of a vector, computed at once in one pass.

    NaN is a missing value: it is counted, and left out of all other figures.

    Args:
        limits: `runtime`, `memory`, `threads`, `backend`, `temporary` and `progress`, as `compute` has them.

    Raises:
        UsageError: No rows, or truth values.

    >>> found = oc.array.describe(oc.array.asarray([[1.0, 0.0], [3.0, -4.0]]))
    >>> found.mean, found.l2, found.nonzeros
    (array([ 2., -2.]), array([3.16227766, 4.        ]), array([2, 1]))
    >>> some = oc.array.describe(oc.array.asarray([1.0, np.nan, 3.0]))
    >>> some.missing, some.mean
    (array(1), array(2.))
    """
    array = core.as_array(X)
    if array.ndim not in (1, 2) or array.dtype.kind == "b":
        raise UsageError(f"expected a vector or a matrix of numbers, found shape {array.shape} of {array.dtype}")
    if not array.shape[0]:
        raise UsageError(f"expected rows to describe, found an array of shape {array.shape}")
    figures = [core.made(figure, array) for figure in array._expression.figures()]
    return Description(array.shape[0], *_compute.compute(*figures, **limits))._replace(names=array.names)
