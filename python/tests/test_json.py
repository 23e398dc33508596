"""The object that commands write as JSON: every command's is what the published schema says, keys and types."""

import copy
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess

import numpy as np
import pytest

import outcore as oc

jsonschema = pytest.importorskip("jsonschema")

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
pytestmark = pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / "docs/reference/outcore.schema.json").read_text())
LIMITS = ["--memory", "96MiB", "--threads", "2"]
# What runs need beside an image: options of the names that have such.
NEEDED = {
    "--source": "0", "--sources": "0,1", "--personalization": "0", "--vertices": "0,1", "--by": "factor.npy",
    "--rhs": "right.npy", "--k": "2", "--target": "kind",
}  # fmt: skip


def strict(schema):
    """The schema that accepts only the keys that it names: the published one lets later versions add some."""
    made = copy.deepcopy(schema)
    made["unevaluatedProperties"] = False
    for name, part in made["$defs"].items():
        # Parts of others, and what is named by algorithms.
        if "properties" in part and name not in ("sweep", "input", "import_estimate"):
            part["unevaluatedProperties"] = False
    return jsonschema.Draft202012Validator(made)


VALIDATOR = strict(SCHEMA)


def outcore(*words, cwd, file_bytes=None):
    """Runs a command, which writes no file of more than `file_bytes`."""
    limit = None if file_bytes is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    return subprocess.run([OUTCORE, *map(str, words)], cwd=cwd, capture_output=True, text=True, preexec_fn=limit)


