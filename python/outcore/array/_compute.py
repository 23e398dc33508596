"""Computing several arrays together, and arrays in files."""

import io
import math
import os
import pathlib
import reprlib
import sys
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, Literal, overload

import numpy as np

from outcore._errors import LOGGER, InputError, UsageError
from outcore._inputs.frames import pandas_table
from outcore._inputs.tables import Chunks
from outcore._options import LIMITS, Progress, check_each, checked, checked_options, limits
from outcore._outcore import Expression, Runtime, compute_arrays, import_array, save_array
from outcore.array import _array as core
from outcore.array._array import Array, Operand

Path = str | os.PathLike[str]
# Results up to this size are kept with their arrays, so that they are computed once.
MOST_KEPT_BYTES = 4096
# The greatest number of characters of an error of NumPy that ours quotes.
MOST_TOLD = 80
Goal = tuple[Expression, str, bool, list[str] | None]


def compute_options(given: dict[str, Any], arrays: list[Array]) -> dict[str, Any]:
    """The limits of a computation: those that are given, within the runtime of its arrays."""
    if wrong := [name for name in given if name not in LIMITS]:
        raise TypeError(f"expected the options {', '.join(LIMITS)}, found {wrong[0]}=")
    options = limits(**checked_options(limits, given))
    own = next((array._runtime for array in arrays if array._runtime is not None), None)
    if options["runtime"] is None and own is not None:
        if options["memory"] is None:
            options["runtime"] = own
        elif options["threads"] is None:
            options["threads"] = own.threads
    return options


def _is_kept(array: Array) -> bool:
    return array._values is not None and array._values.nbytes <= MOST_KEPT_BYTES


def stored_arrays(persist: Mapping[Path, Operand] | None) -> dict[str, Array]:
    """Arrays that become images, by their paths."""
    if persist is not None and not isinstance(persist, Mapping):
        raise TypeError(f"expected persist= as a mapping of paths to arrays, found {reprlib.repr(persist)}")
    return {_path(path): core.as_array(array) for path, array in (persist or {}).items()}


def _path(path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"expected a path, found {reprlib.repr(path)}")
    return os.fspath(path)


@overload
def compute(
    *arrays: Operand, persist: Mapping[Path, Operand] | None = None, return_stats: Literal[False] = False, **limits: Any
) -> tuple[np.ndarray, ...]: ...


@overload
def compute(
    *arrays: Operand, persist: Mapping[Path, Operand] | None = None, return_stats: Literal[True], **limits: Any
) -> tuple[tuple[np.ndarray, ...], dict[str, Any]]: ...


def compute(
    *arrays: Operand, persist: Mapping[Path, Operand] | None = None, return_stats: bool = False, **limits: Any
) -> Any:
    """The elements of arrays, as arrays of NumPy's, computed together.

    What has the same number of rows is computed in one pass over the files, and what depends on results of that in
    another one. Results have the same bits for all numbers of threads, all limits and back ends.

    Args:
        persist: Arrays that become images, by their paths, in the same passes; `open` opens these.
        return_stats: Whether what it cost is returned too: passes, bytes read, seconds and so on.
        runtime: The memory and workers to use; by default those of the arrays that were opened with some, or of the
            process.
        memory: A limit for this computation alone, in bytes or as text such as "1GiB". Pages of images stay in the
            cache of the runtime that opened them, which gives back what is more than this limit leaves.
        threads: The number of workers; by default those of the runtime.
        backend: How files are read: "uring", "posix", or "auto" for the best that works here.
        temporary: Where temporary files go.
        progress: Whether a bar shows how far it is, or a function of events, as in `import_graph`.

    Returns:
        A tuple of arrays, one for each; with `return_stats` a pair of that and a dict. The arrays count under the limit
        as long as they live.

    Cost: every file is read once a pass; memory for blocks of rows and for the results.

    Raises:
        MemoryLimitError: Too little memory for the results, or for blocks of rows. It is raised before a pass begins.
        UsageError: An operation that needs all rows of an array in a file at once; no vector or matrix to persist.
        OSError: A file that cannot be read; a full disk. Then there are no images.

    >>> x = oc.array.arange(1000)
    >>> (total, most), stats = oc.array.compute(x.sum(), x.max(), return_stats=True)
    >>> int(total), int(most), stats["passes"]
    (499500, 999, 0.0)
    """
    given = [core.as_array(array) for array in arrays]
    stored = stored_arrays(persist)
    if not persist and not return_stats and all(_is_kept(array) for array in given):
        return tuple(np.array(array._values) for array in given)
    goals: list[Goal] = [(array._expression, path, False, array.names) for path, array in stored.items()]
    values, stats, _ = compute_arrays(
        [array._expression for array in given], goals, compute_options(limits, [*given, *stored.values()])
    )
    for array, computed in zip(given, values):
        if array._values is None and computed.nbytes <= MOST_KEPT_BYTES:
            kept = core.of_numpy(computed.copy())
            array._expression, array._values = kept._expression, kept._values
    return (tuple(values), stats) if return_stats else tuple(values)


