"""Where things came from, and where messages go: metadata of results, records of the logger, times of lines, names that
are not UTF-8, a standard output that is closed."""

import json
import logging
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import outcore as oc

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
needs_command = pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")


def outcore(*words, check=True, **options):
    done = subprocess.run([OUTCORE, *words], capture_output=True, **options)
    assert not check or done.returncode == 0, done.stderr
    return done


@needs_command
def test_results_carry_their_origin(site):
    pa = pytest.importorskip("pyarrow")
    read = pytest.importorskip("pyarrow.parquet").read_schema
    origin = lambda path: json.loads(read(path).metadata[b"outcore"])
    oc.pagerank(site, alpha=0.5).write("python.parquet")
    outcore("run", "pagerank", "web.oc", "--alpha", "0.5", "--output", "shell.parquet")
    outcore("run", "pagerank", "web.oc", "--alpha", "0.5", "--output", "shell.arrow")
    made = origin("shell.parquet")
    assert made == origin("python.parquet") == json.loads(pa.ipc.open_file("shell.arrow").schema.metadata[b"outcore"])
    assert (made["version"], made["name"], made["image"]) == (oc.__version__, "pagerank", {"path": "web.oc", "id": site.info()["image_id"]})
    assert made["options"]["alpha"] == 0.5 and made["options"]["max_iter"] == 200
    assert json.loads(pa.table(oc.pagerank(site)).schema.metadata[b"outcore"])["name"] == "pagerank"
    many = list(range(300))
    oc.import_graph((np.array(many), np.array(many[1:] + [0])), "ring.oc")
    oc.multi_source_bfs(oc.Graph("ring.oc"), many[:60]).write("few.parquet")
    assert origin("few.parquet")["options"]["sources"] == [str(one) for one in many[:60]]
    oc.node_boundary(oc.Graph("ring.oc"), many[:200]).write("many.parquet")
    boundary = origin("many.parquet")["options"]["vertices"]
    assert boundary["count"] == 200 and len(boundary["first"]) == 100
    # Solvers and models, too; of a file there is no id.
    outcore("run", "svds", "ring.oc", "--k", "1", "--output", "u.parquet", "--values", "s.parquet")
    assert origin("u.parquet") == origin("s.parquet") and origin("u.parquet")["options"]["k"] == 1
    np.save("x.npy", np.arange(20.0).reshape(10, 2))
    outcore("run", "kmeans", "x.npy", "--n-clusters", "2", "--output", "labels.parquet")
    made = origin("labels.parquet")
    assert (made["name"], made["image"]) == ("kmeans", {"path": "x.npy", "id": None})


def test_notes_are_records_of_the_logger(scratch, caplog):
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("outcore").handlers)
    with open("cut.csv", "w") as file:
        file.write("source,target\n1,2\n3,4")
    with caplog.at_level(logging.WARNING, logger="outcore"):
        report = oc.import_graph("cut.csv", "cut.oc")
        with open("t.csv", "w") as file:
            file.write("a,b\n1,x\n2,y\n")
        with pytest.warns(UserWarning, match="b") as warned:
            oc.array.from_columns("t.csv", "t.oc")
    messages = [record.message for record in caplog.records if record.name == "outcore"]
    assert report["notes"] and messages[: len(report["notes"])] == report["notes"]
    assert str(warned[0].message) in messages


def test_a_logger_that_nobody_set_up_is_silent(scratch):
    with open("cut.csv", "w") as file:
        file.write("source,target\n1,2\n3,4")
    script = "import outcore; assert outcore.import_graph('cut.csv', 'cut.oc')['notes']"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@needs_command
def test_lines_have_times_where_that_is_asked_for(scratch):
    with open("cut.csv", "w") as file:
        file.write("source,target\n1,2\n3,4")
    time = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ "
    lines = outcore("import", "cut.csv", "cut.oc", "--log-times").stderr.splitlines()
    assert len(lines) > 5 and all(re.match(time, line) for line in lines)
    assert not any(re.match(time, line) for line in outcore("import", "cut.csv", "cut.oc", "--replace").stderr.splitlines())
    refused = outcore("run", "bfs", "cut.oc", "--source", "9", "--log-times", check=False)
    assert re.fullmatch(time + rb"outcore: .*\n", refused.stderr) and refused.returncode == 8


@needs_command
def test_names_that_are_not_utf_8_are_written(site):
    for ending in (b".csv", b".parquet", b".jsonl.gz"):
        outcore("run", "pagerank", "web.oc", "--output", b"r\xff" + ending, "--report", b"r\xff.html", "--stats", b"\xfe.json")
        assert os.path.getsize(b"r\xff" + ending) > 0
    assert os.path.getsize(b"r\xff.html") > 0
    assert json.loads(open(b"\xfe.json", "rb").read())["files"][-1] == {"option": "report", "path": "r\N{REPLACEMENT CHARACTER}.html"}
    for ending in (b".csv", b".graphml", b".txt"):
        outcore("export", "web.oc", b"e\xff" + ending)
        assert os.path.getsize(b"e\xff" + ending) > 0
    refused = outcore("export", "web.oc", b"e\xff.e", check=False)
    assert refused.returncode == 2 and b"a name in UTF-8" in refused.stderr
    outcore("import", b"e\xff.csv", b"again\xff.oc")
    assert outcore("info", b"again\xff.oc").returncode == 0


@needs_command
def test_a_closed_standard_output_is_an_error_where_something_is_written(site):
    closed = lambda *words: subprocess.run([OUTCORE, *words], stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    for words in (["info"], ["info", "--json"], ["check"], ["head"], ["run", "pagerank"], ["run", "pagerank", "--json"]):
        done = closed(*words, "web.oc")
        assert done.returncode == 13 and b"cannot write to the standard output: it is closed" in done.stderr, (words, done)
    assert closed("run", "pagerank", "web.oc", "--output", "-").returncode == 13
    assert closed("export", "web.oc", "-").returncode == 13
    # Results in files are complete, and what writes nothing there succeeds.
    assert closed("run", "pagerank", "web.oc", "--output", "ranks.csv", "--quiet").returncode == 0
    assert closed("import", "ranks.csv", "ranks.oc", "--target", "pagerank", "--source", "vertex", "--ids", "string").returncode == 0
    all_closed = lambda: os.closerange(0, 3)
    assert subprocess.run([OUTCORE, "info", "web.oc"], preexec_fn=all_closed).returncode == 13
    null = subprocess.run([OUTCORE, "info", "web.oc"], stdout=subprocess.DEVNULL)
    assert null.returncode == 0


def test_a_missing_id_in_a_list_is_refused_by_name(scratch):
    for edges in ([(1, None), (2, 3)], [("a", "b"), ("c", float("nan"))]):
        for nulls in ("skip", "error"):
            with pytest.raises(oc.OutcoreError, match="which is no value; leave it out, or give a frame and nulls='skip'"):
                oc.import_graph(edges, "g.oc", nulls=nulls)
