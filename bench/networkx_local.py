"""Compares local questions to a large graph of NetworkX with the backend by priority and without it.

usage: networkx_local.py [EDGES]

EDGES is a file of edges as text, perhaps compressed by gzip: of the shared data (OUTCORE_DATA) web-Stanford or else
web-NotreDame if not given. 1,000 questions are drawn, such as `has_path` to a neighbour, the first layers of a search
or the clustering of one node, and asked before and after a PageRank has converted the graph; `add_edge` and `has_path`
take turns. None of them may convert the graph. Times are of the process, the least of several, and both take turns.
"""

import gc
import gzip
import itertools
import math
import os
import pathlib
import random
import sys
import time

import networkx as nx

from outcore.networkx import _graph

ROUNDS = 7
COUNT = 1000
# Each question is about a node, a neighbour of it, and any other node.
QUESTIONS = {
    "neighbors": lambda graph, node, near, other: list(nx.neighbors(graph, node)),
    "degree": lambda graph, node, near, other: nx.degree(graph, node),
    "is_isolate": lambda graph, node, near, other: nx.is_isolate(graph, node),
    "has_path": lambda graph, node, near, other: nx.has_path(graph, node, near),
    "shortest_path": lambda graph, node, near, other: nx.shortest_path(graph, node, near),
    "shortest_path_length": lambda graph, node, near, other: nx.shortest_path_length(graph, node, near),
    "dijkstra_path": lambda graph, node, near, other: nx.dijkstra_path(graph, node, near),
    "bidirectional_dijkstra": lambda graph, node, near, other: nx.bidirectional_dijkstra(graph, node, near),
    "bfs_layers": lambda graph, node, near, other: list(itertools.islice(nx.bfs_layers(graph, node), 2)),
    "bfs_edges": lambda graph, node, near, other: list(itertools.islice(nx.bfs_edges(graph, node), 5)),
    "descendants_at_distance": lambda graph, node, near, other: nx.descendants_at_distance(graph, node, 1),
    "cutoff": lambda graph, node, near, other: nx.single_source_shortest_path_length(graph, node, cutoff=1),
    "paths within a cutoff": lambda graph, node, near, other: nx.single_source_shortest_path(graph, node, cutoff=1),
    "dijkstra within a cutoff": lambda graph, node, near, other: nx.single_source_dijkstra(graph, node, cutoff=1),
    "ego_graph": lambda graph, node, near, other: sorted(nx.ego_graph(graph, node).edges),
    "clustering": lambda graph, node, near, other: nx.clustering(graph, node),
    "average_clustering": lambda graph, node, near, other: nx.average_clustering(graph, [node, other]),
    "group_degree_centrality": lambda graph, node, near, other: nx.group_degree_centrality(graph, [node, other]),
}
OF_DIRECTED = {"reciprocity": lambda graph, node, near, other: nx.reciprocity(graph, [node, other])}
OF_UNDIRECTED = {
    "triangles": lambda graph, node, near, other: nx.triangles(graph, node),
    "jaccard_coefficient": lambda graph, node, near, other: list(nx.jaccard_coefficient(graph, [(node, other)])),
    "adamic_adar_index": lambda graph, node, near, other: list(nx.adamic_adar_index(graph, [(node, near)])),
    "resource_allocation_index": lambda graph, node, near, other: list(
        nx.resource_allocation_index(graph, [(node, near)])
    ),
    "preferential_attachment": lambda graph, node, near, other: list(
        nx.preferential_attachment(graph, [(node, other)])
    ),
}


class Conversions:
    """Counts the conversions that are made."""

    count = 0

    def __init__(self):
        make = _graph.Conversion.__init__

        def counted(*args, **options):
            self.count += 1
            make(*args, **options)

        _graph.Conversion.__init__ = counted


CONVERSIONS = Conversions()


