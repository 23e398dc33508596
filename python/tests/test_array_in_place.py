"""Parquet and Arrow files as arrays without an import: the same elements, names, errors and notes as with one."""

import json
import os
import pathlib
import shutil
import subprocess
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
pytestmark = pytest.mark.filterwarnings("error")


def outcore(*arguments, **options):
    command = os.environ.get("OUTCORE") or shutil.which("outcore")
    if command is None:
        pytest.skip("the outcore command is absent (OUTCORE says where it is)")
    return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, **options)


def ipc(data, path, stream=False, rows=None, compression=None):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(path, data.schema, options=options) as sink:
        sink.write_table(data, max_chunksize=rows)


# Ways to write a table: the ending, and what writes it.
PARQUET = {
    "plain": {"use_dictionary": False, "compression": "none"},
    "groups": {"row_group_size": 700, "compression": "zstd"},
    "pages": {"row_group_size": 3000, "data_page_size": 512, "compression": "snappy", "write_batch_size": 64},
    "version 2": {"data_page_version": "2.0", "data_page_size": 700, "write_batch_size": 50, "compression": "gzip"},
    "checked": {"write_page_checksum": True, "write_page_index": True, "row_group_size": 999, "compression": "lz4"},
    "split": {"use_dictionary": False},
}
ARROW = {
    "file": {"rows": 900},
    "one batch": {},
    "stream": {"rows": 613, "stream": True},
    "lz4": {"rows": 1100, "compression": "lz4"},
    "zstd": {"compression": "zstd"},
    "zstd stream": {"rows": 77, "stream": True, "compression": "zstd"},
}


def write(data, path, kind):
    if kind in PARQUET:
        real = [field.name for field in data.schema if field.type == pa.float64()]
        split = {"use_byte_stream_split": real} if kind == "split" else {}
        pa.parquet.write_table(data, path, **PARQUET[kind], **split)
    else:
        ipc(data, path, **ARROW[kind])


