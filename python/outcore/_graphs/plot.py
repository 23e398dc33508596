"""Results as charts, drawn by Matplotlib. The number of points is bounded: many values are counted in bins, ranks are
taken at a few hundred places."""

from collections.abc import Callable
from typing import Any

import numpy as np

from outcore import _outcore
from outcore._errors import UsageError

# The most places of a rank plot and dots of whole numbers, bars, and bins per factor of ten that are drawn.
_MOST_RANKS = 400
_MOST_BARS = 60
_BINS_PER_DECADE = 8

# The kind of plot by the class of a result; of other classes the column decides.
_KINDS = {
    "Bfs": "counts", "MultiSourceBfs": "counts", "CoreNumbers": "profile", "DegreeCentrality": "distribution",
    "PageRank": "rank",
}

Values = np.ndarray[Any, np.dtype[Any]]


def plot(result: _outcore.Table, ax: Any, kind: str | None, column: str | None) -> Any:
    """See `Table.plot`."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot needs Matplotlib, which is not installed: pip install matplotlib") from error
    if kind is not None and kind not in _DRAWN:
        known = ", ".join(f"'{name}'" for name in _DRAWN)
        raise UsageError(f"expected kind to be one of {known}, found {kind!r}")
    name, values, counts = result._counted(column)
    if counts is not None:
        if kind not in (None, "sizes"):
            raise UsageError(f"expected kind='sizes' for `{name}`, which names vertices, found {kind!r}")
        kind = "sizes"
    elif kind == "sizes":
        raise UsageError(f"expected a column that names vertices for kind='sizes', found `{name}`")
    else:
        values = _present(values)
        if name == "degree_centrality":
            # A share of n - 1; the degree itself is a whole number, which is counted better.
            name, values = "degree", np.rint(values * (len(result) - 1)).astype(np.int64)
        kind = kind or _fitting(type(result).__name__, values)
        if values.dtype.kind not in "iufb":
            raise UsageError(f"expected a column of numbers, found `{name}`")
        if kind == "counts" and values.dtype.kind == "f":
            raise UsageError(f"expected a column of whole numbers for kind='counts', found `{name}`")
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    _DRAWN[kind](ax, name, values, counts)
    return ax


def _present(values: Values) -> Values:
    """The values that are there: no missing ones, and no NaN."""
    if isinstance(values, np.ma.MaskedArray):
        return values.compressed()
    return values[np.isfinite(values)] if values.dtype.kind == "f" else values


def _fitting(name: str, values: Values) -> str:
    if name in _KINDS:
        return _KINDS[name]
    if values.dtype.kind in "iub" and values.size and int(values.max()) - int(values.min()) < _MOST_BARS:
        return "counts"
    return "distribution"


def _points(values: Values, weights: Values | None) -> tuple[Values, Values]:
    """Where dots are drawn, and how many values each stands for. Few different whole numbers have a dot each, many a
    dot for each doubling, real ones a dot for each bin, all of which have one ratio of their ends."""
    if values.dtype.kind not in "iub":
        least, most = float(values.min()), float(values.max()) * (1 + 1e-9)
        bins = np.geomspace(least, most, max(int(np.ceil(np.log10(most / least) * _BINS_PER_DECADE)), 1) + 1)
        counts, _ = np.histogram(values, bins, weights=weights)
        return np.sqrt(bins[:-1] * bins[1:]), counts
    found, places = np.unique(values, return_inverse=True)
    counts = np.bincount(places, weights)
    if found.size <= _MOST_RANKS:
        return found, counts
    doublings = np.floor(np.log2(found)).astype(np.int64)
    # The dot of 4 to 7 is drawn at 6, that of 1 at 1.
    middles = 1.5 * 2.0 ** np.arange(doublings[-1] + 1)
    middles[0] = 1
    return middles, np.bincount(doublings, counts)


def _dots(ax: Any, name: str, values: Values, weights: Values | None, what: str) -> None:
    """How many there are of which value, on two logarithmic axes."""
    positive = values > 0
    others = int((~positive).sum() if weights is None else weights[~positive].sum())
    values = values[positive]
    weights = None if weights is None else weights[positive]
    if values.size:
        places, counts = _points(values, weights)
        some = counts > 0
        ax.loglog(places[some], counts[some], "o", markersize=4)
    else:
        ax.text(0.5, 0.5, f"no {name} above 0", transform=ax.transAxes, ha="center", va="center")
    ax.set_xlabel(name)
    ax.set_ylabel(what)
    if others:
        ax.set_title(f"{ax.get_title()}\nnot shown: {others:,} {what} with {name} ≤ 0", fontsize="medium")


def _distribution(ax: Any, name: str, values: Values, _: Values | None) -> None:
    ax.set_title(f"Vertices by {name}")
    _dots(ax, name, values, None, "vertices")


def _sizes(ax: Any, name: str, sizes: Values, counts: Values | None) -> None:
    ax.set_title(f"Sizes of groups with one {name}")
    if sizes.size <= 1:
        # One size is one dot, which no logarithmic axes are needed for.
        ax.plot(sizes, counts, "o", markersize=4)
        ax.set_xlabel(f"size of {name}")
        ax.set_ylabel("groups")
        ax.margins(0.3)
        return
    _dots(ax, f"size of {name}", sizes, counts, "groups")


def _rank(ax: Any, name: str, values: Values, _: Values | None) -> None:
    ax.set_title(f"{name} from the greatest on")
    ranked = np.sort(values)[::-1]
    places = np.unique(np.geomspace(1, max(ranked.size, 1), _MOST_RANKS).astype(np.int64)) - 1
    if ranked.size == 0:
        places = places[:0]
    shown = ranked[places]
    draw: Callable[..., Any] = ax.loglog if shown.size and shown.min() > 0 else ax.semilogx
    draw(places + 1, shown, drawstyle="steps-post")
    ax.set_xlabel("place")
    ax.set_ylabel(name)


def _profile(ax: Any, name: str, values: Values, _: Values | None) -> None:
    ax.set_title(f"Vertices of at least each {name}")
    found, counts = np.unique(values, return_counts=True)
    at_least = counts[::-1].cumsum()[::-1]
    if found.size > _MOST_RANKS:
        chosen = np.unique(np.linspace(0, found.size - 1, _MOST_RANKS).astype(np.int64))
        found, at_least = found[chosen], at_least[chosen]
    ax.step(found, at_least, where="pre")
    ax.set_yscale("log")
    ax.set_xlabel(name)
    ax.set_ylabel(f"vertices of at least this {name}")


def _counts(ax: Any, name: str, values: Values, _: Values | None) -> None:
    ax.set_title(f"Vertices by {name}")
    if values.size:
        least, most = int(values.min()), int(values.max())
        width = -(-(most - least + 1) // _MOST_BARS)
        edges = np.arange(least, most + width + 1, width, dtype=np.float64)
        counts, _edges = np.histogram(values, edges)
        found = edges[:-1] + (width - 1) / 2
        ax.bar(found, counts, width=0.9 * width)
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(name)
    ax.set_ylabel("vertices")


_DRAWN: dict[str, Callable[[Any, str, Values, Values | None], None]] = {
    "distribution": _distribution,
    "rank": _rank,
    "sizes": _sizes,
    "profile": _profile,
    "counts": _counts,
}
