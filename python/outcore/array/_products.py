"""Products of vectors and matrices, and what is made of them."""

from typing import Any

import numpy as np

from outcore._errors import UsageError
from outcore.array import _array as core
from outcore.array import _elementwise, _functions, _manipulation, _statistics
from outcore.array._array import Array, Operand

FOLDS = ("sum", "prod", "min", "max", "any", "all")


def matmul(x1: Operand, x2: Operand, /) -> Array:
    """The product of two matrices, of two stacks of them, or of vectors. Sums over long axes are results of a pass.

    >>> x = oc.array.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> (x.T @ x).compute()
    array([[10., 14.],
           [14., 20.]])
    """
    left, right = core.as_array(x1), core.as_array(x2)
    if left.dtype.kind == right.dtype.kind == "b":
        product = _integers(left)._expression.matmul(_integers(right)._expression)
        return core.made(product.cast("bool"), left, right)
    return core.made(left._expression.matmul(right._expression), left, right)


def _integers(x: Array) -> Array:
    return core.made(x._expression.cast("int64"), x)


def vecdot(x1: Operand, x2: Operand, /, *, axis: int = -1) -> Array:
    """Sums of products of elements along an axis."""
    left, right = core.together(x1, x2)
    if left.ndim == 0 or right.ndim == 0:
        raise UsageError(f"expected arrays with an axis to sum over, found shapes {left.shape} and {right.shape}")
    place = core.whole_number("an axis", axis)
    if not -min(left.ndim, right.ndim) <= place < 0 and left.ndim != right.ndim:
        raise UsageError(f"expected an axis of both arrays, counted from the last one, found {axis}")
    if left.shape[place] != right.shape[place]:
        raise UsageError(f"expected axes of one size, found {left.shape} and {right.shape}")
    products = _elementwise.multiply(left, right)
    return _statistics.sum(products, axis=place, dtype=products.dtype)


def dot(x1: Operand, x2: Operand) -> Array:
    """The product as NumPy's `dot` has it, of vectors, matrices and single values."""
    left, right = core.together(x1, x2)
    if left.ndim == 0 or right.ndim == 0:
        return _elementwise.multiply(left, right)
    if right.ndim <= 2:
        return matmul(left, right)
    return tensordot(left, right, axes=([left.ndim - 1], [right.ndim - 2]))


def tensordot(x1: Operand, x2: Operand, /, *, axes: Any = 2) -> Array:
    """Sums of products over several axes of both arrays.

    Args:
        axes: How many: the last ones of the first array with the first ones of the second; or two lists of axes.
    """
    left, right = core.as_array(x1), core.as_array(x2)
    if isinstance(axes, (tuple, list)):
        ours, theirs = ([one] if isinstance(one, int) else list(one) for one in axes)
        ours = [core.own_axis(one, left.ndim) for one in ours]
        theirs = [core.own_axis(one, right.ndim) for one in theirs]
    else:
        count = core.whole_number("axes", axes)
        if not 0 <= count <= min(left.ndim, right.ndim):
            raise UsageError(f"expected how many axes, at most {min(left.ndim, right.ndim)}, found {count}")
        ours, theirs = list(range(left.ndim - count, left.ndim)), list(range(count))
    if [left.shape[one] for one in ours] != [right.shape[one] for one in theirs]:
        raise UsageError(f"expected axes of one size, found {left.shape} and {right.shape} along {ours} and {theirs}")
    kept = [one for one in range(left.ndim) if one not in ours]
    others = [one for one in range(right.ndim) if one not in theirs]
    inner = int(np.prod([left.shape[one] for one in ours], dtype=object))
    outer = [left.shape[one] for one in kept], [right.shape[one] for one in others]
    rows, columns = (int(np.prod(sizes, dtype=object)) for sizes in outer)
    first = _manipulation.reshape(_manipulation.permute_dims(left, (*kept, *ours)), (rows, inner))
    second = _manipulation.reshape(_manipulation.permute_dims(right, (*theirs, *others)), (inner, columns))
    return _manipulation.reshape(matmul(first, second), (*outer[0], *outer[1]))


def outer(x1: Operand, x2: Operand) -> Array:
    """Products of all elements of one vector with all of another."""
    left, right = core.as_array(x1).flatten(), core.as_array(x2).flatten()
    return _elementwise.multiply(left[:, None], right[None, :])


def inner_product(
    A: Operand, B: Operand, pair: Any = "multiply", fold: Any = "sum", *, initial: float | None = None
) -> Array:
    """The product of two matrices with other operations: `pair` of an element of a row and one of a column, and `fold`
    over these pairs. One of the matrices is small.

    Args:
        pair: The name of a function of two elements, such as "subtract", or the function itself; or a function of the
            user's, which Numba compiles, see `apply`.
        fold: "sum", "prod", "min", "max", "any" or "all"; or a function of the user's, see `reduce`.
        initial: What a fold of the user's begins with.

    >>> A, B = oc.array.asarray([[0.0, 2.0]]), oc.array.asarray([[1.0, 5.0], [1.0, 4.0]])
    >>> oc.array.inner_product(A, B, oc.array.maximum, "sum").compute()
    array([[3., 9.]])
    """
    left, right = core.as_array(A), core.as_array(B)
    name = pair if isinstance(pair, str) else getattr(pair, "__name__", repr(pair))
    if callable(fold) == (initial is None) or not callable(fold) and fold not in FOLDS:
        expected = f"expected fold as one of {', '.join(FOLDS)}, or as a function together with initial"
        raise UsageError(f"{expected}, found {fold!r} and {initial!r}")
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        raise UsageError(f"expected matrices that can be multiplied, found {left.shape} and {right.shape}")
    own = getattr(_elementwise, name, None)
    if callable(pair) and pair is not own and not isinstance(pair, np.ufunc):
        pairs = _functions.apply(pair, left[:, :, None], right[None, :, :])
    elif callable(own):
        pairs = _elementwise.binary(name, left[:, :, None], right[None, :, :])
    else:
        raise UsageError(f"expected pair as a function of two elements, found {name!r}")
    if initial is not None:
        return _functions.reduce(fold, pairs, 1, initial)
    return core.made(pairs._expression.fold(fold, [1], False), pairs)


def cov(X: Operand, *, correction: float = 1.0) -> Array:
    """Covariances of the columns of a matrix, whose rows are observations. One pass, in float64, by deviations from
    means of blocks of rows, so that means far from 0 do little harm. Of float32, deviations are multiplied in float32
    and added in float64: results are right to some 10^-7 of both deviations; `X.astype("float64")` is slower and
    exact.

    >>> oc.array.cov(oc.array.asarray([[1.0, 2.0], [3.0, 6.0]])).compute()
    array([[2., 4.],
           [4., 8.]])
    """
    array = core.as_array(X)
    rows = array.shape[0] if array.ndim else 0
    return core.made(array._expression.co_moments(), array) / max(rows - correction, 0.0)


def corrcoef(X: Operand) -> Array:
    """Correlations of the columns of a matrix, whose rows are observations. One pass, as `cov`.

    >>> oc.array.corrcoef(oc.array.asarray([[1.0, 2.0], [3.0, 6.0]])).compute()
    array([[1., 1.],
           [1., 1.]])
    """
    array = core.as_array(X)
    moments = core.made(array._expression.co_moments(), array)
    ones = core.of_numpy(np.eye(moments.shape[0], dtype=bool))
    lengths = _elementwise.sqrt(_statistics.sum(_elementwise.where(ones, moments, 0.0), axis=1))
    return _elementwise.clip(moments / lengths[:, None] / lengths[None, :], -1.0, 1.0)
