"""The values that options take: one check for all functions, by their annotations, so that every error names the
option, what it takes, and what was given. The engine checks only what depends on the data."""

import operator
import os
import reprlib
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from functools import reduce, wraps
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from outcore import _outcore
from outcore._errors import UsageError
from outcore._outcore import Graph, Runtime

# Values of `progress=`: whether a bar is shown, or a function that is called with events.
Progress = bool | Callable[[dict[str, Any]], object]

P = ParamSpec("P")
T = TypeVar("T")

# Options that are a number of bytes.
_BYTES = {"cache", "memory", "message_memory"}
# By the full names of functions, their options that are whole numbers of 32 bits; all others have 64.
_OF_32_BITS: dict[str, set[str]] = {
    f"outcore.{algorithm['name']}": {option["name"] for option in algorithm["options"] if option["bits"] == 32}
    for algorithm in _outcore.algorithms()
} | {
    "outcore._graphs.importing.generate": {"scale"},
    "outcore._graphs.program.vertex_program": {"max_iter"},
    "outcore._linalg.pagerank.pagerank": {"max_iter"},
}


class _Kind(NamedTuple):
    """The values of an option in words, and their conversion, which raises a TypeError, or a ValueError if a value is
    out of range."""

    words: str
    convert: Callable[[Any], Any]


class _Detail(TypeError):
    """A wrong value, described by the end of the error."""


class _OfCaller(Exception):
    """An error that the caller's own iterator raised, which is no error of the value."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def checked(function: Callable[P, T], aliases: Mapping[str, str] = MappingProxyType({})) -> Callable[P, T]:
    """The function with checks of its arguments by its annotations; options also under other names."""
    kinds, parameters = _kinds(function), signature(function)

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        for alias, name in aliases.items():
            if alias in options and name not in options:
                options[name] = options.pop(alias)
        try:
            bound = parameters.bind(*args, **options)
        except TypeError:
            bound = None
        if bound is None:
            # Python says best what is wrong with the call.
            return function(*args, **options)
        bound.arguments.update(_converted(kinds, bound.arguments))
        return function(*bound.args, **bound.kwargs)

    return call


def checked_options(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options, converted as the annotations of the function say."""
    return options | _converted(_kinds(function), options)


def check_each(name: str, hint: Any, parts: Iterable[Any]) -> None:
    """An error unless each part of an option is what the hint says."""
    for part in parts:
        _converted({name: _kind(name, hint)}, {name: part})


def ids_of(vertices: Any) -> list[int | str]:
    """A list of ids, as functions that are not checked take it."""
    ids: list[int | str] = _converted({"vertices": _KINDS[Iterable[int | str]]}, {"vertices": vertices})["vertices"]
    return ids


