"""`outcore import` of text files in the shell: what it says, what it refuses, and how it is called."""

import json
import os
import shutil
import signal
import subprocess
import time
import warnings

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from test_cli import OUTCORE, outcore

import outcore as oc


def test_the_summary_says_how_a_file_was_read(tmp_path):
    (tmp_path / "pay.tsv").write_text("# payments\nid\tfrom\tto\tweight\n1\tann lee\tben\t2.5\n2\tben\tben\t1\n3\tann lee\tben\t4\n")
    said = outcore("import", tmp_path / "pay.tsv", tmp_path / "pay.oc").stderr
    for expected in (
        "edge-list",
        "4 between tab, the first line names them",
        "from",
        "weight, column 4, real numbers",
        "ids          string",
        "directed, since nothing says otherwise",
        "1 skipped, the first: # payments",
        '"ann lee" -> "ben", weight 2.5',
        "1: first (the first stays)",
        "1 read, kept; 1 stored",
        "Columns that are not read: id.",
    ):
        assert expected in said, said
    assert len(said.splitlines()) <= 24
    info = json.loads(outcore("info", tmp_path / "pay.oc", "--json").stdout)["result"]
    facts = {"separator": "tab", "header": True, "source": "from", "target": "to", "comments": 1, "self_loops": 1}
    assert {name: info[name] for name in facts} == facts
    quiet = outcore("import", tmp_path / "pay.tsv", tmp_path / "quiet.oc", "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", "")


