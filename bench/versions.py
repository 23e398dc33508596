"""Runs two builds of Outcore in turn over the same graphs, and GAP beside them, checks that answers are the same, and
prints ratios.

usage: versions.py --new PROGRAM [--old PROGRAM] [--gap FOLDER] [--scales 22,24] [--grids 600,3000] [--rounds 5]
[--memory 768MiB]

Every build makes its own images. Graphs are Kronecker graphs and grids, both with whole weights from 1 to 255, and at
the first scale with real ones too. Each run is a process of its own with a cold page cache and two threads; its time
is that of the algorithm, reading included. Searches of Kronecker graphs begin at four vertices, those of grids at a
corner. Results are verified, and those of the builds must be the same bytes. FOLDER holds GAP's programs, as for
compare.py, which checks GAP's answers; GAP reads the edges that Outcore exports.

Rounds of all programs alternate. Printed are medians, the least and the greatest, and the ratio of medians.
"""

import argparse
import hashlib
import itertools
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile

PAGERANK = ("--max-iter", 10, "--tol", 0)
# How far apart GAP relaxes vertices together: the best of the powers of two, on Kronecker graphs and on grids.
KRONECKER_DELTA, GRID_DELTA = 4, 64


def call(*arguments):
    return subprocess.run([str(argument) for argument in arguments], check=True, text=True, capture_output=True).stdout


class Build:
    """One build of Outcore and the images that it made."""

    def __init__(self, name, program, folder, memory):
        self.name, self.program, self.memory = name, program, memory
        self.folder = folder / name
        self.folder.mkdir()

    def make(self, command, graph, *arguments):
        image = self.folder / f"{graph}.oc"
        call(self.program, command, *arguments[:1], image, "--replace", *arguments[1:], "--memory", "4GiB")

    def run(self, algorithm, graph, *options):
        stats = self.folder / "stats.json"
        call(self.program, "run", algorithm, self.folder / f"{graph}.oc", "--memory", self.memory, "--threads", 2,
             "--stats", stats, *options)
        found = json.loads(stats.read_text())
        # Builds before the object with a schema have no part of that name.
        return found.get("stats", found)["seconds"]

    def answer(self, algorithm, graph, *options):
        """A digest of the result, once it is verified."""
        result = self.folder / "result.npy"
        call(self.program, "run", algorithm, self.folder / f"{graph}.oc", "--verify", "--output", result, *options)
        digest = hashlib.sha256(result.read_bytes()).hexdigest()
        result.unlink()
        return digest


class Gap:
    """GAP's programs over one graph."""

    name = "gap"

    def __init__(self, programs, folder):
        self.programs, self.folder = pathlib.Path(programs), folder

    def convert(self, graph, edges):
        for ending, weigh in (("sg", []), ("wsg", ["-w"])):
            call(self.programs / "converter", "-s", *weigh, "-f", edges, "-b", self.folder / f"{graph}.{ending}")

    def run(self, kernel, graph, *options):
        file = self.folder / f"{graph}.{'wsg' if kernel == 'sssp' else 'sg'}"
        environment = os.environ | {"OMP_NUM_THREADS": "2"}
        program = [str(part) for part in (self.programs / kernel, "-f", file, "-n", 1, *options)]
        text = subprocess.run(program, check=True, text=True, capture_output=True, env=environment).stdout
        assert "FAIL" not in text, text
        return float(text.split("Average Time:")[1].split()[0])


class Figures:
    def __init__(self):
        self.times = {}

    def add(self, figure, name, seconds):
        self.times.setdefault(figure, {}).setdefault(name, []).append(seconds)

    def show(self, figure):
        times = self.times[figure]
        new = statistics.median(times["new"])
        for name, seconds in times.items():
            median = statistics.median(seconds)
            bounds = f"{min(seconds):10.4f}{max(seconds):10.4f}"
            print(f"{figure:40}{name:6}{median:10.4f}{bounds}{new / median:12.3f}", flush=True)


