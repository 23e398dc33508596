"""Making arrays: of NumPy's arrays and of nothing but a shape."""

import math
from typing import Any, SupportsIndex

import numpy as np

from outcore._errors import UsageError
from outcore._inputs.tables import refuse_masked
from outcore._linalg.dense_operands import part_of_file
from outcore._options import limits
from outcore._outcore import Expression
from outcore.array import _array as core
from outcore.array import _elementwise, _manipulation
from outcore.array._array import Array, Number, Operand

Shape = SupportsIndex | tuple[int, ...] | list[int]


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """A lazy array of what NumPy makes an array of.

    NumPy's arrays are looked at where they lie: they are not to be changed before the results are computed. A memory
    map (`numpy.memmap`) of one or two axes, in which rows or columns are adjacent, is read from its file in pieces,
    whatever its size. Lists, numbers and objects with `__dlpack__` become arrays of NumPy's first.

    Args:
        dtype: The type of the elements; by default that which they have.
        device: "cpu".
        copy: Whether NumPy's elements are copied; by default only where they lie in a way that cannot be read, or
            become of another type.

    Raises:
        TypeError: Elements that are no truth values, integers, float32 or float64.
        UsageError: `copy=False` for what has to be copied.

    >>> oc.array.asarray([1, 2, 3])
    <outcore.array.Array: memory, shape (3,), int64>
    """
    core.check_device(device)
    name = None if dtype is None else core.type_name(dtype)
    if isinstance(obj, Array):
        return obj if name is None else astype(obj, name)
    refuse_masked(obj)
    if copy is not True and isinstance(obj, np.ndarray) and (mapped := _of_file(obj)) is not None:
        return mapped if name is None else astype(mapped, name)
    if isinstance(obj, (list, tuple)):
        obj = _without_arrays(obj)
    if not hasattr(obj, "__array__") and hasattr(obj, "__dlpack__"):
        obj = np.from_dlpack(obj)
    given = np.asarray(obj, dtype=name if isinstance(obj, (bool, int, float, list, tuple)) else None)
    if given.size == 0 and given.dtype == np.float64 and name is not None:
        given = given.astype(name)
    if copy is False and not isinstance(obj, (np.ndarray, np.generic, memoryview)):
        raise UsageError(f"expected copy=None or True for a {type(obj).__name__}, which is copied")
    if copy is False and name not in (None, given.dtype.name):
        raise UsageError(f"expected copy=None or True to make {name} of {given.dtype}")
    array = core.of_numpy(given.copy() if copy else given)
    return array if name is None else astype(array, name)


def _without_arrays(given: Any) -> Any:
    """Nested lists in which arrays of ours are computed."""
    if isinstance(given, (list, tuple)):
        return [_without_arrays(one) for one in given]
    refuse_masked(given)
    return given.compute() if isinstance(given, Array) else given


def _of_file(given: np.ndarray) -> Array | None:
    """A memory map, as a part of its file; nothing if it is none, or lies there in a way that the engine does not
    read."""
    if given.ndim not in (1, 2) or given.dtype.name not in core.TYPES or (part := part_of_file(given)) is None:
        return None
    path, offset, shape, strides, name = part
    options = limits(None, None, None, "auto", None, False)
    ndim = given.ndim
    return core.made(Expression.of_part(path, offset, list(shape[:ndim]), list(strides[:ndim]), name, options))


