"""Files as other programs write them, the whole way into images and back: compressions and formats."""

import bz2
import gzip
import io
import json
import lzma
import subprocess
import tarfile
import zipfile

import networkx as nx
import polars as pl
import pytest
from test_cli import OUTCORE, outcore

import outcore as oc

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
    assert refused.returncode == 5 and "regular file" in refused.stderr
    (tmp_path / "big.xz").write_bytes(lzma.compress(lines(EDGES), preset=9))
    with pytest.raises(oc.MemoryLimitError, match="decompressing .*big.xz"):
        oc.import_graph(tmp_path / "big.xz", tmp_path / "x.oc", memory="64MiB")


def sample_graph(kind, weighted=True):
    """A graph of NetworkX with an isolated node, a loop and awkward names."""
    graph = kind()
    graph.add_nodes_from(["alone & <far>", 'quoted "one"', "née"])
    for number, (source, target) in enumerate(EDGES[:200]):
        graph.add_edge(f"n {source % 20}", f"n {target % 20}", **({"weight": number / 4, "cost": 3.0} if weighted else {}))
    graph.add_edge("née", "née", **({"weight": 5.0, "cost": 1.0} if weighted else {}))
    return graph


def same_graph(image, graph, weight="weight"):
    """Compares an image with a graph of NetworkX: nodes, edges and weights."""
    with oc.Graph(image) as found:
        assert found.is_directed() == graph.is_directed()
        assert sorted(found.nodes) == sorted(graph.nodes)
        weighted = found.info()["weights"] is not None
        edges = list(found.edges(weights=weighted))
    pairs = {tuple(edge[:2]) if graph.is_directed() else frozenset(edge[:2]): edge[2:] for edge in edges}
    expected = {}
    for source, target, data in graph.edges(data=True):
        expected[(source, target) if graph.is_directed() else frozenset((source, target))] = tuple(
            [data[weight]] if weight and weight in data else []
        )
    assert pairs == expected


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("name", ["graphml", "gexf", "gml", "pajek"])
def test_what_networkx_writes_is_read(tmp_path, name, kind):
    def write(graph, path):
        if name == "pajek":
            # No quotes in labels, and the weight is the only number on a line.
            graph = nx.relabel_nodes(graph, {'quoted "one"': "quoted 'one'"})
            for *_, data in graph.edges(data=True):
                data.pop("cost", None)
        writers = {"graphml": nx.write_graphml_xml, "gexf": nx.write_gexf, "gml": nx.write_gml, "pajek": nx.write_pajek}
        writers[name](graph, path)
        return graph

    for weighted in (True, False):
        graph = write(sample_graph(kind, weighted), tmp_path / "g.xml")
        report = oc.import_graph(tmp_path / "g.xml", tmp_path / "g.oc", replace=True)
        assert report["input_format"] == name
        if name == "pajek" and not weighted:
            # NetworkX writes weights of 1 where there are none, and reads them too.
            nx.set_edge_attributes(graph, 1.0, "weight")
        assert report["weights"] == ("weight" if weighted or name == "pajek" else None)
        same_graph(tmp_path / "g.oc", graph)
        if weighted and name != "pajek":
            oc.import_graph(tmp_path / "g.xml", tmp_path / "g.oc", replace=True, weight="cost")
            same_graph(tmp_path / "g.oc", graph, "cost")
    numbers = nx.gnm_random_graph(5000, 20_000, seed=1, directed=kind is nx.DiGraph)
    write(numbers, tmp_path / "g.xml")
    oc.import_graph(tmp_path / "g.xml", tmp_path / "g.oc", replace=True, memory="32MiB", weight="none")
    same_graph(tmp_path / "g.oc", numbers)


