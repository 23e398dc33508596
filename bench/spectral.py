"""Eigenvalues, singular values and factors of a sparse matrix: Outcore from the disk beside solvers that hold it in
memory, in turn; prints seconds, ratios and memory.

usage: spectral.py [--outcore PROGRAM] [--scale 22] [--what eigsh,svds,nmf,randomized,pagerank] [--k 8]
[--memory 256MiB] [--rounds 1] [--peers scipy,primme,slepc,sklearn,graph,vectors1,...] [--peers-only] [--python PROGRAM]

The matrix is that of a Kronecker graph, undirected for eigsh and directed for the rest, with ones. Each run is a
process of its own, with two threads. Outcore's time is that of the call with a cold page cache; a peer's is that of its
solver, with a matrix in CSR format and float64 values in memory. Tolerances are the same, 1e-10, and values are
compared.

- scipy: ARPACK; for randomized and nmf, a few lines of NumPy. SciPy multiplies with one thread, so each of two gets
  rows of half the entries; primme gets the same products. The peer scipy1 leaves it at one.
- primme: its own choice of methods.
- slepc: Krylov-Schur, and Lanczos bidiagonalisation, in two processes by `mpiexec`. From Debian's python3-slepc4py, so
  with the system's python3, or that of --python; PETSC_DIR and SLEPC_DIR are where these have their files.
- sklearn: randomized and nmf. Of the latter's four products per call two are for errors, which it always computes.

Products are counted by columns. The residual is the greatest |A v - w v| by the greatest |w|; of singular values, that
of both sides; of nmf, the norm of A - W H by that of A. "ratio" is to the seconds of the first line, Outcore's unless
it failed; "differs" is by how much, relatively, values differ from those found first. Memory is a process's peak (of
two, the sum), a peer's from when the matrix is loaded.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

TOLERANCE = 1e-10
RANK, OVERSAMPLES, POWERS = 10, 10, 2
FACTORS = 16
PARTS = ("indptr", "indices", "data")
PEERS = {
    "eigsh": ("scipy", "scipy1", "primme", "slepc"),
    "svds": ("scipy", "scipy1", "primme", "slepc"),
    "randomized": ("scipy", "scipy1", "sklearn"),
    "nmf": ("scipy", "scipy1", "sklearn"),
    "pagerank": ("graph", "vectors1", "vectors2", "vectors3"),
}
# The last two depend on random numbers, which need not be the same.
AGREE = {"eigsh": 1e-8, "svds": 1e-8, "pagerank": 1e-8, "randomized": 0.1, "nmf": 0.05}
# The paper's.
ITERATIONS, ALPHA = 30, 0.85


def timed(run):
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def drop_page_cache():
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def peak():
    """The most memory of this process, in bytes. `getrusage` counts what came before `exec` too."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def forget_peak():
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def save(image, outcore, folder):
    """Exports the image's edges, and saves them as a matrix in CSR format."""
    import pyarrow.parquet
    import scipy.sparse

    file = folder / "edges.parquet"
    subprocess.run([outcore, "export", image, file, "-q"], check=True)
    edges = pyarrow.parquet.read_table(file)
    file.unlink()
    rows, columns = (edges.column(name).to_numpy().astype(np.int32) for name in ("source", "target"))
    if edges.schema.metadata[b"outcore.directed"] == b"false":
        # Edges are exported once, and are entries on both sides of the diagonal.
        others = rows != columns
        rows, columns = np.concatenate((rows, columns[others])), np.concatenate((columns, rows[others]))
    del edges
    vertices = vertex_count(image, outcore)
    matrix = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(vertices, vertices))
    del rows, columns
    for part in PARTS:
        np.save(folder / f"{part}.npy", getattr(matrix, part))


def vertex_count(image, outcore):
    lines = subprocess.run([outcore, "info", image], check=True, capture_output=True, text=True).stdout.splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("vertices"))


def loaded(folder, mode=None):
    import scipy.sparse

    indptr, indices, data = (np.load(folder / f"{part}.npy", mmap_mode=mode) for part in PARTS)
    return scipy.sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1,) * 2)


