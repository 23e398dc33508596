"""Kinds of errors: exit codes of the command, exceptions, and the page that lists them."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

import outcore as oc
from outcore import _errors

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
pytestmark = pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "reference" / "errors.md"


def outcore(*words):
    return subprocess.run([OUTCORE, *map(str, words)], capture_output=True, text=True)


def rows():
    """Kind, code, exceptions and meaning of every row of the page."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return [(kind.strip("`"), int(code), exceptions, meaning) for kind, code, exceptions, meaning in lines]


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    folder = tmp_path_factory.mktemp("errors")
    (folder / "edges.txt").write_text("".join(f"{a} {a + 1}\n" for a in range(1000)))
    assert outcore("import", folder / "edges.txt", folder / "path.oc").returncode == 0
    return folder / "path.oc"


def test_the_page_and_the_help_list_the_same_codes():
    helped = re.findall(r"^ +(\d+)  (.+)$", outcore("--help").stdout.split("Exit codes:")[1], re.MULTILINE)
    assert [(code, meaning) for _, code, _, meaning in rows()] == [(int(code), meaning) for code, meaning in helped[1:]]
    assert helped[0] == ("0", "success")
    assert len({code for _, code, _, _ in rows()}) == len(rows()) == 14


def test_every_exception_has_a_kind_of_the_page():
    named = {name: kind for kind, _, exceptions, _ in rows() for name in re.findall(r"`(\w+)`", exceptions)}
    classes = {one for one in vars(_errors).values() if isinstance(one, type) and issubclass(one, oc.OutcoreError)}
    assert len(classes) == 12
    for one in classes:
        assert named[one.__name__] == one.kind and getattr(oc, one.__name__) is one


def test_exit_codes_follow_from_kinds(image, tmp_path):
    codes = {kind: code for kind, code, _, _ in rows()}
    (tmp_path / "bad.txt").write_text("1 2\n1 x 3\n2 3\n")
    (tmp_path / "there").mkdir()
    damaged = tmp_path / "damaged.oc"
    shutil.copytree(image, damaged)
    (damaged / "out.pages").write_bytes(bytes(byte ^ 1 for byte in (damaged / "out.pages").read_bytes()))
    cases = [
        ("usage", ["run", "pagerank", image, "--alpha", "1.5"]),
        ("usage", ["run", "pagerank", image, "--no-such-option"]),
        ("not_converged", ["run", "pagerank", image, "--max-iter", "1", "--tol", "1e-12"]),
        ("input", ["import", tmp_path / "bad.txt", tmp_path / "bad.oc"]),
        ("missing", ["run", "pagerank", tmp_path / "missing.oc"]),
        ("missing", ["import", tmp_path / "missing.txt", tmp_path / "missing.oc"]),
        ("exists", ["import", image.with_name("edges.txt"), image]),
        ("exists", ["import", image.with_name("edges.txt"), tmp_path / "there", "--replace"]),
        ("no_vertex", ["run", "bfs", image, "--source", "5000"]),
        ("memory", ["run", "pagerank", image, "--memory", "1MiB"]),
        ("damaged", ["check", damaged]),
    ]
    for kind, words in cases:
        done = outcore(*words)
        assert done.returncode == codes[kind], (kind, words, done)


@pytest.mark.parametrize("name", ["memory", "missing", "file", "exists", "no_vertex", "damaged", "input"])
def test_exceptions_carry_their_kind(name, image, tmp_path):
    (tmp_path / "bad.txt").write_text("1 2\n1 x 3\n2 3\n")
    damaged = tmp_path / "damaged.oc"
    shutil.copytree(image, damaged)
    (damaged / "in.pages").write_bytes(bytes(byte ^ 1 for byte in (damaged / "in.pages").read_bytes()))
    calls = {
        "memory": lambda: oc.pagerank(oc.Graph(image, memory="64KiB")),
        "missing": lambda: oc.Graph(tmp_path / "missing.oc"),
        "file": lambda: oc.import_graph(tmp_path / "missing.csv", tmp_path / "missing.oc"),
        "exists": lambda: oc.import_graph(image.with_name("edges.txt"), image),
        "no_vertex": lambda: oc.bfs(oc.Graph(image), 5000),
        "damaged": lambda: oc.pagerank(oc.Graph(damaged)),
        "input": lambda: oc.import_graph(tmp_path / "bad.txt", tmp_path / "bad.oc"),
    }
    with pytest.raises(oc.OutcoreError) as raised:
        calls[name]()
    assert raised.value.kind == {"file": "missing"}.get(name, name)
    assert raised.value.exit_code == {kind: code for kind, code, _, _ in rows()}[raised.value.kind]
    # The fields are those of the command's object.
    fields = {
        "memory": ("purpose", "needed_bytes", "advised_bytes"), "missing": ("path", "found", "advice"),
        "file": ("path", "operation", "os_error"), "exists": ("path", "is_image", "reason"), "no_vertex": ("id", "ids"),
        "damaged": ("offset_bytes", "expected", "found"), "input": ("line", "expected", "found", "advice"),
    }  # fmt: skip
    assert all(getattr(raised.value, field) is not None for field in fields[name])


def test_a_limit_that_an_exception_advises_is_enough(image):
    with pytest.raises(oc.MemoryLimitError) as refused:
        oc.pagerank(oc.Graph(image, memory="64KiB"))
    assert refused.value.advised_bytes > refused.value.limit_bytes
    assert len(oc.pagerank(oc.Graph(image, memory=refused.value.advised_bytes))) == 1001


def test_a_reader_that_goes_ends_the_command_as_sigpipe_does(image, tmp_path):
    for words in (["export", image, "-"], ["run", "pagerank", image, "--output", "-"], ["info", image, "--json"], ["--help"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([OUTCORE, *map(str, words)], stdout=writer, stderr=subprocess.PIPE, check=False)
        os.close(writer)
        assert (done.stderr.count(b"outcore:"), done.returncode) == (0, 141), words


@pytest.mark.parametrize("ignored", [False, True])
def test_a_terminal_that_closes_stops_the_command_unless_that_is_ignored(ignored, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    command = [OUTCORE, "import", "pipe", "made.oc", "--format", "edge-list"]
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    signal.signal(signal.SIGHUP, before)
    with child, open(tmp_path / "pipe", "w") as pipe:
        pipe.write("1 2\n" * 400_000)
        pipe.flush()
        while not any(name.name.endswith(".outcore-partial") for name in tmp_path.iterdir()):
            assert child.poll() is None
            time.sleep(0.01)
        child.send_signal(signal.SIGHUP)
        pipe.close()
        assert (b"stopped" in child.stderr.read(), child.wait()) == ((False, 0) if ignored else (True, 129))
    assert {entry.name for entry in tmp_path.iterdir()} == ({"pipe", "made.oc"} if ignored else {"pipe"})
