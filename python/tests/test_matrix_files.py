"""Products with dense matrices in files, beside those in memory."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

import outcore as oc


@pytest.fixture(params=["input", "degree"])
def pair(request, tmp_path):
    """A rectangular matrix in memory, and the same on disk under a small limit."""
    matrix = scipy.sparse.random_array((900, 700), density=0.02, rng=np.random.default_rng(1)).tocsr()
    with oc.import_matrix(matrix, tmp_path / "m.oc", memory="64MiB", threads=2, order=request.param) as own:
        yield matrix, own


def mapped(path, array, order="C"):
    np.save(path, np.asarray(array, order=order))
    return np.load(path, mmap_mode="r" if array.size else None)


def test_factors_in_files_give_the_bits_of_those_in_memory(pair, tmp_path):
    matrix, own = pair
    rng = np.random.default_rng(2)
    for shape in (700,), (700, 1), (700, 37), (700, 0), (700, 64):
        for dtype in "<f8", ">f8", "<f4", "<c16", ">c8", "<i4", ">u2", "|i1", "|b1":
            numbers = rng.random(shape) * 100 - 50
            numbers = numbers + 1j * numbers if "c" in dtype else abs(numbers) if "u" in dtype else numbers
            array = numbers.astype(dtype)
            expected = own @ array
            np.testing.assert_allclose(expected, matrix @ array.astype(expected.dtype), rtol=1e-9, atol=1e-9)
            for order in "C", "F":
                path = tmp_path / "x.npy"
                memory_map = mapped(path, array, order)
                for factor in memory_map, path, str(path):
                    found = own.multiply(factor, out=tmp_path / "y.npy")
                    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
                    assert found.tobytes() == expected.tobytes() and found.flags.writeable == (found.size == 0)
                    assert own.multiply(factor).tobytes() == expected.tobytes()
                # Rows are read by each of two passes.
                passes = own.explain_multiply(path).passes if order == "C" and array.ndim == 2 else 1
                assert array.nbytes * 0.98 <= own.stats["factor_bytes_read"] <= array.nbytes * max(passes, 1)
                assert (own @ memory_map).tobytes() == expected.tobytes()
    assert sorted(os.listdir(tmp_path)) == ["m.oc", "x.npy", "y.npy"]


def test_views_of_memory_maps_are_read_where_they_lie(pair, tmp_path):
    _, own = pair
    big = np.random.default_rng(3).random((1500, 40))
    for order in "C", "F":
        memory_map = mapped(tmp_path / "x.npy", big, order)
        for pick in (np.s_[100:800], np.s_[100:800, 3:30], np.s_[100:800, 5], np.s_[::2, :][0:700], np.s_[20:720, ::3],
                     np.s_[799:99:-1]):
            view = memory_map[:1400:2] if pick == np.s_[::2, :][0:700] else memory_map[pick]
            assert (own @ view).tobytes() == (own @ np.array(view)).tobytes(), (order, pick)
        transposed = mapped(tmp_path / "t.npy", big.T, order).T[:700]
        assert (own @ transposed).tobytes() == (own @ np.array(transposed)).tobytes()
    # What is changed in a private map is not in the file; a file of another name is not the one that is mapped.
    np.save(tmp_path / "x.npy", big[:700])
    private = np.load(tmp_path / "x.npy", mmap_mode="c")
    private[5] = 7
    changed = np.array(private)
    assert (own @ private).tobytes() == (own @ changed).tobytes()
    shown = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.save(tmp_path / "z.npy", np.zeros((700, 40)))
    os.replace(tmp_path / "z.npy", tmp_path / "x.npy")
    assert (own @ shown).tobytes() == (own @ big[:700]).tobytes()


def test_products_go_where_they_are_to_go(pair, tmp_path):
    matrix, own = pair
    factor = np.random.default_rng(4).random((700, 21))
    expected = own @ factor
    for order in "C", "F":
        shape = (900, 21)
        for dtype, given in ((np.float64, factor), (np.complex128, factor * (1 + 2j))):
            out = np.lib.format.open_memmap(tmp_path / "o.npy", "w+", dtype, shape, fortran_order=order == "F")
            assert own.multiply(given, out=out) is out
            assert own.stats["product_bytes_written"] == out.nbytes
            assert out.tobytes() == (own @ given).tobytes()
            assert np.load(tmp_path / "o.npy").tobytes() == out.tobytes()
        whole = np.lib.format.open_memmap(tmp_path / "w.npy", "w+", np.float64, (1000, 63), fortran_order=order == "F")
        part = whole[50:950, 10:31]
        assert own.multiply(factor, out=part) is part
        assert part.tobytes() == expected.tobytes() and np.count_nonzero(whole) == np.count_nonzero(expected)
    out = np.empty((900, 21))
    assert own.multiply(factor, out=out) is out and out.tobytes() == expected.tobytes()
    # Transposes, semirings, vectors.
    path = tmp_path / "x.npy"
    np.save(path, np.ones((900, 3)))
    own.multiply(path, transposed=True, out=tmp_path / "z.npy")
    np.testing.assert_allclose(np.load(tmp_path / "z.npy"), matrix.T @ np.ones((900, 3)), rtol=1e-12)
    np.save(path, np.arange(700))
    found = own.multiply(path, semiring="max-times", out=tmp_path / "y.npy")
    assert found.shape == (900,) and found.tobytes() == own.multiply(np.arange(700), semiring="max-times").tobytes()


def test_complex_matrices_take_files(tmp_path):
    rng = np.random.default_rng(5)
    matrix = scipy.sparse.random_array((300, 200), density=0.1, rng=rng) * (1 - 0.5j)
    own = oc.import_matrix(matrix, tmp_path / "c.oc", memory="64MiB")
    for array in (rng.random((300, 19)), (rng.random((300, 19)) + 1j).astype(np.complex64)):
        np.save(tmp_path / "x.npy", array)
        found = own.multiply(tmp_path / "x.npy", transposed=True, out=tmp_path / "y.npy")
        assert found.tobytes() == own.multiply(array, transposed=True).tobytes()
        assert (own.H @ np.load(tmp_path / "x.npy", mmap_mode="r")).tobytes() == (own.H @ array).tobytes()


def test_what_cannot_be_multiplied_is_refused(pair, tmp_path):
    _, own = pair
    path, out = tmp_path / "x.npy", tmp_path / "y.npy"
    good = mapped(path, np.ones((700, 4)))
    read_only = np.load(path, mmap_mode="r")
    other, pages = tmp_path / "other.npy", tmp_path / "other.oc" / "out.pages"
    pages.parent.mkdir()
    (pages.parent / "manifest.json").touch()
    for file in other, pages:
        with open(file, "wb") as to:
            np.save(to, np.ones((900, 4)))
    for factor, to, error, message in (
        (tmp_path / "none.npy", out, FileNotFoundError, "none.npy"),
        (good[1:], out, oc.UsageError, "expected 700 rows to multiply a matrix of 900 x 700, found 699 x 4"),
        (good, tmp_path / "no" / "y.npy", FileNotFoundError, "no/y.npy"),
        (good, tmp_path, oc.UsageError, "expected the name of a file"),
        (good, path, oc.UsageError, "apart from the factor"),
        (path, path, oc.UsageError, "apart from the factor"),
        (np.ma.masked_equal(np.eye(700, 4), 1), out, ValueError, "without missing values"),
        (good, np.load(other, mmap_mode="c"), oc.UsageError, 'of mode "c"'),
        (good, np.memmap(pages, float, "r+", 128, (900, 4)), oc.UsageError, "within one"),
        (good, tmp_path / "m.oc" / "y.npy", oc.UsageError, "within an image"),
        (good, np.empty((900, 4), np.float32), oc.UsageError, "900 x 4 numbers of float64, found 900 x 4 of float32"),
        (good, np.empty((900, 4), ">f8"), oc.UsageError, "numbers of float64, found 900 x 4 of >f8"),
        (good, np.empty((900, 3)), oc.UsageError, "expected out= as 900 x 4 numbers of float64, found 900 x 3"),
        (good, np.empty((900, 4), order="F"), oc.UsageError, "row by row"),
        (good + 1j, np.empty((900, 4)), oc.UsageError, "numbers of complex128"),
        (good, 7, TypeError, "expected out= as a path or a NumPy array, found a int"),
        (good, np.broadcast_to(np.empty(4), (900, 4)), oc.UsageError, "can be written"),
    ):
        with pytest.raises(error, match=message):
            own.multiply(factor, out=to)
    assert not out.exists() and read_only.flags.writeable is False
    shutil.rmtree(pages.parent)
    other.unlink()
    shared = np.lib.format.open_memmap(tmp_path / "both.npy", "w+", np.float64, (1600, 4))
    with pytest.raises(oc.UsageError, match="apart from the factor"):
        own.multiply(shared[:700], out=shared[700:])
    block = np.empty((1600, 4))
    with pytest.raises(oc.UsageError, match="apart from the factor"):
        own.multiply(block[:700], out=block[600:1500])
    for array in (np.ones((700, 2), np.float16), np.array([["x"] * 2] * 700), np.ones((700, 2), np.longdouble)):
        np.save(path, array)
        with pytest.raises(oc.InputError, match="expected numbers: bool, integers"):
            own.multiply(path)
    np.save(path, np.ones((700, 2, 1)))
    with pytest.raises(oc.InputError, match="expected a vector or a matrix"):
        own.multiply(path)
    np.save(path, np.ones((700, 2)))
    os.truncate(path, path.stat().st_size - 1)
    with pytest.raises(oc.InputError, match="bytes for 700 x 2 elements"):
        own.multiply(path)
    path.write_bytes(b"PK\x03\x04 something else")
    with pytest.raises(oc.InputError, match="expected a .npy file"):
        own.multiply(path)
    np.save(path, np.ones((700, 2), np.complex128))
    with pytest.raises(TypeError, match="expected real numbers for the semiring min-plus, found complex128"):
        own.multiply(path, semiring="min-plus")
    assert sorted(os.listdir(tmp_path)) == ["both.npy", "m.oc", "x.npy"]


def test_what_is_not_a_number_stays_one(pair, tmp_path):
    _, own = pair
    factor = np.ones((700, 5))
    factor[3, 1], factor[9, 4] = np.nan, np.inf
    np.save(tmp_path / "x.npy", factor)
    found = own.multiply(tmp_path / "x.npy", out=tmp_path / "y.npy")
    assert np.isnan(found).any() and found.tobytes() == (own @ factor).tobytes()


LIMIT = 32 << 20


@pytest.mark.parametrize("order", ["input", "degree"])
def test_a_factor_and_a_product_of_eight_times_the_limit(tmp_path, order):
    """Two memory maps in columns and rows; the process grows by no more than the limit."""
    size, columns = 1 << 16, 8 * LIMIT // (8 << 16)
    oc.generate("kronecker", scale=16, edge_factor=8, output=tmp_path / "g.oc", memory="1GiB", order=order)
    program = f"""
