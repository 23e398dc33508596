"""Ids come back as the type that came in: of every kind of input, in every order, from every surface."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
import scipy.sparse

import outcore as oc

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
KINDS = [*INTEGERS, "string", "large_string", "string_view"]
ORDERS = ["input", "degree", "near", "auto"]
# No range, and no order of input.
SOURCE, TARGET = [3, 3, 60, 9, 100], [9, 60, 100, 100, 100]


def table_of(kind):
    """Edges as a table of Arrow, whose ids are of this type."""
    columns = [pa.array([f"v{id}" for id in ids] if "string" in kind else ids) for ids in (SOURCE, TARGET)]
    return pa.table([column.cast(getattr(pa, kind)()) for column in columns], ["source", "target"])


def types_of(graph, folder):
    """The types of ids that the surfaces of a graph give, by their names: all as Arrow has them."""
    result = oc.bfs(graph, next(iter(graph)))
    for name in ("r.parquet", "r.arrow"):
        result.write(folder / name)
    graph.export(folder / "e.parquet")
    with pa.OSFile(str(folder / "r.arrow")) as file:
        arrow = pa.ipc.open_file(file).read_all()
    tables = {
        "parquet": pq.read_table(folder / "r.parquet"),
        "arrow": arrow,
        "export": pq.read_table(folder / "e.parquet"),
        "stream": pa.table(result),
        "to_arrow": result.to_arrow(),
        "sorted": pa.table(result.sort_by("level")),
        "nodes": pa.table(graph.nodes),
        "edges": pa.table(graph.edges),
        "polars": result.to_polars().to_arrow(),
        "components": oc.components(graph).to_arrow(),
    }
    ids = {"vertex", "source", "target", "parent", "component"}
    return {
        f"{surface}.{name}": str(table.schema.field(name).type).removeprefix("large_").removesuffix("_view")
        for surface, table in tables.items()
        for name in ids & set(table.column_names)
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_surface_gives_the_type_that_came_in(kind, tmp_path):
    given, expected = table_of(kind), "string" if "string" in kind else kind
    dtype = object if expected == "string" else np.dtype(kind)
    pq.write_table(given, tmp_path / "given.parquet")
    inputs = [given, tmp_path / "given.parquet", given, given]
    if expected != "string":
        arrays = tuple(np.array(ids, kind) for ids in (SOURCE, TARGET))
        inputs[2:] = [arrays, pd.DataFrame({"source": arrays[0], "target": arrays[1]})]
    for order, source in zip(ORDERS, inputs, strict=True):
        report = oc.import_graph(source, tmp_path / "g.oc", order=order, replace=True)
        with oc.Graph(tmp_path / "g.oc") as graph:
            assert (report["ids"], graph.info()["ids"]) == (expected, expected)
            schema = oc.bfs(graph, next(iter(graph))).to_arrow().schema
            assert {str(schema.field(name).type) for name in ("vertex", "parent")} == {expected}
            if order != ORDERS[KINDS.index(kind) % len(ORDERS)]:
                continue
            found = types_of(graph, tmp_path)
            assert {surface for surface, own in found.items() if own != expected} == set(), (order, found)
            result = oc.bfs(graph, "v3" if expected == "string" else 3)
            assert [result["vertex"].dtype, result["parent"].dtype] == [dtype, dtype]
            if expected != "string":
                assert result.to_pandas()["vertex"].dtype == dtype
                result.write(tmp_path / "r.npy")
                assert np.load(tmp_path / "r.npy").dtype["vertex"] == dtype
                assert sorted(graph) == [3, 9, 60, 100] and {type(id) for id in graph} == {int}
            # Images that are made of images.
            first = next(iter(graph))
            parts = [graph.subgraph([first, next(iter(graph.neighbors(first)), first)]), graph.reverse()]
            assert [part.info()["ids"] for part in parts] == [expected] * 2
        with oc.import_matrix(tmp_path / "g.oc", tmp_path / "m.oc", replace=True) as matrix:
            assert {type(id) for id in matrix.row_ids} == {str if expected == "string" else int}
            matrix.graph.export(tmp_path / "m.parquet")
        assert str(pq.read_schema(tmp_path / "m.parquet").field("source").type) == expected


def test_inputs_without_types_have_int64_or_uint64_beyond_it(tmp_path):
    def ids_of(given, **options):
        return oc.load_graph(given, **options).info()["ids"]

    text = tmp_path / "edges.csv"
    pairs = list(zip(SOURCE, TARGET))
    csv = "source,target\n" + "".join(f"{source},{target}\n" for source, target in pairs)
    json = "".join(f'{{"source": {source}, "target": {target}}}\n' for source, target in pairs)
    text.write_text(csv)
    (tmp_path / "edges.jsonl").write_text(json)
    inputs = [text, tmp_path / "edges.jsonl", pairs, iter(pairs), nx.DiGraph(pairs), scipy.sparse.eye_array(5)]
    for order, given in zip([*ORDERS, *ORDERS], inputs):
        assert ids_of(given, order=order) == "int64"
    for kind in ("int32", "int64", "uint32", "uint64"):
        assert ids_of(text, ids=kind) == ids_of(table_of("int16"), ids=kind) == kind
    for order in ORDERS:
        text.write_text(csv + "-1,3\n")
        assert ids_of(text, order=order) == "int64"
        text.write_text(csv + f"{2**63},3\n")
        huge = oc.load_graph(text, order=order)
        assert huge.info()["ids"] == "uint64" and huge.nodes[2**63] == {}
    for ids, wrong in (("uint32", "-1"), ("int64", str(2**63)), ("int32", str(2**31))):
        text.write_text(csv + f"{wrong},3\n")
        with pytest.raises(oc.InputError, match=f"ids of type {ids}, as ids= says, found {wrong}"):
            ids_of(text, ids=ids)
    with pytest.raises(oc.InputError, match="found strings"):
        ids_of(table_of("string"), ids="int64")


def test_columns_and_inputs_of_two_types_meet_in_the_narrowest_that_holds_both(tmp_path):
    def ids_of(given, **options):
        return oc.load_graph(given, **options).info()["ids"]

    for one, other, common in (
        ("int32", "int64", "int64"),
        ("uint8", "int8", "int16"),
        ("uint32", "int32", "int64"),
        ("uint64", "int32", "int64"),
    ):
        arrays = np.array(SOURCE, one), np.array(TARGET, other)
        assert ids_of(arrays) == common
        for name, kind in (("a", one), ("b", other)):
            pq.write_table(table_of(kind), tmp_path / f"{name}.parquet")
        assert ids_of([tmp_path / "a.parquet", tmp_path / "b.parquet"]) == common
        assert ids_of([table_of(other), tmp_path / "a.parquet"]) == common
    huge = np.array([2**63, 5], "uint64"), np.array([1, 2], "int64")
    assert ids_of(huge) == "uint64"
    # A number of vertices has no type; those that do not fit widen it.
    assert ids_of(table_of("int8"), vertices=120) == "int8"
    assert ids_of(table_of("int8"), vertices=200) == "int64"
    assert ids_of(table_of("int8"), vertices=np.array([5], "int16")) == "int16"


def test_names_of_customers_are_found_by_ids_above_2_to_the_53(make):
    """Joins through real numbers gave other customers' names."""
    ids = 2**53 + np.arange(1, 200, dtype="int64")
    customers = pd.DataFrame({"vertex": ids, "name": [f"customer {id}" for id in ids]})
    for order in ORDERS:
        ranks = oc.pagerank(make((ids[:-1], ids[1:]), order=order))
        joined = ranks.to_pandas().merge(customers)
        assert len(joined) == len(ids) and all(joined["name"] == "customer " + joined["vertex"].astype(str))
        assert ranks.to_polars().join(pl.from_pandas(customers), on="vertex").height == len(ids)


