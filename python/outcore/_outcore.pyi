"""The extension module behind `outcore`."""

import os
import pathlib
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, Never, Self, SupportsIndex, final

import numpy as np
from typing_extensions import disjoint_base

__all__ = [
    "AllPairs",
    "Betweenness",
    "Bfs",
    "Clustering",
    "Components",
    "CoreNumbers",
    "Graph",
    "LabelPropagation",
    "Lcc",
    "MultiSourceBfs",
    "PageRank",
    "ProgramResult",
    "Runtime",
    "ScanStatistics",
    "Sssp",
    "Table",
    "Triangles",
    "all_pairs",
    "betweenness_centrality",
    "bfs",
    "bytes_text",
    "clustering",
    "components",
    "core_number",
    "estimate",
    "generate",
    "import_files",
    "import_tables",
    "label_propagation",
    "lcc",
    "multi_source_bfs",
    "pagerank",
    "parse_bytes",
    "personalized_pagerank",
    "__version__",
    "program_raised",
    "program_symbols",
    "scan_statistics",
    "sssp",
    "strong_components",
    "triangles",
    "vertex_program",
]

__version__: str

@final
class Runtime:
    def __new__(
        cls,
        *,
        memory: int | str | None = None,
        threads: int | None = None,
        temporary: str | os.PathLike[str] | None = None,
        backend: Literal["auto", "uring", "posix"] = "auto",
    ) -> Self: ...
    @property
    def memory(self) -> int: ...
    @property
    def available(self) -> int: ...
    @property
    def threads(self) -> int: ...
    def holders(self) -> dict[str, int]: ...
    def __reduce__(self) -> Never: ...

@final
class Graph:
    def __new__(
        cls,
        image: str | os.PathLike[str],
        *,
        runtime: Runtime | None = None,
        memory: int | str | None = None,
        threads: int | None = None,
        backend: Literal["auto", "uring", "posix"] = "auto",
        cache: int | str | None = None,
        progress: bool = False,
    ) -> Self: ...
    @property
    def path(self) -> pathlib.Path: ...
    @property
    def vertices(self) -> int: ...
    @property
    def edges(self) -> int: ...
    @property
    def directed(self) -> bool: ...
    @property
    def order(self) -> Literal["input", "degree"]: ...
    def info(self) -> dict[str, Any]: ...
    def check(self) -> dict[str, int]: ...
    def export(self, path: str | os.PathLike[str]) -> list[pathlib.Path]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None: ...
    def __reduce__(self) -> Never: ...

