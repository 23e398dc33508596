"""Eigenvalues and singular values beside SciPy's."""

import inspect
import pickle
import subprocess
import sys
import time
import typing

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from conftest import data_folder
from scipy.sparse.linalg import eigsh, svds

import outcore as oc
from outcore import _outcore


def symmetric(size=1500, seed=1):
    matrix = scipy.sparse.random_array((size, size), density=0.004, rng=np.random.default_rng(seed)).tocsr()
    return (matrix + matrix.T).tocsr()


def agree(result, matrix, values, scale):
    """Checks eigenpairs of a matrix whose greatest eigenvalue is so large."""
    (own, vectors), tolerance = result, 1e-11
    np.testing.assert_allclose(own, np.sort(values), atol=tolerance * scale)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(own)), atol=1e-12)
    residuals = np.linalg.norm(matrix @ vectors - vectors * own, axis=0)
    assert residuals.max() <= tolerance * scale
    np.testing.assert_allclose(residuals, result.residuals, atol=1e-13 * scale)


@pytest.mark.parametrize("which", ["LM", "LA", "SA"])
def test_eigenvalues_are_scipys(tmp_path, which):
    matrix = symmetric()
    with oc.SparseMatrix.from_scipy(matrix, tmp_path / "m.oc") as own:
        for k in (1, 6, 9):
            result = oc.linalg.eigsh(own, k, which=which)
            agree(result, matrix, eigsh(matrix, k, which=which, rng=1)[0], 7)
            assert result.products > k and result.stats["cache_hits"] > 0 and result.restarts >= 0
            assert np.array_equal(oc.linalg.eigsh(own, k, which=which, return_eigenvectors=False), result.eigenvalues)
        # Looser is cheaper.
        assert oc.linalg.eigsh(own, 6, which=which, tol=1e-4).products < oc.linalg.eigsh(own, 6, which=which).products


@pytest.mark.parametrize("scale", [1e12, 2.0**-34, 1e-60, 1e140])
def test_eigenvalues_do_not_depend_on_the_scale(tmp_path, scale):
    # Subspaces of more than 128 vectors: small matrices of that size are divided, and solved part by part.
    own = oc.SparseMatrix.from_scipy(scipy.sparse.diags_array(np.arange(1.0, 301.0) * scale), tmp_path / "m.oc")
    with own:
        result = oc.linalg.eigsh(own, 20, which="LA")
        np.testing.assert_allclose(result.eigenvalues, np.arange(281.0, 301.0) * scale, rtol=1e-12)
        assert result.residuals.max() < 1e-9 * scale
        if 1e-60 < scale < 1e140:
            np.testing.assert_allclose(oc.linalg.svds(own, 40)[1], np.arange(261.0, 301.0) * scale, rtol=1e-12)


def test_a_matrix_may_be_a_path_or_a_graph(tmp_path):
    oc.import_graph([(i, i + 1) for i in range(400)], tmp_path / "path.oc", directed=False)
    expected = 2 * np.cos(np.pi * np.arange(3, 0, -1) / 402)
    for matrix in (tmp_path / "path.oc", str(tmp_path / "path.oc"), oc.Graph(tmp_path / "path.oc")):
        np.testing.assert_allclose(oc.linalg.eigsh(matrix, 3, which="LA").eigenvalues, expected, rtol=1e-13)
        values = oc.linalg.randomized_svd(matrix, 3, passes=20).singular_values
        np.testing.assert_allclose(values, expected[::-1], rtol=0.1)
        assert oc.linalg.nmf(matrix, 2, max_iter=3)[0].shape == (401, 2)
        assert oc.linalg.spectral_embedding(matrix, 2).embedding.shape == (401, 2)
        np.testing.assert_allclose(oc.linalg.expm_multiply(matrix, np.ones(401), 0.0), np.ones(401))


