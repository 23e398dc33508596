"""The algorithms, under all of their names, and the classes of their results.

They are made of what the engine declares; `_algorithms.pyi`, which `python -m outcore._stubs` writes, lists them for
editors and type checkers.
"""

from outcore._declared import CLASSES, DECLARED, FUNCTIONS

_named = {name: FUNCTIONS[declared["name"]] for declared in DECLARED.values() for name in (declared["name"], *declared["aliases"])}
globals().update(CLASSES, **_named)
__all__ = sorted([*CLASSES, *_named])
