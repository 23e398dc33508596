"""PageRank and shortest paths by products, beside the graph engine, NetworkX and SciPy."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph

import outcore as oc


def links(size=300, degree=5, seed=1):
    """Entries that are not negative; some rows have none, and one has many."""
    rng = np.random.default_rng(seed)
    matrix = scipy.sparse.random_array((size, size), density=degree / size, rng=rng).tolil()
    matrix[3, :] = rng.random((1, size))
    matrix[5::11, :] = 0
    return scipy.sparse.csr_array(matrix)


def of_networkx(matrix, **options):
    graph = nx.from_scipy_sparse_array(matrix, create_using=nx.DiGraph)
    options = {"tol": 1e-14, "max_iter": 1000} | options
    ranks = nx.pagerank(graph, **options)
    return np.array([ranks[row] for row in range(matrix.shape[0])])


def test_ranks_are_networkxs(tmp_path):
    matrix = links()
    with oc.import_matrix(matrix, tmp_path / "m.oc", order="degree") as own:
        for alpha in (0.85, 0.5, 0.0):
            found = oc.linalg.pagerank(own, alpha, tol=1e-13)
            np.testing.assert_allclose(found.ranks, of_networkx(matrix, alpha=alpha), rtol=1e-9)
            assert found.converged and found.residual < 1e-13 and found.stopped_by == "residual"
            assert found.products == found.iterations + 1
        pattern = oc.linalg.pagerank(own, tol=1e-13, weights=False)
        np.testing.assert_allclose(pattern.ranks, of_networkx(matrix, weight=None), rtol=1e-9)
        jumps = np.arange(300) % 4
        found = oc.linalg.pagerank(own, tol=1e-13, personalization=jumps)
        shares = dict(enumerate(jumps.tolist()))
        np.testing.assert_allclose(found.ranks, of_networkx(matrix, personalization=shares), rtol=1e-9, atol=1e-15)
        # NetworkX's own rule for the end of iterations, and its default.
        loose = oc.linalg.pagerank(own, stop="networkx", tol=1e-6)
        assert loose.stopped_by == "networkx" and loose.iterations < found.iterations
        np.testing.assert_allclose(loose.ranks, of_networkx(matrix, tol=1e-6), atol=3e-4)


@pytest.mark.parametrize("directed", [True, False])
def test_ranks_are_the_graph_engines(tmp_path, directed):
    matrix = links(900)
    matrix = matrix if directed else scipy.sparse.csr_array(matrix + matrix.T)
    oc.import_matrix(matrix, tmp_path / "g.oc").close()
    with oc.Graph(tmp_path / "g.oc") as graph:
        for weight, options in (("weight", {}), (None, {"alpha": 0.6}), (None, {"dangling": "gap", "tol": 1e-10})):
            expected = oc.pagerank(graph, weight=weight, **options)
            found = oc.linalg.pagerank(oc.SparseMatrix(graph), weights=weight is not None, **options)
            order = np.argsort(expected["vertex"])
            assert (found.iterations, found.stopped_by) == (expected.iterations, expected.stopped_by)
            assert np.abs(found.ranks - expected["pagerank"][order]).sum() < 1e-12
            # A graph is taken as its matrix.
            assert np.array_equal(oc.linalg.pagerank(graph, weights=weight is not None, **options).ranks, found.ranks)


def test_vectors_and_limits_change_no_bit(tmp_path):
    size = 400_000
    rng = np.random.default_rng(6)
    entries = rng.random(2 * size), (rng.integers(0, size, 2 * size), rng.integers(0, size, 2 * size))
    oc.import_matrix(scipy.sparse.coo_array(entries, shape=(size, size)), tmp_path / "m.oc").close()
    with oc.SparseMatrix(tmp_path / "m.oc", threads=1) as own:
        known = oc.linalg.pagerank(own, tol=1e-6)
        assert known.vectors == 3 and known.temporary_bytes_read == known.temporary_bytes_written == 0
        out = np.lib.format.open_memmap(tmp_path / "ranks.npy", mode="w+", dtype=np.float64, shape=(size,))
        few = oc.linalg.pagerank(own, tol=1e-6, vectors=1, out=out)
        assert few.ranks is out and np.array_equal(out, known.ranks)
        assert few.temporary_bytes_written == 8 * size * (few.iterations + 1)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for vectors, options in ((None, {"memory": "26MiB"}), (2, {"backend": "posix", "threads": 3})):
        runtime = oc.Runtime(**options, temporary=folder)
        with oc.SparseMatrix(tmp_path / "m.oc", runtime=runtime) as own:
            found = oc.linalg.pagerank(own, tol=1e-6, vectors=vectors)
            assert found.vectors < 3 and np.array_equal(found.ranks, known.ranks)
    assert not list(folder.iterdir())


def test_small_matrices_and_refusals(tmp_path):
    for given, expected in (([[0.0]], [1.0]), ([[2.5]], [1.0]), (np.zeros((4, 4)), [0.25] * 4)):
        with oc.import_matrix(scipy.sparse.csr_array(given), tmp_path / "s.oc", replace=True) as own:
            ranks, residual = oc.linalg.pagerank(own)
            assert np.allclose(ranks, expected) and residual < 1e-8
    with oc.import_matrix(scipy.sparse.csr_array(np.ones((2, 3))), tmp_path / "r.oc") as own:
        with pytest.raises(oc.UsageError, match="expected a square matrix"):
            oc.linalg.pagerank(own)
        with pytest.raises(oc.UsageError, match="expected a square matrix"):
            oc.linalg.bellman_ford(own, indices=0)
    with oc.import_matrix(links(50), tmp_path / "m.oc") as own:
        for options, text in (
            ({"alpha": 1.5}, "alpha"),
            ({"tol": float("nan")}, "tolerance"),
            ({"vectors": 4}, "1, 2 or 3 vectors"),
            ({"dangling": "none"}, "dangling"),
            ({"personalization": np.ones(49)}, "expected 50 numbers"),
            ({"personalization": -np.ones(50)}, "row 0"),
            ({"out": np.zeros(49)}, "expected an array"),
        ):
            with pytest.raises(oc.UsageError, match=text):
                oc.linalg.pagerank(own, **options)
        with pytest.raises(TypeError, match="personalization"):
            oc.linalg.pagerank(own, personalization={0: 1.0})
        with pytest.raises(oc.ConvergenceError, match="raise max_iter") as caught:
            oc.linalg.pagerank(own, max_iter=2)
        result = caught.value.result
        assert result.iterations == 2 and not result.converged and abs(result.ranks.sum() - 1) < 1e-12
        exactly = oc.linalg.pagerank(own, tol=0, max_iter=7)
        assert (exactly.iterations, exactly.converged, exactly.stopped_by) == (7, False, "iterations")
    with oc.import_matrix(links(50) * -1.0, tmp_path / "n.oc") as own:
        with pytest.raises(oc.OutcoreError, match="expected entries of 0 or more"):
            oc.linalg.pagerank(own)


def lengths(size, degree, seed):
    """Edges some of which are negative, without a negative cycle: lengths between heights."""
    rng = np.random.default_rng(seed)
    matrix = scipy.sparse.coo_array(scipy.sparse.random_array((size, size), density=degree / size, rng=rng))
    heights, (rows, columns) = rng.integers(0, 50, size), matrix.coords
    data = rng.integers(1, 20, matrix.nnz) + heights[rows] - heights[columns]
    # SciPy leaves edges of length 0 out.
    data = np.where(data == 0, 1, data).astype(float)
    return scipy.sparse.csr_array(scipy.sparse.coo_array((data, matrix.coords), shape=matrix.shape))


def test_distances_are_scipys_and_networkxs(tmp_path):
    for seed, degree in ((1, 4), (2, 1.2), (3, 9)):
        matrix = lengths(120, degree, seed)
        with oc.import_matrix(matrix, tmp_path / "m.oc", order="degree", replace=True) as own:
            expected = scipy.sparse.csgraph.bellman_ford(matrix)
            found = oc.linalg.bellman_ford(own)
            assert found.shape == (120, 120)
            np.testing.assert_array_equal(found, expected)
            assert own.stats["pages_read"] >= 0
            for indices in (7, [7, 3, 3, -1], np.array([], dtype=int), [[1, 2]][0]):
                found = oc.linalg.bellman_ford(own, indices=indices)
                np.testing.assert_array_equal(found, expected[indices])
            unweighted = oc.linalg.bellman_ford(own, indices=[0, 9], unweighted=True)
            np.testing.assert_array_equal(
                unweighted, scipy.sparse.csgraph.bellman_ford(matrix, indices=[0, 9], unweighted=True)
            )
            graph = nx.from_scipy_sparse_array(matrix, create_using=nx.DiGraph)
            found = oc.linalg.bellman_ford(own, indices=11)
            of_networkx = nx.single_source_bellman_ford_path_length(graph, 11)
            assert {row: length for row, length in enumerate(found) if np.isfinite(length)} == of_networkx
        with oc.import_matrix(abs(matrix), tmp_path / "p.oc", replace=True) as own:
            both = oc.linalg.bellman_ford(own, False, [0, 5, 100])
            np.testing.assert_array_equal(both, scipy.sparse.csgraph.bellman_ford(abs(matrix), False, [0, 5, 100]))


def test_negative_cycles_and_refusals(tmp_path):
    matrix = lengths(60, 3, 8).tolil()
    matrix[4, 9], matrix[9, 4] = 5.0, -6.0
    matrix = scipy.sparse.csr_array(matrix)
    with pytest.raises(scipy.sparse.csgraph.NegativeCycleError):
        scipy.sparse.csgraph.bellman_ford(matrix, indices=4)
    with oc.import_matrix(matrix, tmp_path / "m.oc") as own:
        with pytest.raises(oc.OutcoreError, match="negative cycle"):
            oc.linalg.bellman_ford(own, indices=4)
        assert np.isfinite(oc.linalg.bellman_ford(own, indices=4, unweighted=True)[9])
        for indices in (60, [0, -61]):
            with pytest.raises(oc.UsageError, match="among 60 rows"):
                oc.linalg.bellman_ford(own, indices=indices)
        for indices in (0.5, "one", [[0, 1]]):
            with pytest.raises(TypeError, match="indices"):
                oc.linalg.bellman_ford(own, indices=indices)
    # An edge of length 0 is one.
    zero = scipy.sparse.coo_array(([0.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    with oc.import_matrix(zero, tmp_path / "z.oc") as own:
        assert oc.linalg.bellman_ford(own, indices=0).tolist() == [0.0, 0.0, 2.0]
