"""
Python values as data, both ways: what is static in a call, the keys of containers, plain attributes of modules.

Nothing is pickled or evaluated. Numbers, texts, containers, slices, types, layouts and meshes are written by what they
are; dataclasses and named tuples by the names of their fields; functions of shardwright by their public names; modules
and variables by their number among the saved objects. Everything else is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from shardwright.compiler.tracing.array import Array
from shardwright.dialects.types import dtype_element, element_dtype, element_type_named
from shardwright.frontends.functions.signature import TensorSpec
from shardwright.frontends.training.modules import Module
from shardwright.layout import Layout, Mesh
from shardwright.saving.faults import SavingError, malformed
from shardwright.saving.objects.public_names import public_functions, public_name
from shardwright.saving.objects.records import Records, field_names
from shardwright.serialization.protos import program_pb2 as pb

DEPTH = 24
"""How deep containers may be nested in one value; protobuf's parsers stop at 100 messages, of which a level needs 3."""

LARGE_INTEGER = 1024
"""The most bytes of a whole number; Python does not print much larger ones."""

PYTHON_CLASSES: dict[str, Any] = {
    kind.__name__: kind for kind in (bool, int, float, complex, str, bytes, list, tuple, dict, slice, range)
}


@dataclass
class Writer:
    """Meshes by their numbers; `number_of` gives those of modules and variables, None for what is not saved."""

    meshes: list[Mesh]
    number_of: Callable[[Any], int | None]

    def mesh(self, mesh: Mesh) -> int:
        """The number of a mesh, which is noted if it is new."""
        if mesh not in self.meshes:
            self.meshes.append(mesh)
        return self.meshes.index(mesh)

    def layout(self, layout: Layout) -> pb.Layout:
        """A layout by its mesh and its text in the IR."""
        return pb.Layout(mesh=self.mesh(layout.mesh), text=layout.spec.body())

    def value(self, value: Any, where: str, depth: int = 0) -> pb.Value:
        """
        A value as data.

        Raises `SavingError` (SW0865) for what cannot be stored, which `where` names.
        """
        if depth > DEPTH:
            raise SavingError("SW0865", f"{where} is nested more than {DEPTH} levels deep", help="make it flatter")
        write = _WRITERS.get(cast("type[Any]", type(value)))
        if write is not None:
            return write(self, value, where, depth)
        found = self._reference(value) or self._by_class(value, where, depth)
        if found is None:
            raise _not_stored(value, where)
        return found

    def values(self, values: Sequence[Any], where: str, depth: int) -> pb.Values:
        return pb.Values(items=[self.value(item, f"{where}[{at}]", depth + 1) for at, item in enumerate(values)])

    def _reference(self, value: Any) -> pb.Value | None:
        """What is stored by a name or a number."""
        if isinstance(value, TensorSpec):
            return None
        if isinstance(value, Module | Array):
            number = self.number_of(value)
            return None if number is None else pb.Value(object_number=number)
        if isinstance(value, type):
            name = cast("type[Any]", value).__name__
            if PYTHON_CLASSES.get(name) is value:
                return pb.Value(python_class=name)
            return pb.Value(scalar_class=np.dtype(value).name) if issubclass(value, np.generic) else None
        name = public_name(value) if callable(value) else None
        return None if name is None else pb.Value(function=name)

    def _by_class(self, value: Any, where: str, depth: int) -> pb.Value | None:
        if isinstance(value, np.dtype):
            return pb.Value(dtype=_dtype_name(value, where))
        if isinstance(value, np.generic):
            name = _dtype_name(value.dtype, where)
            return pb.Value(scalar=pb.Scalar(dtype=name, raw=value.astype(value.dtype.newbyteorder("<")).tobytes()))
        names = field_names(type(value))
        if names is None:
            return None
        parts = [self.value(getattr(value, name), f"{where}.{name}", depth + 1) for name in names]
        record = pb.Record(class_name=type(value).__name__, names=names, values=parts)
        return pb.Value(named_tuple=record) if isinstance(value, tuple) else pb.Value(dataclass=record)


