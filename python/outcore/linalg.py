"""Eigenvalues and more of sparse matrices on disk. Names, defaults and shapes are those of `scipy.sparse.linalg`.

A matrix is an `outcore.SparseMatrix`, or the path of an image or an `outcore.Graph`, whose matrix is meant. Vectors that
solvers work with are in memory as far as the limit has room for them, otherwise in a temporary file beside the image, or
where the runtime says. Results have the same bits for all numbers of threads, all limits and back ends.
"""

import os
from typing import Any, Literal

import numpy as np

from outcore import _outcore
from outcore._errors import ConvergenceError
from outcore._matrix import SparseMatrix
from outcore._outcore import Graph

__all__ = ["EigshResult", "SvdResult", "eigsh", "randomized_svd", "svds"]

_Matrix = SparseMatrix | Graph | str | os.PathLike[str]


class _Result(tuple[Any, ...]):
    """The arrays that a function of SciPy's returns, as a tuple, with attributes."""

    products: int
    """How many vectors were multiplied by the matrix or its transpose."""
    stats: dict[str, Any]
    """What it cost: passes, bytes read, seconds and so on."""

    def __new__(cls, members: tuple[Any, ...], **attributes: Any) -> "_Result":
        result = super().__new__(cls, members)
        vars(result).update(attributes)
        return result

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (tuple(self),)


class EigshResult(_Result):
    """Eigenvalues and eigenvectors: `values, vectors = result`, and what is known of them."""

    eigenvalues: np.ndarray
    """The eigenvalues, in ascending order."""
    eigenvectors: np.ndarray | None
    """A column of length 1 for each, unless they were not wanted."""
    residuals: np.ndarray
    """The length of `A v - w v` for each pair, from a product with the vector that is returned."""
    restarts: int
    """How often a full subspace was begun again."""


class SvdResult(_Result):
    """Singular values and vectors: `u, s, vh = result`, and what is known of them."""

    left: np.ndarray | None
    """Left singular vectors as columns, unless they were not wanted."""
    singular_values: np.ndarray
    """The singular values, in the order of the function that found them."""
    right: np.ndarray | None
    """Right singular vectors as columns: `vh` is its transpose."""
    residuals: np.ndarray | None
    """Of `svds`: the length of `A.T u - s v` for each, or of `A v - s u` where there are more columns than rows."""
    means: np.ndarray | None
    """Of `randomized_svd`: the mean of every column, if it was taken away."""


def eigsh(
    A: _Matrix,
    k: int = 6,
    *,
    which: Literal["LM", "LA", "SA"] = "LM",
    ncv: int | None = None,
    maxiter: int = 1000,
    tol: float = 0.0,
    return_eigenvectors: bool = True,
    block: Literal[1, 2, 4, 8] = 2,
    seed: int = 0,
    out: np.ndarray | None = None,
) -> Any:
    """Finds k eigenvalues and eigenvectors of a symmetric matrix.

    Repeated eigenvalues are found as often as they are there: when all wanted pairs have converged, the method begins
    again with random vectors orthogonal to them, until a bound says that a missed one has a probability below 10^-3 to
    the power of the block.

    Args:
        A: A symmetric matrix of shape `(n, n)`. One that is stored as a general one is compared with its transpose, by
            a product with a random vector each.
        k: How many, from 1 to n.
        which: "LM", those of greatest magnitude; "LA", the greatest; "SA", the least.
        ncv: The most columns of the subspace; by default `2 k + 96`, if 64 GiB of disk hold so many. More need fewer
            products.
        maxiter: The most restarts of a full subspace.
        tol: The greatest residual, in units of the greatest eigenvalue's magnitude; 0 for what rounding allows.
        return_eigenvectors: Whether vectors are returned.
        block: How many vectors are multiplied in a pass over the matrix. Each takes `16 n` bytes of memory. More make
            fewer passes, and multiplications of more vectors.
        seed: Where random numbers begin.
        out: An array of shape `(n, k)` for the vectors, such as one of `numpy.lib.format.open_memmap`, whose memory does
            not count under the limit.

    Returns:
        An `EigshResult`: eigenvalues in ascending order and their vectors, as a tuple.

    Cost: at least `16 n` bytes of memory per column of a block, and `8 n k` for the result unless it has `out`; up to
    `8 n ncv` bytes of disk, if memory has no room for them; a pass over the lists per step, mostly 30 to 300.

    Raises:
        UsageError: A matrix that is not square or not symmetric, or options that cannot be.
        MemoryLimitError: Too little memory for two blocks, or for the result.
        ConvergenceError: Too few pairs converged; its `result` is an `EigshResult` with the best that there are.

    Grimes, Lewis and Simon, A shifted block Lanczos algorithm, SIAM J. Matrix Anal. 1994; Wu and Simon, Thick-restart
    Lanczos method, SIAM J. Matrix Anal. 2000.

    >>> import scipy.sparse
    >>> path = scipy.sparse.diags_array([np.ones(4), np.ones(4)], offsets=[-1, 1])
    >>> values, vectors = oc.linalg.eigsh(oc.import_matrix(path, "path.oc", replace=True), k=2, which="LA")
    >>> values.round(6)
    array([1.      , 1.732051])
    """
    matrix = _opened(A)
    found = _outcore.eigsh(
        matrix._matrix, k=k, which=which, tol=tol, ncv=ncv, block=block, max_iter=maxiter, seed=seed,
        vectors=return_eigenvectors, out=out,
    )  # fmt: skip
    values, vectors = np.array(found.pop("values")), found.pop("vectors", None)
    residuals, bound, converged = np.array(found.pop("residuals")), found.pop("residual_bound"), found.pop("converged")
    members = (values, vectors) if return_eigenvectors else (values,)
    result = EigshResult(members, eigenvalues=values, eigenvectors=vectors, residuals=residuals, **found)
    _require(converged, k, bound, result)
    return result if return_eigenvectors else values


