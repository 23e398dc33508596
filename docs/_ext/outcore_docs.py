"""What Sphinx needs to know of Outcore: how its docstrings are written, and what the engine declares.

Docstrings have Google's sections, code between single backticks as in Markdown, a line for each attribute of a result
under `Returns:`, and a paragraph `Cost:`. Napoleon reads reStructuredText: what is none is rewritten before.
"""

import importlib
import inspect
import os
import pathlib
import re
import subprocess
import sys
from typing import Any

from docutils import nodes
from pygments.lexers.rust import RustLexer
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import stringify_signature

import outcore
from outcore._declared import DECLARED

CODE = re.compile(r"``[^`]+``|`[^`]+`")
ATTRIBUTE = re.compile(r"`\w+`(, `\w+`)*: ")
ERROR = re.compile(r"^(\w+): ")


def prepare(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Makes reStructuredText of a docstring, in place."""
    made = [marked(line) for line in sections(literal(lines) if what == "module" else lines)]
    # Napoleon takes the beginning of a first line, up to a colon, for the type of an attribute. `..` begins a comment.
    lines[:] = ["..", "", *made] if what in ("attribute", "property") else made


def hide_decisions(app: Sphinx, doctree: nodes.document) -> None:
    """Leaves decision records out of the search, whose readers look for what works today."""
    if app.env.docname.startswith("decisions/"):
        app.env.metadata[app.env.docname]["nosearch"] = ""


def literal(lines: list[str]) -> list[str]:
    """A module's docstring, whose indented lines are code."""
    made: list[str] = []
    for before, line in zip(["", *lines], lines, strict=False):
        if line.startswith("    ") and not before:
            made += [".. code-block:: python", ""]
        made.append(line)
    return made


def sign(app: Sphinx, what: str, name: str, thing: Any, options: Any, given: str, returned: str) -> Any:
    """The signature of a class whose base has a `__new__` that takes everything."""
    if what != "class" or given != "(*args, **kwargs)":
        return None
    whole = inspect.signature(thing.__init__)
    own = whole.replace(parameters=list(whole.parameters.values())[1:], return_annotation=inspect.Signature.empty)
    return stringify_signature(own, unqualified_typehints=True), returned


def sections(lines: list[str]) -> list[str]:
    """The docstring with `Returns:` and `Cost:` as fields, and with errors that can be found."""
    made: list[str] = []
    i = 0
    while i < len(lines):
        if lines[i] in FIELDS:
            end = i + 1
            while end < len(lines) and (not lines[end] or lines[end].startswith(" ")):
                end += 1
            made += FIELDS[lines[i]]([line.removeprefix("    ") for line in lines[i + 1 : end]])
            i = end
        elif lines[i].startswith("Cost: "):
            made.append(":Cost: " + lines[i].removeprefix("Cost: "))
            i += 1
            while i < len(lines) and lines[i]:
                made.append("    " + lines[i])
                i += 1
        else:
            made.append(lines[i])
            i += 1
    return made


def returns(lines: list[str]) -> list[str]:
    """A field that says what is returned, with a list of the attributes that are described line by line."""
    first: list[str] = []
    rest: list[str] = []
    for line in lines:
        if ATTRIBUTE.match(line) and first:
            rest.append("    - " + line)
        elif rest:
            rest.append("      " + line.strip() if line else "")
        else:
            first.append("    " + line.strip() if line else "")
    while first and not first[-1]:
        first.pop()
    return [":returns: " + first[0].strip(), *first[1:], *(["", *rest] if rest else []), ""]


def raises(lines: list[str]) -> list[str]:
    """The section with our errors by their full names."""
    return ["Raises:", *("    " + ERROR.sub(lambda found: full(found[1]) + ": ", line) for line in lines)]


def attributes(lines: list[str]) -> list[str]:
    """A field with a list of the attributes of an estimator, several of which may share a line."""
    items: list[str] = []
    for line in lines:
        if line.startswith(" "):
            items[-1] += " " + line.strip()
        elif line:
            items.append(line)
    named = [re.sub(r"^[\w, ]+(?=: )", lambda found: re.sub(r"\w+", r"`\g<0>`", found[0]), item) for item in items]
    return [":Attributes:", *("    - " + item for item in named), ""]


def full(name: str) -> str:
    return f"~outcore.{name}" if name in outcore.__all__ else name


def marked(line: str) -> str:
    """A line with code as reStructuredText marks it, and without signs that mean something there by accident."""
    if line.lstrip().startswith((">>>", "...")):
        return line
    made: list[str] = []
    end = 0
    for found in CODE.finditer(line):
        made += [escaped(line[end : found.start()]), code(found.group().strip("`"))]
        end = found.end()
    return "".join([*made, escaped(line[end:])])


def escaped(text: str) -> str:
    return re.sub(r"([*|]|(?<=\w)_(?!\w))", r"\\\1", text)


def code(text: str) -> str:
    """Code; a link, where it names a class of ours or something in the package."""
    short = text.removeprefix("outcore.")
    is_class = short in outcore.__all__ and short[0].isupper()
    if is_class or text != short and re.fullmatch(r"[\w.]+", short):
        return f":py:obj:`{text} <outcore.{short}>`"
    return f"``{text}``"


# What scikit-learn adds to the methods of estimators.
OF_SCIKIT_LEARN = "set_fit_request, set_score_request"
# What is made of the sections with these heads.
FIELDS = {"Returns:": returns, "Raises:": raises, "Attributes:": attributes}


def automatic(name: str, value: Any) -> list[str]:
    """The directives that document an object."""
    if inspect.isclass(value):
        return [f".. autoclass:: {name}", "   :members:", f"   :exclude-members: {OF_SCIKIT_LEARN}", ""]
    if callable(value):
        return [f".. autofunction:: {name}", ""]
    return [f".. autodata:: {name}", "   :no-value:", ""]


def members(module: str) -> list[tuple[str, Any]]:
    """What a module offers, but for submodules and what has a page elsewhere."""
    home = importlib.import_module(module)
    named = [(name, getattr(home, name)) for name in home.__all__ if not name.startswith("__")]
    return [(name, value) for name, value in named if not inspect.ismodule(value) and is_documented(value)]


def is_documented(value: Any) -> bool:
    """Constants and types of NumPy's are not: `pi`, `float64`."""
    return callable(value) and not (inspect.isclass(value) and value.__module__ in ("numpy", "builtins"))


class Lines(SphinxDirective):
    """Directives that are written here instead of in a page."""

    optional_arguments = 1
    final_argument_whitespace = True

    def lines(self) -> list[str]:
        raise AssertionError("each directive has its own")

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(self.lines()), allow_section_headings=True)


