"""Canonical forms of gathers and scatters: an index that counts along with the indices is a batching dim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo import (
    GatherDimensions,
    GatherDimensionsAttr,
    ScatterDimensions,
    ScatterDimensionsAttr,
)
from shardwright.dialects.types import element_dtype, element_of, is_integer, shape_of
from shardwright.passes.rewriter import Rule, insert_before


def _holds(value: SSAValue, extent: int) -> bool:
    """Whether the value's elements are integers of a type that holds 0 ... extent - 1."""
    import ml_dtypes

    element = element_of(value)
    return is_integer(element) and extent - 1 <= int(ml_dtypes.iinfo(element_dtype(element)).max)


def counts(value: SSAValue, dim: int) -> bool:
    """Whether each element is known to be its own index along `dim`."""
    # One case for each op that makes or keeps indices, in one piece since it is read as a table.
    op = value.owner
    extent = shape_of(value)[dim]
    if not isinstance(op, Operation) or not _holds(value, extent):
        return False
    if isinstance(op, stablehlo.IotaOp):
        return op.dim == dim
    if isinstance(op, stablehlo.ConstantOp):
        return _constant_counts(op, dim)
    if isinstance(op, stablehlo.ConvertOp):
        return counts(op.operand, dim)
    if isinstance(op, stablehlo.BroadcastInDimOp):
        source = op.dims.index(dim) if dim in op.dims else None
        return source is not None and shape_of(op.operand)[source] == extent and counts(op.operand, source)
    if isinstance(op, stablehlo.ReshapeOp):
        source = _same_dim(op, dim)
        return source is not None and counts(op.operand, source)
    if isinstance(op, stablehlo.SelectOp):
        return counts(op.on_false, dim) and _is_negative(op.pred, dim)
    if isinstance(op, stablehlo.ClampOp):
        low, high = _splat(op.min), _splat(op.max)
        return low is not None and high is not None and low <= 0 and high >= extent - 1 and counts(op.operand, dim)
    return False


def _constant_counts(op: stablehlo.ConstantOp, dim: int) -> bool:
    import numpy as np

    value = stablehlo.constant_value(op)
    steps = np.arange(value.shape[dim]).reshape([-1 if at == dim else 1 for at in range(value.ndim)])
    return bool(np.array_equal(value.astype(np.int64), np.broadcast_to(steps, value.shape)))


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
    return bound is not None and bound <= 0 and shape_of(op.lhs) != () and counts(op.lhs, dim)


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


def _gather(op: stablehlo.GatherOp) -> Operation | None:
    """
    Rows picked by their own number: what `x[jnp.arange(8), i]` gathers.

    ```
    %n = stablehlo.iota dim = 0 : tensor<8x1xi32>
    %j = stablehlo.concatenate %n, %i, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
    gather(%x, %j), collapsed_slice_dims = [0, 1], start_index_map = [0, 1]
    ```
    becomes `gather(%x, %i), collapsed_slice_dims = [1], operand_batching_dims = [0], start_index_map = [1]`.
    """
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


def _scatter(op: stablehlo.ScatterOp) -> Operation | None:
    """The same for updates: what `x.at[jnp.arange(8), i].set(u)` scatters."""
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


INDEXING_RULES: Mapping[type[Operation], Rule] = {stablehlo.GatherOp: _gather, stablehlo.ScatterOp: _scatter}
