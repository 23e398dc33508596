"""Everything that can be imported from Python, and what is refused."""

import os
import pathlib

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp

import outcore as oc

EDGES = [(1, 2, 5), (2, 3, 6), (3, 1, 7), (9, 1, 8)]
SOURCE, TARGET, WEIGHT = (np.array(column) for column in zip(*EDGES))


def exported(graph, tmp_path):
    """The rows of the image, sorted."""
    graph.export(tmp_path / "out.parquet")
    return sorted(pl.read_parquet(tmp_path / "out.parquet").rows())


TABLES = {
    "polars": lambda: pl.DataFrame({"source": SOURCE, "target": TARGET, "weight": WEIGHT}),
    "pandas": lambda: pd.DataFrame({"source": SOURCE, "target": TARGET, "weight": WEIGHT}),
    "pandas, reordered": lambda: pd.DataFrame({"weight": WEIGHT, "dst": TARGET, "src": SOURCE}),
    "pyarrow": lambda: pa.table({"source": SOURCE, "target": TARGET, "weight": WEIGHT}),
    "pyarrow, stream": lambda: pa.table({"source": SOURCE, "target": TARGET, "weight": WEIGHT}).to_reader(2),
    "numpy": lambda: (SOURCE, TARGET, WEIGHT),
    "numpy, small": lambda: (SOURCE.astype(np.int16), TARGET.astype(np.uint8), WEIGHT.astype(np.int32)),
    "numpy, strided": lambda: tuple(np.array(EDGES)[:, column] for column in range(3)),
    "list": lambda: EDGES,
    "networkx": lambda: weighted(),
    "scipy": lambda: sp.coo_array((WEIGHT, (SOURCE, TARGET)), shape=(10, 10)),
}


def weighted():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(EDGES)
    return graph


@pytest.mark.parametrize("name", TABLES)
def test_tables(make, tmp_path, name):
    graph = make(TABLES[name]())
    assert graph.is_directed() and graph.number_of_edges() == 4 and len(graph) == (10 if name == "scipy" else 4)
    assert exported(graph, tmp_path) == EDGES
    # Entries of a matrix may add up to more than the narrowest type holds.
    assert graph.info()["weight_type"] == ("i64" if name == "scipy" else "u8")


@pytest.mark.parametrize("name", TABLES)
def test_tables_without_weights(make, tmp_path, name):
    graph = make(TABLES[name](), weight="none")
    assert graph.info()["weights"] is None
    assert exported(graph, tmp_path) == [edge[:2] for edge in EDGES]


def test_pandas_without_pyarrow(make, tmp_path, monkeypatch):
    monkeypatch.delitem(__import__("sys").modules, "pyarrow")
    frame = pd.DataFrame({"from": ["a", "b"], "to": ["b", "c"], "weight": [0.5, 2.0]}, dtype=object).astype({"weight": float})
    graph = make(frame)
    assert exported(graph, tmp_path) == [("a", "b", 0.5), ("b", "c", 2.0)]
    # Columns that are not used may hold anything, and be called alike.
    odd = frame.assign(when=pd.Timestamp(2024, 1, 1), who=[None, "x"], ok=[True, False], how=[("a",), 3.5])
    odd = pd.concat([odd, odd[["who"]]], axis=1)
    # Pandas may have imported it.
    monkeypatch.delitem(__import__("sys").modules, "pyarrow", raising=False)
    assert exported(make(odd), tmp_path) == [("a", "b", 0.5), ("b", "c", 2.0)]
    with pytest.raises(oc.InputError, match="integers or strings in column `when`, found no values of one type; cast"):
        make(odd, source="when", target="to")
    with pytest.raises(oc.InputError, match="numbers in the weight column `ok`"):
        make(odd, weight="ok")
    with pytest.raises(oc.InputError, match="found the columns a, b, when"):
        make(pd.DataFrame({"a": [1], "b": [2], "when": [pd.Timestamp(2024, 1, 1)]}))


