"""The algorithms: defaults and documentation. The work is done by the extension module."""

from collections.abc import Iterable, Mapping, Set
from typing import Literal

from outcore import _outcore
from outcore._errors import UsageError
from outcore._options import check_each, checked
from outcore._outcore import (
    AllPairs,
    Betweenness,
    Bfs,
    Clustering,
    Components,
    CoreNumbers,
    Graph,
    LabelPropagation,
    Lcc,
    MultiSourceBfs,
    PageRank,
    ScanStatistics,
    Sssp,
    Triangles,
)

# How many sources `all_pairs` draws.
_DRAWN = 32
# Vertices that jumps lead to, with shares or equally.
Seeds = Mapping[int | str, float] | Set[int | str] | tuple[int | str, ...]


@checked
def bfs(
    graph: Graph,
    source: int | str,
    *,
    depth_limit: int | None = None,
    target: int | str | None = None,
    verify: bool = False,
) -> Bfs:
    """Breadth-first search: the distance of every vertex from a source, along the direction of the edges.

    Args:
        graph: The graph.
        source: The id of the vertex to start from.
        depth_limit: The greatest level that is searched for; all if not given.
        target: The id of a vertex on whose level the search ends, if there is a path to it.
        verify: Whether to check the result with another pass over the edges.

    Returns:
        A table with a row per vertex: `vertex`, `level` (the number of edges from the source) and `parent` (the vertex
        before it on a shortest path; the source is its own). Both are missing where there is no path, or only one
        beyond `depth_limit` or `target`. `reached` is how many vertices have a level, `depth` is the greatest one.
        `path` is the list of the ids on a shortest path from the source to the target, or `None`; it is made when it is
        first asked for, and takes some 72 bytes per vertex on the path while the result lives. Which of several
        possible parents is named does not depend on threads, back end or memory, nor on where the search ends.

    Cost: reads every page of the lists at most once in each direction; on graphs with hubs far less than
    one pass; 12.4 bytes of memory per vertex.

    Raises:
        UsageError: No vertex of that id.
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Unlike `networkx.single_source_shortest_path_length`, unreached vertices are in the result, without a level; and a
    path that is not there is `None`, where `networkx.shortest_path` raises an error. `depth_limit` is what
    `networkx.bfs_tree` calls so. Weights are not used.

    Beamer, Asanovic, Patterson: Direction-optimizing breadth-first search. SC 2012.

    >>> levels = oc.bfs(g, "home")
    >>> levels.reached, levels.depth
    (3, 1)
    >>> levels.row("news")
    {'vertex': 'news', 'level': 1, 'parent': 'home'}
    >>> oc.bfs(g, "news", target="about").path
    ['news', 'home', 'about']
    """
    return _outcore.bfs(graph, source, depth_limit, target, verify)


@checked
def multi_source_bfs(
    graph: Graph,
    sources: Iterable[int | str],
    *,
    targets: Iterable[int | str] = (),
    depth_limit: int | None = None,
    verify: bool = False,
) -> MultiSourceBfs:
    """Breadth-first search from many sources at once, along the direction of the edges.

    Args:
        graph: The graph.
        sources: The ids of the vertices to start from, as many as you like.
        targets: The ids of the vertices whose distances from every source are kept.
        depth_limit: The greatest distance that is searched for; all if not given.
        verify: Whether to check the result by searching from every source alone.

    Returns:
        A table with a row per vertex: `vertex`, `reached_by` (how many of the sources have a path to it) and
        `distance_sum` (the sum of its distances from those). In the order of the sources, `reached` says how many
        vertices each has a path to, itself included, and `depths` the greatest distance among them. `distances` is a
        masked array of shape (sources, targets), masked where there is no path; it is made when it is first asked for.

    Cost: up to 512 sources, as many as the memory limit holds, share one search, which reads the lists about once on
    graphs with hubs, and at most once per level. 16.4 bytes of memory per vertex, and 24 for every 64 sources that go
    together; 4 bytes per source and target, and 9 more when `distances` are asked for. If there is no room for those,
    asking raises MemoryLimitError, and the rest of the result is as useful as before.

    Raises:
        UsageError: No vertex of one of the ids.
        MemoryLimitError: Too little memory for 64 sources at a time, said beforehand.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    `networkx.all_pairs_shortest_path_length` and `networkx.single_source_shortest_path_length` give the same distances,
    as dicts.

    Then et al.: The more the merrier, efficient multi-source graph traversal. VLDB 2014.

    >>> found = oc.multi_source_bfs(g, ["home", "news"], targets=["about"], verify=True)
    >>> found.distances.tolist(), found.depths
    ([[1], [2]], [1, 2])
    >>> found.row("home")
    {'vertex': 'home', 'reached_by': 2, 'distance_sum': 1}
    """
    return _outcore.multi_source_bfs(graph, list(sources), list(targets), depth_limit, verify)


