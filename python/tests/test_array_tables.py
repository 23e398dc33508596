"""Tables as arrays: what NumPy, pandas and pyarrow read of the same file."""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

import outcore as oc

xp = oc.array


def outcore(*arguments, **options):
    command = os.environ.get("OUTCORE") or shutil.which("outcore")
    if command is None:
        pytest.skip("the outcore command is absent (OUTCORE says where it is)")
    return subprocess.run([command, *map(str, arguments)], capture_output=True, **options)


def same(array, expected):
    values = array.compute()
    assert array.shape == values.shape == expected.shape and values.dtype == expected.dtype
    assert values.tobytes() == np.ascontiguousarray(expected).tobytes()


def table(rows, seed=1):
    """Columns of several types, some values of which are missing, and of words."""
    rng = np.random.default_rng(seed)
    return pa.table({
        "word": pa.array([f"w{i % 7}" for i in range(rows)]),
        "small": pa.array(rng.integers(-9, 9, rows), pa.int8()),
        "real": pa.array(rng.normal(size=rows), mask=rng.random(rows) < 0.1),
        "yes": pa.array(rng.random(rows) < 0.5),
        "wide": pa.array(rng.integers(0, 2**40, rows), pa.uint64()),
    })


def write(path, data):
    kind = path.suffix
    if kind == ".parquet":
        pa.parquet.write_table(data, path, row_group_size=700)
    elif kind == ".csv":
        pa.csv.write_csv(data, path)
    elif kind == ".arrows":
        with pa.ipc.new_stream(str(path), data.schema) as stream:
            stream.write_table(data, max_chunksize=600)
    else:
        pa.feather.write_feather(data, str(path), compression="zstd", chunksize=900)


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".arrow", ".arrows"])
@pytest.mark.parametrize("rows", [1, 5000])
def test_files_are_what_pyarrow_reads(scratch, ending, rows):
    data = table(rows)
    path = scratch / f"table{ending}"
    write(path, data)
    expected = np.column_stack([data[name].to_numpy() for name in ("small", "real", "wide")]).astype(np.float64)
    for threads in (1, 3):
        array = xp.from_columns(path, "x.oc", replace=True, threads=threads)
        assert array.names == ["small", "real", "wide"]
        same(array, expected)
    array = xp.from_columns(path, "y.oc", columns=["wide", "yes", "2"], dtype="int64")
    assert array.names == ["wide", "yes", "small"]
    same(array, np.column_stack([data["wide"], data["yes"], data["small"]]).astype(np.int64))
    same(array["small"], data["small"].to_numpy().astype(np.int64))
    same(array[["small", "wide"]], np.column_stack([data["small"], data["wide"]]).astype(np.int64))
    assert oc.array.open("y.oc").names == array.names and array[:, 0].names is None
    assert array[["small", "wide"]][["wide"]].names == ["wide"] and (array + 1).names is None
    same(xp.from_columns(path, "z.oc", columns="yes"), data["yes"].to_numpy()[:, None])


def test_tables_without_rows(scratch):
    for ending in (".parquet",):
        write(scratch / f"none{ending}", table(5).slice(0, 0))
        array = xp.from_columns(f"none{ending}", f"none{ending}.oc")
        assert array.shape == (0, 3) and array.dtype == np.float64
    pathlib.Path("none.csv").write_text("a,b\n")
    with pytest.raises(oc.InputError, match="columns of numbers"):
        xp.from_columns("none.csv", "none.oc")
    assert xp.from_columns("none.csv", "none.oc", columns=["b", "a"]).shape == (0, 2)
    pathlib.Path("empty.csv").write_text("")
    with pytest.raises(oc.InputError, match="no lines"):
        xp.from_columns("empty.csv", "empty.oc")
    assert not pathlib.Path("empty.oc").exists()


