"""The same elements under other shapes, and arrays behind each other."""

from typing import Any

import numpy as np

from outcore._errors import UsageError
from outcore._inputs.tables import unmasked
from outcore._outcore import Expression
from outcore.array import _array as core
from outcore.array._array import Array, Axis, Operand

# Of an axis of an array: an index, a start with a step and a count; nothing for a new axis.
Part = tuple[int, int | None, int] | None


def sliced(x: Array, parts: list[Part]) -> Array:
    """Parts of all axes."""
    return core.made(x._expression.slice(parts), x)


def whole(x: Array) -> list[Part]:
    """The parts that are all of an array."""
    return [(0, 1, size) for size in x.shape]


def reshape(x: Operand, /, shape: Any, *, copy: bool | None = None) -> Array:
    """The same elements, row by row, under another shape; one size may be -1.

    Raises:
        UsageError: Another number of elements; for an array in a file, a shape without its first axis.

    >>> oc.array.reshape(oc.array.arange(6), (2, -1)).compute()
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    array = core.as_array(x)
    wanted = [core.whole_number("a size", size) for size in (shape if isinstance(shape, (tuple, list)) else (shape,))]
    if -1 in wanted:
        place = wanted.index(-1)
        others = core.sizes(wanted[:place] + wanted[place + 1 :])
        count = int(np.prod(others, dtype=object))
        if count == 0 or array.size % count:
            raise UsageError(f"expected a shape of {array.size} elements, found {tuple(wanted)}")
        wanted[place] = array.size // count
    if array._values is not None and array.size == np.prod(wanted, dtype=object) and array._values.flags.c_contiguous:
        return core.kept(array._values.reshape(core.sizes(wanted)), array)
    return core.made(array._expression.reshape(core.sizes(wanted)), array)


def permute_dims(x: Operand, /, axes: tuple[int, ...]) -> Array:
    """The array with its axes in another order. Nothing is moved."""
    array = core.as_array(x)
    order = [core.own_axis(axis, array.ndim) for axis in axes]
    return core.made(array._expression.permute(order), array)


def transpose(x: Operand, axes: Any = None) -> Array:
    """The array with its axes in another order, by default in the opposite one."""
    array = core.as_array(x)
    return permute_dims(array, tuple(reversed(range(array.ndim))) if axes is None else tuple(axes))


def matrix_transpose(x: Operand, /) -> Array:
    """The matrix, or each of a stack of them, transposed. Nothing is moved."""
    array = core.as_array(x)
    if array.ndim < 2:
        raise UsageError(f"expected a matrix, or a stack of them, found shape {array.shape}")
    return permute_dims(array, (*range(array.ndim - 2), array.ndim - 1, array.ndim - 2))


def moveaxis(x: Operand, source: Any, destination: Any, /) -> Array:
    """The array with some axes at other places, and the others in their order."""
    array = core.as_array(x)
    froms, tos = (
        [core.own_axis(axis, array.ndim) for axis in (axes if isinstance(axes, (tuple, list)) else (axes,))]
        for axes in (source, destination)
    )
    if len(froms) != len(tos) or len(set(froms)) < len(froms) or len(set(tos)) < len(tos):
        raise UsageError(f"expected as many different places as axes, found {source} and {destination}")
    order = [axis for axis in range(array.ndim) if axis not in froms]
    for to, axis in sorted(zip(tos, froms)):
        order.insert(to, axis)
    return permute_dims(array, tuple(order))


def swapaxes(x: Operand, axis1: int, axis2: int) -> Array:
    """The array with two axes in each other's place."""
    array = core.as_array(x)
    order = list(range(array.ndim))
    one, other = core.own_axis(axis1, array.ndim), core.own_axis(axis2, array.ndim)
    order[one], order[other] = other, one
    return permute_dims(array, tuple(order))


def expand_dims(x: Operand, /, axis: Any = 0) -> Array:
    """The array with new axes of size 1 at these places of the result."""
    array = core.as_array(x)
    axes = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    ndim = array.ndim + len(axes)
    places = {_new_axis(one, ndim) for one in axes}
    if len(places) < len(axes):
        raise UsageError(f"expected every axis once, found {axis}")
    own = iter(whole(array))
    return sliced(array, [None if place in places else next(own) for place in range(ndim)])


def _new_axis(axis: Any, ndim: int) -> int:
    place = core.whole_number("an axis", axis)
    if not -ndim <= place < ndim:
        raise IndexError(f"expected an axis of an array of {ndim} axes, found {place}")
    return place % ndim


def squeeze(x: Operand, /, axis: Axis) -> Array:
    """The array without some axes, which are of size 1."""
    array = core.as_array(x)
    places = {core.own_axis(one, array.ndim) for one in core.own_axes(axis, array.ndim) or []}
    if wrong := [place for place in sorted(places) if array.shape[place] != 1]:
        raise UsageError(f"expected size 1 of axis {wrong[0]}, found {array.shape[wrong[0]]}")
    parts: list[Part] = [(0, None, 0) if place in places else part for place, part in enumerate(whole(array))]
    return sliced(array, parts)


def flip(x: Operand, /, *, axis: Axis = None) -> Array:
    """The array backwards along some axes, by default along all."""
    array = core.as_array(x)
    axes = core.own_axes(axis, array.ndim)
    places = set(range(array.ndim)) if axes is None else {core.own_axis(one, array.ndim) for one in axes}
    parts = whole(array)
    for place in places:
        parts[place] = (max(array.shape[place] - 1, 0), -1, array.shape[place])
    return sliced(array, parts)


