"""The values that options take: one check for all functions, by their annotations, so that every error names the
option, what it takes, and what was given."""

import operator
import os
import reprlib
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from outcore import _outcore
from outcore._errors import UsageError
from outcore._outcore import Graph, Runtime

# What `progress=` takes: whether a bar is shown, or who is called with events.
Progress = bool | Callable[[dict[str, Any]], object]

P = ParamSpec("P")
T = TypeVar("T")

# Options that are a number of bytes, and whole numbers of 32 bits; all others have 64.
_BYTES = {"cache", "memory", "message_memory"}
_OF_32_BITS = {"scale", "threads"} | {
    option["name"] for algorithm in _outcore.algorithms() for option in algorithm["options"] if option["bits"] == 32
}


class _Kind(NamedTuple):
    """What an option takes, in words; and what takes a value, or raises a TypeError or, if it is out of range, a
    ValueError."""

    words: str
    take: Callable[[Any], Any]


class _Element(TypeError):
    """A value in a list that cannot be."""


def checked(function: Callable[P, T], aliases: Mapping[str, str] = MappingProxyType({})) -> Callable[P, T]:
    """The function, which takes only what its annotations say; options also under other names."""
    takes, parameters = _kinds(function), signature(function)

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
        for name, value in bound.arguments.items():
            if name in takes:
                bound.arguments[name] = _taken(name, takes[name], value)
        return function(*bound.args, **bound.kwargs)

    return call


def checked_options(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options, if the function takes their values."""
    takes = _kinds(function)
    return {name: _taken(name, takes[name], value) if name in takes else value for name, value in options.items()}


def check_each(name: str, hint: Any, parts: Iterable[Any]) -> None:
    """An error unless each part of an option is what the hint says."""
    if (kind := _kind(name, hint)) is not None:
        for part in parts:
            _taken(name, kind, part)


def _taken(name: str, kind: _Kind, value: Any) -> Any:
    try:
        return kind.take(value)
    except _Element as error:
        raise TypeError(f"expected {name}= as {kind.words}, {error}") from None
    except (TypeError, ValueError, OverflowError) as error:
        wrong = TypeError if isinstance(error, TypeError) else UsageError
        raise wrong(f"expected {name}= as {kind.words}, found {reprlib.repr(value)}") from None


def _kinds(function: Callable[..., Any]) -> dict[str, _Kind]:
    hints, parameters = get_type_hints(function), signature(function).parameters
    named = (name for name, parameter in parameters.items() if parameter.kind != Parameter.VAR_KEYWORD)
    kinds = {name: _kind(name, hints[name]) for name in named}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _kind(name: str, hint: Any) -> _Kind | None:
    """The values that an option takes; `None` if the function itself looks at what it is given."""
    members = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    some = [member for member in members if member is not type(None)]
    if len(some) < len(members):
        kind = _kind(name, Union[tuple(some)])
        return kind and _Kind(f"{kind.words} or None", lambda value: None if value is None else kind.take(value))
    if name in _BYTES:
        return _Kind("bytes, an integer or text such as '512MiB'", _bytes)
    if set(some) == {int, str}:
        return _Kind("an integer or a string", _id)
    if str in some and any(get_origin(member) is os.PathLike for member in some):
        return _Kind("a path", lambda value: (os.fspath(value), value)[1])
    if len(some) > 1:
        kinds = [_kind(name, member) for member in some]
        known = [kind for kind in kinds if kind is not None]
        # What takes other things too, such as mappings, the function knows.
        return _one_of(known) if len(known) == len(kinds) else None
    origin = get_origin(hint) or hint
    if origin is int:
        bits = 32 if name in _OF_32_BITS else 64
        # The engine knows the most threads, and refuses 0.
        words = "a whole number from 1 to 1024" if name == "threads" else f"a whole number from 0 to 2^{bits}-1"
        return _Kind(words, lambda value: _whole(value, bits))
    if origin is Iterable and set(get_args(get_args(hint)[0])) == {int, str}:
        return _Kind("a list of ids", _ids)
    if origin is list and set(get_args(get_args(hint)[0])) == {int, str}:
        return _Kind("a list of columns", _columns)
    if origin is tuple and get_args(hint) == (str, str):
        return _Kind("two strings", _two_strings)
    if origin is Graph:
        return _Kind("an outcore.Graph", _graph)
    if origin is Runtime:
        return _Kind("an outcore.Runtime", _instance_of(Runtime))
    return {
        bool: _Kind("True or False", _flag),
        float: _Kind("a number", _real),
        str: _Kind("a string", _instance_of(str)),
        # The engine knows the names.
        Literal: _Kind("a string", _instance_of(str)),
        Callable: _Kind("a function", _function),
    }.get(origin)


def _one_of(kinds: list[_Kind]) -> _Kind:
    def take(value: Any) -> Any:
        for kind in kinds:
            try:
                return kind.take(value)
            except TypeError:
                continue
        raise TypeError

    return _Kind(" or ".join(dict.fromkeys(kind.words for kind in kinds)), take)


def _columns(value: Any) -> list[str | int]:
    if not isinstance(value, (list, tuple)):
        raise TypeError
    return [_id(column) for column in value]


def _two_strings(value: Any) -> tuple[str, str]:
    if not isinstance(value, (list, tuple)) or [type(part) for part in value] != [str, str]:
        raise TypeError
    return value[0], value[1]


def _instance_of(kind: Any) -> Callable[[Any], Any]:
    def take(value: Any) -> Any:
        if isinstance(value, kind):
            return value
        raise TypeError

    return take


def _graph(value: Any) -> Graph:
    if isinstance(value, Graph):
        return value
    if isinstance(value, (str, os.PathLike)):
        raise _Element(f"found {value!r}; open an image with outcore.Graph")
    raise _Element(_found(value))


def _image(value: Any) -> Any:
    if isinstance(value, (str, bytes, os.PathLike)):
        return value
    raise TypeError(f"expected image= as a path, {_found(value)}")


def _found(value: Any) -> str:
    """A description of a value that is no graph, and how it becomes one."""
    kind = type(value)
    library = kind.__module__.split(".")[0]
    found = reprlib.repr(value) if library == "builtins" else f"a {library}.{kind.__name__}"
    return f"found {found}; outcore.load_graph makes a graph of edges, frames, matrices and NetworkX graphs"


def _is_of_numpy(value: Any, kind: str) -> bool:
    """Whether a value is of a type of NumPy, which is not imported for that: without it there are no such values."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, kind, ()))


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool) or _is_of_numpy(value, "bool_")