@pytest.mark.parametrize("name", ["gml", "pajek"])
def test_labels_are_ids_where_they_tell_vertices_apart(tmp_path, name):
    for labels, nodes, said in (
        (['"x"', '"b c"', '"d"'], ["b c", "d", "x"], "The ids are the labels of the vertices."),
        (['"a"', '"b"', '"a"'], [1, 2, 3], "The ids are the numbers of the vertices: some have the same label."),
        (['"a"', '"b"', ""], [1, 2, 3], "The ids are the numbers of the vertices: 1 have no label."),
    ):
        if name == "gml":
            vertices = [f"node [ id {number} {label and f'label {label}'} ]" for number, label in enumerate(labels, 1)]
            text = "\n".join(["graph [", *vertices, "edge [ source 1 target 2 ]", "]"])
        else:
            text = "\n".join(["*Vertices 3", *(f"{n} {label}" for n, label in enumerate(labels, 1)), "*Edges", "1 2"])
        (tmp_path / "g.txt").write_text(text + "\n")
        report = oc.import_graph(tmp_path / "g.txt", tmp_path / "g.oc", replace=True)
        assert said in report["notes"]
        with oc.Graph(tmp_path / "g.oc") as graph:
            assert sorted(graph.nodes) == nodes and len(graph.edges) == 1
    with pytest.raises(oc.MemoryLimitError, match="the labels of the vertices"):
        count = 1_000_000
        with open(tmp_path / "big.net", "w") as file:
            file.write(f"*Vertices {count}\n" + "".join(f"{n} {n}\n" for n in range(1, count + 1)) + "*Edges\n1 2\n")
        oc.import_graph(tmp_path / "big.net", tmp_path / "g.oc", replace=True, memory="48MiB")


def test_json_lines_are_read(tmp_path):
    frame = pl.DataFrame({"src": [1, 2, -3], "dst": [2, 3, 1], "w": [0.5, 1.5, 2.0], "note": ["x", None, "y"]})
    frame.write_ndjson(tmp_path / "g.jsonl")
    report = oc.import_graph(tmp_path / "g.jsonl", tmp_path / "g.oc", weight="w")
    assert (report["input_format"], report["source"], report["target"], report["weights"]) == ("jsonl", "src", "dst", "w")
    assert rows(tmp_path / "g.oc", tmp_path) == sorted(frame.select("src", "dst", "w").rows())
    frame.with_columns(src=pl.col("src").cast(str), dst=pl.col("dst").cast(str)).to_pandas().to_json(
        tmp_path / "s.txt.gz", orient="records", lines=True
    )
    oc.import_graph(tmp_path / "s.txt.gz", tmp_path / "s.oc")
    assert rows(tmp_path / "s.oc", tmp_path) == sorted((str(a), str(b)) for a, b in frame.select("src", "dst").rows())
    (tmp_path / "bad.jsonl").write_text('{"source": 1, "target": 2}\n{"source": null, "target": 2}\n')
    with pytest.raises(oc.InputError, match="bad.jsonl:2: expected a member `source`, as on other lines, .*nulls='skip'"):
        oc.import_graph(tmp_path / "bad.jsonl", tmp_path / "bad.oc")


def test_edges_of_both_directions_are_the_users_choice(tmp_path):
    content = '<graphml><graph edgedefault="directed"><edge source="1" target="2"/><edge source="2" target="3" directed="false"/>'
    (tmp_path / "g.graphml").write_text(content + "</graph></graphml>")
    with pytest.raises(oc.InputError, match="directed=False none has a direction"):
        oc.import_graph(tmp_path / "g.graphml", tmp_path / "g.oc")
    oc.import_graph(tmp_path / "g.graphml", tmp_path / "a.oc", directed=True)
    assert rows(tmp_path / "a.oc", tmp_path) == [(1, 2), (2, 3), (3, 2)]
    outcore("import", tmp_path / "g.graphml", tmp_path / "b.oc", "--undirected")
    assert rows(tmp_path / "b.oc", tmp_path) == [(1, 2), (2, 3)]


def test_folders_and_patterns_stand_for_their_files(tmp_path):
    frame = pl.DataFrame({"source": range(100), "target": range(1, 101), "year": [2023 + i % 2 for i in range(100)]})
    folder = tmp_path / "payments"
    for year in (2023, 2024):
        (folder / f"year={year}").mkdir(parents=True)
        frame.filter(year=year).drop("year").write_parquet(folder / f"year={year}" / "part-0.parquet")
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-0.parquet.crc").write_text("x")
    expected = sorted(frame.drop("year").rows())
    for given in (folder, str(folder) + "/", str(folder / "*/*.parquet"), str(folder / "**/*.parquet"), [folder / "year=*"]):
        oc.import_graph(given, tmp_path / "g.oc", replace=True)
        assert rows(tmp_path / "g.oc", tmp_path) == expected, given
    outcore("import", "payments/*/part-?.parquet", "shell.oc", cwd=tmp_path)
    assert rows(tmp_path / "shell.oc", tmp_path) == expected
    for given in (folder / "*.csv", tmp_path / "nothing*"):
        with pytest.raises(OSError, match="found no file"):
            oc.import_graph(given, tmp_path / "x.oc")
    (folder / "year=2024" / "more.csv").write_text("1,2\n")
    with pytest.raises(oc.InputError, match="part-0.parquet: expected the format of .*more.csv|more.csv: expected the format of"):
        oc.import_graph(folder, tmp_path / "x.oc")
    (folder / "year=2024" / "more.csv").rename(tmp_path / "more.csv")
    frame.select(pl.col("source").cast(str), pl.col("target").cast(str)).write_parquet(folder / "year=2024" / "text.parquet")
    with pytest.raises(oc.InputError, match="text.parquet: expected the same kind of ids"):
        oc.import_graph(folder, tmp_path / "x.oc")