def test_vectors_may_go_to_a_file_and_count_under_the_limit_otherwise(tmp_path):
    size, sizes = 300_000, (25_000 * 0.9 ** np.arange(24)).astype(int)
    # Stars, whose eigenvalues stand apart.
    centers = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    leaves = np.setdiff1d(np.arange(size), centers)
    sources = np.repeat(centers, sizes)[: len(leaves)]
    oc.import_graph((np.resize(sources, len(leaves)), leaves), tmp_path / "path.oc", directed=False)
    out = np.lib.format.open_memmap(tmp_path / "v.npy", mode="w+", dtype=np.float64, shape=(size, 12))
    # 29 MB of vectors, and 96 MB of a subspace, under a limit of 36 MiB.
    with oc.SparseMatrix(tmp_path / "path.oc", memory="36MiB") as own:
        with pytest.raises(oc.MemoryLimitError, match="vectors as a NumPy array"):
            oc.linalg.eigsh(own, 12, which="LA", tol=1e-6, ncv=40)
        result = oc.linalg.eigsh(own, 12, which="LA", tol=1e-6, ncv=40, out=out)
    assert result.eigenvectors is out
    with oc.SparseMatrix(tmp_path / "path.oc", memory="1GiB", threads=1) as own:
        again = oc.linalg.eigsh(own, 12, which="LA", tol=1e-6, ncv=40)
    assert np.array_equal(again.eigenvalues, result.eigenvalues) and np.array_equal(again.eigenvectors, out)
    for wrong in (np.zeros((size, 2)), np.zeros((size, 3), np.float32), np.zeros((3, size)).T):
        with pytest.raises(oc.UsageError, match="expected an array for 300000 x 3"):
            oc.linalg.eigsh(tmp_path / "path.oc", 3, out=wrong)


def test_what_did_not_converge_is_in_the_error(tmp_path):
    with oc.SparseMatrix.from_scipy(symmetric(), tmp_path / "m.oc") as own:
        with pytest.raises(oc.ConvergenceError, match=r"\d of 8 pairs converged") as caught:
            oc.linalg.eigsh(own, 8, ncv=20, maxiter=1)
        values, vectors = caught.value.result
        assert len(values) == 8 and vectors.shape == (1500, 8) and caught.value.result.restarts == 1
        with pytest.raises(oc.ConvergenceError) as caught:
            oc.linalg.svds(own, 8, ncv=20, maxiter=1)
        assert caught.value.result.left.shape == (1500, 8)
    # The least eigenvalues of a stiff matrix.
    line = scipy.sparse.diags_array([-np.ones(1999), 2 * np.ones(2000), -np.ones(1999)], offsets=[-1, 0, 1])
    with oc.SparseMatrix.from_scipy(line.tocsr(), tmp_path / "line.oc") as own:
        with pytest.raises(oc.ConvergenceError, match="sigma"):
            oc.linalg.eigsh(own, 2, which="SA", ncv=20, maxiter=3)


def test_an_error_names_what_helps(tmp_path):
    # The squares of values in the middle of a wheel's spectrum are rounding beside those of its hub.
    rim = np.arange(1, 500)
    source, target = np.append(np.zeros(499, int), rim), np.append(rim, np.roll(rim, -1))
    wheel = scipy.sparse.coo_array((np.ones(998), (source, target)), shape=(500, 500))
    with oc.SparseMatrix.from_scipy((wheel + wheel.T).tocsr(), tmp_path / "wheel.oc") as own:
        with pytest.raises(oc.ConvergenceError, match="more restarts do not help; raise ncv or tol") as caught:
            oc.linalg.eigsh(own, 6, which="SM")
        assert caught.value.result.complete
        assert len(oc.linalg.eigsh(own, 6, which="SM", ncv=400).eigenvalues) == 6
        with pytest.raises(oc.ConvergenceError, match="raise maxiter, ncv or tol"):
            oc.linalg.eigsh(own, 6, which="SA", ncv=20, maxiter=1)


