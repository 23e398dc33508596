"""Habits of programs that are built on NetworkX: they look at a few nodes, edit in loops and in place, and rely on the
order of results and on the kinds of their numbers."""

import copy
import gc
import itertools
import math
import pathlib
import subprocess
import sys
import weakref
from decimal import Decimal

import networkx as nx
import numpy as np
import pytest

import outcore as oc
import outcore.networkx
from outcore.networkx import backend
from outcore.networkx._costs import LEAST
from outcore.networkx._graph import Conversion, Converted, cached_conversion
from outcore.networkx._registry import FUNCTIONS


@pytest.fixture
def by_priority():
    priorities = nx.config.backend_priority(algos=["outcore"], generators=["outcore"])
    with priorities, nx.config.backends.outcore(min_edges=0):
        yield


@pytest.fixture
def always():
    """Graphs of tests are small, but are not left to NetworkX."""
    with nx.config.backends.outcore(min_edges=0):
        yield


class Guarded(dict):
    """Rows of a graph that cannot be passed over."""

    def __iter__(self):
        raise AssertionError("the whole graph was passed over")

    values = items = keys = __iter__


LOCAL = [
    ("is_isolate", (3,), {}),
    ("has_path", (3, 4), {}),
    ("shortest_path", (3, 4), {}),
    ("shortest_path_length", (3, 4), {}),
    ("dijkstra_path", (3, 4), {}),
    ("dijkstra_path_length", (3, 4), {}),
    ("single_source_dijkstra", (3, 4), {}),
    ("bidirectional_dijkstra", (3, 4), {}),
    ("bidirectional_shortest_path", (3, 4), {}),
    ("single_source_shortest_path_length", (3,), {"cutoff": 1}),
    ("single_source_dijkstra_path_length", (3,), {"cutoff": 1}),
    ("descendants_at_distance", (3, 1), {}),
    ("clustering", (3,), {}),
    ("clustering", ([3, 4],), {}),
    ("triangles", (3,), {}),
    ("average_clustering", ([3, 4],), {}),
    ("jaccard_coefficient", ([(3, 5)],), {}),
    ("adamic_adar_index", ([(3, 5)],), {}),
]
# Questions about a part of a graph, or few searches, that NetworkX answers from what it passes over.
FEW = [
    ("to_scipy_sparse_array", (), {"nodelist": [3, 4]}),
    ("to_numpy_array", (), {"nodelist": [3, 4]}),
    ("adjacency_matrix", (), {"nodelist": [3, 4]}),
    ("laplacian_matrix", (), {"nodelist": [3, 4]}),
    ("normalized_laplacian_matrix", (), {"nodelist": [3, 4]}),
    ("diameter", (), {"usebounds": True}),
    ("radius", (), {"usebounds": True}),
    ("center", (), {"usebounds": True}),
    ("periphery", (), {"usebounds": True}),
    ("multi_source_dijkstra_path_length", (range(20),), {}),
]


@pytest.mark.parametrize("name, args, options", LOCAL)
@pytest.mark.parametrize("is_named", [False, True])
def test_local_questions_pass_over_no_graph(name, args, options, is_named, by_priority):
    graph, function = nx.path_graph(100), getattr(nx, name)
    expected = function.orig_func(graph, *args, **options)
    expected = list(expected) if hasattr(expected, "__next__") else expected
    graph._adj = Guarded(graph._adj)
    graph._node = Guarded(graph._node)
    found = function(graph, *args, **options, **({"backend": "outcore"} if is_named else {}))
    assert (list(found) if hasattr(found, "__next__") else found) == expected
    assert cached_conversion(graph) is None or not cached_conversion(graph).is_read


@pytest.mark.parametrize("name, args, options", FEW)
def test_few_searches_and_parts_are_left_to_networkx(name, args, options, by_priority):
    graph, function = nx.path_graph(100), getattr(nx, name)
    nx.pagerank(graph, backend="outcore")
    calls = cached_conversion(graph).calls.number
    for more in ({}, {"backend": "outcore"}):
        function(graph, *args, **options, **more)
    assert cached_conversion(graph).calls.number == calls
    # All rows, and few sources, are Outcore's.
    for key in options:
        assert backend.should_run(name, (graph, *args), {key: list(graph) if key == "nodelist" else False}) is True
    if args:
        assert backend.should_run(name, (graph, [3, 4]), {}) is True


