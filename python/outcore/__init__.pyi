# Made by `make stubs`, of what the engine declares.

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from outcore._declared import Seeds as Seeds
from outcore._outcore import Graph as Graph
from outcore._outcore import ProgramResult as ProgramResult
from outcore._errors import UsageError as UsageError
from outcore._program import vertex_program as vertex_program
from outcore._import import ImportEstimate as ImportEstimate
from outcore._outcore import Runtime as Runtime
from outcore._import import estimate_import as estimate_import
from outcore._import import generate as generate
from outcore._import import import_graph as import_graph
from outcore._import import load_graph as load_graph
from outcore._estimate import Estimate as Estimate
from outcore._outcore import Table as Table
from outcore._estimate import estimate as estimate
from outcore._outcore import AlgorithmResult as AlgorithmResult
from outcore._outcore import Degrees as Degrees
from outcore._outcore import Edges as Edges
from outcore._outcore import Nodes as Nodes
from outcore._outcore import __version__ as __version__
from outcore._errors import ConvergenceError as ConvergenceError
from outcore._errors import CorruptImageError as CorruptImageError
from outcore._errors import ImageExistsError as ImageExistsError
from outcore._errors import InputError as InputError
from outcore._errors import MemoryLimitError as MemoryLimitError
from outcore._errors import NoImageError as NoImageError
from outcore._errors import NoVertexError as NoVertexError
from outcore._errors import OutcoreError as OutcoreError
from outcore._errors import VerificationError as VerificationError
from outcore._report import Report as Report
from outcore._matrix import MultiplyPlan as MultiplyPlan
from outcore._matrix import SparseMatrix as SparseMatrix
from outcore._matrix import import_matrix as import_matrix
from outcore import array as array
from outcore import linalg as linalg
from outcore import ml as ml

__all__ = [
    "AlgorithmResult",
    "ConvergenceError",
    "CorruptImageError",
    "Degrees",
    "Edges",
    "Estimate",
    "Graph",
    "ImageExistsError",
    "ImportEstimate",
    "InputError",
    "MemoryLimitError",
    "NoImageError",
    "Nodes",
    "NoVertexError",
    "OutcoreError",
    "ProgramResult",
    "Report",
    "Runtime",
    "Table",
    "UsageError",
    "VerificationError",
    "__version__",
    "estimate",
    "estimate_import",
    "generate",
    "import_graph",
    "load_graph",
    "vertex_program",
    "Bfs",
    "MultiSourceBfs",
    "AllPairs",
    "Betweenness",
    "DegreeCentrality",
    "Sssp",
    "PageRank",
    "Components",
    "CoreNumbers",
    "LabelPropagation",
    "Triangles",
    "Clustering",
    "Lcc",
    "Reciprocity",
    "ScanStatistics",
    "bfs",
    "breadth_first_search",
    "single_source_shortest_path_length",
    "multi_source_bfs",
    "all_pairs",
    "betweenness_centrality",
    "betweenness",
    "degree_centrality",
    "sssp",
    "single_source_dijkstra",
    "pagerank",
    "personalized_pagerank",
    "connected_components",
    "weakly_connected_components",
    "components",
    "strongly_connected_components",
    "strong_components",
    "core_number",
    "label_propagation",
    "triangles",
    "clustering",
    "lcc",
    "reciprocity",
    "overall_reciprocity",
    "scan_statistics",
]

class AllPairs(AlgorithmResult):
    @property
    def sources(self) -> list[Any]:
        """The ids of the sources."""
    @property
    def eccentricities(self) -> list[int]:
        """Per source, the greatest distance of a vertex with a path from it."""
    @property
    def distances(self) -> np.ma.MaskedArray[tuple[int, int], np.dtype[np.int64]]:
        """A row and a column per source: the distance, masked where there is no path. The array is made when it is first asked for; it takes 9 bytes per pair of sources."""
    @property
    def diameter(self) -> tuple[int, int]:
        """The greatest distance between two vertices with a path: at least and at most."""

class Betweenness(AlgorithmResult):
    @property
    def sources(self) -> list[Any]:
        """The ids of the sources, if they were not all vertices."""
    @property
    def error_bound(self) -> float:
        """How far an estimate may be off; infinite where nothing is known of that."""

class Bfs(AlgorithmResult):
    @property
    def reached(self) -> int:
        """How many vertices were reached, the source included."""
    @property
    def depth(self) -> int:
        """The greatest level that was found."""
    @property
    def path(self) -> list[Any] | None:
        """The ids of the vertices on a shortest path from the source to the target, if there is one; they are looked up when they are first asked for."""

