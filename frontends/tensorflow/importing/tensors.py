"""TensorFlow's element types, shapes and tensors in graphs, as NumPy's, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shardwright.dialects.types import element_dtype, element_type_named
from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.serialization.merging.lazy.arrays import DTYPES
from shardwright.serialization.protos import graph_pb2

DType = np.dtype[Any]
Array = np.ndarray[Any, Any]

MAX_DIMS = 254
"""The most dims of TensorFlow's tensors."""

MAX_BYTES = 2**31 - 1
"""The most bytes that protobuf holds in one field."""

MOST_DIMS = 64
"""The most dims of NumPy's arrays."""

MOST_ELEMENTS = 1 << 59
"""NumPy's arrays have less than 2**63 bytes, of up to 16 for an element, and it does not leave out dims of size 0."""

EXPANSION = 8 << 20
"""The most bytes to which repeated last elements may expand when few are given; one element alone takes no memory."""

STRING = np.dtype(object)
"""Strings are Python's `bytes` in arrays of objects."""

_NUMBERS = {graph_pb2.DataType.Value(name): dtype for name, dtype in DTYPES.items()}
_DATA_TYPES = {dtype: number for number, dtype in _NUMBERS.items()}
_REFERENCE = 100
"""What is added to a type's number for a reference to a tensor of it."""

_FIELDS = {
    "float32": "float_val",
    "float64": "double_val",
    "float16": "half_val",
    "bfloat16": "half_val",
    "int64": "int64_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    "bool": "bool_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
}
"""Where a tensor's elements are when they are listed; all other whole numbers are in `int_val`."""


def data_type_name(data_type: int) -> str:
    """
    TensorFlow's name of an element type: `DT_FLOAT`; the number where it has none.

    >>> data_type_name(1), data_type_name(101), data_type_name(77)
    ('DT_FLOAT', 'DT_FLOAT_REF', '77')
    """
    found = graph_pb2.DataType.DESCRIPTOR.values_by_number.get(data_type)
    return found.name if found is not None else str(data_type)


def numpy_dtype(data_type: int, what: str = "a graph") -> DType:
    """
    The NumPy dtype of TensorFlow's element type; strings are objects.

    Raises `GraphError` (SW0889) for types that are no elements of arrays: resources, variants, quantised numbers.

    >>> numpy_dtype(19), numpy_dtype(101)
    (dtype('float16'), dtype('float32'))
    """
    plain = data_type - _REFERENCE if data_type > _REFERENCE else data_type
    if plain == graph_pb2.DT_STRING:
        return STRING
    name = _NUMBERS.get(plain)
    if name is None:
        raise GraphError("SW0889", f"{what} has elements of type {data_type_name(data_type)}")
    return element_dtype(element_type_named(name))


def data_type(dtype: DType, what: str = "a graph") -> int:
    """
    TensorFlow's number for a NumPy dtype; GraphError (SW0889) where it has none.

    >>> data_type(np.dtype("float32")), data_type(np.dtype(object))
    (1, 7)
    """
    if dtype.kind in "OS":
        return graph_pb2.DT_STRING
    found = _DATA_TYPES.get(dtype.name)
    if found is None:
        raise GraphError("SW0889", f"{what}: TensorFlow has no tensors of {dtype.name}")
    return found


def static_shape(shape: graph_pb2.TensorShapeProto, what: str = "a graph") -> tuple[int | None, ...] | None:
    """
    A shape, with None for sizes that are not known; None where not even the number of dims is.

    >>> static_shape(shape_proto((2, None))), static_shape(shape_proto(None))
    ((2, None), None)
    """
    if shape.unknown_rank:
        return None
    sizes = [dim.size for dim in shape.dim]
    if len(sizes) > MAX_DIMS or any(size < -1 for size in sizes):
        raise GraphError("SW0888", f"{what} has a shape of {len(sizes)} dims that no tensor has: {sizes[:8]}")
    return tuple(None if size == -1 else size for size in sizes)


def shape_proto(shape: Sequence[int | None] | None) -> graph_pb2.TensorShapeProto:
    """The message of a shape; None stands for what is not known."""
    if shape is None:
        return graph_pb2.TensorShapeProto(unknown_rank=True)
    sizes = (-1 if size is None else size for size in shape)
    return graph_pb2.TensorShapeProto(dim=[graph_pb2.TensorShapeProto.Dim(size=size) for size in sizes])


def tensor_array(proto: graph_pb2.TensorProto, what: str = "a tensor") -> Array:
    """
    The elements of a tensor in a graph, read-only.

    Raises `GraphError` (SW0888) where the elements are not those that shape and type need, before memory is taken. A
    single element for a whole shape is repeated without memory.

    >>> wide = tensor_array(graph_pb2.TensorProto(dtype=1, tensor_shape=shape_proto((1000, 1000)), float_val=[2.0]))
    >>> wide.shape, wide.strides
    ((1000, 1000), (0, 0))
    """
    dtype = numpy_dtype(proto.dtype, what)
    shape = _known_shape(proto, what)
    if proto.tensor_content:
        return _from_content(proto, dtype, shape, what)
    given = _listed(proto, dtype, what)
    count = math.prod(shape)
    if len(given) > count:
        raise GraphError("SW0888", f"{what} lists {len(given)} elements, and its shape {list(shape)} has {count}")
    if len(given) <= 1:
        fill = given[0] if len(given) else (b"" if dtype == STRING else dtype.type(0))
        return np.broadcast_to(np.array(fill, dtype), shape)
    if len(given) < count:
        given = _padded(given, count, what)
    array = given.reshape(shape)
    array.flags.writeable = False
    return array


