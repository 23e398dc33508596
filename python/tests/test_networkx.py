"""The backend of NetworkX: the same answers from its functions, from graphs of both kinds."""

import copy
import gc
import inspect
import itertools
import logging
import math
import os
import pickle
import subprocess
import sys
import weakref

import networkx as nx
import numpy as np
import pytest

import _outcore_networkx
import outcore as oc
from outcore.networkx import backend
from outcore.networkx._graph import Conversion, cached_conversion
from outcore.networkx._registry import FUNCTIONS


def named(name):
    """A function of NetworkX, if it has it."""
    return getattr(nx, name, None) or getattr(nx.community, name, None)


# Those that this NetworkX has.
NAMES = sorted(name for name in FUNCTIONS if named(name) is not None)
# What yields sets, whose order is another one.
SETS = {name for name in NAMES if name.endswith("_components") and not name.startswith("number")}
# What needs other arguments than a graph.
SOURCES = {"source", "target", "n", "u"}


@pytest.fixture(autouse=True)
def small_graphs_are_not_left_to_networkx():
    with nx.config.backends.outcore(min_edges=0):
        yield


def graphs():
    """Random and particular graphs, with nodes of all kinds, each under a name."""
    made = {
        "empty": nx.Graph(),
        "empty directed": nx.DiGraph(),
        "one": nx.empty_graph(1),
        "isolated": nx.empty_graph(5),
        "loops": nx.Graph([(0, 0), (0, 1), (2, 2)]),
        "directed loops": nx.DiGraph([(0, 0), (0, 1), (1, 0), (2, 2)]),
        "path": nx.path_graph(7),
        "directed path": nx.path_graph(7, create_using=nx.DiGraph),
        "cycle": nx.cycle_graph(6),
        "star": nx.star_graph(6),
        "two hubs": nx.Graph([("a", i) for i in range(8)] + [("b", i) for i in range(8)]),
        "karate": nx.karate_club_graph(),
        "tree": nx.balanced_tree(2, 3),
        "disconnected": nx.Graph([(0, 1), (1, 2), (3, 4)]),
        "tournament": nx.DiGraph([(i, j) for i in range(5) for j in range(i)]),
        "multi": nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 2)]),
        "directed multi": nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 0), (2, 0)]),
        "tuples": nx.grid_2d_graph(3, 4),
    }
    rng = np.random.default_rng(5)
    for place in range(6):
        graph = nx.gnm_random_graph(14, 26, seed=place, directed=place % 2 == 1)
        graph = nx.relabel_nodes(graph, dict(zip(graph, rng.permutation(14).tolist())))
        for edge in graph.edges:
            # Whole numbers, real ones, and real ones that are whole.
            weight = int(rng.integers(1, 9)) if place < 3 else float(rng.random())
            graph.edges[edge]["weight"] = weight if place < 5 else float(rng.integers(1, 9))
        made[f"random {place}"] = graph
    return made


GRAPHS = graphs()


def arguments(name, graph):
    """The arguments of some calls of a function: the required ones, once with the weights of edges."""
    parameters = list(inspect.signature(FUNCTIONS[name]).parameters.values())[1:]
    nodes = list(graph)
    required = [parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty]
    values = {"k": 2, "S": nodes[1:3], "nodes": nodes[:2], "distance": 2, "sources": nodes[:2], "ebunch": None,
              "name": "weight", "communities": [set(nodes[::2]), set(nodes[1::2])]}
    if any(one in SOURCES for one in required) and not nodes:
        return []
    values |= {one: nodes[(3 * place) % len(nodes)] for place, one in enumerate(SOURCES) if nodes}
    calls = [{one: values[one] for one in required}]
    for weight in ("weight", "distance"):
        if any(parameter.name == weight and parameter.default is None for parameter in parameters):
            calls.append(calls[0] | {weight: "weight"})
    if "nodes" in (parameter.name for parameter in parameters) and nodes:
        calls += [calls[0] | {"nodes": nodes[:3]}, calls[0] | {"nodes": nodes[0]}]
    if "cutoff" in (parameter.name for parameter in parameters):
        calls.append(calls[0] | {"cutoff": 2})
    return calls