@disjoint_base
class Table:
    @property
    def columns(self) -> list[str]: ...
    @property
    def stats(self) -> dict[str, Any]: ...
    def __getitem__(self, key: str, /) -> np.ndarray[tuple[int], np.dtype[Any]]: ...
    def __len__(self) -> int: ...
    def keys(self) -> list[str]: ...
    def _ipython_key_completions_(self) -> list[str]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, key: str, /) -> bool: ...
    def top(self, k: int = 10, column: str | None = None) -> list[tuple[Any, ...]]: ...
    def row(self, vertex: SupportsIndex | str) -> dict[str, Any]: ...
    def to_dict(self, column: str | None = None) -> dict[Any, Any]: ...
    def to_arrow(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def to_pandas(self) -> Any: ...
    def write(self, path: str | os.PathLike[str]) -> None: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __reduce__(self) -> Never: ...

@final
class Bfs(Table):
    @property
    def reached(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def path(self) -> list[Any] | None: ...

@final
class MultiSourceBfs(Table):
    @property
    def reached(self) -> list[int]: ...
    @property
    def depths(self) -> list[int]: ...
    @property
    def distances(self) -> np.ma.MaskedArray[tuple[int, int], np.dtype[np.int64]]: ...

@final
class AllPairs(Table):
    @property
    def sources(self) -> list[Any]: ...
    @property
    def eccentricities(self) -> list[int]: ...
    @property
    def distances(self) -> np.ma.MaskedArray[tuple[int, int], np.dtype[np.int64]]: ...
    @property
    def diameter(self) -> tuple[int, int]: ...

@final
class Betweenness(Table):
    @property
    def sources(self) -> list[Any] | None: ...
    @property
    def error_bound(self) -> float: ...

@final
class Sssp(Table):
    @property
    def reached(self) -> int: ...

@final
class PageRank(Table):
    @property
    def iterations(self) -> int: ...
    @property
    def residual(self) -> float: ...
    @property
    def converged(self) -> bool: ...
    @property
    def stopped_by(self) -> str: ...

@final
class ProgramResult(Table):
    @property
    def iterations(self) -> int: ...
    @property
    def finished(self) -> bool: ...
    @property
    def messages(self) -> int: ...
    @property
    def spilled_bytes(self) -> int: ...

@final
class Components(Table):
    @property
    def count(self) -> int: ...

@final
class CoreNumbers(Table):
    @property
    def max_core(self) -> int: ...

@final
class LabelPropagation(Table):
    @property
    def count(self) -> int: ...
    @property
    def iterations(self) -> int: ...
    @property
    def converged(self) -> bool: ...

@final
class Triangles(Table):
    @property
    def total(self) -> int: ...

@final
class Clustering(Table):
    @property
    def average(self) -> float: ...
    @property
    def transitivity(self) -> float: ...

@final
class ScanStatistics(Table):
    @property
    def vertices(self) -> list[Any]: ...
    @property
    def statistics(self) -> list[int]: ...
    @property
    def looked_at(self) -> int: ...

@final
class Lcc(Table):
    @property
    def average(self) -> float: ...

def bfs(
    graph: Graph,
    source: SupportsIndex | str,
    depth_limit: int | None,
    target: SupportsIndex | str | None,
    verify: bool,
) -> Bfs: ...
def multi_source_bfs(
    graph: Graph,
    sources: list[Any],
    targets: list[Any],
    depth_limit: int | None,
    verify: bool,
) -> MultiSourceBfs: ...
def all_pairs(graph: Graph, sources: list[Any] | None, k: int, seed: int, verify: bool) -> AllPairs: ...
def betweenness_centrality(
    graph: Graph,
    k: int | None,
    sources: list[Any] | None,
    normalized: bool,
    endpoints: bool,
    seed: int,
    failure: float,
    verify: bool,
) -> Betweenness: ...
def sssp(
    graph: Graph, source: SupportsIndex | str, weight: str | None, delta: float | None, verify: bool
) -> Sssp: ...
def pagerank(
    graph: Graph,
    alpha: float,
    tol: float,
    stop: str,
    max_iter: int,
    method: str,
    weight: str | None,
    dangling: str,
    verify: bool,
) -> PageRank: ...
def personalized_pagerank(
    graph: Graph,
    seeds: Sequence[Sequence[tuple[SupportsIndex | str, float]]],
    alpha: float,
    tol: float,
    stop: str,
    max_iter: int,
    weight: str | None,
    verify: bool,
) -> PageRank: ...
def components(graph: Graph, verify: bool) -> Components: ...
def strong_components(graph: Graph, verify: bool) -> Components: ...
def core_number(graph: Graph, verify: bool) -> CoreNumbers: ...
def triangles(graph: Graph, verify: bool) -> Triangles: ...
def clustering(graph: Graph, verify: bool) -> Clustering: ...
def scan_statistics(graph: Graph, top: int, verify: bool) -> ScanStatistics: ...
def lcc(graph: Graph, verify: bool) -> Lcc: ...
def label_propagation(graph: Graph, max_iter: int, verify: bool) -> LabelPropagation: ...
def vertex_program(graph: Graph, given: dict[str, Any], columns: Any) -> ProgramResult: ...
def program_symbols() -> list[tuple[str, int]]: ...
def program_raised(error: BaseException) -> bool: ...
def estimate(
    algorithm: str, graph: Graph, options: dict[str, Any]
) -> tuple[int, int, float, int, str]: ...
def bytes_text(bytes: int) -> str: ...
def parse_bytes(given: int | str) -> int: ...
def import_files(
    paths: list[str],
    image: str | os.PathLike[str],
    vertices: tuple[Any, int | None],
    options: dict[str, Any],
) -> dict[str, Any]: ...
def import_tables(
    edges: Any,
    name: str,
    image: str | os.PathLike[str],
    vertices: tuple[Any, int | None],
    options: dict[str, Any],
) -> dict[str, Any]: ...
def generate(shape: str, output: str | os.PathLike[str], options: dict[str, Any]) -> dict[str, Any]: ...
