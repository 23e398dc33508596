"""Sparse matrices on disk beside SciPy's in memory."""

import gc
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas
import pytest
import scipy.io
import scipy.sparse
from conftest import data_folder, shared_graph
from scipy.sparse.linalg import LinearOperator, cg, eigsh, lsqr, svds

import outcore as oc


def random_matrix(size=700, density=0.02, seed=1):
    return scipy.sparse.random_array((size, size), density=density, rng=np.random.default_rng(seed)).tocsr()


@pytest.fixture
def pair(tmp_path):
    """A matrix in memory and the same on disk."""
    matrix = random_matrix()
    with oc.SparseMatrix.from_scipy(matrix, tmp_path / "m.oc") as own:
        yield matrix, own


def test_it_is_a_linear_operator_that_agrees_with_scipy(pair):
    matrix, own = pair
    assert isinstance(own, LinearOperator) and own.shape == matrix.shape and own.dtype == np.float64
    assert own.nnz == matrix.nnz and not own.symmetric
    rng = np.random.default_rng(2)
    for shape in (700,), (700, 1), (700, 5), (700, 64), (700, 0):
        factor = rng.random(shape) - 0.5
        for left, right in ((own @ factor, matrix @ factor), (own.T @ factor, matrix.T @ factor), (own.H @ factor, matrix.T @ factor)):
            assert left.shape == right.shape and left.dtype == right.dtype
            np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose((2 * own - own.T) @ factor, (2 * matrix - matrix.T) @ factor)
    # A vector is computed as the column that it is among others, to the last bit.
    factor = rng.random((700, 5))
    assert np.array_equal(own @ factor[:, 3], (own @ factor)[:, 3])
    assert own.sum() == pytest.approx(matrix.sum())
    for axis in (0, 1):
        np.testing.assert_allclose(own.sum(axis=axis), matrix.sum(axis=axis), rtol=1e-12)
    with pytest.raises(oc.UsageError, match="axis"):
        own.sum(axis=2)
    # What is not float64, or lies otherwise in memory.
    for factor in (np.arange(700), np.ones((700, 3), np.float32, order="F"), np.ones((3, 700)).T, [1] * 700):
        np.testing.assert_allclose(own @ factor, matrix @ np.asarray(factor), rtol=1e-12)
    factor = rng.random((700, 3)) + 1j * rng.random((700, 3))
    np.testing.assert_allclose(own @ factor, matrix @ factor, rtol=1e-12)
    np.testing.assert_allclose(own @ factor[:, 0], matrix @ factor[:, 0], rtol=1e-12)
    np.testing.assert_allclose(own.H @ factor, matrix.T @ factor, rtol=1e-12)


def test_scipys_solvers_take_it(pair, tmp_path):
    matrix, own = pair
    np.testing.assert_allclose(svds(own, k=3, rng=1)[1], svds(matrix, k=3, rng=1)[1], rtol=1e-9)
    right = np.ones(700)
    np.testing.assert_allclose(lsqr(own, right, iter_lim=20)[0], lsqr(matrix, right, iter_lim=20)[0], atol=1e-6)
    positive = matrix + matrix.T + 100 * scipy.sparse.eye_array(700)
    with oc.import_matrix(positive, tmp_path / "p.oc", memory="100MiB") as own:
        np.testing.assert_allclose(eigsh(own, k=4)[0], eigsh(positive, k=4)[0], rtol=1e-10)
        np.testing.assert_allclose(cg(own, right, rtol=1e-10)[0], cg(positive, right, rtol=1e-10)[0], rtol=1e-8)


