"""The functions of the backend, and which calls of them NetworkX answers better itself.

A *local* question looks at a part of the graph: it has a target, a cutoff, or some nodes. NetworkX answers it before a
graph could even be counted. So it does where a search's result, a dict of nodes, takes as long to make as NetworkX
takes for all of it.
"""

import inspect
import sys
from collections.abc import Callable, Sized
from itertools import accumulate, islice
from typing import Any

import networkx as nx  # type: ignore[import-untyped]

from _outcore_networkx import OLDEST, networkx_version
from outcore.networkx._costs import LEAST

Limit = Callable[["Call"], str | None]
# The options that make a question a local one, or what looks at the call; `True` where it always is.
Local = tuple[str, ...] | Callable[["Call"], bool] | bool

# The functions of the backend, by the names of NetworkX.
FUNCTIONS: dict[str, Callable[..., Any]] = {}
# Of every function the places of its options in a call, with their defaults.
_OPTIONS: dict[str, dict[str, tuple[int, Any]]] = {}
# Why a function cannot be run with some arguments.
_LIMITS: dict[str, tuple[Limit, ...]] = {}
_LOCAL: dict[str, Local] = {}
# Those whose arguments are for NetworkX to judge, which answers all calls about its own graphs. They are called most
# often, and quick.
UNCHECKED: set[str] = set()
# Those that take no longer than a conversion, and those that take far longer.
_QUICK: set[str] = set()
_LONG: set[str] = set()

# NetworkX's version, for what newer ones do otherwise.
VERSION = networkx_version()
if VERSION < OLDEST:
    raise ImportError(
        "expected NetworkX {0} or newer for its backend outcore, found {1}; pip install 'networkx>={0}'".format(
            ".".join(map(str, OLDEST)), nx.__version__
        )
    )

# The number of rows whose mean length tells the size of a graph.
_ROWS = 300

# Some nodes are given only if there are so many times more in the graph.
_PARTS = 10


class Call:
    """The arguments of a call by their names. Binding them by a signature takes as long as small functions do."""

    __slots__ = ("_args", "_kwargs", "_options")

    def __init__(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._options, self._args, self._kwargs = _OPTIONS[name], args, kwargs

    def __getitem__(self, option: str) -> Any:
        if option in self._kwargs:
            return self._kwargs[option]
        place, default = self._options[option]
        return self._args[place] if place < len(self._args) else default

    def mistake(self) -> str | None:
        """A fault of the names or the number of arguments."""
        for option in self._kwargs:
            if option not in self._options:
                return f"{option}= is not supported"
        return "too many arguments" if len(self._args) > len(self._options) else None


def implements(
    *limits: Limit, quick: bool = False, long: bool = False, local: Local = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function under its name. Each limit says of its arguments why it cannot take them, or nothing.
    What is quick passes over the edges once or twice, which a conversion does too; what is long searches from every
    node."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        FUNCTIONS[name], _LIMITS[name], _LOCAL[name] = function, limits, local
        parameters = enumerate(inspect.signature(function).parameters.values())
        _OPTIONS[name] = {
            one.name: (sys.maxsize if one.kind is one.KEYWORD_ONLY else place, one.default)
            for place, one in parameters
        }
        if local is True and not limits:
            UNCHECKED.add(name)
        if quick:
            _QUICK.add(name)
        if long:
            _LONG.add(name)
        return function

    return register


def without(*names: str) -> Limit:
    """Options that must have their defaults."""

    def limit(given: Call) -> str | None:
        used = next((name for name in names if given[name] is not None), None)
        return None if used is None else f"{used}= is not supported"

    return limit


def named(option: str) -> Limit:
    """A weight that must be the name of an attribute."""

    def limit(given: Call) -> str | None:
        return f"a function as {option}= is not supported" if callable(given[option]) else None

    return limit


def simple(given: Call) -> str | None:
    """Graphs that must have no parallel edges."""
    return "multigraphs are not supported" if given["G"].is_multigraph() else None


def undirected(given: Call) -> str | None:
    """Graphs whose edges must have no direction."""
    return "directed graphs are not supported" if given["G"].is_directed() else None


def refusal(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Why a function does not take these arguments, if it does not."""
    if name in UNCHECKED:
        return None
    call = Call(name, args, kwargs)
    mistake = call.mistake()
    if mistake is not None:
        return mistake
    for limit in _LIMITS[name]:
        reason = limit(call)
        if reason is not None:
            return reason
    return None


def is_local(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call looks at a part of the graph only."""
    local = _LOCAL[name]
    if isinstance(local, bool):
        return local
    call = Call(name, args, kwargs)
    return local(call) if callable(local) else any(_is_part(call, option) for option in local)


def _is_part(call: Call, option: str) -> bool:
    given = call[option]
    if given is None:
        return False
    graph = call["G"]
    if not isinstance(given, Sized) or given in graph:
        return True
    return len(given) * _PARTS <= len(graph)


def is_quick(name: str) -> bool:
    """Whether a function takes no longer than a conversion."""
    return name in _QUICK


def is_long(name: str) -> bool:
    """Whether a function takes so much longer than a conversion that it is worth one that serves no other call."""
    return name in _LONG


def is_small(name: str, graph: Any) -> bool:
    """Whether NetworkX is quicker with a graph of this size, even if it has been converted."""
    if nx.config.backends.outcore.min_edges == 0:
        return False
    least, nodes = LEAST.get(name, 0), len(graph)
    if nodes >= least:
        return False
    looked = min(nodes, _ROWS)
    ends = sum(len(around) for around in islice(graph._adj.values(), looked))
    return ends * nodes < (1 if graph.is_directed() else 2) * least * looked


def has_edges(graph: Any, least: int) -> bool:
    """Whether a graph has at least so many edges, or so many nodes that it is large without them: no more nodes are
    looked at than that."""
    few = islice((len(around) for around in graph._adj.values()), least)
    ends = 1 if graph.is_directed() else 2
    return len(graph) > least or any(total >= ends * least for total in accumulate(few, initial=0))
