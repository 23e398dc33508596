"""Folds of the user's own along the long axis and of groups, against plain loops over the partitions of a pass."""

import functools
import re
import subprocess
import sys

import numpy as np
import pytest

import outcore as oc
import outcore.array as xp

# The rows of a partition of arrays in memory.
PARTITION = 64 * 508
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def ordered(result, x):
    return result * 0.75 + x


def merged(before, behind):
    return before * 0.5 - behind


def later(before, behind):
    return behind


def plus(total, x):
    return total + x


def loop(x, initial, rows, f=ordered, merge=merged):
    """What a fold over partitions of so many rows is."""
    parts = [x[start : start + rows].ravel() for start in range(0, len(x), rows)]
    return functools.reduce(merge, [functools.reduce(f, part.tolist(), initial) for part in parts])


def partition_rows(x):
    """The rows of a partition: the most that were counted at once."""
    return int(xp.reduce(lambda count, _: count + 1, x[:, 0], 0, 0, merge=max).compute())


def bits(array):
    return array.dtype, array.shape, array.tobytes()


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(0).normal(0, 3, (2 * PARTITION + 777, 3))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_every_partition_is_folded_in_order_and_merged_in_order(table, threads):
    x = xp.asarray(table)
    assert partition_rows(x) == PARTITION
    found = xp.reduce(ordered, x, 0, 1.5, merged).compute(threads=threads)
    np.testing.assert_array_equal(found, [loop(table[:, k], 1.5, PARTITION) for k in range(3)])
    whole = xp.reduce(ordered, x, None, 1.5, merge=merged)
    assert whole.shape == () and "ordered" in repr(whole)
    assert float(whole.compute(threads=threads)) == loop(table, 1.5, PARTITION)
    np.testing.assert_array_equal(xp.reduce(ordered, x.T, 1, 1.5, merged).compute(threads=threads), found)
    assert float(xp.reduce(ordered, x.T, None, 1.5, merged).compute(threads=threads)) == loop(table, 1.5, PARTITION)
    backwards = xp.reduce(ordered, x[::-1, 1], 0, 1.5, merged).compute(threads=threads)
    assert float(backwards) == loop(table[::-1, 1], 1.5, PARTITION)


def test_partitions_of_files_depend_on_what_is_read_alone(table, tmp_path):
    np.save(tmp_path / "rows.npy", table)
    np.save(tmp_path / "columns.npy", np.asfortranarray(table.astype(np.float32)))
    xp.persist(tmp_path / "x.oc", table)
    labels = np.arange(len(table)) % 7
    for name in ("rows.npy", "columns.npy", "x.oc"):
        results, plain = [], table.astype(np.float32) if name == "columns.npy" else table
        for limits in [{"threads": 1}, {"threads": 3}, {"memory": "24MiB", "threads": 2}, {"backend": "posix"}]:
            x = xp.open(tmp_path / name, **limits)
            sums = xp.reduce(ordered, x, 0, 0.5, merged), xp.reduce(ordered, x, None, 0.5, merged)
            groups = xp.groupby_reduce(ordered, x, labels, 7, 0.5, merged)
            results.append([bits(one) for one in xp.compute(*sums, groups)])
        assert all(one == results[0] for one in results), name
        # All columns are read.
        x = xp.open(tmp_path / name)
        count = xp.reduce(lambda count, _: count + 1, x, 0, 0, merge=max)
        rows = int(count.compute()[0])
        assert rows < len(table), rows
        found = xp.reduce(ordered, x, 0, 0.5, merged).compute()
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, [loop(plain[:, k], 0.5, rows) for k in range(3)])
        assert float(xp.reduce(ordered, x, None, 0.5, merged)) == loop(plain, 0.5, rows)


@pytest.mark.parametrize("dtype", TYPES)
def test_all_types_keep_all_digits(dtype):
    x = np.arange(PARTITION + 5) * 37 % 251
    x = (x.astype(dtype) + np.array(2**62 + 1, dtype)) if dtype in ("int64", "uint64") else x.astype(dtype)
    first = x.dtype.type(1)
    last = xp.reduce(lambda _, x: x, x, 0, first, merge=later)
    assert last.dtype == dtype and last.compute() == x[-1]
    if dtype != "bool":
        most = xp.reduce(lambda most, x: x if x > most else most, x, 0, first, merge=lambda a, b: b if b > a else a)
        assert most.dtype == dtype and most.compute() == x.max()
    groups = xp.groupby_reduce(lambda _, x: x, x, np.arange(len(x)) % 2, 3, first, later).compute()
    assert groups.dtype == dtype
    # The second partition has rows of both groups, and of the third one none.
    np.testing.assert_array_equal(groups, [x[-1], x[-2], first])