class Clustering(AlgorithmResult):
    @property
    def average(self) -> float:
        """The mean of the coefficients, as `networkx.average_clustering`."""
    @property
    def transitivity(self) -> float:
        """The triangles of all vertices over those that all could have, as `networkx.transitivity` for graphs without directions."""

class Components(AlgorithmResult):
    @property
    def count(self) -> int:
        """How many components there are."""

class CoreNumbers(AlgorithmResult):
    @property
    def max_core(self) -> int:
        """The greatest core number."""

class DegreeCentrality(AlgorithmResult):
    @property
    def max_degree(self) -> int:
        """The greatest number of edges of a vertex."""

class LabelPropagation(AlgorithmResult):
    @property
    def count(self) -> int:
        """How many labels there are."""
    @property
    def iterations(self) -> int:
        """How many iterations were made."""
    @property
    def converged(self) -> bool:
        """Whether another iteration would change nothing."""

class Lcc(AlgorithmResult):
    @property
    def average(self) -> float:
        """The mean of the coefficients."""

class MultiSourceBfs(AlgorithmResult):
    @property
    def reached(self) -> list[int]:
        """Per source, how many vertices were reached, itself included."""
    @property
    def depths(self) -> list[int]:
        """Per source, the greatest distance of a vertex that was reached."""
    @property
    def distances(self) -> np.ma.MaskedArray[tuple[int, int], np.dtype[np.int64]]:
        """A row per source and a column per target: the distance, masked where there is no path. The array is made when it is first asked for; it takes 9 bytes per source and target."""

class PageRank(AlgorithmResult):
    @property
    def iterations(self) -> int:
        """How many iterations were made."""
    @property
    def residual(self) -> float:
        """The sum over all vertices of the absolute change in the last iteration. All ranks together are at most alpha / (1 - alpha) times that away from exact ones."""
    @property
    def converged(self) -> bool:
        """Whether the ranks converged."""
    @property
    def stopped_by(self) -> str:
        """What ended the iterations: 'residual' or 'networkx', the rule by which the ranks converged, or, if they did not, 'iterations', all that are allowed, or 'rounding', which keeps pushed ranks from coming nearer."""

class Reciprocity(AlgorithmResult):
    @property
    def overall(self) -> float:
        """The share of all edges whose opposite edge is there, too, as `networkx.overall_reciprocity`; not a number if there are no edges."""

class ScanStatistics(AlgorithmResult):
    @property
    def vertices(self) -> list[Any]:
        """The ids of the vertices found, by falling statistics."""
    @property
    def statistics(self) -> list[int]:
        """For each of them the number of edges among itself and its neighbours."""
    @property
    def looked_at(self) -> int:
        """How many vertices were looked at to find them."""

class Sssp(AlgorithmResult):
    @property
    def reached(self) -> int:
        """How many vertices have a path from the source, itself included."""
    @property
    def path(self) -> list[Any] | None:
        """The ids of the vertices on a shortest path from the source to the target, if there is one; they are looked up when they are first asked for."""

class Triangles(AlgorithmResult):
    @property
    def total(self) -> int:
        """How many triangles there are."""

