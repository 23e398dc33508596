"""Reports of runs: what is in the page, for readers and for programs, from the shell and from Python; progress; what
notebooks show."""

import datetime
import html.parser
import json
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import time

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import outcore as oc

HOSTILE = "</script><img src=x onerror=alert(1)>&'\"<!--\u202e"


def outcore(*words, **options):
    command = os.environ.get("OUTCORE") or shutil.which("outcore")
    return subprocess.run([command, *map(str, words)], capture_output=True, text=True, **options)


class Page(html.parser.HTMLParser):
    """A page, taken apart. Elements that are not closed in order are an error, but for those that HTML lets open."""

    OPEN = {"meta", "tr", "td", "th", "br", "img", "link"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.open, self.cells, self.attributes = [], {}, [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [(tag, *one) for one in attrs]
        if tag not in self.OPEN:
            self.open.append((tag, dict(attrs).get("id")))
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        if tag in self.OPEN:
            return
        assert self.open.pop()[0] == tag, tag

    def handle_data(self, data):
        key = self.open[-1] if self.open else None
        self.texts[key] = self.texts.get(key, "") + data
        if self.cells and any(tag == "table" for tag, _ in self.open):
            self.cells[-1] += data.strip("\n")

    @property
    def data(self):
        return json.loads(self.texts["script", "outcore-report"])


def check_page(text, stats):
    """The page is sound and needs nothing beside itself, and its numbers are those of the statistics."""
    page = Page(text)
    assert len(text) < 1_000_000
    assert not {"link", "img", "iframe", "object", "form"} & set(page.elements)
    assert not [one for one in page.attributes if one[1] in ("src", "href") or one[1].startswith("on")]
    data = page.data
    assert data["schema"] == 1
    stats = dict(stats)
    steps, own = stats.pop("steps"), dict(data["stats"])
    for memory in (stats, own):
        memory.pop("memory_peak_bytes")
    assert own == stats
    assert {len(values) for values in data["steps"].values()} == {len(steps)}
    for name, values in data["steps"].items():
        if name == "bytes_wanted":
            assert values == [4096 * (step["pages_wanted"] - step["cache_hits"]) for step in steps]
        elif name.startswith("seconds"):
            np.testing.assert_allclose(values, [step[name] for step in steps], atol=6e-8)
        else:
            assert values == [step[name] for step in steps], name
    check_timeline(data)
    return page, data


def check_timeline(data):
    timeline, samples = data["timeline"], data["samples"]
    seconds = timeline["seconds"]
    count = max(len(seconds) - 1, 0)
    for name in ("bytes_per_second", "busy_cores", "memory_bytes"):
        assert len(timeline[name]) == count, name
    assert np.all(np.diff(seconds) > 0)
    read = np.dot(np.diff(seconds), timeline["bytes_per_second"])
    if timeline["of"] == "steps":
        assert read == pytest.approx(sum(data["steps"]["bytes_read"]), rel=0.01, abs=4096)
        assert timeline["cache_bytes"] == []
    else:
        assert read == pytest.approx(samples["bytes_read"][-1], rel=0.01, abs=4096)
        assert len(timeline["cache_bytes"]) == count
    assert all(bytes <= data["stats"]["memory_limit_bytes"] for bytes in timeline["memory_bytes"] + samples["memory_bytes"])


@pytest.fixture
def web(scratch):
    oc.generate("kronecker", scale=14, output="web.oc")
    return "web.oc"


def test_the_shell_writes_a_page_of_a_run(web):
    words = ["run", "pagerank", web, "--alpha", "0.9", "--max-iter", "20", "--tol", "0", "--memory", "64MiB", "--backend", "posix"]
    done = outcore(*words, "--report", "run.html", "--stats", "run.json", "--output", "ranks.csv")
    assert done.returncode == 0, done.stderr
    stats = json.loads(pathlib.Path("run.json").read_text())["stats"]
    page, data = check_page(pathlib.Path("run.html").read_text(), stats)
    given = {one["name"]: one["value"] for one in data["options"] if one["given"]}
    assert given == {"alpha": "0.9", "max_iter": "20", "tol": "0"}
    assert {one["name"]: one["default"] for one in data["options"]}["alpha"] == "0.85"
    assert data["call"] == f"outcore {' '.join(words)} --report run.html --stats run.json --output ranks.csv"
    assert page.texts["pre", None] == data["call"]
    info = json.loads(outcore("info", web, "--json").stdout)["result"]
    assert data["facts"] == info
    plan = dict(line.split(maxsplit=1) for line in outcore(*words, "--explain").stdout.splitlines())
    assert plan["passes"] == f"{data['plan']['bound']} {data['plan']['passes']:g}"
    assert plan["reads"] == f"{data['plan']['bound']} {oc._outcore.bytes_text(data['plan']['read_bytes'])}"
    # Every page is wanted, and read at most once in a pass.
    assert data["read_amplification"] == pytest.approx(1, abs=0.1)
    assert data["samples"]["bytes_read"][-1] >= stats["bytes_read"] - 4096 * 64
    assert page.texts["title", None] == "pagerank of web.oc"
    result, best = data["result"], oc.pagerank(oc.Graph(web), alpha=0.9, max_iter=20, tol=0).top(10)
    assert result["attributes"]["iterations"] == 20 and result["attributes"]["stopped_by"] == "iterations"
    assert [row[0] for row in result["tables"][0]["rows"]] == [str(vertex) for vertex, _ in best]
    assert [float(row[1]) for row in result["tables"][0]["rows"]] == [rank for _, rank in best]
    assert "stopped by" in page.cells and str(best[0][0]) in page.cells
    ended = datetime.datetime.fromisoformat(data["ended"])
    assert abs((datetime.datetime.now(datetime.UTC) - ended).total_seconds()) < 3600 and data["ended"] in page.texts["p", None]
    assert f"{stats['cache_hits']} of {stats['pages_wanted']} wanted pages" in page.texts["small", None]


def test_python_makes_the_same_page(web):
    graph = oc.Graph(web, memory="64MiB")
    ranks = oc.pagerank(graph, alpha=0.9, max_iter=20, tol=0)
    report = ranks.report("run.html")
    assert str(report) == pathlib.Path("run.html").read_text()
    _, data = check_page(str(report), ranks.stats)
    assert report.data == data
    assert data["call"] == "outcore.pagerank(Graph(\"web.oc\"), alpha=0.9, tol=0, max_iter=20)"
    needs = oc.estimate(oc.pagerank, graph, max_iter=20)
    assert data["plan"]["state_bytes"] == needs.state_bytes and data["plan"]["passes"] == needs.passes
    assert data["facts"] == graph.info()
    assert repr(report) == "<outcore.Report of pagerank of web.oc>"
    outcore("run", "pagerank", web, "--alpha", "0.9", "--max-iter", "20", "--tol", "0", "--report", "shell.html", "--quiet")
    shell = Page(pathlib.Path("shell.html").read_text()).data
    assert shell.keys() == data.keys()
    assert shell["result"] == data["result"] and data["result"]["tables"]
    for name in ("stats", "steps", "samples", "timeline", "plan"):
        assert shell[name].keys() == data[name].keys(), name
    # In a notebook the page has a frame of its own, whose text is the page again.
    frame = Page(report._repr_html_())
    assert frame.elements == ["iframe"] and dict(one[1:] for one in frame.attributes)["srcdoc"] == str(report)


def test_a_vertex_program_has_a_page(web):
    pytest.importorskip("numba")
    graph = oc.Graph(web, memory="64MiB")
    seen = np.zeros(len(graph), np.uint8)

    def run(v, seen, vertex):
        seen[v] = 1

    found = oc.vertex_program(graph, seen, run)
    _, data = check_page(str(found.report()), found.stats)
    assert data["name"] == "vertex_program" and data["options"] == [] and data["facts"]["vertices"] == len(graph)
    assert data["plan"]["passes"] is None
    assert "iterations" in Page(found._repr_html_()).cells


def test_all_that_can_be_run_has_a_page(scratch):
    oc.generate("kronecker", scale=9, output="k.oc", weights="unit", directed=False)
    np.save("x.npy", np.random.default_rng(1).normal(size=(2000, 3)))
    for words in (["eigsh", "k.oc", "--k", "2"], ["kmeans", "x.npy", "--n-clusters", "3"], ["cov", "x.npy"],
                  ["describe", "x.npy"]):
        done = outcore("run", *words, "--report", f"{words[0]}.html", "--stats", f"{words[0]}.json")
        assert done.returncode == 0, done.stderr
        _, data = check_page(pathlib.Path(f"{words[0]}.html").read_text(), json.loads(pathlib.Path(f"{words[0]}.json").read_text())["stats"])
        assert data["name"] == words[0] and data["input"] == words[1] and data["plan"]["notes"] and data["facts"]
        assert all(line in done.stdout for line in data["result"]["lines"])
        assert data["result"]["lines"] or data["result"]["tables"]
        rows = [row for table in data["result"]["tables"] for row in [table["columns"], *table["rows"]]]
        cells = [cell for row in rows for cell in row]
        assert all(cell in done.stdout for cell in cells)
        assert (words[0] != "describe") or "missing" in cells and data["plan"]["memory_bytes"] > 0
    for words in (("kmeans", "x.npy", "--n-clusters", "3"), ("bfs", "k.oc", "--source", "1")):
        done = outcore("run", *words, "--report", "./a.html", "--stats", "a.html")
        assert done.returncode == 2 and "expected different files" in done.stderr
        done = outcore("run", *words, "--report", "r.txt")
        assert done.returncode == 2 and "ends in .html" in done.stderr and not pathlib.Path("r.txt").exists()
    done = outcore("run", "bfs", "k.oc", "--source", "1", "--report", "none/a.html")
    assert done.returncode == 6 and "none" in done.stderr
    assert outcore("run", "bfs", "k.oc", "--source", "1", "--report", "-").returncode == 2
    # Ranks that did not converge are not written; what they cost is.
    done = outcore("run", "pagerank", "k.oc", "--max-iter", "1", "--tol", "1e-12", "--report", "u.html")
    assert done.returncode == 4 and Page(pathlib.Path("u.html").read_text()).data["stats"]["stopped_by"] == "iterations"


def test_an_import_has_a_page(scratch):
    pathlib.Path("paid.csv").write_text("payer,payee,amount,kind\n" + "".join(f"a{i},b{i % 7},{i},card\n" for i in range(50)))
    words = ["import", "paid.csv", "paid.oc", "--attributes", "all", "--memory", "64MiB"]
    done = outcore(*words, "--report", "shell.html", "--stats", "shell.json")
    assert done.returncode == 0, done.stderr
    made = oc.import_graph("paid.csv", "paid.oc", attributes=True, replace=True, memory="64MiB")
    report = made.report("python.html")
    assert str(report) == pathlib.Path("python.html").read_text() and repr(report) == "<outcore.Report of import of paid.csv>"
    written = json.loads(pathlib.Path("shell.json").read_text())
    summary = written["result"]
    for text in (pathlib.Path("shell.html").read_text(), str(report)):
        page = Page(text)
        data = page.data
        check_timeline(data)
        assert (data["schema"], data["name"], data["input"]) == (1, "import", "paid.csv")
        result = data["result"]["attributes"]
        assert (result["vertices"], result["edges"], result["ids"]) == (57, 50, "string")
        assert {**result, **data["facts"]}.items() >= {(name, value) for name, value in summary.items() if not isinstance(value, (list, dict))}
        first, phases = data["result"]["tables"]
        assert first["columns"] == ["source", "target"] and first["rows"][0] == ["a0", "b0"] and len(phases["rows"]) == 5
        assert data["result"]["lines"] == written["notes"] == made["notes"] and data["plan"]["memory_bytes"] > 0
        assert "amount (integer), kind (string)" in page.cells and "passes" not in page.cells
        assert data["stats"]["seconds"] > 0 and data["stats"]["memory_limit_bytes"] == 64 << 20
        assert datetime.datetime.fromisoformat(data["ended"])
    assert Page(pathlib.Path("shell.html").read_text()).data["call"] == f"outcore {' '.join(words)} --report shell.html --stats shell.json"
    assert report.data["call"] == "outcore.import_graph('paid.csv', 'paid.oc', attributes=True, replace=True, memory=67108864)"
    assert {one["name"] for one in report.data["options"] if one["given"]} == {"attributes", "replace", "memory"}
    # The report is a dict as before, and copies of it are dicts.
    assert made == dict(made) == json.loads(json.dumps(made)) == pickle.loads(pickle.dumps(made)) and "run" not in made
    # What is no file has the name that messages have for it, and the call is one that a user could write.
    frame = pd.DataFrame({"source": [1, 2], "target": [2, 3]})
    several = ["paid.csv", frame.astype(str).assign(source="x")]
    for given, called, argument in (
        ([(1, 2)], "the list of edges", "[(1, 2)]"),
        ([(one, one + 1) for one in range(500)], "the list of edges", "edges"),
        (frame, "the pandas frame", "frame"),
        (pa.table(frame), "the Table", "table"),
        (iter([(1, 2), (2, 3)]), "the generator of edges", "edges"),
        ((np.array([1]), np.array([2])), "the NumPy arrays", "arrays"),
        (nx.path_graph(3), "the NetworkX graph", "graph"),
        (several, "paid.csv, the pandas frame at index 1", "inputs"),
        ([pathlib.Path("paid.csv")], "paid.csv", "['paid.csv']"),
    ):
        data = oc.import_graph(given, "list.oc", replace=True).report().data
        assert data["input"] == called and data["call"] == f"outcore.import_graph({argument}, 'list.oc', replace=True)"
    # The page has the notes of the dict: in the words of Python, and with those that only Python knows.
    edges = nx.Graph([(1, 2, {"kind": "a"})])
    for given, words in (("paid.csv", "say attributes=True"), (edges, "kind; attributes=True keeps them")):
        made = oc.import_graph(given, "notes.oc", replace=True)
        assert made.report().data["result"]["lines"] == made["notes"] and any(words in note for note in made["notes"])
    # Where the page cannot be written, nothing is imported.
    same = ["a.html", "--stats", "a.html"]
    for places, text in ((["none/a.html"], "none"), (["paid.csv"], "ends in .html"), (same, "expected different files")):
        done = outcore("import", "paid.csv", "new.oc", "--report", *places)
        assert done.returncode in (2, 6) and text in done.stderr and not pathlib.Path("new.oc").exists(), places
    done = outcore("import", "paid.csv", "new.oc", "--columns", "amount", "--as", "array", "--report", "a.html")
    assert done.returncode == 2 and "--report" in done.stderr


def test_solvers_have_pages_in_python(scratch):
    oc.generate("kronecker", scale=9, output="k.oc", weights="unit", directed=False)
    A = oc.SparseMatrix("k.oc", memory="64MiB")
    pairs = oc.linalg.eigsh(A, k=3, seed=5)
    report = pairs.report("eigsh.html")
    page = Page(pathlib.Path("eigsh.html").read_text())
    data = page.data
    assert report.data == data and (data["name"], data["input"]) == ("eigsh", "k.oc")
    assert data["call"] == "outcore.linalg.eigsh(SparseMatrix('k.oc'), k=3, seed=5)"
    given = {one["name"]: (one["value"], one["default"]) for one in data["options"] if one["given"]}
    assert given == {"k": ("3", "6"), "seed": ("5", "0")} and {"which", "maxiter"} <= {one["name"] for one in data["options"]}
    assert data["facts"] == oc.Graph("k.oc").info() and data["plan"]["memory_bytes"] > data["plan"]["state_bytes"] > 0
    assert data["result"]["attributes"]["complete"] is True and data["result"]["attributes"]["products"] == pairs.products
    (table,) = data["result"]["tables"]
    assert table["columns"] == ["row", "eigenvalue", "residual"] and len(table["rows"]) == 3
    np.testing.assert_allclose([float(row[1]) for row in table["rows"]], pairs.eigenvalues, rtol=1e-5)
    assert data["stats"]["passes"] == pairs.stats["passes"] and len(data["steps"]["name"]) > 0
    check_timeline(data)
    b = np.arange(A.shape[0], dtype=float)
    others = [
        oc.linalg.svds(A, k=2), oc.linalg.randomized_svd(A, 2), oc.linalg.nmf(A, 2, max_iter=20),
        oc.linalg.minres(A, b, maxiter=30), oc.linalg.gmres(A, b, maxiter=2), oc.linalg.pagerank(A, max_iter=300),
        oc.linalg.spectral_embedding(A, 2), oc.linalg.eigs(A, k=2),
    ]  # fmt: skip
    for result in others:
        data = Page(str(result.report())).data
        assert data["result"]["tables"] and data["result"]["tables"][0]["rows"] and data["options"], data["name"]
        assert data["ended"] and data["samples"]["seconds"] and "NaN" not in json.dumps(data)
    ranks = others[5].report().data["result"]["tables"][0]
    best = np.argsort(-others[5].ranks, kind="stable")[:10]
    assert [int(row[0]) for row in ranks["rows"]] == best.tolist() and "10 greatest of 512" in ranks["title"]
    residuals = others[3].report().data["result"]["tables"][0]
    assert int(residuals["rows"][-1][0]) == len(others[3].residuals) - 1 and "the last 10" in residuals["title"]
    assert {one["name"]: one["value"] for one in others[3].report().data["options"]}["b"] == "<ndarray of shape (512,)>"
    # What did not converge has a page, too; copies have none.
    with pytest.raises(oc.ConvergenceError) as caught:
        oc.linalg.eigsh(A, k=20, maxiter=1, ncv=26)
    assert caught.value.result.report().data["options"][0]["value"] == "20"
    again = pickle.loads(pickle.dumps(pairs))
    assert np.array_equal(again.eigenvalues, pairs.eigenvalues)
    with pytest.raises(TypeError, match="a copy"):
        again.report()


def test_models_have_pages_in_python(scratch):
    ml = pytest.importorskip("outcore.ml")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 3)) + 8 * rng.integers(0, 3, size=(600, 1))
    np.save("x.npy", X)
    model = ml.KMeans(3, random_state=1).fit("x.npy")
    report = model.report("kmeans.html")
    data = Page(pathlib.Path("kmeans.html").read_text()).data
    assert report.data == data and data["input"] == "an array of 600 x 3" and data["facts"] == {"rows": 600, "columns": 3}
    assert data["call"] == "outcore.ml.KMeans(n_clusters=3, random_state=1).fit(X)"
    assert {one["name"] for one in data["options"] if one["given"]} == {"n_clusters", "random_state"}
    sizes, centres = data["result"]["tables"]
    counts = np.bincount(model.labels_.compute())
    assert [float(row[1]) for row in sizes["rows"]] == counts.tolist() and len(centres["rows"]) == 3
    assert data["result"]["attributes"]["n_iter_"] == model.n_iter_
    assert data["result"]["attributes"]["inertia_"] == pytest.approx(model.inertia_)
    assert data["stats"]["passes"] == model.stats_["passes"] > 0 and data["samples"]["seconds"]
    # Steps of several computations are in one time.
    ends, cpu_ends = data["steps"]["seconds_end"], data["steps"]["seconds_cpu_end"]
    assert len(ends) > 5 and ends == sorted(ends) and cpu_ends == sorted(cpu_ends)
    assert ends[-1] <= data["stats"]["seconds"] + 1e-6 and 0 < cpu_ends[-1] <= data["stats"]["seconds_cpu"] + 1e-6
    y = (X[:, 0] > 8).astype(int)
    frame = pd.DataFrame(X, columns=["a", "b", "<c>"])
    models = [
        ml.PCA(2).fit(X), ml.TruncatedSVD(2).fit(X), ml.LinearRegression().fit(frame, X[:, 0]), ml.Ridge().fit(X, X[:, :2]),
        ml.LogisticRegression().fit(frame, y), ml.GaussianNB().fit(X, y), ml.GaussianMixture(2, random_state=1).fit(X),
        ml.StandardScaler().fit(frame), ml.MinMaxScaler().fit(X),
    ]  # fmt: skip
    for model in models:
        page, data = Page(str(model.report())), model.report().data
        assert data["name"] == type(model).__name__ and data["result"]["tables"] and data["result"]["attributes"]
        assert "c" not in page.elements and data["ended"]
        again = pickle.loads(pickle.dumps(model))
        with pytest.raises(TypeError, match="a copy"):
            again.report()
    coefficients = models[2].report().data["result"]["tables"][0]
    assert [row[0] for row in coefficients["rows"]] == ["a", "b", "<c>"]
    with pytest.raises(Exception, match="not fitted"):
        ml.PCA(2).report()


