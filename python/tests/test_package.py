"""The package: graphs, results, exceptions, limits, Ctrl-C."""

import gc
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import weakref

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import outcore as oc


def test_a_graph_says_what_it_is(site):
    assert (len(site), site.number_of_edges(), site.is_directed()) == (4, 5, True)
    info = site.info()
    wanted = {"vertices", "edges", "directed", "weights", "order", "bytes_per_edge", "format_version"}
    assert wanted <= info.keys()
    assert (info["order"], info["ids"], info["isolated_vertices"]) == (site.order, "string", 1)
    assert site.check()["edges"] == 5
    assert repr(site) == "<outcore.Graph 'web.oc': 4 vertices, 5 directed edges>"


def test_closing(site):
    ranks = oc.pagerank(site)
    with site as same:
        assert same is site
    site.close()
    assert repr(site) == "<outcore.Graph 'web.oc': closed>"
    for use in (lambda: len(site), lambda: oc.bfs(site, "home"), site.info, site.check):
        with pytest.raises(oc.UsageError, match="was closed"):
            use()
    assert abs(sum(ranks.to_dict().values()) - 1) < 1e-12, "results outlive their graph"


def test_graphs_and_results_cannot_be_pickled(site):
    for thing in (site, oc.components(site)):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(thing)


def test_export_and_import_again(site, scratch):
    paths = site.export("site.tsv")
    assert str(paths[-1]).endswith("site.tsv") and all(os.path.exists(path) for path in paths)
    report = oc.import_graph("site.tsv", "again.oc", vertices=["lone"])
    assert (report["vertices"], report["edges"]) == (4, 5)
    with pytest.raises(oc.UsageError, match="site.xyz"):
        site.export("site.xyz")


def test_columns_as_arrays(site):
    levels = oc.bfs(site, "home")
    assert levels.columns == ["vertex", "level", "parent"]
    assert "level" in levels and "pagerank" not in levels and len(levels) == 4
    found = dict(zip(levels["vertex"], zip(levels["level"], levels["parent"])))
    assert found == {"home": (0, "home"), "about": (1, "home"), "news": (1, "home"), "lone": (np.ma.masked, None)}
    assert levels["level"].sum() == 2 and levels["level"].count() == 3, "what is missing is in no sum"
    assert levels["level"].dtype == np.int64 and oc.pagerank(site)["pagerank"].dtype == np.float64
    with pytest.raises(KeyError, match="vertex, level, parent"):
        levels["rank"]
    assert list(levels) == levels.keys() == levels.columns and dict(levels)["level"].count() == 3


def test_no_number_stands_for_what_is_missing(make, tmp_path):
    """Vertices that no path leads to, with whole and with real weights: in arrays, frames and files."""
    for weight, length in [(2, "Int64"), (2.5, "float64")]:
        found = oc.sssp(make([(1, 2, weight), (3, 1, weight)]), 1)
        distances = found["distance"]
        assert np.nansum(distances) == weight and np.isnan(np.ma.filled(distances.astype(float), np.nan)).sum() == 1
        frame = found.to_pandas().set_index("vertex")
        assert frame["distance"].dtype == length and frame["distance"].sum() == weight
        assert pd.isna(frame.loc[3, "distance"]) and pd.isna(frame.loc[3, "parent"])
        assert found.to_dict("distance") == {1: 0, 2: weight, 3: None}
        found.write(tmp_path / "found.npy")
        rows = np.load(tmp_path / "found.npy")
        assert np.nansum(rows["distance"]) == weight
        assert np.isnan(rows["distance"]).tolist() == np.isnan(rows["parent"]).tolist() == (rows["vertex"] == 3).tolist()
    searches = oc.multi_source_bfs(make([(1, 2), (3, 1)]), [1, 3], targets=[3])
    assert searches.distances.mask.tolist() == [[True], [False]] and searches.distances[1, 0] == 0
    huge = make((np.array([2**63], np.uint64), np.array([2**64 - 1], np.uint64)))
    assert oc.bfs(huge, 2**63)["parent"].tolist() == [2**63, 2**63]
    assert oc.bfs(huge, 2**64 - 1)["parent"].tolist() == [None, 2**64 - 1]