def roll(x: Operand, /, shift: Any, *, axis: Axis = None) -> Array:
    """Elements moved along an axis, those beyond its end to its beginning; without an axis, row by row.

    >>> oc.array.roll(oc.array.arange(4), 1).compute()
    array([3, 0, 1, 2])
    """
    array = core.as_array(x)
    axes = core.own_axes(axis, array.ndim)
    if axes is None:
        return reshape(roll(reshape(array, (array.size,)), shift, axis=0), array.shape)
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift]
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    elif len(axes) == 1:
        axes = axes * len(shifts)
    if len(shifts) != len(axes):
        raise UsageError(f"expected as many shifts as axes, found {shift} and {axis}")
    for one, by in zip(axes, shifts):
        place = core.own_axis(one, array.ndim)
        size = array.shape[place]
        by = core.whole_number("a shift", by) % size if size else 0
        if by:
            array = concat([_part(array, place, size - by, by), _part(array, place, 0, size - by)], axis=place)
    return array


def _part(x: Array, axis: int, start: int, count: int) -> Array:
    parts = whole(x)
    parts[axis] = (start, 1, count)
    return sliced(x, parts)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """Arrays behind each other along an axis; without one, all elements row by row.

    >>> oc.array.concat([oc.array.zeros(2), oc.array.ones(1)]).compute()
    array([0., 0., 1.])
    """
    given = [core.as_array(one) for one in arrays]
    if not given:
        raise UsageError("expected arrays to join, found none")
    if axis is None:
        given, axis = [reshape(one, (one.size,)) for one in given], 0
    place = core.own_axis(axis, given[0].ndim)
    return core.made(Expression.join([one._expression for one in given], place), *given)


def stack(arrays: Any, /, *, axis: int = 0) -> Array:
    """Arrays of one shape beside each other along a new axis."""
    given = [core.as_array(one) for one in arrays]
    if not given:
        raise UsageError("expected arrays to stack, found none")
    if any(one.shape != given[0].shape for one in given):
        raise UsageError(f"expected arrays of one shape, found {', '.join(str(one.shape) for one in given)}")
    place = core.own_axis(axis, given[0].ndim + 1)
    return concat([expand_dims(one, place) for one in given], axis=place)


def unstack(x: Operand, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The parts of an array along an axis, each without it."""
    array = core.as_array(x)
    place = core.own_axis(axis, array.ndim)
    parts = whole(array)
    return tuple(
        sliced(array, [*parts[:place], (index, None, 0), *parts[place + 1 :]]) for index in range(array.shape[place])
    )


def broadcast_to(x: Operand, /, shape: Any) -> Array:
    """The same elements, repeated along axes of size 1 and along new first axes. Nothing is copied."""
    array = core.as_array(x)
    return core.made(array._expression.broadcast_to(core.sizes(shape)), array)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes are broadcast to."""
    return np.broadcast_shapes(*shapes)


def broadcast_arrays(*arrays: Operand) -> tuple[Array, ...]:
    """Arrays, broadcast to each other."""
    given = [core.as_array(one) for one in arrays]
    shape = np.broadcast_shapes(*(one.shape for one in given))
    return tuple(broadcast_to(one, shape) for one in given)


def repeat(x: Operand, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Every part along an axis several times; without an axis, every element.

    Args:
        repeats: How often: a whole number, or one for every part, which are computed at once, for they make the shape.
    """
    from outcore.array._indexing import take

    array = core.as_array(x)
    if axis is None:
        array, axis = reshape(array, (array.size,)), 0
    place = core.own_axis(axis, array.ndim)
    counts = unmasked(repeats)
    if counts.dtype.kind not in "iu":
        raise TypeError(f"expected whole numbers of times, found {counts.dtype}")
    if counts.size and counts.min() < 0:
        raise UsageError(f"expected numbers of times from 0 on, found {counts.min()}")
    size = array.shape[place]
    if counts.size == 1 and place != array.long_axis:
        times = int(counts.reshape(()))
        shape = array.shape
        wide = broadcast_to(expand_dims(array, place + 1), (*shape[: place + 1], times, *shape[place + 1 :]))
        return reshape(wide, (*shape[:place], size * times, *shape[place + 1 :]))
    if counts.shape not in ((), (1,), (size,)):
        raise UsageError(f"expected one number of times, or {size}, found {counts.shape}")
    return take(array, np.repeat(np.arange(size), counts), axis=place)


def tile(x: Operand, repetitions: Any, /) -> Array:
    """The array several times behind itself along every axis."""
    array = core.as_array(x)
    times = core.sizes(repetitions)
    if len(times) > array.ndim:
        array = reshape(array, (1,) * (len(times) - array.ndim) + array.shape)
    times = [1] * (array.ndim - len(times)) + times
    for axis, count in enumerate(times):
        if count == 0:
            array = _part(array, axis, 0, 0)
        elif count > 1 and axis == array.long_axis:
            array = concat([array] * count, axis=axis)
        elif count > 1:
            shape = array.shape
            wide = broadcast_to(expand_dims(array, axis), (*shape[:axis], count, *shape[axis:]))
            array = reshape(wide, (*shape[:axis], count * shape[axis], *shape[axis + 1 :]))
    return array