def persist(
    path: Path, array: Operand, *, names: list[str] | None = None, replace: bool = False, **limits: Any
) -> Array:
    """Computes an array into an image on the disk, in bounded memory, and opens that.

    Args:
        path: Where the image goes. It appears when it is complete.
        array: A vector or a matrix.
        names: The names of its columns; by default those that it has.
        replace: Whether it may replace an image that is there.
        limits: `runtime`, `memory`, `threads`, `backend`, `temporary` and `progress`, as `compute` has them.

    Raises:
        ImageExistsError: Something has that name.
        UsageError: An array of more axes, or of none.
        OSError: For example, a full disk. Then there is no image.

    >>> oc.array.persist("squares.oc", oc.array.arange(1000) ** 2)
    <outcore.array.Array: squares.oc, shape (1000,), int64, long axis 0>
    """
    stored = core.as_array(array)
    options = compute_options(limits, [stored])
    if names is None:
        names = stored.names
    else:
        check_each("names", str, names)
        names = list(names)
    compute_arrays([], [(stored._expression, _path(path), bool(replace), names)], options)
    return _opened(path, options, stored._runtime)


def save(path: Path, array: Operand, *, names: list[str] | None = None, **limits: Any) -> None:
    """Computes an array into a file of a common format, in bounded memory. `open` reads .npy files of vectors and
    matrices in place; `persist` writes images, which are faster.

    Args:
        path: Where the file goes; its ending says what it is. A `.npy` file is what `numpy.load` reads as this array,
            of any shape. `.parquet`, `.arrow`, `.csv`, `.csv.gz` and `.csv.zst` are tables of a vector or a matrix. The
            file appears when it is complete, and replaces one of that name.
        array: The array. Elements keep their type, also in tables.
        names: The names of the columns of a table; by default those that it has, or x0, x1 and so on.
        limits: `runtime`, `memory`, `threads`, `backend`, `temporary` and `progress`, as `compute` has them.

    Cost: one pass, and those that the array needs; memory for a few partitions of rows. What is read along its last
    axis, such as the transpose of an array in a file, becomes a `.npy` file by columns (`fortran_order`).

    Raises:
        UsageError: Another ending; for a table more axes or none, or two columns of one name; another number of names
            than columns.
        OSError: For example, a full disk. Then there is no new file, and an old one of that name is as it was.

    >>> x = oc.array.arange(6, dtype="int32").reshape(3, 2)
    >>> oc.array.save("x.npy", x)
    >>> np.load("x.npy")
    array([[0, 1],
           [2, 3],
           [4, 5]], dtype=int32)
    """
    stored = core.as_array(array)
    if names is None:
        names = stored.names
    else:
        check_each("names", str, names)
        names = list(names)
    save_array(stored._expression, _path(path), names, compute_options(limits, [stored]))


def _opened(path: Path, options: dict[str, Any], runtime: Runtime | None) -> Array:
    array = core.made(Expression.of_image(os.fspath(path), options | {"memory": None}))
    array._runtime, array._names = runtime, array._expression.names
    return array


