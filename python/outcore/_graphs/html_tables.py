"""Small tables of HTML, as notebooks show graphs, results and estimates. All text is escaped; no edge is read."""

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
    shown = str(value)
    if len(shown) > _MOST_CHARACTERS:
        shown = shown[:_MOST_CHARACTERS] + "..."
    plain = (one if one.isprintable() or one == _THOUSANDS else ascii(one)[1:-1] for one in shown)
    return html.escape("".join(plain), quote=True)


def facts(title: str, named: Mapping[str, Any], notes: Iterable[str] = ()) -> str:
    """A table of two columns: names and values."""
    rows = "".join(
        f"<tr><th{_LEFT}>{text(name)}</th><td{_LEFT}>{text(value)}</td></tr>" for name, value in named.items()
    )
    told = "".join(f"<p>{text(note)}</p>" for note in notes)
    return f"<div><strong>{text(title)}</strong><table><tbody>{rows}</tbody></table>{told}</div>"


def graph(opened: _outcore.Graph) -> str:
    """The facts of a graph: names, counts and sizes."""
    try:
        info = opened.info()
    except _outcore_error():
        return f"<div><strong>outcore.Graph</strong><p>{text(repr(opened))}</p></div>"
    kind = "directed" if info["directed"] else "undirected"
    named = {
        "image": opened.path or "in memory",
        "vertices": info["vertices"],
        "edges": f"{text(info['edges'])}, {kind}",
        "weights": info["weights"] or "none",
        "ids": info["ids"],
        "size": f"{_outcore.bytes_text(info['image_bytes'])}, {info['bytes_per_edge']:.3g} bytes per stored edge",
        "indexes": f"{_outcore.bytes_text(info['index_bytes'])} in memory",
        "input": info["input_format"],
    }
    return facts("outcore.Graph", named)


def _outcore_error() -> type[Exception]:
    from outcore._errors import OutcoreError

    return OutcoreError


def table(result: _outcore.Table, names: Sequence[str], rows: Sequence[Sequence[Any]], hidden: Sequence[str]) -> str:
    """The attributes of a result, and its first rows."""
    kind = type(result)
    title = f"outcore.{kind.__name__}: {text(len(result))} rows"
    own = [name for name, value in vars(kind).items() if isinstance(value, property)]
    if isinstance(result, _outcore.ProgramResult):
        own = ["iterations", "finished", "messages", "spilled_bytes"]
    parts = [f"<div><strong>{text(title)}</strong>"]
    if own:
        parts.append(facts("", {name: _short(result, name) for name in own}).replace("<strong></strong>", ""))
    head = "".join(f"<th>{text(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{text(_plain(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    if len(result) > len(rows):
        parts.append(f"<p>The first {len(rows)} of {text(len(result))} rows.</p>")
    if hidden:
        parts.append(f"<p>Not shown: {text(', '.join(hidden))}, whose values are ids that take a pass to look up.</p>")
    return "".join(parts) + "</div>"


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
