"""The command as people use it: answers, errors, exit codes, limits, and what is left behind when it is killed."""

import gzip
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from conftest import data_folder

from outcore import _outcore

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
pytestmark = pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")


def outcore(*arguments, check=True, **options):
    done = subprocess.run([OUTCORE, *map(str, arguments)], capture_output=True, text=True, **options)
    if check:
        assert done.returncode == 0, done.stderr
    return done


def unread(*arguments):
    """A run whose output nobody takes: its exit code and what it said on the standard error."""
    with subprocess.Popen([OUTCORE, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        said = process.stderr.read()
        return process.wait(), said


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("image") / "k.oc"
    outcore("generate", "kronecker", path, "--scale", 12, "--memory", "64MiB")
    return path


def test_help_and_exit_codes(tmp_path):
    assert "import" in outcore("--help").stdout
    listed = " ".join(outcore("run", "--help").stdout.split())
    assert "bfs Breadth-first search: the level and parent of every vertex" in listed, listed
    assert outcore("run", "pagerank", "--help").stdout.startswith("PageRank")
    for command in ("import", "generate", "info", "check", "export", "run", "graphalytics", "graph500", "gap"):
        assert "Usage" in outcore(command, "--help").stdout
    assert outcore("frobnicate", check=False).returncode == 2
    assert outcore("import", check=False).returncode == 2
    missing = outcore("info", tmp_path / "none.oc", check=False)
    assert missing.returncode == 6 and "no such directory" in missing.stderr
    assert outcore("run", "bfs", "k.oc", check=False).returncode == 2


def test_help_names_what_can_be_typed(image):
    words = lambda *command: " ".join(outcore(*command, "--help").stdout.split())
    assert all(ending in words("export") for ending in (".txt", ".edges", ".mtx", ".graph", ".e", ".parquet"))
    assert all(ending in words("generate") for ending in (".bin16", ".graph500", ".wel"))
    assert ".jsonl (each maybe with .gz or .zst)" in words("run", "pagerank") and "its answer" in words("run", "pagerank")
    assert "words among integers are refused" in words("import")
    for command in (["check"], ["run", "components"]):
        assert all(f"- {name}:" in words(*command) for name in ("auto", "uring", "posix"))
        wrong = outcore(*command, image, "--backend", "foo", check=False)
        assert wrong.returncode == 2 and "foo" in wrong.stderr and "posix" in wrong.stderr, wrong.stderr


def test_sources_are_given_or_drawn(image):
    run = lambda algorithm, *options: outcore("run", algorithm, image, "--explain", *options, check=False)
    drawn, given = ("--k", 3, "--seed", 5), ("--sources", "1,2")
    for algorithm in ("betweenness-centrality", "all-pairs"):
        assert run(algorithm).returncode == run(algorithm, *drawn).returncode == run(algorithm, *given).returncode == 0
        for wrong in ((*given, "--seed", 5), (*given, "--k", 3), ("--k", 0)):
            refused = run(algorithm, *wrong)
            assert refused.returncode == 2 and refused.stdout == "", (algorithm, wrong, refused)
    assert run("all-pairs", "--seed", 5).returncode == run("betweenness-centrality", *drawn, "--failure", 0.3).returncode == 0
    for wrong in (("--seed", 5), ("--failure", 0.3), (*given, "--failure", 0.3), (*given, "--seed", 5, "--failure", 0.3)):
        refused = run("betweenness-centrality", *wrong)
        assert refused.returncode == 2 and refused.stdout == "", (wrong, refused)


def test_explain_refuses_vertices_that_are_not_there(image):
    for command in (["bfs", "--source", "nobody"], ["bfs", "--source", 1, "--target", "nobody"], ["sssp", "--source", "nobody"]):
        refused = outcore("run", *command, image, "--explain", check=False)
        assert refused.returncode == 8 and "`nobody`" in refused.stderr and refused.stdout == "", refused


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_strings_that_share_their_beginnings_are_not_unpacked_beyond_the_limit(tmp_path, version):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    texts = ["x" * 20_000 + str(i % 40) for i in range(8000)]
    encoding = {"column_encoding": {"source": "DELTA_BYTE_ARRAY", "target": "DELTA_BYTE_ARRAY"}, "use_dictionary": False}
    table, path = pa.table({"source": texts, "target": texts[1:] + texts[:1]}), tmp_path / "long.parquet"
    pa.parquet.write_table(table, path, data_page_version=version, **encoding)
    assert path.stat().st_size < 10_000 < 300 << 20 < table.nbytes, "unpacked, the file is many times the limit"
    said = outcore("import", path, tmp_path / "long.oc", "--memory", "40MiB").stderr
    assert "40 vertices" in said
    peak, unit = said.split("peak memory ")[1].split()[:2]
    assert unit == "MiB" and float(peak) <= 40, said


@pytest.mark.parametrize("codec", ["zstd", "snappy"])
def test_parquet_of_other_writers_keeps_to_the_limit(tmp_path, codec):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    np = pytest.importorskip("numpy")
    # Ids that a writer begins to put into a dictionary and then does not.
    random, count = np.random.default_rng(1), 1_000_000
    ids = random.integers(0, 2**63, count, dtype=np.int64)
    table = pa.table({"source": ids, "target": random.permutation(ids), "weight": random.random(count)})
    pa.parquet.write_table(table, tmp_path / "ids.parquet", compression=codec)
    for limit in (38, 42):
        said = outcore("import", tmp_path / "ids.parquet", tmp_path / "ids.oc", "--replace", "--memory", f"{limit}MiB").stderr
        peak, unit = said.split("peak memory ")[1].split()[:2]
        assert unit == "MiB" and float(peak) <= limit, said


def test_threads_that_cannot_be_are_refused_with_advice(image):
    for wrong in (0, 1025, 100000):
        refused = outcore("run", "components", image, "--threads", wrong, check=False)
        assert refused.returncode == 2 and "1..=1024" in refused.stderr
    # No stack of this size can be had: the system refuses every thread.
    for backend in ("posix", "auto"):
        command = ("run", "components", image, "--memory", "64MiB", "--threads", 2, "--backend", backend)
        refused = outcore(*command, check=False, env={**os.environ, "RUST_MIN_STACK": str(1 << 62)})
        assert refused.returncode == 13 and refused.stdout == "", refused
        assert refused.stderr.startswith("outcore: cannot start a thread: ") and "fewer threads" in refused.stderr


def test_control_characters_of_names_and_ids_do_not_reach_the_terminal(tmp_path):
    escape = "\x1b[2J"
    folder = tmp_path / f"fold{escape}er"
    folder.mkdir()
    table, image = folder / f"t{escape}.csv", folder / f"g{escape}.oc"
    table.write_text(f"from{escape},to,len{escape}gth\na{escape},b,1\nb,c{escape},2\n")
    columns = ("--source", f"from{escape}", "--target", "to", "--weight", f"len{escape}gth")
    done = [
        outcore("import", table, image, "--ids", "string", *columns),
        outcore("import", table, image, "--ids", "string", *columns, check=False),
        outcore("import", table, image, "--weight", "no", "--replace", check=False),
        outcore("import", folder, folder / "h.oc", check=False),
        outcore("info", image), outcore("info", image, "--json"), outcore("check", image),
        outcore("run", "bfs", "--source", f"a{escape}", "--target", f"c{escape}", image),
        outcore("run", "bfs", "--source", f"n{escape}o", image, check=False),
        outcore("run", "sssp", "--source", f"a{escape}", "--weight", f"len{escape}gth", image),
        outcore("run", "sssp", "--source", "b", "--weight", "other", image, check=False),
        outcore("run", "pagerank", image, "--output", folder / "ranks.txt", check=False),
        outcore("run", "pagerank", image), outcore("run", "components", folder / "none.oc", check=False),
        outcore("export", image, folder / f"e{escape}.csv"), outcore("export", image, folder / "e.none", check=False),
    ]
    said = [run.stdout + run.stderr for run in done]
    assert not [text for text in said if "\x1b" in text]
    for name in ("len", "from", "fold", "a", "n", "t", "g", "e"):
        assert any(name + r"\u{1b}[2J" in text for text in said), name
    # What is written for programs is as it is.
    assert escape in (folder / f"e{escape}.csv").read_text()
    assert escape in json.loads(done[5].stdout)["result"]["weights"]


def test_info_has_the_promised_keys(image):
    info = json.loads(outcore("info", image, "--json").stdout)["result"]
    for key in ("vertices", "edges", "directed", "weights", "order", "bytes_per_edge", "format_version"):
        assert key in info
    assert info["vertices"] == 4096 and info["directed"] is True and info["weights"] is None
    assert "vertices" in outcore("info", image).stdout


def test_statistics_have_the_promised_keys(image, tmp_path):
    simple = (
        ["pagerank"], ["components"], ["strong-components"], ["core-number"], ["label-propagation"], ["triangles"],
        ["clustering"], ["lcc"], ["scan-statistics"],
    )
    for algorithm in (*simple, ["bfs", "--source", "1"]):
        stats_file = tmp_path / "stats.json"
        outcore("run", *algorithm, image, "--memory", "64MiB", "--threads", 2, "--stats", stats_file, "--verify")
        stats = json.loads(stats_file.read_text())["stats"]
        for key in ("seconds", "seconds_io_wait", "passes", "bytes_read", "pages_wanted", "pages_read", "requests",
                    "cache_hits", "memory_limit_bytes", "memory_peak_bytes", "threads", "backend", "steps"):
            assert key in stats, key
        assert stats["memory_limit_bytes"] == 64 << 20 and stats["threads"] == 2
        assert 0 < stats["memory_peak_bytes"] <= stats["memory_limit_bytes"]
        assert stats["steps"] and stats["pages_wanted"] > 0


def test_a_search_that_ends_early_prints_the_path(tmp_path):
    (tmp_path / "path.txt").write_text("a b\nb c\nc d\nd e\nx a\n")
    outcore("import", tmp_path / "path.txt", tmp_path / "path.oc", "--directed")
    bfs = lambda *options: outcore("run", "bfs", "--source", "a", tmp_path / "path.oc", "--verify", *options).stdout.splitlines()
    found = bfs("--target", "d")
    assert "reached 4 of 6 vertices from a until d" in found
    assert found[found.index("path of 3 edges from a to d") + 1:][:4] == ["  a", "  b", "  c", "  d"]
    assert "reached 2 of 6 vertices from a" in bfs("--depth-limit", "1")
    assert "no path of at most 2 edges from a to d" in bfs("--depth-limit", "2", "--target", "d")
    assert "no path from a to x" in bfs("--target", "x")


def test_explain_stops_before_anything_is_done(image, tmp_path):
    text = outcore("run", "pagerank", image, "--explain", "--output", tmp_path / "no.csv").stdout
    assert "memory" in text and "passes" in text and "reads" in text
    assert not list(tmp_path.iterdir())


def test_explain_counts_the_output_and_claims_no_bound_that_is_none(image, tmp_path):
    without = outcore("run", "components", image, "--explain", "--memory", "128MiB").stdout
    explained = outcore("run", "components", image, "--explain", "--memory", "128MiB", "--output", tmp_path / "c.parquet").stdout
    assert "output" in explained and "output" not in without
    least = lambda text: float(re.search(r"memory +([0-9.]+) MiB", text)[1])
    assert least(explained) >= least(without) + 3, "encoders of Parquet take 4 to 16 MiB"
    # What the process holds at its start differs by some 0.2 MiB from run to run.
    enough = f"{least(explained) + 0.5:.1f}MiB"
    assert outcore("run", "components", image, "--memory", enough, "--output", tmp_path / "c.parquet").returncode == 0
    assert "no bound is known" in outcore("run", "sssp", "--source", 1, image, "--explain").stdout


def test_a_run_that_cannot_be_verified_is_refused_before_it(tmp_path):
    outcore("generate", "star", "--scale", "22", tmp_path / "star.oc")
    run = lambda *options, check=True: outcore("run", "strong-components", tmp_path / "star.oc", "--threads", "1", *options, check=check)
    least = lambda *options: float(re.search(r"memory +([0-9.]+) MiB", run("--explain", "--memory", "256MiB", *options).stdout)[1])
    assert least() + 4 < least("--verify") and "verify " in run("--explain", "--verify").stdout
    between = f"{least() + 2:.1f}MiB"
    assert "4194304 components" in run("--memory", between).stdout
    refused = run("--memory", between, "--verify", check=False)
    assert refused.returncode != 0 and "the result and its verification" in refused.stderr and not refused.stdout
    assert "verified" in run("--memory", f"{least('--verify') + 0.5:.1f}MiB", "--verify").stdout


def test_components_are_refused_beforehand_if_their_sizes_cannot_be_counted(tmp_path):
    outcore("generate", "path", "--scale", "22", tmp_path / "path.oc")
    run = lambda *options, check=True: outcore("run", "components", tmp_path / "path.oc", "--threads", "1", *options, check=check)
    least = float(re.search(r"memory +([0-9.]+) MiB", run("--explain", "--memory", "256MiB").stdout)[1])
    # What the process holds at its start differs by some 0.2 MiB from run to run.
    assert "1 component" in run("--memory", f"{least + 0.5:.1f}MiB").stdout
    refused = run("--memory", f"{least - 8:.1f}MiB", check=False)
    assert refused.returncode != 0 and "the components and their sizes" in refused.stderr and not refused.stdout
    # Without the report nothing is counted, and nothing is needed for it.
    quiet = float(re.search(r"memory +([0-9.]+) MiB", run("--explain", "--quiet", "--memory", "256MiB").stdout)[1])
    assert quiet < least - 8
    done = run("--quiet", "--memory", f"{quiet + 0.5:.1f}MiB")
    assert done.stdout == done.stderr == ""


def test_ids_with_commas_are_given_in_quotes(tmp_path):
    (tmp_path / "names.csv").write_text('source,target\n"a,b",c\nc,"say ""d"""\nc,e\n')
    image = tmp_path / "names.oc"
    outcore("import", tmp_path / "names.csv", image)
    search = lambda *options, check=True: outcore("run", "multi-source-bfs", image, *options, check=check)
    for options in [("--sources", '"a,b",c'), ("--sources", '"a,b"', "--sources", "c")]:
        text = search(*options, "--targets", '"say ""d""",e').stdout
        assert "a,b reaches 4 vertices" in text and "c reaches 3 vertices" in text and 'say "d"' in text, text
    assert "from \"a,b\"" in outcore("run", "personalized-pagerank", image, "--seeds", '"a,b"').stdout
    assert "a,b reaches" not in outcore("run", "all-pairs", image, "--sources", "c,e").stdout
    assert outcore("run", "betweenness-centrality", image, "--sources", '"a,b",c').returncode == 0
    for wrong, expected in [('"a,b', "a closing quote"), ('"a"b', "a comma behind")]:
        assert expected in search("--sources", wrong, check=False).stderr
    twice = outcore("run", "betweenness-centrality", image, "--sources", 'c,"a,b",c', check=False)
    assert "found c twice" in twice.stderr


def test_an_output_that_cannot_be_is_refused_before_the_run(tmp_path):
    (tmp_path / "names.txt").write_text("".join(f"{'x' * 250}{i} {'x' * 250}{i + 1}\n" for i in range(100_000)))
    image = tmp_path / "names.oc"
    outcore("import", tmp_path / "names.txt", image, "--undirected", "--memory", "256MiB")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "old.csv").write_text("old")
    outputs = {
        "ranks.xyz": "ends in one of",
        "nowhere/ranks.csv": "No such file",
        "folder.csv": "name of a file",
        "ranks.npy": "ids of this graph are strings",
    }
    for algorithm in (["pagerank"], ["bfs", "--source", f"{'x' * 250}7"], ["components"], ["lcc"]):
        for output, said in outputs.items():
            refused = outcore("run", *algorithm, image, "--output", tmp_path / output, check=False)
            assert refused.returncode in (2, 6) and said in refused.stderr and refused.stdout == "", (algorithm, refused)
    # The ids of the components take 25 MB, of which some at a time are enough.
    refused = outcore("run", "components", image, "--memory", "30MiB", "--output", tmp_path / "old.csv", check=False)
    assert "the result and what writes it needs" in refused.stderr and refused.stdout == "", refused
    advised = re.search(r"at least ([0-9.]+) MiB", refused.stderr)[1]
    assert outcore("run", "components", image, "--memory", "30MiB").returncode == 0
    assert (tmp_path / "old.csv").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"names.txt", "names.oc", "folder.csv", "old.csv"}
    outcore("run", "components", image, "--memory", f"{float(advised) + 1}MiB", "--output", tmp_path / "old.csv")
    assert (tmp_path / "old.csv").read_text() != "old"
    # Who does not read the report loses no result.
    for arguments, code in ([], 141), (["--max-iter", "1"], 4):
        assert unread("run", "pagerank", image, "--output", tmp_path / "unread.csv", *arguments)[0] == code
    code, said = unread("run", "pagerank", image, "--max-iter", "1", "--stats", "-")
    assert code == 4 and "--allow-unconverged" in said
    assert unread("import", tmp_path / "names.txt", tmp_path / "unheard.oc", "--explain") == (141, "")
    assert (tmp_path / "unread.csv").read_text().startswith("vertex,pagerank")
    # Nobody meant a device, a pipe or a link to be replaced, and nothing is lost to a file of the same name.
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "link.csv").symlink_to("old.csv")
    for what in "pipe", "link":
        for option in "--output", "--stats":
            refused = outcore("run", "pagerank", image, option, tmp_path / f"{what}.csv", check=False)
            assert refused.returncode == 2 and "expected the name of a file to write" in refused.stderr, refused
            assert refused.stdout == "", refused
    assert (tmp_path / "link.csv").is_symlink() and (tmp_path / "pipe.csv").is_fifo()
    refused = outcore("run", "pagerank", image, "--stats", image / "manifest.json", check=False)
    assert refused.returncode == 2 and "a place within an image" in refused.stderr and refused.stdout == ""
    refused = outcore("run", "pagerank", image, "--stats", tmp_path / "folder.csv", check=False)
    assert refused.returncode == 2 and "name of a file" in refused.stderr and refused.stdout == ""
    refused = outcore("run", "pagerank", image, "--stats", tmp_path / "x.csv", "--output", f"{tmp_path}/./x.csv", check=False)
    assert refused.returncode == 2 and "expected different files" in refused.stderr
    with open("/dev/full", "w") as full:
        command = [OUTCORE, "import", str(tmp_path / "names.txt"), str(tmp_path / "unheard.oc")]
        assert subprocess.run(command, stderr=full).returncode == 0
    # Statistics on the standard output are alone there; the report is beside them, or nowhere.
    both = outcore("run", "pagerank", image, "--stats", "-")
    assert json.loads(both.stdout)["stats"]["steps"] and "converged after" in both.stderr
    quiet = outcore("run", "pagerank", image, "--stats", "-", "--quiet")
    assert json.loads(quiet.stdout)["stats"]["steps"] and quiet.stderr == ""
    for algorithm in ("pagerank", "bfs", "components", "scan-statistics", "all-pairs"):
        source = ["--source", f"{'x' * 250}7", "--target", f"{'x' * 250}9"] if algorithm == "bfs" else []
        done = outcore("run", algorithm, *source, image, "--quiet")
        assert done.stdout == done.stderr == "", algorithm
    refused = outcore("run", "pagerank", image, "--stats", tmp_path / "nowhere" / "stats.json", check=False)
    assert refused.returncode == 6 and "stats.json" in refused.stderr and refused.stdout == ""


