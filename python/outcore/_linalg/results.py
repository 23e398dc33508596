"""Shared parts of the functions of `outcore.linalg`: the matrices that they take, and how they give results."""

import os
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from scipy.sparse.linalg import LinearOperator  # type: ignore[import-untyped]

from outcore._errors import ConvergenceError
from outcore._graphs.report import Option, Report, Rows, call_text, known, options_of, page_of
from outcore._linalg.matrix import SparseMatrix
from outcore._outcore import Graph, Run

P = ParamSpec("P")
T = TypeVar("T")


class Result(Sequence[Any]):
    """The arrays that a function of SciPy's returns, to be unpacked as a tuple is, with attributes."""

    products: int
    """The number of vectors that were multiplied by the matrix or its transpose."""
    stats: dict[str, Any]
    """The cost: passes, bytes read, seconds and so on."""

    _run: Run | None = None
    _called: tuple[str, list[Option]]

    def __init__(self, members: tuple[Any, ...], run: Run, **attributes: Any) -> None:
        self._members = members
        self._run = run
        vars(self).update(attributes)

    def report(self, path: str | os.PathLike[str] | None = None) -> Report:
        """The run as a page in HTML, an `outcore.Report`: options, result, cost and charts. A notebook shows it; with a
        path it is written there, too.

        Raises:
            OSError: The file cannot be written.
        """
        run, (name, options) = known(self._run), self._called
        call = call_text(f"outcore.linalg.{name}", [f"SparseMatrix({run.input!r})"], options)
        found = {name: value for name, value in vars(self).items() if not name.startswith("_") and name != "stats"}
        return page_of(run, (name, call), options, found, self._tables(), path)

    def _tables(self) -> list[Rows]:
        """A few rows of the result."""
        return []

    def __getstate__(self) -> dict[str, Any]:
        # Copies are without the run, which belongs to the process.
        return {name: value for name, value in vars(self).items() if name not in ("_run", "_called")}

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, place: Any) -> Any:
        return self._members[place]

    def __repr__(self) -> str:
        return repr(self._members)


def reported(function: Callable[P, T]) -> Callable[P, T]:
    """The function of a matrix, whose result knows its options, for the page of the run."""
    parameters = signature(function)

    def note(result: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        if isinstance(result, Result):
            bound = parameters.bind(*args, **options)
            bound.apply_defaults()
            # The first one is the matrix.
            given = dict(list(bound.arguments.items())[1:])
            result._called = function.__name__, options_of(function, given)

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        try:
            result = function(*args, **options)
        except ConvergenceError as error:
            note(error.result, args, options)
            raise
        note(result, args, options)
        return result

    return call


# Where eigenvalues at an end do not come.
_STIFF = (
    "; where an end of the spectrum is crowded beside its width, as the lower one of a stiff matrix, it takes "
    "solutions of systems rather than products: `scipy.sparse.linalg.eigsh` with `sigma`"
)


def require(converged: int, k: int, bound: float, result: Any, which: str = "LM") -> None:
    """An error, which has the result, if too few pairs have converged, or some that are wanted more may be missing."""
    if converged < k or not result.complete:
        # A complete iteration ended by itself: more restarts leave the residuals as they are.
        missing, advice = ", and others that are wanted more may be missing", "raise maxiter, ncv or tol"
        if result.complete:
            missing, advice = ", and more restarts do not help", "raise ncv or tol"
        text = (
            f"{converged} of {k} pairs converged to a residual of {bound:g} within {result.restarts} restarts{missing}"
            f"; {advice}, or take this error's `result`"
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
