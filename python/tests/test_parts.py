"""Graphs made of graphs: parts, the other direction, no direction; images as inputs of an import, beside files."""

import gzip
import os
import shutil
import subprocess

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

import outcore as oc

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")


def random_graph(seed, directed, multi=False, strings=False, weights=True):
    rng = np.random.default_rng(seed)
    kind = [[nx.Graph, nx.DiGraph], [nx.MultiGraph, nx.MultiDiGraph]][multi][directed]
    name = (lambda place: f"n{place:x}") if strings else (lambda place: int(place) * 3 - 7)
    graph = kind()
    graph.add_nodes_from(name(place) for place in rng.permutation(30))
    for _ in range(80):
        one, other = rng.integers(0, 25, 2)
        graph.add_edge(name(one), name(other), **({"weight": int(rng.integers(1, 9))} if weights else {}))
    return graph


def edges_of(graph):
    """The edges with weights in an order that does not depend on the image."""
    if isinstance(graph, oc.Graph):
        directed, edges = graph.is_directed(), graph.edges(weights=graph.info()["weights"] is not None)
    else:
        directed = graph.is_directed()
        has_weights = any("weight" in data for *_, data in graph.edges(data=True))
        edges = graph.edges(data="weight") if has_weights else graph.edges()
    rows = [tuple(edge) for edge in edges]
    return sorted(rows if directed else [(min(edge[:2]), max(edge[:2]), *edge[2:]) for edge in rows])


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize("directed", [False, True])
def test_parts_are_as_in_networkx(make, tmp_path, directed, in_memory):
    for seed in range(12):
        plain = random_graph(seed, directed, seed % 2 == 1, seed % 3 == 0, seed % 4 != 0)
        g = make(plain, order=["input", "degree"][seed % 2])
        image = None if in_memory else tmp_path / f"part{seed}.oc"
        some = list(plain)[5:20]
        part = g.subgraph(some, image)
        assert part.path == image and sorted(part) == sorted(some)
        assert edges_of(part) == edges_of(plain.subgraph(some))
        assert (part.is_directed(), part.is_multigraph()) == (directed, plain.is_multigraph())
        part.check()
        if directed:
            turned = g.reverse(None if in_memory else tmp_path / f"turned{seed}.oc")
            assert sorted(turned) == sorted(plain) and edges_of(turned) == edges_of(plain.reverse())
            if not plain.is_multigraph():
                both = g.to_undirected()
                assert not both.is_directed() and sorted(both) == sorted(plain)
                assert [edge[:2] for edge in edges_of(both)] == [edge[:2] for edge in edges_of(plain.to_undirected())]
        else:
            with pytest.raises(oc.UsageError, match="direction"):
                g.reverse()


def test_what_becomes_of_weights_of_two_directions(make):
    g = make([(1, 2, 2.0), (2, 1, 5.0), (2, 3, 1.0)], directed=True, order="input")
    assert edges_of(g.to_undirected()) == [(1, 2, 2.0), (2, 3, 1.0)]
    assert edges_of(g.to_undirected(duplicates="sum")) == [(1, 2, 7.0), (2, 3, 1.0)]
    assert edges_of(g.to_undirected(duplicates="max", weight="none")) == [(1, 2), (2, 3)]
    assert edges_of(g.to_undirected(self_loops="drop", order="degree")) == [(1, 2, 2.0), (2, 3, 1.0)]


def test_what_is_refused(make, tmp_path):
    g = make([(1, 2), (2, 3)])
    with pytest.raises(oc.NoVertexError):
        g.subgraph([1, 17])
    with pytest.raises(TypeError, match="vertices"):
        g.subgraph(1)
    for option in ({"format": "edge-list"}, {"source": "a"}, {"directed": True}, {"foo": 1}):
        with pytest.raises(TypeError):
            g.subgraph([1], **option)
    with pytest.warns(UserWarning, match="no edges"):
        empty = g.subgraph([])
    assert len(empty) == 0 and empty.number_of_edges() == 0
    with pytest.warns(UserWarning, match="no edges"):
        assert g.subgraph([3]).number_of_edges() == 0
    image = tmp_path / "part.oc"
    g.subgraph([1, 2], image)
    with pytest.raises(oc.ImageExistsError):
        g.subgraph([1, 2], image)
    g.subgraph([2, 3], image, replace=True)
    assert list(oc.Graph(image).edges) == [(2, 3)]