def test_rows_without_an_end_are_left_out_if_asked(tmp_path):
    ints = pl.DataFrame({"source": [1, None, 3, 4, None, 5], "target": [2, 3, None, 5, None, 6], "weight": [1, 2, 3, 4, 5, 6]})
    words = ints.with_columns(pl.col("source", "target").cast(str))
    for frame in (ints, words):
        frame.write_parquet(tmp_path / "g.parquet", row_group_size=2)
        frame.write_parquet(tmp_path / "copy.parquet", row_group_size=2)
        frame.write_ipc(tmp_path / "g.arrow", compat_level=pl.CompatLevel.oldest())
        frame.write_csv(tmp_path / "g.csv", quote_style="non_numeric")
        frame.write_csv(tmp_path / "na.csv", null_value="NA")
        frame.write_ndjson(tmp_path / "g.jsonl")
        expected = sorted(frame.drop_nulls().rows())
        files = ["g.parquet", "g.arrow", "g.csv", "g.jsonl"] + (["na.csv"] if frame is ints else [])
        for given in (*(tmp_path / name for name in files), frame, [tmp_path / "g.parquet", tmp_path / "copy.parquet"]):
            name = f"{given}"
            with pytest.raises(oc.InputError):
                oc.import_graph(given, tmp_path / "g.oc", replace=True)
            ids = "string" if frame is words and name.endswith(".csv") else "auto"
            report = oc.import_graph(given, tmp_path / "g.oc", replace=True, nulls="skip", ids=ids)
            count = 6 if isinstance(given, list) else 3
            assert f"Rows without a source or a target that were left out: {count}." in report["notes"], name
            assert rows(tmp_path / "g.oc", tmp_path) == expected, name
    outcore("import", tmp_path / "g.parquet", tmp_path / "shell.oc", "--nulls", "skip")
    assert rows(tmp_path / "shell.oc", tmp_path) == expected
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n")
    with pytest.raises(oc.UsageError, match="nulls"):
        oc.import_graph(tmp_path / "g.mtx", tmp_path / "x.oc", nulls="skip")


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("ending", ["graphml", "gexf", "gml", "net"])
def test_networkx_reads_what_is_exported(tmp_path, ending, kind):
    graph = nx.relabel_nodes(sample_graph(kind), {'quoted "one"': "quoted 'one'"})
    oc.import_graph(graph, tmp_path / "g.oc", weight="weight")
    with oc.Graph(tmp_path / "g.oc") as image:
        image.export(tmp_path / f"g.{ending}")
    read = {"graphml": nx.read_graphml, "gexf": nx.read_gexf, "gml": nx.read_gml, "net": nx.read_pajek}[ending]
    found = kind(read(tmp_path / f"g.{ending}"))
    assert set(found) == set(graph) and found.number_of_edges() == graph.number_of_edges()
    for source, target, data in graph.edges(data=True):
        assert float(found[source][target]["weight"]) == data["weight"]
    oc.import_graph(tmp_path / f"g.{ending}", tmp_path / "again.oc")
    same_graph(tmp_path / "again.oc", graph)


def test_exports_as_json_lines(tmp_path):
    frame = pl.DataFrame({"source": ["a", "b\t\"x\"", "née"], "target": ["7", "a", "a"], "sim": [0.25, 1e300, -3.0]})
    oc.import_graph(frame, tmp_path / "g.oc", weight="sim", directed=False, vertices=["alone"])
    with oc.Graph(tmp_path / "g.oc") as graph:
        graph.export(tmp_path / "g.jsonl")
    found = pl.read_ndjson(tmp_path / "g.jsonl")
    assert found.columns == ["source", "target", "sim", "Type"] and set(found["Type"]) == {"Undirected"}
    ends = {frozenset(row[:2]): row[2] for row in found.rows()}
    assert ends == {frozenset(row[:2]): row[2] for row in frame.rows()}
    report = oc.import_graph(tmp_path / "g.jsonl", tmp_path / "again.oc", weight="sim")
    assert (report["vertices"], report["directed"], report["weights"]) == (5, False, "sim")