def all_pairs(
    graph: Graph,
    *,
    sources: Iterable[int | str] | None = None,
    k: int = 32,
    seed: int = 1,
    verify: bool = False,
) -> AllPairs:
    """Distances between chosen vertices, their eccentricities, and bounds on the diameter.

    Args:
        graph: The graph.
        sources: The ids of the vertices to start from; some are drawn if not given.
        k: How many vertices are drawn; all if there are no more.
        seed: Other seeds draw other vertices; the same draws the same ids, whatever the order of the image.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: that of `multi_source_bfs`: `vertex`, `reached_by` and `distance_sum`.
            `diameter` is a pair: the greatest distance between any two vertices of the graph that have a path is at
            least the first and at most the second; both are the same if all vertices are sources.
        `sources`: The ids of the sources.
        `eccentricities`: Per source, the greatest distance of a vertex with a path from it.
        `distances`: A row and a column per source: the distance, masked where there is no path. The array is made
            when it is first asked for; it takes 9 bytes per pair of sources.
        `diameter`: The greatest distance between two vertices with a path: at least and at most.

    Cost: that of `multi_source_bfs`, twice in directed graphs, and that of `connected_components`; 40.4 bytes of
    memory per vertex.

    Raises:
        UsageError: No vertex of one of the ids, or `sources` beside `k` or `seed`.
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    `networkx.eccentricity` and `networkx.diameter` refuse graphs in which some vertices have no path to others;
    here those pairs are left out.

    Liu and Huang: Graphene. FAST 2017. Magnien, Latapy, Habib: Fast computation of empirically tight bounds for the
    diameter of massive graphs. JEA 2009.

    >>> found = oc.all_pairs(g, sources=['home', 'news'], verify=True)
    >>> found.eccentricities, found.diameter
    ([1, 2], (2, 2))
    """

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
    """Betweenness centrality: which share of the shortest paths between others leads through a vertex.

    Names, defaults and meaning are those of `networkx.betweenness_centrality` (since its version 3.6). A vertex
    counts, for every ordered pair of others, the share of the shortest paths between them that lead through it.
    Edges without direction are paths both ways, and a pair counts once.

    Args:
        graph: The graph.
        k: Start from so many vertices, drawn at random, which stand for all; from all vertices if not given.
        sources: The ids of vertices that are taken as the starts instead of drawn ones.
        normalized: Whether sums are divided by the number of pairs of vertices between which a vertex can be.
        endpoints: Whether the ends of a path count as vertices that it leads through.
        seed: Other seeds draw other vertices; the same draws the same ids, whatever the order of the image.
        failure: The probability that the error of some vertex may exceed the bound that is told for vertices drawn.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `betweenness`. `sources` are the ids of the starts, `None` if
            they were all vertices. `error_bound`: if the starts were drawn, then with probability 1 - `failure` no
            vertex is off by more than this; 0 if they were all vertices, infinite if they were given. It is
            sqrt(ln(2 V / failure) / (2 (k - 1))) times the greatest value possible, and no more than that value,
            which it is for a k of 1.
        `sources`: The ids of the sources, if they were not all vertices.
        `error_bound`: How far an estimate may be off; infinite where nothing is known of that.

    Cost: per batch of up to eight sources, as many as the memory limit holds, about two passes over the lists of
    each direction. 37.3 bytes of memory per vertex, and 28.1 for every source of a batch beyond the first.

    Raises:
        UsageError: No vertex of one of the ids, one twice, or numbers of shortest paths to vertices at the same
            distance that differ by so much that they cannot be held side by side: by 2**900 all can, by more than
            2**1800 none.
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Differences from NetworkX: there is no `weight`; other vertices are drawn for a seed; a single source, of which
    nothing is known, has 0 where NetworkX has NaN; parallel edges are paths of their own.

    Brandes: A faster algorithm for betweenness centrality. J. Mathematical Sociology 2001. Brandes and Pich:
    Centrality estimation in large networks. 2007.

    >>> found = oc.betweenness_centrality(g, verify=True)
    >>> found.row('home')['betweenness'], found.error_bound
    (0.3333333333333333, 0.0)
    """

def bfs(
    graph: Graph,
    source: int | str,
    *,
    depth_limit: int | None = None,
    target: int | str | None = None,
    verify: bool = False,
) -> Bfs:
    """Breadth-first search: the level and parent of every vertex.

    Args:
        graph: The graph.
        source: The id of the vertex to start from.
        depth_limit: The greatest level that is searched for; all if not given.
        target: The id of a vertex on whose level the search ends, if there is a path to it; the path is told.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex`, `level` (the number of edges from the source) and `parent` (the
            vertex before it on a shortest path; the source is its own). Both are missing where there is no path, or
            only one beyond `depth_limit` or `target`. Which of several possible parents is named does not depend on
            threads, back end or memory, nor on where the search ends. `path` takes some 72 bytes per vertex on the
            path while the result lives.
        `reached`: How many vertices were reached, the source included.
        `depth`: The greatest level that was found.
        `path`: The ids of the vertices on a shortest path from the source to the target, if there is one; they are
            looked up when they are first asked for.

    Cost: reads every page of the lists at most once in each direction; on graphs with hubs far less than one pass;
    12.4 bytes of memory per vertex.

    Raises:
        UsageError: No vertex of that id.
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Unlike `networkx.single_source_shortest_path_length`, unreached vertices are in the result, without a level; and
    a path that is not there is `None`, where `networkx.shortest_path` raises an error. `depth_limit` is what
    `networkx.bfs_tree` calls so. Weights are not used.

    Beamer, Asanovic, Patterson: Direction-optimizing breadth-first search. SC 2012.

    >>> levels = oc.bfs(g, 'home')
    >>> levels.reached, levels.depth
    (3, 1)
    >>> levels.row('news')
    {'vertex': 'news', 'level': 1, 'parent': 'home'}
    >>> oc.bfs(g, 'news', target='about').path
    ['news', 'home', 'about']
    """

