"""What algorithms will need, before they start."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from outcore import _outcore
from outcore._algorithms import (
    all_pairs,
    betweenness_centrality,
    bfs,
    clustering,
    components,
    core_number,
    label_propagation,
    lcc,
    multi_source_bfs,
    pagerank,
    personalized_pagerank,
    scan_statistics,
    seed_sets,
    sssp,
    strong_components,
    triangles,
)
from outcore._errors import UsageError
from outcore._options import checked, checked_options
from outcore._outcore import Graph, Table


class Estimate(NamedTuple):
    """What an operation will need."""

    memory_bytes: int
    """A memory limit that works: what the graph's runtime holds already, and what is needed beside that."""
    state_bytes: int
    """The memory of the operation's state alone."""
    passes: float
    """How many passes over the lists it makes."""
    read_bytes: int
    """How many bytes it reads, lists and columns; the page cache saves some."""
    bound: str
    """What the passes and bytes are: "at most" or "at least" so many; else they depend on weights or on how long paths
    are, and this is what they often are."""

    def __repr__(self) -> str:
        memory, state, read = map(_outcore.bytes_text, (self.memory_bytes, self.state_bytes, self.read_bytes))
        reads = f"{self.bound} {self.passes:.4g} passes, {read} read"
        return f"<outcore.Estimate: {memory} of memory ({state} of state); {reads}>"


# What `k` of `estimate` stands for.
_COUNTED = {
    "multi_source_bfs": "sources",
    "all_pairs": "sources",
    "betweenness_centrality": "sources",
    "personalized_pagerank": "personalization",
    "scan_statistics": "top",
}


@checked
def estimate(
    function: Callable[..., Table],
    graph: Graph,
    *,
    k: int | None = None,
    output: bool = False,
    verify: bool = False,
    **options: Any,
) -> Estimate:
    """What an algorithm will need, before it starts.

    Args:
        function: The algorithm, such as `bfs` or `pagerank`.
        graph: The graph.
        k: How many sources, for `multi_source_bfs`, `all_pairs` and `betweenness_centrality`; how many sets of seeds,
            for `personalized_pagerank`; how many vertices, for `scan_statistics`. Instead of what `options` would
            list, at most 2**28 sources of `multi_source_bfs` and 2**20 sets.
        output: Whether the result is to be written to a file, which takes memory for ids and encoding.
        verify: Whether the result is to be verified. The passes of that are not counted.
        options: Options of the algorithm, by its own names and defaults, such as `max_iter`, `method` and `weight`.
            Those that do not change what it needs are accepted too.

    Raises:
        TypeError: No algorithm, an option that it does not have, or a value of a wrong type.
        UsageError: A value out of range, or `k` beside what it is the number of.

    >>> needs = oc.estimate(oc.pagerank, g, max_iter=10)
    >>> needs.state_bytes, needs.passes, needs.bound
    (80, 10.0, 'at most')
    >>> oc.estimate(oc.pagerank, g, output=True).memory_bytes > needs.memory_bytes
    True
    """
    algorithms = (
        bfs, multi_source_bfs, all_pairs, betweenness_centrality, sssp, pagerank, personalized_pagerank, components,
        strong_components, core_number, label_propagation, triangles, clustering, lcc, scan_statistics,
    )
    if function not in algorithms:
        raise TypeError(f"expected outcore.bfs or another algorithm, found {function!r}")
    known = inspect.signature(function).parameters
    unknown = [name for name in options if name not in known]
    if unknown:
        raise TypeError(f"{function.__name__} has no option {unknown[0]!r}; it has {', '.join(list(known)[1:])}")
    options = checked_options(function, options)
    counted = _COUNTED.get(function.__name__)
    if k is not None:
        if counted is None:
            raise TypeError(f"{function.__name__} has no option 'k'; it has {', '.join(list(known)[1:])}")
        if k == 0:
            raise UsageError("expected k of at least 1, found 0")
        if options.get(counted) is not None:
            raise UsageError(f"expected k or {counted}, found both")

    def option(name: str, otherwise: Any) -> Any:
        return options.get(name, known[name].default if name in known else otherwise)

    def count(name: str) -> int | None:
        given = options.get(name)
        return given if given is None or isinstance(given, int) else len(given)

    sets = options.get("personalization")
    counts = [k, count("sources"), count("top"), None if sets is None else len(seed_sets(sets))]
    settings = {
        "max_iter": option("max_iter", None),
        "method": option("method", "power"),
        "weight": option("weight", None),
        "k": next((number for number in counts if number is not None), None),
        "targets": count("targets") or 0,
        "output": output,
        "verify": verify,
    }
    return Estimate(*_outcore.estimate(function.__name__, graph, settings))