def test_results_in_every_format(image, tmp_path):
    for ending in ("csv", "npy", "parquet", "arrow"):
        file = tmp_path / f"ranks.{ending}"
        outcore("run", "pagerank", image, "--output", file, "--memory", "128MiB")
        assert file.stat().st_size > 4096 * 8 / 4
    lines = (tmp_path / "ranks.csv").read_text().splitlines()
    assert lines[0] == "vertex,pagerank" and len(lines) == 4097
    refused = outcore("run", "pagerank", image, "--output", tmp_path / "ranks.xyz", check=False)
    assert refused.returncode == 2 and ".parquet" in refused.stderr


def test_too_little_memory_is_refused_with_the_numbers(image):
    refused = outcore("run", "pagerank", image, "--memory", "8MiB", check=False)
    assert refused.returncode == 9 and "8 MiB" in refused.stderr and "raise the limit" in refused.stderr


@pytest.mark.parametrize("text, line, found", [
    ("1 2\n2 3\n3 x\n", 3, "x"),
    ("1 2 1.5\n2 3 nan\n", 2, "nan"),
    ("1 2\n99999999999999999999999 3\n", 2, "99999999999999999999999"),
    ("1 2\n3\n", 2, "3"),
])
def test_bad_input_names_file_and_line_and_leaves_nothing(tmp_path, text, line, found):
    (tmp_path / "bad.txt").write_text(text)
    refused = outcore("import", tmp_path / "bad.txt", tmp_path / "bad.oc", "--ids", "integer", check=False)
    assert refused.returncode == 5
    assert f"bad.txt:{line}" in refused.stderr and found in refused.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["bad.txt"]


