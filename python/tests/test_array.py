"""Lazy arrays: every operation as NumPy has it, in any number of blocks, threads and passes."""

import operator
import pickle
import subprocess
import sys

import hypothesis
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import outcore as oc

xp = oc.array
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
FEW = settings(max_examples=15, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
SHAPES = [(), (0,), (1,), (7,), (3, 0), (0, 3), (1, 1), (5, 4), (2, 3, 4), (600, 3), (509, 2), (3, 1500), (4000,), (2, 700, 2)]


def computed(*arrays, **limits):
    """Results, which have the same bits for one and for two threads."""
    one, two = (xp.compute(*arrays, threads=threads, **limits) for threads in (1, 2))
    for left, right in zip(one, two):
        assert left.tobytes() == right.tobytes()
    return one if len(one) > 1 else one[0]


def check(array, expected, rtol=1e-6):
    """Shape, type and elements are those that were foretold, and NumPy's."""
    expected = np.asarray(expected)
    values = computed(array)
    assert array.shape == values.shape == expected.shape
    assert array.dtype == values.dtype == expected.dtype
    np.testing.assert_allclose(values, expected, rtol=rtol, atol=1e-9)


@st.composite
def numpy_arrays(draw, dtypes=TYPES, shape=None):
    """Arrays of all shapes and types, some of which lie backwards, in columns or with gaps."""
    shape = draw(st.sampled_from(SHAPES) if shape is None else st.just(shape))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if dtype.kind == "f":
        array = (rng.normal(size=shape) * 10.0 ** rng.integers(-2, 3, size=shape)).astype(dtype)
        special = draw(st.lists(st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0]), max_size=3))
        for value in special if array.size else []:
            array.flat[rng.integers(array.size)] = value
    elif dtype.kind == "b":
        array = rng.random(shape) < 0.5
    else:
        info = np.iinfo(dtype)
        array = rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)
        if draw(st.booleans()):
            array = (array % np.asarray(7, dtype)).astype(dtype)
    array = np.asarray(array)
    layout = draw(st.sampled_from(["rows", "columns", "backwards", "gaps"]))
    if layout == "columns":
        array = np.asfortranarray(array)
    elif layout == "backwards" and array.ndim:
        array = np.ascontiguousarray(array[::-1])[::-1]
    elif layout == "gaps" and array.ndim:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype)
        wide[..., ::2] = array
        array = wide[..., ::2]
    return array


def quiet(function):
    with np.errstate(all="ignore"):
        return function()


