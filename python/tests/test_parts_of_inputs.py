"""Inputs that come part by part, and objects of other libraries: each is the graph that the same edges make as a list."""

import random
import signal
import subprocess
import sys

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pytest

import outcore as oc

DRAWN = random.Random(3)
EDGES = sorted({(DRAWN.randrange(50), DRAWN.randrange(50)) for _ in range(300)})
WEIGHED = [(source, target, DRAWN.randrange(1, 90)) for source, target in EDGES]
FRAME = pl.DataFrame(WEIGHED, schema=["source", "target", "weight"], orient="row")


def same(graph, edges, directed=True):
    assert graph.is_directed() == directed
    weighed = len(edges[0]) == 3
    assert sorted(graph.edges(data="weight") if weighed else graph.edges) == sorted(edges)


def test_frames_part_by_part(tmp_path):
    halves = [FRAME[:100], FRAME[100:100], FRAME[100:]]
    same(oc.load_graph(halves), WEIGHED)
    same(oc.load_graph(half for half in halves), WEIGHED)
    same(oc.load_graph([half.to_pandas() for half in halves]), WEIGHED)
    same(oc.load_graph([half.to_arrow() for half in halves]), WEIGHED)
    for place, half in enumerate(halves):
        half.write_parquet(tmp_path / f"{place}.parquet")
    same(oc.load_graph(pl.scan_parquet(tmp_path / "*.parquet")), WEIGHED)
    same(oc.load_graph(FRAME.lazy().with_columns(pl.lit(None).alias("nothing"))), WEIGHED)
    few = [edge for edge in WEIGHED if edge[2] > 40]
    same(oc.load_graph(pl.scan_parquet(tmp_path / "*.parquet").filter(pl.col("weight") > 40)), few)
    assert len(oc.load_graph(FRAME.lazy().filter(pl.col("weight") > 1000))) == 0
    dataset = ds.dataset(tmp_path, format="parquet")
    same(oc.load_graph(dataset), WEIGHED)
    same(oc.load_graph(dataset.scanner(filter=ds.field("weight") > 40)), few)
    kept = oc.load_graph(FRAME.rename({"weight": "minutes"}).lazy(), attributes=True)
    assert sorted((*ends, data["minutes"]) for *ends, data in kept.edges(data=True)) == WEIGHED


def test_edges_from_a_generator():
    same(oc.load_graph(edge for edge in EDGES), EDGES)
    same(oc.load_graph(iter([list(edge) for edge in WEIGHED])), WEIGHED)
    same(oc.load_graph(((f"v{a}", f"v{b}") for a, b in EDGES), directed=False), undirected(EDGES), directed=False)
    same(oc.load_graph(map(tuple, WEIGHED), weight="none"), EDGES)
    # More than a piece, with whole numbers among real ones.
    many = [(i, i + 1, i / 2) for i in range(70_000)]
    same(oc.load_graph(edge for edge in [(*edge[:2], 1) if edge[0] == 69_999 else edge for edge in many[:-1]]), many[:-1])


def undirected(edges):
    """Each once, as `g.edges` has them: from the vertex that comes first."""
    graph = oc.load_graph([(f"v{a}", f"v{b}") for a, b in edges], directed=False)
    return sorted(graph.edges)


def test_arrays_of_two_dimensions():
    same(oc.load_graph(np.array(EDGES)), EDGES)
    same(oc.load_graph(np.array(WEIGHED, np.uint32)), WEIGHED)
    same(oc.load_graph(np.array([("a", "b"), ("b", "c")])), [("a", "b"), ("b", "c")])


def test_graphs_of_igraph():
    plain = igraph.Graph(edges=EDGES, n=60, directed=True)
    graph = oc.load_graph(plain)
    same(graph, EDGES)
    assert len(graph) == 60
    named = igraph.Graph.TupleList(WEIGHED, weights=True, directed=True)
    same(oc.load_graph(named), WEIGHED)
    named.es["cost"] = [3.5] * named.ecount()
    assert {cost for *_, cost in oc.load_graph(named, weight="cost").edges(data="cost")} == {3.5}
    same(oc.load_graph(named, weight="none"), EDGES)
    words = igraph.Graph.TupleList([("a", "b"), ("b", "c"), ("a", "b")])
    graph = oc.load_graph(words)
    assert graph.number_of_edges() == 3 and not graph.is_directed() and set(graph) == {"a", "b", "c"}
    assert len(oc.load_graph(igraph.Graph())) == 0
    tree = igraph.Graph.Tree(127, 2)
    ours, theirs = oc.pagerank(oc.load_graph(tree)).to_dict(), tree.pagerank()
    assert all(abs(ours[v] - theirs[v]) < 1e-6 for v in range(127))
    same(oc.load_graph(tree), tree.get_edgelist(), directed=False)
    assert nx.is_tree(nx.Graph(list(oc.load_graph(tree).edges)))


