"""Indices in brackets, and parts at given indices."""

import operator
from types import EllipsisType
from typing import Any

import numpy as np

from outcore._errors import UsageError
from outcore._inputs.tables import unmasked
from outcore.array import _array as core
from outcore.array import _elementwise, _manipulation
from outcore.array._array import Array, Index, Operand
from outcore.array._manipulation import Part

# Up to this number, parts of an array that is not in memory are cut out of it; more are picked from all of it.
MOST_CUT = 512


def item(x: Array, index: Index) -> Array:
    """The part of an array that an index in brackets names."""
    if isinstance(index, str):
        index = (slice(None), _named(x, [index])[0])
    elif isinstance(index, list) and index and all(isinstance(one, str) for one in index):
        index = (slice(None), _named(x, index))
    parts, picks = _parts(x, index)
    found = _picked(x, index, parts, picks)
    if found is not x:
        found._names = _names_left(x, parts, picks)
    return found


def _picked(x: Array, index: Index, parts: list[Part], picks: list[tuple[int, Any]]) -> Array:
    if x._values is not None and not picks:
        # A view of what is in memory anyway.
        return core.kept(x._values[index], x)
    array = _manipulation.sliced(x, parts)
    if not picks:
        return array
    if len(picks) == 1:
        # Where it is in the result: axes that whole numbers pick from are gone.
        (place, indices), gone = picks[0], sum(part is not None and part[1] is None for part in parts[: picks[0][0]])
        return take(array, indices, axis=place - gone)
    return _take_points(x, parts, picks)


def _names_left(x: Array, parts: list[Part], picks: list[tuple[int, Any]]) -> list[str] | None:
    """The names of columns that are left, where rows and columns stay what they are."""
    if x.names is None or len(parts) != 2 or len(picks) > 1:
        return None
    rows, columns = parts
    if rows is None or columns is None or rows[1] is None:
        return None
    start, step, count = columns
    if step is None:
        return None
    places: Any = [start + step * place for place in range(count)]
    for axis, indices in picks:
        if indices.ndim != 1 or axis == 1 and isinstance(indices, Array):
            return None
        places = indices if axis == 1 else places
    return [x.names[place] for place in places]


def _named(x: Array, wanted: list[str]) -> list[int]:
    """The columns of these names."""
    names = x.names
    if names is None:
        raise IndexError(
            f"expected whole numbers as indices, found {wanted[0]!r}; only arrays in images that were made with names "
            "have names of columns"
        )
    for name in wanted:
        if names.count(name) != 1:
            found = "there is no such column" if name not in names else "several columns have that name"
            raise IndexError(f"expected the name of a column, found {name!r}: {found}")
    return [names.index(name) for name in wanted]


def _parts(x: Array, index: Index) -> tuple[list[Part], list[tuple[int, Any]]]:
    """The parts of all axes, and arrays of indices with the places of their axes among these."""
    given = list(index) if isinstance(index, tuple) else [index]
    named = sum(one is not None and one is not Ellipsis for one in given)
    if sum(one is Ellipsis for one in given) > 1:
        raise IndexError("expected ... at most once in an index")
    if named > x.ndim:
        raise IndexError(f"expected at most {x.ndim} indices, found {named}")
    if not any(one is Ellipsis for one in given):
        given.append(Ellipsis)
    parts: list[Part] = []
    picks: list[tuple[int, Any]] = []
    axis = 0
    for one in given:
        if one is None:
            parts.append(None)
            continue
        if isinstance(one, EllipsisType):
            parts += [(0, 1, size) for size in x.shape[axis : axis + x.ndim - named]]
            axis += x.ndim - named
            continue
        size = x.shape[axis]
        if isinstance(one, slice):
            start, stop, step = one.indices(size)
            count = len(range(start, stop, step))
            parts.append((start if count else 0, step, count))
        elif _is_list(one):
            picks.append((len(parts), _indices(one)))
            parts.append((0, 1, size))
        else:
            parts.append((_single(one, size, axis), None, 0))
        axis += 1
    return parts, picks


def _is_list(one: Any) -> bool:
    if isinstance(one, (bool, np.bool_)) or getattr(getattr(one, "dtype", None), "kind", "") == "b":
        raise IndexError(
            "expected whole numbers as indices, found truth values: how many rows they pick is known after a pass; "
            "use where(), sums with a condition, or groupby_sum() with it as labels"
        )
    return isinstance(one, list) or isinstance(one, (Array, np.ndarray)) and one.ndim > 0


def _indices(one: Any) -> Array | np.ndarray:
    indices = one if isinstance(one, Array) else unmasked(one)
    if indices.dtype.kind == "b":
        _is_list(indices)
    if indices.dtype.kind not in "iu":
        if indices.size:
            raise IndexError(f"expected whole numbers as indices, found {indices.dtype}; astype makes them of others")
        indices = np.zeros(indices.shape, np.int64)
    return indices


def _single(one: Any, size: int, axis: int) -> int:
    try:
        place = operator.index(one)
    except TypeError:
        raise IndexError(f"expected whole numbers, slices, ... or None as indices, found {one!r}") from None
    if not -size <= place < size:
        raise IndexError(f"expected an index below {size} of axis {axis}, found {place}")
    return place % size


