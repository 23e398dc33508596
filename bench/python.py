"""What Python's side costs: imports of frames and matrices beside that of the same edges from a binary file, results as
frames and arrays, NetworkX's PageRank through the backend, and `import outcore`. Prints medians, the least and the
greatest, and ratios.

usage: python.py [--edges 10000000] [--rows 24] [--memory 2GiB] [--rounds 5]

Edges are uniform, with whole weights; those of the binary file (two little-endian i64) have none, and so have those of
the frames that are compared with it. `--rows` is the power of two of the vertices of the result. Two threads.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse

import outcore as oc


def times(run, rounds):
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return found


def show(name, found, base=None):
    middle = statistics.median(found)
    ratio = "" if base is None else f"  {middle / statistics.median(base):.2f} of the first"
    print(f"{name:40} {middle:10.4f} s ({min(found):.4f} - {max(found):.4f}){ratio}", flush=True)
    return found


def imports(folder, options):
    rng = np.random.default_rng(1)
    vertices = options.edges // 8
    source, target = (rng.integers(0, vertices, options.edges) for _ in range(2))
    image, binary = os.path.join(folder, "g.oc"), os.path.join(folder, "edges.bin")
    np.column_stack([source, target]).astype("<i8").tofile(binary)
    ends = {"source": source, "target": target}
    matrix = scipy.sparse.coo_array((np.ones(len(source), bool), (source, target)), shape=(vertices, vertices)).tocsr()
    inputs = [
        ("binary file", binary, {"format": "binary64"}),
        ("pandas frame", pd.DataFrame(ends), {}),
        ("polars frame", pl.DataFrame(ends), {}),
        ("NumPy arrays", (source, target), {}),
        ("SciPy matrix", matrix, {}),
    ]
    base, edges = None, None
    for name, given, more in inputs:
        limits = {"memory": options.memory, "threads": 2, "replace": True, "directed": True}
        run = lambda: oc.import_graph(given, image, **limits, **more)
        report = run()
        assert edges in (None, report["edges"]), "not the same graph"
        edges = report["edges"]
        found = show(f"import, {options.edges:,} edges, {name}", times(run, options.rounds), base)
        base = base or found


def results(folder, options):
    image = os.path.join(folder, "rows.oc")
    oc.generate("uniform", scale=options.rows, edge_factor=1, output=image, memory=options.memory)
    with oc.Graph(image, memory="8GiB", threads=2) as g:
        found = oc.degree_centrality(g)
        rows = f"result of {len(g):,} rows"
        show(f"{rows} to NumPy, a column", times(lambda: found["degree_centrality"], options.rounds))
        show(f"{rows} to NumPy, ids", times(lambda: found["vertex"], options.rounds))
        show(f"{rows} to polars", times(found.to_polars, options.rounds))
        show(f"{rows} to pandas", times(found.to_pandas, options.rounds))
        show(f"{rows} to Arrow", times(found.to_arrow, options.rounds))


def small(options):
    graph = nx.karate_club_graph()
    nx.config.warnings_to_ignore.add("cache")
    nx.pagerank(graph, backend="outcore")
    rounds = 40 * options.rounds
    base = show("nx.pagerank, karate club", times(lambda: nx.pagerank(graph), rounds))
    show("the same with the backend", times(lambda: nx.pagerank(graph, backend="outcore"), rounds), base)
    arguments = [sys.executable, "-c"]
    empty = times(lambda: subprocess.run([*arguments, "pass"], check=True), options.rounds)
    with_it = times(lambda: subprocess.run([*arguments, "import outcore"], check=True), options.rounds)
    show("import outcore", [one - statistics.median(empty) for one in with_it])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--rows", type=int, default=24)
    parser.add_argument("--memory", default="2GiB")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    small(options)
    with tempfile.TemporaryDirectory() as folder:
        imports(folder, options)
        results(folder, options)


if __name__ == "__main__":
    main()