def test_strings(make):
    names = {"polars": pl.DataFrame({"a": ["x", "é"], "b": ["é", ""]}), "list": [("x", "é"), ("é", "")]}
    names["numpy"] = (np.array(["x", "é"]), np.array(["é", ""]))
    names["objects"] = (np.array(["x", "é"], object), np.array(["é", ""], object))
    names["networkx"] = nx.DiGraph([("x", "é"), ("é", "")])
    for given in names.values():
        assert oc.bfs(make(given), "x").to_dict() == {"": 2, "x": 0, "é": 1}


def test_files(scratch, make):
    pathlib.Path("a.txt").write_text("1 2\n2 3\n")
    pathlib.Path("b.txt").write_text("3 4\n")
    assert make("a.txt").number_of_edges() == make(pathlib.Path("a.txt")).number_of_edges() == 2
    assert make(["a.txt", pathlib.Path("b.txt")]).number_of_edges() == make(("a.txt", "b.txt")).number_of_edges() == 3
    report = oc.import_graph("a.txt", "a.oc", directed=False, order="input", vertices=[2, 77])
    assert (report["vertices"], report["directed"], report["order"], report["isolated_vertices"]) == (4, False, "input", 1)
    assert report["edges_read"] == 2 and report["stats"]["seconds"] > 0


@pytest.mark.parametrize("name", ["out.csv", "out.txt.gz", "out.parquet"])
@pytest.mark.parametrize("ids", [[1, 2, -9], ["anna", "ben", "# carl"]])
def test_isolated_vertices_come_back(make, tmp_path, name, ids):
    graph = make([(ids[0], ids[1])], vertices=ids)
    graph.export(tmp_path / name)
    report = oc.import_graph(tmp_path / name, tmp_path / "again.oc")
    assert (report["vertices"], report["edges"], report["isolated_vertices"]) == (3, 1, 1)
    assert any(f"{name}.vertices beside it is read too" in note for note in report["notes"])
    assert set(oc.components(oc.Graph(tmp_path / "again.oc")).to_dict()) == set(ids)


def test_an_image_is_replaced_only_if_that_is_asked_for(scratch):
    oc.import_graph([(1, 2)], "g.oc")
    old = oc.Graph("g.oc")
    for again in (lambda **more: oc.import_graph([(1, 2), (2, 3)], "g.oc", **more),
                  lambda **more: oc.generate("path", scale=3, output="g.oc", **more)):
        with pytest.raises(oc.ImageExistsError, match="replace=True"):
            again()
        vertices = again(replace=True)["vertices"]
        assert len(oc.Graph("g.oc")) == vertices
    # Whoever has the old one open keeps it.
    assert len(old) == 2 and sorted(oc.components(old).to_dict()) == [1, 2]


@pytest.mark.parametrize("name", ["out.txt", "out.edges.gz", "out.parquet"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weight", [None, "sim", "combined score", "source"])
def test_exports_come_back_as_what_they_were(make, tmp_path, name, directed, weight):
    """Direction and the name of the weights too, so that defaults are the same."""
    plain = nx.DiGraph() if directed else nx.Graph()
    plain.add_edges_from([("1", "2"), ("10", "2"), ("3", "1")], **({weight: 250} if weight else {}))
    graph = make(plain, weight=weight or "none")
    graph.export(tmp_path / name)
    again = make(tmp_path / name)
    for fact in ("vertices", "edges", "directed", "ids"):
        assert again.info()[fact] == graph.info()[fact], fact
    # A column called `source` is the sources, so that in Parquet weights of this name get another.
    assert again.info()["weights"] == ("weight" if (weight, name) == ("source", "out.parquet") else weight)
    assert exported(again, tmp_path) == exported(graph, tmp_path)
    assert make(tmp_path / name, directed=True, weight="none").info()["weights"] is None


@pytest.mark.parametrize("directed", [True, False])
def test_exported_tables_are_those_of_pandas_and_gephi(make, tmp_path, directed):
    plain = nx.DiGraph() if directed else nx.Graph()
    plain.add_edge(1, 2, sim=0.5)
    make(plain, weight="sim").export(tmp_path / "out.csv")
    expected = {"source": [1], "target": [2], "sim": [0.5]} | ({} if directed else {"Type": ["Undirected"]})
    assert pd.read_csv(tmp_path / "out.csv").to_dict("list") == expected
    again = make(tmp_path / "out.csv", weight="sim")
    assert again.info()["weights"] == "sim" and again.is_directed() is directed


@pytest.mark.parametrize("name", ["out.txt", "out.parquet", "out.csv", "out.tsv.gz"])
@pytest.mark.parametrize("ids", [["7", "anna"], ["007", "7"]])
@pytest.mark.parametrize("directed", [True, False])
def test_strings_without_edges_come_back(make, tmp_path, name, ids, directed):
    graph = make((np.array([], str), np.array([], str)), vertices=ids, directed=directed)
    graph.export(tmp_path / name)
    again = make(tmp_path / name)
    assert again.info()["ids"] == "string" and len(again) == 2 and again.number_of_edges() == 0
    assert again.is_directed() is directed and set(oc.components(again).to_dict()) == set(ids)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, "categories"])
