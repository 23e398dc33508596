"""Memory: one ledger per runtime, whatever the process holds; results, forks, threads."""

import gc
import json
import multiprocessing
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pytest

import outcore as oc

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
RUNTIME = """
import re, threading, outcore as oc
def status(field): return int(re.search(field + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10
"""

def test_two_graphs_share_a_runtime(scratch):
    """Two graphs at work in two threads under one limit of 512 MiB, one result kept: the process grows by no more, and
    the answers are those of each alone."""
    oc.generate("kronecker", scale=20, edge_factor=64, output="one.oc", directed=False, memory="1GiB")
    oc.generate("kronecker", scale=20, edge_factor=32, seed=2, output="other.oc", memory="1GiB")
    assert sum(file.stat().st_size for file in scratch.rglob("*") if file.is_file()) > 100 << 20
    program = RUNTIME + """
import hashlib, sys
import numpy as np
ballast = np.ones(24 << 20)
together = sys.argv[1] == "together"
def digest(table, column): return hashlib.sha256(table[column].tobytes()).hexdigest()
def work(name, runtime, answers):
    with oc.Graph(name, runtime=runtime) as g:
        for _ in range(2):
            try:
                ranks = oc.pagerank(g, tol=0, max_iter=4)
            except oc.ConvergenceError as error:
                ranks = error.result
            answers[name] = [digest(ranks, "pagerank"), digest(oc.components(g), "component"), digest(oc.bfs(g, 1),
            "level")]
before, answers = status("VmRSS"), {}
runtime = oc.Runtime(memory="512MiB")
kept = oc.core_number(oc.Graph("one.oc", runtime=runtime))
threads = [threading.Thread(target=work, args=(name, runtime, answers)) for name in ("one.oc", "other.oc")]
for thread in threads:
    thread.start()
    together or thread.join()
for thread in threads:
    thread.join()
print(answers["one.oc"], answers["other.oc"], kept.max_core)
print(status("VmHWM") - before, file=sys.stderr)
"""
    run = {how: subprocess.run([sys.executable, "-c", program, how], capture_output=True, text=True) for how in ("alone", "together")}
    for how, done in run.items():
        assert done.returncode == 0, done.stderr
        assert int(done.stderr) <= 512 << 20, (how, int(done.stderr) / 2**20)
    assert run["alone"].stdout == run["together"].stdout


def test_a_limit_is_for_outcore_alone(site, scratch):
    """What else the process holds does not count: hundreds of MiB leave 24 MiB enough."""
    ballast = np.ones(32 << 20)
    with oc.Graph("web.oc", memory="24MiB") as graph:
        assert oc.components(graph).count == 2
    with pytest.raises(oc.MemoryLimitError, match="least that a runtime can work with"):
        oc.Runtime(memory="4MiB")
    assert ballast[0] == 1


def test_the_runtime_of_the_process_is_shared(site):
    with oc.Graph("web.oc") as other, oc.Graph("web.oc", threads=1) as third:
        limits = {oc.components(graph).stats["memory_limit_bytes"] for graph in (site, other, third)}
        assert len(limits) == 1
    with pytest.raises(oc.UsageError, match="runtime= or memory="):
        oc.Graph("web.oc", runtime=oc.Runtime(), memory="1GiB")


def test_a_runtime_says_what_it_has(site, scratch):
    runtime = oc.Runtime(memory="64MiB", threads=1, temporary=scratch, backend="posix")
    assert (runtime.memory, runtime.threads) == (64 << 20, 1) and runtime.available <= 58 << 20
    assert "of 64 MiB available" in repr(runtime) and runtime.holders() == {}
    graph = oc.Graph("web.oc", runtime=runtime)
    found = oc.components(graph)
    assert found.stats["backend"] == "posix" and found.stats["threads"] == 1
    held = runtime.holders()
    assert held["the result column component of web.oc"] == 16 and any("index" in name for name in held)
    oc.import_graph([(1, 2)], "two.oc", runtime=runtime)
    for wrong in ({"memory": "much"}, {"threads": 0}, {"backend": "tape"}):
        with pytest.raises(oc.UsageError):
            oc.Runtime(**wrong)
    with pytest.raises(oc.UsageError, match="threads= as a whole number from 1 to 1024 or None, found -1"):
        oc.Runtime(threads=-1)
    for threads in (0, 1025, 1 << 31):
        for ask in (oc.Runtime, lambda threads: oc.Graph("web.oc", threads=threads)):
            with pytest.raises(oc.UsageError, match=f"expected threads from 1 to 1024, found {threads}"):
                ask(threads=threads)