def test_searches_from_every_node_of_a_graph_in_pieces_are_left_to_networkx(always, monkeypatch):
    runs, run = [], Conversion.run
    monkeypatch.setattr(Conversion, "run", lambda *args, **options: (runs.append(args[1]), run(*args, **options))[1])
    graph = nx.Graph((node, node + 1) for node in range(0, 200, 2))
    for name in ("harmonic_centrality", "global_efficiency", "all_pairs_dijkstra_path_length"):
        found, expected = (getattr(nx, name)(graph, **more) for more in ({"backend": "outcore"}, {}))
        assert kinds(found) == kinds(expected) and runs == ["connected_components"]
    graph.add_edges_from(nx.path_graph(200).edges)
    assert nx.global_efficiency(graph, backend="outcore") == pytest.approx(nx.global_efficiency(graph))
    assert runs == ["connected_components"] * 2 + ["all_pairs"]


@pytest.mark.parametrize("is_bipartite", [True, False])
def test_a_graph_of_many_parts_is_searched_once(is_bipartite, always, monkeypatch):
    graph = nx.disjoint_union_all([nx.cycle_graph(4), nx.path_graph(3), nx.empty_graph(1)] * 50)
    if not is_bipartite:
        graph.add_edge(40, 42)
    runs, run = [], Conversion.run
    monkeypatch.setattr(Conversion, "run", lambda *args, **options: (runs.append(args[1]), run(*args, **options))[1])
    assert nx.is_bipartite(graph, backend="outcore") is is_bipartite is nx.is_bipartite(graph)
    assert runs == ["connected_components"]


@pytest.mark.parametrize("is_bipartite", [True, False])
def test_an_image_of_many_parts_is_searched_once(is_bipartite, monkeypatch):
    # Circles of four nodes, in one of them a chord.
    first = np.arange(0, 80_000, 4)
    source = np.concatenate([first, first + 1, first + 2, first + 3, [42]])
    target = np.concatenate([first + 1, first + 2, first + 3, first, [41 if is_bipartite else 40]])
    graph = oc.load_graph((source, target), directed=False)
    monkeypatch.setattr(Converted, "run", lambda *args, **options: pytest.fail("a search for itself"))
    assert nx.is_bipartite(graph) is is_bipartite
    with pytest.raises(nx.NetworkXNotImplemented):
        nx.is_bipartite(oc.load_graph((source, target)))