def test_counts_have_a_sign(make):
    graph = make([(0, 1), (2, 2)])
    searches = oc.multi_source_bfs(graph, [0])
    for table, column in [(searches, "reached_by"), (searches, "distance_sum"), (oc.core_number(graph), "core"), (oc.triangles(graph), "triangles")]:
        assert (table[column] - 2).max() < 0 and table.to_polars()[column].dtype == pl.Int64
        assert (table.to_pandas()[column] - 2).max() < 0


def test_conversions(site):
    levels = oc.bfs(site, "home")
    expected = [
        {"vertex": "about", "level": 1, "parent": "home"},
        {"vertex": "home", "level": 0, "parent": "home"},
        {"vertex": "lone", "level": None, "parent": None},
        {"vertex": "news", "level": 1, "parent": "home"},
    ]
    assert sorted(levels.to_polars().to_dicts(), key=lambda row: row["vertex"]) == expected
    assert sorted(levels.to_arrow().to_pylist(), key=lambda row: row["vertex"]) == expected
    assert pa.table(levels).equals(levels.to_arrow())
    assert pl.DataFrame(levels).equals(levels.to_polars())
    frame = levels.to_pandas().set_index("vertex")
    assert isinstance(frame, pd.DataFrame) and frame["level"].dtype == "Int64"
    assert frame.loc["news", "level"] == 1 and pd.isna(frame.loc["lone", "level"])
    assert levels.to_dict("parent") == {row["vertex"]: row["parent"] for row in expected}
    assert [row[0] for row in levels.top(2)] == ["about", "news"]
    assert levels.row("lone") == {"vertex": "lone", "level": None, "parent": None}
    with pytest.raises(KeyError):
        levels.to_dict("rank")
    with pytest.raises(oc.UsageError, match="`level`"):
        levels.top(2, "parent")


def test_integers_of_either_sign_as_ids(make):
    huge = make((np.array([2**63, 5], np.uint64), np.array([7, 2**64 - 1], np.uint64)))
    assert huge.info()["ids"] == "uint64"
    levels = oc.bfs(huge, 2**63)
    assert levels["vertex"].dtype == np.uint64 and levels.row(7)["parent"] == 2**63
    assert levels["parent"].dtype == np.uint64 and levels["parent"].count() == 2
    negative = make((np.array([-1, -5]), np.array([-5, 9])), directed=False)
    assert oc.bfs(negative, np.int64(-1)).to_dict() == {-5: 1, -1: 0, 9: 2}
    for wrong in (1.0, True, None, b"1"):
        with pytest.raises(TypeError, match="integer or a string"):
            oc.bfs(negative, wrong)
    with pytest.raises(oc.NoVertexError, match="no vertex `3`"):
        oc.bfs(negative, 3)


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz", "arrow"])
def test_written_files(site, scratch, ending):
    ranks = oc.pagerank(site)
    ranks.write(f"ranks.{ending}")
    read = {"parquet": pl.read_parquet, "arrow": pl.read_ipc}.get(ending, pl.read_csv)
    assert read(f"ranks.{ending}").equals(ranks.to_polars())


def test_files_that_cannot_be_written(site, scratch):
    ranks = oc.pagerank(site)
    with pytest.raises(oc.UsageError, match="parquet"):
        ranks.write("ranks.txt")
    with pytest.raises(FileNotFoundError) as caught:
        ranks.write("nowhere/ranks.csv")
    assert caught.value.errno == 2 and "nowhere" in caught.value.filename
    assert isinstance(caught.value, oc.FileError) and caught.value.kind == "missing"
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and (str(again), again.kind) == (str(caught.value), "missing")