def test_gephis_type_is_the_direction_of_frames(make, kind):
    columns = {"Source": [1, 2], "Target": [2, 3], "Type": ["Undirected", "Undirected"]}
    frame = lambda: pd.DataFrame(columns).astype({"Type": "category"}) if kind == "categories" else kind(columns)
    assert make(frame()).is_directed() is False and make(frame(), directed=True).is_directed()
    columns["Type"] = ["Directed", "Undirected"]
    with pytest.raises(oc.InputError, match="expected `Directed` in column `Type`"):
        make(frame())
    columns["Type"] = ["friend", "Undirected"]
    assert make(frame()).is_directed()
    for option in ({"header": True}, {"delimiter": "tab"}, {"comment": "#"}):
        with pytest.raises(oc.UsageError, match=f"^{next(iter(option))}=: expected"):
            make(frame(), **option)


def test_many_rows(make):
    """More than one piece, and each edge in its place."""
    count = 200_000
    source, target = np.arange(count), np.arange(count) + 1
    for given in ((source, target), pl.DataFrame({"s": source, "t": target}), nx.path_graph(count + 1, nx.DiGraph)):
        graph = make(given)
        assert (len(graph), graph.number_of_edges()) == (count + 1, count)
        assert oc.bfs(graph, count - 50).depth == 50


def test_vertices(make):
    assert len(make((SOURCE, TARGET), vertices=20)) == 20
    assert len(make((SOURCE, TARGET), vertices=[100, 200, 1])) == 6
    assert len(make((SOURCE, TARGET), vertices=pl.DataFrame({"id": [100, 100]}))) == 5
    assert len(make((SOURCE, TARGET), vertices=[])) == 4
    assert len(make((SOURCE[:0], TARGET[:0]), vertices=3)) == 3
    assert len(make([("a", "b")], vertices=["c"])) == 3
    with pytest.raises(oc.InputError, match="integers"):
        make((SOURCE, TARGET), vertices=["a"])
    with pytest.raises(oc.InputError, match="strings"):
        make([("a", "b")], vertices=5)
    with pytest.raises(ValueError):
        make((SOURCE, TARGET), vertices=-1)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_graphs(make, kind):
    plain = kind([(0, 1), (1, 2), (2, 2), (0, 1)])
    plain.add_nodes_from([50, 60])
    graph = make(plain, duplicates="keep")
    assert graph.is_directed() is plain.is_directed() and len(graph) == 5 and graph.number_of_edges() == plain.number_of_edges()
    assert make(plain, directed=False).is_directed() is False


def test_networkx_weights(make, tmp_path):
    plain = nx.DiGraph()
    plain.add_edge("a", "b", cost=2.5)
    plain.add_edge("b", "c")
    assert make(plain).info()["weights"] is None
    assert exported(make(plain, weight="cost"), tmp_path) == [("a", "b", 2.5), ("b", "c", 1.0)]
    with pytest.raises(ValueError, match="'price'"):
        make(plain, weight="price")
    plain["b"]["c"]["cost"] = "much"
    with pytest.raises(TypeError, match="'much'"):
        make(plain, weight="cost")


