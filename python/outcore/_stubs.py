"""Writes what editors and type checkers read: `make stubs`. A test says if it is old."""

import pathlib
import sys
import textwrap

import outcore
from outcore import _errors, _estimate, _import, _outcore, _program, _report
from outcore._declared import CLASSES, DECLARED, IMPORTS, attributes, document, parameters


def stubs() -> str:
    """The text of the stubs."""
    functions = sorted(DECLARED)
    aliases = sorted((alias, name) for name in functions for alias in DECLARED[name]["aliases"])
    of_class = {declared["class"]: declared for declared in reversed(DECLARED.values())}
    lines = ["# Made by `make stubs`, of what the engine declares.", "", *IMPORTS.splitlines()]
    lines += ["", "import numpy as np", "", "from outcore._declared import Seeds as Seeds"]
    homes = {
        name: module.__name__
        for module in (_program, _import, _estimate, _outcore, _errors, _report)
        for name in outcore.__all__
        if vars(module).get(name) is getattr(outcore, name)
    }
    lines += [f"from {home} import {name} as {name}" for name, home in homes.items()]
    lines += [f"from outcore._matrix import {name} as {name}" for name in vars(outcore)["_OF_SCIPY"]]
    lines += [f"from outcore import {name} as {name}" for name in vars(outcore)["_MODULES"]]
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in outcore.__all__), "]"]
    for name in sorted(CLASSES):
        lines += ["", f"class {name}(AlgorithmResult):"]
        for attribute, kind, text in attributes(of_class[name]):
            lines += ["    @property", f"    def {attribute}(self) -> {kind}:", *_quoted(f"{text}.", 8)]
    for name in functions:
        declared = DECLARED[name]
        taken = "".join(f"    {parameter},\n" for parameter in parameters(declared))
        lines += ["", f"def {name}(\n{taken}) -> {declared['class']}:", *_quoted(document(declared), 4)]
    lines += ["", *(f"{alias} = {name}" for alias, name in aliases)]
    return "\n".join(lines) + "\n"


def _quoted(text: str, indent: int) -> list[str]:
    quoted = f'"""{text}"""' if "\n" not in text else f'"""{text}\n"""'
    return textwrap.indent(quoted.replace("\\", "\\\\"), " " * indent).splitlines()


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(stubs())
