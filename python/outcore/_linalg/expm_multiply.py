"""Products of the exponential of a matrix with dense ones."""

from typing import Any

import numpy as np

from outcore import _outcore
from outcore._errors import UsageError
from outcore._inputs.tables import unmasked
from outcore._linalg.results import opened
from outcore._options import checked


@checked
def expm_multiply(
    A: Any,
    B: Any,
    t: float = 1.0,
    *,
    start: float | None = None,
    stop: float | None = None,
    num: int = 50,
    endpoint: bool = True,
) -> np.ndarray:
    """Computes `exp(t A) @ B` without the exponential, for one time or several.

    Args:
        A: A matrix of shape `(n, n)`.
        B: A vector of n numbers, or a matrix of shape `(n, k)`; they may be complex.
        t: The time, unless there are several.
        start, stop, num, endpoint: Several times, as `numpy.linspace` takes them. Each result is made of the next one
            on the way to time 0, where there is one.

    Returns:
        An array of the shape of B, or of `(num, n)` or `(num, n, k)` for several times. If A is a `SparseMatrix`, its
        `stats` say what it cost.

    Cost: 24 bytes per row and column that memory has room for, at most 32 together, and the result. A pass for the
    diagonal, one for the norm and up to eight for norms of powers. Per group of columns and time step as many passes as
    there are terms: about the 1-norm of `t (A - mu I)` where that is greater than 10, less for matrices whose powers
    have small norms; mu is the mean of the diagonal. A complex column is two.

    Raises:
        UsageError: A matrix that is not square, shapes that do not fit, numbers that are not finite, or results that
            are too large.
        MemoryLimitError: Too little memory for the result, or for one column beside it.

    Al-Mohy and Higham, Computing the action of the matrix exponential, with an application to exponential integrators,
    SIAM J. Sci. Comput. 2011; norms of powers are bounded, not estimated.

    >>> oc.import_graph([(0, 1), (1, 2)], "three.oc", replace=True)["edges"]
    2
    >>> oc.linalg.expm_multiply("three.oc", [0, 0, 1], t=2.0)
    array([2., 2., 1.])
    >>> oc.linalg.expm_multiply("three.oc", [0, 0, 1], start=0, stop=2, num=3)
    array([[0. , 0. , 1. ],
           [0.5, 1. , 1. ],
           [2. , 2. , 1. ]])
    """
    matrix, factor = opened(A), unmasked(B)
    rows = matrix.shape[0]
    if factor.dtype.kind not in "biufc":
        raise TypeError(f"expected B of numbers, found {factor.dtype}")
    if factor.ndim not in (1, 2) or len(factor) != rows:
        found = " x ".join(map(str, factor.shape))
        size = f"{rows} x {rows}"
        raise UsageError(f"expected {rows} rows to multiply the exponential of a matrix of {size}, found {found}")
    if (start is None) != (stop is None):
        raise UsageError("expected both start= and stop=, or none of them, found one")
    times = [t] if start is None or stop is None else np.linspace(start, stop, num, endpoint=endpoint).tolist()
    is_complex = np.iscomplexobj(factor)
    columns = factor.reshape(rows, 1) if factor.ndim == 1 else factor
    columns = np.require(columns, np.complex128 if is_complex else np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    if is_complex:
        # The parts are columns of their own, for the matrix is real.
        columns = columns.view(np.float64)
    results = np.empty((len(times), *columns.shape))
    matrix.stats = _outcore.expm_multiply(matrix._matrix, columns, times, results)
    if is_complex:
        results = results.view(np.complex128)
    results = results.reshape(len(times), *factor.shape)
    return results[0] if start is None else results