def test_results_have_the_type_that_functions_make(table):
    x = (table * 100).astype(np.int8)
    total = xp.reduce(plus, x, 0, 0, merge=plus)
    assert total.dtype == np.int64
    np.testing.assert_array_equal(total.compute(), x.sum(axis=0, dtype=np.int64))
    count = xp.reduce(lambda count, x: count + (x > 0), table, None, 0, merge=plus)
    assert count.dtype == np.int64 and int(count) == (table > 0).sum()
    any_large = xp.reduce(lambda found, x: found or x > 9, table, 0, False, merge=lambda a, b: a or b)
    assert any_large.dtype == bool
    np.testing.assert_array_equal(any_large.compute(), (table > 9).any(axis=0))
    assert xp.reduce(plus, table, 0, 0, merge=plus).dtype == np.float64
    assert xp.reduce(plus, table.astype(np.float32), 0, np.float32(0), merge=plus).dtype == np.float32


def test_special_numbers_are_kept(table):
    x = table.copy()
    x[5, 0], x[PARTITION + 9, 1], x[-1, 2] = np.nan, np.inf, -np.inf
    found = xp.reduce(plus, x, 0, -0.0, merge=plus).compute()
    assert np.isnan(found[0]) and found[1] == np.inf and found[2] == -np.inf
    least = xp.reduce(lambda least, x: x if x < least else least, x, 0, np.inf, merge=min).compute()
    np.testing.assert_array_equal(least, np.fmin.reduce(x, axis=0))
    zeros = xp.reduce(lambda zero, x: zero, np.ones(3 * PARTITION), 0, -0.0, merge=lambda a, b: b).compute()
    assert np.signbit(zeros)
    # The first partition is not merged with what a fold begins with.
    assert int(xp.reduce(plus, np.zeros(2 * PARTITION), 0, 1.0, merge=plus)) == 2
    with np.errstate(all="ignore"):
        assert xp.reduce(lambda r, x: r + 1 / x, np.zeros(1000), 0, 0.0, merge=plus).compute() == np.inf


def test_few_rows_and_none():
    for shape in [(0, 3), (1, 3), (2, 3), (600, 1), (600, 0), (0,), (1,), (700,), (0, 0)]:
        x = np.random.default_rng(1).normal(size=shape)
        found = xp.reduce(ordered, x, 0, 2, merged)
        columns = np.atleast_2d(x.T)
        expected = np.array([loop(own, 2.0, 1000) if len(own) else 2.0 for own in columns])
        assert found.dtype == np.float64 and found.shape == shape[1:]
        np.testing.assert_array_equal(found.compute().ravel(), expected)
        whole = xp.reduce(ordered, x, None, 2, merged)
        assert float(whole) == (loop(x, 2.0, 1000) if x.size else 2.0) and whole.shape == ()
        labels = np.zeros(shape[0], np.uint8)
        groups = xp.groupby_reduce(ordered, x, labels, 2, 2, merged)
        assert groups.shape == (2, *shape[1:])
        np.testing.assert_array_equal(groups.compute()[0].ravel(), found.compute().ravel())
        assert (groups.compute()[1] == 2).all()
    assert float(xp.reduce(ordered, 5.0, None, 2.0, merged)) == 6.5
    # Without a long axis nothing is merged, and merge= is not needed.
    x = np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(xp.reduce(ordered, x, 0, 1.0).compute(), [loop(x[:, k], 1.0, 4) for k in range(3)])
    assert float(xp.reduce(ordered, x, None, 1.0)) == loop(x, 1.0, 4)
    np.testing.assert_array_equal(xp.reduce(plus, np.empty((5, 0)), 1, 0).compute(), np.zeros(5))
    np.testing.assert_array_equal(
        xp.groupby_reduce(ordered, x, [0, 2, 0, 2], 3, 1.0).compute(),
        [[loop(x[::2, k], 1.0, 4) for k in range(3)], [1.0] * 3, [loop(x[1::2, k], 1.0, 4) for k in range(3)]],
    )


