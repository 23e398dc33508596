"""Sparse matrices on disk, as SciPy's linear operators. Imports SciPy, so it is imported when it is asked for."""

import functools
import os
import pathlib
import shutil
import tempfile
import warnings
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse  # type: ignore[import-untyped]
from scipy.sparse.linalg import LinearOperator  # type: ignore[import-untyped]

from outcore import _outcore
from outcore._errors import UsageError
from outcore._graphs.importing import Where, import_arguments, run_import
from outcore._inputs.tables import refuse_masked, unmasked
from outcore._linalg.dense_operands import Factor, product_for
from outcore._options import Progress, checked
from outcore._outcore import Graph, Runtime
from outcore.array._array import Array, made


class MultiplyPlan(NamedTuple):
    """The plan of a product, in the memory that is left now."""

    columns_per_pass: int
    """The number of columns of the dense matrix that are multiplied at the same time."""
    passes: int
    """Passes over the sparse matrix."""
    state_bytes: int
    """The memory of the columns of a pass."""
    bytes_per_pass: int
    """The pages of a pass, values included, in bytes: no more is read in one."""
    factor_bytes: int = 0
    """The bytes that are read of a factor in a file; 0 for one in memory."""
    product_bytes: int = 0
    """The bytes that are written of a product in a file."""
    temporary_bytes: int = 0
    """About how many bytes are written to temporary files, and read again."""