def edges_of(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as lines:
        for line in lines:
            if not line.startswith("#"):
                source, target, *_ = line.split()
                yield int(source), int(target)


def priorities(is_ours):
    backends = ["outcore"] if is_ours else []
    return nx.config.backend_priority(algos=backends, generators=backends)


def compared(call, undo=None):
    """The least times of NetworkX and with the backend, and the conversions that it made."""
    times, before = [math.inf, math.inf], CONVERSIONS.count
    for _ in range(ROUNDS):
        for is_ours in (False, True):
            with priorities(is_ours):
                start = time.process_time()
                call()
                times[is_ours] = min(times[is_ours], time.process_time() - start)
            if undo is not None:
                undo()
    return *times, CONVERSIONS.count - before


def report(title, alone, ours, conversions):
    ratio = f"{ours / alone:.2f} times"
    print(f"  {title}: NetworkX {alone:.4f} s, Outcore {ours:.4f} s, {ratio}, {conversions} conversions", flush=True)


def ask(graph, questions, drawn):
    return [questions[name](graph, *nodes) for name, nodes in drawn]


def local(graph, questions, draw):
    """Compares the questions, and names the kinds that became the slowest."""
    nodes = [node for node in graph if len(graph[node])]

    def about():
        node = draw.choice(nodes)
        return node, draw.choice(list(graph[node])), draw.choice(nodes)

    drawn = [(draw.choice(list(questions)), about()) for _ in range(COUNT)]
    for title in (f"{COUNT} questions", f"{COUNT} questions after the conversion"):
        with priorities(True):
            found = ask(graph, questions, drawn)
        with priorities(False):
            assert found == ask(graph, questions, drawn), "NetworkX has other answers"
        report(title, *compared(lambda: ask(graph, questions, drawn)))
        kinds = {}
        for name in questions:
            asked = [(name, about()) for _ in range(COUNT // 10)]
            alone, ours, _ = compared(lambda asked=asked: ask(graph, questions, asked))
            kinds[name] = ours / alone, f"{name} {ours / alone:.2f} ({alone / len(asked) * 1e6:.1f} us)"
        print("    slowest kinds:", ", ".join(text for _, text in sorted(kinds.values(), reverse=True)[:5]))
        if "after" not in title:
            pagerank(graph)


def pagerank(graph):
    """Compares the first PageRank, which converts the graph."""
    times = []
    for is_ours in (False, True):
        before = CONVERSIONS.count
        with priorities(is_ours):
            start = time.process_time()
            nx.pagerank(graph)
            times.append(time.process_time() - start)
    report("the first PageRank", *times, CONVERSIONS.count - before)


def edits(graph, draw):
    """Compares edges that are added in turn with questions: for a path along each, and for one between any nodes."""
    nodes = list(graph)

    def pairs_of(count):
        pairs = {frozenset(draw.sample(nodes, 2)) for _ in range(count)}
        return [ends for ends in map(tuple, pairs) if not graph.has_edge(*ends) and not graph.has_edge(*ends[::-1])]

    for title, count, is_along in (("along an edge", COUNT, True), ("between any nodes", COUNT // 20, False)):
        pairs = pairs_of(count)
        asked = pairs if is_along else pairs_of(count)

        def in_turn(pairs=pairs, asked=asked):
            for (source, target), ends in zip(pairs, asked):
                graph.add_edge(source, target)
                nx.has_path(graph, *ends)

        figures = compared(in_turn, lambda pairs=pairs: graph.remove_edges_from(pairs))
        report(f"{len(asked)} times add_edge, and has_path {title}", *figures)


def main():
    if sys.argv[1:]:
        path = pathlib.Path(sys.argv[1])
    else:
        folder = pathlib.Path(os.environ["OUTCORE_DATA"], "graphs")
        known = [folder / f"{name}.txt.gz" for name in ("web-Stanford", "web-NotreDame")]
        path = next(path for path in known if path.exists())
    directed = nx.DiGraph(edges_of(path))
    for graph, others in ((directed, OF_DIRECTED), (nx.Graph(directed), OF_UNDIRECTED)):
        gc.collect()
        gc.freeze()
        kind = "directed" if graph.is_directed() else "undirected"
        print(f"{path.name}, {kind}: {len(graph):,} nodes, {graph.number_of_edges():,} edges")
        draw = random.Random(1)
        edits(graph, draw)
        local(graph, QUESTIONS | others, draw)


if __name__ == "__main__":
    main()
