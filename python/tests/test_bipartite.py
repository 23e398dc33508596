"""Graphs with two sides: ids that are two spaces, and the side as an attribute, compared with NetworkX and SciPy."""

import os
import pathlib
import random
import re
import shutil
import subprocess

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from networkx.algorithms import bipartite

import outcore as oc

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")


def rows(count: int = 600, users: int = 60, items: int = 90, seed: int = 5) -> list[tuple[int, int, float]]:
    """Pairs of a user and an item, each once, with a rating; both count from 1."""
    drawn = random.Random(seed)
    pairs = {(drawn.randrange(users) + 1, drawn.randrange(items) + 1) for _ in range(count)}
    return [(user, item, float(drawn.randrange(1, 6))) for user, item in sorted(pairs)]


def twin(pairs: list[tuple[int, int, float]], left: str = "left:", right: str = "right:") -> nx.Graph:
    """The same graph in NetworkX."""
    graph = nx.Graph()
    for user, item, rating in pairs:
        graph.add_node(f"{left}{user}", bipartite=0)
        graph.add_node(f"{right}{item}", bipartite=1)
        graph.add_edge(f"{left}{user}", f"{right}{item}", weight=rating)
    return graph


def same(graph: oc.Graph, expected: nx.Graph) -> None:
    assert not graph.is_directed()
    assert dict(graph.nodes(data="bipartite")) == dict(expected.nodes(data="bipartite"))
    edges = {frozenset(edge[:2]): edge[2] for edge in graph.edges(data="weight")}
    assert edges == {frozenset(edge[:2]): edge[2] for edge in expected.edges(data="weight")}


@pytest.mark.parametrize("order", ["input", "degree", "near", "auto"])
def test_the_two_sides_are_those_of_networkx(order, tmp_path):
    pairs, expected = rows(), twin(rows())
    frame = pd.DataFrame(pairs, columns=["source", "target", "weight"])
    same(oc.load_graph(frame, bipartite=True, order=order), expected)
    same(oc.load_graph(pl.from_pandas(frame), bipartite=True, order=order), expected)
    same(oc.load_graph(tuple(frame[name].to_numpy() for name in frame), bipartite=True, order=order), expected)
    frame.to_csv(tmp_path / "e.csv", index=False)
    frame.to_parquet(tmp_path / "e.parquet")
    (tmp_path / "out.ratings").write_text("% bip weighted\n" + "".join(f"{u} {i} {r}\n" for u, i, r in pairs))
    frame.to_json(tmp_path / "e.jsonl", orient="records", lines=True)
    for name in ("e.csv", "e.parquet", "e.jsonl"):
        oc.import_graph(tmp_path / name, tmp_path / "g.oc", bipartite=True, order=order, replace=True)
        same(oc.Graph(tmp_path / "g.oc"), expected)
    report = oc.import_graph(tmp_path / "out.ratings", tmp_path / "k.oc", order=order)
    assert [list(field) for field in report["vertex_attributes"]] == [["bipartite", "integer"]]
    assert "% bip weighted" in report["direction_from"]
    graph = oc.Graph(tmp_path / "k.oc")
    same(graph, expected)
    assert any("begin with `left:`" in note for note in report["notes"])
    assert bipartite.is_bipartite(expected) and oc.triangles(graph).total == 0
    ranks, reference = dict(oc.pagerank(graph).items()), nx.pagerank(expected, tol=1e-12, max_iter=1000)
    assert all(abs(ranks[node] - reference[node]) < 1e-6 for node in expected)


def test_a_konect_file_of_two_sides_is_a_matrix(tmp_path):
    entries = [(1, 1, 3), (1, 2, 5), (2, 1, 4), (3, 2, 2), (3, 1, 1), (9, 2, 7)]
    (tmp_path / "out.ratings").write_text("% bip weighted\n" + "".join(f"{u} {i} {r}\n" for u, i, r in entries))
    expected = pd.DataFrame(entries).pivot(index=0, columns=1, values=2).fillna(0)
    shell(tmp_path, "import", "--as", "matrix", "out.ratings", "shell.oc")
    for own in (oc.import_matrix(tmp_path / "out.ratings", tmp_path / "m.oc"), oc.SparseMatrix(tmp_path / "shell.oc")):
        assert own.shape == (4, 2) and (own.toarray() == expected.to_numpy()).all()
        assert (own @ np.ones(2)).tolist() == expected.sum(axis=1).tolist()
        # Rows and columns have the ids of the file.
        assert [str(name) for name in own.row_ids] == [str(name) for name in expected.index], own.row_ids
        assert [str(name) for name in own.column_ids] == [str(name) for name in expected.columns]


