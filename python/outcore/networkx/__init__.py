"""The backend of NetworkX: `nx.pagerank(G, backend="outcore")`, or `nx.config.backend_priority = ["outcore"]`.

Graphs of NetworkX are converted into images in memory, once, and kept with them. An `outcore.Graph` can be passed to
functions of NetworkX as it is, whatever its size; it is never made a dict of dicts. What functions there are, and how
they differ, is in `docs/networkx.md`.
"""

from functools import partial
from types import SimpleNamespace
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
from outcore.networkx._graph import convert_from_nx, convert_to_nx
from outcore.networkx._registry import FUNCTIONS


def on_start_tests(items: list[Any]) -> None:
    """Called before NetworkX's own tests are run with this backend, whose graphs are small: nothing is left to NetworkX
    for its size."""
    import networkx as nx  # type: ignore[import-untyped]

    nx.config.backends.outcore.min_edges = 0


# The backend as NetworkX calls it. It asks for these attributes at every call.
backend = SimpleNamespace(
    convert_from_nx=convert_from_nx,
    convert_to_nx=convert_to_nx,
    can_run=_dispatch.can_run,
    should_run=_dispatch.should_run,
    on_start_tests=on_start_tests,
    **{name: partial(_dispatch.call, name) for name in FUNCTIONS},
)
