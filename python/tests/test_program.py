"""Vertex programs in Python: against the package's own algorithms and NetworkX, and what is refused."""

import pathlib
import re
import subprocess
import sys

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from test_oracles import randomly

import outcore as oc

NONE = np.iinfo(np.uint32).max


def ends(edges):
    """Edges as two columns."""
    edges = np.array(edges)
    return edges[:, 0], edges[:, 1]


def search(v, levels, vertex):
    if vertex.iteration < levels[v]:
        levels[v] = vertex.iteration
        vertex.request_out(v)


def spread(v, levels, neighbours, vertex):
    vertex.activate(neighbours)


def levels_from(graph, source, **options):
    levels = np.full(len(graph), NONE, np.uint32)
    found = oc.vertex_program(graph, levels, search, on_list=spread, start=[source], **options)
    return found, levels


@pytest.mark.parametrize("directed", [True, False])
def test_a_search_agrees_with_bfs(make, directed):
    graph = make(ends(randomly(3000, 6000, 1)), directed=directed)
    source = int(graph_ids(graph)[0])
    found, levels = levels_from(graph, source)
    expected = oc.bfs(graph, source)["level"]
    np.testing.assert_array_equal(np.where(levels == NONE, -1, levels.astype(np.int64)), expected.filled(-1))
    assert found.finished and found.messages == 0 and found.iterations == len(found.stats["steps"])
    assert found.columns == ["vertex", "state"]
    assert found.row(source) == {"vertex": source, "state": 0}


def graph_ids(graph):
    return oc.components(graph)["vertex"]


RANK = np.dtype([("now", np.float64), ("next", np.float64)])


def turn(v, state, vertex):
    vertex.request_out(v)
    vertex.request_end()


def give(v, state, neighbours, vertex):
    if neighbours.size > 0:
        vertex.send(neighbours, state[v].now / neighbours.size)


def take(v, state, message, vertex):
    state[v].next = message


def finish(v, state, vertex):
    state[v].now = 0.15 + 0.85 * state[v].next
    state[v].next = 0
    vertex.activate(v)


def ranks(graph, **options):
    state = np.zeros(len(graph), RANK)
    state["now"] = 1
    options = {"combine": "sum", "max_iter": 5} | options
    return oc.vertex_program(graph, state, turn, on_list=give, on_message=take, on_iteration_end=finish, **options)


def test_ranks_are_the_same_to_the_last_bit(make):
    edges = randomly(5000, 50000, 2)
    expected = None
    for threads in [1, 2, 5]:
        for memory in [None, "100KB", 0]:
            found = ranks(make(ends(edges), directed=True, threads=threads), message_memory=memory)
            assert found.iterations == 5 and (found.spilled_bytes > 0) == (memory is not None)
            if expected is None:
                expected = dict(zip(found["vertex"], found["now"]))
            assert dict(zip(found["vertex"], found["now"])) == expected
    graph = nx.DiGraph()
    graph.add_nodes_from(expected)
    graph.add_edges_from(edges)
    now = dict.fromkeys(graph, 1.0)
    for _ in range(5):
        now = {v: 0.15 + 0.85 * sum(now[u] / graph.out_degree(u) for u in graph.predecessors(v)) for v in graph}
    for v, rank in expected.items():
        assert rank == pytest.approx(now[v], rel=1e-12)


def test_a_function_combines_as_its_name_does(make):
    graph = make(ends(randomly(1000, 9000, 3)))
    named, own = ranks(graph, combine="sum"), ranks(graph, combine=lambda before, after: before + after)
    np.testing.assert_array_equal(named["now"], own["now"])