@pytest.mark.parametrize(
    "make",
    [
        list, lambda: iter([]), lambda: pl.DataFrame({"source": [], "target": []}),
        lambda: pl.DataFrame({"source": [], "target": []}).lazy(), lambda: [pl.DataFrame({"source": [], "target": []})],
        lambda: pd.DataFrame({"source": [], "target": []}, dtype=int),
    ],
)  # fmt: skip
def test_a_day_without_edges_is_the_same_whatever_holds_it(make, tmp_path):
    with pytest.raises(oc.InputError, match="require_edges"):
        oc.import_graph(make(), tmp_path / "day.oc", require_edges=1)
    with pytest.warns(UserWarning, match="no edges"):
        assert len(oc.load_graph(make())) == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: iter([1, 2]), "of edges as tuples or lists"),
        (lambda: iter([(1, 2), (1, 2, 3)]), r"all of one length, found \(1, 2, 3\) at index 1"),
        (lambda: iter([(1, 2)] * 70_000 + [5]), "all of one length, found 5 at index 70000"),
        (lambda: iter([(1, 2)] * 70_000 + [("a", "b")]), "of one type|of one kind"),
        (
            lambda: iter([(1, 2, 3)] * 70_000 + [(1, 2, 0.5)]),
            "real numbers as weights in the edges from index 65536 on; make real numbers of all weights",
        ),
        (lambda: [FRAME, FRAME.rename({"weight": "cost"})], r"table 2: expected the columns of the tables before, .*cost \(Int64\)"),
        (lambda: [FRAME, FRAME.cast(pl.Int32)], "table 2"),
        (lambda: np.zeros((3, 4), int), r"\(edges, 2\)"),
        (lambda: np.array([(1.5, 2, 0.5)]), "found real numbers; give a tuple"),
        (lambda: np.zeros((2, 2, 2), int), "generator of edges or frames"),
        (lambda: igraph.Graph.TupleList([("a", "b")], vertex_name_attr="name").add_vertices(1) or twice(), "unique"),
        (lambda: [1, 2], "found list"),
        (lambda: (1 / 0 for _ in range(2)), "division by zero"),
        (lambda: iter([pd.Series([1])]), "of edges as tuples"),
    ],
)
def test_what_cannot_be_read_is_refused(given, words):
    with pytest.raises((TypeError, ValueError, ZeroDivisionError, oc.OutcoreError), match=words):
        oc.load_graph(given())


def test_frames_whose_columns_do_not_fit_raise_errors_of_outcore():
    wide = FRAME.cast({"source": pl.Int128})
    with pytest.raises(oc.InputError, match="^table 2: expected the columns of the tables before"):
        oc.load_graph([FRAME, FRAME.rename({"weight": "cost"})])
    with pytest.raises(oc.UsageError, match="types that Arrow has"):
        oc.load_graph(wide)


def twice():
    graph = igraph.Graph(2)
    graph.vs["name"] = ["a", "a"]
    return graph


def test_what_a_generator_raises_on_the_way_is_raised(tmp_path):
    def broken():
        yield from EDGES
        raise RuntimeError("the sensor is gone")

    with pytest.raises(RuntimeError, match="the sensor is gone"):
        oc.import_graph(broken(), tmp_path / "g.oc")
    assert not (tmp_path / "g.oc").exists()

    def frames():
        yield FRAME
        raise RuntimeError("no more tables")

    with pytest.raises(RuntimeError, match="no more tables"):
        oc.load_graph(frames())


def test_a_generator_is_read_within_the_limit(tmp_path):
    """The edges are many times what the import may hold."""
    frames = (pl.DataFrame({"source": range(i, i + 200_000), "target": [i] * 200_000}) for i in range(40))
    report = oc.import_graph(frames, tmp_path / "g.oc", memory="48MiB", threads=2)
    assert report["edges_read"] == 8_000_000


@pytest.mark.parametrize("kind", ["waiting", "empty", "reader"])
def test_ctrl_c_ends_an_import_that_waits_for_rows(kind, tmp_path):
    program = """
import itertools, sys, time
import outcore as oc, pyarrow as pa

first = pa.table({"source": [1], "target": [2]})

def rows():
    yield first
    print("waiting", flush=True)
    if sys.argv[1] == "empty":
        yield from itertools.repeat(first.slice(0, 0))
    while True:
        time.sleep(0.01)

given = rows()
if sys.argv[1] == "reader":
    given = pa.RecordBatchReader.from_batches(first.schema, (batch for part in given for batch in part.to_batches()))
try:
    oc.import_graph(given, sys.argv[2])
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    words = [sys.executable, "-c", program, kind, str(tmp_path / "g.oc")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate()
    assert (process.returncode, said) == (0, "interrupted\n")
    assert list(tmp_path.iterdir()) == []