def test_memory_is_that_of_the_graph(tmp_path):
    source = np.arange(300_000)
    oc.import_graph((source, source[::-1].copy()), tmp_path / "large.oc")
    g = oc.Graph(tmp_path / "large.oc", memory="32MiB")
    with pytest.raises(oc.MemoryLimitError):
        g.reverse()
    turned = g.reverse(tmp_path / "turned.oc", memory="64MiB")
    assert turned.number_of_edges() == 300_000 and turned.has_edge(0, 299_999)


@pytest.mark.parametrize("directed", [False, True])
def test_an_image_is_an_input_of_an_import(tmp_path, directed):
    for seed in range(6):
        plain = random_graph(seed, directed, seed % 2 == 1, seed % 3 == 0)
        first, copy, more = (tmp_path / f"{name}{seed}.oc" for name in ("first", "copy", "more"))
        oc.import_graph(plain, first)
        report = oc.import_graph(first, copy, order="degree")
        assert report["directed"] is directed and report["edges"] == plain.number_of_edges()
        assert report["direction_from"].startswith("the image") and report["notes"] == []
        g = oc.Graph(copy)
        assert edges_of(g) == edges_of(plain) and sorted(g) == sorted(plain)
        assert g.info()["input_format"] == "image" and g.info()["parallel_edges"] is plain.is_multigraph()
        # Edges are added from files, in either order.
        ends = [f"n{place}" if seed % 3 == 0 else place for place in (500, 501)]
        pl.DataFrame({"source": ends[:1], "target": ends[1:], "weight": [3]}).write_csv(tmp_path / "added.csv")
        for inputs in ([first, tmp_path / "added.csv"], [tmp_path / "added.csv", first]):
            report = oc.import_graph(inputs, more, replace=True)
            assert report["edges"] == plain.number_of_edges() + 1
            expected = plain.copy()
            expected.add_edge(*ends, weight=3)
            assert edges_of(oc.Graph(more)) == edges_of(expected)
        # The same image twice says everything twice.
        oc.import_graph([first, first], more, duplicates="first", allow_repeated=True, replace=True)
        assert edges_of(oc.Graph(more)) == edges_of(nx.DiGraph(plain) if directed else nx.Graph(plain)) or seed % 2
        needs = oc.estimate_import(first)
        assert needs.format == "image" and needs.edges == plain.number_of_edges()


def test_files_with_vertices_beside_them_are_joined(tmp_path):
    # Blocks are numbered through, and each file tells its edges from its vertices by the numbers.
    paths = []
    for part in range(4):
        paths.append(tmp_path / f"part{part}.csv")
        first = 100_000 * part
        rows = "".join(f"{first + place},{first + place + 1}\n" for place in range(20_000))
        paths[-1].write_text("source,target\n" + rows)
        paths[-1].with_name(f"part{part}.csv.vertices").write_text(f"{first + 50_000}\n")
    for threads in (1, 2, 3):
        report = oc.import_graph(paths, tmp_path / "all.oc", threads=threads, replace=True)
        assert (report["edges"], report["isolated_vertices"]) == (80_000, 4)
        report = oc.import_graph([tmp_path / "all.oc", *paths], tmp_path / "more.oc", threads=threads, replace=True)
        assert (report["edges"], report["isolated_vertices"], report["duplicates"]) == (80_000, 4, 80_000)


