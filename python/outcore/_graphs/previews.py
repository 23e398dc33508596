"""Graphs, results and estimates in short: HTML for notebooks, text for `print`. Control characters of names are
escaped; no edge is read."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from outcore import _outcore

# The greatest number of characters of a cell.
_MOST_CHARACTERS = 200
# Separator of thousands: a narrow blank at which no line ends.
_THOUSANDS = "\u202f"
_LEFT = ' style="text-align: left"'


def text(value: object) -> str:
    """A cell: whole numbers with thousands apart, real ones short, control characters written out."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return f"{value:,}".replace(",", _THOUSANDS)
    return html.escape(_printable(str(value)), quote=True)


def _printable(shown: str) -> str:
    """Text of a bounded length, without control characters."""
    if len(shown) > _MOST_CHARACTERS:
        shown = shown[:_MOST_CHARACTERS] + "..."
    return "".join(one if one.isprintable() or one == _THOUSANDS else ascii(one)[1:-1] for one in shown)


def titled(title: str, tables: str, *notes: str) -> str:
    """Tables under a title, with notes below, of which some may be empty."""
    shown = "".join(f"<p>{text(note)}</p>" for note in notes if note)
    # The style sheet of the documentation knows the class.
    return f'<div class="outcore"><strong>{text(title)}</strong>{tables}{shown}</div>'


def facts(title: str, named: Mapping[str, Any], notes: Iterable[str] = ()) -> str:
    """A table of two columns, names and values, under a title."""
    return titled(title, _facts(named), *notes)


def _facts(named: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<tr><th{_LEFT}>{text(name)}</th><td{_LEFT}>{text(value)}</td></tr>" for name, value in named.items()
    )
    return f"<table><tbody>{rows}</tbody></table>"


def graph(opened: _outcore.Graph) -> str:
    """The facts of a graph: names, counts and sizes."""
    try:
        info = opened.info()
    except _outcore_error():
        return titled("outcore.Graph", "", repr(opened))
    kind = "directed" if info["directed"] else "undirected"
    per_edge = f", {info['bytes_per_edge']:.3g} bytes per stored edge" if info["edges"] else ""
    named = {
        "image": opened.path or "in memory",
        "vertices": info["vertices"],
        "edges": f"{text(info['edges'])}, {kind}",
        "weights": info["weights"] or "none",
        "attributes of edges": _attributes(info["attributes"]),
        "attributes of vertices": _attributes(info["vertex_attributes"]),
        "ids": info["ids"],
        "size": _outcore.bytes_text(info["image_bytes"]) + per_edge,
        "indexes": f"{_outcore.bytes_text(info['index_bytes'])} in memory",
        "input": info["input_format"],
    }
    return facts("outcore.Graph", named)


def _attributes(named: Iterable[tuple[str, str]]) -> str:
    """Names of attributes with their types."""
    return ", ".join(f"{name} ({kind})" for name, kind in named) or "none"


def _outcore_error() -> type[Exception]:
    from outcore._errors import OutcoreError

    return OutcoreError


Cells = Sequence[Sequence[Any]]


def table(result: _outcore.Table, names: Sequence[str], rows: Cells, ranked: str | None) -> str:
    """The attributes of a result, and a few of its rows, as HTML."""
    title = f"outcore.{type(result).__name__}: {text(len(result))} rows"
    own = {name: _short(result, name) for name in _own(result)}
    attributes = _facts(own) if own else ""
    cells = [[_plain(cell) for cell in row] for row in rows]
    return titled(title, attributes + _rows(names, cells), _which(result, rows, ranked, text(len(result))))


def plain(result: _outcore.Table, names: Sequence[str], rows: Cells, ranked: str | None) -> str:
    """A few rows of a result as text, one below the other."""
    cells = [list(names), *([_cell(_plain(cell)) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    note = _which(result, rows, ranked, f"{len(result):,}")
    return "\n".join([repr(result), *lines, *([note] if note else [])])


def rows(title: str, names: Sequence[str], cells: Cells, note: str) -> str:
    """A table under a title, as HTML; `note` may be empty."""
    return titled(title, _rows(names, cells), note)


def _rows(names: Sequence[str], cells: Cells) -> str:
    head = "".join(f"<th>{text(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in row) + "</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    """A cell of text: a missing value is a dash."""
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else _printable(str(value))


def _which(result: _outcore.Table, rows: Cells, ranked: str | None, count: str) -> str:
    """Which rows are shown, unless they are all in their order."""
    if ranked is not None:
        return f"The {len(rows)} rows with the greatest {ranked}, of {count}."
    return f"The first {len(rows)} of {count} rows." if len(result) > len(rows) else ""


def _own(result: _outcore.Table) -> list[str]:
    """The names of the attributes that a result of this kind has beside its columns."""
    if isinstance(result, _outcore.ProgramResult):
        return ["iterations", "finished", "messages", "spilled_bytes"]
    return [name for name, value in vars(type(result)).items() if isinstance(value, property)]


def _plain(cell: Any) -> Any:
    # Ids are names: no thousands apart.
    return str(cell) if isinstance(cell, int) else cell


# Attributes that have as many members as a path has vertices, or as there are pairs, are not looked up for a table.
_LONG = {"path", "distances", "matrix"}


def _short(result: _outcore.Table, name: str) -> object:
    if name in _LONG:
        return f"result.{name}"
    value = getattr(result, name)
    if isinstance(value, (list, tuple)) and len(value) > 5:
        return f"{', '.join(map(str, value[:5]))}, ... ({len(value)} in all)"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return value
