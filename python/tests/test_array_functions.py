"""Functions of the user's own over arrays, with NumPy as oracle."""

import math
import subprocess
import sys

import numba
import numpy as np
import pytest

import outcore as oc
import outcore.array as xp

ROWS = 3000
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(0, 3, (ROWS, 5))


def softsign(x):
    return x / (1 + abs(x))


def mixed(x, flag, k):
    return x * k if flag else -x


@pytest.mark.parametrize("shape", [(), (0,), (1,), (0, 3), (1, 4), (700,), (ROWS, 5), (40, 30, 2), (3, 2000)])
def test_functions_of_all_shapes(shape):
    x = np.random.default_rng(1).normal(size=shape)
    found = xp.apply(softsign, x).compute()
    assert found.shape == shape and found.dtype == np.float64
    np.testing.assert_array_equal(found, x / (1 + abs(x)))


def same(x):
    return x


def sum_of_all(b, i1, i2, i4, i8, u1, u2, u4, u8, f4, f8):
    return f8 + b + i1 + i2 + i4 + i8 + u1 + u2 + u4 + u8 + f4


def test_all_types_go_in_and_out():
    columns = [np.arange(-2, ROWS - 2).astype(dtype) for dtype in TYPES]
    total = xp.apply(sum_of_all, *columns)
    np.testing.assert_array_equal(total.compute(), sum(column.astype(float) for column in columns))
    for x in (columns[0], columns[1], columns[6], columns[9]):
        found = xp.apply(same, x)
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found.compute(), x)
    x = np.array([np.nan, np.inf, -3.5, 0.0, 300.5] * 200)
    for dtype in TYPES:
        found = xp.apply(same, x, dtype=dtype)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.compute(), xp.asarray(x).astype(dtype).compute())


def test_operands_are_broadcast_and_keep_their_types(table, tmp_path):
    flags, factors = np.arange(ROWS) % 3 == 0, np.arange(5, dtype=np.int16)
    expected = np.where(flags[:, None], table * factors, -table)
    np.save(tmp_path / "x.npy", table)
    image = xp.persist(tmp_path / "x.oc", table)
    for x in (xp.asarray(table), xp.open(tmp_path / "x.npy"), image):
        lazy = xp.apply(mixed, x, flags[:, None], factors)
        assert lazy.shape == (ROWS, 5) and "mixed" in repr(lazy)
        np.testing.assert_array_equal(lazy.compute(), expected)
        # Within expressions, upon other functions, on transposed and sliced operands, and in images.
        upon = xp.apply(softsign, xp.apply(mixed, x + 1, flags[:, None], 2) * 3)
        inner = np.where(flags[:, None], (table + 1) * 2, -(table + 1)) * 3
        total, part = xp.compute(upon.sum(axis=0), xp.apply(softsign, x.T[1:4, ::7]))
        np.testing.assert_allclose(total, (inner / (1 + abs(inner))).sum(axis=0), rtol=1e-12)
        np.testing.assert_array_equal(part, softsign(table.T[1:4, ::7]))
        stored = xp.persist(tmp_path / "y.oc", lazy, replace=True)
        np.testing.assert_array_equal(stored.compute(threads=1), expected)
    with pytest.raises(oc.UsageError, match="broadcast"):
        xp.apply(mixed, table, flags, 1)


def test_numbers_alone_and_too_many_operands():
    assert xp.apply(mixed, 3, False, 1.5).compute() == -3
    for operands in ([], range(31)):
        with pytest.raises(oc.UsageError, match="expected from 1 to 30 operands"):
            xp.apply(lambda *x: 1, *operands)


def test_special_numbers_and_division_are_numpys():
    x = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e308] * 200)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(xp.apply(lambda x: 1 / x, x).compute(), 1 / x)
        np.testing.assert_array_equal(xp.apply(lambda x: x * 10 - x, x).compute(), x * 10 - x)
    np.testing.assert_array_equal(xp.apply(lambda x: math.isnan(x), x).compute(), np.isnan(x))


