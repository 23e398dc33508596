"""Run of an algorithm, and its options as the engine takes them. The functions are in `_algorithms.py`."""

from collections.abc import Callable, Mapping, Set
from typing import Any, TypeVar

from outcore import _outcore
from outcore._errors import UsageError
from outcore._options import check_each, checked
from outcore._outcore import AlgorithmResult, Graph

# Vertices that jumps lead to, with shares or equally.
Seeds = Mapping[int | str, float] | Set[int | str] | tuple[int | str, ...]

Declared = dict[str, Any]
Function = TypeVar("Function", bound=Callable[..., AlgorithmResult])
Result = TypeVar("Result", bound=AlgorithmResult)

# The declarations of the engine, by the names of the algorithms.
DECLARED: dict[str, Declared] = {declared["name"]: declared for declared in _outcore.algorithms()}


def algorithm(**aliases: str) -> Callable[[Function], Function]:
    """Makes a public function of the package, which checks its options. `aliases` are further names of options."""

    def decorate(function: Function) -> Function:
        function.__module__ = "outcore"
        return checked(function, aliases)  # type: ignore[return-value]

    return decorate


def run(name: str, result: type[Result], graph: Graph, verify: bool, /, **given: Any) -> Result:
    """The result of an algorithm, as an object of its class."""
    table: Result = _outcore.run_algorithm(name, result, graph, changed(DECLARED[name], given), verify)
    return table


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
