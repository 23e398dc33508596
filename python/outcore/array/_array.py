"""The class of lazy arrays, and what becomes one: NumPy's arrays, lists and numbers."""

import operator
import os
import reprlib
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

import numpy as np

# Methods call the functions of the package, which is complete by then: functions import the class, it imports none.
from outcore import array as xp
from outcore._errors import UsageError
from outcore._inputs.tables import unmasked
from outcore._outcore import Expression, Runtime

if TYPE_CHECKING:
    from outcore.array._explain import Explanation

# The types of elements that there are.
TYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

Number = bool | int | float
Operand = Any
"""An array of ours or of NumPy's, or a number."""
Index = Any
"""An index, as it stands in brackets: whole numbers, slices, `...`, `None`, arrays of whole numbers."""
Axis = SupportsIndex | tuple[int, ...] | list[int] | None


class Array:
    """A dense array that is computed when it is asked for, of any size. It cannot be changed.

    Operations on arrays make new ones, which say what is to be computed: they check shapes and types at once, and read
    and compute nothing. `compute` computes several in one pass over the files that they are made of, block by block;
    `float(x)`, `bool(x)` and the like, and NumPy's `np.asarray(x)`, compute one.

    Arrays are made by `outcore.array.open`, `asarray` and other functions of `outcore.array`, which follow the Python
    array API standard; operators, indices and methods are those of NumPy. An array in a file is streamed along its
    first axis, its *long axis*: what combines two of them has them along the same axis, and what needs all rows at once
    is refused, unless it fits into memory.

    Cost: nothing before it is computed. Then one pass over the files, and one more for each level of results that
    others depend on. Small results, of up to 4 KiB, are kept with the array: they are computed once.

    >>> x = oc.array.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> y = (x - x.mean(axis=0)) / x.std(axis=0)
    >>> y
    <outcore.array.Array: divide, shape (2, 2), float64>
    >>> y.compute()
    array([[-1., -1.],
           [ 1.,  1.]])
    """

    __slots__ = ("_expression", "_names", "_runtime", "_values")
    # NumPy's operators leave it to this class what to do.
    __array_priority__ = 100.0
    __hash__ = None  # type: ignore[assignment]

    _expression: Expression
    _names: list[str] | None
    _runtime: Runtime | None
    # The elements, if they are in memory.
    _values: np.ndarray | None

    def __init__(self) -> None:
        raise TypeError("expected outcore.array.asarray, open or another function to make an Array")

    # Properties.

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return tuple(self._expression.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements, as NumPy has it."""
        return np.dtype(self._expression.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._expression.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for size in self._expression.shape:
            count *= size
        return count

    @property
    def nbytes(self) -> int:
        """The bytes that the elements take once they are computed."""
        return self.size * self.dtype.itemsize

    @property
    def long_axis(self) -> int | None:
        """The axis along which it is computed block by block; `None` if it is computed as a whole."""
        return self._expression.long_axis

    @property
    def names(self) -> list[str] | None:
        """The names of the columns of an array in an image, if they have any. `x["price"]` is the column of that name,
        and `x[["price", "area"]]` several of them. Parts such as `x[:100, 1:3]` and what `persist` makes of them have
        their names; what else is computed has none."""
        return getattr(self, "_names", None)

    @property
    def device(self) -> str:
        """The device of the elements: "cpu"."""
        return "cpu"

    def to_device(self, device: str, /, *, stream: None = None) -> Self:
        """The array itself.

        Raises:
            UsageError: Another device than "cpu".
        """
        check_device(device)
        if stream is not None:
            raise UsageError(f"expected no stream, found {stream!r}")
        return self

    @property
    def T(self) -> "Array":
        """The array with its axes in the opposite order. Nothing is moved."""
        return xp._manipulation.transpose(self)

    @property
    def mT(self) -> "Array":
        """The matrix, or each of a stack of them, transposed."""
        return xp.matrix_transpose(self)

    def __repr__(self) -> str:
        axis = self.long_axis
        along = "" if axis is None else f", long axis {axis}"
        return f"<outcore.array.Array: {self._expression.operation}, shape {self.shape}, {self.dtype}{along}>"

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator["Array"]:
        if not self.ndim:
            raise TypeError("an array without axes cannot be iterated over")
        if self.long_axis is not None:
            raise TypeError(
                f"expected a small array to iterate over, found one of shape {self.shape}: every element would be "
                "computed on its own; compute it first, or use functions of whole arrays"
            )
        return iter([self[place] for place in range(self.shape[0])])

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __copy__(self) -> Self:
        # It cannot be changed.
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("an Array cannot be pickled; persist it and pass the path, or pass what it computes to")

    # Computation.

    def compute(self, **limits: Any) -> np.ndarray:
        """The elements, as an array of NumPy's. For several arrays use `outcore.array.compute`: they share passes.

        Args:
            limits: `runtime`, `memory`, `threads`, `backend`, `temporary` and `progress`, as `outcore.array.compute`
                has them.

        Raises:
            MemoryLimitError: Too little memory for the elements.
            UsageError: An operation that needs all rows of an array in a file at once.

        >>> oc.array.arange(4).compute()
        array([0, 1, 2, 3])
        """
        values: tuple[np.ndarray, ...] = xp.compute(self, **limits)
        return values[0]

    def explain(self, **limits: Any) -> "Explanation":
        """The plan of `compute`: passes, bytes that are read, memory. Nothing is computed. For several arrays use
        `outcore.array.explain`.

        Args:
            limits: As `compute` has them.

        >>> [found.rows for found in oc.array.arange(1000).sum().explain().passes]
        [1000]
        """
        return xp.explain(self, **limits)

    def persist(
        self,
        path: str | os.PathLike[str],
        *,
        names: list[str] | None = None,
        replace: bool = False,
        **limits: Any,
    ) -> "Array":
        """Computes the array into an image on the disk, and opens that; see `outcore.array.persist`."""
        return xp.persist(path, self, names=names, replace=replace, **limits)

    def save(self, path: str | os.PathLike[str], *, names: list[str] | None = None, **limits: Any) -> None:
        """Computes the array into a file: .npy, .parquet, .arrow or .csv; see `outcore.array.save`."""
        xp.save(path, self, names=names, **limits)

    def _single(self, kind: str) -> Any:
        if self.ndim:
            raise TypeError(f"expected an array without axes to make {kind} of, found one of shape {self.shape}")
        values = self._values
        return (self.compute() if values is None else values)[()]

    def __bool__(self) -> bool:
        return bool(self._single("a truth value"))

    def __int__(self) -> int:
        return int(self._single("an int"))

    def __float__(self) -> float:
        return float(self._single("a float"))

    def __complex__(self) -> complex:
        return complex(self._single("a complex number"))

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError(f"expected an array of whole numbers as an index, found {self.dtype}")
        return operator.index(self._single("an index"))

    def item(self) -> Number:
        """The only element, as a number of Python's. It is computed.

        Raises:
            UsageError: More elements, or none.
        """
        if self.size != 1:
            raise UsageError(f"expected one element, found {self.size}")
        value: Number = self.compute().item()
        return value

    def tolist(self) -> Any:
        """The elements as nested lists. They are computed."""
        return self.compute().tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise UsageError("expected copy=True or None: an Array is computed into new memory")
        values = self.compute()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        # It is computed into new memory, whatever `copy` says.
        return self.compute().__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    # Protocols of NumPy and other libraries.

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        if api_version is not None and api_version not in VERSIONS:
            raise UsageError(f"expected a version of the array API of {', '.join(VERSIONS)}, found {api_version!r}")
        import outcore.array

        return outcore.array

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return xp._numpy.ufunc(ufunc, method, inputs, options)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        return xp._numpy.function(function, arguments, options)

    # Methods of NumPy's arrays.

    def astype(self, dtype: Any, copy: bool = True) -> "Array":
        """The elements as another type. Real numbers that a type of whole numbers does not hold become its least or
        greatest one, and NaN becomes 0."""
        return xp.astype(self, dtype, copy=copy)

    def reshape(self, *shape: Any) -> "Array":
        """The same elements, row by row, under another shape; one size may be -1."""
        return xp.reshape(self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes: Any) -> "Array":
        """The array with its axes in another order, by default in the opposite one."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], SupportsIndex) else axes or None
        return xp._manipulation.transpose(self, order)

    def flatten(self) -> "Array":
        """The elements row by row, along a single axis."""
        return xp.reshape(self, (-1,))

    ravel = flatten

    def squeeze(self, axis: Axis = None) -> "Array":
        """The array without axes of size 1, or without those that are named."""
        if axis is None:
            axis = tuple(place for place, size in enumerate(self.shape) if size == 1)
        return xp.squeeze(self, axis)

    def take(self, indices: Operand, axis: int | None = None) -> "Array":
        """The parts at indices along an axis."""
        return xp.take(self, indices, axis=axis) if axis is not None else xp.take(self.flatten(), indices)

    def dot(self, other: Operand) -> "Array":
        """The product as NumPy's `dot` has it, of vectors and matrices."""
        return xp._products.dot(self, other)

    def clip(self, min: Operand = None, max: Operand = None) -> "Array":
        """The elements, but at least `min` and at most `max`."""
        return xp.clip(self, min, max)

    def round(self, decimals: int = 0) -> "Array":
        """The elements, rounded to this number of decimals; halves are rounded to even."""
        return xp._elementwise.rounded(self, decimals)

    def sum(self, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> "Array":
        """Sums; see `outcore.array.sum`."""
        return xp.sum(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def prod(self, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> "Array":
        """Products; see `outcore.array.prod`."""
        return xp.prod(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> "Array":
        """Means; see `outcore.array.mean`."""
        return xp.mean(self, axis=axis, keepdims=keepdims)

    def var(self, axis: Axis = None, ddof: float = 0, keepdims: bool = False) -> "Array":
        """Variances; see `outcore.array.var`, whose `correction` is `ddof` here."""
        return xp.var(self, axis=axis, correction=ddof, keepdims=keepdims)

    def std(self, axis: Axis = None, ddof: float = 0, keepdims: bool = False) -> "Array":
        """Standard deviations; see `outcore.array.std`, whose `correction` is `ddof` here."""
        return xp.std(self, axis=axis, correction=ddof, keepdims=keepdims)

    def min(self, axis: Axis = None, keepdims: bool = False) -> "Array":
        """The least elements; see `outcore.array.min`."""
        return xp.min(self, axis=axis, keepdims=keepdims)

    def max(self, axis: Axis = None, keepdims: bool = False) -> "Array":
        """The greatest elements; see `outcore.array.max`."""
        return xp.max(self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> "Array":
        """The index of the least element; see `outcore.array.argmin`."""
        return xp.argmin(self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> "Array":
        """The index of the greatest element; see `outcore.array.argmax`."""
        return xp.argmax(self, axis=axis, keepdims=keepdims)

    def any(self, axis: Axis = None, keepdims: bool = False) -> "Array":
        """Whether any element is true, or not 0."""
        return xp.any(self, axis=axis, keepdims=keepdims)

    def all(self, axis: Axis = None, keepdims: bool = False) -> "Array":
        """Whether all elements are true, or not 0."""
        return xp.all(self, axis=axis, keepdims=keepdims)

    def cumsum(self, axis: int | None = None, dtype: Any = None) -> "Array":
        """Sums of an element and all before it; see `outcore.array.cumulative_sum`."""
        flat = self.flatten() if axis is None else self
        return xp.cumulative_sum(flat, axis=axis or 0, dtype=dtype)

    def cumprod(self, axis: int | None = None, dtype: Any = None) -> "Array":
        """Products of an element and all before it; see `outcore.array.cumulative_prod`."""
        flat = self.flatten() if axis is None else self
        return xp.cumulative_prod(flat, axis=axis or 0, dtype=dtype)

    # Indices and operators.

    def __getitem__(self, index: Index) -> "Array":
        return xp._indexing.item(self, index)

    def __neg__(self) -> "Array":
        return xp.negative(self)

    def __pos__(self) -> "Array":
        return xp.positive(self)

    def __abs__(self) -> "Array":
        return xp.abs(self)

    def __invert__(self) -> "Array":
        return xp.bitwise_invert(self)

    def __add__(self, other: Operand) -> "Array":
        return _operator("add", self, other)

    def __radd__(self, other: Operand) -> "Array":
        return _operator("add", other, self)

    def __sub__(self, other: Operand) -> "Array":
        return _operator("subtract", self, other)

    def __rsub__(self, other: Operand) -> "Array":
        return _operator("subtract", other, self)

    def __mul__(self, other: Operand) -> "Array":
        return _operator("multiply", self, other)

    def __rmul__(self, other: Operand) -> "Array":
        return _operator("multiply", other, self)

    def __truediv__(self, other: Operand) -> "Array":
        return _operator("divide", self, other)

    def __rtruediv__(self, other: Operand) -> "Array":
        return _operator("divide", other, self)

    def __floordiv__(self, other: Operand) -> "Array":
        return _operator("floor_divide", self, other)

    def __rfloordiv__(self, other: Operand) -> "Array":
        return _operator("floor_divide", other, self)

    def __mod__(self, other: Operand) -> "Array":
        return _operator("remainder", self, other)

    def __rmod__(self, other: Operand) -> "Array":
        return _operator("remainder", other, self)

    def __divmod__(self, other: Operand) -> "tuple[Array, Array]":
        return _operator("floor_divide", self, other), _operator("remainder", self, other)

    def __pow__(self, other: Operand) -> "Array":
        return _operator("pow", self, other)

    def __rpow__(self, other: Operand) -> "Array":
        return _operator("pow", other, self)

    def __and__(self, other: Operand) -> "Array":
        return _operator("bitwise_and", self, other)

    def __rand__(self, other: Operand) -> "Array":
        return _operator("bitwise_and", other, self)

    def __or__(self, other: Operand) -> "Array":
        return _operator("bitwise_or", self, other)

    def __ror__(self, other: Operand) -> "Array":
        return _operator("bitwise_or", other, self)

    def __xor__(self, other: Operand) -> "Array":
        return _operator("bitwise_xor", self, other)

    def __rxor__(self, other: Operand) -> "Array":
        return _operator("bitwise_xor", other, self)

    def __lshift__(self, other: Operand) -> "Array":
        return _operator("bitwise_left_shift", self, other)

    def __rlshift__(self, other: Operand) -> "Array":
        return _operator("bitwise_left_shift", other, self)

    def __rshift__(self, other: Operand) -> "Array":
        return _operator("bitwise_right_shift", self, other)

    def __rrshift__(self, other: Operand) -> "Array":
        return _operator("bitwise_right_shift", other, self)

    def __matmul__(self, other: Operand) -> "Array":
        return xp.matmul(self, other) if is_operand(other) else NotImplemented

    def __rmatmul__(self, other: Operand) -> "Array":
        return xp.matmul(other, self) if is_operand(other) else NotImplemented

    def __eq__(self, other: object) -> "Array":  # type: ignore[override]
        return _operator("equal", self, other)

    def __ne__(self, other: object) -> "Array":  # type: ignore[override]
        return _operator("not_equal", self, other)

    def __lt__(self, other: Operand) -> "Array":
        return _operator("less", self, other)

    def __le__(self, other: Operand) -> "Array":
        return _operator("less_equal", self, other)

    def __gt__(self, other: Operand) -> "Array":
        return _operator("greater", self, other)

    def __ge__(self, other: Operand) -> "Array":
        return _operator("greater_equal", self, other)


Array.__module__ = "outcore.array"


def _operator(name: str, left: Operand, right: Operand) -> Array:
    """A function of two operands, unless one of them is for somebody else."""
    if is_operand(left) and is_operand(right):
        return xp._elementwise.binary(name, left, right)
    return NotImplemented  # type: ignore[no-any-return]


def is_operand(given: Any) -> bool:
    """Whether operators take it: arrays and numbers, but no lists."""
    return isinstance(given, (Array, bool, int, float, np.ndarray, np.generic))


def made(expression: Expression, *operands: Any) -> Array:
    """An array of an expression. Its runtime is that of the first operand that has one."""
    array = object.__new__(Array)
    array._expression = expression
    runtimes = (operand._runtime for operand in operands if isinstance(operand, Array))
    array._runtime = next((runtime for runtime in runtimes if runtime is not None), None)
    array._values = None
    return array


def of_numpy(given: Any) -> Array:
    """A lazy array that looks at one of NumPy's where it lies. What lies in a way that the engine does not read is
    copied."""
    array = unmasked(given)
    if array.dtype.name not in TYPES:
        advice = "; take its real and imaginary parts" if array.dtype.kind == "c" else ""
        advice = "; convert it to float32" if array.dtype == np.float16 else advice
        raise TypeError(f"expected elements of bool, integers, float32 or float64, found {array.dtype}{advice}")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if not array.flags.aligned or any(stride % array.itemsize for stride in array.strides):
        array = array.copy()
    found = made(Expression.of_numpy(array))
    found._values = array
    return found


def kept(values: Any, x: Array) -> Array:
    """An array of what is known of another one, with its runtime."""
    array = of_numpy(values)
    array._runtime = x._runtime
    return array


def as_array(given: Operand) -> Array:
    """An operand as an array; numbers become what NumPy makes of them."""
    return given if isinstance(given, Array) else of_numpy(given)


def number(value: Number, dtype: np.dtype[Any]) -> Array:
    """A number that meets an array of a type: it becomes one of that type, unless that cannot hold its kind."""
    if isinstance(value, float) and dtype.kind != "f":
        dtype = np.dtype("float64")
    elif isinstance(value, int) and not isinstance(value, bool) and dtype.kind == "b":
        dtype = np.dtype("int64")
    return made(Expression.full([], value, dtype.name))


def is_number(given: Any) -> bool:
    """Whether it is a number of Python's own, whose type gives way to that of an array."""
    return isinstance(given, (bool, int, float)) and not isinstance(given, np.generic)


def together(*operands: Operand) -> list[Array]:
    """Operands as arrays: numbers of Python's own become of the type of the others."""
    arrays = [None if is_number(operand) else as_array(operand) for operand in operands]
    types = [array.dtype for array in arrays if array is not None]
    if not types:
        return [of_numpy(operand) for operand in operands]
    dtype = np.result_type(*types)
    return [number(operand, dtype) if array is None else array for array, operand in zip(arrays, operands)]


def check_device(device: Any) -> None:
    """An error for any device but the processor."""
    if device not in (None, "cpu"):
        raise UsageError(f"expected device 'cpu', found {device!r}")


def own_axis(axis: Any, ndim: int) -> int:
    """An axis counted from the first one.

    Raises:
        UsageError: An axis that is not there.
    """
    place = whole_number("an axis", axis)
    if not -ndim <= place < ndim:
        raise UsageError(f"expected an axis of an array of {ndim} axes, found {place}")
    return place % ndim


def own_axes(axis: Axis, ndim: int) -> list[int] | None:
    """Axes as the engine takes them; `None` for all."""
    if axis is None:
        return None
    return [whole_number("an axis", one) for one in (axis if isinstance(axis, (tuple, list)) else [axis])]


def whole_number(what: str, value: Any) -> int:
    """A value that must be a whole number, as one of Python's.

    Raises:
        TypeError: Something else.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"expected {what} as a whole number, found {reprlib.repr(value)}") from None


def sizes(shape: Any) -> list[int]:
    """A shape, which may be given as a single size."""
    if isinstance(shape, SupportsIndex):
        shape = (shape,)
    if not isinstance(shape, Iterable):
        raise TypeError(f"expected a shape of whole numbers, found {reprlib.repr(shape)}")
    found = [whole_number("a size", size) for size in shape]
    if any(size < 0 for size in found):
        raise UsageError(f"expected sizes from 0 on, found {tuple(found)}")
    return found


def type_name(dtype: Any) -> str:
    """The engine's name of a type of elements.

    Raises:
        TypeError: Another one.
    """
    try:
        name: str = np.dtype(dtype).name
    except TypeError:
        name = reprlib.repr(dtype)
    if name not in TYPES:
        raise TypeError(f"expected bool, integers, float32 or float64 as a type, found {name}")
    return name