def test_arrow_without_batches_has_its_schema(scratch):
    """A stream that breaks off behind its schema is no end."""
    empty = pa.table({"a": pa.array([], pa.int16()), "b": pa.array([], pa.int16())})
    for ending in (".arrow", ".arrows"):
        path = scratch / f"none{ending}"
        with pa.OSFile(str(path), "wb") as sink:
            (pa.ipc.new_file if ending == ".arrow" else pa.ipc.new_stream)(sink, empty.schema).close()
        array = xp.from_columns(path, scratch / "none.oc", replace=True)
        assert (array.shape, array.dtype) == ((0, 2), np.dtype(np.int16))
        (scratch / f"cut{ending}").write_bytes(path.read_bytes()[:-9])
        with pytest.raises(oc.OutcoreError):
            xp.from_columns(scratch / f"cut{ending}", scratch / "none.oc", replace=True)
    graph = pa.table({"source": pa.array([], pa.int64()), "target": pa.array([], pa.int64())})
    with pa.OSFile(str(scratch / "graph.arrows"), "wb") as sink:
        pa.ipc.new_stream(sink, graph.schema).close()
    oc.import_graph(scratch / "graph.arrows", scratch / "graph.oc")
    assert oc.Graph(scratch / "graph.oc").number_of_edges() == 0


def test_types_are_promoted_as_by_the_array_api(scratch):
    pairs = (("int8", "uint8"), ("int8", "int16"), ("uint8", "uint32"), ("float32", "float64"))
    for types in (*pairs, ("float32",), ("uint64",)):
        data = {f"c{place}": np.arange(3).astype(dtype) for place, dtype in enumerate(types)}
        array = xp.from_columns(pa.table(data), "x.oc", replace=True)
        assert array.dtype == xp.result_type(*map(np.dtype, types))
        same(array, np.column_stack(list(data.values())).astype(array.dtype))


def test_tables_in_memory(scratch):
    pandas, polars, duckdb = (pytest.importorskip(name) for name in ("pandas", "polars", "duckdb"))
    data = table(3000)
    expected = np.column_stack([data[name].to_numpy() for name in ("small", "real", "wide")]).astype(np.float64)
    frame = data.to_pandas()
    relation = duckdb.connect().from_arrow(data)
    for given in (data, frame, polars.from_arrow(data), relation, data.to_reader(), frame.set_index("word")):
        array = xp.from_columns(given, "x.oc", replace=True)
        assert array.names == ["small", "real", "wide"]
        same(array, expected)
    with pytest.raises(TypeError, match="found ndarray"):
        xp.from_columns(np.eye(2), "x.oc")
    with pytest.raises(TypeError, match="delimiter|text in columns"):
        xp.from_columns(data, "x.oc", delimiter=1)


def test_a_frame_without_pyarrow(scratch):
    program = """
import sys
sys.modules["pyarrow"] = None
import numpy as np, outcore as oc, pandas as pd
del sys.modules["pyarrow"]
frame = pd.DataFrame({"a": np.arange(5, dtype="float32"), "b": list("abcde"), "c": np.arange(5, dtype="int8")})
array = oc.array.from_columns(frame, "x.oc")
assert array.names == ["a", "c"] and array.dtype == np.float32, (array.names, array.dtype)
assert (array.compute() == frame[["a", "c"]].to_numpy()).all()
"""
    pytest.importorskip("pandas")
    subprocess.run([sys.executable, "-c", program], check=True)