def test_a_local_question_takes_few_steps(by_priority):
    graph, steps = nx.path_graph(100), []
    folder = str(pathlib.Path(outcore.networkx.__file__).parent)

    def look(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(folder):
            steps.append(frame.f_code.co_name)

    sys.setprofile(look)
    try:
        assert not nx.is_isolate(graph, 3)
    finally:
        sys.setprofile(None)
    assert steps == ["can_run", "should_run", "is_local"]


def test_the_first_layer_of_a_search_is_all_that_is_searched(by_priority):
    graph = nx.path_graph(100)
    nx.pagerank(graph, backend="outcore")
    for options in ({}, {"backend": "outcore"}):
        layers = nx.bfs_layers(graph, [50], **options)
        assert next(layers) == [50] and next(layers) == [49, 51]


def test_some_nodes_are_no_part_of_a_small_graph(by_priority):
    graph = nx.karate_club_graph()
    assert backend.should_run("clustering", (graph, list(graph)), {}) is True
    assert backend.should_run("clustering", (graph, [0, 1]), {}) is not True


def test_the_size_of_a_graph_is_found_without_counting_it():
    class Counted(dict):
        looks = 0

        def values(self):
            for row in super().values():
                Counted.looks += 1
                yield row

    graph = nx.gnm_random_graph(40_000, 60_000, seed=1)
    graph._adj = Counted(graph._adj)
    with nx.config.backends.outcore(min_edges=500):
        assert backend.should_run("pagerank", (graph,), {}) is True
        assert "min_edges" in backend.should_run("pagerank", (nx.path_graph(400),), {})
        for name, args in [("is_connected", ()), ("has_path", (0, 1)), ("clustering", (0,))]:
            assert backend.should_run(name, (graph, *args), {}) is not True
    assert Counted.looks < 1000


def test_edges_and_questions_in_turn_convert_nothing(by_priority, monkeypatch):
    made = []
    before = Conversion.__init__
    monkeypatch.setattr(Conversion, "__init__", lambda *args, **options: (made.append(1), before(*args, **options))[1])
    graph = nx.path_graph(300)
    for node in range(100):
        graph.add_edge(node, node + 150)
        assert nx.has_path(graph, node, 299) and nx.is_connected(graph)
        assert nx.shortest_path_length(graph, node, node + 150) == 1
    nx.connected_double_edge_swap(graph, 5, seed=1)
    assert not made


def test_a_graph_that_is_edited_between_calls_is_converted_once(by_priority):
    graph, conversions = nx.gnm_random_graph(200, 600, seed=1), set()
    for node in range(6):
        graph.add_edge(node, node + 100)
        with nx.config.backend_priority(algos=[], generators=[]):
            expected = nx.pagerank(graph)
        assert nx.pagerank(graph) == pytest.approx(expected)
        conversions.add(cached_conversion(graph))
    conversions.discard(None)
    assert len(conversions) == 1
    # From the second call without an edit on it is worth a conversion again.
    nx.pagerank(graph)
    assert cached_conversion(graph) not in {None, *conversions}
    # A function that takes far longer than a conversion is always worth one.
    graph.add_edge(0, 150)
    nx.betweenness_centrality(graph)
    assert cached_conversion(graph).is_read


@pytest.mark.parametrize("view", [lambda graph: graph.subgraph(range(20)), lambda graph: graph.copy(as_view=True)])
def test_views_are_converted_once_until_their_graph_changes(view, always):
    graph = nx.path_graph(30)
    seen = view(graph)
    assert nx.is_connected(seen, backend="outcore")
    first = cached_conversion(seen)
    assert first is not None and nx.number_connected_components(seen, backend="outcore") == 1
    assert cached_conversion(seen) is first
    graph.remove_edge(3, 4)
    assert nx.number_connected_components(seen, backend="outcore") == 2
    assert cached_conversion(seen) is not first


def test_filters_of_ones_own_may_change_at_any_time(always):
    graph, hidden = nx.path_graph(30), set()
    seen = nx.subgraph_view(graph, filter_node=lambda node: node not in hidden)
    assert nx.is_connected(seen, backend="outcore")
    hidden.add(7)
    assert not nx.is_connected(seen, backend="outcore")


EDITS = [
    lambda data: data.update(weight=data["weight"] * 1.5),
    lambda data: data.pop("weight"),
    lambda data: data.update(weight=7),
]


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_weights_that_are_edited_in_place_are_noticed(edit, kind, always):
    graph = kind()
    graph.add_weighted_edges_from((node, (3 * node + 1) % 20, 1.0 + node % 4) for node in range(20))
    if kind.is_directed(graph):
        graph.add_weighted_edges_from((other, node, 2.0) for node, other in nx.path_graph(20).edges)
    functions = [
        lambda **options: nx.single_source_dijkstra_path_length(graph, 0, **options),
        lambda **options: nx.pagerank(graph, **options),
        lambda **options: nx.shortest_path_length(graph, target=0, weight="weight", **options),
        lambda **options: nx.to_numpy_array(graph, **options).tolist(),
    ]
    for edge in itertools.islice(graph.edges, 6):
        for function in functions:
            expected = function()
            found = function(backend="outcore")
            assert found == (pytest.approx(expected) if isinstance(expected, dict) else expected)
        edit(graph.edges[edge])


def test_weights_that_are_given_later_are_noticed(always):
    graph = nx.path_graph(6)
    for factor in (None, 1.5, 2.0):
        if factor is not None:
            for *_, data in graph.edges(data=True):
                data["weight"] = factor
        found = nx.single_source_dijkstra_path_length(graph, 0, backend="outcore")
        assert found == nx.single_source_dijkstra_path_length(graph, 0)
        # Other edits leave what was made of the weights as it is.
        converted, image = cached_conversion(graph), cached_conversion(graph).graph
        for *_, data in graph.edges(data=True):
            data["colour"] = factor
        assert nx.single_source_dijkstra_path_length(graph, 0, backend="outcore") == found
        assert cached_conversion(graph) is converted and converted.graph is image


def test_weights_are_noticed_where_only_searches_against_directions_ran(always):
    graph = nx.path_graph(6, create_using=nx.DiGraph)
    for weight in (1, 2.5):
        for *_, data in graph.edges(data=True):
            data["weight"] = weight
        found = nx.shortest_path_length(graph, target=5, weight="weight", backend="outcore")
        assert found == nx.shortest_path_length(graph, target=5, weight="weight")


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_questions_between_the_edges_of_one_edit_see_the_edges_before(kind, always):
    graph = kind(nx.path_graph(5))
    graph.add_nodes_from([5, 6, 7])
    candidates = [(4, 5), (5, 6), (6, 7), (0, 7), (1, 7)]
    graph.add_edges_from(edge for edge in candidates if not nx.is_connected(graph, backend="outcore"))
    assert list(graph.edges())[-1] == (6, 7) and graph.number_of_edges() == 7
    graph.remove_edges_from(edge for edge in candidates if nx.is_connected(graph, backend="outcore"))
    assert graph.number_of_edges() == 6


def test_edits_that_fail_are_noticed(always):
    graph = nx.path_graph(9)
    view = graph.subgraph(range(20))
    for node in (9, 10):
        for seen in (graph, view):
            assert nx.number_connected_components(seen, backend="outcore") == 1
        with pytest.raises(nx.NetworkXError):
            graph.add_edges_from([(0, node), (1,)])
        for seen in (graph, view):
            found = nx.degree_centrality(seen, backend="outcore")
            assert found == nx.degree_centrality(seen) and (node in found) == (node in seen)


def test_a_shallow_copy_outlives_its_graph(always):
    graph = nx.path_graph(5)
    assert nx.is_connected(graph, backend="outcore")
    other = copy.copy(graph)
    del graph
    gc.collect()
    assert nx.is_connected(other, backend="outcore") and cached_conversion(other).original is other


def test_a_graph_that_is_not_cached_does_not_seem_edited(by_priority):
    graph = nx.gnm_random_graph(200, 600, seed=1)
    with nx.config(cache_converted_graphs=False):
        for _ in range(3):
            assert backend.should_run("pagerank", (graph,), {}) is True
            nx.pagerank(graph)


def test_conversions_end_with_the_edit_of_their_graph(always):
    graph = nx.path_graph(5)
    assert nx.is_connected(graph, backend="outcore")
    converted = weakref.ref(cached_conversion(graph))
    graph.add_edge(0, 9)
    gc.collect()
    assert converted() is None


def test_undirected_views_of_directed_graphs_are_left_to_networkx(by_priority):
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 1), ("b", "a", 5), ("b", "c", 1)])
    view = graph.to_undirected(as_view=True)
    for seen in (view, view.subgraph("abc"), nx.subgraph_view(view)):
        with pytest.raises(NotImplementedError) as caught:
            nx.single_source_dijkstra_path_length(seen, "b", backend="outcore")
        assert "an undirected view of a directed graph" in str(caught.value.__cause__)
        found = nx.single_source_dijkstra_path_length(seen, "b")
        assert found == nx.single_source_dijkstra_path_length.orig_func(seen, "b") == {"b": 0, "c": 1, "a": 5}