def test_pages_of_models_name_features_only_where_numbers_are_of_features():
    ml = pytest.importorskip("outcore.ml")
    rng = np.random.default_rng(2)
    numbers = np.arange(300) % 3
    frame = pd.DataFrame(rng.normal(size=(300, 3)) + 9 * numbers[:, None], columns=["a", "b", "c"])
    # There are three features, and three components, classes, clusters and targets.
    mixtures = {
        kind: ml.GaussianMixture(3, covariance_type=kind, random_state=1).fit(frame)
        for kind in ("full", "tied", "diag", "spherical")
    }
    means = {"means_"}
    for model, expected in [
        (ml.PCA(3).fit(frame), {"components_", "mean_"}),
        (ml.TruncatedSVD(3).fit(frame), {"components_"}),
        (ml.GaussianNB().fit(frame, numbers), {"theta_", "var_"}),
        (ml.KMeans(3, random_state=1).fit(frame), {"cluster_centers_"}),
        (ml.LinearRegression().fit(frame, frame * 2), {"coef_"}),
        (ml.Ridge().fit(frame, frame["a"]), {"coef_"}),
        (ml.LogisticRegression().fit(frame, numbers), {"coef_"}),
        (ml.StandardScaler().fit(frame), {"mean_", "var_", "scale_"}),
        (ml.MinMaxScaler().fit(frame), {"data_min_", "data_max_", "data_range_", "min_", "scale_"}),
        (mixtures["full"], means),
        (mixtures["tied"], means | {"covariances_", "precisions_"}),
        (mixtures["diag"], means | {"covariances_", "precisions_", "precisions_cholesky_"}),
        (mixtures["spherical"], means),
    ]:
        tables = model.report().data["result"]["tables"]
        named = {
            table["title"] for table in tables
            if table["columns"][1:] == ["a", "b", "c"] or [row[0] for row in table["rows"]] == ["a", "b", "c"]
        }  # fmt: skip
        assert named == expected, type(model).__name__


