"""Spectral embeddings beside those of dense matrices and of scikit-learn."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.csgraph

import outcore as oc


def clusters(sizes=(60, 50, 40), within=0.3, between=0.01, seed=1, loops=True, weighted=True):
    rng = np.random.default_rng(seed)
    size, part = sum(sizes), np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(part[:, None] == part[None, :], within, between)
    weights = rng.random((size, size)) if weighted else 1.0
    half = np.triu((rng.random((size, size)) < chance) * weights, 0 if loops else 1)
    dense = half + np.triu(half, 1).T
    order = rng.permutation(size)
    return scipy.sparse.csr_array(dense[order][:, order]), part[order]


def oracle(matrix, norm_laplacian):
    """All eigenvalues and columns, as scikit-learn defines them, by LAPACK."""
    laplacian, dd = scipy.sparse.csgraph.laplacian(matrix.toarray(), normed=norm_laplacian, return_diag=True)
    if norm_laplacian:
        np.fill_diagonal(laplacian, 1.0)
    values, vectors = scipy.linalg.eigh(laplacian)
    columns = vectors / dd[:, None] if norm_laplacian else vectors
    return values, columns * np.sign(columns[np.abs(columns).argmax(axis=0), np.arange(len(values))])


def same_up_to_rotations(found, values, expected, eigenvalues):
    """Compares columns one by one, and the spaces of those whose eigenvalues are equal."""
    np.testing.assert_allclose(values, eigenvalues[: len(values)], atol=1e-10 * max(1, eigenvalues.max()))
    first = 0
    while first < len(values):
        last = first + 1
        while last < len(values) and eigenvalues[last] - eigenvalues[last - 1] < 1e-8:
            last += 1
        whole = last < len(values) or len(eigenvalues) == last or eigenvalues[last] - eigenvalues[last - 1] > 1e-8
        if last == first + 1 and whole:
            one, other = found[:, first], expected[:, first]
            # Rounding decides which of two entries of the same magnitude is positive.
            is_clear = one.max() + one.min() > 1e-9
            np.testing.assert_allclose(one, other if is_clear else other * np.sign(one @ other), atol=1e-7)
        elif whole:
            one, other = (scipy.linalg.orth(columns[:, first:last]) for columns in (found, expected))
            np.testing.assert_allclose(scipy.linalg.svdvals(one.T @ other), 1, atol=1e-9)
        first = last


def path(size):
    ones = np.ones(size - 1)
    return scipy.sparse.csr_array(scipy.sparse.diags_array([ones, ones], offsets=[-1, 1]))


def ring(size):
    ends = scipy.sparse.coo_array(([1.0, 1.0], ([0, size - 1], [size - 1, 0])), shape=(size, size))
    return scipy.sparse.csr_array(path(size) + ends)


def isolated_and_apart():
    parts = [clusters((40, 30), seed=2)[0], clusters((35,), seed=3)[0]]
    parts += [scipy.sparse.csr_array((4, 4)), scipy.sparse.diags_array([3.0, 0.5])]
    return scipy.sparse.csr_array(scipy.sparse.block_diag(parts))


CASES = {
    "weighted": clusters()[0],
    "without loops": clusters(seed=4, loops=False, weighted=False)[0],
    "components, lone vertices and loops": isolated_and_apart(),
    "ring": ring(300),
    "large": clusters((300, 250, 200), 0.05, 0.003, seed=5)[0],
    "two": scipy.sparse.csr_array([[0.0, 2.0], [2.0, 5.0]]),
}


@pytest.mark.parametrize("norm_laplacian", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_columns_are_those_of_the_dense_laplacian(tmp_path, name, norm_laplacian):
    matrix = CASES[name]
    eigenvalues, expected = oracle(matrix, norm_laplacian)
    with oc.import_matrix(matrix, tmp_path / "m.oc", order="degree") as own:
        for count in (1, 5):
            count = min(count, matrix.shape[0] - 1)
            found = oc.linalg.spectral_embedding(own, count + 1, norm_laplacian=norm_laplacian, drop_first=False)
            embedding, values = found
            assert embedding.shape == (matrix.shape[0], count + 1) and embedding is found.embedding
            same_up_to_rotations(embedding, values, expected, eigenvalues)
            dropped = oc.linalg.spectral_embedding(own, count, norm_laplacian=norm_laplacian)
            assert np.array_equal(dropped.embedding, embedding[:, 1:])
            assert np.array_equal(dropped.eigenvalues, values[1:])
            assert dropped.products > 0 and dropped.residuals.shape == (count,)


@pytest.mark.parametrize("norm_laplacian", [True, False])
def test_it_is_scikit_learns(tmp_path, norm_laplacian):
    reason = "scikit-learn is absent: embeddings were not compared with its"
    sklearn = pytest.importorskip("sklearn.manifold", reason=reason)
    for name, matrix in CASES.items():
        if name == "two":
            continue
        eigenvalues, _ = oracle(matrix, norm_laplacian)
        with oc.import_matrix(matrix, tmp_path / "m.oc", replace=True) as own, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for drop_first in (False, True):
                options = {"n_components": 4, "norm_laplacian": norm_laplacian, "drop_first": drop_first}
                expected = sklearn.spectral_embedding(matrix, random_state=1, **options)
                embedding, values = oc.linalg.spectral_embedding(own, **options)
                # Without the first column nothing is known of the spaces of equal eigenvalues.
                if not drop_first or eigenvalues[1] > 1e-8:
                    same_up_to_rotations(embedding, values, expected, eigenvalues[int(drop_first) :])


def test_clusters_are_found(tmp_path):
    matrix, part = clusters((300, 250, 200), 0.08, 0.002, seed=6)
    oc.import_matrix(matrix, tmp_path / "m.oc").close()
    embedding, values = oc.linalg.spectral_embedding(tmp_path / "m.oc", 2)
    centers = np.stack([embedding[part == i].mean(axis=0) for i in range(3)])
    nearest = np.linalg.norm(embedding[:, None] - centers[None], axis=2).argmin(axis=1)
    assert (nearest == part).mean() > 0.99


def test_what_cannot_be_is_refused(tmp_path):
    matrix = clusters()[0]
    negative, skew = matrix.tolil(), matrix.tolil()
    negative[3, 5] = negative[5, 3] = -0.25
    skew[3, 5] += 1
    for given, options, text in (
        (negative, {}, "expected weights of 0 or more in .* for a spectral embedding, found -0.25"),
        (skew, {}, "expected a symmetric matrix"),
        (matrix, {"n_components": 150}, "expected from 1 to 149 columns beside the first eigenvector, found 150"),
        (matrix, {"n_components": 0}, "expected from 1 to 149 columns"),
        (matrix, {"tol": 2.0}, "expected tol from 0 to 1"),
    ):
        with oc.import_matrix(scipy.sparse.csr_array(given), tmp_path / "m.oc", replace=True) as own:
            with pytest.raises(oc.UsageError, match=text):
                oc.linalg.spectral_embedding(own, **options)
    with oc.import_matrix(path(3000), tmp_path / "p.oc") as own:
        with pytest.raises(oc.ConvergenceError, match="of 5 pairs converged") as caught:
            oc.linalg.spectral_embedding(own, 4, ncv=20, maxiter=1)
        assert caught.value.result.embedding.shape == (3000, 4)
