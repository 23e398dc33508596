"""Results in another order, row by row, and as arrays."""

import _thread
import math
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import outcore as oc


@pytest.fixture(params=["input", "degree"])
def graph(request, make):
    plain = nx.gnm_random_graph(300, 900, seed=3)
    plain.add_nodes_from(range(1000, 1020))
    return make(nx.relabel_nodes(plain, {node: f"v{node}" for node in plain}), order=request.param)


def test_rows_are_sorted_as_polars_sorts_them(graph):
    results = [oc.pagerank(graph), oc.core_number(graph), oc.bfs(graph, "v5"), oc.components(graph), oc.triangles(graph)]
    for result in results:
        frame = result.to_polars()
        for column in frame.columns:
            if column in ("parent", "component"):
                with pytest.raises(oc.UsageError, match="rank"):
                    result.sort_by(column)
                continue
            for descending in (False, True):
                found = result.sort_by(column, descending=descending)
                by = [column] if column == "vertex" else [column, "vertex"]
                order = [descending] if column == "vertex" else [descending, False]
                expected = frame.sort(by, descending=order, nulls_last=True)
                assert found.to_polars().equals(expected), column
                assert len(found) == len(frame) and found.columns == frame.columns and found.stats == result.stats
                assert found["vertex"].tolist() == expected["vertex"].to_list()
                for name in frame.columns:
                    assert found[name].tolist() == expected[name].to_list()
                # It is a table as any other.
                if "component" not in frame.columns:
                    assert found.top(5) == result.top(5)
                assert found.row("v7") == result.row("v7")
                assert found.sort_by("vertex").to_polars().equals(frame.sort("vertex"))
                assert found.to_dict() == result.to_dict() and list(found.to_dict()) == expected["vertex"].to_list()


def test_a_sorted_table_is_written_in_its_order(graph, tmp_path):
    ranks = oc.pagerank(graph).sort_by(descending=True)
    for name in ("ranks.parquet", "ranks.csv", "ranks.arrow"):
        ranks.write(tmp_path / name)
        read = {"parquet": pl.read_parquet, "csv": pl.read_csv, "arrow": pl.read_ipc}[name.split(".")[1]]
        assert read(tmp_path / name)["vertex"].to_list() == ranks["vertex"].tolist()


def test_missing_distances_come_last_and_weights_are_compared_as_numbers(make):
    g = make([("a", "b", 2.5), ("b", "c", 0.25), ("d", "e", 1.5)], directed=True)
    distances = oc.sssp(g, "a")
    assert distances.sort_by()["vertex"].tolist() == ["a", "b", "c", "d", "e"]
    assert distances.sort_by(descending=True)["vertex"].tolist() == ["c", "b", "a", "d", "e"]
    assert [math.isnan(value) for value in distances.sort_by().to_numpy()] == [False] * 3 + [True] * 2


def test_items_are_rows_one_after_the_other(graph):
    levels = oc.bfs(graph, "v5")
    assert dict(levels.items()) == levels.to_dict()
    assert list(levels.items("parent")) == list(zip(levels["vertex"].tolist(), levels.to_polars()["parent"].to_list()))
    ranks = oc.pagerank(graph)
    assert list(ranks.sort_by(descending=True).items())[:7] == ranks.top(7)
    with pytest.raises(KeyError, match="nothing"):
        ranks.items("nothing")
    items = iter(ranks.items())
    next(items)
    graph.close()
    # Results stay usable.
    assert len(list(items)) == len(ranks) - 1


def test_many_rows_come_in_batches(make):
    count = 150_000
    g = make((np.arange(count), np.arange(count)[::-1].copy()), order="degree")
    found = oc.degree_centrality(g).sort_by("vertex", descending=True)
    assert [vertex for vertex, _ in found.items()] == list(range(count - 1, -1, -1))
    assert (found["vertex"] == np.arange(count - 1, -1, -1)).all()


