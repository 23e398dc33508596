"""Files as other programs write them, the whole way into images and back: compressions and formats."""

import bz2
import lzma
import zipfile

import polars as pl
import pytest

import outcore as oc
from test_cli import outcore

EDGES = [(i * 7 % 900, i * 13 % 900 + 1) for i in range(3000)]


def rows(image, folder):
    """The rows of an image, sorted."""
    with oc.Graph(image) as graph:
        graph.export(folder / "rows.parquet")
    return sorted(pl.read_parquet(folder / "rows.parquet").rows())


def lines(edges):
    return "".join(f"{source} {target}\n" for source, target in edges).encode()


def test_compressed_files_are_read(tmp_path):
    text, part = lines(EDGES), lines(EDGES[:50])
    files = {
        "edges.txt.bz2": bz2.compress(text),
        "edges.txt.xz": lzma.compress(text),
        "two.bz2": bz2.compress(text) + bz2.compress(part),
        "two.xz": lzma.compress(text, preset=1) + lzma.compress(part, preset=9),
        "no-name": lzma.compress(text, check=lzma.CHECK_SHA256),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    for name, method in (("deflated.zip", zipfile.ZIP_DEFLATED), ("stored.zip", zipfile.ZIP_STORED)):
        with zipfile.ZipFile(tmp_path / name, "w", method) as archive:
            archive.mkdir("folder")
            with archive.open("folder/edges.csv", "w", force_zip64=name == "stored.zip") as file:
                file.write(text.replace(b" ", b","))
            archive.comment = b"of some length"
    (tmp_path / "plain.txt").write_bytes(text)
    oc.import_graph(tmp_path / "plain.txt", tmp_path / "plain.oc")
    expected = rows(tmp_path / "plain.oc", tmp_path)
    assert len(expected) == len(set(EDGES))
    for name in (*files, "deflated.zip", "stored.zip"):
        report = oc.import_graph(tmp_path / name, tmp_path / "x.oc", replace=True, memory="128MiB")
        assert report["compression"] == {"no-name": "xz"}.get(name, name.rpartition(".")[2]).replace("bz2", "bzip2")
        assert rows(tmp_path / "x.oc", tmp_path) == expected, name
    # What follows the standard input's first bytes is not known beforehand.
    with open(tmp_path / "edges.txt.bz2", "rb") as file:
        outcore("import", "-", tmp_path / "y.oc", stdin=file)
    assert rows(tmp_path / "y.oc", tmp_path) == expected


def test_what_is_not_one_whole_file_is_refused(tmp_path):
    packed = {"bzip2": bz2.compress(lines(EDGES)), "xz": lzma.compress(lines(EDGES))}
    for name, content in packed.items():
        (tmp_path / "x").write_bytes(content[:-9])
        with pytest.raises(oc.InputError, match=f"complete {name} stream.*truncated"):
            oc.import_graph(tmp_path / "x", tmp_path / "x.oc")
        (tmp_path / "x").write_bytes(content + b"1 2\n")
        with pytest.raises(oc.InputError, match=f"from byte {len(content)} on"):
            oc.import_graph(tmp_path / "x", tmp_path / "x.oc")
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", "1,2\n")
        archive.writestr("b.csv", "1,2\n")
    with pytest.raises(oc.InputError, match="a zip archive of one file, found 2: a.csv, b.csv"):
        oc.import_graph(tmp_path / "two.zip", tmp_path / "x.oc")
    with open(tmp_path / "two.zip", "rb") as file:
        refused = outcore("import", "-", tmp_path / "x.oc", stdin=file, check=False)
    assert refused.returncode == 1 and "regular file" in refused.stderr
    (tmp_path / "big.xz").write_bytes(lzma.compress(lines(EDGES), preset=9))
    with pytest.raises(oc.MemoryLimitError, match="decompressing .*big.xz"):
        oc.import_graph(tmp_path / "big.xz", tmp_path / "x.oc", memory="64MiB")
