"""What NetworkX does around calls of the backend: views, settings, and memory that does not suffice."""

import inspect
import logging
import pathlib
import pickle
import re
import subprocess
import sys
import tomllib

import networkx as nx
import pytest

import outcore as oc
from _outcore_networkx import OLDEST
from outcore.networkx._registry import _LIMITS, _OPTIONS, FUNCTIONS


@pytest.mark.parametrize(
    "view",
    [
        lambda graph: graph.subgraph([0, 1, 2]),
        lambda graph: graph.subgraph([0, 1, 2]).subgraph([0, 1]),
        lambda graph: nx.subgraph_view(graph, filter_edge=lambda u, v: u + v < 6),
        lambda graph: graph.edge_subgraph([(0, 1), (1, 2)]),
        lambda graph: graph.to_directed(as_view=True),
        lambda graph: nx.reverse_view(graph.to_directed(as_view=True)),
        lambda graph: graph.copy(as_view=True),
    ],
)
def test_views_are_converted_as_they_are_now(view):
    graph = nx.path_graph(4)
    seen = view(graph)
    connected = nx.is_weakly_connected if seen.is_directed() else nx.is_connected
    assert connected(seen, backend="outcore") is True
    graph.remove_edge(0, 1)
    assert connected(seen) is False and connected(seen, backend="outcore") is False
    graph.add_edge(0, 1, weight=7)
    lengths = nx.single_source_dijkstra_path_length(seen, 0, backend="outcore")
    assert lengths == nx.single_source_dijkstra_path_length(seen, 0)
    # The graph itself keeps its conversion.
    assert nx.is_connected(graph, backend="outcore") and graph.__networkx_cache__["backends"]["outcore"]


@pytest.mark.parametrize(
    "setting, kind",
    [
        ({"memory": "banana"}, ValueError),
        ({"memory": -5}, ValueError),
        ({"memory": 2.5}, TypeError),
        ({"memory": "1MiB"}, oc.MemoryLimitError),
        ({"threads": -3}, ValueError),
        ({"threads": 0}, ValueError),
        ({"threads": 1.5}, TypeError),
        ({"min_edges": -1}, ValueError),
        ({"min_edges": "many"}, TypeError),
        ({"min_edges": True}, TypeError),
        ({"memroy": "8GiB"}, AttributeError),
    ],
)
def test_wrong_settings_are_refused_when_they_are_set(setting, kind):
    config = nx.config.backends.outcore
    before = dict(config)
    [(name, value)] = setting.items()
    with pytest.raises(kind, match=name):
        config(**setting)
    with pytest.raises(kind, match=name):
        setattr(config, name, value)
    assert dict(config) == before == {"memory": None, "threads": None, "min_edges": 10_000}


def test_settings_are_set_pickled_and_set_back():
    config = nx.config.backends.outcore
    with config(memory="64MiB", threads=2, min_edges=0):
        assert dict(pickle.loads(pickle.dumps(config))) == {"memory": "64MiB", "threads": 2, "min_edges": 0}
    assert config.memory is None and config.threads is None
    code = "import sys, networkx as nx; nx.config.backends.outcore.min_edges = 5; assert 'outcore' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_networkx_goes_on_where_a_conversion_does_not_fit(caplog):
    graph = nx.empty_graph(500_000)
    caplog.set_level(logging.DEBUG, logger="networkx")
    with nx.config.backends.outcore(memory="24MiB", threads=1, min_edges=0):
        with nx.config.backend_priority(algos=["outcore"]):
            assert len(nx.core_number(graph)) == 500_000
        assert "raise the limit to at least" in caplog.text
        # Whoever names the backend learns why it did not run, whatever NetworkX remembers of the graph.
        for _ in range(2):
            with pytest.raises(oc.MemoryLimitError):
                nx.number_of_isolates(graph, backend="outcore")
    assert nx.number_of_isolates(graph, backend="outcore")


def test_networkx_goes_on_where_a_run_does_not_fit(monkeypatch, caplog):
    def refused(G):
        raise oc.MemoryLimitError("the run needs 3 GiB")

    monkeypatch.setitem(FUNCTIONS, "core_number", refused)
    graph, image = nx.path_graph(3), oc.load_graph([(0, 1), (1, 2)], directed=False)
    caplog.set_level(logging.DEBUG, logger="networkx")
    with nx.config.backend_priority(algos=["outcore"]), nx.config.backends.outcore(min_edges=0):
        assert nx.core_number(graph) == {0: 1, 1: 1, 2: 1}
        assert "the run needs 3 GiB" in caplog.text
        # An image is no graph that NetworkX could go on with.
        for given, options in ((image, {}), (graph, {"backend": "outcore"})):
            with pytest.raises(oc.MemoryLimitError, match="the run needs 3 GiB"):
                nx.core_number(given, **options)


def test_closeness_needs_no_memory_for_every_pair():
    graph = nx.Graph((node, node + 1) for node in range(0, 20_000, 2))
    with nx.config.backends.outcore(memory="64MiB"):
        assert nx.closeness_centrality(graph, backend="outcore") == nx.closeness_centrality(graph)


