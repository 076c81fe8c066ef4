"""Constants whose elements are all equal: reading them, and making new ones."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, NoneAttr
from xdsl.ir import Attribute, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.text.literals import dense, is_splat
from shardwright.dialects.types import element_dtype, shape_of, tensor_type


def is_bare(value: SSAValue) -> bool:
    """Whether a value's type carries no layout: what the user laid out stays as it is."""
    return isinstance(tensor_type(value).encoding, NoneAttr)


def splat_bytes(value: SSAValue) -> bytes | None:
    """The bytes of the one element that the constant `value` repeats, or None when it is no such constant."""
    owner = value.owner
    if not isinstance(owner, stablehlo.ConstantOp):
        return None
    literal = cast("DenseIntOrFPElementsAttr[Any]", owner.properties["value"])
    return literal.data.data if is_splat(literal) else None


def splat_value(value: SSAValue) -> np.ndarray[Any, Any] | None:
    """The same element as an array of rank 0."""
    data = splat_bytes(value)
    return None if data is None else np.frombuffer(data, element_dtype(tensor_type(value).element_type)).reshape(())


def resplat(data: bytes, result_type: Attribute) -> stablehlo.ConstantOp:
    """The constant of type `result_type` that repeats the element `data`."""
    value = dense(tensor_type(result_type), data if math.prod(shape_of(result_type)) else b"")
    return stablehlo.ConstantOp.create(result_types=[result_type], properties={"value": value})


def splat(value: Any, result_type: Attribute) -> stablehlo.ConstantOp:
    """The constant of type `result_type` that repeats `value`."""
    dtype = element_dtype(tensor_type(result_type).element_type)
    return resplat(np.asarray(value, dtype).tobytes(), result_type)
