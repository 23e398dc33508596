"""Which edges are read: conditions on attributes and weights, the names of folders, and how many edges there must be."""

import datetime
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import outcore as oc

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
DAY = datetime.date(2024, 2, 29)
TIME = datetime.datetime(2024, 3, 1, 12, 30)


def frame(edges: int = 300, seed: int = 5) -> pl.DataFrame:
    """Edges between different ends, each once, with columns of every kind, some values missing."""
    drawn = random.Random(seed)
    pairs = drawn.sample([(a, b) for a in range(40) for b in range(40)], edges)
    pick = lambda values: [drawn.choice(values) for _ in pairs]
    return pl.DataFrame(
        {
            "source": [a for a, _ in pairs],
            "target": [b for _, b in pairs],
            "weight": pick([1, 2, 3, 4, 5]),
            "lanes": pick([-2, 0, 1, 7, None, 2**60, 2**60 + 1]),
            "minutes": pick([0.5, -1.5, 2.0, None, math.inf, 1e300]),
            "kind": pick(["rail", "road", "", "a, b", "it's", None]),
            "toll": pick([True, False, None]),
            "day": pick([DAY, DAY + datetime.timedelta(1), datetime.date(1960, 1, 1), None]),
            "seen": pick([TIME, TIME + datetime.timedelta(microseconds=1), None]),
        }
    )


COL = pl.col
CONDITIONS = [
    ("lanes >= 1", COL("lanes") >= 1),
    ("lanes<1", COL("lanes") < 1),
    ("lanes > 0.5", COL("lanes") > 0.5),
    (f"lanes == {2**60 + 1}", COL("lanes") == 2**60 + 1),
    (f"lanes > {2**60}.0", COL("lanes") == 2**60 + 1),
    ("lanes <= 1e300", COL("lanes").is_not_null()),
    ("lanes in 0, 7", COL("lanes").is_in([0, 7])),
    ("lanes not in -2,0", COL("lanes").is_not_null() & ~COL("lanes").is_in([-2, 0])),
    (("lanes", "in", [1, None]), COL("lanes").is_null() | (COL("lanes") == 1)),
    ("lanes = null", COL("lanes").is_null()),
    ("lanes != null", COL("lanes").is_not_null()),
    ("minutes < 2", COL("minutes") < 2),
    (("minutes", "=", math.inf), COL("minutes") == math.inf),
    ("minutes != 2.0", COL("minutes") != 2.0),
    ("kind = rail", COL("kind") == "rail"),
    ("kind = ''", COL("kind") == ""),
    ('kind in "a, b",road', COL("kind").is_in(["a, b", "road"])),
    ('kind = "it\'s"', COL("kind") == "it's"),
    (("kind", ">", "rail"), COL("kind") > "rail"),
    ("toll = true", COL("toll")),
    (("toll", "!=", True), ~COL("toll")),
    (f"day > {DAY}", COL("day") > DAY),
    (("day", "<=", DAY), COL("day") <= DAY),
    ("seen = '2024-03-01 12:30'", COL("seen") == TIME),
    (("seen", ">", TIME), COL("seen") > TIME),
    ("seen < 2024-03-01T12:30:00.000001Z", COL("seen") == TIME),
    ("weight >= 3", COL("weight") >= 3),
    ("weight < 2.5", COL("weight") < 2.5),
    (["lanes >= 0", ("kind", "=", "road")], (COL("lanes") >= 0) & (COL("kind") == "road")),
]


def edges_of(graph: oc.Graph) -> set:
    return {(a, b) for a, b in graph.edges}