OPEN = [
    ("all_pairs_dijkstra_path_length", {}),
    ("all_pairs_dijkstra_path", {}),
    ("all_pairs_dijkstra", {}),
    ("all_pairs_bellman_ford_path_length", {}),
    ("all_pairs_bellman_ford_path", {}),
    ("shortest_path", {"weight": "weight"}),
    ("shortest_path_length", {"weight": "weight"}),
]


@pytest.mark.parametrize("name, options", OPEN)
@pytest.mark.parametrize("weight", [Decimal(2), math.inf, None, -1])
def test_networkx_goes_on_where_results_one_by_one_cannot_be_found(name, options, weight, by_priority):
    if weight == -1 and "bellman" not in name:
        options = options | {"method": "bellman-ford"} if options else options
    graph, function = nx.path_graph(5, create_using=nx.DiGraph), getattr(nx, name)
    nx.set_edge_attributes(graph, 2, "weight")
    graph.edges[2, 3]["weight"] = weight
    found, expected = (answer_of(function, graph, **options, **more) for more in ({}, {"backend": "networkx"}))
    assert found == expected
    with pytest.raises(NotImplementedError):
        list(function(graph, backend="outcore", **options))


def answer_of(function, graph, **options):
    try:
        return dict(function(graph, **options))
    except (TypeError, ValueError) as error:
        return str(error)