def written(*words, cwd, code=0, file_bytes=None):
    """The object that a command writes to the standard output; nothing else is there."""
    done = outcore(*words, "--json", cwd=cwd, file_bytes=file_bytes)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    made = json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    errors = [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in VALIDATOR.iter_errors(made)]
    assert not errors, (words, errors)
    assert made["command"] == words[0] and (made["error"] is None) == (code == 0)
    if code not in (0, 2):
        assert f"outcore: {made['error']['message']}\n" in done.stderr and made["error"]["exit_code"] == code
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made["started"])
    return made


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a graph, a symmetric matrix and an array, in several formats."""
    folder = tmp_path_factory.mktemp("json")
    rng = np.random.default_rng(3)
    lines = [f"{source},{target}" for source, target in rng.integers(0, 60, (400, 2))]
    (folder / "e.csv").write_text("a,b\n" + "\n".join(lines) + "\n")
    for words in (["e.csv", "g.oc", "--undirected"], ["e.csv", "d.oc"]):
        assert outcore("import", *words, cwd=folder).returncode == 0
    dense = rng.normal(size=(30, 30))
    dense = dense @ dense.T + 30 * np.eye(30)
    np.save(folder / "factor.npy", np.ones((30, 2)))
    np.save(folder / "right.npy", np.ones(30))
    rows = "".join(f"{i},{j},{abs(dense[i, j])}\n" for i in range(30) for j in range(30))
    (folder / "m.csv").write_text("i,j,value\n" + rows)
    assert outcore("import", "m.csv", "m.oc", "--as", "matrix", "--shape", "30x30", "--weight", "value", cwd=folder).returncode == 0
    kinds = rng.integers(0, 2, 200)
    numbers = np.column_stack([rng.normal(size=(200, 2)) + kinds[:, None], kinds])
    np.save(folder / "t.npy", numbers)
    oc.array.persist(folder / "t.oc", numbers, names=["x", "y", "kind"])
    return folder


def runs():
    """Everything that `outcore run` runs, with its input and the options that it needs."""
    if OUTCORE is None:
        return []
    helped = lambda *words: subprocess.run([OUTCORE, "run", *words, "--help"], capture_output=True, text=True).stdout
    found = []
    for name in re.findall(r"^  ([a-z][a-z0-9-]+)\b", helped(), re.MULTILINE):
        if name == "help":
            continue
        usage = re.search(r"Usage: .*", helped(name))[0]
        options = [word for option in re.findall(r"(--[a-z-]+) <", usage) for word in (option, NEEDED[option])]
        is_solver = name in {solver["name"].replace("_", "-") for solver in oc._outcore.solvers()}
        found.append((name, "t.oc" if "<ARRAY>" in usage else "m.oc" if is_solver else "g.oc", options))
    assert len(found) > 40, found
    return found


@pytest.mark.parametrize(("name", "image", "options"), runs())
def test_runs_write_what_they_found(place, name, image, options):
    made = written("run", name, image, *options, *LIMITS, cwd=place)
    assert made["name"] == name.replace("-", "_") and made["image"]["path"] == image
    assert re.fullmatch("[0-9a-f]{16}", made["image"]["id"]) and made["stats"]["memory_limit_bytes"] == 96 << 20
    assert made["options"]["memory"] == {"value": 96 << 20, "given": True}
    declared = oc._declared.DECLARED.get(made["name"])
    if declared is not None:
        names = {name for name, *_ in declared["attributes"]}
        assert names | {"largest"} == made["result"].keys() | {"largest"}
    else:
        assert made["result"]
    planned = written("run", name, image, *options, *LIMITS, "--explain", cwd=place)
    assert planned["plan"]["memory_bytes"] > 0 and planned["result"] is None and planned["stats"] is None


def test_results_are_those_of_python(place):
    graph = oc.Graph(place / "g.oc")
    ranks, made = oc.pagerank(graph, tol=1e-6), written("run", "pagerank", "g.oc", "--tol", "1e-6", cwd=place)
    assert made["result"] == {"iterations": ranks.iterations, "residual": ranks.residual, "converged": True, "stopped_by": "residual"}
    assert made["options"]["tol"] == {"value": 1e-6, "given": True} and not made["options"]["alpha"]["given"]
    parts = oc.connected_components(graph)
    made = written("run", "components", "g.oc", "--output", "c.csv", cwd=place)
    assert made["result"] == {"count": parts.count, "largest": parts.sizes(1)[0][1]} and made["name"] == "connected_components"
    assert made["files"] == [{"option": "output", "path": "c.csv"}]
    path = oc.bfs(graph, 0, target=1).path
    made = written("run", "bfs", "g.oc", "--source", "0", "--target", "1", cwd=place)
    assert made["result"]["path"] == (None if path is None else {"edges": len(path) - 1})
    facts = written("run", "cov", "t.npy", cwd=place)["result"]
    np.testing.assert_allclose(facts["covariance"], np.cov(np.load(place / "t.npy").T))
    solved = written("run", "cg", "m.oc", "--rhs", "right.npy", cwd=place)["result"]
    assert solved["converged"] and solved["residual"] <= solved["residual_bound"] and solved["stopped_by"] == "residual"


def test_imports_checks_and_infos_write_what_they_did(place):
    (place / "more.csv").write_text("source,target,c\n1,2,3\n2,3,4")
    made = written("import", "more.csv", "i.oc", "--replace", "--where", "source >= 1", "--report", "i.html", cwd=place)
    assert (made["result"]["edges"], made["result"]["file_edges"]) == (2, [2]) and made["stats"]["seconds"] > 0
    assert made["result"]["columns_not_read"] == ["c"] and any("end of line" in note for note in made["notes"]), made["notes"]
    assert made["options"]["where"] == {"value": ["source >= 1"], "given": True} and made["files"][0]["option"] == "report"
    assert made["options"]["paths"]["value"] == ["more.csv", "i.oc"]
    planned = written("import", "more.csv", "j.oc", "--explain", cwd=place)
    assert planned["plan"]["image_bytes"] > 0 and planned["result"] is None and not (place / "j.oc").exists()
    whole, told = written("check", "i.oc", cwd=place), written("info", "i.oc", cwd=place)
    assert whole["result"]["edges"] == told["result"]["edges"] == 2
    assert whole["image"] == told["image"] == made["image"] == {"path": "i.oc", "id": made["image"]["id"]}
    assert written("info", "i.oc", "--quiet", cwd=place)["result"] == told["result"]
    # Keys without a value are null.
    assert (made["result"]["compression"], made["result"]["first_comment"], made["result"]["images_read"]) == (None, None, None)
    (place / "m.jsonl").write_text('{"source": 1, "target": 2}\n')
    lines = written("import", "m.jsonl", "l.oc", cwd=place)["result"]
    assert lines.keys() == made["result"].keys() and lines["separator"] is lines["header"] is None
    assert '"separator":null' not in (place / "l.oc" / "manifest.json").read_text().replace(" ", "")


def test_a_run_notes_weights_that_it_does_not_use(place):
    (place / "w.csv").write_text("source,target,amount\n1,2,3\n2,3,4\n")
    assert outcore("import", "w.csv", "w.oc", "--weight", "amount", cwd=place).returncode == 0
    notes = ["Every edge counts 1: its weight, `amount`, is not used; the option `weight` uses it."]
    assert written("run", "pagerank", "w.oc", "--quiet", cwd=place)["notes"] == notes
    for words in (["pagerank", "--weight", "amount"], ["pagerank", "--unweighted"], ["components"]):
        assert written("run", *words, "w.oc", cwd=place)["notes"] == [], words
    array = written("import", "t.npy", "a.oc", "--as", "array", "--stats", "a.json", cwd=place)
    assert (array["result"]["rows"], array["result"]["columns"]) == (200, 3)
    assert json.loads((place / "a.json").read_text())["result"] == array["result"]
    assert written("check", "a.oc", cwd=place)["image"] == written("info", "a.oc", cwd=place)["image"] == array["image"]
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({"x": [1.0, 2.0]}), place / "p.parquet")
    for name in ("t.npy", "more.csv", "p.parquet"):
        assert written("info", name, cwd=place)["image"] == {"path": name, "id": None}


def test_files_of_statistics_have_the_same_object(place):
    beside = written("run", "pagerank", "g.oc", "--stats", "s.json", *LIMITS, cwd=place)
    alone = json.loads((place / "s.json").read_text())
    VALIDATOR.validate(alone)
    assert beside["result"] == alone["result"] and beside["options"] == alone["options"]
    assert beside["files"] == alone["files"] == [{"option": "stats", "path": "s.json"}]
    there = json.loads(outcore("run", "pagerank", "g.oc", "--stats", "-", *LIMITS, cwd=place).stdout)
    assert there["result"] == alone["result"]


def test_errors_have_their_fields(place):
    def failed(*words, code, kind, **fields):
        error = written(*words, cwd=place, code=code)["error"]
        assert (error["kind"], error["exit_code"]) == (kind, code) and error["message"]
        assert {key: error.get(key) for key in fields} == fields, error
        return error

    (place / "bad.csv").write_text("a,b\n1,2\nx y z\n")
    failed("info", "none.oc", code=6, kind="missing", path="none.oc")
    failed("run", "pagerank", "none.oc", code=6, kind="missing", path="none.oc")
    failed("import", "bad.csv", "b.oc", code=5, kind="input", path="bad.csv", line=3)
    failed("import", "e.csv", "g.oc", code=7, kind="exists", path="g.oc", is_image=True)
    failed("run", "bfs", "g.oc", "--source", "1234", code=8, kind="no_vertex", id="1234", path="g.oc")
    refused = failed("run", "pagerank", "g.oc", "--memory", "10MiB", code=9, kind="memory", limit_bytes=10 << 20)
    assert refused["advised_bytes"] > refused["limit_bytes"] and refused["needed_bytes"] > refused["available_bytes"]
    assert all(holder["name"] and holder["bytes"] > 0 for holder in refused["holders"])
    written("run", "pagerank", "g.oc", "--memory", refused["advised_bytes"], cwd=place)
    failed("run", "pagerank", "g.oc", "--output", "no/where.csv", code=6, kind="missing", os_error=2)
    assert "required" in failed("run", "bfs", "g.oc", code=2, kind="usage")["message"]
    assert "Usage" not in failed("import", "--frobnicate", code=2, kind="usage")["message"]
    unread = failed("run", "pagerank", "g.oc", "--memory", "much", code=2, kind="usage")["message"]
    assert unread.startswith("invalid value 'much'") and unread.endswith("found `much`")
    unconverged = written("run", "pagerank", "g.oc", "--max-iter", "1", cwd=place, code=4)
    assert unconverged["error"]["kind"] == "not_converged" and unconverged["result"]["converged"] is False
    unsolved = written("run", "cg", "m.oc", "--rhs", "right.npy", "--maxiter", "1", "--rtol", "1e-14", cwd=place, code=4)
    assert unsolved["result"]["iterations"] == 1 and "values" not in unsolved["result"]
    shutil.copytree(place / "g.oc", place / "hurt.oc", dirs_exist_ok=True)
    pages = max((place / "hurt.oc").iterdir(), key=lambda file: file.stat().st_size)
    damaged = bytearray(pages.read_bytes())
    damaged[100] ^= 1
    pages.write_bytes(damaged)
    assert isinstance(failed("check", "hurt.oc", code=12, kind="damaged")["offset_bytes"], int)


def numbers(part):
    parts = part.values() if isinstance(part, dict) else part if isinstance(part, list) else [part]
    return [part] if isinstance(part, int | float) else [number for one in parts if one is not part for number in numbers(one)]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "components", "g.oc", "--output", "c.parquet", "--verify"],
        ["run", "pagerank", "g.oc"],
        ["run", "svds", "m.oc", "--k", "2", "--output", "u.npy", "--right", "v.parquet", "--verify"],
        ["run", "multiply", "m.oc", "--by", "factor.npy", "--output", "y.npy"],
        ["run", "kmeans", "t.npy", "--n-clusters", "2", "--output", "l.csv"],
        ["import", "days", "n.oc"],
    ],
)
def test_plans_have_all_that_explain_says(place, words):
    (place / "days").mkdir(exist_ok=True)
    for name in ("monday.csv", "monday.csv.bak"):
        shutil.copy(place / "e.csv", place / "days" / name)
    made = written(*words, "--explain", "--memory", "128MiB", cwd=place)
    lines = outcore(*words, "--explain", "--memory", "128MiB", cwd=place).stdout.splitlines()
    plan, notes = made["plan"], [line.split(maxsplit=1)[1] for line in lines if line.startswith("note ")]
    known = {oc._outcore.bytes_text(int(number)) for number in numbers(plan)}
    assert made["notes"] == notes and len(lines) > 2
    for line in lines:
        sizes = re.findall(r"[0-9.]+ (?:bytes|[KMG]iB)", line)
        if line.startswith("memory"):
            # The process holds a little more or less at its start.
            limit = oc._outcore.parse_bytes(sizes.pop(0))
            assert abs(limit - plan["memory_bytes"]) < 1 << 20, (line, plan)
        assert line.startswith("note ") or known.issuperset(sizes), (line, plan)
    text = "\n".join(lines)
    if words[0] == "import":
        assert notes and plan["format"] in text and f"about {plan['edges']}" in text
        return
    assert plan["passes_text"] is None or f"passes   {plan['passes_text']}\n" in text
    assert plan["rows"] is None or f"{plan['rows']} " in text and f" {plan['columns']} " in text.replace(",", " ")
    assert plan["columns_per_pass"] is None or f"multiply {plan['columns_per_pass']} columns per pass" in text
    given = dict(zip(words[::2], words[1::2], strict=False)) | dict(zip(words[1::2], words[2::2], strict=False))
    outputs = {f"--{output['option']}": output["path"] for output in plan["outputs"]}
    assert outputs == {option: file for option, file in given.items() if option in ("--output", "--right")}
    assert (plan["verify_bytes"] is not None) == ("--verify" in words)
    written(*words, "--memory", plan["memory_bytes"] + (1 << 19), cwd=place)


def test_a_command_that_fails_writes_what_it_knows(place):
    """The plan, the result, and the files that were there by then; the error is that of the standard error."""
    np.save(place / "tall.npy", np.random.default_rng(1).normal(size=(20_000, 2)))
    page = written("run", "components", "g.oc", "--output", "c.csv", "--report", "c.html", cwd=place, code=10, file_bytes=50_000)
    assert page["files"] == [{"option": "output", "path": "c.csv"}] and page["error"]["path"] == "c.html"
    assert page["result"]["largest"] > 0 and page["stats"]["memory_peak_bytes"] > 0 and page["plan"]["outputs"]
    model = ["run", "kmeans", "tall.npy", "--n-clusters", "2", "--output", "labels.csv"]
    full = written(*model, "--stats", "labels.json", cwd=place, code=10, file_bytes=50_000)
    assert full["result"]["cluster_centers"] and full["image"]["path"] == "tall.npy" and not (place / "labels.csv").exists()
    # A fit may have taken hours: its numbers are not lost with its rows.
    alone = json.loads((place / "labels.json").read_text())
    VALIDATOR.validate(alone)
    assert (alone["result"], alone["error"]) == (full["result"], full["error"])
    assert alone["files"] == full["files"] == [{"option": "stats", "path": "labels.json"}]
    solved = ["run", "cg", "m.oc", "--rhs", "right.npy", "--output", "x.csv", "--stats", "x.json"]
    full = written(*solved, cwd=place, code=10, file_bytes=100)
    assert full["result"]["converged"] and full["files"] == [] and full["image"]["id"] and full["plan"]["rows"] == 30
    made = written("import", "e.csv", "late.oc", "--report", "late.html", cwd=place, code=10, file_bytes=50_000)
    assert made["plan"]["format"] and made["image"] is made["result"] is None and made["files"] == []
    assert not list(place.glob(".*.outcore-partial"))
    absent = written("run", "bfs", "g.oc", "--source", "1234", cwd=place, code=8)
    assert absent["image"]["path"] == "g.oc"


def test_the_standard_output_takes_one_thing(place):
    for words in (
        ["pagerank", "g.oc", "--output", "-"],
        ["eigsh", "m.oc", "--k", "2", "--output", "-"],
        ["eigsh", "m.oc", "--k", "2", "--values", "-.jsonl"],
        ["kmeans", "t.npy", "--n-clusters", "2", "--output", "-"],
    ):
        option, file = words[-2:]
        message = written("run", *words, cwd=place, code=2)["error"]["message"]
        assert message == f"expected different places for {option} and --json, found the standard output for both"
        assert f"{option} and --stats" in outcore("run", *words, "--stats", "-", cwd=place).stderr, words
        alone = outcore("run", *words, cwd=place)
        assert alone.returncode == 0 and "peak memory" in alone.stderr and "peak memory" not in alone.stdout, words
    both = outcore("run", "eigsh", "m.oc", "--k", "2", "--output", "-", "--values", "-.jsonl", cwd=place)
    assert both.returncode == 2 and "--output and --values" in both.stderr
    for words in (["run", "pagerank", "g.oc"], ["import", "e.csv", "twice.oc"]):
        page = written(*words, "--report=-.html", cwd=place, code=2)
        assert "--report and --json" in page["error"]["message"] and not (place / "twice.oc").exists()


def test_a_command_that_is_stopped_says_so(place):
    assert outcore("generate", "kronecker", "big.oc", "--scale", "15", cwd=place).returncode == 0
    command = [OUTCORE, "run", "pagerank", "big.oc", "--tol", "0", "--max-iter", "100000000", "--json", "--progress", "json"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert json.loads(process.stderr.readline())["event"] == "start"
        process.send_signal(signal.SIGTERM)
        made = json.loads(process.communicate()[0])
    VALIDATOR.validate(made)
    assert process.returncode == 143 and (made["error"]["kind"], made["error"]["exit_code"]) == ("interrupted", 143)
    assert made["image"]["path"] == "big.oc" and made["plan"]["memory_bytes"] > 0 and made["files"] == []


def test_the_test_refuses_what_the_schema_does_not_name(place):
    made = written("run", "pagerank", "g.oc", cwd=place)
    for change in (lambda: made.update(new=1), lambda: made["stats"].update(new=1), lambda: made["image"].update(new=1)):
        before = copy.deepcopy(made)
        change()
        assert list(VALIDATOR.iter_errors(made)), made.keys()
        jsonschema.Draft202012Validator(SCHEMA).validate(made)
        made = before


def test_texts_and_numbers_that_json_lacks(tmp_path):
    """Ids are texts, and what is not finite is null."""
    np.save(tmp_path / "n.npy", np.array([[1.0, np.nan], [2.0, 3.0]]))
    made = written("run", "describe", "n.npy", cwd=tmp_path)
    assert "NaN" not in json.dumps(made)
    (tmp_path / "e.txt").write_text("9007199254740993 9007199254740995\n")
    assert written("import", "e.txt", "g.oc", cwd=tmp_path)["result"]["first_edges"][0][0] == "9007199254740993"
    (tmp_path / "e.txt").write_text(f"ada {'b' * 70}\n")
    made = written("import", "e.txt", "s.oc", cwd=tmp_path)
    assert made["result"]["first_edges"] == [["ada", "b" * 70, None]]
