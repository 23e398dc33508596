"""Functions of the user's own, of elements and of folds, which Numba compiles."""

from collections.abc import Callable
from typing import Any

import numpy as np

from outcore._errors import UsageError, without_numba
from outcore._outcore import Expression, element_fold, element_function
from outcore.array import _array as core
from outcore.array import _manipulation
from outcore.array._array import Array, Operand

# Numba compiles no call with more.
MOST_OPERANDS = 30


def apply(f: Callable[..., Any], *operands: Operand, dtype: Any = None) -> Array:
    """A function of the user's of the elements of operands, which are broadcast to each other.

    Numba compiles the function for the types of the operands when the array is made; when that is computed, it runs on
    all workers, over vectors of up to 508 elements, without the interpreter's lock. What it knows from outside, such as
    global numbers and arrays, is what they are when the array is made.

    Args:
        f: A function of as many numbers as there are operands, which returns one: a plain function, or one that
            `numba.jit`, `numba.vectorize` or `numba.cfunc` made, which is compiled anew. Calls for different elements
            are made in any order and at the same time. It must return: Ctrl-C is heard between blocks of rows, and
            compiled code that never ends stops only with the process.
        operands: From 1 to 30 arrays or numbers. They keep their types; numbers of Python's are bool, int64 or
            float64.
        dtype: The type of the results; by default that which Numba finds. It is cast to as `astype` does.

    Cost: nothing before it is computed, but for compiling, once for a function and types of operands.

    Raises:
        UsageError: Numba is not installed; a function that it cannot compile for such operands, or that returns no
            number; shapes that cannot be broadcast. When it is computed: an exception in the function, which is the
            cause of the error. Division by 0 is none: it is what NumPy makes of it.

    >>> def clipped(x, most):
    ...     return x if x < most else most
    >>> oc.array.apply(clipped, oc.array.asarray([1.0, 5.0, 9.0]), 6.0).compute()
    array([1., 5., 6.])
    """
    element_loop = _loops("apply").element_loop
    _check(f)
    if not 1 <= len(operands) <= MOST_OPERANDS:
        raise UsageError(f"expected from 1 to {MOST_OPERANDS} operands, found {len(operands)}")
    arrays = [core.as_array(operand) for operand in operands]
    result = _called(element_loop(f, *(array.dtype for array in arrays)), arrays)
    return result if dtype is None else result.astype(dtype)