TEXTS = {
    "whole": ("1,2\n3,4\n", None, np.array([[1, 2], [3, 4]])),
    "one column": ("x\n1\n2\n", ["x"], np.array([[1], [2]])),
    "real": ("a;b\n1;.5\n-2;1e3\n", ["a", "b"], np.array([[1, 0.5], [-2, 1000]])),
    "missing": ("a,b\n1,\nNA,4\n", ["a", "b"], np.array([[1, np.nan], [np.nan, 4]])),
    "infinite": ("a,b\n1,inf\n-Infinity,nan\n", ["a", "b"], np.array([[1, np.inf], [-np.inf, np.nan]])),
    "tabs": ("a\tb\tc\n1\t\t3\n\t5\t6\n", ["a", "b", "c"], np.array([[1, np.nan, 3], [np.nan, 5, 6]])),
    "blanks": ("# of a model\n 1.0  2\n3   4\n", None, np.array([[1.0, 2], [3, 4]])),
    "quotes": ('"a, or b",c\n"1",2\n', ["a, or b", "c"], np.array([[1, 2]])),
    "ends of lines": ("\ufeffa,b,\r\n1,2,\r\n\r\n3,4,\r\n", ["a", "b"], np.array([[1, 2], [3, 4]])),
    "ends of old Macs": ("\ufeffa,b\r1,2\r3,4\r", ["a", "b"], np.array([[1, 2], [3, 4]])),
    "words": ("n,a,t\nx,1,true\ny,2,False\n", ["a"], np.array([[1], [2]])),
    "great": (f"a\n{2**63 - 1}\n{-2**63}\n", ["a"], np.array([[2**63 - 1], [-(2**63)]])),
    "rounded": ("a\n9007199254740993\n0.5\n", ["a"], np.array([[9007199254740992.0], [0.5]])),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text(scratch, name):
    text, names, expected = TEXTS[name]
    ending = "txt" if name == "blanks" else "csv"
    for file in (f"t.{ending}", f"t.{ending}.gz"):
        data = text.encode()
        pathlib.Path(file).write_bytes(gzip.compress(data) if file.endswith("gz") else data)
        array = xp.from_columns(file, "x.oc", replace=True)
        assert array.names == names
        np.testing.assert_array_equal(array.compute(), expected)
        assert array.dtype == expected.dtype


def test_columns_that_begin_without_values_or_have_words(scratch):
    """A thousand lines without a value are no words; a single word is told of, and its column left out."""
    lines = ["a,b,c,d"] + [f"{row},,{row if row != 7 else 'lost'},{'-' if row < 2000 else ''}" for row in range(3000)]
    lines[-1] = "2999,2.5,1,nan"
    pathlib.Path("t.csv").write_text("\n".join(lines))
    with pytest.warns(UserWarning, match=r"they do not hold numbers alone: c \(`lost` on line 9\)\.") as warned:
        array = xp.from_columns("t.csv", "x.oc")
    assert len(warned) == 1 and warned[0].filename == __file__
    assert array.names == ["a", "b", "d"]
    expected = np.full((3000, 3), np.nan)
    expected[:, 0], expected[-1, 1] = np.arange(3000), 2.5
    same(array, expected)
    told = outcore("import", "--as", "array", "t.csv", "x.oc", "--replace").stderr
    assert b"note: Columns that are not read, for they do not hold numbers alone: c (`lost` on line 9)." in told
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xp.from_columns("t.csv", "x.oc", columns=["a"], replace=True)
    lines[2000] = "1999,late,1,"
    pathlib.Path("t.csv").write_text("\n".join(lines))
    with pytest.raises(oc.InputError, match="t.csv:2001: expected a number in column `b`, found `late`"):
        xp.from_columns("t.csv", "y.oc")


def test_a_first_line_of_words_and_numbers(scratch):
    """What cannot be names is read; where it may be, `header=` says what it is."""
    for text in ("b,5.1,3\na,4.9,3\nb,1,2\n", "u,1,2\nu,3,4\n", "2020-01-01,5,7\n2020-01-02,6,8\n", "a,7,7\nb,1,2\n"):
        pathlib.Path("t.csv").write_text(text)
        array = xp.from_columns("t.csv", "x.oc", replace=True)
        assert array.names is None and array.shape == (text.count("\n"), 2)
    pathlib.Path("t.csv").write_text("country,2019,2020\nUlm,1,2\n")
    named = xp.from_columns("t.csv", "x.oc", header=True, replace=True)
    assert named.names == ["2019", "2020"] and named.shape == (1, 2)
    assert xp.from_columns("t.csv", "x.oc", header=False, replace=True).shape == (2, 2)
    told = outcore("import", "--as", "array", "t.csv", "x.oc", "--replace")
    assert told.returncode == 5 and b"--header yes" in told.stderr


def test_a_late_fraction_makes_all_real(scratch):
    rng = np.random.default_rng(3)
    whole = rng.integers(-(10**6), 10**6, size=(60_000, 3))
    np.savetxt("x.csv", whole, fmt="%d", delimiter=",")
    same(xp.from_columns("x.csv", "x.oc", threads=3), whole)
    with open("x.csv", "a") as file:
        file.write("1,,2.5\n")
    expected = np.vstack([whole, [1, np.nan, 2.5]])
    same(xp.from_columns("x.csv", "x.oc", replace=True, threads=3), expected)
    with pytest.raises(oc.InputError, match=r"x\.csv:60001: .*int32 has none that is missing.*dtype='float64'"):
        xp.from_columns("x.csv", "y.oc", dtype="int32")
    same(xp.from_columns("x.csv", "z.oc", dtype="float32"), expected.astype(np.float32))
    assert not pathlib.Path("y.oc").exists()


@pytest.mark.parametrize(
    "text, options, message",
    [
        ("a,b\n1,2\n3\n", {}, "t.csv:3: expected 2 columns"),
        ("a,b\n1,2\n3,4\n5,6,7\n", {}, "t.csv:4: expected 2 columns"),
        ("a,b\n1,x\n2,3\n", {"columns": ["b"]}, "expected numbers, or true and false, in column `b`"),
        ("a\nx\ny\n", {}, r"numbers, found the columns 1 \(`a` on line 1\); make numbers of the words"),
        ("a;b\n1,5;x\n2,25;y\n", {}, "have a decimal point: replace the commas"),
        ("a\ntrue\n", {}, "true and false are read where columns= names them"),
        ("a\n1\n", {"columns": []}, "columns=: expected the names or numbers of columns, found none"),
        ("a,b\n1,1\n2,2\n3,x\n", {"columns": "b"}, "found `x` on line 4"),
        ("a,b\n1,2\n", {"columns": ["c"]}, "`c`, as columns= says, found no such column; the columns are a, b"),
        ("a,b\n1,2\n", {"columns": ["a", "1"]}, "found it twice"),
        ("a,a\n1,2\n", {"columns": ["a"]}, "have that name"),
        ("1,x\n2,3\n", {}, "header=True if the line names"),
        ("country,2019,2020\nUlm,1,2\nBonn,3,4\n", {}, "t.csv:1: .*header=True if the line names"),
        (",0,1\n0,1.5,2.5\n1,3.5,4.5\n", {}, "header=True if the line names"),
        ("Ulm,5\n", {}, "header=False if it does not"),
        ("a\n300\n", {"dtype": "int8"}, "a number in column `a` that int8 holds"),
        ("a\n1.5\n", {"dtype": "int8"}, "a number in column `a` that int8 holds"),
        (f"a\n{2**63}\n", {}, "that int64 holds"),
        ("a\n1\n" + "2\n" * 2000 + "x\n", {}, "t.csv:2003: expected a number in column `a`, found `x`"),
        ('{"a": 1}\n', {}, "found JSON"),
        ("a\n1\n", {"dtype": "complex128"}, "a type of numbers"),
    ],
)
def test_what_is_refused(scratch, text, options, message):
    pathlib.Path("t.csv").write_text(text)
    with pytest.raises((oc.InputError, oc.UsageError), match=message):
        xp.from_columns("t.csv", "x.oc", **options)
    assert not pathlib.Path("x.oc").exists()


def test_nulls_and_numbers_that_do_not_fit(scratch):
    data = pa.table({"a": pa.array([1, None, 3]), "b": pa.array([1.0, 2.5, 3.0])})
    same(xp.from_columns(data, "x.oc"), np.array([[1, 1], [np.nan, 2.5], [3, 3]]))
    with pytest.raises(oc.InputError, match="null in row 1.*dtype='float64'"):
        xp.from_columns(data, "y.oc", columns=["a"])
    with pytest.raises(oc.InputError, match="2.5 in row 1"):
        xp.from_columns(data, "y.oc", columns=["b"], dtype="int64")
    with pytest.raises(oc.ImageExistsError):
        xp.from_columns(data, "x.oc")
    for index in ("c", ["a", "c"]):
        with pytest.raises(IndexError, match="'c'"):
            oc.array.open("x.oc")[index]
    with pytest.raises(IndexError, match="have names"):
        xp.asarray(np.eye(2))["a"]


def test_two_columns_of_one_name(scratch):
    """Both are kept, and their name chooses neither."""
    pathlib.Path("t.csv").write_text("a,b,a\n1,2,3\n")
    data = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], ["a", "b", "a"])
    for given in ("t.csv", data):
        array = xp.from_columns(given, "x.oc", replace=True)
        assert array.names == ["a", "b", "a"]
        same(array, np.array([[1, 2, 3]]))
        with pytest.raises(IndexError, match="'a': several columns have that name"):
            array["a"]
        with pytest.raises(oc.InputError, match="columns 1 and 3, which have that name; give the number of one"):
            xp.from_columns(given, "y.oc", columns=["a"])
        same(xp.from_columns(given, "x.oc", columns=["b", 3], replace=True), np.array([[2, 3]]))