def test_whatever_numba_compiles_is_taken():
    x = np.arange(ROWS)
    made = [
        numba.njit(lambda x: x + 1),
        numba.vectorize(lambda x: x + 1),
        numba.cfunc("int64(int64)")(lambda x: x + 1),
    ]
    for function in made:
        np.testing.assert_array_equal(xp.apply(function, x).compute(), x + 1)
    table = np.array([5.0, 7.0, 9.0])
    np.testing.assert_array_equal(xp.apply(lambda x: table[x % 3], x).compute(), table[x % 3])


@pytest.mark.parametrize("threads", [1, 3])
def test_exceptions_name_the_function_and_the_elements(tmp_path, threads):
    def picky(x, least):
        if x > 4000:
            raise ValueError(f"too large by {least}")
        return x

    x = xp.arange(100_000)
    text = r"expected picky .* it raised ValueError for \(\d+, 7\): too large"
    with pytest.raises(oc.UsageError, match=text) as found:
        xp.apply(picky, x, 7).sum().compute(threads=threads)
    assert isinstance(found.value.__cause__, ValueError)
    with pytest.raises(oc.UsageError, match="picky"):
        xp.persist(tmp_path / "x.oc", xp.apply(picky, x, 7), threads=threads)
    assert list(tmp_path.iterdir()) == []
    table = np.arange(10)
    with pytest.raises(oc.UsageError, match=r"IndexError for \(10\): index is out of bounds"):
        xp.apply(lambda x: table[x], x).max().compute(threads=threads)
    assert int(xp.apply(picky, x[:4000], 7).max()) == 3999


def test_what_is_no_function_of_such_elements_is_refused():
    x = np.arange(4.0)
    for function, said in [
        (lambda x: None, "found none"),
        (lambda x: (x, x), "found UniTuple"),
        (lambda x: x + 1j, "found complex128"),
        (lambda x: x.real_part, "Unknown attribute 'real_part' of type float64"),
        (lambda x, y: x, "missing a required argument: 'y'"),
        (lambda x: undefined + x, "name 'undefined' is not defined"),  # noqa: F821
        (np.sqrt, "expected sqrt as a function"),
        (3, "found 3"),
        ([], "found []"),
    ]:
        with pytest.raises(oc.UsageError, match="that Numba compiles") as found:
            xp.apply(function, x)
        assert said in str(found.value)


def test_folds_go_from_the_first_element_to_the_last(table):
    def horner(value, x):
        return value * 0.5 + x

    for x in (table, table.astype(np.float32), (table * 10).astype(np.int8)):
        expected = np.full(ROWS, 2.0)
        for i in range(5):
            expected = expected * 0.5 + x[:, i]
        found = xp.reduce(horner, x, 1, 2.0)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found.compute(), expected)
        np.testing.assert_array_equal(xp.reduce(horner, x.T, 0, 2.0).compute(), expected)
    counts = xp.reduce(lambda count, x: count + (x > 0), table, -1, 0)
    np.testing.assert_array_equal(counts.compute(), (table > 0).sum(axis=1))
    signs = [np.signbit(xp.reduce(lambda least, x: least, table, 1, zero).compute()).any() for zero in (0.0, -0.0)]
    assert signs == [False, True]


def test_folds_that_cannot_be_are_refused(table):
    def plus(total, x):
        return total + x

    with pytest.raises(oc.UsageError, match="another axis than the long one"):
        xp.reduce(plus, table, 0, 0)
    with pytest.raises(oc.UsageError, match="an axis of an array"):
        xp.reduce(plus, table, 2, 0)
    with pytest.raises(oc.UsageError, match="initial as a number"):
        xp.reduce(plus, table, 1, None)
    with pytest.raises(oc.UsageError, match="to return float64, of which its first element is, found int64"):
        xp.reduce(lambda total, x: 1, table, 1, 0.5)

    def picky(total, x):
        if x > 2:
            raise KeyError("no")
        return total + x

    with pytest.raises(oc.UsageError, match="expected picky to return a result, found that it raised KeyError"):
        xp.reduce(picky, table, 1, 0).compute()