def _not_stored(value: Any, where: str) -> SavingError:
    if isinstance(value, Module | Array) and not isinstance(value, TensorSpec):
        kind = "module" if isinstance(value, Module) else "variable" if hasattr(value, "trainable") else "tensor"
        help_text = "save a dict of the function and the module, or the module that has the function"
        return SavingError("SW0865", f"{where} is a {kind} that is not saved along", help=help_text)
    name = getattr(value, "__qualname__", "")
    what = f"the {type(value).__name__} {name}" if name else f"of the type {type(value).__name__}"
    return SavingError("SW0865", f"{where} is {what}, which cannot be stored")


def _dtype_name(dtype: np.dtype[Any], where: str) -> str:
    try:
        dtype_element(dtype)
    except TypeError as error:
        raise SavingError("SW0865", f"{where} has the type {dtype.name}, which cannot be stored") from error
    return dtype.name


def _text(writer: Writer, value: str, where: str, depth: int) -> pb.Value:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise SavingError("SW0865", f"{where} is {value!r}, which is no text of Unicode") from error
    return pb.Value(text=value)


def _integer(writer: Writer, value: int, where: str, depth: int) -> pb.Value:
    if -(1 << 63) <= value < 1 << 63:
        return pb.Value(integer=value)
    if value.bit_length() >= 8 * LARGE_INTEGER:
        raise SavingError("SW0865", f"{where} is a whole number of {value.bit_length()} bits, which cannot be stored")
    return pb.Value(large_integer=value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))


def _dict(writer: Writer, value: dict[Any, Any], where: str, depth: int) -> pb.Value:
    keys = [writer.value(key, f"a key of {where}", depth + 1) for key in value]
    values = [writer.value(part, f"{where}[{key!r}]", depth + 1) for key, part in value.items()]
    return pb.Value(dict_items=pb.Pairs(keys=keys, values=values))


def _layout(writer: Writer, value: Layout, where: str, depth: int) -> pb.Value:
    message = writer.layout(value)
    message.uneven, message.automatic = value.uneven, value.is_auto
    return pb.Value(layout=message)


_WRITERS: dict[Any, Callable[[Writer, Any, str, int], pb.Value]] = {
    type(None): lambda writer, value, where, depth: pb.Value(none=pb.Nothing()),
    bool: lambda writer, value, where, depth: pb.Value(truth=value),
    int: _integer,
    float: lambda writer, value, where, depth: pb.Value(float_number=value),
    complex: lambda writer, value, where, depth: pb.Value(
        complex_number=pb.Complex(real=value.real, imaginary=value.imag)
    ),
    str: _text,
    bytes: lambda writer, value, where, depth: pb.Value(raw=value),
    list: lambda writer, value, where, depth: pb.Value(list_items=writer.values(value, where, depth)),
    tuple: lambda writer, value, where, depth: pb.Value(tuple_items=writer.values(value, where, depth)),
    slice: lambda writer, value, where, depth: pb.Value(
        slice_parts=writer.values((value.start, value.stop, value.step), where, depth)
    ),
    range: lambda writer, value, where, depth: pb.Value(
        range_parts=writer.values((value.start, value.stop, value.step), where, depth)
    ),
    type(...): lambda writer, value, where, depth: pb.Value(ellipsis=pb.Nothing()),
    dict: _dict,
    Layout: _layout,
    Mesh: lambda writer, value, where, depth: pb.Value(mesh_number=writer.mesh(value)),
}


