"""Compares the backend of NetworkX with NetworkX over small graphs that have been converted.

usage: networkx_sizes.py table | ratios

"table" prints LEAST of outcore/networkx/_costs.py: for each function the number of edges from which on Outcore is no
slower than NetworkX, or so many that it was never. "ratios" prints how many times longer calls take that NetworkX
answers by priorities with that table. Times are of the process, the least of several, and calls alternate.
"""

import functools
import inspect
import sys
import time

import networkx as nx
from networkx.utils.backends import _registered_algorithms

from outcore.networkx import _registry
from outcore.networkx._registry import FUNCTIONS

# Numbers of edges at which functions are compared for the table; a function that is slower at the last is left out.
SIZES = [100, 300, 1000, 3000, 10_000]
# NetworkX takes minutes for 1,000 nodes, and Outcore seconds.
CUBIC = "floyd_warshall"
# A function is not called with a larger graph once NetworkX takes so many seconds.
LONG = 0.05


@functools.cache
def graph_of(edges, directed):
    """A graph in one piece, with six edges at a node and whole weights."""
    nodes = max(edges // 3, 4)
    graph = nx.cycle_graph(nodes, create_using=nx.DiGraph if directed else nx.Graph)
    graph.add_edges_from(nx.gnm_random_graph(nodes, edges - nodes, seed=1, directed=directed).edges)
    for place, (*_, data) in enumerate(graph.edges(data=True)):
        data["weight"] = 1 + place % 7
    return graph


def options_of(name, graph):
    """The required options of a call that passes over the whole graph."""
    nodes = list(graph)
    values = {"source": nodes[0], "target": nodes[-1], "sources": nodes[:2], "S": nodes[:2], "k": 3, "n": nodes[0]}
    values |= {"name": "weight", "distance": 2}
    values["communities"] = [set(nodes[::2]), set(nodes[1::2])]
    parameters = list(inspect.signature(FUNCTIONS[name]).parameters.values())[1:]
    required = {one.name: values[one.name] for one in parameters if one.default is one.empty}
    if name in ("shortest_path", "shortest_path_length"):
        required = {"source": nodes[0], "weight": "weight"}
    return required


def answer(function, *args, **options):
    found = function(*args, **options)
    return list(found) if hasattr(found, "__next__") else found


def seconds(function, *args, **options):
    """The least time of a call."""
    least, spent = float("inf"), 0.0
    for _ in range(3):
        start = time.process_time()
        answer(function, *args, **options)
        took = time.process_time() - start
        least, spent = min(least, took), spent + took
        if spent > LONG:
            break
    return least


def compared(name, edges, **outcore):
    """The times of NetworkX and of Outcore; nothing where one of them takes no such graph."""
    dispatched = _registered_algorithms[name]
    for directed in (False, True):
        graph = graph_of(edges, directed)
        options = options_of(name, graph)
        try:
            # Twice, so that nothing is made for the first time.
            for _ in range(2):
                answer(dispatched, graph, backend="outcore", **options)
            alone = seconds(dispatched, graph, **options)
            with nx.config.backend_priority(algos=["outcore"], generators=["outcore"]):
                ours = seconds(dispatched, graph, **options, **outcore)
            # Of long ones once is enough.
            return alone if alone > LONG else min(alone, seconds(dispatched, graph, **options)), ours
        except (AttributeError, NotImplementedError, nx.NetworkXException):
            continue
    return None


def table():
    with nx.config.backends.outcore(min_edges=0):
        for name in sorted(FUNCTIONS, key=lambda name: (_registry.is_long(name), name)):
            if _registry._LOCAL[name] is True:
                continue
            least, times = 0, None
            for edges in SIZES:
                times = compared(name, edges, backend="outcore")
                if times is None:
                    break
                if times[1] <= times[0]:
                    break
                least = edges
                if times[0] > LONG:
                    break
            if least:
                at = SIZES.index(least) + 1
                print(f'    "{name}": {SIZES[at] if at < len(SIZES) else 10 * least:_},', flush=True)


def ratios():
    for nodes in (10, 100, 1000):
        found = {}
        for name in sorted(FUNCTIONS):
            times = compared(name, 3 * nodes) if name != CUBIC or nodes < 1000 else None
            if times is not None:
                found[name] = times[1] / times[0]
        slow = {name: round(ratio, 1) for name, ratio in found.items() if ratio > 5}
        print(f"{nodes} nodes: {len(found)} functions, {len(slow)} more than 5 times slower: {slow}", flush=True)


if __name__ == "__main__":
    {"table": table, "ratios": ratios}[sys.argv[1]]()