def test_prefixes_are_the_users_choice(tmp_path):
    pairs = rows(50)
    expected = twin(pairs, "user/", "item/")
    edges = [(user, item, rating) for user, item, rating in pairs]
    same(oc.load_graph(edges, bipartite=("user/", "item/")), expected)
    (tmp_path / "e.tsv").write_text("".join(f"{u}\t{i}\t{r}\n" for u, i, r in pairs))
    shell(tmp_path, "import", "e.tsv", "g.oc", "--bipartite=user/,item/", "--weight", "3")
    same(oc.Graph(tmp_path / "g.oc"), expected)
    said = shell(tmp_path, "import", "e.tsv", "d.oc", "--bipartite", "--directed", "--weight", "3")
    assert "left:" in said and "right:" in said, said
    graph = oc.Graph(tmp_path / "d.oc")
    assert graph.is_directed() and graph.number_of_edges() == len(pairs)
    assert graph.number_of_edges() == sum(node.startswith("left:") for node, _ in graph.edges)
    assert set(graph.neighbors("left:1")) <= {f"right:{item}" for _, item, _ in pairs}
    assert all(side == int(node.startswith("right:")) for node, side in graph.nodes(data="bipartite"))


def test_a_matrix_of_users_and_items_need_not_be_square():
    matrix = sp.random(40, 70, density=0.05, random_state=1, format="csr")
    graph = oc.load_graph(matrix, bipartite=True)
    expected = bipartite.from_biadjacency_matrix(matrix)
    named = nx.relabel_nodes(expected, lambda v: f"left:{v}" if v < 40 else f"right:{v - 40}")
    same(graph, named)
    assert len(graph) == 110
    same(oc.load_graph(sp.csr_matrix((3, 2)), bipartite=True), twin_of_isolated(3, 2))
    with pytest.raises(ValueError, match="bipartite=True"):
        oc.load_graph(matrix)


def twin_of_isolated(left: int, right: int) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from((f"left:{v}" for v in range(left)), bipartite=0)
    graph.add_nodes_from((f"right:{v}" for v in range(right)), bipartite=1)
    return graph


def test_sides_stay_with_parts_and_beside_other_attributes(tmp_path):
    edges = pl.DataFrame({"source": ["ann", "bob"], "target": ["ann", "dune"], "stars": [3, 5]})
    people = pl.DataFrame({"id": ["left:ann", "right:dune", "left:eve"], "year": [1990, 1965, 2001]})
    graph = oc.load_graph(edges, bipartite=True, attributes=True, vertices=people)
    assert dict(graph.nodes(data=True)) == {
        "left:ann": {"bipartite": 0, "year": 1990},
        "left:bob": {"bipartite": 0},
        "left:eve": {"bipartite": 0, "year": 2001},
        "right:ann": {"bipartite": 1},
        "right:dune": {"bipartite": 1, "year": 1965},
    }
    part = graph.subgraph(["left:ann", "right:ann"])
    assert dict(part.nodes(data="bipartite")) == {"left:ann": 0, "right:ann": 1}
    graph.export(tmp_path / "e.csv", vertices=tmp_path / "v.csv")
    again = oc.load_graph(str(tmp_path / "e.csv"), vertices=str(tmp_path / "v.csv"), directed=False, attributes=True)
    assert dict(again.nodes(data=True)) == dict(graph.nodes(data=True))
    assert list(again.edges(data=True)) == list(graph.edges(data=True))


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ([(1, 2)], {"bipartite": ("u", "us")}, "bipartite=.*none begins with the other"),
        ([(1, 2)], {"bipartite": ("", "i")}, "none begins with the other"),
        (nx.path_graph(3), {"bipartite": True}, "NetworkX graph"),
        ([(1, 2)], {"bipartite": True, "vertices": [1, 2]}, "vertices"),
        ([(1, 2)], {"bipartite": True, "vertices": 5}, "vertices"),
        ([(1, 2)], {"bipartite": ("u", "i", "x")}, "bipartite"),
        ([(1, 2)], {"bipartite": "u"}, "bipartite"),
    ],
)
def test_what_cannot_be_is_refused(given, options, words):
    with pytest.raises((oc.OutcoreError, TypeError, ValueError), match=words):
        oc.load_graph(given, **options)


