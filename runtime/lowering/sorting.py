"""Emitters of sort and top-k, a permutation first and then each operand in its order; and of roll."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.dtensor.roll import RollOp
from shardwright.dialects.types import element_dtype
from shardwright.runtime.lowering.comparators import Key, keys_of
from shardwright.runtime.lowering.emitters import Lowering, emitter
from shardwright.runtime.program import Value

PLACES = np.dtype(np.intp)
"""The dtype in which places are counted."""


@emitter("stablehlo.sort")
def _sort(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    assert isinstance(op, stablehlo.SortOp)
    axis, keys = lowering.builder.lead + op.dim, keys_of(op.comparator.block)
    order = _ordered(lowering, op, operands, axis, keys) if keys else _compared(lowering, op, operands, axis)
    return [taken(lowering, operand, order, axis) for operand in operands]


def _ordered(
    lowering: Lowering, op: stablehlo.SortOp, operands: Sequence[Value], axis: int, keys: Sequence[Key]
) -> Value:
    """By keys that are computed for all elements at once."""
    firsts: dict[SSAValue, Value] = dict(zip(op.comparator.block.args[::2], operands, strict=True))
    arrays = lowering.values_of([key.value for key in keys], firsts)
    kinds = tuple((key.descends, key.total) for key in keys)
    return lowering.builder.call("ordered", arrays, _spread(arrays), PLACES, axis, kinds)


def _compared(lowering: Lowering, op: stablehlo.SortOp, operands: Sequence[Value], axis: int) -> Value:
    """By the comparator itself."""
    body = lowering.region(op.comparator.block)
    return lowering.builder.call("compared", operands, _spread(operands), PLACES, body, axis)


def _spread(values: Sequence[Value]) -> tuple[int, ...]:
    return np.broadcast_shapes(*(value.shape for value in values))


def taken(lowering: Lowering, value: Value, order: Value, axis: int) -> Value:
    """The elements of a value along `axis` in an order, which may be shorter."""
    others = [(*each.shape[:axis], 1, *each.shape[axis + 1 :]) for each in (value, order)]
    spread = np.broadcast_shapes(*others)
    shape = (*spread[:axis], order.shape[axis], *spread[axis + 1 :])
    if value.splat is not None:
        return lowering.builder.splat(value.splat, shape, value.dtype)
    return lowering.builder.call("taken", [value, order], shape, value.dtype, axis)


@emitter("chlo.top_k")
def _top_k(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    assert isinstance(op, chlo.TopKOp)
    return list(largest(lowering, operands[0], op.count, element_dtype(op.indices.type)))


def largest(lowering: Lowering, value: Value, k: int, index_type: np.dtype[np.generic]) -> tuple[Value, Value]:
    """The largest `k` elements of each row in descending total order, the first ones of equals, and their places."""
    builder, axis = lowering.builder, len(value.shape) - 1
    order = builder.call("largest", [value], (*value.shape[:-1], k), PLACES, k)
    return taken(lowering, value, order, axis), builder.pointwise("convert", [order], index_type)


@emitter("dtensor.roll")
def _roll(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    """The end, then the beginning."""
    assert isinstance(op, RollOp)
    builder, (value,) = lowering.builder, operands
    axis = builder.lead + op.dim
    cut = value.shape[axis] - op.amount
    pieces = [
        builder.slice(value, [span if at == axis else (0, extent, 1) for at, extent in enumerate(value.shape)])
        for span in ((cut, value.shape[axis], 1), (0, cut, 1))
    ]
    return [builder.call("concatenate", pieces, value.shape, value.dtype, axis)]
