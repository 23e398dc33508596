"""Functions of elements, and choosing between elements."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from outcore._outcore import Expression
from outcore.array import _array as core
from outcore.array._array import Array, Operand

T = TypeVar("T")

# Functions whose operands become real numbers if they are whole ones, as in NumPy.
_OF_REALS = {
    "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "reciprocal", "signbit", "divide", "atan2", "hypot", "copysign",
    "nextafter", "logaddexp",
}  # fmt: skip
_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
_ORDERS = _COMPARISONS - {"equal", "not_equal"}
# Arithmetic of truth values, as in NumPy.
_OF_TRUTH = {
    "add": "logical_or", "multiply": "logical_and", "maximum": "logical_or", "minimum": "logical_and",
}  # fmt: skip
_OF_BITS = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "bitwise_invert"}


def unary(name: str, x: Operand) -> Array:
    """A function of every element."""
    array = core.as_array(x)
    kind, expression = array.dtype.kind, array._expression
    if name in _OF_REALS and kind != "f":
        expression = expression.cast("float64")
    elif name == "logical_not" and kind != "b":
        expression = expression.cast("bool")
    elif name in ("isnan", "isinf", "isfinite") and kind == "b":
        expression = expression.cast("uint8")
    elif name == "positive" and kind == "b" or name in _OF_BITS and kind == "f":
        raise TypeError(f"expected elements of a type that {name} is for, found {array.dtype}")
    return core.made(expression.unary(name), array)


def binary(name: str, x1: Operand, x2: Operand) -> Array:
    """A function of the elements of two operands, which are broadcast to each other."""
    if name in _COMPARISONS and (constant := _beyond(name, x1, x2)) is not None:
        return constant
    if name in _OF_REALS:
        # A whole number need not fit the type of the other operand, which becomes float64 as well.
        x1, x2 = (float(x) if type(x) is int else x for x in (x1, x2))
    left, right = core.together(x1, x2)
    one, other = left._expression, right._expression
    kinds = {left.dtype.kind, right.dtype.kind}
    if name in _OF_REALS and not kinds & {"f"}:
        one, other = one.cast("float64"), other.cast("float64")
    elif name.startswith("logical_"):
        one, other = one.cast("bool"), other.cast("bool")
    elif name in _OF_BITS and "f" in kinds:
        raise TypeError(f"expected elements of a type that {name} is for, found {left.dtype} and {right.dtype}")
    elif kinds == {"b"}:
        if name in _OF_TRUTH:
            name = _OF_TRUTH[name]
        elif name in _ORDERS:
            one, other = one.cast("uint8"), other.cast("uint8")
        elif name in ("floor_divide", "remainder", "pow"):
            one, other = one.cast("int8"), other.cast("int8")
        elif name == "subtract":
            raise TypeError("expected numbers to subtract, found bool; use bitwise_xor or logical_xor")
    if {left.dtype.name, right.dtype.name} > {"uint64"} and "i" in kinds and name in _COMPARISONS:
        return _mixed_signs(name, left, right)
    return core.made(one.binary(name, other), left, right)


def _beyond(name: str, x1: Operand, x2: Operand) -> Array | None:
    """A comparison with a whole number that the type of the other operand does not hold, which comes to the same
    everywhere."""
    for value, other in ((x1, x2), (x2, x1)):
        if isinstance(value, int) and not isinstance(value, (bool, np.generic)) and not core.is_number(other):
            array = core.as_array(other)
            if array.dtype.kind not in "iu" or np.iinfo(array.dtype).min <= value <= np.iinfo(array.dtype).max:
                continue
            # All numbers of the type compare with it as 0 does with its sign.
            sign = 1 if value > 0 else -1
            result = bool(getattr(np, name)(*((sign, 0) if value is x1 else (0, sign))))
            return where(equal(array, array), result, result)
    return None


def _mixed_signs(name: str, left: Array, right: Array) -> Array:
    """A comparison of uint64 with whole numbers that have a sign, exactly: these are below all others if they are
    negative."""
    signed = left if left.dtype.kind == "i" else right
    unsigned = [one if one.dtype.kind == "u" else core.made(one._expression.cast("uint64")) for one in (left, right)]
    low = -1 if signed is left else 1
    negative = bool(getattr(np, name)(low, 0))
    return where(less(signed, 0), negative, binary(name, *unsigned))


Unary = Callable[[Operand], Array]
Binary = Callable[[Operand, Operand], Array]


def _of_one(name: str, text: str) -> Unary:
    def function(x: Operand, /) -> Array:
        return unary(name, x)

    return _named(function, name, text)


def _of_two(name: str, text: str) -> Binary:
    def function(x1: Operand, x2: Operand, /) -> Array:
        return binary(name, x1, x2)

    return _named(function, name, text)


def _named(function: T, name: str, text: str) -> T:
    for attribute, value in (("__name__", name), ("__qualname__", name), ("__doc__", text)):
        setattr(function, attribute, value)
    function.__module__ = "outcore.array"
    return function


abs = _of_one("abs", "The absolute value; the least number of a signed type has itself.")
acos = _of_one("acos", "The inverse cosine.")
acosh = _of_one("acosh", "The inverse hyperbolic cosine.")
asin = _of_one("asin", "The inverse sine.")
asinh = _of_one("asinh", "The inverse hyperbolic sine.")
atan = _of_one("atan", "The inverse tangent.")
atanh = _of_one("atanh", "The inverse hyperbolic tangent.")
bitwise_invert = _of_one("bitwise_invert", "The element with every bit inverted; true and false are exchanged.")
ceil = _of_one("ceil", "The least whole number that is not less than the element.")
cos = _of_one("cos", "The cosine.")
cosh = _of_one("cosh", "The hyperbolic cosine.")
exp = _of_one("exp", "The exponential function.")
expm1 = _of_one("expm1", "The exponential function less 1.")
floor = _of_one("floor", "The greatest whole number that is not greater than the element.")
isfinite = _of_one("isfinite", "Whether the element is a finite number.")
isinf = _of_one("isinf", "Whether the element is infinite.")
isnan = _of_one("isnan", "Whether the element is NaN.")
log = _of_one("log", "The natural logarithm.")
log10 = _of_one("log10", "The logarithm to base 10.")
log1p = _of_one("log1p", "The natural logarithm of 1 plus the element.")
log2 = _of_one("log2", "The logarithm to base 2.")
logical_not = _of_one("logical_not", "Whether the element is false, or 0.")
negative = _of_one("negative", "The element with the other sign; whole numbers wrap.")
positive = _of_one("positive", "The element itself.")
reciprocal = _of_one("reciprocal", "1 divided by the element.")
round = _of_one("round", "The nearest whole number; halves are rounded to even.")
sign = _of_one("sign", "The sign as -1, 0 or 1; NaN of NaN.")
signbit = _of_one("signbit", "Whether the sign bit is set.")
sin = _of_one("sin", "The sine.")
sinh = _of_one("sinh", "The hyperbolic sine.")
sqrt = _of_one("sqrt", "The square root.")
square = _of_one("square", "The element times itself.")
tan = _of_one("tan", "The tangent.")
tanh = _of_one("tanh", "The hyperbolic tangent.")
trunc = _of_one("trunc", "The element without its fraction.")

add = _of_two("add", "The sum; whole numbers wrap.")
atan2 = _of_two("atan2", "The angle of the point with ordinate `x1` and abscissa `x2`.")
bitwise_and = _of_two("bitwise_and", "The bits that are set in both.")
bitwise_left_shift = _of_two("bitwise_left_shift", "The bits of `x1` shifted left by `x2`.")
bitwise_or = _of_two("bitwise_or", "The bits that are set in either.")
bitwise_right_shift = _of_two("bitwise_right_shift", "The bits of `x1` shifted right by `x2`; the sign stays.")
bitwise_xor = _of_two("bitwise_xor", "The bits that are set in exactly one.")
copysign = _of_two("copysign", "The first element with the sign of the second.")
divide = _of_two("divide", "The quotient, as real numbers.")
equal = _of_two("equal", "Whether the elements are equal.")
floor_divide = _of_two("floor_divide", "The quotient rounded down; 0 of a whole number divided by 0.")
greater = _of_two("greater", "Whether the first is greater.")
greater_equal = _of_two("greater_equal", "Whether the first is greater or equal.")
hypot = _of_two("hypot", "The length of the hypotenuse.")
less = _of_two("less", "Whether the first is less.")
less_equal = _of_two("less_equal", "Whether the first is less or equal.")
logaddexp = _of_two("logaddexp", "The logarithm of the sum of the exponentials.")
logical_and = _of_two("logical_and", "Whether both are true.")
logical_or = _of_two("logical_or", "Whether at least one is true.")
logical_xor = _of_two("logical_xor", "Whether exactly one is true.")
maximum = _of_two("maximum", "The greater one; NaN if either is.")
minimum = _of_two("minimum", "The lesser one; NaN if either is.")
multiply = _of_two("multiply", "The product; whole numbers wrap.")
nextafter = _of_two("nextafter", "The next number from the first towards the second.")
not_equal = _of_two("not_equal", "Whether the elements differ.")
pow = _of_two("pow", "`x1` to the power of `x2`; whole numbers wrap, and have exponents from 0 on.")
remainder = _of_two(
    "remainder", "The remainder of `floor_divide`, with the sign of the divisor; 0 for a whole divisor of 0."
)
subtract = _of_two("subtract", "The difference; whole numbers wrap.")


def clip(x: Operand, /, min: Operand = None, max: Operand = None) -> Array:
    """Every element, but at least `min` and at most `max`, either of which may be `None`. NaN stays NaN.

    >>> oc.array.clip(oc.array.arange(5), 1, 3).compute()
    array([1, 1, 2, 3, 3])
    """
    array = core.as_array(x)
    if array.dtype.kind in "iu":
        # A limit beyond those of the type changes nothing.
        info = np.iinfo(array.dtype)
        min = None if isinstance(min, int) and core.is_number(min) and min <= info.min else min
        max = None if isinstance(max, int) and core.is_number(max) and max >= info.max else max
    if min is not None:
        array = binary("maximum", array, min)
    return array if max is None else binary("minimum", array, max)


def rounded(x: Operand, decimals: int = 0) -> Array:
    """Every element rounded to this number of decimals."""
    array = core.as_array(x)
    if decimals == 0 or array.dtype.kind != "f" and decimals > 0:
        return unary("round", array)
    scale = 10.0 ** abs(decimals)
    # A power of ten above 1 is exact, its inverse is not.
    to, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    result = binary(back, unary("round", binary(to, array, scale)), scale)
    return result if array.dtype.kind == "f" else core.made(result._expression.cast(array.dtype.name), result)


def where(condition: Operand, x1: Operand, x2: Operand, /) -> Array:
    """Elements of `x1` where the condition is true, and of `x2` elsewhere.

    >>> x = oc.array.asarray([3.0, -1.0])
    >>> oc.array.where(x > 0, x, 0).compute()
    array([3., 0.])
    """
    chosen = core.as_array(condition)
    left, right = core.together(x1, x2)
    is_true: Expression = chosen._expression.cast("bool")
    return core.made(is_true.select(left._expression, right._expression), chosen, left, right)


def real(x: Operand, /) -> Array:
    """The elements themselves, which are real."""
    return core.as_array(x)


def conj(x: Operand, /) -> Array:
    """The elements themselves, which are real."""
    return core.as_array(x)


def imag(x: Operand, /) -> Array:
    """Zeros: there are no complex numbers."""
    array = core.as_array(x)
    return core.made(Expression.full(list(array.shape), 0, array.dtype.name), array)
