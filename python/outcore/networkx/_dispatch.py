"""The dispatch of NetworkX to the backend: conversions are kept, and NetworkX goes on where the backend gives up."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from outcore._errors import MemoryLimitError
from outcore.networkx import _graph

# Whether NetworkX chose the backend by its priorities, so that another one can answer. It asks `can_run` before every
# call, and then `should_run` only where the user did not name a backend.
_BY_PRIORITY: ContextVar[bool] = ContextVar("outcore_by_priority", default=False)


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a function takes these arguments, or why not."""
    _BY_PRIORITY.set(False)
    return _graph.can_run(name, args, kwargs)


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a function is worth a conversion, or why not."""
    _BY_PRIORITY.set(True)
    return _graph.should_run(name, args, kwargs)


def convert_from_nx(graph: Any, **attributes: Any) -> Any:
    """A graph of NetworkX as one of the backend."""
    if getattr(graph, "_graph", None) is not None:
        # A view changes with the graph that it shows, and only that graph's cache is cleared then.
        graph.__networkx_cache__ = None
    try:
        return _graph.convert_from_nx(graph, **attributes)
    except MemoryLimitError as error:
        # NetworkX would remember that the graph cannot be converted, but with more memory it can.
        (graph.__networkx_cache__ or {}).get("backends", {}).pop("outcore", None)
        if _BY_PRIORITY.get():
            raise NotImplementedError(str(error)) from error
        raise


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function of the backend. Where memory does not suffice, NetworkX goes on if it can."""
    try:
        return function(*args, **kwargs)
    except MemoryLimitError as error:
        if _BY_PRIORITY.get():
            raise NotImplementedError(str(error)) from error
        raise