def test_arrays_of_more_axes(table, tmp_path):
    np.save(tmp_path / "x.npy", table)
    for x in (xp.asarray(table), xp.open(tmp_path / "x.npy")):
        rows = int(xp.reduce(lambda count, _: count + 1, x, 0, 0, merge=max).compute()[0])
        deep = x[:, :, None] * np.array([1.0, -2.0])
        plain = table[:, :, None] * np.array([1.0, -2.0])
        found = xp.reduce(ordered, deep, 0, 0.5, merged)
        assert found.shape == (3, 2)
        own = [[loop(plain[:, i, k], 0.5, rows) for k in range(2)] for i in range(3)]
        np.testing.assert_array_equal(found.compute(), own)
        np.testing.assert_array_equal(xp.reduce(ordered, deep.T, 2, 0.5, merged).compute(), np.transpose(own))
        assert float(xp.reduce(ordered, deep, None, 0.5, merged)) == loop(plain, 0.5, rows)
        groups = xp.groupby_reduce(plus, deep, np.arange(len(table)) % 2, 2, 0.0, plus).compute()
        np.testing.assert_allclose(groups, [plain[::2].sum(axis=0), plain[1::2].sum(axis=0)])
        # Along an axis that is short nothing is merged.
        short = xp.reduce(ordered, deep, 1, 0.5, merge=merged).compute()
        np.testing.assert_array_equal(short[:9, 1], [loop(plain[i, :, 1], 0.5, 3) for i in range(9)])


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_are_folded_by_labels(table, threads):
    labels = np.random.default_rng(2).integers(0, 4, len(table))
    labels[labels == 2] = 0
    expected = np.empty((5, 3))
    for group in range(5):
        for k in range(3):
            parts = [slice(start, start + PARTITION) for start in range(0, len(table), PARTITION)]
            own = [table[part, k][labels[part] == group].tolist() for part in parts]
            expected[group, k] = functools.reduce(merged, [functools.reduce(ordered, one, 1.5) for one in own])
    for names in (labels, labels.astype(np.int8), xp.asarray(labels) + 0):
        found = xp.groupby_reduce(ordered, table, names, 5, 1.5, merged)
        assert found.shape == (5, 3)
        np.testing.assert_array_equal(found.compute(threads=threads), expected)
    vector = xp.groupby_reduce(ordered, table[:, 1].copy(), labels, 5, 1.5, merge=merged)
    np.testing.assert_array_equal(vector.compute(threads=threads), expected[:, 1])
    flags = xp.groupby_reduce(plus, table, labels == 1, 2, 0.0, plus).compute(threads=threads)
    np.testing.assert_allclose(flags[1], table[labels == 1].sum(axis=0))
    # Labels that are computed in the same pass.
    own = xp.groupby_reduce(lambda n, x: n + 1, table, xp.asarray(table).argmin(axis=1), 3, 0, plus)
    np.testing.assert_array_equal(own.compute(threads=threads)[:, 0], np.bincount(table.argmin(axis=1), minlength=3))
    first = int(np.flatnonzero(labels > 2)[0])
    for wrong in (xp.groupby_reduce(plus, table, labels, 3, 0.0, plus), xp.groupby_sum(table, labels, 3)):
        with pytest.raises(oc.UsageError, match=f"number of groups, which is 3, found 3 in row {first}"):
            wrong.compute(threads=threads)


def test_groups_of_columns(table, tmp_path):
    wide = np.random.default_rng(3).normal(size=(4000, 6))
    np.save(tmp_path / "x.npy", wide)
    labels, k = np.array([3, 0, 3, 0, 0, 1], np.int8), 5
    members = [np.flatnonzero(labels == group) for group in range(k)]
    means = np.array([wide[:, own].mean(axis=1) if len(own) else np.full(4000, np.nan) for own in members]).T
    for x in (xp.open(tmp_path / "x.npy"), xp.asarray(wide), wide):
        sums = xp.groupby_sum(x, labels, k, axis=1)
        assert sums.shape == (4000, k) and sums.long_axis == 0
        np.testing.assert_allclose(sums.compute(), np.array([wide[:, own].sum(axis=1) for own in members]).T)
        np.testing.assert_allclose(xp.groupby_mean(x, labels, k, axis=-1).compute(), means)
        for found, of, empty in [(xp.groupby_min, np.min, np.inf), (xp.groupby_max, np.max, -np.inf)]:
            expected = np.array([of(wide[:, own], axis=1, initial=empty) for own in members]).T
            np.testing.assert_array_equal(found(x, labels, k, axis=1).compute(), expected)
        own = xp.groupby_reduce(ordered, x, labels, k, 0.25, axis=1)
        expected = np.array([[loop(row[one], 0.25, 9) if len(one) else 0.25 for one in members] for row in wide])
        np.testing.assert_array_equal(own.compute(), expected)
        transposed = xp.asarray(x).T
        np.testing.assert_array_equal(xp.groupby_reduce(ordered, transposed, labels, k, 0.25).compute(), expected.T)
        np.testing.assert_array_equal(xp.groupby_sum(transposed, labels, k).compute(), sums.compute().T)
        # And the rows of what is transposed are columns.
        rows = np.arange(4000) % 3
        found = xp.groupby_sum(transposed, rows, 3, axis=1).compute()
        np.testing.assert_allclose(found, np.array([wide[rows == g].sum(axis=0) for g in range(3)]).T)
    for dtype in ("int8", "uint64", "float32"):
        x = (wide * 30).astype(dtype)
        np.testing.assert_array_equal(xp.groupby_max(x, labels, k, axis=1).compute(),
                                      xp.groupby_max(x.T.copy(), labels, k).compute().T)  # fmt: skip
    many = np.random.default_rng(4).integers(0, 2, 3000)
    x = np.random.default_rng(5).integers(0, 9, (600, 3000))
    np.save(tmp_path / "wide.npy", x)
    found = xp.groupby_sum(xp.open(tmp_path / "wide.npy"), many, 2, axis=1).compute()
    np.testing.assert_array_equal(found, np.array([x[:, many == g].sum(axis=1) for g in range(2)]).T)


