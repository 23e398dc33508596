"""One run of one contestant of arrays.py, in a process of its own: `arrays_run.py JOB`, where JOB is JSON.

Leaves what it found in `answer.npz`, and what it cost in `said.json`, both in the job's folder. Every contestant is a
function of the job that opens or loads its data and gives what is to be timed: a function of a number of iterations,
which only the models look at.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import numpy as np

# Rows that the blockwise contestants take at a time: 16 MiB of 32 columns of float64.
BLOCK_BYTES = 16 << 20
# An iteration of a model is what a fit with so many more of them takes longer, by their number.
MORE_ITERATIONS = 4
MODELS = ("estimator", "sklearn")
SPARE_BYTES = 16 << 20
STEPS = 10
PIECE_BYTES = 1 << 20
QUEUE = 16


def drop_page_cache():
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def io():
    """Bytes that this process has read from, and written to, storage."""
    lines = dict(line.split(": ") for line in pathlib.Path("/proc/self/io").read_text().splitlines())
    return int(lines["read_bytes"]), int(lines["write_bytes"])


def peak():
    """The most memory of this process, in bytes. `getrusage` counts what came before `exec` too."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def limits_of(job):
    """Those that Outcore is given: from the disk the process's less what the process holds, for Outcore's own limit
    leaves out the interpreter and its libraries, and a little for what both need later."""
    if job["where"] != "disk":
        return {"memory": job["memory"], "threads": job["threads"]}
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    held = next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS"))
    return {"memory": max(job["bytes"] - held - SPARE_BYTES, 1), "threads": job["threads"]}


def measured(run):
    before, start = io(), time.perf_counter()
    answer = run()
    seconds = time.perf_counter() - start
    return np.array([seconds, *np.subtract(io(), before)], dtype=float), answer


def run_job(job):
    run = CONTESTANTS[job["who"]](job)
    is_model = job["who"] in MODELS and job["what"] in ("kmeans", "gmm")
    is_cold = job["where"] == "disk"
    if not is_cold:
        run(1)

    def cost(iterations):
        if is_cold:
            drop_page_cache()
        return measured(lambda: run(iterations))

    costs, answer = cost(1)
    if is_model:
        costs = (cost(1 + MORE_ITERATIONS)[0] - costs) / MORE_ITERATIONS
    folder = pathlib.Path(job["folder"])
    said = dict(zip(("seconds", "read", "written"), costs)) | {"peak": peak()}
    if isinstance(answer, dict):
        said |= answer
    else:
        np.savez(folder / "answer.npz", *map(np.asarray, answer))
    (folder / "said.json").write_text(json.dumps(said, default=float))


# What is computed.


def start(job):
    """The centres that k-means and mixtures begin with."""
    return 0.5 * np.random.default_rng(7).normal(size=(job["clusters"], job["columns"]))


def nearest_sums(x, centres):
    """The sums of rows whose nearest centres are the same, and how many these are; of arrays of NumPy's or Dask's."""
    labels = (x @ (-2.0 * centres.T) + (centres**2).sum(axis=1)).argmin(axis=1)
    nearest = labels[:, None] == np.arange(len(centres))
    return nearest.T.astype(float) @ x, nearest.sum(axis=0)


def mixture_start(job):
    clusters, columns = job["clusters"], job["columns"]
    precisions = np.broadcast_to(np.eye(columns), (clusters, columns, columns)).copy()
    return {"weights_init": np.full(clusters, 1 / clusters), "means_init": start(job), "precisions_init": precisions}


def steps(xp, x, count):
    """Element-wise steps, one after the other, each of a handful of instructions."""
    each = (
        xp.abs,
        lambda y: y + 1.0,
        xp.sqrt,
        lambda y: y * 0.5,
        lambda y: y - 0.25,
        lambda y: y * y,
        lambda y: xp.maximum(y, 0.1),
        lambda y: 1.0 / y,
        lambda y: xp.minimum(y, 5.0),
        lambda y: -y,
    )
    assert len(each) == STEPS
    for step in each[:count]:
        x = step(x)
    return x


