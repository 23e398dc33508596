"""Signal handlers, finalizers and the end of the interpreter while the code of another extension runs: pyarrow reads a
stream of ours without the interpreter's lock, which PyO3 does not see."""

import subprocess
import sys

import pytest

import outcore as oc

HEAD = """
import faulthandler, gc, os, signal, sys, threading, time
import pyarrow as pa
import outcore as oc

faulthandler.enable()
few = oc.load_graph([(0, 1), (1, 2)], memory="64MiB")
events = []
g = oc.Graph("k.oc", memory="128MiB", progress=lambda event: events.append(look()))

def look():
    # Below a method of ours, which calls Python, which calls another extension, which calls ours without the lock.
    return pa.table(few.edges).num_rows + pa.table(oc.components(few)).num_rows
"""


def run(program):
    done = subprocess.run([sys.executable, "-c", HEAD + program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def image(scratch):
    pytest.importorskip("pyarrow")
    oc.generate("kronecker", scale=14, output="k.oc")


def test_handlers_and_finalizers_run_beside_another_extension(image):
    done = run("""
finalized, handled, is_handling = [], [], False

class Circle:
    def __init__(self):
        self.own = self
    def __del__(self):
        finalized.append(look())

def handle(*_):
    global is_handling
    if not is_handling:
        is_handling = True
        Circle()
        gc.collect()
        handled.append(look())
        is_handling = False

expected, ranks = pa.table(g.edges), oc.pagerank(g, tol=0, max_iter=30)
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
while len(handled) < 30 or len(events) < 30:
    assert pa.table(g.edges).equals(expected)
    again = oc.pagerank(g, tol=0, max_iter=30)
    assert pa.table(again).equals(pa.table(ranks))
signal.setitimer(signal.ITIMER_REAL, 0)
assert set(finalized) | set(handled) | set(events) == {5}
print(len(finalized) >= 30)
""")
    assert done.stdout == "True\n"


def test_an_error_of_a_handler_ends_the_stream_and_no_more(image):
    done = run("""
class Enough(Exception):
    pass

def handle(*_):
    raise Enough("of this")

signal.signal(signal.SIGALRM, handle)
ended = 0
while ended < 5:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        while True:
            pa.table(g.edges)
    except Enough:
        ended += 1
    except pa.ArrowInvalid as error:
        assert "Enough: of this" in str(error), error
        ended += 1
    assert look() == 5
print(pa.table(g.edges).num_rows == g.number_of_edges())
""")
    assert done.stdout == "True\n"


def test_the_interpreter_ends_beside_threads_that_read_streams(image):
    for _ in range(4):
        done = run("""
begun = threading.Semaphore(0)

def read():
    while True:
        begun.release()
        pa.table(few.edges)

for _ in range(4):
    threading.Thread(target=read, daemon=True).start()
for _ in range(200):
    begun.acquire()
print("ends")
""")
        assert done.stdout == "ends\n"
        assert not any(word in done.stderr for word in ("Fatal", "panicked", "foreign exception", "core dumped")), done.stderr