def test_reports_say_the_sizes_of_groups_and_what_attributes_are(scratch):
    rows = pd.DataFrame({"source": [1, 2, 4], "target": [2, 3, 5], "kind": ["a", "b", "a"], "since": [1, 2, 3]})
    oc.import_graph(rows, "parts.oc", attributes=True, directed=False)
    graph = oc.Graph("parts.oc", memory="64MiB")
    pages = [str(oc.components(graph).report())]
    done = outcore("run", "components", "parts.oc", "--report", "parts.html", "--quiet", "--memory", "64MiB")
    assert done.returncode == 0, done.stderr
    pages.append(pathlib.Path("parts.html").read_text())
    for text in pages:
        page = Page(text)
        groups = page.data["result"]["tables"][0]
        assert groups["columns"] == ["component", "vertices"] and groups["rows"] == [["1", "3"], ["4", "2"]]
        assert page.data["result"]["attributes"] == {"count": 2}
        assert page.cells[page.cells.index("attributes") + 1] == "kind (string), since (integer)"
        assert page.cells[page.cells.index("vertex attributes") + 1] == "none" and "[[" not in "".join(page.cells)


def test_names_of_users_are_text(scratch):
    image = HOSTILE.replace("/", "") + ".oc"
    oc.import_graph([(HOSTILE, "b"), ("b", HOSTILE)], image)
    done = outcore("run", "bfs", image, "--source", HOSTILE, "--report", "run.html", "--stats", "run.json")
    assert done.returncode == 0, done.stderr
    stats = json.loads(pathlib.Path("run.json").read_text())["stats"]
    pages = [(pathlib.Path("run.html").read_text(), stats)]
    graph = oc.Graph(image)
    levels = oc.bfs(graph, HOSTILE)
    pages.append((str(levels.report()), levels.stats))
    for text, stats in pages:
        page, data = check_page(text, stats)
        assert data["input"] == image and data["options"][0]["value"] == HOSTILE
        assert page.elements.count("script") == 3 and "img" not in page.elements
        assert "\u202e" not in text
    for shown in (graph._repr_html_(), levels._repr_html_()):
        page = Page(shown)
        assert set(page.elements) <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td", "p"}
        assert "onerror" in shown and "\u202e" not in shown


