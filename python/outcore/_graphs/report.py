"""Runs as pages. The engine makes the page; this is what a notebook shows, and what programs read."""

import html
import json
import re
from typing import Any, final

_DATA = re.compile(r'<script type="application/json" id="outcore-report">(.*?)</script>', re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
# The height of a page in a notebook, in pixels; the rest is scrolled to.
_HEIGHT = 720


@final
class Report:
    """The page of a run, as `Table.report` returns it.

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
