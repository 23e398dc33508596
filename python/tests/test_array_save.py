"""Arrays in files of NumPy's and in tables, with NumPy and pyarrow as oracles."""

import io
import subprocess
import sys

import numpy as np
import pytest

import outcore as oc
import outcore.array as xp

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
ROWS = 70_000


def numbers(dtype, shape):
    """Numbers of which every bit counts."""
    count = int(np.prod(shape))
    bits = np.random.default_rng(1).integers(0, 256, count * np.dtype(dtype).itemsize, np.uint8)
    return (bits % 2 if dtype == "bool" else bits).view(dtype).reshape(shape)


def same(found, expected):
    return found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", TYPES)
def test_files_of_numpys_have_all_bits(dtype, tmp_path):
    x = numbers(dtype, (ROWS, 3))
    image = xp.persist(tmp_path / "x.oc", x)
    for threads in (1, 2):
        for array in (x, image):
            xp.save(tmp_path / "y.npy", array, threads=threads)
            found = np.load(tmp_path / "y.npy")
            assert same(found, x) and found.flags.c_contiguous
    # What is read along its last axis lies by columns.
    image.T.save(tmp_path / "t.npy")
    found = np.load(tmp_path / "t.npy")
    assert same(found, x.T) and found.flags.f_contiguous
    # As NumPy writes it, but for the spaces of its head.
    expected = io.BytesIO()
    np.save(expected, x)
    found = (tmp_path / "y.npy").read_bytes()
    assert len(found) % 64 == len(expected.getvalue()) % 64 and found[-x.nbytes :] == expected.getvalue()[-x.nbytes :]


@pytest.mark.parametrize("shape", [(), (0,), (1,), (5000,), (0, 3), (3, 0), (1, 4), (600, 1), (3, 2000), (900, 2, 3),
                                   (2, 3, 900), (0, 2, 3)])  # fmt: skip
def test_files_of_all_shapes(shape, tmp_path):
    x = numbers("int32", shape)
    for array, expected in [(xp.asarray(x), x), (xp.asarray(x) + np.int32(1), x + np.int32(1)), (xp.asarray(x).T, x.T)]:
        xp.save(tmp_path / "x.npy", array)
        assert same(np.load(tmp_path / "x.npy"), expected)
    assert [one.name for one in tmp_path.iterdir()] == ["x.npy"]


@pytest.mark.parametrize("dtype", TYPES)
def test_tables_keep_types(dtype, tmp_path):
    pq, feather = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.feather")
    x = numbers(dtype, (9000, 2)) if dtype[0] != "f" else np.random.default_rng(2).normal(size=(9000, 2)).astype(dtype)
    xp.save(tmp_path / "x.parquet", x, names=["a", "b"])
    xp.save(tmp_path / "x.arrow", x)
    parquet, arrow = pq.read_table(tmp_path / "x.parquet"), feather.read_table(tmp_path / "x.arrow")
    assert parquet.column_names == ["a", "b"] and arrow.column_names == ["x0", "x1"]
    for table in (parquet, arrow):
        assert [str(kind) for kind in table.schema.types] == [{"float32": "float", "float64": "double"}.get(dtype, dtype)] * 2
        for place in range(2):
            assert same(table.column(place).to_numpy(), x[:, place].copy())
    xp.save(tmp_path / "x.csv", x[:50, 0].copy(), names=["a"])
    lines = (tmp_path / "x.csv").read_text().split()
    assert lines[0] == "a" and len(lines) == 51
    read = [line == "true" for line in lines[1:]] if dtype == "bool" else [x.dtype.type(line) for line in lines[1:]]
    assert same(np.array(read, dtype), x[:50, 0].copy())


def test_names_of_columns_go_and_come_back(tmp_path):
    x = xp.persist(tmp_path / "x.oc", np.arange(12.0).reshape(6, 2), names=["price", "area"])
    x.save(tmp_path / "x.parquet")
    back = xp.from_columns(tmp_path / "x.parquet", tmp_path / "y.oc")
    assert back.names == ["price", "area"] and same(back.compute(), x.compute())
    for path, array, names, text in [
        ("x.parquet", x, ["a"], "expected 2 names of columns, found 1"),
        ("x.parquet", x, ["a", "a"], "columns of different names"),
        ("x.xlsx", x, None, "ends in one of .parquet"),
        ("x.csv", np.ones((2, 2, 2)), None, "expected a vector or a matrix for a table"),
        ("x.csv", 3.0, None, "expected a vector or a matrix for a table"),
    ]:
        with pytest.raises(oc.UsageError, match=text):
            xp.save(tmp_path / path, array, names=names)
    with pytest.raises(TypeError, match="expected a path"):
        xp.save(3, x)
    with pytest.raises(OSError):
        xp.save(tmp_path / "none" / "x.npy", x)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["x.oc", "x.parquet", "y.oc"]


def test_a_file_is_replaced_when_the_new_one_is_complete(tmp_path):
    x = numbers("float64", (ROWS, 3))
    np.save(tmp_path / "x.npy", x)
    lazy = xp.open(tmp_path / "x.npy")
    # Even by what is read from it.
    xp.save(tmp_path / "x.npy", lazy[::-1])
    assert same(np.load(tmp_path / "x.npy"), x[::-1])
    labels = np.zeros(ROWS, int)
    labels[-1] = 7
    labels = xp.persist(tmp_path / "labels.oc", labels)
    for name in ("x.npy", "x.parquet", "x.csv"):
        before = (tmp_path / "x.npy").read_bytes()
        with pytest.raises(IndexError, match="found 7"):
            xp.save(tmp_path / name, xp.take(np.arange(5.0), labels))
        assert (tmp_path / "x.npy").read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["labels.oc", "x.npy"]


LIMITED = """
import numpy as np, outcore as oc, resource, sys
MIB = 1 << 20
def held(name):
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(name))
x = oc.array.random.integers(-2**62, 2**62, (3_200_000, 8), seed=1)
oc.array.persist("x.oc", x, memory="32MiB")
def work(limit):
    array = oc.array.open("x.oc", memory=limit)
    oc.array.save("x.npy", array - 1)
work("64MiB")
start = held("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
work("48MiB")
print((held("VmHWM") - start) / MIB)
found = np.load("x.npy", mmap_mode="r")
assert found.dtype == np.int64
np.testing.assert_array_equal(found, oc.array.open("x.oc").compute() - 1)
# A disk that is full: files may not grow beyond a limit.
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50 * MIB, 50 * MIB))
before = found[:1000].tobytes()
try:
    oc.array.save("x.npy", oc.array.open("x.oc"))
except OSError as error:
    print("OSError")
assert np.load("x.npy", mmap_mode="r")[:1000].tobytes() == before
"""


def test_a_file_four_times_the_limit_and_a_full_disk(tmp_path):
    code = [sys.executable, "-c", LIMITED]
    done = subprocess.run(code, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    peak, error = done.stdout.split()
    assert float(peak) <= 48 and error == "OSError"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["x.npy", "x.oc"]
