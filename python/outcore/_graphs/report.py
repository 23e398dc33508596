"""Runs as pages. The engine makes the page; this is what a notebook shows, what programs read, and what pages say of
results that are objects of Python's: those of solvers, models and imports."""

import html
import inspect
import itertools
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, final

from outcore._outcore import Graph, Run

_DATA = re.compile(r'<script type="application/json" id="outcore-report">(.*?)</script>', re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
# The height of a page in a notebook, in pixels; the rest is scrolled to.
_HEIGHT = 720
# The most rows and columns of a table.
_MOST_ROWS = 10
_MOST_COLUMNS = 20
# The most characters of a value in a call.
_MOST_CHARACTERS = 80


@final
class Report:
    """The page of a run, as the method `report` of results, models and imports returns it.

    A notebook shows the page. `str(report)` is its HTML, and `report.data` its numbers.
    """

    __slots__ = ("_html",)

    def __init__(self, page: str) -> None:
        self._html = page

    @property
    def data(self) -> dict[str, Any]:
        """The numbers of the page, as `docs/reports.md` lists them."""
        found = _DATA.search(self._html)
        data: dict[str, Any] = json.loads(found.group(1)) if found else {}
        return data

    def _repr_html_(self) -> str:
        # A frame of its own: the page has styles and scripts, which are not to meet those of the notebook.
        page = html.escape(self._html, quote=True)
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{page}" style="width: 100%; height: {_HEIGHT}px; border: 0">'
            "</iframe>"
        )

    def __str__(self) -> str:
        return self._html

    def __repr__(self) -> str:
        found = _TITLE.search(self._html)
        return f"<outcore.Report of {html.unescape(found.group(1)) if found else 'nothing'}>"


class ImportReport(dict[str, Any]):
    """The summary of an import, as `import_graph` returns it: a dict, and the page of the import."""

    def __init__(
        self, found: dict[str, Any], input: Any, image: str | os.PathLike[str], options: "list[Option]"
    ) -> None:
        super().__init__(found)
        # The notes have the words of Python, and there may be more of them than the engine knows.
        self._run: Run = self.pop("run").with_lines(self["notes"])
        self._inputs, self._options = [input_text(input, self._run.input), repr(os.fspath(image))], options

    def report(self, path: str | os.PathLike[str] | None = None) -> Report:
        """The import as a page in HTML: the image, how the input was read, what was planned and what it took. A
        notebook shows it; with a path it is written there, too.

        Raises:
            OSError: The file cannot be written.
        """
        call = call_text("outcore.import_graph", self._inputs, self._options)
        return page_of(self._run, ("import", call), self._options, {}, [], path)

    def __reduce__(self) -> Any:
        # Copies are dicts, without the run.
        return dict, (dict(self),)


class Option(NamedTuple):
    """An option of a call: its name, its value and its default as text, and whether it was given."""

    name: str
    value: str
    default: str | None
    is_given: bool


class Rows(NamedTuple):
    """A few rows of a result as text: a title, the names of the columns, and the cells."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def known(run: Run | None) -> Run:
    """The run.

    Raises:
        TypeError: A copy of a result, which has none.
    """
    if run is None:
        raise TypeError("expected what a run returned, found a copy of it, which has no report")
    return run


def options_of(function: Callable[..., Any], given: Mapping[str, Any]) -> list[Option]:
    """The options of a call of a function."""
    options, parameters = [], inspect.signature(function).parameters
    for name, value in given.items():
        default = parameters[name].default
        # Arrays are compared element by element.
        is_plain = isinstance(value, int | float | str) and type(value) is type(default)
        is_default = value is default or is_plain and value == default
        text = None if default in (None, inspect.Parameter.empty) else value_text(default)
        options.append(Option(name, value_text(value), text, not is_default))
    return options


def call_text(function: str, inputs: list[str], options: list[Option]) -> str:
    """A call with the options that were given."""
    return f"{function}({', '.join([*inputs, *(f'{one.name}={one.value}' for one in options if one.is_given)])})"


def input_text(given: Any, called: str) -> str:
    """The input of an import in a call: paths and short lists as they are, of anything else a name that a user could
    have given it. `called` says what it is: "the pandas frame" is `frame`."""
    if isinstance(given, str | os.PathLike):
        return repr(str(os.fspath(given)))
    text = _literal(given)
    if text is not None and len(text) <= _MOST_CHARACTERS:
        return text
    if isinstance(given, list | tuple):
        are_paths = [isinstance(part, str | os.PathLike) for part in given]
        if any(are_paths) or any(isinstance(part, Graph) for part in given):
            return "paths" if all(are_paths) else "inputs"
    return called.split()[-1].lower()


def _literal(value: Any) -> str | None:
    """Paths, numbers, strings, and short lists and tuples of them as Python has them."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if type(value) in (int, float, str):
        return repr(value)
    if type(value) not in (list, tuple) or not 0 < len(value) <= _MOST_CHARACTERS:
        return None
    parts = [_literal(part) for part in value]
    text = ", ".join(part for part in parts if part is not None)
    if None in parts:
        return None
    return f"[{text}]" if isinstance(value, list) else f"({text}{',' if len(parts) == 1 else ''})"