def test_tolerances_are_those_of_each_value_as_in_scipy(tmp_path):
    line = scipy.sparse.diags_array([-np.ones(599), 2 * np.ones(600), -np.ones(599)], offsets=[-1, 0, 1]).tocsr()
    known = 2 - 2 * np.cos(np.pi * np.arange(1, 4) / 601)
    with oc.SparseMatrix.from_scipy(line, tmp_path / "m.oc") as own:
        for which in ("SA", "SM"):
            found = oc.linalg.eigsh(own, 3, which=which, tol=1e-4)
            np.testing.assert_allclose(found.eigenvalues, known, rtol=1e-4)
            assert found.complete and (found.residuals <= 1e-4 * found.eigenvalues).all()


def test_residuals_say_how_near_approximations_are(tmp_path):
    matrix = scipy.sparse.random_array((900, 700), density=0.01, rng=np.random.default_rng(9)).tocsr()
    with oc.SparseMatrix.from_scipy(matrix, tmp_path / "m.oc") as own:
        found = oc.linalg.randomized_svd(own, 5)
        expected = np.linalg.norm(matrix @ found.right - found.left * found.singular_values, axis=0)
        np.testing.assert_allclose(found.residuals, expected, rtol=1e-9)
        found = oc.linalg.nmf(own, 3, max_iter=5)
        assert found.residual == pytest.approx(np.linalg.norm(matrix.toarray() - found[0] @ found[1]), rel=1e-9)


def test_small_singular_values_are_right(tmp_path):
    random = np.random.default_rng(1)
    values = 10.0 ** -np.arange(12)
    left, right = (np.linalg.qr(random.normal(size=(rows, 12)))[0] for rows in (200, 150))
    with oc.SparseMatrix.from_scipy(scipy.sparse.csr_array((left * values) @ right.T), tmp_path / "m.oc") as own:
        found = oc.linalg.svds(own, 12)
    np.testing.assert_allclose(found.singular_values[::-1], values, rtol=0, atol=1e-14)


def test_what_cannot_be_is_refused(tmp_path):
    matrix = scipy.sparse.random_array((600, 600), density=0.01, rng=np.random.default_rng(3))
    with oc.SparseMatrix.from_scipy(matrix, tmp_path / "m.oc") as own:
        for call, text in (
            (lambda: oc.linalg.eigsh(own, 3), "expected a symmetric matrix"),
            (lambda: oc.linalg.eigsh(own, 0), "expected k from 1 to 600"),
            (lambda: oc.linalg.eigsh(own, 3, which="XM"), "SM"),
            (lambda: oc.linalg.svds(own, 601), "expected k from 1 to 600"),
            (lambda: oc.linalg.randomized_svd(own, 3, passes=3), "expected an even number of passes"),
            (lambda: oc.linalg.eigsh(own, -1), "k="),
            (lambda: oc.linalg.eigsh(own, 3, block=3), "block"),
            (lambda: oc.linalg.nmf(own, 3, solver="cd"), "solver"),
            (lambda: oc.linalg.gmres(own, np.ones(600), M="ilu"), "preconditioner"),
        ):
            with pytest.raises(oc.UsageError, match=text):
                call()
        for call, text in (
            (lambda: oc.linalg.eigsh(matrix, 3), "expected an outcore.SparseMatrix"),
            (lambda: oc.linalg.eigsh(own, 2.5), "k="),
            (lambda: oc.linalg.cg(own, np.ones(600) * 1j), "expected b as a vector of real numbers"),
            (lambda: oc.linalg.cg(own, np.ones((600, 2))), "expected b as a vector of real numbers"),
            (lambda: oc.linalg.cg(own, np.ones(600), tol=1e-5), r"cg\(\) got an unexpected keyword argument 'tol'"),
        ):
            with pytest.raises(TypeError, match=text):
                call()
    with pytest.raises(oc.NoImageError):
        oc.linalg.eigsh(tmp_path / "none.oc")