def test_statistics(site):
    stats = oc.pagerank(site).stats
    wanted = "seconds seconds_io_wait passes bytes_read pages_wanted pages_read requests cache_hits memory_limit_bytes"
    wanted += " memory_peak_bytes threads backend steps"
    assert set(wanted.split()) <= stats.keys()
    assert len(stats["steps"]) == oc.pagerank(site).iterations


def test_steps_beyond_the_most_are_one(scratch):
    oc.generate("path", scale=13, output="path.oc")
    with oc.Graph("path.oc") as graph:
        steps = oc.multi_source_bfs(graph, [0]).stats["steps"]
        assert len(steps) == 4096 and steps[-1]["active"] > steps[0]["active"] == 1
        assert sum(step["active"] for step in steps) >= len(graph)


def test_weight_is_the_default_even_if_it_is_given(make):
    graph = make(pd.DataFrame({"source": [1, 2], "target": [2, 3], "dist": [5, 7]}), weight="dist")
    paths = oc.sssp(graph, 1, weight="weight")
    assert paths.stats["weights"] == "dist" and paths.row(3)["distance"] == 12
    assert oc.pagerank(graph, weight="weight").to_dict() == oc.pagerank(graph, weight=None).to_dict()
    for ask in (lambda name: oc.sssp(graph, 1, weight=name), lambda name: oc.pagerank(graph, weight=name)):
        with pytest.raises(oc.UsageError, match="dist"):
            ask("length")


def test_pagerank_that_does_not_converge(site):
    with pytest.raises(oc.ConvergenceError, match="max_iter") as caught:
        oc.pagerank(site, max_iter=2, tol=1e-12)
    result = caught.value.result
    assert result.iterations == 2 and not result.converged and result.residual > 0 and len(result) == 4
    # No iteration at all is what NetworkX refuses as well.
    with pytest.raises(oc.ConvergenceError, match=r"within 0 iterations \(the ranks are those that it starts with\); raise max_iter"):
        oc.pagerank(site, max_iter=0)
    assert not oc.pagerank(site, tol=0, max_iter=3).converged
    assert result.stopped_by == result.stats["stopped_by"] == "iterations"


def test_pagerank_says_by_which_rule_it_stopped(site):
    strict, loose = oc.pagerank(site), oc.pagerank(site, stop="networkx", tol=1e-6)
    assert strict.stopped_by == strict.stats["stopped_by"] == "residual" and strict.residual < 1e-8
    assert loose.stopped_by == "networkx" and loose.residual < 1e-6 * len(loose) and loose.iterations < strict.iterations
    near = oc.personalized_pagerank(site, {"home"})
    assert near.stopped_by == "residual" and near.residual < 1e-8
    assert oc.estimate(oc.pagerank, site).passes == 200 and oc.estimate(oc.label_propagation, site).passes < 30


@pytest.mark.parametrize("options", [{"alpha": 1.5}, {"alpha": float("nan")}, {"tol": -1}, {"dangling": "teleport"}, {"stop": "soon"}, {"max_iter": -1}])
def test_options_out_of_range(site, options):
    with pytest.raises(oc.UsageError):
        oc.pagerank(site, **options)


def test_names_are_those_that_users_import():
    for name in oc.__all__:
        if name.endswith("Error"):
            assert getattr(oc, name).__module__ == "outcore"
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", oc.__version__)


def test_exceptions_are_those_of_python_too():
    for kind, also in [
        (oc.InputError, ValueError), (oc.UsageError, ValueError), (oc.MemoryLimitError, MemoryError), (oc.NoImageError, FileNotFoundError),
        (oc.ImageExistsError, FileExistsError), (oc.NoVertexError, LookupError), (oc.DiskSpaceError, OSError),
        (oc.FileError, OSError),
    ]:
        assert issubclass(kind, oc.OutcoreError) and issubclass(kind, also)
    for kind in [oc.CorruptImageError, oc.ConvergenceError, oc.VerificationError]:
        assert issubclass(kind, oc.OutcoreError)


