"""Complex sparse matrices on disk beside SciPy's in memory."""

import json
import os
import subprocess

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from conftest import data_folder
from scipy.sparse.linalg import LinearOperator, eigsh, gmres

import outcore as oc


def random_matrix(shape=(700, 700), density=0.02, seed=1):
    rng = np.random.default_rng(seed)
    parts = [scipy.sparse.random_array(shape, density=density, rng=rng).tocsr() for _ in range(2)]
    return (parts[0] + 1j * parts[1]).tocsr()


def factors(size, seed=2):
    """Real and complex ones of any shape."""
    rng = np.random.default_rng(seed)
    for shape in (size,), (size, 1), (size, 5), (size, 40), (size, 0):
        yield rng.random(shape) - 0.5
        yield rng.random(shape) - 1j * rng.random(shape)


def compare(own, matrix):
    """All products of both."""
    matrix = matrix.astype(np.complex128)
    assert own.shape == matrix.shape and own.dtype == np.complex128
    for operand, expected in ((own, matrix), (own.T, matrix.T), (own.H, matrix.conj().T)):
        for factor in factors(operand.shape[1]):
            left, right = operand @ factor, expected @ factor
            assert left.shape == right.shape and left.dtype == right.dtype == np.complex128
            np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(own.sum(), matrix.sum(), rtol=1e-12, atol=1e-12)
    for axis in (0, 1):
        np.testing.assert_allclose(own.sum(axis=axis), np.ravel(matrix.sum(axis=axis)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(700, 700), (300, 900), (900, 20), (1, 1)])
def test_products_are_scipys(tmp_path, shape):
    matrix = random_matrix(shape, 0.02 if shape != (1, 1) else 1)
    with oc.import_matrix(matrix, tmp_path / "m.oc") as own:
        assert isinstance(own, LinearOperator) and own.nnz == matrix.nnz and not own.symmetric
        compare(own, matrix)
        factor = np.random.default_rng(3).random((shape[1], 5)) * (1 + 2j)
        # A vector is computed as the column that it is among others, to the last bit.
        assert np.array_equal(own @ factor[:, 3], (own @ factor)[:, 3])
        np.testing.assert_allclose(own.multiply(np.conj(own @ factor), transposed=True), np.conj(own.H @ (own @ factor)))
        np.testing.assert_allclose((2j * own) @ factor, 2j * (matrix @ factor), rtol=1e-12)
    with oc.SparseMatrix(tmp_path / "m.oc", values=False) as ones:
        assert ones.dtype == np.float64 and ones.sum() == matrix.nnz


@pytest.mark.parametrize("form", ["coo", "csr", "csc", "bsr", "lil", "dok", "dia"])
def test_matrices_of_any_format_and_width_are_taken(tmp_path, form):
    matrix = random_matrix((60, 60), 0.1).asformat(form)
    for kind in (np.complex64, np.complex128, np.clongdouble)[: 2 if form == "bsr" else 3]:
        own = oc.SparseMatrix.from_scipy(matrix.astype(kind), tmp_path / f"{np.dtype(kind)}.oc")
        np.testing.assert_allclose(own @ np.eye(60), matrix.astype(kind).toarray().astype(np.complex128))


def test_entries_add_up_zeros_stay_and_nothing_is_a_matrix(tmp_path):
    rows, columns, data = [0, 1, 1, 0, 2], [1, 2, 2, 1, 2], [1 + 1j, 2, 3j, -1 - 1j, 0]
    matrix = scipy.sparse.coo_array((np.array(data), (rows, columns)), shape=(3, 3))
    own = oc.import_matrix(matrix, tmp_path / "m.oc")
    assert own.nnz == 3
    np.testing.assert_array_equal(own @ np.eye(3), matrix.toarray())
    arrays = (np.array(rows), np.array(columns), np.array(data))
    np.testing.assert_array_equal(oc.import_matrix(arrays, tmp_path / "a.oc") @ np.eye(3), matrix.toarray())
    for shape in (0, 0), (3, 0), (0, 4), (5, 5), (2, 7):
        with oc.import_matrix(scipy.sparse.csr_array(shape, dtype=complex), tmp_path / "e.oc", replace=True) as own:
            assert own.nnz == 0 and own.sum() == 0 and own.dtype == np.complex128
            np.testing.assert_array_equal(own @ np.ones(shape[1]), np.zeros(shape[0], complex))


def test_solvers_take_it(tmp_path):
    matrix = random_matrix((200, 200), 0.05)
    hermitian = (matrix + matrix.conj().T).tocsr()
    own = oc.import_matrix(hermitian, tmp_path / "h.oc")
    np.testing.assert_allclose(np.sort(eigsh(own, k=4)[0]), np.sort(eigsh(hermitian, k=4)[0]), rtol=1e-9)
    matrix = (matrix + 20 * scipy.sparse.eye_array(200)).tocsr()
    own = oc.import_matrix(matrix, tmp_path / "m.oc")
    right = np.arange(200) * (1 - 1j)
    solution, failed = gmres(own, right, rtol=1e-10)
    assert failed == 0
    np.testing.assert_allclose(matrix @ solution, right, rtol=1e-7, atol=1e-6)