class _Operator(LinearOperator):  # type: ignore[misc]
    """A linear operator whose products with lazy arrays are lazy; SciPy's would make them arrays of NumPy first."""

    def __matmul__(self, other: Any) -> Any:
        return self.dot(other) if isinstance(other, Array) else super().__matmul__(other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._rdot(other) if isinstance(other, Array) else super().__rmatmul__(other)

    def dot(self, x: Any) -> Any:
        # SciPy drops masks.
        refuse_masked(x)
        return super().dot(x)

    def _rdot(self, x: Any) -> Any:
        refuse_masked(x)
        return super()._rdot(x)


class SparseMatrix(_Operator):
    """A sparse matrix on disk, of any size, that is multiplied by dense matrices in memory or in files.

    It is an image, the same as a graph's: vertices in the order of their ids are rows and columns, an edge from u to v
    is an entry in row u and column v, and its weight is the entry's value. An undirected graph is a symmetric matrix.
    `import_matrix` makes images of rectangular ones, too.

    It is a `scipy.sparse.linalg.LinearOperator` of shape `(m, n)` and type float64, or complex128 if its values are
    complex, so SciPy's solvers take it: `A @ x`, `A.T @ x`, `A.H @ x`, `scipy.sparse.linalg.eigsh(A)`.

    Cost: a product with k columns makes `ceil(k / c)` passes over the image, where c is at most 32 and as many columns
    as fit into the memory that is left, at `8 n` bytes each; `plan` says it. The product itself takes `8 m k` bytes,
    and the order of vertices 4 bytes each, unless the image is in the order of its ids; where these are no adjacent
    whole numbers, they are sorted at first, in 16 bytes each and the text of strings. The transpose costs the same. If
    the matrix is complex, c is at most 16, and a number of a factor or product takes 16 bytes.

    The same product has the same bits for all numbers of threads and columns, all limits and back ends.

    Args:
        image: The path of an image, or an `outcore.Graph`.
        values: Whether the weights of edges are the values of entries; otherwise each entry is 1. By default they are
            if there are any. The name of an attribute takes its numbers, which every edge must have.
        runtime: The memory and workers to use; by default those of the process, or the graph's.
        memory: A limit for this matrix and its products alone, in bytes or as text such as "1GiB".
        threads: The number of workers; by default those of the runtime.
        backend: How files are read: "uring", "posix", or "auto" for the best that works here.
        cache: The most memory for the page cache; by default all that the limit leaves.

    Raises:
        UsageError: No image of that name, or values where edges have no weights.
        CorruptImageError: An image with damaged parts.
        MemoryLimitError: Too little memory for indexes and buffers.

    >>> A = oc.SparseMatrix("web.oc")
    >>> A
    <outcore.SparseMatrix 'web.oc': 4 x 4, 5 entries>
    >>> A @ np.ones(4)
    array([2., 2., 0., 1.])
    """

    graph: Graph
    """The graph that the matrix is of."""
    stats: dict[str, Any] | None
    """The cost of the last product: passes, bytes read, seconds and so on; `None` before the first."""

    def __init__(
        self,
        image: str | os.PathLike[str] | Graph,
        *,
        values: bool | str | None = None,
        runtime: Runtime | None = None,
        memory: int | str | None = None,
        threads: int | None = None,
        backend: Literal["auto", "uring", "posix"] = "auto",
        cache: int | str | None = None,
    ) -> None:
        options = {"runtime": runtime, "memory": memory, "threads": threads, "cache": cache}
        given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        if backend != "auto":
            given["backend"] = backend
        self._owns_graph = not isinstance(image, Graph)
        # Lazy products are computed within the same limits.
        self._runtime = runtime
        if not isinstance(image, Graph):
            taken = [name for name in ("memory", "threads", "backend") if name in given]
            limits: dict[str, Any] = {name: given.pop(name) for name in taken}
            if limits and runtime is None:
                self._runtime = given["runtime"] = Runtime(**limits)
            else:
                given |= limits
            image = Graph(image, **given)
        elif given:
            raise TypeError(f"expected a path, or a graph without {next(iter(given))}=, for it has its own")
        if isinstance(values, str):
            image, values = _with_values(image, values), True
        self.graph = image
        self.stats = None
        has_values = image.info()["weights"] is not None
        self._matrix = _outcore.Matrix(image, has_values if values is None else values)
        super().__init__(np.complex128 if self._matrix.is_complex else np.float64, self._matrix.shape)

    @classmethod
    def from_graph(cls, graph: str | os.PathLike[str] | Graph, **options: Any) -> Self:
        """The matrix of a graph: its image, with nothing converted. Options are those of the class."""
        return cls(graph, **options)

    @classmethod
    def from_scipy(cls, matrix: Any, image: str | os.PathLike[str], **options: Any) -> Self:
        """Writes a SciPy matrix or array as an image, and opens it; see `import_matrix`."""
        return import_matrix(matrix, image, **options)

    def to_graph(self, image: str | os.PathLike[str] | None = None) -> Graph:
        """The matrix as a graph: its own image, or a copy of that, which appears when it is complete.

        Of a rectangular matrix vertices are first its rows and then its columns.

        Args:
            image: Where the copy goes, if there is to be one. What has that name is not replaced.

        Raises:
            UsageError: Something has that name.
            OSError: For example, a full disk. Then there is no copy.

        >>> import scipy.sparse
        >>> L = oc.import_matrix(scipy.sparse.diags_array([1.0, 2.0]), "loops.oc", replace=True)
        >>> L.to_graph("copy.oc").number_of_edges()
        2
        """
        if image is None:
            return self.graph
        if self.graph.path is None:
            raise UsageError("expected a matrix in a file to copy, found one in memory; export its graph")
        target = pathlib.Path(image)
        if os.path.lexists(target):
            raise UsageError(f"expected a name that is free, found {target}")
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
            copy = pathlib.Path(folder, target.name)
            shutil.copytree(self.graph.path, copy)
            for path in [*copy.rglob("*"), copy]:
                # Files are on the disk before they get their names.
                handle = os.open(path, os.O_RDONLY)
                os.fsync(handle)
                os.close(handle)
            os.rename(copy, target)
        return Graph(target)

    @functools.cached_property
    def row_ids(self) -> list[Any]:
        """The id of every row, an integer or a string as it was given: of matrices without ids, such as SciPy's, their
        numbers from 0. One pass over the ids, which stay in memory with the matrix and do not count under the limit.

        >>> ratings = [("ann", "Dune", 5.0), ("bob", "Heat", 3.0), ("bob", "Dune", 4.0)]
        >>> R = oc.import_matrix(ratings, "rated.oc", bipartite=True, replace=True)
        >>> R.row_ids, R.column_ids
        (['ann', 'bob'], ['Dune', 'Heat'])
        >>> R[R.row_ids.index("bob")]
        array([4., 3.])
        """
        return self._ids(0)

    @functools.cached_property
    def column_ids(self) -> list[Any]:
        """The id of every column; see `row_ids`."""
        return self._ids(1)

    def _ids(self, axis: int) -> list[Any]:
        rows, columns = self.shape
        is_square = not self._matrix.is_rectangular
        if not is_square and self.graph.info()["ids"] != "string":
            return list(range(self.shape[axis]))
        # Rows are in the order of ids, whatever the order inside the image.
        ids = sorted(self.graph)
        if is_square:
            return ids
        prefix = len(_outcore.SIDES[axis])
        texts = [text[prefix:] for text in (ids[:rows] if axis == 0 else ids[rows : rows + columns])]
        return [int(text) for text in texts] if self._matrix.sides_are_integers else texts

    @property
    def nnz(self) -> int:
        """The number of stored entries; some may be 0, as in SciPy."""
        return self._matrix.entries

    @property
    def symmetric(self) -> bool:
        """Whether the matrix is stored as one that is its own transpose: its graph is undirected."""
        return self._matrix.symmetric

    def plan(self, columns: int, *, transposed: bool = False) -> MultiplyPlan:
        """The plan of a product with this number of columns, in the memory that is left beside the product.

        Raises:
            MemoryLimitError: Too little memory for the product and one column.

        >>> plan = oc.SparseMatrix("web.oc").plan(40)
        >>> plan.columns_per_pass, plan.passes, plan.state_bytes, plan.bytes_per_pass
        (32, 2, 1024, 4096)
        """
        return MultiplyPlan(*self._matrix.plan(columns, transposed))

    def explain_multiply(self, factor: Any, *, transposed: bool = False, out: Any = None) -> MultiplyPlan:
        """The plan of `multiply` in the memory that is left now. Nothing is written.

        Raises:
            UsageError, InputError: What `multiply` refuses, too.
            MemoryLimitError: Too little memory for one column.

        >>> np.save("ones.npy", np.ones((4, 3)))
        >>> plan = oc.SparseMatrix("web.oc").explain_multiply("ones.npy", out="product.npy")
        >>> plan.passes, plan.bytes_per_pass, plan.factor_bytes, plan.product_bytes, plan.temporary_bytes
        (1, 4096, 96, 96, 128)
        """
        operand: Literal["matrix", "transpose"] = "transpose" if transposed else "matrix"
        dense = self._factor(factor, operand)
        rows = self.shape[transposed]
        product = None if out is None else product_for(out, dense, rows, self.dtype)
        taken = 0 if product else rows * dense.columns * np.result_type(self.dtype, dense.dtype).itemsize
        given = product and product.given
        return MultiplyPlan(*_outcore.plan_streamed(self._matrix, dense.given(self.dtype), given, taken, operand))

    def multiply(
        self,
        factor: Any,
        *,
        semiring: Literal["plus-times", "min-plus", "or-and", "max-times", "plus-first"] = "plus-times",
        transposed: bool = False,
        out: str | os.PathLike[str] | np.ndarray | None = None,
    ) -> np.ndarray:
        """The product with a dense vector or matrix, by any of several semirings.

        Args:
            factor: Of shape `(n,)` or `(n, k)`, with `m` instead of `n` if transposed: the path of a .npy file, or what
                NumPy makes an array of, of numbers. They are computed with as float64, or complex128 where they or the
                matrix are complex; what is of another type in memory, or lies otherwise than row by row, is copied
                first, and the copy does not count under the limit. Files, and memory maps of files (`numpy.memmap`) in
                which rows or columns are adjacent, are read in pieces and may be larger than memory.
            semiring: What adds and what multiplies: "plus-times", the usual product; "min-plus", the least of sums;
                "or-and", whether any two are both other than 0; "max-times", the greatest of products; "plus-first",
                sums of entries. A row without entries gives 0; by "min-plus" it gives infinity, by "max-times"
                minus infinity. Complex numbers have "plus-times" alone.
            transposed: Whether the transpose is multiplied; its conjugate is `A.H`.
            out: Where the product goes, if not to a new array: the path of a .npy file, which is complete or absent,
                and replaces a file of that name; a memory map that can be written, straight in its file; or another
                array, row by row in memory. Arrays have the product's shape, of float64, or complex128 where it is
                complex. In files it may be larger than memory.

        Returns:
            An array of shape `(m,)` or `(m, k)`, or `n` instead of `m`: `out` if that is one, and for a path a memory
            map of the file that cannot be written.

        Raises:
            UsageError: Shapes that do not fit, or an `out` that is the factor.
            InputError: A file that is no .npy file of numbers, or a part of one.
            MemoryLimitError: Too little memory for the product, or for one column beside it.
            OSError: For example, a full disk. Then there is no new file.

        >>> A = oc.SparseMatrix("web.oc")
        >>> A.multiply([np.inf, 0, np.inf, np.inf], semiring="min-plus", transposed=True)
        array([ 1., inf, inf,  1.])
        """
        return self._multiply(factor, semiring, "transpose" if transposed else "matrix", out)

    def _factor(self, factor: Any, operand: str) -> Factor:
        """The factor, if it has the rows that are multiplied."""
        if isinstance(factor, LinearOperator) or scipy.sparse.issparse(factor):
            raise TypeError(f"expected a dense vector or matrix, found a {type(factor).__name__}")
        dense = Factor(factor, self._matrix)
        rows, inner = self.shape if operand == "matrix" else self.shape[::-1]
        if dense.shape[0] != inner:
            size = f"{rows} x {inner}"
            matrix = f"a matrix of {size}" if operand == "matrix" else f"the {operand}, which is {size}"
            shape = " x ".join(map(str, dense.shape))
            raise UsageError(f"expected {inner} rows to multiply {matrix}, found {shape}")
        return dense

    def _multiply(
        self,
        factor: Any,
        semiring: str = "plus-times",
        operand: Literal["matrix", "transpose", "adjoint"] = "matrix",
        out: Any = None,
    ) -> np.ndarray:
        dense = self._factor(factor, operand)
        dtype = np.result_type(self.dtype, dense.dtype)
        if dtype.kind == "c" and semiring != "plus-times":
            found = dense.dtype if dense.dtype.kind == "c" else "a complex matrix"
            raise TypeError(f"expected real numbers for the semiring {semiring}, found {found}")
        rows = self.shape[0 if operand == "matrix" else 1]
        if dense.is_file or out is not None:
            place = product_for(out, dense, rows, self.dtype)
            self.stats = _outcore.multiply_streamed(
                self._matrix, dense.given(self.dtype), place.given, semiring, operand
            )
            return place.result()
        # Real and imaginary parts are columns of their own, or belong together if the matrix is complex; either way
        # they are multiplied in the same pass.
        columns, _ = dense.given(self.dtype)
        product = np.empty((rows, columns.shape[1]))
        self.stats = self._matrix.multiply(columns, product, semiring, operand)
        result: np.ndarray = product.view(dtype).reshape(rows, *dense.shape[1:])
        return result

    def toarray(self) -> np.ndarray:
        """All numbers as an array of shape `(m, n)`, for small matrices: `A[:]`.

        >>> oc.SparseMatrix("web.oc").toarray()
        array([[1., 1., 0., 0.],
               [1., 0., 0., 1.],
               [0., 0., 0., 0.],
               [0., 1., 0., 0.]])
        """
        found: np.ndarray = self[:]
        return found

    def __getitem__(self, key: Any) -> Any:
        """Rows and columns as NumPy has them, dense: `A[5]`, `A[5, 7]`, `A[[1, 2]]`, `A[:, cols]`, `A[rows, 3]`. Two
        lists are a part of the matrix, as with `numpy.ix_`.

        It is a product with unit vectors: `ceil(k / 32)` passes for k rows or columns, of those that are fewer. The
        rows or columns count under the limit as long as they live; the unit vectors are as large beside it.

        Raises:
            IndexError: A row or column that is not there.
            MemoryLimitError: Too little memory for the rows or columns.

        >>> A = oc.SparseMatrix("web.oc")
        >>> A[0], A[:, [0, 3]].sum(axis=0), A[1, 3]
        (array([1., 1., 0., 0.]), array([2., 1.]), np.float64(1.0))
        """
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) > 2:
            raise IndexError(f"expected a row and a column, found {len(keys)} indices")
        rows, columns = (_places(one, size) for one, size in zip((*keys, slice(None))[:2], self.shape, strict=True))
        chosen = [np.atleast_1d(rows), np.atleast_1d(columns)]
        operand: Literal["matrix", "transpose"] = "transpose" if len(chosen[0]) <= len(chosen[1]) else "matrix"
        by_rows = operand == "transpose"
        own, others = chosen if by_rows else chosen[::-1]
        inner, outer = self.shape if by_rows else self.shape[::-1]
        units = np.zeros((inner, len(own)))
        units[own, np.arange(len(own))] = 1
        found = self._multiply(units, operand=operand) if len(own) else np.zeros((outer, 0), self.dtype)
        # All of them need no copy.
        found = found if np.array_equal(others, np.arange(outer)) else found[others]
        part = found.T if by_rows else found
        return part[(0 if np.ndim(rows) == 0 else slice(None), 0 if np.ndim(columns) == 0 else slice(None))]

    def sum(self, axis: Literal[0, 1] | None = None) -> Any:
        """The sum of all entries, or with `axis` 0 those of the columns, with 1 those of the rows. One pass.

        >>> oc.SparseMatrix("web.oc").sum(), oc.SparseMatrix("web.oc").sum(axis=0)
        (5.0, array([2., 2., 0., 1.]))
        """
        if axis not in (0, 1, None):
            raise UsageError(f"expected axis 0, 1 or None, found {axis!r}")
        sums = self.multiply(np.ones(self.shape[0 if axis == 0 else 1]), transposed=axis == 0)
        return sums.sum().item() if axis is None else sums

    def diagonal(self) -> np.ndarray:
        """The entries of the diagonal in the order of rows, 0 where there is none. One pass.

        Returns:
            An array of `min(m, n)` numbers, which counts under the limit as long as it lives.

        Raises:
            MemoryLimitError: Too little memory for the array.

        >>> import scipy.sparse
        >>> wide = scipy.sparse.csr_array([[2.0, 1.0, 0.0], [0.0, 0.0, 5.0]])
        >>> oc.import_matrix(wide, "wide.oc", replace=True).diagonal()
        array([2., 0.])
        """
        count = min(self.shape)
        diagonal = np.empty(2 * count if self._matrix.is_complex else count)
        self.stats = self._matrix.diagonal(diagonal)
        return diagonal.view(self.dtype)

    def trace(self) -> Any:
        """The sum of the diagonal. One pass.

        >>> import scipy.sparse
        >>> oc.import_matrix(scipy.sparse.diags_array([1.0, 2.0]), "diagonal.oc", replace=True).trace()
        3.0
        """
        return self.diagonal().sum().item()

    def dot(self, x: Any) -> Any:
        """`A @ x`: for an `outcore.array.Array` another one, which is not computed yet, and otherwise as SciPy's
        operators have it.

        A lazy product has the bits of `multiply`. It is read along its rows, and every pass of a computation that goes
        over it is one over the matrix: `outcore.array.explain` says which there are. The factor is in memory, or in a
        temporary file where it is too large; the product is not stored where the rows of the image are in the order of
        ids and the factor has at most 32 columns, and otherwise in memory or in a temporary file.

        Raises:
            UsageError: Shapes that do not fit; a matrix of complex numbers and a lazy array.

        >>> A = oc.SparseMatrix("web.oc")
        >>> product = A @ oc.array.ones((4, 2))
        >>> product.sum(axis=0).compute()
        array([5., 5.])
        """
        return _lazy_product(self, "matrix", x) if isinstance(x, Array) else super().dot(x)

    def _rdot(self, x: Any) -> Any:
        return _lazy_product(self, "transpose", x.T).T if isinstance(x, Array) else super()._rdot(x)

    def _transpose(self) -> "_Transpose":
        return _Transpose(self, "transpose")

    def _adjoint(self) -> "_Transpose":
        return _Transpose(self, "adjoint")

    def _matmat(self, factor: np.ndarray) -> np.ndarray:
        return self._multiply(factor)

    def _rmatmat(self, factor: np.ndarray) -> np.ndarray:
        return self._multiply(factor, operand="adjoint")

    def _matvec(self, factor: np.ndarray) -> np.ndarray:
        return self._multiply(factor)

    def _rmatvec(self, factor: np.ndarray) -> np.ndarray:
        return self._multiply(factor, operand="adjoint")

    def close(self) -> None:
        """Closes the image, unless the matrix was made of a graph that was open: gives back the page cache and
        buffers. Products stay usable."""
        if self._owns_graph:
            self.graph.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a SparseMatrix cannot be pickled; pass its path and open it there")

    def __repr__(self) -> str:
        rows, columns = self.shape
        kind = "symmetric, " if self.symmetric else ""
        return f"<outcore.SparseMatrix {str(self.graph.path)!r}: {rows} x {columns}, {kind}{self.nnz} entries>"