def test_columns_of_other_types(scratch):
    """Nulls alone are NaN; what has no numbers that are read is named with its type."""
    data = pa.table({
        "a": pa.array([1, 2]),
        "none": pa.array([None, None], pa.null()),
        "wide": pa.array([1, 2], pa.decimal256(50, 2)),
        "price": pa.array([1, 2], pa.decimal128(10, 2)),
    })
    for ending in (None, ".parquet", ".arrow", ".arrows"):
        if ending:
            write(scratch / f"t{ending}", data)
        given = scratch / f"t{ending}" if ending else data
        with pytest.warns(UserWarning, match=r"wide \(Decimal256\(50, 2\)\)"):
            array = xp.from_columns(given, "x.oc", replace=True)
        assert array.names == ["a", "none", "price"]
        same(array, np.array([[1, np.nan, 1], [2, np.nan, 2]]))
        with pytest.raises(oc.InputError, match=r"in column `wide`, found Decimal256\(50, 2\)"):
            xp.from_columns(given, "y.oc", columns=["wide"])


def test_frames_of_polars_with_types_of_its_own(scratch):
    polars = pytest.importorskip("polars")
    nulls = polars.DataFrame({"a": [1, 2], "none": [None, None]})
    same(xp.from_columns(nulls, "x.oc"), np.array([[1, np.nan], [2, np.nan]]))
    wide = polars.DataFrame({"a": [1, 2], "wide": polars.Series([3, 4], dtype=polars.Int128)})
    with pytest.raises(oc.InputError, match="the polars frame: .*found Int128 in column 'wide'"):
        xp.from_columns(wide, "y.oc")
    same(xp.from_columns(wide, "x.oc", columns=["a"], replace=True), np.array([[1], [2]]))
    for ending in ("parquet", "arrow"):
        getattr(wide, {"parquet": "write_parquet", "arrow": "write_ipc"}[ending])(f"t.{ending}")
        with pytest.raises(oc.InputError, match="integers of 128 bits"):
            xp.from_columns(f"t.{ending}", "y.oc")