@checked
def all_pairs(
    graph: Graph,
    *,
    sources: Iterable[int | str] | None = None,
    k: int | None = None,
    seed: int | None = None,
    verify: bool = False,
) -> AllPairs:
    """Shortest paths from chosen vertices: their distances to each other, their eccentricities, and bounds on the
    diameter of the graph.

    Args:
        graph: The graph.
        sources: The ids of the vertices to start from.
        k: How many vertices are drawn if they are not given, 32 by default; all if there are no more.
        seed: Other seeds, by default 1, draw others; the same draws the same ids, whatever the order of the image.
        verify: Whether to check the result by searching from every source alone.

    Returns:
        A table with a row per vertex, as that of `multi_source_bfs`. `sources` are the ids of the sources,
        `eccentricities` the greatest distance from each of them to a vertex that it has a path to, `distances` a masked
        array of shape (sources, sources), masked where there is no path, which is made when it is first asked for, as
        in `multi_source_bfs`. `diameter` is a pair: the greatest distance between any two vertices of the graph that
        have a path is at least the first and at most the second; both are the same if all vertices are sources.

    Cost: that of `multi_source_bfs`, twice in directed graphs, and that of `components`; 40.4 bytes of memory per
    vertex.

    Raises:
        UsageError: No vertex of one of the ids, or `sources` beside `k` or `seed`.
        MemoryLimitError: Too little memory for 64 sources at a time, said beforehand.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    `networkx.eccentricity` and `networkx.diameter` refuse graphs in which some vertices have no path to others; here
    those pairs are left out.

    Liu and Huang: Graphene. FAST 2017. Magnien, Latapy, Habib: Fast computation of empirically tight bounds for the
    diameter of massive graphs. JEA 2009.

    >>> found = oc.all_pairs(g, sources=["home", "news"], verify=True)
    >>> found.eccentricities, found.diameter
    ([1, 2], (2, 2))
    """
    for name, given in (("k", k), ("seed", seed)):
        if sources is not None and given is not None:
            raise UsageError(f"expected {name} or sources, found both")
    if k == 0:
        raise UsageError("expected k of at least 1, found 0")
    drawn, seed = _DRAWN if k is None else k, 1 if seed is None else seed
    return _outcore.all_pairs(graph, None if sources is None else list(sources), drawn, seed, verify)


