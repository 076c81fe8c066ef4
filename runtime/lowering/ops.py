"""Emitters of StableHLO's ops; those without attributes are element-wise and need none."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from xdsl.ir import Block, Operation

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects.stablehlo.algebra.bodies import extreme_kind
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import element_dtype
from shardwright.runtime.kernels.elementwise import bit_count, working_dtype
from shardwright.runtime.kernels.shape import iota
from shardwright.runtime.lowering.emitters import (
    Lowering,
    data,
    dense_array,
    emitter,
    integers,
    result_dtype,
    result_shape,
)
from shardwright.runtime.program import LARGEST_CONSTANT, Dot, Value
from shardwright.runtime.stacking import identity

REDUCERS = {
    "stablehlo.add": "sum",
    "stablehlo.multiply": "prod",
    "stablehlo.maximum": "max",
    "stablehlo.minimum": "min",
    "stablehlo.and": "and",
    "stablehlo.or": "or",
}
"""The kind of reduction whose body is just this op."""

COMBINERS = {kind: name.partition(".")[2] for name, kind in REDUCERS.items()}
"""The element-wise op that combines two elements of each kind of reduction."""


@emitter("stablehlo.constant")
def _constant(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    dtype, shape = result_dtype(op), result_shape(op)
    attribute: Any = op.properties["value"]
    array = dense_array(attribute, dtype)
    builder = lowering.builder
    whole = (1,) * builder.lead + shape
    if array.size == 1:
        return [builder.splat(array[0], whole, dtype)]
    return [builder.array(array.reshape(whole))]


@emitter("stablehlo.iota")
def _iota(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    dtype, shape = result_dtype(op), result_shape(op)
    dim = data(op, "iota_dimension")
    builder = lowering.builder
    counted = (1,) * builder.lead + tuple(extent if index == dim else 1 for index, extent in enumerate(shape))
    if shape[dim] * dtype.itemsize > LARGEST_CONSTANT:
        steps = builder.call("iota", [], counted, dtype, shape[dim], counted, dtype.name)
    else:
        steps = builder.array(iota(np, shape[dim], counted, dtype.name))
    return [builder.broadcast(steps, (1,) * builder.lead + shape)]


@emitter("stablehlo.convert", "chlo.convert")
def _convert(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    return [lowering.converted(operands[0], result_dtype(op))]


@emitter("stablehlo.rsqrt")
def _rsqrt(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    """One over the square root, as two steps that can be computed in place."""
    builder, dtype = lowering.builder, result_dtype(op)
    if working_dtype(dtype) != dtype or dtype.kind == "c":
        return [builder.pointwise("rsqrt", operands, dtype)]
    one = builder.splat(1, (1,) * len(operands[0].shape), dtype)
    return [builder.pointwise("divide", [one, builder.pointwise("sqrt", operands, dtype)], dtype)]


@emitter("stablehlo.logistic")
def _logistic(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    """1 / (1 + exp(-x)), as steps that can be computed in place."""
    builder, dtype = lowering.builder, result_dtype(op)
    if working_dtype(dtype) != dtype or dtype.kind == "c":
        return [builder.pointwise("logistic", operands, dtype)]
    one = builder.splat(1, (1,) * len(operands[0].shape), dtype)
    growth = builder.pointwise("exponential", [builder.pointwise("negate", operands, dtype)], dtype)
    return [builder.pointwise("divide", [one, builder.pointwise("add", [one, growth], dtype)], dtype)]


@emitter("stablehlo.bitcast_convert")
def _bitcast(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    lead = operands[0].shape[: lowering.builder.lead]
    dtype = result_dtype(op)
    same = bit_count(operands[0].dtype) == bit_count(dtype)
    shape = operands[0].shape if same else lead + result_shape(op)
    return [lowering.builder.call("bitcast_convert", operands, shape, dtype, dtype)]


@emitter("stablehlo.compare")
def _compare(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    total = "compare_type" in op.properties and str(data(op, "compare_type")) == "TOTALORDER"
    direction = str(data(op, "comparison_direction"))
    return [lowering.builder.pointwise("compare", operands, result_dtype(op), direction, total)]


@emitter("stablehlo.select")
def _select(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    predicate = _with_rank(lowering, operands[0], len(result_shape(op)))
    return [lowering.builder.pointwise("select", [predicate, *operands[1:]], result_dtype(op))]


@emitter("stablehlo.clamp")
def _clamp(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    rank = len(result_shape(op))
    low, value, high = (_with_rank(lowering, operand, rank) for operand in operands)
    builder, dtype = lowering.builder, result_dtype(op)
    return [builder.pointwise("minimum", [builder.pointwise("maximum", [low, value], dtype), high], dtype)]


def _with_rank(lowering: Lowering, value: Value, rank: int) -> Value:
    """A scalar with dims of size 1, so that it broadcasts over the local dims and not over the leading ones."""
    missing = lowering.builder.lead + rank - len(value.shape)
    return lowering.builder.reshape(value, value.shape + (1,) * missing)


@emitter("stablehlo.reduce_precision")
def _reduce_precision(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    bits = data(op, "exponent_bits"), data(op, "mantissa_bits")
    return [lowering.builder.pointwise("reduce_precision", operands, result_dtype(op), *bits)]


@emitter("stablehlo.optimization_barrier")
def _barrier(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    for value in operands:
        lowering.builder.fence(value)
    return operands


@emitter("stablehlo.broadcast_in_dim")
def _broadcast_in_dim(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    builder, value, shape = lowering.builder, operands[0], result_shape(op)
    lead, dims = builder.lead, integers(op, "broadcast_dimensions")
    order = sorted(range(len(dims)), key=lambda index: dims[index])
    ordered = builder.transpose(value, [*range(lead), *(lead + index for index in order)])
    placed = list(ordered.shape[:lead]) + [1] * len(shape)
    for index in order:
        placed[lead + dims[index]] = value.shape[lead + index]
    return [builder.broadcast(builder.reshape(ordered, tuple(placed)), value.shape[:lead] + shape)]


@emitter("stablehlo.reshape")
def _reshape(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    lead = operands[0].shape[: lowering.builder.lead]
    return [lowering.builder.reshape(operands[0], lead + result_shape(op))]


@emitter("stablehlo.transpose")
def _transpose(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    lead = lowering.builder.lead
    order = [*range(lead), *(lead + dim for dim in integers(op, "permutation"))]
    return [lowering.builder.transpose(operands[0], order)]


@emitter("stablehlo.slice")
def _slice(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    bounds = zip(integers(op, "start_indices"), integers(op, "limit_indices"), integers(op, "strides"), strict=True)
    return [lowering.builder.slice(operands[0], [*_whole_lead(lowering, operands[0]), *bounds])]


@emitter("stablehlo.reverse")
def _reverse(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    value, dims = operands[0], integers(op, "dimensions")
    local = lowering.builder.local(value)
    ranges = [(n - 1, -1, -1) if dim in dims else (0, n, 1) for dim, n in enumerate(local)]
    return [lowering.builder.slice(value, [*_whole_lead(lowering, value), *ranges])]


def _whole_lead(lowering: Lowering, value: Value) -> list[tuple[int, int, int]]:
    return [(0, extent, 1) for extent in value.shape[: lowering.builder.lead]]


@emitter("stablehlo.concatenate")
def _concatenate(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    if len(operands) == 1:
        return operands
    return lowering.kernel("concatenate", op, operands, lowering.builder.lead + data(op, "dimension"))


@emitter("stablehlo.dot_general")
def _dot_general(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    dims, lead = data(op, "dot_dimension_numbers"), lowering.builder.lead
    lhs, rhs = operands
    if not math.prod(result_shape(op)) or any(lhs.shape[lead + dim] == 0 for dim in dims.lhs_contracting):
        return [lowering.builder.splat(0, (1,) * lead + result_shape(op), result_dtype(op))]  # sums of nothing, or none
    batch = [(position, position) for position in range(lead)]
    batch += [(lead + a, lead + b) for a, b in zip(dims.lhs_batching, dims.rhs_batching, strict=True)]
    contract = [(lead + a, lead + b) for a, b in zip(dims.lhs_contracting, dims.rhs_contracting, strict=True)]
    fronts = lowering.fronts(operands)
    dtype = functools.reduce(np.promote_types, map(working_dtype, (lhs.dtype, rhs.dtype, result_dtype(op))))
    lhs, rhs = (lowering.converted(operand, dtype) for operand in operands)
    product = lowering.builder.dot(lhs, rhs, Dot(tuple(batch), tuple(contract)), fronts + result_shape(op), dtype)
    return [lowering.converted(product, result_dtype(op))]


@emitter("stablehlo.reduce")
def _reduce(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    count, lead = len(operands) // 2, lowering.builder.lead
    inputs, starts = operands[:count], operands[count:]
    dims = tuple(lead + dim for dim in integers(op, "dimensions"))
    block = op.regions[0].block
    kind = reducer_kind(block)
    if kind is not None:
        return [_simple_reduce(lowering, kind, inputs[0], starts[0], dims)]
    name = lowering.region(block)
    whole = lowering.fronts(operands) + lowering.builder.local(inputs[0])
    shape = tuple(1 if dim in dims else extent for dim, extent in enumerate(whole))
    dtypes = [element_dtype(result.type) for result in op.results]
    extreme = extreme_kind(block) if all(item.dtype.isbuiltin == 1 for item in inputs) else None
    kernel, static = ("fold", (name, dims)) if extreme is None else ("fold_extreme", (name, dims, extreme))
    folded = lowering.builder.call_many(kernel, operands, [shape] * count, dtypes, *static)
    return [_drop(lowering, value, dims) for value in folded]


def _simple_reduce(lowering: Lowering, kind: str, value: Value, start: Value, dims: tuple[int, ...]) -> Value:
    builder = lowering.builder
    reduced = _drop(lowering, builder.reduce(kind, value, dims), dims)
    if start.splat is not None and start.splat == identity(kind, value.dtype):
        return reduced
    start = _with_rank(lowering, start, len(reduced.shape) - builder.lead)
    return builder.pointwise(COMBINERS[kind], [start, reduced], value.dtype)


def _drop(lowering: Lowering, value: Value, dims: tuple[int, ...]) -> Value:
    return lowering.builder.reshape(value, tuple(n for dim, n in enumerate(value.shape) if dim not in dims))


def reducer_kind(block: Block) -> str | None:
    """The kind of reduction that a reducer's block is, when it is one op on its two arguments."""
    ops = list(block.ops)
    if len(ops) != 2 or len(block.args) != 2 or set(ops[0].operands) != set(block.args):
        return None
    return REDUCERS.get(ops[0].name) if list(ops[1].operands) == list(ops[0].results) else None


@emitter("sdy.sharding_constraint", "dtensor.constraint", "dtensor.relayout")
def _annotation(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    """Says where a value lives, nothing about what it is: nothing to do in an unsharded run."""
    if lowering.atoms.count:
        raise ShardwrightError(
            Diagnostic(
                "SW0607",
                f"{op.name} is left in a program that runs on a mesh",
                where(op),
                help="run the pipeline up to the local stage, which turns relayouts into collectives",
            )
        )
    return operands