def test_to_numpy_is_a_column(graph):
    ranks = oc.pagerank(graph)
    assert (ranks.to_numpy() == ranks["pagerank"]).all()
    assert ranks.to_numpy("vertex").tolist() == ranks["vertex"].tolist()


def test_sorting_asks_for_its_memory(tmp_path):
    oc.generate("uniform", scale=20, edge_factor=1, output=tmp_path / "g.oc", directed=True)
    g = oc.Graph(tmp_path / "g.oc", memory="28MiB")
    degrees = oc.degree_centrality(g)
    with pytest.raises(oc.MemoryLimitError):
        degrees.sort_by()
    assert len(degrees.top(3)) == 3


def test_a_result_is_no_array_of_the_names_of_its_columns(graph):
    pd = pytest.importorskip("pandas")
    for result, column in ((oc.pagerank(graph), "pagerank"), (oc.bfs(graph, "v5"), "level")):
        for call in (np.asarray, np.array, np.sort, pd.DataFrame):
            with pytest.raises(TypeError, match=rf"result\['{column}'\] is a column as an array"):
                call(result)
        assert pd.DataFrame(result.to_pandas()).columns.tolist() == result.columns
        assert list(dict(result)) == result.columns and pl.DataFrame(result).columns == result.columns


def test_results_of_one_graph_are_joined(tmp_path):
    edges = [(3, 1), (1, 2), (2, 5)]
    oc.import_graph(edges, tmp_path / "g.oc")
    g = oc.Graph(tmp_path / "g.oc")
    ranks, cores = oc.pagerank(g), oc.core_number(g)
    both = ranks.sort_by(descending=True).join(cores, oc.degree_centrality(g))
    assert both.columns == ["vertex", "pagerank", "core", "degree_centrality"] and len(both) == 4
    assert [row[:2] for row in both.to_polars().rows()] == list(ranks.sort_by(descending=True).items())
    assert both.row(1) == {**ranks.row(1), **cores.row(1), **oc.degree_centrality(g).row(1)}
    again = oc.core_number(oc.Graph(tmp_path / "g.oc"))
    assert ranks.join(again).columns == ["vertex", "pagerank", "core"]
    assert ranks.join(ranks, ranks).columns == ["vertex", "pagerank", "pagerank_2", "pagerank_3"]
    trees = oc.bfs(g, 3).join(oc.sssp(g, 3, weight=None))
    assert trees.columns == ["vertex", "level", "parent", "distance", "parent_2"] and trees.row(1)["parent_2"] == 3
    for given, name in (([ranks, cores], "list"), (ranks.to_pandas(), "DataFrame")):
        with pytest.raises(TypeError, match=rf"results=.*found {name}; several become one with `a\.join\(b\)`"):
            g.export(tmp_path / "g.gexf", results=given)
    oc.import_graph([(1, 2)], tmp_path / "h.oc")
    with pytest.raises(oc.UsageError, match=r"one graph.*h\.oc"):
        ranks.join(oc.pagerank(oc.Graph(tmp_path / "h.oc")))
    with pytest.raises(TypeError):
        ranks.join(3)


def test_frames_share_the_memory_of_results_that_are_gone():
    g = oc.load_graph([(i, (i * 7) % 1000) for i in range(1000)])
    result = oc.pagerank(g)
    wanted = result["pagerank"].copy()
    polars, arrow, pandas = result.to_polars(), result.to_arrow(), result.to_pandas()
    del result, g
    again = oc.pagerank(oc.load_graph([(i, i + 1) for i in range(1000)]))
    assert len(again) == 1001
    for found in (polars["pagerank"].to_numpy(), arrow["pagerank"].to_numpy(), pandas["pagerank"].to_numpy()):
        assert (found == wanted).all()
    pandas.loc[0, "pagerank"] = 5.0
    assert polars["pagerank"][0] == wanted[0]


