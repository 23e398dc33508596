"""The extension module behind `outcore`."""

import os
import pathlib
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, Never, Self, SupportsIndex, final

import numpy as np
from typing_extensions import disjoint_base

__all__ = [
    "AlgorithmResult",
    "Graph",
    "Matrix",
    "ProgramResult",
    "Runtime",
    "Table",
    "algorithms",
    "bytes_text",
    "dense_shape",
    "eigs",
    "eigsh",
    "eigsh_complex",
    "estimate",
    "expm_multiply",
    "generate",
    "import_files",
    "import_tables",
    "multiply_streamed",
    "nmf",
    "parse_bytes",
    "plan_streamed",
    "__version__",
    "program_raised",
    "program_symbols",
    "randomized_svd",
    "rank_rows",
    "run_algorithm",
    "shortest_paths",
    "solve",
    "spectral_embedding",
    "svds",
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
class Matrix:
    def __new__(cls, graph: Graph, values: bool) -> Self: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def entries(self) -> int: ...
    @property
    def symmetric(self) -> bool: ...
    @property
    def has_values(self) -> bool: ...
    @property
    def is_complex(self) -> bool: ...
    def plan(self, columns: int, transposed: bool) -> tuple[int, int, int, int]: ...
    def multiply(
        self, factor: np.ndarray, product: np.ndarray, semiring: str, operand: str
    ) -> dict[str, Any]: ...
    def diagonal(self, diagonal: np.ndarray) -> dict[str, Any]: ...

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
    def order(self) -> Literal["input", "degree", "near"]: ...
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

@disjoint_base
class AlgorithmResult(Table):
    def __new__(cls, raw: Any) -> Self: ...
    def _attribute(self, place: int) -> Any: ...

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

def algorithms() -> list[dict[str, Any]]: ...
def run_algorithm(
    name: str, class_: type[AlgorithmResult], graph: Graph, options: dict[str, Any], verify: bool
) -> Any: ...
def vertex_program(graph: Graph, given: dict[str, Any], columns: Any) -> ProgramResult: ...
def program_symbols() -> list[tuple[str, int]]: ...
def program_raised(error: BaseException) -> bool: ...
def estimate(
    name: str, graph: Graph, options: dict[str, Any], k: int | None, output: bool, verify: bool
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
def dense_shape(matrix: Matrix, path: str) -> tuple[int, int, bool, bool]: ...
def multiply_streamed(
    matrix: Matrix, factor: Any, product: Any, semiring: str, operand: str
) -> dict[str, Any]: ...
def plan_streamed(
    matrix: Matrix, factor: Any, product: Any, taken_bytes: int, operand: str
) -> tuple[int, int, int, int, int, int, int]: ...
def generate(shape: str, output: str | os.PathLike[str], options: dict[str, Any]) -> dict[str, Any]: ...
def eigsh(
    matrix: Matrix,
    *,
    k: int,
    which: str,
    tol: float,
    ncv: int | None,
    block: int,
    max_iter: int,
    seed: int,
    checkpoint: str | os.PathLike[str] | None,
    vectors: bool,
    out: np.ndarray | None,
) -> dict[str, Any]: ...
def eigsh_complex(
    matrix: Matrix,
    *,
    k: int,
    which: str,
    tol: float,
    ncv: int | None,
    block: int,
    max_iter: int,
    seed: int,
    checkpoint: str | os.PathLike[str] | None,
    vectors: bool,
    out: np.ndarray | None,
) -> dict[str, Any]: ...
def eigs(
    matrix: Matrix,
    *,
    k: int,
    which: str,
    tol: float,
    ncv: int | None,
    max_iter: int,
    seed: int,
    checkpoint: str | os.PathLike[str] | None,
    vectors: bool,
) -> dict[str, Any]: ...
def svds(
    matrix: Matrix,
    *,
    k: int,
    tol: float,
    ncv: int | None,
    block: int,
    max_iter: int,
    seed: int,
    checkpoint: str | os.PathLike[str] | None,
    vectors: bool,
) -> dict[str, Any]: ...
def randomized_svd(
    matrix: Matrix, *, k: int, oversamples: int, passes: int, center: bool, seed: int
) -> dict[str, Any]: ...
def nmf(
    matrix: Matrix,
    *,
    n_components: int,
    solver: str,
    tol: float,
    max_iter: int,
    alpha_w: float,
    alpha_h: float,
    l1_ratio: float,
    seed: int,
    checkpoint: str | os.PathLike[str] | None,
) -> dict[str, Any]: ...
def solve(
    method: str,
    matrix: Matrix,
    b: np.ndarray,
    *,
    rtol: float,
    atol: float,
    maxiter: int | None,
    x0: np.ndarray | None,
    restart: int,
    preconditioner: str | Callable[[np.ndarray], np.ndarray] | None,
) -> dict[str, Any]: ...
def spectral_embedding(
    matrix: Matrix,
    *,
    n_components: int,
    norm_laplacian: bool,
    drop_first: bool,
    tol: float,
    ncv: int | None,
    block: int,
    max_iter: int,
    seed: int,
    checkpoint: str | os.PathLike[str] | None,
) -> dict[str, Any]: ...
def expm_multiply(matrix: Matrix, b: np.ndarray, times: list[float], results: np.ndarray) -> dict[str, Any]: ...
def rank_rows(
    matrix: Matrix,
    *,
    alpha: float,
    tol: float,
    stop: str,
    max_iter: int,
    dangling: str,
    weights: bool,
    personalization: np.ndarray | None,
    vectors: int | None,
    out: np.ndarray | None,
) -> dict[str, Any]: ...
def shortest_paths(
    matrix: Matrix, sources: np.ndarray, directed: bool, unweighted: bool, results: np.ndarray
) -> dict[str, Any]: ...
