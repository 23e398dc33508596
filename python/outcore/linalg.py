"""Eigenvalues and more of sparse matrices on disk. Names, defaults and shapes are those of `scipy.sparse.linalg`.

A matrix is an `outcore.SparseMatrix`, or the path of an image or an `outcore.Graph`, whose matrix is meant. Vectors
that solvers work with are in memory as far as the limit has room for them, otherwise in a temporary file beside the
image, or where the runtime says. Results have the same bits for all numbers of threads, all limits and back ends.
"""

import os
from typing import Any, Literal

import numpy as np

from outcore import _outcore
from outcore._errors import UsageError
from outcore._graphs.report import Rows, rows_of
from outcore._inputs.tables import unmasked
from outcore._linalg.bellman_ford import bellman_ford
from outcore._linalg.dense_operands import check_writable
from outcore._linalg.expm_multiply import expm_multiply
from outcore._linalg.pagerank import PageRankResult, pagerank
from outcore._linalg.preconditioner import preconditioner
from outcore._linalg.results import Result, opened, reported, require
from outcore._linalg.spectral_embedding import EmbeddingResult, spectral_embedding
from outcore._options import checked

__all__ = [
    "EigshResult",
    "EmbeddingResult",
    "NmfResult",
    "PageRankResult",
    "Solution",
    "SvdResult",
    "bellman_ford",
    "bicgstab",
    "cg",
    "eigs",
    "eigsh",
    "expm_multiply",
    "gmres",
    "minres",
    "nmf",
    "pagerank",
    "randomized_svd",
    "spectral_embedding",
    "svds",
]


class EigshResult(Result):
    """Eigenvalues and eigenvectors: `values, vectors = result`, and what is known of them."""

    eigenvalues: np.ndarray
    """The eigenvalues: of `eigsh` in ascending order, of `eigs` the most wanted first."""
    eigenvectors: np.ndarray | None
    """A column of length 1 for each, unless they were not wanted."""
    residuals: np.ndarray
    """The length of `A v - w v` for each pair, from a product with the vector that is returned."""
    restarts: int
    """How often a full subspace was begun again."""
    complete: bool
    """Whether it is known that no pair is missing that is wanted more; of an error's `result` it may be not."""

    def _tables(self) -> list[Rows]:
        return [rows_of("Eigenvalues and residuals", eigenvalue=self.eigenvalues, residual=self.residuals)]


class SvdResult(Result):
    """Singular values and vectors: `u, s, vh = result`, and what is known of them."""

    left: np.ndarray | None
    """Left singular vectors as columns, unless they were not wanted."""
    singular_values: np.ndarray
    """The singular values, in the order of the function that found them."""
    right: np.ndarray | None
    """Right singular vectors as columns: `vh` is its transpose."""
    residuals: np.ndarray
    """Of `svds`: the length of `A.T u - s v` for each, or of `A v - s u` where there are more columns than rows. Of
    `randomized_svd` that of `A v - s u`."""
    restarts: int
    """Of `svds`: how often a full subspace was begun again."""
    complete: bool
    """Of `svds`: whether it is known that no greater value is missing; of an error's `result` it may be not."""
    means: np.ndarray | None
    """Of `randomized_svd`: the mean of every column, if it was taken away."""

    def _tables(self) -> list[Rows]:
        return [rows_of("Singular values and residuals", value=self.singular_values, residual=self.residuals)]


class NmfResult(Result):
    """Non-negative factors: `W, H = result`, and what is known of them."""

    losses: np.ndarray
    """The sum of the squares of `A - W H` in the beginning and after every iteration, without penalties."""
    residual: float
    """The length of `A - W H`: the root of the last loss, as scikit-learn's `reconstruction_err_`."""
    iterations: int
    """How many iterations there were."""
    converged: bool
    """Whether it ended because of `tol`."""

    def _tables(self) -> list[Rows]:
        return [rows_of("Losses by iterations", last=True, loss=self.losses)]


class Solution(Result):
    """The solution of a system of equations: `x, info = result` as SciPy has it, and what is known of it."""

    x: np.ndarray
    """The vector."""
    residual: float
    """The length of `b - A x`, from a product with the vector that is returned."""
    residual_bound: float
    """The greatest residual that counts as converged."""
    residuals: np.ndarray
    """The residual in the beginning and after every iteration, as the method's recurrence has it."""
    converged: bool
    """Whether the residual is as small as was asked for."""
    stopped_by: str
    """Why the method stopped: "residual", "iterations" or "stagnation"."""
    iterations: int
    """Steps of the method."""

    def _tables(self) -> list[Rows]:
        solution = rows_of("The solution", x=self.x)
        return [rows_of("Residuals by iterations", last=True, residual=self.residuals), solution]


