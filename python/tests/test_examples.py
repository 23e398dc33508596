"""The examples in the docstrings run, and the stubs say what the module has."""

import doctest
import inspect
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import outcore as oc
from outcore._stubs import algorithms, stubs

OBJECTS = [(name, getattr(oc, name)) for name in (*oc.__all__, *oc._OF_SCIPY, *oc._MODULES)]
OBJECTS += [(f"linalg.{name}", getattr(oc.linalg, name)) for name in oc.linalg.__all__]
OBJECTS += [(f"ml.{name}", getattr(oc.ml, name)) for name in oc.ml.__all__]
OBJECTS += [(f"array.{name}", value) for name in oc.array.__all__ if callable(value := getattr(oc.array, name))]
OBJECTS += [(f"array.random.{name}", getattr(oc.array.random, name)) for name in oc.array.random.__all__]
OBJECTS += [
    (f"{name}.{own}", value)
    for name, kind in OBJECTS
    if inspect.isclass(kind)
    for own, value in vars(kind).items()
    if getattr(value, "__doc__", None) and (not own.startswith("_") or own == "__getitem__")
]
EXAMPLES = [(name, value.__doc__) for name, value in OBJECTS if ">>>" in (value.__doc__ or "")]


@pytest.mark.parametrize("name, text", EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_example(site, name, text):
    names = {"oc": oc, "np": np, "g": site, "ranks": oc.pagerank(site), "levels": oc.bfs(site, "home")}
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), names, name, name, 0)
    told = []
    doctest.DocTestRunner().run(test, out=told.append)
    assert not told, "".join(told)


def test_there_are_examples():
    found = {name for name, _ in EXAMPLES}
    assert {"bfs", "pagerank", "components", "strong_components", "core_number", "label_propagation", "triangles", "clustering", "lcc", "scan_statistics", "estimate", "generate", "import_graph", "Graph", "Table.top", "SparseMatrix", "SparseMatrix.multiply", "import_matrix"} <= found


def test_every_public_object_is_documented():
    missing = [name for name, value in OBJECTS if not (getattr(value, "__doc__", None) or "").strip()]
    assert missing == []


def test_stubs_agree_with_the_module(scratch):
    # What scikit-learn adds to classes while they are made.
    (scratch / "allowed.txt").write_text(r"outcore\.ml\..*\.set_(fit|score)_request" "\n")
    command = [sys.executable, "-m", "mypy.stubtest", "outcore", "--allowlist", "allowed.txt"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_generated_modules_agree_with_the_declarations():
    for name, text in [("_algorithms.py", algorithms()), ("__init__.pyi", stubs())]:
        generated = pathlib.Path(oc.__file__).with_name(name).read_text()
        assert generated == text, f"{name} is out of date: run `make stubs`"


def test_the_package_is_well_typed(scratch):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--allow-any-generics", "-p", "outcore"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_has_no_faults_to_report():
    root = pathlib.Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", root]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