@pytest.mark.parametrize("version, is_supported", [("3.5", False), ("3.6", True), ("3.7rc0.dev0", True), ("4.0", True)])
def test_older_versions_are_refused_and_coming_ones_are_read(version, is_supported):
    script = (
        "import networkx as nx\n"
        f"nx.__version__ = {version!r}\n"
        "import _outcore_networkx\n"
        "assert _outcore_networkx.get_info()['functions']\n"
        "nx.pagerank(nx.path_graph(3), backend='outcore')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode == 0) == is_supported, done.stderr
    if not is_supported:
        assert "ImportError: expected NetworkX 3.6 or newer" in done.stderr and "found 3.5" in done.stderr


def test_the_oldest_version_is_the_one_that_is_named_where_users_look():
    root, oldest = pathlib.Path(__file__).resolve().parents[2], ".".join(map(str, OLDEST))
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["networkx"] == [f"networkx>={oldest}"]
    for name in ("python/tests/requirements.txt", "bench/requirements.txt", "docs/requirements.txt"):
        assert f"networkx>={oldest}\n" in (root / name).read_text(), name
    for name in ("docs/install.md", "docs/networkx.md"):
        assert f"NetworkX {oldest} or newer" in (root / name).read_text(), name


# Options by which searches go against the direction of edges.
AGAINST = {
    "shortest_path": [{"target": 3}, {"target": 3, "weight": "weight"}],
    "shortest_path_length": [{"target": 3}, {"target": 3, "weight": "weight"}],
    "closeness_centrality": [{"u": 1}, {"distance": "weight"}],
    "single_target_shortest_path": [{"cutoff": 1}],
    "bfs_edges": [{"reverse": True}, {"reverse": True, "depth_limit": 1}],
}


def test_what_a_directed_image_lacks_is_in_the_documentation(make):
    plain = nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 1)])
    nx.set_edge_attributes(plain, 2, "weight")
    g, refused = make(plain), {}
    values = {"k": 2, "S": [1], "distance": 2, "sources": [1], "name": "weight", "source": 0, "target": 3, "n": 0}
    values["communities"] = [{0, 1}, {2, 3}]
    for name in FUNCTIONS:
        function = getattr(nx, name, None) or getattr(nx.community, name, None)
        required = {one: values[one] for one, (_, default) in _OPTIONS[name].items()
                    if default is inspect.Parameter.empty and one != "G"}  # fmt: skip
        for options in [{}, *AGAINST.get(name, [])] if function else []:
            try:
                expected = function(plain, **required | options)
            except nx.NetworkXException:
                continue
            try:
                found = function(g, **required | options)
            except nx.NetworkXNotImplemented:
                refused[name] = options
                continue
            if options or name in ("ancestors", "single_target_shortest_path", "single_target_shortest_path_length"):
                as_lists = (list(one) if hasattr(one, "__next__") else one for one in (found, expected))
                assert next(as_lists) == next(as_lists), (name, options)
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs/networkx.md").read_text()
    table = text.partition("<!-- refused of a directed image: a test compares -->")[2].partition("<!-- end -->")[0]
    rows = [line.split("|")[1:3] for line in table.strip().splitlines()[2:]]
    named = {name.strip(" `"): set(re.findall("`(\\w+)`", options)) - {"source"} for name, options in rows}
    assert named == {name: set(options) for name, options in refused.items()}


# Of every option that some function does not take, a value that is refused.
REFUSED = {
    "weight": lambda *ends: 1, "distance": lambda *ends: 1, "sp": {}, "nstart": {}, "dangling": {}, "attr": "name",
    "nodes": [0], "method": "arpack", "algorithm": "prim", "tol": 0, "max_iter": 0, "cutoff": -1, "source": 0,
    "communities": iter(()),
}  # fmt: skip
# Kinds of graphs that some functions do not take.
KINDS = [
    nx.path_graph(4), nx.DiGraph([(0, 1), (1, 2)]), nx.MultiGraph([(0, 1), (0, 1)]), nx.MultiDiGraph([(0, 1), (0, 1)])
]  # fmt: skip


@pytest.mark.parametrize("name", sorted(name for name, limits in _LIMITS.items() if limits and hasattr(nx, name)))
def test_every_refusal_has_its_reason(name):
    function, options = getattr(nx, name), _OPTIONS[name]
    required = {one: 0 for one, (_, default) in options.items() if default is inspect.Parameter.empty and one != "G"}
    required |= {one: [0] for one in ("S", "sources") if one in required}
    reasons = []
    for graph in KINDS:
        for given in [{}, *({one: value} for one, value in REFUSED.items() if one in options)]:
            for called, more in ((graph, {"backend": "outcore"}), (oc.load_graph(graph), {})):
                # What NetworkX remembers of a graph has no reason.
                for _ in range(2):
                    try:
                        found = function(called, **required | given, **more)
                        list(found) if hasattr(found, "__next__") else None
                    except NotImplementedError as error:
                        assert more and str(error.__cause__ or "backend").find("backend") < 0, (given, error)
                        reasons.append(str(error.__cause__))
                    except nx.NetworkXNotImplemented as error:
                        assert more or str(error).startswith(("not implemented for", f"{name} of an outcore.Graph: "))
                    except Exception as error:
                        assert "backend" not in str(error)
    assert reasons, "nothing was refused"


@pytest.mark.parametrize("nodes", [((1, [2]),), [1, [2]], [{}], (1, [2]), {1, 2}, [1, 99]])
@pytest.mark.parametrize("name", ["clustering", "triangles", "average_clustering", "eccentricity"])
def test_nodes_that_cannot_be_hashed_are_refused_as_networkx_refuses_them(name, nodes, tmp_path):
    graph = nx.complete_graph(5)
    oc.import_graph(graph, tmp_path / "g.oc")
    image = oc.Graph(tmp_path / "g.oc")

    def answer(of, **options):
        try:
            return getattr(nx, name)(of, nodes, **options)
        except nx.NetworkXError as error:
            return str(error)

    expected = answer(graph)
    assert answer(image) == expected
    with nx.config.backend_priority(algos=["outcore"]), nx.config.backends.outcore(min_edges=0):
        assert answer(graph) == expected
