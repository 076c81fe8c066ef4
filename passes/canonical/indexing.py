"""Canonical forms of gathers, scatters and dynamic slices: what is known of their indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import Builder, returned
from shardwright.dialects.dtensor import meshes
from shardwright.dialects.stablehlo import (
    GatherDimensions,
    GatherDimensionsAttr,
    ScatterDimensions,
    ScatterDimensionsAttr,
)
from shardwright.dialects.types import element_dtype, element_of, is_integer, shape_of
from shardwright.passes.rewriter import Rule, insert_before, retype


def _holds(value: SSAValue, largest: int) -> bool:
    """Whether the value's elements are integers of a type that holds 0 ... largest."""
    import ml_dtypes

    element = element_of(value)
    return is_integer(element) and largest <= int(ml_dtypes.iinfo(element_dtype(element)).max)


def counts(value: SSAValue, dim: int) -> bool:
    """Whether each element is known to be its own index along `dim`."""
    return run_of(value, dim) == (0, 1)


def run_of(value: SSAValue, dim: int) -> tuple[int, int] | None:
    """The first element and the step where elements are known to grow evenly along `dim`, from zero or more."""
    found, extent = _spaced(value, dim), shape_of(value)[dim]
    if found is None or not extent or not _holds(value, found[0] + found[1] * (extent - 1)):
        return None
    return found


def _spaced(value: SSAValue, dim: int) -> tuple[int, int] | None:
    # One case for each op that makes or keeps indices, in one piece since it is read as a table.
    match value.owner:
        case stablehlo.IotaOp() as op:
            return (0, 1) if op.dim == dim else None
        case stablehlo.ConstantOp() as op:
            return _constant_run(op, dim)
        case stablehlo.ConvertOp() as op:
            return run_of(op.operand, dim)
        case stablehlo.BroadcastInDimOp() as op:
            source = op.dims.index(dim) if dim in op.dims else None
            same = source is not None and shape_of(op.operand)[source] == shape_of(value)[dim]
            return run_of(op.operand, source) if source is not None and same else None
        case stablehlo.ReshapeOp() as op:
            source = _same_dim(op, dim)
            return None if source is None else run_of(op.operand, source)
        case stablehlo.AddOp() as op:
            return _shifted(op.lhs, op.rhs, dim) or _shifted(op.rhs, op.lhs, dim)
        case stablehlo.SelectOp() as op:
            return run_of(op.on_false, dim) if _is_negative(op.pred, dim) else None
        case stablehlo.ClampOp() as op:
            return _within(run_of(op.operand, dim), op, shape_of(value)[dim])
        case _:
            return None


def _within(run: tuple[int, int] | None, op: stablehlo.ClampOp, extent: int) -> tuple[int, int] | None:
    low, high = _splat(op.min), _splat(op.max)
    if run is None or low is None or high is None:
        return None
    first, step = run
    return run if low <= first and high >= first + step * (extent - 1) else None


def _shifted(value: SSAValue, by: SSAValue, dim: int) -> tuple[int, int] | None:
    found, first = run_of(value, dim), _splat(by)
    return None if found is None or first is None or first < 0 else (found[0] + first, found[1])


def _constant_run(op: stablehlo.ConstantOp, dim: int) -> tuple[int, int] | None:
    import numpy as np

    value = stablehlo.constant_value(op)
    if not value.size or not is_integer(element_of(op.result)):
        return None
    rows = np.moveaxis(value.astype(np.int64), dim, -1)
    line = rows[(0,) * (value.ndim - 1)]
    first, step = int(line[0]), int(line[1] - line[0]) if len(line) > 1 else 1
    even = first >= 0 and step > 0 and bool((rows == first + step * np.arange(len(line))).all())
    return (first, step) if even else None


def _same_dim(op: stablehlo.ReshapeOp, dim: int) -> int | None:
    """The operand's dim that a reshape, which only adds or drops dims of size one, makes `dim`."""
    source, target = shape_of(op.operand), shape_of(op.result)
    left = [at for at, extent in enumerate(source) if extent != 1]
    right = [at for at, extent in enumerate(target) if extent != 1]
    if [source[at] for at in left] != [target[at] for at in right] or dim not in right:
        return None
    return left[right.index(dim)]


