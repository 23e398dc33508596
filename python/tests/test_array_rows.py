"""Rows that lie far apart in a file, and parts of a file that meet: what is read, and that `explain` says so."""

import numpy as np
import outcore as oc
import pytest

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