def konect(folder):
    """An archive as KONECT makes them: descriptions beside the data."""
    name = folder / "download.tsv.few.tar.bz2"
    members = {"few/meta.few": b"name: Few\n", "few/README.few": b"1 2 3\n", "few/out.few": b"% asym weighted\n" + lines(EDGES)}
    with tarfile.open(name, "w:bz2") as archive:
        archive.add(folder, "few", recursive=False)
        for path, content in members.items():
            info = tarfile.TarInfo(path)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return name


def test_archives_of_collections_are_read_as_they_are(tmp_path):
    report = oc.import_graph(konect(tmp_path), tmp_path / "k.oc", memory="64MiB")
    assert (report["compression"], report["directed"], report["edges_read"]) == ("bzip2", True, len(EDGES))
    with zipfile.ZipFile(tmp_path / "rt.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.html", "<html>")
        archive.writestr("rt.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n")
    assert oc.import_graph(tmp_path / "rt.zip", tmp_path / "rt.oc")["edges"] == 2
    # The name in the archive decides, as that of a file does: METIS has no first line that tells.
    for kind in ("", ":gz", ":xz"):
        path = tmp_path / f"grid.tar{kind.replace(':', '.')}"
        long = "a-folder-with-a-long-name/" * 8 + "grid.graph"
        for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            with tarfile.open(path, f"w{kind}", format=form) as archive:
                info = tarfile.TarInfo(long)
                info.size = 12
                archive.addfile(info, io.BytesIO(b"3 2\n2\n1 3\n2\n"))
            report = oc.import_graph(path, tmp_path / "m.oc", replace=True)
            assert (report["input_format"], report["edges"]) == ("metis", 2), (kind, form)
    proteins = tmp_path / "9606.protein.links.v12.0.txt"
    proteins.write_text("protein1 protein2 combined_score\n9606.A 9606.B 173\n9606.B 9606.A 173\n9606.A 9606.C 900\n")
    graph = oc.load_graph(proteins, weight="combined_score", directed=False)
    assert sorted(graph.edges(data="combined_score")) == [("9606.A", "9606.B", 173), ("9606.A", "9606.C", 900)]


