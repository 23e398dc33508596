"""Options: what they take, and how errors call them."""

import inspect
import pathlib
import re

import numpy as np
import pytest

import outcore as oc
from outcore._declared import DECLARED
from outcore._errors import in_python

ALGORITHMS = [getattr(oc, name) for name in DECLARED]
FUNCTIONS = [*ALGORITHMS, oc.vertex_program, oc.estimate, oc.import_graph, oc.generate, oc.Graph, oc.Runtime, oc.Table.top]
# Of these the function itself says what they are.
OTHERS = {
    "input": "expected a path", "state": "expected a state", "message": "expected messages", "personalization": "expected seeds",
}  # fmt: skip


def options_of(function):
    parameters = inspect.signature(function).parameters.items()
    return [name for name, option in parameters if option.kind != option.VAR_KEYWORD and name != "self"]


OPTIONS = [(function, name) for function in FUNCTIONS for name in options_of(function)]
NAMED = pytest.mark.parametrize("function, name", OPTIONS, ids=[f"{function.__name__}-{name}" for function, name in OPTIONS])


def idle(v, state, vertex):
    pass


def given_to(function, graph):
    """What a call needs."""
    needed = {
        "graph": graph, "source": "home", "sources": ["home"], "personalization": {"home"}, "state": np.zeros(4), "run": idle,
        "function": oc.bfs, "input": [(1, 2)], "image": "web.oc", "shape": "path", "scale": 3, "output": "path.oc",
        "vertices": ["home"],
    }  # fmt: skip
    needed["self"] = None if function is not oc.Table.top else oc.components(graph)
    parameters = inspect.signature(function).parameters.items()
    return {name: needed[name] for name, option in parameters if option.default is option.empty and name in needed}


def refusal(function, graph, name, value):
    with pytest.raises((TypeError, oc.UsageError)) as caught:
        given = given_to(function, graph) | {name: value}
        function(*[given.pop("self")] if "self" in given else (), **given)
    return caught.type, str(caught.value)


@NAMED
def test_a_value_of_a_wrong_type_is_named(site, function, name):
    for wrong in (object(), 1j):
        kind, text = refusal(function, site, name, wrong)
        assert text.startswith(OTHERS.get(name, f"expected {name}= as ")) and ", found " in text, text
        assert kind is TypeError or name in OTHERS


@NAMED
def test_a_number_out_of_range_is_named(site, function, name):
    """Options that take whole numbers take none below 0, none beyond their type, and nothing that only looks like one."""
    text = refusal(function, site, name, 1j)[1]
    if "a whole number" in text:
        bits = re.search(r"0 to 2\^(32|64)-1", text)
        assert bits or (name == "threads" and "from 1 to 1024" in text)
        beyond = [1 << int(bits[1] if bits else 32), 1 << 70, -1]
    elif "bytes" in text:
        beyond = [1 << 70, -1, "much", "12 gallons"]
    elif "as a number" in text:
        beyond = [10**400]
    else:
        return
    for wrong in beyond:
        kind, text = refusal(function, site, name, wrong)
        assert kind is oc.UsageError and text.startswith(f"expected {name}= as "), text
        shown = text.rpartition(", found ")[2]
        assert shown == repr(wrong) or wrong == 10**400 and shown.startswith("1000000"), text
    # A string is the path of a table of vertices.
    texts = [] if name == "vertices" else ["0x"]
    for wrong in [True, *texts, 1.5] if "whole" in text else [True, 1.5] if "bytes" in text else [True, "0.5"]:
        kind, text = refusal(function, site, name, wrong)
        assert kind is TypeError and text.startswith(f"expected {name}= as ") and text.endswith(f"found {wrong!r}"), text


@pytest.mark.parametrize("function", [one for one in FUNCTIONS if one is not oc.Table.top], ids=lambda one: one.__name__)
def test_every_option_has_a_line_of_the_documentation(function):
    described = re.findall(r"^ +(\w+): \S", inspect.getdoc(function), re.MULTILINE)
    elsewhere = options_of(oc.import_graph) if function is oc.generate else []
    assert set(options_of(function)) <= {*described, *elsewhere}


