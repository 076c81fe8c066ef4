"""Elements by computed places: the gathers, scatters and sorts that array functions are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Block, Operation, Region

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike, Positions
from shardwright.compiler.tracing.dtypes import BOOLEAN, DEFAULT_INTEGER, DType, brief, kind_of, listed
from shardwright.compiler.tracing.emit import Value
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import index_error, type_error, value_error
from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo.indexing.numbers import GatherDimensions, ScatterDimensions
from shardwright.dialects.stablehlo.parts.attributes import ComparisonDirection, ComparisonType
from shardwright.dialects.types import dtype_element, tensor
from shardwright.layout import Layout


def beside(indices: Positions, params: Tracer) -> Positions:
    """Indices on the mesh of what they choose from: they follow it there, whole on every device."""
    if not isinstance(indices, Array):
        return indices
    value, trace = emit.as_tracer(indices), emit.trace_now()
    home, there = trace.homes.get(value.value), trace.homes.get(params.value)
    if home is None or there is None or home is there:
        return value
    return emit.relayout(value, Layout.replicated(there, value.ndim), "indices follow what they choose from")


def counting(dtype: DType, most: int) -> DType:
    """The type of whole numbers, or a wider one that holds `most`."""
    return dtype if most <= np.iinfo(dtype).max else np.dtype(np.int64)


def places_of(indices: Value, size: int, what: str) -> Tracer:
    """Whole numbers as places along a dim of `size` elements: negative ones count from its end."""
    if isinstance(indices, list | tuple):
        indices = listed(indices, DEFAULT_INTEGER if not len(indices) else None, what)
    dtype = emit.dtype_of(indices, what)
    if kind_of(dtype) != "integer":
        raise type_error(
            "SW0514", f"{what}: elements are chosen by whole numbers, not {brief(dtype)}", help="convert them first"
        )
    if dtype.kind == "u":
        return emit.as_tracer(indices, what)
    wide = counting(dtype, size)
    if isinstance(indices, np.ndarray | np.integer):
        known = np.asarray(indices, wide)
        return emit.as_tracer(np.where(known < 0, known + size, known), what)
    value = emit.convert(emit.as_tracer(indices, what), wide)
    below = emit.compare("LT", value, emit.constant(0, wide, value.shape))
    wrapped = emit.binary(stablehlo.AddOp, value, emit.constant(size, wide, value.shape))
    return emit.select(below, wrapped, value)


def cut(value: Tracer, dim: int, start: int, limit: int) -> Tracer:
    """What stands from `start` up to `limit` along `dim`."""
    starts, limits = [0] * value.ndim, list(value.shape)
    starts[dim], limits[dim] = start, limit
    return emit.slice_(value, starts, limits, (1,) * value.ndim)


def picked(value: Tracer, places: Tracer, dim: int, batch: int = 0) -> Tracer:
    """
    Slices of one element along `dim`, the dims of the places in its stead; the first `batch` dims of both go together.

    A place outside of the tensor counts as the nearest one inside.
    """
    inner = places.ndim - batch
    numbers = GatherDimensions(
        offset_dims=(*range(batch, dim), *range(dim + inner, inner + value.ndim - 1)),
        collapsed_slice_dims=(dim,),
        operand_batching_dims=tuple(range(batch)),
        start_indices_batching_dims=tuple(range(batch)),
        start_index_map=(dim,),
        index_vector_dim=places.ndim,
    )
    sizes = [1 if at == dim or at < batch else size for at, size in enumerate(value.shape)]
    return _gathered(value, places, numbers, sizes)


def picked_along(value: Tracer, places: Tracer, dim: int) -> Tracer:
    """For each place the element there along `dim`; all other dims of both go together."""
    others = tuple(at for at in range(value.ndim) if at != dim)
    numbers = GatherDimensions(
        collapsed_slice_dims=(dim,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
        start_index_map=(dim,),
        index_vector_dim=places.ndim,
    )
    return _gathered(value, places, numbers, (1,) * value.ndim)


def picked_at(value: Tracer, places: Sequence[Tracer], dims: Sequence[int], target: int) -> Tracer:
    """Elements by one place for each of `dims`, all of one shape, whose dims begin at dim `target` of the result."""
    shape = places[0].shape
    kept = value.ndim - len(dims)
    numbers = GatherDimensions(
        offset_dims=(*range(target), *range(target + len(shape), kept + len(shape))),
        collapsed_slice_dims=tuple(sorted(dims)),
        start_index_map=tuple(dims),
        index_vector_dim=len(shape),
    )
    sizes = [1 if dim in dims else size for dim, size in enumerate(value.shape)]
    return _gathered(value, _together(places), numbers, sizes)


def _gathered(value: Tracer, places: Tracer, numbers: GatherDimensions, sizes: Sequence[int]) -> Tracer:
    """Slices of `sizes`: of a dim without elements none can be chosen, which no places do; else IndexError (SW0514)."""
    room = tuple(map(max, value.shape, sizes))
    if room != value.shape:
        if 0 not in places.shape:
            dim = next(dim for dim, size in enumerate(value.shape) if size < sizes[dim])
            raise index_error("SW0514", f"dim {dim} has no elements to choose from")
        value = emit.constant(0, value.dtype, room)
    return emit.trace_now().emit(stablehlo.GatherOp(value.value, places.value, numbers, sizes))


def _together(places: Sequence[Tracer]) -> Tracer:
    """Places of several dims in one tensor, with a last dim for them."""
    columns = [emit.reshape(place, (*place.shape, 1)) for place in places]
    return emit.concatenate(columns, places[0].ndim) if len(columns) > 1 else columns[0]


def placed_at(
    body: type[Operation] | None,
    value: Tracer,
    places: Sequence[Tracer],
    updates: Tracer,
    dims: Sequence[int],
    target: int,
) -> Tracer:
    """The value with elements at places for each of `dims` combined with updates, where these begin at dim `target`."""
    rank, kept = places[0].ndim, value.ndim - len(dims)
    numbers = ScatterDimensions(
        update_window_dims=(*range(target), *range(target + rank, kept + rank)),
        inserted_window_dims=tuple(sorted(dims)),
        scatter_dims_to_operand_dims=tuple(dims),
        index_vector_dim=rank,
    )
    region = body if body is not None else replacement(value)
    op = stablehlo.ScatterOp([value.value], _together(places).value, [updates.value], numbers, region)
    return emit.trace_now().emit(op)


def placed(
    body: type[Operation] | None, value: Tracer, places: Tracer, updates: Tracer, dim: int, *, unique: bool = False
) -> Tracer:
    """
    The value with slices along `dim` combined with updates by `body`, or replaced by them (None).

    The dims of the places stand in the updates where `dim` stands in the value. A place outside is left out.
    """
    numbers = ScatterDimensions(
        update_window_dims=(*range(dim), *range(dim + places.ndim, places.ndim + value.ndim - 1)),
        inserted_window_dims=(dim,),
        scatter_dims_to_operand_dims=(dim,),
        index_vector_dim=places.ndim,
    )
    region = body if body is not None else replacement(value)
    op = stablehlo.ScatterOp([value.value], places.value, [updates.value], numbers, region, unique_indices=unique)
    return emit.trace_now().emit(op)


def rows_at(x: ArrayLike, indices: Positions) -> Tracer:
    """The rows of `x` at whole numbers of any shape, the negative ones from the end; one outside of it is clamped."""
    value = _rows(x, "gather")
    return picked(value, places_of(row_numbers(indices, "gather", "convert them"), value.shape[0], "gather"), 0)


def rows_placed(body: type[Operation] | None, x: ArrayLike, indices: Positions, updates: ArrayLike) -> Tracer:
    """`x` with rows combined with `updates`, or replaced (None); negative indices are from the end, others left out."""
    value = _rows(x, "scatter")
    places = places_of(row_numbers(indices, "scatter", "convert them"), value.shape[0], "scatter")
    return placed(body, value, places, emit.fit(updates, value.dtype, (*places.shape, *value.shape[1:])), 0)


def _rows(x: ArrayLike, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    if not value.ndim:
        raise value_error("SW0510", f"{what}: a scalar has no rows", help="rows are along the first dim")
    return value


def row_numbers(indices: Positions, what: str, help: str | None = None) -> Tracer:
    """Whole numbers that choose rows; TypeError (SW0514) for anything else."""
    places = emit.as_tracer(indices, what)
    if kind_of(places.dtype) != "integer":
        raise type_error("SW0514", f"{what}: rows are chosen by whole numbers, not {brief(places.dtype)}", help=help)
    return places


def replacement(value: Tracer) -> Region:
    """The body of a scatter that takes the new element."""
    scalar = tensor((), dtype_element(value.dtype))
    block = Block(arg_types=[scalar, scalar])
    block.add_op(stablehlo.ReturnOp(block.args[1]))
    return Region(block)


def sorted_together(values: Sequence[Tracer], dim: int, *, descending: bool = False) -> list[Tracer]:
    """Tensors in the order of the first one along `dim`; equal elements stay in order, and NaNs are the largest."""
    trace = emit.trace_now()
    op = stablehlo.SortOp([value.value for value in values], dim, _order(values, descending=descending))
    trace.emit(op)
    return [Tracer(trace, result) for result in op.results]


def _order(values: Sequence[Tracer], *, descending: bool) -> Region:
    """Compares the first tensor's elements; floats so that both zeros are equal, and so are all NaNs."""
    scalars = [tensor((), dtype_element(value.dtype)) for value in values]
    block = Block(arg_types=[scalar for scalar in scalars for _ in "xy"])
    sides: list[Any] = [block.args[0], block.args[1]]
    floats = kind_of(values[0].dtype) == "float"
    if floats:
        sides = [_one_nan_one_zero(block, side) for side in sides]
    direction = ComparisonDirection.GT if descending else ComparisonDirection.LT
    before = stablehlo.CompareOp(sides[0], sides[1], direction, ComparisonType.TOTALORDER if floats else None)
    block.add_ops([before, stablehlo.ReturnOp(before)])
    return Region(block)


def _one_nan_one_zero(block: Block, side: Any) -> Any:
    element = side.type.element_type
    zero, nan = stablehlo.make_constant(0, element, ()), stablehlo.make_constant(float("nan"), element, ())
    is_zero = stablehlo.CompareOp(side, zero, "EQ")
    plain = stablehlo.SelectOp(is_zero, zero, side)
    is_nan = stablehlo.CompareOp(side, side, "NE")
    settled = stablehlo.SelectOp(is_nan, nan, plain)
    block.add_ops([zero, nan, is_zero, plain, is_nan, settled])
    return settled.results[0]


def counted(value: Tracer) -> Tracer:
    """Ones where an element is not zero."""
    return emit.convert(emit.convert(value, BOOLEAN), DEFAULT_INTEGER)