@checked
def from_columns(
    input: Any,
    image: str | os.PathLike[str],
    *,
    columns: Any = None,
    dtype: Any = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    replace: bool = False,
    runtime: Runtime | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    backend: Literal["auto", "uring", "posix"] = "auto",
    temporary: str | os.PathLike[str] | None = None,
    progress: Progress = False,
) -> Array:
    """Makes an image of an array of the columns of a table, in bounded memory, and opens it.

    Args:
        input: The path of a file: CSV and other text in columns (also .gz and .zst), Parquet, Arrow, or .npy; or an
            object with `__arrow_c_stream__` (polars, pyarrow, DuckDB), or a pandas frame. Rows stay in their order.
        image: Where the image goes. It appears when it is complete.
        columns: The columns that the array has, in this order, by their names or their numbers from 1; by default all
            of numbers, and a warning tells which others there are. Columns of true and false are taken only by name.
        dtype: The type of the elements; by default the one to which the types of all columns are promoted. Whole
            numbers in text are int64, or float64 if a number is fractional or missing.
        delimiter: What separates the columns of a text file: "tab", "comma", "semicolon", "bar", "blanks", or a
            character; by default detected from the first lines.
        header: Whether the first line of a text file names the columns; by default detected from the first lines.
        comment: What comments in a text file begin with, or "none"; by default "#" and "%", but nothing in CSV.
        replace: Whether it may replace an image that is there.
        runtime: The memory and workers to use; by default those of the process.
        memory: A limit for this import alone, in bytes or as text such as "1GiB".
        threads: The number of workers; by default those of the runtime.
        backend: How files are read and written.
        temporary: Where temporary files go.
        progress: Whether to show a bar on the standard error output, as tqdm draws it; or a function that is called
            with events: dicts of `event` ("start", "advance" or "finish"), `name`, `unit`, `done`, `total` and
            `seconds`.

    Cost: one pass over the table; of text another one if the first lines are whole numbers and a later one is not, and
    of a .npy file of float64 if `dtype` is float32.
    Memory for 4 KiB of every column, for a few blocks of rows, and for what decoding takes.

    Raises:
        InputError: A column that does not hold numbers; a number that elements do not hold, or a missing one where they
            have no NaN; a damaged file.
        UsageError: Columns that are not there.
        ImageExistsError: Something has the name of the image.
        OSError: For example, a full disk. Then there is no image.

    >>> table = [[100, 55.5], [250, np.nan]]
    >>> np.savetxt("houses.csv", table, delimiter=",", header="price,area", comments="")
    >>> X = oc.array.from_columns("houses.csv", "houses.oc", replace=True)
    >>> X.names, X["price"].compute()
    (['price', 'area'], array([100., 250.]))
    """
    path, table, name = None, None, ""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    chosen = None if columns is None else [str(one) for one in ([columns] if isinstance(columns, str) else columns)]
    if isinstance(input, (str, os.PathLike)):
        path = os.fspath(input)
    elif pandas is not None and isinstance(input, pandas.DataFrame):
        table, name = pandas_table(input), "the pandas frame"
        if dtype is None and isinstance(table, Chunks):
            dtype = _common(input, chosen)
    elif polars is not None and isinstance(input, polars.DataFrame):
        table, name = _of_polars(input, chosen), "the polars frame"
    elif hasattr(input, "__arrow_c_stream__"):
        table, name = input, f"the {type(input).__name__}"
    else:
        raise TypeError(
            f"expected a path, an Arrow stream or a pandas frame, found {type(input).__name__}; asarray and persist "
            "take arrays"
        )
    given_limits = limits(runtime, memory, threads, backend, temporary, progress)
    settings = {"columns": chosen, "dtype": None if dtype is None else np.dtype(dtype).name}
    settings |= {"delimiter": delimiter, "header": header, "comment": comment, "replace": replace}
    report = import_array(path, table, name, os.fspath(image), settings | {"limits": given_limits})
    for note in report["notes"]:
        LOGGER.warning(note)
        warnings.warn(note, stacklevel=3)
    return _opened(image, given_limits, runtime)


