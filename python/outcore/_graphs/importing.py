"""Imports of graphs: options, their defaults and their documentation. The extension module does the work."""

import datetime
import inspect
import os
import reprlib
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from outcore import _outcore
from outcore._errors import LOGGER, in_python
from outcore._graphs import previews
from outcore._graphs.report import ImportReport, options_of
from outcore._inputs import tables
from outcore._inputs.tables import Request, Several, Tables
from outcore._inputs.vertices import vertex_ids
from outcore._options import LIMITS, Progress, checked, checked_options, ids_of, limits, split_limits
from outcore._outcore import Graph, Runtime

# A condition on edges: text such as "amount >= 100", or a column, a comparison and a value or a list of values.
Where = str | tuple[str, str, Any]


@checked
def import_graph(
    input: Any,
    image: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    format: str | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    attributes: bool | str | list[str | int] = False,
    where: Where | list[Where] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    ids: Literal["auto", "integer", "int32", "int64", "uint32", "uint64", "string"] = "auto",
    nulls: Literal["error", "skip"] = "error",
    bipartite: bool | tuple[str, str] = False,
    vertices: Any = None,
    duplicates: Literal["first", "last", "sum", "min", "max", "keep", "error"] | None = None,
    self_loops: Literal["keep", "drop"] = "keep",
    order: Literal["auto", "input", "degree", "near"] = "auto",
    replace: bool = False,
    allow_empty: bool = False,
    require_edges: int = 0,
    refuse_empty_files: bool = False,
    allow_repeated: bool = False,
    runtime: Runtime | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    backend: Literal["auto", "uring", "posix"] = "auto",
    temporary: str | os.PathLike[str] | None = None,
    progress: Progress = False,
) -> ImportReport:
    """Imports a graph of any size as an image, a directory that appears only when it is complete.

    Args:
        input: One of

            - a path or a list of paths: text edge lists (.txt, .csv, .tsv, .el, .wel), Matrix Market, METIS, DIMACS,
              ASCIIGraph, Graphalytics, Graph500 tuples, Parquet, Arrow, JSON lines, GraphML, GEXF, GML, Pajek, DOT,
              SIF, compressed (gzip, zstd, bzip2, xz, zip) or not; a folder, or a pattern such as
              "payments/*.parquet", stands for its files; vertices without edges may stand in a file FILE.vertices
              beside a list of edges, one id a line, where `export` puts them; the paths of images, too;
            - a list of paths, graphs and frames, whose edges are added up: `["yesterday.oc", frame]`. Options for
              columns are for the files and frames, of which all have the same columns;
            - an object with `__arrow_c_stream__` (polars, pyarrow, DuckDB), or a pandas frame: columns whose names mean
              it, such as `source` and `target`, `src` and `dst`, `from_id` and `to_id`, or just two columns, and
              perhaps `weight`; others are named by the options, and never guessed;
            - a polars LazyFrame, or a dataset or scanner of pyarrow, read batch by batch; a list or generator of frames
              with the same columns;
            - a list or generator of edges as tuples or lists, `(source, target)` or `(source, target, weight)`;
            - a tuple of NumPy arrays `(source, target)` or `(source, target, weight)`, of one length; an array of shape
              (edges, 2), or (edges, 3) with weights;
            - a square SciPy sparse matrix or array: entry (i, j) is an edge from i to j, its value the weight (none if
              it is bool); entries at one place add up, unless `duplicates` says otherwise;
            - a NetworkX graph: isolated nodes stay, the class says whether edges have a direction (with `directed=True`
              an edge without one becomes two), parallel edges of a multigraph are kept. Nodes must be integers or
              strings;
            - an igraph graph: vertices are called by their attribute `name`, or by their numbers.

        image: Where the image goes. If there is an image of that name, see `replace`; anything else of that name is an
            error.
        directed: Whether edges have a direction; by default what the input says, and a direction where it says nothing.
        format: The format of files, where names and content do not tell (`outcore import --help` lists them).
        source: The column of a file or table that holds the sources of edges: its name, or its number from 1.
        target: The column that holds the targets.
        weight: The column (or edge attribute) that holds the weights; "none" leaves them out. By default the one that
            the format has, or a column `weight`.
        attributes: Which other columns are kept as attributes of the edges, under their names: all that have names
            (`True`, or "all" as in the shell), those of a list of names and numbers, in its order, or one. They are
            numbers, strings, booleans, dates or times, and may be missing; `g.edges(data=True)` has them, `export`
            writes them, and algorithms count by those that are numbers (`weight="minutes"`). Where edges with the same
            ends become one, it has the attributes of the first. Of a graph of NetworkX `True` keeps those of nodes,
            too.
        where: Which edges are read: those that meet a condition, text such as "amount >= 100", "type in friend,family"
            or "since != null" (not missing), or a tuple such as `("type", "in", ["friend", "family"])`; those that
            meet all of a list. The comparisons are `=`, `!=`, `<`, `<=`, `>`, `>=`, `in` and `not in`, of an attribute,
            the weights or an end by their name, whether or not it is kept; a missing value meets `= null` only.
            Vertices that only other edges name are left out, unless the input lists its vertices, as a graph does. Of
            images and graphs also "vertex.NAME" and "vertex" (the id), which vertices must meet to stay, and
            "source.NAME" and "target.NAME" for the ends of edges.
        delimiter: What separates the columns of a text file: "tab", "comma", "semicolon", "bar", "blanks", or a
            character; by default detected from the first lines.
        header: Whether the first line of a text file names the columns; by default detected from the first lines.
        comment: What comments in a text file begin with, or "none"; by default "#" and "%", but nothing in CSV.
        ids: Whether ids are integers or strings; by default integers if they all are. Integers come back as the type of
            the input, or as the one that is named here.
        nulls: What is done with rows whose source or target has no value: the first is an error, or they are left out
            and counted in a note.
        bipartite: Whether sources are one side of the graph and targets the other, such as users and items, and 1 of
            one side is not 1 of the other: ids become strings that begin with "left:" and "right:", or with two other
            prefixes, `("user:", "item:")`. The side is an attribute `bipartite` of the vertices, 0 or 1, as NetworkX
            has it. A SciPy matrix need not be square then.
        vertices: Further vertices, such as isolated ones: a number `n` for the integers below it, a list or array of
            ids, or a table (a frame, an Arrow stream, the path of a file) with ids in its first column. Its other
            columns are kept as attributes of the vertices: `g.nodes(data=True)` has them.
        duplicates: Which of several edges with the same ends stays: the first or the last, one with the sum, least or
            greatest weight, all of them ("keep"), or none and the import fails ("error"). By default the first; of
            entries at one place of a SciPy matrix the sum, as SciPy reads them; of NetworkX's multigraphs all.
        self_loops: Whether edges from a vertex to itself stay ("keep") or not ("drop").
        order: How vertices are numbered inside: as ids sort ("input"), by degree ("degree"), or such that neighbours
            have near numbers ("near", for roads, grids and meshes, with 24 bytes of memory per vertex); by default by
            measured size.
        replace: Whether an image of that name is replaced; otherwise it is an error. Whoever has it open keeps reading
            the old one. A directory that holds other files too is not replaced.
        allow_empty: Whether an input without edges may replace an image or come from a pipe, and `where` may leave
            none.
        require_edges: How many edges the input must have, before duplicates are removed; with fewer the import fails,
            and an image that is there stays.
        refuse_empty_files: Whether the import fails if one of several files has no edge; otherwise a note names it.
        allow_repeated: Whether a file or an image may be given twice, also by a folder and by its name; its edges count
            twice then.
        runtime: The memory and workers to use; by default those of the process, which graphs and results share.
        memory: A limit for this import alone, in bytes or as text such as "1GiB".
        threads: The number of workers; by default those of the runtime.
        backend: How files are read and written.
        temporary: Where temporary files go; by default beside the image.
        progress: Whether to show a bar on the standard error output, as tqdm draws it; or a function that is called
            with events: dicts of `event` ("start", "advance" or "finish"), `name`, `unit`, `done`, `total` and
            `seconds`.

    Returns:
        What the import did, as a dict: `vertices`, `edges`, `directed` and what decided it (`direction_from`),
        `weights` (their name), `attributes` and `vertex_attributes` (names and kinds), `order`, `ids` (their type, such
        as "int64" or "string"), `edges_read`, `duplicates`, `self_loops` (of the input), `self_loops_stored`,
        `isolated_vertices`;
        `source` and `target`, the columns that were taken; `compression`, and of a list of edges in text `separator`,
        `header`, `comments` (how many) and `first_comment`; `first_edges` as they were understood; `files` that were
        read, `file_edges` of each, and `files_left_out` of their folders; `files_without_edges` (how many) and
        `first_files_without_edges`, `columns_not_read`, `rows_left_out` (without an end) and `edges_left_out` (by
        `where`); `notes` on how the input was read; and `stats`: seconds, memory, and disk space (`peak_disk_bytes`,
        the most at a time, and of it `peak_temporary_bytes` and `image_bytes`; `temporary_bytes` is what was written).
        Its method `report(path)` makes a page of all that.

    Cost: memory stays under the limit, ids included; temporary files take about 20 bytes per edge, 60 with weights.
        Attributes take 8 bytes more per edge and column, and one pass for each; the different strings of all columns
        are in memory, and those of a column have 2 GiB at most.

    Raises:
        InputError: An input that does not hold what its format says; with file and line.
        UsageError: Options that do not fit, edges or ids that are not all of one kind, an image that is not to be
            replaced, or something in the way that is no image.
        MemoryLimitError: Less under the limit than the import needs: about 24 MiB for text; `estimate_import` tells.
        OSError: A file that cannot be read or written, a full disk. No image is made, and an older one stays.

    >>> source = np.array(["home", "home", "news", "about", "about"])
    >>> target = np.array(["news", "about", "home", "home", "about"])
    >>> report = oc.import_graph((source, target), "web.oc", vertices=["lone"], replace=True)
    >>> report["vertices"], report["edges"], report["self_loops"], report["isolated_vertices"]
    (4, 5, 1, 1)
    """
    arguments = dict(locals())
    options = options_of(import_graph, {name: arguments[name] for name in arguments if name not in ("input", "image")})
    return ImportReport(run_import(arguments, explain=False), input, image, options)


