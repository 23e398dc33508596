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
    refused = outcore("run", "bfs", "cut.oc", "--log-times", check=False)
    assert re.match(time + rb"error: the following", refused.stderr) and refused.returncode == 2


@needs_command
def test_names_that_are_not_utf_8_are_written(site):
    for ending in (b".csv", b".parquet", b".jsonl.gz"):
        outcore("run", "pagerank", "web.oc", "--output", b"r\xff" + ending, "--report", b"r\xff.html", "--stats", b"\xfe.json")
        assert os.path.getsize(b"r\xff" + ending) > 0
    assert os.path.getsize(b"r\xff.html") > 0
    assert json.loads(open(b"\xfe.json", "rb").read())["files"][1] == {"option": "report", "path": "r\N{REPLACEMENT CHARACTER}.html"}
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
    for words in (["--help"], ["-h"], ["--version"], ["help", "run"], ["run", "bfs", "--help"], ["completions", "bash"]):
        done = closed(*words)
        assert done.returncode == 13 and b"cannot write to the standard output: it is closed" in done.stderr, (words, done)
        with open("/dev/full", "w") as full:
            assert subprocess.run([OUTCORE, *words], stdout=full, stderr=subprocess.PIPE).returncode == 10, words
        assert outcore(*words).stdout
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
        for given in (edges, iter(edges)):
            with pytest.raises(oc.OutcoreError, match="which is no value; leave it out, or say nulls='skip'"):
                oc.import_graph(given, "g.oc")


@pytest.mark.parametrize("of", [list, iter], ids=["list", "generator"])
def test_edges_of_lists_without_an_end_are_left_out_as_those_of_frames(scratch, of):
    pandas = pytest.importorskip("pandas")
    nan = float("nan")
    for edges in (
        [(1, 2), (2, None), (nan, 3), (2**60 + 1, 2)],
        [("a", "b"), (None, "c"), ("b", "a")],
        [(None, 1, None), (1, 2, 0.5), (2, None, 7.0), (3, 1, 2.5)],
        [(None, None), (2**63, 1), (1, 2)],
        [(None, 7)],
    ):
        names = ["source", "target", "weight"][: len(edges[0])]
        frame = pandas.DataFrame(edges, columns=names).astype(object)
        left_out = sum(any(end is None or end != end for end in edge[:2]) for edge in edges)
        report = oc.import_graph(of(edges), "list.oc", nulls="skip", replace=True, allow_empty=True)
        assert report["rows_left_out"] == left_out and str(left_out) in " ".join(report["notes"])
        found = oc.Graph("list.oc")
        assert found.info()["rows_left_out"] == left_out
        rows = [tuple(row) for row, missing in zip(edges, frame[names[:2]].isna().any(axis=1), strict=True) if not missing]
        expected = sorted(row if len(row) == 3 else (*row, None) for row in rows)
        weights = dict.fromkeys(found.edges, None) if len(names) == 2 else {(a, b): w for a, b, w in found.edges(data="weight")}
        assert sorted((*pair, weight) for pair, weight in weights.items()) == expected
    many = [(place, None if place % 3 == 0 else place + 1) for place in range(200_000)]
    report = oc.import_graph(of(many), "many.oc", nulls="skip")
    assert (report["rows_left_out"], report["edges_read"]) == (66_667, 133_333)


def given(info):
    return dict(info["options"])