def _is_negative(predicate: SSAValue, dim: int) -> bool:
    """Whether a predicate asks if what counts is negative, as JAX does of every index: it never is."""
    op = predicate.owner
    if not isinstance(op, stablehlo.CompareOp) or op.direction != stablehlo.ComparisonDirection.LT:
        return False
    bound = _splat(op.rhs)
    return bound is not None and bound <= 0 and shape_of(op.lhs) != () and run_of(op.lhs, dim) is not None


def _splat(value: SSAValue) -> int | None:
    """The one integer that all elements are, or None; a broadcast of one is a constant by now."""
    op = value.owner
    if isinstance(op, stablehlo.ConstantOp) and stablehlo.is_splat(op) and is_integer(element_of(value)):
        return int(stablehlo.splat_value(op))
    return None


def _without(op: Operation, indices: SSAValue, vector_dim: int, component: int) -> SSAValue:
    """The indices without one of the parts that they are joined of."""
    joined = indices.owner
    assert isinstance(joined, stablehlo.ConcatenateOp)
    rest = [part for at, part in enumerate(joined.inputs) if at != component]
    return insert_before(op, stablehlo.ConcatenateOp(rest, vector_dim)).results[0] if len(rest) > 1 else rest[0]


def _counting(
    indices: SSAValue, vector_dim: int, targets: Sequence[int], candidates: Mapping[int, int], taken: Sequence[int]
) -> tuple[int, int] | None:
    """
    A component of the indices, and the dim of the indices along which it counts.

    `targets` are the operand's dims that the components index, `candidates` those among them that may become batching
    dims, with their sizes; `taken` are the dims of the indices that are batching dims already.
    """
    joined = indices.owner
    if not isinstance(joined, stablehlo.ConcatenateOp) or joined.dim != vector_dim:
        return None
    if len(joined.inputs) != len(targets):
        return None
    shape = shape_of(indices)
    for component, (part, target) in enumerate(zip(joined.inputs, targets, strict=True)):
        for dim, extent in enumerate(shape):
            free = dim != vector_dim and dim not in taken
            if free and extent > 1 and extent == candidates.get(target) and counts(part, dim):
                return component, dim
    return None


def _paired(dims: Sequence[int], index_dims: Sequence[int], new: tuple[int, int]) -> tuple[tuple[int, ...], ...]:
    """Batching dims with one more pair, in the order of the operand's."""
    left, right = zip(*sorted([*zip(dims, index_dims, strict=True), new]), strict=True)
    return tuple(left), tuple(right)


_GATHER = ("collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map")
_SCATTER = (
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
)
"""How gathers and scatters call the same four: dims of one element, batching dims of both sides, indexed dims."""

_Dimensions = TypeVar("_Dimensions", GatherDimensions, ScatterDimensions)


def _batched(
    op: Operation, operand: SSAValue, indices: SSAValue, numbers: _Dimensions, names: Sequence[str]
) -> tuple[_Dimensions, SSAValue] | None:
    """The numbers with a counting component as a batching dim, and the indices without it."""
    single, dims, index_dims, targets = (getattr(numbers, name) for name in names)
    sizes, vector_dim = shape_of(operand), numbers.index_vector_dim
    found = _counting(indices, vector_dim, targets, {dim: sizes[dim] for dim in single}, index_dims)
    if found is None:
        return None
    component, index_dim = found
    target = targets[component]
    less_single, less_targets = (tuple(dim for dim in each if dim != target) for each in (single, targets))
    changed = (less_single, *_paired(dims, index_dims, (target, index_dim)), less_targets)
    new = replace(numbers, **dict(zip(names, changed, strict=True)))
    return new, _without(op, indices, vector_dim, component)