def test_imports_of_one_runtime_wait_for_each_other(scratch):
    runtime, failed = oc.Runtime(memory="40MiB", threads=2), []
    edges = np.arange(200_000, dtype=np.int64)

    def work(name):
        try:
            oc.import_graph((edges, edges[::-1] * 7), name, runtime=runtime)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(f"{i}.oc",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and len(list(scratch.glob("*.oc"))) == 4

    # An import that another one waits for does not wait for that one.
    runtime = oc.Runtime(memory="96MiB", threads=2)

    def rows():
        oc.import_graph([(1, 2)], "within.oc", runtime=runtime)
        yield pa.record_batch({"source": [1], "target": [2]})

    schema = pa.schema({"source": pa.int64(), "target": pa.int64()})
    oc.import_graph(pa.RecordBatchReader.from_batches(schema, rows()), "around.oc", runtime=runtime)
    assert (scratch / "within.oc").is_dir() and (scratch / "around.oc").is_dir()


def test_missing_memory_is_laid_at_somebodys_door(scratch):
    oc.generate("path", scale=20, output="path.oc")
    runtime = oc.Runtime(memory="40MiB", threads=1)
    graph = oc.Graph("path.oc", runtime=runtime)
    kept = [oc.components(graph), oc.components(graph)]
    oc.components(graph)
    with pytest.raises(oc.MemoryLimitError, match="[0-9]+ MiB are held by the result column component of path.oc") as caught:
        while len(kept) < 20:
            kept.append(oc.components(graph))
    assert max(caught.value.holders, key=caught.value.holders.get) == "the result column component of path.oc"
    assert "by the page cache" not in str(caught.value)
    held = len(kept)
    del kept[1:]
    assert held > 2 and oc.components(graph).count == 1, "results that are gone hold nothing"


def test_a_kept_result_does_not_keep_the_cache(scratch):
    oc.generate("kronecker", scale=14, output="k.oc")
    runtime = oc.Runtime(memory="256MiB")
    everything = runtime.available

    def work():
        return oc.pagerank(oc.Graph("k.oc", runtime=runtime))

    ranks = work()
    gc.collect()
    small = 200_000
    assert runtime.available >= everything - (8 << 14) - small
    assert runtime.holders()["the result column pagerank of k.oc"] == 8 << 14
    best, _ = ranks.top(1)[0]
    assert ranks.row(best)["pagerank"] == ranks["pagerank"].max(), "it is as useful as before"
    del ranks
    gc.collect()
    assert runtime.available == everything and runtime.holders() == {}


def test_a_result_of_a_closed_graph_holds_its_columns_and_nothing_else(scratch):
    """Not the indexes either, nor where weights lie, which weighted runs find out."""
    oc.generate("kronecker", scale=14, weights=True, output="k.oc")
    runtime = oc.Runtime(memory="256MiB")
    everything = runtime.available
    graph = oc.Graph("k.oc", runtime=runtime)
    paths, ranks = oc.sssp(graph, 1), oc.pagerank(graph, weight="weight")
    assert any("weights" in name for name in runtime.holders())
    graph.close()
    columns = {"distance": 8 << 14, "parent": 4 << 14, "pagerank": 8 << 14}
    assert runtime.holders() == {f"the result column {name} of k.oc": held for name, held in columns.items()}
    assert everything - runtime.available == 20 << 14
    assert paths["distance"].count() == paths.reached > 1 and ranks["pagerank"].sum() == pytest.approx(1)
    for use in (lambda: oc.sssp(graph, 1), graph.info):
        with pytest.raises(oc.UsageError, match="was closed"):
            use()


def test_places_of_weights_make_way_for_what_needs_the_memory(scratch):
    oc.generate("path", scale=17, weights=True, output="path.oc")
    runtime = oc.Runtime(memory="48MiB", threads=2)
    graph = oc.Graph("path.oc", runtime=runtime)
    paths = oc.sssp(graph, 2**17 - 9)
    held = runtime.holders()
    assert held["weights of edges of path.oc"] > 1 << 20
    arrays = []
    with pytest.raises(oc.MemoryLimitError, match="column distance as a NumPy array needs 1.1 MiB") as caught:
        while True:
            arrays.append(paths["distance"])
    assert not any("weights of edges" in name or "first edges" in name for name in caught.value.holders)
    assert len(arrays) * 9 << 17 > runtime.memory // 2
    reached = paths.reached
    del arrays, paths, caught
    gc.collect()
    again = oc.sssp(graph, 2**17 - 9)
    assert again.reached == reached == 9 and runtime.holders()["weights of edges of path.oc"] > 1 << 20


def test_small_results_are_written_under_a_small_limit(scratch):
    oc.import_graph([("a", "b", 1), ("b", "c", 2)], "m.oc", memory="32MiB")
    runtime = oc.Runtime(memory="32MiB", threads=2)
    graph = oc.Graph("m.oc", runtime=runtime)
    paths = oc.sssp(graph, "a")
    for ending in ("parquet", "arrow", "csv"):
        paths.write(f"r.{ending}")
    found = oc.bfs(graph, "a")
    assert found.reached == 3 and found.to_dict()


def test_distances_are_made_when_they_are_asked_for(scratch):
    """No run is lost for want of memory for an array."""
    oc.generate("kronecker", scale=11, output="k.oc")
    runtime = oc.Runtime(memory="44MiB", threads=1)
    with oc.Graph("k.oc", runtime=runtime, cache=0) as graph:
        ids = oc.components(graph)["vertex"]
        for search in (lambda: oc.all_pairs(graph, k=2048), lambda: oc.multi_source_bfs(graph, ids, targets=ids)):
            found = search()
            with pytest.raises(oc.MemoryLimitError, match="distances as a NumPy array needs 36 MiB") as caught:
                found.distances
            assert caught.value.holders["the distances of a result of k.oc"] == 4 << 22
            best, reached_by, _ = found.top(1)[0]
            assert reached_by > 1 and found.row(best)["reached_by"] == reached_by
            del caught, found
        few = oc.all_pairs(graph, k=500)
        before = runtime.available
        distances = few.distances
        assert before - runtime.available == 9 * 500 * 500
        assert distances.shape == (500, 500) and few.distances is distances
        assert (distances.diagonal() == 0).all() and distances.max() <= max(few.eccentricities)
        del few, distances
        gc.collect()
        assert runtime.available >= before + 4 * 500 * 500


def test_views_of_a_masked_column_count_while_they_live(scratch):
    oc.generate("path", scale=12, output="path.oc")
    runtime = oc.Runtime(memory="64MiB", threads=1)
    with oc.Graph("path.oc", runtime=runtime) as graph:
        found = oc.bfs(graph, 0)
        search = oc.multi_source_bfs(graph, [0, 1], targets=[5, 6])
        for make, name, size in [
            (lambda: found["level"], "column level as a NumPy array", 9 << 12),
            (lambda: search.distances, "distances as a NumPy array", 9 * 4),  # noqa: F821
        ]:
            name = f"{name} of path.oc"
            for view_of in (lambda m: m.data, lambda m: m.data[1:], lambda m: m.mask, lambda m: m[:1], lambda m: m.T):
                array = make()
                view = view_of(array)
                del array
                gc.collect()
                assert runtime.holders().get(name) == size, (name, runtime.holders())
                del view
        del search, make
        gc.collect()
        assert not any("NumPy" in name for name in runtime.holders()), runtime.holders()


def test_kept_distances_are_in_the_ledger(scratch):
    """However many results are kept, their arrays and what is still available make no more than the limit."""
    oc.generate("kronecker", scale=10, output="k.oc")
    runtime = oc.Runtime(memory="64MiB", threads=1)
    with oc.Graph("k.oc", runtime=runtime) as graph:
        ids = oc.components(graph)["vertex"]
        kept = []
        with pytest.raises(oc.MemoryLimitError):
            while len(kept) < 20:
                found = oc.multi_source_bfs(graph, ids, targets=ids)
                kept.append((found, found.distances))
        arrays = sum(array.data.nbytes + array.mask.nbytes for _, array in kept)
        assert len(kept) > 1 and arrays + runtime.available <= runtime.memory


def test_a_long_path_is_in_the_ledger_and_loses_no_run(scratch):
    oc.generate("path", scale=18, output="path.oc")
    runtime = oc.Runtime(memory="32MiB", threads=1)
    with oc.Graph("path.oc", runtime=runtime) as graph:
        first, last = len(graph) - 200_000, len(graph) - 1
        found = oc.bfs(graph, first, target=last)
        assert runtime.holders()["the path of a result of path.oc"] == 4 * 200_000
        ballast = []
        while runtime.available > 72 * 200_000:
            ballast.append(oc.components(graph))
        with pytest.raises(oc.MemoryLimitError, match="the path of a result as a list needs 13.7 MiB"):
            found.path
        assert found.reached == 200_000
        del ballast
        near = oc.bfs(graph, first, target=first + 100_000)
        assert near.path is near.path and near.path == list(range(first, first + 100_001))
        assert runtime.holders()["the path of a result as a list of path.oc"] == 72 * 100_001
        del found, near
        gc.collect()
        assert not any("path of a result" in name for name in runtime.holders())


def test_operations_on_one_graph_run_at_the_same_time(scratch):
    oc.generate("kronecker", scale=13, output="k.oc")
    graph = oc.Graph("k.oc", threads=2, memory="256MiB")
    expected, seen = oc.components(graph).count, []
    work = lambda: seen.extend(oc.components(graph, verify=True).count for _ in range(10))
    workers = [threading.Thread(target=work) for _ in range(4)]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    assert seen == [expected] * 40


def test_a_function_may_ask_the_graph_at_work(site):
    pytest.importorskip("numba")
    reached = []

    def end(iteration):
        reached.append(oc.bfs(site, "home").reached)

    def run(v, state, vertex):
        state[v] = 1

    oc.vertex_program(site, np.zeros(4), run, end_iteration=end)
    assert oc.bfs(site, "home").reached == 3 and reached == [3]


def in_child(work):
    """What `work` returns in a fork, or the name and text of what it raises."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = str(work())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(write, text.encode())
        # As an interpreter ends: everything is dropped.
        sys.stdout.flush()
        gc.collect()
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    assert status == 0
    return text


@pytest.mark.parametrize("backend", ["auto", "posix"])
def test_a_fork_is_told_to_open_the_graph_again(scratch, backend):
    oc.generate("kronecker", scale=12, output="k.oc")
    runtime = oc.Runtime(memory="128MiB")
    graphs = [oc.Graph("k.oc", backend=backend), oc.Graph("k.oc", runtime=runtime, backend=backend)]
    expected = [oc.components(graph).count for graph in graphs]
    ranks = oc.pagerank(graphs[0])
    refused = f"UsageError: k.oc was opened by process {os.getpid()}"
    for graph in graphs:
        for work in (lambda: oc.components(graph), lambda: oc.pagerank(graph), graph.info, graph.check, lambda: len(graph)):
            text = in_child(work)
            assert text.startswith(refused) and "open it again in this process" in text, text
    assert "was opened by process" in in_child(lambda: ranks["pagerank"]), "results are read in the process that made them"
    refused = f"UsageError: the runtime was made by process {os.getpid()}, and this is process "
    for work in (lambda: oc.Graph("k.oc", runtime=runtime), lambda: oc.import_graph([(1, 2)], "two.oc", runtime=runtime)):
        text = in_child(work)
        assert text.startswith(refused) and text.endswith("make a Runtime in this process"), text
    assert in_child(lambda: repr(graphs[0])) == "<outcore.Graph 'k.oc': opened by another process>"
    assert in_child(lambda: oc.components(oc.Graph("k.oc", backend=backend)).count) == str(expected[0])
    assert in_child(lambda: graphs.clear()) == "None", "dropping is no trouble"
    assert [oc.components(graph).count for graph in graphs] == expected, "and the parent goes on"


def test_a_fork_in_the_middle_of_an_operation(scratch):
    oc.generate("kronecker", scale=15, output="k.oc")
    graph = oc.Graph("k.oc")
    stop = threading.Event()

    def work():
        while not stop.is_set():
            oc.components(graph, verify=True)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(10):
            assert "was opened by process" in in_child(lambda: oc.bfs(graph, 1))
            assert int(in_child(lambda: oc.components(oc.Graph("k.oc", threads=1)).count)) > 0
    finally:
        stop.set()
        worker.join()


DAEMON = """
import sys, threading, time
import numpy as np
import outcore as oc
def again():
    while True:
        try:
            {work}
        except Exception as error:
            print(error, file=sys.stderr)
{before}
for _ in range({threads}):
    threading.Thread(target=again, daemon=True).start()
time.sleep({wait})
print("main ends", flush=True)
sys.exit({code})
"""


# A graph of NetworkX takes a second to make: only what imports it does.
DAEMON_OPENS = "g = oc.Graph('k.oc'); len(g)"
DAEMON_MAKES = "import networkx as nx; graph = nx.gnm_random_graph(20_000, 200_000, seed=1)"


@pytest.mark.parametrize("work, threads", [
    ("oc.import_graph(graph, 'daemon.oc', replace=True)", 1), ("oc.betweenness_centrality(g)", 1), ("oc.betweenness_centrality(g)", 2),
    ("oc.components(g)", 2),
])  # fmt: skip
def test_the_interpreter_ends_while_a_daemon_thread_works(scratch, work, threads):
    oc.generate("kronecker", scale=14, output="k.oc")
    before = DAEMON_MAKES if "import_graph" in work else DAEMON_OPENS
    for turn in range(6):
        program = DAEMON.format(before=before, work=work, threads=threads, wait=0.1 + 0.13 * turn, code=turn % 2)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (turn % 2, "main ends\n", "")
        assert {path.name for path in scratch.iterdir()} <= {"k.oc", "daemon.oc"}, "nothing is left behind"


def test_hooks_of_the_end_may_still_work(scratch):
    program = """
import atexit
atexit.register(lambda: print(oc.components(oc.Graph("two.oc")).count))
import outcore as oc
oc.import_graph([(1, 2)], "two.oc")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def component_count(image):
    with oc.Graph(image, memory="64MiB", threads=1) as graph:
        return oc.components(graph).count


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_multiprocessing(scratch, method):
    oc.generate("kronecker", scale=12, output="k.oc")
    with oc.Graph("k.oc") as graph:
        expected = oc.components(graph).count
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(component_count, ["k.oc"] * 4) == [expected] * 4
        assert oc.components(graph).count == expected


HOWTO = pathlib.Path(__file__).resolve().parents[2] / "docs" / "howto" / "share-memory.md"


@pytest.mark.parametrize("program", re.findall(r"^```py\n(.*?)^```", HOWTO.read_text(), re.MULTILINE | re.DOTALL))
def test_the_programs_of_the_documentation(scratch, program):
    """Programs with several processes have to be files."""
    if "joblib" in program:
        pytest.importorskip("joblib")
    for seed, name in ((1, "web.oc"), (2, "roads.oc")):
        oc.generate("kronecker", scale=12, seed=seed, output=name)
    expected = [oc.components(oc.Graph(name)).count for name in ("web.oc", "roads.oc")]
    (scratch / "job.py").write_text(program)
    done = subprocess.run([sys.executable, "job.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines and all(line == str(expected) for line in lines), done.stdout


@pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_the_default_limit_leaves_room_under_that_of_the_system(scratch, kind):
    oc.import_graph((np.arange(1_000_000), np.arange(1_000_000) // 2), "large.oc")
    number = getattr(resource, kind)
    for most in (256, 1024):
        limit = lambda most=most: resource.setrlimit(number, (most << 20, most << 20))
        run = lambda *words, limit=limit: subprocess.run(
            [OUTCORE, *words], capture_output=True, text=True, preexec_fn=limit
        )
        for words in (
            ["run", "pagerank", "large.oc", "--stats", "stats.json"],
            ["import", "large.oc", "again.oc", "--replace", "--stats", "stats.json"],
            ["export", "large.oc", "large.csv"],
            ["check", "large.oc"],
        ):
            done = run(*words)
            assert done.returncode == 0, (most, words, done.stderr)
            if "--stats" in words:
                stats = json.loads(open("stats.json").read())["stats"]
                assert stats["memory_peak_bytes"] < stats["memory_limit_bytes"] < most << 20
