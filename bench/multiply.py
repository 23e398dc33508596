"""Compares products of a sparse matrix with dense ones, Outcore from the disk with SciPy and MKL in memory, in turn.

usage: multiply.py [--outcore PROGRAM] [--scale 22] [--columns 1,8] [--memory SIZE] [--rounds 5] [--values]

The matrix is that of a directed Kronecker graph, with ones or with whole weights from 1 to 255. Two threads. Outcore's
time is that of `A @ X` with a cold page cache, the order of rows and the product included; SciPy's and MKL's are those
of the product of a matrix in CSR format in memory (MKL through the package sparse_dot_mkl, which finds its libraries by
LD_LIBRARY_PATH; both are given float64 values, which they need). "again" is the same product with pages in the cache,
"into" one into an array that exists, as in the iterations of a solver: no memory is fresh. Products are compared.
Printed are medians, the least and the greatest, and ratios to the first; of MKL's "into" the ratio to Outcore's.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

os.environ["MKL_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "2"

import numpy as np
import pyarrow.parquet
import scipy.sparse
import sparse_dot_mkl

import outcore as oc


def loaded(file, vertices):
    """The exported edges as a matrix in memory."""
    edges = pyarrow.parquet.read_table(file)
    rows, columns = (edges.column(name).to_numpy().astype(np.int32) for name in ("source", "target"))
    values = edges.column("weight").to_numpy().astype(float) if "weight" in edges.column_names else np.ones(len(rows))
    del edges
    # Edges come by their sources in the image's order: SciPy sorts them.
    return scipy.sparse.csr_array((values, (rows, columns)), shape=(vertices, vertices))


def timed(run):
    start = time.perf_counter()
    product = run()
    return time.perf_counter() - start, product


def drop_page_cache():
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--outcore", default="outcore")
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--columns", default="1,8")
    parser.add_argument("--memory", default="2GiB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--values", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        image, file = pathlib.Path(name, "k.oc"), pathlib.Path(name, "k.parquet")
        weights = ["--weights", "uniform"] if options.values else []
        kind = ["--scale", str(options.scale), "-q", *weights]
        subprocess.run([options.outcore, "generate", "kronecker", image, *kind], check=True)
        subprocess.run([options.outcore, "export", image, file, "-q"], check=True)
        vertices = len(oc.Graph(image))
        matrix = loaded(file, vertices)
        file.unlink()
        print(f"{matrix.nnz} entries, {sum(f.stat().st_size for f in image.rglob('*')) / matrix.nnz:.2f} bytes each")
        random = np.random.default_rng(1)
        for columns in map(int, options.columns.split(",")):
            factor = random.random((vertices, columns)) if columns > 1 else random.random(vertices)
            times = {}
            for _ in range(options.rounds):
                with oc.SparseMatrix(image, memory=options.memory, threads=2) as own:
                    drop_page_cache()
                    seconds, product = timed(lambda: own @ factor)
                    times.setdefault("outcore", []).append(seconds)
                    read = own.stats
                    times.setdefault("again", []).append(timed(lambda: own @ factor)[0])
                    out = np.ones(factor.shape)
                    times.setdefault("into", []).append(timed(lambda: own.multiply(factor, out=out))[0])
                    assert np.array_equal(product, out)
                seconds, other = timed(lambda: matrix @ factor)
                assert np.allclose(product, other, rtol=1e-10)
                times.setdefault("scipy", []).append(seconds)
                seconds, other = timed(lambda: sparse_dot_mkl.dot_product_mkl(matrix, factor))
                assert np.allclose(product, other, rtol=1e-10)
                times.setdefault("mkl", []).append(seconds)
                del other
                seconds, _ = timed(lambda: sparse_dot_mkl.dot_product_mkl(matrix, factor, out=out, out_scalar=0.0))
                assert np.allclose(product, out, rtol=1e-10)
                times.setdefault("mkl into", []).append(seconds)
            waited = f"{read['seconds_io_wait']:.2f} s waited"
            print(f"{columns} columns: {read['passes']:.2f} passes, {read['bytes_read']} bytes, {waited}")
            for who, seconds in times.items():
                median = statistics.median(seconds)
                ratio = median / statistics.median(times["into" if who == "mkl into" else "outcore"])
                print(f"    {who:9}{median:9.3f} ({min(seconds):.3f} - {max(seconds):.3f})   {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
