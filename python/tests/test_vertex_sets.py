"""Sets of vertices: every function that takes one reads rows of results, frames, arrays and generators alike."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from test_cli import outcore

import outcore as oc

IDS = ["vertex", "component", "home", "news"]


@pytest.fixture(scope="module")
def graph():
    # Names of columns are ids: rows that iterate over columns would go unnoticed.
    return oc.load_graph(nx.cycle_graph(IDS, create_using=nx.DiGraph))


def rows(graph):
    found = oc.connected_components(graph)
    return found[np.isin(found["vertex"], ["home"])]


KINDS = {
    "rows": rows,
    "pandas": lambda _: pd.DataFrame({"vertex": ["home"], "component": ["news"]}),
    "polars": lambda _: pl.DataFrame({"component": ["news"], "vertex": ["home"]}),
    "arrow": lambda _: pa.table({"vertex": ["home"]}),
    "one column": lambda _: pd.DataFrame({"id": ["home"]}),
    "series": lambda _: pd.Series(["home"]),
    "polars series": lambda _: pl.Series("x", ["home"]),
    "arrow array": lambda _: pa.chunked_array([["home"]]),
    "array": lambda _: np.array(["home"]),
    "list": lambda _: ["home"],
    "set": lambda _: {"home"},
    "generator": lambda _: (one for one in ["home"]),
}

USES = {
    "node_boundary": lambda g, given: oc.node_boundary(g, given).top(9, "edges"),
    "multi_source_bfs": lambda g, given: oc.multi_source_bfs(g, given).reached,
    "targets": lambda g, given: oc.multi_source_bfs(g, ["news"], targets=given).distances.tolist(),
    "all_pairs": lambda g, given: oc.all_pairs(g, sources=given).sources,
    "betweenness": lambda g, given: oc.betweenness_centrality(g, sources=given).sources,
    "subgraph": lambda g, given: list(g.subgraph(given).nodes),
    "edges": lambda g, given: g.edges(given),
    "edges with data": lambda g, given: g.edges(given, data=True),
    "degree": lambda g, given: g.degree(given),
    "in_degree": lambda g, given: g.in_degree(given),
    "in_edges": lambda g, given: g.in_edges(given),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", KINDS)
def test_sets_of_vertices_are_read_alike(graph, kind, use):
    assert USES[use](graph, KINDS[kind](graph)) == USES[use](graph, ["home"])


@pytest.mark.parametrize("use", USES)
def test_what_is_no_set_of_vertices_is_refused(graph, use):
    for given, words in [
        (b"home", "ids are integers or strings"),
        (pd.DataFrame({"a": ["home"], "b": ["news"]}), "found columns a, b"),
        (np.array([True, False]), "mask"),
        (pd.Series([True, False]), "mask"),
        ([0.5], "integers or strings, found 0.5"),
        (np.array([0.5]), "integers or strings, found 0.5"),
    ]:
        with pytest.raises(TypeError, match=words):
            USES[use](graph, given)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", [ValueError, TypeError, OverflowError, RuntimeError])
def test_errors_of_generators_are_the_callers(graph, use, kind):
    mine = kind("mine")

    def ids():
        yield "home"
        raise mine

    with pytest.raises(kind) as raised:
        USES[use](graph, ids())
    assert raised.value is mine and mine.__cause__ is None


def test_files_of_ids_are_lists_of_vertices_in_the_shell(tmp_path):
    image, ids, none = tmp_path / "g.oc", tmp_path / "ids.txt", tmp_path / "none.txt"
    oc.generate("path", scale=16, output=image)
    ids.write_text("".join(f"{number}\r\n" for number in range(60_000)) + "\n")
    none.write_text("")
    found = outcore("run", "node-boundary", image, "--vertices", f"@{ids}", "--vertices", "7", "--verify")
    assert "60000" in found.stdout
    outcore("run", "node-boundary", image, "--vertices", f"@{none}", "--output", tmp_path / "b.csv")
    assert all(row.endswith(",") for row in (tmp_path / "b.csv").read_text().splitlines()[1:])
    few = tmp_path / "few.txt"
    few.write_text("5\n6\n")
    for command, option in (("multi-source-bfs", "--sources"), ("all-pairs", "--sources"), ("betweenness", "--sources"),
                            ("personalized-pagerank", "--personalization")):
        typed = outcore("run", command, image, option, "5,6", "--output", tmp_path / "a.csv")
        read = outcore("run", command, image, option, f"@{few}", "--output", tmp_path / "b.csv")
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes(), (typed, read)
    away = outcore("run", "node-boundary", image, "--vertices", "@away", check=False)
    assert away.returncode == 2 and "'\"@away\"'" in away.stderr
    outcore("import", image, tmp_path / "part.oc", "--vertices", few)
    assert len(oc.Graph(tmp_path / "part.oc")) == 2
    few.write_bytes(b"5\n\xff\n")
    bad = outcore("run", "node-boundary", image, "--vertices", f"@{few}", check=False)
    assert bad.returncode == 5 and "few.txt:2: expected an id in UTF-8" in bad.stderr


def test_ids_that_begin_with_the_sign_of_files_stand_in_quotes(tmp_path):
    oc.import_graph([("@a", "b"), ("b", "c")], tmp_path / "g.oc")
    outcore("run", "node-boundary", tmp_path / "g.oc", "--vertices", '"@a"', "--output", tmp_path / "b.csv")
    assert "b,1" in (tmp_path / "b.csv").read_text()