def test_results_of_two_days_are_one_data_set(tmp_path, make):
    """On one day an id is negative, and on another `auto` numbers vertices otherwise, as by the input: as a range."""
    hub = [(0, id) for id in range(1, 50)] + [(id, 50 + id) for id in range(1, 50)]
    near = [(id, id + step) for id in range(1000) for step in range(1, 3 + id * id % 17)]
    days = [hub, near, [(-5, 7), (7, 1000)]]
    graphs = [make(day) for day in days]
    assert len({graph.info()["order"] for graph in graphs}) > 1
    rows = 0
    for day, graph in enumerate(graphs):
        result = oc.pagerank(graph)
        result.write(tmp_path / f"day{day}.parquet")
        rows += len(result)
    dataset = pa.dataset.dataset(sorted(tmp_path.glob("day*.parquet")))
    assert dataset.schema.field("vertex").type == pa.int64() and dataset.to_table().num_rows == rows
    assert pl.scan_parquet(tmp_path / "day*.parquet").collect().height == rows
    duckdb = pytest.importorskip("duckdb")
    pattern = tmp_path / "day*.parquet"
    found = duckdb.sql(f"select count(*), typeof(any_value(vertex)) from '{pattern}'").fetchall()
    assert found == [(rows, "BIGINT")]


def test_conditions_and_look_ups_are_those_of_numbers(tmp_path):
    oc.import_graph(table_of("uint8"), tmp_path / "g.oc", order="degree")
    with oc.Graph(tmp_path / "g.oc") as graph:
        assert "9" in graph and 9 in graph and 300 not in graph and -1 not in graph
        assert sorted(graph.neighbors(3)) == [9, 60]
        assert graph.nodes["100"] == {} and graph.has_edge(60, "100")
        with pytest.raises(oc.UsageError, match="300"):
            graph.neighbors(300)
        assert oc.bfs(graph, 3).row(100)["vertex"] == 100
        assert oc.pagerank(graph).top(1)[0][0] == 100
        assert oc.components(graph).sizes(1) == [(3, 4)]
    part = oc.import_graph(tmp_path / "g.oc", tmp_path / "p.oc", where="vertex >= 9")
    assert (part["vertices"], part["ids"]) == (3, "uint8")


def test_rows_and_columns_of_a_matrix_have_their_ids(tmp_path):
    ratings = pd.DataFrame({"user": np.array([40, 3, 40], "int32"), "item": np.array([7, 5, 5], "int32")})
    options = {"bipartite": True, "replace": True}
    with oc.import_matrix(ratings, tmp_path / "m.oc", **options) as R:
        assert (R.row_ids, R.column_ids) == ([3, 40], [5, 7])
    with oc.import_matrix(tmp_path / "m.oc", tmp_path / "n.oc") as R:
        assert (R.row_ids, R.column_ids) == ([3, 40], [5, 7])
    with oc.import_matrix(ratings.astype(str), tmp_path / "m.oc", **options) as R:
        assert (R.row_ids, R.column_ids) == (["3", "40"], ["5", "7"])
    places = (np.array([0, 1], "int8"), np.array([1, 2], "int8"))
    with oc.import_matrix(places, tmp_path / "s.oc", shape=(200, 300)) as S:
        assert S.graph.info()["ids"] == "int64"


@pytest.mark.parametrize("dtype", INTEGERS)
def test_ids_of_a_range_are_found(dtype, tmp_path):
    ids = np.arange(3, 13, dtype=dtype)
    oc.import_graph((ids[:-1], ids[1:]), tmp_path / "g.oc", order="input")
    with oc.Graph(tmp_path / "g.oc") as g:
        assert [id for id in range(16) if id in g] == ids.tolist()