def test_a_truncated_gzip_is_refused(tmp_path):
    whole = gzip.compress(b"".join(b"%d %d\n" % (i, i * 7 % 1000) for i in range(50_000)))
    (tmp_path / "cut.txt.gz").write_bytes(whole[:-1000])
    refused = outcore("import", tmp_path / "cut.txt.gz", tmp_path / "cut.oc", check=False)
    assert refused.returncode == 5 and "truncated" in refused.stderr
    (tmp_path / "cut.txt.gz").write_bytes(whole + whole + b"sent by mail")
    refused = outcore("import", tmp_path / "cut.txt.gz", tmp_path / "cut.oc", check=False)
    said = f"bytes after the end of the compressed data, from byte {2 * len(whole)} on"
    assert refused.returncode == 5 and said in refused.stderr and "is truncated" not in refused.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["cut.txt.gz"]


def test_export_and_import_again_give_the_same_graph(image, tmp_path):
    outcore("export", image, tmp_path / "edges.csv", "--memory", "128MiB")
    outcore("import", tmp_path / "edges.csv", tmp_path / "again.oc", "--memory", "128MiB")
    before = json.loads(outcore("info", image, "--json").stdout)["result"]
    after = json.loads(outcore("info", tmp_path / "again.oc", "--json").stdout)["result"]
    assert before["edges"] == after["edges"]
    outcore("check", tmp_path / "again.oc", "--memory", "128MiB")


