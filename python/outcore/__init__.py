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

from outcore._algorithms import *
from outcore._errors import ConvergenceError as ConvergenceError
from outcore._errors import CorruptImageError as CorruptImageError
from outcore._errors import ImageExistsError as ImageExistsError
from outcore._errors import InputError as InputError
from outcore._errors import MemoryLimitError as MemoryLimitError
from outcore._errors import NoImageError as NoImageError
from outcore._errors import NoVertexError as NoVertexError
from outcore._errors import OutcoreError as OutcoreError
from outcore._errors import UsageError as UsageError
from outcore._errors import VerificationError as VerificationError
from outcore._estimate import Estimate as Estimate
from outcore._estimate import estimate as estimate
from outcore._import import ImportEstimate as ImportEstimate
from outcore._import import estimate_import as estimate_import
from outcore._import import generate as generate
from outcore._import import import_graph as import_graph
from outcore._outcore import AlgorithmResult as AlgorithmResult
from outcore._outcore import Graph as Graph
from outcore._outcore import ProgramResult as ProgramResult
from outcore._outcore import Runtime as Runtime
from outcore._outcore import Table as Table
from outcore._outcore import __version__ as __version__
from outcore._program import vertex_program as vertex_program

# Type checkers read no list that is not written out; they go by the imports.
globals()["__all__"] = [name for name in globals() if not name.startswith("_")] + ["__version__"]
