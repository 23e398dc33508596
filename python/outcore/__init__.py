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

from outcore._algorithms import (
    all_pairs,
    betweenness_centrality,
    bfs,
    clustering,
    components,
    core_number,
    label_propagation,
    lcc,
    multi_source_bfs,
    pagerank,
    personalized_pagerank,
    scan_statistics,
    sssp,
    strong_components,
    triangles,
)
from outcore._errors import (
    ConvergenceError,
    CorruptImageError,
    ImageExistsError,
    InputError,
    MemoryLimitError,
    NoImageError,
    NoVertexError,
    OutcoreError,
    UsageError,
    VerificationError,
)
from outcore._estimate import Estimate, estimate
from outcore._import import ImportEstimate, estimate_import, generate, import_graph
from outcore._outcore import (
    AllPairs,
    Betweenness,
    Bfs,
    Clustering,
    Components,
    CoreNumbers,
    Graph,
    LabelPropagation,
    Lcc,
    MultiSourceBfs,
    PageRank,
    ProgramResult,
    Runtime,
    ScanStatistics,
    Sssp,
    Table,
    Triangles,
    __version__,
)
from outcore._program import vertex_program

__all__ = [
    "AllPairs",
    "Betweenness",
    "Bfs",
    "Clustering",
    "Components",
    "ConvergenceError",
    "CoreNumbers",
    "CorruptImageError",
    "Estimate",
    "Graph",
    "ImageExistsError",
    "ImportEstimate",
    "InputError",
    "LabelPropagation",
    "Lcc",
    "MemoryLimitError",
    "MultiSourceBfs",
    "NoImageError",
    "NoVertexError",
    "OutcoreError",
    "PageRank",
    "ProgramResult",
    "Runtime",
    "ScanStatistics",
    "Sssp",
    "Table",
    "Triangles",
    "UsageError",
    "VerificationError",
    "__version__",
    "all_pairs",
    "betweenness_centrality",
    "bfs",
    "clustering",
    "components",
    "core_number",
    "estimate",
    "estimate_import",
    "generate",
    "import_graph",
    "label_propagation",
    "lcc",
    "multi_source_bfs",
    "pagerank",
    "personalized_pagerank",
    "scan_statistics",
    "sssp",
    "strong_components",
    "triangles",
    "vertex_program",
]
