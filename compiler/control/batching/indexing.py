"""Slices, pads, gathers and scatters for all rows: a row's positions are its own, or those of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import IntegerAttr, i1, i32
from xdsl.ir import Attribute, Block, Region, SSAValue

from shardwright.compiler.control.batching.rows import Rows, batched, in_front
from shardwright.dialects import stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.stablehlo.indexing.numbers import (
    GatherDimensions,
    GatherDimensionsAttr,
    ScatterDimensions,
    ScatterDimensionsAttr,
)
from shardwright.dialects.types import bit_width, element_of, integers, shape_of, tensor


def _on(dims: tuple[int, ...], by: bool = True) -> tuple[int, ...]:
    return tuple(dim + by for dim in dims)


@batched("stablehlo.gather")
def _gather(op: stablehlo.GatherOp, rows: Rows) -> Sequence[SSAValue]:
    taken, indexed = rows.varies(op.operand), rows.varies(op.start_indices)
    numbers = op.numbers
    moved = GatherDimensions(
        _on(numbers.offset_dims),
        _on(numbers.collapsed_slice_dims, taken),
        _on(numbers.operand_batching_dims, taken),
        _on(numbers.start_indices_batching_dims, indexed),
        _on(numbers.start_index_map, taken),
        numbers.index_vector_dim + indexed,
    )
    sizes = op.sizes
    if taken and indexed:
        moved = replace(
            moved,
            operand_batching_dims=(0, *moved.operand_batching_dims),
            start_indices_batching_dims=(0, *moved.start_indices_batching_dims),
        )
        sizes = (1, *sizes)
    elif taken:
        moved = replace(moved, offset_dims=(0, *moved.offset_dims))
        sizes = (rows.size, *sizes)
    properties: dict[str, Attribute] = {
        "dimension_numbers": GatherDimensionsAttr(moved),
        "slice_sizes": integers(sizes),
    }
    if indexed and op.indices_are_sorted is not None:
        properties["indices_are_sorted"] = IntegerAttr(0, i1)
    new = stablehlo.GatherOp.create(
        operands=[rows.of(op.operand), rows.of(op.start_indices)],
        properties=op.properties | properties,
        attributes=op.attributes,
        result_types=[tensor((rows.size, *shape_of(op.result)), element_of(op.result))],
    )
    return [rows.build.put(new)]


@batched("stablehlo.scatter")
def _scatter(op: stablehlo.ScatterOp, rows: Rows) -> Sequence[SSAValue]:
    """Inputs and updates get the dim in front in any case; what is a row's own position is a dim that pairs up."""
    indexed = rows.varies(op.scatter_indices)
    numbers = op.numbers
    moved = ScatterDimensions(
        _on(numbers.update_window_dims),
        _on(numbers.inserted_window_dims),
        _on(numbers.input_batching_dims),
        _on(numbers.scatter_indices_batching_dims, indexed),
        _on(numbers.scatter_dims_to_operand_dims),
        numbers.index_vector_dim + indexed,
    )
    properties: dict[str, Attribute] = {}
    if indexed:
        moved = replace(
            moved,
            input_batching_dims=(0, *moved.input_batching_dims),
            scatter_indices_batching_dims=(0, *moved.scatter_indices_batching_dims),
        )
        for name in ("indices_are_sorted", "unique_indices"):
            if name in op.properties:
                properties[name] = IntegerAttr(0, i1)
    else:
        moved = replace(moved, update_window_dims=(0, *moved.update_window_dims))
    new = stablehlo.ScatterOp.create(
        operands=[*map(rows.wide, op.inputs), rows.of(op.scatter_indices), *map(rows.wide, op.updates)],
        properties=op.properties | properties | {"scatter_dimension_numbers": ScatterDimensionsAttr(moved)},
        attributes=op.attributes,
        result_types=[tensor((rows.size, *shape_of(out)), element_of(out)) for out in op.outputs],
        regions=[op.update_computation.clone()],
    )
    return rows.insert(new).results


@batched("stablehlo.pad")
def _pad(op: stablehlo.PadOp, rows: Rows) -> Sequence[SSAValue]:
    """With a value for each row it is put where a mask is padded."""
    if not rows.varies(op.padding_value):
        return in_front(op, rows)

    def masked(build: Builder) -> SSAValue:
        padded = build.pad(op.operand, build.scalar(0, op.operand), *op.amounts)
        true, false = build.literal(True, i1, shape_of(op.operand)), build.literal(False, i1)
        value = build.broadcast(op.padding_value, shape_of(op.result), [])
        return build.select(build.pad(true, false, *op.amounts), padded, value)

    return [rows.instead(masked)]


@batched("stablehlo.dynamic_slice")
def _dynamic_slice(op: stablehlo.DynamicSliceOp, rows: Rows) -> Sequence[SSAValue]:
    starts = list(op.start_indices)
    if not any(map(rows.varies, starts)):
        sizes = (rows.size, *op.sizes)
        return [rows.build.window(rows.of(op.operand), _with_start(rows, starts), sizes)]
    dims = tuple(range(len(starts)))
    numbers = GatherDimensions(dims, start_index_map=dims)
    return [
        rows.instead(lambda build: build.put(stablehlo.GatherOp(op.operand, _vector(build, starts), numbers, op.sizes)))
    ]


@batched("stablehlo.dynamic_update_slice")
def _dynamic_update_slice(op: stablehlo.DynamicUpdateSliceOp, rows: Rows) -> Sequence[SSAValue]:
    starts = list(op.start_indices)
    if not any(map(rows.varies, starts)):
        return [rows.build.update(rows.wide(op.operand), rows.wide(op.update), _with_start(rows, starts))]
    dims = tuple(range(len(starts)))
    numbers = ScatterDimensions(dims, scatter_dims_to_operand_dims=dims)

    def scattered(build: Builder) -> SSAValue:
        boxes = zip(starts, shape_of(op.operand), shape_of(op.update), strict=True)
        places = [_clamped(build, start, whole - size) for start, whole, size in boxes]
        new = _the_new_one(element_of(op.update))
        return build.put(stablehlo.ScatterOp([op.operand], _vector(build, places), [op.update], numbers, new))

    return [rows.instead(scattered)]


def _with_start(rows: Rows, starts: Sequence[SSAValue]) -> list[SSAValue]:
    given = [rows.of(start) for start in starts]
    return [rows.build.scalar(0, given[0]), *given]


def _vector(build: Builder, starts: Sequence[SSAValue]) -> SSAValue:
    """Scalars as one vector."""
    return build.put(stablehlo.ConcatenateOp([build.reshape(start, (1,)) for start in starts], 0))


def _clamped(build: Builder, start: SSAValue, last: int) -> SSAValue:
    """A start where the box lies inside: a scatter leaves out what a slice would move."""
    number = start if bit_width(element_of(start)) >= bit_width(i32) else build.cast(start, i32)
    return build.clamp(build.scalar(0, number), number, build.scalar(last, number))


def _the_new_one(element: Attribute) -> Region:
    block = Block(arg_types=[tensor((), element)] * 2)
    block.add_op(stablehlo.ReturnOp(block.args[1]))
    return Region(block)