def clustering(
    graph: Graph,
    *,
    verify: bool = False,
) -> Clustering:
    """Clustering coefficients, their average, and transitivity.

    The coefficient of a vertex is the share of the pairs of its neighbours that an edge joins, as in
    `networkx.clustering`. With directions it is Fagiolo's, as there. Parallel edges and loops are ignored.

    Args:
        graph: The graph.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `clustering`, from 0 to 1.
        `average`: The mean of the coefficients, as `networkx.average_clustering`.
        `transitivity`: The triangles of all vertices over those that all could have, as `networkx.transitivity` for
            graphs without directions.

    Cost: one pass over the lists in each direction and one more per block, which is as large as memory allows;
    `estimate` says how many that are. 20 to 24 bytes of memory per vertex, the longest list twice, and what the
    blocks take: 4 bytes per edge for a single one, 5 with directions.

    Raises:
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Differences from NetworkX: weights are not used, and `average` of a graph without vertices is 0.

    Fagiolo: Clustering in complex directed networks. Physical Review E, 2007.

    >>> found = oc.clustering(g, verify=True)
    >>> found.average, found.transitivity
    (0.0, 0.0)
    """

def connected_components(
    graph: Graph,
    *,
    verify: bool = False,
) -> Components:
    """Weakly connected components.

    They are what remains connected when edges lose their direction.

    Args:
        graph: The graph.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `component`, the smallest id in its component.
        `count`: How many components there are.

    Cost: a few per cent of the pages on graphs with hubs, at most one pass per direction on any graph; 4.2 bytes of
    memory per vertex.

    Raises:
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Where NetworkX (`weakly_connected_components`, `connected_components`) yields a set per component, this names it
    for each vertex.

    Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling. IPDPS 2018.

    >>> found = oc.connected_components(g, verify=True)
    >>> found.count, found.to_dict()
    (2, {'about': 'about', 'home': 'about', 'news': 'about', 'lone': 'lone'})
    """

def core_number(
    graph: Graph,
    *,
    verify: bool = False,
) -> CoreNumbers:
    """Core numbers: the greatest k such that a vertex is in the k-core.

    The k-core is the largest part of the graph in which every vertex has at least k edges. As with
    `networkx.core_number`, the degree of a vertex in a directed graph is its in-degree plus its out-degree, so two
    edges in opposite directions count twice.

    Args:
        graph: The graph.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `core`.
        `max_core`: The greatest core number.

    Cost: every list once; a page is read as often as there are rounds that remove vertices of it, less what the
    page cache holds: on a Kronecker graph of scale 24 three passes with half of the pages cached, ten with none,
    and on long graphs (paths, roads) that the cache does not hold thousands. 4.4 bytes of memory per vertex, 4.6 in
    directed graphs.

    Raises:
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Differences from NetworkX: edges from a vertex to itself, which it refuses, are left out, and parallel edges,
    which it refuses too, count as often as they are stored.

    Batagelj, Zaversnik: An O(m) algorithm for cores decomposition of networks. 2003. Dasari, Ranjan, Zubair: ParK.
    IEEE BigData 2014.

    >>> cores = oc.core_number(g, verify=True)
    >>> cores.max_core, cores.to_dict()
    (2, {'about': 2, 'home': 2, 'news': 2, 'lone': 0})
    """

def degree_centrality(
    graph: Graph,
    *,
    edges: Literal['both', 'in', 'out'] = 'both',
    verify: bool = False,
) -> DegreeCentrality:
    """Degree centrality: the number of a vertex's edges over that of the other vertices.

    It is the number of a vertex's edges over the number of other vertices, as with `networkx.degree_centrality`,
    `in_degree_centrality` and `out_degree_centrality`. An edge from a vertex to itself counts twice, and parallel
    edges as often as they are stored.

    Args:
        graph: The graph.
        edges: Which edges of a vertex count; those without direction all do: "both": all edges, as
            `networkx.degree_centrality`; "in": those that lead to a vertex, as `networkx.in_degree_centrality`;
            "out": those that lead from it, as `networkx.out_degree_centrality`.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `degree_centrality`.
        `max_degree`: The greatest number of edges of a vertex.

    Cost: columns of degrees only, and in graphs without directions that have edges from a vertex to itself one pass
    over the lists; 8 bytes of memory per vertex.

    Raises:
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    With `edges` as 'in' or 'out', NetworkX refuses graphs whose edges have no direction; here all edges count
    there.

    Freeman: Centrality in social networks, conceptual clarification. Social Networks, 1978.

    >>> found = oc.degree_centrality(g, edges='in', verify=True)
    >>> found.max_degree, found.row('home')
    (2, {'vertex': 'home', 'degree_centrality': 0.6666666666666666})
    """