def test_numbers_that_float64_rounds(scratch):
    """Whole numbers beside fractions are rounded as NumPy does, with a warning that names the first."""
    wide = 2**53 + 1
    many = "\n".join(f"{wide - 1},{row}" for row in range(2000))
    for text, line in (
        (f"a,b\n1,{wide}\n{wide},0.5\n", "on line 2 in column `b`"),
        (f"a,b\n{many}\n{wide},0.5\n", "on line 2002 in column `a`"),
    ):
        pathlib.Path("t.csv").write_text(text)
        with pytest.warns(UserWarning, match=f"2\\^53 were rounded to float64, the first of them {wide} {line}:"):
            array = xp.from_columns("t.csv", "x.oc", replace=True)
        assert array.dtype == np.float64 and array.compute().max() == float(wide)
        told = outcore("import", "--as", "array", "t.csv", "x.oc", "--replace").stderr.decode()
        assert f"note: Whole numbers beyond 2^53 were rounded to float64, the first of them {wide} {line}" in told
    for kind in (pa.int64(), pa.uint64(), pa.decimal128(20, 0)):
        data = pa.table({"a": pa.array([None, wide - 1, wide], kind), "b": [0.5, 1, 2]})
        with pytest.warns(UserWarning, match=f"{wide} in row 2 of column `a`"):
            xp.from_columns(data, "x.oc", replace=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xp.from_columns(data, "x.oc", dtype="float64", replace=True)
        xp.from_columns(data.slice(0, 2), "x.oc", replace=True)
    for text, dtype in (("1e39", "float32"), ("-3.5e38", "float32"), ("1e400", None)):
        pathlib.Path("t.csv").write_text(f"a\n0.5\ninf\n{text}\n")
        with pytest.raises(oc.InputError, match=f"t.csv:4: .*column `a` that float.. holds, found `{text}`"):
            xp.from_columns("t.csv", "y.oc", dtype=dtype)
    with pytest.raises(oc.InputError, match="column `a` that float32 holds, found .* in row 1"):
        xp.from_columns(pa.table({"a": [np.inf, 1e39]}), "y.oc", dtype="float32")


def test_the_command(scratch):
    data = table(2000)
    for name in ("t.parquet", "t.csv", "t.arrows"):
        write(scratch / name, data)
    expected = np.column_stack([data["wide"], data["small"]]).astype(np.int64)
    for name in ("t.parquet", "t.csv", "t.arrows"):
        asked = ("--columns", "wide,small", "--dtype", "int64", "--replace")
        made = outcore("import", "--as", "array", *asked, name, "x.oc")
        assert made.returncode == 0, made.stderr
        assert b"2000 x 2 elements of int64" in made.stderr and b"wide (" in made.stderr
        same(oc.array.open("x.oc"), expected)
    for name in ("t.csv", "t.arrows"):
        piped = outcore("import", "--as", "array", "-", "piped.oc", "--replace", input=pathlib.Path(name).read_bytes())
        assert piped.returncode == 0 and b"note: Columns that are not read" in piped.stderr, piped.stderr
        assert oc.array.open("piped.oc").shape == (2000, 3)
    assert outcore("check", "x.oc").returncode == 0
    again = outcore("import", "--as", "array", "t.csv", "x.oc")
    assert again.returncode == 7 and b"--replace" in again.stderr
    wrong = outcore("import", "--as", "array", "--source", "a", "t.csv", "y.oc")
    assert wrong.returncode == 2 and b"--source" in wrong.stderr
    wrong = outcore("import", "--dtype", "int8", "t.csv", "y.oc")
    assert wrong.returncode == 2 and b"--as array" in wrong.stderr
    late = b"1\n" * 600_000 + b"2.5\n"
    wrong = outcore("import", "--as", "array", "-", "y.oc", input=late)
    assert wrong.returncode == 5 and b"--dtype float64" in wrong.stderr
    assert outcore("import", "--as", "array", "--dtype", "float64", "-", "y.oc", input=late).returncode == 0
    assert oc.array.open("y.oc").shape == (600_001, 1)


def test_npy_files(scratch):
    values = np.arange(6000.0).reshape(2000, 3)
    np.save("rows.npy", values)
    np.save("columns.npy", np.asfortranarray(values))
    for name in ("rows.npy", "columns.npy"):
        same(xp.from_columns(name, "x.oc", replace=True), values)
        picked = xp.from_columns(name, "x.oc", columns=[3, 1], replace=True, dtype="float32")
        same(picked, values[:, [2, 0]].astype(np.float32))
        with pytest.raises(oc.InputError, match="int32 holds"):
            xp.from_columns(name, "y.oc", dtype="int32")
        with pytest.raises(oc.UsageError, match="from 1 to 3"):
            xp.from_columns(name, "y.oc", columns=[4])


def test_npy_files_of_numbers_that_float32_does_not_hold(scratch):
    np.save("x.npy", np.array([[1, np.inf, 1e39], [np.nan, 2, 3]]))
    with pytest.raises(oc.InputError, match="x.npy: expected numbers that float32 holds, found greater ones in column 3"):
        xp.from_columns("x.npy", "x.oc", dtype="float32")
    assert not pathlib.Path("x.oc").exists()
    picked = xp.from_columns("x.npy", "x.oc", columns=[1, 2], dtype="float32")
    np.testing.assert_array_equal(picked.compute(), np.float32([[1, np.inf], [np.nan, 2]]))
    np.save("x.npy", np.array([1.0, -1e39]))
    with pytest.raises(oc.InputError, match="found greater ones in column 1"):
        xp.from_columns("x.npy", "y.oc", dtype="float32")


def test_a_table_eight_times_the_limit(scratch):
    limit = 28 << 20
    rows = 8 * limit // (8 * 16)
    values = np.random.default_rng(5).normal(size=(1 << 14, 16))
    names = [f"c{place}" for place in range(16)]
    piece = pa.table(dict(zip(names, values.T)))
    with pa.ipc.new_stream("t.arrows", piece.schema) as stream:
        for _ in range(rows // len(values)):
            stream.write_table(piece, max_chunksize=8192)
    assert os.path.getsize("t.arrows") > 7.9 * limit
    made = outcore("import", "--as", "array", "t.arrows", "x.oc", "--memory", limit, "--threads", 2)
    assert made.returncode == 0, made.stderr
    array = oc.array.open("x.oc")
    sums, count = array.sum(axis=0).compute(), rows // len(values)
    np.testing.assert_allclose(sums, count * values.sum(axis=0), rtol=1e-9)
    same(array[-len(values) :], values)
