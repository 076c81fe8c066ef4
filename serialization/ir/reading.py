"""A module from its message: nothing in it is believed, and no part of it is read more than once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr, UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute

from shardwright.dialects.text.xdsl_patches import restore_name
from shardwright.serialization.errors import IrProtoError
from shardwright.serialization.ir.attributes import AttributeReader, Payloads
from shardwright.serialization.ir.kinds import LOCATIONS, VERSION
from shardwright.serialization.protos import ir_pb2


class ModuleReader:
    """
    Reads one message; `payloads` gives the data of blobs, of which there are `blobs`.

    Raises `IrProtoError`: SW0850 for another version, SW0851 for a place or number that there is not, SW0852 for
    attributes that refer forwards, SW0853 for counts that do not add up, SW0854 and SW0855 for unknown operations and
    attributes, SW0856 for attributes that cannot be made, SW0858 for those that would be too large, SW0859 for blobs.
    """

    def __init__(self, message: ir_pb2.Module, context: Context, payloads: Payloads, blobs: int) -> None:
        if message.version != VERSION:
            raise IrProtoError("SW0850", f"the message has version {message.version}, which is not {VERSION}")
        self._message, self._context = message, context
        self._names = list(message.names)
        reader = AttributeReader(message, self._names, context, payloads, blobs)
        self._attributes, self._budget = reader.read(), reader.budget
        self._values: list[SSAValue] = []
        self._classes: dict[int, type[Operation]] = {}
        self._forward: list[tuple[int, Operation, list[int]]] = []

    def read(self) -> ModuleOp:
        """The module, not verified."""
        entries, open_blocks = self._message.operations, list[_OpenBlock]()
        if not entries:
            raise IrProtoError("SW0853", "the message has no operations")
        module: Operation | None = None
        for place, entry in enumerate(entries):
            while open_blocks and not open_blocks[-1].left:
                open_blocks.pop().close()
            if place and not open_blocks:
                raise IrProtoError("SW0853", f"operation {place} is in no block: the blocks before it are full")
            try:
                op = self._operation(place, entry, open_blocks)
            except IndexError:
                raise self._out_of_range(place, entry) from None
            module = module or op
        _close_all(open_blocks)
        self._connect()
        if not isinstance(module, ModuleOp) or len(module.regions) != 1 or not _one_block(module.regions[0]):
            raise IrProtoError("SW0853", "the first operation is no module with one block")
        return module

    def _operation(self, place: int, entry: ir_pb2.Operation, open_blocks: list[_OpenBlock]) -> Operation:
        """One operation, in the block that is open; its own blocks are opened."""
        values = self._values
        operands = list(entry.operands)
        known = not operands or max(operands) < len(values)
        op = (self._classes.get(entry.name) or self._class(entry.name)).create(
            operands=[values[number] for number in operands] if known else (),
            result_types=[self._type(place, type_place) for type_place in entry.result_types],
            location=self._location(place, entry.location),
        )
        if not known:
            self._forward.append((place, op, operands))
        self._dictionaries(place, entry, op)
        self._budget.use(place, [*entry.result_types, entry.properties, entry.attributes])
        self._name(place, op.results, entry.result_names)
        values.extend(op.results)
        if entry.successors:
            siblings = open_blocks[-1].siblings if open_blocks else []
            op.successors = [siblings[index] for index in entry.successors]
        if open_blocks:
            open_blocks[-1].add(op)
        if entry.regions:
            self._open(place, op, entry, open_blocks)
        return op

    def _open(self, place: int, op: Operation, entry: ir_pb2.Operation, open_blocks: list[_OpenBlock]) -> None:
        """
        The blocks of an operation, the first one on top.

        A block joins its region once it is full: what xDSL looks at for each operation is then as little as possible.
        """
        opened: list[_OpenBlock] = []
        regions: list[Region] = []
        for described in entry.regions:
            region = Region()
            region.parent = op
            regions.append(region)
            siblings = [self._block(place, block) for block in described.blocks]
            for described_block, block in zip(described.blocks, siblings, strict=True):
                opened.append(_OpenBlock(block, region, siblings, described_block.operations))
        op.regions = tuple(regions)
        open_blocks.extend(reversed(opened))

    def _block(self, place: int, described: ir_pb2.Block) -> Block:
        types, locations = described.argument_types, described.argument_locations
        if len(types) != len(locations):
            raise IrProtoError("SW0853", f"operation {place}: {len(types)} arguments have {len(locations)} locations")
        block = Block(arg_types=[self._type(place, type_place) for type_place in types])
        for argument, location in zip(block.args, locations, strict=True):
            argument.location = self._location(place, location)
        self._name(place, block.args, described.argument_names)
        if described.name:
            self._restore(place, block, described.name)
        self._values.extend(block.args)
        return block

    def _dictionaries(self, place: int, entry: ir_pb2.Operation, op: Operation) -> None:
        """Properties and attributes exactly as they were: xDSL would add those that have defaults."""
        op.properties = self._dictionary(place, entry.properties) if entry.HasField("properties") else {}
        attributes = self._dictionary(place, entry.attributes) if entry.HasField("attributes") else {}
        if isinstance(op, UnregisteredOp):
            name = StringAttr(self._names[entry.name])
            if attributes.setdefault("op_name__", name) != name:
                raise IrProtoError("SW0854", f"operation {place} has two names")
        op.attributes = attributes

    def _dictionary(self, place: int, attribute: int) -> dict[str, Attribute]:
        found = self._attributes[attribute]
        if not isinstance(found, DictionaryAttr):
            raise IrProtoError("SW0851", f"operation {place}: attribute {attribute} is no dictionary")
        return dict(found.data)

    def _class(self, name: int) -> type[Operation]:
        text = self._names[name]
        found = self._context.get_optional_op(text) if text else None
        if found is None:
            raise IrProtoError("SW0854", f"unknown operation '{text[:100]}'")
        self._classes[name] = found
        return found

    def _type(self, place: int, attribute: int) -> Attribute:
        found = self._attributes[attribute]
        if not isinstance(found, TypeAttribute):
            raise IrProtoError("SW0851", f"operation {place}: attribute {attribute} is no type")
        return found

    def _location(self, place: int, attribute: int) -> Any:
        found = self._attributes[attribute]
        if not isinstance(found, LOCATIONS):
            raise IrProtoError("SW0851", f"operation {place}: attribute {attribute} is no location")
        return found

    def _name(self, place: int, values: Sequence[SSAValue], names: Sequence[int]) -> None:
        if names:
            if len(names) != len(values):
                raise IrProtoError("SW0853", f"operation {place}: {len(values)} values have {len(names)} names")
            for value, name in zip(values, names, strict=True):
                if name:
                    self._restore(place, value, name)

    def _restore(self, place: int, named: SSAValue | Block, name: int) -> None:
        text = self._names[name]
        if not named.is_valid_name(text):
            raise IrProtoError("SW0851", f"operation {place}: {text[:100]!r} is no name of a value or block")
        restore_name(named, text)

    def _connect(self) -> None:
        """The operands of operations that use values which are defined after them."""
        for place, op, operands in self._forward:
            if max(operands) >= len(self._values):
                raise IrProtoError("SW0851", f"operation {place} uses value {max(operands)} of {len(self._values)}")
            op.operands = [self._values[number] for number in operands]

    def _out_of_range(self, place: int, entry: ir_pb2.Operation) -> IrProtoError:
        tables = f"{len(self._names)} names and {len(self._attributes)} attributes"
        what = " or blocks that its region does not have" if entry.successors else ""
        return IrProtoError("SW0851", f"operation {place} refers to places behind {tables}{what}")


class _OpenBlock:
    __slots__ = ("block", "left", "region", "siblings")

    def __init__(self, block: Block, region: Region, siblings: list[Block], left: int) -> None:
        self.block, self.region, self.siblings, self.left = block, region, siblings, left

    def add(self, op: Operation) -> None:
        """Append an operation."""
        self.left -= 1
        self.block.add_op(op)

    def close(self) -> None:
        """The block is full."""
        self.region.add_block(self.block)


def _close_all(open_blocks: list[_OpenBlock]) -> None:
    """After the last operation: no block may want more."""
    missing = sum(block.left for block in open_blocks)
    if missing:
        raise IrProtoError("SW0853", f"the blocks have {missing} more operations than the message")
    while open_blocks:
        open_blocks.pop().close()


def _one_block(region: Region) -> bool:
    return region.first_block is not None and region.first_block is region.last_block
