"""Answers against NetworkX, igraph and SciPy: on random and adversarial graphs, and on every shared graph."""

import functools
import gzip
import random

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import shared_graph
from scipy.sparse.csgraph import breadth_first_order, connected_components, shortest_path

import outcore as oc
from outcore._declared import DECLARED


def star(leaves, center=0):
    return [(center, leaf) for leaf in range(leaves + 1) if leaf != center]


def two_hubs():
    return [(0, leaf) for leaf in range(2, 400)] + [(1, leaf) for leaf in range(300, 700)]


def randomly(vertices, edges, seed):
    draw = random.Random(seed)
    return [(draw.randrange(vertices), draw.randrange(vertices)) for _ in range(edges)]


# Name: vertices, edges.
GRAPHS = {
    "empty": (0, []),
    "one vertex": (1, []),
    "one loop": (1, [(0, 0)]),
    "all isolated": (50, []),
    "loops only": (20, [(v, v) for v in range(20)]),
    "one edge": (2, [(0, 1)]),
    "duplicates": (4, [(0, 1), (0, 1), (1, 0), (1, 2), (1, 2), (3, 3), (3, 3)]),
    "star": (501, star(500)),
    "star, inwards": (501, [(b, a) for a, b in star(500, center=250)]),
    "path": (600, [(v, v + 1) for v in range(599)]),
    "path, backwards": (600, [(v + 1, v) for v in range(599)]),
    "cycle": (100, [(v, (v + 1) % 100) for v in range(100)]),
    "rings in a row": (300, [(v, v + 1 if v % 3 < 2 else v - 2) for v in range(300)] + [(v, v + 3) for v in range(0, 297, 3)]),
    "two hubs": (700, two_hubs()),
    "disconnected": (60, [(3 * v, 3 * v + 1) for v in range(20)]),
    "complete": (40, [(a, b) for a in range(40) for b in range(40)]),
    "sparse": (1000, randomly(1000, 700, 1)),
    "middling": (1000, randomly(1000, 3000, 2)),
    "dense": (200, randomly(200, 10000, 3)),
    "squared": (2000, [(a * a % 2000, b * b % 2000) for a, b in randomly(2000, 6000, 4)]),
}


@functools.cache
def answer(function, graph, *arguments, **options):
    """An answer of NetworkX, computed once a session for each graph: images in several orders are compared with it."""
    return function(graph, *arguments, **options)


@functools.cache
def plain_graph(name, directed):
    """A graph of NetworkX, and the same without loops."""
    vertices, edges = GRAPHS[name]
    plain = (nx.DiGraph if directed else nx.Graph)(edges)
    plain.add_nodes_from(range(vertices))
    loopless = plain.copy()
    loopless.remove_edges_from(list(nx.selfloop_edges(plain)))
    return plain, loopless


def distances(plain, source, cutoff=None):
    return dict(nx.single_source_shortest_path_length(plain, source, cutoff=cutoff))


def diameter(plain):
    return max(max(lengths.values()) for _, lengths in nx.all_pairs_shortest_path_length(plain))


def strong_components(plain):
    """The smallest vertex of each strong component, by vertex."""
    sets = nx.strongly_connected_components(plain) if plain.is_directed() else nx.connected_components(plain)
    return {v: min(together) for together in sets for v in together}


def undirected_triangles(plain):
    return nx.triangles(plain.to_undirected())


def ego_edges(loopless, vertex):
    return nx.ego_graph(loopless, vertex, undirected=True).number_of_edges()


def sampled_betweenness(plain, sources, **options):
    """The betweenness from some sources. NetworkX draws its sources itself: it is given a generator that draws these."""
    drawn = type("Drawn", (random.Random,), {"sample": lambda *_: list(sources)})()
    return nx.betweenness_centrality(plain, k=len(sources), seed=drawn, **options)


def adjacency(vertices, edges, directed):
    """Entries of 1, whatever the duplicates; symmetric where edges have no direction."""
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    if not directed:
        ends = np.concatenate([ends, ends[:, ::-1]])
    matrix = sp.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(vertices, vertices)).tocsr()
    matrix.data[:] = 1
    return matrix