def test_weights_come_with_the_lists(make):
    edges = randomly(500, 3000, 4)
    weights = [float((a * 7 + b * 3) % 11 + 1) for a, b in edges]
    graph = make((*ends(edges), np.array(weights)), directed=True)
    source = int(edges[0][0])
    distances = np.full(len(graph), np.inf)

    def run(v, distances, vertex):
        if vertex.iteration == 0:
            distances[v] = 0
        vertex.request_out(v)

    def on_list(v, distances, neighbours, weights, vertex):
        for i in range(neighbours.size):
            vertex.send(neighbours[i], distances[v] + weights[i])

    def on_message(v, distances, message, vertex):
        if message < distances[v]:
            distances[v] = message
            vertex.activate(v)

    found = oc.vertex_program(
        graph, distances, run, on_list=on_list, on_message=on_message, combine="min", weights=True, start=[source]
    )
    assert found.finished
    expected = oc.sssp(graph, source)["distance"]
    np.testing.assert_array_equal(np.where(np.isinf(distances), np.nan, distances), np.ma.filled(expected.astype(float), np.nan))


def test_messages_are_whole_numbers_too_and_lists_of_others_can_be_had(make):
    edges = [(a, b) for a, b in randomly(300, 2500, 5) if a != b]
    graph = make(ends(edges), directed=False)

    def run(v, state, vertex):
        vertex.request_out(v)

    def on_list(v, state, neighbours, vertex):
        if vertex.list_of == v:
            vertex.request_out(neighbours)
        else:
            vertex.send(v, neighbours.size)

    def on_message(v, state, message, vertex):
        state[v] += message

    for kind, combine in [(np.int64, None), (np.uint64, "sum"), (np.float64, "sum")]:
        sums = np.zeros(len(graph), np.int64)
        oc.vertex_program(graph, sums, run, on_list=on_list, on_message=on_message, message=kind, combine=combine)
        expected = nx.Graph()
        expected.add_edges_from(edges)
        names = graph_ids(graph)
        assert dict(zip(names.tolist(), sums.tolist())) == {
            v: sum(expected.degree(u) for u in expected[v]) if v in expected else 0 for v in names.tolist()
        }


def test_in_lists_priorities_and_the_end_of_iterations(make):
    graph = make(ends([(0, 2), (1, 2), (2, 3)]), directed=True)
    state = np.zeros(4, [("in", np.int32), ("turn", np.int16)])
    seen = []

    def run(v, state, vertex):
        vertex.request_in(v)

    def on_list(v, state, neighbours, vertex):
        if vertex.list_is_in:
            state[v]["in"] = neighbours.size

    def priority(v, state):
        return v

    def end(iteration):
        seen.append(iteration)
        return False

    found = oc.vertex_program(graph, state, run, on_list=on_list, priority=priority, end_iteration=end)
    assert dict(zip(found["vertex"].tolist(), found["in"].tolist())) == {0: 0, 1: 0, 2: 2, 3: 1}
    assert seen == [0] and found.iterations == 1


def nothing(v, state, message, vertex):
    pass


def idle(v, state, vertex):
    pass


def test_lists_cannot_be_written_to(make):
    graph = make([(v, v + 1) for v in range(5)], order="input")

    def run(v, state, vertex):
        vertex.request_out(v)

    def on_list(v, state, neighbours, vertex):
        neighbours[0] = 0

    with pytest.raises(Exception, match="(?s)readonly|read-only|Cannot modify"):
        oc.vertex_program(graph, np.zeros(6, np.int64), run, on_list=on_list, max_iter=1)
    assert oc.bfs(graph, 0).reached == 6


def test_what_a_function_must_not_do_is_an_error(make):
    graph = make(ends([(0, 1), (1, 2)]), directed=True)
    state = np.zeros(3)

    def beyond(v, state, vertex):
        vertex.send(np.uint32(3), 1.0)

    with pytest.raises(IndexError, match="vertex 3 of a graph of 3 vertices"):
        oc.vertex_program(graph, state, beyond, on_message=nothing)

    def ask(v, state, vertex):
        vertex.send(v, 1.0)

    def answer(v, state, message, vertex):
        vertex.request_out(v)

    with pytest.raises(RuntimeError, match="run and on_list only"):
        oc.vertex_program(graph, state, ask, on_message=answer, on_list=spread)

    def broken(iteration):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        oc.vertex_program(graph, state, ask, on_message=nothing, end_iteration=broken)
    oc.vertex_program(graph, state, ask, on_message=nothing)