def test_exceptions_go_to_other_processes(site, scratch):
    (scratch / "bad.txt").write_text("1 2\n3 x y z\n")
    raised = []
    for work in [
        lambda: oc.pagerank(site, max_iter=2, tol=1e-12), lambda: oc.import_graph("bad.txt", "bad.oc", source=9),
        lambda: oc.import_graph(str(scratch / "bad.txt"), "bad.oc", weight=3), lambda: oc.Runtime(memory="4MiB"),
        lambda: oc.Graph("nothing.oc"), lambda: oc.import_graph("nothing.txt", "bad.oc"), lambda: oc.import_graph([(1, 2)], "web.oc"), lambda: oc.bfs(site, "nobody"),
        lambda: oc.pagerank(site, alpha=2),
    ]:  # fmt: skip
        with pytest.raises(oc.OutcoreError) as caught:
            work()
        raised.append(caught.value)
    for kind, facts in [
        (oc.CorruptImageError, {"path": "out.pages", "offset_bytes": 4096}), (oc.VerificationError, {"expected": "1", "found": "2"}),
        (oc.InputError, {"path": "a.txt", "line": None}), (oc.DiskSpaceError, {"needed_bytes": 5, "free_bytes": 3}),
        (oc.FileError, {"kind": "disk"}),
    ]:
        raised.append(kind("a text"))
        vars(raised[-1]).update(facts)
    kinds = {getattr(oc, name) for name in oc.__all__ if name.endswith("Error")}
    assert kinds - {type(error) for error in raised} == {oc.OutcoreError}, "each is tried"
    for error in raised:
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.args, str(again)) == (type(error), error.args, str(error))
        assert vars(again) == {name: value for name, value in vars(error).items() if name != "result"}
    assert raised[0].result.iterations == 2 and pickle.loads(pickle.dumps(raised[0])).result is None


def test_damage_is_reported_with_its_place(site, scratch):
    site.close()
    path = next(scratch.glob("web.oc/out.pages*"))
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    graph = oc.Graph("web.oc")
    with pytest.raises(oc.CorruptImageError, match="out.pages") as caught:
        oc.bfs(graph, "home")
    assert os.path.basename(caught.value.path).startswith("out.pages") and caught.value.offset_bytes < 4096


def test_no_image(scratch):
    with pytest.raises(oc.NoImageError, match="^nothing.oc is no Outcore image: there is no such directory; make one"):
        oc.Graph("nothing.oc")
    (scratch / "empty").mkdir()
    with pytest.raises(oc.NoImageError, match="has no manifest.json"):
        oc.Graph("empty")
    (scratch / "empty").rmdir()
    with pytest.raises(FileNotFoundError):
        oc.import_graph("nothing.txt", "nothing.oc")
    assert list(scratch.iterdir()) == []


def test_sizes_and_threads(site, scratch):
    limits = {size: oc.Graph("web.oc", memory=size) for size in ("2GiB", "2g", 2 << 30, "2048 MiB")}
    assert {oc.components(graph).stats["memory_limit_bytes"] for graph in limits.values()} == {2 << 30}
    assert oc.components(oc.Graph("web.oc", threads=3)).stats["threads"] == 3
    assert oc.components(oc.Graph("web.oc", backend="posix")).stats["backend"] == "posix"
    wrong = [{"memory": "2 gallons"}, {"memory": -1}, {"threads": 0}, {"backend": "tape"}, {"cache": "x"}]
    for options in wrong:
        with pytest.raises(oc.UsageError):
            oc.Graph("web.oc", **options)


LIMITED = """
import outcore as oc
oc.generate("path", scale=21, output="path.oc", memory="1GiB")
g = oc.Graph("path.oc", memory="40MiB", threads=1)
needs = oc.estimate(oc.pagerank, g)
try:
    oc.pagerank(g)
except oc.MemoryLimitError as error:
    assert error.needed_bytes == needs.state_bytes == 20 * 2**21 > error.available_bytes, error
    print("refused")
assert oc.components(g).count == 1
levels = oc.bfs(oc.Graph("path.oc", memory="64MiB"), 2**21 - 9)
assert levels.reached == 9
try:
    columns = [levels["level"] for _ in range(10)]
except oc.MemoryLimitError as error:
    print("column", "level" in str(error))
"""