def by_vertex(table, column):
    """Values of a column in the order of the ids; what is missing is -1, also where ids are unsigned."""
    values = table[column]
    if values.dtype.kind in "iu":
        values = np.ma.filled(values.astype(np.int64), -1)
    return values[np.argsort(table["vertex"])]


def power_iteration(matrix, alpha=0.85, iterations=1000):
    """PageRank as NetworkX defines it, over a SciPy matrix, to the last digits."""
    count = matrix.shape[0]
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    dangling = degrees == 0
    backwards = matrix.T.tocsr()
    ranks = np.full(count, 1 / count)
    for _ in range(iterations):
        shares = np.where(dangling, 0, ranks / np.where(dangling, 1, degrees))
        following = alpha * (backwards @ shares + ranks[dangling].sum() / count) + (1 - alpha) / count
        change = np.abs(following - ranks).sum()
        ranks = following
        if change < 1e-13:
            break
    return ranks


def check_bfs(graph, matrix, source, id_of):
    """Levels as SciPy's, parents one level above over an edge. `id_of` are the sorted ids."""
    found = oc.bfs(graph, id_of[source], verify=True)
    place = {id: number for number, id in enumerate(id_of)}
    expected = shortest_path(matrix, unweighted=True, indices=source, directed=True)
    expected = np.where(np.isinf(expected), -1, expected).astype(np.int64)
    levels = by_vertex(found, "level")
    different = np.flatnonzero(levels != expected)
    assert different.size == 0, f"vertex {id_of[different[0]]}: {levels[different[0]]}, not {expected[different[0]]}"
    assert found.reached == (expected >= 0).sum() and found.depth == expected.max()
    parents = by_vertex(found, "parent")
    reached = np.flatnonzero(expected > 0)
    numbers = np.array([place[id] for id in parents[reached]], dtype=np.int64)
    assert (expected[numbers] == expected[reached] - 1).all()
    if reached.size:
        assert (np.asarray(matrix[numbers, reached]).ravel() > 0).all(), "every parent has an edge to its vertex"
    assert parents[source] == id_of[source] and (parents[expected < 0] == -1).all()


def check_searches(graph, matrix, sources, id_of):
    """Searches from many sources as SciPy's, and the bounds on the diameter."""
    ids = [id_of[source] for source in sources]
    expected = shortest_path(matrix, unweighted=True, indices=sources, directed=True)
    expected = np.where(np.isinf(expected), -1, expected).astype(np.int64).reshape(len(sources), matrix.shape[0])
    found = oc.multi_source_bfs(graph, ids, targets=ids[::-1], verify=True)
    assert (by_vertex(found, "reached_by") == (expected >= 0).sum(axis=0)).all()
    assert (by_vertex(found, "distance_sum") == np.where(expected < 0, 0, expected).sum(axis=0)).all()
    assert (found.distances.filled(-1) == expected[:, sources[::-1]]).all() and found.depths == expected.max(axis=1).tolist()
    assert found.reached == (expected >= 0).sum(axis=1).tolist()
    pairs = oc.all_pairs(graph, sources=ids, verify=True)
    assert (pairs.distances.filled(-1) == expected[:, sources]).all() and pairs.sources == ids
    assert pairs.eccentricities == found.depths and max(found.depths) <= pairs.diameter[0] <= pairs.diameter[1]
    if len(set(sources)) == matrix.shape[0]:
        assert pairs.diameter == (expected.max(), expected.max()), "all vertices are sources: it is exact"