def test_a_damaged_image_is_noticed_and_named(image, tmp_path):
    copy = tmp_path / "damaged.oc"
    shutil.copytree(image, copy)
    file = copy / "in.pages"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)
    for command in (["check", copy], ["run", "pagerank", copy]):
        refused = outcore(*command, check=False)
        assert refused.returncode == 12 and "in.pages" in refused.stderr and "damaged" in refused.stderr


def test_ctrl_c_stops_and_leaves_nothing(tmp_path):
    process = subprocess.Popen(
        [OUTCORE, "generate", "kronecker", str(tmp_path / "k.oc"), "--scale", "20", "--edge-factor", "64", "--progress", "json"],
        stderr=subprocess.PIPE)
    assert b"start" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    assert process.returncode == 130 and b"stopped" in process.stderr.read()
    assert not list(tmp_path.iterdir())


def test_a_killed_import_leaves_the_old_image_or_the_new_one(tmp_path):
    """kill -9 at 200 random moments: the image is the old one or the new one, whole, and the next import cleans up."""
    image = tmp_path / "k.oc"
    graphs = [tmp_path / "a.graph500", tmp_path / "b.graph500"]
    for seed, file in enumerate(graphs):
        outcore("generate", "kronecker", file, "--scale", 11 + seed, "--seed", seed)
    arguments = lambda file: [OUTCORE, "import", str(file), str(image), "--memory", "64MiB", "--quiet", "--replace"]
    start = time.monotonic()
    subprocess.run(arguments(graphs[1]), check=True)
    whole = time.monotonic() - start
    seed = random.randrange(1 << 30)
    generator = random.Random(seed)
    vertices = lambda: json.loads(outcore("info", image, "--json").stdout)["result"]["vertices"]
    known = {vertices()}
    subprocess.run(arguments(graphs[0]), check=True)
    known.add(vertices())
    assert len(known) == 2
    killed = rounds = 0
    while killed < 200 and rounds < 2000:
        process = subprocess.Popen(arguments(graphs[rounds % 2]), stderr=subprocess.DEVNULL)
        time.sleep(generator.random() * whole * 1.1)
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        rounds += 1
        assert vertices() in known, f"seed {seed}"
        if rounds % 20 == 0:
            outcore("check", image)
    assert killed >= 200, f"seed {seed}"
    outcore("import", graphs[0], image, "--memory", "64MiB", "--replace")
    outcore("check", image)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.graph500", "b.graph500", "k.oc"], f"seed {seed}"


