"""The element types of the array API standard, and its functions on them."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from shardwright.compiler.tracing.dtypes import DType, DTypeLike, as_dtype, check_kind, kind_of, promote, scalar_kind
from shardwright.compiler.tracing.emit import dtype_of, result_dtype
from shardwright.diagnostics.faults import type_error

__all__ = [
    "bfloat16",
    "bool",
    "can_cast",
    "complex64",
    "complex128",
    "finfo",
    "float16",
    "float32",
    "float64",
    "iinfo",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "result_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

bool = np.dtype("bool")
int8, int16, int32, int64 = (np.dtype(f"int{width}") for width in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{width}") for width in (8, 16, 32, 64))
bfloat16: DType = np.dtype(ml_dtypes.bfloat16)
float16, float32, float64 = (np.dtype(f"float{width}") for width in (16, 32, 64))
complex64, complex128 = (np.dtype(f"complex{width}") for width in (64, 128))


def result_type(*arrays_and_dtypes: Any) -> DType:
    """
    The type to which arrays, types and Python numbers promote.

    Raises `TypeError` (SW0506) where the standard leaves it open.

    >>> result_type(np.dtype("int8"), np.dtype("uint8"), 3)
    dtype('int16')
    """
    values = [item if _is_value(item) else np.zeros((), as_dtype(item)) for item in arrays_and_dtypes]
    return result_dtype("result_type", *values)


def _is_value(item: Any) -> Any:
    return scalar_kind(item) is not None or (hasattr(item, "dtype") and not isinstance(item, type))


def can_cast(from_: Any, to: DTypeLike, /) -> builtins.bool:
    """
    Whether a type (or an array's) becomes `to` by promotion.

    >>> can_cast(np.dtype("float16"), np.dtype("float32")), can_cast(np.dtype("int8"), np.dtype("float32"))
    (True, False)
    """
    source = dtype_of(from_) if _is_value(from_) else as_dtype(from_)
    return promote(source, as_dtype(to)) == as_dtype(to)


_KINDS = {
    "bool": ("boolean",),
    "integral": ("integer",),
    "signed integer": ("integer",),
    "unsigned integer": ("integer",),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("integer", "float", "complex"),
}


def isdtype(dtype: DTypeLike, kind: Any) -> builtins.bool:
    """
    Whether a type is of a kind: a type, a name such as `"real floating"`, or a tuple of these.

    >>> isdtype(np.dtype("float32"), "numeric"), isdtype(np.dtype("uint8"), "signed integer")
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    found = as_dtype(dtype)
    if not isinstance(kind, str):
        return found == as_dtype(kind)
    if kind not in _KINDS:
        raise type_error("SW0506", f"{kind!r} is no kind of types", help=f"there are {', '.join(map(repr, _KINDS))}")
    signs = {"signed integer": "i", "unsigned integer": "u"}.get(kind, found.kind)
    return kind_of(found) in _KINDS[kind] and found.kind == signs


@dataclass(frozen=True)
class FloatInfo:
    """The limits of a floating point type, as plain numbers; of a complex type those of its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


def finfo(type: Any, /) -> FloatInfo:
    """
    The limits of a floating point type, or of an array's.

    >>> finfo(np.dtype("float16")).max
    65504.0
    """
    dtype = dtype_of(type) if _is_value(type) else as_dtype(type)
    check_kind(dtype, ("float", "complex"), "finfo")
    found = ml_dtypes.finfo(dtype)
    eps, high, low, tiny = map(float, (found.eps, found.max, found.min, found.smallest_normal))
    return FloatInfo(found.bits, eps, high, low, tiny, np.dtype(found.dtype))


def iinfo(type: Any, /) -> np.iinfo[Any]:
    """
    The limits of an integer type, or of an array's.

    >>> iinfo(np.dtype("int8")).max
    127
    """
    dtype = dtype_of(type) if _is_value(type) else as_dtype(type)
    check_kind(dtype, ("integer",), "iinfo")
    return np.iinfo(dtype)