def test_options_stand_anywhere_and_pipes_are_read_once(tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n2 3\n")
    outcore("import", tmp_path / "g.txt", "--undirected", tmp_path / "a.oc")
    assert json.loads(outcore("info", tmp_path / "a.oc", "--json").stdout)["result"]["directed"] is False
    outcore("import", "-", tmp_path / "b.oc", "--undirected", input="% sym\n1 2\n2 3\n")
    script = f"'{OUTCORE}' import <(cat '{tmp_path}/g.txt') '{tmp_path}/c.oc'"
    subprocess.run(["bash", "-c", script], check=True, capture_output=True)
    for name in ("b.oc", "c.oc"):
        assert json.loads(outcore("info", tmp_path / name, "--json").stdout)["result"]["edges"] == 2
    refused = outcore("import", "-", tmp_path / "d.oc", check=False, input="nodedef>name VARCHAR\na\n")
    assert refused.returncode == 5 and "standard input" in refused.stderr and "GDF" in refused.stderr


def test_a_pipe_without_edges_makes_an_image_only_if_told_to(tmp_path):
    for given in ("", "source,target\n", "# nothing\n"):
        refused = outcore("import", "-", tmp_path / "e.oc", "-q", check=False, input=given)
        assert refused.returncode == 5 and "--allow-empty" in refused.stderr and not (tmp_path / "e.oc").exists()
        outcore("import", "-", tmp_path / "e.oc", "--allow-empty", "--replace", input=given)
        assert outcore("check", tmp_path / "e.oc", "--quiet").stdout == ""
        outcore("import", "-", tmp_path / "e.oc", "--allow-empty", "--replace", input="1 2\n")
        shutil.rmtree(tmp_path / "e.oc")
    (tmp_path / "none.csv").write_text("source,target\n")
    outcore("import", tmp_path / "none.csv", tmp_path / "none.oc")
    several = outcore("import", tmp_path / "none.csv", "-", tmp_path / "s.oc", check=False, input="1,2\n").stderr
    assert "found `-`, which is read once" in several, several


def test_a_line_that_tells_spreadsheets_the_separator_is_named(tmp_path):
    for line, text in (("sep=,", "a,b\n"), ("SEP=;", "a;b\n"), ('"sep=,"', "a,b\n"), ("sep=\t", "a\tb\n")):
        (tmp_path / "excel.csv").write_text(f"{line}\n{text}")
        refused = outcore("import", tmp_path / "excel.csv", tmp_path / "x.oc", check=False).stderr
        assert "excel.csv:1: " in refused and "take the line out" in refused, refused


@pytest.mark.parametrize("stop, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("given", ["pipe", "-"])
def test_one_signal_ends_the_wait_for_a_pipe(tmp_path, given, stop, code):
    """Whether nobody has opened it for writing, or nobody writes."""
    os.mkfifo(tmp_path / "pipe")
    path = given if given == "-" else tmp_path / "pipe"
    with subprocess.Popen([OUTCORE, "import", path, tmp_path / "g.oc"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(stop)
        assert process.wait(timeout=20) == code
        assert b"stopped" in process.stderr.read()
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_a_named_pipe_is_read_to_its_end(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    edges = "".join(f"{vertex} {vertex + 1}\\n" for vertex in range(9))
    for order in ("(sleep 0.3; printf '{edges}' > pipe) & '{outcore}' import pipe g.oc",
                  "(printf '{edges}'; sleep 0.3; printf '9 0\\n') > pipe & '{outcore}' import pipe g.oc",
                  "printf '{edges}' > pipe & sleep 0.3; '{outcore}' import - g.oc < pipe",
                  "printf '{edges}' | (sleep 0.3; '{outcore}' import - g.oc)"):
        script = order.format(edges=edges, outcore=OUTCORE) + " --replace"
        subprocess.run(["bash", "-c", script.replace(") --replace", " --replace)")], check=True, cwd=tmp_path, timeout=60)
        info = json.loads(outcore("info", tmp_path / "g.oc", "--json").stdout)["result"]
        assert info["edges"] == 9 + order.count("9 0"), order


@pytest.mark.parametrize("name", ["numbers.parquet", "strings.parquet", "strings.arrow", "packed.arrow", "strings.csv", "numbers.txt", "numbers.txt.zst"])
@pytest.mark.parametrize("memory", ["1MiB", "16MiB", "20MiB", "26MiB"])
def test_the_limit_that_a_refusal_asks_for_is_enough(tmp_path, name, memory):
    """At the first go, whatever is refused first."""
    rows, path = 600_000, tmp_path / name
    numbers = [np.arange(rows) * step % 100_003 for step in (7, 13)]
    ids = {"source": numbers[0], "target": numbers[1]}
    if name.startswith(("strings", "packed")):
        ids = {end: pl.Series([f"vertex number {id}" for id in column]) for end, column in ids.items()}
    frame = pl.DataFrame(ids)
    match path.suffix:
        case ".parquet":
            frame.write_parquet(path, compression="uncompressed", row_group_size=rows)
        case ".arrow":
            frame.write_ipc(path, compression="zstd" if name.startswith("packed") else "uncompressed", record_batch_size=rows)
        case ".zst":
            text = frame.write_csv(separator=" ", include_header=False)
            with pa.CompressedOutputStream(path, "zstd") as stream:
                stream.write(text.encode())
        case ".txt":
            frame.write_csv(path, separator=" ", include_header=False)
        case ".csv":
            frame.write_csv(path)
    run = lambda limit: outcore("import", path, tmp_path / "g.oc", "--replace", "--memory", limit, check=False)
    refused = run(memory)
    if refused.returncode == 0:
        assert memory in ("20MiB", "26MiB"), refused.stderr
        return
    advised = refused.stderr.strip().rsplit("raise the limit to at least ", 1)[1]
    again = run(advised)
    assert again.returncode == 0, f"{refused.stderr}{again.stderr}"
    if memory == "1MiB":
        with pytest.raises(oc.MemoryLimitError) as error:
            oc.import_graph(path, tmp_path / "p.oc", memory=memory)
        advised = str(error.value).rsplit("raise the limit to at least ", 1)[1]
        assert oc.import_graph(path, tmp_path / "p.oc", memory=advised)["edges_read"] == rows
        needs = oc.estimate_import(path, memory=advised)
        assert oc.import_graph(path, tmp_path / "p.oc", memory=needs.memory_bytes, replace=True)["edges_read"] == rows


def test_a_stop_by_sigterm_ends_with_143(tmp_path):
    import_ = [OUTCORE, "import", "-", tmp_path / "g.oc"]
    with subprocess.Popen(import_, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # The first megabytes are read, so that signals are listened to.
        process.stdin.write(b"1 2\n" * 2_000_000)
        process.stdin.flush()
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        process.stdin.close()
        assert process.wait() == 143
    assert not list(tmp_path.iterdir())


def test_weights_that_ranks_do_not_go_by_are_warned_of(tmp_path):
    """The usual name of weights is `weight`; those of Matrix Market have another."""
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 5.5\n2 3 7\n1 3 40\n")
    oc.import_graph(tmp_path / "a.mtx", tmp_path / "a.oc")
    graph = oc.Graph(tmp_path / "a.oc")
    for ranks in (oc.pagerank, lambda graph, **weight: oc.personalized_pagerank(graph, {1}, **weight)):
        with pytest.warns(UserWarning, match="its weight, `value`, is not used") as warned:
            ranks(graph)
        assert len(warned) == 1 and warned[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ranks(graph, weight=None)
            assert ranks(graph, weight="value").stats["weights"] == "value"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        oc.sssp(graph, 1)


def test_shortest_paths_use_the_only_weights_and_say_so(tmp_path):
    (tmp_path / "net.tntp").write_text(
        "<NUMBER OF NODES> 3\n<NUMBER OF LINKS> 3\n<END OF METADATA>\n~ init_node term_node fftt ;\n1 2 5 ;\n2 3 7 ;\n1 3 40 ;\n"
    )
    image = tmp_path / "net.oc"
    outcore("import", tmp_path / "net.tntp", image, "--weight", "fftt")
    said = outcore("run", "sssp", "--source", "1", image, "--stats", tmp_path / "stats.json").stdout
    assert "edges count by their weights, `fftt`" in said
    assert json.loads((tmp_path / "stats.json").read_text())["stats"]["weights"] == "fftt"
    note = "note: Every edge counts 1: its weight, `fftt`, is not used"
    assert note in outcore("run", "pagerank", image).stderr
    assert note not in outcore("run", "pagerank", image, "--unweighted").stderr
    outcore("run", "sssp", "--source", "1", image, "--output", tmp_path / "far.csv")
    assert "3,12,2" in (tmp_path / "far.csv").read_text()


def test_what_an_import_drops_is_a_warning(tmp_path):
    pages = "Asia\tEarth\n%C3%81ed\tBede\nBede\tAsia\n"
    (tmp_path / "links.tsv").write_text(pages)
    with pytest.warns(UserWarning, match=r"1 has as many columns as the data, the first in line 2: `%C3%81ed"):
        assert oc.load_graph(tmp_path / "links.tsv").number_of_edges() == 2
    (tmp_path / "links.tsv").write_text(pages + "".join(f"#{page}\tBede\n" for page in range(20)))
    with pytest.raises(oc.InputError, match="comment='%' where other lines are comments|comment='#' where"):
        oc.load_graph(tmp_path / "links.tsv")
    assert oc.load_graph(tmp_path / "links.tsv", comment="none").number_of_edges() == 23
    (tmp_path / "ratings.csv").write_text("user,item,weight\na,x,5\na,x,3\nb,x,1\n")
    with pytest.warns(UserWarning, match="1 were left out, 1 of them with another weight"):
        oc.load_graph(tmp_path / "ratings.csv", weight="weight")
    with pytest.warns(UserWarning, match="only the last stays"):
        newest = oc.load_graph(tmp_path / "ratings.csv", duplicates="last")
    assert sorted(newest.edges(data="weight")) == [("a", "x", 3), ("b", "x", 1)]
    report = oc.import_graph(tmp_path / "ratings.csv", tmp_path / "g.oc", weight="weight", duplicates="keep")
    assert (report["duplicates"], report["edges"], len(report["files"])) == (1, 3, 1)