def test_an_image_is_replaced_only_if_that_is_asked_for(tmp_path):
    image, text = tmp_path / "g.oc", tmp_path / "edges.txt"
    text.write_text("1 2\n2 3\n")
    outcore("import", text, image)
    for command in (["import", text, image], ["generate", "path", image, "--scale", 3]):
        refused = outcore(*command, check=False)
        assert refused.returncode == 7 and "--replace" in refused.stderr and "already" in refused.stderr, refused.stderr
        assert json.loads(outcore("info", image, "--json").stdout)["result"]["vertices"] == 3
        outcore(*command, "--replace")
    assert json.loads(outcore("info", image, "--json").stdout)["result"]["vertices"] == 8


@pytest.mark.parametrize("place", ["notes.txt", "columns/notes.txt", "edges", ".hidden"])
def test_files_of_users_in_an_image_are_not_replaced(tmp_path, place):
    image, text = tmp_path / "g.oc", tmp_path / "edges.txt"
    text.write_text("1 2\n2 3\n")
    outcore("import", text, image)
    if place == "edges":
        (image / place).mkdir()
    note = image / (place if place != "edges" else "edges/notes.txt")
    note.write_text("mine")
    for command in (["import", text, image], ["generate", "path", image, "--scale", 3]):
        refused = outcore(*command, "--replace", check=False)
        assert refused.returncode == 2 and f"found {note}" in refused.stderr, refused.stderr
        assert note.read_text() == "mine" and json.loads(outcore("info", image, "--json").stdout)["result"]["vertices"] == 3
    note.unlink()
    outcore("import", text, image, "--replace")


def test_what_a_killed_import_left_is_removed_by_an_import_of_another_name(tmp_path):
    text = tmp_path / "edges.txt"
    text.write_text("1 2\n")
    # The input has no end, so the import is under way when it is killed.
    command = [OUTCORE, "import", "-", tmp_path / "monday.oc", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0) as process:
        # A folder of that name was there before, to try whether it can be made: that of the import has another in it.
        while not list(tmp_path.glob(".monday.oc.*/temporary")):
            process.stdin.write(b"1 2\n" * 1000)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    (left,) = tmp_path.glob(".monday.oc.*")
    said = outcore("import", text, tmp_path / "tuesday.oc").stderr
    assert f"Removed {left}" in said and not left.exists()


def test_an_image_without_permission_says_so(tmp_path):
    """Root may read everything, so the command runs as somebody else then."""
    image = tmp_path / "g.oc"
    outcore("generate", "path", image, "--scale", 3)
    other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        # Where `pip install --target` puts the command and the module that it loads.
        command, place = pathlib.Path(name) / "bin" / "outcore", pathlib.Path(name) / "g.oc"
        module = pathlib.Path(name) / "outcore" / "_outcore.abi3.so"
        for file, original in ((command, OUTCORE), (module, _outcore.__file__)):
            file.parent.mkdir()
            shutil.copy(original, file)
        shutil.move(image, place)
        for path in (place, place / "manifest.json", place / "out.pages", place / "out.index"):
            mode = path.stat().st_mode
            path.chmod(0)
            done = subprocess.run([command, "info", place], capture_output=True, text=True, **other)
            path.chmod(mode)
            assert done.returncode == 11 and "ermission denied" in done.stderr and path.name in done.stderr, done.stderr
        assert subprocess.run([command, "info", place], capture_output=True, **other).returncode == 0


