"""Constants as arrays and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute, Operation

from shardwright.dialects.stablehlo.structural import ConstantOp
from shardwright.dialects.text import literals
from shardwright.dialects.text.literals import DenseAttr
from shardwright.dialects.types import element_dtype, element_size, is_boolean, shape_of, tensor, tensor_type

if TYPE_CHECKING:
    import numpy as np


def make_dense(value: Any, element_type: Attribute, shape: Sequence[int] | None = None) -> DenseAttr:
    """
    The literal of an array or scalar; with `shape`, a scalar fills it.

    >>> from xdsl.dialects.builtin import f32
    >>> str(make_dense(1.5, f32, (1024, 1024)))
    'dense<1.500000e+00> : tensor<1024x1024xf32>'
    """
    import numpy as np

    array = np.asarray(value).astype(element_dtype(element_type))
    whole = array.shape if shape is None else tuple(shape)
    if array.shape not in (whole, ()):
        raise ValueError(f"an array of shape {array.shape} is no constant of shape {whole}")
    data = b"" if 0 in whole else np.ascontiguousarray(array).tobytes()
    return literals.dense(tensor(whole, element_type), data)


def make_constant(value: Any, element_type: Attribute, shape: Sequence[int] | None = None) -> ConstantOp:
    """The op for `make_dense`'s literal."""
    return ConstantOp(make_dense(value, element_type, shape))


def is_splat(op: Operation) -> bool:
    """Whether `op` is a constant whose elements are all equal."""
    return isinstance(op, ConstantOp) and literals.is_splat(op.value)


def constant_value(op: ConstantOp | DenseAttr) -> np.ndarray[Any, np.dtype[Any]]:
    """
    The constant as a read-only array; a splat is a broadcast view that costs one element.

    >>> from xdsl.dialects.builtin import f32
    >>> constant_value(make_constant(2.0, f32, (1000, 1000))).strides
    (0, 0)
    """
    import numpy as np

    value = op.value if isinstance(op, ConstantOp) else op
    array = _elements(value)
    shape = shape_of(value.type)
    return np.broadcast_to(array[0], shape) if literals.is_splat(value) else array.reshape(shape)


def splat_value(op: ConstantOp | DenseAttr) -> Any:
    """The one element of a splat as a NumPy scalar; `ValueError` when elements differ."""
    value = op.value if isinstance(op, ConstantOp) else op
    if not literals.is_splat(value):
        raise ValueError("the constant's elements are not all equal")
    return _elements(value)[0]


def _elements(value: DenseAttr) -> np.ndarray[Any, np.dtype[Any]]:
    import numpy as np

    element_type = tensor_type(value.type).element_type
    dtype = element_dtype(element_type)
    assert dtype.itemsize == element_size(element_type)
    raw = np.frombuffer(value.data.data, dtype=np.uint8 if is_boolean(element_type) else dtype)
    return raw.astype(np.bool_) if is_boolean(element_type) else raw