def test_a_page_of_thousands_of_steps_is_small(scratch):
    oc.generate("path", scale=14, output="path.oc")
    graph = oc.Graph("path.oc", memory="64MiB")
    found = oc.pagerank(graph, max_iter=5000, tol=0, alpha=0.999)
    stats = dict(found.stats)
    assert len(stats["steps"]) > 4000
    page, data = check_page(str(found.report()), stats)
    # The table has a row for so many steps that it is short, and none is left out.
    rows = page.cells[page.cells.index("memory", page.cells.index("step")) + 1 :][:: 11]
    rows = rows[: next(place for place, cell in enumerate(rows) if not re.fullmatch(r"\d+(–\d+)?", cell))]
    assert 100 <= len(rows) <= 200
    places = [(int(row.split("–")[0]), int(row.split("–")[-1])) for row in rows]
    assert places[0][0] == 1 and places[-1][1] == len(stats["steps"])
    assert all(one[1] + 1 == two[0] for one, two in zip(places, places[1:]))


def test_every_key_of_the_page_is_documented(web):
    """`docs/reports.md` lists all keys, and no others."""
    document = (pathlib.Path(__file__).parents[2] / "docs" / "reports.md").read_text()
    listed = set(re.findall(r"^\| `([a-z_.]+)` \|", document, re.MULTILINE))
    data = oc.bfs(oc.Graph(web), 1).report().data
    found = set()
    for name, value in data.items():
        if name in ("stats", "facts"):
            found.add(name)
        elif isinstance(value, dict):
            found |= {f"{name}.{own}" for own in value}
        elif name == "options":
            found |= {f"options.{own}" for own in value[0]}
        else:
            found.add(name)
    assert listed == found | {f"progress.{name}" for name in ("event", "name", "unit", "done", "total", "seconds")}


