"""How Numba compiles the functions of vertex programs: as C functions, with `vertex` a handle that the engine's
functions take."""

# Numba has no types of its own: what it is given must not have any.
# mypy: allow-untyped-calls, allow-untyped-defs

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import llvmlite.binding  # type: ignore[import-untyped]
import numba
import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.core.errors import TypingError
from numba.extending import intrinsic, is_jitted, models, overload_attribute, overload_method, register_model

from outcore import _outcore
from outcore._errors import UsageError

for _name, _address in _outcore.program_symbols():
    llvmlite.binding.add_symbol(_name, _address)


class VertexType(types.Type):
    """The handle of a vertex whose messages have a type, in a program that has some functions and lacks others."""

    def __init__(self, message: types.Type, missing: frozenset[str]) -> None:
        self.message = message
        self.missing = missing
        super().__init__(name=f"outcore.Vertex({message}, without {sorted(missing)})")


class _Missing(TypingError):
    """A function of a program that another one needs."""


def _needs(vertex: VertexType, method: str, function: str) -> None:
    if function in vertex.missing:
        raise _Missing(f"expected {function}, which vertex.{method} needs, found none; give vertex_program {function}=")


register_model(VertexType)(models.OpaqueModel)

_VERTICES = types.CPointer(types.uint32)


def _make_engine(name: str, result: types.Type, *arguments: types.Type) -> Any:
    return types.ExternalFunction(f"outcore_{name}", result(*arguments))


_engine = lru_cache(_make_engine)


def _make_reinterpret(kind: types.Type) -> Any:
    """What takes 64 bits as another type of 64 bits."""

    @intrinsic
    def reinterpret(_context: Any, value: types.Type) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(kind))

        return kind(value), generate

    return reinterpret


_reinterpret = lru_cache(_make_reinterpret)


def _make_readonly(_context: Any, array: types.Array) -> Any:
    """The same array, which no function may write to: a page that stays in memory lies behind it."""

    def generate(_context: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
        return arguments[0]

    return array.copy(readonly=True)(array), generate


_readonly: Any = intrinsic(_make_readonly)


def _is_vertices(given: types.Type) -> bool:
    """Whether it is an array of vertices; `False` for a single one."""
    if isinstance(given, types.Integer):
        return False
    if isinstance(given, types.Array) and given.ndim == 1 and given.layout == "C" and given.dtype == types.uint32:
        return True
    raise TypingError(f"expected a vertex or a contiguous array of uint32, found {given}")


# A single vertex goes to the engine as 64 bits and whether they have a sign, so that it can name a wrong one.
_VERTEX = types.int64, types.uint8


@overload_attribute(VertexType, "iteration")
def _iteration(vertex):
    call = _engine("iteration", types.uint32, vertex)
    return lambda vertex: call(vertex)


@overload_attribute(VertexType, "list_of")
def _list_of(vertex):
    call = _engine("list_of", types.uint32, vertex)
    return lambda vertex: call(vertex)


@overload_attribute(VertexType, "list_is_in")
def _list_is_in(vertex):
    call = _engine("is_in", types.uint8, vertex)
    return lambda vertex: call(vertex) != 0


@overload_method(VertexType, "send")
def _send(vertex, target, message):
    _needs(vertex, "send", "on_message")
    kind, bits = vertex.message, _reinterpret(types.uint64)
    if _is_vertices(target):
        call = _engine("send", types.void, _VERTICES, types.intp, types.uint64, vertex)
        return lambda vertex, target, message: call(target.ctypes, target.size, bits(kind(message)), vertex)
    call, signed = _engine("send_one", types.void, *_VERTEX, types.uint64, vertex), int(target.signed)
    return lambda vertex, target, message: call(target, signed, bits(kind(message)), vertex)


@overload_method(VertexType, "activate")
def _activate(vertex, vertices):
    if _is_vertices(vertices):
        call = _engine("activate", types.void, _VERTICES, types.intp, vertex)
        return lambda vertex, vertices: call(vertices.ctypes, vertices.size, vertex)
    call, signed = _engine("activate_one", types.void, *_VERTEX, vertex), int(vertices.signed)
    return lambda vertex, vertices: call(vertices, signed, vertex)


@overload_method(VertexType, "request_end")
def _request_end(vertex):
    _needs(vertex, "request_end", "on_iteration_end")
    call = _engine("request_end", types.void, vertex)
    return lambda vertex: call(vertex)


def _request(is_in: int) -> Callable[..., Any]:
    def request(vertex, vertices):
        _needs(vertex, "request_in" if is_in else "request_out", "on_list")
        if _is_vertices(vertices):
            call = _engine("request", types.void, _VERTICES, types.intp, types.uint8, vertex)
            return lambda vertex, vertices: call(vertices.ctypes, vertices.size, is_in, vertex)
        call, signed = _engine("request_one", types.void, *_VERTEX, types.uint8, vertex), int(vertices.signed)
        return lambda vertex, vertices: call(vertices, signed, is_in, vertex)

    return request


overload_method(VertexType, "request_out")(_request(0))
overload_method(VertexType, "request_in")(_request(1))

_HANDLERS = ("on_list", "on_message", "on_iteration_end")
_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda before, after: before + after,
    "min": lambda before, after: min(before, after),
    "max": lambda before, after: max(before, after),
}


