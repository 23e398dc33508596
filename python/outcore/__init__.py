"""Analyse graphs many times larger than memory, on one machine with an SSD, at the speed of in-memory engines.

A graph is imported once, into an image on the disk, and opened under a memory limit; algorithms then read its edges
from there and keep only a few bytes per vertex in memory. Results are tables under the user's own ids.

    import outcore as oc
    oc.import_graph("edges.txt.gz", "web.oc", memory="1GiB")
    g = oc.Graph("web.oc", memory="1GiB")
    oc.pagerank(g).top(10)

A memory limit is for what Outcore itself takes, whatever else the process holds. All graphs of a process share one
`Runtime`, unless they are given another.
"""

import importlib

from outcore import _algorithms
from outcore._algorithms import *
from outcore._errors import (
    ConvergenceError,
    CorruptImageError,
    DiskSpaceError,
    FileError,
    ImageExistsError,
    InputError,
    MemoryLimitError,
    NoImageError,
    NoVertexError,
    OutcoreError,
    UsageError,
    VerificationError,
)
from outcore._graphs.estimate import Estimate, estimate
from outcore._graphs.report import ImportReport, Report
from outcore._outcore import (
    AlgorithmResult,
    Degrees,
    Edges,
    Graph,
    Nodes,
    ProgramResult,
    Runtime,
    Table,
    __version__,
)

__all__ = [
    "AlgorithmResult",
    "ConvergenceError",
    "CorruptImageError",
    "Degrees",
    "DiskSpaceError",
    "Edges",
    "Estimate",
    "FileError",
    "Graph",
    "ImageExistsError",
    "ImportEstimate",
    "ImportReport",
    "InputError",
    "MemoryLimitError",
    "NoImageError",
    "Nodes",
    "NoVertexError",
    "OutcoreError",
    "ProgramResult",
    "Report",
    "Runtime",
    "Table",
    "UsageError",
    "VerificationError",
    "__version__",
    "estimate",
    "estimate_import",
    "generate",
    "import_graph",
    "load_graph",
    "vertex_program",
    # The algorithms under all of their names, and the classes of their results. `make stubs` generates the module.
    *_algorithms.__all__,
]

# Names that are imported at their first use, by module, so that `import outcore` takes little time: NumPy alone takes
# several times as long as the rest, and arrays and what is made of classes of SciPy and scikit-learn more than that.
_MODULES = ("array", "linalg", "ml")
_IMPORTING = ("ImportEstimate", "estimate_import", "generate", "import_graph", "load_graph")
_OF_NUMPY = {**dict.fromkeys(_IMPORTING, "_graphs.importing"), "vertex_program": "_graphs.program"}
_OF_SCIPY = ("MultiplyPlan", "SparseMatrix", "import_matrix")
_HOMES = {**_OF_NUMPY, **dict.fromkeys(_OF_SCIPY, "_linalg.matrix")}
# The packages that names need beside NumPy.
_NEEDED = {**dict.fromkeys((*_OF_SCIPY, "linalg"), "scipy"), "ml": "sklearn"}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f"outcore.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'outcore' has no attribute {name!r}")
    found: object = getattr(importlib.import_module(f"outcore.{_HOMES[name]}"), name)
    # The next time it is found at once.
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """All names but those whose packages are not installed: what goes through them, as `inspect.getmembers` does, would
    fail at these."""
    from importlib.util import find_spec

    names = {*globals(), *_HOMES, *_MODULES}
    return sorted(name for name in names if name not in _NEEDED or find_spec(_NEEDED[name]) is not None)