def mixed(rows, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table({
        "word": pa.array([f"w{i % 7}" for i in range(rows)]),
        "small": pa.array(rng.integers(-9, 9, rows), pa.int8()),
        "real": pa.array(rng.normal(size=rows), mask=rng.random(rows) < 0.1),
        "nested": pa.array([[1.0, 2.0]] * rows, pa.list_(pa.float64())),
        "yes": pa.array(rng.random(rows) < 0.5),
        "wide": pa.array(rng.integers(0, 2**40, rows), pa.uint64()),
        "pair": pa.array([{"a": 1, "b": "x"}] * rows, pa.struct({"a": pa.int64(), "b": pa.string()})),
        "few": pa.array(rng.integers(0, 3, rows), pa.int32()),
        "view": pa.array(["a longer string than fits into a view"] * rows, pa.string()),
        "none": pa.nulls(rows),
    })


def both(path, image="x.oc", **limits):
    """The file in place and imported, with what both warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        imported = xp.from_columns(path, image, replace=True)
        by_import = [str(one.message) for one in told]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        placed = xp.open(path, **limits)
        # Small results replace what they were computed from.
        names, values = placed.names, xp.open(path, **limits).compute()
        in_place = [str(one.message) for one in told]
    # It was opened twice.
    assert [*dict.fromkeys(in_place)] == by_import
    assert names == imported.names
    expected = xp.open(image).compute()
    assert placed.shape == expected.shape == values.shape and placed.dtype == expected.dtype == values.dtype
    assert values.tobytes() == expected.tobytes()
    return placed, imported, by_import


@pytest.mark.parametrize("kind", [*PARQUET, *ARROW])
@pytest.mark.parametrize("rows", [1, 5000])
def test_elements_are_those_of_an_import(scratch, kind, rows):
    write(mixed(rows), "table.data", kind)
    placed, imported, told = both("table.data")
    assert placed.names == ["small", "real", "wide", "few", "none"] and placed.dtype == np.float64
    assert len(told) == 1 and "word (" in told[0] and "nested (" in told[0] and "yes (" in told[0]
    for part in (slice(0, 1), slice(rows // 3, rows // 2 + 1), slice(None, None, -1), slice(5, None, 7)):
        assert placed[part].compute().tobytes() == imported[part].compute().tobytes()
    for name in placed.names:
        assert placed[name].compute().tobytes() == imported[name].compute().tobytes()
    assert placed[["few", "small"]].compute().tobytes() == imported[["few", "small"]].compute().tobytes()
    # All columns are read, so partitions are those of the image, and with them the bits of sums.
    for result in (lambda x: xp.nansum(x, axis=0), lambda x: x.T @ x, lambda x: xp.nanmax(x, axis=1)):
        assert result(placed).compute().tobytes() == result(imported).compute().tobytes()


TYPES = [
    *(getattr(pa, name)() for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()),
    pa.float16(), pa.float32(), pa.float64(), pa.decimal128(25, 2), pa.decimal128(20, 0),
    pa.dictionary(pa.int8(), pa.int64()), pa.dictionary(pa.int32(), pa.float32()),
]


@pytest.mark.parametrize("has_nulls", [False, True])
@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_every_type(scratch, kind, has_nulls):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 100, 2000)
    is_missing = rng.random(2000) < (0.2 if has_nulls else 0)
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    column = pa.array([None if gone else int(value) for value, gone in zip(values, is_missing)], pa.int64())
    column = column.cast(pa.float32()).cast(plain) if plain == pa.float16() else column.cast(plain)
    if plain != kind:
        column = column.dictionary_encode().cast(kind)
    data = pa.table({"a": column, "b": pa.array(rng.normal(size=2000))})
    for has_real in (True, False):
        for name in ("groups", "pages", "file", "one batch", "zstd", "stream"):
            if name == "stream" and pa.types.is_dictionary(kind):
                continue
            try:
                write(data if has_real else data.select(["a"]), "t", name)
            except pa.ArrowNotImplementedError:
                assert plain == pa.float16()
                continue
            if has_nulls and not has_real and np.dtype(xp.open("t").dtype).kind in "iu":
                with pytest.raises(oc.InputError, match="for u?int[0-9]+ has none that is missing") as refused:
                    xp.from_columns("t", "x.oc", replace=True)
                with pytest.raises(oc.InputError, match="an import with .*float64.* makes NaN of it") as placed:
                    xp.open("t").sum(axis=0).compute()
                row = np.flatnonzero(is_missing)[0]
                assert f"null in row {row}" in str(refused.value) and f"null in row {row}" in str(placed.value)
                continue
            both("t")


def test_dictionaries_that_grow_and_change(scratch):
    """A batch has the values that came before it."""
    kind = pa.dictionary(pa.int8(), pa.int64())
    schema = pa.schema({"a": kind, "b": pa.float64()})
    for deltas in (False, True):
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)
        with pa.ipc.new_stream("t", schema, options=options) as sink:
            for count in (1, 2, 2, 3):
                values = pa.array([10 * place + (0 if deltas else count) for place in range(count)], pa.int64())
                keys = pa.array([place % count for place in range(1000)], pa.int8())
                column = pa.DictionaryArray.from_arrays(keys, values)
                sink.write_batch(pa.record_batch([column, pa.array(np.arange(1000.0))], schema=schema))
        placed, _, _ = both("t")
        assert placed[3998, 0].compute() == (20 if deltas else 23)


def test_rows_in_all_places_of_batches(scratch):
    """Bits that say what is missing begin anywhere in a byte."""
    rng = np.random.default_rng(6)
    column = pa.array(rng.normal(size=70_000), mask=rng.random(70_000) < 0.3)
    data = pa.table({"a": column, "b": pa.array(rng.integers(0, 9, 70_000), pa.int16())})
    expected = np.column_stack([data["a"].to_numpy(), data["b"].to_numpy()]).astype(np.float64)
    for name in ("one batch", "plain"):
        write(data, "t", name)
        array = xp.open("t")
        for start in (1, 7, 8, 508, 65_535, 65_537, 69_999):
            assert array[start:].compute().tobytes() == expected[start:].tobytes()
            assert array[start : start + 9].compute().tobytes() == expected[start : start + 9].tobytes()


def test_polars_files(scratch):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": range(3000), "w": ["x"] * 3000, "b": [None, 0.5, 2.0] * 1000})
    frame.write_ipc("t.arrow")
    frame.write_ipc("z.arrow", compression="zstd")
    frame.write_parquet("t.parquet", row_group_size=999)
    for name in ("t.arrow", "z.arrow", "t.parquet"):
        placed, _, _ = both(name)
        assert placed.names == ["a", "b"] and placed.shape == (3000, 2)


def test_tables_without_rows_or_columns(scratch):
    for kind in ("plain", "file", "stream", "zstd"):
        write(pa.table({"a": pa.array([], pa.int16()), "b": pa.array([], pa.float32())}), "none", kind)
        placed, _, _ = both("none")
        assert placed.shape == (0, 2) and placed.dtype == np.float32
        assert placed.sum(axis=0).compute().tolist() == [0, 0]
        write(pa.table({"w": ["a"], "yes": [True]}), "words", kind)
        with pytest.raises(oc.InputError, match="expected columns of numbers, found the columns w"):
            xp.open("words")


def test_what_is_no_array_in_place(scratch):
    pathlib.Path("t.csv").write_text("a,b\n1,2\n")
    pathlib.Path("t.data").write_text("a,b\n1,2\n")
    for name in ("t.csv", "t.data"):
        with pytest.raises(oc.InputError, match="from_columns"):
            xp.open(name)
        run = outcore("run", "describe", name)
        assert run.returncode != 0 and "import it first" in run.stderr
    pathlib.Path("old.feather").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(oc.InputError, match="Feather version 1"):
        xp.open("old.feather")
    for name, bytes_ in (("a", b"PAR1"), ("b", b"ARROW1"), ("c", b"\xff\xff\xff\xff"), ("d", b""), ("e", b"PAR1" * 9)):
        pathlib.Path(name).write_bytes(bytes_)
        with pytest.raises(oc.InputError):
            xp.open(name)
    with pytest.raises(FileNotFoundError):
        xp.open("none.parquet")


def test_rounded_numbers_are_told(scratch):
    data = pa.table({
        "a": pa.array([1, 2**53 + 1, 5, 2**60 + 1], pa.int64()),
        "b": pa.array([0.5, 1.0, None, 2.0]),
        "c": pa.array([1, 2, 3, 4], pa.int64()),
    })
    for kind in ("plain", "file"):
        write(data, "t", kind)
        _, _, told = both("t")
        assert len(told) == 1 and "9007199254740993 in row 1 of column `a`" in told[0]
        # Where the column is not read, nothing was rounded.
        array = xp.open("t")
        assert array[["b", "c"]].sum(axis=0).compute()[1] == 10
        with pytest.warns(UserWarning, match="rounded to float64"):
            array["a"].sum().compute()
        run = outcore("run", "describe", "t")
        assert run.returncode == 0 and run.stderr.count("note: Whole numbers beyond 2^53") == 1, run.stderr


def test_numbers_that_elements_do_not_hold(scratch):
    """The first one in the order of rows is told, by the import too."""
    wide = pa.array([1] * 900 + [10**19] * 10, pa.decimal128(25, 0))
    data = pa.table({"a": wide, "b": wide.take(pa.array([*range(880), *([905] * 30)]))})
    for kind in ("plain", "groups", "file", "zstd"):
        write(data, "t", kind)
        for threads in (1, 2):
            told = []
            in_place = lambda: xp.open("t").max(axis=0).compute(threads=threads)
            for begin in (lambda: xp.from_columns("t", "x.oc"), in_place):
                with pytest.raises(oc.InputError) as refused:
                    begin()
                told.append(str(refused.value).split(";")[0])
            assert told[0] == told[1]
            assert "column `b` that int64 holds, found 10000000000000000000 in row 880" in told[0]


def test_only_columns_that_are_used_are_read(scratch):
    values = np.random.default_rng(1).normal(size=(40_000, 16))
    data = pa.table(dict(zip([f"c{place}" for place in range(16)], values.T)))
    for kind in ("plain", "groups", "file", "zstd"):
        write(data, "t", kind)
        array, size = xp.open("t"), os.path.getsize("t")
        _, whole = xp.compute(array.max(axis=0), return_stats=True)
        (found,), two = xp.compute(array[["c3", "c9"]].max(axis=0), return_stats=True)
        assert found.tolist() == values[:, [3, 9]].max(axis=0).tolist()
        whole, two = (stats["bytes_read"] for stats in (whole, two))
        assert 0.9 * size < whole < 1.1 * size and two < 1.1 * whole / 8, (kind, size, whole, two)
        plan = xp.explain(array[["c3", "c9"]].max(axis=0))
        (name, planned), = plan.passes[0].reads.items()
        assert "decoded in every pass" in name and abs(planned - two) < 0.1 * two
        assert "decoded in every pass" in repr(array)


def test_a_file_that_changes_is_an_error(scratch):
    data = pa.table({"a": np.arange(100_000.0)})
    for kind in ("plain", "file"):
        write(data, "t", kind)
        array = xp.open("t")
        assert array.sum().compute() == 4999950000
        with open("t", "r+b") as file:
            file.truncate(os.path.getsize("t") // 2)
        with pytest.raises(oc.InputError, match="open it again"):
            array.sum().compute()
        # A file that takes the name leaves the one that is open as it was.
        write(data, "t", kind)
        array = xp.open("t")
        write(pa.table({"a": np.zeros(7)}), "new", kind)
        os.replace("new", "t")
        assert array.sum().compute() == 4999950000
        assert xp.open("t").shape == (7, 1)


def test_files_eight_times_the_limit(scratch):
    """One row group, and one batch: what is in memory are the rows of a stretch."""
    limit, columns = 48 << 20, 8
    rows = 8 * limit // (8 * columns)
    values = np.random.default_rng(5).normal(size=(rows, columns))
    data = pa.table(dict(zip([f"c{place}" for place in range(columns)], values.T)))
    for kind in ("plain", "groups of a million", "one batch"):
        if kind == "groups of a million":
            pa.parquet.write_table(data, "t", row_group_size=1 << 20, compression="zstd")
        elif kind == "plain":
            pa.parquet.write_table(data, "t", row_group_size=rows, compression="none", use_dictionary=False)
        else:
            ipc(data, "t")
        size, found = os.path.getsize("t"), []
        assert size > 7.4 * limit
        for memory, threads in ((limit, 2), (limit, 1), (2 * limit, 12), (8 * limit, 2)):
            limits = ("--memory", memory, "--threads", threads)
            run = outcore("run", "describe", "t", *limits, "--stats", "s")
            assert run.returncode == 0, run.stderr
            written = json.loads(pathlib.Path("s").read_text())
            stats = written["stats"]
            found.append(json.dumps(written["result"]))
            assert stats["memory_peak_bytes"] <= memory, (kind, memory, threads)
            # Pages of Parquet at the ends of stretches are read again, and dictionaries for each.
            most = size * (1.02 if kind == "one batch" else 1.2 if memory == 8 * limit else 3)
            assert size * 0.98 < stats["bytes_read"] < most, (kind, stats)
        assert len(set(found)) == 1
        np.testing.assert_allclose(json.loads(found[0])["mean"], values.mean(axis=0), rtol=1e-9)


def test_a_batch_that_does_not_fit(scratch):
    ipc(pa.table({"a": np.random.default_rng(1).normal(size=4_000_000)}), "t", compression="zstd")
    run = outcore("run", "describe", "t", "--memory", "28MiB")
    assert run.returncode != 0 and "less, if it is written with smaller batches" in run.stderr, run.stderr
    explained = outcore("run", "describe", "t", "--memory", "28MiB", "--explain")
    assert explained.returncode != 0 and "smaller batches" in explained.stderr
    assert outcore("run", "describe", "t", "--memory", "128MiB").returncode == 0


def test_info_says_how_files_are_read(scratch):
    data = mixed(5000)
    for kind, words in {
        "groups": ("parquet", "row_groups", 8, "zstd"),
        "file": ("arrow", "batches", 6, "none"),
        "lz4": ("arrow", "batches", 5, "lz4"),
    }.items():
        write(data, "t", kind)
        facts = json.loads(outcore("info", "--json", "t").stdout)["result"]
        form, groups, count, codec = words
        assert facts["format"] == form and facts["rows"] == 5000 and facts["columns"] == 5
        assert facts[groups] == count and facts["compression"] == codec
        assert facts["reading"].startswith("in place") and "import it if" in facts["reading"]
        assert "in place" in outcore("info", "t").stdout
    pa.csv.write_csv(data.select(["small"]), "t.csv")
    assert "not in place" in json.loads(outcore("info", "--json", "t.csv").stdout)["result"]["reading"]


def test_the_shell_and_models(scratch):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(3000, 4))
    data = pa.table(dict(zip("abcd", values.T))).append_column("w", pa.array(["x"] * 3000))
    for kind, path in (("groups", "t.parquet"), ("zstd", "t.feather")):
        write(data, path, kind)
        imported = outcore("import", "--as", "array", "--replace", path, "t.oc")
        assert imported.returncode == 0
        models = (["pca", "--n-components", 2], ["kmeans", "--n-clusters", 3])
        for command in (["describe"], ["cov"], ["corr"], ["histogram"], *models):
            runs = [outcore("run", *command, array, "--json") for array in (path, "t.oc")]
            assert runs[0].returncode == 0, runs[0].stderr
            assert "note: Columns that are not read, for they do not hold numbers alone: w" in runs[0].stderr
            assert len({json.dumps(json.loads(run.stdout)["result"]) for run in runs}) == 1, command
        run = outcore("run", "cov", path, "--columns", "d,a", "--output", "cov.npy")
        assert run.returncode == 0, run.stderr
        np.testing.assert_allclose(np.load("cov.npy"), np.cov(values[:, [3, 0]].T), rtol=1e-9)
        with pytest.warns(UserWarning, match="not read"):
            model = oc.ml.PCA(2).fit(path)
        assert model.components_.tobytes() == oc.ml.PCA(2).fit("t.oc").components_.tobytes()


def test_numbers_of_columns_count_all_columns_of_the_file(scratch):
    data = pa.table({"town": ["a"] * 50, "price": np.arange(50.0), "ok": [True] * 50, "area": np.arange(50.0) ** 2})
    for kind in ("groups", "file"):
        write(data, "t", kind)
        for number, name in ((2, "price"), (4, "area"), ("area", "area")):
            run = outcore("run", "describe", "t", "--columns", number, "--json")
            assert run.returncode == 0 and json.loads(run.stdout)["result"]["columns"] == [name], run.stderr
        for number in (1, "ok"):
            run = outcore("run", "describe", "t", "--columns", number)
            assert run.returncode == 2 and "expected a column of numbers" in run.stderr, run.stderr
        run = outcore("run", "regression", "t", "--target", 4, "--json")
        assert run.returncode == 0, run.stderr
        slope = np.polyfit(np.arange(50.0), np.arange(50.0) ** 2, 1)[0]
        np.testing.assert_allclose(json.loads(run.stdout)["result"]["coef"], [slope], rtol=1e-9)


def test_files_are_told_by_their_content(scratch):
    data = pa.table({"a": np.arange(5.0)})
    for name in ("t.csv", "t.npy", "t.oc"):
        write(data, name, "groups")
        assert xp.open(name).compute()[:, 0].tolist() == [0, 1, 2, 3, 4]


def test_a_table_of_contents_that_lists_other_batches(scratch):
    ipc(pa.table({"a": np.arange(3000.0)}), "t", rows=1000)
    good = pathlib.Path("t").read_bytes()
    length = int.from_bytes(good[-10:-6], "little")
    reader = pa.ipc.open_file("t")
    assert reader.num_record_batches == 3
    marks = [at for at in range(8, len(good) - length, 8) if good[at : at + 4] == b"\xff" * 4]
    # A schema, the batches, and the mark of the end. The blocks are structs of 24 bytes, one behind the other.
    first = marks[1]
    place = good.index(first.to_bytes(8, "little"), len(good) - 10 - length)
    swapped = bytearray(good)
    swapped[place : place + 24], swapped[place + 24 : place + 48] = good[place + 24 : place + 48], good[place : place + 24]
    assert pa.ipc.open_file(pa.py_buffer(bytes(swapped))).get_batch(0)["a"][0].as_py() == 1000
    pathlib.Path("t").write_bytes(swapped)
    with pytest.raises(oc.InputError, match="a table of contents that lists other batches"):
        xp.open("t")


@pytest.mark.parametrize("kind", ["many chunks", "many columns", "zstd"])
def test_wide_and_packed_tables_keep_the_limit(scratch, kind):
    rng = np.random.default_rng(0)
    if kind == "zstd":
        ipc(pa.table({f"c{i}": column for i, column in enumerate(rng.normal(size=(8, 1_000_000)))}), "t", rows=65_536, compression="zstd")
        runs = [("24MiB", 8, ()), ("24MiB", 16, ())]
    else:
        columns, rows, group = (4000, 1000, 100) if kind == "many chunks" else (3000, 4000, 4000)
        table = pa.table({f"{'c' * 30}{i}": column for i, column in enumerate(rng.normal(size=(columns, rows)).round(1))})
        pa.parquet.write_table(table, "t", row_group_size=group, use_dictionary=False)
        runs = [(f"{limit}MiB", 1, ("--columns", "1")) for limit in (24, 40, 60, 80)]
    codes = set()
    for memory, threads, options in runs:
        run = outcore("run", "describe", "t", "--memory", memory, "--threads", str(threads), "--stats", "s", *options)
        codes.add(run.returncode)
        if run.returncode == 0:
            stats = json.loads(pathlib.Path("s").read_text())["stats"]
            assert stats["memory_peak_bytes"] <= stats["memory_limit_bytes"], (kind, memory, threads)
    assert 0 in codes