@checked
@reported
def eigsh(
    A: Any,
    k: int = 6,
    *,
    which: Literal["LM", "LA", "SA", "SM"] = "LM",
    ncv: int | None = None,
    maxiter: int = 1000,
    tol: float = 0.0,
    return_eigenvectors: bool = True,
    block: int = 2,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    out: np.ndarray | None = None,
) -> Any:
    """Finds k eigenvalues and eigenvectors of a symmetric matrix, or of a Hermitian one with complex values.

    Repeated eigenvalues are found as often as they are there: where as many wanted ones as a block has columns are
    equal, the method begins again with random vectors orthogonal to all that were found, until a bound says that a
    missed one has a probability below 10^-3 to the power of the block.

    Args:
        A: A symmetric matrix of shape `(n, n)`, or a Hermitian one if its values are complex. One that is stored as a
            general one is compared with its transpose, or its adjoint, by a product with a random vector each
            and one with magnitudes.
        k: How many, from 1 to n.
        which: "LM", those of greatest magnitude; "LA", the greatest; "SA", the least; "SM", those next to zero, which
            are the least or the greatest where all are on one side of zero. Otherwise they are inside the spectrum:
            with thousands of eigenvalues near zero that takes hundreds of thousands of products.
        ncv: The most columns of the subspace; by default `2 k + 96`, or as many as 64 GiB of disk hold. With more
            columns fewer products are needed.
        maxiter: The most restarts of a full subspace.
        tol: The greatest residual of a pair, in units of its eigenvalue's magnitude, as in SciPy; 0 for what rounding
            allows, which is a part of the greatest eigenvalue.
        return_eigenvectors: Whether vectors are returned.
        block: How many vectors are multiplied in a pass over the matrix: 1, 2, 4 or, unless they are complex, 8. Each
            takes `16 n` bytes of memory. With more vectors there are fewer passes, but more products.
        seed: Where random numbers begin.
        checkpoint: A folder that the run is kept in while it goes on, which takes a twentieth of the time at most. The
            same call goes on from there with the same bits, where the one before was killed or had too few restarts.
            The folder takes up to `12 n ncv` bytes, and is yours to remove. It belongs to this matrix and these
            options.
        out: An array of shape `(n, k)` for the vectors, of float64 or, if the matrix is complex, complex128; such as
            one of `numpy.lib.format.open_memmap`, whose memory does not count under the limit.

    Returns:
        An `EigshResult`: eigenvalues in ascending order and their vectors, as a tuple.

    Cost: at least `16 n` bytes of memory per column of a block, and `8 n k` for the result unless it has `out`; up to
    `8 n ncv` bytes of disk, if memory has no room for them; a pass over the lists per step, mostly 30 to 300. Complex
    vectors take twice the bytes, and no more passes.

    Raises:
        UsageError: A matrix that is not square, not symmetric or not Hermitian, or options that cannot be.
        MemoryLimitError: Too little memory for two blocks, or for the result.
        ConvergenceError: Too few pairs converged, or it is not known that none is missing; its `result` is an
            `EigshResult` with the best that there are.

    Grimes, Lewis and Simon, A shifted block Lanczos algorithm, SIAM J. Matrix Anal. 1994; Wu and Simon, Thick-restart
    Lanczos method, SIAM J. Matrix Anal. 2000.

    >>> import scipy.sparse
    >>> path = scipy.sparse.diags_array([np.ones(4), np.ones(4)], offsets=[-1, 1])
    >>> values, vectors = oc.linalg.eigsh(oc.import_matrix(path, "path.oc", replace=True), k=2, which="LA")
    >>> values.round(6)
    array([1.      , 1.732051])
    """
    matrix = opened(A)
    if out is not None:
        wanted = (matrix.shape[0], k)
        if not isinstance(out, np.ndarray):
            raise TypeError(f"expected out= as a NumPy array, found a {type(out).__name__}")
        check_writable(out)
        if out.shape != wanted or out.dtype != matrix.dtype or not out.flags.c_contiguous:
            text = f"{wanted[0]} x {wanted[1]} numbers of {matrix.dtype}, row by row and writeable"
            raise UsageError(f"expected an array for {text}, found one of shape {out.shape} and {out.dtype}")
    options = {
        "k": k, "which": which, "tol": tol, "ncv": ncv, "block": block, "maxiter": maxiter, "seed": seed,
    }  # fmt: skip
    found = _outcore.run_solver(
        "eigsh", matrix._matrix, options, checkpoint=checkpoint, vectors=return_eigenvectors,
        out=None if out is None else out.view(np.float64),
    )  # fmt: skip
    values = found.pop("eigenvalue")
    vectors = found.pop("vectors").view(matrix.dtype) if return_eigenvectors else None
    return _eigenpairs(found, k, values, vectors if out is None or vectors is None else out, which)