def test_real_matrices(tmp_path):
    folder = data_folder()
    if folder is None:
        pytest.skip("the shared data is absent: real matrices were not compared (OUTCORE_DATA says where it is)")
    compared = 0
    for file in sorted((folder / "matrices").glob("*.mtx*")):
        try:
            matrix = scipy.io.mmread(file)
        except Exception:
            continue
        if not scipy.sparse.issparse(matrix) or np.iscomplexobj(matrix) or min(matrix.shape) < 8 or not np.isfinite(matrix.data).all():
            continue
        matrix = matrix.astype(float).tocsr()
        with oc.import_matrix(file, tmp_path / "m.oc", replace=True) as own:
            values = None
            if matrix.shape[0] == matrix.shape[1] and abs(matrix - matrix.T).max() == 0:
                values = np.linalg.eigvalsh(matrix.toarray())
                # The singular values are their magnitudes, which takes a fifth of a decomposition for those alone.
                dense = np.sort(np.abs(values))[:-5:-1]
            else:
                dense = np.linalg.svd(matrix.toarray(), compute_uv=False)[:4]
            np.testing.assert_allclose(oc.linalg.svds(own, 4).singular_values[::-1], dense, rtol=1e-10)
            if values is not None:
                scale = np.abs(values).max()
                agree(oc.linalg.eigsh(own, 4, which="LA"), matrix, values[-4:], scale)
                agree(oc.linalg.eigsh(own, 4, which="SA"), matrix, values[:4], scale)
            compared += 1
    assert compared > 3


@pytest.mark.parametrize("shape", [(900, 500), (500, 900)])
def test_singular_values_are_scipys(tmp_path, shape):
    matrix = scipy.sparse.random_array(shape, density=0.01, rng=np.random.default_rng(4)).tocsr()
    with oc.SparseMatrix.from_scipy(matrix, tmp_path / "m.oc") as own:
        u, s, vh = result = oc.linalg.svds(own, 5)
        np.testing.assert_allclose(s, svds(matrix, 5, rng=1)[1], rtol=1e-12)
        np.testing.assert_allclose(matrix @ vh.T, u * s, atol=1e-12)
        np.testing.assert_allclose(matrix.T @ u, vh.T * s, atol=1e-11)
        np.testing.assert_allclose(np.linalg.norm(matrix.T @ u - vh.T * s, axis=0), result.residuals, atol=1e-12)
        assert np.array_equal(oc.linalg.svds(own, 5, return_singular_vectors=False), s)
        copy = pickle.loads(pickle.dumps(result))
        assert np.array_equal(copy[1], s) and np.array_equal(copy.right, result.right)


def test_principal_components_are_those_of_the_dense_matrix(tmp_path):
    random = np.random.default_rng(5)
    parts = [scipy.sparse.random_array(shape, density=0.2, rng=random) for shape in ((800, 4), (4, 300))]
    matrix = (parts[0] @ parts[1]).tocsr()
    with oc.SparseMatrix.from_scipy(matrix, tmp_path / "m.oc") as own:
        for center in (False, True):
            dense = matrix.toarray() - (matrix.mean(axis=0) if center else 0)
            u, s, vh = result = oc.linalg.randomized_svd(own, 4, center=center)
            np.testing.assert_allclose(s, np.linalg.svd(dense, compute_uv=False)[:4], rtol=1e-9)
            np.testing.assert_allclose((u * s) @ vh, dense, atol=1e-9)
            assert (result.means is None) != center
            if center:
                np.testing.assert_allclose(result.means, np.asarray(matrix.mean(axis=0)).ravel(), rtol=1e-12)


def poisson(size=30):
    line = scipy.sparse.diags_array([-np.ones(size - 1), 2 * np.ones(size), -np.ones(size - 1)], offsets=[-1, 0, 1])
    return scipy.sparse.kronsum(line, line, format="csr")