import numpy as np, outcore as oc, re, sys
def status(field): return int(re.search(field + r":\\\\s+(\\\\d+)", open("/proc/self/status").read())[1]) << 10
A = oc.SparseMatrix("g.oc", memory={LIMIT}, cache=0)
X = np.load("x.npy", mmap_mode="r")
out = np.lib.format.open_memmap("y.npy", "w+", np.float64, X.shape, fortran_order=True)
before = status("VmRSS")
A.multiply(X, out=out)
print(status("VmHWM") - before)
plan = A.explain_multiply(X, out=out)
assert A.stats["passes"] == plan.passes >= 8, plan
assert A.stats["bytes_read"] == plan.passes * plan.bytes_per_pass
assert plan.factor_bytes == A.stats["factor_bytes_read"] == X.nbytes == plan.product_bytes
assert plan.product_bytes == A.stats["product_bytes_written"] >= 8 * {LIMIT}
assert A.stats["temporary_bytes_written"] <= 1.4 * X.nbytes
""".replace("\\\\", "\\")
    factor = np.random.default_rng(6).random((size, columns))
    np.save(tmp_path / "x.npy", np.asfortranarray(factor))
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= LIMIT, int(done.stdout) / 2**20
    with oc.SparseMatrix(tmp_path / "g.oc", memory="1GiB") as matrix:
        assert np.array_equal(np.load(tmp_path / "y.npy"), matrix @ factor)


def test_entries_at_one_place_are_combined_as_asked(tmp_path):
    rows, columns = np.array([0, 0, 1]), np.array([1, 1, 0])
    entries = (rows, columns, np.array([2**62, 2**62, 5]))
    with pytest.raises(oc.OutcoreError, match="duplicates='first'"):
        oc.import_matrix(entries, tmp_path / "m.oc", shape=(2, 2))
    for duplicates, expected in (("first", 2.0**62), ("max", 2.0**62), ("keep", 2.0**63)):
        with oc.import_matrix(entries, tmp_path / "m.oc", shape=(2, 2), duplicates=duplicates, replace=True) as own:
            assert (own @ np.array([0.0, 1.0]))[0] == expected


def test_a_table_of_users_and_items_as_a_matrix(tmp_path):
    """The advice is one that matrices take, and the first entries are counted as the matrix is."""
    table = tmp_path / "ratings.csv"
    table.write_text("userId,movieId,rating\n1,2,3.5\n0,4,5.0\n")
    with pytest.warns(UserWarning, match=r"are one row and column: if they count apart, say bipartite=\."):
        assert oc.import_matrix(table, tmp_path / "square.oc", weight="rating").shape == (4, 4)
    assert oc.import_matrix(table, tmp_path / "apart.oc", weight="rating", bipartite=True).shape == (2, 2)
    assert oc.import_matrix(table, tmp_path / "m.oc", weight="rating", shape=(2, 5)).shape == (2, 5)
    command = [os.environ.get("OUTCORE") or shutil.which("outcore"), "import", table, tmp_path / "n.oc", "--as", "matrix"]
    done = subprocess.run([*command, "--weight", "rating", "--shape", "2x5"], capture_output=True, text=True, check=True)
    shown = done.stdout + done.stderr
    assert "entries      1, 2, weight 3.5" in shown and " 0, 4, weight 5" in shown and "bipartite" not in shown
    done = subprocess.run([*command, "--weight", "rating", "--replace"], capture_output=True, text=True, check=True)
    assert "say --bipartite." in done.stderr + done.stdout
    done = subprocess.run([*command, "--weight", "rating", "--replace", "--bipartite"], capture_output=True, text=True)
    assert done.returncode == 0 and "one row and column" not in done.stderr + done.stdout
    with pytest.warns(UserWarning, match="say bipartite="):
        oc.load_graph(table, weight="rating")