def test_inputs_that_do_not_fit_an_image(tmp_path):
    oc.import_graph([("a", "b")], tmp_path / "strings.oc")
    oc.import_graph([(1, 2)], tmp_path / "numbers.oc", directed=True)
    oc.import_graph([(1, 2)], tmp_path / "undirected.oc", directed=False)
    oc.import_graph([(1, 2, 0.5)], tmp_path / "weights.oc", directed=True)
    for other, what in [("strings", "the same kind of ids"), ("undirected", "the same direction"), ("weights", "no weights, as")]:
        with pytest.raises(oc.InputError, match=f"expected {what}"):
            oc.import_graph([tmp_path / "numbers.oc", tmp_path / f"{other}.oc"], tmp_path / "out.oc")
    with pytest.raises(oc.UsageError, match="its own columns"):
        oc.import_graph(tmp_path / "numbers.oc", tmp_path / "out.oc", source="x")
    with pytest.raises(oc.ImageExistsError):
        oc.import_graph(tmp_path / "numbers.oc", tmp_path / "numbers.oc")
    assert not (tmp_path / "out.oc").exists()
    # An image may be replaced by what is made of it.
    oc.import_graph(tmp_path / "numbers.oc", tmp_path / "numbers.oc", directed=False, replace=True)
    assert not oc.Graph(tmp_path / "numbers.oc").is_directed()


