"""The extension module behind `outcore`."""

import os
import pathlib
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, Never, Self, SupportsIndex, final, overload

import numpy as np
from typing_extensions import disjoint_base

from outcore._options import Progress
from outcore._report import Report

__all__ = [
    "AlgorithmResult",
    "Expression",
    "Graph",
    "Matrix",
    "ProgramResult",
    "Runtime",
    "Table",
    "__version__",
    "algorithms",
    "bytes_text",
    "compute_arrays",
    "dense_shape",
    "eigs",
    "eigsh",
    "element_fold",
    "element_function",
    "eigsh_complex",
    "estimate",
    "explain_arrays",
    "expm_multiply",
    "gaussian_mixture",
    "gaussian_nb",
    "generate",
    "import_array",
    "import_files",
    "import_tables",
    "joint_log_likelihood",
    "kmeans",
    "linear_regression",
    "logistic_regression",
    "mixture_logs",
    "multiply_streamed",
    "nmf",
    "parse_bytes",
    "pca",
    "plan_streamed",
    "program_raised",
    "program_symbols",
    "randomized_svd",
    "rank_rows",
    "ridge",
    "run_algorithm",
    "save_array",
    "shortest_paths",
    "solve",
    "spectral_embedding",
    "standard_scaler",
    "svds",
    "truncated_svd",
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
        progress: Progress = False,
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
    def __len__(self) -> int: ...
    def __contains__(self, vertex: object, /) -> bool: ...
    @overload
    def neighbors(
        self, vertex: SupportsIndex | str, *, direction: Literal["out", "in"] = "out", weights: Literal[False] = False
    ) -> list[Any]: ...
    @overload
    def neighbors(
        self, vertex: SupportsIndex | str, *, direction: Literal["out", "in"] = "out", weights: Literal[True]
    ) -> list[tuple[Any, float]]: ...
    def degree(self, vertex: SupportsIndex | str) -> int: ...
    def in_degree(self, vertex: SupportsIndex | str) -> int: ...
    def out_degree(self, vertex: SupportsIndex | str) -> int: ...
    def has_edge(self, source: SupportsIndex | str, target: SupportsIndex | str) -> bool: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None: ...
    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> Never: ...

@disjoint_base
class Table:
    @property
    def columns(self) -> list[str]: ...
    @property
    def stats(self) -> dict[str, Any]: ...
    def report(self, path: str | os.PathLike[str] | None = None) -> Report: ...
    def plot(self, ax: Any = None, kind: str | None = None, column: str | None = None) -> Any: ...
    def _counted(self, column: str | None) -> tuple[str, np.ndarray, np.ndarray | None]: ...
    def _repr_html_(self) -> str: ...
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
@final
class Expression:
    """A lazy array."""

    @staticmethod
    def of_numpy(given: np.ndarray) -> Expression: ...
    @staticmethod
    def of_image(path: str | os.PathLike[str], options: dict[str, Any]) -> Expression: ...
    @staticmethod
    def of_file(path: str | os.PathLike[str], options: dict[str, Any]) -> Expression: ...
    @staticmethod
    def of_part(
        path: str | os.PathLike[str],
        offset_bytes: int,
        shape: Sequence[int],
        strides: Sequence[int],
        dtype: str,
        options: dict[str, Any],
        checksum: tuple[int, int, int] | None = None,
    ) -> Expression: ...
    @staticmethod
    def sparse(
        matrix: Matrix, operand: Literal["matrix", "transpose", "adjoint"], factor: Expression
    ) -> Expression: ...
    @staticmethod
    def full(shape: Sequence[int], value: bool | int | float, dtype: str) -> Expression: ...
    @staticmethod
    def range(start: int | float, step: int | float, count: int, dtype: str) -> Expression: ...
    @staticmethod
    def eye(rows: int, columns: int, diagonal: int, dtype: str) -> Expression: ...
    @staticmethod
    def random(
        distribution: str,
        shape: Sequence[int],
        seed: int,
        low: int = 0,
        high: int = 0,
        probability: float = 0.0,
    ) -> Expression: ...
    @property
    def shape(self) -> list[int]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def long_axis(self) -> int | None: ...
    @property
    def names(self) -> list[str] | None: ...
    @property
    def operation(self) -> str: ...
    def cast(self, dtype: str) -> Expression: ...
    def unary(self, name: str) -> Expression: ...
    def binary(self, name: str, other: Expression) -> Expression: ...
    def select(self, left: Expression, right: Expression) -> Expression: ...
    def fold(self, name: str, axes: Sequence[int] | None, keep: bool) -> Expression: ...
    def mean(self, axes: Sequence[int] | None, keep: bool) -> Expression: ...
    def variance(self, axes: Sequence[int] | None, correction: float, keep: bool) -> Expression: ...
    def arg(self, is_max: bool, axis: int, keep: bool) -> Expression: ...
    def cumulative(self, name: str, axis: int) -> Expression: ...
    def matmul(self, other: Expression) -> Expression: ...
    def inner(self, other: Expression, pair: str, name: str) -> Expression: ...
    def finite_rows(self) -> Expression: ...
    def co_moments(self) -> Expression: ...
    def bins(self, edges: list[float]) -> Expression: ...
    def quantiles(self, probabilities: list[float], error: float) -> Expression: ...
    def figures(self) -> list[Expression]: ...
    def group_fold(self, name: str, labels: Expression, groups: int) -> Expression: ...
    def indices(self, size: int, axis: int) -> Expression: ...
    def gather(self, index: Expression) -> Expression: ...
    def permute(self, order: Sequence[int]) -> Expression: ...
    def slice(self, parts: Sequence[tuple[int, int | None, int] | None]) -> Expression: ...
    def broadcast_to(self, shape: Sequence[int]) -> Expression: ...
    def reshape(self, shape: Sequence[int]) -> Expression: ...
    @staticmethod
    def join(inputs: Sequence[Expression], axis: int) -> Expression: ...

def save_array(
    array: Expression, path: str | os.PathLike[str], names: Sequence[str] | None, options: dict[str, Any]
) -> None: ...
def import_array(
    path: str | os.PathLike[str] | None,
    table: Any,
    name: str,
    image: str | os.PathLike[str],
    options: dict[str, Any],
) -> dict[str, Any]: ...
def compute_arrays(
    values: Sequence[Expression],
    images: Sequence[tuple[Expression, str | os.PathLike[str], bool, list[str] | None]],
    options: dict[str, Any],
) -> tuple[list[np.ndarray], dict[str, Any]]: ...
def element_fold(
    function: tuple[str, int, Any, Callable[[Sequence[bytes]], None]],
    merge: tuple[str, int, Any, Callable[[Sequence[bytes]], None]],
    initial: bool | float,
    dtype: str,
    operand: Expression,
    axis: int | None,
    labels: tuple[Expression, int] | None = None,
) -> Expression: ...
def element_function(
    function: tuple[str, int, Any, Callable[[Sequence[bytes]], None]], operands: Sequence[Expression], dtype: str
) -> Expression: ...
def explain_arrays(
    values: Sequence[Expression],
    images: Sequence[tuple[Expression, str | os.PathLike[str], bool, list[str] | None]],
    options: dict[str, Any],
) -> tuple[str, str, list[tuple[int, list[tuple[str, int]], int, int]]]: ...
def kmeans(
    x: Expression,
    options: dict[str, Any],
    *,
    clusters: int,
    centres: np.ndarray | None,
    rounds: int,
    starts: int,
    max_iter: int,
    tol: float,
    seed: int,
    weights: Expression | None,
) -> dict[str, Any]: ...
def gaussian_mixture(
    x: Expression,
    options: dict[str, Any],
    *,
    components: int,
    covariance: str,
    start: tuple[np.ndarray, np.ndarray, np.ndarray] | None,
    starts: int,
    max_iter: int,
    tol: float,
    regularisation: float,
    seed: int,
) -> dict[str, Any]: ...
def mixture_logs(
    x: Expression, *, covariance: str, weights: np.ndarray, means: np.ndarray, precisions_cholesky: np.ndarray
) -> Expression: ...
def joint_log_likelihood(
    x: Expression, *, priors: np.ndarray, means: np.ndarray, variances: np.ndarray
) -> Expression: ...
def pca(x: Expression, options: dict[str, Any], *, components: int | None, solver: str) -> dict[str, Any]: ...
def truncated_svd(x: Expression, options: dict[str, Any], *, components: int, solver: str) -> dict[str, Any]: ...
def linear_regression(
    x: Expression, y: Expression, options: dict[str, Any], *, intercept: bool, weights: Expression | None
) -> dict[str, Any]: ...
def ridge(
    x: Expression, y: Expression, options: dict[str, Any], *, alpha: float, intercept: bool, weights: Expression | None
) -> dict[str, Any]: ...
def logistic_regression(
    x: Expression,
    labels: Expression,
    options: dict[str, Any],
    *,
    classes: int,
    c: float,
    intercept: bool,
    max_iter: int,
    tol: float,
    weights: Expression | None,
) -> dict[str, Any]: ...
def gaussian_nb(
    x: Expression,
    labels: Expression,
    options: dict[str, Any],
    *,
    classes: int,
    smoothing: float,
    priors: np.ndarray | None,
    weights: Expression | None,
) -> dict[str, Any]: ...
def standard_scaler(x: Expression, options: dict[str, Any], *, weights: Expression | None) -> dict[str, Any]: ...