def _gather(op: stablehlo.GatherOp) -> Operation | SSAValue | None:
    """
    Rows picked by their own number: what `x[jnp.arange(8), i]` gathers.

    ```
    %n = stablehlo.iota dim = 0 : tensor<8x1xi32>
    %j = stablehlo.concatenate %n, %i, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
    gather(%x, %j), collapsed_slice_dims = [0, 1], start_index_map = [0, 1]
    ```
    becomes `gather(%x, %i), collapsed_slice_dims = [1], operand_batching_dims = [0], start_index_map = [1]`.
    """
    rows = _rows_in_a_run(op)
    if rows is not None:
        return rows
    found = _batched(op, op.operand, op.start_indices, op.numbers, _GATHER)
    if found is None:
        return None
    numbers, indices = found
    return stablehlo.GatherOp.create(
        operands=[op.operand, indices],
        result_types=op.result_types,
        properties=op.properties | {"dimension_numbers": GatherDimensionsAttr(numbers)},
        attributes=dict(op.attributes),
    )


def _rows_in_a_run(op: stablehlo.GatherOp) -> Operation | SSAValue | None:
    """
    Whole rows that stand evenly spaced are a slice: what `x[jnp.arange(4) + 2]` gathers.

    ```
    %i = stablehlo.constant dense<[2, 3, 4, 5]> : tensor<4xi32>
    gather(%x, %i), offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1
    ```
    becomes `stablehlo.slice %x [2:6, 0:8]`. Where the rows come along another dim, a transpose follows.
    """
    numbers, shape = op.numbers, shape_of(op.operand)
    indices = shape_of(op.start_indices)
    if numbers.operand_batching_dims or not indices or indices[1:] not in ((), (1,)):
        return None
    if len(numbers.start_index_map) != 1 or numbers.collapsed_slice_dims != numbers.start_index_map:
        return None
    (dim,), run = numbers.start_index_map, run_of(op.start_indices, 0)
    whole = all(size == total for at, (size, total) in enumerate(zip(op.sizes, shape, strict=True)) if at != dim)
    if run is None or not whole or numbers.index_vector_dim != 1:
        return None
    (first, step), count = run, indices[0]
    last = first + step * (count - 1)
    if last >= shape[dim]:  # clamped
        return None
    return _sliced(op, dim, (first, last + 1, step))


def _sliced(op: stablehlo.GatherOp, dim: int, bounds: tuple[int, int, int]) -> Operation | SSAValue | None:
    shape, operand, result_type = shape_of(op.operand), op.operand, op.result.type
    starts, limits, strides = ([*side] for side in zip(*((0, size, 1) for size in shape), strict=True))
    starts[dim], limits[dim], strides[dim] = bounds
    place = next(at for at in range(len(shape)) if at not in op.numbers.offset_dims)
    cut = stablehlo.SliceOp(operand, starts, limits, strides)
    if place == dim:
        same = bounds == (0, shape[dim], 1) and operand.type == result_type
        return operand if same else _of_type(cut, result_type)
    rest = iter(at for at in range(len(shape)) if at != dim)
    order = [dim if at == place else next(rest) for at in range(len(shape))]
    return _of_type(stablehlo.TransposeOp(insert_before(op, cut), order), result_type)


def _scatter(op: stablehlo.ScatterOp) -> Operation | None:
    """The same for updates: what `x.at[jnp.arange(8), i].set(u)` scatters."""
    written = _one_box(op)
    if written is not None:
        return written
    found = _batched(op, op.inputs[0], op.scatter_indices, op.numbers, _SCATTER)
    if found is None:
        return None
    numbers, indices = found
    return stablehlo.ScatterOp.create(
        operands=[*op.inputs, indices, *op.updates],
        result_types=op.result_types,
        properties=op.properties | {"scatter_dimension_numbers": ScatterDimensionsAttr(numbers)},
        attributes=dict(op.attributes),
        regions=[op.detach_region(op.update_computation)],
    )