def test_masks_choose_rows():
    graph = nx.disjoint_union_all([nx.path_graph(5), nx.cycle_graph(7), nx.complete_graph(7), nx.empty_graph(3)])
    for order in ("input", "degree"):
        g = oc.load_graph(graph, order=order)
        cores, levels = oc.core_number(g), oc.bfs(g, 12)
        # The order of rows is another one, and so is that of the mask.
        for table in (cores, cores.sort_by("core"), cores.sort_by("core", descending=True), cores.join(levels)):
            mask = table["core"] >= 3
            null = pd.array(np.where(mask, True, None), dtype="boolean")
            masks = (mask, mask.tolist(), pd.Series(mask), pl.Series(mask), np.ma.masked_array(mask, ~mask), pd.Series(null))
            for part in [table[mask] for mask in masks] + [table[pl.Series([bool(one) or None for one in mask])]]:
                assert part["vertex"].tolist() == table["vertex"][mask].tolist()
                assert sorted(g.subgraph(part).nodes) == list(range(12, 19)) and len(part) == 7
        part = cores[cores["core"] < 3]
        assert part.top(2) == [(5, 2), (6, 2)]
        assert part.sort_by("vertex", descending=True)["vertex"].tolist() == sorted(part["vertex"], reverse=True)
        assert part.sort_by("core")["core"].tolist() == sorted(part["core"])
        assert sorted(part.items()) == sorted((v, k) for v, k in nx.core_number(graph).items() if k < 3)
        assert part[part["core"] == 2]["vertex"].tolist() == [v for v in part["vertex"] if 5 <= v < 12]
        assert (part.row(7), part.columns, len(part)) == ({"vertex": 7, "core": 2}, ["vertex", "core"], 15)
        frames = (part.to_pandas(), part.to_polars().to_pandas(), part.to_arrow().to_pandas())
        assert all(frame["core"].tolist() == part["core"].tolist() for frame in frames)
        assert part.join(levels)["level"].count() == 0 and levels[levels["parent"] == 12].sizes() == [(12, 7)]
        empty = cores[[False] * 22]
        assert (len(empty), empty.head(), empty.top(3), empty["core"].tolist(), len(empty.sort_by())) == (0, [], [], [], 0)
        with pytest.raises(oc.UsageError, match="a mask with a value for each of 22 rows, found 3"):
            cores[[True, False, True]]
        with pytest.raises(oc.UsageError, match="`13` has no row in this table"):
            part.row(13)
        with pytest.raises(oc.UsageError, match="one of some rows"):
            levels.join(part)
        with pytest.raises(oc.UsageError, match="those of another graph"):
            g.subgraph(oc.core_number(oc.load_graph(nx.path_graph(22))))
        for wrong in (3, [1, 2], slice(3), np.ones((2, 2), dtype=bool)):
            with pytest.raises(TypeError, match="the name of a column"):
                cores[wrong]
        with pytest.raises(TypeError, match="an index of its own"):
            cores[pd.Series([True] * 22)[::-1]]
        for mask in (cores["core"] >= 3, pd.Series(cores["core"] >= 3), pl.Series(cores["core"] >= 3)):
            with pytest.raises(TypeError, match="take the rows of a result first"):
                g.subgraph(mask)
        names = oc.load_graph(nx.relabel_nodes(graph, str), order=order)
        found = oc.core_number(names).to_pandas()
        # Ids of a frame keep its index.
        assert names.subgraph(found.loc[found["core"] >= 3, "vertex"]).number_of_edges() == 21


