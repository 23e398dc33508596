"""Vertex programs: functions for vertices, compiled by Numba and run by the engine without the interpreter."""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from outcore import _outcore
from outcore._errors import UsageError, without_numba
from outcore._options import checked
from outcore._outcore import Graph, ProgramResult


@checked
def vertex_program(
    graph: Graph,
    state: np.ndarray[Any, Any],
    run: Callable[..., None],
    *,
    on_list: Callable[..., None] | None = None,
    on_message: Callable[..., None] | None = None,
    on_iteration_end: Callable[..., None] | None = None,
    message: Any = np.float64,
    combine: Literal["sum", "min", "max"] | Callable[[Any, Any], Any] | None = None,
    priority: Callable[..., int] | None = None,
    end_iteration: Callable[[int], bool] | None = None,
    start: Iterable[int | str] | None = None,
    weights: bool = False,
    max_iter: int | None = None,
    asynchronous: bool = False,
    message_memory: int | str | None = None,
) -> ProgramResult:
    """Runs an algorithm that says what each vertex does.

    In an iteration every active vertex gets its turn, the lists that it asks for, and the messages that were sent to
    it; the vertices that are activated during it are active in the next one. The functions are compiled by Numba and
    run on all workers, without the interpreter's lock. A function may change the state of its own vertex,
    `state[v]`, and nothing else; vertices are numbered as the graph numbers them, from 0 (`Graph.order`).

    Args:
        graph: The graph.
        state: What is known of every vertex: an array with an entry per vertex, of numbers or of a structured type
            whose fields are numbers: bool, whole or real, of at most 64 bits. It is changed.
        run: `run(v, state, vertex)`: the turn of an active vertex.
        on_list: `on_list(v, state, neighbours, vertex)`: a list that the vertex asked for has come. `neighbours` is an
            array of vertices, in rising order, which must not be changed. With `weights`, `on_list(v, state,
            neighbours, weights, vertex)`.
        on_message: `on_message(v, state, message, vertex)`: a message has come, in the order of the turns of the
            senders.
        on_iteration_end: `on_iteration_end(v, state, vertex)`: the iteration ends; called for vertices that asked for
            it.
        message: The type of messages: `np.float64`, `np.int64` or `np.uint64`.
        combine: How messages to the same vertex are combined: "sum", "min", "max", or a function of two messages. A
            vertex then gets one message at the end of the iteration.
        priority: `priority(v, state)`, a whole number from 0 on: vertices with a higher one get their turns first.
        end_iteration: Called after every iteration with its number, as Python; if it returns something false, the
            program ends.
        start: The ids of the vertices that are active first, in any order; all if not given.
        weights: Whether lists come with the weights of their edges, as real numbers.
        max_iter: The most iterations.
        asynchronous: Whether messages are delivered while an iteration goes on, so that vertices whose turn comes later
            know of them.
        message_memory: The most memory for messages; by default a quarter of what is left, at most 1 GiB. What is more
            goes to a temporary file.

    What the last argument of a function, `vertex`, can do:
        `vertex.request_out(u)`, `vertex.request_in(u)`: ask for the list of vertex `u`, mostly `v` itself, or of all
        vertices in an array (in `run` and `on_list`). `vertex.send(target, message)`: send a message to a vertex, or to
        all in an array. `vertex.activate(u)`: make a vertex, or all in an array, active in the next iteration.
        `vertex.request_end()`: ask for `on_iteration_end`. `vertex.iteration`, `vertex.list_of`, `vertex.list_is_in`:
        the number of the iteration, whose list has come, and whether it is one of in-neighbours.

    Returns:
        A table with a row per vertex: `vertex` and the fields of `state` (`state`, if it has none): real numbers,
        whole ones with the sign that their type has, and bool as 0 and 1. `iterations`, `finished` (no vertex active
        and no message under way), `messages` and `spilled_bytes`.

    Cost: what the program asks for; 3 bits per vertex, the state, and with `combine` 8 bytes and a bit per vertex. The
    result takes 8 bytes per vertex and field.
    Results do not depend on threads, back end or memory, unless the functions do.

    Raises:
        UsageError: Numba is not installed, a state that does not fit, an id that is not there, or a function that
            another one needs: `request_out` and `request_in` need `on_list`, `send` needs `on_message`, `request_end`
            needs `on_iteration_end`.
        TypeError: A field of `state` that is no number, or an option of a wrong type.
        IndexError: A vertex that does not exist was named, or an index of an array is out of bounds.
        MemoryLimitError: Too little memory. It is raised before the program starts.
        CorruptImageError: A damaged page.

    The first exception in a function ends the program and is raised; `state` is then as the functions left it.

    Zheng et al.: FlashGraph: processing billion-node graphs on an array of commodity SSDs. FAST 2015.

    >>> import numpy as np
    >>> levels = np.full(len(g), np.iinfo(np.uint32).max, np.uint32)
    >>> def run(v, levels, vertex):
    ...     if vertex.iteration < levels[v]:
    ...         levels[v] = vertex.iteration
    ...         vertex.request_out(v)
    >>> def on_list(v, levels, neighbours, vertex):
    ...     vertex.activate(neighbours)
    >>> found = oc.vertex_program(g, levels, run, on_list=on_list, start=["home"])
    >>> found.row("news")
    {'vertex': 'news', 'state': 1}
    """
    try:
        from outcore._numba import compiled
    except ImportError as error:
        raise without_numba("vertex_program") from error
    if not (isinstance(state, np.ndarray) and state.shape == (len(graph),)):
        raise UsageError(f"expected a state with an entry for each of {len(graph)} vertices, found {_shape(state)}")
    if not (state.flags.c_contiguous and state.flags.writeable):
        found = "one that cannot be written" if state.flags.c_contiguous else f"one with strides {state.strides}"
        raise UsageError(
            f"expected a state that lies in one piece and can be written, found {found}; give a copy, state.copy()"
        )
    columns = _columns(state)
    try:
        kind = np.dtype(message)
    except TypeError:
        kind = message
    if kind not in (np.float64, np.int64, np.uint64):
        raise UsageError(f"expected messages of type float64, int64 or uint64, found {kind}")
    functions = compiled(
        state,
        kind,
        weights=weights,
        run=run,
        on_list=on_list,
        on_message=on_message,
        on_iteration_end=on_iteration_end,
        combine=combine,
        priority=priority,
    )
    given = {name: function and function.address for name, function in functions.items()}
    given |= {"end_iteration": end_iteration, "start": start, "weights": weights, "columns": len(columns)}
    given |= {"max_iter": max_iter, "asynchronous": asynchronous, "message_memory": message_memory}
    given |= {"state": state.ctypes.data, "state_bytes": state.nbytes}
    with _exceptions_are_raised():
        return _outcore.vertex_program(graph, given, lambda: _values(state, columns))