@needs_command
def test_images_keep_where_they_came_from(scratch):
    os.mkdir("days")
    for day, seconds in (("a", 1_700_000_000), ("b", 1_700_086_400)):
        with open(f"days/{day}.csv", "w") as file:
            file.write("payer,payee,amount,kind\n1,2,100,x\n2,3,7,y\n3,1,250,x\n")
        os.utime(f"days/{day}.csv", (seconds, seconds))
    where = ["--where", "amount >= 100", "--where", "kind in 'x', z"]
    outcore("import", "days", "shell.oc", *where, "--weight", "amount", "--duplicates", "sum", "--require-edges", "2")
    conditions = ["amount >= 100", ("kind", "in", ["x", "z"])]
    report = oc.import_graph(
        "days", "python.oc", where=conditions, weight="amount", duplicates="sum", require_edges=2, order="input"
    )
    shell, python = oc.Graph("shell.oc").info(), oc.Graph("python.oc").info()
    for info in (shell, python, report):
        assert info["first_files_modified"] == ["2023-11-14T22:13:20Z", "2023-11-15T22:13:20Z"]
        assert (info["outcore_version"].split()[0], info.get("images_read")) == (oc.__version__, None)
        assert (info["duplicates_policy"], info["edges_left_out"]) == ("sum", 2)
    assert (shell["conditions"], python["conditions"]) == (["amount >= 100", 'kind in "x",z'], ["amount >= 100", 'kind in "x","z"'])
    assert given(shell) == {"weight": "amount", "require_edges": "2"}
    assert given(python) == given(report) == {"weight": "amount", "order": "input", "require_edges": "2"}
    text = outcore("info", "shell.oc").stdout.decode()
    assert re.search(r'^conditions +\["amount >= 100",', text, re.MULTILINE) and "2023-11-15T22:13:20Z" in text
    as_json = json.loads(outcore("info", "shell.oc", "--json").stdout)["result"]
    assert [given(as_json), as_json["conditions"]] == [given(shell), shell["conditions"]]
    # Conditions that were printed are accepted by the option.
    outcore("import", "days", "again.oc", "--where", shell["conditions"][0], "--where", shell["conditions"][1], "--weight", "amount")
    assert oc.Graph("again.oc").info()["conditions"] == shell["conditions"]
    # Images are known by their ids.
    outcore("import", "shell.oc", "days/a.csv", "both.oc", "--weight", "amount")
    both = oc.Graph("both.oc").info()
    assert [tuple(pair) for pair in both["images_read"]] == [("shell.oc", shell["image_id"])]
    assert both["first_files_modified"] == ["2023-11-14T22:13:20Z"] and both["conditions"] == []
    reverse = oc.Graph("shell.oc").reverse("reverse.oc").info()
    assert given(reverse) == {"reverse": "true"} and reverse["first_files_modified"] is None
    # Nothing of it changes what the image is.
    os.utime("days/a.csv")
    outcore("import", "days", "later.oc", *where, "--weight", "amount", "--duplicates", "sum")
    assert oc.Graph("later.oc").info()["image_id"] == shell["image_id"]


@needs_command
def test_arrays_say_which_version_made_them(scratch):
    np.save("x.npy", np.arange(6.0))
    outcore("import", "--as", "array", "x.npy", "x.oc")
    info = json.loads(outcore("info", "x.oc", "--json").stdout)["result"]
    assert info["outcore_version"].split()[0] == oc.__version__


@needs_command
def test_links_in_a_circle_and_missing_folders_are_named(scratch):
    with open("e.csv", "w") as file:
        file.write("1,2\n2,3\n")
    outcore("import", "e.csv", "g.oc")
    os.symlink("loop", "loop")
    for words in (["import", "loop", "x.oc"], ["import", "e.csv", "loop"], ["info", "loop"], ["run", "pagerank", "loop"]):
        refused = outcore(*words, check=False)
        assert refused.returncode != 0 and b"loop: Too many levels of symbolic links" in refused.stderr, refused
    for folder, why in (("missing", b"No such file"), ("e.csv", b"Not a directory"), ("loop", b"Too many levels")):
        refused = outcore("import", "e.csv", "x.oc", "--temporary", folder, check=False)
        assert b"cannot make temporary files in " + folder.encode() + b": " + why in refused.stderr
    os.mkdir(b"f\xff")
    shutil.copy("e.csv", b"f\xff/d\xfe.csv")
    outcore("import", b"f\xff", b"i\xff.oc", "--temporary", b"f\xff")
    outcore("import", b"f\xff/*.csv", b"i\xff.oc", "--replace")
    assert json.loads(outcore("info", b"i\xff.oc", "--json").stdout)["result"]["files_read"] == 1
    outcore("export", b"i\xff.oc", b"f\xff/out.csv")
    assert os.listdir() and not os.path.lexists("x.oc")