@checked
@reported
def eigs(
    A: Any,
    k: int = 6,
    *,
    which: Literal["LM", "LR", "SR", "LI", "SI"] = "LM",
    ncv: int | None = None,
    maxiter: int = 1000,
    tol: float = 0.0,
    return_eigenvectors: bool = True,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Any:
    """Finds k eigenvalues and eigenvectors of a square matrix that need not be symmetric.

    When all wanted ones have converged the method begins again with a random vector beside them, so copies of repeated
    eigenvalues are found, too, though nothing proves that none is missed.

    Args:
        A: A matrix of shape `(n, n)`.
        k: How many, from 1 to n. Of a conjugate pair that does not fit only the one with the positive imaginary part is
            returned.
        which: "LM", those of greatest magnitude; "LR" and "SR", those with the greatest and least real parts; "LI" and
            "SI", those whose imaginary parts are greatest and least in absolute terms. "SI" looks into the midst of a
            spectrum, and so may "LM" where all magnitudes are alike: there some may be missed.
        ncv, maxiter, tol, return_eigenvectors, seed: As with `eigsh`.

    Returns:
        An `EigshResult`: complex eigenvalues, the most wanted first, and complex vectors of length 1, as a tuple.

    Cost: at least `32 n` bytes of memory, and `16 n k` for the result; up to `8 n ncv` bytes of disk; a pass over the
    lists for each vector that is multiplied.

    Raises:
        UsageError: A matrix that is not square, or options that cannot be.
        MemoryLimitError: Too little memory for four vectors, or for the result.
        ConvergenceError: Too few pairs converged, or it is not known that none is missing; its `result` is an
            `EigshResult` with the best that there are.

    Stewart, A Krylov-Schur algorithm for large eigenproblems, SIAM J. Matrix Anal. 2001.

    >>> oc.import_graph([(0, 1), (1, 2), (2, 0)], "turn.oc", replace=True)["edges"]
    3
    >>> oc.linalg.eigs("turn.oc", 3, which="LR").eigenvalues.round(6)
    array([ 1. +0.j      , -0.5+0.866025j, -0.5-0.866025j])
    """
    matrix = opened(A)
    options = {"k": k, "which": which, "tol": tol, "ncv": ncv, "maxiter": maxiter, "seed": seed}
    found = _outcore.run_solver("eigs", matrix._matrix, options, checkpoint=checkpoint, vectors=return_eigenvectors)
    # Not a sum, which would change the signs of zeros.
    values = np.stack([found.pop("eigenvalue_real"), found.pop("eigenvalue_imag")], axis=1).view(np.complex128)[:, 0]
    return _eigenpairs(found, k, values, found.pop("vectors").view(np.complex128) if return_eigenvectors else None)


@checked
@reported
def svds(
    A: Any,
    k: int = 6,
    *,
    ncv: int | None = None,
    tol: float = 0.0,
    maxiter: int = 1000,
    return_singular_vectors: bool = True,
    block: int = 2,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Any:
    """Finds the k greatest singular values of a matrix, and their vectors.

    It works on the product of the matrix and its transpose, and in the end on the matrix itself. Values below a
    ten-thousandth of the greatest are found by a further run, without the pairs that are known by then; all are right
    to the rounding of the greatest.

    Args:
        A: A matrix of shape `(m, n)`.
        k: How many, from 1 to `min(m, n)`.
        tol: The greatest residual of a pair, in units of its singular value; 0 for what rounding allows.
        ncv, maxiter, block, seed: As with `eigsh`.
        return_singular_vectors: Whether vectors are returned, or the values alone.

    Returns:
        An `SvdResult`: `u` of shape `(m, k)`, `s` in ascending order as SciPy has it, and `vh` of shape `(k, n)`, as a
        tuple.

    Cost: at least `24 min(m, n) + 8 max(m, n)` bytes of memory per column of a block, and `8 (m + n) k` for the result;
    up to `8 min(m, n) ncv` bytes of disk; a pass over the rows and one over the columns per step.

    Raises:
        UsageError: Options that cannot be.
        MemoryLimitError: Too little memory for the blocks, or for the result.
        ConvergenceError: Too few values converged, or it is not known that none is missing; its `result` is an
            `SvdResult` with the best that there are.

    Golub and Kahan, Calculating the singular values and pseudo-inverse of a matrix, SIAM J. Numer. Anal. 1965.

    >>> u, s, vh = oc.linalg.svds(oc.SparseMatrix("web.oc"), k=2)
    >>> s.round(6)
    array([1.24698 , 1.801938])
    """
    matrix = opened(A)
    options = {"k": k, "tol": tol, "ncv": ncv, "block": block, "maxiter": maxiter, "seed": seed}
    found = _outcore.run_solver("svds", matrix._matrix, options, checkpoint=checkpoint, vectors=return_singular_vectors)
    values, residuals = found.pop("singular_value")[::-1], found.pop("residual")[::-1]
    left, right = (found.pop(side)[:, ::-1] if side in found else None for side in ("vectors", "right"))
    bound, converged = found.pop("residual_bound"), found.pop("converged")
    members = (values,) if left is None or right is None else (left, values, right.T)
    result = SvdResult(
        members, left=left, singular_values=values, right=right, residuals=residuals, means=None, **found
    )
    require(converged, k, bound, result)
    return result if return_singular_vectors else values


@checked
@reported
def randomized_svd(
    A: Any,
    k: int,
    *,
    passes: int = 4,
    n_oversamples: int = 10,
    center: bool = False,
    random_state: int = 0,
) -> Any:
    """Approximates the k greatest singular values of a matrix, and their vectors, in a number of passes that is known.

    Args:
        A: A matrix of shape `(m, n)`.
        k: How many, from 1 to `min(m, n)`.
        passes: How often the matrix is read: 2, 4, 6 and so on; scikit-learn's `n_iter` is `passes / 2 - 1`. More make
            it more exact. A pass more is for the residuals, which say how exact it is.
        n_oversamples: How many random vectors beyond k.
        center: Whether the mean of every column is taken away from it, as for principal components; the matrix stays
            sparse. A pass more.
        random_state: Where random numbers begin.

    Returns:
        An `SvdResult`: `u` of shape `(m, k)`, `s` in descending order as scikit-learn has it, and `vh` of shape `(k,
        n)`, as a tuple.

    Cost: the passes; memory for `k + n_oversamples` vectors of both sides, twice while they are multiplied, and for
    those of every second pass, sixteen passes at most. Where there is less, vectors go to a temporary file, and fewer
    are multiplied at once, in more passes.

    Raises:
        UsageError: Options that cannot be.
        MemoryLimitError: Too little memory for a block of eight vectors of each side, or for the result.

    Halko, Martinsson and Tropp, Finding structure with randomness, SIAM Review 2011; Musco and Musco, Randomized block
    Krylov methods for stronger and faster approximate singular value decomposition, NIPS 2015.

    >>> u, s, vh = oc.linalg.randomized_svd(oc.SparseMatrix("web.oc"), 2)
    >>> s.round(6)
    array([1.801938, 1.24698 ])
    """
    matrix = opened(A)
    options = {
        "k": k, "n_oversamples": n_oversamples, "passes": passes, "center": center, "random_state": random_state,
    }  # fmt: skip
    found = _outcore.run_solver("randomized_svd", matrix._matrix, options)
    left, values, right = found.pop("vectors"), found.pop("singular_value"), found.pop("right")
    means = found.pop("means", None)
    residuals = found.pop("residual")
    members = (left, values, right.T)
    return SvdResult(members, left=left, singular_values=values, right=right, residuals=residuals, means=means, **found)


@checked
@reported
def nmf(
    A: Any,
    n_components: int = 8,
    *,
    solver: Literal["hals", "mu"] = "hals",
    tol: float = 1e-4,
    max_iter: int = 200,
    alpha_W: float = 0.0,
    alpha_H: float = 0.0,
    l1_ratio: float = 0.0,
    random_state: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Any:
    """Finds non-negative factors of a matrix without negative entries: `A` is about `W @ H` in the least squares sense.

    Args:
        A: A matrix of shape `(m, n)`.
        n_components: How many columns W has, and rows H; at most 64.
        solver: "hals", hierarchical alternating least squares, which is scikit-learn's coordinate descent ("cd")
            without shuffling; "mu", multiplicative updates.
        tol: When it ends. "hals": the sum of the lengths of all derivatives that lead to less loss, in units of that of
            the first iteration; "mu": by how much the loss's root falls in ten iterations, in units of what it was.
        max_iter: The most iterations. Reaching it is no error.
        alpha_W, alpha_H, l1_ratio: Penalties as scikit-learn has them; `alpha_H` is 0 by default, and not "same".
        random_state: Where random numbers begin.
        checkpoint: A folder that the run is kept in, as with `eigsh`.

    Returns:
        An `NmfResult`: W of shape `(m, n_components)` and H of shape `(n_components, n)`, as a tuple.

    Cost: a pass in the beginning and two per iteration, for up to 32 components. `8 k (m + n + max(m, n))` bytes with k
    components rounded up to a power of two (or a multiple of 32); with less memory, columns lie in a temporary file.

    Raises:
        UsageError: Negative entries, or options that cannot be.
        MemoryLimitError: Too little memory for a column of each factor, or for the result.

    Lee and Seung, Algorithms for non-negative matrix factorization, NIPS 2000; Cichocki and Phan, Fast local algorithms
    for large scale nonnegative matrix and tensor factorizations, IEICE Trans. Fundamentals 2009.

    >>> W, H = found = oc.linalg.nmf(oc.SparseMatrix("web.oc"), 3)
    >>> W.shape, H.shape, bool(W.min() >= 0), bool(found.losses[-1] < found.losses[0])
    ((4, 3), (3, 4), True, True)
    """
    matrix = opened(A)
    options = {
        "n_components": n_components, "solver": solver, "tol": tol, "max_iter": max_iter, "alpha_w": alpha_W,
        "alpha_h": alpha_H, "l1_ratio": l1_ratio, "random_state": random_state,
    }  # fmt: skip
    found = _outcore.run_solver("nmf", matrix._matrix, options, checkpoint=checkpoint)
    losses = found.pop("loss")
    residual = float(np.sqrt(losses[-1]))
    return NmfResult((found.pop("vectors"), found.pop("right").T), losses=losses, residual=residual, **found)


@checked
@reported
def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> Solution:
    """Solves `A x = b` with a symmetric, positive definite matrix by the method of conjugate gradients.

    Args:
        A: A matrix of shape `(n, n)`.
        b: A vector of n numbers.
        x0: Where to begin; by default at 0.
        rtol: The greatest residual, in units of the length of `b`; 1e-5 by default.
        atol: The greatest residual, 0 by default; the greater of both counts.
        maxiter: The most iterations; by default `10 n`.
        M: A preconditioner, which is near the inverse of A: `None`; "jacobi", the inverse of the diagonal; a matrix
            that `scipy.sparse.linalg.aslinearoperator` takes; or a function that returns the product of such a matrix
            with the vector that it is given. It is symmetric and positive definite. What it raises comes out as it is.
            It is called from another thread, once per iteration; two products with random vectors show first whether it
            is symmetric.

    Returns:
        A `Solution`: the vector, and 0 if it converged or the number of iterations if not, but at least 1, as a tuple.

    Cost: a pass over all lists per iteration, and one for the residual at the end; 32 bytes per row, with "jacobi" 40,
    with another preconditioner 48, 8 more for the array that it is given, and what it takes itself, which does not
    count under the limit. A matrix that is not stored as symmetric is compared with its transpose first, by two
    products and one with magnitudes.

    Raises:
        UsageError: A matrix or a preconditioner that is not square, not symmetric or, as far as it is seen, not
            positive definite; sizes and options that cannot be; numbers that are not finite.
        MemoryLimitError: Too little memory for the vectors.

    Hestenes and Stiefel, Methods of conjugate gradients for solving linear systems, 1952.

    >>> import scipy.sparse
    >>> L = scipy.sparse.diags_array([-np.ones(4), 2 * np.ones(5), -np.ones(4)], offsets=[-1, 0, 1])
    >>> x, info = oc.linalg.cg(oc.import_matrix(L, "line.oc", replace=True), [1, 0, 0, 0, 1])
    >>> x.round(6), info
    (array([1., 1., 1., 1., 1.]), 0)
    """
    return _solved("cg", A, b, x0, rtol=rtol, atol=atol, maxiter=maxiter, M=M)


@checked
@reported
def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> Solution:
    """Solves `A x = b` with a symmetric matrix by the method of minimal residuals; arguments are those of `cg`.

    Of a singular system without a solution it finds a vector with the least residual, the shortest one if there is
    neither an `x0` nor a preconditioner, and says that it has not converged. A pass at the beginning shows the
    rounding of products. 56 bytes per row, with "jacobi" 72, with another preconditioner 80 and 8 more for its array;
    `maxiter` is `5 n` by default.

    Paige and Saunders, Solution of sparse indefinite systems of linear equations, SIAM J. Numer. Anal. 1975.
    """
    return _solved("minres", A, b, x0, rtol=rtol, atol=atol, maxiter=maxiter, M=M)


@checked
@reported
def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    restart: int = 20,
    M: Any = None,
) -> Solution:
    """Solves `A x = b` with a square matrix by the method of generalized minimal residuals, restarted; other arguments
    are those of `cg`.

    Args:
        restart: How many vectors a cycle keeps. `maxiter` counts cycles. They are in memory as far as there is room,
            and otherwise in a temporary file.
        M: Any preconditioner; it is on the right, so the residual is that of the system itself.

    Saad and Schultz, GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems, SIAM J.
    Sci. Stat. Comput. 1986.
    """
    return _solved("gmres", A, b, x0, rtol=rtol, atol=atol, maxiter=maxiter, restart=restart, M=M)


@checked
@reported
def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> Solution:
    """Solves `A x = b` with a square matrix by the method of stabilized biconjugate gradients; arguments are those of
    `cg`, but any preconditioner is taken: it is on the right, so the residual is that of the system itself.

    It keeps fewer vectors than `gmres`, and does not begin again after so many; but residuals may rise on their way,
    and some systems take many iterations. Where a step may be rounding alone, it begins again from there. If it does
    not converge, the vector is the best one on its way. Two passes over all lists per iteration; 56 bytes per row, with
    "jacobi" 72, with another preconditioner 80 and 8 more for its array; it is called twice per iteration. `maxiter` is
    `10 n` by default.

    van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric linear
    systems, SIAM J. Sci. Stat. Comput. 1992.

    >>> import scipy.sparse
    >>> A = scipy.sparse.diags_array([2 * np.ones(5), -np.ones(4)], offsets=[0, 1])
    >>> x, info = oc.linalg.bicgstab(oc.import_matrix(A, "ahead.oc", replace=True), [1, 1, 1, 1, 2])
    >>> x.round(4), info
    (array([1., 1., 1., 1., 1.]), 0)
    """
    return _solved("bicgstab", A, b, x0, rtol=rtol, atol=atol, maxiter=maxiter, M=M)


def _solved(method: str, A: Any, b: Any, x0: Any, *, M: Any, restart: int = 20, **options: Any) -> Solution:
    def vector(name: str, given: Any) -> np.ndarray:
        column = unmasked(given)
        # SciPy takes a matrix of one column, too.
        if column.dtype.kind not in "biuf" or column.ndim not in (1, 2) or column.shape[1:] not in ((), (1,)):
            found = f"{column.dtype} of shape {column.shape}"
            raise TypeError(f"expected {name} as a vector of real numbers, found {found}")
        return np.ascontiguousarray(column.reshape(-1), dtype=np.float64)

    matrix = opened(A)
    found = _outcore.solve(
        method, matrix._matrix, vector("b", b), x0=None if x0 is None else vector("x0", x0),
        preconditioner=preconditioner(M, matrix.shape[0]), restart=restart, **options,
    )  # fmt: skip
    info = 0 if found["converged"] else max(found["iterations"], 1)
    return Solution((found["x"], info), **found)


def _eigenpairs(
    found: dict[str, Any], k: int, values: np.ndarray, vectors: np.ndarray | None, which: str = "LM"
) -> Any:
    residuals, bound, converged = found.pop("residual"), found.pop("residual_bound"), found.pop("converged")
    members = (values,) if vectors is None else (values, vectors)
    result = EigshResult(members, eigenvalues=values, eigenvectors=vectors, residuals=residuals, **found)
    require(converged, k, bound, result, which)
    return values if vectors is None else result
