"""Messages of modules that were changed at random: each is a module, or is refused with a code, and soon."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, given, settings, strategies as st

from shardwright.compiler.pipelines import PIPELINES, run_pipeline
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.serialization.ir.proto import module_from_proto, module_to_proto
from shardwright.serialization.protos import ir_pb2

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%a = %i, %b = %x) : tensor<i32>, tensor<8x4xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %l = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %m = stablehlo.add %a, %one : tensor<i32>
    %e = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
    %s = stablehlo.add %b, %e : tensor<8x4xf32>
    stablehlo.return %m, %s : tensor<i32>, tensor<8x4xf32>
  }
  %t = stablehlo.transpose %0#1, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.dot_general %0#1, %t, contracting_dims = [1] x [0]
    : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}
"""

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
SECONDS = 2.0
TEXTS = ("#dtensor.layout<@mesh, [", "[" * 3000, "dense<1> : tensor<1xi3>", "#stablehlo<precision HIGH>", "unit")


@cache
def messages() -> tuple[bytes, ...]:
    """The program before and after it was partitioned."""
    module = parse_module(PROGRAM)
    first = module_to_proto(module).SerializeToString()
    run_pipeline(module, PIPELINES["partition"])
    return first, module_to_proto(module).SerializeToString()


def read_or_refuse(message: ir_pb2.Module) -> None:
    """Any message gives a module or an error of ours, within seconds."""
    start = time.process_time()
    for verify in (False, True):
        with suppress(ShardwrightError):
            module_from_proto(message, verify=verify)
    assert time.process_time() - start < SECONDS


def numbers(draw: Any, limit: int) -> int:
    """A place: mostly one that there is."""
    return draw(st.one_of(st.integers(0, limit + 1), st.sampled_from((0, 2**31, 2**32 - 1))))


def edit_numbers(draw: Any, values: Any, limit: int) -> None:
    """Change, add or remove a number of a repeated field."""
    what = draw(st.sampled_from(("set", "add", "remove")))
    if what == "add" or not values:
        values.append(numbers(draw, limit))
    elif what == "set":
        values[draw(st.integers(0, len(values) - 1))] = numbers(draw, limit)
    else:
        values.pop(draw(st.integers(0, len(values) - 1)))


def edit(draw: Any, message: ir_pb2.Module) -> None:
    """One change of any table."""
    names, attributes, operations = len(message.names), len(message.attributes), len(message.operations)
    match draw(st.sampled_from(("name", "attribute", "parts", "value", "operation", "block", "swap", "remove"))):
        case "name" if names:
            text = draw(st.one_of(st.sampled_from(list(message.names)), st.text(max_size=8)))
            message.names[draw(st.integers(0, names - 1))] = text
        case "attribute" if attributes:
            message.attributes[draw(st.integers(0, attributes - 1))].kind = numbers(draw, names)
        case "parts" if attributes:
            entry = message.attributes[draw(st.integers(0, attributes - 1))]
            edit_numbers(draw, draw(st.sampled_from((entry.parts, entry.keys, entry.blobs))), attributes)
        case "value" if attributes:
            edit_value(draw, message.attributes[draw(st.integers(0, attributes - 1))])
        case "operation" if operations:
            edit_operation(draw, message.operations[draw(st.integers(0, operations - 1))], max(names, attributes))
        case "block" if operations:
            blocks = [
                block for operation in message.operations for region in operation.regions for block in region.blocks
            ]
            if blocks:
                edit_block(draw, draw(st.sampled_from(blocks)), max(names, attributes))
        case "swap" if operations:
            first, second = (draw(st.integers(0, operations - 1)) for _ in range(2))
            copy = ir_pb2.Operation.FromString(message.operations[first].SerializeToString())
            message.operations[first].CopyFrom(message.operations[second])
            message.operations[second].CopyFrom(copy)
        case _:
            table: Any = draw(st.sampled_from((message.operations, message.attributes, message.names)))
            if table:
                table.pop(draw(st.integers(0, len(table) - 1)))


def edit_value(draw: Any, entry: ir_pb2.Attribute) -> None:
    """Another value of another kind."""
    match draw(st.sampled_from(("integer", "bits", "data", "text", "none"))):
        case "integer":
            entry.integer = draw(st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 10))
        case "bits":
            entry.float_bits = draw(st.integers(0, 2**64 - 1))
        case "data":
            entry.data = draw(st.binary(max_size=40))
        case "text":
            texts = (
                "#dtensor.layout<@mesh, [",
                "[" * 3000,
                "dense<1> : tensor<1xi3>",
                "#stablehlo<precision HIGH>",
                "unit",
            )
            entry.data = draw(st.sampled_from(texts)).encode()
        case _:
            entry.ClearField("data")


def edit_operation(draw: Any, entry: ir_pb2.Operation, limit: int) -> None:
    """Another reference of an operation."""
    field = draw(st.sampled_from([field.name for field in ir_pb2.Operation.DESCRIPTOR.fields]))
    if field == "regions":
        entry.regions.add().blocks.add(operations=draw(st.integers(0, 2)))
    elif field in ("name", "location", "properties", "attributes"):
        setattr(entry, field, numbers(draw, limit))
    else:
        edit_numbers(draw, getattr(entry, field), limit)


def edit_block(draw: Any, entry: ir_pb2.Block, limit: int) -> None:
    """Another count or reference of a block."""
    field = draw(st.sampled_from([field.name for field in ir_pb2.Block.DESCRIPTOR.fields]))
    if field in ("operations", "name"):
        setattr(entry, field, numbers(draw, 20))
    else:
        edit_numbers(draw, getattr(entry, field), limit)


@st.composite
def edited(draw: Any) -> ir_pb2.Module:
    """A message with one to four changes."""
    message = ir_pb2.Module.FromString(draw(st.sampled_from(messages())))
    for _ in range(draw(st.integers(1, 4))):
        edit(draw, message)
    return message


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW)
@given(edited())
def test_changed_messages(message: ir_pb2.Module) -> None:
    read_or_refuse(message)


@pytest.mark.slow
@settings(max_examples=5000, deadline=None, suppress_health_check=SLOW)
@given(edited())
def test_many_changed_messages(message: ir_pb2.Module) -> None:
    read_or_refuse(message)


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
def test_every_byte_of_a_message_may_change(which: int) -> None:
    data = messages()[which]
    for place in range(len(data)):
        for flip in (1, 128):
            changed = bytes((*data[:place], data[place] ^ flip, *data[place + 1 :]))
            with suppress(DecodeError):
                read_or_refuse(ir_pb2.Module.FromString(changed))