def test_a_graph_is_a_matrix(site):
    """Rows and columns are vertices in the order of their ids: about, home, lone, news."""
    matrix = oc.SparseMatrix.from_graph(site)
    assert matrix.to_graph() is site and "4 x 4" in repr(matrix)
    assert (matrix @ np.eye(4)).tolist() == [[1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert matrix.multiply(np.eye(4), transposed=True).tolist() == (matrix @ np.eye(4)).T.tolist()
    with pytest.raises(oc.UsageError, match="weights"):
        oc.SparseMatrix(site, values=True)
    with pytest.raises(TypeError, match="memory="):
        oc.SparseMatrix(site, memory="1GiB")
    with pytest.raises(TypeError, match="pickled"):
        import pickle

        pickle.dumps(matrix)
    with matrix:
        pass
    assert len(site) == 4
    site.close()
    with pytest.raises(oc.UsageError, match="closed"):
        matrix @ np.ones(4)


def test_a_matrix_is_copied_as_a_graph(pair, tmp_path):
    matrix, own = pair
    assert own.to_graph() is own.graph
    copy = own.to_graph(tmp_path / "g.oc")
    assert (len(copy), copy.number_of_edges()) == (700, matrix.nnz)
    factor = np.random.default_rng(7).random((700, 2))
    assert (oc.SparseMatrix(copy) @ factor).tobytes() == (own @ factor).tobytes()
    with pytest.raises(oc.UsageError, match="expected a name that is free"):
        own.to_graph(tmp_path / "g.oc")
    with pytest.raises(FileNotFoundError):
        own.to_graph(tmp_path / "none" / "g.oc")
    assert sorted(os.listdir(tmp_path)) == ["g.oc", "m.oc"]


def test_an_undirected_graph_is_a_symmetric_matrix(tmp_path):
    edges = (np.array([0, 1, 4, 2]), np.array([1, 2, 4, 0]), np.array([0.5, 2.0, -3.0, 7.0]))
    oc.import_graph(edges, tmp_path / "g.oc", directed=False)
    matrix = oc.SparseMatrix(tmp_path / "g.oc")
    full = np.array([[0, 0.5, 7, 0], [0.5, 0, 2, 0], [7, 2, 0, 0], [0, 0, 0, -3]])
    assert matrix.symmetric and matrix.nnz == 7
    assert (matrix @ np.eye(4)).tolist() == (matrix.T @ np.eye(4)).tolist() == full.tolist()
    ones = oc.SparseMatrix(tmp_path / "g.oc", values=False)
    assert (ones @ np.eye(4)).tolist() == (full != 0).tolist()


def test_semirings_step_along_edges(site):
    matrix = oc.SparseMatrix(site)
    start = np.array([np.inf, 0, np.inf, np.inf])
    assert matrix.multiply(start, semiring="min-plus", transposed=True).tolist() == [1, np.inf, np.inf, 1]
    assert matrix.multiply([0, 1, 0, 0], semiring="or-and").tolist() == [1, 0, 0, 1]
    assert matrix.multiply([5, 7, 9, 11], semiring="max-times").tolist() == [7, 11, -np.inf, 7]
    assert matrix.multiply(np.zeros((4, 2)), semiring="plus-first").tolist() == [[2, 2], [2, 2], [0, 0], [1, 1]]
    with pytest.raises(oc.UsageError, match="'plus-times'.*'min-max'"):
        matrix.multiply(np.ones(4), semiring="min-max")
    with pytest.raises(TypeError, match="real numbers"):
        matrix.multiply(np.ones(4) * 1j, semiring="min-plus")


def test_shapes_that_do_not_fit_are_both_said(pair):
    _, own = pair
    for factor, found in ((np.ones(3), "found 3"), (np.ones((701, 2)), "701 x 2")):
        with pytest.raises(oc.UsageError, match=f"700 x 700.*{found}"):
            own.multiply(factor)
        with pytest.raises(ValueError):
            own @ factor
    with pytest.raises(TypeError, match="dimensions"):
        own.multiply(np.ones((700, 1, 1)))
    with pytest.raises(TypeError, match="dimensions"):
        own.multiply(3.0)


def test_the_plan_says_passes_and_a_product_makes_them(tmp_path):
    oc.generate("uniform", scale=18, edge_factor=4, output=tmp_path / "u.oc")
    with oc.SparseMatrix(tmp_path / "u.oc", memory="32MiB", threads=2, cache=0) as own:
        for columns in (40, 2**60):
            with pytest.raises(oc.MemoryLimitError, match="product"):
                own.plan(columns)
        plan = own.plan(6)
        assert 2 <= plan.passes == -(-6 // plan.columns_per_pass) and plan.state_bytes + (8 * 6 << 18) < 32 << 20
        factor = np.random.default_rng(1).random((1 << 18, 6))
        product = own @ factor
        assert own.stats["passes"] == plan.passes and own.plan(1).passes == 1
        assert own.stats["pages_read"] * 4096 == own.stats["passes"] * plan.bytes_per_pass
    with oc.SparseMatrix(tmp_path / "u.oc", memory="1GiB") as large:
        assert large.plan(6).passes == 1
        assert np.array_equal(large @ factor, product)
    with oc.SparseMatrix(tmp_path / "u.oc", memory="32MiB") as own, pytest.raises(oc.MemoryLimitError, match="product"):
        own @ np.ones((1 << 18, 16))


@pytest.mark.parametrize("order", ["input", "degree", "near"])
def test_the_order_inside_is_not_seen(tmp_path, order):
    matrix = random_matrix(500, 0.01, 3)
    own = oc.import_matrix(matrix, tmp_path / "m.oc", order=order)
    assert own.graph.order == order
    factor = np.random.default_rng(4).random((500, 3))
    np.testing.assert_allclose(own @ factor, matrix @ factor, rtol=1e-12)


def test_entries_at_one_place_add_up_and_values_can_be_left_out(tmp_path):
    twice = scipy.sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(3, 3))
    assert (oc.import_matrix(twice, tmp_path / "a.oc") @ np.ones(3)).tolist() == [3, 4, 0]
    ones = oc.import_matrix(twice, tmp_path / "b.oc", values=False)
    assert (ones @ np.ones(3)).tolist() == [1, 1, 0]
    bools = scipy.sparse.csr_array(([True, False, True], ([0, 1, 2], [0, 1, 0])), shape=(3, 3))
    assert (oc.import_matrix(bools, tmp_path / "c.oc") @ np.ones(3)).tolist() == [1, 0, 1]
    assert oc.import_graph(bools, tmp_path / "d.oc")["edges"] == 2


def test_entries_in_tables_have_a_shape(tmp_path):
    """A list of entries is what SciPy makes of it, also where the same number is a row and a column."""
    random = np.random.default_rng(6)
    for shape in ((40, 7), (7, 40), (30, 30), (1, 5), (3, 0)):
        count = 0 if 0 in shape else 100
        row, column = (random.integers(0, max(size, 1), count) for size in shape)
        value = random.integers(-9, 9, count) / 4
        expected = scipy.sparse.coo_array((value, (row, column)), shape=shape)
        frame = pandas.DataFrame({"row": row, "column": column, "value": value})
        for ending in ("csv", "parquet"):
            getattr(frame, f"to_{ending}")(tmp_path / f"m.{ending}", index=False)
        inputs = [(row, column, value), frame, tmp_path / "m.parquet", tmp_path / "m.csv"]
        for i, given in enumerate(inputs if count else inputs[:2]):
            own = oc.import_matrix(given, tmp_path / "m.oc", shape=shape, replace=True, memory="256MiB")
            assert own.shape == shape and own.dtype == np.float64, (i, own)
            factor = random.random((shape[1], 3))
            np.testing.assert_allclose(own @ factor, expected @ factor, rtol=1e-12, atol=1e-12)
            factor = random.random(shape[0])
            np.testing.assert_allclose(own.T @ factor, expected.T @ factor, rtol=1e-12, atol=1e-12)
            own.close()
    stars = pandas.DataFrame({"user": [0, 1], "item": [2, 0], "stars": [5, 3], "day": [9, 9]})
    own = oc.import_matrix(stars, tmp_path / "stars.oc", shape=(2, 3), weight="stars")
    assert (own @ np.eye(3)).tolist() == [[0, 0, 5], [3, 0, 0]]
    with pytest.warns(UserWarning, match="`?stars`?.*no weights unless"):
        ones = oc.import_matrix(stars[["user", "item", "stars"]], tmp_path / "ones.oc", shape=(2, 3))
    assert (ones @ np.eye(3)).tolist() == [[0, 0, 1], [1, 0, 0]]
    own = oc.import_matrix(stars, tmp_path / "days.oc", shape=(2, 10), target="day", weight="item", values=False)
    assert (own @ np.eye(10))[:, 9].tolist() == [1, 1]


def test_entries_beyond_a_shape_are_refused_by_row(tmp_path):
    entries = (np.array([0, 4, 1]), np.array([0, 1, 2]), np.array([1.0, 2, 3]))
    for shape, said in (((4, 3), "row 4, column 1"), ((5, 2), "row 1, column 2"), ((4, 4), "row 4, column 1")):
        with pytest.raises(oc.InputError, match=f"indices from 0, below {shape[0]} and {shape[1]}, found {said}"):
            oc.import_matrix(entries, tmp_path / "m.oc", shape=shape)
    with pytest.raises(oc.InputError, match="row -1, column 0"):
        oc.import_matrix((np.array([0, -1]), np.array([0, 0])), tmp_path / "m.oc", shape=(2, 2))
    for shape in (3, [2, 2], (2, 2, 2), (-1, 2), (2.5, 2), "2x2"):
        with pytest.raises(TypeError, match="expected shape= as the numbers of rows and columns"):
            oc.import_matrix(entries, tmp_path / "m.oc", shape=shape)
    (tmp_path / "m.csv").write_text("user,item,value,value\n0,3,1,10\n")
    with pytest.raises(oc.InputError, match="the columns 3 and 4, which have that name"):
        oc.import_matrix(tmp_path / "m.csv", tmp_path / "m.oc", shape=(3, 4))
    with pytest.raises(oc.UsageError, match="ids that are strings"):
        oc.import_matrix([("a", "b")], tmp_path / "m.oc", shape=(2, 2))
    with pytest.raises(TypeError, match="expected a shape only with lists and tables"):
        oc.import_matrix(scipy.sparse.eye_array(2), tmp_path / "m.oc", shape=(2, 2))
    (tmp_path / "m.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n")
    with pytest.raises(oc.UsageError, match="says its size itself"):
        oc.import_matrix(tmp_path / "m.mtx", tmp_path / "m.oc", shape=(2, 2))
    assert not (tmp_path / "m.oc").exists()


def test_what_is_no_matrix_is_refused(tmp_path):
    beyond = scipy.sparse.coo_array(np.eye(3, 4))
    for axis, place, said in ((0, 3, "a row from 0 to below 3.*found 3"), (1, -1, "a column from 0 to below 4.*found -1")):
        broken = beyond.copy()
        broken.coords[axis][1] = place
        with pytest.raises(ValueError, match=said):
            oc.import_matrix(broken, tmp_path / "m.oc")
    with pytest.raises(ValueError, match="two dimensions"):
        oc.import_matrix(scipy.sparse.coo_array([1.0, 0, 2]), tmp_path / "m.oc")
    assert not (tmp_path / "m.oc").exists()
    own = oc.import_matrix(beyond, tmp_path / "m.oc")
    for factor in (np.ones(4, "M8[s]"), ["1", "2", "3", "4"], np.array([None] * 4), np.zeros(4, [("a", "f8")])):
        with pytest.raises(TypeError, match="numbers"):
            own.multiply(factor)
    for factor in (beyond.T, own):
        with pytest.raises(TypeError, match="dense"):
            own.multiply(factor)
    misaligned = np.frombuffer(b"x" + np.ones(4).tobytes(), "u1")[1:].view("f8")
    assert (own @ misaligned).tolist() == [1, 1, 1]


def test_opening_takes_four_bytes_per_vertex(tmp_path):
    """Ids that are adjacent whole numbers are not sorted, whatever the order inside."""
    matrix = scipy.sparse.coo_array((np.ones(2), ([0, 2], [10**6, 5])), shape=(3, 10**6 + 1))
    with oc.import_matrix(matrix, tmp_path / "m.oc", order="degree", memory="27MiB") as own:
        factor = np.random.default_rng(1).random(10**6 + 1)
        np.testing.assert_allclose(own @ factor, matrix @ factor)
    sparse_ids = (np.array([5, 70, 5, 5]), np.array([70, 900, 900, 5]))
    oc.import_graph(sparse_ids, tmp_path / "g.oc", order="degree")
    assert (oc.SparseMatrix(tmp_path / "g.oc") @ np.array([1, 10, 100])).tolist() == [111, 100, 0]


MATRICES = """LFAT5 cover cover_structure empty fidapm05 full full_noheader full_symmetric jagmesh7 karate
ldbc-directed-example matrix_bool matrix_int64 matrix_int8 olm1000 skew_int32 structure west0067 lp_afiro lp_afiro_structure fidapm05_rhs1 bcsstk13 cryg2500 memplus pushpull zenios""".split()


@pytest.mark.parametrize("name", MATRICES)
def test_real_matrices(tmp_path, name):
    if data_folder() is None:
        shared_graph(name)
    folder = data_folder() / "matrices"
    file = next(file for file in (folder / f"{name}.mtx", folder / f"{name}.mtx.zst") if file.exists())
    text = file.read_bytes()
    if file.suffix == ".zst":
        text = subprocess.run(["zstd", "-dc"], input=text, capture_output=True).stdout
    if not text.startswith(b"%%MatrixMarket"):
        layout = b"array" if name == "full_noheader" else b"coordinate"
        text = b"%%MatrixMarket matrix " + layout + b" real general\n" + text
    matrix = scipy.sparse.csr_array(scipy.io.mmread(io.BytesIO(text)))
    factor = np.random.default_rng(1).random((matrix.shape[1], 4))
    if matrix.shape[0] != matrix.shape[1]:
        with pytest.raises(oc.InputError, match="square"):
            oc.import_graph(file, tmp_path / "m.oc")
    with oc.import_matrix(file, tmp_path / "m.oc") as own:
        scale = max(1.0, abs(matrix).max() if matrix.nnz else 0)
        np.testing.assert_allclose(own @ factor, matrix @ factor, rtol=1e-12, atol=1e-11 * scale)
        factor = np.random.default_rng(2).random((matrix.shape[0], 4))
        np.testing.assert_allclose(own.T @ factor, matrix.T @ factor, rtol=1e-12, atol=1e-11 * scale)


@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (400, 30), (30, 400), (0, 5), (5, 0)])
@pytest.mark.parametrize("order", ["auto", "input", "degree"])
def test_rectangular_matrices(tmp_path, shape, order):
    rng = np.random.default_rng(3)
    matrix = scipy.sparse.random_array(shape, density=0.2, rng=rng).tocsr()
    with oc.SparseMatrix.from_scipy(matrix, tmp_path / "m.oc", order=order) as own:
        assert own.shape == shape and own.T.shape == shape[::-1] and own.nnz == matrix.nnz
        assert len(own.graph) == sum(shape) and own.graph.info()["rows"] == shape[0]
        for columns in (1, 6):
            factor, other = rng.random((shape[1], columns)), rng.random((shape[0], columns))
            np.testing.assert_allclose(own @ factor, matrix @ factor, rtol=1e-12)
            np.testing.assert_allclose(own.T @ other, matrix.T @ other, rtol=1e-12)
        own.graph.check()
        own.graph.export(tmp_path / "m.mtx")
        assert (abs(scipy.sparse.csr_array(scipy.io.mmread(tmp_path / "m.mtx")) - matrix)).sum() < 1e-12
    with pytest.raises(ValueError, match="square"):
        oc.import_graph(matrix, tmp_path / "g.oc")
    with pytest.raises(oc.UsageError, match="order"):
        oc.import_matrix(matrix, tmp_path / "g.oc", order="near")
    assert not (tmp_path / "g.oc").exists()


