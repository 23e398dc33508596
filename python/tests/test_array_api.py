"""The names of the array API; and its test suite, where OUTCORE_ARRAY_API_TESTS says the folder of it."""

import inspect
import os
import pathlib
import subprocess
import sys

import array_api_strict as strict
import numpy as np
import pytest

import outcore as oc

xp = oc.array
HERE = pathlib.Path(__file__).resolve()
# docs/arrays.md says why.
MISSING = {
    "argsort", "sort", "nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values", "complex64", "complex128",
}  # fmt: skip


def names():
    own = {name for name in strict.__all__ if not name.startswith("_") and "strict" not in name and "Flags" not in name}
    return sorted(own - {"Device", "set_array_api_strict_flags", "get_array_api_strict_flags", "reset_array_api_strict_flags"})


@pytest.mark.parametrize("name", names())
def test_every_name_is_there_or_known_to_be_missing(name):
    if name in MISSING or inspect.ismodule(getattr(strict, name)):
        assert not hasattr(xp, name)
        return
    assert hasattr(xp, name) and name in xp.__all__
    if not inspect.isfunction(getattr(strict, name)):
        return
    wanted = inspect.signature(getattr(strict, name)).parameters
    found = inspect.signature(getattr(xp, name)).parameters
    assert [one for one in wanted if one not in found] == []


def test_all_that_is_said_to_be_there_is():
    assert [name for name in xp.__all__ if not hasattr(xp, name)] == []
    assert set(xp.random.__all__) <= set(dir(xp.random))


def test_what_the_namespace_says_of_itself():
    info = xp.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 16}
    assert info.default_device() in info.devices()
    assert info.dtypes(kind="real floating") == {"float32": np.float32, "float64": np.float64}
    assert xp.ones(2).__array_namespace__(api_version="2024.12") is xp
    with pytest.raises(oc.UsageError, match="2024.12"):
        xp.ones(2).__array_namespace__(api_version="2019.01")
    assert xp.zeros((1,) * 16).ndim == 16
    with pytest.raises(oc.UsageError, match="16 axes"):
        xp.zeros((1,) * 17)


def test_types():
    assert xp.result_type(xp.int8, xp.uint8) == xp.int16 and xp.result_type(xp.ones(1, dtype="float32"), 1.0) == xp.float32
    assert xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.float64, xp.float32)
    assert xp.isdtype(xp.uint8, "integral") and xp.isdtype(xp.bool, ("bool", xp.int8))
    assert xp.finfo(xp.float32).eps == np.finfo("float32").eps and xp.iinfo(xp.ones(1, dtype="int8")).min == -128
    with pytest.raises(TypeError):
        xp.zeros(3, dtype="complex128")


@pytest.mark.skipif("OUTCORE_ARRAY_API_TESTS" not in os.environ, reason="the suite is somebody else's, and not in here")
def test_suite():
    environment = os.environ | {
        "ARRAY_API_TESTS_MODULE": "outcore.array",
        "ARRAY_API_TESTS_VERSION": "2025.12",
        "ARRAY_API_TESTS_MAX_ARRAY_SIZE": "64",
        "ARRAY_API_TESTS_SKIP_DTYPES": "complex64,complex128",
        "PYTHONPATH": os.pathsep.join([str(pathlib.Path(oc.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]),
    }
    command = [
        sys.executable, "-m", "pytest", "-q", "array_api_tests", "--max-examples=20", "--disable-deadline", "--derandomize",
        "--disable-data-dependent-shapes", "--disable-extension", "linalg", "fft",
        f"--xfails-file={HERE.with_name('array_api_xfails.txt')}",
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=os.environ["OUTCORE_ARRAY_API_TESTS"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:]
