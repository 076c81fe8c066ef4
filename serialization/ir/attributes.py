"""The attributes of a module's message, from the first one on: each is made of those before it."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    CallSiteLoc,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatData,
    FunctionType,
    FusedLoc,
    IntAttr,
    NameLoc,
    NoneAttr,
    Signedness,
    SignednessAttr,
    StringAttr,
    TupleType,
    UnregisteredAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.xdsl_patches import unchecked
from shardwright.serialization.errors import IrProtoError
from shardwright.serialization.ir.kinds import BUILTIN, LARGEST_INTEGER, LOCATIONS, has_text, kind_named, parse_text
from shardwright.serialization.ir.limits import Budget
from shardwright.serialization.protos import ir_pb2

Payloads = Callable[[Sequence[int]], bytes]
"""Gives the data of some blobs, one behind the other."""


class AttributeReader:
    """Reads the table of attributes from its beginning, so that all parts of an attribute are there before it."""

    def __init__(
        self, message: ir_pb2.Module, names: list[str], context: Context, payloads: Payloads, blobs: int
    ) -> None:
        self._message, self._names, self._context = message, names, context
        self._payloads, self._blobs, self._next_blob = payloads, blobs, 0
        self._kinds: dict[int, type[Attribute]] = {}
        self.budget = Budget()

    def read(self) -> list[Attribute]:
        """All attributes, by place."""
        found: list[Attribute] = []
        for place, entry in enumerate(self._message.attributes):
            parts = list(entry.parts)
            if parts and max(parts) >= place:
                raise IrProtoError(
                    "SW0852", f"attribute {place} refers to attribute {max(parts)}, which is not before it"
                )
            kind = self._kinds.get(entry.kind) or self._kind(place, entry.kind)
            large = self.budget.is_large(parts)
            try:
                found.append(self._attribute(place, entry, kind, [found[part] for part in parts], large))
                self.budget.add(self._names[entry.kind], parts)
            except IrProtoError:
                raise
            except (Exception, RecursionError) as error:
                # Attributes check themselves, in as many ways as there are authors of attributes.
                reason = _reason(error)
                raise IrProtoError("SW0856", f"attribute {place} is no {kind.name} attribute: {reason}") from None
        if self._next_blob != self._blobs:
            raise IrProtoError("SW0859", f"attributes have {self._next_blob} of {self._blobs} blobs")
        return found

    def _kind(self, place: int, name: int) -> type[Attribute]:
        if name >= len(self._names):
            raise IrProtoError("SW0851", f"attribute {place} has name {name} of {len(self._names)}")
        text = self._names[name]
        found = UnregisteredAttr if text in _UNREGISTERED else kind_named(text, self._context)
        if found is None:
            raise IrProtoError("SW0855", f"unknown attribute '{text[:100]}'")
        self._kinds[name] = found
        return found

    def _attribute(
        self, place: int, entry: ir_pb2.Attribute, kind: type[Attribute], parts: list[Attribute], large: bool
    ) -> Attribute:
        """One attribute; any exception says that the entry is wrong."""
        if kind is DictionaryAttr:
            _expect(entry.WhichOneof("value") is None and not entry.blobs, "it has a value")
            names = [self._names[key] for key in entry.keys]
            _expect(len(set(names)) == len(names) == len(parts), "its keys do not fit its values")
            return DictionaryAttr(dict(zip(names, parts, strict=True)))
        _expect(not entry.keys, "it has keys")
        if kind is ArrayAttr or issubclass(kind, ParametrizedAttribute):
            _expect(entry.WhichOneof("value") is None and not entry.blobs, "it has a value")
            return ArrayAttr(parts) if kind is ArrayAttr else self._parametrized(kind, parts, large)
        _expect(not parts, "it has parts")
        return self._leaf(place, entry, kind)

    def _parametrized(self, kind: Any, parts: list[Attribute], large: bool) -> Attribute:
        if kind is UnregisteredAttr:
            return self._unregistered(parts)
        fields = [name for name, _ in kind.get_irdl_definition().parameters]
        _expect(len(parts) == len(fields), f"it has {len(parts)} parameters, not {len(fields)}")
        if kind in _LOCATION_CHECKS:
            _expect(_LOCATION_CHECKS[kind](*parts), "it does not consist of locations")
            return cast(Attribute, unchecked(kind, **dict(zip(fields, parts, strict=True))))
        if large and kind in _BUILTIN:
            # What is said about a wrong part repeats it.
            arrays = all(isinstance(part, ArrayAttr) for part in parts)
            _expect(arrays and kind in (FunctionType, TupleType), "its parts are larger than such attributes have")
        made = kind.new(parts)
        if isinstance(made, DenseIntOrFPElementsAttr):
            size, held = made.type.element_type.compile_time_size, len(made.data.data)
            _expect(held in (size, size * math.prod(made.get_shape())), f"it has {held} bytes, {size} for each element")
        return cast(Attribute, made)

    def _unregistered(self, parts: list[Attribute]) -> Attribute:
        name, is_type, is_opaque, text = parts
        _expect(isinstance(name, StringAttr) and isinstance(text, StringAttr), "its texts are none")
        _expect(isinstance(is_type, IntAttr) and isinstance(is_opaque, IntAttr), "its flags are no integers")
        name, is_type = cast(StringAttr, name), cast("IntAttr[int]", is_type)
        look_up = self._context.get_optional_type if is_type.data else self._context.get_optional_attr
        kind: Any = look_up(name.data)
        if kind is None or not issubclass(kind, UnregisteredAttr):
            raise IrProtoError("SW0855", f"unknown attribute '{name.data[:100]}'")
        return cast(Attribute, kind.new(parts))

    def _leaf(self, place: int, entry: ir_pb2.Attribute, kind: type[Attribute]) -> Attribute:
        if kind is FloatData:
            _expect(entry.WhichOneof("value") == "float_bits" and not entry.blobs, "it has no bits")
            return FloatData(struct.unpack("<d", struct.pack("<Q", entry.float_bits))[0])
        if kind in (IntAttr, SignednessAttr) and entry.WhichOneof("value") == "integer":
            _expect(not entry.blobs, "it has two values")
            value = entry.integer
        else:
            data = self._data(place, entry)
            if kind is BytesAttr:
                return BytesAttr(data)
            if kind is StringAttr:
                return StringAttr(data.decode("utf-8", "surrogatepass"))
            if has_text(kind):
                return parse_text(data.decode(), kind, self._context)
            _expect(len(data) <= LARGEST_INTEGER, f"it is an integer of {len(data)} bytes")
            value = int.from_bytes(data, "little", signed=True)
        return IntAttr(value) if kind is IntAttr else SignednessAttr(Signedness(value))

    def _data(self, place: int, entry: ir_pb2.Attribute) -> bytes:
        if not entry.blobs:
            _expect(entry.WhichOneof("value") == "data", "it has no data")
            return entry.data
        blobs, following = list(entry.blobs), self._next_blob
        if entry.WhichOneof("value") or blobs != list(range(following, following + len(blobs))):
            raise IrProtoError("SW0859", f"attribute {place} does not have blob {following}, which is next")
        if following + len(blobs) > self._blobs:
            raise IrProtoError("SW0859", f"attribute {place} has blob {blobs[-1]} of {self._blobs}")
        self._next_blob += len(blobs)
        return self._payloads(blobs)


_BUILTIN = frozenset(BUILTIN.values())
_UNREGISTERED = ("#builtin.unregistered", "!builtin.unregistered")


def _is_location(attribute: Attribute) -> bool:
    return isinstance(attribute, LOCATIONS)


def _calls(callee: Attribute, caller: Attribute) -> bool:
    return _is_location(callee) and _is_location(caller)


def _names(name: Attribute, location: Attribute) -> bool:
    return isinstance(name, StringAttr) and (_is_location(location) or isinstance(location, NoneAttr))


def _fuses(locations: Attribute, metadata: Attribute) -> bool:
    return isinstance(locations, ArrayAttr) and all(map(_is_location, cast("ArrayAttr[Attribute]", locations)))


_LOCATION_CHECKS: dict[Any, Callable[..., bool]] = {CallSiteLoc: _calls, NameLoc: _names, FusedLoc: _fuses}
"""What locations consist of: ranges of lines as well, which xDSL does not know."""


def _expect(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _reason(error: BaseException) -> str:
    if isinstance(error, ShardwrightError):
        return error.diagnostics[0].message
    return " ".join(str(error).split())[:200] or type(error).__name__
