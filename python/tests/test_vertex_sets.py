"""Sets of vertices: functions that take one read rows of results, frames, arrays and generators alike."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

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