def test_numpys_numbers_and_paths_are_taken(site, scratch):
    assert oc.bfs(site, np.str_("home"), depth_limit=np.int8(1), verify=np.True_).reached == 3
    assert oc.pagerank(site, alpha=np.float32(0.5), tol=0, max_iter=np.uint64(2)).iterations == 2
    assert oc.pagerank(site, tol=1, alpha=0).converged
    assert len(oc.multi_source_bfs(site, (vertex for vertex in ["home", "news"])).reached) == 2
    assert len(oc.multi_source_bfs(site, np.array(["home", "news"])).reached) == 2
    oc.import_graph([(1, 2)], scratch / "two.oc", memory=np.int64(1 << 30), threads=np.int32(1))
    with oc.Graph(scratch / "two.oc", cache=0, memory="1GiB") as graph:
        assert oc.multi_source_bfs(graph, np.array([1, 2]), targets=np.array([2])).distances.tolist() == [[1], [0]]


def test_what_is_in_a_list_or_a_dict_is_named(site):
    for search in (oc.multi_source_bfs, oc.all_pairs, oc.betweenness_centrality):
        with pytest.raises(TypeError, match=r"expected sources= as a list of ids( or None)?, integers or strings, found 1.5 in it"):
            search(site, sources=["home", 1.5])
        with pytest.raises(TypeError, match=r"found 7; for one id give \[7\]"):
            search(site, sources=7)
    with pytest.raises(TypeError, match="expected personalization= as a number, found 'much'"):
        oc.personalized_pagerank(site, {"home": "much"})
    with pytest.raises(TypeError, match="expected personalization= as an integer or a string, found 1.5"):
        oc.personalized_pagerank(site, {1.5})


def test_estimates_look_at_options_as_the_runs_do(site):
    with pytest.raises(TypeError, match="expected max_iter= as a whole number from 0 to 2\\^32-1, found 'many'"):
        oc.estimate(oc.pagerank, site, max_iter="many")
    with pytest.raises(TypeError, match="expected threads= as"):
        oc.estimate_import([(1, 2)], threads="all")
    with pytest.raises(oc.UsageError, match="expected k= as a whole number from 0 to 2\\^64-1 or None, found -1"):
        oc.estimate(oc.all_pairs, site, k=-1)


def test_calls_that_do_not_fit_are_told_so_by_python(site):
    for call, text in [
        (lambda: oc.bfs(site), r"bfs\(\) missing 1 required positional argument: 'source'"),
        (lambda: oc.Graph("web.oc", memry=1), r"Graph\(\) got an unexpected keyword argument 'memry'"),
        (lambda: oc.components(site).top(5, 6, 7), r"Table.top\(\) takes from 0 to 2 positional arguments but 3 were given"),
        (lambda: oc.Runtime(cpus=1), r"Runtime\(\) got an unexpected keyword argument 'cpus'"),
    ]:
        with pytest.raises(TypeError, match=text):
            call()


SOURCES = pathlib.Path(__file__).resolve().parents[2] / "crates"


def test_every_option_of_the_shell_that_the_engine_names_has_a_name_in_python():
    found = []
    for crate in ("io", "format", "image", "table", "ingest", "graph", "algo"):
        for path in sorted((SOURCES / crate / "src").rglob("*.rs")):
            lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("//")]
            found += [line for line in lines if re.search(r"--[a-z]", line)]
    assert len(found) > 50
    left = [line for line in map(in_python, found) if re.search(r"--[a-z]", line)]
    assert left == []
    names = {name for line in found for name in re.findall(r"--([a-z-]+)", line)} - {"undirected"}
    makers = (oc.import_graph, oc.import_matrix, oc.array.from_columns)
    known = {name for maker in makers for name in inspect.signature(maker).parameters}
    # The file of vertices has another name there.
    assert {name.replace("-", "_") for name in names - {"vertex-table"}} <= known