def _one_box(op: stablehlo.ScatterOp) -> Operation | None:
    """
    A scatter of one window to a known place is an update of a slice: what `x.at[3:11].set(u)` scatters.

    ```
    %i = stablehlo.constant dense<3> : tensor<1xi32>
    scatter(%x, %i, %u), update_window_dims = [0], scatter_dims_to_operand_dims = [0], the body returns its second
    ```
    becomes `stablehlo.dynamic_update_slice %x, %u, %3`. A window that does not fit is written nowhere, and stays.
    """
    numbers, known = op.numbers, op.scatter_indices.owner
    if not _replaces(op) or numbers.input_batching_dims or not isinstance(known, stablehlo.ConstantOp):
        return None
    places, targets = stablehlo.constant_value(known).reshape(-1), numbers.scatter_dims_to_operand_dims
    if len(places) != len(targets):
        return None
    shape, window = shape_of(op.inputs[0]), [shape_of(op.updates[0])[dim] for dim in numbers.update_window_dims]
    kept, at = iter(window), dict(zip(targets, map(int, places), strict=True))
    sizes = [1 if dim in numbers.inserted_window_dims else next(kept) for dim in range(len(shape))]
    starts = [at.get(dim, 0) for dim in range(len(shape))]
    if any(not 0 <= start <= total - size for start, size, total in zip(starts, sizes, shape, strict=True)):
        return None
    build = Builder(partial(insert_before, op))
    corner = [build.literal(start, i32) for start in starts]
    update = stablehlo.DynamicUpdateSliceOp(op.inputs[0], build.reshape(op.updates[0], sizes), corner)
    return _of_type(update, op.result_types[0])


def _replaces(op: stablehlo.ScatterOp) -> bool:
    """Whether the new element takes the place of the old one."""
    block = op.update_computation.block
    return len(op.inputs) == 1 and list(returned(block)) == [block.args[1]]


def _of_type(op: Operation, result_type: Attribute) -> Operation:
    """The op with the layout that the user gave its result."""
    retype(op.results[0], result_type)
    return op


def _dynamic_slice(op: stablehlo.DynamicSliceOp) -> Operation | None:
    """
    A slice whose starts are known is one that nobody has to look up, along those dims where they are.

    ```
    dynamic_slice %x, %i, %3, sizes = [4, 2] : tensor<16x8xf32>
    ```
    becomes `dynamic_slice %x, %i, %0, sizes = [4, 8]` and a slice of its columns [3:5] where any axis of the mesh may
    split both: of a known stretch each device receives what it lacks, of an unknown one all add up what they hold.
    """
    starts = [_splat(start) for start in op.start_indices]
    sizes, shape = shape_of(op.result), shape_of(op.operand)
    whole = None not in starts
    part = [
        start is not None and size < total and (whole or _splits_as_any(op, size, total))
        for start, size, total in zip(starts, sizes, shape, strict=True)
    ]
    if not whole and not any(part):
        return None
    fitting = [
        min(max(start or 0, 0), total - size) if known else 0
        for start, size, total, known in zip(starts, sizes, shape, part, strict=True)
    ]
    limits = [start + size for start, size in zip(fitting, sizes, strict=True)]
    return _of_type(stablehlo.SliceOp(_looked_up(op, starts, part), fitting, limits), op.result.type)


def _splits_as_any(op: Operation, *sizes: int) -> bool:
    """Whether each axis of the program's meshes divides sizes, if there is any."""
    module = op.get_toplevel_object()
    named = meshes(module).values() if isinstance(module, ModuleOp) else ()
    axes = {size for mesh in named for size in mesh.shape}
    return bool(axes) and all(size % axis == 0 for size in sizes for axis in axes)


def _looked_up(op: stablehlo.DynamicSliceOp, starts: Sequence[int | None], known: Sequence[bool]) -> SSAValue:
    """What a dynamic slice takes along the dims whose starts are not known, and all of the others."""
    if None not in starts:
        return op.operand
    sizes = [total if whole else size for total, size, whole in zip(shape_of(op.operand), op.sizes, known, strict=True)]
    zeros = [
        insert_before(op, stablehlo.make_constant(0, element_of(start), ())).results[0] if whole else start
        for start, whole in zip(op.start_indices, known, strict=True)
    ]
    return insert_before(op, stablehlo.DynamicSliceOp(op.operand, zeros, sizes)).results[0]


INDEXING_RULES: Mapping[type[Operation], Rule] = {
    stablehlo.DynamicSliceOp: _dynamic_slice,
    stablehlo.GatherOp: _gather,
    stablehlo.ScatterOp: _scatter,
}