@checked
def betweenness_centrality(
    graph: Graph,
    k: int | None = None,
    *,
    sources: Iterable[int | str] | None = None,
    normalized: bool = True,
    endpoints: bool = False,
    seed: int = 1,
    failure: float = 0.1,
    verify: bool = False,
) -> Betweenness:
    """Betweenness centrality, with the names, defaults and meaning of `networkx.betweenness_centrality` (since its
    version 3.6).

    A vertex counts, for every ordered pair of others, the share of the shortest paths between them that lead through
    it.

    Args:
        graph: The graph. Edges without direction are paths both ways, and a pair counts once.
        k: How many vertices are drawn as the starts of paths, to stand for all; all vertices if not given.
        sources: The ids of vertices that are taken as the starts instead of drawn ones.
        normalized: Whether to divide by the number of pairs of vertices between which a vertex can be.
        endpoints: Whether the ends of a path count as vertices that it leads through.
        seed: Other seeds draw others; the same draws the same ids, whatever the order of the image.
        failure: The probability that some vertex may be off by more than the error bound.
        verify: Whether to check the result with another algorithm, source by source.

    Returns:
        A table with a row per vertex: `vertex` and `betweenness`. `sources` are the ids of the starts, `None` if they
        were all vertices. `error_bound`: if the starts were drawn, then with probability 1 - `failure` no vertex is off
        by more than this; 0 if they were all vertices, infinite if they were given. It is sqrt(ln(2 V / failure) / (2
        (k - 1))) times the greatest value possible, and no more than that value.

    Cost: per batch of up to eight sources, as many as the memory limit holds, about two passes over the lists of each
    direction. 37.3 bytes of memory per vertex, and 28.1 for every source of a batch beyond the first.

    Raises:
        UsageError: No vertex of one of the ids, one twice, or numbers of shortest paths to vertices at the same
            distance that differ by more than 2**900.
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Differences from NetworkX: there is no `weight`; other vertices are drawn for a seed; a single source, of which
    nothing is known, has 0 where NetworkX has NaN; parallel edges are paths of their own.

    Brandes: A faster algorithm for betweenness centrality. J. Mathematical Sociology 2001. Brandes and Pich: Centrality
    estimation in large networks. 2007.

    >>> found = oc.betweenness_centrality(g, verify=True)
    >>> found.row("home")["betweenness"], found.error_bound
    (0.3333333333333333, 0.0)
    """
    if sources is not None and k is not None:
        raise UsageError("expected k or sources, found both")
    given = None if sources is None else list(sources)
    return _outcore.betweenness_centrality(graph, k, given, normalized, endpoints, seed, failure, verify)


@checked
def sssp(
    graph: Graph,
    source: int | str,
    *,
    weight: str | None = "weight",
    delta: float | None = None,
    verify: bool = False,
) -> Sssp:
    """Shortest paths from a source along the direction of the edges, where the length of an edge is its weight.

    Args:
        graph: The graph.
        source: The id of the vertex to start from.
        weight: The name of the weights that are lengths; by default the only ones that the graph has, whatever they are
            called, which `stats["weights"]` names. Where edges have none, or for `None`, every length is 1. "weight" is
            the default even if it is given, where the shell's `--weight weight` refuses weights of another name.
        delta: How much farther than the nearest waiting vertex others may be that are relaxed together with it; chosen
            by the weights if not given. It changes the time and nothing else.
        verify: Whether to check the result with another pass over the edges.

    Returns:
        A table with a row per vertex: `vertex`, `distance` (whole if the weights are, else real) and `parent` (the
        vertex before it on a shortest path; the source is its own). Both are missing where there is no path. `reached`
        is how many vertices have a path.

    Cost: every page of lists and weights as often as a distance in it falls, about two passes on graphs with hubs, and
    one pass over the in-lists for the parents; 12.5 bytes of memory per vertex, and what reading weights takes.

    Raises:
        UsageError: No vertex of that id, no weights of that name, or a negative weight that a path leads to, named with
            its edge, or a distance beyond 2^63 - 1 or the greatest real number.
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.

    Like `networkx.single_source_dijkstra`, but unreached vertices are in the result, without a distance.

    Meyer and Sanders: Delta-stepping, a parallelizable shortest path algorithm. Journal of Algorithms, 2003.

    >>> paths = oc.sssp(g, "home")
    >>> paths.reached, paths.row("news")
    (3, {'vertex': 'news', 'distance': 1, 'parent': 'home'})
    """
    return _outcore.sssp(graph, source, weight, delta, verify)