def label_propagation(
    graph: Graph,
    *,
    max_iter: int = 10,
    verify: bool = False,
) -> LabelPropagation:
    """Label propagation: communities, as Graphalytics defines them (CDLP).

    Every vertex starts with its own id as its label. In every iteration all vertices at the same time take the
    label that most of their neighbours have, the smallest of those if there are several. In a directed graph in-
    and out-neighbours count, and one that is both counts twice. A vertex without neighbours keeps its label.

    Args:
        graph: The graph.
        max_iter: The most iterations; fewer are made if nothing changes any more, which gives the same labels.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `label`, an id.
        `count`: How many labels there are.
        `iterations`: How many iterations were made.
        `converged`: Whether another iteration would change nothing.

    Cost: at most one pass per iteration, in directed graphs over the lists of both directions, and less where
    labels stay or swap for ever; 12.3 bytes of memory per vertex (16.3, and the ids for a while, in images in
    degree order), and a buffer.

    Raises:
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    `networkx.community.asyn_lpa_communities` and igraph's `community_label_propagation` draw lots where this takes
    the smallest label, and change labels one after the other. Edges from a vertex to itself and parallel edges
    count as often as they are stored; weights are not used.

    Raghavan, Albert, Kumara: Near linear time algorithm to detect community structures in large-scale networks.
    Physical Review E 76, 2007.

    >>> found = oc.label_propagation(g, max_iter=1, verify=True)
    >>> found.count, found.to_dict()
    (3, {'about': 'about', 'home': 'about', 'news': 'home', 'lone': 'lone'})
    """

def lcc(
    graph: Graph,
    *,
    verify: bool = False,
) -> Lcc:
    """Local clustering coefficients as Graphalytics defines them.

    The neighbours of a vertex are those that an edge of any direction joins with it. The coefficient is the number
    of edges from one of its d neighbours to another, over d (d - 1); 0 if d is below 2. Parallel edges and loops
    are ignored.

    Args:
        graph: The graph.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `lcc`, from 0 to 1.
        `average`: The mean of the coefficients.

    Cost: that of `clustering`.

    Raises:
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Without directions it is the same as `clustering`; with them, `clustering` also counts which way the edges of
    the vertex itself lead.

    Iosup et al.: LDBC Graphalytics: a benchmark for large-scale graph analysis on parallel and distributed
    platforms. VLDB 2016.

    >>> oc.lcc(g, verify=True).row('home')
    {'vertex': 'home', 'lcc': 0.0}
    """

def multi_source_bfs(
    graph: Graph,
    sources: Iterable[int | str],
    *,
    targets: Iterable[int | str] | None = None,
    depth_limit: int | None = None,
    verify: bool = False,
) -> MultiSourceBfs:
    """Breadth-first search from many sources at once: by how many each vertex is reached, and its distances from them.

    Args:
        graph: The graph.
        sources: The ids of the vertices to start from.
        targets: The ids of the vertices whose distances from every source are told.
        depth_limit: The greatest level that is searched for; all if not given.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex`, `reached_by` (how many of the sources have a path to it) and
            `distance_sum` (the sum of its distances from those). Per source, in their order, `reached`, `depths`
            and `distances` say how far the search came.
        `reached`: Per source, how many vertices were reached, itself included.
        `depths`: Per source, the greatest distance of a vertex that was reached.
        `distances`: A row per source and a column per target: the distance, masked where there is no path. The
            array is made when it is first asked for; it takes 9 bytes per source and target.

    Cost: up to 512 sources, as many as the memory limit holds, share one search, which reads the lists about once
    on graphs with hubs, and at most once per level, of which long graphs (paths, grids, roads) have thousands: from
    few sources, `bfs` one after the other reads less there. 16.4 bytes of memory per vertex, and 24 for every 64
    sources that go together; 4 bytes per source and target, and 9 more when `distances` are asked for. If there is
    no room for those, asking raises MemoryLimitError, and the rest of the result is as useful as before.

    Raises:
        UsageError: No vertex of one of the ids.
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    `networkx.all_pairs_shortest_path_length` and `networkx.single_source_shortest_path_length` give the same
    distances, as dicts.

    Then et al.: The more the merrier, efficient multi-source graph traversal. VLDB 2014.

    >>> found = oc.multi_source_bfs(g, ['home', 'news'], targets=['about'], verify=True)
    >>> found.distances.tolist(), found.depths
    ([[1], [2]], [1, 2])
    >>> found.row('home')
    {'vertex': 'home', 'reached_by': 2, 'distance_sum': 1}
    """