def load_graph(input: Any, **options: Any) -> Graph:
    """Imports a graph into memory, and opens it: for graphs that are small, or needed once. There are no files.

    Args:
        input: What `import_graph` takes.
        options: Those of `import_graph`, but `replace` and `allow_empty`.

    Returns:
        The graph, as any other; its image lies in memory, counts in the limit, and is given back with the graph and its
        results. `g.info()` says how the input was read; its notes are warnings here.

    Cost: what the image takes, a few bytes per edge, and what `import_graph` takes meanwhile.

    Raises:
        MemoryLimitError: No room for the image.
        InputError: An input that does not hold what its format says.
        UsageError: Options that do not fit, or edges or ids that are not all of one kind.

    >>> g = oc.load_graph([("home", "news"), ("news", "home"), ("home", "about")])
    >>> g
    <outcore.Graph in memory: 3 vertices, 3 directed edges>
    """
    for name in ("replace", "allow_empty"):
        if name in options:
            raise TypeError(f"load_graph() got an unexpected keyword argument '{name}': there is no image to replace")
    arguments = checked_options(import_graph, import_arguments("load_graph", input, "", options))
    report = run_import(arguments | {"image": None, "allow_empty": True}, explain=False)
    for note in _news(report["notes"]):
        warnings.warn(note, stacklevel=2)
    graph: Graph = report["graph"]
    return graph


