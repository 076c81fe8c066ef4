"""`Array`: what distributed tensors and traced values share, above all their operators."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self

from shardwright.compiler.tracing.dtypes import DType
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.layout import Layout


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


PLAIN_OPERANDS = (bool, int, float, complex)
"""What operators take, next to arrays and anything else that NumPy can read."""

Operator = Callable[[Any, Any], Any]


def _is_operand(value: Any) -> bool:
    return isinstance(value, PLAIN_OPERANDS) or hasattr(value, "__array__")


def _operator(name: str) -> Operator:
    """The method of an operator: the array function of this name; NotImplemented for what is no operand."""

    def operator(self: Array, other: Any) -> Any:
        return self.namespace[name](self, other) if _is_operand(other) else NotImplemented

    return operator


def _operators(name: str) -> tuple[Operator, Operator]:
    """The method of an operator, and the one for an array on its right side."""

    def reflected(self: Array, other: Any) -> Any:
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
        """The functions that its operators call."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        # NumPy asks here for `numpy_array + x` and for `numpy.exp(x)`.
        own: str = ufunc.__name__
        name = _UFUNC_NAMES.get(own, own)
        if method != "__call__" or options or name not in self.namespace:
            raise type_error(
                "SW0503",
                f"numpy.{own} cannot work on {type(self).__name__}s, whose elements NumPy does not see",
                help="use the function of this name in shardwright, or numpy.asarray(x) outside of traced functions",
            )
        return self.namespace[name](*inputs)

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The global shape."""

    @property
    @abstractmethod
    def dtype(self) -> DType:
        """The element type."""

    @property
    @abstractmethod
    def layout(self) -> Layout | None:
        """How the tensor is distributed; None while that is not decided (RFC: `tf.Tensor.layout`)."""

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def device(self) -> str:
        """Where the elements are: in this process. Which device of the mesh has which of them is the layout."""
        return "cpu"

    def to_device(self, device: str, /, *, stream: object = None) -> Self:
        """The tensor itself, for the one device that there is; ValueError (SW0517) for another."""
        if device == self.device and stream is None:
            return self
        raise value_error(
            "SW0517",
            f"there is no device {device!r} to move to" if stream is None else "the device cpu has no streams",
            help="shardwright.relayout moves a tensor to another mesh or layout",
        )

    @property
    def T(self) -> Any:
        """The matrix transposed; only for two dims, as in the standard."""
        if self.ndim != 2:
            raise type_error(
                "SW0510", f".T needs two dims, not {self.ndim}", help="use .mT or shardwright.permute_dims"
            )
        return self.namespace["permute_dims"](self, (1, 0))

    @property
    def mT(self) -> Any:
        """The last two dims swapped."""
        return self.namespace["matrix_transpose"](self)

    if not TYPE_CHECKING:  # checkers shall not think that an array has every attribute

        def __getattr__(self, name: str) -> Any:
            kind = "DTensor" if type(self).__name__ == "DTensor" else "traced value"
            if name.startswith("_"):
                raise AttributeError(f"a {kind} has no attribute {name!r}")
            properties = [known for known in dir(type(self)) if not known.startswith("_")]
            self.namespace.refuse(kind, name, properties)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self.namespace.module()

    def __len__(self) -> int:
        if not self.shape:
            raise type_error("SW0510", "a tensor without dims has no length")
        return self.shape[0]

    def __iter__(self) -> Any:
        if not self.shape:
            raise type_error("SW0510", "a tensor without dims cannot be iterated over")
        return iter(self.namespace["unstack"](self))

    def __getitem__(self, index: Any) -> Any:
        return self.namespace["index"](self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise type_error(
            "SW0514",
            "an element cannot be assigned: no tensor ever changes",
            help="shardwright.scatter_update and shardwright.where give a new one, with other elements",
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

    def __eq__(self, other: object) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  (element-wise)
        return self.namespace["equal"](self, other) if _is_operand(other) else NotImplemented

    def __ne__(self, other: object) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  (element-wise)
        return self.namespace["not_equal"](self, other) if _is_operand(other) else NotImplemented

    __hash__ = object.__hash__

    def __neg__(self) -> Any:
        return self.namespace["negative"](self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.namespace["abs"](self)

    def __invert__(self) -> Any:
        return self.namespace["bitwise_invert"](self)


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
    "arctan2": "atan2",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
    "true_divide": "divide",
}
"""The functions of the standard that NumPy's operators and functions call by another name."""