@pytest.mark.parametrize(
    "said, expected",
    [
        ("leave weights out with --weight none", "leave weights out with weight='none'"),
        ("say --source 1 and --target 2; or --header yes", "say source=1 and target=2; or header=True"),
        ("--weight length of a road: there is no such column", "weight='length of a road': there is no such column"),
        ("roads.tntp: --weight far: there is", "roads.tntp: weight='far': there is"),
        ("such as --weight 'far'.", "such as weight='far'."),
        ("such as --weight `far`.", "such as weight='far'."),
        ("--weight NAME takes one of them", "weight=NAME takes one of them"),
        ("give --replace, or --undirected, or --allow-empty", "give replace=True, or directed=False, or allow_empty=True"),
        ("say --delimiter if the columns are cut wrongly", "say delimiter= if the columns are cut wrongly"),
        ("say so: --comment '#'", "say so: comment='#'"),
        ("one value; for further conditions say --where again, or", "one value; give a list of conditions, or"),
        ("found `--sources` -- or --no-such", "found `--sources` -- or --no-such"),
    ],
)
def test_texts_in_python(said, expected):
    assert in_python(said) == expected


def test_errors_and_notes_call_options_as_python_does(scratch):
    (scratch / "edges.csv").write_text("from,to,far\na,b,1\nb,c,2\n")
    report = oc.import_graph("edges.csv", "web.oc")
    assert any("such as weight='far'." in note for note in report["notes"]), report["notes"]
    assert any("such as weight='far'." in note for note in oc.estimate_import("edges.csv").notes)
    table = pytest.importorskip("pyarrow").table({"source": [1], "target": [2], "name": ["a"], "far": [3.5]})
    assert oc.import_graph(table, "table.oc")["notes"] == [
        "Columns that are not read: name, far. They are no weights unless you say so, such as weight='far'. "
        "To keep them, say attributes=True, or name some."
    ]
    with pytest.raises(oc.ImageExistsError, match="; give replace=True or choose another name"):
        oc.import_graph("edges.csv", "web.oc")
    with pytest.raises(oc.UsageError, match="^format='docx': there is no such format"):
        oc.import_graph("edges.csv", "web.oc", format="docx")
    (scratch / "edges.txt").write_text("1 2\n3 4 5\n")
    with pytest.raises(oc.InputError) as caught:
        oc.import_graph("edges.txt", "text.oc")
    assert "delimiter=" in str(caught.value) or "source=" in str(caught.value), caught.value
    assert "--" not in str(caught.value)


def test_options_and_algorithms_have_other_names(site):
    assert oc.components is oc.connected_components and oc.betweenness is oc.betweenness_centrality
    assert oc.bfs(site, "news", cutoff=1).depth == oc.bfs(site, "news", depth_limit=1).depth == 1
    ranks = oc.personalized_pagerank(site, seeds={"news"}), oc.personalized_pagerank(site, {"news"})
    assert ranks[0].to_dict() == ranks[1].to_dict()
    with pytest.raises(TypeError, match="cutoff"):
        oc.bfs(site, "news", cutoff=1, depth_limit=2)
    assert oc.estimate(oc.components, site) == oc.estimate(oc.connected_components, site)
    assert "cutoff" not in inspect.signature(oc.bfs).parameters


def test_results_have_classes_and_attributes(site):
    found = oc.bfs(site, "home", target="news")
    assert type(found) is oc.Bfs and isinstance(found, (oc.AlgorithmResult, oc.Table)) and "reached" in dir(found)
    assert found.path is found.path == ["home", "news"] and oc.Bfs.path.__doc__.startswith("The ids of the vertices")
    assert repr(found).startswith("<outcore.Bfs of ")
    with pytest.raises(AttributeError):
        found.reached = 7
    with pytest.raises(TypeError):
        oc.Bfs()
    assert type(oc.pagerank(site)) is type(oc.personalized_pagerank(site, {"home"})) is oc.PageRank


def test_each_function_has_its_own_range_of_whole_numbers(site):
    # An algorithm has an option of this name, of 32 bits.
    for function in (oc.pagerank, oc.linalg.pagerank):
        with pytest.raises(oc.UsageError, match=r"max_iter= as a whole number from 0 to 2\^32-1, found 4294967296"):
            function(site, max_iter=2**32)
    with pytest.raises(oc.UsageError, match=r"max_iter= as a whole number from 0 to 2\^32-1"):
        oc.vertex_program(site, np.zeros(len(site)), lambda: None, max_iter=2**32)
    matrix = oc.SparseMatrix(site)
    assert oc.linalg.nmf(matrix, 1, max_iter=2**32)[0].shape == (len(site), 1)
    with pytest.raises(oc.UsageError, match=r"scale= as a whole number from 0 to 2\^32-1"):
        oc.generate("kronecker", scale=2**32, output="k.oc")