def pagerank(
    graph: Graph,
    *,
    alpha: float = 0.85,
    tol: float = 1e-08,
    stop: Literal['residual', 'networkx'] = 'residual',
    max_iter: int = 200,
    method: Literal['power', 'delta'] = 'power',
    weight: str | None = 'weight',
    dangling: Literal['networkx', 'gap'] = 'networkx',
    verify: bool = False,
) -> PageRank:
    """PageRank: how often a walk along the edges is at a vertex.

    The names are those of `networkx.pagerank`, and ranks are right to several digits on graphs of any size. Edges
    without direction count as one in each.

    Args:
        graph: The graph.
        alpha: The probability of following an edge rather than jumping.
        tol: Stop when the residual, the sum over all vertices of the absolute change in an iteration, is below
            this; 0 makes exactly `max_iter` iterations.
        stop: With what the residual is compared: "residual": the sum of absolute changes is below the tolerance;
            "networkx": it is below the tolerance times the number of vertices, as in NetworkX, which is loose for
            large graphs.
        max_iter: The most iterations; by pushes, as many pages as that many passes have.
        method: By which method ranks are computed: "power": full passes over the in-lists; "delta": pushes where
            most is left to do: fewer pages of the out-lists, more work per page.
        weight: The name of the weights that edges count by; where edges have none named `weight`, all count the
            same; `None` leaves weights out. "weight" is the default even if it is given, where the shell's
            `--weight weight` refuses others.
        dangling: What becomes of the rank of vertices without out-edges: "networkx": it is spread evenly over all
            vertices; "gap": it is dropped.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `pagerank`. The ranks are the same to the last bit for every
            number of threads.
        `iterations`: How many iterations were made.
        `residual`: The sum over all vertices of the absolute change in the last iteration. All ranks together are
            at most alpha / (1 - alpha) times that away from exact ones.
        `converged`: Whether the ranks converged.
        `stopped_by`: What ended the iterations: 'residual' or 'networkx', the rule by which the ranks converged,
            or, if they did not, 'iterations', all that are allowed, or 'rounding', which keeps pushed ranks from
            coming nearer.

    Cost: one pass over the in-lists per iteration; 20 bytes of memory per vertex. With weights each pass reads them
    too, one pass over the out-lists comes first, and it is 24 bytes. By `delta`, which is for slow devices and
    graphs much larger than memory: pages of the out-lists, on Kronecker graphs less than half to the same error,
    and several times the time per page; 24 bytes per vertex, 32 with weights; `iterations` counts rounds.

    Raises:
        ConvergenceError: Not converged; its `result` has the ranks so far.
        UsageError: An option out of range, no weights of that name, or weights that are negative or infinite.
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Differences from NetworkX: the residual is compared with `tol` itself unless `stop` is 'networkx',
    `personalization` is `personalized_pagerank`, there is no `nstart`, `tol=0` is allowed, negative weights are
    refused, and so is the name of weights that are not there, unless it is the default.

    Page, Brin, Motwani, Winograd: The PageRank citation ranking. 1999. McSherry: A uniform approach to accelerated
    PageRank computation. WWW 2005.

    >>> ranks = oc.pagerank(g)
    >>> ranks.top(1)[0][0], ranks.converged
    ('home', True)
    """

def personalized_pagerank(
    graph: Graph,
    personalization: Seeds | list[Seeds],
    *,
    alpha: float = 0.85,
    tol: float = 1e-08,
    stop: Literal['residual', 'networkx'] = 'residual',
    max_iter: int = 200,
    weight: str | None = 'weight',
    verify: bool = False,
) -> PageRank:
    """PageRank where jumps lead to seeds instead of anywhere.

    The ranks say how near vertices are to the seeds. Many sets of seeds share the passes. `alpha`, `tol`, `stop`
    and `max_iter` are as in `pagerank`; iterations go on until all sets have converged.

    Args:
        graph: The graph.
        personalization: The seeds: vertices that jumps lead to, with their shares. There may be several sets of
            seeds, for each of which there are ranks; a dict from ids to shares, as `networkx.pagerank` takes it, or
            a set or tuple of ids with equal shares; a list of those for several sets. Shares need not sum to 1.
        alpha: The probability of following an edge rather than jumping.
        tol: Stop when the residual, the sum over all vertices of the absolute change in an iteration, is below
            this; 0 makes exactly `max_iter` iterations.
        stop: With what the residual is compared: "residual": the sum of absolute changes is below the tolerance;
            "networkx": it is below the tolerance times the number of vertices, as in NetworkX, which is loose for
            large graphs.
        max_iter: The most iterations; by pushes, as many pages as that many passes have.
        weight: The name of the weights that edges count by; where edges have none named `weight`, all count the
            same; `None` leaves weights out. "weight" is the default even if it is given, where the shell's
            `--weight weight` refuses others.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `pagerank`, for several sets of seeds `pagerank_0`,
            `pagerank_1`, ... The attributes say how it went, of the slowest set. Vertices without out-edges pass
            their rank to the seeds.
        `iterations`: How many iterations were made.
        `residual`: The sum over all vertices of the absolute change in the last iteration. All ranks together are
            at most alpha / (1 - alpha) times that away from exact ones.
        `converged`: Whether the ranks converged.
        `stopped_by`: What ended the iterations: 'residual' or 'networkx', the rule by which the ranks converged,
            or, if they did not, 'iterations', all that are allowed, or 'rounding', which keeps pushed ranks from
            coming nearer.

    Cost: one pass over the in-lists per iteration and eight sets. Memory per vertex: 16 bytes for each set of those
    that are done together (1, 2, 4 or 8), 8 for each set, and 4; with weights 4 more.

    Raises:
        ConvergenceError: Not converged; its `result` has the ranks so far.
        UsageError: No vertex of that id, no set of seeds, one without any, shares or weights that are negative or
            infinite, or an option out of range.
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    `networkx.pagerank` has the seeds as its option `personalization`.

    Haveliwala: Topic-sensitive PageRank. WWW 2002.

    >>> near = oc.personalized_pagerank(g, [{'news'}, {'about': 1, 'lone': 3}])
    >>> near.columns, near.top(1, 'pagerank_1')[0][0]
    (['vertex', 'pagerank_0', 'pagerank_1'], 'about')
    """

