"""Emitters of ops that find elements by computed indices."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
from xdsl.ir import Block, Operation

from shardwright.dialects.types import element_dtype
from shardwright.runtime.lowering.emitters import Lowering, emitter, integers, result_dtype, result_shape
from shardwright.runtime.lowering.ops import REDUCERS
from shardwright.runtime.program import Shape, Value


def _fronts(lowering: Lowering, values: list[Value]) -> Shape:
    """The leading dims of what is made of these values."""
    return np.broadcast_shapes(*(value.shape[: lowering.builder.lead] for value in values))


def _numbers(op: Operation, name: str) -> tuple[Any, ...]:
    attribute: Any = op.properties[name]
    return astuple(attribute.data)


@emitter("stablehlo.gather")
def _gather(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    builder = lowering.builder
    static = builder.lead, _numbers(op, "dimension_numbers"), integers(op, "slice_sizes")
    shape = _fronts(lowering, operands) + result_shape(op)
    return [builder.call("gather", operands, shape, result_dtype(op), *static)]


@emitter("stablehlo.dynamic_slice")
def _dynamic_slice(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    builder, sizes = lowering.builder, integers(op, "slice_sizes")
    shape = _fronts(lowering, operands) + result_shape(op)
    return [builder.call("dynamic_slice", operands, shape, result_dtype(op), sizes, builder.lead)]


@emitter("stablehlo.dynamic_update_slice")
def _dynamic_update_slice(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    builder = lowering.builder
    shape = _fronts(lowering, operands) + result_shape(op)
    return [builder.call("dynamic_update_slice", operands, shape, result_dtype(op), builder.lead)]


@emitter("stablehlo.scatter")
def _scatter(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    builder, block = lowering.builder, op.regions[0].block
    shape = _fronts(lowering, operands) + result_shape(op)
    numbers = _numbers(op, "scatter_dimension_numbers")
    kind = _combiner(block)
    if kind is not None:
        return [builder.call("scatter", operands, shape, result_dtype(op), builder.lead, kind, numbers)]
    dtypes = [element_dtype(result.type) for result in op.results]
    shapes = [shape] * len(dtypes)
    return builder.call_many("scatter_fold", operands, shapes, dtypes, lowering.region(block), builder.lead, numbers)


def _combiner(block: Block) -> str | None:
    """How a scatter of one operand combines, when its body is one op on the old element and the new one, or none."""
    ops = list(block.ops)
    if len(block.args) != 2:
        return None
    if len(ops) == 1:
        return "set" if ops[0].operands[0] == block.args[1] else None
    if len(ops) != 2 or list(ops[1].operands) != list(ops[0].results):
        return None
    if ops[0].name == "stablehlo.subtract":
        return "subtract" if list(ops[0].operands) == list(block.args) else None
    kinds = REDUCERS | {"stablehlo.xor": "xor"}
    return kinds.get(ops[0].name) if set(ops[0].operands) == set(block.args) else None