def test_the_name_of_weights_is_kept(make, tmp_path):
    plain = nx.Graph()
    plain.add_edge(1, 2, sim=0.5, source=3, to=4)
    for name in ("sim", "source", "to"):
        assert make(plain, weight=name).info()["weights"] == name
    report = oc.import_graph(plain, tmp_path / "named.oc", weight="sim")
    assert (report["source"], report["target"], report["weights"]) == ("source", "target", "sim")


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_parallel_edges_of_multigraphs_count(make, tmp_path, kind):
    """As NetworkX has them: ranks follow their sum, paths the shortest."""
    random = np.random.default_rng(5)
    plain = kind()
    plain.add_nodes_from(range(30))
    for source, target, weight in zip(*random.integers(0, 30, (2, 200)), random.integers(1, 9, 200)):
        plain.add_edge(int(source), int(target), **({"weight": int(weight)} if weight < 6 else {}))
    for weight in (None, "none"):
        graph = make(plain, weight=weight)
        assert graph.number_of_edges() == plain.number_of_edges() > len({frozenset(edge) for edge in plain.edges()})
        name = "weight" if weight is None else None
        ranks = oc.pagerank(graph, weight=name, tol=1e-14, max_iter=1000).to_dict()
        expected = nx.pagerank(plain, weight=name, tol=1e-14, max_iter=1000)
        assert max(abs(ranks[v] - expected[v]) for v in expected) < 1e-9
        lengths = {v: length for v, length in oc.sssp(graph, 0, weight=name).to_dict("distance").items() if length is not None}
        assert lengths == nx.single_source_dijkstra_path_length(plain, 0, weight=name)
    report = oc.import_graph(plain, tmp_path / "kept.oc")
    assert report["duplicates_policy"] == "keep" and "parallel edges are kept" in report["notes"][-1]
    assert make(plain, duplicates="first").number_of_edges() < graph.number_of_edges()


def test_an_edge_without_direction_is_two_arcs(make):
    path = nx.path_graph(3)
    graph = make(path, directed=True)
    assert graph.is_directed() and graph.number_of_edges() == nx.DiGraph(path).number_of_edges() == 4
    assert oc.strong_components(graph).count == 1
    assert make(nx.Graph([(1, 1), (1, 2)]), directed=True).number_of_edges() == 3


def test_columns_are_asked_for_or_have_names(make, tmp_path):
    """Three columns whose names mean nothing are refused, whoever hands them over."""
    columns = {"edge_id": [7, 8], "a": [1, 2], "b": [2, 3]}
    for table in (pl.DataFrame(columns), pd.DataFrame(columns), pa.table(columns)):
        with pytest.raises(oc.InputError, match="edge_id, a, b; say with source= and target="):
            make(table)
        assert exported(make(table, source="a", target="b"), tmp_path) == [(1, 2), (2, 3)]
        assert exported(make(table, source=3, target="a", weight=1), tmp_path) == [(2, 1, 7), (3, 2, 8)]
        report = oc.import_graph(table, tmp_path / "asked.oc", source="b", target="a", replace=True)
        assert (report["source"], report["target"], report["weights"]) == ("b", "a", None)
    for given in ([(1, 2)], (SOURCE, TARGET), nx.Graph([(1, 2)]), sp.eye_array(3)):
        with pytest.raises(TypeError, match="source and target only with files and tables"):
            make(given, source="source")


