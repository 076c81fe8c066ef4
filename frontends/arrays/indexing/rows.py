"""Rows of an array by computed indices: what `Variable.gather` and its scatter updates are made of."""

from __future__ import annotations

from xdsl.ir import Block, Operation, Region

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.dtypes import brief, kind_of
from shardwright.compiler.tracing.emit import Value
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo.indexing.numbers import GatherDimensions, ScatterDimensions
from shardwright.dialects.types import dtype_element, tensor


def gathered(operand: Value, indices: Value) -> Tracer:
    """The rows of `operand` at whole numbers of any shape; an index outside of it is clamped."""
    value, places = _operand(operand, "gather"), _indices(indices, "gather")
    window = tuple(range(places.ndim, places.ndim + value.ndim - 1))
    numbers = GatherDimensions(
        offset_dims=window, collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=places.ndim
    )
    return emit.trace_now().emit(stablehlo.GatherOp(value.value, places.value, numbers, (1, *value.shape[1:])))


def scattered(operation: type[Operation] | None, operand: Value, indices: Value, updates: Value) -> Tracer:
    """`operand` with rows combined with `updates`, or replaced by them; an index outside of it is left out."""
    value, places = _operand(operand, "scatter"), _indices(indices, "scatter")
    rows = emit.fit(updates, value.dtype, (*places.shape, *value.shape[1:]))
    numbers = ScatterDimensions(
        update_window_dims=tuple(range(places.ndim, places.ndim + value.ndim - 1)),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        index_vector_dim=places.ndim,
    )
    body = operation if operation is not None else _replacement(value)
    return emit.trace_now().emit(stablehlo.ScatterOp([value.value], places.value, [rows.value], numbers, body))


def _replacement(value: Tracer) -> Region:
    """The body that takes the new element."""
    scalar = tensor((), dtype_element(value.dtype))
    block = Block(arg_types=[scalar, scalar])
    block.add_op(stablehlo.ReturnOp(block.args[1]))
    return Region(block)


def _operand(value: Value, what: str) -> Tracer:
    operand = emit.as_tracer(value, what)
    if not operand.ndim:
        raise value_error("SW0510", f"{what}: a scalar has no rows", help="rows are along the first dim")
    return operand


def _indices(value: Value, what: str) -> Tracer:
    places = emit.as_tracer(value, what)
    if kind_of(places.dtype) != "integer":
        raise type_error(
            "SW0514", f"{what}: rows are chosen by whole numbers, not {brief(places.dtype)}", help="convert them"
        )
    return places