@pytest.mark.parametrize("number", [2**32 + 1, -1, np.int32(-3), 2**63 + 5, -(2**63)])
def test_a_vertex_that_does_not_exist_is_named_as_it_was_given(make, number):
    graph = make(ends([(0, 1), (1, 2)]), directed=True)

    def send(v, state, vertex):
        vertex.send(number, 1.0)

    def activate(v, state, vertex):
        vertex.activate(number)

    def request_out(v, state, vertex):
        vertex.request_out(number)

    def request_in(v, state, vertex):
        vertex.request_in(number)

    for run in [send, activate, request_out, request_in]:
        with pytest.raises(IndexError, match=f"vertex {number} of a graph of 3 vertices"):
            oc.vertex_program(graph, np.zeros(3), run, on_list=spread, on_message=nothing)
    with pytest.raises(LookupError, match=f"no vertex `{number}`"):
        oc.vertex_program(graph, np.zeros(3), idle, start=[0, number])


def test_vertices_to_start_with_come_in_any_order(make):
    # In order "degree" no user knows the order of the numbers inside.
    graph = make(ends(randomly(300, 900, 8)), directed=True, order="degree")
    ids = graph_ids(graph)
    chosen = [int(ids[place]) for place in [200, 3, 77, 3, 0, 200, 150]]

    def mark(v, state, vertex):
        state[v] += 1

    for start in [chosen, np.array(chosen), iter(chosen), set(chosen)]:
        found = oc.vertex_program(graph, np.zeros(len(graph), np.uint8), mark, start=start)
        assert {vertex: turns for vertex, turns in found.to_dict().items() if turns} == dict.fromkeys(chosen, 1)
    with pytest.raises(TypeError, match=r"for one id give \[5\]"):
        oc.vertex_program(graph, np.zeros(len(graph)), mark, start=5)


def test_whole_numbers_stay_whole_and_keep_their_sign(make, tmp_path):
    graph = make(ends([(0, 1), (1, 2)]), directed=True, order="input")
    kinds = ["i1", "i2", "i4", "i8", "u1", "u8", "f4", "f8", "?"]
    state = np.zeros(3, [(kind.replace("?", "bool"), kind) for kind in kinds])
    least = np.iinfo(np.int64).min

    def run(v, state, vertex):
        if v == 1:
            state[v].i1 = -5
            state[v].i2 = -500
            state[v].i4 = -70000
            state[v].i8 = least
            state[v].bool = True
        state[v].u8 = np.uint64(2**64 - 1)
        state[v].f4 = -0.5

    found = oc.vertex_program(graph, state, run)
    expected = {"i1": [0, -5, 0], "i2": [0, -500, 0], "i4": [0, -70000, 0], "i8": [0, least, 0], "u1": [0, 0, 0], "u8": [2**64 - 1] * 3}
    expected |= {"f4": [-0.5] * 3, "f8": [0.0] * 3, "bool": [0, 1, 0]}
    types = {name: {"i": "int64", "u": "uint64", "f": "float64", "b": "int64"}[name[0]] for name in expected}
    frame, arrow = found.to_pandas(), found.to_arrow()
    found.write(tmp_path / "found.parquet")
    found.write(tmp_path / "found.npy")
    found.write(tmp_path / "found.csv")
    parquet, rows = pq.read_table(tmp_path / "found.parquet"), np.load(tmp_path / "found.npy")
    text = (tmp_path / "found.csv").read_text().splitlines()
    assert text[0].split(",") == found.columns == ["vertex", *expected]
    assert text[2] == f"1,-5,-500,-70000,{least},0,{2**64 - 1},-0.5,0.0,1"
    for name, values in expected.items():
        assert found[name].tolist() == frame[name].tolist() == arrow[name].to_pylist() == values
        assert parquet[name].to_pylist() == rows[name].tolist() == values
        assert found[name].dtype == frame[name].dtype == rows[name].dtype == types[name]
    assert [row[0] for row in found.top(3, "i8")] == [0, 2, 1], "negative numbers are the least"
    assert found.row(1)["i4"] == -70000 and found.to_dict("i1") == {0: 0, 1: -5, 2: 0}


