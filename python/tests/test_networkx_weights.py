"""Weights of all kinds, and options of iterations to which there may be no answer: by priority every function answers
as NetworkX does, in value and in kind, and with `backend="outcore"` it does so too or says why it does not."""

import inspect
import math
import warnings
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from outcore.networkx._registry import FUNCTIONS


def named(name):
    return getattr(nx, name, None) or getattr(nx.community, name, None)


def weight_of(name):
    """The option of a function that names the attribute of weights."""
    options = inspect.signature(FUNCTIONS[name]).parameters
    return next((option for option in ("weight", "distance") if option in options), None)


# `distance=` of `descendants_at_distance` is a number, and `hits` reads weights that it does not name.
WEIGHTED = [name for name in sorted(FUNCTIONS) if named(name) and weight_of(name) and name != "descendants_at_distance"]
WEIGHTED.append("hits")

WEIGHTS = {
    "infinite": math.inf, "least": -math.inf, "nan": math.nan, "negative": -1, "negative real": -1.5, "zero": 0,
    "text": "5", "none": None, "bool": True, "decimal": Decimal(2), "fraction": Fraction(1, 3), "complex": 1j,
    "single": np.float32(0.1), "byte": np.int8(3), "real of numpy": np.float64(2), "whole of numpy": np.int64(2),
    "bool of numpy": np.bool_(True), "array": np.array(2.0), "70 bits": 2**70, "63 bits": 2**63, "60 bits": 2**60,
    "list": [1], "real": 0.25, "great": 1e300, "small": 1e-300,
}  # fmt: skip
GRAPHS = {
    "directed": nx.circulant_graph(7, [1, 2], create_using=nx.DiGraph),
    "undirected": nx.Graph([*nx.cycle_graph(7).edges, (0, 3), (2, 2)]),
}
NODES = {"source": 0, "target": 4, "n": 0, "sources": [1, 2], "S": [1, 2], "communities": [{0, 2, 4, 6}, {1, 3, 5}]}


def weighted(weight):
    """Graphs with such a weight of one edge, a loop if there is one, or of all."""
    for graph in GRAPHS.values():
        for is_one in (True, False):
            made = nx.create_empty_copy(graph)
            made.add_edges_from(graph.edges, weight=1 if is_one else weight)
            if is_one:
                made.edges[(2, 2) if made.has_edge(2, 2) else (0, 1)]["weight"] = weight
            yield made


def answer(call):
    """What a call returns, with the kinds of its parts, or its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return with_kinds(call())
    except Exception as error:
        return error


def with_kinds(value):
    if hasattr(value, "__next__"):
        value = list(value)
    if isinstance(value, dict):
        return {key: with_kinds(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [with_kinds(one) for one in value]
    if isinstance(value, nx.Graph):
        return [type(value), with_kinds(list(value.edges(data=True)))]
    if hasattr(value, "toarray"):
        return [type(value), with_kinds(value.toarray())]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), with_kinds(value.tolist())]
    return value


def same(one, other):
    """Whether two answers are the same but for rounding, their numbers of the same kind."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Exception):
        return str(one) == str(other)
    if isinstance(one, (float, np.floating)):
        return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-7) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def reason(error):
    """The reason of a refusal: NetworkX raises its own text from it, but for results that come one by one."""
    text = str(error.__cause__ or error)
    return "" if "backend" in text else text


def calls(name):
    """The options of some calls of a function by weights."""
    options = {} if weight_of(name) is None else {weight_of(name): "weight"}
    parameters = list(inspect.signature(FUNCTIONS[name]).parameters.values())[1:]
    options |= {one.name: NODES[one.name] for one in parameters if one.default is one.empty}
    options |= {one.name: 100 for one in parameters if one.name == "max_iter"}
    yield options
    if name.startswith("shortest_path"):
        yield from (options | more for more in ({"source": 0}, {"target": 0}, {"source": 0, "method": "bellman-ford"}))


def is_comparable(name, weight):
    """Whether NetworkX has one answer: ARPACK starts anywhere, and weights that differ so much have several vectors."""
    return name != "hits" or not isinstance(weight, (int, float)) or abs(weight) < 2**60


def without_choices(name, found):
    """An answer without what users are told that it may differ in: by Bellman-Ford the order, and the one of several
    shortest paths."""
    if "bellman" not in name or isinstance(found, Exception) or name.endswith("path_length"):
        return dict(found) if name == "all_pairs_bellman_ford_path_length" and isinstance(found, list) else found
    return found[0] if name == "single_source_bellman_ford" else len(found)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_of_all_kinds(name):
    function = named(name)
    with nx.config.backends.outcore(min_edges=0):
        for kind, weight in WEIGHTS.items():
            if not is_comparable(name, weight):
                continue
            for graph in weighted(weight):
                for options in calls(name):
                    expected = without_choices(name, answer(lambda: function(graph, **options)))
                    with nx.config.backend_priority(algos=["outcore"], generators=["outcore"]):
                        found = without_choices(name, answer(lambda: function(graph, **options)))
                    assert same(found, expected), (kind, graph.edges(data=True), options, found, expected)
                    found = without_choices(name, answer(lambda: function(graph, backend="outcore", **options)))
                    is_refused = isinstance(found, NotImplementedError) and reason(found)
                    assert is_refused or same(found, expected), (kind, options, found, expected)


ITERATED = {"pagerank": {}, "hits": {}, "eigenvector_centrality": {}, "katz_centrality": {"alpha": 0.05}}
LIMITS = [
    {"tol": 1e-20}, {"tol": 0}, {"tol": -1.0}, {"tol": math.nan}, {"tol": "small"}, {"tol": Fraction(1, 10**6)},
    {"max_iter": 0}, {"max_iter": -3}, {"max_iter": 2}, {"max_iter": 2.5}, {"max_iter": np.int64(300)},
    {"alpha": 0}, {"alpha": 1}, {"alpha": 1.5}, {"alpha": -0.1}, {"alpha": math.nan},
]  # fmt: skip


@pytest.mark.parametrize("name", ITERATED)
@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_iterations_without_an_end(name, limit):
    function = named(name)
    if "alpha" in limit and "alpha" not in inspect.signature(function).parameters:
        return
    with nx.config.backends.outcore(min_edges=0):
        for graph in (nx.karate_club_graph(), nx.DiGraph(nx.karate_club_graph()), nx.lollipop_graph(4, 2)):
            options = ITERATED[name] | limit
            expected = answer(lambda: function(graph, **options))
            with nx.config.backend_priority(algos=["outcore"]):
                found = answer(lambda: function(graph, **options))
            assert same(found, expected), (found, expected)
            found = answer(lambda: function(graph, backend="outcore", **options))
            is_refused = isinstance(found, NotImplementedError) and reason(found)
            assert is_refused or same(found, expected), (found, expected)
