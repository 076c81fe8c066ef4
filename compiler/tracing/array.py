"""`Array`: what distributed tensors and traced values share, above all their operators."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import EllipsisType, ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self, TypeAlias

import numpy as np

from shardwright.compiler.tracing.dtypes import DType, listed
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.layout import Layout, Mesh


class Namespace(Protocol):
    """
    The array functions, which the operators of arrays call by name.

    They are written far above, with traces and programs that know arrays; so every array is given them as a value.
    """

    def __contains__(self, name: object, /) -> bool: ...

    def __getitem__(self, name: str, /) -> Callable[..., Any]: ...

    def module(self) -> ModuleType:
        """The module under which users reach the functions."""
        ...

    def refuse(self, kind: str, name: str, properties: list[str]) -> NoReturn:
        """Says what to write instead of an attribute that arrays do not have."""
        ...

    def numpy(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What a function of NumPy gives for arrays, by the array functions; refuses what these do not do."""
        ...


OPERANDS = (bool, int, float, complex, list, tuple)
"""What operators hand to array functions, next to what NumPy can read: these refuse lists, and say what to write."""


class SupportsArray(Protocol):
    """What NumPy can read: NumPy's own arrays and scalars, and arrays of other libraries."""

    def __array__(self) -> np.ndarray[Any, Any]:
        """The elements."""
        ...


ArrayLike: TypeAlias = "Array | SupportsArray | complex"
"""What array functions take: distributed and traced arrays, variables, NumPy arrays, Python numbers."""

Positions: TypeAlias = "ArrayLike | Sequence[int]"
"""Whole numbers that choose elements, in an array or a list."""

IndexItem: TypeAlias = "int | slice | EllipsisType | Positions | None"
Index: TypeAlias = "IndexItem | tuple[IndexItem, ...]"
"""What stands in the brackets of `x[...]`: positions, slices, `...`, `None`, arrays of positions or of truth values."""

Values: TypeAlias = "ArrayLike | Sequence[complex]"
"""What elements become: an array, a number, or a list of numbers."""

Operator: TypeAlias = "Callable[[Any, ArrayLike], Array]"


def _is_operand(value: Any) -> bool:
    return isinstance(value, OPERANDS) or hasattr(value, "__array__")


def _operator(name: str) -> Operator:
    """The method of an operator: the array function of this name; NotImplemented for what is no operand."""

    def operator(self: Any, other: ArrayLike) -> Array:
        return self.namespace[name](self, other) if _is_operand(other) else NotImplemented

    return operator


def _operators(name: str) -> tuple[Operator, Operator]:
    """The method of an operator, and the one for an array on its right side."""

    def reflected(self: Any, other: ArrayLike) -> Array:
        return self.namespace[name](other, self) if _is_operand(other) else NotImplemented

    return _operator(name), reflected


