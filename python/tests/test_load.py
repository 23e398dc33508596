"""Graphs in memory: they are what graphs in files are, take memory under the limit, and leave nothing behind."""

import os
import sys
import types

import networkx as nx
import numpy as np
import pytest

import outcore as oc

CALLS = {
    "bfs": lambda g: oc.bfs(g, 0),
    "sssp": lambda g: oc.sssp(g, 0),
    "pagerank": lambda g: oc.pagerank(g, max_iter=500),
    "components": oc.components,
    "core_number": oc.core_number,
    "betweenness": oc.betweenness_centrality,
    "label_propagation": oc.label_propagation,
    "triangles": oc.triangles,
    "lcc": oc.lcc,
    "all_pairs": lambda g: oc.all_pairs(g, sources=[0, 1, 2]),
    "degree_centrality": oc.degree_centrality,
    "scan_statistics": oc.scan_statistics,
}


def plain_graph(seed, directed):
    plain = nx.gnm_random_graph(60, 150, seed=seed, directed=directed)
    for place, edge in enumerate(plain.edges):
        plain.edges[edge]["weight"] = 1 + place * 7 % 11
    plain.add_edges_from([(5, 5), (59, 59)], weight=3)
    return plain


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("order", ["input", "degree", "near"])
def test_results_are_those_of_an_image_on_the_disk(make, directed, order):
    plain = plain_graph(7, directed)
    stored, loaded = make(plain, order=order), oc.load_graph(plain, order=order)
    assert loaded.path is None and repr(loaded).startswith("<outcore.Graph in memory: 60 vertices, ")
    assert loaded.info() == stored.info()
    assert loaded.check() == stored.check()
    for name, call in CALLS.items():
        if directed and name == "core_number":
            continue
        one, other = call(stored).to_polars(), call(loaded).to_polars()
        assert one.equals(other), name
    assert list(stored.edges(weights=True)) == list(loaded.edges(weights=True))
    matrices = [oc.SparseMatrix(graph) for graph in (stored, loaded)]
    ones = np.ones((60, 3))
    assert (matrices[0] @ ones == matrices[1] @ ones).all()
    with pytest.raises(oc.UsageError, match="in memory"):
        matrices[1].to_graph("copy.oc")


def test_loading_and_working_leave_no_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    g = oc.load_graph([("a", "b"), ("b", "c")])
    assert oc.pagerank(g).to_dict().keys() == {"a", "b", "c"}
    assert os.listdir(tmp_path) == []
    # What users name is a file.
    oc.bfs(g, "a").write("levels.csv")
    assert (tmp_path / "levels.csv").read_text().splitlines() == ["vertex,level,parent", "b,1,a", "a,0,a", "c,2,b"]
    assert [path.name for path in g.export("edges.csv")] == ["edges.csv"]
    assert oc.load_graph("edges.csv").number_of_edges() == 2
    assert not (tmp_path / "<memory>").exists()


def test_memory_is_counted_and_given_back():
    runtime = oc.Runtime(memory="64MiB")
    source = np.arange(200_000)
    g = oc.load_graph((source, (source * 7 + 1) % 200_000), runtime=runtime)
    held = runtime.holders()["files in memory"]
    assert 0.9 < held / g.info()["image_bytes"] < 1.2
    levels = oc.bfs(g, 0)
    g.close()
    assert runtime.holders()["files in memory"] == held, "results read ids from it"
    del levels, g
    assert "files in memory" not in runtime.holders()
    with pytest.raises(oc.MemoryLimitError):
        oc.load_graph((np.arange(5_000_000), np.arange(5_000_000) * 7919 % 5_000_000), runtime=runtime)
    assert "files in memory" not in runtime.holders()


def test_a_program_spills_its_messages_into_memory_or_where_the_user_says(tmp_path):
    plain = nx.gnm_random_graph(2000, 30_000, seed=3)
    for temporary in (None, tmp_path):
        runtime = oc.Runtime(memory="96MiB", temporary=temporary)
        g = oc.load_graph(plain, runtime=runtime)
        numba = pytest.importorskip("numba")
        assert numba

        def run(v, state, vertex):
            vertex.request_out(v)

        def on_list(v, state, neighbours, vertex):
            for neighbour in neighbours:
                vertex.send(neighbour, 1)

        def on_message(v, state, message, vertex):
            state[v] += message

        state = np.zeros(len(g), np.int64)
        options = {"message": np.int64, "message_memory": "64KiB"}
        found = oc.vertex_program(g, state, run, on_list=on_list, on_message=on_message, **options)
        assert found.messages == state.sum() == 60_000 and found.spilled_bytes > 100_000
    assert os.listdir(tmp_path) == []


def test_options_are_those_of_an_import():
    g = oc.load_graph([("a", "b", 2.5), ("b", "a", 4.0)], directed=False, duplicates="sum")
    assert list(g.edges(weights=True)) == [("a", "b", 6.5)]
    assert len(oc.load_graph((np.array([], int), np.array([], int)))) == 0
    for name in ("replace", "allow_empty"):
        with pytest.raises(TypeError, match=name):
            oc.load_graph([(0, 1)], **{name: True})
    with pytest.raises(TypeError, match=r"load_graph\(\) got .* 'foo'"):
        oc.load_graph([(0, 1)], foo=1)
    with pytest.raises(TypeError, match=r"estimate_import\(\) got .* 'foo'"):
        oc.estimate_import([(0, 1)], foo=1)
    with pytest.raises(TypeError, match=r"subgraph\(\) got .* 'foo'"):
        g.subgraph(["a"], foo=1)
    with pytest.raises(oc.UsageError, match="threads"):
        oc.load_graph([(0, 1)], threads=0)