@pytest.mark.parametrize("place", range(len(CONDITIONS)))
def test_conditions_leave_the_edges_that_polars_leaves(place: int, tmp_path: pathlib.Path) -> None:
    condition, expression = CONDITIONS[place]
    table = frame()
    expected = set(table.filter(expression).select("source", "target").iter_rows())
    assert 0 < len(expected) < len(table)
    with oc.load_graph(table, where=condition) as read, oc.load_graph(table, attributes=True) as graph:
        assert edges_of(read) == expected
        assert set(read.nodes) == {vertex for edge in expected for vertex in edge}
        assert read.info()["attributes"] == []
        left = graph.filter(condition)
        assert edges_of(left) == expected
        assert set(left.nodes) == set(graph.nodes)
        # Attributes stay with their edges.
        kept = pl.from_arrow(pa.table(left.edges(data=True)))
        whole = table.filter(expression).sort("source", "target")
        assert kept.sort("source", "target").select(whole.columns).equals(whole)
    if "lanes" not in str(condition) or "null" not in str(condition):
        table.write_parquet(tmp_path / "t.parquet")
        with oc.load_graph(tmp_path / "t.parquet", where=condition, attributes=["kind"]) as read:
            assert edges_of(read) == expected
            assert [name for name, _ in read.info()["attributes"]] == ["kind"]


def test_conditions_hold_for_text_documents_and_strings(tmp_path: pathlib.Path) -> None:
    (tmp_path / "t.csv").write_text("from,to,amount,kind\na,b,5,x\nb,c,,y\nc,a,7,x\n")
    (tmp_path / "plain.txt").write_text("1 2 5\n2 3 7\n3 1 9\n")
    rows = [{"source": "a", "target": "b", "amount": 5}, {"source": "b", "target": "c"}]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    load = lambda name, where, **more: sorted(oc.load_graph(tmp_path / name, where=where, **more).edges)
    assert load("t.csv", "amount > 5") == [("c", "a")]
    assert load("t.csv", ["amount >= 5", "kind = x"]) == [("a", "b"), ("c", "a")]
    assert load("t.csv", "amount = null") == [("b", "c")]
    assert load("plain.txt", "3 >= 7", source=1, target=2) == [(2, 3), (3, 1)]
    assert load("t.jsonl", "amount = 5") == [("a", "b")]
    graph = oc.load_graph(tmp_path / "t.csv", attributes=True)
    for name in ("t.graphml", "t.gexf"):
        (tmp_path / name).write_text(
            {
                "t.graphml": """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
                    <key id="d" for="edge" attr.name="amount" attr.type="int"/><graph edgedefault="directed">
                    <node id="a"/><node id="b"/><node id="c"/>
                    <edge source="a" target="b"><data key="d">5</data></edge><edge source="b" target="c"/></graph></graphml>""",
                "t.gexf": """<gexf xmlns="http://gexf.net/1.3"><graph defaultedgetype="directed">
                    <attributes class="edge"><attribute id="d" title="amount" type="integer"/></attributes>
                    <nodes><node id="a"/><node id="b"/><node id="c"/></nodes><edges>
                    <edge source="a" target="b"><attvalues><attvalue for="d" value="5"/></attvalues></edge>
                    <edge source="b" target="c"/></edges></graph></gexf>""",
            }[name]
        )
        with oc.load_graph(tmp_path / name, where="amount = 5") as read:
            # Documents list their vertices.
            assert (sorted(read.edges), sorted(read.nodes)) == ([("a", "b")], ["a", "b", "c"])
    (tmp_path / "t.sif").write_text("a pp b c\nb pd c\n")
    assert load("t.sif", "interaction = pd") == [("b", "c")]
    with graph.filter("kind = x", tmp_path / "x.oc", attributes=["amount"]) as left:
        assert sorted(left.edges(data=True)) == [("a", "b", {"amount": 5}), ("c", "a", {"amount": 7})]


