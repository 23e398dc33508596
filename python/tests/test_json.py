"""The object that commands write as JSON: every command's is what the published schema says, keys and types."""

import copy
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

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
        if "properties" in part and name not in ("sweep", "input"):
            part["unevaluatedProperties"] = False
    return jsonschema.Draft202012Validator(made)


VALIDATOR = strict(SCHEMA)


def outcore(*words, cwd):
    return subprocess.run([OUTCORE, *map(str, words)], cwd=cwd, capture_output=True, text=True)


def written(*words, cwd, code=0):
    """The object that a command writes to the standard output; nothing else is there."""
    done = outcore(*words, "--json", cwd=cwd)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    made = json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    errors = [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in VALIDATOR.iter_errors(made)]
    assert not errors, (words, errors)
    assert made["command"] == words[0] and (made["error"] is None) == (code == 0)
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
    written("run", "pagerank", "g.oc", "--memory", refused["advised_bytes"], cwd=place)
    failed("run", "pagerank", "g.oc", "--output", "no/where.csv", code=6, kind="missing", os_error=2)
    assert "required" in failed("run", "bfs", "g.oc", code=2, kind="usage")["message"]
    assert "Usage" not in failed("import", "--frobnicate", code=2, kind="usage")["message"]
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


def test_a_command_that_is_stopped_says_so(place):
    assert outcore("generate", "kronecker", "big.oc", "--scale", "15", cwd=place).returncode == 0
    command = [OUTCORE, "run", "pagerank", "big.oc", "--tol", "0", "--max-iter", "100000000", "--json"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        made = json.loads(process.communicate()[0])
    VALIDATOR.validate(made)
    assert process.returncode == 143 and (made["error"]["kind"], made["error"]["exit_code"]) == ("interrupted", 143)


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