@pytest.mark.skipif(OUTCORE is None, reason="the command is not installed: nothing of the shell was tried")
def test_the_shell_filters_and_reverses(tmp_path):
    def run(*arguments, code=0):
        done = subprocess.run([OUTCORE, *map(str, arguments)], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        return done.stderr + done.stdout

    (tmp_path / "edges.csv").write_text("source,target,weight\na,b,1\nb,c,2\nc,a,3\nc,c,4\n")
    (tmp_path / "some.txt").write_text("a\nc\n")
    run("import", "edges.csv", "all.oc")
    run("import", "all.oc", "part.oc", "--vertices", "some.txt")
    assert edges_of(oc.Graph(tmp_path / "part.oc")) == [("c", "a", 3), ("c", "c", 4)]
    run("import", "all.oc", "turned.oc", "--reverse", "--vertices", "some.txt")
    assert edges_of(oc.Graph(tmp_path / "turned.oc")) == [("a", "c", 3), ("c", "c", 4)]
    run("import", "all.oc", "edges.csv", "sums.oc", "--duplicates", "sum", "--undirected", "--self-loops", "drop")
    assert edges_of(oc.Graph(tmp_path / "sums.oc")) == [("a", "b", 2), ("a", "c", 6), ("b", "c", 4)]
    assert "expected an image as input" in run("import", "edges.csv", "x.oc", "--reverse", code=2)
    (tmp_path / "some.txt").write_text("a\nz\n")
    assert "z" in run("import", "all.oc", "x.oc", "--vertices", "some.txt", code=8)
    assert "image" in run("import", "all.oc", "x.oc", "--explain")


RATINGS = "userId,movieId,rating,timestamp\n1,1,4.5,7\n1,2,3,8\n2,1,5,9\n"
TODAY = "userId,movieId,rating,timestamp\n2,2,1.5,10\n3,1,2,11\n"
NAMED = {"source": "userId", "target": "movieId", "weight": "rating"}


@pytest.mark.parametrize("sides", [None, ("user:", "movie:")])
@pytest.mark.parametrize("kind", ["shell", "paths", "frame", "graph"])
def test_files_of_today_are_added_to_the_image_of_yesterday(tmp_path, kind, sides):
    (tmp_path / "y.csv").write_text(RATINGS)
    (tmp_path / "t.csv").write_text(TODAY)
    (tmp_path / "all.csv").write_text(RATINGS + TODAY.split("\n", 1)[1])
    options = NAMED | {"bipartite": sides or False, "attributes": ["timestamp"]}
    oc.import_graph(tmp_path / "y.csv", tmp_path / "y.oc", **options)
    oc.import_graph(tmp_path / "all.csv", tmp_path / "all.oc", **options)
    if kind == "shell":
        given = [f"--{name}={value}" for name, value in NAMED.items()] + ["--attributes", "timestamp"]
        given += [f"--bipartite={','.join(sides)}"] if sides else []
        subprocess.run([OUTCORE, "import", "y.oc", "t.csv", "n.oc", *given], check=True, cwd=tmp_path)
    else:
        image, today = tmp_path / "y.oc", tmp_path / "t.csv"
        image = oc.Graph(image) if kind == "graph" else image
        today = pd.read_csv(today) if kind in ("frame", "graph") else today
        oc.import_graph([image, today], tmp_path / "n.oc", **options)
    expected, found = oc.Graph(tmp_path / "all.oc"), oc.Graph(tmp_path / "n.oc")
    assert found.info()["weights"] == "rating" and found.is_directed() == expected.is_directed()
    assert sorted(found.edges(data=True), key=str) == sorted(expected.edges(data=True), key=str)
    assert dict(found.nodes(data=True)) == dict(expected.nodes(data=True))


def test_options_for_columns_are_refused_where_there_are_images_only(tmp_path):
    oc.import_graph([(1, 2)], tmp_path / "a.oc")
    for options in ({"source": "a"}, {"header": True}, {"bipartite": True}):
        with pytest.raises(oc.UsageError, match=f"has its own columns; leave {next(iter(options))}= out"):
            oc.import_graph([tmp_path / "a.oc", tmp_path / "a.oc"], tmp_path / "n.oc", **options)


def test_images_without_sides_and_other_parts_are_named(tmp_path):
    frame = pd.DataFrame({"source": [1], "target": [2]})
    oc.import_graph([(1, 2)], tmp_path / "a.oc")
    with pytest.raises(oc.InputError, match="two sides, whose ids begin with `left:` and `right:`, found integers"):
        oc.load_graph([tmp_path / "a.oc", frame], bipartite=True)
    oc.import_graph([("x", "y")], tmp_path / "b.oc", directed=False)
    with pytest.raises(oc.OutcoreError, match="begin with `left:` or `right:`, found `x`"):
        oc.load_graph([tmp_path / "b.oc", frame], bipartite=True)
    with pytest.raises(TypeError, match="found list at index 1; give edges as a frame"):
        oc.load_graph([tmp_path / "a.oc", [(1, 2)]])
    graph = oc.load_graph([tmp_path / "a.oc", frame, pd.DataFrame({"source": [5], "target": [6]})])
    assert sorted(graph.edges) == [(1, 2), (5, 6)]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("strings", [True, False])
def test_vertices_are_removed(tmp_path, directed, strings):
    plain = random_graph(4, directed, strings=strings)
    gone = sorted(plain)[::4]
    expected = plain.copy()
    expected.remove_nodes_from(gone)
    oc.import_graph(plain, tmp_path / "g.oc")
    with oc.Graph(tmp_path / "g.oc") as g:
        ranks = oc.pagerank(g)
        for given in (gone, np.array(gone), ranks[np.isin(ranks["vertex"], gone)]):
            rest = g.without(given)
            assert edges_of(rest) == edges_of(expected) and sorted(rest) == sorted(expected)
        assert len(g.without([], tmp_path / "all.oc")) == len(plain)
        with pytest.raises(oc.UsageError):
            g.without(["none"])
    (tmp_path / "gone.txt").write_text("".join(f"{vertex}\n" for vertex in gone))
    options = ["--exclude", "gone.txt"]
    subprocess.run([OUTCORE, "import", "g.oc", "rest.oc", *options], check=True, cwd=tmp_path)
    with oc.Graph(tmp_path / "rest.oc") as rest:
        assert edges_of(rest) == edges_of(expected) and sorted(rest) == sorted(expected)
    (tmp_path / "e.csv").write_text("source,target\n1,2\n")
    refused = subprocess.run([OUTCORE, "import", "e.csv", "x.oc", *options], capture_output=True, text=True, cwd=tmp_path)
    assert refused.returncode == 2 and "--exclude: expected an image as input, found files" in refused.stderr


def shell(folder, *arguments, code=0):
    done = subprocess.run([OUTCORE, *map(str, arguments)], capture_output=True, text=True, cwd=folder)
    assert done.returncode == code, done.stderr
    return done.stderr + done.stdout


def test_files_are_no_part_of_an_image_beside_them(tmp_path):
    (tmp_path / "s.csv").write_text("source,target\nann,bob\nbob,cy\n")
    (tmp_path / "t.csv").write_text("source,target\nann,dora\n")
    (tmp_path / "v.txt").write_text("ann\n")
    shell(tmp_path, "import", "s.csv", "s.oc")
    for option in (["--exclude", "v.txt"], ["--vertices", "v.txt"], ["--reverse"]):
        refused = shell(tmp_path, "import", "s.oc", "t.csv", "v.oc", *option, code=2)
        assert f"{option[0]}: expected images alone as inputs, found the file t.csv" in refused
    assert not (tmp_path / "v.oc").exists()


def test_lists_of_vertices_are_read_as_files_of_vertices_are(tmp_path):
    (tmp_path / "s.csv").write_text("source,target\nann,bob\nbob,cy\ncy,ann\n")
    shell(tmp_path, "import", "s.csv", "s.oc")
    texts = {
        "bom.txt": b"\xef\xbb\xbfann\ncy\n", "blanks.txt": b"  ann \t\r\ncy\n\n", "quotes.txt": b'"ann"\ncy\n# no\n',
        "packed.txt.gz": gzip.compress(b"ann\ncy\n"), "result.csv": b"vertex,level\nann,0\ncy,\n",
        "quoted.tsv": b'"vertex"\t"x"\n"ann"\t1\ncy\t2\n', "column.csv": b"vertex\nann\ncy\n",
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
        shell(tmp_path, "import", "s.oc", "part.oc", "--replace", "--vertices", name)
        assert list(oc.Graph(tmp_path / "part.oc").edges) == [("cy", "ann")], name
        shell(tmp_path, "import", "s.oc", "part.oc", "--replace", "--allow-empty", "--exclude", name)
        assert list(oc.Graph(tmp_path / "part.oc")) == ["bob"], name
        shell(tmp_path, "run", "node-boundary", "s.oc", "--vertices", f"@{name}", "--output", "beside.csv")
        rows = (tmp_path / "beside.csv").read_text().splitlines()
        assert sorted(rows) == ["ann,", "bob,1", "cy,", "vertex,edges"], name
    # A result that a run writes is a list.
    shell(tmp_path, "run", "core-number", "s.oc", "--output", "all.csv")
    shell(tmp_path, "run", "core-number", "s.oc", "--output", "all.parquet")
    for name in ("all.csv", "all.parquet"):
        shell(tmp_path, "import", "s.oc", "part.oc", "--replace", "--vertices", name)
        assert len(oc.Graph(tmp_path / "part.oc")) == 3
    (tmp_path / "wrong.txt").write_text("ann\n\nnobody\n")
    refused = shell(tmp_path, "import", "s.oc", "x.oc", "--vertices", "wrong.txt", code=8)
    assert "s.oc has no vertex `nobody`; it is named in wrong.txt:3" in refused and "such as `ann`" in refused


def test_attributes_are_in_the_order_in_which_they_are_named_in_images_too(tmp_path):
    (tmp_path / "s.csv").write_text("source,target,at,note,n\na,b,2026-10-01,x,1\n")
    (tmp_path / "t.csv").write_text("source,target,at,note,n\nb,c,2026-10-02,y,2\n")
    shell(tmp_path, "import", "s.csv", "s.oc", "--attributes", "all")
    for inputs in (["s.oc", "t.csv"], ["t.csv", "s.oc"], ["s.oc"]):
        shell(tmp_path, "import", *inputs, "both.oc", "--replace", "--attributes", "note,at")
        made = oc.Graph(tmp_path / "both.oc")
        assert [name for name, _ in made.info()["attributes"]] == ["note", "at"] and len(made) == len(inputs) + 1
        assert made.edges["a", "b"]["note"] == "x"


def test_adding_to_an_image_with_weights_is_advised(tmp_path):
    (tmp_path / "s.csv").write_text("payer,payee,amount,note\na,b,2,x\n")
    shell(tmp_path, "import", "s.csv", "s.oc", "--weight", "amount", "--attributes", "note")
    refused = shell(tmp_path, "import", "s.oc", "s.csv", "x.oc", "--attributes", "all", code=5)
    assert "say --weight 'amount'" in refused
    shell(tmp_path, "import", "s.oc", "s.csv", "x.oc", "--attributes", "all", "--weight", "amount")