def test_what_conditions_leave_out_is_no_warning(tmp_path: pathlib.Path) -> None:
    for kind in ("a", "b"):
        (tmp_path / "in" / f"kind={kind}").mkdir(parents=True)
        frame().select("source", "target").write_parquet(tmp_path / "in" / f"kind={kind}" / "t.parquet")
    oc.import_graph(frame(), tmp_path / "g.oc", attributes=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with oc.load_graph(frame(), where="weight >= 3", attributes=True) as graph:
            edges = len(graph.edges)
            assert 0 < len(graph.filter("weight >= 5").edges) < edges
        with oc.load_graph(tmp_path / "g.oc", where="vertex >= 20") as graph:
            assert min(graph) == 20
        with oc.load_graph(tmp_path / "in", where="kind = a") as graph:
            assert len(graph.edges) == 300
    # The report has them, in the words of Python.
    notes = [
        oc.import_graph(frame(), tmp_path / "a.oc", where="weight >= 3")["notes"],
        oc.import_graph(tmp_path / "g.oc", tmp_path / "b.oc", where="vertex >= 20")["notes"],
        oc.import_graph(tmp_path / "in", tmp_path / "c.oc", where="kind = a")["notes"],
    ]
    for those, noun in zip(notes, ("Edges", "Vertices", "Files in folders"), strict=True):
        assert any(note.startswith(f"{noun} that do not meet where=") for note in those), those


def test_what_cannot_be_compared_is_refused() -> None:
    table = frame()
    for where, said in [
        ("speed > 3", "found no such column"),
        ("lanes > fast", "a value that `lanes` can have"),
        ("day > yesterday", "a value that `day` can have"),
        ("toll < maybe", "a value that `toll` can have"),
        ("lanes", "a column, a comparison and a value"),
        (">= 3", "the name of a column before"),
        ("lanes > null", "less or more than another"),
        (("lanes", "like", "x"), "one of the comparisons"),
    ]:
        of_data = said.startswith(("found", "a value that"))
        with pytest.raises(oc.InputError if of_data else oc.UsageError, match=r"(?s)where.*" + said) as refused:
            oc.load_graph(table, where=where)
        assert refused.value.kind == ("input" if of_data else "usage")
    with pytest.raises(TypeError, match="expected where= as text"):
        oc.load_graph(table, where=3)
    for comparison, value in (("=", [1, 2]), ("=", [1]), ("=", b"1"), ("<", {"a": 1}), ("in", 1), ("in", "abc"), ("in", {1: 2})):
        with pytest.raises(TypeError, match="expected .*value.* behind"):
            oc.load_graph(table, where=("lanes", comparison, value))
    with oc.load_graph(table) as graph, pytest.raises(oc.UsageError, match="there are"):
        graph.filter("lanes > 3")
    with oc.load_graph(table, attributes=True) as graph, pytest.raises(oc.UsageError, match="no such attribute"):
        graph.filter("lanes > 3", attributes=["speed"])


def test_times_are_compared_exactly(tmp_path: pathlib.Path) -> None:
    seconds = pa.table({"source": [0, 1, 2, 3], "target": [4, 5, 6, 7], "at": pa.array([0, 1, -1, 9], pa.timestamp("s"))})
    oc.import_graph(seconds, tmp_path / "s.oc", attributes=True)
    half, minus = "1970-01-01T00:00:00.5", "1969-12-31T23:59:59.5"
    nanoseconds = np.datetime64("1970-01-01T00:00:00.000000001")
    for where, sources in [
        (f"at = {half}", []),
        (f"at != {half}", [0, 1, 2, 3]),
        (f"at >= {half}", [1, 3]),
        (f"at > {half}", [1, 3]),
        (f"at < {half}", [0, 2]),
        (f"at <= {half}", [0, 2]),
        (f"at = {minus}", []),
        (f"at > {minus}", [0, 1, 3]),
        (("at", ">=", nanoseconds), [1, 3]),
        (("at", ">=", pd.Timestamp(1, unit="ns")), [1, 3]),
        (("at", "in", [nanoseconds, np.datetime64(1, "s"), np.datetime64("1970-01-01", "D")]), [0, 1]),
        (("at", "=", np.datetime64("1970", "Y")), [0]),
        (("at", "=", np.datetime64(0, "h")), [0]),
    ]:
        assert sorted(source for source, _ in oc.load_graph(seconds, where=where).edges) == sources, where
        assert sorted(source for source, _ in oc.Graph(tmp_path / "s.oc").filter(where).edges) == sources, where
    for number in ("at > 2024", "at = 0", ("at", ">", 1_700_000_000)):
        with pytest.raises(oc.InputError, match="a value that `at` can have"):
            oc.load_graph(seconds, where=number)


def test_folders_do_not_say_ends_or_weights(tmp_path: pathlib.Path) -> None:
    for name in ("source", "Weight"):
        folder = tmp_path / name / f"{name}=7"
        folder.mkdir(parents=True)
        pl.DataFrame({"target": [1], "w": [2]}).write_parquet(folder / "a.parquet")
        with pytest.raises(oc.UsageError, match=f"some called `{name}=...`"):
            oc.load_graph(tmp_path / name)


def test_names_of_folders_are_columns(tmp_path: pathlib.Path) -> None:
    data = tmp_path / "payments"
    for year in (2023, 2024):
        for month in (1, 2):
            folder = data / f"year={year}" / f"month={month}"
            folder.mkdir(parents=True)
            part = pl.DataFrame({"payer": [year, month], "payee": [month, year], "amount": [1.5, 2.5]})
            part.write_parquet(folder / "part-0.parquet")
    load = lambda **options: oc.load_graph(data, duplicates="keep", **options)
    with load(attributes=["year", "amount"]) as graph:
        found = pl.from_arrow(pa.table(graph.edges(data=True))).sort("source", "target", "amount")
        assert found["year"].dtype == pl.Int64
        assert set(found.columns) == {"source", "target", "year", "amount"}
        assert all(year in (source, target) for source, target, year in found.select("source", "target", "year").rows())
    with load(where="year = 2024", attributes=["month"]) as graph:
        assert {vertex for edge in graph.edges for vertex in edge} == {1, 2, 2024}
        assert [name for name, _ in graph.info()["attributes"]] == ["month"]
    with load(where=["year >= 2024", "month != 1", "amount > 2"]) as graph:
        assert sorted(graph.edges) == [(2, 2024)]
    with load(where="year = 2030") as graph:
        assert graph.number_of_edges() == 0
    with load(attributes=True) as graph:
        assert {name for name, _ in graph.info()["attributes"]} == {"amount", "month", "year"}
    (data / "year=__HIVE_DEFAULT_PARTITION__").mkdir()
    pl.DataFrame({"payer": [5], "payee": [6], "amount": [1.0]}).write_parquet(
        data / "year=__HIVE_DEFAULT_PARTITION__" / "p.parquet"
    )
    assert sorted(load(where="year = null").edges) == [(5, 6)]
    alone = data / "year=2023" / "month=1" / "part-0.parquet"
    with oc.load_graph(alone, attributes=["month"]) as graph:
        assert {data["month"] for _, _, data in graph.edges(data=True)} == {1}


def test_a_nightly_import_needs_so_many_edges(tmp_path: pathlib.Path) -> None:
    image = tmp_path / "g.oc"
    (tmp_path / "e.txt").write_text("1 2\n2 3\n2 3\n")
    (tmp_path / "few.txt").write_text("1 2\n")
    oc.import_graph(tmp_path / "e.txt", image, require_edges=3)
    with pytest.raises(oc.InputError, match="at least 2 edges, as require_edges= says, found 1"):
        oc.import_graph(tmp_path / "few.txt", image, replace=True, require_edges=2)
    with oc.Graph(image) as graph:
        assert graph.number_of_edges() == 2
    command = [OUTCORE, "import", tmp_path / "few.txt", image, "--replace", "--require-edges", "2"]
    failed = subprocess.run(command, capture_output=True, text=True)
    assert failed.returncode == 5 and "as --require-edges says, found 1" in failed.stderr
    command = [OUTCORE, "import", tmp_path / "e.txt", tmp_path / "two.oc", "--undirected", "--require-edges", "4"]
    failed = subprocess.run(command, capture_output=True, text=True)
    assert failed.returncode == 5 and "found 3" in failed.stderr


def test_the_shell_filters_an_image_and_says_what_it_left_out(tmp_path: pathlib.Path) -> None:
    frame().write_parquet(tmp_path / "t.parquet")
    run = lambda *words: subprocess.run([OUTCORE, *words], capture_output=True, text=True, check=True)
    run("import", tmp_path / "t.parquet", tmp_path / "g.oc", "--attributes", "all")
    where = ["--where", "kind in rail,road", "--where", "lanes >= 1"]
    report = run("import", tmp_path / "g.oc", tmp_path / "some.oc", *where)
    kept = frame().filter(COL("kind").is_in(["rail", "road"]) & (COL("lanes") >= 1))
    assert f"left out: {300 - len(kept)}." in report.stderr
    with oc.Graph(tmp_path / "some.oc") as graph:
        assert edges_of(graph) == set(kept.select("source", "target").iter_rows())


def test_words_of_sql_and_times_in_text_are_not_taken_for_strings(tmp_path: pathlib.Path) -> None:
    (tmp_path / "t.csv").write_text(
        "source,target,kind,seen,other\na,b,x,2024-02-29 12:00:00,2024-02-29\nb,c,y,2024-02-29 13:00:00,2024-02-29 12:30\n"
    )
    load = lambda where: sorted(oc.load_graph(tmp_path / "t.csv", where=where).edges)
    assert load("kind in ('x', \"z\")") == load("kind = 'x'") == load(("kind", "in", iter(["x"]))) == [("a", "b")]
    assert load(("kind", "in", [])) == [] and load(("kind", "not in", [])) == [("a", "b"), ("b", "c")]
    later = ["seen > '2024-02-29T12:30'", "seen > 2024-02-29 12:30", ("seen", ">", datetime.datetime(2024, 2, 29, 12, 30))]
    assert [load(where) for where in later] == [[("b", "c")]] * 3
    for where, said in [
        ("kind = x and seen > 3", "one value"), ("kind = 'x", "in quotes with nothing behind"), ("kind = 'x' y", "in quotes"),
        ("other > 2024-02-29T12:30", "holds strings"), ("kind < 3", "holds strings"),
        (("other", ">", datetime.datetime(2024, 2, 29, 12, 30)), "holds strings"),
        ("other > '2024-02-29 12:30'", "a blank sorts before"),
    ]:
        with pytest.raises((oc.InputError, oc.UsageError), match=said):
            load(where)
    table = frame()
    numbers = oc.load_graph(table, where=("minutes", ">=", np.float32(0.5)))
    assert edges_of(numbers) == edges_of(oc.load_graph(table, where="minutes >= 0.5"))
    seen = oc.load_graph(table, where=("seen", "=", np.datetime64(TIME)))
    assert edges_of(seen) == edges_of(oc.load_graph(table, where=f"seen = {TIME.isoformat()}+00:00"))
    assert edges_of(oc.load_graph(table, where="toll = TRUE")) == edges_of(oc.load_graph(table, where=("toll", "=", True)))


def test_long_lists_of_values_are_quick_to_look_into() -> None:
    count = 100_000
    table = pl.DataFrame({"source": range(count), "target": range(1, count + 1), "name": [f"n{i}" for i in range(count)]})
    for values in (table["name"][::2].to_list(), table["source"][::2].to_list()):
        column = "name" if isinstance(values[0], str) else "at"
        given = table.with_columns(at="source")
        assert oc.load_graph(given, where=(column, "in", values)).number_of_edges() == count // 2


def test_a_folder_counts_before_a_column_of_its_name_and_months_are_numbers(tmp_path: pathlib.Path) -> None:
    for month in ("01", "02", "11"):
        folder = tmp_path / "h" / f"month={month}"
        folder.mkdir(parents=True)
        (folder / "part.csv").write_text(f"source,target,month\n1,{int(month)},7\n")
    load = lambda **options: oc.load_graph(tmp_path / "h", **options)
    for options in ({}, {"attributes": True}, {"attributes": ["month"]}):
        assert sorted(load(where="month >= 2", **options).edges) == [(1, 2), (1, 11)]
        assert load(where="month = 7", **options).number_of_edges() == 0
    assert {data["month"] for *_, data in load(attributes=True).edges(data=True)} == {1, 2, 11}


def test_a_table_with_attributes_is_loaded_under_a_limit_of_some_times_its_size(tmp_path: pathlib.Path) -> None:
    drawn = random.Random(1)
    rows = "".join(f"{drawn.randrange(400_000)},{drawn.randrange(400_000)},{'abcdef'[i % 6]},{i}\n" for i in range(400_000))
    (tmp_path / "big.csv").write_text("source,target,kind,n\n" + rows)
    with oc.load_graph(tmp_path / "big.csv", attributes=True, memory="128MiB") as graph:
        assert graph.filter("n < 1000").number_of_edges() == 1000


def people() -> oc.Graph:
    edges = pd.DataFrame(
        {"payer": ["ann", "bob", "cy", "ann"], "payee": ["bob", "cy", "ann", "dan"], "amount": [5, 7, 9, 11]}
    )
    towns = pd.DataFrame({"id": ["ann", "bob", "cy"], "state": ["AT", "DE", "AT"], "age": [41, 35, None]})
    return oc.load_graph(edges, weight="amount", vertices=towns)


def test_ids_are_compared_by_the_names_of_their_columns(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "paid.csv"
    path.write_text("payer,payee,amount\nann,bob,5\nbob,cy,7\ncy,ann,9\nann,dan,11\n")
    for where, count in [
        ("payer = ann", 2),
        ('payer = "ann"', 2),
        (("payer", "in", ["ann", "cy"]), 3),
        (["source = ann", "amount > 5"], 1),
        ("target != bob", 3),
    ]:
        assert oc.load_graph(path, where=where).number_of_edges() == count
        assert oc.load_graph(pd.read_csv(path), where=where).number_of_edges() == count
    pairs = (np.array([1, 2, 3]), np.array([2, 3, 1]))
    assert sorted(oc.load_graph(pairs, where=("source", ">=", 2)).edges) == [(2, 3), (3, 1)]
    with pytest.raises(oc.InputError, match="found no such column"):
        oc.load_graph(path, where="payor = ann")
    with pytest.raises(oc.UsageError, match="conditions on vertices are for images"):
        oc.load_graph(path, where="vertex.state = AT")


def test_vertices_are_chosen_by_ids_and_attributes(tmp_path: pathlib.Path) -> None:
    graph = people()
    for where, vertices, edges in [
        ("vertex.state = AT", ["ann", "cy"], [("cy", "ann")]),
        (["vertex.state = AT", "vertex.age > 40"], ["ann"], []),
        ("vertex.state = null", ["dan"], []),
        ("vertex.state = IT", [], []),
        ("source.state = IT", ["ann", "bob", "cy", "dan"], []),
        ("vertex in ann,bob", ["ann", "bob"], [("ann", "bob")]),
        (("vertex", "!=", "ann"), ["bob", "cy", "dan"], [("bob", "cy")]),
        ("source = ann", ["ann", "bob", "cy", "dan"], [("ann", "bob"), ("ann", "dan")]),
        ("source.state = AT", ["ann", "bob", "cy", "dan"], [("ann", "bob"), ("ann", "dan"), ("cy", "ann")]),
        (["target.state = DE", "amount < 10"], ["ann", "bob", "cy", "dan"], [("ann", "bob")]),
    ]:
        found = graph.filter(where)
        assert (sorted(found), sorted(found.edges)) == (vertices, edges), where
    # Together with other ways to choose, and in an image.
    assert sorted(graph.subgraph(["ann", "bob"], where="vertex.state = AT")) == ["ann"]
    assert sorted(graph.reverse(where="source = bob").edges) == [("bob", "ann")]
    graph.export(tmp_path / "g.csv", vertices=tmp_path / "v.csv")
    oc.import_graph(tmp_path / "g.csv", tmp_path / "g.oc", weight="amount", vertices=tmp_path / "v.csv")
    outcore = os.environ.get("OUTCORE") or shutil.which("outcore")
    command = [outcore, "import", tmp_path / "g.oc", tmp_path / "at.oc", "--where", "vertex.state = AT"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "Vertices that do not meet --where and were left out, with their edges: 2." in done.stderr + done.stdout
    assert sorted(oc.Graph(tmp_path / "at.oc").edges) == [("cy", "ann")]
    for where, said in [
        ("vertex.country = AT", "there are state, age, vertex"),
        ("state = AT", "there are amount, source, target"),
    ]:
        with pytest.raises(oc.OutcoreError, match=said):
            graph.filter(where)
    with pytest.raises(oc.UsageError, match="expected edges with a direction"):
        graph.to_undirected().filter("source = ann")
