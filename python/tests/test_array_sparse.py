"""Products of sparse matrices with lazy arrays, beside SciPy and `A @ x` of NumPy's arrays."""

import os

import numpy as np
import pytest
import scipy.sparse

import outcore as oc

xp = oc.array


@pytest.fixture(params=["input", "degree"])
def pair(request, scratch):
    """A rectangular matrix in memory, and the same on disk, with rows in the order of ids or not."""
    matrix = scipy.sparse.random_array((3000, 700), density=0.01, rng=np.random.default_rng(1)).tocsr()
    with oc.import_matrix(matrix, "m.oc", memory="64MiB", threads=2, order=request.param) as own:
        yield matrix, own


def test_products_have_the_bits_of_those_of_arrays_in_memory(pair):
    matrix, own = pair
    rng = np.random.default_rng(2)
    for shape in (700,), (700, 1), (700, 3), (700, 8), (700, 32), (700, 33), (700, 0):
        for array in rng.random(shape) - 0.5, rng.integers(-9, 9, shape), rng.random(shape) < 0.5:
            np.save("x.npy", array)
            expected = own @ array
            factors = xp.asarray(array), xp.asarray(np.asfortranarray(array)), xp.open("x.npy") if array.size else None
            for factor in filter(lambda one: one is not None, factors):
                product = own @ factor
                assert isinstance(product, xp.Array) and (product.shape, product.dtype) == (expected.shape, expected.dtype)
                assert product.compute().tobytes() == expected.tobytes()
    array = rng.random((3000, 5))
    for operator in own.T, own.H:
        np.testing.assert_array_equal((operator @ xp.asarray(array)).compute(), own.T @ array)
    np.testing.assert_array_equal((xp.asarray(array).T @ own).compute(), (own.T @ array).T)
    np.testing.assert_array_equal((xp.asarray(array[:700]).T @ own.T).compute(), (own @ array[:700]).T)
    np.testing.assert_allclose((own @ xp.asarray(array[:700])).compute(), matrix @ array[:700], rtol=1e-12)
    np.testing.assert_allclose((xp.asarray(array[:, 0]) @ own).compute(), matrix.T @ array[:, 0], rtol=1e-12)


def test_what_is_made_of_a_product_takes_one_pass_and_has_the_same_bits_for_all_limits(pair):
    matrix, own = pair
    x = np.random.default_rng(3).random((700, 6))
    np.save("x.npy", x)
    product = own @ (2 * xp.open("x.npy"))
    results = (product.T @ product, product.sum(axis=0), xp.exp(-product).max(), product[::-2, 1:3], product.argmax(axis=0))
    expected = matrix @ (2 * x)
    found, stats = xp.compute(*results, return_stats=True)
    oracle = (expected.T @ expected, expected.sum(0), np.exp(-expected).max(), expected[::-2, 1:3], expected.argmax(0))
    for one, other in zip(found, oracle):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    assert sum(step["name"] == "multiply" for step in stats["steps"]) <= 1
    for limits in {"threads": 1}, {"threads": 5}, {"memory": "24MiB"}, {"backend": "posix"}:
        again = xp.compute(*results, **limits)
        assert [one.tobytes() for one in again] == [one.tobytes() for one in found], limits
    # What needs the mean before takes another pass.
    centred = (product - product.mean(axis=0)).max(axis=0).compute()
    np.testing.assert_allclose(centred, (expected - expected.mean(0)).max(0), rtol=1e-10)


def test_matrices_without_entries_rows_or_columns(scratch):
    for shape in (5, 4), (1, 4), (4, 1), (1, 1):
        with oc.import_matrix(scipy.sparse.csr_array(shape), "empty.oc", replace=True) as own:
            for columns in 0, 1, 3:
                found = (own @ xp.ones((shape[1], columns))).compute()
                np.testing.assert_array_equal(found, np.zeros((shape[0], columns)))
            assert (own @ xp.ones((shape[1], 2))).sum().compute() == 0
            np.testing.assert_array_equal((own.T @ xp.ones(shape[0])).compute(), np.zeros(shape[1]))
    with oc.import_matrix(scipy.sparse.csr_array([[2.0, 0.0, np.finfo(float).max]]), "row.oc") as own:
        found = (own @ xp.asarray([[np.nan, 1.0], [1.0, 1.0], [1.0, np.inf]])).compute()
        np.testing.assert_array_equal(found, [[np.nan, np.inf]])