def compiled(state: np.ndarray[Any, Any], message: np.dtype[Any], *, weights: bool, **functions: Any) -> dict[str, Any]:
    """The functions of a program, each as a C function or `None`."""
    combine = functions["combine"]
    if isinstance(combine, str):
        if combine not in _COMBINE:
            raise UsageError(f"expected combine to be one of {', '.join(_COMBINE)}, or a function, found {combine!r}")
        functions["combine"] = _COMBINE[combine]
    missing = frozenset(name for name, given in functions.items() if given is None and name in _HANDLERS)
    types_of = (numba.from_dtype(state.dtype), VertexType(numba.from_dtype(message), missing), weights)
    try:
        return _all_compiled(functions, types_of)
    except TypingError as error:
        # Numba's own text says where in its passes; what is missing is said in a line of it.
        said = re.search(r"expected \w+, which vertex\.\w+ needs, found none; give vertex_program \w+=", str(error))
        if said is None:
            raise
        raise UsageError(said[0]) from None


def _all_compiled(functions: dict[str, Any], types_of: Any) -> dict[str, Any]:
    return {name: None if given is None else _compiled(name, given, *types_of) for name, given in functions.items()}


def _compile(name: str, given: Callable[..., Any], entry: types.Type, vertex: VertexType, weights: bool) -> Any:
    """A function of a program as a C function, in which an index out of bounds is an error."""
    options = dict(given.targetoptions) if is_jitted(given) else {"nopython": True}
    function = numba.jit(**options | {"boundscheck": True})(given.py_func if is_jitted(given) else given)
    kind, states = vertex.message, types.CPointer(entry)
    own = (types.uint32, states, types.uint64)
    if name in ("run", "on_iteration_end"):

        def turn(v, state, count, vertex):
            function(v, carray(state, count), vertex)

        return numba.cfunc(types.void(*own, vertex))(turn)
    if name == "on_list":

        def on_list(v, state, count, neighbours, _weights, length, vertex):
            function(v, carray(state, count), _readonly(carray(neighbours, length)), vertex)

        def on_weighted_list(v, state, count, neighbours, weights, length, vertex):
            lists = _readonly(carray(neighbours, length)), _readonly(carray(weights, length))
            function(v, carray(state, count), *lists, vertex)

        lists = (_VERTICES, types.CPointer(types.float64), types.intp)
        return numba.cfunc(types.void(*own, *lists, vertex))(on_weighted_list if weights else on_list)
    message, bits = _reinterpret(kind), _reinterpret(types.uint64)
    if name == "on_message":

        def on_message(v, state, count, sent, vertex):
            function(v, carray(state, count), message(sent), vertex)

        return numba.cfunc(types.void(*own, types.uint64, vertex))(on_message)
    if name == "combine":

        def combine(before, after):
            return bits(kind(function(message(before), message(after))))

        return numba.cfunc(types.uint64(types.uint64, types.uint64))(combine)

    def priority(v, state, count):
        return types.uint64(function(v, carray(state, count)))

    return numba.cfunc(types.uint64(*own))(priority)


_compiled = lru_cache(maxsize=256)(_compile)
