"""Preconditioners of the user's, beside SciPy's methods."""

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import outcore as oc

METHODS = ["cg", "minres", "gmres", "bicgstab"]


def poisson(side=40, seed=1):
    """A grid whose rows are in an order of their own, so that the image has another one."""
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    grid = scipy.sparse.kronsum(line, line, format="csr")
    order = np.random.default_rng(seed).permutation(side * side)
    return scipy.sparse.csr_array(grid[order][:, order])


def near_inverse(matrix):
    """The exact solver of a matrix nearby, which is symmetric and positive definite."""
    nearby = matrix + scipy.sparse.diags_array(np.linspace(0.0, 0.02, matrix.shape[0]))
    factors = scipy.sparse.linalg.splu(scipy.sparse.csc_array(nearby))
    return factors.solve


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    matrix = poisson()
    path = tmp_path_factory.mktemp("system") / "m.oc"
    with oc.import_matrix(matrix, path, order="degree") as own:
        yield own, matrix, np.random.default_rng(2).random(matrix.shape[0]) - 0.5


@pytest.mark.parametrize("method", METHODS)
def test_all_kinds_give_the_solution_in_as_many_steps_as_scipys(system, method):
    own, matrix, b = system
    solve, rows = near_inverse(matrix), len(b)
    dense = solve(np.eye(rows))
    dense = (dense + dense.T) / 2
    operator = scipy.sparse.linalg.LinearOperator((rows, rows), matvec=solve, dtype=float)
    plain = getattr(oc.linalg, method)(own, b, rtol=1e-10)
    steps = []
    for M in (solve, operator, dense, scipy.sparse.csr_array(dense), lambda vector: solve(vector).reshape(-1, 1)):
        x, info = found = getattr(oc.linalg, method)(own, b, rtol=1e-10, M=M)
        assert info == 0 and found.converged
        np.testing.assert_allclose(np.linalg.norm(b - matrix @ x), found.residual, rtol=1e-3, atol=1e-14)
        np.testing.assert_allclose(x, scipy.sparse.linalg.spsolve(scipy.sparse.csc_array(matrix), b), atol=1e-7)
        assert 4 * found.iterations < plain.iterations
        steps.append(found.iterations)
    assert max(steps) - min(steps) <= 1
    seen = []
    kind = {"callback_type": "pr_norm"} if method == "gmres" else {}
    getattr(scipy.sparse.linalg, method)(matrix, b, rtol=1e-10, M=operator, callback=seen.append, **kind)
    # SciPy's minres and gmres stop by norms of their own.
    assert abs(len(seen) - steps[0]) <= (1 if method == "cg" else 6)


@pytest.mark.parametrize("method", METHODS)
def test_an_image_as_a_preconditioner_and_jacobi_as_a_function(system, tmp_path, method):
    own, matrix, b = system
    diagonal = scipy.sparse.diags_array(1 / (matrix.diagonal() + np.linspace(0, 1, len(b))))
    solver = getattr(oc.linalg, method)
    with oc.import_matrix(diagonal, tmp_path / "d.oc") as inverse:
        found = solver(own, b, M=inverse)
    assert found.converged and abs(found.iterations - solver(own, b, M=diagonal).iterations) <= 1
    jacobi = solver(own, b, M="jacobi")
    same = solver(own, b, M=lambda vector: vector / own.diagonal())
    assert abs(same.iterations - jacobi.iterations) <= 1
    np.testing.assert_allclose(same.x, jacobi.x, atol=1e-3)


def test_the_vectors_are_in_the_order_of_rows(system):
    own, matrix, b = system
    first = []
    oc.linalg.gmres(own, b, M=lambda vector: (first.append(vector), vector)[1], maxiter=1)
    np.testing.assert_allclose(first[0], b / np.linalg.norm(b), rtol=1e-14)
    # Each is an array of its own, which its user may keep or change.
    found = oc.linalg.cg(own, b, M=lambda vector: np.multiply(vector, 1.0, out=vector))
    assert np.array_equal(found.x, oc.linalg.cg(own, b).x) and len({id(vector) for vector in first}) == len(first)


def test_bits_do_not_depend_on_threads_and_back_ends(system):
    own, matrix, b = system
    solve = near_inverse(matrix)
    for method in METHODS:
        expected = getattr(oc.linalg, method)(own, b, M=solve)
        for options in ({"threads": 1}, {"backend": "posix", "memory": "64MiB"}, {"threads": 3}):
            with oc.SparseMatrix(own.graph.path, **options) as other:
                found = getattr(oc.linalg, method)(other, b, M=solve)
            assert np.array_equal(found.x, expected.x) and np.array_equal(found.residuals, expected.residuals)


class Wrong(Exception):
    pass


@pytest.mark.parametrize("method", METHODS)
def test_what_it_raises_comes_out_as_it_is(system, method):
    own, matrix, b = system
    solver = getattr(oc.linalg, method)
    calls = []

    def fails(vector):
        calls.append(len(vector))
        if len(calls) == 5:
            raise error
        return vector

    for error in (Wrong("own words"), MemoryError(), KeyboardInterrupt(), ZeroDivisionError()):
        calls.clear()
        with pytest.raises(type(error)) as caught:
            solver(own, b, M=fails)
        assert caught.value is error and len(calls) == 5
    # Nothing is left behind.
    assert solver(own, b).converged


