"""Products for all rows: beside what all rows share, the dim in front is one that the product keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from shardwright.compiler.control.batching.rows import Rows, batched
from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo.parts.attributes import DotDimensions, DotDimensionsAttr
from shardwright.dialects.types import element_of, shape_of, tensor


@batched("stablehlo.dot_general")
def _dot_general(op: stablehlo.DotGeneralOp, rows: Rows) -> Sequence[SSAValue]:
    left, right = rows.varies(op.lhs), rows.varies(op.rhs)
    dims, keeps = op.dims, len(op.dims.lhs_batching)
    moved = DotDimensions(
        _on(dims.lhs_batching, left),
        _on(dims.rhs_batching, right),
        _on(dims.lhs_contracting, left),
        _on(dims.rhs_contracting, right),
    )
    shape = list(shape_of(op.result))
    if left and right:
        moved = replace(moved, lhs_batching=(0, *moved.lhs_batching), rhs_batching=(0, *moved.rhs_batching))
        place = 0
    else:
        lhs_free, _ = dims.free(len(shape_of(op.lhs)), len(shape_of(op.rhs)))
        place = keeps if left else keeps + len(lhs_free)
    shape.insert(place, rows.size)
    new = stablehlo.DotGeneralOp.create(
        operands=[rows.of(op.lhs), rows.of(op.rhs)],
        properties=op.properties | {"dot_dimension_numbers": DotDimensionsAttr(moved)},
        attributes=op.attributes,
        result_types=[tensor(tuple(shape), element_of(op.result))],
    )
    return [_to_front(rows, rows.build.put(new), place)]


def _on(dims: tuple[int, ...], varies: bool) -> tuple[int, ...]:
    return tuple(dim + varies for dim in dims)


def _to_front(rows: Rows, value: SSAValue, place: int) -> SSAValue:
    order = [place, *(dim for dim in range(len(shape_of(value))) if dim != place)]
    return rows.build.transpose(value, order)


@batched("stablehlo.convolution")
def _convolution(op: stablehlo.ConvolutionOp, rows: Rows) -> Sequence[SSAValue]:
    """
    Rows are more images of the batch; with kernels of their own, more groups of features; kernels alone, more features.
    """
    left, right = rows.varies(op.lhs), rows.varies(op.rhs)
    numbers, (features, batches) = op.numbers, op.groups
    if (left and batches > 1) or (right and max(features, batches) > 1):
        return [_grouped(op, rows)]
    if not right:
        lhs, rhs = _merged(rows, rows.of(op.lhs), numbers.input_batch), rows.of(op.rhs)
        return [_convolved(op, rows, lhs, rhs, numbers.output_batch, 1)]
    rhs = _merged(rows, rows.of(op.rhs), numbers.kernel_output)
    lhs = _merged(rows, rows.of(op.lhs), numbers.input_feature) if left else rows.of(op.lhs)
    return [_convolved(op, rows, lhs, rhs, numbers.output_feature, rows.size if left else 1)]


def _grouped(op: stablehlo.ConvolutionOp, rows: Rows) -> SSAValue:
    """Groups of features or of the batch: each row's groups stand beside those of the others."""
    numbers, (features, _) = op.numbers, op.groups
    lhs_dim = numbers.input_feature if features > 1 else numbers.input_batch
    lhs = _merged(rows, rows.wide(op.lhs), lhs_dim)
    rhs = _merged(rows, rows.wide(op.rhs), numbers.kernel_output)
    return _convolved(op, rows, lhs, rhs, numbers.output_feature, rows.size)


def _merged(rows: Rows, value: SSAValue, dim: int) -> SSAValue:
    """The dim in front made the major part of another one, counted without it."""
    shape = list(shape_of(value))
    order = [*range(1, dim + 1), 0, *range(dim + 1, len(shape))]
    joined = shape[1:]
    joined[dim] *= rows.size
    return rows.build.reshape(rows.build.transpose(value, order), joined)


def _convolved(op: stablehlo.ConvolutionOp, rows: Rows, lhs: SSAValue, rhs: SSAValue, dim: int, times: int) -> SSAValue:
    """The convolution of operands with merged rows, which are the major part of `dim` of the result."""
    shape = list(shape_of(op.result))
    features, batches = op.groups
    name, groups = ("batch_group_count", batches) if batches > 1 else ("feature_group_count", features)
    joined = [size * rows.size if place == dim else size for place, size in enumerate(shape)]
    new = stablehlo.ConvolutionOp.create(
        operands=[lhs, rhs],
        properties=op.properties | {name: IntegerAttr(groups * times, i64)},
        attributes=op.attributes,
        result_types=[tensor(tuple(joined), element_of(op.result))],
    )
    split = [*shape[:dim], rows.size, *shape[dim:]]
    return _to_front(rows, rows.build.reshape(rows.build.put(new), split), dim)