def _known_shape(proto: graph_pb2.TensorProto, what: str) -> tuple[int, ...]:
    shape = static_shape(proto.tensor_shape, what)
    if shape is None or None in shape:
        raise GraphError("SW0888", f"{what} has elements but no certain shape")
    known = tuple(size for size in shape if size is not None)
    if len(known) > MOST_DIMS:
        raise GraphError("SW0888", f"{what} has {len(known)} dims, and arrays have at most {MOST_DIMS}")
    if math.prod(size or 1 for size in known) >= MOST_ELEMENTS:
        raise GraphError("SW0888", f"{what} has a shape of more elements than there can be: {list(known)}")
    return known


def _from_content(proto: graph_pb2.TensorProto, dtype: DType, shape: tuple[int, ...], what: str) -> Array:
    if dtype == STRING:
        raise GraphError("SW0889", f"{what} has strings in tensor_content, which are only read from string_val")
    content = proto.tensor_content
    due = math.prod(shape) * dtype.itemsize
    if len(content) != due:
        needs = f"its shape {list(shape)} of {dtype.name} needs {due}"
        raise GraphError("SW0888", f"{what} has {len(content)} bytes, and {needs}")
    if dtype == np.dtype(bool):
        return (np.frombuffer(content, np.uint8) != 0).reshape(shape)
    # TensorFlow writes the bytes of a machine with the low byte first.
    return np.frombuffer(content, dtype.newbyteorder("<")).reshape(shape).astype(dtype, copy=False)


def _listed(proto: graph_pb2.TensorProto, dtype: DType, what: str) -> Array:
    """The elements that the message lists one by one."""
    if dtype == STRING:
        return np.array([*proto.string_val, None], dtype)[:-1]
    if dtype.name.startswith(("float8", "float4")):
        return np.frombuffer(proto.float8_val, dtype)
    field = _FIELDS.get(dtype.name, "int_val")
    listed: Any = getattr(proto, field)
    if dtype.kind == "c":
        parts = np.array(listed, dtype.type(0).real.dtype)
        if len(parts) % 2:
            raise GraphError("SW0888", f"{what} lists {len(parts)} parts of complex numbers, which come in pairs")
        return parts.view(dtype)
    if field == "half_val":
        return _narrowed(np.array(listed, np.int32), np.dtype(np.uint16), what).view(dtype)
    return np.array(listed, dtype) if field != "int_val" else _narrowed(np.array(listed, np.int32), dtype, what)


def _narrowed(wide: Array, dtype: DType, what: str) -> Array:
    """32 bits in the type of the elements; half precision is held as the bits of whole numbers."""
    narrow = wide.astype(dtype)
    if not np.array_equal(narrow.astype(np.int32), wide):
        raise GraphError("SW0888", f"{what} lists numbers that do not fit {dtype.name}")
    return narrow


def _padded(given: Array, count: int, what: str) -> Array:
    """The elements that TensorFlow left out: all like the last one."""
    if count * given.itemsize > max(EXPANSION, 1024 * given.nbytes):
        raise GraphError(
            "SW0888", f"{what} lists {len(given)} elements for {count}: {count * given.itemsize} bytes of its last one"
        )
    whole = np.full(count, given[-1], given.dtype)
    whole[: len(given)] = given
    return whole


def is_repeated(array: Array) -> bool:
    """Whether one element in memory stands for all of an array."""
    return not any(stride for stride, size in zip(array.strides, array.shape, strict=True) if size > 1)


def tensor_proto(array: Any, what: str = "a tensor") -> graph_pb2.TensorProto:
    """
    A NumPy array as TensorFlow writes it: bytes, or one element where all are known to be the same.

    Raises `GraphError` (SW0888) for 2 GiB and more, which protobuf cannot hold in one field, SW0889 for other types.

    >>> proto = tensor_proto(np.array([1.0, 2.0], "float32"))
    >>> proto.tensor_content, tensor_array(proto)
    (b'\\x00\\x00\\x80?\\x00\\x00\\x00@', array([1., 2.], dtype=float32))
    """
    given = np.asarray(array)
    proto = graph_pb2.TensorProto(dtype=data_type(given.dtype, what), tensor_shape=shape_proto(given.shape))  # type: ignore[arg-type]
    if given.dtype.kind in "OS":
        proto.string_val.extend(text if isinstance(text, bytes) else str(text).encode() for text in given.flat)
    elif given.size and is_repeated(given):
        _list_one(proto, given[(slice(1),) * given.ndim].reshape(1))
    elif given.nbytes > MAX_BYTES:
        raise GraphError("SW0888", f"{what} has {given.nbytes} bytes, and one field of a message holds {MAX_BYTES}")
    else:
        proto.tensor_content = given.astype(given.dtype.newbyteorder("<"), copy=False).tobytes()
    return proto


def _list_one(proto: graph_pb2.TensorProto, one: Array) -> None:
    name = one.dtype.name
    if name.startswith(("float8", "float4")):
        proto.float8_val = one.tobytes()
        return
    field = _FIELDS.get(name, "int_val")
    if one.dtype.kind == "c":
        parts = [one.real.item(), one.imag.item()]
    elif field == "half_val":
        parts = [int(one.view(np.uint16)[0])]
    else:
        parts = [int(one[0]) if field == "int_val" else one.item()]
    getattr(proto, field).extend(parts)
