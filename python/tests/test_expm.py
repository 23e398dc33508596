"""Products of matrix exponentials beside SciPy's and those of dense matrices."""

import gc

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

import outcore as oc


def graph(size=120, degree=4, seed=1, signed=False, directed=False):
    rng = np.random.default_rng(seed)
    matrix = scipy.sparse.random_array((size, size), density=degree / size, rng=rng).tocsr()
    if signed:
        matrix.data -= 0.5
    return scipy.sparse.csr_array(matrix if directed else matrix + matrix.T)


def laplacian(matrix):
    return scipy.sparse.csr_array(scipy.sparse.diags_array(matrix.sum(axis=0)) - matrix)


def cases():
    rng = np.random.default_rng(3)
    yield "graph", graph(), [0.5, 1.0, -1.0, 7.0]
    yield "directed", graph(directed=True), [1.0, -2.0]
    yield "signed", graph(signed=True, directed=True, degree=9), [1.0, 4.0, -3.0]
    yield "minus Laplacian", -laplacian(graph()), [1.0, 0.01, 30.0]
    yield "shifted", scipy.sparse.csr_array(graph() - 50 * scipy.sparse.eye_array(120)), [1.0, 3.0]
    triangle = np.triu(rng.random((60, 60)) * (rng.random((60, 60)) < 0.2), 1)
    yield "nilpotent", scipy.sparse.csr_array(triangle), [1.0, 5.0]
    yield "long nilpotent", scipy.sparse.diags_array([100.0 * np.ones(7)], offsets=[1]).tocsr(), [1.0, -1.0]
    yield "rotation", scipy.sparse.csr_array(np.array([[0.0, 1.0], [-1.0, 0.0]])), [np.pi, 100.0]
    yield "zero", scipy.sparse.csr_array((17, 17)), [1.0, 1e300]
    yield "diagonal", scipy.sparse.diags_array(np.linspace(-30.0, 5.0, 40)).tocsr(), [1.0]
    yield "one", scipy.sparse.csr_array([[3.5]]), [1.0, -2.0, 0.0]
    yield "big", 500 * graph(40, 3), [-1e-2, 1e-1]
    yield "tiny", 1e-200 * graph(), [1.0, 1e200]
    yield "empty rows", scipy.sparse.csr_array((([2.0, 3.0], ([0, 4], [4, 9]))), shape=(30, 30)), [1.0]


@pytest.mark.parametrize("name, matrix, times", list(cases()), ids=[name for name, *_ in cases()])
def test_it_is_the_dense_exponential(tmp_path, name, matrix, times):
    rng = np.random.default_rng(2)
    rows = matrix.shape[0]
    with oc.import_matrix(matrix, tmp_path / "m.oc", order="degree") as own:
        for t in times:
            dense = scipy.linalg.expm(t * matrix.toarray())
            # What rounding may do to the exponential of a matrix with this norm.
            norm = max(1.0, np.abs(t * (matrix.toarray() - matrix.diagonal().mean() * np.eye(rows))).sum(axis=0).max())
            for factor in (rng.random(rows) - 0.5, rng.random((rows, 1)), rng.random((rows, 5)) - 0.5):
                found = oc.linalg.expm_multiply(own, factor, t)
                assert found.shape == factor.shape
                scale = np.abs(dense).max() * np.abs(factor).sum(axis=0).max()
                np.testing.assert_allclose(found, dense @ factor, rtol=1e-9, atol=1e-14 * norm * scale)
                scipys = scipy.sparse.linalg.expm_multiply(t * matrix, factor) if t < 1e100 else dense @ factor
                np.testing.assert_allclose(found, scipys, rtol=1e-9, atol=1e-13 * norm * scale)
                # A column alone has the bits that it has among others.
                if factor.ndim == 2:
                    assert np.array_equal(oc.linalg.expm_multiply(own, factor[:, 0], t), found[:, 0])


def test_several_times_are_scipys(tmp_path):
    matrix = -laplacian(graph())
    factor = np.random.default_rng(4).random((120, 3))
    with oc.import_matrix(matrix, tmp_path / "m.oc") as own:
        for b in (factor, factor[:, 0], factor * (1 + 2j)):
            for options in (
                {"start": 0, "stop": 2, "num": 5},
                {"start": 0.3, "stop": 1.0, "num": 4, "endpoint": False},
                {"start": 1, "stop": 0, "num": 3},
                {"start": 0.2, "stop": -0.2, "num": 6},
                {"start": 0.0, "stop": 0.0, "num": 2},
                {"start": 1, "stop": 2, "num": 1},
            ):
                found = oc.linalg.expm_multiply(own, b, **options)
                samples = np.linspace(**options)
                expected = np.stack([scipy.linalg.expm(t * matrix.toarray()) @ b for t in samples])
                assert found.shape == (options["num"], *b.shape)
                np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        scipys = scipy.sparse.linalg.expm_multiply(matrix, factor, start=0, stop=2, num=5)
        np.testing.assert_allclose(oc.linalg.expm_multiply(own, factor, start=0, stop=2, num=5), scipys, rtol=1e-10)
        assert oc.linalg.expm_multiply(own, factor, start=0, stop=1, num=0).shape == (0, 120, 3)
        assert oc.linalg.expm_multiply(own, factor[:, :0]).shape == (120, 0)