def test_the_shell_imports_matrices(tmp_path):
    scipy.io.mmwrite(tmp_path / "m.mtx", scipy.sparse.coo_array(([1.5, 2.5, 4.0], ([0, 0, 1], [2, 2, 0])), shape=(2, 3)))
    program = os.environ["OUTCORE"]
    run = lambda *arguments: subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    refused = run("import", tmp_path / "m.mtx", tmp_path / "m.oc")
    assert refused.returncode == 5 and "rectangular matrix of 2 x 3" in refused.stderr and "matrix" in refused.stderr
    made = run("import", tmp_path / "m.mtx", tmp_path / "m.oc", "--as", "matrix")
    assert made.returncode == 0 and "2 x 3" in made.stderr, made.stderr
    assert (oc.SparseMatrix(tmp_path / "m.oc") @ np.eye(3)).tolist() == [[0, 0, 4], [4, 0, 0]]
    (tmp_path / "m.csv").write_text("user,item,stars\n0,2,5\n1,0,3\n")
    table = (tmp_path / "m.csv", tmp_path / "t.oc", "--weight", "stars", "--replace")
    made = run("import", *table, "--as", "matrix", "--shape", "2x3")
    assert made.returncode == 0 and "2 x 3" in made.stderr and "one vertex" not in made.stderr, made.stderr
    assert (oc.SparseMatrix(tmp_path / "t.oc") @ np.eye(3)).tolist() == [[0, 0, 5], [3, 0, 0]]
    made = run("import", *table, "--as", "matrix")
    assert made.returncode == 0 and "3 x 3: every id of either column is a row and a column" in made.stderr, made.stderr
    for more, said in ((("--shape", "2x3"), "--as matrix"), (("--shape", "2,3", "--as", "matrix"), "1000x50")):
        refused = run("import", *table, *more)
        assert refused.returncode != 0 and said in refused.stderr, refused