def measure(figures, options, title, builds, gap, algorithm, graph, sources, *flags, kernel=None, peer_flags=()):
    """One line of the table: an algorithm over a graph from every source, in turn by all."""
    flag = "--sources" if algorithm == "betweenness-centrality" else "--source"
    starts = [(flag, source) for source in sources] or [()]
    answers = {build.answer(algorithm, graph, *flags, *starts[0]) for build in builds}
    assert len(answers) == 1, f"{title}: the builds differ"
    runs = {build.name: lambda start, build=build: build.run(algorithm, graph, *flags, *start) for build in builds}
    if gap and kernel:
        begin = lambda start: ("-r", start[1]) if start else ()
        runs["gap"] = lambda start: gap.run(kernel, graph, *begin(start), *peer_flags)
    names = list(runs)
    for start in options.rounds * starts:
        for name in names:
            figures.add(title, name, runs[name](start))
        # What ran before leaves its traces: nobody always follows the same one.
        names.append(names.pop(0))
    figures.show(title)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--new", required=True)
    parser.add_argument("--old")
    parser.add_argument("--gap")
    parser.add_argument("--scales", default="22,24")
    parser.add_argument("--grids", default="600,3000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", default="768MiB")
    options = parser.parse_args()
    figures = Figures()
    print(f"{'':40}{'':6}{'median s':>10}{'least':>10}{'greatest':>10}{'new / it':>12}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs = {"new": options.new} | ({"old": options.old} if options.old else {})
        builds = [Build(*program, folder, options.memory) for program in programs.items()]
        gap = Gap(options.gap, folder) if options.gap else None
        first_scale = next(iter(filter(None, options.scales.split(","))), None)
        for side in filter(None, options.grids.split(",")):
            grid(figures, options, builds, gap, int(side), folder)
        for scale in filter(None, options.scales.split(",")):
            kronecker(figures, options, builds, gap, int(scale), scale == first_scale, folder)


def grid(figures, options, builds, gap, side, folder):
    edges = folder / "grid.wel"
    weights = random.Random(1)
    with open(edges, "w") as file:
        for row in range(side):
            for here in range(row * side, row * side + side):
                if here + 1 < row * side + side:
                    file.write(f"{here} {here + 1} {weights.randint(1, 255)}\n")
                if row + 1 < side:
                    file.write(f"{here} {here + side} {weights.randint(1, 255)}\n")
    for build in builds:
        build.make("import", "grid", edges, "--undirected", "--quiet")
    if gap:
        gap.convert("grid", edges)
    edges.unlink()
    measure(figures, options, f"bfs, grid of {side}", builds, gap, "bfs", "grid", [0], kernel="bfs")
    measure(figures, options, f"shortest paths, grid of {side}", builds, gap, "sssp", "grid", [0], kernel="sssp",
            peer_flags=("-d", GRID_DELTA))


def kronecker(figures, options, builds, gap, scale, reals, folder):
    graphs = {"directed": (), "both": ("--undirected", "--weights", "uniform")}
    if reals:
        graphs["reals"] = ("--undirected", "--weights", "unit")
    for graph, flags in graphs.items():
        for build in builds:
            build.make("generate", graph, "kronecker", "--scale", scale, *flags)
    edges = folder / "both.wel"
    call(builds[0].program, "export", builds[0].folder / "both.oc", edges)
    with open(edges) as lines:
        sources = [int(line.split()[0]) for line in itertools.islice(lines, 7, None, 3 << scale)][:4]
    if gap:
        gap.convert("both", edges)
    edges.unlink()
    line = lambda text, *more, **others: measure(
        figures, options, f"{text}, scale {scale}", builds, gap, *more, **others
    )
    line("pagerank", "pagerank", "directed", [], *PAGERANK)
    line("bfs", "bfs", "both", sources, kernel="bfs")
    line("components", "components", "both", [], kernel="cc")
    line("betweenness, one source", "betweenness-centrality", "both", sources[:2], kernel="bc", peer_flags=("-i", 1))
    line("shortest paths, whole", "sssp", "both", sources, kernel="sssp", peer_flags=("-d", KRONECKER_DELTA))
    if reals:
        line("shortest paths, real", "sssp", "reals", sources)
    line("triangles", "triangles", "both", [], kernel="tc")


if __name__ == "__main__":
    main()
