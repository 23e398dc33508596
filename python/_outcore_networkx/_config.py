"""The configuration of the backend, `nx.config.backends.outcore`: values are checked when they are set."""

import numbers
from typing import Any

from networkx.utils.configs import Config  # type: ignore[import-untyped]


class OutcoreConfig(Config):  # type: ignore[misc]
    """What the backend takes, and for which graphs NetworkX asks it.

    Parameters
    ----------
    memory : int or str or None
        The limit for the images of conversions and what runs on them, in bytes or as text such as "8GiB".
    threads : int or None
        The number of workers.
    min_edges : int
        With fewer edges NetworkX runs functions itself, unless the backend is named.
    """

    memory: int | str | None
    threads: int | None
    min_edges: int

    def _on_setattr(self, key: str, value: Any) -> Any:
        if key in ("memory", "threads") and value is not None:
            # Imported here, for nothing native is imported with NetworkX. Whoever sets a limit will need it.
            from outcore import Runtime

            Runtime(**{key: value})
        if key == "min_edges":
            if isinstance(value, bool) or not isinstance(value, numbers.Integral):
                raise TypeError(f"expected min_edges= as a whole number, found {value!r}")
            if value < 0:
                raise ValueError(f"expected min_edges= as a whole number from 0 on, found {value!r}")
        return value