def test_what_scipy_does_not_read(tmp_path):
    if data_folder() is None:
        shared_graph("west0067.mtx")
    folder = data_folder() / "matrices"
    plain, jumbled = (oc.import_matrix(folder / name, tmp_path / f"{name}.oc") for name in ("west0067.mtx", "west0067_jumbled.mtx"))
    assert np.array_equal(plain @ np.eye(67), jumbled @ np.eye(67))
    with pytest.raises(oc.InputError, match="skew_fp64.mtx:4: .*finite.*inf"):
        oc.import_matrix(folder / "skew_fp64.mtx", tmp_path / "s.oc")


def test_without_scipy_graphs_work_and_matrices_say_what_is_missing():
    program = "import sys; sys.modules['scipy'] = None; import outcore as oc; oc.Graph; oc.SparseMatrix"
    failed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert failed.returncode == 1 and "scipy" in failed.stderr.splitlines()[-1]
    with pytest.raises(AttributeError, match="DenseMatrix"):
        oc.DenseMatrix
    assert {"SparseMatrix", "import_matrix", "Graph", "linalg", "ml"} <= set(dir(oc))
    program = "import sys; sys.modules |= {'scipy': None, 'sklearn': None}; import inspect, outcore as oc"
    program += "; print(*(name for name, _ in inspect.getmembers(oc)))"
    listed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"Graph", "array"} <= set(listed)
    assert not {"SparseMatrix", "import_matrix", "linalg", "ml"} & set(listed)
    loaded = subprocess.run(
        [sys.executable, "-c", "import outcore, sys; print('scipy' in sys.modules)"], capture_output=True, text=True
    )
    assert loaded.stdout == "False\n"
    assert pathlib.Path(oc.__file__).exists()