def test_arrays_of_other_libraries_are_not_believed(make):
    """Indices beyond a dictionary, and bytes that are no text."""
    for keys in ([0, 5_000_000], [0, -1]):
        column = pa.DictionaryArray.from_arrays(pa.array(keys, pa.int32()), pa.array([7, 8]), safe=False)
        with pytest.raises(oc.InputError, match="no valid Arrow data"):
            make(pa.table({"source": column, "target": pa.array([1, 2])}))
    text = pa.Array.from_buffers(pa.string(), 2, [None, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff")])
    with pytest.raises(oc.InputError, match="no valid Arrow data"):
        make(pa.table({"source": text, "target": pa.array(["a", "b"])}))


def test_files_of_polars(make, tmp_path):
    frame = pl.DataFrame({"source": ["a", "a long name of a vertex"], "target": ["b", "a"], "weight": [1.5, 2.5]})
    many = pl.DataFrame({"source": np.arange(100_000), "target": np.arange(100_000) + 1})
    for rows in (frame, many):
        for compression in ("uncompressed", "lz4", "zstd"):
            rows.write_ipc(tmp_path / "file.arrow", compression=compression)
            assert exported(make(tmp_path / "file.arrow"), tmp_path) == sorted(rows.rows())
        rows.write_ipc_stream(tmp_path / "stream.arrows")
        whole = (tmp_path / "stream.arrows").read_bytes()
        assert exported(make(tmp_path / "stream.arrows"), tmp_path) == sorted(rows.rows())
        (tmp_path / "stream").write_bytes(whole)
        assert exported(make(tmp_path / "stream"), tmp_path) == sorted(rows.rows()), "by its first bytes"
        (tmp_path / "cut.arrows").write_bytes(whole[:-8])
        with pytest.raises(oc.InputError, match="ends without the mark of its end"):
            make(tmp_path / "cut.arrows")


def test_parquet_pages_are_compared_with_their_checksums(make, tmp_path):
    numbers = pa.array(np.arange(10_000) * 7919)
    path = tmp_path / "checked.parquet"
    options = {"write_page_checksum": True, "compression": "none", "use_dictionary": False}
    pa.parquet.write_table(pa.table({"source": numbers, "target": numbers}), path, **options)
    content = bytearray(path.read_bytes())
    assert make(path).number_of_edges() == 10_000
    content[2000] ^= 1
    path.write_bytes(content)
    with pytest.raises(oc.InputError, match="(?i)checksum"):
        make(path)
    pa.parquet.write_table(pa.table({"source": numbers, "target": numbers}), path, compression="brotli")
    with pytest.raises(oc.InputError, match="write the file again with zstd"):
        make(path)


def test_networkx_nodes(make):
    assert len(make(nx.Graph())) == 0
    assert make(nx.Graph([(2**64 - 1, 0)])).info()["ids"] == "uint64"
    assert make(nx.Graph([(-(2**63), 0)])).info()["ids"] == "int64"
    assert len(make(nx.empty_graph(3))) == 3
    for wrong, advice in [(nx.grid_2d_graph(2, 2), "convert_node_labels"), (nx.Graph([(1, "a")]), "one type")]:
        with pytest.raises(TypeError, match=advice):
            make(wrong)
    with pytest.raises(TypeError):
        make(nx.Graph([(True, 2)]))
    with pytest.raises(ValueError, match="64 bits"):
        make(nx.Graph([(2**64, 0)]))
    with pytest.raises(TypeError, match="has its vertices already"):
        make(nx.Graph([(1, 2)]), vertices=[3])


def test_columns_that_no_type_holds_are_refused_with_the_packages_own_error(make):
    for column in ([2**64 - 1, 1.5], [2**70, 1], ["a", 1], [{}, 3]):
        frame = pd.DataFrame({"source": pd.Series(column, dtype=object), "target": [1, 2]})
        with pytest.raises(oc.OutcoreError):
            make(frame)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_scipy_matrices(make, tmp_path, form):
    dense = np.zeros((6, 6))
    dense[0, 1], dense[1, 4], dense[4, 4] = 0.5, 2, 3
    graph = make(sp.csr_array(dense).asformat(form))
    assert len(graph) == 6 and exported(graph, tmp_path) == [(0, 1, 0.5), (1, 4, 2.0), (4, 4, 3.0)]


def test_scipy_duplicates_add_up(make, tmp_path):
    matrix = sp.coo_matrix(([1, 2, 4], ([0, 0, 1], [1, 1, 0])), shape=(3, 3))
    assert exported(make(matrix), tmp_path) == [(0, 1, 3), (1, 0, 4)]
    report = oc.import_graph(matrix, tmp_path / "counted.oc")
    assert (report["duplicates"], report["duplicates_policy"]) == (1, "sum")
    for kind in ("i8", "u8"):
        large = sp.coo_array((np.array([2**62, 2**62], kind), ([0, 0], [1, 1])), shape=(2, 2))
        for duplicates in (None, "sum"):
            with pytest.raises(oc.InputError, match="between 0 and 1 whose sum"):
                make(large, duplicates=duplicates)
    with pytest.raises(oc.InputError, match="between 0 and 1 whose sum"):
        make(sp.coo_array(([1e308, 1e308], ([0, 0], [1, 1])), shape=(2, 2)))
    rounded = sp.coo_array(([1e16, 1.0, -1e16, 0.5], ([0] * 4, [1] * 4)), shape=(2, 2))
    assert exported(make(rounded), tmp_path) == [(0, 1, 2.0)], "0.5, 1, 1e16, -1e16"
    rounded.data = np.array([-1e16, 0.5, 1e16, 1.0])
    assert exported(make(rounded), tmp_path) == [(0, 1, 2.0)], "whatever the order of the input"
    assert matrix.nnz == 3, "the user's matrix is as it was"
    assert make(sp.csr_array(np.eye(3, dtype=bool))).info()["weights"] is None
    assert len(make(sp.csr_array((0, 0)))) == 0
    with pytest.raises(ValueError, match="square"):
        make(sp.csr_array((3, 4)))
    with pytest.raises(TypeError, match="complex"):
        make(sp.csr_array(np.eye(3, dtype=complex)))


def test_entries_of_a_matrix_at_one_place_obey_duplicates(make, tmp_path):
    matrix = sp.coo_array((np.array([100, 100], np.int8), ([0, 0], [1, 1])), shape=(2, 2))
    assert exported(make(matrix), tmp_path) == [(0, 1, 200)], "not -56"
    for duplicates, weights in [("keep", [100, 100]), ("first", [100]), ("sum", [200])]:
        assert [edge[2] for edge in exported(make(matrix, duplicates=duplicates), tmp_path)] == weights, duplicates
    with pytest.raises(oc.InputError, match="every edge once"):
        make(matrix, duplicates="error")


@pytest.mark.parametrize("name", ["daily.csv", "daily.txt", "daily.parquet"])
def test_an_export_takes_no_vertices_of_an_earlier_one_along(make, tmp_path, name):
    path = tmp_path / name
    make([(1, 2)], vertices=[77, 78]).export(path)
    assert len(make(path)) == 4
    make([(5, 6), (6, 7)]).export(path)
    assert len(make(path)) == 3 and not path.with_name(f"{name}.vertices").exists()


def test_masked_arrays_and_tuples_of_tuples_are_refused(make):
    masked = np.ma.masked_equal([0.5, -9999.0], -9999.0)
    for columns in [(SOURCE[:2], TARGET[:2], masked), (np.ma.masked_equal([1, -1], -1), TARGET[:2])]:
        with pytest.raises(ValueError, match="missing values"):
            make(columns)
    assert make((SOURCE[:2], TARGET[:2], np.ma.array([1, 2]))).number_of_edges() == 2, "a mask that masks nothing"
    with pytest.raises(TypeError, match="give edges as a list"):
        make((("home", "about"), ("news", "home")))


def test_edges_of_networkx_without_the_weight_are_counted(tmp_path):
    graph = nx.Graph([(0, 1, {"weight": 5.0}), (1, 2), (2, 3)])
    notes = oc.import_graph(graph, tmp_path / "n.oc")["notes"]
    assert any(note.startswith("2 edges have no attribute 'weight': their weight is 1") for note in notes), notes
    assert oc.import_graph(nx.path_graph(3), tmp_path / "p.oc")["notes"] == []


def test_vertices_in_series(make):
    for vertices in [pd.Series([9, 10]), pl.Series([9, 10])]:
        assert len(make((SOURCE[:2], TARGET[:2]), vertices=vertices)) == 5


@pytest.mark.parametrize("write", [pa.ipc.new_file, pa.ipc.new_stream])
def test_a_byte_that_hides_a_batch_of_arrow_is_found(tmp_path, write):
    table = pa.table({"source": np.arange(3000), "target": np.arange(3000) + 1})
    path = tmp_path / ("rows.arrow" if write is pa.ipc.new_file else "rows.arrows")
    with pa.OSFile(str(path), "wb") as file, write(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    assert oc.import_graph(path, tmp_path / "rows.oc")["edges_read"] == 3000
    content = path.read_bytes()
    marks = [place for place in range(0, len(content), 8) if content.startswith(b"\xff" * 4, place)]
    # The second batch's message: its length, the kind of its header, and more; none of the batches may vanish.
    for place in range(marks[2] + 4, marks[2] + 64):
        damaged = bytearray(content)
        damaged[place] = 0
        path.write_bytes(damaged)
        try:
            report = oc.import_graph(path, tmp_path / "rows.oc", replace=True)
            assert report["edges_read"] == 3000, place - marks[2]
        except oc.InputError:
            pass


def test_duckdb_relations(make):
    duckdb = pytest.importorskip("duckdb")
    graph = make(duckdb.sql("select i as source, i + 1 as target from range(1000) t(i)"))
    assert graph.number_of_edges() == 1000


@pytest.mark.parametrize("given", [
    None, 7, (1, 2), [(1,)], [(1, 2), (1, 2, 3)], [(1, "a")], [(1.5, 2)], {"a": 1},
    (np.array([1.5]), np.array([2])), (np.array([1]), np.array([1, 2])), (np.eye(2), np.eye(2)),
    (np.array([True]), np.array([False])), (np.array([1]), np.array([2]), np.array(["x"])),
    (np.array([1]), np.array(["a"])), (np.array([1, None]), np.array([1, 2])), np.eye(3),
])  # fmt: skip
def test_what_is_no_graph(tmp_path, given):
    with pytest.raises((TypeError, ValueError)) as caught:
        oc.import_graph(given, tmp_path / "wrong.oc")
    assert "expected" in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_bad_values(make, tmp_path, scratch):
    with pytest.raises(oc.InputError, match="NaN"):
        make((SOURCE, TARGET, np.array([1, 2, np.nan, 4])))
    with pytest.raises(oc.InputError, match="(?i)null"):
        make(pl.DataFrame({"source": [1, None], "target": [2, 3]}))
    pathlib.Path("bad.txt").write_text("1 2\n2 three\n", newline="")
    with pytest.raises(oc.InputError, match="bad.txt:2") as caught:
        oc.import_graph("bad.txt", "bad.oc", ids="integer")
    assert caught.value.line == 2 and str(caught.value.path).endswith("bad.txt")
    assert not os.path.exists("bad.oc")


def test_what_a_generator_raises_comes_through(tmp_path):
    class Odd(nx.DiGraph):
        def edges(self):
            yield (1, 2)
            raise RuntimeError("the edges are gone")

    graph = Odd()
    graph.add_nodes_from([1, 2])
    with pytest.raises(RuntimeError, match="the edges are gone"):
        oc.import_graph(graph, tmp_path / "odd.oc", weight="none")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("policy, expected", [
    ("first", [(1, 2, 4)]), ("sum", [(1, 2, 6)]), ("min", [(1, 2, 2)]), ("max", [(1, 2, 4)]), ("keep", [(1, 2, 2), (1, 2, 4)]),
])  # fmt: skip
def test_duplicates(make, tmp_path, policy, expected):
    assert exported(make([(1, 2, 4), (1, 2, 2)], duplicates=policy), tmp_path) == expected


def test_sums_beyond_the_range_are_refused(make, tmp_path):
    huge = np.finfo(float).max
    with pytest.raises(oc.InputError, match="sum does not"):
        make([(1, 2, huge), (1, 2, huge)], duplicates="sum")
    assert exported(make([(1, 2, huge), (1, 2, huge)], duplicates="max"), tmp_path) == [(1, 2, huge)]
    with pytest.raises(oc.InputError, match="inf in row 1"):
        make([(1, 2, 1.0), (1, 3, float("inf"))])


def test_options_of_an_import(make, scratch):
    with pytest.raises(oc.OutcoreError):
        make([(1, 2), (1, 2)], duplicates="error")
    assert make([(1, 1), (1, 2)], self_loops="drop").number_of_edges() == 1
    for wrong in ({"duplicates": "all"}, {"self_loops": "twice"}, {"order": "random"}, {"ids": "float"}):
        with pytest.raises(oc.UsageError, match="to be one of"):
            make([(1, 2)], **wrong)
    for wrong in ({"memory": "much"}, {"threads": 0}, {"backend": "tape"}):
        with pytest.raises(oc.UsageError, match="expected"):
            oc.import_graph([(1, 2)], "wrong.oc", **wrong)
    with pytest.raises(TypeError, match="directed"):
        make([(1, 2)], directed="yes")
    with pytest.raises(TypeError, match="format"):
        make([(1, 2)], format="el")
    os.mkdir("there")
    with pytest.raises((oc.UsageError, OSError)):
        oc.import_graph([(1, 2)], "there")
    assert os.listdir("there") == []


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_repeated_entries_of_a_scipy_matrix_add_up_in_every_format(make, form):
    entries = (np.array([1.0, 3.0, 2.0]), (np.array([0, 0, 1]), np.array([1, 1, 0])))
    given = sp.coo_array(entries, shape=(2, 2))
    if form == "csr":
        given = sp.csr_array((entries[0], np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    elif form != "coo":
        given = given.asformat(form)
    assert given.toarray().tolist() == [[0, 4], [2, 0]]
    paths = oc.sssp(make(given), 0)
    assert paths.row(1)["distance"] == 4


def test_whole_weights_are_not_rounded_beside_real_ones(make):
    exact = make([(1, 2, 2**53 + 1), (2, 3, 1)])
    assert oc.sssp(exact, 1).row(3)["distance"] == 2**53 + 2
    for edges in ([(1, 2, 2**53 + 1), (2, 3, 0.5)], [(2, 3, 0.5), (1, 2, 2**53 + 1)]):
        with pytest.raises(ValueError, match="9007199254740993"):
            make(edges)
    with pytest.raises(ValueError, match="64 bits"):
        make([(1, 2, 2**63)])


def test_batches_without_rows_that_are_parts_of_others_are_read(make, tmp_path):
    columns = {"source": pa.chunked_array([["a"], pa.array(["x"])[1:], ["b"]]), "target": ["b", "c"]}
    assert make(pa.table(columns).to_reader()).number_of_edges() == 2
    batch = pa.table({"source": ["a", "b"], "target": ["b", "c"]}).to_batches()[0]
    with pa.ipc.new_stream(tmp_path / "parts.arrows", batch.schema) as writer:
        for part in (batch.slice(0, 1), batch.slice(1, 0), batch.slice(1, 1)):
            writer.write_batch(part)
    assert make(tmp_path / "parts.arrows").number_of_edges() == 2


@pytest.mark.parametrize("ids", [["007", "1", "12"], ["1000", "2000", "zeta"], ["-", "1", "2"]])
@pytest.mark.parametrize("ending", ["csv", "tsv", "el", "csv.gz"])
def test_strings_like_numbers_come_back_from_any_text(make, tmp_path, ids, ending):
    columns = {"source": ids, "target": ids[1:] + ids[:1]}
    make(pa.table(columns), vertices=[*ids, "zz"]).export(tmp_path / f"out.{ending}")
    again = make(tmp_path / f"out.{ending}")
    assert sorted(oc.components(again)["vertex"].tolist()) == sorted([*ids, "zz"])


def test_exports_refuse_weights_that_an_import_would_refuse(make, tmp_path):
    graph = make([(1, 2, 2**53 + 1), (2, 3, 1)])
    for name in ("out.txt", "out.csv", "out.wel"):
        with pytest.raises(oc.UsageError, match="9007199254740993"):
            graph.export(tmp_path / name)
        assert not (tmp_path / name).exists()
    graph.export(tmp_path / "out.parquet")
    assert oc.sssp(make(tmp_path / "out.parquet"), 1).row(2)["distance"] == 2**53 + 1


def test_keys_of_other_types_are_no_columns(make):
    table = oc.components(make([(0, 1)]))
    assert "component" in table and 0 not in table and None not in table
    with pytest.raises(TypeError, match="name of a column .vertex, component. or a mask .*, found 0"):
        table[0]