def test_systems_of_equations_are_solved(tmp_path):
    definite = poisson()
    rows = definite.shape[0]
    indefinite = definite - 0.5 * scipy.sparse.eye_array(rows)
    general = definite + scipy.sparse.random_array((rows, rows), density=0.002, rng=np.random.default_rng(6))
    solution = np.random.default_rng(7).random(rows)
    for method, matrix in (
        (oc.linalg.cg, definite), (oc.linalg.minres, indefinite), (oc.linalg.gmres, general),
        (oc.linalg.bicgstab, general),
    ):  # fmt: skip
        with oc.SparseMatrix.from_scipy(matrix.tocsr(), tmp_path / "m.oc", replace=True) as own:
            b = matrix @ solution
            x, info = found = method(own, b, rtol=1e-11)
            assert info == 0 and found.converged and found.stopped_by == "residual" and found.residuals[0] > found.residual
            np.testing.assert_allclose(x, solution, atol=1e-7)
            assert np.linalg.norm(b - matrix @ x) == pytest.approx(found.residual, rel=1e-3, abs=1e-13)
            assert method(own, b[:, None], x0=solution).iterations == 0
            x, info = method(own, b, rtol=1e-11, M="jacobi")
            np.testing.assert_allclose(x, solution, atol=1e-7)
            assert method(own, b, rtol=1e-11, maxiter=1)[1] > 0
            with pytest.raises(oc.UsageError, match="899"):
                method(own, b[1:])
            with pytest.raises(oc.OutcoreError, match="finite"):
                method(own, b * np.nan)


def test_factors_are_not_negative_and_lose_less_and_less(tmp_path):
    random = np.random.default_rng(8)
    parts = [scipy.sparse.random_array(shape, density=0.3, rng=random) for shape in ((400, 5), (5, 200))]
    matrix = (parts[0] @ parts[1]).tocsr()
    with oc.SparseMatrix.from_scipy(matrix, tmp_path / "m.oc") as own:
        for solver in ("hals", "mu"):
            W, H = found = oc.linalg.nmf(own, 5, solver=solver, max_iter=300)
            assert W.shape == (400, 5) and H.shape == (5, 200) and W.min() >= 0 and H.min() >= 0
            assert (np.diff(found.losses) <= 1e-9 * found.losses[0]).all() and found.iterations == len(found.losses) - 1
            assert found.losses[-1] == pytest.approx(np.linalg.norm(matrix.toarray() - W @ H) ** 2, rel=1e-6, abs=1e-9)
            assert found.losses[-1] < 0.05 * (matrix.data**2).sum()
    with oc.SparseMatrix.from_scipy(-matrix, tmp_path / "n.oc") as own, pytest.raises(oc.UsageError, match="negative"):
        oc.linalg.nmf(own, 2)


@pytest.mark.parametrize("size", [30, 900])
def test_numbers_whose_squares_vanish_are_refused(tmp_path, size):
    matrix = scipy.sparse.random_array((size, size), density=0.1, rng=np.random.default_rng(5)).tocsr()
    solvers = [
        lambda own: oc.linalg.eigsh(own, 3, which="LM"),
        lambda own: oc.linalg.svds(own, 3)[1],
        lambda own: oc.linalg.eigs(own, 3).eigenvalues,
        lambda own: oc.linalg.randomized_svd(own, 3, center=True).singular_values,
        lambda own: oc.linalg.nmf(own, 3, max_iter=5)[0],
    ]
    symmetrical, empty = matrix + matrix.T, scipy.sparse.csr_array((size, size))
    images = iter(range(100))
    for solver, operand in zip(solvers, [symmetrical] + [matrix] * 4, strict=True):
        with oc.SparseMatrix.from_scipy(operand * 1e-170, tmp_path / f"{next(images)}.oc") as tiny:
            with pytest.raises(oc.OutcoreError, match="multiply the matrix by a number first"):
                solver(tiny)
        for zero in (operand * 0.0, empty):
            with oc.SparseMatrix.from_scipy(zero, tmp_path / f"{next(images)}.oc") as own:
                solver(own)
    # Columns that are all the same have no components, which is no reason to refuse them.
    with oc.SparseMatrix.from_scipy(scipy.sparse.csr_array(np.ones((size, 4))), tmp_path / "ones.oc") as ones:
        values = oc.linalg.randomized_svd(ones, 3, center=True).singular_values
        np.testing.assert_allclose(values, 0.0, atol=1e-10)