def test_rows_are_those_of_ids(scratch):
    source, target = np.array(["b", "a", "d", "b"]), np.array(["c", "b", "a", "d"])
    oc.import_graph((source, target, np.array([1.0, 2.0, 3.0, 4.0])), "ids.oc")
    with oc.SparseMatrix("ids.oc") as own:
        x = np.arange(8.0).reshape(4, 2)
        np.testing.assert_array_equal((own @ xp.asarray(x)).compute(), own @ x)
        np.testing.assert_array_equal((own.T @ xp.asarray(x)).compute(), own.T @ x)


def test_a_product_far_larger_than_the_limit_is_read_once(scratch):
    rows, columns = 400_000, 16
    rng = np.random.default_rng(4)
    given = rng.integers(0, rows, 600_000), rng.integers(0, 5000, 600_000), rng.random(600_000)
    matrix = scipy.sparse.coo_array((given[2], given[:2]), shape=(rows, 5000)).tocsr()
    oc.import_matrix(matrix, "tall.oc", order="input").close()
    x = rng.random((5000, columns))
    # The product has 51 MB.
    with oc.SparseMatrix("tall.oc", memory="32MiB", threads=2) as own:
        product = own @ xp.asarray(x)
        plan = xp.explain(product.T @ product)
        assert len(plan.passes) == 1 and "the product is not stored" in str(plan)
        (gram, total), stats = xp.compute(product.T @ product, product.sum(), return_stats=True)
        size = sum(os.path.getsize(os.path.join("tall.oc", name)) for name in os.listdir("tall.oc"))
        # Under so small a limit there are about a dozen stretches of rows, and the pages around the ends of each are read
        # again. A pass for each result would read them all once more.
        assert 0 < stats["bytes_read"] <= 3 * size and stats["memory_limit_bytes"] == 32 << 20
        assert len(stats["steps"]) == 1
        expected = matrix @ x
        np.testing.assert_allclose(gram, expected.T @ expected, rtol=1e-10)
        np.testing.assert_allclose(total, expected.sum(), rtol=1e-10)
        image = xp.persist("product.oc", product)
        np.testing.assert_array_equal(image[123456:123460].compute(), (own.multiply(x, out="y.npy"))[123456:123460])


def test_factors_and_products_in_temporary_files(scratch):
    n, columns = 60_000, 64
    rng = np.random.default_rng(5)
    matrix = scipy.sparse.random_array((n, n), density=3 / n, rng=rng).tocsr()
    oc.import_matrix(matrix, "square.oc").close()
    x = rng.random((n, columns))
    np.save("x.npy", x)
    # Factor and product have 31 MB each.
    with oc.SparseMatrix("square.oc", memory="40MiB", threads=2) as own:
        product = own @ (xp.open("x.npy") + 1)
        plan = product.sum(axis=0).explain()
        assert "temporary file" in str(plan) and len(plan.passes) == 3
        sums, stats = xp.compute(product.sum(axis=0), (product * product).sum(), return_stats=True)
        assert [step["name"] for step in stats["steps"]] == ["pass", "multiply", "pass"]
        expected = matrix @ (x + 1)
        np.testing.assert_allclose(sums[0], expected.sum(0), rtol=1e-10)
        np.testing.assert_allclose(sums[1], (expected * expected).sum(), rtol=1e-10)
    assert sorted(os.listdir()) == ["square.oc", "x.npy"]
    with oc.SparseMatrix("square.oc", memory="1GiB") as own:
        again = xp.compute((own @ (xp.open("x.npy") + 1)).sum(axis=0))[0]
        assert again.tobytes() == sums[0].tobytes()


def test_what_cannot_be_multiplied_is_refused_at_once(pair):
    _, own = pair
    for shape in (699,), (701, 2), (700, 2, 2), ():
        with pytest.raises(oc.UsageError, match="expected a vector or a matrix of 700 rows"):
            own @ xp.zeros(shape)
    with pytest.raises(oc.UsageError, match="3000 rows"):
        own.T @ xp.zeros(700)
    with oc.import_matrix(scipy.sparse.csr_array([[1j]]), "complex.oc") as spin:
        with pytest.raises(oc.UsageError, match="real numbers"):
            spin @ xp.ones(1)
