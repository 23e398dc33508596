"""Dense matrices that a sparse one is multiplied by, and their products: arrays, memory maps of files, and paths."""

import mmap
import os
import pathlib
from typing import Any, NamedTuple

import numpy as np

from outcore import _outcore
from outcore._errors import UsageError
from outcore._inputs.tables import unmasked

# The types that the engine reads from files.
_IN_FILES = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"}
_SAME_PLACE = "expected out= apart from the factor, found memory or a file that both have"


class Factor:
    """A vector or a matrix, in memory or in a file."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    """float64 or complex128."""
    is_file: bool

    def __init__(self, factor: Any, matrix: _outcore.Matrix) -> None:
        self.array: np.ndarray | None = None
        self.path: str | None = None
        self._part: Any = None
        if isinstance(factor, (str, os.PathLike)):
            self.path = os.fspath(factor)
            rows, columns, is_vector, is_complex = _outcore.dense_shape(matrix, self.path)
            self.shape = (rows,) if is_vector else (rows, columns)
        else:
            self.array = unmasked(factor)
            if self.array.dtype.kind not in "biufc":
                raise TypeError(f"expected numbers, found {self.array.dtype}")
            if self.array.ndim not in (1, 2):
                raise TypeError(f"expected a vector or a matrix, found {self.array.ndim} dimensions")
            self.shape, is_complex = self.array.shape, np.iscomplexobj(self.array)
            self._part = part_of_file(self.array)
            self.path = self._part and self._part[0]
        self.dtype = np.dtype(np.complex128 if is_complex else np.float64)
        self.is_file = self.path is not None

    @property
    def columns(self) -> int:
        return self.shape[1] if len(self.shape) == 2 else 1

    def given(self, dtype: np.dtype[Any]) -> Any:
        """The factor as the engine takes it, to multiply a matrix of this type."""
        if self.array is None or self._part is not None:
            return self._part or self.path
        # A vector is a matrix of one column.
        dtype = np.result_type(dtype, self.dtype)
        columns = np.require(_as_columns(self.array), dtype, ["C_CONTIGUOUS", "ALIGNED"])
        return columns.view(np.float64), dtype.kind == "c"


class Product(NamedTuple):
    """A product to be."""

    given: Any
    """The product as the engine takes it."""
    array: np.ndarray | None
    path: str | None = None
    is_empty: bool = False

    def result(self) -> np.ndarray:
        """The product as users get it."""
        if self.array is not None:
            return self.array
        assert self.path is not None
        # Nothing cannot be mapped.
        found: np.ndarray = np.load(self.path, mmap_mode=None if self.is_empty else "r")
        return found


def product_for(out: Any, factor: Factor, rows: int, dtype: np.dtype[Any]) -> Product:
    """A place for a product with so many rows, by a matrix of this type."""
    dtype, shape = np.result_type(dtype, factor.dtype), (rows, *factor.shape[1:])
    if out is None:
        array = np.empty(shape, dtype)
        return Product((_as_columns(array).view(np.float64), True), array)
    if isinstance(out, (str, os.PathLike)):
        if factor.path is not None and os.path.exists(out) and os.path.samefile(out, factor.path):
            raise UsageError(_SAME_PLACE)
        return Product((os.fspath(out), len(shape) == 1), None, os.fspath(out), 0 in shape)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"expected out= as a path or a NumPy array, found a {type(out).__name__}")
    if (out.shape, out.dtype) != (shape, dtype) or not out.dtype.isnative:
        expected = " x ".join(map(str, shape))
        found = " x ".join(map(str, out.shape))
        raise UsageError(f"expected out= as {expected} numbers of {dtype}, found {found} of {out.dtype}")
    check_writable(out)
    part = part_of_file(out)
    is_same = part is not None and factor.path is not None and os.path.samefile(part[0], factor.path)
    if is_same or factor.array is not None and np.may_share_memory(out, factor.array):
        raise UsageError(_SAME_PLACE)
    if part is not None:
        return Product(part, out)
    if not (out.flags.c_contiguous and out.flags.aligned):
        raise UsageError("expected out= row by row in memory, or a memory map of a file, found another array")
    return Product((_as_columns(out).view(np.float64), False), out)


def check_writable(out: np.ndarray) -> None:
    """Refuses an array whose file would not have the result, or must not: a private map, or a part of an image."""
    if not out.flags.writeable:
        raise UsageError("expected out= as an array that can be written, found one that cannot")
    root = _root(out)
    if not isinstance(root, np.memmap) or root.filename is None:
        return
    if root.mode == "c":
        raise UsageError('expected out= as a memory map that changes its file, found one of mode "c"')
    path = pathlib.Path(root.filename).resolve()
    if any((folder / "manifest.json").exists() and (folder / "out.pages").exists() for folder in path.parents[:2]):
        raise UsageError(f"expected out= outside of images, found {path} within one")


def _root(array: np.ndarray) -> Any:
    """The array of which an array is a view."""
    root: Any = array
    while isinstance(root, np.ndarray) and not isinstance(root.base, mmap.mmap):
        root = root.base
    return root


def _as_columns(array: np.ndarray) -> np.ndarray:
    """A vector as a matrix of one column."""
    return array.reshape(len(array), 1) if array.ndim == 1 else array


def part_of_file(array: np.ndarray) -> tuple[str, int, tuple[int, int], tuple[int, int], str] | None:
    """The part of a file that an array shows, if it is one that the engine reads and writes: its path, where it begins,
    rows and columns, the bytes between them, and what its elements are."""
    root = _root(array)
    # Changes of a private map are not in the file.
    if not isinstance(root, np.memmap) or root.mode == "c" or array.size == 0 or array.dtype.str[1:] not in _IN_FILES:
        return None
    address, start = (one.__array_interface__["data"][0] for one in (array, root))
    path = _mapped_file(address)
    if path is None or root.filename is None or path != os.path.realpath(root.filename):
        return None
    columns = _as_columns(array)
    size, (height, width), (down, across) = array.itemsize, columns.shape, columns.strides
    across = size if width == 1 else across
    down = width * size if height == 1 else down
    by_rows = across == size and down >= width * size
    if not by_rows and not (down == size and across >= height * size):
        return None
    return path, root.offset + address - start, (height, width), (down, across), array.dtype.str


def _mapped_file(address: int) -> str | None:
    """The file that is mapped at an address, if it still has its name: another one may have its path."""
    try:
        lines = pathlib.Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return None
    for line in lines:
        fields = line.split(maxsplit=5)
        first, end = (int(bound, 16) for bound in fields[0].split("-"))
        if first <= address < end:
            return fields[5] if len(fields) == 6 and not fields[5].endswith(" (deleted)") else None
    return None
