"""NumPy's functions, when they are given lazy arrays: they make lazy arrays too."""

from collections.abc import Callable, Iterable
from inspect import Parameter, signature
from typing import Any

import numpy as np

from outcore._errors import UsageError
from outcore.array import _array as core
from outcore.array import (
    _creation,
    _elementwise,
    _groups,
    _indexing,
    _manipulation,
    _nan_statistics,
    _products,
    _searching,
    _statistics,
)
from outcore.array._array import Array

# NumPy's names where they are not those of the array API.
_NAMES = {
    "absolute": "abs", "fabs": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "invert": "bitwise_invert",
    "bitwise_not": "bitwise_invert", "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
    "power": "pow", "float_power": "pow",
    "true_divide": "divide", "rint": "round", "mod": "remainder", "conjugate": "real", "conj": "real",
}  # fmt: skip
_REDUCTIONS = {
    "add": _statistics.sum, "multiply": _statistics.prod, "maximum": _statistics.max, "minimum": _statistics.min,
    "logical_and": _statistics.all, "logical_or": _statistics.any,
}  # fmt: skip
_FROM_FLOAT = {"fabs", "float_power"}


def ufunc(function: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A universal function of NumPy's; `NotImplemented` if there is none of ours."""
    name = function.__name__
    if not all(core.is_operand(one) for one in inputs):
        inputs = tuple(np.asarray(one) if isinstance(one, (list, tuple)) else one for one in inputs)
        if not all(core.is_operand(one) for one in inputs):
            return NotImplemented
    if method == "reduce":
        return _reduced(name, inputs[0], options)
    if method == "accumulate" and name in ("add", "multiply") and set(options) <= {"axis", "dtype"}:
        total = _statistics.cumulative_sum if name == "add" else _statistics.cumulative_prod
        return total(inputs[0], axis=options.get("axis", 0), dtype=options.get("dtype"))
    if method == "outer" and not options:
        left, right = map(core.as_array, inputs)
        left = _manipulation.reshape(left, left.shape + (1,) * right.ndim)
        return ufunc(function, "__call__", (left, right), {})
    dtype = options.pop("dtype", None)
    if method != "__call__" or (call := _call(name)) is None:
        return NotImplemented
    if options:
        raise _without(name, options)
    if name in _FROM_FLOAT:
        inputs = tuple(one if core.is_number(one) else _floats(one) for one in inputs)
    if dtype is not None:
        inputs = tuple(one if core.is_number(one) else _creation.astype(one, dtype) for one in inputs)
    return call(*inputs)


def _floats(one: Any) -> Array:
    array = core.as_array(one)
    return array if array.dtype.kind == "f" else _creation.astype(array, "float64")


def _call(name: str) -> Callable[..., Any] | None:
    special: dict[str, Callable[..., Any]] = {
        "matmul": _products.matmul,
        "vecdot": _products.vecdot,
        "divmod": lambda x, y: (_elementwise.floor_divide(x, y), _elementwise.remainder(x, y)),
        "exp2": lambda x: _elementwise.pow(2.0, _floats(x)),
        "deg2rad": lambda x: _elementwise.multiply(_floats(x), np.pi / 180),
        "rad2deg": lambda x: _elementwise.multiply(_floats(x), 180 / np.pi),
        "fmax": lambda x, y: _without_nan("maximum", x, y),
        "fmin": lambda x, y: _without_nan("minimum", x, y),
    }
    special |= {"radians": special["deg2rad"], "degrees": special["rad2deg"]}
    found = special.get(name) or getattr(_elementwise, _NAMES.get(name, name), None)
    is_ours = getattr(found, "__module__", "") in ("outcore.array", _elementwise.__name__, __name__, _products.__name__)
    return found if callable(found) and is_ours else None


def _without_nan(name: str, x: Any, y: Any) -> Array:
    left, right = core.together(x, y)
    both = _elementwise.binary(name, left, right)
    if both.dtype.kind != "f":
        return both
    left, right = (
        _elementwise.where(_elementwise.isnan(one), other, one) for one, other in ((left, right), (right, left))
    )
    return _elementwise.binary(name, left, right)


def _reduced(name: str, x: Any, options: dict[str, Any]) -> Any:
    taken = {"axis": options.get("axis", 0), "keepdims": options.get("keepdims", False)}
    dtype = options.get("dtype")
    if name not in _REDUCTIONS:
        return NotImplemented
    if others := set(options) - {"axis", "keepdims", "dtype"}:
        raise _without(f"{name}.reduce", others)
    if dtype is not None:
        if name not in ("add", "multiply"):
            return NotImplemented
        taken["dtype"] = dtype
    return _REDUCTIONS[name](x, **taken)


def function(of: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Another function of NumPy's; `NotImplemented`, of which NumPy makes an error, if there is none of ours."""
    own = _FUNCTIONS.get(of)
    if own is None:
        return NotImplemented
    # Options at the defaults of NumPy are dropped: our functions may not have them.
    given = {
        name: value for name, value in options.items() if value is not np._NoValue and not _is_default(name, value)
    }
    taken = signature(own).parameters
    if any(one.kind == Parameter.VAR_KEYWORD for one in taken.values()) or given.keys() <= taken.keys():
        return own(*arguments, **given)
    raise _without(of.__name__, given.keys() - taken.keys())


def _is_default(name: str, value: Any) -> bool:
    if name not in ("out", "where", "initial", "order", "casting", "subok"):
        return False
    # An array is not compared.
    return value is None or value is True or isinstance(value, str) and value in ("C", "K", "same_kind")


def _without(name: str, options: Iterable[str]) -> TypeError:
    """The error for options of NumPy's that ours do not have."""
    advice = "; choose elements with outcore.array.where" if "where" in options else ""
    return TypeError(f"expected numpy.{name} of lazy arrays without {min(options)}={advice}")


def _fold(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False) -> Array:
        options = {} if dtype is None else {"dtype": dtype}
        _no_out(out)
        return own(a, axis=axis, keepdims=keepdims, **options)

    return call


def _choice(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Array:
        _no_out(out)
        return own(a, axis=axis, keepdims=keepdims)

    return call


def _mean(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False) -> Array:
        _no_out(out)
        return own(a if dtype is None else _creation.astype(a, dtype), axis=axis, keepdims=keepdims)

    return call


def _spread(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
        correction: float | None = None,
    ) -> Array:
        _no_out(out)
        array = a if dtype is None else _creation.astype(a, dtype)
        return own(array, axis=axis, correction=ddof if correction is None else correction, keepdims=keepdims)

    return call


def _running(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Array:
        _no_out(out)
        array = core.as_array(a)
        return own(array.flatten() if axis is None else array, axis=axis or 0, dtype=dtype)

    return call


def _no_out(out: Any) -> None:
    if out is not None:
        raise TypeError("expected no out=: results of lazy arrays are new ones")


def _variables(m: Any, rowvar: bool) -> Array:
    array = core.as_array(m)
    # NumPy multiplies in float64, which `outcore.array.cov` does not for float32.
    array = core.made(array._expression.cast("float64"), array)
    if array.ndim == 1:
        return array[:, None]
    return _manipulation.transpose(array) if rowvar else array


def _cov(m: Any, y: None = None, rowvar: bool = True, bias: bool = False, ddof: float | None = None) -> Array:
    if y is not None:
        raise TypeError("expected no y=: join the variables with concat")
    X = _variables(m, rowvar)
    found = _products.cov(X, correction=(0.0 if bias else 1.0) if ddof is None else ddof)
    return found.reshape(()) if core.as_array(m).ndim == 1 else found


def _corrcoef(x: Any, y: None = None, rowvar: bool = True) -> Array:
    if y is not None:
        raise TypeError("expected no y=: join the variables with concat")
    found = _products.corrcoef(_variables(x, rowvar))
    return found.reshape(()) if core.as_array(x).ndim == 1 else found


def _histogram(a: Any, bins: Any = 10, range: Any = None) -> Any:
    array = core.as_array(a)
    counts, edges = _groups.histogram(array, bins, range)
    return (_statistics.sum(counts, axis=1) if array.ndim == 2 else counts), edges


def _inexact(of: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        text = f"expected another function than {of.__name__}, whose results are exact: they need all elements in order"
        raise TypeError(f"{text}; outcore.array.quantile(X, q) gives quantiles by a sketch, whose error it states")

    return call


def _where(condition: Any, x: Any = None, y: Any = None) -> Array:
    if x is None or y is None:
        raise TypeError("expected x and y: how many places a condition is true at is known only after a pass")
    return _elementwise.where(condition, x, y)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: None = None, min: Any = None, max: Any = None) -> Array:
    _no_out(out)
    return _elementwise.clip(a, min if a_min is None else a_min, max if a_max is None else a_max)


def _isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Array:
    x, y = core.together(a, b)
    is_near = _elementwise.less_equal(abs(_floats(x) - y), abs(_floats(y)) * rtol + atol)
    is_close = (is_near & _elementwise.isfinite(y)) | _elementwise.equal(x, y)
    return is_close | (_elementwise.isnan(x) & _elementwise.isnan(y)) if equal_nan else is_close


def _allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Array:
    return _statistics.all(_isclose(a, b, rtol, atol, equal_nan))


def _nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    array = core.as_array(x)
    if array.dtype.kind != "f":
        return array
    limits = np.finfo(array.dtype)
    instead = {np.inf: limits.max if posinf is None else posinf, -np.inf: limits.min if neginf is None else neginf}
    numbers = _elementwise.where(_elementwise.isnan(array), float(nan), array)
    for infinity, number in instead.items():
        numbers = _elementwise.where(_elementwise.equal(array, infinity), float(number), numbers)
    return numbers


def _average(a: Any, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Array:
    if weights is None:
        return _statistics.mean(a, axis=axis, keepdims=keepdims)
    array, shares = core.together(a, weights) if np.ndim(weights) == np.ndim(a) else (core.as_array(a), weights)
    if np.ndim(shares) != array.ndim:
        if not isinstance(axis, int) or np.shape(shares) != (array.shape[axis],):
            expected = "weights of the array's shape, or a vector of them and the axis that they are for"
            raise UsageError(f"expected {expected}, found shape {np.shape(shares)}")
        others = [1] * array.ndim
        others[axis] = array.shape[axis]
        shares = core.as_array(shares).reshape(others)
    sums = _statistics.sum(array * shares, axis=axis, keepdims=keepdims)
    return sums / _statistics.sum(_manipulation.broadcast_to(shares, array.shape), axis=axis, keepdims=keepdims)


def _round(a: Any, decimals: int = 0, out: None = None) -> Array:
    _no_out(out)
    return _elementwise.rounded(a, decimals)


def _take(a: Any, indices: Any, axis: Any = None, out: None = None) -> Array:
    _no_out(out)
    return core.as_array(a).take(indices, axis)


def _joined(arrays: Any, places: tuple[int, int]) -> Array:
    """Arrays side by side as NumPy's `hstack` and the like have it: vectors along the first place."""
    given = [core.as_array(one) for one in arrays]
    return _manipulation.concat(given, axis=places[0] if given[0].ndim == 1 else places[1])


def _rows(tup: Any) -> Array:
    given = [core.as_array(one) for one in tup]
    return _manipulation.concat([one[None, :] if one.ndim == 1 else one for one in given], axis=0)


def _columns(tup: Any) -> Array:
    given = [core.as_array(one) for one in tup]
    return _manipulation.concat([one[:, None] if one.ndim == 1 else one for one in given], axis=1)


def _like(value: int) -> Callable[..., Array]:
    def call(a: Any, dtype: Any = None, shape: Any = None, device: Any = None) -> Array:
        array = core.as_array(a)
        return _creation.full(array.shape if shape is None else shape, value, dtype=dtype or array.dtype, device=device)

    return call


def _full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, device: Any = None) -> Array:
    array = core.as_array(a)
    return _creation.full(array.shape if shape is None else shape, fill_value, dtype=dtype or array.dtype)


def _trace(a: Any) -> Array:
    array = core.as_array(a)
    mask = _creation.eye(array.shape[-2], array.shape[-1], dtype="bool")
    return _statistics.sum(_elementwise.where(mask, array, core.number(0, array.dtype)), axis=(-2, -1))


_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sum: _fold(_statistics.sum),
    np.prod: _fold(_statistics.prod),
    np.any: _choice(_statistics.any),
    np.all: _choice(_statistics.all),
    np.min: _choice(_statistics.min),
    np.max: _choice(_statistics.max),
    np.amin: _choice(_statistics.min),
    np.amax: _choice(_statistics.max),
    np.ptp: _choice(lambda a, **options: _statistics.max(a, **options) - _statistics.min(a, **options)),
    np.mean: _mean(_statistics.mean),
    np.median: _inexact(np.median),
    np.quantile: _inexact(np.quantile),
    np.percentile: _inexact(np.percentile),
    np.nanmedian: _inexact(np.nanmedian),
    np.nanquantile: _inexact(np.nanquantile),
    np.nanpercentile: _inexact(np.nanpercentile),
    np.average: _average,
    np.isclose: _isclose,
    np.allclose: _allclose,
    np.nan_to_num: _nan_to_num,
    np.var: _spread(_statistics.var),
    np.std: _spread(_statistics.std),
    np.nansum: _fold(_nan_statistics.nansum),
    np.nanmin: _choice(_nan_statistics.nanmin),
    np.nanmax: _choice(_nan_statistics.nanmax),
    np.nanmean: _mean(_nan_statistics.nanmean),
    np.nanvar: _spread(_nan_statistics.nanvar),
    np.nanstd: _spread(_nan_statistics.nanstd),
    np.argmin: _choice(_searching.argmin),
    np.argmax: _choice(_searching.argmax),
    np.count_nonzero: lambda a, axis=None, keepdims=False: _statistics.count_nonzero(a, axis=axis, keepdims=keepdims),
    np.cumsum: _running(_statistics.cumulative_sum),
    np.cumprod: _running(_statistics.cumulative_prod),
    np.diff: lambda a, n=1, axis=-1: _statistics.diff(a, n=n, axis=axis),
    np.searchsorted: lambda a, v, side="left", sorter=None: _searching.searchsorted(a, v, side=side, sorter=sorter),
    np.isin: lambda element, test_elements, invert=False: _searching.isin(element, test_elements, invert=invert),
    np.dot: lambda a, b, out=None: _products.dot(a, b),
    np.tensordot: lambda a, b, axes=2: _products.tensordot(a, b, axes=axes),
    np.vdot: lambda a, b: _products.dot(core.as_array(a).flatten(), core.as_array(b).flatten()),
    np.outer: lambda a, b, out=None: _products.outer(a, b),
    np.inner: lambda a, b: _products.tensordot(a, b, axes=([-1], [-1])),
    np.cov: _cov,
    np.corrcoef: _corrcoef,
    np.histogram: _histogram,
    np.linalg.norm: _statistics.norm,
    np.trace: _trace,
    np.where: _where,
    np.clip: _clip,
    np.round: _round,
    np.take: _take,
    np.take_along_axis: lambda arr, indices, axis=-1: _indexing.take_along_axis(arr, indices, axis=axis),
    np.real: _elementwise.real,
    np.imag: _elementwise.imag,
    np.concatenate: lambda arrays, axis=0, out=None: _manipulation.concat(arrays, axis=axis),
    np.stack: lambda arrays, axis=0, out=None: _manipulation.stack(arrays, axis=axis),
    np.hstack: lambda tup: _joined(tup, (0, 1)),
    np.vstack: _rows,
    np.column_stack: _columns,
    np.reshape: lambda a, shape, copy=None: _manipulation.reshape(a, shape),
    np.ravel: lambda a: core.as_array(a).flatten(),
    np.transpose: lambda a, axes=None: _manipulation.transpose(a, axes),
    np.moveaxis: _manipulation.moveaxis,
    np.swapaxes: _manipulation.swapaxes,
    np.expand_dims: lambda a, axis: _manipulation.expand_dims(a, axis),
    np.squeeze: lambda a, axis=None: core.as_array(a).squeeze(axis),
    np.flip: lambda m, axis=None: _manipulation.flip(m, axis=axis),
    np.roll: lambda a, shift, axis=None: _manipulation.roll(a, shift, axis=axis),
    np.broadcast_to: lambda array, shape: _manipulation.broadcast_to(array, shape),
    np.broadcast_arrays: _manipulation.broadcast_arrays,
    np.repeat: lambda a, repeats, axis=None: _manipulation.repeat(a, repeats, axis=axis),
    np.tile: lambda A, reps: _manipulation.tile(A, reps),
    np.tril: lambda m, k=0: _creation.tril(m, k=k),
    np.triu: lambda m, k=0: _creation.triu(m, k=k),
    np.zeros_like: _like(0),
    np.ones_like: _like(1),
    np.empty_like: _like(0),
    np.full_like: _full_like,
    np.meshgrid: lambda *xi, indexing="xy": _creation.meshgrid(*xi, indexing=indexing),
    np.shape: lambda a: core.as_array(a).shape,
    np.ndim: lambda a: core.as_array(a).ndim,
    np.size: lambda a, axis=None: core.as_array(a).size if axis is None else core.as_array(a).shape[axis],
    np.result_type: lambda *given: np.result_type(*(one.dtype if isinstance(one, Array) else one for one in given)),
}
# There since NumPy 2.
_FUNCTIONS |= {
    vars(np)[name]: own
    for name, own in {
        "cumulative_sum": _statistics.cumulative_sum,
        "cumulative_prod": _statistics.cumulative_prod,
        "matrix_transpose": _manipulation.matrix_transpose,
        "unstack": _manipulation.unstack,
    }.items()
    if name in vars(np)
}