def _converted(kinds: Mapping[str, _Kind | None], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of these kinds, converted."""
    converted = {}
    for name, value in options.items():
        if (kind := kinds.get(name)) is None:
            continue
        of_caller = None
        try:
            converted[name] = kind.convert(value)
        except _OfCaller as error:
            of_caller = error.error
        except (TypeError, ValueError, OverflowError) as error:
            wrong = TypeError if isinstance(error, TypeError) else UsageError
            detail = error if isinstance(error, _Detail) else f"found {reprlib.repr(value)}"
            raise wrong(f"expected {name}= as {kind.words}, {detail}") from None
        if of_caller is not None:
            raise of_caller
    return converted


def _kinds(function: Callable[..., Any]) -> dict[str, _Kind | None]:
    hints, parameters = get_type_hints(function), signature(function).parameters
    named = (name for name, parameter in parameters.items() if parameter.kind != Parameter.VAR_KEYWORD)
    of_32_bits = _OF_32_BITS.get(f"{function.__module__}.{function.__qualname__}", set())
    return {name: _kind(name, hints[name], 32 if name in of_32_bits else 64) for name in named}


def _kind(name: str, hint: Any, bits: int = 64) -> _Kind | None:
    """The values that an option takes, whole numbers of these bits; `None` if the function itself checks them."""
    members = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    if type(None) in members:
        kind = _kind(name, reduce(operator.or_, (member for member in members if member is not type(None))), bits)
        return kind and _Kind(f"{kind.words} or None", lambda value: None if value is None else kind.convert(value))
    if name in _BYTES:
        return _Kind("bytes, an integer or text such as '512MiB'", _bytes)
    if name == "threads":
        # The engine knows the most threads, and refuses 0.
        return _Kind("a whole number from 1 to 1024", lambda value: _whole(value, 32))
    if hint is int and bits == 32:
        return _Kind("a whole number from 0 to 2^32-1", lambda value: _whole(value, 32))
    if hint in _KINDS or len(members) == 1:
        return _KINDS.get(hint) or _KINDS.get(get_origin(hint))
    kinds = [kind for member in members if (kind := _kind(name, member, bits))]
    # Unions of which a member is not known here, such as mappings, are checked by the function.
    return _one_of(kinds) if len(kinds) == len(members) else None


def _one_of(kinds: list[_Kind]) -> _Kind:
    def convert(value: Any) -> Any:
        for kind in kinds:
            try:
                return kind.convert(value)
            except TypeError:
                continue
        raise TypeError

    return _Kind(" or ".join(dict.fromkeys(kind.words for kind in kinds)), convert)


def _instance(words: str, kind: Any) -> _Kind:
    def convert(value: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError
        return value

    return _Kind(words, convert)


def _graph(value: Any) -> Graph:
    if isinstance(value, Graph):
        return value
    if isinstance(value, (str, os.PathLike)):
        raise _Detail(f"found {value!r}; open an image with outcore.Graph")
    raise _Detail(_not_a_graph(value))


def _image(value: Any) -> Any:
    if isinstance(value, (str, bytes, os.PathLike)):
        return value
    raise TypeError(f"expected image= as a path, {_not_a_graph(value)}")


def _not_a_graph(value: Any) -> str:
    """A description of a value that is no graph, and how it becomes one."""
    kind = type(value)
    library = kind.__module__.split(".")[0]
    shown = reprlib.repr(value) if library == "builtins" else f"a {library}.{kind.__name__}"
    return f"found {shown}; outcore.load_graph makes a graph of edges, frames, matrices and NetworkX graphs"


def _is_of_numpy(value: Any, kind: str) -> bool:
    """Whether a value is of a type of NumPy, which is not imported for that: without it there are no such values."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, kind, ()))


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool) or _is_of_numpy(value, "bool_")


def _flag(value: Any) -> bool:
    if not _is_flag(value):
        raise TypeError
    return bool(value)


def _whole(value: Any, bits: int = 64) -> int:
    number = _integer(value)
    if not 0 <= number < 1 << bits:
        raise ValueError
    return number


def _integer(value: Any) -> int:
    if _is_flag(value):
        raise TypeError
    return operator.index(value)


def _real(value: Any) -> float:
    # A string is no number, whatever float() makes of it.
    is_real = hasattr(value, "__float__") or hasattr(value, "__index__")
    if not is_real or _is_flag(value) or _is_of_numpy(value, "complexfloating"):
        raise TypeError
    return float(value)


def _bytes(value: Any) -> int:
    return _outcore.parse_bytes(value) if isinstance(value, str) else _whole(value)


def _id(value: Any) -> int | str:
    return value if isinstance(value, str) else _integer(value)


def _ids(value: Any) -> list[int | str]:
    """A set of vertices: ids in any iterable, or as the column `vertex`, or the only one, of a result or a frame."""
    if isinstance(value, (int, str)):
        raise _Detail(f"found {value!r}; for one id give [{value!r}]")
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise _Detail(f"found {value!r}; ids are integers or strings")
    if str(getattr(value, "dtype", "")).lower() in ("bool", "boolean"):
        raise _Detail(
            "found a mask, which does not know the order of its vertices; take the rows of a result first, as in "
            'cores[cores["core"] >= 3]'
        )
    ids = _members(_vertex_column(value))
    for place, one in enumerate(ids):
        try:
            ids[place] = _id(one)
        except TypeError:
            raise _Detail(f"integers or strings, found {reprlib.repr(one)} in it") from None
    return ids


