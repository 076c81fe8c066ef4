"""Tensors in messages as NumPy arrays over the bytes that were read: what dtype and shape they have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from shardwright.serialization.errors import MergeError
from shardwright.serialization.protos import graph_pb2, ir_pb2
from shardwright.serialization.tables.tensor_bundle import array_has

Array = np.ndarray[Any, np.dtype[Any]]

DTYPES = {
    "DT_HALF": "float16",
    "DT_FLOAT": "float32",
    "DT_DOUBLE": "float64",
    **{f"DT_{name.upper()}": name for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()},
    **{f"DT_{name.upper()}": name for name in "complex64 complex128 bfloat16 int2 int4 uint2 uint4".split()},
    **{f"DT_FLOAT8_{name.upper()}": f"float8_{name}" for name in "e5m2 e4m3fn e4m3fnuz e4m3b11fnuz e5m2fnuz".split()},
    "DT_FLOAT4_E2M1FN": "float4_e2m1fn",
}
"""TensorFlow's element types that are elements of arrays."""

DENSE, DATA = "#dense", "#bytes"
MOST_PARTS = 1000


class Reader(Protocol):
    """What arrays are read from: a `LazyMessage`."""

    @property
    def name(self) -> str:
        """The file."""
        ...

    def get(self, *path: str | int | bool) -> Any:
        """What is at a place."""
        ...

    def view(self, *path: str | int | bool) -> memoryview:
        """The bytes of a field."""
        ...


def array_at(message: Reader, place: Sequence[str | int | bool], kind: str, text: str) -> Array:
    """The array at a place that has a message of a type, given by its full name; of a `bytes` field without one."""
    if not kind:
        return np.frombuffer(message.view(*place), np.uint8)
    if kind in (graph_pb2.TensorProto.DESCRIPTOR.full_name, "tensorflow.TensorProto"):
        return _tensor(message, place, text)
    if kind == ir_pb2.Attribute.DESCRIPTOR.full_name:
        return _constant(message, place, text)
    raise _no_array(message.name, text, f"a {kind} is no array")


def _no_array(file: str, path: str, message: str) -> MergeError:
    return MergeError("SW0845", message, file=file, path=path)


def shaped(data: memoryview, dtype: np.dtype[Any], shape: Sequence[int], file: str, path: str) -> Array:
    """Bytes, the lowest first, as an array; SW0845 if they are not as many as it has."""
    _check_shape(shape, dtype, file, path)
    size = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or len(data) != size:
        text = f"it has {len(data)} bytes, and {dtype.name} of shape {list(shape)} has {size}"
        raise _no_array(file, path, text)
    array = np.frombuffer(data, np.uint8 if dtype == np.bool_ else dtype.newbyteorder("<")).reshape(shape)
    return array != 0 if dtype == np.bool_ else array


def _check_shape(shape: Sequence[int], dtype: np.dtype[Any], file: str, path: str) -> None:
    """NumPy refuses such shapes in its own words, and Python writes no number of more than 4300 digits."""
    if not array_has(shape, dtype):
        raise _no_array(file, path, f"no array has its shape, of {len(shape)} dims")


def _tensor(message: Reader, place: Sequence[str | int | bool], path: str) -> Array:
    number, dims = message.get(*place, "dtype"), message.get(*place, "tensor_shape")
    found = graph_pb2.DataType.DESCRIPTOR.values_by_number.get(number)
    name = found.name if found is not None else str(number)
    if name not in DTYPES or dims.unknown_rank:
        text = f"elements of type {name} are not in arrays" if name not in DTYPES else "it has no shape"
        raise _no_array(message.name, path, text)
    content = message.view(*place, "tensor_content")
    shape = [dim.size for dim in dims.dim]
    if not content and math.prod(shape):
        raise _no_array(message.name, path, "it has no tensor_content: its elements are listed")
    return shaped(content, _dtype(DTYPES[name]), shape, message.name, path)


def _dtype(name: str) -> np.dtype[Any]:
    """NumPy's dtype of a name, or that of ml_dtypes, which are loaded for it."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


def _constant(message: Reader, place: Sequence[str | int | bool], path: str) -> Array:
    """A dense constant of a module: its type is made of other attributes, its data are an attribute or blobs."""
    attribute = message.get(*place)
    if message.get("names", attribute.kind) != DENSE or len(attribute.parts) != 2:
        raise _no_array(message.name, path, "this attribute is no dense constant")
    tensor, data = _attribute(message, attribute.parts[0], path), message.get("attributes", attribute.parts[1])
    if message.get("names", data.kind) != DATA:
        raise _no_array(message.name, path, "its data are no bytes")
    shape, dtype = _tensor_type(tensor, message.name, path)
    _check_shape(shape, dtype, message.name, path)
    content = _blobs(message, attribute.parts[1], data)
    if len(content) == dtype.itemsize and math.prod(shape) > 1:
        return np.broadcast_to(shaped(content, dtype, (), message.name, path), shape)
    return shaped(content, dtype, shape, message.name, path)


def _tensor_type(given: Any, file: str, path: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    from xdsl.dialects.builtin import TensorType

    from shardwright.dialects.types import element_dtype, shape_of

    if not isinstance(given, TensorType):
        raise _no_array(file, path, "its type is not one of tensors")
    try:
        return shape_of(given), element_dtype(given)
    except TypeError as error:
        raise _no_array(file, path, str(error)) from None


def _blobs(message: Reader, place: int, data: ir_pb2.Attribute) -> memoryview:
    """The bytes of an attribute: its own, those of a blob, or those of several, which are copied together."""
    if not data.blobs:
        return message.view("attributes", place, "data")
    pieces = [message.view("blobs", blob, "data") for blob in data.blobs]
    return pieces[0] if len(pieces) == 1 else memoryview(b"".join(pieces))


def _attribute(message: Reader, place: int, path: str) -> Any:
    """One attribute of a module, built from those that it consists of."""
    from shardwright.dialects import make_context
    from shardwright.serialization.ir.attributes import AttributeReader

    needed, waiting = dict[int, ir_pb2.Attribute](), [place]
    while waiting:
        here = waiting.pop()
        if here not in needed:
            needed[here] = message.get("attributes", here)
            waiting.extend(needed[here].parts)
        if len(needed) > MOST_PARTS:
            raise _no_array(message.name, path, "its type has too many parts")
    table, numbers = ir_pb2.Module(), {old: new for new, old in enumerate(sorted(needed))}
    names = dict[int, int]()
    for old in numbers:
        entry = table.attributes.add()
        entry.CopyFrom(needed[old])
        entry.parts[:] = [numbers[part] for part in entry.parts]
        for field in (entry.kind, *entry.keys):
            if names.setdefault(field, len(names)) == len(table.names):
                table.names.append(message.get("names", field))
        entry.kind, entry.keys[:] = names[entry.kind], [names[key] for key in entry.keys]
    return AttributeReader(table, list(table.names), make_context(), lambda _: b"", 0).read()[numbers[place]]