def points(job):
    """Rows of ten normal distributions, with identity covariance, whose means are not far apart."""
    import outcore as oc

    xp, shape = oc.array, (job["rows"], job["columns"])
    means = 0.5 * np.random.default_rng(1).normal(size=(10, job["columns"]))
    which = xp.random.integers(0, 10, job["rows"], seed=2)
    return (xp.random.normal(shape, seed=1) + xp.take(xp.asarray(means), which, axis=0)).astype(job["dtype"])


# Outcore.

# The figures of a summary, in the order of all contestants.
FIGURES = ["min", "max", "mean", "std", "l1", "l2", "nonzeros"]


def outcore(job):
    import outcore as oc

    xp, limits = oc.array, limits_of(job)
    out = pathlib.Path(job.get("out") or pathlib.Path(job["folder"], "out.oc"))

    def stored(array):
        return xp.persist(out, array, replace=True, **limits)

    if job["what"] == "make":
        return lambda _: [stored(points(job)).shape]
    if job["what"] == "persist random":
        return lambda _: [stored(xp.random.normal((job["rows"], job["columns"]), seed=1)).shape]
    if job.get("checked"):
        check_correlation(xp, xp.open(job["file"], **limits)[:20_000])
    # Opened anew, so that nothing is in its cache.
    x = xp.open(job["file"], **limits)
    if job["where"] == "memory":
        x.sum().compute()
    centres = start(job)

    def summary_apart():
        real = [xp.min(x, axis=0), xp.max(x, axis=0), xp.mean(x, axis=0), xp.std(x, axis=0, correction=1)]
        real += [xp.sum(xp.abs(x), axis=0), xp.sqrt(xp.sum(x * x, axis=0)), xp.count_nonzero(x, axis=0)]
        return [one.compute() for one in real]

    def distances():
        return ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)

    def moved(labels):
        sums, counts = xp.groupby_sum(x, labels, len(centres)), xp.groupby_count(labels, len(centres))
        return xp.compute(sums / counts[:, None], counts)

    def kmeans_stored():
        labels = stored(distances()).argmin(axis=1)
        return moved(xp.persist(out.with_name("labels.oc"), labels, replace=True, **limits))

    return {
        "summary": lambda _: [getattr(found, name) for found in [xp.describe(x)] for name in FIGURES],
        "summary apart": lambda _: summary_apart(),
        "correlation": lambda _: [xp.corrcoef(x).compute()],
        "kmeans": lambda _: moved(distances().argmin(axis=1)),
        "kmeans products": lambda _: moved((x @ (-2.0 * centres.T) + (centres**2).sum(axis=1)).argmin(axis=1)),
        "kmeans stored": lambda _: kmeans_stored(),
        "one step": lambda _: [steps(xp, x, 1).sum().compute()],
        "ten steps": lambda _: [steps(xp, x, STEPS).sum().compute()],
        "persist expression": lambda _: [stored(x * 2.0 + 1.0).shape],
        "arithmetic": lambda _: [(1.0 / (1.0 + x * x)).sum().compute()],
        "arithmetic, function": lambda _: [xp.apply(reciprocal, x).sum().compute()],
        "exponentials": lambda _: [xp.exp(-(x * x)).sum().compute()],
        "exponentials, function": lambda _: [xp.apply(bell, x).sum().compute()],
    }[job["what"]]


def check_correlation(xp, some):
    """Holds that of some rows against NumPy's."""
    ours, theirs = xp.corrcoef(some).compute(), np.corrcoef(some.compute().astype(float), rowvar=False)
    assert np.abs(ours - theirs).max() < 1e-5, np.abs(ours - theirs).max()


def reciprocal(v):
    """A function that Numba compiles, once: it is the same in every run."""
    return 1.0 / (1.0 + v * v)


def bell(v):
    return np.exp(-(v * v))