def answer(call):
    """What a call returns, read to its end, or the kind of its error."""
    try:
        found = call()
        return list(found) if hasattr(found, "__next__") else found
    except NotImplementedError:
        raise
    except Exception as error:
        return type(error)


def length_of(graph, path, weight):
    """The length of a path; an error if it is none."""
    steps = [graph.get_edge_data(one, other) for one, other in zip(path, path[1:])]
    if graph.is_multigraph():
        steps = [min(parallel.values(), key=lambda data: data.get(weight, 1)) for parallel in steps]
    return sum(data.get(weight, 1) for data in steps)


def same(one, other):
    """Whether two answers are the same, real numbers but for rounding."""
    if isinstance(one, type) or isinstance(other, type):
        return one is other
    if isinstance(one, float) or isinstance(other, float):
        close = math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
        return close or (math.isnan(one) and math.isnan(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "toarray"):
        return type(one) is type(other) and one.dtype == other.dtype and (one != other).nnz == 0
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, oc.Graph):
        # Of an image a part is a graph in memory.
        part = other.__class__()
        part.add_nodes_from(one.nodes())
        part.add_weighted_edges_from(one.edges(weights=True))
        one = part
    if isinstance(one, nx.Graph):
        return nx.utils.graphs_equal(one, other)
    return one == other