def test_notes_are_warnings(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target,when\n1,2,7\n2,3,8\n")
    with pytest.warns(UserWarning, match="when"):
        oc.load_graph(tmp_path / "edges.csv")


def test_many_small_graphs_take_no_descriptors_and_little_memory():
    runtime = oc.Runtime(memory="256MiB")
    descriptors = len(os.listdir("/proc/self/fd"))
    graphs = [oc.load_graph(nx.path_graph(2 + place % 30), runtime=runtime) for place in range(300)]
    assert [len(oc.components(g)) for g in graphs[:3]] == [2, 3, 4]
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 2
    assert sum(runtime.holders().values()) < 300 * (96 << 10)


@pytest.mark.parametrize("arrow", [False, True])
def test_the_index_of_a_frame_is_no_column(monkeypatch, recwarn, arrow):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    if not arrow:
        modules = {name: module for name, module in sys.modules.items() if name != "pyarrow"}
        monkeypatch.setattr("outcore._inputs.frames.sys", types.SimpleNamespace(modules=modules))
    frame = pd.DataFrame({"x": [10, 20], "weight": [0.5, 0.7]}, index=[5, 6])
    with pytest.raises(oc.InputError, match="x, weight"):
        oc.load_graph(frame)
    edges = pd.DataFrame({"source": [1, 2, 3], "target": [4, 5, 6]}, index=pd.Index([7, 8, 9], name="when"))
    for given in (edges, edges[edges.source > 1], edges.sort_values("source", ascending=False).reset_index(drop=True)):
        expected = set(zip(given["source"].tolist(), given["target"].tolist()))
        assert set(oc.load_graph(given).edges) == expected
    assert [str(one.message) for one in recwarn if "not read" in str(one.message)] == []
    for counts in (edges.groupby(["source", "target"]).size(), edges.groupby(["source", "target"]).count()):
        with pytest.raises(TypeError, match=r"reset_index\(\) makes"):
            oc.load_graph(counts)


def test_columns_in_series_are_refused():
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="a row per edge, found a polars Series"):
        oc.load_graph(pl.Series([1, 2]))
    assert list(oc.load_graph(pl.DataFrame({"source": [1], "target": [2]}).to_struct("edge")).edges) == [(1, 2)]


def test_edges_may_be_lists():
    assert set(oc.load_graph([[1, 2], (2, 3)]).edges) == {(1, 2), (2, 3)}
    assert list(oc.load_graph([["a", "b", 0.5]]).edges(weights=True)) == [("a", "b", 0.5)]
    with pytest.raises(oc.UsageError, match=r"all of one length, found \[1, 2, 3, 4\] at index 0"):
        oc.load_graph([[1, 2, 3, 4]])
    with pytest.raises(oc.UsageError, match=r"found \(3, 4, 5\) at index 1"):
        oc.load_graph([(1, 2), (3, 4, 5)])


def test_ids_are_all_integers_of_64_bits_and_no_others():
    large = 2**63
    assert set(oc.load_graph([(large, 0)], vertices=[0, large, 5])) == {0, 5, large}
    assert set(oc.load_graph([(-5, 0)], vertices=(1, -(2**63)))) == {-5, 0, 1, -(2**63)}
    for edges, options, found in [
        ([(1, 2**64)], {}, "found 18446744073709551616$"),
        ([(-(2**63) - 1, 2**64)], {}, "found -9223372036854775809 and 18446744073709551616$"),
        ([(-1, large)], {}, "found -1 beside 9223372036854775808$"),
        ([(1, 2)], {"vertices": [2**64]}, "found 18446744073709551616$"),
    ]:
        with pytest.raises(ValueError, match=found):
            oc.load_graph(edges, **options)
    for vertices, found in [([1.5], "1.5"), ([1, "a"], "one type"), ([True], "True")]:
        with pytest.raises(TypeError, match=found):
            oc.load_graph([(1, 2)], vertices=vertices)


def test_what_is_no_graph_is_told_how_to_become_one():
    for given, advice in [
        (nx.path_graph(3), "found a networkx.Graph; outcore.load_graph makes"),
        ([(1, 2)], r"found \[\(1, 2\)\]; outcore.load_graph makes"),
        ("web.oc", "found 'web.oc'; open an image with outcore.Graph"),
    ]:
        for call in (oc.pagerank, lambda graph: oc.estimate(oc.pagerank, graph)):
            with pytest.raises(TypeError, match=advice):
                call(given)
    for given, found in [(nx.path_graph(3), "a networkx.Graph"), ([(1, 2)], r"\[\(1, 2\)\]"), (np.eye(2), "a numpy.")]:
        with pytest.raises(TypeError, match=f"image= as a path, found {found}.*outcore.load_graph makes"):
            oc.Graph(given)