def test_memory_is_refused_beforehand(scratch):
    """In a process of its own, which holds nothing of other tests."""
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True)
    assert done.stdout.split() == ["refused", "column", "True"], done.stdout + done.stderr


def test_arrays_count_in_the_limit_while_they_live(make):
    graph = make((np.arange(200_000), np.arange(200_000) + 1))
    ranks = oc.pagerank(graph)
    gc.collect()  # what other tests left in the runtime of the process
    before = oc.estimate(oc.pagerank, graph).memory_bytes
    array = ranks["pagerank"]
    view = array[10:]
    assert oc.estimate(oc.pagerank, graph).memory_bytes >= before + 8 * 200_000
    del array
    assert oc.estimate(oc.pagerank, graph).memory_bytes >= before + 8 * 200_000, "views keep the array"
    del view
    gc.collect()
    assert oc.estimate(oc.pagerank, graph).memory_bytes == before


def test_estimates(site):
    estimate = oc.estimate(oc.bfs, site)
    assert estimate.memory_bytes >= estimate.state_bytes >= 48 and estimate.read_bytes % 4096 == 0
    assert oc.estimate(oc.pagerank, site, max_iter=7).passes == 7
    assert oc.estimate(oc.label_propagation, site).passes == oc.estimate(oc.label_propagation, site, max_iter=10).passes
    assert oc.estimate(oc.bfs, site, output=True).memory_bytes > estimate.memory_bytes + (8 << 20), "encoders"
    assert re.fullmatch(r"<outcore.Estimate: [0-9.]+ MiB of memory \(80 bytes of state\); at most 7 passes, .* read>", repr(oc.estimate(oc.pagerank, site, max_iter=7))), repr(oc.estimate(oc.pagerank, site, max_iter=7))
    assert "no bound is known" in repr(estimate) and oc.estimate(oc.core_number, site).bound == "at least"
    sets = oc.estimate(oc.personalized_pagerank, site, personalization=[{"home"}, {"news"}])
    assert sets.state_bytes == oc.estimate(oc.personalized_pagerank, site, k=2).state_bytes > oc.estimate(oc.personalized_pagerank, site).state_bytes
    assert oc.estimate(oc.multi_source_bfs, site, sources=["home"] * 65).passes == 2
    for function, wrong in [(oc.pagerank, "maxiter"), (oc.components, "max_iter"), (oc.bfs, "weight")]:
        with pytest.raises(TypeError, match=f"{function.__name__} has no option '{wrong}'; it has .*verify"):
            oc.estimate(function, site, **{wrong: 7})
    with pytest.raises(TypeError, match="expected outcore.bfs or another"):
        oc.estimate(len, site)
    one = oc.estimate(oc.multi_source_bfs, site, sources=(vertex for vertex in ["home"]))
    assert one == oc.estimate(oc.multi_source_bfs, site, k=np.int64(1))
    assert oc.estimate(oc.scan_statistics, site, top=np.int64(3)) == oc.estimate(oc.scan_statistics, site, k=3)


def test_estimates_of_more_than_can_be(site):
    for function in (oc.personalized_pagerank, oc.multi_source_bfs):
        for k in (2**62, 10**9):
            with pytest.raises(oc.UsageError, match=f"expected k from 1 to [0-9]+, found {k}"):
                oc.estimate(function, site, k=k)
    assert oc.estimate(oc.personalized_pagerank, site, k=10**6).passes == 200 * 10**6 / 8
    for function in (oc.all_pairs, oc.betweenness_centrality):
        assert oc.estimate(function, site, k=2**62) == oc.estimate(function, site, k=4)


