"""Limits that imports and looks are advised are enough, at once: from images, with attributes, with tables of vertices."""

import csv
import datetime
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pytest
from pyarrow import parquet

import outcore as oc

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
pytestmark = pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Edges with four attributes between ids that are strings, as files and as images, and a table of vertices."""
    folder, rng = tmp_path_factory.mktemp("inputs"), random.Random(7)
    ids = [f"site{number:07}" for number in range(40_000)]
    with open(folder / "edges.csv", "w") as file:
        file.write("from,to,amount,at,kind,count\n")
        for _ in range(60_000):
            day, kind = f"2026-02-{rng.randrange(1, 29):02} 17:30:25", rng.choice("abcdef")
            file.write(f"{rng.choice(ids)},{rng.choice(ids)},{rng.random():.2f},{day},{kind},{rng.randrange(9)}\n")
    with open(folder / "vertices.csv", "w") as file:
        file.write("id,region,score\n")
        file.writelines(f"{one},{rng.choice('xy')},{rng.random()}\n" for one in ids)
    options = {"attributes": True, "order": "degree", "directed": True}
    oc.import_graph(folder / "edges.csv", folder / "all.oc", vertices=folder / "vertices.csv", **options)
    oc.import_graph(folder / "edges.csv", folder / "plain.oc", order="degree", directed=True)
    (folder / "ids.txt").write_text("".join(f"{one}\n" for one in ids[:20_000]))
    return folder


def outcore(*words):
    return subprocess.run([OUTCORE, *map(str, words)], capture_output=True, text=True)


def advised(text):
    found = re.search(r"raise the limit to at least ([\d.]+) ([KMG]iB)", text)
    return found and found[1] + found[2]


def write_tables(folder, rows):
    """A table of all kinds of attributes in four formats: most of its memos differ, some are missing or long."""
    rng, start = random.Random(3), datetime.datetime(2026, 10, 1, tzinfo=datetime.UTC)

    def memo(row):
        return rng.choice([None, "paid", "x" * 70_000]) if row % 997 == 0 else f"{rng.random()} of {row}, paid"

    columns = {
        "source": [rng.randrange(9000) for _ in range(rows)],
        "target": [rng.randrange(9000) for _ in range(rows)],
        "amount": [rng.random() for _ in range(rows)],
        "time": [start + datetime.timedelta(milliseconds=rng.randrange(10**10)) for _ in range(rows)],
        "day": [(start + datetime.timedelta(rng.randrange(900))).date() for _ in range(rows)],
        "memo": [memo(row) for row in range(rows)],
        "category": [f"kind {rng.randrange(20)}" for _ in range(rows)],
        "open": [rng.random() < 0.5 for _ in range(rows)],
    }
    table = pa.table(columns | {"time": pa.array(columns["time"], pa.timestamp("ms", "UTC"))})
    parquet.write_table(table, folder / "rows.parquet", row_group_size=8192, use_dictionary=["category"])
    with pa.ipc.new_file(folder / "rows.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=8192)

    def text(value):
        if isinstance(value, datetime.datetime):
            return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return value.isoformat() if isinstance(value, datetime.date) else value

    with open(folder / "rows.csv", "w", newline="") as file, open(folder / "rows.jsonl", "w") as lines:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            row = [text(value) for value in row]
            writer.writerow([str(value).lower() if isinstance(value, bool) else value for value in row])
            lines.write(json.dumps({key: value for key, value in zip(columns, row, strict=True) if value is not None}))
            lines.write("\n")


def test_strings_beyond_the_limit_that_explain_says_make_the_same_image(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path, 80_000)
    for name in ["rows.csv", "rows.parquet", "rows.arrow", "rows.jsonl"]:
        command = ["import", name, "graph.oc", "--attributes", "all", "--replace", "-q"]
        shown = outcore(*command, "--explain").stdout
        limit = re.search(r"^memory +([\d.]+) MiB", shown, re.MULTILINE)
        assert float(limit[1]) < 64, (name, shown)
        images = []
        for memory in [limit[1] + "MiB", "1GiB"]:
            done = outcore(*command, "--memory", memory, "--stats", "stats.json")
            assert done.returncode == 0, (name, memory, done.stderr)
            stats = json.loads((tmp_path / "stats.json").read_text())
            stats = stats["stats"]
            assert stats["memory_peak_bytes"] <= stats["memory_limit_bytes"], (name, memory, stats)
            files = sorted(file for file in (tmp_path / "graph.oc").rglob("*") if file.is_file())
            images.append({str(file): file.read_bytes() for file in files})
        assert images[0] == images[1], name


COMMANDS = [
    ["import", "all.oc", "made.oc"],
    ["import", "all.oc", "made.oc", "--threads", 1],
    ["import", "all.oc", "made.oc", "--reverse", "--order", "input"],
    ["import", "all.oc", "made.oc", "--vertices", "ids.txt"],
    ["import", "all.oc", "made.oc", "--exclude", "ids.txt", "--where", "count > 3"],
    ["import", "plain.oc", "made.oc", "--undirected"],
    ["import", "edges.csv", "made.oc", "--vertex-table", "vertices.csv"],
    ["import", "edges.csv", "made.oc", "--vertex-table", "vertices.csv", "--attributes", "all", "--order", "near"],
    ["head", "all.oc"],
    ["head", "all.oc", "-n", 50_000],
    ["neighbors", "all.oc", "site0000002", "--both"],
    ["check", "all.oc"],
]


@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_one_raise_is_enough(number, folder, monkeypatch):
    monkeypatch.chdir(folder)
    command = [*COMMANDS[number], *(["--replace", "-q"] if COMMANDS[number][0] == "import" else [])]
    if command[0] == "import":
        shown = outcore(*command, "--explain").stdout
        limit = re.search(r"^memory +([\d.]+) ([KMG]iB)", shown, re.MULTILINE)
        done = outcore(*command, "--memory", limit[1] + limit[2])
        assert done.returncode == 0, (command, shown, done.stderr)
    for small in ["10MiB", "20MiB", "30MiB", "42MiB"]:
        refused = outcore(*command, "--memory", small)
        if refused.returncode != 0:
            limit = advised(refused.stderr)
            assert limit, (command, small, refused.stderr)
            done = outcore(*command, "--memory", limit)
            assert done.returncode == 0, (command, small, limit, done.stderr)


@pytest.mark.parametrize("made", ["reverse", "to_undirected", "subgraph", "without", "filter", "load_graph"])
def test_one_raise_is_enough_in_python(made, folder, tmp_path):
    ids = (folder / "ids.txt").read_text().split()
    calls = {
        "reverse": lambda graph, **limits: graph.reverse(**limits),
        "to_undirected": lambda graph, **limits: graph.to_undirected(**limits),
        "subgraph": lambda graph, **limits: graph.subgraph(ids, **limits),
        "without": lambda graph, **limits: graph.without(ids, **limits),
        "filter": lambda graph, **limits: graph.filter("count > 3", **limits),
        "load_graph": lambda graph, **limits: oc.load_graph(folder / "all.oc", **limits),
    }
    with oc.Graph(folder / "all.oc", memory="256MiB") as graph:
        refused = 0
        for small in ["4MiB", "12MiB", "20MiB", "28MiB", "36MiB"]:
            try:
                calls[made](graph, memory=small)
            except oc.MemoryLimitError as error:
                refused += 1
                calls[made](graph, memory=advised(str(error)))
        assert refused > 1


def test_other_threads_run_while_a_limit_is_planned(folder, tmp_path):
    calls = {
        "files": lambda **limits: oc.import_graph(folder / "edges.csv", tmp_path / "a.oc", **limits),
        "several": lambda **limits: oc.import_graph([folder / "all.oc", folder / "edges.csv"], tmp_path / "b.oc", **limits),
        "part": lambda **limits: graph.reverse(**limits),
        "graph": lambda **limits: oc.Graph(folder / "all.oc", **limits),
    }
    steps, is_over = [], threading.Event()

    def count():
        while not is_over.is_set():
            steps.append(None)
            # Gives the interpreter's lock away.
            time.sleep(0)

    switch, thread = sys.getswitchinterval(), threading.Thread(target=count)
    with oc.Graph(folder / "all.oc", memory="256MiB") as graph:
        try:
            # No thread takes the lock from another one.
            sys.setswitchinterval(1000)
            thread.start()
            for name, call in calls.items():
                # On a busy machine, a thread may come too late for the lock that one call gives away.
                for _ in range(100):
                    before = len(steps)
                    with pytest.raises(oc.MemoryLimitError):
                        call(memory="4MiB")
                    if len(steps) > before:
                        break
                else:
                    pytest.fail(f"no other thread ran: {name}")
        finally:
            is_over.set()
            sys.setswitchinterval(switch)
            thread.join()
