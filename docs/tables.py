"""Writes the parts of pages that follow from what the engine declares of its algorithms, or says that they are old.

usage: tables.py [--write]

The parts stand between `<!-- made of the declarations: ... -->` and `<!-- end -->`: in choosing.md the table of all
algorithms, in differences.md what each does otherwise than NetworkX, in networkx.md the functions of the backend, in
reference/json.md the keys of what commands write as JSON; and all of reference/outcore.schema.json. Bytes per vertex
are differences of two estimates for Kronecker graphs, so what does not grow with the graph is not in them.
"""

import os
import pathlib
import re
import sys
import tempfile
from typing import Any

import objects

import outcore as oc
from _outcore_networkx import FUNCTIONS
from outcore._declared import DECLARED

DOCS = pathlib.Path(__file__).parent
PART = re.compile(r"(<!-- made of the declarations: (\w+)[^\n]*-->\n)(.*?)(<!-- end -->)", re.DOTALL)
# Two graphs of the same kind, one of them four times as large.
SCALES = (16, 18)
# What of NetworkX prepares a graph for the function that counts.
HELPERS = {"nx.restricted_view", "nx.selfloop_edges", "nx.Graph"}
BOUNDS = {"at most": "at most ", "at least": "at least ", "no bound is known beforehand; often": "often "}


def graphs(folder: str, directed: bool) -> list[oc.Graph]:
    images = [os.path.join(folder, f"{directed}{scale}.oc") for scale in SCALES]
    for scale, image in zip(SCALES, images, strict=True):
        oc.generate("kronecker", scale=scale, edge_factor=8, output=image, directed=directed, memory="256MiB")
    return [oc.Graph(image, memory="1GiB", threads=2) for image in images]


def estimated(declared: dict[str, Any], graph: oc.Graph) -> oc.Estimate:
    """The estimate with defaults, for one source, set of seeds or vertex where their number counts."""
    needed = [option for option in declared["options"] if option["is_required"] and option["kind"] == "vertex"]
    options = dict.fromkeys((option["name"] for option in needed), 0)
    return oc.estimate(getattr(oc, declared["name"]), graph, k=1 if declared["counted"] else None, **options)


def per_vertex(declared: dict[str, Any], small: oc.Graph, large: oc.Graph) -> str:
    one, other = estimated(declared, small), estimated(declared, large)
    return f"{(other.state_bytes - one.state_bytes) / (len(large) - len(small)):.3g}"


def passes(declared: dict[str, Any], graph: oc.Graph) -> str:
    needs = estimated(declared, graph)
    return f"{BOUNDS[needs.bound]}{round(needs.passes, 1):g}" if needs.passes else "none"


def both(directed: str, undirected: str) -> str:
    return directed if directed == undirected else f"{directed}; undirected {undirected}"


def of_networkx(declared: dict[str, Any]) -> str:
    """The functions of NetworkX that give the same."""
    if declared["networkx"] is None:
        return ""
    names = dict.fromkeys(re.findall(r"nx(?:\.\w+)+", declared["networkx"][1]))
    return ", ".join(f"`{name.removeprefix('nx.')}`" for name in names if name not in HELPERS)


def algorithms() -> str:
    """The table of all algorithms."""
    lines = ["| name | NetworkX | weights | bytes per vertex | passes |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        directed, undirected = graphs(folder, True), graphs(folder, False)
        for name, declared in DECLARED.items():
            weights = "yes" if any(option["kind"] == "weight" for option in declared["options"]) else "no"
            memory = both(per_vertex(declared, *directed), per_vertex(declared, *undirected))
            reads = both(passes(declared, directed[1]), passes(declared, undirected[1]))
            link = f"[`{name}`](algorithms.md#{name})"
            lines.append(f"| {link} | {of_networkx(declared)} | {weights} | {memory} | {reads} |")
        for graph in (*directed, *undirected):
            graph.close()
    return "\n".join(lines) + "\n"


def differences() -> str:
    """What the declarations say of NetworkX."""
    lines = ["| algorithm | what differs |", "|---|---|"]
    for name, declared in DECLARED.items():
        lines.append(f"| [`{name}`](algorithms.md#{name}) | {declared['differences']} |")
    return "\n".join(lines) + "\n"


def networkx() -> str:
    """The functions of the backend."""
    lines = [f"{len(FUNCTIONS)} functions:", "", "| function | |", "|---|---|"]
    lines += [f"| `{name}` | {text} |" for name, text in sorted(FUNCTIONS.items())]
    return "\n".join(lines) + "\n"


MADE = {"algorithms": algorithms, "differences": differences, "networkx": networkx, "objects": objects.tables}


def main(write: bool) -> int:
    is_old = False
    pages = [DOCS / name for name in ("choosing.md", "differences.md", "networkx.md", "reference/json.md")]
    for page in (*pages, DOCS / "reference/outcore.schema.json"):
        text = page.read_text()
        if page.suffix == ".json":
            new = objects.schema_text()
        else:
            new, count = PART.subn(lambda part: part[1] + MADE[part[2]]() + part[4], text)
            assert count == 1, f"{page} has {count} parts that are made"
        if new != text and write:
            page.write_text(new)
        elif new != text:
            print(f"{page} is old: run `python docs/tables.py --write`", file=sys.stderr)
            is_old = True
    return int(is_old)


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
