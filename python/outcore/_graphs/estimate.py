"""Estimates of the memory and reads of algorithms, before they start."""

from collections.abc import Callable
from typing import Any, NamedTuple

from outcore import _algorithms, _outcore
from outcore._declared import DECLARED, changed
from outcore._graphs import previews
from outcore._options import checked, checked_options
from outcore._outcore import Graph, Table


class Estimate(NamedTuple):
    """The memory and reads that an operation will need."""

    memory_bytes: int
    """A memory limit that works: what the graph's runtime holds already, and what is needed beside that."""
    state_bytes: int
    """The memory of the operation's state alone."""
    passes: float
    """The number of passes over the lists."""
    read_bytes: int
    """The bytes read, of lists and columns; the page cache saves some."""
    bound: str
    """The certainty of passes and bytes: "at most" and "at least" are bounds. Otherwise they depend on weights or
    on the lengths of paths, and the numbers are those that graphs with hubs often take."""

    def _repr_html_(self) -> str:
        memory, state, read = map(_outcore.bytes_text, (self.memory_bytes, self.state_bytes, self.read_bytes))
        facts = {"memory": memory, "memory of the state": state}
        facts |= {"passes": f"{self.bound} {self.passes:.4g}", "bytes to read": f"{self.bound} {read}"}
        return previews.facts("outcore.Estimate", facts)

    def __repr__(self) -> str:
        memory, state, read = map(_outcore.bytes_text, (self.memory_bytes, self.state_bytes, self.read_bytes))
        reads = f"{self.bound} {self.passes:.4g} passes, {read} read"
        return f"<outcore.Estimate: {memory} of memory ({state} of state); {reads}>"


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
    """The memory and reads that an algorithm will need, before it starts.

    Args:
        function: The algorithm, such as `bfs` or `pagerank`.
        graph: The graph.
        k: How many sources, for `multi_source_bfs`, `all_pairs` and `betweenness_centrality`; how many sets of seeds,
            for `personalized_pagerank`; how many vertices, for `scan_statistics`. Instead of what `options` would
            list, at most 2**28 sources of `multi_source_bfs` and 2**20 sets.
        output: Whether the result is to be written to a file, which takes memory for ids and encoding: so much as
            Parquet takes, and less in other formats.
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
    declared = DECLARED.get(getattr(function, "__name__", ""))
    if declared is None or function is not getattr(_algorithms, declared["name"], None):
        raise TypeError(f"expected outcore.bfs or another algorithm, found {function!r}")
    names = {alias: option["name"] for option in declared["options"] for alias in [option["name"], *option["aliases"]]}
    wanted = [*options, *(["k"] if k is not None and declared["counted"] is None else [])]
    for name in wanted:
        if name not in names:
            raise TypeError(f"{function.__name__} has no option {name!r}; it has {', '.join([*names, 'verify'])}")
    given = checked_options(function, {names[name]: value for name, value in options.items()})
    return Estimate(*_outcore.estimate(declared["name"], graph, changed(declared, given), k, output, verify))