def test_labels_of_columns_that_cannot_be_are_refused(tmp_path):
    # An array of more elements cannot be computed as a whole.
    x = np.zeros((40_000, 3))
    np.save(tmp_path / "x.npy", x)
    lazy = xp.open(tmp_path / "x.npy")
    for labels, k, text in [
        ([0, 1], 2, "expected 3 labels of whole numbers, found (2,)"),
        ([0.0, 1.0, 1.0], 2, "expected 3 labels of whole numbers, found (3,) of float64"),
        ([0, 2, -1], 2, "which is 2, found 2 at 1"),
        ([0, 1, -1], 2, "which is 2, found -1 at 2"),
        (np.array([0, 2**63, 0], np.uint64), 2, "found 9223372036854775808 at 1"),
        (xp.arange(3), 3, "or labels in memory, found lazy ones along another axis; compute() them first"),
    ]:
        for make in (xp.groupby_sum, lambda *given, axis: xp.groupby_reduce(plus, *given, 0.0, plus, axis=axis)):
            with pytest.raises(oc.UsageError, match=re.escape(text)):
                make(lazy, labels, k, axis=1)
    with pytest.raises(oc.UsageError, match="an axis of an array of 2 axes, found 2"):
        xp.groupby_min(x, [0, 0, 0], 1, axis=2)
    for fold in (xp.groupby_min, xp.groupby_max):
        for axis in (0, 1):
            with pytest.raises(oc.UsageError, match="bool"):
                fold(np.ones((600, 2), bool), np.zeros((600, 2)[axis], int), 1, axis=axis)


def test_what_is_missing_or_of_another_type_is_refused(table):
    for work in (
        lambda: xp.reduce(plus, table, 0, 0.0),
        lambda: xp.reduce(plus, table, None, 0.0),
        lambda: xp.reduce(plus, table.T, 1, 0.0),
        lambda: xp.groupby_reduce(plus, table, np.zeros(len(table), int), 1, 0.0),
    ):
        with pytest.raises(oc.UsageError, match="or merge=, a function that makes one result of two") as found:
            work()
        assert "the long one" in str(found.value)
    for merge, text in [
        (lambda a, b: a > b, "which merges results, to return float64 as these are, found bool"),
        (lambda a: a, r"as a function of 2 elements \(float64, float64\) that Numba compiles"),
        (lambda a, b: None, "found none"),
        (3, "expected a function of elements that Numba compiles, found 3"),
    ]:
        with pytest.raises(oc.UsageError, match=text):
            xp.reduce(plus, table, 0, 0.0, merge)
        with pytest.raises(oc.UsageError, match=text):
            xp.groupby_reduce(plus, table, np.zeros(len(table), int), 1, 0.0, merge)
    for initial in (None, "0", 1j, np.complex64(0), np.float16(0), 2**70, np.zeros(2)):
        with pytest.raises(oc.UsageError, match="expected initial as"):
            xp.reduce(plus, table, 0, initial, plus)
    with pytest.raises(oc.UsageError, match="to return int64, of which its first element is, found bool"):
        xp.reduce(lambda r, x: x > 0, table, 0, 0, plus)


