"""Lengths of shortest paths by products over min-plus."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from outcore import _outcore
from outcore._errors import UsageError
from outcore._inputs.tables import unmasked
from outcore._linalg.results import opened
from outcore._options import checked


@checked
def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    *,
    unweighted: bool = False,
) -> np.ndarray:
    """Finds the lengths of shortest paths by the method of Bellman, Ford and Moore. Entries may be negative.

    It is `scipy.sparse.csgraph.bellman_ford` without predecessors. An entry in row i and column j is an edge from i to
    j whose length is its value. Explicit zeros are edges of length 0, where SciPy leaves some of them out; of several
    edges at one place the shortest counts.

    Args:
        csgraph: A matrix of shape `(n, n)`.
        directed: Whether an entry leads from its row to its column only, and not back, too.
        indices: The row or rows where paths begin; by default all.
        unweighted: Whether every edge has length 1.

    Returns:
        An array of shape `(n,)` for one row, otherwise `(len(indices), n)`, with infinity where no path leads. If
        `csgraph` is a `SparseMatrix`, its `stats` say what it cost.

    Cost: up to 8 rows at a time; for these a pass over the columns for each edge of the longest of all shortest paths,
    and one more; if not `directed`, and not stored as symmetric, a pass over the rows with each. `16 n` bytes per row
    that memory has room for, `8 n` more, and the result. Passes that look for negative cycles come after 16, 32, 64 and
    so on.

    Raises:
        UsageError: A matrix that is not square, rows that are none, or a negative cycle that a path leads to.
        MemoryLimitError: Too little memory for the result, or for one row beside it.

    Bellman, On a routing problem, Quarterly of Applied Mathematics 1958.

    >>> import scipy.sparse
    >>> ways = scipy.sparse.csr_array([[0, 4, 1], [0, 0, 0], [0, -3, 0]])
    >>> oc.linalg.bellman_ford(oc.import_matrix(ways, "ways.oc", replace=True), indices=0)
    array([ 0., -2.,  1.])
    """
    matrix = opened(csgraph)
    rows = matrix.shape[0]
    given = np.arange(rows) if indices is None else unmasked(indices)
    if isinstance(indices, Iterable) and given.size == 0:
        given = given.astype(np.int64)
    if given.dtype.kind not in "iu" or given.ndim > 1:
        raise TypeError(f"expected indices as rows, whole numbers, found {given.dtype} of shape {given.shape}")
    wrong = given[(given < -rows) | (given >= rows)]
    if wrong.size:
        raise UsageError(f"expected indices among {rows} rows, found {wrong.flat[0]}")
    sources = np.atleast_1d(np.where(given < 0, given + rows, given)).astype(np.uint64)
    results = np.empty((len(sources), rows))
    matrix.stats = _outcore.shortest_paths(matrix._matrix, sources, directed, unweighted, results)
    return results[0] if given.ndim == 0 else results
