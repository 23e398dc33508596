"""Limits that Outcore advises are enough, at once: commands of all kinds, drawn, within what `--explain` and refusals
say, and a little more.

With OUTCORE_SOAK set there are 200 of them under many limits, otherwise 30."""

import gzip
import json
import os
import random
import re
import shutil
import subprocess

import numpy as np
import pytest

import outcore as oc

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
pytestmark = pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
SOAK = os.environ.get("OUTCORE_SOAK")
COMMANDS = 200 if SOAK else 30
# Commands of a test, which is one of several that run side by side.
PART = 10
UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def outcore(command, limit=None):
    limits = ["--memory", limit] if limit else []
    return subprocess.run([OUTCORE, *command, *limits, "--progress", "json"], capture_output=True, text=True)


def refusal(done):
    """The limit that a refusal advises, or nothing where memory was not refused."""
    advised = re.search(r"raise the limit to at least ([\d.]+) ([KMG]iB)", done.stderr)
    return advised and advised[1] + advised[2]


def passes(done):
    """The passes that a command has ended; planning computes with single rows."""
    lines = (line for line in done.stderr.splitlines() if line.startswith("{"))
    return [event["name"] for event in map(json.loads, lines) if event["event"] == "finish" and event["done"] > 1]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Files of several formats, images of several kinds, and arrays: a few MiB each."""
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(11)

    def pairs(count, size):
        source, target = (rng.zipf(1.7, count) % size * 7919) % size, rng.integers(0, size, count)
        return source, target, rng.integers(1, 100, count)

    source, target, weight = pairs(80_000, 30_000)
    with open(folder / "edges.txt", "w") as file:
        file.writelines(f"{a} {b}\n" for a, b in zip(source, target))
    with gzip.open(folder / "edges.tsv.gz", "wt", compresslevel=1) as file:
        file.writelines(f"{a}\t{b}\t{w}\n" for a, b, w in zip(source, target, weight))
    with open(folder / "names.csv", "w") as file:
        file.write("from,to,amount,kind\n")
        file.writelines(f"user-{a},user-{b},{w / 8},{'abc'[w % 3]}\n" for a, b, w in zip(source, target, weight))
    oc.import_graph((source, target, weight), folder / "directed.oc", directed=True, order="degree")
    oc.import_graph((source, target, weight), folder / "undirected.oc", directed=False, order="degree")
    names = tuple([f"account-{vertex:012}" for vertex in ends] for ends in (source, target))
    oc.import_graph(names, folder / "names.oc", order="degree")
    with oc.Graph(folder / "directed.oc") as graph:
        for ending in ("mtx", "graphml", "jsonl", "parquet"):
            graph.export(folder / f"edges.{ending}")
        vertices = graph.number_of_nodes()
    numbers = rng.normal(size=(60_000, 14)) * rng.uniform(1, 9, 14) + rng.integers(0, 3, (60_000, 1)) * 20
    np.save(folder / "numbers.npy", numbers)
    oc.array.persist(folder / "numbers.oc", numbers)
    np.save(folder / "vectors.npy", rng.normal(size=(vertices, 3)))
    return folder


class Drawn:
    """Draws commands; each writes what it makes into a folder of its own."""

    def __init__(self, seed, inputs, folder):
        self.random, self.inputs, self.folder = random.Random(seed), inputs, folder

    def maybe(self, *option, share=0.5):
        return [str(part) for part in option] if self.random.random() < share else []

    def output(self, *endings):
        ending = self.random.choice(endings)
        return self.maybe("--output", self.folder / f"result.{ending}", share=0.7)

    def threads(self):
        return self.maybe("--threads", self.random.choice([1, 2, 3, 8]), share=0.7)

    def draw(self):
        kind = self.random.choice([self.imported, self.algorithm, self.algorithm, self.solver, self.statistic, self.exported])
        return [str(part) for part in kind()]

    def imported(self):
        made = self.folder / "made.oc"
        name = self.random.choice(
            ["edges.txt", "edges.tsv.gz", "names.csv", "edges.mtx", "edges.graphml", "edges.jsonl", "edges.parquet"]
        )
        how = self.random.choice([[], ["--directed"], ["--undirected"]]) if name not in ("edges.mtx", "edges.graphml") else []
        if name == "edges.tsv.gz":
            how += ["--source", "1", "--target", "2", "--weight", "3"]
        if name == "names.csv":
            how += ["--source", "from", "--target", "to"]
            how += self.maybe("--weight", "amount") + self.maybe("--attributes", "all")
        how += self.maybe("--order", self.random.choice(["input", "degree", "near"]))
        how += self.maybe("--duplicates", self.random.choice(["keep", "first"]), share=0.3)
        return ["import", self.inputs / name, made, "--replace", *how, *self.threads()]

    def algorithm(self):
        name = self.random.choice(
            ["pagerank", "components", "bfs", "sssp", "core-number", "label-propagation", "triangles", "lcc", "reciprocity",
             "degree-centrality", "strong-components", "betweenness", "multi-source-bfs", "scan-statistics"]
        )  # fmt: skip
        images = {"reciprocity": ["directed"], "strong-components": ["directed"]}
        image = self.random.choice(images.get(name, ["directed", "undirected", "names"]))
        if name == "sssp" and image == "names":
            image = "directed"
        vertex = "account-000000007919" if image == "names" else "7919"
        options = {
            "bfs": ["--source", vertex], "sssp": ["--source", vertex], "betweenness": ["--k", "2"],
            "multi-source-bfs": ["--sources", vertex], "pagerank": ["--tol", "1e-4"], "label-propagation": ["--max-iter", "3"],
        }  # fmt: skip
        output = ["parquet", "csv", "csv.gz", "jsonl", "jsonl.zst", "arrow"] + ([] if image == "names" else ["npy"])
        more = self.output(*output) + self.threads() + self.maybe("--verify", share=0.2)
        return ["run", name, self.inputs / f"{image}.oc", *options.get(name, []), *more]

    def solver(self):
        k = self.random.choice([2, 4, 6])
        solver = self.random.choice(
            [["eigsh", "--k", k, "--tol", "1e-3"], ["svds", "--k", k, "--tol", "1e-3"], ["nmf", "--n-components", k, "--max-iter", 3],
             ["expm-multiply", "--t", "1e-7", "--by", self.inputs / "vectors.npy"], ["multiply", "--by", self.inputs / "vectors.npy"],
             ["randomized-svd", "--k", k]]
        )  # fmt: skip
        image = "undirected" if solver[0] == "eigsh" else self.random.choice(["directed", "undirected"])
        more = self.output("parquet", "csv", "npy", "arrow") + self.threads() + self.maybe("--unweighted", share=0.3)
        if solver[0] in ("svds", "nmf", "randomized-svd"):
            more += self.maybe("--right", self.folder / "right.npy", share=0.3)
        if solver[0] not in ("nmf", "multiply"):
            more += self.maybe("--verify", share=0.2)
        if solver[0] in ("multiply", "expm-multiply") and "--output" not in more:
            more += ["--output", self.folder / "product.npy"]
        return ["run", solver[0], self.inputs / f"{image}.oc", *solver[1:], *more]

    def statistic(self):
        statistic = self.random.choice(
            [["describe"], ["pca", "--n-components", self.random.choice([2, 9])], ["kmeans", "--n-clusters", 4, "--max-iter", 3,
             "--allow-unconverged"], ["cov"], ["svd"], ["gmm", "--n-components", 2, "--max-iter", 2, "--allow-unconverged"]]
        )  # fmt: skip
        more = self.output("parquet", "csv", "npy") + self.threads() + self.maybe("--stats", self.folder / "facts.json", share=0.3)
        return ["run", statistic[0], self.inputs / self.random.choice(["numbers.npy", "numbers.oc"]), *statistic[1:], *more]

    def exported(self):
        ending = self.random.choice(["csv", "txt.gz", "parquet", "jsonl", "graphml", "mtx", "gexf"])
        return ["export", self.inputs / f"{self.random.choice(['directed', 'undirected', 'names'])}.oc",
                self.folder / f"edges.{ending}", *self.maybe("--vertex-table", self.folder / "vertices.csv", share=0.3)]  # fmt: skip


def explained(command):
    """The limit that `--explain` advises."""
    done = outcore([*command, "--explain"])
    assert done.returncode == 0, (command, done.stderr)
    advised = re.search(r"^memory +([\d.]+) ([KMG]iB)", done.stdout, re.MULTILINE)
    return advised[1] + advised[2]


def nearby(limit):
    """Limits a little above one that is advised, where plans are at their edge; with OUTCORE_SOAK, those around it too."""
    number, unit = re.fullmatch(r"([\d.]+)([KMG]iB)", limit).groups()
    size = float(number) * UNITS[unit] / 2**20
    steps = [*np.arange(-0.5, 3, 0.05), *np.arange(3, 12, 0.25)] if SOAK else [0.05, 0.15, 0.3, 3]
    return [f"{size + step:.2f}MiB" for step in steps]


def faults_within(command, limit):
    """The faults of a command within a limit, as sentences: it ends well, or is refused at once with enough advice."""
    text = f"{' '.join(command)} within {limit}"
    done = outcore(command, limit)
    if done.returncode == 0:
        return
    advised = refusal(done)
    if advised is None:
        yield f"{text}: {done.stderr[-400:]}"
        return
    if passes(done):
        yield f"{text} was refused after {passes(done)}: {done.stderr[-400:]}"
    again = outcore(command, advised)
    if again.returncode != 0:
        yield f"{text}: {advised} were advised, and then: {again.stderr[-400:]}"


def faults(command, small):
    """The faults of the advice that a command is given, as sentences."""
    limits = [small]
    if command[0] != "export":
        limit = explained(command)
        done = outcore(command, limit)
        if done.returncode != 0:
            yield f"{' '.join(command)}: --explain advises {limit}, and then: {done.stderr[-400:]}"
        limits += nearby(limit)
    for limit in limits:
        yield from faults_within(command, limit)


@pytest.mark.parametrize("part", range(COMMANDS // PART))
def test_an_advised_limit_is_enough_at_once(part, inputs, tmp_path):
    wrong = []
    for number in range(part * PART, (part + 1) * PART):
        folder = tmp_path / str(number)
        folder.mkdir()
        drawn = Drawn(number, inputs, folder)
        command, small = drawn.draw(), drawn.random.choice(["11MiB", "16MiB", "20MiB", "24MiB", "25MiB", "27MiB"])
        wrong += [f"{number}: {fault}" for fault in faults(command, small)]
        shutil.rmtree(folder)
    assert not wrong, "\n\n".join(wrong)


def test_lists_of_ids_are_counted_before_a_limit_is_advised(inputs, tmp_path):
    ids = tmp_path / "ids.txt"
    with oc.Graph(inputs / "names.oc") as graph:
        known = list(oc.connected_components(graph).to_dict())
    ids.write_text("".join(f"{id}\n" for id in known[:9_000]))
    image, made = str(inputs / "names.oc"), str(tmp_path / "made.oc")
    commands = [
        ["run", "multi-source-bfs", image, "--sources", f"@{ids}"],
        ["import", image, made, "--replace", "--vertices", str(ids)],
        ["import", image, made, "--replace", "--exclude", str(ids)],
    ]
    limits = ["16MiB", "18MiB", "19MiB", "20MiB", "21MiB", "22MiB", "24MiB"]
    wrong = [fault for command in commands for limit in limits for fault in faults_within(command, limit)]
    assert not wrong, "\n\n".join(wrong)


def test_a_limit_that_is_advised_for_a_graph_is_enough_for_its_first_call(tmp_path):
    rng = np.random.default_rng(3)
    oc.import_graph(tuple(rng.integers(0, 500_000, (2, 600_000))), tmp_path / "g.oc")
    for small in ("9MiB", "9.1MiB"):
        with pytest.raises(oc.MemoryLimitError) as refused:
            oc.Graph(tmp_path / "g.oc", memory=small)
        limit = re.search(r"raise the limit to at least ([\d.]+) ([KMG]iB)", str(refused.value))
        with oc.Graph(tmp_path / "g.oc", memory=limit[1] + limit[2]) as graph:
            oc.pagerank(graph, tol=1e-3)


ROWS = 30_000
PRODUCTS = {
    "an array": lambda A, folder: A @ np.ones((ROWS, 80)),
    "an array, transposed": lambda A, folder: A.T @ np.ones((ROWS, 80)),
    "a vector": lambda A, folder: A @ np.ones(ROWS),
    "a file": lambda A, folder: A.multiply(folder / "factor.npy"),
    "a file, to a file": lambda A, folder: A.multiply(folder / "factor.npy", out=folder / "product.npy"),
    "an array, to a file": lambda A, folder: A.multiply(np.ones((ROWS, 80)), out=folder / "product.npy"),
    "rows": lambda A, folder: A[:20],
    "lazy ones": lambda A, folder: (A @ oc.array.ones((ROWS, 80))).compute(),
    "sums of a lazy file": lambda A, folder: (A @ oc.array.open(folder / "factor.npy")).sum(axis=0).compute(),
    "few lazy columns": lambda A, folder: (A @ oc.array.open(folder / "factor.npy")[:, :3]).sum(axis=1).compute(),
    "a lazy product of products": lambda A, folder: (A @ (A @ oc.array.ones((ROWS, 80)))).compute(),
    "a lazy Gram matrix": lambda A, folder: gram(A @ oc.array.open(folder / "factor.npy")).compute(),
    "a lazy image": lambda A, folder: oc.array.persist(folder / "product.oc", A @ oc.array.ones((ROWS, 80)), replace=True),
    "a randomized SVD": lambda A, folder: oc.linalg.randomized_svd(A, 6, passes=2),
    "singular values": lambda A, folder: oc.linalg.svds(A, 2, tol=0.1),
    "a matrix exponential": lambda A, folder: oc.linalg.expm_multiply(A, np.ones((ROWS, 4)), 1e-7),
    "ranks": lambda A, folder: oc.linalg.pagerank(A, tol=1e-2),
}


def gram(y):
    return y.T @ y


@pytest.fixture(scope="module")
def matrices(tmp_path_factory):
    """A matrix whose rows are in order in its image, and one whose rows are not, both of real numbers."""
    folder = tmp_path_factory.mktemp("matrices")
    rng = np.random.default_rng(5)
    ends, values = rng.integers(0, ROWS, (2, 100_000)), rng.uniform(0.5, 2, 100_000)
    ends[:, :ROWS] = np.arange(ROWS), (np.arange(ROWS) * 7919 + 1) % ROWS
    for order in ("input", "degree"):
        oc.import_graph((*ends, values), folder / f"{order}.oc", directed=True, order=order, duplicates="first")
    np.save(folder / "factor.npy", rng.normal(size=(ROWS, 80)))
    return folder


@pytest.mark.parametrize("order", ["input", "degree"])
@pytest.mark.parametrize("product", PRODUCTS)
def test_a_limit_that_is_advised_for_a_product_is_enough_at_once(product, order, matrices):
    """The least limit is too small for every product, be it that the matrix is refused already."""
    for small in ("12MiB", "24MiB", "30MiB"):
        limit, steps = small, []
        while limit and len(steps) < 4:
            step = "opening"
            try:
                with oc.SparseMatrix(matrices / f"{order}.oc", memory=limit, threads=2) as A:
                    step = "product"
                    PRODUCTS[product](A, matrices)
                limit = None
            except oc.MemoryLimitError as refused:
                steps.append((step, limit, str(refused)))
                advised = re.search(r"raise the limit to at least ([\d.]+) ([KMG]iB)", str(refused))
                limit = advised[1] + advised[2]
        assert len({step for step, *_ in steps}) == len(steps), steps
        assert steps or small != "12MiB"


@pytest.mark.parametrize("words", [["betweenness-centrality", "--k", "5"], ["pagerank"]])
def test_a_limit_below_that_of_any_command_names_one_for_the_state(words, tmp_path):
    star = tmp_path / "star.oc"
    assert outcore(["generate", "star", star, "--scale", "19"]).returncode == 0
    refused = outcore(["run", *words, star], "1MiB")
    assert refused.returncode == 9
    done = outcore(["run", *words, star], refusal(refused))
    assert done.returncode == 0, (refused.stderr, done.stderr)
