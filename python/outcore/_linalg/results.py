"""Shared parts of the functions of `outcore.linalg`: the matrices that they take, and how they give results."""

import os
from collections.abc import Sequence
from typing import Any

from scipy.sparse.linalg import LinearOperator  # type: ignore[import-untyped]

from outcore._errors import ConvergenceError
from outcore._linalg.matrix import SparseMatrix
from outcore._outcore import Graph


class Result(Sequence[Any]):
    """The arrays that a function of SciPy's returns, to be unpacked as a tuple is, with attributes."""

    products: int
    """The number of vectors that were multiplied by the matrix or its transpose."""
    stats: dict[str, Any]
    """The cost: passes, bytes read, seconds and so on."""

    def __init__(self, members: tuple[Any, ...], **attributes: Any) -> None:
        self._members = members
        vars(self).update(attributes)

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, place: Any) -> Any:
        return self._members[place]

    def __repr__(self) -> str:
        return repr(self._members)


# Where eigenvalues at an end do not come.
_STIFF = (
    "; where an end of the spectrum is crowded beside its width, as the lower one of a stiff matrix, it takes "
    "solutions of systems rather than products: `scipy.sparse.linalg.eigsh` with `sigma`"
)


def require(converged: int, k: int, bound: float, result: Any, which: str = "LM") -> None:
    """An error, which has the result, if too few pairs have converged, or some that are wanted more may be missing."""
    if converged < k or not result.complete:
        missing = "" if result.complete else ", and others that are wanted more may be missing"
        text = (
            f"{converged} of {k} pairs converged to a residual of {bound:g} within {result.restarts} restarts{missing}"
            "; raise maxiter, ncv or tol, or take this error's `result`"
        )
        error = ConvergenceError(text + (_STIFF if which in ("LA", "SA", "SM") else ""))
        error.result = result
        raise error


def opened(matrix: Any) -> SparseMatrix:
    if isinstance(matrix, SparseMatrix):
        return matrix
    if isinstance(matrix, (Graph, str, os.PathLike)):
        return SparseMatrix(matrix)
    advice = "outcore.import_matrix makes an image of a SciPy matrix or a file"
    found = f"{type(matrix).__module__.split('.')[0]}.{type(matrix).__name__}"
    if isinstance(matrix, LinearOperator):
        found = f"the operator {matrix!r}"
        advice = "scipy.sparse.linalg has functions that take it as it is; for a transpose, such as A.T, import the "
        advice += "matrix with its rows and columns exchanged"
    raise TypeError(f"expected an outcore.SparseMatrix, a graph or the path of an image, found {found}; {advice}")
