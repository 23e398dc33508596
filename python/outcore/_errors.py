"""The exceptions: they mirror the errors of the engine.

Failures of the operating system are `FileError`; a request to stop is `KeyboardInterrupt`. Exceptions have the kind
that the shell's exit code and `ErrorKind` in Rust have, and as attributes the members of `error` in what `--json`
writes.
"""

import logging
import re
from typing import Any

LOGGER = logging.getLogger("outcore")
"""Notes and warnings of the engine are records of this logger. It shows nothing unless the application says where."""
LOGGER.addHandler(logging.NullHandler())


class OutcoreError(Exception):
    """The base of all exceptions that only Outcore raises."""

    kind: str = "other"
    """The kind of the error, the same name as in Rust; each has an exit code of the command."""


class InputError(OutcoreError, ValueError):
    """An input that does not hold what its format says."""

    kind = "input"
    path: str
    """The file, or a name for what was handed over."""
    line: int | None
    """The line, from 1, or the row or record of a binary input."""
    expected: str
    """The form or value that was expected."""
    found: str
    """The value that was found in its place."""
    advice: str
    """A way out; may be empty."""


class FileError(OutcoreError, OSError):
    """The operating system refuses or breaks off an operation on a file. It is also what Python has for the number,
    such as `FileNotFoundError` or `PermissionError`, and its kind depends on that."""

    kind = "device"

    def __new__(cls, *args: Any) -> "FileError":
        return super().__new__(_FILE_ERRORS.get(type(OSError(*args)), cls), *args)

    def __reduce__(self) -> tuple[Any, ...]:
        return FileError, *super().__reduce__()[1:]


class CorruptImageError(OutcoreError):
    """An image whose bytes are not what they should be."""

    kind = "damaged"
    path: str
    """The file of the image."""
    offset_bytes: int
    """Where in the file."""


class MemoryLimitError(OutcoreError, MemoryError):
    """An operation needs more memory than the limit leaves, and is refused before anything is done; or the system has
    less than the limit, as by `ulimit -v`."""

    kind = "memory"
    needed_bytes: int
    """The bytes that the operation needs."""
    available_bytes: int | None = None
    """The bytes that are available under the limit; None where the system refused them."""
    limit_bytes: int | None = None
    """The limit; None where the system refused the bytes."""
    advised_bytes: int | None = None
    """A limit that is enough; None where the system refused the bytes."""
    holders: dict[str, int] = {}
    """The owners of the other memory, with its bytes; the largest first."""


class UsageError(OutcoreError, ValueError):
    """A question that the graph cannot answer, or an option that cannot be."""

    kind = "usage"


def without_numba(function: str) -> UsageError:
    """The error of a function for which Numba must be there."""
    return UsageError(f"{function} needs Numba, which is not installed: pip install numba")


class NoImageError(UsageError, FileNotFoundError):
    """A path where there is no image."""

    kind = "missing"


class ImageExistsError(UsageError, FileExistsError):
    """A path where an image is to be, and where something is that is not to be replaced."""

    kind = "exists"


class DiskSpaceError(UsageError, OSError):
    """A disk has less free space than an operation needs. No file is left behind."""

    kind = "disk"
    needed_bytes: int
    """The bytes that the operation needs."""
    free_bytes: int
    """The bytes that are free."""


class NoVertexError(UsageError, KeyError):
    """An id that no vertex has."""

    kind = "no_vertex"
    # That of KeyError is for keys.
    __str__ = Exception.__str__


class VerificationError(OutcoreError):
    """A result that is not right, as its verification found. It is a defect of Outcore, or of the machine."""

    kind = "verification"
    expected: str
    """The value of a right result."""
    found: str
    """The value of this result."""


class ConvergenceError(OutcoreError):
    """Ranks, eigenvalues and the like that did not converge within the iterations that were allowed."""

    kind = "not_converged"
    result: Any = None
    """The result so far, such as a `PageRank`; `None` in another process, to which errors go without it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, {name: value for name, value in vars(self).items() if name != "result"}


def interrupt(thread: int) -> None:
    """Raises `KeyboardInterrupt` in a thread of Python's, at its next step."""
    import ctypes  # Only where somebody presses Ctrl-C.

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))


# The engine writes for the shell: its options there, and in Python.
_FLAGS = {
    "replace": "True", "allow-empty": "True", "allow-repeated": "True", "refuse-empty-files": "True",
    "directed": "True", "undirected": "False",
}
_TAKE_VALUES = (
    "attributes", "backend", "bipartite", "columns", "comment", "delimiter", "dtype", "duplicates", "format", "header",
    "ids", "nulls", "order", "require-edges", "shape", "source", "target", "temporary", "vertex-table", "weight",
    "where",
)
_WORDS = {"yes": "True", "no": "False", "all": "True"}
_VALUES = (
    "adjacency|all|auto|blanks|comma|edge-list|first|float64|integer|keep|last|matrix-market|max|min|no|none|posix|"
    "skip|string|sum|tab|yes|\\d+|[A-Z]+"
)
_FLAG = re.compile(f"--({'|'.join(_FLAGS)})(?![a-z-])")
# A value that an error begins with, `--weight length of the road: there is no such column`, may be anything.
_FIRST = re.compile(f"(^|: )--({'|'.join(_TAKE_VALUES)}) ([^:]+)(?=: )")
_OPTION = re.compile(f"--({'|'.join(_TAKE_VALUES)})(?![a-z-])(?: ('[^']*'|`[^`]*`|(?:{_VALUES})(?![\\w-])))?")


def in_python(text: str) -> str:
    """A text of the engine, in which options are called as in Python: `--weight none` becomes `weight='none'`."""

    def value(given: str | None) -> str:
        if given is None or given.isupper() or given.isdigit() or given[0] in "'\"":
            return given or ""
        return _WORDS.get(given) or repr(given.strip("`"))

    def name(option: str) -> str:
        return "vertices" if option == "vertex-table" else option.replace("-", "_")

    # One argument has all conditions.
    text = text.replace("for further conditions say --where again", "give a list of conditions")
    text = _FLAG.sub(lambda flag: f"{flag[1].removeprefix('un').replace('-', '_')}={_FLAGS[flag[1]]}", text)
    text = _FIRST.sub(lambda found: f"{found[1]}{name(found[2])}={value(found[3])}", text)
    return _OPTION.sub(lambda found: f"{name(found[1])}={value(found[2])}", text)


# Python's own class of a number, such as `FileNotFoundError`, and the one that is a `FileError` besides.
_FILE_ERRORS = {
    own: type("FileError", (FileError, own), {"__module__": "outcore", "__doc__": FileError.__doc__})
    for own in (*OSError.__subclasses__(), BrokenPipeError)
    if own.__module__ == "builtins"
}

for _kind in (
    OutcoreError, InputError, FileError, CorruptImageError, MemoryLimitError, UsageError, NoImageError,
    ImageExistsError, DiskSpaceError, NoVertexError, VerificationError, ConvergenceError,
):
    # Tracebacks show the module that users import.
    _kind.__module__ = "outcore"
