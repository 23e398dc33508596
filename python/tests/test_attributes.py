"""Attributes: columns of tables beside the ends of edges and beside ids of vertices, kept, read, written and counted by."""

import datetime
import itertools
import os
import pathlib
import random
import shutil
import subprocess
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outcore as oc

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
KINDS = ["work", "family", None, "friend, close", ""]
DAYS = [datetime.date(1969, 12, 30), datetime.date(2026, 2, 28), None]
TIMES = [datetime.datetime(2026, 1, 2, 3, 4, 5, 678901), None, datetime.datetime(1960, 1, 1)]


def table(edges: int, vertices: int = 40, seed: int = 3) -> pa.Table:
    """Edges between different ends, each once, with a column of every kind."""
    drawn = random.Random(seed)
    pairs = sorted({(drawn.randrange(vertices), drawn.randrange(vertices)) for _ in range(4 * edges)})
    drawn.shuffle(pairs)
    rows = [(source, target) for source, target in pairs if source != target][:edges]
    count = len(rows)
    pick = lambda values: [values[drawn.randrange(len(values))] for _ in range(count)]
    return pa.table(
        {
            "source": pa.array([source for source, _ in rows], pa.int64()),
            "target": pa.array([target for _, target in rows], pa.int64()),
            "weight": pa.array([drawn.randrange(1, 9) for _ in range(count)], pa.int64()),
            "kind": pa.array(pick(KINDS), pa.string()),
            "label": pa.array([f"label {drawn.randrange(10**9)}" for _ in range(count)], pa.string()),
            "minutes": pa.array([drawn.random() * 100 for _ in range(count)], pa.float64()),
            "lanes": pa.array([drawn.randrange(-3, 300) for _ in range(count)], pa.int16()),
            "toll": pa.array(pick([True, False, None]), pa.bool_()),
            "since": pa.array(pick(DAYS), pa.date32()),
            "seen": pa.array(pick(TIMES), pa.timestamp("us")),
            "score": pa.array(pick([0.5, None, float("nan"), -0.0]), pa.float32()),
        }
    )


def by_ends(rows: pa.Table, directed: bool = True) -> dict:
    """The rows by their ends; `repr` makes NaN equal to itself."""
    found = {}
    for row in rows.to_pylist():
        ends = (row.pop("source"), row.pop("target"))
        found[ends if directed else tuple(sorted(ends))] = repr(row)
    return found


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("memory", [None, "40MiB"])
def test_every_kind_of_column_comes_back(tmp_path: pathlib.Path, directed: bool, memory: str | None) -> None:
    edges = table(600)
    if not directed:
        keep = [row for row in edges.to_pylist() if row["source"] < row["target"]]
        edges = pa.Table.from_pylist(keep, schema=edges.schema)
    report = oc.import_graph(edges, tmp_path / "g.oc", attributes=True, directed=directed, memory=memory)
    kinds = ["string", "string", "real", "integer", "boolean", "date", "timestamp", "real"]
    assert [kind for _, kind in report["attributes"]] == kinds
    g = oc.Graph(tmp_path / "g.oc")
    assert g.check()["edges"] == len(edges)
    found = pa.table(g.edges(data=True))
    assert found.column_names == edges.column_names
    wanted = edges.cast(pa.schema([(f.name, found.schema.field(f.name).type) for f in edges.schema]))
    assert by_ends(found, directed) == by_ends(wanted, directed)
    assert found.schema.field("seen").type == pa.timestamp("us")
    # Dicts have no missing values, as in NetworkX.
    rows = {(source, target): data for source, target, data in g.edges(data=True)}
    first = next(row for row in edges.to_pylist() if row["kind"] is None)
    data = rows.get((first["source"], first["target"])) or rows[first["target"], first["source"]]
    assert "kind" not in data and data["lanes"] == first["lanes"] and data["label"] == first["label"]
    named = list(g.edges(data="since"))
    assert len(named) == len(edges) and {type(day) for *_, day in named} == {datetime.date, type(None)}
    with pytest.raises(oc.UsageError, match="which are weight, kind, label"):
        list(g.edges(data="colour"))
    # Nothing is kept that was not asked for.
    plain = oc.load_graph(edges, directed=directed)
    assert pa.table(plain.edges(data=True)).column_names == ["source", "target", "weight"]


def test_the_same_whatever_the_memory_and_the_threads(tmp_path: pathlib.Path) -> None:
    edges = table(30_000, vertices=3000)
    pq.write_table(edges, tmp_path / "edges.parquet", row_group_size=1000)
    images = []
    for threads, memory in [(1, "32MiB"), (2, "32MiB"), (2, None)]:
        image = tmp_path / f"{threads}-{memory}.oc"
        oc.import_graph(tmp_path / "edges.parquet", image, attributes=True, threads=threads, memory=memory)
        files = {file.relative_to(image): file.read_bytes() for file in image.rglob("*") if file.is_file()}
        images.append(files)
    assert images[0] == images[1] == images[2]
    assert len([name for name in images[0] if name.parent.name == "edges"]) > 20


def test_columns_larger_than_the_memory_are_looked_up_in_ranges(tmp_path: pathlib.Path) -> None:
    count = 3_000_000
    drawn = np.random.default_rng(5)
    source, target = drawn.integers(0, 200_000, count), drawn.integers(0, 200_000, count)
    stamp = drawn.integers(0, 1 << 60, count)
    rows = pa.table({"source": source, "target": target, "stamp": stamp})
    pq.write_table(rows, tmp_path / "edges.parquet", row_group_size=50_000)
    report = oc.import_graph(
        tmp_path / "edges.parquet", tmp_path / "g.oc", attributes="stamp", duplicates="keep", memory="40MiB", threads=2
    )
    # 24 MiB of one column do not fit a half of what the limit leaves.
    assert report["edges"] == count and report["stats"]["memory_limit_bytes"] == 40 << 20
    found = pl.DataFrame(oc.Graph(tmp_path / "g.oc").edges(data=True)).sort("source", "target", "stamp")
    wanted = pl.DataFrame(rows).sort("source", "target", "stamp")
    assert found.equals(wanted.cast({"source": pl.Int64, "target": pl.Int64}))
    assert oc.Graph(tmp_path / "g.oc").check()["edges"] == count