def part(
    graph: Graph,
    vertices: Any,
    turned: bool,
    directed: bool | None,
    image: str | os.PathLike[str] | None,
    options: dict[str, Any] | None,
    numbers: np.ndarray | None = None,
    excluded: bool = False,
) -> Graph:
    """The methods of `Graph` that make another graph of it, with these vertices or without them (`excluded`); in place
    of vertices by their numbers in its image."""
    given = options or {}
    for_files = ("format", "source", "target", "delimiter", "header", "comment", "vertices", "directed", "ids", "nulls")
    for name in (*for_files, "bipartite"):
        if name in given:
            raise TypeError(f"expected options of an import that are not for files, found {name}=")
    ids = _chosen(vertices) if numbers is None and vertices is not None else numbers
    method = "without" if excluded else "subgraph" if ids is not None else "reverse" if turned else "to_undirected"
    if ids is None and not turned and directed is None:
        method = "filter"
    bound = import_arguments(method, graph, image or "", given | {"directed": directed})
    arguments = checked_options(import_graph, bound)
    given_limits, arguments = split_limits(arguments)
    settings = {name: value for name, value in arguments.items() if name not in ("input", "image", "vertices")}
    settings |= {"limits": given_limits, "explain": False, "is_matrix": False}
    settings["attributes"] = _attributes(arguments["attributes"])
    settings |= {"conditions": _conditions(settings.pop("where"))}
    settings |= {"rows": None, "shape": None, "allow_empty": True, "bipartite": None}
    report = _outcore.import_part(graph, ids, turned, excluded, None if image is None else os.fspath(image), settings)
    for note in _news(_in_python(report)["notes"]):
        warnings.warn(note, stacklevel=2)
    if image is None:
        made: Graph = report["graph"]
        return made
    return Graph(image, **{name: given[name] for name in LIMITS if name in given and name != "temporary"})