class _Transpose(_Operator):
    """The transpose of a matrix, or its adjoint."""

    def __init__(self, matrix: SparseMatrix, operand: Literal["transpose", "adjoint"]) -> None:
        super().__init__(matrix.dtype, matrix.shape[::-1])
        # SciPy's own operators that are made of others have these.
        self.A, self.args = matrix, (matrix,)
        self._operand: Literal["transpose", "adjoint"] = operand

    def dot(self, x: Any) -> Any:
        return _lazy_product(self.A, self._operand, x) if isinstance(x, Array) else super().dot(x)

    def _rdot(self, x: Any) -> Any:
        return _lazy_product(self.A, "matrix", x.T).T if isinstance(x, Array) else super()._rdot(x)

    def _matmat(self, factor: np.ndarray) -> np.ndarray:
        return self.A._multiply(factor, operand=self._operand)

    def _matvec(self, factor: np.ndarray) -> np.ndarray:
        return self.A._multiply(factor, operand=self._operand)

    def _rmatmat(self, factor: np.ndarray) -> np.ndarray:
        # The adjoint of the transpose is the conjugate.
        product = self.A._multiply(np.conj(factor) if self._operand == "transpose" else factor)
        return np.conj(product) if self._operand == "transpose" else product

    def _rmatvec(self, factor: np.ndarray) -> np.ndarray:
        return self._rmatmat(factor)

    def _adjoint(self) -> Any:
        return self.A if self._operand == "adjoint" else super()._adjoint()

    def _transpose(self) -> Any:
        return self.A if self._operand == "transpose" else super()._transpose()


