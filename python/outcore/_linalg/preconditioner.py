"""Preconditioners of systems of equations, as functions of vectors."""

import reprlib
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import aslinearoperator  # type: ignore[import-untyped]

from outcore._errors import UsageError
from outcore._inputs.tables import unmasked

_WORDS = "None, 'jacobi', a function of a vector, or what scipy.sparse.linalg.aslinearoperator takes"


def preconditioner(M: Any, rows: int) -> str | Callable[[np.ndarray], np.ndarray] | None:
    """The preconditioner M of vectors of `rows` numbers: none, one of the engine, or a function."""
    if M is None or isinstance(M, str):
        if M not in (None, "jacobi"):
            raise UsageError(f"expected M= as a preconditioner, which is {_WORDS}, found {M!r}")
        return M
    if not hasattr(M, "shape") and callable(M):
        return _returns_numbers(M, rows)
    try:
        operator = aslinearoperator(M)
    except TypeError:
        raise TypeError(f"expected M= as a preconditioner, which is {_WORDS}, found {reprlib.repr(M)}") from None
    if operator.shape != (rows, rows):
        found = " x ".join(map(str, operator.shape))
        raise UsageError(f"expected a preconditioner M of {rows} x {rows}, found one of {found}")
    return _returns_numbers(operator.matvec, rows)


def _returns_numbers(function: Callable[[np.ndarray], Any], rows: int) -> Callable[[np.ndarray], np.ndarray]:
    def multiply(vector: np.ndarray) -> np.ndarray:
        product = unmasked(function(vector))
        if product.dtype.kind not in "biuf" or product.shape not in ((rows,), (rows, 1)):
            found = f"{product.dtype} of shape {product.shape}"
            raise TypeError(f"expected the preconditioner M to return a vector of {rows} real numbers, found {found}")
        return np.ascontiguousarray(product.reshape(-1), dtype=np.float64)

    return multiply