def test_groups_are_counted_and_become_graphs(tmp_path):
    graph = nx.disjoint_union_all([nx.path_graph(5), nx.cycle_graph(7), nx.complete_graph(7), nx.empty_graph(3)])
    with oc.load_graph(graph, order="input") as g:
        found = oc.connected_components(g)
        assert found.sizes() == [(5, 7), (12, 7), (0, 5), (19, 1), (20, 1), (21, 1)]
        assert found.sizes(4) == [(5, 7), (12, 7), (0, 5), (19, 1)] and found.sizes(0) == []
        assert found.sizes(1, "component") == [(5, 7)]
        largest = g.subgraph(found[found["component"] == found.sizes(1)[0][0]])
        assert (sorted(largest.nodes), largest.number_of_edges()) == (list(range(5, 12)), 7)
        cores = oc.core_number(g)
        image = g.subgraph(cores[cores["core"] >= 3], tmp_path / "core.oc")
        assert (sorted(image.nodes), image.number_of_edges()) == (list(range(12, 19)), 21)
        with pytest.raises(oc.UsageError, match="a column that names vertices"):
            oc.core_number(g).sizes()
        assert found.head(2) == [(vertex, 0) for vertex in (0, 1)]
        assert [len(found.head(k)) for k in (0, 22, 100)] == [0, 22, 22]
        assert found.sort_by("vertex", descending=True).head(1) == [(21, 21)]
        for order in ("input", "degree", "auto"):
            other = oc.load_graph(nx.relabel_nodes(graph, {vertex: f"v{vertex % 7}-{vertex}" for vertex in graph}), order=order)
            for groups in (oc.connected_components(other), oc.label_propagation(other)):
                counts = groups.to_polars()[groups.columns[1]].value_counts().rows()
                assert groups.sizes() == sorted(counts, key=lambda pair: (-pair[1], pair[0]))
    words = oc.load_graph([("b", "a"), ("c", "d")])
    assert oc.connected_components(words).sizes() == [("a", 2), ("c", 2)]
    # All groups, unless fewer are wanted.
    pairs = oc.connected_components(oc.load_graph([(2 * i, 2 * i + 1) for i in range(1000)], directed=False))
    assert pairs.sizes() == [(2 * i, 2) for i in range(1000)] and pairs.sizes(10) == pairs.sizes()[:10]