@pytest.mark.parametrize("shape", [(700, 700), (300, 900), (900, 20), (1, 1)])
@pytest.mark.parametrize("kind", [np.float64, np.complex128])
def test_diagonals_are_scipys(tmp_path, shape, kind):
    rng = np.random.default_rng(7)
    matrix = scipy.sparse.random_array(shape, density=0.05, rng=rng).tolil().astype(kind)
    for i in range(0, min(shape), 2):
        matrix[i, i] = (i + 1.5) * (1 - 2j if kind == np.complex128 else 1)
    matrix = scipy.sparse.csr_array(matrix)
    for order in ("input", "degree"):
        with oc.import_matrix(matrix, tmp_path / "m.oc", order=order, replace=True) as own:
            found = own.diagonal()
            assert found.dtype == kind and np.array_equal(found, matrix.diagonal()) and own.stats["passes"] <= 1
            np.testing.assert_allclose(own.trace(), matrix.trace(), rtol=1e-13)
    with oc.SparseMatrix(tmp_path / "m.oc", values=False) as ones:
        assert np.array_equal(ones.diagonal(), (matrix.diagonal() != 0).astype(float))


def test_a_diagonal_counts_under_the_limit_as_long_as_it_lives(tmp_path):
    size = 1_000_000
    oc.import_matrix(scipy.sparse.diags_array(np.arange(1.0, size + 1)), tmp_path / "m.oc").close()
    runtime = oc.Runtime(memory="36MiB")
    with oc.SparseMatrix(tmp_path / "m.oc", runtime=runtime) as own:
        before = runtime.available
        diagonal = own.diagonal()
        assert runtime.available <= before - 8 * size and diagonal[-1] == size
        with pytest.raises(oc.MemoryLimitError, match="a diagonal as a NumPy array"):
            [own.diagonal() for _ in range(5)]
        del diagonal
        gc.collect()
        assert runtime.available >= before - size


