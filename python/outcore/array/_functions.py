"""Functions of the user's own, of elements and of folds, which Numba compiles."""

from collections.abc import Callable
from typing import Any

from outcore._errors import UsageError, without_numba
from outcore._outcore import element_function
from outcore.array import _array as core
from outcore.array._array import Array, Operand

# Numba compiles no call with more.
MOST_OPERANDS = 30


def apply(f: Callable[..., Any], *operands: Operand, dtype: Any = None) -> Array:
    """A function of the user's of the elements of operands, which are broadcast to each other.

    Numba compiles the function for the types of the operands when the array is made; when that is computed, it runs on
    all workers, over vectors of up to 508 elements, without the interpreter's lock. What it knows from outside, such as
    global numbers and arrays, is what they are when it is compiled.

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
    try:
        from outcore._numba import element_loop
    except ImportError as error:
        raise without_numba("apply") from error
    _check(f)
    if not 1 <= len(operands) <= MOST_OPERANDS:
        raise UsageError(f"expected from 1 to {MOST_OPERANDS} operands, found {len(operands)}")
    arrays = [core.as_array(operand) for operand in operands]
    result = _called(f, element_loop(f, *(array.dtype for array in arrays)), arrays)
    return result if dtype is None else result.astype(dtype)


def reduce(f: Callable[..., Any], X: Operand, axis: int, initial: float) -> Array:
    """A fold of elements along an axis by a function of the user's, from the first element to the last one.

    Args:
        f: A function of the result so far and the next element, which returns the next result; see `apply`.
        axis: Another axis than the long one of an array in a file.
        initial: The result of no elements, a number. Results have the type that `f` makes of it.

    Cost: as with `apply`; a step and 4 KiB of memory per worker for each element along the axis.

    Raises:
        UsageError: As with `apply`; the long axis; a function whose results have not the type of its first number.

    >>> def longest(length, x):
    ...     return length + 1 if x > 0 else 0
    >>> oc.array.reduce(longest, oc.array.asarray([[1, 0, 2, 3], [4, 5, 6, 7]]), 1, 0).compute()
    array([2, 4])
    """
    try:
        from outcore._numba import fold_loop
    except ImportError as error:
        raise without_numba("reduce") from error
    _check(f)
    array = core.as_array(X)
    if not core.is_number(initial):
        raise UsageError(f"expected initial as a number, found {initial!r}")
    place = core.own_axis(axis, array.ndim)
    if place == array.long_axis:
        raise UsageError(
            "expected another axis than the long one, along which all workers go at the same time, for a fold from "
            f"the first element to the last; found axis {axis}"
        )
    count = array.shape[place]
    if count == 0:
        raise UsageError(f"expected elements along axis {axis} to fold, found none")
    index: list[Any] = [slice(None)] * array.ndim
    parts = [array[(*index[:place], i, *index[place + 1 :])] for i in range(count)]
    return _called(f, fold_loop(f, array.dtype, count, initial), parts)


def _check(f: Any) -> None:
    if not callable(f):
        raise UsageError(f"expected a function of elements that Numba compiles, found {f!r}")


def _called(f: Callable[..., Any], loop: Any, operands: list[Array]) -> Array:
    from outcore._numba import function_name

    code = loop.compiled.address, loop.compiled
    expressions = [operand._expression for operand in operands]
    return core.made(element_function(function_name(f), code, loop.again, expressions, loop.dtype.name), *operands)
