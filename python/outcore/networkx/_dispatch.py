"""The dispatch of NetworkX to the backend: conversions are kept, and NetworkX goes on where it is quicker."""

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import islice
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
from networkx.utils.backends import _registered_algorithms  # type: ignore[import-untyped]

from outcore._errors import MemoryLimitError
from outcore.networkx import _registry
from outcore.networkx._graph import Calls, Conversion, cached_conversion
from outcore.networkx._registry import FUNCTIONS

# Whether NetworkX chose the backend by its priorities, so that another one can answer. It asks `can_run` before every
# call, and then `should_run` only where the user did not name a backend.
_BY_PRIORITY: ContextVar[bool] = ContextVar("outcore_by_priority", default=False)

# The calls that the last conversion of each graph served, even if the graph has been edited since.
_LAST: weakref.WeakKeyDictionary[Any, Calls] = weakref.WeakKeyDictionary()

_LOCAL = "NetworkX looks at a part of the graph only"
_SMALL = "NetworkX is quick with a graph of this size"
_AS_LONG = "converting the graph takes as long as NetworkX needs for this"
_EDITED = "the graph was edited after its last conversion, which served one call"

# Errors of which NetworkX has its own text.
_ERRORS = (nx.NetworkXException, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the backend is to be asked: always. NetworkX only logs a reason that is returned here, so that a call
    with `backend=` would end without one: by priority `should_run` has the reason, and otherwise the call raises it."""
    _BY_PRIORITY.set(False)
    graph = args[0] if args else kwargs.get("G")
    known = getattr(graph, "__networkx_cache__", None)
    if known and "backends" in known:
        # The backend keeps its conversions itself and looks whether they are right: NetworkX would warn that it cannot.
        known["backends"].pop("outcore", None)
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a function takes these arguments and is worth a conversion, or why not. The kind of the call comes first;
    the graph is not counted beyond what makes it large."""
    if _registry.is_local(name, args, kwargs):
        return _LOCAL
    reason = _registry.refusal(name, args, kwargs)
    if reason is not None:
        return reason
    _BY_PRIORITY.set(True)
    graph = args[0] if args else kwargs["G"]
    if _registry.is_small(name, graph):
        return _SMALL
    known = cached_conversion(graph)
    if known is not None and known.is_read:
        return True
    if _registry.is_quick(name):
        return _AS_LONG
    least = nx.config.backends.outcore.min_edges
    if not _registry.has_edges(graph, least):
        return f"the graph has fewer than {least} edges (min_edges), with which NetworkX is quick"
    return _EDITED if not _registry.is_long(name) and _is_edited(graph) else True


# The key of a mark in place of a conversion that was not made, since the graph had been edited.
_MARK = "outcore edited"


def _is_edited(graph: Any) -> bool:
    """Whether a graph seems to be edited between calls. It is not, if this was looked at before and no edit cleared the
    mark. Where conversions are not cached, edits leave no trace."""
    if not nx.config.cache_converted_graphs:
        return False
    try:
        last = _LAST.get(graph)
    except TypeError:
        # Graphs of a class of one's own that cannot be hashed.
        return False
    known = getattr(graph, "__networkx_cache__", None)
    if last is None or known is None or last.number > 1 or _MARK in known:
        return False
    known[_MARK] = True
    return True


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of the backend, or that of NetworkX for what it answers sooner, and where it has an error."""
    function = FUNCTIONS[name]
    # Functions of NetworkX that run meanwhile set it anew.
    is_by_priority = _BY_PRIORITY.get()
    graph = args[0] if args else kwargs["G"]
    if not isinstance(graph, Conversion):
        return _of_image(name, args, kwargs)
    original = graph.original
    _refuse(name, (original, *args[1:]), kwargs)

    def by_networkx() -> Any:
        own = {"G": original} if "G" in kwargs else {}
        return _registered_algorithms[name].orig_func(*((original, *args[1:]) if args else ()), **kwargs | own)

    if _registry.is_local(name, (original, *args[1:]), kwargs) or _registry.is_small(name, original):
        return by_networkx()
    graph.refresh()
    if _registry.is_long(name) and _within_memory(_is_in_pieces, (graph,), {}, is_by_priority):
        return by_networkx()
    graph.calls.number += 1
    with suppress(TypeError):
        _LAST[original] = graph.calls
    # An iterator can be passed once only.
    is_repeatable = not any(hasattr(given, "__next__") for given in (*args, *kwargs.values()))
    try:
        found = _within_memory(function, args, kwargs, is_by_priority)
    except NotImplementedError:
        raise
    except _ERRORS as error:
        if not is_repeatable or isinstance(error, nx.PowerIterationFailedConvergence):
            raise
    else:
        if not hasattr(found, "__next__"):
            return found
        return _lasting(found, original, by_networkx, is_by_priority and is_repeatable)
    # Behind the handler, so that the error of NetworkX is the only one in a traceback.
    return by_networkx()


def _refuse(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    reason = _registry.refusal(name, args, kwargs)
    if reason is not None:
        raise NotImplementedError(reason)


def _of_image(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a function for an image."""
    with _refusals(name):
        _refuse(name, args, kwargs)
        found = FUNCTIONS[name](*args, **kwargs)
    return _refusing(name, found) if hasattr(found, "__next__") else found


@contextmanager
def _refusals(name: str) -> Iterator[None]:
    """Refusals as another error than `NotImplementedError`, at which NetworkX would look for another backend, of which
    none takes an image, and then end without the reason."""
    try:
        yield
    except NotImplementedError as error:
        raise nx.NetworkXNotImplemented(f"{name} of an outcore.Graph: {error}") from error


def _refusing(name: str, found: Iterator[Any]) -> Iterator[Any]:
    with _refusals(name):
        yield from found


def _lasting(
    found: Iterator[Any], original: Any, by_networkx: Callable[[], Any], is_by_priority: bool
) -> Iterator[Any]:
    """An iterator that keeps the graph of NetworkX, which it may read only when it is used. By priority NetworkX goes
    on where it fails."""
    count = 0
    while True:
        try:
            one = next(found)
        except StopIteration:
            return
        except (NotImplementedError, MemoryLimitError):
            if not is_by_priority:
                raise
            break
        except _ERRORS:
            if count > 0:
                raise
            break
        count += 1
        yield one
    yield from islice(by_networkx(), count, None)


def _is_in_pieces(graph: Conversion) -> bool:
    return graph.is_in_pieces


def _within_memory(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], is_by_priority: bool
) -> Any:
    """The result of a function. Where memory does not suffice, NetworkX goes on if it can."""
    try:
        return function(*args, **kwargs)
    except MemoryLimitError as error:
        if is_by_priority:
            raise NotImplementedError(str(error)) from error
        raise