class Summary(Lines):
    """A table of what a module offers."""

    def lines(self) -> list[str]:
        module = self.arguments[0]
        listed = [f"   {name}" for name, _ in members(module)]
        return [f".. py:currentmodule:: {module}", "", ".. autosummary::", "", *listed]


class Members(Lines):
    """The documentation of all that a module offers."""

    def lines(self) -> list[str]:
        module = self.arguments[0]
        found = [line for name, value in members(module) for line in automatic(f"{module}.{name}", value)]
        return [f".. py:currentmodule:: {module}", "", *found]


class Algorithms(Lines):
    """Every algorithm that the engine declares: a table, and the documentation of each."""

    def lines(self) -> list[str]:
        lines = [".. py:currentmodule:: outcore", "", ".. autosummary::", "", *(f"   {name}" for name in DECLARED), ""]
        for name, declared in DECLARED.items():
            lines += automatic(name, getattr(outcore, name))
            if declared["aliases"]:
                aliases = ", ".join(f"``{alias}``" for alias in declared["aliases"])
                # What stands in the directive comes behind the docstring.
                lines += [f"   Also called {aliases}.", ""]
        return lines


class Results(Lines):
    """The classes of the results of algorithms."""

    def lines(self) -> list[str]:
        classes = sorted({declared["class"] for declared in DECLARED.values()})
        return [line for name in classes for line in (f".. autoclass:: {name}()", "   :members:", "")]


class Errors(Lines):
    """The exceptions, the general one first."""

    def lines(self) -> list[str]:
        errors = [name for name in outcore.__all__ if name.endswith("Error")]
        return [
            line
            for name in sorted(errors, key=lambda name: (name != "OutcoreError", name))
            for line in (f".. autoexception:: {name}()", "   :members:", "   :show-inheritance:", "")
        ]


class Help(SphinxDirective):
    """What a command says of itself."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        beside = pathlib.Path(sys.executable).with_name("outcore")
        given = self.arguments[0].split() if self.arguments else []
        command = [os.environ.get("OUTCORE", str(beside)), *given, "--help"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip()
        return [nodes.literal_block(text, text, language="text")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.setup_extension("sphinx.ext.autodoc")
    # Before napoleon, which has the usual priority of 500.
    app.connect("autodoc-process-docstring", prepare, priority=400)
    app.connect("autodoc-process-signature", sign)
    # After what collects the metadata of a page, which has the usual priority.
    app.connect("doctree-read", hide_decisions, priority=900)
    app.add_directive("outcore-summary", Summary)
    app.add_directive("outcore-members", Members)
    app.add_directive("outcore-algorithms", Algorithms)
    app.add_directive("outcore-results", Results)
    app.add_directive("outcore-errors", Errors)
    app.add_directive("outcore-help", Help)
    # `rustdoc` reads the second word, and a test of the format the second one of `hex page`.
    app.add_lexer("rust,no_run", RustLexer)
    app.add_lexer("hex", TextLexer)
    return {"parallel_read_safe": True, "version": outcore.__version__}