@checked
def pagerank(
    graph: Graph,
    *,
    alpha: float = 0.85,
    tol: float = 1e-8,
    stop: Literal["residual", "networkx"] = "residual",
    max_iter: int = 200,
    method: Literal["power", "delta"] = "power",
    weight: str | None = "weight",
    dangling: Literal["networkx", "gap"] = "networkx",
    verify: bool = False,
) -> PageRank:
    """PageRank, with the names of `networkx.pagerank`, and ranks that are right to several digits on graphs of any
    size.

    Args:
        graph: The graph. Edges without direction count as one in each.
        alpha: The probability of following an edge rather than jumping anywhere.
        tol: Stop when the residual, the sum over all vertices of the absolute change in an iteration, is below this.
            All ranks together are then at most `alpha / (1 - alpha) * tol` away from exact ones. 0 makes exactly
            `max_iter` iterations.
        stop: With what the residual is compared: "residual" with `tol`; "networkx" with `tol` times the number of
            vertices, as NetworkX does with its `tol=1e-6`: the larger the graph, the less exact the ranks.
        max_iter: The most iterations; with "delta", reads as many pages as that many passes.
        method: "power" makes full passes over the in-lists. "delta" pushes the vertices where most is left to do: to
            the same error it reads less than half on Kronecker graphs, little less or more on web graphs, and needs
            several times the time per page. It is for slow devices and graphs much larger than memory.
        weight: The name of the weights by which a vertex divides its rank among its out-edges; where edges have none
            named "weight", or for `None`, all count the same. "weight" is the default even if it is given, where the
            shell's `--weight weight` refuses an image without weights of that name.
        dangling: What becomes of the rank of vertices without out-edges: "networkx" spreads it evenly over all
            vertices, so that ranks sum to 1; "gap" drops it, as the GAP benchmark does.
        verify: Whether to check the result with another pass over the edges.

    Returns:
        A table with a row per vertex: `vertex` and `pagerank`. `iterations`, `residual`, `converged` and
        `stopped_by` ("residual", "networkx" or "iterations") say how it went. The ranks are the same to the last bit
        for every number of threads.

    Cost: one pass over the in-lists per iteration; 20 bytes of memory per vertex. With weights each pass reads them
    too, one pass over the out-lists comes first, and it is 24 bytes. By "delta": pages of the out-lists, 24 bytes per
    vertex, 32 with weights; `iterations` counts rounds.

    Raises:
        ConvergenceError: Not converged within `max_iter` iterations; its `result` has the ranks so far.
        UsageError: An option out of range, no weights of that name, or weights that are negative or infinite.
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Differences from NetworkX: the residual is compared with `tol` itself unless `stop="networkx"`, `personalization` is
    `personalized_pagerank`, there is no `nstart`, `tol=0` is allowed, negative weights are refused, and so is the name
    of weights that are not there, unless it is the default.

    Page, Brin, Motwani, Winograd: The PageRank citation ranking. 1999. McSherry: A uniform approach to accelerated
    PageRank computation. WWW 2005.

    >>> ranks = oc.pagerank(g)
    >>> ranks.top(1)[0][0], ranks.converged
    ('home', True)
    """
    return _outcore.pagerank(graph, alpha, tol, stop, max_iter, method, weight, dangling, verify)


@checked
def personalized_pagerank(
    graph: Graph,
    personalization: Seeds | list[Seeds],
    *,
    alpha: float = 0.85,
    tol: float = 1e-8,
    stop: Literal["residual", "networkx"] = "residual",
    max_iter: int = 200,
    weight: str | None = "weight",
    verify: bool = False,
) -> PageRank:
    """PageRank where jumps lead to seeds instead of anywhere: how near vertices are to them. Many sets of seeds share
    the passes.

    Args:
        graph: The graph.
        personalization: The seeds: a dict from ids to shares of the jumps, as in `networkx.pagerank`, or a set or tuple
            of ids with equal shares. Shares need not sum to 1. A list of such sets gives ranks for each of them.
        alpha: The probability of following an edge rather than jumping to a seed.
        tol: Stop when the residual, the sum over all vertices of the absolute change in an iteration, is below this for
            each set. 0 makes exactly `max_iter` iterations.
        stop: With what the residual is compared: "residual" with `tol`; "networkx" with `tol` times the number of
            vertices.
        max_iter: The most iterations.
        weight: The name of the weights by which a vertex divides its rank among its out-edges; where edges have none
            named "weight", or for `None`, all count the same.
        verify: Whether to check the result with another pass over the edges for each set.

    Returns:
        A table with a row per vertex: `vertex` and `pagerank`, for a list of several `pagerank_0`, `pagerank_1`, ...
        `iterations`, `residual`, `converged` and `stopped_by` say how it went, of the slowest set. Vertices without
        out-edges pass their rank to the seeds.

    Cost: one pass over the in-lists per iteration and eight sets. Memory per vertex: 16 bytes for each set of those
    that are done together (1, 2, 4 or 8), 8 for each set, and 4; with weights 4 more.

    Raises:
        ConvergenceError: Not converged within `max_iter` iterations; its `result` has the ranks so far.
        UsageError: No vertex of that id, no set of seeds, one without any, shares or weights that are negative or
            infinite, or an option out of range.
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Haveliwala: Topic-sensitive PageRank. WWW 2002.

    >>> near = oc.personalized_pagerank(g, [{"news"}, {"about": 1, "lone": 3}])
    >>> near.columns, near.top(1, "pagerank_1")[0][0]
    (['vertex', 'pagerank_0', 'pagerank_1'], 'about')
    """
    return _outcore.personalized_pagerank(
        graph, seed_sets(personalization), alpha, tol, stop, max_iter, weight, verify
    )


