"""Rows that lie far apart in a file, and parts of a file that meet: what is read, and that `explain` says so."""

import numpy as np
import pytest

import outcore as oc

xp = oc.array
ROWS = 400_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One matrix in every kind of file, by rows and by columns, in either order of bytes."""
    arrow = pytest.importorskip("pyarrow")
    values = np.random.default_rng(1).normal(size=(ROWS, 8))
    folder = tmp_path_factory.mktemp("rows")
    xp.persist(folder / "x.oc", values)
    np.save(folder / "x.npy", values)
    np.save(folder / "columns.npy", np.asfortranarray(values))
    np.save(folder / "swapped.npy", values.astype(">f8"))
    np.savez(folder / "x.npz", x=values)
    table = arrow.table({f"c{place}": column for place, column in enumerate(values.T)})
    pytest.importorskip("pyarrow.parquet").write_table(table, folder / "x.parquet", row_group_size=150_000)
    feather = pytest.importorskip("pyarrow.feather")
    feather.write_feather(table, folder / "x.arrow", compression="uncompressed", chunksize=70_000)
    feather.write_feather(table, folder / "zstd.arrow", compression="zstd", chunksize=70_000)
    return folder, values


KINDS = ["x.oc", "x.npy", "columns.npy", "swapped.npy", "x.npz", "x.parquet", "x.arrow", "zstd.arrow"]
HALF = ROWS // 2
PARTS = {
    "two rows": lambda x: x[[0, HALF + 9]],
    "any rows": lambda x: x[[0, 7, HALF, 3, ROWS - 1]],
    "in steps": lambda x: x[5::20_011],
    "backwards": lambda x: x[::-10_000],
    "of a column": lambda x: x[::9999, 3],
    "in short steps": lambda x: x[::333],
    "that meet": lambda x: x[1::20_000] * x[::20_000],
    "halves": lambda x: (x[:HALF] - x[HALF:]).max(axis=0),
    "sums": lambda x: x[::20_000].sum(axis=1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_far_apart_are_those_of_numpy(folder, kind):
    path, values = folder[0] / kind, folder[1]
    for limit in ("48MiB", "512MiB"):
        x = xp.load_npz(path)["x"] if kind == "x.npz" else xp.open(path, memory=limit, threads=2)
        for name, part in PARTS.items():
            explained = xp.explain(part(x)).passes
            (found,), stats = xp.compute(part(x), return_stats=True)
            told = sum(sum(one.reads.values()) for one in explained)
            np.testing.assert_allclose(found, part(values), rtol=1e-13, err_msg=name)
            if kind == "x.oc":
                # Partitions read the groups of pages at their ends twice, and what is cached is not read.
                assert stats["bytes_read"] < 1.3 * told
            elif kind in ("x.npy", "swapped.npy"):
                # Rows that are turned stay in the cache.
                assert stats["bytes_read"] <= 1.01 * told, (name, limit, stats["bytes_read"], told)
            elif kind != "columns.npy":
                assert 0.99 * told <= stats["bytes_read"] <= 1.01 * told, (name, limit, stats["bytes_read"], told)
            if name in ("two rows", "any rows") and kind not in ("x.parquet", "zstd.arrow"):
                assert stats["bytes_read"] <= 5 * 8 * 4096, (name, stats["bytes_read"])


@pytest.mark.parametrize("kind", ["x.oc", "x.npy", "x.npz"])
def test_few_rows_are_read_where_few_are_wanted(folder, kind, tmp_path):
    path, values = folder[0] / kind, folder[1]
    x = xp.load_npz(path)["x"] if kind == "x.npz" else xp.open(path, memory="64MiB")
    row_bytes = 8 * 4096 if kind == "x.oc" else 8 * 8
    stored = xp.persist(tmp_path / "part.oc", x[3::10_000])
    np.testing.assert_array_equal(stored.compute(), values[3::10_000])
    means, stats = xp.compute(x[::10_000].mean(axis=0), return_stats=True)
    np.testing.assert_allclose(means[0], values[::10_000].mean(axis=0))
    assert stats["bytes_read"] == 40 * row_bytes
    # The whole of an archive's member is compared with its checksum all the same.
    np.testing.assert_array_equal(x.compute(), values)


def test_a_damaged_archive_is_found_by_a_whole_pass_behind_others(tmp_path):
    values = np.random.default_rng(2).normal(size=(300_000, 4))
    np.savez(tmp_path / "x.npz", x=values)
    data = bytearray((tmp_path / "x.npz").read_bytes())
    data[5_000_000] ^= 4
    (tmp_path / "x.npz").write_bytes(data)
    x = xp.load_npz(tmp_path / "x.npz")["x"]
    for step in (5080, 10_160, 8000):
        np.testing.assert_array_equal(x[::step].compute(), values[::step])
    with pytest.raises(oc.OutcoreError, match="CRC-32"):
        x.sum().compute()


def test_no_rows_are_not_read(folder):
    for kind in ("x.oc", "x.npy", "x.parquet", "x.arrow"):
        x = xp.open(folder[0] / kind, memory="32MiB")
        parts = [x[:0], x[5:5], x[[]], x[np.zeros(0, int)], x[:0].sum(axis=0), x[9:9, 2], x[::3][7:7]]
        assert [part.shape for part in parts] == [(0, 8), (0, 8), (0, 8), (0, 8), (8,), (0,), (0, 8)]
        values, stats = xp.compute(*parts, return_stats=True)
        assert stats["bytes_read"] == 0, kind
        assert all(value.dtype == np.float64 and not value.any() for value in values)


def test_parts_that_begin_anywhere_read_what_they_are(tmp_path):
    values = np.random.default_rng(4).normal(size=(70_000, 64)).astype(np.float32)
    xp.persist(tmp_path / "x.oc", values)
    page_bytes, page_rows = 64 * 4096, 1016
    for start, stop, step in ((1, None, 1), (4096, 69_000, 1), (None, None, -1), (68_999, 5, -1), (0, 1016, 1)):
        part = np.s_[start:stop:step]
        x = xp.open(tmp_path / "x.oc", memory="64MiB", threads=2)
        explained = sum(xp.explain(x[part].max(axis=0)).passes[0].reads.values())
        (found,), stats = xp.compute(x[part].max(axis=0), return_stats=True)
        np.testing.assert_array_equal(found, values[part].max(axis=0))
        rows = np.arange(70_000)[part]
        groups = max(rows[0], rows[-1]) // page_rows - min(rows[0], rows[-1]) // page_rows + 1
        assert stats["bytes_read"] == explained == groups * page_bytes, part
        np.testing.assert_array_equal(x[part].compute(), values[part])
        sums = xp.persist(tmp_path / "y.oc", x[part], replace=True)
        np.testing.assert_array_equal(sums.compute(), values[part])


def test_lists_of_rows_take_memory_for_their_rows(tmp_path):
    rng = np.random.default_rng(5)
    values = rng.integers(0, 9, (2500, 200))
    np.save(tmp_path / "x.npy", values)
    x = xp.open(tmp_path / "x.npy", memory="64MiB", threads=2)
    for count in (10, 100, 400):
        chosen = rng.integers(0, 2500, count)
        (pass_,) = xp.explain(x[chosen]).passes
        assert pass_.memory_bytes < (1 << 20) + 40 * count * 200 * 8, count
        np.testing.assert_array_equal(x[chosen].compute(), values[chosen])
        np.testing.assert_array_equal((x[chosen] * 2 + x[chosen[::-1]]).compute(), values[chosen] * 2 + values[chosen[::-1]])


def test_members_of_archives(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, a=np.arange(5), b=np.eye(3))
    assert xp.load_npz(path, memory="32MiB", threads=1)["a"].sum().compute() == 10
    with pytest.raises(oc.UsageError, match="expected runtime= or memory=, found both"):
        xp.load_npz(path, runtime=oc.Runtime(memory="64MiB"), memory="32MiB")
    good = path.read_bytes()
    directory = good.index(b"PK\x01\x02")
    for place, word in ((directory + 8, "encrypted"), (good.index(b"'descr'") + 1, "expected .npy files in it")):
        data = bytearray(good)
        data[place] ^= 1
        path.write_bytes(data)
        with pytest.raises(oc.InputError, match=word):
            xp.load_npz(path)
    data = good.replace(b"b.npy", b"a.npy")
    path.write_bytes(data)
    with pytest.raises(oc.InputError, match="expected arrays of different names, found two called 'a'"):
        xp.load_npz(path)


def test_a_large_number_beside_small_whole_ones():
    for kind in ("u1", "i1", "i2", "u8"):
        x = np.array([1, 3, 100], kind)
        np.testing.assert_allclose((xp.asarray(x) / 1000).compute(), x / 1000.0)
        np.testing.assert_allclose((100_000 / xp.asarray(x)).compute(), 100_000.0 / x)
        np.testing.assert_allclose(np.divide(xp.asarray(x), 2**70).compute(), x / 2.0**70)


def test_an_image_has_no_place_for_another(tmp_path):
    xp.persist(tmp_path / "x.oc", np.arange(4.0))
    for make in (lambda path: xp.persist(path, np.arange(3.0)), lambda path: oc.import_graph([(1, 2)], path)):
        with pytest.raises(oc.UsageError, match="found a place within an image; choose another folder"):
            make(tmp_path / "x.oc" / "y.oc")
    assert sorted(path.name for path in (tmp_path / "x.oc").iterdir()) == ["manifest.json", "values.pages"]


def test_wide_results_of_narrow_files_take_little_memory(tmp_path):
    values = np.random.default_rng(8).normal(size=(300_000, 1))
    np.save(tmp_path / "x.npy", values)
    wide = np.arange(1.0, 65.0)[None, :]
    x = xp.open(tmp_path / "x.npy", memory="64MiB", threads=2)
    for given in (x, xp.asarray(values)):
        explained = xp.explain(persist={tmp_path / "y.oc": given * wide}, memory="64MiB", threads=2)
        assert all(one.memory_bytes < 48 << 20 for one in explained.passes)
        y = xp.persist(tmp_path / "y.oc", given * wide, replace=True, memory="64MiB", threads=2)
        assert y.shape == (300_000, 64)
        np.testing.assert_array_equal(y[::7001].compute(), values[::7001] * wide)
        np.testing.assert_array_equal(y[:, 63].compute(), values[:, 0] * 64)
