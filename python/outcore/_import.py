"""Importing graphs: defaults and documentation. The work is done by the extension module."""

import os
from typing import Any, Literal

from outcore import _outcore
from outcore._inputs import Tables, tables, vertex_ids


def import_graph(
    input: Any,
    image: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    format: str | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    ids: Literal["auto", "integer", "string"] = "auto",
    vertices: Any = None,
    duplicates: Literal["first", "sum", "min", "max", "keep", "error"] = "first",
    self_loops: Literal["keep", "drop"] = "keep",
    order: Literal["auto", "input", "degree"] = "auto",
    replace: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    backend: Literal["auto", "uring", "posix"] = "auto",
    temporary: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> dict[str, Any]:
    """Imports a graph of any size as an image, a directory that appears when it is complete and not before.

    Args:
        input: One of

            - a path or a list of paths: text edge lists (.txt, .csv, .tsv, .el, .wel; also .gz and .zst), Matrix Market, METIS,
              DIMACS, ASCIIGraph, Graphalytics, Graph500 tuples, Parquet, Arrow; vertices without edges may stand in a file
              FILE.vertices beside a list of edges, one id a line, where `export` puts them;
            - an object with `__arrow_c_stream__` (polars, pyarrow, DuckDB), or a pandas frame: columns `source` and `target` (or
              `src`, `dst`, or `from`, `to`, or else the first two), and perhaps `weight`;
            - a list of edges as tuples, `(source, target)` or `(source, target, weight)`;
            - a tuple of NumPy arrays `(source, target)` or `(source, target, weight)`, of one length;
            - a square SciPy sparse matrix or array: entry (i, j) is an edge from i to j, its value the weight (none if it is bool);
            - a NetworkX graph: isolated nodes stay, the class says whether edges have a direction. Nodes must be integers or strings.

        image: Where the image goes. If there is an image of that name, see `replace`; anything else of that name is an error.
        directed: Whether edges have a direction; by default what the input says, and a direction where it says nothing.
        format: The format of files, where names and content do not tell (`outcore import --help` lists them).
        source: The column that holds the sources of edges: its name, or its number from 1.
        target: The column that holds the targets.
        weight: The column (or edge attribute) that holds the weights; "none" leaves them out. By default the one that the
            format has, or a column `weight`.
        ids: Whether ids are integers or strings; by default integers if they all are.
        vertices: Further vertices, such as isolated ones: a number `n` for the integers below it, or a list or array of ids.
        duplicates: Which of several edges with the same ends stays: the first, one with the sum, least or greatest weight, all of
            them ("keep"), or none and the import fails ("error").
        self_loops: Whether edges from a vertex to itself stay.
        order: How vertices are numbered inside: as ids sort ("input") or by degree ("degree"); by default by measured size.
        replace: Whether an image of that name is replaced; otherwise it is an error. Whoever has it open keeps reading the old one.
        memory: The limit for all memory of this process, in bytes or as text such as "1GiB"; by default half of what is left.
        threads: The number of workers; by default one per processor.
        backend: How files are read and written.
        temporary: Where temporary files go; by default beside the image.
        progress: Whether to show progress on the standard error output, if that is a terminal.

    Returns:
        What the import did, as a dict: `vertices`, `edges`, `directed`, `weights`, `order`, `edges_read`, `duplicates`, `self_loops`,
        `isolated_vertices`, `notes` on how the input was read, and `stats`.

    Cost: memory stays under the limit, ids included; temporary files take about 16 bytes per edge, 48 with weights.

    Raises:
        InputError: An input that does not hold what its format says; with file and line.
        UsageError: Options that do not fit, an image that is not to be replaced, or something in the way that is no image.
        MemoryLimitError: A limit below about 32 MiB beside what the process holds already.
        OSError: A file that cannot be read or written, a full disk. No image is made, and an older one stays.

    >>> source = np.array(["home", "home", "news", "about", "about"])
    >>> target = np.array(["news", "about", "home", "home", "about"])
    >>> report = oc.import_graph((source, target), "web.oc", vertices=["lone"])
    >>> report["vertices"], report["edges"], report["self_loops"], report["isolated_vertices"]
    (4, 5, 1, 1)
    """
    settings = {
        "directed": directed,
        "format": format,
        "source": None if source is None else str(source),
        "target": None if target is None else str(target),
        "weight": None if weight is None else str(weight),
        "ids": ids,
        "duplicates": duplicates,
        "self_loops": self_loops,
        "order": order,
        "replace": replace,
        "limits": _limits(memory, threads, backend, temporary, progress),
    }
    more = vertex_ids(vertices)
    given = tables(input, weight)
    if not isinstance(given, Tables):
        return _outcore.import_files(given, image, more, settings)
    if format is not None:
        raise TypeError(f"expected a format only with files, found format={format!r} with a {type(input).__name__}")
    if given.vertices is not None:
        if vertices is not None:
            raise TypeError(f"a {type(input).__name__} has its vertices already; add others there")
        more = given.vertices
    settings["weight"] = given.weights
    if directed is None:
        settings["directed"] = given.directed
    return _outcore.import_tables(given.edges, given.name, image, more, settings)


def generate(
    shape: Literal["kronecker", "uniform", "grid", "path", "star"],
    *,
    scale: int,
    output: str | os.PathLike[str],
    edge_factor: int = 16,
    seed: int = 1,
    weights: bool = False,
    directed: bool | None = None,
    order: Literal["auto", "input", "degree"] = "auto",
    replace: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    backend: Literal["auto", "uring", "posix"] = "auto",
    temporary: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> dict[str, Any]:
    """Generates a graph, straight into an image or as a file of edges: the same edges for the same options, on any number of threads.

    Args:
        shape: "kronecker" (the graph of Graph500), "uniform" (random ends), "grid", "path" or "star".
        scale: There are 2 to this power vertices, at most 31.
        output: Where it goes: an image if the name ends in .oc, otherwise a file of edges (.el, .txt, .wel, .csv, .graph500, ...).
        edge_factor: How many edges there are per vertex, in Kronecker and uniform graphs, before duplicates are removed.
        seed: Other seeds give other graphs.
        weights: Whether edges get weights: whole numbers from 1 to 255.
        directed: Whether edges have a direction; by default they have, in a grid they have not.

    The other arguments (`replace` for an image), and what is returned and raised, are as for `import_graph`; for a file of edges, `edges` and `bytes`
    are returned.

    >>> report = oc.generate("path", scale=4, output="path.oc")
    >>> report["vertices"], report["edges"]
    (16, 15)
    """
    settings = {
        "scale": scale,
        "edge_factor": edge_factor,
        "seed": seed,
        "weights": weights,
        "directed": directed,
        "order": order,
        "replace": replace,
        "limits": _limits(memory, threads, backend, temporary, progress),
    }
    return _outcore.generate(shape, output, settings)


def _limits(
    memory: int | str | None,
    threads: int | None,
    backend: str,
    temporary: str | os.PathLike[str] | None,
    progress: bool,
) -> dict[str, Any]:
    return {
        "memory": memory,
        "threads": threads,
        "backend": backend,
        "temporary": temporary,
        "progress": progress,
    }
