"""Functions of NetworkX that packages call: orders, communities, trees and betweenness of edges, with the values, the
order and the errors of NetworkX; and those that are NetworkX's own, which cost nothing."""

import math

import networkx as nx
import numpy as np
import pytest

import outcore as oc
from outcore.networkx._graph import Conversion, cached_conversion
from outcore.networkx._registry import FUNCTIONS


@pytest.fixture
def always():
    """Graphs of tests are small, but are not left to NetworkX."""
    with nx.config.backends.outcore(min_edges=0):
        yield


@pytest.fixture
def by_priority(always):
    with nx.config.backend_priority(algos=["outcore"], generators=["outcore"]):
        yield


def named(name):
    return getattr(nx, name, None) or getattr(nx.community, name)


def weighing(graph, weights):
    for place, (*_, data) in enumerate(graph.edges(data=True)):
        if weights[place % len(weights)] is not None:
            data["weight"] = weights[place % len(weights)]
    return graph


def graphs():
    """Empty graphs and particular ones, with weights of all kinds, and graphs of real data."""
    random = nx.gnm_random_graph
    return {
        "empty": nx.Graph(),
        "empty directed": nx.DiGraph(),
        "one": nx.empty_graph(1),
        "one directed": nx.empty_graph(1, create_using=nx.DiGraph),
        "isolated": nx.empty_graph(5),
        "one loop": nx.Graph([(0, 0)]),
        "loops": nx.Graph([(0, 0), (0, 1), (2, 2), (1, 2), (3, 0), (3, 2)]),
        "directed loops": nx.DiGraph([(0, 0), (0, 1), (1, 2)]),
        "star": nx.star_graph(20),
        "path": nx.path_graph(40),
        "directed path": nx.path_graph(40, create_using=nx.DiGraph),
        "two hubs": nx.Graph([("a", i) for i in range(12)] + [("b", i) for i in range(12)]),
        "directed hubs": nx.DiGraph([("a", i) for i in range(12)] + [(i, "b") for i in range(12)]),
        "disconnected": nx.Graph([(0, 1), (1, 2), (3, 4), (5, 6), (6, 7), (7, 5)]),
        "complete": nx.complete_graph(9),
        "tournament": nx.DiGraph([(i, j) for i in range(15) for j in range(i)]),
        "cycle": nx.cycle_graph(9, create_using=nx.DiGraph),
        "grid": nx.grid_2d_graph(5, 6),
        "multi": weighing(nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 2), (2, 0), ("x", 0), (0, 1)]), [3, 1, 2, 1]),
        "directed multi": nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (0, 2), (0, 2), (4, 0)]),
        "dag": nx.DiGraph((max(edge), min(edge)) for edge in random(60, 150, seed=3).edges),
        "nearly a dag": nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 2), (3, 4)]),
        "random": random(60, 150, seed=1),
        "directed random": random(60, 150, seed=1, directed=True),
        "karate": nx.karate_club_graph(),
        "miserables": nx.les_miserables_graph(),
        "florentine": nx.florentine_families_graph(),
        "women": nx.davis_southern_women_graph(),
        "whole weights": weighing(random(30, 80, seed=2), [3, 1, 2, 1, 7]),
        "reals": weighing(random(30, 80, seed=2), [0.5, 1.25, 0.125, 3.0]),
        "ties": weighing(random(30, 80, seed=2), [1.0, 1]),
        "zeros": weighing(random(30, 80, seed=2), [0, 0, 1]),
        "zero weights": weighing(nx.path_graph(5), [0]),
        "negative": weighing(random(30, 80, seed=2), [-2, 1, -1, 0]),
        "some missing": weighing(random(30, 80, seed=2), [None, 2, 0.5]),
        "infinite": weighing(random(30, 80, seed=2), [math.inf, 1.0, -math.inf]),
        "not a number": weighing(random(30, 80, seed=2), [1.0, 2.0, 1.0, math.nan]),
        "great": weighing(random(30, 80, seed=2), [2**70, 1]),
        "great reals": weighing(random(30, 80, seed=2), [1e300, 1e-300, 2**60 + 1]),
        "texts": weighing(random(30, 80, seed=2), ["heavy"]),
        "of NumPy": weighing(random(30, 80, seed=2), [np.float64(2), np.int64(1)]),
        "directed whole weights": weighing(random(30, 80, seed=2, directed=True), [3, 1, 2]),
        "directed reals": weighing(random(30, 80, seed=2, directed=True), [0.5, 1.25]),
    }


