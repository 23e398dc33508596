"""Types of elements, and what the namespace can do."""

from typing import Any, NamedTuple

import numpy as np

from outcore._errors import UsageError
from outcore.array import _array as core
from outcore.array._array import Array

bool, int8, int16, int32, int64 = map(np.dtype, ("bool", "int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(np.dtype, ("uint8", "uint16", "uint32", "uint64"))
float32, float64 = map(np.dtype, ("float32", "float64"))

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
_OF_CHAR = {kind: [np.dtype(name) for name in core.TYPES if np.dtype(name).kind == kind] for kind in "biuf"}


class FloatInfo(NamedTuple):
    """The limits of a type of real numbers."""

    bits: int
    """The number of bits of a number."""
    eps: float
    """The distance from 1 to the next number."""
    max: float
    """The greatest number."""
    min: float
    """The least number."""
    smallest_normal: float
    """The least positive number with full precision."""
    dtype: np.dtype[Any]
    """The type."""


class IntegerInfo(NamedTuple):
    """The limits of a type of whole numbers."""

    bits: int
    """The number of bits of a number."""
    max: int
    """The greatest number."""
    min: int
    """The least number."""
    dtype: np.dtype[Any]
    """The type."""


def _dtype(given: Any) -> np.dtype[Any]:
    return given.dtype if isinstance(given, (Array, np.ndarray, np.generic)) else np.dtype(core.type_name(given))


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a type of real numbers, or of that of an array.

    >>> oc.array.finfo(oc.array.float32).bits
    32
    """
    info = np.finfo(_dtype(type))
    eps, most, least, normal = (float(figure) for figure in (info.eps, info.max, info.min, info.smallest_normal))
    return FloatInfo(int(info.bits), eps, most, least, normal, np.dtype(info.dtype))


def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of a type of whole numbers, or of that of an array.

    >>> oc.array.iinfo(oc.array.int8).max
    127
    """
    dtype = _dtype(type)
    info = np.iinfo(dtype)
    return IntegerInfo(int(info.bits), int(info.max), int(info.min), dtype)


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a type is one, of a kind such as "integral", or one of several of these.

    >>> oc.array.isdtype(oc.array.int8, ("bool", "integral"))
    True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise UsageError(f"expected a kind of {', '.join(_KINDS)}, found {kind!r}")
        return np.dtype(dtype).kind in _KINDS[kind]
    return np.dtype(dtype) == np.dtype(kind)


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether every element of a type, or of an array's, is one of another type.

    >>> oc.array.can_cast(oc.array.int8, oc.array.int16)
    True
    """
    return np.can_cast(_dtype(from_), _dtype(to))


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The type that arrays, types and numbers together become.

    >>> oc.array.result_type(oc.array.int8, oc.array.uint8)
    dtype('int16')
    """
    given: list[Any] = [one.dtype if isinstance(one, Array) else one for one in arrays_and_dtypes]
    types = [one for one in given if not core.is_number(one)]
    if not types:
        return np.result_type(*given)
    dtype: np.dtype[Any] = np.result_type(*types)
    for one in given:
        if core.is_number(one):
            dtype = core.number(one, dtype).dtype
    return np.dtype(core.type_name(dtype))


class NamespaceInfo:
    """The inspection of the namespace, as the array API defines it.

    >>> oc.array.__array_namespace_info__().capabilities()["max dimensions"]
    16
    """

    def capabilities(self) -> dict[str, Any]:
        """No results whose shape depends on elements, and no indices of truth values."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 16}

    def default_device(self) -> str:
        """The processor."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """The processor."""
        return ("cpu",)

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """The types of what is made without naming one. There are no complex numbers."""
        core.check_device(device)
        return {"real floating": float64, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """The types of a kind, or of several, by their names."""
        core.check_device(device)
        return {name: np.dtype(name) for name in core.TYPES if kind is None or isdtype(np.dtype(name), kind)}


def __array_namespace_info__() -> NamespaceInfo:
    """Capabilities, devices and types of the namespace."""
    return NamespaceInfo()
