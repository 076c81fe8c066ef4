"""Canonical forms of the ops that only move elements."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.types import integers, shape_of
from shardwright.passes.canonical.constants import resplat, splat_bytes
from shardwright.passes.canonical.extensions import cut_computation, cut_only, extended_pad
from shardwright.passes.canonical.windows import cut_selection, steps_over_pad
from shardwright.passes.rewriter import Rule


def reshape(operand: SSAValue, result_type: Attribute) -> Operation:
    """A `reshape` of `operand`."""
    return stablehlo.ReshapeOp.create(operands=[operand], result_types=[result_type])


def broadcast(operand: SSAValue, dims: tuple[int, ...], result_type: Attribute) -> Operation:
    """A `broadcast_in_dim` of `operand`."""
    properties = {"broadcast_dimensions": integers(dims)}
    return stablehlo.BroadcastInDimOp.create(operands=[operand], result_types=[result_type], properties=properties)


def _transpose(operand: SSAValue, permutation: tuple[int, ...], result_type: Attribute) -> Operation:
    properties = {"permutation": integers(permutation)}
    return stablehlo.TransposeOp.create(operands=[operand], result_types=[result_type], properties=properties)


def _splat_result(op: Operation) -> Operation | None:
    """Moving the elements of a splat gives a splat."""
    data = splat_bytes(op.operands[0])
    return None if data is None else resplat(data, op.results[0].type)


def _simplify_reshape(op: Operation) -> Operation | SSAValue | None:
    operand, result_type = op.operands[0], op.results[0].type
    if operand.type == result_type:
        return operand
    inner = operand.owner
    if isinstance(inner, stablehlo.ReshapeOp):
        source = inner.operands[0]
        return source if source.type == result_type else reshape(source, result_type)
    return _splat_result(op)


def _simplify_transpose(op: stablehlo.TransposeOp) -> Operation | SSAValue | None:
    operand, result_type = op.operands[0], op.results[0].type
    permutation = op.dims
    if permutation == tuple(range(len(permutation))):
        return operand
    inner = operand.owner
    if isinstance(inner, stablehlo.TransposeOp):
        first = inner.dims
        return _transpose(inner.operands[0], tuple(first[dim] for dim in permutation), result_type)
    return _splat_result(op)


def _simplify_broadcast(op: stablehlo.BroadcastInDimOp) -> Operation | SSAValue | None:
    operand, result_type, dims = op.operands[0], op.results[0].type, op.dims
    if math.prod(shape_of(operand)) == math.prod(shape_of(result_type)) and list(dims) == sorted(dims):
        return operand if operand.type == result_type else reshape(operand, result_type)
    inner = operand.owner
    if isinstance(inner, stablehlo.BroadcastInDimOp):
        return broadcast(inner.operands[0], tuple(dims[dim] for dim in inner.dims), result_type)
    if isinstance(inner, stablehlo.ReshapeOp):
        places = _places_of_dims(shape_of(inner.operands[0]), shape_of(operand))
        if places is not None:
            return broadcast(inner.operands[0], tuple(dims[place] for place in places), result_type)
    return _splat_result(op)


def _places_of_dims(shape: tuple[int, ...], longer: tuple[int, ...]) -> tuple[int, ...] | None:
    """
    Where the dims of `shape` are in `longer`, if `longer` has nothing else but dims of size one.

    >>> _places_of_dims((4, 8), (1, 4, 1, 8)), _places_of_dims((4, 8), (32,))
    ((1, 3), None)
    """
    places: list[int] = []
    for place, size in enumerate(longer):
        if len(places) < len(shape) and size == shape[len(places)]:
            places.append(place)
        elif size != 1:
            return None
    return tuple(places) if len(places) == len(shape) else None


def _simplify_pad(op: stablehlo.PadOp) -> Operation | SSAValue | None:
    return cut_only(op) or extended_pad(op) if any(any(sizes) for sizes in op.amounts) else op.operands[0]


def _simplify_slice(op: stablehlo.SliceOp) -> Operation | SSAValue | None:
    if op.operand.type == op.result.type:
        return op.operand
    return _splat_result(op) or _slice_of_pad(op) or steps_over_pad(op) or cut_selection(op) or cut_computation(op)


def _slice_of_pad(op: stablehlo.SliceOp) -> Operation | None:
    """A slice of a pad is a pad by less, possibly by less than nothing: a shift is one op."""
    inner = op.operand.owner
    starts, limits, strides = op.bounds
    if not isinstance(inner, stablehlo.PadOp) or any(stride != 1 for stride in strides):
        return None
    low, high, interior = inner.amounts
    padded, source = shape_of(op.operand), shape_of(inner.operand)
    less_low = tuple(edge - start for edge, start in zip(low, starts, strict=True))
    less_high = tuple(edge - (size - limit) for edge, size, limit in zip(high, padded, limits, strict=True))
    cut_away = any(-edge > size for edges in (less_low, less_high) for edge, size in zip(edges, source, strict=True))
    if any(interior) or cut_away:
        return None
    return stablehlo.PadOp(inner.operand, inner.padding_value, less_low, less_high)


def _simplify_reverse(op: stablehlo.ReverseOp) -> Operation | SSAValue | None:
    shape = shape_of(op.operands[0])
    if all(shape[dim] == 1 for dim in op.dims):
        return op.operands[0]
    return _splat_result(op)


SHAPE_RULES: Mapping[type[Operation], Rule] = {
    stablehlo.ReshapeOp: _simplify_reshape,
    stablehlo.TransposeOp: _simplify_transpose,
    stablehlo.BroadcastInDimOp: _simplify_broadcast,
    stablehlo.SliceOp: _simplify_slice,
    stablehlo.PadOp: _simplify_pad,
    stablehlo.ReverseOp: _simplify_reverse,
}
