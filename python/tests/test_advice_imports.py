"""Limits that imports and looks are advised are enough, at once: from images, with attributes, with tables of vertices."""

import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

import pytest

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
                for _ in range(2):
                    before = len(steps)
                    with pytest.raises(oc.MemoryLimitError):
                        call(memory="4MiB")
                    found = len(steps)
                assert found > before, name
        finally:
            is_over.set()
            sys.setswitchinterval(switch)
            thread.join()