@pytest.mark.parametrize("error", [NotImplementedError, oc.MemoryLimitError])
def test_networkx_goes_on_behind_the_results_that_were_found(error, by_priority, monkeypatch):
    def interrupted(G):
        yield "first"
        yield "second"
        raise error("no more")

    monkeypatch.setitem(FUNCTIONS, "connected_components", interrupted)
    graph = nx.Graph([(0, 1), (2, 3), (4, 5)])
    nx.pagerank(graph, backend="outcore")
    assert list(nx.connected_components(graph)) == ["first", "second", {4, 5}]
    with pytest.raises(error, match="no more"):
        list(nx.connected_components(graph, backend="outcore"))


def kinds(value):
    """The kinds of the numbers of an answer, in its order."""
    if hasattr(value, "__next__"):
        value = list(value)
    if isinstance(value, dict):
        return [(key, kinds(one)) for key, one in value.items()]
    if isinstance(value, (list, tuple)):
        return [kinds(one) for one in value]
    return (type(value), value) if not isinstance(value, float) else (float, pytest.approx(value))


def weighted(choice, directed=False):
    graph = nx.gnm_random_graph(16, 40, seed=4, directed=directed)
    graph.add_nodes_from(["alone"])
    for place, edge in enumerate(graph.edges):
        weight = choice(place)
        if weight is not None:
            graph.edges[edge]["weight"] = weight
    return graph


WEIGHTS = {
    "whole": lambda place: 1 + place % 4,
    "whole reals": lambda place: 1.0 + place % 4,
    "reals": lambda place: 0.5 + place % 4,
    "some whole": lambda place: 1 + place % 4 if place % 3 else 2.0,
    "some missing": lambda place: 2.0 if place % 3 else None,
    "some zero": lambda place: float(place % 3),
    "of NumPy": lambda place: np.float64(1 + place % 4),
    "whole of NumPy": lambda place: np.int64(1 + place % 4),
    "none": lambda place: None,
}


@pytest.mark.parametrize("choice", WEIGHTS)
@pytest.mark.parametrize("directed", [False, True])
def test_distances_and_paths_are_those_of_networkx_in_kind_and_order(choice, directed, always):
    graph = weighted(WEIGHTS[choice], directed)
    for name, args, options in [
        ("single_source_dijkstra", (3,), {}),
        ("single_source_dijkstra_path_length", (3,), {}),
        ("single_source_dijkstra_path", (3,), {}),
        ("multi_source_dijkstra_path_length", ([5, 3],), {}),
        ("all_pairs_dijkstra", (), {}),
        ("all_pairs_dijkstra_path_length", (), {}),
        ("shortest_path_length", (), {"source": 3, "weight": "weight"}),
        ("shortest_path_length", (), {"target": 3, "weight": "weight"}),
        ("shortest_path", (), {"target": 3, "weight": "weight"}),
        ("all_pairs_shortest_path", (), {}),
        ("all_pairs_shortest_path_length", (), {}),
        ("harmonic_centrality", (), {"distance": "weight"}),
        ("closeness_centrality", (), {"distance": "weight"}),
    ]:
        function = getattr(nx, name)
        if "distance" in options and choice.endswith("of NumPy"):
            # Their sums are numbers of NumPy.
            with pytest.raises(NotImplementedError):
                function(graph, *args, **options, backend="outcore")
            continue
        found, expected = (kinds(function(graph, *args, **options, **more)) for more in ({"backend": "outcore"}, {}))
        assert found == expected, name


