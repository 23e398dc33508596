"""Functions and classes of results, made of what the engine declares of each algorithm."""

import textwrap
from collections.abc import Callable, Mapping, Set
from typing import Any

from outcore import _outcore
from outcore._errors import UsageError
from outcore._options import check_each, checked
from outcore._outcore import AlgorithmResult, Graph

# Vertices that jumps lead to, with shares or equally.
Seeds = Mapping[int | str, float] | Set[int | str] | tuple[int | str, ...]

Declared = dict[str, Any]

# What the functions and the stubs name beside builtins.
IMPORTS = "from collections.abc import Iterable\nfrom typing import Any, Literal\n"

_TAKEN = {
    "whole": "int", "real": "float", "flag": "bool", "vertex": "int | str", "vertices": "Iterable[int | str]",
    "seeds": "Seeds | list[Seeds]", "weight": "str | None",
}
_HELD = {
    "whole": "int", "wholes": "list[int]", "bounds": "tuple[int, int]", "real": "float", "flag": "bool", "text": "str",
    "vertices": "list[Any]", "path": "list[Any] | None",
    "distances": "np.ma.MaskedArray[tuple[int, int], np.dtype[np.int64]]",
}
_ALSO = {
    "seeds": "a dict from ids to shares, as `networkx.pagerank` takes it, or a set or tuple of ids with equal shares; "
    "a list of those for several sets. Shares need not sum to 1",
    "weight": "`None` leaves weights out. \"weight\" is the default even if it is given, where the shell's `--weight "
    "weight` refuses others",
}


def annotation(option: Declared) -> str:
    """What an option takes."""
    if option["kind"] == "choice":
        return f"Literal[{', '.join(repr(name) for name, _ in option['choices'])}]"
    taken = _TAKEN[option["kind"]]
    return taken if option["is_required"] or option["default"] is not None else f"{taken} | None"


def parameters(declared: Declared) -> list[str]:
    """The parameters of an algorithm's function."""
    named = {True: ["graph: Graph"], False: []}
    for option in declared["options"]:
        default = "" if option["is_required"] else f" = {option['default']!r}"
        named[option["is_positional"]].append(f"{option['name']}: {annotation(option)}{default}")
    return [*named[True], "*", *named[False], "verify: bool = False"]


def attributes(declared: Declared) -> list[tuple[str, str, str]]:
    """The attributes of an algorithm's result: names, types and texts."""
    return [(name, _HELD[kind], text) for name, kind, text in declared["attributes"]]


def document(declared: Declared) -> str:
    """The documentation of an algorithm's function."""
    args = ["graph: The graph.", *map(_described, declared["options"])]
    args.append("verify: Whether to check the result with an independent algorithm.")
    returns = ["A table with a row per vertex: " + declared["returns"]]
    returns += [f"`{name}`: {text}." for name, _, text in declared["attributes"]]
    raises = [
        ("ConvergenceError", declared["must_converge"] and "Not converged; its `result` has the ranks so far."),
        ("UsageError", declared["refuses"]),
        ("MemoryLimitError", "Too little memory. It is raised before the run starts."),
        ("CorruptImageError", "A damaged page."),
        ("VerificationError", "A result that `verify` finds wrong."),
    ]
    parts = [
        _wrapped(declared["summary"] + "."),
        _wrapped(declared["about"]),
        _listed("Args", args),
        _listed("Returns", returns),
        _wrapped("Cost: " + declared["cost"]),
        _listed("Raises", [f"{name}: {text}" for name, text in raises if text]),
        _wrapped(declared["differences"]),
        _wrapped(declared["references"]),
        declared["example"],
    ]
    return "\n\n".join(part for part in parts if part)


def _described(option: Declared) -> str:
    text = f"{option['name']}: {option['help']}"
    if option["choices"]:
        text += ": " + "; ".join(f'"{name}": {meaning[0].lower()}{meaning[1:]}' for name, meaning in option["choices"])
    also = _ALSO.get(option["kind"])
    return f"{text}{'; ' + also if also else ''}."


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 112, break_long_words=False, break_on_hyphens=False)


