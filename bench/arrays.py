"""Dense arrays: Outcore from the disk and from memory beside NumPy, scikit-learn, Dask, Polars and DuckDB, and beside
what the device and the memory can do, in turn; prints seconds, ratios, rates and memory.

usage: arrays.py [--what disk,memory,gmm,fused,persist,function,columns,clusters,threads,limits,ablations,tall]
[--rows 20000000] [--columns 32] [--clusters 10] [--memory 512MiB] [--threads 2] [--rounds 3] [--peers dask,polars,...]
[--patience 900] [--tall-rows 20000000] [--tall-columns 512] [--folder DIR] [--json FILE]

The data are rows of ten normal distributions, made by `oc.array.random` and persisted; peers read copies, in a .npy
file or in Parquet without compression.

- disk: summary, correlation and an iteration of k-means by all that can say them, behind a dropped page cache.
- memory: the same, when all pages are in Outcore's cache, beside NumPy and scikit-learn with the array in memory.
- gmm: an iteration of a Gaussian mixture with full covariances, from memory and from the disk.
- fused: ten element-wise steps and a sum beside one step and a sum.
- persist: images of random numbers, and of an expression over an image.
- function: an element function that Numba compiles beside the same one built in.
- columns, clusters, threads, limits: sweeps, where the data are as many bytes each time. Figures 5.8 to 5.10 of
  Zheng's thesis (*FlashX*, 2016).
- ablations: what fusing saves, and what reading .npy files in place costs. Figure 5.11 there.
- tall: correlation of many columns of float32. It has files of its own, and is not run unless it is named.

Each run is a process of its own (arrays_run.py). Contestants alternate, and nobody always follows the same one. Of runs
from the disk every process is under the memory limit, Outcore's too: that of a control group, which counts the page
cache. Where none can be made it is RLIMIT_DATA, which does not, but counts memory that is reserved and never used, so
that some are refused who need less; the first line says which it is. Outcore's own limit is less by what interpreter
and libraries hold, and by 16 MiB. Runs in memory have most of what is free as their limit, so that one that takes too
much is killed before anything else is. Imports are not timed, nor is loading for those in memory, which run once before
they are timed; but libraries are read anew behind a dropped page cache, some MiB.

"outcore" writes k-means as the documents do, with differences of rows and centres; "by products" multiplies them, as
all others but Polars and DuckDB do. Each is one pass from given centres to the next ones and to the sizes of clusters.
An iteration of a model ("estimator", "sklearn") is what a fit with four more of them takes longer, by four.

"times" is a contestant's seconds by those of the first one in the same round. "differs" is how far, by the greatest
absolute value, an answer is from the first one's; it must not be more than 1e-8, and answers of Outcore from the same
image must have the same bits. Shares are rates by that of the yardstick in the same round: of bytes read or written for
the device, which fio measures on the image (256 KiB, depth 32; 1 MiB for writes) or, where it is missing, threads that
go past the page cache; of the data's bytes for memory; of operations for products, all of whose n p^2 products count,
though half of them are the other half's. Bytes are those of /proc/self/io; memory is a process's peak, which for maps
of files includes cached pages. Behind a median are the least and the greatest.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import numpy as np

# What they are called in tables.
PEERS = {"dask": "dask", "numpy_blocks": "numpy, map", "polars": "polars", "duckdb": "duckdb"}
COLUMNS = (8, 16, 32, 64, 128, 256, 512)
CLUSTERS = (2, 4, 8, 16, 32, 64)
EXCEPTION = re.compile(r"[\w.]+(Error|Exception)\b")
UNITS = {"": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}


def bytes_of(text):
    digits = text.rstrip("KMGiBkmgb")
    return int(float(digits) * UNITS[text[len(digits) :].strip().upper()])


def spread(values, digits=3):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} - {max(values):.{digits}f})"


@contextlib.contextmanager
def limited(limit):
    """What a process calls to be under a limit, and by what it is limited."""
    group = made_group(limit)
    if group is None:
        yield lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)), "RLIMIT_DATA"
        return
    try:
        yield lambda: (group / "cgroup.procs").write_text("0"), "control group"
    finally:
        group.rmdir()


def made_group(limit):
    """A control group below the one of this process, or None."""
    places = []
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, kinds, path = line.split(":", 2)
        # Of the first version of control groups, and of the second.
        if "memory" in kinds.split(","):
            places.append(("/sys/fs/cgroup/memory" + path, "memory.limit_in_bytes"))
        elif not kinds:
            places.append(("/sys/fs/cgroup" + path, "memory.max"))
    for parent, file in places:
        group = pathlib.Path(parent, f"outcore-bench-{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            # Without the file the controller is not there.
            with open(group / file, "r+") as text:
                text.write(str(limit))
            return group
        except OSError:
            group.rmdir()
    return None


class Unable(Exception):
    """There is no room for files."""


class Bench:
    def __init__(self, options, peers):
        self.options, self.peers, self.wrong = options, peers, False
        self.in_memory_bytes = int(available_bytes() * 0.9)
        with limited(self.in_memory_bytes) as (_, kind):
            room = f"{self.in_memory_bytes / 2**30:.1f} GiB in memory, {options.memory} from the disk"
            print(f"limits of processes: {room}, by {kind}; fio: {shutil.which('fio') or 'missing'}", flush=True)
        self.json = open(options.json, "a") if options.json else None

    def run(self, job):
        """One run: what it said, and what it found; or what became of it instead."""
        with tempfile.TemporaryDirectory(dir=self.options.folder) as name:
            folder = pathlib.Path(name)
            command = [sys.executable, str(pathlib.Path(__file__).with_name("arrays_run.py"))]
            command.append(json.dumps(job | {"folder": name}))
            threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
            # Those that have threads of their own need none of the library's.
            own = 1 if job["who"] in ("memory", "dask") else job["threads"]
            environment = os.environ | dict.fromkeys(threads, str(own))
            with limited(job["bytes"]) as (enter, _), open(folder / "stderr", "w+") as errors:
                process = subprocess.Popen(command, env=environment, preexec_fn=enter, stdout=errors, stderr=errors)
                try:
                    process.wait(self.options.patience)
                except subprocess.TimeoutExpired:
                    return f"not done after {self.options.patience} s", None
                finally:
                    process.kill()
                    process.wait()
                if process.returncode < 0:
                    return f"killed by signal {-process.returncode}", None
                if process.returncode:
                    errors.seek(0)
                    lines = errors.read().strip().splitlines() or ["no word"]
                    # Some exceptions have several lines.
                    reason = next((line for line in reversed(lines) if EXCEPTION.match(line)), lines[-1])
                    return f"refused: {reason[:300]}", None
            said, answer = json.loads((folder / "said.json").read_text()), folder / "answer.npz"
            return said, list(np.load(answer).values()) if answer.exists() else None

    def must(self, job):
        said, _ = self.run(job)
        if isinstance(said, str):
            raise SystemExit(f"{job['who']} {job['what']}: {said}")

    def need(self, size):
        free = shutil.disk_usage(self.options.folder).free
        if size > free:
            text = f"it needs {size / 2**30:.1f} GiB in {self.options.folder}, where {free / 2**30:.1f} are free"
            raise Unable(text)

    def contest(self, title, entrants, yardsticks=(), tolerance=1e-8):
        """Runs entrants, jobs by their names, in turn and prints a table. Yardsticks are jobs by their names, with what
        their rates count: "read", "written" or "data" bytes, or "operations". Without a tolerance answers are not
        compared."""
        print(f"\n{title}", flush=True)
        yardsticks = dict(yardsticks)
        jobs = entrants | {name: job for name, (job, _) in yardsticks.items()}
        rounds = []
        reference = first = None
        names = list(jobs)
        for number in range(self.options.rounds):
            found = {}
            for name in names:
                said, answer = self.run(jobs[name])
                if isinstance(said, str):
                    print(f"    {name:24}{said}", flush=True)
                    self.note(title, name, jobs.pop(name), number, {"failed": said})
                    continue
                if answer is not None and tolerance is not None:
                    if reference is None:
                        reference, first = answer, jobs[name]
                    said["differs"] = self.difference(title, name, reference, answer, first, jobs[name], tolerance)
                self.note(title, name, jobs[name], number, said)
                found[name] = said
            rounds.append(found)
            # What ran before leaves its traces: nobody always follows the same one.
            names = [name for name in names[1:] + names[:1] if name in jobs]
        self.show(entrants, yardsticks, rounds)

    def difference(self, title, name, reference, answer, first, job, tolerance):
        # Models answer with the first part of what the others do.
        differs = 0.0
        for ours, theirs in zip(reference, answer):
            assert ours.shape == theirs.shape, (title, name, ours.shape, theirs.shape)
            scale = np.abs(ours).max() or 1.0
            differs = max(differs, float(np.abs(ours.astype(float) - theirs).max() / scale))
        same = all(job[key] == first[key] for key in ("who", "what", "file")) and job["who"] in ("outcore", "estimator")
        # Also when it is NaN.
        if not differs <= (0.0 if same else tolerance):
            self.wrong = True
            print(f"    {name:24}WRONG: differs by {differs:.1e}", flush=True)
        return differs

    def note(self, title, name, job, number, said):
        if self.json:
            line = {"title": title, "name": name, "round": number} | job | said
            print(json.dumps(line), file=self.json, flush=True)

    def show(self, entrants, yardsticks, rounds):
        print(f"    {'':24}{'seconds':>28}{'times':>28}{'MiB read':>10}{'written':>9}{'peak MiB':>9}{'differs':>9}")
        lead = next(iter(entrants))
        for name in entrants:
            own = [found[name] for found in rounds if name in found]
            if not own:
                continue
            both = [found for found in rounds if {name, lead} <= found.keys()]
            ratios = [found[name]["seconds"] / found[lead]["seconds"] for found in both]
            sizes = [statistics.median(said[key] for said in own) / 2**20 for key in ("read", "written")]
            peak = max(said["peak"] for said in own) / 2**20
            differs = f"{max(said['differs'] for said in own):.1e}" if "differs" in own[0] else "-"
            print(
                f"    {name:24}{spread([said['seconds'] for said in own]):>28}{spread(ratios) if ratios else '-':>28}"
                f"{sizes[0]:10.0f}{sizes[1]:9.0f}{peak:9.0f}{differs:>9}",
                flush=True,
            )
        for yardstick, (_, counts) in yardsticks.items():
            rates = [found[yardstick]["rate"] / 1e9 for found in rounds if yardstick in found]
            if not rates:
                continue
            print(f"    {yardstick}: {spread(rates)} G{'FLOP' if counts == 'operations' else 'B'}/s, shares of it:")
            for name, job in entrants.items():
                both = [found for found in rounds if {name, yardstick} <= found.keys()]
                if both and job["who"] in ("outcore", "estimator"):
                    shares = [work(job, found[name], counts) / found[yardstick]["rate"] for found in both]
                    print(f"        {name:24}{spread(shares):>24}", flush=True)


def work(job, said, counts):
    """How much of what a yardstick counts was done in a second."""
    size = job["rows"] * job["columns"]
    own = {"data": size * np.dtype(job["dtype"]).itemsize, "operations": 2 * size * job["columns"]}
    return own.get(counts, said.get(counts)) / said["seconds"]


def available_bytes():
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))


class Data:
    """Points in an image, and copies of it that are made when they are asked for, in a folder that is to go."""

    def __init__(self, bench, folder, rows, columns, dtype="float64"):
        options, self.bench, self.folder = bench.options, bench, pathlib.Path(folder)
        self.size = rows * columns * np.dtype(dtype).itemsize
        self.shape = f"{rows} x {columns}"
        self.image = self.folder / "x.oc"
        self.base = {
            "rows": rows, "columns": columns, "dtype": dtype, "threads": options.threads, "clusters": options.clusters,
            "file": str(self.image), "npy": str(self.folder / "x.npy"), "parquet": str(self.folder / "x.parquet"),
        }  # fmt: skip
        # Heads and checksums take 0.8 %.
        bench.need(self.size * 1.02)
        bench.must(self.held("outcore", "make", out=str(self.image)))
        self.pages = max(self.image.iterdir(), key=lambda file: file.stat().st_size)

    def disk(self, who, what, **others):
        """A run that reads the disk, under the memory limit."""
        memory = others.get("memory", self.bench.options.memory)
        limits = {"memory": memory, "bytes": bytes_of(memory)}
        return self.base | {"who": who, "what": what, "where": "disk"} | limits | others

    def held(self, who, what, **others):
        """A run whose limit has room for everything."""
        limits = {"memory": int(self.size * 1.05) + (1 << 30), "bytes": self.bench.in_memory_bytes}
        return self.base | {"who": who, "what": what, "where": "memory"} | limits | others

    def copied(self, kind):
        if not pathlib.Path(self.base[kind]).exists():
            self.bench.need(self.size * 1.02)
            self.bench.must(self.held("copy", kind, where="disk"))
        return self

    def device(self, what):
        return self.held("device", what, where="disk", file=str(self.pages))


def disk(bench, data):
    data.copied("npy")
    if {"polars", "duckdb"} & set(bench.peers):
        data.copied("parquet")
    for what in ("summary", "correlation", "kmeans"):
        entrants = {"outcore": data.disk("outcore", what)}
        if what == "kmeans":
            entrants["outcore, by products"] = data.disk("outcore", "kmeans products")
            entrants["estimator"] = data.disk("estimator", what)
        entrants["outcore, .npy in place"] = data.disk("outcore", what, file=data.base["npy"])
        entrants |= {PEERS[who]: data.disk(who, what) for who in bench.peers}
        title = f"{what} from the disk, {data.shape}, limit {bench.options.memory}"
        bench.contest(title, entrants, {"device": (data.device("read"), "read")})


def memory(bench, data):
    data.copied("npy")
    for what in ("summary", "correlation", "kmeans"):
        entrants = {"outcore": data.held("outcore", what)}
        if what == "kmeans":
            entrants["outcore, by products"] = data.held("outcore", "kmeans products")
            entrants["estimator"] = data.held("estimator", what)
        entrants |= {"numpy": data.held("numpy", what), "numpy, blocks": data.held("numpy_blocks", what)}
        if what != "summary":
            entrants["sklearn"] = data.held("sklearn", what)
        bench.contest(f"{what} from memory, {data.shape}", entrants, {"memory": (data.held("memory", "read"), "data")})


def gmm(bench, data):
    data.copied("npy")
    entrants = {
        "estimator": data.held("estimator", "gmm"),
        "estimator, from disk": data.disk("estimator", "gmm"),
        "sklearn": data.held("sklearn", "gmm"),
    }
    bench.contest(f"an iteration of a mixture of {bench.options.clusters}, {data.shape}", entrants)


def fused(bench, data):
    data.copied("npy")
    # Their answers are not the same.
    one = {"one step": data.disk("outcore", "one step"), "ten steps": data.disk("outcore", "ten steps")}
    bench.contest(f"steps and a sum from the disk, {data.shape}, limit {bench.options.memory}", one, tolerance=None)
    one = {"one step": data.held("outcore", "one step"), "ten steps": data.held("outcore", "ten steps")}
    bench.contest(f"steps and a sum from memory, {data.shape}", one, tolerance=None)
    ten = {who: data.held(who, "ten steps") for who in ("outcore", "numpy", "numpy_blocks")}
    bench.contest(f"ten steps and a sum from memory, {data.shape}", ten)
    peers = {PEERS[who]: data.disk(who, "ten steps") for who in bench.peers if who in ("dask", "numpy_blocks")}
    ten = {"outcore": data.disk("outcore", "ten steps")} | peers
    bench.contest(f"ten steps and a sum from the disk, {data.shape}, limit {bench.options.memory}", ten)


def persist(bench, data):
    bench.need(data.size * 1.02)
    for what in ("persist random", "persist expression"):
        entrants = {"outcore": data.disk("outcore", what)}
        title = f"{what}, {data.shape}, limit {bench.options.memory}"
        bench.contest(title, entrants, {"device": (data.device("write"), "written")})


def function(bench, data):
    import outcore

    if not hasattr(outcore.array, "apply"):
        print("\nfunction: skipped, for this build has no oc.array.apply", flush=True)
        return
    for what in ("arithmetic", "exponentials"):
        entrants = {"built-in": data.held("outcore", what), "function": data.held("outcore", f"{what}, function")}
        bench.contest(f"a function of elements, {what}, and a sum from memory, {data.shape}", entrants)


def columns(bench, data):
    """As many bytes each time: the more columns, the fewer rows."""
    elements = data.base["rows"] * data.base["columns"]
    for count in COLUMNS:
        with tempfile.TemporaryDirectory(dir=bench.options.folder) as folder:
            own = Data(bench, folder, elements // count, count)
            for who, what in (("outcore", "summary"), ("outcore", "correlation"), ("estimator", "svd")):
                entrants = {"memory": own.held(who, what), "disk": own.disk(who, what)}
                bench.contest(f"{count} columns: {what}, {own.shape}, limit {bench.options.memory}", entrants)


def clusters(bench, data):
    for count in CLUSTERS:
        for what in ("kmeans", "gmm"):
            more = {"clusters": count}
            entrants = {"memory": data.held("estimator", what, **more), "disk": data.disk("estimator", what, **more)}
            bench.contest(f"{count} clusters: {what}, {data.shape}, limit {bench.options.memory}", entrants)


def tasks(what):
    return ("estimator" if what == "gmm" else "outcore"), what


def threads(bench, data):
    counts = sorted({1, bench.options.threads})
    for what in ("summary", "correlation", "kmeans", "gmm"):
        for where in (data.held, data.disk):
            entrants = {f"{count} threads": where(*tasks(what), threads=count) for count in counts}
            place = "memory" if where == data.held else f"the disk, limit {bench.options.memory}"
            bench.contest(f"threads: {what} from {place}, {data.shape}", entrants)


def limits(bench, data):
    for what in ("summary", "kmeans"):
        entrants = {}
        for part in (1, 2, 4, 8, 16):
            limit = f"{data.size // part >> 20}MiB"
            entrants[f"1/{part} of it, {limit}"] = data.disk(*tasks(what), memory=limit)
        bench.contest(f"memory limits: {what} from the disk, {data.shape}", entrants)


def ablations(bench, data):
    data.copied("npy")
    for where in (data.disk, data.held):
        place = "memory" if where == data.held else f"the disk, limit {bench.options.memory}"
        file = {"file": data.base["npy"]}
        entrants = {
            "fused": where("outcore", "summary"),
            "a compute() per result": where("outcore", "summary apart"),
            ".npy in place": where("outcore", "summary", **file),
        }
        bench.contest(f"ablations: summary from {place}, {data.shape}", entrants)
        entrants = {
            "fused": where("outcore", "kmeans"),
            "distances by products": where("outcore", "kmeans products"),
            "distances, labels stored": where("outcore", "kmeans stored"),
            ".npy in place": where("outcore", "kmeans", **file),
        }
        bench.contest(f"ablations: k-means from {place}, {data.shape}", entrants)


def tall(bench, data):
    """Bound by products of matrices, if by anything."""
    rows, count = bench.options.tall_rows, bench.options.tall_columns
    with tempfile.TemporaryDirectory(dir=bench.options.folder) as folder:
        own = Data(bench, folder, rows, count, "float32")
        yardsticks = {name: (own.held("products", name), "operations") for name in ("float32", "float64")}
        yardsticks["device"] = (own.device("read"), "read")
        entrants = {"outcore": own.disk("outcore", "correlation", checked=True)}
        bench.contest(f"correlation, {own.shape} of float32, limit {bench.options.memory}", entrants, yardsticks)


WHAT = {
    function.__name__: function
    for function in (
        disk, memory, gmm, fused, persist, function, columns, clusters, threads, limits, ablations, tall,
    )  # fmt: skip
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--what", default=",".join(name for name in WHAT if name != "tall"))
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--memory", default="512MiB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--patience", type=int, default=900)
    parser.add_argument("--tall-rows", type=int, default=20_000_000)
    parser.add_argument("--tall-columns", type=int, default=512)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--json")
    options = parser.parse_args()
    what, peers = (list(filter(None, text.split(","))) for text in (options.what, options.peers))
    for name, known in (*((one, WHAT) for one in what), *((one, PEERS) for one in peers)):
        if name not in known:
            parser.error(f"expected some of {', '.join(known)}, found {name}")
    # Files and control groups go also when the end comes from outside.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    bench = Bench(options, peers)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        data = None
        for name in what:
            try:
                if data is None and name != "tall":
                    data = Data(bench, folder, options.rows, options.columns)
                WHAT[name](bench, data)
            except Unable as reason:
                print(f"\n{name}: skipped, {reason}", flush=True)
    return int(bench.wrong)


if __name__ == "__main__":
    sys.exit(main())