def test_lists_of_vertices_have_no_side(tmp_path):
    (tmp_path / "e.txt").write_text("1 2\n")
    (tmp_path / "e.txt.vertices").write_text("7\n")
    with pytest.raises(oc.OutcoreError, match="a list of vertices"):
        oc.load_graph(str(tmp_path / "e.txt"), bipartite=True)
    (tmp_path / "m.gml").write_text("graph [ node [ id 1 ] ]")
    with pytest.raises(oc.OutcoreError, match="bipartite="):
        oc.load_graph(str(tmp_path / "m.gml"), bipartite=True)


def test_ids_of_a_table_without_the_prefix_of_a_side_are_refused():
    with pytest.raises(oc.OutcoreError, match="`left:` or `right:`, found `3`"):
        oc.load_graph([(1, 1)], bipartite=True, vertices=pd.DataFrame({"id": ["left:1", "3"], "x": [1, 3]}))


def test_columns_of_users_and_items_need_no_advice(tmp_path):
    (tmp_path / "r.csv").write_text("user,item\n1,1\n2,1\n")
    assert any("say --bipartite" in note or "bipartite" in note for note in oc.import_graph(tmp_path / "r.csv", tmp_path / "r.oc")["notes"])
    assert oc.import_graph(tmp_path / "r.csv", tmp_path / "b.oc", bipartite=True)["notes"] == []
    frame = pl.read_csv(tmp_path / "r.csv")
    assert oc.import_graph(frame, tmp_path / "f.oc", bipartite=True)["notes"] == []
    graph = oc.load_graph(frame, bipartite=True, directed=True)
    assert sorted(graph.edges) == [("left:1", "right:1"), ("left:2", "right:1")]