def value_text(value: Any) -> str:
    """A value of an option as Python has it; of arrays and functions what they are."""
    kind = type(value)
    if isinstance(shape := getattr(value, "shape", None), tuple) and shape:
        return f"<{kind.__name__} of shape {shape}>"
    if isinstance(value, list | tuple | set | frozenset | dict) and len(value) > _MOST_CHARACTERS:
        return f"<{kind.__name__} of {len(value)} values>"
    if isinstance(value, str | os.PathLike):
        value = os.fspath(value)
    if callable(value):
        return f"<{kind.__name__} {getattr(value, '__name__', '')}>".replace(" >", ">")
    text = repr(value.item() if shape == () and hasattr(value, "item") else value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def page_of(
    run: Run,
    called: tuple[str, str],
    options: list[Option],
    attributes: Mapping[str, Any],
    tables: Iterable[Rows],
    path: str | os.PathLike[str] | None,
) -> Report:
    """The page of a run: its name and its call, its options, and its result."""
    values = json.dumps({name: _plain(value) for name, value in attributes.items()})
    return Report(run.page(called, options, values, list(tables), path))


def _plain(value: Any) -> Any:
    """A value as JSON has it: of an array its shape."""
    if getattr(value, "ndim", 0) > 0:
        return f"{' x '.join(map(str, value.shape))} of {value.dtype}"
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not math.isfinite(value) or not isinstance(value, int | float | str | None):
        return str(value)
    return value


def rows_of(title: str, names: Iterable[Any] | None = None, *, last: bool = False, **columns: Any) -> Rows:
    """The first or the last rows of vectors of one length, behind the names or the numbers of the rows."""
    count = min(len(values) for values in columns.values())
    begin = max(count - _MOST_ROWS, 0) if last else 0
    places = range(begin, min(begin + _MOST_ROWS, count))
    if count > _MOST_ROWS:
        title = f"{title}, the {'last' if last else 'first'} {_MOST_ROWS} of {count}"
    named = [str(name) for name in itertools.islice(names, begin, places.stop)] if names is not None else places
    rows = [[str(name), *(_cell(values[place]) for values in columns.values())] for name, place in zip(named, places)]
    return Rows(title, ["row" if names is None else "column", *columns], rows)


def matrix_rows(title: str, matrix: Any, names: Iterable[Any]) -> Rows:
    """The first rows and columns of a matrix, whose columns have these names."""
    rows, columns = matrix.shape
    shown = min(columns, _MOST_COLUMNS)
    if rows > _MOST_ROWS or columns > shown:
        title = f"{title}, the first {min(rows, _MOST_ROWS)} x {shown} of {rows} x {columns}"
    cells = [[str(row), *map(_cell, matrix[row, :shown])] for row in range(min(rows, _MOST_ROWS))]
    return Rows(title, ["row", *map(str, itertools.islice(names, shown))], cells)


def greatest_rows(title: str, values: Any, name: str) -> Rows:
    """The rows with the greatest values of a vector, the first ones among equals, found in small parts."""
    best: list[tuple[float, int]] = []
    part = 1 << 16
    for begin in range(0, len(values), part):
        some = values[begin : begin + part]
        least = best[-1][0] if len(best) == _MOST_ROWS else -math.inf
        places = (some > least).nonzero()[0].tolist()
        best = sorted([*best, *((float(some[place]), begin + place) for place in places)], key=_descending)
        best = best[:_MOST_ROWS]
    if len(values) > _MOST_ROWS:
        title = f"{title}, the {_MOST_ROWS} greatest of {len(values)}"
    return Rows(title, ["row", name], [[str(place), _cell(value)] for value, place in best])


def _descending(found: tuple[float, int]) -> tuple[float, int]:
    return -found[0], found[1]


def _cell(value: Any) -> str:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, complex):
        return f"{value:.6g}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