def _places(key: Any, size: int) -> Any:
    """The indices that a key stands for: one, or an array."""
    if isinstance(key, slice):
        return np.arange(size)[key]
    places = unmasked(key)
    if places.shape == (0,):
        places = places.astype(int)
    if places.dtype.kind not in "iub" or places.ndim > 1:
        raise IndexError(f"expected whole numbers, a slice or a mask as rows and columns, found {key!r}")
    if places.dtype.kind == "b":
        if places.shape != (size,):
            raise IndexError(f"expected a mask of {size} values, found one of shape {places.shape}")
        return np.flatnonzero(places)
    outside = places[(places < -size) | (places >= size)]
    if outside.size:
        raise IndexError(f"expected indices from 0, below {size}, found {outside.flat[0]}")
    return np.where(places < 0, places + size, places)


def _with_values(graph: Graph, name: str) -> Graph:
    """The graph with an attribute of its edges as weights, unless these have that name."""
    facts = graph.info()
    if facts["weights"] == name:
        return graph
    try:
        found = graph._weighing(name)
    except NotImplementedError as error:
        raise UsageError(f"values={name!r}: {error}") from None
    if found is None:
        names = [own for own in [facts["weights"], *dict(facts["attributes"])] if own is not None]
        there = ", ".join(names) if names else "none"
        raise UsageError(f"values={name!r}: there is no such attribute of edges; there are {there}")
    return found


