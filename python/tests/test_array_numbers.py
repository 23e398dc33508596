"""Numbers of lazy arrays beside NumPy's: norms, roundings, covariances, sums of float32, places and random streams."""

import numpy as np
import pytest
from test_array import check, computed

import outcore as oc

xp = oc.array


def test_random_arrays_of_one_seed_are_independent():
    vector, matrix = (computed(xp.random.normal(shape, seed=1)) for shape in (3000, (3000, 2)))
    assert (vector != matrix[:, 0]).all()
    uniform, exponential = (computed(of(3000, seed=1)) for of in (xp.random.uniform, xp.random.exponential))
    assert (np.abs(-np.log1p(-uniform) - exponential) > 1e-14).all()
    assert abs(np.corrcoef(uniform, exponential)[0, 1]) < 0.1 and abs(np.corrcoef(vector, matrix[:, 0])[0, 1]) < 0.1


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "bool", "float32"])
def test_norms_are_numpys_in_float64_for_whole_numbers(dtype):
    x = np.array([[-128, 3], [127, -7], [5, 100]]).astype(dtype)
    for ord in (None, 0, 1, 2, 3, np.inf, -np.inf):
        found, expected = np.linalg.norm(xp.asarray(x)[:, 0], ord), np.linalg.norm(x[:, 0], ord)
        np.testing.assert_allclose(computed(found), expected, rtol=1e-6)
    for ord in (None, "fro", 1, -1, np.inf, -np.inf):
        found, expected = np.linalg.norm(xp.asarray(x), ord), np.linalg.norm(x, ord)
        np.testing.assert_allclose(computed(found), expected, rtol=1e-6)
        assert found.dtype == (x.dtype if dtype == "float32" else np.float64)


def test_rounding_to_tens_keeps_whole_numbers():
    for dtype in ("int64", "int16", "float64"):
        x = np.array([149, 150, 250, 251, -149, -151, 0]).astype(dtype)
        check(np.round(xp.asarray(x), -2), np.round(x, -2))
        check(np.round(xp.asarray(x), 2), np.round(x, 2))


def test_covariances_of_numpys_name_are_of_float64():
    rng = np.random.default_rng(3)
    x = (rng.normal(size=(5000, 1)) + 1e-4 * rng.normal(size=(5000, 3))).astype(np.float32)
    for ours, theirs in ((np.cov(xp.asarray(x), rowvar=False), np.cov(x, rowvar=False)),
                         (np.corrcoef(xp.asarray(x), rowvar=False), np.corrcoef(x, rowvar=False))):
        assert ours.dtype == theirs.dtype == np.float64
        np.testing.assert_allclose(computed(ours), theirs, rtol=1e-13)
    least = np.linalg.eigvalsh(computed(np.cov(xp.asarray(x), rowvar=False)))[0]
    np.testing.assert_allclose(least, np.linalg.eigvalsh(np.cov(x, rowvar=False))[0], rtol=1e-6)


def test_sums_of_float32_over_columns_are_hardly_rounded():
    x = (np.random.default_rng(4).uniform(size=(700, 4000))).astype(np.float32)
    for ours, theirs in ((xp.asarray(x).sum(axis=1), x.sum(axis=1, dtype=np.float64)),
                         (xp.asarray(x).mean(axis=1), x.mean(axis=1, dtype=np.float64))):
        assert ours.dtype == np.float32
        # Sums of float32 have errors of 3e-6 here.
        np.testing.assert_allclose(computed(ours), theirs, rtol=2.5e-7)


def test_the_place_of_the_best_element(scratch):
    rng = np.random.default_rng(5)
    for shape in ((70_000, 3), (3, 5, 700), (2000,), ()):
        x = rng.integers(-50, 50, shape).astype(np.float64)
        for _ in range(2):
            for ours in (xp.asarray(x), xp.asarray(x) + 0.0):
                for of in (np.argmax, np.argmin):
                    check(of(ours), of(x))
                    check(of(ours, keepdims=True), of(x, keepdims=True))
                    check(of(ours.T), of(x.T))
            if x.ndim:
                x.flat[x.size // 2] = x.flat[-1] = np.nan
    # A matrix in an image, under a limit that the best elements of all rows would not fit.
    x = rng.normal(size=(3_000_000, 2))
    image = xp.persist("x.oc", x)
    assert int(image.argmax().compute(memory="32MiB")) == np.argmax(x)