def _of_polars(frame: Any, chosen: list[str] | None) -> Any:
    """A frame of polars whose columns have types of Arrow's, as Arrow has them."""
    polars = sys.modules["polars"]
    for place, (name, kind) in enumerate(frame.schema.items(), start=1):
        if str(kind) not in ("Int128", "UInt128"):
            continue
        if chosen is None or name in chosen or str(place) in chosen:
            raise InputError(
                f"the polars frame: expected columns of types that Arrow has, found {kind} in column {name!r}; cast "
                "it, or say columns= without it"
            )
        frame = frame.with_columns(polars.lit(0).alias(name))
    return frame.cast({polars.Null: polars.Float64})


def _common(frame: Any, chosen: list[str] | None) -> Any:
    """The type to which the columns of a frame are promoted, which pieces of it do not tell."""
    labels = [place for place, label in enumerate(frame.columns) if chosen is None or str(label) in chosen]
    kinds = [frame.dtypes.iloc[place] for place in labels]
    kinds = [kind for kind in kinds if isinstance(kind, np.dtype) and kind.kind in "iuf"]
    return np.result_type(*kinds) if kinds else None


def open(
    path: Path,
    *,
    runtime: Runtime | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    backend: Literal["auto", "uring", "posix"] = "auto",
) -> Array:
    """An array in a file: an image that `persist` or `from_columns` wrote, a .npy file of a vector or a matrix, or the
    columns of numbers of a Parquet or Arrow file, whatever its name. Files are read in place.

    Parquet and Arrow files are decoded in every pass, and only the columns that it uses: `from_columns` makes an image
    of one that is passed over often, and of text (CSV), which is not read in place. A warning tells which columns do
    not hold numbers and are left out; types and missing values are those of `from_columns`.

    Args:
        path: The file, or the folder of an image.
        runtime: The memory and workers that compute with the array, unless `compute` is given others; by default those
            of the process.
        memory, threads, backend: Limits of a runtime of the array's own.

    Cost: the head of the file; of Parquet the heads of the pages of all columns of numbers, of Arrow those of batches.
    Nothing else is read before something is computed.

    Raises:
        FileNotFoundError: No such file.
        InputError: Anything else than such a file; other elements than bool, integers, float32 and float64; a table
            without columns of numbers.
        CorruptImageError: A damaged image.

    >>> np.save("table.npy", np.arange(6.0).reshape(3, 2))
    >>> oc.array.open("table.npy").sum(axis=0).compute()
    array([6., 9.])
    """
    runtime = _own_runtime(runtime, memory, threads, backend)
    options = limits(runtime, None, None, "auto", None, False)
    file = pathlib.Path(_path(path))
    if not file.is_dir():
        _check_plain(file)
        if zipfile.is_zipfile(file):
            expected = f"{file}: expected an image, or a .npy, Parquet or Arrow file"
            raise InputError(f"{expected}, found an archive; load_npz opens its members")
    array = core.made(Expression.of_file(os.fspath(path), options))
    array._runtime, array._names = runtime, array._expression.names
    return array


def _own_runtime(
    runtime: Runtime | None, memory: int | str | None, threads: int | None, backend: str
) -> Runtime | None:
    """The runtime of an array: the one that is given, or one of its own under limits."""
    given = {"memory": memory, "threads": threads, "backend": backend}
    own = {name: value for name, value in given.items() if value not in (None, "auto")}
    if own and runtime is not None:
        raise UsageError(f"expected runtime= or {next(iter(own))}=, found both")
    return Runtime(**own) if own else runtime  # type: ignore[arg-type]


def _check_plain(file: pathlib.Path) -> None:
    """Refuses pipes and devices before a byte is read: they may have none, or never end."""
    if file.exists() and not file.is_file():
        raise InputError(f"{file}: expected a file, found a pipe or a device; write what it gives into a file first")