@pytest.mark.parametrize("kind", ["general", "wide", "symmetric", "complex"])
def test_rows_and_columns_are_those_of_numpy(tmp_path, kind):
    rng = np.random.default_rng(5)
    matrix = scipy.sparse.random_array((7, 12) if kind == "wide" else (9, 9), density=0.4, rng=rng)
    matrix = matrix + matrix.T if kind == "symmetric" else matrix * (1 + 2j) if kind == "complex" else matrix
    dense = matrix.toarray()
    A = oc.import_matrix(matrix.tocsr(), tmp_path / "m.oc")
    np.testing.assert_allclose(A.toarray(), dense, rtol=1e-14)
    m, n = dense.shape
    mask, few = np.arange(n) % 3 == 0, np.array([2, 0, 2])
    for key in (5, -1, slice(1, 4), few, [1, -2], (slice(None), few), (slice(None), 3), (4, 3), (few, 3), (3, few),
                (slice(None), mask), (slice(None, None, -2), slice(2, 8)), [], (slice(0, 0), [1])):  # fmt: skip
        found = A[key]
        np.testing.assert_allclose(found, dense[key], rtol=1e-14)
        assert np.shape(found) == dense[key].shape and found.dtype == dense.dtype
    np.testing.assert_allclose(A[few, [0, 5]], dense[np.ix_(few, [0, 5])])
    for key in (m, (0, n), -m - 1, 0.5, (0, 0, 0), [[0]], (slice(None), np.ones(3, bool))):
        with pytest.raises(IndexError):
            A[key]


