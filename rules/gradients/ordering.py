"""Gradients of ops that order elements."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Block, SSAValue

from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.stablehlo.indexing.numbers import ScatterDimensions
from shardwright.dialects.types import shape_of, tensor
from shardwright.rules.gradients.vjp import Gradient, Site, has_gradient, vjp


@vjp("stablehlo.sort")
def _sort(op: stablehlo.SortOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """The gradients sorted by where the elements came from, which an iota sorted along says."""
    first = op.inputs[0]
    places = site.iota(op.dim, shape_of(first))
    comparator = op.comparator.clone()
    block = comparator.block
    assert isinstance(block, Block)
    for _ in "xy":
        block.insert_arg(tensor((), i32), len(block.args))
    sorted_along = site.insert(stablehlo.SortOp([*op.inputs, places], op.dim, comparator, stable=op.stable))
    known = [(place, gradient) for place, gradient in enumerate(gradients) if gradient is not None]
    back = site.insert(stablehlo.SortOp([sorted_along.results[-1], *(gradient for _, gradient in known)], op.dim))
    found: list[Gradient] = [None] * len(op.inputs)
    for (place, _), result in zip(known, back.results[1:], strict=True):
        found[place] = result if has_gradient(op.inputs[place]) else None
    return found


@vjp("chlo.top_k")
def _top_k(op: chlo.TopKOp, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """Zeros, with the gradient of the values where they were."""
    gradient = gradients[0]
    assert gradient is not None
    last = len(shape_of(op.operand)) - 1
    others = tuple(range(last))
    numbers = ScatterDimensions(
        inserted_window_dims=(last,),
        input_batching_dims=others,
        scatter_indices_batching_dims=others,
        scatter_dims_to_operand_dims=(last,),
        index_vector_dim=last + 1,
    )
    zeros: SSAValue = site.zeros(op.operand)
    scatter = stablehlo.ScatterOp([zeros], op.indices, [gradient], numbers, stablehlo.AddOp, unique_indices=True)
    return [site.put(scatter)]