def test_a_number_beside_a_list_is_refused(site):
    for k in ({"k": 3}, {"seed": 9}, {"k": 3, "seed": 9}):
        with pytest.raises(oc.UsageError, match=f"expected {next(iter(k))} or sources, found both"):
            oc.all_pairs(site, sources=["home"], **k)
    for function, given in [
        (oc.all_pairs, {"sources": ["home"]}), (oc.multi_source_bfs, {"sources": ["home"]}), (oc.scan_statistics, {"top": 2}),
        (oc.betweenness_centrality, {"sources": ["home"]}), (oc.personalized_pagerank, {"personalization": {"home"}}),
    ]:  # fmt: skip
        with pytest.raises(oc.UsageError, match=f"expected k or {next(iter(given))}, found both"):
            oc.estimate(function, site, k=3, **given)
        with pytest.raises(oc.UsageError, match="expected k of at least 1, found 0"):
            oc.estimate(function, site, k=0)
    with pytest.raises(oc.UsageError, match="expected k of at least 1, found 0"):
        oc.all_pairs(site, k=0)
    with pytest.raises(TypeError, match="bfs has no option 'k'; it has source,"):
        oc.estimate(oc.bfs, site, k=5)
    assert len(oc.all_pairs(site).sources) == 4 and len(oc.all_pairs(site, k=2, seed=7).sources) == 2


def test_estimates_of_imports(scratch):
    with open("edges.txt", "w") as file:
        file.writelines(f"{i} {i + 1}\n" for i in range(100_000))
    needs = oc.estimate_import("edges.txt", directed=False)
    assert needs.format == "edge-list" and 50_000 < needs.edges < 200_000 and needs.image_bytes > 100_000
    assert needs.memory_bytes >= 8 << 20 and "MiB of temporary space" in repr(needs)
    assert oc.estimate_import([(0, 1), (1, 2)]).edges is None
    assert [path.name for path in scratch.iterdir()] == ["edges.txt"], "nothing is made"
    with pytest.raises(TypeError, match="wieght"):
        oc.estimate_import("edges.txt", wieght="none")
    with pytest.raises(FileNotFoundError):
        oc.estimate_import("nothing.txt")
    oc.import_graph("edges.txt", "edges.oc", memory=needs.memory_bytes)


UNVERIFIABLE = """
import outcore as oc
oc.generate("path", scale=22, output="path.oc", memory="1GiB")
graph = oc.Graph("path.oc", memory="1GiB", threads=1)
runs, verified = (oc.estimate(oc.components, graph, verify=verify).memory_bytes for verify in (False, True))
assert runs + (4 << 20) < verified, (runs, verified)
del graph
graph = oc.Graph("path.oc", memory=runs + (2 << 20), threads=1)
assert oc.components(graph).count == 1
try:
    oc.components(graph, verify=True)
except oc.MemoryLimitError as error:
    print("refused" if "the result and its verification" in str(error) else error)
"""


def test_a_run_that_cannot_be_verified_is_refused_beforehand(scratch):
    """In a process of its own, which holds nothing of other tests."""
    done = subprocess.run([sys.executable, "-c", UNVERIFIABLE], capture_output=True, text=True)
    assert done.stdout == "refused\n", done.stdout + done.stderr


def test_delta_is_above_zero(make):
    with pytest.raises(oc.UsageError, match="expected a delta above 0, found 0$"):
        oc.sssp(make([(0, 1, 2)]), 0, delta=0)


def test_seeds_that_are_no_set(make):
    graph = make([(0, 1), (1, 2)])
    for wrong in ([0, 1], 0, ["a"]):
        with pytest.raises(TypeError, match="expected seeds as a dict of shares, a set or a tuple"):
            oc.personalized_pagerank(graph, wrong)
    with pytest.raises(TypeError, match="give the set {0, 1}"):
        oc.personalized_pagerank(graph, [0, 1])
    for ask in (oc.personalized_pagerank, lambda graph, seeds: oc.estimate(oc.personalized_pagerank, graph, personalization=seeds)):
        with pytest.raises(oc.UsageError, match="expected at least one set of seeds, found an empty list"):
            ask(graph, [])
        with pytest.raises(TypeError, match="expected seeds as a dict of shares, a set or a tuple"):
            ask(graph, 0)
    assert oc.personalized_pagerank(graph, (0, 1)).columns == oc.personalized_pagerank(graph, {0, 1}).columns


