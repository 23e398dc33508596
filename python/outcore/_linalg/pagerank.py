"""PageRank by products with a sparse matrix."""

from typing import Any, Literal

import numpy as np

from outcore import _outcore
from outcore._errors import ConvergenceError, UsageError
from outcore._graphs.report import Rows, greatest_rows
from outcore._inputs.tables import unmasked
from outcore._linalg.results import Result, opened, reported
from outcore._options import checked


class PageRankResult(Result):
    """Ranks and how near they are: `ranks, residual = result`, and what else is known of them."""

    ranks: np.ndarray
    """The rank of every row."""
    residual: float
    """The sum of the absolute changes in the last iteration. Ranks are at most `alpha / (1 - alpha)` times that away
    from exact ones, in all."""
    iterations: int
    """The number of iterations."""
    converged: bool
    """Whether the residual is as small as was asked for."""
    stopped_by: str
    """The rule that ended the iterations: "residual", "networkx" or "iterations"."""
    vectors: int
    """The number of vectors in memory."""
    temporary_bytes_written: int
    """Bytes written to temporary files."""
    temporary_bytes_read: int
    """Bytes read from them."""

    def _tables(self) -> list[Rows]:
        return [greatest_rows("Ranks", self.ranks, "rank")]


@checked
@reported
def pagerank(
    A: Any,
    alpha: float = 0.85,
    *,
    tol: float = 1e-8,
    stop: Literal["residual", "networkx"] = "residual",
    max_iter: int = 200,
    dangling: Literal["networkx", "gap"] = "networkx",
    weights: bool = True,
    personalization: Any = None,
    vectors: int | None = None,
    out: np.ndarray | None = None,
) -> Any:
    """Computes the PageRank of every row of a square matrix, whose entry in row i and column j is an edge from i to j.

    Rules, defaults and ranks are those of `outcore.pagerank`, which finds ranks of a graph's vertices with 20 bytes of
    memory each. This one is made of products, and works with 8 bytes per row.

    Args:
        A: A matrix of shape `(n, n)`.
        alpha: The probability of following an edge rather than jumping anywhere.
        tol: Iterations end when the sum of absolute changes is below it; 0 makes exactly `max_iter` iterations, and is
            no error.
        stop: "residual", or "networkx" for a sum that is below `tol` times n, as in NetworkX.
        max_iter: The most iterations.
        dangling: What becomes of the rank of rows without entries, or with a sum of 0: "networkx", it goes where jumps
            go; "gap", it is dropped.
        weights: Whether entries count by their values, where there are such. Otherwise all are the same, and no value
            is read.
        personalization: Where jumps go: an array of n numbers, of which their share counts. By default anywhere. It
            does not count under the limit.
        vectors: How many vectors of n numbers are in memory: 1, the ranks over the sums of their rows; 2, the product
            too; 3, and the sums of rows. The others are in temporary files beside the image, or where the runtime says.
            By default as many as the limit has room for. The bits of the ranks do not depend on it.
        out: An array of shape `(n,)` for the ranks, such as one of `numpy.lib.format.open_memmap`, whose memory does
            not count under the limit.

    Returns:
        A `PageRankResult`: an array of n ranks, and the residual, as a tuple.

    Cost: a pass over the columns per iteration, and one over the rows before, with values two. `8 n` bytes of memory
    per vector, and `8 n` of disk for each of the others; an iteration reads `8 n` bytes for one that is on disk, and
    reads and writes `8 n` more for two. At the end `8 n` for the ranks, unless there is `out`.

    Raises:
        UsageError: A matrix that is not square, negative values, values whose sum in a row is neither 0 nor from 1e-200
            to 1e200, or options that cannot be.
        MemoryLimitError: Too little memory for one vector.
        ConvergenceError: Not converged; its `result` has the ranks so far.

    Page, Brin, Motwani and Winograd, The PageRank citation ranking, 1999; Zheng, FlashX: massive data analysis using
    fast I/O, 2016, whose SEM-1vec, SEM-2vec and SEM-3vec are 1, 2 and 3 `vectors`.

    >>> ranks, residual = found = oc.linalg.pagerank("web.oc")
    >>> bool(abs(ranks.sum() - 1) < 1e-12), residual < 1e-8, found.vectors
    (True, True, 3)
    >>> bool((oc.linalg.pagerank("web.oc", vectors=1).ranks == ranks).all())
    True
    """
    matrix = opened(A)
    rows = matrix.shape[0]
    column = None
    if out is not None:
        if out.shape != (rows,) or out.dtype != np.float64 or not out.flags.c_contiguous or not out.flags.writeable:
            text = f"{rows} adjacent numbers of float64 that is writeable"
            raise UsageError(f"expected an array for {text}, found one of shape {out.shape} and {out.dtype}")
        column = out.reshape(rows, 1)
    jumps = None
    if personalization is not None:
        given = unmasked(personalization)
        if given.dtype.kind not in "biuf" or given.ndim != 1:
            shape = f"{given.dtype} of shape {given.shape}"
            raise TypeError(f"expected personalization as a vector of real numbers, found {shape}")
        jumps = np.ascontiguousarray(given, dtype=np.float64)
    found = _outcore.rank_rows(
        matrix._matrix, alpha=alpha, tol=tol, stop=stop, max_iter=max_iter, dangling=dangling, weights=weights,
        personalization=jumps, vectors=vectors, out=column,
    )  # fmt: skip
    ranks = found.pop("ranks").reshape(-1) if out is None else out
    found.pop("ranks", None)
    result = PageRankResult((ranks, found["residual"]), ranks=ranks, **found)
    if not result.converged and tol > 0:
        text = (
            f"ranks changed by {result.residual:g} in the last of {result.iterations} iterations; raise max_iter or "
            "tol, or take this error's `result`"
        )
        error = ConvergenceError(text)
        error.result = result
        raise error
    return result