class Array(ABC):
    """
    A tensor of the array API standard, whether its elements are known (`DTensor`) or not yet (while tracing).

    Operators and functions follow the standard: shapes broadcast, types promote within their kind, Python scalars take
    the type of the array that they meet.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def namespace(self) -> Namespace:
        """
        The functions that its operators call.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> "sum" in x.namespace
        True
        """

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        # NumPy asks here for `numpy_array + x` and for `numpy.exp(x)`.
        function = function_for(ufunc, method, options, self.namespace)
        if function is None:
            raise type_error(
                "SW0503",
                f"{ufunc_name(ufunc)} cannot work on {type(self).__name__}s, whose elements NumPy does not see",
                help="use the function of this name in shardwright, or numpy.asarray(x) outside of traced functions",
            )
        return function(*inputs)

    def __array_function__(self, function: Any, types: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        # NumPy asks here for its functions that are no ufuncs, as `numpy.sum(x)`: their results stay distributed.
        return self.namespace.numpy(function, args, kwargs)

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """
        The global shape.

        >>> import shardwright
        >>> x = shardwright.ones((4, 2), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.shape
        (4, 2)
        """

    @property
    @abstractmethod
    def dtype(self) -> DType:
        """
        The element type.

        >>> import shardwright
        >>> x = shardwright.ones((4, 2), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.dtype
        dtype('float32')
        """

    @property
    @abstractmethod
    def layout(self) -> Layout | Any:
        """
        How the tensor is distributed; None while that is not decided (RFC: `tf.Tensor.layout`).

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.layout
        Layout(['x'], Mesh(x=2))
        """

    @property
    def mesh(self) -> Mesh:
        """
        The mesh over which the tensor is distributed.

        Raises `TypeError` (SW0503) where there is none: for plain variables, and for traced values whose layout is
        decided later.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.mesh
        Mesh(x=2)
        """
        layout: Layout | None = self.layout
        if layout is None:
            raise type_error(
                "SW0503",
                "there is no mesh without a layout, and this array has none",
                "in a traced function layouts are decided when all of it is written down",
                help="shardwright.relayout(x, layout) gives it one",
            )
        return layout.mesh

    if TYPE_CHECKING:  # what traced values refuse, each with its way out

        def numpy(self) -> np.ndarray[Any, Any]: ...
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]: ...
        def __bool__(self) -> bool: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __complex__(self) -> complex: ...
        def __index__(self) -> int: ...

    @property
    def ndim(self) -> int:
        """
        The number of dims.

        >>> import shardwright
        >>> x = shardwright.ones((4, 2), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.ndim
        2
        """
        return len(self.shape)

    @property
    def size(self) -> int:
        """
        The number of elements.

        >>> import shardwright
        >>> x = shardwright.ones((4, 2), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.size
        8
        """
        return math.prod(self.shape)

    @property
    def device(self) -> str:
        """
        Where the elements are: in this process. Which device of the mesh has which of them is the layout.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.device
        'cpu'
        """
        return "cpu"

    def to_device(self, device: str, /, *, stream: object = None) -> Self:
        """
        The tensor itself, for the one device that there is; ValueError (SW0517) for another.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.to_device("cpu") is x
        True
        """
        if device == self.device and stream is None:
            return self
        raise value_error(
            "SW0517",
            f"there is no device {device!r} to move to" if stream is None else "the device cpu has no streams",
            help="shardwright.relayout moves a tensor to another mesh or layout",
        )

    @property
    def T(self) -> Array:
        """
        The matrix transposed; only for two dims, as in the standard.

        >>> import shardwright
        >>> x = shardwright.ones((4, 2), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.T.shape
        (2, 4)
        """
        if self.ndim != 2:
            raise type_error(
                "SW0510", f".T needs two dims, not {self.ndim}", help="use .mT or shardwright.permute_dims"
            )
        return self.namespace["permute_dims"](self, (1, 0))

    @property
    def mT(self) -> Array:
        """
        The last two dims swapped.

        >>> import shardwright
        >>> x = shardwright.ones((4, 2), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.mT.shape
        (2, 4)
        """
        return self.namespace["matrix_transpose"](self)

    @property
    def at(self) -> At:
        """
        Arrays like this one with other elements at some places: `x.at[key].set(values)`, `add`, `multiply` and so on.

        >>> import shardwright
        >>> x = shardwright.ones((4, 2), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> float(shardwright.sum(x.at[1:3, 0].set(0)))
        6.0
        """
        return At(self)

    if not TYPE_CHECKING:  # checkers shall not think that an array has every attribute

        def __getattr__(self, name: str) -> Any:
            own = type(self).__name__
            kind = own if own in ("DTensor", "Variable", "TensorSpec") else "traced value"
            if name.startswith("_"):
                raise AttributeError(f"a {kind} has no attribute {name!r}")
            properties = [known for known in dir(type(self)) if not known.startswith("_")]
            self.namespace.refuse(kind, name, properties)

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        return self.namespace.module()

    def __len__(self) -> int:
        if not self.shape:
            raise type_error("SW0510", "a tensor without dims has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        if not self.shape:
            raise type_error("SW0510", "a tensor without dims cannot be iterated over")
        return iter(self.namespace["unstack"](self))

    def __getitem__(self, index: Index) -> Array:
        return self.namespace["index"](self, index)

    def __setitem__(self, index: Index, value: ArrayLike) -> NoReturn:
        raise type_error(
            "SW0514",
            "an element cannot be assigned: no tensor ever changes",
            help="x.at[key].set(value) gives a new one, with other elements; so does shardwright.where",
        )

    __add__, __radd__ = _operators("add")
    __sub__, __rsub__ = _operators("subtract")
    __mul__, __rmul__ = _operators("multiply")
    __truediv__, __rtruediv__ = _operators("divide")
    __floordiv__, __rfloordiv__ = _operators("floor_divide")
    __mod__, __rmod__ = _operators("remainder")
    __pow__, __rpow__ = _operators("pow")
    __matmul__, __rmatmul__ = _operators("matmul")
    __and__, __rand__ = _operators("bitwise_and")
    __or__, __ror__ = _operators("bitwise_or")
    __xor__, __rxor__ = _operators("bitwise_xor")
    __lshift__, __rlshift__ = _operators("bitwise_left_shift")
    __rshift__, __rrshift__ = _operators("bitwise_right_shift")
    __lt__ = _operator("less")
    __le__ = _operator("less_equal")
    __gt__ = _operator("greater")
    __ge__ = _operator("greater_equal")

    def __eq__(self, other: object) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride]  (element-wise)
        return self.namespace["equal"](self, other) if _is_operand(other) else NotImplemented

    def __ne__(self, other: object) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride]  (element-wise)
        return self.namespace["not_equal"](self, other) if _is_operand(other) else NotImplemented

    __hash__ = object.__hash__

    def __neg__(self) -> Array:
        return self.namespace["negative"](self)

    def __pos__(self) -> Array:
        return self

    def __abs__(self) -> Array:
        return self.namespace["abs"](self)

    def __invert__(self) -> Array:
        return self.namespace["bitwise_invert"](self)


def function_for(
    ufunc: Any, method: str, options: Mapping[str, Any], namespace: Namespace
) -> Callable[..., Any] | None:
    """The array function that does what this call of a NumPy ufunc does, if there is one."""
    own: str = ufunc.__name__
    name = _UFUNC_NAMES.get(own, own)
    return namespace[name] if method == "__call__" and not options and name in namespace else None


def ufunc_name(ufunc: Any) -> str:
    """
    What to call a ufunc in a message.

    >>> ufunc_name(np.exp)
    'numpy.exp'
    """
    name: str = ufunc.__name__
    return f"numpy.{name}" if getattr(np, name, None) is ufunc else f"the function {name}"


class At:
    """
    What `x.at` is; in brackets it takes what `x[...]` takes, and truth values over the first dims.

    >>> import shardwright
    >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
    >>> x.at[1:3].set(0)
    DTensor([1., 0., 0., 1.], f32[4@x], Mesh(x=2))
    """

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Index) -> Places:
        return Places(self._array, key)


class Places:
    """
    Places in an array, of which a new array has other elements; nothing changes in the old one.

    Values are broadcast to `x[key]` and take the array's type. Positions outside are left out where they are in an
    array, and refused (SW0514) where they are known. Of several values for one place `set` keeps the last one; the
    others combine them all.
    """

    __slots__ = ("_array", "_key")

    def __init__(self, array: Array, key: Any) -> None:
        self._array, self._key = array, key

    def _updated(self, values: Values, how: str) -> Array:
        given = listed(values, self._array.dtype, f"at[...].{how}") if isinstance(values, list | tuple) else values
        return self._array.namespace["updated"](self._array, self._key, given, how)

    def set(self, values: Values) -> Array:
        """
        The array with these elements there.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.at[[0, -1]].set([5, 7]).numpy()
        array([5., 1., 1., 7.], dtype=float32)
        """
        return self._updated(values, "set")

    def add(self, values: Values) -> Array:
        """
        The array with these added to the elements there.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.at[[0, 0, 2]].add(10).numpy()
        array([21.,  1., 11.,  1.], dtype=float32)
        """
        return self._updated(values, "add")

    def subtract(self, values: Values) -> Array:
        """
        The array with these subtracted from the elements there.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.at[::2].subtract(3).numpy()
        array([-2.,  1., -2.,  1.], dtype=float32)
        """
        return self._updated(values, "subtract")

    def multiply(self, values: Values) -> Array:
        """
        The array with the elements there multiplied by these.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.at[2].multiply(6).numpy()
        array([1., 1., 6., 1.], dtype=float32)
        """
        return self._updated(values, "multiply")

    def min(self, values: Values) -> Array:
        """
        The array with the elements there lowered to these where these are smaller.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.at[1:].min([0, 2, 3]).numpy()
        array([1., 0., 1., 1.], dtype=float32)
        """
        return self._updated(values, "min")

    def max(self, values: Values) -> Array:
        """
        The array with the elements there raised to these where these are larger.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.at[1:].max([0, 2, 3]).numpy()
        array([1., 1., 2., 3.], dtype=float32)
        """
        return self._updated(values, "max")

    def get(self) -> Array:
        """
        The elements there: `x[key]`.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.at[1:].get().shape
        (3,)
        """
        return self._array[self._key]


class TypedArray(Array):
    """An array that remembers its shape and its type."""

    __slots__ = ("_dtype", "_shape")

    _dtype: DType
    _shape: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._dtype


_UFUNC_NAMES = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "conjugate": "conj",
    "expit": "sigmoid",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "log_expit": "log_sigmoid",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
    "true_divide": "divide",
}
"""Our functions that NumPy's operators and functions, and those of `scipy.special`, call by another name."""