def reciprocity(
    graph: Graph,
    *,
    verify: bool = False,
) -> Reciprocity:
    """Reciprocity: the share of a vertex's edges whose opposite edge is there, too.

    It is the share of a vertex's edges, to it and from it, whose opposite edge is there, too. Parallel edges count
    once. Where edges have no direction, all of them have their opposites.

    Args:
        graph: The graph.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `reciprocity`, missing where a vertex has no edges.
        `overall`: The share of all edges whose opposite edge is there, too, as `networkx.overall_reciprocity`; not
            a number if there are no edges.

    Cost: one pass over the lists of both directions, and one more where edges from a vertex to itself were
    imported; 16.2 bytes of memory per vertex, and a chunk of lists; without directions no pass.

    Raises:
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    `networkx.reciprocity` and `overall_reciprocity` refuse graphs whose edges have no direction, and the latter
    those without edges. As there, an edge from a vertex to itself is its own opposite at the vertex, and is none in
    `overall`.

    Garlaschelli, Loffredo: Patterns of link reciprocity in directed networks. Physical Review Letters 93, 2004.

    >>> found = oc.reciprocity(g, verify=True)
    >>> found.overall, found.row('home')
    (0.8, {'vertex': 'home', 'reciprocity': 1.0})
    """

def scan_statistics(
    graph: Graph,
    *,
    top: int = 1,
    verify: bool = False,
) -> ScanStatistics:
    """Scan statistics: the vertices with the most edges among themselves and their neighbours.

    The locality statistic of a vertex is the number of edges of the subgraph that itself and its neighbours induce,
    those that an edge of any direction joins with it; the scan statistic of a graph is the greatest of all.
    Parallel edges count once and loops not at all; edges in opposite directions are two.

    Args:
        graph: The graph.
        top: How many vertices to find.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `edges`, the statistic, missing for all vertices that are not
            among the greatest. Among equals the smaller number in the image comes first.
        `vertices`: The ids of the vertices found, by falling statistics.
        `statistics`: For each of them the number of edges among itself and its neighbours.
        `looked_at`: How many vertices were looked at to find them.

    Cost: vertices are ruled out by bounds that follow from degrees; at most one pass over the lists per eight
    vertices that are looked at. Where more than 256 would be left, as in graphs whose vertices all have about the
    same degree, all are looked at, and it costs what `triangles` costs. 20 to 24 bytes of memory per vertex.

    Raises:
        UsageError: `top` is 0.
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Without loops, `networkx.ego_graph(G, v, undirected=True).number_of_edges()` is the same for one vertex.

    Priebe, Conroy, Marchette, Park: Scan statistics on Enron graphs. Computational and Mathematical Organization
    Theory, 2005.

    >>> found = oc.scan_statistics(g, verify=True)
    >>> found.vertices, found.statistics
    (['home'], [4])
    """