def in_threads(matrix, threads):
    """The matrix as an operator: each thread multiplies rows of as many entries. It counts its products."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import LinearOperator

    cuts = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, threads + 1))
    cuts[0], cuts[-1] = 0, matrix.shape[0]
    ranges = [slice(*cut) for cut in zip(cuts, cuts[1:])]
    parts = []
    for rows in ranges:
        start, end = matrix.indptr[rows.start], matrix.indptr[rows.stop]
        # These share the matrix's memory.
        entries = matrix.data[start:end], matrix.indices[start:end], matrix.indptr[rows.start : rows.stop + 1] - start
        parts.append(csr_array(entries, shape=(rows.stop - rows.start, matrix.shape[1])))
    pool = ThreadPoolExecutor(threads)

    def prepared(factor):
        operator.products += factor.size // len(factor)
        return factor.ravel() if factor.size == len(factor) else factor

    def multiply(factor):
        columns = prepared(factor)
        product = np.empty((matrix.shape[0], *columns.shape[1:]))

        def multiply_rows(rows, part):
            product[rows] = part @ columns

        list(pool.map(multiply_rows, ranges, parts))
        return product.reshape(-1, *factor.shape[1:])

    def multiply_transpose(factor):
        columns = prepared(factor)
        products = list(pool.map(lambda rows, part: part.T @ columns[rows], ranges, parts))
        for product in products[1:]:
            products[0] += product
        return products[0].reshape(-1, *factor.shape[1:])

    both = {"matvec": multiply, "matmat": multiply, "rmatvec": multiply_transpose, "rmatmat": multiply_transpose}
    operator = LinearOperator(matrix.shape, dtype=float, **both)
    operator.products = 0
    return operator


def run_outcore(what, job, folder):
    import outcore as oc

    def eigsh(own):
        # Vectors go to a file: the limit may have no room for them.
        shape = (own.shape[0], job["k"])
        out = np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=float, shape=shape)
        return oc.linalg.eigsh(own, k=job["k"], which="LM", tol=TOLERANCE, out=out)

    def pagerank(own):
        vectors = int(job["who"][-1]) if job["who"].startswith("vectors") else None
        out = np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=float, shape=(own.shape[0],))
        return oc.linalg.pagerank(own, ALPHA, tol=0, max_iter=ITERATIONS, vectors=vectors, out=out)

    solve = {
        "eigsh": eigsh,
        "svds": lambda own: oc.linalg.svds(own, k=job["k"], tol=TOLERANCE),
        "randomized": lambda own: oc.linalg.randomized_svd(
            own, RANK, n_oversamples=OVERSAMPLES, passes=2 * POWERS + 2, random_state=0
        ),
        "nmf": lambda own: oc.linalg.nmf(own, FACTORS, max_iter=1),
        "pagerank": pagerank,
    }[what]
    # Imported before the cache is dropped.
    assert oc.linalg
    with oc.SparseMatrix(job["image"], memory=job["memory"], threads=2) as own:
        drop_page_cache()
        seconds, result = timed(lambda: solve(own))
        stats = result.stats or {}
        said = {"seconds": seconds, "peak": peak(), "entries": own.nnz}
        said |= {"products": stats.get("products"), "stats": stats}
        return said, list(result)


def run_graph(what, job, folder):
    import outcore as oc

    with oc.Graph(job["image"], memory=job["memory"], threads=2) as graph:
        drop_page_cache()
        seconds, result = timed(lambda: oc.pagerank(graph, alpha=ALPHA, tol=0, max_iter=ITERATIONS))
        said = {"seconds": seconds, "peak": peak(), "products": result.iterations, "stats": result.stats}
        ranks = result["pagerank"][np.argsort(result["vertex"])]
        return said, [ranks, np.array([result.residual])]


def run_scipy(what, job, folder):
    import scipy.linalg
    from scipy.sparse.linalg import eigsh, svds

    matrix = loaded(folder)
    operator = in_threads(matrix, 1 if job["who"] == "scipy1" else 2)
    mean = matrix.sum() / np.prod(matrix.shape, dtype=float)
    forget_peak()

    def randomized():
        basis = np.random.RandomState(0).normal(size=(matrix.shape[1], RANK + OVERSAMPLES))
        for _ in range(POWERS):
            basis = operator.rmatmat(operator.matmat(basis))
        basis = scipy.linalg.qr(operator.matmat(basis), mode="economic", check_finite=False, overwrite_a=True)[0]
        image = operator.rmatmat(basis).T
        u, s, vt = scipy.linalg.svd(image, full_matrices=False, check_finite=False, overwrite_a=True)
        return basis @ u[:, :RANK], s[:RANK], vt[:RANK]

    def nmf():
        # The random numbers and the one iteration of sklearn.
        random = np.random.RandomState(0)
        scale = np.sqrt(mean / FACTORS)
        h = np.abs(scale * random.standard_normal((FACTORS, matrix.shape[1])))
        w = np.abs(scale * random.standard_normal((matrix.shape[0], FACTORS)))
        w *= operator.matmat(h.T) / np.maximum(w @ (h @ h.T), np.finfo(np.float32).eps)
        h *= operator.rmatmat(w).T / np.maximum((w.T @ w) @ h, np.finfo(np.float32).eps)
        return w, h

    solve = {
        "eigsh": lambda: eigsh(operator, k=job["k"], which="LM", tol=TOLERANCE),
        # It squares the tolerance.
        "svds": lambda: svds(operator, k=job["k"], tol=TOLERANCE**0.5),
        "randomized": randomized,
        "nmf": nmf,
    }[what]
    seconds, result = timed(solve)
    return {"seconds": seconds, "peak": peak(), "products": operator.products}, result


def run_primme(what, job, folder):
    import primme

    operator = in_threads(loaded(folder), 2)
    forget_peak()
    solve = {"eigsh": primme.eigsh, "svds": primme.svds}[what]
    seconds, result = timed(lambda: solve(operator, job["k"], which="LM", tol=TOLERANCE))
    return {"seconds": seconds, "peak": peak(), "products": operator.products}, result


def run_sklearn(what, job, folder):
    from sklearn.decomposition import NMF
    from sklearn.utils.extmath import randomized_svd

    matrix = loaded(folder)
    forget_peak()

    def nmf():
        model = NMF(FACTORS, init="random", solver="mu", max_iter=1, tol=0, random_state=0)
        return model.fit_transform(matrix), model.components_

    solve = {
        "randomized": lambda: randomized_svd(matrix, RANK, n_oversamples=OVERSAMPLES, n_iter=POWERS, random_state=0),
        "nmf": nmf,
    }[what]
    seconds, result = timed(solve)
    products = {"randomized": (2 * POWERS + 2) * (RANK + OVERSAMPLES), "nmf": 4 * FACTORS}[what]
    return {"seconds": seconds, "peak": peak(), "products": products}, result


def run_slepc(what, job, folder):
    import slepc4py

    slepc4py.init([])
    from petsc4py import PETSc
    from slepc4py import SLEPc

    world = PETSc.COMM_WORLD
    indptr, indices, data = (np.load(folder / f"{part}.npy", mmap_mode="r") for part in PARTS)
    count, k = len(indptr) - 1, job["k"]
    # Rows of as many entries for each process.
    ends = np.searchsorted(indptr, np.linspace(0, int(indptr[-1]), world.size + 1))
    ends[0], ends[-1] = 0, count
    first, last = (int(end) for end in ends[world.rank : world.rank + 2])
    entries = slice(indptr[first], indptr[last])
    rows = ((indptr[first : last + 1] - indptr[first]), indices[entries], data[entries])
    rows = [np.array(part, kind) for part, kind in zip(rows, (PETSc.IntType, PETSc.IntType, PETSc.ScalarType))]
    local = (last - first, count)
    matrix = PETSc.Mat().createAIJ(size=(local, local), csr=rows, comm=world)
    if what == "eigsh":
        matrix.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    del indptr, indices, data, rows
    forget_peak()
    PETSc.Log.begin()
    solver = SLEPc.EPS().create(world) if what == "eigsh" else SLEPc.SVD().create(world)
    if what == "eigsh":
        solver.setOperators(matrix)
        solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
        solver.setWhichEigenpairs(SLEPc.EPS.Which.LARGEST_MAGNITUDE)
    else:
        solver.setOperator(matrix)
        solver.setType(SLEPc.SVD.Type.TRLANCZOS)
    solver.setDimensions(k)
    solver.setTolerances(TOLERANCE, 10_000)

    def solve():
        solver.solve()
        world.barrier()

    world.barrier()
    seconds, _ = timed(solve)
    said = {"seconds": seconds, "peak": peak(), "products": PETSc.Log.Event("MatMult").getPerfInfo()["count"]}
    assert solver.getConverged() >= k
    right, left = matrix.createVecs()
    if what == "eigsh":
        pairs = [(solver.getEigenpair(i, right).real, right.getArray().copy()) for i in range(k)]
        return said, [np.array([value for value, _ in pairs]), np.array([vector for _, vector in pairs]).T]
    triplets = [
        (solver.getSingularTriplet(i, left, right), left.getArray().copy(), right.getArray().copy()) for i in range(k)
    ]
    values, lefts, rights = map(np.array, zip(*triplets))
    return said, [lefts.T, values, rights]


def run_job(job):
    """One run, in a process of its own: leaves what it found in files."""
    what, folder = job["what"], pathlib.Path(job["folder"])
    kinds = {"primme": run_primme, "slepc": run_slepc, "sklearn": run_sklearn, "graph": run_graph}
    kinds |= dict.fromkeys(("outcore", "vectors1", "vectors2", "vectors3"), run_outcore)
    said, result = kinds.get(job["who"], run_scipy)(what, job, folder)
    # Open MPI says which of its processes this is.
    rank = os.environ.get("OMPI_COMM_WORLD_RANK", "0")
    for number, array in enumerate(result):
        np.save(folder / f"result-{number}-{rank}.npy", np.atleast_1d(array))
    (folder / f"said-{rank}.json").write_text(json.dumps(said, default=float))


def start(who, what, options, image, folder):
    """Has a job run; what it said, and what it found."""
    job = {"who": who, "what": what, "k": options.k, "memory": options.memory}
    job |= {"image": str(image), "folder": str(folder)}
    command = [sys.executable, __file__, "--job", json.dumps(job)]
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, "1" if who == "slepc" else "2")
    ranks = 1
    if who == "slepc":
        ranks = 2
        # The system's packages are not for other interpreters, nor the other way round.
        environment.pop("PYTHONPATH", None)
        yes = [
            "ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM", "MCA_rmaps_base_oversubscribe", "MCA_mpi_yield_when_idle",
        ]
        environment |= {f"OMPI_{name}": "1" for name in yes} | {"OMPI_MCA_hwloc_base_binding_policy": "none"}
        command[:1] = ["mpiexec", "-n", str(ranks), options.python]
    subprocess.run(command, check=True, env=environment)
    said = [json.loads((folder / f"said-{rank}.json").read_text()) for rank in range(ranks)]
    said[0]["peak"] = sum(each["peak"] for each in said)
    names = {"eigsh": ("w", "v"), "nmf": ("w", "h"), "pagerank": ("ranks", "residual")}.get(what, ("u", "s", "vt"))
    found = {}
    for number, name in enumerate(names):
        arrays = [np.load(folder / f"result-{number}-{rank}.npy") for rank in range(ranks)]
        # Vectors are in parts, values are not.
        is_values = arrays[0].ndim == 1
        found[name] = arrays[0] if is_values else np.concatenate(arrays, axis=1 if name in ("vt", "h") else 0)
    return said[0], found


def judged(what, found, matrix):
    """The values that should agree, in their order, and the greatest relative residual."""
    if what == "eigsh":
        w, v = found["w"], found["v"]
        errors = np.linalg.norm(matrix @ v - v * w, axis=0) / np.linalg.norm(v, axis=0)
        return np.sort(w), errors.max() / np.abs(w).max()
    if what == "nmf":
        w, h = found["w"], found["h"]
        assert w.min() >= 0 and h.min() >= 0
        norm = np.dot(matrix.data, matrix.data)
        square = norm - 2 * np.vdot(matrix @ h.T, w) + np.vdot(w.T @ w, h @ h.T)
        error = np.sqrt(square / norm)
        return np.array([error]), error
    if what == "pagerank":
        ranks, sums = found["ranks"], matrix.sum(axis=1)
        shares = np.divide(ranks, sums, out=np.zeros_like(ranks), where=sums > 0)
        jumped = (ALPHA * ranks[sums == 0].sum() + 1 - ALPHA) / len(ranks)
        return np.sort(ranks)[-100:], np.abs(ALPHA * (matrix.T @ shares) + jumped - ranks).sum()
    u, s, vt = found["u"], found["s"], found["vt"]
    errors = np.hypot(np.linalg.norm(matrix @ vt.T - u * s, axis=0), np.linalg.norm(matrix.T @ u - vt.T * s, axis=0))
    return np.sort(s), errors.max() / s.max()


def compare(what, options, image, folder):
    matrix = loaded(folder, "r")
    print(f"{what}: {matrix.shape[0]} x {matrix.shape[1]}, {matrix.nnz} entries", flush=True)
    print("    who       seconds (least - greatest)     ratio  products  residual   differs  MiB", flush=True)
    entrants = [*([] if options.peers_only else ["outcore"]), *options.peers]
    runs = {who: [] for who in entrants if who in (*PEERS[what], "outcore")}
    reference, lines, failed = None, {}, set()
    for _ in range(options.rounds):
        for who in runs:
            try:
                said, found = start(who, what, options, image, folder)
            except subprocess.CalledProcessError as error:
                failed.add(who)
                print(f"    {who} failed: {error.returncode}", flush=True)
                continue
            assert said.get("entries", matrix.nnz) == matrix.nnz
            values, residual = judged(what, found, matrix)
            reference = values if reference is None else reference
            differs = np.abs(values / reference - 1).max()
            assert np.allclose(values, reference, rtol=AGREE[what], atol=0), (who, values, reference)
            runs[who].append(said["seconds"])
            lines[who] = said, residual, differs
    first = next((statistics.median(seconds) for seconds in runs.values() if seconds), None)
    for who, (said, residual, differs) in lines.items():
        seconds = runs[who]
        median = statistics.median(seconds)
        spread = f"({min(seconds):.3f} - {max(seconds):.3f})"
        products = "-" if said["products"] is None else said["products"]
        cost = f"{median / first:6.2f}  {products:>8}  {residual:8.1e}  {differs:8.1e}  {said['peak'] / 2**20:.0f}"
        print(f"    {who:8}{median:9.3f} {spread:22}{cost}", flush=True)
        if "stats" in said:
            numbers = {name: value for name, value in said["stats"].items() if isinstance(value, (int, float))}
            print("        " + ", ".join(f"{name} {value:.6g}" for name, value in numbers.items()), flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--outcore", default="outcore")
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--what", default="eigsh,svds,nmf,randomized")
    parser.add_argument("--k", type=int, default=8)
    parser.add_argument("--memory", default="256MiB")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--peers", default="scipy,primme,slepc,sklearn,graph,vectors1,vectors2,vectors3")
    parser.add_argument("--peers-only", action="store_true")
    parser.add_argument("--python", default=shutil.which("python3", path=os.defpath))
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        return run_job(json.loads(options.job))
    options.peers, tasks = (list(filter(None, text.split(","))) for text in (options.peers, options.what))
    failed = set()
    # Tasks of the same matrix one after the other.
    for directed in (False, True):
        same = [what for what in tasks if (what != "eigsh") == directed]
        if not same:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            image = folder / "k.oc"
            extra = [] if directed else ["--undirected"]
            scale = str(options.scale)
            command = [options.outcore, "generate", "kronecker", image, "--scale", scale, "-q", *extra]
            subprocess.run(command, check=True)
            save(image, options.outcore, folder)
            for what in same:
                failed |= compare(what, options, image, folder)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