def test_statistics_replace_a_file_and_no_link(tmp_path):
    image, precious, stats = tmp_path / "g.oc", tmp_path / "precious", tmp_path / "stats.json"
    outcore("generate", "path", image, "--scale", 3)
    precious.write_text("precious")
    stats.symlink_to(precious)
    refused = outcore("run", "components", image, "--stats", stats, check=False)
    assert refused.returncode == 2 and "found a link" in refused.stderr
    assert precious.read_text() == "precious" and stats.is_symlink()
    stats.unlink()
    stats.write_text("old")
    outcore("run", "components", image, "--stats", stats)
    assert json.loads(stats.read_text())["stats"]["bytes_read"] >= 0


def test_generated_edge_files_say_their_direction_or_refuse_it(tmp_path):
    text, image = tmp_path / "u.txt", tmp_path / "u.oc"
    directed = lambda: json.loads(outcore("info", image, "--json").stdout)["result"]["directed"]
    for options, first in (
        (["kronecker", "--undirected", "--weights", "uniform"], "# outcore undirected weight=weight"),
        (["path", "--undirected"], "# outcore undirected"),
        (["grid"], "# outcore undirected"),
        (["kronecker", "--weights", "uniform"], "# outcore directed weight=weight"),
    ):
        outcore("generate", *options, text, "--scale", 4)
        assert text.read_text().splitlines()[0] == first
        outcore("import", text, image, "--replace")
        assert directed() is (first.split()[2] == "directed")
        outcore("generate", *options, image, "--scale", 4, "--replace")
        assert directed() is (first.split()[2] == "directed")
    for name in ("r.csv", "r.el", "r.graph500"):
        refused = outcore("generate", "path", tmp_path / name, "--scale", 4, "--undirected", check=False)
        assert refused.returncode == 2 and "choose .txt" in refused.stderr and "--undirected" in refused.stderr, refused
    refused = outcore("generate", "path", tmp_path / "r.txt", "--scale", 4, "--order", "degree", check=False)
    assert refused.returncode == 2 and "--order" in refused.stderr and ".oc" in refused.stderr, refused
    assert {path.name for path in tmp_path.iterdir()} == {"u.txt", "u.oc"}


# A triangle and a vertex on its own, and what the kernels find in it.
DATA_SET = {
    ".v": "1\n2\n3\n9\n",
    ".e": "1 2 0.5\n1 3 2\n2 3 0.25\n",
    ".properties": """
        graph.small.directed = false
        graph.small.edge-properties.names = km
        graph.small.bfs.source-vertex = 1
        graph.small.cdlp.max-iterations = 2
        graph.small.pr.damping-factor = 0.85
        graph.small.pr.num-iterations = 2
        graph.small.sssp.source-vertex = 1
    """,
    "-BFS": "1 0\n2 1\n3 1\n9 9223372036854775807\n",
    "-PR": "1 0.3144140625\n2 0.3144140625\n3 0.3144140625\n9 0.0567578125\n",
    "-WCC": "1 7\n2 7\n3 7\n9 1\n",
    "-CDLP": "1 1\n2 1\n3 1\n9 9\n",
    "-LCC": "1 1\n2 1.0\n3 1e0\n9 0\n",
    "-SSSP": "1 0\n2 0.5\n3 0.75\n9 infinity\n",
}
KERNELS = ["BFS", "PR", "WCC", "CDLP", "LCC", "SSSP"]


@pytest.fixture
def data_set(tmp_path):
    folder, temporary = tmp_path / "data", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    for ending, text in DATA_SET.items():
        (folder / f"small{ending}").write_text(text)
    yield folder, ["graphalytics", folder, "--memory", "64MiB", "--temporary", temporary]
    assert not list(temporary.iterdir())


def test_graphalytics_validates_every_kernel(data_set):
    folder, command = data_set
    text = outcore(*command).stdout.splitlines()
    assert text[0].startswith("small: 4 vertices, 3 undirected edges, loaded in")
    assert [line.split()[0] for line in text[1:]] == KERNELS and all(line.endswith("EVPS  valid") for line in text[1:])
    (folder / "small-LCC").unlink()
    (report,) = json.loads(outcore(*command, "small", "--json").stdout)
    assert (report["vertices"], report["edges"], report["directed"]) == (4, 3, False) and report["load_seconds"] > 0
    for kernel in report["kernels"]:
        assert kernel["outcome"] == ("no reference" if kernel["kernel"] == "LCC" else "valid")
        assert kernel["eps"] == pytest.approx(3 / kernel["processing_seconds"])
        assert kernel["evps"] == pytest.approx(7 / kernel["processing_seconds"])
    (folder / "small.properties").write_text("graph.small.directed = true\n")
    (report,) = json.loads(outcore(*command, "--json", check=False).stdout)
    kernels = {kernel["kernel"]: kernel["outcome"] for kernel in report["kernels"]}
    assert report["directed"] is True
    assert kernels == {"BFS": "not run", "PR": "not run", "WCC": "valid", "CDLP": "not run", "LCC": "no reference", "SSSP": "not run"}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("damage", [("3 ", "3 4"), ("3 ", "4 "), ("9 ", ""), ("2 ", "x ")])
def test_graphalytics_refuses_a_damaged_reference(data_set, kernel, damage):
    folder, command = data_set
    file = folder / f"small-{kernel}"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line.replace(*damage) if line.startswith(damage[0]) else line for line in lines))
    refused = outcore(*command, check=False)
    assert refused.returncode == 3 and "expected 6 outputs that agree" in refused.stderr and "found 1" in refused.stderr
    (invalid,) = (line for line in refused.stdout.splitlines() if "INVALID" in line)
    assert invalid.split()[0] == kernel and f"small-{kernel}:" in invalid
    # Who stops reading, as `grep -q` does, learns it all the same.
    code, said = unread(*command)
    assert code == 3 and "found 1" in said


