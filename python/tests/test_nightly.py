"""A nightly job, as docs/howto/nightly.md has it: thirty days, a kill in the middle, the results to another program."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pyarrow.parquet as pq
import pytest

import outcore as oc

OUTCORE = os.environ.get("OUTCORE", "outcore")


def test_thirty_days_and_a_kill_in_the_middle(tmp_path: pathlib.Path) -> None:
    folder, image = tmp_path / "payments", tmp_path / "graph.oc"
    folder.mkdir()
    for day in range(1, 31):
        rows = [f"acc{row % 50},acc{(row * day + 1) % 50},{row % 90 + 1}" for row in range(100)]
        (folder / f"2026-09-{day:02}.csv").write_text("\n".join(["payer,payee,amount", *rows, ""]))
    (folder / "2026-09-12.csv").write_text("payer,payee,amount\n")
    rows = (folder / "2026-09-30.csv").read_text().splitlines()
    with_kind = [rows[0] + ",kind", *(row + ",wire" for row in rows[1:]), ""]
    (folder / "2026-09-30.csv").write_text("\n".join(with_kind))
    options = ["--weight", "amount", "--duplicates", "sum", "--replace", "--memory", "64MiB", "--quiet"]

    def job(*inputs: pathlib.Path) -> "subprocess.CompletedProcess[str]":
        command = [OUTCORE, "import", *inputs, image, *options, "--stats", tmp_path / "stats.json"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    # Yesterday's image.
    (tmp_path / "old.csv").write_text("payer,payee,amount\nann,bob,1\n")
    assert job(tmp_path / "old.csv").returncode == 0

    # The job is killed while it reads: the last input is a pipe in which nothing comes.
    os.mkfifo(tmp_path / "pipe")
    child = subprocess.Popen([OUTCORE, "import", tmp_path / "pipe", image, *options], cwd=tmp_path)
    with open(tmp_path / "pipe", "w") as pipe:
        pipe.write("payer,payee,amount\n" + "a,b,1\n" * 400_000)
        pipe.flush()
        while not any(name.name.endswith(".outcore-partial") for name in tmp_path.iterdir()):
            assert child.poll() is None
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    assert list(oc.Graph(image).edges) == [("ann", "bob")]

    # The next one works, and leaves nothing behind.
    done = job(folder)
    assert done.returncode == 0, done.stderr
    (tmp_path / "pipe").unlink()
    assert {entry.name for entry in tmp_path.iterdir()} == {"payments", "graph.oc", "old.csv", "stats.json"}
    stats = json.loads((tmp_path / "stats.json").read_text())["result"]
    assert [stats[name] for name in ("files_read", "files_without_edges", "edges_read")] == [30, 1, 2900]
    assert stats["first_files_without_edges"] == [str(folder / "2026-09-12.csv")]
    assert stats["columns_not_read"] == ["kind"]

    # A day that comes twice is refused, and so is a night with too few edges: the image stays.
    refused = job(folder, folder / "2026-09-03.csv")
    assert refused.returncode == 5 and "every file once" in refused.stderr
    options.append("--require-edges=2901")
    refused = job(folder)
    assert refused.returncode == 5 and "2901" in refused.stderr and "2900" in refused.stderr, refused.stderr
    options[-1] = "--require-edges=2900"
    assert job(folder).returncode == 0
    options.append("--refuse-empty-files")
    refused = job(folder)
    assert refused.returncode == 5 and "2026-09-12.csv" in refused.stderr

    command = [OUTCORE, "run", "pagerank", image, "--output", tmp_path / "ranks.parquet", "--memory", "64MiB", "--quiet"]
    subprocess.run(command, check=True)
    ranks = pq.read_table(tmp_path / "ranks.parquet")
    assert ranks.num_rows == len(oc.Graph(image)) == 50
    assert sum(ranks["pagerank"].to_pylist()) == pytest.approx(1)