def _flag(value: Any) -> bool:
    if _is_flag(value):
        return bool(value)
    raise TypeError


def _integer(value: Any) -> int:
    if _is_flag(value):
        raise TypeError
    return operator.index(value)


def _whole(value: Any, bits: int) -> int:
    number = _integer(value)
    if not 0 <= number < 1 << bits:
        raise ValueError
    return number


def _real(value: Any) -> float:
    # A string is no number, whatever float() makes of it.
    is_real = hasattr(value, "__float__") or hasattr(value, "__index__")
    if not is_real or _is_flag(value) or _is_of_numpy(value, "complexfloating"):
        raise TypeError
    return float(value)


def _bytes(value: Any) -> int:
    return _outcore.parse_bytes(value if isinstance(value, str) else _integer(value))


def _id(value: Any) -> int | str:
    return value if isinstance(value, str) else _integer(value)


def _ids(value: Any) -> list[int | str]:
    if isinstance(value, (int, str)):
        raise _Element(f"found {value!r}; for one id give [{value!r}]")
    ids = list(value)
    for place, one in enumerate(ids):
        try:
            ids[place] = _id(one)
        except TypeError:
            raise _Element(f"integers or strings, found {reprlib.repr(one)} in it") from None
    return ids


def ids_of(vertices: Any) -> list[int | str]:
    """A list of ids, as functions that are not checked take it."""
    try:
        return _ids(vertices)
    except _Element as error:
        raise TypeError(f"expected vertices= as a list of ids, {error}") from None
    except TypeError:
        raise TypeError(f"expected vertices= as a list of ids, found {reprlib.repr(vertices)}") from None


def _function(value: Any) -> Any:
    if callable(value):
        return value
    raise TypeError


def limits(
    runtime: Runtime | None,
    memory: int | str | None,
    threads: int | None,
    backend: str,
    temporary: str | os.PathLike[str] | None,
    progress: Progress,
) -> dict[str, Any]:
    """The options of all that needs a runtime."""
    return {
        "runtime": runtime,
        "memory": memory,
        "threads": threads,
        "backend": backend,
        "temporary": temporary,
        "progress": progress,
    }


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