def seed_sets(personalization: Seeds | list[Seeds]) -> list[list[tuple[int | str, float]]]:
    """The sets of seeds with their shares."""
    sets = personalization if isinstance(personalization, list) else [personalization]
    if not sets:
        raise UsageError("expected at least one set of seeds, found an empty list")
    for given in sets:
        if not isinstance(given, (Mapping, Set, tuple)):
            ids = "{" + ", ".join(map(repr, sets[:3])) + (", ...}" if len(sets) > 3 else "}")
            alone = isinstance(given, (int, str)) and len(sets) > 1
            raise TypeError(
                "expected seeds as a dict of shares, a set or a tuple, or a list of those for several runs, "
                f"found {given!r}" + (f"; for one run from all of them give the set {ids}" if alone else "")
            )
    shares = [given if isinstance(given, Mapping) else dict.fromkeys(given, 1.0) for given in sets]
    for given in shares:
        check_each("personalization", int | str, given)
        check_each("personalization", float, given.values())
    return [list(given.items()) for given in shares]


@checked
def components(graph: Graph, *, verify: bool = False) -> Components:
    """Weakly connected components: what remains connected when edges lose their direction.

    Args:
        graph: The graph.
        verify: Whether to check the result with another pass over the edges.

    Returns:
        A table with a row per vertex: `vertex` and `component`, the smallest id in its component. `count` is how many
        there are.

    Cost: a few per cent of the pages on graphs with hubs, at most one pass per direction on any graph; 4.2 bytes of
    memory per vertex.

    Raises:
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Where NetworkX (`weakly_connected_components`, `connected_components`) yields a set per component, this names it for
    each vertex.

    Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling. IPDPS 2018.

    >>> found = oc.components(g, verify=True)
    >>> found.count, found.to_dict()
    (2, {'about': 'about', 'home': 'about', 'news': 'about', 'lone': 'lone'})
    """
    return _outcore.components(graph, verify)


@checked
def strong_components(graph: Graph, *, verify: bool = False) -> Components:
    """Strongly connected components: vertices are together if there are paths between them both ways, along the
    direction of the edges.

    Args:
        graph: The graph. Where edges have no direction, the result is that of `components`.
        verify: Whether to check the result by searches within the components and an order of them, some four more
            passes over the edges.

    Returns:
        A table with a row per vertex: `vertex` and `component`, the smallest id in its component. `count` is how many
        there are.

    Cost: on graphs with hubs about a tenth of a pass over the lists of both directions, on most others one pass or two;
    12.8 bytes of memory per vertex. What is left once the largest component is known takes 8 bytes more per edge if the
    limit leaves them; if not, it is found in a number of further passes.

    Raises:
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.

    Where NetworkX (`strongly_connected_components`) yields a set per component, this names it for each vertex; NetworkX
    refuses graphs whose edges have no direction.

    Slota, Rajamanickam, Madduri: BFS and coloring-based parallel algorithms for strongly connected components and
    related problems. IPDPS 2014.

    >>> found = oc.strong_components(g, verify=True)
    >>> found.count, found.to_dict()
    (2, {'about': 'about', 'home': 'about', 'news': 'about', 'lone': 'lone'})
    """
    return _outcore.strong_components(graph, verify)