def sssp(
    graph: Graph,
    source: int | str,
    *,
    weight: str | None = 'weight',
    delta: float | None = None,
    target: int | str | None = None,
    verify: bool = False,
) -> Sssp:
    """Shortest paths from one vertex, over the weights of the edges.

    The length of an edge is its weight, which `stats['weights']` names.

    Args:
        graph: The graph.
        source: The id of the vertex to start from.
        weight: The name of the weights that are lengths; by default the only ones that the graph has, whatever they
            are called. Where edges have none, every length is 1; `None` leaves weights out. "weight" is the default
            even if it is given, where the shell's `--weight weight` refuses others.
        delta: How much farther than the nearest waiting vertex others may be that are relaxed together with it;
            chosen by the weights if not given. It changes the time and nothing else.
        target: The id of a vertex, the path to which is told; the search goes on to all others.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex`, `distance` (whole if the weights are, else real) and `parent` (the
            vertex before it on a shortest path; the source is its own). Both are missing where there is no path.
            `path` takes some 72 bytes per vertex on the path while the result lives.
        `reached`: How many vertices have a path from the source, itself included.
        `path`: The ids of the vertices on a shortest path from the source to the target, if there is one; they are
            looked up when they are first asked for.

    Cost: every page of lists and weights as often as a distance in it falls, about two passes on graphs with hubs,
    and one pass over the in-lists for the parents; 12.5 bytes of memory per vertex, and what reading weights takes.

    Raises:
        UsageError: No vertex of that id, no weights of that name, or a negative weight that a path leads to, named
            with its edge, or a distance beyond 2^63 - 1 or the greatest real number.
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Like `networkx.single_source_dijkstra`, but unreached vertices are in the result, without a distance; and a path
    that is not there is `None`, where `networkx.dijkstra_path` raises an error.

    Meyer and Sanders: Delta-stepping, a parallelizable shortest path algorithm. Journal of Algorithms, 2003.

    >>> paths = oc.sssp(g, 'home')
    >>> paths.reached, paths.row('news')
    (3, {'vertex': 'news', 'distance': 1, 'parent': 'home'})
    >>> oc.sssp(g, 'news', target='about').path
    ['news', 'home', 'about']
    """

def strongly_connected_components(
    graph: Graph,
    *,
    verify: bool = False,
) -> Components:
    """Strongly connected components.

    Vertices are together if there are paths between them both ways, along the direction of the edges. Where edges
    have no direction, the result is that of `connected_components`.

    Args:
        graph: The graph.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `component`, the smallest id in its component.
        `count`: How many components there are.

    Cost: on graphs with hubs about a tenth of a pass over the lists of both directions, on most others one pass or
    two; 12.8 bytes of memory per vertex. What is left once the largest component is known takes 8 bytes more per
    edge if the limit leaves them; if not, it is found in a number of further passes.

    Raises:
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Where NetworkX (`strongly_connected_components`) yields a set per component, this names it for each vertex;
    NetworkX refuses graphs whose edges have no direction.

    Slota, Rajamanickam, Madduri: BFS and coloring-based parallel algorithms for strongly connected components and
    related problems. IPDPS 2014.

    >>> found = oc.strongly_connected_components(g, verify=True)
    >>> found.count, found.to_dict()
    (2, {'about': 'about', 'home': 'about', 'news': 'about', 'lone': 'lone'})
    """

def triangles(
    graph: Graph,
    *,
    verify: bool = False,
) -> Triangles:
    """Triangles: how many every vertex is a corner of, whatever the direction of edges.

    They are counted as `networkx.triangles` does. Directions of edges, parallel edges and loops are ignored.

    Args:
        graph: The graph.
        verify: Whether to check the result with an independent algorithm.

    Returns:
        A table with a row per vertex: `vertex` and `triangles`.
        `total`: How many triangles there are.

    Cost: one pass over the lists in each direction and one more per block, which is as large as memory allows;
    `estimate` says how many that are. 12 to 16 bytes of memory per vertex, the longest list twice, and what the
    blocks take: 4 bytes per edge for a single one.

    Raises:
        MemoryLimitError: Too little memory. It is raised before the run starts.
        CorruptImageError: A damaged page.
        VerificationError: A result that `verify` finds wrong.

    Unlike NetworkX, which refuses graphs whose edges have directions, this counts the triangles of the graph
    without them.

    Latapy: Main-memory triangle computations for very large (sparse (power-law)) graphs. Theoretical Computer
    Science, 2008.

    >>> found = oc.triangles(g, verify=True)
    >>> found.total, found.to_dict()
    (0, {'about': 0, 'home': 0, 'news': 0, 'lone': 0})
    """

betweenness = betweenness_centrality
breadth_first_search = bfs
components = connected_components
overall_reciprocity = reciprocity
single_source_dijkstra = sssp
single_source_shortest_path_length = bfs
strong_components = strongly_connected_components
weakly_connected_components = connected_components
