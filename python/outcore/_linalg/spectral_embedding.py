"""Spectral embeddings of graphs."""

import os
from typing import Any

import numpy as np

from outcore import _outcore
from outcore._graphs.report import Rows, rows_of
from outcore._linalg.results import Result, opened, reported, require
from outcore._options import checked


class EmbeddingResult(Result):
    """A spectral embedding: `embedding, eigenvalues = result`, and what is known of it."""

    embedding: np.ndarray
    """A row for each vertex, a column for each eigenvalue."""
    eigenvalues: np.ndarray
    """The Laplacian's eigenvalues, in ascending order."""
    residuals: np.ndarray
    """The length of `L v - w v` for each eigenvector of length 1, which is a column before its rows are scaled."""
    restarts: int
    """The number of restarts after a full subspace."""
    complete: bool
    """Whether it is known that no pair is missing that is wanted more; of an error's `result` it may be not."""

    def _tables(self) -> list[Rows]:
        return [rows_of("Eigenvalues and residuals", eigenvalue=self.eigenvalues, residual=self.residuals)]


@checked
@reported
def spectral_embedding(
    A: Any,
    n_components: int = 8,
    *,
    norm_laplacian: bool = True,
    drop_first: bool = True,
    tol: float = 0.0,
    ncv: int | None = None,
    maxiter: int = 1000,
    block: int = 2,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
) -> EmbeddingResult:
    """Embeds the vertices of a graph by the eigenvectors for the least eigenvalues of its Laplacian.

    Definitions are those of scikit-learn's `spectral_embedding`: loops do not count; eigenvectors of length 1 are
    divided by the roots of degrees if the Laplacian is normalised; the entry of greatest magnitude of a column is
    positive. As many eigenvalues are 0 as the graph has components, and their vectors may be any that span the same
    space; but a single vertex has the eigenvalue 1 of the normalised Laplacian.

    Args:
        A: A symmetric matrix of shape `(n, n)` with weights of 0 or more; an undirected graph is one.
        n_components: How many columns.
        norm_laplacian: Whether the Laplacian is normalised: `I - D^-1/2 W D^-1/2` rather than `D - W`.
        drop_first: Whether the first eigenvector, which is the same everywhere in a connected graph, is left out.
        tol: The greatest residual of a pair with the eigenvalue w, in units of `|1 - w|` if the Laplacian is
            normalised, otherwise of w; 0 for what rounding allows.
        ncv, maxiter, block, seed, checkpoint: As with `eigsh`.

    Returns:
        An `EmbeddingResult`: an array of shape `(n, n_components)`, and the eigenvalues, as a tuple.

    Cost: as with `eigsh`, and `16 n` bytes for degrees, with `norm_laplacian` `8 n` per column of a block besides; up
    to three passes in the beginning, for row sums, the diagonal and the least weight. The least eigenvalues of large
    rings or grids are close to each other, which takes many passes, without `norm_laplacian` most.

    Raises:
        UsageError: A matrix that is not square or not symmetric, negative weights, or options that cannot be.
        MemoryLimitError: Too little memory for two blocks and degrees, or for the result.
        ConvergenceError: Too few pairs converged, or it is not known that none is missing; its `result` is an
            `EmbeddingResult` with the best that there are.

    Belkin and Niyogi, Laplacian eigenmaps for dimensionality reduction and data representation, Neural Computation
    2003; von Luxburg, A tutorial on spectral clustering, Statistics and Computing 2007.

    >>> edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
    >>> oc.import_graph(edges, "two.oc", directed=False, replace=True)["edges"]
    7
    >>> embedding, eigenvalues = oc.linalg.spectral_embedding("two.oc", 1)
    >>> (embedding[:, 0] > 0).tolist() in ([True] * 3 + [False] * 3, [False] * 3 + [True] * 3), eigenvalues.round(6)
    (True, array([0.204666]))
    """
    matrix = opened(A)
    options = {
        "n_components": n_components, "norm_laplacian": norm_laplacian, "drop_first": drop_first, "tol": tol,
        "ncv": ncv, "block": block, "maxiter": maxiter, "seed": seed,
    }  # fmt: skip
    found = _outcore.run_solver("spectral_embedding", matrix._matrix, options, checkpoint=checkpoint)
    embedding, eigenvalues = found.pop("vectors"), found.pop("eigenvalue")
    residuals, bound, converged = found.pop("residual"), found.pop("residual_bound"), found.pop("converged")
    result = EmbeddingResult(
        (embedding, eigenvalues), embedding=embedding, eigenvalues=eigenvalues, residuals=residuals, **found
    )
    require(converged, n_components + drop_first, bound, result)
    return result