@checked
def core_number(graph: Graph, *, verify: bool = False) -> CoreNumbers:
    """Core numbers, as `networkx.core_number` defines them: the greatest k such that a vertex is in the k-core.

    The k-core is the largest part of the graph in which every vertex has at least k edges. As in NetworkX, the degree
    of a vertex in a directed graph is its in-degree plus its out-degree, so two edges in opposite directions count
    twice.

    Args:
        graph: The graph.
        verify: Whether to check the result by peeling all levels at once.

    Returns:
        A table with a row per vertex: `vertex` and `core`. `max_core` is the greatest core number.

    Cost: every list once; a page is read as often as there are rounds that remove vertices of it, less what the page
    cache holds: on a Kronecker graph of scale 24 three passes with half of the pages cached, ten with none. 4.4 bytes
    of memory per vertex, 4.6 in directed graphs.

    Raises:
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.

    Differences from NetworkX: edges from a vertex to itself, which it refuses, are left out, and parallel edges, which
    it refuses too, count as often as they are stored.

    Batagelj, Zaversnik: An O(m) algorithm for cores decomposition of networks. 2003. Dasari, Ranjan, Zubair: ParK. IEEE
    BigData 2014.

    >>> cores = oc.core_number(g, verify=True)
    >>> cores.max_core, cores.to_dict()
    (2, {'about': 2, 'home': 2, 'news': 2, 'lone': 0})
    """
    return _outcore.core_number(graph, verify)


@checked
def label_propagation(graph: Graph, *, max_iter: int = 10, verify: bool = False) -> LabelPropagation:
    """Communities by label propagation, as the benchmark Graphalytics defines them (CDLP).

    Every vertex starts with its own id as its label. In every iteration all vertices at the same time take the label
    that most of their neighbours have, the smallest of those if there are several. In a directed graph in- and
    out-neighbours count, and one that is both counts twice. A vertex without neighbours keeps its label.

    Args:
        graph: The graph.
        max_iter: The most iterations; fewer are made if nothing changes any more, which gives the same labels.
        verify: Whether to check the result with another algorithm, on one thread.

    Returns:
        A table with a row per vertex: `vertex` and `label`, an id. `count` is how many labels there are, `iterations`
        how many iterations were made, `converged` whether another one would change nothing.

    Cost: at most one pass per iteration, in directed graphs over the lists of both directions, and less where labels
    stay or swap for ever; 12.3 bytes of memory per vertex (16.3, and the ids for a while, in images in degree order),
    and a buffer.

    Raises:
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.

    `networkx.community.asyn_lpa_communities` and igraph's `community_label_propagation` draw lots where this takes the
    smallest label, and change labels one after the other. Edges from a vertex to itself and parallel edges count as
    often as they are stored; weights are not used.

    Raghavan, Albert, Kumara: Near linear time algorithm to detect community structures in large-scale networks.
    Physical Review E 76, 2007.

    >>> found = oc.label_propagation(g, max_iter=1, verify=True)
    >>> found.count, found.to_dict()
    (3, {'about': 'about', 'home': 'about', 'news': 'home', 'lone': 'lone'})
    """
    return _outcore.label_propagation(graph, max_iter, verify)


@checked
def triangles(graph: Graph, *, verify: bool = False) -> Triangles:
    """Triangles: how many every vertex is a corner of, as `networkx.triangles` counts them.

    Args:
        graph: The graph. Directions of edges, parallel edges and loops are ignored.
        verify: Whether to check the result by counting the triangles at some vertices in another way.

    Returns:
        A table with a row per vertex: `vertex` and `triangles`. `total` is how many triangles there are.

    Cost: one pass over the lists in each direction and one more per block, which is as large as memory allows;
    `estimate` says how many that are. 12 to 16 bytes of memory per vertex, the longest list twice, and what the blocks
    take: 4 bytes per edge for a single one.

    Raises:
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.

    Unlike NetworkX, which refuses graphs whose edges have directions, this counts the triangles of the graph without
    them.

    Latapy: Main-memory triangle computations for very large (sparse (power-law)) graphs. Theoretical Computer Science,
    2008.

    >>> found = oc.triangles(g, verify=True)
    >>> found.total, found.to_dict()
    (0, {'about': 0, 'home': 0, 'news': 0, 'lone': 0})
    """
    return _outcore.triangles(graph, verify)