class ImportEstimate(NamedTuple):
    """The memory and disk space that an import will need."""

    format: str
    """The format that the input was taken for."""
    edges: int | None
    """The number of edges of the input, known or guessed by its size; `None` if there is nothing to go by."""
    temporary_bytes: int
    """Most space for temporary files at a time, about."""
    image_bytes: int
    """Space for the image, about."""
    peak_disk_bytes: int
    """Most space for temporary files and the image together at a time, about: less than both, for temporary files go
    while the image grows. An image that is replaced is not in it."""
    memory_bytes: int
    """A memory limit that works, what else the runtime holds included."""
    notes: list[str]
    """Notes on how the input is read, in whole sentences."""

    def _repr_html_(self) -> str:
        sizes = (self.temporary_bytes, self.image_bytes, self.peak_disk_bytes, self.memory_bytes)
        texts = [_outcore.bytes_text(size) for size in sizes]
        facts = {"format": self.format, "edges": "unknown" if self.edges is None else f"about {self.edges}"}
        facts |= dict(zip(("temporary space", "image", "both at a time", "memory"), texts, strict=True))
        return previews.facts("outcore.ImportEstimate", facts, self.notes)

    def __repr__(self) -> str:
        sizes = (self.temporary_bytes, self.image_bytes, self.peak_disk_bytes, self.memory_bytes)
        temporary, image, both, memory = map(_outcore.bytes_text, sizes)
        edges = "unknown edges" if self.edges is None else f"about {self.edges} edges"
        return (
            f"<outcore.ImportEstimate: {self.format}, {edges}; {temporary} of temporary space, {image} for the image, "
            f"{both} for both at a time, {memory} of memory or more>"
        )


def estimate_import(input: Any, **options: Any) -> ImportEstimate:
    """The memory and disk space that an import will need, before it starts. Only samples of the input are read.

    Args:
        input: What `import_graph` takes. Of what can be read only once, such as an Arrow stream, the beginning is gone
            afterwards.
        options: Those of `import_graph`.

    Raises:
        TypeError: An option that `import_graph` does not have, or a value of a wrong type.
        InputError: An input that does not hold what its format says.

    >>> needs = oc.estimate_import([("home", "news"), ("home", "about")])
    >>> needs.edges, needs.image_bytes < needs.temporary_bytes
    (None, True)
    """
    arguments = checked_options(import_graph, import_arguments("estimate_import", input, "", options))
    return ImportEstimate(**run_import(arguments, explain=True))


