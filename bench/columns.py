"""What disk and memory cost products of a sparse matrix with a dense one, as in figures 4.4 and 4.8 of Zheng's thesis
(*FlashX*, 2016).

usage: columns.py [--outcore PROGRAM] [--scale 24] [--shapes kronecker,uniform,grid] [--columns 1,2,4,8,16,32]
[--streamed-scale 22] [--limits 160MiB,...] [--rounds 5]

First, for each shape of graph and number of columns, the matrix in memory beside the matrix on disk: the same product
into the same array by a matrix whose pages are all in its cache, and by one that has a small cache and reads them all,
behind a dropped page cache. Both have multiplied once before. Then 32 columns, with a factor and a product in files,
under limits that have room for ever fewer columns, beside 32 columns in memory. Two threads; medians (least and
greatest).
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

import outcore as oc


def drop_page_cache():
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def seconds_of(run, rounds):
    seconds = []
    for _ in range(rounds):
        drop_page_cache()
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return seconds


def said(seconds):
    return f"{statistics.median(seconds):8.3f} ({min(seconds):.3f} - {max(seconds):.3f})"


def generate(options, folder, shape, scale):
    image = folder / f"{shape}.oc"
    subprocess.run([options.outcore, "generate", shape, image, "-q", "--scale", str(scale)], check=True)
    return image


def beside_memory(options, folder, shape):
    image = generate(options, folder, shape, options.scale)
    print(f"{shape}: in memory, from disk, how many times the speed in memory", flush=True)
    for columns in map(int, options.columns.split(",")):
        with (
            oc.SparseMatrix(image, memory="14GiB", threads=2) as held,
            oc.SparseMatrix(image, memory="6GiB", cache="1MiB", threads=2) as read,
        ):
            random = np.random.default_rng(1)
            factor, product = random.random((held.shape[1], columns)), np.empty((held.shape[0], columns))
            for matrix in (held, read):
                matrix.multiply(factor, out=product)
            memory = seconds_of(lambda: held.multiply(factor, out=product), options.rounds)
            assert held.stats["bytes_read"] == 0
            disk = seconds_of(lambda: read.multiply(factor, out=product), options.rounds)
            assert read.stats["passes"] > 0.9
            share = statistics.median(memory) / statistics.median(disk)
            size = f"{read.stats['bytes_read'] >> 20} MiB, {read.stats['seconds_io_wait']:.3f} s waited"
            print(f"    {columns:3}{said(memory)}{said(disk)}   {share:.2f}   {size}", flush=True)


def streamed(options, folder):
    image = generate(options, folder, "kronecker", options.streamed_scale)
    with oc.SparseMatrix(image, memory="12GiB", threads=2) as held:
        random = np.random.default_rng(1)
        factor, product = random.random((held.shape[1], 32)), np.empty((held.shape[0], 32))
        held.multiply(factor, out=product)
        memory = seconds_of(lambda: held.multiply(factor, out=product), options.rounds)
    print(f"32 columns in memory{said(memory)}", flush=True)
    np.save(folder / "factor.npy", factor)
    for limit in options.limits.split(","):
        with oc.SparseMatrix(image, memory=limit, threads=2) as own:
            run = lambda: own.multiply(folder / "factor.npy", out=folder / "product.npy")
            seconds = seconds_of(run, options.rounds)
            assert np.array_equal(np.load(folder / "product.npy", mmap_mode="r"), product)
            share = statistics.median(memory) / statistics.median(seconds)
            stats = own.stats
            read = f"{stats['passes']:6.2f} passes, {stats['bytes_read'] >> 20} MiB read"
            print(f"    {limit:8}{said(seconds)}   {share:.2f}   {read}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--outcore", default="outcore")
    parser.add_argument("--scale", type=int, default=24)
    parser.add_argument("--shapes", default="kronecker,uniform,grid")
    parser.add_argument("--columns", default="1,2,4,8,16,32")
    parser.add_argument("--streamed-scale", type=int, default=22)
    parser.add_argument("--limits", default="160MiB,256MiB,384MiB,640MiB,1152MiB,2304MiB")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for shape in filter(None, options.shapes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            beside_memory(options, pathlib.Path(folder), shape)
    if options.limits:
        with tempfile.TemporaryDirectory() as folder:
            streamed(options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
