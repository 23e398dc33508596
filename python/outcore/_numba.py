"""Compilation of users' functions by Numba: those of vertex programs as C functions, with `vertex` a handle that the
engine's functions take, and those of elements of arrays within C functions that loop over vectors."""

# Numba has no types of its own: what it is given must not have any.
# mypy: allow-untyped-calls, allow-untyped-defs

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, reduce
from inspect import getclosurevars
from itertools import repeat
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import llvmlite.binding  # type: ignore[import-untyped]
import numba
import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.core.ccallback import CFunc
from numba.core.errors import TypingError
from numba.extending import intrinsic, is_jitted, models, overload_attribute, overload_method, register_model
from numba.np.numpy_support import as_dtype
from numba.np.ufunc.dufunc import DUFunc

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
    """Makes an intrinsic that takes 64 bits as another type of 64 bits."""

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


def _jitted(given: Callable[..., Any], **defaults: Any) -> Any:
    """A function of a user's as compiled code calls it: an index out of bounds is an error in it."""
    options = dict(given.targetoptions) if is_jitted(given) else {"nopython": True}
    plain = given.py_func if is_jitted(given) else given
    return numba.jit(**defaults | options | {"boundscheck": True})(plain)


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
    """A function of a program as a C function."""
    function = _jitted(given)
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


class Loop(NamedTuple):
    """A function of elements within a C function that calls it for vectors (`Loop` and `Adder` in
    `python/src/element.rs`)."""

    name: str
    """The name of the function in errors."""
    compiled: Any
    """The C function."""
    dtype: np.dtype[Any]
    """The type of results."""
    again: Callable[[Sequence[bytes]], None]
    """Calls the function as Python for the elements of vectors, to raise its exception once more."""

    @property
    def function(self) -> tuple[str, int, Any, Callable[[Sequence[bytes]], None]]:
        """The function as the engine takes it."""
        return self.name, self.compiled.address, self.compiled, self.again


def element_loop(given: Callable[..., Any], *kinds: np.dtype[Any]) -> Loop:
    """A function of as many elements as there are types, for as many vectors."""
    return _element_loop(given, _known(given), kinds)  # type: ignore[no-any-return]


def fold_loop(given: Callable[..., Any], kind: np.dtype[Any], initial: Any) -> Loop:
    """A function of a result and an element, for vectors of one type that are folded into one."""
    first = np.asarray(initial)
    # By its bytes, for 0 and -0.0 are equal.
    return _fold_loop(given, _known(given), kind, first.tobytes(), first.dtype)  # type: ignore[no-any-return]


def adder(given: Callable[..., Any], kind: np.dtype[Any], initial: Any, *, by_labels: bool) -> Loop:
    """A function of a result and an element, for vectors whose elements are added to results one after the other."""
    return _adder(given, _known(given), kind, np.asarray(initial).dtype, by_labels)  # type: ignore[no-any-return]


def merge_loop(given: Callable[..., Any], dtype: np.dtype[Any]) -> Loop:
    """A function of two results of a type, which are merged into one."""
    loop = element_loop(given, dtype, dtype)
    if loop.dtype != dtype:
        expected = f"expected {loop.name}, which merges results, to return {dtype} as these are"
        raise UsageError(f"{expected}, found {loop.dtype}")
    return loop


def function_name(given: Any) -> str:
    """The name of a function in errors."""
    return str(getattr(given, "__name__", None) or repr(given))