def read(path):
    found = scipy.io.mmread(path)
    return found if scipy.sparse.issparse(found) else scipy.sparse.coo_array(found)


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "hermitian", "skew-symmetric"])
@pytest.mark.parametrize("layout", ["coordinate", "array"])
def test_files_are_read_as_scipy_reads_them(tmp_path, symmetry, layout):
    matrix = random_matrix((80, 80), 0.1)
    mirrored = {"symmetric": matrix.T, "hermitian": matrix.conj().T, "skew-symmetric": -matrix.T}.get(symmetry)
    matrix = matrix if mirrored is None else matrix + mirrored
    if symmetry == "skew-symmetric":
        matrix.setdiag(0)
        matrix.eliminate_zeros()
    path = tmp_path / "m.mtx"
    scipy.io.mmwrite(path, matrix if layout == "coordinate" else matrix.toarray(), symmetry=symmetry)
    assert f"{layout} complex {symmetry}" in path.read_text().splitlines()[0]
    with oc.import_matrix(path, tmp_path / "m.oc") as own:
        assert own.symmetric == (symmetry == "symmetric")
        compare(own, read(path).tocsr())


def test_shared_matrices_are_read_as_scipy_reads_them(tmp_path):
    if data_folder() is None:
        pytest.skip("the shared data is absent: its matrices were not compared (OUTCORE_DATA says where it is)")
    paths = [path for path in sorted((data_folder() / "matrices").glob("*.mtx")) if b"complex" in path.open("rb").readline()]
    assert len(paths) > 0
    for path in paths:
        with oc.import_matrix(path, tmp_path / f"{path.stem}.oc") as own:
            compare(own, read(path).tocsr())


def shell(*arguments):
    command = os.environ.get("OUTCORE", "outcore")
    return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize("shape", [(300, 300), (40, 500)])
def test_the_shell_imports_checks_and_exports_it(tmp_path, shape):
    matrix = random_matrix(shape)
    file, image, again = tmp_path / "m.mtx", tmp_path / "m.oc", tmp_path / "again.mtx"
    scipy.io.mmwrite(file, matrix)
    done = shell("import", file, image, "--as", "matrix")
    assert done.returncode == 0 and "complex numbers" in done.stderr, done.stderr
    assert shell("check", image).returncode == 0
    facts = json.loads(shell("info", "--json", image).stdout)["result"]
    assert facts["weight_type"] == "complex" and facts["edges"] == matrix.nnz
    assert "complex" in shell("info", image).stdout
    assert shell("export", image, again).returncode == 0
    assert again.read_text().startswith("%%MatrixMarket matrix coordinate complex general\n")
    assert abs(scipy.io.mmread(again) - matrix).max() == 0
    # The standard input is read once, as for real values.
    piped = tmp_path / "piped.oc"
    import_ = ["import", "--quiet", "--as", "matrix", "--format", "matrix-market", "-", piped]
    with file.open() as text:
        subprocess.run([os.environ.get("OUTCORE", "outcore"), *map(str, import_)], stdin=text, check=True)
    assert oc.SparseMatrix(piped).sum() == oc.SparseMatrix(image).sum()
    # A graph has no complex weights.
    for refused in (("import", file, tmp_path / "g.oc"), ("export", image, tmp_path / "m.csv")):
        done = shell(*refused)
        assert done.returncode != 0 and "complex" in done.stderr and not (tmp_path / "g.oc").exists()
    done = shell("run", "sssp", image, "--source", "1", "--weight", "value")
    assert done.returncode != 0 and "complex" in done.stderr


def test_limits_change_nothing_but_passes(tmp_path):
    matrix = random_matrix((60_000, 60_000), 8e-5)
    path = tmp_path / "m.mtx"
    scipy.io.mmwrite(path, matrix)
    images = []
    for name, limits in (("one", {"memory": "24MiB", "threads": 1}), ("other", {"memory": "1GiB", "threads": 3})):
        oc.import_matrix(path, tmp_path / name, order="degree", **limits).close()
        images.append({file.name: file.read_bytes() for file in (tmp_path / name / "edges").iterdir()})
    assert images[0] == images[1] and len(images[0]) == 10
    factor = np.random.default_rng(4).random((60_000, 40)) * (1 + 1j)
    products = []
    for memory, most in (("64MiB", 8), ("1GiB", 16)):
        with oc.SparseMatrix(tmp_path / "one", memory=memory) as own:
            plan = own.plan(40)
            assert plan.columns_per_pass <= most and plan.passes == -(-40 // plan.columns_per_pass)
            products.append(own @ factor)
            assert 0 < own.stats["bytes_read"] <= plan.passes * plan.bytes_per_pass
    assert np.array_equal(*products)
    np.testing.assert_allclose(products[0], matrix @ factor, rtol=1e-10)
    with oc.SparseMatrix(tmp_path / "one", memory="24MiB") as own:
        with pytest.raises(oc.MemoryLimitError):
            own @ np.ones((60_000, 40), complex)


def test_what_complex_values_have_not_is_refused(tmp_path):
    matrix = random_matrix((30, 30), 0.2)
    own = oc.import_matrix(matrix, tmp_path / "m.oc")
    for semiring in ("min-plus", "or-and", "max-times", "plus-first"):
        with pytest.raises(TypeError, match="complex"):
            own.multiply(np.ones(30), semiring=semiring)
    for given in (matrix, (np.arange(3), np.arange(3), np.ones(3, complex))):
        with pytest.raises(TypeError, match="complex"):
            oc.import_graph(given, tmp_path / "g.oc")
    for wrong in (np.nan, np.inf * 1j, complex(1, np.nan)):
        broken = matrix.tocoo()
        broken.data[7] = wrong
        with pytest.raises(oc.InputError, match="row 7"):
            oc.import_matrix(broken, tmp_path / "g.oc")
    with pytest.raises(oc.UsageError, match="30 rows"):
        own.multiply(np.ones(31, complex), transposed=True)
    # Algorithms see a graph without weights.
    graph = own.to_graph()
    assert graph.info()["weight_type"] == "complex"
    assert oc.pagerank(graph).stats["weights"] is None
    with pytest.raises(oc.OutcoreError, match="complex"):
        oc.sssp(graph, source=0, weight="value")
    assert not (tmp_path / "g.oc").exists()
