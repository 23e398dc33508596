"""Runs NetworkX's own tests with the backend, and counts what of them reaches it.

usage: networkx_suite.py [--all]

Without --all, the tests that concern functions of ours.

A suite passes with fallback even where nothing is dispatched, so what counts is how many tests, and calls, end in a
function of ours. The figures of docs/networkx.md are from here.
"""

import collections
import os
import sys
import time

os.environ |= {"NETWORKX_TEST_BACKEND": "outcore", "NETWORKX_FALLBACK_TO_NX": "True"}

import networkx as nx
import pytest

FOCUSED = [
    "networkx.algorithms.link_analysis", "networkx.algorithms.centrality", "networkx.algorithms.components",
    "networkx.algorithms.shortest_paths", "networkx.algorithms.community", "networkx.algorithms.coloring",
    "networkx.algorithms.traversal", "networkx.algorithms.tests.test_core", "networkx.algorithms.tests.test_cluster",
    "networkx.algorithms.tests.test_mis", "networkx.algorithms.tests.test_distance_measures",
    "networkx.algorithms.tests.test_reciprocity", "networkx.algorithms.tests.test_link_prediction", "networkx.linalg",
    "networkx.algorithms.tests.test_dag", "networkx.algorithms.tree.tests.test_mst",
    "networkx.classes.tests.test_function",
]


class Counter:
    """Counts calls and the tests that they come from."""

    def __init__(self):
        self.calls = collections.Counter()
        self.tests = set()
        self.outcomes = collections.Counter()

    def pytest_configure(self):
        from outcore.networkx._registry import FUNCTIONS

        for name, function in FUNCTIONS.items():
            FUNCTIONS[name] = self.counted(name, function)

    def counted(self, name, function):
        def call(*args, **options):
            try:
                found = function(*args, **options)
            except NotImplementedError:
                # It is left to NetworkX.
                raise
            except Exception:
                # An error that NetworkX has as well.
                self.count(name)
                raise
            self.count(name)
            return found

        return call

    def count(self, name):
        self.calls[name] += 1
        self.tests.add(os.environ["PYTEST_CURRENT_TEST"].rsplit(" ", 1)[0])

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.skipped:
            self.outcomes["xfailed" if hasattr(report, "wasxfail") else report.outcome] += 1


def main():
    counter, start = Counter(), time.perf_counter()
    tests = ["networkx"] if sys.argv[1:] == ["--all"] else FOCUSED
    status = pytest.main(["-q", "-p", "no:cacheprovider", "--pyargs", *tests], plugins=[counter])
    seconds = time.perf_counter() - start
    print(f"\nNetworkX {nx.__version__}: {dict(counter.outcomes)} in {seconds:.0f} s")
    reached = f"{len(counter.tests)} tests reach the backend"
    print(f"{reached}, with {counter.calls.total()} calls of {len(counter.calls)} functions")
    sys.exit(status)


if __name__ == "__main__":
    main()
