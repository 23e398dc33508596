"""From which size on a function is worth calling on a converted graph: measured by `bench/networkx_sizes.py`."""

# The number of edges below which NetworkX is quicker, or so quick that it does not matter.
LEAST: dict[str, int] = {}