@pytest.mark.parametrize("choice", WEIGHTS)
def test_the_farthest_distances_are_those_of_networkx_in_kind(choice, always):
    graph = weighted(WEIGHTS[choice])
    graph.remove_node("alone")
    assert nx.is_connected(graph)
    for name, args in [
        ("eccentricity", ()), ("eccentricity", (3,)), ("diameter", ()), ("radius", ()), ("center", ()),
        ("periphery", ()),
    ]:  # fmt: skip
        found, expected = (kinds(getattr(nx, name)(graph, *args, weight="weight", **more))
                           for more in ({"backend": "outcore"}, {}))  # fmt: skip
        assert found == expected, name
    try:
        found = nx.bellman_ford_path_length(graph, 3, 0, backend="outcore")
    except NotImplementedError:
        assert choice in ("some whole", "some missing", "of NumPy", "whole of NumPy")
    else:
        assert kinds(found) == kinds(nx.bellman_ford_path_length(graph, 3, 0))


@pytest.mark.parametrize("choice", WEIGHTS)
def test_matrices_have_the_numbers_of_networkx(choice, always):
    graph = weighted(WEIGHTS[choice])
    for function in (nx.to_scipy_sparse_array, nx.adjacency_matrix, nx.laplacian_matrix):
        for nodes in (None, [3, 1, 4, 1 + 4, 9], ["alone"]):
            found, expected = (function(graph, nodelist=nodes, **more) for more in ({"backend": "outcore"}, {}))
            assert found.dtype == expected.dtype and (found != expected).nnz == 0
    if choice == "whole reals":
        scaled = nx.to_scipy_sparse_array(graph, backend="outcore")
        scaled.data[:] = scaled.data / 4
        assert 0 < scaled.max() == 1.0


def test_strong_components_are_in_the_order_of_networkx(always):
    for seed in range(8):
        graph = nx.gnm_random_graph(40, 60, seed=seed, directed=True)
        for function in (
            nx.strongly_connected_components, nx.kosaraju_strongly_connected_components, nx.attracting_components
        ):  # fmt: skip
            assert list(function(graph, backend="outcore")) == list(function(graph)), function.__name__
        order = {node: place for place, nodes in enumerate(nx.strongly_connected_components(graph, backend="outcore"))
                 for node in nodes}  # fmt: skip
        assert all(order[source] >= order[target] for source, target in graph.edges)


def test_parts_of_graphs_have_their_nodes_in_the_order_of_networkx(always):
    graph = nx.gnm_random_graph(60, 150, seed=2)
    for radius in (1, 2, 3):
        found, expected = (nx.ego_graph(graph, 7, radius, **more) for more in ({"backend": "outcore"}, {}))
        assert list(found) == list(expected) and list(found.edges) == list(expected.edges)


def test_a_search_along_a_path_and_one_of_wide_levels_find_the_same(always):
    for graph in (nx.path_graph(400), nx.star_graph(400), nx.gnm_random_graph(400, 1200, seed=1), nx.wheel_graph(60)):
        found, expected = (dict(nx.all_pairs_shortest_path(graph, **more)) for more in ({"backend": "outcore"}, {}))
        assert [list(paths.items()) for paths in found.values()] == [list(paths.items()) for paths in expected.values()]


def test_centroids_are_those_of_the_networkx_that_is_installed(always):
    tree, ring = nx.star_graph(4), nx.cycle_graph(5)
    tree.add_edges_from([(4, 5), (5, 6), (6, 7), (7, 8)])
    assert nx.barycenter(tree, backend="outcore") == nx.barycenter(tree)
    # That of trees is another function, whatever its name.
    with nx.config.backend_priority(algos=["outcore"]):
        assert nx.tree.centroid(tree) == nx.tree.centroid.orig_func(tree)
        with pytest.raises(nx.NotATree):
            nx.tree.centroid(ring)
    with pytest.raises(NotImplementedError):
        nx.tree.centroid(ring, backend="outcore")
    if hasattr(nx, "centroid"):
        assert nx.centroid(ring, backend="outcore") == nx.centroid(ring)