def load_npz(
    path: Path,
    *,
    runtime: Runtime | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    backend: Literal["auto", "uring", "posix"] = "auto",
) -> dict[str, Array]:
    """The arrays of a .npz file that is not compressed, by their names. Vectors and matrices are read in place; arrays
    of other shapes are read at once.

    What is read is compared with the checksums of the archive once all of an array was read in its rows, by one pass or
    several. Parts of an array and those that lie by columns (`fortran_order`) are not compared;
    `zipfile.ZipFile(path).testzip()` compares all, in a pass of its own. The limits are those of `open`.

    Raises:
        InputError: A file that is no such archive, or is compressed or encrypted: `numpy.savez` writes one that is not.
            Two arrays of one name. A damaged array; where it is read in place, when a pass over it ends.

    >>> np.savez("tables.npz", x=np.arange(4), y=np.eye(2))
    >>> tables = oc.array.load_npz("tables.npz")
    >>> list(tables), tables["x"].sum().compute()
    (['x', 'y'], array(6))
    """
    runtime = _own_runtime(runtime, memory, threads, backend)
    options = limits(runtime, None, None, "auto", None, False)
    arrays: dict[str, Array] = {}
    _check_plain(pathlib.Path(_path(path)))
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError):
        raise InputError(f"{os.fspath(path)}: expected a .npz file, found something else") from None
    with archive, pathlib.Path(path).open("rb") as file:
        for member in archive.infolist():
            is_encrypted = bool(member.flag_bits & 1)
            if member.compress_type != zipfile.ZIP_STORED or is_encrypted:
                advice = "write it with numpy.savez, or load it with NumPy if it fits into memory"
                found = f"found {member.filename} {'encrypted' if is_encrypted else 'compressed'}"
                raise InputError(f"{os.fspath(path)}: expected members as they are, {found}; {advice}")
            name = member.filename.removesuffix(".npy")
            if name in arrays:
                raise InputError(f"{os.fspath(path)}: expected arrays of different names, found two called {name!r}")
            arrays[name] = _member(archive, file, member, options, runtime)
    return arrays


def _member(
    archive: zipfile.ZipFile, file: Any, member: zipfile.ZipInfo, options: dict[str, Any], runtime: Runtime | None
) -> Array:
    path = file.name
    # The local head of a member has 30 bytes and ends with its name and an extra field, whose lengths are at 26 and 28.
    if not 0 <= member.header_offset <= os.fstat(file.fileno()).st_size - 30:
        found = f"{member.filename} at byte {member.header_offset}"
        raise InputError(f"{path}: expected members of an archive within the file, found {found}")
    file.seek(member.header_offset + 26)
    start = member.header_offset + 30 + int(np.frombuffer(file.read(4), "<u2").sum())
    try:
        file.seek(start)
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(file)
        offset_bytes = file.tell()
        if offset_bytes - start + math.prod(shape) * dtype.itemsize != member.file_size:
            raise ValueError(f"its size is not that of an array of shape {shape} of {dtype}")
        if len(shape) not in (1, 2) or 0 in shape:
            # Reading all of a member compares it with its checksum.
            return core.of_numpy(np.lib.format.read_array(io.BytesIO(archive.read(member))))
    except (ValueError, EOFError, tokenize.TokenError, zipfile.BadZipFile) as error:
        text = str(error)
        told = text if len(text) <= MOST_TOLD else f"{text[:MOST_TOLD]}..."
        raise InputError(f"{path}: expected .npy files in it, found {member.filename}: {told}") from None
    size = dtype.itemsize
    strides = [size] if len(shape) == 1 else [size, size * shape[0]] if by_columns else [size * shape[1], size]
    file.seek(start)
    head = file.read(offset_bytes - start)
    checksum = (zlib.crc32(head), len(head), member.CRC)
    array = core.made(Expression.of_part(path, offset_bytes, list(shape), strides, dtype.str, options, checksum))
    array._runtime = runtime
    return array