@pytest.mark.parametrize("method", METHODS)
def test_what_cannot_be_is_refused(system, method):
    own, matrix, b = system
    rows, solver = len(b), getattr(oc.linalg, method)
    real = "return a vector of 1600 real numbers, found"
    for M, kind, text in (
        ("ilu", oc.UsageError, "expected M= as a preconditioner, which is None, 'jacobi', .* found 'ilu'"),
        (7, TypeError, "expected M= as a preconditioner"),
        ([1, 2], TypeError, "expected M= as a preconditioner"),
        (np.eye(3), oc.UsageError, "expected a preconditioner M of 1600 x 1600, found one of 3 x 3"),
        (np.ones((rows, 2)), oc.UsageError, "found one of 1600 x 2"),
        (scipy.sparse.eye_array(rows) * 1j, TypeError, real + " complex128 of shape"),
        (lambda vector: vector[:-1], TypeError, real + r" float64 of shape \(1599,\)"),
        (lambda vector: 1.0, TypeError, real + r" float64 of shape \(\)"),
        (lambda vector: None, TypeError, real + " object"),
        (lambda vector: np.stack([vector, vector]), TypeError, real),
        (lambda vector: np.where(np.arange(rows) == 7, np.nan, vector), oc.UsageError, "found NaN in row 7"),
        (lambda vector: np.where(np.arange(rows) == 9, -np.inf, vector), oc.UsageError, "found -inf in row 9"),
    ):
        with pytest.raises(kind, match=text):
            solver(own, b, M=M)


@pytest.mark.parametrize("method", ["cg", "minres"])
def test_preconditioners_that_do_not_fit_a_method(system, method):
    own, matrix, b = system
    solver, rows = getattr(oc.linalg, method), len(b)
    shift = scipy.sparse.eye_array(rows) + 0.01 * scipy.sparse.eye_array(rows, k=1)
    signs = scipy.sparse.diags_array(np.where(np.arange(rows) % 2 == 0, -1.0, 1.0))
    definite = "expected a positive definite preconditioner M, found a vector r with r.T M r = "
    for M, text in (
        (shift, "expected a symmetric preconditioner M"),
        (-scipy.sparse.eye_array(rows), definite + "-"),
        (signs @ scipy.sparse.diags_array(np.linspace(1.0, 2.0, rows)), definite),
        (lambda vector: 0 * vector, "expected a positive definite preconditioner M, .* = 0.000e0"),
    ):
        with pytest.raises(oc.UsageError, match=text):
            solver(own, b, rtol=1e-10, M=M)
    found = oc.linalg.gmres(own, b, M=signs, restart=200)
    assert found.converged


def test_small_ones(tmp_path):
    for diagonal in ([3.0], [2.0, 5.0]):
        with oc.import_matrix(scipy.sparse.diags_array(diagonal), tmp_path / "s.oc", replace=True) as own:
            for method in METHODS:
                solver, b = getattr(oc.linalg, method), np.ones(len(diagonal))
                for M in (np.diag(diagonal), lambda vector: vector / diagonal):
                    np.testing.assert_allclose(solver(own, b, M=M, rtol=1e-12).x, 1 / np.array(diagonal), rtol=1e-11)
                assert solver(own, 0 * b, M=lambda vector: vector).iterations == 0


def test_memory_of_vectors_counts_as_long_as_they_live(tmp_path):
    size = 200_000
    matrix = scipy.sparse.diags_array([-np.ones(size - 1), 3 * np.ones(size), -np.ones(size - 1)], offsets=[-1, 0, 1])
    oc.import_matrix(matrix, tmp_path / "m.oc").close()
    runtime = oc.Runtime(memory="48MiB")
    kept = []
    with oc.SparseMatrix(tmp_path / "m.oc", runtime=runtime) as own:
        before = runtime.available
        found = oc.linalg.cg(own, np.ones(size), M=lambda vector: vector / 3)
        assert found.converged
        with pytest.raises(oc.MemoryLimitError, match="a vector for a preconditioner as a NumPy array"):
            oc.linalg.cg(own, np.ones(size), rtol=1e-14, M=lambda vector: (kept.append(vector), vector.copy())[1])
        assert len(kept) > 4
        kept.clear()
        del found
        gc.collect()
        assert runtime.available >= before - 2 * 8 * size


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, outcore as oc

calls = []
def slow(vector):
    calls.append(1)
    if len(calls) == 3:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    time.sleep(0.05)
    return vector

own = oc.SparseMatrix(sys.argv[1])
try:
    oc.linalg.cg(own, np.arange(own.shape[0]), rtol=1e-14, M=slow)
except KeyboardInterrupt:
    assert 3 <= len(calls) < 30, calls
    assert oc.linalg.cg(own, np.ones(own.shape[0])).converged
    print("interrupted")
"""


def test_ctrl_c_ends_it(system):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(system[0].graph.path)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "interrupted", done.stdout + done.stderr


def test_several_threads_solve_with_functions_at_the_same_time(system):
    own, matrix, b = system
    solve, found = near_inverse(matrix), {}

    def run(i):
        with oc.SparseMatrix(own.graph.path) as other:
            found[i] = oc.linalg.cg(other, b, M=solve).x

    threads = [threading.Thread(target=run, args=(i,)) for i in range(3)]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    assert all(np.array_equal(found[i], oc.linalg.cg(own, b, M=solve).x) for i in range(3))