def _take_points(x: Array, parts: list[Part], picks: list[tuple[int, Any]]) -> Array:
    """Elements at several indices each: of the first axes, all of which have indices."""
    # Whole numbers are arrays of one.
    chosen = dict(picks)
    for place, part in enumerate(parts):
        if part is not None and part[1] is None:
            chosen[place] = np.asarray(part[0])
    picks = sorted(chosen.items())
    if [place for place, _ in picks] != list(range(len(picks))) or None in parts[: len(picks)]:
        raise IndexError(
            "expected several arrays of indices only for the first axes, next to each other; use take() for one axis "
            "after the other"
        )
    parts = [*_manipulation.whole(x)[: len(picks)], *parts[len(picks) :]]
    sizes = x.shape[: len(picks)]
    flat: Any = None
    for axis, (size, (_, indices)) in enumerate(zip(sizes, picks)):
        own = within(indices, size, axis)
        flat = own if flat is None else flat * size + own
    array = _manipulation.sliced(x, parts)
    rows = _manipulation.reshape(array, (int(np.prod(sizes, dtype=object)), *array.shape[len(picks) :]))
    return take(rows, flat, axis=0)


def within(indices: Any, size: int, axis: int) -> Any:
    """Indices from 0 on, of ones that may be counted from the end. Those in memory are checked at once, others when
    they are computed."""
    if isinstance(indices, Array):
        return core.made(indices._expression.indices(size, axis), indices)
    indices = unmasked(indices)
    if indices.size and not (-size <= int(indices.min()) and int(indices.max()) < size):
        wrong = int(indices.min()) if int(indices.max()) < size else int(indices.max())
        raise IndexError(f"expected an index below {size} of axis {axis}, found {wrong}")
    indices = indices.astype(np.int64)
    return np.where(indices < 0, indices + size, indices)


def take(x: Operand, indices: Operand, /, *, axis: int | None = None) -> Array:
    """The parts of an array at indices along an axis, which may be counted from the end.

    Args:
        indices: Whole numbers of any shape: an array of NumPy's, or one of ours, for example one in a file.
        axis: The axis; needed unless there is only one.

    Cost: the array is held in memory as a whole, unless the indices are in memory and there are few of them, or none
    along its long axis.

    Raises:
        IndexError: Indices beyond the axis; where they are lazy, when the array is computed.
        MemoryLimitError: Too little memory for the array.

    >>> oc.array.take(oc.array.asarray([5, 6, 7]), np.array([2, 0, -1])).compute()
    array([7, 5, 7])
    """
    array = core.as_array(x)
    if axis is None:
        if array.ndim != 1:
            raise UsageError(f"expected axis= for an array of {array.ndim} axes")
        axis = 0
    place = core.own_axis(axis, array.ndim)
    chosen = within(_indices(indices), array.shape[place], place)
    is_memory = array._expression.operation == "memory"
    if isinstance(chosen, np.ndarray) and not is_memory:
        is_few = chosen.size <= MOST_CUT or place != array.long_axis
        if chosen.ndim == 1 and is_few and len(_runs(chosen)) <= MOST_CUT:
            return cut(array, chosen, place)
    index = core.as_array(chosen)
    front = _manipulation.moveaxis(array, place, 0)
    rows = core.made(front._expression.gather(index._expression), array, index)
    # The indices' axes go where the axis was.
    return _manipulation.moveaxis(rows, list(range(index.ndim)), [place + own for own in range(index.ndim)])


def cut(x: Array, chosen: np.ndarray, axis: int) -> Array:
    """The parts at some indices from 0 on, cut out of the array run by run."""
    parts = _manipulation.whole(x)
    runs = _runs(chosen) or [(0, 1, 0)]
    pieces = [_manipulation.sliced(x, [*parts[:axis], run, *parts[axis + 1 :]]) for run in runs]
    return pieces[0] if len(pieces) == 1 else _manipulation.concat(pieces, axis=axis)


def _runs(chosen: np.ndarray) -> list[tuple[int, int, int]]:
    """Indices as starts, steps and counts."""
    runs: list[tuple[int, int, int]] = []
    for index in map(int, chosen):
        start, step, count = runs[-1] if runs else (0, 0, 0)
        if count == 1 and index != start:
            runs[-1] = (start, index - start, 2)
        elif count > 1 and index == start + step * count:
            runs[-1] = (start, step, count + 1)
        else:
            runs.append((index, 1, 1))
    return runs


def take_along_axis(x: Operand, indices: Operand, /, *, axis: int = -1) -> Array:
    """For every place the element at its own index along an axis. The other axes are broadcast.

    Cost: of every index all elements along the axis are looked at, so it is for short axes.

    Raises:
        IndexError: Indices beyond the axis; where they are lazy, when the array is computed.

    >>> x = oc.array.asarray([[5, 6], [7, 8]])
    >>> oc.array.take_along_axis(x, np.array([[1], [0]]), axis=1).compute()
    array([[6],
           [7]])
    """
    from outcore.array import _statistics

    array = core.as_array(x)
    given = _indices(indices)
    index = core.as_array(given)
    if array.ndim != index.ndim:
        raise UsageError(f"expected as many axes as indices have, found {array.ndim} and {index.ndim}")
    place = core.own_axis(axis, array.ndim)
    size = array.shape[place]
    array = _manipulation.expand_dims(_manipulation.moveaxis(array, place, -1), -2)
    chosen = within(given, size, place)
    at = _manipulation.expand_dims(_manipulation.moveaxis(core.as_array(chosen), place, -1), -1)
    is_own = at == core.of_numpy(np.arange(size))
    if not index.size:
        return core.made(core.of_numpy(np.empty(index.shape, array.dtype))._expression, array)
    found = _statistics.max(_elementwise.where(is_own, array, _least(array.dtype)), axis=-1)
    return _manipulation.moveaxis(found, -1, place)


def _least(dtype: np.dtype[Any]) -> Array:
    """The least value of a type."""
    if dtype.kind in "iu":
        return core.number(int(np.iinfo(dtype).min), dtype)
    return core.number(-np.inf if dtype.kind == "f" else False, dtype)
