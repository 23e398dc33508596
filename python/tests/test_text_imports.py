"""`outcore import` of text files in the shell: what it says, what it refuses, and how it is called."""

import json
import signal
import subprocess
import time

from test_cli import OUTCORE, outcore

def test_the_summary_says_how_a_file_was_read(tmp_path):
    (tmp_path / "pay.tsv").write_text("# payments\nid\tfrom\tto\tweight\n1\tann lee\tben\t2.5\n2\tben\tben\t1\n3\tann lee\tben\t4\n")
    said = outcore("import", tmp_path / "pay.tsv", tmp_path / "pay.oc").stderr
    for expected in (
        "edge-list",
        "4 between tab, the first line names them",
        "from",
        "weight, column 4, real numbers",
        "strings",
        "directed, since nothing says otherwise",
        "1 skipped, the first: # payments",
        '"ann lee" -> "ben", weight 2.5',
        "1: first (the first stays)",
        "1 read, kept; 1 stored",
        "Columns that are not read: id.",
    ):
        assert expected in said, said
    assert len(said.splitlines()) <= 24
    info = json.loads(outcore("info", tmp_path / "pay.oc", "--json").stdout)
    facts = {"separator": "tab", "header": True, "source": "from", "target": "to", "comments": 1, "self_loops": 1}
    assert {name: info[name] for name in facts} == facts
    quiet = outcore("import", tmp_path / "pay.tsv", tmp_path / "quiet.oc", "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", "")


def test_options_stand_anywhere_and_pipes_are_read_once(tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n2 3\n")
    outcore("import", tmp_path / "g.txt", "--undirected", tmp_path / "a.oc")
    assert json.loads(outcore("info", tmp_path / "a.oc", "--json").stdout)["directed"] is False
    outcore("import", "-", tmp_path / "b.oc", "--undirected", input="% sym\n1 2\n2 3\n")
    script = f"'{OUTCORE}' import <(cat '{tmp_path}/g.txt') '{tmp_path}/c.oc'"
    subprocess.run(["bash", "-c", script], check=True, capture_output=True)
    for name in ("b.oc", "c.oc"):
        assert json.loads(outcore("info", tmp_path / name, "--json").stdout)["edges"] == 2
    refused = outcore("import", "-", tmp_path / "d.oc", check=False, input="*Vertices 1\n1 a\n*Arcs\n1 1\n")
    assert refused.returncode == 1 and "standard input" in refused.stderr and "Pajek" in refused.stderr


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


def test_shortest_paths_use_the_only_weights_and_say_so(tmp_path):
    (tmp_path / "net.tntp").write_text(
        "<NUMBER OF NODES> 3\n<NUMBER OF LINKS> 3\n<END OF METADATA>\n~ init_node term_node fftt ;\n1 2 5 ;\n2 3 7 ;\n1 3 40 ;\n"
    )
    image = tmp_path / "net.oc"
    outcore("import", tmp_path / "net.tntp", image, "--weight", "fftt")
    said = outcore("run", "sssp", "--source", "1", image, "--stats", tmp_path / "stats.json").stdout
    assert "edges count by their weights, `fftt`" in said
    assert json.loads((tmp_path / "stats.json").read_text())["weights"] == "fftt"
    assert "its weight, `fftt`, was not used" in outcore("run", "pagerank", image).stdout
    outcore("run", "sssp", "--source", "1", image, "--output", tmp_path / "far.csv")
    assert "3,12,2" in (tmp_path / "far.csv").read_text()