def kinds(value):
    """The kinds of what an answer consists of."""
    if isinstance(value, dict):
        return {key: kinds(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(kinds, value))
    return type(value)


def lengths(graph, found, weight):
    """Paths as their lengths, for there may be several shortest ones."""
    if isinstance(found, list) and all(node in graph for node in found):
        return length_of(graph, found, weight)
    if isinstance(found, dict):
        return {node: lengths(graph, path, weight) for node, path in found.items()}
    if isinstance(found, (list, tuple)):
        return [lengths(graph, one, weight) for one in found]
    return found


def compared(name, graph, found, options):
    """An answer in a form in which its order does not matter where it does not for users."""
    if isinstance(found, type):
        return found
    if name in SETS:
        return sorted(map(sorted, ([map(str, nodes) for nodes in found])))
    is_of_pairs = isinstance(found, list) and all(isinstance(one, tuple) for one in found)
    if name.startswith(("all_pairs", "shortest_path")) and is_of_pairs:
        found = dict(found)
    if name == "label_propagation_communities":
        return sorted(sorted(map(str, nodes)) for nodes in found)
    if name in ("topological_sort", "topological_generations", "minimum_spanning_edges", "maximum_spanning_edges"):
        # Images have another order, and trees are compared in tests of their own.
        return len(found)
    if name == "bfs_edges":
        return {child for _, child in found}
    if name == "edge_betweenness_centrality" and not graph.is_directed():
        return {frozenset(edge): value for edge, value in found.items()}
    if name == "get_edge_attributes" and not graph.is_directed():
        return {frozenset(edge[:2]): value for edge, value in found.items()} if not graph.is_multigraph() else found
    if name == "bfs_layers":
        return [set(layer) for layer in found]
    if name in ("isolates", "center", "periphery", "centroid", "barycenter"):
        return sorted(map(str, found))
    if "path" in name and "length" not in name or name in ("single_source_dijkstra", "bidirectional_dijkstra",
                                                            "all_pairs_dijkstra", "single_source_bellman_ford"):
        weight = options.get("weight", "weight" if "dijkstra" in name or "bellman" in name else None)
        return lengths(graph, found, weight)
    if name in ("jaccard_coefficient", "adamic_adar_index", "resource_allocation_index", "preferential_attachment"):
        return {frozenset((u, v)): score for u, v, score in found}
    return found


def is_hits_unique(graph):
    """Whether the greatest singular value is there once: otherwise any vector of several dimensions will do."""
    values = np.linalg.svd(nx.to_numpy_array(graph), compute_uv=False) if len(graph) > 1 else [1, 1]
    return values[0] - values[1] > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_every_function_answers_as_networkx_does(name):
    function, ran = named(name), 0
    for kind, graph in GRAPHS.items():
        for options in arguments(name, graph):
            if name == "hits" and not is_hits_unique(graph):
                continue
            expected = answer(lambda: function(graph, **options))
            if isinstance(expected, type) and issubclass(expected, (AttributeError, TypeError)):
                # It is no call that NetworkX means to answer.
                continue
            try:
                found = answer(lambda: function(graph, backend="outcore", **options))
            except NotImplementedError:
                continue
            ran += 1
            one, other = (compared(name, graph, value, options) for value in (found, expected))
            assert same(one, other) and kinds(one) == kinds(other), (kind, options, found, expected)
    assert ran >= 3, "it was hardly ever run"


def test_names_are_those_that_networkx_is_told():
    assert set(_outcore_networkx.get_info()["functions"]) == set(FUNCTIONS) == set(NAMES) and len(FUNCTIONS) >= 100
    for name in NAMES:
        function, original = FUNCTIONS[name], named(name)
        own, theirs = (inspect.signature(one).parameters for one in (function, original.orig_func))
        # Options of the newest NetworkX that are given by name are not known to an older one.
        own = [one for one in own.values() if one.name in theirs or one.kind is not inspect.Parameter.KEYWORD_ONLY]
        assert [(one.name, one.default) for one in own] == [(one.name, one.default) for one in theirs.values()]
        assert "outcore" in original.backends


def test_networkx_imports_nothing_native():
    script = (
        "import sys, networkx as nx; assert 'outcore' in nx.utils.backends.backend_info; "
        "assert not any(name.split('.')[0] == 'outcore' for name in sys.modules); "
        "assert 'scipy' not in sys.modules and 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("order", ["input", "degree"])
def test_images_are_graphs_of_networkx(make, directed, order):
    plain = nx.gnm_random_graph(40, 110, seed=2, directed=directed)
    plain = nx.relabel_nodes(plain, {node: f"n{node * 7 % 40}" for node in plain})
    for place, edge in enumerate(plain.edges):
        plain.edges[edge]["weight"] = 1 + place * 7 % 11
    g = make(plain, order=order)
    ran = []
    for name in NAMES:
        function = named(name)
        for options in arguments(name, plain):
            expected = answer(lambda: function(plain, **options))
            if isinstance(expected, type) and issubclass(expected, (AttributeError, TypeError)):
                continue
            found = answer(lambda: function(g, **options))
            if found is nx.NetworkXNotImplemented is not expected:
                continue
            one, other = (compared(name, plain, value, options) for value in (found, expected))
            if name.endswith("_matrix") or name in ("to_scipy_sparse_array", "to_numpy_array"):
                # Rows are in the order of the image.
                one, other = (value.sum() for value in (one, other))
            assert same(one, other), (name, options, found, expected)
            ran.append(name)
    assert len(set(ran)) > (60 if directed else 75)


def test_an_image_is_never_a_dict_of_dicts(make):
    g = make([(0, 1), (1, 2)])
    with nx.config(fallback_to_nx=True), pytest.raises(NotImplementedError):
        nx.dag_longest_path(g)
    with pytest.raises(NotImplementedError):
        nx.dag_longest_path(g)
    with pytest.raises(NotImplementedError, match="dict of dicts"):
        backend.convert_to_nx(g)
    assert backend.convert_from_nx(g) is g


def test_a_conversion_is_made_once_and_again_after_a_change():
    graph = nx.karate_club_graph()
    first = nx.pagerank(graph, backend="outcore")
    converted = cached_conversion(graph)
    assert isinstance(converted, Conversion) and converted.graph.path is None
    image = converted.graph
    assert nx.pagerank(graph, backend="outcore") == first
    assert cached_conversion(graph) is converted and converted.graph is image
    graph.add_edge(0, 33, weight=5)
    assert nx.pagerank(graph, backend="outcore") != first
    assert cached_conversion(graph) is not converted
    with nx.config(cache_converted_graphs=False):
        graph.__networkx_cache__.clear()
        assert nx.core_number(graph, backend="outcore") and cached_conversion(graph) is None


def test_parts_of_graphs_have_their_attributes():
    graph = nx.karate_club_graph()
    known = nx.core_number(graph, backend="outcore")
    converted = cached_conversion(graph)
    parts = [
        (nx.k_core, {}), (nx.k_core, {"k": 3}), (nx.k_shell, {}), (nx.k_shell, {"k": 2, "core_number": known}),
        (nx.k_crust, {}), (nx.k_crust, {"k": 1}), (nx.k_corona, {"k": 2}),
        (nx.k_corona, {"k": 3, "core_number": known}), (nx.ego_graph, {"n": 5}),
        (nx.ego_graph, {"n": 0, "radius": 2, "center": False}), (nx.ego_graph, {"n": 0, "radius": 0}),
    ]
    for function, options in parts:
        found, expected = function(graph, backend="outcore", **options), function(graph, **options)
        assert type(found) is nx.Graph and list(found) == list(expected)
        assert nx.utils.graphs_equal(found, expected)
    # No conversion of their own was made. Weights are read when they are asked for.
    assert cached_conversion(graph) is converted and not converted.adjacency.attributes
    for place, edge in enumerate(graph.edges):
        graph.edges[edge]["cost"] = 0.5 + place % 4
    near = {"n": 33, "radius": 4, "distance": "cost"}
    assert nx.utils.graphs_equal(nx.ego_graph(graph, backend="outcore", **near), nx.ego_graph(graph, **near))
    for weight in ("weight", "cost", "nothing", None):
        found = nx.single_source_dijkstra_path_length(graph, 0, weight=weight, backend="outcore")
        assert found == nx.single_source_dijkstra_path_length(graph, 0, weight=weight)
    assert set(converted.adjacency.attributes) == {"weight", "cost", "nothing"}
    assert cached_conversion(graph) is converted


def test_graphs_with_neighbours_of_their_own_are_left_to_networkx():
    class Reversed(nx.DiGraph):
        def neighbors(self, node):
            return super().predecessors(node)

    class Named(nx.DiGraph):
        label = "links"

    with pytest.raises(NotImplementedError):
        nx.core_number(Reversed([(0, 1)]), backend="outcore")
    assert nx.core_number(Named([(0, 1)]), backend="outcore") == {0: 1, 1: 1}
    # NetworkX's approximation has a complement that stores the edges that it has not.
    graph = nx.karate_club_graph()
    expected = nx.approximation.k_components(graph)
    with nx.config.backend_priority(algos=["outcore"]), nx.config.backends.outcore(min_edges=0):
        assert nx.approximation.k_components(nx.Graph(graph)) == expected


def test_iterators_keep_the_graph_that_they_read():
    graph = nx.karate_club_graph()
    expected = dict(nx.all_pairs_dijkstra_path_length(graph))
    lengths = nx.all_pairs_dijkstra_path_length(graph, backend="outcore")
    reference = weakref.ref(graph)
    del graph
    gc.collect()
    assert dict(lengths) == expected
    del lengths
    gc.collect()
    assert reference() is None, "a conversion holds its graph"


def test_graphs_with_conversions_are_copied_pickled_and_forked():
    graph = nx.karate_club_graph()
    expected = nx.pagerank(graph, backend="outcore")
    for other in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), graph.copy()):
        assert nx.pagerank(other, backend="outcore") == expected
    # A fork finds the conversion of its parent, and makes one of its own.
    script = (
        "import os, networkx as nx\n"
        "graph = nx.karate_club_graph()\n"
        "expected = nx.pagerank(graph, backend='outcore')\n"
        "with nx.config.backends.outcore(memory='64MiB'):\n"
        "    nx.triangles(graph, backend='outcore')\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        other = nx.triangles(nx.path_graph(4), backend='outcore')\n"
        "        os._exit(not (nx.pagerank(graph, backend='outcore') == expected and other[0] == 0))\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=120)


def test_priorities_and_sizes_decide_who_runs(caplog):
    small, large = nx.karate_club_graph(), nx.gnm_random_graph(3000, 12_000, seed=1)
    caplog.set_level(logging.DEBUG, logger="networkx")
    settings = nx.config.backends.outcore
    with nx.config.backend_priority(algos=["outcore"]), settings(min_edges=10_000):
        nx.triangles(small)
        assert "quick with a graph of this size" in caplog.text
        nx.pagerank(small)
        assert "fewer than 10000 edges" in caplog.text and "min_edges" in caplog.text
        assert cached_conversion(small) is None
        caplog.clear()
        nx.number_connected_components(large)
        assert "converting the graph takes as long" in caplog.text
        caplog.clear()
        found = nx.triangles(large)
        assert cached_conversion(large).is_read
        # Now that it is converted, quick functions are run too.
        caplog.clear()
        nx.number_connected_components(large)
        assert "Using backend 'outcore' for call to 'number_connected_components'" in caplog.text
        with settings(min_edges=0):
            nx.core_number(small)
        assert cached_conversion(small).is_read
    assert found == nx.triangles.orig_func(large)


def test_reasons_are_logged_and_raised(caplog):
    graph = nx.karate_club_graph()
    caplog.set_level(logging.DEBUG, logger="networkx")
    with pytest.raises(NotImplementedError):
        nx.clustering(graph, weight="weight", backend="outcore")
    assert "weight= is not supported" in caplog.text
    caplog.clear()
    with nx.config.backend_priority(algos=["outcore"]):
        nx.average_clustering(graph, weight="weight")
    assert "shouldn't run" in caplog.text and "weight= is not supported" in caplog.text
    for name, args, options, reason in [
        ("pagerank", (graph,), {"nstart": {0: 1}}, "nstart="),
        ("dijkstra_path", (graph, 0, 1), {"weight": lambda u, v, d: 1}, "a function"),
        ("transitivity", (nx.DiGraph([(0, 1)]),), {}, "directed"),
        ("triangles", (nx.MultiGraph([(0, 1)]),), {}, "multigraphs"),
    ]:
        with pytest.raises(NotImplementedError) as caught:
            getattr(nx, name)(*args, **options, backend="outcore")
        assert reason in str(caught.value.__cause__)
    negative = nx.Graph()
    negative.add_weighted_edges_from([(0, 1, -1), (1, 2, 4)])
    with pytest.raises(NotImplementedError):
        nx.single_source_bellman_ford_path_length(nx.DiGraph(negative), 0, backend="outcore")
    for weight in (math.nan, math.inf, "heavy", 2**70, None):
        odd = nx.Graph([(0, 1, {"weight": weight})])
        with pytest.raises(NotImplementedError) as caught:
            nx.pagerank(odd, backend="outcore")
        assert "weight" in str(caught.value.__cause__)


def test_errors_are_those_of_networkx():
    graph = nx.path_graph(4)
    graph.add_node(9)
    for function, args, kind in [
        (nx.single_source_shortest_path_length, (17,), nx.NodeNotFound),
        (nx.single_source_dijkstra, (17,), nx.NodeNotFound),
        (nx.shortest_path, (0, 9), nx.NetworkXNoPath),
        (nx.dijkstra_path, (0, 9), nx.NetworkXNoPath),
        (nx.descendants, (17,), nx.NetworkXError),
        (nx.diameter, (), nx.NetworkXError),
        (nx.eccentricity, ([], ), None),
    ]:
        if kind is None:
            assert function(graph, *args, backend="outcore") == {}
            continue
        with pytest.raises(kind):
            function(graph, *args, backend="outcore")
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(nx.karate_club_graph(), max_iter=2, backend="outcore")


def test_memory_and_threads_are_those_of_the_configuration():
    graph = nx.gnm_random_graph(50_000, 200_000, seed=1)
    with nx.config.backends.outcore(memory="24MiB", threads=1), pytest.raises(oc.MemoryLimitError):
        nx.betweenness_centrality(graph, k=2, seed=1, backend="outcore")
    graph.__networkx_cache__.clear()
    with nx.config.backends.outcore(memory="256MiB", threads=1):
        assert nx.number_connected_components(graph, backend="outcore") == nx.number_connected_components(graph)


# The parts of NetworkX's own tests that reach the backend most, within half a minute. All of the focused suite is run
# for docs/networkx.md, by bench/networkx_suite.py.
OWN_TESTS = [
    "networkx.algorithms.link_analysis", "networkx.algorithms.centrality", "networkx.algorithms.components",
    "networkx.algorithms.shortest_paths", "networkx.algorithms.traversal", "networkx.algorithms.tests.test_core",
    "networkx.algorithms.tests.test_cluster", "networkx.algorithms.tests.test_distance_measures",
    "networkx.algorithms.tests.test_reciprocity", "networkx.algorithms.tests.test_link_prediction", "networkx.linalg",
    "networkx.algorithms.tests.test_dag", "networkx.algorithms.community",
]


# Runs pytest, and counts the functions of the backend that answered: the tests would pass with NetworkX alone.
COUNTED = """
import sys

import pytest

answered = set()


def counted(name, function):
    def call(*args, **options):
        found = function(*args, **options)
        answered.add(name)
        return found

    return call


class Counter:
    def pytest_configure(self):
        from outcore.networkx._registry import FUNCTIONS

        for name, function in FUNCTIONS.items():
            FUNCTIONS[name] = counted(name, function)


status = pytest.main(sys.argv[1:], plugins=[Counter()])
print(len(answered), "functions answered")
sys.exit(status)
"""


def test_the_tests_of_networkx_pass(scratch):
    environment = {"NETWORKX_TEST_BACKEND": "outcore", "NETWORKX_FALLBACK_TO_NX": "True"}
    command = [sys.executable, "-c", COUNTED, "-q", "-p", "no:cacheprovider", "-k", "not use_bounds_on_off"]
    command += ["--pyargs", *OWN_TESTS]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout and " xfailed" not in done.stdout
    assert int(done.stdout.split()[-3]) > 50, done.stdout[-3000:]


def test_searches_against_directions_are_made_of_graphs_in_memory():
    plain = nx.relabel_nodes(nx.gnm_random_graph(30, 70, seed=4, directed=True), lambda node: f"v{node}")
    for place, edge in enumerate(plain.edges):
        plain.edges[edge]["weight"] = 0.5 + place % 5
    for order in ("input", "degree"):
        g = oc.load_graph(plain, order=order)
        for node in list(plain)[:5]:
            assert nx.ancestors(g, node) == nx.ancestors(plain, node)
            found = nx.shortest_path_length(g, target=node, weight="weight")
            assert found == nx.shortest_path_length(plain, target=node, weight="weight")


@pytest.mark.parametrize("directed", [False, True])
def test_ego_nets_of_images(make, directed):
    plain = nx.relabel_nodes(nx.gnm_random_graph(60, 110, seed=4, directed=directed), lambda node: f"v{node}")
    for place, edge in enumerate(plain.edges):
        # Edges both ways weigh as much.
        plain.edges[edge]["weight"] = 0.5 + (sum(map(ord, "".join(edge))) % 5 if directed else place % 5)
    cases = list(itertools.product((0, 1, 2.5, math.inf), (False, True), (None, "weight", "nothing")))
    for g in (make(plain), oc.load_graph(plain)):
        for place, (radius, undirected, distance) in enumerate(cases):
            options = {"undirected": undirected, "distance": distance, "center": place % 4 > 0}
            found, expected = (nx.ego_graph(one, "v7", radius, **options) for one in (g, plain))
            assert sorted(found) == sorted(expected), (radius, options)
            edges = sorted(found.edges(weights=True))
            assert len(edges) == expected.number_of_edges(), (radius, options)
            assert all(plain.edges[source, target]["weight"] == weight for source, target, weight in edges)
        with pytest.raises(nx.NodeNotFound, match="Source nobody is not in G"):
            nx.ego_graph(g, "nobody", undirected=True)
    # Of a graph of NetworkX it is NetworkX's own.
    found, expected = (nx.ego_graph(plain, "v7", undirected=True, **more) for more in ({"backend": "outcore"}, {}))
    assert nx.utils.graphs_equal(found, expected)


def test_the_lighter_of_two_opposite_edges_counts_in_an_ego_net():
    g = oc.load_graph([("a", "b", 5.0), ("b", "a", 2.0), ("c", "b", 1.0), ("c", "d", -1.0)])
    near = {"undirected": True, "distance": "weight"}
    assert [sorted(nx.ego_graph(g, "a", radius, **near)) for radius in (1, 2, 2.5)] == [["a"], ["a", "b"], ["a", "b"]]
    # With the lists of c a weight below 0 is read.
    with pytest.raises(nx.NetworkXNotImplemented, match="ego_graph of an outcore.Graph: negative weights"):
        nx.ego_graph(g, "a", 3, **near)
    assert sorted(nx.ego_graph(g, "a", 1, undirected=True, center=False)) == ["b"]