def check_betweenness(graph, plain):
    """All, sampled, with and without what may be chosen, as NetworkX."""
    for normalized in (True, False):
        for endpoints in (True, False):
            options = {"normalized": normalized, "endpoints": endpoints}
            found = oc.betweenness_centrality(graph, **options, verify=True)
            assert found.to_dict() == pytest.approx(answer(nx.betweenness_centrality, plain, **options), rel=1e-9, abs=1e-12)
            assert found.sources is None and found.error_bound == 0
            if len(plain) < 3:
                continue
            found = oc.betweenness_centrality(graph, k=max(2, len(plain) // 9), seed=5, **options, verify=True)
            expected = answer(sampled_betweenness, plain, tuple(found.sources), **options)
            assert found.to_dict() == pytest.approx(expected, rel=1e-9, abs=1e-12)
            exact = oc.betweenness_centrality(graph, **options).to_dict()
            assert max(abs(exact[v] - value) for v, value in found.to_dict().items()) <= found.error_bound


def check_components(graph, matrix, id_of):
    compare_components(oc.components(graph, verify=True), connected_components(matrix, directed=False), id_of)
    strong = connected_components(matrix, directed=True, connection="strong")
    compare_components(oc.strong_components(graph, verify=True), strong, id_of)


def compare_components(found, expected, id_of):
    count, labels = expected
    assert found.count == count
    smallest = np.full(count, len(id_of), dtype=np.int64)
    np.minimum.at(smallest, labels, np.arange(len(id_of)))
    expected = np.asarray(id_of)[smallest[labels]] if count else np.array([])
    assert (by_vertex(found, "component") == expected).all()


def check_pagerank(graph, matrix):
    expected = power_iteration(matrix)
    for method in ("power", "delta"):
        found = oc.pagerank(graph, tol=1e-14, stop="networkx", max_iter=1000, method=method, weight=None, verify=True)
        assert np.abs(by_vertex(found, "pagerank") - expected).max() < 1e-9
        assert abs(found["pagerank"].sum() - 1) < 1e-9


def check_core_number(graph, matrix):
    """As igraph's, which counts loops, so they go first."""
    sources, targets = matrix.nonzero()
    kept = sources != targets if graph.is_directed() else sources < targets
    edges = np.stack([sources[kept], targets[kept]], axis=1).tolist()
    expected = igraph.Graph(n=matrix.shape[0], edges=edges, directed=graph.is_directed()).coreness(mode="all")
    found = oc.core_number(graph, verify=True)
    assert by_vertex(found, "core").tolist() == expected and found.max_core == max(expected, default=0)


def propagated(matrix, iterations):
    """Labels as Graphalytics defines them, over a SciPy matrix: row v times the indicator of labels counts them among
    v's neighbours."""
    count = matrix.shape[0]
    labels = np.arange(count)
    for _ in range(iterations):
        indicator = sp.csr_array((np.ones(count, dtype=np.int64), (np.arange(count), labels)), shape=(count, count))
        counts = (matrix @ indicator).tocsr()
        counts.sort_indices()
        rows = np.repeat(np.arange(count), np.diff(counts.indptr))
        most = np.zeros(count, dtype=np.int64)
        np.maximum.at(most, rows, counts.data.astype(np.int64))
        best = np.flatnonzero(counts.data == most[rows])
        following = labels.copy()
        # The first of the best in a row is the smallest label: write it last.
        following[rows[best[::-1]]] = counts.indices[best[::-1]]
        if (following == labels).all():
            break
        labels = following
    return labels


def check_label_propagation(graph, matrix, id_of, iterations=(10,)):
    both = (matrix + matrix.T if graph.is_directed() else matrix).astype(np.int64)
    for max_iter in iterations:
        found = oc.label_propagation(graph, max_iter=max_iter, verify=True)
        expected = propagated(both, max_iter)
        assert (by_vertex(found, "label") == np.asarray(id_of, dtype=np.int64)[expected]).all()
        assert found.count == len(np.unique(expected)) and found.iterations <= max_iter


def closed_pairs(matrix):
    """Per vertex: neighbours, those joined both ways, triangles, choices of directed ones, and edges among neighbours,
    by SciPy."""
    plain = (matrix - sp.diags_array(matrix.diagonal())).tocsr()
    plain.eliminate_zeros()
    both = (plain + plain.T).tocsr()
    joined = both.copy()
    joined.data[:] = 1
    neighbours = joined.sum(axis=1)
    # Products of matrices go over fewer paths where vertices of small degree come first and edges lead upwards.
    order = np.argsort(neighbours, kind="stable")

    def at_corners(beside, across):
        """Per vertex, for all its triangles together: the product of the two edges beside it and the one across."""
        beside, across = (sp.triu(edges[order][:, order], 1, format="csr") for edges in (beside, across))
        found = np.empty(len(order))
        found[order] = (beside @ across).multiply(beside).sum(axis=1)
        found[order] += (beside.T @ across).multiply(beside).sum(axis=1)
        found[order] += (across @ beside).multiply(beside).sum(axis=0)
        return found

    return neighbours, both.sum(axis=1) - neighbours, at_corners(joined, joined), at_corners(both, both), at_corners(joined, both)


def check_scan_statistics(graph, localities):
    """`localities` are the statistics of all vertices, in the order of their ids."""
    greatest = np.sort(localities)[::-1].astype(np.int64)
    for top in (1, 20, 300):
        found = oc.scan_statistics(graph, top=top, verify=True)
        assert found.statistics == greatest[:top].tolist() and len(set(found.vertices)) == len(found.vertices)
        assert dict(zip(found.vertices, found.statistics)) == dict(found.top(top))
        values = by_vertex(found, "edges")
        assert (values[values >= 0] == localities[values >= 0]).all() and (values >= 0).sum() == len(found.vertices)
        assert min(top, len(graph)) <= found.looked_at <= len(graph)


def check_triads(graph, matrix):
    neighbours, both, triangles, choices, opposite = closed_pairs(matrix)
    over = lambda part, whole: np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    found = oc.triangles(graph, verify=True)
    assert (by_vertex(found, "triangles") == triangles).all() and found.total == triangles.sum() / 3
    edges = neighbours + both
    possible = edges * (edges - 1) - 2 * both
    found = oc.clustering(graph, verify=True)
    assert np.abs(by_vertex(found, "clustering") - over(choices, possible)).max() < 1e-12
    assert abs(found.transitivity - (choices.sum() / possible.sum() if possible.sum() else 0)) < 1e-12
    assert abs(found.average - found["clustering"].mean()) < 1e-12
    check_scan_statistics(graph, edges + opposite if graph.is_directed() else neighbours + triangles)
    found = oc.lcc(graph, verify=True)
    assert np.abs(by_vertex(found, "lcc") - over(opposite, neighbours * (neighbours - 1))).max() < 1e-12
    assert abs(found.average - found["lcc"].mean()) < 1e-12


@pytest.mark.parametrize("order", ["input", "degree", "near"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("name", GRAPHS)
def test_small(make, name, directed, order):
    vertices, edges = GRAPHS[name]
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    graph = make((ends[:, 0], ends[:, 1]), vertices=vertices, directed=directed, order=order, threads=2)
    matrix = adjacency(vertices, edges, directed)
    assert len(graph) == vertices and graph.is_directed() is directed
    plain, loopless = plain_graph(name, directed)
    assert graph.number_of_edges() == plain.number_of_edges()
    ids = list(range(vertices))
    for source in {0, vertices // 2, vertices - 1} if vertices else ():
        check_bfs(graph, matrix, source, ids)
        expected = answer(distances, plain, source)
        assert {v: level for v, level in oc.bfs(graph, source).to_dict().items() if level is not None} == expected
        for limit in (0, 2, 7):
            near = answer(distances, plain, source, cutoff=limit)
            found = oc.bfs(graph, source, depth_limit=limit, verify=True)
            assert {v: level for v, level in found.to_dict().items() if level is not None} == near
            assert found.path is None
        for target in {0, vertices // 3, vertices - 1}:
            found = oc.bfs(graph, source, target=target, verify=True)
            assert (found.path is None) == (target not in expected) and found.depth <= max(expected.values())
            if found.path:
                assert len(found.path) == len(answer(nx.shortest_path, plain, source, target)) == found.depth + 1
                assert found.path[0] == source and found.path[-1] == target and nx.is_path(plain, found.path)
    if vertices:
        check_searches(graph, matrix, sorted({0, vertices // 3, vertices // 2, vertices - 1}), ids)
        least, most = oc.all_pairs(graph, k=8).diameter
        assert least <= answer(diameter, plain) <= most
    if vertices <= 300:
        check_betweenness(graph, plain)
    check_components(graph, matrix, ids)
    assert oc.strong_components(graph).to_dict() == answer(strong_components, plain)
    check_core_number(graph, matrix)
    assert oc.core_number(graph).to_dict() == answer(nx.core_number, loopless)
    check_label_propagation(graph, matrix, ids, iterations=(0, 1, 2, 10))
    assert oc.triangles(graph).to_dict() == answer(undirected_triangles, plain)
    found = oc.scan_statistics(graph, top=20)
    egos = [answer(ego_edges, loopless, v) for v in found.vertices]
    assert found.statistics == egos and len(egos) == min(vertices, 20)
    if vertices == 0:
        assert len(oc.pagerank(graph)) == len(oc.clustering(graph)) == len(oc.lcc(graph)) == 0
        return
    check_triads(graph, matrix)
    found = oc.clustering(graph)
    expected = answer(nx.clustering, plain)
    assert max(abs(found.to_dict()[v] - expected[v]) for v in expected) < 1e-12
    assert abs(found.average - answer(nx.average_clustering, plain)) < 1e-12
    if not directed:
        assert abs(found.transitivity - answer(nx.transitivity, plain)) < 1e-12
    check_pagerank(graph, matrix)
    expected = answer(nx.pagerank, plain, tol=1e-12, max_iter=1000)
    found = oc.pagerank(graph, tol=1e-12, stop="networkx", max_iter=1000).to_dict()
    assert max(abs(found[v] - expected[v]) for v in expected) < 1e-9


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_igraph(make, directed):
    vertices, edges = GRAPHS["middling"]
    edges = sorted({edge if directed else tuple(sorted(edge)) for edge in edges})
    graph = make(edges, vertices=vertices, directed=directed)
    other = igraph.Graph(n=vertices, edges=edges, directed=directed)
    levels = [level if level != float("inf") else -1 for level in other.distances(source=7, mode="out")[0]]
    assert by_vertex(oc.bfs(graph, 7), "level").tolist() == levels
    assert oc.components(graph).count == len(other.connected_components(mode="weak"))
    strong = other.connected_components(mode="strong")
    smallest = [min(members) for members in strong]
    assert by_vertex(oc.strong_components(graph), "component").tolist() == [smallest[label] for label in strong.membership]
    assert oc.triangles(graph).total == len(other.list_triangles())
    if not directed:
        expected = other.transitivity_local_undirected(mode="zero")
        assert np.abs(by_vertex(oc.clustering(graph), "clustering") - expected).max() < 1e-12
    # igraph counts a loop of an edge without direction twice, NetworkX once: compare where there is none.
    loopless = [(a, b) for a, b in edges if a != b]
    graph = make(loopless, vertices=vertices, directed=directed)
    expected = igraph.Graph(n=vertices, edges=loopless, directed=directed).pagerank(damping=0.85)
    found = oc.pagerank(graph, tol=1e-12, max_iter=1000)
    assert np.abs(by_vertex(found, "pagerank") - expected).max() < 1e-9


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("name", ["wiki-Vote.txt.zst", "ca-CondMat.txt.zst"])
def test_betweenness_of_shared_graphs(make, name, directed):
    """From a few sources, as igraph's, which does not scale sums, but halves them where edges have no direction."""
    path = shared_graph(name)
    graph = make(path, directed=directed)
    ends = parsed(path)
    ids = np.unique(ends)
    edges = {pair if directed else tuple(sorted(pair)) for pair in map(tuple, np.searchsorted(ids, ends).tolist())}
    other = igraph.Graph(n=len(ids), edges=sorted(edges), directed=directed)
    sources = [0, 7, 99, 1000, 1001, 2000, 3000, 4000, 5000, 6000, 6500]
    expected = np.array(other.betweenness(directed=directed, sources=sources, targets=None))
    found = oc.betweenness_centrality(graph, sources=ids[sources].tolist(), normalized=False, verify=True)
    # Sources see one less of the sources.
    seen = np.full(len(ids), len(sources))
    seen[sources] -= 1
    assert np.allclose(by_vertex(found, "betweenness"), expected * (len(ids) - 1) / seen, rtol=1e-9)
    assert found.error_bound == float("inf")


def grid(side):
    """The vertices of a square by rows, joined with the next ones in row and column."""
    places = np.arange(side * side).reshape(side, side)
    across, down = (places[:, :-1].ravel(), places[:, 1:].ravel()), (places[:-1].ravel(), places[1:].ravel())
    return tuple(np.concatenate(ends) for ends in zip(across, down))


def dependencies_in_grid(side):
    """What depends on every vertex in paths from a corner, with numbers of paths that are exact whole numbers of any
    size."""
    paths = [[1] * side for _ in range(side)]
    for i in range(1, side):
        for j in range(1, side):
            paths[i][j] = paths[i - 1][j] + paths[i][j - 1]
    depends = np.zeros((side, side))
    for i in reversed(range(side)):
        for j in reversed(range(side)):
            behind = [(a, b) for a, b in ((i + 1, j), (i, j + 1)) if a < side and b < side]
            depends[i, j] = sum(paths[i][j] / paths[a][b] * (1 + depends[a, b]) for a, b in behind)
    depends[0, 0] = 0
    return depends.ravel()


@pytest.mark.parametrize("side", [40, 600])
def test_betweenness_of_grids(make, side):
    """From the corner of the larger one there are 10^359 paths to the opposite one, which no real number holds."""
    vertices = side * side
    graph = make(grid(side), directed=False)
    found = by_vertex(oc.betweenness_centrality(graph, sources=[0], normalized=False), "betweenness")
    depends = dependencies_in_grid(side)
    # The mean over the sources other than a vertex stands for all; every pair counts once.
    np.testing.assert_allclose(found[1:], depends[1:] * (vertices - 1) / 2, rtol=1e-9)
    if side == 40:
        sources = [0, 820, 1599]
        plain = nx.Graph(list(zip(*(ends.tolist() for ends in grid(side)))))
        expected = nx.betweenness_centrality_subset(plain, sources, list(plain))
        found = by_vertex(oc.betweenness_centrality(graph, sources=sources, normalized=False, verify=True), "betweenness")
        others = [v for v in plain if v not in sources]
        np.testing.assert_allclose(found[others], [expected[v] * (vertices - 1) / len(sources) for v in others], rtol=1e-9)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("name", ["wiki-Vote.txt.zst", "ca-CondMat.txt.zst"])
def test_scan_statistics_of_shared_graphs(make, name, directed):
    path = shared_graph(name)
    graph = make(path, directed=directed)
    plain = (nx.DiGraph if directed else nx.Graph)(parsed(path).tolist())
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    found = oc.scan_statistics(graph, top=5, verify=True)
    egos = {v: plain.subgraph({v, *nx.all_neighbors(plain, v)}).number_of_edges() for v in plain}
    assert found.statistics == sorted(egos.values(), reverse=True)[:5]
    assert found.statistics == [nx.ego_graph(plain, v, undirected=True).number_of_edges() for v in found.vertices]


def weighted_graph(name, directed, kind):
    """A graph of NetworkX whose edges have weights, some of them 0, and the ends and weights as arrays."""
    vertices, edges = GRAPHS[name]
    weighted = (nx.DiGraph if directed else nx.Graph)()
    weighted.add_nodes_from(range(vertices))
    for a, b in edges:
        weighted.add_edge(a, b, weight=kind((a * 7919 + b * 104729) % 5 * 0.75))
    ends = np.array(list(weighted.edges), dtype=np.int64).reshape(-1, 2)
    weights = np.array([weight for _, _, weight in weighted.edges(data="weight")], dtype=kind)
    return weighted, (ends[:, 0], ends[:, 1], weights)


@pytest.mark.parametrize("kind", [float, int])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("name", ["two hubs", "disconnected", "middling", "dense", "squared"])
def test_shortest_paths(make, name, directed, kind):
    weighted, edges = weighted_graph(name, directed, kind)
    graph = make(edges, vertices=len(weighted), directed=directed, threads=2)
    for source in (0, len(weighted) // 2):
        for weight in ("weight", None):
            expected = nx.single_source_dijkstra_path_length(weighted, source, weight=weight or (lambda *_: 1))
            found = oc.sssp(graph, source, weight=weight, delta=1.5, verify=True)
            distances = {v: distance for v, distance in found.to_dict("distance").items() if distance is not None}
            assert distances == expected and found.reached == len(expected)
            whole = kind is int or weight is None
            assert found["distance"].dtype == (np.int64 if whole else np.float64)
            parents = found.to_dict("parent")
            for vertex, distance in expected.items():
                before = parents[vertex]
                length = weighted[before][vertex]["weight"] if vertex != source and weight else 1
                assert vertex == source == before or expected[before] + length == distance


@pytest.mark.parametrize("kind", [float, int])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("name", ["middling", "sparse", "squared"])
def test_weighted_pagerank(make, name, directed, kind):
    """With the weights, as NetworkX by default; without them, as NetworkX without."""
    weighted, edges = weighted_graph(name, directed, kind)
    graph = make(edges, vertices=len(weighted), directed=directed, threads=2)
    assert (edges[2] == 0).any()
    for weight in ("weight", None):
        expected = nx.pagerank(weighted, tol=1e-12, max_iter=1000, weight=weight)
        for method in ("power", "delta"):
            found = oc.pagerank(graph, tol=1e-12, stop="networkx", max_iter=1000, method=method, weight=weight, verify=True).to_dict()
            assert max(abs(found[v] - expected[v]) for v in expected) < 1e-9
        sets = [{3: 1.0, 5: 2.5}, {17, 3}, (40,), {7: 0, 9: 3}]
        found = oc.personalized_pagerank(graph, sets, tol=1e-15, stop="networkx", max_iter=1000, weight=weight, verify=True)
        assert found.columns == ["vertex"] + [f"pagerank_{number}" for number in range(4)]
        for number, seeds in enumerate(sets):
            shares = seeds if isinstance(seeds, dict) else dict.fromkeys(seeds, 1)
            expected = nx.pagerank(weighted, personalization=shares, tol=1e-15, max_iter=1000, weight=weight)
            ranks = dict(zip(found["vertex"].tolist(), found[f"pagerank_{number}"].tolist()))
            assert max(abs(ranks[v] - expected[v]) for v in expected) < 1e-9
    assert oc.personalized_pagerank(graph, {3}).columns == ["vertex", "pagerank"]
    with pytest.raises(oc.UsageError, match="a share above 0"):
        oc.personalized_pagerank(graph, {3: 0})
    with pytest.raises(oc.UsageError, match="expected weights `cost`"):
        oc.pagerank(graph, weight="cost")


def test_gap_dangling(make):
    vertices, edges = GRAPHS["sparse"]
    matrix = adjacency(vertices, edges, True)
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    ranks = np.full(vertices, 1 / vertices)
    for _ in range(20):
        shares = np.where(degrees == 0, 0, ranks / np.maximum(degrees, 1))
        ranks = 0.15 / vertices + 0.85 * (matrix.T @ shares)
    found = oc.pagerank(make(edges, vertices=vertices), tol=0, max_iter=20, dangling="gap", verify=True)
    assert found.iterations == 20
    assert np.abs(by_vertex(found, "pagerank") - ranks).max() < 1e-15


# The file, whether its edges have a direction (none: the format says so), and further options.
SHARED = [
    ("wiki-Vote.txt.zst", True, {}),
    ("facebook_combined.txt.gz", False, {}),
    ("ca-CondMat.txt.zst", False, {}),
    ("p2p-Gnutella31.txt.zst", True, {}),
    ("email-Enron.txt.zst", False, {}),
    ("as-caida20071105.txt.zst", False, {"weight": "none"}),
    ("cit-HepTh.txt.zst", True, {}),
    ("soc-sign-bitcoinotc.csv.zst", True, {"source": 1, "target": 2, "weight": 3}),
    ("soc-Epinions1.txt.gz", True, {}),
    ("soc-Slashdot0902.txt.gz", True, {}),
    ("web-NotreDame.txt.gz", True, {}),
    ("blogcatalog.edgelist.zst", False, {}),
    ("cal.cedge.zst", False, {}),
    ("bremen_dist.gr.zst", None, {}),
    ("PGPgiantcompo.graph.zst", None, {}),
    ("luxembourg_osm.mtx.zst", None, {}),
    ("cnr-2000.txt.zst", True, {}),
    ("cnr-2000.graph-txt.gz", None, {}),
]


def exported(graph, folder):
    """The edges as the image holds them, in NumPy; an independent reader reads the file."""
    import pyarrow.parquet as pq

    graph.export(folder / "edges.parquet")
    table = pq.read_table(folder / "edges.parquet")
    return table["source"].to_numpy().astype(np.int64), table["target"].to_numpy().astype(np.int64)


def parsed(path, columns=(0, 1)):
    """The edges of a plain text file, read by NumPy."""
    import pyarrow as pa

    if path.suffix == ".gz":
        text = gzip.open(path, "rt")
    else:
        text = pa.input_stream(str(path), compression="zstd").read().decode().splitlines()
    # This one begins with the numbers of vertices and lines.
    header = 1 if path.name.startswith("email-Enron") else 0
    return np.loadtxt(text, dtype=np.int64, usecols=columns, comments="#", ndmin=2, skiprows=header)


@pytest.mark.parametrize("name, directed, options", SHARED, ids=[name for name, _, _ in SHARED])
def test_shared(make, tmp_path, name, directed, options):
    path = shared_graph(name)
    graph = make(path, directed=directed, memory="4GiB", **options)
    if path.name.removesuffix(path.suffix).endswith(".txt"):
        ends = parsed(path)
    else:
        ends = np.stack(exported(graph, tmp_path), axis=1)
    ids = np.unique(ends)
    vertices = oc.components(graph)["vertex"].astype(np.int64)
    ids = np.union1d(ids, vertices)
    assert len(ids) == len(graph) == len(vertices)
    matrix = adjacency(len(ids), np.searchsorted(ids, ends), graph.is_directed())
    loops = int(matrix.diagonal().sum())
    assert graph.number_of_edges() == (matrix.nnz if graph.is_directed() else (matrix.nnz - loops) // 2 + loops)
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    check_bfs(graph, matrix, int(degrees.argmax()), ids.tolist())
    check_searches(graph, matrix, degrees.argsort()[::-1][:9].tolist(), ids.tolist())
    check_components(graph, matrix, ids.tolist())
    check_core_number(graph, matrix)
    check_label_propagation(graph, matrix, ids.tolist())
    check_pagerank(graph, matrix)
    check_triads(graph, matrix)


def test_the_sum_of_levels_is_that_of_a_breadth_first_order(make):
    """The oracle itself, once: SciPy's order visits what its distances reach."""
    vertices, edges = GRAPHS["squared"]
    matrix = adjacency(vertices, edges, True)
    order = breadth_first_order(matrix, 1, return_predecessors=False)
    assert oc.bfs(make(edges, vertices=vertices), 1).reached == len(order)


# What texts of options are in Python.
TEXTS = {
    "whole": int, "real": float, "flag": "true".__eq__, "vertex": int, "choice": str, "weight": lambda text: text or None,
    "vertices": lambda text: [int(one) for one in text.split(",")], "seeds": lambda text: {int(one) for one in text.split(",")},
}  # fmt: skip


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", [name for name, declared in DECLARED.items() if declared["networkx"]])
def test_networkx_gives_what_the_declaration_says(make, name, directed):
    """Graphs with loops, vertices without edges, edges both ways, and weights."""
    declared = DECLARED[name]
    texts, expression = declared["networkx"]
    kinds = {option["name"]: TEXTS[option["kind"]] for option in declared["options"]}
    options = {option: kinds[option](text) for option, text in texts}
    for seed in range(6):
        plain = nx.gnp_random_graph(40, [0.02, 0.1, 0.3][seed % 3], seed=seed, directed=directed)
        plain.add_edges_from((v, v) for v in range(0, 40, 9) if seed % 2)
        plain.add_edge(0, 1)
        for place, (one, other) in enumerate(plain.edges):
            plain.edges[one, other]["weight"] = 1 + place * 7 % 11
        graph = make(plain)
        found = getattr(oc, name)(graph, **options, verify=True)
        expected = eval(expression, {"G": plain, "nx": nx})
        values = found.to_dict(found.columns[1])
        assert len(values) == 40 and sum(expected.get(v) is not None for v in plain) > 2
        for vertex, value in values.items():
            other = expected.get(vertex)
            same = value is other if other is None else value == pytest.approx(other, rel=1e-9, abs=1e-9)
            assert same, (name, seed, vertex, value, other)