def _mark(value: Any) -> Any:
    """A key that distinguishes a constant of compiled code from another one."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (bool, int, float, complex, str, tuple, np.generic)):
        return type(value).__name__, repr(value)
    return id(value)


def _known(given: Any) -> tuple[Any, ...]:
    """The values that a function has from outside: compiled code holds them as they were."""
    function = getattr(given, "py_func", given)
    if not isinstance(function, FunctionType):
        return ()
    try:
        outside = getclosurevars(function)
    except ValueError:  # A name that has no value yet.
        return ()
    return tuple((name, _mark(value)) for name, value in sorted({**outside.nonlocals, **outside.globals}.items()))


def _remembered(make: Callable[..., Loop]) -> Any:
    """Makes a loop once for a function, what that knows from outside, and the other arguments."""

    @lru_cache(maxsize=256)
    def made(given: Any, _outside: tuple[Any, ...], *others: Any) -> Loop:
        return make(given, *others)

    return made


_VECTORS = types.CPointer(types.voidptr)
_SIGNATURE = types.int32(types.intp, types.voidptr, _VECTORS, types.intp)
_ADDER = types.int64(types.intp, types.voidptr, _VECTORS, types.intp, types.intp, types.voidptr)


def _make_element_loop(given: Callable[..., Any], kinds: tuple[np.dtype[Any], ...]) -> Loop:
    function, dtype = _element_function(given, kinds)
    places = range(len(kinds))
    lines = [
        "def loop(count, results, operands, _vectors):",
        "    out = carray(results, count, dtype)",
        *(f"    x{i} = carray(operands[{i}], count, kind{i})" for i in places),
        "    try:",
        "        for i in range(count):",
        f"            out[i] = function({', '.join(f'x{i}[i]' for i in places)})",
        "    except Exception:",
        "        return 1",
        "    return 0",
    ]
    names = {"carray": carray, "dtype": dtype, "function": function} | {f"kind{i}": kinds[i] for i in places}
    exec("\n".join(lines), names)  # The text is made of nothing but how many operands there are.
    again = _caller(given, kinds, lambda elements: function(*elements))
    return Loop(function_name(given), numba.cfunc(_SIGNATURE)(names["loop"]), dtype, again)


_element_loop = _remembered(_make_element_loop)


def _fold_function(
    given: Callable[..., Any], kind: np.dtype[Any], dtype: np.dtype[Any]
) -> tuple[Any, np.dtype[Any]]:
    """A function of a result and an element, compiled, and the type of results: one that the function makes of itself;
    of 0 and real numbers float64, for one."""
    function, found = _element_function(given, (dtype, kind))
    while found != dtype:
        if not np.can_cast(dtype, found):
            name = function_name(given)
            raise UsageError(f"expected {name} to return {dtype}, of which its first element is, found {found}")
        dtype = found
        function, found = _element_function(given, (dtype, kind))
    return function, dtype


def _make_fold_loop(given: Callable[..., Any], kind: np.dtype[Any], initial: bytes, of: np.dtype[Any]) -> Loop:
    function, dtype = _fold_function(given, kind, of)
    first = dtype.type(np.frombuffer(initial, of)[0])

    def loop(count, results, operands, vectors):
        out = carray(results, count, dtype)
        try:
            for i in range(count):
                out[i] = first
            for k in range(vectors):
                x = carray(operands[k], count, kind)
                for i in range(count):
                    out[i] = function(out[i], x[i])
        except Exception:
            return 1
        return 0

    again = _caller(given, repeat(kind), lambda elements: reduce(function, elements, first))
    return Loop(function_name(given), numba.cfunc(_SIGNATURE)(loop), dtype, again)


_fold_loop = _remembered(_make_fold_loop)


def _make_adder(given: Callable[..., Any], kind: np.dtype[Any], initial: np.dtype[Any], by_labels: bool) -> Loop:
    function, dtype = _fold_function(given, kind, initial)
    label = np.dtype(np.int64)

    def add(groups, results, operands, vectors, rows, labels):
        own, added = carray(results, groups, dtype), 0
        result = own[0]
        try:
            for i in range(rows):
                for k in range(vectors):
                    result = function(result, carray(operands[k], rows, kind)[i])
                    added += 1
        except Exception:
            own[0] = result
            return added + 1
        own[0] = result
        return 0

    def add_by_labels(groups, results, operands, vectors, rows, labels):
        own, places, added = carray(results, groups, dtype), carray(labels, rows, label), 0
        try:
            for i in range(rows):
                for k in range(vectors):
                    own[places[i]] = function(own[places[i]], carray(operands[k], rows, kind)[i])
                    added += 1
        except Exception:
            return added + 1
        return 0

    again = _caller(given, (dtype, kind), lambda elements: function(*elements))
    return Loop(function_name(given), numba.cfunc(_ADDER)(add_by_labels if by_labels else add), dtype, again)


_adder = _remembered(_make_adder)


def _element_function(given: Callable[..., Any], kinds: tuple[np.dtype[Any], ...]) -> tuple[Any, np.dtype[Any]]:
    """A function of elements, compiled, and the type of its results. A number divided by 0 is what NumPy makes of
    it."""
    name, taken = function_name(given), ", ".join(kind.name for kind in kinds)
    expected = f"expected {name} as a function of {len(kinds)} elements ({taken}) that Numba compiles"
    try:
        plain = given.__wrapped__ if isinstance(given, (CFunc, DUFunc)) else given  # type: ignore[union-attr]
        plain = _called_within(plain, len(kinds)) if isinstance(plain, BuiltinFunctionType) else plain
        function = _jitted(plain, error_model="numpy")
        # As a call in compiled code does: with all forms of parameters that there are.
        *_, taken_types, _ = function.get_call_template(tuple(numba.from_dtype(kind) for kind in kinds), {})
    except Exception as error:  # Numba compiles what a user wrote: whatever it raises is about that.
        said = [line for line in str(error).splitlines() if line and not line.startswith("Failed in nopython")]
        raise UsageError(f"{expected}, found {type(error).__name__}: {said[0] if said else ''}") from error
    result = types.unliteral(function.overloads[taken_types].signature.return_type)
    if isinstance(result, types.NoneType):
        # It returns nothing, or raises whatever it is given.
        try:
            given(*(kind.type(1) for kind in kinds))
        except Exception as error:
            raise UsageError(f"{expected}, found that it raises {type(error).__name__}: {error}") from error
    if not isinstance(result, (types.Boolean, types.Integer, types.Float)):
        raise UsageError(f"{expected} and that returns bool, an integer, float32 or float64, found {result}")
    return function, as_dtype(result)


def _called_within(built_in: Any, count: int) -> Callable[..., Any]:
    """A function that calls one of Python's own, such as `max`, which Numba compiles in calls only."""
    if count == 1:
        return lambda x: built_in(x)
    return lambda x, y: built_in(x, y)


def _caller(
    given: Callable[..., Any], kinds: Iterable[np.dtype[Any]], call: Callable[[Iterable[Any]], Any]
) -> Callable[[Sequence[bytes]], None]:
    def again(vectors: Sequence[bytes]) -> None:
        for elements in zip(*map(np.frombuffer, vectors, kinds), strict=True):
            try:
                call(elements)
            except Exception as error:
                found = ", ".join(str(element) for element in elements)
                text = f"expected {function_name(given)} to return a result, found that it raised"
                raise UsageError(f"{text} {type(error).__name__} for ({found}): {error}") from error

    return again