def astype(x: Operand, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """The elements as another type. Real numbers that a type of whole numbers does not hold become its least or
    greatest one, and NaN becomes 0.

    >>> oc.array.astype(oc.array.asarray([1.9, -1.9]), "int32").compute()
    array([ 1, -1], dtype=int32)
    """
    core.check_device(device)
    array = core.as_array(x)
    return core.made(array._expression.cast(core.type_name(dtype)), array)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An array of any library's that is in the memory of the processor."""
    core.check_device(device)
    given = np.from_dlpack(x)
    return core.of_numpy(given.copy() if copy else given)


def full(shape: Shape, fill_value: Number | Array, *, dtype: Any = None, device: Any = None) -> Array:
    """The same value everywhere. It takes no memory until it is computed."""
    core.check_device(device)
    if not isinstance(fill_value, (bool, int, float)) or isinstance(fill_value, np.generic):
        array = core.as_array(fill_value)
        if array.ndim:
            raise UsageError(f"expected a single value, found an array of shape {array.shape}")
        array = array if dtype is None else astype(array, dtype)
        return _manipulation.broadcast_to(array, tuple(core.sizes(shape)))
    name = core.type_name(np.result_type(type(fill_value)) if dtype is None else dtype)
    return core.made(Expression.full(core.sizes(shape), fill_value, name))


def zeros(shape: Shape, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros, by default of float64."""
    return full(shape, 0, dtype="float64" if dtype is None else dtype, device=device)


def ones(shape: Shape, *, dtype: Any = None, device: Any = None) -> Array:
    """Ones, by default of float64."""
    return full(shape, 1, dtype="float64" if dtype is None else dtype, device=device)


def empty(shape: Shape, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros, for arrays cannot be changed."""
    return zeros(shape, dtype=dtype, device=device)


def full_like(x: Operand, /, fill_value: Number | Array, *, dtype: Any = None, device: Any = None) -> Array:
    """The same value everywhere, in the shape of another array and of its type."""
    array = core.as_array(x)
    return full(array.shape, fill_value, dtype=array.dtype if dtype is None else dtype, device=device)


def zeros_like(x: Operand, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros in the shape of another array and of its type."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: Operand, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Ones in the shape of another array and of its type."""
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x: Operand, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros in the shape of another array and of its type, for arrays cannot be changed."""
    return full_like(x, 0, dtype=dtype, device=device)


def arange(
    start: int | float,
    /,
    stop: int | float | None = None,
    step: int | float = 1,
    *,
    dtype: Any = None,
    device: Any = None,
) -> Array:
    """Numbers from `start`, or from 0 if there is no `stop`, up to below it. They take no memory.

    >>> oc.array.arange(2, 12, 3).compute()
    array([ 2,  5,  8, 11])
    """
    core.check_device(device)
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise UsageError(f"expected a step other than 0, found {step}")
    is_real = any(isinstance(one, (float, np.floating)) for one in (start, stop, step))
    name = core.type_name(("float64" if is_real else "int64") if dtype is None else dtype)
    count = max(0, math.ceil((stop - start) / step) if is_real else int(-((start - stop) // step)))
    if name == "bool":
        raise TypeError("expected a type of numbers, found bool")
    if is_real and not name.startswith("float"):
        return astype(arange(start, stop, step), name)
    if count < 2 or name.startswith("float"):
        values = [float(start), float(step)] if name.startswith("float") else [start if count else 0, 0]
        return core.made(Expression.range(values[0], values[1], count, name))
    if name.startswith("uint") and step < 0:
        return astype(arange(start, stop, step), name)
    return core.made(Expression.range(start, step, count, name))


def linspace(
    start: int | float, stop: int | float, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Array:
    """`num` numbers at equal distances from `start` to `stop`, which is the last one if `endpoint` is true. They take
    no memory."""
    core.check_device(device)
    name = core.type_name("float64" if dtype is None else dtype)
    if num < 0:
        raise UsageError(f"expected how many numbers, from 0 on, found {num}")
    parts = num - 1 if endpoint else num
    places = core.made(Expression.range(0, 1, num, "int64"))
    if parts <= 0:
        return astype(full((num,), float(start)), name)
    width = float(stop) - float(start)
    step = width / parts
    # Where the distance is too small to be a number, whole parts of the width are not.
    offsets = places * step if step else places / parts * width
    values = offsets + float(start)
    if endpoint:
        values = _elementwise.where(places == num - 1, float(stop), values)
    if not name.startswith("float"):
        values = _elementwise.floor(values)
    return astype(values, name)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Array:
    """Ones on a diagonal, zeros elsewhere. They take no memory."""
    core.check_device(device)
    name = core.type_name("float64" if dtype is None else dtype)
    rows, columns = core.sizes((n_rows, n_rows if n_cols is None else n_cols))
    # A diagonal beyond the matrix is as far away as one beside it.
    diagonal = max(-rows, min(int(k), columns))
    return core.made(Expression.eye(rows, columns, diagonal, name))


def tril(x: Operand, /, *, k: int = 0) -> Array:
    """The elements on the `k`-th diagonal and below it, and zeros elsewhere."""
    return _triangle(x, k, is_lower=True)


def triu(x: Operand, /, *, k: int = 0) -> Array:
    """The elements on the `k`-th diagonal and above it, and zeros elsewhere."""
    return _triangle(x, k, is_lower=False)


def _triangle(x: Operand, k: int, is_lower: bool) -> Array:
    array = core.as_array(x)
    if array.ndim < 2:
        raise UsageError(f"expected a matrix, or a stack of them, found shape {array.shape}")
    rows, columns = (core.made(Expression.range(0, 1, size, "int64")) for size in array.shape[-2:])
    below = columns[None, :] - rows[:, None]
    return _elementwise.where(below <= k if is_lower else below >= k, array, core.number(0, array.dtype))


def meshgrid(*arrays: Operand, indexing: str = "xy") -> tuple[Array, ...]:
    """Coordinates of a grid: each array along an axis of its own, the same along the others."""
    if indexing not in ("xy", "ij"):
        raise UsageError(f"expected indexing 'xy' or 'ij', found {indexing!r}")
    given = [core.as_array(one) for one in arrays]
    if wrong := [one.shape for one in given if one.ndim != 1]:
        raise UsageError(f"expected arrays of one axis, found one of shape {wrong[0]}")
    order = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        order[:2] = [1, 0]
    shape = [0] * len(given)
    for one, axis in zip(given, order):
        shape[axis] = one.shape[0]
    grids = []
    for one, axis in zip(given, order):
        own = [1] * len(given)
        own[axis] = one.shape[0]
        grids.append(_manipulation.broadcast_to(_manipulation.reshape(one, tuple(own)), tuple(shape)))
    return tuple(grids)