def test_verification_and_bits_across_threads(tmp_path):
    oc.generate("kronecker", scale=12, output=tmp_path / "k.oc")
    answers = []
    for threads, backend in [(1, "posix"), (2, "auto"), (3, "auto")]:
        graph = oc.Graph(tmp_path / "k.oc", threads=threads, backend=backend)
        levels = oc.bfs(graph, 1, verify=True)
        answers.append([
            oc.pagerank(graph, verify=True)["pagerank"].tobytes(), oc.components(graph, verify=True)["component"].tobytes(),
            levels["level"].tobytes(), levels["parent"].tobytes(),
        ])  # fmt: skip
    assert answers[0] == answers[1] == answers[2]


def test_generating(scratch):
    report = oc.generate("grid", scale=6, output="grid.oc")
    assert (report["vertices"], report["edges"], report["directed"]) == (64, 112, False)
    assert oc.generate("star", scale=5, output="star.el")["edges"] == 31
    assert oc.import_graph("star.el", "star.oc")["edges"] == 31
    weights = {kind: oc.generate("path", scale=4, output=f"{kind}.txt", weights=kind) for kind in (False, True, "uniform", "unit")}
    lines = {kind: [line.split()[2:] for line in open(f"{kind}.txt") if line[0] != "#"] for kind in weights}
    assert lines[True] == lines["uniform"] and all(1 <= int(weight) <= 255 for [weight] in lines[True])
    assert all(0 <= float(weight) < 1 for [weight] in lines["unit"]) and lines[False] == [[]] * 15
    for wrong in ({"shape": "ball"}, {"weights": "heavy"}, {"scale": 40}, {"scale": -1}, {"seed": 2**64}, {"order": "random"}):
        with pytest.raises(oc.UsageError):
            oc.generate(**{"shape": "path", "scale": 3, "output": "wrong.oc", **wrong})
    assert not os.path.exists("wrong.oc")


def test_files_of_generated_edges_say_their_direction_or_refuse_it(scratch):
    for name, options in (("k", {"shape": "kronecker", "directed": False, "weights": True}), ("g", {"shape": "grid"})):
        oc.generate(scale=6, output=f"{name}.txt", **options)
        report = oc.import_graph(f"{name}.txt", f"{name}.oc")
        assert report["directed"] is False and report["weights"] == ("weight" if name == "k" else None)
    for name, options in (("w.csv", {"directed": False}), ("w.txt", {"order": "degree"})):
        with pytest.raises(oc.UsageError, match="for edges without direction|an order of vertices"):
            oc.generate("path", scale=3, output=name, **options)
        assert not os.path.exists(name)


def test_the_lock_is_released(tmp_path):
    oc.generate("kronecker", scale=14, output=tmp_path / "k.oc")
    graph = oc.Graph(tmp_path / "k.oc", threads=1)
    worker = threading.Thread(target=lambda: oc.pagerank(graph, tol=0, max_iter=200))
    worker.start()
    turns = 0
    while worker.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 20, "this thread ran while the other worked"


INTERRUPTED = """
import outcore as oc
g = oc.Graph("k.oc")
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
ranks = oc.pagerank(g)
print("usable", ranks.converged, flush=True)
"""


@pytest.mark.parametrize("work", [
    "oc.pagerank(g, tol=0, max_iter=10**9)",
    "oc.import_graph('edges.txt', 'other.oc')",
    "oc.generate('kronecker', scale=22, edge_factor=64, output='other.oc')",
])  # fmt: skip
def test_ctrl_c(scratch, work):
    oc.generate("kronecker", scale=14, output="k.oc")
    if "edges.txt" in work:
        with open("edges.txt", "w") as file:
            text = "".join(f"{i * 7919 % 100003} {i * 104729 % 99991}\n" for i in range(100_000))
            file.writelines([text] * 200)
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED.format(work=work)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert process.communicate(timeout=60)[0] == "usable True\n" and process.returncode == 0
    left = {path.name for path in scratch.iterdir()} - {"k.oc", "edges.txt"}
    assert left == set(), "nothing is left behind"