def estimator(job):
    import warnings

    import outcore as oc

    warnings.simplefilter("ignore")
    # What it imports is held before limits are chosen.
    assert oc.ml
    limits = limits_of(job)
    if job["where"] == "disk":
        # An array opened anew has nothing in its cache.
        return lambda iterations: fitted(job, oc.array.open(job["file"], **limits), oc.ml, iterations)
    x = oc.array.open(job["file"], **limits)
    x.sum().compute()
    return lambda iterations: fitted(job, x, oc.ml, iterations)


def fitted(job, x, ml, iterations):
    """What a model of Outcore or of scikit-learn finds; both are called in the same way."""
    clusters, what = job["clusters"], job["what"]
    if what == "kmeans":
        model = ml.KMeans(clusters, init=start(job), n_init=1, max_iter=iterations, tol=0).fit(x)
        assert model.n_iter_ == iterations, f"k-means ended after {model.n_iter_} iterations"
        return [model.cluster_centers_]
    if what == "gmm":
        model = ml.GaussianMixture(clusters, max_iter=iterations, tol=0, random_state=0, **mixture_start(job)).fit(x)
        return model.weights_, model.means_, model.covariances_
    assert what == "svd", what
    return [ml.TruncatedSVD(min(10, job["columns"] - 1)).fit(x).singular_values_]


# Peers.


def sklearn(job):
    import warnings
    from types import SimpleNamespace

    from sklearn.cluster import KMeans
    from sklearn.covariance import EmpiricalCovariance
    from sklearn.mixture import GaussianMixture

    warnings.simplefilter("ignore")
    x, ml = np.load(job["npy"]), SimpleNamespace(KMeans=KMeans, GaussianMixture=GaussianMixture)

    def correlation(_):
        covariance = EmpiricalCovariance(store_precision=False).fit(x).covariance_
        deviations = np.sqrt(np.diagonal(covariance))
        return [covariance / deviations / deviations[:, None]]

    return correlation if job["what"] == "correlation" else lambda iterations: fitted(job, x, ml, iterations)


def numpy(job):
    """As one writes it for an array in memory."""
    x, centres = np.load(job["npy"]), start(job)

    def summary():
        norms = np.abs(x).sum(axis=0), np.sqrt((x * x).sum(axis=0))
        return x.min(axis=0), x.max(axis=0), x.mean(axis=0), x.std(axis=0, ddof=1), *norms, np.count_nonzero(x, axis=0)

    def kmeans():
        sums, counts = nearest_sums(x, centres)
        return sums / counts[:, None], counts

    return {
        "summary": lambda _: summary(),
        "correlation": lambda _: [np.corrcoef(x, rowvar=False)],
        "kmeans": lambda _: kmeans(),
        "one step": lambda _: [steps(np, x, 1).sum()],
        "ten steps": lambda _: [steps(np, x, STEPS).sum()],
    }[job["what"]]