UNARY = {
    "abs": np.abs, "negative": np.negative, "positive": np.positive, "square": np.square, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "round": np.round, "sign": np.sign, "isnan": np.isnan, "isinf": np.isinf,
    "isfinite": np.isfinite, "sqrt": np.sqrt, "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p,
    "log2": np.log2, "log10": np.log10, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "reciprocal": np.reciprocal, "signbit": np.signbit,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@FEW
@given(x=numpy_arrays(TYPES[1:]))
def test_functions_of_one(name, x):
    of_reals = name not in ("abs", "negative", "positive", "square", "floor", "ceil", "trunc", "round", "sign")
    if x.dtype.kind != "f":
        if of_reals and not name.startswith("is"):
            x = x.astype(np.float64)
        elif name in ("floor", "ceil", "trunc", "round"):
            return
    expected = quiet(lambda: UNARY[name](x))
    check(getattr(xp, name)(xp.asarray(x)), expected, 2e-5 if x.dtype == np.float32 else 1e-9)


ARITHMETIC = ["add", "sub", "mul", "truediv", "eq", "ne", "lt", "le", "gt", "ge"]


@pytest.mark.parametrize("name", ARITHMETIC)
@FEW
@given(data=st.data())
def test_operators(name, data):
    x = data.draw(numpy_arrays(TYPES[1:]))
    shape = data.draw(hnp.broadcastable_shapes(x.shape, max_dims=x.ndim + 1, max_side=3) if x.size < 100 else st.just(x.shape))
    y = data.draw(numpy_arrays(TYPES[1:], shape=shape))
    function = getattr(operator, name)
    expected = quiet(lambda: function(x, y))
    if name == "truediv" and expected.dtype.itemsize < 8 and "f" not in (x.dtype.kind, y.dtype.kind):
        expected = quiet(lambda: function(x.astype(float), y.astype(float)))
    rtol = 1e-5 if expected.dtype == np.float32 else 1e-9
    if expected.dtype == np.float64 and np.uint64 in (x.dtype, y.dtype):
        rtol = 1e-7
    for left, right in [(xp.asarray(x), xp.asarray(y)), (x, xp.asarray(y)), (xp.asarray(x), y)]:
        assert isinstance(function(left, right), xp.Array)
    check(function(xp.asarray(x), xp.asarray(y)), expected, rtol)


@FEW
@given(x=numpy_arrays(TYPES[1:9]), data=st.data())
def test_whole_numbers(x, data):
    y = data.draw(numpy_arrays([x.dtype.name], shape=x.shape))
    X, Y = xp.asarray(x), xp.asarray(y)
    nonzero = np.where(y == 0, np.asarray(1, y.dtype), y)
    expected = quiet(lambda: [x // nonzero, x % nonzero, x & y, x | y, x ^ y, ~x])
    N = xp.asarray(nonzero)
    for array, values in zip([X // N, X % N, X & Y, X | Y, X ^ Y, ~X], expected):
        check(array, values)


@FEW
@given(x=numpy_arrays(["bool"]), y=numpy_arrays(["bool"], shape=()))
def test_truth_values(x, y):
    X, Y = xp.asarray(x), xp.asarray(y)
    for array, values in [(X & Y, x & y), (X | Y, x | y), (X ^ Y, x ^ y), (~X, ~x), (X + Y, x + y), (X * Y, x * y), (X < Y, x < y)]:
        check(array, values)
    check(xp.sum(X), np.sum(x))
    if x.size:
        check(X.max(), x.max())
        check(X.argmax(), np.argmax(x))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("value", [True, 2, 2.5])
def test_numbers_take_the_type_of_arrays(dtype, value):
    x = np.arange(3).astype(dtype)
    expected = x + value
    if isinstance(value, float) and x.dtype.kind != "f":
        expected = expected.astype(np.float64)
    for function in (operator.add, operator.mul):
        expected = function(x, value)
        wanted = np.float64 if isinstance(value, float) and x.dtype.kind != "f" else expected.dtype
        check(function(xp.asarray(x), value), expected.astype(wanted))
        check(function(value, xp.asarray(x)), expected.astype(wanted))
    check(xp.asarray(x) - np.float64(1), x.astype(float) - 1)
    check(2 - xp.asarray(np.arange(3)), 2 - np.arange(3))
    check(2 / xp.asarray(np.arange(1, 3)), 2 / np.arange(1, 3))
    check(2 ** xp.asarray(np.arange(3)), 2 ** np.arange(3))
    check(7 // xp.asarray(np.arange(1, 3)), 7 // np.arange(1, 3))
    check(7 % xp.asarray(np.arange(1, 3)), 7 % np.arange(1, 3))


def test_numbers_that_a_type_does_not_hold():
    x = xp.asarray(np.array([1, 200], np.uint8))
    with pytest.raises(OverflowError, match="uint8"):
        x + 300
    for function in (operator.lt, operator.eq, operator.ne, operator.ge):
        for value in (300, -1):
            check(function(x, value), function(np.array([1, 200], np.uint8), value))
    big, small = np.array([2**63, 5, 0], np.uint64), np.array([-1, 5, 2**62], np.int64)
    for function in (operator.lt, operator.eq, operator.ge):
        check(function(xp.asarray(big), xp.asarray(small)), function(big, small))
        check(function(xp.asarray(small), xp.asarray(big)), function(small, big))


FOLDS = ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std"]


@pytest.mark.parametrize("name", FOLDS)
@FEW
@given(x=numpy_arrays(TYPES), data=st.data())
def test_folds(name, x, data):
    if x.dtype.kind == "f" and name in ("prod", "mean", "var", "std", "sum"):
        x = np.nan_to_num(x, nan=1, posinf=1, neginf=1)
    if name == "prod" and x.dtype.kind == "f":
        x = np.sign(x) * (1 + np.abs(x) / 1e6)
        x = x.astype(np.float64)
    if name in ("mean", "var", "std") and x.dtype.itemsize == 8:
        x = x.astype(np.float64) / 1e15
    axes = st.none() if x.ndim == 0 else st.none() | st.integers(-x.ndim, x.ndim - 1) | st.just(tuple(range(x.ndim - 1)))
    axis, keepdims = data.draw(axes), data.draw(st.booleans())
    counted = x.size if axis is None else np.prod([x.shape[one] for one in np.atleast_1d(axis).astype(int)])
    if counted == 0 and name in ("min", "max", "mean", "var", "std"):
        return
    expected = quiet(lambda: getattr(np, name)(x, axis=axis, keepdims=keepdims))
    if name in ("mean", "var", "std") and x.dtype == np.float32:
        expected = getattr(np, name)(x.astype(np.float64), axis=axis, keepdims=keepdims).astype(np.float32)
    if name in ("sum", "prod") and x.dtype.kind == "f":
        expected = np.asarray(getattr(np, name)(x.astype(np.float64), axis=axis, keepdims=keepdims)).astype(x.dtype)
    check(getattr(xp, name)(xp.asarray(x), axis=axis, keepdims=keepdims), expected, 2e-3 if x.dtype == np.float32 else 1e-7)


@FEW
@given(x=numpy_arrays(TYPES), data=st.data())
def test_places_and_running_sums(x, data):
    if x.ndim == 0 or x.size == 0:
        return
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    X = xp.asarray(x)
    check(X.argmin(axis=axis), np.argmin(x, axis=axis))
    check(X.argmax(), np.argmax(x))
    check(X.argmin(), np.argmin(x))
    check(xp.count_nonzero(X, axis=axis), np.count_nonzero(x, axis=axis))
    if x.dtype.kind == "f":
        x = np.nan_to_num(x, nan=1, posinf=1, neginf=1).astype(np.float64)
        X = xp.asarray(x)
    sums = np.cumsum(x, axis=axis)
    check(xp.cumulative_sum(X, axis=axis), sums, 1e-7)
    first = np.zeros_like(np.take(sums, [0], axis=axis))
    check(xp.cumulative_sum(X, axis=axis, include_initial=True), np.concatenate([first, sums], axis=axis), 1e-7)
    if x.dtype.kind != "b":
        check(xp.diff(X, axis=axis), np.diff(x, axis=axis))


def slices(size):
    ends = st.none() | st.integers(-size - 2, size + 2)
    return st.builds(slice, ends, ends, st.none() | st.sampled_from([-700, -3, -2, -1, 1, 2, 3, 500]))


@settings(FEW, max_examples=80)
@given(x=numpy_arrays(["int32", "float64", "bool"]), is_lazy=st.booleans(), data=st.data())
def test_indices(x, is_lazy, data):
    index = []
    for size in x.shape[: data.draw(st.integers(0, x.ndim))]:
        index.append(data.draw(slices(size) | st.integers(-size, size - 1) if size else slices(size)))
    if data.draw(st.booleans()):
        index.insert(data.draw(st.integers(0, len(index))), None)
    if data.draw(st.booleans()):
        index.append(...)
    X = xp.asarray(x)
    if is_lazy:
        # What is not in memory is sliced otherwise.
        X = X & True if x.dtype.kind == "b" else X + 0
    check(X[tuple(index)], x[tuple(index)])


@FEW
@given(x=numpy_arrays(["int64", "float32"]), is_lazy=st.booleans(), data=st.data())
def test_taking(x, is_lazy, data):
    if x.ndim == 0 or x.size == 0:
        return
    X = xp.asarray(x) * 1 if is_lazy else xp.asarray(x)
    axis = data.draw(st.integers(0, x.ndim - 1))
    size = x.shape[axis]
    indices = np.array(data.draw(st.lists(st.integers(-size, size - 1), max_size=8)), np.int64)
    check(xp.take(X, indices, axis=axis), np.take(x, indices, axis=axis))
    check(xp.take(X, xp.asarray(indices), axis=axis), np.take(x, indices, axis=axis))
    check(X[indices % len(x)], x[indices % len(x)])
    if x.ndim > 1:
        check(X[:, indices % x.shape[1]], x[:, indices % x.shape[1]])
        check(X[0, indices % x.shape[1]], x[0, indices % x.shape[1]])
        pair = indices % x.shape[0], indices % x.shape[1]
        check(X[pair], x[pair])
        check(X[-1, pair[1]] if x.ndim == 2 else X[pair[0], pair[1], 0], x[-1, pair[1]] if x.ndim == 2 else x[pair[0], pair[1], 0])
    square = (indices[: len(indices) // 2 * 2] % len(x)).reshape(2, -1)
    check(X[square], x[square])
    if size < 10:
        order = np.argsort(x, axis=axis)
        check(xp.take_along_axis(X, order, axis=axis), np.take_along_axis(x, order, axis=axis))


@FEW
@given(x=numpy_arrays(["int16", "float64"]), data=st.data())
def test_shapes(x, data):
    X = xp.asarray(x)
    check(X.T, x.T)
    check(X.reshape(-1) if x.size else X, x.reshape(-1) if x.size else x)
    check(xp.flip(X), np.flip(x))
    if x.ndim == 0:
        return
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    by = data.draw(st.integers(-9, 9))
    check(xp.roll(X, by), np.roll(x, by))
    check(xp.roll(X, by, axis=axis), np.roll(x, by, axis=axis))
    check(xp.expand_dims(X, axis=axis), np.expand_dims(x, axis))
    check(xp.concat([X, X, X[:0]] if axis in (0, -x.ndim) else [X, X], axis=axis), np.concatenate([x, x], axis=axis))
    check(xp.stack([X, X + 1], axis=axis), np.stack([x, x + x.dtype.type(1)], axis=axis))
    check(xp.moveaxis(X, axis, 0), np.moveaxis(x, axis, 0))
    check(xp.repeat(X, 3, axis=axis), np.repeat(x, 3, axis=axis))
    check(xp.tile(X, (2,) * x.ndim), np.tile(x, (2,) * x.ndim))
    counts = np.arange(x.shape[axis]) % 3
    check(xp.repeat(X, counts, axis=axis), np.repeat(x, counts, axis=axis))
    check(xp.broadcast_to(X, (2, *x.shape)), np.broadcast_to(x, (2, *x.shape)))
    for part, own in zip(xp.unstack(X, axis=axis)[:3], np.moveaxis(x, axis, 0)):
        check(part, own)
    if x.ndim > 1:
        for k in (-1, 0, 2):
            check(xp.tril(X, k=k), np.tril(x, k))
            check(xp.triu(X, k=k), np.triu(x, k))


@pytest.mark.parametrize("shapes", [
    ((3, 4), (4, 5)), ((600, 3), (3, 2)), ((3, 600), (600, 4)), ((4,), (4,)), ((4,), (4, 2)), ((2, 4), (4,)), ((700,), (700,)),
    ((5, 2, 3), (3, 2)), ((2, 3), (5, 3, 2)), ((0, 3), (3, 2)), ((3, 0), (0, 2)),
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8"])
def test_products(shapes, dtype):
    rng = np.random.default_rng(3)
    x, y = ((rng.normal(size=shape) * 3).astype(dtype) if dtype[0] == "f" else rng.integers(0, 9, shape).astype(dtype) for shape in shapes)
    check(xp.asarray(x) @ xp.asarray(y), x @ y, 1e-4)
    check(xp.asarray(x) @ y, x @ y, 1e-4)
    check(x @ xp.asarray(y), x @ y, 1e-4)
    if x.ndim == y.ndim == 2:
        check(xp.tensordot(xp.asarray(x), xp.asarray(y), axes=1), np.tensordot(x, y, 1), 1e-4)
    if x.shape == y.shape:
        check(xp.vecdot(xp.asarray(x), xp.asarray(y)), np.dot(x, y), 1e-4)


def test_other_products():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(700, 3)), rng.normal(size=(3, 4))
    X = xp.asarray(x)
    check(xp.inner_product(X, y, "maximum", "min"), np.maximum(x[:, :, None], y[None]).min(axis=1))
    check(xp.inner_product(X, y, xp.subtract, "max"), (x[:, :, None] - y[None]).max(axis=1))
    check(xp.cov(X), np.cov(x, rowvar=False))
    check(xp.corrcoef(X), np.corrcoef(x, rowvar=False))
    check(xp.outer(X[:3, 0], X[:2, 1]), np.outer(x[:3, 0], x[:2, 1]))
    z = rng.normal(size=(4, 3, 5))
    check(xp.tensordot(xp.asarray(z), X[:5], axes=([1, 2], [1, 0])), np.tensordot(z, x[:5], ([1, 2], [1, 0])))
    with pytest.raises(oc.UsageError, match="fold"):
        xp.inner_product(X, y, "add", "median")
    with pytest.raises(oc.UsageError, match="pair"):
        xp.inner_product(X, y, "gcd")


@FEW
@given(n=st.sampled_from([1, 5, 1200]), p=st.integers(1, 3), k=st.integers(1, 9), seed=st.integers(0, 99))
def test_groups(n, p, k, seed):
    rng = np.random.default_rng(seed)
    x, labels = rng.normal(size=(n, p)), rng.integers(0, k, n)
    masks = [labels == group for group in range(k)]
    check(xp.groupby_sum(x, labels, k), np.array([x[mask].sum(axis=0) for mask in masks]))
    check(xp.groupby_count(labels, k), np.array([mask.sum() for mask in masks]))
    check(xp.groupby_max(x, labels, k), np.array([x[mask].max(axis=0, initial=-np.inf) for mask in masks]))
    check(xp.groupby_min(x, xp.asarray(labels), k), np.array([x[mask].min(axis=0, initial=np.inf) for mask in masks]))
    means = np.array([x[mask].mean(axis=0) if mask.any() else np.full(p, np.nan) for mask in masks])
    check(xp.groupby_mean(xp.asarray(x), labels, k), means)
    check(xp.bincount(labels, k, weights=x[:, 0]), np.array([x[mask, 0].sum() for mask in masks]))


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_label_out_of_range_is_named(threads):
    labels = np.arange(300_000) % 3
    labels[[100_000, 130_000, 250_000]] = 7, 8, -1
    for _ in range(5):
        for made in (xp.groupby_sum(labels / 2, labels, 3), xp.groupby_count(labels, 3), xp.bincount(labels, 3)):
            with pytest.raises(oc.UsageError, match="the number of groups, which is 3, found 7 in row 100000"):
                made.compute(threads=threads)
    with pytest.raises(ValueError, match="found -1 in row 1"):
        xp.bincount([0, -1], 3).compute()
    with pytest.raises(oc.UsageError, match="found 18446744073709551615 in row 2"):
        xp.groupby_max(np.ones((3, 2)), np.array([0, 1, 2**64 - 1], np.uint64), 3).compute()
    with pytest.raises(oc.UsageError, match="of float64; astype"):
        xp.groupby_mean(np.ones(3), np.ones(3), 3)


@FEW
@given(n=st.sampled_from([0, 1, 9, 3000]), bins=st.integers(1, 12), seed=st.integers(0, 99))
def test_histograms(n, bins, seed):
    x = np.random.default_rng(seed).integers(0, 13, n) / 4
    x[::7] = np.nan
    counts, edges = xp.histogram(x, bins, (0.5, 2.5))
    expected, wanted = np.histogram(x, bins, (0.5, 2.5))
    assert (edges == wanted).all()
    check(counts, expected)
    both, _ = xp.histogram(np.stack([x, 2 - x], axis=1), wanted)
    check(both, np.stack([np.histogram(column, wanted)[0] for column in (x, 2 - x)], axis=1))


@FEW
@given(n=st.sampled_from([0, 1, 2, 7, 8, 600]), side=st.sampled_from(["left", "right"]), seed=st.integers(0, 99))
def test_sorted_places(n, side, seed):
    rng = np.random.default_rng(seed)
    table, values = np.sort(rng.integers(0, 50, n) / 2), rng.integers(-5, 60, 1100) / 2
    if n > 2:
        table[-1] = values[3] = np.nan
    check(xp.searchsorted(xp.asarray(table), xp.asarray(values), side=side), np.searchsorted(table, values, side))
    check(xp.isin(xp.asarray(values), table), np.isin(values, table))
    check(xp.isin(values, xp.asarray(table), invert=True), np.isin(values, table, invert=True))


@FEW
@given(n=st.sampled_from([1, 2, 1000, 40_000]), error=st.sampled_from([0.5, 0.01]), seed=st.integers(0, 99))
def test_quantiles(n, error, seed):
    x = np.random.default_rng(seed).integers(0, 99, (n, 2)) / 8
    q = np.array([0, 0.1, 0.5, 1])
    found, wrong = xp.quantile(x, q, error=error, return_error=True)
    assert (found.shape, found.dtype, wrong.shape) == ((4, 2), np.float64, ())
    found, wrong = xp.compute(found, wrong)
    assert 0 <= wrong <= error * n and (n > 2 or wrong == 0)
    ranks = q * (n - 1)
    ordered = np.sort(x, axis=0)
    low, high = (np.clip(ends, 0, n - 1).astype(int) for ends in (np.floor(ranks) - wrong, np.ceil(ranks) + wrong))
    assert (ordered[low] <= found).all() and (found <= ordered[high]).all()
    if wrong == 0:
        np.testing.assert_allclose(found, np.quantile(x, q, axis=0))
    check(xp.quantile(x[:, 0].astype("float32"), 1.0), x[:, 0].max())


def test_quantiles_that_cannot_be():
    x = xp.ones((5, 2))
    for options in [dict(q=1.5), dict(q=np.nan), dict(q=[[0.5]]), dict(q=0.5, axis=1), dict(q=0.5, error=0)]:
        with pytest.raises(oc.UsageError):
            xp.quantile(x, **options)
    with pytest.raises(oc.UsageError, match="rows|observations"):
        xp.quantile(xp.ones((0, 2)), 0.5)
    with pytest.raises(oc.UsageError, match="finite numbers"):
        xp.quantile(np.array([1.0, np.nan]), 0.5).compute()
    for function in (np.median, lambda x: np.quantile(x, 0.5), lambda x: np.percentile(x, 50)):
        with pytest.raises(TypeError, match="outcore.array.quantile"):
            function(x)


def test_description():
    x = np.random.default_rng(1).normal(size=(1000, 3))
    x[::5] = 0
    found = xp.describe(x)
    assert found.rows == 1000
    expected = [x.min(0), x.max(0), x.mean(0), x.std(0, ddof=1), abs(x).sum(0), np.sqrt((x**2).sum(0)), (x != 0).sum(0)]
    for values, wanted in zip(found[1:], expected):
        np.testing.assert_allclose(values, wanted)
    assert found.missing.tolist() == [0, 0, 0] and found.names is None


def test_making():
    check(xp.arange(10), np.arange(10))
    check(xp.arange(5, -5, -3), np.arange(5, -5, -3))
    check(xp.arange(0.5, 3, 0.3), np.arange(0.5, 3, 0.3))
    check(xp.arange(5, 0, -1, dtype="uint8"), np.arange(5, 0, -1).astype("uint8"))
    check(xp.arange(3, 1), np.arange(3, 1))
    check(xp.arange(2000, dtype="float32"), np.arange(2000, dtype="float32"))
    for count in (0, 1, 2, 5, 1300):
        for endpoint in (True, False):
            check(xp.linspace(-1, 3, count, endpoint=endpoint), np.linspace(-1, 3, count, endpoint=endpoint))
    check(xp.eye(3, 5, k=1, dtype="int8"), np.eye(3, 5, 1, dtype="int8"))
    check(xp.eye(600, 3), np.eye(600, 3))
    check(xp.full((2, 3), 7), np.full((2, 3), 7))
    check(xp.full(3, xp.asarray(2.5)), np.full(3, 2.5))
    check(xp.zeros_like(xp.ones((2, 2), dtype="int8")), np.zeros((2, 2), "int8"))
    check(xp.asarray([[1, 2], [3, 4]], dtype="float32"), np.array([[1, 2], [3, 4]], "float32"))
    check(xp.asarray([xp.asarray(1.0), 2.0]), np.array([1.0, 2.0]))
    check(xp.asarray(np.arange(3, dtype=">i4")), np.arange(3, dtype="i4"))
    for ours, theirs in zip(xp.meshgrid(xp.arange(3), xp.arange(4)), np.meshgrid(np.arange(3), np.arange(4))):
        check(ours, theirs)
    check(xp.from_dlpack(np.arange(3.0)), np.arange(3.0))
    packed = np.frombuffer(b"\0" + np.arange(3.0).tobytes(), np.uint8)[1:].view(np.float64)
    check(xp.asarray(packed), np.arange(3.0))


def test_random_arrays():
    x = xp.random.normal((3000, 2), seed=5)
    values = computed(x)
    assert (computed(x + 0) == values).all() and (computed(xp.random.normal((3000, 2), seed=6)) != values).any()
    assert abs(values.mean()) < 0.1 and abs(values.std() - 1) < 0.05
    assert set(computed(xp.random.integers(-1, 2, 1000, seed=1)).tolist()) == {-1, 0, 1}
    check(x[5:7], values[5:7])
    with pytest.raises(oc.UsageError, match="probability"):
        xp.random.bernoulli(2, 3, seed=1)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1,), (2000,), (700, 3), (5, 600)])
def test_files(scratch, dtype, shape):
    rng = np.random.default_rng(7)
    x = (rng.normal(size=shape) * 50).astype(np.int64).astype(dtype)
    image = xp.persist("x.oc", x)
    np.save("x.npy", x)
    np.save("f.npy", np.asfortranarray(x))
    np.savez("x.npz", x=x, other=x[:1])
    mapped = np.load("x.npy", mmap_mode="r")
    arrays = [image, xp.open("x.oc"), xp.open("x.npy"), xp.open("f.npy"), xp.asarray(mapped), xp.asarray(mapped[1:] if len(x) > 1 else mapped)]
    arrays.append(xp.load_npz("x.npz")["x"])
    for place, array in enumerate(arrays):
        own = x[1:] if place == 5 and len(x) > 1 else x
        check(array, own)
        check(array[-1], own[-1])
        check(array[::-1], own[::-1])
        if dtype != "bool":
            check(array.sum(axis=0), own.sum(axis=0), 1e-4)
            check((array + array).max(), (own + own).max())
        if len(shape) == 2:
            check(array[:, [2, 0]], own[:, [2, 0]])
            check(array.T, own.T)
    if shape[0] > 1:
        assert [xp.open(path).long_axis for path in ("x.oc", "x.npy", "f.npy")] == [0, 0, 0]
        assert xp.asarray(mapped).long_axis == 0 and ".npy" in repr(xp.asarray(mapped))


def test_one_pass_for_several_results(scratch):
    x = np.random.default_rng(1).normal(size=(5000, 4))
    X = xp.persist("x.oc", x, names=["a", "b", "c", "d"])
    (total, most, products), stats = xp.compute(X.sum(axis=0), X.max(), X.T @ X, return_stats=True)
    np.testing.assert_allclose(total, x.sum(axis=0))
    np.testing.assert_allclose(products, x.T @ x)
    assert most == x.max() and stats["passes"] == pytest.approx(1)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    values, stats = xp.compute(z.sum(axis=1), persist={"z.oc": z}, return_stats=True)
    assert [step["pages_wanted"] for step in stats["steps"]] == [40, 40]
    check(xp.open("z.oc"), (x - x.mean(axis=0)) / x.std(axis=0))
    assert computed(X[2500]).tolist() == x[2500].tolist()


def test_small_results_are_computed_once(scratch):
    X = xp.persist("x.oc", np.arange(4000.0))
    total = X.sum()
    assert float(total) == float(total)
    _, stats = xp.compute(total * 2, return_stats=True)
    assert stats["bytes_read"] == 0
    (values,) = xp.compute(total)
    values[()] = 0
    assert float(total) == np.arange(4000.0).sum(), "what is kept is not what users are given"


def test_images_are_not_replaced(scratch):
    xp.persist("x.oc", np.arange(3))
    with pytest.raises(oc.ImageExistsError):
        xp.persist("x.oc", np.arange(4))
    assert xp.persist("x.oc", np.arange(4), replace=True).shape == (4,)
    with pytest.raises(oc.UsageError, match="vector or a matrix"):
        xp.persist("y.oc", np.zeros((2, 2, 2)))
    assert xp.arange(5).persist("z.oc").compute().tolist() == list(range(5))


def test_files_that_cannot_be(scratch):
    with pytest.raises(FileNotFoundError):
        xp.open("none.npy")
    with pytest.raises(FileNotFoundError):
        xp.open("none.oc")
    np.savez_compressed("c.npz", x=np.arange(3))
    with pytest.raises(oc.InputError, match="numpy.savez"):
        xp.load_npz("c.npz")
    with pytest.raises(oc.InputError, match="load_npz"):
        xp.open("c.npz")
    (scratch / "text").write_text("no array")
    with pytest.raises(oc.OutcoreError):
        xp.open("text")
    with pytest.raises(oc.InputError, match="npz"):
        xp.load_npz("text")
    np.save("c.npy", np.zeros(3, complex))
    with pytest.raises(oc.InputError):
        xp.open("c.npy")


def test_what_needs_all_rows_of_a_file_is_refused(scratch):
    X = xp.persist("x.oc", np.zeros((40000, 3)))
    for make in (lambda: X[:30000] + X[:30000, :1].T, lambda: xp.cumulative_sum(X, axis=0), lambda: X.reshape(-1), lambda: X @ X.T):
        with pytest.raises(oc.UsageError, match="long|shapes"):
            make()
    with pytest.raises(TypeError, match="small array"):
        iter(X)
    with pytest.raises(oc.MemoryLimitError):
        xp.compute(xp.zeros((1 << 20, 16)) + 1, memory="20MiB")


def test_steps_through_files_behind_each_other(scratch):
    x = np.arange(9000.0).reshape(3000, 3)
    np.save("x.npy", x)
    parts = [xp.persist("a.oc", x[:1300]), xp.open("x.npy"), xp.asarray(x[:1]), xp.open("x.npy"), xp.asarray(x[:50])]
    joined, plain = xp.concat(parts), np.concatenate([x[:1300], x, x[:1], x, x[:50]])
    for part in [np.s_[::3], np.s_[::-1], np.s_[4301:1200:-7], np.s_[1299::2999], np.s_[4400:10:-1], np.s_[5:4302:4296]]:
        check(joined[part], plain[part])
        check((joined * 2)[part].sum(axis=0), (plain * 2)[part].sum(axis=0))


def test_small_parts_of_files_go_along_any_axis(scratch):
    x = np.random.default_rng(3).normal(size=(40000, 3))
    np.save("x.npy", x)
    np.save("small.npy", x[:700])
    for X, small in [(xp.persist("x.oc", x), xp.persist("small.oc", x[:700])), (xp.open("x.npy"), xp.open("small.npy"))]:
        distances = ((X[:, None, :] - X[None, 7:9]) ** 2).sum(axis=2)
        labels = distances.argmin(axis=1)
        expected = ((x[:, None] - x[None, 7:9]) ** 2).sum(axis=2)
        check(distances, expected)
        check(xp.groupby_count(labels, 2), np.bincount(expected.argmin(axis=1), minlength=2))
        check(X @ X[:5].T, x @ x[:5].T)
        check(X.sum(axis=1)[:9, None] - X[None, :9, 0], x.sum(axis=1)[:9, None] - x[None, :9, 0])
        check(small.reshape(-1), x[:700].reshape(-1))
        check(xp.cumulative_sum(small, axis=0), np.cumsum(x[:700], axis=0))
        check(small @ small.T, x[:700] @ x[:700].T)
        check(small.T + small[:3, :1], x[:700].T + x[:3, :1])
        check(X[:700] * small, x[:700] * x[:700])
        check(xp.take(small, np.arange(699, -1, -1), axis=0), x[:700][::-1])
        check(X[[5, 39999, 0]], x[[5, 39999, 0]])


def test_limits(scratch):
    x = np.random.default_rng(1).normal(size=(20000, 8))
    np.save("x.npy", x)
    X = xp.open("x.npy", memory="24MiB", threads=1)
    (total,), stats = xp.compute(X.sum(axis=0), return_stats=True)
    assert stats["memory_limit_bytes"] == 24 << 20 and stats["threads"] == 1
    (again,), stats = xp.compute((X + 1).sum(axis=0), return_stats=True, threads=2, backend="posix")
    assert stats["memory_limit_bytes"] == 24 << 20 and stats["threads"] == 2 and stats["backend"] == "posix"
    (other,), stats = xp.compute(X.sum(axis=0), return_stats=True, memory="30MiB")
    assert stats["memory_limit_bytes"] == 30 << 20
    np.testing.assert_allclose(total, x.sum(axis=0))
    assert (other == total).all()
    with pytest.raises(oc.UsageError, match="runtime="):
        xp.open("x.npy", runtime=oc.Runtime(memory="30MiB"), memory="20MiB")
    with pytest.raises(TypeError, match="thread"):
        xp.compute(X, thread=2)
    with pytest.raises(oc.UsageError, match="threads="):
        xp.compute(X, threads=-2)


def test_single_values():
    x = xp.asarray(np.array([3, 4]))
    assert int(x[0]) == 3 and float(x[1]) == 4.0 and bool(x[0] == 3) and complex(x[0]) == 3 + 0j
    assert list(range(5))[x[0]] == 3 and x.sum().item() == 7 and x.tolist() == [3, 4] and 4 in x and 9 not in x
    for function in (bool, int, float, complex):
        with pytest.raises(TypeError, match="without axes"):
            function(x)
    with pytest.raises(TypeError, match="whole numbers"):
        operator.index(x[0] / 1)
    assert len(x) == 2 and [int(one) for one in x] == [3, 4]
    with pytest.raises(TypeError):
        len(x[0])
    assert hash(xp) and pytest.raises(TypeError, hash, x)
    assert x.to_device("cpu") is x and x.device == "cpu"
    with pytest.raises(oc.UsageError):
        x.to_device("gpu")


@pytest.mark.parametrize("index, message", [
    (5, "below 3"), (-4, "below 3"), ((0, 0, 0), "at most 2"), ((..., ...), "at most once"), (0.5, "whole numbers"),
    (np.array([True, False, True]), "truth values"), (True, "truth values"), ([0, 9], "below 3"), ("a", "whole numbers"),
])  # fmt: skip
def test_indices_that_cannot_be(index, message):
    with pytest.raises(IndexError, match=message):
        xp.ones((3, 2))[index]
    with pytest.raises(IndexError, match=message):
        xp.asarray(np.ones((3, 2)))[index]


@pytest.mark.parametrize("wrong", [3, -4, 2**62])
def test_lazy_indices_that_cannot_be(wrong):
    x = xp.asarray(np.arange(15.0).reshape(5, 3))
    indices = np.array([0, 2, wrong])
    index = xp.asarray(indices) + 0
    for made in (
        xp.take(x, index, axis=1), x[:, index], x.T[index].T, xp.take_along_axis(x, xp.expand_dims(index, 0), axis=1),
        x[index * 0, index], xp.take(xp.asarray(np.arange(3)), index),
    ):  # fmt: skip
        with pytest.raises(IndexError, match=f"expected an index below 3 of axis [01], found {wrong}"):
            made.compute()
    with pytest.raises(IndexError, match=f"below 3 of axis 1, found {wrong}"):
        xp.take_along_axis(x, indices[None], axis=1)
    with pytest.raises(IndexError, match="below 3 of axis 0, found 18446744073709551615"):
        xp.take(xp.asarray(np.arange(3)), xp.asarray(np.array([2**64 - 1], np.uint64))).compute()


def test_negative_powers_of_integers_are_refused():
    x = xp.asarray(np.arange(1, 4))
    for make in (lambda: x**-1, lambda: xp.pow(2, xp.asarray(np.array([1, -3]))).compute(), lambda: np.power(x, -2)):
        with pytest.raises(ValueError, match="integers to negative integer powers are not allowed"):
            make()
    exponents = xp.asarray(np.array([0, 1, -2], np.int8))
    with pytest.raises(oc.UsageError, match="exponent from 0 on, found -2"):
        (x**exponents).compute()
    check(x.astype("float64") ** exponents, np.arange(1.0, 4) ** np.array([0, 1, -2]))
    check(x**-1.0, np.arange(1, 4) ** -1.0)
    check(x ** xp.asarray(np.array([0, 1, 2], np.uint8)), np.array([1, 2, 9]))


def test_arrays_cannot_be_changed():
    x = y = xp.arange(3)
    with pytest.raises(TypeError):
        x[0] = 1
    x += 1
    assert y.tolist() == [0, 1, 2] and x.tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(x)
    with pytest.raises(TypeError):
        xp.Array()


def test_what_is_shown_is_not_computed(scratch):
    X = xp.persist("x.oc", np.zeros((5000, 3)))
    (scratch / "x.oc").rename("gone")
    assert repr(X + 1) == "<outcore.array.Array: add, shape (5000, 3), float64, long axis 0>"
    assert "x.oc" in repr(X)


def test_elements_that_cannot_be():
    for wrong in (np.zeros(2, complex), np.zeros(2, np.float16), np.array(["a"]), np.array([None])):
        with pytest.raises(TypeError, match="expected elements"):
            xp.asarray(wrong)
    for make in (lambda: xp.ones(2) & 1, lambda: ~xp.ones(2), lambda: xp.ones(2) + "a", lambda: xp.ones(2) + [1, 2]):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(oc.UsageError):
        xp.asarray([1, 2], copy=False)
    with pytest.raises(oc.UsageError, match="broadcast"):
        xp.ones(2) + xp.ones(3)


NUMPY = [
    lambda x: np.sqrt(np.abs(x)), lambda x: np.add(x, 1), lambda x: np.add(1.5, x), lambda x: np.maximum(x, x[0]),
    lambda x: np.sum(x, axis=0), lambda x: np.mean(x), lambda x: np.var(x, axis=1, ddof=1), lambda x: np.std(x),
    lambda x: np.min(x, axis=0), lambda x: np.max(x), lambda x: np.argmax(x, axis=1), lambda x: np.any(x > 2),
    lambda x: np.all(x > -9, axis=0), lambda x: np.dot(x.T, x), lambda x: np.matmul(x.T, x), lambda x: np.where(x > 0, x, 0),
    lambda x: np.concatenate([x, x]), lambda x: np.stack([x, x]), lambda x: np.vstack([x, x]), lambda x: np.hstack([x, x]),
    lambda x: np.linalg.norm(x), lambda x: np.linalg.norm(x, axis=1), lambda x: np.linalg.norm(x, 1, axis=0),
    lambda x: np.linalg.norm(x, np.inf), lambda x: np.cov(x, rowvar=False), lambda x: np.corrcoef(x, rowvar=False),
    lambda x: np.cumsum(x, axis=1), lambda x: np.diff(x, axis=0), lambda x: np.clip(x, -1, 1), lambda x: np.round(x, 2),
    lambda x: np.transpose(x), lambda x: np.reshape(x, (-1, 1)), lambda x: np.add.reduce(x), lambda x: np.maximum.reduce(x, axis=1),
    lambda x: np.multiply.outer(x[:2, 0], x[:3, 1]), lambda x: np.add.accumulate(x, axis=1), lambda x: np.exp2(x),
    lambda x: np.float_power(x, 2), lambda x: np.divmod(x, 2)[1], lambda x: np.fmax(x, 0), lambda x: np.arctan2(x, 2),
    lambda x: np.tril(x), lambda x: np.roll(x, 3, axis=0), lambda x: np.flip(x), lambda x: np.take(x, [0, 2], axis=0),
    lambda x: np.squeeze(x[None]), lambda x: np.repeat(x, 2, axis=1), lambda x: np.tile(x, 2), lambda x: np.outer(x[:3, 0], x[:2, 1]),
    lambda x: np.histogram(x[:, 0], 5, (-1, 1))[0], lambda x: np.ptp(x, axis=0), lambda x: np.ones_like(x),
    lambda x: np.isfinite(x), lambda x: np.column_stack([x[:, 0], x]), lambda x: np.count_nonzero(x, axis=0),
    lambda x: np.average(x, axis=0), lambda x: np.trace(x[:3]), lambda x: np.swapaxes(x, 0, 1), lambda x: np.square(x).sum(axis=0),
    lambda x: np.linalg.norm(x, 3, axis=1), lambda x: np.prod(x, axis=1), lambda x: np.deg2rad(x), lambda x: np.tensordot(x, x, 2),
    lambda x: np.average(x, axis=0, weights=np.arange(600)), lambda x: np.average(x, axis=1, weights=[1, 0, 2.5], keepdims=True),
    lambda x: np.average(x, weights=x**2), lambda x: np.average(x, axis=-1, weights=x * x),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(NUMPY)))
def test_functions_of_numpy(place):
    x = np.random.default_rng(2).normal(size=(600, 3))
    found = NUMPY[place](xp.asarray(x))
    assert isinstance(found, xp.Array)
    check(found, NUMPY[place](x))


def test_what_numpy_asks_for():
    x = np.arange(6.0).reshape(2, 3)
    X = xp.asarray(x)
    assert (np.asarray(X) == x).all() and np.asarray(X, dtype=np.float32).dtype == np.float32
    assert (np.from_dlpack(X) == x).all() and X.__dlpack_device__() == (1, 0)
    assert np.shape(X) == (2, 3) and np.ndim(X) == 2
    with pytest.raises(ValueError):
        np.asarray(X, copy=False)
    for make in (lambda: np.sort(X), lambda: np.add(x, X, out=x), lambda: np.add.reduceat(X, [0]), lambda: np.gcd(X, X), lambda: np.linalg.svd(X)):
        with pytest.raises(TypeError):
            make()
    assert isinstance(x + X, xp.Array) and isinstance(np.float64(2) * X, xp.Array)


def test_importing_outcore_imports_no_arrays():
    code = "import sys, outcore; assert 'outcore.array' not in sys.modules; outcore.array.ones(2); assert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_squares_of_differences_under_another_shape():
    x = np.random.default_rng(0).normal(size=(1300, 15))
    reshaped = (xp.asarray(x) @ np.eye(15) - np.arange(15.0)).reshape((1300, 3, 5))
    expected = (x - np.arange(15.0)).reshape(1300, 3, 5)
    for axis in (1, 2):
        check(xp.square(reshaped).sum(axis=axis), np.square(expected).sum(axis=axis))
        check(xp.abs(reshaped).sum(axis=axis), np.abs(expected).sum(axis=axis))


def test_names_that_no_manifest_holds_leave_the_image(tmp_path):
    path = tmp_path / "kept.oc"
    oc.array.persist(path, np.ones((10, 2)), names=["a", "b"])
    with pytest.raises(oc.UsageError, match="names of columns that take at most 1 MiB together"):
        oc.array.persist(path, np.zeros((10, 2)), names=["x" * 1_100_000, "b"], replace=True)
    assert oc.array.open(path).names == ["a", "b"] and float(oc.array.open(path).sum()) == 20
    with pytest.raises(oc.UsageError, match="at most 16 axes, found 17"):
        oc.array.asarray(np.ones((1,) * 17))


def test_names_of_columns_stay_with_parts(scratch):
    x = np.arange(40.0).reshape(10, 4)
    X = xp.persist("x.oc", x, names=["a", "b", "c", "d"])
    parts = {
        "abcd": [X[2:5], X[...], X[:], X[::-1], X[[3, 1]]],
        "bcd": [X[:, 1:4], X[3:, 1:]],
        "db": [X[:, ::-2], X[:, [3, 1]], X[["d", "b"]], X[:, [-1, 1]], X[1:][["d", "b"]]],
        "d": [X[["d"]], X[:, 3:]],
    }
    for names, arrays in parts.items():
        for place, array in enumerate(arrays):
            assert array.names == list(names), (names, place)
            again = xp.persist("again.oc", array, replace=True)
            assert again.names == xp.open("again.oc").names == list(names)
            for name in names:
                assert (again[name].compute() == array[name].compute()).all()
    for other in (X["a"], X[0], X[:, 0], X[None], X[..., None], X + 1, X.T, X[:, xp.asarray([1])]):
        assert other.names is None
    assert X.names == list("abcd") and xp.persist("y.oc", X, names=list("wxyz")).names == list("wxyz")
    xp.compute(persist={"z.oc": X[:, 1:3]})
    assert xp.open("z.oc").names == ["b", "c"]