@pytest.mark.parametrize(
    "kind, field",
    [("U5", "name"), ("S3", "name"), ("(3,)f8", "place"), ("M8[s]", "since"), ("m8[s]", "since"), ("c16", "turn"), (">i4", "count"), ("V7", "rest")],
)
def test_fields_that_are_no_numbers_are_refused_before_the_run(make, kind, field):
    graph = make(ends([(0, 1), (1, 2)]), directed=True)
    state = np.zeros(3, [("fine", np.int64), (field, kind)])

    def run(v, state, vertex):
        state[v].fine = 1

    with pytest.raises(TypeError, match=f"expected a state of numbers, bool, whole or real ones .*, found '{field}' of type"):
        oc.vertex_program(graph, state, run)
    assert not state["fine"].any()
    with pytest.raises(TypeError, match="found 'state' of type complex64"):
        oc.vertex_program(graph, np.zeros(3, np.complex64), run)


def test_a_field_called_as_the_ids_are_is_refused_before_the_run(make):
    graph = make(ends([(0, 1), (1, 2)]), directed=True)
    with pytest.raises(oc.UsageError, match="expected no field 'vertex' .*; rename the field"):
        oc.vertex_program(graph, np.zeros(3, [("vertex", np.int64)]), idle)


def test_a_result_that_there_will_be_no_memory_for_is_refused_before_the_run(scratch):
    oc.generate("star", scale=20, output="star.oc")
    state = np.zeros(1 << 20, [(f"field_{i}", np.int8) for i in range(6)])

    def run(v, state, vertex):
        state[v].field_0 = 1

    with oc.Graph("star.oc", memory="40MiB", threads=1) as graph:
        with pytest.raises(oc.MemoryLimitError, match="the result of a vertex program needs 48 MiB"):
            oc.vertex_program(graph, state, run)
    assert not state["field_0"].any()


def test_the_first_exception_in_a_function_ends_the_program_and_is_raised(make, capfd):
    hook = sys.unraisablehook
    for threads in [1, 3]:
        graph = make(ends(randomly(3000, 9000, 6)), directed=True, threads=threads)
        state = np.zeros(len(graph), np.int64)

        def turn(v, state, vertex):
            vertex.request_out(v)
            vertex.send(v, v)

        def gather(v, state, neighbours, vertex):
            if v % 7 == 3:
                raise ValueError("mine")
            state[v] += 1

        def add(v, state, message, vertex):
            if message == 5:
                raise ZeroDivisionError("mine too")

        def far(v, state, neighbours, vertex):
            state[v] = neighbours[neighbours.size + 1_000_000_000]

        def fine(v, state, neighbours, vertex):
            pass

        for on_list, on_message, kind, text in [
            (gather, nothing, ValueError, "mine"),
            (fine, add, ZeroDivisionError, "mine too"),
            (far, nothing, IndexError, "out of bounds"),
        ]:
            with pytest.raises(kind, match=text):
                oc.vertex_program(graph, state, turn, on_list=on_list, on_message=on_message, message=np.int64)

        def combine(before, after):
            if after >= 0:
                raise ValueError("not to be combined")
            return before

        def to_one(v, state, vertex):
            vertex.send(np.uint32(0), v)

        with pytest.raises(ValueError, match="not to be combined"):
            oc.vertex_program(graph, state, to_one, on_message=nothing, combine=combine, message=np.int64)
        # The graph is as usable as before, and nobody else's hook is kept.
        oc.vertex_program(graph, state, turn, on_list=fine, on_message=nothing, message=np.int64)
        assert sys.unraisablehook is hook
    written = capfd.readouterr()
    assert "Exception ignored" not in written.err and "mine" not in written.err