def _vertex_column(value: Any) -> Any:
    """The ids of a result or a frame, which iterate over the names of their columns; other values as they are."""
    # Of pyarrow's tables, `columns` are arrays.
    columns = getattr(value, "column_names", getattr(value, "columns", None))
    if columns is None or not hasattr(value, "__getitem__"):
        return value
    names = list(columns)
    if "vertex" in names:
        return value["vertex"]
    if len(names) != 1:
        raise _Detail(f"found columns {', '.join(map(str, names)) or 'of none'}; give the one that has the ids")
    return value[names[0]]


def _members(value: Any) -> list[Any]:
    """The members of an iterable; arrays and series as objects of Python."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(value, method):
            return list(getattr(value, method)())
    iterator = iter(value)
    try:
        return list(iterator)
    except Exception as error:
        raise _OfCaller(error) from None


def _columns(value: Any) -> list[str | int]:
    if not isinstance(value, (list, tuple)):
        raise TypeError
    return [_id(column) for column in value]


def _two_strings(value: Any) -> tuple[str, str]:
    if not isinstance(value, (list, tuple)) or [type(part) for part in value] != [str, str]:
        raise TypeError
    return value[0], value[1]


def _path(value: Any) -> Any:
    os.fspath(value)
    return value


# The kinds of options by annotations, or by the origins of those with arguments.
_KINDS: dict[Any, _Kind] = {
    bool: _Kind("True or False", _flag),
    int: _Kind("a whole number from 0 to 2^64-1", _whole),
    float: _Kind("a number", _real),
    str: _instance("a string", str),
    # The engine knows the names.
    Literal: _instance("a string", str),
    int | str: _Kind("an integer or a string", _id),
    str | os.PathLike[str]: _Kind("a path", _path),
    Iterable[int | str]: _Kind("a list of ids", _ids),
    list[int | str]: _Kind("a list of columns", _columns),
    tuple[str, str]: _Kind("two strings", _two_strings),
    Callable: _instance("a function", Callable),
    Graph: _Kind("an outcore.Graph", _graph),
    Runtime: _instance("an outcore.Runtime", Runtime),
}


def limits(
    runtime: Runtime | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    backend: Literal["auto", "uring", "posix"] = "auto",
    temporary: str | os.PathLike[str] | None = None,
    progress: Progress = False,
) -> dict[str, Any]:
    """The options of all that needs a runtime, by their names."""
    return dict(locals())


LIMITS = tuple(signature(limits).parameters)


def split_limits(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments that are limits of a runtime, and all others."""
    others = {name: value for name, value in arguments.items() if name not in LIMITS}
    return {name: arguments[name] for name in LIMITS}, others


@checked
def runtime_options(
    *,
    memory: int | str | None = None,
    threads: int | None = None,
    temporary: str | os.PathLike[str] | None = None,
    backend: Literal["auto", "uring", "posix"] = "auto",
) -> dict[str, Any]:
    """The arguments of `Runtime`."""
    return limits(None, memory, threads, backend, temporary, False)


@checked
def graph_options(
    image: Any,
    *,
    runtime: Runtime | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    backend: Literal["auto", "uring", "posix"] = "auto",
    cache: int | str | None = None,
    progress: Progress = False,
) -> dict[str, Any]:
    """The arguments of `Graph`."""
    return {"image": _image(image), "cache": cache, "limits": limits(runtime, memory, threads, backend, None, progress)}


@checked
def top_options(k: int = 10, column: str | None = None) -> dict[str, Any]:
    """The arguments of `Table.top`."""
    return {"k": k, "column": column}


# Python's own errors about calls name what was called.
graph_options.__wrapped__.__qualname__ = "Graph"  # type: ignore[attr-defined]
runtime_options.__wrapped__.__qualname__ = "Runtime"  # type: ignore[attr-defined]
top_options.__wrapped__.__qualname__ = "Table.top"  # type: ignore[attr-defined]