@pytest.mark.parametrize("threads", [1, 2])
def test_exceptions_are_errors_with_the_elements(table, threads):
    def picky(total, x):
        if x == 7777:
            raise ValueError("seven")
        return total + x

    def unwilling(before, behind):
        if behind > 0:
            raise KeyError("positive")
        return before + behind

    x = np.zeros((2 * PARTITION + 5, 2))
    x[PARTITION + 3, 1] = 7777
    x[PARTITION : PARTITION + 3, 1] = 1
    for axis in (0, None):
        text = r"expected picky .* it raised ValueError for \(3.0, 7777.0\): seven"
        with pytest.raises(oc.UsageError, match=text) as found:
            xp.reduce(picky, x, axis, 0.0, plus).compute(threads=threads)
        assert isinstance(found.value.__cause__, ValueError)
    labels = np.arange(len(x)) % 2
    with pytest.raises(oc.UsageError, match=r"ValueError for \(1.0, 7777.0\): seven"):
        xp.groupby_reduce(picky, x, labels, 2, 0.0, plus).compute(threads=threads)
    with pytest.raises(oc.UsageError, match=r"expected unwilling .* raised KeyError for \(0.0, 7780.0\): 'positive'"):
        xp.reduce(plus, x, 0, 0.0, unwilling).compute(threads=threads)
    table_of_ten = np.arange(10)
    with pytest.raises(oc.UsageError, match=r"IndexError for \(0, 10\): index is out of bounds"):
        xp.reduce(lambda total, x: table_of_ten[x] * 0, np.arange(700), 0, 0, plus).compute(threads=threads)
    assert xp.reduce(picky, x[:PARTITION], 0, 0.0, unwilling).compute(threads=threads).tolist() == [0.0, 0.0]


def test_functions_of_folds_live_as_long_as_expressions():
    def made(k):
        return xp.reduce(lambda total, x: total + x * k, np.arange(2000), 0, 0, merge=lambda a, b: a + b)

    arrays = [made(k) for k in range(3)]
    from outcore import _numba

    _numba._adder.cache_clear()
    _numba._element_loop.cache_clear()
    assert [int(array) for array in arrays] == [0, 1999000, 2 * 1999000]


LIMITED = """
import numpy as np, outcore as oc
MIB = 1 << 20
def held(name):
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(name))
def plus(total, x):
    return total + x
def later(before, behind):
    return behind if behind >= 0 else before
x = oc.array.random.integers(-1000, 1000, (4_000_000, 4), seed=1)
oc.array.persist("x.oc", x, memory="32MiB")
labels = oc.array.arange(4_000_000) % 1000
def work(limits):
    x = oc.array.open("x.oc", **limits)
    goals = [oc.array.reduce(plus, x, 0, 0, plus), oc.array.reduce(plus, x, None, 0, plus),
             oc.array.groupby_reduce(plus, x, labels, 1000, 0, plus)]
    return oc.array.compute(*goals, return_stats=True)
# Code counts once it has run, and what compiles.
work({"memory": "256MiB"})
start = held("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
results, stats = work({"memory": "24MiB"})
print((held("VmHWM") - start) / MIB, stats["bytes_read"], len(stats["steps"]))
expected = x.compute()
np.testing.assert_array_equal(results[0], expected.sum(axis=0))
assert results[1] == expected.sum()
np.testing.assert_array_equal(results[2], expected.reshape(4000, 1000, 4).sum(axis=0))
"""


def test_a_file_five_times_the_limit_is_folded_in_one_pass(tmp_path):
    code = [sys.executable, "-c", LIMITED]
    done = subprocess.run(code, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    peak, bytes_read, steps = done.stdout.split()
    file_bytes = (tmp_path / "x.oc" / "values.pages").stat().st_size
    assert float(peak) <= 24 and int(steps) == 1
    assert file_bytes - 2**20 <= int(bytes_read) <= file_bytes


def test_a_plan_tells_the_fold_and_its_memory(table):
    few, many = (
        xp.groupby_reduce(plus, table, np.zeros(len(table), int), k, 0.0, plus).explain(threads=1).passes[0]
        for k in (1, 100_000)
    )
    # Results of 3 columns, of one worker: four, and the whole one.
    assert many.memory_bytes - few.memory_bytes == 4 * 8 * 3 * 99_999
    with pytest.raises(oc.MemoryLimitError):
        xp.groupby_reduce(plus, table, np.zeros(len(table), int), 10**7, 0.0, plus).compute(memory="64MiB")