def numpy_blocks(job):
    """As one writes it for an array that is larger than memory, or than the cache: block by block, once over all."""
    # A map is opened anew for every run, and the data are read when it is looked at.
    held = None if job["where"] == "disk" else np.load(job["npy"])
    centres = start(job)
    rows = max(1, BLOCK_BYTES // (8 * job["columns"]))

    def blocks():
        x = np.load(job["npy"], mmap_mode="r") if held is None else held
        for begin in range(0, len(x), rows):
            yield np.asarray(x[begin : begin + rows])

    def summary():
        count, total = 0, None
        for block in blocks():
            squares = block * block
            if total is None:
                # Deviations are from the first block's means, so that they do not cancel.
                shift = block.mean(axis=0)
                least, most, total = block.min(axis=0), block.max(axis=0), np.zeros((5, block.shape[1]))
            least, most = np.minimum(least, block.min(axis=0)), np.maximum(most, block.max(axis=0))
            away = block - shift
            total += [away.sum(axis=0), (away * away).sum(axis=0), np.abs(block).sum(axis=0), squares.sum(axis=0),
                      np.count_nonzero(block, axis=0)]  # fmt: skip
            count += len(block)
        deviation = np.sqrt((total[1] - total[0] ** 2 / count) / (count - 1))
        return least, most, shift + total[0] / count, deviation, total[2], np.sqrt(total[3]), total[4]

    def correlation():
        count, shift, gram, total = 0, None, 0.0, 0.0
        for block in blocks():
            shift = block.mean(axis=0) if shift is None else shift
            away = block - shift
            gram, total, count = gram + away.T @ away, total + away.sum(axis=0), count + len(block)
        covariance = gram - np.outer(total, total) / count
        deviations = np.sqrt(np.diagonal(covariance))
        return [covariance / deviations / deviations[:, None]]

    def kmeans():
        sums, counts = map(sum, zip(*(nearest_sums(block, centres) for block in blocks())))
        return sums / counts[:, None], counts

    return {
        "summary": lambda _: summary(),
        "correlation": lambda _: correlation(),
        "kmeans": lambda _: kmeans(),
        "ten steps": lambda _: [sum(steps(np, block, STEPS).sum() for block in blocks())],
    }[job["what"]]


def dask(job):
    """Dask arrays in threads. Each chunk is a part of a map of its own: `from_array` copies a map into memory."""
    import dask as library
    import dask.array as da

    library.config.set(scheduler="threads", num_workers=job["threads"])
    rows = max(1, BLOCK_BYTES // (8 * job["columns"]))
    centres, sizes = start(job), [min(rows, job["rows"] - begin) for begin in range(0, job["rows"], rows)]

    def chunk(block_info=None):
        begin, end = block_info[None]["array-location"][0]
        return np.load(job["npy"], mmap_mode="r")[begin:end]

    x = da.map_blocks(chunk, chunks=(tuple(sizes), (job["columns"],)), dtype=float, meta=np.empty((0, 0)))

    def summary():
        norms = da.abs(x).sum(axis=0), da.sqrt((x * x).sum(axis=0))
        moments = x.min(axis=0), x.max(axis=0), x.mean(axis=0), x.std(axis=0, ddof=1)
        return library.compute(*moments, *norms, (x != 0).sum(axis=0))

    def kmeans():
        sums, counts = library.compute(*nearest_sums(x, centres))
        return sums / counts[:, None], counts

    return {
        "summary": lambda _: summary(),
        "correlation": lambda _: [da.corrcoef(x, rowvar=False).compute()],
        "kmeans": lambda _: kmeans(),
        "ten steps": lambda _: [steps(da, x, STEPS).sum().compute()],
    }[job["what"]]


def names_of(job):
    return [f"c{one}" for one in range(job["columns"])]


def polars(job):
    """Polars' streaming engine over a Parquet file."""
    os.environ["POLARS_MAX_THREADS"] = str(job["threads"])
    import polars as pl

    names, centres, x = names_of(job), start(job), pl.scan_parquet(job["parquet"])

    def numbers(lazy):
        return lazy.collect(engine="streaming").to_numpy()

    def summary():
        figures = (
            lambda c: c.min(),
            lambda c: c.max(),
            lambda c: c.mean(),
            lambda c: c.std(),
            lambda c: c.abs().sum(),
            lambda c: (c * c).sum().sqrt(),
            lambda c: (c != 0).sum(),
        )
        asked = [figure(pl.col(name)).alias(f"{name}-{at}") for at, figure in enumerate(figures) for name in names]
        return numbers(x.select(asked)).reshape(len(figures), len(names))

    def correlation():
        pairs = [(a, b) for a in range(len(names)) for b in range(a)]
        asked = [pl.corr(names[a], names[b]).alias(f"{a}-{b}") for a, b in pairs]
        return [square(pairs, numbers(x.select(asked))[0], len(names))]

    def kmeans():
        away = [pl.sum_horizontal([(pl.col(name) - value) ** 2 for name, value in zip(names, c)]) for c in centres]
        wide = x.with_columns([one.alias(f"d{at}") for at, one in enumerate(away)])
        wide = wide.with_columns(pl.min_horizontal([f"d{at}" for at in range(len(centres))]).alias("least"))
        label = pl.coalesce([pl.when(pl.col(f"d{at}") == pl.col("least")).then(at) for at in range(len(centres))])
        means = [pl.col(name).mean() for name in names]
        found = numbers(wide.group_by(label.alias("label")).agg(*means, pl.len().alias("count")).sort("label"))
        return found[:, 1:-1], found[:, -1]

    runs = {"summary": summary, "correlation": correlation, "kmeans": kmeans}
    return lambda _: runs[job["what"]]()


def square(pairs, values, size):
    """A matrix with ones on its diagonal and values at pairs."""
    result = np.eye(size)
    for (a, b), value in zip(pairs, values):
        result[a, b] = result[b, a] = value
    return result


def duckdb(job):
    """DuckDB over the same Parquet file. Its own limit leaves a quarter of the process's to what it does not count."""
    import duckdb as library

    own = {"memory_limit": f"{int(job['bytes'] * 0.75)}B", "temp_directory": job["folder"]}
    connection = library.connect(config={"threads": job["threads"], **own})
    names, centres, table = names_of(job), start(job), f"read_parquet('{job['parquet']}')"

    def numbers(asked, rest=""):
        return np.array(connection.execute(f"select {', '.join(asked)} from {table} {rest}").fetchall(), dtype=float)

    def summary():
        figures = ("min({})", "max({})", "avg({})", "stddev_samp({})", "sum(abs({}))", "sqrt(sum({0} * {0}))",
                   "count(*) filter ({} <> 0)")  # fmt: skip
        return numbers([figure.format(name) for figure in figures for name in names]).reshape(len(figures), len(names))

    def correlation():
        pairs = [(a, b) for a in range(len(names)) for b in range(a)]
        return [square(pairs, numbers([f"corr({names[a]}, {names[b]})" for a, b in pairs])[0], len(names))]

    def kmeans():
        away = [" + ".join(f"({n} - {v:.17g}) * ({n} - {v:.17g})" for n, v in zip(names, c)) for c in centres]
        distances = ", ".join(f"{text} as d{at}" for at, text in enumerate(away))
        places = [f"d{at}" for at in range(len(centres))]
        least = f"least({', '.join(places)})"
        label = " ".join(["case", *(f"when {place} = {least} then {at}" for at, place in enumerate(places)), "end"])
        means = ", ".join(f"avg({name})" for name in names)
        inner = f"select {', '.join(names)}, {label} as label from (select *, {distances} from {table})"
        outer = f"select label, {means}, count(*) from ({inner}) group by label order by label"
        found = connection.execute(outer).fetchall()
        return np.array(found, dtype=float)[:, 1:-1], np.array([row[-1] for row in found])

    runs = {"summary": summary, "correlation": correlation, "kmeans": kmeans}
    return lambda _: runs[job["what"]]()


# Copies of the data for peers.


def copy(job):
    """The image as a .npy file or a Parquet file without compression, by blocks."""
    import outcore as oc

    x = oc.array.open(job["file"], **limits_of(job))
    # Row groups that DuckDB would write.
    rows = 122_880
    blocks = lambda: (x[begin : begin + rows].compute() for begin in range(0, x.shape[0], rows))

    def npy(_):
        with open(job["npy"], "wb") as file:
            head = {"descr": x.dtype.str, "fortran_order": False, "shape": x.shape}
            np.lib.format.write_array_header_1_0(file, head)
            for block in blocks():
                np.ascontiguousarray(block).tofile(file)
        return [x.shape]

    def parquet(_):
        import pyarrow
        import pyarrow.parquet

        schema = pyarrow.schema([(name, pyarrow.from_numpy_dtype(x.dtype)) for name in names_of(job)])
        plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        with pyarrow.parquet.ParquetWriter(job["parquet"], schema, **plain) as file:
            for block in blocks():
                columns = [np.ascontiguousarray(block[:, one]) for one in range(block.shape[1])]
                file.write_table(pyarrow.table(columns, schema=schema), row_group_size=rows)
        return [x.shape]

    return {"npy": npy, "parquet": parquet}[job["what"]]


# What the machine can do. An answer is a rate, in units per second.


def device(job):
    """The rate at which fio reads a file, or writes as much, sequentially past the page cache; without fio, that of a
    few threads that do the same."""
    file = job["file"]
    size = os.path.getsize(file)
    is_read = job["what"] == "read"
    target = file if is_read else str(pathlib.Path(job["folder"], "written"))
    run = fio if shutil.which("fio") else threads_at_device

    def rate(_):
        found = run(target, size, is_read)
        if not is_read:
            os.unlink(target)
        return {"rate": found}

    return rate


def fio(file, size, is_read):
    said = []
    for engine in ("io_uring", "libaio"):
        command = ["fio", "--name=rate", f"--filename={file}", f"--rw={'read' if is_read else 'write'}", "--direct=1",
                   f"--ioengine={engine}", f"--bs={'256k' if is_read else '1m'}", "--iodepth=32", f"--size={size}",
                   "--output-format=json", *(["--readonly"] if is_read else ["--end_fsync=1"])]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            text = done.stdout[done.stdout.index("{") :]
            job = json.loads(text)["jobs"][0]["read" if is_read else "write"]
            # Without the time that fio takes to begin, and with the sync at its end.
            return job["io_bytes"] / (job["runtime"] / 1000)
        said.append(done.stderr)
    raise SystemExit(f"fio: {said}")


def threads_at_device(file, size, is_read):
    import mmap

    handle = os.open(file, (os.O_RDONLY if is_read else os.O_RDWR | os.O_CREAT) | os.O_DIRECT, 0o600)
    # Whole pieces, in order.
    pieces, lock = iter(range(0, size, PIECE_BYTES)), threading.Lock()

    def work():
        buffer = mmap.mmap(-1, PIECE_BYTES)
        while True:
            with lock:
                offset = next(pieces, None)
            if offset is None:
                return
            (os.preadv if is_read else os.pwritev)(handle, [buffer], offset)

    workers = [threading.Thread(target=work) for _ in range(QUEUE)]
    begin = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if not is_read:
        os.fsync(handle)
    seconds = time.perf_counter() - begin
    os.close(handle)
    return size / seconds


def memory(job):
    """The rate at which all threads read memory: each adds up its part of an array of 1 GiB with BLAS, which is as fast
    as STREAM's loops and more than any cache. The best of five."""
    x = np.ones(1 << 27)
    parts = [np.array_split(part, 32) for part in np.array_split(x, job["threads"])]

    def read(pieces):
        for piece in pieces:
            piece.dot(piece)

    def rate(_):
        best = 0.0
        for _ in range(5):
            workers = [threading.Thread(target=read, args=(pieces,)) for pieces in parts]
            begin = time.perf_counter()
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            best = max(best, x.nbytes / (time.perf_counter() - begin))
        return {"rate": best}

    return rate


def products(job):
    """Operations per second, two for each product that is added, of products of square matrices by NumPy's BLAS."""
    a = np.random.default_rng(1).random((2048, 2048)).astype(job["what"])
    b, out = a.copy(), np.empty_like(a)

    def rate(_):
        seconds = min(measured(lambda: np.matmul(a, b, out=out))[0][0] for _ in range(3))
        return {"rate": 2 * len(a) ** 3 / seconds}

    return rate


CONTESTANTS = {
    function.__name__: function
    for function in (
        outcore, estimator, sklearn, numpy, numpy_blocks, dask, polars, duckdb, copy, device, memory, products,
    )  # fmt: skip
}

if __name__ == "__main__":
    run_job(json.loads(sys.argv[1]))