GRAPHS = graphs()


def halves(graph):
    nodes = list(graph)
    return [set(nodes[0::3]), frozenset(nodes[1::3]), nodes[2::3]]


# The calls of each function.
CALLS = {
    "topological_sort": [{}],
    "topological_generations": [{}],
    "edge_betweenness_centrality": [
        {}, {"normalized": False}, {"k": 3, "seed": 4}, {"k": 1, "seed": 1, "normalized": False}, {"k": 0, "seed": 1},
        {"k": 999, "seed": 1},
    ],
    "normalized_laplacian_matrix": [{}, {"weight": None}, {"nodelist": [3, 1, 0]}, {"nodelist": [0, 0]}],
    "is_weighted": [{}, {"weight": "colour"}, {"edge": (0, 1)}, {"edge": (0, 99)}],
    "label_propagation_communities": [{}],
    "modularity": [
        {"communities": halves}, {"communities": lambda graph: [set(graph)]},
        {"communities": lambda graph: [{node} for node in graph], "resolution": 0.7},
        {"communities": halves, "weight": None, "resolution": 2}, {"communities": lambda graph: [{0}, {1}]},
        {"communities": lambda graph: [set(graph), set(graph)]}, {"communities": lambda graph: [{"unknown"}, [[]]]},
        {"communities": lambda graph: iter([set(graph)])}, {"communities": lambda graph: iter([{0}])},
    ],
    "bfs_edges": [
        {"source": 0}, {"source": 0, "depth_limit": 2}, {"source": 0, "reverse": True}, {"source": 99},
        {"source": 0, "sort_neighbors": sorted},
    ],
    "minimum_spanning_edges": [
        {}, {"data": False}, {"keys": False}, {"weight": None}, {"ignore_nan": True}, {"algorithm": "prim"},
    ],
    "maximum_spanning_edges": [{}, {"data": False}, {"keys": False, "ignore_nan": True}],
    "minimum_spanning_tree": [{}, {"weight": "colour"}, {"ignore_nan": True}],
    "maximum_spanning_tree": [{}, {"ignore_nan": True}],
    "square_clustering": [{}, {"nodes": 0}, {"nodes": [0, 2]}, {"nodes": [0, 1, 2, 3, 99]}],
    "clustering": [{}, {"nodes": 0}, {"nodes": [0, 1, 2, 3]}],
    "average_clustering": [{}, {"count_zeros": False}],
}  # fmt: skip


def exact(value):
    """An answer with its order and the kinds of its numbers."""
    if isinstance(value, nx.Graph):
        return type(value), value.graph, exact(dict(value.nodes(data=True))), exact(list(value.edges(data=True)))
    if hasattr(value, "toarray"):
        return value.dtype, value.format, exact(value.toarray().tolist())
    if isinstance(value, dict):
        return [(key, exact(one)) for key, one in value.items()]
    if isinstance(value, (list, tuple)) or hasattr(value, "__next__") or isinstance(value, type({}.values())):
        return [exact(one) for one in value]
    return type(value), "NaN" if value != value else value


def answer(call):
    """The answer of a call, or its error."""
    try:
        return exact(call())
    except NotImplementedError:
        raise
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", CALLS)
def test_answers_are_those_of_networkx_in_value_order_and_kind(name, always):
    function, ran, left = named(name), 0, []
    for kind, graph in GRAPHS.items():
        if name == "label_propagation_communities" and nx.number_of_selfloops(graph):
            # NetworkX itself does not end with some.
            continue
        for call in CALLS[name]:
            case = f"{kind} {call}"

            def options():
                return {key: value(graph) if key == "communities" else value for key, value in call.items()}

            expected = answer(lambda: function(graph, **options()))
            try:
                found = answer(lambda: function(graph, backend="outcore", **options()))
            except NotImplementedError:
                left.append(case)
                # NetworkX goes on by itself.
                with nx.config.backend_priority(algos=["outcore"], generators=["outcore"]):
                    found = answer(lambda: function(graph, **options()))
            else:
                ran += 1
            if name == "modularity" and "reals" in kind:
                found, expected = found[1], pytest.approx(expected[1])
            assert found == expected, case
    # The rest has weights that are no numbers of 64 bits, directions, or parallel edges.
    assert ran > 0.4 * len(GRAPHS) * len(CALLS[name]), left