def test_steps_say_when_they_were_and_what_they_took(web):
    graph = oc.Graph(web, memory="64MiB")
    found = oc.pagerank(graph, max_iter=20, tol=0)
    steps, stats = found.stats["steps"], found.stats
    ends = [step["seconds_end"] for step in steps]
    assert ends == sorted(ends) and ends[-1] <= stats["seconds"]
    assert all(step["seconds"] <= step["seconds_end"] + 1e-6 for step in steps)
    assert 0 < steps[-1]["seconds_cpu_end"] <= stats["seconds_cpu"]
    assert all(0 < step["memory_bytes"] <= stats["memory_limit_bytes"] for step in steps)
    # Two vectors of 8 bytes per vertex are there in the midst of it.
    assert steps[5]["memory_bytes"] >= 2 * 8 * len(graph)


def test_a_report_costs_no_pass(web):
    """What is read is the same with a report and without."""
    words = ["run", "bfs", web, "--source", "1", "--memory", "64MiB", "--threads", "1"]
    for name, more in (("with", ["--report", "run.html"]), ("without", [])):
        assert outcore(*words, *more, "--stats", f"{name}.json").returncode == 0
    one, other = (json.loads(pathlib.Path(f"{name}.json").read_text())["stats"] for name in ("with", "without"))
    for key in ("passes", "bytes_read", "requests", "pages_read", "pages_wanted", "cache_hits"):
        assert one[key] == other[key], key
    assert [step["active"] for step in one["steps"]] == [step["active"] for step in other["steps"]]