def test_of_duplicates_the_first_row_stays() -> None:
    rows = pd.DataFrame({"u": [1, 2, 1, 2, 3], "v": [2, 1, 2, 1, 3], "weight": [5, 6, 7, 8, 9], "name": list("abcde")})
    for duplicates, weights in [("first", (5, 6)), ("sum", (12, 14)), ("max", (7, 8))]:
        g = oc.load_graph(rows, attributes=True, duplicates=duplicates)
        found = {(u, v): (data["weight"], data["name"]) for u, v, data in g.edges(data=True)}
        assert found == {(1, 2): (weights[0], "a"), (2, 1): (weights[1], "b"), (3, 3): (9, "e")}, duplicates
    kept = oc.load_graph(rows, attributes=True, duplicates="keep")
    assert sorted(data["name"] for *_, data in kept.edges(data=True)) == list("abcde")
    # Without direction both ways are one edge, and the first of all rows stays.
    g = oc.load_graph(rows, attributes=True, directed=False)
    assert sorted(data["name"] for *_, data in g.edges(data=True)) == ["a", "e"]
    # Edges that go back have what their edge has.
    paths = oc.load_graph(nx.path_graph(3), directed=True)
    assert paths.number_of_edges() == 4
    dropped = oc.load_graph(rows, attributes=True, self_loops="drop")
    assert sorted(data["name"] for *_, data in dropped.edges(data=True)) == ["a", "b"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet"])
def test_exports_give_attributes_back(tmp_path: pathlib.Path, ending: str) -> None:
    edges = table(300)
    g = oc.load_graph(edges, attributes=True, vertices=pd.DataFrame({"id": [1, 99], "name": ["one, two", None]}))
    files = g.export(tmp_path / f"e.{ending}", vertices=tmp_path / f"v.{ending}")
    assert [file.name for file in files[-2:]] == [f"e.{ending}", f"v.{ending}"]
    back = oc.load_graph(tmp_path / f"e.{ending}", attributes=True, vertices=tmp_path / f"v.{ending}")
    assert dict(back.nodes(data=True)) == dict(g.nodes(data=True))
    assert dict(back.nodes(data=True))[1] == {"name": "one, two"} and back.number_of_nodes() == g.number_of_nodes()
    one, other = (pl.DataFrame(graph.edges(data=True)).sort("source", "target") for graph in (g, back))
    if ending == "parquet":
        assert one.equals(other)
        return
    # Dates and times are read as such. NaN is no number in text.
    assert one.drop("score").equals(other.drop("score"))


@pytest.mark.parametrize("ending", ["graphml", "gexf.gz", "jsonl"])
@pytest.mark.parametrize("weight", ["weight", "none"])
@pytest.mark.parametrize("directed", [True, False])
def test_documents_give_attributes_back(tmp_path: pathlib.Path, ending: str, weight: str, directed: bool) -> None:
    edges = table(300)
    odd = pa.array([f'<"{i}"> & \t\r\n ' if i % 3 else None for i in range(len(edges))], pa.string())
    zoned = pa.array([i * 10**9 if i % 5 else None for i in range(len(edges))], pa.timestamp("ns", "Europe/Vienna"))
    caps = pa.array([[1e300, float("inf"), float("-inf"), None, -0.0][i % 5] for i in range(len(edges))])
    edges = edges.append_column("o<d>d", odd).append_column("zoned", zoned).append_column("cap", caps)
    people = pa.table({
        "id": [1, 2, 99], "name": ["one, two", None, ""], "label": ["eins", "zwei & drei", None], "age": [7, None, -1],
        "tall": [1.85, None, float("inf")], "born": pa.array(DAYS, pa.date32()), "seen": pa.array(TIMES),
    })  # fmt: skip
    g = oc.load_graph(edges, weight=weight, attributes=True, vertices=people, directed=directed)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        g.export(tmp_path / f"e.{ending}")
    texts = [str(note.message) for note in notes]
    if ending != "jsonl":
        assert texts == []
        back = oc.load_graph(tmp_path / f"e.{ending}", attributes=True)
        assert dict(back.nodes(data=True)) == dict(g.nodes(data=True))
    else:
        assert len(texts) == 2 and "vertices=FILE" in texts[0] and "not finite were written as null" in texts[1]
        back = oc.load_graph(tmp_path / f"e.{ending}", attributes=True)
        edges = edges.drop_columns(["cap"])
        g = oc.load_graph(edges, weight=weight, attributes=True, vertices=people, directed=directed)
    assert back.is_directed() == directed and back.info()["weights"] == (None if weight == "none" else "weight")
    one, other = (pl.DataFrame(graph.edges(data=True)).sort("source", "target") for graph in (g, back))
    one = one.drop("score")
    other = other.select(one.columns)
    if ending == "jsonl":
        # The zone is not in the text.
        zone = pl.col("zoned").dt.convert_time_zone("UTC").dt.cast_time_unit("us")
        one, other = one.with_columns(zone), other.with_columns(zone)
    assert one.equals(other)


def test_results_go_along_with_the_vertices(tmp_path: pathlib.Path) -> None:
    rows = pa.table({"source": ["a", "b", "c", "x"], "target": ["b", "c", "a", "y"], "kind": ["p", None, "q", "p"]})
    towns = pa.table({"id": ["a", "lone"], "name": ["Linz", None]})
    g = oc.load_graph(rows, attributes=True, vertices=towns)
    ranks, found = oc.pagerank(g), oc.connected_components(g)
    both = found.join(ranks).sort_by("pagerank", descending=True)
    expected = {
        row["vertex"]: {name: row[name] for name in ("component", "pagerank")} for row in both.to_arrow().to_pylist()
    }
    for ending in ("graphml", "gexf"):
        g.export(tmp_path / f"g.{ending}", results=both)
        read = (nx.read_graphml if ending == "graphml" else nx.read_gexf)(tmp_path / f"g.{ending}")
        names = ("component", "pagerank")
        seen = {vertex: {name: data[name] for name in names} for vertex, data in read.nodes(data=True)}
        assert seen == expected and read.nodes["a"]["name"] == "Linz" and "name" not in read.nodes["lone"]
        assert read.edges["c", "a"]["kind"] == "q"
        back = oc.load_graph(tmp_path / f"g.{ending}", attributes=True)
        assert dict(back.nodes(data="component")) == dict(found.items())
    for ending in ("csv", "parquet"):
        g.export(tmp_path / "e.csv", vertices=tmp_path / f"v.{ending}", results=both)
        read = (pd.read_csv if ending == "csv" else pd.read_parquet)(tmp_path / f"v.{ending}")
        assert list(read.columns) == ["vertex", "name", "component", "pagerank"]
        assert dict(zip(read["vertex"], read["pagerank"])) == dict(ranks.items())
    with pytest.raises(oc.UsageError, match=r"expected \.graphml or \.gexf for results"):
        g.export(tmp_path / "none.csv", results=both)
    assert not (tmp_path / "none.csv").exists()
    with pytest.raises(oc.UsageError, match="all 6 vertices, found 3 rows"):
        g.export(tmp_path / "g.gexf", results=found[found["component"] == "a"])
    with pytest.raises(oc.UsageError, match="results of"):
        g.export(tmp_path / "g.gexf", results=oc.pagerank(oc.load_graph(rows)))
    named = oc.load_graph(rows, vertices=pa.table({"id": ["a"], "pagerank": [1]}))
    with pytest.raises(oc.UsageError, match="`pagerank` twice"):
        named.export(tmp_path / "g.gexf", results=oc.pagerank(named))


def test_what_xml_cannot_hold_is_refused(tmp_path: pathlib.Path) -> None:
    for columns in ({"kind": ["a\x01b"]}, {"a\x01b": ["kind"]}):
        g = oc.load_graph(pa.table({"source": [1], "target": [2]} | columns), attributes=True)
        for ending in ("graphml", "gexf"):
            with pytest.raises(oc.OutcoreError, match=r"XML cannot hold all characters.*\.parquet"):
                g.export(tmp_path / f"g.{ending}")
            assert not (tmp_path / f"g.{ending}").exists()
        g.export(tmp_path / "g.jsonl")
        assert list(oc.load_graph(tmp_path / "g.jsonl", attributes=True).edges(data=True)) == list(g.edges(data=True))


@pytest.mark.parametrize(("ending", "text"), [
    ("txt", "attributes were left out"), ("gml", "attributes of vertices were left out: vertices=FILE"),
    ("mtx", "numbers from 1"), ("net", "duplicates='keep'"),
])  # fmt: skip
def test_exports_warn_of_what_a_format_cannot_hold(tmp_path: pathlib.Path, ending: str, text: str) -> None:
    rows = pa.table({"source": ["a", "a"], "target": ["b", "b"], "kind": ["x", "y"]})
    g = oc.load_graph(rows, attributes=True, vertices=pa.table({"id": ["a"], "name": ["A"]}), duplicates="keep")
    with pytest.warns(UserWarning) as notes:
        g.export(tmp_path / f"g.{ending}")
    assert any(text in str(note.message) for note in notes)
    assert all(note.filename == __file__ for note in notes)


@pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
def test_other_formats_say_that_attributes_are_left_out(tmp_path: pathlib.Path) -> None:
    (tmp_path / "e.csv").write_text("source,target,kind\n1,2,a\n")
    (tmp_path / "v.csv").write_text("id,name\n1,one\n7,seven\n")
    run = lambda *words: subprocess.run(
        [OUTCORE, *words], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = run("import", "e.csv", "g.oc", "--attributes", "all", "--vertex-table", "v.csv").stderr
    assert "attributes   kind (string)" in found and "of vertices  name (string)" in found
    assert run("head", "g.oc").stdout == "source,target,kind\n1,2,a\n"
    found = run("export", "g.oc", "g.txt").stderr
    assert "attributes were left out" in found and "--vertex-table FILE" in found
    found = run("export", "g.oc", "out.csv", "--vertex-table", "nodes.csv").stderr
    assert "left out" not in found and "3 vertices in nodes.csv" in found
    assert (tmp_path / "nodes.csv").read_text() == "vertex,name\n1,one\n2,\n7,seven\n"
    assert run("import", "e.csv", "n.oc").stderr.count("Columns that are not read: kind. To keep them, say --attributes")


def test_text_files_are_typed_by_their_first_lines(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text('from,to,n,x,flag,code,name\n1,2,7,0.5,true,007,"a, b"\n2,3,NA,,False,1,\n')
    g = oc.load_graph(tmp_path / "a.csv", attributes=True)
    assert sorted(g.edges(data=True), key=str) == [
        (1, 2, {"n": 7, "x": 0.5, "flag": True, "code": "007", "name": "a, b"}),
        (2, 3, {"flag": False, "code": "1"}),
    ]
    kinds = {"n": "integer", "x": "real", "flag": "boolean", "code": "string", "name": "string"}
    assert dict(g.info()["attributes"]) == kinds
    only = oc.load_graph(tmp_path / "a.csv", attributes=["name", 3])
    assert (1, 2, {"name": "a, b", "n": 7}) in list(only.edges(data=True))
    rows = "".join(f"{i},{i + 1},{i}\n" for i in range(2000))
    (tmp_path / "late.csv").write_text("source,target,n\n" + rows + "7,9,many\n")
    with pytest.raises(oc.InputError, match=r"late.csv.*2002.*integer in column 3, `n`.*many"):
        oc.load_graph(tmp_path / "late.csv", attributes=True)
    for bad, message in [("colour", "no such column"), (["name", "name"], "twice"), ("from", "holds ids")]:
        with pytest.raises((oc.InputError, oc.UsageError), match=message):
            oc.load_graph(tmp_path / "a.csv", attributes=bad)


def test_files_of_one_import_have_the_same_attributes(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text("source,target,kind\n1,2,a\n")
    (tmp_path / "b.csv").write_text("source,target,kind\n2,3,b\n")
    (tmp_path / "c.csv").write_text("source,target,kind\n3,4,5\n")
    g = oc.load_graph([tmp_path / "a.csv", tmp_path / "b.csv"], attributes=True)
    assert sorted(g.edges(data="kind")) == [(1, 2, "a"), (2, 3, "b")]
    g = oc.load_graph([tmp_path / "a.csv", tmp_path / "c.csv"], attributes=True)
    assert sorted(g.edges(data="kind")) == [(1, 2, "a"), (3, 4, "5")]


def test_vertices_have_attributes(tmp_path: pathlib.Path) -> None:
    edges = [("a", "b"), ("b", "c")]
    nodes = pl.DataFrame({"id": ["c", "a", "z", "a"], "size": [3, None, 9, 4], "born": [DAYS[1], DAYS[0], None, None]})
    g = oc.load_graph(edges, vertices=nodes)
    assert dict(g.nodes(data=True)) == {
        "a": {"born": DAYS[0]},
        "b": {},
        "c": {"size": 3, "born": DAYS[1]},
        "z": {"size": 9},
    }
    assert dict(g.nodes(data="size")) == {"a": None, "b": None, "c": 3, "z": 9}
    frame = pl.DataFrame(g.nodes(data=True))
    assert frame.columns == ["vertex", "size", "born"] and frame["size"].null_count() == 2
    assert sorted(g.nodes) == ["a", "b", "c", "z"] and pl.DataFrame(g.nodes).columns == ["vertex"]
    assert g.check() and g.info()["vertex_attributes"]
    nodes.write_csv(tmp_path / "nodes.csv")
    nodes.write_parquet(tmp_path / "nodes.parquet")
    for file in ("nodes.csv", "nodes.parquet"):
        again = oc.load_graph(edges, vertices=tmp_path / file)
        assert dict(again.nodes(data="size")) == dict(g.nodes(data="size")), file
    numbers = oc.load_graph([(1, 2)], vertices=pd.DataFrame({"n": [2, 5], "name": ["two", "five"]}))
    assert dict(numbers.nodes(data="name")) == {1: None, 2: "two", 5: "five"}
    with pytest.raises(oc.InputError, match="like those of the edges"):
        oc.load_graph(edges, vertices=pd.DataFrame({"n": [2], "name": ["two"]}))
    with pytest.raises(oc.UsageError, match="which are size, born"):
        list(g.nodes(data="colour"))


def test_parts_of_graphs_keep_attributes(tmp_path: pathlib.Path) -> None:
    edges = table(200)
    nodes = pd.DataFrame({"id": range(40), "name": [f"v{i}" for i in range(40)]})
    oc.import_graph(edges, tmp_path / "g.oc", attributes=True, vertices=nodes)
    g = oc.Graph(tmp_path / "g.oc")
    whole = {(source, target): data for source, target, data in g.edges(data=True)}
    wanted = set(range(0, 40, 2))
    part = g.subgraph(sorted(wanted))
    found = {(source, target): data for source, target, data in part.edges(data=True)}
    assert repr(sorted(found.items())) == repr(sorted((e, d) for e, d in whole.items() if set(e) <= wanted))
    assert dict(part.nodes(data="name")) == {i: f"v{i}" for i in sorted(wanted)}
    turned = {(target, source): data for source, target, data in g.reverse().edges(data=True)}
    assert repr(sorted(turned.items())) == repr(sorted(whole.items()))


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_algorithms_count_by_any_attribute_that_is_a_number(tmp_path: pathlib.Path, where: str) -> None:
    edges = table(400)
    if where == "disk":
        oc.import_graph(edges, tmp_path / "g.oc", attributes=True)
        g = oc.Graph(tmp_path / "g.oc")
    else:
        g = oc.load_graph(edges, attributes=True)
    graph = nx.from_pandas_edgelist(edges.to_pandas(), edge_attr=True, create_using=nx.DiGraph)
    source = edges["source"][0].as_py()
    for name in ("weight", "minutes"):
        wanted = nx.single_source_dijkstra_path_length(graph, source, weight=name)
        found = {v: d for v, d in oc.sssp(g, source, weight=name).items() if d is not None}
        assert found.keys() == wanted.keys()
        assert all(abs(found[v] - wanted[v]) < 1e-9 for v in wanted), name
        ranks = nx.pagerank(graph, weight=name, tol=1e-12, max_iter=1000)
        mine = dict(oc.pagerank(g, weight=name, tol=1e-12, max_iter=1000).items())
        assert max(abs(ranks[v] - mine[v]) for v in ranks) < 1e-9, name
    assert oc.sssp(g, source, weight="minutes").stats["weights"] == "minutes"
    # What is no number for every edge is none to count by.
    for name in ("kind", "score", "toll", "colour"):
        with pytest.raises(oc.OutcoreError, match=f"`{name}`"):
            oc.sssp(g, source, weight=name)
    assert oc.estimate(oc.sssp, g, source=source, weight="minutes").passes > 0


def test_graphs_without_edges_or_rows(tmp_path: pathlib.Path) -> None:
    empty = table(5).slice(0, 0)
    g = oc.load_graph(empty, attributes=True)
    assert list(g.edges(data=True)) == [] and pa.table(g.edges(data=True)).column_names == empty.column_names
    assert g.check()["edges"] == 0
    lone = oc.load_graph(empty, attributes=True, vertices=pd.DataFrame({"id": [4], "name": ["x"]}))
    assert list(lone.nodes(data=True)) == [(4, {"name": "x"})]
    loop = oc.load_graph(pd.DataFrame({"source": [1], "target": [1], "name": ["self"]}), attributes=True, directed=False)
    assert list(loop.edges(data=True)) == [(1, 1, {"name": "self"})]
    nothing = pd.DataFrame({"source": [1, 2], "target": [2, 3], "note": pd.array([None, None], dtype="string")})
    assert sorted(oc.load_graph(nothing, attributes=True).edges(data="note")) == [(1, 2, None), (2, 3, None)]


def test_what_cannot_be_kept_is_left_out_or_refused() -> None:
    rows = pa.table({"source": [1], "target": [2], "tags": [["a", "b"]], "name": ["x"]})
    with pytest.warns(UserWarning, match="not read: tags"):
        g = oc.load_graph(rows, attributes=True)
    assert list(g.edges(data=True)) == [(1, 2, {"name": "x"})]
    with pytest.raises(oc.InputError, match="numbers, strings, booleans, dates or times in the column `tags`"):
        oc.load_graph(rows, attributes="tags")
    with pytest.raises(oc.InputError, match="18446744073709551615 in row 0"):
        oc.load_graph(pa.table({"source": [1], "target": [2], "n": pa.array([2**64 - 1], pa.uint64())}), attributes=True)
    many = pa.table({"source": [1], "target": [2]} | {f"a{i}": [i] for i in range(101)})
    with pytest.raises(oc.InputError, match="at most 100 attributes"):
        oc.load_graph(many, attributes=True)
    hundred = oc.load_graph(many.drop(["a100"]), attributes=True)
    assert list(hundred.edges(data=True)) == [(1, 2, {f"a{i}": i for i in range(100)})]


def test_strings_that_do_not_fit_the_memory_are_sorted_in_files(tmp_path: pathlib.Path) -> None:
    count = 200_000
    rows = pa.table({"source": range(count), "target": range(1, count + 1), "note": [f"{i:0100}" for i in range(count)]})
    pq.write_table(rows, tmp_path / "e.parquet", row_group_size=10_000)
    oc.import_graph(tmp_path / "e.parquet", tmp_path / "g.oc", attributes=True, memory="48MiB")
    with oc.Graph(tmp_path / "g.oc") as g:
        assert [g.edges[i, i + 1]["note"] for i in (0, 77_777, count - 1)] == [f"{i:0100}" for i in (0, 77_777, count - 1)]


@pytest.mark.parametrize("weighted", [True, False])
def test_damage_is_found(tmp_path: pathlib.Path, weighted: bool) -> None:
    nodes = pd.DataFrame({"id": [1, 2], "name": ["one", "two"]})
    edges = table(300)
    oc.import_graph(edges.drop(["weight"]) if not weighted else edges, tmp_path / "g.oc", attributes=True, vertices=nodes)
    for file in itertools.chain(*(sorted((tmp_path / "g.oc" / folder).iterdir()) for folder in ("edges", "vertices"))):
        whole = file.read_bytes()
        place = len(whole) // 2
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x40]) + whole[place + 1 :])
        with pytest.raises(oc.CorruptImageError, match=file.name.split(".")[0]):
            oc.Graph(tmp_path / "g.oc").check()
        file.write_bytes(whole)
    oc.Graph(tmp_path / "g.oc").check()


def test_a_column_type_that_says_no_direction_is_an_attribute(tmp_path: pathlib.Path) -> None:
    rows = pl.DataFrame(
        {"source": [1, 2], "target": [2, 3], "type": ["call", None], "minutes": [5, 6], "on": [True, False]}
    )
    rows.write_parquet(tmp_path / "t.parquet")
    rows.write_ipc(tmp_path / "t.arrow", compression=None)
    rows.write_csv(tmp_path / "t.csv")
    wanted = [(1, 2, {"type": "call", "minutes": 5, "on": True}), (2, 3, {"minutes": 6, "on": False})]
    inputs = [rows, rows.to_pandas(), rows.to_arrow(), *(tmp_path / f"t.{kind}" for kind in ("parquet", "arrow", "csv"))]
    for given in inputs:
        assert sorted(oc.load_graph(given, attributes=True).edges(data=True)) == wanted, given
        minutes = oc.load_graph(given, attributes=["minutes"])
        assert sorted(minutes.edges(data="minutes")) == [(1, 2, 5), (2, 3, 6)], given
        assert sorted(oc.load_graph(given, attributes="type").edges(data="type")) == [(1, 2, "call"), (2, 3, None)]
        weighted = oc.load_graph(given, attributes="on", weight="minutes")
        assert sorted(weighted.edges(data=True))[0] == (1, 2, {"minutes": 5, "on": True})
    with pytest.warns(UserWarning, match="not read: .*type"):
        oc.load_graph(rows, attributes="minutes")
    directions = rows.with_columns(type=pl.lit("Undirected"))
    g = oc.load_graph(directions, attributes=True)
    assert not g.is_directed() and sorted(g.edges(data=True))[1] == (2, 3, {"minutes": 6, "on": False})


def test_vertices_have_one_table_of_attributes(tmp_path: pathlib.Path) -> None:
    nodes = pd.DataFrame({"id": ["a", "b"], "name": ["A", "B"]})
    oc.import_graph([("a", "b")], tmp_path / "g.oc", vertices=nodes)
    with pytest.raises(oc.InputError, match=r"have some already \(name\)"):
        oc.load_graph([tmp_path / "g.oc"], vertices=pd.DataFrame({"id": ["z"], "age": [66]}))
    more = oc.load_graph([tmp_path / "g.oc"], vertices=["z"])
    assert dict(more.nodes(data="name")) == {"a": "A", "b": "B", "z": None}
    (tmp_path / "e.csv").write_text("source,target\nb,c\n")
    both = oc.load_graph([tmp_path / "g.oc", tmp_path / "e.csv"])
    assert dict(both.nodes(data="name")) == {"a": "A", "b": "B", "c": None}
    (tmp_path / "v.csv").write_text("1,anna\n2,ben\n")
    with pytest.raises(oc.InputError, match="names of the columns of a table of vertices"):
        oc.load_graph([(1, 2)], vertices=tmp_path / "v.csv")
    (tmp_path / "ids.csv").write_text("id\n7\n8\n")
    assert sorted(oc.load_graph([(1, 2)], vertices=tmp_path / "ids.csv").nodes) == [1, 2, 7, 8]


def test_digits_of_text_are_kept(tmp_path: pathlib.Path) -> None:
    (tmp_path / "c.csv").write_text("source,target,card\n1,2,12345678901234567890\n2,3,12345678901234567891\n")
    found = oc.load_graph(tmp_path / "c.csv", attributes=True).edges(data="card")
    assert sorted(found) == [(1, 2, "12345678901234567890"), (2, 3, "12345678901234567891")]
    rows = "".join(f"{i},{i + 1},1\n" for i in range(1500))
    for late in ("007", "12345678901234567890"):
        (tmp_path / "late.csv").write_text(f"source,target,code\n{rows}7,9,{late}\n")
        with pytest.raises(oc.InputError, match=late):
            oc.load_graph(tmp_path / "late.csv", attributes=True)


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv"])
def test_an_attribute_called_weight_is_none(tmp_path: pathlib.Path, ending: str) -> None:
    rows = pa.table({"source": [1, 2], "target": [2, 3], "weight": [9, 8], "type": ["x", "y"]})
    g = oc.load_graph(rows, weight="none", attributes=True)
    assert g.info()["weights"] is None and dict(g.info()["attributes"]) == {"weight": "integer", "type": "string"}
    g.export(tmp_path / f"r.{ending}")
    back = oc.load_graph(tmp_path / f"r.{ending}", attributes=True)
    assert back.info()["weights"] is None
    assert sorted(back.edges(data=True))[0] == (1, 2, {"weight": 9, "type": "x"})
    part = g.subgraph([1, 2])
    assert part.info()["weights"] is None and list(part.edges(data=True)) == [(1, 2, {"weight": 9, "type": "x"})]


def test_why_an_attribute_does_not_count_is_said() -> None:
    columns = {"a": [1, None], "b": ["x", "y"], "c": [1.0, float("inf")], "d": ["x", None]}
    g = oc.load_graph(pa.table({"source": [1, 2], "target": [2, 3], **columns}), attributes=True)
    whys = {"a": "is missing for some", "b": "is no number", "c": "is not finite for some", "d": "is no number"}
    for name, why in whys.items():
        with pytest.raises(oc.OutcoreError, match=f"`{name}`, which {why}"):
            oc.sssp(g, 1, weight=name)


def test_parts_of_other_columns_are_named(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text("source,target,kind\n1,2,a\n")
    (tmp_path / "b.csv").write_text("source,target,kind,n\n2,3,b,1\n")
    united = oc.load_graph([tmp_path / "a.csv", tmp_path / "b.csv"], attributes=True)
    assert sorted(united.edges(data="n")) == [(1, 2, None), (2, 3, 1)]
    # Text of two kinds is text; JSON has types.
    (tmp_path / "c.csv").write_text("source,target,kind,n\n3,4,1.5,1\n")
    united = oc.load_graph([tmp_path / "b.csv", tmp_path / "c.csv"], attributes=True)
    assert sorted(united.edges(data="kind")) == [(2, 3, "b"), (3, 4, "1.5")]
    (tmp_path / "b.jsonl").write_text('{"source": 2, "target": 3, "kind": "b"}\n')
    (tmp_path / "c.jsonl").write_text('{"source": 2, "target": 3, "kind": 1.5}\n')
    with pytest.raises(oc.InputError, match=r"c\.jsonl.*`kind` \(string\), as in .*b\.jsonl, found `kind` \(real\)"):
        oc.load_graph([tmp_path / "b.jsonl", tmp_path / "c.jsonl"], attributes=True)
    (tmp_path / "d.csv").write_bytes((tmp_path / "b.csv").read_bytes())
    named = oc.load_graph([tmp_path / "b.csv", tmp_path / "d.csv"], attributes=["n"], duplicates="keep")
    with pytest.raises(oc.InputError, match="every file once"):
        oc.load_graph([tmp_path / "b.csv", tmp_path / "b.csv"])
    assert sorted(named.edges(data="n")) == [(2, 3, 1), (2, 3, 1)]


def test_frames_with_columns_of_nothing(tmp_path: pathlib.Path) -> None:
    rows = pl.DataFrame({"source": [1], "target": [2], "n": [None], "m": [5]})
    assert list(oc.load_graph(rows, attributes=True).edges(data=True)) == [(1, 2, {"m": 5})]
    nodes = pl.DataFrame({"id": [1], "n": [None]})
    assert list(oc.load_graph([(1, 2)], vertices=nodes).nodes(data=True)) == [(1, {}), (2, {})]


def test_functions_of_networkx_count_by_attributes(tmp_path):
    (tmp_path / "t.csv").write_text("source,target,weight,minutes,kind\na,b,1,3,x\nb,c,1,4,y\na,c,1,10,x\n")
    oc.import_graph(tmp_path / "t.csv", tmp_path / "t.oc", attributes=True, directed=False)
    for graph in (oc.Graph(tmp_path / "t.oc"), oc.load_graph(tmp_path / "t.csv", attributes=True, directed=False)):
        twin = nx.Graph()
        twin.add_edges_from((*edge[:2], edge[2]) for edge in graph.edges(data=True))
        for name in ("weight", "minutes", "none there"):
            lengths = nx.single_source_dijkstra_path_length
            assert lengths(graph, "a", weight=name) == lengths(twin, "a", weight=name), name
            assert nx.shortest_path(graph, "a", "c", weight=name) == nx.shortest_path(twin, "a", "c", weight=name)
            assert nx.diameter(graph, weight=name) == nx.diameter(twin, weight=name)
            ours, theirs = nx.pagerank(graph, weight=name, tol=1e-10), nx.pagerank(twin, weight=name, tol=1e-10)
            assert ours == pytest.approx(theirs, abs=1e-8)
            assert (nx.to_numpy_array(graph, "abc", weight=name) == nx.to_numpy_array(twin, "abc", weight=name)).all()
        with pytest.raises(nx.NetworkXNotImplemented, match="kind"):
            nx.single_source_dijkstra_path_length(graph, "a", weight="kind")


def test_vertices_are_not_exported_over_the_edges(tmp_path):
    graph = oc.load_graph(table(30), attributes=True, vertices=pa.table({"id": [1], "vertex": [2]}))
    (tmp_path / "here").mkdir()
    for path in (tmp_path / "g.csv", tmp_path / "here" / ".." / "g.csv"):
        with pytest.raises(oc.UsageError, match="another file for vertices"):
            graph.export(tmp_path / "g.csv", vertices=path)
    assert not (tmp_path / "g.csv").exists()
    graph.export(tmp_path / "g.csv", vertices=tmp_path / "v.parquet")
    assert pl.read_parquet(tmp_path / "v.parquet").columns == ["vertex", "vertex.vertex"]


def test_tables_of_vertices_of_other_kinds_are_refused_and_dates_are_read(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    (tmp_path / "v.jsonl").write_text('{"id":"a","age":3}\n')
    with pytest.raises(oc.InputError, match="a table of vertices in CSV"):
        oc.load_graph(tmp_path / "e.csv", vertices=tmp_path / "v.jsonl")
    for frame in (pl.DataFrame, pa.table):
        graph = oc.load_graph([(1, 2)], vertices=frame({"id": [1, 5], "day": [datetime.date(2020, 1, 1), None]}))
        assert dict(graph.nodes(data="day"))[1] == datetime.date(2020, 1, 1)


def test_infinite_numbers_come_back_through_text(tmp_path):
    (tmp_path / "e.csv").write_text("source,target,cap\n1,2,inf\n2,3,-2.5\n3,4,-Infinity\n4,5,\n")
    graph = oc.load_graph(tmp_path / "e.csv", attributes=True)
    caps = {edge[:2]: edge[2] for edge in graph.edges(data="cap")}
    assert caps[1, 2] == float("inf") and caps[2, 3] == -2.5 and caps[3, 4] == float("-inf") and caps[4, 5] is None
    graph.export(tmp_path / "again.csv")
    again = oc.load_graph(tmp_path / "again.csv", attributes=True)
    assert list(again.edges(data=True)) == list(graph.edges(data=True))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("has_weights", [True, False])
def test_single_vertices_and_edges_have_their_data(directed: bool, has_weights: bool, tmp_path: pathlib.Path) -> None:
    rows = table(800, vertices=60)
    # A list over many pages, with neighbours of its own.
    hub = pa.table({name: rows[name].take(pa.array([i % len(rows) for i in range(30_000)])) for name in rows.column_names})
    far = pa.array(range(1000, 31_000), pa.int64())
    hub = hub.set_column(0, "source", pa.array([7] * 30_000, pa.int64())).set_column(1, "target", far)
    rows = pa.concat_tables([rows, hub])
    if not has_weights:
        rows = rows.drop_columns(["weight"])
    towns = pa.table({"id": pa.array([3, 7, 99]), "name": ["Linz", None, "Graz"], "size": [1, 2, None]})
    oc.import_graph(rows, tmp_path / "g.oc", attributes=True, vertices=towns, directed=directed, duplicates="first")
    with oc.Graph(tmp_path / "g.oc") as g:
        own = {}
        for source, target, data in g.edges(data=True):
            own.setdefault(source, []).append((source, target, data))
            if not directed and source != target:
                own.setdefault(target, []).append((target, source, data))
        for vertex in [7, *itertools.islice(g.nodes, 0, 60, 3)]:
            expected = sorted(own.get(vertex, []), key=lambda edge: edge[:2])
            assert repr(g.edges(vertex, data=True)) == repr(expected)
            assert g.edges([vertex], data="kind") == [(a, b, data.get("kind")) for a, b, data in expected]
            with_default = [(a, b, data.get("since", 0)) for a, b, data in expected]
            assert g.edges([vertex], data="since", default=0) == with_default
            for source, target, data in expected[:: len(expected) // 5 + 1]:
                assert repr(g.edges[source, target]) == repr(data)
        pair = [20_000, 7]
        # An edge without direction between both is there once.
        between = sum(1 for _, target, _ in own.get(20_000, []) if target == 7 and not directed)
        assert len(g.edges(pair, data=True)) == len(own.get(20_000, [])) + len(own[7]) - between
        assert (g.nodes[3], g.nodes[7], g.nodes[99]) == ({"name": "Linz", "size": 1}, {"size": 2}, {"name": "Graz"})
        assert g.nodes[1000] == {}
        assert dict(g.nodes.items())[99] == {"name": "Graz"}
        assert nx.get_node_attributes(g, "size") == {3: 1, 7: 2}
        assert dict(g.nodes(data="name", default="-"))[7] == "-"
        with pytest.raises(KeyError, match="99"):
            g.edges[99, 3]
        with pytest.raises(oc.NoVertexError):
            g.nodes[12345678]
        with pytest.raises(oc.NoVertexError):
            g.edges[12345678, 3]
        with pytest.raises(TypeError, match="expected two ids"):
            g.edges[3]
    plain = oc.load_graph([(1, 2), (2, 3)])
    assert (plain.edges(2, data=True), plain.edges[1, 2], plain.nodes[1]) == ([(2, 3, {})], {}, {})


def test_lines_within_attributes_go_through_text(tmp_path: pathlib.Path) -> None:
    notes = ["one\ntwo", "\"quoted\",\r\n# and more", "plain", None]
    rows = pa.table({"source": [1, 2, 3, 4], "target": [2, 3, 4, 1], "note": notes})
    people = pa.table({"id": [1, 2, 3, 4], "text": ["a\nb", "c", None, "d"]})
    with oc.load_graph(rows, attributes=True, vertices=people) as g:
        for name in ("e.csv", "e.tsv"):
            g.export(tmp_path / name, vertices=tmp_path / f"v.{name}")
            with oc.load_graph(tmp_path / name, attributes=True, vertices=str(tmp_path / f"v.{name}")) as back:
                assert sorted(back.edges(data=True), key=repr) == sorted(g.edges(data=True), key=repr)
                assert dict(back.nodes.items()) == dict(g.nodes.items())


def test_graphs_of_networkx_keep_their_attributes() -> None:
    graph = nx.MultiDiGraph()
    graph.add_edge("a", "b", weight=2, length=2.5, kind="x", at=datetime.date(2024, 2, 29))
    graph.add_edge("a", "b", length=1, open=True)
    graph.add_edge("b", "c", kind="y", source="s")
    graph.add_node("z", people=5)
    graph.nodes["a"]["name"] = "\u00c4"
    with pytest.warns(UserWarning, match="no attribute 'weight'"):
        g = oc.load_graph(graph, attributes=True)
    assert sorted(g.edges(data=True), key=str) == [
        ("a", "b", {"weight": 1, "length": 1.0, "open": True}),
        ("a", "b", {"weight": 2, "length": 2.5, "kind": "x", "at": datetime.date(2024, 2, 29)}),
        ("b", "c", {"weight": 1, "kind": "y", "source_": "s"}),
    ]
    assert dict(g.nodes(data=True)) == {"a": {"name": "\u00c4"}, "b": {}, "c": {}, "z": {"people": 5}}
    assert oc.sssp(oc.load_graph(graph, weight="length", attributes="kind"), "a").to_dict()["c"] == 2
    with pytest.warns(UserWarning, match="not kept: length, kind, at, open, source; attributes=True keeps them"):
        oc.load_graph(graph)
    with pytest.warns(UserWarning):
        part = oc.load_graph(graph, where="kind = y")
        named = oc.load_graph(graph, attributes=["kind"])
    assert (list(part.edges), sorted(part.nodes)) == ([("b", "c")], ["a", "b", "c", "z"])
    assert dict(named.nodes(data=True)) == {node: {} for node in "abcz"}
    assert [data.get("kind") for _, _, data in sorted(named.edges(data=True), key=str)] == [None, "x", "y"]
    mixed = nx.Graph([(1, 2, {"a": 1}), (2, 3, {"a": "x", "b": 2})])
    with pytest.raises(TypeError, match="values of one type as 'a' of edges"):
        oc.load_graph(mixed, attributes=True)
    # What cannot be a column cannot be compared, and hinders no other.
    assert list(oc.load_graph(mixed, where="b = 2").edges) == [(2, 3)]
    with pytest.raises(oc.InputError, match="no such column"):
        oc.load_graph(mixed, where="a = 1")
    plain = nx.les_miserables_graph()
    assert oc.pagerank(oc.load_graph(plain, attributes=True)).to_dict() == oc.pagerank(oc.load_graph(plain)).to_dict()


def test_duplicates_without_weights_are_noted_where_weights_were_to_be_combined(tmp_path: pathlib.Path) -> None:
    (tmp_path / "s.csv").write_text("payer,payee,amount\nann,bob,20\nbob,cy,5\nann,bob,30\n")
    for how in ("sum", "min", "max"):
        with pytest.warns(UserWarning, match=rf"no weights for duplicates='{how}': .* 1 were left out\..*weight=NAME"):
            oc.load_graph(tmp_path / "s.csv", attributes=True, duplicates=how)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = oc.load_graph(tmp_path / "s.csv", weight="amount", duplicates="sum")
    assert g.edges["ann", "bob"] == {"amount": 50}


def test_vertices_with_several_rows_and_tables_without_any_are_noted(tmp_path: pathlib.Path) -> None:
    (tmp_path / "s.csv").write_text("source,target\nann,bob\n")
    (tmp_path / "v.csv").write_text("id,score\nann,1\nann,2\nbob,3\n")
    with pytest.warns(UserWarning, match=r"several rows with attributes of one vertex only the first counts: .* 1\."):
        g = oc.load_graph(tmp_path / "s.csv", vertices=tmp_path / "v.csv")
    assert g.nodes["ann"]["score"] == 1
    (tmp_path / "v.csv").write_text("id,score\n")
    with pytest.warns(UserWarning, match=r"v\.csv: the table of vertices has no rows"):
        oc.load_graph(tmp_path / "s.csv", vertices=tmp_path / "v.csv")
    rows = "id,score\nann,1\n,2\n"
    (tmp_path / "v.csv").write_text(rows)
    pq.write_table(pa.table({"id": ["ann", None], "score": [1, 2]}), tmp_path / "v.parquet")
    for vertices in (tmp_path / "v.csv", tmp_path / "v.parquet", pa.table({"id": ["ann", None], "score": [1, 2]})):
        with pytest.raises(oc.InputError, match="nulls='skip'"):
            oc.load_graph(tmp_path / "s.csv", vertices=vertices)
        with pytest.warns(UserWarning, match=r"rows without an id that were left out: 1\."):
            g = oc.load_graph(tmp_path / "s.csv", vertices=vertices, nulls="skip")
        assert dict(g.nodes(data="score")) == {"ann": 1, "bob": None}
    for junk in (bytes(300), b"this is prose and\nmore of it\n"):
        (tmp_path / "v.csv").write_bytes(junk)
        with pytest.raises(oc.InputError) as refused:
            oc.load_graph(tmp_path / "s.csv", vertices=tmp_path / "v.csv")
        assert "table of vertices" in str(refused.value) and "graph500" not in str(refused.value)


def test_empty_files_among_others_meet_all_conditions(tmp_path: pathlib.Path) -> None:
    for name, text in (("a", "source,target,note\n1,2,x\n2,3,\n"), ("b", "source,target,note\n3,4,\n"), ("c", "")):
        (tmp_path / f"{name}.csv").write_text(text)
    g = oc.load_graph(tmp_path, where="note = null", attributes=["note"])
    assert sorted(g.edges) == [(2, 3), (3, 4)]


def test_a_time_that_is_none_is_refused_with_an_example(tmp_path: pathlib.Path) -> None:
    rows = "1,2,2026-10-01 12:00\n" * 1100
    (tmp_path / "s.csv").write_text("source,target,at\n" + rows)
    with pytest.raises(oc.InputError, match=r"`at` can have \(timestamp, such as 2024-02-29 18:30\), found `soon`"):
        oc.load_graph(tmp_path / "s.csv", where="at > soon")
    (tmp_path / "s.csv").write_text("source,target,at\n" + rows + "1,2,soon\n")
    with pytest.raises(oc.InputError, match=r"timestamp, such as 2024-02-29 18:30 in column 3, `at`, found `soon`"):
        oc.load_graph(tmp_path / "s.csv", attributes=True)


@pytest.mark.parametrize("ending", ["gexf", "graphml", "jsonl"])
def test_an_estimate_counts_neither_vertices_nor_attributes_of_a_document(tmp_path: pathlib.Path, ending: str) -> None:
    g = oc.load_graph(table(20_000, vertices=5_000), attributes=True)
    g.export(tmp_path / f"g.{ending}")
    edges = oc.estimate_import(tmp_path / f"g.{ending}", attributes=True).edges
    assert edges is not None and 0.7 < edges / 20_000 < 1.5


@pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
@pytest.mark.parametrize("names", [["day", 4], [5, "day"], ["kind", "day"], [5, 3], ["amount", 3, "kind"], ["4"], "all"])
@pytest.mark.parametrize("source", ["csv", "parquet", "several", "folders", "jsonl", "image"])
def test_attributes_are_in_the_order_in_which_they_are_named(source, names, tmp_path):
    columns = ["source", "target", "day", "kind", "amount"]
    frame = pl.DataFrame([(1, 2, "mo", "x", 10), (2, 3, "tu", "y", 20), (3, 1, "we", "x", 30)], schema=columns, orient="row")
    named = ["day", "kind", "amount"] if names == "all" else [columns[int(n) - 1] if str(n).isdigit() else n for n in names]
    words = names if names == "all" else ",".join(map(str, names))
    given = tmp_path / f"e.{source}"
    if source in ("csv", "several"):
        given = tmp_path / "a.csv"
        frame.write_csv(given)
    if source == "several":
        frame[1:].select(["amount", "kind", "target", "source", "day"]).write_csv(tmp_path / "b.csv")
        frame[:1].write_csv(given)
    if source == "parquet":
        frame.write_parquet(given)
    if source == "jsonl":
        frame.write_ndjson(given)
    if source == "image":
        oc.import_graph(frame, given, attributes=True)
        words, names = (words, names) if names == "all" else (",".join(named), named)
    if source == "folders":
        # The folder has a column of its own, which is the last one where all are taken.
        for day in frame["day"]:
            (tmp_path / f"f/day={day}").mkdir(parents=True)
            frame.filter(pl.col("day") == day).drop("day").write_csv(tmp_path / f"f/day={day}/p.csv")
        given = tmp_path / "f"
        if names == "all":
            named = ["kind", "amount", "day"]
        else:
            words, names = ",".join(named), named
    inputs = [given, tmp_path / "b.csv"] if source == "several" else [given]
    oc.import_graph(inputs, tmp_path / "python.oc", attributes=names)
    done = subprocess.run([OUTCORE, "import", *inputs, tmp_path / "shell.oc", "--attributes", words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for image in ("python.oc", "shell.oc"):
        graph = oc.Graph(tmp_path / image)
        assert [name for name, _ in graph.info()["attributes"]] == named
        rows = {(a, b): data for a, b, data in graph.edges(data=True)}
        assert rows == {(row["source"], row["target"]): {name: row[name] for name in named} for row in frame.to_dicts()}


def test_attributes_of_graph_formats_are_in_the_order_in_which_they_are_named(tmp_path):
    graph = nx.DiGraph()
    graph.add_node(1, a=1, b="x")
    graph.add_edge(1, 2, a=5, b="y", c=1.5)
    for name, write in (("g.graphml", nx.write_graphml), ("g.gexf", nx.write_gexf)):
        write(graph, tmp_path / name)
        oc.import_graph(tmp_path / name, tmp_path / "g.oc", attributes=["c", "b", "a"], replace=True)
        info = oc.Graph(tmp_path / "g.oc").info()
        assert [own for own, _ in info["attributes"]] == ["c", "b", "a"]
        assert [own for own, _ in info["vertex_attributes"]] == ["b", "a"]
    oc.import_graph(graph, tmp_path / "g.oc", attributes="all", replace=True)
    assert [own for own, _ in oc.Graph(tmp_path / "g.oc").info()["vertex_attributes"]] == ["a", "b"]
    oc.import_graph(graph, tmp_path / "g.oc", attributes=["c", "a"], replace=True)
    assert [own for own, _ in oc.Graph(tmp_path / "g.oc").info()["attributes"]] == ["c", "a"]