def _lazy_product(matrix: SparseMatrix, operand: Literal["matrix", "transpose", "adjoint"], factor: Array) -> Array:
    product = made(_outcore.Expression.sparse(matrix._matrix, operand, factor._expression), factor)
    if product._runtime is None:
        product._runtime = matrix._runtime
    return product


@checked
def import_matrix(
    input: Any,
    image: str | os.PathLike[str],
    *,
    shape: tuple[int, int] | None = None,
    bipartite: bool = False,
    values: bool | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    where: Where | list[Where] | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    nulls: Literal["error", "skip"] = "error",
    duplicates: Literal["first", "last", "sum", "min", "max", "keep", "error"] = "sum",
    order: Literal["auto", "input", "degree", "near"] = "auto",
    replace: bool = False,
    runtime: Runtime | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    backend: Literal["auto", "uring", "posix"] = "auto",
    temporary: str | os.PathLike[str] | None = None,
    progress: Progress = False,
) -> SparseMatrix:
    """Writes a matrix of any size as an image, in bounded memory, and opens it.

    The image of a rectangular matrix is that of a graph whose vertices are first its rows and then its columns.

    Args:
        input: A Matrix Market file (.mtx, also .gz and .zst), a SciPy sparse matrix or array, or any other input of
            `import_graph`. Complex values are taken from Matrix Market files,
            SciPy matrices and NumPy arrays.
        image: Where the image goes.
        shape: The numbers of rows and columns, if the input is a list or a table of entries, such as a Parquet file, a
            data frame or a tuple of arrays `(row, column, value)`: sources are then row indices and targets column
            indices, from 0, as in SciPy's `coo_array`. Without it they are ids, and each id is a row and a column.
            An array of two dimensions needs it, or `bipartite`, for it may be a dense matrix, too.
        bipartite: Whether the ids of a list or a table are two kinds, such as users and items: each source is a row and
            each target a column, in the order of the ids as text, and `row_ids` and `column_ids` tell them.
        values: Whether entries have values; without them every place that has an entry is 1, also if it has several or
            they are 0. By default they have values if the input has. SciPy matrices of bool have none;
            `False` is no entry.
        source, target, weight: The columns of a list or table that hold rows, columns and values: their names, or their
            numbers from 1.
        where, delimiter, header, comment, nulls: Which entries are read, and how text is, as `import_graph` has it.
        duplicates: How entries at one place are combined: by their sum, as in SciPy, or as `import_graph` has it.
        order: How rows and columns are ordered inside the image; results do not show it. "near" is for square matrices.

    The other arguments, the cost and what is raised are as for `import_graph`; the limits are those of the matrix that
    is returned too. What `import_graph` has as `notes` is warned of.

    >>> import scipy.sparse
    >>> A = oc.import_matrix(scipy.sparse.diags_array([1.0, 2.0, 4.0]), "diagonal.oc", replace=True)
    >>> A @ np.array([1, 1, 1])
    array([1., 2., 4.])
    """
    limits: dict[str, Any] = {"runtime": runtime, "memory": memory, "threads": threads, "backend": backend}
    options = limits | {
        "format": format,
        "source": source,
        "target": target,
        "weight": "none" if values is False else weight,
        "bipartite": bipartite,
        "where": where,
        "delimiter": delimiter,
        "header": header,
        "comment": comment,
        "nulls": nulls,
        "duplicates": duplicates,
        "order": order,
        "replace": replace,
        # A matrix of zeros is one.
        "allow_empty": True,
        "temporary": temporary,
        "progress": progress,
    }
    if not isinstance(bipartite, bool):
        raise TypeError(f"expected bipartite= as True or False for a matrix, found {bipartite!r}")
    if shape is not None:
        if bipartite:
            raise TypeError("expected shape= for entries at numbers, or bipartite= for entries under ids, found both")
        is_pair = isinstance(shape, tuple) and len(shape) == 2 and all(isinstance(n, int | np.integer) for n in shape)
        if not is_pair or min(shape) < 0:
            raise TypeError(f"expected shape= as the numbers of rows and columns, found {shape!r}")
    elif not bipartite and isinstance(input, np.ndarray) and input.ndim == 2 and input.dtype.kind in "biufc":
        raise UsageError(
            f"expected scipy.sparse.csr_array(matrix) of a dense matrix, or shape= beside rows (row, column[, value]), "
            f"found an array of shape {input.shape}, which may be either"
        )
    report = run_import(
        import_arguments("import_matrix", input, image, options), explain=False, is_matrix=True, shape=shape
    )
    # A matrix of zeros is one.
    for note in report["notes"] if report["edges"] else []:
        warnings.warn(note, stacklevel=3)
    return SparseMatrix(image, values=values, **limits)