def svds(
    A: _Matrix,
    k: int = 6,
    *,
    ncv: int | None = None,
    tol: float = 0.0,
    maxiter: int = 1000,
    return_singular_vectors: bool = True,
    block: Literal[1, 2, 4, 8] = 2,
    seed: int = 0,
) -> Any:
    """Finds the k greatest singular values of a matrix, and their vectors.

    It works on the product of the matrix and its transpose, and in the end on the matrix itself: singular values below
    10^-7 of the greatest have only as many right digits as the square of that leaves.

    Args:
        A: A matrix of shape `(m, n)`.
        k: How many, from 1 to `min(m, n)`.
        tol: The greatest residual, in units of the greatest singular value; 0 for what rounding allows.
        ncv, maxiter, block, seed: As with `eigsh`.
        return_singular_vectors: Whether vectors are returned, or the values alone.

    Returns:
        An `SvdResult`: `u` of shape `(m, k)`, `s` in ascending order as SciPy has it, and `vh` of shape `(k, n)`, as a
        tuple.

    Cost: at least `16 min(m, n) + 8 max(m, n)` bytes of memory per column of a block, and `8 (m + n) k` for the result;
    up to `8 min(m, n) ncv` bytes of disk; a pass over the rows and one over the columns per step.

    Raises:
        UsageError: Options that cannot be.
        MemoryLimitError: Too little memory for the blocks, or for the result.
        ConvergenceError: Too few values converged; its `result` is an `SvdResult` with the best that there are.

    Golub and Kahan, Calculating the singular values and pseudo-inverse of a matrix, SIAM J. Numer. Anal. 1965.

    >>> u, s, vh = oc.linalg.svds(oc.SparseMatrix("web.oc"), k=2)
    >>> s.round(6)
    array([1.618034, 2.      ])
    """
    matrix = _opened(A)
    found = _outcore.svds(
        matrix._matrix, k=k, tol=tol, ncv=ncv, block=block, max_iter=maxiter, seed=seed, vectors=return_singular_vectors
    )
    values, residuals = np.array(found.pop("values"))[::-1], np.array(found.pop("residuals"))[::-1]
    left, right = (found.pop(side)[:, ::-1] if side in found else None for side in ("left", "right"))
    bound, converged = found.pop("residual_bound"), found.pop("converged")
    members = (values,) if left is None or right is None else (left, values, right.T)
    result = SvdResult(
        members, left=left, singular_values=values, right=right, residuals=residuals, means=None, **found
    )
    _require(converged, k, bound, result)
    return result if return_singular_vectors else values


def randomized_svd(
    A: _Matrix,
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
            it more exact.
        n_oversamples: How many random vectors beyond k.
        center: Whether the mean of every column is taken away from it, as for principal components; the matrix stays
            sparse. A pass more.
        random_state: Where random numbers begin.

    Returns:
        An `SvdResult`: `u` of shape `(m, k)`, `s` in descending order as scikit-learn has it, and `vh` of shape `(k, n)`,
        as a tuple.

    Cost: the passes; memory for `k + n_oversamples` vectors of both sides, twice while they are multiplied. Where there
    is less, vectors go to a temporary file, and fewer are multiplied at once, in more passes.

    Raises:
        UsageError: Options that cannot be.
        MemoryLimitError: Too little memory for a block of eight vectors of each side, or for the result.

    Halko, Martinsson and Tropp, Finding structure with randomness, SIAM Review 2011.

    >>> u, s, vh = oc.linalg.randomized_svd(oc.SparseMatrix("web.oc"), 2)
    >>> s.round(6)
    array([2.      , 1.618034])
    """
    found = _outcore.randomized_svd(
        _opened(A)._matrix, k=k, oversamples=n_oversamples, passes=passes, center=center, seed=random_state
    )
    left, values, right = found.pop("left"), np.array(found.pop("values")), found.pop("right")
    members = (left, values, right.T)
    return SvdResult(members, left=left, singular_values=values, right=right, residuals=None, **found)


def _require(converged: int, k: int, bound: float, result: Any) -> None:
    """An error, which has the result, if too few pairs have converged."""
    if converged < k:
        text = (
            f"{converged} of {k} pairs converged to a residual of {bound:g} within {result.restarts} restarts; "
            "raise maxiter, ncv or tol, or take this error's `result`"
        )
        error = ConvergenceError(text)
        error.result = result
        raise error


def _opened(matrix: _Matrix) -> SparseMatrix:
    return matrix if isinstance(matrix, SparseMatrix) else SparseMatrix(matrix)