def test_networkx_agrees_under_the_users_ids(make):
    plain = nx.les_miserables_graph()
    graph = make(plain)
    for weight in ("weight", None):
        ranks = oc.pagerank(graph, weight=weight, tol=1e-12, max_iter=500).to_dict()
        expected = nx.pagerank(plain, weight=weight, tol=1e-12, max_iter=500)
        assert max(abs(ranks[name] - expected[name]) for name in expected) < 1e-9


def test_sources_that_cannot_be_meant_are_refused(site):
    with pytest.raises(oc.UsageError, match="k or sources"):
        oc.betweenness_centrality(site, k=2, sources=["home"])
    for options in [{"k": 0}, {"sources": []}]:
        with pytest.raises(oc.UsageError, match="at least"):
            oc.betweenness_centrality(site, **options)
    for search in (oc.multi_source_bfs, oc.betweenness_centrality, oc.all_pairs):
        with pytest.raises(TypeError, match="a list of ids"):
            search(site, sources="home")


def test_searches_from_all_vertices_are_verified(site):
    found = oc.all_pairs(site, verify=True)
    assert found.diameter[0] == found.diameter[1]


OTHER_THREAD = """
import threading, outcore as oc
g = oc.Graph("k.oc")
outcomes, is_over = [], threading.Event()
def work():
    while not is_over.is_set():
        try:
            outcomes.append(oc.components(g).count)
        except BaseException as error:
            outcomes.append(error)
worker = threading.Thread(target=work)
worker.start()
while not outcomes:
    pass
try:
    print("ready", flush=True)
    oc.pagerank(g, tol=0, max_iter=10**9)
except KeyboardInterrupt:
    count = len(outcomes)
    while len(outcomes) < count + 3:
        pass
    is_over.set()
worker.join()
print(len(set(outcomes)), type(outcomes[0]).__name__, oc.pagerank(g).converged, flush=True)
"""


def test_ctrl_c_stops_the_operation_of_one_thread(scratch):
    oc.generate("kronecker", scale=14, output="k.oc")
    process = subprocess.Popen([sys.executable, "-c", OTHER_THREAD], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "1 int True\n" and process.returncode == 0


INTERRUPTED_ROWS = """
import outcore as oc, _thread
g = oc.Graph("k.oc")
rows = iter(g.edges(weights=True))
seen = 0
try:
    for row in rows:
        seen += 1
        if seen == 10:
            _thread.interrupt_main()
            # The signal comes while the next batch is read, or between two rows.
    raise SystemExit("not interrupted")
except KeyboardInterrupt:
    pass
try:
    rest = sum(1 for row in rows)
    print("all" if seen + rest in (len(g.edges), len(g.edges) - 1) else f"lost rows: {seen} + {rest}")
except OSError as error:
    print("all" if "begin anew" in str(error) else error)
print(sum(1 for row in g.edges) == len(g.edges))
"""


def test_rows_are_not_lost_after_ctrl_c(scratch):
    oc.generate("kronecker", scale=14, weights=True, output="k.oc")
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_ROWS], capture_output=True, text=True)
    assert done.stdout == "all\nTrue\n", done.stdout + done.stderr


def test_a_graph_whose_progress_refers_to_it_is_collected(site):
    class Reader:
        def __init__(self):
            self.graph = oc.Graph(site.path, progress=self.on)
            self.matrix = oc.SparseMatrix(self.graph)
            self.views = self.graph.edges, self.graph.nodes, self.graph.degree
            self.rows, self.ranks = iter(self.graph.edges), oc.pagerank(self.graph)

        def on(self, event):
            self.event = event

    reader = Reader()
    assert reader.event["event"] == "finish" and next(reader.rows)
    gone = weakref.ref(reader)
    del reader
    gc.collect()
    assert gone() is None
