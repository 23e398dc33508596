"""The plan of a computation, which is not run."""

import os
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from outcore._outcore import explain_arrays
from outcore.array import _array as core
from outcore.array._array import Operand
from outcore.array._compute import compute_options, stored_arrays

Path = str | os.PathLike[str]


class ExplainedPass(NamedTuple):
    """A pass of a computation."""

    rows: int
    """The number of rows."""
    reads: dict[str, int]
    """The bytes that are read of each file where none are cached."""
    memory_bytes: int
    """The memory that it takes beside its results."""
    result_bytes: int
    """The memory that its results take until the computation ends."""


class Explanation:
    """The passes of a computation. As text it lists the steps of each; notebooks draw it.

    In the text every step has a number and says of which others it is computed. Steps that are fused compute short
    vectors as the next step asks for them, so they take no memory; of the others all vectors of a block of 508 rows are
    kept. A drawing has a column for each pass: steps that are fused are grey, those that are kept for a block blue, and
    results green.
    """

    passes: list[ExplainedPass]
    """In their order."""
    svg: str
    """The drawing, as SVG."""

    def __init__(self, text: str, svg: str, passes: list[tuple[int, list[tuple[str, int]], int, int]]) -> None:
        self._text = text
        self.svg = svg
        self.passes = []
        for rows, reads, memory_bytes, result_bytes in passes:
            of_files: dict[str, int] = {}
            for name, count in reads:
                of_files[name] = of_files.get(name, 0) + count
            self.passes.append(ExplainedPass(rows, of_files, memory_bytes, result_bytes))

    def save(self, path: Path) -> None:
        """Writes the drawing to an SVG file, which replaces one of that name."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text.rstrip("\n")


Explanation.__module__ = "outcore.array"
ExplainedPass.__module__ = "outcore.array"


def explain(*arrays: Operand, persist: Mapping[Path, Operand] | None = None, **limits: Any) -> Explanation:
    """The plan of `compute` for these arrays: its passes, the bytes that each reads, the memory that it takes, and
    which steps are fused. No file is read, and nothing is written.

    Args:
        persist: Arrays that would become images, by their paths.
        limits: `runtime`, `memory`, `threads`, `backend`, `temporary` and `progress`, as `compute` has them. The memory
            that a pass takes depends on the number of threads.

    Raises:
        UsageError: What `compute` refuses before it reads: an operation that needs all rows of an array in a file at
            once; no vector or matrix to persist.
        MemoryLimitError: Too little memory for a pass, and the results of those before it.

    >>> x = oc.array.arange(100000)
    >>> plan = oc.array.explain(x.sum(), (x * x).max())
    >>> [found.rows for found in plan.passes]
    [100000]
    """
    given = [core.as_array(array) for array in arrays]
    stored = stored_arrays(persist)
    images = [(array._expression, path, False, None) for path, array in stored.items()]
    options = compute_options(limits, [*given, *stored.values()])
    return Explanation(*explain_arrays([array._expression for array in given], images, options))
