"""Emitters of the ops that move a window over their operands."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from shardwright.dialects import stablehlo
from shardwright.dialects.types import element_dtype
from shardwright.layout.planning.sweep import Sweep
from shardwright.runtime.kernels.elementwise import working_dtype
from shardwright.runtime.lowering.emitters import Lowering, emitter, result_dtype, result_shape
from shardwright.runtime.lowering.ops import reducer_kind
from shardwright.runtime.program import Value
from shardwright.runtime.stacking import identity

REPEATABLE = ("max", "min", "and", "or")
"""The kinds of reduction in which a start value may come in more than once."""


def _fields(sweeps: Sequence[Sweep]) -> tuple[tuple[Any, ...], ...]:
    """The windows as text that a kernel's call can hold."""
    return tuple(dataclasses.astuple(sweep) for sweep in sweeps)


def _fronts(lowering: Lowering, operands: Sequence[Value]) -> tuple[int, ...]:
    return np.broadcast_shapes(*(operand.shape[: lowering.builder.lead] for operand in operands))


@emitter("stablehlo.convolution")
def _convolution(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    assert isinstance(op, stablehlo.ConvolutionOp)
    builder, target = lowering.builder, result_dtype(op)
    shape = _fronts(lowering, operands) + result_shape(op)
    if not all(operand.size for operand in operands) or 0 in shape:
        return [builder.splat(0, shape, target)]  # sums of nothing, or none
    dtype = functools.reduce(np.promote_types, map(working_dtype, (*(each.dtype for each in operands), target)))
    wide = [_converted(lowering, operand, dtype) for operand in operands]
    numbers = tuple(dims for dims, _ in op.numbers.sides)
    product = builder.call("convolution", wide, shape, dtype, numbers, _fields(op.sweeps), op.groups)
    return [_converted(lowering, product, target)]


def _converted(lowering: Lowering, value: Value, dtype: np.dtype[Any]) -> Value:
    return value if value.dtype == dtype else lowering.builder.pointwise("convert", [value], dtype)


@emitter("stablehlo.reduce_window")
def _reduce_window(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    assert isinstance(op, stablehlo.ReduceWindowOp)
    builder, block = lowering.builder, op.body.block
    shape, sweeps = _fronts(lowering, operands) + result_shape(op), _fields(op.sweeps)
    kind = reducer_kind(block)
    if kind is None:
        dtypes = [element_dtype(result.type) for result in op.results]
        name = lowering.region(block)
        return builder.call_many("fold_window", operands, [shape] * len(dtypes), dtypes, name, sweeps)
    value, start = operands
    neutral = kind in REPEATABLE or (start.splat is not None and start.splat == identity(kind, value.dtype))
    return [builder.call("reduce_window", operands, shape, value.dtype, kind, sweeps, bool(neutral))]


@emitter("stablehlo.select_and_scatter")
def _select_and_scatter(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    assert isinstance(op, stablehlo.SelectAndScatterOp)
    bodies = [lowering.region(region.block) for region in (op.select, op.scatter)]
    shape = _fronts(lowering, operands) + result_shape(op)
    return [lowering.builder.call("select_and_scatter", operands, shape, result_dtype(op), *bodies, _fields(op.sweeps))]