def wanted(own):
    """How many passes the last product made, over a device or its cache."""
    return own.stats["pages_wanted"] / (own.plan(1).bytes_per_pass / 4096)


def test_passes_are_few_and_said(tmp_path):
    matrix = graph(2000, 4)
    with oc.import_matrix(matrix, tmp_path / "m.oc") as own:
        oc.linalg.expm_multiply(own, np.ones(2000), 0.1)
        few = wanted(own)
        assert 5 < few < 25
        oc.linalg.expm_multiply(own, np.ones((2000, 32)), 0.1)
        assert wanted(own) == few
        oc.linalg.expm_multiply(own, np.ones((2000, 33)), 0.1)
        assert few < wanted(own) < 2 * few
    # Powers of a triangular matrix have norms that are far less than that of the matrix.
    triangle = scipy.sparse.csr_array(scipy.sparse.diags_array([1e6 * np.ones(3)], offsets=[1]))
    with oc.import_matrix(triangle, tmp_path / "t.oc") as own:
        found = oc.linalg.expm_multiply(own, np.ones(4), 1.0)
        np.testing.assert_allclose(found, scipy.linalg.expm(triangle.toarray()) @ np.ones(4), rtol=1e-13)
        assert wanted(own) < 30


def test_bits_depend_on_neither_threads_nor_memory_nor_back_ends(tmp_path):
    size = 100_000
    rng = np.random.default_rng(5)
    entries = rng.random(3 * size), (rng.integers(0, size, 3 * size), rng.integers(0, size, 3 * size))
    oc.import_matrix(scipy.sparse.coo_array(entries, shape=(size, size)), tmp_path / "m.oc").close()
    factor = rng.random((size, 9)) - 0.5
    with oc.SparseMatrix(tmp_path / "m.oc", threads=1) as own:
        expected, passes = oc.linalg.expm_multiply(own, factor), wanted(own)
    for options in ({"threads": 3, "backend": "posix"}, {"memory": "40MiB"}, {"memory": "26MiB", "threads": 2}):
        with oc.SparseMatrix(tmp_path / "m.oc", **options) as own:
            assert np.array_equal(oc.linalg.expm_multiply(own, factor), expected), options
            assert wanted(own) >= passes
    assert wanted(own) > passes
    scipys = scipy.sparse.linalg.expm_multiply(scipy.sparse.coo_array(entries, shape=(size, size)).tocsr(), factor)
    np.testing.assert_allclose(expected, scipys, rtol=1e-9, atol=1e-11)
    runtime = oc.Runtime(memory="64MiB")
    with oc.SparseMatrix(tmp_path / "m.oc", runtime=runtime) as own:
        before = runtime.available
        kept = oc.linalg.expm_multiply(own, factor)
        assert runtime.available <= before - kept.nbytes
        with pytest.raises(oc.MemoryLimitError, match="products of a matrix exponential as a NumPy array"):
            oc.linalg.expm_multiply(own, factor, start=0, stop=1, num=20)
        del kept
        gc.collect()


def test_what_cannot_be_is_refused(tmp_path):
    square = oc.import_matrix(graph(30), tmp_path / "s.oc")
    wide = oc.import_matrix(scipy.sparse.csr_array(np.ones((3, 5))), tmp_path / "w.oc")
    complex_one = oc.import_matrix(scipy.sparse.csr_array([[1j]]), tmp_path / "c.oc")
    large = oc.import_matrix(scipy.sparse.csr_array([[0.0, 1e308], [1e308, 0.0]]), tmp_path / "l.oc")
    nan = np.ones(30)
    nan[7] = np.nan
    for call, kind, text in (
        (lambda: oc.linalg.expm_multiply(wide, np.ones(3)), oc.UsageError, "expected a square matrix"),
        (lambda: oc.linalg.expm_multiply(complex_one, np.ones(1)), oc.UsageError, "expected real values"),
        (lambda: oc.linalg.expm_multiply(square, np.ones(29)), oc.UsageError, "expected 30 rows to multiply"),
        (lambda: oc.linalg.expm_multiply(square, np.ones((30, 2, 2))), oc.UsageError, "found 30 x 2 x 2"),
        (lambda: oc.linalg.expm_multiply(square, nan), oc.UsageError, "found NaN in row 7"),
        (
            lambda: oc.linalg.expm_multiply(square, np.ones(30), np.inf),
            oc.UsageError,
            "expected finite times t, found inf",
        ),
        (
            lambda: oc.linalg.expm_multiply(square, np.ones(30), start=0),
            oc.UsageError,
            "expected both start= and stop=",
        ),
        (lambda: oc.linalg.expm_multiply(square, ["a"] * 30), TypeError, "expected B of numbers"),
        (lambda: oc.linalg.expm_multiply(square, np.ones(30), 1e4), oc.UsageError, "finite numbers, found larger ones"),
        (lambda: oc.linalg.expm_multiply(large, np.ones(2)), oc.UsageError, "at most 1e12 products, found norms of"),
        (
            lambda: oc.linalg.expm_multiply(large, np.ones(2), 1e10),
            oc.UsageError,
            "at most 1e12 products, found norms of",
        ),
    ):
        with pytest.raises(kind, match=text):
            call()