def events_of(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def check_events(events):
    """Tasks begin and end as they nest, and only count up."""
    assert events, "nothing was told"
    open = []
    for event in events:
        assert event.keys() == {"event", "name", "unit", "done", "total", "seconds"}
        assert event["unit"] in ("bytes", "edges", "vertices", "steps", "products", "rows") and event["seconds"] >= 0
        if event["event"] == "start":
            assert event["done"] == 0
            open.append(event)
            continue
        assert open[-1]["name"] == event["name"] and open[-1]["done"] <= event["done"]
        assert open[-1]["seconds"] <= event["seconds"]
        if event["event"] == "finish":
            open.pop()
        else:
            assert event["event"] == "advance"
            open[-1] = event
    assert not open


def test_progress_of_the_shell(web):
    run = ["run", "pagerank", web, "--max-iter", "200", "--tol", "0", "--memory", "64MiB"]
    told = outcore(*run, "--progress", "json")
    assert told.returncode == 0
    events = events_of(told.stderr)
    check_events(events)
    ends = [event for event in events if event["event"] == "finish" and event["unit"] == "steps"]
    assert [end["done"] for end in ends] == [200] and ends[0]["total"] == 200
    assert events_of(outcore(*run, "--progress", "json", "--quiet").stderr)
    # Nothing is shown where nobody looks, unless it is asked for.
    for how in ("auto", "never"):
        assert outcore(*run, "--progress", how, "--quiet").stderr == ""
    assert outcore(*run, "--progress", "perhaps").returncode == 2
    path = "many.oc"
    told = outcore("generate", "kronecker", path, "--scale", "18", "--progress", "json", "--memory", "256MiB")
    check_events(events_of(told.stderr))


def test_progress_always_is_lines_where_there_is_no_terminal(scratch):
    """A run of more than two seconds says so."""
    read, write = os.pipe()
    command = os.environ.get("OUTCORE") or shutil.which("outcore")
    process = subprocess.Popen([command, "import", "-", "--format", "edge-list", "slow.oc", "--progress", "always"], stdin=read,
                               stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    os.close(read)
    for part in range(6):
        os.write(write, b"".join(b"%d %d\n" % (part * 20000 + i, i) for i in range(5000)))
        time.sleep(0.5)
    os.close(write)
    _, told = process.communicate()
    assert process.returncode == 0, told
    assert re.search(r"^[a-z ]+: [\d.]+ .*, \d+\.\d s$", told, re.MULTILINE), told
    assert "\r" not in told and "\x1b" not in told


def test_progress_of_python_calls_a_function(web):
    events = []
    graph = oc.Graph(web, memory="64MiB", progress=events.append)
    oc.pagerank(graph, max_iter=500, tol=0)
    check_events(events)
    assert events[-1]["done"] == events[-1]["total"] == 500
    assert any(event["event"] == "advance" for event in events)
    events.clear()
    oc.generate("kronecker", scale=12, output="other.oc", progress=events.append)
    check_events(events)

    class Enough(Exception):
        pass

    def stop(event):
        if event["event"] == "advance":
            raise Enough(event["name"])

    graph = oc.Graph(web, memory="64MiB", progress=stop)
    with pytest.raises(Enough):
        oc.pagerank(graph, max_iter=100_000, tol=0)
    # It was one run that ended, not the graph.
    graph = oc.Graph(web, memory="64MiB", progress=lambda event: None)
    assert oc.components(graph).count > 0
    for wrong in (1, "yes", [print]):
        with pytest.raises(TypeError, match="expected progress= as True or False or a function"):
            oc.Graph(web, progress=wrong)


def test_progress_of_python_looks_as_tqdms_does(web, capsys):
    graph = oc.Graph(web, memory="64MiB", progress=True)
    oc.pagerank(graph, max_iter=300, tol=0)
    shown = capsys.readouterr().err
    assert shown.endswith("\n") and shown.startswith("\r"), repr(shown)
    last = shown.rstrip("\n").split("\r")[-1].rstrip()
    assert re.fullmatch(r"[\w ]+: 100%\|█{10}\| 300/300 \[\d\d:\d\d<00:00, [\d.]+k?steps/s\]", last), last


def test_progress_is_shown_in_a_notebook(scratch):
    """In a kernel, below the cell that asked, and nowhere else."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [
        "import outcore as oc",
        "oc.generate('kronecker', scale=16, output='k.oc', progress=True);",
        "g = oc.Graph('k.oc', memory='64MiB')\ng",
        "r = oc.pagerank(g, max_iter=20, tol=0)\nr",
        "r.report()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=300, resources={"metadata": {"path": "."}}).execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert outputs[0] == []
    shown = "".join(one.text for one in outputs[1] if one.output_type == "stream" and one.name == "stderr")
    assert re.search(r"[\w ]+: +\d+%\|.{10}\| ", shown), outputs[1]
    texts = [one.data["text/html"] for cell in outputs[2:] for one in cell if "data" in one]
    assert len(texts) == 3
    assert "65\u202f536" in texts[0] and "\\u202f" not in "".join(texts[:2]) and "pagerank" in texts[1] and "srcdoc" in texts[2]


def test_previews_read_the_first_rows_alone(scratch):
    oc.import_graph([(0, 1), (1, 2), (5, 6)], "small.oc", order="input")
    graph = oc.Graph("small.oc", memory="64MiB")
    shown = Page(graph._repr_html_())
    assert shown.cells[:8] == ["image", "small.oc", "vertices", "5", "edges", "3, directed", "weights", "none"]
    groups = oc.components(graph)
    page = Page(groups._repr_html_())
    assert page.cells[:2] == ["count", "2"]
    assert page.cells[page.cells.index("vertex") :] == ["vertex", "component", "0", "0", "1", "0", "2", "0", "5", "5", "6", "5"]
    graph.close()
    assert "closed" in graph._repr_html_()
    # Ids that a column names are shown in large results too.
    count = 70_000
    oc.import_graph([(f"v{i}", f"v{i + 1}") for i in range(count)], "large.oc", attributes=True)
    graph = oc.Graph("large.oc", memory="256MiB")
    page = Page(oc.bfs(graph, "v0")._repr_html_())
    assert page.cells[page.cells.index("vertex") :][:3] == ["vertex", "level", "parent"]
    page = Page(oc.components(graph)._repr_html_())
    assert page.cells[page.cells.index("vertex") :][:2] == ["vertex", "component"] and page.cells[-1] == "v0"
    needs = oc.estimate(oc.bfs, graph, source="v0")
    assert Page(needs._repr_html_()).cells[:2] == ["memory", oc._outcore.bytes_text(needs.memory_bytes)]
    needs = oc.estimate_import([(0, 1)])
    assert "edges" in Page(needs._repr_html_()).cells


def test_previews_show_the_greatest_and_print_shows_rows(scratch):
    edges = [(f"fan{i}", "star") for i in range(30)] + [("star", "fan29")]
    graph = oc.load_graph(pd.DataFrame(edges, columns=["source", "target"]).assign(since=2024), attributes=True)
    shown = Page(graph._repr_html_()).cells
    assert shown[shown.index("attributes of edges") + 1] == "since (integer)" and "none" in shown
    ranks = oc.pagerank(graph)
    best = ranks.top(10)
    page = Page(ranks._repr_html_())
    rows = page.cells[page.cells.index("vertex") + 2 :]
    assert rows[::2] == [vertex for vertex, _ in best] and rows[0] == "star"
    assert "The 10 rows with the greatest pagerank, of 31." in page.texts["p", None]
    lines = str(ranks).splitlines()
    assert lines[0] == repr(ranks) and lines[1].split() == ["vertex", "pagerank"] and len(lines) == 13
    assert [line.split()[0] for line in lines[2:12]] == [vertex for vertex, _ in best]
    # Rows that were sorted, or chosen, come as they are.
    assert str(ranks.sort_by("vertex")).splitlines()[2].startswith("fan0 ")
    few = ranks[ranks["pagerank"] < best[1][1]]
    assert str(few).splitlines()[2].split()[0] == few.top(1)[0][0]
    levels = oc.bfs(graph, "fan3")
    assert str(levels).splitlines()[1].split() == ["vertex", "level", "parent"]
    assert {line.split()[1] for line in str(levels).splitlines()[2:12]} <= {"-", "0", "1", "2"}
    assert "The first 10 of 31 rows." in str(levels)
    assert "\u202e" not in str(oc.bfs(oc.load_graph([(HOSTILE, "b")]), "b"))


@pytest.fixture
def axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield lambda: plt.subplots()[1]
    plt.close("all")


def test_plots_show_what_was_found(scratch, axes):
    edges = [(i, j) for i in range(6) for j in range(i)] + [(10 + i, 11 + i) for i in range(0, 20, 2)] + [(0, 50)]
    oc.import_graph(edges, "g.oc", directed=False)
    graph = oc.Graph("g.oc", memory="64MiB")
    groups = oc.components(graph).plot()
    # Ten of two vertices, one of seven.
    assert dict(zip(*groups.lines[0].get_data())) == {2: 10, 7: 1}
    assert (groups.get_xlabel(), groups.get_ylabel()) == ("size of component", "groups")
    assert groups.get_title() == "Sizes of groups with one component"
    cores = oc.core_number(graph)
    profile = cores.plot(axes())
    x, y = profile.lines[0].get_data()
    values = cores["core"]
    assert list(x) == [1, 5] and list(y) == [(values >= one).sum() for one in (1, 5)] == [27, 6]
    ranks = oc.pagerank(graph)
    x, y = ranks.plot().lines[0].get_data()
    assert x[0] == 1 and y[0] == ranks["pagerank"].max() and y[-1] == ranks["pagerank"].min() and x[-1] == len(graph)
    levels = oc.bfs(graph, 0)
    bars = levels.plot()
    heights = [bar.get_height() for bar in bars.patches]
    assert heights == [1, 6]
    target = axes()
    assert levels.plot(target, kind="rank") is target
    for kind, column, said in (("sizes", "level", "names vertices"), ("rank", "parent", "kind='sizes'"), ("pie", None, "kind to be one of")):
        with pytest.raises(oc.UsageError, match=said):
            levels.plot(axes(), kind=kind, column=column)
    with pytest.raises(oc.UsageError, match="whole numbers"):
        ranks.plot(axes(), kind="counts")


def test_what_is_drawn_is_bounded_and_true(scratch, axes):
    oc.generate("kronecker", scale=15, output="k.oc")
    graph = oc.Graph("k.oc", memory="64MiB")
    degrees = oc.degree_centrality(graph)
    for kind in ("distribution", "rank", "profile"):
        drawn = degrees.plot(axes(), kind=kind)
        assert 2 <= len(drawn.lines[0].get_xdata()) <= 400 and "degree" in drawn.get_xlabel() + drawn.get_ylabel(), kind
    x, y = degrees.plot(axes()).lines[0].get_data()
    assert x[0] == 1 and y[0] == np.isclose(degrees["degree_centrality"] * (len(graph) - 1), 1).sum()
    drawn = oc.pagerank(graph).plot(axes(), kind="distribution")
    assert len(drawn.lines[0].get_xdata()) <= 400
    whole = oc.triangles(graph).plot(axes(), kind="distribution")
    values = oc.triangles(graph)["triangles"]
    x, y = whole.lines[0].get_data()
    # The first dot is that of the vertices with one triangle.
    assert x[0] == 1 and y[0] == (values == 1).sum()
    assert whole.get_title() == f"Vertices by triangles\nnot shown: {(values == 0).sum():,} vertices with triangles ≤ 0"
    # Every vertex is counted once, in bins too: counts, and no densities.
    for one in (degrees.plot(axes()), drawn):
        assert one.lines[0].get_ydata().sum() == len(graph) - (degrees["degree_centrality"] == 0).sum() * (one is not drawn)
        assert one.get_ylabel() == "vertices"
    few = oc.load_graph([(0, 1), (0, 2), (0, 3), (4, 5)], directed=False)
    for result in (oc.pagerank(few), oc.bfs(few, 0), oc.core_number(few), oc.components(few), oc.triangles(few)):
        assert result.plot(axes()).get_title(), result


def test_without_matplotlib_it_is_said_what_to_install(site, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib$"):
        oc.bfs(site, "home").plot()