_hook_lock = threading.Lock()
_programs = 0
_previous_hook = sys.unraisablehook


def _hook(unraisable: Any) -> None:
    if not _outcore.program_raised(unraisable.exc_value):
        _previous_hook(unraisable)


@contextmanager
def _exceptions_are_raised() -> Iterator[None]:
    """While programs run, exceptions in their functions go to the engine: Numba hands them to the hook of those that
    nobody can catch."""
    global _programs, _previous_hook
    with _hook_lock:
        if _programs == 0:
            _previous_hook, sys.unraisablehook = sys.unraisablehook, _hook
        _programs += 1
    try:
        yield
    finally:
        with _hook_lock:
            _programs -= 1
            if _programs == 0 and sys.unraisablehook is _hook:
                sys.unraisablehook = _previous_hook


def _shape(state: object) -> str:
    return f"an array of shape {state.shape}" if isinstance(state, np.ndarray) else repr(state)


# The type that a field of a kind has in results.
_COLUMN_TYPES = {"f": np.float64, "u": np.uint64, "i": np.int64, "b": np.int64}


def _columns(state: np.ndarray[Any, Any]) -> dict[str, Any]:
    """The columns of the result: the fields of a state and their types there."""
    kinds = {name: state.dtype[name] for name in state.dtype.names} if state.dtype.names else {"state": state.dtype}
    for name, kind in kinds.items():
        if name == "vertex":
            raise UsageError("expected no field 'vertex' in the state, for results call their ids so; rename the field")
        if kind.kind not in _COLUMN_TYPES or kind.itemsize > 8 or not kind.isnative:
            raise TypeError(
                "expected a state of numbers, bool, whole or real ones of at most 64 bits in the machine's byte order, "
                f"found {name!r} of type {kind}; make it such a field, or leave it out"
            )
    return {name: _COLUMN_TYPES[kind.kind] for name, kind in kinds.items()}


def _values(state: np.ndarray[Any, Any], columns: dict[str, Any]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """The values of the columns, one after the other."""
    for name, kind in columns.items():
        yield name, np.ascontiguousarray(state[name] if state.dtype.names else state, kind)