def test_an_empty_graph_with_two_sides(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\n")
    graph = oc.load_graph(str(tmp_path / "e.csv"), bipartite=True)
    assert len(graph) == 0 and list(graph.nodes(data="bipartite")) == []


def test_the_memory_limit_holds(tmp_path):
    drawn = np.random.default_rng(1)
    count = 3_000_000
    frame = pl.DataFrame({"source": drawn.integers(0, 400_000, count), "target": drawn.integers(0, 400_000, count)})
    frame.write_csv(tmp_path / "e.csv")
    said = shell(tmp_path, "import", "e.csv", "g.oc", "--bipartite", "--memory", "34MiB", "--threads", "2")
    assert float(re.search(r"peak memory ([\d.]+) MiB", said)[1]) <= 34, said
    assert (tmp_path / "e.csv").stat().st_size > 34 << 20
    graph = oc.Graph(tmp_path / "g.oc")
    assert len(graph) == frame["source"].n_unique() + frame["target"].n_unique()
    assert graph.number_of_edges() == frame.n_unique()


def shell(folder: pathlib.Path, *words: str) -> str:
    done = subprocess.run([OUTCORE, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
@pytest.mark.parametrize("rows, columns, kind", [((1, 5), (5, 7), pa.int64()), (("ann", "eve"), ("dune", "heat"), pa.string())])
def test_rows_and_columns_of_results_have_the_ids_that_were_given(rows, columns, kind, tmp_path):
    pairs = [(rows[0], columns[0], 5.0), (rows[0], columns[1], 3.0), (rows[1], columns[0], 1.0)]
    oc.import_matrix(pairs, tmp_path / "m.oc", bipartite=True)

    def run(*arguments):
        subprocess.run([OUTCORE, "run", *arguments, "--quiet"], check=True, cwd=tmp_path)

    run("svds", "m.oc", "--k", "1", "--output", "u.parquet", "--right", "v.csv")
    u, v = pq.read_table(tmp_path / "u.parquet"), pl.read_csv(tmp_path / "v.csv")
    assert u.schema.field("row").type == kind
    assert (u["row"].to_pylist(), v["column"].to_list()) == (list(rows), list(columns))
    # A result is an input of the next run, with its ids or with their prefixes.
    prefixed = u.set_column(0, "row", pa.array([f"left:{id}" for id in rows]))
    pq.write_table(prefixed, tmp_path / "prefixed.parquet")
    for factor in ("u.parquet", "prefixed.parquet"):
        run("multiply", "m.oc", "--transpose", "--by", factor, "--output", "product.csv")
        assert pl.read_csv(tmp_path / "product.csv")["column"].to_list() == list(columns)
    other = u.set_column(0, "row", pa.array([rows[1], rows[0]]))
    pq.write_table(other, tmp_path / "other.parquet")
    command = [OUTCORE, "run", "multiply", "m.oc", "--transpose", "--by", "other.parquet", "--output", "product.csv"]
    refused = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert refused.returncode == 5 and f"the id {rows[0]} in row 0" in refused.stderr


ODD_IDS = ["007", "7", "+7", "7.0", " 7", "-0", "0", "٧", "1_0", "1e3", "left:7"]


@pytest.mark.parametrize("source", ["list", "frame", "parquet", "csv"])
def test_ids_of_rows_that_are_nearly_integers_come_back_as_they_were(source, tmp_path):
    ids = [id for id in ODD_IDS if source != "csv" or id == id.strip()]
    pairs = [(row, column, float(place)) for place, (row, column) in enumerate(zip(ids, reversed(ids), strict=True))]
    frame = pl.DataFrame(pairs, schema=["row", "column", "value"], orient="row")
    if source == "csv":
        frame.write_csv(tmp_path / "m.csv")
    frame.write_parquet(tmp_path / "m.parquet")
    given = {"list": pairs, "frame": frame, "parquet": tmp_path / "m.parquet", "csv": tmp_path / "m.csv"}[source]
    options = {"ids": "string"} if source == "csv" else {}
    made = oc.import_graph(given, tmp_path / "g.oc", bipartite=True, **options)
    assert made["vertices"] == 2 * len(ids)
    own = oc.import_matrix(given, tmp_path / "m.oc", bipartite=True)
    assert (own.row_ids, own.column_ids) == (sorted(ids), sorted(ids))
    dense = own.toarray()
    assert {(row, column, dense[own.row_ids.index(row), own.column_ids.index(column)]) for row, column, _ in pairs} == set(pairs)


@pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
@pytest.mark.parametrize("id", ["left:007", "left:+7", "left:7.0", "left:seven", "right:-0", "left:"])
def test_a_table_of_vertices_adds_no_id_that_comes_back_as_another(id, tmp_path):
    (tmp_path / "m.csv").write_text("row,column,value\n7,1,2.5\n8,0,1.5\n")
    (tmp_path / "vertices.csv").write_text(f"vertex\nleft:9\n{id}\n")
    words = [OUTCORE, "import", "--as", "matrix", "--bipartite", "m.csv", "m.oc", "--vertex-table", "vertices.csv"]
    refused = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert refused.returncode != 0 and "expected integers behind `left:` and `right:`" in refused.stderr, refused
    assert f"`{id}`" in refused.stderr and not (tmp_path / "m.oc").exists()
    shell(tmp_path, *words[1:], "--ids", "string")
    rows = {other.removeprefix("left:") for other in ("left:7", "left:8", "left:9", id) if other.startswith("left:")}
    assert oc.SparseMatrix(tmp_path / "m.oc").row_ids == sorted(rows)
    (tmp_path / "vertices.csv").write_text("vertex\nleft:9\nright:-3\n")
    shell(tmp_path, *words[1:], "--replace")
    own = oc.SparseMatrix(tmp_path / "m.oc")
    assert (own.row_ids, own.column_ids) == ([7, 8, 9], [-3, 0, 1])