@dataclass
class Reader:
    """Gives back what a `Writer` wrote: meshes and objects by their numbers, records of known or new classes."""

    mesh: Callable[[int], Mesh]
    layout: Callable[[pb.Layout], Layout]
    object: Callable[[int], Any]
    records: Records

    def value(self, message: pb.Value) -> Any:
        """The value; `SavingError` (SW0871) for a message that holds none."""
        kind = message.WhichOneof("kind")
        read = _READERS.get(kind or "")
        if read is None:
            raise malformed("a value of no kind that is known")
        return read(self, getattr(message, str(kind)))

    def values(self, message: pb.Values) -> list[Any]:
        return [self.value(item) for item in message.items]

    def bounds(self, message: pb.Values) -> list[Any]:
        """The three parts of a slice or a range."""
        if len(message.items) != 3:
            raise malformed(f"a slice of {len(message.items)} parts")
        return self.values(message)

    def pairs(self, message: pb.Pairs) -> dict[Any, Any]:
        if len(message.keys) != len(message.values):
            raise malformed(f"a dict of {len(message.keys)} keys and {len(message.values)} values")
        keys = [hashable(self.value(key)) for key in message.keys]
        return dict(zip(keys, map(self.value, message.values), strict=True))

    def record(self, message: pb.Record, is_tuple: bool) -> Any:
        """An object of a class that was given, or of one with the same name and fields."""
        if len(message.names) != len(message.values):
            raise malformed(f"{message.class_name} has {len(message.names)} names and {len(message.values)} values")
        kind = self.records.kind(message.class_name, tuple(message.names), is_tuple)
        return kind(**dict(zip(message.names, map(self.value, message.values), strict=True)))


def _range(reader: Reader, message: pb.Values) -> range:
    bounds = reader.bounds(message)
    if not all(type(bound) is int for bound in bounds) or not bounds[2]:
        raise malformed("a range of something else than whole numbers")
    return range(*bounds)


def _large_integer(reader: Reader, message: bytes) -> int:
    if len(message) > LARGE_INTEGER:
        raise malformed(f"a whole number of {len(message)} bytes")
    return int.from_bytes(message, "little", signed=True)


def _layout_of(reader: Reader, message: pb.Layout) -> Layout:
    """A layout that is a value of its own, with what it allows and leaves open."""
    found = reader.layout(message)
    if message.automatic:
        return Layout.auto(found.mesh)
    return Layout.from_spec(found.spec, found.mesh, uneven=message.uneven)


def _scalar(reader: Reader, message: pb.Scalar) -> Any:
    dtype = dtype_named(message.dtype)
    if len(message.raw) != dtype.itemsize:
        raise malformed(f"a number of type {dtype.name} in {len(message.raw)} bytes")
    return np.frombuffer(message.raw, dtype.newbyteorder("<")).astype(dtype)[0]


def _named(table: dict[str, Any], name: str) -> Any:
    if name not in table:
        raise malformed(f"there is no {name!r}")
    return table[name]


_READERS: dict[str, Callable[[Reader, Any], Any]] = {
    "none": lambda reader, message: None,
    **dict.fromkeys(("truth", "integer", "float_number", "text", "raw"), lambda reader, message: message),
    "large_integer": _large_integer,
    "complex_number": lambda reader, message: complex(message.real, message.imaginary),
    "list_items": lambda reader, message: reader.values(message),
    "tuple_items": lambda reader, message: tuple(reader.values(message)),
    "slice_parts": lambda reader, message: slice(*reader.bounds(message)),
    "range_parts": _range,
    "ellipsis": lambda reader, message: ...,
    "dict_items": lambda reader, message: reader.pairs(message),
    "named_tuple": lambda reader, message: reader.record(message, True),
    "dataclass": lambda reader, message: reader.record(message, False),
    "dtype": lambda reader, message: dtype_named(message),
    "scalar_class": lambda reader, message: dtype_named(message).type,
    "python_class": lambda reader, message: _named(PYTHON_CLASSES, message),
    "scalar": _scalar,
    "layout": _layout_of,
    "mesh_number": lambda reader, message: reader.mesh(message),
    "object_number": lambda reader, message: reader.object(message),
    "function": lambda reader, message: _named(public_functions(), message),
}


def hashable(value: Any) -> Any:
    """The value, if it can be a key; SW0871 otherwise."""
    try:
        hash(value)
    except TypeError as error:
        raise malformed(f"a key that is a {type(value).__name__}") from error
    return value


def dtype_named(name: str) -> np.dtype[Any]:
    """
    The type of this name, which arrays can have; SW0871 for others.

    >>> dtype_named("bfloat16").itemsize
    2
    """
    try:
        return element_dtype(element_type_named(name))
    except (TypeError, ValueError) as error:
        raise malformed(f"there is no type {name!r}") from error