@pytest.mark.parametrize("order", ["input", "degree"])
def test_ids_that_do_not_fit_are_named_in_passes(tmp_path, order):
    drawn = np.random.default_rng(3)
    count = 60_000
    # Ids of a length that differs, 57 MB together, and components of several sizes whose members are scattered.
    numbers = drawn.permutation(count)
    ids = np.array([f"{number:06}{'x' * int(length)}" for number, length in enumerate(drawn.integers(20, 1880, count))])
    chain = numbers[: count // 2]
    rest = numbers[count // 2 :].reshape(-1, 3)
    source = np.concatenate([chain[:-1], rest[:, 0]])
    target = np.concatenate([chain[1:], rest[:, 1]])
    frame = pl.DataFrame({"source": ids[source], "target": ids[target]})
    oc.import_graph(frame, tmp_path / "g.oc", directed=False, order=order, vertices=pl.DataFrame({"id": ids}))
    start = str(ids[chain[0]])
    runs = {"components": [], "bfs": ["--source", start]}
    for name, options in runs.items():
        results = []
        for memory in ("72MiB", "512MiB"):
            output = tmp_path / f"{name}-{memory}.csv"
            command = [os.environ.get("OUTCORE") or shutil.which("outcore"), "run", name, tmp_path / "g.oc", *options]
            command += ["--memory", memory, "--output", output]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            results.append(output.read_bytes())
            if memory == "72MiB":
                assert float(re.search(r"peak memory ([\d.]+) MiB", done.stdout)[1]) < 72, done.stdout
        assert results[0] == results[1] and len(results[0]) > 30 << 20
    with oc.Graph(tmp_path / "g.oc", memory="64MiB") as small, oc.Graph(tmp_path / "g.oc", memory="512MiB") as large:
        few, all_of_them = oc.components(small), oc.components(large)
        pairs = [(few, all_of_them)]
        if order == "input":
            # To sort by ids otherwise takes all of them.
            pairs.append(tuple(found.sort_by("vertex", descending=True) for found in (few, all_of_them)))
        for place, (one, other) in enumerate(pairs):
            assert one.to_polars().equals(other.to_polars())
            # Files do not depend on the memory either.
            for ending in ("parquet", "arrow"):
                files = [tmp_path / f"{place}-{name}.{ending}" for name in ("small", "large")]
                one.write(files[0])
                other.write(files[1])
                assert files[0].read_bytes() == files[1].read_bytes()
    with oc.Graph(tmp_path / "g.oc", memory="30MiB") as least:
        found = oc.components(least)
        # Fewer ids at a time would be a pass over all of them for every few rows.
        with pytest.raises(oc.MemoryLimitError, match="the ids that rows name"):
            found.to_polars()


@pytest.mark.parametrize("order", ["input", "degree"])
def test_shortest_paths_are_told(order):
    graph = nx.gnm_random_graph(60, 150, seed=5, directed=True)
    for place, edge in enumerate(graph.edges):
        # Edges of no length, too.
        graph.edges[edge]["minutes"] = place * 7 % 11
    graph.add_node("alone")
    graph = nx.relabel_nodes(graph, str)
    with oc.load_graph(graph, weight="minutes", order=order) as g:
        lengths = nx.single_source_dijkstra_path_length(graph, "3", weight="minutes")
        for target in graph:
            path = oc.sssp(g, "3", target=target).path
            if target not in lengths:
                assert path is None
                continue
            assert (path[0], path[-1]) == ("3", target)
            assert nx.path_weight(graph, path, "minutes") == lengths[target]
        assert oc.sssp(g, "3").path is None
        with pytest.raises(oc.NoVertexError):
            oc.sssp(g, "3", target="nobody")


def test_a_stream_of_rows_is_interrupted(scratch, monkeypatch):
    """Ctrl-C ends what pyarrow reads, between two batches: errors of streams are text, which it raises as its own."""
    oc.generate("kronecker", scale=17, edge_factor=16, output="k.oc")
    graph, begun = oc.Graph("k.oc"), threading.Event()

    class Rows:
        def __arrow_c_stream__(self, requested_schema=None):
            stream = graph.edges.__arrow_c_stream__()
            begun.set()
            return stream

    def interrupt():
        begun.wait()
        # Long enough for the main thread to leave Python, far less than all edges take.
        time.sleep(0.02)
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    with pytest.raises(pa.ArrowInvalid, match="KeyboardInterrupt") as ended:
        thread.start()
        pa.table(Rows())
    thread.join()
    assert pa.table(graph.edges).num_rows == len(graph.edges)

    def interrupted(rows):
        raise ended.value

    monkeypatch.setattr(pa, "table", interrupted)
    with pytest.raises(KeyboardInterrupt):
        oc.components(graph).to_arrow()


def test_an_interruption_while_progress_is_drawn_is_raised(scratch, monkeypatch):
    class Stream:
        def __init__(self, error):
            self.error = error

        def write(self, text):
            raise self.error

    monkeypatch.setattr(sys, "stderr", Stream(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        oc.import_graph([(1, 2)], "one.oc", progress=True)
    # An import that had ended when its bar was drawn stays. A bar that cannot be drawn is given up.
    monkeypatch.setattr(sys, "stderr", Stream(OSError(5, "no terminal")))
    oc.import_graph([(1, 2)], "one.oc", replace=True, progress=True)


def test_columns_of_any_order_and_kind_are_copied_whole(scratch):
    """More rows than are copied between two looks for signals, in the order of the rows and in their own."""
    oc.generate("path", scale=19, output="path.oc", directed=False)
    with oc.Graph("path.oc") as graph:
        levels = oc.bfs(graph, 5)
        expected = np.abs(np.arange(2**19) - 5)
        assert np.array_equal(levels.sort_by("vertex")["level"], expected)
        assert np.array_equal(levels["level"][np.argsort(levels["vertex"])], expected)
        backwards = levels.sort_by("vertex", descending=True)
        assert np.array_equal(backwards["vertex"], np.arange(2**19)[::-1])
        assert np.array_equal(backwards["level"], expected[::-1]) and not np.ma.is_masked(backwards["level"])
        assert list(backwards[backwards["level"] == 2**19 - 6].to_dict("level")) == [2**19 - 1]
