"""Passes over arrays that are interrupted, and what they take of memory: each in a process of its own."""

import signal
import subprocess
import sys
import threading
import time

INTERRUPTED = """
import outcore as oc, outcore.ml
def slow(x):
    for i in range(1000):
        x = (x + i) * 0.999
    return x
def plus(before, behind):
    return before + behind
def slow_plus(total, x):
    for i in range(1000):
        x = (x + i) * 0.999
    return total + x
x = oc.array.random.normal((2_000_000_000, 8), 1)
deep = x
for _ in range(100):
    deep = oc.array.sin(deep)
own = oc.array.apply(slow, x)
folded = oc.array.reduce(slow_plus, x, 0, 0.0, plus)
grouped = oc.array.groupby_reduce(slow_plus, x, oc.array.arange(2_000_000_000) % 3, 3, 0.0, plus)
for work in [
    lambda: oc.array.compute(deep.sum(axis=0)),
    lambda: oc.array.persist('x.oc', deep[:20_000_000]),
    lambda: oc.ml.KMeans(n_clusters=10).fit(x),
    lambda: own.sum(axis=0).compute(memory='64MiB'),
    lambda: oc.array.persist('x.oc', own[:20_000_000]),
    lambda: folded.compute(),
    lambda: grouped.compute(),
]:
    try:
        print(input(), flush=True)
        work()
    except KeyboardInterrupt:
        print("interrupted", int(oc.array.arange(10).sum()), flush=True)
"""


def test_ctrl_c_is_heard_and_leaves_nothing(tmp_path):
    code, pipe = [sys.executable, "-c", INTERRUPTED], subprocess.PIPE
    process = subprocess.Popen(code, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=tmp_path)
    # Work that does not hear it would go on for hours.
    guard = threading.Timer(120, process.kill)
    guard.start()
    try:
        for _ in range(7):
            print("go", file=process.stdin, flush=True)
            assert process.stdout.readline() == "go\n", process.communicate()[1]
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted 45\n", process.communicate()[1]
            assert list(tmp_path.iterdir()) == []
        assert process.wait(60) == 0
    finally:
        guard.cancel()
        process.kill()
        process.communicate()


LIMITED = """
import numpy as np, outcore as oc, outcore.ml
MIB = 1 << 20
def held(name):
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(name))
def peak(work):
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    work()
    return (held("VmHWM") - start) / MIB
# Code counts once it has run.
oc.array.arange(10).sum().compute()
start = held("VmRSS")
x = oc.array.random.uniform((2_000_000, 4), 1)
print(peak(lambda: oc.array.persist("x.oc", x, memory="32MiB")))
x = oc.array.open("x.oc", memory="256MiB")
limited = lambda: np.testing.assert_array_equal(x.sum(axis=0).compute(memory="32MiB"), expected)
expected = x.sum(axis=0).compute(memory="32MiB")
print(peak(limited))
print(peak(lambda: x.sum(axis=0).compute()))
# The first computation under another limit than that of the cache shrinks it.
limited()
print(peak(limited))
print(peak(lambda: oc.array.persist("y.oc", x + 1, memory="32MiB")))
print(peak(lambda: oc.ml.StandardScaler(memory="32MiB").fit(x)))
"""


def test_the_peak_of_the_process_stays_within_the_limit_of_a_computation(tmp_path):
    code = [sys.executable, "-c", LIMITED]
    done = subprocess.run(code, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    first, before, unlimited, *limited = map(float, done.stdout.split())
    assert unlimited > 60, "the cache holds the image, of 61 MiB"
    assert max(first, before, *limited) <= 32, done.stdout