def test_graphalytics_tells_what_it_has_when_a_data_set_fails(data_set):
    folder, command = data_set
    failed = outcore(*command, "small", "other", "--json", check=False)
    assert failed.returncode == 6 and "other.properties" in failed.stderr
    (report,) = json.loads(failed.stdout)
    assert report["name"] == "small" and {kernel["outcome"] for kernel in report["kernels"]} == {"valid"}
    failed = outcore(*command, "small", "other", check=False)
    assert failed.returncode == 6 and failed.stdout.count("  valid") == 6


def test_graphalytics_says_that_a_reference_is_compressed(data_set):
    folder, command = data_set
    (folder / "small-BFS.gz").write_bytes(gzip.compress((folder / "small-BFS").read_bytes()))
    assert "compressed" not in outcore(*command).stdout
    (folder / "small-BFS").unlink()
    bfs = outcore(*command).stdout.splitlines()[1]
    assert bfs.endswith("no reference: its reference is compressed, decompress small-BFS.gz")
    (report,) = json.loads(outcore(*command, "--json").stdout)
    assert report["kernels"][0]["outcome"] == "no reference" and "small-BFS.gz" in report["kernels"][0]["reason"]
    assert "uncompressed" in " ".join(outcore("graphalytics", "--help").stdout.split())


@pytest.mark.parametrize("ending", [".v", ".e", ".properties"])
def test_graphalytics_says_which_file_is_missing(data_set, ending):
    folder, command = data_set
    (folder / f"small{ending}").unlink()
    refused = outcore(*command, check=False)
    assert refused.returncode in (5, 6) and f"small{ending}" in refused.stderr
    refused = outcore(*command, "other", check=False)
    assert refused.returncode == 6 and "other.properties" in refused.stderr
    for file in folder.iterdir():
        file.unlink()
    refused = outcore(*command, check=False)
    assert refused.returncode == 2 and "NAME.properties" in refused.stderr


def test_graphalytics_agrees_with_all_shared_references():
    if data_folder() is None:
        pytest.skip("the shared data is absent: nothing of Graphalytics was compared (OUTCORE_DATA says where it is)")
    folder = data_folder() / "graphalytics"
    reports = json.loads(outcore("graphalytics", folder, "--json", "--memory", "64MiB").stdout)
    valid = {f"{report['name']}-{kernel['kernel']}" for report in reports for kernel in report["kernels"] if kernel["outcome"] == "valid"}
    assert valid == {file.name for file in folder.iterdir() if file.name.endswith(tuple(f"-{kernel}" for kernel in KERNELS))}
    assert len(valid) == 24


def test_graph500_prints_the_official_block(tmp_path):
    block = {}
    done = outcore("graph500", "--scale", 10, "--roots", 8, "--memory", "64MiB", "--temporary", tmp_path)
    for line in done.stdout.splitlines():
        key, value = line.split(":")
        block[" ".join(key.split())] = float(value.replace("!", ""))
    quartiles = ["min", "firstquartile", "median", "thirdquartile", "max"]
    expected = ["SCALE", "edgefactor", "NBFS", "graph_generation", "num_mpi_processes", "construction_time"]
    for what, prefixes in (("time", ("bfs ", "sssp ")), ("nedge", ("",)), ("TEPS", ("bfs ", "sssp ")), ("validate", ("bfs ", "sssp "))):
        means = ["harmonic_mean", "harmonic_stddev"] if what == "TEPS" else ["mean", "stddev"]
        expected += [f"{prefix}{name}_{what}" for prefix in prefixes for name in quartiles + means]
    assert list(block) == expected
    assert [block[key] for key in expected[:5:2]] == [10, 8, 1] and block["edgefactor"] == 16
    assert 15_000 < block["min_nedge"] <= block["max_nedge"] <= 16 << 10
    for kernel in ("bfs", "sssp"):
        rates = [block[f"{kernel} {name}_TEPS"] for name in quartiles]
        assert rates == sorted(rates) and rates[0] <= block[f"{kernel} harmonic_mean_TEPS"] <= rates[-1]
        assert rates[-1] == pytest.approx(block["max_nedge"] / block[f"{kernel} min_time"], rel=0.1)
    assert not list(tmp_path.iterdir())
    note = outcore("graph500", "--scale", 16, "--roots", 2, "--memory", "28MiB", "--temporary", tmp_path).stderr
    assert float(note.split("peak memory ")[1].split(" MiB of 28 MiB")[0]) <= 28, note
    refused = outcore("graph500", "--scale", 0, "--temporary", tmp_path, check=False)
    assert refused.returncode == 2 and "raise --scale" in refused.stderr and not list(tmp_path.iterdir())
    # Generating so many edges takes minutes or days: what cannot be is refused before it.
    for options, said in (
        (["--scale", 31, "--memory", "64MiB"], "a search's result and its validation needs 32 GiB"),
        (["--scale", 20, "--edge-factor", 1 << 20, "--memory", "64MiB"], "the image needs"),
    ):
        refused = outcore("graph500", *options, "--temporary", tmp_path, check=False, timeout=60)
        assert refused.returncode in (9, 10) and said in refused.stderr and not list(tmp_path.iterdir()), refused