def test_a_cached_conversion_warns_of_nothing(tmp_path):
    script = (
        "import networkx as nx\n"
        "graph = nx.gnm_random_graph(300, 900, seed=1)\n"
        "nx.config.backends.outcore.min_edges = 0\n"
        "for _ in range(3):\n"
        "    nx.pagerank(graph, backend='outcore')\n"
        "with nx.config.backend_priority(algos=['outcore']):\n"
        "    nx.pagerank(graph)\n"
        "    nx.core_number(graph)\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, cwd=tmp_path)


WRONG = [
    ("average_clustering", (3,), {}),
    ("average_clustering", ((0, 1),), {}),
    ("clustering", ([[0]],), {}),
    ("average_neighbor_degree", (), {"nodes": 3}),
    ("shortest_path", (), {"source": 99, "weight": "weight"}),
    ("shortest_path", (), {"method": "nonsense"}),
    ("shortest_path_length", (0, "alone"), {"weight": "weight"}),
    ("single_source_dijkstra", (99,), {}),
    ("single_source_bellman_ford", (99,), {}),
    ("bellman_ford_path", (0, "alone"), {}),
    ("multi_source_dijkstra_path_length", ([0, 99],), {}),
    ("multi_source_dijkstra_path_length", ([],), {}),
    ("diameter", (), {}),
    ("eccentricity", ([[0]],), {}),
    ("average_shortest_path_length", (), {}),
    ("barycenter", (), {}),
    ("katz_centrality", (), {"beta": {0: 1}}),
    ("eigenvector_centrality", (), {"nstart": dict.fromkeys(range(16), 0)}),
    ("group_closeness_centrality", ([99],), {}),
    ("to_numpy_array", (), {"nodelist": [99]}),
    ("laplacian_matrix", (), {"nodelist": [0, 0]}),
    ("pagerank", (), {"personalization": {99: 1}}),
    ("harmonic_centrality", (99,), {}),
]


@pytest.mark.parametrize("name, args, options", WRONG)
def test_errors_have_the_texts_of_networkx(name, args, options, always):
    graph, function, found = weighted(WEIGHTS["reals"]), getattr(nx, name), []
    for more in ({"backend": "outcore"}, {}):
        with pytest.raises(Exception) as caught:
            answer = function(graph, *args, **options, **more)
            list(answer)
        # A traceback has no error of Outcore's before that of NetworkX.
        found.append([(type(error), str(error)) for error in chain_of(caught.value)])
    assert found[0] == found[1]


def chain_of(error):
    """An error and those that it was raised from, or while they were handled."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def test_images_refuse_a_single_node_where_networkx_wants_several():
    image = oc.load_graph([(0, 1), (1, 2), (0, 2)], directed=False)
    for function in (nx.average_clustering, nx.average_neighbor_degree):
        with pytest.raises(nx.NetworkXError, match="the single node 1"):
            function(image, nodes=1)
        assert function(image, nodes=[1]) is not None


def test_options_that_networkx_does_not_have_are_refused_by_networkx(always):
    graph = nx.karate_club_graph()
    for function in (nx.pagerank, nx.has_path):
        with pytest.raises((TypeError, NotImplementedError)):
            function(graph, nonsense=1, backend="outcore")
    assert math.isclose(sum(nx.pagerank(graph, backend="outcore").values()), 1)


def test_small_graphs_are_left_to_networkx_by_measured_sizes():
    assert set(LEAST) <= set(FUNCTIONS)
    small, large = nx.cycle_graph(100), nx.cycle_graph(20_000)
    for graph in (small, large):
        nx.pagerank(graph, backend="outcore")
        assert cached_conversion(graph).is_read
    assert backend.should_run("is_connected", (large,), {}) is True
    assert "size" in backend.should_run("is_connected", (small,), {})
    # So it is where the backend is named.
    converted = cached_conversion(small)
    calls = converted.calls.number
    assert nx.is_connected(small, backend="outcore") and converted.calls.number == calls
    with nx.config.backends.outcore(min_edges=0):
        assert nx.is_connected(small, backend="outcore") and converted.calls.number == calls + 1