def test_a_function_that_is_needed_and_not_there_is_an_error_before_the_run(make):
    graph = make(ends([(0, 1), (1, 2)]), directed=True)
    state = np.zeros(3)

    def out(v, state, vertex):
        state[v] = 1
        vertex.request_out(v)

    def into(v, state, vertex):
        state[v] = 1
        vertex.request_in(v)

    def send(v, state, vertex):
        state[v] = 1
        vertex.send(v, 1.0)

    def end(v, state, vertex):
        state[v] = 1
        vertex.request_end()

    for run, text in [
        (out, "expected on_list, which vertex.request_out needs"),
        (into, "expected on_list, which vertex.request_in needs"),
        (send, "expected on_message, which vertex.send needs"),
        (end, "expected on_iteration_end, which vertex.request_end needs"),
    ]:
        with pytest.raises(oc.UsageError, match=text):
            oc.vertex_program(graph, state, run)
        assert not state.any()


@pytest.mark.parametrize(
    "state, options, text",
    [
        (np.zeros(2), {}, "each of 3 vertices"),
        ([0, 0, 0], {}, "each of 3 vertices"),
        (np.zeros(6)[::2], {}, "one piece"),
        (np.zeros(3), {"message": np.float32}, "float64, int64 or uint64"),
        (np.zeros(3), {"combine": "product"}, "sum, min, max"),
        (np.zeros(3), {"start": [7]}, "7"),
        (np.zeros(3), {"message_memory": "much"}, "much"),
    ],
)
def test_what_cannot_be_is_refused(make, state, options, text):
    graph = make(ends([(0, 1), (1, 2)]), directed=True)
    with pytest.raises(oc.UsageError, match=text):
        oc.vertex_program(graph, state, idle, **options)


def test_without_numba_it_says_so():
    code = """
import sys
sys.modules["numba"] = None
import numpy as np, outcore as oc
oc.import_graph((np.array([0]), np.array([1])), "one.oc")
try:
    oc.vertex_program(oc.Graph("one.oc"), np.zeros(2), print)
except oc.UsageError as error:
    print(error)
"""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert "pip install numba" in done.stdout


HOWTO = pathlib.Path(__file__).resolve().parents[2] / "docs" / "howto" / "write-an-algorithm.md"


def test_the_howtos_pagerank_runs_out_of_core_by_default(scratch):
    """Word for word, over an image larger than its memory, of which the page cache takes what is left."""
    programs = re.findall(r"```python\n(.*?)```", HOWTO.read_text(), re.S)
    program = next(text for text in programs if 'combine="sum"' in text)
    for given, larger in [("scale=12,", "scale=16, edge_factor=400,"), ('Graph("web.oc")', 'Graph("web.oc", memory="20MiB", threads=2)')]:
        assert given in program
        program = program.replace(given, larger)
    names = {}
    exec(program, names)
    graph, ranks = names["graph"], names["state"]["now"] / len(names["graph"])
    stats = names["found"].stats
    assert graph.info()["image_bytes"] > 20 << 20 and stats["memory_limit_bytes"] == 20 << 20
    assert stats["bytes_read"] > 10 * (20 << 20), "most pages are read in most iterations"
    expected = oc.pagerank(graph, tol=0, max_iter=20, dangling="gap")["pagerank"]
    np.testing.assert_allclose(ranks, expected, rtol=1e-9)


def test_states_that_cannot_be_written_are_refused(make):
    graph = make(ends([(0, 1), (1, 2)]), directed=True)
    constant = np.zeros(3, np.int64)
    constant.flags.writeable = False

    def run(v, state, vertex):
        state[v] = 1

    for state, words in [
        (np.zeros(6, np.int64)[::2], r"found one with strides \(16,\); give a copy"),
        (constant, "found one that cannot be written; give a copy"),
    ]:
        with pytest.raises(oc.UsageError, match=words):
            oc.vertex_program(graph, state, run)
