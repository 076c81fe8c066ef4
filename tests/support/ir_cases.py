"""What a module must be after it was written and read: checked in every way that IR can be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.serialization.ir.proto import module_from_proto, module_to_proto
from shardwright.serialization.protos import ir_pb2

LIT = Path(__file__).resolve().parents[1] / "lit"


def assert_round_trip(module: ModuleOp, context: Context | None = None) -> ir_pb2.Module:
    """A module comes back through the bytes of its message; gives the message."""
    message = module_to_proto(module, context)
    data = message.SerializeToString(deterministic=True)
    read = module_from_proto(ir_pb2.Module.FromString(data), context)
    assert_same(module, read)
    assert module_to_proto(read, context).SerializeToString(deterministic=True) == data
    return message


def assert_same(first: ModuleOp, second: ModuleOp) -> None:
    """Two modules are equal in text, in structure, and in all that text and structure leave out."""
    for generic in (False, True):
        assert print_module(second, generic, debuginfo=True) == print_module(first, generic, debuginfo=True)
    if first.is_structurally_equivalent(first.clone()):
        assert first.is_structurally_equivalent(second)
    for old, new in zip(first.walk(), second.walk(), strict=True):
        assert type(old) is type(new)
        assert old.location == new.location
        for before, after in ((old.properties, new.properties), (old.attributes, new.attributes)):
            assert list(before.items()) == list(after.items())
        assert names(old) == names(new)


def names(op: Operation) -> list[tuple[str | None, Attribute | None]]:
    """The name of each result, block and argument of an operation, and where the argument is."""
    blocks = [block for region in op.regions for block in region.blocks]
    values: list[SSAValue | Block] = [*op.results, *blocks, *(argument for block in blocks for argument in block.args)]
    return [(value.name_hint, getattr(value, "location", None)) for value in values]


def lit_modules(folder: str) -> Iterator[tuple[str, ModuleOp]]:
    """Every program of the text tests of a folder that can be read and printed."""
    for path in sorted((LIT / folder).rglob("*.mlir")):
        for chunk in path.read_text().split("// -----"):
            try:
                module = parse_module(chunk, path.name)
                print_module(module)
            except (ShardwrightError, LookupError):
                continue
            yield path.name, module
