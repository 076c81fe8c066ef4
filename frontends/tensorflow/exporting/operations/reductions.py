"""Reductions: TensorFlow's own, and any other body by halves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from xdsl.ir import Block

from shardwright.dialects import stablehlo
from shardwright.dialects.types import shape_of
from shardwright.frontends.tensorflow.exporting.emitter import Emitter, handler
from shardwright.frontends.tensorflow.exporting.nodes import BOOL, Tensor
from shardwright.runtime.kernels.elementwise import working_dtype
from shardwright.runtime.lowering.ops import reducer_kind
from shardwright.runtime.stacking import identity

Combine: TypeAlias = Callable[[Sequence[Tensor], Sequence[Tensor]], "list[Tensor]"]
"""What makes one element of each tensor of two."""

NUMERIC = {"sum": "Sum", "prod": "Prod", "max": "Max", "min": "Min"}
BOOLEAN = {"sum": "Any", "prod": "All", "max": "Any", "min": "All", "and": "All", "or": "Any"}
PAIRS = {"sum": "AddV2", "prod": "Mul", "max": "Maximum", "min": "Minimum", "and": "BitwiseAnd", "or": "BitwiseOr"}
LOGICAL = {kind: "LogicalOr" if name == "Any" else "LogicalAnd" for kind, name in BOOLEAN.items()}


@handler("stablehlo.reduce")
def _reduce(emitter: Emitter, op: stablehlo.ReduceOp, operands: list[Tensor]) -> list[Tensor]:
    count, block = len(operands) // 2, op.body.block
    inputs, starts, dims = operands[:count], operands[count:], tuple(op.dims)
    shape = shape_of(op.results[0])
    if not math.prod(inputs[0].shape):
        return [emitter.broadcast(start, shape) for start in starts]
    kind = reducer_kind(block)
    if kind is not None and (kind in NUMERIC or inputs[0].dtype == BOOL):
        reduced, start = _reduced(emitter, kind, inputs[0], dims, shape), starts[0]
        if not is_value(start, identity(kind, start.dtype)):
            reduced = emitter.call(pair_kind(kind, start), start, reduced)
        return [reduced]
    return _by_halves(emitter, combiner(emitter, block), inputs, starts, dims)


def _reduced(e: Emitter, kind: str, x: Tensor, dims: Sequence[int], shape: Sequence[int]) -> Tensor:
    """Narrow floats are summed in float32 and rounded once."""
    if not dims:
        return x
    name = BOOLEAN[kind] if x.dtype == BOOL else NUMERIC[kind]
    wide = e.whole(e.cast(x, working_dtype(x.dtype)))
    made = e.node(name, (wide, e.integers(dims)), shape, wide.dtype, keep_dims=False)
    return e.cast(made, x.dtype)


def pair_kind(kind: str, x: Tensor) -> str:
    """The operation that combines two elements."""
    return LOGICAL[kind] if x.dtype == BOOL else PAIRS[kind]


def is_value(x: Tensor, value: object) -> bool:
    """Whether a tensor is a constant that has this value everywhere."""
    if x.node.kind != "Const" or not x.is_splat:
        return False
    held = x.node.attributes["value"]
    return isinstance(held, np.ndarray) and bool(held == value)


def combiner(e: Emitter, block: Block, kind: str | None = None) -> Combine:
    """A reducer's block as a function of tensors; by one of TensorFlow's operations where it is of a kind."""

    def combine(left: Sequence[Tensor], right: Sequence[Tensor]) -> list[Tensor]:
        if kind is None:
            return e.pointwise(block, [*left, *right])
        return [e.call(pair_kind(kind, left[0]), left[0], right[0])]

    return combine


def _by_halves(
    e: Emitter, combine: Combine, inputs: Sequence[Tensor], starts: Sequence[Tensor], dims: Sequence[int]
) -> list[Tensor]:
    """
    The elements along some dims combined by any body: neighbours with each other, in as many rounds as there are bits.

    The order of the elements is kept, so that a body need be associative only, which StableHLO asks of all bodies.
    """
    rank = len(inputs[0].shape)
    kept = [dim for dim in range(rank) if dim not in dims]
    front = [inputs[0].shape[dim] for dim in kept]
    extent = math.prod(inputs[0].shape[dim] for dim in dims)
    current = [e.reshape(e.transpose(x, [*dims, *kept]), (extent, *front)) for x in inputs]
    while extent > 1:
        even = extent - extent % 2
        made = combine([e.cut(x, 0, 0, even, 2) for x in current], [e.cut(x, 0, 1, even, 2) for x in current])
        rest = [e.cut(x, 0, even, extent) for x in current]
        extent = (extent + 1) // 2
        current = [
            e.concatenate([e.broadcast(x, (even // 2, *front)), last], 0) if even < 2 * extent else x
            for x, last in zip(made, rest, strict=True)
        ]
    return combine(starts, [e.reshape(x, front) for x in current])
