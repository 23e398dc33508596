"""Looking into graphs: ids, neighbours, degrees and edges, beside NetworkX."""

import csv
import os
import pty
import shutil
import subprocess

import networkx as nx
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from test_cli import outcore

import outcore as oc

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
ORDERS = ["input", "degree", "near"]


def shell(*arguments, code=0):
    """The lines of CSV that a command says, or its error."""
    done = subprocess.run([OUTCORE, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done.stderr if code else list(csv.reader(done.stdout.splitlines()))


def random_multigraph(seed, directed, names, weights):
    """Some edges several times, some from a vertex to itself, some vertices without any."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 40))
    ids = [names(place) for place in rng.permutation(3 * count)[:count]]
    graph = (nx.MultiDiGraph if directed else nx.MultiGraph)()
    graph.add_nodes_from(ids)
    for _ in range(int(rng.integers(0, 4 * count))):
        source, target = rng.integers(0, count, 2) if rng.random() < 0.9 else rng.integers(0, count, 1).repeat(2)
        graph.add_edge(ids[source], ids[target], weight=weights(rng))
    return graph


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("directed", [False, True])
def test_all_is_as_in_networkx(make, directed, order):
    kinds = {
        "numbers": lambda place: int(place) * 7 - 20,
        "large": lambda place: 2**63 + int(place) ** 3,
        "a range": lambda place: int(place),
        "strings": lambda place: f"vertex {place:x}\u00e9",
    }
    kinds_of_weights = [lambda rng: int(rng.integers(1, 9)), lambda rng: float(rng.normal())]
    for seed in range(12):
        names = list(kinds.values())[seed % 4]
        given = random_multigraph(seed, directed, names, kinds_of_weights[seed % 2])
        if not given.number_of_edges():
            continue
        g = make(given, order=order, duplicates="keep", self_loops="keep")
        assert len(g) == len(given)
        ids, absent = list(given), names(10**6)
        assert all(vertex in g for vertex in ids) and absent not in g
        for vertex in ids:
            successors = [(end, data["weight"]) for _, end, data in given.edges(vertex, data=True)]
            if not directed:
                # NetworkX has an edge from a vertex to itself once, and so has a list.
                assert [end for end, _ in successors].count(vertex) == given.number_of_edges(vertex, vertex)
            assert sorted(g.neighbors(vertex, weights=True)) == sorted(successors)
            assert g.neighbors(vertex) == sorted(end for end, _ in successors)
            if directed:
                predecessors = sorted(start for start, _ in given.in_edges(vertex))
                assert g.neighbors(vertex, direction="in") == predecessors
                found = g.degree(vertex), g.in_degree(vertex), g.out_degree(vertex)
                assert found == (given.degree(vertex), given.in_degree(vertex), given.out_degree(vertex))
            else:
                assert g.neighbors(vertex, direction="in") == g.neighbors(vertex)
                assert g.degree(vertex) == g.in_degree(vertex) == g.out_degree(vertex) == given.degree(vertex)
            for other in ids[:10]:
                assert g.has_edge(vertex, other) == given.has_edge(vertex, other)
        assert not g.has_edge(ids[0], absent) and not g.has_edge(absent, ids[0])


def test_what_is_no_vertex(site):
    assert 5 not in site and None not in site and "hom" not in site and "" not in site
    for look in (site.neighbors, site.degree, site.in_degree, site.out_degree):
        with pytest.raises(oc.NoVertexError, match="the ids of this graph are strings, such as"):
            look("nobody")
        with pytest.raises(TypeError, match="expected an id"):
            look(1.5)
    with pytest.raises(oc.OutcoreError, match="expected edges with weights"):
        site.neighbors("home", weights=True)
    with pytest.raises(oc.UsageError, match='expected direction "out" or "in", found "both"'):
        site.neighbors("home", direction="both")
    site.close()
    for look in (lambda: len(site), lambda: "home" in site, lambda: site.degree("home")):
        with pytest.raises(oc.UsageError, match="was closed"):
            look()


def test_numbers_are_ids_of_any_kind(make):
    g = make((np.array([0, 1, 2]), np.array([1, 2, 0])), directed=True)
    for one in (1, np.int32(1), np.uint64(1), "1"):
        assert one in g and g.neighbors(one) == [2] and g.degree(one) == 2
    for none in (3, -1, 2**70, "01x", 1.0, True):
        assert none not in g, none


@pytest.mark.parametrize("order", ORDERS)
def test_ids_are_kept_while_there_is_memory(tmp_path, order):
    """A star under a small limit: ids take most of the memory, and algorithms get it back."""
    count = 1_500_000
    rng = np.random.default_rng(3)
    ids = rng.permutation(np.arange(count, dtype=np.int64) * 1000 - 5)
    sources, targets = np.full(count - 1, ids[0]), ids[1:]
    oc.import_graph((sources, targets), tmp_path / "g.oc", order=order, directed=False)
    for limit, is_kept in (("96MiB", True), ("32MiB", False)):
        runtime = oc.Runtime(memory=limit, threads=2)
        with oc.Graph(tmp_path / "g.oc", runtime=runtime) as g:
            for vertex in rng.choice(ids[1:], 5):
                assert g.neighbors(int(vertex)) == [ids[0]] and g.has_edge(int(ids[0]), int(vertex))
            assert g.degree(int(ids[0])) == count - 1
            with pytest.raises(oc.MemoryLimitError, match="the neighbours of a vertex"):
                g.neighbors(int(ids[0]))
            assert g.neighbors(int(ids[2])) == [ids[0]]
            assert 1 not in g
            kept = lambda: any("the ids" in name for name in runtime.holders())
            assert kept() == is_kept
            # Results that need the memory get it, and looking goes on without it.
            results = []
            while kept():
                results.append(oc.components(g))
            assert len(results) < 64
            assert g.neighbors(int(ids[1])) == [ids[0]]
    with oc.Graph(tmp_path / "g.oc", memory="512MiB") as g:
        assert g.neighbors(int(ids[0])) == sorted(map(int, ids[1:]))


@pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
@pytest.mark.parametrize("directed", [False, True])
def test_the_shell_shows_the_same(make, directed):
    names = ["a b", "c,d", 'say "x"', "plain", "\u00e9"]
    rng = np.random.default_rng(1)
    edges = [(names[a], names[b], int(weight)) for a, b, weight in rng.integers(0, 5, (30, 3))]
    sources, targets, weights = map(list, zip(*edges))
    g = make(
        (np.array(sources), np.array(targets), np.array(weights)), directed=directed, duplicates="keep", self_loops="keep"
    )
    first, *rows = shell("head", g.path, "--edges", 1000)
    assert first == ["source", "target", "weight"]
    ends = [tuple(row[:2]) if directed else tuple(sorted(row[:2])) for row in rows]
    wanted = [(a, b) if directed else tuple(sorted((a, b))) for a, b, _ in edges]
    assert sorted(zip(ends, (int(row[2]) for row in rows))) == sorted(zip(wanted, weights))
    assert shell("head", g.path, "-n", 7) == [first, *rows[:7]]
    assert shell("head", g.path) == [first, *rows[:10]] and shell("head", g.path, "-n", 0) == [first]
    for option, direction in ((), "out"), (("--in",), "in"):
        first, *rows = shell("neighbors", g.path, *names, *option)
        assert first == ["vertex", "neighbor", "weight"]
        expected = [(v, u, str(w)) for v in names for u, w in g.neighbors(v, direction=direction, weights=True)]
        assert [tuple(row) for row in rows] == expected
    first, *rows = shell("degrees", g.path, *names)
    columns = [g.degree, g.in_degree, g.out_degree] if directed else [g.degree]
    assert first == ["vertex", "degree", "in_degree", "out_degree"][: 1 + len(columns)]
    assert rows == [[v, *(str(column(v)) for column in columns)] for v in names]
    assert "such as" in shell("neighbors", g.path, "nobody", code=8)
    shell("degrees", g.path, code=2)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_views_are_as_in_networkx(make, directed, order):
    for seed in range(8):
        names = [lambda place: int(place) * 5 - 9, lambda place: f"v{place}"][seed % 2]
        given = random_multigraph(seed, directed, names, lambda rng: int(rng.integers(1, 9)))
        if not given.number_of_edges():
            continue
        g = make(given, order=order)
        assert (g.number_of_nodes(), g.number_of_edges()) == (given.number_of_nodes(), given.number_of_edges())
        assert (g.is_directed(), g.is_multigraph()) == (directed, True)
        assert sorted(g) == sorted(g.nodes) == sorted(g.nodes()) == sorted(given)
        assert list(g) == oc.degree_centrality(g)["vertex"].tolist()
        assert len(g.nodes) == len(given) and len(g.edges) == given.number_of_edges()
        ends = (lambda u, v: (u, v)) if directed else (lambda u, v: (min(u, v), max(u, v)))
        expected = sorted((*ends(u, v), weight) for u, v, weight in given.edges(data="weight"))
        assert sorted(g.edges(weights=True)) == expected
        assert sorted(g.edges) == sorted(edge[:2] for edge in expected)
        for frame in (pl.DataFrame(g.edges(weights=True)), pl.from_arrow(pa.table(g.edges(weights=True)))):
            assert frame.columns == ["source", "target", "weight"] and sorted(frame.rows()) == expected
        assert pl.DataFrame(g.edges).columns == ["source", "target"]
        assert pl.DataFrame(g.nodes).rows() == [(vertex,) for vertex in g]
        some = list(given)[:3]
        found = sorted(g.edges(some, weights=True))
        assert found == sorted(g.edges([*some, *some], data="weight"))
        assert sorted((*ends(u, v), weight) for u, v, weight in found) == sorted(
            (*ends(u, v), weight) for u, v, weight in given.edges(some, data="weight")
        )
        assert sorted(g.edges(some[0])) == sorted(given.edges(some[0]))
        for edge in list(given.edges())[:5]:
            assert edge in g.edges and (edge[::-1] in g.edges) == given.has_edge(*edge[::-1])
        assert ("x", "y") not in g.edges and 5 not in g.edges and (None, 1) not in g.edges
        assert g.degree[some[0]] == given.degree[some[0]]
        check_adjacency(g, given, some, directed)


def check_adjacency(g, given, some, directed):
    """Mappings, predecessors and edges by targets are those of NetworkX's graph."""
    assert len(g.adj) == len(given) and sorted(g.adj) == sorted(given) and "nobody" not in g.adj
    for vertex in some:
        assert sorted(g[vertex]) == sorted(g.adj[vertex]) == sorted(given[vertex]) and len(g[vertex]) == len(given[vertex])
        around = sorted(given.predecessors(vertex)) if directed else sorted(given[vertex])
        assert g.predecessors(vertex) == around and g.successors(vertex) == sorted(given[vertex])
        for neighbour in given[vertex]:
            weights = [data["weight"] for data in given[vertex][neighbour].values()]
            assert g[vertex][neighbour]["weight"] in weights and neighbour in g[vertex]
            assert g.get_edge_data(vertex, neighbour) == g[vertex][neighbour] == g.edges[vertex, neighbour]
        assert dict(g[vertex].items()).keys() == given[vertex].keys()
        if directed:
            assert sorted(g.in_edges(vertex)) == sorted(given.in_edges(vertex))
            expected = sorted(given.in_edges(vertex, data="weight"))
            assert sorted(g.in_edges(vertex, data="weight")) == sorted(g.in_edges(vertex, weights=True)) == expected
            assert sorted(g.in_edges(str(vertex), data="weight")) == expected
    assert sorted(g.in_edges(some)) == sorted(g.in_edges([*some, *some])) and len(g.in_edges) == len(g.edges)
    assert sorted(g.in_edges) == sorted(g.edges) and g.in_edges(data=True) is not None
    for radius in (0, 1, 2):
        for undirected in (False, True):
            ego = nx.ego_graph(given, some[0], radius=radius, undirected=undirected)
            ours = g.ego_graph(some[0], radius=radius, undirected=undirected)
            assert sorted(ours) == sorted(ego) and ours.number_of_edges() == ego.number_of_edges()
            assert sorted(ours) == sorted(g.ego_graph(str(some[0]), radius=radius, undirected=undirected))


def test_what_is_no_edge_and_no_neighbour(site):
    assert site.get_edge_data("news", "about") is None and site.get_edge_data("home", "nobody", 7) == 7
    assert site["home"]["news"] == {} and "lone" not in site["home"] and "nobody" not in site["home"]
    with pytest.raises(KeyError, match="lone"):
        site["home"]["lone"]
    for look in (site.__getitem__, site.adj.__getitem__, site.predecessors, site.in_edges, site.ego_graph):
        with pytest.raises(oc.NoVertexError, match="the ids of this graph are strings"):
            look("nobody")
    with pytest.raises(TypeError, match="expected an id"):
        site[1.5]
    with pytest.raises(oc.UsageError, match="hops from 0 on, found -1"):
        site.ego_graph("home", radius=-1)
    assert repr(site["home"]) == "<outcore.Neighbours of 'home': 'about', 'news'>"
    assert repr(site.in_edges) == "<outcore.InEdges: 5 edges>" and "4 vertices" in repr(site.adj)
    many = oc.load_graph([("hub", f"v{i:02}") for i in range(30)])
    assert repr(many["hub"]).endswith("'v09', ...>")


@pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
def test_the_shell_shows_hops_directions_and_attributes(make):
    edges = pl.DataFrame({
        "source": ["a", "a", "b", "c", "x"], "target": ["b", "b", "c", "d", "b"],
        "kind": ["one", "two", None, "far", "in"], "minutes": [1, 2, 3, 4, 5],
    })
    g = make(edges, duplicates="keep", attributes=True)
    assert shell("neighbors", g.path, "a") == [
        ["vertex", "neighbor", "kind", "minutes"], ["a", "b", "one", "1"], ["a", "b", "two", "2"],
    ]
    head, *rows = shell("neighbors", g.path, "b", "--in")
    assert sorted(rows) == [["b", "a", "one", "1"], ["b", "a", "two", "2"], ["b", "x", "in", "5"]]
    head, *rows = shell("neighbors", g.path, "b", "--both")
    assert head == ["direction", "vertex", "neighbor", "kind", "minutes"]
    assert rows[0] == ["out", "b", "c", "", "3"] and {row[0] for row in rows[1:]} == {"in"} and len(rows) == 4
    head, *rows = shell("neighbors", g.path, "a", "--hops", "2")
    assert head[0] == "hop" and [row[:3] for row in rows] == [["1", "a", "b"], ["1", "a", "b"], ["2", "b", "c"]]
    head, *rows = shell("neighbors", g.path, "x", "--hops", "2", "--both")
    assert head[:2] == ["hop", "direction"] and sorted(row[:4] for row in rows) == sorted(
        [["1", "out", "x", "b"], ["2", "out", "b", "c"], ["2", "in", "b", "a"], ["2", "in", "b", "a"], ["2", "in", "b", "x"]]
    )
    # A vertex that was given is not shown again.
    head, *rows = shell("neighbors", g.path, "a", "b", "--hops", "3")
    assert [row[:3] for row in rows] == [["1", "a", "b"], ["1", "a", "b"], ["1", "b", "c"], ["2", "c", "d"]]
    assert "cannot be used with" in shell("neighbors", g.path, "a", "--in", "--both", code=2)
    without = make([(1, 2), (2, 3)], directed=False)
    assert shell("neighbors", without.path, 1, "--hops", 2)[1:] == [["1", "1", "2"], ["2", "2", "1"], ["2", "2", "3"]]


def test_edges_come_in_batches_whatever_their_number(make):
    count = 200_000
    source = np.arange(count)
    g = make((source, (source + 1) % count, source * 0.5), order="input")
    batches = list(pa.RecordBatchReader.from_stream(g.edges(weights=True)))
    assert len(batches) > 2 and max(batch.num_rows for batch in batches) <= 1 << 16
    table = pa.Table.from_batches(batches)
    assert table["source"].to_numpy().tolist() == source.tolist()
    assert (table["weight"].to_numpy() == source * 0.5).all()
    assert table.schema.metadata == {b"outcore.directed": b"true", b"outcore.weight": b"weight"}
    long = make([(f"{place:0>3000}", "x") for place in range(2000)])
    assert sum(1 for _ in long.edges) == 2000
    assert max(batch.nbytes for batch in pa.RecordBatchReader.from_stream(long.edges)) < 3 << 20


def test_what_views_refuse(make):
    g = make([(1, 2), (2, 3)])
    with pytest.raises(oc.UsageError, match="found none"):
        list(g.edges(weights=True))
    with pytest.raises(oc.UsageError):
        g.edges([7])
    rows = iter(g.edges)
    next(rows)
    g.close()
    for use in (lambda: list(g.edges), lambda: list(g), lambda: len(g.nodes), lambda: g.degree(1)):
        with pytest.raises(oc.UsageError, match="closed"):
            use()


@pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
def test_an_algorithm_without_run_is_shown_the_command():
    for name in ("pagerank", "components", "eigsh", "kmeans", "weakly-connected-components"):
        assert f"outcore run {name}" in shell(name, "x.oc", code=2)
    assert "outcore run" not in shell("pagrank", "x.oc", code=2)


@pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
def test_a_terminal_does_not_obey_ids(tmp_path):
    oc.import_graph([("a\x1b[31m", "b\rc"), ("d", "e")], tmp_path / "g.oc")
    for look in (["head"], ["neighbors", "a\x1b[31m"], ["degrees", "a\x1b[31m"]):
        command = [OUTCORE, look[0], tmp_path / "g.oc", *look[1:]]
        ours, theirs = pty.openpty()
        assert subprocess.run(command, stdout=theirs).returncode == 0
        os.close(theirs)
        shown = os.read(ours, 1 << 16)
        os.close(ours)
        assert b"\x1b" not in shown and b"31m" in shown
        # Programs get the bytes as they are.
        assert b"a\x1b[31m" in subprocess.run(command, capture_output=True).stdout


@pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
def test_negative_numbers_are_refused_by_what_is_expected(tmp_path):
    oc.generate("path", scale=3, output=tmp_path / "g.oc")
    for arguments, words in [
        (["head", "-n", "-1"], "expected a whole number from 0"),
        (["run", "components", "--top", "-1"], "expected a whole number from 0"),
        (["head", "--memory", "-1"], "invalid value '-1' for '--memory <SIZE>'"),
    ]:
        command, *options = arguments
        cut = [command, options.pop(0)] if command == "run" else [command]
        done = outcore(*cut, tmp_path / "g.oc", *options, check=False)
        assert done.returncode == 2 and words in done.stderr and "tip" not in done.stderr, done.stderr


@pytest.mark.parametrize("data", [False, True])
def test_rows_of_a_closed_graph_end_with_an_error(data):
    with oc.load_graph([(i, i + 1) for i in range(10)], attributes=True) as g:
        views = [iter(g.edges(data=data)), iter(g.nodes(data=data)), iter(g)]
        assert [next(view) is not None for view in views] == [True] * 3
        ranks = oc.pagerank(g).items()
    for view in views:
        with pytest.raises(oc.UsageError, match="was closed while its rows were read"):
            next(view)
    # Results are not the graph's.
    assert len(list(ranks)) == 11


def test_the_shell_writes_nothing_before_a_refusal(tmp_path):
    def refused(*arguments):
        done = subprocess.run([OUTCORE, *arguments], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode in (2, 6, 8) and done.stdout == "", (done.stdout, done.stderr)
        return done.stderr

    (tmp_path / "s.csv").write_text("source,target\nann,bob\nbob,cy\n")
    oc.import_graph(tmp_path / "s.csv", tmp_path / "s.oc")
    assert "no vertex `nope`" in refused("neighbors", "s.oc", "ann", "nope")
    assert "nope" in refused("import", "s.csv", "nope/z.oc")
    for table in ("-", "v.jsonl"):
        assert "a table of vertices that ends in one of" in refused("export", "s.oc", "-.csv", "--vertex-table", table)