def test_inner_products_of_own_functions(table):
    other = np.random.default_rng(2).normal(size=(5, 3))
    expected = np.abs(table[:, :, None] - other[None]).max(axis=1)
    own = xp.inner_product(table, other, lambda x, y: abs(x - y), "max")
    np.testing.assert_array_equal(own.compute(), expected)
    folded = xp.inner_product(table, other, lambda x, y: abs(x - y), lambda most, x: max(most, x), initial=0.0)
    np.testing.assert_array_equal(folded.compute(), expected)
    np.testing.assert_array_equal(xp.inner_product(table, other, np.maximum, "min").compute(),
                                  np.maximum(table[:, :, None], other[None]).min(axis=1))  # fmt: skip
    for fold, initial in [("middle", None), ("sum", 0.0), (max, None)]:
        with pytest.raises(oc.UsageError, match="expected fold"):
            xp.inner_product(table, other, "subtract", fold, initial=initial)


def test_compiled_functions_live_as_long_as_expressions(table):
    def made(k):
        def times(x):
            return x * k

        return xp.apply(times, table)

    arrays = [made(k) for k in range(3)]
    from outcore import _numba

    _numba._element_loop.cache_clear()
    for k, array in enumerate(arrays):
        np.testing.assert_array_equal(array.compute(), table * k)


def test_without_numba_it_says_what_to_install():
    code = """
import sys
sys.modules["numba"] = None
import outcore as oc
for work in (lambda: oc.array.apply(abs, 1.0), lambda: oc.array.reduce(max, [1.0], 0, 0)):
    try:
        work()
    except oc.UsageError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.count("needs Numba, which is not installed: pip install numba") == 2, done.stdout


def test_what_a_function_knows_is_what_it_is_now():
    outside = {"factor": 3.0, "table": np.array([1.0, 2.0])}
    exec("def scaled(x):\n    return x * factor + table[1]\ndef folded(r, x):\n    return r + x * factor", outside)
    scaled, folded = outside["scaled"], outside["folded"]
    assert xp.apply(scaled, np.ones(1)).compute() == [5.0]
    assert xp.reduce(folded, np.ones((1, 2)), 1, 0.0).compute() == [6.0]
    before = xp.apply(scaled, np.ones(1))
    outside["factor"] = 4.0
    assert xp.apply(scaled, np.ones(1)).compute() == [6.0]
    assert xp.reduce(folded, np.ones((1, 2)), 1, 0.0).compute() == [8.0]
    outside["table"][1] = 10.0
    assert xp.apply(scaled, np.ones(1)).compute() == [14.0]
    assert before.compute() == [5.0], "an array is what it was when it was made"
    factor = 2
    inner = lambda x: x * factor
    assert xp.apply(inner, np.ones(1)).compute() == [2.0]
    factor = 5
    assert xp.apply(inner, np.ones(1)).compute() == [5.0]


def test_quantiles_are_between_their_neighbours():
    rng = np.random.default_rng(6)
    for count in (1, 5, 101, 509, 700):
        x = np.full((count, 3), 1 / 3) * [1, -7, 1e300]
        probabilities = rng.random(20)
        np.testing.assert_array_equal(xp.quantile(xp.asarray(x), probabilities).compute(), np.broadcast_to(x[0], (20, 3)))
    for x in (rng.normal(size=(50, 1)), np.array([[-1.7e308], [1.7e308]]), np.array([[0.0], [5e-324]])):
        found = xp.quantile(xp.asarray(x), np.linspace(0, 1, 41)).compute()
        assert (np.diff(found[:, 0]) >= 0).all() and found[0] == x.min() and found[-1] == x.max()


def test_a_function_that_always_raises_is_told():
    def boom(x):
        raise ValueError("boom")

    with pytest.raises(oc.UsageError, match="expected boom as a function of 1 elements .* raises ValueError: boom"):
        xp.apply(boom, xp.asarray(np.arange(4.0)))