EDITS = [
    lambda graph, node: graph.add_edge(5 - node, 5),
    lambda graph, node: graph.remove_node(4),
    lambda graph, node: graph.remove_node(2),
    lambda graph, node: graph.add_edge(node, 4),
    lambda graph, node: graph.add_node(99),
    lambda graph, node: graph.remove_edge(3, 4),
    lambda graph, node: graph.nodes[node].update(colour="red"),
]


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("is_cached", [True, False])
def test_changes_between_generations_are_noticed_as_networkx_does(edit, kind, is_cached, always):
    def walk(**options):
        graph, seen = kind([(1, 2), (2, 3), (3, 4), (1, 3), (1, 3)]), []
        with nx.config(cache_converted_graphs=is_cached):
            try:
                for node in nx.topological_sort(graph, **options):
                    if not seen:
                        edit(graph, node)
                    seen.append(node)
            except Exception as error:
                return seen, type(error), str(error)
        return seen

    assert walk(backend="outcore") == walk()


def test_labels_that_may_change_for_ever_are_refused(always):
    with pytest.raises(NotImplementedError):
        nx.community.label_propagation_communities(GRAPHS["loops"], backend="outcore")


def test_division_into_communities_by_edges_is_that_of_networkx(by_priority):
    for graph in (nx.karate_club_graph(), nx.grid_2d_graph(4, 4), nx.les_miserables_graph(), nx.cycle_graph(12)):
        with nx.config.backend_priority(algos=[], generators=[]):
            expected = [next_ for next_, _ in zip(nx.community.girvan_newman(graph), range(4))]
        assert [found for found, _ in zip(nx.community.girvan_newman(graph), range(4))] == expected


def test_many_searches_at_once_are_those_of_one_after_the_other(always, monkeypatch):
    from outcore.networkx import _edge_betweenness

    graph = nx.gnm_random_graph(70, 130, seed=6, directed=True)
    expected = nx.edge_betweenness_centrality(graph)
    for pairs in (1, 3 * (70 + 130), 2**18):
        monkeypatch.setattr(_edge_betweenness, "_PAIRS", pairs)
        assert nx.edge_betweenness_centrality(graph, backend="outcore") == expected


def test_squares_of_some_rows_at_a_time_are_those_of_all(always, monkeypatch):
    from outcore.networkx import _structure

    graph = nx.gnm_random_graph(70, 200, seed=6)
    expected = nx.square_clustering(graph)
    for paths in (1, 100, 2**18):
        monkeypatch.setattr(_structure, "_PATHS", paths)
        assert nx.square_clustering(graph, backend="outcore") == expected


def test_trees_have_the_data_of_their_graph(always):
    graph = weighing(nx.gnm_random_graph(40, 90, seed=1), [2, 1, 3])
    graph.graph["name"] = "links"
    nx.set_node_attributes(graph, "red", "colour")
    tree = nx.minimum_spanning_tree(graph, backend="outcore")
    assert nx.is_tree(tree) and tree.graph == {"name": "links"} and tree.nodes[0] == {"colour": "red"}
    for one, other, data in nx.minimum_spanning_edges(graph, backend="outcore"):
        assert data is graph.edges[one, other]
    # Weights that are changed in place are noticed.
    for *_, data in graph.edges(data=True):
        data["weight"] = -data["weight"]
    found = nx.minimum_spanning_tree(graph, backend="outcore")
    assert exact(found) == exact(nx.minimum_spanning_tree(graph)) != exact(tree)


