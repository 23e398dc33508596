"""Arguments that NetworkX takes in a way of its own: self-loops, repeated and unknown nodes, odd cutoffs."""

import math

import networkx as nx
import pytest

import outcore as oc

INDICES = ["jaccard_coefficient", "adamic_adar_index", "resource_allocation_index", "preferential_attachment"]
UNWEIGHTED = [
    "single_source_shortest_path_length", "single_target_shortest_path_length", "single_source_shortest_path",
    "single_target_shortest_path",
]
WEIGHTED = ["single_source_dijkstra", "single_source_dijkstra_path", "single_source_dijkstra_path_length"]


@pytest.fixture(autouse=True)
def small_graphs_are_not_left_to_networkx():
    with nx.config.backends.outcore(min_edges=0):
        yield


@pytest.mark.parametrize("name", INDICES)
def test_nodes_with_loops_are_no_common_neighbours(name):
    function = getattr(nx, name)
    graph = nx.Graph([(0, 0), (0, 1), (1, 1), (1, 2), (0, 2), (3, 3), (3, 4), (2, 4)])
    pairs = [(0, 1), (0, 0), (0, 2), (2, 1), (3, 3), (3, 4), (2, 4)]
    expected = [(u, v, pytest.approx(score)) for u, v, score in function(graph, pairs)]
    assert list(function(graph, pairs, backend="outcore")) == expected
    assert list(function(oc.load_graph(graph), pairs)) == expected
    assert list(function(graph, iter(pairs), backend="outcore")) == list(function(graph, iter(pairs)))


def test_the_index_of_a_node_with_a_loop_by_hand():
    graph = nx.Graph([(0, 0), (0, 1)])
    assert [score for *_, score in nx.jaccard_coefficient(graph, [(0, 1), (0, 0)], backend="outcore")] == [0.0, 0.5]


def test_a_node_that_is_named_twice_counts_once():
    graph = nx.Graph([(0, 1), (1, 2), (0, 2), (2, 3)])
    for nodes in ([0, 2, 2], [2, 2], [3, 3, 3, 0]):
        assert nx.average_clustering(graph, nodes, backend="outcore") == nx.average_clustering(graph, nodes)


def test_unknown_nodes_are_what_they_are_to_networkx():
    graph = nx.Graph([(0, 1), (2, 2)])
    graph.add_node(7)
    for node in (0, 2, 7, "x", [0]):
        assert nx.is_isolate(graph, node, backend="outcore") is nx.is_isolate(graph, node)
    assert nx.is_isolate(oc.load_graph(graph), "x") is False
    for given, options in ((graph, {"backend": "outcore"}), (oc.load_graph(graph), {}), (graph, {})):
        with pytest.raises(nx.NetworkXError, match="99"):
            nx.is_isolate(given, 99, **options)
    for given, options in ((graph, {"backend": "outcore"}), (oc.load_graph(graph), {}), (graph, {})):
        with pytest.raises(KeyError, match="99"):
            nx.node_connected_component(given, 99, **options)


@pytest.mark.parametrize("cutoff", [2.5, 2.0, 2, 0.1, 0, -1, math.inf, math.nan])
def test_searches_end_at_the_level_of_networkx(cutoff):
    graph = nx.path_graph(7)
    for name in UNWEIGHTED:
        function = getattr(nx, name)
        assert function(graph, 1, cutoff=cutoff, backend="outcore") == function(graph, 1, cutoff=cutoff), name
    for name in ("all_pairs_shortest_path_length", "all_pairs_shortest_path"):
        function = getattr(nx, name)
        assert dict(function(graph, cutoff=cutoff, backend="outcore")) == dict(function(graph, cutoff=cutoff)), name


def test_lengths_end_at_the_cutoff_of_networkx():
    graph = nx.path_graph(7)
    for place, edge in enumerate(graph.edges):
        graph.edges[edge]["weight"] = place % 3 / 2
    for name in WEIGHTED:
        function = getattr(nx, name)
        for cutoff in (0, 0.5, 1.25, 1.5, math.inf):
            assert function(graph, 1, cutoff=cutoff, backend="outcore") == function(graph, 1, cutoff=cutoff), name
        with pytest.raises(NotImplementedError):
            function(graph, 1, cutoff=-1, backend="outcore")
        with nx.config.backend_priority(algos=["outcore"]), nx.config.backends.outcore(min_edges=0):
            assert function(graph, 1, cutoff=-1) == function.orig_func(graph, 1, cutoff=-1)
