"""The shared Graphalytics graphs, against the reference outputs beside them."""

import pathlib
import tempfile

import networkx as nx
import pytest
from conftest import data_folder

import outcore as oc

UNREACHED = 9223372036854775807
FOLDER = data_folder() and data_folder() / "graphalytics"


def cases(algorithm):
    """Graphs NAME.v and NAME.e that have an output NAME-ALGORITHM."""
    if FOLDER is None:
        return []
    outputs = [path for path in FOLDER.rglob(f"*-{algorithm}") if path.is_file()]
    graphs = [path.with_name(path.name.removesuffix(f"-{algorithm}")) for path in sorted(outputs)]
    return [pytest.param(graph, id=str(graph.relative_to(FOLDER))) for graph in graphs]


def validation(algorithm):
    """Graphs as lines `vertex neighbour neighbour ...`, whose output stands beside."""
    if FOLDER is None:
        return []
    inputs = sorted((FOLDER / "validation-graphs" / algorithm).glob("*-input"))
    return [pytest.param(path, id=f"{algorithm}/{path.name}") for path in inputs]


def properties(graph):
    """What the file NAME.properties says, without the name of the graph. Examples for validation share those of the
    folder above."""
    found = {}
    for folder in (graph.parent, FOLDER):
        file = folder / f"{graph.name}.properties"
        if file.is_file():
            for line in file.read_text().splitlines():
                if "=" in line and not line.startswith("#"):
                    name, value = line.split("=", 1)
                    found[name.strip().removeprefix(f"graph.{graph.name}.")] = value.strip()
            return found
    raise AssertionError(f"{graph} has no properties")


def twin_properties(graph, algorithm):
    """The graphs for validation are the older form of two others, whose properties have the number of iterations."""
    return properties(FOLDER / f"test-{algorithm}-{'directed' if graph.is_directed() else 'undirected'}")


def reference(path, kind):
    pairs = (line.split() for line in path.read_text().splitlines() if line.strip())
    return {int(vertex): kind(value) for vertex, value in pairs}


def output(graph, algorithm, kind=int):
    return reference(graph.with_name(f"{graph.name}-{algorithm}"), kind)


def opened(make, graph):
    directed = properties(graph)["directed"] == "true"
    made = make(pathlib.Path(f"{graph}.e"), directed=directed, format="graphalytics")
    assert made.is_directed() is directed
    return made


def opened_adjacency(make, path):
    lines = [[int(word) for word in line.split()] for line in path.read_text().splitlines() if line.strip()]
    edges = [(line[0], other) for line in lines for other in line[1:]]
    return make(edges, vertices=[line[0] for line in lines], directed=path.name.startswith("dir"))


def compare_levels(found, expected):
    levels = {vertex: UNREACHED if level is None else level for vertex, level in found.to_dict("level").items()}
    assert levels == expected


def compare_components(found, expected):
    """Names of components are free: the same vertices are together."""
    labels = found.to_dict()
    assert labels.keys() == expected.keys()
    pairs = {(labels[vertex], expected[vertex]) for vertex in labels}
    assert len(pairs) == len(set(labels.values())) == len(set(expected.values())) == found.count


def compare_ranks(graph, found, expected, exact):
    """The benchmark allows a relative error of 1e-4: some of its outputs are ranks after the iterations named, others
    converged ones."""
    ranks = found.to_dict()
    assert ranks.keys() == expected.keys()
    assert max(abs(ranks[vertex] - expected[vertex]) / expected[vertex] for vertex in ranks) < (1e-12 if exact else 1e-4)
    # So the iterations themselves are made here once more, edge by edge.
    plain = nx.DiGraph() if graph.is_directed() else nx.Graph()
    plain.add_nodes_from(ranks)
    plain.add_edges_from(exported(graph))
    plain = plain.to_directed()
    shares = dict.fromkeys(plain, 1 / len(plain))
    for _ in range(found.iterations):
        dangling = sum(shares[vertex] for vertex in plain if plain.out_degree(vertex) == 0)
        arriving = {v: sum(shares[u] / plain.out_degree(u) for u in plain.predecessors(v)) for v in plain}
        shares = {v: (0.15 + 0.85 * dangling) / len(plain) + 0.85 * arriving[v] for v in plain}
    assert max(abs(ranks[vertex] - shares[vertex]) for vertex in ranks) < 1e-15


def compare_coefficients(found, expected):
    """The outputs have twelve decimals."""
    values = found.to_dict()
    assert values.keys() == expected.keys()
    assert max(abs(values[vertex] - expected[vertex]) for vertex in values) < 1e-12