def test_complex_matrices_are_refused(tmp_path):
    matrix = scipy.sparse.csr_array(np.diag([1j, 2, 3]))
    with oc.SparseMatrix.from_scipy(matrix, tmp_path / "m.oc") as own:
        with pytest.raises(oc.UsageError, match="expected a Hermitian matrix"):
            oc.linalg.eigsh(own, 1)
        for call in (oc.linalg.eigs, oc.linalg.svds, oc.linalg.nmf, oc.linalg.randomized_svd):
            with pytest.raises(oc.UsageError, match="expected real values"):
                call(own, 1)
        with pytest.raises(oc.UsageError, match="expected real values"):
            oc.linalg.cg(own, np.ones(3))


def test_eigenvalues_of_unsymmetric_matrices_are_scipys(tmp_path):
    matrix = scipy.sparse.random_array((800, 800), density=0.02, rng=np.random.default_rng(9)).tocsr()
    matrix = matrix + scipy.sparse.diags_array(np.linspace(0, 10, 800))
    known = np.linalg.eigvals(matrix.toarray())
    keys = {"LM": abs, "LR": lambda value: value.real, "SR": lambda value: -value.real, "LI": lambda value: abs(value.imag)}
    with oc.SparseMatrix.from_scipy(matrix.tocsr(), tmp_path / "m.oc") as own:
        for which, key in keys.items():
            values, vectors = found = oc.linalg.eigs(own, 6, which=which)
            expected = sorted(map(key, known), reverse=True)[:6]
            np.testing.assert_allclose(sorted(map(key, values), reverse=True), expected, rtol=1e-9)
            assert np.abs(known[:, None] - values).min(axis=0).max() < 1e-9
            residuals = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
            np.testing.assert_allclose(residuals, found.residuals, atol=1e-12)
            np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1)
        with pytest.raises(oc.UsageError, match="SM"):
            oc.linalg.eigs(own, 6, which="SM")


SOLVER = """
import sys
import numpy as np
import outcore as oc
image, folder, out = sys.argv[1:]
values, vectors = oc.linalg.eigsh(image, 6, ncv=40, checkpoint=folder)
np.savez(out, values=values, vectors=vectors)
"""


def test_a_killed_solver_goes_on_with_the_same_bits(tmp_path):
    """kill -9 at moments further and further apart, until a run comes to its end."""
    oc.generate("kronecker", scale=13, output=tmp_path / "k.oc", directed=False)
    whole = oc.linalg.eigsh(tmp_path / "k.oc", 6, ncv=40)
    folder, out = tmp_path / "kept", tmp_path / "out.npz"
    kills, wait = 0, 0.02
    while not out.exists():
        process = subprocess.Popen([sys.executable, "-c", SOLVER, tmp_path / "k.oc", folder, out])
        while process.poll() is None and not (folder / "state").exists():
            time.sleep(0.005)
        try:
            assert process.wait(wait) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills, wait = kills + 1, wait * 1.5
    assert kills > 0
    found = np.load(out)
    assert found["values"].tobytes() == whole.eigenvalues.tobytes()
    assert found["vectors"].tobytes() == whole.eigenvectors.tobytes()
    with pytest.raises(oc.UsageError, match="found one of another"):
        oc.linalg.eigsh(tmp_path / "k.oc", 5, ncv=40, checkpoint=folder)


