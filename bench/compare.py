"""Runs Outcore beside NetworKit, igraph, SciPy and GAP on the same edges, checks that the answers agree, and prints
ratios.

usage: compare.py --outcore PROGRAM [--scale 22] [--rounds 5] [--memory 512MiB] [--peers networkit,igraph,scipy] [--gap
FOLDER]

FOLDER holds the programs `pr`, `bfs`, `cc`, `bc`, `tc`, `sssp` and `converter` of the GAP benchmark suite, built from
its own repository. GAP's own verifiers check its answers, and its PageRank is measured against Outcore's by GAP's rule
for dangling vertices. Shortest paths are over the same edges with whole weights from 1 to 255.

All edges come from `outcore generate kronecker`. Peers hold the graph in memory and only their kernel is timed. Outcore
runs as a process of its own each time, with a cold page cache (its reads go past the operating system's cache) under
the memory limit; its time is that of the algorithm, reading columns and lists included. Rounds of all engines
alternate, so that a slow minute of the machine hits all of them. Printed are medians, the least and the greatest, and
the ratio of medians.
"""

import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
from functools import partial

import numpy as np


def outcore(program, *arguments):
    subprocess.run([program, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def run_outcore(program, algorithm, image, memory, folder, *options, output=False):
    stats = folder / "stats.json"
    extra = ["--output", folder / "result.npy"] if output else []
    outcore(program, "run", algorithm, image, "--memory", memory, "--threads", 2, "--stats", stats, *options, *extra)
    return json.loads(stats.read_text())["stats"]


def first_number(program, algorithm, image, *options):
    """The number that the answer begins with."""
    text = subprocess.check_output([program, "run", algorithm, image, *map(str, options)], text=True)
    return int(text.split()[0])


def by_vertex(result, column):
    """A column of a result in the order of the vertices' ids."""
    values = np.empty(len(result))
    values[result["vertex"]] = result[column]
    return values


def timed(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def networkit_peer(edges, count):
    import networkit as nk
    nk.setNumberOfThreads(2)
    graph = nk.GraphFromCoo((np.ones(len(edges)), (edges[:, 0].copy(), edges[:, 1].copy())), n=count, directed=True)
    both = nk.graphtools.toUndirected(graph)
    both.removeMultiEdges()
    both.removeSelfLoops()
    graph.removeMultiEdges()

    def pagerank(iterations):
        sinks = nk.centrality.SinkHandling.DistributeSinks
        algorithm = nk.centrality.PageRank(graph, damp=0.85, tol=0.0, distributeSinks=sinks)
        algorithm.maxIterations = iterations
        algorithm.run()
        return np.array(algorithm.scores())

    def bfs(source):
        algorithm = nk.distance.BFS(both, source, storePaths=False)
        algorithm.run()
        return np.array(algorithm.getDistances())

    def components():
        algorithm = nk.components.ConnectedComponents(both)
        algorithm.run()
        return algorithm.numberOfComponents()

    def scores(algorithm):
        return np.array(algorithm.run().scores())

    return {
        "pagerank": pagerank,
        "bfs": bfs,
        "components": components,
        "core numbers": lambda: scores(nk.centrality.CoreDecomposition(both)),
        "clustering": lambda: scores(nk.centrality.LocalClusteringCoefficient(both)),
        "strong components": lambda: nk.components.StronglyConnectedComponents(graph).run().numberOfComponents(),
        "label propagation": lambda: nk.community.PLP(both, maxIterations=LABEL_ITERATIONS).run().numberOfIterations(),
    }


class Gap:
    """GAP's programs. Each call reads the graph again; only the kernel's own time counts."""

    def __init__(self, programs, folder, edges, count):
        self.programs = programs
        self.files = {"directed": folder / "directed.sg", "both": folder / "both.sg"}
        loopless = edges[edges[:, 0] != edges[:, 1]].astype(np.uint64)
        out = self.keys(loopless[:, 0], loopless[:, 1])
        into = self.keys(loopless[:, 1], loopless[:, 0])
        self.write("directed", count, [out, into])
        self.write("both", count, [np.union1d(out, into)])

    @staticmethod
    def keys(sources, targets):
        return np.unique(sources << np.uint64(32) | targets)

    def write(self, name, count, lists):
        """GAP's serialised graph: whether directed, how many edges and vertices, and for each direction offsets and
        neighbours."""
        with open(self.files[name], "wb") as file:
            np.array([name == "directed"], dtype=np.uint8).tofile(file)
            np.array([len(lists[0]), count], dtype=np.int64).tofile(file)
            for keys in lists:
                degrees = np.bincount((keys >> np.uint64(32)).astype(np.int64), minlength=count)
                np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64).tofile(file)
                keys.astype(np.uint32).tofile(file)

    def run(self, kernel, graph, *options):
        """Runs a kernel once; returns its seconds and what it printed."""
        program = [pathlib.Path(self.programs) / kernel, "-f", self.files[graph], "-n", "1", *map(str, options)]
        environment = os.environ | {"OMP_NUM_THREADS": "2"}
        text = subprocess.run(program, check=True, text=True, capture_output=True, env=environment).stdout
        assert "FAIL" not in text, text
        return float(text.split("Average Time:")[1].split()[0]), text

    def pagerank(self, iterations):
        return self.run("pr", "directed", "-i", iterations, "-t", 0)[0]

    def bfs(self, source):
        return self.run("bfs", "both", "-r", source)[0]

    def components(self):
        return self.run("cc", "both")[0]

    def betweenness(self, source):
        return self.run("bc", "both", "-i", 1, "-r", source)[0]

    def triangles(self):
        seconds, text = self.run("tc", "both", "-a")
        return seconds, int(text.split(" triangles")[0].split()[-1])

    def weigh(self, edges):
        """Takes a weighted text edge list as the graph of shortest paths."""
        self.files["weighted"] = edges.with_suffix(".wsg")
        converter = pathlib.Path(self.programs) / "converter"
        command = [converter, "-w", "-s", "-f", edges, "-b", self.files["weighted"]]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def sssp(self, source, *options):
        seconds, text = self.run("sssp", "weighted", "-r", source, "-d", SSSP_DELTA, "-a", *options)
        return seconds, int(text.split("reaches ")[1].split()[0])

    def verify(self, source):
        self.run("bc", "both", "-i", 1, "-r", source, "-v")
        self.run("bfs", "both", "-r", source, "-v")
        self.run("pr", "directed", "-i", 30, "-v")
        text = self.run("cc", "both", "-v", "-a")[1]
        return int(text.split("There are ")[1].split()[0])


def igraph_peer(edges, count):
    import igraph
    graph = igraph.Graph(n=count, edges=edges, directed=True).simplify(loops=False)
    both = graph.as_undirected()
    loopless = both.copy().simplify()

    return {
        "bfs": lambda source: np.array(both.distances(source)[0]),
        "components": lambda: len(both.connected_components()),
        "core numbers": lambda: np.array(loopless.coreness()),
        "clustering": lambda: np.array(loopless.transitivity_local_undirected(mode="zero")),
        "strong components": lambda: len(graph.connected_components(mode="strong")),
        "label propagation": lambda: len(both.community_label_propagation()),
    }


def scipy_peer(edges, count):
    import scipy.sparse
    import scipy.sparse.csgraph
    entries = np.ones(len(edges), dtype=np.int8), (edges[:, 0], edges[:, 1])
    matrix = scipy.sparse.coo_matrix(entries, shape=(count, count))
    matrix = matrix.tocsr()
    matrix.data[:] = 1
    degrees = np.diff(matrix.indptr)
    transposed = matrix.T.tocsr().astype(np.float64)
    both = ((matrix + matrix.T) > 0).tocsr()

    def pagerank(iterations):
        ranks = np.full(count, 1 / count)
        for _ in range(iterations):
            shares = np.where(degrees > 0, ranks / np.maximum(degrees, 1), 0.0)
            ranks = 0.15 / count + 0.85 * (transposed @ shares + ranks[degrees == 0].sum() / count)
        return ranks

    def bfs(source):
        return scipy.sparse.csgraph.breadth_first_order(both, source, return_predecessors=False)

    return {"pagerank": pagerank, "bfs": bfs, "components": lambda: scipy.sparse.csgraph.connected_components(both)[0]}


PEERS = {"networkit": networkit_peer, "igraph": igraph_peer, "scipy": scipy_peer}
ITERATIONS = 10
# Label propagation as Graphalytics defines it takes the smallest of equals at the same time everywhere; theirs draw
# lots, one vertex after the other.
LABEL_ITERATIONS = 10
# How far apart GAP relaxes vertices together: the best of 4, 8, 16, 32, 64 and 128 at scale 22.
SSSP_DELTA = 4
# Kernels that peers have under the same name: the algorithm, the image, and the column with the answer, of which
# components are counted and labels not compared.
KERNELS = {
    "core numbers": ("core-number", "undirected", "core"),
    "clustering": ("clustering", "undirected", "clustering"),
    "strong components": ("strong-components", "directed", "component"),
    "label propagation": ("label-propagation", "undirected", None),
}


class Table:
    def __init__(self):
        self.times = {}

    def add(self, kernel, engine, seconds):
        self.times.setdefault(kernel, {}).setdefault(engine, []).append(seconds)

    def show(self):
        print(f"\n{'kernel':28}{'engine':12}{'median s':>10}{'least':>10}{'greatest':>10}{'outcore / it':>14}")
        for kernel, engines in self.times.items():
            own = statistics.median(engines["outcore"])
            for engine, times in engines.items():
                median = statistics.median(times)
                print(f"{kernel:28}{engine:12}{median:10.4f}{min(times):10.4f}{max(times):10.4f}{own / median:14.3f}")


def check_ranks(name, ours, theirs):
    worst = np.abs(ours - theirs).max()
    assert worst < 1e-9, f"{name}: ranks differ by {worst}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--outcore", required=True)
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", default="512MiB")
    parser.add_argument("--peers", default="networkit,igraph,scipy")
    parser.add_argument("--gap")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tuples, directed, both = folder / "k.graph500", folder / "directed.oc", folder / "undirected.oc"
        outcore(options.outcore, "generate", "kronecker", tuples, "--scale", options.scale)
        # Everybody gets the same vertices: those that have edges, numbered without gaps.
        edges = np.fromfile(tuples, dtype=np.int64).reshape(-1, 2)
        there = np.zeros(edges.max() + 1, dtype=bool)
        there[edges[:, 0]] = there[edges[:, 1]] = True
        count, edges = int(there.sum()), (np.cumsum(there) - 1)[edges]
        edges.tofile(tuples)
        table = Table()
        for image, direction in ((directed, "--directed"), (both, "--undirected")):
            start = time.perf_counter()
            outcore(options.outcore, "import", tuples, image, direction, "--memory", "1GiB", "--threads", 2, "--quiet")
            seconds = time.perf_counter() - start
            info = json.loads(subprocess.check_output([options.outcore, "info", "--json", image]))["result"]
            speed = f"{len(edges) / seconds / 1e6:.1f} million edges per second"
            size = f"{info['bytes_per_edge']:.3f} bytes per stored edge"
            print(f"import {direction[2:]}: {seconds:.1f} s, {speed}, {size}")
        sources = sample_sources(edges, 4)
        peers = {}
        for peer in filter(None, options.peers.split(",")):
            seconds, kernels = timed(partial(PEERS[peer], edges, count))
            print(f"{peer}: graph in memory after {seconds:.1f} s")
            peers[peer] = kernels
        gap = Gap(options.gap, folder, edges, count) if options.gap else None
        del edges
        compare(options, table, peers, folder, directed, both, sources)
        for kernel in KERNELS:
            compare_kernel(options, table, peers, folder, kernel)
        if gap:
            compare_gap(options, table, gap, folder, directed, both, sources)
            compare_sssp(options, table, gap, folder)
        table.show()


def compare_gap(options, table, gap, folder, directed, both, sources):
    run = lambda *arguments, **more: run_outcore(options.outcore, *arguments, **more)
    assert first_number(options.outcore, "components", both) == gap.verify(sources[0]), "GAP finds other components"
    triangles = first_number(options.outcore, "triangles", both)
    rule = ("--max-iter", ITERATIONS, "--tol", 0, "--dangling", "gap")
    for _ in range(options.rounds):
        stats = run("pagerank", directed, options.memory, folder, *rule)
        table.add("pagerank by GAP's rule", "outcore", stats["seconds"] / ITERATIONS)
        table.add("pagerank by GAP's rule", "gap", gap.pagerank(ITERATIONS) / ITERATIONS)
        for source in sources:
            stats = run("bfs", both, options.memory, folder, "--source", source)
            table.add("bfs, every source", "outcore", stats["seconds"])
            table.add("bfs, every source", "gap", gap.bfs(source))
        table.add("components beside GAP", "outcore", run("components", both, options.memory, folder)["seconds"])
        table.add("components beside GAP", "gap", gap.components())
        for source in sources:
            found = run("betweenness-centrality", both, options.memory, folder, "--sources", source)
            table.add("betweenness, one source", "outcore", found["seconds"])
            table.add("betweenness, one source", "gap", gap.betweenness(source))
        table.add("triangles", "outcore", run("triangles", both, options.memory, folder)["seconds"])
        seconds, theirs = gap.triangles()
        table.add("triangles", "gap", seconds)
        assert triangles == theirs, f"GAP counts {theirs} triangles, not {triangles}"


def compare_sssp(options, table, gap, folder):
    image, text = folder / "weighted.oc", folder / "weighted.wel"
    kind = "--scale", options.scale, "--undirected", "--weights", "uniform"
    outcore(options.outcore, "generate", "kronecker", image, *kind)
    outcore(options.outcore, "export", image, text)
    gap.weigh(text)
    with open(text) as lines:
        sources = [int(line.split()[0]) for line in itertools.islice(lines, 0, None, 3 << options.scale)]
    text.unlink()
    for source in sources:
        reached = first_number(options.outcore, "sssp", image, "--source", source, "--verify")
        assert reached == gap.sssp(source, "-v")[1], f"GAP reaches others from {source}"
    for _ in range(options.rounds):
        for source in sources:
            found = run_outcore(options.outcore, "sssp", image, options.memory, folder, "--source", source)
            table.add("shortest paths", "outcore", found["seconds"])
            table.add("shortest paths", "gap", gap.sssp(source)[0])


def sample_sources(edges, count):
    generator = np.random.default_rng(1)
    return [int(edges[i, 0]) for i in generator.integers(0, len(edges), count)]


def compare(options, table, peers, folder, directed, both, sources):
    run = lambda *arguments, **more: run_outcore(options.outcore, *arguments, **more)
    pagerank_options = ("--max-iter", ITERATIONS, "--tol", 0)
    run("pagerank", directed, options.memory, folder, *pagerank_options, output=True)
    ranks = by_vertex(np.load(folder / "result.npy"), "pagerank")
    expected = first_number(options.outcore, "components", both)
    for _ in range(options.rounds):
        stats = run("pagerank", directed, options.memory, folder, *pagerank_options)
        table.add("pagerank, per iteration", "outcore", stats["seconds"] / ITERATIONS)
        for name, kernels in peers.items():
            if "pagerank" in kernels:
                seconds, theirs = timed(lambda: kernels["pagerank"](ITERATIONS))
                table.add("pagerank, per iteration", name, seconds / ITERATIONS)
                check_ranks(name, ranks, theirs)
        own = [run("bfs", both, options.memory, folder, "--source", source)["seconds"] for source in sources]
        table.add("bfs, mean of sources", "outcore", statistics.mean(own))
        for name, kernels in peers.items():
            times = [timed(lambda: kernels["bfs"](source))[0] for source in sources]
            table.add("bfs, mean of sources", name, statistics.mean(times))
        table.add("components", "outcore", run("components", both, options.memory, folder)["seconds"])
        for name, kernels in peers.items():
            seconds, components = timed(kernels["components"])
            table.add("components", name, seconds)
            assert expected == components, f"{name}: {components} components, not {expected}"
    check_levels(options, peers, folder, both, sources[0])


def compare_kernel(options, table, peers, folder, kernel):
    algorithm, image, column = KERNELS[kernel]
    image = folder / f"{image}.oc"
    run_outcore(options.outcore, algorithm, image, options.memory, folder, output=True)
    result = np.load(folder / "result.npy")
    for _ in range(options.rounds):
        table.add(kernel, "outcore", run_outcore(options.outcore, algorithm, image, options.memory, folder)["seconds"])
        for name, kernels in peers.items():
            if kernel not in kernels:
                continue
            seconds, theirs = timed(kernels[kernel])
            table.add(kernel, name, seconds)
            if column == "component":
                assert len(np.unique(result[column])) == theirs, f"{name}: {theirs} strong components"
            elif column:
                assert np.abs(by_vertex(result, column) - theirs).max() < 1e-9, f"{name}: other {kernel}"


def check_levels(options, peers, folder, both, source):
    run_outcore(options.outcore, "bfs", both, options.memory, folder, "--source", source, output=True)
    result = np.load(folder / "result.npy")
    levels = by_vertex(result, "level")
    reached = result["vertex"][result["level"] >= 0]
    for name, kernels in peers.items():
        theirs = kernels["bfs"](source)
        if name == "scipy":
            assert set(theirs) == set(reached), "scipy reaches other vertices"
        else:
            finite = theirs < 1e9
            assert finite.sum() == len(reached) and (theirs[finite] == levels[finite]).all(), f"{name}: levels differ"


if __name__ == "__main__":
    main()