def test_values_are_those_of_an_attribute(tmp_path):
    frame = pandas.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0], "weight": [1, 2, 3], "hours": [0.5, 1.5, 2.5]})
    frame["kind"] = ["a", "b", "c"]
    oc.import_graph(frame, tmp_path / "g.oc", attributes=True)
    for values, total in (("hours", 4.5), ("weight", 6.0), (None, 6.0), (False, 3.0)):
        with oc.SparseMatrix(tmp_path / "g.oc", values=values) as A:
            assert A.sum() == total
    with pytest.raises(oc.UsageError, match="values='days': there is no such attribute of edges; there are weight, hours"):
        oc.SparseMatrix(tmp_path / "g.oc", values="days")
    with pytest.raises(oc.UsageError, match="no finite number"):
        oc.SparseMatrix(tmp_path / "g.oc", values="kind")


def test_entries_of_text_are_chosen_as_edges_are(tmp_path):
    (tmp_path / "m.csv").write_text("user;item;stars\n0;2;5\n1;0;3\n;1;4\n1;0;1\n// the end\n")
    options = {"source": "user", "target": "item", "weight": "stars", "shape": (2, 3), "replace": True}
    options |= {"delimiter": "semicolon", "header": True, "nulls": "skip", "comment": "//"}
    for more, expected in (
        ({}, [[0, 0, 5], [4, 0, 0]]),
        ({"where": "stars >= 3"}, [[0, 0, 5], [3, 0, 0]]),
        ({"where": ("stars", "<", 5), "duplicates": "last"}, [[0, 0, 0], [1, 0, 0]]),
    ):
        with pytest.warns(UserWarning):
            A = oc.import_matrix(tmp_path / "m.csv", tmp_path / "m.oc", **(options | more))
        assert A.toarray().tolist() == expected