def test_archives_that_are_cut_or_ambiguous_are_refused(tmp_path):
    whole = konect(tmp_path).read_bytes()
    plain = bz2.decompress(whole)
    for content, words in ((whole[: len(whole) // 2], "truncated"), (plain[: len(plain) // 2], "truncated")):
        (tmp_path / "cut").write_bytes(content)
        with pytest.raises(oc.InputError, match=words):
            oc.import_graph(tmp_path / "cut", tmp_path / "g.oc")
    with tarfile.open(tmp_path / "two.tar", "w") as archive:
        for name in ("a.txt", "b.txt"):
            (tmp_path / name).write_bytes(lines(EDGES))
            archive.add(tmp_path / name, name)
    with pytest.raises(oc.InputError, match=r"2: a\.txt, b\.txt; unpack it"):
        oc.import_graph(tmp_path / "two.tar", tmp_path / "g.oc")
    pl.DataFrame(EDGES[:9], schema=["source", "target"], orient="row").write_parquet(tmp_path / "e.parquet")
    with tarfile.open(tmp_path / "table.tar", "w") as archive:
        archive.add(tmp_path / "e.parquet", "e.parquet")
    with pytest.raises(oc.InputError, match="unpack it"):
        oc.import_graph(tmp_path / "table.tar", tmp_path / "g.oc")
    assert not (tmp_path / "g.oc").exists()


def with_attributes(directed):
    """A graph with attributes of every type that documents have, some of them missing."""
    graph = nx.DiGraph() if directed else nx.Graph()
    for v in range(40):
        graph.add_node(f"v{v}", size=v * v, share=v / 7, name=f"the {v}th <&> \"é\"", even=v % 2 == 0)
    for v in range(40):
        graph.add_edge(f"v{v}", f"v{v * 7 % 40}", weight=v + 0.5, kind=["road", "rail", ""][v % 3], lanes=v - 20)
    graph.add_node("bare")
    graph.add_edge("bare", "v3", weight=1.0)
    return graph


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_attributes_of_documents_are_those_that_networkx_reads(tmp_path, kind, directed):
    path = tmp_path / f"g.{kind}"
    getattr(nx, f"write_{kind}")(with_attributes(directed), path)
    expected = getattr(nx, f"read_{kind}")(path)
    graph = oc.load_graph(path, attributes=True)
    assert graph.is_directed() == directed
    # In text an empty value is a missing one where it is no string; NetworkX adds ids of its own to edges of GEXF.
    nodes = dict(expected.nodes(data=True))
    assert dict(graph.nodes(data=True)) == nodes
    ends = lambda edge: edge[:2] if directed else tuple(sorted(edge[:2]))
    edges = {ends(edge): {name: value for name, value in edge[2].items() if name != "id"} for edge in expected.edges(data=True)}
    assert {ends(edge): edge[2] for edge in graph.edges(data=True)} == edges
    assert oc.load_graph(path, attributes=["kind", "size"]).edges(data="kind")
    with pytest.warns(UserWarning, match="Attributes that are not read: .*kind"):
        assert "size" not in dict(oc.load_graph(path).nodes(data=True))["v1"]
    with pytest.raises(oc.OutcoreError, match="found no such attribute"):
        oc.load_graph(path, attributes=["colour"])


def test_attributes_of_json_lines(tmp_path):
    frame = pl.DataFrame(
        {
            "source": [1, 2, 3], "target": [2, 3, 1], "kind": ["a", None, 'q"é\n'], "n": [1, -2, None],
            "x": [0.5, 1e300, None], "ok": [True, None, False], "list": [[1], [2], []],
        }
    )
    frame.write_ndjson(tmp_path / "e.jsonl")
    graph = oc.load_graph(tmp_path / "e.jsonl", attributes=True)
    expected = {
        (row.pop("source"), row.pop("target")): {name: value for name, value in row.items() if value is not None}
        for row in frame.drop("list").to_dicts()
    }
    assert {edge[:2]: edge[2] for edge in graph.edges(data=True)} == expected


def test_documents_with_an_attribute_of_several_types_are_read(tmp_path):
    """NetworkX writes a key for each type of values that have one name."""
    graph = nx.Graph()
    graph.add_node("a", age=30, mixed="x", far=float("inf"))
    graph.add_node("b", age=31.5, mixed=2, far=1.5)
    graph.add_edge("a", "b", weight=1, len=2)
    graph.add_edge("b", "c", weight=0.5, len=2.5)
    path = tmp_path / "m.graphml"
    nx.write_graphml(graph, path)
    ours, theirs = oc.load_graph(path, attributes=True), nx.read_graphml(path)
    named = {node: data | ({"mixed": str(data["mixed"])} if data else {}) for node, data in theirs.nodes(data=True)}
    assert dict(ours.nodes(data=True)) == named
    assert sorted((*sorted(edge[:2]), edge[2]["weight"], edge[2]["len"]) for edge in ours.edges(data=True)) == sorted(
        (*sorted(edge[:2]), edge[2]["weight"], edge[2]["len"]) for edge in theirs.edges(data=True)
    )
    assert oc.load_graph(path).info()["weights"] == "weight"


def test_documents_of_gephi_and_yed(tmp_path):
    (tmp_path / "g.gexf").write_text(
        '<gexf><meta><creator>Gephi 0.10</creator><title/><description/></meta><graph><attributes class="node">'
        '<attribute id="0" title="label" type="string"/></attributes><nodes><node id="a" label="LA"><attvalues>'
        '<attvalue for="0" value="A"/></attvalues></node><node id="b" label="LB"/></nodes></graph></gexf>'
    )
    graph = oc.load_graph(tmp_path / "g.gexf", attributes=True)
    assert dict(graph.nodes(data="label")) == {"a": "A", "b": "LB"}
    (tmp_path / "y.graphml").write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">'
        '<key for="node" id="d6" yfiles.type="nodegraphics"/><key for="node" id="d1" attr.name="on" attr.type="boolean"/>'
        '<graph edgedefault="directed"><node id="n0"><data key="d1">1</data><data key="d6"><y:ShapeNode><y:NodeLabel>Alice'
        "</y:NodeLabel></y:ShapeNode></data></node></graph></graphml>"
    )
    assert dict(oc.load_graph(tmp_path / "y.graphml", attributes=True).nodes(data=True)) == {"n0": {"on": True}}


def test_ids_that_look_like_numbers_come_back_through_graphml(tmp_path):
    graph = oc.load_graph([("1", "2"), ("2", "a")])
    graph.export(tmp_path / "n.graphml")
    assert set(nx.read_graphml(tmp_path / "n.graphml")) == {"1", "2", "a"}
    assert sorted(oc.load_graph(tmp_path / "n.graphml").edges) == [("1", "2"), ("2", "a")]


def test_columns_of_konect_are_between_blanks_and_tabs(tmp_path):
    (tmp_path / "out.k").write_text("% bip weighted\n1 2\t5 1000\n2 3\t4 1001\n")
    graph = oc.load_graph(tmp_path / "out.k")
    assert sorted(graph.edges(data="weight")) == [("left:1", "right:2", 5), ("left:2", "right:3", 4)]
    (tmp_path / "out.a").write_text("% asym\n1 2\t\n2 3\t\n")
    assert sorted(oc.load_graph(tmp_path / "out.a").edges) == [(1, 2), (2, 3)]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiDiGraph])
