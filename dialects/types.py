"""Element types: the words of StableHLO, their NumPy dtypes, and cheap access to tensor types."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects import builtin
from xdsl.dialects.builtin import ComplexType, DenseArrayBase, IntAttr, IntegerType, NoneAttr, Signedness, TensorType
from xdsl.ir import Attribute, BlockArgument, OpResult, SSAValue

if TYPE_CHECKING:
    import numpy as np

AnyTensor: TypeAlias = TensorType[Attribute]
Integers: TypeAlias = DenseArrayBase[IntegerType]

_FLOAT_DTYPES: dict[Attribute, str] = {
    builtin.f16: "float16",
    builtin.f32: "float32",
    builtin.f64: "float64",
    builtin.bf16: "bfloat16",
    builtin.f8E5M2: "float8_e5m2",
    builtin.f8E4M3: "float8_e4m3",
    builtin.f8E4M3FN: "float8_e4m3fn",
    builtin.f8E5M2FNUZ: "float8_e5m2fnuz",
    builtin.f8E4M3FNUZ: "float8_e4m3fnuz",
    builtin.f8E4M3B11FNUZ: "float8_e4m3b11fnuz",
    builtin.f8E3M4: "float8_e3m4",
    builtin.f8E8M0FNU: "float8_e8m0fnu",
    builtin.f6E2M3FN: "float6_e2m3fn",
    builtin.f6E3M2FN: "float6_e3m2fn",
    builtin.f4E2M1FN: "float4_e2m1fn",
}
_NATIVE = {"float16", "float32", "float64"}
_COMPLEX = {"float32": "complex64", "float64": "complex128"}


def dtype_name(element_type: Attribute) -> str:
    """
    The NumPy (or ml_dtypes) name of an element type; `TypeError` when it has none.

    >>> dtype_name(builtin.bf16), dtype_name(IntegerType(8, Signedness.UNSIGNED)), dtype_name(IntegerType(1))
    ('bfloat16', 'uint8', 'bool')
    """
    if isinstance(element_type, IntegerType):
        unsigned = element_type.signedness.data is Signedness.UNSIGNED
        width = element_type.width.data
        if width in (2, 4, 8, 16, 32, 64):
            return f"{'u' if unsigned else ''}int{width}"
        if width == 1 and not unsigned:
            return "bool"
    elif isinstance(element_type, ComplexType):
        name = _COMPLEX.get(_FLOAT_DTYPES.get(element_type.element_type, ""))
        if name is not None:
            return name
    elif element_type in _FLOAT_DTYPES:
        return _FLOAT_DTYPES[element_type]
    raise TypeError(f"element type {element_type} has no array type")


def has_array_type(type_: Attribute) -> bool:
    """
    Whether a type is one of tensors, of elements that NumPy or ml_dtypes has a type for.

    >>> [has_array_type(each) for each in (tensor((4,), builtin.bf16), tensor((4,), builtin.f80), builtin.f32)]
    [True, False, False]
    """
    return isinstance(type_, TensorType) and _has_dtype(cast(AnyTensor, type_).element_type)


@cache
def _has_dtype(element_type: Attribute) -> bool:
    with suppress(TypeError):
        return bool(dtype_name(element_type))
    return False


@cache
def element_dtype(element_type: Attribute) -> np.dtype[Any]:
    """
    The NumPy dtype of an element type, or of a tensor type's elements.

    >>> element_dtype(builtin.f32), element_dtype(IntegerType(1))
    (dtype('float32'), dtype('bool'))
    """
    import numpy as np

    if isinstance(element_type, TensorType):
        return element_dtype(cast(AnyTensor, element_type).element_type)
    name = dtype_name(element_type)
    if name in _NATIVE or name.startswith(("complex", "bool")) or name in _STANDARD_INTEGERS:
        return np.dtype(name)
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name))


_STANDARD_INTEGERS = {f"{sign}int{width}" for sign in ("", "u") for width in (8, 16, 32, 64)}


def native_array(array: Any) -> Any:
    """
    The array with its elements in this machine's byte order; an array that has it already is returned as it is.

    Generated code writes bytes in place, so this is called wherever arrays come in.

    >>> import numpy
    >>> native_array(numpy.array([1, 2], ">i4")).dtype.isnative
    True
    """
    dtype = getattr(array, "dtype", None)
    if dtype is None or getattr(dtype, "isnative", True):
        return array
    return array.astype(dtype.newbyteorder("="))


@cache
def element_type_named(name: str) -> Attribute:
    """
    The element type of a dtype's name: the inverse of `dtype_name`.

    >>> str(element_type_named("uint8")), str(element_type_named("complex64"))
    ('ui8', 'complex<f32>')
    """
    for float_type, float_name in _FLOAT_DTYPES.items():
        if name == float_name:
            return float_type
    if name == "bool":
        return IntegerType(1)
    if name in ("complex64", "complex128"):
        return ComplexType(builtin.f32 if name == "complex64" else builtin.f64)
    unsigned = name.startswith("uint")
    width = name.removeprefix("uint" if unsigned else "int")
    if width in ("2", "4", "8", "16", "32", "64"):
        return IntegerType(int(width), Signedness.UNSIGNED if unsigned else Signedness.SIGNLESS)
    raise TypeError(f"arrays of {name} have no element type")


def dtype_element(dtype: np.dtype[Any]) -> Attribute:
    """The element type of a NumPy dtype: the inverse of `element_dtype`."""
    return element_type_named(dtype.name)


@cache
def tensor(shape: tuple[int, ...], element_type: Attribute) -> AnyTensor:
    """
    The tensor type without a layout; the same object for the same arguments.

    >>> str(tensor((4, 8), builtin.f32))
    'tensor<4x8xf32>'
    """
    return TensorType(element_type, shape)


LARGEST_EXTENT = (1 << 63) - 1
_INTEGER = re.compile(r"([su]?)i([0-9]+)")
_SIGNS = {"": Signedness.SIGNLESS, "s": Signedness.SIGNED, "u": Signedness.UNSIGNED}
_FLOATS = {str(kind): kind for kind in _FLOAT_DTYPES}


@lru_cache(maxsize=1 << 14)
def plain_tensor(dims: str, element: str) -> AnyTensor | None:
    """
    The type `tensor<dims element>`, or None when the text needs the full parser.

    >>> str(plain_tensor("4x8x", "ui8")), plain_tensor("", "index")
    ('tensor<4x8xui8>', None)
    """
    shape = tuple(int(extent) for extent in dims.split("x")[:-1])
    if any(extent > LARGEST_EXTENT for extent in shape):
        return None
    if element in _FLOATS:
        return tensor(shape, _FLOATS[element])
    match = _INTEGER.fullmatch(element)
    if match is None or not 0 < int(match[2]) <= 64:
        return None
    return tensor(shape, IntegerType(int(match[2]), _SIGNS[match[1]]))


_data: Callable[[IntAttr], int] = attrgetter("data")


def tensor_type(value: SSAValue | Attribute) -> AnyTensor:
    """The tensor type of a value (or the type itself, narrowed)."""
    if type(value) is TensorType:
        return value
    # To ask an abstract class for its instances is dear, so the classes that there are come first.
    if type(value) is OpResult or type(value) is BlockArgument or isinstance(value, SSAValue):
        value = value.type
    assert isinstance(value, TensorType), f"{value} is not a tensor type"
    return cast(AnyTensor, value)


def shape_of(value: SSAValue | Attribute) -> tuple[int, ...]:
    """The shape of a tensor value or type."""
    return tuple(map(_data, tensor_type(value).shape.data))


def element_of(value: SSAValue | Attribute) -> Attribute:
    """The element type of a tensor value or type."""
    return tensor_type(value).element_type


def plain(tensor_like: Attribute) -> AnyTensor:
    """The tensor type without its encoding."""
    found = tensor_type(tensor_like)
    return found if isinstance(found.encoding, NoneAttr) else tensor(shape_of(found), found.element_type)


@cache
def integers(values: tuple[int, ...]) -> Integers:
    """The attribute `array<i64: ...>`; the same object for the same values."""
    return DenseArrayBase.from_list(builtin.i64, values)


def is_float(element_type: Attribute) -> bool:
    """Whether elements are floating point numbers."""
    return element_type in _FLOAT_DTYPES


def is_complex(element_type: Attribute) -> bool:
    """Whether elements are complex numbers."""
    return isinstance(element_type, ComplexType)


def is_boolean(element_type: Attribute) -> bool:
    """Whether elements are truth values (i1)."""
    return isinstance(element_type, IntegerType) and element_type.width.data == 1


def is_integer(element_type: Attribute) -> bool:
    """Whether elements are integers of two bits or more."""
    return isinstance(element_type, IntegerType) and element_type.width.data > 1


def bit_width(element_type: Attribute) -> int:
    """The bits of one element."""
    if isinstance(element_type, IntegerType):
        return element_type.width.data
    if isinstance(element_type, ComplexType):
        return 2 * bit_width(element_type.element_type)
    assert isinstance(element_type, builtin.AnyFloat), f"{element_type} has no width"
    return element_type.bitwidth


@cache
def element_size(element_type: Attribute) -> int:
    """
    The bytes that one element takes in arrays and literals; each has its own bytes, also below eight bits.

    >>> element_size(builtin.bf16), element_size(IntegerType(1)), element_size(ComplexType(builtin.f32))
    (2, 1, 8)
    """
    if isinstance(element_type, ComplexType):
        return 2 * element_size(element_type.element_type)
    return 8 if isinstance(element_type, builtin.IndexType) else (bit_width(element_type) + 7) // 8