def _listed(title: str, lines: list[str]) -> str:
    wrapped = [
        textwrap.fill(line, 112, initial_indent="    ", subsequent_indent="        ", break_on_hyphens=False)
        for line in lines
    ]
    return "\n".join([f"{title}:", *wrapped])


def result_class(declared: Declared) -> type[AlgorithmResult]:
    """The class of an algorithm's results."""

    def attribute(place: int, text: str) -> property:
        return property(lambda self: self._attribute(place), doc=f"{text}.")

    members: dict[str, Any] = {"__slots__": (), "__module__": "outcore"}
    members["__doc__"] = f"What `{declared['name']}` and its like found: a table with attributes of its own."
    for place, (name, _, text) in enumerate(declared["attributes"]):
        members[name] = attribute(place, text)
    return type(declared["class"], (AlgorithmResult,), members)


def function(declared: Declared, classes: dict[str, type[AlgorithmResult]]) -> Callable[..., AlgorithmResult]:
    """The function of an algorithm. It is compiled, so that Python itself says what is wrong with a call."""
    names: dict[str, Any] = {"Graph": Graph, "Seeds": Seeds, "run": _run, "declared": declared, **classes}
    name, result = declared["name"], declared["class"]
    source = f"def {name}({', '.join(parameters(declared))}) -> {result}:\n    return run(declared, {result}, locals())"
    exec(IMPORTS + source, names)
    made = names[name]
    made.__doc__, made.__module__ = document(declared), "outcore"
    aliases = {alias: option["name"] for option in declared["options"] for alias in option["aliases"]}
    return checked(made, aliases)


def _run(declared: Declared, result: type[AlgorithmResult], given: dict[str, Any]) -> AlgorithmResult:
    graph, verify = given.pop("graph"), given.pop("verify")
    found: AlgorithmResult = _outcore.run_algorithm(
        declared["name"], result, graph, changed(declared, given), verify
    )
    return found


def changed(declared: Declared, given: dict[str, Any]) -> dict[str, Any]:
    """The options that are not their defaults, as the engine takes them."""
    options = {}
    for option in declared["options"]:
        name = option["name"]
        if name in given and (option["is_required"] or given[name] != option["default"]):
            options[name] = seed_sets(given[name]) if option["kind"] == "seeds" else given[name]
    return options


def seed_sets(personalization: Seeds | list[Seeds]) -> list[list[tuple[int | str, float]]]:
    """The sets of seeds with their shares."""
    sets = personalization if isinstance(personalization, list) else [personalization]
    if not sets:
        raise UsageError("expected at least one set of seeds, found an empty list")
    for given in sets:
        if not isinstance(given, (Mapping, Set, tuple)):
            ids = "{" + ", ".join(map(repr, sets[:3])) + (", ...}" if len(sets) > 3 else "}")
            alone = isinstance(given, (int, str)) and len(sets) > 1
            raise TypeError(
                "expected seeds as a dict of shares, a set or a tuple, or a list of those for several runs, "
                f"found {given!r}" + (f"; for one run from all of them give the set {ids}" if alone else "")
            )
    shares = [given if isinstance(given, Mapping) else dict.fromkeys(given, 1.0) for given in sets]
    for given in shares:
        check_each("personalization", int | str, given)
        check_each("personalization", float, given.values())
    return [list(given.items()) for given in shares]


DECLARED: dict[str, Declared] = {declared["name"]: declared for declared in _outcore.algorithms()}
CLASSES: dict[str, type[AlgorithmResult]] = {}
for _declared in DECLARED.values():
    CLASSES.setdefault(_declared["class"], result_class(_declared))
FUNCTIONS = {name: function(declared, CLASSES) for name, declared in DECLARED.items()}
# The functions under all of their names.
NAMED = {
    name: FUNCTIONS[declared["name"]]
    for declared in DECLARED.values()
    for name in (declared["name"], *declared["aliases"])
}
