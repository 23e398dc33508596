"""The dispatch of NetworkX to the backend: conversions are kept, and NetworkX goes on where it is quicker."""

import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
from networkx.utils.backends import _registered_algorithms  # type: ignore[import-untyped]

from outcore._errors import MemoryLimitError
from outcore.networkx import _graph, _registry
from outcore.networkx._graph import Conversion, cached_conversion
from outcore.networkx._registry import FUNCTIONS

# Whether NetworkX chose the backend by its priorities, so that another one can answer. It asks `can_run` before every
# call, and then `should_run` only where the user did not name a backend.
_BY_PRIORITY: ContextVar[bool] = ContextVar("outcore_by_priority", default=False)

# The last conversion of each graph, even if it has been edited since.
_LAST: weakref.WeakKeyDictionary[Any, Conversion] = weakref.WeakKeyDictionary()

_LOCAL = "NetworkX looks at a part of the graph only"
_SMALL = "NetworkX is quick with a graph of this size"
_AS_LONG = "converting the graph takes as long as NetworkX needs for this"
_EDITED = "the graph was edited after its last conversion, which served one call"

# Errors of which NetworkX has its own text.
_ERRORS = (nx.NetworkXException, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a function takes these arguments, or why not."""
    _BY_PRIORITY.set(False)
    graph = args[0] if args else kwargs.get("G")
    known = getattr(graph, "__networkx_cache__", None)
    if known and "backends" in known:
        # The backend keeps its conversions itself and looks whether they are right: NetworkX would warn that it cannot.
        known["backends"].pop("outcore", None)
    return _registry.can_run(name, args, kwargs)


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a function is worth a conversion, or why not. The kind of the call comes first; the graph is not counted
    beyond what makes it large."""
    if _registry.is_local(name, args, kwargs):
        return _LOCAL
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
    mark."""
    try:
        last = _LAST.get(graph)
    except TypeError:
        # Graphs of a class of one's own that cannot be hashed.
        return False
    known = getattr(graph, "__networkx_cache__", None)
    if last is None or known is None or last.calls > 1 or _MARK in known:
        return False
    known[_MARK] = True
    return True


def convert_from_nx(graph: Any, **attributes: Any) -> Any:
    """A graph of NetworkX as one of the backend."""
    return _graph.convert_from_nx(graph, **attributes)


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of the backend, or that of NetworkX for what it answers sooner, and where it has an error."""
    function = FUNCTIONS[name]
    graph = args[0] if args else kwargs["G"]
    if not isinstance(graph, Conversion):
        return _within_memory(function, args, kwargs)
    original = graph.original

    def by_networkx() -> Any:
        own = {"G": original} if "G" in kwargs else {}
        return _registered_algorithms[name].orig_func(*((original, *args[1:]) if args else ()), **kwargs | own)

    if _registry.is_local(name, (original, *args[1:]), kwargs) or _registry.is_small(name, original):
        return by_networkx()
    graph.refresh()
    graph.calls += 1
    with suppress(TypeError):
        _LAST[original] = graph
    # An iterator can be passed once only.
    is_repeatable = not any(hasattr(given, "__next__") for given in (*args, *kwargs.values()))
    try:
        found = _within_memory(function, args, kwargs)
    except NotImplementedError:
        raise
    except _ERRORS as error:
        if not is_repeatable or isinstance(error, nx.PowerIterationFailedConvergence):
            raise
        return by_networkx()
    return _lasting(found, original, by_networkx) if hasattr(found, "__next__") else found


def _lasting(found: Iterator[Any], original: Any, by_networkx: Callable[[], Any]) -> Iterator[Any]:
    """An iterator that keeps the graph of NetworkX, which it may read only when it is used."""
    is_first = True
    while True:
        try:
            one = next(found)
        except StopIteration:
            return
        except NotImplementedError:
            raise
        except _ERRORS:
            if not is_first:
                raise
            yield from by_networkx()
            return
        is_first = False
        yield one


def _within_memory(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a function. Where memory does not suffice, NetworkX goes on if it can."""
    try:
        return function(*args, **kwargs)
    except MemoryLimitError as error:
        if _BY_PRIORITY.get():
            raise NotImplementedError(str(error)) from error
        raise
