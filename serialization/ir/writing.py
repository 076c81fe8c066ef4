"""A module as a message: attributes once each, operations in pre-order, large data beside them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    BytesAttr,
    DictionaryAttr,
    FloatData,
    IntAttr,
    ModuleOp,
    SignednessAttr,
    StringAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from shardwright.dialects import make_context
from shardwright.dialects.text.locations import where
from shardwright.serialization.errors import IrProtoError
from shardwright.serialization.ir.kinds import (
    INLINE,
    LARGEST_BLOB,
    LARGEST_INTEGER,
    VERSION,
    has_text,
    kind_name,
    kind_named,
    parse_text,
    parts_of,
    text_of,
)
from shardwright.serialization.ir.limits import Budget
from shardwright.serialization.protos import ir_pb2

INT64 = range(-(1 << 63), 1 << 63)
SAMPLED = 1 << 16
"""Data of more bytes than this are told apart by a sample of them, and compared whole if that is equal."""


class ModuleWriter:
    """
    The message of one module, and beside it the large data that belong into `blobs`, not copied.

    `message` is whole but for `blobs`, whose contents are `payloads`, in order.
    """

    def __init__(self, module: ModuleOp, context: Context | None = None) -> None:
        self.message = ir_pb2.Module(version=VERSION)
        self.payloads: list[memoryview] = []
        self._attributes = _AttributeWriter(self.message, self.payloads, context)
        self._numbers: dict[int, int] = {}
        self._blocks: dict[int, tuple[int, int]] = {}
        for op in self._count(module):
            self._write(op)

    def _count(self, module: ModuleOp) -> list[Operation]:
        """The operations in pre-order; numbers every value, and every block in its region."""
        order: list[Operation] = []
        open_ops: list[Operation] = [module]
        while open_ops:
            op = open_ops.pop()
            order.append(op)
            self._number(op.results)
            if op.regions:
                nested: list[Operation] = []
                for region in op.regions:
                    for index, block in enumerate(region.blocks):
                        self._number(block.args)
                        before = len(nested)
                        nested.extend(block.ops)
                        self._blocks[id(block)] = (index, len(nested) - before)
                open_ops.extend(reversed(nested))
        return order

    def _number(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            self._numbers[id(value)] = len(self._numbers)

    def _write(self, op: Operation) -> None:
        attributes, place, name = self._attributes, self._attributes.place, self._attributes.name
        entry = self.message.operations.add(
            name=name(op.op_name.data if isinstance(op, UnregisteredOp) else op.name),
            location=place(op.location),
            operands=self._operands(op),
            result_types=[place(result.type) for result in op.results],
            result_names=self._hints(op.results),
        )
        if op.properties:
            entry.properties = attributes.dictionary(op.properties)
        if op.attributes:
            entry.attributes = attributes.dictionary(op.attributes)
        used = [*entry.result_types, entry.properties, entry.attributes]
        attributes.budget.use(len(self.message.operations) - 1, used)
        if op.successors:
            entry.successors.extend(self._successor(op, block) for block in op.successors)
        for region in op.regions:
            blocks = entry.regions.add().blocks
            for block in region.blocks:
                blocks.add(
                    operations=self._blocks[id(block)][1],
                    argument_types=[place(argument.type) for argument in block.args],
                    argument_locations=[place(argument.location) for argument in block.args],
                    argument_names=self._hints(block.args),
                    name=name(block.name_hint or ""),
                )

    def _operands(self, op: Operation) -> list[int]:
        try:
            return [self._numbers[id(operand)] for operand in op.operands]
        except KeyError:
            raise _unwritable(op, "uses a value that nothing in the module defines") from None

    def _successor(self, op: Operation, block: Block) -> int:
        here = op.parent_region()
        if here is None or block.parent is not here:
            raise _unwritable(op, "goes on to a block of another region")
        return self._blocks[id(block)][0]

    def _hints(self, values: Iterable[SSAValue]) -> list[int]:
        """The names of values; nothing if none has one."""
        hints = [value.name_hint for value in values]
        return [self._attributes.name(hint or "") for hint in hints] if any(hints) else []


class _AttributeWriter:
    """The tables of names and attributes: each is looked up by identity first, then by what it consists of."""

    def __init__(self, message: ir_pb2.Module, payloads: list[memoryview], context: Context | None) -> None:
        self._message, self._payloads, self._context = message, payloads, context
        self._names: dict[str, int] = {}
        self._known: dict[int, int] = {}
        self._entries: dict[tuple[Any, ...], int] = {}
        self._kept: list[Attribute] = []
        self.budget = Budget()
        self.name("")

    def name(self, name: str) -> int:
        """The place of a name."""
        found = self._names.get(name)
        if found is None:
            found = self._names[name] = len(self._names)
            try:
                self._message.names.append(name)
            except (ValueError, UnicodeError):
                raise IrProtoError("SW0857", f"the name {name!r} is no Unicode text") from None
        return found

    def place(self, attribute: Attribute) -> int:
        """The place of an attribute; those that it consists of are written first, without recursion."""
        found = self._known.get(id(attribute))
        if found is not None:
            return found
        pending = [attribute]
        while pending:
            current = pending[-1]
            parts = parts_of(current)
            missing = [part for part in parts if id(part) not in self._known]
            if missing:
                pending.extend(reversed(missing))
                continue
            pending.pop()
            if id(current) not in self._known:
                self._kept.append(current)
                self._known[id(current)] = self._store(current, [self._known[id(part)] for part in parts])
        return self._known[id(attribute)]

    def dictionary(self, entries: Mapping[str, Attribute]) -> int:
        """The place of a dictionary of attributes."""
        keys = tuple(map(self.name, entries))
        return self._entry("#dictionary", tuple(map(self.place, entries.values())), keys, None)

    def _store(self, attribute: Attribute, parts: list[int]) -> int:
        keys = tuple(map(self.name, attribute.data)) if isinstance(attribute, DictionaryAttr) else ()
        return self._entry(kind_name(attribute), tuple(parts), keys, self._value(attribute))

    def _entry(self, kind: str, parts: tuple[int, ...], keys: tuple[int, ...], value: int | bytes | None) -> int:
        key = (kind, parts, keys, _Large(value) if isinstance(value, bytes) and len(value) > SAMPLED else value)
        found = self._entries.get(key)
        if found is not None:
            return found
        self.budget.add(kind, parts)
        entry = self._message.attributes.add(kind=self.name(kind), parts=parts, keys=keys)
        if isinstance(value, bytes):
            self._put(entry, value)
        elif kind == "#builtin.float_data":
            entry.float_bits = cast(int, value)
        elif value is not None:
            entry.integer = value
        found = self._entries[key] = len(self._entries)
        return found

    def _put(self, entry: ir_pb2.Attribute, data: bytes) -> None:
        if len(data) <= INLINE:
            entry.data = data
            return
        view = memoryview(data)
        for begin in range(0, len(data), LARGEST_BLOB):
            entry.blobs.append(len(self._payloads))
            self._payloads.append(view[begin : begin + LARGEST_BLOB])

    def _value(self, attribute: Attribute) -> int | bytes | None:
        """What an attribute holds besides other attributes."""
        match attribute:
            case BytesAttr():
                return attribute.data
            case StringAttr():
                return attribute.data.encode("utf-8", "surrogatepass")
            case IntAttr():
                return _integer(int(attribute.data))
            case FloatData():
                return struct.unpack("<Q", struct.pack("<d", attribute.data))[0]
            case SignednessAttr():
                return attribute.data.value
            case _:
                return self._text(attribute)

    def _text(self, attribute: Attribute) -> bytes | None:
        """The text of an attribute over plain data; it is read back once, so that nothing gets lost."""
        if not has_text(type(attribute)):
            return None
        if self._context is None:
            self._context = make_context()
        name, text = kind_name(attribute), text_of(attribute)
        kind = kind_named(name, self._context)
        if kind is None:
            raise IrProtoError("SW0857", f"no dialect of the context has {name}")
        try:
            same = parse_text(text, kind, self._context) == attribute
        except ValueError as error:
            raise IrProtoError("SW0857", f"{name} cannot be written: {error}") from None
        if not same:
            raise IrProtoError("SW0857", f"{name} cannot be written: its text {text[:100]} says less than it holds")
        return text.encode()


class _Large:
    """Large data as a key: their hash does not read all of them."""

    __slots__ = ("_data", "_hash")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._hash = hash((len(data), data[:: len(data) // 512], data[-64:]))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Large) and self._data == other._data


def _integer(value: int) -> int | bytes:
    """An integer as it is written: as bytes if 64 bits do not hold it."""
    if value in INT64:
        return value
    size = value.bit_length() // 8 + 1
    if size > LARGEST_INTEGER:
        raise IrProtoError("SW0857", f"an integer of {size} bytes cannot be written")
    return value.to_bytes(size, "little", signed=True)


def _unwritable(op: Operation, message: str) -> IrProtoError:
    place = where(op)
    notes = () if place is None else (f"it is at {place}",)
    return IrProtoError("SW0857", f"'{op.name}' {message}", notes=notes)