@pytest.mark.parametrize(
    "name", ["eigsh", "eigs", "svds", "randomized_svd", "nmf", "spectral_embedding", "expm_multiply"]
)
def test_options_are_those_that_the_engine_declares(name):
    declared = next(solver for solver in _outcore.solvers() if solver["name"] == name)
    function = getattr(oc.linalg, name)
    hints = typing.get_type_hints(function)
    parameters = {parameter.name.lower(): parameter for parameter in inspect.signature(function).parameters.values()}
    options = {option["name"]: option for option in declared["options"]}
    beside = {"a", "b", "checkpoint", "out", "return_eigenvectors", "return_singular_vectors"}
    assert parameters.keys() - beside == options.keys()
    assert ("checkpoint" in parameters) == declared["has_checkpoints"]
    for option in options.values():
        parameter = parameters[option["name"]]
        expected = inspect.Parameter.empty if option["is_required"] else option["default"]
        assert parameter.default == expected, parameter
        if option["choices"]:
            assert sorted(typing.get_args(hints[parameter.name])) == sorted(name for name, _ in option["choices"])


def rough(seed):
    """A sparse matrix with a small diagonal, for which the residuals of stabilized biconjugate gradients rise."""
    rng = np.random.default_rng(seed)
    given = scipy.sparse.random(100, 100, 0.04, random_state=seed, data_rvs=rng.standard_normal)
    return scipy.sparse.csr_array(given + 1.5 * scipy.sparse.eye(100))


def test_bicgstab_begins_again_and_returns_the_best_vector(tmp_path):
    b = np.ones(100)
    for seed in (12, *range(8)):
        matrix = rough(seed)
        with oc.import_matrix(matrix, tmp_path / "m.oc", replace=True) as own:
            x, info = found = oc.linalg.bicgstab(own, b, rtol=1e-8)
            assert info == 0 and np.linalg.norm(b - matrix @ x) < 1.01e-7, (seed, found.stopped_by, found.residual)
            least = 10.0
            for maxiter in (0, 5, 40, 80):
                few = oc.linalg.bicgstab(own, b, rtol=1e-8, maxiter=maxiter)
                assert np.linalg.norm(b - matrix @ few.x) <= least * 1.000001
                least = few.residual


def test_bicgstab_does_not_raise_where_it_diverges(tmp_path):
    pattern = np.zeros((7, 7))
    pattern[[0, 3, 6, 0, 6, 1, 4, 1], [1, 2, 2, 3, 3, 4, 5, 6]] = 1.0
    nilpotent = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0.0]])
    for dense in (pattern, nilpotent):
        b = dense @ np.ones(len(dense))
        with oc.import_matrix(scipy.sparse.csr_array(dense), tmp_path / "m.oc", replace=True) as own:
            x, info = oc.linalg.bicgstab(own, b)
            assert np.linalg.norm(b - dense @ x) <= np.linalg.norm(b) and (info > 0 or np.allclose(dense @ x, b, rtol=1e-4))


@pytest.mark.parametrize("method", ["cg", "minres", "gmres", "bicgstab"])
def test_options_of_solvers_are_named(tmp_path, method):
    solve = getattr(oc.linalg, method)
    options = set(inspect.signature(solve).parameters) - {"A", "b", "x0"}
    assert options == {"rtol", "atol", "maxiter", "M"} | ({"restart"} if method == "gmres" else set())
    with oc.import_matrix(poisson(), tmp_path / "m.oc") as own:
        b = np.ones(900)
        for wrong in {"callback": print, "method": "cg"}, {"restart": 5}:
            if method != "gmres" or "restart" not in wrong:
                with pytest.raises(TypeError, match=rf"{method}\(\) got an unexpected keyword argument"):
                    solve(own, b, **wrong)
        with pytest.raises(TypeError, match="expected rtol= as a number, found 'small'"):
            solve(own, b, rtol="small")
        with pytest.raises(TypeError, match=r"found the operator .* scipy.sparse.linalg has functions that take it"):
            solve(own.T, b)
        with pytest.raises(TypeError, match=r"found scipy.* outcore.import_matrix makes an image"):
            solve(poisson(), b)