def import_arguments(name: str, input: Any, image: str | os.PathLike[str], options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `import_graph`, with its defaults where the options of another function say nothing."""
    try:
        bound = inspect.signature(import_graph).bind(input, image, **options)
    except TypeError as error:
        raise TypeError(f"{name}() {error}") from None
    bound.apply_defaults()
    return bound.arguments


def run_import(
    arguments: dict[str, Any], explain: bool, is_matrix: bool = False, shape: tuple[int, int] | None = None
) -> dict[str, Any]:
    """Imports with the arguments of `import_graph`, or says what that will need. A matrix may be rectangular; `shape`
    is for one whose entries are rows of a table."""
    given, image, vertices = (arguments.pop(name) for name in ("input", "image", "vertices"))
    directed, weight, duplicates = arguments["directed"], arguments["weight"], arguments["duplicates"]
    more, kind = vertex_ids(vertices), type(given).__name__
    sides = arguments["bipartite"]
    sides = (_outcore.SIDES if sides else None) if isinstance(sides, bool) else sides
    are_all, names = _attributes(arguments["attributes"])
    skips_nulls = arguments["nulls"] == "skip"
    request = Request(weight, directed, is_matrix, names or are_all, sides, bool(arguments["where"]), skips_nulls)
    given = tables(given, request)
    given_limits, arguments = split_limits(arguments)
    settings = arguments | {"limits": given_limits, "explain": explain, "bipartite": sides}
    settings["attributes"] = (are_all, names)
    settings["conditions"] = _conditions(settings.pop("where"))
    settings |= {"is_matrix": is_matrix, "rows": given.rows if isinstance(given, Tables) else None, "shape": shape}
    for name in ("source", "target", "weight"):
        settings[name] = None if settings[name] is None else str(settings[name])
    if isinstance(given, Several):
        return _in_python(_outcore.import_several(given.inputs, image, more, settings))
    if not isinstance(given, Tables):
        return _in_python(_outcore.import_files(given, image, more, settings))
    if settings["format"] is not None:
        raise TypeError(f"expected a format only with files, found format={settings['format']!r} with a {kind}")
    if given.vertices is not None:
        if shape is not None:
            raise TypeError(f"expected a shape only with lists and tables of entries, found one with a {kind}")
        if vertices is not None:
            raise TypeError(f"a {kind} has its vertices already; add others there")
        more = given.vertices
    if given.fixed:
        if settings["source"] is not None or settings["target"] is not None:
            raise TypeError(f"expected source and target only with files and tables, found them with {given.name}")
        settings["source"], settings["target"] = "1", "2"
    settings["weight"] = given.weights
    if directed is None:
        settings["directed"] = given.directed
    if duplicates is None:
        settings["duplicates"] = given.duplicates
    report = _outcore.import_tables(given.edges, given.name, image, more, settings)
    if given.note is not None:
        report["notes"].append(given.note)
    return _in_python(report)


def _chosen(vertices: Any) -> Any:
    """Ids as a list, or a table as it is."""
    if isinstance(vertices, _outcore.Table):
        return vertices
    return ids_of(vertices)


# How the notes on what conditions left out begin, in Python's words: they stand in the report, and are no warnings.
_LEFT_OUT_BY_WHERE = tuple(
    f"{noun} do not meet where=" for noun in ("Edges that", "Vertices that", "Files in folders that")
)


def _news(notes: list[str]) -> list[str]:
    """The notes of `_in_python` but those on what `where=` left out, as it is meant to."""
    return [note for note in notes if not note.startswith(_LEFT_OUT_BY_WHERE)]


def _attributes(given: bool | str | list[str | int]) -> tuple[bool, list[str]]:
    """Whether all are kept, or the names and numbers of those that are."""
    if isinstance(given, bool):
        return given, []
    names = [str(name) for name in ([given] if isinstance(given, str) else given)]
    # The word that the shell has for all.
    return (True, []) if names == ["all"] else (False, names)


def _conditions(where: Any) -> list[tuple[str, str, list[tuple[str | None, bool]]]]:
    """Conditions as column, comparison and values, each with whether it is a string; or as text."""
    if where is None:
        return []
    conditions: list[tuple[str, str, list[tuple[str | None, bool]]]] = []
    for one in where if isinstance(where, list) else [where]:
        if isinstance(one, str):
            conditions.append((one, "", []))
            continue
        if not (isinstance(one, tuple) and len(one) == 3 and isinstance(one[0], str) and isinstance(one[1], str)):
            raise TypeError(
                f"expected where= as text such as 'amount >= 100', a tuple such as ('amount', '>=', 100), or a list of "
                f"these, found {reprlib.repr(one)}"
            )
        column, comparison, value = one
        is_list = isinstance(value, Iterable) and not isinstance(value, str) and getattr(value, "ndim", 1) > 0
        takes_list = comparison in ("in", "not in")
        if isinstance(value, bytes | Mapping) or is_list != takes_list:
            expected = "a list of values" if takes_list else "one value"
            raise TypeError(f"expected {expected} behind {comparison!r} in where=, found {reprlib.repr(value)}")
        values = list(value) if takes_list else [value]
        pairs = [(None if item is None else _text(item), isinstance(item, str)) for item in values]
        conditions.append((column, comparison, pairs))
    return conditions


def _text(value: Any) -> str:
    """A value of a condition as text."""
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep="T")
    if isinstance(value, datetime.date):
        return value.isoformat()
    # repr() shows values of NumPy and pandas with their types.
    if hasattr(value, "tolist") and getattr(value, "ndim", None) == 0:
        if value.dtype.kind != "M":
            return _text(value.tolist())
        unit = np.datetime_data(value.dtype)[0]
        whole: Any = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}.get(unit, unit)
        return str(np.datetime_as_string(value, unit=whole))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | str):
        return str(value)
    return repr(float(value)) if hasattr(value, "__float__") and not hasattr(value, "__index__") else str(value)


def _in_python(report: dict[str, Any]) -> dict[str, Any]:
    """The report, whose notes name options as Python does, and are logged."""
    notes = [in_python(note) for note in report["notes"]]
    for note in notes:
        LOGGER.warning(note)
    return report | {"notes": notes}


@checked
def generate(
    shape: Literal["kronecker", "uniform", "grid", "path", "star"],
    *,
    scale: int,
    output: str | os.PathLike[str],
    edge_factor: int = 16,
    seed: int = 1,
    weights: bool | Literal["uniform", "unit"] = False,
    directed: bool | None = None,
    order: Literal["auto", "input", "degree", "near"] = "auto",
    replace: bool = False,
    runtime: Runtime | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    backend: Literal["auto", "uring", "posix"] = "auto",
    temporary: str | os.PathLike[str] | None = None,
    progress: Progress = False,
) -> dict[str, Any]:
    """Generates a graph, straight into an image or as a file of edges: the same edges for the same options, on any
    number of threads.

    Args:
        shape: "kronecker" (the graph of Graph500), "uniform" (random ends), "grid", "path" or "star".
        scale: There are 2 to this power vertices, at most 31.
        output: Where it goes: an image if the name ends in .oc, otherwise a file of edges (.el, .txt, .wel, .csv,
            .graph500, ...).
        edge_factor: How many edges there are per vertex, in Kronecker and uniform graphs, before duplicates are
            removed.
        seed: Other seeds give other graphs.
        weights: Whether edges get weights, and which: "uniform", or `True`, are whole numbers from 1 to 255, "unit" are
            real numbers from 0 to below 1.
        directed: Whether edges have a direction; by default they have, in a grid they have not. Of the files of edges,
            those that end in .txt say it; False is refused for the others.

    The other arguments (`order` and `replace` are for an image), and what is raised, are as for `import_graph`. So are
    the keys of the dict that is returned, which is a plain one, without a method `report`; for a file of edges they are
    `edges` and `bytes`.

    >>> report = oc.generate("path", scale=4, output="path.oc")
    >>> report["vertices"], report["edges"]
    (16, 15)
    """
    settings = {
        "scale": scale,
        "edge_factor": edge_factor,
        "seed": seed,
        "weights": weights if isinstance(weights, str) else "uniform" if weights else None,
        "directed": directed,
        "order": order,
        "replace": replace,
        "limits": limits(runtime, memory, threads, backend, temporary, progress),
    }
    return _outcore.generate(shape, output, settings)