def test_users_and_items_have_rows_and_columns_of_their_own(tmp_path):
    """Ids with gaps, or strings, are rows and columns without more of them than there are ids."""
    frame = pandas.DataFrame({"user": ["bo", "ann", "bo", "bo"], "item": [193609, 7, 7, 193609], "stars": [5.0, 2.0, 1.0, 0.5]})
    options = {"bipartite": True, "weight": "stars", "replace": True}
    dense = [[0, 2.0], [5.5, 1.0]]
    frame.to_csv(tmp_path / "m.csv", index=False)
    for given in (frame.astype({"item": str}), tmp_path / "m.csv"):
        with oc.import_matrix(given, tmp_path / "m.oc", **options) as R:
            assert R.shape == (2, 2) and R.nnz == 3
            assert (R.row_ids, R.column_ids) == (["ann", "bo"], ["193609", "7"])
            np.testing.assert_array_equal(R.toarray(), dense)
            np.testing.assert_array_equal(R[R.row_ids.index("bo")], dense[1])
            np.testing.assert_array_equal(R[:, [R.column_ids.index("7")]], [[2.0], [1.0]])
            np.testing.assert_array_equal(R.T @ [1.0, 10.0], [55.0, 12.0])
    with oc.SparseMatrix(tmp_path / "m.oc") as R:
        assert R.row_ids == ["ann", "bo"]
    numbers = [(40, 7, 1.0), (3, 5, 2.0), (40, 5, 3.0)]
    with oc.import_matrix(numbers, tmp_path / "n.oc", bipartite=True) as R:
        assert (R.row_ids, R.column_ids) == ([3, 40], [5, 7])
        np.testing.assert_array_equal(R.toarray(), [[2.0, 0], [3.0, 1.0]])
    chosen = {"where": "stars >= 1", "duplicates": "last"}
    with oc.import_matrix(tmp_path / "m.csv", tmp_path / "m.oc", **options, **chosen) as R:
        np.testing.assert_array_equal(R.toarray(), [[0, 2.0], [5.0, 1.0]])
    with pytest.raises(TypeError, match="found both"):
        oc.import_matrix(frame, tmp_path / "m.oc", shape=(2, 2), **options)
    with pytest.raises(TypeError, match="apart already"):
        oc.import_matrix(scipy.sparse.eye_array(2), tmp_path / "m.oc", bipartite=True, replace=True)


def test_ids_of_matrices_without_two_sides(tmp_path):
    edges = [("b", "a", 1.0), ("c", "b", 2.0)]
    oc.import_graph(edges, tmp_path / "g.oc", order="degree")
    with oc.SparseMatrix(tmp_path / "g.oc") as A:
        assert A.row_ids == A.column_ids == ["a", "b", "c"]
    with oc.import_matrix(scipy.sparse.csr_array([[1.0, 0, 2.0]]), tmp_path / "w.oc") as W:
        assert (W.row_ids, W.column_ids) == ([0], [0, 1, 2])


def test_the_shell_makes_matrices_under_ids(tmp_path):
    (tmp_path / "m.csv").write_text("user,item,stars\nbo,Heat,5\nann,Dune,2\nbo,Dune,1\n")
    command = [os.environ.get("OUTCORE") or shutil.which("outcore")]
    image = tmp_path / "m.oc"
    options = ["--as", "matrix", "--bipartite", "--weight", "stars"]
    subprocess.run([*command, "import", tmp_path / "m.csv", image, *options], check=True, capture_output=True)
    shown = subprocess.run([*command, "info", image], check=True, capture_output=True, text=True).stdout
    assert re.search(r"^rows +2$", shown, re.M) and re.search(r"^columns +2$", shown, re.M)
    subprocess.run([*command, "check", image], check=True, capture_output=True)
    with oc.SparseMatrix(image) as R:
        assert (R.row_ids, R.column_ids, R.toarray().tolist()) == (["ann", "bo"], ["Dune", "Heat"], [[2, 0], [1, 5]])
    named = subprocess.run(
        [*command, "import", tmp_path / "m.csv", image, "--as", "matrix", "--bipartite=u:,i:", "--replace"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert named.returncode == 2 and "expected no prefixes for a matrix" in named.stderr


def test_an_array_that_may_be_a_matrix_or_its_entries_is_refused(tmp_path):
    for array in (np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]]), np.eye(2, dtype=int), np.eye(3), np.eye(5)):
        with pytest.raises(oc.UsageError, match=r"csr_array\(matrix\) .* or shape= beside rows"):
            oc.import_matrix(array, tmp_path / "d.oc")
        found = oc.import_matrix(scipy.sparse.csr_array(array), tmp_path / "d.oc", replace=True)
        assert np.array_equal(found.toarray(), array)
    found = oc.import_matrix(np.array([[0, 1, 4], [2, 0, 3]]), tmp_path / "e.oc", shape=(3, 2))
    assert np.array_equal(found.toarray(), [[0, 4], [0, 0], [3, 0]])