@checked
def clustering(graph: Graph, *, verify: bool = False) -> Clustering:
    """Clustering coefficients: the share of the pairs of a vertex's neighbours that an edge joins, as in
    `networkx.clustering`.

    Args:
        graph: The graph. With directions, the coefficient is Fagiolo's, as in NetworkX. Parallel edges and loops are
            ignored.
        verify: Whether to check the result by counting the triangles at some vertices in another way.

    Returns:
        A table with a row per vertex: `vertex` and `clustering`, from 0 to 1. `average` is the mean, as
        `networkx.average_clustering` has it; `transitivity` the triangles of all vertices over those that all could
        have, as `networkx.transitivity` for graphs without directions.

    Cost: one pass over the lists in each direction and one more per block, which is as large as memory allows;
    `estimate` says how many that are. 20 to 24 bytes of memory per vertex, the longest list twice, and what the blocks
    take: 4 bytes per edge for a single one, 5 with directions.

    Raises:
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.

    Differences from NetworkX: weights are not used, and `average` of a graph without vertices is 0.

    Fagiolo: Clustering in complex directed networks. Physical Review E, 2007.

    >>> found = oc.clustering(g, verify=True)
    >>> found.average, found.transitivity
    (0.0, 0.0)
    """
    return _outcore.clustering(graph, verify)


@checked
def scan_statistics(graph: Graph, *, top: int = 1, verify: bool = False) -> ScanStatistics:
    """Scan statistics: the vertices with the most edges among themselves and their neighbours.

    The locality statistic of a vertex is the number of edges of the subgraph that itself and its neighbours induce,
    those that an edge of any direction joins with it; the scan statistic of a graph is the greatest of all.

    Args:
        graph: The graph. Parallel edges count once and loops not at all; edges in opposite directions are two.
        top: How many vertices to find.
        verify: Whether to check the result by looking at all vertices, which takes as long as `triangles`.

    Returns:
        A table with a row per vertex: `vertex` and `edges`, the statistic, missing for all vertices that are not among
        the greatest. `vertices` are the ids of those that are, the greatest first (among equals that with the smaller
        number in the image), `statistics` their statistics, and `looked_at` says how many vertices were looked at to
        find them.

    Cost: vertices are ruled out by bounds that follow from degrees; at most one pass over the lists per eight vertices
    that are looked at. Where more than 256 would be left, as in graphs whose vertices all have about the same degree,
    all are looked at, and it costs what `triangles` costs. 20 to 24 bytes of memory per vertex.

    Raises:
        UsageError: `top` is 0.
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.

    Without loops, `networkx.ego_graph(G, v, undirected=True).number_of_edges()` is the same for one vertex.

    Priebe, Conroy, Marchette, Park: Scan statistics on Enron graphs. Computational and Mathematical Organization
    Theory, 2005.

    >>> found = oc.scan_statistics(g, verify=True)
    >>> found.vertices, found.statistics
    (['home'], [4])
    """
    return _outcore.scan_statistics(graph, top, verify)


@checked
def lcc(graph: Graph, *, verify: bool = False) -> Lcc:
    """The local clustering coefficient as the Graphalytics benchmark defines it.

    The neighbours of a vertex are those that an edge of any direction joins with it. The coefficient is the number of
    edges from one of its d neighbours to another, over d (d - 1); 0 if d is below 2.

    Args:
        graph: The graph. Parallel edges and loops are ignored.
        verify: Whether to check the result by counting the edges among the neighbours of some vertices in another way.

    Returns:
        A table with a row per vertex: `vertex` and `lcc`, from 0 to 1. `average` is the mean.

    Cost: that of `clustering`.

    Raises:
        MemoryLimitError: Too little memory, said beforehand.
        CorruptImageError: A damaged page.

    Without directions it is the same as `clustering`; with them, `clustering` also counts which way the edges of the
    vertex itself lead.

    Iosup et al.: LDBC Graphalytics: a benchmark for large-scale graph analysis on parallel and distributed platforms.
    VLDB 2016.

    >>> oc.lcc(g, verify=True).row("home")
    {'vertex': 'home', 'lcc': 0.0}
    """
    return _outcore.lcc(graph, verify)