def test_dot_is_read_as_networkx_reads_it(tmp_path, kind):
    graph = nx.gnm_random_graph(60, 200, seed=3, directed=kind is not nx.Graph)
    graph = kind(nx.relabel_nodes(graph, {node: f"n {node}; [\u00e9]" for node in range(50)}))
    for number, (_, _, data) in enumerate(graph.edges(data=True)):
        data["weight"] = number % 7 + 0.5
        data["label"] = "a -> b; { # /* }"
    if graph.is_multigraph():
        graph.add_edge(55, 56, weight=1.0)
        graph.add_edge(55, 56, weight=2.0)
    nx.nx_pydot.write_dot(graph, tmp_path / "g.dot")
    with oc.load_graph(tmp_path / "g.dot") as read:
        expected = nx.nx_pydot.read_dot(tmp_path / "g.dot")
        plain = {name: name.strip('"') for name in expected}
        assert {str(node) for node in read.nodes} == set(plain.values())
        found = sorted((str(a), str(b), weight) for a, b, weight in read.edges(weights=True))
        wanted = [(plain[a], plain[b], float(data["weight"])) for a, b, data in expected.edges(data=True)]
        ends = (lambda edge: edge) if read.is_directed() else (lambda edge: (*sorted(edge[:2]), edge[2]))
        assert sorted(map(ends, found)) == sorted(map(ends, wanted))
        assert (read.is_directed(), read.is_multigraph()) == (expected.is_directed(), expected.is_multigraph())
    (tmp_path / "g.gv").write_text("digraph { a -> {b c}; edge [weight=3]; b -> c }")
    assert sorted(oc.load_graph(tmp_path / "g.gv").edges(weights=True)) == [("a", "b", 1), ("a", "c", 1), ("b", "c", 3)]


def test_sif_goes_out_and_comes_back(tmp_path):
    (tmp_path / "g.sif").write_text("gene a\tpp\tgene b\ngene b\tpd\tgene c\nalone\n")
    with oc.load_graph(tmp_path / "g.sif", attributes=True) as graph:
        graph.export(tmp_path / "back.sif")
        lines = lambda name: sorted((tmp_path / name).read_text().splitlines())
        assert lines("back.sif") == lines("g.sif")
    with oc.load_graph([(1, 2), (2, 3)], vertices=[7, 8]) as graph:
        graph.export(tmp_path / "plain.sif.gz")
        with oc.load_graph(tmp_path / "plain.sif.gz") as back:
            assert (sorted(back.edges), sorted(back.nodes)) == ([(1, 2), (2, 3)], [1, 2, 3, 7, 8])
    with oc.load_graph([("a", "b", 2)]) as graph, pytest.raises(oc.UsageError, match="it has no weights"):
        graph.export(tmp_path / "w.sif")
    with oc.load_graph([("a\tb", "c")]) as graph, pytest.raises(oc.UsageError, match="tabs"):
        graph.export(tmp_path / "t.sif")
    assert not (tmp_path / "t.sif").exists()


