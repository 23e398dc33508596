"""The backend of NetworkX: `nx.pagerank(G, backend="outcore")`, or `nx.config.backend_priority = ["outcore"]`.

Graphs of NetworkX are converted into images in memory, once, and kept with them. An `outcore.Graph` can be passed to
functions of NetworkX as it is, whatever its size; it is never made a dict of dicts. What functions there are, and how
they differ, is in `docs/networkx.md`.
"""

from functools import partial
from typing import Any

from outcore.networkx import (  # noqa: F401
    _centrality,
    _communities,
    _components,
    _dispatch,
    _distances,
    _edge_betweenness,
    _orders,
    _structure,
    _trees,
)
from outcore.networkx._graph import convert_to_nx
from outcore.networkx._registry import FUNCTIONS


def on_start_tests(items: list[Any]) -> None:
    """Called before NetworkX's own tests are run with this backend, whose graphs are small: nothing is left to NetworkX
    for its size."""
    import networkx as nx  # type: ignore[import-untyped]

    nx.config.backends.outcore.min_edges = 0


class Backend:
    """The backend as NetworkX calls it: conversions, checks whether a call can run, and functions under their names."""

    def convert_from_nx(self, graph: Any, **attributes: Any) -> Any:
        return _dispatch.convert_from_nx(graph, **attributes)

    def convert_to_nx(self, result: Any, **names: Any) -> Any:
        return convert_to_nx(result, **names)

    def can_run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        return _dispatch.can_run(name, args, kwargs)

    def should_run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        return _dispatch.should_run(name, args, kwargs)

    def on_start_tests(self, items: list[Any]) -> None:
        on_start_tests(items)

    def __getattr__(self, name: str) -> Any:
        if name not in FUNCTIONS:
            raise AttributeError(f"the outcore backend has no {name!r}")
        return partial(_dispatch.call, name)


backend = Backend()
