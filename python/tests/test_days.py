"""Folders of files as jobs write them, day by day: which are read, empty ones, columns that come, go and move."""

import datetime
import json
import os
import pathlib
import subprocess
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outcore as oc

OUTCORE = os.environ.get("OUTCORE", "outcore")


def days(folder: pathlib.Path, **files: str) -> pathlib.Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def command(*arguments: object, code: int = 0) -> str:
    done = subprocess.run([OUTCORE, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr


def test_what_was_read_is_said_in_keys(tmp_path: pathlib.Path) -> None:
    folder = days(
        tmp_path / "in",
        a="source,target,at\n1,2,x\n2,3,x\n,4,x\n",
        b="source,target,at\n",
        c="source,target,at\n3,4,y\n4,5,y",
    )
    (folder / "empty.csv").write_text("")
    for name in ("a.csv.md5", "a.csv~", "_SUCCESS", ".a.csv.crc", "README.md"):
        (folder / name).write_text("1,2\n")
    options = {"nulls": "skip", "where": "at = y", "attributes": []}
    report = oc.import_graph(folder, tmp_path / "g.oc", **options)
    names = [str(folder / name) for name in ("a.csv", "b.csv", "c.csv", "empty.csv")]
    assert (report["files"], report["file_edges"]) == (names, [2, 0, 2, 0])
    assert report["files_left_out"] == sorted(
        str(folder / name) for name in ("a.csv.md5", "a.csv~", "_SUCCESS", ".a.csv.crc", "README.md")
    )
    expected = {
        "files_read": 4,
        "files_without_edges": 2,
        "first_files_without_edges": [names[1], names[3]],
        "files_not_read": 5,
        "rows_left_out": 1,
        "edges_left_out": 2,
        "edges_read": 2,
        "columns_not_read": [],
    }
    info = oc.Graph(tmp_path / "g.oc").info()
    for name, value in expected.items():
        assert report[name] == info[name] == value, name
    assert [list(pair) for pair in info["first_files"]] == [list(pair) for pair in zip(names, [2, 0, 2, 0], strict=True)]
    text = " ".join(report["notes"])
    assert "no end of line, as where a file is cut off: 1 of 4: " in text and "Files without edges: 2 of 4" in text
    # The shell says the same.
    stats = tmp_path / "stats.json"
    said = command("import", folder, tmp_path / "s.oc", "--nulls", "skip", "--stats", stats)
    found = json.loads(stats.read_text())["result"]
    assert found["file_edges"] == [2, 0, 2, 0] and found["columns_not_read"] == ["at"]
    assert "left out     5: " in said and "files        4: " in said


def test_a_file_counts_twice_only_where_that_is_wanted(tmp_path: pathlib.Path) -> None:
    folder = days(tmp_path / "in", a="source,target,weight\n1,2,5\n")
    twice = [folder, folder / "a.csv"]
    with pytest.raises(oc.InputError, match="every file once.*allow_repeated"):
        oc.import_graph(twice, tmp_path / "g.oc", duplicates="sum")
    command("import", folder, folder / "a.csv", tmp_path / "g.oc", code=5)
    report = oc.import_graph(twice, tmp_path / "g.oc", duplicates="sum", allow_repeated=True)
    assert report["file_edges"] == [1, 1]
    assert list(oc.Graph(tmp_path / "g.oc").edges(data="weight")) == [(1, 2, 10)]
    # So it is with images, and with files among frames.
    image, frame = tmp_path / "g.oc", pd.DataFrame({"source": [1], "target": [2], "weight": [1]})
    for inputs in ([image, image], [folder / "a.csv", frame, folder / "a.csv"], [image, frame, image]):
        with pytest.raises(oc.InputError, match="every file once"):
            oc.load_graph(inputs)
        assert len(oc.load_graph(inputs, allow_repeated=True).edges) == 1


def test_too_few_edges_are_a_fault_of_the_input(tmp_path: pathlib.Path) -> None:
    folder = days(tmp_path / "in", a="source,target\n1,2\n", b="source,target\n")
    with pytest.raises(oc.InputError, match=r"b\.csv: expected edges in every file, as refuse_empty_files=True says"):
        oc.import_graph(folder, tmp_path / "g.oc", refuse_empty_files=True)
    said = command("import", folder, tmp_path / "g.oc", "--refuse-empty-files", code=5)
    assert "found none in 1 of 2 files; no image was made" in said
    said = command("import", folder, tmp_path / "g.oc", "--require-edges", 2, code=5)
    assert "a.csv and 1 more: expected at least 2 edges, as --require-edges says, found 1" in said
    assert not (tmp_path / "g.oc").exists()
    command("import", folder, tmp_path / "g.oc", "--require-edges", 1)
    command("import", folder / "b.csv", tmp_path / "g.oc", "--replace", code=5)
    command("import", folder, tmp_path / "h.oc", "--where", "source = 9", code=5)


def test_columns_come_go_and_move(tmp_path: pathlib.Path) -> None:
    folder = days(
        tmp_path / "in",
        a="source,target,amount,kind\na,b,5,\n",
        b="amount,target,source,new\n2.5,c,b,7\n",
        c="source,target\nc,d\n",
        d="target,source,kind\ne,d,wire\n",
    )
    # A new column that nobody takes is no matter, nor is the order.
    report = oc.import_graph(folder, tmp_path / "g.oc")
    assert sorted(oc.Graph(tmp_path / "g.oc").edges) == [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]
    assert set(report["columns_not_read"]) == {"amount", "kind", "new"}
    for attributes in (True, ["amount", "kind", "new"]):
        graph = oc.load_graph(folder, attributes=attributes)
        assert {edge[:2]: edge[2] for edge in graph.edges(data=True)} == {
            ("a", "b"): {"amount": 5.0},
            ("b", "c"): {"amount": 2.5, "new": 7},
            ("c", "d"): {},
            ("d", "e"): {"kind": "wire"},
        }
    with pytest.warns(UserWarning, match=r"missing in the others: amount \(2 of 4\), kind \(2 of 4\), new \(1 of 4\)"):
        oc.load_graph(folder, attributes=True)
    # A number is that of the first file; the others have the column of that name.
    by_number = oc.load_graph(folder, attributes=[3])
    assert {edge[:2]: edge[2] for edge in by_number.edges(data="amount")}["b", "c"] == 2.5
    met = oc.load_graph(folder, where="kind = wire")
    assert list(met.edges) == [("d", "e")]
    with pytest.raises(oc.InputError, match="`none there`, as attributes= says, found no such column"):
        oc.load_graph(folder, attributes=["amount", "none there"])
    with pytest.raises(oc.InputError, match=r"a\.csv: .*no such column"):
        oc.load_graph(folder, source="payer")


def write(folder: pathlib.Path, **tables: pa.Table) -> pathlib.Path:
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    return folder


def test_columns_of_parquet_images_and_frames_are_united(tmp_path: pathlib.Path) -> None:
    a = pa.table({"source": [1, 2], "target": [2, 3], "n": [1, None], "void": pa.nulls(2)})
    b = pa.table({"late": ["x"], "n": [0.5], "target": [4], "source": [3], "void": [True]})
    c = pa.table({"source": [4], "target": [5]})
    folder = write(tmp_path / "in", a=a, b=b, c=c)
    expected = {(1, 2): {"n": 1.0}, (2, 3): {}, (3, 4): {"n": 0.5, "late": "x", "void": True}, (4, 5): {}}
    for number, name in enumerate("abc"):
        oc.import_graph(folder / f"{name}.parquet", tmp_path / f"day{number}.oc", attributes=True)
    images = [tmp_path / f"day{number}.oc" for number in range(3)]
    for inputs in (folder, images, [images[0], b, folder / "c.parquet"], str(tmp_path / "day*.oc")):
        graph = oc.load_graph(inputs, attributes=True)
        assert {edge[:2]: edge[2] for edge in graph.edges(data=True)} == expected, inputs
        assert oc.load_graph(inputs, attributes="late").edges[3, 4] == {"late": "x"}
    with pytest.raises(oc.InputError, match="none there"):
        oc.load_graph(images, attributes=["none there"])
    # What an image has and a file beside it has too is not lost without a word.
    with pytest.raises(oc.InputError, match="a column of that name that is not read.*attributes=True"):
        oc.load_graph([images[1], folder / "a.parquet"])
    # Kinds that contradict each other are refused, with the file; so are numbers that would be rounded.
    write(folder, d=pa.table({"source": [1], "target": [2], "n": ["x"]}))
    with pytest.raises(oc.InputError, match=r"d\.parquet: expected the attribute `n` \(real\), as in .*b\.parquet"):
        oc.load_graph(folder, attributes=True)
    write(folder, d=pa.table({"source": [1], "target": [2], "n": [2**53 + 1]}))
    with pytest.raises(oc.InputError, match=r"d\.parquet.*9007199254740993"):
        oc.load_graph(folder, attributes=True)
    with pytest.raises(oc.InputError, match=r"a\.parquet: .*no such column"):
        oc.load_graph(folder, weight="price")


def test_an_empty_day_as_pandas_writes_it_is_one(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    day = pd.DataFrame({"source": ["a"], "target": ["b"], "n": [1]})
    for name, frame in {"a": day.iloc[:0], "b": day, "c": pd.DataFrame(columns=day.columns)}.items():
        frame.to_parquet(folder / f"{name}.parquet")
        pd.DataFrame(frame.astype("float64") if name == "c" else frame).to_feather(folder / f"{name}.feather")
    for ending in ("parquet", "feather"):
        report = oc.import_graph(str(folder / f"*.{ending}"), tmp_path / "g.oc", attributes=True, replace=True)
        assert report["file_edges"] == [0, 1, 0]
        assert list(oc.Graph(tmp_path / "g.oc").edges(data="n")) == [("a", "b", 1)]


def day(rows: list[tuple], weight: pa.DataType) -> pa.Table:
    ends = pa.schema([("source", pa.int64()), ("target", pa.int64()), ("weight", weight)])
    return pa.Table.from_pylist([dict(zip(ends.names, row, strict=True)) for row in rows], ends)


@pytest.mark.parametrize(
    "files, options, path, words",
    [
        ({"a.csv": "source,target\n1,2\n"}, {"weight": "amount"}, "a.csv", "`amount`, as weight= says, found no such"),
        ({"a.csv": "source,target\n1,2\n"}, {"source": "payer"}, "a.csv", "`payer`, as source= says"),
        ({"a.csv": "source,target\n1,2\n"}, {"attributes": ["at"]}, "a.csv", "`at`, as attributes= says"),
        ({"a.csv": "source,target\n1,2\n"}, {"where": "at > 3"}, "a.csv", "`at`, as where= says"),
        ({"a.jsonl": '{"source":1,"target":2}\n'}, {"weight": "amount"}, "a.jsonl", "`amount`, as weight= says"),
        ({"a.csv": "source,target\n1,2\n1,2\n"}, {"duplicates": "error"}, "a.csv", "every edge once"),
        ({"a.parquet": day([(1, 2, 2**62)] * 2, pa.int64())}, {"duplicates": "sum"}, "a.parquet", "sum does not"),
        (
            {"a.parquet": day([(1, 2, 2**60)], pa.int64()), "b.parquet": day([(1, 2, 0.5)], pa.float64())},
            {},
            "b.parquet",
            r"weights of one kind, as in .*a\.parquet, found whole numbers beyond",
        ),
        (
            {"a.csv": "source,target,x\n1,2,5\n", "b.csv": "source,target,x\n1,3,many\n", "c.csv": "source,target,x\n3,4,7\n"},
            {"where": "x >= 10"},
            "b.csv",
            "in where= a string, since `x` holds strings",
        ),
        ({"a.csv": "source,target\n1,3000000000\n"}, {"ids": "int32"}, "a.csv", "of type int32, as ids= says"),
    ],
)
def test_data_that_drift_are_inputs_and_no_wrong_use(
    tmp_path: pathlib.Path, files: dict, options: dict, path: str, words: str
) -> None:
    for name, content in files.items():
        if isinstance(content, str):
            (tmp_path / name).write_text(content)
        else:
            pq.write_table(content, tmp_path / name)
    with pytest.raises(oc.InputError, match=words) as refused:
        oc.import_graph([tmp_path / name for name in files], tmp_path / "g.oc", **options)
    assert (refused.value.kind, refused.value.exit_code) == ("input", 5)
    assert refused.value.path == str(tmp_path / path)


def test_options_that_contradict_each_other_are_wrong_use(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text("source,target,x\n1,2,5\n")
    for options in ({"where": "x > null"}, {"weight": "x", "source": "x"}, {"attributes": ["x", "x"]}):
        with pytest.raises(oc.UsageError):
            oc.import_graph(tmp_path / "a.csv", tmp_path / "g.oc", **options)


def test_lines_and_weights_that_are_wrong_are_named_rightly(tmp_path: pathlib.Path) -> None:
    for name, text in {
        "1.csv": "source,target\n1,2\n",
        "2.csv": "source,target,weight\n1,2,5\n",
        "open.tsv": 'a\tb\n"c\td\ne\tf\n',
        "ids.jsonl": f'{{"source":1,"target":{2**64 - 1}}}\n{{"source":-1,"target":2}}\n{{"source":5,"target":2}}\n',
    }.items():
        (tmp_path / name).write_text(text)
    for names, words in [
        (["1.csv", "2.csv"], r"2\.csv: expected no weights, as in .*1\.csv, found weights, `weight`"),
        (["2.csv", "1.csv"], r"1\.csv: expected weights, `weight`, as in .*2\.csv, found no weights"),
        (["open.tsv"], r"open\.tsv:2: expected a closing quote"),
        (["ids.jsonl"], r"ids\.jsonl:2: expected ids that all fit one kind"),
    ]:
        with pytest.raises(oc.InputError, match=words):
            oc.import_graph([tmp_path / name for name in names], tmp_path / "g.oc")


def test_no_size_is_said_of_edges_that_are_not_there(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text("source,target\n")
    said = command("import", tmp_path / "a.csv", tmp_path / "g.oc")
    assert "size" in said and "per stored edge" not in said
    graph = oc.Graph(tmp_path / "g.oc")
    assert graph.info()["bytes_per_edge"] is None
    assert "per stored edge" not in graph._repr_html_()


def test_columns_not_read_are_one_note_for_all_files(tmp_path: pathlib.Path) -> None:
    columns = ["at", "at,kind", "kind", "at"]
    texts = {f"{number}": f"source,target,{names}\n1,2,{names}\n" for number, names in enumerate(columns)}
    folder = days(tmp_path / "in", **texts)
    report = oc.import_graph(folder, tmp_path / "g.oc")
    assert [note for note in report["notes"] if "not read" in note] == [
        "Columns that are not read: at, kind. To keep them, say attributes=True, or name some."
    ]
    assert report["columns_not_read"] == ["at", "kind"]
    # A column that some files have is missing in the others, and is read.
    void = write(
        tmp_path / "void",
        a=pa.table({"source": [1], "target": [2], "x": pa.array([5], pa.int32())}),
        b=pa.table({"source": [2], "target": [3], "x": pa.nulls(1)}),
    )
    notes = oc.import_graph(void, tmp_path / "v.oc", attributes=True)["notes"]
    assert [note for note in notes if "x" in note] == [
        "Attributes that only some inputs have, and whose values are missing in the others: x (1 of 2)."
    ]


NO_ROWS = {
    "float64": lambda: pd.DataFrame({name: pd.Series(dtype=float) for name in ("source", "target", "n")}),
    "object": lambda: pd.DataFrame(columns=["source", "target", "n"]),
    "polars": lambda: pl.DataFrame({"source": [], "target": [], "n": []}),
    "Arrow": lambda: pa.table({name: pa.nulls(0) for name in ("source", "target", "n")}),
}


@pytest.mark.parametrize("make", NO_ROWS.values(), ids=NO_ROWS.keys())
def test_a_frame_without_rows_is_an_empty_day(make: Callable, tmp_path: pathlib.Path) -> None:
    assert len(oc.load_graph(make(), attributes=True)) == 0
    for ends in (("a", "b"), (1, 2)):
        full = pd.DataFrame({"source": ends[:1], "target": ends[1:], "n": [7]})
        for inputs in ([make(), full], [full, make()], iter([make(), make(), full, make()])):
            assert list(oc.load_graph(inputs, attributes=True).edges(data="n")) == [(*ends, 7)]
    # As of a file, the columns have the names of the others.
    other = pd.DataFrame({"from": ["a"], "to": ["b"], "n": [1]})
    for inputs in ([make(), other], [other, make()]):
        with pytest.raises(oc.InputError, match="table 2: expected the columns of the tables before"):
            oc.load_graph(inputs)
    # An image is not replaced by nothing unless asked.
    oc.import_graph([(1, 2)], tmp_path / "g.oc")
    with pytest.raises(oc.InputError, match="allow_empty=True"):
        oc.import_graph(make(), tmp_path / "g.oc", replace=True)


def test_nothing_is_a_graph_without_edges() -> None:
    for nothing in ([], iter(()), (np.array([]), np.array([])), np.zeros((0, 2)), pl.LazyFrame({"source": [], "target": []})):
        assert len(oc.load_graph(nothing)) == 0
    for frame in (pd.DataFrame(), pl.DataFrame()):
        with pytest.raises(oc.InputError, match="two columns.*, found no columns"):
            oc.load_graph(frame)


def test_advice_is_not_given_twice(tmp_path: pathlib.Path) -> None:
    oc.import_graph([(1, 2)], tmp_path / "numbers.oc")
    (tmp_path / "names.csv").write_text("source,target\na,b\n")
    for ids in ("auto", "string"):
        with pytest.raises(oc.InputError, match="an image keeps the kind of its ids"):
            oc.load_graph([tmp_path / "numbers.oc", tmp_path / "names.csv"], ids=ids)


def test_folders_of_days_are_dates(tmp_path: pathlib.Path) -> None:
    for day in (1, 2):
        folder = tmp_path / f"in/date=2026-10-0{day}"
        folder.mkdir(parents=True)
        (folder / "p.csv").write_text(f"payer,payee\na,{day}\n")
    graph = oc.load_graph(tmp_path / "in", attributes=True)
    assert sorted(graph.edges(data="date")) == [
        ("a", str(day), datetime.date(2026, 10, day)) for day in (1, 2)
    ]
    assert len(oc.load_graph(tmp_path / "in", where="date >= 2026-10-02").edges) == 1


def test_folders_called_as_an_end_are_refused_alike(tmp_path: pathlib.Path) -> None:
    for name, text in {"own": "payer,payee\n5,7\n", "other": "payee,amount\n7,100\n"}.items():
        folder = tmp_path / name / "payer=5"
        folder.mkdir(parents=True)
        (folder / "p.csv").write_text(text)
        for options in ({}, {"source": "payer"}):
            with pytest.raises(oc.UsageError, match="found some called `payer=...`"):
                oc.load_graph(tmp_path / name, **options)
    (tmp_path / "named/payer=5").mkdir(parents=True)
    (tmp_path / "named/payer=5/p.csv").write_text("source,target\n1,2\n")
    assert list(oc.load_graph(tmp_path / "named", attributes=True).edges(data="payer")) == [(1, 2, 5)]


def test_members_that_come_late_are_named(tmp_path: pathlib.Path) -> None:
    line = '{"source": 1, "target": 2}\n'
    text = line * 1000 + '{"source": 2, "target": 3, "late": 7, "other": {"late": 1}}\n'
    (tmp_path / "a.jsonl").write_text(text)
    report = oc.import_graph(tmp_path / "a.jsonl", tmp_path / "g.oc", attributes=True)
    assert any("behind the first thousand lines, and were not read: late, other." in note for note in report["notes"])
    # A member that another file has among its first lines is read.
    (tmp_path / "b.jsonl").write_text('{"source": 5, "target": 6, "late": 1}\n')
    graph = oc.load_graph([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], attributes=True)
    assert graph.edges[2, 3] == {"late": 7}
