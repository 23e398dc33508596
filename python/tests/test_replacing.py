"""Replacing works or is refused before the work begins, `--explain` says what would be refused, and limits of the
system are named."""

import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import networkx as nx
import numpy as np
import pytest

import outcore as oc

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
NOBODY = 65534


def outcore(*arguments, **options):
    command = [OUTCORE, *(given if isinstance(given, bytes) else str(given) for given in arguments)]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **options)


@pytest.fixture
def image(scratch):
    pathlib.Path("edges.csv").write_text("source,target\n" + "".join(f"{i},{i * i % 97}\n" for i in range(1000)))
    assert outcore("import", "edges.csv", "graph.oc").returncode == 0
    return scratch / "graph.oc"


def contents(image):
    return {path: path.read_bytes() for path in image.rglob("*") if path.is_file()}


def test_every_place_is_tried_before_an_image_is_replaced(image):
    before, names = contents(image), sorted(os.listdir())
    for options in [
        ["--stats", "none/s.json"],
        ["--report", "none/r.html"],
        ["--temporary", "none"],
        ["--stats", "graph.oc/s.json"],
    ]:
        done = outcore("import", "edges.csv", "graph.oc", "--replace", *options)
        assert done.returncode in (2, 6), (options, done.stderr)
        assert "none" in done.stderr or "within an image" in done.stderr, done.stderr
        assert contents(image) == before and sorted(os.listdir()) == names
    assert "cannot make temporary files in none" in outcore("import", "edges.csv", "x.oc", "--temporary", "none").stderr
    assert outcore("run", "pagerank", "graph.oc", "--output", "none/r.csv").returncode == 6
    for options in [["--stats", "none/s.json"], ["--report", "none/r.html"]]:
        done = outcore("run", "pagerank", "graph.oc", "--output", "ranks.csv", *options)
        assert done.returncode == 6 and not os.path.exists("ranks.csv"), done.stderr


def test_replaced_results_keep_their_modes(image):
    results = ["ranks.csv", "stats.json", "page.html"]
    run = lambda: outcore("run", "pagerank", "graph.oc", "--output", results[0], "--stats", results[1], "--report", results[2])
    assert run().returncode == 0
    for name, mode in zip(results, (0o600, 0o640, 0o660)):
        os.chmod(name, mode)
    assert run().returncode == 0
    assert [os.stat(name).st_mode & 0o777 for name in results] == [0o600, 0o640, 0o660]
    os.chmod(image, 0o700)
    oc.import_graph("edges.csv", image, replace=True)
    assert os.stat(image).st_mode & 0o777 == 0o700


def explained(*command):
    """The exit code of a command, which is that of its `--explain`, and what this prints."""
    plan, done = outcore(*command, "--explain"), outcore(*command)
    assert plan.returncode == done.returncode, (command, plan.stderr, done.stderr)
    return plan.returncode, plan.stdout


def test_explain_has_the_exit_code_of_the_job(image):
    code, plan = explained("import", "edges.csv", "graph.oc")
    assert code == 7 and "temporary space" in plan
    code, plan = explained("import", "edges.csv", "none/graph.oc")
    assert code == 6 and "temporary space" in plan
    code, plan = explained("run", "pagerank", "graph.oc", "--output", "none/ranks.csv")
    assert code == 6 and "passes" in plan
    oc.import_graph((np.arange(1_000_000), np.arange(1_000_000) // 2), "large.oc")
    code, plan = explained("run", "pagerank", "large.oc", "--memory", "28MiB")
    assert code == 9 and "passes" in plan, plan
    code, plan = explained("run", "eigsh", "large.oc", "--k", "1", "--memory", "28MiB", "--output", "none/v.csv")
    assert code in (6, 9) and "multiply" in plan, plan
    np.save("array.npy", np.ones((10, 2)))
    code, plan = explained("run", "describe", "array.npy", "--output", "none/d.csv")
    assert code == 6 and "passes" in plan
    assert outcore("import", "edges.csv", "graph.oc", "--replace", "--explain").returncode == 0
    assert sorted(os.listdir()) == ["array.npy", "edges.csv", "graph.oc", "large.oc"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
def test_what_another_user_may_not_remove_is_refused_at_once():
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        (folder / "edges.csv").write_text("1,2\n2,3\n")
        os.chmod(folder, 0o777)
        as_nobody = lambda *arguments: outcore(*arguments, cwd=folder, user=NOBODY, group=NOBODY, extra_groups=[])
        if as_nobody("--version").returncode != 0:
            pytest.skip("another user cannot run the command")
        assert outcore("import", "edges.csv", "graph.oc", cwd=folder).returncode == 0
        before = contents(folder / "graph.oc")
        # Files of another user; his own, write-protected; and a folder where nobody may take another one's names.
        done = as_nobody("import", "edges.csv", "graph.oc", "--replace")
        assert done.returncode == 11 and "would be left behind" in done.stderr, done.stderr
        for path in [folder / "graph.oc", *(folder / "graph.oc").rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
        os.chmod(folder / "graph.oc/columns", 0o555)
        done = as_nobody("import", "edges.csv", "graph.oc", "--replace")
        assert done.returncode == 11 and "columns" in done.stderr, done.stderr
        os.chmod(folder / "graph.oc/columns", 0o755)
        os.chown(folder / "graph.oc", 0, 0)
        os.chmod(folder, 0o1777)
        done = as_nobody("import", "edges.csv", "graph.oc", "--replace")
        assert done.returncode == 11, done.stderr
        assert contents(folder / "graph.oc") == before and sorted(os.listdir(folder)) == ["edges.csv", "graph.oc"]
        # What is permitted works, and root leaves the image to its owner.
        os.chmod(folder, 0o777)
        os.chown(folder / "graph.oc", NOBODY, NOBODY)
        assert outcore("import", "edges.csv", "graph.oc", "--replace", cwd=folder).returncode == 0
        owners = {path.stat().st_uid for path in [folder / "graph.oc", *(folder / "graph.oc").rglob("*")]}
        assert owners == {NOBODY} and sorted(os.listdir(folder)) == ["edges.csv", "graph.oc"]
        assert as_nobody("import", "edges.csv", "graph.oc", "--replace").returncode == 0
    finally:
        shutil.rmtree(folder)


def limited(limit, most):
    return lambda: resource.setrlimit(limit, (most, most))


def test_limits_of_the_system_are_named(image):
    oc.import_graph((np.arange(1_000_000), np.arange(1_000_000) // 2), "large.oc")
    most = limited(resource.RLIMIT_FSIZE, 100_000)
    done = outcore("run", "degree-centrality", "large.oc", "--output", "degrees.csv", preexec_fn=most)
    assert done.returncode == 10 and "File too large" in done.stderr, done.stderr
    assert not os.path.exists("degrees.csv")
    for most in range(150, 400, 25):
        most = limited(resource.RLIMIT_AS, most << 20)
        done = outcore("run", "pagerank", "large.oc", "--memory", "200MiB", "--threads", "1", preexec_fn=most)
        assert "only 0 bytes" not in done.stderr
        if "ulimit -v" in done.stderr and "refused" in done.stderr:
            assert done.returncode == 9


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there are no alarms")
def test_the_exception_of_a_signal_handler_comes_out(scratch):
    class SoftLimit(Exception):
        pass

    def stop(*_):
        raise SoftLimit

    class Endless(nx.DiGraph):
        def edges(self):
            while True:
                time.sleep(0.02)
                yield 1, 2

    graph = Endless()
    graph.add_nodes_from([1, 2])

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(SoftLimit):
            oc.import_graph(graph, "rows.oc", weight="none")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not os.listdir()
