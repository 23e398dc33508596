"""Eigenvalues of Hermitian matrices beside SciPy's, LAPACK's and closed forms."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from conftest import data_folder
from scipy.sparse.linalg import eigsh

import outcore as oc


def hermitian(size=1500, seed=1, density=0.004):
    rng = np.random.default_rng(seed)
    parts = [scipy.sparse.random_array((size, size), density=density, rng=rng).tocsr() for _ in range(2)]
    half = parts[0] + 1j * parts[1]
    return (half + half.conj().T).tocsr()


def agree(result, matrix, values, scale):
    """Checks eigenpairs of a matrix whose greatest eigenvalue is so large."""
    (own, vectors), tolerance = result, 1e-11
    assert own.dtype == np.float64 and vectors.dtype == np.complex128
    np.testing.assert_allclose(own, np.sort(values), atol=tolerance * scale)
    np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(len(own)), atol=1e-12)
    residuals = np.linalg.norm(matrix @ vectors - vectors * own, axis=0)
    assert residuals.max() <= tolerance * scale
    np.testing.assert_allclose(residuals, result.residuals, atol=1e-13 * scale)


@pytest.mark.parametrize("which", ["LM", "LA", "SA"])
@pytest.mark.parametrize("order", ["degree", "input"])
def test_eigenvalues_are_scipys(tmp_path, which, order):
    matrix = hermitian()
    with oc.import_matrix(matrix, tmp_path / "m.oc", order=order) as own:
        for k, block in ((1, 1), (6, 2), (9, 4)):
            result = oc.linalg.eigsh(own, k, which=which, block=block)
            agree(result, matrix, eigsh(matrix, k, which=which, rng=1)[0], 8)
            assert result.products > k and result.stats["cache_hits"] > 0 and result.restarts >= 0
        assert np.array_equal(
            oc.linalg.eigsh(own, 9, which=which, block=4, return_eigenvectors=False), result.eigenvalues
        )
        assert oc.linalg.eigsh(own, 6, which=which, tol=1e-4).products < oc.linalg.eigsh(own, 6, which=which).products


def test_closed_forms(tmp_path):
    # The Laplacian of a cycle with a magnetic flux; for none every value but two is there twice.
    size = 450
    for flux in (0.0, 0.7, np.pi):
        step = np.exp(1j * flux / size)
        turn = scipy.sparse.diags_array([step, step], offsets=[1, 1 - size], shape=(size, size))
        matrix = (2 * scipy.sparse.eye_array(size) - turn - turn.conj().T).tocsr()
        known = np.sort(2 - 2 * np.cos((2 * np.pi * np.arange(size) + flux) / size))
        own = oc.import_matrix(matrix, tmp_path / "m.oc", replace=True)
        agree(oc.linalg.eigsh(own, 6, which="SA"), matrix, known[:6], 4)
        agree(oc.linalg.eigsh(own, 6, which="LA"), matrix, known[-6:], 4)
    # A Hermitian circulant.
    first = np.zeros(500, complex)
    first[[0, 1, 7]] = 1.5, 2 - 1j, 0.5j
    first[[-1, -7]] = first[[1, 7]].conj()
    rows, steps = np.arange(500), np.flatnonzero(first)
    entries = [(np.full(500, first[step]), ((rows + step) % 500, rows)) for step in steps]
    matrix = sum(scipy.sparse.coo_array(entry, shape=(500, 500)) for entry in entries).tocsr()
    known = np.sort(np.fft.fft(first).real)
    agree(oc.linalg.eigsh(oc.import_matrix(matrix, tmp_path / "c.oc"), 8, which="LA"), matrix, known[-8:], 8)


def test_as_many_products_as_for_a_real_matrix_of_the_same_spectrum(tmp_path):
    rng = np.random.default_rng(4)
    half = scipy.sparse.random_array((3000, 3000), density=0.003, rng=rng).tocsr()
    real = (half + half.T).tocsr()
    units = scipy.sparse.diags_array(np.exp(2j * np.pi * rng.random(3000)))
    turned = (units @ real @ units.conj()).tocsr()
    one, other = oc.import_matrix(real, tmp_path / "r.oc"), oc.import_matrix(turned, tmp_path / "c.oc")
    for which in ("LA", "SA"):
        expected, found = (oc.linalg.eigsh(matrix, 6, which=which, tol=1e-10) for matrix in (one, other))
        np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-8)
        assert found.products <= 1.2 * expected.products, (found.products, expected.products)


def test_vectors_may_go_to_an_array_and_count_under_the_limit_otherwise(tmp_path):
    size = 200_000
    # Stars, whose eigenvalues stand apart.
    sizes = (20_000 * 0.9 ** np.arange(24)).astype(int)
    centers = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    leaves = np.setdiff1d(np.arange(size), centers)
    sources = np.resize(np.repeat(centers, sizes)[: len(leaves)], len(leaves))
    half = scipy.sparse.coo_array((np.exp(1j * np.arange(len(leaves))), (sources, leaves)), shape=(size, size))
    matrix = (half + half.conj().T).tocsr()
    oc.import_matrix(matrix, tmp_path / "m.oc", memory="1GiB").close()
    out = np.lib.format.open_memmap(tmp_path / "v.npy", mode="w+", dtype=np.complex128, shape=(size, 12))
    # 38 MB of vectors, and 256 MB of a subspace.
    with oc.SparseMatrix(tmp_path / "m.oc", memory="48MiB") as own:
        with pytest.raises(oc.MemoryLimitError, match="vectors as a NumPy array"):
            oc.linalg.eigsh(own, 12, which="LA", tol=1e-6, ncv=80)
        result = oc.linalg.eigsh(own, 12, which="LA", tol=1e-6, ncv=80, out=out)
    assert result.eigenvectors is out
    with oc.SparseMatrix(tmp_path / "m.oc", memory="1GiB", threads=1) as own:
        again = oc.linalg.eigsh(own, 12, which="LA", tol=1e-6, ncv=80)
        assert np.array_equal(again.eigenvalues, result.eigenvalues) and np.array_equal(again.eigenvectors, out)
        for wrong in (np.zeros((size, 2), complex), np.zeros((size, 3)), np.zeros((3, size), complex).T):
            with pytest.raises(oc.UsageError, match="numbers of complex128"):
                oc.linalg.eigsh(own, 3, out=wrong)
    assert np.linalg.norm(matrix @ out - out * result.eigenvalues, axis=0).max() < 1e-4


def test_matrices_with_little_in_them(tmp_path):
    for size in (1, 2, 40, 300):
        k = min(size, 3)
        zero = oc.import_matrix(scipy.sparse.csr_array((size, size), dtype=complex), tmp_path / "z.oc", replace=True)
        agree(oc.linalg.eigsh(zero, k), np.zeros((size, size)), np.zeros(k), 1)
        # Repeated values, all of them; and real numbers that are stored as complex ones.
        unit = scipy.sparse.eye_array(size).tocsr() * (3 + 0j)
        agree(oc.linalg.eigsh(oc.import_matrix(unit, tmp_path / "u.oc", replace=True), k), unit, np.full(k, 3.0), 3)
        real = scipy.sparse.diags_array(np.arange(size) + 0j).tocsr()
        own = oc.import_matrix(real, tmp_path / "d.oc", replace=True)
        agree(oc.linalg.eigsh(own, k), real, np.arange(size)[-k:], size)
        # All of few.
        if size <= 40:
            matrix = hermitian(size, 5, 0.5)
            own = oc.import_matrix(matrix, tmp_path / "a.oc", replace=True)
            agree(oc.linalg.eigsh(own, size), matrix, np.linalg.eigvalsh(matrix.toarray()), 30)


def test_what_cannot_be_is_refused(tmp_path):
    matrix = hermitian(400)
    skew = matrix.copy()
    skew.setdiag(1j)
    for wrong in (skew, (1j * matrix).tocsr(), (matrix + matrix.T * 0.001j).tocsr()):
        with oc.import_matrix(wrong, tmp_path / "w.oc", replace=True) as own:
            with pytest.raises(oc.UsageError, match="expected a Hermitian matrix"):
                oc.linalg.eigsh(own, 3)
    with oc.import_matrix(matrix, tmp_path / "m.oc") as own:
        for options, text in (
            ({"block": 8}, "1, 2 or 4 complex columns"),
            ({"k": 401}, "expected k from 1 to 400"),
            ({"which": "SM"}, "SM"),
            ({"ncv": 4}, "expected ncv of at least"),
        ):
            with pytest.raises(oc.UsageError, match=text):
                oc.linalg.eigsh(own, **options)
        with pytest.raises(oc.ConvergenceError, match=r"\d of 8 pairs converged") as caught:
            oc.linalg.eigsh(own, 8, ncv=16, maxiter=1)
        values, vectors = caught.value.result
        assert len(values) == 8 and vectors.shape == (400, 8) and vectors.dtype == np.complex128
        # Without its values it is a real matrix.
        with oc.SparseMatrix(tmp_path / "m.oc", values=False) as ones:
            assert oc.linalg.eigsh(ones, 2).eigenvectors.dtype == np.float64
    with oc.import_matrix(scipy.sparse.csr_array((3, 5), dtype=complex), tmp_path / "r.oc") as own:
        with pytest.raises(oc.UsageError, match="expected a square matrix"):
            oc.linalg.eigsh(own, 1)


def test_real_files(tmp_path):
    """Hermitian files of Matrix Market, whose entries are those of real, unsymmetric matrices."""
    folder = data_folder()
    if folder is None:
        pytest.skip("the shared data is absent: real matrices were not compared (OUTCORE_DATA says where it is)")
    compared = 0
    for file in sorted((folder / "matrices").glob("*.mtx*")):
        try:
            matrix = scipy.io.mmread(file)
        except Exception:
            continue
        if not scipy.sparse.issparse(matrix) or np.iscomplexobj(matrix) or matrix.shape[0] != matrix.shape[1]:
            continue
        if not 8 <= matrix.shape[0] <= 1500 or not np.isfinite(matrix.data).all():
            continue
        matrix = matrix.astype(float).tocsr()
        if abs(matrix - matrix.T).max() == 0:
            continue
        # The parts of a matrix that are symmetric and skew-symmetric.
        matrix = ((matrix + matrix.T) / 2 + 0.5j * (matrix - matrix.T)).tocoo()
        scipy.io.mmwrite(tmp_path / "m.mtx", matrix, symmetry="hermitian", precision=17)
        assert "hermitian" in (tmp_path / "m.mtx").read_text()[:80]
        matrix = matrix.tocsr()
        values = np.linalg.eigvalsh(matrix.toarray())
        scale = np.abs(values).max()
        with oc.import_matrix(tmp_path / "m.mtx", tmp_path / "m.oc", replace=True) as own:
            agree(oc.linalg.eigsh(own, 4, which="LA"), matrix, values[-4:], scale)
            agree(oc.linalg.eigsh(own, 4, which="SA"), matrix, values[:4], scale)
        compared += 1
    assert compared > 3