def test_gap_times_every_kernel(image, tmp_path):
    weighted, text = tmp_path / "w.oc", tmp_path / "text.csv"
    outcore("generate", "kronecker", weighted, "--scale", 8, "--undirected", "--weights", "uniform")
    trials = {"bfs": 64, "sssp": 64, "pagerank": 16, "components": 16, "betweenness": 16, "triangles": 3}
    lines = outcore("gap", weighted, "--memory", "64MiB").stdout.splitlines()[1:]
    assert {line.split()[0]: int(line.split()[1]) for line in lines} == trials
    for line in lines:
        average, least, greatest = map(float, line.split()[2:5])
        assert 0 < least <= average <= greatest
    lines = outcore("gap", image, "--trials", 1, "--memory", "64MiB").stdout.splitlines()[1:]
    assert [line.split()[:2] for line in lines] == [[kernel, "0" if kernel == "sssp" else "1"] for kernel in trials]
    assert "no weights" in lines[1]
    text.write_text("a,b\n")
    outcore("import", text, tmp_path / "text.oc")
    for bad, message in ((tmp_path / "text.oc", "numbers"), (tmp_path / "none.oc", "no such directory")):
        refused = outcore("gap", bad, check=False)
        assert refused.returncode in (2, 6) and message in refused.stderr, refused.stderr


BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


@pytest.mark.parametrize("text, isolated", [
    ("# outcore undirected weight=sim\n1\t2\t0.5\n2\t3\t1.5\n", ""),
    ("source,target\n-New York,Old York\nOld York,Duke of York\n", ""),
    ("source,target\n", "a\nb\n"),
])
def test_the_demo_runs_on_graphs_of_users(tmp_path, text, isolated):
    graph = tmp_path / ("edges.csv" if text.startswith("source") else "edges.txt")
    graph.write_text(text)
    if isolated:
        (tmp_path / "edges.csv.vertices").write_text(isolated)
    command = ["bash", BENCH / "demo.sh", OUTCORE, sys.executable, "256MiB", graph, ""]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"\$ outcore run ([a-z]+)", done.stdout) == ["pagerank", "bfs", "components"]
    assert done.stdout.count("verified") == 3 and "peak MiB" in done.stdout


def test_the_benchmarks_name_all_that_they_need():
    needed = (BENCH / "requirements.txt").read_text()
    for file in BENCH.glob("*.py"):
        for module in re.findall(r"^ *(?:import|from) (\w+)", file.read_text(), re.MULTILINE):
            if module not in sys.stdlib_module_names | {"outcore"}:
                name = {"sklearn": "scikit-learn"}.get(module, module)
                # Some are packages of the system, which a comment names.
                assert re.search(rf"^(?:#.* )?{name}\b", needed, re.MULTILINE), f"{file.name} imports {module}"


def limit_address_space(limit_bytes):
    return lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, limit_bytes))


@pytest.mark.parametrize("backend", ["auto", "posix"])
def test_memory_is_kept_whatever_reads(tmp_path, backend):
    image, stats_file = tmp_path / "u.oc", tmp_path / "stats.json"
    outcore("generate", "uniform", image, "--scale", 17, "--weights", "unit", "--memory", "48MiB")
    for algorithm in (["sssp", "--source", "1"], ["pagerank", "--max-iter", "20", "--allow-unconverged"]):
        for limit in (28 << 20, 36 << 20):
            outcore("run", *algorithm, image, "--memory", limit, "--threads", 2, "--backend", backend, "--stats", stats_file)
            stats = json.loads(stats_file.read_text())["stats"]
            assert stats["memory_peak_bytes"] <= limit, (algorithm, limit, stats["memory_peak_bytes"])


def test_memory_is_kept_under_a_limit_that_the_kernel_enforces(tmp_path):
    """The image is at least eight times the limit; a memory cgroup kills whoever holds more, where there is one. It counts
    pages of files that are being written, which are nobody's memory and cannot be dropped while a busy device writes them:
    16 MiB are for those. What the process held itself is compared with the limit without them."""
    image, limit = tmp_path / "k.oc", 24 << 20
    cgroup = pathlib.Path("/sys/fs/cgroup/memory") / f"outcore-test-{os.getpid()}"
    try:
        cgroup.mkdir()
        (cgroup / "memory.limit_in_bytes").write_text(str(limit + (16 << 20)))
        enter = lambda: (cgroup / "cgroup.procs").write_text(str(os.getpid()))
    except OSError as error:
        print(f"no memory cgroup here ({error}): the limit is enforced by rlimit instead")
        enter = limit_address_space(limit * 4)
    try:
        size = ["--scale", 18, "--edge-factor", 840, "--memory", limit]
        said = outcore("generate", "kronecker", image, *size, preexec_fn=enter).stderr
        assert float(re.search(r"peak memory ([\d.]+) MiB", said)[1]) <= limit / (1 << 20), said
        info = json.loads(outcore("info", image, "--json").stdout)["result"]
        assert info["image_bytes"] >= 8 * limit, info
        for algorithm in (["pagerank", "--max-iter", "2", "--tol", "0"], ["components"], ["strong-components"], ["bfs", "--source", "1"]):
            stats_file = tmp_path / "stats.json"
            outcore("run", *algorithm, image, "--memory", limit, "--stats", stats_file, "--verify", preexec_fn=enter)
            stats = json.loads(stats_file.read_text())["stats"]
            assert stats["memory_peak_bytes"] <= limit, (algorithm, stats["memory_peak_bytes"])
    finally:
        if cgroup.exists():
            cgroup.rmdir()


def test_an_export_says_that_it_cannot_hold_the_name_of_weights(tmp_path):
    (tmp_path / "given.csv").write_text("source,target,Cost\n1,2,5\n2,3,7\n")
    outcore("import", tmp_path / "given.csv", tmp_path / "given.oc", "--weight", "Cost")
    for name, renamed in (("out.wel", "weight"), ("out.mtx", "value"), ("out.csv", None), ("out.txt", None)):
        said = outcore("export", tmp_path / "given.oc", tmp_path / name).stderr
        assert ("calls the weights" in said) == (renamed is not None), (name, said)
        assert renamed is None or f"calls the weights `{renamed}`" in said, (name, said)