def test_binary_edges_are_read_under_the_names_they_are_generated_with(tmp_path):
    for name in ("f.bin16", "f.graph500"):
        oc.generate("kronecker", scale=6, output=tmp_path / name)
        oc.import_graph(tmp_path / name, tmp_path / "f.oc", replace=True)
    serialized = b"\x01" + b"".join(n.to_bytes(8, "little") for n in (1, 3, 0, 1, 1, 1)) + (2).to_bytes(4, "little")
    serialized += b"".join(n.to_bytes(8, "little") for n in (0, 0, 0, 1)) + bytes(4)
    (tmp_path / "x.sg").write_bytes(serialized)
    assert list(oc.load_graph(tmp_path / "x.sg").edges) == [(0, 2)]
    edges = (tmp_path / "f.bin16").read_bytes()
    for name, content in (("f.bin", edges), ("f.txt", edges), ("x.bin", serialized), ("x.csv", serialized)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(oc.InputError, match="found binary data; say which binary format it is.*graph500.*sg"):
            oc.load_graph(tmp_path / name)
    with pytest.raises(oc.InputError, match="found binary data"):
        oc.load_graph(tmp_path / "x.sg", format="el")
    refused = subprocess.run([OUTCORE, "import", "-", tmp_path / "p.oc"], input=serialized, capture_output=True)
    assert refused.returncode == 5 and b"found binary data" in refused.stderr and b"sg" in refused.stderr


SIF_EDGES = [
    ([], ["a pp c", "x"]),
    ([], ["new york"]),
    ([], ["a pp b"]),
    ([], ["a", "b"]),
    ([("a b", "c"), ("d", "a b")], ["x pp y", "lone"]),
    ([("a", "b")], ["new york", "x"]),
]


@pytest.mark.parametrize(("edges", "lone"), SIF_EDGES)
def test_blanks_in_ids_of_sif_separate_nothing(edges, lone, tmp_path):
    given = nx.Graph(edges)
    given.add_nodes_from(lone)
    with oc.load_graph(given) as graph:
        graph.export(tmp_path / "s.sif")
    with oc.load_graph(tmp_path / "s.sif", directed=False) as back:
        found = nx.Graph(list(back.edges))
        found.add_nodes_from(back.nodes)
    assert nx.utils.graphs_equal(found, given)


def test_exports_between_tabs_hold_the_ids_that_imports_between_tabs_read(tmp_path):
    edges = [("a b", "c"), ("x,y", "#z"), ('q"', "r;s"), ("u|v", " w ")]
    with oc.load_graph(edges) as graph:
        graph.export(tmp_path / "y.tsv")
    with oc.load_graph(tmp_path / "y.tsv") as back:
        assert sorted(back.edges) == sorted(edges)


def test_sif_says_that_strings_look_like_numbers(tmp_path):
    with oc.load_graph([("1", "2")]) as graph, pytest.warns(UserWarning, match="ids='string'"):
        graph.export(tmp_path / "g.sif")


def test_exports_and_results_go_to_the_standard_output(tmp_path):
    oc.import_graph([("a", "b c"), ("b c", "d\"e")], tmp_path / "g.oc", vertices=["lone"], directed=False)
    text = outcore("export", tmp_path / "g.oc", "-.csv")
    assert sorted(line.split(",")[:2] for line in text.stdout.splitlines()[1:]) == [['"b c"', '"d""e"'], ["a", '"b c"']]
    assert "1 isolated" in text.stderr and "standard output" in text.stderr
    assert outcore("export", tmp_path / "g.oc", "-.jsonl").stdout.count("Undirected") == 2
    oc.import_graph([(1, 2), (2, 5)], tmp_path / "n.oc", directed=False)
    piped = outcore("export", tmp_path / "n.oc", "-")
    (tmp_path / "piped").write_text(piped.stdout)
    with open(tmp_path / "piped", "rb") as file:
        outcore("import", "-", tmp_path / "copy.oc", stdin=file)
    assert rows(tmp_path / "copy.oc", tmp_path) == [(1, 2), (2, 5)]
    with oc.Graph(tmp_path / "copy.oc") as copy:
        assert not copy.is_directed()
    # Numbers of vertices need a file of ids beside them, and so does Graphalytics.
    for name in ("-.mtx", "-.e"):
        assert outcore("export", tmp_path / "g.oc", name, check=False).returncode == 2
    ranks = outcore("run", "pagerank", tmp_path / "g.oc", "--output", "-.jsonl", "--memory", "64MiB")
    objects = [json.loads(line) for line in ranks.stdout.splitlines()]
    assert {row["vertex"] for row in objects} == {"a", "b c", 'd"e', "lone"}
    assert sum(row["pagerank"] for row in objects) == pytest.approx(1)
    assert "peak memory" in ranks.stderr
    ranks = outcore("run", "pagerank", tmp_path / "g.oc", "--output", "-")
    assert ranks.stdout.splitlines()[0] == "vertex,pagerank"
    levels = outcore("run", "bfs", tmp_path / "g.oc", "--source", "a", "--output", tmp_path / "levels.jsonl.gz")
    assert levels.stdout
    read = pl.read_ndjson(gzip.decompress((tmp_path / "levels.jsonl.gz").read_bytes()))
    assert dict(read.select("vertex", "level").rows())["lone"] is None
    both = outcore("run", "pagerank", tmp_path / "g.oc", "--output", "-", "--stats", "-", check=False)
    assert both.returncode != 0
    assert "different places" in both.stderr


def test_an_import_says_what_it_did_as_json(tmp_path):
    (tmp_path / "e.csv").write_text("source,target,kind\na,b,x\nb,c,y\n")
    done = outcore("import", tmp_path / "e.csv", tmp_path / "g.oc", "--attributes", "kind", "--stats", "-")
    written = json.loads(done.stdout)
    said = written["result"]
    expected = oc.import_graph(tmp_path / "e.csv", tmp_path / "p.oc", attributes=["kind"])
    assert set(said) | {"notes", "stats"} == set(expected) and set(written["stats"]) == set(expected["stats"])
    assert [said[name] for name in ("vertices", "edges", "attributes")] == [3, 2, [["kind", "string"]]]
    assert written["notes"] == []
    outcore("import", tmp_path / "e.csv", tmp_path / "h.oc", "--stats", tmp_path / "said.json", "--quiet")
    [note] = json.loads((tmp_path / "said.json").read_text())["notes"]
    assert "not read: kind" in note and "--attributes all" in note


def test_so_many_rows_are_shown_as_are_asked_for(tmp_path):
    outcore("generate", "star", tmp_path / "g.oc", "--scale", "6")
    for options, rows in [((), 10), (("--top", "3"), 3), (("--top", "0"), 0), (("--top", "100"), 64)]:
        said = outcore("run", "pagerank", tmp_path / "g.oc", *options).stdout
        assert sum(line.startswith("  ") for line in said.splitlines()) == rows, said


def test_what_stands_beside_no_standard_output_is_said(tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n2 3\n")
    outcore("import", tmp_path / "g.txt", tmp_path / "s.oc", "--ids", "string", "--undirected")
    for ending in ("csv", "tsv"):
        assert "--ids string" in outcore("export", tmp_path / "s.oc", f"-.{ending}").stderr
        assert "--ids string" not in outcore("export", tmp_path / "s.oc", tmp_path / f"s.{ending}").stderr
    assert "--ids string" not in outcore("export", tmp_path / "s.oc", "-").stderr
    outcore("import", tmp_path / "g.txt", tmp_path / "i.oc", "--undirected")
    assert "--ids string" not in outcore("export", tmp_path / "i.oc", "-.csv").stderr


def test_the_only_column_of_a_table_of_vertices_may_have_a_name(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\nann,bob\n")
    for first, vertices in (("id", 3), ("Node", 3), ("carl", 4)):
        (tmp_path / "v.csv").write_text(f"{first}\nann\ndora\n")
        said = outcore("import", tmp_path / "e.csv", tmp_path / f"{first}.oc", "--vertex-table", tmp_path / "v.csv").stderr
        assert oc.Graph(tmp_path / f"{first}.oc").number_of_nodes() == vertices
        assert ("was read as a vertex" in said) == (first == "carl"), said


def test_statistics_of_an_import_do_not_take_its_place(tmp_path):
    (tmp_path / "e.txt").write_text("1 2\n")
    for name in ("e.txt", "g.oc"):
        command = ["import", tmp_path / "e.txt", tmp_path / "g.oc", "--stats", tmp_path / name]
        refused = outcore(*command, check=False)
        assert refused.returncode == 2 and "expected different files" in refused.stderr
    assert (tmp_path / "e.txt").read_text() == "1 2\n" and not (tmp_path / "g.oc").exists()