def reduce(
    f: Callable[..., Any],
    X: Operand,
    axis: int | None,
    initial: float | np.number[Any] | np.bool_,
    merge: Callable[..., Any] | None = None,
) -> Array:
    """A fold of elements along an axis, or of all elements, by a function of the user's, from the first element to the
    last one.

    Along the long axis all workers fold at the same time, each a partition of adjacent rows (indices of that axis),
    which begins with `initial`. `merge` makes one result of two: of that of all partitions before, and that of the next
    partition; the first one is taken as it is. Which rows are a partition depends on what files the pass reads, on
    their types, and on arrays and images that it makes; not on threads, memory or back ends, so that these change no
    bit.
    The result does not depend on partitions either if `initial` is neutral, `merge(initial, r) == r`, and if merging
    gives what folding the elements of both, in their order, would.

    Args:
        f: A function of the result so far and the next element, which returns the next result; see `apply`.
        axis: An axis; `None` for all elements, row by row along the long axis, and of each row in the order of the
            other axes.
        initial: The result of no elements, a number. Results have the type that `f` makes of it: int64 and float64 of
            Python's own numbers, unless `f` returns a wider one, and of NumPy's their own, such as `np.uint64(0)`.
        merge: A function of two results, which returns one of their type; Numba compiles it as well. It is needed along
            the long axis. Along another axis, or if all rows are one partition, it is not called.

    Returns:
        An array without the axis. Where there are no elements, each result is `initial`.

    Cost: along the long axis one pass; memory for a block of 508 rows and for a few results of every worker. Along
    another axis as with `apply`: a step and 4 KiB of memory per worker for each element along the axis.

    Raises:
        UsageError: As with `apply`; the long axis without `merge`; a function whose results have not the type of its
            first number.

    >>> def longest(length, x):
    ...     return length + 1 if x > 0 else 0
    >>> X = oc.array.asarray([[1, 0, 2, 3], [4, 5, 6, 7]])
    >>> oc.array.reduce(longest, X, 1, 0).compute()
    array([2, 4])
    >>> def worst(most, x):
    ...     return max(most, abs(x))
    >>> oc.array.reduce(worst, oc.array.arange(-70_000.0, 9.0), 0, 0.0, merge=max).compute()
    array(70000.)
    """
    array = core.as_array(X)
    check(f, initial, merge)
    long_axis = array.long_axis
    place = long_axis if axis is None else core.own_axis(axis, array.ndim)
    if merge is not None and long_axis in (None, place):
        return folded(f, merge, array, initial, place if axis is not None else None)
    if place is not None and place == long_axis:
        raise _without_merge(f"axis {axis}" if axis is not None else "all axes")
    if place is None:
        array, place = _manipulation.reshape(array, (array.size,)), 0
    loop = _loops("reduce").fold_loop(f, array.dtype, initial)
    count = array.shape[place]
    if count == 0:
        others = [size for own, size in enumerate(array.shape) if own != place]
        return core.made(Expression.full(others, plain(initial), loop.dtype.name), array)
    index: list[Any] = [slice(None)] * array.ndim
    parts = [array[(*index[:place], i, *index[place + 1 :])] for i in range(count)]
    return _called(loop, parts)


def folded(
    f: Callable[..., Any],
    merge: Callable[..., Any] | None,
    array: Array,
    initial: Any,
    axis: int | None,
    labels: tuple[Array, int] | None = None,
) -> Array:
    """A fold along an axis, of all elements where there is none, or of rows by labels of so many groups, whose
    partitions are merged."""
    if merge is None:
        raise _without_merge("the axis of labels")
    loops = _loops("groupby_reduce" if labels else "reduce")
    loop = loops.adder(f, array.dtype, initial, by_labels=labels is not None)
    merging = loops.merge_loop(merge, loop.dtype)
    names = None if labels is None else (labels[0]._expression, labels[1])
    operand = array._expression
    functions = loop.function, merging.function
    expression = element_fold(*functions, plain(initial), loop.dtype.name, operand, axis, names)
    return core.made(expression, array, *(labels or ()))


def check(f: Any, initial: Any, merge: Any) -> None:
    """Refuses what is no function, and no number."""
    _check(f)
    if merge is not None:
        _check(merge)
    if not core.is_number(initial) and not isinstance(initial, (np.number, np.bool_)):
        raise UsageError(f"expected initial as a number, found {initial!r}")
    if np.asarray(initial).dtype.name not in core.TYPES:
        kind = np.asarray(initial).dtype
        raise UsageError(f"expected initial as bool, an integer, float32 or float64, found {initial!r} of {kind}")


def _without_merge(where: str) -> UsageError:
    return UsageError(
        "expected another axis than the long one, along which all workers go at the same time, or merge=, a function "
        f"that makes one result of two: of some rows and of the rows behind; found {where} and no merge="
    )


def plain(initial: Any) -> Any:
    return initial.item() if isinstance(initial, np.generic) else initial


def _loops(function: str) -> Any:
    try:
        from outcore import _numba
    except ImportError as error:
        raise without_numba(function) from error
    return _numba


def _check(f: Any) -> None:
    if not callable(f):
        raise UsageError(f"expected a function of elements that Numba compiles, found {f!r}")


def _called(loop: Any, operands: list[Array]) -> Array:
    expressions = [operand._expression for operand in operands]
    return core.made(element_function(loop.function, expressions, loop.dtype.name), *operands)