@pytest.mark.parametrize("order", ["input", "degree"])
def test_images_have_these_functions(order):
    acyclic = nx.relabel_nodes(GRAPHS["dag"], lambda node: f"v{node}")
    image = oc.load_graph(acyclic, order=order)
    found, expected = list(nx.topological_generations(image)), list(nx.topological_generations(acyclic))
    assert list(map(sorted, found)) == list(map(sorted, expected))
    place = {node: place for place, node in enumerate(nx.topological_sort(image))}
    assert all(place[one] < place[other] for one, other in acyclic.edges)
    with pytest.raises(nx.NetworkXUnfeasible):
        list(nx.topological_sort(oc.load_graph([(0, 1), (1, 0)])))
    with pytest.raises(nx.NetworkXError, match="undirected"):
        list(nx.topological_sort(oc.load_graph([(0, 1)], directed=False)))

    plain = weighing(nx.relabel_nodes(nx.gnm_random_graph(40, 90, seed=1), lambda node: f"v{node}"), [2, 1, 3])
    image = oc.load_graph(plain, order=order)
    found, expected = nx.edge_betweenness_centrality(image), nx.edge_betweenness_centrality(plain)
    assert {frozenset(edge): value for edge, value in found.items()} == {
        frozenset(edge): pytest.approx(value) for edge, value in expected.items()
    }
    halves = [set(list(plain)[::2]), set(list(plain)[1::2])]
    assert nx.community.modularity(image, halves) == nx.community.modularity(plain, halves)
    assert nx.square_clustering(image) == nx.square_clustering(plain)
    assert nx.normalized_laplacian_matrix(image).sum() == pytest.approx(nx.normalized_laplacian_matrix(plain).sum())
    edges = list(nx.bfs_edges(image, "v3", depth_limit=3))
    assert {child for _, child in edges} == {child for _, child in nx.bfs_edges(plain, "v3", depth_limit=3)}
    assert all(plain.has_edge(*edge) for edge in edges)
    with pytest.raises(nx.NetworkXError, match="v99"):
        list(nx.bfs_edges(image, "v99"))
    for function in (nx.minimum_spanning_edges, nx.maximum_spanning_edges):
        weights = sorted(data["weight"] for *_, data in function(image))
        assert weights == sorted(data["weight"] for *_, data in function(plain))
        assert all(len(edge) == 2 for edge in function(image, data=False))
    for function in (nx.minimum_spanning_tree, nx.community.label_propagation_communities):
        with pytest.raises(nx.NetworkXNotImplemented, match="of an outcore.Graph: .* of an image"):
            function(image)


def test_forests_of_pieces_are_those_of_all_edges(monkeypatch):
    from outcore.networkx import _graph

    plain = weighing(nx.gnm_random_graph(40, 200, seed=1), [2.0, 1.0, 3.0])
    image = oc.load_graph(plain)
    expected = list(nx.minimum_spanning_edges(image))
    monkeypatch.setattr(_graph, "PIECE_ROWS", 7)
    assert list(nx.minimum_spanning_edges(image)) == expected


def test_images_know_whether_they_have_weights():
    edges = [("a", "b", 2.5), ("b", "c", 1.0)]
    image, plain = oc.load_graph(edges), oc.load_graph([("a", "b")])
    assert nx.is_weighted(image) is True and nx.is_weighted(plain) is False
    assert nx.is_weighted(image, weight="colour") is False and nx.is_weighted(image, ("a", "b")) is True
    with pytest.raises(nx.NetworkXError, match="does not exist"):
        nx.is_weighted(image, ("a", "c"))


# Functions that stay NetworkX's own: each lists walks, cliques or mappings of a graph in memory, ends at the first one,
# or makes a graph of NetworkX.
OWN = [
    ("all_simple_paths", (0, 5), {"cutoff": 3}),
    ("shortest_simple_paths", (0, 5), {}),
    ("find_cliques", (), {}),
    ("relabel_nodes", ({0: "a"},), {}),
    ("greedy_modularity_communities", (), {}),
    ("is_isomorphic", (nx.karate_club_graph(),), {}),
    ("simple_cycles", (), {"length_bound": 3}),
    ("find_cycle", (), {}),
    ("is_d_separator", ({0}, {5}, {1}), {}),
]


@pytest.mark.parametrize("name, args, options", OWN)
def test_what_is_networkxs_own_runs_there_and_converts_nothing(name, args, options, by_priority, monkeypatch):
    assert name not in FUNCTIONS
    graph = nx.karate_club_graph()
    if name == "is_d_separator":
        graph = nx.DiGraph((min(edge), max(edge)) for edge in graph.edges)
    function = named(name)

    def first(found):
        found = [one for one, _ in zip(found, range(20))] if hasattr(found, "__next__") else found
        return exact(found)

    with nx.config.backend_priority(algos=[], generators=[]):
        expected = first(function(graph, *args, **options))
    read = []
    whole = Conversion.adjacency.func
    monkeypatch.setattr(Conversion.adjacency, "func", lambda conversion: read.append(1) or whole(conversion))
    assert first(function(graph, *args, **options)) == expected and not read
    # A conversion that is there stays.
    nx.pagerank(graph, backend="outcore")
    converted = cached_conversion(graph)
    assert first(function(graph, *args, **options)) == expected
    assert cached_conversion(graph) is converted
    with pytest.raises(NotImplementedError):
        function(oc.load_graph(graph), *args, **options)