def exported(graph):
    with tempfile.TemporaryDirectory() as folder:
        graph.export(f"{folder}/edges.tsv")
        lines = pathlib.Path(f"{folder}/edges.tsv").read_text().splitlines()[1:]
    return [tuple(map(int, line.split("\t")[:2])) for line in lines]


def test_the_graphs_are_there():
    if FOLDER is None:
        pytest.skip("the shared data is absent: nothing of Graphalytics was compared (OUTCORE_DATA says where it is)")
    assert all(len(cases(algorithm)) >= 4 for algorithm in ("BFS", "SSSP", "PR", "WCC", "CDLP", "LCC"))
    assert all(len(validation(algorithm)) == 2 for algorithm in ("bfs", "pr", "wcc", "cdlp", "lcc"))


@pytest.mark.parametrize("graph", cases("BFS"))
def test_bfs(make, graph):
    source = int(properties(graph)["bfs.source-vertex"])
    compare_levels(oc.bfs(opened(make, graph), source, verify=True), output(graph, "BFS"))


@pytest.mark.parametrize("graph", cases("SSSP"))
def test_shortest_paths(make, graph):
    """The benchmark's rule: a relative error of at most 1e-4, infinity where there is no path."""
    source = int(properties(graph)["sssp.source-vertex"])
    found = oc.sssp(opened(make, graph), source, verify=True).to_dict("distance")
    expected = output(graph, "SSSP", float)
    assert found.keys() == expected.keys()
    for vertex, distance in found.items():
        assert float("inf" if distance is None else distance) == pytest.approx(expected[vertex], rel=1e-12)


@pytest.mark.parametrize("graph", cases("PR"))
def test_pagerank(make, graph):
    given = properties(graph)
    options = {"alpha": float(given["pr.damping-factor"]), "max_iter": int(given["pr.num-iterations"]), "tol": 0, "weight": None}
    made = opened(make, graph)
    found = oc.pagerank(made, verify=True, **options)
    assert found.iterations == options["max_iter"] and options["alpha"] == 0.85
    compare_ranks(made, found, output(graph, "PR", float), exact=graph.name.startswith("example"))


@pytest.mark.parametrize("graph", cases("WCC"))
def test_components(make, graph):
    compare_components(oc.components(opened(make, graph), verify=True), output(graph, "WCC"))


@pytest.mark.parametrize("graph", cases("CDLP"))
def test_label_propagation(make, graph):
    max_iter = int(properties(graph)["cdlp.max-iterations"])
    found = oc.label_propagation(opened(make, graph), max_iter=max_iter, verify=True)
    assert found.to_dict() == output(graph, "CDLP")


@pytest.mark.parametrize("graph", cases("LCC"))
def test_lcc(make, graph):
    compare_coefficients(oc.lcc(opened(make, graph), verify=True), output(graph, "LCC", float))


@pytest.mark.parametrize("path", validation("bfs"))
def test_validation_bfs(make, path):
    expected = reference(path.with_name(path.name.replace("input", "output")), int)
    (source,) = (vertex for vertex, level in expected.items() if level == 0)
    compare_levels(oc.bfs(opened_adjacency(make, path), source, verify=True), expected)


@pytest.mark.parametrize("path", validation("pr"))
def test_validation_pagerank(make, path):
    expected = reference(path.with_name(path.name.replace("input", "output")), float)
    graph = opened_adjacency(make, path)
    iterations = int(twin_properties(graph, "pr")["pr.num-iterations"])
    found = oc.pagerank(graph, tol=0, max_iter=iterations, weight=None, verify=True)
    compare_ranks(graph, found, expected, exact=False)


@pytest.mark.parametrize("path", validation("wcc"))
def test_validation_components(make, path):
    expected = reference(path.with_name(path.name.replace("input", "output")), int)
    compare_components(oc.components(opened_adjacency(make, path), verify=True), expected)


@pytest.mark.parametrize("path", validation("cdlp"))
def test_validation_label_propagation(make, path):
    expected = reference(path.with_name(path.name.replace("input", "output")), int)
    graph = opened_adjacency(make, path)
    max_iter = int(twin_properties(graph, "cdlp")["cdlp.max-iterations"])
    assert oc.label_propagation(graph, max_iter=max_iter, verify=True).to_dict() == expected


@pytest.mark.parametrize("path", validation("lcc"))
def test_validation_lcc(make, path):
    expected = reference(path.with_name(path.name.replace("input", "output")), float)
    compare_coefficients(oc.lcc(opened_adjacency(make, path), verify=True), expected)
